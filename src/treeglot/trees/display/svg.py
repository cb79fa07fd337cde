"""The building blocks of pictures: escaped elements, one style sheet, and the document around them.

Nothing is imported to draw: SVG is written as text, numbers are rounded, and the same tree gives the same bytes. Colours
come from a style sheet with a light and a dark palette (no CSS variables, which many converters cannot read).

>>> text(10, 20, "R&D <now>", "tg-word")
'<text class="tg-word" x="10" y="20">R&amp;D &lt;now&gt;</text>'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from treeglot.errors import ConfigError
from treeglot.trees.display.geometry import Look
from treeglot.trees.display.widths import visible

Theme = Literal["auto", "light", "dark", "inherit"]
"""``auto`` follows the reader's system, ``inherit`` has no background and takes the colour of the text around it."""

FONTS = (
    "'Noto Sans','Segoe UI','Helvetica Neue',Arial,'Noto Sans Arabic','Noto Sans Hebrew','Noto Sans Devanagari',"
    "'Noto Sans Thai','Noto Sans CJK SC','PingFang SC','Hiragino Sans','Microsoft YaHei','DejaVu Sans',sans-serif"
)

_LIGHT = {
    "paper": "#ffffff", "ink": "#1b2330", "soft": "#5d6b7e", "line": "#93a1b3", "phrase": "#1f4fa8", "arc": "#5b6675",
    "relation": "#9a3412", "word_link": "#8894a5", "good": "#0a8f6c", "fuzzy": "#c97a00", "both": "#0a8f6c",
    "gold": "#1769c2", "system": "#cf4b12", "chip": "#e8eef8",
}  # fmt: skip
_DARK = {
    "paper": "#151a21", "ink": "#e8ecf2", "soft": "#9fadbf", "line": "#64748b", "phrase": "#93b8ff", "arc": "#93a1b3",
    "relation": "#f5a97f", "word_link": "#7d8a9c", "good": "#3ecfa5", "fuzzy": "#f0b040", "both": "#3ecfa5",
    "gold": "#6fb1ff", "system": "#ff8a57", "chip": "#243044",
}  # fmt: skip
_COLOURS = """\
{s} .tg-paper{{fill:{paper}}}
{s} .tg-word,{s} .tg-legend{{fill:{ink}}}
{s} .tg-tag,{s} .tg-function{{fill:{soft}}}
{s} .tg-label{{fill:{phrase}}}
{s} .tg-branch path,{s} .tg-drop{{stroke:{line}}}
{s} .tg-arc path{{stroke:{arc}}}
{s} .tg-arc .tg-head{{fill:{arc};stroke:none}}
{s} .tg-arc text{{fill:{relation};stroke:{paper}}}
{s} .tg-word,{s} .tg-tag,{s} .tg-label,{s} .tg-function,{s} .tg-branch text{{stroke:{paper}}}
{s} .tg-branch text{{fill:{soft}}}
{s} .tg-linked{{fill:{chip}}}
{s} .tg-word-link{{stroke:{word_link}}}
{s} .tg-good{{stroke:{good}}}
{s} .tg-fuzzy{{stroke:{fuzzy}}}
{s} .tg-both{{stroke:{both}}}
{s} .tg-gold-only{{stroke:{gold}}}
{s} .tg-system-only{{stroke:{system}}}
"""
_SHAPES = """\
.treeglot{font-family:%(fonts)s}
.treeglot text{text-anchor:middle}
.treeglot .tg-word{font-size:%(word)spx}
.treeglot .tg-tag,.treeglot .tg-function,.treeglot .tg-arc text,.treeglot .tg-branch text{font-size:%(small)spx}
.treeglot .tg-function{font-style:italic}
.treeglot .tg-label{font-size:%(label)spx;font-weight:600}
.treeglot .tg-word,.treeglot .tg-tag,.treeglot .tg-label,.treeglot .tg-function,.treeglot .tg-arc text,.treeglot .tg-branch text{stroke-width:3;stroke-linejoin:round;paint-order:stroke}
.treeglot .tg-legend{font-size:%(small)spx}
.treeglot .tg-legend text{text-anchor:start}
.treeglot path,.treeglot line{fill:none;stroke-width:1.2}
.treeglot .tg-lifted path,.treeglot .tg-secondary path{stroke-dasharray:4 3}
.treeglot .tg-drop{stroke-dasharray:1 3}
.treeglot .tg-word-link{stroke-width:1.3}
.treeglot .tg-node-link{stroke-width:1.8;opacity:.75}
.treeglot .tg-fuzzy{stroke-dasharray:6 4}
.treeglot .tg-gold-only{stroke-dasharray:9 4}
.treeglot .tg-system-only{stroke-dasharray:2 4;stroke-linecap:round}
.treeglot .tg-arc:hover path,.treeglot .tg-branch:hover path{stroke-width:2.4}
.treeglot .tg-arc:hover text{font-weight:700}
.treeglot .tg-links:hover path{opacity:.15}
.treeglot .tg-links path:hover{stroke-width:3.5;opacity:1}
"""
_INHERIT = """\
.treeglot.tg-inherit text{fill:currentColor;stroke:none}
.treeglot.tg-inherit .tg-paper{fill:none}
.treeglot.tg-inherit .tg-linked{fill:currentColor;opacity:.12}
"""


