"""Language names: backends and users spell them in many ways, treeglot uses two-letter codes.

>>> language_code("Chinese"), language_code("zh-Hans"), language_code("fra"), language_code("tlh")
('zh', 'zh', 'fr', 'tlh')
"""

from __future__ import annotations

import re

from treeglot.errors import ConfigError

NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "eu": "Basque",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "zh": "Chinese",
}

_THREE_LETTERS = {
    "ara": "ar", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "eng": "en", "spa": "es", "eus": "eu",
    "fin": "fi", "fra": "fr", "fre": "fr", "heb": "he", "hun": "hu", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko",
    "nld": "nl", "dut": "nl", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "swe": "sv", "tur": "tr", "vie": "vi",
    "zho": "zh", "chi": "zh", "cmn": "zh",
}  # fmt: skip

_CODE = re.compile(r"[a-z]{2,8}([-_][a-z0-9]{1,8})*")


def language_code(name: str) -> str:
    """The two-letter code where there is one; another well-formed tag stays as it is, in lower case."""
    lower = name.strip().lower()
    for code, english in NAMES.items():
        if lower == english.lower():
            return code
    if not _CODE.fullmatch(lower):
        raise ConfigError(f"{name!r} is not a language", remedy="give a code such as zh, en, fr, de")
    first = re.split("[-_]", lower)[0]
    if first in NAMES:
        return first
    return _THREE_LETTERS.get(first, lower)


def main_language(name: str) -> str:
    """The code without region and script: what tokenisers and stemmers go by.

    >>> [main_language(name) for name in ("en-GB", "EN", "english", "fr_CA", "nb-NO")]
    ['en', 'en', 'en', 'fr', 'nb']
    """
    return re.split("[-_]", language_code(name))[0]


def language_name(code: str) -> str:
    """The English name, or the code itself."""
    return NAMES.get(code, code)
