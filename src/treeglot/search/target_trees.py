"""The tree of a translation: the target sides of its rules plugged together (spec: tree-to-tree, section 4).

A rule between trees has nodes on its target side, ``(NP x1:DT x1:JJ (NN dog))``. The trees that fill a variable take the place of its
nodes; in a fuzzy derivation they may be others, or more, or fewer. What has no target tree of its own (words that were copied, phrases, parts that
pseudo rules or glue put in order) stands under ``X``, or under the category that it was wanted for.

>>> noun = RuleUse("stsg", 1, 2, "(NN 狗)", ("dog",), target_tree="(NN dog)")
>>> use = RuleUse("stsg", 0, 2, "(NP (DT 那) x1:NN)", ("the", 0), children=(noun,), target_tree="(NP (DT the) x1:NN)")
>>> tree = target_tree(use)
>>> tree.labels, [tree.tokens.forms[j] for j in range(2)], tree.tokens.xpos
(('NP',), ['the', 'dog'], ('DT', 'NN'))
>>> target_tree(RuleUse("phrases", 0, 1, "狗", ("dog",))) is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from treeglot.search.translation import RuleUse, walk
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.tokens import Tokens

UNKNOWN = "X"
"""The label of what has no target tree."""

_TOKEN = re.compile(r"[()]|[^()\s]+")
_VARIABLE = re.compile(r"x([1-9][0-9]*):(.+)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass
class _Node:
    """A node with its children, or a pre-terminal with its word."""

    label: str
    word: str | None = None
    below: list[_Node] = field(default_factory=list)


def target_tree(derivation: RuleUse) -> ConstituencyTree | None:
    """The tree over the words of a translation; None if no rule has a target tree, or if there are no words."""
    if not derivation.words or not any(use.target_tree for use in walk(derivation)):
        return None
    top = _trees(derivation)
    root = top[0] if len(top) == 1 and top[0].word is None else _Node(UNKNOWN, None, top)
    return _constituency(root)


def _trees(derivation: RuleUse) -> list[_Node]:
    """The trees of a derivation; parts first, so that deep ones need no deep recursion."""
    done: dict[int, list[_Node]] = {}
    for use in reversed(list(walk(derivation))):
        parts = [done[id(child)] for child in use.children]
        done[id(use)] = _plugged(use, parts) if use.target_tree else _in_order(use, parts)
    return done[id(derivation)]


def _in_order(use: RuleUse, parts: list[list[_Node]]) -> list[_Node]:
    """Words and parts of a step without a target tree, under one node."""
    below: list[_Node] = []
    for item in use.target_items:
        below += parts[item] if isinstance(item, int) else [_Node(use.label or UNKNOWN, item)]
    if len(below) == 1:  # one word, or a part that was passed on
        return below
    return [_Node(use.label or UNKNOWN, None, below)] if below else []


def _plugged(use: RuleUse, parts: list[list[_Node]]) -> list[_Node]:
    """The rule's target side with the trees of its parts in the place of its variables."""
    roots: list[_Node] = []
    stack: list[list[_Node]] = [roots]
    opened: list[_Node] = []
    tokens = _TOKEN.findall(use.target_tree)
    used: set[int] = set()
    place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token == "(":
            node = _Node(_unescaped(tokens[place]))
            place += 1
            stack[-1].append(node)
            stack.append(node.below)
            opened.append(node)
        elif token == ")":
            stack.pop()
            node = opened.pop()
            if node.word is None and not node.below:  # nothing was put in its place
                stack[-1].remove(node)
        elif match := _VARIABLE.fullmatch(token):
            number = int(match[1]) - 1
            if number not in used:  # further nodes of a variable: its trees are there already
                used.add(number)
                stack[-1].extend(parts[number])
        else:
            opened[-1].word = _unescaped(token.replace("-LRB-", "(").replace("-RRB-", ")"))
    return roots


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _constituency(root: _Node) -> ConstituencyTree:
    words: list[str] = []
    tags: list[str] = []
    labels: list[str] = []
    children: list[list[NodeRef]] = []
    stack: list[tuple[_Node, int]] = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        if node.word is None and not node.below:
            continue
        number: NodeRef
        if node.word is not None:
            number = ~len(words)
            words.append(node.word)
            tags.append(node.label)
        else:
            number = len(labels)
            labels.append(node.label)
            children.append([])
            stack.extend((child, number) for child in reversed(node.below))
        if parent >= 0:
            children[parent].append(number)
    return ConstituencyTree(Tokens(words, xpos=tags), labels, children)
