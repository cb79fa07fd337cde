"""Whether tuning converges: several runs of a system from random starts, their mean and deviation on dev and test, losses between
rounds, and CPU time until 99 % of the final score. A random start has the usual signs, sizes drawn from 5 to 100 % of the largest
weight, and a weight of words between -0.3 and 0.3.

    python bench/tuning_bars.py PROJECT phrases consdep2str [--method expected] [--metric bleu] [--runs 5] [--first 1] [--curves FILE] [--plot FILE]

Prints a row of a Markdown table for each system. The project must be trained (`treeglot train`); nothing in it is changed. One thread.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from treeglot.files import read_lines
from treeglot.pipeline.decoding import fixed_weights, read_part, start_weights
from treeglot.pipeline.project import Project
from treeglot.plots import Point, plot
from treeglot.search import nbest_arrays
from treeglot.tuning import METHODS, Iteration, NBestArrays, Objective, Weights, metric_name, tune


@dataclass
class Run:
    """A tuning run from a random start."""

    seed: int
    dev: float
    test: float
    scores: list[float]
    lengths: list[float]
    seconds: list[float]
    """CPU time at the end of each round's decoding."""
    stopped: str
    weights: Weights

    @property
    def loss(self) -> float:
        """The largest between two rounds after the second."""
        return max((a - b for a, b in zip(self.scores[2:], self.scores[3:], strict=False)), default=0.0)

    @property
    def seconds_to_99(self) -> float:
        return next(s for s, score in zip(self.seconds, self.scores, strict=True) if score >= 0.99 * self.dev)


def random_start(usual: Weights, fixed: tuple[str, ...], seed: int) -> Weights:
    """Far from the usual weights."""
    rng = random.Random(seed)
    largest = max(abs(weight) for name, weight in usual.items() if name not in fixed)
    start = {}
    for name, weight in usual.items():
        size = rng.uniform(0.05, 1) * largest
        words = rng.uniform(-0.3, 0.3)
        start[name] = weight if name in fixed else words if name == "words" else size if weight >= 0 else -size
    return start


def tuning_runs(project: Project, system: str, method: str, metric: str, seeds: range, iterations: int) -> list[Run]:
    """Each from a random start of its own."""
    spec = project.system(system)
    fixed = tuple(fixed_weights(spec))
    corpora = {part: read_part(project, spec, part) for part in ("dev", "test")}
    references = {part: [line for _, line in read_lines(project.corpus(part)[1])] for part in corpora}
    scorer = Objective(metric, references["test"], threads=1)
    usual = start_weights(spec)
    decoder = project.decoder(system, usual)
    runs = []
    for seed in seeds:
        began = time.process_time()
        seconds: list[float] = []

        def decode_first(weights: Weights, sentences: int | None) -> NBestArrays:
            decoder.set_weights(weights)
            nbest = spec.tuning["nbest"]
            lists = decoder.translate(
                corpora["dev"], nbest=nbest, distinct=True, threads=1, derivations=False, limit=sentences
            )
            return NBestArrays(*nbest_arrays(lists))

        def decode(weights: Weights, began: float = began, seconds: list[float] = seconds) -> NBestArrays:
            arrays = decode_first(weights, None)
            seconds.append(time.process_time() - began)
            return arrays

        result = tune(
            decode,
            references["dev"],
            random_start(usual, fixed, seed),
            METHODS[method](),
            metric=metric,
            seed=seed,
            iterations=iterations,
            fixed=fixed,
            threads=1,
            decode_first=decode_first,
        )
        decoder.set_weights(result.weights)
        translated = decoder.translate(corpora["test"], nbest=1, threads=1, derivations=False)
        arrays = NBestArrays(*nbest_arrays(translated))
        test = scorer.score(scorer.statistics(arrays.sentences, arrays.texts))
        rounds: tuple[Iteration, ...] = result.iterations
        runs.append(
            Run(
                seed,
                result.score,
                test,
                [iteration.score for iteration in rounds],
                [iteration.length for iteration in rounds],
                seconds[: len(rounds)],
                result.stopped,
                result.weights,
            )
        )
        last = runs[-1]
        curve = " ".join(f"{score:.2f}" for score in last.scores)
        print(f"  {system} {seed}: dev {last.dev:.2f} test {test:.2f} {last.seconds[-1]:.1f} s: {curve}", flush=True)
    return runs


def spread(values: list[float]) -> str:
    """Mean ± deviation (highest)."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.2f} ± {deviation:.2f} ({max(values):.2f})"


def picture(curves: dict[str, list[float]], metric: str) -> str:
    """An SVG of the rounds after the second; the first two may be far below."""
    lines = {
        name: [Point(number, score) for number, score in enumerate(scores, 1) if number > 2]
        for name, scores in curves.items()
    }
    title = metric_name(metric)
    return plot(lines, f"{title} on dev by round", f"{title} on dev by round, from the third on")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--method", default="expected", choices=METHODS)
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="seed of the first run")
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--curves", type=Path, help="append every run as a line of JSON")
    parser.add_argument("--plot", type=Path, help="write the curves of the last system as SVG")
    args = parser.parse_args()
    rows = []
    for system in args.systems:
        seeds = range(args.first, args.first + args.runs)
        runs = tuning_runs(Project(args.project), system, args.method, args.metric, seeds, args.iterations)
        rows.append(
            f"| {system} | {args.method} | {len(runs)} | {spread([run.dev for run in runs])} | {spread([run.test for run in runs])} | "
            f"{max(run.loss for run in runs):.2f} | {statistics.fmean(run.seconds_to_99 for run in runs):.1f} | "
            f"{statistics.fmean(run.seconds[-1] for run in runs):.1f} |"
        )
        if args.curves:
            with args.curves.open("a", encoding="utf-8") as file:
                for run in runs:
                    record = {"project": args.project.name, "system": system, "method": args.method, **asdict(run)}
                    file.write(json.dumps(record) + "\n")
        if args.plot:
            args.plot.write_text(
                picture({f"run {run.seed}": run.scores for run in runs}, args.metric), encoding="utf-8"
            )
    print("| system | method | runs | dev (best) | test (best) | largest loss | CPU s to 99 % | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
