"""Scores of node links against hand-made ones (spec: phrases and subtrees, section 6).

Hand-made links are good (sure) or fuzzy (possible). By default only good links count: precision is the share of found links
that are good, recall the share of good links that are found. With ``fuzzy`` a found link is right if it is any hand-made
link; recall stays that of the good links. Counts are summed over all sentence pairs first. Nodes are numbers: phrases 0, 1,
..., words as ``~j``; by default only links between two phrases count on either side (internal nodes).

>>> score = score_node_links([{(0, 0), (1, 2), (~0, ~0)}], [GoldNodes({(0, 0), (1, 1)}, {(1, 2)})])
>>> score.precision, score.recall, score.f1
(0.5, 0.5, 0.5)
>>> score_node_links([{(0, 0), (1, 2)}], [GoldNodes({(0, 0), (1, 1)}, {(1, 2)})], fuzzy=True).precision
1.0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from treeglot.errors import TreeglotError

NodePairs = Iterable[tuple[int, int]]


class GoldNodes:
    """The hand-made links of one pair of trees. A pair that is given as both is good."""

    __slots__ = ("fuzzy", "good")

    def __init__(self, good: NodePairs, fuzzy: NodePairs = ()) -> None:
        self.good = frozenset(good)
        self.fuzzy = frozenset(fuzzy) - self.good


class NodeScore(NamedTuple):
    """Sums over sentence pairs: links found, those that are right, hand-made good links, those that are found."""

    found: int
    right: int
    good: int
    recalled: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.recalled / self.good if self.good else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __str__(self) -> str:
        return f"P {100 * self.precision:.2f} R {100 * self.recall:.2f} F1 {100 * self.f1:.2f}"


def score_node_links(
    proposed: Iterable[NodePairs], gold: Iterable[GoldNodes], *, fuzzy: bool = False, internal: bool = True
) -> NodeScore:
    """Score the links of sentence pairs, in the order of the hand-made ones."""
    systems, references = list(proposed), list(gold)
    if len(systems) != len(references):
        raise TreeglotError(
            f"links of {len(systems):,} pairs, but {len(references):,} hand-made ones", remedy="score the same pairs"
        )
    counts = [0, 0, 0, 0]
    for links, reference in zip(systems, references, strict=True):
        chosen, good, possible = ({tuple(pair) for pair in pairs} for pairs in (links, reference.good, reference.fuzzy))
        if internal:
            chosen, good, possible = ({pair for pair in s if min(pair) >= 0} for s in (chosen, good, possible))
        right = chosen & (good | possible) if fuzzy else chosen & good
        for k, number in enumerate((len(chosen), len(right), len(good), len(chosen & good))):
            counts[k] += number
    return NodeScore(*counts)
