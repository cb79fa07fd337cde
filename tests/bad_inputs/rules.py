"""Trees, target text and links that do not belong together."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.cli.rules_extract import Inputs, write_rules


def _word(number: int, form: str, head: int) -> str:
    return "\t".join([str(number), form, "_", "_", "T", "_", str(head), "dep" if head else "root", "_", "_"]) + "\n"


CONLLU = (_word(1, "das", 2) + _word(2, "haus", 0) + "\n" + _word(1, "ein", 2) + _word(2, "buch", 0) + "\n").encode()
PENN = b"(NP (T das) (T haus))\n(NP (T ein) (T buch))\n"
FILES = {"f.conllu": CONLLU, "f.penn": PENN, "e": b"the house\na book\n", "a": b"0-0 1-1\n0-0 1-1\n"}


def _extract(folder: Path) -> Any:
    name = {path.name: str(path) for path in folder.iterdir()}
    inputs = Inputs(name["e"], name["a"], conllu=name["f.conllu"], penn=name["f.penn"])
    return write_rules("consdep2str", inputs, io.BytesIO())


def _plain(folder: Path) -> Any:
    name = {path.name: str(path) for path in folder.iterdir()}
    return write_rules("hierarchical", Inputs(name["e"], name["a"], source=name["f"]), io.BytesIO())


def _case(name: str, files: dict[str, bytes], says: str, line: int, blamed: str) -> BadInput:
    return BadInput(f"rules-{name}", {**FILES, **files}, _extract, line, says, blamed)


CASES = [
    _case("short-target", {"e": b"the house\n"}, "ends after 1 sentences", 2, "e"),
    _case("short-links", {"a": b"0-0\n"}, "ends after 1 sentences", 2, "a"),
    _case("link-outside-source", {"a": b"0-0\n2-0\n"}, "link 2-0 is outside the sentences of 2 and 2 words", 2, "a"),
    _case("link-outside-target", {"a": b"0-7\n0-0\n"}, "link 0-7 is outside", 1, "a"),
    _case("no-link", {"a": b"0-0\n0:0\n"}, "is not a link", 2, "a"),
    _case("other-words", {"f.penn": PENN.replace(b"buch", b"heft")}, "differs", 2, "f.penn"),
    _case("fewer-words", {"f.penn": b"(NP (T das))\n(NP (T ein))\n"}, "differs", 1, "f.penn"),
    _case("no-tree", {"f.penn": b"(NP (T das) (T haus))\n(NP (T ein)\n"}, "", 2, "f.penn"),
    _case("cycle", {"f.conllu": CONLLU.replace(b"\t0\troot", b"\t1\tdep", 1)}, "", 1, "f.conllu"),
    _case("latin1", {"e": b"the house\na b\xfcch\n"}, "not UTF-8", 2, "e"),
    BadInput(
        "rules-short-plain",
        {"e": b"a\nb\n", "f": b"a\nb\n", "a": b"0-0\n\n0-0\n"},
        _plain,
        3,
        "ends after 2 sentences",
        "f",
    ),
]
