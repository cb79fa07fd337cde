"""Scores: translations against references (`evaluate`, `compare`), alignments against hand-made ones (`alignment`)."""

from treeglot.evaluation.metrics import METRICS, Metric, Options, check_metrics, usable_metrics
from treeglot.evaluation.report import Report, Score, evaluate
from treeglot.evaluation.significance import TESTS, Comparison, compare, compare_runs

__all__ = [
    "METRICS",
    "TESTS",
    "Comparison",
    "Metric",
    "Options",
    "Report",
    "Score",
    "check_metrics",
    "compare",
    "compare_runs",
    "evaluate",
    "usable_metrics",
]
