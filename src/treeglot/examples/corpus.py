"""The example corpus: a stream of sentence pairs, and train, dev, test and test_long made from it.

Training, development and ordinary test sentences have at most `MAX_LENGTH` Chinese words and `MAX_NESTING` clauses inside
each other. Sentences of ``test_long`` exceed both, so every one is longer and nested deeper than anything in training.
No Chinese and no English sentence occurs twice, within a part or between parts.

>>> parts = splits(seed=1, sizes=Sizes(30, 5, 5, 3))
>>> [len(part) for part in parts]
[30, 5, 5, 3]
>>> max(len(pair.source) for pair in parts.train) < min(len(pair.source) for pair in parts.test_long)
True
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from treeglot.errors import ConfigError
from treeglot.examples.grammar import load_grammar
from treeglot.trees import AlignedPair, ConstituencyTree

MAX_LENGTH = 22
"""Chinese words of the longest sentence outside of ``test_long``, full stop included."""
MAX_TARGET_LENGTH = 27
"""English words of the longest sentence outside of ``test_long``."""
MAX_NESTING = 2
"""Clauses (IP of two or more words) inside each other outside of ``test_long``."""
LONGEST = 38
"""Chinese words of the longest sentence that is kept at all: longer ones are hard to read."""


class Sizes(NamedTuple):
    """Sentence pairs in each part."""

    train: int = 4000
    dev: int = 300
    test: int = 300
    test_long: int = 200


class Splits(NamedTuple):
    """The parts of the corpus."""

    train: list[AlignedPair]
    dev: list[AlignedPair]
    test: list[AlignedPair]
    test_long: list[AlignedPair]


def nesting(tree: ConstituencyTree, label: str = "IP") -> int:
    """How many phrases with this label and two or more words lie inside each other at most."""
    depth = [0] * len(tree)
    for n, parent in enumerate(tree.parents):
        counts = tree.labels[n] == label and tree.spans[n][1] - tree.spans[n][0] > 1
        depth[n] = (depth[parent] if parent >= 0 else 0) + counts
    return max(depth, default=0)


def is_ordinary(pair: AlignedPair) -> bool:
    """Whether a pair is within the limits of the training part."""
    assert pair.source.constituency is not None
    return (
        len(pair.source) <= MAX_LENGTH
        and len(pair.target) <= MAX_TARGET_LENGTH
        and nesting(pair.source.constituency) <= MAX_NESTING
    )


def is_long(pair: AlignedPair) -> bool:
    """Whether a pair is beyond all limits of the training part at once."""
    assert pair.source.constituency is not None
    return (
        MAX_LENGTH < len(pair.source) <= LONGEST
        and len(pair.target) > MAX_TARGET_LENGTH
        and nesting(pair.source.constituency) > MAX_NESTING
    )


def generate(
    n: int, seed: int = 1, *, max_depth: int = 2, long: bool = False, prefix: str = "example"
) -> Iterator[AlignedPair]:
    """Yield n different sentence pairs named ``prefix-1``, ``prefix-2``, ...; the same arguments give the same pairs.

    ``max_depth`` bounds how many embedding rules (relative clauses, reported speech, coordination, subordinate clauses)
    lie above each other. With ``long``, only pairs beyond the limits of the training part are made, otherwise only pairs
    within them; ``long`` wants a ``max_depth`` of at least 2.

    >>> first, second = generate(2, seed=5)
    >>> first.id, first.source.text == second.source.text
    ('example-1', False)
    """
    if n < 0 or max_depth < 0:
        raise ConfigError("n and max_depth may not be negative", remedy="give 0 or more")
    if long and max_depth < 2:
        raise ConfigError("long sentences need embedding", remedy="set max_depth to 2 or more")
    seen: set[str] = set()
    stream = _stream(random.Random(seed), max_depth, long)
    for number in range(1, n + 1):
        yield _named(_next_new(stream, seen), f"{prefix}-{number}")


def splits(seed: int = 1, sizes: Sizes = Sizes()) -> Splits:  # noqa: B008 - an immutable default
    """The four parts of the corpus. One random sequence is used from start to end: train, dev, test, test_long."""
    if min(sizes) < 0:
        raise ConfigError("a size is negative", remedy="give 0 or more sentence pairs for each part")
    chance = random.Random(seed)
    ordinary, long = _stream(chance, 2, False), _stream(chance, 3, True)
    seen: set[str] = set()
    parts: list[list[AlignedPair]] = []
    for name, size in sizes._asdict().items():
        stream = long if name == "test_long" else ordinary
        label = name.replace("_", "-")
        parts.append([_named(_next_new(stream, seen), f"{label}-{number}") for number in range(1, size + 1)])
    return Splits(*parts)


def _stream(chance: random.Random, max_depth: int, long: bool) -> Iterator[AlignedPair]:
    grammar = load_grammar()
    low, least, limit = (2, MAX_LENGTH + 1, LONGEST) if long else (0, 0, MAX_LENGTH)
    while True:
        # the greater of two draws: deep sentences are refused more often, being longer
        depth = low + max(int(chance.random() * (max_depth - low + 1)) for _ in range(2))
        pair = grammar.sample(chance, depth=depth, long=long, least=least, limit=limit)
        if is_long(pair) if long else is_ordinary(pair):
            yield pair


def _next_new(stream: Iterator[AlignedPair], seen: set[str]) -> AlignedPair:
    for _ in range(100_000):
        pair = next(stream)
        texts = {" ".join(pair.source.tokens.forms), " ".join(pair.target.tokens.forms)}
        if seen.isdisjoint(texts):
            seen |= texts
            return pair
    raise ConfigError("the grammar has no more new sentences", remedy="ask for fewer or a greater max_depth")


def _named(pair: AlignedPair, name: str) -> AlignedPair:
    source, target = replace(pair.source, id=name), replace(pair.target, id=name)
    return AlignedPair(source, target, pair.word_links, pair.node_links, name)
