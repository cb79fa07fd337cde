"""Several dependency trees of one sentence in one forest of multi-word units, against plain Python (mwu_parses_reference)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from exhaustive_decoder import Exhaustive
from mwu_parses_reference import Joined, ParsesPair
from mwu_reference import ROOT, Tree
from random_worlds import World, random_sentence, random_tree
from test_mwu_forest import assert_words_are_covered_once, projective_heads, sentence
from test_mwu_rules import NATIVE, native
from treeglot import ConfigError, InputError, TreeError
from treeglot.examples.worked import worked_example
from treeglot.grammars.rules import make_extractor
from treeglot.grammars.source_forests import source_forest
from treeglot.pipeline.coverage import RECOVERED, outcomes
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import write_conllu
from treeglot.trees.corpus import (
    ParsedBitext,
    Parses,
    SideFiles,
    iterate_parsed_bitext,
    parsed_bitext,
    parsed_corpus,
    read_parsed_bitext,
)
from treeglot.trees.stored import open_corpus, write_corpus

OPTIONS = ("unaligned_source", "vertex_siblings", "consistent_first")


@st.composite
def several_trees(draw: st.DrawFn, most: int = 6) -> tuple[list[list[int]], list[float]]:
    """Two or three trees of the same words, often with much in common, and their weights."""
    first = draw(projective_heads(most))
    trees = [first]
    for _ in range(draw(st.integers(1, 2))):
        trees.append(draw(projective_heads(len(first), len(first))))
        if draw(st.booleans()):  # the first one with a single arc moved, if that is a tree
            word, head = draw(st.integers(0, len(first) - 1)), draw(st.integers(0, len(first) - 1))
            if _is_projective_with(first, word, head):
                trees[-1] = [head if w == word else h for w, h in enumerate(first)]
    return trees, [1.0, *(draw(st.sampled_from([0.25, 1.0, 3.0])) for _ in trees[1:])]


def _is_projective_with(heads: list[int], word: int, head: int) -> bool:
    if heads[word] < 0 or word == head:
        return False
    changed = [head if w == word else h for w, h in enumerate(heads)]
    for start in range(len(changed)):
        at, steps = start, 0
        while changed[at] >= 0:
            at, steps = changed[at], steps + 1
            if steps > len(changed):
                return False
    tree = Tree(changed)
    return all(max(below) - min(below) + 1 == len(below) for below in (tree.whole(frozenset({w})) for w in tree.words))


def shown_forest(trees: list[list[int]], weights: list[float], **options: Any) -> dict[str, Any]:
    further = [(sentence(heads), weight) for heads, weight in zip(trees[1:], weights[1:], strict=True)]
    return source_forest("mwu", sentence(trees[0]), parses=further, **options)


def flat(shown: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Vertices and edges by their words: what can be compared whatever their numbers are."""
    words = [vertex["words"] for vertex in shown["vertices"]]
    vertices = sorted((v["words"], round(float(v["posterior"]), 9)) for v in shown["vertices"])
    edges = sorted(
        (words[e["head"]], [words[t] for t in e["tails"]], round(float(e["p"]), 9), round(float(e["posterior"]), 9))
        for e in shown["edges"]
    )
    return vertices, edges


@given(several_trees(), st.integers(1, 4), st.sampled_from([1, 2, 1000]), st.booleans())
def test_forests_are_put_together(given_trees: Any, max_words: int, k: int, vertex: bool) -> None:
    trees, weights = given_trees
    shown = shown_forest(trees, weights, max_words=max_words, k=k, siblings="vertex" if vertex else "head")
    joined = Joined([Tree(heads) for heads in trees], weights, max_words, k, vertex_siblings=vertex)
    posterior = joined.posteriors()
    vertices = sorted((sorted(v.words) if v != ROOT else [], round(posterior[v], 9)) for v in (ROOT, *joined.first))
    edges = sorted(
        (
            sorted(v.words) if v != ROOT else [],
            [sorted(tail.words) for tail in edge],
            round(p, 9),
            round(posterior[v, edge], 9),
        )
        for (v, edge), p in joined.p.items()
    )
    for mine, theirs in zip(flat(shown), (vertices, edges), strict=True):
        assert len(mine) == len(theirs)
        for left, right in zip(mine, theirs, strict=True):
            numbers = [x for x in left if isinstance(x, float)], [x for x in right if isinstance(x, float)]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-8)
            assert [x for x in left if isinstance(x, list)] == [x for x in right if isinstance(x, list)]
    assert_words_are_covered_once(shown, len(trees[0]))


