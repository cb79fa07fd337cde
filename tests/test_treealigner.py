"""TreeAligner XML: real files (all of them with full effort) with their published counts, pairs, random pairs, damage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from effort import worlds
from tree_strategies import damaged, pairs, phrases, survives, token_lists
from treeglot import InputError, TreeError
from treeglot.trees import AlignedPair, Link, ParsedSentence
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.penn import parse_penn
from treeglot.trees.tiger import write_tiger
from treeglot.trees.tokens import Tokens
from treeglot.trees.treealigner import (
    AlignedNode,
    TreeAlignment,
    Treebank,
    TreeLink,
    read_aligned_pairs,
    read_treealigner,
    write_aligned_pairs,
    write_treealigner,
)

# pairs, good and fuzzy links between phrases: from SOURCE.md
SQUOIA = {
    "AHK": (683, 4224, 621),
    "COSUDE": (515, 4169, 234),
    "DW": (872, 5166, 387),
    "FOCUS": (495, 2590, 203),
    "FUNDACION": (440, 2683, 197),
    "IMF": (510, 3960, 442),
}
TBLIGN = {
    "trainset": ("250train", 250, 1677, 197),
    "cutoff": ("100cutoff", 100, 790, 63),
    "devtest": ("250devtest", 250, 1882, 89),
}


def count(pairs: list[AlignedPair]) -> tuple[int, int, int]:
    phrase_links = Counter(
        link.kind for pair in pairs for link in pair.node_links if link.source >= 0 and link.target >= 0
    )
    return len(pairs), phrase_links["good"], phrase_links["fuzzy"]


def round_trip(path: Path, folder: Path) -> TreeAlignment:
    alignment = read_treealigner(path)
    write_treealigner(alignment, folder / "again.xml")
    assert read_treealigner(folder / "again.xml") == alignment
    return alignment


@pytest.mark.parametrize("name", list(SQUOIA)[: worlds(len(SQUOIA))])
def test_squoia(data: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    path = data(f"trees/squoia-de-es/{name}_alignments_squoia_de_es.xml")
    alignment = round_trip(path, tmp_path)
    assert alignment.treebanks == (
        Treebank("de", f"{name}_SQUOIA_DE.xml", "de_DE"),
        Treebank("es", f"{name}_SQUOIA_ES.xml", "es_ES"),
    )
    assert alignment.metadata["description"].startswith(f"{name}_SQUOIA")
    whole = list(read_aligned_pairs(path, unlinked=True))
    assert len(whole) == len(alignment.sentence_links)
    linked = [pair for pair in whole if pair.word_links or pair.node_links]
    assert count(linked) == SQUOIA[name]
    assert sum(len(pair.word_links) + len(pair.node_links) for pair in linked) == len(alignment.links)
    if name == "AHK":
        assert len(alignment.empty_links) == 7 and len(whole) == 686


def test_squoia_pairs_survive_writing(data: Callable[[str], Path], tmp_path: Path) -> None:
    pairs = list(read_aligned_pairs(data("trees/squoia-de-es/FUNDACION_alignments_squoia_de_es.xml")))
    write_aligned_pairs(pairs, tmp_path / "a.xml", tmp_path / "de.xml", tmp_path / "es.xml", languages=("de", "es"))
    again = {pair.id: pair for pair in read_aligned_pairs(tmp_path / "a.xml")}
    assert again == {pair.id: pair for pair in pairs}


@pytest.mark.parametrize("part", sorted(TBLIGN)[: worlds(len(TBLIGN))])
def test_tblign(data: Callable[[str], Path], tmp_path: Path, part: str) -> None:
    name, *counts = TBLIGN[part]
    folder = data(f"trees/tblign-nl-en/{part}")
    files = sorted(folder.glob("*/*.sta.xml"))
    for path in files[: worlds(len(files))]:
        round_trip(path, tmp_path)
    gold = folder / "gold" / f"SEDE.{name}.only-nts.sta.xml"
    pairs = list(read_aligned_pairs(gold))  # the trainset names folders of its makers: the files beside it are taken
    assert count(pairs) == tuple(counts)
    auto = folder / "auto" / f"SEDE.{name}.withalign.sta.xml"
    with pytest.raises(InputError, match="the treebank '1'"):
        next(read_aligned_pairs(auto))
    sides = [next((folder / "gold").glob(f"*.{side}.tiger.xml")) for side in "st"]
    automatic = next(read_aligned_pairs(auto, source=sides[0], target=sides[1]))
    assert all(link.score is not None for link in automatic.word_links)


def sentence(text: str, name: str = "") -> ParsedSentence:
    tree = parse_penn(text)
    return ParsedSentence(tree.tokens, constituency=tree, id=name)


def test_one_to_many_and_mixed_links(tmp_path: Path) -> None:
    shared = sentence("(S (NP (N a)) (V b))", "x")
    others = [sentence("(S (N c))", "y"), sentence("(S (N d) (N e))", "z")]
    given = [
        AlignedPair(shared, others[0], [Link(0, 0)], [Link(1, ~0, "fuzzy", 0.25)]),
        AlignedPair(shared, others[1], [], [Link(~1, 0)]),
    ]
    paths = [tmp_path / name for name in ("a.sta.xml", "s.xml", "t.xml")]
    write_aligned_pairs(given, *paths)
    again = list(read_aligned_pairs(paths[0]))
    assert [pair.id for pair in again] == ["x-y", "x-z"]
    assert [pair.word_links for pair in again] == [given[0].word_links, ()]
    assert [pair.node_links for pair in again] == [given[0].node_links, given[1].node_links]
    assert again[0].source == again[1].source
    with pytest.raises(TreeError, match="two sentences"):
        write_aligned_pairs([*given, AlignedPair(replace(others[1], id="x"), shared)], *paths)


def test_nodes_in_any_order_duplicates_and_strictness(tmp_path: Path) -> None:
    write_aligned_pairs(
        [AlignedPair(sentence("(S (N a))", "s1"), sentence("(S (N b))", "s1"), [Link(0, 0)])],
        *(tmp_path / name for name in ("a.xml", "s.xml", "t.xml")),
    )
    text = (tmp_path / "a.xml").read_text()
    link = '<align type="good"><node treebank_id="2" node_id="s1_1"/><node treebank_id="1" node_id="s1_1"/></align>\n'
    dangling = link.replace('"2" node_id="s1_1"', '"2" node_id="s9_9"')
    (tmp_path / "a.xml").write_text(text.replace("</alignments>", link + dangling + "</alignments>"))
    with pytest.raises(InputError, match="linked twice"):
        read_treealigner(tmp_path / "a.xml")
    lenient = read_treealigner(tmp_path / "a.xml", strict=False)
    assert len(lenient.links) == 2 and len(lenient.problems) == 1
    assert lenient.links[1].source == AlignedNode("1", "s1_1")
    problems: list[str] = []
    (pair,) = read_aligned_pairs(tmp_path / "a.xml", strict=False, problems=problems)
    assert pair.word_links == (Link(0, 0),)
    assert [text.partition(": ")[2][:24] for text in problems] == [
        "'s1_1' and 's1_1' are li",
        "no node 's9_9' in the tr",
    ]


def test_links_to_virtual_roots(tmp_path: Path) -> None:
    write_aligned_pairs(
        [AlignedPair(sentence("(S (N a))", "s1"), sentence("(S (N b))", "s1"))],
        *(tmp_path / name for name in ("a.xml", "s.xml", "t.xml")),
    )
    assert list(read_aligned_pairs(tmp_path / "a.xml", unlinked=False)) == []
    assert len(list(read_aligned_pairs(tmp_path / "a.xml"))) == 1
    alignment = read_treealigner(tmp_path / "a.xml")
    roots = alignment.sentence_links[0]
    write_treealigner(replace(alignment, links=(TreeLink(roots.source, roots.target),)), tmp_path / "a.xml")
    (pair,) = read_aligned_pairs(tmp_path / "a.xml")
    assert pair.node_links == (Link(0, 0),)


LINGUA_ALIGN = """<?xml version="1.0" ?>
<treealign>
<head>
</head>
  <treebanks>
    <treebank filename="s.xml" id="1"/>
    <treebank filename="t.xml" id="2"/>
  </treebanks>
  <alignments>
    <align author="Lingua-Align" prob="0.8" type="good">
      <node node_id="s2_1" type="t" treebank_id="1"/>
      <node node_id="s2_1" type="t" treebank_id="2"/>
    </align>
  </alignments>
