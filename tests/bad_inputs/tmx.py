"""Broken TMX files."""

from __future__ import annotations

from pathlib import Path

from bad_inputs import BadInput
from treeglot.bitext import read_tmx

_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
_TAIL = b"</body></tmx>\n"
_EN = b'<tuv xml:lang="en"><seg>a</seg></tuv>'
_FR = b'<tuv xml:lang="fr"><seg>x</seg></tuv>'
_UNIT = b"<tu>" + _EN + _FR + b"</tu>\n"


def _read(folder: Path) -> object:
    return read_tmx(folder / "a.tmx", source_lang="en", target_lang="fr")


def _strict(folder: Path) -> object:
    return read_tmx(folder / "a.tmx", source_lang="en", target_lang="fr", missing="error")


def _case(name: str, content: bytes, line: int, says: str) -> BadInput:
    return BadInput(f"tmx-{name}", {"a.tmx": content}, _read, line, says)


def _body(name: str, unit: bytes, says: str) -> BadInput:
    return _case(name, _HEAD + _UNIT + unit + b"\n" + _TAIL, 4, says)


CASES = [
    _case("empty", b"", 1, "empty"),
    _case("not-xml", b"hello\n", 1, "not well-formed"),
    _case("wrong-root", b"<xliff>\n</xliff>", 1, "the root element is <xliff>"),
    _case("truncated", _HEAD + _UNIT + b"<tu>" + _EN, 4, "ends too early"),
    _case("mismatched-tags", _HEAD + _UNIT + b"<tu>" + _EN + b"</body>", 4, "mismatched tag"),
    _case(
        "entity-bomb",
        b'<!DOCTYPE tmx [<!ENTITY a "ha">\n<!ENTITY b "&a;&a;&a;&a;">]>\n<tmx><body/></tmx>',
        1,
        "entity 'a' is declared",
    ),
    _case(
        "external-entity",
        b'<!DOCTYPE tmx [\n<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<tmx><body><tu>&x;</tu></body></tmx>',
        2,
        "is declared",
    ),
    _case("mixed-encodings", _HEAD + _UNIT + b"<tu><tuv xml:lang='fr'><seg>\xe9</seg></tuv></tu>" + _TAIL, 4, "utf-8"),
    _case("false-encoding", b'<?xml version="1.0" encoding="klingon"?>\n<tmx/>', 1, "klingon"),
    _case("nul", _HEAD + _UNIT + b"\0" + _TAIL, 4, "NUL"),
    _body("unit-without-variant", b"<tu><note>n</note></tu>", "<tu> without <tuv>"),
    _body("nested-unit", b"<tu><tu></tu></tu>", "<tu> inside <tu>"),
    _body("nested-segment", b"<tu>" + _EN + b"<tuv xml:lang='fr'><seg>x<seg>y</seg></seg></tuv></tu>", "<seg> inside"),
    _body("unknown-inline", b"<tu>" + _EN + b"<tuv xml:lang='fr'><seg>x<br/></seg></tuv></tu>", "<br> is no inline"),
    _body("no-language", b"<tu><tuv><seg>a</seg></tuv></tu>", "without a language"),
    _body("no-segment", b"<tu>" + _EN + b"<tuv xml:lang='fr'></tuv></tu>", "<tuv> without <seg>"),
    _body("two-segments", b"<tu><tuv xml:lang='fr'><seg>x</seg><seg>y</seg></tuv></tu>", "a second <seg>"),
    _body("segment-outside", b"<tu><seg>x</seg></tu>", "<seg> outside <tuv>"),
    _body("variant-outside", _EN, "directly in <tu>"),
    _body("unknown-entity", b"<tu>" + _EN + b"<tuv xml:lang='fr'><seg>&eacute;</seg></tuv></tu>", "entity"),
    _case("no-such-language", _HEAD + b"<tu>" + _EN + b"</tu>" + _TAIL, 1, "none of the 1 units has both en and fr"),
    BadInput(
        "tmx-strict-missing", {"a.tmx": _HEAD + _UNIT + b"<tu>" + _EN + b"</tu>" + _TAIL}, _strict, 4, "without fr"
    ),
    BadInput(
        "tmx-which-languages", {"a.tmx": _HEAD + _UNIT + _TAIL}, lambda f: read_tmx(f / "a.tmx"), 3, "which languages"
    ),
]
