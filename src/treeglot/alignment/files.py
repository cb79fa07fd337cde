"""Word alignments that other programs made: Pharaoh lines and GIZA++ A3 files, checked against the text they belong to.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "links"
>>> _ = path.write_text("0-0 1-1\\n\\n")
>>> read_alignment(path, source=["das haus", ""], target=["the house", "?"])
['0-0 1-1', '']
"""

from __future__ import annotations

from collections.abc import Sequence

from treeglot._core import align as core
from treeglot.alignment.symmetrize import HEURISTICS, format_links, parse_links
from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary, type_path
from treeglot.trees.wordlinks import read_giza
from treeglot.words import split_words


def read_alignment(
    path: type_path,
    form: str = "pharaoh",
    *,
    swap: bool = False,
    source: Sequence[str] | None = None,
    target: Sequence[str] | None = None,
) -> list[str]:
    """A file of links as Pharaoh lines, sorted, counted from 0.

    ``swap``: the file's source is our target, as in GIZA's file of the other direction. With ``source`` and ``target`` there
    must be a line for each pair, and every link must lie in its sentences.
    """
    if form == "pharaoh":
        with open_binary(path) as stream:
            text = stream.read()
        if text and not text.endswith(b"\n"):
            text += b"\n"
        try:
            text = core.symmetrize(text, text, HEURISTICS.index("forward"))
        except ValueError as error:
            line, message, _ = error.args
            remedy = "write links as source-target, counted from 0: 0-0 1-2"
            raise InputError(message, path=path, line=line, remedy=remedy) from None
        lines = text.decode("ascii").split("\n")[:-1]
        if swap:
            lines = [format_links((t, s) for s, t in parse_links(line)) for line in lines]
    elif form == "giza":
        pairs = ([(link.source, link.target) for link in pair.links] for pair in read_giza(path))
        lines = [format_links(((t, s) for s, t in links) if swap else links) for links in pairs]
    else:
        raise TreeglotError(f"no format {form!r} of links", remedy="choose pharaoh or giza")
    if source is not None and target is not None:
        _check_place(lines, source, target, path)
    return lines


def _check_place(lines: Sequence[str], source: Sequence[str], target: Sequence[str], path: type_path) -> None:
    if len(lines) != len(source):
        raise InputError(
            f"links of {len(lines):,} pairs, but there are {len(source):,} pairs",
            path=path,
            line=min(len(lines), len(source)) + (len(lines) > len(source)),
            remedy="give the links of these sentence pairs",
        )
    for number, (line, s, t) in enumerate(zip(lines, source, target, strict=True), start=1):
        sizes = len(split_words(s)), len(split_words(t))
        for link in split_words(line):
            i, j = link.split("-")
            if int(i) >= sizes[0] or int(j) >= sizes[1]:
                raise InputError(
                    f"the link {link} is outside of the sentences of {sizes[0]} and {sizes[1]} words",
                    path=path,
                    line=number,
                    remedy="check that the links belong to these sentences and count from 0",
                )
