"""Word links of a whole corpus as arrays: how aligners, tables and the core hand them to each other.

>>> links = LinkArrays(np.array([[0, 0], [1, 2], [0, 1]], np.int32), np.array([0, 2, 3], np.int64))
>>> len(links), links.links[links.starts[0] : links.starts[1]].tolist()
(2, [[0, 0], [1, 2]])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot._core import conllu as conllu_core
from treeglot._core import parsed as core
from treeglot.errors import InputError
from treeglot.files import open_binary, type_path

_CHUNK = 1 << 20


class LinkArrays(NamedTuple):
    """The word links of a corpus: ``links[starts[n]:starts[n + 1]]`` are (source, target) of the links of pair n."""

    links: NDArray[np.int32]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1


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
    links: Sequence[type_path | LinkArrays], sentences: int, put: Callable[[int, LinkArrays], object]
) -> None:
    """Call ``put(number, links)`` for each alignment of as many sentence pairs; errors name the file and the line."""
    for number, given in enumerate(links):
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
