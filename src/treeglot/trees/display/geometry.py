"""Boxes, and the line of words that every picture stands on.

Layout goes in two steps. A *plan* (of arcs, of phrases) knows no coordinates: it says how wide each word must be and how
far apart two words must stand so that labels fit. `place_words` then fixes the words, and the plan is placed over them.

>>> place_words([20, 20, 20], [Distance(0, 2, 100)], spacing=10)
[10.0, 40.0, 110.0]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle by its left upper corner; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @classmethod
    def around(cls, centre: float, y: float, width: float, height: float) -> Box:
        """The box of this width about a centre x."""
        return cls(centre - width / 2, y, width, height)

    @property
    def centre(self) -> float:
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


class Distance(NamedTuple):
    """The centres of words ``left`` < ``right`` stand at least ``least`` apart."""

    left: int
    right: int
    least: float


@dataclass(frozen=True)
class Look:
    """Sizes, in pixels. All of them follow the size of the words."""

    word: float = 15.0

    @property
    def small(self) -> float:
        """Tags, functions and dependency relations."""
        return round(self.word * 0.73, 2)

    @property
    def label(self) -> float:
        """Labels of phrases."""
        return round(self.word * 0.83, 2)

    @property
    def spacing(self) -> float:
        """Between two words."""
        return round(self.word * 0.8, 2)


def place_words(widths: Sequence[float], distances: Iterable[Distance], spacing: float) -> list[float]:
    """The leftmost centres that keep ``spacing`` between neighbours and every distance; the line starts at 0."""
    into: dict[int, list[Distance]] = {}
    for distance in distances:
        into.setdefault(distance.right, []).append(distance)
    centres: list[float] = []
    for j, width in enumerate(widths):
        x = width / 2 if j == 0 else centres[-1] + widths[j - 1] / 2 + spacing + width / 2
        for distance in into.get(j, ()):
            x = max(x, centres[distance.left] + distance.least)
        centres.append(round(x, 2))
    return centres
