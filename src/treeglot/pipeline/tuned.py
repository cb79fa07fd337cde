"""Tuning as a stage of a project: the weights of a system for BLEU on the dev part, resumable between iterations.

While it runs, and after it was interrupted, ``systems/NAME/weights.partial.txt`` has the best weights so far; a translation uses them, and
says so, where there are no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from treeglot.errors import ConfigError
from treeglot.files import atomic_write, read_lines
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
from treeglot.pipeline.stages import Paths, Stage
from treeglot.search import nbest_arrays, read_weights, write_weights
from treeglot.tuning import Iteration, NBestArrays, tune


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


def tuning_stage(project: Project, system: str, announce: Callable[[str], object], *, seed: int | None = None) -> Stage:
    """The stage that tunes ``system``. A seed other than the project's gets a file of its own: ``weights.seed3.txt``."""
    spec = project.system(system)
    if project.raw("dev") is None:
        raise ConfigError(
            "no data.dev to tune on", path=project.folder / CONFIG_NAME, remedy="add [data.dev] with source and target"
        )
    chosen = project.config.project.seed if seed is None else seed
    settings = spec.tuning
    weights = project.weights_path(system, chosen)
    unfinished = project.unfinished_path(system, chosen)

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        # The sentences and the decoder, with all that it reads of the tables, serve all iterations.
        corpus = read_part(project, spec, "dev")
        decoder = project.decoder(system, start_weights(spec))
        references = [line for _, line in read_lines(inputs["references"])]

        best: list[Iteration] = []

        def decode(current: Mapping[str, float]) -> NBestArrays:
            decoder.set_weights(current)
            translations = decoder.translate(
                corpus, nbest=settings["nbest"], distinct=True, threads=project.threads, derivations=False
            )
            return NBestArrays(*nbest_arrays(translations))

        def report(iteration: Iteration) -> None:
            announce(f"tuning {system}: iteration {iteration.number}, BLEU {iteration.bleu:.2f} on dev")
            if not best or iteration.bleu > best[-1].bleu:
                best.append(iteration)
            note = (
                f"unfinished: the best of {iteration.number} iterations, BLEU {best[-1].bleu:.2f} on dev; "
                f"`treeglot tune --system {system}` goes on"
            )
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            write_weights(unfinished, best[-1].weights, note=note)

        result = tune(
            decode,
            references,
            start_weights(spec),
            settings["method"],
            seed=chosen,
            iterations=settings["iterations"],
            state_dir=work / "state",
            fixed=fixed_weights(spec),
            threads=project.threads,
            on_iteration=report,
        )
        write_weights(outputs["weights"], result.weights)
        with atomic_write(outputs["log"]) as file:
            file.writelines(
                f"{iteration.number}\t{iteration.bleu:.4f}\t{iteration.pool}\n" for iteration in result.iterations
            )

    parameters = {
        "seed": chosen,
        "search": search_settings(project, spec),
        "start": start_weights(spec),
        "binarize": spec.binarize,
        **settings,
    }
    return Stage(
        f"tuning-{system}" if weights.name == "weights.txt" else f"tuning-{system}-seed{chosen}",
        {**model_files(project, spec), **part_files(project, spec, "dev"), "references": project.corpus("dev")[1]},
        {"weights": weights, "log": weights.with_suffix(".log")},
        parameters,
        run,
    )
