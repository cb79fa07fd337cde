from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Tree = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""Numbers of the words, how many children each phrase has, and the children: phrase n as n, word j as ~j."""

Link = tuple[int, int, float]

class WordTable:
    """P(target|source) and P(source|target) of word pairs; words are numbers."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        target_given_source: NDArray[np.float64],
        source_given_target: NDArray[np.float64],
    ) -> None:
        """Word pairs as columns; a pair that is there already is replaced."""

    def matrices(
        self, source: Sequence[int], target: Sequence[int], floor: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """P(target|source) and P(source|target), a row for each source word; negative numbers are unknown words."""

    def scores(self, source: Tree, target: Tree, score: int, floor: float, empty_is_one: bool) -> NDArray[np.float64]:
        """Logarithms of the scores of all node pairs: phrases in preorder, then words."""

    def align(
        self,
        pairs: Sequence[tuple[Tree, Tree]],
        score: int,
        skip: int,
        span1: bool,
        words: bool,
        chains: bool,
        floor: float,
        empty_is_one: bool,
        least: float,
        threads: int,
    ) -> list[list[Link]]:
        """The links of each pair of trees in the order in which they are chosen: nodes and confidence."""

def choose_links(
    source: Tree,
    target: Tree,
    scores: NDArray[np.float64],
    skip: int,
    span1: bool,
    words: bool,
    chains: bool,
) -> list[Link]:
    """The greedy choice alone, for any logarithms of scores, which the links have."""
