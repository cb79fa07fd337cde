"""Links between the nodes of a project's trees: the stage of ``[subtrees]`` (spec: tree-to-tree, section 3; paper `tree-kernels`).

It reads the stored corpus and writes ``alignment/train.nodes``, a line for each prepared pair, with confidences. The lexical aligner
takes its word tables from the project's own word links; a model of ``treeglot trees train-aligner`` brings its own knowledge of words.
Pairs are aligned in blocks that survive an interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot._core.parsed import ParsedSentences
from treeglot.alignment import LexicalTables
from treeglot.alignment.subtrees.lexical import USUAL_LEAST, LexicalTreeAligner
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.errors import InputError
from treeglot.files import atomic_write, read_lines
from treeglot.pipeline.stages import Paths, Stage
from treeglot.progress import track
from treeglot.trees.nodelinks import all_links, format_node_links, with_links
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.stored import open_corpus, stored_sentence

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

BLOCK = 500
"""Pairs that are aligned, and kept, together."""

Align = Callable[[list[AlignedPair]], Iterable[AlignedPair]]


def node_link_stage(project: Project) -> Stage:
    """Align the trees of the training text."""
    choice = project.config.subtrees
    source, target = project.corpus("train")
    inputs = {
        "corpus": project.parsed_corpus("train"),
        "source": source,
        "target": target,
        "links": project.links,
    }
    if choice.model:
        inputs["model"] = project.folder / choice.model

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        align = _aligner(project, inputs)
        bitext = open_corpus(inputs["corpus"], [inputs["links"]]).columns
        starts = range(0, len(bitext), BLOCK)
        for start in track(starts, f"aligning trees (blocks of {BLOCK})", len(starts)):
            block = work / f"{start:09}.nodes"
            if block.exists():
                continue
            pairs = [
                AlignedPair(
                    stored_sentence(bitext.source, n),
                    stored_sentence(bitext.target, n),
                    [Link(*link) for link in bitext.links(n)],
                )
                for n in range(start, min(start + BLOCK, len(bitext)))
            ]
            with atomic_write(block) as file:
                file.writelines(line + "\n" for line in _lines(pairs, align))
        with atomic_write(outputs["nodes"]) as file:
            for start in starts:
                file.writelines(line + "\n" for _, line in read_lines(work / f"{start:09}.nodes"))

    parameters = {"method": "" if choice.model else choice.method}
    return Stage("subtrees", inputs, {"nodes": project.node_links}, parameters, run)


def linked_pairs(project: Project) -> Iterator[AlignedPair]:
    """The trees of the training text with the links of this stage; word links are the aligner's own, or the project's."""
    for path in (project.parsed_corpus("train"), project.links, project.node_links):
        if not path.exists():
            remedy = "run `treeglot train` for a system with DirC or EWoS, such as stssg-ewos"
            raise InputError("the project has no links of nodes yet", path=path, remedy=remedy)
    bitext = open_corpus(project.parsed_corpus("train"), [project.links]).columns
    trees = (AlignedPair(_constituents(bitext.source, n), _constituents(bitext.target, n)) for n in range(len(bitext)))
    for n, pair in enumerate(with_links(trees, project.node_links)):
        if pair.word_links:
            yield pair
        else:
            yield AlignedPair(pair.source, pair.target, [Link(*link) for link in bitext.links(n)], pair.node_links)


def _constituents(sentences: ParsedSentences, n: int) -> ParsedSentence:
    """A stored sentence with the tree that links of nodes belong to."""
    sentence = stored_sentence(sentences, n)
    return ParsedSentence(sentence.tokens, None, sentence.constituency)


def _aligner(project: Project, inputs: Paths) -> Align:
    if "model" in inputs:
        from treeglot.alignment.subtrees.model import load_model

        model = load_model(inputs["model"], threads=project.threads)
        return lambda pairs: model.align(pairs, threads=project.threads)
    source, target, links = ([line for _, line in read_lines(inputs[key])] for key in ("source", "target", "links"))
    table = WordTable.of(LexicalTables.count(source, target, links, path=inputs["links"]))
    method = project.config.subtrees.method
    lexical = LexicalTreeAligner(table, method=method, least=USUAL_LEAST, threads=project.threads)
    return lambda pairs: lexical.align((pair.source, pair.target) for pair in pairs)


def _lines(pairs: list[AlignedPair], align: Align) -> Iterator[str]:
    """A line of links for each pair; one without two trees has none."""
    has_trees = [bool(pair.source.constituency and pair.target.constituency) for pair in pairs]
    aligned = iter(align([pair for pair, both in zip(pairs, has_trees, strict=True) if both]))
    for both in has_trees:
        yield format_node_links(all_links(next(aligned))) if both else ""
