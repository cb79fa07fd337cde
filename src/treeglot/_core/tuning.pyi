"""Metrics and their statistics, merged n-best lists and the optimisers over them; documented in treeglot.tuning."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class References:
    def __init__(self, references: Sequence[Sequence[str]]) -> None: ...
    def __len__(self) -> int: ...
    def statistics(self, sentences: NDArray[np.int32], texts: Sequence[str], threads: int = 1) -> NDArray[np.int32]: ...

class ChrfReferences:
    def __init__(self, references: Sequence[Sequence[str]], words: bool = False) -> None: ...
    def statistics(self, sentences: NDArray[np.int32], texts: Sequence[str], threads: int = 1) -> NDArray[np.int32]: ...

class TerReferences:
    def __init__(self, references: Sequence[Sequence[str]]) -> None: ...
    def statistics(self, sentences: NDArray[np.int32], texts: Sequence[str], threads: int = 1) -> NDArray[np.int32]: ...

class Metric:
    def __init__(self, parts: Sequence[tuple[str, float]], references: int = 1) -> None: ...
    @property
    def columns(self) -> int: ...
    def score(self, rows: NDArray[np.int32]) -> float: ...
    def sentences(self, rows: NDArray[np.int32]) -> list[float]: ...

class Pool:
    def __init__(self, sentences: int, features: int, metric: Metric) -> None: ...
    def __len__(self) -> int: ...
    def add(self, sentences: NDArray[np.int32], values: NDArray[np.float64], statistics: NDArray[np.int32]) -> int: ...
    def varies(self, feature: int) -> bool: ...
    def score(self, weights: Sequence[float]) -> float: ...
    def line_search(
        self,
        weights: Sequence[float],
        direction: Sequence[float],
        lower: float = ...,
        upper: float = ...,
        narrowest: float = 1e-6,
    ) -> tuple[float, float, float]: ...
    def mert(
        self,
        starts: Sequence[Sequence[float]],
        free: Sequence[bool],
        lower: Sequence[float],
        upper: Sequence[float],
        seed: int,
        *,
        random_directions: int,
        sweeps: int,
        trial_sweeps: int,
        finalists: int,
        narrowest: float,
        threads: int,
    ) -> list[tuple[list[float], float]]: ...
    def mira(
        self,
        start: Sequence[float],
        free: Sequence[bool],
        lower: Sequence[float],
        upper: Sequence[float],
        seed: int,
        *,
        c: float,
        decay: float,
        epochs: int,
        safe_hope: bool,
    ) -> tuple[list[float], float]: ...
    def pro(
        self,
        start: Sequence[float],
        free: Sequence[bool],
        lower: Sequence[float],
        upper: Sequence[float],
        seed: int,
        *,
        samples: int,
        kept: int,
        threshold: float,
        l2: float,
    ) -> tuple[list[float], int]: ...
    def expected(self, weights: Sequence[float], threads: int = 0) -> tuple[float, list[float], float]: ...
    def maximise_expected(
        self,
        start: Sequence[float],
        free: Sequence[bool],
        lower: Sequence[float],
        upper: Sequence[float],
        *,
        perplexity: float,
        levels: int,
        l2: float,
        steps: int,
        threads: int,
    ) -> tuple[list[float], float]: ...

def logistic_regression(rows: NDArray[np.float64], offsets: Sequence[float], l2: float) -> list[float]: ...
def upper_envelope(slopes: Sequence[float], intercepts: Sequence[float]) -> list[tuple[float, int]]: ...
