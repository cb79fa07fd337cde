"""Pairs that share sentences, joined to units and taken apart again."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import TreeglotError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.units import JOINED, Unit, join_units

SHAPES = (("S", ("NP", 0), ("VP", 1, ("NP", 2))), ("S", ("X", 0, 2), 1), ("S", 0, 1, 2), 0)


def sentence(name: str, shape: int) -> ParsedSentence:
    nested = SHAPES[shape]
    words = [f"{name}.{k}" for k in range(3 if isinstance(nested, tuple) else 1)]
    return ParsedSentence.of(constituency=ConstituencyTree.build(words, nested), id=name)


@st.composite
def streams(draw: st.DrawFn) -> list[AlignedPair]:
    """Some sentences of two languages, different pairs of them in any order, and random links."""
    sides = [
        [sentence(f"{side}{k}", draw(st.integers(0, len(SHAPES) - 1))) for k in range(draw(st.integers(1, 5)))]
        for side in "st"
    ]
    pairs = []
    places = draw(
        st.lists(
            st.tuples(st.integers(0, len(sides[0]) - 1), st.integers(0, len(sides[1]) - 1)),
            min_size=1,
            max_size=8,
            unique=True,
        )
    )
    for s, t in places:
        source, target = sides[0][s], sides[1][t]
        nodes = [[*range(len(tree.constituency or ())), *(~j for j in range(len(tree)))] for tree in (source, target)]
        links = draw(st.sets(st.tuples(st.sampled_from(nodes[0]), st.sampled_from(nodes[1])), max_size=5))
        words = draw(st.sets(st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1)), max_size=3))
        pairs.append(
            AlignedPair(source, target, [Link(*w) for w in words], [Link(*n, "fuzzy", 0.5) for n in links], f"{s}-{t}")
        )
    return pairs


@settings(deadline=None)
@given(streams())
def test_splitting_is_the_inverse_of_joining(pairs: list[AlignedPair]) -> None:
    units = list(join_units(pairs))
    assert [member for unit in units for member in unit.members] == pairs
    for unit in units:
        parts = unit.split(unit.pair.node_links)
        assert [sorted(part) for part in parts] == [sorted(member.node_links) for member in unit.members]
        assert len(unit.pair.word_links) == sum(len(member.word_links) for member in unit.members)


@settings(deadline=None)
@given(streams())
def test_a_joined_tree_holds_the_trees(pairs: list[AlignedPair]) -> None:
    for unit in join_units(pairs):
        for member in unit.members:
            for joined, single in ((unit.pair.source, member.source), (unit.pair.target, member.target)):
                whole, part = joined.constituency, single.constituency
                assert whole is not None and part is not None
                phrases = {
                    (label, tuple(whole.tokens.forms[j] for j in words))
                    for label, words in zip(whole.labels, whole.yields, strict=True)
                }
                for label, words in zip(part.labels, part.yields, strict=True):
                    assert (label, tuple(part.tokens.forms[j] for j in words)) in phrases
        for side in (unit.pair.source, unit.pair.target):
            tree = side.constituency
            assert tree is not None
            assert (JOINED in tree.labels) == (" " in side.id)


@settings(deadline=None)
@given(streams())
def test_neighbours_that_share_a_sentence_are_together(pairs: list[AlignedPair]) -> None:
    units = list(join_units(pairs))
    for unit, following in pairwise(units):
        first = following.members[0]
        assert not any(first.source is pair.source or first.target is pair.target for pair in unit.members)
    for unit in units:
        names = [pair.id for pair in unit.members]
        for k in range(1, len(names)):
            before = unit.members[:k]
            pair = unit.members[k]
            assert any(pair.source is earlier.source or pair.target is earlier.target for earlier in before)


def test_a_long_chain_is_cut() -> None:
    middle = sentence("s", 0)
    pairs = [AlignedPair(middle, sentence(f"t{k}", 0), id=str(k)) for k in range(20)]
    assert [len(unit.members) for unit in join_units(pairs, most=8)] == [8, 8, 4]


def test_equal_names_are_not_enough() -> None:
    first, second = sentence("s", 0), sentence("s", 3)
    target = sentence("t", 0), sentence("u", 0)
    units = join_units([AlignedPair(first, target[0]), AlignedPair(second, target[1])])
    assert [len(unit.members) for unit in units] == [1, 1]


def test_a_sentence_without_tree() -> None:
    bare = ParsedSentence(sentence("s", 0).tokens, id="s")
    with pytest.raises(TreeglotError, match=r"pair 7.*constituency"):
        Unit.of([AlignedPair(bare, sentence("t", 0), id="7"), AlignedPair(bare, sentence("u", 0), id="8")])
