"""JSON lines: one object a line, ``{"source": …, "target": …}`` or ``{"translation": {"en": …, "fr": …}}``.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
>>> _ = path.write_text('{"translation": {"en": "a house", "fr": "une maison"}, "score": 0.5}\\n')
>>> list(read_jsonl(path, source_lang="en", target_lang="fr"))
[TextPair(source='a house', target='une maison', metadata={'score': '0.5'})]
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from treeglot.bitext.pair import TextPair, refuse_surrogates
from treeglot.errors import ConfigError, InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path


class Json(str):
    """A value that was no string, as JSON text: metadata are strings, and this one is written as it was read."""

    __slots__ = ()


def read_jsonl(
    path: type_path,
    *,
    source_field: str = "source",
    target_field: str = "target",
    id_field: str = "id",
    translation_field: str = "translation",
    source_lang: str | None = None,
    target_lang: str | None = None,
) -> Iterator[TextPair]:
    """Stream the pairs of a JSON lines file; empty lines are passed over.

    Where an object has ``translation_field``, the texts are taken from it by ``source_lang`` and ``target_lang``. Other
    fields become metadata; those that are not strings as JSON text, which `write_jsonl` writes as it was.
    """
    for line, text in read_lines(path):
        if not text.strip():
            continue
        record = _parse(text, path, line)
        inner, keys = record, (source_field, target_field)
        used = {source_field, target_field, id_field}
        if not (source_field in record and target_field in record) and isinstance(record.get(translation_field), dict):
            inner = record[translation_field]
            if source_lang is None or target_lang is None:
                raise InputError(
                    f"which of the languages {', '.join(map(repr, inner))} are source and target?",
                    path=path,
                    line=line,
                    remedy="name the source and the target language",
                )
            keys = source_lang, target_lang
            used = {translation_field, id_field}
        source, target = (_text(inner, key, path, line) for key in keys)
        name = record.get(id_field, "")
        metadata = tuple(
            (_check_unicode(key, path, line), _as_text(value, path, line))
            for key, value in record.items()
            if key not in used
        )
        yield TextPair(source, target, "" if name is None else _as_text(name, path, line), line, metadata)


def _parse(text: str, path: type_path, line: int) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}", path=path, line=line, column=error.colno, remedy="write one JSON object a line"
        ) from None
    except (RecursionError, ValueError) as error:  # brackets nested too deep; numbers of thousands of digits
        raise _unreadable(str(error), path, line) from None
    if not isinstance(record, dict):
        raise InputError(
            f"a JSON {type(record).__name__}, not an object", path=path, line=line, remedy="write one object a line"
        )
    return record


def _text(record: dict[str, Any], key: str, path: type_path, line: int) -> str:
    if key not in record:
        raise InputError(
            f"no field {key!r} (fields: {', '.join(map(repr, record)) or 'none'})",
            path=path,
            line=line,
            remedy="name the fields, or the languages, that hold source and target",
        )
    value = record[key]
    if not isinstance(value, str):
        raise InputError(
            f"the field {key!r} is not a string", path=path, line=line, remedy="write the text as a JSON string"
        )
    return _check_unicode(value, path, line)


def _as_text(value: Any, path: type_path, line: int) -> str:
    if not isinstance(value, str):
        try:
            value = Json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        except RecursionError:
            raise _unreadable("nested too deep", path, line) from None
    return _check_unicode(value, path, line)


def _unreadable(why: str, path: type_path, line: int) -> InputError:
    return InputError(
        f"JSON that cannot be read ({why})", path=path, line=line, remedy="write one flat JSON object a line"
    )


def _check_unicode(text: str, path: type_path, line: int) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"half a surrogate pair (\\u{ord(text[error.start]):04x})",
            path=path,
            line=line,
            remedy="write the character itself, or both halves of the pair",
        ) from None
    return text


def write_jsonl(
    pairs: Iterable[TextPair],
    path: type_path,
    *,
    source_field: str = "source",
    target_field: str = "target",
    id_field: str = "id",
    translation_field: str = "",
    source_lang: str | None = None,
    target_lang: str | None = None,
) -> int:
    """Write one object a line, flat, or nested by language if ``translation_field`` is given."""
    if translation_field and (not source_lang or not target_lang or source_lang == target_lang):
        raise ConfigError(
            "nested JSON needs two languages", path=path, remedy="name the source and the target language"
        )
    count = 0
    with refuse_surrogates(path), atomic_write(path) as out:
        for pair in pairs:
            record: dict[str, Any]
            if translation_field:
                record = {translation_field: {source_lang: pair.source, target_lang: pair.target}}
            else:
                record = {source_field: pair.source, target_field: pair.target}
            if pair.id:
                record[id_field] = _value(pair.id)
            for key, value in pair.metadata:
                if key in record or key == id_field:
                    raise TreeglotError(
                        f"the metadata {key!r} would overwrite a field", path=path, remedy="choose other field names"
                    )
                record[key] = _value(value)
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    return count


def _value(text: str) -> Any:
    return json.loads(text) if isinstance(text, Json) else text
