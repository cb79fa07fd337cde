"""The picture of a derivation: the source with its tree above, the target string below, and the rules between them.

Every rule has a number and a colour. Words stand on chips of the colour of the rule they belong to, curves lead from the source
words of a rule to the target words it made, and a bar under the source and one over the target show all that a rule covers.
The list below the picture has the rules themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from treeglot.grammars import registry
from treeglot.search.display.colours import step_colour
from treeglot.search.display.steps import Step, list_steps
from treeglot.search.display.text import show
from treeglot.search.translation import RuleUse, walk
from treeglot.trees.display.geometry import Look, place_words
from treeglot.trees.display.picture import MARGIN, SentenceLayout, Show, draw, lay_out
from treeglot.trees.display.svg import Theme, document, escape, number
from treeglot.trees.display.widths import clip, guess_language, is_rtl, pixels, visible
from treeglot.trees.sentence import ParsedSentence

BAR = 13.0
"""From one bar to the next."""
ROW = 21.0
"""From one rule of the list to the next."""
MAX_BARS = 40
"""Higher rules of very deep derivations have no bar."""

STYLE = """\
.treeglot .tg-chip{stroke:none;fill-opacity:.24}
.treeglot .tg-bar{stroke-width:3;stroke-linecap:round;stroke-opacity:.75}
.treeglot .tg-flow{stroke:none;fill-opacity:.13}
.treeglot .tg-number{font-size:9px;font-weight:700}
.treeglot .tg-target{font-size:%(word)spx}
.treeglot .tg-rules text{text-anchor:start;font-size:%(small)spx}
.treeglot .tg-rules .tg-number{text-anchor:middle;font-size:9px}
"""


def tree_to_show(sentence: ParsedSentence, derivation: RuleUse) -> Show:
    """The tree that the rules of a derivation speak of."""
    known = registry.grammars()
    uses = list(walk(derivation))
    used = [known[use.grammar] for use in uses if use.grammar in known]
    kinds = {use.kind for use in uses}
    if sentence.dependency is not None and ("subtree" in kinds or any(grammar.subtree_nodes for grammar in used)):
        return "dependency"
    if sentence.constituency is not None and (
        "constituent" in kinds or any("constituency" in grammar.source_trees for grammar in used)
    ):
        return "constituency"
    return "words"


def derivation_svg(
    sentence: ParsedSentence,
    derivation: RuleUse,
    *,
    weights: Mapping[str, float] | None = None,
    show_tree: Show | None = None,
    theme: Theme = "auto",
    font_size: float = 15.0,
    title: str = "",
    rules: bool = True,
    styled: bool = True,
) -> str:
    """A whole picture. ``rules=False`` leaves out the list, ``styled=False`` the style sheets, for a page that has both."""
    look = Look(font_size)
    steps = list_steps(derivation)
    which = tree_to_show(sentence, derivation) if show_tree is None else show_tree
    target = [visible(word) or "␣" for word in derivation.words]
    target_width = _line(target, look)[1]
    source = lay_out(sentence, look, show=which, least_width=target_width)
    centres, _ = _line(target, look, least_width=source.width - 2 * MARGIN)
    levels = _levels(steps)
    rows = min(MAX_BARS, max(levels.values(), default=0))
    bars_top = source.height - MARGIN + 8
    middle = bars_top + BAR * rows
    reach = min(70.0, 26.0 + 0.05 * source.width) + (0 if rows else 10)
    bars_bottom = middle + reach
    words_top = bars_bottom + BAR * rows + 6
    height = words_top + look.word * 2.2 + MARGIN
    body = [f"<style>\n{style(look)}</style>"] if styled else []
    body += _flows(steps, source, centres, target, look, words_top)
    body += _bars(steps, source, centres, target, look, levels, bars_top, words_top)
    body += _chips(steps, source, centres, target, look, words_top)
    body += draw(source)
    direction = ' direction="rtl"' if is_rtl(target) else ""
    owner = {i: step.number for step in steps for i in step.target_words}
    for i, word in enumerate(target):
        body.append(
            f'<text class="tg-word tg-target s{owner.get(i, 0)}" x="{number(centres[i])}" '
            f'y="{number(words_top + look.word * 1.08)}"{direction}>{escape(word)}</text>'
        )
    for step in steps:
        for run in _runs(step.target_words):
            left, right = _box(run, centres, [pixels(word, look.word) for word in target])
            body.append(
                f'<text class="tg-number" style="fill:{step_colour(step.number)};stroke:none" '
                f'x="{number((left + right) / 2)}" y="{number(words_top + look.word * 2.1)}">{step.number}</text>'
            )
    width = source.width
    if rules:
        listed, width, height = _rules(steps, weights, look, max(width, 420.0), height)
        body += listed
    return document(
        body,
        width,
        height,
        title=title or f"Derivation: {sentence.text} → {' '.join(derivation.words)}"[:300],
        look=look,
        theme=theme,
        lang=guess_language(sentence.tokens.forms),
        styled=styled,
    )


def style(look: Look) -> str:
    """The rules of style that derivations add to those of trees."""
    return STYLE % {"word": number(look.word), "small": number(look.word * 0.8)}


def _line(words: Sequence[str], look: Look, least_width: float = 0.0) -> tuple[list[float], float]:
    """Centres of the target words, in the middle of ``least_width``, and the width of their line."""
    if not words:
        return [], 0.0
    widths = [max(pixels(word, look.word), look.word * 0.6) for word in words]
    centres = place_words(widths, (), look.spacing)
    line = centres[-1] + widths[-1] / 2
    shift = MARGIN + max(0.0, (least_width - line) / 2)
    rtl = is_rtl(words)
    return [round(shift + (line - x if rtl else x), 2) for x in centres], line


def _levels(steps: Sequence[Step]) -> dict[int, int]:
    """The row of each step's bar (1 is next to the words); steps of single words need none."""
    levels: dict[int, int] = {}
    for step in reversed(steps):
        begin, end = step.source_span
        low, high = step.target_span
        if end - begin > 1 or high - low > 1:
            levels[step.number] = levels.get(step.number, 0) + 1
            levels[step.parent] = max(levels.get(step.parent, 0), levels[step.number])
        else:
            levels[step.parent] = max(levels.get(step.parent, 0), levels.pop(step.number, 0))
    levels.pop(0, None)
    return levels


