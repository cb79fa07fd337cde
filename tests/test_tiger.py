"""TIGER-XML: worked examples, real files (all of them with full effort) against their counts, random trees, damage."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from effort import worlds
from tree_strategies import damaged, phrases, survives, token_lists
from treeglot import TreeError
from treeglot.trees import ConstituencyTree, ParsedSentence, SecondaryEdge, Tokens
from treeglot.trees.tiger import (
    TigerHeader,
    is_virtual_root,
    read_tiger,
    read_tiger_corpus,
    with_node_ids,
    write_tiger,
)

EXAMPLE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<corpus id="c" version="2"><head><meta><name>Bälle</name></meta><annotation>
<feature name="word" domain="T"/><feature name="morph" domain="T"/>
<edgelabel><value name="HD">head</value></edgelabel></annotation></head><body>
<s id="s1" art_id="7"><graph root="s1_501">
<terminals>
<t id="s1_1" word="Er" pos="PPER" morph="--" lemma="er"><secedge label="SB" idref="s1_502"/></t>
<t id="s1_2" word="kommt" pos="VVFIN" morph="3.Sg" case="a|b=&quot;c&quot;&#9;\\"/>
<t id="s1_3" word="heute" pos="ADV" morph="--"/>
<t id="s1_4" word="an" pos="PTKVZ" morph="--"/>
<t id="s1_5" word="." pos="$." morph="--"/>
</terminals>
<nonterminals>
<nt id="s1_502" cat="VP" begin="1"><edge label="HD" idref="s1_2"/><edge idref="s1_4" label="SVP"/></nt>
<nt id="s1_501" cat="S"><edge label="MO" idref="s1_3"/><edge label="SB" idref="s1_1"/><edge idref="s1_502"/></nt>
</nonterminals></graph><matches><match subgraph="s1_1"/></matches></s>
<s id="s2"><graph root="s2_1"><terminals><t id="s2_1" word="Ja" pos="ITJ"/></terminals><nonterminals/></graph></s>
</body></corpus>"""


def example(folder: Path) -> Path:
    path = folder / "a.xml"
    path.write_bytes(EXAMPLE.encode("latin-1"))
    return path


def test_worked_example(tmp_path: Path) -> None:
    corpus = read_tiger_corpus(example(tmp_path))
    first, second = corpus
    tree = first.constituency
    assert tree is not None
    assert tree.labels == ("VROOT", "S", "VP") and tree.ids == ("s1_VROOT", "s1_501", "s1_502")
    assert tree.children == ((1, ~4), (~0, 2, ~2), (~1, ~3))
    assert tree.functions == ("", "", "") and tree.word_functions == ("SB", "HD", "MO", "SVP", "")
    assert tree.discontinuous == (False, False, True)
    assert tree.secondary == (SecondaryEdge(~0, 2, "SB"),)
    assert tree.tokens[0].lemma == "er" and tree.tokens.feats == ("_", "3.Sg", "_", "_", "_")
    assert tree.tokens.misc[1] == 'case=a\\pb="c"\\t\\\\'
    assert is_virtual_root(first) and not is_virtual_root(second)
    assert second.constituency is not None and second.constituency.labels == ()
    assert corpus.header.meta == {"name": "Bälle"} and corpus.header.corpus_id == "c"
    assert corpus.header.features["edgelabel", ""] == {"HD": "head"}
    assert json.loads(dict(first.notes)["tiger"]) == {
        "root": "s1_501",
        "s": {"art_id": "7"},
        "nt": {"s1_502": {"begin": "1"}},
    }


def test_written_as_read(tmp_path: Path) -> None:
    corpus = read_tiger_corpus(example(tmp_path))
    out = tmp_path / "b.xml.gz"
    write_tiger(corpus, out, header=corpus.header)
    again = read_tiger_corpus(out)
    assert again.header == corpus.header and list(again) == list(corpus)
    assert [sentence.notes for sentence in again] == [sentence.notes for sentence in corpus]
    text = gzip.decompress(out.read_bytes()).decode()
    assert (
        "VROOT" not in text and 'art_id="7"' in text and 'begin="1"' in text and 'case="a|b=' in text.replace("'", '"')
    )
    write_tiger(corpus, tmp_path / "c.xml", corpus_id="other")
    assert read_tiger_corpus(tmp_path / "c.xml").header == TigerHeader("other")


def test_explicit_virtual_root_stays(tmp_path: Path) -> None:
    tree = ConstituencyTree.build(["a", "b"], ("VROOT", 0, (("S", "--"), 1)))
    sentence = with_node_ids(ParsedSentence(tree.tokens, constituency=tree, id="s1"), 1)
    write_tiger([sentence], tmp_path / "a.xml")
    assert list(read_tiger(tmp_path / "a.xml")) == [sentence]
    assert b'cat="VROOT"' in (tmp_path / "a.xml").read_bytes()


