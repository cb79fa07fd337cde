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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

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

_FIELDS = ("FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


def read_conllu(path: type_path) -> Iterator[ParsedSentence]:
    """Stream the sentences of a file (``.gz`` and ``.zst`` are unpacked, ``-`` is standard input) in constant memory."""
    with open_binary(path) as stream:
        # read1 gives what a pipe holds at once instead of waiting for a full chunk.
        read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        yield from _sentences(iter(lambda: read(_CHUNK), b""), path, 1)


def parse_conllu(text: str | bytes, path: type_path | None = None, first_line: int = 1) -> Iterator[ParsedSentence]:
    """The sentences of CoNLL-U text. ``path`` and ``first_line`` say in errors where the text was taken from."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return _sentences(iter((data,)), path, first_line)


def _sentences(chunks: Iterator[bytes], path: type_path | None, first_line: int) -> Iterator[ParsedSentence]:
    reader = _core.Reader(first_line)
    following = reader.next
    try:
        for chunk in chunks:
            reader.feed(chunk)
            while (found := following()) is not None:
                yield _sentence(*found)
        reader.finish()
        while (found := following()) is not None:
            yield _sentence(*found)
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
    tokens = Tokens(*columns)
    tree = None if heads is None or deprels is None else DependencyTree.trusted(tokens, heads, deprels)
    return ParsedSentence(
        tokens,
        tree,
        None,
        id,
        comments,
        tuple(MultiwordRange(*one) for one in ranges) if ranges else (),
        tuple(EmptyNode(*one) for one in empty_nodes) if empty_nodes else (),
        _ENDINGS[ending] if ending else (),
    )
