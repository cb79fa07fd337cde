"""A streaming XML reader for corpora (TIGER-XML, TreeAligner, TMX) on the expat of the standard library.

Memory stays constant however large the file is: it is read in blocks and each block's events are handed out before the
next one is read. Files come from strangers, so a document that declares entities is refused (that is how a few bytes
grow to gigabytes or how local files are pulled in), a document type may be named but is never loaded, and depth, text
and markup have limits.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.xml"
>>> _ = path.write_text("<s id='1'>\\n<t w='a&amp;b'/>caf&#233;</s>")
>>> for event in iterate_events(path):
...     print(event.kind, event.name, event.attributes, repr(event.text), event.line, event.column)
start s {'id': '1'} '' 1 1
text s {} '\\n' 1 11
start t {'w': 'a&b'} '' 2 1
end t {} '' 2 17
text s {} 'café' 2 17
end s {} '' 2 26
>>> escape_text("a < b"), escape_attribute('5" & more')
('a &lt; b', '\\'5" &amp; more\\'')
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple
from xml.parsers import expat
from xml.sax import saxutils

from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary, type_path

BLOCK = 65_536
MAX_DEPTH = 1_000
MAX_MARKUP = 4_000_000
MAX_TEXT = 10_000_000

EventKind = Literal["start", "end", "text"]


class Event(NamedTuple):
    """A start tag, an end tag, or all the text between two tags.

    ``name`` is the element as written, with its prefix; for text it is the element that contains the text.
    ``line`` and ``column`` (both from 1) are where the tag or the text begins."""

    kind: EventKind
    name: str
    attributes: dict[str, str]
    text: str
    line: int
    column: int


def iterate_events(path: type_path) -> Iterator[Event]:
    """Stream the events of an XML file (``.gz`` and ``.zst`` unpacked); anything unsound is an `InputError`.

    The encoding is that of the byte-order mark or the XML declaration, by default UTF-8; all of Python's text encodings
    are known. Comments and processing instructions are left out; CDATA is text.
    """
    with open_binary(path) as stream:
        reader = _Reader(path)
        first = stream.read(BLOCK)
        if not first.strip():
            raise InputError("the XML file is empty", path=path, line=1, remedy="copy or download the file again")
        decoder = codecs.getincrementaldecoder(_find_encoding(first, path))()
        block = first
        while True:
            text = ""
            bad_bytes: UnicodeError | None = None
            try:
                text = decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                bad_bytes = error
                text = error.object[: error.start].decode(error.encoding, "replace")
            except UnicodeError as error:
                bad_bytes = error
            problem = reader.feed(text, last=not block and bad_bytes is None)
            yield from reader.take()
            if problem is not None:
                raise problem
            if bad_bytes is not None:
                raise reader.encoding_error(bad_bytes)
            if not block:
                return
            block = stream.read(BLOCK)


class Element(NamedTuple):
    """A small element kept whole, such as the header of a corpus. ``text`` is its own text if it has no children."""

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    children: tuple[Element, ...] = ()

    def find(self, name: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.name == name), None)

    def get(self, name: str, default: str = "") -> str:
        """An attribute."""
        return dict(self.attributes).get(name, default)


def read_element(start: Event, events: Iterator[Event]) -> Element:
    """The element that ``start`` opens, taking its events up to its end tag."""
    stack: list[tuple[Event, list[str], list[Element]]] = [(start, [], [])]
    for event in events:
        if event.kind == "start":
            stack.append((event, [], []))
        elif event.kind == "text":
            stack[-1][1].append(event.text)
        else:
            first, texts, children = stack.pop()
            text = "".join(texts)
            done = Element(
                first.name, tuple(first.attributes.items()), text.strip() if children else text, tuple(children)
            )
            if not stack:
                return done
            stack[-1][2].append(done)
    raise AssertionError("events come from well-formed XML")


def format_element(element: Element, *, indent: int = 0) -> str:
    """``element`` as XML, each child on a line of its own."""
    lines: list[str] = []
    stack: list[tuple[Element | str, int]] = [(element, indent)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, str):
            lines.append("  " * depth + f"</{item}>")
            continue
        start = "  " * depth + format_tag(item.name, item.attributes)
        if item.children:
            lines.append(start + ">" + escape_text(item.text))
            stack.append((item.name, depth))
            stack.extend((child, depth + 1) for child in reversed(item.children))
        else:
            lines.append(f"{start}>{escape_text(item.text)}</{item.name}>" if item.text else start + "/>")
    return "".join(line + "\n" for line in lines)


def format_tag(name: str, attributes: Iterable[tuple[str, str]]) -> str:
    """``<name a="1"``, to be closed by ``>`` or ``/>``."""
    return f"<{name}" + "".join(f" {key}={escape_attribute(value)}" for key, value in attributes)


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_PLAIN = re.compile(r"[\w .,;:!?()/*+=$%-]*").fullmatch  # most attributes: nothing to check or escape


def escape_text(text: str) -> str:
    """``text`` as XML character data; a character that XML cannot hold is an error."""
    _check_characters(text)
    return saxutils.escape(text, {"\r": "&#13;"})


def escape_attribute(text: str) -> str:
    """``text`` as an attribute value with its quotes; tabs and line ends survive."""
    if _PLAIN(text):
        return f'"{text}"'
    _check_characters(text)
    return saxutils.quoteattr(text)


def _check_characters(text: str) -> None:
    bad = _ILLEGAL.search(text)
    if bad:
        raise TreeglotError(
            f"XML cannot hold the character U+{ord(bad[0]):04X} (in {text[:40]!r})",
            remedy="remove control characters first, or write another format",
        )


_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(rb"<\?xml[^>]*?\bencoding\s*=\s*[\"']([^\"'>]*)[\"']")


def _find_encoding(first: bytes, path: type_path) -> str:
    for mark, encoding in _BOMS:
        if first.startswith(mark):
            return encoding
    declared = _DECLARED.match(first)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii", "replace")
    try:
        codec = codecs.lookup(name)
        codecs.getincrementaldecoder(name)
        # An encoding in which the declaration itself does not read as it stands cannot be the right one; this also
        # excludes codecs that are not text encodings at all (they fail here).
        sound = declared[0].decode(codec.name) == declared[0].decode("ascii")
    except (LookupError, UnicodeError, ValueError, TypeError):
        sound = False
    if not sound:
        raise InputError(
            f"the declared encoding {name!r} is unknown or not that of the file",
            path=path,
            line=1,
            remedy="convert the file to UTF-8 and declare that",
        )
    return codec.name


_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
_UNKNOWN_ENTITY = re.compile(rb"&(?!#|(?:lt|gt|amp|quot|apos);)([^;\s\"'>]*)")
_ENDS_EARLY = {
    expat.errors.codes[text]
    for text in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
}


class _Reader:
    """An expat parser whose handlers collect events."""

    def __init__(self, path: type_path) -> None:
        self.path = path
        self.events: list[Event] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.text_size = 0
        self.text_place = (0, 0)
        self.fed = 0
        self.has_external_type = False
        parser = expat.ParserCreate()
        # No buffer_text: expat would report the place where a buffered text ends, and cut it at the buffer's size.
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity_declaration
        parser.SkippedEntityHandler = self.skipped_entity
        parser.ExternalEntityRefHandler = self.external_entity
        self.parser = parser

    def feed(self, text: str, *, last: bool) -> InputError | None:
        """Parse a block. An error is returned, not raised, so that the events before it can be handed out first."""
        nul = text.find("\0")
        if nul >= 0:
            text = text[:nul]
        try:
            self.parser.Parse(text, last and nul < 0)
        except expat.ExpatError as error:
            return self.syntax_error(error)
        except InputError as error:
            return error
        except UnicodeEncodeError:  # a lone surrogate, from encodings such as utf-7
            return self.error("a character that is not Unicode text", "convert the file to UTF-8, and declare that")
        if nul >= 0:
            return self.error("a NUL byte", "the file is binary or damaged; copy or download it again")
        # With text, expat counts in UTF-8 bytes; characters are a close enough lower bound for a limit.
        self.fed += len(text)
        if self.fed - self.parser.CurrentByteIndex > MAX_MARKUP:
            return self.error(f"a tag or comment of over {MAX_MARKUP:,} characters", "check that the file is complete")
        return None

    def take(self) -> list[Event]:
        events, self.events = self.events, []
        return events

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.text:
            self.flush()
        if len(self.open) >= MAX_DEPTH:
            raise self.error(f"elements nested over {MAX_DEPTH:,} deep", "check that the file has the format you named")
        if self.has_external_type and attributes:
            self.check_entities()
        self.open.append(name)
        parser = self.parser
        self.events.append(
            Event("start", name, attributes, "", parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        )

    def end(self, name: str) -> None:
        if self.text:
            self.flush()
        self.open.pop()
        parser = self.parser
        self.events.append(Event("end", name, {}, "", parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))

    def characters(self, text: str) -> None:
        if not self.text:
            self.text_size = 0
            self.text_place = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        self.text.append(text)
        self.text_size += len(text)
        if self.text_size > MAX_TEXT:
            raise self.error(f"a text of over {MAX_TEXT:,} characters", "check that the file has the format you named")

    def flush(self) -> None:
        self.events.append(Event("text", self.open[-1], {}, "".join(self.text), *self.text_place))
        self.text.clear()

    def doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: bool) -> None:
        self.has_external_type = bool(system_id or public_id)

    def check_entities(self) -> None:
        # Where a document type is named, expat takes an unknown entity in an attribute for one declared there, and
        # drops it without a word.
        context = self.parser.GetInputContext()
        tag = _START_TAG.match(context) if context else None
        unknown = _UNKNOWN_ENTITY.search(tag[0]) if tag else None
        if unknown:
            raise self.unknown_entity(unknown[1].decode("utf-8", "replace"))

    def entity_declaration(self, name: str, is_parameter: bool, *_: object) -> None:
        kind = "parameter entity" if is_parameter else "entity"
        raise self.error(f"the {kind} {name!r} is declared", "write out the entities and remove their declarations")

    def skipped_entity(self, name: str, is_parameter: bool) -> None:
        raise self.unknown_entity(name)

    def external_entity(self, *_: object) -> int:
        raise self.error("a reference to another file", "write out the entities and remove their declarations")

    def unknown_entity(self, name: str) -> InputError:
        return self.error(f"the entity &{name}; is not declared", "write the character itself, or &amp; for a plain &")

    def error(self, message: str, remedy: str) -> InputError:
        parser = self.parser
        return InputError(
            message,
            path=self.path,
            line=parser.CurrentLineNumber,
            column=parser.CurrentColumnNumber + 1,
            remedy=remedy,
        )

    def encoding_error(self, error: UnicodeError) -> InputError:
        what, name = "bytes", "the declared encoding"
        if isinstance(error, UnicodeDecodeError):
            what, name = f"byte 0x{error.object[error.start]:02x}", error.encoding
        return self.error(f"not {name} ({what})", "convert the file to UTF-8, and declare that encoding or none")

    def syntax_error(self, error: expat.ExpatError) -> InputError:
        text = expat.ErrorString(error.code)
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNDEFINED_ENTITY]:
            remedy = "write the character itself, or &amp; for a plain &"
        elif error.code in _ENDS_EARLY:
            within = f" within <{self.open[-1]}>" if self.open else ""
            text, remedy = f"the XML ends too early{within} ({text})", "copy or download the file again"
        else:
            text, remedy = f"not well-formed XML: {text}", "correct the XML; `xmllint --noout FILE` shows the place"
        return InputError(text, path=self.path, line=error.lineno, column=error.offset + 1, remedy=remedy)
