"""Forests of multi-word units against plain Python (mwu_reference), and the worked example."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from mwu_reference import (
    ROOT,
    Edge,
    Edges,
    Tree,
    Unit,
    derivations,
    forest,
    groupings,
    mean_size,
    probabilities,
    units,
    weight,
)
from treeglot import ConfigError
from treeglot.examples.worked import worked_example
from treeglot.grammars.forest_pictures import best_derivation, svg
from treeglot.grammars.source_forests import source_forest
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import format_conllu, write_conllu
from treeglot.trees.treejson import write_jsonl


@st.composite
def projective_heads(draw: st.DrawFn, most: int = 8, least: int = 1) -> list[int]:
    """A projective tree: each span has a head, what is left and right of it is cut into spans below it."""
    heads = [-1] * draw(st.integers(least, most))

    def fill(begin: int, end: int, head: int) -> None:
        while begin < end:
            cut = draw(st.integers(begin + 1, end))
            word = draw(st.integers(begin, cut - 1))
            heads[word] = head
            fill(begin, word, word)
            fill(word + 1, cut, word)
            begin = cut

    root = draw(st.integers(0, len(heads) - 1))
    fill(0, root, root)
    fill(root + 1, len(heads), root)
    return heads


def sentence(heads: list[int]) -> ParsedSentence:
    return ParsedSentence.of(DependencyTree(Tokens([f"w{j}" for j in range(len(heads))]), heads))


def native(heads: list[int], **options: Any) -> tuple[Edges, dict[str, Any]]:
    """The core's forest in the shape of the reference, and as it came."""
    shown = source_forest("mwu", sentence(heads), **options)
    words = [frozenset(vertex["words"]) for vertex in shown["vertices"]]
    assert len(set(words)) == len(words)
    edges: Edges = {unit: [] for unit in words}
    for edge in shown["edges"]:
        edges[words[edge["head"]]].append(tuple(words[tail] for tail in edge["tails"]))
    return edges, shown


def posteriors(shown: dict[str, Any]) -> dict[Unit, float]:
    return {frozenset(vertex["words"]): vertex["posterior"] for vertex in shown["vertices"]}


def edge_posteriors(shown: dict[str, Any]) -> dict[tuple[Unit, Edge], float]:
    words = [frozenset(vertex["words"]) for vertex in shown["vertices"]]
    return {
        (words[edge["head"]], tuple(words[tail] for tail in edge["tails"])): edge["posterior"]
        for edge in shown["edges"]
    }


def assert_words_are_covered_once(shown: dict[str, Any], words: int) -> None:
    for word in range(words):
        total = sum(vertex["posterior"] for vertex in shown["vertices"] if word in vertex["words"])
        assert total == pytest.approx(1)


@pytest.mark.parametrize(("max_words", "k", "vertices", "edges"), [(3, 1000, 37, 153), (6, 10, 91, 251)])
def test_worked_example(max_words: int, k: int, vertices: int, edges: int) -> None:
    shown = source_forest("mwu", worked_example().source, max_words=max_words, k=k)
    assert (len(shown["vertices"]), len(shown["edges"])) == (vertices, edges)
    assert_words_are_covered_once(shown, 8)


@given(projective_heads(), st.integers(1, 4), st.sampled_from([1, 2, 3, 10, 10000]), st.booleans())
def test_edges_are_the_best_of_all(heads: list[int], max_words: int, k: int, vertex: bool) -> None:
    expected = forest(Tree(heads), max_words, k, vertex_siblings=vertex)
    edges, shown = native(heads, max_words=max_words, k=k, siblings="vertex" if vertex else "head")
    assert edges == expected
    p = dict.fromkeys(probabilities(expected), 0.0)
    words = [frozenset(vertex["words"]) for vertex in shown["vertices"]]
    for edge in shown["edges"]:
        p[words[edge["head"]], tuple(words[tail] for tail in edge["tails"])] = edge["p"]
    assert p == pytest.approx(probabilities(expected))


@given(projective_heads(), st.integers(1, 4), st.integers(1, 12))
def test_the_cap_takes_the_smallest_units(heads: list[int], max_words: int, cap: int) -> None:
    tree = Tree(heads)
    edges, _ = native(heads, max_words=max_words, k=10000, cap=cap)
    assert edges == forest(tree, max_words, 10000, cap=cap)
    assert set(edges) <= {ROOT, *units(tree, max_words, cap)}


