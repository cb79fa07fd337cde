"""The picture of an aligned pair: two trees that face each other, and the links between their words and their nodes.

The source stands above with its words below its tree, the target below with its words above its tree. Links between
nodes are curves, coloured by kind (good, fuzzy) or by score. Given ``system_links`` the picture compares them with the
pair's own (gold) links: in both, gold only, system only, with the counts in a legend.

>>> compare([Link(0, 0), Link(1, 2)], [Link(1, 2), Link(3, 3)])
[(0, 0, 'gold-only'), (1, 2, 'both'), (3, 3, 'system-only')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from treeglot.errors import ConfigError
from treeglot.trees.constituency import NodeRef
from treeglot.trees.display.geometry import Box, Look
from treeglot.trees.display.labels import shown_labels
from treeglot.trees.display.picture import MARGIN, SentenceLayout, Show, draw, lay_out
from treeglot.trees.display.svg import Theme, document, escape, number, text
from treeglot.trees.display.widths import ELLIPSIS, guess_language, pixels
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

_NAMES = {
    "good": "good", "fuzzy": "fuzzy", "both": "gold and system", "gold-only": "gold only", "system-only": "system only",
    "word-link": "word link", "score": "score 0 to 1",
}  # fmt: skip
_SCALE = ((0.0, (207, 75, 18)), (0.5, (201, 148, 0)), (1.0, (10, 143, 108)))


class PlacedLink(NamedTuple):
    """A link as a curve from (x1, y1) to (x2, y2). ``css`` names its kind; ``colour`` is set when the score decides."""

    link: Link
    words: bool
    css: str
    colour: str
    x1: float
    y1: float
    x2: float
    y2: float


class LegendEntry(NamedTuple):
    """A sample line of class ``css`` at (x, y) and what it stands for."""

    css: str
    text: str
    x: float
    y: float


class PairLayout(NamedTuple):
    """Where everything of a pair stands."""

    source: SentenceLayout
    target: SentenceLayout
    links: tuple[PlacedLink, ...]
    legend: tuple[LegendEntry, ...]
    width: float
    height: float


class Comparison(NamedTuple):
    """The links of a system (``system``) on the sentences of a hand-made pair (``gold``), to be drawn in one picture."""

    gold: AlignedPair
    system: AlignedPair

    @property
    def source(self) -> ParsedSentence:
        return self.gold.source

    @property
    def target(self) -> ParsedSentence:
        return self.gold.target

    @property
    def id(self) -> str:
        return self.gold.id

    def svg(self, *, show: Show = "auto", theme: Theme = "auto", styled: bool = True) -> str:
        """The picture. Word links are compared if both sides have some, else they are left as they are."""
        words = self.system.word_links if self.gold.word_links and self.system.word_links else None
        return pair_svg(
            self.gold,
            show=show,
            theme=theme,
            styled=styled,
            system_links=self.system.node_links,
            system_word_links=words,
        )


def compare(gold: Iterable[Link], system: Iterable[Link]) -> list[tuple[int, int, str]]:
    """Every link of either side once, sorted, with ``both``, ``gold-only`` or ``system-only``."""
    first = {(link.source, link.target) for link in gold}
    second = {(link.source, link.target) for link in system}
    return [
        (*link, "both" if link in first and link in second else "gold-only" if link in first else "system-only")
        for link in sorted(first | second)
    ]


def score_colour(score: float) -> str:
    """From red (0) over yellow to green (1); scores outside that range take the nearer end.

    >>> score_colour(0.0), score_colour(0.75), score_colour(7)
    ('#cf4b12', '#6a9236', '#0a8f6c')
    """
    score = min(max(score, 0.0), 1.0)
    for (low, start), (high, end) in pairwise(_SCALE):
        if score <= high:
            part = (score - low) / (high - low)
            return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(start, end, strict=True))
    return "#0a8f6c"  # not a number


def lay_out_pair(
    pair: AlignedPair,
    look: Look,
    *,
    show: Show = "auto",
    tags: bool = True,
    system_links: Sequence[Link] | None = None,
    system_word_links: Sequence[Link] | None = None,
) -> PairLayout:
    """Place both sentences and all links."""
    if show == "both":
        raise ConfigError("a pair shows one tree on each side", remedy="choose dependency or constituency")
    # The links of a system are checked like the pair's own: a link to a node that is not there must not be drawn.
    AlignedPair(pair.source, pair.target, system_word_links or (), system_links or (), pair.id)
    shows = [_one_tree(sentence, show) for sentence in (pair.source, pair.target)]
    widths = [
        lay_out(sentence, look, show=which, tags=tags).width - 2 * MARGIN
        for sentence, which in zip((pair.source, pair.target), shows, strict=True)
    ]
    source = lay_out(pair.source, look, show=shows[0], tags=tags, least_width=widths[1])
    words_bottom = source.height - MARGIN
    links, legend = _kinds(pair, system_links, system_word_links)
    middles = [word.box.centre for word in source.words]
    reach = max((abs(middles[link.source] - source.width / 2) for link, words, *_ in links if words), default=0.0)
    gap = min(max(look.word * 3.5, look.word * 3 + 0.12 * reach), look.word * 9) if links else look.word * 1.5
    top = round(words_bottom + gap, 2)
    target = lay_out(pair.target, look, show=shows[1], tags=tags, least_width=widths[0], up=False, top=top)
    placed = []
    for link, words, css, colour in links:
        if words:
            first, second = source.node_box(~link.source), target.node_box(~link.target)
        else:
            first, second = source.node_box(link.source), target.node_box(link.target)
        placed.append(PlacedLink(link, words, css, colour, first.centre, first.bottom + 1, second.centre, second.y - 1))
    width = max(source.width, target.width, *(2 * MARGIN + _legend_width(name, look) for _, name in legend))
    entries = []
    y = target.height - top + MARGIN
    cell = max((_legend_width(name, look) for _, name in legend), default=1.0)
    fit = max(1, int((width - MARGIN) // cell))  # entries in a line; a comparison has its three kinds in each
    if system_links is not None or system_word_links is not None:
        fit = 3 if fit >= 3 else 1
    for place, (css, name) in enumerate(legend):
        if place and place % fit == 0:
            y += look.small * 1.6
        entries.append(LegendEntry(css, name, MARGIN + place % fit * cell, y))
    height = y + look.small + MARGIN / 2 if legend else target.height - top + MARGIN
    return PairLayout(source, target, tuple(placed), tuple(entries), width, height)


def _one_tree(sentence: ParsedSentence, show: Show) -> Show:
    if show != "auto":
        return show
    return "constituency" if sentence.constituency else "dependency" if sentence.dependency else "words"


Kinded = tuple[Link, bool, str, str]


def _kinds(
    pair: AlignedPair, system_links: Sequence[Link] | None, system_word_links: Sequence[Link] | None
) -> tuple[list[Kinded], tuple[tuple[str, str], ...]]:
    """All links (word links first, they lie below) with class and colour, and the legend as (class, text)."""
    out: list[Kinded] = []
    legend: list[tuple[str, str]] = []
    for gold, system, words in (
        (pair.word_links, system_word_links, True),
        (pair.node_links, system_links, False),
    ):
        what = "word links" if words else "node links"
        if system is not None:
            compared = compare(gold, system)
            scores = {link[:2]: link.score for link in system}
            out.extend((Link(s, t, score=scores.get((s, t))), words, css, "") for s, t, css in compared)
            counts = Counter(css for _, _, css in compared)
            legend.extend((css, f"{_NAMES[css]}: {counts[css]} {what}") for css in ("both", "gold-only", "system-only"))
            continue
        for link in gold:
            colour = "" if link.score is None else score_colour(link.score)
            css = "word-link" if words and link.kind == "good" and not colour else link.kind
            out.append((link, words, css, colour))
        counts = Counter("score" if colour else css for _, w, css, colour in out if w == words)
        legend.extend((css, f"{_NAMES[css]}: {n} {what}") for css, n in sorted(counts.items()) if css != "word-link")
    return out, tuple(legend)


def _legend_width(content: str, look: Look) -> float:
    return pixels(content, look.small) + 58


def draw_pair(layout: PairLayout, pair: AlignedPair) -> list[str]:
    """The elements of a placed pair: links, then the trees over them, then the legend."""
    out = ['<g class="tg-links">']
    n = number
    names = NodeNames(pair.source), NodeNames(pair.target)
    for placed in layout.links:
        bend = (placed.y2 - placed.y1) * (0.35 if placed.words else 0.45)
        path = (
            f"M{n(placed.x1)} {n(placed.y1)}C{n(placed.x1)} {n(placed.y1 + bend)} "
            f"{n(placed.x2)} {n(placed.y2 - bend)} {n(placed.x2)} {n(placed.y2)}"
        )
        colour = f' style="stroke:{placed.colour}"' if placed.colour else ""
        kind = "" if placed.words else "tg-node-link "
        out.append(
            f'<path class="{kind}tg-{placed.css}" d="{path}"{colour}><title>{escape(_tip(placed, names))}</title></path>'
        )
    out.append("</g>")
    nodes = [placed.link for placed in layout.links if not placed.words]
    for side, linked in (
        (layout.source, {link.source for link in nodes}),
        (layout.target, {link.target for link in nodes}),
    ):
        out.extend(_chip(side.node_box(node)) for node in sorted(linked))
        out.extend(draw(side))
    if layout.legend:
        out.append('<g class="tg-legend">')
        for css, content, x, y in layout.legend:
            if css == "score":  # the scale itself, from low to high
                for step in range(6):
                    stroke = score_colour(step / 5)
                    out.append(f'<path class="tg-node-link" d="M{n(x + 5 * step)} {n(y)}h5" style="stroke:{stroke}"/>')
            else:
                out.append(f'<path class="tg-node-link tg-{css}" d="M{n(x)} {n(y)}h30"/>')
            out.append(text(x + 36, y + layout.source.look.small * 0.35, content))
        out.append("</g>")
    return out


def _chip(box: Box) -> str:
    n = number
    return f'<rect class="tg-linked" x="{n(box.x)}" y="{n(box.y)}" width="{n(box.width)}" height="{n(box.height)}" rx="4"/>'


class NodeNames:
    """The nodes of a sentence for people: a phrase is its label and its words."""

    def __init__(self, sentence: ParsedSentence, limit: int = 40) -> None:
        self.forms, self.tree, self.limit = sentence.tokens.forms, sentence.constituency, limit
        self.labels = shown_labels(self.tree) if self.tree is not None else ()

    def __call__(self, node: NodeRef) -> str:
        if node < 0 or self.tree is None:
            return self.forms[~node]
        words = " ".join(self.forms[j] for j in self.tree.words(node))
        return f"{self.labels[node]} “{words if len(words) <= self.limit else words[: self.limit - 1] + ELLIPSIS}”"


def _tip(placed: PlacedLink, names: tuple[NodeNames, NodeNames]) -> str:
    link = placed.link
    first, second = (~link.source, ~link.target) if placed.words else link[:2]
    score = "" if link.score is None else f", score {link.score:.3g}"
    return f"{names[0](first)} – {names[1](second)} ({_NAMES[placed.css]}{score})"


def pair_svg(
    pair: AlignedPair,
    *,
    show: Show = "auto",
    theme: Theme = "auto",
    tags: bool = True,
    title: str = "",
    font_size: float = 15.0,
    styled: bool = True,
    system_links: Sequence[Link] | None = None,
    system_word_links: Sequence[Link] | None = None,
) -> str:
    """The picture of a pair as SVG; ``system_links`` (between nodes) and ``system_word_links`` are compared with gold."""
    look = Look(font_size)
    layout = lay_out_pair(
        pair, look, show=show, tags=tags, system_links=system_links, system_word_links=system_word_links
    )
    name = f"Aligned pair {pair.id}".strip()
    lang = guess_language(pair.source.tokens.forms) or guess_language(pair.target.tokens.forms)
    return document(
        draw_pair(layout, pair),
        layout.width,
        layout.height,
        title=title or f"{name}: {pair.source.text[:150]} – {pair.target.text[:150]}",
        look=look,
        theme=theme,
        lang=lang,
        styled=styled,
    )
