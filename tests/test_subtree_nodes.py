"""Nodes of a tree as columns, against the definitions on random trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from random_trees import constituency_trees
from treeglot.alignment.subtrees import TreeNodes
from treeglot.trees.constituency import ConstituencyTree


def above(tree: ConstituencyTree, node: int) -> list[int]:
    ancestors = []
    while (node := tree.parent(node)) >= 0:
        ancestors.append(node)
    return ancestors


@given(constituency_trees(continuous=False))
def test_columns_follow_their_definitions(tree: ConstituencyTree) -> None:
    nodes = TreeNodes.of(tree)
    assert nodes.refs == (*range(len(tree)), *(~j for j in range(len(tree.tokens))))
    for k, ref in enumerate(nodes.refs):
        words = tree.words(ref)
        assert nodes.index(ref) == k
        assert nodes.labels[k] == tree.label(ref)
        assert nodes.parent[k] == tree.parent(ref)
        assert (nodes.first[k], nodes.last[k], nodes.size[k]) == (words[0], words[-1], len(words))
        assert tuple(np.flatnonzero(nodes.yields[k])) == words
        assert nodes.depth[k] == len(above(tree, ref))
        under = [other for other in nodes.refs if ref in above(tree, other)]
        assert nodes.descendants[k] == len(under)
        assert [nodes.refs[a] for a in np.flatnonzero(nodes.ancestors[k])] == under
        everyone = np.arange(len(nodes), dtype=np.int32)
        assert (nodes.below(k, everyone) == nodes.ancestors[k]).all()
        assert (nodes.above(k, everyone) == nodes.ancestors[:, k]).all()
    assert nodes.is_continuous == tree.is_continuous


@given(constituency_trees(continuous=False))
def test_without_words_the_phrases_are_the_same(tree: ConstituencyTree) -> None:
    nodes, phrases = TreeNodes.of(tree), TreeNodes.of(tree, words=False)
    size = len(tree)
    assert len(phrases) == size and phrases.refs == nodes.refs[:size] and phrases.labels == nodes.labels[:size]
    for name in ("parent", "first", "last", "size", "depth", "descendants", "enter", "leave", "yields"):
        assert (getattr(phrases, name) == getattr(nodes, name)[:size]).all(), name
    assert (phrases.ancestors == nodes.ancestors[:size, :size]).all()


def test_a_word_without_phrases() -> None:
    tree = ConstituencyTree(["a"], (), ())
    nodes = TreeNodes.of(tree)
    assert nodes.refs == (~0,) and nodes.parent.tolist() == [-1] and nodes.yields.tolist() == [[True]]
    assert len(TreeNodes.of(tree, words=False)) == 0


def test_long_and_deep_trees_are_cheap() -> None:
    flat = TreeNodes.of(ConstituencyTree([f"w{j}" for j in range(10_000)], ["S"], [[~j for j in range(10_000)]]))
    assert len(flat) == 10_001 and flat.descendants[0] == 10_000
    labels = ["X"] * 5_000
    chain = ConstituencyTree(["a"], labels, [[n + 1] for n in range(4_999)] + [[~0]])
    deep = TreeNodes.of(chain)
    assert deep.depth[-1] == 5_000 and deep.descendants[0] == 5_000