@given(projective_heads(6), st.integers(1, 4), st.sampled_from([1, 2, 10000]))
def test_sums_are_those_of_all_derivations(heads: list[int], max_words: int, k: int) -> None:
    edges, shown = native(heads, max_words=max_words, k=k)
    p = probabilities(edges)
    through: dict[Any, float] = {}
    total = 0.0
    for derivation in derivations(edges):
        value = weight(derivation, p)
        total += value
        for unit, edge in derivation.items():
            through[unit] = through.get(unit, 0) + value
            through[unit, edge] = through.get((unit, edge), 0) + value
    assert shown["vertices"][0]["inside"] == pytest.approx(total) == pytest.approx(1)
    assert posteriors(shown) == pytest.approx({unit: through[unit] for unit in edges})
    assert edge_posteriors(shown) == pytest.approx({key: through[key] for key in p})
    assert_words_are_covered_once(shown, len(heads))


@given(projective_heads(6))
def test_without_limits_all_ways_to_cut_a_tree_are_there(heads: list[int]) -> None:
    """A derivation is a partition of the words into well-formed units, each tail below its unit's words."""
    tree = Tree(heads)
    fitting = set(units(tree, len(heads), None))

    def partitions(left: frozenset[int]) -> list[frozenset[Unit]]:
        if not left:
            return [frozenset()]
        first = min(left)
        return [
            frozenset({unit}) | rest
            for unit in fitting
            if first in unit and unit <= left
            for rest in partitions(left - unit)
        ]

    def grouped(partition: frozenset[Unit]) -> bool:
        """The root's unit is a treelet, and no unit is a group of dependents of words in several units."""
        return all(
            len({next((u for u in partition if h in u), ROOT) for h in {heads[w] for w in tree.sigma(unit)}}) == 1
            for unit in partition
        )

    edges, _ = native(heads, max_words=len(heads) if len(heads) > 1 else 1, k=100000, cap=100000)
    listed = [frozenset(derivation) - {ROOT} for derivation in derivations(edges)]
    assert len(listed) == len(set(listed))
    assert set(listed) == {partition for partition in partitions(frozenset(tree.words)) if grouped(partition)}


@given(projective_heads(7), st.sampled_from([1e-4, 0.01, 0.05, 0.2]), st.booleans())
def test_pruning(heads: list[int], delta: float, renormalise: bool) -> None:
    options = {"max_words": 3, "k": 10}
    before, shown = native(heads, **options)
    posterior, p = edge_posteriors(shown), probabilities(before)
    best = max(derivations(before), key=lambda derivation: weight(derivation, p))
    kept = {key for key, value in posterior.items() if value > delta * (1 + 1e-9)}
    after, pruned = native(heads, **options, pruned=True, delta=delta, renormalise=renormalise)
    left = {(unit, edge) for unit, into in after.items() for edge in into}
    assert left <= set(posterior)
    assert all(unit in after for unit in best) and weight(best, p) <= 1
    # Nothing is left that pruning takes out but for one best derivation, and nothing can be made anew.
    extra = {key for key in left if posterior[key] < delta * (1 - 1e-9)}
    assert len(extra) <= len(best)
    assert all(after[tail] or not before[tail] for into in after.values() for edge in into for tail in edge)
    useful = {unit for derivation in derivations(after) for unit in derivation}
    assert useful == set(after)
    for unit, edge in kept - left:  # only what cannot be completed or reached
        restricted = {u: [e for e in into if (u, e) in kept | left] for u, into in before.items()}
        assert not any(
            d.get(unit) == edge for d in derivations(restricted) if all(e or not before[u] for u, e in d.items())
        )
    assert_words_are_covered_once(pruned, len(heads))
    inside = pruned["vertices"][0]["inside"]
    assert inside == pytest.approx(1 if renormalise else sum(weight(d, p) for d in derivations(after)))


@given(projective_heads(7), st.sampled_from([1, 3, 10]), st.booleans())
def test_outside_as_printed(heads: list[int], k: int, pruned: bool) -> None:
    options = {"max_words": 3, "k": k, "outside": "paper", "delta": 0.02, "renormalise": False}
    _, shown = native(heads, **options, pruned=pruned)
    vertices, edges = shown["vertices"], shown["edges"]
    into: list[list[int]] = [[] for _ in vertices]
    out: list[set[int]] = [set() for _ in vertices]
    for number, edge in enumerate(edges):
        into[edge["head"]].append(number)
        for tail in edge["tails"]:
            out[tail].add(number)
    for number, vertex in enumerate(vertices):
        expected = 1.0
        if out[number]:
            expected = 0.0
            for h in out[number]:
                for e in into[edges[h]["head"]]:
                    product = vertices[edges[e]["head"]]["outside"] * edges[e]["p"] / len(out[number])
                    for tail in edges[e]["tails"]:
                        product *= vertices[tail]["inside"] if tail != number else 1
                    expected += product
        assert vertex["outside"] == pytest.approx(expected)
        if not pruned:
            assert vertex["posterior"] == pytest.approx(1)


