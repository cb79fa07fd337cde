"""Moses text: two parallel files of tokenised text in which ``& | < > ' " [ ]`` are written as entities.

Moses takes a bare ``<…>`` for markup (``<n translation="Haus">house</n>``) and ``|`` for a factor separator, so its text
files escape them. Reading decodes the escapes (also the older ``&bar; &bra; &ket;``), writing encodes them. A line that
carries markup is not plain text: it is an error, or the tags are stripped.

>>> escape("R&D [a|b]")
'R&amp;D &#91;a&#124;b&#93;'
>>> unescape("R&amp;D &#91;a&#124;b&#93; &amp;lt;")
'R&D [a|b] &lt;'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from treeglot.bitext.pair import TextPair, one_line
from treeglot.bitext.plain import parallel_lines, write_parallel
from treeglot.errors import InputError
from treeglot.files import type_path
from treeglot.words import split_words

_ESCAPES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
_CHARACTERS = {code: character for character, code in _ESCAPES.items()} | {"&bar;": "|", "&bra;": "[", "&ket;": "]"}
_TABLE = str.maketrans(_ESCAPES)
# One pass, so that "&amp;lt;" becomes "&lt;" and not "<".
_CODE = re.compile("|".join(re.escape(code) for code in _CHARACTERS))
_TAG = re.compile(r"</?[^\s<>/][^<>]*>")


def escape(text: str) -> str:
    """``text`` with Moses' special characters as entities."""
    return text.translate(_TABLE)


def unescape(text: str) -> str:
    """Undo `escape`; other entities stay as they are."""
    return _CODE.sub(lambda match: _CHARACTERS[match[0]], text) if "&" in text else text


def read_moses(
    source: type_path, target: type_path, *, markup: Literal["error", "strip"] = "error"
) -> Iterator[TextPair]:
    """Stream the pairs of two Moses text files.

    A line with XML markup is an `InputError`; ``markup="strip"`` removes the tags and keeps the text between them.
    """
    for line, first, second in parallel_lines(source, target):
        yield TextPair(_decode(first, markup, source, line), _decode(second, markup, target, line), "", line)


def _decode(text: str, markup: str, path: type_path, line: int) -> str:
    tag = _TAG.search(text) if "<" in text else None
    if tag is not None:
        if markup != "strip":
            raise InputError(
                f"XML markup {tag[0][:60]!r} in Moses text",
                path=path,
                line=line,
                column=tag.start() + 1,
                remedy='strip it with the option markup="strip", or write < as &lt; if it is text',
            )
        text = " ".join(split_words(_TAG.sub(" ", text)))
    return unescape(text)


def write_moses(pairs: Iterable[TextPair], source: type_path, target: type_path) -> int:
    """Write two parallel files of escaped text; returns the number of pairs."""
    return write_parallel(pairs, source, target, lambda text: escape(one_line(text)))
