"""Features of pairs of sub-trees against slow direct versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tree_strategies import phrases
from treeglot.alignment.subtrees.extra_features import EXTRA_FEATURES, extended_features, extended_names
from treeglot.alignment.subtrees.features import PAPER_FEATURES, WordEvidence, paper_features
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.errors import TreeglotError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.heads import lexical_heads
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
    features = paper_features(TreeNodes.of(source), TreeNodes.of(target), evidence, floor=floor)
    assert features.shape == (len(source), len(target), len(PAPER_FEATURES))
    np.testing.assert_allclose(features, slow_features(source, target, evidence, floor), atol=1e-12)
    without_words = paper_features(
        TreeNodes.of(source, words=False), TreeNodes.of(target, words=False), evidence, floor=floor
    )
    np.testing.assert_array_equal(features, without_words)


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


def slow_extended(source: ConstituencyTree, target: ConstituencyTree, evidence: WordEvidence) -> np.ndarray:
    """One pair at a time, with sets of words."""

    def share(part: float, whole: float) -> float:
        return (part + 0.01) / (whole + 0.02)

    def sums(us, vs, chances) -> float:
        return sum(chances[u, v] for u in us for v in vs)

    everything = range(len(source.tokens)), range(len(target.tokens))

    def agreement(s: int, t: int, chances) -> tuple[float, float, float, float, float]:
        in_s, in_t = source.yields[s], target.yields[t]
        common, mine, theirs = (
            sums(in_s, in_t, chances),
            sums(in_s, everything[1], chances),
            sums(everything[0], in_t, chances),
        )
        a, b = share(common, mine), share(common, theirs)
        return a, b, 2 * a * b / (a + b), math.log1p(max(mine + theirs - 2 * common, 0)), common

    def height(tree: ConstituencyTree, n: int) -> int:
        return max((1 + height(tree, child) for child in tree.children[n] if child >= 0), default=0)

    heads = [[lexical_heads(tree, style=style) for tree in (source, target)] for style in ("function", "content")]
    result = []
    for s in range(len(source)):
        for t in range(len(target)):
            a = evidence.chances
            soft, hard = agreement(s, t, a), agreement(s, t, evidence.links)
            in_s, in_t = source.yields[s], target.yields[t]
            up, over = source.parents[s], target.parents[t]
            this = soft[2]

            def of(x: int, y: int) -> float:
                return agreement(x, y, evidence.chances)[2] if min(x, y) >= 0 else 0.0

            def rest(values) -> float:
                return max(values, default=0.0)

            def phrases_of(children):
                return [child for child in children if child >= 0]

            lengths = len(source.tokens), len(target.tokens)
            row = [*soft[:3], soft[4] / len(in_s), soft[4] / len(in_t), soft[3], *hard[:4]]
            row += [a[heads[0][0][s], heads[0][1][t]], a[heads[1][0][s], heads[1][1][t]]]
            row += [sum(a[heads[1][0][s], v] for v in in_t), sum(a[u, heads[1][1][t]] for u in in_s)]
            for chances, value in ((a, this), (evidence.links, hard[2])):
                row.append(value - rest(agreement(s, y, chances)[2] for y in range(len(target)) if y != t))
                row.append(value - rest(agreement(x, t, chances)[2] for x in range(len(source)) if x != s))
            row += [of(up, over), of(up, t) - this, of(s, over) - this]
            row.append(rest(of(child, t) for child in phrases_of(source.children[s])) - this)
            row.append(rest(of(s, child) for child in phrases_of(target.children[t])) - this)
            sizes = math.log(len(in_s)), math.log(len(in_t))
            heights = math.log1p(height(source, s)), math.log1p(height(target, t))
            row += [*sizes, abs(sizes[0] - sizes[1])]
            row.append(abs(math.log(len(in_s) / lengths[0]) - math.log(len(in_t) / lengths[1])))
            row.append(abs(np.mean(in_s) / lengths[0] - np.mean(in_t) / lengths[1]))
            row += [abs(in_s[0] / lengths[0] - in_t[0] / lengths[1])]
            row += [abs((in_s[-1] + 1) / lengths[0] - (in_t[-1] + 1) / lengths[1])]
            row += [*heights, heights[0] - heights[1]]
            row.append(math.log(len(source.children[s])) - math.log(len(target.children[t])))
            row += [up < 0, over < 0, len(in_s) == 1, len(in_t) == 1]
            row += [up >= 0 and len(source.children[up]) == 1, over >= 0 and len(target.children[over]) == 1]
            row.append(int(source.discontinuous[s]) + int(target.discontinuous[t]))
            result.append(row)
    return np.array(result, dtype=float).reshape(len(source), len(target), 41)


@settings(max_examples=40)
@given(trees(), trees(), st.integers(0, 99))
def test_extended_features_are_what_their_names_say(source, target, seed):
    evidence = random_evidence(source, target, seed)
    both = TreeNodes.of(source), TreeNodes.of(target)
    features = extended_features(*both, evidence)
    assert features.shape == (len(source), len(target), len(extended_names()))
    np.testing.assert_array_equal(features[..., :10], paper_features(*both, evidence))
    np.testing.assert_allclose(features[..., 10:], slow_extended(source, target, evidence), atol=1e-9)


@settings(max_examples=40)
@given(trees(), trees(), st.integers(0, 9), st.sets(st.sampled_from(sorted(EXTRA_FEATURES))))
def test_groups_of_features_are_columns_of_all_features(source, target, seed, groups):
    both = TreeNodes.of(source, words=False), TreeNodes.of(target, words=False)
    evidence = random_evidence(source, target, seed)
    names = extended_names(groups)
    chosen = [extended_names().index(name) for name in names]
    features = extended_features(*both, evidence, groups=tuple(groups))
    np.testing.assert_array_equal(features, extended_features(*both, evidence)[..., chosen])


def test_punctuation_does_not_count_as_coverage():
    source = ConstituencyTree.build(["ja", "."], ("S", ("NP", 0), 1))
    target = ConstituencyTree.build(["yes", "!"], ("S", ("NP", 0), ("X", 1)))
    features = extended_features(TreeNodes.of(source), TreeNodes.of(target), WordEvidence(*[np.eye(2)] * 3))
    agreement = features[..., extended_names().index("agreement")]
    assert agreement[0, 1] == pytest.approx(1, abs=0.02)
    assert agreement[0, 2] < 0.1


def test_unknown_groups_are_named():
    with pytest.raises(TreeglotError, match="no features colour"):
        extended_names(("colour",))
