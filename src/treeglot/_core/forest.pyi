from collections.abc import Sequence

from treeglot._core.lm import Model

LANGUAGE_MODEL_FEATURE: int
WORD_FEATURE: int

class Forest:
    """A forest built by hand: for tests, measurements and small examples."""

    def __init__(self, model: Model, weights: Sequence[float]) -> None: ...
    def add_node(self, begin: int = 0, end: int = 0) -> int: ...
    def add_edge(
        self,
        head: int,
        options: Sequence[tuple[Sequence[str | int], Sequence[tuple[int, float]]]],
        tails: Sequence[int],
    ) -> None:
        """Options are a target, whose numbers are places in ``tails``, each once, and feature values."""

    def set_goal(self, goal: int) -> None: ...
    def __len__(self) -> int: ...

class Search:
    """Cube pruning and lazy k-best derivations. A limit of 0 is no limit."""

    def __init__(
        self,
        model: Model,
        weights: Sequence[float],
        *,
        stack_limit: int = 300,
        stack_threshold: float = 1e-3,
        pop_limit: int = 0,
    ) -> None: ...
    def run(
        self, forest: Forest, size: int = 1, *, distinct: bool = False, steps: bool = True
    ) -> list[tuple[float, list[float], list[str], list[tuple[int, int, int, list[int]]]]]:
        """Score, features, words and steps of each derivation, best first. A step: node, edge, option as it was given, and
        the steps that fill the tails. Raises ValueError if the forest has a cycle."""

    def counts(self) -> tuple[int, int, int]:
        """Nodes, hypotheses and kept states of the last run."""
