"""Tree kernels against a count of all common fragments, which are enumerated one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import TreeglotError
from treeglot.alignment.subtrees.kernels import (
    COMBINATIONS,
    SPACES,
    SubtreeForest,
    bilingual_kernel_matrix,
    kernel_matrix,
    tree_kernel,
)
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.penn import format_penn, parse_penn
from treeglot.trees.tiger import read_tiger


@st.composite
def small_trees(draw: st.DrawFn) -> ConstituencyTree:
    """Few labels and words, so that fragments recur; at most eight words, unary phrases among them."""

    def grow(depth: int) -> str:
        if depth == 0 or draw(st.booleans()):
            return f"({draw(st.sampled_from('TU'))} {draw(st.sampled_from('ab'))})"
        below = " ".join(grow(depth - 1) for _ in range(draw(st.integers(1, 2))))
        return f"({draw(st.sampled_from('XY'))} {below})"

    return parse_penn(grow(3))


def fragments(tree: ConstituencyTree, node: int, words: bool) -> list[tuple[str, int]]:
    """Every fragment that starts at a node, written out, with the number of nodes that have their children."""
    if node < 0:
        return [(f"({tree.label(node)} {tree.tokens.forms[~node] if words else ''})", 1)]
    choices = [
        [*fragments(tree, child, words), (f"[{tree.label(child)}]", 0)]  # with its children, or without any
        for child in tree.children[node]
    ]
    return [
        (f"({tree.label(node)} {' '.join(text for text, _ in chosen)})", 1 + sum(size for _, size in chosen))
        for chosen in product(*choices)
    ]


def brute_force(a: ConstituencyTree, b: ConstituencyTree, space: str, decay: float, words: bool) -> float:
    same_root = a.label(a.root) == b.label(b.root)
    if space == "root":
        return float(same_root)
    if space == "rdsst" and not same_root:
        return 0.0
    bags: list[Counter[tuple[str, int]]] = []
    for tree in (a, b):
        starts = [tree.root] if space == "rgsst" else list(tree.preorder())
        bags.append(Counter(fragment for node in starts for fragment in fragments(tree, node, words)))
    return sum(count * bags[1][fragment] * decay ** fragment[1] for fragment, count in bags[0].items())


@given(small_trees(), small_trees(), st.sampled_from([0.4, 1.0]), st.booleans())
@settings(max_examples=tries(150))
def test_kernels_count_common_fragments(a: ConstituencyTree, b: ConstituencyTree, decay: float, words: bool) -> None:
    for space in SPACES:
        expected = brute_force(a, b, space, decay, words)
        assert tree_kernel(a, b, space, decay, words=words) == pytest.approx(expected, rel=1e-12, abs=0)
        norm = brute_force(a, a, space, decay, words) * brute_force(b, b, space, decay, words)
        assert tree_kernel(a, b, space, decay, True, words=words) == pytest.approx(expected / norm**0.5)


@given(st.lists(small_trees(), min_size=2, max_size=6), st.booleans())
@settings(max_examples=40)
def test_matrices_are_their_entries_symmetric_and_positive(trees: list[ConstituencyTree], normalize: bool) -> None:
    nodes = [(tree, node) for tree in trees for node in tree.preorder()]
    for space in SPACES:
        matrix = kernel_matrix(nodes, space=space, normalize=normalize)
        assert np.array_equal(matrix, kernel_matrix(nodes, space=space, normalize=normalize, threads=1))
        assert np.allclose(matrix, matrix.T, rtol=1e-12)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * max(1.0, matrix.max())
        k = len(nodes) // 2
        entry = tree_kernel(nodes[k], nodes[-1], space, normalize=normalize)
        assert matrix[k, -1] == pytest.approx(entry, rel=1e-12)
        part = kernel_matrix(nodes[:k], nodes[k:], space, normalize=normalize, dtype=np.float32)
        assert part.dtype == np.float32 and np.allclose(part, matrix[:k, k:], rtol=1e-6)


def test_a_sub_tree_is_the_tree_below_a_node() -> None:
    tree = parse_penn("(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N dog))))")
    other = parse_penn("(NP (D the) (N dog))")
    alone = parse_penn("(NP (D a) (N dog))")
    for space in SPACES:
        assert tree_kernel((tree, 3), other, space) == tree_kernel(alone, other, space)
    assert tree_kernel((tree, ~4), "(N dog)") == pytest.approx(0.4)
    with pytest.raises(TreeglotError, match="no node 4"):
        tree_kernel((tree, 4), other)


@given(st.lists(st.tuples(small_trees(), small_trees()), min_size=2, max_size=5))
@settings(max_examples=30)
def test_pairs_of_trees(pairs: list[tuple[ConstituencyTree, ConstituencyTree]]) -> None:
    for space, combination, normalize in product(SPACES, COMBINATIONS, (False, True)):
        matrix = bilingual_kernel_matrix(pairs, None, space, combination, normalize=normalize)
        raw = np.empty((len(pairs), len(pairs)))
        for i, a in enumerate(pairs):
            for j, b in enumerate(pairs):
                source, target = (brute_force(a[side], b[side], space, 0.4, True) for side in (0, 1))
                raw[i, j] = source + target if combination == "independent" else source * target
        norm = np.sqrt(np.diag(raw))
        assert np.allclose(matrix, raw / norm / norm[:, None] if normalize else raw, rtol=1e-9, atol=0)


def test_functions_can_be_part_of_labels() -> None:
    a, b = "(S (NP-SBJ (N cats)) (V sleep))", "(S (NP-OBJ (N cats)) (V sleep))"
    assert tree_kernel(a, b, "rgsst") == tree_kernel(a, a, "rgsst")
    assert tree_kernel(a, b, "rgsst", functions=True) == 0


def test_forgetting_gives_the_numbers_back() -> None:
    forest = SubtreeForest()
    kept = forest.add(parse_penn("(NP (D the) (N cat))"))
    columns, mark = forest.columns(kept[:1]), forest.mark()
    values = []
    for _ in range(3):
        ids = forest.add(parse_penn("(NP (D the) (N dog))"))
        values.append(float(forest.matrix(ids[:1], columns)[0, 0]))
        forest.forget(mark)
        assert len(forest) == 3
    assert values == pytest.approx([0.96] * 3)


def test_deep_trees() -> None:
    deep = parse_penn("(X " * 5000 + "(T w)" + ")" * 5000)
    shallow = parse_penn("(X " * 30 + "(T w)" + ")" * 30)
    assert tree_kernel(deep, shallow, "rgsst") == pytest.approx(0.4 / 0.6)
    assert tree_kernel((deep, 4900), (deep, 4950), "sst") > 0


def complete(levels: int) -> ConstituencyTree:
    text = "(T w)"
    for _ in range(levels):
        text = f"(X {text} {text})"
    return parse_penn(text)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: tree_kernel("(A a)", "(A a)", "xyz"), "no space 'xyz'"),  # type: ignore[arg-type]
        (lambda: tree_kernel("(A a)", "(A a)", decay=0), "a decay of 0"),
        (lambda: tree_kernel("(A a)", "(A a)", decay=float("nan")), "a decay of nan"),
        (lambda: kernel_matrix(["(A a)"] * 100, memory=1000), "needs"),
        (lambda: kernel_matrix(["(A a)"], dtype=np.int32), "int32"),
        (lambda: tree_kernel(complete(12), complete(12), decay=1), "too large"),
        (lambda: tree_kernel(complete(12), complete(12), decay=1, normalize=True), "too large"),
        (lambda: kernel_matrix([complete(8)], decay=1, dtype=np.float32), "too large"),
        (lambda: tree_kernel("(A a", "(A a)"), "the file ends inside the tree"),
        (lambda: bilingual_kernel_matrix([("(A a)", "(A a)")], combination="other"), "no combination"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TreeglotError, match=says) as caught:
        call()
    assert caught.value.remedy


def test_german_trees(data: Callable[[str], Path]) -> None:
    """Discontinuous trees as they are in a treebank: equal to a plain double loop with a memo."""
    path = data("trees/squoia-de-es/FUNDACION_SQUOIA_DE.xml")
    trees = [sentence.constituency for sentence, _ in zip(read_tiger(path), range(14), strict=False)]
    nodes = [(tree, n) for tree in trees if tree is not None for n in range(len(tree))][:150]
    matrix = kernel_matrix(nodes, space="sst", words=False)
    for i, j in [(0, 1), (3, 90), (17, 140), (60, 61), (149, 20)]:
        assert matrix[i, j] == pytest.approx(double_loop(nodes[i], nodes[j]), rel=1e-12)


def double_loop(a: tuple[ConstituencyTree, int], b: tuple[ConstituencyTree, int]) -> float:
    memo: dict[tuple[int, int], float] = {}

    def delta(x: int, y: int) -> float:
        if (x, y) not in memo:
            memo[x, y] = 0.0
            if a[0].label(x) == b[0].label(y) and (x < 0) == (y < 0):
                below = (a[0].children[x], b[0].children[y]) if x >= 0 else ((), ())
                if [*map(a[0].label, below[0])] == [*map(b[0].label, below[1])]:
                    value = 0.4
                    for u, v in zip(*below, strict=True):
                        value *= 1 + delta(u, v)
                    memo[x, y] = value
        return memo[x, y]

    def under(item: tuple[ConstituencyTree, int]) -> list[int]:
        stack, nodes = [item[1]], []
        while stack:
            nodes.append(stack.pop())
            if nodes[-1] >= 0:
                stack.extend(item[0].children[nodes[-1]])
        return nodes

    return sum(delta(x, y) for x in under(a) for y in under(b))


def test_brackets_and_trees_are_the_same() -> None:
    tree = parse_penn("(S (NP (N cats)) (VP (V sleep)))")
    assert tree_kernel(tree, format_penn(tree)) == tree_kernel(format_penn(tree), tree) == tree_kernel(tree, tree)
