"""Features of word pairs for `treeglot.alignment.subtrees.wordlinker`, and the counts of links that they use.

>>> alike, same_start = likeness(["Kooperation", "Haus"], ["cooperación", "casa"])
>>> alike.round(2).tolist()
[[0.83, 0.12], [0.0, 0.0]]
"""

from __future__ import annotations

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.extra_features import is_punctuation
from treeglot.alignment.subtrees.features import Floats, WordEvidence
from treeglot.alignment.subtrees.nodes import Bools
from treeglot.trees.heads import lexical_heads
from treeglot.trees.sentence import AlignedPair, ParsedSentence

PAIR_FEATURES = (
    "chance",  # what the aligner says, and how far ahead of others in the row and the column that is
    "chance_row",
    "chance_column",
    "table",  # √(P(u|v)·P(v|u))
    "table_row",
    "table_column",
    "link",
    "alike",  # how alike they are written
    "alike_row",
    "alike_column",
    "same_start",
    "distance",  # from the diagonal
    "before",  # the chances of the neighbours
    "after",
    "swapped_before",
    "swapped_after",
    "around",
    "heads",  # the chance of the heads of the phrases that the words are in
    "source_is_head",
    "target_is_head",
    "phrases",  # how much the phrases that the words are in agree
    "source_length",
    "target_length",
    "source_mark",
    "target_mark",
    "capitals",
    "tags",  # log odds of a link of such tags
    "lexicon_forward",  # how often these words were linked
    "lexicon_backward",
    "lexicon_row",
    "lexicon_column",
    "source_linked",  # how often each was linked with anything
    "target_linked",
    "source_known",
    "target_known",
    "dictionary",  # how well an entry of a dictionary matches; 0 without one
    "dictionary_row",
    "dictionary_column",
)
_PLACE = {name: k for k, name in enumerate(PAIR_FEATURES)}


