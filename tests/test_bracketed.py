"""Dependency trees to brackets and back: worked examples, random trees, all parallel treebanks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import worlds
from treeglot.trees.bracketed import (
    escape,
    escape_free,
    format_bracketed,
    from_bracketed,
    parse_bracketed,
    read_bracketed,
    to_bracketed,
    write_bracketed,
)
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.projectivity import projectivize
from treeglot.trees.tokens import Tokens

TEXT = st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(
    ["(", ")", ";", "=", "%", "%20", " ", "\u3000", "\u2028", "head", "_", "a=b;c", "-LRB-"]
)


@st.composite
def dependency_trees(draw: st.DrawFn) -> DependencyTree:
    order = draw(st.permutations(range(draw(st.integers(1, 8)))))
    size = len(order)
    heads = [-1] * size
    for k in range(1, size):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    texts = st.lists(TEXT, min_size=size, max_size=size)
    columns = [draw(texts) for _ in range(7)]
    return DependencyTree(Tokens(*columns), heads, draw(texts))


@given(dependency_trees())
def test_round_trip_of_random_trees(tree: DependencyTree) -> None:
    bracketed = to_bracketed(tree)
    assert from_bracketed(bracketed) == tree
    assert from_bracketed(to_bracketed(projectivize(tree))) == tree, "the label keeps the true head of a lifted word"
    full = format_bracketed(bracketed, full=True)
    assert len(full.splitlines()) == 1
    assert parse_bracketed(full) == bracketed
    assert from_bracketed(parse_bracketed(full)) == tree
    again = from_bracketed(parse_bracketed(format_bracketed(bracketed)))
    assert (again.heads, again.deprels) == (tree.heads, tree.deprels)
    assert (again.tokens.forms, again.tokens.tags, again.tokens.lemmas) == (
        tree.tokens.forms,
        tree.tokens.tags,
        tree.tokens.lemmas,
    )


@given(dependency_trees())
def test_shape(tree: DependencyTree) -> None:
    """One constituent for each word with dependents, head and dependents as siblings, nothing crosses."""
    bracketed = to_bracketed(tree)
    assert bracketed.is_continuous
    parents = {j for j, below in enumerate(map(tree.children, range(len(tree)))) if below}
    special = tree.deprels[tree.root] != "root"
    assert len(bracketed) == len(parents | ({tree.root} if special else set()))
    flat = projectivize(tree)
    for n, label in enumerate(bracketed.labels):
        head = int(label.split(";")[1].removeprefix("head=")) - 1
        assert bracketed.yields[n] == flat.subtree(head)
        assert bracketed.word_parents[head] == n
    numbers = [int(label.split(";")[0]) for label in bracketed.labels]
    assert sorted(numbers) == list(range(len(tree) + 1, len(tree) + 1 + len(bracketed)))
    assert not numbers or numbers[0] == max(numbers)


def test_non_projective_dependent_stands_higher_but_keeps_its_head() -> None:
    tokens = Tokens(
        ["A", "hearing", "is", "scheduled", "on", "this"],
        ["a", "hearing", "be", "schedule", "on", "this"],
        xpos="DNVVPD",
    )
    tree = DependencyTree(tokens, [1, 2, -1, 2, 1, 4], ["det", "sbj", "root", "vc", "nmod", "pmod"])
    text = format_bracketed(to_bracketed(tree))
    assert text == (
        "(9;head=3;sbj=7;vc=4 (7;head=2;det=1;nmod=8 (1;D;a A) (2;N;hearing hearing)) (3;V;be is) "
        "(4;V;schedule scheduled) (8;head=5;pmod=6 (5;P;on on) (6;D;this this)))"
    )
    assert from_bracketed(parse_bracketed(text)) == tree


def test_a_word_whose_dependents_all_moved_keeps_its_constituent() -> None:
    tree = DependencyTree("abc", [-1, 0, 0], ["root", "x", "y"])
    assert format_bracketed(to_bracketed(tree)).startswith("(4;head=1;x=2;y=3 ")
    tree = DependencyTree("abcd", [2, -1, 1, 0], ["x", "root", "y", "z"])
    bracketed = to_bracketed(tree)
    assert [label.split(";")[:2] for label in bracketed.labels].count(["5", "head=1"]) == 1
    assert from_bracketed(bracketed) == tree


def test_single_words() -> None:
    assert format_bracketed(to_bracketed(DependencyTree(["a"], [-1], ["root"]))) == "(1;_;_ a)"
    assert format_bracketed(to_bracketed(DependencyTree(["a"], [-1]))) == "(2;head=1;_=2 (1;_;_ a))"


@given(TEXT)
def test_escapes(text: str) -> None:
    assert escape_free(escape(text)) == text
    assert not set(escape(text)) & set(" ();\n\t")


def test_deep_trees() -> None:
    tree = DependencyTree([f"w{j}" for j in range(20_000)], range(-1, 19_999), ["root", *["x"] * 19_999])
    assert from_bracketed(parse_bracketed(format_bracketed(to_bracketed(tree)))) == tree


@pytest.mark.parametrize("language", ["en", "zh", "de", "fr", "es", "ja"])
def test_identity_on_parallel_treebanks(data: Callable[[str], Path], language: str, tmp_path: Path) -> None:
    from treeglot.trees.conllu import read_conllu

    path = data(f"trees/ud-pud/{language}_pud-ud-test.conllu")
    sentences = itertools.islice(read_conllu(path), size := min(worlds(1000), 1000))
    trees = [sentence.dependency for sentence in sentences if sentence.dependency is not None]
    assert len(trees) == size
    file = tmp_path / "trees.txt.gz"
    assert write_bracketed(map(to_bracketed, trees), file, full=True) == len(trees)
    assert [from_bracketed(bracketed) for bracketed in read_bracketed(file)] == trees
    write_bracketed(map(to_bracketed, trees), file)
    for bracketed, tree in zip(read_bracketed(file), trees, strict=True):
        again = from_bracketed(bracketed)
        assert (again.heads, again.deprels) == (tree.heads, tree.deprels)
        assert (again.tokens.forms, again.tokens.lemmas) == (tree.tokens.forms, tree.tokens.lemmas)
        assert again.tokens.tags == tree.tokens.tags
