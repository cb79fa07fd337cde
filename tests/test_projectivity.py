"""Projectivisation against its definition, against every possible lifting of small trees, and on real treebanks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot.trees.dependency import DependencyTree
from treeglot.trees.projectivity import deprojectivize, lifted, nonprojective_arcs, projectivize


@st.composite
def dependency_trees(draw: st.DrawFn, max_size: int = 9) -> DependencyTree:
    """Any tree: words are attached, in a random order, to words attached before."""
    order = draw(st.permutations(range(draw(st.integers(1, max_size)))))
    heads = [-1] * len(order)
    for k in range(1, len(order)):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    return DependencyTree([f"w{j}" for j in range(len(order))], heads, [f"r{j}" for j in range(len(order))])


def ancestors(heads: Sequence[int], j: int) -> list[int]:
    above = []
    while heads[j] != -1:
        j = heads[j]
        above.append(j)
    return above


def crossing(heads: Sequence[int]) -> list[int]:
    """The definition, word by word."""
    return [
        d
        for d, h in enumerate(heads)
        if h != -1 and any(h not in (w, *ancestors(heads, w)) for w in range(min(h, d) + 1, max(h, d)))
    ]


@given(dependency_trees())
def test_definition(tree: DependencyTree) -> None:
    flat = projectivize(tree)
    assert flat.is_projective and not crossing(flat.heads)
    assert list(nonprojective_arcs(tree)) == crossing(tree.heads)
    assert tree.is_projective == (not crossing(tree.heads))
    assert (flat is tree) == tree.is_projective
    assert lifted(flat) == len(crossing(tree.heads)) and lifted(tree) == 0
    assert deprojectivize(flat) == tree
    assert projectivize(flat) is flat
    assert flat.deprels == tree.deprels and flat.tokens is tree.tokens
    for j in range(len(tree)):
        assert flat.heads[j] == -1 or flat.heads[j] in ancestors(tree.heads, j)


@settings(max_examples=60, deadline=None)
@given(dependency_trees(max_size=6))
def test_no_lifting_is_lower_for_any_word(tree: DependencyTree) -> None:
    chains = [ancestors(tree.heads, j) or [-1] for j in range(len(tree))]
    flat = projectivize(tree)
    ours = [chain.index(head) for chain, head in zip(chains, flat.heads, strict=True)]
    for steps in itertools.product(*(range(len(chain)) for chain in chains)):
        if any(step < our for step, our in zip(steps, ours, strict=True)):
            heads = [chain[step] for chain, step in zip(chains, steps, strict=True)]
            assert crossing(heads), f"{heads} is projective and lifts some word less than {flat.heads}"


def test_true_heads_survive_a_second_lifting() -> None:
    tree = DependencyTree("abcd", heads=[2, -1, 1, 0], true_heads=[2, -1, 1, 2])
    flat = projectivize(tree)
    assert flat.heads == (1, -1, 1, 2)
    assert flat.true_heads == (2, -1, 1, 2)


def test_deep_and_tangled_trees_take_linear_time() -> None:
    size = 50_000
    order = [(k * 7919) % size for k in range(size)]  # a chain that jumps through the whole sentence
    heads = [-1] * size
    for upper, lower in itertools.pairwise(order):
        heads[lower] = upper
    flat = projectivize(DependencyTree([str(j) for j in range(size)], heads))
    assert flat.is_projective


@pytest.mark.parametrize(
    ("language", "expected"), [("en", 47), ("zh", 20), ("de", 135), ("fr", 19), ("es", 63), ("ja", 0)]
)
def test_parallel_treebanks(data: Callable[[str], Path], language: str, expected: int) -> None:
    from treeglot.trees.conllu import read_conllu

    path = data(f"trees/ud-pud/{language}_pud-ud-test.conllu")
    trees = [sentence.dependency for sentence in read_conllu(path)]
    assert len(trees) == 1000
    lifted = 0
    for tree in trees:
        assert tree is not None
        flat = projectivize(tree)
        assert flat.is_projective
        assert bool(nonprojective_arcs(tree)) == (not tree.is_projective)
        assert deprojectivize(flat) == tree
        lifted += flat is not tree
    assert lifted == expected
