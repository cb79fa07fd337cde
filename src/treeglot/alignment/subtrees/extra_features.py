"""Features of candidates beyond the paper's: ``features="extended"`` of the sub-tree aligner (an addition to the paper).

The paper's ten features (`treeglot.alignment.subtrees.features`) come first and are followed by these groups, each of which
can be left out. A(u, v) is the chance of a link of two words (`WordEvidence.chances`), and A(X, Y) its sum over X × Y.

- ``coverage``: A(in(S), in(T)) as a share of all that the words of S have (``source_share``), of all that those of T have
  (``target_share``), their harmonic mean (``agreement``), for each word of S and of T, and what leaks out of the two; the
  same shares of the links, which are certain or not there;
- ``heads``: the chances of the two head words, with function words as heads and with content words, and how much of the
  head word of one phrase goes into the other phrase;
- ``rivals``: how far the agreement is ahead of the best other candidate of S, and of T;
- ``relatives``: the agreement of the two parents, of one phrase with the parent of the other, and of one phrase with the
  best child of the other, less that of the candidate itself;
- ``shape``: sizes, positions, heights, and how many children the two phrases have, whether they are roots, single words, or
  all that their parents consist of, whether they are discontinuous.

All are defined for discontinuous phrases, and none needs to be learnt.

>>> from treeglot.trees.constituency import ConstituencyTree
>>> source = TreeNodes.of(ConstituencyTree.build(["er", "schläft"], ("S", ("NP", 0), ("VP", 1))))
>>> target = TreeNodes.of(ConstituencyTree.build(["he", "sleeps"], ("S", ("NP", 0), ("VP", 1))))
>>> evidence = WordEvidence(np.eye(2), np.eye(2), np.eye(2))
>>> features = extended_features(source, target, evidence)
>>> dict(zip(extended_names(), features[1, 1].round(2).tolist()))["agreement"]
0.99
>>> len(extended_names(("coverage",))), features.shape
(20, (3, 3, 51))
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np

from treeglot.alignment.subtrees.features import DEFAULT_FLOOR, PAPER_FEATURES, Floats, WordEvidence, paper_features
from treeglot.alignment.subtrees.nodes import Bools, TreeNodes
from treeglot.errors import TreeglotError
from treeglot.trees.heads import lexical_heads

Group = Literal["coverage", "heads", "rivals", "relatives", "shape"]
GROUPS: tuple[Group, ...] = get_args(Group)

EXTRA_FEATURES: dict[Group, tuple[str, ...]] = {
    "coverage": (
        "source_share",
        "target_share",
        "agreement",
        "source_density",
        "target_density",
        "leak",
        "source_linked",
        "target_linked",
        "link_agreement",
        "link_leak",
    ),
    "heads": ("function_heads", "content_heads", "source_head_inside", "target_head_inside"),
    "rivals": ("source_margin", "target_margin", "source_link_margin", "target_link_margin"),
    "relatives": (
        "parents_agree",
        "source_parent_agrees",
        "target_parent_agrees",
        "source_child_agrees",
        "target_child_agrees",
    ),
    "shape": (
        "source_size",
        "target_size",
        "size_ratio",
        "share_ratio",
        "centre_distance",
        "start_distance",
        "end_distance",
        "source_height",
        "target_height",
        "height_difference",
        "children_difference",
        "source_is_root",
        "target_is_root",
        "source_is_word",
        "target_is_word",
        "source_is_only_child",
        "target_is_only_child",
        "is_discontinuous",
    ),
}
"""The names of the features of each group, in order."""

SMOOTH = 0.01
"""Added to the chances inside (twice to the whole), so that words without any link say nothing rather than everything."""


def extended_names(groups: Iterable[Group] = GROUPS) -> tuple[str, ...]:
    """The names of all features, the paper's first."""
    return PAPER_FEATURES + tuple(name for group in _checked(groups) for name in EXTRA_FEATURES[group])


