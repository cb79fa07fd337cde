"""Second-pass features: what a first pass thinks of the surroundings of a candidate (an addition to the paper).

Whether two phrases are linked depends on other links: their parents and children are likely to be linked as well, another
candidate of the same phrase competes, and a likely link from inside one phrase to the outside of the other speaks against it.
The first pass gives the chance P(s, t) of each candidate alone; these features put the chances around it together.

>>> import numpy as np
>>> from treeglot.trees.constituency import ConstituencyTree
>>> nodes = TreeNodes.of(ConstituencyTree.build(["a", "b"], ("S", ("NP", 0), ("VP", 1))), words=False)
>>> features = context_features(np.diag([0.9, 0.8, 0.7]), nodes, nodes)
>>> dict(zip(CONTEXT_FEATURES, features[1, 1].round(2).tolist()))["parents"]
0.9
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.nodes import TreeNodes

Floats = NDArray[np.float64]

CONTEXT_FEATURES = (
    "margin",  # of the first pass, squashed to -1 ... 1
    "source_rival",  # the best other candidate of the source phrase
    "target_rival",
    "source_lead",  # how far ahead of it
    "target_lead",
    "parents",  # the chance of the two parents
    "source_up",  # the parent of the source phrase with the target phrase
    "target_up",
    "source_down",  # the best child of the source phrase with the target phrase
    "target_down",
    "above",  # the best of the ancestors of both
    "source_children",  # how much of the children has a counterpart among the children, at best
    "target_children",
    "source_below",  # how much of what is below has a counterpart below
    "target_below",
    "source_crossing",  # how much of what is below has one elsewhere
    "target_crossing",
    "source_above_crossing",  # how much of what is above has one that is not above
    "target_above_crossing",
    "siblings",  # the best candidates among the siblings
)


def context_features(chances: Floats, source: TreeNodes, target: TreeNodes) -> Floats:
    """Source phrases × target phrases × `CONTEXT_FEATURES`, of the chances of all pairs of phrases."""
    rows, columns = chances.shape
    result = np.zeros((rows, columns, len(CONTEXT_FEATURES)))
    if not rows or not columns:
        return result
    place = {name: k for k, name in enumerate(CONTEXT_FEATURES)}

    def put(name: str, values: Floats) -> None:
        result[..., place[name]] = values

    put("margin", 2 * chances - 1)
    for name, best in (("source", _best_other(chances)), ("target", _best_other(chances.T).T)):
        put(f"{name}_rival", best)
        put(f"{name}_lead", chances - best)

    padded = np.zeros((rows + 1, columns + 1))  # the last row and column: no parent
    padded[:rows, :columns] = chances
    up, over = source.parent[:rows], target.parent[:columns]
    put("parents", padded[np.ix_(up, over)])
    put("source_up", padded[up][:, :columns])
    put("target_up", padded[:, over][:rows])

    under, beneath = source.ancestors[:rows, :rows], target.ancestors[:columns, :columns]  # [a, k]: a is above k
    child = np.zeros((rows, rows), dtype=bool)
    child[up[1:], np.arange(1, rows)] = True
    kid = np.zeros((columns, columns), dtype=bool)
    kid[over[1:], np.arange(1, columns)] = True
    put("source_down", _best_of(child, chances))
    put("target_down", _best_of(kid, chances.T).T)
    put("above", _best_of(under.T, _best_of(beneath.T, chances.T).T))

    for name, matrix, mine, theirs, mine_all, theirs_all in (
        ("source", chances, child, kid, under, beneath),
        ("target", chances.T, kid, child, beneath, under),
    ):
        among = _share(mine, _best_of(theirs, matrix.T).T)
        below = _best_of(theirs_all, matrix.T).T  # the best counterpart of each phrase below each target phrase
        elsewhere = _best_of(~theirs_all, matrix.T).T
        not_above = _best_of(~theirs_all.T, matrix.T).T
        for kind, values in (
            ("children", among),
            ("below", _share(mine_all, below)),
            ("crossing", _share(mine_all, elsewhere)),
            ("above_crossing", _share(mine_all.T, not_above)),
        ):
            put(f"{name}_{kind}", values if name == "source" else values.T)
    siblings = (up[:, None] == up[None, :]) & ~np.eye(rows, dtype=bool)
    brothers = (over[:, None] == over[None, :]) & ~np.eye(columns, dtype=bool)
    put("siblings", _share(siblings, _best_of(brothers, chances.T).T))
    return result


def _best_other(chances: Floats) -> Floats:
    """For each entry, the largest other entry of its row."""
    if chances.shape[1] == 1:
        return np.zeros_like(chances)
    order = np.sort(chances, axis=1)
    best: Floats = np.where(chances == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return best


def _best_of(groups: NDArray[np.bool_], chances: Floats) -> Floats:
    """Row g is the largest of the rows of ``chances`` that group g has (0 if it has none)."""
    result = np.zeros((len(groups), chances.shape[1]))
    members, rows = np.nonzero(groups)
    if len(members):
        starts = np.flatnonzero(np.append(True, members[1:] != members[:-1]))
        result[members[starts]] = np.maximum.reduceat(chances[rows], starts, axis=0)
    return result


def _share(groups: NDArray[np.bool_], values: Floats) -> Floats:
    """Row g is the mean of the rows of ``values`` that group g has (0 if it has none)."""
    counts = groups.sum(axis=1, keepdims=True)
    shares: Floats = (groups.astype(np.float64) @ values) / np.maximum(counts, 1)
    return shares
