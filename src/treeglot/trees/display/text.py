"""Trees as text for terminals.

A dependency tree has one line for each word, in surface order: the branches on the left (a thick line leads from a head's
branches to its word), then number, word, tag and relation in columns. A constituency tree has one line for each phrase
that branches. Both keep their width in check: below `MAX_DEPTH` levels branches are cut and the head is named instead.

>>> from treeglot.trees import DependencyTree, Tokens
>>> tokens = Tokens("the old dog barks".split(), upos="DET ADJ NOUN VERB".split())
>>> print(dependency_text(DependencyTree(tokens, [2, 2, 3, -1], "det amod nsubj root".split())))
  ╭─╼ 1 the   DET  det
  ├─╼ 2 old   ADJ  amod
╭─┶━╼ 3 dog   NOUN nsubj
┕━━━╼ 4 barks VERB root
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.display.labels import shown_function, shown_labels
from treeglot.trees.display.phrases import gaps, runs, words_below
from treeglot.trees.display.widths import clip, columns, has_rtl, pad, visible
from treeglot.trees.tokens import UNSET, Tokens

MAX_DEPTH = 30
"""How many levels of branches are drawn unless told otherwise."""
MAX_CELL = 40
"""The widest word, tag or relation that is shown in full."""


@dataclass(frozen=True)
class Marks:
    """The characters that branches are drawn with."""

    line: str = "─"
    thick: str = "━"
    bar: str = "│"
    end: str = "╼"
    first: str = "╭"
    middle: str = "├"
    last: str = "╰"
    head: str = "┮┾┶"  # a head whose dependents are all below, on both sides, all above
    root: str = "┍┝┕"
    cross: str = "┼"
    thick_cross: str = "┿"
    cut: str = "⋯"
    chain: str = "─"
    dots: str = "■□·"


BOXES = Marks()
ASCII = Marks("-", "=", "|", ">", ".", "|", "`", "+++", "+++", "+", "+", "~", "-", "#o.")

_STYLES = {
    "edge": "2",
    "number": "2",
    "form": "1",
    "tag": "36",
    "relation": "32",
    "label": "34;1",
    "function": "35",
    "note": "1",
}


def paint(content: str, style: str, color: bool) -> str:
    """``content`` in the colour of its kind, for terminals that show colours."""
    return f"\x1b[{_STYLES[style]}m{content}\x1b[0m" if color and content.strip() else content


def isolate(content: str) -> str:
    """Right-to-left words wrapped so that a terminal turns around the word and not the line."""
    return f"\u2068{content}\u2069" if has_rtl(content) else content


def shown(value: str) -> str:
    """An annotation as it is printed: nothing if unset."""
    return "" if value == UNSET else clip(visible(value), MAX_CELL)


def dependency_text(
    tree: DependencyTree,
    *,
    color: bool = False,
    ascii: bool = False,
    width: int | None = None,
    max_depth: int | None = None,
    tokens: Tokens | None = None,
) -> str:
    """A dependency tree, one line for each word. ``width`` (20 or more) cuts longer lines; ``tokens`` override the tree's."""
    tokens = tokens or tree.tokens
    n = len(tree)
    forms = [clip(visible(form), MAX_CELL) for form in tokens.forms]
    cells = {"form": forms, "tag": [shown(tag) for tag in tokens.tags], "relation": [shown(d) for d in tree.deprels]}
    wide = {name: max(map(columns, column)) for name, column in cells.items()}
    digits = len(str(n))
    if max_depth is None:
        max_depth = MAX_DEPTH
        if width is not None:
            needed = digits + 2 + sum(size + 1 for size in wide.values())
            max_depth = max(3, min(max_depth, (width - needed) // 2))
    edges, cut = _edges(tree, ASCII if ascii else BOXES, max(1, max_depth))
    lines = []
    for j in range(n):
        used = columns(edges[j]) + 1 + digits + 1
        to_head = f"{'<-' if ascii else '←'}{tree.heads[j] + 1}" if cut[j] else ""
        room = None if width is None else width - (len(to_head) + 1 if to_head else 0)
        parts = [paint(edges[j], "edge", color), paint(str(j + 1).rjust(digits), "number", color)]
        for name, column in cells.items():
            if not wide[name]:
                continue
            content = column[j]
            if room is not None:
                content = clip(content, max(1, room - used))
            used += wide[name] + 1
            gap = " " * (wide[name] - columns(content))
            if room is not None and used >= room:
                parts.append(paint(isolate(content), name, color))
                break
            parts.append(paint(isolate(content), name, color) + gap)
        if to_head:
            parts.append(paint(to_head, "number", color))
        lines.append(" ".join(parts).rstrip())
    return "\n".join(lines)


def _edges(tree: DependencyTree, marks: Marks, max_depth: int) -> tuple[list[str], list[bool]]:
    """The branches left of each word, and whether the branch to its head was cut.

    Each head has one vertical line (its trunk), right of its own head's trunk; trunks that share a line of the terminal
    (non-projective trees) stand in different places."""
    n = len(tree)
    place = [-1] * n  # of each head's trunk; -1: none, or cut
    taken: list[list[tuple[int, int]]] = []
    order = sorted(range(n), key=lambda j: (tree.depths[j], j))
    extent = [(min(j, *below), max(j, *below)) if (below := tree.children(j)) else (j, j) for j in range(n)]
    for j in order:
        if not tree.children(j):
            continue
        head = tree.heads[j]
        if head != ROOT and place[head] < 0:
            continue
        at = place[head] + 1 if head != ROOT else 0
        while at < min(len(taken), max_depth) and _is_taken(taken[at], extent[j]):
            at += 1
        if at >= max_depth:
            continue
        if at == len(taken):
            taken.append([])
        insort(taken[at], extent[j])
        place[j] = at
    size = 2 * len(taken)
    grid = [[" "] * (size + 2) for _ in range(n)]
    for j in range(n):
        if place[j] >= 0:
            for line in range(extent[j][0], extent[j][1] + 1):
                grid[line][2 * place[j]] = marks.bar
    cut = [head != ROOT and place[head] < 0 for head in tree.heads]
    for j, head in enumerate(tree.heads):
        row = grid[j]
        if cut[j]:
            row[size - 1] = marks.cut
            row[size + 1] = marks.end
            continue
        x = 0
        if head != ROOT:
            low, high = extent[head]
            x = 2 * place[head]
            row[x] = marks.first if j == low else marks.last if j == high else marks.middle
            x += 1
        own = 2 * place[j] if place[j] >= 0 else size + 1
        for at in range(x, min(own, size + 1)):
            row[at] = marks.cross if row[at] == marks.bar else marks.line
        if place[j] >= 0:
            low, high = extent[j]
            shape = marks.root if head == ROOT else marks.head
            row[own] = shape[0] if j == low else shape[2] if j == high else shape[1]
            for at in range(own + 1, size + 1):
                row[at] = marks.thick_cross if row[at] == marks.bar else marks.thick
        row[size + 1] = marks.end
    # The last cell before the end mark only lengthens the lines.
    return ["".join(row[:size] + row[size + 1 :]) for row in grid], cut


def _is_taken(intervals: Sequence[tuple[int, int]], wanted: tuple[int, int]) -> bool:
    at = bisect_left(intervals, (wanted[1] + 1, -1))
    return at > 0 and intervals[at - 1][1] >= wanted[0]


def constituency_text(
    tree: ConstituencyTree,
    *,
    color: bool = False,
    ascii: bool = False,
    width: int | None = None,
    max_depth: int | None = None,
    tokens: Tokens | None = None,
    notes: Mapping[NodeRef, str] | None = None,
    codes: Mapping[NodeRef, str] | None = None,
) -> str:
    """A constituency tree, one line for each branching phrase and each word.

    A phrase with one child shares its line. In a discontinuous tree the words are numbered, and a phrase with a gap
    names its words. ``notes`` stand before nodes; ``codes`` (parameters of a terminal's escape sequence) are colours of nodes.

    >>> print(constituency_text(ConstituencyTree.build("he wakes her up".split(), ("S", 0, ("VP", ("V", 1, 3), 2)))))
    S
    ├─ 1 he
    ╰─ VP
       ├─ V [2 4]
       │  ├─ 2 wakes
       │  ╰─ 4 up
       ╰─ 3 her
    """
    marks = ASCII if ascii else BOXES
    tokens = tokens or tree.tokens
    notes, codes = notes or {}, codes or {}
    if max_depth is None:
        max_depth = MAX_DEPTH if width is None else max(1, min(MAX_DEPTH, width // 6))
    gap = gaps(tree)
    numbered = any(gap)
    tags, labels = tokens.tags, shown_labels(tree)
    lines: list[str] = []
    # Each entry: the node, the branches before it, those before its children, and how many levels it lies deep.
    stack: list[tuple[int, str, str, int]] = [(tree.root, "", "", 0)]
    while stack:
        node, before, below, depth = stack.pop()
        plain = before
        parts = [paint(before, "edge", color)]
        chain: list[tuple[NodeRef, str, str, str]] = []
        while node >= 0:
            where = ""
            if gap[node]:
                spans = runs(words_below(tree, node))
                where = " [" + " ".join(f"{a + 1}" if b == a + 1 else f"{a + 1}-{b}" for a, b in spans) + "]"
            chain.append((node, labels[node], shown_function(tree.functions[node]), where))
            if len(tree.children[node]) > 1:
                break
            node = tree.children[node][0]
        pieces = [
            (piece, style, phrase)
            for number, (phrase, label, function, where) in enumerate(chain)
            for piece, style in (
                (marks.chain if number else "", "edge"),
                (f"{notes[phrase]} " if phrase in notes else "", "note"),
                (label, "label"),
                (f"-{function}" if function else "", "function"),
                (where, "number"),
            )
            if piece
        ]
        if node < 0:
            j = ~node
            function = shown_function(tree.word_functions[j])
            pieces += [(" ", "edge", node)] if pieces else []
            pieces += [(f"{notes[node]} ", "note", node)] if node in notes else []
            pieces += [(f"{j + 1} ", "number", node)] if numbered else []
            tag = shown(tags[j])
            pieces += [(tag, "tag", node)] if tag else []
            pieces += [(f"-{function}", "function", node)] if function else []
            pieces += [(" ", "edge", node)] if tag or function else []
            pieces += [(visible(tokens.forms[j]), "form", node)]
        for piece, style, part in pieces:
            if width is not None:
                room = width - columns(plain)
                if room <= 0:
                    break
                piece = clip(piece, room)
            plain += piece
            drawn = isolate(piece) if style == "form" else piece
            if color and part in codes and style != "edge":
                parts.append(f"\x1b[{codes[part]}m{drawn}\x1b[0m")
            else:
                parts.append(paint(drawn, style, color))
        lines.append("".join(parts).rstrip())
        if node >= 0:
            children = tree.children[node]
            for number in range(len(children) - 1, -1, -1):
                last = number == len(children) - 1
                branch = (marks.last if last else marks.middle) + marks.line + " "
                if depth < max_depth:
                    stack.append(
                        (children[number], below + branch, below + ("   " if last else marks.bar + "  "), depth + 1)
                    )
                else:
                    deep = f"{below}{marks.cut}{depth + 1} "
                    stack.append((children[number], deep + branch, below, depth + 1))
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with aligned columns."""
    wide = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    return [" ".join(pad(cell, size) for cell, size in zip(row, wide, strict=True)).rstrip() for row in rows]
