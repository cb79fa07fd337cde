"""Phrase pairs under linked nodes of aligned trees: CON from constituency trees, DEP from bracketed dependency trees (spec:
phrases and subtrees, section 5; paper: phrase extraction).

The words under a linked node and those under its counterpart are a phrase pair, if both stand together; links of words
count as links of pre-terminals. Nodes over the same words give one pair. `linked_spans` finds them in one pair of sentences;
`write_spans` writes a line for each pair of sentences, ``0-2:1-3`` for source words 0 and 1 with target words 1 and 2, which
`treeglot.tables.build_phrase_table` adds to its own counts.

>>> from treeglot.trees.dependency import DependencyTree
>>> from treeglot.trees.penn import parse_penn
>>> from treeglot.trees.nodelinks import parse_node_links, make_pair
>>> sides = [parse_penn("(S (NP (D das) (N haus)) (V brennt))"), parse_penn("(S (NP (D the) (N house)) (VP (V is) (V burning)))")]
>>> pair = make_pair(*(ParsedSentence.of(None, tree) for tree in sides), parse_node_links("0-0 1-1 w0-w0 w1-w1 w2-2"))
>>> format_spans(linked_spans(pair))
'0-1:0-1 0-2:0-2 0-3:0-4 1-2:1-2 2-3:2-4'

How much the two kinds of trees differ is a matter of their brackets:

>>> tree = parse_penn("(S (NP (N dogs)) (VP (V bark) (ADVP (R loudly))))")
>>> heads = DependencyTree(tree.tokens, [1, -1, 1], ["nsubj", "root", "advmod"])
>>> brackets = BracketStatistics()
>>> brackets.add(ParsedSentence.of(heads, tree))
>>> brackets.constituency, brackets.dependency, brackets.shared
(2, 1, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from treeglot.errors import TreeError
from treeglot.files import atomic_write, type_path
from treeglot.trees.bracketed import to_bracketed
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.nodelinks import all_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence

__all__ = ["BracketStatistics", "SpanPair", "format_spans", "linked_spans", "write_spans"]


class SpanPair(NamedTuple):
    """Half-open spans of source and target words."""

    source_begin: int
    source_end: int
    target_begin: int
    target_end: int


def linked_spans(pair: AlignedPair, *, words: bool = True) -> list[SpanPair]:
    """The span pairs under linked nodes, sorted, each once; ``words=False`` leaves out links of two words."""
    spans = set()
    for link in all_links(pair):
        if not words and link.source < 0 and link.target < 0:
            continue
        source, target = _span(pair.source, link.source), _span(pair.target, link.target)
        if source is not None and target is not None:
            spans.add(SpanPair(*source, *target))
    return sorted(spans)


def _span(sentence: ParsedSentence, node: NodeRef) -> tuple[int, int] | None:
    """None for a node with a gap."""
    if node < 0:
        return ~node, ~node + 1
    tree = sentence.constituency
    if tree is None:
        raise TreeError(f"sentence {sentence.id} has links of nodes but no tree", remedy="align its tree again")
    return None if tree.discontinuous[node] else tree.spans[node]


def format_spans(spans: Iterable[SpanPair]) -> str:
    """One line of text."""
    return " ".join(f"{a}-{b}:{c}-{d}" for a, b, c, d in spans)


def write_spans(pairs: Iterable[AlignedPair], path: type_path, *, words: bool = True) -> int:
    """Write the spans of aligned pairs, a line each; how many spans there are."""
    count = 0
    with atomic_write(path) as file:
        for pair in pairs:
            spans = linked_spans(pair, words=words)
            count += len(spans)
            file.write(format_spans(spans) + "\n")
    return count


@dataclass
class BracketStatistics:
    """Brackets over more than one word (each span once) of the two kinds of trees of the same sentences."""

    sentences: int = 0
    constituency: int = 0
    dependency: int = 0
    shared: int = 0

    def add(self, sentence: ParsedSentence) -> None:
        """Count a sentence that has both trees."""
        if sentence.dependency is None or sentence.constituency is None:
            raise TreeError("a sentence without both trees", remedy="give dependencies and constituents of each")
        phrases, subtrees = _brackets(sentence.constituency), _brackets(to_bracketed(sentence.dependency))
        self.sentences += 1
        self.constituency += len(phrases)
        self.dependency += len(subtrees)
        self.shared += len(phrases & subtrees)

    @property
    def constituency_only(self) -> float:
        """The share of constituents that no bracket of the dependency tree has."""
        return 1 - self.shared / self.constituency if self.constituency else 0.0

    @property
    def dependency_only(self) -> float:
        """The share of dependency brackets that no constituent has."""
        return 1 - self.shared / self.dependency if self.dependency else 0.0


def _brackets(tree: ConstituencyTree) -> set[tuple[int, ...]]:
    return {words for words in tree.yields if len(words) > 1}
