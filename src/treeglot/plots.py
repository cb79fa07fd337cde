"""Lines over numbers as SVG, with intervals and what a pointer on them says.

>>> picture = plot({"run 1": [Point(1, 10.0), Point(2, 12.5)]}, "BLEU by round", "round")
>>> picture.count("<circle"), "round" in picture
(2, True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
_HEIGHT, _LEFT, _TOP, _BOTTOM, _INNER = 320, 58, 16, 44, 400


class Point(NamedTuple):
    """A value at ``x``, with an interval around it if there is one, and a note beside the numbers."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""


def colour(number: int) -> str:
    """Of the line, or bar, of that number."""
    return COLOURS[number % len(COLOURS)]


def opening(width: float, height: float, title: str) -> str:
    """The beginning of an SVG with text."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="sans-serif" font-size="12" role="img">\n<title>{escape(title)}</title>'
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that enclose a range.

    >>> ticks(0, 100), ticks(17.2, 19.1), ticks(3, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [17.0, 17.5, 18.0, 18.5, 19.0, 19.5], [2.0, 2.5, 3.0, 3.5, 4.0])
    """
    if not low < high:
        low, high = low - 1, high + 1
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [round(number * step, 10) for number in range(first, last + 1)]


def plot(
    lines: Mapping[str, Sequence[Point]],
    title: str,
    label: str = "",
    *,
    limits: tuple[float, float] | None = None,
    unit: str = "",
    digits: int = 2,
) -> str:
    """A line for each name. label: of the horizontal axis. limits: of the vertical one, if not as far as the values go. unit: behind its
    numbers; ``digits`` have the numbers that a pointer shows."""
    points = [point for line in lines.values() for point in line]
    values = sorted({point.x for point in points}) or [0.0]
    low, high = values[0], max(values[-1], values[0] + 1)
    ends = [end for p in points for end in (p.y, p.low, p.high) if end is not None] or [0.0]
    marks = ticks(*(limits or (min(ends), max(ends))))
    right = 24 + 7 * max((len(name) for name in lines), default=0)
    width, inner = _LEFT + _INNER + right, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + (x - low) / (high - low) * _INNER,
            _TOP + (marks[-1] - y) / (marks[-1] - marks[0]) * inner,
        )

    parts = [opening(width, _HEIGHT, title)]
    for mark in marks:
        _, y = place(low, mark)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _INNER}" y2="{y:.1f}" stroke="#8884"/>')
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{mark:.10g}{unit}</text>'
        )
    for value in values[:: -(-len(values) // 20)]:
        x, _ = place(value, low)
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle" fill="currentColor">{value:g}</text>'
        )
    parts.append(
        f'<text x="{_LEFT + _INNER / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle" fill="currentColor">{escape(label)}</text>'
    )
    for number, (name, line) in enumerate(lines.items()):
        stroke = colour(number)
        ordered = sorted(line, key=lambda point: point.x)
        for point in ordered:
            if point.low is not None and point.high is not None:
                (x, top), (_, bottom) = place(point.x, point.high), place(point.x, point.low)
                parts.append(
                    f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{stroke}" stroke-opacity="0.5"/>'
                )
        places = [place(point.x, point.y) for point in ordered]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="2"/>')
        for (x, y), point in zip(places, ordered, strict=True):
            says = f"{name}, {label} {point.x:g}: {point.y:.{digits}f}{unit}" + (
                f", {point.note}" if point.note else ""
            )
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{stroke}"><title>{escape(says.lstrip(", "))}</title></circle>'
            )
        y = _TOP + 14 + 18 * number
        parts.append(f'<text x="{_LEFT + _INNER + 12}" y="{y}" fill="{stroke}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])
