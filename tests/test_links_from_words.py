"""Node links from word links: against the definition, tried on all pairs of phrases; and the command."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given

from cli_runner import Run
from tree_strategies import pairs, sentences
from treeglot.alignment.subtrees.from_words import links_from_words
from treeglot.errors import TreeError
from treeglot.trees.formats import read_pairs
from treeglot.trees.penn import parse_penn
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence


def sentence(penn: str) -> ParsedSentence:
    return ParsedSentence.of(constituency=parse_penn(penn))


def consistent(pair: AlignedPair, source: int, target: int, *, sure: bool) -> bool:
    """All links of the words under one phrase go to words under the other, and there is one."""
    assert pair.source.constituency is not None
    assert pair.target.constituency is not None
    words = set(pair.source.constituency.yields[source]), set(pair.target.constituency.yields[target])
    links = [link for link in pair.word_links if link.kind == "good" or not sure]
    inside = [(link.source in words[0], link.target in words[1]) for link in links]
    return (True, True) in inside and all(left == right for left, right in inside)


def above(sentence: ParsedSentence, upper: int, lower: int) -> bool:
    assert sentence.constituency is not None
    node = sentence.constituency.parents[lower]
    while node >= 0 and node != upper:
        node = sentence.constituency.parents[node]
    return node == upper


@given(pairs(sentences()))
def test_links_are_consistent_well_formed_and_as_many_as_there_can_be(pair: AlignedPair) -> None:
    if pair.source.constituency is None or pair.target.constituency is None:
        with pytest.raises(TreeError, match="without phrases"):
            links_from_words(pair)
        return
    links = links_from_words(pair)
    for link in links:
        assert consistent(pair, *link[:2], sure=link.kind == "fuzzy")
    for one, other in combinations(links, 2):
        assert one.source != other.source
        assert one.target != other.target
        for source_way, target_way in (((one, other), (one, other)), ((other, one), (other, one))):
            assert above(pair.source, source_way[0].source, source_way[1].source) == above(
                pair.target, target_way[0].target, target_way[1].target
            )
    # No good link can be added: two phrases that fit and have no link yet are in the way of nobody.
    linked = {link.source for link in links}, {link.target for link in links}
    for source in range(len(pair.source.constituency)):
        for target in range(len(pair.target.constituency)):
            if source in linked[0] or target in linked[1] or not consistent(pair, source, target, sure=False):
                continue
            crossed = any(
                above(pair.source, a, b) != above(pair.target, c, d)
                for link in links
                for a, b, c, d in (
                    (source, link.source, target, link.target),
                    (link.source, source, link.target, target),
                )
            )
            assert crossed, (source, target)


def test_chains_prefer_equal_labels_then_sizes_then_the_top() -> None:
    source = sentence("(IP (VP (NP (NN a))))")
    target = sentence("(S (NP (DT the) (NN b)))")
    links = links_from_words(AlignedPair(source, target, [Link(0, 1)]))
    assert [link[:2] for link in links] == [(0, 0), (2, 1)]  # NP with NP, and something above with S
    target = sentence("(X (Y (DT the) (NN b)) (PU .))")
    links = links_from_words(AlignedPair(source, target, [Link(0, 1)]))
    assert [link[:2] for link in links] == [(0, 0), (1, 1)]


def test_possible_links_make_fuzzy_ones() -> None:
    source = sentence("(IP (NP (NN a)) (VP (VV b)))")
    target = sentence("(S (NP (NN x)) (VP (VB y)))")
    word_links = [Link(0, 0), Link(1, 1), Link(0, 1, "fuzzy")]
    assert [link[:3] for link in links_from_words(AlignedPair(source, target, word_links))] == [
        (0, 0, "good"),
        (1, 1, "fuzzy"),
        (2, 2, "fuzzy"),
    ]


def test_no_links_no_links() -> None:
    source = sentence("(IP (NP (NN a)) (VP (VV b)))")
    assert links_from_words(AlignedPair(source, source)) == ()


PENN = "(IP (NP (NN a)) (VP (VV b)))\n(NP (NN c))\n", "(S (NP (DT the) (NN x)) (VP (VB y)))\n(NP (NN z))\n"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    for name, text in zip("st", PENN, strict=True):
        (tmp_path / f"{name}.penn").write_text(text)
    return ["trees", "links-from-words", f"{tmp_path}/s.penn", f"{tmp_path}/t.penn", "--align", f"{tmp_path}/links"]


def test_the_command(tmp_path: Path, run: Run, arguments: list[str]) -> None:
    (tmp_path / "links").write_text("0-1 1-2\n\n")
    code, _, messages = run(*arguments, "--out", f"{tmp_path}/o.nodes")
    assert code == 0, messages
    assert (tmp_path / "o.nodes").read_text() == "0-0 1-1 2-2 w0-w1 w1-w2\n\n"
    assert "2 pairs, 2 word links, 3 node links" in messages
    run(*arguments, "--out", f"{tmp_path}/o.jsonl")
    assert [len(pair.node_links) for pair in read_pairs(tmp_path / "o.jsonl")] == [3, 0]
    # Pairs bring their word links.
    code, _, messages = run("trees", "links-from-words", f"{tmp_path}/o.jsonl", "--out", f"{tmp_path}/again.nodes")
    assert code == 0, messages
    assert (tmp_path / "again.nodes").read_text() == "0-0 1-1 2-2 w0-w1 w1-w2\n\n"


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-1 1-2\n", "links:1: ends after 1 sentences"),
        ("0-1 1-2\n\n0-0\n", "s.penn:2: ends after 2 sentences"),
        ("0-1 1-9\n\n", "links:1: word link 1-9: the target has no word 9"),
        ("0-1 1\n\n", "links:1:5: '1' is not a link"),
        ("", "links:1: the file is empty"),
    ],
)
def test_bad_word_links(tmp_path: Path, run: Run, arguments: list[str], links: str, message: str) -> None:
    (tmp_path / "links").write_text(links)
    code, _, messages = run(*arguments, "--out", f"{tmp_path}/o.nodes", "--align-from", "pharaoh")
    assert code != 0
    assert message in messages
    assert not (tmp_path / "o.nodes").exists()
