"""Coverage: whether the rules of a pair can rebuild its target, against plain Python and against the decoder's own lists."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from mwu_reference import Pair
from random_worlds import random_sentence
from test_mwu_rules import NATIVE, OPTIONS, pairs
from treeglot import TreeglotError, lm
from treeglot.examples import Sizes, write_example
from treeglot.examples.worked import worked_example
from treeglot.grammars import registry
from treeglot.pipeline.coverage import REASONS, RECOVERED, Coverage, coverage, length_class, outcomes
from treeglot.pipeline.coverage_page import page, plots
from treeglot.search import Translation, forest_decoder, start_weights
from treeglot.tables import build_phrase_table
from treeglot.tables.rules import build_rule_table
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import write_conllu
from treeglot.trees.corpus import ParsedBitext, parsed_bitext, parsed_corpus


def bitext_of(pair: Any) -> ParsedBitext:
    heads, words, tags, target, links = pair
    source = ParsedSentence.of(DependencyTree(Tokens(words, xpos=tags), heads))
    return parsed_bitext([(source, target, links)])


def worked() -> ParsedBitext:
    pair = worked_example()
    links = [(link.source, link.target) for link in pair.word_links]
    return parsed_bitext([(pair.source, pair.target.tokens.forms, links)])


@given(pairs(), st.sets(st.sampled_from(OPTIONS), max_size=3), st.integers(1, 4), st.sampled_from([1, 3, 1000]))
def test_units_recover_what_they_can_become(pair: Any, options: set[str], max_words: int, k: int) -> None:
    if any(word.startswith("x") for word in pair[1]):
        pair = (pair[0], [word.replace("x2:d", "d").replace("x1", "e") for word in pair[1]], *pair[2:])
    native = {name: value for option in options for name, value in NATIVE[option].items()}
    expected = Pair(*pair).recovered(max_words, k, **dict.fromkeys(options, True))
    (outcome,) = outcomes(bitext_of(pair), "mwu", max_words=max_words, k=k, delta=0.0, **native)
    assert (outcome == RECOVERED) == expected
    assert outcome in {RECOVERED, *REASONS}


@given(pairs(), st.integers(1, 4))
def test_factored_forests_recover_what_all_edges_do(pair: Any, max_words: int) -> None:
    bitext = bitext_of(pair)
    complete = outcomes(bitext, "mwu", max_words=max_words, k=100000, delta=0.0)
    assert outcomes(bitext, "mwu", max_words=max_words, forest="factored", delta=0.0) == complete


def test_reasons() -> None:
    chain = [-1, 0]
    assert outcomes(bitext_of((chain, ["a", "b"], ["T", "T"], ["s", "t"], [(0, 0)])), "mwu") == ["root"]
    assert outcomes(bitext_of((chain, ["a", "b"], ["T", "T"], ["s", "t"], [])), "mwu") == ["root"]
    # b has no links: alone it has no rule, but in a unit with a it has.
    no_links = bitext_of((chain, ["a", "b"], ["T", "T"], ["s"], [(0, 0)]))
    assert outcomes(no_links, "mwu", max_words=1) == ["word"]
    assert outcomes(no_links, "mwu", max_words=2) == [RECOVERED]
    assert outcomes(no_links, "mwu", max_words=1, unaligned_source=True) == [RECOVERED]
    crossing = bitext_of(([-1, 0, 1], ["a", "b", "c"], ["T"] * 3, ["t", "s", "u"], [(0, 1), (1, 0), (2, 2)]))
    assert outcomes(crossing, "mwu", max_words=1) == ["combination"]
    edge = bitext_of((chain, ["a", "b"], ["T", "T"], ["s", "t", "."], [(0, 0), (1, 1)]))
    assert outcomes(edge, "mwu") == ["root"] and outcomes(edge, "mwu", unaligned_target=True) == [RECOVERED]


def translations(
    folder: Path, grammar: str, sentence: ParsedSentence, target: list[str], links: Any
) -> list[Translation]:
    """All that a decoder with the rules and phrases of the pair alone can make of its source."""
    build_rule_table(grammar, parsed_bitext([(sentence, target, links)]), folder / "rules")
    for name, text in (
        ("s", " ".join(sentence.tokens.forms)),
        ("t", " ".join(target)),
        ("a", " ".join(f"{j}-{i}" for j, i in links)),
    ):
        (folder / name).write_text(text + "\n")
    build_phrase_table(*(folder / name for name in ("s", "t", "a", "phrases")))
    with (folder / "arpa").open("wb") as arpa:
        lm.estimate([(" ".join(target) + "\n").encode()], arpa, order=2)
    decoder = forest_decoder(
        {grammar: folder / "rules"},
        folder / "phrases",
        lm.open_model(folder / "arpa"),
        start_weights([grammar, "phrases"]),
        stack_limit=0,
        stack_threshold=0,
        rule_limit=0,
        rule_threshold=0,
        phrase_limit=0,
    )
    (result,) = decoder.translate(parsed_corpus([sentence]), threads=1, nbest=20000, derivations=False)
    return result.kbest


TREE_TO_STRING = [name for name in registry.rule_grammars() if not registry.grammar(name).target_trees]


@pytest.mark.parametrize("grammar", TREE_TO_STRING)
def test_recovered_pairs_are_translated_to_their_target(grammar: str, tmp_path: Path) -> None:
    """The forced decoder says yes where the decoder, with the pair's rules alone, has the target among all its translations."""
    rng = random.Random(5)
    seen = set()
    for _ in range(20):
        sentence = random_sentence(rng, rng.randint(1, 4))
        order = list(range(len(sentence)))
        if rng.random() < 0.5:
            rng.shuffle(order)
        target = [f"e{sentence.tokens.forms[j]}" for j in order]
        links = [(j, i) for i, j in enumerate(order) if rng.random() < 0.9]
        if not links:
            continue
        fitting = [
            one
            for one in translations(tmp_path, grammar, sentence, target, links)
            if one.text.split() == target and one.features["copied"] == one.features["pseudo"] == 0
        ]
        bitext = parsed_bitext([(sentence, target, links)])
        with_phrases = outcomes(bitext, grammar, phrases=True) == [RECOVERED]
        alone = outcomes(bitext, grammar) == [RECOVERED]
        assert with_phrases == bool(fitting)
        without = any(one.features["phrases.rules"] == 0 for one in fitting)
        # Units decide by themselves, and are stricter: a part is one unit, not all that cover the same words.
        assert alone <= without if grammar == "mwu" else alone == without
        seen |= {("phrases", with_phrases), ("alone", alone)}
    assert {("phrases", True), ("alone", True)} <= seen


