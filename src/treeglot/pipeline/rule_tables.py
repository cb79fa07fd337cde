"""Rule tables as stages of a project: one for each grammar and way of extraction, shared by all systems that use it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot.files import atomic_write
from treeglot.links import Weighted
from treeglot.pipeline.stages import Paths, Stage
from treeglot.pipeline.systems import TableSpec
from treeglot.pipeline.word_links import link_inputs
from treeglot.tables.rules import FORMAT_VERSION, build_rule_table
from treeglot.trees.corpus import SideFiles, read_parsed_bitext
from treeglot.trees.stored import add_links, open_corpus

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

log = logging.getLogger(__name__)


def rule_stage(project: Project, table: TableSpec) -> Stage:
    """The stage that extracts, counts and stores the rules of ``table``."""
    config = project.config
    source, target = project.corpus("train")
    inputs, weights, noted = link_inputs(project, table)
    with_trees = table.needs or table.target_needs
    inputs |= {"corpus": project.parsed_corpus("train")} if with_trees else {"source": source, "target": target}
    parameters: dict[str, Any] = {"grammar": table.grammar, **table.extraction, **noted}
    if table.uses_node_links:
        inputs["nodes"] = project.node_links
        parameters["node link threshold"] = config.subtrees.least

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        paths = [path for name, path in inputs.items() if name.startswith("links")]
        links = [Weighted(path, weight) for path, weight in zip(paths, weights, strict=True)]
        if "corpus" in inputs:
            corpus = open_corpus(
                inputs["corpus"],
                links,
                nodes=inputs.get("nodes"),
                node_threshold=config.subtrees.least,
                binarize=table.binarize,
            )
        else:
            corpus = read_parsed_bitext(SideFiles(text=inputs["source"]), SideFiles(text=inputs["target"]))
            add_links(corpus.columns, links)
        report = build_rule_table(
            table.grammar,
            corpus,
            outputs["table"],
            memory=config.limits.memory,
            threads=project.threads,
            folder=work,
            **table.extraction,
        )
        if report.warning:
            log.warning("%s: %s", table.name, report.warning)
        with atomic_write(outputs["report"]) as file:
            json.dump(report._asdict(), file, indent=1)
            file.write("\n")

    path = project.rules(table)
    outputs = {"table": path, "report": path.with_suffix(".json")}
    return Stage(f"rules-{table.name}", inputs, outputs, parameters, run, formats={"rule table": FORMAT_VERSION})
