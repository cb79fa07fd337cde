"""Parsed sentences as native columns: what rules are extracted from and what the tree decoder translates.

Trees come as tree-based models need them (spec: notation): dependency trees are made projective, constituency trees
continuous and, on request, binarised. A sentence may lack either tree; what a grammar needs is checked where it is used.

Files are read natively, and no tree of theirs becomes a Python object: `read_parsed_bitext` takes CoNLL-U and Penn files,
JSON lines or plain text of both sides, word links and links of nodes (`treeglot.trees.stored` keeps what it gives in a file).

>>> from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
>>> tokens = Tokens(["Dogs", "bark"], xpos=["NNS", "VBP"])
>>> sentence = ParsedSentence.of(
...     DependencyTree(tokens, [1, -1], ["nsubj", "root"]), ConstituencyTree.build(tokens, ("S", ("NP", 0), ("VP", 1))))
>>> corpus = parsed_corpus([sentence], casing=str.lower)
>>> len(corpus), corpus.lifted
(1, 0)
>>> corpus.columns.sentence(0)
(('dogs', 'bark'), ('NNS', 'VBP'), (1, -1), (('S', 0, 2, -1), ('NP', 0, 1, 0), ('VP', 1, 2, 0)), ('nsubj', 'root'))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Literal, NamedTuple

from treeglot._core import parsed as core
from treeglot.errors import ConfigError, InputError, TreeError
from treeglot.files import open_binary, type_path
from treeglot.progress import track
from treeglot.trees.binarize import binarize as binarize_tree
from treeglot.trees.conllu import read_conllu
from treeglot.trees.continuous import make_continuous
from treeglot.trees.headtables import TABLE_NAMES, Step, head_table
from treeglot.trees.penn import read_penn, read_penn_lines
from treeglot.trees.projectivity import lifted, projectivize
from treeglot.trees.sentence import ParsedSentence, joined
from treeglot.trees.treejson import read_jsonl

Binarize = Literal["none", "left", "right", "head"]
Casing = Callable[[str], str]
Side = Literal["source", "target"]
Phrase = tuple[str, int, int, int]
Columns = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[Phrase], Sequence[str]]

_CHUNK = 1 << 20
_STREAMS = (
    "source conllu",
    "source penn",
    "source text",
    "source jsonl",
    "target conllu",
    "target penn",
    "target text",
    "target jsonl",
    "links",
    "nodes",
)


class Parses(NamedTuple):
    """Further dependency trees of sentences that have one already: CoNLL-U with the same words, and what they weigh against the
    first trees, which weigh 1. Tags are those of the first trees; a sentence without a tree adds none.

    >>> Parses.of("other.conllu:0.25"), Parses.of("other.conllu")
    (Parses(conllu='other.conllu', weight=0.25), Parses(conllu='other.conllu', weight=1.0))
    """

    conllu: type_path
    weight: float = 1.0

    @staticmethod
    def of(text: str) -> Parses:
        """From ``FILE`` or ``FILE:WEIGHT``."""
        name, colon, number = text.rpartition(":")
        try:
            weight = float(number)
        except ValueError:
            return Parses(text)
        if not colon or not name:
            return Parses(text)
        if not 0 < weight < float("inf"):
            raise ConfigError(
                f"{text}: a weight that is not above 0", remedy="write FILE:WEIGHT, such as more.conllu:0.5"
            )
        return Parses(name, weight)


class SideFiles(NamedTuple):
    """The files of one side: trees (dependencies, constituents or both, sentence by sentence), JSON lines of trees
    (`treeglot.trees.treejson`; of pairs the sentences of this side are read), or tokenised text. Trees may have further
    dependency trees beside them, of the source."""

    conllu: type_path | None = None
    penn: type_path | None = None
    text: type_path | None = None
    jsonl: type_path | None = None
    parses: tuple[Parses, ...] = ()

    @property
    def name(self) -> str:
        """The file to name when there is something to say about the sentences."""
        return os.fspath(self.conllu or self.penn or self.jsonl or self.text or "")

    @property
    def has_trees(self) -> bool:
        """Whether there are trees, and not text."""
        return bool(self.conllu or self.penn or self.jsonl)

    def check(self, side: str) -> None:
        """Refuse files that do not make a side: none, or those that exclude each other."""
        if self.jsonl and (self.conllu or self.penn):
            raise ConfigError(
                f"JSON lines and other trees of the {side}", remedy="JSON lines hold both trees: give one or the other"
            )
        if not self.has_trees and not self.text:
            raise ConfigError(
                f"no {side}", remedy="give a CoNLL-U file, a Penn file, both, JSON lines of trees, or a text"
            )
        if self.has_trees and self.text:
            raise ConfigError(
                f"trees and text of the {side}", remedy="the words of the trees are the text: leave it out"
            )
        if self.parses and not self.has_trees:
            raise ConfigError(
                f"further trees of the {side}, but no first ones", remedy="give a CoNLL-U file beside them"
            )


@dataclass
class ParsedCorpus:
    """Parsed sentences; ``lifted`` arcs were moved to make their trees projective."""

    columns: core.ParsedSentences = field(default_factory=core.ParsedCorpus)
    lifted: int = 0

    def __len__(self) -> int:
        return len(self.columns)

    def words(self, n: int) -> list[str]:
        """The words of sentence n."""
        return self.columns.words(n)


@dataclass
class ParsedBitext:
    """Sentence pairs, either side with or without trees, and their links; ``lifted`` arcs of the source, as in `ParsedCorpus`.

    With several alignments every pair is there once for each; ``len`` counts them all.
    """

    columns: core.ParsedBitext = field(default_factory=core.ParsedBitext)
    lifted: int = 0

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def source(self) -> ParsedCorpus:
        """The source side."""
        return ParsedCorpus(self.columns.source, self.lifted)


# From sentences in memory


def parsed_corpus(
    sentences: Iterable[ParsedSentence], *, casing: Casing | None = None, binarize: Binarize = "none"
) -> ParsedCorpus:
    """Sentences as columns. ``casing`` is applied to every word, ``binarize`` to every constituency tree."""
    columns = core.ParsedCorpus()
    moved = 0
    for sentence in sentences:
        added, arcs, _ = _columns(sentence, casing, binarize)
        columns.add(*added)
        moved += arcs
    return ParsedCorpus(columns, moved)


def parsed_bitext(
    pairs: Iterable[
        tuple[ParsedSentence, Sequence[str] | ParsedSentence, Sequence[tuple[int, int]]]
        | tuple[ParsedSentence, Sequence[str] | ParsedSentence, Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
    ],
    *,
    casing: Casing | None = None,
    binarize: Binarize = "none",
) -> ParsedBitext:
    """Sentences with their targets (words, or a parsed sentence), word links and, if there are any, node links: numbers of
    source and target, phrase n of the tree as n and word j as ~j. Trees of the target are not binarised."""
    corpus = ParsedBitext()
    for number, (sentence, target, links, *nodes) in enumerate(pairs, start=1):
        columns, moved, phrases = _columns(sentence, casing, binarize)
        if isinstance(target, ParsedSentence):
            target_columns, _, target_phrases = _columns(target, None, "none")
        else:
            target_columns, target_phrases = (target, (), (), (), ()), ()
        try:
            node_links = [
                (_node_number(source_node, columns, phrases), _node_number(target_node, target_columns, target_phrases))
                for source_node, target_node in (nodes[0] if nodes else ())
            ]
            corpus.columns.add(columns, target_columns, links, node_links)
        except ValueError as error:
            raise TreeError(
                f"sentence {sentence.id or number}: {error}",
                remedy="check that trees, target and links belong together",
            ) from None
        corpus.lifted += moved
    return corpus


def _node_number(node: int, columns: Columns, phrases: Sequence[int]) -> int:
    """A phrase n or word ~j of a tree as the core numbers nodes: the words after the phrases.

    ``phrases`` has the numbers that phrases of the tree have in the columns.
    """
    if node < 0:
        return len(columns[3]) + ~node
    if node >= len(phrases):
        raise ValueError(f"a node link is outside: the tree has no phrase {node}")
    return phrases[node]


def _columns(sentence: ParsedSentence, casing: Casing | None, binarize: Binarize) -> tuple[Columns, int, Sequence[int]]:
    """Columns for the core, lifted arcs, and the number that each phrase of the tree has in the columns."""
    words = sentence.tokens.forms if casing is None else [casing(word) for word in sentence.tokens.forms]
    heads: Sequence[int] = ()
    relations: Sequence[str] = ()
    moved = 0
    if sentence.dependency is not None:
        tree = projectivize(sentence.dependency)
        heads, moved, relations = tree.heads, lifted(tree), tree.deprels
    phrases: list[Phrase] = []
    numbers: Sequence[int] = ()
    if sentence.constituency is not None:
        constituency = sentence.constituency
        numbers = range(len(constituency))
        if not constituency.is_continuous:
            constituency, origin = make_continuous(constituency)
            numbers = _renumbered(numbers, origin)
        if binarize != "none":
            constituency, origin = binarize_tree(constituency, binarize)
            numbers = _renumbered(numbers, origin)
        phrases = [
            (label, begin, end, parent)
            for label, (begin, end), parent in zip(
                constituency.labels, constituency.spans, constituency.parents, strict=True
            )
        ]
    return (words, sentence.tokens.tags, heads, phrases, relations), moved, numbers


def _renumbered(numbers: Sequence[int], origin: Sequence[int]) -> list[int]:
    """Where phrases are after a conversion; of those with one origin the topmost, which is the first, stands for it."""
    where: dict[int, int] = {}
    for new, old in enumerate(origin):
        where.setdefault(old, new)
    return [where[number] for number in numbers]


# From files


def read_parsed_corpus(
    conllu: type_path | None = None,
    penn: type_path | None = None,
    *,
    text: type_path | None = None,
    jsonl: type_path | None = None,
    parses: Sequence[Parses] = (),
    casing: Casing | None = None,
    binarize: Binarize = "none",
) -> ParsedCorpus:
    """The sentences of a CoNLL-U file, a Penn file, or both (then sentence n of one is sentence n of the other); those of JSON
    lines; or the lines of a tokenised text, without trees. ``parses`` are further dependency trees of these sentences."""
    reader = CorpusReader(SideFiles(conllu, penn, text, jsonl, tuple(parses)), head_words=binarize == "head")
    for _ in reader.read():
        pass
    corpus = reader.corpus()
    if casing is not None:
        corpus.replace_words([casing(word) for word in corpus.vocabulary])
    try:
        corpus.binarize(binarize)
    except ValueError as error:
        raise InputError(str(error), path=penn or jsonl, remedy="give trees that are not binarised") from None
    return ParsedCorpus(corpus, int(reader.native.facts(0)[0].sum()))


def read_parsed_bitext(
    source: SideFiles,
    target: SideFiles,
    links: type_path | None = None,
    nodes: type_path | None = None,
    *,
    casing: Casing | None = None,
    binarize: Binarize = "none",
    target_binarize: Binarize = "none",
    head_words: bool = False,
    node_threshold: float = 0.0,
) -> ParsedBitext:
    """The pairs of files that belong together sentence by sentence; errors say which file and line.

    ``links`` are word links (Pharaoh), ``nodes`` links of the trees' nodes (`treeglot.trees.nodelinks`; a link between two
    words is one between their pre-terminals); those with a score below ``node_threshold`` do not count. ``casing`` is for the source words. ``head_words`` keeps those of the phrases, which
    binarisation by heads needs; it is on where ``binarize`` is ``head``.
    """
    wanted = head_words or "head" in (binarize, target_binarize)
    reader = CorpusReader(source, target, links, nodes, head_words=wanted, node_threshold=node_threshold)
    for _ in reader.read():
        pass
    return reader.bitext(casing, binarize, target_binarize)


def iterate_parsed_bitext(
    source: SideFiles,
    target: SideFiles,
    links: type_path | None = None,
    nodes: type_path | None = None,
    *,
    binarize: Binarize = "none",
    node_threshold: float = 0.0,
    block: int = 1000,
) -> Iterator[ParsedBitext]:
    """`read_parsed_bitext` in pieces of ``block`` pairs or more; the last piece may have fewer, or none."""
    head_words = binarize == "head"
    reader = CorpusReader(source, target, links, nodes, head_words=head_words, node_threshold=node_threshold)
    for _ in reader.read():
        if reader.native.pairs >= block:
            yield reader.bitext(binarize=binarize)
    yield reader.bitext(binarize=binarize)


class CorpusReader:
    """The native reader of the files of a corpus: ``for _ in reader.read(): ...``, then `bitext`, or `corpus`
    where there is no target. Of JSON lines of pairs it then reads the sentences of one ``side``."""

    def __init__(
        self,
        source: SideFiles,
        target: SideFiles | None = None,
        links: type_path | None = None,
        nodes: type_path | None = None,
        *,
        head_words: bool = False,
        surfaces: bool = False,
        node_threshold: float = 0.0,
        side: Side = "source",
    ) -> None:
        paths: tuple[type_path | None, ...] = (
            *(source.conllu, source.penn, source.text, source.jsonl),
            *((target.conllu, target.penn, target.text, target.jsonl) if target else (None,) * 4),
            *(links, nodes),
        )
        self.paths = {n: os.fspath(path) for n, path in enumerate(paths) if path is not None}
        self.blamed = source.name
        self.finished = False
        source.check(side if target is None else "source")
        if target is not None:
            target.check("target")
        names = [self.paths.get(n) for n in range(len(_STREAMS))]
        # Brackets have no gaps; in JSON lines there may be some, and the heads of phrases say how they are closed.
        tables = _head_tables() if head_words or source.jsonl or (target and target.jsonl) else []
        self.native = core.CorpusReader(names, tables, head_words, surfaces, node_threshold, side == "target")
        self._lifted = self._taken = 0
        if target is not None and target.parses:
            raise ConfigError("further trees of the target", remedy="they are for the source only")
        self.parses = [(given, read_parsed_corpus(given.conllu).columns) for given in source.parses]

    def read(self) -> Iterator[None]:
        """Read to the end, a piece at a time."""
        return track(self._read(), f"reading {self.blamed} (megabytes)")

    def _read(self) -> Iterator[None]:
        with ExitStack() as stack:
            files = {n: stack.enter_context(open_binary(path)) for n, path in self.paths.items()}
            try:
                while (stream := self.native.advance()) >= 0:
                    data = files[stream].read(_CHUNK)
                    if data:
                        self.native.feed(stream, data)
                    else:
                        self.native.finish(stream)
                    yield
                self.finished = True
            except core.ReadError as error:
                stream, line, column, message, remedy = error.args
                raise InputError(
                    message, path=self.paths[stream], line=line or None, column=column or None, remedy=remedy
                ) from None

    def corpus(self) -> core.ParsedCorpus:
        """The sentences that were read, when all are."""
        corpus = self.native.corpus()
        self._add_parses(corpus, len(corpus))
        return corpus

    def _add_parses(self, taken: core.ParsedCorpus | core.ParsedBitext, size: int) -> None:
        """Give sentences their further trees."""
        sentences = len(self.native.facts(0)[0])
        for given, trees in self.parses:
            try:
                taken.add_parses(trees, given.weight, self._taken)
                if self.finished and len(trees) != sentences:
                    raise ValueError(f"has {len(trees):,} sentences, but {self.blamed} has {sentences:,}")
            except ValueError as error:
                raise InputError(
                    str(error), path=given.conllu, remedy=f"give trees over the words of {self.blamed}, one a sentence"
                ) from None
        self._taken += size

    def bitext(
        self, casing: Casing | None = None, binarize: Binarize = "none", target_binarize: Binarize = "none"
    ) -> ParsedBitext:
        """The pairs that were read since the last call."""
        bitext = self.native.bitext()
        self._add_parses(bitext, bitext.sentences)
        if casing is not None:
            bitext.replace_words([casing(word) for word in bitext.source.vocabulary], bitext.target.vocabulary)
        binarize_bitext(bitext, binarize, target_binarize, self.blamed)
        moved = int(self.native.facts(0)[0].sum())
        corpus = ParsedBitext(bitext, moved - self._lifted)
        self._lifted = moved
        return corpus


def binarize_bitext(bitext: core.ParsedBitext, source: Binarize, target: Binarize, path: type_path) -> None:
    """Binarise the constituency trees of both sides; ``path`` is for messages."""
    try:
        bitext.binarize(source, target)
    except ValueError as error:
        raise InputError(str(error), path=path, remedy="give trees that are not binarised") from None


@cache
def _head_tables() -> list[core.HeadTable]:
    """The tables of `treeglot.trees.headtables` as the native reader takes them."""

    def steps(given: Sequence[Step]) -> list[core.HeadStep]:
        return [(step.from_right, step.ranked, list(step.items)) for step in given]

    tables: list[core.HeadTable] = []
    for name in TABLE_NAMES:
        table = head_table(name)
        known = table.vocabulary | head_table(name, "content").vocabulary
        rules = [(label, steps(rule)) for label, rule in table.rules.items()]
        tables.append(
            (rules, steps(table.default), sorted(table.punctuation), sorted(table.coordinators), sorted(known))
        )
    return tables


# Sentences of files


def read_trees(
    conllu: type_path | None, penn: type_path | None, jsonl: type_path | None = None, side: Side = "source"
) -> Iterator[ParsedSentence]:
    """Sentences with the trees of one file, or of two files of the same sentences; of pairs in JSON lines those of one side."""
    if conllu is None and penn is None and jsonl is None:
        raise ConfigError("no trees", remedy="give a CoNLL-U file, a Penn file, both, or JSON lines")
    SideFiles(conllu, penn, None, jsonl).check(side)
    if jsonl is not None:
        for item in read_jsonl(jsonl):
            yield item if isinstance(item, ParsedSentence) else getattr(item, side)
        return
    if conllu is None or penn is None:
        yield from read_conllu(conllu) if conllu is not None else read_penn(penn or "")
        return
    for number, (sentence, lined) in enumerate(zip_longest(read_conllu(conllu), read_penn_lines(penn)), start=1):
        if sentence is None or lined is None:
            short, other = (conllu, penn) if sentence is None else (penn, conllu)
            raise InputError(
                f"ends after {number - 1} sentences, but {other} has more",
                path=short,
                remedy="give trees of the same sentences",
            )
        line, tree = lined
        try:
            both = joined(sentence, tree, str(number))
        except TreeError as error:
            raise InputError(
                f"sentence {number} differs from that of {conllu}: {error.message}",
                path=penn,
                line=line,
                remedy="give trees over the same words",
            ) from None
        yield both
