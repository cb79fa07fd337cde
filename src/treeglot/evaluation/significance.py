"""Is one system better than another? Three paired tests on cached statistics.

- ``sign``: the sign test of Collins, Koehn & Kučerová (2005). Each sentence of the baseline's output is replaced alone
  by the system's; the sentence counts as better or worse by what that does to the *corpus* score, and the two counts are
  compared with a fair coin.
- ``bootstrap``: paired bootstrap resampling (Koehn 2004). Test sets are drawn with replacement; the p-value is the share
  of draws whose difference, shifted to mean zero (the null hypothesis), is at least as large as the observed one in
  either direction. `Comparison.wins` is Koehn's figure, the share of draws in which the system is better.
- ``randomization``: paired approximate randomisation (Noreen 1989; Riezler & Maxwell 2005). Outputs are swapped at random
  sentence by sentence.

- ``runs``: approximate randomisation over several tuning runs of both systems (Clark, Dyer, Lavie & Smith 2011, as MultEval): the
  outputs of all runs of a sentence are dealt out anew; the difference is that of mean scores (`compare_runs`).

All p-values are two-sided; those of the last three are (k + 1) / (n + 1) and depend on nothing but the seed.

The bootstrap takes the test set for the population, which holds for large ones only: with a true null hypothesis it finds p < 0.05
for 99 of 100 sets of one sentence, 45 of two, 20 of five. Below `FEW` sentences its p is therefore that of a randomisation test,
exact where all swaps can be tried (up to `EXACT` sentences). With n sentences no such p is below 2 / 2**n, which the result says.

>>> refs = [f"a small red house number {i} stands on the hill" for i in range(40)]
>>> worse = [r.replace("red", "blue") for r in refs]
>>> for test in compare(worse, refs, refs, metrics=["bleu"], test="all", samples=1000, seed=1):
...     print(test.test, round(test.difference, 1), test.p < 0.05)
sign 29.3 True
bootstrap 29.3 True
randomization 29.3 True
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeglot.errors import ConfigError, InputError
from treeglot.evaluation.metrics import Array, Metric, Options, Streams, build_metrics
from treeglot.evaluation.report import reference_streams

TESTS = ("sign", "bootstrap", "randomization")
SAMPLES = {"bootstrap": 1000, "randomization": 10000, "runs": 2000}
SEED = 12345
FEW = 30
"""Fewer sentences are too few for the bootstrap."""
EXACT = 12
"""Up to so many sentences all swaps are tried: 4,096 at most."""
_BLOCK = 1 << 22  # numbers of a block of resamples: bounds memory, not the result


@dataclass(frozen=True)
class Comparison:
    """One test of one system against the baseline. ``difference`` is system minus baseline, in the metric's own sense."""

    test: str
    metric: str
    system: str
    baseline_score: float
    system_score: float
    p: float
    signature: str
    better: int = 0
    worse: int = 0
    equal: int = 0
    wins: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    """Where the middle 95 % of the bootstrap differences lie."""
    least_p: float = 0.0
    """The smallest p that a test of so few sentences can give; 0 if there are `FEW` or more."""

    @property
    def difference(self) -> float:
        """System minus baseline."""
        return self.system_score - self.baseline_score

    def __str__(self) -> str:
        text = f"{self.test}|{self.metric}|{self.signature}: {self.system} {self.difference:+.2f}, p = {self.p:.4f}"
        if self.test == "sign":
            return f"{text} ({self.better} better, {self.worse} worse, {self.equal} equal)"
        if self.test == "bootstrap":
            low, high = self.interval
            text = (
                f"{text} (better in {100 * self.wins:.1f} % of samples, 95 % of differences in {low:+.2f}..{high:+.2f})"
            )
        return f"{text}; {self.warning}" if self.least_p else text

    @property
    def warning(self) -> str:
        """What to say about a test of few sentences."""
        how = "p is that of a randomisation test, " if self.test == "bootstrap" else ""
        return f"fewer than {FEW} sentences: {how}no p can be below {self.least_p:.2g}" if self.least_p else ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what the test does not give is left out."""
        record: dict[str, Any] = {
            "test": self.test,
            "metric": self.metric,
            "system": self.system,
            "baseline_score": self.baseline_score,
            "system_score": self.system_score,
            "difference": self.difference,
            "p": self.p,
            "signature": self.signature,
        }
        if self.test == "sign":
            record |= {"better": self.better, "worse": self.worse, "equal": self.equal}
        if self.test == "bootstrap":
            record |= {"wins": self.wins, "interval": list(self.interval)}
        if self.least_p:
            record |= {"least_p": self.least_p, "warning": self.warning}
        return record


def compare(
    baseline: Sequence[str],
    systems: Sequence[str] | Mapping[str, Sequence[str]],
    references: Sequence[str] | Streams,
    metrics: Sequence[str] = ("bleu-lc",),
    *,
    test: str = "bootstrap",
    samples: int | None = None,
    seed: int = SEED,
    options: Options | None = None,
) -> list[Comparison]:
    """Test each system against the baseline on each metric; ``test`` is one of `TESTS` or ``all``.

    ``systems`` is one system's translations or a mapping from names to them. ``samples`` defaults to 1,000 bootstrap
    samples and 10,000 randomisation trials.
    """
    tests = TESTS if test == "all" else (test,)
    for name in tests:
        if name not in TESTS:
            raise ConfigError(f"no significance test {name!r}", remedy=f"choose from {', '.join(TESTS)}, all")
    if samples is not None and samples < 1:
        raise ConfigError(f"{samples} samples", remedy="ask for at least one, better a thousand")
    named = systems if isinstance(systems, Mapping) else {"system": systems}
    for name, hypotheses in named.items():
        if len(hypotheses) != len(baseline):
            raise InputError(
                f"{name} has {len(hypotheses):,} sentences but the baseline has {len(baseline):,}",
                remedy="give translations of the same source, line for line",
            )
    bound = build_metrics(metrics, reference_streams(references, len(baseline)), options)
    comparisons = []
    for metric in bound:
        before = metric.statistics(list(baseline))
        for name, hypotheses in named.items():
            after = metric.statistics(list(hypotheses))
            comparisons += [compare_statistics(metric, before, after, kind, samples, seed, name) for kind in tests]
    return comparisons


def compare_runs(
    baseline: Sequence[Sequence[str]],
    system: Sequence[Sequence[str]],
    references: Sequence[str] | Streams,
    metric: str = "bleu-lc",
    *,
    name: str = "system",
    samples: int | None = None,
    seed: int = SEED,
    options: Options | None = None,
) -> Comparison:
    """Test all runs of a system against all runs of the baseline; each run is the translations of the same sentences."""
    runs = [*baseline, *system]
    if not baseline or not system or len({len(run) for run in runs}) != 1:
        raise InputError(
            "runs of different numbers of sentences, or none",
            remedy="give translations of the same source, line for line",
        )
    bound = build_metrics([metric], reference_streams(references, len(runs[0])), options)[0]
    tables = np.stack([bound.statistics(list(run)) for run in runs])
    means = [float(np.mean(bound.score(part.sum(axis=1)))) for part in np.split(tables, [len(baseline)])]
    count = samples or SAMPLES["runs"]
    differences = dealt_differences(bound, tables, len(baseline), count, np.random.default_rng(seed))
    p = _share(np.abs(differences), abs(means[1] - means[0]))
    signature = f"{bound.signature}|runs:{len(baseline)}+{len(system)}|ar:{count}|seed:{seed}"
    return Comparison("runs", bound.name, name, means[0], means[1], p, signature)


def dealt_differences(metric: Metric, runs: Array, first: int, samples: int, rng: np.random.Generator) -> Array:
    """Mean score of the later runs minus that of the ``first`` ones, after the outputs of each sentence have been dealt out to
    all runs at random. ``runs`` has the statistics by run and sentence."""
    differences = np.empty(samples)
    sentences = np.arange(runs.shape[1])
    for sample in range(samples):
        dealt = rng.random(runs.shape[:2]).argsort(axis=0)
        scores = metric.score(runs[dealt, sentences].sum(axis=1))
        differences[sample] = scores[first:].mean() - scores[:first].mean()
    return differences


def compare_statistics(
    metric: Metric,
    baseline: Array,
    system: Array,
    test: str,
    samples: int | None = None,
    seed: int = SEED,
    name: str = "system",
) -> Comparison:
    """One test on tables of statistics that are there already."""
    scores = float(metric.score(baseline.sum(axis=0))), float(metric.score(system.sum(axis=0)))
    sign = 1.0 if metric.higher_is_better else -1.0
    count = samples or SAMPLES.get(test, 0)
    if test == "sign":
        better, worse, equal = sign_counts(metric, baseline, system)
        p = sign_test(better, worse)
        least = min(1.0, 2.0 ** (1 - len(baseline))) if len(baseline) < FEW else 0.0
        return Comparison(test, metric.name, name, *scores, p, metric.signature, better, worse, equal, least_p=least)
    observed = scores[1] - scores[0]
    few = len(baseline) < FEW
    least = min(1.0, 2.0 ** (1 - len(baseline))) if few else 0.0
    rng = np.random.default_rng(seed)
    if test == "bootstrap":
        differences = bootstrap_differences(metric, baseline, system, count, rng)
        if few:
            p, trials = swap_p(metric, baseline, system, SAMPLES["randomization"], rng)
        else:
            p, trials = _share(np.abs(differences - differences.mean()), abs(observed)), ""
        low, high = np.quantile(differences, [0.025, 0.975])
        return Comparison(
            test,
            metric.name,
            name,
            *scores,
            p,
            f"{metric.signature}|bs:{count}{trials}|seed:{seed}",
            wins=float((sign * differences > 0).mean()),
            interval=(float(low), float(high)),
            least_p=least,
        )
    p, trials = swap_p(metric, baseline, system, count, rng)
    return Comparison(test, metric.name, name, *scores, p, f"{metric.signature}{trials}|seed:{seed}", least_p=least)


def sign_counts(metric: Metric, baseline: Array, system: Array) -> tuple[int, int, int]:
    """In how many sentences the system's output makes the baseline's corpus score better, worse, or leaves it."""
    totals = baseline.sum(axis=0)
    effect = metric.score(totals - baseline + system) - metric.score(totals)
    effect = effect if metric.higher_is_better else -effect
    effect = np.where((baseline == system).all(axis=1), 0.0, effect)  # not even rounding may tell equal rows apart
    better, worse = int((effect > 1e-12).sum()), int((effect < -1e-12).sum())
    return better, worse, len(effect) - better - worse


def sign_test(better: int, worse: int) -> float:
    """The two-sided probability that a fair coin gives counts at least this uneven."""
    count, fewer = better + worse, min(better, worse)
    if count == 0:
        return 1.0
    logs = np.array(
        [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(fewer + 1)]
    )
    return min(1.0, 2.0 * float(np.exp(logs - count * math.log(2.0)).sum()))


def bootstrap_differences(
    metric: Metric, baseline: Array, system: Array, samples: int, rng: np.random.Generator
) -> Array:
    """System minus baseline on test sets drawn with replacement."""
    count = len(baseline)
    parts = []
    for size in _blocks(samples, count):
        drawn = rng.choice(count, size=(size, count), replace=True)
        drawn += np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
        parts.append(metric.score(times @ system) - metric.score(times @ baseline))
    return np.concatenate(parts)


def randomized_differences(
    metric: Metric, baseline: Array, system: Array, samples: int, rng: np.random.Generator
) -> Array:
    """System minus baseline after swapping their outputs at random, sentence by sentence."""
    both = (baseline + system).sum(axis=0)
    parts = []
    for size in _blocks(samples, len(baseline)):
        swap = rng.integers(2, size=(size, len(baseline)), dtype=bool)
        first = system.sum(axis=0) + swap.astype(np.float64) @ (baseline - system)
        parts.append(metric.score(first) - metric.score(both - first))
    return np.concatenate(parts)


def swap_p(metric: Metric, baseline: Array, system: Array, samples: int, rng: np.random.Generator) -> tuple[float, str]:
    """The p of randomisation and how it was found: of all swaps of few sentences, else of ``samples`` random ones."""
    observed = abs(float(metric.score(system.sum(axis=0))) - float(metric.score(baseline.sum(axis=0))))
    if len(baseline) > EXACT:
        return _share(
            np.abs(randomized_differences(metric, baseline, system, samples, rng)), observed
        ), f"|ar:{samples}"
    swaps = (np.arange(2 ** len(baseline))[:, None] >> np.arange(len(baseline))) & 1
    first = system.sum(axis=0) + swaps.astype(np.float64) @ (baseline - system)
    differences = metric.score(first) - metric.score((baseline + system).sum(axis=0) - first)
    return float((np.abs(differences) >= observed - 1e-9).mean()), "|ar:exact"


def _blocks(samples: int, count: int) -> list[int]:
    size = max(1, _BLOCK // max(1, count))
    return [min(size, samples - start) for start in range(0, samples, size)]


def _share(differences: Array, observed: float) -> float:
    # A difference that equals the observed one up to rounding is as large as it.
    return (int((differences >= observed - 1e-9).sum()) + 1) / (len(differences) + 1)
