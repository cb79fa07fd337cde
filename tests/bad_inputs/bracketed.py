"""Damaged bracketed dependency trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.trees.bracketed import read_bracketed

GOOD = b"(4;head=2;nsubj=1;obj=3 (1;N;John John) (2;V;see saw) (3;N;Mary Mary))\n"


def _read(folder: Path) -> Any:
    return read_bracketed(folder / "a.txt")


def _case(name: str, bad: bytes, says: str, line: int = 2) -> BadInput:
    return BadInput(f"bracketed-{name}", {"a.txt": GOOD + bad}, _read, line, says)


CASES = [
    _case("unclosed", b"(3;head=2;nsubj=1 (1;N;John John) (2;V;see saw)\n", "not closed"),
    _case("closed-twice", b"(3;head=2;nsubj=1 (1;N;a a) (2;V;b b)))\n", "after the end"),
    _case("two-trees", b"(1;N;a a) (1;N;b b)\n", "after the end"),
    _case("no-label", b"(3;head=2;nsubj=1 ((1;N;a a)) (2;V;b b))\n", "without a label"),
    _case("empty-line", b"\n", "no tree"),
    _case("bare-word", b"John\n", "where a bracket should open"),
    _case("empty-constituent", b"(4;head=2;nsubj=3 (3;head=1) (1;V;b b))\n", "is empty"),
    _case("word-label", b"(3;head=2;nsubj=1 (1;N a) (2;V;b b))\n", "of a word"),
    _case("word-order", b"(3;head=2;nsubj=1 (2;N;a a) (1;V;b b))\n", "has the index"),
    _case("two-forms", b"(3;head=2;nsubj=1 (1;N;a a b) (2;V;b b))\n", "no closing bracket"),
    _case("no-head", b"(3;nsubj=1 (1;N;a a) (2;V;b b))\n", "of a constituent"),
    _case("head-elsewhere", b"(4;head=1;nsubj=3 (1;V;a a) (3;head=1;obj=2 (2;N;b b)))\n", "no word of this"),
    _case("unknown-dependent", b"(3;head=2;nsubj=9 (1;N;a a) (2;V;b b))\n", "names no dependent"),
    _case("not-a-number", b"(3;head=2;nsubj=one (1;N;a a) (2;V;b b))\n", "not an index"),
    _case("forgotten-dependent", b"(3;head=2 (1;N;a a) (2;V;b b))\n", "no label names word 1"),
    _case("two-heads", b"(3;head=2;nsubj=1;obj=1 (1;N;a a) (2;V;b b))\n", "two heads"),
    _case("cycle", b"(4;head=1;a=3 (1;V;a a) (3;head=2;b=4 (2;N;b b)))\n", "a cycle"),
    _case("same-index", b"(3;head=1;a=3 (1;V;a a) (3;head=2;b=3 (2;N;b b)))\n", "given twice"),
    _case("wrong-place", b"(5;head=1;x=4 (1;V;a a) (4;head=2;y=3 (2;N;b b)) (3;N;c c))\n", "do not fit"),
    _case("percent", b"(1;N;a 5%)\n", "percent sign"),
    _case("escaped-latin1", b"(1;N;a %E9)\n", "not UTF-8"),
    _case("latin1", b"(1;N;a \xe9)\n", "not UTF-8"),
    _case("nul", b"(1;N;a \0)\n", "NUL"),
]
