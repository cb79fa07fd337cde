"""Tree-to-tree rules in plain Python, written from the definitions (spec: tree-to-tree, sections 1 to 3) without any care for speed.

A tree is (label, children) with words as children of pre-terminals: ("NP", [("DT", "the"), ("NN", "dog")]).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

Span = tuple[int, int]
Links = set[tuple[int, int]]


@dataclass(eq=False)
class Node:
    label: str
    span: Span
    depth: int
    children: list[Node] = field(default_factory=list)
    word: str = ""

    def below(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.below()


def node_of(tree: Any, begin: int = 0, depth: int = 0) -> Node:
    label, parts = tree
    if isinstance(parts, str):
        return Node(label, (begin, begin + 1), depth, [], parts)
    children, place = [], begin
    for part in parts:
        children.append(node_of(part, place, depth + 1))
        place = children[-1].span[1]
    return Node(label, (begin, place), depth, children)


def inside(inner: Span, outer: Span) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def apart(first: Span, second: Span) -> bool:
    return first[1] <= second[0] or second[1] <= first[0]


class Side:
    def __init__(self, tree: Any) -> None:
        self.root = node_of(tree)
        self.nodes = list(self.root.below())
        self.size = self.root.span[1]
        self.spans = [(b, e) for b in range(self.size) for e in range(b + 1, self.size + 1)]
        self.covers = {span: self.find_cover(span) for span in self.spans}

    def find_cover(self, span: Span) -> list[Node]:
        held = [node for node in self.nodes if inside(node.span, span)]
        return [node for node in held if not any(node in other.children for other in held)]

    def preorder(self) -> tuple[list[Node], list[Node]]:
        """The constituents and the pre-terminals: how links number nodes."""
        return [n for n in self.nodes if not n.word], sorted((n for n in self.nodes if n.word), key=lambda n: n.span)


@dataclass(frozen=True)
class Limits:
    max_trees: int = 3
    max_variables: int = 3
    max_frontier: int = 6
    max_words: int = 7
    max_height: int = 6
    span_limit: int = 10
    max_variants: int = 4
    reading: str = "exact"


class Reference:
    def __init__(
        self,
        source: Any,
        target: Any,
        links: Links,
        nodes: Sequence[tuple[Any, Any]] = (),
        limits: Limits | None = None,
    ) -> None:
        self.source, self.target, self.links, self.limits = Side(source), Side(target), links, limits or Limits()
        sides = (self.source.preorder(), self.target.preorder())
        self.node_links = [
            (sides[0][s < 0][s if s >= 0 else ~s], sides[1][t < 0][t if t >= 0 else ~t]) for s, t in nodes
        ]

    # Units

    def consistent(self, f: Span, e: Span) -> bool:
        joined = [(f[0] <= j < f[1], e[0] <= i < e[1]) for j, i in self.links]
        return any(a and b for a, b in joined) and all(a == b for a, b in joined)

    def linked(self, node: Node, side: int) -> bool:
        return any(node.span[0] <= link[side] < node.span[1] for link in self.links)

    def good_ends(self, cover: list[Node], side: int) -> bool:
        return len(cover) == 1 or (self.linked(cover[0], side) and self.linked(cover[-1], side))

    def order(self, e: Span) -> tuple[int, int, int]:
        return len(self.target.covers[e]), e[0] - e[1], e[0]

    def consistent_targets(self, f: Span) -> list[Span]:
        reached = [i for j, i in self.links if f[0] <= j < f[1]]
        if not reached or not self.good_ends(self.source.covers[f], 0):
            return []
        tight = min(reached), max(reached) + 1
        if not self.consistent(f, tight):
            return []
        if f == (0, self.source.size):
            return [(0, self.target.size)]
        covers, most = self.target.covers, self.limits.max_trees
        others = [
            e
            for e in self.target.spans
            if e != tight
            and inside(tight, e)
            and self.consistent(f, e)
            and len(covers[e]) <= min(most, len(covers[tight]))
            and self.good_ends(covers[e], 1)
        ]
        return [tight] * (len(covers[tight]) <= most) + sorted(others, key=self.order)

    def licensed(self, f: Span, e: Span) -> bool:
        if self.limits.reading == "open":
            joined = [(inside(s.span, f), inside(t.span, e)) for s, t in self.node_links]
            return any(a and b for a, b in joined) and all(a == b for a, b in joined)
        here, there = self.source.covers[f], self.target.covers[e]
        pairs = {(s.span, t.span) for s, t in self.node_links}
        return len(here) == len(there) and any(
            all((s.span, t.span) in pairs for s, t in zip(here, turned, strict=True)) for turned in permutations(there)
        )

    def licensed_targets(self, f: Span) -> list[Span]:
        whole = f == (0, self.source.size)
        spans = [
            e
            for e in self.target.spans
            if len(self.target.covers[e]) <= self.limits.max_trees and (not whole or e == (0, self.target.size))
        ]
        spans = sorted((e for e in spans if self.licensed(f, e)), key=self.order)
        if self.limits.reading == "open":
            return sorted(spans, key=lambda e: (e[1] - e[0], e[0]))[:1]
        return spans

    def units(self, kind: str) -> dict[Span, list[Span]]:
        """V(F) of every F that has one."""
        result = {}
        for f in self.source.spans:
            if len(self.source.covers[f]) > self.limits.max_trees:
                continue
            targets = self.consistent_targets(f) if kind != "licensed" else []
            if kind != "consistent":
                targets += [e for e in self.licensed_targets(f) if e not in targets]
            if targets:
                result[f] = targets[: self.limits.max_variants]
        return result

    # Rules

    def side(self, side: Side, outer: Span, inner: Sequence[Span], numbers: Sequence[int]) -> tuple[str, int, int]:
        """Text, words and height."""
        numbered = {node: n for span, n in zip(inner, numbers, strict=True) for node in side.covers[span]}
        words = 0
        height = 0

        def write(node: Node, depth: int) -> str:
            nonlocal words, height
            if node in numbered:
                height = max(height, depth)
                return f"x{numbered[node]}:{node.label}"
            if node.word:
                words += 1
                height = max(height, depth + 1)
                return f"({node.label} {node.word})"
            return f"({node.label} {' '.join(write(child, depth + 1) for child in node.children)})"

        text = " ".join(write(root, 0) for root in side.covers[outer])
        return text, words, height

    def rule(self, f: Span, e: Span, inner: Sequence[tuple[Span, Span]]) -> tuple[str, bool, bool]:
        """The rule of inner pairs in source order; whether it is one at all, whether it is within the limits."""
        limits, numbers = self.limits, range(1, len(inner) + 1)
        source, source_words, source_height = self.side(self.source, f, [s for s, _ in inner], numbers)
        target, target_words, target_height = self.side(self.target, e, [t for _, t in inner], numbers)
        wordless = source_words == target_words == 0
        bare = "(" not in source and "(" not in target
        in_order = [t for _, t in inner] == sorted(t for _, t in inner)
        is_rule = not wordless or (len(inner) >= 2 and not (bare and in_order))
        within = (
            len(inner) <= limits.max_variables
            and source_words + len(inner) <= limits.max_frontier
            and max(source_words, target_words) <= limits.max_words
            and max(source_height, target_height) <= limits.max_height
            and (len(inner) <= 2 if wordless else f[1] - f[0] <= limits.span_limit)
        )
        if max(source_words, target_words) + len(inner) > 40 and not within:
            is_rule = False
        return f"{source} ||| {target}", is_rule, within

    def minimal(self, units: dict[Span, list[Span]], f: Span, e: Span) -> list[tuple[Span, Span]]:
        single = [
            (fi, ei)
            for fi, targets in units.items()
            for ei in targets
            if fi != f
            and inside(fi, f)
            and inside(ei, e)
            and len(self.source.covers[fi]) == len(self.target.covers[ei]) == 1
        ]
        single.sort(key=lambda pair: (pair[0][0] - pair[0][1], pair[0][0], pair[1][0] - pair[1][1], pair[1][0]))
        taken: list[tuple[Span, Span]] = []
        for fi, ei in single:
            if all(apart(fi, fk) and apart(ei, ek) for fk, ek in taken):
                taken.append((fi, ei))
        return sorted(taken)

    def extract(self, kind: str = "consistent") -> Counter[str]:
        units = self.units(kind)
        result: Counter[str] = Counter()
        for f, targets in units.items():
            for e in targets:
                weight = Fraction(1, len(targets))
                below = [fi for fi in units if fi != f and inside(fi, f)]
                for size in range(self.limits.max_variables + 1):
                    for chosen in combinations(below, size):
                        if all(apart(a, b) for a, b in combinations(chosen, 2)):
                            self.add(units, f, e, sorted(chosen), weight, result)
                text, is_rule, within = self.rule(f, e, self.minimal(units, f, e))
                if is_rule and not within:
                    result[text] += weight  # type: ignore[assignment]
        return result

    def add(
        self,
        units: dict[Span, list[Span]],
        f: Span,
        e: Span,
        chosen: list[Span],
        weight: Fraction,
        result: Counter[str],
    ) -> None:
        ways = []
        for targets in product(*(units[fi] for fi in chosen)):
            if all(inside(ei, e) for ei in targets) and all(apart(a, b) for a, b in combinations(targets, 2)):
                text, is_rule, within = self.rule(f, e, list(zip(chosen, targets, strict=True)))
                if is_rule and within:
                    ways.append(text)
        for text in ways:
            result[text] += weight / len(ways)  # type: ignore[assignment]

    def rules(self, links: str = "base") -> dict[str, Fraction]:
        if links == "dirc":
            return dict(self.extract("consistent") + self.extract("licensed"))  # type: ignore[arg-type]
        return dict(self.extract("either" if links == "ewos" else "consistent"))  # type: ignore[arg-type]
