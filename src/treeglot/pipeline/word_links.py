"""The word links of a project, and which of them a table is learnt from.

Rules of trees need precise links, phrases want many (spec: tree-to-string, "Which links"). ``[alignment]`` has a ``heuristic`` for the
phrases and for rules without trees, and a ``rule_heuristic`` for the rules of trees; without the latter they have what their grammar
declares. Both may differ for a system. A choice of links (`treeglot.alignment.choices`) is the name of a heuristic, a number, which is the
least chance that the aligner gives to a link, or several of these with weights: then counts are those that are expected.
``alignment/train.align`` are the links of ``heuristic``; others are made from the same two directions, or of the chances that the
same model gives, as ``alignment/train.CHOICE.align``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot import alignment
from treeglot.alignment import own
from treeglot.alignment.choices import is_threshold, link_choice, links_name, parts
from treeglot.alignment.evidence import Evidence, heads_of
from treeglot.alignment.posteriors import links_above
from treeglot.alignment.symmetrize import symmetrize_files
from treeglot.errors import ConfigError
from treeglot.files import atomic_write, atomic_write_binary, open_binary, read_lines
from treeglot.grammars import registry
from treeglot.links import Weighted
from treeglot.pipeline.config import CONFIG_NAME, ProjectConfig
from treeglot.pipeline.stages import Paths, Stage
from treeglot.pipeline.systems import TableSpec
from treeglot.trees.stored import open_corpus

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project


def chosen_links(config: ProjectConfig, table: TableSpec) -> str:
    """The choice of links that a table is learnt from; empty if they are the project's usual ones."""
    links = config.alignment
    choice = table.links
    if not choice:
        choice = (
            links.rule_heuristic or _declared(config, table.grammar) if table.from_trees else links.phrase_heuristic
        )
    return "" if choice == links.heuristic else choice


def _declared(config: ProjectConfig, grammar: str) -> str:
    """The links that suit a grammar, as far as they can be made; empty if it has no wish."""
    if config.alignment.file:
        return ""
    wished = registry.grammar(grammar)
    if wished.link_chance and config.alignment.aligner == own.AgreementAligner.name:
        return link_choice(wished.link_chance)
    return wished.heuristic


def table_links(project: Project, table: TableSpec) -> list[Weighted]:
    """The files of the word links that a table is learnt from, and what each counts; further files go with the usual links."""
    links = project.config.alignment
    if _has_rule_file(project, table):
        return [Weighted(project.folder / links.rule_file)]
    choice = chosen_links(project.config, table)
    if choice:
        return [Weighted(_path(project, single), weight) for single, weight in parts(choice)]
    further = map(Weighted.of, links.also)
    return [Weighted(project.links), *(Weighted(project.folder / str(name), weight) for name, weight in further)]


def link_inputs(project: Project, table: TableSpec) -> tuple[dict[str, Path], list[float], dict[str, Any]]:
    """`table_links` for a stage: its inputs, their weights, and parameters that say these unless all are 1."""
    links = table_links(project, table)
    names = ["links", *(f"links {n}" for n in range(2, len(links) + 1))]
    weights = [weight for _, weight in links]
    inputs = {name: Path(str(path)) for name, (path, _) in zip(names, links, strict=True)}
    return inputs, weights, {"link weights": weights} if set(weights) != {1.0} else {}


def _has_rule_file(project: Project, table: TableSpec) -> bool:
    return not table.links and table.from_trees and bool(project.config.alignment.rule_file)


def _path(project: Project, single: str) -> Path:
    if single == project.config.alignment.heuristic:
        return project.links
    return project.folder / f"alignment/train.{links_name(single)}.align"


def link_stages(project: Project, tables: Iterable[TableSpec]) -> list[Stage]:
    """The stages that make links other than the usual ones for these tables."""
    choices = dict.fromkeys(
        chosen_links(project.config, table) for table in tables if not _has_rule_file(project, table)
    )
    singles = dict.fromkeys(single for choice in choices if choice for single, _ in parts(choice))
    singles.pop(project.config.alignment.heuristic, None)
    stages = [_link_stage(project, single) for single in singles]
    return [_chances_stage(project), *stages] if any(map(is_threshold, singles)) else stages


