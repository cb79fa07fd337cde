"""The lexical tree aligner of Tinsley, Zhechev, Hearne and Way 2007 (spec: phrases and subtrees, section 4).

Every pair of nodes is a hypothesis, scored by word translation probabilities inside and outside of both nodes. The best one
is linked, those that do not fit it are dropped, and so on. A method is named after its parts, such as ``skip2_score1_span1``
(the default), ``score2`` or ``skip1_score2``:

* ``score1`` multiplies, over the words of one side, the summed probabilities of the words of the other; ``score2`` the mean
  ones, over the words that are generated.
* ``skip1``: a hypothesis with a *competitor* (one with the same score that cannot be linked besides it) is skipped until a
  link has been made; ``skip2`` skips all hypotheses that have one of its nodes, too. When only skipped ones are left, their
  nodes stay unlinked. Without either, ties go to the first source node, then the first target node.
* ``span1``: hypotheses with a node over a single word wait until no other is left.

Nodes over the same words (unary chains, a phrase of one word) cannot be told apart by words: all their hypotheses tie, and
skipping would leave them unlinked. So by default a chain is one hypothesis, and if it is linked, its phrases are linked
from the top and its word with the word; ``chains=False`` treats its nodes one by one, as published.

Outside of a root there are no words. If both nodes are roots that factor is 1; if only one is, each word outside of the
other node has nothing to come from and counts as an unseen pair, the floor. ``empty_is_one=True`` makes the factor 1 there,
too: roots are then linked with nodes far too small for them, and all that is above those is lost.

A link's confidence says how well the words under its two nodes explain each other, from 0 to 1: the mean, over the words of
both, of the probability that the word comes from one under the other node. The order of links is that of their scores.

>>> from treeglot.trees.penn import parse_penn
>>> source = parse_penn("(S (NP (D das) (N haus)) (V brennt))")
>>> target = parse_penn("(S (NP (D the) (N house)) (VP (V is) (V burning)))")
>>> rows = [("das", "the", 1, 1), ("haus", "house", 1, 1), ("brennt", "burning", 0.5, 1), ("brennt", "is", 0.5, 0.5)]
>>> aligner = LexicalTreeAligner(WordTable(rows))
>>> [(link.source, link.target, round(link.score, 3)) for link in aligner.links(source, target)]
[(0, 0, 0.929), (1, 1, 1.0), (-1, -1, 1.0), (-2, -2, 1.0), (-3, 2, 0.833)]
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from treeglot._core import subtrees as core
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.errors import TreeError, TreeglotError
from treeglot.trees.bracketed import dependency_phrases
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.nodelinks import make_pair
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.units import join_units
from treeglot.trees.virtual import Rooted, given_links, rooted_pair

DEFAULT_METHOD = "skip2_score1_span1"
DEFAULT_FLOOR = 1e-5
USUAL_LEAST = 0.05
"""The least confidence that commands ask for: it removes more wrong links than right ones on hand-aligned treebanks."""
MAX_NODE_PAIRS = 20_000_000
"""The most node pairs of one sentence pair; more take too much memory (24 bytes each)."""

TreeKind = Literal["auto", "constituency", "dependency"]
"""Which tree of a sentence is aligned: ``auto`` takes the constituency tree, or else the phrases of the dependency tree."""

DEPENDENCY_PHRASES = "phrases of dependencies"
"""The note on a tree that `with_tree` made (`treeglot.trees.bracketed.dependency_phrases`)."""

BATCH = 512


@dataclass(frozen=True)
class Method:
    """The parts of a method's name."""

    score: int = 1
    skip: int = 2
    span1: bool = True

    @classmethod
    def parse(cls, name: str) -> Method:
        """
        >>> Method.parse("skip1_score2"), str(Method.parse("score1_span1"))
        (Method(score=2, skip=1, span1=False), 'score1_span1')
        """
        parts = name.split("_")
        known = {part for part in parts if re.fullmatch(r"skip[12]|score[12]|span1", part)}
        scores, skips = ([part for part in known if part.startswith(start)] for start in ("score", "skip"))
        if len(known) != len(parts) or len(scores) != 1 or len(skips) > 1:
            raise TreeglotError(
                f"no method {name!r}", remedy=f"methods are {', '.join(METHODS)}; the default is {DEFAULT_METHOD}"
            )
        return cls(int(scores[0][-1]), int(skips[0][-1]) if skips else 0, "span1" in known)

    def __str__(self) -> str:
        parts = [f"skip{self.skip}" if self.skip else "", f"score{self.score}", "span1" if self.span1 else ""]
        return "_".join(filter(None, parts))


METHODS = tuple(str(Method(score, skip, span1)) for skip in (0, 1, 2) for score in (1, 2) for span1 in (False, True))