def number(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def escape(content: str) -> str:
    """Any string as XML text or as the value of an attribute in double quotes."""
    return visible(content).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def text(x: float, y: float, content: str, css: str = "", extra: str = "") -> str:
    """A text element, centred on x by the style sheet."""
    kind = f' class="{css}"' if css else ""
    return f'<text{kind} x="{number(x)}" y="{number(y)}"{extra}>{escape(content)}</text>'


def elbow(x1: float, y1: float, y_bend: float, x2: float, y2: float, radius: float = 4.0) -> str:
    """The path from (x1, y1) along the vertical to ``y_bend``, across, and along the vertical to (x2, y2)."""
    n = number
    dx = x2 - x1
    if abs(dx) < 0.5:
        return f"M{n(x1)} {n(y1)}V{n(y2)}" if abs(dx) < 0.01 else f"M{n(x1)} {n(y1)}L{n(x2)} {n(y2)}"
    turn = min(radius, abs(dx) / 2)
    first, second = min(turn, abs(y_bend - y1)), min(turn, abs(y2 - y_bend))
    way = 1 if dx > 0 else -1
    before = 1 if y_bend > y1 else -1
    after = 1 if y2 > y_bend else -1
    return (
        f"M{n(x1)} {n(y1)}V{n(y_bend - before * first)}Q{n(x1)} {n(y_bend)} {n(x1 + way * turn)} {n(y_bend)}"
        f"H{n(x2 - way * turn)}Q{n(x2)} {n(y_bend)} {n(x2)} {n(y_bend + after * second)}V{n(y2)}"
    )


def arrow(x: float, y: float, direction: int) -> str:
    """An arrow head whose point is at (x, y); ``direction`` 1 points down, -1 up."""
    n = number
    return f'<path class="tg-head" d="M{n(x)} {n(y)}l-3.2 {n(-6.0 * direction)}h6.4z"/>'


def style_sheet(look: Look, *, themes: Iterable[Theme] = ("auto", "light", "dark", "inherit")) -> str:
    """The rules that all pictures of one size share."""
    wanted = set(themes)
    rules = _SHAPES % {
        "fonts": FONTS,
        "word": number(look.word),
        "small": number(look.small),
        "label": number(look.label),
    }
    rules += _COLOURS.format(s=".treeglot", **_LIGHT)
    if "auto" in wanted:
        rules += f"@media (prefers-color-scheme:dark){{\n{_COLOURS.format(s='.treeglot.tg-auto', **_DARK)}}}\n"
    if "dark" in wanted:
        rules += _COLOURS.format(s=".treeglot.tg-dark", **_DARK)
    return rules + (_INHERIT if "inherit" in wanted else "")


def document(
    body: Iterable[str],
    width: float,
    height: float,
    *,
    title: str,
    look: Look,
    theme: Theme = "auto",
    lang: str = "",
    styled: bool = True,
) -> str:
    """A whole picture. ``styled=False`` leaves out the style sheet, for a page that has it once for all pictures."""
    if theme not in get_args(Theme):
        raise ConfigError(f"no theme {theme!r}", remedy=f"themes are {', '.join(get_args(Theme))}")
    w, h = number(round(width)), number(round(height))
    language = f' lang="{escape(lang)}" xml:lang="{escape(lang)}"' if lang else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="treeglot tg-{theme}" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" role="img" aria-label="{escape(title)}"{language}>',
        f"<title>{escape(title)}</title>",
    ]
    if styled:
        parts.append(f"<style>\n{style_sheet(look, themes=[theme])}</style>")
    parts.append(f'<rect class="tg-paper" width="{w}" height="{h}"/>')
    return "\n".join([*parts, *body, "</svg>"]) + "\n"