def test_ids_are_generated_and_checked(tmp_path: Path) -> None:
    tree = ConstituencyTree.build(["a", "b"], ("S", 0, ("X", 1)))
    bare = ParsedSentence(tree.tokens, constituency=tree)
    write_tiger([bare, bare], tmp_path / "a.xml")
    first, second = read_tiger(tmp_path / "a.xml")
    assert first.constituency is not None and second.constituency is not None
    assert (first.id, first.constituency.ids, first.constituency.word_ids) == (
        "s1",
        ("s1_500", "s1_501"),
        ("s1_1", "s1_2"),
    )
    assert (second.id, second.constituency.ids) == ("s2", ("s2_500", "s2_501"))
    for wrong, says in (
        ([first, first], "two sentences"),
        ([ParsedSentence(tree.tokens)], "no constituency"),
        ([replace(bare, constituency=replace(tree, ids=("x", "x")))], "same id"),
        ([replace(bare, tokens=Tokens(["a", "b"]), notes=(("tiger", "{"),), id="\x01")], "cannot hold"),
    ):
        with pytest.raises(Exception, match=says) as caught:
            write_tiger(wrong, tmp_path / "b.xml")
        assert isinstance(caught.value, TreeError) or says == "cannot hold"
        assert not (tmp_path / "b.xml").exists()


def test_dashes(tmp_path: Path) -> None:
    tree = ConstituencyTree.build(Tokens(["--", "--", "a"], lemmas=["--", "_", "_"]), ("S", 0, 1, 2))
    write_tiger([ParsedSentence(tree.tokens, constituency=tree)], tmp_path / "a.xml")
    assert next(read_tiger(tmp_path / "a.xml")).tokens == tree.tokens


@pytest.mark.parametrize(("words", "first"), [(499, 500), (500, 1000), (1200, 1500)])
def test_generated_ids_of_long_sentences(tmp_path: Path, words: int, first: int) -> None:
    tree = ConstituencyTree.build([f"w{j}" for j in range(words)], ("S", *range(words)))
    write_tiger([ParsedSentence(tree.tokens, constituency=tree, id="s1")], tmp_path / "a.xml")
    (again,) = read_tiger(tmp_path / "a.xml")
    assert again.constituency is not None and again.constituency.ids == (f"s1_{first}",)
    assert again.constituency.word_ids[-1] == f"s1_{words}"


@given(data=st.data())
def test_random_trees_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    tokens = data.draw(token_lists())
    assume("--" not in (*tokens.lemmas, *tokens.feats))  # TIGER's sign for "not annotated"
    tree = data.draw(phrases(tokens, ids=True))
    sentence = ParsedSentence(tokens, constituency=tree, id="s1")
    path = tmp_path_factory.mktemp("x") / "a.xml"
    write_tiger([sentence], path)
    assert list(read_tiger(path)) == [sentence]
    bare = replace(tree, ids=(), word_ids=(), secondary=())
    write_tiger([ParsedSentence(tokens, constituency=bare)], path)
    (again,) = read_tiger(path)
    assert again.constituency is not None
    assert replace(again.constituency, ids=(), word_ids=()) == bare


# sentences, tokens, phrases, discontinuous phrases; per SOURCE.md the totals of all eight sub-corpora are 4,166 German and
# 4,075 Spanish sentences, 53,705 and 62,985 phrases, 8,076 and 238 discontinuous ones; two of the eight are not here.
SQUOIA = {
    "AHK_SQUOIA_DE": (664, 14229, 9798, 1275),
    "AHK_SQUOIA_ES": (637, 16376, 11368, 23),
    "COSUDE_SQUOIA_DE": (508, 8991, 6267, 947),
    "COSUDE_SQUOIA_ES": (513, 11798, 8476, 45),
    "DW_SQUOIA_DE": (853, 13062, 9155, 1481),
    "DW_SQUOIA_ES": (856, 15109, 10517, 37),
    "FOCUS_SQUOIA_DE": (491, 8222, 5841, 761),
    "FOCUS_SQUOIA_ES": (456, 10548, 7431, 37),
    "FUNDACION_SQUOIA_DE": (422, 7209, 4859, 655),
    "FUNDACION_SQUOIA_ES": (435, 8302, 5813, 36),
    "IMF_SQUOIA_DE": (499, 13619, 9300, 1491),
    "IMF_SQUOIA_ES": (490, 15559, 11092, 19),
}
TBLIGN = {"cutoff": 100, "devtest": 250, "trainset": 250}


def round_trip(path: Path, folder: Path) -> tuple[int, int, int, int]:
    corpus = read_tiger_corpus(path)
    sentences = list(corpus)
    write_tiger(sentences, folder / "again.xml", header=corpus.header)
    again = read_tiger_corpus(folder / "again.xml")
    assert again.header == corpus.header
    assert list(again) == sentences
    trees = [(sentence.constituency, is_virtual_root(sentence)) for sentence in sentences]
    phrases_ = sum(len(tree) - virtual for tree, virtual in trees if tree is not None)
    gaps = sum(sum(tree.discontinuous) for tree, _ in trees if tree is not None)
    return len(sentences), sum(map(len, sentences)), phrases_, gaps


@pytest.mark.parametrize("name", list(SQUOIA)[: worlds(len(SQUOIA))])
def test_squoia(data: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    assert round_trip(data(f"trees/squoia-de-es/{name}.xml"), tmp_path) == SQUOIA[name]


@pytest.mark.parametrize("part", sorted(TBLIGN)[: worlds(len(TBLIGN))])
def test_tblign(data: Callable[[str], Path], tmp_path: Path, part: str) -> None:
    for side in "st":
        size = 100 if part == "cutoff" else 250
        path = data(f"trees/tblign-nl-en/{part}/gold/SEDE.{size}.{side}.tiger.xml")
        assert round_trip(path, tmp_path)[0] == TBLIGN[part]


@given(content=st.one_of(damaged(EXAMPLE.encode("latin-1")), damaged(EXAMPLE[40:].encode())))
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "a.xml"
    survives(read_tiger, path, content)
    survives(read_tiger_corpus, path, content)
