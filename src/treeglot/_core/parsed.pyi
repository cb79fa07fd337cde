from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION: int
"""Of the files of `ParsedBitext.write`."""

Phrase = tuple[str, int, int, int]
"""Label, begin, end, number of the parent (-1: none); phrases stand in preorder."""

Columns = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[Phrase], Sequence[str]]
"""Words, tags (none: all are ``_``), heads and phrases (each empty without that tree), and relations of the words to their heads
(none: all are ``_``)."""

Unrelated = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[Phrase]]
"""The same without relations."""

class ParsedSentences:
    """Parsed sentences by columns."""

    def __len__(self) -> int: ...
    def sentence(
        self, n: int
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[Phrase, ...], tuple[str, ...]]:
        """Words, tags, heads, phrases, and relations of the words to their heads (none without a dependency tree)."""

    def words(self, n: int) -> list[str]: ...
    def first_without(self, dependency: bool) -> int | None:
        """The number of the first sentence that lacks a dependency (or else constituency) tree."""

    def head_words(self, n: int) -> list[int]:
        """Of the phrases; -1 where it is not known."""

    def parses(self, n: int) -> list[tuple[list[int], float]]:
        """The heads of its dependency trees, the first and further ones, with their weights."""

    @property
    def vocabulary(self) -> list[str]:
        """The words of all sentences, each once, in the order of their first appearance."""

    @property
    def bytes(self) -> int: ...

class ParsedCorpus(ParsedSentences):
    """Sentences of one's own. Broken trees raise ValueError that says what is wrong; then nothing is added."""

    def __init__(self) -> None: ...
    def add(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int],
        phrases: Sequence[Phrase],
        relations: Sequence[str] = (),
    ) -> None: ...
    def add_parses(self, trees: ParsedSentences, weight: float = 1.0, first: int = 0) -> None:
        """A further dependency tree of every sentence: those of other sentences, from ``first`` on, with the same words."""

    def binarize(self, direction: str) -> None: ...
    def replace_words(self, words: Sequence[str]) -> None:
        """Instead of those of `vocabulary`, in its order."""

class ParsedBitext:
    """Pairs of parsed sentences with links between words and between nodes of their constituency trees, which are numbered
    in preorder, the words after the phrases."""

    def __init__(self) -> None: ...
    def add_parses(self, trees: ParsedSentences, weight: float = 1.0, first: int = 0) -> None:
        """A further dependency tree of every source sentence, as `ParsedCorpus.add_parses`."""

    def add(
        self,
        source: Columns | Unrelated,
        target: Columns | Unrelated,
        links: Sequence[tuple[int, int]],
        node_links: Sequence[tuple[int, int]] = (),
    ) -> None:
        """A pair that does not fit together raises ValueError that says what is wrong; then nothing is added."""

    def take(
        self,
        source: ParsedSentences | None,
        source_number: int,
        source_words: Sequence[str],
        target: ParsedSentences | None,
        target_number: int,
        target_words: Sequence[str],
        origin: int = 0,
    ) -> None:
        """Add a pair without links: on each side the trees of a sentence of another corpus (None: no trees) over these words.
        ``origin`` is a number of one's own."""

    def select(self, numbers: Sequence[int]) -> ParsedBitext:
        """Some pairs, with all their links, as a bitext of one alignment."""

    def add_links(self, links: NDArray[np.int32], starts: NDArray[np.int64], first: bool = True) -> None:
        """Give all pairs these links instead of theirs, or as a further alignment. `LinkError`."""

    def set_weights(self, weights: Sequence[float]) -> None:
        """How much each alignment counts, in hundredths; ValueError."""

    def set_node_links(self, pieces: Iterable[bytes], threshold: float = 0.0) -> None:
        """Give all pairs the links of nodes of this text (`treeglot.trees.nodelinks`), in pieces; those with a score below the
        threshold do not count. `treeglot._core.conllu.ScanError`."""

    def binarize(self, source: str, target: str = "none") -> None: ...
    def replace_words(self, source: Sequence[str], target: Sequence[str]) -> None: ...
    def write(self, path: str) -> None: ...
    @staticmethod
    def open(path: str) -> ParsedBitext:
        """Map a file of `write`; RuntimeError says what is wrong with it."""

    @property
    def sentences(self) -> int:
        """Pairs, however many alignments they have."""

    def origin(self, n: int) -> int: ...
    def __len__(self) -> int:
        """Pairs times alignments."""

    def links(self, n: int) -> list[tuple[int, int]]: ...
    def node_links(self, n: int) -> list[tuple[int, int]]: ...
    @property
    def source(self) -> ParsedSentences: ...
    @property
    def target(self) -> ParsedSentences: ...
    @property
    def bytes(self) -> int: ...

class LinkReader:
    """Turns pieces of Pharaoh text into arrays; raises `treeglot._core.conllu.ScanError`."""

    def __init__(self) -> None: ...
    def feed(self, data: bytes) -> None: ...
    def finish(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Pairs of word numbers, and where those of each line start."""

HeadStep = tuple[bool, bool, Sequence[str]]
"""From the right; items in order of preference; items."""

HeadTable = tuple[
    Sequence[tuple[str, Sequence[HeadStep]]], Sequence[HeadStep], Sequence[str], Sequence[str], Sequence[str]
]
"""Rules by label, default rule, punctuation, coordinators, vocabulary by which the table is recognised."""

class ReadError(ValueError):
    """Its arguments are stream, line, column (0: none), message and remedy."""

    args: tuple[int, int, int, str, str]

class LinkError(ValueError):
    """Its arguments are the number of the sentence pair, and a message."""

    args: tuple[int, str]

class CorpusReader:
    """Reads a corpus from up to ten files: CoNLL-U, Penn, text and JSON lines of the source, the same of the target, word
    links, links of nodes. ``head_tables`` are for trees with gaps and, with ``head_words``, for the head words of phrases.
    ``surfaces`` keeps what the words of the source look like in the text. ``take_target`` is for JSON lines of pairs without
    files of the target: their target is read in place of their source."""

    def __init__(
        self,
        names: Sequence[str | None],
        head_tables: Sequence[HeadTable],
        head_words: bool = True,
        surfaces: bool = False,
        node_threshold: float = 0.0,
        take_target: bool = False,
    ) -> None: ...
    def advance(self) -> int:
        """Read on; the number of the file that must be fed or finished first, or -1 when all is read. `ReadError`."""

    def feed(self, stream: int, data: bytes) -> None: ...
    def finish(self, stream: int) -> None: ...
    @property
    def pairs(self) -> int:
        """What `bitext` would give."""

    def corpus(self) -> ParsedCorpus:
        """The sentences that were read; without a target."""

    def bitext(self) -> ParsedBitext:
        """The pairs that were read since the last call."""

    def facts(self, side: int = 0) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
        """Of every sentence: arcs that were lifted, whether its phrases or its arcs were converted from the other tree."""

    @property
    def surfaces(self) -> list[str]: ...
