"""Symmetrisation equals Moses' symal, on its own outputs and on random alignments by a second implementation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot import TreeglotError
from treeglot.alignment import HEURISTICS, format_links, symmetrize, symmetrize_files, symmetrize_lines

Points = set[tuple[int, int]]


def plain_symal(forward: Points, reverse: Points, heuristic: str) -> Points:
    """The published pseudo-code with symal's order of scanning: by target word, then source word."""
    if heuristic in ("forward", "reverse"):
        return forward if heuristic == "forward" else reverse
    if heuristic == "union":
        return forward | reverse
    current = forward & reverse
    if heuristic == "intersection":
        return current
    neighbours = [(0, -1), (-1, 0), (0, 1), (1, 0)]  # (source, target)
    if heuristic != "grow":
        neighbours += [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    sources, targets = {s for s, _ in current}, {t for _, t in current}

    def add(point: tuple[int, int]) -> None:
        current.add(point)
        sources.add(point[0])
        targets.add(point[1])

    added = True
    while added:
        added = False
        last = (-1, -1)
        while True:
            later = [(t, s) for s, t in current if (t, s) > last]
            if not later:
                break
            last = min(later)
            for ds, dt in neighbours:
                point = last[1] + ds, last[0] + dt
                if point in forward | reverse and not (point[0] in sources and point[1] in targets):
                    add(point)
                    added = True
    if "final" in heuristic:
        for point in [*sorted(forward, key=lambda p: p[1]), *sorted(reverse)]:
            free = (point[0] not in sources) + (point[1] not in targets)
            if free == 2 or (free == 1 and not heuristic.endswith("and")):
                add(point)
    return current


@pytest.mark.parametrize(
    "name", ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "reverse"]
)
def test_equals_moses(name: str, data: Callable[[str], Path]) -> None:
    folder = data("reference/moses-str")
    result = symmetrize_files(folder / "align.forward", folder / "align.reverse", name).decode().splitlines()
    expected = (folder / f"align.{name}").read_text().splitlines()
    assert len(result) == len(expected) == 300
    for ours, theirs in zip(result, expected, strict=True):
        assert set(ours.split()) == set(theirs.split())


SIZE = 7
DIRECTION = st.lists(st.none() | st.integers(0, SIZE - 1), min_size=SIZE, max_size=SIZE)


@given(DIRECTION, DIRECTION, st.sampled_from(HEURISTICS))
def test_equals_second_implementation(first: list[int | None], second: list[int | None], heuristic: str) -> None:
    forward = {(s, t) for t, s in enumerate(first) if s is not None}
    reverse = {(s, t) for s, t in enumerate(second) if t is not None}
    result = symmetrize(forward, reverse, heuristic)
    assert list(result) == sorted(plain_symal(forward, reverse, heuristic))


@given(DIRECTION, DIRECTION)
def test_heuristics_are_ordered(first: list[int | None], second: list[int | None]) -> None:
    forward = {(s, t) for t, s in enumerate(first) if s is not None}
    reverse = {(s, t) for s, t in enumerate(second) if t is not None}
    results = [
        set(symmetrize(forward, reverse, name))
        for name in ("intersection", "grow-diag", "grow-diag-final-and", "grow-diag-final", "union")
    ]
    assert results[0] <= results[1] <= results[2] <= results[4]
    assert results[1] <= results[3] <= results[4]


def test_lines_and_names() -> None:
    assert symmetrize_lines(["0-0", "", "1-1"], ["0-0", "0-0", ""], "union") == ["0-0", "0-0", "1-1"]
    assert symmetrize_lines([], [], "union") == []
    assert format_links([(3, 1), (0, 2)]) == "0-2 3-1"
    with pytest.raises(TreeglotError, match="no heuristic 'grow-dia'"):
        symmetrize([], [], "grow-dia")
