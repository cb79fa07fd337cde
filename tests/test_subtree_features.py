"""Features of pairs of sub-trees against slow direct versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tree_strategies import phrases
from treeglot.alignment.subtrees.features import PAPER_FEATURES, WordEvidence, paper_features
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.errors import TreeglotError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.tokens import Tokens


@st.composite
def trees(draw: st.DrawFn) -> ConstituencyTree:
    return draw(phrases(Tokens([f"w{j}" for j in range(draw(st.integers(1, 6)))])))


def random_evidence(source: ConstituencyTree, target: ConstituencyTree, seed: int) -> WordEvidence:
    rng = np.random.default_rng(seed)
    shape = len(source.tokens), len(target.tokens)
    forward, backward = (rng.random(shape) * (rng.random(shape) < 0.7) for _ in range(2))
    return WordEvidence(forward, backward, rng.random(shape) < 0.3)


def slow_features(
    source: ConstituencyTree, target: ConstituencyTree, evidence: WordEvidence, floor: float
) -> np.ndarray:
    """One pair, one word at a time, as the formulas are written."""
    p_vu, p_uv, linked = evidence.target_given_source, evidence.source_given_target, evidence.links

    def product(outer, inner, p) -> float:
        result = 1.0
        for x in outer:
            result *= max(sum(p(x, y) for y in inner), floor)
        return result ** (1 / len(outer))

    def links(us, vs) -> float:
        total = sum(math.sqrt(p_uv[u, v] * p_vu[u, v]) for u in us for v in vs if linked[u, v])
        return total / math.sqrt(len(us) * len(vs)) if us and vs else 0.0

    def shares(tree: ConstituencyTree, n: int) -> tuple[float, float, float]:
        def below(node: int) -> int:
            return sum(1 + (below(child) if child >= 0 else 0) for child in tree.children[node])

        def depth(node: int) -> int:
            up = 0
            while tree.parent(node) >= 0:
                node, up = tree.parent(node), up + 1
            return up

        height = max(depth(~j) for j in range(len(tree.tokens)))
        return len(tree.yields[n]) / len(tree.tokens), below(n) / below(0), depth(n) / height

    result = np.zeros((len(source), len(target), 10))
    for s in range(len(source)):
        for t in range(len(target)):
            in_s, in_t = list(source.yields[s]), list(target.yields[t])
            out_s = [u for u in range(len(source.tokens)) if u not in in_s]
            out_t = [v for v in range(len(target.tokens)) if v not in in_t]
            result[s, t] = [
                product(in_t, in_s, lambda v, u: p_uv[u, v]),
                product(in_s, in_t, lambda u, v: p_vu[u, v]),
                product(in_t, out_s, lambda v, u: p_uv[u, v]),
                product(in_s, out_t, lambda u, v: p_vu[u, v]),
                links(in_s, in_t),
                links(out_s, in_t),
                links(in_s, out_t),
                *(abs(a - b) for a, b in zip(shares(source, s), shares(target, t), strict=True)),
            ]
    return result


@given(trees(), trees(), st.integers(0, 99), st.sampled_from([0.0, 1e-7, 0.05]))
def test_features_are_the_printed_formulas(source, target, seed, floor):
    evidence = random_evidence(source, target, seed)
    found = paper_features(TreeNodes.of(source), TreeNodes.of(target), evidence, floor=floor)
    assert found.shape == (len(source), len(target), len(PAPER_FEATURES))
    np.testing.assert_allclose(found, slow_features(source, target, evidence, floor), atol=1e-12)
    without_words = paper_features(
        TreeNodes.of(source, words=False), TreeNodes.of(target, words=False), evidence, floor=floor
    )
    np.testing.assert_array_equal(found, without_words)


def test_perfect_translations_have_perfect_features():
    tree = ConstituencyTree.build(["a", "b", "c"], ("S", ("NP", 0), ("VP", 1, ("NP", 2))))
    nodes = TreeNodes.of(tree)
    features = paper_features(nodes, nodes, WordEvidence(np.eye(3), np.eye(3), np.eye(3)), floor=0.0)
    for n in range(len(tree)):
        assert features[n, n].tolist() == pytest.approx([1, 1, 0, 0, 1, 0, 0, 0, 0, 0])


def test_discontinuous_words_are_outside():
    source = ConstituencyTree.build(["a", "b", "c"], ("S", ("VP", 0, 2), 1))
    target = ConstituencyTree.build(["x", "y", "z"], ("S", ("VP", 0, 1), 2))
    links = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    features = paper_features(TreeNodes.of(source), TreeNodes.of(target), WordEvidence(links, links, links))
    assert features[1, 1, :7].tolist() == pytest.approx([1, 1, 1e-7, 1e-7, 1, 0, 0])


def test_matrices_must_belong_to_the_trees():
    tree = TreeNodes.of(ConstituencyTree.build(["a"], ("S", 0)))
    with pytest.raises(TreeglotError, match="1 and 2 words for trees of 1 and 1"):
        paper_features(tree, tree, WordEvidence([[1, 0]], [[1, 0]], [[1, 0]]))
    with pytest.raises(TreeglotError, match="shapes"):
        WordEvidence([[1, 0]], [[1]], [[1, 0]])