def _checked(groups: Iterable[Group]) -> tuple[Group, ...]:
    chosen = set(groups)
    if unknown := chosen - set(GROUPS):
        raise TreeglotError(f"no features {', '.join(sorted(unknown))}", remedy=f"choose of {', '.join(GROUPS)}")
    return tuple(group for group in GROUPS if group in chosen)


def extended_features(
    source: TreeNodes,
    target: TreeNodes,
    evidence: WordEvidence,
    *,
    groups: Sequence[Group] = GROUPS,
    floor: float = DEFAULT_FLOOR,
    tables: tuple[str, str] = ("auto", "auto"),
) -> Floats:
    """All features of all pairs of phrases: source phrases × target phrases × ``extended_names(groups)``.

    ``tables`` name the head tables of the two languages (`treeglot.trees.heads`).
    """
    chosen = _checked(groups)
    paper = paper_features(source, target, evidence, floor=floor)
    if not source.phrases or not target.phrases or not chosen:
        return np.zeros((source.phrases, target.phrases, len(extended_names(chosen)))) if chosen else paper
    features = {**_coverage(source, target, evidence)}
    if "heads" in chosen:
        features |= _heads(source, target, evidence, tables)
    if "rivals" in chosen:
        for name, values in (("", features["agreement"]), ("link_", features["link_agreement"])):
            features[f"source_{name}margin"] = values - _best_other(values)
            features[f"target_{name}margin"] = values - _best_other(values.T).T
    if "relatives" in chosen:
        features |= _relatives(source, target, features["agreement"])
    if "shape" in chosen:
        features |= _shape(source, target)
    names = extended_names(chosen)[len(PAPER_FEATURES) :]
    return np.concatenate([paper, np.stack([features[name] for name in names], axis=-1)], axis=-1)


def _coverage(source: TreeNodes, target: TreeNodes, evidence: WordEvidence) -> dict[str, Floats]:
    inside, within = _yields(source), _yields(target)
    features: dict[str, Floats] = {}
    # Marks are linked with any other mark, at the edge of a phrase or outside of it: they say nothing.
    words = ~_punctuation(source)[:, None] & ~_punctuation(target)[None, :]
    for chances, names in (
        (evidence.chances * words, ("source_share", "target_share", "agreement", "leak")),
        (evidence.links * words, ("source_linked", "target_linked", "link_agreement", "link_leak")),
    ):
        common = inside @ chances @ within.T
        of_source, of_target = (inside @ chances.sum(axis=1))[:, None], (within @ chances.sum(axis=0))[None, :]
        first = (common + SMOOTH) / (of_source + 2 * SMOOTH)
        second = (common + SMOOTH) / (of_target + 2 * SMOOTH)
        leak = np.log1p(np.maximum(of_source + of_target - 2 * common, 0.0))
        features |= zip(names, (first, second, 2 * first * second / (first + second), leak), strict=True)
        if "source_density" not in features:
            features["source_density"] = common / source.size[: source.phrases, None]
            features["target_density"] = common / target.size[None, : target.phrases]
    return features


def _heads(source: TreeNodes, target: TreeNodes, evidence: WordEvidence, tables: tuple[str, str]) -> dict[str, Floats]:
    function, content = (
        [
            np.array(lexical_heads(side.tree, table, style=style))
            for side, table in zip((source, target), tables, strict=True)
        ]
        for style in ("function", "content")
    )
    return {
        "function_heads": evidence.chances[np.ix_(*function)],
        "content_heads": evidence.chances[np.ix_(*content)],
        "source_head_inside": evidence.chances[content[0]] @ _yields(target).T,
        "target_head_inside": _yields(source) @ evidence.chances[:, content[1]],
    }


