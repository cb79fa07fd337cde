"""Parsed sentences and pairs as native columns."""

from __future__ import annotations

import pytest

from treeglot._core import parsed
from treeglot.errors import TreeError
from treeglot.trees.corpus import parsed_bitext
from treeglot.trees.penn import parse_penn
from treeglot.trees.sentence import ParsedSentence


def test_a_refused_pair_does_not_join_later_targets_to_wrong_sources() -> None:
    bitext = parsed.ParsedBitext()
    with pytest.raises(ValueError, match="link 0-5 is outside the sentences of 1 and 1 words"):
        bitext.add((["a"], ["A"], [], []), (["x"], [], [], []), [(0, 5)])
    bitext.add((["b"], ["B"], [], []), (["y"], [], [], []), [(0, 0)])
    assert len(bitext) == len(bitext.source) == len(bitext.target) == 1
    assert bitext.source.words(0) == ["b"]
    assert bitext.target.words(0) == ["y"]


def test_both_sides_have_trees_and_node_links() -> None:
    bitext = parsed.ParsedBitext()
    source = (["dogs", "bark"], ["N", "V"], [1, -1], [("S", 0, 2, -1), ("NP", 0, 1, 0)])
    target = (["Hunde", "bellen"], ["N", "V"], [1, -1], [("S", 0, 2, -1), ("VP", 1, 2, 0)])
    bitext.add(source, target, [(1, 1), (0, 0)], [(0, 0), (3, 1)])
    assert bitext.source.sentence(0) == (*map(tuple, source), ("_", "_"))
    assert bitext.target.sentence(0) == (*map(tuple, target), ("_", "_"))
    assert bitext.links(0) == [(0, 0), (1, 1)]
    assert bitext.node_links(0) == [(0, 0), (3, 1)]
    with pytest.raises(ValueError, match="node link 4-0 is outside the sentences of 4 and 4 nodes"):
        bitext.add(source, target, [], [(4, 0)])


def test_a_side_of_a_bitext_does_not_grow_by_itself() -> None:
    assert not hasattr(parsed.ParsedBitext().source, "add")


def test_node_links_follow_their_phrases_when_a_tree_is_binarised() -> None:
    source = parse_penn("(S (NP (D the) (A old) (N dog)) (VP (V barks)))")
    target = parse_penn("(S (NP (N Hund)) (VP (V bellt)))")
    pair = (
        ParsedSentence.of(constituency=source),
        ParsedSentence.of(constituency=target),
        [],
        [(2, 2), (~3, ~1), (1, 1)],
    )
    plain = parsed_bitext([pair]).columns
    assert plain.node_links(0) == [(1, 1), (2, 2), (6, 4)]
    bitext = parsed_bitext([pair], binarize="left").columns
    phrases = bitext.source.sentence(0)[3]
    assert [label for label, *_ in phrases] == ["S", "NP", "X@NP", "VP"]
    assert bitext.node_links(0) == [(1, 1), (3, 2), (7, 4)]
    with pytest.raises(TreeError, match="the tree has no phrase 3"):
        parsed_bitext([(pair[0], pair[1], [], [(3, 0)])], binarize="left")
