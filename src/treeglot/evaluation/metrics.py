"""What every translation metric has in common, and sacreBLEU's BLEU, chrF and TER in that form.

A metric turns each sentence into a row of *sufficient statistics* once. The score of any set of sentences follows from
the sum of their rows, so corpus scores, sentence scores and thousands of resampled corpora (the significance tests) come
from the same table. Spec: search and tuning, "Evaluation".

>>> metric = build_metrics(["bleu"], [["a black cat sat"]])[0]
>>> rows = metric.statistics(["a black cat sat"])
>>> round(float(metric.score(rows.sum(axis=0))), 2), metric.signature
(100.0, 'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:...')
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.errors import ConfigError, TreeglotError
from treeglot.words import hide_white_space, split_words

Array = NDArray[np.float64]

Streams = Sequence[Sequence[str]]
"""References: one sequence of sentences for each translator."""


@dataclass(frozen=True)
class Options:
    """How text is prepared before it is compared."""

    lowercase: bool = False
    """Ignore case where the metric does not do so anyway."""
    tokenize: str = "13a"
    """sacreBLEU's name of a tokeniser; ``none`` for text that is tokenised already."""
    language: str = "en"
    """The language of the translations; METEOR's stemmer depends on it."""


class Metric(ABC):
    """One metric, bound to its references."""

    name: str
    higher_is_better = True
    decimals = 2

    @property
    @abstractmethod
    def signature(self) -> str:
        """What the score depends on, so that it can be repeated."""

    @property
    def sentence_signature(self) -> str:
        """The signature of `sentence_scores`."""
        return self.signature

    @abstractmethod
    def statistics(self, hypotheses: Sequence[str]) -> Array:
        """One row of statistics for each hypothesis; there are as many hypotheses as references."""

    @abstractmethod
    def score(self, totals: Array) -> Array:
        """Scores of summed statistics: the last axis holds the statistics, the others are kept."""

    def sentence_scores(self, rows: Array) -> Array:
        """The score of each sentence for itself."""
        return self.score(rows)

    def details(self, totals: Array) -> str:
        """What is worth printing after the score."""
        return ""


class SacreMetric(Metric):
    """A metric whose statistics sacreBLEU computes."""

    def __init__(self, name: str, inner: Any, prepare: Callable[[str], str] = str) -> None:
        """``prepare`` is what was done to the references, too."""
        self.name = name
        self.inner = inner
        self.prepare = prepare

    @property
    def signature(self) -> str:
        return str(self.inner.get_signature().format())

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        # The one call behind corpus_score() that keeps the sentences apart; its references were given at construction.
        return np.asarray(
            self.inner._extract_corpus_statistics([self.prepare(text) for text in hypotheses], None), dtype=np.float64
        )


class Bleu(SacreMetric):
    """BLEU-4 (Papineni et al. 2002) with mteval's smoothing; statistics: lengths, matches, n-gram counts."""

    def score(self, totals: Array) -> Array:
        return bleu(totals)

    def sentence_scores(self, rows: Array) -> Array:
        return bleu(rows, effective_order=True)

    @property
    def sentence_signature(self) -> str:
        return self.signature.replace("eff:no", "eff:yes")

    def details(self, totals: Array) -> str:
        length, reference = totals[0], totals[1]
        precisions = "/".join(f"{100 * m / t if t else 0:.1f}" for m, t in zip(totals[2:6], totals[6:10], strict=True))
        penalty = 1.0 if length >= reference else float(np.exp(1 - reference / length)) if length else 0.0
        ratio = length / reference if reference else 0.0
        return f"{precisions} (BP = {penalty:.3f} ratio = {ratio:.3f} hyp_len = {length:.0f} ref_len = {reference:.0f})"


class ChrF(SacreMetric):
    """chrF (Popović 2015), character 6-grams, beta 2."""

    def score(self, totals: Array) -> Array:
        return chrf(totals, beta=self.inner.beta)


class Ter(SacreMetric):
    """Translation edit rate (Snover et al. 2006): lower is better."""

    higher_is_better = False

    def score(self, totals: Array) -> Array:
        edits, length = totals[..., 0], totals[..., 1]
        empty = np.where(edits > 0, 1.0, 0.0)  # nothing to say, yet something said
        return 100 * np.where(length > 0, edits / np.where(length > 0, length, 1), empty)


def bleu(totals: Array, *, effective_order: bool = False) -> Array:
    """BLEU of summed statistics, as sacreBLEU's ``compute_bleu`` with exponential smoothing, for many sums at once."""
    length, reference = totals[..., 0], totals[..., 1]
    correct, total = totals[..., 2:6], totals[..., 6:10]
    present = np.cumprod(total > 0, axis=-1).astype(bool)  # orders beyond a missing one do not count
    missed = present & (correct == 0)
    smoothing = 2.0 ** np.cumsum(missed, axis=-1)
    safe = np.where(present, total, 1.0)
    precision = np.where(missed, 100.0 / (smoothing * safe), 100.0 * correct / safe)
    logs = np.where(present, np.log(np.where(present & (precision > 0), precision, 1.0)), 0.0).sum(axis=-1)
    orders = present.sum(axis=-1)
    if effective_order:
        defined, mean = orders > 0, logs / np.maximum(orders, 1)
    else:
        defined, mean = orders == 4, logs / 4
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        penalty = np.where(length < reference, np.exp(1 - reference / np.where(length > 0, length, 1.0)), 1.0)
    defined = defined & correct.any(axis=-1) & (length > 0)
    return np.asarray(np.where(defined, penalty * np.exp(mean), 0.0))


