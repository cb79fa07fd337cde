"""The picture of a derivation: the source with its tree above, the target string below, and the rules between them.

Every rule has a number and a colour. Words stand on chips of the colour of the rule they belong to, curves lead from the source
words of a rule to the target words it made, and a bar under the source and one over the target show all that a rule covers.
The list below the picture has the rules themselves. Derivations with trees on the target side have a picture of both trees
(`treeglot.search.display.trees_svg`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treeglot.grammars import registry
from treeglot.search.display.fragments import tree_pair, without_inner_glue
from treeglot.search.display.pieces import ancestors, badge, chips, colour_of, ends, flows, rules_list, runs, style, tip
from treeglot.search.display.steps import Step, list_steps
from treeglot.search.display.trees_svg import draw_trees
from treeglot.search.translation import RuleUse, walk
from treeglot.trees.display.geometry import Box, Look, place_words
from treeglot.trees.display.picture import MARGIN, Show, draw, lay_out
from treeglot.trees.display.svg import Theme, document, escape, number
from treeglot.trees.display.widths import guess_language, is_rtl, pixels, visible
from treeglot.trees.sentence import ParsedSentence

BAR = 13.0
"""From one bar to the next."""
MAX_BARS = 40
"""Higher rules of very deep derivations have no bar."""


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
    """A whole picture. ``rules=False`` leaves out the list, ``styled=False`` the style sheets, for a page that has both.

    If rules have trees on their target side, the picture has both trees, unless ``show_tree`` asks for something else than
    the constituency tree."""
    look = Look(font_size)
    steps = list_steps(derivation)
    pair = tree_pair(sentence, steps) if show_tree in (None, "constituency") else None
    if pair is not None:
        drawn, width, height = draw_trees(pair, steps, look)
    else:
        which = tree_to_show(sentence, derivation) if show_tree is None else show_tree
        drawn, width, height = _draw_string(sentence, derivation.words, steps, look, which)
    body = [f"<style>\n{style(look)}</style>"] if styled else []
    body += drawn
    if rules:
        shown = steps if pair is None else without_inner_glue(steps)
        listed, width, height = rules_list(shown, weights, look, max(width, 420.0), height)
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


def _draw_string(
    sentence: ParsedSentence, words: Sequence[str], steps: Sequence[Step], look: Look, which: Show
) -> tuple[list[str], float, float]:
    """The source with its tree over the string of the translation; the width and the height of that."""
    target = [visible(word) or "␣" for word in words]
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
    source_boxes = [word.box for word in source.words]
    target_boxes = [
        Box.around(x, words_top, pixels(word, look.word), look.word * 1.4 + 2)
        for x, word in zip(centres, target, strict=True)
    ]
    body = flows(steps, source_boxes, target_boxes)
    body += _bars(steps, source_boxes, target_boxes, levels, bars_top, words_top)
    above = ancestors(steps)
    for step in steps:
        boxes = [*(source_boxes[j] for j in step.source_words), *(target_boxes[i] for i in step.target_words)]
        if boxes:
            body.append(chips(step, [Box(b.x - 4, b.y + 1, b.width + 8, b.height - 2) for b in boxes], above))
    body += draw(source)
    direction = ' direction="rtl"' if is_rtl(target) else ""
    owner = {i: step.number for step in steps for i in step.target_words}
    for i, word in enumerate(target):
        body.append(
            f'<text class="tg-word tg-target s{owner.get(i, 0)}" x="{number(centres[i])}" '
            f'y="{number(words_top + look.word * 1.08)}"{direction}>{escape(word)}</text>'
        )
    for step in steps:
        for run in runs(step.target_words):
            left, right = ends([target_boxes[i] for i in run])
            body.append(
                f'<text class="tg-number" style="fill:{colour_of(step)};stroke:none" '
                f'x="{number((left + right) / 2)}" y="{number(words_top + look.word * 2.1)}">{step.number}</text>'
            )
    return body, source.width, height


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


def _bars(
    steps: Sequence[Step],
    source: Sequence[Box],
    target: Sequence[Box],
    levels: Mapping[int, int],
    top: float,
    words_top: float,
) -> list[str]:
    """What each rule covers: a bar under the source, one over the target, both with the number of the rule."""
    n = number
    out = []
    for step in steps:
        level = levels.get(step.number, 0)
        if not 0 < level <= MAX_BARS:
            continue
        colour = colour_of(step)
        parts = []
        for span, boxes, y in (
            (step.source_span, source, top + BAR * (level - 1) + 5),
            (step.target_span, target, words_top - 6 - BAR * (level - 1)),
        ):
            if span[0] >= span[1]:
                continue
            left, right = ends(boxes[slice(*span)])
            parts.append(f'<path class="tg-bar" style="stroke:{colour}" d="M{n(left)} {n(y)}H{n(right)}"/>')
            parts.append(badge(left + 6, y, step.number, colour))
        out.append(f'<g class="k{step.number} u{step.number}"><title>{tip(step)}</title>{"".join(parts)}</g>')
    return out