def test_totals() -> None:
    result = coverage(worked(), "mwu", max_words=3, k=1000)
    assert (result.total.recovered, result.total.pairs) == (1, 1)
    assert result.by_length["7-12"].pairs == 1 and result.one_unit.pairs == 0 and not result.reasons
    assert coverage(worked(), "mwu", max_words=8).one_unit.pairs == 1
    assert list(result.by_length) == ["1-6", "7-12", "13-20", "21-30", "31-50", "51-"]
    assert length_class(1000) == "51-"


def test_page() -> None:
    points = [coverage(worked(), "mwu", k=k) for k in (1, 2, 10)]
    pictures = plots(points, ["k", "max_words"])
    assert list(pictures) == ["k"] and pictures["k"].count("<circle") == 3
    assert "1 of 1 pairs" in pictures["k"]
    both = [coverage(worked(), grammar) for grammar in ("mwu", "hierarchical", "dep2str")]
    assert plots(both, ["k"])["grammars"].count("<rect") == 3 and "0.0 % (0 of 1)" in page(both, [])
    text = page(points, ["k"])
    assert "mwu k=10" in text and pictures["k"] in text
    assert page([Coverage("mwu", {})], [])


def test_command(tmp_path: Path, run: Run) -> None:
    pair = worked_example()
    write_conllu([pair.source] * 3, tmp_path / "s")
    (tmp_path / "t").write_text(f"{' '.join(pair.target.tokens.forms)}\n" * 3, encoding="utf-8")
    line = " ".join(f"{link.source}-{link.target}" for link in pair.word_links)
    (tmp_path / "a").write_text(f"{line}\n\n{line}\n")
    files = ["--source-conllu", tmp_path / "s", "--target", tmp_path / "t", "--align", tmp_path / "a"]
    result = run("coverage", "-g", "mwu", *files, "--vary", "max_words=2-3", "--option", "k=1000", "--json")
    rows = [json.loads(row) for row in result.out.splitlines()]
    assert [row["options"] for row in rows] == [{"k": 1000}, *({"k": 1000, "max_words": m} for m in (2, 3))]
    assert rows[-1]["recovered"] == 2 and rows[-1]["pairs"] == 3 and rows[-1]["reasons"] == {"root": 1}
    result = run("coverage", "-g", "all", *files, "--first", "1", "--html", tmp_path / "page", "--vary", "k=1,10")
    assert result.code == 1 and "--source-penn" in result.err
    result = run("coverage", *files, "--first", "1", "--html", tmp_path / "page", "--vary", "k=1,10", "--extensions")
    assert result.code == 0 and "100.0 % of 1 pairs (20.7 to 100.0)" in result.out
    assert (tmp_path / "page/coverage-k.svg").exists() and "<svg" in (tmp_path / "page/index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-g", "mwu"], "no data"),
        (["-g", "mwu", "--align", "a", "--option", "k=many"], "whole number"),
        (["-g", "mwu", "--align", "a", "--option", "q=1"], "no option"),
        (["-g", "nothing", "--align", "a"], "no grammar"),
    ],
)
def test_bad_requests(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    pair = worked_example()
    write_conllu([pair.source], tmp_path / "s")
    (tmp_path / "t").write_text("a\n")
    (tmp_path / "a").write_text("0-0\n")
    arguments = [str(tmp_path / "a") if item == "a" else item for item in arguments]
    if "--align" in arguments:
        arguments += ["--source-conllu", str(tmp_path / "s"), "--target", str(tmp_path / "t")]
    result = run("coverage", *arguments)
    assert result.code == 1 and message in result.err
    with pytest.raises(TreeglotError, match="no option"):
        outcomes(worked(), "mwu", wrong=1)


def test_all_grammars_in_one_table(run: Run, tmp_path: Path) -> None:
    """Each takes what it needs of the files, with trees or text of the target."""
    write_example(tmp_path, sizes=Sizes(3, 1, 1, 0))
    files = [
        *("--source-conllu", tmp_path / "train.zh.conllu", "--source-penn", tmp_path / "train.zh.penn"),
        *("--align", tmp_path / "train.align", "--target-penn", tmp_path / "train.en.penn", "--vary", "k=10"),
    ]
    command = ["coverage", "-g", "all", *files, "--phrases", "--json", "--html", tmp_path / "page"]
    trees, text = run(*command), run(*command, "--target", tmp_path / "train.en")
    rows = [json.loads(row) for row in trees.out.splitlines()]
    assert {row["grammar"] for row in rows} == set(registry.rule_grammars())
    assert all(row["pairs"] == 3 and row["interval"][0] <= row["percent"] <= row["interval"][1] for row in rows)
    assert trees.code == text.code == 0 and text.out == trees.out
    assert (tmp_path / "page/coverage-grammars.svg").exists()
