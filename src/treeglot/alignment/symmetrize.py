"""Symmetrisation: one word alignment from two directional ones, link for link as Moses' symal makes it (spec: phrases and
subtrees, section 1).

A forward alignment gives each target word at most one source word, a reverse one each source word at most one target word;
all links are written source-target and count from 0.

>>> symmetrize([(0, 0), (1, 1), (1, 2)], [(0, 0), (1, 1), (2, 1)], "grow-diag-final-and")
((0, 0), (1, 1), (1, 2), (2, 1))
>>> symmetrize_lines(["0-0 1-1"], ["0-0 1-0"], "intersection")
['0-0']
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from treeglot._core import align as core
from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary
from treeglot.words import split_words

Heuristic = Literal[
    "intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and", "forward", "reverse"
]
HEURISTICS: tuple[Heuristic, ...] = get_args(Heuristic)
"""In the order in which the core numbers them."""

DEFAULT: Heuristic = "grow-diag-final-and"

SYMAL_NAMES: dict[str, Heuristic] = {"intersect": "intersection", "srctotgt": "forward", "tgttosrc": "reverse"}
"""What Moses' symal calls differently; understood everywhere."""

Links = tuple[tuple[int, int], ...]


def heuristic_number(name: str) -> int:
    """The core's number of a heuristic; symal's own names are understood too."""
    try:
        return HEURISTICS.index(SYMAL_NAMES.get(name, name))
    except ValueError:
        raise TreeglotError(f"no heuristic {name!r}", remedy=f"choose one of {', '.join(HEURISTICS)}") from None


def symal_name(heuristic: str) -> str:
    """A heuristic's name in Moses."""
    return next((symal for symal, name in SYMAL_NAMES.items() if name == heuristic), heuristic)


def parse_links(line: str) -> Links:
    """The links of a Pharaoh line that is known to be good."""
    pairs = (link.split("-") for link in split_words(line))
    return tuple((int(source), int(target)) for source, target in pairs)


def format_links(links: Iterable[tuple[int, int]]) -> str:
    """A Pharaoh line; the links are sorted."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def symmetrize(
    forward: Iterable[tuple[int, int]], reverse: Iterable[tuple[int, int]], heuristic: str = DEFAULT
) -> Links:
    """The links of one sentence pair."""
    return parse_links(symmetrize_lines([format_links(forward)], [format_links(reverse)], heuristic)[0])


def symmetrize_lines(forward: Sequence[str], reverse: Sequence[str], heuristic: str = DEFAULT) -> list[str]:
    """Many pairs at once, as Pharaoh lines."""
    first, second = ("".join(line + "\n" for line in lines).encode() for lines in (forward, reverse))
    return symmetrize_text(first, second, heuristic).decode().split("\n")[:-1]


def symmetrize_text(
    forward: bytes, reverse: bytes, heuristic: str = DEFAULT, *, paths: tuple[str, str] = ("forward", "reverse")
) -> bytes:
    """Many pairs at once, as the content of Pharaoh files; ``paths`` are their names in messages."""
    number = heuristic_number(heuristic)
    counts = [_count_lines(text) for text in (forward, reverse)]
    if counts[0] != counts[1]:
        fewer = int(counts[1] < counts[0])
        raise InputError(
            f"{counts[fewer]:,} lines, but {paths[1 - fewer]} has {counts[1 - fewer]:,}",
            path=paths[fewer],
            line=counts[fewer],
            remedy="give the two directions of the same sentence pairs",
        )
    try:
        return core.symmetrize(forward, reverse, number)
    except ValueError as error:
        line, message, which = error.args
        remedy = "write links as source-target, counted from 0: 0-0 1-2"
        raise InputError(message, path=paths[which], line=line, remedy=remedy) from None


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and text != b"")


def symmetrize_files(
    forward: str | os.PathLike[str], reverse: str | os.PathLike[str], heuristic: str = DEFAULT
) -> bytes:
    """Two Pharaoh files (plain, .gz, .zst) to the content of one."""
    with open_binary(forward) as first, open_binary(reverse) as second:
        texts = first.read(), second.read()
    return symmetrize_text(*texts, heuristic, paths=(os.fspath(forward), os.fspath(reverse)))
