"""A bilingual dictionary as evidence of word links (an addition to the papers).

Small treebanks have many words that stand in them once; a word aligner cannot know those. A dictionary does, but it has the
basic forms, and text has inflected and compounded ones. Words are compared without case and accents; a word also matches

- a headword with the same beginning whose end differs by some letters (``Häuser`` and ``Haus``, ``produce`` and ``producir``);
- a headword that is its beginning or its end, as in compounds (``Kartoffelanbau`` and ``Anbau``);
- a headword of several words, of which it is one (``Kaufvertrag`` and ``contrato de compraventa``).

Each of these makes the match weaker. `Dictionary.matrix` gives the best match of every word pair of a sentence pair,
`Dictionary.lines` the word pairs of a text as more text for a word aligner, `Dictionary.pairs` those of two vocabularies.

>>> dictionary = Dictionary([("Haus", "casa"), ("Anbau", "cultivo"), ("Kaufvertrag", "contrato de compraventa")])
>>> dictionary.matrix(["Häuser", "Kartoffelanbau"], ["las", "casas", "cultivos"]).round(2).tolist()
[[0.0, 0.64, 0.0], [0.0, 0.0, 0.4]]
>>> dictionary.lines(["die häuser"], ["las casas"])
(['häuser'], ['casas'])
>>> dictionary.pairs(["anbau", "die"], ["cultivo", "las"])
[('anbau', 'cultivo', 1.0)]
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.errors import InputError
from treeglot.files import read_lines, type_path
from treeglot.words import split_words

INFLECTED, COMPOUND, PART = 0.8, 0.5, 0.5
"""How much a match is worth: with another ending; as a part of a compound; as a word of a phrase."""
BEGINNING = 4
"""The letters that an inflected form has in common with its headword at least."""
ENDING = 3
"""The letters at the end that it may have besides, or instead."""
COMPOUNDED = 5
"""The letters of a part of a compound at least."""
TEXT = 0.6
"""The least match that `Dictionary.lines` gives."""


class Dictionary:
    """Pairs of headwords, which may be phrases."""

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        self.entries = sorted(set(entries))
        self._sides = (_Headwords(), _Headwords())
        self._translations: dict[int, dict[int, float]] = defaultdict(dict)
        for pair in self.entries:
            phrases = [split_words(_plain(text)) for text in pair]
            weight = 1.0 if all(len(words) == 1 for words in phrases) else PART
            ids = [
                [side.add(word) for word in words if len(words) == 1 or len(word) >= BEGINNING]
                for side, words in zip(self._sides, phrases, strict=True)
            ]
            for s in ids[0]:
                known = self._translations[s]
                for t in ids[1]:
                    known[t] = max(known.get(t, 0.0), weight)
        self._sources: dict[str, dict[int, float]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def read(cls, path: type_path) -> Dictionary:
        """From lines with a source headword, a tabulator and a target headword; more columns are not looked at."""
        entries = []
        for number, line in read_lines(path):
            if not line.strip() or line.startswith("#"):
                continue
            columns = line.split("\t")
            if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
                raise InputError(
                    "a line without two headwords",
                    path=path,
                    line=number,
                    remedy="write source, tabulator, target on each line",
                )
            entries.append((columns[0].strip(), columns[1].strip()))
        if not entries:
            raise InputError(
                "an empty dictionary", path=path, line=1, remedy="write source, tabulator, target on each line"
            )
        return cls(entries)

    def _targets(self, word: str) -> dict[int, float]:
        """The target headwords of a source word."""
        if word not in self._sources:
            targets: dict[int, float] = {}
            for headword, match in self._sides[0].matches(word).items():
                for target, weight in self._translations.get(headword, {}).items():
                    targets[target] = max(targets.get(target, 0.0), match * weight)
            self._sources[word] = targets
        return self._sources[word]

    def matrix(self, source: Sequence[str], target: Sequence[str]) -> NDArray[np.float64]:
        """The best match of each word pair, from 0 (none) to 1 (both words are headwords of one entry)."""
        result = np.zeros((len(source), len(target)))
        columns: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for v, form in enumerate(target):
            for headword, match in self._sides[1].matches(_plain(form)).items():
                columns[headword].append((v, match))
        for u, form in enumerate(source):
            row = result[u]
            for headword, match in self._targets(_plain(form)).items():
                for v, other in columns.get(headword, ()):
                    row[v] = max(row[v], match * other)
        return result

    def pairs(self, source: Iterable[str], target: Iterable[str], least: float = 0.0) -> list[tuple[str, str, float]]:
        """The pairs of words of two vocabularies that match, sorted, with their matches; none below ``least``."""
        columns: dict[int, list[tuple[str, float]]] = defaultdict(list)
        for form in sorted(set(target)):
            for headword, match in self._sides[1].matches(_plain(form)).items():
                columns[headword].append((form, match))
        result: list[tuple[str, str, float]] = []
        for word in sorted(set(source)):
            row: dict[str, float] = {}
            for headword, match in self._targets(_plain(word)).items():
                for form, other in columns.get(headword, ()):
                    row[form] = max(row.get(form, 0.0), match * other)
            result.extend((word, form, value) for form, value in sorted(row.items()) if value >= least)
        return result

    def lines(self, source: Iterable[str], target: Iterable[str]) -> tuple[list[str], list[str]]:
        """The word pairs of tokenised sentence pairs that match well (`TEXT`), each once."""
        pairs: dict[tuple[str, str], None] = {}
        for source_line, target_line in zip(source, target, strict=True):
            left, right = split_words(source_line), split_words(target_line)
            for u, v in zip(*np.nonzero(self.matrix(left, right) >= TEXT), strict=True):
                pairs[left[int(u)], right[int(v)]] = None
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save."""
        text = "\n".join(f"{source}\t{target}" for source, target in self.entries)
        return {"entries": np.frombuffer(text.encode(), dtype=np.uint8)}

    @classmethod
    def of_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Dictionary:
        """The inverse of `state`."""
        text = arrays["entries"].tobytes().decode()
        pairs = [line.split("\t") for line in text.split("\n")] if text else []
        return cls((pair[0], pair[1]) for pair in pairs)