@dataclass(frozen=True)
class LinkStatistics:
    """Counts of lower-case words and tags in linked text; (source, target) keys for pairs, (side, word) for single ones."""

    links: Counter[tuple[str, str]] = field(default_factory=Counter)
    tag_links: Counter[tuple[str, str]] = field(default_factory=Counter)
    tag_pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: Counter[tuple[int, str]] = field(default_factory=Counter)
    linked: Counter[tuple[int, str]] = field(default_factory=Counter)
    tags: Counter[tuple[int, str]] = field(default_factory=Counter)
    tags_linked: Counter[tuple[int, str]] = field(default_factory=Counter)

    @classmethod
    def count(cls, pairs: Iterable[AlignedPair]) -> LinkStatistics:
        """Of the words of pairs and their links."""
        new = cls()
        for pair in pairs:
            forms = [[form.lower() for form in side.tokens.forms] for side in (pair.source, pair.target)]
            tags = [side.tokens.tags for side in (pair.source, pair.target)]
            ends = [{link.source for link in pair.word_links}, {link.target for link in pair.word_links}]
            for side in (0, 1):
                new.words.update((side, form) for form in forms[side])
                new.tags.update((side, tag) for tag in tags[side])
                new.linked.update((side, forms[side][k]) for k in ends[side])
                new.tags_linked.update((side, tags[side][k]) for k in ends[side])
            new.links.update((forms[0][link.source], forms[1][link.target]) for link in pair.word_links)
            new.tag_links.update((tags[0][link.source], tags[1][link.target]) for link in pair.word_links)
            first, second = Counter(tags[0]), Counter(tags[1])
            for a, many in first.items():
                for b, more in second.items():
                    new.tag_pairs[a, b] += many * more
        return new

    @classmethod
    def sum(cls, parts: Iterable[LinkStatistics]) -> LinkStatistics:
        new = cls()
        for part in parts:
            for name in cls.__dataclass_fields__:
                getattr(new, name).update(getattr(part, name))
        return new

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save: of each counter its keys, one on each line with its two parts, and its counts."""
        arrays: dict[str, NDArray[Any]] = {}
        for name in self.__dataclass_fields__:
            counter = getattr(self, name)
            keys = sorted(counter, key=str)
            text = "\n".join(f"{_escape(str(a))}\t{_escape(b)}" for a, b in keys)
            arrays[f"{name}/keys"] = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
            arrays[f"{name}/counts"] = np.array([counter[key] for key in keys], dtype=np.int64)
        return arrays

    @classmethod
    def of_state(cls, arrays: Mapping[str, NDArray[Any]]) -> LinkStatistics:
        """The inverse of `state`."""
        new = cls()
        for name in cls.__dataclass_fields__:
            counts = arrays[f"{name}/counts"].tolist()
            text = arrays[f"{name}/keys"].tobytes().decode("utf-8", "surrogatepass")
            counter = getattr(new, name)
            for line, count in zip(text.split("\n") if counts else [], counts, strict=True):
                first, second = map(_unescape, line.split("\t"))
                counter[(int(first) if name in ("words", "linked", "tags", "tags_linked") else first), second] = count
        return new


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def _unescape(text: str) -> str:
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in parts)


def pair_features(pair: AlignedPair, evidence: WordEvidence, statistics: LinkStatistics) -> NDArray[np.float32]:
    """Source words × target words × `PAIR_FEATURES`."""
    rows, columns = evidence.shape
    result = np.zeros((rows, columns, len(PAIR_FEATURES)), dtype=np.float32)
    if not rows or not columns:
        return result

    def put(name: str, values: Any) -> None:
        result[..., _PLACE[name]] = values

    def put_compared(name: str, values: Floats) -> None:
        put(f"{name}_row", values - _best_other(values))
        put(f"{name}_column", values - _best_other(values.T).T)

    chances = evidence.chances
    alike, same_start = likeness(pair.source.tokens.forms, pair.target.tokens.forms)
    for name, values in (
        ("chance", chances),
        ("table", np.sqrt(evidence.target_given_source * evidence.source_given_target)),
        ("alike", alike),
    ):
        put(name, values)
        put_compared(name, values)
    if evidence.dictionary is not None:
        put("dictionary", evidence.dictionary)
        put_compared("dictionary", evidence.dictionary)
    put("link", evidence.links)
    put("same_start", same_start)
    put("distance", np.abs(np.arange(rows)[:, None] / rows - np.arange(columns)[None, :] / columns))
    padded = np.pad(chances, 2)
    for name, down, right in (("before", 1, 1), ("after", 3, 3), ("swapped_before", 1, 3), ("swapped_after", 3, 1)):
        put(name, padded[down : down + rows, right : right + columns])
    sums = np.pad(padded.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    window = sums[5:, 5:] - sums[:-5, 5:] - sums[5:, :-5] + sums[:-5, :-5]
    put("around", np.log1p(np.maximum(window - chances, 0.0)))
    sides = [_Side(pair.source), _Side(pair.target)]
    put("heads", chances[np.ix_(sides[0].heads, sides[1].heads)])
    put("phrases", _agreement(sides, chances))
    put("capitals", sides[0].capital[:, None] & sides[1].capital[None, :])
    _put_counts(pair, statistics, put, put_compared)
    for name, side, shape in (("source", sides[0], (rows, 1)), ("target", sides[1], (1, columns))):
        put(f"{name}_is_head", (side.heads == np.arange(len(side.heads))).reshape(shape))
        put(f"{name}_length", side.lengths.reshape(shape))
        put(f"{name}_mark", side.marks.reshape(shape))
    return result


def candidates(features: NDArray[np.float32]) -> Bools:
    """The word pairs that are worth a judgement; the others have no link."""

    def column(name: str) -> NDArray[np.float32]:
        return features[..., _PLACE[name]]

    kept: Bools = (column("chance") > 0.01) | (column("table") > 0.02) | (column("alike") > 0.5)
    kept |= (column("lexicon_forward") > 0) | (column("dictionary") > 0)
    kept |= (column("tags") > -3.5) & (column("distance") < 0.4)
    return kept


def _put_counts(pair: AlignedPair, counts: LinkStatistics, put: Any, put_compared: Any) -> None:
    forms = [[form.lower() for form in side.tokens.forms] for side in (pair.source, pair.target)]
    tags = [side.tokens.tags for side in (pair.source, pair.target)]
    odds = {
        (a, b): math.log((counts.tag_links[a, b] + 0.5) / (counts.tag_pairs[a, b] + 50))
        for a in set(tags[0])
        for b in set(tags[1])
    }
    put("tags", [[odds[a, b] for b in tags[1]] for a in tags[0]])
    links = counts.links
    linked = np.array([[links.get((a, b), 0) for b in forms[1]] for a in forms[0]], dtype=np.float64)
    seen = [np.array([counts.words[side, form] for form in forms[side]], dtype=np.float64) for side in (0, 1)]
    forward, backward = linked / (seen[0][:, None] + 0.5), linked / (seen[1][None, :] + 0.5)
    put("lexicon_forward", forward)
    put("lexicon_backward", backward)
    put_compared("lexicon", np.sqrt(forward * backward))
    for side, name, shape in ((0, "source", (-1, 1)), (1, "target", (1, -1))):
        often = np.array([counts.linked[side, form] for form in forms[side]], dtype=np.float64)
        tagged = [(counts.tags_linked[side, tag] + 1) / (counts.tags[side, tag] + 2) for tag in tags[side]]
        put(f"{name}_linked", ((often + 2 * np.array(tagged)) / (seen[side] + 2)).reshape(shape))
        put(f"{name}_known", np.log1p(seen[side]).reshape(shape))


class _Side:
    """What the features need of one sentence."""

    def __init__(self, sentence: ParsedSentence) -> None:
        tree = sentence.constituency
        forms = sentence.tokens.forms
        words = np.arange(len(forms))
        self.marks: Bools = np.array([is_punctuation(form) for form in forms], dtype=bool)
        self.lengths: Floats = np.log([max(len(form), 1) for form in forms])
        self.capital: Bools = np.array([form[:1].isupper() for form in forms], dtype=bool)
        if tree is None or not len(tree):
            self.heads, self.phrase, self.yields = words, words, np.eye(len(forms))
            return
        self.phrase = np.array(tree.word_parents)
        self.heads = np.array(lexical_heads(tree, style="content"))[self.phrase]
        self.yields = np.zeros((len(tree), len(forms)))
        for n, below in enumerate(tree.yields):
            self.yields[n, list(below)] = 1


def _agreement(sides: Sequence[_Side], chances: Floats) -> Floats:
    """The harmonic mean of the shares of each phrase's chances that fall into the other's, at the words' own phrases."""
    kept = chances * ~sides[0].marks[:, None] * ~sides[1].marks[None, :]
    used = [np.unique(side.phrase, return_inverse=True) for side in sides]
    inside, within = (side.yields[numbers] for side, (numbers, _) in zip(sides, used, strict=True))
    common = inside @ kept @ within.T
    first = (common + 0.01) / ((inside @ kept.sum(axis=1))[:, None] + 0.02)
    second = (common + 0.01) / ((within @ kept.sum(axis=0))[None, :] + 0.02)
    result: Floats = (2 * first * second / (first + second))[np.ix_(used[0][1], used[1][1])]
    return result


