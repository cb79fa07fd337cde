"""Other weights to start a replicate of a tuning run from.

>>> start = random_start({"lm": 0.5, "words": -1.0, "copied": -100.0}, ["copied"], seed=2)
>>> start["lm"] > 0 > start["words"], start["copied"], start["lm"] != 0.5
(True, -100.0, True)
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping

from treeglot.tuning.methods import Weights

DEVIATION = 0.7
"""Of the logarithm of the factor that a weight is multiplied by: mostly between half and twice as much."""


def random_start(initial: Mapping[str, float], fixed: Iterable[str], seed: int) -> Weights:
    """Weights with the signs of ``initial`` and sizes drawn around theirs; the fixed ones as they are."""
    rng = random.Random(f"start {seed}")
    kept = frozenset(fixed)
    drawn = {name: weight * math.exp(DEVIATION * rng.gauss(0, 1)) for name, weight in initial.items()}
    return {name: initial[name] if name in kept else weight for name, weight in drawn.items()}
