"""Word alignments in files: Pharaoh (Moses), GIZA++ A3, and the NAACL/WPT format of hand-aligned test sets.

All readers yield one `WordLinks` for each sentence pair, with 0-based links from source to target. A sure link is ``good``,
a possible one ``fuzzy``. Links to the NULL word, which GIZA and NAACL can write, are kept apart in ``nulls`` with -1 on
the NULL side.

>>> links = parse_pharaoh("0-0 1-2-P 2-1")
>>> links[1]
Link(source=1, target=2, kind='fuzzy', score=None)
>>> format_pharaoh(links)
'0-0 1-2-P 2-1'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.trees.sentence import Link, LinkKind
from treeglot.words import BLANKS

NULL = -1
"""The index of the NULL word in ``nulls``."""

MAX_PAIRS = 100_000_000
"""Numbers of pairs above are a mistake: empty pairs up to there would fill the disk."""

Lengths = Iterable[tuple[int, int]]
"""The numbers of source and target words of each pair."""


class WordLinks(NamedTuple):
    """The links of one sentence pair, sorted. ``source`` and ``target`` are the words, if the format has them (GIZA);
    ``id`` names the pair (NAACL's sentence number, GIZA's pair number), ``score`` is GIZA's."""

    links: tuple[Link, ...]
    nulls: tuple[Link, ...] = ()
    source: tuple[str, ...] | None = None
    target: tuple[str, ...] | None = None
    id: str = ""
    score: float | None = None


_NUMBER = "[0-9]{1,9}"
_PHARAOH = re.compile(rf"({_NUMBER})(-|p|\?)({_NUMBER})(?:-?([SPsp]))?(?::([-+0-9.eE]+))?")
_TOKEN = re.compile(f"[^{BLANKS}]+")


def parse_pharaoh(
    text: str,
    *,
    one_based: bool = False,
    reverse: bool = False,
    lengths: tuple[int, int] | None = None,
    path: type_path | None = None,
    line: int | None = None,
) -> tuple[Link, ...]:
    """The links of one line; options as for `read_pharaoh`."""
    links: dict[tuple[int, int], Link] = {}
    for token in _TOKEN.finditer(text):
        column = token.start() + 1
        match = _PHARAOH.fullmatch(token[0])
        if match is None:
            raise InputError(
                f"{token[0][:40]!r} is not a link",
                path=path,
                line=line,
                column=column,
                remedy="write links as 3-4, possible ones as 3-4-P or 3-4P",
            )
        kind: LinkKind = "fuzzy" if match[2] != "-" or (match[4] or "S") in "Pp" else "good"
        score = None if match[5] is None else _number(match[5], path, line, column)
        source, target = int(match[1]) - one_based, int(match[3]) - one_based
        if reverse:
            source, target = target, source
        _add(links, Link(source, target, kind, score), lengths, token[0], path, line, column)
    return tuple(sorted(links.values(), key=lambda link: link[:2]))


def _add(
    links: dict[tuple[int, int], Link],
    link: Link,
    lengths: tuple[int, int] | None,
    text: str,
    path: type_path | None,
    line: int | None,
    column: int | None,
) -> None:
    problem, remedy = "", "check that the links belong to these sentences and whether they count from 0 or 1"
    if link.source < 0 or link.target < 0:
        problem = f"the link {text} has a word before the first"
    elif lengths is not None and (link.source >= lengths[0] or link.target >= lengths[1]):
        problem = f"the link {text} is outside of the sentences of {lengths[0]} and {lengths[1]} words"
    elif link[:2] in links:
        problem, remedy = f"the link {text} is given twice", "remove one of them"
    if problem:
        raise InputError(problem, path=path, line=line, column=column, remedy=remedy)
    links[link[:2]] = link


def _number(text: str, path: type_path | None, line: int | None, column: int | None) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError(
            f"{text[:40]!r} is not a number", path=path, line=line, column=column, remedy="correct the score"
        )
    return value