class LexicalTreeAligner:
    """Links nodes of two trees by the words under them.

    ``floor`` is the least probability of any word pair: with 0 a word that nothing translates gives a product of zero, and
    hypotheses with that score are never linked. ``words=False`` links phrases only. Pairs with a confidence below ``least``
    are never linked. ``lowercase``: words are looked up in lower case, for a table that has them so. ``threads`` 0 means all
    cores; results do not depend on it.
    """

    def __init__(
        self,
        table: WordTable,
        *,
        method: str = DEFAULT_METHOD,
        floor: float = DEFAULT_FLOOR,
        empty_is_one: bool = False,
        words: bool = True,
        chains: bool = True,
        least: float = 0.0,
        lowercase: bool = False,
        threads: int = 0,
    ) -> None:
        if not 0 <= floor < 1:
            raise TreeglotError(f"a floor of {floor}", remedy="give a small probability, such as 1e-5, or 0")
        if not 0 <= least <= 1:
            raise TreeglotError(f"a least confidence of {least}", remedy="give a number from 0 to 1")
        self.table = table
        self.method = Method.parse(method)
        self.floor = floor
        self.empty_is_one = empty_is_one
        self.words = words
        self.chains = chains
        self.least = least
        self.lowercase = lowercase
        self.threads = threads
        self.too_large = 0
        """How many pairs `align` left without links because they have more than `MAX_NODE_PAIRS` pairs of nodes."""

    def scores(self, source: ConstituencyTree, target: ConstituencyTree) -> NDArray[np.float64]:
        """Logarithms of the scores of all node pairs, in the order of `treeglot.alignment.subtrees.TreeNodes`."""
        _check_size(source, target)
        return self.table.core.scores(
            self._source(source), self._target(target), self.method.score, self.floor, self.empty_is_one
        )

    def links(self, source: ConstituencyTree, target: ConstituencyTree) -> list[Link]:
        """The links of two trees in the order in which they were made; words are ``~j``, scores are confidences."""
        _check_size(source, target)
        return self._links([(source, target)])[0]

    def align(
        self,
        pairs: Iterable[tuple[ParsedSentence, ParsedSentence]],
        *,
        source_tree: TreeKind = "auto",
        target_tree: TreeKind = "auto",
    ) -> Iterator[AlignedPair]:
        """Stream pairs of sentences into aligned pairs.

        Neighbours that share a sentence are aligned together. Links of two words become word links. Where the dependency tree is aligned, its phrases are the constituency
        tree of the result. A pair has the id of its source sentence.
        """
        waiting: deque[tuple[AlignedPair, tuple[Rooted, Rooted]]] = deque()

        def rooted() -> Iterator[AlignedPair]:
            for source, target in pairs:
                pair = AlignedPair(with_tree(source, source_tree), with_tree(target, target_tree))
                without, sides = rooted_pair(pair)
                waiting.append((pair, sides))
                yield without

        stream = join_units(rooted())
        while batch := list(islice(stream, BATCH)):
            trees = [(_tree(unit.pair.source), _tree(unit.pair.target)) for unit in batch]
            small = [k for k, both in enumerate(trees) if node_pairs(*both) <= MAX_NODE_PAIRS]
            links = dict(zip(small, self._links([trees[k] for k in small]), strict=True))
            for k, unit in enumerate(batch):
                self.too_large += 0 if k in links else len(unit.members)
                for part in unit.split(links.get(k, ())):
                    pair, sides = waiting.popleft()
                    yield make_pair(pair.source, pair.target, given_links(part, sides))

    def _links(self, trees: Sequence[tuple[ConstituencyTree, ConstituencyTree]]) -> list[list[Link]]:
        lists = self.table.core.align(
            [(self._source(source), self._target(target)) for source, target in trees],
            self.method.score,
            self.method.skip,
            self.method.span1,
            self.words,
            self.chains,
            self.floor,
            self.empty_is_one,
            self.least,
            self.threads,
        )
        return [[Link(s, t, "good", round(confidence, 6)) for s, t, confidence in links] for links in lists]

    def _source(self, tree: ConstituencyTree) -> core.Tree:
        return (self.table.source_ids(self._words(tree)), *shape(tree))

    def _target(self, tree: ConstituencyTree) -> core.Tree:
        return (self.table.target_ids(self._words(tree)), *shape(tree))

    def _words(self, tree: ConstituencyTree) -> Sequence[str]:
        return [form.lower() for form in tree.tokens.forms] if self.lowercase else tree.tokens.forms


def shape(tree: ConstituencyTree) -> tuple[list[int], list[int]]:
    """A tree for the native core: the number of each phrase's children, and the children one after another."""
    return [len(below) for below in tree.children], list(chain.from_iterable(tree.children))


def node_pairs(source: ConstituencyTree, target: ConstituencyTree) -> int:
    """The number of pairs of nodes, words included."""
    return (len(source) + len(source.tokens)) * (len(target) + len(target.tokens))


def _check_size(source: ConstituencyTree, target: ConstituencyTree) -> None:
    if (count := node_pairs(source, target)) > MAX_NODE_PAIRS:
        raise TreeError(
            f"{count:,} pairs of nodes, more than {MAX_NODE_PAIRS:,}", remedy="split or leave out so long a sentence"
        )


def with_tree(sentence: ParsedSentence, kind: TreeKind = "auto") -> ParsedSentence:
    """The sentence with the tree to align as its constituency tree; see `TreeKind`."""
    if kind not in ("auto", "constituency", "dependency"):
        raise TreeglotError(f"no kind of tree {kind!r}", remedy="choose auto, constituency or dependency")
    if kind != "dependency" and sentence.constituency is not None:
        return sentence
    if kind != "constituency" and sentence.dependency is not None:
        return sentence.with_constituency(dependency_phrases(sentence.dependency), DEPENDENCY_PHRASES)
    if kind == "auto" and len(sentence) == 1:
        return sentence.with_constituency(ConstituencyTree(sentence.tokens, (), ()))
    name = f"sentence {sentence.id}" if sentence.id else f"the sentence {sentence.text[:40]!r}"
    what = "tree" if kind == "auto" else f"{kind} tree"
    raise TreeError(f"{name} has no {what} to align", remedy="parse it first: treeglot parse")


def _tree(sentence: ParsedSentence) -> ConstituencyTree:
    assert sentence.constituency is not None
    return sentence.constituency
