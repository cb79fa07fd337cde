"""`treeglot trees convert|show|stats` over all formats."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from cli_runner import Run
from treeglot.examples import generate
from treeglot.trees import AlignedPair
from treeglot.trees.formats import read_links, read_pairs, read_sentences
from treeglot.trees.treejson import write_jsonl


@pytest.fixture(scope="module")
def pairs() -> list[AlignedPair]:
    return list(generate(25, seed=3))


@pytest.fixture
def folder(tmp_path: Path, pairs: list[AlignedPair]) -> Path:
    write_jsonl(pairs, tmp_path / "pairs.jsonl")
    write_jsonl([pair.source for pair in pairs], tmp_path / "zh.jsonl")
    write_jsonl([pair.target for pair in pairs], tmp_path / "en.jsonl")
    return tmp_path


SENTENCE_ENDINGS = ["conllu", "penn", "bracketed", "tiger.xml", "jsonl"]


@pytest.mark.parametrize("middle", SENTENCE_ENDINGS)
@pytest.mark.parametrize("last", SENTENCE_ENDINGS)
def test_every_tree_format_to_every_other(
    run: Run, folder: Path, pairs: list[AlignedPair], middle: str, last: str
) -> None:
    for language, side in (("zh", "source"), ("en", "target")):
        between, written = folder / f"{language}.1.{middle}.gz", folder / f"{language}.2.{last}"
        assert run("trees", "convert", folder / f"{language}.jsonl", between).code == 0
        result = run("trees", "convert", between, written)
        assert result.code == 0, result.err
        read = list(read_sentences(written))
        gold = [getattr(pair, side) for pair in pairs]
        assert [sentence.tokens.forms for sentence in read] == [sentence.tokens.forms for sentence in gold]
        dependencies = ("conllu", "bracketed", "jsonl")
        if middle in dependencies and last in dependencies and "jsonl" not in (middle, last):
            assert [s.dependency.heads for s in read if s.dependency] == [g.dependency.heads for g in gold]
        if middle in ("penn", "tiger.xml") and last in ("penn", "tiger.xml"):
            assert [s.constituency.labels for s in read if s.constituency] == [g.constituency.labels for g in gold]
        crossing_kinds = (middle in ("conllu", "bracketed")) != (last in ("conllu", "bracketed"))
        if crossing_kinds and "jsonl" not in (middle, last):
            assert "trees by heads" in result.err or "from dependencies" in result.err, "it must say what it made"


def test_links_and_pairs(run: Run, folder: Path, pairs: list[AlignedPair]) -> None:
    plain = [tuple(link._replace(score=None) for link in pair.word_links) for pair in pairs]
    assert run("trees", "convert", folder / "pairs.jsonl", folder / "a.pharaoh").code == 0
    assert [entry.links for entry in read_links(folder / "a.pharaoh")] == plain
    texts = []
    for language, side in (("zh", "source"), ("en", "target")):
        path = folder / f"text.{language}"
        path.write_text("".join(" ".join(getattr(pair, side).tokens.forms) + "\n" for pair in pairs), encoding="utf-8")
        texts.append(path)
    named = ["--source", texts[0], "--target", texts[1]]
    assert run("trees", "convert", folder / "a.pharaoh", folder / "a.a3", *named).code == 0
    giza = list(read_links(folder / "a.a3"))
    assert [entry.links for entry in giza] == plain
    assert giza[0].source == pairs[0].source.tokens.forms
    for start in ("a.a3", "a.pharaoh"):
        assert run("trees", "convert", folder / start, folder / "a.naacl").code == 0
        assert [entry.links for entry in read_links(folder / "a.naacl")] == plain
    trees = ["--source", folder / "zh.jsonl", "--target", folder / "en.jsonl"]
    assert run("trees", "convert", folder / "a.pharaoh", folder / "b.jsonl", *trees).code == 0
    assert [pair.word_links for pair in read_pairs(folder / "b.jsonl")] == plain
    assert run("trees", "convert", folder / "pairs.jsonl", folder / "c.sta.xml").code == 0
    read = list(read_pairs(folder / "c.sta.xml"))
    for pair, expected in zip(read, pairs, strict=True):
        assert pair.node_links == tuple(link for link in expected.node_links if max(link[:2]) >= 0)
        assert pair.word_links == expected.word_links
    assert run("trees", "convert", folder / "c.sta.xml", folder / "d.jsonl").code == 0
    assert run("trees", "convert", folder / "c.sta.xml", folder / "d.pharaoh").code == 0
    assert run("trees", "convert", folder / "c.sta.xml", folder / "d.penn", "--side", "target").code == 0
    assert len(list(read_sentences(folder / "d.penn"))) == len(pairs)


def test_two_files_joined(run: Run, folder: Path, pairs: list[AlignedPair]) -> None:
    assert run("trees", "convert", folder / "zh.jsonl", folder / "zh.conllu").code == 0
    assert run("trees", "convert", folder / "zh.jsonl", folder / "zh.penn").code == 0
    assert run("trees", "convert", folder / "zh.conllu", folder / "both.jsonl", "--with", folder / "zh.penn").code == 0
    for sentence, pair in zip(read_sentences(folder / "both.jsonl"), pairs, strict=True):
        assert sentence.dependency is not None and sentence.constituency is not None
        assert sentence.constituency.labels == pair.source.constituency.labels  # type: ignore[union-attr]
    short = folder / "short.penn"
    short.write_text("\n".join((folder / "zh.penn").read_text(encoding="utf-8").splitlines()[:3]), encoding="utf-8")
    wrong = run("trees", "convert", folder / "zh.conllu", folder / "x.jsonl", "--with", short)
    assert wrong.code == 1 and "ends after 3 sentences" in wrong.err
    swapped = run("trees", "convert", folder / "en.jsonl", folder / "x.jsonl", "--with", folder / "zh.penn")
    assert swapped.code == 1 and "different tokens" in swapped.err


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("pairs.jsonl", "x.conllu", "choose one with --side"),
        ("zh.jsonl", "x.pharaoh", "no links"),
        ("zh.jsonl", "x.sta.xml", "one side alone"),
        ("zh.jsonl", "x.unknown", "--to"),
        ("zh.jsonl", "no/such/folder/x.penn", "create it first"),
    ],
)
def test_impossible_conversions(run: Run, folder: Path, source: str, target: str, says: str) -> None:
    result = run("trees", "convert", folder / source, folder / target)
    assert result.code == 1 and says in result.err, result.err


def test_show(run: Run, folder: Path, pairs: list[AlignedPair]) -> None:
    text = run("trees", "show", folder / "zh.jsonl", "--sentence", "2")
    assert text.code == 0 and all(form in text.out for form in pairs[1].source.tokens.forms)
    svg = run("trees", "show", folder / "pairs.jsonl", "--sentence", "3", "--svg")
    root = ElementTree.fromstring(svg.out)
    drawn = "".join(root.itertext())
    assert all(form in drawn for form in pairs[2].target.tokens.forms)
    html = run("trees", "show", folder / "zh.jsonl", "--html", "-o", folder / "page.html")
    assert html.code == 0 and html.out == ""
    assert pairs[-1].source.tokens.forms[0] in (folder / "page.html").read_text(encoding="utf-8")
    shown = run("trees", "show", folder / "zh.jsonl", "--html", "--sentence", "1")
    assert shown.out.startswith("<!DOCTYPE html>")
    missing = run("trees", "show", folder / "zh.jsonl", "--sentence", "999")
    assert missing.code == 1 and "from 1 to 25" in missing.err
    both = run("trees", "show", folder / "zh.jsonl", "--svg", "--html")
    assert both.code == 1 and "choose one" in both.err


def test_stats(run: Run, folder: Path, pairs: list[AlignedPair]) -> None:
    result = json.loads(run("trees", "stats", folder / "pairs.jsonl", "--json").out)
    assert result["pairs"] == len(pairs)
    assert result["word links"] == sum(len(pair.word_links) for pair in pairs)
    assert result["source"]["words"] == sum(len(pair.source) for pair in pairs)
    table = run("trees", "stats", folder / "zh.jsonl")
    assert table.code == 0 and f"{sum(len(pair.source) for pair in pairs):,}" in table.out
