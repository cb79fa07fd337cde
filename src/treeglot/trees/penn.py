"""Penn Treebank brackets: ``(S (NP-SBJ (PRP It)) (VP (VBZ works)))``.

A tree may take one line or many, and a line may hold several trees; blank lines and the spacing mean nothing. Only
ASCII white space separates, so a no-break space stays inside its word.

* An outer bracket without a label around one tree, ``( (S ...))``, is dropped. Any other bracket needs a label.
* ``NP-SBJ-1`` is the label ``NP`` with the function ``SBJ-1``, ``NP=2`` the label ``NP`` with the function ``=2``; labels
  that begin with a hyphen (``-LRB-``, ``-NONE-``) are whole. The writer joins them again.
* The tag above a word goes to ``xpos`` and its function (French ``CLS-SUJ``) to ``word_functions``. The writer takes
  xpos, else upos, else ``_``; a bare word between phrases has the tag ``_``.
* In words, ``-LRB- -RRB- -LSB- -RSB- -LCB- -RCB-`` stand for ``( ) [ ] { }`` and ``-SPC-`` for a space; ``\\/`` and ``\\*``
  lose their backslash, and a word that really contains one of these sequences is written with a backslash before it. In
  labels, ``*LRB*`` and ``*RRB*`` stand for brackets (TIGER has the tag ``$(``), because ``-LRB-`` is itself a tag.
* ``(())`` is how parsers write that they failed; the option ``failed`` says what becomes of it.

>>> tree = parse_penn("( (S (NP-SBJ (PRP It)) (VP (VBZ works) (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-))))")
>>> tree.labels, tree.functions, tree.tokens.forms
(('S', 'NP', 'VP', 'ADVP'), ('', 'SBJ', '', ''), ('It', 'works', '(', 'now', ')'))
>>> format_penn(tree)
'(S (NP-SBJ (PRP It)) (VP (VBZ works) (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-)))'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

Failed = Literal["error", "skip", "keep"]

EMPTY_TAG = "-NONE-"
"""The tag of traces and other empty elements."""

# A whole pre-terminal is one match, which halves the work; then an opening bracket with its label, ), and a bare word.
_PIECE = re.compile(r"\(\s*([^\s()]+)\s+([^\s()]+)\s*\)|(\()\s*([^\s()]*)|(\))|([^\s()]+)", re.ASCII)
_LABEL = re.compile(r"(-[^-=]+-|--|-(?=-[^-])|[^-=]+)(?:-(.+)|(=.+))", re.DOTALL)

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "-SPC-": " "}
_ESCAPES = {plain: escaped for escaped, plain in _BRACKETS.items()}
_ESCAPED = re.compile(r"(\\*)(-[LR][RSC]B-|-SPC-|[/*])")
_SPECIAL = re.compile(r"(\\*)(-[LR][RSC]B-|-SPC-|[][(){} /*])")


def read_penn(
    path: type_path, *, drop_empty: bool = False, split_functions: bool = True, failed: Failed = "error"
) -> Iterator[ParsedSentence]:
    """Stream the trees of a file.

    ``drop_empty`` removes traces and other empty elements (tag ``-NONE-``) with the phrases that then have no words;
    ``split_functions=False`` keeps ``NP-SBJ`` as a label. Where a parser failed (``(())``, or nothing is left of a tree),
    ``failed`` says whether that is an error, is skipped, or kept as a sentence without words and tree.
    """
    for _, sentence in read_penn_lines(path, drop_empty=drop_empty, split_functions=split_functions, failed=failed):
        yield sentence


def read_penn_lines(
    path: type_path, *, drop_empty: bool = False, split_functions: bool = True, failed: Failed = "error"
) -> Iterator[tuple[int, ParsedSentence]]:
    """`read_penn` with the line on which each tree begins."""
    for line, tree in _scan(read_lines(path), path, drop_empty, split_functions, failed):
        yield line, ParsedSentence(Tokens(())) if tree is None else ParsedSentence(tree.tokens, constituency=tree)


def parse_penn(text: str, *, drop_empty: bool = False, split_functions: bool = True) -> ConstituencyTree:
    """The one tree in ``text``; options as for `read_penn`."""
    trees = list(_scan(enumerate(text.split("\n"), start=1), None, drop_empty, split_functions, "error"))
    if len(trees) != 1:
        place = trees[1][0] if trees else 1
        raise InputError(f"{len(trees)} trees instead of one", line=place, remedy="give one bracketed tree")
    tree = trees[0][1]
    assert tree is not None
    return tree


def split_label(label: str) -> tuple[str, str]:
    """Label and function.

    >>> [split_label(x) for x in ("NP-SBJ-1", "NP=2", "-NONE-", "P+D", "--", "NP-")]
    [('NP', 'SBJ-1'), ('NP', '=2'), ('-NONE-', ''), ('P+D', ''), ('--', ''), ('NP-', '')]
    """
    if "-" not in label and "=" not in label:
        return label, ""
    match = _LABEL.fullmatch(label)
    return (match[1], match[2] or match[3]) if match else (label, "")


def join_label(label: str, function: str) -> str:
    """The inverse of `split_label`."""
    if not function:
        return label
    return f"{label}{function}" if function.startswith("=") and len(function) > 1 else f"{label}-{function}"


class _Builder:
    """The tree under construction, and the stack of its open phrases."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.labels: list[str] = []
        self.children: list[list[int]] = []
        self.forms: list[str] = []
        self.tags: list[str] = []
        self.bare: set[int] = set()
        self.open: list[int] = []

    def start(self, label: str) -> None:
        number = len(self.labels)
        if self.open:
            self.children[self.open[-1]].append(number)
        self.labels.append(label)
        self.children.append([])
        self.open.append(number)

    def bare_word(self, word: str) -> None:
        top = self.open[-1]
        below = self.children[top]
        if not below and not self.labels[top]:  # "(" and its label on different lines
            self.labels[top] = word
            return
        self.bare.add(len(self.forms))
        below.append(~len(self.forms))
        self.forms.append(word)
        self.tags.append(UNSET)

    def close(self) -> str:
        """Close the innermost phrase; returns what is wrong with it, or nothing."""
        number = self.open.pop()
        below = self.children[number]
        if not below:
            if self.labels[number]:
                return f"nothing under the label {self.labels[number]!r}"
            if self.forms or len(self.open) > 1:
                return "a bracket with nothing in it"
        elif not self.labels[number] and (len(self.open) > 1 or (self.open and self.labels[0])):
            return "a bracket without a label"
        elif not self.open and len(below) > 1 and any(child >= 0 and not self.labels[child] for child in below):
            return "brackets without labels side by side"
        if not below or (len(below) == 1 and below[0] < 0 and ~below[0] in self.bare):
            # A pre-terminal in pieces, or an empty bracket: not a phrase. It is the newest phrase, for it has none below.
            if below:
                self.bare.discard(~below[0])
                self.tags[~below[0]] = self.labels[number]
            self.labels.pop()
            self.children.pop()
            if self.open:
                self.children[self.open[-1]][-1:] = below
        return ""

    def finish(self, drop_empty: bool, split_functions: bool) -> ConstituencyTree | None:
        if drop_empty and EMPTY_TAG in self.tags:
            self.drop_empty()
        forms, tags, labels = self.forms, self.tags, self.labels
        children: list[list[int]] = self.children
        if not forms:
            return None
        if labels and not labels[0] and len(children[0]) == 1:
            labels = labels[1:]
            children = [[child - 1 if child >= 0 else child for child in below] for below in children[1:]]
        for n, form in enumerate(forms):
            if "-" in form or "\\" in form:
                forms[n] = _unescape(form)
        read_label = _read_label if split_functions else _read_whole_label
        both = [read_label(label) for label in labels]
        words = [read_label(tag) for tag in tags]
        # Brackets come in the canonical order: phrases in preorder, children from left to right.
        return ConstituencyTree.trusted(
            Tokens(forms, xpos=[tag for tag, _ in words]),
            tuple([label for label, _ in both]),
            tuple(map(tuple, children)),
            tuple([function for _, function in both]),
            tuple([function for _, function in words]),
        )

    def drop_empty(self) -> None:
        kept = [j for j, tag in enumerate(self.tags) if tag != EMPTY_TAG]
        number = {~j: ~new for new, j in enumerate(kept)}
        # Parents come before their children, so a phrase's children are decided first when going backwards.
        alive = [True] * len(self.labels)
        for n in range(len(self.labels) - 1, -1, -1):
            self.children[n] = [c for c in self.children[n] if (alive[c] if c >= 0 else c in number)]
            alive[n] = bool(self.children[n])
        living = [n for n, yes in enumerate(alive) if yes]
        number |= {n: new for new, n in enumerate(living)}
        self.labels = [self.labels[n] for n in living]
        self.children = [[number[c] for c in self.children[n]] for n in living]
        self.forms = [self.forms[j] for j in kept]
        self.tags = [self.tags[j] for j in kept]


