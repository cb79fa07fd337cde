"""Broken Penn brackets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bad_inputs import BadInput
from treeglot.trees import ParsedSentence
from treeglot.trees.penn import read_penn


def read(folder: Path) -> Iterator[ParsedSentence]:
    return read_penn(folder / "a.ptb")


def case(name: str, content: bytes, line: int, says: str) -> BadInput:
    return BadInput(f"penn-{name}", {"a.ptb": content}, read, line, says)


CASES = [
    case("open-at-end", b"(A (B c))\n(S\n (NP (N a))\n\n", 4, "begins in line 2: 1 brackets are open"),
    case("cut-in-word", b"(S (NP (DT th", 1, "3 brackets are open"),
    case("stray-closing", b"(A (B c))\n(S (N a))) (X y)\n", 2, ") without ("),
    case("text-outside", b"(S (N a))\nhello (S (N a))\n", 2, "'hello' stands outside"),
    case("label-missing", b"(S\n ((N a) (V b)))\n", 2, "without a label"),
    case("labels-missing", b"(((N a)) ((N b)))\n", 1, "without labels"),
    case("nothing-under-label", b"(S (N a)\n (NP))\n", 2, "nothing under the label 'NP'"),
    case("empty-bracket", b"(S (N a) ())\n", 1, "nothing in it"),
    case("no-parse", b"(S (N a))\n\n(())\n", 3, "without words"),
    case("nul", b"(S (N a))\n(S (N \0))\n", 2, "NUL"),
    case("latin-1", b"(S (N a))\n\n(S (N gr\xf6n))\n", 3, "not UTF-8"),
    case("long-line", b"(S (N a))\n(" + b"N" * 1_000_001 + b" a)\n", 2, "longer than"),
    case("conllu", b"1\tdogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n", 1, "'1' stands outside"),
]
