"""Constituency to dependency: against the definition by maximal projections, and against gold dependencies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_trees import constituency_trees
from treeglot import ConfigError
from treeglot.trees.cons2dep import to_dependency
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.tokens import Tokens


@given(st.data(), st.booleans())
def test_definition(data: st.DataObject, continuous: bool) -> None:
    """A word's head is the head word of the phrase above the highest node that the word heads."""
    tree = data.draw(constituency_trees(continuous=continuous))
    heads = [data.draw(st.sampled_from(below)) for below in tree.children]

    def head_word(node: int) -> int:
        while node >= 0:
            node = heads[node]
        return ~node

    dependency = to_dependency(tree, heads)
    for j in range(len(tree.tokens)):
        top = ~j
        while tree.parent(top) >= 0 and heads[tree.parent(top)] == top:
            top = tree.parent(top)
        above = tree.parent(top)
        assert dependency.heads[j] == (-1 if above < 0 else head_word(above))
        function = tree.functions[top] if top >= 0 else tree.word_functions[~top]
        if above < 0:
            assert dependency.deprels[j] == "root"
        elif function not in ("", "--"):
            assert dependency.deprels[j] == function
        else:
            assert dependency.deprels[j] == f"{tree.labels[above]}|{tree.label(top)}|{tree.label(heads[above])}"
    if tree.is_continuous:
        assert dependency.is_projective


@given(constituency_trees(continuous=False))
def test_every_tree_has_a_dependency_tree(tree: ConstituencyTree) -> None:
    by_labels = to_dependency(tree, relations="labels")
    assert by_labels.heads == to_dependency(tree).heads
    assert all("|" in deprel for j, deprel in enumerate(by_labels.deprels) if j != by_labels.root)


def test_discontinuous_tree_gives_crossing_arcs() -> None:
    tokens = Tokens(["What", "should", "I", "do"], xpos=["WP", "MD", "PRP", "VB"])
    tree = ConstituencyTree.build(tokens, ("S", ("VP", ("NP", 0), 3), 1, ("NP", 2)))
    dependency = to_dependency(tree, heads=(~1, ~3, ~0, ~2))
    assert dependency.heads == (3, -1, 1, 1)
    assert not dependency.is_projective


def test_single_words_and_options() -> None:
    assert to_dependency(ConstituencyTree(["a"], (), ())).heads == (-1,)
    with pytest.raises(ConfigError, match="relations"):
        to_dependency(ConstituencyTree(["a"], (), ()), relations="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(("style", "low", "high"), [("content", 0.80, 0.90), ("function", 0.38, 0.48)])
def test_agreement_with_gold_dependencies(data: Callable[[str], Path], style: str, low: float, high: float) -> None:
    """Guards around what was measured on the whole treebank (0.839 and 0.433 of the words that are not punctuation).

    Universal Dependencies hang a conjunction on the next conjunct, phrases on the first: most of what differs.
    """
    from treeglot.trees.conllu import read_conllu
    from treeglot.trees.penn import read_penn

    folder = data("trees/gum-en")
    same = total = 0
    for path in sorted((folder / "const").glob("*.ptb"))[::30]:
        for phrases, words in zip(read_penn(path), read_conllu(folder / "dep" / f"{path.stem}.conllu"), strict=True):
            tree, gold = phrases.constituency, words.dependency
            if tree is None or gold is None or len(tree.tokens) != len(gold):
                continue
            ours = to_dependency(tree, table="penn", style=style)  # type: ignore[arg-type]
            for head, gold_head, upos in zip(ours.heads, gold.heads, gold.tokens.upos, strict=True):
                if upos != "PUNCT":
                    total += 1
                    same += head == gold_head
    assert total > 3000
    assert low < same / total < high
