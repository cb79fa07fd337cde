"""Scripts that are written without blanks between words: their characters, their languages, and is a text segmented?

>>> writes_blanks("en"), writes_blanks("zh-Hant"), writes_blanks("jpn")
(True, False, False)
>>> is_unsegmented(["我们明天去北京旅游。"]), is_unsegmented(["我们 明天 去 北京 旅游 。"]), is_unsegmented(["We go."])
(True, False, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from treeglot.languages import main_language

CJK = "\u2e80-\u2fdf\u3001-\u30ff\u3100-\u312f\u3190-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U000323af"
"""Characters of Chinese and Japanese, their punctuation and full-width forms; for use inside ``[...]``."""
SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e5b\u0e80-\u0eff\u1000-\u109f\u1780-\u17da\u17dc-\u17ff\ua9e0-\ua9fe\uaa60-\uaa7f"
)
"""Thai, Lao, Burmese and Khmer (without the signs of their currencies)."""
TIBETAN = "\u0f00-\u0fff"

_WITHOUT_BLANKS = re.compile(f"[{CJK}{SOUTH_EAST_ASIAN}{TIBETAN}]")

_CHINESE = {"zh", "zho", "chi", "cmn", "yue", "wuu", "hak", "gan", "lzh"}
_FAMILIES = {
    "zh": _CHINESE,
    "ja": {"ja", "jpn"},
    "th": {"th", "tha"},
    "lo": {"lo", "lao"},
    "km": {"km", "khm"},
    "my": {"my", "mya", "bur"},
    "bo": {"bo", "bod", "tib", "dz", "dzo"},
}
LANGUAGES = {
    "zh": "Chinese",
    "ja": "Japanese",
    "th": "Thai",
    "lo": "Lao",
    "km": "Khmer",
    "my": "Burmese",
    "bo": "Tibetan",
}
"""Languages that are written without blanks between words."""
_CODES = {code: family for family, codes in _FAMILIES.items() for code in codes}

LONGEST_WORD = 8.0
"""Mean characters between two blanks above which a text has no blanks between words: segmented Chinese has two to three
with its punctuation, Japanese two to three, Thai four to five; a clause without blanks has ten and more."""


def blankless_language(lang: str) -> str | None:
    """The key of `LANGUAGES` if words of ``lang`` are written without blanks between them.

    >>> blankless_language("cmn"), blankless_language("ZH_tw"), blankless_language("ko")
    ('zh', 'zh', None)
    """
    return _CODES.get(main_language(lang))


def writes_blanks(lang: str) -> bool:
    """Whether words of a language have blanks between them; true of languages that we do not know."""
    return blankless_language(lang) is None


def has_blankless_script(text: str) -> bool:
    """Whether there is a character of a script without blanks."""
    return not text.isascii() and _WITHOUT_BLANKS.search(text) is not None


def blankless_share(texts: Iterable[str]) -> float:
    """The share of characters, blanks left out, that belong to a script without blanks."""
    counted = within = 0
    for text in texts:
        counted += sum(map(len, text.split()))
        within += len(_WITHOUT_BLANKS.findall(text))
    return within / counted if counted else 0.0


def mean_chunk(texts: Iterable[str]) -> float:
    """Mean characters between two blanks, of what has characters of a script without blanks; 0 if nothing has."""
    chunks = [len(chunk) for text in texts for chunk in text.split() if has_blankless_script(chunk)]
    return sum(chunks) / len(chunks) if chunks else 0.0


def is_unsegmented(texts: Iterable[str]) -> bool:
    """Whether texts are in a script without blanks and have hardly any blanks between words."""
    return mean_chunk(texts) > LONGEST_WORD


def join_blankless(text: str) -> str:
    """``text`` without the blanks next to characters of scripts without blanks.

    >>> join_blankless("我 爱 New York 。"), join_blankless("ฉัน รัก แมว")
    ('我爱New York。', 'ฉันรักแมว')
    """
    return _NEEDLESS_BLANK.sub("", text)


_CLASS = _WITHOUT_BLANKS.pattern
_NEEDLESS_BLANK = re.compile(f"(?<={_CLASS}) | (?={_CLASS})")

# A letter with its marks is one character to its readers, and so are Khmer and Burmese letters that are stacked; of Tibetan,
# a syllable with the dot that ends it.
_MARKS = (
    "\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebd\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064"
    "\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd"
)
_LETTER = f"[{SOUTH_EAST_ASIAN}][{_MARKS}]*"
_CHARACTERS = re.compile(
    f"([\u0f20-\u0fbc]+[\u0f0b\u0f0c]*|[{TIBETAN}]|[\u0e40-\u0e44\u0ec0-\u0ec4]?{_LETTER}(?:(?<=[\u1039\u17d2]){_LETTER})*)"
)


def cut_characters(text: str) -> list[tuple[str, bool]]:
    """``text`` in pieces: single characters (letters with their marks, Tibetan syllables) of South-East Asian scripts and
    of Tibetan, marked by True, and what is between them.

    >>> [piece for piece, _ in cut_characters("บ้าน")], cut_characters("བོད་ཡིག a")
    (['บ้า', 'น'], [('བོད་', True), ('ཡིག', True), (' a', False)])
    """
    pieces = _CHARACTERS.split(text)
    return [(piece, n % 2 == 1) for n, piece in enumerate(pieces) if piece]
