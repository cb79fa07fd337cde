"""Phrase pairs: contiguous words on both sides that the word alignment keeps together (Koehn et al. 2003; spec: STR phrase
pairs).

A source span and a target span are a phrase pair when at least one link joins them and no link leads out of either.
Unaligned words at the edges may belong to the pair or not, so one core gives several pairs. The orientation says where the
phrases before and after stand on the source side: *monotone*, *swap* or *discontinuous*, seen from the words at the corners.

>>> pairs = extract_words("das alte haus".split(), "the old house".split(), [(0, 0), (1, 1), (2, 2)], max_length=2)
>>> for pair in pairs:
...     print(" ".join(pair.source), "|", " ".join(pair.target), "|", pair.before, pair.after)
das | the | monotone monotone
das alte | the old | monotone monotone
alte | old | monotone monotone
alte haus | old house | monotone monotone
haus | house | monotone monotone
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from treeglot._core import tables as core
from treeglot.errors import TreeError, TreeglotError
from treeglot.trees.corpus import parsed_bitext
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "phrases": {"grammars": ("phrases",)},
    "phrases-dirc": {"grammars": ("phrases",), "links": "dirc"},
    "phrases-ewos": {"grammars": ("phrases",), "links": "ewos"},
}
"""The phrase-based system: from word links alone, with node links counted beside them, or with both at once."""

GROUPS = {"tree2tree": tuple(PRESETS)}
"""Systems that are compared with others under one name (`treeglot compare`)."""

MAX_LENGTH = 7
"""The longest phrase on either side unless another limit is given."""

Orientation = Literal["monotone", "swap", "discontinuous"]

_ORIENTATIONS: tuple[Orientation, ...] = ("monotone", "swap", "discontinuous")


class PhrasePair(NamedTuple):
    """One occurrence of a phrase pair. Spans are half-open, ``links`` count from the first words of the phrases."""

    source_span: tuple[int, int]
    target_span: tuple[int, int]
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    before: Orientation
    after: Orientation


def extract(pair: AlignedPair, *, max_length: int = MAX_LENGTH) -> list[PhrasePair]:
    """All phrase pairs of an aligned pair of sentences, by source span and target span; links of every kind count."""
    links = [(link.source, link.target) for link in pair.word_links]
    return extract_words(pair.source.tokens.forms, pair.target.tokens.forms, links, max_length=max_length)


def extract_words(
    source: Sequence[str], target: Sequence[str], links: Iterable[tuple[int, int]], *, max_length: int = MAX_LENGTH
) -> list[PhrasePair]:
    """`extract` for words and their links (source number, target number)."""
    check_max_length(max_length)
    words = sorted(set(links))
    try:
        spans = core.extract(len(source), len(target), words, max_length)
    except IndexError:
        outside = next(link for link in words if not (0 <= link[0] < len(source) and 0 <= link[1] < len(target)))
        raise TreeError(
            f"link {outside[0]}-{outside[1]} is outside the sentences of {len(source)} and {len(target)} words",
            remedy="check that the links belong to these sentences",
        ) from None
    except ValueError as error:
        raise TreeError(str(error), remedy="split the sentence") from None
    return [
        PhrasePair(
            (begin, end),
            (low, high),
            tuple(source[begin:end]),
            tuple(target[low:high]),
            tuple((j - begin, i - low) for j, i in words if begin <= j < end and low <= i < high),
            _ORIENTATIONS[before],
            _ORIENTATIONS[after],
        )
        for begin, end, low, high, before, after in spans
    ]


def licensed(
    pair: AlignedPair, *, max_length: int = MAX_LENGTH, reading: Literal["exact", "open"] = "exact"
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The source and target spans that a pair's links of nodes license, whatever its word links are (spec: tree-to-tree,
    section 3); none without constituency trees on both sides.

    >>> from treeglot.trees.nodelinks import make_pair, parse_node_links
    >>> from treeglot.trees.penn import parse_penn
    >>> from treeglot.trees.sentence import ParsedSentence
    >>> trees = parse_penn("(S (NP (D das) (N haus)) (V brennt))"), parse_penn("(S (NP (D the) (N house)) (VP (V is) (V burning)))")
    >>> links = parse_node_links("0-0 1-1 w2-2")
    >>> licensed(make_pair(*(ParsedSentence.of(None, tree) for tree in trees), links))
    [((0, 2), (0, 2)), ((0, 3), (0, 4)), ((2, 3), (2, 4))]
    """
    check_max_length(max_length)
    nodes = [(link.source, link.target) for link in pair.node_links]
    bitext = parsed_bitext([(pair.source, pair.target, (), nodes)])
    spans = core.licensed(bitext.columns, 0, max_length, reading == "open")
    return [((begin, end), (low, high)) for begin, end, low, high in spans]


def check_max_length(max_length: int) -> None:
    """Refuse a limit that a table cannot hold."""
    if not 1 <= max_length <= core.MAX_PHRASE:
        raise TreeglotError(
            f"phrases of at most {max_length} words", remedy=f"give a limit from 1 to {core.MAX_PHRASE}"
        )
