"""Damaged and unfit files for ``trees align``, ``evaluate``, ``show`` and ``train-aligner``.

Every case must end with exit code 1, the file (and the line, where there is one), the cause and a remedy, and must leave
the folder as it was: no output file, not even a part of one.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from pathlib import Path

import pytest

from cli_runner import Result, Run, make_runner
from subtree_corpus import corpus
from treeglot.alignment.subtrees.model import SubtreeAligner
from treeglot.alignment.subtrees.training import train_aligner
from treeglot.trees.formats import read_pairs
from treeglot.trees.nodelinks import write_node_links
from treeglot.trees.penn import write_penn
from treeglot.trees.sentence import AlignedPair
from treeglot.trees.treealigner import write_aligned_pairs
from treeglot.trees.treejson import write_jsonl

PAIRS = corpus(24)
CYCLE = "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n3\tc\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CHAIN = "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def model() -> SubtreeAligner:
    return train_aligner(PAIRS[:16], PAIRS[16:], features="paper", passes=1, tune=False, terms=("plain", "dBTK-Root"))


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, model: SubtreeAligner, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A treebank in all formats (``bank``), another one (``other``), a shorter one (``short``), and damaged files."""
    monkeypatch.chdir(tmp_path)
    for name, pairs in (("bank", PAIRS), ("other", corpus(24, seed=7)), ("short", PAIRS[:9])):
        write_aligned_pairs(pairs, f"{name}.sta.xml", f"{name}.s.tiger.xml", f"{name}.t.tiger.xml")
        write_jsonl(pairs, f"{name}.jsonl")
        write_node_links(pairs, f"{name}.nodes")
        for side in ("source", "target"):
            write_penn([getattr(pair, side) for pair in pairs], f"{name}.{side[0]}.penn")
    model.save("m.aligner")
    Path("cut.aligner").write_bytes(Path("m.aligner").read_bytes()[:-1000])
    Path("short.aligner").write_bytes(Path("m.aligner").read_bytes()[:40])
    flipped = bytearray(Path("m.aligner").read_bytes())
    flipped[len(flipped) // 2] ^= 1
    Path("flipped.aligner").write_bytes(flipped)
    links, trees = Path("bank.sta.xml").read_text("utf-8"), Path("bank.s.tiger.xml").read_text("utf-8")
    Path("cut.sta.xml").write_text(links[: len(links) // 2])
    Path("half.sta.xml").write_text(links.replace("bank.s.tiger", "half.s.tiger"))
    Path("half.s.tiger.xml").write_text(trees[: len(trees) // 2])
    Path("gone.sta.xml").write_text(links.replace("bank.s.tiger", "gone.s.tiger"))
    first = re.search(r'node_id="(\w+)"', links)
    assert first is not None
    Path("node.sta.xml").write_text(links.replace(first[1], "s1_999", 1))
    # In the first sentence one phrase is moved below its own child.
    inner = re.findall(r'<nt id="(\w+)"', trees)[:3]
    edge = f'<edge idref="{inner[2]}"/>'
    parent = trees.index(f'<edge idref="{inner[2]}"')
    end = trees.index("/>", parent) + 2
    looped = trees[:parent] + trees[end:]
    at = looped.index(f'<nt id="{inner[2]}"')
    at = looped.index(">", at) + 1
    Path("loop.s.tiger.xml").write_text(looped[:at] + edge + looped[at:])
    Path("loop.sta.xml").write_text(links.replace("bank.s.tiger", "loop.s.tiger"))
    Path("cycle.conllu").write_text(CYCLE)
    Path("chain.conllu").write_text(CHAIN)
    for name in ("empty.jsonl", "empty.penn", "empty.sta.xml", "empty.nodes", "empty.aligner"):
        Path(name).write_bytes(b"")
    Path("blank.penn").write_text("\n\n")
    write_jsonl([AlignedPair(pair.source, pair.target, id=pair.id) for pair in PAIRS], "bare.jsonl")
    lines = Path("bank.s.penn").read_text("utf-8").splitlines()
    Path("open.penn").write_text("\n".join([*lines[:-1], lines[-1][:-1]]) + "\n")
    Path("inside").mkdir()
    return tmp_path


Files = dict[str, str]


def contents(folder: Path) -> Files:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()
    }


ALIGN, SCORE, TRAIN = "trees align", "trees evaluate", "trees train-aligner"
OUT = "--out out.sta.xml"
CASES = [
    # what is not there
    (f"{ALIGN} no.penn bank.t.penn {OUT}", "no.penn: no such file"),
    (f"{ALIGN} bank.s.penn no.penn {OUT}", "no.penn: no such file"),
    (f"{ALIGN} no.sta.xml --out out.jsonl", "no.sta.xml: no such file"),
    (f"{ALIGN} bank.sta.xml --model no.aligner {OUT}", "no.aligner: no such file"),
    (f"{ALIGN} bank.sta.xml --lex no {OUT}", "no.f2e: no such file"),
    (f"{ALIGN} gone.sta.xml {OUT}", r"gone.sta.xml:\d+: no file 'gone.s.tiger.xml'"),
    (f"{SCORE} no.sta.xml bank.sta.xml", "no.sta.xml: no such file"),
    (f"{SCORE} bank.sta.xml no.nodes", "no.nodes: no such file"),
    (f"{TRAIN} no.sta.xml --out out.aligner", "no.sta.xml: no such file"),
    ("trees show bank.sta.xml --system no.jsonl --html --out out.html", "no.jsonl: no such file"),
    # damaged models
    (f"{ALIGN} bank.sta.xml --model cut.aligner {OUT}", "cut.aligner:1: damaged or truncated"),
    (f"{ALIGN} bank.sta.xml --model short.aligner {OUT}", "short.aligner:1: damaged or truncated"),
    (f"{ALIGN} bank.sta.xml --model flipped.aligner --out out.nodes", "flipped.aligner:1: damaged"),
    (f"{ALIGN} bank.sta.xml --model empty.aligner {OUT}", "empty.aligner:1: not a sub-tree aligner"),
    (f"{ALIGN} bank.sta.xml --model bank.jsonl {OUT}", "bank.jsonl:1: not a sub-tree aligner"),
    # files that end too early
    (f"{ALIGN} cut.sta.xml {OUT}", r"cut.sta.xml:\d+:\d+: the XML ends too early"),
    (f"{ALIGN} half.sta.xml {OUT}", r"half.s.tiger.xml:\d+:\d+: the XML ends too early"),
    (f"{ALIGN} half.s.tiger.xml bank.t.tiger.xml --out out.jsonl", r"half.s.tiger.xml:\d+:\d+: the XML ends"),
    (f"{ALIGN} open.penn bank.t.penn {OUT}", "open.penn:24: the file ends inside the tree"),
    (f"{ALIGN} open.penn bank.t.penn --model m.aligner --out out.jsonl", "open.penn:24: the file ends inside"),
    (f"{SCORE} cut.sta.xml bank.sta.xml", r"cut.sta.xml:\d+:\d+: the XML ends too early"),
    (f"{SCORE} bank.sta.xml cut.sta.xml", r"cut.sta.xml:\d+:\d+: the XML ends too early"),
    (f"{TRAIN} cut.sta.xml --out out.aligner", r"cut.sta.xml:\d+:\d+: the XML ends too early"),
    (f"{TRAIN} bank.sta.xml --dev cut.sta.xml --out out.aligner", r"cut.sta.xml:\d+:\d+: the XML ends"),
    ("trees show cut.sta.xml --html --out out.html", r"cut.sta.xml:\d+:\d+: the XML ends too early"),
    ("trees show open.penn --html --out out.html", "open.penn:24: the file ends inside the tree"),
    # trees that are none, nodes that are not there
    (f"{ALIGN} cycle.conllu chain.conllu {OUT}", "cycle.conllu:1:13: a cycle: 1"),
    (f"{ALIGN} chain.conllu cycle.conllu --out out.jsonl", "cycle.conllu:1:13: a cycle: 1"),
    (f"{ALIGN} loop.sta.xml {OUT}", r"loop.s.tiger.xml:\d+:\d+: sentence s1: '\w+' is in a cycle"),
    (f"{SCORE} bank.sta.xml loop.sta.xml", r"loop.s.tiger.xml:\d+:\d+: sentence s1: '\w+' is in a cycle"),
    ("trees show loop.sta.xml --html --out out.html", r"loop.s.tiger.xml:\d+:\d+: .* is in a cycle"),
    ("trees show cycle.conllu", "cycle.conllu:1:13: a cycle"),
    (f"{ALIGN} node.sta.xml {OUT}", r"node.sta.xml:\d+: no node 's1_999'"),
    # sentences that do not belong together
    (f"{ALIGN} short.s.penn bank.t.penn {OUT}", "short.s.penn:9: ends after 9 sentences, but bank.t.penn has more"),
    (
        f"{ALIGN} bank.s.penn short.t.penn --out out.jsonl",
        "short.t.penn:9: ends after 9 sentences, but bank.s.penn has more",
    ),
    (f"{ALIGN} bank.s.penn short.t.penn --model m.aligner {OUT}", "short.t.penn:9: ends after 9 sentences, but"),
    (f"{SCORE} bank.sta.xml other.sta.xml", r"other.sta.xml: pair 1 .*the source tree is not .*: word \d is '"),
    (f"{SCORE} bank.sta.xml other.jsonl", r"other.jsonl: pair 1 .*: the source tree is not that of bank.sta.xml: word"),
    (f"{SCORE} bank.sta.xml short.jsonl", "short.jsonl: 9 pairs, but bank.sta.xml has 24"),
    (f"{SCORE} short.jsonl bank.sta.xml", "bank.sta.xml: 24 pairs, but short.jsonl has 9"),
    (f"{SCORE} bank.sta.xml short.nodes", "short.nodes:9: 9 lines, but more pairs"),
    (f"{SCORE} short.sta.xml bank.nodes", "bank.nodes:10: more lines than the 9 pairs"),
    (f"{SCORE} bank.sta.xml bank.s.penn", "bank.s.penn:1: this penn file does not hold aligned pairs"),
    (f"{SCORE} bank.s.penn bank.sta.xml", "bank.s.penn: holds no aligned pairs"),
    ("trees show bank.sta.xml --system other.jsonl --html --out out.html", "other.jsonl: pair 1 .*the source tree"),
    # nothing in them
    (f"{ALIGN} empty.penn empty.penn {OUT}", "empty.penn:1: the file is empty"),
    (f"{ALIGN} empty.penn bank.t.penn {OUT}", "empty.penn:1: the file is empty"),
    (f"{ALIGN} empty.jsonl --out out.jsonl", "empty.jsonl:1: the file is empty"),
    (f"{ALIGN} empty.sta.xml {OUT}", "empty.sta.xml:1: the file is empty"),
    (f"{ALIGN} blank.penn blank.penn {OUT}", "blank.penn:1: no sentence pairs"),
    (f"{ALIGN} blank.penn blank.penn --model m.aligner {OUT}", "blank.penn:1: no sentence pairs"),
    (f"{SCORE} empty.jsonl empty.jsonl", "empty.jsonl:1: the file is empty"),
    (f"{SCORE} bank.sta.xml empty.nodes", "empty.nodes:1: 0 lines, but more pairs"),
    (f"{SCORE} bank.sta.xml empty.jsonl", "empty.jsonl:1: the file is empty"),
    (f"{TRAIN} empty.jsonl --out out.aligner", "empty.jsonl:1: the file is empty"),
    (f"{TRAIN} bare.jsonl --out out.aligner", "bare.jsonl: no links between phrases"),
    (f"{TRAIN} bank.jsonl --dev bare.jsonl --out out.aligner", "bare.jsonl: no links between phrases"),
    ("trees show empty.penn --html --out out.html", "empty.penn:1: the file is empty"),
    ("trees show blank.penn", "blank.penn: no sentences"),
    # places that cannot be written to: found out before the work
    (f"{ALIGN} cut.sta.xml --out nowhere/out.jsonl", "nowhere: the folder does not exist"),
    (f"{ALIGN} cut.sta.xml --out inside", "inside: is a folder"),
    (f"{TRAIN} cut.sta.xml --out nowhere/out.aligner", "nowhere: the folder does not exist"),
    (f"{TRAIN} cut.sta.xml --out inside", "inside: is a folder"),
    ("trees show cut.sta.xml --html --out nowhere/out.html", "nowhere: the folder does not exist"),
    # options that contradict each other
    (f"{ALIGN} bank.sta.xml --model m.aligner --method score1 {OUT}", "--method with --model"),
    (f"{ALIGN} bank.sta.xml --model m.aligner --lex x {OUT}", "--lex with --model"),
    (f"{ALIGN} bank.sta.xml --model m.aligner --least 2 {OUT}", "a least confidence of 2"),
]


def test_bad_input(folder: Path, run: Run) -> None:
    before = contents(folder)
    for command, says in CASES:
        result: Result = run(*command.split())
        assert result.code == 1, command
        assert re.search(f"^treeglot: {says}", result.err, re.MULTILINE), f"{command}\n{result.err}"
        assert "\n  remedy: " in result.err and "Traceback" not in result.err, f"{command}\n{result.err}"
        assert contents(folder) == before, f"{command} left or changed files"


def test_pages_before_a_damaged_tree_are_not_left_behind(folder: Path, run: Run) -> None:
    (folder / "late.penn").write_text("(S (N a) (V b))\n" * 2500 + "(S (N a)\n")
    assert run("trees", "show", "late.penn", "--html", "--out", "late.html").code == 1
    assert not list(folder.glob("late*.html")) and not list(folder.glob(".late*"))


def test_gold_without_phrase_links_is_named(folder: Path, run: Run) -> None:
    result = run("trees", "evaluate", "bare.jsonl", "bank.jsonl")
    assert result.code == 0 and "bare.jsonl: no links between phrases" in result.err


def test_pipes_can_be_aligned(folder: Path, run: Run) -> None:
    """The word tables need the words before the trees are aligned; a pipe can be read once only."""
    os.mkfifo("pipe.s.penn")

    def fill() -> None:
        Path("pipe.s.penn").write_bytes(Path("bank.s.penn").read_bytes())

    feeder = threading.Thread(target=fill)
    feeder.start()
    piped = run("trees", "align", "pipe.s.penn", "bank.t.penn", "--out", "piped.nodes")
    feeder.join(10)
    assert piped.code == 0 and "24 pairs" in piped.err
    assert run("trees", "align", "bank.s.penn", "bank.t.penn", "--out", "plain.nodes").code == 0
    assert Path("piped.nodes").read_text() == Path("plain.nodes").read_text() != ""


def test_word_links_that_come_along_with_a_model(folder: Path, run: Run) -> None:
    assert run("trees", "align", "bank.s.penn", "bank.t.penn", "--out", "lexical.jsonl").code == 0
    arguments = ("trees", "align", "lexical.jsonl", "--model", "m.aligner", "--out", "new.jsonl")
    result = run(*arguments)
    assert result.code == 0 and "the word links are those of lexical.jsonl" in result.err
    before, after = (list(read_pairs(name)) for name in ("lexical.jsonl", "new.jsonl"))
    assert [p.word_links for p in before] == [p.word_links for p in after] and any(p.word_links for p in after)
    scores = sorted(link.score or 0 for pair in after for link in pair.node_links)
    least = scores[len(scores) // 2]
    result = run(*arguments, "--no-words", "--least", least)
    assert result.code == 0 and "are those of" not in result.err
    few = list(read_pairs("new.jsonl"))
    assert not any(pair.word_links for pair in few)
    kept = [[link[:2] for link in pair.node_links if (link.score or 0) >= least] for pair in after]
    assert [[link[:2] for link in pair.node_links] for pair in few] == kept
    assert 0 < sum(map(len, kept)) < sum(len(pair.node_links) for pair in after)
