"""Discontinuous constituency trees to continuous ones, with the way back from each new phrase to the old one.

``raise``: in each phrase with a gap, the children that do not touch the part with the head move up to the parent, until no
gap is left (the usual treatment of NEGRA and TIGER). The phrases are the same, some with fewer words. ``split``: a phrase
with gaps becomes several phrases, one for each contiguous part, ``VP*1``, ``VP*2``, ... (after Boyd 2007); no word leaves
its phrase.

Much of the discontinuity of German treebanks is only punctuation that hangs on the root: `attach_punctuation` first moves
each mark into the lowest phrase around it.

>>> tree = ConstituencyTree.build(["what", "did", "he", "say"], ("S", ("VP", 0, 3), 1, ("NP", 2)))
>>> tree.is_continuous
False
>>> split = make_continuous(tree, "split")
>>> split.tree.labels, split.tree.yields, split.origin
(('S', 'VP*1', 'NP', 'VP*2'), ((0, 1, 2, 3), (0,), (2,), (3,)), (0, 1, 2, 1))
>>> raised = make_continuous(tree, "raise", heads=(1, ~3, ~2))
>>> raised.tree.labels, raised.tree.yields, raised.origin
(('S', 'NP', 'VP'), ((0, 1, 2, 3), (2,), (3,)), (0, 2, 1))
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from treeglot.errors import ConfigError
from treeglot.trees._rebuild import rebuild
from treeglot.trees.constituency import ConstituencyTree, NodeRef, SecondaryEdge
from treeglot.trees.heads import check_heads, find_heads
from treeglot.trees.headtables import PUNCTUATION_TAGS, HeadTable, Style
from treeglot.trees.tokens import UNSET

Method = Literal["raise", "split"]


class ContinuousTree(NamedTuple):
    """``origin[n]`` is the phrase of the original tree from which phrase n of ``tree`` comes."""

    tree: ConstituencyTree
    origin: tuple[int, ...]


def make_continuous(
    tree: ConstituencyTree,
    method: Method = "raise",
    *,
    heads: Sequence[NodeRef] | None = None,
    table: str | HeadTable = "auto",
    style: Style = "function",
    mark: bool = True,
) -> ContinuousTree:
    """``heads`` (else `find_heads`) is used by ``raise``; ``mark=False`` leaves the labels of ``split`` parts unmarked."""
    if method not in get_args(Method):
        raise ConfigError(f"method {method!r}", remedy=f"choose one of {', '.join(get_args(Method))}")
    if tree.is_continuous:
        return ContinuousTree(tree, tuple(range(len(tree))))
    if method == "split":
        return _split(tree, mark)
    if heads is None:
        heads = find_heads(tree, table, style=style)
    check_heads(tree, heads)
    return _raise(tree, heads)


def attach_punctuation(tree: ConstituencyTree) -> ContinuousTree:
    """Move each punctuation mark down into the lowest phrase that has words on both sides of it.

    A mark stays below the phrase it was in. Marks are words with a punctuation tag or, without tag, made of punctuation.
    """
    moved: dict[int, int] = {}
    spans = tree.spans
    for j, parent in enumerate(tree.word_parents):
        if parent < 0 or not _is_punctuation(tree.tokens.tags[j], tree.tokens.forms[j]):
            continue
        target = parent
        while True:
            around = [n for n in tree.children[target] if n >= 0 and spans[n][0] < j < spans[n][1] - 1]
            if not around:
                break
            target = min(around, key=lambda n: spans[n][1] - spans[n][0])  # the closest; the first of equals
        if target != parent:
            moved[j] = target
    if not moved:
        return ContinuousTree(tree, tuple(range(len(tree))))
    children = [[child for child in below if child >= 0 or ~child not in moved] for below in tree.children]
    for j, target in moved.items():
        children[target].append(~j)
    return ContinuousTree(
        *rebuild(tree, tree.labels, children, tree.functions, range(len(tree)), tree.ids, tree.secondary)
    )


def _is_punctuation(tag: str, form: str) -> bool:
    if tag != UNSET:
        return tag in PUNCTUATION_TAGS
    return bool(form) and all(unicodedata.category(letter).startswith("P") for letter in form)


def _raise(tree: ConstituencyTree, heads: Sequence[NodeRef]) -> ContinuousTree:
    children = [list(below) for below in tree.children]
    low = [0] * len(tree)
    high = [0] * len(tree)

    def span(child: NodeRef) -> tuple[int, int]:
        return (low[child], high[child]) if child >= 0 else (~child, ~child + 1)

    for n in range(len(tree) - 1, -1, -1):  # children before parents, so all children are contiguous by now
        children[n].sort(key=span)
        place = children[n].index(heads[n])
        start, end = place, place + 1
        while start > 0 and span(children[n][start - 1])[1] == span(children[n][start])[0]:
            start -= 1
        while end < len(children[n]) and span(children[n][end])[0] == span(children[n][end - 1])[1]:
            end += 1
        if tree.parents[n] >= 0:
            children[tree.parents[n]] += children[n][:start] + children[n][end:]
            children[n] = children[n][start:end]
        low[n], high[n] = span(children[n][0])[0], span(children[n][-1])[1]
    return ContinuousTree(
        *rebuild(tree, tree.labels, children, tree.functions, range(len(tree)), tree.ids, tree.secondary)
    )


def _split(tree: ConstituencyTree, mark: bool) -> ContinuousTree:
    labels: list[str] = []
    functions: list[str] = []
    ids: list[str] = []
    origin: list[int] = []
    children: list[list[NodeRef]] = []
    low: list[int] = []
    high: list[int] = []
    parts: list[list[int]] = [[] for _ in tree.labels]  # the new phrases of an old one, left to right

    def span(child: NodeRef) -> tuple[int, int]:
        return (low[child], high[child]) if child >= 0 else (~child, ~child + 1)

    for n in range(len(tree) - 1, -1, -1):
        pieces: list[NodeRef] = []
        for child in tree.children[n]:
            pieces += parts[child] if child >= 0 else [child]
        pieces.sort(key=span)
        for piece in pieces:
            first, end = span(piece)
            if parts[n] and high[parts[n][-1]] == first:
                children[-1].append(piece)
                high[-1] = end
            else:
                parts[n].append(len(children))
                children.append([piece])
                low.append(first)
                high.append(end)
        several = len(parts[n]) > 1
        for k in range(1, len(parts[n]) + 1):
            labels.append(f"{tree.labels[n]}*{k}" if several and mark else tree.labels[n])
            functions.append(tree.functions[n])
            origin.append(n)
            if tree.ids:
                ids.append(f"{tree.ids[n]}*{k}" if several else tree.ids[n])

    def renumber(node: NodeRef) -> NodeRef:
        return parts[node][0] if node >= 0 else node

    secondary = [SecondaryEdge(renumber(edge.node), renumber(edge.parent), edge.label) for edge in tree.secondary]
    return ContinuousTree(*rebuild(tree, labels, children, functions, origin, ids, secondary))
