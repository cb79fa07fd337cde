"""Tree kernels: how alike two trees, or two pairs of trees, are (spec: phrases and subtrees, section 6; paper `tree-kernels`).

A kernel counts the fragments that two trees share. A fragment is a connected part of a tree in which every node has either
all of its children or none; it weighs ``decay`` to the number of nodes that have them. The spaces of fragments are

- ``sst``: fragments anywhere in the two trees (subset trees);
- ``rdsst``: the same, but nothing is shared unless the roots of the two trees have the same label;
- ``rgsst``: only fragments that start at both roots;
- ``root``: the label of the root and nothing else.

A pre-terminal has its word below it, so with ``words=True`` two pre-terminals are alike if tag and word are equal; with
``words=False`` the words are left out and equal tags suffice. Trees may be discontinuous: children count in the order of
their first words.

>>> cat, dog = "(NP (D the) (N cat))", "(NP (D the) (N dog))"
>>> round(tree_kernel(cat, dog, "sst"), 3)  # NP with its tags, that and "the", "the" alone: 0.4 + 0.4² + 0.4
0.96
>>> round(tree_kernel(cat, dog, "rgsst"), 3), round(tree_kernel(cat, dog, "sst", words=False), 3)
(0.56, 1.584)
>>> kernel_matrix([cat, dog, "(VP (V sees) (NP (D the) (N cat)))"], normalize=True).round(3).tolist()
[[1.0, 0.606, 0.729], [0.606, 1.0, 0.442], [0.729, 0.442, 1.0]]

A pair of trees, a tree and its translation, is compared with another pair by the sum of the two kernels (``independent``,
iBTK) or by their product (``dependent``, dBTK).

>>> pairs = [(cat, "(SN (N gato))"), (dog, "(SN (N perro))")]
>>> bilingual_kernel_matrix(pairs, None, "rgsst", "dependent").round(3).tolist()
[[0.439, 0.224], [0.224, 0.439]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treeglot._core import kernels as core
from treeglot.errors import TreeglotError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.penn import join_label, parse_penn

Space = Literal["sst", "rdsst", "rgsst", "root"]
Combination = Literal["independent", "dependent"]
SPACES: tuple[Space, ...] = get_args(Space)
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)

DECAY = 0.4
"""λ of the paper."""
MEMORY = 8 << 30
"""The largest matrix, in bytes, that is made unless more is asked for."""

Subtree = str | ConstituencyTree | tuple[ConstituencyTree, NodeRef]
"""A tree in Penn brackets, a tree, or the sub-tree under a node of a tree."""
Ids = NDArray[np.uint32]
Matrix = NDArray[Any]


class SubtreeForest:
    """Trees of one language whose equal sub-trees are stored once; kernels between any of their sub-trees.

    A sub-tree has a number; equal sub-trees have the same. ``words=False`` leaves the words out; ``functions=True`` takes
    a node's function as part of its label (``NP-SBJ``).

    >>> forest = SubtreeForest()
    >>> ids = forest.add(parse_penn("(S (NP (N cats)) (VP (V like) (NP (N cats))))"))
    >>> int(ids[1]) == int(ids[3]), forest.matrix(ids[:4], space="root").tolist()[1]
    (True, [0.0, 1.0, 0.0, 1.0])
    """

    def __init__(self, *, words: bool = True, functions: bool = False) -> None:
        self.words = words
        self.functions = functions
        self._core = core.Forest()

    def __len__(self) -> int:
        """The number of different sub-trees, pre-terminals among them."""
        return len(self._core)

    def add(self, tree: ConstituencyTree) -> Ids:
        """The numbers of the sub-trees under each phrase of a tree (phrase n: ``ids[n]``), and after them under each word."""
        labels, arity, words, order = _preorder(tree, self.functions)
        if not self.words:
            words = [""] * len(words)
        ids = np.empty(len(order), dtype=np.uint32)
        ids[order] = self._core.add(labels, arity, words)
        return ids

    def columns(self, ids: ArrayLike) -> core.Columns:
        """Sub-trees prepared as the columns of many matrices."""
        return self._core.columns(np.ascontiguousarray(ids, dtype=np.uint32))

    def self_kernels(
        self, ids: ArrayLike, space: Space = "sst", *, decay: float = DECAY, threads: int = 0
    ) -> NDArray[np.float64]:
        """K(x, x) of each sub-tree."""
        number = _check(space, decay)
        values = np.array(self._core.self_kernels(np.ascontiguousarray(ids, dtype=np.uint32), number, decay, threads))
        if not np.isfinite(values).all():
            raise _too_large()
        return values

    def matrix(
        self,
        rows: ArrayLike,
        columns: ArrayLike | core.Columns | None = None,
        space: Space = "sst",
        *,
        decay: float = DECAY,
        normalize: bool = False,
        threads: int = 0,
        dtype: Any = np.float64,
        memory: int = MEMORY,
    ) -> Matrix:
        """The kernel of each sub-tree of ``rows`` with each of ``columns`` (default: the rows again).

        ``normalize`` divides K(x, y) by √(K(x, x) K(y, y)). ``dtype`` is float64 or float32; ``threads`` 0 takes all cores.
        """
        number = _check(space, decay)
        row_ids = np.ascontiguousarray(rows, dtype=np.uint32)
        if not isinstance(columns, core.Columns):
            columns = self.columns(row_ids if columns is None else columns)
        out = np.empty(_checked_shape(len(row_ids), len(columns), dtype, memory), dtype=dtype)
        if not self._core.fill(row_ids, columns, number, decay, normalize, threads, out):
            raise _too_large()
        return out

    def write(self, number: int) -> tuple[list[str], list[int], list[str]]:
        """A sub-tree as lists in preorder: labels, numbers of children (0: a pre-terminal) and words."""
        return self._core.write(number)

    def read(self, labels: list[str], arity: list[int], words: list[str]) -> int:
        """The inverse of `write`, also from another forest: adds the sub-tree and returns its number."""
        try:
            return self._core.add(labels, arity, words)[0]
        except ValueError as error:
            raise TreeglotError(str(error), remedy="give lists that `write` made") from None

    def mark(self) -> core.Mark:
        """The present state, to return to with `forget`."""
        return self._core.mark()

    def forget(self, mark: core.Mark) -> None:
        """Drop the trees that were added after ``mark``; their numbers are used again."""
        self._core.truncate(mark)


def tree_kernel(
    a: Subtree,
    b: Subtree,
    space: Space = "sst",
    decay: float = DECAY,
    normalize: bool = False,
    *,
    words: bool = True,
    functions: bool = False,
) -> float:
    """The kernel of two trees, or of sub-trees given as (tree, node)."""
    forest = SubtreeForest(words=words, functions=functions)
    first, second = _add_all([a, b], forest)
    return float(forest.matrix([first], [second], space, decay=decay, normalize=normalize, threads=1)[0, 0])


def kernel_matrix(
    trees: Sequence[Subtree],
    others: Sequence[Subtree] | None = None,
    space: Space = "sst",
    decay: float = DECAY,
    normalize: bool = False,
    threads: int = 0,
    *,
    words: bool = True,
    functions: bool = False,
    dtype: Any = np.float64,
    memory: int = MEMORY,
) -> Matrix:
    """Kernels of all ``trees`` (rows) with all ``others`` (columns; default: with one another).

    Equal sub-trees are computed once. ``dtype=numpy.float32`` halves the memory; more than ``memory`` bytes are refused.
    """
    forest = SubtreeForest(words=words, functions=functions)
    unique, rows = np.unique(_add_all(trees, forest), return_inverse=True)
    if others is None:
        other_unique, columns = unique, rows
    else:
        other_unique, columns = np.unique(_add_all(others, forest), return_inverse=True)
    _checked_shape(len(rows), len(columns), dtype, memory)
    distinct = forest.matrix(
        unique,
        other_unique,
        space,
        decay=decay,
        normalize=normalize,
        threads=threads,
        dtype=dtype,
        memory=memory,
    )
    if len(unique) == len(rows) and len(other_unique) == len(columns) and _is_sorted(rows) and _is_sorted(columns):
        return distinct
    result: Matrix = distinct[np.ix_(rows, columns)]
    return result


def bilingual_kernel_matrix(
    pairs: Sequence[tuple[Subtree, Subtree]],
    others: Sequence[tuple[Subtree, Subtree]] | None = None,
    space: Space = "sst",
    combination: Combination = "independent",
    decay: float = DECAY,
    normalize: bool = False,
    threads: int = 0,
    *,
    words: bool = True,
    functions: bool = False,
    dtype: Any = np.float64,
    memory: int = MEMORY,
) -> Matrix:
    """`kernel_matrix` for pairs of trees. Each side's kernel of two sub-trees is computed once, however often they recur."""
    if combination not in COMBINATIONS:
        raise TreeglotError(f"no combination {combination!r}", remedy=f"choose one of {', '.join(COMBINATIONS)}")
    sides: list[Matrix] = []
    row_norms: list[NDArray[np.float64]] = []
    column_norms: list[NDArray[np.float64]] = []
    for side in (0, 1):
        forest = SubtreeForest(words=words, functions=functions)
        rows = _add_all([pair[side] for pair in pairs], forest)
        columns = rows if others is None else _add_all([pair[side] for pair in others], forest)
        unique, row_index = np.unique(rows, return_inverse=True)
        other_unique, column_index = np.unique(columns, return_inverse=True)
        _checked_shape(len(rows), len(columns), dtype, memory)
        distinct = forest.matrix(unique, other_unique, space, decay=decay, threads=threads, dtype=dtype, memory=memory)
        sides.append(distinct[np.ix_(row_index, column_index)])
        if normalize:
            row_norms.append(forest.self_kernels(rows, space, decay=decay, threads=threads))
            column_norms.append(forest.self_kernels(columns, space, decay=decay, threads=threads))
    result = sides[0]
    if combination == "independent":
        result += sides[1]
    else:
        result *= sides[1]
    if normalize:
        for norms, axis in ((row_norms, 1), (column_norms, 0)):
            norm = norms[0] + norms[1] if combination == "independent" else norms[0] * norms[1]
            result /= np.expand_dims(np.sqrt(norm), axis).astype(dtype)
    return result


