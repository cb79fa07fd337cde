"""Stanford dependencies of constituency trees, by the conversion of CoreNLP: Chinese and English.

In Stanford dependencies prepositions and localisers head their objects, in Universal ones they are leaves below the noun; the papers'
models were learnt from the former. `treeglot parse --dependencies sd` has them from the parser itself; this module is for trees that
are there already. Only the program is needed, no models: one Java process converts thousands of trees.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from treeglot.errors import ParserError, TreeglotError
from treeglot.parsers.base import BackendUnavailable, single_root, with_attached
from treeglot.parsers.complete import complete
from treeglot.parsers.corenlp import home, program_coordinates
from treeglot.scratch import scratch_folder
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.convert import continuous
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.penn import format_penn
from treeglot.trees.sentence import ParsedSentence

CONVERTERS = {
    "ctb": "edu.stanford.nlp.trees.international.pennchinese.ChineseGrammaticalStructure",
    "penn": "edu.stanford.nlp.trees.EnglishGrammaticalStructure",
}
"""CoreNLP's programs by the labels of the trees (`treeglot.trees.heads.guess_table`)."""

NOTE = "converted to Stanford dependencies"

BATCH = 10_000
"""Trees for one Java process."""


def with_stanford_dependencies(
    sentences: Iterable[ParsedSentence], table: str, *, java: str | None = None
) -> Iterator[ParsedSentence]:
    """The sentences with Stanford dependencies of their constituents in place of what dependencies they had."""
    if table not in CONVERTERS:
        raise ParserError(
            f"there are no Stanford dependencies of trees with the labels of {table!r}",
            remedy=f"give Chinese or English trees; if they are, say so: --heads {' or --heads '.join(CONVERTERS)}",
        )
    program = shutil.which(java or os.environ.get("TREEGLOT_JAVA") or "java")
    if program is None:
        raise BackendUnavailable("there is no Java here", remedy="install a Java runtime (8 or newer)")
    jar = home() / program_coordinates().file_name
    if not jar.is_file():
        raise BackendUnavailable(
            "CoreNLP is not installed", path=jar, remedy="run: treeglot parsers install corenlp --lang en"
        )
    stream = iter(sentences)
    while batch := list(islice(stream, BATCH)):
        yield from _convert(batch, [program, "-Dfile.encoding=UTF-8", "-cp", str(jar), CONVERTERS[table]])


def _convert(batch: list[ParsedSentence], command: list[str]) -> Iterator[ParsedSentence]:
    with scratch_folder("stanford") as folder:
        trees, arcs = Path(folder, "trees"), Path(folder, "arcs")
        with trees.open("w", encoding="utf-8") as file:
            for number, sentence in enumerate(batch, start=1):
                if sentence.constituency is None:
                    raise ParserError(
                        f"sentence {sentence.id or number} has no constituency tree", remedy="parse it first"
                    )
                file.write(f"(ROOT {format_penn(_plain(sentence.constituency))})\n")
        options = ["-treeFile", str(trees), "-encoding", "utf-8", "-basic", "-conllx", "-keepPunct"]
        with arcs.open("wb") as output:
            done = subprocess.run([*command, *options], stdout=output, stderr=subprocess.PIPE, check=False)
        sizes = [len(sentence) for sentence in batch]
        blocks = _read_arcs(arcs)
        if done.returncode != 0 or [len(block) for block in blocks] != sizes:
            why = " ".join(done.stderr.decode("utf-8", "replace").split()[-25:])
            raise ParserError(
                f"CoreNLP's conversion gave {len(blocks):,} trees of {len(batch):,}, or other words: {why}",
                remedy="look for a damaged tree, or leave the traces out: --drop-empty",
            )
    for sentence, block in zip(batch, blocks, strict=True):
        yield _joined(sentence, block)


def _plain(tree: ConstituencyTree) -> ConstituencyTree:
    return tree if tree.is_continuous else continuous(tree)


def _read_arcs(path: Path) -> list[list[tuple[int, str]]]:
    """Head and relation of every word of every tree, from CoNLL-X."""
    blocks: list[list[tuple[int, str]]] = [[]]
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line:
            if blocks[-1]:
                blocks.append([])
            continue
        columns = line.split("\t")
        blocks[-1].append((int(columns[6]) - 1, columns[7]))
    return blocks[:-1] if not blocks[-1] else blocks


def _joined(sentence: ParsedSentence, arcs: list[tuple[int, str]]) -> ParsedSentence:
    heads, deprels = [head if head >= 0 else ROOT for head, _ in arcs], [label for _, label in arcs]
    try:
        fixed_heads, fixed_labels, attached = single_root(heads, deprels)
        tree = DependencyTree(sentence.tokens, fixed_heads, fixed_labels)
    except TreeglotError:  # now and then a cycle without a root
        return complete(replace(sentence, dependency=None), {"dependency"})
    return with_attached(sentence.with_dependency(tree, NOTE), attached)
