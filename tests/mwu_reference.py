"""Multi-word-unit forests in plain Python, from the definitions and by brute force: what the core is compared with.

Word sets are frozensets, a forest is a dictionary from a vertex to its edges (tuples of tails), best first; the dummy root is
the empty set. For small trees only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod

Unit = frozenset[int]
Edge = tuple[Unit, ...]
Edges = dict[Unit, list[Edge]]
ROOT: Unit = frozenset()


class Tree:
    """A projective dependency tree with the questions that the definitions ask."""

    def __init__(self, heads: Sequence[int]) -> None:
        self.heads = list(heads)
        self.words = range(len(heads))

    def children(self, word: int) -> list[int]:
        return [w for w in self.words if self.heads[w] == word]

    def sigma(self, unit: Unit) -> tuple[int, ...]:
        return tuple(sorted(w for w in unit if self.heads[w] not in unit))

    def tau(self, unit: Unit) -> tuple[int, ...]:
        if not unit:
            return tuple(self.children(-1))
        return tuple(w for w in self.words if w not in unit and self.heads[w] in unit)

    def whole(self, unit: Unit) -> Unit:
        """The yield: the unit and everything below it."""
        below, todo = set(unit), list(unit)
        while todo:
            for child in self.children(todo.pop()):
                if child not in below:
                    below.add(child)
                    todo.append(child)
        return frozenset(below)

    def siblings(self, group: Sequence[int]) -> bool:
        """Whether these words are neighbours among the children of one word."""
        if len({self.heads[w] for w in group}) != 1:
            return False
        children = self.children(self.heads[group[0]])
        first = children.index(group[0])
        return children[first : first + len(group)] == list(group)


def units(tree: Tree, max_words: int, cap: int | None = 200) -> list[Unit]:
    """The well-formed word sets, with the cap for each first word of sigma."""
    fitting = [
        frozenset(words)
        for size in range(1, max_words + 1)
        for words in combinations(tree.words, size)
        if tree.siblings(tree.sigma(frozenset(words)))
    ]
    kept: dict[int, list[Unit]] = {}
    for unit in sorted(fitting, key=lambda u: (len(u), max(u) - min(u), sorted(u))):
        kept.setdefault(tree.sigma(unit)[0], []).append(unit)
    return [unit for first in sorted(kept) for unit in kept[first][: cap or None]]


def groupings(words: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """All ways to cut a sequence into groups of neighbours."""
    for cuts in product((False, True), repeat=max(len(words) - 1, 0)):
        groups = [[words[0]]] if words else []
        for word, cut in zip(words[1:], cuts, strict=True):
            if cut:
                groups.append([word])
            else:
                groups[-1].append(word)
        yield [tuple(group) for group in groups]


def mean_size(edge: Edge) -> Fraction:
    return Fraction(sum(map(len, edge)), len(edge))


def ranked(edges: list[Edge]) -> list[Edge]:
    return sorted(edges, key=lambda edge: (-mean_size(edge), len(edge), [sorted(tail) for tail in edge]))


def forest(tree: Tree, max_words: int, k: int, *, cap: int | None = 200, vertex_siblings: bool = False, keep=None) -> Edges:
    """What the dummy root reaches. ``keep`` says which groups may be tails, if that leaves an edge."""
    by_sigma: dict[tuple[int, ...], list[Unit]] = {}
    for unit in units(tree, max_words, cap):
        by_sigma.setdefault(tree.sigma(unit), []).append(unit)

    def tails(group: tuple[int, ...]) -> list[Unit]:
        if not vertex_siblings or tree.siblings(group):
            return by_sigma.get(group, [])
        if group not in by_sigma:
            inside = sorted(tree.whole(frozenset(group)))
            by_sigma[group] = sorted(
                (
                    frozenset(words)
                    for size in range(len(group), max_words + 1)
                    for words in combinations(inside, size)
                    if tree.sigma(frozenset(words)) == group
                ),
                key=lambda u: (len(u), max(u) - min(u), sorted(u)),
            )[: cap or None]
        return by_sigma[group]

    def edges_into(unit: Unit, kept) -> list[Edge]:
        result: list[Edge] = []
        for groups in groupings(tree.tau(unit)):
            if kept is None or all(kept(group) for group in groups):
                result.extend(product(*(tails(group) for group in groups)))
        return ranked(result)

    result: Edges = {}
    todo = [ROOT]
    while todo:
        unit = todo.pop(0)
        if unit in result:
            continue
        edges: list[Edge] = []
        if tree.tau(unit):
            if keep is not None and unit:
                edges = edges_into(unit, keep)
            edges = edges or edges_into(unit, None)
        result[unit] = edges if not unit else edges[:k]
        todo.extend(tail for edge in result[unit] for tail in edge)
    return result


def probabilities(edges: Edges) -> dict[tuple[Unit, Edge], float]:
    result = {}
    for unit, into in edges.items():
        total = sum(map(mean_size, into))
        result.update({(unit, edge): float(mean_size(edge) / total) for edge in into})
    return result


Derivation = dict[Unit, Edge]


def derivations(edges: Edges, unit: Unit = ROOT) -> Iterator[Derivation]:
    """Every derivation of a vertex: the vertices it uses with their edges."""
    if not edges[unit]:
        yield {unit: ()}
    for edge in edges[unit]:
        for parts in product(*(list(derivations(edges, tail)) for tail in edge)):
            whole: Derivation = {unit: edge}
            for part in parts:
                whole.update(part)
            yield whole


def weight(derivation: Derivation, p: dict[tuple[Unit, Edge], float]) -> float:
    return prod(p[unit, edge] for unit, edge in derivation.items() if edge)
