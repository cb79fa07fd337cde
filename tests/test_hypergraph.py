"""Sums over derivations and k-best lists: equal to what all derivations, one by one, add up to."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot._core.hypergraph import Hypergraph, inside, kbest, outside, posteriors, through

LIMIT = 300  # derivations of one vertex
LOGS = [-2.0, -1.5, -0.75, -0.25, 0.0, 0.5, -math.inf]

Derivation = tuple[int, ...]  # its edges in preorder
Target = list[str | int]


@dataclass
class Example:
    """Vertices are lists of edges, which are lists of tails: vertices before them. The goal may be any vertex."""

    vertices: list[list[list[int]]]
    goal: int
    graph: Hypergraph = field(default_factory=Hypergraph)
    derivations: list[list[Derivation]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graph.add_vertices(len(self.vertices))
        for head, edges in enumerate(self.vertices):
            for tails in edges:
                self.graph.add_edge(head, tails)
        self.graph.freeze()
        number = 0
        for edges in self.vertices:
            self.derivations.append([])
            for tails in edges:
                for parts in itertools.product(*(self.derivations[tail] for tail in tails)):
                    self.derivations[-1].append((number, *itertools.chain.from_iterable(parts)))
                number += 1

    def uses(self, derivation: Derivation) -> tuple[Counter[int], Counter[int]]:
        """How often a derivation uses each vertex and each edge."""
        return Counter(self.graph.head(edge) for edge in derivation), Counter(derivation)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    counts: list[int] = []
    vertices: list[list[list[int]]] = []
    for vertex in range(draw(st.integers(1, 7))):
        edges = draw(st.lists(st.lists(st.integers(0, vertex - 1), max_size=3) if vertex else st.just([]), max_size=3))
        count = sum(math.prod(counts[tail] for tail in tails) for tails in edges)
        if count > LIMIT:
            edges, count = edges[:0], 0
        vertices.append(edges)
        counts.append(count)
    return Example(vertices, draw(st.integers(0, len(vertices) - 1)))


def draw_weights(data: st.DataObject, example: Example, values: Iterable[float]) -> list[float]:
    weight = st.sampled_from(list(values))
    return data.draw(st.lists(weight, min_size=example.graph.edges, max_size=example.graph.edges))


def log_sum(logs: Iterable[float]) -> float:
    total = math.fsum(math.exp(value) for value in logs)
    return math.log(total) if total else -math.inf


def totals(example: Example, logs: list[float]) -> list[list[float]]:
    return [[sum(logs[e] for e in derivation) for derivation in some] for some in example.derivations]


@given(examples(), st.data())
@settings(max_examples=tries(150))
def test_log_and_probability_sums(example: Example, data: st.DataObject) -> None:
    logs = draw_weights(data, example, LOGS)
    sums = totals(example, logs)
    below = inside(example.graph, logs)
    assert below == pytest.approx([log_sum(some) for some in sums])
    plain = [math.exp(value) for value in logs]
    assert inside(example.graph, plain, "probability") == pytest.approx([math.exp(value) for value in below])
    vertices, edges = [0.0] * example.graph.vertices, [0.0] * example.graph.edges
    whole = math.fsum(math.exp(value) for value in sums[example.goal])
    for derivation, value in zip(example.derivations[example.goal], sums[example.goal], strict=True):
        for of, counts in zip((vertices, edges), example.uses(derivation), strict=True):
            for number, count in counts.items():
                of[number] += count * math.exp(value) / whole if whole else 0.0
    shares = posteriors(example.graph, logs, example.goal)
    assert [math.exp(value) for value in shares[0]] == pytest.approx(vertices)
    assert [math.exp(value) for value in shares[1]] == pytest.approx(edges)
    shares = posteriors(example.graph, plain, example.goal, "probability")
    assert shares[0] == pytest.approx(vertices)
    assert shares[1] == pytest.approx(edges)
    above = outside(example.graph, logs, example.goal)
    assert above[example.goal] == 0
    for vertex in range(example.graph.vertices):
        if below[vertex] > -math.inf and whole:
            assert math.exp(below[vertex] + above[vertex]) == pytest.approx(vertices[vertex] * whole)


@given(examples(), st.data())
@settings(max_examples=100)
def test_counts_booleans_and_the_best(example: Example, data: st.DataObject) -> None:
    ones = [1] * example.graph.edges
    assert inside(example.graph, ones, "count") == [len(some) for some in example.derivations]
    used = [Counter[int](), Counter[int]()]
    for derivation in example.derivations[example.goal]:
        for total, counts in zip(used, example.uses(derivation), strict=True):
            total.update(counts)
    vertices, edges = through(example.graph, ones, example.goal, "count")
    assert vertices == [used[0][v] for v in range(example.graph.vertices)]
    assert edges == [used[1][e] for e in range(example.graph.edges)]
    yes = [True] * example.graph.edges
    assert inside(example.graph, yes, "boolean") == [bool(some) for some in example.derivations]
    assert through(example.graph, yes, example.goal, "boolean") == ([v > 0 for v in vertices], [e > 0 for e in edges])
    logs = draw_weights(data, example, LOGS)
    best = [max(some, default=-math.inf) for some in totals(example, logs)]
    assert inside(example.graph, logs, "viterbi") == best
    behind = posteriors(example.graph, logs, example.goal, "viterbi")[1]
    for edge in range(example.graph.edges):
        through_edge = [
            sum(logs[e] for e in derivation) for derivation in example.derivations[example.goal] if edge in derivation
        ]
        value = max(through_edge, default=-math.inf)
        assert behind[edge] == (value - best[example.goal] if value > -math.inf else value)


@given(examples(), st.data())
@settings(max_examples=100)
def test_expectations(example: Example, data: st.DataObject) -> None:
    logs = draw_weights(data, example, LOGS)
    first, second = draw_weights(data, example, [0, 1, 2]), draw_weights(data, example, [-1.0, 0.5])
    weights = [(log, [a, b]) for log, a, b in zip(logs, first, second, strict=True)]
    expectations = inside(example.graph, weights, "expectation")
    for (log, mean), derivations, sums in zip(expectations, example.derivations, totals(example, logs), strict=True):
        assert log == pytest.approx(log_sum(sums))
        if log == -math.inf:
            assert mean == []
            continue
        shares = [math.exp(value - log) for value in sums]
        for amounts, value in zip((first, second), mean, strict=True):
            wanted = sum(share * sum(amounts[e] for e in d) for share, d in zip(shares, derivations, strict=True))
            assert value == pytest.approx(wanted)


def edges_of(parts: list[tuple[int, list[int]]], number: int = 0) -> Derivation:
    edge, tails = parts[number]
    return (edge, *itertools.chain.from_iterable(edges_of(parts, tail) for tail in tails))


@given(examples(), st.data())
@settings(max_examples=tries(150))
def test_kbest_lists_every_derivation(example: Example, data: st.DataObject) -> None:
    logs = draw_weights(data, example, LOGS)
    sums = totals(example, logs)[example.goal]
    both = zip(sums, example.derivations[example.goal], strict=True)
    wanted = sorted(((value, d) for value, d in both if value > -math.inf), key=lambda pair: -pair[0])
    ranked = kbest(example.graph, logs, example.goal, LIMIT + 1)
    assert [value for value, _ in ranked] == [value for value, _ in wanted]
    assert sorted((value, edges_of(parts)) for value, parts in ranked) == sorted(wanted)
    assert kbest(example.graph, logs, example.goal, 5) == ranked[:5]


@given(examples(), st.data())
@settings(max_examples=tries(150))
def test_kbest_with_distinct_yields(example: Example, data: st.DataObject) -> None:
    graph = example.graph
    logs = draw_weights(data, example, LOGS[:-1])
    yields: list[Target] = []
    for edge in range(graph.edges):
        words = data.draw(st.lists(st.sampled_from("ab"), max_size=2))
        yields.append(data.draw(st.permutations([*range(len(graph.tails(edge))), *words])))

    def words_of(derivation: Derivation) -> tuple[str, ...]:
        rest = iter(derivation)

        def read() -> tuple[str, ...]:
            edge = next(rest)
            tails = [read() for _ in graph.tails(edge)]
            return tuple(itertools.chain.from_iterable([s] if isinstance(s, str) else tails[s] for s in yields[edge]))

        return read()

    best: dict[tuple[str, ...], float] = {}
    for derivation in example.derivations[example.goal]:
        words, value = words_of(derivation), sum(logs[e] for e in derivation)
        best[words] = max(value, best.get(words, -math.inf))
    ranked = kbest(graph, logs, example.goal, LIMIT + 1, yields=yields)
    assert [value for value, _ in ranked] == sorted(best.values(), reverse=True)
    assert {words_of(edges_of(parts)): value for value, parts in ranked} == best


def test_lists_and_order() -> None:
    graph = Hypergraph()
    assert graph.add_vertices(2) == 0
    assert graph.add_vertex() == 2
    assert graph.add_edge(0, [2, 1, 2]) == 0
    assert graph.add_edge(1) == 1
    graph.freeze()
    assert (graph.vertices, graph.edges, graph.head(0), graph.tails(0)) == (3, 2, 0, [2, 1, 2])
    assert (graph.incoming(0), graph.incoming(2), graph.outgoing(2)) == ([0], [], [0])
    assert graph.order() == [2, 1, 0]


def test_a_long_chain() -> None:
    length = 200_000
    graph = Hypergraph()
    graph.add_vertices(length)
    for vertex in range(length):
        for _ in range(2):
            graph.add_edge(vertex, [vertex + 1] if vertex + 1 < length else [])
    graph.freeze()
    weights = [math.log(0.5)] * graph.edges
    assert inside(graph, weights)[0] == pytest.approx(0, abs=1e-6)
    assert posteriors(graph, weights, 0)[0][-1] == pytest.approx(0, abs=1e-6)
    assert [value for value, _ in kbest(graph, [0.0, -1.0] * length, 0, 3)] == [0, -1, -1]


def test_errors() -> None:
    graph = Hypergraph()
    graph.add_vertices(2)
    graph.add_edge(0, [1])
    with pytest.raises(IndexError, match="no vertex 2: the hypergraph has 2"):
        graph.add_edge(0, [2])
    with pytest.raises(RuntimeError, match="not frozen"):
        inside(graph, [0.0])
    with pytest.raises(RuntimeError, match="not frozen"):
        graph.order()
    cyclic = Hypergraph()
    cyclic.add_vertices(2)
    cyclic.add_edge(0, [1])
    cyclic.add_edge(1, [0])
    with pytest.raises(ValueError, match=r"cycle: vertex [01] is below itself"):
        cyclic.freeze()
    graph.freeze()
    with pytest.raises(RuntimeError, match="frozen"):
        graph.add_edge(0)
    with pytest.raises(ValueError, match="1 edges and 2 weights"):
        inside(graph, [0.0, 0.0])
    with pytest.raises(ValueError, match="below infinity"):
        inside(graph, [math.nan])
    with pytest.raises(ValueError, match="no semiring 'sum'"):
        inside(graph, [0.0], "sum")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="see through"):
        posteriors(graph, [1], 0, "count")  # type: ignore[arg-type]
    with pytest.raises(IndexError, match="no vertex 7"):
        posteriors(graph, [0.0], 7)
    with pytest.raises(IndexError, match="no vertex 7"):
        kbest(graph, [0.0], 7, 1)
    with pytest.raises(ValueError, match="names a tail"):
        kbest(graph, [0.0], 0, 1, yields=[["a", 1]])
    with pytest.raises(IndexError, match="no such edge"):
        graph.tails(1)
    assert kbest(graph, [0.0], 0, 3) == []
