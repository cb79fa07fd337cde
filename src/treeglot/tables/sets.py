"""Comparing sets of phrase pairs: how many there are, how long they are, and what they share (paper: phrase extraction).

Each set comes as lines ``source ||| target ||| count`` in the order of bytes, as `treeglot.tables.write_phrase_counts`
writes them, so that any number of pairs is compared in one pass.

>>> one = ["a ||| x ||| 2", "b ||| y ||| 1"]
>>> two = ["b c ||| y ||| 1", "b ||| y ||| 3"]
>>> result = compare_sets({"STR": iter(one), "CON": iter(two)})
>>> result.sets["STR"].pairs, result.sets["CON"].occurrences, result.sets["CON"].mean_source
(2, 4, 1.5)
>>> result.only["STR"], result.shared["STR", "CON"]
(1, 1)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from treeglot.errors import InputError


@dataclass
class PhraseSet:
    """Numbers of one set; lengths are means over distinct pairs, in words."""

    pairs: int = 0
    occurrences: int = 0
    source_words: int = 0
    target_words: int = 0

    @property
    def mean_source(self) -> float:
        return self.source_words / self.pairs if self.pairs else 0.0

    @property
    def mean_target(self) -> float:
        return self.target_words / self.pairs if self.pairs else 0.0


@dataclass
class SetComparison:
    """``sets`` by name; ``only``: pairs that no other set has; ``shared``: pairs that both of two sets have; ``union``."""

    sets: dict[str, PhraseSet] = field(default_factory=dict)
    only: dict[str, int] = field(default_factory=dict)
    shared: dict[tuple[str, str], int] = field(default_factory=dict)
    union: int = 0


def compare_sets(sets: Mapping[str, Iterator[str]]) -> SetComparison:
    """Read the sets side by side."""
    names = list(sets)
    result = SetComparison({name: PhraseSet() for name in names}, dict.fromkeys(names, 0))
    result.shared = dict.fromkeys(itertools.combinations(names, 2), 0)
    heads = {name: next(lines, None) for name, lines in sets.items()}
    keys: dict[str, bytes] = {}
    rows: dict[str, tuple[str, str, int]] = {}

    def take(name: str, line: str | None) -> None:
        keys.pop(name, None)
        if line is None:
            return
        parts = line.rstrip("\n").split(" ||| ")
        if len(parts) != 3 or not parts[2].isdigit():
            raise InputError(
                f"{line[:60]!r} is not a phrase pair with a count", remedy="write source ||| target ||| count"
            )
        key = f"{parts[0]} ||| {parts[1]} ||| ".encode()
        if name in rows and key <= previous.get(name, b""):
            raise InputError(f"{line[:60]!r} is out of order", remedy="sort the lines by bytes (LC_ALL=C sort)")
        previous[name] = keys[name] = key
        rows[name] = (parts[0], parts[1], int(parts[2]))

    previous: dict[str, bytes] = {}
    for name, line in heads.items():
        take(name, line)
    while keys:
        least = min(keys.values())
        here = [name for name in names if keys.get(name) == least]
        result.union += 1
        for name in here:
            source, target, count = rows[name]
            part = result.sets[name]
            part.pairs += 1
            part.occurrences += count
            part.source_words += source.count(" ") + 1
            part.target_words += target.count(" ") + 1
            take(name, next(sets[name], None))
        if len(here) == 1:
            result.only[here[0]] += 1
        for pair in itertools.combinations(here, 2):
            result.shared[pair] += 1
    return result
