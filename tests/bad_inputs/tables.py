"""Damaged corpora, alignments and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.tables import LexicalTable, PhraseTable, build_phrase_table, import_moses

F, E, A = b"das haus\nein buch\n", b"the house\na book\n", b"0-0 1-1\n0-0 1-1\n"
PHRASES = b"das ||| the ||| 1 1 1 1 ||| 0-0\n"
ORDERS = b"das ||| the ||| .2 .2 .6 .2 .2 .6\n"


def _build(folder: Path) -> Any:
    names = {path.stem: path for path in folder.iterdir()}
    return build_phrase_table(names["f"], names["e"], names["a"], folder / "t")


def _corpus(name: str, files: dict[str, bytes], says: str, line: int, blamed: str) -> BadInput:
    return BadInput(f"tables-{name}", {"f": F, "e": E, "a": A, **files}, _build, line, says, blamed)


def _import(folder: Path) -> Any:
    orders = folder / "r"
    return import_moses(folder / "p", folder / "t", reordering=orders if orders.exists() else None)


def _phrases(name: str, line: bytes, says: str, number: int = 2) -> BadInput:
    return BadInput(f"tables-import-{name}", {"p": PHRASES + line}, _import, number, says)


def _orders(name: str, line: bytes, says: str, number: int = 2) -> BadInput:
    return BadInput(f"tables-reordering-{name}", {"p": PHRASES, "r": ORDERS + line}, _import, number, says, "r")


def _open(folder: Path) -> Any:
    return PhraseTable(folder / "t")


def _lexical(folder: Path) -> Any:
    return LexicalTable.read(folder / "lex.e2f", folder / "lex.f2e")


CASES = [
    _corpus("short-target", {"e": b"the house\n"}, "ends after 1 lines", 2, "e"),
    _corpus("short-source", {"f": b"das haus\n"}, "ends after 1 lines", 2, "f"),
    _corpus("short-alignment", {"a": b"0-0\n"}, "ends after 1 lines", 2, "a"),
    _corpus("no-alignment", {"a": b""}, "ends after 0 lines", 1, "a"),
    _corpus("nothing", {"f": b"", "e": b"", "a": b""}, "no text", 1, "f"),
    _corpus("source-link", {"a": b"0-0\n2-0\n"}, "link 2-0 is outside the sentences of 2 and 2 words", 2, "a"),
    _corpus("target-link", {"a": b"0-9\n0-0\n"}, "outside", 1, "a"),
    _corpus("huge-link", {"a": b"0-0\n99999999999-0\n"}, "not a link", 2, "a"),
    _corpus("words-for-links", {"a": b"0-0\neins\n"}, "eins is not a link", 2, "a"),
    _corpus("half-link", {"a": b"0-\n\n"}, "not a link", 1, "a"),
    _corpus("negative-link", {"a": b"-1-0\n\n"}, "not a link", 1, "a"),
    _corpus("giza", {"a": b"0-0\n# Sentence pair (1)\n"}, "not a link", 2, "a"),
    _corpus("link-in-empty-line", {"f": b"das haus\n\n"}, "outside the sentences of 0 and 2", 2, "a"),
    _corpus("latin1", {"f": b"das haus\nein b\xfcch\n"}, "not UTF-8", 2, "f"),
    _corpus("nul", {"e": b"the\0house\na book\n"}, "NUL", 1, "e"),
    _corpus("long-sentence", {"f": b"das haus\n" + b"a " * 70_000 + b"\n"}, "65,535", 2, "f"),
    _corpus("long-line", {"e": b"the house\n" + b"a" * 1_100_000 + b"\n"}, "longer than", 2, "e"),
    BadInput("tables-cut-gzip", {"f.gz": b"\x1f\x8b\x08\0", "e": E, "a": A}, _build, 1, "archive", "f.gz"),
    _phrases("two-columns", b"ein ||| a\n", "not of the form"),
    _phrases("empty-line", b"\n", "not of the form"),
    _phrases("no-source", b" ||| a ||| 1 1 1 1\n", "no source"),
    _phrases("no-target", b"ein |||  ||| 1 1 1 1\n", "no target"),
    _phrases("three-scores", b"ein ||| a ||| 1 1 1\n", "3 scores where 4"),
    _phrases("five-scores", b"ein ||| a ||| 1 1 1 1 1\n", "5 scores where 4"),
    _phrases("word-score", b"ein ||| a ||| 1 eins 1 1\n", "eins is not a probability"),
    _phrases("nan", b"ein ||| a ||| 1 1 nan 1\n", "not a probability"),
    _phrases("infinite", b"ein ||| a ||| 1 1 inf 1\n", "not a probability"),
    _phrases("negative", b"ein ||| a ||| 1 1 -1 1\n", "not a probability"),
    _phrases("huge", b"ein ||| a ||| 1 1 1e999 1\n", "not a probability"),
    _phrases("link", b"ein ||| a ||| 1 1 1 1 ||| 0-1\n", "0-1 is not a link"),
    _phrases("twice", PHRASES, "given twice"),
    _phrases("long", b"a " * 256 + b"||| b ||| 1 1 1 1\n", "255"),
    _phrases("latin1", b"\xfc ||| a ||| 1 1 1 1\n", "not UTF-8"),
    BadInput("tables-import-empty", {"p": b""}, _import, 1, "empty"),
    _orders("columns", b"das ||| the\n", "not of the form"),
    _orders("scores", b"ein ||| a ||| 1 1 1\n", "3 scores where 6"),
    _orders("twice", ORDERS, "given twice"),
    BadInput("tables-not-a-table", {"t": b"das ||| the ||| 1 1 1 1\n" * 20}, _open, 1, "not a treeglot phrase table"),
    BadInput("tables-empty-file", {"t": b""}, _open, 1, "not a treeglot phrase table"),
    BadInput("tables-other-version", {"t": b"TGPT\r\n\x1a\0" + b"\xff" * 300}, _open, 1, "another version"),
    BadInput("tables-lexical-columns", {"lex.e2f": b"a b 1\n", "lex.f2e": b"b a\n"}, _lexical, 1, "form", "lex.f2e"),
    BadInput("tables-lexical-word", {"lex.e2f": b"a b x\n", "lex.f2e": b"b a 1\n"}, _lexical, 1, "form", "lex.e2f"),
    BadInput("tables-lexical-nan", {"lex.e2f": b"a b nan\n", "lex.f2e": b"b a 1\n"}, _lexical, 1, "not a", "lex.e2f"),
]
