"""Aligners for what they were not trained on: other languages, other labels, trees without word links, a package that is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli_runner import Run, make_runner
from subtree_corpus import corpus
from treeglot import TreeglotError
from treeglot.alignment.subtrees.model import load_model
from treeglot.alignment.subtrees.training import train_aligner
from treeglot.alignment.subtrees.universal_training import language_groups, train_universal
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.universal import universal_phrase, universal_tag

QUICK = {"features": "paper", "passes": 1, "tune": False, "trees": False, "threads": 1}


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


def changed(pair: AlignedPair, word: str, label: str = "") -> AlignedPair:
    """The same pair in another language: all words, and perhaps all labels of phrases, are others."""

    def side(sentence: ParsedSentence) -> ParsedSentence:
        tree = sentence.constituency
        assert tree is not None
        tokens = Tokens([word + form for form in tree.tokens.forms], xpos=tree.tokens.xpos)
        labels = [label + name for name in tree.labels]
        return ParsedSentence.of(constituency=ConstituencyTree(tokens, labels, tree.children), id=sentence.id)

    return AlignedPair(side(pair.source), side(pair.target), pair.word_links, pair.node_links, pair.id)


def right(aligned: list[AlignedPair], gold: list[AlignedPair]) -> float:
    both = [({x[:2] for x in a.node_links}, {x[:2] for x in b.node_links}) for a, b in zip(aligned, gold, strict=True)]
    return 2 * sum(len(a & b) for a, b in both) / sum(len(a) + len(b) for a, b in both)


def test_a_model_of_two_pairs_of_languages_for_a_third(tmp_path: Path, run: Run) -> None:
    banks = [corpus(24), [changed(pair, "x") for pair in corpus(24, seed=2)]]
    assert [len(group) for group in language_groups([banks[0][:12], banks[1], banks[0][12:]])] == [24, 24]
    unseen = [changed(pair, "q") for pair in corpus(30, seed=3)]
    lines: list[str] = []
    model = train_universal(banks, report=lines.append, terms=("plain", "dBTK-Root"), **QUICK)
    assert model.universal and "languages 2 of 2: 24 sentence pairs" in lines
    bare = [AlignedPair(pair.source, pair.target, id=pair.id) for pair in unseen]
    adapted = right(list(model.adapted(bare, threads=1).align(bare)), unseen)
    assert adapted > 0.75 and adapted > right(list(model.align(bare)), unseen)
    for name, bank in (("one", banks[0]), ("two", banks[1]), ("three", bare)):
        write_jsonl(bank, tmp_path / f"{name}.jsonl")
    options = ["--features", "paper", "--passes", 1, "--no-tune", "--no-trees", "--kernels", "plain,dBTK-Root"]
    files = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    command = ["trees", "train-aligner", *files, "--universal-labels", *options, "--threads", 1]
    assert run(*command, "--out", tmp_path / "any.aligner").code == 0
    stored = load_model(tmp_path / "any.aligner")
    assert stored.universal and stored.words.text == (["_"], ["_"])
    result = run("trees", "align", tmp_path / "three.jsonl", "--model", tmp_path / "any.aligner", "--format", "nodes")
    assert result.code == 0 and "of these words" not in result.err and result.out.count("\n") == 30
    alone = run("trees", "align", tmp_path / "three.jsonl", "--model", tmp_path / "any.aligner", "--no-adapt")
    assert "knows 0% of these words only: let it learn them" in alone.err
    refused = run(*command, "--dev", tmp_path / "one.jsonl", "--out", tmp_path / "no.aligner")
    assert refused.code == 1 and "2 pairs of languages" in refused.err and not (tmp_path / "no.aligner").exists()


def test_a_model_says_what_it_misses(tmp_path: Path, run: Run) -> None:
    pairs = [AlignedPair(pair.source, pair.target, [Link(0, 0)], pair.node_links, pair.id) for pair in corpus(24)]
    terms = ("plain", "dBTK-Root")
    train_aligner(pairs[:16], pairs[16:], terms=terms, given_links=True, **QUICK).save(tmp_path / "given.aligner")
    bare = [replace_links(pair) for pair in pairs]
    write_jsonl(bare, tmp_path / "bare.jsonl")
    write_jsonl(pairs, tmp_path / "linked.jsonl")
    write_jsonl([changed(pair, "", "Z") for pair in bare], tmp_path / "labels.jsonl")
    given = ["--model", tmp_path / "given.aligner", "--format", "nodes"]
    assert "--given-word-links" in run("trees", "align", tmp_path / "bare.jsonl", *given).err
    assert "--given-word-links" not in run("trees", "align", tmp_path / "linked.jsonl", *given).err
    assert "0% of these trees' labels only" in run("trees", "align", tmp_path / "labels.jsonl", *given).err
    assert "labels only" not in run("trees", "align", tmp_path / "bare.jsonl", *given).err


def replace_links(pair: AlignedPair) -> AlignedPair:
    return AlignedPair(pair.source, pair.target, (), pair.node_links, pair.id)


def test_a_missing_package_is_named_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    lines: list[str] = []
    with pytest.raises(TreeglotError, match="sklearn") as caught:
        train_aligner(corpus(24), report=lines.append)
    assert lines == [] and "treeglot[subtrees]" in str(caught.value.remedy)
    assert "aligner own" not in str(caught.value.remedy)
    with pytest.raises(TreeglotError, match="sklearn"):
        train_universal([corpus(24)])


def test_labels_of_other_treebanks_are_known() -> None:
    alpino = ["np", "pp", "smain", "ssub", "ppart", "ap", "mwu"]
    assert [universal_phrase(label) for label in alpino] == ["NP", "PP", "S", "S", "VP", "ADJP", "NP"]
    assert [universal_phrase(label) for label in ("NOUN", "VERB", "ADP", "MTP", "INC")] == ["NP", "S", "PP", "PP", "S"]
    assert [universal_tag(tag) for tag in ("noun", "vg", "VM", "VMFIN", "prep", "DA")] == [
        "NOUN",
        "CCONJ",
        "VERB",
        "AUX",
        "ADP",
        "DET",
    ]
