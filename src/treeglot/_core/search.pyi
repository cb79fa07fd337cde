from collections.abc import Callable, Sequence

from treeglot._core.lm import Model

FEATURE_NAMES: tuple[str, ...]

class PhraseSource:
    """A table that answers lookups by source phrase."""

    @property
    def has_reordering(self) -> bool: ...
    def lookup(self, words: Sequence[str]) -> list[tuple[str, list[float], list[float], list[tuple[int, int]]]]:
        """Target, four table scores, six reordering scores (natural logarithms) and links of each translation."""

class TextPhraseTable(PhraseSource):
    """A table in memory from Moses' text files. Broken lines raise ValueError(line of the block, message)."""

    def __init__(self) -> None: ...
    def add_phrases(self, block: bytes) -> int:
        """Add whole lines of a phrase table; returns their number."""

    def add_reordering(self, block: bytes) -> int:
        """Add whole lines of a reordering table, after all phrases; returns their number."""

    def finish(self) -> None: ...
    def __len__(self) -> int: ...

class StoredPhrases(PhraseSource):
    """The memory-mapped table. Raises RuntimeError that says what is wrong with the file."""

    def __init__(self, path: str, verify: bool = False) -> None: ...
    def __len__(self) -> int: ...

class Translation:
    """The derivations of one sentence, best first."""

    def __len__(self) -> int: ...
    def text(self, n: int) -> str: ...
    def score(self, n: int) -> float: ...
    def features(self, n: int) -> list[float]: ...
    def steps(self, n: int) -> list[tuple[int, int, str, bool, list[tuple[int, int]], list[float]]]:
        """Source begin, source end, target, copied?, links and feature values of each phrase."""

class PhraseDecoder:
    def __init__(
        self,
        table: PhraseSource,
        model: Model,
        weights: Sequence[float],
        *,
        distortion_limit: int,
        phrase_length: int,
        table_limit: int,
        cube_pruning: bool,
        pop_limit: int,
        stack_size: int,
        beam_threshold: float,
    ) -> None: ...
    def translate(
        self,
        sentences: Sequence[str],
        nbest: int,
        distinct: bool,
        threads: int,
        progress: Callable[[int], object] | None,
    ) -> list[Translation]: ...
