"""What a tuning run did, as text and as a page: curves, the weights and what they contribute, what became of some translations, and
warnings.

>>> from treeglot.tuning import tune
>>> entries = [("the cat sat on a mat", [1.0, 0.0]), ("the cat sat on the mat", [0.0, 1.0])]
>>> def decode(weights):
...     score = lambda entry: sum(w * h for w, h in zip(weights.values(), entry[1]))
...     return [sorted(entries, key=score, reverse=True)]
>>> result = tune(decode, ["the cat sat on the mat"], {"lm": 1.0, "tm": 0.5}, seed=1)
>>> report = TuningReport("example", "mert", 1, result)
>>> print(report.to_text().splitlines()[0])
example, mert, seed 1: BLEU 100.00 on dev after 2 decodings (the lists changed no more)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from treeglot.pages import page
from treeglot.plots import COLOURS, Point, plot
from treeglot.tuning.objective import MetricChoice, Objective
from treeglot.tuning.tune import TuningResult

STOPPED = {
    "weights": "the weights changed no more",
    "lists": "the lists changed no more",
    "score": "the score rose no more",
    "iterations": "all that were asked for",
}
RISING = 0.1
"""Points in the last two of all iterations that were asked for; with more than this the run had not converged."""
LENGTHS = (0.9, 1.1)
"""Words of translations as a part of the references' words; beyond, they have collapsed or run wild."""
USELESS = 0.003
"""The share of all contributions below which a feature hardly matters."""
DOMINANT = 0.6
"""The share above which a feature leaves hardly anything to the others, as when nothing bounds its weight."""


@dataclass(frozen=True)
class Change:
    """What tuning did to the translation of a sentence."""

    number: int
    source: str
    reference: str
    before: str
    after: str
    gain: float
    """Of the sentence's score, in points; BLEU is smoothed."""