@given(several_trees(), st.sampled_from(["kbest", "factored"]), st.sampled_from([0.001, 0.05]), st.booleans())
def test_words_are_covered_once(given_trees: Any, kind: str, delta: float, renormalise: bool) -> None:
    options = {"max_words": 3, "k": 5, "forest": kind, "delta": delta, "renormalise": renormalise}
    for pruned in (False, True):
        shown = shown_forest(*given_trees, pruned=pruned, **options)
        assert_words_are_covered_once(shown, len(given_trees[0][0]))
        if not pruned or renormalise:
            assert shown["vertices"][0]["inside"] == pytest.approx(1)


@given(projective_heads(6), st.sampled_from(["kbest", "factored"]), st.booleans())
def test_the_same_tree_again_changes_nothing(heads: list[int], kind: str, pruned: bool) -> None:
    options: dict[str, Any] = {"max_words": 3, "forest": kind, "pruned": pruned, "delta": 0.01}
    alone = source_forest("mwu", sentence(heads), **options)
    again = shown_forest([heads, heads], [1.0, 0.5], **options)
    for vertex in again["vertices"]:
        assert vertex.pop("parses") == [0, 1]
    for mine, theirs in zip(flat(again), flat(alone), strict=True):
        assert [[x for x in row if isinstance(x, list)] for row in mine] == [
            [x for x in row if isinstance(x, list)] for row in theirs
        ]
        assert [x for row in mine for x in row if isinstance(x, float)] == pytest.approx(
            [x for row in theirs for x in row if isinstance(x, float)]
        )


@given(several_trees(5), st.integers(1, 3))
def test_factored_forests_have_all_derivations_of_each_tree(given_trees: Any, max_words: int) -> None:
    """The vertices are those of all edges, and so are the groupings into which they are cut."""
    trees, weights = given_trees
    complete = shown_forest(trees, weights, max_words=max_words, k=100000)
    factored = shown_forest(trees, weights, max_words=max_words, forest="factored")
    words = sorted((v["words"], v["parses"]) for v in complete["vertices"])
    assert sorted((v["words"], v["parses"]) for v in factored["vertices"]) == words
    into: dict[int, float] = {}
    for edge in factored["edges"]:
        into[edge["head"]] = into.get(edge["head"], 0) + edge["p"]
    assert list(into.values()) == pytest.approx([1] * len(into))
    for group in factored["groups"]:
        assert sum(one["p"] for one in group["alternatives"]) == pytest.approx(1)


@st.composite
def parsed_pairs(draw: st.DrawFn) -> Any:
    trees, weights = draw(several_trees())
    size = len(trees[0])
    words = [draw(st.sampled_from("abc")) for _ in range(size)]
    tags = [draw(st.sampled_from("NV")) for _ in range(size)]
    target = [draw(st.sampled_from("stuvw")) for _ in range(draw(st.integers(1, 6)))]
    straight = [(j, min(j, len(target) - 1)) for j in range(size) if draw(st.booleans())]
    places = st.tuples(st.integers(0, size - 1), st.integers(0, len(target) - 1))
    return trees, weights, words, tags, target, sorted({*straight, *draw(st.lists(places, max_size=2))})


def bitext_of(pair: Any) -> ParsedBitext:
    trees, weights, words, tags, target, links = pair
    tokens = Tokens(words, xpos=tags)
    bitext = parsed_bitext([(ParsedSentence.of(DependencyTree(tokens, trees[0])), target, links)])
    for heads, weight in zip(trees[1:], weights[1:], strict=True):
        other = parsed_corpus([ParsedSentence.of(DependencyTree(tokens, heads))])
        bitext.columns.add_parses(other.columns, weight)
    return bitext


def rules_of(bitext: ParsedBitext, **options: Any) -> dict[tuple[str, str], float]:
    text = make_extractor("mwu", bitext, delta=0.0, **options).text(0, 1).decode()
    rows = [line.split(" ||| ") for line in text.splitlines() if line]
    return {(source, target): float(count) for source, target, count in rows}


@given(parsed_pairs(), st.sets(st.sampled_from(OPTIONS)), st.integers(1, 3), st.sampled_from([1, 3, 1000]))
def test_rules_and_coverage(pair: Any, options: set[str], max_words: int, k: int) -> None:
    settings = {name: value for option in options for name, value in NATIVE[option].items()}
    bitext = bitext_of(pair)
    reference = ParsesPair(*pair)
    expected = reference.rules(max_words, k, options)
    assert rules_of(bitext, max_words=max_words, k=k, **settings) == pytest.approx(expected, rel=1e-4)
    (outcome,) = outcomes(bitext, "mwu", max_words=max_words, k=k, delta=0.0, **settings)
    assert (outcome == RECOVERED) == reference.recovered(max_words, k, options)


@given(parsed_pairs())
def test_rules_of_all_edges_and_of_factored_forests(pair: Any) -> None:
    bitext = bitext_of(pair)
    complete = rules_of(bitext, max_words=3, k=100000)
    assert rules_of(bitext, max_words=3, forest="factored").keys() == complete.keys()


