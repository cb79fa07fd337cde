"""Phrasal nodes: the constituents that a dependency tree does not have, put where it can use them.

Paper "Translation with Source Constituency and Dependency Trees" (consdep2str), section Annotation; spec "Tree-to-string models", section
consdep2str. A constituent that is neither one word nor a dependency subtree is *non-syntactic* for the dependency tree. It
belongs to the head-dependents relation (HDR) of the lowest word n whose subtree contains it, and it is *representable* as a
phrasal node if it is a contiguous group of two or more members of that HDR: the word n itself and complete subtrees of its children.
The whole HDR is a subtree. Unary chains over one span count as one constituent with the topmost label.

The dependency tree is projectivised first.

>>> from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
>>> tokens = Tokens(["英特尔", "将", "推出", "电脑"], xpos=["NR", "AD", "VV", "NN"])
>>> dependency = DependencyTree(tokens, [2, 2, -1, 2])
>>> constituency = ConstituencyTree.build(tokens, ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", 3)))))
>>> report = phrasal_nodes(ParsedSentence.of(dependency, constituency))
>>> [node.category for node in report.nodes]
['VP[AD_VV_NN]', 'VP[VV_NN]']
>>> report.nodes[1].span, report.nodes[1].head, report.nodes[1].members
((2, 4), 2, (2, 3))
>>> [kind.value for kind in report.kinds]
['subtree', 'word', 'phrasal', 'word', 'phrasal', 'word']
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.projectivity import projectivize
from treeglot.trees.sentence import ParsedSentence


class Kind(Enum):
    """What a constituent is to the dependency tree of its sentence."""

    WORD = "word"
    SUBTREE = "subtree"
    PHRASAL = "phrasal"
    """Not a subtree, but representable as a phrasal node."""
    CROSSING = "crossing"
    """Not a subtree and not representable: it has a gap, or a part of a child's subtree."""


@dataclass(frozen=True, slots=True)
class PhrasalNode:
    """A group of neighbouring members of the HDR of the word ``head``.

    ``members`` are the words at the top of the group: ``head`` itself if the group covers it, and children of ``head`` that stand for
    their subtrees; ``tags`` are their tags. ``phrase`` is the number of the constituent (the topmost of its span) in the
    constituency tree, ``alternatives`` are the labels of the unary chain below it.
    """

    span: tuple[int, int]
    head: int
    members: tuple[int, ...]
    label: str
    tags: tuple[str, ...]
    phrase: int
    alternatives: tuple[str, ...] = ()

    @property
    def category(self) -> str:
        """The joint category, ``VP[VV_NN]``."""
        return f"{self.label}[{'_'.join(self.tags)}]"

    @property
    def covers_head(self) -> bool:
        return self.head in self.members


@dataclass(frozen=True)
class PhrasalReport:
    """How the constituents of a sentence relate to its dependency tree.

    ``dependency`` is the projective tree that was used; ``kinds[n]`` is the kind of phrase n of the constituency tree (the
    phrases of a unary chain are of one kind); ``topmost[n]`` tells whether phrase n is the topmost one of its span; ``nodes``
    are the phrasal nodes by start, longer ones first.
    """

    dependency: DependencyTree
    kinds: tuple[Kind, ...]
    topmost: tuple[bool, ...]
    nodes: tuple[PhrasalNode, ...]

    @cached_property
    def counts(self) -> Counter[Kind]:
        """How many constituents there are of each kind, each span counted once."""
        return Counter(kind for kind, top in zip(self.kinds, self.topmost, strict=True) if top)

    @cached_property
    def _by_head(self) -> dict[int, tuple[PhrasalNode, ...]]:
        groups: dict[int, list[PhrasalNode]] = {}
        for node in self.nodes:
            groups.setdefault(node.head, []).append(node)
        return {head: tuple(nodes) for head, nodes in groups.items()}

    def at(self, head: int) -> tuple[PhrasalNode, ...]:
        """The phrasal nodes of the HDR of word ``head``."""
        return self._by_head.get(head, ())


