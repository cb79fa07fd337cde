"""Dependency arcs over (or under) a line of words.

Levels: an arc lies one level above everything it spans, shorter arcs first. Ports: the arcs at one word leave it side by
side, the outer ones nearer to its middle, so that nested arcs never touch. A label sits on the outer side of its arc, in
the strip up to the next level, at a place that no vertical line of a crossing arc passes through; `ArcPlan` asks for
enough room between the words for that.

>>> from treeglot.trees.dependency import DependencyTree
>>> plan = ArcPlan.of(DependencyTree(["the", "old", "dog", "barks"], [2, 2, 3, -1], ["det", "amod", "nsubj", "root"]), 11)
>>> [(arc.head, arc.dependent, arc.level) for arc in plan.arcs]
[(2, 0, 2), (2, 1, 1), (3, 2, 1), (-1, 3, 2)]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.display.geometry import Box, Distance
from treeglot.trees.display.widths import pixels, visible
from treeglot.trees.tokens import UNSET

PORT = 7.0
"""Between the feet of two arcs at one word."""
ROOM = 12.0
"""Around a label, both sides together."""
CROSSING_LIMIT = 2000
"""Up to this many words labels keep clear of crossing arcs (a search that is quadratic at worst)."""


class PlannedArc(NamedTuple):
    """One arc: its level (1 is next to the words) and the offsets of its feet from the middles of the two words.

    The label stands between the feet of words ``label_from`` and ``label_to``. The arc of the root has ``head`` -1.
    ``lifted`` marks the true arc of a word that was attached higher to make the tree projective.
    """

    head: int
    dependent: int
    label: str
    level: int
    head_port: float
    dependent_port: float
    label_from: tuple[int, float]
    label_to: tuple[int, float]
    lifted: bool


class PlacedArc(NamedTuple):
    """An arc with coordinates: feet at ``x_head`` and ``x_dependent`` on ``y_words``, top (or bottom) at ``y``."""

    plan: PlannedArc
    x_head: float
    x_dependent: float
    y: float
    y_words: float
    label: Box


@dataclass(frozen=True)
class ArcPlan:
    """The arcs of a tree before the words have places: what they need (``widths``, ``distances``) and their ``levels``."""

    arcs: tuple[PlannedArc, ...]
    widths: tuple[float, ...]
    distances: tuple[Distance, ...]
    levels: int
    size: float

    @property
    def step(self) -> float:
        """The height of one level: a label and a line."""
        return round(self.size * 1.5 + 5, 2)

    @property
    def height(self) -> float:
        """From the feet to the outer side of the outermost label."""
        return self.step * (self.levels + 1)

    @classmethod
    def of(cls, tree: DependencyTree, size: float) -> ArcPlan:
        """Plan all arcs, the one to the root included, with labels of ``size`` pixels."""
        spans = [(min(j, head), max(j, head), j, False) for j, head in enumerate(tree.heads) if head != ROOT]
        if tree.true_heads is not None:
            for j, (head, true) in enumerate(zip(tree.heads, tree.true_heads, strict=True)):
                if head != true and true != ROOT:
                    spans.append((min(j, true), max(j, true), j, True))
        levels, root_level = _levels(spans, tree.root)
        ports, widths = _ports(spans, tree)
        label = {j: "" if relation == UNSET else visible(relation) for j, relation in enumerate(tree.deprels)}
        root_label = label[tree.root] or "root"
        widths[tree.root] = max(widths[tree.root], pixels(root_label, size) + ROOM)
        blocked = _crossings(spans, levels, ports, tree, root_level)
        arcs: list[PlannedArc] = []
        distances: list[Distance] = []
        for k, (low, high, j, lifted) in enumerate(spans):
            feet = [(low, ports[k][0]), *blocked.get(k, ()), (high, ports[k][1])]
            # The label goes into the longest stretch of words without a foot of a crossing arc.
            start = max(range(len(feet) - 1), key=lambda i: (feet[i + 1][0] - feet[i][0], -i))
            left, right = feet[start], feet[start + 1]
            wanted = pixels(label[j], size) + ROOM
            distances.append(Distance(left[0], right[0], wanted + left[1] - right[1]))
            head = tree.true_heads[j] if lifted and tree.true_heads is not None else tree.heads[j]
            low_port, high_port = ports[k]
            arcs.append(
                PlannedArc(
                    head,
                    j,
                    label[j],
                    levels[k],
                    low_port if head == low else high_port,
                    high_port if head == low else low_port,
                    left,
                    right,
                    lifted,
                )
            )
        root = tree.root
        arcs.append(PlannedArc(ROOT, root, root_label, root_level, 0.0, 0.0, (root, 0.0), (root, 0.0), False))
        return cls(
            tuple(arcs),
            tuple(widths),
            tuple(distances),
            max(root_level, max(levels, default=0)),
            size,
        )

    def place(self, centres: Sequence[float], y_words: float, *, up: bool, rtl: bool = False) -> list[PlacedArc]:
        """Over words with these centres. ``up``: the arcs rise from ``y_words``; else they hang down from it.
        ``rtl``: the centres run from right to left."""
        side = -1.0 if up else 1.0
        way = -1.0 if rtl else 1.0
        placed = []
        height = self.size * 1.25
        for arc in self.arcs:
            y = y_words + side * arc.level * self.step
            x_dependent = centres[arc.dependent] + way * arc.dependent_port
            x_head = x_dependent if arc.head == ROOT else centres[arc.head] + way * arc.head_port
            middle = (
                centres[arc.label_from[0]] + way * arc.label_from[1] + centres[arc.label_to[0]] + way * arc.label_to[1]
            ) / 2
            top = y - 3 - height if up else y + 3
            placed.append(
                PlacedArc(
                    arc, x_head, x_dependent, y, y_words, Box.around(middle, top, pixels(arc.label, self.size), height)
                )
            )
        return placed


Span = tuple[int, int, int, bool]


def _levels(spans: Sequence[Span], root: int) -> tuple[list[int], int]:
    """The level of each arc and of the root's arrow. The skyline over the gaps between words is kept as cells of equal
    height: an arc replaces the cells it covers by one."""
    starts, heights = (
        [-1],
        [0],
    )  # cell i covers the gaps from starts[i] to before starts[i + 1]; gap j is right of word j

    def cover(low: int, high: int) -> int:
        first = bisect_right(starts, low) - 1
        last = bisect_left(starts, high)
        level = max(heights[first:last]) + 1
        tail = heights[last - 1]
        new_starts, new_heights = [low], [level]
        if starts[first] < low:
            new_starts.insert(0, starts[first])
            new_heights.insert(0, heights[first])
        if last == len(starts) or starts[last] > high:
            new_starts.append(high)
            new_heights.append(tail)
        starts[first:last] = new_starts
        heights[first:last] = new_heights
        return level

    levels = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: (spans[k][1] - spans[k][0], spans[k])):
        levels[k] = cover(spans[k][0], spans[k][1])
    return levels, cover(root - 1, root + 1)


def _ports(spans: Sequence[Span], tree: DependencyTree) -> tuple[list[tuple[float, float]], list[float]]:
    """The offsets of the two feet of each arc, and the width that all feet of a word need.

    From left to right at a word: arcs to the left, short before long; the root's arrow; arcs to the right, long before
    short."""
    n = len(tree)
    left: list[list[int]] = [[] for _ in range(n)]
    right: list[list[int]] = [[] for _ in range(n)]
    order = sorted(range(len(spans)), key=lambda k: (spans[k][1] - spans[k][0], spans[k]))
    for k in order:
        right[spans[k][0]].append(k)
        left[spans[k][1]].append(k)
    low_port = [0.0] * len(spans)
    high_port = [0.0] * len(spans)
    widths = [0.0] * n
    for j in range(n):
        middle = 1 if j == tree.root else 0
        count = len(left[j]) + middle + len(right[j])
        start = -(count - 1) / 2 * PORT
        if middle:  # the root's arrow stands in the middle of its word
            start = -len(left[j]) * PORT
            widths[j] = 2 * max(len(left[j]), len(right[j])) * PORT + PORT
        else:
            widths[j] = count * PORT
        for place, k in enumerate(left[j]):
            high_port[k] = start + place * PORT
        for place, k in enumerate(reversed(right[j])):
            low_port[k] = start + (len(left[j]) + middle + place) * PORT
    return list(zip(low_port, high_port, strict=True)), widths


def _crossings(
    spans: Sequence[Span],
    levels: Sequence[int],
    ports: Sequence[tuple[float, float]],
    tree: DependencyTree,
    root_level: int,
) -> dict[int, list[tuple[int, float]]]:
    """For each arc the feet (word, offset), left to right, of higher arcs that pass through its own line."""
    if len(tree) > CROSSING_LIMIT or (tree.is_projective and tree.true_heads is None):
        return {}
    feet: list[list[tuple[float, int, int]]] = [[] for _ in range(len(tree))]  # offset, level, the arc's other end
    for k, (low, high, _, _) in enumerate(spans):
        feet[low].append((ports[k][0], levels[k], high))
        feet[high].append((ports[k][1], levels[k], low))
    feet[tree.root].append((0.0, root_level, -1))
    blocked: dict[int, list[tuple[int, float]]] = {}
    for k, (low, high, _, _) in enumerate(spans):
        crossing = [
            (j, offset)
            for j in range(low + 1, high)
            for offset, level, other in sorted(feet[j])
            if level > levels[k] and not low <= other <= high
        ]
        if crossing:
            blocked[k] = crossing
    return blocked
