"""Sub-tree aligners without a treebank that is linked by hand: node links derived from hand-made word links (trees links-from-words).

    python bench/aligners_from_words.py --data DIR --trees FOLDER [--set nist02 ...]

DIR (default: the environment variable TREEGLOT_DATA) has ``words/`` and ``mt/``. FOLDER keeps the trees of both sides,
``SET.source.penn`` and ``SET.target.penn``: what is not there is parsed by CoreNLP (`treeglot parsers install corenlp`). A part of every
set is trained on, the rest is only scored. Prints precision, recall and F1 of links between internal nodes for

- the lexical aligner, whose word tables come from parallel text of the pair;
- models: plain features, a tree kernel with them, and everything that `treeglot trees train-aligner` has;
- models of universal labels that were trained on *other* pairs of languages, with the word tables of this one: how far they carry.

The word tables are learnt from the set's own text, too, without its links.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from alignment_sets import SETS

from treeglot.alignment.subtrees.from_words import links_from_words
from treeglot.alignment.subtrees.lexical import LexicalTreeAligner
from treeglot.alignment.subtrees.training import learn_words, train_aligner
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.evaluation.subtrees import GoldNodes, score_node_links
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.penn import read_penn
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import Tokens

LANGUAGES = {"nist02": ("zh", "en"), "hansards": ("en", "fr"), "pud-en-zh": ("en", "zh"), "pud-en-fr": ("en", "fr")}
TRAINING = {"nist02": 100, "hansards": 100, "pud-en-zh": 100, "pud-en-fr": 100}
UNIVERSAL_TERMS = ("plain", "dBTK-Root", "iBTK-RdSST/tags")


@dataclass
class Task:
    """A set of pairs with derived links, and parallel text."""

    name: str
    train: list[AlignedPair]
    test: list[AlignedPair]
    text: tuple[Sequence[str], Sequence[str]]


def parsed(lines: Sequence[str], language: str, path: Path) -> list[ParsedSentence]:
    """The trees of these lines, over their words (the parser may have seen them with capitals)."""
    if not path.exists():
        text = path.with_suffix(".txt")
        text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "treeglot",
            "-q",
            "parse",
            str(text),
            "--lang",
            language,
            "--parser",
            "corenlp",
        ]
        subprocess.run([*command, "--tokenized", "--conllu", str(text) + ".conllu", "--penn", str(path)], check=True)
    result = []
    for line, sentence in zip(lines, read_penn(path), strict=True):
        assert sentence.constituency is not None
        tree = sentence.constituency
        tokens = Tokens(line.split(), xpos=tree.tokens.tags)
        result.append(ParsedSentence.of(constituency=ConstituencyTree(tokens, tree.labels, tree.children)))
    return result


def load(name: str, data: Path, trees: Path, text: int) -> Task:
    source, target, gold = SETS[name](data)
    size = len(gold)
    sides = [
        parsed(lines[:size], language, trees / f"{name}.{side}.penn")
        for lines, language, side in zip((source, target), LANGUAGES[name], ("source", "target"), strict=True)
    ]
    pairs = []
    for n, links in enumerate(gold):
        sure = {tuple(link) for link in links["sure"]}
        possible = dict.fromkeys(tuple(link) for link in links["possible"])  # PUD has some of them twice
        words = [Link(*link, "good" if link in sure else "fuzzy") for link in possible]
        pair = AlignedPair(sides[0][n], sides[1][n], words, (), str(n + 1))
        pairs.append(AlignedPair(pair.source, pair.target, words, links_from_words(pair), pair.id))
    cut = TRAINING[name]
    return Task(name, pairs[:cut], pairs[cut:], (source[size : size + text], target[size : size + text]))


def scored(task: Task, answers: Sequence[Sequence[Link]]) -> str:
    kinds = [
        GoldNodes(*([link[:2] for link in pair.node_links if link.kind == kind] for kind in ("good", "fuzzy")))
        for pair in task.test
    ]
    links = [[link[:2] for link in answer if min(link[:2]) >= 0] for answer in answers]
    cells = []
    for fuzzy in (False, True):
        score = score_node_links(links, kinds, fuzzy=fuzzy, internal=True)
        cells.append(f"{100 * score.precision:.1f} {100 * score.recall:.1f} **{100 * score.f1:.1f}**")
    return " | ".join(cells)


def unlinked(task: Task) -> list[AlignedPair]:
    return [AlignedPair(pair.source, pair.target, (), (), pair.id) for pair in task.test]


def lexical(task: Task) -> str:
    words = [
        [" ".join(getattr(pair, side).tokens.forms) for pair in (*task.train, *task.test)]
        for side in ("source", "target")
    ]
    table = WordTable.train(*([*own, *text] for own, text in zip(words, task.text, strict=True)))
    aligner = LexicalTreeAligner(table, words=False)
    sides = [(pair.source, pair.target) for pair in task.test]
    return scored(task, [pair.node_links for pair in aligner.align(sides)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("TREEGLOT_DATA"))
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--set", action="append", choices=list(LANGUAGES))
    parser.add_argument("--text", type=int, default=20_000, help="pairs of parallel text for the word tables")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set TREEGLOT_DATA")
    options.trees.mkdir(parents=True, exist_ok=True)
    tasks = [load(name, Path(options.data), options.trees, options.text) for name in options.set or LANGUAGES]
    print("| set | aligner | good links: P R F1 | good + fuzzy | CPU s |\n| --- | --- | --- | --- | ---: |")
    learnt = {}

    def row(task: Task, name: str, cells: str, start: float) -> None:
        print(f"| {task.name} | {name} | {cells} | {time.process_time() - start:.0f} |", flush=True)

    for task in tasks:
        good = sum(link.kind == "good" for pair in task.test for link in pair.node_links)
        phrases = sum(len(pair.source.constituency or ()) for pair in task.test)
        print(f"| {task.name} | {len(task.test)} test pairs, {good} good links, {phrases} source phrases | | | |")
        start = time.process_time()
        row(task, "lexical", lexical(task), start)
        words = learn_words([*task.train, *unlinked(task)], task.text)
        for name, settings in (
            ("plain features", {"terms": ("plain",), "features": "paper", "passes": 1, "trees": False}),
            ("plain + dBTK-Root", {"terms": ("plain", "dBTK-Root"), "features": "paper", "passes": 1, "trees": False}),
            ("whole model", {}),
            ("whole model, universal labels", {"universal": True, "terms": UNIVERSAL_TERMS}),
        ):
            start = time.process_time()
            model = train_aligner(task.train, words=words, seed=options.seed, **settings)  # type: ignore[arg-type]
            row(task, name, scored(task, model.links(unlinked(task))), start)
        learnt[task.name] = model, words
    for task in tasks:
        for name, (model, _) in learnt.items():
            if set(LANGUAGES[name]) == set(LANGUAGES[task.name]):
                continue
            start = time.process_time()
            moved = replace(model, words=learnt[task.name][1])
            row(task, f"trained on {name}", scored(task, moved.links(unlinked(task))), start)


if __name__ == "__main__":
    main()