def test_a_second_tree_adds_rules() -> None:
    """What one tree tears apart may be one unit of the other."""
    words, tags, target = ["a", "b", "c"], ["N"] * 3, ["s", "t", "u"]
    links = [(0, 1), (1, 0), (2, 2)]
    chain, other = [1, 2, -1], [2, 2, -1]
    alone = native((chain, words, tags, target, links), max_words=1, k=10)
    both = rules_of(bitext_of(([chain, other], [1.0, 1.0], words, tags, target, links)), max_words=1, k=10)
    assert set(alone) < set(both)
    assert ("x1:N/3 x2:N/3 c/0", "x2 x1 u") in set(both) - set(alone)


# The corpus


def test_stored_and_read(tmp_path: Path) -> None:
    pair = worked_example()
    assert pair.source.dependency is not None
    flat_tree = DependencyTree(pair.source.tokens, [2, 2, -1, *[2] * (len(pair.source) - 3)])
    first, other = pair.source, ParsedSentence.of(flat_tree)
    write_conllu([first] * 3, tmp_path / "s")
    write_conllu([other] * 3, tmp_path / "o")
    (tmp_path / "t").write_text(f"{' '.join(pair.target.tokens.forms)}\n" * 3, encoding="utf-8")
    links = " ".join(f"{link.source}-{link.target}" for link in pair.word_links)
    (tmp_path / "a").write_text(f"{links}\n" * 3)
    source = SideFiles(tmp_path / "s", parses=(Parses(tmp_path / "o", 0.5), Parses(tmp_path / "s", 2)))
    target = SideFiles(text=tmp_path / "t")
    bitext = read_parsed_bitext(source, target, tmp_path / "a")
    heads = list(pair.source.dependency.heads)
    expected = [(heads, 1.0), (list(flat_tree.heads), 0.5), (heads, 2.0)]
    write_corpus(bitext, tmp_path / "x")
    for columns in (bitext.columns, open_corpus(tmp_path / "x").columns, bitext.columns.select([2, 0])):
        for n in range(columns.sentences):
            assert columns.source.parses(n) == expected
    blocks = list(iterate_parsed_bitext(source, target, tmp_path / "a", block=1))
    assert sum(len(block) for block in blocks) == 3
    assert all(block.columns.source.parses(n) == expected for block in blocks for n in range(len(block)))
    assert read_parsed_bitext(SideFiles(tmp_path / "s"), target).columns.source.parses(0) == [(heads, 1.0)]


def test_other_words_are_refused(tmp_path: Path) -> None:
    first, other = worked_example().source, ParsedSentence.of(DependencyTree(Tokens(["a"]), [-1]))
    write_conllu([first] * 2, tmp_path / "s")
    (tmp_path / "t").write_text("a\nb\n")
    target = SideFiles(text=tmp_path / "t")
    for given_sentences, message in (([first, other], "sentence 2"), ([first], "ends after 1"), ([first] * 3, "has 3")):
        write_conllu(given_sentences, tmp_path / "o")
        with pytest.raises(InputError, match=message):
            read_parsed_bitext(SideFiles(tmp_path / "s", parses=(Parses(tmp_path / "o"),)), target)
    with pytest.raises(ConfigError, match="no first"):
        read_parsed_bitext(SideFiles(text=tmp_path / "t", parses=(Parses(tmp_path / "o"),)), target)
    with pytest.raises(ConfigError, match="not above 0"):
        Parses.of("x:-1")
    with pytest.raises(TreeError, match="words"):
        source_forest("mwu", first, parses=[(other, 1.0)])


def test_commands(tmp_path: Path, run: Run) -> None:
    pair = worked_example()
    other = ParsedSentence.of(DependencyTree(pair.source.tokens, [2, 2, -1, *[2] * (len(pair.source) - 3)]))
    write_conllu([pair.source], tmp_path / "s")
    write_conllu([other], tmp_path / "o")
    (tmp_path / "t").write_text(f"{' '.join(pair.target.tokens.forms)}\n", encoding="utf-8")
    (tmp_path / "a").write_text(" ".join(f"{link.source}-{link.target}" for link in pair.word_links) + "\n")
    parses = ["--source-parses", f"{tmp_path / 'o'}:0.5"]
    trees = ["--source-conllu", tmp_path / "s"]
    shown = json.loads(run("forest", "mwu", *trees, *parses, "--json").out)
    assert {tuple(vertex["parses"]) for vertex in shown["vertices"]} == {(0, 1), (0,), (1,)}
    assert run("forest", "mwu", *trees, *parses, "--html", tmp_path / "page.html").code == 0
    files = [*trees, "--target", tmp_path / "t", "--align", tmp_path / "a"]
    alone, both = (run("rules", "extract", "mwu", *files, *more).out.splitlines() for more in ([], parses))
    assert {line.rpartition(" ||| ")[0] for line in alone} < {line.rpartition(" ||| ")[0] for line in both}
    assert run("rules", "build", "--grammar", "mwu", *files, *parses, "-o", tmp_path / "rules").code == 0
    result = run("coverage", "-g", "mwu", *files, *parses, "--vary", "k=10", "--json")
    assert json.loads(result.out.splitlines()[0])["recovered"] == 1
    result = run("rules", "extract", "dep2str", *files, *parses)
    assert result.code == 1 and "no use for further trees" in result.err


