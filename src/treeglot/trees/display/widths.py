"""How wide text is, on a terminal and in a picture, which way it runs, and how to make any string safe to show.

No font is loaded: a picture must be the same on every machine. Widths in pictures are therefore estimates on the wide
side, from East Asian width and a small table of Latin letter classes.

>>> columns("推出"), columns("cafe\\u0301"), columns("launch")
(4, 4, 6)
>>> visible("a\\tb"), clip("Donaudampfschiff", 8)
('a␉b', 'Donauda…')
>>> is_rtl(["كتاب", "(", "2021", ")"]), is_rtl(["the", "word", "كتاب"])
(True, False)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

ELLIPSIS = "…"

# Characters that would break XML, move the cursor, or turn the direction of the text around them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]"
    "|[\U0001fffe\U0001ffff\U000e0001\U0010fffe\U0010ffff]"
)
_CLASSES = (
    ("fijlrtI.,:;'`!|()[]{}\"-/\\·’‘“”", 0.42),
    ("ABCDEFGHKLNOPQRSTUVXYZ&wÄÖÜÉÀÈÇ€$#+<>=~^_", 0.76),
    ("mMW@%—…œæ", 0.98),
    (" ", 0.35),
)
_WIDTHS = {char: width for chars, width in _CLASSES for char in chars}


def visible(text: str) -> str:
    """Any string with its control characters replaced by their pictures (``␊``) or by ``\N{REPLACEMENT CHARACTER}``."""

    def picture(match: re.Match[str]) -> str:
        code = ord(match.group())
        if code < 0x20:
            return chr(0x2400 + code)
        return "\u2421" if code == 0x7F else "\ufffd"

    return _UNSAFE.sub(picture, text)


@lru_cache(maxsize=65536)
def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def columns(text: str) -> int:
    """The number of terminal columns that ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def clip(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` columns, the cut shown by an ellipsis."""
    if columns(text) <= limit:
        return text
    used = 0
    for end, char in enumerate(text):
        used += _cells(char)
        if used > limit - 1:
            return text[:end] + ELLIPSIS
    return text


def pad(text: str, width: int) -> str:
    """``text`` followed by spaces up to ``width`` columns."""
    return text + " " * (width - columns(text))


@lru_cache(maxsize=65536)
def _ems(char: str) -> float:
    if char in _WIDTHS:
        return _WIDTHS[char]
    if _cells(char) == 0:
        return 0.0
    if _cells(char) == 2:
        return 1.04
    if char.isdigit():
        return 0.64
    if char.isascii() or unicodedata.category(char) in ("Ll", "Lo", "Mc"):
        return 0.64
    return 0.78


def pixels(text: str, size: float) -> float:
    """The estimated width of ``text`` in a sans-serif font of ``size`` pixels."""
    return round(sum(map(_ems, text)) * size, 2)


def has_rtl(text: str) -> bool:
    """Whether a letter of ``text`` is written right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def is_rtl(words: Iterable[str]) -> bool:
    """Whether more of the words that have letters are written right to left than left to right."""
    balance = 0
    for word in words:
        for char in word:
            kind = unicodedata.bidirectional(char)
            if kind in ("L", "R", "AL"):
                balance += -1 if kind == "L" else 1
                break
    return balance > 0


def guess_language(words: Iterable[str]) -> str:
    """``ja``, ``ko`` or ``zh`` for text in their scripts (it chooses the shape of Han characters), else ``""``."""
    language = ""
    for word in words:
        for char in word:
            code = ord(char)
            if 0x3041 <= code <= 0x30FF:
                return "ja"
            if 0xAC00 <= code <= 0xD7A3:
                return "ko"
            if 0x3400 <= code <= 0x9FFF or 0x20000 <= code <= 0x3134F:
                language = "zh"
    return language
