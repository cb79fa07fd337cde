"""Support vector machines for the sub-tree aligner (spec: phrases and subtrees, section 6).

`fit_exact` solves the usual dual problem on a kernel matrix (scikit-learn's SVC, from the extra ``subtrees``). `fit_linear`
serves where that matrix does not fit into memory: the candidates come as vectors whose dot products are, or approximate, the
kernel, and Newton's method minimises the primal problem with the squared hinge loss,
½‖w‖² + C Σ cᵢ max(0, 1 - yᵢ(w·xᵢ + b))², which takes a handful of steps whatever the number of candidates.

>>> import numpy as np
>>> x = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, -1.0], [3.0, -1.0]], dtype=np.float32)
>>> fitted = fit_linear(x, np.array([True, True, False, False]), cost=2.4)
>>> (x @ fitted.weights + fitted.bias > 0).tolist()
[True, True, False, False]
>>> confidence(np.array([-1.0, 0.0, 2.0])).round(3).tolist()
[0.269, 0.5, 0.881]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.base import require
from treeglot.errors import TreeglotError

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]

COST = 2.4
"""C of the paper."""
PART = 2000
"""`fit_linear` begins with an eighth of the candidates if that is at least so many."""


class LinearFit(NamedTuple):
    """The margin of x is ``weights · x + bias``."""

    weights: Doubles
    bias: float


class DualFit(NamedTuple):
    """The margin of x is ``Σ coefficients[k] · K(x, x_k) + bias`` over all training candidates; most coefficients are 0."""

    coefficients: Doubles
    bias: float


def confidence(margins: NDArray[Any]) -> Doubles:
    """The chance of a link by its distance from the hyperplane: 1 / (1 + exp(-distance))."""
    clipped = np.clip(np.asarray(margins, dtype=np.float64), -500, 500)
    result: Doubles = 1.0 / (1.0 + np.exp(-clipped))
    return result


def fit_exact(
    kernel: NDArray[Any],
    labels: Bools,
    *,
    cost: float = COST,
    positive_weight: float = 1.0,
    cache_mb: float = 500,
    tolerance: float = 1e-3,
) -> DualFit:
    """The SVM with the hinge loss on a matrix of kernel values (candidates × candidates)."""
    _check_labels(labels, len(kernel))
    svm: Any = require("sklearn.svm", "subtrees", "it is needed to train an aligner")
    machine = svm.SVC(
        C=cost,
        kernel="precomputed",
        class_weight={True: positive_weight, False: 1.0},
        cache_size=cache_mb,
        tol=tolerance,
    )
    machine.fit(kernel, labels)
    coefficients = np.zeros(len(labels))
    coefficients[machine.support_] = machine.dual_coef_[0]
    return DualFit(coefficients, float(machine.intercept_[0]))


def fit_linear(
    vectors: Floats,
    labels: Bools,
    *,
    cost: float = COST,
    positive_weight: float = 1.0,
    start: LinearFit | None = None,
    steps: int = 50,
    tolerance: float = 1e-4,
) -> LinearFit:
    """The SVM with the squared hinge loss on vectors (candidates × dimensions). ``start`` is a fit to continue from."""
    _check_labels(labels, len(vectors))
    count, size = vectors.shape
    signs = np.where(labels, 1.0, -1.0)
    costs = cost * np.where(labels, positive_weight, 1.0)
    if start is None and count >= PART * 8:  # begin where a part of the candidates leads: all are active only at zero
        part_labels = labels[::8]
        if part_labels.any() and not part_labels.all():
            options = {
                "cost": 8 * cost,
                "positive_weight": positive_weight,
                "steps": steps,
                "tolerance": 10 * tolerance,
            }
            start = fit_linear(np.ascontiguousarray(vectors[::8]), part_labels, **options)  # type: ignore[arg-type]
    weights = np.zeros(size) if start is None else start.weights.astype(np.float64)
    bias = 0.0 if start is None else start.bias
    margins = vectors @ weights.astype(np.float32) + np.float32(bias)
    loss = _loss(weights, costs, signs, margins)
    first_norm = 2 * float(np.linalg.norm(vectors.T @ (costs * signs).astype(np.float32)))  # where weights are zero
    for step in range(steps):
        active = np.flatnonzero(signs * margins < 1)
        part = vectors[active]
        residual = costs[active] * (margins[active] - signs[active])  # half of the derivative by the margin
        gradient = np.append(weights + 2 * (part.T @ residual.astype(np.float32)), 2 * residual.sum())
        norm = float(np.linalg.norm(gradient))
        if norm <= tolerance * first_norm or not len(active):
            break
        scaled = part * np.sqrt(2 * costs[active])[:, None].astype(np.float32)
        hessian = np.empty((size + 1, size + 1))
        hessian[:size, :size] = scaled.T @ scaled
        hessian[np.arange(size), np.arange(size)] += 1.0
        hessian[size, :size] = hessian[:size, size] = part.T @ (2 * costs[active]).astype(np.float32)
        hessian[size, size] = 2 * costs[active].sum() + 1e-9
        direction = -np.linalg.solve(hessian, gradient)
        change = vectors @ direction[:size].astype(np.float32) + direction[size]
        slope = float(gradient @ direction)
        rate = 1.0
        while True:
            new_weights = weights + rate * direction[:size]
            new_margins = margins + rate * change
            new_loss = _loss(new_weights, costs, signs, new_margins)
            if new_loss <= loss + 1e-4 * rate * slope or rate < 1e-6:
                break
            rate /= 2
        if new_loss >= loss and step:  # nothing left that single precision can see
            break
        weights, bias, margins, loss = new_weights, bias + rate * float(direction[size]), new_margins, new_loss
    return LinearFit(weights, bias)


def _loss(weights: Doubles, costs: Doubles, signs: Doubles, margins: NDArray[Any]) -> float:
    short = np.maximum(0.0, 1.0 - signs * margins)
    return float(0.5 * weights @ weights + (costs * short * short).sum())


def _check_labels(labels: Bools, count: int) -> None:
    if len(labels) != count:
        raise TreeglotError(f"{count:,} candidates but {len(labels):,} labels", remedy="give one label for each")
    if labels.all() or not labels.any():
        what = "no candidate is linked" if not labels.any() else "all candidates are linked"
        raise TreeglotError(f"nothing to learn: {what}", remedy="give aligned trees with links between phrases")
