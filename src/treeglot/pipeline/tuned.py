"""Tuning as a stage of a project: the weights of a system for BLEU on the dev part, resumable between iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from treeglot.errors import ConfigError
from treeglot.files import atomic_write, read_lines
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.decoding import decode as decode_with
from treeglot.pipeline.decoding import features, fixed_weights, model_files, part_files, read_part, start_weights
from treeglot.pipeline.project import Project
from treeglot.pipeline.stages import Paths, Stage
from treeglot.search.weights import read_weights, write_weights
from treeglot.tuning import Iteration, NBestEntry, NBestLists, tune


def tune_system(
    project: Project, system: str, announce: Callable[[str], object], *, seed: int | None = None
) -> dict[str, float]:
    """Set a system's weights; those of an earlier, complete run with the same inputs are kept."""
    stage = tuning_stage(project, system, announce, seed=seed)
    with project.runner.locked():
        project.runner.run(stage, announce)
    return read_weights(stage.outputs["weights"], features(project.system(system)))


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

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        sentences = read_part(project, spec, "dev")  # once for all iterations
        references = [line for _, line in read_lines(inputs["references"])]

        def decode(current: Mapping[str, float]) -> NBestLists:
            decoder = project.decoder(system, dict(current))
            found = decode_with(
                decoder, sentences, nbest=settings["nbest"], distinct=True, threads=project.threads, derivations=False
            )
            return [[NBestEntry(one.text, one.vector) for one in result.kbest] for result in found]

        def report(iteration: Iteration) -> None:
            announce(f"tuning {system}: iteration {iteration.number}, BLEU {iteration.bleu:.2f} on dev")

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
            file.writelines(f"{one.number}\t{one.bleu:.4f}\t{one.pool}\n" for one in result.iterations)

    parameters = {"seed": chosen, "search": project.config.search.model_dump(), **settings}
    if not spec.is_phrase_based:
        parameters["search"] = spec.decoder_options
        parameters["start"] = start_weights(spec)
        parameters["binarize"] = spec.binarize
    return Stage(
        f"tuning-{system}" if weights.name == "weights.txt" else f"tuning-{system}-seed{chosen}",
        {**model_files(project, spec), **part_files(project, spec, "dev"), "references": project.corpus("dev")[1]},
        {"weights": weights, "log": weights.with_suffix(".log")},
        parameters,
        run,
    )
