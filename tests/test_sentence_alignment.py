"""Sentence alignment: the search against all paths, by length and by words on made-up text, files, a treebank."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import InputError
from treeglot.alignment.sentences import (
    PRIORS,
    Bead,
    Doubles,
    Ints,
    Step,
    _search,
    align_sentences,
    read_beads,
    write_beads,
)
from treeglot.trees.treealigner import read_aligned_pairs, read_treealigner


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_the_search_finds_the_cheapest_path(size: int, other: int, seed: int) -> None:
    rng = random.Random(seed)
    price = {(i, j, step): rng.uniform(-3, 12) for i in range(size + 1) for j in range(other + 1) for step in PRIORS}
    alone = -float(np.log(PRIORS[1, 0]))

    def costs(row: int, columns: Ints) -> Mapping[Step, Doubles]:
        return {step: np.array([price[row, int(j), step] for j in columns]) for step in PRIORS}

    @cache
    def best(i: int, j: int) -> float:
        if i == j == 0:
            return 0.0
        ways = [best(i, j - 1) + alone] if j else []
        for step in PRIORS:
            if step[0] <= i and step[1] <= j:
                ways.append(best(i - step[0], j - step[1]) + price[i, j, step])
        return min(ways)

    beads = _search(size, other, np.arange(size + 1) * other // size, other, costs)
    assert [i for bead in beads for i in bead.source] == list(range(size))
    assert [j for bead in beads for j in bead.target] == list(range(other))
    total, i, j = 0.0, 0, 0
    for bead in beads:
        step = len(bead.source), len(bead.target)
        i, j = i + step[0], j + step[1]
        total += alone if step == (0, 1) else price[i, j, step]
    assert total == pytest.approx(best(size, other))


def text(size: int, seed: int) -> tuple[list[list[str]], list[list[str]], set[tuple[int, int]]]:
    """A text of words w1, w2, ... and its translation v1, v2, ...; sentences are split, left out and added."""
    rng = random.Random(seed)
    source: list[list[str]] = []
    target: list[list[str]] = []
    gold: set[tuple[int, int]] = set()
    for _ in range(size):
        sentence = [int(rng.paretovariate(0.7)) % 300 for _ in range(rng.randint(6, 20))]
        kind = rng.random()
        translated = [f"v{word}" for word in sentence]
        if kind < 0.05:
            target.append([f"v{int(rng.paretovariate(0.7)) % 300}" for _ in range(9)])
        elif kind < 0.12:
            half = len(sentence) // 2
            gold |= {(len(source), len(target)), (len(source), len(target) + 1)}
            source.append([f"w{word}" for word in sentence])
            target += [translated[:half], translated[half:]]
            continue
        gold.add((len(source), len(target)))
        source.append([f"w{word}" for word in sentence])
        target.append(translated)
    return source, target, gold


def test_of_made_up_text() -> None:
    source, target, gold = text(150, seed=3)
    pairs_found = {
        (i, j) for bead in align_sentences(source, target, threads=1) for i in bead.source for j in bead.target
    }
    assert len(pairs_found & gold) > 0.97 * len(gold) and len(pairs_found & gold) > 0.97 * len(pairs_found)
    back = {(i, j) for bead in align_sentences(target, source, threads=1) for j in bead.source for i in bead.target}
    assert len(back & gold) > 0.97 * len(gold)


def test_of_nothing_and_of_little() -> None:
    assert align_sentences([], [["a"]]) == [Bead((), (0,))]
    assert align_sentences([["a"]], []) == [Bead((0,), ())]
    assert align_sentences([["a"]], [["b"]]) == [Bead((0,), (0,))]
    assert [bead[:2] for bead in align_sentences([["aaaa"] * 5], [["b" * 4] * 2, ["bbbb"] * 3])] == [((0,), (0, 1))]


def test_of_a_treebank(data: Callable[[str], Path]) -> None:
    path = data("trees/squoia-de-es/COSUDE_alignments_squoia_de_es.xml")
    pairs = list(read_aligned_pairs(path, strict=False))
    sides = [
        list({sentence.id: sentence for sentence in side}.values())
        for side in zip(*((p.source, p.target) for p in pairs), strict=True)
    ]
    names = [[sentence.id for sentence in side] for side in sides]
    beads = align_sentences(*([sentence.tokens.forms for sentence in side] for side in sides), threads=1)  # type: ignore[misc, arg-type]
    pairs_found = {f"{names[0][i]}-{names[1][j]}" for bead in beads for i in bead.source for j in bead.target}
    gold = {pair.id for pair in pairs}
    assert len(gold) == len(read_treealigner(path).sentence_links)
    assert len(pairs_found & gold) >= 0.99 * len(gold) and len(pairs_found & gold) >= 0.99 * len(pairs_found)


def test_files_of_beads(tmp_path: Path) -> None:
    names = ["s1", "s2", ""], ["t1", "t2", "t3"]
    beads = [Bead((0,), (0, 1), 0.5), Bead((1,), ()), Bead((2,), (2,), -0.25)]
    write_beads(beads, tmp_path / "beads", *names)
    assert (tmp_path / "beads").read_text() == "s1\tt1 t2\t0.5\ns2\t\t0.0\n3\tt3\t-0.25\n"
    assert [bead[:2] for bead in read_beads(tmp_path / "beads", *names)] == [bead[:2] for bead in beads]
    (tmp_path / "ladder").write_text("[0]:[0, 1]:0.12\n\n[2]:[2]:0.4\n[]:[1]:0.0\n")
    assert [bead[:2] for bead in read_beads(tmp_path / "ladder", *names)] == [((0,), (0, 1)), ((2,), (2,)), ((), (1,))]
    for text, says in (("1 2\n", "no tabulator"), ("1\tt9\n", "no sentence 't9'"), ("[0]:[3]\n", "no sentence '3'")):
        (tmp_path / "wrong").write_text(text)
        with pytest.raises(InputError, match=says):
            read_beads(tmp_path / "wrong", *names)
