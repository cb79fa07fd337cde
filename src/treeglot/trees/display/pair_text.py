"""An aligned pair as text: both sentences with their trees, the word links as a matrix, the node links as a list.

>>> from treeglot.trees import DependencyTree
>>> sides = [ParsedSentence.of(DependencyTree(words.split(), [1, -1])) for words in ("dogs bark", "Hunde bellen")]
>>> pair = AlignedPair(*sides, [Link(0, 0), Link(1, 1, "fuzzy")])
>>> print(links_text(pair))
word links
         1 2
  1 dogs ■ ·
  2 bark · □
  1 Hunde  2 bellen
>>> print(comparison_text(Comparison(pair, AlignedPair(*sides, [Link(0, 0), Link(1, 0)]))))
word links: ■ 1 both, g 1 gold only, s 1 system only
         1 2
  1 dogs ■ ·
  2 bark s g
  1 Hunde  2 bellen
node links: none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from treeglot.trees.display.pair import Comparison, NodeNames, compare
from treeglot.trees.display.text import ASCII, BOXES, Marks, isolate, paint, table
from treeglot.trees.display.widths import clip, columns, pad, visible
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

MATRIX_COLUMNS = 60
"""The widest matrix that is drawn where the width of the terminal is not known; longer targets get a list."""

WHO = {"both": "both", "gold-only": "gold only", "system-only": "system only"}
"""What a compared link is called."""

Cells = Mapping[tuple[int, int], str]


def links_text(pair: AlignedPair, *, color: bool = False, ascii: bool = False, width: int | None = None) -> str:
    """The word links, as a matrix if it fits and as a list if not, and the node links."""
    marks = ASCII if ascii else BOXES
    lines: list[str] = []
    for links, what in ((pair.word_links, "word links"), (pair.node_links, "node links")):
        if not links:
            continue
        lines.append(what)
        if links is pair.word_links:
            cells = {link[:2]: marks.dots[link.kind == "fuzzy"] for link in links}
            drawn = matrix(pair.source.tokens.forms, pair.target.tokens.forms, cells, marks, color, width)
            if drawn:
                lines += drawn
                continue
        rows = [(link, "" if link.kind == "good" else link.kind) for link in links]
        lines += _list(pair, rows, links is pair.node_links, marks, width)
    return "\n".join(lines)


def comparison_text(item: Comparison, *, color: bool = False, ascii: bool = False, width: int | None = None) -> str:
    """All links of either side and who has them. Word links are compared if both sides have some."""
    marks = ASCII if ascii else BOXES
    lines: list[str] = []
    gold = item.gold
    if gold.word_links and item.system.word_links:
        links = compare(gold.word_links, item.system.word_links)
        shapes = {"both": marks.dots[0], "gold-only": "g", "system-only": "s"}
        cells = {(s, t): shapes[who] for s, t, who in links}
        drawn = matrix(gold.source.tokens.forms, gold.target.tokens.forms, cells, marks, color, width)
        rows = [(Link(s, t), WHO[who]) for s, t, who in links]
        lines.append(f"word links: {_counts(links, shapes if drawn else None)}")
        lines += drawn or _list(gold, rows, False, marks, width)
    elif gold.word_links:
        only = AlignedPair(gold.source, gold.target, gold.word_links, id=gold.id)
        lines.append(links_text(only, color=color, ascii=ascii, width=width))
    links = compare(gold.node_links, item.system.node_links)
    if links:
        scores = {link[:2]: link.score for link in item.system.node_links}
        lines.append(f"node links: {_counts(links)}")
        rows = [(Link(s, t, score=scores.get((s, t))), WHO[who]) for s, t, who in links]
        lines += _list(gold, rows, True, marks, width)
    else:
        lines.append("node links: none")
    return "\n".join(lines)


def _counts(links: Iterable[tuple[int, int, str]], shapes: Mapping[str, str] | None = None) -> str:
    count = Counter(who for _, _, who in links)
    return ", ".join(f"{shapes[who] + ' ' if shapes else ''}{count[who]} {name}" for who, name in WHO.items())


def matrix(
    source: Sequence[str], target: Sequence[str], cells: Cells, marks: Marks, color: bool, width: int | None
) -> list[str]:
    """Source words down, target words across; nothing if that is too wide."""
    width = width or MATRIX_COLUMNS + 40
    n, m = len(source), len(target)
    digits, cell = len(str(n)), len(str(m)) + 1
    names = [clip(visible(form), 24) for form in source]
    left = 2 + digits + 1 + max(map(columns, names), default=0)
    if left + m * cell > width or n * m > 100_000:
        return []
    lines = [" " * left + "".join(str(i + 1).rjust(cell) for i in range(m))]
    for j, name in enumerate(names):
        row = "".join(" " * (cell - 1) + cells.get((j, i), marks.dots[2]) for i in range(m))
        number = paint(str(j + 1).rjust(digits), "number", color)
        space = " " * (left - 2 - digits - 1 - columns(name))
        lines.append(f"  {number} {paint(isolate(name), 'form', color)}{space}{row}")
    words = [f"{i + 1} {isolate(visible(form))}" for i, form in enumerate(target)]
    line = ""
    for word in words:
        if line and columns(line) + 2 + columns(word) > width:
            lines.append(line)
            line = ""
        line += f"  {word}"
    lines.append(line)
    return lines


def _list(
    pair: AlignedPair, links: Sequence[tuple[Link, str]], nodes: bool, marks: Marks, width: int | None
) -> list[str]:
    """A line for each link: its ends, what is said about it, its score."""
    names = NodeNames(pair.source), NodeNames(pair.target)
    most = None if width is None else max(8, (width - 27) // 2)  # columns for each end

    def name(side: int, node: int) -> str:
        sentence: ParsedSentence = (pair.source, pair.target)[side]
        text = names[side](node) if nodes else f"{node + 1} {sentence.tokens.forms[node]}"
        return isolate(clip(visible(text), most) if most else visible(text))

    rows = [
        [
            " ",
            name(0, link.source),
            marks.line * 2,
            name(1, link.target),
            remark,
            "" if link.score is None else f"{link.score:.3g}",
        ]
        for link, remark in links
    ]
    return table(rows)


def heading(content: str, color: bool) -> str:
    """A line above a part of the text."""
    return paint(pad(visible(content), 0), "label", color)
