"""The file formats of trees and alignments: their names, endings and contents, and reading by format.

Three kinds of files: *sentences* (trees of one language), *pairs* (two languages with links), *links* (word links alone).
JSON lines may hold sentences or pairs.

>>> guess_format("corpus.conllu.gz"), guess_format("wsj_0001.mrg"), guess_format("train.A3.final")
('conllu', 'penn', 'giza')
>>> FORMATS["treealigner"].kind
'pairs'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any, Literal, TypeVar

from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary, type_path
from treeglot.trees.bracketed import from_bracketed, read_bracketed
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.tiger import read_tiger
from treeglot.trees.treealigner import read_aligned_pairs
from treeglot.trees.treejson import read_jsonl
from treeglot.trees.wordlinks import WordLinks, in_order, read_giza, read_naacl, read_pharaoh

Kind = Literal["sentences", "pairs", "links"]
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Format:
    """A file format: what it holds, by which endings it is known and how it is read."""

    name: str
    kind: Kind
    endings: tuple[str, ...]
    about: str
    read: Callable[..., Iterator[Any]]


def _read_bracketed_sentences(path: str | os.PathLike[str]) -> Iterator[ParsedSentence]:
    return (ParsedSentence.of(from_bracketed(tree)) for tree in read_bracketed(path))


FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        Format("conllu", "sentences", (".conllu", ".conll"), "dependency trees, ten columns", read_conllu),
        Format("penn", "sentences", (".penn", ".ptb", ".mrg", ".mrg_strict", ".psd"), "constituency trees", read_penn),
        Format(
            "bracketed", "sentences", (".bracketed", ".dbr"), "dependency trees as brackets", _read_bracketed_sentences
        ),
        Format("tiger", "sentences", (".tiger.xml", ".tiger"), "constituency trees, also discontinuous", read_tiger),
        Format("treealigner", "pairs", (".sta.xml", ".sta"), "links between two TIGER files", read_aligned_pairs),
        Format("jsonl", "sentences", (".jsonl", ".json"), "everything treeglot knows, one object a line", read_jsonl),
        Format("pharaoh", "links", (".pharaoh", ".align"), "word links 0-0 1-2", read_pharaoh),
        Format("giza", "links", (".a3", ".a3.final", ".giza"), "GIZA++ A3 word links with both texts", read_giza),
        Format("naacl", "links", (".naacl", ".wa"), "word links, one a line: pair source target S|P", read_naacl),
    )
}


def guess_format(path: str | os.PathLike[str], *, reading: bool = False, pairs: bool = False) -> str:
    """The format of a file by its ending; ``.xml`` by its root element when reading, else TIGER or (pairs) TreeAligner."""
    name = os.fspath(path).lower().removesuffix(".gz").removesuffix(".zst")
    by_length = sorted(FORMATS.values(), key=lambda entry: -max(map(len, entry.endings)))
    for entry in by_length:
        if name.endswith(entry.endings):
            return entry.name
    if name.endswith(".xml"):
        return _sniff_xml(path) if reading else ("treealigner" if pairs else "tiger")
    endings = ", ".join(f"{entry.name} ({' '.join(entry.endings)})" for entry in FORMATS.values())
    option = "--from" if reading else "--to"
    raise TreeglotError("no known format has this ending", path=path, remedy=f"name it with {option}: {endings}")


def _sniff_xml(path: str | os.PathLike[str]) -> str:
    if Path(path).exists() and not Path(path).is_file():  # what is read of a pipe is gone
        raise InputError("the format of a pipe is not known", path=path, line=1, remedy="name the format with --from")
    with open_binary(path) as stream:
        start = stream.read(65536)
    for mark, name in ((b"<treealign", "treealigner"), (b"<corpus", "tiger"), (b"<subcorpus", "tiger")):
        if mark in start:
            return name
    raise InputError(
        "neither TIGER-XML (<corpus>) nor TreeAligner XML (<treealign>)",
        path=path,
        line=1,
        remedy="name the format with --from; parallel text in TMX is read by `treeglot bitext`",
    )


def check_format(name: str) -> str:
    """``name`` if it is a format, else an error that lists the formats."""
    if name not in FORMATS:
        raise TreeglotError(f"no format {name!r}", remedy=f"formats are {', '.join(FORMATS)}")
    return name


def open_items(path: type_path, format: str, **banks: Any) -> tuple[Kind, Iterator[Any]]:
    """What a file holds, and its items: sentences, pairs or word links. ``banks`` are options of `read_pairs`.

    JSON lines are known by their first item. The file is opened once, because standard input and pipes cannot be read again.
    """
    kind = FORMATS[format].kind
    if kind == "pairs":
        return kind, read_pairs(path, format, **banks)
    if format != "jsonl":
        return kind, read_links(path, format) if kind == "links" else read_sentences(path, format)
    items = read_jsonl(path)
    first = next(items, None)
    stream = chain([] if first is None else [first], items)
    if isinstance(first, AlignedPair):
        return "pairs", only_pairs(stream, path, format)
    return "sentences", only_sentences(stream, path, format)


def read_sentences(path: type_path, format: str | None = None) -> Iterator[ParsedSentence]:
    """Stream the sentences of a tree file of any format."""
    format = check_format(format) if format else guess_format(path, reading=True)
    return only_sentences(FORMATS[format].read(path), path, format)


def only_sentences(items: Iterable[Any], path: type_path, format: str) -> Iterator[ParsedSentence]:
    """The items; one that is no sentence is an error."""
    for item in items:
        if not isinstance(item, ParsedSentence):
            raise TreeglotError(
                f"{format} holds {FORMATS[format].kind}, not single sentences",
                path=path,
                line=1,
                remedy="give a tree file, or choose a side with --side",
            )
        yield item


def read_pairs(
    path: type_path,
    format: str | None = None,
    *,
    source: type_path | None = None,
    target: type_path | None = None,
    strict: bool = True,
    anywhere: bool = False,
    problems: list[str] | None = None,
) -> Iterator[AlignedPair]:
    """Stream the aligned pairs of a TreeAligner or JSON-lines file.

    The rest is for TreeAligner files (`treeglot.trees.treealigner.read_aligned_pairs`).
    """
    format = check_format(format) if format else guess_format(path, reading=True)
    options: dict[str, Any] = {}
    if format == "treealigner":
        options = {"source": source, "target": target, "strict": strict, "anywhere": anywhere, "problems": problems}
    elif source is not None or target is not None:
        raise TreeglotError("has its own trees", path=path, remedy="leave out --source and --target")
    return only_pairs(FORMATS[format].read(path, **options), path, format)


def only_pairs(items: Iterable[Any], path: type_path, format: str) -> Iterator[AlignedPair]:
    """The items; one that is no aligned pair is an error."""
    for item in items:
        if not isinstance(item, AlignedPair):
            raise TreeglotError(
                f"this {format} file does not hold aligned pairs",
                path=path,
                line=1,
                remedy="give a TreeAligner file or a JSON-lines file of pairs",
            )
        yield item


def read_links(path: type_path, format: str | None = None) -> Iterator[WordLinks]:
    """Stream the word links of a Pharaoh, GIZA or NAACL file, one entry a pair.

    NAACL files name pairs by their number; those that they leave out have no links, but the file does not say how many there
    are after the last one: `links_in_step` does.
    """
    format = check_format(format) if format else guess_format(path, reading=True)
    links: Iterator[WordLinks] = FORMATS[format].read(path)
    return in_order(links, path) if format == "naacl" else links


def links_in_step(
    path: type_path,
    format: str,
    items: tuple[type_path, Iterable[T]],
    *,
    links: Iterable[WordLinks] | None = None,
    remedy: str,
) -> Iterator[tuple[WordLinks, T]]:
    """The word links of each sentence pair and what another file has for it; one that ends before the other is an error.

    ``links`` are those of the file if it is open already."""
    more = repeat(WordLinks(())) if format == "naacl" else ()
    return in_step((path, read_links(path, format) if links is None else links), items, more=more, remedy=remedy)


def in_step(
    first: tuple[type_path, Iterable[T]], second: tuple[type_path, Iterable[U]], *, remedy: str, more: Iterable[T] = ()
) -> Iterator[tuple[T, U]]:
    """What two files have for each sentence; one that ends before the other is an `InputError`. ``more`` follows the first."""
    end = object()
    one, other, after = iter(first[1]), iter(second[1]), iter(more)
    for number in count(1):
        here: Any = next(one, end)
        there: Any = next(other, end)
        if here is end and there is end:
            return
        if here is end:
            here = next(after, end)
        if here is end or there is end:
            shorter, longer = (first[0], second[0]) if here is end else (second[0], first[0])
            raise InputError(
                f"ends after {number - 1:,} sentences, but {os.fspath(longer)} has more",
                path=shorter,
                line=max(number - 1, 1),
                remedy=remedy,
            )
        yield here, there
