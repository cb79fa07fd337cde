"""Tuning for BLEU, chrF, TER and mixtures: statistics and scores against sacreBLEU's, gradients against differences, whole runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from effort import tries, worlds
from treeglot import ConfigError
from treeglot._core import tuning as core
from treeglot.tuning import Expected, Mert, Mira, Pro, tune
from treeglot.tuning.objective import TITLES, Objective, metric_weights

WORDS = ["a", "b", "c", "d", ".", "Ab", "ab", "(a", "b,", "été", "日本", "x\u00a0y"]
sentence = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
pairs = st.lists(st.tuples(sentence, st.lists(sentence, min_size=2, max_size=2)), min_size=1, max_size=6)


def peer(name: str) -> Any:
    """sacreBLEU's metric of that name."""
    lower = name.endswith("-lc")
    return {
        "bleu": BLEU(tokenize="none", force=True, lowercase=lower),
        "chrf": CHRF(lowercase=lower),
        "chrf++": CHRF(word_order=2, lowercase=lower),
        "ter": TER(),
    }[name.removesuffix("-lc")]


def peer_score(name: str, hypotheses: Sequence[str], streams: Sequence[Sequence[str]]) -> float:
    """In points, higher is better. The no-break space is part of a word for BLEU and TER, which sacreBLEU would cut there."""
    if not name.startswith("chrf"):
        hypotheses = [text.replace("\u00a0", "_") for text in hypotheses]
        streams = [[text.replace("\u00a0", "_") for text in stream] for stream in streams]
    score = float(peer(name).corpus_score(list(hypotheses), [list(stream) for stream in streams]).score)
    return 100 - score if name == "ter" else score


def counted(objective: Objective, hypotheses: Sequence[str]) -> np.ndarray:
    return objective.statistics(np.arange(len(hypotheses), dtype=np.int32), hypotheses)


@settings(max_examples=tries(80), deadline=None)
@given(pairs)
def test_scores_equal_sacrebleu(pairs: list[tuple[str, list[str]]]) -> None:
    hypotheses = [hypothesis for hypothesis, _ in pairs]
    streams = [list(stream) for stream in zip(*(refs for _, refs in pairs), strict=True)]
    scores = {name: peer_score(name, hypotheses, streams) for name in TITLES}
    for name in TITLES:
        objective = Objective(name, streams)
        assert objective.score(counted(objective, hypotheses)) == pytest.approx(scores[name], abs=1e-9), name
    mixture = Objective({"bleu": 2, "chrf++": 1, "ter": 1}, streams)
    expected = (2 * scores["bleu"] + scores["chrf++"] + scores["ter"]) / 4
    assert mixture.score(counted(mixture, hypotheses)) == pytest.approx(expected, abs=1e-9)
    lower = Objective("bleu+chrf", streams, lowercase=True)
    expected = (scores["bleu-lc"] + scores["chrf-lc"]) / 2
    assert lower.score(counted(lower, hypotheses)) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=tries(60), deadline=None)
@given(pairs)
def test_statistics_equal_sacrebleu(pairs: list[tuple[str, list[str]]]) -> None:
    hypotheses = [hypothesis.replace("\u00a0", "_") for hypothesis, _ in pairs]
    streams = [[text.replace("\u00a0", "_") for text in stream] for stream in zip(*(r for _, r in pairs), strict=True)]
    rows = counted(Objective({"bleu": 1, "chrf++": 1, "ter": 1}, streams), hypotheses).tolist()
    for row, hypothesis, refs in zip(rows, hypotheses, zip(*streams, strict=True), strict=True):
        bleu = BLEU(tokenize="none", effective_order=True).sentence_score(hypothesis, list(refs))
        assert row[:4] == bleu.counts and row[-2:] == [bleu.sys_len, bleu.ref_len]
        assert [row[4:28]] == CHRF(word_order=2)._extract_corpus_statistics([hypothesis], [[ref] for ref in refs])
        [[edits, length]] = TER()._extract_corpus_statistics([hypothesis], [[ref] for ref in refs])
        assert row[28:30] == [edits, 2 * length]


@pytest.mark.parametrize("seed", range(worlds(20)))
def test_ter_of_long_sentences_with_moved_blocks(seed: int) -> None:
    """Where the beam, the limits on shifts and the order among equal shifts matter."""
    rng = np.random.default_rng(seed)
    reference = [str(word) for word in rng.integers(0, rng.choice([4, 12, 200]), rng.integers(20, 60))]
    hypothesis = list(reference)
    for _ in range(rng.integers(1, 8)):
        start, length, target = rng.integers(0, len(hypothesis)), rng.integers(1, 14), rng.integers(0, 60)
        block, hypothesis[start : start + length] = hypothesis[start : start + length], []
        hypothesis[target:target] = block
    hypothesis = [word for word in hypothesis if rng.random() < 0.9] + ["x"] * int(rng.choice([0, 3, 70]))
    texts = [" ".join(hypothesis)], [" ".join(reference)]
    assert Objective("ter", texts[1]).score(counted(Objective("ter", texts[1]), texts[0])) == pytest.approx(
        peer_score("ter", texts[0], [texts[1]]), abs=1e-9
    )