</treealign>
"""


def test_sentences_of_the_same_id_are_pairs_where_no_sentence_is_aligned(tmp_path: Path) -> None:
    sides = [[sentence(f"(S ({tag} {word}))", f"s{n}") for n in (1, 2, 3)] for tag, word in (("N", "a"), ("V", "b"))]
    write_tiger(sides[0], tmp_path / "s.xml")
    write_tiger(sides[1][1:], tmp_path / "t.xml")
    (tmp_path / "a.sta.xml").write_text(LINGUA_ALIGN)
    pairs = list(read_aligned_pairs(tmp_path / "a.sta.xml"))
    assert [(pair.id, len(pair.word_links)) for pair in pairs] == [("s2-s2", 1), ("s3-s3", 0)]
    assert pairs[0].word_links[0].score == 0.8
    (tmp_path / "a.sta.xml").write_text(
        LINGUA_ALIGN.replace('"s2_1" type="t" treebank_id="2"', '"s3_1" treebank_id="2"')
    )
    assert [pair.id for pair in read_aligned_pairs(tmp_path / "a.sta.xml")] == ["s2-s3"], "ids say nothing here"


def test_both_dialects_are_read_as_their_programs_read_them(tmp_path: Path) -> None:
    words = ParsedSentence(Tokens(["x"]), constituency=ConstituencyTree(Tokens(["x"]), (), ()))
    given = [
        AlignedPair(
            sentence("(S (NP (N a)) (V b))"), sentence("(S (N c) (N d))"), [Link(0, 1)], [Link(1, ~0, "fuzzy", 0.25)]
        ),
        AlignedPair(words, words, [Link(0, 0, "good", 0.75)]),
    ]
    for dialect in ("treealigner", "lingua-align"):
        paths = [tmp_path / name for name in ("a.sta.xml", "s.xml", "t.xml")]
        write_aligned_pairs(given, *paths, dialect=dialect)  # type: ignore[arg-type]
        again = list(read_aligned_pairs(paths[0]))
        assert [pair.word_links for pair in again] == [pair.word_links for pair in given]
        assert [pair.node_links for pair in again] == [pair.node_links for pair in given]
        text = paths[0].read_text()
        assert ("<sen-align" in text) == (dialect == "treealigner") == ("alignment-metadata" in text)
        assert script_links(*paths) == 3


def script_links(links: Path, source: Path, target: Path) -> int:
    """Links as TBLign's scripts find them, line by line; every node must be there."""
    nodes = [set(re.findall(r'<n?t id="(.*?)"', path.read_text())) for path in (source, target)]
    lines = links.read_text().splitlines()
    assert len(re.findall(r'<treebank.*filename="(.*?)"', links.read_text())) == 2
    count = 0
    for k, line in enumerate(lines):
        if "<align " in line:
            assert re.search(r"<align.*author", line) and re.search(r'<align.*type="(good|fuzzy)"', line)
            ends = [re.search(r'<node.*node_id="(.*?)"', lines[k + n]) for n in (1, 2)]
            assert all(
                end and end[1] in known and re.search(r"s?([0-9]+)_", end[1])
                for end, known in zip(ends, nodes, strict=True)
            )
            assert "</align>" in lines[k + 3]
            count += 1
    return count


