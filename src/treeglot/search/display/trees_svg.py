"""The picture of a derivation between trees: the source tree above, the target tree below, pairs of fragments in the same colours.

The words stand towards the middle, bands join those of one rule. Every phrase and every word lies on a chip of the colour of its rule;
branches inside a fragment are broad, those from one fragment to the next thin. Where a fragment begins, a disc has the number of
its rule, so that colours are not needed to read the picture. What no rule made is grey and dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treeglot.search.display.colours import is_neutral
from treeglot.search.display.fragments import FragmentTree, TreePair
from treeglot.search.display.pieces import ancestors, badge, badge_width, chips, classes, colour_of, flows, tip
from treeglot.search.display.steps import Step
from treeglot.trees.constituency import NodeRef
from treeglot.trees.display.geometry import Box, Look
from treeglot.trees.display.picture import MARGIN, SentenceLayout, Show, draw, lay_out
from treeglot.trees.display.svg import elbow

DISC = 6.0
"""From a node to the middle of its discs, over which the branch comes in."""


def draw_trees(pair: TreePair, steps: Sequence[Step], look: Look) -> tuple[list[str], float, float]:
    """The elements of the picture, its width and its height."""
    shows: list[Show] = ["words" if side.tree is None else "constituency" for side in (pair.source, pair.target)]
    sentences = pair.source.sentence, pair.target.sentence
    widths = [
        lay_out(sentence, look, show=which).width - 2 * MARGIN for sentence, which in zip(sentences, shows, strict=True)
    ]
    source = lay_out(sentences[0], look, show=shows[0], least_width=widths[1])
    reach = min(90.0, 44.0 + 0.03 * source.width)
    top = round(source.height - MARGIN + reach, 2)
    target = lay_out(sentences[1], look, show=shows[1], least_width=widths[0], up=False, top=top)
    body = flows(steps, [word.box for word in source.words], [word.box for word in target.words])
    above = ancestors(steps)
    for side, layout in ((pair.source, source), (pair.target, target)):
        body += _edges(side, layout, steps, above)
    for step in steps:
        boxes = [
            _chip(layout, node)
            for side, layout in ((pair.source, source), (pair.target, target))
            for node in _nodes(side, step.number)
        ]
        if boxes:
            body.append(chips(step, boxes, above))
    for side, layout in ((pair.source, source), (pair.target, target)):
        body += draw(layout)
        body += _discs(side, layout, steps)
    return body, max(source.width, target.width), target.height - top + MARGIN


def _nodes(side: FragmentTree, step: int) -> list[NodeRef]:
    """The phrases and words of a fragment."""
    phrases = [node for node, owner in enumerate(side.nodes) if owner == step]
    return phrases + [~j for j, owner in enumerate(side.words) if owner == step]


def _chip(layout: SentenceLayout, node: NodeRef) -> Box:
    box = layout.node_box(node)
    return Box(box.x - 3, box.y, box.width + 6, box.height) if node < 0 else box


def _edges(
    side: FragmentTree, layout: SentenceLayout, steps: Sequence[Step], above: Mapping[int, Sequence[int]]
) -> list[str]:
    """Broad lines below the branches inside fragments."""
    paths: dict[int, list[str]] = {}
    for branch in layout.branches:
        step = side.nodes[branch.parent]
        if branch.secondary is None and step and side.owner(branch.child) == step:
            path = elbow(branch.x_parent, branch.y_parent, branch.y_bend, branch.x_child, branch.y_child)
            paths.setdefault(step, []).append(path)
    return [
        f'<g class="{classes(steps[step - 1], above)}"><title>{tip(steps[step - 1])}</title>'
        f'<path class="tg-edge{" tg-neutral" if is_neutral(steps[step - 1].use) else ""}" '
        f'style="stroke:{colour_of(steps[step - 1])}" d="{"".join(below)}"/></g>'
        for step, below in paths.items()
    ]


def _discs(side: FragmentTree, layout: SentenceLayout, steps: Sequence[Step]) -> list[str]:
    """The numbers of fragments at their roots, on the branch that comes in."""
    out = []
    for node, numbers in side.begins.items():
        box = layout.node_box(node)
        y = box.y - DISC if layout.up else box.bottom + DISC
        x = box.centre - sum(map(badge_width, numbers)) / 2
        for step in numbers:
            wide = badge_width(step)
            out.append(badge(x + wide / 2, y, step, colour_of(steps[step - 1])))
            x += wide
    return out