def read_pharaoh(
    path: type_path, *, one_based: bool = False, reverse: bool = False, lengths: Lengths | None = None
) -> Iterator[WordLinks]:
    """Stream a Pharaoh file: a line for each pair, ``0-0 1-2``, an empty line for a pair without links.

    Possible links may be marked as ``1-2P``, ``1-2-P``, ``1p2`` or ``1?2``; a score as ``1-2:0.9``. ``one_based`` files count
    words from 1; ``reverse`` swaps source and target. With ``lengths``, links must lie in the sentences and there must be
    as many lines as pairs.
    """
    sizes = iter(lengths) if lengths is not None else None
    line = 0
    for line, text in read_lines(path):
        size = next(sizes, None) if sizes is not None else None
        if sizes is not None and size is None:
            remedy = "check that the files belong together"
            raise InputError("more lines than sentence pairs", path=path, line=line, remedy=remedy)
        yield WordLinks(parse_pharaoh(text, one_based=one_based, reverse=reverse, lengths=size, path=path, line=line))
    if sizes is not None and next(sizes, None) is not None:
        remedy = "check that the files belong together"
        raise InputError(f"only {line} lines for more sentence pairs", path=path, line=line, remedy=remedy)


def format_pharaoh(links: Iterable[Link], *, possible: str = "-P", scores: bool = False) -> str:
    """``0-0 1-2-P``, sorted. ``possible`` is put after possible links (``P``, or nothing to make all alike)."""
    if possible not in ("-P", "P", ""):
        raise TreeError(f"the mark {possible!r} for possible links", remedy="use -P, P or nothing")
    parts = []
    for link in sorted(links, key=lambda link: link[:2]):
        score = f":{link.score!r}" if scores and link.score is not None else ""
        parts.append(f"{link.source}-{link.target}{possible if link.kind == 'fuzzy' else ''}{score}")
    return " ".join(parts)


def write_pharaoh(
    pairs: Iterable[WordLinks | Iterable[Link]], path: type_path, *, possible: str = "-P", scores: bool = False
) -> None:
    """Write a line of links for each pair, given as `WordLinks` or just links (for example ``pair.word_links``)."""
    with atomic_write(path) as file:
        for pair in pairs:
            links = pair.links if isinstance(pair, WordLinks) else pair
            file.write(format_pharaoh(links, possible=possible, scores=scores) + "\n")


_HEADER = re.compile(
    rf"# Sentence pair \(({_NUMBER})\) source length ({_NUMBER}) target length ({_NUMBER})"
    r"(?: alignment score : (\S+))?\s*"
)


def read_giza(path: type_path) -> Iterator[WordLinks]:
    """Stream a GIZA++ A3 file: three lines a pair, the target words and the source words with their targets.

    ``NULL ({ 2 }) maison ({ 1 3 })`` means that target words 1 and 3 come from the first source word, 2 from NULL.
    """
    lines = read_lines(path)
    for line, text in lines:
        if not text.strip():
            continue
        header = _HEADER.fullmatch(text)
        if header is None:
            raise InputError(
                "not the first line of a GIZA sentence pair",
                path=path,
                line=line,
                remedy="it reads: # Sentence pair (1) source length 5 target length 6 alignment score : 0.01",
            )
        score = None if header[4] is None else _number(header[4], path, line, header.start(4) + 1)
        rest = [item for item in (next(lines, None), next(lines, None)) if item is not None]
        if len(rest) < 2:
            remedy = "copy the file again; a pair takes three lines"
            raise InputError("the file ends within a sentence pair", path=path, line=line + len(rest), remedy=remedy)
        target = tuple(_TOKEN.findall(rest[0][1]))
        _check_length("target", len(target), int(header[3]), path, rest[0][0])
        yield _giza_pair(rest[1][1], target, int(header[2]), path, rest[1][0])._replace(id=header[1], score=score)


