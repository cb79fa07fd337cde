"""Tuning as a stage of a project: the weights of a system for a metric on the dev part, resumable between iterations.

While it runs, and after it was interrupted, ``systems/NAME/weights.partial.txt`` has the best weights so far; a translation uses them, and
says so, where there are no others. What the run did is in ``weights.report.txt`` and ``weights.report.html`` beside the weights.

Replicates have seeds of their own: they start from random weights around the usual ones, and run side by side.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path
from threading import Event

import numpy as np

from treeglot.errors import ConfigError, TreeglotError
from treeglot.files import atomic_write, read_lines
from treeglot.pages import page
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.decoding import (
    features,
    fixed_weights,
    model_files,
    part_files,
    read_part,
    search_settings,
    start_weights,
)
from treeglot.pipeline.project import Project
from treeglot.pipeline.provenance import notes, provenance
from treeglot.pipeline.stages import Paths, Stage
from treeglot.search import nbest_arrays, read_weights, write_weights
from treeglot.tuning import Iteration, NBestArrays, metric_name, random_start, tune
from treeglot.tuning.report import TuningReport, changed_translations, curves


@dataclass(frozen=True)
class Replicates:
    """Several tuning runs of a system: what of its score is the optimiser's chance."""

    system: str
    seeds: tuple[int, ...]
    dev: tuple[float, ...]
    """The score on the dev part, for each seed."""
    metric: str = "BLEU"
    rounds: tuple[tuple[tuple[int, float, float], ...], ...] = ()
    """Of each seed, the rounds with their scores and lengths."""
    weights: tuple[Mapping[str, float], ...] = ()
    """Those that each seed led to."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.dev)

    @property
    def deviation(self) -> float:
        """The standard deviation over runs: nothing but the optimiser differs between them."""
        return statistics.stdev(self.dev) if len(self.dev) > 1 else 0.0

    def to_text(self) -> str:
        runs = ", ".join(f"{score:.2f} (seed {seed})" for seed, score in zip(self.seeds, self.dev, strict=True))
        return f"{self.system}: {self.metric} {self.mean:.2f} ± {self.deviation:.2f} on dev; {runs}"

    def to_html(self) -> str:
        """The same as a page, with the curves and the weights of all runs."""
        names = [f"seed {seed}" for seed in self.seeds]
        runs = "".join(
            f"<tr><th>{name}</th><td>{score:.2f}</td><td>{len(rounds)}</td></tr>"
            for name, score, rounds in zip(names, self.dev, self.rounds, strict=True)
        )
        weights = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{run[name]:.4f}</td>' for run in self.weights)}</tr>"
            for name in (self.weights[0] if self.weights else ())
        )
        return page(
            f"Tuning runs of {self.system}",
            f"""<p>{escape(f"{self.metric} {self.mean:.2f} ± {self.deviation:.2f} on dev")}</p>
{curves(dict(zip(names, self.rounds, strict=True)), self.metric)}
<table><thead><tr><th>run</th><th>{escape(self.metric)}</th><th>rounds</th></tr></thead><tbody>{runs}</tbody></table>
<h2>Weights</h2>
<table><thead><tr><th>feature</th>{"".join(f"<th>{name}</th>" for name in names)}</tr></thead><tbody>{weights}</tbody></table>""",
        )


def tune_replicates(project: Project, system: str, announce: Callable[[str], object], *, seeds: int) -> Replicates:
    """Tune with the project's seed and those after it; runs that are complete already are kept."""
    if seeds < 1:
        raise ConfigError(f"{seeds} seeds", remedy="ask for at least one")
    spec = project.system(system)
    first = project.config.project.seed
    numbers = tuple(range(first, first + seeds))
    with project.runner.locked():
        run_tunings(project, system, announce, numbers)
    weights = [read_weights(project.weights_path(system, seed), features(spec)) for seed in numbers]
    replicates = Replicates(
        system,
        numbers,
        tuple(dev_score(project, system, seed) for seed in numbers),
        metric_name(spec.tuning["metric"]),
        tuple(_rounds(project, system, seed) for seed in numbers),
        tuple(weights),
    )
    with atomic_write(replicates_page(project, system)) as file:
        file.write(replicates.to_html())
    return replicates


