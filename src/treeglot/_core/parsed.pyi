from collections.abc import Sequence

Phrase = tuple[str, int, int, int]
"""Label, begin, end, number of the parent (-1: none); phrases stand in preorder."""

class ParsedCorpus:
    """Parsed sentences by columns. Broken trees raise ValueError that says what is wrong."""

    def __init__(self) -> None: ...
    def add(
        self, words: Sequence[str], tags: Sequence[str], heads: Sequence[int], phrases: Sequence[Phrase]
    ) -> None: ...
    def __len__(self) -> int: ...
    def sentence(self, n: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[Phrase, ...]]:
        """Words, tags, heads and phrases."""

    def words(self, n: int) -> list[str]: ...
    def first_without(self, dependency: bool) -> int | None:
        """The number of the first sentence that lacks a dependency (or else constituency) tree."""

    @property
    def bytes(self) -> int: ...

class ParsedBitext:
    """Parsed source sentences with target words and word links."""

    def __init__(self) -> None: ...
    def add(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int],
        phrases: Sequence[Phrase],
        target: Sequence[str],
        links: Sequence[tuple[int, int]],
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def source(self) -> ParsedCorpus: ...