@given(projective_heads(6), st.integers(1, 4), st.booleans())
def test_factored(heads: list[int], max_words: int, vertex: bool) -> None:
    """All groupings of tau, each further group half as likely, and all units of a group, by their size."""
    tree = Tree(heads)
    siblings = "vertex" if vertex else "head"
    complete = forest(tree, max_words, 100000, vertex_siblings=vertex)
    shown = source_forest("mwu", sentence(heads), max_words=max_words, forest="factored", siblings=siblings)
    words = [frozenset(vertex["words"]) for vertex in shown["vertices"]]
    assert set(words) == set(complete) and len(set(words)) == len(words)
    sigmas = [tuple(group["words"]) for group in shown["groups"]]
    assert len(set(sigmas)) == len(sigmas)
    by_sigma: dict[tuple[int, ...], dict[Unit, float]] = {}
    for unit in complete:
        if unit:
            by_sigma.setdefault(tree.sigma(unit), {})[unit] = float(len(unit))
    for group in shown["groups"]:
        sizes = by_sigma[tuple(group["words"])]
        alternatives = {words[one["vertex"]]: one["p"] for one in group["alternatives"]}
        assert alternatives == pytest.approx({unit: size / sum(sizes.values()) for unit, size in sizes.items()})
    p: dict[Unit, dict[tuple[tuple[int, ...], ...], float]] = {}
    for unit, into in complete.items():
        cuts = {tuple(tree.sigma(tail) for tail in edge) for edge in into}
        total = sum(2.0 ** -len(cut) for cut in cuts)
        p[unit] = {cut: 2.0 ** -len(cut) / total for cut in cuts}
    numbers = {(words[edge["head"]], tuple(sigmas[tail] for tail in edge["tails"])): edge for edge in shown["edges"]}
    assert {key: edge["p"] for key, edge in numbers.items()} == pytest.approx(
        {(unit, cut): value for unit, cuts in p.items() for cut, value in cuts.items()}
    )
    through: dict[Any, float] = {}
    for derivation in derivations(complete):
        value = 1.0
        for unit, edge in derivation.items():
            if edge:
                value *= p[unit][tuple(tree.sigma(tail) for tail in edge)]
            if unit:
                sizes = by_sigma[tree.sigma(unit)]
                value *= sizes[unit] / sum(sizes.values())
        for unit, edge in derivation.items():
            key = unit, tuple(tree.sigma(tail) for tail in edge)
            through[unit] = through.get(unit, 0) + value
            through[key] = through.get(key, 0) + value
    assert posteriors(shown) == pytest.approx({unit: through[unit] for unit in complete})
    assert {key: edge["posterior"] for key, edge in numbers.items()} == pytest.approx(
        {key: through[key] for key in numbers}
    )
    assert_words_are_covered_once(shown, len(heads))


@given(projective_heads(7), st.integers(1, 4), st.sampled_from([1e-4, 0.01, 0.1]))
def test_pruned_factored(heads: list[int], max_words: int, delta: float) -> None:
    """Groupings that are listed because of their posterior are those that pruning leaves of all of them."""
    options: dict[str, Any] = {"max_words": max_words, "forest": "factored", "delta": delta, "renormalise": False}
    before = source_forest("mwu", sentence(heads), **options)
    after = source_forest("mwu", sentence(heads), **options, pruned=True)

    def by_words(shown: dict[str, Any]) -> dict[Any, dict[str, Any]]:
        words = [tuple(vertex["words"]) for vertex in shown["vertices"]]
        sigmas = [tuple(group["words"]) for group in shown["groups"]]
        return {(words[e["head"]], tuple(sigmas[t] for t in e["tails"])): e for e in shown["edges"]}

    known, left = by_words(before), by_words(after)
    chosen = best_derivation(before)
    assert left.keys() <= known.keys()
    assert {key: edge["p"] for key, edge in left.items()} == pytest.approx({key: known[key]["p"] for key in left})
    small = [key for key in left if known[key]["posterior"] < delta * (1 - 1e-9)]
    assert len(small) <= len(chosen) + 1
    units = {tuple(vertex["words"]) for vertex in after["vertices"]}
    assert {tuple(before["vertices"][n]["words"]) for n in chosen} <= units
    groups = {tuple(group["words"]) for group in after["groups"]}
    for (unit, tails), edge in known.items():
        if edge["posterior"] > delta * (1 + 1e-9) and unit in units and groups.issuperset(tails):
            assert (unit, tails) in left
    assert_words_are_covered_once(after, len(heads))


