"""The parts of a project's data as the models see them: words of both sides, and trees over exactly these words.

Either side has trees (given in files, or made by a parser) or is text. Trees are read natively, and only their words come to
Python, to get their case and to be cleaned. `prepare` writes ``corpus/PART.LANGUAGE`` and, where there are trees,
``corpus/PART.tgpc``: the one file from which every rule table is extracted and every part is decoded. A pair that
cleaning drops loses its trees too. A tree that is missing is converted from the other one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from treeglot._core import parsed as core
from treeglot.bitext import CleaningReport, TextPair
from treeglot.bitext.cleaning import without_controls
from treeglot.errors import InputError
from treeglot.files import atomic_write, read_lines
from treeglot.parsers.base import BOTH, PLACEHOLDER, TreeKind
from treeglot.parsers.complete import complete
from treeglot.pipeline.config import Cleaning, Corpus, Languages
from treeglot.pipeline.parsing import text_words
from treeglot.pipeline.preparation import TextPipeline, cleaned, judge, read_corpus
from treeglot.progress import track
from treeglot.trees.corpus import CorpusReader, Side, SideFiles, read_trees
from treeglot.trees.stored import write_corpus
from treeglot.trees.treejson import format_json

_SPACE = re.compile(r"\s+")


class TreeSide:
    """The trees of one side of a part, at least of the kinds ``wanted``. Those ``given`` are the user's: text beside them must
    have the same characters."""

    def __init__(
        self,
        files: SideFiles,
        work: Path,
        *,
        side: Side = "source",
        wanted: Collection[TreeKind] = BOTH,
        given: bool = True,
    ) -> None:
        self.files, self.side, self.given, self.wanted = files, side, given, wanted
        self._read(files)
        # What one file does not have, or a sentence of two, is converted; then all is read like any other trees.
        if any(self.trees.first_without(kind == "dependency") is not None for kind in wanted):
            self._read(self._completed(work))

    def __len__(self) -> int:
        return len(self.trees)

    def _read(self, files: SideFiles) -> None:
        reader = CorpusReader(files, head_words=True, surfaces=self.given, side=self.side)
        for _ in reader.read():
            pass
        self.trees = reader.corpus()
        self.surfaces = reader.native.surfaces if self.given else []
        self.lifted, self.new_phrases, self.new_arcs = reader.native.facts()

    def _completed(self, work: Path) -> SideFiles:
        """The same trees in JSON lines, with those that were missing."""
        files = SideFiles(jsonl=work / "completed.jsonl", parses=self.files.parses)
        given = read_trees(self.files.conllu, self.files.penn, self.files.jsonl, self.side)
        with atomic_write(str(files.jsonl)) as file:
            for number, sentence in enumerate(given, start=1):
                sentence = complete(sentence, self.wanted)
                if sentence.dependency is None and sentence.constituency is None:
                    raise InputError(
                        f"sentence {number} has no tree", path=self.files.name, remedy="parse it, or take it away"
                    )
                file.write(format_json(sentence) + "\n")
        return files

    def words(self, n: int) -> list[str]:
        """The words of sentence n as a line of text can hold them."""
        return text_words(self.trees.words(n))

    def check_text(self, n: int, text: str) -> None:
        """Refuse a given tree whose characters are not those of the text."""
        if not self.given:
            return  # A parser of ours has made one tree for each line; it may write quotes and brackets in its own way.
        tree, line = (
            _SPACE.sub("", without_controls(written)).replace("_", "") for written in (self.surfaces[n], text)
        )
        if tree == line or (not line and self.trees.words(n) == [PLACEHOLDER]):
            return
        at = next((j for j, (a, b) in enumerate(zip(tree, line, strict=False)) if a != b), min(len(tree), len(line)))
        raise InputError(
            f"sentence {n + 1}: the tree reads {tree[at : at + 20]!r} where the text has {line[at : at + 20]!r}",
            path=self.files.name,
            line=n + 1,
            remedy="give trees of this text; or leave out the text, then the words are those of the trees",
        )


@dataclass(frozen=True)
class Part:
    """A part of the data: its texts, and the trees of either side, if there are any."""

    corpus: Corpus
    folder: Path
    languages: Languages
    source: TreeSide | None = None
    target: TreeSide | None = None

    def pairs(self) -> Iterator[tuple[list[str] | str, list[str] | str]]:
        """The sides of each pair: the words of its tree, or a line of text. Words of an empty line are none."""
        texts, named = self.texts()
        lengths = [len(side) for side in (self.source, self.target) if side is not None]
        missing = object()
        numbers: Iterable[object] = range(max(lengths)) if lengths else ()
        for n, (number, pair) in enumerate(zip_longest(numbers, texts, fillvalue=missing)):
            if (lengths and number is missing) or pair is missing or n >= min(lengths, default=n + 1):
                self._refuse_lengths(n, named)
            assert isinstance(pair, tuple)
            yield self._side(self.source, n, pair[0]), self._side(self.target, n, pair[1])

    @staticmethod
    def _side(trees: TreeSide | None, n: int, text: str | None) -> list[str] | str:
        if trees is None:
            assert text is not None
            return text
        if text is not None:
            trees.check_text(n, text)
            if not text.strip() and trees.trees.words(n) == [PLACEHOLDER]:
                return []
        return trees.words(n)

    def texts(self) -> tuple[Iterator[tuple[str | None, str | None]], Path | None]:
        """The texts that there are, and the file to name where they end."""
        corpus, folder = self.corpus, self.folder
        if corpus.file or (corpus.source and corpus.target):
            pairs = read_corpus(corpus, folder, self.languages)
            return ((pair.source, pair.target) for pair in pairs), folder / (corpus.file or corpus.target)
        if corpus.target:
            return ((None, line) for _, line in read_lines(folder / corpus.target)), folder / corpus.target
        if corpus.source:
            return ((line, None) for _, line in read_lines(folder / corpus.source)), folder / corpus.source
        return ((None, None) for _ in range(max(len(self.source or ()), len(self.target or ())))), None

    def _refuse_lengths(self, number: int, text: Path | None) -> None:
        """The sides or the texts have not the same number of sentences: ``number``, and more."""
        sides = [(side.files.name, len(side)) for side in (self.source, self.target) if side is not None]
        short = next((name for name, length in sides if length <= number), None)
        other = next((name for name, length in sides if length > number), None)
        raise InputError(
            f"ends after {number:,} sentences, but {other or text} goes on",
            path=short or text,
            line=number + 1,
            remedy="give trees and text of the same sentences",
        )


@dataclass
class TreeCounts:
    """What is said about the trees of a side in ``corpus/PART.trees.txt``."""

    sentences: int = 0
    words: int = 0
    lifted: int = 0
    converted: dict[str, int] = field(default_factory=lambda: {"constituency": 0, "dependency": 0})

    def add(self, side: TreeSide, n: int, words: int) -> None:
        self.sentences += 1
        self.words += words
        self.lifted += int(side.lifted[n])
        self.converted["constituency"] += int(side.new_phrases[n])
        self.converted["dependency"] += int(side.new_arcs[n])

    def as_text(self, side: str, origin: str) -> str:
        lines = [f"trees of the {side}: {origin}", f"sentences: {self.sentences:,}", f"words: {self.words:,}"]
        other = {"constituency": "dependencies", "dependency": "constituents"}
        lines += [f"{kind} trees converted from {other[kind]}: {n:,}" for kind, n in self.converted.items() if n]
        lines.append(f"arcs that are lifted to make the trees projective: {self.lifted:,}")
        return "\n".join(lines) + "\n"


def prepare(
    part: Part,
    pipelines: tuple[TextPipeline, TextPipeline],
    outputs: Mapping[str, Path],
    cleaning: Cleaning | None,
    name: str,
) -> tuple[CleaningReport | None, tuple[TreeCounts, TreeCounts]]:
    """Write the words of each pair to ``source`` and ``target`` and, if it is named, words and trees to ``corpus``; with
    ``cleaning``, leave out what it says (training text only), from all of them alike."""

    def words(side: list[str] | str, number: int, which: int) -> str:
        if isinstance(side, str):
            return " ".join(pipelines[which].words(side))
        trees = (part.source, part.target)[which]
        if not side and cleaning is None and trees is not None:
            side = trees.words(number - 1)  # the placeholder of an empty line, which has a tree
        return " ".join(pipelines[which].cased(side))

    def worded() -> Iterator[TextPair]:
        for number, (source, target) in enumerate(track(part.pairs(), f"preparing {name}"), start=1):
            yield TextPair(words(source, number, 0), words(target, number, 1), line=number)

    kept: Iterator[TextPair] = worded()
    report: CleaningReport | None = None
    if cleaning is not None:
        kept, report = cleaned(kept, cleaning)
    bitext = core.ParsedBitext() if "corpus" in outputs else None
    counts = TreeCounts(), TreeCounts()
    with ExitStack() as stack:
        source_file, target_file = (stack.enter_context(atomic_write(outputs[key])) for key in ("source", "target"))
        for pair in kept:
            source_file.write(pair.source + "\n")
            target_file.write(pair.target + "\n")
            if bitext is None:
                continue
            n = pair.line - 1
            sides = pair.source.split(" "), pair.target.split(" ") if pair.target else []
            for side, count, tokens in zip((part.source, part.target), counts, sides, strict=True):
                if side is not None:
                    count.add(side, n, len(tokens))
            source_trees, target_trees = (side.trees if side else None for side in (part.source, part.target))
            try:
                bitext.take(source_trees, n, sides[0], target_trees, n, sides[1], pair.line)
            except ValueError as error:
                raise InputError(f"sentence pair {pair.line}: {error}", remedy="please report this") from None
        if cleaning is not None and report is not None:
            judge(report, cleaning, pipelines, name)
    if bitext is not None:
        write_corpus(bitext, outputs["corpus"])
    return report, counts
