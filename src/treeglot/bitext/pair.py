"""The unit of parallel text: two strings that translate each other, and where they came from.

>>> pair = TextPair("a house", "une maison", id="7")
>>> pair.swapped()
TextPair(source='une maison', target='a house', id='7')
>>> one_line("two\\r\\nlines")
'two lines'
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from treeglot.errors import TreeglotError
from treeglot.files import type_path


@dataclass(frozen=True, slots=True, repr=False)
class TextPair:
    """One segment in two languages.

    ``id`` is the name the file gave it (empty if none), ``line`` the line on which it starts (0 if unknown; two pairs
    that differ only in it are equal), ``metadata`` what else the file said about it, as (name, value) pairs.
    """

    source: str
    target: str
    id: str = ""
    line: int = field(default=0, compare=False)
    metadata: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """The metadata called ``name``."""
        return next((value for key, value in self.metadata if key == name), default)

    def swapped(self) -> TextPair:
        """The same pair in the other direction."""
        return TextPair(self.target, self.source, self.id, self.line, self.metadata)

    def with_texts(self, source: str, target: str) -> TextPair:
        """The same pair with other strings."""
        return TextPair(source, target, self.id, self.line, self.metadata)

    def __repr__(self) -> str:
        rest = f", id={self.id!r}" if self.id else ""
        rest += f", metadata={dict(self.metadata)!r}" if self.metadata else ""
        return f"TextPair(source={self.source!r}, target={self.target!r}{rest})"


_BREAKS = re.compile(r"[\r\n]+")


def one_line(text: str) -> str:
    """``text`` for a format in which a line is a segment: line breaks become a space; NUL is an error."""
    if "\0" in text:
        raise TreeglotError(
            f"a NUL character cannot be written as text (in {text[:40]!r})", remedy="remove control characters first"
        )
    if "\n" in text or "\r" in text:
        return _BREAKS.sub(" ", text)
    return text


@contextlib.contextmanager
def refuse_surrogates(path: type_path) -> Iterator[None]:
    """Writing half a surrogate pair, which no file can hold, is a `TreeglotError`."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise TreeglotError(
            f"half a surrogate pair cannot be written (in {error.object[:40]!r})",
            path=path,
            remedy="decode the text as UTF-8 without surrogateescape or surrogatepass",
        ) from None


def compared(text: str) -> str:
    """What of a text counts when two are compared: not case, spacing or which of Unicode's ways a letter is written.

    >>> compared("Cafe\u0301  NOIR") == compared("caf\u00e9 noir")
    True
    """
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold()).split())


def digest(*texts: str) -> bytes:
    """128 bits that stand for the strings: what duplicates and splits are recognised by."""
    key = "\0".join(texts) if len(texts) > 1 else texts[0]
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
