"""Word links learnt from the hand-made word links of a treebank (an addition to the paper).

Treebanks whose nodes are linked by hand often have links of words, too. A word aligner knows nothing of how they were made:
which words were linked at all, how compounds and articles were treated. `WordLinker` learns it from the linked words of the
training part: boosted trees judge word pairs by what the aligner says about the pair and its neighbours, how alike the two
words are written, their tags, how often the two words, or their tags, were linked in the training part, and what the trees
say. Its chances replace those of the aligner (`WordEvidence.chances`), and the pairs above a threshold its links.

What the linker says of its own training part would be too good; `cross_fitted` gives the evidence of each group of pairs
(a document) from a linker that was fitted on the other groups, as it will be for new text.

>>> from treeglot.trees.constituency import ConstituencyTree
>>> from treeglot.trees.sentence import Link, ParsedSentence
>>> def sentence(*words):
...     return ParsedSentence.of(constituency=ConstituencyTree.build(words, ("S", *range(len(words)))))
>>> nouns = [("Haus", "house"), ("Buch", "book"), ("Baum", "tree"), ("Tag", "day")] * 10
>>> pairs = [AlignedPair(sentence("ein", a), sentence("a", b), [Link(1, 1)]) for a, b in nouns]
>>> evidence = [WordEvidence(np.eye(2), np.eye(2), np.eye(2)) for _ in pairs]
>>> linker = WordLinker.fit(pairs, evidence)
>>> linker.improve(pairs[:1], evidence[:1])[0].links.astype(int).tolist()  # articles are not linked here
[[0, 0], [0, 1]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.features import Floats, WordEvidence
from treeglot.alignment.subtrees.wordpairs import PAIR_FEATURES, LinkStatistics, candidates, pair_features
from treeglot.errors import TreeglotError
from treeglot.progress import track
from treeglot.trees.sentence import AlignedPair

THRESHOLD = 0.4
"""The chance above which a pair of words is linked: best F1 of word links on held-out German-Spanish text."""
FOLDS = 4
BLOCK = 200
"""Sentence pairs that are judged at a time."""


class WordLinker:
    """A classifier of word pairs and the counts that its features come from."""

    def __init__(self, statistics: LinkStatistics, trees: BoostedTrees) -> None:
        self.statistics = statistics
        self.trees = trees

    @classmethod
    def fit(
        cls,
        pairs: Sequence[AlignedPair],
        evidence: Sequence[WordEvidence],
        groups: Sequence[int] | None = None,
    ) -> WordLinker:
        """Learn from the word links of pairs. ``groups`` number the documents (default: parts of the same size).

        The counts that the features of one group use come from the other groups, else they would seem to know everything.
        """
        if not any(pair.word_links for pair in pairs):
            raise TreeglotError("no links between words to learn from", remedy="give pairs whose words are linked")
        numbers = _groups(len(pairs), groups)
        counts = {
            group: LinkStatistics.count([pair for pair, g in zip(pairs, numbers, strict=True) if g == group])
            for group in sorted(set(numbers))
        }
        others = {
            group: LinkStatistics.sum([part for number, part in counts.items() if number != group or len(counts) == 1])
            for group in counts
        }
        rows, labels = [], []
        for pair, known, group in zip(pairs, evidence, numbers, strict=True):
            features = pair_features(pair, known, others[group])
            chosen = candidates(features)
            gold = np.zeros(features.shape[:2], dtype=bool)
            for link in pair.word_links:
                gold[link.source, link.target] = True
            rows.append(features[chosen])
            labels.append(gold[chosen])
        marks = np.concatenate(labels)
        if marks.all() or not marks.any():
            raise TreeglotError(
                "all pairs of words are linked, or none", remedy="give more text to learn word links from"
            )
        return cls(LinkStatistics.sum(counts.values()), BoostedTrees.fit(np.concatenate(rows), marks))

    def chances(self, pairs: Sequence[AlignedPair], evidence: Sequence[WordEvidence]) -> list[Floats]:
        """The chance of a link for all word pairs of each pair of sentences. The pairs' own links are not looked at."""
        result: list[Floats] = []
        for start in range(0, len(pairs), BLOCK):
            block = list(zip(pairs[start : start + BLOCK], evidence[start : start + BLOCK], strict=True))
            features = [pair_features(pair, known, self.statistics) for pair, known in block]
            chosen = [candidates(matrix) for matrix in features]
            rows = [matrix[kept] for matrix, kept in zip(features, chosen, strict=True)]
            chances = self.trees.chances(np.concatenate(rows)) if rows else np.empty(0)
            stops = np.cumsum([len(part) for part in rows])
            for kept, part in zip(chosen, np.split(chances, stops[:-1]), strict=True):
                matrix = np.zeros(kept.shape)
                matrix[kept] = part
                result.append(matrix)
        return result

    def improve(
        self, pairs: Sequence[AlignedPair], evidence: Sequence[WordEvidence], *, threshold: float = THRESHOLD
    ) -> list[WordEvidence]:
        """The evidence with the linker's chances and links; translation probabilities stay."""
        return [
            known.with_links(chances > threshold, chances)
            for known, chances in zip(evidence, self.chances(pairs, evidence), strict=True)
        ]

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save."""
        trees = {f"trees/{name}": value for name, value in self.trees.state().items()}
        return trees | {f"counts/{name}": value for name, value in self.statistics.state().items()}

    @classmethod
    def of_state(cls, arrays: Mapping[str, NDArray[Any]]) -> WordLinker:
        """The inverse of `state`."""
        trees = {key.removeprefix("trees/"): value for key, value in arrays.items() if key.startswith("trees/")}
        counts = {key.removeprefix("counts/"): value for key, value in arrays.items() if key.startswith("counts/")}
        boosted = BoostedTrees.of_state(trees)
        if len(boosted.feature) and boosted.feature.max() >= len(PAIR_FEATURES):
            raise ValueError("the features of word pairs are not those of this version")
        return cls(LinkStatistics.of_state(counts), boosted)


def cross_fitted(
    pairs: Sequence[AlignedPair],
    evidence: Sequence[WordEvidence],
    groups: Sequence[int] | None = None,
    *,
    threshold: float = THRESHOLD,
) -> list[WordEvidence]:
    """The evidence of each group of pairs, improved by a linker that was fitted on the other groups."""
    numbers = _groups(len(pairs), groups)
    if len(set(numbers)) < 2:
        raise TreeglotError("one group of pairs only", remedy="give at least two documents, or leave the groups out")
    result = list(evidence)
    for group in track(sorted(set(numbers)), "word links of the training part"):
        rest = [k for k, number in enumerate(numbers) if number != group]
        part = [k for k, number in enumerate(numbers) if number == group]
        linker = WordLinker.fit([pairs[k] for k in rest], [evidence[k] for k in rest], [numbers[k] for k in rest])
        improved = linker.improve([pairs[k] for k in part], [evidence[k] for k in part], threshold=threshold)
        for k, known in zip(part, improved, strict=True):
            result[k] = known
    return result


def _groups(count: int, groups: Sequence[int] | None) -> list[int]:
    if groups is None:
        return [k * FOLDS // count for k in range(count)]
    if len(groups) != count:
        raise TreeglotError(f"{len(groups)} groups for {count} pairs", remedy="give one number for each pair")
    return list(groups)
