"""Coverage as pictures and a page: one SVG plot for each option that was varied, bars that compare grammars, and tables by length and
by reason of failure. Error bars are 95 % intervals (`treeglot.pipeline.coverage.Share.interval`)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from treeglot.pages import page as framed
from treeglot.pipeline.coverage import REASONS, Coverage, Share
from treeglot.plots import Point, colour, opening, plot


def name_of(point: Coverage, without: str = "") -> str:
    """A grammar with the options that were given."""
    options = " ".join(f"{name}={value}" for name, value in point.options.items() if name != without)
    return " ".join(filter(None, (point.grammar, "+ phrases" if point.phrases else "", options)))


def bars(points: Sequence[Coverage]) -> str:
    """An SVG with a bar for each setting: per cent recovered, with its interval and the counts."""
    row, left, right = 22, 40 + 7 * max((len(name_of(point)) for point in points), default=0), 150
    width, height = left + 400 + right, row * len(points) + 34
    parts = [opening(width, height, "Recovered pairs by grammar")]
    for percent in range(0, 101, 20):
        x = left + 4 * percent
        parts.append(f'<line x1="{x}" y1="6" x2="{x}" y2="{height - 24}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle" fill="currentColor">{percent} %</text>')
    grammars = list(dict.fromkeys(point.grammar for point in points))
    for number, point in enumerate(points):
        y, share = 8 + row * number, point.total
        fill = colour(grammars.index(point.grammar))
        low, high = (left + 4 * bound for bound in share.interval)
        parts.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" fill="currentColor">{escape(name_of(point))}</text>'
        )
        parts.append(
            f'<rect x="{left}" y="{y}" width="{4 * share.percent:.1f}" height="{row - 6}" fill="{fill}" '
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
        lines: dict[str, list[Point]] = {}
        for point in points:
            if option in point.options:
                share = point.total
                counts = f"{share.recovered:,} of {share.pairs:,} pairs"
                lines.setdefault(name_of(point, option), []).append(
                    Point(float(point.options[option]), share.percent, *share.interval, note=counts)
                )
        lines = {name: line for name, line in lines.items() if len(line) > 1}
        if lines:
            result[option] = plot(lines, f"Recovered pairs by {option}", option, limits=(0, 100), unit=" %", digits=1)
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
    body = f"""<p>Per cent of {pairs} sentence pairs whose target the rules extracted from them can rebuild exactly, by the number of source words;
then how many fail for which reason. Bars and ± are 95 % intervals.</p>
{pictures}
<table>
<thead><tr>{"".join(f"<th>{escape(head)}</th>" for head in heads)}</tr></thead>
<tbody>
{chr(10).join(rows)}
</tbody>
</table>
<p>Pairs of <i>one unit</i> have no more source words than one unit may have. Reasons:</p>
<ul>{notes}</ul>"""
    return framed("Coverage", body)
