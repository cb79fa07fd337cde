"""Where two aligners disagree: links of both, links that one of them alone has, and which of these are right.

>>> pair = Disagreement(0, ("das", "haus"), ("the", "house"), {(0, 0), (1, 1)}, {(0, 0), (1, 0)}, sure={(0, 0), (1, 1)}, possible=set())
>>> pair.who((0, 0)), pair.who((1, 1)), pair.who((1, 0)), pair.is_right((1, 0)), pair.different
('both', 'first', 'second', False, 2)
>>> summary = summarize([pair])
>>> summary.links["first"], summary.right["second"], summary.aer
(1, 0, (0.0, 0.5))
>>> print(disagreement_text(pair))
2 links of one alone, 1 of both
         1 2
  1 das  ■ ·
  2 haus b A
  1 the  2 house
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from treeglot.trees.display.pair_text import matrix
from treeglot.trees.display.text import ASCII, BOXES
from treeglot.trees.display.widths import visible

Link = tuple[int, int]
Who = Literal["both", "first", "second", "neither"]
Order = Literal["count", "share", "text"]

SHAPES: dict[tuple[Who, bool | None], str] = {
    ("both", True): "■", ("both", None): "■", ("both", False): "□", ("neither", True): "○",
    ("first", True): "A", ("first", None): "A", ("first", False): "a",
    ("second", True): "B", ("second", None): "B", ("second", False): "b",
}  # fmt: skip
"""How a link is shown: capital and filled where it is right, or where nobody knows; small and empty where it is wrong."""
_PLAIN = {"■": "#", "□": "=", "○": "o"}


@dataclass(frozen=True)
class Disagreement:
    """A sentence pair with the links of two aligners; ``sure`` and ``possible`` links by hand, if there are any (None)."""

    number: int
    source: Sequence[str]
    target: Sequence[str]
    first: Collection[Link]
    second: Collection[Link]
    sure: Collection[Link] | None = None
    possible: Collection[Link] = field(default=())

    @property
    def links(self) -> list[Link]:
        """All links of either aligner and the sure ones made by hand, sorted."""
        return sorted({*self.first, *self.second, *(self.sure or ())})

    def who(self, link: Link) -> Who:
        """Who has a link."""
        if link in self.first:
            return "both" if link in self.second else "first"
        return "second" if link in self.second else "neither"

    def is_right(self, link: Link) -> bool | None:
        """Whether a link was made by hand, be it as a possible one; None where nothing was."""
        return None if self.sure is None else link in self.sure or link in self.possible

    @property
    def different(self) -> int:
        """How many links one of the two alone has."""
        return len(set(self.first) ^ set(self.second))

    @property
    def share(self) -> float:
        """Of the links of either, the share that one alone has."""
        either = len({*self.first, *self.second})
        return self.different / either if either else 0.0


def by_disagreement(pairs: Iterable[Disagreement], order: Order = "count") -> list[Disagreement]:
    """Pairs with most disagreement first, by number of links or by their share; or as they stand in the text."""

    def key(pair: Disagreement) -> tuple[float, int]:
        return {"count": -pair.different, "share": -pair.share, "text": 0.0}[order], pair.number

    return sorted(pairs, key=key)


@dataclass(frozen=True)
class Summary:
    """Sums over sentence pairs, by `Who`: links, those that are right (in hand-made ones), and sure links. ``words`` are the word pairs
    that one aligner alone links, most frequent first: how often each aligner, and how often rightly. ``aer`` is the alignment error rate
    of the two, if there are links made by hand."""

    pairs: int
    same: int
    links: dict[Who, int]
    right: dict[Who, int]
    sure: dict[Who, int]
    words: list[tuple[str, str, int, int, int, int]]
    aer: tuple[float, float] | None

    @property
    def agreement(self) -> float:
        """F1 of the one against the other."""
        both, one = self.links["both"], self.links["first"] + self.links["second"]
        return 2 * both / (2 * both + one) if both + one else 1.0


def summarize(pairs: Sequence[Disagreement]) -> Summary:
    """What `Summary` says of these pairs."""
    links, right, sure = (Counter[Who]() for _ in range(3))
    words: dict[tuple[str, str], list[int]] = {}
    has_gold = any(pair.sure is not None for pair in pairs)
    for pair in pairs:
        for link in pair.links:
            who = pair.who(link)
            links[who] += 1
            right[who] += bool(pair.is_right(link))
            sure[who] += link in (pair.sure or ())
            if who in ("first", "second"):
                counts = words.setdefault((pair.source[link[0]], pair.target[link[1]]), [0, 0, 0, 0])
                counts[who == "second"] += 1
                counts[2 + (who == "second")] += bool(pair.is_right(link))
    table = {
        kind: dict.fromkeys(get_args(Who), 0) | dict(counter)
        for kind, counter in (("l", links), ("r", right), ("s", sure))
    }
    all_sure = sum(sure.values())

    def error(one: Who) -> float:
        mine = links["both"] + links[one]
        good = right["both"] + right[one] + sure["both"] + sure[one]
        return 1 - good / (mine + all_sure) if mine + all_sure else 0.0

    ranked = sorted(words.items(), key=lambda item: (-item[1][0] - item[1][1], item[0]))
    return Summary(
        pairs=len(pairs),
        same=sum(pair.different == 0 for pair in pairs),
        links=table["l"],
        right=table["r"],
        sure=table["s"],
        words=[(source, target, *counts) for (source, target), counts in ranked],  # type: ignore[misc]
        aer=(error("first"), error("second")) if has_gold else None,
    )


def disagreement_text(pair: Disagreement, *, color: bool = False, ascii: bool = False, width: int | None = None) -> str:
    """A pair as a matrix of its links; those that are disputed as a list where it is too wide."""
    marks = ASCII if ascii else BOXES
    cells = {link: SHAPES[pair.who(link), pair.is_right(link)] for link in pair.links}
    if ascii:
        cells = {link: _PLAIN.get(shape, shape) for link, shape in cells.items()}
    both = sum(pair.who(link) == "both" for link in pair.links)
    lines = [f"{pair.different} links of one alone, {both} of both"]
    drawn = matrix(pair.source, pair.target, cells, marks, color, width)
    if not drawn:
        lines += [visible(" ".join(pair.source)), visible(" ".join(pair.target))]
        lines += [
            f"  {shape} {visible(pair.source[s])} {s + 1} {marks.line * 2} {visible(pair.target[t])} {t + 1}"
            for (s, t), shape in cells.items()
            if pair.who((s, t)) != "both" or shape == SHAPES["both", False]
        ]
    return "\n".join([*lines, *drawn])
