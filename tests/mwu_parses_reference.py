"""Multi-word-unit forests over several dependency trees of a sentence, in plain Python and by brute force (see mwu_reference).

A vertex is what the trees that share it agree on: its words, their heads inside of it, what hangs on it and where, and all that it
covers. An edge into it has the mean of its probabilities in the trees' forests, by the weights of the trees that have the vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from mwu_reference import ROOT, Tree, Unit, derivations, forest, probabilities, source_side


class Vertex(NamedTuple):
    words: Unit
    heads: tuple[tuple[int, int], ...]
    """Of its words (-1: outside), and of those of tau."""
    sigma: tuple[int, ...]
    tau: tuple[int, ...]
    whole: Unit


Tails = tuple[Vertex, ...]
TreeKeep = Callable[[int, tuple[int, ...]], bool]


def vertex_of(tree: Tree, unit: Unit) -> Vertex:
    sigma, tau = tree.sigma(unit), tree.tau(unit)
    heads = tuple((w, -1 if w in sigma else tree.heads[w]) for w in sorted({*unit, *tau}))
    return Vertex(unit, heads, sigma, tau, tree.whole(unit))


class Joined:
    """The forest of several trees."""

    def __init__(
        self,
        trees: Sequence[Tree],
        weights: Sequence[float],
        max_words: int,
        k: int,
        *,
        vertex_siblings: bool = False,
        keep: TreeKeep | None = None,
    ) -> None:
        self.trees = trees
        own: list[dict[Vertex, dict[Tails, float]]] = []
        for n, tree in enumerate(trees):

            def kept(group: tuple[int, ...], n: int = n) -> bool:
                assert keep is not None
                return keep(n, group)

            edges = forest(tree, max_words, k, vertex_siblings=vertex_siblings, keep=kept if keep else None)
            p = probabilities(edges)
            own.append(
                {
                    vertex_of(tree, unit): {
                        tuple(vertex_of(tree, tail) for tail in edge): p[unit, edge] for edge in into
                    }
                    for unit, into in edges.items()
                }
            )
        root = next(vertex for vertex in own[0] if not vertex.words)
        self.first: dict[Vertex, int] = {}
        """The first tree that has a vertex."""
        self.edges: dict[object, list[Tails]] = {ROOT: []}
        self.p: dict[tuple[object, Tails], float] = {}
        for n, vertices in enumerate(own):
            for vertex in vertices:
                if vertex.words:
                    self.first.setdefault(vertex, n)
        for vertex in [root, *self.first]:
            key: object = vertex if vertex.words else ROOT
            into = [next((e for v, e in f.items() if v == vertex or not (v.words or vertex.words)), None) for f in own]
            total = sum(w for w, e in zip(weights, into, strict=True) if e is not None)
            mixed: dict[Tails, float] = {}
            for w, e in zip(weights, into, strict=True):
                for tails, value in (e or {}).items():
                    mixed[tails] = mixed.get(tails, 0) + w / total * value
            self.edges[key] = list(mixed)
            self.p.update({(key, tails): value for tails, value in mixed.items()})

    def posteriors(self) -> dict[object, float]:
        """Of vertices and of (vertex, edge), from all derivations."""
        result: dict[object, float] = {}
        for derivation in derivations(self.edges):  # type: ignore[arg-type]
            value = prod(self.p[vertex, edge] for vertex, edge in derivation.items() if edge)  # type: ignore[index]
            for vertex, edge in derivation.items():
                result[vertex] = result.get(vertex, 0) + value
                if edge:
                    result[vertex, edge] = result.get((vertex, edge), 0) + value
        return result

    def side(
        self, words: Sequence[str], labels: Sequence[str], vertex: Vertex, tails: Tails, deleted: Tails = ()
    ) -> str:
        """The source side of a rule: `deleted` tails stand with all their words, as in the first tree that has them."""
        heads = dict.fromkeys(range(len(words)), -1)
        own = set(vertex.words)
        for tail in deleted:
            own |= tail.whole
            heads |= {w: self.trees[self.first[tail]].heads[w] for w in tail.whole}
        heads |= dict(vertex.heads)
        shape = Tree([heads[w] for w in range(len(words))])
        return source_side(shape, words, labels, sorted(own), [tail.sigma for tail in tails])


class ParsesPair:
    """A sentence with several trees, and its links."""

    def __init__(
        self,
        heads: Sequence[Sequence[int]],
        weights: Sequence[float],
        words: Sequence[str],
        tags: Sequence[str],
        target: Sequence[str],
        links: Sequence[tuple[int, int]],
    ) -> None:
        self.trees, self.weights = [Tree(one) for one in heads], weights
        self.words, self.tags, self.target, self.links = words, tags, target, set(links)

    def span(self, words: Unit) -> range:
        linked = [t for s, t in self.links if s in words]
        return range(min(linked), max(linked) + 1) if linked else range(0)

    def consistent(self, words: Unit) -> bool:
        span = self.span(words)
        return bool(span) and all((s in words) == (t in span) for s, t in self.links)

    def joined(self, max_words: int, k: int, options: set[str]) -> Joined:
        def keep(n: int, group: tuple[int, ...]) -> bool:
            below = self.trees[n].whole(frozenset(group))
            return self.consistent(below) or ("unaligned_source" in options and not self.span(below))

        return Joined(
            self.trees,
            self.weights,
            max_words,
            k,
            vertex_siblings="vertex_siblings" in options,
            keep=keep if "consistent_first" in options else None,
        )

    def rules(self, max_words: int, k: int, options: set[str]) -> dict[tuple[str, str], float]:
        result: dict[tuple[str, str], float] = {}
        if not self.links or not self.target:
            return result
        joined = self.joined(max_words, k, options)
        posterior = joined.posteriors()

        def add(source: str, span: range, holes: dict[range, str], count: float) -> None:
            shown = []
            for t in span:
                hole = next((h for h in holes if t in h), None)
                if hole is None:
                    shown.append(self.target[t])
                elif t == hole.start:
                    shown.append(holes[hole])
            key = source, " ".join(shown)
            result[key] = result.get(key, 0) + count

        for vertex in joined.first:
            if self.consistent(vertex.words):
                add(joined.side(self.words, self.tags, vertex, ()), self.span(vertex.words), {}, posterior[vertex])
            for edge in joined.edges[vertex]:
                deleted = tuple(t for t in edge if "unaligned_source" in options and not self.span(t.whole))
                tails = tuple(sorted((t for t in edge if t not in deleted), key=lambda t: t.sigma))
                if edge and all(self.consistent(w) for w in (vertex.whole, *(t.whole for t in tails))):
                    holes = {self.span(t.whole): f"x{n}" for n, t in enumerate(tails, 1)}
                    side = joined.side(self.words, self.tags, vertex, tails, deleted)
                    add(side, self.span(vertex.whole), holes, posterior[vertex, edge])
        return result

    def recovered(self, max_words: int, k: int, options: set[str]) -> bool:
        rules: dict[str, set[str]] = {}
        for source, target in self.rules(max_words, k, options):
            rules.setdefault(source, set()).add(target)
        if not rules:
            return False
        joined = self.joined(max_words, k, options)
        wanted = " ".join(self.target)
        known: dict[Vertex, set[str]] = {}

        def texts(vertex: Vertex) -> set[str]:
            if vertex in known:
                return known[vertex]
            result = known[vertex] = set()
            for edge in joined.edges[vertex] or [()]:
                for size in range(len(edge) + 1 if "unaligned_source" in options else 1):
                    for deleted in combinations(edge, size):
                        kept = tuple(sorted(set(edge) - set(deleted), key=lambda t: t.sigma))
                        side = joined.side(self.words, self.tags, vertex, kept, deleted)
                        for target in rules.get(side, ()):
                            for parts in product(*(texts(tail) for tail in kept)):
                                filling = {f"x{n}": part for n, part in enumerate(parts, 1)}
                                text = " ".join(filling.get(symbol, symbol) for symbol in target.split(" "))
                                if f" {text} " in f" {wanted} ":
                                    result.add(text)
            return result

        return any(wanted in texts(edge[0]) for edge in joined.edges[ROOT])