@lru_cache(maxsize=4096)
def _read_label(text: str) -> tuple[str, str]:
    label, function = split_label(text)
    return _unescape_label(label), _unescape_label(function)


def _read_whole_label(text: str) -> tuple[str, str]:
    return _unescape_label(text), ""


def _scan(
    lines: Iterable[tuple[int, str]], path: type_path | None, drop_empty: bool, split_functions: bool, failed: Failed
) -> Iterator[tuple[int, ConstituencyTree | None]]:
    """Each tree with the number of its first line."""
    tree: _Builder | None = None
    line = 0

    def error(message: str, remedy: str, text: str, piece: int) -> InputError:
        column = next(m.start() for k, m in enumerate(_PIECE.finditer(text)) if k == piece) + 1
        return InputError(message, path=path, line=line, column=column, remedy=remedy)

    for line, text in lines:
        for piece, (tag, word, opening, label, closing, bare) in enumerate(_PIECE.findall(text)):
            if word:
                if tree is None:  # a sentence of one word without any phrase
                    tree = _Builder(line)
                elif tree.open:
                    tree.children[tree.open[-1]].append(~len(tree.forms))
                tree.forms.append(word)
                tree.tags.append(tag)
            elif opening:
                if tree is None:
                    tree = _Builder(line)
                tree.start(label)
                continue
            elif closing:
                if tree is None:
                    raise error(") without (", "remove the bracket, or add the one it closes", text, piece)
                problem = tree.close()
                if problem:
                    raise error(problem, "every bracket needs a label and a word or phrase", text, piece)
            else:
                if tree is None:
                    message = f"{bare[:40]!r} stands outside all brackets"
                    raise error(message, "check that the file has bracketed trees and nothing else", text, piece)
                tree.bare_word(bare)
            if not tree.open:
                try:
                    built = tree.finish(drop_empty, split_functions)
                except TreeError as problem_in_tree:
                    raise problem_in_tree.at(path, tree.line) from None
                if built is not None or failed == "keep":
                    yield tree.line, built
                elif failed == "error":
                    raise error("a tree without words", "drop it, or read with failed='skip' or 'keep'", text, piece)
                tree = None
    if tree is not None:
        raise InputError(
            f"the file ends inside the tree that begins in line {tree.line}: {len(tree.open)} brackets are open",
            path=path,
            line=line,
            remedy="add the missing closing brackets, or copy the file again",
        )


