"""Discontinuous to continuous trees: properties on random trees, worked examples, a German treebank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from random_trees import constituency_trees
from treeglot import ConfigError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.continuous import Method, attach_punctuation, make_continuous
from treeglot.trees.heads import find_heads
from treeglot.trees.tokens import Tokens

TREES = constituency_trees(continuous=False)


def runs(words: tuple[int, ...]) -> list[tuple[int, ...]]:
    parts: list[list[int]] = []
    for word in words:
        if parts and parts[-1][-1] == word - 1:
            parts[-1].append(word)
        else:
            parts.append([word])
    return [tuple(part) for part in parts]


@given(TREES)
def test_split_gives_the_runs_of_each_phrase(tree: ConstituencyTree) -> None:
    new, origin = make_continuous(tree, "split")
    assert new.is_continuous
    for old, label in enumerate(tree.labels):
        parts = [n for n in range(len(new)) if origin[n] == old]
        assert [new.yields[n] for n in parts] == runs(tree.yields[old])
        marks = [f"{label}*{k}" for k in range(1, len(parts) + 1)] if len(parts) > 1 else [label]
        assert [new.labels[n] for n in parts] == marks
        assert {new.functions[n] for n in parts} == {tree.functions[old]}
    for n, parent in enumerate(new.parents):
        assert parent < 0 or origin[parent] == tree.parents[origin[n]]
    plain = make_continuous(tree, "split", mark=False).tree
    assert set(plain.labels) == set(tree.labels)


@given(TREES)
def test_raise_keeps_the_run_with_the_head(tree: ConstituencyTree) -> None:
    heads = find_heads(tree)
    new, origin = make_continuous(tree, "raise", heads=heads)
    assert new.is_continuous
    assert sorted(origin) == list(range(len(tree)))
    number = {old: n for n, old in enumerate(origin)}
    number |= {~j: ~j for j in range(len(tree.tokens))}
    for old in range(len(tree)):
        n = number[old]
        assert (new.labels[n], new.functions[n]) == (tree.labels[old], tree.functions[old])
        # The run of the phrase's words around the words that its head child has kept: nothing smaller, nothing larger.
        kept = new.words(number[heads[old]])
        assert new.yields[n] == next(run for run in runs(tree.yields[old]) if set(kept) <= set(run))
        assert new.parent(number[heads[old]]) == n
    for node in [*range(len(tree)), *(~j for j in range(len(tree.tokens)))]:
        above, up = [], node
        while tree.parent(up) >= 0:
            up = tree.parent(up)
            above.append(up)
        parent = new.parent(number[node])
        assert parent < 0 or origin[parent] in above, "nodes only move to ancestors"
    assert make_continuous(new, "raise").tree is new


@given(TREES)
def test_punctuation_moves_down_to_the_lowest_phrase_around_it(tree: ConstituencyTree) -> None:
    new, origin = attach_punctuation(tree)
    assert sorted(origin) == list(range(len(tree)))
    assert sum(new.discontinuous) <= sum(tree.discontinuous)
    number = {old: n for n, old in enumerate(origin)}
    for old in range(len(tree)):
        assert new.spans[number[old]] == tree.spans[old]
        assert set(tree.yields[old]) <= set(new.yields[number[old]])
    for j, tag in enumerate(tree.tokens.tags):
        parent = origin[new.word_parents[j]]
        if tag != ",":
            assert parent == tree.word_parents[j]
            continue
        below = [n for n in tree.children[parent] if n >= 0 and tree.spans[n][0] < j < tree.spans[n][1] - 1]
        assert not below


def test_german_commas() -> None:
    forms = ["Er", ",", "der", "schlief", ",", "kam", "."]
    tokens = Tokens(forms, xpos=["PPER", "$,", "PRELS", "VVFIN", "$,", "VVFIN", "$."])
    tree = ConstituencyTree.build(tokens, ("VROOT", ("S", ("NP", 0, ("S", 2, 3)), 5), 1, 4, 6))
    assert sum(tree.discontinuous) == 2
    expected = ("VROOT", ("S", ("NP", 0, 1, ("S", 2, 3)), 4, 5), 6)
    assert attach_punctuation(tree).tree == ConstituencyTree.build(tokens, expected)


def test_secondary_edges_and_ids_follow() -> None:
    tree = ConstituencyTree(
        "abc", ["A", "B"], [[1, ~1], [~0, ~2]], ids=["n0", "n1"], word_ids=["x", "y", "z"], secondary=[]
    )
    split = make_continuous(tree, "split").tree
    assert split.ids == ("n0", "n1*1", "n1*2") and split.word_ids == tree.word_ids
    with pytest.raises(ConfigError, match="method"):
        make_continuous(tree, "closure")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["raise", "split"])
def test_deep_trees(method: Method) -> None:
    size = 3_000  # phrase k has the words 0 and k + 1, k + 2, ...: all but the root have a gap
    children = [[k + 1, ~(k + 1)] for k in range(size - 1)] + [[~0, ~size]]
    tree = ConstituencyTree([str(j) for j in range(size + 1)], ["A"] * size, children)
    assert sum(tree.discontinuous) == size - 1
    assert make_continuous(tree, method).tree.is_continuous


def test_german_treebank(data: Callable[[str], Path]) -> None:
    from treeglot.trees.tiger import read_tiger

    before = after = 0
    for sentence in read_tiger(data("trees/squoia-de-es/AHK_SQUOIA_DE.xml")):
        tree = sentence.constituency
        if tree is None:
            continue
        lowered = attach_punctuation(tree).tree
        before += sum(tree.discontinuous)
        after += sum(lowered.discontinuous)
        for method in ("raise", "split"):
            assert make_continuous(lowered, method).tree.is_continuous  # type: ignore[arg-type]
    assert 0 < after < before / 4
