"""Constituency trees over (or under) a line of words, with crossing branches where phrases are discontinuous.

A phrase's row is one above everything its closure covers, shorter closures first, so that the horizontal parts of two
branches never lie on each other. Its label stands over one unbroken block of its own words; as the blocks of unrelated
phrases share no column, no branch passes through a label.

>>> from treeglot.trees.constituency import ConstituencyTree
>>> plan = PhrasePlan.of(ConstituencyTree.build("he wakes her up".split(), ("S", 0, ("VP", ("V", 1, 3), 2))), 12, 11)
>>> plan.rows, plan.blocks
((3, 2, 1), ((0, 4), (1, 4), (1, 2)))
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.display.geometry import Box, Distance
from treeglot.trees.display.labels import shown_function, shown_labels
from treeglot.trees.display.widths import pixels, visible

ROOM = 8.0
"""Around a label, both sides together."""
LABEL_BAND = 1.3
"""The height of a label, by its size."""
GAP = 17.0
"""Between two rows, for the branches."""


class PlacedPhrase(NamedTuple):
    """A phrase with coordinates: ``box`` holds its function (on the side of the parent) and its label."""

    number: int
    label: str
    function: str
    box: Box


class Branch(NamedTuple):
    """The line from phrase ``parent`` to ``child``: down from ``x_parent`` at ``y_parent``, across at ``y_bend``, on to
    the child. ``secondary`` is the label of a secondary edge, None for a branch of the tree."""

    parent: int
    child: NodeRef
    x_parent: float
    y_parent: float
    y_bend: float
    x_child: float
    y_child: float
    secondary: str | None = None


@dataclass(frozen=True)
class PhrasePlan:
    """The phrases of a tree before the words have places. ``rows[n]`` counts from 1, next to the words; ``blocks[n]`` is
    the block of words (half-open) that the label of phrase n stands over."""

    tree: ConstituencyTree
    rows: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    functions: tuple[str, ...]
    label_widths: tuple[float, ...]
    size: float
    small: float

    @classmethod
    def of(cls, tree: ConstituencyTree, size: float, small: float) -> PhrasePlan:
        """Plan with labels of ``size`` pixels and functions of ``small`` pixels."""
        labels = shown_labels(tree)
        functions = tuple(map(shown_function, tree.functions))
        widths = tuple(
            max(pixels(label, size), pixels(function, small)) + ROOM
            for label, function in zip(labels, functions, strict=True)
        )
        return cls(tree, _rows(tree), _blocks(tree), labels, functions, widths, size, small)

    @cached_property
    def box_height(self) -> float:
        return round(self.size * LABEL_BAND + (self.small * 1.25 if any(self.functions) else 0), 2)

    @property
    def step(self) -> float:
        """The height of one row."""
        return self.box_height + GAP

    @property
    def height(self) -> float:
        """From the words' side to the outer side of the root."""
        return self.step * max(self.rows, default=0)

    def widths(self) -> list[float]:
        """How wide each word must be for the labels over it alone."""
        widths = [0.0] * len(self.tree.tokens)
        for (start, end), width in zip(self.blocks, self.label_widths, strict=True):
            if end == start + 1:
                widths[start] = max(widths[start], width)
        return widths

    def distances(self, word_widths: Sequence[float]) -> list[Distance]:
        """How far the first and the last word of a block must stand apart for the labels over the block."""
        return [
            Distance(start, end - 1, width - (word_widths[start] + word_widths[end - 1]) / 2)
            for (start, end), width in zip(self.blocks, self.label_widths, strict=True)
            if end > start + 1
        ]

    def place(
        self, centres: Sequence[float], word_widths: Sequence[float], y_words: float, *, up: bool
    ) -> tuple[list[PlacedPhrase], list[Branch]]:
        """Over words with these centres and widths. ``up``: the tree grows up from ``y_words``; else down from it."""
        side = -1.0 if up else 1.0
        tree = self.tree
        xs = [0.0] * len(tree)
        for n in range(len(tree) - 1, -1, -1):
            ends = [xs[child] if child >= 0 else centres[~child] for child in tree.children[n]]
            first, last = self.blocks[n][0], self.blocks[n][1] - 1
            if centres[first] > centres[last]:
                first, last = last, first
            half = self.label_widths[n] / 2
            low = centres[first] - word_widths[first] / 2 + half
            high = centres[last] + word_widths[last] / 2 - half
            xs[n] = round(min(max((min(ends) + max(ends)) / 2, low), max(low, high)), 2)
        inner = [y_words + side * (self.step * row - self.box_height) for row in self.rows]  # the side of the children
        phrases = []
        branches = []
        for n, x in enumerate(xs):
            top = inner[n] - self.box_height if up else inner[n]
            box = Box.around(x, top, self.label_widths[n], self.box_height)
            phrases.append(PlacedPhrase(n, self.labels[n], self.functions[n], box))
            for child in tree.children[n]:
                if child < 0:
                    x_child, y_child = centres[~child], y_words
                else:  # down to the function, or to the label where there is none
                    reach = self.box_height if self.functions[child] else self.size * LABEL_BAND
                    x_child, y_child = xs[child], inner[child] + side * reach
                branches.append(Branch(n, child, x, inner[n], inner[n] - side * GAP * 0.45, x_child, y_child))
        for edge in tree.secondary:
            if edge.parent < 0:
                continue
            x, y = (xs[edge.node], inner[edge.node]) if edge.node >= 0 else (centres[~edge.node], y_words)
            bend = min(inner[edge.parent], y) if up else max(inner[edge.parent], y)
            branches.append(
                Branch(edge.parent, edge.node, xs[edge.parent], inner[edge.parent], bend, x, y, visible(edge.label))
            )
        return phrases, branches