def _box(words: Sequence[int], centres: Sequence[float], widths: Sequence[float]) -> tuple[float, float]:
    """Left and right end of words."""
    left = min(centres[j] - widths[j] / 2 for j in words)
    right = max(centres[j] + widths[j] / 2 for j in words)
    return left, right


def _runs(words: Sequence[int]) -> list[list[int]]:
    """Neighbouring words together.

    >>> _runs([0, 1, 4])
    [[0, 1], [4]]
    """
    runs: list[list[int]] = [[words[0]]] if words else []
    for previous, word in pairwise(words):
        if word == previous + 1:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _source_geometry(source: SentenceLayout) -> tuple[list[float], list[float]]:
    return [word.box.centre for word in source.words], [word.box.width for word in source.words]


def _flows(
    steps: Sequence[Step],
    source: SentenceLayout,
    centres: Sequence[float],
    target: Sequence[str],
    look: Look,
    words_top: float,
) -> list[str]:
    """Bands from the source words of a rule to the target words that it made."""
    n = number
    middles, widths = _source_geometry(source)
    target_widths = [pixels(word, look.word) for word in target]
    top = max(word.box.bottom for word in source.words) if source.words else 0.0
    out = []
    for step in steps:
        for source_run in _runs(step.source_words):
            for target_run in _runs(step.target_words):
                a, b = _box(source_run, middles, widths)
                c, d = _box(target_run, centres, target_widths)
                bend = (top + words_top) / 2
                out.append(
                    f'<path class="tg-flow s{step.number}" style="fill:{step_colour(step.number)}" '
                    f'd="M{n(a)} {n(top)}C{n(a)} {n(bend)} {n(c)} {n(bend)} {n(c)} {n(words_top)}H{n(d)}'
                    f'C{n(d)} {n(bend)} {n(b)} {n(bend)} {n(b)} {n(top)}Z"/>'
                )
    return out


