"""The lexicon of the example: entries by class, with attributes, read from `lexicon.tsv`.

A line is ``class <tab> Chinese <tab> English <tab> attribute=value ...``. Several words are separated by spaces; a word may
carry its own tag and link mark (``王/NR#1 教授/NN#2`` next to ``Professor/NNP#2 Wang/NNP#1``). Otherwise the class gives
the tag, and equally many words are linked one by one, other numbers of words all with all. The last word is the head. A line ``@class`` sets the tags of a class
and the attributes that its entries have if they do not say otherwise.

>>> lexicon = load_lexicon()
>>> book = next(entry for entry in lexicon.select("noun", []) if entry.en[-1].form == "book")
>>> book.zh[0].form, book.attributes["m"], len(lexicon.entries) >= 400
('书', '本', True)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from treeglot.errors import InputError
from treeglot.examples.notation import Condition


class LexicalWord(NamedTuple):
    """One word of an entry; words with the same ``link`` on both sides are linked."""

    form: str
    tag: str
    link: str


@dataclass(frozen=True)
class Entry:
    """A correspondence of one or more words on both sides."""

    category: str
    zh: tuple[LexicalWord, ...]
    en: tuple[LexicalWord, ...]
    attributes: dict[str, str] = field(hash=False)

    def holds(self, condition: Condition) -> bool:
        return holds(self.attributes.get(condition.left, ""), condition.operator, condition.right)


def holds(left: str, operator: str, right: str) -> bool:
    """Whether a condition on two values is true; ``~`` is true if the two lists have an element in common."""
    if operator in ("=", "!="):
        return (left == right) == (operator == "=")
    return _items(left).isdisjoint(_items(right)) == (operator == "!~")


@cache
def _items(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


@dataclass(frozen=True)
class Lexicon:
    """All entries in the order of the file."""

    entries: tuple[Entry, ...]
    _by_class: dict[str, list[Entry]] = field(init=False, default_factory=dict, compare=False)
    _memory: dict[tuple[str, tuple[Condition, ...]], tuple[Entry, ...]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for entry in self.entries:
            self._by_class.setdefault(entry.category, []).append(entry)

    def select(self, category: str, conditions: Sequence[Condition]) -> tuple[Entry, ...]:
        """The entries of a class whose attributes meet all conditions (whose right sides are plain values)."""
        key = (category, tuple(conditions))
        if key not in self._memory:
            self._memory[key] = tuple(
                entry
                for entry in self._by_class.get(category, ())
                if all(entry.holds(condition) for condition in conditions)
            )
        return self._memory[key]


_WORD = re.compile(r"(?P<form>[^/\s]+?)(?:/(?P<tag>[A-Z]+\$?))?(?:#(?P<link>\w+))?")


def _words(text: str, tag: str, number: int) -> tuple[LexicalWord, ...]:
    words = []
    for part in text.split():
        match = _WORD.fullmatch(part)
        if match is None:
            raise InputError(f"not a word: {part!r}", line=number, remedy="write form, form/TAG or form/TAG#link")
        words.append(LexicalWord(match["form"], match["tag"] or tag, match["link"] or ""))
    return tuple(words)


def _numbered(words: tuple[LexicalWord, ...]) -> tuple[LexicalWord, ...]:
    return tuple(word._replace(link=str(number)) for number, word in enumerate(words, 1))


def parse_lexicon(text: str) -> Lexicon:
    """A lexicon from the text of its file."""
    defaults: dict[str, tuple[str, str, dict[str, str]]] = {}
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        category, zh, en, *rest = line.split("\t")
        attributes = dict(part.split("=", 1) for part in " ".join(rest).split())
        if category.startswith("@"):
            defaults[category[1:]] = (zh, en, attributes)
            continue
        if category not in defaults:
            raise InputError(f"unknown class {category!r}", line=number, remedy=f"add a line @{category} before it")
        zh_tag, en_tag, standard = defaults[category]
        sides = _words(zh, zh_tag, number), _words(en, en_tag, number)
        if len(sides[0]) == len(sides[1]) > 1 and not any(word.link for side in sides for word in side):
            sides = _numbered(sides[0]), _numbered(sides[1])
        entries.append(Entry(category, *sides, standard | attributes))
    return Lexicon(tuple(entries))


@cache
def load_lexicon() -> Lexicon:
    """The lexicon that comes with treeglot."""
    return parse_lexicon(files("treeglot.examples").joinpath("lexicon.tsv").read_text("utf-8"))
