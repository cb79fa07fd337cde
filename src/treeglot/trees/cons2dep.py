"""Constituency trees to dependency trees: every phrase hands its head word up, all other children depend on it.

The relation of a word is the function of its *maximal projection*, the highest phrase (or the word itself) that it heads.
Where the treebank gives no function there, it is put together from the labels of the parent, of the projection and of the
head child, ``S|NP|VP`` for a subject, as in Collins' parser. Discontinuous trees may give non-projective arcs, continuous
ones never do.

>>> from treeglot.trees.tokens import Tokens
>>> tokens = Tokens(["the", "dog", "barks"], xpos=["DT", "NN", "VBZ"])
>>> tree = ConstituencyTree.build(tokens, ("S", (("NP", "SBJ"), 0, 1), ("VP", 2)))
>>> dependency = to_dependency(tree)
>>> dependency.heads, dependency.deprels
((1, 2, -1), ('NP|DT|NN', 'SBJ', 'root'))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from treeglot.errors import ConfigError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.heads import find_heads, lexical_heads
from treeglot.trees.headtables import HeadTable, Style

Relations = Literal["function", "labels"]

NO_FUNCTION = ("", "--", "_")
"""What treebanks write where a node has no function."""


def to_dependency(
    tree: ConstituencyTree,
    heads: Sequence[NodeRef] | None = None,
    *,
    table: str | HeadTable = "auto",
    style: Style = "function",
    relations: Relations = "function",
) -> DependencyTree:
    """``heads`` names the head child of each phrase; left out, `find_heads` finds them with ``table`` and ``style``.

    ``relations="function"`` takes functions where there are some, ``"labels"`` the three labels everywhere.
    """
    if relations not in get_args(Relations):
        raise ConfigError(f"relations {relations!r}", remedy=f"choose one of {', '.join(get_args(Relations))}")
    if heads is None:
        heads = find_heads(tree, table, style=style)
    words = lexical_heads(tree, heads=heads)
    tags = tree.tokens.tags
    above = [ROOT] * len(tree.tokens)
    deprels = ["root"] * len(tree.tokens)
    for n, children in enumerate(tree.children):
        for child in children:
            if child == heads[n]:
                continue
            if child >= 0:
                word, label, function = words[child], tree.labels[child], tree.functions[child]
            else:
                word, label, function = ~child, tags[~child], tree.word_functions[~child]
            above[word] = words[n]
            if relations == "labels" or function in NO_FUNCTION:
                head_label = tree.labels[heads[n]] if heads[n] >= 0 else tags[~heads[n]]
                function = f"{tree.labels[n]}|{label}|{head_label}"
            deprels[word] = function
    return DependencyTree(tree.tokens, above, deprels)
