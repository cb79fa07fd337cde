"""Selection of well-formed links: greedy against a direct implementation, best against all sets of pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_trees import constituency_trees
from treeglot import TreeglotError
from treeglot.alignment.subtrees import TreeNodes, best_links, greedy_links, is_well_formed
from treeglot.evaluation.subtrees import GoldNodes, score_node_links
from treeglot.trees.constituency import ConstituencyTree


def ancestors(tree: ConstituencyTree, node: int) -> set[int]:
    nodes = set()
    while (node := tree.parent(node)) >= 0:
        nodes.add(node)
    return nodes


def crosses(
    source: ConstituencyTree, target: ConstituencyTree, first: tuple[int, int], second: tuple[int, int]
) -> bool:
    """The three criteria as they are written."""
    (s, t), (x, y) = first, second
    if s == x or t == y:
        return True
    for a, b, c, d in ((s, t, x, y), (x, y, s, t)):
        if (a in ancestors(source, c)) != (b in ancestors(target, d)):
            return True
    return False


@st.composite
def problems(draw: st.DrawFn, words: int = 5) -> tuple[TreeNodes, TreeNodes, np.ndarray]:
    with_words = draw(st.booleans())
    source, target = (
        TreeNodes.of(draw(constituency_trees(words, continuous=False)), words=with_words) for _ in range(2)
    )
    values = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0])
    size = len(source) * len(target)
    scores = np.array(draw(st.lists(values, min_size=size, max_size=size))).reshape(len(source), len(target))
    return source, target, scores


@given(problems())
def test_greedy_takes_the_best_pair_that_fits(problem: tuple[TreeNodes, TreeNodes, np.ndarray]) -> None:
    source, target, scores = problem
    links = greedy_links(scores, source, target)
    expected: list[tuple[int, int]] = []
    pairs = sorted(zip(*np.nonzero(scores), strict=True), key=lambda pair: (-scores[pair], *pair))
    for s, t in pairs:
        here = source.refs[s], target.refs[t]
        if not any(crosses(source.tree, target.tree, here, (source.refs[x], target.refs[y])) for x, y in expected):
            expected.append((int(s), int(t)))
    assert [link[:2] for link in links] == expected
    assert all(link.score == scores[link.source, link.target] for link in links)
    assert is_well_formed([link[:2] for link in links], source, target)


@settings(deadline=None)
@given(problems(3))
def test_best_equals_all_sets_of_pairs(problem: tuple[TreeNodes, TreeNodes, np.ndarray]) -> None:
    source, target, scores = problem
    kept = sorted(zip(*np.nonzero(scores), strict=True), key=lambda pair: (-scores[pair], *pair))[:11]
    sparse = np.zeros_like(scores)
    for pair in kept:
        sparse[pair] = scores[pair]
    best = 0.0
    for size in range(1, min(scores.shape) + 1):
        for chosen in itertools.combinations(kept, size):
            refs = [(source.refs[s], target.refs[t]) for s, t in chosen]
            if not any(crosses(source.tree, target.tree, *pair) for pair in itertools.combinations(refs, 2)):
                best = max(best, sum(scores[pair] for pair in chosen))
    links = best_links(sparse, source, target)
    assert sum(link.score for link in links) == pytest.approx(best)
    assert is_well_formed([link[:2] for link in links], source, target)
    greedy = greedy_links(sparse, source, target)
    cut_short = best_links(sparse, source, target, limit=0)
    assert sum(link.score for link in cut_short) >= sum(link.score for link in greedy) - 1e-9


def test_threshold_and_log_scores() -> None:
    nodes = TreeNodes.of(ConstituencyTree.build(["a", "b"], ("S", ("NP", 0), ("VP", 1))), words=False)
    scores = np.array([[-1.0, -np.inf, -np.inf], [-np.inf, -2.0, -np.inf], [-np.inf, -np.inf, -3.0]])
    assert greedy_links(scores, nodes, nodes) == []
    assert [link[:2] for link in greedy_links(scores, nodes, nodes, threshold=-np.inf)] == [(0, 0), (1, 1), (2, 2)]
    assert [link[:2] for link in greedy_links(scores, nodes, nodes, threshold=-2.5)] == [(0, 0), (1, 1)]


def test_ties_go_by_node_order() -> None:
    nodes = TreeNodes.of(ConstituencyTree.build(["a", "b"], ("S", ("NP", 0), ("VP", 1))))
    links = greedy_links(np.ones((5, 5)), nodes, nodes)
    assert [link[:2] for link in links] == [(k, k) for k in range(5)]


def test_best_of_a_large_pair_is_quick() -> None:
    size = 60
    tree = ConstituencyTree(
        [f"w{j}" for j in range(size)], ["X"] * size, [[~n, n + 1] for n in range(size - 1)] + [[~59]]
    )
    nodes = TreeNodes.of(tree)
    scores = np.random.default_rng(1).random((len(nodes), len(nodes))) ** 8
    links = best_links(scores, nodes, nodes, threshold=0.5, limit=50)
    assert is_well_formed([link[:2] for link in links], nodes, nodes)
    greedy = greedy_links(scores, nodes, nodes, threshold=0.5)
    assert sum(link.score for link in links) >= sum(link.score for link in greedy)


def test_scores_of_links() -> None:
    gold = [GoldNodes({(0, 0), (1, 1), (~0, ~0)}, {(2, 2), (0, 0)}), GoldNodes({(0, 0)})]
    proposed = [[(0, 0), (2, 2), (3, 3), (~0, ~0)], []]
    score = score_node_links(proposed, gold)
    assert tuple(score) == (3, 1, 3, 1) and score.f1 == pytest.approx(1 / 3)
    assert tuple(score_node_links(proposed, gold, fuzzy=True)) == (3, 2, 4, 2)
    assert tuple(score_node_links(proposed, gold, internal=False)) == (4, 2, 4, 2)
    assert str(score_node_links([], [])) == "P 100.00 R 100.00 F1 100.00"
    with pytest.raises(TreeglotError, match="score the same pairs"):
        score_node_links(proposed, gold[:1])
