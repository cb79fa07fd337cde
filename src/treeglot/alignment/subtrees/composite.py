"""The composite kernel of the sub-tree aligner: Σ θᵢ Kᵢ over normalised kernels, Σ θᵢ = 1 (paper `tree-kernels`, section 5).

A term is named as in the paper's tables: ``plain`` is the polynomial kernel of degree 2 on the plain features; ``iBTK-SST``,
``dBTK-RgSST``, ``dBTK-Root`` and so on are the bilingual tree kernels in their spaces. ``iBTK-RdSST/tags`` leaves the words
out. Besides ``Root``, which compares the labels of the roots, ``dBTK-path``, ``dBTK-siblings`` and so on compare other
attributes of a node and its surroundings (`treeglot.alignment.subtrees.candidates.ATTRIBUTES`) in the same way.

Each term can give its kernel matrix (for the exact SVM), a *map* to vectors whose dot products are the kernel (for the
linear SVM), and a `Scorer`, which evaluates a sum Σ aₖ K(x, xₖ) quickly: a quadratic form for ``plain``, a table for
attributes, a list of weighted sub-trees for tree kernels. Maps of ``plain`` and of attributes are exact; those of tree kernels
are Nyström maps: with K the kernel among m sampled landmarks, x becomes K^(-1/2) (k(x, l₁), ..., k(x, l_m)).

>>> Term.parse("dBTK-Root"), str(Term.parse("ibtk-rgsst/tags"))
(Term(combination='dependent', space='root', words=True), 'iBTK-RgSST/tags')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.candidates import ATTRIBUTES, CandidateTable, Floats, TreeSide
from treeglot.alignment.subtrees.kernels import DECAY, SPACES, Ids, Space, SubtreeForest
from treeglot.errors import TreeglotError

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]

_SPELLING = {"sst": "SST", "rdsst": "RdSST", "rgsst": "RgSST", "root": "Root"}

PAPER_TERMS = tuple(f"{kind}BTK-{space}" for kind in "di" for space in _SPELLING.values())
"""The tree kernels of the paper's tables 3 and 4."""


@dataclass(frozen=True)
class Term:
    """One kernel of the sum. ``combination`` is None for ``plain``."""

    combination: Literal["independent", "dependent"] | None
    space: str = ""
    words: bool = True

    @classmethod
    def parse(cls, name: str) -> Term:
        """From a name such as ``plain`` or ``dBTK-Root``, in any case."""
        if name.lower() == "plain":
            return cls(None)
        head, _, tail = name.lower().partition("btk-")
        space, _, option = tail.partition("/")
        if head not in ("i", "d") or space not in (*SPACES, *ATTRIBUTES) or option not in ("", "tags"):
            spaces = ", ".join([*_SPELLING.values(), *(name for name in ATTRIBUTES if name != "root")])
            raise TreeglotError(
                f"no kernel {name!r}", remedy=f"kernels are plain, iBTK-X and dBTK-X (or X/tags) with X among {spaces}"
            )
        return cls("independent" if head == "i" else "dependent", space, option != "tags")

    def __str__(self) -> str:
        if self.combination is None:
            return "plain"
        name = f"{self.combination[0]}BTK-{_SPELLING.get(self.space, self.space)}"
        return name if self.words or self.is_attribute else f"{name}/tags"

    @property
    def is_attribute(self) -> bool:
        """Whether it compares attributes and needs no sub-trees."""
        return self.space in ATTRIBUTES

    @property
    def tree_space(self) -> Space:
        return self.space  # type: ignore[return-value]  # one of SPACES unless it is an attribute


class Forests:
    """The sub-trees of both languages, with and without words, that kernels of one model are computed among."""

    def __init__(self) -> None:
        self._forests: dict[tuple[int, bool], SubtreeForest] = {}

    def of(self, side: int, words: bool) -> SubtreeForest:
        key = side, words
        if key not in self._forests:
            self._forests[key] = SubtreeForest(words=words)
        return self._forests[key]

    def mark(self) -> dict[tuple[int, bool], Any]:
        """The present state, to return to with `forget`."""
        return {key: forest.mark() for key, forest in self._forests.items()}

    def forget(self, mark: dict[tuple[int, bool], Any]) -> None:
        """Drop the trees that were added after ``mark``."""
        for key, forest in self._forests.items():
            if key in mark:
                forest.forget(mark[key])


class Scorer(Protocol):
    """Σ aₖ K(x, xₖ) of one term for any candidates x."""

    def scores(self, table: CandidateTable) -> Doubles: ...


class Standardizer:
    """Features with mean 0 and deviation 1 over the training candidates; extreme values are cut off."""

    CUT = 6.0

    def __init__(self, mean: Floats, scale: Floats) -> None:
        self.mean, self.scale = mean, scale

    @classmethod
    def fit(cls, features: Floats) -> Standardizer:
        mean = features.mean(axis=0, dtype=np.float64)
        deviation = features.std(axis=0, dtype=np.float64)
        return cls(
            mean.astype(np.float32), np.where(deviation > 1e-9, 1 / np.maximum(deviation, 1e-9), 0).astype(np.float32)
        )

    def unit_vectors(self, features: Floats) -> Floats:
        """The standardised features and a constant, made as long as 1: (u·v)² is the normalised polynomial kernel."""
        count, size = features.shape
        vectors = np.ones((count, size + 1), dtype=np.float32)
        vectors[:, :size] = np.clip((features - self.mean) * self.scale, -self.CUT, self.CUT)
        vectors[:, size] = np.sqrt(max(size, 1) / 10)  # the constant of (x·y + c)², in proportion to the features
        result: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return result