@pytest.mark.parametrize("size", [1, 2, 60, 400])
def test_factored_stars_and_chains(size: int) -> None:
    """However many dependents a word has: all groupings count, and those that matter are listed."""
    for heads in ([-1] + [0] * (size - 1), [j - 1 for j in range(size)]):
        for pruned in (False, True):
            shown = source_forest("mwu", sentence(heads), forest="factored", pruned=pruned, max_words=3, cap=30)
            assert_words_are_covered_once(shown, size)
            if pruned:
                assert shown["vertices"][0]["inside"] == pytest.approx(1)


def test_ties() -> None:
    """Equal means: fewer tails, then the words of the tails."""
    star = [1, -1, 1, 1, 1]
    edges, _ = native(star, max_words=2, k=3)
    single = edges[frozenset({1})]
    assert [mean_size(edge) for edge in single] == [2, Fraction(4, 3), Fraction(4, 3)]
    assert single == [
        (frozenset({0, 2}), frozenset({3, 4})),
        (frozenset({0}), frozenset({2}), frozenset({3, 4})),
        (frozenset({0}), frozenset({2, 3}), frozenset({4})),
    ]
    assert len(list(groupings([0, 2, 3, 4]))) == 8


@pytest.mark.parametrize("size", [1, 2, 200])
def test_stars_and_chains(size: int) -> None:
    for heads in ([-1] + [0] * (size - 1), [j - 1 for j in range(size)], [j + 1 for j in range(size - 1)] + [-1]):
        _, shown = native(heads)
        assert_words_are_covered_once(shown, size)


def test_command(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "w.conllu"
    path.write_text(format_conllu(worked_example().source) * 2, encoding="utf-8")
    arguments = ["forest", "mwu", "--source-conllu", str(path), "--max-words", "3", "--k", "1000"]
    lines = run(*arguments, "--json").out.splitlines()
    assert len(lines) == 2 and lines[0] == lines[1]
    shown = json.loads(lines[0])
    assert len(shown["vertices"]) == 37 and shown["vertices"][0]["words"] == []
    assert set(shown["edges"][0]) == {"head", "tails", "p", "posterior"}
    assert run(*arguments).out.splitlines()[0] == "1.000000  (root)  10"
    write_jsonl([worked_example().source] * 2, tmp_path / "w.jsonl")
    result = run("forest", "mwu", "--source-jsonl", tmp_path / "w.jsonl", "--max-words", "3", "--k", "1000", "--json")
    assert result.out.splitlines() == lines
    assert run("forest", "mwu").code == 1


def test_grammars_without_a_forest_are_refused() -> None:
    with pytest.raises(ConfigError, match="no forest"):
        source_forest("dep2str", worked_example().source)
    with pytest.raises(ConfigError, match="max_words"):
        source_forest("mwu", worked_example().source, max_words=0)


@pytest.mark.parametrize("kind", ["kbest", "factored"])
def test_pictures(kind: str, tmp_path: Path, run: Run) -> None:
    example = worked_example().source
    shown = source_forest("mwu", example, max_words=3, k=1000, forest=kind)
    chosen = best_derivation(shown)
    assert sorted(j for n in chosen for j in shown["vertices"][n]["words"]) == list(range(8))
    picture = svg(example.tokens.forms, shown, most=5)
    assert picture.count("<g ") == 5 and "英特尔" in picture
    write_conllu([example], tmp_path / "s")
    files = ["--source-conllu", tmp_path / "s", "--html", tmp_path / "page.html"]
    assert run("forest", "mwu", *files, "--forest", kind).code == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<svg" in text and "Edges of all units" in text


@given(projective_heads(6))
def test_the_chosen_derivation_is_the_best(heads: list[int]) -> None:
    edges, shown = native(heads, max_words=3)
    p = probabilities(edges)
    words = [frozenset(vertex["words"]) for vertex in shown["vertices"]]
    chosen = {words[n] for n in best_derivation(shown)}
    weights = {frozenset(d) - {ROOT}: weight(d, p) for d in derivations(edges)}
    assert weights[frozenset(chosen)] == pytest.approx(max(weights.values()))
