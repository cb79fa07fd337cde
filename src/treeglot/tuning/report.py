"""What a tuning run did, as text and as a page: the curve, the weights and what they contribute, what became of some translations, and
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

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from treeglot._core import tuning as core
from treeglot.tuning.nbest import bleu_references
from treeglot.tuning.tune import TuningResult

STOPPED = {
    "weights": "the weights changed no more",
    "lists": "the lists changed no more",
    "bleu": "BLEU rose no more",
    "iterations": "all that were asked for",
}
RISING = 0.1
"""BLEU in the last two of all iterations that were asked for; with more than this the run had not converged."""
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
    """Of sentence BLEU, smoothed, in points."""


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
        scores = [iteration.bleu for iteration in self.result.iterations]
        notes = []
        risen = max(scores) - max(scores[:-2]) if len(scores) > 2 else 0.0
        if self.result.stopped == "iterations" and (risen > RISING or len(scores) <= 2):
            gain = f"BLEU rose by {risen:.2f} in the last two iterations" if len(scores) > 2 else "only one iteration"
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
            f"{self.system}, {self.method}, seed {self.seed}: BLEU {self.result.bleu:.2f} on dev after {rounds} decodings "
            f"({STOPPED[self.result.stopped]})"
        )

    def to_text(self) -> str:
        """For a terminal or a mail."""
        lines = [self._heading(), ""]
        lines += [f"warning: {note}" for note in self.warnings]
        lines += [""] if self.warnings else []
        lines.append("round    BLEU  length   new translations   all")
        top = max(iteration.bleu for iteration in self.result.iterations) or 1.0
        for iteration in self.result.iterations:
            bar = "▇" * round(30 * iteration.bleu / top)
            lines.append(
                f"{iteration.number:5}  {iteration.bleu:6.2f}  {iteration.length:6.3f}  {iteration.new:17,}  "
                f"{iteration.pool:11,}  {bar}"
            )
        first = self.result.iterations[0].weights
        wide = max(map(len, first))
        lines += ["", f"{'feature':{wide}}      start      tuned  contribution"]
        for name, weight in self.result.weights.items():
            share = f"{100 * self.shares[name]:11.1f} %" if name in self.shares else f"{'fixed':>13}"
            lines.append(f"{name:{wide}}  {first[name]:9.4f}  {weight:9.4f}  {share}")
        for change in self.changes:
            lines += [
                "",
                f"sentence {change.number}, BLEU {change.gain:+.1f}",
                f"  source     {change.source}",
                f"  reference  {change.reference}",
                f"  before     {change.before}",
                f"  after      {change.after}",
            ]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """The same as a page."""
        first = self.result.iterations[0].weights
        rounds = "".join(
            f"<tr><td>{i.number}</td><td>{i.bleu:.2f}</td><td>{i.length:.3f}</td><td>{i.new:,}</td><td>{i.pool:,}</td></tr>"
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
            f"<h3>Sentence {c.number}, BLEU {c.gain:+.1f}</h3><dl><dt>source<dd>{escape(c.source)}<dt>reference<dd>"
            f"{escape(c.reference)}<dt>before<dd>{escape(c.before)}<dt>after<dd>{escape(c.after)}</dl>"
            for c in self.changes
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.warnings)
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tuning of {escape(self.system)}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #8888; padding: 0.25em 0.6em; text-align: right; }}
tbody th {{ text-align: left; font-weight: normal; }}
.bar div {{ display: inline-block; height: 0.7em; margin-right: 0.5em; background: #1f77b4; }}
.warnings {{ color: #c33; }}
dt {{ float: left; clear: left; width: 6em; }}
</style>
</head>
<body>
<h1>Tuning of {escape(self.system)}</h1>
<p>{escape(self._heading())}</p>
<ul class="warnings">{notes}</ul>
<figure>{curve([i.bleu for i in self.result.iterations])}</figure>
<table><thead><tr><th>round</th><th>BLEU</th><th>length</th><th>new translations</th><th>all</th></tr></thead>
<tbody>{rounds}</tbody></table>
<h2>Weights</h2>
<table><thead><tr><th>feature</th><th>start</th><th>tuned</th><th>contribution</th></tr></thead>
<tbody>{"".join(weights)}</tbody></table>
<h2>What became of some translations</h2>
{changes or "<p>None changed.</p>"}
</body>
</html>
"""


def curve(scores: Sequence[float]) -> str:
    """An SVG of BLEU over rounds.

    >>> curve([10.0, 12.5, 12.0]).count("<circle")
    3
    """
    width, height, left, bottom = 480, 220, 44, 30
    top = max(scores) * 1.05 or 1.0

    def place(number: int, score: float) -> tuple[float, float]:
        return (
            left + number / max(len(scores) - 1, 1) * (width - left - 12),
            8 + (1 - score / top) * (height - bottom - 8),
        )

    points = [place(number, score) for number, score in enumerate(scores)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img"><title>BLEU on dev by round</title>'
    ]
    for part in range(5):
        _, y = place(0, top * part / 4)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{width - 12}" y2="{y:.1f}" stroke="#8884"/>')
        parts.append(
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{top * part / 4:.1f}</text>'
        )
    parts.append(f'<polyline points="{path}" fill="none" stroke="#1f77b4" stroke-width="2"/>')
    for number, ((x, y), score) in enumerate(zip(points, scores, strict=True), 1):
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f77b4"><title>round {number}: {score:.2f}</title></circle>'
        )
        parts.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle" fill="currentColor">{number}</text>')
    return "".join([*parts, "</svg>"])


def changed_translations(
    sources: Sequence[str], references: Sequence[str], before: Sequence[str], after: Sequence[str], most: int = 20
) -> tuple[Change, ...]:
    """The sentences whose translations gained or lost most, in the order of the text.

    >>> before, after = ["a b c d e", "x"], ["a b c d f", "x"]
    >>> [(change.number, change.gain > 0) for change in changed_translations(["s", "t"], after, before, after)]
    [(1, True)]
    """
    scorer = bleu_references(references)
    different = [n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    numbers = np.array(different, dtype=np.int32)
    old, new = (
        [core.sentence_bleu(row) for row in scorer.statistics(numbers, [texts[n] for n in different]).tolist()]
        for texts in (before, after)
    )
    gains = {number: 100 * (b - a) for number, a, b in zip(different, old, new, strict=True)}
    chosen = sorted(sorted(different, key=lambda number: -abs(gains[number]))[:most])
    return tuple(Change(n + 1, sources[n], references[n], before[n], after[n], gains[n]) for n in chosen)