def _unescape(word: str) -> str:
    return _ESCAPED.sub(_plain, word)


def _plain(match: re.Match[str]) -> str:
    slashes, what = match[1], match[2]
    if len(slashes) % 2:  # a backslash before: this is meant as it stands
        return "\\" * (len(slashes) // 2) + what
    return "\\" * (len(slashes) // 2) + _BRACKETS.get(what, what)


def _escape(word: str) -> str:
    return _SPECIAL.sub(_guarded, word)


def _guarded(match: re.Match[str]) -> str:
    slashes, what = match[1], match[2]
    if len(what) > 1:
        return f"{slashes}{slashes}\\{what}"
    return f"{slashes}{slashes}{_ESCAPES.get(what, what)}"


def _unescape_label(label: str) -> str:
    return label.replace("*LRB*", "(").replace("*RRB*", ")")


_SPACE = re.compile(r"\s", re.ASCII)


def _check_atom(text: str, what: str) -> str:
    if not text or _SPACE.search(text):
        problem = f"white space in the {what} {text!r}" if text else f"an empty {what}"
        raise TreeError(f"brackets cannot hold {problem}", remedy="replace it first, or write another format")
    return text


def _format_label(label: str, function: str) -> str:
    return _check_atom(join_label(label, function).replace("(", "*LRB*").replace(")", "*RRB*"), "label")


def format_penn(tree: ConstituencyTree, *, pretty: bool = False, width: int = 80) -> str:
    """``tree`` in brackets on one line, or with ``pretty`` indented, phrases that fit into ``width`` on one line.

    A discontinuous tree has no brackets: a `TreeError`.
    """
    if not tree.is_continuous:
        gap = tree.labels[tree.discontinuous.index(True)]
        raise TreeError(f"the phrase {gap!r} is discontinuous", remedy="make the tree continuous first")
    words = [
        f"({_format_label(tag, function)} {_check_atom(_escape(form), 'word')})"
        for form, tag, function in zip(tree.tokens.forms, tree.tokens.tags, tree.word_functions, strict=True)
    ]
    if not len(tree):
        return words[0]
    heads = [
        "(" + (_format_label(label, function) if label or n else "")
        for n, (label, function) in enumerate(zip(tree.labels, tree.functions, strict=True))
    ]
    lengths = [0] * len(tree)
    if pretty:
        for n in range(len(tree) - 1, -1, -1):
            below = (lengths[child] if child >= 0 else len(words[~child]) for child in tree.children[n])
            lengths[n] = len(heads[n]) + sum(size + 1 for size in below) + 1
    out: list[str] = []
    stack: list[tuple[int | None, str, int]] = [
        (0, "", 0)
    ]  # node (None closes one), what goes before it, depth if broken
    while stack:
        node, before, depth = stack.pop()
        if node is None:
            out.append(")")
            continue
        out.append(before)
        if node < 0:
            out.append(words[~node])
            continue
        out.append(heads[node])
        stack.append((None, "", 0))
        between = " "
        if pretty and before != " " and lengths[node] + 2 * depth > width:
            depth += 1
            between = "\n" + "  " * min(depth, 40)  # very deep trees would otherwise be all indentation
        stack.extend((child, between, depth) for child in reversed(tree.children[node]))
    text = "".join(out)
    # A root without a label above one phrase would be taken for the outer bracket that readers drop.
    return f"( {text})" if not tree.labels[0] and len(tree.children[0]) == 1 else text


def write_penn(sentences: Iterable[ParsedSentence], path: type_path, *, pretty: bool = False) -> None:
    """Write the constituency trees, one to a line (``pretty``: indented, with a blank line between them).

    A sentence without words becomes ``(())``; one with words but without constituency tree is an error.
    """
    with atomic_write(path) as file:
        for number, sentence in enumerate(sentences, start=1):
            tree = sentence.constituency
            if tree is None and len(sentence):
                raise TreeError(
                    f"sentence {sentence.id or number} has no constituency tree",
                    remedy="parse it, or convert its dependency tree first",
                )
            try:
                text = "(())" if tree is None else format_penn(tree, pretty=pretty)
            except TreeError as error:
                error.message = f"sentence {sentence.id or number}: {error.message}"
                raise
            file.write(text + ("\n\n" if pretty else "\n"))
