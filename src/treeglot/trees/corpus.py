"""Parsed sentences as native columns: what rules are extracted from and what the tree decoder translates.

Trees come as tree-to-string models need them (spec: notation): dependency trees are made projective, constituency trees
continuous and, on request, binarised. A sentence may lack either tree; what a grammar needs is checked where it is used.

>>> from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
>>> tokens = Tokens(["Dogs", "bark"], xpos=["NNS", "VBP"])
>>> sentence = ParsedSentence.of(
...     DependencyTree(tokens, [1, -1]), ConstituencyTree.build(tokens, ("S", ("NP", 0), ("VP", 1))))
>>> corpus = parsed_corpus([sentence], casing=str.lower)
>>> len(corpus), corpus.lifted
(1, 0)
>>> corpus.columns.sentence(0)
(('dogs', 'bark'), ('NNS', 'VBP'), (1, -1), (('S', 0, 2, -1), ('NP', 0, 1, 0), ('VP', 1, 2, 0)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from treeglot._core import parsed as core
from treeglot.errors import ConfigError, InputError, TreeError
from treeglot.files import read_lines, type_path
from treeglot.trees.binarize import binarize as binarize_tree
from treeglot.trees.conllu import read_conllu
from treeglot.trees.continuous import make_continuous
from treeglot.trees.penn import read_penn, read_penn_lines
from treeglot.trees.projectivity import lifted, projectivize
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.wordlinks import read_pharaoh
from treeglot.words import split_words

Binarize = Literal["none", "left", "right", "head"]
Casing = Callable[[str], str]
Phrase = tuple[str, int, int, int]
Columns = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[Phrase]]


@dataclass
class ParsedCorpus:
    """Parsed sentences; ``lifted`` arcs were moved to make their trees projective."""

    columns: core.ParsedCorpus = field(default_factory=core.ParsedCorpus)
    lifted: int = 0

    def __len__(self) -> int:
        return len(self.columns)

    def words(self, n: int) -> list[str]:
        """The words of sentence n."""
        return self.columns.words(n)


@dataclass
class ParsedBitext:
    """Parsed source sentences, target words and word links; ``lifted`` as in `ParsedCorpus`."""

    columns: core.ParsedBitext = field(default_factory=core.ParsedBitext)
    lifted: int = 0

    def __len__(self) -> int:
        return len(self.columns)


def parsed_corpus(
    sentences: Iterable[ParsedSentence], *, casing: Casing | None = None, binarize: Binarize = "none"
) -> ParsedCorpus:
    """Sentences as columns. ``casing`` is applied to every word, ``binarize`` to every constituency tree."""
    corpus = ParsedCorpus()
    for sentence in sentences:
        columns, moved = _columns(sentence, casing, binarize)
        corpus.columns.add(*columns)
        corpus.lifted += moved
    return corpus


def parsed_bitext(
    pairs: Iterable[tuple[ParsedSentence, Sequence[str], Sequence[tuple[int, int]]]],
    *,
    casing: Casing | None = None,
    binarize: Binarize = "none",
) -> ParsedBitext:
    """Sentences with their target words and links (source number, target number)."""
    corpus = ParsedBitext()
    for number, (sentence, target, links) in enumerate(pairs, start=1):
        columns, moved = _columns(sentence, casing, binarize)
        try:
            corpus.columns.add(columns, (target, (), (), ()), links)
        except ValueError as error:
            raise TreeError(
                f"sentence {sentence.id or number}: {error}",
                remedy="check that trees, target and links belong together",
            ) from None
        corpus.lifted += moved
    return corpus


def read_parsed_corpus(
    conllu: type_path | None = None,
    penn: type_path | None = None,
    *,
    casing: Casing | None = None,
    binarize: Binarize = "none",
) -> ParsedCorpus:
    """The sentences of a CoNLL-U file, a Penn file, or both (then sentence n of one is sentence n of the other)."""
    return parsed_corpus(read_trees(conllu, penn), casing=casing, binarize=binarize)


def read_parsed_bitext(
    conllu: type_path | None,
    penn: type_path | None,
    target: type_path,
    links: type_path,
    *,
    casing: Casing | None = None,
    binarize: Binarize = "none",
) -> ParsedBitext:
    """Trees, tokenised target text and Pharaoh links, sentence by sentence; errors say which file and sentence."""
    corpus = ParsedBitext()
    for number, (sentence, words, found) in enumerate(
        read_parallel(read_trees(conllu, penn), conllu or penn or "", target, links), start=1
    ):
        columns, moved = _columns(sentence, casing, binarize)
        try:
            corpus.columns.add(columns, (words, (), (), ()), found)
        except ValueError as error:
            raise InputError(
                str(error), path=links, line=number, remedy="give the links of these trees and this target text"
            ) from None
        corpus.lifted += moved
    return corpus


def read_trees(conllu: type_path | None, penn: type_path | None) -> Iterator[ParsedSentence]:
    """Sentences with the trees of one file, or of two files of the same sentences."""
    if conllu is None and penn is None:
        raise ConfigError("no trees", remedy="give a CoNLL-U file, a Penn file, or both")
    if conllu is None or penn is None:
        yield from read_conllu(conllu) if conllu is not None else read_penn(penn or "")
        return
    for number, (one, lined) in enumerate(zip_longest(read_conllu(conllu), read_penn_lines(penn)), start=1):
        if one is None or lined is None:
            short, other = (conllu, penn) if one is None else (penn, conllu)
            raise InputError(
                f"ends after {number - 1} sentences, but {other} has more",
                path=short,
                remedy="give trees of the same sentences",
            )
        line, two = lined
        try:
            joined = ParsedSentence.of(
                one.dependency, two.constituency, id=one.id or str(number), comments=one.comments
            )
        except TreeError as error:
            raise InputError(
                f"sentence {number} differs from that of {conllu}: {error.message}",
                path=penn,
                line=line,
                remedy="give trees over the same words",
            ) from None
        yield joined


def read_parallel(
    sentences: Iterable[ParsedSentence], name: type_path, target: type_path, links: type_path, *, by_line: bool = False
) -> Iterator[tuple[ParsedSentence, list[str], list[tuple[int, int]]]]:
    """Source sentences (of the file ``name``), the lines of a tokenised target text and their Pharaoh links, side by side;
    one that ends before the others is an error. ``by_line``: sentence n is line n of its file."""
    names = [str(name), str(target), str(links)]
    streams = zip_longest(sentences, read_lines(target), read_pharaoh(links))
    for number, (sentence, line, found) in enumerate(streams, start=1):
        if sentence is None or line is None or found is None:
            items = (sentence, line, found)
            ended = next(n for n, item in enumerate(items) if item is None)
            going = next(n for n, item in enumerate(items) if item is not None)
            raise InputError(
                f"ends after {number - 1} sentences, but {names[going]} has more",
                path=names[ended],
                line=number if ended > 0 or by_line else None,
                remedy="give trees, target text and links of the same sentences",
            )
        yield sentence, split_words(line[1]), [(link.source, link.target) for link in found.links]


def _columns(sentence: ParsedSentence, casing: Casing | None, binarize: Binarize) -> tuple[Columns, int]:
    words = sentence.tokens.forms if casing is None else [casing(word) for word in sentence.tokens.forms]
    heads: Sequence[int] = ()
    moved = 0
    if sentence.dependency is not None:
        tree = projectivize(sentence.dependency)
        heads, moved = tree.heads, lifted(tree)
    phrases: list[Phrase] = []
    if sentence.constituency is not None:
        constituency = sentence.constituency
        if not constituency.is_continuous:
            constituency = make_continuous(constituency).tree
        if binarize != "none":
            constituency = binarize_tree(constituency, binarize).tree
        phrases = [
            (label, begin, end, parent)
            for label, (begin, end), parent in zip(
                constituency.labels, constituency.spans, constituency.parents, strict=True
            )
        ]
    return (words, sentence.tokens.tags, heads, phrases), moved
