"""Lexical tables from links, by relative frequency as Moses makes them: w(e|f) and w(f|e) (spec: phrases and subtrees, 1).

Words without a link are linked to nothing, written ``NULL``.

>>> table = LexicalTables.count(["das haus", "das buch"], ["the house", "the book ."], ["0-0 1-1", "0-0 1-1"])
>>> table.target_given_source("the", "das"), table.target_given_source(".", None)
(1.0, 1.0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from treeglot._core import align as core
from treeglot.alignment.base import check_pairs
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, type_path

NULL = "NULL"


class LexicalRow(NamedTuple):
    """A word pair that is linked ``links`` times; None stands for nothing."""

    source: str | None
    target: str | None
    links: int


@dataclass(frozen=True)
class LexicalTables:
    """Both tables. ``rows`` are sorted by source and target word, nothing last."""

    rows: tuple[LexicalRow, ...]
    _counts: dict[tuple[str | None, str | None], int] = field(init=False, repr=False, compare=False)
    _sources: Counter[str | None] = field(init=False, repr=False, compare=False)
    _targets: Counter[str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sources: Counter[str | None] = Counter()
        targets: Counter[str | None] = Counter()
        for source, target, count in self.rows:
            sources[source] += count
            targets[target] += count
        put = object.__setattr__
        put(self, "_counts", {(row.source, row.target): row.links for row in self.rows})
        put(self, "_sources", sources)
        put(self, "_targets", targets)

    @classmethod
    def count(
        cls, source: Sequence[str], target: Sequence[str], links: Sequence[str], *, path: type_path | None = None
    ) -> LexicalTables:
        """Count the links (Pharaoh lines) of sentence pairs; ``path`` names the links in messages."""
        check_pairs(source, target)
        if len(links) != len(source):
            raise TreeglotError(
                f"{len(links):,} lines of links for {len(source):,} pairs", remedy="give the links of these pairs"
            )
        texts = [
            "".join(line.replace("\n", " ") + "\n" for line in lines).encode() for lines in (source, target, links)
        ]
        try:
            rows = core.link_counts(*texts)
        except ValueError as error:
            line, message, _ = error.args
            remedy = "check that the links belong to these sentences and count from 0"
            raise InputError(message, path=path, line=line, remedy=remedy) from None
        return cls(tuple(LexicalRow(*row) for row in rows))

    def target_given_source(self, target: str | None, source: str | None) -> float:
        """w(e|f)"""
        count = self._counts.get((source, target), 0)
        return count / self._sources[source] if count else 0.0

    def source_given_target(self, source: str | None, target: str | None) -> float:
        """w(f|e)"""
        count = self._counts.get((source, target), 0)
        return count / self._targets[target] if count else 0.0

    def lines_f2e(self) -> Iterator[str]:
        """Moses' ``lex.f2e``: target, source, w(e|f)."""
        for source, target, count in self.rows:
            yield f"{target or NULL} {source or NULL} {count / self._sources[source]:.7f}"

    def lines_e2f(self) -> Iterator[str]:
        """Moses' ``lex.e2f``: source, target, w(f|e)."""
        for source, target, count in self.rows:
            yield f"{source or NULL} {target or NULL} {count / self._targets[target]:.7f}"

    def write(self, prefix: str) -> None:
        """Write ``prefix.f2e`` and ``prefix.e2f``."""
        for name, lines in (("f2e", self.lines_f2e()), ("e2f", self.lines_e2f())):
            with atomic_write(f"{prefix}.{name}") as file:
                file.writelines(line + "\n" for line in lines)
