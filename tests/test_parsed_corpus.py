"""Parsed sentences and pairs as native columns."""

from __future__ import annotations

import pytest

from treeglot._core import parsed


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
    assert bitext.source.sentence(0) == tuple(map(tuple, source))
    assert bitext.target.sentence(0) == tuple(map(tuple, target))
    assert bitext.links(0) == [(0, 0), (1, 1)]
    assert bitext.node_links(0) == [(0, 0), (3, 1)]
    with pytest.raises(ValueError, match="node link 4-0 is outside the sentences of 4 and 4 nodes"):
        bitext.add(source, target, [], [(4, 0)])


def test_a_side_of_a_bitext_does_not_grow_by_itself() -> None:
    assert not hasattr(parsed.ParsedBitext().source, "add")
