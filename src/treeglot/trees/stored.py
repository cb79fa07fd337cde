"""The parsed corpus as one file: pairs of sentences with their trees by columns, mapped into memory when they are read.

A project has one for each part of its data (``corpus/PART.tgpc``); every rule table is extracted from it. `stored_sentence` makes an
object of one of its sentences, for what works on objects: aligners of trees, pictures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treeglot._core import conllu as conllu_core
from treeglot._core import parsed as core
from treeglot.errors import InputError
from treeglot.files import atomic_path, open_binary, type_path
from treeglot.links import GivenLinks, give_links
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.corpus import Binarize, ParsedBitext, binarize_bitext
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

CORPUS_FORMAT = core.FORMAT_VERSION
"""The version of the files that `write_corpus` makes."""

_CHUNK = 1 << 20


def write_corpus(bitext: ParsedBitext | core.ParsedBitext, path: type_path) -> None:
    """Store pairs (without further alignments) in a file that `open_corpus` maps."""
    columns = bitext.columns if isinstance(bitext, ParsedBitext) else bitext
    with atomic_path(path) as temporary:
        try:
            columns.write(os.fspath(temporary))
        except RuntimeError as error:
            raise InputError(str(error), path=path, remedy="free disk space, or name another file") from None


def open_corpus(
    path: type_path,
    links: Sequence[GivenLinks] = (),
    *,
    nodes: type_path | None = None,
    node_threshold: float = 0.0,
    binarize: Binarize = "none",
    target_binarize: Binarize = "none",
) -> ParsedBitext:
    """The pairs of a file of `write_corpus` with the links of these files (or arrays) instead of its own, if any.

    With several, every pair is there once with the links of each, and counts what they weigh (`treeglot.links.Weighted`). ``nodes`` is a file of links between nodes; those with a score
    below ``node_threshold`` do not count.
    """
    name = os.fspath(path)
    try:
        bitext = core.ParsedBitext.open(name)
    except RuntimeError as error:
        remedy = "check the path" if not Path(name).exists() else "make it again with treeglot train"
        raise InputError(str(error), path=name, remedy=remedy) from None
    if nodes is not None:
        _set_node_links(bitext, nodes, node_threshold)
    binarize_bitext(bitext, binarize, target_binarize, name)
    add_links(bitext, links)
    return ParsedBitext(bitext)


def _set_node_links(bitext: core.ParsedBitext, path: type_path, threshold: float) -> None:
    with open_binary(path) as stream:
        try:
            bitext.set_node_links(iter(lambda: stream.read(_CHUNK), b""), threshold)
        except conllu_core.ScanError as error:
            line, column, message, remedy = error.args
            raise InputError(message, path=path, line=line, column=column or None, remedy=remedy) from None


def stored_sentence(sentences: core.ParsedSentences, n: int) -> ParsedSentence:
    """Sentence n as an object, with the trees that it has.

    >>> from treeglot.trees.corpus import parsed_bitext
    >>> bitext = parsed_bitext([(ParsedSentence.of(None, ConstituencyTree.build(["a", "b"], ("S", 0, ("X", 1)))), ["c"], [])])
    >>> stored_sentence(bitext.columns.source, 0).constituency.children
    ((-1, 1), (-2,))
    """
    words, tags, heads, phrases, relations = sentences.sentence(n)
    tokens = Tokens(words, xpos=tags)
    children: list[list[NodeRef]] = [[] for _ in phrases]
    innermost = [-1] * len(words)
    for number, (_, begin, end, parent) in enumerate(phrases):
        if parent >= 0:
            children[parent].append(number)
        innermost[begin:end] = [number] * (end - begin)
    for word, number in enumerate(innermost):
        if number >= 0:
            children[number].append(~word)
    for below in children:
        below.sort(key=lambda node: phrases[node][1] if node >= 0 else ~node)
    constituency = ConstituencyTree(tokens, [phrase[0] for phrase in phrases], children) if phrases else None
    return ParsedSentence(tokens, DependencyTree(tokens, heads, relations) if heads else None, constituency)


def add_links(bitext: core.ParsedBitext, links: Sequence[GivenLinks]) -> None:
    """Give pairs these links instead of theirs; errors name the file and the line."""
    weights = give_links(links, bitext.sentences, lambda number, arrays: bitext.add_links(*arrays, number == 0))
    if weights:
        bitext.set_weights(weights)
