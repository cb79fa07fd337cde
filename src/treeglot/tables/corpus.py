"""Reading a word-aligned corpus: tokenised text of both sides and Pharaoh links, line by line, into the native core.

The whole corpus is held in memory as word numbers (about four bytes a word and a link); everything that grows faster than
the corpus is sorted on disk beyond the memory limit.

>>> parse_memory("512m"), parse_memory(1000)
(536870912, 1000)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from treeglot._core import tables as core
from treeglot.errors import InputError, TreeglotError
from treeglot.files import MAX_LINE_BYTES, decode_line, open_binary
from treeglot.links import GivenLinks, LinkArrays, Weighted, give_links, plain_links, weight_of
from treeglot.progress import track

Path = str | os.PathLike[str]

AlignedCorpus = core.Corpus
"""The native corpus: ``len`` is the number of pairs, ``size`` the bytes of memory it takes."""

_BLOCK = 2048
_BOM = b"\xef\xbb\xbf"
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_memory(amount: str | int) -> int:
    """Bytes of an amount such as ``500m`` or ``4g``; a number is taken as bytes."""
    if isinstance(amount, int):
        return amount
    number, unit = amount[:-1], amount[-1:].lower()
    if not number.isdigit() or unit not in _SIZES:
        raise TreeglotError(f"memory {amount!r}", remedy="write a number and k, m or g, such as 4g")
    return int(number) * _SIZES[unit]


def read_corpus(
    source: Path, target: Path, alignment: Path | Weighted, also: Sequence[GivenLinks] = ()
) -> AlignedCorpus:
    """Read three files (plain, gz or zst) that have as many lines; ``alignment`` has links such as ``0-0 1-2``.

    ``also`` are further alignments of the same text: every pair is there once for each, and counts what it weighs."""
    first = plain_links(alignment)
    if isinstance(first, LinkArrays):
        raise TreeglotError("the first alignment is no file", remedy="give arrays in `also`, or a Pharaoh file first")
    names = [os.fspath(path) for path in (source, target, first)]
    corpus = AlignedCorpus()
    for start, blocks in track(_blocks(names), f"reading {names[0]} (blocks of {_BLOCK:,} lines)"):
        problem = corpus.add(*blocks)
        if problem:
            line, side, message = problem
            remedy = "align these two files again" if side == 2 else "split the line"
            raise InputError(message, path=names[side], line=start + line, remedy=remedy)
    if len(corpus) == 0:
        raise InputError("no text to learn from", path=names[0], line=1, remedy="give at least one line")
    corpus.finish()
    weights = give_links(also, len(corpus), lambda _, arrays: corpus.add_links(*arrays))
    corpus.set_weights([weight_of(alignment), *weights])
    return corpus


def add_spans(corpus: AlignedCorpus, path: Path) -> None:
    """Read a set of given phrase pairs: a line of spans such as ``0-2:1-3`` for each sentence pair of the corpus."""
    name = os.fspath(path)
    corpus.new_spans()
    start = 0
    for lines in track(_lines(name), f"reading {name} (blocks of {_BLOCK:,} lines)"):
        problem = corpus.add_spans(_join(name, start, lines))
        if problem:
            line, message = problem
            remedy = "give the spans of these sentence pairs: treeglot rules spans"
            raise InputError(message, path=name, line=start + line, remedy=remedy)
        start += len(lines)
    if corpus.spans != corpus.sentences:
        raise InputError(
            f"ends after {start:,} lines, but there are {corpus.sentences:,} sentence pairs",
            path=name,
            line=max(start, 1),
            remedy="give a line of spans for each pair, an empty one where there are none",
        )


def _blocks(names: list[str]) -> Iterator[tuple[int, tuple[bytes, bytes, bytes]]]:
    start = 0
    for parts in zip_longest(*(_lines(name) for name in names), fillvalue=list[bytes]()):
        lengths = [len(lines) for lines in parts]
        if len(set(lengths)) > 1:
            short, long = lengths.index(min(lengths)), lengths.index(max(lengths))
            raise InputError(
                f"ends after {start + lengths[short]:,} lines, but {names[long]} goes on",
                path=names[short],
                line=start + lengths[short] + 1,
                remedy="give three files with as many lines",
            )
        joined = [_join(name, start, lines) for name, lines in zip(names, parts, strict=True)]
        yield start, (joined[0], joined[1], joined[2])
        start += lengths[0]


def _lines(name: str) -> Iterator[list[bytes]]:
    with open_binary(name) as stream:
        first = True
        while lines := list(islice(stream, _BLOCK)):
            if first:
                lines[0] = lines[0].removeprefix(_BOM)
            first = False
            yield lines


def _join(name: str, start: int, lines: list[bytes]) -> bytes:
    """The lines as one text, checked as `read_lines` does."""
    if not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    text = b"".join(lines)
    good = b"\0" not in text and len(text) <= MAX_LINE_BYTES
    if good:
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            good = False
    if not good:
        for number, line in enumerate(lines, start=start + 1):
            decode_line(line, name, number)
    return text