def _link_stage(project: Project, choice: str) -> Stage:
    links = project.config.alignment
    outputs = {"links": _path(project, choice)}
    if links.file:
        raise ConfigError(
            f"links by {choice} cannot be made from the file of links {links.file}",
            path=project.folder / CONFIG_NAME,
            remedy="name a second file, alignment.rule_file, for rules of trees, or leave alignment.file to the aligner",
        )
    if not is_threshold(choice):

        def join(inputs: Paths, outputs: Paths, work: Path) -> None:
            with atomic_write_binary(outputs["links"]) as file:
                file.write(symmetrize_files(inputs["forward"], inputs["reverse"], choice))

        inputs = {side: project.folder / f"alignment/{side}.align" for side in ("forward", "reverse")}
        return Stage(f"links-{choice}", inputs, outputs, {"heuristic": choice}, join)
    if links.aligner != own.AgreementAligner.name:
        raise ConfigError(
            f"the aligner {links.aligner} has no chances of links, so {choice} says nothing",
            path=project.folder / CONFIG_NAME,
            remedy=f"take the aligner {own.AgreementAligner.name}, or a heuristic: {', '.join(alignment.HEURISTICS)}",
        )

    def select(inputs: Paths, outputs: Paths, work: Path) -> None:
        with atomic_write(outputs["links"]) as file:
            file.writelines(f"{links_above(line, float(choice))}\n" for _, line in read_lines(inputs["chances"]))

    return Stage(
        f"links-{choice}", {"chances": _chances(project)}, outputs, {"threshold": float(choice)}, select, version=2
    )


def _chances(project: Project) -> Path:
    return project.folder / "alignment/train.chances.gz"


def _chances_stage(project: Project) -> Stage:
    """The stage that writes the chances of all links, of which thresholds make links."""

    def write(inputs: Paths, outputs: Paths, work: Path) -> None:
        source, target = ([line for _, line in read_lines(inputs[side])] for side in ("source", "target"))
        chances = own.AgreementAligner(inputs["model"], threads=project.threads).link_chances(source, target)
        with atomic_write(outputs["chances"]) as file:
            file.writelines(f"{line}\n" for line in chances)

    source, target = project.corpus("train")
    inputs = {"source": source, "target": target, "model": project.alignment_model}
    return Stage("link-chances", inputs, {"chances": _chances(project)}, {}, write)


def _trees(corpus: Path, source: list[str], target: list[str]) -> Evidence:
    """The dependency trees of a stored corpus, of the sides that have any."""
    columns = open_corpus(corpus).columns
    sides = (heads_of(trees, lines, corpus) for trees, lines in ((columns.source, source), (columns.target, target)))
    heads = [each if any(any(head >= 0 for head in sentence) for sentence in each) else None for each in sides]
    if heads == [None, None]:
        raise ConfigError(
            "alignment.trees, but no sentence has a dependency tree",
            path=corpus,
            remedy="parse the text for dependencies",
        )
    return Evidence(source_heads=heads[0], target_heads=heads[1])


def alignment_stage(project: Project) -> Stage:
    """The stage that aligns the training text, or takes the links that are given."""
    source, target = project.corpus("train")
    choice = project.config.alignment
    inputs = {"source": source, "target": target}
    if choice.file:
        inputs["links"] = project.folder / choice.file

        def take(inputs: Paths, outputs: Paths, work: Path) -> None:
            with open_binary(inputs["links"]) as given, atomic_write_binary(outputs["links"]) as out:
                shutil.copyfileobj(given, out)

        return Stage("alignment", inputs, {"links": project.links}, {"file": choice.file}, take)

    if choice.trees:
        if not (project.config.uses_trees or project.config.uses_target_trees):
            raise ConfigError(
                "alignment.trees, but there are no trees",
                path=project.folder / CONFIG_NAME,
                remedy="give trees of the training text, or name its parser in [parsers]",
            )
        inputs["corpus"] = project.parsed_corpus("train")

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        source, target = ([line for _, line in read_lines(inputs[side])] for side in ("source", "target"))
        trees: dict[str, Any] = {"evidence": _trees(inputs["corpus"], source, target)} if choice.trees else {}
        shutil.rmtree(work / "model", ignore_errors=True)
        aligner = alignment.train(
            choice.aligner,
            source,
            target,
            work / "model",
            seed=project.config.project.seed,
            threads=project.threads,
            **trees,
        )
        both = aligner.align(source, target)
        for name, lines in (
            ("forward", both.forward),
            ("reverse", both.reverse),
            ("links", both.symmetrized(choice.heuristic)),
        ):
            with atomic_write(outputs[name]) as file:
                file.writelines(f"{line}\n" for line in lines)
        (work / "model").replace(outputs["model"])

    outputs = {
        "links": project.links,
        "forward": project.folder / "alignment/forward.align",
        "reverse": project.folder / "alignment/reverse.align",
        "model": project.alignment_model,
    }
    parameters: dict[str, Any] = {
        "aligner": choice.aligner,
        "heuristic": choice.heuristic,
        "seed": project.config.project.seed,
    }
    if choice.trees:
        parameters["trees"] = True
    formats = {"alignment model": own.FORMAT_VERSION} if choice.aligner == "own" else {}
    return Stage("alignment", inputs, outputs, parameters, run, formats=formats)