def _check_length(side: str, count: int, expected: int, path: type_path, line: int) -> None:
    if count != expected:
        raise InputError(
            f"{count} {side} words, but the pair's first line says {expected}",
            path=path,
            line=line,
            remedy="check that no line is missing and that words contain no spaces",
        )


def _giza_pair(text: str, target: tuple[str, ...], size: int, path: type_path, line: int) -> WordLinks:
    def error(message: str, column: int, remedy: str = "write each word as: word ({ 1 2 })") -> InputError:
        return InputError(message, path=path, line=line, column=column, remedy=remedy)

    words: list[str] = []
    links: list[Link] = []
    tokens = _TOKEN.finditer(text)
    for word in tokens:
        index = len(words) - 1  # the NULL word comes first
        words.append(word[0])
        opening = next(tokens, None)
        if opening is None or opening[0] != "({":
            raise error(f"no ({{ after {word[0][:40]!r}", word.end() + 1)
        positions: set[int] = set()
        for token in tokens:
            if token[0] == "})":
                break
            column = token.start() + 1
            if not re.fullmatch(_NUMBER, token[0]):
                raise error(f"{token[0][:40]!r} is not a position", column)
            position = int(token[0]) - 1
            if not 0 <= position < len(target):
                message = f"target position {token[0]}, but there are {len(target)} target words"
                raise error(message, column, "check that no line is missing")
            if position in positions:
                raise error(f"position {token[0]} is given twice", column, "remove one of them")
            positions.add(position)
        else:
            raise error("no }) at the end", len(text) + 1)
        links.extend(Link(index, position) for position in sorted(positions))
    if not words or words[0] != "NULL":
        raise error(
            "the source does not begin with NULL", 1, "the third line of a pair is: NULL ({ }) word ({ 1 }) ..."
        )
    _check_length("source", len(words) - 1, size, path, line)
    nulls = sum(link.source == NULL for link in links)
    return WordLinks(tuple(links[nulls:]), tuple(links[:nulls]), tuple(words[1:]), target)


def write_giza(pairs: Iterable[WordLinks], path: type_path) -> None:
    """Write GIZA++ A3 pairs; they must have their words. Target words without links and nulls go to NULL."""
    with atomic_write(path) as file:
        for number, pair in enumerate(pairs, start=1):
            if pair.source is None or pair.target is None:
                raise TreeError(f"pair {pair.id or number} has no words", remedy="GIZA files contain both sentences")
            below: list[list[int]] = [[] for _ in range(len(pair.source) + 1)]
            for link in (*pair.links, *pair.nulls):
                if not (NULL <= link.source < len(pair.source) and 0 <= link.target < len(pair.target)):
                    raise TreeError(
                        f"pair {pair.id or number}: the link {link.source}-{link.target} is outside of the sentences",
                        remedy="check that the links belong to these sentences; GIZA has no links to a target NULL",
                    )
                below[link.source + 1].append(link.target + 1)
            linked = {position for positions in below for position in positions}
            below[0].extend(j + 1 for j in range(len(pair.target)) if j + 1 not in linked)
            for word in (*pair.source, *pair.target):
                if not _TOKEN.fullmatch(word) or "\n" in word:
                    raise TreeError(f"white space in the word {word!r}, or nothing", remedy="replace it first")
            identity = pair.id if re.fullmatch(_NUMBER, pair.id) else str(number)
            score = "" if pair.score is None else f" alignment score : {pair.score!r}"
            lengths = f"source length {len(pair.source)} target length {len(pair.target)}"
            file.write(f"# Sentence pair ({identity}) {lengths}{score}\n{' '.join(pair.target)} \n")
            for word, positions in zip(("NULL", *pair.source), below, strict=True):
                inside = "".join(f"{position} " for position in sorted(positions))
                file.write(f"{word} ({{ {inside}}}) ")
            file.write("\n")


