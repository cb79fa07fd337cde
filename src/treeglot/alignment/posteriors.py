"""Chances of links as text, and links of those above a threshold.

One line for each sentence pair; each link is ``I-J:FORWARD:REVERSE``, words counted from 0: the chance that target word J comes
from source word I, and that I comes from J, with four decimals. Links are sorted; those that are missing have small chances.

>>> parse_chances("0-0:0.9712:0.8800 1-2:0.4000:0.2000")
[LinkChance(source=0, target=0, forward=0.9712, reverse=0.88), LinkChance(source=1, target=2, forward=0.4, reverse=0.2)]
>>> links_above("0-0:0.9712:0.8800 1-2:0.4000:0.2000", 0.5)
'0-0'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.links import Weighted
from treeglot.words import split_words

_LINK = re.compile(r"([0-9]{1,5})-([0-9]{1,5}):([01]\.[0-9]+|[01]):([01]\.[0-9]+|[01])")


class LinkChance(NamedTuple):
    """A link and its chances in the two directions."""

    source: int
    target: int
    forward: float
    reverse: float

    @property
    def mean(self) -> float:
        """Of the two directions; this is what a threshold is compared with."""
        return (self.forward + self.reverse) / 2


def parse_chances(line: str) -> list[LinkChance]:
    """The links of a line."""
    result = []
    for item in split_words(line):
        match = _LINK.fullmatch(item)
        chances = (float(match[3]), float(match[4])) if match else (2.0, 2.0)
        if match is None or max(chances) > 1:
            remedy = "write links as 0-1:0.9000:0.8000: source word, target word, two chances"
            raise TreeglotError(f"{item[:40]!r} is no link with chances", remedy=remedy)
        result.append(LinkChance(int(match[1]), int(match[2]), *chances))
    return result


def links_above(line: str, threshold: float) -> str:
    """The links whose mean chance is not below the threshold, as a Pharaoh line."""
    return " ".join(f"{link.source}-{link.target}" for link in parse_chances(line) if link.mean >= threshold)


def thresholded_files(chances: type_path, thresholds: Sequence[tuple[float, float]], folder: Path) -> list[Weighted]:
    """An alignment for each (threshold, weight) of a file of chances, as files in ``folder``."""
    alignments = [Weighted(folder / f"{number}.align", weight) for number, (_, weight) in enumerate(thresholds)]
    with ExitStack() as stack:
        files = [stack.enter_context(atomic_write(Path(str(links)))) for links, _ in alignments]
        for number, line in read_lines(chances):
            try:
                links = parse_chances(line)
            except TreeglotError as error:
                raise InputError(error.message, path=chances, line=number, remedy=error.remedy) from None
            for file, (threshold, _) in zip(files, thresholds, strict=True):
                file.write(" ".join(f"{link.source}-{link.target}" for link in links if link.mean >= threshold) + "\n")
    return alignments
