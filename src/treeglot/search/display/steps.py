"""The steps of a derivation: every rule once, numbered from the top, with the words that it covers and those that it made.

A derivation is a tree of rule uses (`treeglot.search.translation.RuleUse`). Its steps are numbered in preorder, children in the order of the source. A source
word *belongs* to the lowest rule over it, a target word to the rule that has it on its target side; so each word of either
side belongs to exactly one step, whose number and colour it gets in every picture.

>>> inner = RuleUse("phrases", 1, 3, "在 机场", ("at", "the", "airport"))
>>> outer = RuleUse("dep2str", 0, 4, "他 x1:P* ^睡", ("he", "sleeps", 0), children=(inner,))
>>> for step in list_steps(outer):
...     print(step.number, step.depth, step.source_words, step.target_words, step.target_span)
1 0 (0, 3) (0, 1) (0, 5)
2 1 (1, 2) (2, 3, 4) (2, 5)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treeglot.search.target_trees import target_tree
from treeglot.search.translation import RuleUse
from treeglot.trees.penn import format_penn

MOST_WORDS = 60
"""Of a step that covers more words only so many are written beside it: where steps stand deep, all would be too many."""


@dataclass(frozen=True)
class Step:
    """One rule of a derivation. ``source_words`` and ``target_words`` belong to it alone, the spans are of all below it."""

    number: int
    parent: int
    """The number of the rule above; 0 for the topmost."""
    depth: int
    height: int
    """0 if nothing is below it, else one more than the highest of its children."""
    use: RuleUse
    source_words: tuple[int, ...]
    target_words: tuple[int, ...]
    target_span: tuple[int, int]

    @property
    def source_span(self) -> tuple[int, int]:
        return self.use.begin, self.use.end

    def score(self, weights: Mapping[str, float]) -> float:
        """What this rule adds to the score of the translation."""
        return sum(weights.get(name, 0.0) * value for name, value in self.use.features.items())


def list_steps(derivation: RuleUse) -> list[Step]:
    """The steps of a derivation, topmost first."""
    uses: list[RuleUse] = []
    parents: list[int] = []
    below: list[list[int]] = []
    stack: list[tuple[RuleUse, int, int]] = [(derivation, -1, 0)]
    while stack:
        use, parent, place = stack.pop()
        n = len(uses)
        uses.append(use)
        parents.append(parent)
        below.append([-1] * len(use.children))
        if parent >= 0:
            below[parent][place] = n
        stack.extend((child, n, k) for k, child in reversed(list(enumerate(use.children))))
    depth = [0] * len(uses)
    height = [0] * len(uses)
    for n in range(1, len(uses)):
        depth[n] = depth[parents[n]] + 1
    for n in range(len(uses) - 1, 0, -1):
        height[parents[n]] = max(height[parents[n]], height[n] + 1)
    produced, spans = _targets(uses, below)
    steps = []
    for n, use in enumerate(uses):
        own = _own_words(use)
        steps.append(Step(n + 1, parents[n] + 1, depth[n], height[n], use, own, tuple(produced[n]), spans[n]))
    return steps


def _own_words(use: RuleUse) -> tuple[int, ...]:
    """The source words that no step below covers. All words of all steps would be too many where steps stand deep."""
    if use.parts or any(child.parts for child in use.children):
        covered = {j for child in use.children for j in child.source_words}
        return tuple(j for j in use.source_words if j not in covered)
    own: list[int] = []
    position = use.begin
    for begin, end in sorted((child.begin, child.end) for child in use.children):
        own.extend(range(position, min(begin, use.end)))
        position = max(position, end)
    own.extend(range(position, use.end))
    return tuple(own)


def words_of(words: Sequence[str], step: Step) -> str:
    """The target words of a step and of all below it, out of those of the derivation; of more than `MOST_WORDS` the first."""
    begin, end = step.target_span
    shown = " ".join(words[begin : min(end, begin + MOST_WORDS)])
    return shown if end - begin <= MOST_WORDS else shown + " …"


def _targets(uses: list[RuleUse], below: list[list[int]]) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The target words that each use made itself, and the span of all words made by it or below it."""
    produced: list[list[int]] = [[] for _ in uses]
    spans: list[tuple[int, int]] = [(0, 0)] * len(uses)
    position = 0
    walk: list[tuple[int, int, Iterator[str | int]]] = [(0, 0, iter(uses[0].target_items))]
    while walk:
        n, start, items = walk[-1]
        for item in items:
            if isinstance(item, str):
                produced[n].append(position)
                position += 1
            else:
                child = below[n][item]
                walk.append((child, position, iter(uses[child].target_items)))
                break
        else:
            spans[n] = (start, position)
            walk.pop()
    return produced, spans


def to_record(derivation: RuleUse, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
    """A derivation for JSON: a flat list of steps, each with the number of the rule above it, and the words' steps.

    ``words`` of a step are cut after `MOST_WORDS`; all are those of the derivation at its ``target_span``.
    """
    steps, words = list_steps(derivation), derivation.words
    rows = []
    for step in steps:
        use = step.use
        row: dict[str, Any] = {
            "number": step.number,
            "parent": step.parent,
            "grammar": use.grammar,
            "kind": use.kind,
            "source_span": list(step.source_span),
            "target_span": list(step.target_span),
            "source": use.source,
            "target": use.target,
            "source_words": list(step.source_words),
            "target_words": list(step.target_words),
            "words": words_of(words, step),
            "features": {name: round(value, 6) for name, value in use.features.items() if value},
        }
        if use.label:
            row["label"] = use.label
        if use.target_tree:
            row["target_tree"] = use.target_tree
        if use.links:
            row["links"] = [list(link) for link in use.links]
        if use.unlinked:
            row["unlinked"] = use.unlinked
        if weights is not None:
            row["score"] = round(step.score(weights), 6)
        rows.append(row)
    record: dict[str, Any] = {"words": list(words), "steps": rows}
    if (tree := target_tree(derivation)) is not None:
        record["target_tree"] = format_penn(tree)
    return record
