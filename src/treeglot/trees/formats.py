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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary, read_lines
from treeglot.trees.bracketed import from_bracketed, read_bracketed
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.tiger import read_tiger
from treeglot.trees.treealigner import read_aligned_pairs
from treeglot.trees.treejson import read_jsonl
from treeglot.trees.wordlinks import WordLinks, read_giza, read_naacl, read_pharaoh

Kind = Literal["sentences", "pairs", "links"]


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


def kind_of(path: str | os.PathLike[str], format: str) -> Kind:
    """What a file holds; looks into a JSON-lines file."""
    if format == "jsonl":
        for _, line in islice(read_lines(path, max_bytes=1 << 28), 1):
            return "pairs" if '"source":' in line and '"target":' in line else "sentences"
    return FORMATS[format].kind


def read_sentences(path: str | os.PathLike[str], format: str | None = None) -> Iterator[ParsedSentence]:
    """Stream the sentences of a tree file of any format."""
    format = check_format(format) if format else guess_format(path, reading=True)
    for item in FORMATS[format].read(path):
        if not isinstance(item, ParsedSentence):
            raise TreeglotError(
                f"{format} holds {FORMATS[format].kind}, not single sentences",
                path=path,
                line=1,
                remedy="give a tree file, or choose a side with --side",
            )
        yield item


def read_pairs(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    source: str | os.PathLike[str] | None = None,
    target: str | os.PathLike[str] | None = None,
    strict: bool = True,
    problems: list[str] | None = None,
) -> Iterator[AlignedPair]:
    """Stream the aligned pairs of a TreeAligner or JSON-lines file.

    The rest is for TreeAligner files (`treeglot.trees.treealigner.read_aligned_pairs`).
    """
    format = check_format(format) if format else guess_format(path, reading=True)
    options: dict[str, Any] = {}
    if format == "treealigner":
        options = {"source": source, "target": target, "strict": strict, "problems": problems}
    elif source is not None or target is not None:
        raise TreeglotError("has its own trees", path=path, remedy="leave out --source and --target")
    for item in FORMATS[format].read(path, **options):
        if not isinstance(item, AlignedPair):
            raise TreeglotError(
                f"this {format} file does not hold aligned pairs",
                path=path,
                line=1,
                remedy="give a TreeAligner file or a JSON-lines file of pairs",
            )
        yield item


def read_links(path: str | os.PathLike[str], format: str | None = None) -> Iterator[WordLinks]:
    """Stream the word links of a Pharaoh, GIZA or NAACL file, one entry a pair."""
    format = check_format(format) if format else guess_format(path, reading=True)
    yield from FORMATS[format].read(path)
