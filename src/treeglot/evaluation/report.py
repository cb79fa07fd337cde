"""Scoring translations: `evaluate` gives a `Report` whose every score carries its signature.

>>> report = evaluate(["the cat sat on the mat ."], ["the cat sat on a mat ."], metrics=["bleu", "ter"])
>>> print(report)
BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:... = 48.89 85.7/66.7/40.0/25.0 (BP = 1.000 ...)
TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:... = 14.29
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from treeglot.errors import InputError
from treeglot.evaluation.metrics import Array, Metric, Options, Streams, build_metrics, usable_metrics


@dataclass(frozen=True)
class Score:
    """One metric's result. ``sentences`` holds the scores of single sentences where they were asked for."""

    metric: str
    score: float
    signature: str
    details: str = ""
    sentences: tuple[float, ...] = ()
    sentence_signature: str = ""
    decimals: int = 2

    def __str__(self) -> str:
        return f"{self.metric}|{self.signature} = {self.score:.{self.decimals}f} {self.details}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        record: dict[str, Any] = {"metric": self.metric, "score": self.score, "signature": self.signature}
        if self.details:
            record["details"] = self.details
        if self.sentences:
            record |= {"sentence_signature": self.sentence_signature, "sentences": list(self.sentences)}
        return record


@dataclass(frozen=True)
class Report:
    """The scores of one system."""

    scores: tuple[Score, ...]

    def __getitem__(self, metric: str) -> Score:
        """The score of a metric by its name in the report or in `METRICS`, case ignored."""
        for score in self.scores:
            if score.metric.lower() == metric.lower():
                return score
        raise KeyError(metric)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __str__(self) -> str:
        return "\n".join(map(str, self.scores))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"scores": [score.to_dict() for score in self.scores]}


def evaluate(
    hypotheses: Sequence[str],
    references: Sequence[str] | Streams,
    metrics: Sequence[str] | None = None,
    *,
    options: Options | None = None,
    sentences: bool = False,
) -> Report:
    """Score translations against one reference (a sequence of sentences) or several (a sequence of those).

    Without ``metrics`` every one is taken whose package is installed. ``sentences`` adds the score of each sentence: BLEU with effective order, NIST with the information weights of the
    whole set. The number of sentences must be the same everywhere.
    """
    streams = reference_streams(references, len(hypotheses))
    bound = build_metrics(usable_metrics() if metrics is None else metrics, streams, options)
    return Report(tuple(make_score(metric, metric.statistics(list(hypotheses)), sentences) for metric in bound))


def make_score(metric: Metric, rows: Array, sentences: bool = False) -> Score:
    """The `Score` of a table of statistics."""
    totals = rows.sum(axis=0)
    return Score(
        metric.name,
        float(metric.score(totals)),
        metric.signature,
        metric.details(totals),
        tuple(metric.sentence_scores(rows).tolist()) if sentences else (),
        metric.sentence_signature if sentences else "",
        metric.decimals,
    )


def reference_streams(references: Sequence[str] | Streams, count: int) -> list[list[str]]:
    """References as a list of streams, each of ``count`` sentences."""
    streams: list[list[str]]
    if references and isinstance(references[0], str):
        streams = [cast(list[str], list(references))]
    else:
        streams = [list(stream) for stream in references]
    if not streams:
        raise InputError("no references", remedy="give at least one reference translation")
    for number, stream in enumerate(streams, 1):
        if len(stream) != count:
            raise InputError(
                f"reference {number} has {len(stream):,} sentences but there are {count:,} translations",
                remedy="give files of the same length, line for line",
            )
    if count == 0:
        raise InputError("no sentences to score", remedy="give at least one line")
    return streams