def replicates_page(project: Project, system: str) -> Path:
    """Where the curves of all runs of a system are."""
    return project.weights_path(system, project.config.project.seed).with_suffix(".seeds.html")


def _rounds(project: Project, system: str, seed: int) -> tuple[tuple[int, float, float], ...]:
    """Of each round of a run its number, score and length."""
    log = project.weights_path(system, seed).with_suffix(".log")
    rows = [line.split("\t") for _, line in read_lines(log)]
    return tuple((int(row[0]), float(row[1]), float(row[3])) for row in rows)


def dev_score(project: Project, system: str, seed: int) -> float:
    """The best score of a run on the dev part, by the metric that it was tuned for."""
    log = project.weights_path(system, seed).with_suffix(".log")
    return max(float(line.split("\t")[1]) for _, line in read_lines(log))


def tune_system(
    project: Project, system: str, announce: Callable[[str], object], *, seed: int | None = None
) -> dict[str, float]:
    """Set a system's weights; those of an earlier, complete run with the same inputs are kept."""
    with project.runner.locked():
        run_tuning(project, system, announce, seed=seed)
    return read_weights(project.weights_path(system, seed), features(project.system(system)))


def run_tuning(project: Project, system: str, announce: Callable[[str], object], *, seed: int | None = None) -> None:
    """Bring the weights of a system up to date, in a project that is locked already."""
    project.runner.run(tuning_stage(project, system, announce, seed=seed), announce)
    project.unfinished_path(system, seed).unlink(missing_ok=True)


