"""A page of the sentence pairs on which two aligners disagree: sums at the top, then a matrix of links for each pair.

It is one file, needs no network and no script, and follows the reader's choice of light or dark.

>>> from treeglot.alignment.disagreements import Disagreement
>>> pair = Disagreement(6, ("das", "<b>"), ("the", "b"), {(0, 0), (1, 1)}, {(0, 0)}, sure={(0, 0)})
>>> html = disagreement_page([pair], [pair], names=("own", "eflomal"), title="Two aligners")
>>> "pair 7" in html, "&lt;b&gt;" in html, "<b>" in html, "only own, wrong" in html
(True, True, False, True)
"""

from __future__ import annotations

from collections.abc import Sequence

from treeglot.alignment.disagreements import Disagreement, Summary, Who, summarize
from treeglot.pages import page
from treeglot.trees.display.svg import FONTS, escape, number
from treeglot.trees.display.widths import clip, guess_language, pixels

WORDS = 20
"""Word pairs that are linked by one aligner alone, in the table at the top."""

_CELL, _FONT, _LEAN = 17.0, 13.0, 0.7
_STYLE = """\
body{font-family:%s}
:root{--first:#1769c2;--second:#cf4b12;--both:#8a95a5;--grid:#8883;--right:#0a8f6c}
@media (prefers-color-scheme:dark){:root{--first:#6fb1ff;--second:#ff8a57;--both:#7d8a9c;--right:#3ecfa5}}
.tables{display:flex;flex-wrap:wrap;gap:2em;align-items:start}
td.word{text-align:start}
section{content-visibility:auto;contain-intrinsic-size:auto 30em;border-top:1px solid #8886;margin-top:1.2em}
section h2{font-size:1rem;font-weight:600}
section p{margin:.2em 0}
.scroll{overflow-x:auto}
svg.links text{font-size:13px;fill:currentColor}
svg.links .grid{stroke:var(--grid);fill:none}
svg.links .both{fill:var(--both)}
svg.links .first{fill:var(--first)}
svg.links .second{fill:var(--second)}
svg.links .sure{fill:none;stroke:var(--right);stroke-width:2.5}
svg.links .possible{fill:none;stroke:var(--right);stroke-width:2;stroke-dasharray:3 2}
svg.links .letter{fill:#fff;font-size:11px;font-weight:700;text-anchor:middle;pointer-events:none}
.key span{display:inline-block;min-width:1.1em;text-align:center;color:#fff;font-size:11px;font-weight:700;margin:0 .3em 0 1em}
.key .both{background:var(--both)}
.key .first{background:var(--first)}
.key .second{background:var(--second)}
.key .sure{outline:2.5px solid var(--right);outline-offset:-2px}
.key .possible{outline:2px dashed var(--right);outline-offset:-2px}
@media (prefers-color-scheme:dark){svg.links .letter,.key span{fill:#111;color:#111}}
"""


def disagreement_page(
    shown: Sequence[Disagreement], pairs: Sequence[Disagreement], *, names: tuple[str, str], title: str
) -> str:
    """The page of the pairs that are shown; the sums are those of all ``pairs``."""
    summary = summarize(pairs)
    body = [_sums(summary, names), _key(names, summary.aer is not None)]
    body += (_section(pair, names) for pair in shown)
    if len(shown) < len(pairs):
        body.append(f"<p>{len(pairs) - len(shown):,} more pairs are not shown.</p>")
    return page(title, "\n".join(body), width="90em", style=_STYLE.replace("%s", FONTS))


def whose(names: tuple[str, str]) -> dict[Who, str]:
    """What links are called by who has them."""
    return {"both": "both", "first": f"only {names[0]}", "second": f"only {names[1]}", "neither": "neither"}


def _sums(summary: Summary, names: tuple[str, str]) -> str:
    lines = [
        f"<p>{summary.pairs:,} sentence pairs, {summary.same:,} of them with the same links. "
        f"Agreement of the links (F1): {100 * summary.agreement:.1f} %.</p>"
    ]
    judged = summary.aer is not None
    if summary.aer is not None:
        rates = ", ".join(f"{escape(name)} {100 * rate:.2f}" for name, rate in zip(names, summary.aer, strict=True))
        lines.append(f"<p>Alignment error rate in percent: {rates}.</p>")
    rows = ["<tr><th>links of<th>links" + ("<th>right<th>wrong<th>right, %" if judged else "") + "</tr>"]
    for who, name in whose(names).items():
        links, right = summary.links[who], summary.right[who]
        if who == "neither":
            if judged:
                rows.append(f"<tr><th>{name}<td>{links:,}<td>{links:,} sure<td><td></tr>")
            continue
        more = f"<td>{right:,}<td>{links - right:,}<td>{100 * right / links if links else 0:.1f}" if judged else ""
        rows.append(f"<tr><th>{escape(name)}<td>{links:,}{more}</tr>")
    tables = ["<table>", *rows, "</table>"]
    if summary.words:
        first, second = map(escape, names)
        more = "<th>of these right" if judged else ""
        tables.append(f"<table><tr><th colspan=2>linked by one alone<th>{first}{more}<th>{second}{more}</tr>")
        for source, target, one, two, one_right, two_right in summary.words[:WORDS]:
            cells = [one, one_right, two, two_right] if judged else [one, two]
            values = "".join(f"<td>{value:,}" for value in cells)
            tables.append(f'<tr><td class="word">{escape(source)}<td class="word">{escape(target)}{values}</tr>')
        tables.append("</table>")
    return "\n".join([*lines, '<div class="tables">', *tables, "</div>"])


