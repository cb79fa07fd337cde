"""Phrase pairs that links of nodes license, against a slow version, and the tables of DirC and EWoS made with them."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from cli_runner import Run
from test_tree2tree_rules import columns, random_links, random_nodes, random_tree
from tree2tree_reference import Limits, Reference
from treeglot import ConfigError
from treeglot._core import parsed
from treeglot._core import tables as core
from treeglot.grammars import phrases
from treeglot.pipeline.systems import TableSpec, preset
from treeglot.tables import PhraseTable, build_parsed_phrase_table
from treeglot.tables.build import count_phrases, parsed_phrases

Spans = set[tuple[int, int, int, int]]
LinkUse = Literal["base", "dirc", "ewos"]
Reading = Literal["exact", "open"]
READINGS: tuple[Reading, Reading] = ("exact", "open")


class Case:
    """A random pair with links of words and of nodes."""

    def __init__(self, choose: random.Random, longest: int = 6) -> None:
        self.sizes = choose.randint(1, longest), choose.randint(1, longest)
        self.trees = tuple(random_tree(choose, size, side) for size, side in zip(self.sizes, "fe", strict=True))
        self.links = random_links(choose, *self.sizes)
        self.nodes = random_nodes(choose, *self.trees)
        if choose.random() < 0.5:  # many words linked: licensed sequences
            words = range(min(self.sizes))
            self.nodes = sorted({*self.nodes, *((~j, ~choose.choice(words)) for j in words)})

    def add_to(self, bitext: parsed.ParsedBitext) -> None:
        sides = [columns(tree) for tree in self.trees]
        numbers = {
            tuple(node if node >= 0 else len(side[3]) + ~node for node, side in zip(link, sides, strict=True))
            for link in self.nodes
        }
        bitext.add(sides[0], sides[1], sorted(self.links), sorted(numbers))  # type: ignore[arg-type]

    def licensed(self, reading: str, max_length: int) -> Spans:
        """By trying all pairs of spans."""
        slow = Reference(*self.trees, self.links, self.nodes, Limits(reading=reading))
        result = set()
        for f in slow.source.spans:
            targets = [e for e in slow.target.spans if slow.licensed(f, e)]
            if reading == "open":
                targets = sorted(targets, key=lambda e: (e[1] - e[0], e[0]))[:1]
            result |= {(*f, *e) for e in targets}
        return {span for span in result if max(span[1] - span[0], span[3] - span[2]) <= max_length}

    def consistent(self, max_length: int) -> Spans:
        spans = core.extract(*self.sizes, sorted(self.links), max_length)
        return {(a, b, c, d) for a, b, c, d, _, _ in spans}

    def words(self, spans: Spans) -> list[tuple[str, str]]:
        source, target = (columns(tree)[0] for tree in self.trees)
        return [(" ".join(source[a:b]), " ".join(target[c:d])) for a, b, c, d in spans]


@pytest.mark.parametrize("reading", READINGS)
def test_licensed_equals_the_slow_version(reading: Reading) -> None:
    choose = random.Random(reading)
    sizes: Counter[int] = Counter()
    for _ in range(300):
        case, max_length = Case(choose), choose.choice((1, 2, 4, 7))
        bitext = parsed.ParsedBitext()
        case.add_to(bitext)
        spans = core.licensed(bitext, 0, max_length, reading == "open")
        assert spans == sorted(case.licensed(reading, max_length)), (case.trees, case.nodes, max_length)
        sizes[len(spans)] += 1
    assert len(sizes) > 5


def test_many_trees_are_assigned_in_any_order() -> None:
    """Twenty words on both sides, linked in a circle and crosswise: there are too many orders to try them."""
    words = range(20)
    flat = [("S", [("N", f"{side}{n}") for n in words]) for side in "fe"]
    bitext = parsed.ParsedBitext()
    links = {(1 + n, 1 + (n + shift) % 20) for n in words for shift in (0, 1, 7)}
    bitext.add(columns(flat[0]), columns(flat[1]), [], sorted(links))
    assert (0, 20, 0, 20) not in core.licensed(bitext, 0, 20, False)  # a cover of one tree each, which is not linked
    assert (0, 19, 1, 20) in core.licensed(bitext, 0, 20, False)


def corpus(seed: int) -> tuple[list[Case], parsed.ParsedBitext]:
    choose = random.Random(seed)
    cases = [Case(choose) for _ in range(12)]
    bitext = parsed.ParsedBitext()
    for case in cases:
        case.add_to(bitext)
    return cases, bitext


def counted(cases: list[Case], links: LinkUse, reading: str, max_length: int) -> Counter[tuple[str, str]]:
    expected: Counter[tuple[str, str]] = Counter()
    for case in cases:
        words, nodes = case.consistent(max_length), case.licensed(reading, max_length)
        if links == "ewos":
            expected.update(case.words(words | nodes))
        else:
            expected.update(case.words(words))
            expected.update(case.words(nodes) if links == "dirc" else [])
    return expected


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("links", ["base", "dirc", "ewos"])
def test_counts(links: LinkUse, reading: Reading, tmp_path: Path) -> None:
    for seed in range(5):
        cases, bitext = corpus(seed)
        expected = counted(cases, links, reading, 4)
        out = io.BytesIO()
        count_phrases(parsed_phrases(bitext, links, reading, 4), out, max_length=4)
        lines = [line.split(" ||| ") for line in out.getvalue().decode("utf-8").splitlines()]
        assert {(source, target): int(count) for source, target, count in lines} == expected
        build_parsed_phrase_table(bitext, tmp_path / "t", links=links, reading=reading, max_length=4)
        table = PhraseTable(tmp_path / "t")
        assert {(entry.source, entry.target): entry.count for entry in table} == expected
        for entry in table:
            assert all(0 < score <= 1 for score in entry.scores), "unaligned words come from nothing"
            assert entry.reordering is not None and sum(entry.reordering) == pytest.approx(2, abs=1e-3)


def test_further_alignments_add_consistent_pairs_only(tmp_path: Path) -> None:
    cases, again = corpus(3)
    links = [sorted(case.links) for case in cases]
    starts = np.cumsum([0, *map(len, links)])
    again.add_links(np.array([link for part in links for link in part], np.int32), starts.astype(np.int64), False)
    expected = counted(cases, "dirc", "exact", 7) + counted(cases, "base", "exact", 7)
    build_parsed_phrase_table(again, tmp_path / "t", links="dirc")
    assert {(entry.source, entry.target): entry.count for entry in PhraseTable(tmp_path / "t")} == expected


def test_pairs_without_trees_have_none() -> None:
    bitext = parsed.ParsedBitext()
    bitext.add((["a", "b"], [], [], []), (["u"], [], [], []), [(0, 0)])
    bitext.add(([], [], [], []), ([], [], [], []), [])
    bitext.add((["a"], [], [], []), (["u"], [], [], []), [], [(0, 0)])  # a word is a tree
    assert [core.licensed(bitext, n, 7, False) for n in range(3)] == [[], [], [(0, 1, 0, 1)]]
    with pytest.raises(IndexError):
        core.licensed(bitext, 3, 7, False)


def test_presets_have_tables_of_their_own() -> None:
    tables = [preset(name).phrase_table for name in phrases.PRESETS]
    assert [table.name for table in tables if table] == ["phrases", "phrases.dirc", "phrases.ewos"]
    openly = preset("mine", {"grammars": ("phrases",), "links": "dirc", "reading": "open"})
    assert openly.phrase_table and openly.phrase_table.name == "phrases.dirc.open"
    assert openly.training_needs == {"constituency"} == openly.target_needs and not openly.needs
    assert not preset("phrases").training_needs and not preset("phrases").target_needs
    assert preset("stssg-dirc").phrase_table is None
    assert TableSpec("phrases").needs == frozenset()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "f").write_text("(S (NP (D das) (N haus)) (V brennt))\n")
    (tmp_path / "e").write_text("(S (NP (D the) (N house)) (VP (V is) (V burning)))\n")
    (tmp_path / "a").write_text("0-0 1-1 2-3\n")
    (tmp_path / "n").write_text("0-0 1-1 w2-2:0.4\n")
    names = {"--source-penn": "f", "--target-penn": "e", "--align": "a", "--nodes": "n"}
    return {option: tmp_path / name for option, name in names.items()}


def test_commands(files: dict[str, Any], run: Run, tmp_path: Path) -> None:
    given = [item for pair in files.items() for item in pair]
    lines = run("rules", "extract", "phrases", *given, "--links", "dirc").out.splitlines()
    assert "das haus ||| the house ||| 2" in lines and "das ||| the ||| 1" in lines
    assert "brennt ||| is burning ||| 1" in lines
    lower = run("rules", "extract", "phrases", *given, "--links", "dirc", "--threshold", "0.3").out.splitlines()
    assert "brennt ||| is burning ||| 2" in lower
    once = run("rules", "extract", "phrases", *given, "--links", "ewos", "--threshold", "0.3").out.splitlines()
    assert all(line.endswith(" 1") for line in once) and len(once) == len(lines)
    result = run("rules", "build", *given, "--links", "dirc", "--reading", "open", "-o", tmp_path / "t")
    assert result.code == 0 and len(PhraseTable(tmp_path / "t")) == len(lines)


def test_wrong_commands(files: dict[str, Any], run: Run) -> None:
    given = [item for pair in files.items() for item in pair]
    for arguments, says in (
        (given, "plain text"),
        ([*given[:-2], "--links", "dirc"], "--links dirc without links of nodes"),
        (["--source", "x", "--target", "y", *given[4:], "--links", "ewos"], "--nodes without constituency trees"),
    ):
        result = run("rules", "extract", "phrases", *arguments)
        assert result.code == 1 and says in result.err
    for grammar in ("stsg", "stssg"):
        result = run("rules", "extract", grammar, *given[:-2], "--links", "dirc")
        assert result.code == 1 and "without links of nodes" in result.err


def test_a_limit_that_no_table_holds() -> None:
    with pytest.raises(Exception, match="phrases of at most"):
        build_parsed_phrase_table(parsed.ParsedBitext(), "never", max_length=1000)
    with pytest.raises(ConfigError):
        preset("mine", {"grammars": ("phrase",)})
