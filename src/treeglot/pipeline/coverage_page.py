"""Coverage as pictures and a page: one SVG plot for each option that was varied, bars that compare grammars, and tables by length and
by reason of failure. Error bars are 95 % intervals (`treeglot.pipeline.coverage.Share.interval`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from treeglot.pipeline.coverage import REASONS, Coverage, Share

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 320, 52, 150, 16, 44
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")

Line = Sequence[tuple[float, Share]]


def plot(lines: Mapping[str, Line], label: str) -> str:
    """An SVG of per cent recovered over the values of an option, a line for each name.

    >>> plot({"mwu": [(1, Share(40, 100)), (2, Share(55, 100))]}, "k").count("<circle")
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
        ordered = sorted(line, key=lambda point: point[0])
        points = [place(x, share.percent) for x, share in ordered]
        for value, share in ordered:
            (x, top), (_, bottom) = (place(value, bound) for bound in reversed(share.interval))
            parts.append(
                f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{colour}" stroke-opacity="0.5"/>'
            )
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), (_, share) in zip(points, ordered, strict=True):
            counts = f"{escape(name)}: {share.recovered:,} of {share.pairs:,} pairs, {share.percent:.1f} %"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{counts}</title></circle>')
        y = _TOP + 14 + 18 * number
        parts.append(f'<text x="{_WIDTH - _RIGHT + 12}" y="{y}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def name_of(point: Coverage, without: str = "") -> str:
    """A grammar with the options that were given."""
    options = " ".join(f"{name}={value}" for name, value in point.options.items() if name != without)
    return " ".join(filter(None, (point.grammar, "+ phrases" if point.phrases else "", options)))


def bars(points: Sequence[Coverage]) -> str:
    """An SVG with a bar for each setting: per cent recovered, with its interval and the counts."""
    row, left, right = 22, 40 + 7 * max((len(name_of(point)) for point in points), default=0), 150
    width, height = left + 400 + right, row * len(points) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Recovered pairs by grammar</title>",
    ]
    for percent in range(0, 101, 20):
        x = left + 4 * percent
        parts.append(f'<line x1="{x}" y1="6" x2="{x}" y2="{height - 24}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle" fill="currentColor">{percent} %</text>')
    grammars = list(dict.fromkeys(point.grammar for point in points))
    for number, point in enumerate(points):
        y, share = 8 + row * number, point.total
        colour = _COLOURS[grammars.index(point.grammar) % len(_COLOURS)]
        low, high = (left + 4 * bound for bound in share.interval)
        parts.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" fill="currentColor">{escape(name_of(point))}</text>'
        )
        parts.append(
            f'<rect x="{left}" y="{y}" width="{4 * share.percent:.1f}" height="{row - 6}" fill="{colour}" '
            f'fill-opacity="{0.5 if point.phrases else 0.9}"/>'
        )
        parts.append(
            f'<line x1="{low:.1f}" y1="{y + 8}" x2="{high:.1f}" y2="{y + 8}" stroke="currentColor" stroke-width="1.5"/>'
        )
        counts = f"{share.percent:.1f} % ({share.recovered:,} of {share.pairs:,})"
        parts.append(f'<text x="{left + 410}" y="{y + 12}" fill="currentColor">{counts}</text>')
    return "\n".join([*parts, "</svg>\n"])


def plots(points: Sequence[Coverage], varied: Sequence[str]) -> dict[str, str]:
    """A plot for each option that was varied, by its name; of several grammars, or one with and without phrases, also ``grammars``:
    their bars without that."""
    result = {}
    plain = [point for point in points if not point.options.keys() & set(varied)]
    if len(plain) > 1:
        result["grammars"] = bars(plain)
    for option in varied:
        lines: dict[str, list[tuple[float, Share]]] = {}
        for point in points:
            if option in point.options:
                lines.setdefault(name_of(point, option), []).append((float(point.options[option]), point.total))
        lines = {name: line for name, line in lines.items() if len(line) > 1}
        if lines:
            result[option] = plot(lines, option)
    return result


def _cell(share: Share) -> str:
    if not share.pairs:
        return "<td>–</td>"
    return f'<td title="{share.recovered:,} of {share.pairs:,}">{share.percent:.1f}</td>'


def page(points: Sequence[Coverage], varied: Sequence[str]) -> str:
    """A page with the plots and tables."""
    lengths = list(points[0].by_length) if points else []
    rows = []
    for point in points:
        low, high = point.total.interval
        cells = [
            f"<th>{escape(name_of(point))}</th>",
            f'<td title="{low:.1f} to {high:.1f}">{point.total.percent:.1f} ± {(high - low) / 2:.1f}</td>',
        ]
        cells += [_cell(share) for share in (*point.by_length.values(), point.one_unit)]
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
then how many fail for which reason. Bars and ± are 95 % intervals.</p>
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
