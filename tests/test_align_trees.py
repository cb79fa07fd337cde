"""Dependency trees in the aligner: paths against a search of the graph, what they decide, and the commands."""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from test_word_links import make_project
from treeglot import ConfigError, TreeglotError, alignment
from treeglot._core import align as core
from treeglot.alignment.evidence import Evidence, read_heads
from treeglot.evaluation.alignment import Gold, score_alignment
from treeglot.pipeline.config import parse_config
from treeglot.pipeline.word_links import alignment_stage

FAR = 3


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Heads of a few words, in any order, sometimes of several trees."""
    size = draw(st.integers(1, 9))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place in range(1, size):
        heads[order[place]] = draw(st.sampled_from([-1, *order[:place]]))
    return heads


@given(forests())
def test_paths_equal_a_search_of_the_graph(heads: list[int]) -> None:
    size = len(heads)
    paths = core.tree_paths(heads)
    above = [head if head >= 0 else size for head in heads]  # one root above all
    for a in range(size):
        ways = {a: (0, 0)}  # steps up and down, breadth first: the shortest path of a tree is its only one
        queue = deque([a])
        while queue:
            at = queue.popleft()
            up, down = ways[at]
            near = [(above[at], (up + 1, down))] if at < size else []
            near += [(child, (up, down + 1)) for child in range(size) if above[child] == at]
            for other, way in near:
                if other not in ways:
                    ways[other] = way
                    queue.append(other)
        for b in range(size):
            up, down = (min(steps, FAR) for steps in ways[b])
            assert paths[a * size + b] == up * (FAR + 1) + down


def test_heads_that_make_no_tree() -> None:
    for heads in ([0], [1, 0], [1, 2, 0, 0], [5], [-2]):
        with pytest.raises(ValueError, match="head"):
            core.tree_paths(heads)
    corpus = core.Corpus()
    corpus.add(b"a b\n", b"x\n")
    with pytest.raises(ValueError, match="as many heads as words"):
        corpus.set_heads([0], [])


def scattered(count: int, seed: int) -> tuple[list[str], list[str], list[list[int]], list[Gold]]:
    """Three nouns at any place; in every second sentence all have a marker somewhere, in the others one. The marker of the last noun is
    translated: where there are several, only the tree tells which one it is."""
    choose = random.Random(seed)
    source, target, trees, gold = [], [], [], []
    for number in range(count):
        nouns = choose.sample([f"n{k}" for k in range(30)], 3)
        there = choose.sample(range(3), 3)
        markers = range(3) if number % 2 else [there[-1]]
        order = choose.sample(range(3 + len(markers)), 3 + len(markers))  # places of the nouns, then of their markers
        words, heads = [""] * len(order), [-1] * len(order)
        for k, noun in enumerate(nouns):
            words[order[k]] = noun
        for place, k in zip(order[3:], markers, strict=True):
            words[place], heads[place] = "mark", order[k]
        last = order[3 + list(markers).index(there[-1])]
        source.append(" ".join(words))
        target.append(" ".join([*(nouns[k].upper() for k in there), "MARK"]))
        trees.append(heads)
        gold.append(Gold([*((order[k], at) for at, k in enumerate(there)), (last, 3)]))
    return source, target, trees, gold


def errors(source: list[str], target: list[str], gold: list[Gold], folder: Path, **more: object) -> float:
    aligner = alignment.train("own", source, target, folder, **more)  # type: ignore[arg-type]
    lines = aligner.align(source, target).forward
    return score_alignment([alignment.parse_links(line) for line in lines], gold).aer


def test_trees_decide_what_distances_do_not(tmp_path: Path) -> None:
    source, target, trees, gold = scattered(400, 1)
    text = source, target, gold
    without = errors(*text, tmp_path / "without")
    with_trees = errors(*text, tmp_path / "with", evidence=Evidence(source_heads=trees))
    assert without > 0.06 and with_trees < without / 3
    swapped = [Gold([(t, s) for s, t in item.sure]) for item in gold]
    aligner = alignment.train("own", target, source, tmp_path / "swapped", evidence=Evidence(target_heads=trees))
    lines = aligner.align(target, source).reverse
    assert score_alignment([alignment.parse_links(line) for line in lines], swapped).aer < without / 3
    again = alignment.load(tmp_path / "with").align(source, target)
    assert score_alignment([alignment.parse_links(line) for line in again.forward], gold).aer == with_trees


def test_bytes_depend_on_trees_and_not_on_threads(tmp_path: Path) -> None:
    source, target, trees, _ = scattered(300, 2)
    models = {}
    for name, more in {
        "none": {},
        "off": {"evidence": Evidence(source_heads=trees), "tree": 0},
        "one": {"evidence": Evidence(source_heads=trees), "threads": 1},
        "three": {"evidence": Evidence(source_heads=trees), "threads": 3},
        "flat": {"evidence": Evidence(source_heads=[[-1] * len(line.split()) for line in source])},
    }.items():
        alignment.train("own", source, target, tmp_path / name, **more)  # type: ignore[arg-type]
        models[name] = (tmp_path / name / "model.tgwa").read_bytes()
    assert models["none"] == models["off"] and models["one"] == models["three"] != models["none"]


def conllu(trees: list[list[int]], lines: list[str]) -> str:
    blocks = []
    for heads, line in zip(trees, lines, strict=True):
        rows = [
            f"{n}\t{word}\t_\t_\t_\t_\t{head + 1}\t_\t_\t_"
            for n, (word, head) in enumerate(zip(line.split(), heads, strict=True), start=1)
        ]
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


def test_commands(run: Run, tmp_path: Path) -> None:
    source = ["a b c", "b a"]
    target = ["x y z", "y x"]
    trees = [[1, -1, 1], [-1, 0]]
    for name, text in (("s", source), ("t", target)):
        (tmp_path / name).write_text("".join(line + "\n" for line in text))
    (tmp_path / "c").write_text(conllu(trees, source))
    assert read_heads(tmp_path / "c", source) == [(1, -1, 1), (-1, 0)]
    text = tmp_path / "s", tmp_path / "t"
    result = run("align", *text, "--source-conllu", tmp_path / "c", "--model", tmp_path / "m")
    assert result.code == 0 and len(result.out.splitlines()) == 2
    again = run("align", *text, "--source-conllu", tmp_path / "c", "--model", tmp_path / "m")
    assert again.out == result.out
    other = run("align", *text, "--target-conllu", tmp_path / "c", "--model", tmp_path / "m")
    assert other.code == 1 and "learnt without --target-conllu" in other.err
    (tmp_path / "short").write_text(conllu(trees[:1], source[:1]))
    assert "1 sentences, but there are 2 lines" in run("align", *text, "--source-conllu", tmp_path / "short").err
    (tmp_path / "long").write_text(conllu(trees[::-1], source[::-1]))
    assert "2 words in its tree and 3 in the text" in run("align", *text, "--source-conllu", tmp_path / "long").err
    refused = run("align", *text, "--source-conllu", tmp_path / "c", "--aligner", "thot-hmm")
    assert refused.code == 1 and "learns from text alone" in refused.err


def test_a_project_learns_with_its_trees(tmp_path: Path) -> None:
    project = make_project(tmp_path, "[alignment]\ntrees = true\n[systems.dep2str]\n")
    assert project.parsed_corpus("train") in alignment_stage(project).inputs.values()
    project.train(lambda _: None)
    learnt = alignment.load(project.alignment_model)
    assert set(learnt.evidence) == {"source_conllu"}
    assert all(result.skipped for result in project.train(lambda _: None))
    config = '[languages]\nsource = "de"\ntarget = "en"\n[data.train]\nsource = "s"\ntarget = "t"\n[alignment]\ntrees = true\n'
    with pytest.raises(ConfigError, match="trees are for the aligner own"):
        parse_config(config + 'aligner = "eflomal"\n')
    (tmp_path / "treeglot.toml").write_text(config)
    with pytest.raises(TreeglotError, match="there are no trees"):
        alignment_stage(type(project)(tmp_path))
