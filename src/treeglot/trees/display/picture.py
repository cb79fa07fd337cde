"""The picture of one sentence: dependency arcs, a constituency tree, or both over one line of words.

With both, the phrases stand above the words and the arcs hang below. Right-to-left sentences run from right to left.

>>> from treeglot.trees import DependencyTree, ParsedSentence
>>> sentence = ParsedSentence.of(DependencyTree(["dogs", "bark"], [1, -1], ["nsubj", "root"]))
>>> layout = lay_out(sentence, Look())
>>> [word.text for word in layout.words], layout.rtl, len(layout.arcs)
(['dogs', 'bark'], False, 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from treeglot.errors import ConfigError, TreeError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.display.arcs import ArcPlan, PlacedArc
from treeglot.trees.display.geometry import Box, Distance, Look, place_words
from treeglot.trees.display.labels import shown_function
from treeglot.trees.display.phrases import LABEL_BAND, Branch, PhrasePlan, PlacedPhrase
from treeglot.trees.display.svg import Theme, arrow, document, elbow, escape, number, text
from treeglot.trees.display.widths import ELLIPSIS, guess_language, is_rtl, pixels, visible
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import UNSET

Show = Literal["auto", "both", "dependency", "constituency", "words"]
"""Which trees to draw; ``auto`` draws those that are there."""

MARGIN = 14.0


class PlacedWord(NamedTuple):
    """A word with coordinates. ``tag`` and ``function`` are empty where not annotated (their boxes are then unused)."""

    text: str
    box: Box
    tag: str
    tag_box: Box
    function: str
    function_box: Box


@dataclass(frozen=True)
class SentenceLayout:
    """Where everything of a sentence stands. All boxes are in one coordinate system, x from 0 to ``width``."""

    words: tuple[PlacedWord, ...]
    phrases: tuple[PlacedPhrase, ...]
    branches: tuple[Branch, ...]
    arcs: tuple[PlacedArc, ...]
    width: float
    height: float
    rtl: bool
    up: bool
    look: Look

    def node_box(self, node: NodeRef) -> Box:
        """The box of a phrase (of its label alone if it has no function), or of a word with its tag."""
        if node >= 0:
            phrase = self.phrases[node]
            box, height = phrase.box, phrase.box.height if phrase.function else self.look.label * LABEL_BAND
            return Box(box.x, box.bottom - height if self.up else box.y, box.width, height)
        word = self.words[~node]
        boxes = [word.box, *([word.tag_box] if word.tag else []), *([word.function_box] if word.function else [])]
        left, top = min(box.x for box in boxes), min(box.y for box in boxes)
        return Box(left, top, max(box.right for box in boxes) - left, max(box.bottom for box in boxes) - top)


def choose(sentence: ParsedSentence, show: Show) -> tuple[DependencyTree | None, ConstituencyTree | None]:
    """The trees to draw. Asking for one that the sentence has not is an error."""
    if show not in get_args(Show):
        raise ConfigError(f"cannot show {show!r}", remedy=f"choose from {', '.join(get_args(Show))}")
    if show == "auto":
        return sentence.dependency, sentence.constituency
    want_arcs, want_phrases = show in ("both", "dependency"), show in ("both", "constituency")
    for wanted, tree, name in (
        (want_arcs, sentence.dependency, "dependency"),
        (want_phrases, sentence.constituency, "constituency"),
    ):
        if wanted and tree is None:
            where = f"sentence {sentence.id}" if sentence.id else "the sentence"
            raise TreeError(f"{where} has no {name} tree", remedy="parse or convert it first, or show='auto'")
    return sentence.dependency if want_arcs else None, sentence.constituency if want_phrases else None


def lay_out(
    sentence: ParsedSentence,
    look: Look,
    *,
    show: Show = "auto",
    tags: bool = True,
    rtl: bool | None = None,
    up: bool = True,
    left: float = MARGIN,
    top: float = MARGIN,
    least_width: float = 0.0,
) -> SentenceLayout:
    """Place a sentence with its left upper corner at (left, top). ``up=False`` stands it on its head: words first and the
    tree below them. ``least_width`` centres a narrower sentence in that width."""
    dependency, constituency = choose(sentence, show)
    tokens = sentence.tokens
    rtl = is_rtl(tokens.forms) if rtl is None else rtl
    forms = [visible(form) or "␣" for form in tokens.forms]
    tag_texts = ["" if tag == UNSET or not tags else visible(tag) for tag in tokens.tags]
    functions = (
        [shown_function(function) for function in constituency.word_functions]
        if constituency is not None
        else [""] * len(forms)
    )
    arc_plan = ArcPlan.of(dependency, look.small) if dependency is not None else None
    phrase_plan = PhrasePlan.of(constituency, look.label, look.small) if constituency is not None else None
    widths = [
        max(pixels(form, look.word), pixels(tag, look.small), pixels(function, look.small), look.word)
        for form, tag, function in zip(forms, tag_texts, functions, strict=True)
    ]
    distances: list[Distance] = []
    for needed in (arc_plan.widths if arc_plan else (), phrase_plan.widths() if phrase_plan else ()):
        widths = [max(pair) for pair in zip(widths, needed, strict=True)] if needed else widths
    if arc_plan:
        distances.extend(arc_plan.distances)
    if phrase_plan:
        distances.extend(phrase_plan.distances(widths))
    centres = place_words(widths, distances, look.spacing)
    line = centres[-1] + widths[-1] / 2
    shift = left + max(0.0, (least_width - line) / 2)
    centres = [round(shift + (line - x if rtl else x), 2) for x in centres]

    # Bands from the side of the phrases to the words and on: phrases, functions, tags, words, arcs. Without phrases the
    # arcs take their place, and the tags go to the far side of the words.
    small_band, word_band = round(look.small * 1.35, 2), round(look.word * 1.4, 2)
    has_tags, has_functions = any(tag_texts), any(functions)
    inner = phrase_plan.height if phrase_plan else arc_plan.height if arc_plan else 0.0
    bands: list[tuple[str, float]] = [("inner", inner)]
    if phrase_plan and has_functions:
        bands.append(("function", small_band))
    if phrase_plan and has_tags:
        bands.append(("tag", small_band))
    bands.append(("word", word_band))
    if not phrase_plan and has_tags:
        bands.append(("tag", small_band))
    outer = arc_plan.height + 2 if phrase_plan and arc_plan else 0.0
    bands.append(("outer", outer))
    tops: dict[str, float] = {}
    y = top
    for name, height in bands if up else reversed(bands):
        tops[name] = round(y, 2)
        y += height
    words = []
    for j, (form, tag, function) in enumerate(zip(forms, tag_texts, functions, strict=True)):
        around = Box.around
        words.append(
            PlacedWord(
                form,
                around(centres[j], tops["word"], pixels(form, look.word), word_band),
                tag,
                around(centres[j], tops.get("tag", 0.0), pixels(tag, look.small), small_band),
                function,
                around(centres[j], tops.get("function", 0.0), pixels(function, look.small), small_band),
            )
        )
    inner_line = tops["inner"] + (inner if up else 0.0)
    outer_line = tops["outer"] + (0.0 if up else outer)
    phrases: list[PlacedPhrase] = []
    branches: list[Branch] = []
    arcs: list[PlacedArc] = []
    if phrase_plan:
        phrases, branches = phrase_plan.place(centres, widths, inner_line, up=up)
    if arc_plan:
        side = (outer_line + (2 if up else -2), not up) if phrase_plan else (inner_line, up)
        arcs = arc_plan.place(centres, side[0], up=side[1], rtl=rtl)
    width = max(line, least_width)
    return SentenceLayout(
        tuple(words), tuple(phrases), tuple(branches), tuple(arcs), width + 2 * left, y + top, rtl, up, look
    )


def draw(layout: SentenceLayout) -> list[str]:
    """The elements of a placed sentence, lines below texts."""
    out: list[str] = []
    look = layout.look
    n = number
    below: dict[int, list[str]] = {}  # one path for all branches of a phrase, so that shared parts are drawn once
    for branch in layout.branches:
        if branch.secondary is None:
            path = elbow(branch.x_parent, branch.y_parent, branch.y_bend, branch.x_child, branch.y_child)
            below.setdefault(branch.parent, []).append(path)
    out.extend(f'<g class="tg-branch"><path d="{"".join(paths)}"/></g>' for paths in below.values())
    for branch in layout.branches:
        if branch.secondary is None:
            continue
        path = (
            f"M{n(branch.x_parent)} {n(branch.y_parent)}Q{n(branch.x_child)} {n(branch.y_bend)} "
            f"{n(branch.x_child)} {n(branch.y_child)}"
        )
        middle = (branch.x_parent + branch.x_child) / 2
        out.append(
            f'<g class="tg-branch tg-secondary"><path d="{path}"/>'
            f"{text(middle, (branch.y_parent + branch.y_child) / 2, branch.secondary)}</g>"
        )
    for arc in layout.arcs:
        out.append(_arc(arc, layout))
    for phrase in layout.phrases:
        box = phrase.box
        label_band = look.label * LABEL_BAND
        near, far = (box.bottom - label_band, box.y) if layout.up else (box.y, box.bottom - look.small * 1.25)
        if phrase.function:
            out.append(text(box.centre, far + look.small, phrase.function, "tg-function"))
        out.append(text(box.centre, near + look.label * 1.0, phrase.label, "tg-label"))
    direction = ' direction="rtl"' if layout.rtl else ""
    for word in layout.words:
        if word.function and word.function_box.y > 0:
            out.append(text(word.function_box.centre, word.function_box.y + look.small, word.function, "tg-function"))
        if word.tag:
            out.append(text(word.tag_box.centre, word.tag_box.y + look.small, word.tag, "tg-tag"))
        out.append(text(word.box.centre, word.box.y + look.word * 1.05, word.text, "tg-word", direction))
    return out


def _arc(arc: PlacedArc, layout: SentenceLayout) -> str:
    plan = arc.plan
    rising = arc.y < arc.y_words
    dependent = layout.words[plan.dependent].text
    if plan.head == ROOT:
        tip = f"root: {dependent}"
        path = f"M{number(arc.x_dependent)} {number(arc.y)}V{number(arc.y_words)}"
    else:
        tip = f"{dependent} ← {layout.words[plan.head].text}" + (f" ({plan.label})" if plan.label else "")
        path = elbow(arc.x_head, arc.y_words, arc.y, arc.x_dependent, arc.y_words, radius=9.0)
    css = "tg-arc tg-lifted" if plan.lifted else "tg-arc"
    label = text(arc.label.centre, arc.label.y + layout.look.small, plan.label) if plan.label else ""
    head = arrow(arc.x_dependent, arc.y_words, 1 if rising else -1)
    return f'<g class="{css}"><title>{escape(tip)}</title><path d="{path}"/>{head}{label}</g>'


def describe(sentence: ParsedSentence, dependency: DependencyTree | None, constituency: ConstituencyTree | None) -> str:
    """What a picture shows, in one line, for those who cannot see it."""
    kinds = [name for name, tree in (("Constituency", constituency), ("dependency", dependency)) if tree is not None]
    what = f"{' and '.join(kinds)} tree{'s' if len(kinds) == 2 else ''}".capitalize() if kinds else "Sentence"
    line = sentence.text
    return f"{what}: {line if len(line) <= 300 else line[:299] + ELLIPSIS}"


def sentence_svg(
    sentence: ParsedSentence,
    *,
    show: Show = "auto",
    theme: Theme = "auto",
    tags: bool = True,
    rtl: bool | None = None,
    lang: str = "",
    title: str = "",
    font_size: float = 15.0,
    styled: bool = True,
) -> str:
    """The picture of one sentence as SVG. ``rtl`` and ``lang`` are seen from the words unless given."""
    look = Look(font_size)
    layout = lay_out(sentence, look, show=show, tags=tags, rtl=rtl)
    return document(
        draw(layout),
        layout.width,
        layout.height,
        title=title or describe(sentence, *choose(sentence, show)),
        look=look,
        theme=theme,
        lang=lang or guess_language(sentence.tokens.forms),
        styled=styled,
    )