@dataclass(frozen=True)
class PlainScorer:
    """xᵀ M x on the unit vectors of `Standardizer`."""

    standardizer: Standardizer
    form: Doubles

    def scores(self, table: CandidateTable) -> Doubles:
        vectors = self.standardizer.unit_vectors(table.features)
        result: Doubles = ((vectors @ self.form.astype(np.float32)) * vectors).sum(axis=1, dtype=np.float64)
        return result


def codes(values: list[str], known: dict[str, int]) -> Longs:
    """The numbers of texts; -1 for those that are not known."""
    return np.array([known.get(value, -1) for value in values], dtype=np.int64)


@dataclass(frozen=True)
class AttributeScorer:
    """A weight for each value (iBTK: of either side), or for each pair of values (dBTK)."""

    attribute: str
    vocabularies: tuple[dict[str, int], dict[str, int]]
    combination: str
    keys: Longs
    """dBTK: sorted numbers of pairs (source value · size of the target vocabulary + target value); iBTK: empty."""
    weights: tuple[Doubles, ...]
    """dBTK: one for each key; iBTK: one for each source value, and one for each target value."""

    def scores(self, table: CandidateTable) -> Doubles:
        both = attribute_codes(table, self.attribute, self.vocabularies)
        if self.combination == "independent":
            source, target = (np.append(weights, 0.0) for weights in self.weights)  # -1 is the last: unknown
            result: Doubles = source[both[0]] + target[both[1]]
            return result
        keys = pair_keys(both, self.vocabularies)
        place = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        known = self.keys[place] == keys if len(self.keys) else np.zeros(len(keys), dtype=bool)
        return np.where(known, self.weights[0][place] if len(self.keys) else 0.0, 0.0)


def attribute_codes(
    table: CandidateTable, attribute: str, vocabularies: tuple[dict[str, int], dict[str, int]]
) -> tuple[Longs, Longs]:
    source, target = (
        codes(table.sides[side].attribute(attribute), vocabularies[side])[table.rows(side)] for side in (0, 1)
    )
    return source, target


def pair_keys(both: tuple[Longs, Longs], vocabularies: tuple[dict[str, int], dict[str, int]]) -> Longs:
    keys: Longs = np.where((both[0] >= 0) & (both[1] >= 0), both[0] * max(len(vocabularies[1]), 1) + both[1], -1)
    return keys


@dataclass(frozen=True)
class TreeScorer:
    """Weighted reference sub-trees. iBTK: ``weights`` of those of each side; dBTK: of pairs of them, ``pairs`` × 2."""

    term: Term
    decay: float
    forests: Forests
    references: tuple[Ids, Ids]
    weights: tuple[Doubles, ...]
    pairs: Longs

    def scores(self, table: CandidateTable) -> Doubles:
        if self.term.combination == "independent":
            shares = independent_shares(table, self.term, self.decay, self.forests)
            total = np.zeros(len(table))
            for side in (0, 1):
                rows, index = np.unique(table.rows(side), return_inverse=True)
                kernel = self._kernel(table.sides[side], side, rows)
                total += shares[side] * (kernel @ self.weights[side].astype(np.float32))[index]
            return total
        total = np.zeros(len(table))
        for start in range(0, len(table), 2048):  # the matrix of candidates × references is made in parts
            part = table.take(np.arange(start, min(start + 2048, len(table))))
            product: Any = 1
            for side in (0, 1):
                rows, index = np.unique(part.rows(side), return_inverse=True)
                product = product * self._kernel(part.sides[side], side, rows)[np.ix_(index, self.pairs[:, side])]
            total[start : start + len(part)] = product @ self.weights[0].astype(np.float32)
        return total

    def _kernel(self, side: TreeSide, number: int, rows: Longs) -> Floats:
        forest = self.forests.of(number, self.term.words)
        return side_kernel(forest, side.ids(forest)[rows], self.references[number], self.term, self.decay)


def side_kernel(forest: SubtreeForest, rows: Ids, columns: Ids, term: Term, decay: float, threads: int = 0) -> Floats:
    """The normalised kernel of one language; equal sub-trees are computed once."""
    unique, row_index = np.unique(rows, return_inverse=True)
    other, column_index = np.unique(columns, return_inverse=True)
    kernel = forest.matrix(
        unique, other, term.tree_space, decay=decay, normalize=True, dtype=np.float32, threads=threads
    )
    result: Floats = kernel[np.ix_(row_index, column_index)]
    return result


def independent_shares(table: CandidateTable, term: Term, decay: float, forests: Forests) -> tuple[Doubles, Doubles]:
    """√(K(S,S) / (K(S,S) + K(T,T))) of each candidate, and the same for T.

    With k̂ the normalised kernels of the two sides, normalised iBTK is the sum over the sides of share · share' · k̂.
    """
    norms = []
    for side in (0, 1):
        rows, index = np.unique(table.rows(side), return_inverse=True)
        forest = forests.of(side, term.words)
        ids = table.sides[side].ids(forest)[rows]
        unique, place = np.unique(ids, return_inverse=True)
        norms.append(forest.self_kernels(unique, term.tree_space, decay=decay)[place][index])
    total = norms[0] + norms[1]
    return np.sqrt(norms[0] / total), np.sqrt(norms[1] / total)


__all__ = [
    "DECAY",
    "PAPER_TERMS",
    "AttributeScorer",
    "Forests",
    "PlainScorer",
    "Scorer",
    "Standardizer",
    "Term",
    "TreeScorer",
    "attribute_codes",
    "codes",
    "independent_shares",
    "pair_keys",
    "side_kernel",
]
