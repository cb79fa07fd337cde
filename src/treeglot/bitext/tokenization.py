"""Words of text that no parser tokenises: by the rules of Moses (sacremoses), or by a segmenter where there are no blanks.

Tokens are plain text, without Moses' entities. Languages without blanks between words get the segmenter of
`treeglot.bitext.segmenters`. ``method="char"`` makes every character of such a script a token: that needs no package, but it is no
word segmentation.

>>> tokenize("It isn't far (see http://a.org/b).", "en", protected=WEB)
['It', 'isn', "'t", 'far', '(', 'see', 'http://a.org/b', ')', '.']
>>> detokenize(["It", "isn", "'t", "far", "."], "en")
"It isn't far."
>>> tokenize("我爱 treeglot。", "zh", method="char")
['我', '爱', 'treeglot', '。']
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, get_args

from treeglot.bitext.scripts import cut_characters, has_blankless_script, join_blankless, writes_blanks
from treeglot.bitext.segmenters import Cut, Method, check_method, default_method, load_segmenter
from treeglot.errors import ConfigError
from treeglot.languages import main_language

WEB = (r"(?:https?|ftp)://[^\s<>\"]*[^\s<>\".,;:!?)\]}']", r"[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}")
"""Patterns for ``protected``: addresses of pages and of mail."""

METHODS: tuple[Method, ...] = get_args(Method)

_CJK_CHARACTER = re.compile(
    "([\u2e80-\u2fdf\u3000-\u30ff\u3100-\u312f\u3190-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40"
    "\uff5b-\uff65\U00020000-\U000323af])"
)


class Tokenizer:
    """A tokeniser for one language; make one and use it for many texts."""

    def __init__(
        self,
        lang: str,
        *,
        protected: Sequence[str] = (),
        split_hyphens: bool = False,
        method: Method = "auto",
    ) -> None:
        """``protected``: regular expressions whose matches stay whole; ``split_hyphens``: ``a-b`` as ``a @-@ b``."""
        if method not in METHODS:
            raise ConfigError(f"no tokenizer {method!r}", remedy=f"choose from {', '.join(METHODS)}")
        self.method: Method = default_method(lang) if method == "auto" else method
        check_method(self.method, lang)
        try:
            pattern = re.compile("|".join(f"(?:{item})" for item in protected)) if protected else None
        except re.error as error:
            raise ConfigError(
                f"a protected pattern is not a regular expression: {error}", remedy="correct the pattern"
            ) from None
        if pattern is not None and pattern.match(""):
            raise ConfigError("a protected pattern matches nothing at all", remedy="write one that needs a character")
        self.lang = main_language(lang)
        self._protected = pattern
        self._split_hyphens = split_hyphens
        self._writes_blanks = writes_blanks(lang)
        self._segment: Cut | None = None
        self._moses, self._undo = _load_moses(self.lang)

    def tokenize(self, text: str) -> list[str]:
        """The tokens of ``text``."""
        if self._protected is None:
            return self._split(text)
        tokens: list[str] = []
        end = 0
        for match in self._protected.finditer(text):
            tokens += self._split(text[end : match.start()])
            # A token is one word of a line: white space inside a match would make it two.
            tokens += match[0].split()
            end = match.end()
        return tokens + self._split(text[end:])

    def _split(self, text: str) -> list[str]:
        if self.method == "moses":
            return self._by_moses(text)
        if self.method == "char":
            text = _CJK_CHARACTER.sub(r" \1 ", text)
            pieces = cut_characters(text) if not self._writes_blanks else [(text, False)]
            return [token for piece, whole in pieces for token in ([piece] if whole else self._by_moses(piece))]
        if self._segment is None:  # loaded when it is used: where a parser makes the words, it need not be installed
            self._segment = load_segmenter(self.method)
        tokens: list[str] = []
        # Blanks that are there are kept as ends of words; between them, what has no character of the language is for Moses.
        for native, chunks in groupby(text.split(), has_blankless_script):
            if native:
                tokens += (word for chunk in chunks for word in self._segment(chunk))
            else:
                tokens += self._by_moses(" ".join(chunks))
        return tokens

    def _by_moses(self, text: str) -> list[str]:
        tokens: list[str] = self._moses.tokenize(text, aggressive_dash_splits=self._split_hyphens, escape=False)
        return tokens

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Tokens as running text."""
        try:
            text: str = self._undo.detokenize(list(tokens), unescape=False)
        except TypeError:  # sacremoses 0.1 fails on Czech "-li": the rules common to all languages do not
            text = _load_moses("")[1].detokenize(list(tokens), unescape=False)
        return text if self._writes_blanks else join_blankless(text)


@functools.lru_cache(maxsize=64)
def _load_moses(lang: str) -> tuple[Any, Any]:
    import sacremoses  # takes half a second, so only when it is used

    class FastTokenizer(sacremoses.MosesTokenizer):  # type: ignore[misc]
        """The same tokeniser without building a set of all letters of Unicode for each word with a full stop."""

        def __init__(self, lang: str) -> None:
            super().__init__(lang)
            self._lower, self._alpha = frozenset(self.IsLower), frozenset(self.IsAlpha)

        def islower(self, text: str) -> bool:
            return self._lower.issuperset(text)

        def isanyalpha(self, text: str) -> bool:
            return not self._alpha.isdisjoint(text)

    return FastTokenizer(lang), sacremoses.MosesDetokenizer(lang)


@functools.lru_cache(maxsize=64)
def _cached(lang: str, protected: tuple[str, ...], split_hyphens: bool, method: Method) -> Tokenizer:
    return Tokenizer(lang, protected=protected, split_hyphens=split_hyphens, method=method)


def tokenize(
    text: str, lang: str, *, protected: Sequence[str] = (), split_hyphens: bool = False, method: Method = "auto"
) -> list[str]:
    """The tokens of one text; see `Tokenizer`."""
    return _cached(lang, tuple(protected), split_hyphens, method).tokenize(text)


def detokenize(tokens: Sequence[str], lang: str) -> str:
    """Tokens as running text."""
    return _cached(lang, (), False, "moses").detokenize(tokens)
