"""Pictures of the forests that grammars make over a sentence: units as groups of words, the alternatives, the chosen derivation.

A unit is a row with a box under each of its words, joined by a line where it has gaps; the more probable, the darker. Units of the best
derivation have a colour of their own and stand first, from the top of the tree down. On a page every unit opens a list of its edges: what
each is made of, and how probable that is.

>>> from treeglot.examples.worked import worked_example
>>> from treeglot.grammars.source_forests import source_forest
>>> sentence = worked_example().source
>>> shown = source_forest("mwu", sentence, max_words=3, k=1000)
>>> [[sentence.tokens.forms[j] for j in shown["vertices"][n]["words"]] for n in best_derivation(shown)]
[['推出', '款', '本'], ['英特尔', '将'], ['亚洲'], ['首'], ['超极']]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from treeglot.pages import page as framed
from treeglot.trees.display.widths import pixels

_ROW, _GAP, _TOP, _LEFT, _FONT = 22, 14, 30, 64, 13
_BEST, _OTHER = "#d9480f", "#1c7ed6"

Forest = dict[str, Any]


def best_derivation(forest: Forest) -> list[int]:
    """The numbers of the vertices of the most probable derivation, the dummy root left out, from the top down."""
    into: list[list[tuple[list[int], float]]] = [[] for _ in forest["vertices"]]
    for edge in forest["edges"]:
        into[edge["head"]].append((edge["tails"], edge["p"]))
    groups = forest.get("groups")
    best: dict[int, tuple[float, list[int]]] = {}

    def solve(vertex: int) -> tuple[float, list[int]]:
        if vertex not in best:
            ways = [_product(p, (part(tail) for tail in tails)) for tails, p in into[vertex]]
            best[vertex] = max(ways, key=lambda way: way[0]) if ways else (0.0, [])
        score, below = best[vertex]
        return score, ([vertex] if vertex else []) + below

    def part(tail: int) -> tuple[float, list[int]]:
        if groups is None:
            return solve(tail)
        ways = [(one["p"], one["vertex"]) for one in groups[tail]["alternatives"]]
        return max((_product(p, [solve(vertex)]) for p, vertex in ways), key=lambda way: way[0])

    return solve(0)[1]


def _product(p: float, parts: Iterable[tuple[float, list[int]]]) -> tuple[float, list[int]]:
    score, units = math.log(p), list[int]()
    for value, below in parts:
        score += value
        units += below
    return score, units


def svg(words: Sequence[str], forest: Forest, most: int = 30) -> str:
    """The ``most`` probable units over the words of a sentence, those of the best derivation first."""
    chosen = best_derivation(forest)
    others = [n for n in range(1, len(forest["vertices"])) if n not in set(chosen)]
    others.sort(key=lambda n: -forest["vertices"][n]["posterior"])
    rows = chosen + others[: max(0, most - len(chosen))]
    starts, place = [], float(_LEFT)
    for word in words:
        starts.append(place)
        place += pixels(word, _FONT) + _GAP
    width, height = place + 8, _TOP + _ROW * len(rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        'font-family="sans-serif" font-size="13" role="img">',
        f"<title>Units of: {escape(' '.join(words))}</title>",
    ]
    for start, word in zip(starts, words, strict=True):
        parts.append(f'<text x="{start:.1f}" y="18" fill="currentColor">{escape(word)}</text>')
    for row, number in enumerate(rows):
        vertex = forest["vertices"][number]
        y = _TOP + _ROW * row
        colour = _BEST if number in chosen else _OTHER
        strength = 0.25 + 0.75 * min(1.0, vertex["posterior"])
        boxes = [(starts[j], pixels(words[j], _FONT) + 4) for j in vertex["words"]]
        middle = y + _ROW / 2 - 3
        text = f"{' '.join(words[j] for j in vertex['words'])}: {vertex['posterior']:.4f}"
        parts.append(f'<g opacity="{strength:.2f}"><title>{escape(text)}</title>')
        if len(boxes) > 1:
            last = boxes[-1][0]
            parts.append(
                f'<line x1="{boxes[0][0]:.1f}" y1="{middle}" x2="{last:.1f}" y2="{middle}" stroke="{colour}" stroke-width="2"/>'
            )
        for x, size in boxes:
            parts.append(
                f'<rect x="{x - 2:.1f}" y="{y}" width="{size:.1f}" height="{_ROW - 6}" rx="3" fill="{colour}"/>'
            )
        parts.append("</g>")
        parts.append(
            f'<text x="{_LEFT - 12}" y="{y + 13}" text-anchor="end" fill="currentColor">{vertex["posterior"]:.3f}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def page(sentences: Sequence[tuple[Sequence[str], Forest]], title: str = "Forests", most: int = 30) -> str:
    """A page with a picture of each sentence and, to be opened, the edges of its units."""
    sections = []
    for number, (words, forest) in enumerate(sentences, 1):
        size = f"{len(forest['vertices']):,} units, {len(forest['edges']):,} edges"
        if len(forest["vertices"]) - 1 > most:  # without the dummy root
            size += f"; the {most:,} most probable units, those of the best derivation first"
        sections.append(
            f"<section><h2>{number}. {escape(' '.join(words))}</h2><p>{size}</p>\n<div class='wide'>{svg(words, forest, most)}</div>"
            f"<details><summary>Edges of all units</summary>\n{_edges(words, forest)}</details></section>"
        )
    style = f".wide {{ overflow-x: auto; }}\nli b {{ font-weight: 600; }}\n.best {{ color: {_BEST}; }}\n"
    body = f"""<p>A row is a unit, a box a word of it; darker ones are more probable, those in <span class="best">this colour</span> are the most
probable derivation.</p>
{chr(10).join(sections)}"""
    return framed(title, body, width="80em", style=style)


def _edges(words: Sequence[str], forest: Forest) -> str:
    vertices, groups = forest["vertices"], forest.get("groups")
    chosen = {0, *best_derivation(forest)}

    def shown(places: Sequence[int]) -> str:
        return escape(" ".join(words[j] for j in places)) or "(root)"

    items: list[list[str]] = [[] for _ in vertices]
    for edge in sorted(forest["edges"], key=lambda edge: -edge["p"]):
        tails = [(groups or vertices)[tail]["words"] for tail in edge["tails"]]
        text = " · ".join(shown(tail) for tail in tails)
        items[edge["head"]].append(f"<li>{edge['p']:.4f} → {text} <small>({edge['posterior']:.2g})</small></li>")
    rows = [
        f"<li><details><summary{' class=best' if number in chosen else ''}><b>{shown(vertex['words'])}</b> "
        f"{vertex['posterior']:.4f}</summary><ul>{''.join(edges)}</ul></details></li>"
        for number, (vertex, edges) in enumerate(zip(vertices, items, strict=True))
    ]
    return f"<ul>{''.join(rows)}</ul>"
