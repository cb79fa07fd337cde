"""Tuning the weights of the log-linear model for BLEU: `tune` with MERT, batch MIRA, PRO or expected BLEU."""

from treeglot.tuning.methods import METHODS, Expected, Mert, Mira, Pro, Weights
from treeglot.tuning.nbest import NBestArrays, NBestEntry, NBestLists
from treeglot.tuning.starts import random_start
from treeglot.tuning.state import Iteration
from treeglot.tuning.tune import TuningResult, tune

__all__ = [
    "METHODS",
    "Expected",
    "Iteration",
    "Mert",
    "Mira",
    "NBestArrays",
    "NBestEntry",
    "NBestLists",
    "Pro",
    "TuningResult",
    "Weights",
    "random_start",
    "tune",
]
