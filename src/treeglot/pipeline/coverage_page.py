"""Coverage as pictures and a page: one SVG plot for each option that was varied, and tables by length and by reason of failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from treeglot.pipeline.coverage import REASONS, Coverage

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 320, 52, 150, 16, 44
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")

Line = Sequence[tuple[float, float]]


def plot(lines: Mapping[str, Line], label: str) -> str:
    """An SVG of per cent recovered over the values of an option, a line for each name.

    >>> plot({"mwu": [(1, 40.0), (2, 55.5)]}, "k").count("<circle")
    2
    """
    values = sorted({x for line in lines.values() for x, _ in line})
    low, high = values[0], max(values[-1], values[0] + 1)
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + (x - low) / (high - low) * inner_width, _TOP + (100 - y) / 100 * inner_height

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="12" role="img">',
        f"<title>Recovered pairs by {escape(label)}</title>",
    ]
    for percent in range(0, 101, 20):
        _, y = place(low, percent)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{percent} %</text>')
    for value in values:
        x, y = place(value, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle" fill="currentColor">{value:g}</text>')
    middle = _LEFT + inner_width / 2
    parts.append(
        f'<text x="{middle:.1f}" y="{_HEIGHT - 8}" text-anchor="middle" fill="currentColor">{escape(label)}</text>'
    )
    for number, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [place(x, y) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
        y = _TOP + 14 + 18 * number
        parts.append(f'<text x="{_WIDTH - _RIGHT + 12}" y="{y}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def name_of(point: Coverage, without: str = "") -> str:
    """A grammar with the options that were given."""
    options = " ".join(f"{name}={value}" for name, value in point.options.items() if name != without)
    return " ".join(filter(None, (point.grammar, "+ phrases" if point.phrases else "", options)))


def plots(points: Sequence[Coverage], varied: Sequence[str]) -> dict[str, str]:
    """A plot for each option that was varied, by its name."""
    result = {}
    for option in varied:
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in points:
            if option in point.options:
                lines.setdefault(name_of(point, option), []).append((float(point.options[option]), point.total.percent))
        lines = {name: line for name, line in lines.items() if len(line) > 1}
        if lines:
            result[option] = plot(lines, option)
    return result


def page(points: Sequence[Coverage], varied: Sequence[str]) -> str:
    """A page with the plots and tables."""
    lengths = list(points[0].by_length) if points else []
    rows = []
    for point in points:
        cells = [f"<th>{escape(name_of(point))}</th>", f"<td>{point.total.percent:.1f}</td>"]
        cells += [
            f"<td>{share.percent:.1f}</td>" if share.pairs else "<td>–</td>" for share in point.by_length.values()
        ]
        cells.append(f"<td>{point.one_unit.percent:.1f}</td>" if point.one_unit.pairs else "<td>–</td>")
        cells += [f"<td>{point.reasons[reason]:,}</td>" for reason in REASONS]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = ["", "all", *lengths, "one unit", *REASONS]
    notes = "".join(f"<li><b>{escape(name)}</b>: {escape(text)}</li>" for name, text in REASONS.items())
    pairs = f"{points[0].total.pairs:,}" if points else "0"
    pictures = "".join(f"<figure>{picture}</figure>" for picture in plots(points, varied).values())
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Coverage</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #8888; padding: 0.25em 0.6em; text-align: right; }}
tbody th {{ text-align: left; font-weight: normal; }}
</style>
</head>
<body>
<h1>Coverage</h1>
<p>Per cent of {pairs} sentence pairs whose target the rules extracted from them can rebuild exactly, by the number of source words;
then how many fail for which reason.</p>
{pictures}
<table>
<thead><tr>{"".join(f"<th>{escape(head)}</th>" for head in heads)}</tr></thead>
<tbody>
{chr(10).join(rows)}
</tbody>
</table>
<p>Pairs of <i>one unit</i> have no more source words than one unit may have. Reasons:</p>
<ul>{notes}</ul>
</body>
</html>
"""
