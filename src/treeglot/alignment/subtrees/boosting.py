"""Boosted decision trees as plain arrays: fitted by scikit-learn, applied and stored without it.

>>> import numpy as np
>>> x = np.arange(400, dtype=np.float32).reshape(-1, 1)
>>> trees = BoostedTrees.fit(x, x[:, 0] > 200)
>>> trees.chances(np.array([[10.0], [390.0]])).round().tolist()
[0.0, 1.0]
>>> BoostedTrees.of_state(trees.state()).chances(np.array([[390.0]])).round().tolist()
[1.0]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treeglot.alignment.base import require
from treeglot.alignment.subtrees.svm import confidence

Doubles = NDArray[np.float64]

TREES = 150
LEAVES = 24
RATE = 0.1


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Nodes of all trees one after another. A node compares ``feature`` with ``threshold``: up to it, go ``left``, else
    ``right``; a leaf has itself as both. The leaves' ``value``s and ``bias`` add up to the log odds."""

    feature: NDArray[np.int32]
    threshold: Doubles
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Doubles
    roots: NDArray[np.int32]
    depth: int
    bias: float

    @classmethod
    def fit(
        cls, features: ArrayLike, labels: ArrayLike, *, trees: int = TREES, leaves: int = LEAVES, rate: float = RATE
    ) -> BoostedTrees:
        """Learn from rows of features. Nothing is random. One thread: OpenMP's wait for each other on a busy machine."""
        ensemble: Any = require("sklearn.ensemble", "subtrees", "it is needed to train an aligner")
        pools: Any = require("threadpoolctl", "subtrees", "it is needed to train an aligner")
        machine = ensemble.HistGradientBoostingClassifier(
            max_iter=trees,
            max_leaf_nodes=leaves,
            learning_rate=rate,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=0,
        )
        with pools.threadpool_limits(limits=1, user_api="openmp"):
            machine.fit(np.asarray(features), np.asarray(labels, dtype=bool))
        columns: list[list[NDArray[Any]]] = [[] for _ in range(5)]
        roots, start, depth = [], 0, 0
        for (tree,) in machine._predictors:
            nodes = tree.nodes
            numbers = start + np.arange(len(nodes), dtype=np.int32)
            leaf = nodes["is_leaf"].astype(bool)
            for column, part in zip(
                columns,
                (
                    np.where(leaf, 0, nodes["feature_idx"]).astype(np.int32),
                    np.where(leaf, np.inf, nodes["num_threshold"]),
                    np.where(leaf, numbers, start + nodes["left"]).astype(np.int32),
                    np.where(leaf, numbers, start + nodes["right"]).astype(np.int32),
                    np.where(leaf, nodes["value"], 0.0),
                ),
                strict=True,
            ):
                column.append(part)
            roots.append(start)
            start += len(nodes)
            depth = max(depth, int(nodes["depth"].max()))
        feature, threshold, left, right, value = (np.concatenate(column) for column in columns)
        bias = float(np.ravel(machine._baseline_prediction)[0])
        return cls(feature, threshold, left, right, value, np.array(roots, dtype=np.int32), depth, bias)

    def log_odds(self, features: ArrayLike) -> Doubles:
        """The log odds of each row."""
        rows = np.asarray(features, dtype=np.float64)
        total = np.full(len(rows), self.bias)
        flat, width = rows.ravel(), rows.shape[1]
        starts = np.arange(len(rows)) * width
        for root in self.roots.tolist():
            place = np.full(len(rows), root, dtype=np.int32)
            moving = np.arange(len(rows))  # the rows that have not come to a leaf yet
            for _ in range(self.depth):
                here = place[moving]
                low = flat[starts[moving] + self.feature[here]] <= self.threshold[here]
                there = np.where(low, self.left[here], self.right[here])
                place[moving] = there
                moving = moving[self.left[there] != there]
                if not len(moving):
                    break
            total += self.value[place]
        return total

    def chances(self, features: ArrayLike) -> Doubles:
        """The chance of each row."""
        return confidence(self.log_odds(features))

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save."""
        names = ("feature", "threshold", "left", "right", "value", "roots")
        scalars = {"depth": np.array(self.depth), "bias": np.array(self.bias)}
        return {name: getattr(self, name) for name in names} | scalars

    @classmethod
    def of_state(cls, arrays: Mapping[str, NDArray[Any]]) -> BoostedTrees:
        """The inverse of `state`. `ValueError` if the arrays are not such trees."""
        names = ("feature", "threshold", "left", "right", "value", "roots")
        feature, threshold, left, right, value, roots = (arrays[name] for name in names)
        count = len(value)
        sizes = {len(column) for column in (feature, threshold, left, right)}
        inside = all(((column >= 0) & (column < max(count, 1))).all() for column in (left, right, roots))
        if sizes != {count} or not inside or (feature < 0).any():
            raise ValueError("not boosted trees")
        return cls(feature, threshold, left, right, value, roots, int(arrays["depth"]), float(arrays["bias"]))
