"""Tree kernels and the trained sub-tree aligner: kernel evaluations, training and aligning per second.

    python bench/tree_kernels.py ALIGNED.xml... [--pairs 1000] [--train 300]

The trees are those of TreeAligner files. Kernels are measured next to a plain Python implementation on NLTK's trees (productions,
memo, pairs of nodes with equal productions) on the same trees. Prints one line of JSON; times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from treeglot.alignment.subtrees.kernels import SubtreeForest
from treeglot.alignment.subtrees.training import train_aligner
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.continuous import make_continuous
from treeglot.trees.penn import format_penn
from treeglot.trees.sentence import AlignedPair
from treeglot.trees.treealigner import read_aligned_pairs


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def nltk_kernel(a: Any, b: Any, decay: float = 0.4) -> float:
    """SST of two NLTK trees: only nodes with equal productions are compared."""
    nodes = [list(tree.subtrees()) for tree in (a, b)]
    runs: dict[Any, list[Any]] = defaultdict(list)
    rules = [{id(node): _rule(node) for node in side} for side in nodes]
    for node in nodes[1]:
        runs[rules[1][id(node)]].append(node)
    memo: dict[tuple[int, int], float] = {}

    def delta(x: Any, y: Any) -> float:
        key = id(x), id(y)
        if key not in memo:
            value = 0.0
            if rules[0][id(x)] == rules[1][id(y)]:
                value = decay
                for left, right in zip(x, y, strict=True):
                    if not isinstance(left, str):
                        value *= 1 + delta(left, right)
            memo[key] = value
        return memo[key]

    return sum(delta(x, y) for x in nodes[0] for y in runs.get(rules[0][id(x)], ()))


def _rule(node: Any) -> tuple[Any, ...]:
    return (node.label(), *(child if isinstance(child, str) else (child.label(),) for child in node))


def kernels(trees: list[ConstituencyTree], threads: int) -> dict[str, float]:
    import nltk

    result: dict[str, float] = {}
    forest = SubtreeForest()
    adding, ids = seconds(lambda: np.concatenate([forest.add(tree)[: len(tree)] for tree in trees]))
    result["subtrees"] = len(ids)
    result["subtrees_added_per_s"] = round(len(ids) / adding)
    unique = np.unique(ids)
    columns = unique[:: max(len(unique) // 2000, 1)]
    for space in ("sst", "rdsst", "rgsst", "root"):
        spent, matrix = seconds(
            lambda space=space: forest.matrix(unique, columns, space, normalize=True, dtype=np.float32, threads=threads)
        )
        result[f"{space}_per_s_and_core"] = round(matrix.size / spent)
    some = [tree for tree in trees if tree.is_continuous][:40]
    peers = [nltk.Tree.fromstring(format_penn(tree)) for tree in some]
    spent, values = seconds(lambda: [nltk_kernel(a, b) for a in peers for b in peers])
    result["nltk_sst_per_s"] = round(len(values) / spent)
    roots = SubtreeForest(functions=True)  # as brackets have them
    tops = np.array([roots.add(tree)[0] for tree in some])
    spent, matrix = seconds(lambda: [roots.matrix(tops, space="sst", threads=1) for _ in range(20)][-1])
    assert np.allclose(matrix.ravel(), values, rtol=1e-9), "the peer counts something else"
    result["whole_trees_sst_per_s"] = round(20 * matrix.size / spent)
    result["ratio_to_nltk"] = round(result["whole_trees_sst_per_s"] / result["nltk_sst_per_s"])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--pairs", type=int, default=1000, help="sentence pairs to take trees from")
    parser.add_argument("--train", type=int, default=300, help="sentence pairs to train on")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    pairs: list[AlignedPair] = [pair for path in options.files for pair in read_aligned_pairs(path, strict=False)]
    random.Random(1).shuffle(pairs)
    pairs = pairs[: options.pairs]
    trees = [make_continuous(pair.source.constituency).tree for pair in pairs if pair.source.constituency is not None]
    result: dict[str, Any] = {"pairs": len(pairs), **kernels(trees, options.threads)}
    size = min(options.train, len(pairs) * 2 // 3)
    spent, model = seconds(lambda: train_aligner(pairs[:size], pairs[size : size + size // 4], threads=options.threads))
    result["trained_pairs"] = size
    result["training_s"] = round(spent, 1)
    result["dev_f1"] = round(100 * model.info["development"]["f1"], 2)
    rest = pairs[size + size // 4 :]
    spent, _ = seconds(lambda: sum(1 for _ in model.align(rest, threads=options.threads)))
    result["aligned_pairs_per_s"] = round(len(rest) / spent, 1)
    result["memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
