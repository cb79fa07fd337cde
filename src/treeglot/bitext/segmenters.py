"""Word segmenters for languages that are written without blanks between words.

| name | language | package | what it does |
| --- | --- | --- | --- |
| ``jieba`` | Chinese | ``treeglot[chinese]`` | jieba's own dictionary; words that are not in it by its hidden Markov model |
| ``fugashi`` | Japanese | ``treeglot[fugashi]`` | MeCab with the dictionary unidic-lite: short units |
| ``sudachi`` | Japanese | ``treeglot[japanese]`` | the words of the parser GiNZA: Sudachi's longest units |
| ``pythainlp`` | Thai | ``treeglot[thai]`` | the longest words of its dictionary (newmm) |

A package is imported when the first text is cut, not before. The same text gives the same words everywhere: each dictionary
is the one of its package, neither a user's nor one that another program left in a cache. Languages without a segmenter (Lao,
Khmer, Burmese, Tibetan) are cut into characters; words made elsewhere are kept by the tokenizer ``space``.

>>> default_method("zh"), default_method("ja"), default_method("km"), default_method("de")
('jieba', 'fugashi', 'char', 'moses')
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from treeglot.bitext.scripts import LANGUAGES, blankless_language
from treeglot.errors import ConfigError

Method = Literal["auto", "moses", "char", "jieba", "fugashi", "sudachi", "pythainlp"]
"""How text becomes words; ``auto`` chooses by the language."""

Cut = Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class Segmenter:
    """A segmenter: its language, the modules it needs, the extra that installs them, and how it is loaded."""

    name: Method
    lang: str
    modules: tuple[str, ...]
    extra: str
    load: Callable[[], Cut]

    @property
    def is_installed(self) -> bool:
        return all(importlib.util.find_spec(module) is not None for module in self.modules)

    @property
    def how(self) -> str:
        """How to get it."""
        return f"pip install 'treeglot[{self.extra}]'"


def _load_jieba() -> Cut:
    with warnings.catch_warnings():  # of old syntax and of pkg_resources, which a user can do nothing about
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.ERROR)
    tokenizer = jieba.Tokenizer()
    # Its own way of loading would take a dictionary from the folder of temporary files, whoever has put it there.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return functools.partial(tokenizer.cut, cut_all=False, HMM=True)


def _load_fugashi() -> Cut:
    import fugashi
    import unidic_lite

    folder = unidic_lite.DICDIR
    tagger = fugashi.GenericTagger(f'-r "{os.path.join(folder, "mecabrc")}" -d "{folder}" -Owakati')  # noqa: PTH118
    return lambda text: tagger.parse(text).split()


def _load_sudachi() -> Cut:
    import sudachipy

    dictionary = sudachipy.Dictionary()
    make = getattr(dictionary, "tokenizer", dictionary.create)  # its name before version 0.7
    tokenizer = make(mode=sudachipy.SplitMode.C)
    return lambda text: [morpheme.surface() for morpheme in tokenizer.tokenize(text)]


def _load_pythainlp() -> Cut:
    if "PYTHAINLP_READ_MODE" not in os.environ:  # its older name
        os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # else it makes a folder in the user's home
    from pythainlp.tokenize import word_tokenize

    return functools.partial(word_tokenize, engine="newmm-safe", keep_whitespace=False)


SEGMENTERS: dict[str, Segmenter] = {
    segmenter.name: segmenter
    for segmenter in (
        Segmenter("jieba", "zh", ("jieba",), "chinese", _load_jieba),
        Segmenter("fugashi", "ja", ("fugashi", "unidic_lite"), "fugashi", _load_fugashi),
        Segmenter("sudachi", "ja", ("sudachipy", "sudachidict_core"), "japanese", _load_sudachi),
        Segmenter("pythainlp", "th", ("pythainlp",), "thai", _load_pythainlp),
    )
}
"""The first one of a language is its default."""


def default_method(lang: str) -> Method:
    """What ``auto`` means for a language, whatever is installed."""
    language = blankless_language(lang)
    if language is None:
        return "moses"
    return next((segmenter.name for segmenter in SEGMENTERS.values() if segmenter.lang == language), "char")


def installed_method(lang: str) -> Method:
    """The default, or another segmenter of the language if that one is installed and the default is not."""
    default = default_method(lang)
    if default not in SEGMENTERS or SEGMENTERS[default].is_installed:
        return default
    language = blankless_language(lang)
    others = (
        segmenter.name for segmenter in SEGMENTERS.values() if segmenter.lang == language and segmenter.is_installed
    )
    return next(others, default)


def check_method(method: str, lang: str) -> None:
    """Refuse a segmenter of another language."""
    segmenter = SEGMENTERS.get(method)
    if segmenter is not None and segmenter.lang != blankless_language(lang):
        raise ConfigError(
            f"{method} segments {LANGUAGES[segmenter.lang]}, not {lang}",
            remedy=f"take {default_method(lang)} for {lang}; each side may have its own tokenizer",
        )


def missing_package(method: str) -> str:
    """How to install what a method needs, or nothing if it is there.

    >>> missing_package("moses")
    ''
    """
    segmenter = SEGMENTERS.get(method)
    return "" if segmenter is None or segmenter.is_installed else segmenter.how


def alternatives(method: str) -> str:
    """Other ways to words for the language of a segmenter, for messages."""
    segmenter = SEGMENTERS[method]
    others = [f'"{other.name}"' for other in SEGMENTERS.values() if other.lang == segmenter.lang and other != segmenter]
    return ", ".join([*others, '"char" (every character a word)', '"space" (words that you made elsewhere)'])


@functools.lru_cache(maxsize=8)
def load_segmenter(name: str) -> Cut:
    """A function that cuts text without blanks into words."""
    segmenter = SEGMENTERS[name]
    try:
        return segmenter.load()
    except ImportError as error:
        raise ConfigError(
            f"the segmenter {name} for {LANGUAGES[segmenter.lang]} is not installed ({error})",
            remedy=f"{segmenter.how}; or choose the tokenizer {alternatives(name)}",
        ) from None
