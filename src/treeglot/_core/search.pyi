from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeglot._core.lm import Model
from treeglot._core.parsed import ParsedSentences

FOREST_FEATURES: tuple[str, ...]
BLOCK_FEATURES: tuple[str, ...]

def phrase_features(grammar: str) -> list[str]: ...

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

Step = tuple[
    str,
    str,
    int,
    int,
    str,
    str,
    list[str | int],
    list[tuple[int, int]],
    list[int],
    list[tuple[int, float]],
    bool,
    bool,
    str,
    list[int],
    int,
]
"""Grammar, kind, begin, end, label, source side, target (words and numbers of variables), links, steps that fill the variables,
features, is it a rule for a head with its dependents, has it a phrasal node or a structure,
the target side with the nodes of its trees, the source words if there are gaps between them, how many of the rule's own source words
have no link."""

class Translation:
    """The derivations of one sentence, best first."""

    def __len__(self) -> int: ...
    def text(self, n: int) -> str: ...
    def score(self, n: int) -> float: ...
    def features(self, n: int) -> list[float]: ...
    def steps(self, n: int) -> list[Step]: ...
    @property
    def forest_size(self) -> tuple[int, int, int]:
        """Nodes, edges and options of the forest."""

def nbest_arrays(
    translations: Sequence[Translation], features: int
) -> tuple[NDArray[np.int32], list[str], NDArray[np.float64]]:
    """All derivations: number of the sentence, words, values of the features."""

class Decoder:
    """What all decoders have; made by its subclasses."""

    @property
    def features(self) -> list[str]: ...
    @property
    def weights(self) -> list[float]: ...
    def set_weights(self, weights: Sequence[float]) -> None: ...
    def translate(
        self,
        corpus: ParsedSentences,
        first: int,
        last: int,
        *,
        nbest: int,
        distinct: bool,
        with_steps: bool,
        threads: int,
        progress: Callable[[int], object] | None,
    ) -> list[Translation]: ...

class PhraseDecoder(Decoder):
    def __init__(
        self,
        table: PhraseSource,
        grammar: str,
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
