"""Word translation tables in Moses' format: ``lex.e2f`` (lines ``f e w(f|e)``) and ``lex.f2e`` (lines ``e f w(e|f)``).

``NULL`` stands for nothing: the partner of a word without a link. In Python it is None.

>>> table = LexicalTable({("haus", "house"): (0.75, 1.0), (None, "the"): (0.5, 0.25)})
>>> table.target_given_source("house", "haus"), table.source_given_target(None, "the"), table.source_given_target("x", "y")
(0.75, 0.25, 0.0)
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from treeglot.errors import InputError
from treeglot.files import atomic_write, read_lines
from treeglot.tables.table import PhraseTable

NULL = "NULL"
Key = tuple[str | None, str | None]
_Path = str | os.PathLike[str]


class LexicalTable(Mapping[Key, tuple[float, float]]):
    """(source word, target word) to (w(e|f), w(f|e)), the order of the file."""

    def __init__(self, pairs: Mapping[Key, tuple[float, float]]) -> None:
        self._pairs = dict(pairs)

    @classmethod
    def of(cls, table: PhraseTable) -> LexicalTable:
        """The word table that a phrase table was scored with; empty if it was imported."""
        with table.blame():
            items = table.core.lexicon()
        return cls({(source, target): (forward, backward) for source, target, forward, backward in items})

    @classmethod
    def read(cls, e2f: _Path, f2e: _Path) -> LexicalTable:
        """Read both files of Moses; a pair that only one of them has gets 0 in the other direction."""
        forward = dict(_read(f2e))
        backward = dict(_read(e2f))
        pairs = {(source, target): (weight, 0.0) for (target, source), weight in forward.items()}
        for key, weight in backward.items():
            pairs[key] = (pairs.get(key, (0.0, 0.0))[0], weight)
        return cls(pairs)

    def __getitem__(self, key: Key) -> tuple[float, float]:
        return self._pairs[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def target_given_source(self, target: str | None, source: str | None) -> float:
        """w(e|f), 0 for words that were never linked."""
        return self._pairs.get((source, target), (0.0, 0.0))[0]

    def source_given_target(self, source: str | None, target: str | None) -> float:
        """w(f|e), 0 for words that were never linked."""
        return self._pairs.get((source, target), (0.0, 0.0))[1]

    def write(self, folder: _Path) -> None:
        """Write ``lex.e2f`` and ``lex.f2e`` to a folder."""
        with atomic_write(Path(folder) / "lex.e2f") as file:
            file.writelines(f"{f or NULL} {e or NULL} {weight:.7f}\n" for (f, e), (_, weight) in self.items())
        with atomic_write(Path(folder) / "lex.f2e") as file:
            file.writelines(f"{e or NULL} {f or NULL} {weight:.7f}\n" for (f, e), (weight, _) in self.items())


def _read(path: _Path) -> Iterator[tuple[Key, float]]:
    for number, line in read_lines(path):
        columns = line.split(" ")
        try:
            first, second, text = columns
            weight = float(text)
        except ValueError:
            raise InputError(
                "not of the form: word word probability", path=path, line=number, remedy="give a file such as lex.e2f"
            ) from None
        if not (math.isfinite(weight) and weight >= 0):
            raise InputError(f"{text} is not a probability", path=path, line=number, remedy="give numbers from 0 to 1")
        yield (None if first == NULL else first, None if second == NULL else second), weight
