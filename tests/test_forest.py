"""The forest search: equal to exhaustive search, scores that derivations account for, and forests of awkward shapes."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import lm
from treeglot._core.forest import LANGUAGE_MODEL_FEATURE, WORD_FEATURE, Forest, Search

TEXT = ["a b a c", "b a c", "a b b", "c a b a", "c c b a b", "a", "b c a a b c"]
WORDS = ["a", "b", "c", "unseen"]
LIMIT = 1500  # derivations that exhaustive search may make
NONE = {"stack_limit": 0, "stack_threshold": 0.0, "pop_limit": 0}

Target = list[str | int]
Step = tuple[int, int, int, list[int]]
Option = tuple[Target, list[tuple[int, float]]]


@cache
def model(order: int) -> lm.LanguageModel:
    folder = Path(tempfile.mkdtemp())
    with (folder / "arpa").open("wb") as file:
        lm.estimate([f"{line}\n".encode() for line in TEXT], file, order=order)
    return lm.open_model(folder / "arpa")


@dataclass
class Edge:
    options: list[Option]
    tails: list[int]


@dataclass
class Example:
    """Nodes are lists of edges whose tails are nodes before them; the last one is the goal."""

    order: int
    weights: list[float]
    nodes: list[list[Edge]] = field(default_factory=list)

    def build(self) -> Forest:
        forest = Forest(model(self.order).core, self.weights)
        for edges in self.nodes:
            node = forest.add_node()
            for edge in edges:
                forest.add_edge(node, edge.options, edge.tails)
        forest.set_goal(len(self.nodes) - 1)
        return forest

    def search(self, **limits: float) -> Search:
        return Search(model(self.order).core, self.weights, **limits)  # type: ignore[arg-type]

    def count(self) -> int:
        counts: list[int] = []
        for edges in self.nodes:
            counts.append(sum(len(e.options) * math.prod(counts[t] for t in e.tails) for e in edges))
        return counts[-1]

    def features(self, words: list[str], values: dict[int, float]) -> list[float]:
        result = [values.get(i, 0.0) for i in range(len(self.weights))]
        result[LANGUAGE_MODEL_FEATURE] = model(self.order).score(" ".join(words)) * math.log(10)
        result[WORD_FEATURE] = len(words)
        return result

    def score(self, features: list[float]) -> float:
        return sum(w * f for w, f in zip(self.weights, features, strict=True))

    def read(self, steps: list[Step], number: int, node: int) -> tuple[list[str], dict[int, float], list[int]]:
        """Words and values of the derivation that begins with a step, and the numbers of its steps."""
        head, edge_number, option, below = steps[number]
        assert head == node
        edge = self.nodes[node][edge_number]
        assert len(below) == len(edge.tails)
        target, given_values = edge.options[option]
        words, numbers = [], [number]
        values = dict.fromkeys(range(len(self.weights)), 0.0)
        parts = [self.read(steps, step, tail) for step, tail in zip(below, edge.tails, strict=True)]
        for i, value in itertools.chain(given_values, *(part[1].items() for part in parts)):
            values[i] += value
        for symbol in target:
            words += [symbol] if isinstance(symbol, str) else parts[symbol][0]
        for part in parts:
            numbers += part[2]
        return words, values, numbers

    def exhaustive(self) -> list[tuple[float, tuple[str, ...]]]:
        """Score and words of every derivation of the goal, best first."""
        all_of: list[list[tuple[tuple[str, ...], dict[int, float]]]] = []
        for edges in self.nodes:
            derivations = []
            for edge in edges:
                for (target, values), *parts in itertools.product(edge.options, *(all_of[t] for t in edge.tails)):
                    words = itertools.chain.from_iterable([s] if isinstance(s, str) else parts[s][0] for s in target)
                    total = dict.fromkeys(range(len(self.weights)), 0.0)
                    for i, value in itertools.chain(values, *(part[1].items() for part in parts)):
                        total[i] += value
                    derivations.append((tuple(words), total))
            all_of.append(derivations)
        scored = [(self.score(self.features(list(words), values)), words) for words, values in all_of[-1]]
        return sorted(scored, key=lambda scored_words: -scored_words[0])


@st.composite
def examples(draw: st.DrawFn) -> Example:
    order = draw(st.integers(1, 5))
    weight = st.sampled_from([0.0, 0.25, 0.5, 1.0, -0.3])
    result = Example(order, [draw(st.sampled_from([0.0, 0.5, 1.0])), draw(weight), draw(weight), draw(weight)])
    value = st.sampled_from([-2.0, -1.5, -0.7, -0.25, 0.0, 0.5])
    for node in range(draw(st.integers(1, 6))):
        edges = []
        for _ in range(draw(st.integers(0 if node else 1, 3))):
            tails = draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else []
            options: list[Option] = []
            for _ in range(draw(st.integers(1, 4))):
                words = draw(st.lists(st.sampled_from(WORDS), max_size=3))
                target = draw(st.permutations([*range(len(tails)), *words]))
                options.append((target, draw(st.lists(st.tuples(st.sampled_from([2, 3]), value), max_size=2))))
            edges.append(Edge(options, tails))
        result.nodes.append(edges)
        if result.count() > LIMIT:
            result.nodes.pop()
            break
    return result


@given(examples())
@settings(max_examples=tries(200))
def test_without_limits_the_search_is_exhaustive(example: Example) -> None:
    wanted = example.exhaustive()
    forest, search = example.build(), example.search(**NONE)
    best = search.run(forest)
    assert len(best) == min(1, len(wanted))
    assert [derivation[0] for derivation in best] == pytest.approx([score for score, _ in wanted[:1]], abs=1e-4)
    kbest = search.run(forest, LIMIT + 1)
    assert [derivation[0] for derivation in kbest] == pytest.approx([score for score, _ in wanted], abs=1e-4)
    assert sorted(tuple(derivation[2]) for derivation in kbest) == sorted(words for _, words in wanted)
    few = search.run(forest, 7)
    assert [derivation[0] for derivation in few] == pytest.approx([score for score, _ in wanted[:7]], abs=1e-4)


@given(examples())
@settings(max_examples=100)
def test_distinct_translations_are_the_best_of_their_kind(example: Example) -> None:
    best: dict[tuple[str, ...], float] = {}
    for score, words in example.exhaustive():
        best.setdefault(words, score)
    kbest = example.search(**NONE).run(example.build(), LIMIT + 1, distinct=True)
    assert len(kbest) == len(best)
    for score, _, words, _ in kbest:
        assert score == pytest.approx(best[tuple(words)], abs=1e-4)
    scores = [derivation[0] for derivation in kbest]
    assert scores == sorted(scores, reverse=True)


@given(examples(), st.integers(1, 20), st.sampled_from([0.0, 1e-3, 0.5, 1.0]), st.integers(1, 20), st.booleans())
@settings(max_examples=tries(150))
def test_derivations_account_for_their_scores(
    example: Example, stack: int, threshold: float, pops: int, distinct: bool
) -> None:
    search = example.search(stack_limit=stack, stack_threshold=threshold, pop_limit=pops)
    kbest = search.run(example.build(), 20, distinct=distinct)
    assert bool(kbest) == bool(example.count())
    seen = set()
    for score, features, words, steps in kbest:
        read, values, numbers = example.read(steps, 0, len(example.nodes) - 1)
        assert read == words
        assert sorted(numbers) == list(range(len(steps)))  # a tree: every step is used once
        assert features == pytest.approx(example.features(words, values), abs=1e-4)
        assert score == pytest.approx(example.score(features), abs=1e-4)
        key = tuple(words) if distinct else repr(steps)
        assert key not in seen
        seen.add(key)
    nodes, hypotheses, states = search.counts()
    assert hypotheses <= nodes * pops and states <= nodes * stack


@given(examples())
@settings(max_examples=50)
def test_more_pops_are_never_needed_than_there_are_combinations(example: Example) -> None:
    search = example.search(stack_limit=LIMIT, stack_threshold=0.0, pop_limit=10 * LIMIT)
    wanted = example.exhaustive()
    kbest = search.run(example.build())
    assert [derivation[0] for derivation in kbest] == pytest.approx([score for score, _ in wanted[:1]], abs=1e-4)


def test_the_same_search_again_gives_the_same() -> None:
    chance = random.Random(3)
    example = Example(4, [0.5, 0.3, 1.0, 1.0])
    for node in range(12):
        edges = []
        for _ in range(4):
            tails = [chance.randrange(node) for _ in range(chance.randint(0, 3))] if node else []
            options: list[Option] = []
            for _ in range(20):
                target: Target = [*range(len(tails)), *chance.choices(WORDS, k=2)]
                chance.shuffle(target)
                options.append((target, [(2, chance.uniform(-3, 0))]))
            edges.append(Edge(options, tails))
        example.nodes.append(edges)
    forest = example.build()
    search = example.search()
    first = search.run(forest, 50)
    assert len(first) == 50
    assert search.run(forest, 50) == first == example.search().run(forest, 50)
    narrow = example.search(stack_limit=10).run(forest)
    assert narrow[0][0] <= example.search(stack_limit=1000, stack_threshold=0).run(forest)[0][0] + 1e-6


def test_nodes_without_derivations_are_passed_over() -> None:
    forest = Forest(model(3).core, [1.0, 0.0, 1.0])
    empty, full, goal = forest.add_node(), forest.add_node(), forest.add_node()
    forest.set_goal(goal)
    search = Search(model(3).core, [1.0, 0.0, 1.0])
    assert search.run(forest) == []
    forest.add_edge(full, [(["a"], [])], [])
    forest.add_edge(goal, [([0, 1], [(2, 5.0)])], [full, empty])
    assert search.run(forest, 10) == []
    forest.add_edge(goal, [(["b", 0], [])], [full])
    assert [derivation[2:] for derivation in search.run(forest, 10)] == [
        (["b", "a"], [(goal, 1, 0, [1]), (full, 0, 0, [])])
    ]


def test_an_empty_translation_is_a_translation() -> None:
    forest = Forest(model(3).core, [1.0, 0.0, 1.0])
    below, goal = forest.add_node(), forest.add_node()
    forest.add_edge(below, [([], [(2, -1.0)])], [])
    forest.add_edge(goal, [([0], [])], [below])
    forest.set_goal(goal)
    ((score, features, words, _),) = Search(model(3).core, [1.0, 0.0, 1.0]).run(forest)
    assert words == [] and features[WORD_FEATURE] == 0
    assert score == pytest.approx(model(3).score("") * math.log(10) - 1, abs=1e-4)


def test_bad_forests_are_refused() -> None:
    weights = [1.0, 0.0, 1.0]
    forest = Forest(model(2).core, weights)
    first, second = forest.add_node(), forest.add_node()
    forest.add_edge(first, [([0], [])], [second])
    forest.add_edge(second, [([0], [])], [first])
    with pytest.raises(ValueError, match="cycle"):
        Search(model(2).core, weights).run(forest)
    for target in ([], [1], [0, 0], [0, 1]):
        with pytest.raises(ValueError, match="each tail"):
            forest.add_edge(first, [(target, [])], [second])
    with pytest.raises(ValueError, match="feature"):
        forest.add_edge(first, [([0], [(3, 1.0)])], [second])
    with pytest.raises(ValueError, match="option"):
        forest.add_edge(first, [], [second])
    with pytest.raises(IndexError):
        forest.add_edge(first, [([0], [])], [7])
    with pytest.raises(ValueError, match="weights"):
        Search(model(2).core, [1.0])


def test_deep_and_wide_forests_take_bounded_work() -> None:
    weights = [0.5, 0.1, 1.0]
    forest = Forest(model(4).core, weights)
    chance = random.Random(5)

    def options(tails: int) -> list[Option]:
        return [([*range(tails), chance.choice(WORDS)], [(2, -chance.random())]) for _ in range(10)]

    chain = forest.add_node()
    forest.add_edge(chain, options(0), [])
    for _ in range(1000):
        node = forest.add_node()
        forest.add_edge(node, options(1), [chain])
        chain = node
    leaves = [forest.add_node() for _ in range(500)]
    for leaf in leaves:
        forest.add_edge(leaf, options(0), [])
    goal = forest.add_node()
    forest.add_edge(goal, [(list(range(501)), []), (list(reversed(range(501))), [])], [chain, *leaves])
    forest.set_goal(goal)
    search = Search(model(4).core, weights)
    kbest = search.run(forest, 10, distinct=True)
    nodes, hypotheses, kept = search.counts()
    assert nodes == len(forest) and hypotheses < 300 * nodes and kept < 100 * nodes
    assert len(kbest) == 10
    for score, features, words, _ in kbest:
        assert len(words) == 1501
        assert score == pytest.approx(sum(w * f for w, f in zip(weights, features, strict=True)), abs=1e-2)
