"""The phrase table: a memory-mapped file that opens at once, with its scores, vocabularies and word table.

The scores are computed from what the file keeps: the counts, the alignment inside each pair and the word table; a table that
was imported keeps the scores it came with.

>>> import pathlib, tempfile
>>> from treeglot.tables.build import build_phrase_table
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> for name, text in {"f": "das haus\\ndas buch\\n", "e": "the house\\nthe book\\n", "a": "0-0 1-1\\n0-0 1-1\\n"}.items():
...     _ = (folder / name).write_text(text)
>>> _ = build_phrase_table(folder / "f", folder / "e", folder / "a", folder / "t.table")
>>> table = PhraseTable(folder / "t.table")
>>> len(table), table.lookup("das")[0].target, table.lookup("das")[0].count, table.lookup("nichts")
(5, 'the', 2, [])
>>> [(entry.source, entry.target) for entry in table.search("h*")]
[('das haus', 'the house'), ('haus', 'house')]
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, overload

from treeglot._core import tables as core
from treeglot.errors import InputError, TreeglotError
from treeglot.files import check_mapped
from treeglot.words import split_words

Side = Literal["source", "target"]

FORMAT_VERSION = core.FORMAT_VERSION
"""The version of the file's format; a file of another one is refused."""

_ALL = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A phrase pair. Scores are probabilities; ``reordering`` is (monotone, swap, discontinuous) before and after, if the
    table has them; counts are 0 in a table that was imported without them, and have two decimals where alignments were weighted."""

    source: str
    target: str
    scores: tuple[float, float, float, float]
    reordering: tuple[float, float, float, float, float, float] | None
    links: tuple[tuple[int, int], ...]
    count: float
    source_count: float
    target_count: float

    @property
    def source_given_target(self) -> float:
        """p(f|e)"""
        return self.scores[0]

    @property
    def lexical_source(self) -> float:
        """lex(f|e)"""
        return self.scores[1]

    @property
    def target_given_source(self) -> float:
        """p(e|f)"""
        return self.scores[2]

    @property
    def lexical_target(self) -> float:
        """lex(e|f)"""
        return self.scores[3]


class TableStatistics(NamedTuple):
    """A table in figures. ``source_lengths[n]`` is the number of pairs with n source words; ``ambiguity`` has
    (least, most, sources): how many sources have that many translations; ``singletons`` are pairs seen once at most."""

    entries: int
    sources: int
    source_words: int
    target_words: int
    word_pairs: int
    bytes: int
    imported: bool
    source_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    ambiguity: tuple[tuple[int, int, int], ...]
    most_translations: int
    most_ambiguous: str
    singletons: int

    @property
    def bytes_per_entry(self) -> float:
        """The file's size divided by the number of pairs."""
        return self.bytes / self.entries if self.entries else 0.0


class Vocabulary(Sequence[str]):
    """The words of one side, sorted by bytes; a word's place is its number."""

    def __init__(self, table: core.PhraseTable, target: bool) -> None:
        self._table, self._target = table, target

    def __len__(self) -> int:
        return self._table.words(self._target)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = index if index >= 0 else index + len(self)
        if not 0 <= place < len(self):
            raise IndexError("no such word")
        return self._table.word(self._target, place)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._table.id(self._target, word) is not None

    def number(self, word: str) -> int | None:
        """The number of ``word``, or None."""
        return self._table.id(self._target, word)


