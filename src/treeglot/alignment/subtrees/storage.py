"""Classifiers as arrays and JSON, for the model file of `treeglot.alignment.subtrees.model`.

Reference sub-trees of tree kernels are written node by node in preorder and read into a fresh forest; equal sub-trees are
shared again. Nothing refers to the trees they came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.composite import (
    AttributeScorer,
    Forests,
    PlainScorer,
    Scorer,
    Standardizer,
    Term,
    TreeScorer,
)
from treeglot.alignment.subtrees.kernels import Ids, SubtreeForest
from treeglot.alignment.subtrees.learner import Classifier

Arrays = dict[str, NDArray[Any]]


def pack_classifier(classifier: Classifier, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Put the arrays of a classifier under ``prefix`` and return what JSON can hold."""
    terms = []
    for k, (term, scorer) in enumerate(classifier.scorers):
        place = f"{prefix}/{k}"
        entry: dict[str, Any] = {"term": str(term)}
        if isinstance(scorer, PlainScorer):
            arrays[f"{place}/mean"] = scorer.standardizer.mean
            arrays[f"{place}/scale"] = scorer.standardizer.scale
            arrays[f"{place}/form"] = scorer.form
        elif isinstance(scorer, AttributeScorer):
            entry["vocabularies"] = [sorted(known, key=known.__getitem__) for known in scorer.vocabularies]
            arrays[f"{place}/keys"] = scorer.keys
            _put_weights(scorer.weights, place, arrays)
        elif isinstance(scorer, TreeScorer):
            entry["decay"] = scorer.decay
            arrays[f"{place}/pairs"] = scorer.pairs
            _put_weights(scorer.weights, place, arrays)
            entry["symbols"] = [
                _put_trees(scorer.forests.of(side, term.words), scorer.references[side], f"{place}/{side}", arrays)
                for side in (0, 1)
            ]
        else:
            raise TypeError(type(scorer).__name__)
        terms.append(entry)
    if classifier.trees is not None:
        arrays.update({f"{prefix}/trees/{name}": value for name, value in classifier.trees.state().items()})
    return {"bias": classifier.bias, "terms": terms, "share": classifier.share}


def unpack_classifier(packed: dict[str, Any], prefix: str, arrays: Arrays, forests: Forests) -> Classifier:
    """The inverse of `pack_classifier`; sub-trees go into ``forests``."""
    scorers: list[tuple[Term, Scorer]] = []
    for k, entry in enumerate(packed["terms"]):
        place = f"{prefix}/{k}"
        term = Term.parse(entry["term"])
        if term.combination is None:
            standardizer = Standardizer(arrays[f"{place}/mean"], arrays[f"{place}/scale"])
            scorers.append((term, PlainScorer(standardizer, arrays[f"{place}/form"])))
            continue
        weights = tuple(arrays[f"{place}/weights{n}"] for n in range(int(arrays[f"{place}/weights"])))
        if term.is_attribute:
            source, target = ({value: n for n, value in enumerate(known)} for known in entry["vocabularies"])
            keys = arrays[f"{place}/keys"]
            scorers.append((term, AttributeScorer(term.space, (source, target), term.combination, keys, weights)))
        else:
            references = [
                _get_trees(forests.of(side, term.words), entry["symbols"][side], f"{place}/{side}", arrays)
                for side in (0, 1)
            ]
            both = (references[0], references[1])
            scorer = TreeScorer(term, float(entry["decay"]), forests, both, weights, arrays[f"{place}/pairs"])
            scorers.append((term, scorer))
    start = f"{prefix}/trees/"
    stored = {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}
    trees = BoostedTrees.of_state(stored) if stored else None
    return Classifier(tuple(scorers), float(packed["bias"]), trees, float(packed["share"]))


def _put_weights(weights: tuple[NDArray[Any], ...], place: str, arrays: Arrays) -> None:
    arrays[f"{place}/weights"] = np.array(len(weights))
    for n, part in enumerate(weights):
        arrays[f"{place}/weights{n}"] = part


def _put_trees(forest: SubtreeForest, references: Ids, place: str, arrays: Arrays) -> list[str]:
    """All nodes of all reference sub-trees: symbols as numbers, returned as a list."""
    numbers: dict[str, int] = {}
    labels: list[int] = []
    arity: list[int] = []
    words: list[int] = []
    sizes: list[int] = []
    for reference in references.tolist():
        tree = forest.write(reference)
        labels += [numbers.setdefault(label, len(numbers)) for label in tree[0]]
        arity += tree[1]
        words += [numbers.setdefault(word, len(numbers)) for word in tree[2]]
        sizes.append(len(tree[0]))
    arrays[f"{place}/nodes"] = np.array([labels, arity, words], dtype=np.int32)
    arrays[f"{place}/sizes"] = np.array(sizes, dtype=np.int32)
    return list(numbers)


def _get_trees(forest: SubtreeForest, symbols: list[str], place: str, arrays: Arrays) -> Ids:
    nodes, sizes = arrays[f"{place}/nodes"], arrays[f"{place}/sizes"]
    result = np.empty(len(sizes), dtype=np.uint32)
    start = 0
    for k, size in enumerate(sizes.tolist()):
        labels, arity, words = nodes[:, start : start + size].tolist()
        result[k] = forest.read([symbols[n] for n in labels], arity, [symbols[n] for n in words])
        start += size
    return result
