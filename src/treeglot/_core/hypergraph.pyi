from collections.abc import Sequence
from typing import Literal, overload

_Real = Literal["log", "viterbi", "probability"]
_Amounts = Sequence[tuple[float, Sequence[float]]]

class Hypergraph:
    """Vertices and hyperedges, both numbered from 0 as they are added. A vertex that needs nothing has an edge without
    tails. Weights are given to the functions below, one for each edge."""

    def __init__(self) -> None: ...
    def add_vertex(self) -> int: ...
    def add_vertices(self, count: int) -> int:
        """The first of them."""

    def add_edge(self, head: int, tails: Sequence[int] = ()) -> int: ...
    def freeze(self) -> None:
        """Ends the building; the functions below want that. Raises ValueError if a vertex is below itself."""

    @property
    def vertices(self) -> int: ...
    @property
    def edges(self) -> int: ...
    def head(self, edge: int) -> int: ...
    def tails(self, edge: int) -> list[int]: ...
    def incoming(self, vertex: int) -> list[int]: ...
    def outgoing(self, vertex: int) -> list[int]: ...
    def order(self) -> list[int]:
        """All vertices, tails before heads."""

# Semirings: "log" (sums of probabilities in natural logarithms), "viterbi" (the best, in logarithms), "probability" (sums
# of probabilities), "count" (numbers of derivations up to 2**64 - 1), "boolean", and "expectation" (a log probability
# and amounts of each edge, log probability and mean amounts of each vertex).
@overload
def inside(graph: Hypergraph, weights: Sequence[float], semiring: _Real = "log") -> list[float]: ...
@overload
def inside(graph: Hypergraph, weights: Sequence[int], semiring: Literal["count"]) -> list[int]: ...
@overload
def inside(graph: Hypergraph, weights: Sequence[bool], semiring: Literal["boolean"]) -> list[bool]: ...
@overload
def inside(
    graph: Hypergraph, weights: _Amounts, semiring: Literal["expectation"]
) -> list[tuple[float, list[float]]]: ...
@overload
def outside(graph: Hypergraph, weights: Sequence[float], goal: int, semiring: _Real = "log") -> list[float]: ...
@overload
def outside(graph: Hypergraph, weights: Sequence[int], goal: int, semiring: Literal["count"]) -> list[int]: ...
@overload
def outside(graph: Hypergraph, weights: Sequence[bool], goal: int, semiring: Literal["boolean"]) -> list[bool]: ...
@overload
def outside(
    graph: Hypergraph, weights: _Amounts, goal: int, semiring: Literal["expectation"]
) -> list[tuple[float, list[float]]]: ...
@overload
def through(
    graph: Hypergraph, weights: Sequence[float], goal: int, semiring: _Real = "log"
) -> tuple[list[float], list[float]]:
    """Sums over the derivations of the goal through each vertex, and through each edge; once for each use."""

@overload
def through(
    graph: Hypergraph, weights: Sequence[int], goal: int, semiring: Literal["count"]
) -> tuple[list[int], list[int]]: ...
@overload
def through(
    graph: Hypergraph, weights: Sequence[bool], goal: int, semiring: Literal["boolean"]
) -> tuple[list[bool], list[bool]]: ...
@overload
def through(
    graph: Hypergraph, weights: _Amounts, goal: int, semiring: Literal["expectation"]
) -> tuple[list[tuple[float, list[float]]], list[tuple[float, list[float]]]]: ...
def posteriors(
    graph: Hypergraph, weights: Sequence[float], goal: int, semiring: _Real = "log"
) -> tuple[list[float], list[float]]:
    """The same as shares of the inside value of the goal: expected uses of each vertex, and of each edge."""

def kbest(
    graph: Hypergraph,
    weights: Sequence[float],
    goal: int,
    size: int,
    *,
    yields: Sequence[Sequence[str | int]] | None = None,
) -> list[tuple[float, list[tuple[int, list[int]]]]]:
    """The best derivations, best first: the sum of weights (logarithms), and the parts: each an edge and the parts that
    make its tails; the first part is the goal's, and one that is used several times is there once. Equally good ones are
    in the order of their edges, then of the ranks of their tails. With ``yields``, the words of each edge and the numbers
    of its tails among them, no two derivations have the same words."""