def chrf(totals: Array, *, beta: int = 2) -> Array:
    """chrF of summed statistics (hypothesis, reference and common n-grams of each order), for many sums at once."""
    hypothesis, reference, common = totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]
    used = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision = np.where(used, common / np.where(used, hypothesis, 1), 0.0).sum(axis=-1) / orders
    recall = np.where(used, common / np.where(used, reference, 1), 0.0).sum(axis=-1) / orders
    below = beta**2 * precision + recall
    return np.asarray(
        np.where(below > 0, 100 * (1 + beta**2) * precision * recall / np.where(below > 0, below, 1), 0.0)
    )


def tokenizer(name: str) -> Callable[[str], str]:
    """sacreBLEU's tokeniser of that name."""
    from sacrebleu.metrics.bleu import BLEU

    if name not in BLEU.TOKENIZERS:
        raise ConfigError(f"no tokeniser {name!r}", remedy=f"choose one of {', '.join(BLEU.TOKENIZERS)}")
    try:
        tokenize: Callable[[str], str] = BLEU(tokenize=name).tokenizer
    except Exception as error:  # each tokeniser fails in its own way when its package or model is missing
        raise TreeglotError(f"the tokeniser {name} cannot be used: {error}", remedy="install what it names") from error
    return tokenize


def word_splitter(name: str) -> Callable[[str], list[str]]:
    """The words of a text by the tokeniser of that name; with ``none``, the words of tokenised text."""
    tokenize = tokenizer(name)
    return split_words if name == "none" else lambda text: tokenize(text).split()


def _whole_words(options: Options) -> Callable[[str], str]:
    """sacreBLEU cuts at all white space; words of tokenised text stay whole."""
    return hide_white_space if options.tokenize == "none" else str


def _prepared(references: Streams, prepare: Callable[[str], str]) -> Streams:
    return [[prepare(text) for text in stream] for stream in references]


def _bleu(references: Streams, options: Options, name: str = "BLEU") -> Metric:
    from sacrebleu.metrics.bleu import BLEU

    tokenizer(options.tokenize)
    force = options.tokenize == "none"  # otherwise sacreBLEU warns about text that looks tokenised
    prepare = _whole_words(options)
    references = _prepared(references, prepare)
    inner = BLEU(lowercase=options.lowercase, tokenize=options.tokenize, force=force, references=references)
    return Bleu(name, inner, prepare)


def _bleu_lc(references: Streams, options: Options) -> Metric:
    return _bleu(references, replace(options, lowercase=True), "BLEU-lc")


def _chrf(references: Streams, options: Options) -> Metric:
    from sacrebleu.metrics.chrf import CHRF

    return ChrF("chrF", CHRF(lowercase=options.lowercase, references=references))


def _ter(references: Streams, options: Options) -> Metric:
    from sacrebleu.metrics.ter import TER

    characters = options.tokenize in ("zh", "ja-mecab", "char")
    prepare = _whole_words(options)
    references = _prepared(references, prepare)
    return Ter("TER", TER(normalized=characters, asian_support=characters, references=references), prepare)


def _nist(references: Streams, options: Options) -> Metric:
    from treeglot.evaluation.nist import Nist

    return Nist(references, options)


def _meteor(references: Streams, options: Options) -> Metric:
    from treeglot.evaluation.meteor import Meteor

    return Meteor(references, options)


METRICS: dict[str, Callable[[Streams, Options], Metric]] = {
    "bleu-lc": _bleu_lc,
    "bleu": _bleu,
    "nist": _nist,
    "meteor": _meteor,
    "chrf": _chrf,
    "ter": _ter,
}
"""``bleu`` with default options is sacreBLEU's default; ``bleu-lc`` is the case-insensitive BLEU-4 of the papers."""


EXTRAS: dict[str, tuple[str, str]] = {"meteor": ("nltk", "meteor")}
"""Metrics that need a package that an extra of treeglot installs: the package and the extra."""


def usable_metrics(names: Sequence[str] = tuple(METRICS)) -> tuple[str, ...]:
    """Those of ``names`` whose packages are installed."""
    return tuple(name for name in names if name not in EXTRAS or find_spec(EXTRAS[name][0]) is not None)


def check_metrics(names: Sequence[str]) -> None:
    """Refuse a metric that there is not, or whose package is not installed; call it before a long run."""
    for name in names:
        if name not in METRICS:
            raise ConfigError(f"no metric {name!r}", remedy=f"choose from {', '.join(METRICS)}")
        if not usable_metrics([name]):
            package, extra = EXTRAS[name]
            raise ConfigError(
                f"the metric {name} needs the package {package}",
                remedy=f"pip install 'treeglot[{extra}]', or choose from {', '.join(usable_metrics())}",
            )


def build_metrics(names: Sequence[str], references: Streams, options: Options | None = None) -> list[Metric]:
    """The metrics of those names over those references; one that an earlier one equals is left out."""
    check_metrics(names)
    metrics: list[Metric] = []
    seen: set[str] = set()
    for name in names:
        metric = METRICS[name](references, options or Options())
        key = f"{type(metric).__name__}|{metric.signature}"
        if key not in seen:
            seen.add(key)
            metrics.append(metric)
    return metrics