# Translation


def test_the_same_tree_again_translates_alike(tmp_path: Path) -> None:
    world = World(3, tmp_path, "mwu", size=8)
    decoder = world.decoder("mwu")
    for size in (1, 2, 4, 5):
        one = parsed_corpus([random_sentence(world.rng, size)])
        words, tags, heads, *_ = one.columns.sentence(0)
        two = parsed_corpus([ParsedSentence.of(DependencyTree(Tokens(words, xpos=tags), heads))] * 1)
        both = parsed_corpus([ParsedSentence.of(DependencyTree(Tokens(words, xpos=tags), heads))])
        both.columns.add_parses(two.columns, 0.5)  # type: ignore[attr-defined]
        results = [
            decoder.translate(corpus, threads=1, nbest=500, derivations=False)[0].kbest for corpus in (two, both)
        ]
        assert [t.score for t in results[1]] == pytest.approx([t.score for t in results[0]])


def test_trees_together_translate_what_each_does(tmp_path: Path) -> None:
    """But for the probability of edges: every translation of either tree is there, and mixed ones besides."""
    world = World(5, tmp_path, "mwu", size=12)
    world.weights["mwu.forest"] = 0.0
    decoder = world.decoder("mwu", grammars={"k": 100000})
    compared = 0
    for size in (2, 3, 4, 4, 4):
        tokens = random_tree(world.rng, size).tokens
        trees = [DependencyTree(tokens, random_tree(world.rng, size).heads) for _ in range(2)]
        corpora = [parsed_corpus([ParsedSentence.of(tree)]) for tree in trees]
        alone = [decoder.translate(corpus, threads=1, nbest=3000, derivations=False)[0].kbest for corpus in corpora]
        corpora[0].columns.add_parses(corpora[1].columns, 1.0)  # type: ignore[attr-defined]
        both = decoder.translate(corpora[0], threads=1, nbest=20000, derivations=False)[0].kbest
        rules = {round(t.score, 4) for t in both if t.features["pseudo"] == 0}
        for one in alone:
            wanted = {round(t.score, 4) for t in one if t.features["pseudo"] == 0}
            assert all(any(abs(score - other) < 2e-3 for other in rules) for score in wanted)
            compared += len(wanted)
    assert compared > 5


SYSTEMS = [("mwu",), ("hierarchical", "mwu"), ("consdep2str", "mwu"), ("cons2str", "mwu")]


@pytest.mark.parametrize(
    "options", [{}, {"k": 1}, {"k": 1000, "siblings": "vertex", "unaligned_source": True}], ids=str
)
@pytest.mark.parametrize("system", SYSTEMS, ids="+".join)
def test_every_derivation_is_there_once(system: tuple[str, ...], options: dict[str, Any], tmp_path: Path) -> None:
    compared = 0
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        world = World(seed, folder, *system, size=6, extraction=options)
        for size in (1, 2, 3, 3, 3, 4):
            first = random_sentence(world.rng, size)
            others = [(random_tree(world.rng, size).heads, weight) for weight in (0.5, 2.0)[: world.rng.randint(1, 2)]]
            exhaustive = Exhaustive(world, first, system, options, others)
            if exhaustive.count() > 1500:
                continue
            corpus = parsed_corpus([first])
            for heads, weight in others:
                further = parsed_corpus([ParsedSentence.of(DependencyTree(first.tokens, heads))])
                corpus.columns.add_parses(further.columns, weight)  # type: ignore[attr-defined]
            decoder = world.decoder(*system, grammars={"label_sets": 10000, **options})
            (result,) = decoder.translate(corpus, threads=1, nbest=4000, derivations=False)
            scores = [one.score for one in result.kbest]
            expected = sorted(
                (score + exhaustive.model_score(words) for words, score in exhaustive.derivations()), reverse=True
            )
            if "unaligned_source" in options:
                # Units of two trees may have the same rule when all below them is words: here it is there for each.
                assert all(any(abs(a - b) < 2e-3 for b in expected) for a in scores)
                assert all(any(abs(a - b) < 2e-3 for a in scores) for b in expected)
            else:
                assert scores == pytest.approx(expected, abs=2e-3), (first, others)
            compared += 1
    assert compared > 3