@st.composite
def plain_sentences(draw: st.DrawFn) -> ParsedSentence:
    tokens = draw(token_lists(rich=False))
    return ParsedSentence(tokens, constituency=draw(phrases(tokens)))


@given(given_pairs=st.lists(pairs(plain_sentences()), max_size=3))
def test_random_pairs_round_trip(tmp_path_factory: pytest.TempPathFactory, given_pairs: list[AlignedPair]) -> None:
    folder = tmp_path_factory.mktemp("x")
    write_aligned_pairs(given_pairs, folder / "a.xml", folder / "s.xml", folder / "t.xml")
    again = list(read_aligned_pairs(folder / "a.xml", unlinked=True))
    assert len(again) == len(given_pairs)
    for pair, expected in zip(again, given_pairs, strict=True):
        assert pair.word_links == expected.word_links and pair.node_links == expected.node_links
        for side, given_side in ((pair.source, expected.source), (pair.target, expected.target)):
            assert side.constituency is not None
            assert replace(side.constituency, ids=(), word_ids=()) == given_side.constituency


SAMPLE = (
    b'<treealign version="2"><head><alignment-metadata><author>x</author></alignment-metadata><treebanks>'
    b'<treebank id="1" filename="s.xml" language="de"/><treebank id="2" filename="t.xml"/></treebanks></head>\n<alignments>'
    b'<to-empty empty-in="1" tb-id="2" root-id="s2_VROOT"/>\n<align type="good" prob="0.5" author="a">'
    b'<node treebank_id="1" node_id="s1_1"/><node treebank_id="2" node_id="s1_1" type="t"/></align></alignments></treealign>'
)