def _key(names: tuple[str, str], judged: bool) -> str:
    first, second = map(escape, names)
    text = (
        f'<p class="key"><span class="both">&nbsp;</span>both <span class="first">A</span>only {first} '
        f'<span class="second">B</span>only {second}'
    )
    if judged:
        text += (
            ' <span class="sure">&nbsp;</span>sure by hand <span class="possible">&nbsp;</span>possible by hand; '
            "without a frame: wrong"
        )
    return text + "</p>"


def _section(pair: Disagreement, names: tuple[str, str]) -> str:
    counts = f"{pair.different} links of one alone"
    if pair.sure is not None:
        wrong = sum(pair.is_right(link) is False for link in pair.links)
        missed = sum(pair.who(link) == "neither" for link in pair.links)
        counts += f", {wrong} wrong, {missed} sure ones of neither"
    return (
        f'<section id="p{pair.number + 1}"><h2>pair {pair.number + 1}: {counts}</h2>\n'
        f'<p dir="auto">{escape(" ".join(pair.source))}</p>\n<p dir="auto">{escape(" ".join(pair.target))}</p>\n'
        f'<div class="scroll">{_matrix(pair, names)}</div></section>'
    )


def _matrix(pair: Disagreement, names: tuple[str, str]) -> str:
    """Source words down, target words across, a square for each link."""
    source, target = ([clip(word, 24) for word in side] for side in (pair.source, pair.target))
    left = 8 + max((pixels(word, _FONT) for word in source), default=0.0)
    tall = max((pixels(word, _FONT) for word in target), default=0.0)
    top = 10 + _LEAN * tall + _FONT * 0.5
    right, bottom = left + _CELL * len(target), top + _CELL * len(source)
    width, height = right + _LEAN * tall + 8, bottom + 4
    n = number
    lines = "".join(f"M{n(left)} {n(top + _CELL * k)}H{n(right)}" for k in range(len(source) + 1))
    lines += "".join(f"M{n(left + _CELL * k)} {n(top)}V{n(bottom)}" for k in range(len(target) + 1))
    parts = [
        f'<svg class="links" width="{n(round(width))}" height="{n(round(height))}" role="img" '
        f'aria-label="links of pair {pair.number + 1}" lang="{guess_language(pair.target)}">',
        f'<path class="grid" d="{lines}"/>',
    ]
    for s, word in enumerate(source):
        y = top + _CELL * (s + 0.75)
        parts.append(f'<text x="{n(left - 5)}" y="{n(y)}" text-anchor="end">{escape(word)}</text>')
    for t, word in enumerate(target):
        x, y = left + _CELL * (t + 0.6), top - 5
        parts.append(f'<text x="{n(x)}" y="{n(y)}" transform="rotate(-45 {n(x)} {n(y)})">{escape(word)}</text>')
    called = whose(names)
    letters = {"first": "A", "second": "B"}
    for link in pair.links:
        s, t = link
        who = pair.who(link)
        x, y, size = left + _CELL * t, top + _CELL * s, _CELL
        judgement = {True: ", right", False: ", wrong", None: ""}[pair.is_right(link)]
        note = escape(f"{pair.source[s]} – {pair.target[t]}: {called[who]}{judgement}")
        cell = f'x="{n(x + 1.5)}" y="{n(y + 1.5)}" width="{n(size - 3)}" height="{n(size - 3)}"'
        parts.append(f"<g><title>{note}</title>")
        if who != "neither":
            parts.append(f'<rect class="{who}" {cell}/>')
        if who in letters:
            parts.append(f'<text class="letter" x="{n(x + size / 2)}" y="{n(y + size * 0.74)}">{letters[who]}</text>')
        if pair.is_right(link):
            kind = "sure" if link in (pair.sure or ()) else "possible"
            parts.append(f'<rect class="{kind}" {cell}/>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])
