"""Rules of multi-word units: the worked example, and plain Python (mwu_reference) on small random pairs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from mwu_reference import Pair
from test_mwu_forest import projective_heads
from treeglot import TreeglotError
from treeglot.examples.worked import worked_example
from treeglot.grammars import registry
from treeglot.grammars.mwu import extract
from treeglot.grammars.rules import extract_words
from treeglot.pipeline.systems import TableSpec, preset
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import write_conllu
from treeglot.trees.corpus import parsed_bitext

# max_words 3, k 1000, nothing pruned: the 24 rules of the specification's worked example.
WORKED = """\
x1:NR/3 x1:AD/3 推出/0 x2:NN/3 ||| x1 launch x2 ||| 0.0176471
x1:NR/3 x1:AD/3 推出/0 x2:NR/7 x3:M/7 超极/7 本/3 ||| x1 launch x3 Ultrabook x2 ||| 0.0282353
x1:NR/3 x2:AD/3 推出/0 x3:NN/3 ||| x1 x2 launch x3 ||| 0.0117647
x1:NR/3 x2:AD/3 推出/0 x3:NR/7 x4:M/7 超极/7 本/3 ||| x1 x2 launch x4 Ultrabook x3 ||| 0.0211765
x1:NR/3 将/3 推出/0 x2:NN/3 ||| x1 will launch x2 ||| 0.08
x1:NR/4 x2:M/4 超极/4 本/0 ||| x2 Ultrabook x1 ||| 0.00992659
x1:NR/5 x2:OD/3 款/5 超极/5 本/0 ||| x2 Ultrabook x1 ||| 0.0415315
x1:OD/2 款/0 ||| x1 ||| 0.102831
亚洲/0 ||| in Asia ||| 0.486048
亚洲/0 款/0 ||| in Asia ||| 0.0878524
亚洲/3 超极/3 本/0 ||| Ultrabook in Asia ||| 0.0415315
亚洲/4 x1:M/4 超极/4 本/0 ||| x1 Ultrabook in Asia ||| 0.0415315
将/0 ||| will ||| 0.362141
将/2 推出/0 ||| will launch ||| 0.08
推出/0 ||| launch ||| 0.04
款/3 超极/3 本/0 ||| Ultrabook ||| 0.0415315
英特尔/0 ||| Intel ||| 0.405623
英特尔/0 将/0 ||| Intel will ||| 0.271352
英特尔/3 x1:AD/3 推出/0 x2:NN/3 ||| Intel x1 launch x2 ||| 0.0440816
英特尔/3 将/3 推出/0 x1:NN/3 ||| Intel will launch x1 ||| 0.12
英特尔/3 将/3 推出/0 ||| Intel will launch ||| 0.12
超极/2 本/0 ||| Ultrabook ||| 0.0297798
首/0 ||| the first ||| 0.592284
首/2 款/0 ||| the first ||| 0.141481
"""

OPTIONS = (
    "paper",
    "word_labels",
    "unaligned_source",
    "unaligned_target",
    "vertex_siblings",
    "consistent_first",
)
NATIVE = {
    "paper": {"consistency": "paper"},
    "word_labels": {"label": "word"},
    "unaligned_source": {"unaligned_source": True},
    "unaligned_target": {"unaligned_target": True},
    "vertex_siblings": {"siblings": "vertex"},
    "consistent_first": {"consistent_first": True},
}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[str], list[str], list[str], list[tuple[int, int]]]:
    heads = draw(projective_heads(7))
    words = [draw(st.sampled_from(["a", "b", "c/1", "x1", "x2:d"])) for _ in heads]
    tags = [draw(st.sampled_from(["N", "V"])) for _ in heads]
    target = [draw(st.sampled_from("stuvw")) for _ in range(draw(st.integers(0, 7)))]
    if not target:
        return heads, words, tags, target, []
    places = st.tuples(st.integers(0, len(heads) - 1), st.integers(0, len(target) - 1))
    straight = [(j, min(j, len(target) - 1)) for j in range(len(heads)) if draw(st.booleans())]
    return heads, words, tags, target, sorted({*straight, *draw(st.lists(places, max_size=3))})


def native(pair: Any, **options: Any) -> dict[tuple[str, str], float]:
    heads, words, tags, target, links = pair
    source = ParsedSentence.of(DependencyTree(Tokens(words, xpos=tags), heads))
    rules = extract_words("mwu", source, target, links, delta=0.0, **options)
    return {(rule.source, rule.target): rule.count for rule in rules}


def escaped(side: str) -> str:
    """The word x2:d would be read as a variable."""
    return re.sub(r"(^| |:)x2:d/", r"\1\\u00782:d/", side)


@given(pairs(), st.sets(st.sampled_from(OPTIONS), max_size=3), st.integers(1, 4), st.sampled_from([1, 3, 1000]))
def test_rules_are_those_of_the_definitions(pair: Any, options: set[str], max_words: int, k: int) -> None:
    given_options = {name: value for option in options for name, value in NATIVE[option].items()}
    expected = Pair(*pair).rules(max_words, k, **dict.fromkeys(options, True))
    rules = native(pair, max_words=max_words, k=k, **given_options)
    assert rules == pytest.approx({(escaped(source), target): count for (source, target), count in expected.items()})


@given(pairs(), st.sets(st.sampled_from(OPTIONS), max_size=2), st.integers(1, 4))
def test_factored_forests_have_the_rules_of_all_edges(pair: Any, options: set[str], max_words: int) -> None:
    given_options = {name: value for option in options for name, value in NATIVE[option].items()}
    complete = native(pair, max_words=max_words, k=100000, **given_options)
    assert native(pair, max_words=max_words, forest="factored", **given_options).keys() == complete.keys()


def test_worked_example(tmp_path: Path, run: Run) -> None:
    pair = worked_example()
    assert "".join(f"{rule}\n" for rule in extract(pair, max_words=3, k=1000)) == WORKED
    write_conllu([pair.source, pair.source], tmp_path / "s")
    (tmp_path / "t").write_text(f"{' '.join(pair.target.tokens.forms)}\n" * 2, encoding="utf-8")
    (tmp_path / "a").write_text(" ".join(f"{link.source}-{link.target}" for link in pair.word_links) + "\n\n")
    files = ["--source-conllu", tmp_path / "s", "--target", tmp_path / "t", "--align", tmp_path / "a"]
    result = run("rules", "extract", "mwu", *files, "--max-words", 3, "--k", 1000)
    assert result.out == f"{WORKED}\n\n"  # the second pair has no links, so no rules


def test_pruning_leaves_the_likely_rules() -> None:
    def rules(delta: float, **options: Any) -> dict[str, float]:
        return {r.source: r.count for r in extract(worked_example(), max_words=3, k=1000, delta=delta, **options)}

    everything, pruned, kept = rules(0.0), rules(0.02), rules(0.02, renormalise=False)
    assert 0 < len(pruned) < len(everything) and pruned.keys() <= everything.keys()
    assert kept.keys() == pruned.keys() and kept != pruned


def test_many_variants_become_the_shortest() -> None:
    pair = ([-1], ["f"], ["N"], [f"e{i}" for i in range(17)], [(0, 8)])
    assert native(pair, unaligned_target=True) == {("f/0", "e8"): 1.0}
    pair = ([-1], ["f"], ["N"], [f"e{i}" for i in range(7)], [(0, 3)])
    rules = native(pair, unaligned_target=True)
    assert len(rules) == 16 and rules["f/0", "e2 e3 e4 e5"] == pytest.approx(1 / 16)


def test_sources_are_read_as_they_are_written(tmp_path: Path) -> None:
    """Also words that look like variables or places."""
    words = ["x1:a", "b/2", "x2", "\\u0041", "|||"]
    source = ParsedSentence.of(DependencyTree(Tokens(words, xpos=["T"] * 5), [1, -1, 3, 1, 3]))
    links = [(j, j) for j in range(5)]
    build_rule_table("mwu", parsed_bitext([(source, ["x1", "e/1", "x3:c", "d", "f"], links)]), tmp_path / "t")
    table = RuleTable(tmp_path / "t", verify=True)
    assert len(table) > 20
    for rule in table:
        assert rule in table.lookup(rule.source)


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("a", "place of a head"),
        ("a/x", "place of a head"),
        ("/0", "without a word"),
        ("a/1", "another word"),
        ("a/3 b/0", "another word"),
        ("x2:N/0", "in order"),
        ("x1:N/2 a/0 x3:N/2", "in order"),
        ("x0:N/0", "from 1"),
    ],
)
def test_broken_sources(side: str, message: str, tmp_path: Path) -> None:
    pair = worked_example()
    links = [(link.source, link.target) for link in pair.word_links]
    build_rule_table("mwu", parsed_bitext([(pair.source, pair.target.tokens.forms, links)]), tmp_path / "t")
    with pytest.raises(TreeglotError, match=message):
        RuleTable(tmp_path / "t").lookup(side)


def test_tables_of_different_options_have_different_names() -> None:
    grammar = registry.grammar("mwu")
    specs = [
        TableSpec("mwu", ((option.name, choice),))
        for option in grammar.options
        for choice in option.choices
        if choice != option.default
    ]
    assert len({spec.name for spec in specs}) == len(specs) > 3
    assert TableSpec("mwu", (("label", "word"), ("outside", "paper"))).name == "mwu.word.outsidepaper"


def test_grammars_with_different_defaults_keep_them() -> None:
    for grammars in (("mwu", "stsg"), ("stsg", "mwu")):
        assert [table.name for table in preset("both", {"grammars": grammars}).tables] == ["mwu", "stsg"]
        given = preset("both", {"grammars": grammars, "max_words": 5})
        assert [table.name for table in given.tables] == ["mwu.max_words5", "stsg.max_words5"]
        assert given.decoder_options["grammars"]["max_words"] == 5
