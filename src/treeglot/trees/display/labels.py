"""What pictures call the nodes of a tree: labels for people, where files have labels for programs.

Bracketed dependencies (`treeglot.trees.bracketed`) keep a whole dependency tree in the labels of their constituents. A
picture names each constituent by the relation of its head word. ``--`` is how TIGER files say that there is no function.

>>> from treeglot.trees.bracketed import parse_bracketed
>>> tree = parse_bracketed("(6;head=3;nsubj=5;advmod=4 (5;head=2;det=1 (1;D;a a) (2;N;dog dog)) (3;V;see saw) (4;R;far far))")
>>> shown_labels(tree)
('root', 'nsubj')
>>> shown_function("--"), shown_function("SBJ")
('', 'SBJ')
"""

from __future__ import annotations

import re

from treeglot.errors import TreeError
from treeglot.trees.bracketed import ROOT_RELATION, escape_free
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.display.widths import visible

NO_FUNCTION = "--"
_BRACKETED = re.compile(r"\d+;head=\d+(?:;[^;=]+=\d+)*")


def shown_labels(tree: ConstituencyTree) -> tuple[str, ...]:
    """The label of every phrase as it is drawn."""
    if not len(tree) or not all(map(_BRACKETED.fullmatch, tree.labels)):
        return tuple(map(visible, tree.labels))
    relations: dict[str, str] = {}
    for label in tree.labels:
        for item in label.split(";")[2:]:
            relation, _, index = item.rpartition("=")
            relations[index] = relation
    return tuple(_plain(relations.get(label.partition(";")[0], ROOT_RELATION)) for label in tree.labels)


def _plain(relation: str) -> str:
    try:
        return visible(escape_free(relation))
    except TreeError:
        return visible(relation)


def shown_function(function: str) -> str:
    """A grammatical function as it is drawn: nothing if there is none."""
    return "" if function == NO_FUNCTION else visible(function)
