"""CoNLL-U files: dependency trees as ten tab-separated columns, one word on a line, a blank line after each sentence.

Multiword ranges (``3-4``), empty nodes (``5.1``), comments and all columns are kept, so that a file that is read and
written again comes out byte for byte. Line ends are normalised to ``\\n``, a byte-order mark and surplus blank lines are
dropped. What breaks the format or the tree is an `InputError` that names the line. HEAD ``_`` on all words means that
the sentence has no dependency tree.

>>> text = '''# sent_id = s1
... 1-2\\tdu\\t_\\t_\\t_\\t_\\t_\\t_\\t_\\t_
... 1\\tde\\tde\\tADP\\t_\\t_\\t3\\tcase\\t_\\t_
... 2\\tle\\tle\\tDET\\t_\\t_\\t3\\tdet\\t_\\t_
... 3\\tpain\\tpain\\tNOUN\\t_\\t_\\t0\\troot\\t_\\t_
...
... '''
>>> [sentence] = parse_conllu(text)
>>> sentence.id, sentence.tokens.forms, sentence.dependency.heads, sentence.ranges[0].columns[1]
('s1', ('de', 'le', 'pain'), (2, 2, -1), 'du')
>>> format_conllu(sentence) == text
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields

from treeglot._core import conllu as _core
from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write_binary, open_binary, type_path
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import EmptyNode, MultiwordRange, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

_CHUNK = 1 << 18

_END = "end of file"
_ENDINGS = {1: ((_END, "no blank line"),), 2: ((_END, "no line end"),)}
"""Notes on the last sentence of a file that does not end in a blank line, so that it can be written as it was."""

_ENDS = {"no blank line": b"\n", "no line end": b""}

_TOKENS = ("forms", "lemmas", "upos", "xpos", "feats", "deps", "misc")
_TREE = tuple(field.name for field in fields(DependencyTree))
_SENTENCE = tuple(field.name for field in fields(ParsedSentence))

_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_SENT_ID = re.compile(r"#[ \t]*sent_id[ \t]*=[ \t]*(.*[^ \t])", re.DOTALL)
_BREAKING = frozenset("\n\r\0")


def read_conllu(path: type_path) -> Iterator[ParsedSentence]:
    """Stream the sentences of a file (``.gz`` and ``.zst`` are unpacked, ``-`` is standard input) in constant memory."""
    with open_binary(path) as stream:
        # read1 gives what a pipe holds at once instead of waiting for a full chunk.
        read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        yield from _sentences(iter(lambda: read(_CHUNK), b""), path, 1)


def parse_conllu(text: str | bytes, path: type_path | None = None, first_line: int = 1) -> Iterator[ParsedSentence]:
    """The sentences of CoNLL-U text. ``path`` and ``first_line`` say in errors where the text was taken from."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return _sentences((data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)), path, first_line)


def _sentences(chunks: Iterator[bytes], path: type_path | None, first_line: int) -> Iterator[ParsedSentence]:
    reader = _core.Reader(first_line)
    following = reader.next
    try:
        for chunk in chunks:
            reader.feed(chunk)
            while (columns := following()) is not None:
                yield _sentence(*columns)
        reader.finish()
        while (columns := following()) is not None:
            yield _sentence(*columns)
    except _core.ScanError as error:
        line, column, message, remedy = error.args
        raise InputError(message, path=path, line=line, column=column or None, remedy=remedy) from None


def _sentence(
    columns: tuple[tuple[str, ...], ...],
    heads: tuple[int, ...] | None,
    deprels: tuple[str, ...] | None,
    id: str,
    comments: tuple[str, ...],
    ranges: tuple[tuple[int, int, tuple[str, ...]], ...],
    empty_nodes: tuple[tuple[int, tuple[str, ...]], ...],
    ending: int,
) -> ParsedSentence:
    # The scanner has made every check of these classes' constructors.
    make = _core.make_frozen
    tokens = make(Tokens, _TOKENS, columns)
    tree = None if heads is None else make(DependencyTree, _TREE, (tokens, heads, deprels, None))
    more = tuple(MultiwordRange(*fields) for fields in ranges) if ranges else ()
    empty = tuple(EmptyNode(*fields) for fields in empty_nodes) if empty_nodes else ()
    notes = _ENDINGS[ending] if ending else ()
    return make(ParsedSentence, _SENTENCE, (tokens, tree, None, id, comments, more, empty, notes))


def write_conllu(sentences: Iterable[ParsedSentence], path: type_path) -> int:
    """Write sentences to a file (packed by ending, ``-`` is standard output) and return how many there were.

    The file ends in a blank line unless its last sentence was read from a file that did not.
    """
    count = 0
    end = b""
    with atomic_write_binary(path) as out:
        for sentence in sentences:
            try:
                data = _lines(sentence).encode()
            except UnicodeEncodeError:
                raise _broken(sentence, "a lone surrogate, which UTF-8 cannot hold") from None
            out.write(b"\n\n" + data if count else data)
            count += 1
            end = _ENDS.get(dict(sentence.notes).get(_END, ""), b"\n\n")
        out.write(end)
    return count


