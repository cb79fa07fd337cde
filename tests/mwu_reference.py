"""Multi-word-unit forests in plain Python, from the definitions and by brute force: what the core is compared with.

Word sets are frozensets, a forest is a dictionary from a vertex to its edges (tuples of tails), best first; the dummy root is
the empty set. For small trees only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod

Unit = frozenset[int]
Edge = tuple[Unit, ...]
Edges = dict[Unit, list[Edge]]
Keep = Callable[[tuple[int, ...]], bool]
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


def forest(
    tree: Tree,
    max_words: int,
    k: int,
    *,
    cap: int | None = 200,
    vertex_siblings: bool = False,
    keep: Keep | None = None,
) -> Edges:
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

    def edges_into(unit: Unit, kept: Keep | None) -> list[Edge]:
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


# Rules


def source_side(
    tree: Tree, words: Sequence[str], labels: Sequence[str], own: Sequence[int], tails: Sequence[tuple[int, ...]]
) -> str:
    """Words of the rule and words of its tails' sigmas, each with the place of its head."""
    number = {word: n for n, tail in enumerate(sorted(tails), 1) for word in tail}
    places = sorted([*own, *number])
    shown = []
    for word in places:
        head = places.index(tree.heads[word]) + 1 if tree.heads[word] in places else 0
        text = f"x{number[word]}:{labels[word]}" if word in number else words[word]
        shown.append(f"{text}/{head}")
    return " ".join(shown)


class Pair:
    """A sentence with its links, and what the spec says about spans."""

    def __init__(
        self,
        heads: Sequence[int],
        words: Sequence[str],
        tags: Sequence[str],
        target: Sequence[str],
        links: Sequence[tuple[int, int]],
    ) -> None:
        self.tree, self.words, self.tags, self.target = Tree(heads), words, tags, target
        self.links = set(links)

    def span(self, words: Unit) -> range:
        linked = [t for s, t in self.links if s in words]
        return range(min(linked), max(linked) + 1) if linked else range(0)

    def consistent(self, words: Unit, paper: bool) -> bool:
        span = self.span(words)
        if not span:
            return False
        if not paper:
            return all((s in words) == (t in span) for s, t in self.links)
        inside = {s for s, t in self.links if t in span}
        return all(t in span for s, t in self.links if s in inside)

    def rules(
        self,
        max_words: int,
        k: int,
        *,
        paper: bool = False,
        word_labels: bool = False,
        unaligned_source: bool = False,
        unaligned_target: bool = False,
        vertex_siblings: bool = False,
        consistent_first: bool = False,
    ) -> dict[tuple[str, str], float]:
        """Counts by source and target; without pruning."""
        result: dict[tuple[str, str], float] = {}
        if not self.links or not self.target:
            return result
        labels = self.words if word_labels else self.tags

        def fits(group: tuple[int, ...]) -> bool:
            below = self.tree.whole(frozenset(group))
            return self.consistent(below, paper) or (unaligned_source and not self.span(below))

        edges = forest(
            self.tree, max_words, k, vertex_siblings=vertex_siblings, keep=fits if consistent_first else None
        )
        p = probabilities(edges)
        posterior: dict[object, float] = {}
        for derivation in derivations(edges):
            for unit, edge in derivation.items():
                posterior[unit] = posterior.get(unit, 0) + weight(derivation, p)
                posterior[unit, edge] = posterior.get((unit, edge), 0) + weight(derivation, p)

        def add(source: str, span: range, holes: dict[range, str], count: float) -> None:
            def text(first: int, last: int) -> str:
                shown: list[str] = []
                for t in range(first, last):
                    hole = next((h for h in holes if t in h), None)
                    if hole is None:
                        shown.append(self.target[t])
                    elif t == hole.start:
                        shown.append(holes[hole])
                return " ".join(shown)

            aligned = {t for _, t in self.links}
            first, last = span.start, span.stop
            while unaligned_target and first > 0 and first - 1 not in aligned:
                first -= 1
            while unaligned_target and last < len(self.target) and last not in aligned:
                last += 1
            variants = {text(a, b) for a in range(first, span.start + 1) for b in range(span.stop, last + 1)}
            if len(variants) > 16:
                variants = {text(span.start, span.stop)}
            for variant in variants:
                result[source, variant] = result.get((source, variant), 0) + count / len(variants)

        for unit, into in edges.items():
            if not unit:
                continue
            if self.consistent(unit, paper):
                side = source_side(self.tree, self.words, labels, sorted(unit), [])
                add(side, self.span(unit), {}, posterior[unit])
            below = self.tree.whole(unit)
            for edge in into:
                own, tails = sorted(unit), []
                for tail in edge:
                    if unaligned_source and not self.span(self.tree.whole(tail)):
                        own = sorted([*own, *self.tree.whole(tail)])
                    else:
                        tails.append(tail)
                spans = [self.span(self.tree.whole(tail)) for tail in tails]
                if not all(self.consistent(w, paper) for w in (below, *map(self.tree.whole, tails))):
                    continue
                if any(set(a) & set(b) for a, b in combinations(spans, 2)):
                    continue
                sigmas = [self.tree.sigma(tail) for tail in tails]
                holes = {span: f"x{sorted(sigmas).index(sigma) + 1}" for span, sigma in zip(spans, sigmas, strict=True)}
                side = source_side(self.tree, self.words, labels, own, sigmas)
                add(side, self.span(below), holes, posterior[unit, edge])
        return result

    # Coverage

    def recovered(self, max_words: int, k: int, **options: bool) -> bool:
        """Whether the rules, applied in any way, can make the target: by all texts that each unit can become."""
        rules: dict[str, set[str]] = {}
        for source, target in self.rules(max_words, k, **options):
            rules.setdefault(source, set()).add(target)
        paper, deletes = options.get("paper", False), options.get("unaligned_source", False)
        labels = self.words if options.get("word_labels") else self.tags

        def fits(group: tuple[int, ...]) -> bool:
            below = self.tree.whole(frozenset(group))
            return self.consistent(below, paper) or (deletes and not self.span(below))

        edges = forest(
            self.tree,
            max_words,
            k,
            vertex_siblings=options.get("vertex_siblings", False),
            keep=fits if options.get("consistent_first") else None,
        )
        wanted = " ".join(self.target)
        known: dict[Unit, set[str]] = {}

        def texts(unit: Unit) -> set[str]:
            if unit in known:
                return known[unit]
            result = known[unit] = set()
            for edge in edges[unit] or [()]:
                for size in range(len(edge) + 1 if deletes else 1):
                    for deleted in combinations(edge, size):
                        own = sorted([*unit, *(w for tail in deleted for w in self.tree.whole(tail))])
                        kept = sorted(set(edge) - set(deleted), key=self.tree.sigma)
                        side = source_side(self.tree, self.words, labels, own, [self.tree.sigma(t) for t in kept])
                        for target in rules.get(side, ()):
                            for parts in product(*(texts(tail) for tail in kept)):
                                filling = {f"x{n}": part for n, part in enumerate(parts, 1)}
                                text = " ".join(filling.get(symbol, symbol) for symbol in target.split(" "))
                                if f" {text} " in f" {wanted} ":
                                    result.add(text)
            return result

        return bool(self.links) and any(wanted in texts(edge[0]) for edge in edges[ROOT])
