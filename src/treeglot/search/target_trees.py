"""The tree of a translation: the target sides of its rules plugged together (spec: tree-to-tree, section 4).

A rule between trees has nodes on its target side, ``(NP x1:DT x1:JJ (NN dog))``. The trees that fill a variable take the place of its
nodes; in a fuzzy derivation they may be others, or more, or fewer. What has no target tree of its own (words that were copied, phrases, parts that
pseudo rules or glue put in order) stands under ``X``, or under the category that it was wanted for; all that glue joins stands under one ``X``.

>>> noun = RuleUse("stsg", 1, 2, "(NN 狗)", ("dog",), target_tree="(NN dog)")
>>> use = RuleUse("stsg", 0, 2, "(NP (DT 那) x1:NN)", ("the", 0), children=(noun,), target_tree="(NP (DT the) x1:NN)")
>>> tree = target_tree(use)
>>> tree.labels, [tree.tokens.forms[j] for j in range(2)], tree.tokens.xpos
(('NP',), ['the', 'dog'], ('DT', 'NN'))
>>> target_tree(RuleUse("phrases", 0, 1, "狗", ("dog",))) is None
True
>>> owned_target_tree(use)
OwnedTree(tree=ConstituencyTree('the dog', root='NP', phrases=1), nodes=(1,), words=(1, 2))
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from treeglot.search.translation import RuleUse, walk
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.tokens import Tokens

UNKNOWN = "X"
"""The label of what has no target tree."""
GLUE = "glue"
"""The grammar of steps that join parts from left to right."""

_TOKEN = re.compile(r"[()]|[^()\s]+")
_VARIABLE = re.compile(r"x([1-9][0-9]*):(.+)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass
class _Node:
    """A node with its children, or a pre-terminal with its word."""

    label: str
    owner: int
    word: str | None = None
    below: list[_Node] = field(default_factory=list)


@dataclass(frozen=True)
class OwnedTree:
    """A tree, and for each of its phrases and words the step of the derivation that brought it.

    Steps are numbered from 1 as `treeglot.search.translation.walk` gives them; 0 is a root over what no rule joined.
    """

    tree: ConstituencyTree
    nodes: tuple[int, ...]
    words: tuple[int, ...]


def target_tree(derivation: RuleUse) -> ConstituencyTree | None:
    """The tree over the words of a translation; None if no rule has a target tree, or if there are no words."""
    owned = owned_target_tree(derivation)
    return owned.tree if owned is not None else None


def owned_target_tree(derivation: RuleUse) -> OwnedTree | None:
    """As `target_tree`, with the rule that each node comes from."""
    if not derivation.words or not any(use.target_tree for use in walk(derivation)):
        return None
    top = _trees(derivation)
    root = top[0] if len(top) == 1 and top[0].word is None else _Node(UNKNOWN, 0, None, top)
    return _constituency(root)


def _trees(derivation: RuleUse) -> list[_Node]:
    """The trees of a derivation; parts first, so that deep ones need no deep recursion."""
    uses = list(walk(derivation))
    glued = {id(child) for use in uses if use.grammar == GLUE for child in use.children if child.grammar == GLUE}
    done: list[list[_Node]] = []  # those of the next part on top
    for number in range(len(uses), 0, -1):
        use = uses[number - 1]
        parts = [done.pop() for _ in use.children]
        if use.target_tree:
            done.append(_plugged(use, number, parts))
        else:
            done.append(_in_order(use, number, parts, is_open=id(use) in glued))
    return done[0]


def _in_order(use: RuleUse, number: int, parts: list[list[_Node]], is_open: bool) -> list[_Node]:
    """Words and parts of a step without a target tree, under one node unless it is left open to the glue above."""
    below: list[_Node] = []
    for item in use.target_items:
        below += parts[item] if isinstance(item, int) else [_Node(use.label or UNKNOWN, number, item)]
    if is_open or len(below) <= 1:  # one word, or a part that was passed on
        return below
    return [_Node(use.label or UNKNOWN, number, None, below)]


def _plugged(use: RuleUse, number: int, parts: list[list[_Node]]) -> list[_Node]:
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
            node = _Node(_unescaped(tokens[place]), number)
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
            variable = int(match[1]) - 1
            if variable not in used:  # further nodes of a variable: its trees are there already
                used.add(variable)
                stack[-1].extend(parts[variable])
        else:
            opened[-1].word = _unescaped(token.replace("-LRB-", "(").replace("-RRB-", ")"))
    return roots


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _constituency(root: _Node) -> OwnedTree:
    words: list[str] = []
    owners: tuple[list[int], list[int]] = [], []  # of phrases, of words
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
            owners[1].append(node.owner)
            words.append(node.word)
            tags.append(node.label)
        else:
            number = len(labels)
            owners[0].append(node.owner)
            labels.append(node.label)
            children.append([])
            stack.extend((child, number) for child in reversed(node.below))
        if parent >= 0:
            children[parent].append(number)
    tree = ConstituencyTree(Tokens(words, xpos=tags), labels, children)
    return OwnedTree(tree, tuple(owners[0]), tuple(owners[1]))
