"""Broken gettext catalogues."""

from __future__ import annotations

from pathlib import Path

from bad_inputs import BadInput
from treeglot.bitext import read_po

_GOOD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr "x"\n'


def _read(folder: Path) -> object:
    return read_po(folder / "a.po")


def _case(name: str, text: str, line: int, says: str) -> BadInput:
    """``text`` begins in line 6, after a header and a sound message."""
    return BadInput(f"po-{name}", {"a.po": (_GOOD + text).encode()}, _read, line, says)


CASES = [
    _case("unterminated", 'msgid "b\nmsgstr "y"\n', 6, "not closed"),
    _case("unterminated-escape", 'msgid "b\\"\nmsgstr "y"\n', 6, "not closed"),
    _case("text-after-string", 'msgid "say "b""\nmsgstr "y"\n', 6, "text after the string"),
    _case("no-msgid", '\n# comment\nmsgstr "y"\n', 8, "msgstr without msgid"),
    _case("second-msgstr", 'msgstr "y"\n', 6, "a second msgstr"),
    _case("no-msgstr", 'msgid "b"\nmsgid "c"\nmsgstr "z"\n', 6, "msgid without msgstr"),
    _case("no-msgstr-at-end", 'msgid "b"\n', 6, "msgid without msgstr"),
    _case("duplicate", 'msgid "b"\nmsgstr "y"\nmsgid "a"\nmsgstr "z"\n', 8, "already defined in line 4"),
    _case("bad-escape", 'msgid "b\\q"\nmsgstr "y"\n', 6, "bad escape \\q"),
    _case("byte-escape", 'msgid "b"\nmsgstr "\\351"\n', 7, "bad escape \\351"),
    _case("junk", "hello world\n", 6, "not a line of a PO file"),
    _case("unquoted", "msgid b\n", 6, "not a line of a PO file"),
    _case("string-of-nothing", '\n# comment\n"b"\n', 8, "belongs to nothing"),
    _case("plural-without-forms", 'msgid "b"\nmsgid_plural "bs"\nmsgstr "y"\n', 8, "msgstr[0] was expected"),
    _case("forms-without-plural", 'msgid "b"\nmsgstr[0] "y"\n', 7, "msgstr was expected"),
    _case("forms-out-of-order", 'msgid "b"\nmsgid_plural "bs"\nmsgstr[1] "y"\n', 8, "out of order"),
    _case("plural-alone", 'msgid_plural "bs"\nmsgstr[0] "y"\n', 6, "msgid_plural without msgid"),
    _case("context-late", 'msgid "b"\nmsgctxt "m"\nmsgstr "y"\n', 7, "msgctxt after msgid"),
    BadInput(
        "po-charset",
        {"a.po": b'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n'},
        _read,
        1,
        "charset=ISO-8859-1",
    ),
    BadInput("po-latin1", {"a.po": b'msgid "a"\nmsgstr "\xe9"\n'}, _read, 2, "not UTF-8"),
]
