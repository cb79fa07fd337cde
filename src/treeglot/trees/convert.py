"""Converting files of trees and alignments from any format to any other that can hold them.

What a format needs and a file lacks is made: dependencies from constituents by heads, constituents from dependencies by
projected phrase levels, continuous trees from discontinuous ones for Penn brackets. The report says what was made.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "a.penn").write_text("(S (NP (NNS dogs)) (VP (VBP chase) (NP (NNS cats))))")
>>> report = convert(folder / "a.penn", folder / "a.conllu")
>>> report.items, dict(report.conversions)
(1, {'dependency trees by heads (penn)': 1})
>>> (folder / "a.conllu").read_text().splitlines()[0].split("\\t")
['1', 'dogs', '_', '_', 'NNS', '_', '2', 'S|NP|VP', '_', '_']
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from treeglot.errors import InputError, TreeError, TreeglotError
from treeglot.files import check_places, read_lines, type_path
from treeglot.trees.bracketed import to_bracketed, write_bracketed
from treeglot.trees.conllu import write_conllu
from treeglot.trees.cons2dep import to_dependency
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.continuous import attach_punctuation, make_continuous
from treeglot.trees.dep2cons import to_constituency
from treeglot.trees.formats import (
    FORMATS,
    Kind,
    check_format,
    guess_format,
    in_step,
    links_in_step,
    open_items,
    read_sentences,
)
from treeglot.trees.heads import guess_table
from treeglot.trees.penn import read_penn, write_penn
from treeglot.trees.sentence import AlignedPair, ParsedSentence, joined
from treeglot.trees.tiger import write_tiger
from treeglot.trees.tokens import check_same_forms
from treeglot.trees.treealigner import write_aligned_pairs
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.wordlinks import WordLinks, write_giza, write_naacl, write_pharaoh
from treeglot.words import split_words

Side = Literal["source", "target"]
_SAME = "give files with the same sentences in the same order"
Track = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass
class Options:
    """How to convert. ``side``: which side of pairs to write as sentences. ``other``: a second file with the other kind of tree
    of the same sentences. ``source``/``target``: the two texts or tree files that links belong to. ``lenient``: leave out links
    of TreeAligner files that are wrong. ``anywhere``: TreeAligner files may name treebanks outside of their folder. ``drop_empty``: leave out traces. ``pretty``: Penn trees over several lines. ``table``: head table, ``auto`` guesses it from the labels. ``dependencies``: gives
    sentences, with the name of their head table, other dependency trees than those they have or get by heads."""

    side: Side | None = None
    other: type_path | None = None
    source: type_path | None = None
    target: type_path | None = None
    lenient: bool = False
    drop_empty: bool = False
    pretty: bool = False
    table: str = "auto"
    dependencies: Callable[[Iterator[ParsedSentence], str], Iterator[ParsedSentence]] | None = None
    anywhere: bool = False


@dataclass
class Report:
    """How many items were written, how many trees had to be made, and which links were left out."""

    items: int = 0
    conversions: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def convert(
    source: type_path,
    target: type_path,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    options: Options | None = None,
    track: Track = iter,
) -> Report:
    """Convert a file. Formats go by ending unless they are named; ``track`` may wrap the stream to show progress."""
    options = options or Options()
    read_as = check_format(from_format) if from_format else guess_format(source, reading=True)
    report = Report()
    banks: dict[str, Any] = {}
    if read_as == "treealigner":
        banks = {"source": options.source, "target": options.target, "anywhere": options.anywhere}
    kind, items = open_items(source, read_as, strict=not options.lenient, problems=report.problems, **banks)
    write_as = check_format(to_format) if to_format else guess_format(target, pairs=kind != "sentences")
    wanted = FORMATS[write_as].kind
    if write_as == "jsonl":
        wanted = "pairs" if kind == "links" or (kind == "pairs" and options.side is None) else "sentences"
    work = _Conversion(source, read_as, items, target, write_as, options, track, report)
    outputs = [target, *(work.side_files() if wanted == "pairs" else ())]
    check_places(outputs, [source, options.other, options.source, options.target])
    work.run(kind, wanted)
    return work.report


class _Conversion:
    def __init__(
        self,
        source: type_path,
        read_as: str,
        items: Iterator[Any],
        target: type_path,
        write_as: str,
        options: Options,
        track: Track,
        report: Report,
    ) -> None:
        self.source, self.read_as, self.target, self.write_as = source, read_as, target, write_as
        self.items, self.options, self.track, self.report = items, options, track, report

    def run(self, kind: Kind, wanted: Kind) -> None:
        if wanted == "sentences":
            self.write_sentences(self.sentences(kind))
        elif wanted == "pairs":
            self.write_pairs(self.pairs(kind))
        else:
            self.write_links(self.links(kind))

    def count(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in self.track(iter(items)):
            yield item
            self.report.items += 1

    def impossible(self, why: str, remedy: str) -> TreeglotError:
        return TreeglotError(f"{self.read_as} to {self.write_as}: {why}", path=self.source, remedy=remedy)

    # Reading

    def sentences(self, kind: Kind) -> Iterator[ParsedSentence]:
        if kind == "links":
            raise self.impossible("word links have no trees", "convert the tree files themselves")
        if kind == "pairs":
            side = self.options.side
            if side is None:
                raise self.impossible("the file has two sides", "choose one with --side source or --side target")
            return _unique_side(self.pairs(kind), side)
        drop = self.read_as == "penn" and self.options.drop_empty
        items = read_penn(self.source, drop_empty=True) if drop else self.items
        return items if self.options.other is None else self.joined(items, self.options.other)

    def joined(self, items: Iterator[ParsedSentence], other: type_path) -> Iterator[ParsedSentence]:
        """Sentences with the second tree from another file."""
        both = in_step((self.source, items), (other, read_sentences(other)), remedy=_SAME)
        for number, (sentence, partner) in enumerate(both, start=1):
            try:
                check_same_forms(sentence.tokens, partner.tokens, sentence=sentence.id or str(number))
                yield joined(sentence, partner, str(number))
            except TreeError as error:
                raise error.at(other, number) from None

    def pairs(self, kind: Kind) -> Iterator[AlignedPair]:
        if kind == "pairs":
            if self.read_as != "treealigner" and (self.options.source is not None or self.options.target is not None):
                raise TreeglotError("has its own trees", path=self.source, remedy="leave out --source and --target")
            return self.items
        if kind == "sentences":
            raise self.impossible("one side alone is no pair", "give the links, with --source and --target")
        return self.joined_links()

    def joined_links(self) -> Iterator[AlignedPair]:
        if self.options.source is None or self.options.target is None:
            raise self.impossible("the trees are missing", "name both tree files with --source and --target")
        paths = self.options.source, self.options.target
        sides = in_step(*((path, read_sentences(path)) for path in paths), remedy=_SAME)
        both = links_in_step(self.source, self.read_as, (paths[0], sides), links=self.items, remedy=_SAME)
        for number, (entry, (source, target)) in enumerate(both, start=1):
            try:
                yield AlignedPair(source, target, entry.links, id=entry.id or str(number))
            except TreeError as error:
                raise error.at(self.source, number) from None

    def links(self, kind: Kind) -> Iterator[WordLinks]:
        if kind == "sentences":
            raise self.impossible("trees of one language have no links", "give an aligned file")
        if kind == "pairs":
            for number, pair in enumerate(self.pairs(kind), start=1):
                forms = pair.source.tokens.forms, pair.target.tokens.forms
                yield WordLinks(pair.word_links, (), *forms, id=pair.id if self.write_as == "jsonl" else str(number))
            return
        named = [
            (side, path)
            for side, path in (("source", self.options.source), ("target", self.options.target))
            if path is not None
        ]
        if not named:
            entries: Iterator[tuple[WordLinks, tuple[tuple[str, ...], ...]]] = ((entry, ()) for entry in self.items)
        else:
            texts: Iterator[tuple[tuple[str, ...], ...]] = ((words,) for words in _words(named[0][1]))
            if len(named) == 2:
                texts = in_step(*((path, _words(path)) for _, path in named), remedy=_SAME)
            entries = links_in_step(self.source, self.read_as, (named[0][1], texts), links=self.items, remedy=_SAME)
        for number, (entry, lines) in enumerate(entries, start=1):
            for (side, path), line in zip(named, lines, strict=True):
                bad = [link for link in entry.links if getattr(link, side) >= len(line)]
                if bad:
                    raise InputError(
                        f"link {bad[0].source}-{bad[0].target}: the {side} sentence has {len(line)} words",
                        path=self.source,
                        line=number,
                        remedy=f"check that {os.fspath(path)} belongs to these links",
                    )
                entry = entry._replace(source=line) if side == "source" else entry._replace(target=line)
            if self.write_as == "giza" and (entry.source is None or entry.target is None):
                raise self.impossible("GIZA files hold the texts", "name both with --source and --target")
            yield entry

    # Writing

    def write_sentences(self, sentences: Iterator[ParsedSentence]) -> None:
        start = list(islice(sentences, 100))
        trees = [sentence.constituency for sentence in start if sentence.constituency is not None]
        table = self.options.table if self.options.table != "auto" or not trees else guess_table(trees)
        stream: Iterator[ParsedSentence] = chain(start, sentences)
        if self.options.dependencies is not None:
            if self.write_as in ("penn", "tiger"):
                raise self.impossible("the format has no dependencies", "write CoNLL-U, bracketed or JSON lines")
            stream = self.noted(self.options.dependencies(stream, table))
        prepared = (self.prepared(sentence, table) for sentence in self.count(stream))
        if self.write_as == "conllu":
            write_conllu(prepared, self.target)
        elif self.write_as == "penn":
            write_penn(prepared, self.target, pretty=self.options.pretty)
        elif self.write_as == "tiger":
            write_tiger(prepared, self.target)
        elif self.write_as == "bracketed":
            trees_of = (to_bracketed(sentence.dependency) for sentence in prepared if sentence.dependency)
            write_bracketed(trees_of, self.target, full=True)
        else:
            write_jsonl(prepared, self.target)

    def noted(self, sentences: Iterator[ParsedSentence]) -> Iterator[ParsedSentence]:
        for sentence in sentences:
            self.report.conversions[f"dependency trees {dict(sentence.notes).get('dependency', '')}".rstrip()] += 1
            yield sentence

    def prepared(self, sentence: ParsedSentence, table: str) -> ParsedSentence:
        """The sentence with the tree that the format needs."""
        if self.write_as == "jsonl":
            return sentence
        dependency, constituency = sentence.dependency, sentence.constituency
        if self.write_as in ("conllu", "bracketed"):
            if dependency is None and constituency is not None:
                self.report.conversions[f"dependency trees by heads ({table})"] += 1
                return sentence.with_dependency(to_dependency(constituency, table=table, style="content"), "by heads")
            if dependency is None and self.write_as == "bracketed":
                raise self.no_tree(sentence)
            return sentence
        if constituency is None:
            if dependency is None:
                raise self.no_tree(sentence)
            self.report.conversions["constituency trees from dependencies"] += 1
            return sentence.with_constituency(to_constituency(dependency), "converted from dependencies")
        if self.write_as == "penn" and not constituency.is_continuous:
            self.report.conversions["continuous trees from discontinuous ones"] += 1
            return sentence.with_constituency(continuous(constituency, table), "made continuous")
        return sentence

    def no_tree(self, sentence: ParsedSentence) -> TreeglotError:
        name = sentence.id or str(self.report.items + 1)
        return TreeglotError(f"sentence {name} has no tree", path=self.source, remedy="parse it first: treeglot parse")

    def write_pairs(self, pairs: Iterator[AlignedPair]) -> None:
        if self.write_as == "jsonl":
            write_jsonl(self.count(pairs), self.target)
            return
        prepared = (self.with_constituents(pair) for pair in self.count(pairs))
        write_aligned_pairs(prepared, self.target, *self.side_files())

    def side_files(self) -> list[Path]:
        """The TIGER files beside TreeAligner XML."""
        if self.write_as != "treealigner":
            return []
        final = Path(os.fspath(self.target))
        name = final.name.split(".")[0]
        return [final.with_name(f"{name}.{side}.tiger.xml") for side in ("source", "target")]

    def with_constituents(self, pair: AlignedPair) -> AlignedPair:
        if pair.source.constituency is not None and pair.target.constituency is not None:
            return pair
        prepared = [
            sentence if sentence.constituency is not None else self.prepared(sentence, "auto")
            for sentence in (pair.source, pair.target)
        ]
        return AlignedPair(prepared[0], prepared[1], pair.word_links, pair.node_links, pair.id)

    def write_links(self, links: Iterator[WordLinks]) -> None:
        entries = self.count(links)
        if self.write_as == "pharaoh":
            write_pharaoh((entry.links for entry in entries), self.target)
        elif self.write_as == "giza":
            write_giza(entries, self.target)
        else:
            write_naacl(entries, self.target)


def continuous(tree: ConstituencyTree, table: str = "auto") -> ConstituencyTree:
    """A tree without gaps: punctuation goes where it closes gaps, then words are raised (see `treeglot.trees.continuous`)."""
    return make_continuous(attach_punctuation(tree).tree, "raise", table=table).tree


def _unique_side(pairs: Iterable[AlignedPair], side: Side) -> Iterator[ParsedSentence]:
    """The sentences of one side; one that is in several neighbouring pairs (1:n) comes once. In JSON lines it is written anew
    in each of them, and known by its id."""
    previous: ParsedSentence | None = None
    for pair in pairs:
        sentence: ParsedSentence = getattr(pair, side)
        if sentence is not previous and not (sentence.id and sentence == previous):
            yield sentence
        previous = sentence


def _words(path: type_path) -> Iterator[tuple[str, ...]]:
    """The words of each line of a tree file or of plain tokenised text."""
    try:
        format = guess_format(path, reading=True)
    except TreeglotError:
        return (tuple(split_words(line)) for _, line in read_lines(path))
    return (sentence.tokens.forms for sentence in read_sentences(path, format))
