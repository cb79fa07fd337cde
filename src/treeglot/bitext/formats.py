"""All formats of parallel text behind two calls; the format comes from the ending of the file or from its name.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> write_bitext([TextPair("a house", "une maison")], folder / "a.tmx.gz", source_lang="en", target_lang="fr")
1
>>> pairs = read_bitext(folder / "a.tmx.gz", source_lang="en", target_lang="fr")
>>> write_bitext(pairs, folder / "a.en", folder / "a.fr")
1
>>> find_format([folder / "a.en", folder / "a.fr"]).name
'plain'
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from treeglot.bitext.format_options import checked_value, declared_options, describe
from treeglot.bitext.jsonl import read_jsonl, write_jsonl
from treeglot.bitext.moses import read_moses, write_moses
from treeglot.bitext.pair import TextPair
from treeglot.bitext.plain import read_plain, write_plain
from treeglot.bitext.po import read_po, write_po
from treeglot.bitext.tabular import read_tsv, write_tsv
from treeglot.bitext.tmx import read_tmx, write_tmx
from treeglot.errors import ConfigError
from treeglot.files import type_path


@dataclass(frozen=True)
class BitextFormat:
    """A format: its name, the endings that mean it, how many files a corpus has in it, and what reads and writes it."""

    name: str
    about: str
    endings: tuple[str, ...]
    files: int
    read: Callable[..., Iterator[TextPair]]
    write: Callable[..., int]


FORMATS: dict[str, BitextFormat] = {
    item.name: item
    for item in (
        BitextFormat("plain", "two files of plain text", (), 2, read_plain, write_plain),
        BitextFormat("moses", "two files of escaped Moses text", (), 2, read_moses, write_moses),
        BitextFormat("tmx", "translation memory, TMX 1.4", (".tmx",), 1, read_tmx, write_tmx),
        BitextFormat("po", "gettext catalogue", (".po", ".pot"), 1, read_po, write_po),
        BitextFormat("tsv", "tab-separated columns", (".tsv", ".tab"), 1, read_tsv, write_tsv),
        BitextFormat("jsonl", "one JSON object a line", (".jsonl", ".ndjson"), 1, read_jsonl, write_jsonl),
    )
}


def find_format(paths: Sequence[type_path], name: str | None = None) -> BitextFormat:
    """The format called ``name``, or the one that the number of files and their ending mean."""
    if name is not None:
        if name not in FORMATS:
            near = difflib.get_close_matches(name, FORMATS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"unknown format {name!r}", remedy=f"choose from {', '.join(FORMATS)}{hint}")
        chosen = FORMATS[name]
    elif len(paths) == 2:
        chosen = FORMATS["plain"]
    else:
        by_ending = format_by_ending(paths[0]) if paths else None
        if by_ending is None:
            endings = ", ".join(ending for item in FORMATS.values() for ending in item.endings)
            raise ConfigError(
                "the format is not clear from the name of the file",
                path=paths[0] if paths else None,
                remedy=f"name the format ({', '.join(FORMATS)}), use an ending ({endings}), or give two plain files",
            )
        chosen = by_ending
    if len(paths) != chosen.files:
        raise ConfigError(
            f"the format {chosen.name} takes {chosen.files} file{'s'[: chosen.files - 1]}, not {len(paths)}",
            remedy="name the source and the target file" if chosen.files == 2 else "name one file",
        )
    return chosen


def format_by_ending(path: type_path) -> BitextFormat | None:
    """The one-file format whose ending ``path`` has, before ``.gz`` or ``.zst``."""
    name = os.fspath(path).lower().removesuffix(".gz").removesuffix(".zst")
    return next((item for item in FORMATS.values() if item.endings and name.endswith(item.endings)), None)


def read_bitext(
    *paths: type_path,
    format: str | None = None,
    source_lang: str | None = None,
    target_lang: str | None = None,
    skipped: Counter[str] | None = None,
    **options: Any,
) -> Iterator[TextPair]:
    """Stream the pairs of one file, or of a source and a target file.

    Languages and ``skipped`` (what was passed over, and why) are used by the formats that need them; ``options`` are
    those of the format's own reader, for example ``columns`` of `read_tsv`, as values or as text (``"2,1"``).
    """
    chosen = find_format(paths, format)
    common = {"source_lang": source_lang, "target_lang": target_lang, "skipped": skipped}
    return chosen.read(*paths, **_arguments(chosen.read, common, options, chosen.name))


def write_bitext(
    pairs: Iterable[TextPair],
    *paths: type_path,
    format: str | None = None,
    source_lang: str | None = None,
    target_lang: str | None = None,
    **options: Any,
) -> int:
    """Write pairs to one file, or to a source and a target file; returns how many."""
    chosen = find_format(paths, format)
    common = {"source_lang": source_lang, "target_lang": target_lang}
    return chosen.write(pairs, *paths, **_arguments(chosen.write, common, options, chosen.name))


def _arguments(
    function: Callable[..., Any], common: dict[str, Any], options: dict[str, Any], name: str
) -> dict[str, Any]:
    known = declared_options(function)
    own = {option: kind for option, kind in known.items() if option not in common}
    for option in options:
        if option not in own:
            listed = ", ".join(f"{key}={describe(kind)}" for key, kind in own.items()) or "none"
            raise ConfigError(f"the format {name} has no option {option!r}", remedy=f"options: {listed}")
    checked = {option: checked_value(option, value, own[option]) for option, value in options.items()}
    return {key: value for key, value in common.items() if key in known} | checked
