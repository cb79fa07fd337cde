"""n-best lists as a decoder gives them, and as tuning keeps them: arrays of feature values and a metric's statistics.

>>> from treeglot.tuning.objective import Objective
>>> objective = Objective("bleu", ["the cat sat on the mat"])
>>> lists = [[NBestEntry("the cat sat", {"lm": -3.5}), NBestEntry("a cat sat", {"lm": -3.0})]]
>>> packed = pack(lists, ["lm"], objective)
>>> packed.statistics.tolist()  # correct 1- to 4-grams, length, reference length
[[3, 2, 1, 0, 3, 6], [2, 1, 0, 0, 3, 6]]
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write_binary, open_binary
from treeglot.tuning.objective import Objective

MAGIC = "treeglot n-best 2"


class NBestEntry(NamedTuple):
    """One translation: its tokens (a sequence, or a string with spaces between them) and its feature values.

    Values are given by name (what is missing is 0) or as a vector in the order of the initial weights.
    """

    tokens: str | Sequence[str]
    features: Mapping[str, float] | Sequence[float] | NDArray[np.float64]


NBestLists = Iterable[Sequence[NBestEntry | tuple[str | Sequence[str], Mapping[str, float] | Sequence[float]]]]
"""One list for each sentence of the dev set, in its order, the translation that the weights like best first."""


class NBestArrays(NamedTuple):
    """The same for all sentences at once, as `treeglot.search.nbest_arrays` makes it: entry after entry, sentence after sentence."""

    sentences: NDArray[np.int32]
    """The number of the sentence, from 0, of each entry."""
    texts: Sequence[str]
    values: NDArray[np.float64]
    """Entries by features, in the order of the initial weights."""


@dataclass(frozen=True)
class PackedLists:
    """The lists of one iteration, entry after entry."""

    sentences: NDArray[np.int32]
    values: NDArray[np.float64]
    statistics: NDArray[np.int32]

    def first(self) -> NDArray[np.int32]:
        """The statistics of the first entry of each sentence."""
        starts = np.flatnonzero(np.diff(self.sentences, prepend=-1))
        return np.ascontiguousarray(self.statistics[starts])

    def spreads(self) -> NDArray[np.float64]:
        """How much the entries of a sentence differ in each feature, on average: standard deviations."""
        starts = np.flatnonzero(np.diff(self.sentences, prepend=-1))
        sizes = np.diff(np.append(starts, len(self.sentences)))[:, None]
        away = self.values - np.repeat(np.add.reduceat(self.values, starts) / sizes, sizes[:, 0], axis=0)
        varying = np.abs(away) > 1e-9  # not by rounding alone
        spreads: NDArray[np.float64] = np.sqrt((np.add.reduceat(away**2 * varying, starts) / sizes).mean(axis=0))
        return spreads


def pack(
    lists: NBestLists | NBestArrays, names: Sequence[str], objective: Objective, sentences: int | None = None
) -> PackedLists:
    """Count the metric's statistics; a list that does not fit is an error that names its sentence. There must be lists for all sentences, or
    for the first ``sentences``."""
    arrays = lists if isinstance(lists, NBestArrays) else _collect(lists, names)
    _check(arrays, names, len(objective) if sentences is None else sentences)
    return PackedLists(arrays.sentences, arrays.values, objective.statistics(arrays.sentences, arrays.texts))


def _collect(lists: NBestLists, names: Sequence[str]) -> NBestArrays:
    """Lists entry by entry as arrays."""
    known = frozenset(names)
    sentences: list[int] = []
    texts: list[str] = []
    rows: list[Sequence[float] | NDArray[np.float64]] = []
    for number, entries in enumerate(lists, 1):
        if not entries:
            raise _missing(number)
        for tokens, features in entries:
            texts.append(tokens if isinstance(tokens, str) else " ".join(tokens))
            sentences.append(number - 1)
            if isinstance(features, Mapping):
                if not features.keys() <= known:
                    extra = ", ".join(sorted(features.keys() - known))
                    raise TreeglotError(
                        f"dev sentence {number} has features without a weight: {extra}",
                        remedy="give each feature an initial weight",
                    )
                rows.append([features.get(name, 0.0) for name in names])
            elif len(features) != len(names):
                raise TreeglotError(
                    f"a translation of dev sentence {number} has {len(features)} feature values, not {len(names)}",
                    remedy="give one value for each weight",
                )
            else:
                rows.append(features)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return NBestArrays(np.array(sentences, dtype=np.int32), texts, values)


def _check(arrays: NBestArrays, names: Sequence[str], references: int) -> None:
    sentences, texts, values = arrays
    if values.shape != (len(texts), len(names)) or sentences.shape != (len(texts),):
        raise TreeglotError(
            f"{len(sentences)} sentence numbers, {len(texts)} texts and feature values of the shape {values.shape}",
            remedy=f"give one of each for an entry, and {len(names)} feature values",
        )
    count = int(sentences[-1]) + 1 if len(sentences) else 0
    steps = np.diff(sentences, prepend=-1)
    if (steps < 0).any() or (len(steps) and steps[0] < 1):
        raise TreeglotError(
            "the sentences of the lists are not in order", remedy="give them in the order of the dev set"
        )
    gaps = np.flatnonzero(steps > 1)
    if gaps.size:
        raise _missing(int(sentences[gaps[0] - 1]) + 2 if gaps[0] else 1)
    if count != references:
        raise TreeglotError(
            f"the decoder gave lists for {count:,} sentences, but there are {references:,} references",
            remedy="decode the source side of the same dev set",
        )
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        feature = int(np.flatnonzero(~np.isfinite(values[wrong[0]]))[0])
        raise TreeglotError(
            f"{names[feature]} is {values[wrong[0]][feature]} in dev sentence {sentences[wrong[0]] + 1}",
            remedy="the decoder must give finite feature values",
        )


def _missing(number: int) -> TreeglotError:
    return TreeglotError(
        f"the decoder gave no translation of dev sentence {number}",
        remedy="loosen its limits or take the sentence out of the dev set",
    )


def save_lists(path: str | os.PathLike[str], lists: PackedLists) -> None:
    """Write lists under their final name at once; `load_lists` gives back the same numbers."""
    body = lists.sentences.tobytes() + lists.values.tobytes() + lists.statistics.tobytes()
    header = {
        "format": MAGIC,
        "entries": len(lists.sentences),
        "features": lists.values.shape[1],
        "columns": lists.statistics.shape[1],
        "digest": hashlib.blake2b(body, digest_size=16).hexdigest(),
    }
    with atomic_write_binary(path) as out:
        out.write(json.dumps(header).encode() + b"\n")
        out.write(body)


def load_lists(path: str | os.PathLike[str]) -> PackedLists:
    """Read what `save_lists` wrote; damage is an `InputError`."""
    with open_binary(path) as stream:
        head = stream.readline(1000)
        body = stream.read()
    try:
        header = json.loads(head)
        if header["format"] != MAGIC or header["digest"] != hashlib.blake2b(body, digest_size=16).hexdigest():
            raise ValueError
        entries, features, columns = header["entries"], header["features"], header["columns"]
    except (ValueError, KeyError, TypeError):
        raise InputError("not a file of n-best lists, or damaged", path=path, line=1, remedy="delete it") from None
    parts = np.split(np.frombuffer(body, dtype=np.uint8), np.cumsum([4 * entries, 8 * entries * features]))
    return PackedLists(
        parts[0].view(np.int32),
        parts[1].copy().view(np.float64).reshape(entries, features),
        parts[2].copy().view(np.int32).reshape(entries, columns),
    )