def format_conllu(sentence: ParsedSentence) -> str:
    """One sentence as CoNLL-U text, ending in a blank line.

    Comments, ranges and empty nodes are written as they were read; ids follow the sentence. A sentence that has an id but
    no ``sent_id`` comment, as those from other formats, gets ``sent_id`` and ``text`` comments.

    >>> print(format_conllu(ParsedSentence.of(DependencyTree(["go", "!"], [-1, 0]), id="t1")).expandtabs(4), end="")
    # sent_id = t1
    # text = go !
    1   go  _   _   _   _   0   _   _   _
    2   !   _   _   _   _   1   _   _   _
    <BLANKLINE>
    """
    return f"{_lines(sentence)}\n\n"


def _lines(sentence: ParsedSentence) -> str:
    """`format_conllu` without the last line's end."""
    rows = _rows(sentence)
    words = "\n".join(map("\t".join, rows))
    # Any value that is empty or would break a line or a column shows in one of these.
    if (
        words.count("\t") != 9 * len(rows)
        or words.count("\n") != len(rows) - 1
        or "\r" in words
        or "\0" in words
        or "\t\t" in words
        or "\t\n" in words
        or words.endswith("\t")
    ):
        words = "\n".join("\t".join(_checked(sentence, row)) for row in rows)
    comments = _comments(sentence)
    for comment in comments:
        if not comment.startswith("#") or not _BREAKING.isdisjoint(comment):
            raise _broken(sentence, f"the comment {comment!r} is not one line that starts with #")
    return "\n".join((*comments, words))


def _rows(sentence: ParsedSentence) -> list[tuple[str, ...]]:
    """The columns of all lines of words, ranges and empty nodes."""
    tokens, tree = sentence.tokens, sentence.dependency
    size = len(tokens)
    if not size:
        raise _broken(sentence, "there are no words")
    unset = (UNSET,) * size
    heads = unset if tree is None else [str(head + 1) for head in tree.heads]
    deprels = unset if tree is None else tree.deprels
    ids = map(str, range(1, size + 1))
    forms, lemmas, upos, xpos, feats, deps, misc = tokens.columns()
    rows = list(zip(ids, forms, lemmas, upos, xpos, feats, heads, deprels, deps, misc, strict=True))
    if not (sentence.ranges or sentence.empty_nodes):
        return rows
    before: dict[int, list[tuple[str, ...]]] = {}
    for after, columns in sentence.empty_nodes:
        if not 0 <= after <= size or len(columns) != 10:
            raise _broken(sentence, f"the empty node after word {after} is out of place or has not ten columns")
        place = before.setdefault(after, [])
        place.append((f"{after}.{len(place) + 1}", *columns[1:]))
    covered = 0
    for start, end, columns in sentence.ranges:
        if not covered <= start < end <= size or len(columns) != 10:
            raise _broken(sentence, f"the range {start + 1}-{end} is out of place or has not ten columns")
        before.setdefault(start, []).append((f"{start + 1}-{end}", *columns[1:]))
        covered = end
    merged: list[tuple[str, ...]] = []
    for j, row in enumerate(rows):
        merged += before.get(j, ())
        merged.append(row)
    return merged + before.get(size, [])


def _checked(sentence: ParsedSentence, row: tuple[str, ...]) -> list[str]:
    """The columns with ``_`` for empty values; a value that cannot be written is an error."""
    for name, value in zip(_NAMES, row, strict=True):
        if not value and name == "FORM":
            raise _broken(sentence, f"word {row[0]} has an empty form")
        if "\t" in value or not _BREAKING.isdisjoint(value):
            raise _broken(sentence, f"the {name} {value!r} of word {row[0]} has a tab, a line break or a NUL byte")
    return [value or UNSET for value in row]


def _comments(sentence: ParsedSentence) -> tuple[str, ...]:
    """The comments, of which ``sent_id`` agrees with the sentence's id."""
    comments = sentence.comments
    if not sentence.id:
        return comments
    line = f"# sent_id = {sentence.id}"
    for i, comment in enumerate(comments):
        sent_id = _SENT_ID.match(comment)
        if sent_id:
            return comments if sent_id[1] == sentence.id else (*comments[:i], line, *comments[i + 1 :])
    has_text = any(comment.startswith("# text =") for comment in comments)
    return (*comments, line) if has_text else (*comments, line, f"# text = {_surface(sentence)}")


def _surface(sentence: ParsedSentence) -> str:
    """The text as it was before words were split: multiword forms, and no space where MISC says ``SpaceAfter=No``."""
    forms, misc = sentence.tokens.forms, sentence.tokens.misc
    ranges = {multiword.start: multiword for multiword in sentence.ranges}
    pieces: list[str] = []
    j = 0
    while j < len(forms):
        whole = ranges.get(j)
        form, note = (forms[j], misc[j]) if whole is None else (whole.columns[1], whole.columns[9])
        pieces.append(form if "SpaceAfter=No" in note.split("|") else f"{form} ")
        j = j + 1 if whole is None else whole.end
    return "".join(pieces).strip()


def _broken(sentence: ParsedSentence, what: str) -> TreeError:
    where = f"sentence {sentence.id} cannot" if sentence.id else "a sentence cannot"
    return TreeError(f"{where} be written as CoNLL-U: {what}", remedy="correct the sentence before writing it")
