"""Scores of node links against hand-made ones (spec: phrases and subtrees, section 6).

Hand-made links are good (sure) or fuzzy (possible). By default only good links count: precision is the share of found links
that are good, recall the share of good links that are found. With ``fuzzy`` good and fuzzy hand-made links count alike, in
precision and in recall. Counts are summed over all sentence pairs first. Nodes are numbers: phrases 0, 1, ..., words as
``~j``; by default only links between two phrases count on either side (internal nodes).

>>> score = score_node_links([{(0, 0), (1, 2), (~0, ~0)}], [GoldNodes({(0, 0), (1, 1)}, {(1, 2)})])
>>> score.precision, score.recall, score.f1
(0.5, 0.5, 0.5)
>>> score = score_node_links([{(0, 0), (1, 2)}], [GoldNodes({(0, 0), (1, 1)}, {(1, 2)})], fuzzy=True)
>>> score.precision, round(score.recall, 2)
(1.0, 0.67)

`lingua_align_score` has the figures of the script that is published with TBLign and that Lingua-Align was scored with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    """Sums over sentence pairs: links found, those that are right, hand-made links that count, those that are found."""

    found: int
    right: int
    gold: int
    recalled: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.recalled / self.gold if self.gold else 1.0

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
        wanted = good | possible if fuzzy else good
        right = chosen & wanted
        for k, number in enumerate((len(chosen), len(right), len(wanted), len(right))):
            counts[k] += number
    return NodeScore(*counts)


class LinguaAlignScore(NamedTuple):
    """Percentages, rounded to one decimal as the script prints them; both F-scores come from rounded figures."""

    precision: float
    recall: float
    recall_good: float
    recall_fuzzy: float
    f_all: float
    """Of ``precision`` and ``recall``."""
    f_good: float
    """Of ``precision`` and ``recall_good``."""

    def __str__(self) -> str:
        return (
            f"P {self.precision:.1f} R {self.recall:.1f} R(good) {self.recall_good:.1f} R(fuzzy) {self.recall_fuzzy:.1f} "
            f"F {self.f_all:.1f} F(good) {self.f_good:.1f}"
        )


def lingua_align_score(
    proposed: Sequence[GoldNodes], gold: Sequence[GoldNodes], names: Sequence[tuple[str, str]] = ()
) -> LinguaAlignScore:
    """Links of a system and by hand, as the evaluation script of TBLign counts them.

    Found links count if their target is a phrase, hand-made ones if either end is. Precision and recall take good and fuzzy
    links alike; recall of good links takes found links of both kinds, recall of fuzzy ones only links found as fuzzy.
    Sentences before the first one with a link of the system, and after the last one, by the numbers in ``names`` (the ids of
    the two sentences of each pair), are not scored.

    >>> gold = [GoldNodes({(0, 0), (1, 1)}, {(2, 2)})]
    >>> print(lingua_align_score([GoldNodes({(0, 0), (3, 3)}, {(2, 2), (1, ~0)})], gold))
    P 66.7 R 66.7 R(good) 50.0 R(fuzzy) 100.0 F 66.7 F(good) 57.2
    """
    proposals = right = total = recalled = good = good_recalled = fuzzy = fuzzy_recalled = 0
    inside = _scored(proposed, names) if names else [True] * len(gold)
    for system, reference, scored in zip(proposed, gold, inside, strict=True):
        links = {link for link in system.good | system.fuzzy if link[1] >= 0}
        possible = {link for link in system.fuzzy if link[1] >= 0}
        wanted = [
            {link for link in kind if max(link) >= 0} if scored else set() for kind in (reference.good, reference.fuzzy)
        ]
        proposals, right = proposals + len(links), right + len(links & (wanted[0] | wanted[1]))
        total, recalled = total + len(wanted[0]) + len(wanted[1]), recalled + len((wanted[0] | wanted[1]) & links)
        good, good_recalled = good + len(wanted[0]), good_recalled + len(wanted[0] & links)
        fuzzy, fuzzy_recalled = fuzzy + len(wanted[1]), fuzzy_recalled + len(wanted[1] & possible)

    def percent(part: int, whole: int, otherwise: float = 100.0) -> float:
        return round(100 * part / whole, 1) if whole else otherwise

    def mean(first: float, second: float) -> float:
        return round(2 * first * second / (first + second), 1) if first + second else 0.0

    precision, recall = percent(right, proposals, 0.0), percent(recalled, total)
    recall_good = percent(good_recalled, good)
    return LinguaAlignScore(
        precision,
        recall,
        recall_good,
        percent(fuzzy_recalled, fuzzy),
        mean(precision, recall),
        mean(precision, recall_good),
    )


def _scored(proposed: Sequence[GoldNodes], names: Sequence[tuple[str, str]]) -> list[bool]:
    """Which pairs lie between the first and the last one with links of the system."""

    def number(name: str) -> int:
        digits = re.match(r"\D*(\d+)", name)
        return int(digits[1]) if digits else 0

    linked = [number(name[0]) for name, links in zip(names, proposed, strict=True) if links.good or links.fuzzy]
    if not linked:
        return [True] * len(names)
    return [linked[0] <= number(name[1]) <= max(linked) for name in names]
