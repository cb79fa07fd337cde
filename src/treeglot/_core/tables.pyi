from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeglot._core.parsed import ParsedBitext

FORMAT_VERSION: int
MAX_PHRASE: int

_Write = Callable[[bytes], object]
_Statistics = tuple[int, int, int, int]
_Entry = tuple[
    str,
    tuple[float, float, float, float],
    tuple[float, float, float, float, float, float] | None,
    tuple[tuple[int, int], ...],
    float,
    float,
    float,
]
_LexicalItem = tuple[str | None, str | None, float, float]

def extract(
    source_length: int, target_length: int, links: Sequence[tuple[int, int]], max_length: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Spans (source begin, end, target begin, end) and orientations before and after (0 monotone, 1 swap, 2 other)."""

def licensed(bitext: ParsedBitext, n: int, max_length: int, open: bool) -> list[tuple[int, int, int, int]]:
    """Spans (source begin, end, target begin, end) that the links of nodes of pair ``n`` license, sorted."""

class Corpus:
    """An aligned corpus in memory; see treeglot.tables.corpus."""

    def __init__(self) -> None: ...
    def add(self, source: bytes, target: bytes, links: bytes) -> tuple[int, int, str] | None:
        """Add as many lines from each; what is wrong: line, side (0, 1, or 2 for links), message."""

    def add_links(self, links: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        """A further alignment of all pairs: every pair is there once more. `treeglot._core.parsed.LinkError`."""

    def set_weights(self, weights: Sequence[float]) -> None:
        """How much each alignment counts, in hundredths; ValueError."""

    def take(self, bitext: ParsedBitext) -> None:
        """Words and links of a whole bitext, in place of `add`, `finish` and `add_links`."""

    def add_licensed(self, bitext: ParsedBitext, max_length: int, open: bool, only_new: bool) -> None:
        """Another set of given spans: those that the links of nodes license; ``only_new`` if the links of words do not give them."""

    def new_spans(self) -> None:
        """Begin another set of given spans."""

    def add_spans(self, text: bytes) -> tuple[int, str] | None:
        """Spans such as ``0-2:1-3`` of the next sentence pairs, a line each; what is wrong: line, message."""

    @property
    def spans(self) -> int:
        """For how many pairs the last set has spans."""

    def finish(self) -> None: ...
    def __len__(self) -> int:
        """Pairs times alignments."""

    @property
    def sentences(self) -> int:
        """Pairs, however many alignments they have."""

    @property
    def size(self) -> int: ...
    @property
    def source_tokens(self) -> int: ...
    @property
    def target_tokens(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def source_words(self) -> int: ...
    @property
    def target_words(self) -> int: ...
    @property
    def done(self) -> float:
        """How much of the job that runs is done, 0 to 1."""

    def stop(self) -> None:
        """Make the job that runs raise RuntimeError soon."""

    def write_counts(
        self, write: _Write, max_length: int, memory: int, folder: str, threads: int, consistent: bool = True
    ) -> _Statistics: ...
    def write_table(
        self, path: str, max_length: int, memory: int, folder: str, threads: int, consistent: bool = True
    ) -> tuple[_Statistics, int]:
        """Occurrences, pairs, sources and runs on disk; bytes of the word table."""

class PhraseTable:
    """A memory-mapped table. Raises RuntimeError that says what is wrong with the file."""

    def __init__(self, path: str, verify: bool = False) -> None: ...
    @property
    def entries(self) -> int: ...
    @property
    def sources(self) -> int: ...
    @property
    def blocks(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def lexicon_size(self) -> int: ...
    @property
    def longest_source(self) -> int: ...
    @property
    def longest_target(self) -> int: ...
    @property
    def has_reordering(self) -> bool: ...
    @property
    def has_counts(self) -> bool: ...
    @property
    def imported(self) -> bool: ...
    def words(self, target: bool) -> int: ...
    def word(self, target: bool, id: int) -> str: ...
    def id(self, target: bool, word: str) -> int | None: ...
    def find(self, phrase: str, limit: int) -> list[_Entry]: ...
    def count_lines(self, text: bytes, max_length: int, limit: int) -> tuple[int, int, int]:
        """Look up every phrase of every line: lookups, hits, pairs found."""

    def block(self, number: int) -> list[tuple[str, list[_Entry]]]: ...
    def search(
        self, pattern: Sequence[Sequence[int]], target: bool, whole: bool, limit: int
    ) -> list[tuple[str, _Entry]]: ...
    def shape(self) -> tuple[list[int], list[int], list[int], int, str, int]: ...
    def lexicon(self) -> list[_LexicalItem]: ...
    def export_moses(self, phrases: _Write, reordering: _Write | None) -> None: ...
    def export_lexicon(self, source_given_target: _Write, target_given_source: _Write) -> None: ...

class GzipPacker:
    """Packs text as gzip, without the global lock; the bytes depend on nothing but the text."""

    def __init__(self) -> None: ...
    def add(self, text: bytes) -> bytes:
        """What is ready so far."""

    def finish(self) -> bytes:
        """The rest; nothing may be added after it."""

class MosesImporter:
    """Raises ValueError(in_reordering, line, message) for a broken line."""

    def __init__(self, folder: str, memory: int) -> None: ...
    def add(self, text: bytes, reordering: bool) -> None: ...
    def finish(self, path: str) -> tuple[int, int, int, int]:
        """Pairs, sources, pairs without reordering, lines of reordering without a pair."""
