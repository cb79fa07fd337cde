"""The core's aligner against a slow second implementation that enumerates every alignment."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot._core import align as core

CLIP = core.JUMP_CLIP
CHANCE = st.floats(1 / 64, 1.0, width=32)


def clipped(jump: int) -> int:
    return max(-CLIP, min(CLIP, jump)) + CLIP


def enumerate_hmm(
    emission: list[list[float]], null_emission: list[float], weights: list[float], null: float
) -> tuple[list[list[float]], list[float], float, dict[int, float], dict[int, float]]:
    """Posteriors, those of nothing, likelihood, expected jumps and, for each, its chances divided by its weight."""
    observed, states = len(emission), len(emission[0])
    posterior = [[0.0] * states for _ in range(observed)]
    nothing = [0.0] * observed
    taken: dict[int, float] = defaultdict(float)
    possible: dict[int, float] = defaultdict(float)
    total = 0.0
    for chosen in itertools.product(range(states + 1), repeat=observed):
        chance, last = 1.0, 0
        jumps, leaving = [], []
        for j, state in enumerate(chosen):
            if state == 0:
                chance *= null * null_emission[j]
                continue
            norm = sum(weights[clipped(i - last)] for i in range(1, states + 1))
            chance *= (1 - null) * weights[clipped(state - last)] / norm * emission[j][state - 1]
            jumps.append(state - last)
            leaving.append((last, norm))
            last = state
        total += chance
        for j, state in enumerate(chosen):
            if state:
                posterior[j][state - 1] += chance
            else:
                nothing[j] += chance
        for jump in jumps:
            taken[clipped(jump)] += chance
        for place, norm in leaving:
            for i in range(1, states + 1):
                possible[clipped(i - place)] += chance / norm
    return (
        [[value / total for value in row] for row in posterior],
        [value / total for value in nothing],
        total,
        {k: v / total for k, v in taken.items()},
        {k: v / total for k, v in possible.items()},
    )


@st.composite
def hmm_inputs(draw: st.DrawFn) -> tuple[list[list[float]], list[float], list[float], float]:
    observed, states = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    emission = draw(st.lists(st.lists(CHANCE, min_size=states, max_size=states), min_size=observed, max_size=observed))
    null_emission = draw(st.lists(CHANCE, min_size=observed, max_size=observed))
    near = draw(st.lists(CHANCE, min_size=11, max_size=11))
    weights = [0.1] * (CLIP - 5) + near + [0.1] * (CLIP - 5)
    return emission, null_emission, weights, draw(st.floats(1 / 16, 0.5, width=32))


@given(hmm_inputs())
def test_posteriors_equal_enumeration(case: tuple[list[list[float]], list[float], list[float], float]) -> None:
    posterior, nothing, total, taken, possible = enumerate_hmm(*case)
    posteriors, got_nothing, got_likelihood, got_taken, got_possible = core.hmm_posteriors(*case)
    assert posteriors == pytest.approx([value for row in posterior for value in row], rel=1e-3, abs=1e-6)
    assert got_nothing == pytest.approx(nothing, rel=1e-3, abs=1e-6)
    assert got_likelihood == pytest.approx(math.log(total), rel=1e-4, abs=1e-4)
    assert got_taken == pytest.approx([taken.get(k, 0.0) for k in range(2 * CLIP + 1)], rel=1e-3, abs=1e-5)
    assert got_possible == pytest.approx([possible.get(k, 0.0) for k in range(2 * CLIP + 1)], rel=1e-3, abs=1e-5)


def exp_digamma(x: float) -> float:
    shift = 0.0
    while x < 20:
        shift -= 1 / x
        x += 1
    return math.exp(shift + math.log(x) - 0.5 / x - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6))


def initial_weights() -> list[float]:
    weights = [1 / (1 + (d - 1) ** 2) for d in range(-CLIP, CLIP + 1)]
    return [weight / sum(weights) for weight in weights]


class SlowLearner:
    """The same learning with dictionaries and enumeration. Direction 0: target words are observed; 1: source words."""

    def __init__(
        self,
        pairs: list[tuple[list[str], list[str]]],
        extra: dict[tuple[str, str], float] | None = None,
        known: dict[int, set[tuple[int, int]]] | None = None,
        **options: float,
    ) -> None:
        self.pairs, self.o = pairs, options
        self.extra, self.known = extra or {}, known or {}
        self.met: set[tuple[str, str]] = {(f, e) for s, t in pairs for f in s for e in t} | set(self.extra)
        self.t = [dict.fromkeys(self.met, 1.0) for _ in range(2)]
        self.null = [dict.fromkeys({w for pair in pairs for w in pair[1 - d]}, 1.0) for d in range(2)]
        self.weights = [initial_weights(), initial_weights()]

    def run(self) -> None:
        first = int(self.o["model1_iterations"])
        if self.extra:
            self.maximise([{}, {}], [{}, {}])
        for iteration in range(first + int(self.o["hmm_iterations"])):
            self.iterate(iteration >= first, iteration == 0 and not self.extra)

    def iterate(self, hmm: bool, first: bool) -> None:
        counts: list[dict[tuple[str, str], float]] = [defaultdict(float), defaultdict(float)]
        null_counts: list[dict[str, float]] = [defaultdict(float), defaultdict(float)]
        taken: list[dict[int, float]] = [defaultdict(float), defaultdict(float)]
        possible: list[dict[int, float]] = [defaultdict(float), defaultdict(float)]
        for number, pair in enumerate(self.pairs):
            tables = []
            for d in range(2):
                states, observed = (pair[0], pair[1]) if d == 0 else (pair[1], pair[0])
                emission = [[self.t[d][(s, o) if d == 0 else (o, s)] for s in states] for o in observed]
                null_emission = [self.null[d][o] for o in observed]
                links = self.known.get(number)
                if links is not None:
                    at = [[(i, j) if d == 0 else (j, i) for i in range(len(states))] for j in range(len(observed))]
                    emission = [[float(link in links) for link in row] for row in at]
                    null_emission = [1.0 - any(row) for row in emission]
                if hmm:
                    q, nothing, _, a, b = enumerate_hmm(emission, null_emission, self.weights[d], self.o["null"])
                    for key in a:
                        taken[d][key] += a[key]
                    for key in b:
                        possible[d][key] += b[key]
                else:
                    q, nothing = [], []
                    for j in range(len(observed)):
                        row = [value * (1 - self.o["null"]) / len(states) for value in emission[j]]
                        zero = self.o["null"] * null_emission[j]
                        q.append([value / (sum(row) + zero) for value in row])
                        nothing.append(zero / (sum(row) + zero))
                for o, value in zip(observed, nothing, strict=True):
                    null_counts[d][o] += value
                tables.append(q)
            for i, f in enumerate(pair[0]):
                for j, e in enumerate(pair[1]):
                    a, b = tables[0][j][i], tables[1][i][j]
                    power = 0.0 if first or number in self.known else self.o["agreement"]
                    counts[0][f, e] += a * b**power
                    counts[1][f, e] += b * a**power
        self.maximise(counts, null_counts)
        for d in range(2):
            if hmm:
                start = initial_weights()
                fresh = [(taken[d][k] + start[k]) / (possible[d][k] + 1) for k in range(2 * CLIP + 1)]
                self.weights[d] = [max(1e-6, value / sum(fresh)) for value in fresh]

    def maximise(self, counts: list[dict[tuple[str, str], float]], null_counts: list[dict[str, float]]) -> None:
        for d in range(2):
            counts[d] = {key: counts[d].get(key, 0.0) + self.extra.get(key, 0.0) for key in self.met}
            totals: dict[str, float] = defaultdict(float)
            for key in self.met:
                totals[key[d]] += counts[d][key] + self.o["prior"]
            for key in self.met:
                prior = self.o["prior"] + (self.o["same"] if key[0] == key[1] else 0)
                value = exp_digamma(counts[d][key] + prior) / exp_digamma(totals[key[d]])
                self.t[d][key] = max(1e-9, value)
            total = self.o["null_prior"] + sum(null_counts[d].get(w, 0.0) + self.o["null_prior"] for w in self.null[d])
            for word in self.null[d]:
                value = exp_digamma(null_counts[d].get(word, 0.0) + self.o["null_prior"]) / exp_digamma(total)
                self.null[d][word] = max(1e-9, value)


def learn(
    path: Path,
    pairs: list[tuple[list[str], list[str]]],
    threads: int = 1,
    extra: dict[tuple[str, str], float] | None = None,
    known: dict[int, set[tuple[int, int]]] | None = None,
    **options: float,
) -> core.Model:
    corpus = core.Corpus()
    text = [("\n".join(" ".join(pair[side]) for pair in pairs) + "\n").encode() for side in (0, 1)]
    corpus.add(*text)
    o = options
    evidence = core.Evidence()
    for (f, e), weight in (extra or {}).items():
        evidence.add_pair(corpus, f, e, weight)
    for pair, links in sorted((known or {}).items()):
        evidence.add_links(corpus, pair, sorted(links))
    corpus.learn(
        str(path), int(o["model1_iterations"]), int(o["hmm_iterations"]), o["prior"], o["null_prior"], o["null"],
        o["agreement"], o["same"], max_length=200, sweeps=0, chains=1, sampling_prior=1e-4, sampling_null=0.2,
        fertility_prior=4, bonus=3, memory=1000, seed=1, threads=threads, report=None, evidence=evidence,
    )  # fmt: skip
    return core.Model(str(path))


SENTENCE = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.5, 0.75, 1.0, 0.6]),
    st.sampled_from([0.05, 0.5]),
    st.sampled_from([0.0, 1.0]),
)
def test_learning_equals_second_implementation(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[list[str], list[str]]],
    model1: int,
    hmm: int,
    agreement: float,
    prior: float,
    same: float,
) -> None:
    options = {
        "model1_iterations": model1, "hmm_iterations": hmm, "agreement": agreement, "prior": prior, "same": same,
        "null": 0.1, "null_prior": 0.7,
    }  # fmt: skip
    slow = SlowLearner(pairs, **options)
    slow.run()
    model = learn(tmp_path_factory.mktemp("model") / "m", pairs, **options)
    if hmm:
        assert model.forward_jumps == pytest.approx(slow.weights[0], rel=5e-3, abs=1e-6)
        assert model.reverse_jumps == pytest.approx(slow.weights[1], rel=5e-3, abs=1e-6)
    kept = {(f, e) for f, e, _, _ in model.entries(0)}
    for f, e in slow.met:
        if (f, e) in kept:
            assert model.target_given_source(e, f) == pytest.approx(slow.t[0][f, e], rel=2e-2, abs=1e-6)
            assert model.source_given_target(f, e) == pytest.approx(slow.t[1][f, e], rel=2e-2, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=4),
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), st.floats(0.125, 4, width=32), max_size=4
    ),
    st.integers(0, 2),
    st.sampled_from([0.0, 1.0]),
    st.data(),
)
def test_learning_with_evidence_equals_second_implementation(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[list[str], list[str]]],
    extra: dict[tuple[str, str], float],
    hmm: int,
    agreement: float,
    data: st.DataObject,
) -> None:
    known = {}
    for number, (f, e) in enumerate(pairs):
        if data.draw(st.booleans()):
            cells = [(i, j) for i in range(len(f)) for j in range(len(e))]
            known[number] = data.draw(st.sets(st.sampled_from(cells), max_size=4))
    # words of the dictionary that are not in the text would count as words from nothing
    words = [{word for pair in pairs for word in pair[side]} for side in (0, 1)]
    extra = {key: value for key, value in extra.items() if key[0] in words[0] and key[1] in words[1]}
    options = {
        "model1_iterations": 1, "hmm_iterations": hmm, "agreement": agreement, "prior": 0.1, "same": 1.0, "null": 0.1,
        "null_prior": 0.7,
    }  # fmt: skip
    slow = SlowLearner(pairs, extra, known, **options)
    slow.run()
    model = learn(tmp_path_factory.mktemp("model") / "m", pairs, extra=extra, known=known, **options)
    if hmm:
        assert model.forward_jumps == pytest.approx(slow.weights[0], rel=5e-3, abs=1e-6)
        assert model.reverse_jumps == pytest.approx(slow.weights[1], rel=5e-3, abs=1e-6)
    for f, e in {(f, e) for f, e, _, _ in model.entries(0)}:
        assert model.target_given_source(e, f) == pytest.approx(slow.t[0][f, e], rel=2e-2, abs=3e-5)
        assert model.source_given_target(f, e) == pytest.approx(slow.t[1][f, e], rel=2e-2, abs=3e-5)
