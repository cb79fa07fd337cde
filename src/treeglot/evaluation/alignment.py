"""Scores of word alignments against hand-made ones with sure and possible links (Och and Ney 2003).

With A the links found, S the sure and P the possible ones (S within P): precision |A ∩ P| / |A|, recall |A ∩ S| / |S|,
alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|). Counts are summed over all sentences first.

>>> score = score_alignment([{(0, 0), (1, 2)}], [Gold({(0, 0), (1, 1)}, {(1, 2)})])
>>> score.precision, score.recall, score.f1, score.aer
(1.0, 0.5, 0.6666666666666666, 0.25)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from treeglot.errors import TreeglotError

Links = Iterable[tuple[int, int]]


class Gold:
    """The hand-made links of one sentence pair. Sure links are possible too.

    ``words`` limits the score to links between these source and target words, for sets that link only some words.
    """

    __slots__ = ("possible", "sure", "words")

    def __init__(
        self, sure: Links, possible: Links = (), words: tuple[Collection[int], Collection[int]] | None = None
    ) -> None:
        self.sure = frozenset(sure)
        self.possible = self.sure | frozenset(possible)
        self.words = words


class AlignmentScore(NamedTuple):
    """Sums over sentences: links found, sure links, found that are sure, found that are possible."""

    found: int
    sure: int
    found_sure: int
    found_possible: int

    @property
    def precision(self) -> float:
        return self.found_possible / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.found_sure / self.sure if self.sure else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def aer(self) -> float:
        """Alignment error rate; lower is better."""
        total = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / total if total else 0.0

    def __str__(self) -> str:
        values = (self.aer, self.precision, self.recall, self.f1)
        names = ("AER", "precision", "recall", "F1")
        return " ".join(f"{name} {100 * value:.2f}" for name, value in zip(names, values, strict=True))


def score_alignment(proposed: Iterable[Links], gold: Iterable[Gold]) -> AlignmentScore:
    """Score the links of sentence pairs, in the order of the hand-made ones."""
    counts = [0, 0, 0, 0]
    pairs, gold_pairs = list(proposed), list(gold)
    if len(pairs) != len(gold_pairs):
        raise TreeglotError(
            f"links of {len(pairs):,} pairs, but {len(gold_pairs):,} hand-made ones", remedy="score the same pairs"
        )
    for links, item in zip(pairs, gold_pairs, strict=True):
        chosen = set(links)
        if item.words is not None:
            chosen = {link for link in chosen if link[0] in item.words[0] and link[1] in item.words[1]}
        for k, number in enumerate((len(chosen), len(item.sure), len(chosen & item.sure), len(chosen & item.possible))):
            counts[k] += number
    return AlignmentScore(*counts)
