"""Texts that cannot be parsed, and parsed files that do not belong to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.parsers import open_parser, parse_file


def _files(folder: Path, **how: Any) -> None:
    trees = {name: folder / f"p.{name}" for name in ("conllu", "penn") if (folder / f"p.{name}").exists()}
    with open_parser("files", "en", **trees) as parser:
        parse_file(parser, folder / "in.txt", jsonl=folder / "out.jsonl", **how)


def _tokens(folder: Path) -> None:
    _files(folder, tokenized=True)


def _no_empty(folder: Path) -> None:
    _files(folder, on_empty="error")


_TWO = b"(S (A a) (B b))\n(S (C c))\n"
_CONLLU = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"

CASES = [
    BadInput("parsers-text-differs", {"in.txt": b"ab\nd\n", "p.penn": _TWO}, _files, 2, "reads 'c'"),
    BadInput("parsers-words-differ", {"in.txt": b"ab\nc\n", "p.penn": _TWO}, _tokens, 1, "word 1"),
    BadInput("parsers-too-few-trees", {"in.txt": b"ab\nc\nd\n", "p.penn": _TWO}, _files, 3, "only 2 sentences"),
    BadInput("parsers-too-many-trees", {"in.txt": b"ab\n", "p.penn": _TWO}, _files, 1, "more sentences"),
    BadInput("parsers-empty-line", {"in.txt": b"ab\n \n", "p.penn": _TWO}, _no_empty, 2, "empty line"),
    BadInput("parsers-text-not-utf8", {"in.txt": b"ab\n\xff\n", "p.penn": _TWO}, _files, 2, "not UTF-8"),
    BadInput("parsers-text-nul", {"in.txt": b"a\0b\n", "p.penn": _TWO}, _files, 1, "NUL"),
    BadInput("parsers-broken-trees", {"in.txt": b"ab\n", "p.penn": b"(S (A a)\n"}, _files, 1, "", blamed="p.penn"),
    BadInput(
        "parsers-two-files-differ",
        {"in.txt": b"a\nc\n", "p.penn": b"(A a)\n(C c)\n", "p.conllu": _CONLLU},
        _files,
        2,
        "reads 'x'",
    ),
]