def read_naacl(path: type_path, *, reverse: bool = False) -> Iterator[WordLinks]:
    """Read an alignment in the format of the NAACL 2003 shared task: a link a line, ``pair source target [S|P] [score]``.

    Words count from 1, and 0 is NULL. The links of a pair may be scattered, so the whole file is read first; pairs come in
    the order of their first links. A line that repeats another is ignored (the Hansards set has one), unless it
    contradicts it. Pairs without links are not in such a file: match them by ``id``.
    """
    pairs: dict[str, dict[tuple[int, int], Link]] = {}
    for line, text in read_lines(path):
        tokens = list(_TOKEN.finditer(text))
        if not tokens:
            continue
        fields = [token[0] for token in tokens]
        columns = [token.start() + 1 for token in tokens]
        kind: LinkKind = "good"
        score: float | None = None
        if not 3 <= len(fields) <= 5:
            remedy = "a line reads: pair source target S, or P at the end for a possible link"
            raise InputError(f"{len(fields)} columns instead of 3 to 5", path=path, line=line, remedy=remedy)
        for value, column in zip(fields[1:3], columns[1:3], strict=True):
            if not re.fullmatch(_NUMBER, value):
                message = f"{value[:40]!r} is not a word number"
                raise InputError(message, path=path, line=line, column=column, remedy="words count from 1, 0 is NULL")
        further = fields[3:]
        if further and further[0] in ("S", "P"):
            kind = "fuzzy" if further.pop(0) == "P" else "good"
        if further:
            score = _number(further.pop(), path, line, columns[-1])
        if further:
            message = f"{further[0][:40]!r} is neither S nor P"
            raise InputError(
                message, path=path, line=line, column=columns[3], remedy="sure links are S, possible ones P"
            )
        source, target = int(fields[1]) - 1, int(fields[2]) - 1
        if source == target == NULL:
            message = "a link between NULL and NULL"
            raise InputError(message, path=path, line=line, column=columns[1], remedy="remove the line")
        link = Link(target, source, kind, score) if reverse else Link(source, target, kind, score)
        if pairs.setdefault(fields[0], {}).setdefault(link[:2], link) != link:
            message = f"the link {fields[1]} {fields[2]} of pair {fields[0][:40]} is given twice and differently"
            raise InputError(message, path=path, line=line, column=columns[1], remedy="remove one of them")
    for name, given in pairs.items():
        links = sorted(given.values(), key=lambda link: link[:2])
        nulls = tuple(link for link in links if NULL in link[:2])
        yield WordLinks(tuple(link for link in links if NULL not in link[:2]), nulls, id=name)


def in_order(pairs: Iterable[WordLinks], path: type_path) -> Iterator[WordLinks]:
    """The pairs of a NAACL file in the order of their numbers, with empty ones for those that have no links."""
    known: dict[int, WordLinks] = {}
    for pair in pairs:
        number = int(pair.id) if pair.id.isascii() and pair.id.isdecimal() else 0
        if number < 1 or number in known or number > MAX_PAIRS:
            problem = (
                f"is also called {known[number].id}" if number in known else "is not the number of a sentence pair"
            )
            remedy = "number the pairs from 1, each in one way"
            raise InputError(f"pair {pair.id[:40]!r} {problem}", path=path, line=1, remedy=remedy)
        known[number] = pair
    for number in range(1, max(known, default=0) + 1):
        yield known.get(number, WordLinks((), id=str(number)))


def write_naacl(pairs: Iterable[WordLinks], path: type_path) -> None:
    """Write links in the NAACL format; pairs without an id are numbered ``0001``, ``0002``, ..."""
    with atomic_write(path) as file:
        for number, pair in enumerate(pairs, start=1):
            name = pair.id or f"{number:04d}"
            if not _TOKEN.fullmatch(name) or "\n" in name:
                raise TreeError(f"white space in the id {name!r}", remedy="replace it first")
            for link in sorted((*pair.links, *pair.nulls), key=lambda link: link[:2]):
                score = "" if link.score is None else f" {link.score!r}"
                mark = "P" if link.kind == "fuzzy" else "S"
                file.write(f"{name} {link.source + 1} {link.target + 1} {mark}{score}\n")
