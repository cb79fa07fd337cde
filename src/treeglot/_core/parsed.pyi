from collections.abc import Sequence

Phrase = tuple[str, int, int, int]
"""Label, begin, end, number of the parent (-1: none); phrases stand in preorder."""

Columns = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[Phrase]]
"""Words, tags (none: all are ``_``), heads and phrases (each empty without that tree)."""

class ParsedSentences:
    """Parsed sentences by columns."""

    def __len__(self) -> int: ...
    def sentence(self, n: int) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[Phrase, ...]]:
        """Words, tags, heads and phrases."""

    def words(self, n: int) -> list[str]: ...
    def first_without(self, dependency: bool) -> int | None:
        """The number of the first sentence that lacks a dependency (or else constituency) tree."""

    @property
    def bytes(self) -> int: ...

class ParsedCorpus(ParsedSentences):
    """Sentences of one's own. Broken trees raise ValueError that says what is wrong; then nothing is added."""

    def __init__(self) -> None: ...
    def add(
        self, words: Sequence[str], tags: Sequence[str], heads: Sequence[int], phrases: Sequence[Phrase]
    ) -> None: ...

class ParsedBitext:
    """Pairs of parsed sentences with links between words and between nodes of their constituency trees, which are numbered
    in preorder, the words after the phrases."""

    def __init__(self) -> None: ...
    def add(
        self,
        source: Columns,
        target: Columns,
        links: Sequence[tuple[int, int]],
        node_links: Sequence[tuple[int, int]] = (),
    ) -> None:
        """A pair that does not fit together raises ValueError that says what is wrong; then nothing is added."""

    def __len__(self) -> int: ...
    def links(self, n: int) -> list[tuple[int, int]]: ...
    def node_links(self, n: int) -> list[tuple[int, int]]: ...
    @property
    def source(self) -> ParsedSentences: ...
    @property
    def target(self) -> ParsedSentences: ...
    @property
    def bytes(self) -> int: ...
