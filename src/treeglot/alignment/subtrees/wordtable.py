"""Word translation probabilities in both directions, as the tree aligners use them (spec: phrases and subtrees, section 4).

A `WordTable` comes from counted links (`WordTable.of`), from a word aligner's own tables (`WordTable.of_lexicon`), from
Moses' two text files (`WordTable.read`) or straight from text (`WordTable.train`).

>>> table = WordTable([("das", "the", 0.75, 0.5), ("haus", "house", 1.0, 0.5)])
>>> table.target_given_source("the", "das"), table.source_given_target("haus", "house"), table.target_given_source("x", "y")
(0.75, 0.5, 0.0)
>>> forward, backward = table.matrices(["das", "haus"], ["the", "house", "?"], floor=0.01)
>>> forward.tolist()
[[0.75, 0.01, 0.01], [0.01, 1.0, 0.01]]
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeglot._core import subtrees as core
from treeglot.alignment.base import train
from treeglot.alignment.lexical import NULL, LexicalTables
from treeglot.errors import InputError, TreeglotError
from treeglot.files import read_lines, type_path

Row = tuple[str, str, float, float]
"""Source word, target word, P(target|source), P(source|target)."""

Estimate = Literal["model", "links", "both"]
"""Where `WordTable.train` takes probabilities from: the aligner's own tables, its links, or the mean of the two."""


class WordTable:
    """Probabilities of word pairs; pairs that are not there have probability 0 (or the floor that a user asks for)."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._sources: dict[str, int] = {}
        self._targets: dict[str, int] = {}
        self.core = core.WordTable()
        block: list[tuple[int, int, float, float]] = []
        for source, target, forward, backward in rows:
            numbers = (
                self._sources.setdefault(source, len(self._sources)),
                self._targets.setdefault(target, len(self._targets)),
            )
            block.append((*numbers, forward, backward))
            if len(block) == 100_000:
                self._add(block)
                block = []
        self._add(block)

    def _add(self, block: list[tuple[int, int, float, float]]) -> None:
        if block:
            columns = list(zip(*block, strict=True))
            self.core.add(
                np.array(columns[0], dtype=np.int32),
                np.array(columns[1], dtype=np.int32),
                np.array(columns[2], dtype=np.float64),
                np.array(columns[3], dtype=np.float64),
            )

    @classmethod
    def of(cls, tables: LexicalTables) -> WordTable:
        """Relative frequencies of links; links to nothing count, but have no pair here."""
        return cls(
            (s, t, tables.target_given_source(t, s), tables.source_given_target(s, t))
            for s, t, _ in tables.rows
            if s is not None and t is not None
        )

    @classmethod
    def read(cls, f2e: type_path, e2f: type_path) -> WordTable:
        """Moses' ``lex.f2e`` (lines ``e f w(e|f)``) and ``lex.e2f`` (lines ``f e w(f|e)``)."""
        pairs: dict[tuple[str, str], tuple[float, float]] = {}
        for target, source, weight in _read(f2e):
            pairs[source, target] = (weight, 0.0)
        for source, target, weight in _read(e2f):
            pairs[source, target] = (pairs.get((source, target), (0.0, 0.0))[0], weight)
        return cls((*words, *weights) for words, weights in pairs.items())

    @classmethod
    def read_prefix(cls, prefix: str) -> WordTable:
        """``PREFIX.f2e`` and ``PREFIX.e2f``; a folder stands for the ``lex`` files in it."""
        return cls.read(*cls.files(prefix))

    @staticmethod
    def files(prefix: str) -> tuple[str, str]:
        """The two files that `read_prefix` reads."""
        start = str(Path(prefix) / "lex") if Path(prefix).is_dir() else prefix
        return f"{start}.f2e", f"{start}.e2f"

    @classmethod
    def train(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        *,
        aligner: str = "own",
        estimate: Estimate = "both",
        threshold: float = 1e-4,
        threads: int = 0,
        **options: Any,
    ) -> WordTable:
        """Align the words of sentence pairs (tokenised lines) and take the probabilities from that.

        ``threshold`` leaves out unlikely pairs of the aligner's own tables.
        """
        if estimate not in ("model", "links", "both"):
            raise TreeglotError(f"no estimate {estimate!r}", remedy="choose model, links or both")
        with tempfile.TemporaryDirectory() as folder:
            model = train(aligner, source, target, Path(folder) / "model", threads=threads, **options)
            rows: dict[tuple[str, str], tuple[float, float]] = {}
            weight = 0.5 if estimate == "both" else 1.0
            if estimate != "links":
                for row in model.lexicon(threshold):
                    rows[row.source, row.target] = (
                        weight * row.target_given_source,
                        weight * row.source_given_target,
                    )
            if estimate != "model":
                links = model.align(source, target).symmetrized()
                tables = LexicalTables.count(source, target, links)
                for s, t, _ in tables.rows:
                    if s is not None and t is not None:
                        old = rows.get((s, t), (0.0, 0.0))
                        rows[s, t] = (
                            old[0] + weight * tables.target_given_source(t, s),
                            old[1] + weight * tables.source_given_target(s, t),
                        )
        return cls((*words, *chances) for words, chances in sorted(rows.items()))

    def __len__(self) -> int:
        return len(self.core)

    def __repr__(self) -> str:
        return f"WordTable({len(self):,} pairs of {len(self._sources):,} and {len(self._targets):,} words)"

    def source_ids(self, words: Iterable[str]) -> list[int]:
        """Numbers of words for the native core, -1 for words that no pair has."""
        get = self._sources.get
        return [get(word, -1) for word in words]

    def target_ids(self, words: Iterable[str]) -> list[int]:
        get = self._targets.get
        return [get(word, -1) for word in words]

    def matrices(
        self, source: Sequence[str], target: Sequence[str], floor: float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P(target|source) and P(source|target) for two sentences: a row for each source word, nothing below ``floor``."""
        return self.core.matrices(self.source_ids(source), self.target_ids(target), floor)

    def target_given_source(self, target: str, source: str) -> float:
        return float(self.matrices([source], [target])[0][0, 0])

    def source_given_target(self, source: str, target: str) -> float:
        return float(self.matrices([source], [target])[1][0, 0])


def _read(path: type_path) -> Iterator[tuple[str, str, float]]:
    for number, line in read_lines(path):
        try:
            first, second, text = line.split(" ")
            weight = float(text)
        except ValueError:
            raise InputError(
                "not of the form: word word probability", path=path, line=number, remedy="give a file such as lex.e2f"
            ) from None
        if not (math.isfinite(weight) and 0 <= weight <= 1):
            raise InputError(f"{text} is not a probability", path=path, line=number, remedy="give numbers from 0 to 1")
        if NULL not in (first, second):
            yield first, second, weight
