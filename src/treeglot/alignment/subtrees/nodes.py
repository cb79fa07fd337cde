"""The nodes of one tree as columns, for everything that aligns sub-trees (spec: phrases and subtrees, sections 4 and 6).

Phrases come first, in preorder, then the words (each stands for its pre-terminal), so phrase n is node n and word j is node
``phrases + j``. Columns that need memory in proportion to nodes × words or nodes × nodes (`TreeNodes.yields`,
`TreeNodes.ancestors`) are made only when they are asked for; what lies under what can be asked of two nodes, or of arrays of
nodes, through the preorder ranks `TreeNodes.enter` and `TreeNodes.leave` alone. A flat tree of 10,000 words takes a few
hundred kilobytes until someone asks for a matrix (100 MB each).

>>> tree = ConstituencyTree.build(["dogs", "bark", "loudly"], ("S", ("NP", 0), ("VP", 1, ("ADVP", 2))))
>>> nodes = TreeNodes.of(tree)
>>> nodes.refs, nodes.labels[:4]
((0, 1, 2, 3, -1, -2, -3), ('S', 'NP', 'VP', 'ADVP'))
>>> nodes.parent.tolist(), nodes.depth.tolist()
([-1, 0, 0, 2, 1, 2, 3], [0, 1, 1, 2, 2, 2, 3])
>>> nodes.first.tolist(), nodes.last.tolist(), nodes.descendants.tolist()
([0, 0, 1, 2, 0, 1, 2], [2, 0, 2, 2, 0, 1, 2], [6, 1, 3, 1, 0, 0, 0])
>>> nodes.ancestors[2].nonzero()[0].tolist(), nodes.yields[2].tolist()
([3, 5, 6], [False, True, True])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeglot.trees.constituency import ConstituencyTree, NodeRef

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """``refs[k]`` is node k of ``tree``; all columns are in this order.

    ``parent`` is the parent's number (-1 for the root), ``first`` and ``last`` the first and last word under the node
    (inclusive; a discontinuous node has gaps between them), ``size`` the number of its words, ``depth`` the number of nodes
    above it, ``descendants`` the number of phrases and words below it (words are counted even if they are not nodes here).
    ``enter`` and ``leave`` are ranks in the preorder of phrases and words: k is below a if
    ``enter[a] < enter[k] < leave[a]``.
    """

    tree: ConstituencyTree
    refs: tuple[NodeRef, ...]
    parent: Ints
    first: Ints
    last: Ints
    size: Ints
    depth: Ints
    descendants: Ints
    enter: Ints
    leave: Ints

    @classmethod
    def of(cls, tree: ConstituencyTree, *, words: bool = True) -> TreeNodes:
        """The phrases of a tree and, with ``words``, its words."""
        phrases, length = len(tree), len(tree.tokens)
        count = phrases + length

        def number(node: NodeRef) -> int:
            return node if node >= 0 else phrases + ~node

        parent = np.full(count, -1, dtype=np.int32)
        enter = np.zeros(count, dtype=np.int32)
        depth = np.zeros(count, dtype=np.int32)
        for rank, node in enumerate(tree.preorder()):
            k = number(node)
            enter[k] = rank
            above = tree.parent(node)
            if above >= 0:
                parent[k] = above
                depth[k] = depth[above] + 1
        numbers = np.arange(length, dtype=np.int32)
        ones = np.ones(length, dtype=np.int32)
        spans = np.array(tree.spans, dtype=np.int32).reshape(phrases, 2)
        size = np.concatenate([np.array(tree.sizes, dtype=np.int32), ones])
        descendants = np.zeros(count, dtype=np.int32)
        for n in range(phrases - 1, -1, -1):
            descendants[n] = sum(1 + int(descendants[child]) if child >= 0 else 1 for child in tree.children[n])
        keep = slice(0, count if words else phrases)
        return cls(
            tree,
            tuple(range(phrases)) + (tuple(~j for j in range(length)) if words else ()),
            parent[keep],
            np.concatenate([spans[:, 0], numbers])[keep],
            np.concatenate([spans[:, 1] - 1, numbers])[keep],
            size[keep],
            depth[keep],
            descendants[keep],
            enter[keep],
            (enter + descendants + 1)[keep],
        )

    def __len__(self) -> int:
        return len(self.refs)

    def __repr__(self) -> str:
        return f"TreeNodes({self.tree!r}, phrases={self.phrases}, words={len(self) - self.phrases})"

    @property
    def phrases(self) -> int:
        """How many of the nodes are phrases: nodes 0 to ``phrases - 1``."""
        return len(self.tree)

    @property
    def words(self) -> int:
        """The length of the sentence, whether or not words are nodes."""
        return len(self.tree.tokens)

    @property
    def has_words(self) -> bool:
        """Whether words are nodes here."""
        return len(self) > self.phrases

    def index(self, ref: NodeRef) -> int:
        """The number of a phrase or word among the nodes."""
        return ref if ref >= 0 else self.phrases + ~ref

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of phrases and tags of words."""
        return self.tree.labels + (self.tree.tokens.tags if self.has_words else ())

    @cached_property
    def is_continuous(self) -> bool:
        """Whether no node has a gap."""
        return bool((self.last - self.first + 1 == self.size).all())

    @cached_property
    def yields(self) -> Bools:
        """Nodes × words: whether the word is under the node (discontinuous nodes have gaps in their row)."""
        columns = np.arange(self.words)
        covered: Bools = (self.first[:, None] <= columns) & (columns <= self.last[:, None])
        for n in np.flatnonzero(self.last - self.first + 1 != self.size).tolist():
            covered[n] = False
            covered[n, list(self.tree.yields[n])] = True
        return covered

    @cached_property
    def ancestors(self) -> Bools:
        """Nodes × nodes: ``ancestors[a, k]`` is whether a is above k. No node is above itself."""
        above: Bools = (self.enter[:, None] < self.enter) & (self.enter < self.leave[:, None])
        return above

    def below(self, node: int, others: Ints) -> Bools:
        """Which of ``others`` are below ``node``, without the matrix."""
        enter = self.enter[others]
        inside: Bools = (self.enter[node] < enter) & (enter < self.leave[node])
        return inside

    def above(self, node: int, others: Ints) -> Bools:
        """Which of ``others`` are above ``node``, without the matrix."""
        around: Bools = (self.enter[others] < self.enter[node]) & (self.enter[node] < self.leave[others])
        return around