def _best_other(values: Floats) -> Floats:
    if values.shape[1] == 1:
        return np.zeros_like(values)
    order = np.sort(values, axis=1)
    best: Floats = np.where(values == order[:, -1:], order[:, -2:-1], order[:, -1:])
    return best


_BUCKETS = 1024
_LETTERS = 12
_SAME = str.maketrans({"k": "c", "q": "c", "z": "s", "y": "i", "j": "i", "w": "v", "h": None})


@lru_cache(maxsize=1 << 17)
def _skeleton(form: str) -> str:
    """A word without case, accents and differences of spelling that are common between European languages."""
    plain = unicodedata.normalize("NFKD", form.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter)).replace("ph", "f")
    return plain.translate(_SAME) or plain or form


@lru_cache(maxsize=1 << 17)
def _word(form: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The hashed pairs of letters of a word, and its first letters."""
    text = _skeleton(form)
    framed = f"^{text}$"
    grams = {zlib.crc32(framed[k : k + 2].encode("utf-8", "surrogatepass")) % _BUCKETS for k in range(len(framed) - 1)}
    letters = [ord(letter) for letter in text[:_LETTERS]]
    return tuple(sorted(grams)), tuple(letters + [0] * (_LETTERS - len(letters)))


def likeness(source: Sequence[str], target: Sequence[str]) -> tuple[Floats, Floats]:
    """How alike words are written: Dice's coefficient of their pairs of letters, and the share of the same beginning."""
    grams, starts = [], []
    for forms in (source, target):
        matrix = np.zeros((len(forms), _BUCKETS), dtype=np.float32)
        for k, form in enumerate(forms):
            matrix[k, list(_word(form)[0])] = 1
        grams.append(matrix)
        starts.append(np.array([_word(form)[1] for form in forms], dtype=np.int32))
    dice = 2 * (grams[0] @ grams[1].T) / (grams[0].sum(axis=1)[:, None] + grams[1].sum(axis=1)[None, :])
    same = (starts[0][:, None] == starts[1][None, :]) & (starts[0][:, None] > 0)
    common = np.cumprod(same, axis=2).sum(axis=2)
    shorter = np.minimum((starts[0] > 0).sum(axis=1)[:, None], (starts[1] > 0).sum(axis=1)[None, :])
    return dice.astype(np.float64), common / np.maximum(shorter, 1)
