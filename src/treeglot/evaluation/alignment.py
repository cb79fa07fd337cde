"""Scores of word alignments against hand-made ones with sure and possible links (Och and Ney 2003).

With A the links found, S the sure and P the possible ones (S within P): precision |A ∩ P| / |A|, recall |A ∩ S| / |S|,
alignment error rate 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), F with weight α of precision 1 / (α / precision + (1 - α) / recall)
(Fraser and Marcu 2007: small α fits translation better than the error rate). Counts are summed over all sentences first.

>>> score = score_alignment([{(0, 0), (1, 2)}], [Gold({(0, 0), (1, 1)}, {(1, 2)})])
>>> score.precision, score.recall, score.f1, score.aer
(1.0, 0.5, 0.6666666666666666, 0.25)
>>> round(score.f(0.2), 3)
0.556
>>> classes = frequency_classes([["the", "house", "."], ["the", "the", "the", "the", "the", "dog", "."]])
>>> classes[0]
['6 to 50 times', 'once', 'punctuation']
>>> str(score_by_class([{(0, 0), (1, 2)}], [Gold({(0, 0), (1, 1)}, {(1, 2)})], classes[:1])["once"])
'AER 50.00 precision 100.00 recall 0.00 F1 0.00'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
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
        return self.f(0.5)

    def f(self, alpha: float) -> float:
        """The weighted harmonic mean of precision (weight ``alpha``) and recall."""
        if not 0 <= alpha <= 1:
            raise TreeglotError(f"alpha is {alpha}", remedy="give a number from 0 (recall) to 1 (precision)")
        total = alpha * self.recall + (1 - alpha) * self.precision
        return self.precision * self.recall / total if total else 0.0

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


def score_by_class(
    proposed: Iterable[Links], gold: Iterable[Gold], classes: Sequence[Sequence[str]]
) -> dict[str, AlignmentScore]:
    """Scores of the links of each class of source words, by name; ``classes`` has the class of each word of each pair."""
    pairs, gold_pairs = [set(links) for links in proposed], list(gold)
    if len(pairs) != len(gold_pairs) or len(pairs) != len(classes):
        message = f"links of {len(pairs):,} pairs, {len(gold_pairs):,} hand-made ones, classes of {len(classes):,}"
        raise TreeglotError(message, remedy="score the same pairs")
    for number, (links, item, names) in enumerate(zip(pairs, gold_pairs, classes, strict=True), start=1):
        beyond = max((i for i, _ in links | item.possible), default=-1)
        if beyond >= len(names):
            message = f"pair {number}: a link of source word {beyond}, but there are {len(names)} words with classes"
            raise TreeglotError(message, remedy="give the text or the tags of the same pairs")
    result = {}
    for name in sorted({name for names in classes for name in names}):
        chosen, wanted = [], []
        for links, item, names in zip(pairs, gold_pairs, classes, strict=True):
            chosen.append([link for link in links if names[link[0]] == name])
            sure, possible = ([link for link in kind if names[link[0]] == name] for kind in (item.sure, item.possible))
            wanted.append(Gold(sure, possible, item.words))
        result[name] = score_alignment(chosen, wanted)
    return result


def frequency_classes(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each word: punctuation (neither letter nor digit), or how often it occurs in all sentences."""
    counts = Counter(word for sentence in sentences for word in sentence)

    def name(word: str) -> str:
        if not any(map(str.isalnum, word)):
            return "punctuation"
        limits = ((1, "once"), (5, "2 to 5 times"), (50, "6 to 50 times"), (500, "51 to 500 times"))
        return next((text for limit, text in limits if counts[word] <= limit), "more often")

    return [[name(word) for word in sentence] for sentence in sentences]
