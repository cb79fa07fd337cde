"""An aligned pair as text: both sentences with their trees, the word links as a matrix, the node links as a list.

>>> from treeglot.trees import DependencyTree
>>> sides = [ParsedSentence.of(DependencyTree(words.split(), [1, -1])) for words in ("dogs bark", "Hunde bellen")]
>>> print(links_text(AlignedPair(*sides, [Link(0, 0), Link(1, 1, "fuzzy")])))
word links
         1 2
  1 dogs ■ ·
  2 bark · □
  1 Hunde  2 bellen
"""

from __future__ import annotations

from treeglot.trees.display.pair import Comparison, compare, node_name
from treeglot.trees.display.text import ASCII, BOXES, Marks, isolate, paint, table
from treeglot.trees.display.widths import clip, columns, pad, visible
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

MATRIX_COLUMNS = 60
"""The widest matrix that is drawn where the width of the terminal is not known; longer targets get a list."""


def links_text(pair: AlignedPair, *, color: bool = False, ascii: bool = False, width: int | None = None) -> str:
    """The word links, as a matrix if it fits and as a list if not, and the node links."""
    marks = ASCII if ascii else BOXES
    lines: list[str] = []
    if pair.word_links:
        matrix = _matrix(pair, marks, color, width or MATRIX_COLUMNS + 40)
        lines += ["word links", *(matrix or _list(pair, pair.word_links, False, marks))]
    if pair.node_links:
        lines += ["node links", *_list(pair, pair.node_links, True, marks)]
    return "\n".join(lines)


def comparison_text(item: Comparison) -> str:
    """All node links of either side, with who has them."""
    rows = [
        [" ", isolate(visible(node_name(item.source, s))), "--", isolate(visible(node_name(item.target, t))), who]
        for s, t, who in compare(item.gold.node_links, item.system.node_links)
    ]
    return "\n".join(["node links", *table(rows)]) if rows else "no node links"


def _matrix(pair: AlignedPair, marks: Marks, color: bool, width: int) -> list[str]:
    n, m = len(pair.source), len(pair.target)
    digits, cell = len(str(n)), len(str(m)) + 1
    names = [clip(visible(form), 24) for form in pair.source.tokens.forms]
    left = 2 + digits + 1 + max(map(columns, names))
    if left + m * cell > width or n * m > 100_000:
        return []
    lines = [" " * left + "".join(str(i + 1).rjust(cell) for i in range(m))]
    kinds = {(link.source, link.target): link.kind for link in pair.word_links}
    for j, name in enumerate(names):
        row = "".join(
            " " * (cell - 1) + marks.dots[("good", "fuzzy").index(kinds[j, i]) if (j, i) in kinds else 2]
            for i in range(m)
        )
        number = paint(str(j + 1).rjust(digits), "number", color)
        space = " " * (left - 2 - digits - 1 - columns(name))
        lines.append(f"  {number} {paint(isolate(name), 'form', color)}{space}{row}")
    words = [f"{i + 1} {isolate(visible(form))}" for i, form in enumerate(pair.target.tokens.forms)]
    line = ""
    for word in words:
        if line and columns(line) + 2 + columns(word) > width:
            lines.append(line)
            line = ""
        line += f"  {word}"
    lines.append(line)
    return lines


def _list(pair: AlignedPair, links: tuple[Link, ...], nodes: bool, marks: Marks) -> list[str]:
    def name(sentence: ParsedSentence, node: int) -> str:
        if nodes:
            return isolate(visible(node_name(sentence, node)))
        return f"{node + 1} {isolate(visible(sentence.tokens.forms[node]))}"

    rows = [
        [
            " ",
            name(pair.source, link.source),
            marks.line * 2,
            name(pair.target, link.target),
            "" if link.kind == "good" else link.kind,
            "" if link.score is None else f"{link.score:.3g}",
        ]
        for link in links
    ]
    return table(rows)


def heading(content: str, color: bool) -> str:
    """A line above a part of the text."""
    return paint(pad(visible(content), 0), "label", color)
