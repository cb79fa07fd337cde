"""Broken parallel text: plain and Moses files, columns, JSON lines, vocabularies and truecaser models."""

from __future__ import annotations

import gzip
from pathlib import Path

import zstandard

from bad_inputs import BadInput
from treeglot.bitext import Truecaser, read_bitext, read_jsonl, read_moses, read_plain, read_tsv

_EN = b"a\nb\nc\n"
_FR = b"x\ny\nz\n"


def _plain(folder: Path) -> object:
    return read_plain(folder / "a.en", folder / "a.fr")


def _moses(folder: Path) -> object:
    return read_moses(folder / "a.en", folder / "a.fr")


def _tsv(folder: Path) -> object:
    return read_tsv(folder / "a.tsv", columns=(1, 3))


def _jsonl(folder: Path) -> object:
    return read_jsonl(folder / "a.jsonl")


def _truecaser(folder: Path) -> object:
    return Truecaser.load(folder / "t.model")


def _json_case(name: str, line: bytes, says: str) -> BadInput:
    good = b'{"source": "a", "target": "x"}\n'
    return BadInput(f"bitext-jsonl-{name}", {"a.jsonl": good + line + b"\n"}, _jsonl, 2, says)


def _truecaser_case(name: str, line: bytes, says: str) -> BadInput:
    return BadInput(f"bitext-truecaser-{name}", {"t.model": b"the (2/3) The (1)\n" + line}, _truecaser, 2, says)


CASES = [
    BadInput("bitext-plain-target-short", {"a.fr": b"x\ny\n", "a.en": _EN}, _plain, 3, "goes on"),
    BadInput("bitext-plain-source-short", {"a.en": b"a\n", "a.fr": _FR}, _plain, 2, "goes on"),
    BadInput("bitext-plain-source-empty", {"a.en": b"", "a.fr": _FR}, _plain, 1, "goes on"),
    BadInput("bitext-plain-nul", {"a.en": b"a\nb\0\nc\n", "a.fr": _FR}, _plain, 2, "NUL"),
    BadInput("bitext-plain-latin1", {"a.fr": b"x\ny\nfen\xeatre\n", "a.en": _EN}, _plain, 3, "not UTF-8"),
    BadInput("bitext-plain-utf16", {"a.en": "a\nb\nc\n".encode("utf-16"), "a.fr": _FR}, _plain, 1, ""),
    BadInput("bitext-plain-long-line", {"a.en": b"a\n" + b"b" * 1_000_001, "a.fr": _FR}, _plain, 2, "longer than"),
    BadInput(
        "bitext-plain-gzip-truncated",
        {"a.en.gz": gzip.compress(_EN * 1000)[:-12], "a.fr": _FR * 1000},
        lambda folder: read_plain(folder / "a.en.gz", folder / "a.fr"),
        1,
        "damaged or truncated archive",
    ),
    BadInput(
        "bitext-plain-not-gzip",
        {"a.en.gz": _EN, "a.fr": _FR},
        lambda folder: read_plain(folder / "a.en.gz", folder / "a.fr"),
        1,
        "damaged or truncated archive",
    ),
    BadInput(
        "bitext-plain-zstd-damaged",
        {"a.en.zst": b"\x28\xb5\x2f\xfd\x99\x99", "a.fr": _FR},
        lambda folder: read_plain(folder / "a.en.zst", folder / "a.fr"),
        1,
        "archive",
    ),
    BadInput(
        "bitext-plain-zstd-truncated",
        {"a.en.zst": zstandard.compress(_EN * 1000)[:-2], "a.fr": _FR * 1000},
        lambda folder: read_plain(folder / "a.en.zst", folder / "a.fr"),
        1,
        "damaged or truncated archive",
    ),
    BadInput(
        "bitext-moses-markup", {"a.en": b'a\n<n translation="x">b</n>\nc\n', "a.fr": _FR}, _moses, 2, "XML markup"
    ),
    BadInput("bitext-moses-wall", {"a.fr": b"x <wall/> y\ny\nz\n", "a.en": _EN}, _moses, 1, "<wall/>"),
    BadInput("bitext-moses-short", {"a.fr": b"x\n", "a.en": _EN}, _moses, 2, "goes on"),
    BadInput("bitext-tsv-too-few-columns", {"a.tsv": b"a\tx\tC\nb\ty\n"}, _tsv, 2, "2 columns, but column 3"),
    BadInput("bitext-tsv-empty-line", {"a.tsv": b"a\tx\tC\n\n"}, _tsv, 2, "1 column, but"),
    BadInput("bitext-tsv-spaces", {"a.tsv": b"a  x  C\n"}, _tsv, 1, "1 column"),
    BadInput("bitext-tsv-latin1", {"a.tsv": b"a\tx\tC\nb\t\xe9\tC\n"}, _tsv, 2, "not UTF-8"),
    _json_case("bad-json", b'{"source": "a", "target": }', "not JSON"),
    _json_case("truncated", b'{"source": "a", "targ', "not JSON"),
    _json_case("missing-field", b'{"source": "a"}', "no field 'target'"),
    _json_case("not-a-string", b'{"source": "a", "target": 7}', "is not a string"),
    _json_case("array", b'["a", "x"]', "not an object"),
    _json_case("surrogate", b'{"source": "a\\ud800", "target": "x"}', "surrogate"),
    _json_case("deep", b'{"source": "a", "target": ' + b"[" * 50_000, "cannot be read"),
    _json_case("huge-number", b'{"source": "a", "target": "x", "n": ' + b"9" * 5000 + b"}", "cannot be read"),
    _json_case("which-languages", b'{"translation": {"en": "a", "fr": "x"}}', "which of the languages"),
    BadInput(
        "bitext-jsonl-language-missing",
        {"a.jsonl": b'{"translation": {"en": "a", "fr": "x"}}\n{"translation": {"en": "a"}}\n'},
        lambda folder: read_bitext(folder / "a.jsonl", source_lang="en", target_lang="fr"),
        2,
        "no field 'fr'",
    ),
    _truecaser_case("cut", b"house (1/", "not a line"),
    _truecaser_case("sum", b"house (1/4) House (2)\n", "do not add up"),
    _truecaser_case("forms", b"house (1/3) Mouse (2)\n", "not casings of one word"),
    _truecaser_case("duplicate", b"THE (1/1)\n", "already in line 1"),
    BadInput("bitext-truecaser-empty", {"t.model": b""}, _truecaser, 1, "empty"),
]