def _relatives(source: TreeNodes, target: TreeNodes, agreement: Floats) -> dict[str, Floats]:
    rows, columns = agreement.shape
    up, over = source.parent[:rows], target.parent[:columns]
    padded = np.zeros((rows + 1, columns + 1))  # the last row and column: no parent
    padded[:rows, :columns] = agreement
    down, under = np.zeros_like(agreement), np.zeros_like(agreement)
    np.maximum.at(down, up[1:], agreement[1:])
    np.maximum.at(under.T, over[1:], agreement.T[1:])
    return {
        "parents_agree": padded[np.ix_(up, over)],
        "source_parent_agrees": padded[up][:, :columns] - agreement,
        "target_parent_agrees": padded[:, over][:rows] - agreement,
        "source_child_agrees": down - agreement,
        "target_child_agrees": under - agreement,
    }


def _shape(source: TreeNodes, target: TreeNodes) -> dict[str, Floats]:
    rows, columns = source.phrases, target.phrases
    sides = [_SideShape(source), _SideShape(target)]

    def mine(values: Floats | Bools) -> Floats:
        return np.repeat(np.asarray(values, dtype=np.float64)[:, None], columns, axis=1)

    def theirs(values: Floats | Bools) -> Floats:
        return np.repeat(np.asarray(values, dtype=np.float64)[None, :], rows, axis=0)

    def difference(name: str) -> Floats:
        first, second = (getattr(side, name) for side in sides)
        result: Floats = first[:, None] - second[None, :]
        return result

    left, right = sides
    return {
        "source_size": mine(left.size),
        "target_size": theirs(right.size),
        "size_ratio": np.abs(difference("size")),
        "share_ratio": np.abs(difference("share")),
        "centre_distance": np.abs(difference("centre")),
        "start_distance": np.abs(difference("start")),
        "end_distance": np.abs(difference("end")),
        "source_height": mine(left.height),
        "target_height": theirs(right.height),
        "height_difference": difference("height"),
        "children_difference": difference("children"),
        "source_is_root": mine(left.is_root),
        "target_is_root": theirs(right.is_root),
        "source_is_word": mine(source.size[:rows] == 1),
        "target_is_word": theirs(target.size[:columns] == 1),
        "source_is_only_child": mine(left.is_only_child),
        "target_is_only_child": theirs(right.is_only_child),
        "is_discontinuous": mine(left.gaps) + theirs(right.gaps),
    }


class _SideShape:
    """One number for each phrase of a tree: logarithms of sizes, positions as shares of the sentence."""

    def __init__(self, nodes: TreeNodes) -> None:
        count = nodes.phrases
        sizes = nodes.size[:count]
        self.size: Floats = np.log(sizes)
        self.share: Floats = np.log(sizes / nodes.words)
        self.centre: Floats = (_yields(nodes) @ np.arange(nodes.words)) / sizes / nodes.words
        self.start: Floats = nodes.first[:count] / nodes.words
        self.end: Floats = (nodes.last[:count] + 1) / nodes.words
        height = np.zeros(count)
        for n in range(count - 1, 0, -1):
            above = nodes.parent[n]
            height[above] = max(height[above], height[n] + 1)
        children = np.array([len(below) for below in nodes.tree.children])
        self.height: Floats = np.log1p(height)
        self.children: Floats = np.log(children)
        self.is_root: Bools = nodes.parent[:count] < 0
        self.is_only_child: Bools = ~self.is_root & (children[nodes.parent[:count]] == 1)
        self.gaps: Bools = nodes.last[:count] - nodes.first[:count] + 1 != sizes


def _best_other(values: Floats) -> Floats:
    """For each entry, the largest other entry of its row (0 if it is alone)."""
    if values.shape[1] == 1:
        return np.zeros_like(values)
    order = np.sort(values, axis=1)
    best: Floats = np.where(values == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return best


def _yields(nodes: TreeNodes) -> Floats:
    yields: Floats = nodes.yields[: nodes.phrases].astype(np.float64)
    return yields


def _punctuation(nodes: TreeNodes) -> Bools:
    return np.array([is_punctuation(form) for form in nodes.tree.tokens.forms], dtype=np.bool_)


def is_punctuation(form: str) -> bool:
    """Whether a word consists of punctuation and symbols only."""
    return all(unicodedata.category(letter)[0] in "PS" for letter in form)
