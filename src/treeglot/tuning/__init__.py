"""Tuning the weights of the log-linear model for a metric: `tune` with MERT, batch MIRA, PRO or the expected score."""

from treeglot.tuning.methods import METHODS, Expected, Mert, Mira, Pro, Weights
from treeglot.tuning.nbest import NBestArrays, NBestEntry, NBestLists
from treeglot.tuning.objective import MetricChoice, Objective, metric_name, metric_weights
from treeglot.tuning.starts import random_start
from treeglot.tuning.state import Iteration
from treeglot.tuning.tune import TuningResult, tune

__all__ = [
    "METHODS",
    "Expected",
    "Iteration",
    "Mert",
    "MetricChoice",
    "Mira",
    "NBestArrays",
    "NBestEntry",
    "NBestLists",
    "Objective",
    "Pro",
    "TuningResult",
    "Weights",
    "metric_name",
    "metric_weights",
    "random_start",
    "tune",
]
