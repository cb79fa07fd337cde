"""``treeglot trees bank`` (`treeglot.pipeline.treebank`), and CoNLL-U with links (`treeglot.trees.conllulinks`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny_parser
from cli_runner import Run, make_runner
from treeglot.trees.bracketed import HEAD_FUNCTION, dependency_phrases
from treeglot.trees.conllu import read_conllu
from treeglot.trees.conllulinks import write_linked_conllu
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.formats import read_pairs, read_sentences
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import Tokens

GERMAN = ["das haus brennt", "das buch brennt", "ein haus ist alt", "ein buch ist alt", "das haus ist alt"] * 3
ENGLISH = ["the house burns", "the book burns", "a house is old", "a book is old", "the house is old"] * 3
TINY = ["--langs", "de", "en", "--parsers", "tiny_parser:chain", "tiny_parser:chain", "--threads", 1]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "de.txt", tmp_path / "en.txt"
    for path, lines in zip(paths, (GERMAN, ENGLISH), strict=True):
        path.write_text("".join(line + "\n" for line in lines))
    tiny_parser.calls.clear()
    tiny_parser.stop_at.clear()
    return paths


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if ".treeglot" not in path.parts}


def test_two_texts_become_a_treebank(tmp_path: Path, texts: tuple[Path, Path], run: Run) -> None:
    out = tmp_path / "bank"
    result = run("trees", "bank", *texts, *TINY, "--out", out, "--json")
    assert result.code == 0, result.err
    figures = json.loads(result.out)
    stages = ["parse-source", "parse-target", "sentences", "words", "nodes", "treealigner", "conllu", "pages"]
    assert list(figures) == stages and all("seconds" in counts for counts in figures.values())
    assert json.loads((out / "report.json").read_text()) == figures
    assert figures["parse-source"]["words"] == sum(len(line.split()) for line in GERMAN)
    pairs = list(read_pairs(out / "pairs.jsonl"))
    again = list(read_pairs(out / "bank.sta.xml"))
    assert [pair.id for pair in pairs] == [f"s{n}-s{n}" for n in range(1, 16)] == [pair.id for pair in again]
    for pair, other in zip(pairs, again, strict=True):
        assert pair.node_links == other.node_links and pair.word_links == other.word_links
        assert (0, 0) in [link[:2] for link in pair.node_links] and (1, 1) in [link[:2] for link in pair.word_links]
    assert figures["words"]["word_links"] == sum(len(pair.word_links) for pair in pairs)
    assert figures["nodes"]["node_links"] == sum(len(pair.node_links) for pair in pairs)
    first = next(iter(read_conllu(out / "source.conllu")))
    assert "# align = s1" in first.comments and "Align=s1:2" in first.tokens.misc[1]
    assert "Subtree=s1:1/" in first.tokens.misc[0], "the root of a chain is its first word"
    page = (out / "pages" / "000001-000015.html").read_text()
    assert page.count("<svg ") == 15 and "000001-000015.html" in (out / "pages" / "index.html").read_text()


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, texts: tuple[Path, Path], run: Run) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run("trees", "bank", *texts, *TINY, "--out", whole).code == 0
    tiny_parser.calls.clear()
    tiny_parser.stop_at.append(ENGLISH[4])
    assert run("trees", "bank", *texts, *TINY, "--out", parts).code != 0
    assert tiny_parser.calls[: len(GERMAN)] == GERMAN and not (parts / "bank.sta.xml").exists()
    tiny_parser.calls.clear()
    again = run("trees", "bank", *texts, *TINY, "--out", parts)
    assert again.code == 0 and "parse-source: up to date" in again.err
    assert not set(GERMAN) & set(tiny_parser.calls)
    left_out = ("report.json",)  # seconds
    assert {k: v for k, v in contents(parts).items() if k not in left_out} == {
        k: v for k, v in contents(whole).items() if k not in left_out
    }
    tiny_parser.calls.clear()
    assert run("trees", "bank", *texts, *TINY, "--out", parts).code == 0 and not tiny_parser.calls
    texts[1].write_text(texts[1].read_text().replace("burns", "is burning"))
    changed = run("trees", "bank", *texts, *TINY, "--out", parts)
    assert changed.code == 0 and "parse-source: up to date" in changed.err and "parse-target: done" in changed.err
    assert not set(GERMAN) & set(tiny_parser.calls)


def test_sentences_of_other_numbers(tmp_path: Path, texts: tuple[Path, Path], run: Run) -> None:
    lines = texts[1].read_text().splitlines()
    texts[1].write_text("\n".join(lines[1:]) + "\n")
    result = run("trees", "bank", *texts, *TINY, "--out", tmp_path / "bank")
    assert result.code == 1 and "--sentences auto" in result.err and "15 lines" in result.err
    result = run("trees", "bank", *texts, *TINY, "--sentences", "auto", "--out", tmp_path / "bank", "--json")
    assert result.code == 0 and json.loads(result.out)["sentences"]["pairs"] >= 13, result.err
    (tmp_path / "beads").write_text("1\t1\n2 3\t2\n")
    result = run(
        "trees", "bank", *texts, *TINY, "--sentences", tmp_path / "beads", "--out", tmp_path / "bank", "--json"
    )
    assert json.loads(result.out)["sentences"] == {"1-1": 1, "2-1": 1, "pairs": 3, "seconds": pytest.approx(0, abs=60)}
    assert [pair.id for pair in read_pairs(tmp_path / "bank" / "bank.sta.xml")] == ["s1-s1", "s2-s2", "s3-s2"]


def test_what_is_missing_is_said_before_the_work(tmp_path: Path, texts: tuple[Path, Path], run: Run) -> None:
    for wrong, says in (
        (["--model", tmp_path / "no.aligner"], "no.aligner: no such file"),
        (["--sentences", tmp_path / "no"], "no such file"),
    ):
        result = run("trees", "bank", *texts, *TINY, *wrong, "--out", tmp_path / "bank")
        assert result.code == 1 and says in result.err
    result = run(
        "trees", "bank", *texts, *TINY[:3], "--parsers", "tiny_parser:chain", "nothing", "--out", tmp_path / "bank"
    )
    assert result.code == 1 and "no parser 'nothing'" in result.err
    assert run("trees", "bank", texts[0], tmp_path / "none", *TINY, "--out", tmp_path / "bank").code == 1
    assert not (tmp_path / "bank").exists() and not tiny_parser.calls


def test_with_udpipe(data: Callable[[str], Path], tmp_path: Path, run: Run) -> None:
    pytest.importorskip("ufal.udpipe")
    models = data("models")
    for language in ("de", "en"):
        lines = data(f"mt/multi30k/val.{language}").read_text(encoding="utf-8").splitlines()[:12]
        (tmp_path / language).write_text("".join(line + "\n" for line in lines))
    options = ["--langs", "de", "en", "--parsers", "udpipe", "udpipe", "--threads", 1]
    chosen = ["--source-model", models / "de_mix.udpipe", "--target-model", models / "en_ewt.udpipe"]
    result = run(
        "trees", "bank", tmp_path / "de", tmp_path / "en", *options, *chosen, "--out", tmp_path / "bank", "--json"
    )
    assert result.code == 0, result.err
    assert json.loads(result.out)["nodes"]["pairs"] == 12
    labels = {
        label
        for sentence in read_sentences(tmp_path / "bank" / "bank.source.tiger.xml")
        for label in sentence.constituency.labels
    }  # type: ignore[union-attr]
    assert labels <= {
        "NOUN",
        "VERB",
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "DET",
        "NUM",
        "PRON",
        "PROPN",
        "PUNCT",
        "X",
        "SCONJ",
        "CCONJ",
        "PART",
    }


def test_links_in_misc(tmp_path: Path) -> None:
    tokens = Tokens(
        ["er", "sah", "alte", "Hunde"], upos=["PRON", "VERB", "ADJ", "NOUN"], misc=["_", "SpaceAfter=No", "_", "_"]
    )
    tree = DependencyTree(tokens, [1, -1, 3, 1], ["nsubj", "root", "amod", "obj"])
    phrases = dependency_phrases(tree)
    assert phrases.labels == ("VERB", "NOUN") and phrases.functions == ("root", "obj")
    assert phrases.word_functions == ("nsubj", HEAD_FUNCTION, "amod", HEAD_FUNCTION)
    source = ParsedSentence(tokens, tree, phrases, "s1")
    other = ParsedSentence(Tokens(["x"]), None, None, "t2")
    pairs = [
        AlignedPair(source, source, [Link(0, 0), Link(0, 2, "fuzzy")], [Link(1, 1, "good", 0.5), Link(0, ~1)]),
        AlignedPair(source, other, [Link(2, 0)]),
    ]
    assert write_linked_conllu(pairs, tmp_path / "s", tmp_path / "t") == (1, 2)
    (again,) = read_conllu(tmp_path / "s")
    assert again.comments == ("# sent_id = s1", "# align = s1 t2")
    assert again.tokens.misc == ("Align=s1:1,s1:3?", "SpaceAfter=No|Subtree=s1:2", "Align=t2:1", "Subtree=s1:4/0.5")
