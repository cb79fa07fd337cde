"""Phrase pairs from aligned trees in a project: the sets CON and DEP of ``[phrases]`` (spec: phrases and subtrees, section 5).

A set needs trees of the training text on both sides (``con_source``, ``con_target``, ``dep_source``, ``dep_target``). They may
cover more sentences than cleaning left, in the same order: a pair of trees belongs to the next prepared pair with the same
words, whatever their case; a blank inside a word is an underscore in the text. The trees are aligned by the lexical aligner
with word tables counted from the project's own links, and the spans under linked nodes go to the phrase table besides those
of the word alignment (STR), or instead of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.alignment import LexicalTables
from treeglot.alignment.subtrees.lexical import USUAL_LEAST, LexicalTreeAligner, TreeKind, with_tree
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.bitext.cleaning import without_controls
from treeglot.errors import ConfigError, InputError
from treeglot.files import read_lines
from treeglot.grammars.subtree_phrases import write_spans
from treeglot.pipeline.stages import Paths, Stage
from treeglot.progress import track
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.formats import read_sentences
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.words import split_words

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

KINDS: dict[str, TreeKind] = {"CON": "constituency", "DEP": "dependency"}


def span_files(project: Project) -> dict[str, Path]:
    """The sets besides STR that the configuration asks for, and where their spans are."""
    return {name: project.folder / f"rules/{name}.spans" for name in project.config.phrases.sets if name != "STR"}


def span_stages(project: Project) -> list[Stage]:
    """A stage for each set: align the trees, write the spans under linked nodes."""
    return [_span_stage(project, name, path) for name, path in span_files(project).items()]


def _span_stage(project: Project, name: str, out: Path) -> Stage:
    trees = {}
    for side in ("source", "target"):
        key = f"{name.lower()}_{side}"
        given = getattr(project.config.phrases, key)
        if not given:
            raise ConfigError(
                f"phrases.sets has {name}, but phrases.{key} is not given", remedy=f"name trees with {key}"
            )
        trees[side] = project.folder / given
        if not trees[side].is_file():
            raise ConfigError(f"phrases.{key}: no such file", path=trees[side], remedy=f"correct phrases.{key}")
    source, target = project.corpus("train")
    inputs = {"source": source, "target": target, "links": project.links, **{f"{s} trees": p for s, p in trees.items()}}

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        source, target, links = ([line for _, line in read_lines(inputs[key])] for key in ("source", "target", "links"))
        table = WordTable.of(LexicalTables.count(source, target, links, path=inputs["links"]))
        aligner = LexicalTreeAligner(table, least=USUAL_LEAST, threads=project.threads)
        pairs = match_trees(source, target, (inputs["source trees"], inputs["target trees"]), KINDS[name])
        write_spans(track(aligner.align(pairs), f"aligning trees for {name}", len(source)), outputs["spans"])

    return Stage(f"spans-{name}", inputs, {"spans": out}, {"set": name}, run)


def match_trees(
    source: Iterable[str], target: Iterable[str], trees: tuple[Path, Path], kind: TreeKind
) -> Iterator[tuple[ParsedSentence, ParsedSentence]]:
    """The trees of prepared sentence pairs, with the prepared words; trees of pairs that cleaning removed are passed over."""
    stream = zip(read_sentences(trees[0]), read_sentences(trees[1]), strict=False)
    for number, lines in enumerate(zip(source, target, strict=True), start=1):
        words = [split_words(line) for line in lines]
        wanted = [list(map(_comparable, side)) for side in words]
        for pair in stream:
            if all(
                list(map(_comparable, sentence.tokens.forms)) == side
                for sentence, side in zip(pair, wanted, strict=True)
            ):
                yield _reworded(pair[0], words[0], kind), _reworded(pair[1], words[1], kind)
                break
        else:
            raise InputError(
                f"no trees with the words of prepared sentence pair {number:,} ({lines[0][:60]!r}) in the rest of the file",
                path=trees[0],
                remedy="parse the training text as the project tokenises it, in its order",
            )


def _comparable(word: str) -> str:
    """Without regard to case and to what cleaning strips; a blank in a word of a tree (``10 000``) is ``_`` in the text."""
    return "_".join(without_controls(word).lower().split())


def _reworded(sentence: ParsedSentence, words: list[str], kind: TreeKind) -> ParsedSentence:
    tree = with_tree(sentence, kind).constituency
    assert tree is not None
    tokens = Tokens(words)
    return ParsedSentence.of(None, ConstituencyTree(tokens, tree.labels, tree.children))
