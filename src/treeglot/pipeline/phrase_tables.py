"""Phrase tables as stages of a project: one for each way of extraction, shared by all systems that use it.

That of the word links alone is ``tables/phrases.tgpt``, made from the prepared text. The others are learnt from links between
nodes of the trees, too (spec: tree-to-tree, section 3), and read the stored corpus with these links.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot.links import Weighted
from treeglot.pipeline.stages import Paths, Stage
from treeglot.pipeline.subtree_phrases import span_files
from treeglot.pipeline.systems import TableSpec
from treeglot.pipeline.word_links import link_inputs
from treeglot.tables import build_parsed_phrase_table, build_phrase_table
from treeglot.tables import table as phrase_file
from treeglot.trees.stored import open_corpus

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project


def phrase_stage(project: Project, table: TableSpec) -> Stage:
    """The stage that extracts, counts and stores the phrase pairs of ``table``, with their orientations."""
    config = project.config
    source, target = project.corpus("train")
    sets = span_files(project)
    aligned, weights, noted = link_inputs(project, table)
    parameters: dict[str, Any] = {**config.phrases.model_dump(), **table.extraction, **noted}
    if table.uses_node_links:
        inputs = {"corpus": project.parsed_corpus("train"), "nodes": project.node_links}
        parameters["node link threshold"] = config.subtrees.least
    else:
        inputs = {"source": source, "target": target}
    inputs |= {**aligned, **sets}

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        common: dict[str, Any] = {
            "spans": [inputs[name] for name in sets],
            "consistent": "STR" in config.phrases.sets,
            "max_length": config.phrases.max_length,
            "memory": config.limits.memory,
            "threads": project.threads,
            "folder": work,
        }
        links = [Weighted(inputs[name], weight) for name, weight in zip(aligned, weights, strict=True)]
        if table.uses_node_links:
            bitext = open_corpus(inputs["corpus"], links, nodes=inputs["nodes"], node_threshold=config.subtrees.least)
            build_parsed_phrase_table(bitext.columns, outputs["table"], **common, **table.extraction)
        else:
            text = inputs["source"], inputs["target"]
            build_phrase_table(*text, links[0], outputs["table"], also=links[1:], **common)

    # The first table had its name before there were others.
    name = "phrase-table" if table.name == table.grammar else f"phrase-table-{table.name}"
    formats = {"phrase table": phrase_file.FORMAT_VERSION}
    return Stage(name, inputs, {"table": project.phrases(table)}, parameters, run, formats=formats)