class PhraseTable:
    """A table file; ``core`` is the native object."""

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        """Map a file made by `build_phrase_table` or `import_moses`. ``verify`` reads all of it and checks the checksum."""
        self.path = os.fspath(path)
        with self.blame():
            self.core = core.PhraseTable(self.path, verify)

    @contextlib.contextmanager
    def blame(self) -> Iterator[None]:
        """Turn what the native table says about damage into an `InputError` that names the file."""
        try:
            yield
            check_mapped()
        except (RuntimeError, UnicodeDecodeError) as error:
            message = str(error) if isinstance(error, RuntimeError) else "damaged: a word is not UTF-8"
            raise InputError(message, path=self.path, line=1, remedy="make it again: treeglot rules build") from None

    def __len__(self) -> int:
        """The number of pairs."""
        return self.core.entries

    @property
    def sources(self) -> int:
        """The number of distinct source phrases."""
        return self.core.sources

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.core.size

    @property
    def has_reordering(self) -> bool:
        """Whether pairs have reordering probabilities."""
        return self.core.has_reordering

    @property
    def imported(self) -> bool:
        """Whether the scores came from a text table instead of counts."""
        return self.core.imported

    @property
    def source_words(self) -> Vocabulary:
        """The source vocabulary."""
        return Vocabulary(self.core, False)

    @property
    def target_words(self) -> Vocabulary:
        """The target vocabulary."""
        return Vocabulary(self.core, True)

    def lookup(self, source: str | Sequence[str], limit: int | None = None) -> list[TableEntry]:
        """The pairs of a source phrase, the highest p(e|f) first; at most ``limit``."""
        text = source if isinstance(source, str) else " ".join(source)
        text = " ".join(split_words(text))
        with self.blame():
            entries = self.core.find(text, _ALL if limit is None else max(limit, 0))
        return [TableEntry(text, *entry) for entry in entries]

    def scan(self) -> Iterator[TableEntry]:
        """All pairs, by source phrase in the order of text, the highest p(e|f) of each first."""
        for number in range(self.core.blocks):
            with self.blame():
                block = self.core.block(number)
            for source, entries in block:
                for entry in entries:
                    yield TableEntry(source, *entry)

    def __iter__(self) -> Iterator[TableEntry]:
        return self.scan()

    def search(
        self,
        pattern: str,
        *,
        side: Side = "source",
        whole: bool = False,
        regex: bool = False,
        limit: int | None = None,
    ) -> list[TableEntry]:
        """The pairs whose ``side`` contains the words of ``pattern`` one after another, in the table's order.

        Words may have ``*``, ``?`` and ``[...]`` as in file names. With ``regex``, ``pattern`` is a regular expression that is
        searched for in the phrase as text. ``whole``: the phrase has nothing else.
        """
        if side not in ("source", "target"):
            raise TreeglotError(f"side {side!r}", remedy="sides are source and target")
        if regex:
            return list(islice(self._search_text(pattern, side == "target", whole), limit))
        words = split_words(pattern)
        if not words:
            raise TreeglotError("an empty pattern", remedy="give at least one word")
        with self.blame():
            sets = [self._matching(word, side == "target") for word in words]
            if not all(sets):
                return []
            entries = self.core.search(sets, side == "target", whole, _ALL if limit is None else max(limit, 0))
        return [TableEntry(source, *entry) for source, entry in entries]

    def _matching(self, word: str, target: bool) -> list[int]:
        if not any(mark in word for mark in "*?["):
            number = self.core.id(target, word)
            return [] if number is None else [number]
        exact = self.core.id(target, word)  # the words "?" and "*" exist
        matches = re.compile(fnmatch.translate(word)).match
        matching = [i for i in range(self.core.words(target)) if matches(self.core.word(target, i))]
        return [exact] if exact is not None else matching

    def _search_text(self, pattern: str, target: bool, whole: bool) -> Iterator[TableEntry]:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise TreeglotError(
                f"the expression {pattern!r}: {error}", remedy="write a regular expression of Python"
            ) from None
        match = compiled.fullmatch if whole else compiled.search
        for number in range(self.core.blocks):
            with self.blame():
                block = self.core.block(number)
            for source, entries in block:
                if not target and not match(source):
                    continue
                for entry in entries:
                    if not target or match(entry[0]):
                        yield TableEntry(source, *entry)

    def statistics(self) -> TableStatistics:
        """Read the whole table once and count."""
        with self.blame():
            sources, targets, widths, most, ambiguous, singletons = self.core.shape()
        ambiguity = tuple(
            (1 << (width - 1), (1 << width) - 1, count) for width, count in enumerate(widths) if width and count
        )
        return TableStatistics(
            entries=len(self),
            sources=self.sources,
            source_words=len(self.source_words),
            target_words=len(self.target_words),
            word_pairs=self.core.lexicon_size,
            bytes=self.bytes,
            imported=self.imported,
            source_lengths=tuple(sources),
            target_lengths=tuple(targets),
            ambiguity=ambiguity,
            most_translations=most,
            most_ambiguous=ambiguous,
            singletons=singletons,
        )
