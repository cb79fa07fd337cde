"""Tuning from good, bad and random starts ends at the same quality: a synthetic decoder whose search follows the weights."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from effort import worlds
from treeglot.tuning import Expected, NBestArrays, TuningResult, tune

USEFUL = ("lm", "p_ts", "p_st", "words")
NAMES = (*USEFUL, "noise", "p_ts_again", "never")


class Chunks:
    """Sentences of chunks that are translated one by one, with n-best lists that lie around the best translation.

    Each option of a chunk has words, right or wrong, and features: log-probabilities that like right words, but fewer words still more,
    as language models do; the number of words; noise; a copy of another feature; and one that is always 0. So lists know
    only translations of about one length, and the weight of words that makes all of it right is far from no weight at all.
    """

    def __init__(self, seed: int, sentences: int = 40, chunks: int = 6, options: int = 8, nbest: int = 20) -> None:
        rng = np.random.default_rng(seed)
        self.nbest = nbest
        self.references: list[str] = []
        self.options: list[list[list[tuple[str, NDArray[np.float64]]]]] = []
        for sentence in range(sentences):
            reference: list[str] = []
            row = []
            for chunk in range(chunks):
                right = [f"w{sentence}.{chunk}.{k}" for k in range(int(rng.integers(2, 5)))]
                reference += right
                alternatives = []
                for _ in range(options):
                    length = int(rng.integers(0, 7))
                    matched = int(rng.integers(0, min(length, len(right)) + 1))
                    words = right[:matched] + ["wrong"] * (length - matched)
                    errors = length - matched + len(right) - matched
                    noise = rng.normal(size=3) * 0.7
                    p_ts, p_st = -0.4 * errors - 0.3 * length + noise[0], -0.3 * errors - 0.2 * length + noise[1]
                    values = [-1.5 * length - 0.3 * errors + noise[2], p_ts, p_st, length, rng.normal(), p_ts, 0.0]
                    alternatives.append((" ".join(words), np.array(values)))
                row.append(alternatives)
            self.references.append(" ".join(reference))
            self.options.append(row)

    def __call__(self, weights: dict[str, float]) -> NBestArrays:
        vector = np.array([weights[name] for name in NAMES])
        numbers: list[int] = []
        texts: list[str] = []
        rows = []
        for number, row in enumerate(self.options):
            # The beam keeps the best beginnings, as a search does.
            texts_so_far, totals = [""], np.zeros((1, len(NAMES)))
            for alternatives in row:
                values = np.array([features for _, features in alternatives])
                scores = np.add.outer(totals @ vector, values @ vector).ravel()
                kept = np.argsort(-scores, kind="stable")[: self.nbest]
                before, last = np.divmod(kept, len(alternatives))
                totals = totals[before] + values[last]
                texts_so_far = [f"{texts_so_far[b]} {alternatives[n][0]}" for b, n in zip(before, last, strict=True)]
            numbers += [number] * len(totals)
            texts += texts_so_far
            rows.append(totals)
        return NBestArrays(np.array(numbers, dtype=np.int32), texts, np.concatenate(rows))


def random_start(seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    start = dict(zip(NAMES, rng.uniform(0.05, 1, len(NAMES)).tolist(), strict=True))
    start["words"] = float(rng.uniform(-0.5, 0.5))
    return start


def losses(result: TuningResult) -> list[float]:
    """By how much each round is worse than the one before, once the second, which may go astray, is over."""
    scores = [iteration.score for iteration in result.iterations]
    return [before - after for before, after in itertools.pairwise(scores[2:])]


@pytest.mark.parametrize("seed", range(1, 1 + worlds(8)))
def test_any_start_ends_at_the_same_quality(seed: int) -> None:
    task = Chunks(seed)
    starts = [random_start(seed * 10 + n) for n in range(3)]
    starts.append(dict.fromkeys(NAMES, 1.0) | {"words": -2.0})  # next to nothing is translated
    starts.append(dict.fromkeys(NAMES, 0.1) | {"words": 3.0})  # everything at its longest
    results = [tune(task, task.references, start, Expected(), iterations=12, threads=1) for start in starts]
    reached = [result.score for result in results]
    assert max(result.iterations[0].score for result in results) < min(reached) - 3
    assert max(reached) - min(reached) < 0.7  # 0.94 with a climb from a sharp distribution alone
    assert max(max(losses(result)) for result in results) < 1.5  # 10 with one from a soft distribution alone
