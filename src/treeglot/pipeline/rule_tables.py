"""Rule tables as stages of a project: one for each grammar and way of extraction, shared by all systems that use it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.files import atomic_write, read_lines
from treeglot.pipeline.stages import Paths, Stage
from treeglot.pipeline.systems import TableSpec
from treeglot.progress import track
from treeglot.tables.rules import FORMAT_VERSION, build_rule_table
from treeglot.trees.corpus import parsed_bitext, read_trees
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.trees.wordlinks import read_pharaoh
from treeglot.words import split_words

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project


def rule_stage(project: Project, table: TableSpec) -> Stage:
    """The stage that extracts, counts and stores the rules of ``table``."""
    config = project.config
    source, target = project.corpus("train")
    conllu, penn = project.trees("train")
    inputs = {"target": target, "links": project.links}
    inputs |= {f"links {n}": project.folder / name for n, name in enumerate(config.alignment.also, start=2)}
    if "dependency" in table.needs:
        inputs["conllu"] = conllu
    if "constituency" in table.needs:
        inputs["penn"] = penn
    if not table.needs:
        inputs["source"] = source

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        corpus = parsed_bitext(track(_pairs(inputs), f"reading trees for {table.name}"), binarize=table.binarize)
        report = build_rule_table(
            table.grammar,
            corpus,
            outputs["table"],
            memory=config.limits.memory,
            threads=project.threads,
            folder=work,
            **table.extraction,
        )
        with atomic_write(outputs["report"]) as file:
            json.dump({**report._asdict(), "lifted": corpus.lifted}, file, indent=1)
            file.write("\n")

    path = project.rules(table)
    outputs = {"table": path, "report": path.with_suffix(".json")}
    parameters = {"grammar": table.grammar, **table.extraction}
    return Stage(f"rules-{table.name}", inputs, outputs, parameters, run, formats={"rule table": FORMAT_VERSION})


def _pairs(inputs: Paths) -> Iterator[tuple[ParsedSentence, Sequence[str], Sequence[tuple[int, int]]]]:
    """Source, target and links of each training pair; with several alignments, the whole text once for each."""
    for name, path in inputs.items():
        if not name.startswith("links"):
            continue
        sentences: Iterator[ParsedSentence]
        if "source" in inputs:
            sentences = (ParsedSentence(Tokens(split_words(line))) for _, line in read_lines(inputs["source"]))
        else:
            sentences = read_trees(inputs.get("conllu"), inputs.get("penn"))
        lines = (split_words(line) for _, line in read_lines(inputs["target"]))
        links = ([(link.source, link.target) for link in found.links] for found in read_pharaoh(path))
        yield from zip(sentences, lines, links, strict=True)