def _rows(tree: ConstituencyTree) -> tuple[int, ...]:
    height = [1] * len(tree)
    for n in range(len(tree) - 1, -1, -1):
        for child in tree.children[n]:
            if child >= 0:
                height[n] = max(height[n], height[child] + 1)
    spans = tree.spans
    # The skyline over the words as cells of equal height: a phrase replaces the cells of its closure by one.
    starts, tops = [0], [0]
    rows = [0] * len(tree)
    for n in sorted(range(len(tree)), key=lambda n: (spans[n][1] - spans[n][0], height[n], spans[n])):
        low, high = spans[n]
        first, last = bisect_right(starts, low) - 1, bisect_left(starts, high)
        rows[n] = max(tops[first:last]) + 1
        tail = tops[last - 1]
        new_starts, new_tops = [low], [rows[n]]
        if starts[first] < low:
            new_starts.insert(0, starts[first])
            new_tops.insert(0, tops[first])
        if last == len(starts) or starts[last] > high:
            new_starts.append(high)
            new_tops.append(tail)
        starts[first:last] = new_starts
        tops[first:last] = new_tops
    return tuple(rows)


def words_below(tree: ConstituencyTree, node: NodeRef) -> list[int]:
    """The words under one node, without the table of all yields that `ConstituencyTree.yields` builds."""
    words = []
    stack = [node]
    while stack:
        n = stack.pop()
        if n < 0:
            words.append(~n)
        else:
            stack.extend(tree.children[n])
    return sorted(words)


def gaps(tree: ConstituencyTree) -> list[bool]:
    """For each phrase whether it has a gap; linear in the size of the tree."""
    size = [0] * len(tree)
    for n in range(len(tree) - 1, -1, -1):
        size[n] = sum(size[child] if child >= 0 else 1 for child in tree.children[n])
    return [high - low != count for (low, high), count in zip(tree.spans, size, strict=True)]


def runs(words: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted word numbers as half-open blocks of neighbours.

    >>> runs([1, 2, 5])
    [(1, 3), (5, 6)]
    """
    blocks: list[tuple[int, int]] = []
    for j in words:
        if blocks and blocks[-1][1] == j:
            blocks[-1] = (blocks[-1][0], j + 1)
        else:
            blocks.append((j, j + 1))
    return blocks


def _blocks(tree: ConstituencyTree) -> tuple[tuple[int, int], ...]:
    """The longest unbroken block of each phrase, the first of them if several."""
    gap = gaps(tree)
    return tuple(
        max(runs(words_below(tree, n)), key=lambda block: (block[1] - block[0], -block[0])) if gap[n] else tree.spans[n]
        for n in range(len(tree))
    )
