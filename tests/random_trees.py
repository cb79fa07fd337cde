"""Random constituency trees for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from treeglot.trees.constituency import ConstituencyTree, SecondaryEdge
from treeglot.trees.tokens import Tokens

LABELS = ("S", "NP", "VP", "PP", "ADJP")
TAGS = ("NN", "VBD", "IN", "DT", "CC", ",", "JJ")


@st.composite
def constituency_trees(draw: st.DrawFn, max_size: int = 8, continuous: bool = True) -> ConstituencyTree:
    """Groups of nodes (neighbours, if ``continuous``) are put under new phrases until one is left; unary ones included."""
    size = draw(st.integers(1, max_size))
    tokens = Tokens(
        [f"w{j}" for j in range(size)], xpos=draw(st.lists(st.sampled_from(TAGS), min_size=size, max_size=size))
    )
    labels: list[str] = []
    functions: list[str] = []
    children: list[list[int]] = []
    nodes = [~j for j in range(size)]
    while len(nodes) > 1 or not labels:
        if not continuous:
            nodes = list(draw(st.permutations(nodes)))
        start = draw(st.integers(0, len(nodes) - 1))
        least = 1 if len(labels) < 3 * size else min(2, len(nodes) - start)
        end = start + draw(st.integers(least, len(nodes) - start))
        children.append(nodes[start:end])
        nodes[start:end] = [len(labels)]
        labels.append(draw(st.sampled_from(LABELS)))
        functions.append(draw(st.sampled_from(("", "SBJ", "HD"))))
    with_ids = draw(st.booleans())
    edges = [SecondaryEdge(~0, len(labels) - 1, "x"), SecondaryEdge(0, len(labels) - 1, "y")]
    return ConstituencyTree(
        tokens,
        labels,
        children,
        functions,
        draw(st.lists(st.sampled_from(("", "OBJ", "--")), min_size=size, max_size=size)),
        [f"n{k}" for k in range(len(labels))] if with_ids else (),
        [f"t{j}" for j in range(size)] if with_ids else (),
        edges if draw(st.booleans()) else (),
    )
