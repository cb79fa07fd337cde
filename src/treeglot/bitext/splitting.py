"""Splitting a corpus into training, development and test parts that share no sentence.

A corpus such as Tatoeba has many translations of one sentence; a random split would test on what was trained. Here all
pairs of a source (compared without case, spacing and Unicode form) go to the same part. The choice depends only on the seed and the
texts, not on their order, and the sizes are met exactly wherever the groups allow it.

>>> pairs = [TextPair(f"source {n // 2}", f"target {n}") for n in range(40)]
>>> parts = split(pairs, dev=4, test=0.1, seed=1)
>>> [len(part) for part in (parts.train, parts.dev, parts.test)]
[32, 4, 4]
>>> {pair.source for pair in parts.train} & {pair.source for pair in parts.test}
set()
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

from treeglot.bitext.pair import TextPair, compared, digest
from treeglot.errors import ConfigError, TreeglotError

Side = Literal["source", "target"]
Part = Literal["train", "dev", "test"]


class Split(NamedTuple):
    """The three parts, each in the order of the corpus."""

    train: list[TextPair]
    dev: list[TextPair]
    test: list[TextPair]


class SplitPlan:
    """Which part each pair belongs to. It keeps digests only, so a corpus can be streamed twice instead of held."""

    def __init__(self, dev: frozenset[bytes], test: frozenset[bytes], by: Side) -> None:
        self._dev, self._test, self._by = dev, test, by

    def part(self, pair: TextPair) -> Part:
        """The part of a pair; one that the plan was not made from belongs to training."""
        key = _key(pair, self._by)
        return "test" if key in self._test else "dev" if key in self._dev else "train"


def plan_split(
    pairs: Iterable[TextPair], *, dev: float = 0, test: float = 0, seed: int = 1, by: Side = "source"
) -> SplitPlan:
    """Choose the pairs of the development and test parts.

    ``dev`` and ``test`` are numbers of pairs, or below 1 shares of the corpus. ``by`` is the side that no two parts may
    share.
    """
    if by not in ("source", "target"):
        raise ConfigError(f"by is {by!r}", remedy="choose source or target")
    sizes: dict[bytes, int] = {}
    total = 0
    for pair in pairs:
        key = _key(pair, by)
        sizes[key] = sizes.get(key, 0) + 1
        total += 1
    wanted = [_size(value, total) for value in (test, dev)]
    if sum(wanted) > total or (sum(wanted) == total and total):
        raise ConfigError(
            f"{wanted[1]:,} development and {wanted[0]:,} test pairs leave nothing of {total:,} to train on",
            remedy="make the parts smaller",
        )
    salt = f"{seed} ".encode()
    order = sorted(sizes, key=lambda key: hashlib.blake2b(salt + key, digest_size=16).digest())
    chosen: list[set[bytes]] = []
    used: set[bytes] = set()
    for goal in wanted:
        part: set[bytes] = set()
        missing = goal
        for key in order:
            if not missing:
                break
            # A group larger than what is missing is left to a later part, so that the size is met exactly.
            if key not in used and sizes[key] <= missing:
                part.add(key)
                missing -= sizes[key]
        if goal and not part:
            raise TreeglotError(
                f"no {by} occurs at most {goal} times, so no part of {goal} pairs can be made",
                remedy="ask for larger parts, or remove duplicates first",
            )
        used |= part
        chosen.append(part)
    return SplitPlan(dev=frozenset(chosen[1]), test=frozenset(chosen[0]), by=by)


def split(pairs: Iterable[TextPair], *, dev: float = 0, test: float = 0, seed: int = 1, by: Side = "source") -> Split:
    """The three parts of a corpus held in memory; see `plan_split`."""
    held = list(pairs)
    plan = plan_split(held, dev=dev, test=test, seed=seed, by=by)
    parts = Split([], [], [])
    for pair in held:
        getattr(parts, plan.part(pair)).append(pair)
    return parts


def _key(pair: TextPair, by: Side) -> bytes:
    return digest(compared(pair.source if by == "source" else pair.target))


def _size(value: float, total: int) -> int:
    if not 0 <= value < math.inf or (value >= 1 and value != int(value)):
        raise ConfigError(f"impossible size {value}", remedy="give a number of pairs, or a share below 1")
    return round(value * total) if value < 1 else int(value)
