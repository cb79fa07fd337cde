"""Building a changed copy of a constituency tree and learning where each of its phrases came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treeglot.trees.constituency import ConstituencyTree, NodeRef, SecondaryEdge


def rebuild(
    tree: ConstituencyTree,
    labels: Sequence[str],
    children: Sequence[Sequence[NodeRef]],
    functions: Sequence[str],
    origin: Sequence[int],
    ids: Sequence[str] = (),
    secondary: Sequence[SecondaryEdge] = (),
) -> tuple[ConstituencyTree, tuple[int, ...]]:
    """A tree over the tokens of ``tree``, and ``origin`` in the order of its phrases.

    The constructor numbers phrases anew; the numbers given here travel through it as ids.
    """
    numbered = ConstituencyTree(
        tree.tokens,
        labels,
        children,
        functions,
        tree.word_functions,
        map(str, range(len(labels))),
        tree.word_ids,
        secondary,
    )
    order = tuple(map(int, numbered.ids))
    renamed = replace(numbered, ids=tuple(ids[k] for k in order) if ids else ())
    return renamed, tuple(origin[k] for k in order)
