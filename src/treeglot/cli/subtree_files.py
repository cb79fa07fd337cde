"""What the commands of ``treeglot trees`` that align share: reading pairs of trees, and writing aligned ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from treeglot.alignment.sentences import align_sentences, read_beads
from treeglot.errors import InputError, TreeglotError
from treeglot.progress import say
from treeglot.trees.formats import (
    FORMATS,
    Kind,
    check_format,
    guess_format,
    in_step,
    open_items,
    read_pairs,
    read_sentences,
)
from treeglot.trees.nodelinks import write_node_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.treealigner import Dialect, write_aligned_pairs
from treeglot.trees.treejson import write_jsonl

OUTPUTS = {"jsonl": (".jsonl", ".json"), "treealigner": (".sta.xml", ".sta", ".xml"), "nodes": (".nodes",)}
"""What `trees align` can write, and the endings by which it is known."""

AUTO = "auto"
"""Instead of a file of sentence links: find them."""

Sides = tuple[ParsedSentence, ParsedSentence]


Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="TreeAligner XML: leave out links that are given twice or end nowhere, and say so."),
]
Anywhere = Annotated[
    bool, typer.Option("--anywhere", help="TreeAligner XML: it may name treebanks outside of its own folder.")
]
SourceBank = Annotated[
    Path | None, typer.Option("--source", help="TreeAligner XML: the source treebank, not the file that it names.")
]
TargetBank = Annotated[Path | None, typer.Option("--target", help="TreeAligner XML: the target treebank, likewise.")]


class TreeAlignerFiles(NamedTuple):
    """How TreeAligner XML is to be read."""

    source: Path | None = None
    target: Path | None = None
    lenient: bool = False
    anywhere: bool = False

    def read(self, path: Path, format: str) -> Iterator[AlignedPair]:
        """Stream aligned pairs; says in the end how many links were left out."""
        problems: list[str] = []
        named = {"source": self.source, "target": self.target}
        yield from read_pairs(path, format, strict=not self.lenient, anywhere=self.anywhere, problems=problems, **named)
        report_problems(path, problems)

    def open(self, path: Path, format: str) -> tuple[Kind, Iterator[Any]]:
        """What a file holds, and its items (`treeglot.trees.formats.open_items`)."""
        if FORMATS[format].kind == "pairs":
            return "pairs", self.read(path, format)
        if self.source is not None or self.target is not None:
            raise TreeglotError("has its own trees", path=path, remedy="leave out --source and --target")
        return open_items(path, format)


NO_FILES = TreeAlignerFiles()


def report_problems(path: Path | str, problems: Sequence[str]) -> None:
    """Say which links were left out."""
    if problems:
        say(f"treeglot: {path}: {len(problems):,} links left out; {problems[0]}")


def check_not_empty(path: Path) -> None:
    """An empty file has no format to guess; this says so instead of blaming something else."""
    if path.is_file() and not path.stat().st_size:
        raise InputError("the file is empty", path=path, line=1, remedy="copy or make the file again")


class TreePairs:
    """The sentence pairs of the input, read anew by every loop."""

    def __init__(
        self,
        source: Path,
        target: Path | None,
        source_format: str | None,
        target_format: str | None,
        *,
        files: TreeAlignerFiles = NO_FILES,
        sentences: str | None = None,
        threads: int = 0,
    ) -> None:
        for path in (source, *([target] if target is not None else [])):
            check_not_empty(path)
        self.source, self.target = source, target
        self.format = check_format(source_format) if source_format else guess_format(source, reading=True)
        kind, items = files.open(source, self.format)
        self.is_pairs = kind == "pairs"
        self.opened = None if source.is_file() else items  # a pipe cannot be opened again
        if target is None and not self.is_pairs:
            raise TreeglotError(
                "no trees to align with", path=source, remedy="give the target's trees as a second file"
            )
        if target is not None and self.is_pairs:
            raise TreeglotError("holds both sides already", path=source, remedy="give it alone, or two files of trees")
        self.target_format = ""
        if target is not None:
            self.target_format = check_format(target_format) if target_format else guess_format(target, reading=True)
        self.files, self.sentences, self.threads = files, sentences, threads
        if sentences is not None:
            if target is None:
                remedy = "leave out --sentences, or give two files of trees"
                raise TreeglotError("says itself which sentences are pairs", path=source, remedy=remedy)
            if sentences != AUTO:
                check_not_empty(Path(sentences))
        self.ids: list[str] = []
        self.word_links = 0
        self.kept: list[AlignedPair | Sides] | None = None

    def read_twice(self) -> None:
        """Get ready for two loops: what a pipe holds can be read once only and is kept in memory."""
        if self.sentences or not all(path.is_file() for path in (self.source, self.target) if path is not None):
            self.kept = list(self._read())

    def __iter__(self) -> Iterator[Sides]:
        for item in self.with_word_links():
            yield (item.source, item.target) if isinstance(item, AlignedPair) else item

    def with_word_links(self) -> Iterator[AlignedPair | Sides]:
        """Pairs of an aligned file with their links, else two sentences."""
        self.ids = []
        self.word_links = 0
        for number, item in enumerate(self._read() if self.kept is None else self.kept, start=1):
            if isinstance(item, AlignedPair):
                self.ids.append(item.id)
                self.word_links += len(item.word_links)
            else:
                self.ids.append(item[0].id or str(number))
            yield item
        if not self.ids:
            raise InputError("no sentence pairs", path=self.source, line=1, remedy="give trees to align")

    def _read(self) -> Iterator[AlignedPair | Sides]:
        items, self.opened = self.opened, None
        if items is None:
            items = self.files.open(self.source, self.format)[1]
        if self.target is None:
            yield from items
            return
        if self.sentences is not None:
            sides = items, read_sentences(self.target, self.target_format)
            yield from sentence_pairs(list(sides[0]), list(sides[1]), self.sentences, threads=self.threads)
            return
        more = f", or let sentences be aligned: --sentences {AUTO}"
        yield from in_step(
            (self.source, items),
            (self.target, read_sentences(self.target, self.target_format)),
            remedy=f"give the two sides of the same sentence pairs{more}",
        )

    def restore_ids(self, aligned: Iterable[AlignedPair]) -> Iterator[AlignedPair]:
        """The pairs with the names that they have in the input."""
        for number, pair in enumerate(aligned):
            yield AlignedPair(pair.source, pair.target, pair.word_links, pair.node_links, self.ids[number])


def sentence_pairs(
    source: Sequence[ParsedSentence], target: Sequence[ParsedSentence], beads: str, *, threads: int = 0
) -> Iterator[AlignedPair]:
    """A pair for every two sentences that a file of beads (or `AUTO`: their lengths and words) joins."""
    sides = [
        [sentence if sentence.id else replace(sentence, id=f"s{n}") for n, sentence in enumerate(side, start=1)]
        for side in (source, target)
    ]
    names = [[given.id for given in side] for side in (source, target)]
    if beads == AUTO:
        forms = [[item.tokens.forms for item in side] for side in sides]
        groups = align_sentences(forms[0], forms[1], threads=threads)
    else:
        groups = read_beads(beads, *names)
    alone = [
        len(side) - len({n for bead in groups if bead.source and bead.target for n in bead[:2][k]})
        for k, side in enumerate(sides)
    ]
    if any(alone):
        say(f"treeglot: {alone[0]:,} source and {alone[1]:,} target sentences have no counterpart")
    for bead in groups:
        for a in bead.source:
            for b in bead.target:
                left, right = sides[0][a], sides[1][b]
                yield AlignedPair(left, right, id=f"{left.id}-{right.id}")


def tree_sides(source: Path, target: Path) -> Iterator[Sides]:
    """The trees of two files with the same number of sentences."""
    remedy = "give the two sides of the same sentence pairs"
    return in_step((source, read_sentences(source)), (target, read_sentences(target)), remedy=remedy)


class Count:
    """Pairs and links that have passed by."""

    def __init__(self) -> None:
        self.pairs = self.nodes = self.words = 0

    def of(self, pairs: Iterable[AlignedPair]) -> Iterator[AlignedPair]:
        for pair in pairs:
            self.pairs += 1
            self.nodes += len(pair.node_links)
            self.words += len(pair.word_links)
            yield pair


def output_format(out: str, format: str | None) -> str:
    """One of `OUTPUTS`: as asked for, or by the ending of the file."""
    if format is not None:
        if format not in OUTPUTS:
            raise TreeglotError(f"no output format {format!r}", remedy=f"choose {', '.join(OUTPUTS)}")
    else:
        name = out.lower().removesuffix(".gz").removesuffix(".zst")
        format = next((known for known, endings in OUTPUTS.items() if name.endswith(endings)), "jsonl")
    if format == "treealigner" and out == "-":
        raise TreeglotError(
            "TreeAligner XML needs three files", remedy="name one with --out; the others stand beside it"
        )
    return format


def places(out: str, format: str) -> list[str]:
    """The files that `write_aligned` writes: TIGER files beside TreeAligner XML."""
    if format != "treealigner":
        return [out]
    stem = out
    for ending in OUTPUTS["treealigner"]:
        stem = stem.removesuffix(ending)
    return [out, f"{stem}.source.tiger.xml", f"{stem}.target.tiger.xml"]


def write_aligned(pairs: Iterator[AlignedPair], out: str, format: str, dialect: Dialect = "treealigner") -> Count:
    """Write pairs with their links, in a format of `OUTPUTS`; how many there were of what."""
    count = Count()
    if format == "jsonl":
        write_jsonl(count.of(pairs), out)
    elif format == "nodes":
        write_node_links(count.of(pairs), out)
    else:
        write_aligned_pairs(count.of(pairs), *places(out, format), dialect=dialect)
    return count


def is_node_file(path: Path) -> bool:
    """By its name."""
    return str(path).lower().removesuffix(".gz").removesuffix(".zst").endswith(OUTPUTS["nodes"])