@dataclass(frozen=True)
class TuningReport:
    """A finished run of a system; ``changes`` are of the first and the best weights."""

    system: str
    method: str
    seed: int
    result: TuningResult
    fixed: tuple[str, ...] = ()
    changes: tuple[Change, ...] = field(default=())

    @property
    def shares(self) -> dict[str, float]:
        """The part of each free feature in telling the translations of a sentence apart: its weight times its spread."""
        sizes = {
            name: abs(weight) * self.result.spreads[name]
            for name, weight in self.result.weights.items()
            if name not in self.fixed
        }
        total = sum(sizes.values())
        return {name: size / total if total else 0.0 for name, size in sizes.items()}

    @property
    def warnings(self) -> list[str]:
        """What someone should look at before trusting the weights."""
        scores = [iteration.score for iteration in self.result.iterations]
        notes = []
        risen = max(scores) - max(scores[:-2]) if len(scores) > 2 else 0.0
        if self.result.stopped == "iterations" and (risen > RISING or len(scores) <= 2):
            gain = (
                f"{self.result.metric} rose by {risen:.2f} in the last two iterations"
                if len(scores) > 2
                else "only one iteration"
            )
            notes.append(f"not converged: {gain}; ask for more with iterations in [tuning]")
        length = self.result.length
        if not LENGTHS[0] <= length <= LENGTHS[1]:
            what = "collapsed in length" if length < 1 else "too long"
            notes.append(f"{what}: the translations have {100 * length:.0f} % of the words of the references")
        shares = self.shares
        for name, share in shares.items():
            if self.result.spreads[name] == 0:
                notes.append(f"{name} is useless here: it is the same in all translations of a sentence")
            elif share < USELESS:
                notes.append(f"{name} hardly matters: {100 * share:.1f} % of all contributions")
            elif share > DOMINANT and len(shares) > 2:
                notes.append(f"{name} has {100 * share:.0f} % of all contributions: its weight may be unbounded")
        return notes

    def _heading(self) -> str:
        rounds = len(self.result.iterations)
        return (
            f"{self.system}, {self.method}, seed {self.seed}: {self.result.metric} {self.result.score:.2f} on dev after {rounds} decodings "
            f"({STOPPED[self.result.stopped]})"
        )

    def to_text(self) -> str:
        """For a terminal or a mail."""
        lines = [self._heading(), ""]
        lines += [f"warning: {note}" for note in self.warnings]
        lines += [""] if self.warnings else []
        wide = max(len(self.result.metric), 7)
        lines.append(f"round  {self.result.metric:>{wide}}  length   new translations          all")
        top = max(iteration.score for iteration in self.result.iterations) or 1.0
        for iteration in self.result.iterations:
            bar = "▇" * round(30 * max(iteration.score, 0) / top)
            lines.append(
                f"{iteration.number:5}  {iteration.score:{wide}.2f}  {iteration.length:6.3f}  {iteration.new:17,}  "
                f"{iteration.pool:11,}  {bar}"
            )
        first = self.result.iterations[0].weights
        names = max(map(len, first))
        lines += ["", f"{'feature':{names}}      start      tuned  contribution"]
        for name, weight in self.result.weights.items():
            share = f"{100 * self.shares[name]:11.1f} %" if name in self.shares else f"{'fixed':>13}"
            lines.append(f"{name:{names}}  {first[name]:9.4f}  {weight:9.4f}  {share}")
        for change in self.changes:
            lines += [
                "",
                f"sentence {change.number}, {self.result.metric} {change.gain:+.1f}",
                f"  source     {change.source}",
                f"  reference  {change.reference}",
                f"  before     {change.before}",
                f"  after      {change.after}",
            ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """The same as a page, with plots."""
        metric, first = escape(self.result.metric), self.result.iterations[0].weights
        rounds = "".join(
            f"<tr><td>{i.number}</td><td>{i.score:.2f}</td><td>{i.length:.3f}</td><td>{i.new:,}</td><td>{i.pool:,}</td></tr>"
            for i in self.result.iterations
        )
        weights = []
        for name, weight in self.result.weights.items():
            share = 100 * self.shares.get(name, 0.0)
            bar = f'<div style="width:{2 * share:.0f}px"></div>{share:.1f} %' if name in self.shares else "fixed"
            weights.append(
                f"<tr><th>{escape(name)}</th><td>{first[name]:.4f}</td><td>{weight:.4f}</td><td class=bar>{bar}</td></tr>"
            )
        changes = "".join(
            f"<h3>Sentence {c.number}, {metric} {c.gain:+.1f}</h3><dl><dt>source<dd>{escape(c.source)}<dt>reference<dd>"
            f"{escape(c.reference)}<dt>before<dd>{escape(c.before)}<dt>after<dd>{escape(c.after)}</dl>"
            for c in self.changes
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.warnings)
        scores = [(i.number, i.score, i.length) for i in self.result.iterations]
        return page(
            f"Tuning of {self.system}",
            f"""<p>{escape(self._heading())}</p>
<ul class="warnings">{notes}</ul>
{curves({f"seed {self.seed}": scores}, self.result.metric)}
<table><thead><tr><th>round</th><th>{metric}</th><th>length</th><th>new translations</th><th>all</th></tr></thead>
<tbody>{rounds}</tbody></table>
<h2>Weights</h2>
<table><thead><tr><th>feature</th><th>start</th><th>tuned</th><th>contribution</th></tr></thead>
<tbody>{"".join(weights)}</tbody></table>
<figure>{self.contributions()}</figure>
<h2>What became of some translations</h2>
{changes or "<p>None changed.</p>"}""",
            width="60em",
            style=STYLE,
        )

    def contributions(self) -> str:
        """An SVG of what the weightiest features contribute in each round: weight times spread, with the sign of the weight."""
        lines: dict[str, list[Point]] = {
            name: [] for name in sorted(self.shares, key=lambda name: -self.shares[name])[: len(COLOURS)]
        }
        for iteration in self.result.iterations:
            sizes = {name: iteration.weights[name] * self.result.spreads[name] for name in self.shares}
            total = sum(map(abs, sizes.values())) or 1.0
            for name, line in lines.items():
                line.append(
                    Point(iteration.number, 100 * sizes[name] / total, note=f"weight {iteration.weights[name]:.4f}")
                )
        return plot(lines, "Contributions by round", "round", unit=" %", digits=1)


STYLE = """\
.bar div { display: inline-block; height: 0.7em; margin-right: 0.5em; background: #1f77b4; }
.warnings { color: #c33; }
dt { float: left; clear: left; width: 6em; }
"""


def curves(runs: Mapping[str, Sequence[tuple[int, float, float]]], metric: str) -> str:
    """Plots of score and length over rounds, a line for each run: its rounds with their numbers, scores and lengths.

    >>> curves({"seed 1": [(1, 10.0, 0.9), (2, 12.5, 1.0)]}, "BLEU").count("<circle")
    4
    """
    scores = {name: [Point(number, score) for number, score, _ in rounds] for name, rounds in runs.items()}
    lengths = {name: [Point(number, 100 * part) for number, _, part in rounds] for name, rounds in runs.items()}
    return (
        f"<figure>{plot(scores, f'{metric} on dev by round', f'{metric} by round')}</figure>\n"
        f"<figure>{plot(lengths, 'Words in per cent of the references by round', 'words by round', unit=' %', digits=1)}</figure>"
    )


def changed_translations(
    sources: Sequence[str],
    references: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
    *,
    metric: MetricChoice = "bleu",
    most: int = 20,
) -> tuple[Change, ...]:
    """The sentences whose translations gained or lost most, in the order of the text.

    >>> before, after = ["a b c d e", "x"], ["a b c d f", "x"]
    >>> [(change.number, change.gain > 0) for change in changed_translations(["s", "t"], after, before, after)]
    [(1, True)]
    """
    objective = Objective(metric, references)
    different = [n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    numbers = np.array(different, dtype=np.int32)
    old, new = (
        objective.sentence_scores(objective.statistics(numbers, [texts[n] for n in different]))
        for texts in (before, after)
    )
    gains = dict(zip(different, (new - old).tolist(), strict=True))
    chosen = sorted(sorted(different, key=lambda number: -abs(gains[number]))[:most])
    return tuple(Change(n + 1, sources[n], references[n], before[n], after[n], gains[n]) for n in chosen)