def phrasal_nodes(sentence: ParsedSentence) -> PhrasalReport:
    """Classify the constituents of a sentence that has both trees."""
    if sentence.dependency is None or sentence.constituency is None:
        missing = "dependency" if sentence.dependency is None else "constituency"
        where = f"sentence {sentence.id}: " if sentence.id else ""
        raise TreeError(
            f"{where}no {missing} tree",
            remedy="phrasal nodes need both trees; to_constituency makes one from dependencies",
        )
    dependency = projectivize(sentence.dependency)
    constituency = sentence.constituency
    tags = sentence.tokens.tags
    relations = _Relations(dependency)
    heads = _lowest_heads(dependency, constituency)
    topmost = _topmost(constituency)
    kinds: list[Kind] = []
    nodes: list[PhrasalNode] = []
    for n, (low, high) in enumerate(constituency.spans):
        if not topmost[n]:
            kinds.append(kinds[constituency.parents[n]])
        elif constituency.discontinuous[n]:
            kinds.append(Kind.CROSSING)
        elif high - low == 1:
            kinds.append(Kind.WORD)
        elif dependency.spans[heads[n]] == (low, high):
            kinds.append(Kind.SUBTREE)
        else:
            members = relations.members(heads[n], low, high)
            kinds.append(Kind.PHRASAL if members else Kind.CROSSING)
            if members:
                nodes.append(
                    PhrasalNode(
                        (low, high),
                        heads[n],
                        members,
                        constituency.labels[n],
                        tuple(tags[member] for member in members),
                        n,
                        _unary_labels(constituency, n),
                    )
                )
    return PhrasalReport(dependency, tuple(kinds), topmost, tuple(nodes))


def _topmost(tree: ConstituencyTree) -> tuple[bool, ...]:
    """For each phrase, whether it is not the only child of another one."""
    return tuple(parent < 0 or len(tree.children[parent]) > 1 for parent in tree.parents)


def _unary_labels(tree: ConstituencyTree, n: int) -> tuple[str, ...]:
    labels = []
    while len(tree.children[n]) == 1 and tree.children[n][0] >= 0:
        n = tree.children[n][0]
        labels.append(tree.labels[n])
    return tuple(labels)


def _lowest_heads(dependency: DependencyTree, constituency: ConstituencyTree) -> list[int]:
    """For each phrase, the lowest word whose subtree contains it.

    It dominates those of the phrase's children, so the climb goes on where a child's has ended."""
    heads = [ROOT] * len(constituency)
    for n in range(len(constituency) - 1, -1, -1):
        low, high = constituency.spans[n]
        reached = (heads[child] if child >= 0 else ~child for child in constituency.children[n])
        word = min(reached, key=dependency.depths.__getitem__)
        while not (dependency.spans[word][0] <= low and high <= dependency.spans[word][1]):
            word = dependency.heads[word]
        heads[n] = word
    return heads


class _Relations:
    """The HDRs of a projective tree: where each member starts and ends."""

    def __init__(self, tree: DependencyTree) -> None:
        self.tree = tree
        self.known: dict[int, tuple[list[int], list[int], list[int]]] = {}

    def members(self, head: int, low: int, high: int) -> tuple[int, ...]:
        """The members of the HDR of ``head`` that make up exactly the words from ``low`` to ``high``, or none."""
        if head not in self.known:
            words = sorted((head, *self.tree.children(head)))
            spans = [(word, word + 1) if word == head else self.tree.spans[word] for word in words]
            self.known[head] = (words, [start for start, _ in spans], [end for _, end in spans])
        words, starts, ends = self.known[head]
        first, last = bisect_left(starts, low), bisect_left(ends, high)
        if first == len(words) or starts[first] != low or ends[last] != high:
            return ()
        return tuple(words[first : last + 1])
