"""Heads of phrases: by a percolation table, or by the dependency tree of the same words.

>>> from treeglot.trees.tokens import Tokens
>>> tokens = Tokens(["the", "dog", "barked", "at", "me"], xpos=["DT", "NN", "VBD", "IN", "PRP"])
>>> tree = ConstituencyTree.build(tokens, ("S", ("NP", 0, 1), ("VP", 2, ("PP", 3, ("NP", 4)))))
>>> find_heads(tree), lexical_heads(tree)
((2, -2, -3, -4, -5), (2, 1, 2, 3, 4))
>>> lexical_heads(tree, style="content")
(2, 1, 2, 4, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.headtables import TABLE_NAMES, HeadTable, Step, Style, head_table
from treeglot.trees.penn import split_label
from treeglot.trees.tokens import check_same_forms


def find_heads(
    tree: ConstituencyTree,
    table: str | HeadTable = "auto",
    *,
    style: Style = "function",
    dependency: DependencyTree | None = None,
) -> tuple[NodeRef, ...]:
    """The head child of each phrase.

    ``table`` is a name (see `headtables`), a table, or ``auto`` (`guess_table`). With a ``dependency`` tree of the same
    words, the head of a phrase is the child with the word that is highest in that tree (so its own head is outside the
    phrase); of several equally high ones the table's choice if it is among them, else the first. Lifted arcs count with
    their true heads.
    """
    return _percolate(tree, table, style, dependency)[0]


def lexical_heads(
    tree: ConstituencyTree,
    table: str | HeadTable = "auto",
    *,
    style: Style = "function",
    dependency: DependencyTree | None = None,
    heads: Sequence[NodeRef] | None = None,
) -> tuple[int, ...]:
    """The head word of each phrase: that of its head child (``heads``, or what `find_heads` says)."""
    if heads is None:
        return _percolate(tree, table, style, dependency)[1]
    check_heads(tree, heads)
    words = [0] * len(tree)
    for n in range(len(tree) - 1, -1, -1):
        words[n] = words[heads[n]] if heads[n] >= 0 else ~heads[n]
    return tuple(words)


def check_heads(tree: ConstituencyTree, heads: Sequence[NodeRef]) -> None:
    """`TreeError` unless ``heads`` names one child for each phrase."""
    if len(heads) != len(tree):
        raise TreeError(f"{len(tree)} phrases but {len(heads)} heads", remedy="give one head for each phrase")
    for n, head in enumerate(heads):
        if head not in tree.children[n]:
            raise TreeError(
                f"the head {head} of phrase {n} ({tree.labels[n]}) is not its child", remedy="name one of its children"
            )


def guess_table(trees: ConstituencyTree | Iterable[ConstituencyTree]) -> str:
    """The name of the table that knows most of the labels, tags and functions of the tree(s).

    >>> from treeglot.trees.tokens import Tokens
    >>> tokens = Tokens(["Er", "schläft"], xpos=["PPER", "VVFIN"])
    >>> guess_table(ConstituencyTree.build(tokens, ("S", (("NP", "SB"), 0), 1)))
    'tiger'
    """
    known = [0] * len(TABLE_NAMES)
    for tree in [trees] if isinstance(trees, ConstituencyTree) else trees:
        symbols = [_base(label) for label in tree.labels]
        symbols += [_base(tag) for tag in tree.tokens.tags]
        symbols += [f":{function}" for function in (*tree.functions, *tree.word_functions) if function]
        for k, name in enumerate(TABLE_NAMES):
            vocabulary = _vocabulary(name)
            known[k] += sum(symbol in vocabulary for symbol in symbols)
    return TABLE_NAMES[known.index(max(known))]


@cache
def _vocabulary(name: str) -> frozenset[str]:
    return head_table(name).vocabulary | head_table(name, "content").vocabulary


@cache
def _base(label: str) -> str:
    """A label without functions, indices and marks of binarisation: NP of ``NP-SBJ``, ``NP=2`` and ``X@NP``."""
    return split_label(label.removeprefix("X@"))[0]


def _percolate(
    tree: ConstituencyTree, table: str | HeadTable, style: Style, dependency: DependencyTree | None
) -> tuple[tuple[NodeRef, ...], tuple[int, ...]]:
    if not isinstance(table, HeadTable):
        table = head_table(guess_table(tree) if table == "auto" else table, style)
    depths: tuple[int, ...] | None = None
    if dependency is not None:
        check_same_forms(tree.tokens, dependency.tokens)
        if dependency.true_heads is not None:
            dependency = DependencyTree(dependency.tokens, dependency.true_heads)
        depths = dependency.depths
    tags = tuple(map(_base, tree.tokens.tags))
    labels = tuple(map(_base, tree.labels))
    heads = [0] * len(tree)
    words = [0] * len(tree)

    def word(child: NodeRef) -> int:
        return words[child] if child >= 0 else ~child

    for n in range(len(tree) - 1, -1, -1):
        children = tree.children[n]
        head = children[0]
        if len(children) > 1:
            head = _head_child(tree, table, n, labels, tags, word)
            if depths is not None:
                top = min(depths[word(child)] for child in children)
                if depths[word(head)] != top:
                    head = next(child for child in children if depths[word(child)] == top)
        heads[n] = head
        words[n] = word(head)
    return tuple(heads), tuple(words)


class _Child:
    """What a step of a table sees of a child."""

    __slots__ = ("function", "label", "node", "word")

    def __init__(self, node: NodeRef, word: int, label: str, function: str) -> None:
        self.node = node
        self.word = word
        self.label = label
        self.function = function

    def matches(self, item: str) -> bool:
        label, colon, function = item.partition(":") if len(item) > 1 else (item, "", "")
        if colon and self.function != function:
            return False
        if label.endswith("+") and len(label) > 1 and label != self.label:
            return self.label.startswith(label[:-1])
        return not label or label == self.label


def _head_child(
    tree: ConstituencyTree,
    table: HeadTable,
    n: int,
    labels: Sequence[str],
    tags: Sequence[str],
    word: Callable[[NodeRef], int],
) -> NodeRef:
    children = [
        _Child(child, word(child), labels[child], tree.functions[child])
        if child >= 0
        else _Child(child, ~child, tags[~child], tree.word_functions[~child])
        for child in tree.children[n]
    ]
    candidates = [child for child in children if tags[child.word] not in table.punctuation] or children
    steps = table.rules.get(labels[n], ()) + table.default
    head = _search(candidates, steps)
    head = _first_conjunct(children, steps, table, tags, head)
    for shift in table.shifts:
        if tree.tokens.forms[head.word].lower() in shift.words or tags[head.word] in shift.words:
            others = [child for child in candidates if child is not head]
            head = _find(others, shift.steps) or head
    return head.node


def _first_conjunct(
    children: Sequence[_Child], steps: tuple[Step, ...], table: HeadTable, tags: Sequence[str], head: _Child
) -> _Child:
    """In a coordination, the head of the first conjunct; otherwise ``head``.

    Conjuncts end at a coordinator or at punctuation. Among bare words a conjunct must be of the same kind as the last one
    (nouns with nouns: tags with the same first letter), so that in "the big, old house and garden" the house is the head;
    and with several such words after the coordinator ("research and development costs") the last one remains the head.
    """
    place = children.index(head)
    for k in range(1, place):
        if any(children[k].matches(item) for item in table.coordinators):
            break
    else:
        return head
    segment: list[_Child] = []
    for child in children[: k + 1]:
        if child is not children[k] and tags[child.word] not in table.punctuation:
            segment.append(child)
        elif segment:
            first = _search(segment, steps)
            alike = sum(child.label[:1] == head.label[:1] for child in children[k : place + 1])
            words_only = first.node < 0 and head.node < 0
            if not words_only or (first.label[:1] == head.label[:1] and alike == 1):
                return first
            segment = []
    return head


def _search(children: Sequence[_Child], steps: Iterable[Step]) -> _Child:
    return _find(children, steps) or children[0]


def _find(children: Sequence[_Child], steps: Iterable[Step]) -> _Child | None:
    for step in steps:
        ordered = children[::-1] if step.from_right else children
        if not step.items:
            return ordered[0] if ordered else None
        if step.ranked:
            for item in step.items:
                for child in ordered:
                    if child.matches(item):
                        return child
        else:
            for child in ordered:
                if any(child.matches(item) for item in step.items):
                    return child
    return None
