import numpy as np
from numpy.typing import NDArray

class Mark:
    """A state of a forest."""

class Columns:
    """The sub-trees that a matrix has as columns, prepared for many rows."""

    def __len__(self) -> int: ...

class Forest:
    """Trees in which equal sub-trees are stored once. Children have smaller numbers than their parents."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, labels: list[str], arity: list[int], words: list[str]) -> list[int]:
        """Add a tree, its nodes in preorder (arity 0: a pre-terminal); returns their numbers.

        Raises ValueError if it is no tree."""

    def write(self, node: int) -> tuple[list[str], list[int], list[str]]:
        """Labels, arity and words of the tree under a node, as `add` takes them."""

    def mark(self) -> Mark: ...
    def truncate(self, mark: Mark) -> None:
        """Forget what was added after the mark."""

    def columns(self, ids: NDArray[np.uint32]) -> Columns: ...
    def self_kernels(self, ids: NDArray[np.uint32], space: int, decay: float, threads: int) -> list[float]:
        """K(x, x) of each."""

    def fill(
        self,
        rows: NDArray[np.uint32],
        columns: Columns,
        space: int,
        decay: float,
        normalize: bool,
        threads: int,
        out: NDArray[np.float32] | NDArray[np.float64],
    ) -> bool:
        """Fill a matrix; false if a value is too large for its type."""
