"""What pictures of derivations are made of: chips under words, bands between words, numbers, and the list of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from treeglot.search.display.colours import is_neutral, use_colour
from treeglot.search.display.steps import Step
from treeglot.search.display.text import show, target_side
from treeglot.trees.display.geometry import Box, Look
from treeglot.trees.display.picture import MARGIN
from treeglot.trees.display.svg import escape, number
from treeglot.trees.display.widths import clip, pixels

ROW = 21.0
"""From one line of the list to the next."""
RULE = 140
"""The longest line of the list: longer rules have two."""

MOST_ANCESTORS = 40
"""A word is lit with the rules above it, up to so many."""

STYLE = """\
.treeglot .tg-chip{stroke:none;fill-opacity:.24}
.treeglot .tg-chip.tg-neutral{fill-opacity:.1;stroke:#7d8794;stroke-dasharray:3 2.5;stroke-opacity:.8}
.treeglot .tg-edge{stroke-width:5;stroke-opacity:.38;stroke-linejoin:round}
.treeglot .tg-edge.tg-neutral{stroke-opacity:0}
.treeglot .tg-bar{stroke-width:3;stroke-linecap:round;stroke-opacity:.75}
.treeglot .tg-flow{stroke:none;fill-opacity:.13}
.treeglot .tg-number{font-size:9px;font-weight:700}
.treeglot .tg-word,.treeglot .tg-tag,.treeglot .tg-label,.treeglot .tg-number{pointer-events:none}
.treeglot .tg-target{font-size:%(word)spx}
.treeglot .tg-rules text{text-anchor:start;font-size:%(small)spx}
.treeglot .tg-rules .tg-number{text-anchor:middle;font-size:9px}
"""


def style(look: Look) -> str:
    """The rules of style that derivations add to those of trees."""
    return STYLE % {"word": number(look.word), "small": number(look.word * 0.8)}


def tip(step: Step) -> str:
    """What hovering a part of a rule says."""
    return escape(f"{step.number}: {step.use.source or '∅'} → {target_side(step.use) or '∅'}")


def colour_of(step: Step) -> str:
    """The colour of a step."""
    return use_colour(step.number, step.use)


def classes(step: Step, above: Mapping[int, Sequence[int]]) -> str:
    """The classes of what belongs to a step: ``k`` is pointed at, ``s`` is its own, ``u`` lies under it."""
    return f"k{step.number} s{step.number} {' '.join(f'u{k}' for k in above[step.number])}"


def ancestors(steps: Sequence[Step]) -> dict[int, list[int]]:
    """Each step and those above it, the nearest `MOST_ANCESTORS`: all of them would be too many where steps stand deep."""
    ancestors: dict[int, list[int]] = {0: []}
    for step in steps:
        ancestors[step.number] = [step.number, *ancestors[step.parent][: MOST_ANCESTORS - 1]]
    return ancestors


def runs(words: Sequence[int]) -> list[list[int]]:
    """Neighbouring words together.

    >>> runs([0, 1, 4])
    [[0, 1], [4]]
    """
    runs: list[list[int]] = [[words[0]]] if words else []
    for previous, word in pairwise(words):
        if word == previous + 1:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def flows(steps: Sequence[Step], source: Sequence[Box], target: Sequence[Box]) -> list[str]:
    """Bands from the source words of a rule to the target words that it made; the boxes are those of the words."""
    n = number
    out = []
    for step in steps:
        for source_run in runs(step.source_words):
            for target_run in runs(step.target_words):
                a, b = ends([source[j] for j in source_run])
                c, d = ends([target[i] for i in target_run])
                top, bottom = source[source_run[0]].bottom, target[target_run[0]].y
                bend = (top + bottom) / 2
                out.append(
                    f'<path class="tg-flow s{step.number}" style="fill:{colour_of(step)}" '
                    f'd="M{n(a)} {n(top)}C{n(a)} {n(bend)} {n(c)} {n(bend)} {n(c)} {n(bottom)}H{n(d)}'
                    f'C{n(d)} {n(bend)} {n(b)} {n(bend)} {n(b)} {n(top)}Z"/>'
                )
    return out


def ends(boxes: Sequence[Box]) -> tuple[float, float]:
    """The left and the right end of some boxes."""
    return min(box.x for box in boxes), max(box.right for box in boxes)


def chips(step: Step, boxes: Sequence[Box], above: Mapping[int, Sequence[int]]) -> str:
    """Backgrounds in the colour of a rule; hovering one shows the rule."""
    drawn = "".join(chip(box, step) for box in boxes)
    return f'<g class="{classes(step, above)}"><title>{tip(step)}</title>{drawn}</g>'


def chip(box: Box, step: Step) -> str:
    """One background."""
    css = "tg-chip tg-neutral" if is_neutral(step.use) else "tg-chip"
    return (
        f'<rect class="{css}" style="fill:{colour_of(step)}" x="{number(box.x)}" y="{number(box.y)}" '
        f'width="{number(box.width)}" height="{number(box.height)}" rx="5"/>'
    )


def badge_width(label: int) -> float:
    """The width of the disc with a number."""
    return 11.0 + 4.4 * (len(str(label)) - 1)


def badge(x: float, y: float, label: int, colour: str) -> str:
    """A small disc with a number."""
    wide = badge_width(label) / 2
    return (
        f'<rect x="{number(x - wide)}" y="{number(y - 5.5)}" width="{number(2 * wide)}" height="11" rx="5.5" '
        f'style="fill:{colour}"/><text class="tg-number" style="fill:#fff;stroke:none" x="{number(x)}" '
        f'y="{number(y + 3.2)}">{label}</text>'
    )


def rules_list(
    steps: Sequence[Step], weights: Mapping[str, float] | None, look: Look, width: float, top: float
) -> tuple[list[str], float, float]:
    """The list of rules below the picture, the width and the height that the picture has with it."""
    out = ['<g class="tg-rules">']
    y = top + 6
    small = look.word * 0.8
    widest = width
    for step in steps:
        use = step.use
        indent = MARGIN + 10 + min(step.depth, 12) * 14
        score = f"\u2003{step.score(weights):+.2f}" if weights is not None else ""
        source, target = show(use.source), show(target_side(use))
        lines = [f"{use.grammar}\u2003{source}\u2002→\u2002{target}"]
        if len(lines[0]) > RULE:
            lines = [clip(f"{use.grammar}\u2003{source}", RULE), clip(f"\u2003→\u2002{target}", RULE)]
        lines[-1] += score
        out.append(f'<g class="k{step.number}">{badge(indent, y + 3, step.number, colour_of(step))}')
        for line in lines:
            x, baseline = number(indent + 14), number(y + 7)
            out.append(f'<text class="tg-word" x="{x}" y="{baseline}">{escape(line)}</text>')
            widest = max(widest, indent + 14 + pixels(line, small) + MARGIN)
            y += ROW
        out.append("</g>")
    out.append("</g>")
    return out, widest, y + MARGIN / 2