def _preorder(tree: ConstituencyTree, functions: bool) -> tuple[list[str], list[int], list[str], NDArray[np.int64]]:
    """Labels, number of children and words in preorder, and where each belongs: phrases by number, then words."""
    labels: list[str] = []
    arity: list[int] = []
    words: list[str] = []
    order: list[int] = []
    phrases, tags, forms, children = len(tree), tree.tokens.tags, tree.tokens.forms, tree.children
    for node in tree.preorder():
        if node >= 0:
            labels.append(join_label(tree.labels[node], tree.functions[node]) if functions else tree.labels[node])
            arity.append(len(children[node]))
            words.append("")
            order.append(node)
        else:
            labels.append(join_label(tags[~node], tree.word_functions[~node]) if functions else tags[~node])
            arity.append(0)
            words.append(forms[~node])
            order.append(phrases + ~node)
    return labels, arity, words, np.array(order, dtype=np.int64)


def _add_all(trees: Sequence[Subtree], forest: SubtreeForest) -> Ids:
    """The numbers of the given sub-trees; a tree that is given several times is read once."""
    known: dict[int, tuple[ConstituencyTree, Ids]] = {}
    result = np.empty(len(trees), dtype=np.uint32)
    for n, item in enumerate(trees):
        tree, node = item if isinstance(item, tuple) else (item, None)
        if id(tree) not in known:
            parsed = parse_penn(tree) if isinstance(tree, str) else tree
            known[id(tree)] = parsed, forest.add(parsed)
        parsed, ids = known[id(tree)]
        ref = parsed.root if node is None else node
        if not -len(parsed.tokens) <= ref < len(parsed):
            raise TreeglotError(
                f"item {n + 1}: no node {ref} in a tree of {len(parsed)} phrases and {len(parsed.tokens)} words",
                remedy="phrases count from 0, word j is ~j",
            )
        result[n] = ids[ref if ref >= 0 else len(parsed) + ~ref]
    return result


def _check(space: str, decay: float) -> int:
    if space not in SPACES:
        raise TreeglotError(f"no space {space!r}", remedy=f"choose one of {', '.join(SPACES)}")
    if not 0 < decay <= 1:
        raise TreeglotError(f"a decay of {decay}", remedy="it must be above 0 and at most 1; usual is 0.4")
    return SPACES.index(space)


def _checked_shape(rows: int, columns: int, dtype: Any, memory: int) -> tuple[int, int]:
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TreeglotError(f"a matrix of {np.dtype(dtype)}", remedy="choose float64 or float32")
    size = rows * columns * np.dtype(dtype).itemsize
    if size > memory:
        raise TreeglotError(
            f"a matrix of {rows:,} × {columns:,} needs {size / 1e9:.1f} GB, more than {memory / 1e9:.1f} GB",
            remedy="take float32 or fewer columns at a time, or raise memory",
        )
    return rows, columns


def _too_large() -> TreeglotError:
    return TreeglotError(
        "a kernel value is too large for its number type: some trees are very large",
        remedy="take float64, a smaller decay, smaller trees, or normalize",
    )


def _is_sorted(index: NDArray[np.int64]) -> bool:
    return bool((index[1:] > index[:-1]).all())
