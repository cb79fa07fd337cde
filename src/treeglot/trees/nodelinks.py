"""Links between the nodes of two trees as lines of text, like Pharaoh's word links.

A line for each pair of sentences, links separated by blanks, ``source-target``. Phrase n is written ``n`` and word j ``wj``,
both counted from 0. Phrases are numbered in preorder: the root is 0, then the first phrase below it with everything under
it, and so on, children taken in the order of their first words (as in `treeglot.trees.constituency`). Words count in the
order of the sentence. A fuzzy link ends in ``-P``; a score follows after a colon: ``0-0:0.93 1-3 2-w4-P:0.5 w1-w2``.

>>> links = parse_node_links("0-0:0.5 2-w4-P w1-w2")
>>> links[-1], links[0]
(Link(source=2, target=-5, kind='fuzzy', score=None), Link(source=-2, target=-3, kind='good', score=None))
>>> format_node_links(links)
'0-0:0.5 2-w4-P w1-w2'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.trees.constituency import NodeRef
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

_LINK = re.compile(r"(w?[0-9]{1,9})-(w?[0-9]{1,9})(-P)?(?::([-+0-9.eE]{1,40}))?")
MAX_LINE_BYTES = 1 << 28
THRESHOLD = 0.5
"""The least confidence of a link that rules are learnt from (spec: tree-to-tree, section 3)."""
LEXICAL_THRESHOLD = 0.2
"""The same for links of the lexical aligner, whose confidences are word translation probabilities: nine in ten are below a half."""


def format_node_links(links: Iterable[Link]) -> str:
    """One line: phrases first, then words; scores as short as they can be read back."""

    def order(link: Link) -> tuple[bool, int, bool, int]:
        return link.source < 0, abs(link.source), link.target < 0, abs(link.target)

    return " ".join(
        f"{_name(link.source)}-{_name(link.target)}{'-P' if link.kind == 'fuzzy' else ''}"
        f"{'' if link.score is None else f':{link.score!r}'}"
        for link in sorted(links, key=order)
    )


def parse_node_links(text: str) -> tuple[Link, ...]:
    """The links of one line, sorted; words are ``~j``."""
    links: dict[tuple[NodeRef, NodeRef], Link] = {}
    for token in re.finditer(r"[^ \t\r\f\v]+", text):
        match = _LINK.fullmatch(token[0])
        column = token.start() + 1
        if match is None:
            raise InputError(
                f"{token[0][:40]!r} is not a link of nodes",
                column=column,
                remedy="write links as 3-4, words as w4, scores as 3-w4:0.5",
            )
        score = None
        if match[4] is not None:
            try:
                score = float(match[4])
            except ValueError:
                score = math.nan
            if not math.isfinite(score):
                raise InputError(f"the score {match[4]!r} is not a number", column=column, remedy="correct the score")
        link = Link(_node(match[1]), _node(match[2]), "fuzzy" if match[3] else "good", score)
        if link[:2] in links:
            raise InputError(f"the link {token[0]} is given twice", column=column, remedy="remove one of them")
        links[link[:2]] = link
    return tuple(sorted(links.values(), key=lambda link: link[:2]))


def read_node_links(path: type_path) -> Iterator[tuple[Link, ...]]:
    """Stream the links of a file, one entry a line; an empty line is a pair without links."""
    for number, text in read_lines(path, max_bytes=MAX_LINE_BYTES):
        try:
            yield parse_node_links(text)
        except InputError as error:
            raise error.at(path, number) from None


def write_node_links(pairs: Iterable[AlignedPair], path: type_path) -> int:
    """Write the node and word links of pairs, a line each; returns how many."""
    count = 0
    with atomic_write(path) as file:
        for pair in pairs:
            file.write(format_node_links(all_links(pair)) + "\n")
            count += 1
    return count


def make_pair(source: ParsedSentence, target: ParsedSentence, links: Iterable[Link], id: str = "") -> AlignedPair:
    """An aligned pair of links between `NodeRef`s: those of two words become word links, the rest node links."""
    words, nodes = [], []
    for link in links:
        if link.source < 0 and link.target < 0:
            words.append(link._replace(source=~link.source, target=~link.target))
        else:
            nodes.append(link)
    return AlignedPair(source, target, words, nodes, id or source.id)


def all_links(pair: AlignedPair) -> list[Link]:
    """Node links and word links of a pair together, words as ``~j``: the inverse of `make_pair`."""
    words = [link._replace(source=~link.source, target=~link.target) for link in pair.word_links]
    known = {link[:2] for link in words}
    return [*(link for link in pair.node_links if link[:2] not in known), *words]


def with_links(pairs: Iterable[AlignedPair], path: type_path) -> Iterator[AlignedPair]:
    """The same sentences with the links of a file instead of their own; a wrong number of lines is an error."""
    lines = read_node_links(path)
    number = 0
    for number, pair in enumerate(pairs, start=1):
        links = next(lines, None)
        if links is None:
            raise InputError(
                f"{number - 1:,} lines, but more pairs of sentences",
                path=path,
                line=max(number - 1, 1),
                remedy="give the links of these pairs",
            )
        try:
            yield make_pair(pair.source, pair.target, links, pair.id)
        except TreeError as error:
            raise InputError(error.message, path=path, line=number, remedy=error.remedy) from None
    if next(lines, None) is not None:
        message = f"more lines than the {number:,} pairs of sentences"
        raise InputError(message, path=path, line=number + 1, remedy="give the links of these pairs")


def _name(node: NodeRef) -> str:
    return str(node) if node >= 0 else f"w{~node}"


def _node(text: str) -> NodeRef:
    return ~int(text[1:]) if text[0] == "w" else int(text)
