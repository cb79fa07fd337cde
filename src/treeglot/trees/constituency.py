"""Constituency trees, continuous or not.

The phrases of a tree are numbered in preorder from the root, 0; the words are those of the shared `Tokens`. Where a
phrase or a word can stand (children, links between trees) it is a `NodeRef`: phrase n is ``n``, word j is ``~j`` (that is
``-1 - j``). Pre-terminals are not phrases: a word's tag is its token's ``xpos`` (or ``upos``).

>>> tree = ConstituencyTree.build(["Intel", "launches", "laptops"], ("S", ("NP", 0), ("VP", 1, ("NP", 2))))
>>> tree.labels, tree.children[2], tree.spans[2]
(('S', 'NP', 'VP', 'NP'), (-2, 3), (1, 3))
>>> tree.parent(~2), tree.is_continuous
(3, True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from treeglot.errors import TreeError
from treeglot.trees.tokens import Tokens, check_same_forms, shorten

NodeRef = int
"""A phrase (its number, 0 or more) or a word (``~j`` for word j)."""


class SecondaryEdge(NamedTuple):
    """A TIGER secondary edge: ``node`` also plays the role ``label`` under ``parent``."""

    node: NodeRef
    parent: NodeRef
    label: str


@dataclass(frozen=True, init=False)
class ConstituencyTree:
    """``labels[n]``, ``functions[n]`` (the edge to the parent, ``""`` if none) and ``children[n]`` describe phrase n.

    ``word_functions[j]`` is the function of word j. ``ids`` and ``word_ids`` are the names of the nodes in a treebank file
    (empty tuples if they have none); links between treebanks use them. Children are ordered by their first word, phrases
    numbered in preorder, so that equal trees compare equal. A tree of a single word may have no phrase at all.
    """

    tokens: Tokens
    labels: tuple[str, ...]
    children: tuple[tuple[NodeRef, ...], ...]
    functions: tuple[str, ...]
    word_functions: tuple[str, ...]
    ids: tuple[str, ...]
    word_ids: tuple[str, ...]
    secondary: tuple[SecondaryEdge, ...]

    def __init__(
        self,
        tokens: Tokens | Sequence[str],
        labels: Iterable[str],
        children: Iterable[Iterable[NodeRef]],
        functions: Iterable[str] | None = None,
        word_functions: Iterable[str] | None = None,
        ids: Iterable[str] = (),
        word_ids: Iterable[str] = (),
        secondary: Iterable[SecondaryEdge] = (),
    ) -> None:
        tokens = tokens if isinstance(tokens, Tokens) else Tokens(tokens)
        label_list = tuple(labels)
        put = object.__setattr__
        put(self, "tokens", tokens)
        columns = _canonical(
            len(tokens),
            label_list,
            [list(below) for below in children],
            ("",) * len(label_list) if functions is None else tuple(functions),
            tuple(ids),
            tuple(secondary),
        )
        for name, value in columns.items():
            put(self, name, value)
        put(self, "word_functions", ("",) * len(tokens) if word_functions is None else tuple(word_functions))
        put(self, "word_ids", tuple(word_ids))
        for name, expected in (("word_functions", True), ("word_ids", False)):
            column = getattr(self, name)
            if len(column) != len(tokens) and (expected or column):
                raise TreeError(f"{len(tokens)} words but {len(column)} {name}", remedy="give one for each word")

    @classmethod
    def trusted(
        cls,
        tokens: Tokens,
        labels: tuple[str, ...],
        children: tuple[tuple[NodeRef, ...], ...],
        functions: tuple[str, ...],
        word_functions: tuple[str, ...],
    ) -> ConstituencyTree:
        """Without the checks, for readers whose trees are sound and already in order (preorder, children by first word)."""
        tree = cls.__new__(cls)
        put = object.__setattr__
        put(tree, "tokens", tokens)
        put(tree, "labels", labels)
        put(tree, "children", children)
        put(tree, "functions", functions)
        put(tree, "word_functions", word_functions)
        put(tree, "ids", ())
        put(tree, "word_ids", ())
        put(tree, "secondary", ())
        return tree

    @classmethod
    def build(cls, tokens: Tokens | Sequence[str], nested: Any) -> ConstituencyTree:
        """From nested tuples ``(label, child, ...)`` in which a word is its index. ``label`` may be ``(label, function)``."""
        labels: list[str] = []
        functions: list[str] = []
        children: list[list[int]] = []
        if isinstance(nested, int):
            return cls(tokens, (), ())
        stack: list[tuple[Any, int]] = [(nested, -1)]
        while stack:
            part, parent = stack.pop()
            if isinstance(part, int):
                children[parent].append(~part)
                continue
            number = len(labels)
            label, function = part[0] if isinstance(part[0], tuple) else (part[0], "")
            labels.append(label)
            functions.append(function)
            children.append([])
            if parent >= 0:
                children[parent].append(number)
            stack.extend((child, number) for child in part[1:])
        return cls(tokens, labels, children, functions)

    def __len__(self) -> int:
        """The number of phrases."""
        return len(self.labels)

    def __bool__(self) -> bool:
        """A tree is true, also that of a single word without phrases."""
        return True

    @property
    def root(self) -> NodeRef:
        return 0 if self.labels else ~0

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The parent of each phrase, -1 for the root."""
        above = [-1] * len(self)
        for n, below in enumerate(self.children):
            for child in below:
                if child >= 0:
                    above[child] = n
        return tuple(above)

    @cached_property
    def word_parents(self) -> tuple[int, ...]:
        """The phrase directly above each word (-1 in a tree without phrases)."""
        above = [-1] * len(self.tokens)
        for n, below in enumerate(self.children):
            for child in below:
                if child < 0:
                    above[~child] = n
        return tuple(above)

    def parent(self, node: NodeRef) -> int:
        """The phrase above a phrase or a word, -1 for the root."""
        return self.parents[node] if node >= 0 else self.word_parents[~node]

    def label(self, node: NodeRef) -> str:
        """A phrase's label or a word's tag."""
        return self.labels[node] if node >= 0 else self.tokens.tags[~node]

    @cached_property
    def yields(self) -> tuple[tuple[int, ...], ...]:
        """The words under each phrase, in surface order."""
        words: list[list[int]] = [[] for _ in self.labels]
        for n in range(len(self) - 1, -1, -1):
            for child in self.children[n]:
                if child >= 0:
                    words[n].extend(words[child])
                else:
                    words[n].append(~child)
            words[n].sort()
        return tuple(map(tuple, words))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of words under each phrase."""
        sizes = [0] * len(self)
        for n in range(len(self) - 1, -1, -1):
            sizes[n] = sum(sizes[child] if child >= 0 else 1 for child in self.children[n])
        return tuple(sizes)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The half-open closure of each phrase's words."""
        low = [len(self.tokens)] * len(self)
        high = [0] * len(self)
        for n in range(len(self) - 1, -1, -1):
            for child in self.children[n]:
                first, last = (low[child], high[child]) if child >= 0 else (~child, ~child + 1)
                low[n] = min(low[n], first)
                high[n] = max(high[n], last)
        return tuple(zip(low, high, strict=True))

    def words(self, node: NodeRef) -> tuple[int, ...]:
        """The words under a phrase or a word itself."""
        return self.yields[node] if node >= 0 else (~node,)

    @cached_property
    def is_continuous(self) -> bool:
        """Whether every phrase covers a contiguous span."""
        return not any(self.discontinuous)

    @cached_property
    def discontinuous(self) -> tuple[bool, ...]:
        """For each phrase, whether it has a gap."""
        return tuple(high - low != size for (low, high), size in zip(self.spans, self.sizes, strict=True))

    def preorder(self) -> Iterator[NodeRef]:
        """All phrases and words, parents before children, left to right."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            if node >= 0:
                stack.extend(reversed(self.children[node]))

    def __repr__(self) -> str:
        root = self.labels[0] if self.labels else self.label(self.root)
        return f"ConstituencyTree({shorten(self.tokens.forms)}, root={root!r}, phrases={len(self)})"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        from treeglot.trees.display import notebook_svg

        return notebook_svg(self)

    def with_tokens(self, tokens: Tokens) -> ConstituencyTree:
        """The same phrases over other tokens (as many, with the same forms)."""
        check_same_forms(self.tokens, tokens)
        return self if tokens is self.tokens else replace(self, tokens=tokens)


def _canonical(
    size: int,
    labels: tuple[str, ...],
    children: list[list[int]],
    functions: tuple[str, ...],
    ids: tuple[str, ...],
    secondary: tuple[SecondaryEdge, ...],
) -> Mapping[str, tuple[Any, ...]]:
    """Check the shape of a tree and renumber it: children by first word, phrases in preorder."""
    if size == 0:
        raise TreeError("a tree without words", remedy="drop empty sentences first")
    if not len(labels) == len(children) == len(functions) or (ids and len(ids) != len(labels)):
        raise TreeError("labels, children, functions and ids differ in number", remedy="give one for each phrase")
    if not labels:
        if size != 1:
            raise TreeError(f"{size} words but no phrase", remedy="add a phrase above them")
        return {"labels": (), "children": (), "functions": (), "ids": (), "secondary": secondary}
    parent_count = [0] * len(labels)
    word_count = [0] * size
    for n, below in enumerate(children):
        if not below:
            raise TreeError(f"phrase {labels[n]!r} has no child", remedy="drop phrases without words")
        for child in below:
            if child >= len(labels) or ~child >= size:
                raise TreeError(f"a child of {labels[n]!r} does not exist", remedy="correct the child's number")
            if child >= 0:
                parent_count[child] += 1
            else:
                word_count[~child] += 1
    roots = [n for n, count in enumerate(parent_count) if count == 0]
    for n, count in enumerate(parent_count):
        if count > 1:
            raise TreeError(f"phrase {labels[n]!r} has {count} parents", remedy="use a secondary edge")
    for j, count in enumerate(word_count):
        if count != 1:
            raise TreeError(f"word {j + 1} has {count} parents", remedy="attach each word to one phrase")
    if len(roots) != 1:
        what = f"{len(roots)} roots" if roots else "no root: the phrases form a cycle"
        raise TreeError(what, remedy="put one phrase above all others")
    order: list[int] = []  # any preorder first, to find cycles and first words
    stack = [roots[0]]
    while stack:
        n = stack.pop()
        order.append(n)
        stack.extend(child for child in children[n] if child >= 0)
    if len(order) != len(labels):
        raise TreeError("some phrases form a cycle apart from the root", remedy="correct their parents")
    first = [size] * len(labels)

    def first_word(child: int) -> int:
        return first[child] if child >= 0 else ~child

    for n in reversed(order):
        children[n].sort(key=first_word)
        first[n] = first_word(children[n][0])
    order.clear()
    stack.append(roots[0])
    while stack:
        n = stack.pop()
        order.append(n)
        stack.extend(child for child in reversed(children[n]) if child >= 0)
    number = [0] * len(labels)
    for new, old in enumerate(order):
        number[old] = new

    def renumber(child: int) -> int:
        return number[child] if child >= 0 else child

    return {
        "labels": tuple(labels[n] for n in order),
        "children": tuple(tuple(renumber(child) for child in children[n]) for n in order),
        "functions": tuple(functions[n] for n in order),
        "ids": tuple(ids[n] for n in order) if ids else (),
        "secondary": tuple(SecondaryEdge(renumber(edge.node), renumber(edge.parent), edge.label) for edge in secondary),
    }
