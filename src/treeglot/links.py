"""Word links of a whole corpus as arrays: how aligners, tables and the core hand them to each other.

>>> links = LinkArrays(np.array([[0, 0], [1, 2], [0, 1]], np.int32), np.array([0, 2, 3], np.int64))
>>> len(links), links.links[links.starts[0] : links.starts[1]].tolist()
(2, [[0, 0], [1, 2]])

With several alignments of one text every pair is there once for each; what is learnt under an alignment counts its weight. Alignments that
weigh 1 together give expected counts.

>>> Weighted.of("few.align:0.25"), shares(3)
(Weighted(links='few.align', weight=0.25), (0.34, 0.33, 0.33))
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot._core import conllu as conllu_core
from treeglot._core import parsed as core
from treeglot.errors import ConfigError, InputError
from treeglot.files import open_binary, type_path

_CHUNK = 1 << 20


class LinkArrays(NamedTuple):
    """The word links of a corpus: ``links[starts[n]:starts[n + 1]]`` are (source, target) of the links of pair n."""

    links: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1


class Weighted(NamedTuple):
    """An alignment (a Pharaoh file, or arrays) and how much it counts: hundredths from 0.01 to 100."""

    links: type_path | LinkArrays
    weight: float = 1.0

    @staticmethod
    def of(text: str) -> Weighted:
        """From ``FILE`` or ``FILE:WEIGHT``."""
        name, colon, number = text.rpartition(":")
        if not colon or not name or not re.fullmatch(r"-?[0-9]*\.?[0-9]+", number):
            return Weighted(text)
        return Weighted(name, parse_weight(number, text))


GivenLinks = type_path | LinkArrays | Weighted
"""An alignment of a text; it counts 1 unless it has another weight."""


def parse_weight(number: str, whole: str = "") -> float:
    """A weight of an alignment; ``whole`` is what it was written in."""
    try:
        weight = float(number)
    except ValueError:
        weight = 0.0
    if not 0.01 <= weight <= 100 or round(weight, 2) != weight:
        raise ConfigError(f"{whole or number}: no weight of an alignment", remedy="give hundredths from 0.01 to 100")
    return weight


def shares(count: int) -> tuple[float, ...]:
    """Weights of ``count`` alignments that count alike, and 1 together.

    >>> shares(4)
    (0.25, 0.25, 0.25, 0.25)
    """
    if not 1 <= count <= 100:
        raise ConfigError(f"{count} alignments at once", remedy="give at most 100")
    return tuple((100 // count + (n < 100 % count)) / 100 for n in range(count))


def read_links(path: type_path) -> LinkArrays:
    """The links of a Pharaoh file as arrays."""
    reader = core.LinkReader()
    try:
        with open_binary(path) as stream:
            while data := stream.read(_CHUNK):
                reader.feed(data)
        return LinkArrays(*reader.finish())
    except conllu_core.ScanError as error:
        line, column, message, remedy = error.args
        raise InputError(message, path=path, line=line, column=column or None, remedy=remedy) from None


def give_links(
    links: Sequence[GivenLinks], sentences: int, put: Callable[[int, LinkArrays], object]
) -> tuple[float, ...]:
    """Call ``put(number, links)`` for each alignment of as many sentence pairs; errors name the file and the line. What the alignments
    weigh."""
    for number, entry in enumerate(links):
        given = plain_links(entry)
        arrays = given if isinstance(given, LinkArrays) else read_links(given)
        path = None if isinstance(given, LinkArrays) else os.fspath(given)
        if len(arrays) != sentences:
            raise InputError(
                f"{len(arrays):,} lines of links for {sentences:,} sentence pairs",
                path=path,
                line=min(len(arrays), sentences) + 1,
                remedy="give the links of this text",
            )
        try:
            put(number, arrays)
        except core.LinkError as error:
            pair, message = error.args
            raise InputError(message, path=path, line=pair + 1, remedy="give the links of this text") from None
    return tuple(map(weight_of, links))


def plain_links(given: GivenLinks) -> type_path | LinkArrays:
    """An alignment without its weight."""
    return given.links if isinstance(given, Weighted) else given


def weight_of(given: GivenLinks) -> float:
    """What an alignment weighs."""
    return given.weight if isinstance(given, Weighted) else 1.0