def test_sentence_scores_by_hand() -> None:
    bleu, ter = core.Metric([("bleu", 1.0)]), core.Metric([("ter", 1.0)], references=2)
    # (4+1)/(5+1) * (2+1)/(4+1) * (1+1)/(3+1) * (0+1)/(2+1), reference 7 + 1 against 5 words
    expected = (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25 * math.exp(1 - 8 / 5)
    assert bleu.sentences(np.array([[4, 2, 1, 0, 5, 7]], np.int32)) == [pytest.approx(expected)]
    assert ter.sentences(np.array([[3, 12, 5, 6]], np.int32)) == [
        pytest.approx(1 - 3 / 6)
    ]  # of two references of 6 words


PARTS = {
    "bleu": [("bleu", 1.0)],
    "chrf++": [("chrf++", 1.0)],
    "ter": [("ter", 1.0)],
    "mixture": [("bleu", 0.5), ("chrf", 0.2), ("ter", 0.3)],
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=list(PARTS))
@settings(max_examples=tries(40), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_expected_score_and_its_gradient(parts: list[tuple[str, float]], seed: int) -> None:
    """Against expected counts in plain Python and sacreBLEU's formulas, and against differences of the value."""
    rng = np.random.default_rng(seed)
    metric = core.Metric(parts)
    lists: list[list[tuple[list[float], list[int]]]] = []
    for _ in range(int(rng.integers(1, 5))):
        reference = int(rng.integers(3, 9))
        entries = []
        for _ in range(int(rng.integers(1, 6))):
            length = int(rng.integers(4, 9))
            row: list[int] = []
            for name, _ in parts:
                if name == "bleu":
                    row += sorted((int(rng.integers(0, length - n + 1)) for n in range(4)), reverse=True)
                elif name == "ter":
                    row += [int(rng.integers(0, 8)), reference]
                else:
                    for n in range(8 if name == "chrf++" else 6):
                        here, there = 5 * length - n, 5 * reference - n
                        row += [here, there, int(rng.integers(0, min(here, there) + 1))]
            entries.append((rng.integers(-3, 4, 3).astype(float).tolist(), [*row, length, reference]))
        lists.append(entries)
    pool = core.Pool(len(lists), 3, metric)
    flat = [(s, values, row) for s, entries in enumerate(lists) for values, row in entries]
    numbers, values, rows = (list(column) for column in zip(*flat, strict=True))
    pool.add(np.array(numbers, np.int32), np.array(values), np.array(rows, np.int32))
    different = [[e for n, e in enumerate(entries) if e not in entries[:n]] for entries in lists]

    def value(weights: list[float]) -> float:
        sums = [0.0] * len(rows[0])
        totals = [0.0] * 4
        for entries in different:
            scores = [math.exp(sum(w * v for w, v in zip(weights, values, strict=True))) for values, _ in entries]
            for score, (_, row) in zip(scores, entries, strict=True):
                sums = [s + score / sum(scores) * count for s, count in zip(sums, row, strict=True)]
                totals = [t + score / sum(scores) * max(row[-2] - n, 0) for n, t in enumerate(totals)]
        result, column, more = 0.0, 0, 0.01
        for name, weight in parts:
            if name == "bleu":
                precision = math.prod((sums[column + n] + more) / (totals[n] + more) for n in range(4)) ** 0.25
                score = precision * math.exp(min(0.0, 1 - (sums[-1] + more) / (sums[-2] + more)))
                column += 4
            elif name == "ter":
                score = 1 - sums[column] / (sums[column + 1] + more)
                column += 2
            else:
                orders = 8 if name == "chrf++" else 6
                part = [x + more for x in sums[column : column + 3 * orders]]
                p = sum(c / h for h, c in zip(part[0::3], part[2::3], strict=True)) / orders
                r = sum(c / h for h, c in zip(part[1::3], part[2::3], strict=True)) / orders
                score = 5 * p * r / (4 * p + r)
                column += 3 * orders
            result += weight * score
        return result if any(name == "ter" for name, _ in parts) else math.log(result)

    weights = rng.uniform(-2, 2, 3).tolist()
    reached, gradient, perplexity = pool.expected(weights)
    assert reached == pytest.approx(value(weights), abs=1e-9)
    assert 1 - 1e-9 <= perplexity <= 6 + 1e-9
    assert pool.expected(weights, threads=3) == (reached, gradient, perplexity)
    for f in range(3):
        moved = [[w + (f == g) * d for g, w in enumerate(weights)] for d in (-1e-5, 1e-5)]
        low, high = map(value, moved)
        if abs(low + high - 2 * reached) < 1e-9:  # not at the edge of the brevity penalty
            assert gradient[f] == pytest.approx((high - low) / 2e-5, abs=1e-4)


# --- whole runs ---------------------------------------------------------------------------------------------------

REFERENCES = [f"the {n} grey cats sat on mat {n % 7} all of day {n % 5}" for n in range(30)]
NAMES = ("right", "case", "order", "noise")
START = dict(zip(NAMES, (0.1, 0.1, 0.1, 1.0), strict=True))


@cache
def candidates(number: int) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Twelve damaged translations of a sentence; features know of wrong words, of wrong letters, of wrong places."""
    rng = np.random.default_rng(number)
    entries = []
    for _ in range(12):
        words = REFERENCES[number].split()
        wrong = rng.random(len(words)) < rng.uniform(0, 0.5)
        spelt = rng.random(len(words)) < rng.uniform(0, 0.5)
        words = ["zzz" if w else word.upper() if s else word for word, w, s in zip(words, wrong, spelt, strict=True)]
        moved = int(rng.integers(0, len(words) // 2))
        noise = rng.normal(size=4) * [0.3, 0.3, 0.3, 1]
        values = -np.array([wrong.sum(), spelt.sum(), moved, 0]) + noise
        entries.append((" ".join(words[moved:] + words[:moved]), tuple(values.tolist())))
    return tuple(entries)


def decode(weights: dict[str, float]) -> list[list[tuple[str, tuple[float, ...]]]]:
    def score(entry: tuple[str, tuple[float, ...]]) -> float:
        return sum(weights[name] * value for name, value in zip(NAMES, entry[1], strict=True))

    return [sorted(candidates(number), key=score, reverse=True) for number in range(len(REFERENCES))]


@pytest.mark.parametrize("metric", ["bleu-lc", "chrf", "ter", {"bleu": 1, "ter": 3}], ids=str)
@pytest.mark.parametrize(
    "method", [Expected(), Mert(restarts=3), Mira(), Pro(samples=500)], ids=["expected", "mert", "mira", "pro"]
)
def test_every_method_tunes_for_every_metric(method: Any, metric: Any) -> None:
    weights = metric_weights(metric)

    def score(given: dict[str, float]) -> float:
        texts = [entries[0][0] for entries in decode(given)]
        return sum(part * peer_score(name, texts, [REFERENCES]) for name, part in weights.items())

    result = tune(decode, REFERENCES, START, method, metric=metric, iterations=4, seed=2, threads=1)
    assert result.score == pytest.approx(score(result.weights), abs=1e-9)
    assert [iteration.score for iteration in result.iterations[:1]] == [pytest.approx(score(START), abs=1e-9)]
    best = max(
        score(dict(zip(NAMES, (1.0, case, order, 0.0), strict=True))) for case in (0, 0.5, 1) for order in (0, 0.2, 1)
    )
    assert result.score > best - 0.25 * (best - result.iterations[0].score)


def test_what_is_tuned_for_decides_what_weights_become() -> None:
    """Where case is ignored its feature is useless; TER takes a moved block as one edit, BLEU loses few n-grams."""
    tuned = {
        metric: tune(decode, REFERENCES, START, metric=metric, iterations=6) for metric in ("bleu", "bleu-lc", "ter")
    }
    assert tuned["bleu"].weights["case"] > 3 * abs(tuned["bleu-lc"].weights["case"])
    for metric, result in tuned.items():
        texts = {name: [entries[0][0] for entries in decode(other.weights)] for name, other in tuned.items()}
        assert result.metric == TITLES[metric]
        assert peer_score(metric, texts[metric], [REFERENCES]) >= max(
            peer_score(metric, lines, [REFERENCES]) - 0.5 for lines in texts.values()
        )


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("meteor", "no metric 'meteor' to tune for"),
        ("bleu+", "no metric ''"),
        ("bleu+bleu", "names one twice"),
        ({"bleu": 0.0}, "weight of bleu is 0"),
        ({"bleu": math.nan}, "weight of bleu is nan"),
        ({}, "no metric"),
    ],
)
def test_what_is_no_metric_is_refused_before_any_work(metric: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        tune(lambda weights: pytest.fail("decoded"), ["a"], START, metric=metric)
