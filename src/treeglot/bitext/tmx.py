"""TMX 1.4, the exchange format of translation memories: streamed, variants of a language matched by rule.

A translation unit ``<tu>`` has one variant ``<tuv>`` a language, with the text in ``<seg>``. Inside a segment, ``bpt ept
ph it ut`` hold codes of the original document (dropped, with what is in them), ``sub`` is a text inside such a code
(dropped with it) and ``hi`` marks a stretch of the text itself (its text stays). Which languages match is said in
`treeglot.bitext.languages`.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.tmx"
>>> write_tmx([TextPair("a <house>", "une maison", id="7")], path, source_lang="en-US", target_lang="fr")
1
>>> list(read_tmx(path, source_lang="en", target_lang="fr"))
[TextPair(source='a <house>', target='une maison', id='7')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal
from xml.parsers import expat

from treeglot.bitext.languages import match_rank
from treeglot.bitext.pair import TextPair, refuse_surrogates
from treeglot.errors import ConfigError, InputError, TreeglotError
from treeglot.files import atomic_write, type_path
from treeglot.xmlstream import Event, escape_attribute, escape_text, iterate_events

CODES = frozenset(("bpt", "ept", "ph", "it", "ut", "sub"))
INLINE = CODES | {"hi"}

Inline = Literal["drop", "keep"]


def read_tmx(
    path: type_path,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    inline: Inline = "drop",
    several: Literal["first", "all"] = "first",
    missing: Literal["skip", "error"] = "skip",
    skipped: Counter[str] | None = None,
) -> Iterator[TextPair]:
    """Stream the pairs of a TMX file.

    ``inline="keep"`` gives segments as XML, inline tags and all. Of several equally good variants of a language the
    first is taken, or with ``several="all"`` every combination. A unit without one of the languages is passed over and
    counted in ``skipped``, or with ``missing="error"`` refused; a file in which no unit has both is always refused.
    """
    parser = _Units(path, inline)
    units = pairs = 0
    seen: dict[str, None] = {}
    for unit in parser.units():
        units += 1
        for language, _ in unit.variants:
            seen.setdefault(language)
        if not source_lang or not target_lang:
            raise InputError(
                f"which languages are wanted? this file has {', '.join(seen)}",
                path=path,
                line=unit.line,
                remedy="name the source and the target language",
            )
        sources, targets = unit.best(source_lang), unit.best(target_lang)
        if not sources or not targets:
            lacking = " and ".join(
                name for name, segments in ((source_lang, sources), (target_lang, targets)) if not segments
            )
            if missing == "error":
                raise InputError(
                    f"a unit without {lacking} (it has {', '.join(name for name, _ in unit.variants)})",
                    path=path,
                    line=unit.line,
                    remedy="add the missing variant, or let such units be skipped",
                )
            if skipped is not None:
                skipped[f"no {lacking}"] += 1
            continue
        if several == "first":
            del sources[1:], targets[1:]
        for source in sources:
            for target in targets:
                pairs += 1
                yield TextPair(source, target, unit.id, unit.line, tuple(unit.metadata.items()))
    if units and not pairs:
        raise InputError(
            f"none of the {units:,} units has both {source_lang} and {target_lang}",
            path=path,
            line=1,
            remedy=f"choose from the languages of the file: {', '.join(list(seen)[:20])}",
        )


class _Unit:
    def __init__(self, line: int, name: str) -> None:
        self.line = line
        self.id = name
        self.variants: list[tuple[str, str]] = []
        self.metadata: dict[str, str] = {}

    def best(self, wanted: str) -> list[str]:
        """The texts of the variants that match best; of several regions of a language, the first one's."""
        ranked = [(rank, tag, text) for tag, text in self.variants if (rank := match_rank(wanted, tag)) is not None]
        if not ranked:
            return []
        rank, tag, _ = min(ranked, key=lambda item: item[0])
        return [text for r, t, text in ranked if r == rank and t == tag]

    def add(self, key: str, text: str) -> None:
        self.metadata[key] = f"{self.metadata[key]}\n{text}" if key in self.metadata else text


