"""Tuning: exact line search against brute force, three methods on synthetic decoders, determinism and resuming."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from effort import tries
from treeglot import ConfigError, TreeglotError
from treeglot._core import tuning as core
from treeglot.tuning import Expected, Mert, Mira, NBestArrays, NBestEntry, Pro, TuningResult, tune
from treeglot.tuning.methods import Space, optimise
from treeglot.tuning.nbest import load_lists, pack, save_lists
from treeglot.tuning.objective import Objective

WORDS = ["a", "b", "c", "d", "."]
sentence = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
BLEU_4 = core.Metric([("bleu", 1.0)])


# --- the line search ----------------------------------------------------------------------------------------------

small = st.integers(-3, 3)


@given(st.lists(st.tuples(small, small), min_size=1, max_size=12))
def test_envelope_equals_trying_every_line(lines: list[tuple[int, int]]) -> None:
    slopes, intercepts = [float(s) for s, _ in lines], [float(i) for _, i in lines]
    parts = core.upper_envelope(slopes, intercepts)
    assert parts[0][0] == -math.inf
    starts = [start for start, _ in parts]
    assert starts == sorted(starts)
    for (start, winner), end in zip(parts, [*starts[1:], math.inf], strict=True):
        if end - start < 1e-9:
            continue
        low, high = max(start, -50.0), min(end, 50.0)
        x = (low + high) / 2
        values = [i + s * x for s, i in zip(slopes, intercepts, strict=True)]
        assert values[winner] == pytest.approx(max(values), abs=1e-9)
        assert (slopes[winner], intercepts[winner]) not in list(zip(slopes, intercepts, strict=True))[:winner]


class Lists:
    """A pool next to plain Python copies of what is in it."""

    def __init__(self, lists: list[list[tuple[list[float], list[int]]]], features: int) -> None:
        self.lists = lists
        self.pool = core.Pool(len(lists), features, BLEU_4)
        rows = [(s, values, stats) for s, entries in enumerate(lists) for values, stats in entries]
        self.pool.add(
            np.array([row[0] for row in rows], dtype=np.int32),
            np.array([row[1] for row in rows], dtype=np.float64),
            np.array([row[2] for row in rows], dtype=np.int32),
        )

    def bleu(self, weights: list[float]) -> float:
        chosen = []
        for entries in self.lists:
            scores = [sum(w * v for w, v in zip(weights, values, strict=True)) for values, _ in entries]
            chosen.append(entries[scores.index(max(scores))][1])
        return BLEU_4.score(np.array(chosen, dtype=np.int32))


@st.composite
def statistics(draw: st.DrawFn) -> list[int]:
    length = draw(st.integers(4, 8))
    counts = [draw(st.integers(1, length))]
    for n in range(1, 4):
        counts.append(draw(st.integers(0, min(counts[-1], length - n))))
    return [*counts, length, 6]


def n_best(features: int) -> st.SearchStrategy[Lists]:
    entry = st.tuples(st.lists(small.map(float), min_size=features, max_size=features), statistics())
    return st.lists(st.lists(entry, min_size=1, max_size=6), min_size=1, max_size=4).map(
        lambda lists: Lists(lists, features)
    )


@settings(max_examples=tries(300))
@given(
    n_best(2), st.tuples(small, small), st.tuples(small, small), st.sampled_from([(-math.inf, math.inf), (-1.0, 2.0)])
)
def test_line_search_is_exact(
    lists: Lists, start: tuple[int, int], direction: tuple[int, int], limits: tuple[float, float]
) -> None:
    size, best, current = lists.pool.line_search(list(map(float, start)), list(map(float, direction)), *limits)

    def at(step: float) -> float:
        return lists.bleu([w + step * d for w, d in zip(start, direction, strict=True)])

    # With these small integers every breakpoint is a fraction of numbers up to 36, so a middle between two neighbours
    # of all such fractions hits every interval, however narrow.
    lines = [
        [
            (
                sum(d * v for d, v in zip(direction, values, strict=True)),
                sum(w * v for w, v in zip(start, values, strict=True)),
            )
            for values, _ in entries
        ]
        for entries in lists.lists
    ]
    breaks = {
        (b2 - b1) / (a1 - a2) for group in lines for (a1, b1), (a2, b2) in itertools.combinations(group, 2) if a1 != a2
    }
    low, high = max(limits[0], -100.0), min(limits[1], 100.0)
    points = sorted({low, high, *(x for x in breaks if low < x < high)})
    grid = [(a + b) / 2 for a, b in itertools.pairwise(points)]
    assert best == pytest.approx(max([*map(at, grid), current]), abs=1e-6)
    assert limits[0] <= size <= limits[1]
    assert at(size) == pytest.approx(best, abs=1e-6) or size == 0
    if size == 0:
        assert best == current


def test_line_search_keeps_the_point_on_a_plateau() -> None:
    good, bad = [5, 4, 3, 2, 6, 6], [3, 1, 0, 0, 6, 6]
    lists = Lists([[([1.0], good), ([0.0], bad)]], 1)
    assert lists.pool.line_search([0.7], [1.0])[0] == 0
    step, best, current = lists.pool.line_search([-0.5], [1.0])
    assert step > 0.5 and best > current


def test_equal_lines_go_to_the_first_and_duplicates_are_merged() -> None:
    good, bad = [5, 4, 3, 2, 6, 6], [3, 1, 0, 0, 6, 6]
    for first, second in ((good, bad), (bad, good)):
        lists = Lists([[([1.0, 2.0], first), ([1.0, 2.0], second)]], 2)
        assert lists.pool.score([1.0, 1.0]) == BLEU_4.score(np.array([first], dtype=np.int32))
        assert lists.pool.line_search([1.0, 1.0], [1.0, 0.0])[2] == BLEU_4.score(np.array([first], dtype=np.int32))
    assert len(Lists([[([1.0], good), ([1.0], good), ([1.0], bad)]], 1).pool) == 2


@settings(max_examples=60, deadline=None)
@given(n_best(2))
def test_mert_finds_the_optimum_of_two_weights(lists: Lists) -> None:
    infinite = [math.inf, math.inf]
    points = lists.pool.mert(
        [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]],
        [True, True],
        [-x for x in infinite],
        infinite,
        1,
        random_directions=2,
        sweeps=25,
        trial_sweeps=2,
        finalists=4,
        narrowest=1e-6,
        threads=1,
    )
    best = max(score for _, score in points)
    # Only the angle matters. Decisions change where two candidates of a sentence tie; look between all those angles.
    angles = {0.0}
    for entries in lists.lists:
        for (a, _), (b, _) in itertools.combinations(entries, 2):
            if a != b:
                angle = math.atan2(b[0] - a[0], a[1] - b[1])
                angles |= {angle % (2 * math.pi), (angle + math.pi) % (2 * math.pi)}
    turns = sorted(angles)
    middles = [(a + b) / 2 for a, b in itertools.pairwise([*turns, turns[0] + 2 * math.pi])]
    exhaustive = max(lists.bleu([math.cos(m), math.sin(m)]) for m in middles)
    assert best >= exhaustive - 1e-6


# --- whole runs ---------------------------------------------------------------------------------------------------


class Synthetic:
    """Candidates are damaged references. Feature 0 hates damage, feature 1 likes it a little, feature 2 is noise."""

    names = ("good", "bad", "noise")

    def __init__(self, sentences: int = 40, candidates: int = 60, nbest: int = 12, seed: int = 5) -> None:
        rng = random.Random(seed)
        words = [f"w{i}" for i in range(200)]
        self.references = [" ".join(rng.choices(words, k=rng.randint(6, 14))) for _ in range(sentences)]
        self.nbest, self.calls = nbest, 0
        self.candidates: list[list[NBestEntry]] = []
        for reference in self.references:
            entries = []
            for _ in range(candidates):
                tokens = [rng.choice(words) if rng.random() < 0.4 else w for w in reference.split()]
                damage = sum(a != b for a, b in zip(tokens, reference.split(), strict=True))
                features = {
                    "good": -damage + rng.gauss(0, 0.6),
                    "bad": damage / 2 + rng.gauss(0, 1),
                    "noise": rng.gauss(0, 2),
                }
                entries.append(NBestEntry(tokens, features))
            self.candidates.append(entries)

    def __call__(self, weights: dict[str, float]) -> list[list[NBestEntry]]:
        self.calls += 1

        def score(entry: NBestEntry) -> float:
            assert isinstance(entry.features, dict)
            return sum(weights[name] * value for name, value in entry.features.items())

        return [sorted(entries, key=score, reverse=True)[: self.nbest] for entries in self.candidates]

    def bleu(self, weights: dict[str, float]) -> float:
        texts = [" ".join(entries[0].tokens) for entries in self(weights)]
        return BLEU(tokenize="none", force=True).corpus_score(texts, [self.references]).score


INITIAL = {"good": 0.1, "bad": 0.5, "noise": 0.5}
METHODS = [Mert(restarts=6), Mira(), Pro(samples=500, interpolation=0.8), Expected()]


def run(decode: Any, method: Any, references: list[str], **more: Any) -> TuningResult:
    return tune(decode, references, INITIAL, method, **{"seed": 3, "iterations": 6, **more})


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_each_method_comes_near_the_best_known_weights(method: Any) -> None:
    task = Synthetic()
    result = run(task, method, task.references)
    start = task.bleu(INITIAL)
    grid = [{"good": 1.0, "bad": b / 10, "noise": n / 20} for b in range(-15, 4) for n in range(-2, 3)]
    best = max(task.bleu(weights) for weights in grid)
    assert start + 20 < best
    assert result.score > best - 0.06 * (best - start)
    assert result.score == pytest.approx(task.bleu(result.weights))  # what is reported is what the decoder gets
    assert result.score == max(iteration.score for iteration in result.iterations)
    assert result.iterations[0].weights == INITIAL
    assert sum(map(abs, result.weights.values())) == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_lists_that_bring_nothing_new_end_a_run(method: Any) -> None:
    """Whose samples are drawn anew goes on: the same lists may still teach it something."""
    task = Synthetic(15, candidates=6, nbest=6)  # every list has all that there is
    result = run(task, method, task.references, tolerance=-1.0)
    new = [iteration.new for iteration in result.iterations]
    assert new[0] > 0 and not any(new[1:])
    if isinstance(method, Pro):
        assert (result.stopped, len(new)) == ("iterations", 7)
    else:
        assert (result.stopped, len(new)) == ("lists", 2)


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_same_seed_same_result_whatever_the_threads(method: Any) -> None:
    task = Synthetic(15)
    first = run(task, method, task.references, threads=1, iterations=3)
    assert run(task, method, task.references, threads=4, iterations=3) == first
    if not isinstance(method, Mira | Expected):  # whose shuffles hardly matter here; that draws nothing
        assert run(task, method, task.references, seed=4, iterations=3) != first


class Killed(Exception):
    pass


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_resuming_gives_the_same_bytes(method: Any, tmp_path: Path) -> None:
    task = Synthetic(15)
    whole = run(task, method, task.references, iterations=3, state_dir=tmp_path / "whole")
    expected = files(tmp_path / "whole")
    # Killed while decoding, at each decoding in turn and again and again.
    folder = tmp_path / "decoding"
    for _ in range(10):
        calls = 0

        def killed(weights: dict[str, float]) -> Any:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise Killed
            return task(weights)

        try:
            result = run(killed, method, task.references, iterations=3, state_dir=folder)
            break
        except Killed:
            pass
    assert result == whole
    assert files(folder) == expected
    # Killed between any two files.
    names = [name for name in expected if name != "settings.json"]
    order = sorted(names, key=lambda name: (name[:3], name.endswith("json")))
    for done in range(len(order)):
        folder = tmp_path / f"files{done}"
        folder.mkdir()
        for name in ["settings.json", *order[:done]]:
            (folder / name).write_bytes(expected[name])
        assert run(task, method, task.references, iterations=3, state_dir=folder) == whole
        assert files(folder) == expected


class Lengths:
    """Translations of all lengths. What the lists of good weights hold does not tell how far the weight of words may go."""

    names = ("quality", "words", "rules")

    def __init__(self, sentences: int = 100, candidates: int = 300, nbest: int = 15) -> None:
        rng = np.random.default_rng(3)
        self.sentences, self.nbest = sentences, nbest
        length = rng.integers(2, 60, (sentences, candidates))
        right = np.clip(np.minimum(length, 12) * rng.uniform(0.2, 0.9, length.shape), 0, 12).astype(int)
        noise = rng.normal(size=(*length.shape, 2))
        self.values = np.stack([right - 0.9 * length + noise[..., 0], length, length / 2 + noise[..., 1]], axis=2)
        # The first words are those of the reference, then come others.
        self.texts = [
            [" ".join([f"r{i}" for i in range(r)] + ["x"] * (n - r)) for n, r in zip(*row, strict=True)]
            for row in zip(length.tolist(), right.tolist(), strict=True)
        ]
        self.references = [" ".join(f"r{i}" for i in range(12))] * sentences
        self.asked: list[int] = []

    def __call__(self, weights: dict[str, float], sentences: int | None = None) -> NBestArrays:
        count = self.sentences if sentences is None else sentences
        self.asked.append(count)
        best = np.argsort(-self.values[:count] @ list(weights.values()), axis=1, kind="stable")[:, : self.nbest]
        texts = [self.texts[s][h] for s in range(count) for h in best[s]]
        values = np.take_along_axis(self.values[:count], best[..., None], axis=1).reshape(-1, 3)
        return NBestArrays(np.repeat(np.arange(count, dtype=np.int32), self.nbest), texts, values)


LENGTHS = {"quality": 1.0, "words": 0.0, "rules": 0.0}


@pytest.mark.parametrize("start", [LENGTHS, {"quality": 0.3, "words": 0.0, "rules": -0.3}], ids=["near", "absurd"])
def test_weights_that_lose_are_found_on_a_part(start: dict[str, float]) -> None:
    task = Lengths()
    blind = tune(task, task.references, start, "expected").iterations
    assert blind[1].length > 4
    task.asked.clear()
    rounds = tune(task, task.references, start, "expected", decode_first=task).iterations
    assert max(iteration.length for iteration in rounds) < 1.5
    assert max(old.score - new.score for old, new in itertools.pairwise(rounds)) < 1
    assert rounds[0].tried > 1
    assert task.asked == [n for iteration in rounds for n in (100, *[20] * iteration.tried)]
    # Not with methods of the papers, nor where a part would be too small to tell.
    task.asked.clear()
    tune(task, task.references, LENGTHS, "mira", decode_first=task, iterations=2)
    assert set(task.asked) == {100}
    few = Lengths(sentences=99)
    tune(few, few.references, LENGTHS, "expected", decode_first=few, iterations=2)
    assert set(few.asked) == {99}


def test_trials_are_resumed(tmp_path: Path) -> None:
    task = Lengths()

    def go(decode: Any, folder: Path) -> TuningResult:
        return tune(
            task if decode is task else decode,
            task.references,
            LENGTHS,
            decode_first=decode,
            iterations=3,
            state_dir=folder,
        )

    whole = go(task, tmp_path / "whole")
    expected = files(tmp_path / "whole")
    assert any(iteration.tried > 1 for iteration in whole.iterations)
    calls = len(task.asked)
    assert go(task, tmp_path / "whole") == whole
    assert len(task.asked) == calls
    folder, tries = tmp_path / "killed", 0
    while True:
        tries += 1
        left = 1

        def killed(weights: dict[str, float], sentences: int | None = None) -> NBestArrays:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return task(weights, sentences)

        try:
            result = go(killed, folder)
            break
        except Killed:
            pass
    assert tries >= calls
    assert result == whole
    assert files(folder) == expected


def test_a_finished_run_does_not_decode_again_and_can_be_extended(tmp_path: Path) -> None:
    task = Synthetic(15)
    first = run(task, "mert", task.references, iterations=1, state_dir=tmp_path)
    calls = task.calls
    assert run(task, "mert", task.references, iterations=1, state_dir=tmp_path) == first
    assert task.calls == calls
    longer = run(task, "mert", task.references, iterations=3, state_dir=tmp_path)
    assert longer == run(task, "mert", task.references, iterations=3)


@pytest.mark.parametrize(
    "change",
    [{"seed": 9}, {"method": "mira"}, {"fixed": ["noise"]}, {"decoder": "other"}, {"lowercase": True}],
    ids=lambda change: next(iter(change)),
)
def test_a_folder_of_other_settings_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    task = Synthetic(5)
    run(task, "mert", task.references, iterations=1, state_dir=tmp_path)
    arguments = {"method": "mert", "references": task.references, "iterations": 1, "state_dir": tmp_path, **change}
    with pytest.raises(ConfigError, match=f"other settings \\(.*{next(iter(change))}"):
        run(task, **arguments)


def test_damaged_state_is_reported(tmp_path: Path) -> None:
    task = Synthetic(5)
    run(task, "mert", task.references, iterations=1, state_dir=tmp_path)
    path = tmp_path / "001.nbest.zst"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TreeglotError, match=r"001\.nbest\.zst"):
        run(task, "mert", task.references, iterations=1, state_dir=tmp_path)


def test_lists_survive_saving(tmp_path: Path) -> None:
    task = Synthetic(5)
    packed = pack(task(INITIAL), task.names, Objective("bleu", task.references))
    save_lists(tmp_path / "a.zst", packed)
    back = load_lists(tmp_path / "a.zst")
    for name in ("sentences", "values", "statistics"):
        assert np.array_equal(getattr(back, name), getattr(packed, name))


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_fixed_weights_and_bounds_hold(method: Any) -> None:
    task = Synthetic(15)
    result = run(task, method, task.references, fixed=["bad"], bounds={"good": (0.2, 0.8), "noise": (-0.1, 0.6)})
    for iteration in result.iterations[1:]:
        assert iteration.weights["bad"] == 0.5  # it tells translations apart, so nothing is scaled
        assert 0.2 <= iteration.weights["good"] <= 0.8
        assert -0.1 <= iteration.weights["noise"] <= 0.6


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_bounds_that_keep_from_the_best_weights(method: Any) -> None:
    """The best weights are outside: what is reached is nearly the best inside, at the bound, and worse than without bounds."""
    task = Synthetic()
    free = run(task, method, task.references)
    assert free.weights["bad"] < 0
    bounds = {"bad": (0.0, 1.0), "good": (0.0, 0.3), "noise": (0.2, 1.0)}
    result = run(task, method, task.references, bounds=bounds)
    for iteration in result.iterations[1:]:
        assert all(low <= iteration.weights[name] <= high for name, (low, high) in bounds.items())
    grid = [{"good": g / 20, "bad": b / 20, "noise": n / 20} for g in range(7) for b in range(4) for n in range(4, 7)]
    best = max(task.bleu(weights) for weights in grid)
    assert result.score < free.score - 2
    assert result.score > best - 1.5
    assert result.weights["bad"] < 0.05 and result.weights["good"] > 0.2


@pytest.mark.parametrize("method", METHODS, ids=["mert", "mira", "pro", "expected"])
def test_weights_outgrow_a_fixed_one_that_does_harm(method: Any) -> None:
    """There are no bounds: free weights scaled to a sum of 1 could not do it, and would be other weights than were found."""
    task = Synthetic()
    fixed = {"good": 0.5, "bad": 0.8, "noise": 0.1}
    result = tune(task, task.references, fixed, method, seed=3, iterations=8, fixed=["bad"])
    assert all(iteration.weights["bad"] == 0.8 for iteration in result.iterations)
    grid = [{"good": g / 2, "bad": 0.8, "noise": n / 10} for g in range(1, 30) for n in range(-2, 3)]
    scores = {weights["good"]: 0.0 for weights in grid}
    for weights in grid:
        scores[weights["good"]] = max(scores[weights["good"]], task.bleu(weights))
    within_one = max(score for good, score in scores.items() if good <= 1)
    best = max(scores.values())
    assert best > within_one + 4
    assert result.score > best - 2
    assert sum(abs(result.weights[name]) for name in ("good", "noise")) > 1.5


def test_a_fixed_feature_without_influence_does_not_stop_scaling() -> None:
    task = Synthetic(15)

    def decode(weights: dict[str, float]) -> Any:
        lists = task({name: weights[name] for name in task.names})
        return [[NBestEntry(e.tokens, {**e.features, "unknown": -100.0}) for e in entries] for entries in lists]

    result = tune(decode, task.references, {**INITIAL, "unknown": 1.0}, iterations=2, fixed=["unknown"])
    last = result.iterations[-1].weights
    assert last["unknown"] == 1.0
    assert sum(abs(last[name]) for name in task.names) == pytest.approx(1)


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        (lambda: [[("a b", {"good": 1.0})]], "lists for 1 sentences"),
        (lambda: [[("a b", {"good": 1.0})], []], "no translation of dev sentence 2"),
        (lambda: [[("a b", {"good": 1.0})], [("a", {"god": 1.0})]], "without a weight: god"),
        (lambda: [[("a b", [1.0, 2.0])], [("a", [1.0, 2.0, 3.0])]], "2 feature values, not 3"),
        (lambda: [[("a b", [1.0, 2.0, 3.0])], [("a", [1.0, math.nan, 3.0])]], "bad is nan in dev sentence 2"),
    ],
)
def test_wrong_lists_are_reported(lists: Callable[[], Any], says: str) -> None:
    with pytest.raises(TreeglotError, match=says):
        tune(lambda weights: lists(), ["a b", "a"], INITIAL, iterations=1)


def arrays(sentences: list[int], values: list[list[float]]) -> NBestArrays:
    return NBestArrays(
        np.array(sentences, dtype=np.int32), ["a b"] * len(sentences), np.array(values, dtype=np.float64)
    )


def test_lists_as_arrays_are_the_same() -> None:
    task = Synthetic()

    def as_arrays(weights: dict[str, float]) -> NBestArrays:
        rows = [(n, entry) for n, entries in enumerate(task(weights)) for entry in entries]
        values = [[dict(entry.features)[name] for name in INITIAL] for _, entry in rows]
        numbers = np.array([n for n, _ in rows], dtype=np.int32)
        return NBestArrays(numbers, [" ".join(entry.tokens) for _, entry in rows], np.array(values))

    assert run(task, Mert(restarts=3), task.references) == run(as_arrays, Mert(restarts=3), task.references)


@pytest.mark.parametrize(
    ("lists", "says"),
    [
        (arrays([0], [[1, 2, 3]]), "lists for 1 sentences"),
        (arrays([1], [[1, 2, 3]]), "no translation of dev sentence 1"),
        (arrays([0, 2], [[1, 2, 3], [1, 2, 3]]), "no translation of dev sentence 2"),
        (arrays([1, 0], [[1, 2, 3], [1, 2, 3]]), "not in order|no translation of dev sentence 1"),
        (arrays([0, 1], [[1, 2], [1, 2]]), "shape"),
        (arrays([0, 1], [[1, 2, 3], [1, math.inf, 3]]), "bad is inf in dev sentence 2"),
    ],
)
def test_wrong_arrays_are_reported(lists: NBestArrays, says: str) -> None:
    with pytest.raises(TreeglotError, match=says):
        tune(lambda weights: lists, ["a b", "a"], INITIAL, iterations=1)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"method": "mart"}, "mert, mira, pro"),
        ({"fixed": ["god"]}, "no feature 'god'"),
        ({"bounds": {"good": (1.0, 0.0)}}, "bounds of good"),
        ({"fixed": ["good", "bad", "noise"]}, "all weights are fixed"),
        ({"iterations": 0}, "0 iterations"),
    ],
)
def test_wrong_settings_are_reported(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        tune(lambda weights: [], ["a"], INITIAL, **more)


@pytest.mark.parametrize(("features", "useful"), [(2, 2), (10, 3), (60, 10), (200, 20)])
def test_the_expected_score_finds_known_weights_among_many(features: int, useful: int) -> None:
    """Useful features, useless ones and duplicates: from three starts to the quality of the weights that made the scores."""
    rng = np.random.default_rng(7)
    sentences, size = 150, 60
    truth = np.zeros(features)
    truth[:useful] = rng.uniform(0.5, 1.5, useful)
    values = rng.normal(size=(sentences * size, features))
    if features > 20:
        values[:, -5:] = values[:, :5]  # duplicates
        truth[-5:] = 0
    quality = values @ truth / np.linalg.norm(truth) + rng.normal(size=len(values)) * 0.5
    matched = np.clip(np.round(6 + 2.5 * quality), 0, 12).astype(np.int32)
    columns = [np.clip(matched - n, 0, None) for n in range(4)]
    statistics = np.stack([*columns, np.full_like(matched, 13), np.full_like(matched, 13)], axis=1).astype(np.int32)
    pool = core.Pool(sentences, features, BLEU_4)
    pool.add(np.repeat(np.arange(sentences, dtype=np.int32), size), values, statistics)
    free, infinite = [True] * features, [math.inf] * features
    reached = []
    for start in (np.ones(features), rng.normal(size=features), -truth + 0.01):
        weights, bleu = pool.maximise_expected(
            list(start), free, [-x for x in infinite], infinite, perplexity=5, levels=3, l2=1e-5, steps=15, threads=1
        )
        assert bleu == pytest.approx(pool.score(weights))
        reached.append(bleu)
    assert min(reached) > pool.score(list(truth)) - 0.5
    assert max(reached) - min(reached) < 0.5


def test_weights_that_decode_worse_are_answered_by_half_a_step() -> None:
    space = Space(("a", "b"))
    pool = core.Pool(1, 2, BLEU_4)
    rows = [[5, 4, 3, 2, 6, 6], [3, 2, 1, 0, 6, 6]]
    pool.add(np.zeros(2, np.int32), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array(rows, np.int32))
    history = [[0.5, 0.5], [0.9, 0.1], [0.1, 0.9], [0.2, 0.8]]
    whole, _ = optimise(Expected(), pool, space, history[:1], [20.0], seed="1")
    second, _ = optimise(Expected(), pool, space, history[:2], [20.0, 9.0], seed="1")  # whose lists tell what was wrong
    half, _ = optimise(Expected(), pool, space, history[:3], [20.0, 19.0, 18.0], seed="1")
    quarter, _ = optimise(Expected(), pool, space, history, [20.0, 19.0, 18.0, 17.0], seed="1")
    within, _ = optimise(Expected(polish=None), pool, space, history[:3], [20.0, 19.99, 19.9], seed="1")
    assert whole[0] > 0.5
    assert second == within == whole
    for step, reached in ((0.5, half), (0.25, quarter)):
        there = [a + step * (b - a) for a, b in zip(history[0], whole, strict=True)]
        assert reached == pytest.approx(space.normalised(there), abs=1e-9)


def test_a_round_that_brought_nothing_is_followed_by_line_searches() -> None:
    """The expected score of these lists has its optimum where the best hypotheses score less than they can."""
    rng = np.random.default_rng(5)
    sentences, size, features = 60, 40, 6
    values = rng.normal(size=(sentences * size, features))
    matched = np.clip(np.round(6 + values @ rng.normal(size=features) + rng.normal(size=len(values)) * 4), 0, 12)
    columns = [np.clip(matched - n, 0, None) for n in range(4)]
    statistics = np.stack([*columns, np.full_like(matched, 13), np.full_like(matched, 13)], axis=1).astype(np.int32)
    pool = core.Pool(sentences, features, BLEU_4)
    pool.add(np.repeat(np.arange(sentences, dtype=np.int32), size), values, statistics)
    space = Space(tuple("abcdef"))
    climbed, smooth = optimise(Expected(), pool, space, [[1.0] * features], [20.0], seed="1")
    history = [[1.0] * features, climbed, climbed]
    _, same = optimise(Expected(polish=None), pool, space, history, [20.0, 21.0, 21.0], seed="1")
    polished, exact = optimise(Expected(), pool, space, history, [20.0, 21.0, 21.0], seed="1")
    assert exact > max(smooth, same) + 0.1
    assert exact == pytest.approx(pool.score(polished))
    # Not before there are three rounds, nor after a loss, which asks for a shorter step.
    for scores in ([20.0, 20.0], [20.0, 21.0, 20.4]):
        rounds = history[: len(scores)]
        without = optimise(Expected(polish=None), pool, space, rounds, scores, seed="1")
        assert optimise(Expected(), pool, space, rounds, scores, seed="1") == without


def test_a_climb_on_the_hypotheses_that_count_ends_where_one_on_all_does() -> None:
    """Most hypotheses are so bad at the start that they are left out; with the sign of a feature turned they count."""
    rng = np.random.default_rng(5)
    sentences, size = 80, 50
    values = rng.normal(size=(sentences * size, 3))
    values[:, 0] *= 30
    matched = np.clip(np.round(6 - values[:, 0] / 10 + values[:, 1]), 0, 12)  # the start likes what is bad
    columns = [np.clip(matched - n, 0, None) for n in range(4)]
    statistics = np.stack([*columns, np.full_like(matched, 13), np.full_like(matched, 13)], axis=1).astype(np.int32)
    pool = core.Pool(sentences, 3, BLEU_4)
    pool.add(np.repeat(np.arange(sentences, dtype=np.int32), size), values, statistics)
    free, infinite = [True] * 3, [math.inf] * 3
    reached = [
        pool.maximise_expected(
            start, free, [-math.inf] * 3, infinite, perplexity=2, levels=3, l2=1e-5, steps=60, threads=1
        )[1]
        for start in ([1.0, 0.2, 0.0], [-1.0, 1.0, 0.0])
    ]
    assert reached[0] == pytest.approx(reached[1], abs=0.2)
    assert reached[0] > pool.score([1.0, 0.2, 0.0]) + 40


def test_logistic_regression_equals_a_plain_descent() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(80, 3)) + np.array([0.3, -0.2, 0.0])
    offsets = rng.normal(size=80) * 0.2
    fitted = np.array(core.logistic_regression(rows, offsets.tolist(), 0.7))
    weights = np.zeros(3)
    for _ in range(5000):
        wrong = 1 / (1 + np.exp(rows @ weights + offsets))
        weights -= 0.02 * (0.7 * weights - rows.T @ wrong)
    assert fitted == pytest.approx(weights, abs=1e-6)