def run_tunings(project: Project, system: str, announce: Callable[[str], object], seeds: Sequence[int]) -> None:
    """The same for several seeds, side by side on the cores that the project may use; each is the same as if it ran alone. (What
    the manifests say of memory is of all of them.)"""
    cores = project.threads or os.cpu_count() or 1
    workers = min(len(seeds), cores)
    if workers == 1:
        for seed in seeds:
            run_tuning(project, system, announce, seed=seed)
        return
    stop = Event()

    def work(seed: int) -> None:
        stage = tuning_stage(project, system, announce, seed=seed, threads=max(1, cores // workers), stop=stop)
        project.runner.run(stage, announce)
        project.unfinished_path(system, seed).unlink(missing_ok=True)

    with ThreadPoolExecutor(workers) as pool:
        runs = [pool.submit(work, seed) for seed in seeds]
        try:
            for run in runs:
                run.result()
        except BaseException:
            stop.set()  # the others end with the decoding that they are at
            pool.shutdown(cancel_futures=True)
            raise


def tuning_stage(
    project: Project,
    system: str,
    announce: Callable[[str], object],
    *,
    seed: int | None = None,
    threads: int | None = None,
    stop: Event | None = None,
) -> Stage:
    """The stage that tunes ``system``. A seed other than the project's gets a file of its own, ``weights.seed3.txt``, and random
    weights to start from. ``threads`` other than the project's change nothing; ``stop``, once set, ends it before the next decoding."""
    spec = project.system(system)
    if project.raw("dev") is None:
        raise ConfigError(
            "no data.dev to tune on", path=project.folder / CONFIG_NAME, remedy="add [data.dev] with source and target"
        )
    chosen = project.config.project.seed if seed is None else seed
    settings = spec.tuning
    title = metric_name(settings["metric"])
    weights = project.weights_path(system, chosen)
    unfinished = project.unfinished_path(system, chosen)
    start = start_weights(spec)
    if chosen != project.config.project.seed:
        start = random_start(start, fixed_weights(spec), chosen)
    cores = project.threads if threads is None else threads
    name = system if seed is None or seed == project.config.project.seed else f"{system} with seed {chosen}"

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        # The sentences and the decoder, with all that it reads of the tables, serve all iterations.
        corpus = read_part(project, spec, "dev")
        decoder = project.decoder(system, start)
        references = [line for _, line in read_lines(inputs["references"])]
        made_with = notes(provenance(project, spec))

        best: list[Iteration] = []

        def text_file(current: Mapping[str, float]) -> Path:
            """Where the best translations with these weights are kept, for the report of a run that goes on later."""
            return work / f"{hashlib.blake2b(json.dumps(dict(current)).encode(), digest_size=12).hexdigest()}.txt"

        def decode_first(current: Mapping[str, float], sentences: int | None) -> NBestArrays:
            if stop is not None and stop.is_set():
                raise TreeglotError(f"tuning of {name} was stopped", remedy="run it again: it goes on from there")
            decoder.set_weights(current)
            translations = decoder.translate(
                corpus, nbest=settings["nbest"], distinct=True, threads=cores, derivations=False, limit=sentences
            )
            return NBestArrays(*nbest_arrays(translations))

        def decode(current: Mapping[str, float]) -> NBestArrays:
            lists = decode_first(current, None)
            with atomic_write(text_file(current)) as file:
                firsts = np.flatnonzero(np.diff(lists.sentences, prepend=-1))
                file.writelines(lists.texts[entry] + "\n" for entry in firsts.tolist())
            return lists

        def texts(current: Mapping[str, float]) -> list[str]:
            if not text_file(current).exists():
                decode(current)
            return [line for _, line in read_lines(text_file(current))]

        def report(iteration: Iteration) -> None:
            announce(f"tuning {name}: iteration {iteration.number}, {title} {iteration.score:.2f} on dev")
            if not best or iteration.score > best[-1].score:
                best.append(iteration)
            note = (
                f"unfinished: the best of {iteration.number} iterations, {title} {best[-1].score:.2f} on dev; "
                f"`treeglot tune --system {system}` goes on"
            )
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            write_weights(unfinished, best[-1].weights, note=f"{note}\n{made_with}")

        result = tune(
            decode,
            references,
            start,
            settings["method"],
            metric=settings["metric"],
            seed=chosen,
            iterations=settings["iterations"],
            state_dir=work / "state",
            fixed=fixed_weights(spec),
            threads=cores,
            decode_first=decode_first,
            on_iteration=report,
        )
        write_weights(outputs["weights"], result.weights, note=made_with)
        with atomic_write(outputs["log"]) as file:
            file.writelines(
                f"{iteration.number}\t{iteration.score:.4f}\t{iteration.pool}\t{iteration.length:.4f}\n"
                for iteration in result.iterations
            )
        summary = TuningReport(
            system,
            settings["method"],
            chosen,
            result,
            tuple(fixed_weights(spec)),
            changed_translations(
                [line for _, line in read_lines(inputs["source_words"])],
                references,
                texts(result.iterations[0].weights),
                texts(result.weights),
                metric=settings["metric"],
            ),
        )
        for note in summary.warnings:
            announce(f"tuning {name}: warning: {note}")
        with atomic_write(outputs["report"]) as file:
            file.write(summary.to_text())
        with atomic_write(outputs["page"]) as file:
            file.write(summary.to_html())

    parameters = {
        "seed": chosen,
        "search": search_settings(project, spec),
        "start": start,
        "binarize": spec.binarize,
        **settings,
    }
    return Stage(
        f"tuning-{system}" if weights.name == "weights.txt" else f"tuning-{system}-seed{chosen}",
        {
            **model_files(project, spec),
            **part_files(project, spec, "dev"),
            "source_words": project.corpus("dev")[0],
            "references": project.corpus("dev")[1],
        },
        {
            "weights": weights,
            "log": weights.with_suffix(".log"),
            "report": weights.with_suffix(".report.txt"),
            "page": weights.with_suffix(".report.html"),
        },
        parameters,
        run,
    )
