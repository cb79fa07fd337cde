"""Dependency trees as bracketed trees, and back (spec: phrases and subtrees, section 3; paper: phrase extraction).

Each word that has dependents becomes a constituent: the word and its dependents, as siblings in surface order. The labels
keep the dependencies, so that nothing is lost::

    constituents   index;head=index;func1=index;...;funcn=index
    words          index;tag;lemma

Words are numbered from 1, constituents after the last word in the order in which their brackets close, so the root has
the highest number. A constituent's label names its head word and *all* dependents of that word, each by its number (of its
constituent, if it has one). A dependent whose arc crosses others stands in the lowest constituent where no branches cross
(`treeglot.trees.projectivity`); the label of its true head still names it there. The relation of the root word is taken to
be ``root``; another one is written as a function of the root constituent with its own number.

In text, one line is one sentence. White space, brackets, semicolons and percent signs inside forms, tags, lemmas and
functions are written as ``%`` and two hexadecimal digits for each byte of UTF-8; an empty string is a lone ``%``.

>>> tokens = Tokens("John saw Mary yesterday".split(), ["John", "see", "Mary", "yesterday"], xpos=["N", "V", "N", "R"])
>>> tree = DependencyTree(tokens, [1, -1, 1, 1], ["nsubj", "root", "obj", "advmod"])
>>> text = format_bracketed(to_bracketed(tree))
>>> print(text)
(5;head=2;nsubj=1;obj=3;advmod=4 (1;N;John John) (2;V;see saw) (3;N;Mary Mary) (4;R;yesterday yesterday))
>>> from_bracketed(parse_bracketed(text)) == tree
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote_to_bytes

from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.projectivity import projectivize
from treeglot.trees.tokens import UNSET, Token, Tokens

ROOT_RELATION = "root"
"""The relation of the root word that need not be written."""

HEAD_FUNCTION = "head"
"""The function of a word in the phrase that it is the head of."""

_SPECIAL = re.compile(r"[\s()%;\x00-\x1f\x7f]")
_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_PIECE = re.compile(r"[()]|[^\s()]+")
_MORE_COLUMNS = ("upos", "xpos", "feats", "deps", "misc")


def to_bracketed(tree: DependencyTree) -> ConstituencyTree:
    """The bracketed tree: continuous, over the same tokens. A single word without a special relation has no constituent."""
    true_heads = tree.heads if tree.true_heads is None else tree.true_heads
    place = projectivize(DependencyTree(tree.tokens, true_heads, tree.deprels))
    size = len(tree)
    dependents: list[list[int]] = [[] for _ in range(size)]
    for j, head in enumerate(true_heads):
        if head != ROOT:
            dependents[head].append(j)
    special_root = tree.deprels[tree.root] != ROOT_RELATION
    order = [n for n in _closing_order(place) if dependents[n] or (special_root and n == tree.root)]
    constituent = {n: number for number, n in enumerate(order)}

    def index(j: int) -> int:
        return size + 1 + constituent[j] if j in constituent else j + 1

    labels, children = [], []
    for n in order:
        items = [f"{index(n)};head={n + 1}"]
        items += [f"{escape(tree.deprels[j])}={index(j)}" for j in dependents[n]]
        if special_root and n == tree.root:
            items.append(f"{escape(tree.deprels[n])}={index(n)}")
        labels.append(";".join(items))
        children.append([~n, *(constituent.get(j, ~j) for j in place.children(n))])
    return ConstituencyTree(tree.tokens, labels, children)


def dependency_phrases(tree: DependencyTree) -> ConstituencyTree:
    """The same phrases with labels to read and to compare, such as other treebanks have: the head's word class, with the
    relation of each phrase and word as its function, and `HEAD_FUNCTION` on the head words.

    >>> tokens = Tokens("John saw Mary".split(), upos=["PROPN", "VERB", "PROPN"])
    >>> phrases = dependency_phrases(DependencyTree(tokens, [1, -1, 1], ["nsubj", "root", "obj"]))
    >>> phrases.labels, phrases.functions, phrases.word_functions
    (('VERB',), ('root',), ('nsubj', 'head', 'obj'))
    """
    bracketed = to_bracketed(tree)
    heads = [_head_word(bracketed, n) for n in range(len(bracketed))]
    classes = [
        token.upos if token.upos != UNSET else tag for token, tag in zip(tree.tokens, tree.tokens.tags, strict=True)
    ]
    word_functions = list(tree.deprels)
    for head in heads:
        word_functions[head] = HEAD_FUNCTION
    return ConstituencyTree(
        tree.tokens,
        [classes[head] for head in heads],
        bracketed.children,
        [tree.deprels[head] for head in heads],
        word_functions,
    )


def from_bracketed(tree: ConstituencyTree) -> DependencyTree:
    """The dependency tree that the labels of a bracketed tree describe; `TreeError` if they describe none."""
    size = len(tree.tokens)
    head_words = [_head_word(tree, n) for n in range(len(tree))]
    word_of = {j + 1: j for j in range(size)}  # what an index in a label stands for
    for n, label in enumerate(tree.labels):
        number = _integer(label.split(";", 1)[0], label)
        if number in word_of:
            raise TreeError(f"index {number} is given twice", remedy="number words from 1 and constituents after them")
        word_of[number] = head_words[n]
    hidden = {j + 1 for j in head_words}  # a word with a constituent of its own is named by that
    if len(hidden) != len(head_words):
        raise TreeError("two constituents have one head word", remedy="make one constituent for each word")
    heads = [ROOT] * size
    deprels: list[str | None] = [None] * size
    for n, label in enumerate(tree.labels):
        for item in label.split(";")[2:]:
            function, equals, reference = item.rpartition("=")
            number = _integer(reference, label)
            if not equals or number not in word_of or number in hidden:
                raise TreeError(f"{item!r} in {label!r} names no dependent", remedy="write function=index")
            j = word_of[number]
            if deprels[j] is not None:
                raise TreeError(f"index {number} depends on two heads", remedy="name each dependent in one label")
            own = j == head_words[n]
            if own and n != tree.root:
                raise TreeError(f"{label!r} depends on itself", remedy="correct the index")
            heads[j] = ROOT if own else head_words[n]
            deprels[j] = escape_free(function)
    root = head_words[0] if head_words else 0
    if deprels[root] is None:
        deprels[root] = ROOT_RELATION
    relations: list[str] = []
    for j, deprel in enumerate(deprels):
        if deprel is None:
            raise TreeError(
                f"no label names word {j + 1} as a dependent", remedy="add function=index to its head's label"
            )
        relations.append(deprel)
    return DependencyTree(tree.tokens, heads, relations)


def format_bracketed(tree: ConstituencyTree, *, full: bool = False) -> str:
    """One line of text. ``full`` adds the columns that ``index;tag;lemma`` does not show, as ``;upos=NOUN;feats=...``."""
    pieces: list[str] = []
    tags = tree.tokens.tags
    stack: list[int | None] = [tree.root]
    while stack:
        node = stack.pop()
        if node is None:
            pieces.append(")")
        elif node < 0:
            token = tree.tokens[~node]
            label = f"{~node + 1};{escape(tags[~node])};{escape(token.lemma)}"
            if full:
                short = Token(token.form, token.lemma, xpos=tags[~node])
                for column in _MORE_COLUMNS:
                    if (value := getattr(token, column)) != getattr(short, column):
                        label += f";{column}={escape(value)}"
            pieces.append(f" ({label} {escape(token.form)})")
        else:
            pieces.append(f" ({tree.labels[node]}")
            stack.append(None)
            stack.extend(reversed(tree.children[node]))
    return "".join(pieces)[1:]


def parse_bracketed(text: str, *, path: type_path | None = None, line: int | None = None) -> ConstituencyTree:
    """Read what `format_bracketed` wrote. Damaged text is an `InputError` with ``path`` and ``line``."""
    try:
        tree = _parse(text)
        expected = to_bracketed(from_bracketed(tree))
        if expected.children != tree.children:
            raise TreeError("the brackets do not fit the labels", remedy=f"expected {format_bracketed(expected)}")
        if expected.labels != tree.labels:
            wrong, right = next((a, b) for a, b in zip(tree.labels, expected.labels, strict=True) if a != b)
            raise TreeError(f"label {wrong!r} where {right!r} is due", remedy="write the tree anew with to_bracketed")
    except TreeError as error:
        raise InputError(
            error.message,
            path=path,
            line=1 if line is None else line,
            column=error.column,
            remedy=error.remedy,
        ) from None
    return tree


def read_bracketed(path: type_path) -> Iterator[ConstituencyTree]:
    """Stream the bracketed trees of a file, one on each line (``.gz`` and ``.zst`` are unpacked)."""
    for number, text in read_lines(path):
        yield parse_bracketed(text, path=path, line=number)


def write_bracketed(trees: Iterable[ConstituencyTree], path: type_path, *, full: bool = False) -> int:
    """Write bracketed trees, one on each line; returns how many."""
    count = 0
    with atomic_write(path) as stream:
        for tree in trees:
            stream.write(format_bracketed(tree, full=full) + "\n")
            count += 1
    return count


def escape(text: str) -> str:
    """
    >>> escape("a (b); 5%"), escape("")
    ('a%20%28b%29%3B%205%25', '%')
    """
    if not text:
        return "%"
    return _SPECIAL.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)


def escape_free(text: str) -> str:
    """
    >>> escape_free("a%20%28b%29%3B%205%25"), escape_free("%")
    ('a (b); 5%', '')
    """
    if "%" not in text:
        return text
    if text == "%":
        return ""
    if "%" in _ESCAPE.sub("", text):
        raise TreeError(f"{text!r}: a percent sign without two hexadecimal digits", remedy="write it as %25")
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        raise TreeError(f"{text!r}: the escaped bytes are not UTF-8", remedy="escape whole characters") from None


def _closing_order(tree: DependencyTree) -> list[int]:
    """Words of a projective tree in the order in which their brackets close."""
    order: list[int] = []
    stack = [(tree.root, False)]
    while stack:
        n, done = stack.pop()
        if done:
            order.append(n)
        else:
            stack.append((n, True))
            stack.extend((child, False) for child in reversed(tree.children(n)))
    return order


def _integer(text: str, label: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise TreeError(f"{text!r} in {label!r} is not an index", remedy="write a number from 1")
    return int(text)


def _head_word(tree: ConstituencyTree, n: int) -> int:
    """The head word of constituent n, which must be among its children."""
    label = tree.labels[n]
    items = label.split(";")
    if len(items) < 2 or not items[1].startswith("head="):
        raise TreeError(f"label {label!r} of a constituent", remedy="write index;head=index;function=index;...")
    word = _integer(items[1].removeprefix("head="), label) - 1
    if ~word not in tree.children[n] or word < 0:
        raise TreeError(f"{items[1]} in {label!r} is no word of this constituent", remedy="name one of its own words")
    return word


def _parse(text: str) -> ConstituencyTree:
    labels: list[str] = []
    children: list[list[int]] = []
    words: list[Token] = []
    open_brackets: list[int] = []  # constituents that wait for their closing bracket
    pieces = [(match[0], match.start() + 1) for match in _PIECE.finditer(text)]
    pieces += [("", len(text) + 1)] * 4  # so that looking ahead needs no care
    if pieces[0][0] == "":
        raise TreeError("no tree on this line", remedy="one line is one sentence; delete empty lines")
    at = 0
    complete = False
    while pieces[at][0]:
        piece, column = pieces[at]
        if complete:
            raise TreeError(f"{piece!r} after the end of the tree", column=column, remedy="put one tree on each line")
        if piece == ")" and open_brackets:
            closed = open_brackets.pop()
            if not children[closed]:
                raise TreeError(f"constituent {labels[closed]!r} is empty", column=column, remedy="delete it")
            at += 1
        elif piece == "(" and pieces[at + 1][0] not in ("", "(", ")"):
            label, following = pieces[at + 1][0], pieces[at + 2][0]
            if following and following not in "()":
                if pieces[at + 3][0] != ")":
                    raise TreeError(
                        f"no closing bracket after the word {following!r}",
                        column=pieces[at + 3][1],
                        remedy="write (index;tag;lemma form)",
                    )
                node = ~len(words)
                words.append(_word(label, following, len(words) + 1))
                at += 4
            else:
                node = len(labels)
                labels.append(label)
                children.append([])
                at += 2
            if open_brackets:
                children[open_brackets[-1]].append(node)
            if node >= 0:
                open_brackets.append(node)
        else:
            what = "a bracket without a label" if piece == "(" else f"{piece!r} where a bracket should open"
            raise TreeError(what, column=column, remedy="write (label ...), with %28 and %29 for brackets in words")
        complete = not open_brackets
    if open_brackets:
        raise TreeError(f"{len(open_brackets)} brackets are not closed", column=len(text) + 1, remedy="close them")
    return ConstituencyTree(Tokens.of(words), labels, children)


def _word(label: str, form: str, expected: int) -> Token:
    items: Sequence[str] = label.split(";")
    if len(items) < 3:
        raise TreeError(f"label {label!r} of a word", remedy="write index;tag;lemma")
    number = _integer(items[0], label)
    if number != expected:
        raise TreeError(f"word {expected} has the index {number}", remedy="number the words 1, 2, 3, ...")
    columns = {"form": form, "xpos": items[1], "lemma": items[2]}
    for item in items[3:]:
        column, _, value = item.partition("=")
        if column not in _MORE_COLUMNS:
            raise TreeError(f"{item!r} in the label {label!r}", remedy=f"columns are {', '.join(_MORE_COLUMNS)}")
        columns[column] = value
    return Token(**{name: escape_free(value) for name, value in columns.items()})
