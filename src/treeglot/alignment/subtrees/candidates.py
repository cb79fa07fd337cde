"""Candidates of the sub-tree aligner: pairs of phrases as columns, with their features, sub-trees and labels.

The candidates of a sentence pair are all pairs of its phrases; most are pruned by their features before a kernel is
computed. `TreeSide` holds what kernels need of the phrases of one language: the numbers of their sub-trees and their
*attributes* (label, function, label of the parent, ...), one row for each phrase.

>>> from treeglot.trees.penn import parse_penn
>>> side = TreeSide([parse_penn("(S (NP-SBJ (N cats)) (VP (V sleep)))")])
>>> side.attribute("root"), side.attribute("function"), side.attribute("parent")
(['S', 'NP', 'VP'], ['', 'SBJ', ''], ['', 'S', 'S'])
>>> side.attribute("production")
['S NP VP', 'NP N', 'VP V']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.kernels import Ids, SubtreeForest
from treeglot.trees.constituency import ConstituencyTree

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


def _parents(tree: ConstituencyTree) -> list[str]:
    return [tree.labels[above] if above >= 0 else "" for above in tree.parents]


def _grandparents(tree: ConstituencyTree) -> list[str]:
    parents = tree.parents
    return [
        f"{tree.labels[above]} {tree.labels[parents[above]] if parents[above] >= 0 else ''}" if above >= 0 else ""
        for above in parents
    ]


def _siblings(tree: ConstituencyTree) -> list[str]:
    """Labels of the neighbours to the left and right under the same parent, and the label itself."""
    result = [""] * len(tree)
    for below in tree.children:
        labels = ["<", *map(tree.label, below), ">"]
        for k, child in enumerate(below):
            if child >= 0:
                result[child] = " ".join(labels[k : k + 3])
    return result


def _edge_tags(tree: ConstituencyTree) -> list[str]:
    tags = tree.tokens.tags
    return [f"{tags[low]} {tags[high - 1]}" for low, high in tree.spans]


def _sizes(tree: ConstituencyTree) -> list[str]:
    """The label and the number of words to the next power of two."""
    return [f"{label} {size.bit_length()}" for label, size in zip(tree.labels, tree.sizes, strict=True)]


ATTRIBUTES: dict[str, Callable[[ConstituencyTree], list[str]]] = {
    "root": lambda tree: list(tree.labels),
    "function": lambda tree: list(tree.functions),
    "labelfunction": lambda tree: [f"{a} {b}" for a, b in zip(tree.labels, tree.functions, strict=True)],
    "parent": _parents,
    "path": lambda tree: [f"{a} {b}" for a, b in zip(tree.labels, _parents(tree), strict=True)],
    "longpath": lambda tree: [f"{a} {b}" for a, b in zip(tree.labels, _grandparents(tree), strict=True)],
    "siblings": _siblings,
    "production": lambda tree: [
        " ".join([label, *map(tree.label, below)]) for label, below in zip(tree.labels, tree.children, strict=True)
    ],
    "edges": _edge_tags,
    "size": _sizes,
}
"""What indicator kernels compare: a text for each phrase of a tree."""


class TreeSide:
    """The phrases of some trees of one language, one after the other; phrase n of tree k is row ``offsets[k] + n``."""

    def __init__(self, trees: Sequence[ConstituencyTree]) -> None:
        self.trees = list(trees)
        sizes = [len(tree) for tree in self.trees]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._attributes: dict[str, list[str]] = {}
        self._ids: dict[int, tuple[SubtreeForest, Ids]] = {}

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def attribute(self, name: str) -> list[str]:
        """An attribute of every phrase."""
        if name not in self._attributes:
            of = ATTRIBUTES[name]
            self._attributes[name] = list(chain.from_iterable(map(of, self.trees)))
        return self._attributes[name]

    def ids(self, forest: SubtreeForest) -> Ids:
        """The numbers of the phrases' sub-trees in a forest, to which they are added."""
        if id(forest) not in self._ids:
            parts = [forest.add(tree)[: len(tree)] for tree in self.trees]
            ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)
            self._ids[id(forest)] = forest, ids
        return self._ids[id(forest)][1]


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """Candidate k joins phrase ``source[k]`` and phrase ``target[k]`` of the sentence pair ``pair[k]``.

    ``features`` has a row for each; ``labels`` says which are linked and ``known`` which of them may be learnt from (a
    fuzzy link is neither).
    """

    sides: tuple[TreeSide, TreeSide]
    pair: Ints
    source: Ints
    target: Ints
    features: Floats
    labels: Bools
    known: Bools

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def pairs(self) -> int:
        """The number of sentence pairs."""
        return len(self.sides[0].trees)

    def rows(self, side: int) -> NDArray[np.int64]:
        """The row of each candidate's phrase in one side."""
        rows: NDArray[np.int64] = self.sides[side].offsets[self.pair] + (self.target if side else self.source)
        return rows

    def take(self, index: NDArray[np.int64] | Bools) -> CandidateTable:
        """Some of the candidates."""
        return replace(
            self,
            pair=self.pair[index],
            source=self.source[index],
            target=self.target[index],
            features=self.features[index],
            labels=self.labels[index],
            known=self.known[index],
        )

    def with_features(self, features: Floats) -> CandidateTable:
        """The same candidates with other features."""
        return replace(self, features=features)

    def bounds(self) -> NDArray[np.int64]:
        """Where the candidates of each sentence pair begin, and where the last ones end (candidates are in order of pairs)."""
        starts: NDArray[np.int64] = np.searchsorted(self.pair, np.arange(self.pairs + 1))
        return starts


def merge_tables(tables: Sequence[CandidateTable]) -> CandidateTable:
    """The candidates of several tables one after the other; there must be at least one."""
    starts = np.cumsum([0, *(table.pairs for table in tables)])
    return CandidateTable(
        (
            TreeSide([tree for table in tables for tree in table.sides[0].trees]),
            TreeSide([tree for table in tables for tree in table.sides[1].trees]),
        ),
        np.concatenate([table.pair + start for table, start in zip(tables, starts[:-1], strict=True)]).astype(np.int32),
        np.concatenate([table.source for table in tables]),
        np.concatenate([table.target for table in tables]),
        np.concatenate([table.features for table in tables]),
        np.concatenate([table.labels for table in tables]),
        np.concatenate([table.known for table in tables]),
    )
