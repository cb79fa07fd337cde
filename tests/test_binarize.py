"""Binarisation: worked examples, and on random trees the way back, the yields and the number of children."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_trees import constituency_trees
from treeglot import ConfigError, TreeError
from treeglot.trees.binarize import VIRTUAL, Direction, binarize, is_virtual, unbinarize
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.heads import find_heads

DIRECTIONS = st.sampled_from(["left", "right", "head"])


@given(constituency_trees(), DIRECTIONS)
def test_random_trees(tree: ConstituencyTree, direction: Direction) -> None:
    binary, origin = binarize(tree, direction)
    assert unbinarize(binary) == tree
    assert unbinarize(tree) is tree
    assert all(len(below) <= 2 for below in binary.children)
    assert binary.is_continuous
    assert len(binary) == len(tree) + sum(max(0, len(below) - 2) for below in tree.children)
    for n, label in enumerate(binary.labels):
        old = origin[n]
        if is_virtual(label):
            assert label == VIRTUAL + tree.labels[old]
            assert set(binary.yields[n]) < set(tree.yields[old])
            assert len(binary.children[n]) == 2
        else:
            assert (label, binary.yields[n]) == (tree.labels[old], tree.yields[old])
    assert sorted(origin[n] for n, label in enumerate(binary.labels) if not is_virtual(label)) == [*range(len(tree))]


@given(constituency_trees())
def test_head_direction_keeps_the_head_in_every_virtual_phrase(tree: ConstituencyTree) -> None:
    heads = find_heads(tree)
    binary, origin = binarize(tree, "head", heads=heads)
    for n, label in enumerate(binary.labels):
        if is_virtual(label):
            assert set(tree.words(heads[origin[n]])) <= set(binary.yields[n])


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("left", ("A", ("X@A", ("X@A", 0, 1), 2), 3)),
        ("right", ("A", 0, ("X@A", 1, ("X@A", 2, 3)))),
        ("head", ("A", 0, ("X@A", ("X@A", 1, 2), 3))),
    ],
)
def test_worked_example(direction: Direction, expected: object) -> None:
    tree = ConstituencyTree.build("abcd", ("A", 0, 1, 2, 3))
    assert binarize(tree, direction, heads=(~1,)).tree == ConstituencyTree.build("abcd", expected)


def test_refusals() -> None:
    gap = ConstituencyTree.build("abc", ("A", ("B", 0, 2), 1))
    with pytest.raises(TreeError, match="discontinuous"):
        binarize(gap)
    flat = ConstituencyTree.build("abc", ("A", 0, 1, 2))
    with pytest.raises(TreeError, match="begin with X@"):
        binarize(binarize(flat).tree)
    with pytest.raises(TreeError, match="not its child"):
        binarize(flat, "head", heads=(7,))
    with pytest.raises(ConfigError, match="binarisation"):
        binarize(flat, "middle")  # type: ignore[arg-type]


def test_wide_trees() -> None:
    tree = ConstituencyTree.build([str(j) for j in range(10_000)], ("A", *range(10_000)))
    assert unbinarize(binarize(tree, "right").tree) == tree
