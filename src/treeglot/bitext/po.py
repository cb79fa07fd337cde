"""Gettext PO: the message catalogues of free software. ``msgid`` is the source, ``msgstr`` the target.

Entries that are fuzzy, obsolete or untranslated are passed over unless asked for. A message with plural forms gives
several pairs: ``msgid`` with ``msgstr[0]`` and ``msgid_plural`` with each other form; a language with a single form
(Chinese, Japanese) gives the one pair of ``msgid_plural`` and ``msgstr[0]``, as that is the form that carries the number.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "fr.po"
>>> write_po([TextPair("one\\nfile", "un\\nfichier", metadata=(("context", "menu"),))], path, target_lang="fr")
1
>>> print(path.read_text().split("\\n\\n")[-1], end="")
msgctxt "menu"
msgid ""
"one\\n"
"file"
msgstr ""
"un\\n"
"fichier"
>>> list(read_po(path))
[TextPair(source='one\\nfile', target='un\\nfichier', metadata={'context': 'menu'})]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from treeglot.bitext.pair import TextPair, digest, refuse_surrogates
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d{1,3})\])?\s*(?=")')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
_CHARSET = re.compile(r"charset=([^\s;]*)", re.IGNORECASE)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"'}
_CODES = {ord(character): "\\" + code for code, character in _CONTROLS.items()}
_TABLE = {code: f"\\{code:03o}" for code in [*range(1, 32), 127]} | _CODES

Plurals = Literal["all", "first", "skip"]


def read_po(
    path: type_path,
    *,
    fuzzy: bool = False,
    obsolete: bool = False,
    untranslated: bool = False,
    plurals: Plurals = "all",
    skipped: Counter[str] | None = None,
) -> Iterator[TextPair]:
    """Stream the translated messages of a PO file; ``msgctxt`` is the metadata ``context``.

    ``plurals="first"`` takes one pair of a message with plural forms, ``"skip"`` none. What is passed over is counted in
    ``skipped``.
    """
    counts: Counter[str] = Counter() if skipped is None else skipped
    for entry in _Entries(path).entries():
        if entry.source == "" and entry.context is None:
            _check_charset(entry, path)
        elif entry.obsolete and not obsolete:
            counts["obsolete"] += 1
        elif entry.fuzzy and not fuzzy:
            counts["fuzzy"] += 1
        elif entry.plural is not None and plurals == "skip":
            counts["plural"] += 1
        else:
            for pair in entry.pairs(plurals):
                if pair.target or untranslated:
                    yield pair
                else:
                    counts["untranslated"] += 1


class _Entry:
    def __init__(self, line: int) -> None:
        self.line = line
        self.fuzzy = self.obsolete = False
        self.context: str | None = None
        self.source: str | None = None
        self.plural: str | None = None
        self.targets: list[str] = []

    def pairs(self, plurals: str) -> Iterator[TextPair]:
        source = self.source or ""
        context = () if self.context is None else (("context", self.context),)
        if self.plural is None:
            yield TextPair(source, self.targets[0], "", self.line, context)
            return
        for form, target in enumerate(self.targets[:1] if plurals == "first" else self.targets):
            text = source if form == 0 and len(self.targets) > 1 else self.plural
            yield TextPair(text, target, "", self.line, (*context, ("plural", str(form))))


class _Entries:
    def __init__(self, path: type_path) -> None:
        self.path = path
        self.line = 0
        self.entry: _Entry | None = None
        self.field = ""
        self.keys: dict[bytes, int] = {}

    def entries(self) -> Iterator[_Entry]:
        for number, raw in read_lines(self.path):
            self.line = number
            text = raw.strip()
            obsolete = text.startswith("#~")
            if obsolete:
                text = text[2:].lstrip()
            if not text:
                continue
            if text.startswith(("#", "|")) or (keyword := _KEYWORD.match(text)) is None:
                if text.startswith('"'):
                    self.continue_string(text)
                elif text.startswith("#") or (obsolete and text.startswith("|")):
                    yield from self.finish_if_complete()
                    if text.startswith("#,") and "fuzzy" in (flag.strip() for flag in text[2:].split(",")):
                        self.current().fuzzy = True
                else:
                    raise self.junk(text)
                continue
            name, form = keyword[1], keyword[2]
            if name in ("msgctxt", "msgid"):
                yield from self.finish_if_complete()
            entry = self.current()
            entry.obsolete |= obsolete
            self.start_field(entry, name, form, self.unquote(text[keyword.end() :]))
        if self.entry is not None and self.field:
            yield self.finish(self.entry)

    def current(self) -> _Entry:
        if self.entry is None:
            self.entry, self.field = _Entry(self.line), ""
        return self.entry

    def finish_if_complete(self) -> Iterator[_Entry]:
        if self.entry is not None and self.entry.targets:
            yield self.finish(self.entry)

    def finish(self, entry: _Entry) -> _Entry:
        self.entry, self.field = None, ""
        if not entry.targets:
            raise self.error("msgid without msgstr", 'add msgstr "…", or remove the entry', entry.line)
        if not entry.obsolete:
            key = digest(entry.context or "", "" if entry.context is None else "1", entry.source or "")
            first = self.keys.setdefault(key, entry.line)
            if first != entry.line:
                raise self.error(
                    f"the message {(entry.source or '')[:40]!r} was already defined in line {first}",
                    "remove one of the two, or tell them apart by msgctxt",
                    entry.line,
                )
        return entry

    def start_field(self, entry: _Entry, name: str, form: str | None, text: str) -> None:
        if name != "msgstr" and form is not None:
            raise self.junk(f"{name}[{form}]")
        if name == "msgctxt":
            if self.field:
                raise self.error("msgctxt after " + self.field, "msgctxt stands first in its entry")
            entry.context, entry.line = text, self.line
        elif name == "msgid":
            if self.field not in ("", "msgctxt"):
                raise self.error("msgid without msgstr", 'add msgstr "…", or remove the entry', entry.line)
            entry.line = entry.line if self.field else self.line
            entry.source = text
        elif name == "msgid_plural":
            if self.field != "msgid":
                raise self.error("msgid_plural without msgid", "msgid_plural follows msgid")
            entry.plural = text
        elif entry.source is None:
            raise self.error("msgstr without msgid", 'add msgid "…" before it')
        elif (form is None) != (entry.plural is None):
            wanted = "msgstr" if entry.plural is None else "msgstr[0]"
            raise self.error(f"{wanted} was expected", "msgstr[N] belongs to msgid_plural, msgstr to a plain msgid")
        elif int(form or 0) != len(entry.targets):
            raise self.error("a second msgstr" if form is None else f"msgstr[{form}] is out of order", "number from 0")
        else:
            entry.targets.append(text)
        self.field = name

    def continue_string(self, quoted: str) -> None:
        entry, text = self.entry, self.unquote(quoted)
        if entry is None or not self.field:
            raise self.error("a string that belongs to nothing", "begin with msgid or msgstr")
        if self.field == "msgctxt":
            entry.context = (entry.context or "") + text
        elif self.field == "msgid":
            entry.source = (entry.source or "") + text
        elif self.field == "msgid_plural":
            entry.plural = (entry.plural or "") + text
        else:
            entry.targets[-1] += text

    def unquote(self, quoted: str) -> str:
        match = _STRING.match(quoted)
        if match is None:
            raise self.error("the string is not closed", 'end it with "')
        if quoted[match.end() :].strip():
            raise self.error("text after the string", 'write " inside a string as \\"')
        return _ESCAPE.sub(self.decode_escape, match[1]) if "\\" in match[1] else match[1]

    def decode_escape(self, match: re.Match[str]) -> str:
        code = match[1]
        if code in _CONTROLS:
            return _CONTROLS[code]
        value = int(code, 8) if code.isdigit() and code < "8" else int(code[1:], 16) if len(code) > 1 else 0
        if not 0 < value < 128:
            raise self.error(f"bad escape \\{code}", 'known are \\n \\t \\r \\a \\b \\f \\v \\\\ \\" and ASCII codes')
        return chr(value)

    def junk(self, text: str) -> InputError:
        return self.error(
            f"not a line of a PO file: {text[:40]!r}", 'lines begin with #, msgctxt, msgid, msgid_plural, msgstr or "'
        )

    def error(self, message: str, remedy: str, line: int | None = None) -> InputError:
        return InputError(message, path=self.path, line=line or self.line, remedy=remedy)


def _check_charset(header: _Entry, path: type_path) -> None:
    charset = _CHARSET.search(header.targets[0])
    if charset and charset[1].lower() not in ("", "utf-8", "utf8", "us-ascii", "ascii", "charset"):
        raise InputError(
            f"the header says charset={charset[1]}",
            path=path,
            line=header.line,
            remedy="convert the file first: msgconv --to-code=UTF-8",
        )


def write_po(pairs: Iterable[TextPair], path: type_path, *, target_lang: str | None = None) -> int:
    """Write a PO file without dates; the metadata ``context`` becomes ``msgctxt``.

    PO cannot hold an empty source, nor one source (in one context) with two translations: both are errors. A pair that
    is repeated exactly is written once and counted once.
    """
    count = 0
    written: dict[bytes, bytes] = {}
    with refuse_surrogates(path), atomic_write(path) as out:
        out.write('msgid ""\nmsgstr ""\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n')
        out.write('"Content-Transfer-Encoding: 8bit\\n"\n')
        if target_lang:
            out.write(f'"Language: {_quote(target_lang)[1:-1]}\\n"\n')
        for number, pair in enumerate(pairs, 1):
            context = dict(pair.metadata).get("context")
            if not pair.source and context is None:
                raise TreeglotError(
                    f"pair {number:,} has an empty source, which is the header in PO",
                    path=path,
                    remedy="drop empty pairs first: treeglot bitext clean",
                )
            key, value = digest(pair.source, context or "", str(context is None)), digest(pair.target)
            known = written.setdefault(key, value)
            if known is value:
                if context is not None:
                    out.write(f"\nmsgctxt {_quote(context)}\nmsgid {_quote(pair.source)}\n")
                else:
                    out.write(f"\nmsgid {_quote(pair.source)}\n")
                out.write(f"msgstr {_quote(pair.target)}\n")
                count += 1
            elif known != value:
                raise TreeglotError(
                    f"pair {number:,} translates {pair.source[:40]!r} a second time",
                    path=path,
                    remedy="PO holds one translation a message: drop the others first (duplicates by source)",
                )
    return count


def _quote(text: str) -> str:
    if "\0" in text:
        raise TreeglotError("PO cannot hold a NUL character", remedy="remove control characters first")
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    quoted = [f'"{line.translate(_TABLE)}"' for line in lines]
    return (quoted[0] if quoted else '""') if len(lines) <= 1 else "\n".join(['""', *quoted])
