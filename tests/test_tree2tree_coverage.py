"""Coverage of STSG and STSSG, with and without links of nodes, against plain Python on small pairs."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli_runner import Run
from test_licensed_phrases import Case
from test_tree2tree_decoder import TargetSide
from test_tree2tree_rules import columns
from tree2tree_reference import Limits, Reference, Span, apart
from treeglot._core import parsed
from treeglot.examples import Sizes, write_example
from treeglot.pipeline.coverage import RECOVERED, ForcedDecoder, outcomes
from treeglot.trees.corpus import ParsedBitext

Translations = dict[str, set[tuple[str, ...]]]


class Recovery:
    """What the rules of a pair make of its source: all translations of all spans, by category."""

    def __init__(self, case: Case, rules: Any, most: int, fuzzy: bool) -> None:
        self.fuzzy = fuzzy
        self.target = tuple(columns(case.trees[1])[0])
        self.writer = Reference(case.trees[0], ("S", [("N", "e")]), set())
        self.side = self.writer.source
        self.rules: dict[str, list[TargetSide]] = {}
        for text in rules:
            source, target = text.split(" ||| ")
            self.rules.setdefault(source, []).append(TargetSide(target))
        self.of: dict[Span, Translations] = {}
        for span in sorted(self.side.spans, key=lambda span: span[1] - span[0]):
            if len(self.side.covers[span]) <= most and (here := self.translate(span)):
                self.of[span] = here

    def any(self, span: Span) -> set[tuple[str, ...]]:
        return set().union(*self.of.get(span, {}).values())

    def translate(self, span: Span) -> Translations:
        here: Translations = {}
        inner = [s for s in self.of if span[0] <= s[0] and s[1] <= span[1] and s != span]
        for size in range(span[1] - span[0] + 1):
            for chosen in itertools.combinations(sorted(inner), size):
                if not all(apart(a, b) for a, b in itertools.combinations(chosen, 2)):
                    continue
                source, _, _ = self.writer.side(self.side, span, chosen, range(1, size + 1))
                for target in self.rules.get(source, ()):
                    tails = [
                        self.any(s) if self.fuzzy else self.of[s].get(wanted, set())
                        for s, wanted in zip(chosen, target.wanted, strict=True)
                    ]
                    for choice in itertools.product(*tails):
                        parts = [(item,) if isinstance(item, str) else choice[item - 1] for item in target.items]
                        words = tuple(itertools.chain.from_iterable(parts))
                        if len(words) <= len(self.target):
                            here.setdefault(target.category, set()).add(words)
        return here

    @property
    def whole(self) -> list[tuple[str, ...]]:
        """All translations of the source, by text."""
        glued: list[set[tuple[str, ...]]] = [{()}, *(set() for _ in range(self.side.size))]
        for end in range(1, self.side.size + 1):
            for begin in range(end):
                glued[end] |= {left + right for left in glued[begin] for right in self.any((begin, end))}
        return sorted(glued[-1])


@pytest.mark.parametrize("categories", ["strict", "fuzzy"])
@pytest.mark.parametrize("grammar", ["stsg", "stssg"])
def test_equals_the_slow_version(grammar: str, categories: str, tmp_path: Path) -> None:
    """Of its own target, and of others with the same words: nearly every pair has a rule for the whole of it."""
    choose = random.Random(f"{grammar} {categories}")
    seen: Counter[tuple[str, bool]] = Counter()
    most = 3 if grammar == "stssg" else 1
    for _ in range(50):
        case = Case(choose, longest=4)
        if choose.random() < 0.3:
            case.links = set()
        links, reading = choose.choice(("base", "dirc", "ewos")), choose.choice(("exact", "open"))
        given = choose.choice(({}, {"max_height": 1}, {"max_variables": 1}, {"max_words": 1, "max_frontier": 2}))
        bitext = parsed.ParsedBitext()
        case.add_to(bitext)
        limits = Limits(max_trees=most, reading=reading, **given)
        rules = Reference(*case.trees, case.links, case.nodes, limits).rules(links)
        recovery = Recovery(case, rules, most, categories == "fuzzy")
        options: dict[str, Any] = {"links": links, "reading": reading, "categories": categories, **given}
        outcome = outcomes(ParsedBitext(bitext), grammar, **options)
        whole = recovery.whole
        wanted = recovery.target in whole
        assert (outcome == [RECOVERED]) == wanted, (case.trees, case.links, case.nodes, options)
        seen["own", wanted] += 1
        forced = ForcedDecoder(ParsedBitext(bitext), grammar, options, tmp_path, False)
        for _ in range(3):
            other = tuple(choose.sample(recovery.target, choose.randint(1, len(recovery.target))))
            if whole and choose.random() < 0.5:
                other = choose.choice(whole)
            wanted = other in whole
            assert forced.can_make(0, other) == wanted, (case.trees, case.links, case.nodes, options, other)
            seen[links, wanted] += 1
    assert all(seen[kind, wanted] for kind in ("own", "base", "dirc", "ewos") for wanted in (True, False)), seen


def test_links_of_nodes_alone_make_rules() -> None:
    """A pair without word links is recovered by what its links of nodes license."""
    trees = ("S", [("A", "a"), ("B", "b")]), ("S", [("A", "u"), ("B", "v")])
    bitext = parsed.ParsedBitext()
    bitext.add(columns(trees[0]), columns(trees[1]), [], [(0, 0), (1, 1), (2, 2)])
    assert outcomes(ParsedBitext(bitext), "stsg") == ["combination"]
    assert outcomes(ParsedBitext(bitext), "stsg", links="dirc") == [RECOVERED]


def test_selected_pairs_have_all_their_links() -> None:
    choose = random.Random(1)
    bitext = parsed.ParsedBitext()
    cases = [Case(choose) for _ in range(8)]
    for case in cases:
        case.add_to(bitext)
    numbers = [5, 2, 2, 7]
    part = bitext.select(numbers)
    assert len(part) == 4 and any(bitext.node_links(n) for n in numbers)
    for place, n in enumerate(numbers):
        assert part.links(place) == bitext.links(n) and part.node_links(place) == bitext.node_links(n)
        for side, whole in ((part.source, bitext.source), (part.target, bitext.target)):
            assert side.sentence(place) == whole.sentence(n)
    assert len(bitext.select([])) == 0
    with pytest.raises(IndexError):
        bitext.select([8])


def test_command(run: Run, tmp_path: Path) -> None:
    write_example(tmp_path, sizes=Sizes(6, 1, 1, 0))
    files = ("--source-penn", tmp_path / "train.zh.penn", "--target-penn", tmp_path / "train.en.penn")
    command = ("coverage", "-g", "stsg", *files, "--align", tmp_path / "train.align", "--json", "--option")
    result = run(*command, "links=dirc")
    assert result.code == 1 and "no links of nodes" in result.err and "--nodes" in result.err
    (tmp_path / "nodes").write_text("0-0\n" * 6)
    nodes = ("--nodes", tmp_path / "nodes", "--first", "4")
    plain, both = (json.loads(run(*command, option, *nodes).out) for option in ("max_height=6", "links=ewos"))
    assert plain["pairs"] == both["pairs"] == 4 and both["recovered"] >= plain["recovered"] > 0
    assert run(*command, "links=ewos", "--nodes", tmp_path / "nodes", "--threshold", "2").code != 0
