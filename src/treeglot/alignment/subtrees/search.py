"""From scored pairs of nodes to links that fit together (spec: phrases and subtrees, sections 4 and 6).

Links are **well-formed** if a node has one link at most, the descendants of a linked node are linked only to descendants of
its counterpart, and its ancestors only to ancestors of its counterpart. Siblings may be reordered freely.

`greedy_links` takes the best pair, drops all that do not fit, and so on. Pairs with equal scores are taken in the order of
their nodes: source first, then target; phrases in preorder (so the higher and then the left one first), then words.

`best_links` finds the well-formed links with the highest sum. Without an order among siblings this is the mapping problem of
unordered tree edit distance, which is NP-hard, so there is no dynamic programme over node pairs; but the pairs that are worth
considering are few, and a branch and bound over independent groups of conflicting pairs settles nearly all sentences at once.

>>> from treeglot.trees.constituency import ConstituencyTree
>>> source = TreeNodes.of(ConstituencyTree.build(["a", "b"], ("S", ("NP", 0), ("VP", 1))), words=False)
>>> target = TreeNodes.of(ConstituencyTree.build(["c", "d"], ("S", ("X", ("Y", 0), ("Z", 1)))), words=False)
>>> scores = np.array([[0.4, 0.5, 0, 0], [0, 0.6, 0.5, 0], [0, 0.0, 0, 0.3]])
>>> [tuple(link) for link in greedy_links(scores, source, target)]
[(1, 1, 0.6), (0, 0, 0.4)]
>>> [tuple(link) for link in best_links(scores, source, target)]
[(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.3)]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treeglot.alignment.subtrees.nodes import Bools, Ints, TreeNodes

Floats = NDArray[np.float64]

BRANCH_LIMIT = 20_000
"""How many branches `best_links` tries for one group of conflicting pairs before it keeps the best links found so far."""


class ScoredPair(NamedTuple):
    """Node ``source`` of one tree and node ``target`` of the other (numbers in their `TreeNodes`)."""

    source: int
    target: int
    score: float


class Candidates(NamedTuple):
    """Pairs as columns, best first, ties by source and then target node."""

    sources: Ints
    targets: Ints
    scores: Floats

    @classmethod
    def sort(cls, sources: ArrayLike, targets: ArrayLike, scores: ArrayLike) -> Candidates:
        """Any order of pairs; scores that are not finite are left out."""
        s, t = np.asarray(sources, dtype=np.int32), np.asarray(targets, dtype=np.int32)
        values = np.asarray(scores, dtype=np.float64)
        kept = np.flatnonzero(np.isfinite(values))
        order = kept[np.lexsort((t[kept], s[kept], -values[kept]))]
        return cls(s[order], t[order], values[order])

    @classmethod
    def of_matrix(cls, scores: ArrayLike, threshold: float) -> Candidates:
        """The pairs of a matrix whose scores are above ``threshold``."""
        matrix = np.asarray(scores, dtype=np.float64)
        sources, targets = np.nonzero(matrix > threshold)
        return cls.sort(sources, targets, matrix[sources, targets])


def fits(source: TreeNodes, target: TreeNodes, s: int, t: int, sources: Ints, targets: Ints) -> Bools:
    """Which of the pairs (sources[k], targets[k]) can be linked besides the pair (s, t)."""
    fitting: Bools = (source.below(s, sources) == target.below(t, targets)) & (
        source.above(s, sources) == target.above(t, targets)
    )
    fitting &= (sources != s) & (targets != t)
    return fitting


def is_well_formed(links: list[tuple[int, int]], source: TreeNodes, target: TreeNodes) -> bool:
    """Whether all links fit together."""
    sources = np.array([link[0] for link in links], dtype=np.int32)
    targets = np.array([link[1] for link in links], dtype=np.int32)
    return all(
        bool(fits(source, target, *links[k], sources[k + 1 :], targets[k + 1 :]).all()) for k in range(len(links))
    )


def greedy_links(
    scores: ArrayLike, source: TreeNodes, target: TreeNodes, *, threshold: float = 0.0
) -> list[ScoredPair]:
    """Well-formed links, best first, among the pairs whose scores are above ``threshold`` (-inf for log scores).

    ``scores`` has a row for each source node and a column for each target node.
    """
    return greedy_candidates(Candidates.of_matrix(scores, threshold), source, target)


def greedy_candidates(candidates: Candidates, source: TreeNodes, target: TreeNodes) -> list[ScoredPair]:
    """The same for a list of pairs: none is left out but those that do not fit."""
    sources, targets, scores = candidates
    links: list[ScoredPair] = []
    while len(scores):
        s, t = int(sources[0]), int(targets[0])
        links.append(ScoredPair(s, t, float(scores[0])))
        fitting = fits(source, target, s, t, sources, targets)
        sources, targets, scores = sources[fitting], targets[fitting], scores[fitting]
    return links


def best_links(
    scores: ArrayLike, source: TreeNodes, target: TreeNodes, *, threshold: float = 0.0, limit: int = BRANCH_LIMIT
) -> list[ScoredPair]:
    """The well-formed links with the highest sum of scores, best first. Only scores above 0 and ``threshold`` count.

    Scores should add up sensibly: probabilities or margins, not logarithms of products. With more than ``limit`` branches
    in one group of conflicting pairs the result is the best found, never worse than `greedy_links`.
    """
    return best_candidates(Candidates.of_matrix(scores, max(threshold, 0.0)), source, target, limit=limit)


def best_candidates(
    candidates: Candidates, source: TreeNodes, target: TreeNodes, *, limit: int = BRANCH_LIMIT
) -> list[ScoredPair]:
    """The same for a list of pairs (those with scores above 0)."""
    positive = candidates.scores > 0
    sources, targets, scores = candidates.sources[positive], candidates.targets[positive], candidates.scores[positive]
    count = len(scores)
    conflicts = [0] * count  # bit sets: which pairs cannot be linked besides this one
    for k in range(count):
        clash = ~fits(source, target, int(sources[k]), int(targets[k]), sources, targets)
        clash[k] = False
        conflicts[k] = int.from_bytes(np.packbits(clash, bitorder="little").tobytes(), "little")
    group = _Group(scores.tolist(), sources.tolist(), targets.tolist(), conflicts, limit)
    chosen: list[int] = []
    left = (1 << count) - 1
    while left:
        members = _component(left & -left, conflicts)
        left &= ~members
        chosen += group.best(members)
    return [ScoredPair(int(sources[k]), int(targets[k]), float(scores[k])) for k in sorted(chosen)]


def _bits(members: int) -> list[int]:
    numbers = []
    while members:
        low = members & -members
        numbers.append(low.bit_length() - 1)
        members ^= low
    return numbers


def _component(start: int, conflicts: list[int]) -> int:
    members, fresh = start, start
    while fresh:
        reached = 0
        for k in _bits(fresh):
            reached |= conflicts[k]
        fresh = reached & ~members
        members |= fresh
    return members


class _Group:
    """Branch and bound over sets of pairs as bit sets; pair k is never worse than pair k + 1."""

    def __init__(
        self, scores: list[float], sources: list[int], targets: list[int], conflicts: list[int], limit: int
    ) -> None:
        self.scores = scores
        self.sources = sources
        self.targets = targets
        self.conflicts = conflicts
        self.limit = limit

    def bound(self, members: int) -> float:
        """No links among these sum to more: each source node, and each target node, is linked once."""
        by_source: dict[int, float] = {}
        by_target: dict[int, float] = {}
        for k in _bits(members):  # best first, so the first of a node is its best
            by_source.setdefault(self.sources[k], self.scores[k])
            by_target.setdefault(self.targets[k], self.scores[k])
        return min(sum(by_source.values()), sum(by_target.values()))

    def best(self, members: int) -> list[int]:
        winner: list[int] = []
        value = 0.0
        branches = 0
        # What is left, what is chosen, its sum. The branch with the best pair comes off the stack first, so the first
        # complete choice is the greedy one.
        stack: list[tuple[int, tuple[int, ...], float]] = [(members, (), 0.0)]
        while stack and branches <= self.limit:
            left, chosen, total = stack.pop()
            branches += 1
            while left:
                if total + self.bound(left) <= value + 1e-12:
                    break
                top = left & -left
                k = top.bit_length() - 1
                rest = left & ~top
                clashing = self.conflicts[k] & rest
                if clashing:
                    stack.append((rest, chosen, total))
                chosen, total, left = (*chosen, k), total + self.scores[k], rest & ~clashing
            if total > value + 1e-12:
                value, winner = total, list(chosen)
        return winner