@given(content=damaged(SAMPLE))
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "a.xml"
    path.parent.joinpath("s.xml").write_text('<corpus><s id="s1"><graph><t id="s1_1" word="a"/></graph></s></corpus>')
    path.parent.joinpath("t.xml").write_text('<corpus><s id="s1"><graph><t id="s1_1" word="a"/></graph></s></corpus>')
    survives(lambda path: [read_treealigner(path)], path, content)
    survives(read_aligned_pairs, path, content)


def test_treebanks_outside_of_the_folder_are_asked_for(tmp_path: Path, run: Run) -> None:
    """A file from elsewhere could name any file of this machine."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    pair = AlignedPair(sentence("(S (A a) (B b))", "s1"), sentence("(S (C c) (D d))", "s1"))
    write_aligned_pairs([pair], inside / "a.xml", inside / "s.xml", outside / "t.xml")
    named = [bank.filename for bank in read_treealigner(inside / "a.xml").treebanks]
    assert named == ["s.xml", "../outside/t.xml"]
    with pytest.raises(InputError, match="outside of its folder") as caught:
        list(read_aligned_pairs(inside / "a.xml"))
    assert caught.value.path == str(inside / "a.xml") and caught.value.line and "--anywhere" in caught.value.remedy
    [read] = read_aligned_pairs(inside / "a.xml", anywhere=True)
    assert read.target.tokens.forms == ("c", "d")
    assert list(read_aligned_pairs(inside / "a.xml", target=outside / "t.xml"))
    refused = run("trees", "show", inside / "a.xml", "--text")
    assert refused.code == 1 and "--anywhere" in refused.err
    assert run("trees", "show", inside / "a.xml", "--text", "--anywhere").code == 0
    assert run("trees", "convert", inside / "a.xml", tmp_path / "pairs.jsonl").code == 1
    assert run("trees", "convert", inside / "a.xml", tmp_path / "pairs.jsonl", "--anywhere").code == 0
    (outside / "t.xml").rename(inside / "t.xml")  # of that name beside it
    assert list(read_aligned_pairs(inside / "a.xml"))
