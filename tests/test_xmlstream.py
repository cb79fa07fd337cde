"""The XML reader: positions, text, encodings, constant memory, and refusal of anything that could hurt."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tree_strategies import TEXT, damaged, survives
from treeglot import InputError, TreeglotError
from treeglot.xmlstream import (
    MAX_DEPTH,
    Element,
    escape_attribute,
    escape_text,
    format_element,
    iterate_events,
    read_element,
)


def read(folder: Path, content: bytes) -> list[tuple[str, str, str]]:
    path = folder / "a.xml"
    path.write_bytes(content)
    return [(event.kind, event.name, event.text) for event in iterate_events(path)]


def refused(folder: Path, content: bytes) -> InputError:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    assert caught.value.remedy and caught.value.line and caught.value.path
    return caught.value


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1"),
        ('<?xml version="1.0" encoding="windows-1252"?>', "cp1252"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ("", "utf-16"),
        ("", "utf-16-le"),
        ("", "utf-32"),
    ],
)
def test_encodings(tmp_path: Path, head: str, encoding: str) -> None:
    events = read(tmp_path, f"{head}<a>größer</a>".encode(encoding))
    assert events == [("start", "a", ""), ("text", "a", "größer"), ("end", "a", "")]


def test_multibyte_encoding_and_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(gzip.compress('<?xml version="1.0" encoding="GB18030"?><a>中文</a>'.encode("gb18030")))
    assert [event.text for event in iterate_events(path)] == ["", "中文", ""]


def test_text_is_whole_across_blocks_entities_and_cdata(tmp_path: Path) -> None:
    long = "x" * 200_000
    assert read(tmp_path, f"<a>{long}&amp;<![CDATA[<]]>&#233;<!-- no -->y</a>".encode())[1][2] == long + "&<éy"


def test_document_type_may_be_named_and_is_not_loaded(tmp_path: Path) -> None:
    text = b'<!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx a="&lt;&#65;"/>'
    assert read(tmp_path, text) == [("start", "tmx", ""), ("end", "tmx", "")]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b'<!DOCTYPE a [\n<!ENTITY x "y">\n<!ENTITY z "&x;&x;">]><a>&z;</a>', 2, "'x' is declared"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>', 1, "'x' is declared"),
        (b'<!DOCTYPE a [\n\n<!ENTITY % x SYSTEM "http://example.org/">\n%x;]><a/>', 3, "parameter entity 'x'"),
        (b"<a>\n&nbsp;</a>", 2, "entity"),
        (b'<!DOCTYPE a SYSTEM "x.dtd">\n<a>&nbsp;</a>', 2, "&nbsp; is not declared"),
        (b'<!DOCTYPE a SYSTEM "x.dtd">\n<a b=\'"\' c="&nbsp;"/>', 2, "&nbsp; is not declared"),
        (b"<a>\n<b>", 2, "ends too early within <b>"),
        (b"<a>\n<b></a>", 2, "mismatched tag"),
        (b"<a>\n<b x='1' x='2'/></a>", 2, "duplicate attribute"),
        (b"<a>\n\0</a>", 2, "NUL"),
        (b"", 1, "empty"),
        (b" \n", 1, "empty"),
        (b"\n{}", 2, "not well-formed"),
        (b"<a>gr\xc3\xb6\n\xdfer</a>", 2, "not utf-8 (byte 0xdf)"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', 1, "'klingon'"),
        (b'<?xml version="1.0" encoding="UTF-16"?><a/>', 1, "'UTF-16'"),
        (b'<?xml version="1.0" encoding="rot13"?><a/>', 1, "'rot13'"),
        (b"<a>" * (MAX_DEPTH + 1), 1, "deep"),
        (b"<a>\n<b " + b"x" * 5_000_000, 2, "a tag or comment of over"),
        (b"<a>\n" + b"x" * 10_100_000, 2, "a text of over"),
    ],
)
def test_refused(tmp_path: Path, content: bytes, line: int, says: str) -> None:
    error = refused(tmp_path, content)
    assert says in error.message
    assert error.line == line


def test_events_before_an_error_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a><b/></c>")
    events = iterate_events(path)
    assert [next(events).name for _ in range(3)] == ["a", "b", "b"]
    with pytest.raises(InputError):
        next(events)


def test_memory_is_constant(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a>" + "<b c='1'>text</b>\n" * 50_000 + "</a>")
    tracemalloc.start()
    assert sum(1 for _ in iterate_events(path)) == 2 + 4 * 50_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12_000_000


@given(text=st.one_of(TEXT, st.text(alphabet="a\t\n\r <>&'\"]", max_size=10)))
def test_escaping_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    xml = f"<a b={escape_attribute(text)}>{escape_text(text)}</a>"
    root = ElementTree.fromstring(xml)
    assert root.get("b") == text and (root.text or "") == text
    path = tmp_path_factory.mktemp("x") / "a.xml"
    path.write_text(xml, newline="")
    first, *rest = iterate_events(path)
    assert first.attributes["b"] == text and "".join(event.text for event in rest) == text


def test_what_xml_cannot_hold() -> None:
    for bad in ("\0", "\x1b", "\ufffe", "\ud800"):
        with pytest.raises(TreeglotError, match="cannot hold"):
            escape_text("a" + bad)


def test_elements(tmp_path: Path) -> None:
    element = Element(
        "h", (("a", "1"),), "", (Element("b", (), "x\n"), Element("c", (("d", "<"),), "", (Element("e"),)))
    )
    path = tmp_path / "a.xml"
    path.write_text(format_element(element))
    events = iterate_events(path)
    assert read_element(next(events), events) == element
    assert element.find("c") is not None and element.find("z") is None and element.get("a") == "1"


SAMPLE = (
    b'<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "a.dtd">\n<a x="1&amp;2">t&#233;xt<b/><![CDATA[c]]><!-- d --></a>\n'
)


@given(content=st.one_of(damaged(SAMPLE), st.binary(max_size=60), st.text(max_size=40).map(str.encode)))
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    survives(iterate_events, tmp_path_factory.mktemp("x") / "a.xml", content)
