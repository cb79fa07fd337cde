"""Binarisation of continuous constituency trees (spec: tree-to-string, section 4, "Binarised constituents").

A phrase with more than two children gets virtual phrases ``X@LABEL`` between itself and them::

    left    A(B C D)  ->  A(X@A(B C) D)
    right   A(B C D)  ->  A(B X@A(C D))
    head    from the head outwards, first the siblings on its right, then those on its left:
            A(B C* D E)  ->  A(B X@A(X@A(C D) E))

>>> tree = ConstituencyTree.build("abcd", ("A", 0, ("B", 1), 2, 3))
>>> binary = binarize(tree, "left")
>>> binary.tree.labels, binary.tree.children
(('A', 'X@A', 'X@A', 'B'), ((1, -4), (2, -3), (-1, 3), (-2,)))
>>> binary.origin
(0, 0, 0, 1)
>>> unbinarize(binary.tree) == tree
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from treeglot.errors import ConfigError, TreeError
from treeglot.trees._rebuild import rebuild
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.heads import check_heads, find_heads
from treeglot.trees.headtables import HeadTable, Style

Direction = Literal["left", "right", "head"]

VIRTUAL = "X@"
"""How the label of a virtual phrase begins."""


class BinarizedTree(NamedTuple):
    """``origin[n]`` is the phrase of the original tree from which phrase n of ``tree`` comes: itself, or for a virtual
    phrase the one whose children it groups."""

    tree: ConstituencyTree
    origin: tuple[int, ...]


def is_virtual(label: str) -> bool:
    """Whether a label is that of a virtual phrase."""
    return label.startswith(VIRTUAL)


def binarize(
    tree: ConstituencyTree,
    direction: Direction = "left",
    *,
    heads: Sequence[NodeRef] | None = None,
    table: str | HeadTable = "auto",
    style: Style = "function",
) -> BinarizedTree:
    """At most two children for each phrase. ``heads`` (else `find_heads` with ``table``) is used by direction ``head``."""
    if direction not in get_args(Direction):
        raise ConfigError(f"binarisation {direction!r}", remedy=f"choose one of {', '.join(get_args(Direction))}")
    if not tree.is_continuous:
        raise TreeError("a discontinuous tree cannot be binarised", remedy="use make_continuous first")
    if any(map(is_virtual, tree.labels)):
        raise TreeError(f"the tree has labels that begin with {VIRTUAL}", remedy="use unbinarize first, or rename them")
    if direction == "head":
        if heads is None:
            heads = find_heads(tree, table, style=style)
        check_heads(tree, heads)
    labels = list(tree.labels)
    functions = list(tree.functions)
    ids = list(tree.ids)
    origin = list(range(len(tree)))
    children: list[list[NodeRef]] = []
    grouped: list[list[NodeRef]] = []

    for n, below in enumerate(tree.children):
        if direction == "left":
            start = 0
        elif direction == "right":
            start = len(below) - 1
        else:
            assert heads is not None
            start = below.index(heads[n])
        core: NodeRef = below[start]
        outward = [
            *((sibling, 1) for sibling in below[start + 1 :]),
            *((sibling, 0) for sibling in below[:start][::-1]),
        ]
        pair: list[NodeRef] = [core]
        for k, (sibling, on_right) in enumerate(outward):
            if k > 0:
                grouped.append(pair)
                core = len(labels)
                labels.append(VIRTUAL + tree.labels[n])
                functions.append("")
                origin.append(n)
                if ids:
                    ids.append(f"{tree.ids[n]}@{k}")
            pair = [core, sibling] if on_right else [sibling, core]
        children.append(pair)
    binary, where = rebuild(tree, labels, children + grouped, functions, origin, ids, tree.secondary)
    return BinarizedTree(binary, where)


def unbinarize(tree: ConstituencyTree) -> ConstituencyTree:
    """The tree without its virtual phrases: their children return to the nearest phrase that is not virtual."""
    if tree.labels and is_virtual(tree.labels[0]):
        raise TreeError("the root is a virtual phrase", remedy="unbinarize whole trees only")
    kept = [n for n, label in enumerate(tree.labels) if not is_virtual(label)]
    if len(kept) == len(tree):
        return tree
    number = {n: k for k, n in enumerate(kept)}
    real_parent: list[int] = []  # in the new numbering; preorder numbers put parents first
    children: list[list[NodeRef]] = [[] for _ in kept]
    for n, parent in enumerate(tree.parents):
        above = real_parent[parent] if parent >= 0 else -1
        if n in number:
            if above >= 0:
                children[above].append(number[n])
            real_parent.append(number[n])
        else:
            real_parent.append(above)
    for j, parent in enumerate(tree.word_parents):
        children[real_parent[parent]].append(~j)

    def renumber(node: NodeRef) -> NodeRef:
        if node < 0:
            return node
        if node not in number:
            raise TreeError("a secondary edge ends in a virtual phrase", remedy="attach it to a phrase of the treebank")
        return number[node]

    return ConstituencyTree(
        tree.tokens,
        [tree.labels[n] for n in kept],
        children,
        [tree.functions[n] for n in kept],
        tree.word_functions,
        [tree.ids[n] for n in kept] if tree.ids else (),
        tree.word_ids,
        [edge._replace(node=renumber(edge.node), parent=renumber(edge.parent)) for edge in tree.secondary],
    )
