"""Dependency trees.

>>> tokens = Tokens(["the", "old", "dog", "barks"], upos=["DET", "ADJ", "NOUN", "VERB"])
>>> tree = DependencyTree(tokens, heads=[2, 2, 3, -1], deprels=["det", "amod", "nsubj", "root"])
>>> tree.root, tree.children(2), tree.spans[2], tree.is_projective
(3, (0, 1), (0, 3), True)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from treeglot.errors import TreeError
from treeglot.trees.tokens import UNSET, Tokens, check_same_forms, shorten

ROOT = -1
"""The head of the root word."""


@dataclass(frozen=True, init=False)
class DependencyTree:
    """``heads[j]`` is the index of word j's parent, -1 for the one root; ``deprels[j]`` labels that arc.

    ``true_heads`` is set on trees that were projectivised: the heads before lifting (see `projectivity`).
    The constructor checks the invariants: one root, heads in range, no cycle.
    """

    tokens: Tokens
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    true_heads: tuple[int, ...] | None = field(default=None)

    def __init__(
        self,
        tokens: Tokens | Sequence[str],
        heads: Iterable[int],
        deprels: Iterable[str] | None = None,
        true_heads: Iterable[int] | None = None,
    ) -> None:
        tokens = tokens if isinstance(tokens, Tokens) else Tokens(tokens)
        put = object.__setattr__
        put(self, "tokens", tokens)
        put(self, "heads", tuple(heads))
        put(self, "deprels", (UNSET,) * len(tokens) if deprels is None else tuple(deprels))
        put(self, "true_heads", None if true_heads is None else tuple(true_heads))
        self._check()

    @classmethod
    def trusted(cls, tokens: Tokens, heads: tuple[int, ...], deprels: tuple[str, ...]) -> Self:
        """Without the checks: for readers that have already made them."""
        tree = cls.__new__(cls)
        put = object.__setattr__
        put(tree, "tokens", tokens)
        put(tree, "heads", heads)
        put(tree, "deprels", deprels)
        put(tree, "true_heads", None)
        return tree

    def _check(self) -> None:
        n = len(self.tokens)
        for name, column in (("heads", self.heads), ("deprels", self.deprels), ("true_heads", self.true_heads)):
            if column is not None and len(column) != n:
                raise TreeError(f"{n} words but {len(column)} {name}", remedy="give one value for each word")
        if n == 0:
            raise TreeError("a tree without words", remedy="drop empty sentences first")
        roots = [j for j, head in enumerate(self.heads) if head == ROOT]
        for j, head in enumerate(self.heads):
            if not ROOT <= head < n:
                raise TreeError(
                    f"the head of word {j + 1} ({self.tokens.forms[j]}) is {head + 1}, but there are {n} words",
                    remedy="correct the head",
                )
        if len(roots) > 1:
            names = ", ".join(f"{j + 1} ({self.tokens.forms[j]})" for j in roots[:3])
            raise TreeError(f"{len(roots)} roots: {names}", remedy="attach all but one of them")
        cycle = find_cycle(self.heads)
        if cycle:
            names = " → ".join(f"{j + 1} ({self.tokens.forms[j]})" for j in [*cycle, cycle[0]])
            raise TreeError(f"a cycle: {names}", remedy="correct one of these heads")

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def root(self) -> int:
        """The index of the root word."""
        return self.heads.index(ROOT)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.heads]
        for j, head in enumerate(self.heads):
            if head != ROOT:
                below[head].append(j)
        return tuple(map(tuple, below))

    def children(self, n: int) -> tuple[int, ...]:
        """The dependents of word n in surface order."""
        return self._children[n]

    def is_leaf(self, n: int) -> bool:
        return not self._children[n]

    @cached_property
    def postorder(self) -> tuple[int, ...]:
        """All words, dependents before their heads."""
        order: list[int] = []
        stack = [self.root]
        while stack:
            n = stack.pop()
            order.append(n)
            stack.extend(self._children[n])
        order.reverse()
        return tuple(order)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of words in each subtree."""
        sizes = [1] * len(self)
        for n in self.postorder:
            if self.heads[n] != ROOT:
                sizes[self.heads[n]] += sizes[n]
        return tuple(sizes)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The half-open closure of each subtree, all in one pass."""
        low = list(range(len(self)))
        high = [j + 1 for j in low]
        for n in self.postorder:
            head = self.heads[n]
            if head != ROOT:
                low[head] = min(low[head], low[n])
                high[head] = max(high[head], high[n])
        return tuple(zip(low, high, strict=True))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The number of arcs between each word and the root."""
        depths = [0] * len(self)
        for n in reversed(self.postorder):
            if self.heads[n] != ROOT:
                depths[n] = depths[self.heads[n]] + 1
        return tuple(depths)

    def subtree(self, n: int) -> tuple[int, ...]:
        """The words below and including n, in surface order."""
        words: list[int] = []
        stack = [n]
        while stack:
            k = stack.pop()
            words.append(k)
            stack.extend(self._children[k])
        return tuple(sorted(words))

    @cached_property
    def is_projective(self) -> bool:
        """Whether every subtree is one contiguous span."""
        return all(high - low == size for (low, high), size in zip(self.spans, self.sizes, strict=True))

    def __repr__(self) -> str:
        return f"DependencyTree({shorten(self.tokens.forms)}, root={self.tokens.forms[self.root]!r})"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        from treeglot.trees.display import notebook_svg

        return notebook_svg(self)

    def with_tokens(self, tokens: Tokens) -> DependencyTree:
        """The same arcs over other tokens (as many, with the same forms)."""
        check_same_forms(self.tokens, tokens)
        return self if tokens is self.tokens else replace(self, tokens=tokens)


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The words of one cycle in order, or an empty list. Heads must be in range; any number of roots is allowed.

    >>> find_cycle([1, 2, 0, -1]), find_cycle([1, -1])
    ([0, 1, 2], [])
    """
    state = [0] * len(heads)  # 0 new, 1 on the current path, 2 done
    for start in range(len(heads)):
        path: list[int] = []
        n = start
        while n != ROOT and state[n] == 0:
            state[n] = 1
            path.append(n)
            n = heads[n]
        if n != ROOT and state[n] == 1:
            return path[path.index(n) :]
        for k in path:
            state[k] = 2
    return []