def _bars(
    steps: Sequence[Step],
    source: SentenceLayout,
    centres: Sequence[float],
    target: Sequence[str],
    look: Look,
    levels: Mapping[int, int],
    top: float,
    words_top: float,
) -> list[str]:
    """What each rule covers: a bar under the source, one over the target, both with the number of the rule."""
    n = number
    middles, widths = _source_geometry(source)
    target_widths = [pixels(word, look.word) for word in target]
    out = []
    for step in steps:
        level = levels.get(step.number, 0)
        if not 0 < level <= MAX_BARS:
            continue
        colour = step_colour(step.number)
        parts = []
        begin, end = step.source_span
        low, high = step.target_span
        for first, last, xs, sizes, y in (
            (begin, end, middles, widths, top + BAR * (level - 1) + 5),
            (low, high, centres, target_widths, words_top - 6 - BAR * (level - 1)),
        ):
            if first >= last:
                continue
            left, right = _box(range(first, last), xs, sizes)
            parts.append(f'<path class="tg-bar" style="stroke:{colour}" d="M{n(left)} {n(y)}H{n(right)}"/>')
            parts.append(_badge(left + 6, y, step.number, colour))
        tip = f"{step.number}: {step.use.source} → {step.use.target}"
        out.append(f'<g class="k{step.number} u{step.number}"><title>{escape(tip)}</title>{"".join(parts)}</g>')
    return out


def _badge(x: float, y: float, label: int, colour: str) -> str:
    """A small disc with a number."""
    wide = 5.5 + 2.2 * (len(str(label)) - 1)
    return (
        f'<rect x="{number(x - wide)}" y="{number(y - 5.5)}" width="{number(2 * wide)}" height="11" rx="5.5" '
        f'style="fill:{colour}"/><text class="tg-number" style="fill:#fff;stroke:none" x="{number(x)}" '
        f'y="{number(y + 3.2)}">{label}</text>'
    )


def _chips(
    steps: Sequence[Step],
    source: SentenceLayout,
    centres: Sequence[float],
    target: Sequence[str],
    look: Look,
    words_top: float,
) -> list[str]:
    """Backgrounds of words in the colours of their rules; hovering one shows the rule."""
    above = _ancestors(steps)
    out = []
    for step in steps:
        colour = step_colour(step.number)
        tip = escape(f"{step.number}: {step.use.source} → {step.use.target}")
        covers = " ".join(f"u{k}" for k in above[step.number])
        rects = []
        for j in step.source_words:
            box = source.words[j].box
            rects.append((box.x - 4, box.y + 1, box.width + 8, box.height - 2))
        for i in step.target_words:
            width = pixels(target[i], look.word)
            rects.append((centres[i] - width / 2 - 4, words_top + 1, width + 8, look.word * 1.4))
        if rects:
            drawn = "".join(
                f'<rect class="tg-chip" style="fill:{colour}" x="{number(x)}" y="{number(y)}" width="{number(w)}" '
                f'height="{number(h)}" rx="5"/>'
                for x, y, w, h in rects
            )
            out.append(f'<g class="k{step.number} s{step.number} {covers}"><title>{tip}</title>{drawn}</g>')
    return out


def _ancestors(steps: Sequence[Step]) -> dict[int, list[int]]:
    """Each step and those above it."""
    ancestors: dict[int, list[int]] = {0: []}
    for step in steps:
        ancestors[step.number] = [step.number, *ancestors[step.parent]]
    return ancestors


def _rules(
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
        words = clip(f"{use.grammar}\u2003{show(use.source)}\u2002→\u2002{show(use.target)}{score}", 140)
        out.append(
            f'<g class="k{step.number}">{_badge(indent, y + 3, step.number, step_colour(step.number))}'
            f'<text class="tg-word" x="{number(indent + 14)}" y="{number(y + 7)}">{escape(words)}</text></g>'
        )
        widest = max(widest, indent + 14 + pixels(words, small) + MARGIN)
        y += ROW
    out.append("</g>")
    return out, widest, y + MARGIN / 2