def _plain(text: str) -> str:
    """Without case, accents and hyphens at the ends."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).strip("-\u2010")


class _Headwords:
    """The headwords of one language, by number, and the words of text that match them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._beginnings: dict[str, list[int]] = defaultdict(list)
        self._known: dict[str, dict[int, float]] = {}

    def add(self, word: str) -> int:
        if word not in self._numbers:
            self._numbers[word] = len(self._words)
            self._words.append(word)
            self._beginnings[word[:BEGINNING]].append(self._numbers[word])
        return self._numbers[word]

    def matches(self, word: str) -> dict[int, float]:
        """The headwords that a word may stand for."""
        if word not in self._known:
            weights = self._forms(word)
            for cut in range(COMPOUNDED, len(word) - 2):  # the beginning of a compound
                number = self._numbers.get(word[:cut])
                if number is not None:
                    weights.setdefault(number, COMPOUND)
            for cut in range(3, len(word) - COMPOUNDED + 1):  # its end, which is inflected
                for number, match in self._forms(word[cut:]).items():
                    if len(self._words[number]) >= COMPOUNDED:
                        weights.setdefault(number, COMPOUND * match)
            self._known[word] = weights
        return self._known[word]

    def _forms(self, word: str) -> dict[int, float]:
        """Equal or inflected."""
        weights: dict[int, float] = {}
        for number in self._beginnings.get(word[:BEGINNING], ()) if len(word) >= BEGINNING else ():
            other = self._words[number]
            same = BEGINNING
            shorter = min(len(word), len(other))
            while same < shorter and word[same] == other[same]:
                same += 1
            if max(len(word), len(other)) - same <= ENDING:
                weights[number] = INFLECTED
        if word in self._numbers:
            weights[self._numbers[word]] = 1.0
        return weights
