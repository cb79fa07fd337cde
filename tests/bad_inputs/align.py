"""Damaged word alignments and alignment models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot import alignment
from treeglot.alignment.lexical import LexicalTables

MANIFEST = json.dumps({"version": 1, "backend": "own", "files": {"model.tgwa": "0" * 32}}).encode()


def _symmetrize(folder: Path) -> Any:
    return alignment.symmetrize_files(folder / "forward", folder / "reverse", "union")


def _read(folder: Path) -> Any:
    return alignment.read_alignment(folder / "links", source=["a b", "a"], target=["x y", "x"])


def _count(folder: Path) -> Any:
    lines = (folder / "links").read_text().splitlines()
    return LexicalTables.count(["a b", "a"], ["x y", "x"], lines, path=folder / "links")


def _load(folder: Path) -> Any:
    return alignment.load(folder)


def _links(name: str, text: bytes, says: str, line: int = 2, read: Callable[[Path], Any] = _read) -> BadInput:
    return BadInput(f"align-{name}", {"links": text}, read, line, says)


def _two(name: str, forward: bytes, reverse: bytes, says: str, blamed: str, line: int = 2) -> BadInput:
    files = {"forward": forward, "reverse": reverse}
    return BadInput(f"align-{name}", files, _symmetrize, line, says, blamed)


CASES = [
    _two("not-a-link", b"0-0\n0:1\n", b"0-0\n0-1\n", "is not a link", "forward"),
    _two("negative", b"0-0\n0-1\n", b"0-0\n-1-1\n", "is not a link", "reverse"),
    _two("words", b"0-0\n0-1\n", b"0-0\nhello\n", "is not a link", "reverse"),
    _two("huge-number", b"0-0\n0-99999999999\n", b"0-0\n0-0\n", "is not a link", "forward"),
    _two("fewer-lines", b"0-0\n0-1\n", b"0-0\n0-1\n0-0\n", "reverse has 3", "forward"),
    _links("source-outside", b"0-0\n1-0\n", "outside of the sentences of 1 and 1 words"),
    _links("target-outside", b"0-2\n0-0\n", "outside of the sentences", 1),
    _links("too-few", b"0-0\n", "links of 1 pairs", 1),
    _links("too-many", b"0-0\n0-0\n0-0\n", "links of 3 pairs", 3),
    _links("garbled", b"0-0\n0-0 \xff\n", "is not a link"),
    _links("count-outside", b"0-0\n0-1\n", "outside", read=_count),
    BadInput("align-model-absent", {"other": b""}, _load, 1, "no alignment model", "aligner.json"),
    BadInput("align-model-not-json", {"aligner.json": b"{"}, _load, 1, "damaged"),
    BadInput("align-model-not-a-table", {"aligner.json": b"[]"}, _load, 1, "damaged"),
    BadInput("align-model-version", {"aligner.json": MANIFEST.replace(b": 1", b": 9")}, _load, 1, "version 9"),
    BadInput("align-model-part-missing", {"aligner.json": MANIFEST}, _load, 1, "missing", "model.tgwa"),
    BadInput(
        "align-model-checksum",
        {"aligner.json": MANIFEST, "model.tgwa": b"TGWALIGN"},
        _load,
        1,
        "checksum",
        "model.tgwa",
    ),
]