class _Units:
    """The states of a TMX file: outside, in a unit, in a variant, in a segment."""

    def __init__(self, path: type_path, inline: Inline) -> None:
        self.path = path
        self.keep = inline == "keep"
        self.unit: _Unit | None = None
        self.language: str | None = None
        self.segment: str | None = None
        self.parts: list[str] | None = None
        self.codes = 0
        self.kept: list[int] = []  # for each open inline element, where its start tag is in `parts`
        self.noting: tuple[str, list[str]] | None = None

    def units(self) -> Iterator[_Unit]:
        events = iterate_events(self.path)
        root = next(events)
        if root.name != "tmx":
            raise self.error(root, f"the root element is <{root.name}>, not <tmx>", "check that this is a TMX file")
        for event in events:
            if event.kind == "text":
                self.text(event)
            elif event.kind == "start":
                self.start(event)
            else:
                done = self.end(event)
                if done is not None:
                    yield done

    def start(self, event: Event) -> None:
        name = event.name
        if self.parts is not None:
            self.start_inline(event, self.parts)
        elif name == "tu":
            if self.unit is not None:
                raise self.error(event, "<tu> inside <tu>", "close the unit before")
            self.unit = _Unit(event.line, event.attributes.get("tuid", ""))
        elif name == "tuv":
            if self.unit is None or self.language is not None:
                raise self.error(event, "<tuv> must stand directly in <tu>", "correct the nesting")
            language = event.attributes.get("xml:lang") or event.attributes.get("lang")
            if not language or not language.strip():
                raise self.error(event, "<tuv> without a language", 'add xml:lang="…"')
            self.language, self.segment = language, None
        elif name == "seg":
            if self.language is None:
                raise self.error(event, "<seg> outside <tuv>", "put it into a <tuv> with its language")
            if self.segment is not None:
                raise self.error(event, "a second <seg> in one <tuv>", "give each text its own <tuv>")
            self.parts = []
        elif name in ("prop", "note") and self.unit is not None and self.language is None:
            self.noting = (event.attributes.get("type", "prop") if name == "prop" else "note", [])

    def start_inline(self, event: Event, parts: list[str]) -> None:
        if event.name not in INLINE:
            what = "<seg> inside <seg>" if event.name == "seg" else f"<{event.name}> is no inline element of TMX"
            raise self.error(event, what, f"inside <seg> there may be text and {', '.join(sorted(INLINE))}")
        if self.keep:
            attributes = "".join(f" {key}={escape_attribute(value)}" for key, value in event.attributes.items())
            self.kept.append(len(parts))
            parts.append(f"<{event.name}{attributes}>")
        elif event.name in CODES:
            self.codes += 1

    def text(self, event: Event) -> None:
        if self.parts is not None:
            if self.keep:
                self.parts.append(escape_text(event.text))
            elif not self.codes:
                self.parts.append(event.text)
        elif self.noting is not None:
            self.noting[1].append(event.text)

    def end(self, event: Event) -> _Unit | None:
        name = event.name
        if self.parts is not None:
            if name == "seg":
                self.segment, self.parts = "".join(self.parts), None
            elif self.keep:
                if self.kept.pop() == len(self.parts) - 1:
                    self.parts[-1] = self.parts[-1][:-1] + "/>"
                else:
                    self.parts.append(f"</{name}>")
            elif name in CODES:
                self.codes -= 1
        elif name == "tuv" and self.unit is not None and self.language is not None:
            if self.segment is None:
                raise self.error(event, "<tuv> without <seg>", "add the text, or remove the variant")
            self.unit.variants.append((self.language, self.segment))
            self.language = None
        elif name == "tu" and self.unit is not None:
            unit, self.unit = self.unit, None
            if not unit.variants:
                raise InputError(
                    "<tu> without <tuv>", path=self.path, line=unit.line, remedy="add its variants, or remove the unit"
                )
            return unit
        elif name in ("prop", "note") and self.noting is not None and self.unit is not None:
            key, texts = self.noting
            self.unit.add(key, "".join(texts))
            self.noting = None
        return None

    def error(self, event: Event, message: str, remedy: str) -> InputError:
        return InputError(message, path=self.path, line=event.line, column=event.column, remedy=remedy)


def write_tmx(
    pairs: Iterable[TextPair],
    path: type_path,
    *,
    source_lang: str | None = None,
    target_lang: str | None = None,
    inline: Inline = "drop",
) -> int:
    """Write TMX 1.4 (no dates, so that the same pairs give the same bytes); ids and metadata are kept.

    With ``inline="keep"`` the texts are XML as `read_tmx` gives it with the same option.
    """
    if not source_lang or not target_lang:
        raise ConfigError("TMX needs two languages", path=path, remedy="name the source and the target language")
    from treeglot import __version__

    encode = _check_inline if inline == "keep" else escape_text
    open_source, open_target = (
        f"<tuv xml:lang={escape_attribute(language)}><seg>" for language in (source_lang, target_lang)
    )
    count = 0
    with refuse_surrogates(path), atomic_write(path) as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n')
        out.write(
            f'<header creationtool="treeglot" creationtoolversion="{__version__}" segtype="sentence" o-tmf="treeglot"'
            f' adminlang="en" srclang={escape_attribute(source_lang)} datatype="plaintext"/>\n<body>\n'
        )
        for pair in pairs:
            count += 1
            try:
                name = f" tuid={escape_attribute(pair.id)}" if pair.id else ""
                notes = "".join(_note(key, value) for key, value in pair.metadata)
                out.write(
                    f"<tu{name}>{notes}\n{open_source}{encode(pair.source)}</seg></tuv>\n"
                    f"{open_target}{encode(pair.target)}</seg></tuv>\n</tu>\n"
                )
            except TreeglotError as error:
                error.message += f" in pair {count:,}"
                raise error.at(path) from None
        out.write("</body>\n</tmx>\n")
    return count


def _note(key: str, value: str) -> str:
    if key == "note":
        return f"<note>{escape_text(value)}</note>"
    return f"<prop type={escape_attribute(key)}>{escape_text(value)}</prop>"


def _check_inline(text: str) -> str:
    """A fragment of XML with inline elements only; inside an element expat accepts no declarations, so this is safe."""
    names: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, _: names.append(name)
    try:
        parser.Parse(f"<seg>{text}</seg>", True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise TreeglotError(
            f"not well-formed XML ({error}): {text[:40]!r}", remedy='write with inline="drop" if it is plain text'
        ) from None
    unknown = set(names[1:]) - INLINE
    if unknown:
        raise TreeglotError(
            f"<{min(unknown)}> is no inline element of TMX", remedy=f"use only {', '.join(sorted(INLINE))}"
        )
    return text
