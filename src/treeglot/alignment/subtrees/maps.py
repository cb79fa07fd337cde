"""Learning with the terms of a composite kernel: matrices for the exact SVM, vectors for the linear one (spec: phrases and
subtrees, section 6).

A `TermMap` is fitted on training candidates. It gives vectors of any candidates, the kernel matrix between two tables of
candidates, and from what an SVM has learnt (a weight for each dimension, or a coefficient for each training candidate) the
`Scorer` of its term.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

import numpy as np

from treeglot.alignment.subtrees.candidates import CandidateTable, Floats
from treeglot.alignment.subtrees.composite import (
    DECAY,
    AttributeScorer,
    Doubles,
    Forests,
    Longs,
    PlainScorer,
    Scorer,
    Standardizer,
    Term,
    TreeScorer,
    attribute_codes,
    independent_shares,
    pair_keys,
    side_kernel,
)
from treeglot.alignment.subtrees.kernels import Ids

LANDMARKS = 400
"""How many sub-trees of each side (iBTK), or how many candidates (dBTK), a Nyström map compares with."""
MIN_COUNT = 3
"""How often a value of an attribute, or a pair of values, must occur in training to get a dimension of its own."""
MAX_DIMENSIONS = 600
"""The most values of one attribute that get one: the most frequent."""


class TermMap(Protocol):
    """A term that was fitted on training candidates."""

    def vectors(self, table: CandidateTable) -> Floats:
        """Candidates × dimensions; dot products are (about) the kernel."""

    def matrix(self, rows: CandidateTable, columns: CandidateTable) -> Floats:
        """The kernel itself."""

    def scorer_of_weights(self, weights: Doubles) -> Scorer:
        """w · vector(x)"""

    def scorer_of_coefficients(self, table: CandidateTable, coefficients: Doubles) -> Scorer:
        """Σ aₖ K(x, xₖ) over the candidates of a table"""


class PlainMap:
    """Degree 2: all products of two features."""

    def __init__(self, table: CandidateTable) -> None:
        self.standardizer = Standardizer.fit(table.features)
        size = table.features.shape[1] + 1
        self.first, self.second = np.triu_indices(size)
        self.factor = np.where(self.first == self.second, 1.0, np.sqrt(2.0)).astype(np.float32)

    def vectors(self, table: CandidateTable) -> Floats:
        unit = self.standardizer.unit_vectors(table.features)
        result: Floats = unit[:, self.first] * unit[:, self.second] * self.factor
        return result

    def matrix(self, rows: CandidateTable, columns: CandidateTable) -> Floats:
        product = self.standardizer.unit_vectors(rows.features) @ self.standardizer.unit_vectors(columns.features).T
        result: Floats = product * product
        return result

    def scorer_of_weights(self, weights: Doubles) -> Scorer:
        size = int(self.second[-1]) + 1
        form = np.zeros((size, size))
        form[self.first, self.second] = weights * self.factor
        return PlainScorer(self.standardizer, (form + form.T) / 2)

    def scorer_of_coefficients(self, table: CandidateTable, coefficients: Doubles) -> Scorer:
        unit = self.standardizer.unit_vectors(table.features).astype(np.float64)
        return PlainScorer(self.standardizer, (unit * coefficients[:, None]).T @ unit)


class AttributeMap:
    """A dimension for each value (iBTK) or pair of values (dBTK)."""

    def __init__(self, table: CandidateTable, term: Term) -> None:
        self.term = term
        vocabularies = []
        for side in (0, 1):
            values = table.sides[side].attribute(term.space)
            seen = Counter(values[row] for row in np.unique(table.rows(side)).tolist())
            vocabularies.append({value: number for number, value in enumerate(sorted(seen))})
        self.vocabularies = (vocabularies[0], vocabularies[1])
        both = attribute_codes(table, term.space, self.vocabularies)
        if term.combination == "dependent":
            self.kept = (self._frequent(pair_keys(both, self.vocabularies)),)
        else:
            self.kept = (self._frequent(both[0]), self._frequent(both[1]))  # type: ignore[assignment]

    @staticmethod
    def _frequent(values: Longs) -> Longs:
        distinct, counts = np.unique(values, return_counts=True)
        distinct, counts = distinct[counts >= MIN_COUNT], counts[counts >= MIN_COUNT]
        best: Longs = np.sort(distinct[np.argsort(-counts, kind="stable")[:MAX_DIMENSIONS]])
        return best

    def _columns(self, table: CandidateTable) -> list[Longs]:
        both = attribute_codes(table, self.term.space, self.vocabularies)
        return [pair_keys(both, self.vocabularies)] if self.term.combination == "dependent" else list(both)

    def vectors(self, table: CandidateTable) -> Floats:
        parts = []
        height = 1.0 if self.term.combination == "dependent" else np.sqrt(0.5)
        for kept, values in zip(self.kept, self._columns(table), strict=True):
            part = np.zeros((len(table), len(kept)), dtype=np.float32)
            if len(kept):
                place = np.minimum(np.searchsorted(kept, values), len(kept) - 1)
                known = kept[place] == values
                part[np.flatnonzero(known), place[known]] = height
            parts.append(part)
        return np.concatenate(parts, axis=1)

    def matrix(self, rows: CandidateTable, columns: CandidateTable) -> Floats:
        total = np.zeros((len(rows), len(columns)), dtype=np.float32)
        parts = list(zip(self._columns(rows), self._columns(columns), strict=True))
        for mine, theirs in parts:
            total += (mine[:, None] == theirs[None, :]) & (mine[:, None] >= 0)
        total /= len(parts)
        return total

    def scorer_of_weights(self, weights: Doubles) -> Scorer:
        if self.term.combination == "dependent":
            return self._scorer(self.kept[0], (weights,))
        halves = np.split(weights * np.sqrt(0.5), [len(self.kept[0])])
        full = [np.zeros(len(vocabulary)) for vocabulary in self.vocabularies]
        for values, kept, half in zip(full, self.kept, halves, strict=True):
            values[kept] = half
        return self._scorer(np.empty(0, dtype=np.int64), (full[0], full[1]))

    def scorer_of_coefficients(self, table: CandidateTable, coefficients: Doubles) -> Scorer:
        columns = self._columns(table)
        if self.term.combination == "dependent":
            keys, place = np.unique(columns[0], return_inverse=True)
            return self._scorer(keys, (_sums(place, coefficients, len(keys)),))
        source, target = (
            _sums(values, coefficients / 2, len(vocabulary))
            for values, vocabulary in zip(columns, self.vocabularies, strict=True)
        )
        return self._scorer(np.empty(0, dtype=np.int64), (source, target))

    def _scorer(self, keys: Longs, weights: tuple[Doubles, ...]) -> Scorer:
        assert self.term.combination is not None
        return AttributeScorer(self.term.space, self.vocabularies, self.term.combination, keys, weights)


class TreeMap:
    """A Nyström map: comparisons with sampled sub-trees (iBTK: of each side) or candidates (dBTK)."""

    def __init__(
        self,
        table: CandidateTable,
        term: Term,
        forests: Forests,
        *,
        decay: float = DECAY,
        landmarks: int = LANDMARKS,
        seed: int = 1,
        threads: int = 0,
    ) -> None:
        self.term, self.forests, self.decay, self.threads = term, forests, decay, threads
        random = np.random.default_rng(seed)
        ids = [self._ids(table, side) for side in (0, 1)]
        # Half of the landmarks come from linked candidates, which are few but what is to be found.
        chosen: list[int] = []
        for part, share in ((np.flatnonzero(table.labels), 0.5), (np.flatnonzero(~table.labels), 1.0)):
            wanted = int(landmarks * share) - len(chosen)
            chosen += sorted(random.permutation(part)[: max(wanted, 0)].tolist())
        if term.combination == "dependent":
            pairs = np.unique(np.stack([ids[0][chosen], ids[1][chosen]], axis=1), axis=0)
            self.references = (pairs[:, 0].copy(), pairs[:, 1].copy())
            kernels = [
                self._side(side, self.references[side], side_ids) for side, side_ids in enumerate(self.references)
            ]
            self.roots = [_inverse_root(kernels[0] * kernels[1])]
        else:
            self.references = (np.unique(ids[0][chosen]), np.unique(ids[1][chosen]))
            self.roots = [
                _inverse_root(self._side(side, references, references))
                for side, references in enumerate(self.references)
            ]

    def _ids(self, table: CandidateTable, side: int) -> Ids:
        ids: Ids = table.sides[side].ids(self.forests.of(side, self.term.words))[table.rows(side)]
        return ids

    def _side(self, side: int, rows: Ids, columns: Ids) -> Floats:
        forest = self.forests.of(side, self.term.words)
        return side_kernel(forest, rows, columns, self.term, self.decay, self.threads)

    def vectors(self, table: CandidateTable) -> Floats:
        if self.term.combination == "independent":
            parts = []
            shares = independent_shares(table, self.term, self.decay, self.forests)
            for side in (0, 1):
                unique, index = np.unique(self._ids(table, side), return_inverse=True)
                part = (self._side(side, unique, self.references[side]) @ self.roots[side])[index]
                part *= shares[side][:, None].astype(np.float32)
                parts.append(part)
            return np.concatenate(parts, axis=1)
        product = self._product(table, self.references)
        result: Floats = product @ self.roots[0]
        return result

    def _product(self, table: CandidateTable, references: tuple[Ids, Ids]) -> Floats:
        product: Floats | None = None
        for side in (0, 1):
            unique, index = np.unique(self._ids(table, side), return_inverse=True)
            part = self._side(side, unique, references[side])[index]
            product = part if product is None else np.multiply(product, part, out=product)
        assert product is not None
        return product

    def matrix(self, rows: CandidateTable, columns: CandidateTable) -> Floats:
        if self.term.combination == "dependent":
            return self._product(rows, (self._ids(columns, 0), self._ids(columns, 1)))
        mine = independent_shares(rows, self.term, self.decay, self.forests)
        theirs = independent_shares(columns, self.term, self.decay, self.forests)
        total = np.zeros((len(rows), len(columns)), dtype=np.float32)
        for side in (0, 1):
            unique, index = np.unique(self._ids(rows, side), return_inverse=True)
            part = self._side(side, unique, self._ids(columns, side))[index]
            part *= mine[side][:, None].astype(np.float32)
            part *= theirs[side][None, :].astype(np.float32)
            total += part
        return total

    def scorer_of_weights(self, weights: Doubles) -> Scorer:
        sizes = [len(root) for root in self.roots]
        parts = np.split(weights, np.cumsum(sizes)[:-1])
        final = tuple(root.astype(np.float64) @ part for root, part in zip(self.roots, parts, strict=True))
        pairs = np.repeat(np.arange(len(self.references[0]))[:, None], 2, axis=1)
        pairs = pairs if self.term.combination == "dependent" else pairs[:0]
        return TreeScorer(self.term, self.decay, self.forests, self.references, final, pairs)

    def scorer_of_coefficients(self, table: CandidateTable, coefficients: Doubles) -> Scorer:
        used = np.flatnonzero(coefficients)
        table, coefficients = table.take(used), coefficients[used]
        references, places = zip(
            *(np.unique(self._ids(table, side), return_inverse=True) for side in (0, 1)), strict=True
        )
        if self.term.combination == "dependent":
            pairs, place = np.unique(np.stack(places, axis=1), axis=0, return_inverse=True)
            weights = (_sums(place.ravel(), coefficients, len(pairs)),)
            return TreeScorer(self.term, self.decay, self.forests, references, weights, pairs)
        shares = independent_shares(table, self.term, self.decay, self.forests)
        sums = tuple(_sums(places[side], coefficients * shares[side], len(references[side])) for side in (0, 1))
        return TreeScorer(self.term, self.decay, self.forests, references, sums, np.empty((0, 2), dtype=np.int64))


def _sums(places: Longs, values: Doubles, size: int) -> Doubles:
    """The values added up by place."""
    sums: Doubles = np.bincount(places, weights=values, minlength=size).astype(np.float64)
    return sums


def _inverse_root(kernel: Floats) -> Floats:
    """K^(-1/2), without the directions in which K is next to nothing."""
    values, vectors = np.linalg.eigh(kernel.astype(np.float64))
    scale = np.where(values > 1e-6 * values[-1], 1 / np.sqrt(np.maximum(values, 1e-12)), 0.0)
    result: Floats = ((vectors * scale) @ vectors.T).astype(np.float32)
    return result


def fit_map(
    table: CandidateTable,
    term: Term,
    forests: Forests,
    *,
    decay: float = DECAY,
    landmarks: int = LANDMARKS,
    seed: int = 1,
    threads: int = 0,
) -> TermMap:
    """The map of a term, fitted on training candidates."""
    if term.combination is None:
        return PlainMap(table)
    if term.is_attribute:
        return AttributeMap(table, term)
    return TreeMap(table, term, forests, decay=decay, landmarks=landmarks, seed=seed, threads=threads)
