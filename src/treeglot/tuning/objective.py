"""What tuning makes better: a metric of sacreBLEU's, or several with weights, and their statistics of each translation.

>>> objective = Objective({"bleu": 0.5, "ter": 0.5}, ["the cat sat on the mat"])
>>> row = objective.statistics(np.zeros(1, np.int32), ["the cat sat on a mat"])
>>> row.tolist()  # correct 1- to 4-grams; edits, words of references; words of both
[[5, 3, 2, 1, 1, 6, 6, 6]]
>>> objective.name, round(objective.score(row), 2)
('0.5 BLEU + 0.5 (100 - TER)', 68.53)

Statistics are those of `treeglot.evaluation` for tokenised text, but counted in the core: lists have hundreds of thousands of translations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot._core import tuning as core
from treeglot.errors import ConfigError, InputError
from treeglot.words import split_words

TITLES = {
    "bleu": "BLEU",
    "bleu-lc": "BLEU-lc",
    "chrf": "chrF",
    "chrf-lc": "chrF-lc",
    "chrf++": "chrF++",
    "chrf++-lc": "chrF++-lc",
    "ter": "100 - TER",
}
"""What can be tuned for, and what a score of it is called. ``-lc`` ignores case, as TER always does. Higher is better: of TER counts what
is missing to 100."""

MetricChoice = str | Mapping[str, float]
"""The name of a metric; several with ``+`` between them, which count alike; or a weight for each."""


def metric_weights(choice: MetricChoice) -> dict[str, float]:
    """The share of each metric; what is no metric, or has no weight above 0, is a `ConfigError`.

    >>> metric_weights("bleu+chrf"), metric_weights({"bleu": 3, "ter": 1})
    ({'bleu': 0.5, 'chrf': 0.5}, {'bleu': 0.75, 'ter': 0.25})
    """
    if isinstance(choice, str):
        names = [name.strip() for name in choice.replace("chrf++", "chrf##").split("+")]
        names = [name.replace("chrf##", "chrf++") for name in names]
        if len(set(names)) < len(names):
            raise ConfigError(
                f"the metric {choice!r} names one twice", remedy="give weights instead: { bleu = 2, ter = 1 }"
            )
        choice = dict.fromkeys(names, 1.0)
    if not choice:
        raise ConfigError("no metric to tune for", remedy=f"choose from {', '.join(TITLES)}")
    for name, weight in choice.items():
        if name not in TITLES:
            raise ConfigError(
                f"no metric {name!r} to tune for", remedy=f"choose from {', '.join(TITLES)}, or several: bleu+chrf"
            )
        if not (math.isfinite(weight) and weight > 0):
            raise ConfigError(f"the weight of {name} is {weight}", remedy="give a number above 0, or leave it out")
    total = math.fsum(choice.values())
    return {name: weight / total for name, weight in choice.items()}


def metric_name(choice: MetricChoice) -> str:
    """What a score is called.

    >>> metric_name("chrf"), metric_name("ter"), metric_name({"bleu": 1, "ter": 1})
    ('chrF', '100 - TER', '0.5 BLEU + 0.5 (100 - TER)')
    """
    weights = metric_weights(choice)
    if len(weights) == 1:
        return TITLES[next(iter(weights))]
    titles = {name: f"({TITLES[name]})" if " " in TITLES[name] else TITLES[name] for name in weights}
    return " + ".join(f"{weight:.3g} {titles[name]}" for name, weight in weights.items())


class Objective:
    """A metric, or several with weights, over references.

    references: one tokenised translation of each sentence, or several such sequences. lowercase: all metrics ignore case.
    """

    def __init__(
        self,
        metric: MetricChoice,
        references: Sequence[str] | Sequence[Sequence[str]],
        *,
        lowercase: bool = False,
        threads: int = 0,
    ) -> None:
        self.weights = metric_weights(metric)
        self.name = metric_name(metric)
        self.threads = threads
        streams = [references] if references and isinstance(references[0], str) else references
        lengths = {len(stream) for stream in streams}
        if len(lengths) != 1 or lengths == {0}:
            raise InputError(
                f"references of {sorted(lengths)} sentences", remedy="give the same number everywhere, at least one"
            )
        rows = list(zip(*streams, strict=True))
        self._size = len(rows)
        self._parts: list[tuple[str, bool, Any]] = []
        kinds = []
        for name, weight in self.weights.items():
            kind = name.removesuffix("-lc")
            lower = lowercase or name.endswith("-lc") or kind == "ter"
            texts = [[_text(text, lower, kind) for text in row] for row in rows]
            counter = (
                core.References(texts)
                if kind == "bleu"
                else core.TerReferences(texts)
                if kind == "ter"
                else core.ChrfReferences(texts, words=kind == "chrf++")
            )
            self._parts.append((kind, lower, counter))
            kinds.append((kind, weight))
        self.metric = core.Metric(kinds, len(streams))
        # Lengths are BLEU's, whatever the metric.
        whole = [counter for kind, _, counter in self._parts if kind == "bleu"]
        self._lengths = whole[0] if whole else core.References([[_text(text, False) for text in row] for row in rows])

    def __len__(self) -> int:
        return self._size

    def statistics(self, sentences: NDArray[np.int32], texts: Sequence[str]) -> NDArray[np.int32]:
        """A row for each translation, of the sentence of that number from 0; the last two columns are its words and those of the
        closest reference."""
        columns = []
        lengths = None
        for kind, lower, counter in self._parts:
            rows = counter.statistics(sentences, [_text(text, lower, kind) for text in texts], threads=self.threads)
            columns.append(rows[:, :4] if kind == "bleu" else rows)
            if counter is self._lengths:
                lengths = rows[:, 4:]
        if lengths is None:
            lengths = self._lengths.statistics(sentences, [_text(text, False) for text in texts], threads=self.threads)[
                :, 4:
            ]
        return np.ascontiguousarray(np.hstack([*columns, lengths]))

    def score(self, rows: NDArray[np.int32]) -> float:
        """Of a corpus, in points."""
        return float(self.metric.score(rows))

    def sentence_scores(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """Of each sentence for itself, in points; BLEU is smoothed."""
        return 100 * np.array(self.metric.sentences(rows))


def _text(text: str, lowercase: bool, kind: str = "bleu") -> str:
    """A text as it is counted: chrF takes all white space out, the others the blanks between words."""
    words = text.split() if kind.startswith("chrf") else split_words(text)
    return " ".join(words).lower() if lowercase else " ".join(words)
