"""Tables as Moses' text. Phrases out and in: ``phrase-table``, ``reordering-table.wbe-msd-bidirectional-fe``, ``lex.e2f``/``lex.f2e``;
rules of words and gaps out: ``rule-table``.

Exported files have Moses' columns, number format and order of lines, so that programs made for them work. An imported table
keeps its scores (and its counts, if all lines have them); the input need not be sorted. A word ``|||`` in a phrase, which
Moses' format has no room for, is written ``&#124;&#124;&#124;``; in rules so is every ``|||``, and a word in square brackets, which would
be a category, has ``&#91;`` and ``&#93;``. Lines are made natively and packed by gzip beside that, in a thread for each file.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "text").write_text("das haus ||| the house ||| 0.5 0.4 1 0.25 ||| 0-0 1-1\\n")
>>> import_moses(folder / "text", folder / "t.table").pairs
1
>>> export_moses(PhraseTable(folder / "t.table"), folder / "again")
[PosixPath('.../again')]
>>> (folder / "again").read_text()
'das haus ||| the house ||| 0.5 0.4 1 0.25 ||| 0-0 1-1 ||| ||| |||\\n'
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from treeglot._core import tables as core
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_path, atomic_write_binary, decode_line, open_binary
from treeglot.progress import track
from treeglot.tables.corpus import parse_memory
from treeglot.tables.rules import RuleTable
from treeglot.tables.table import PhraseTable

PHRASES = "phrase-table"
REORDERING = "reordering-table.wbe-msd-bidirectional-fe"
RULES = "rule-table"

_Path = str | os.PathLike[str]
_BLOCK = 1 << 20
_WAITING = 16  # blocks of text that may wait for packing


class ImportReport(NamedTuple):
    """What was read. Pairs ``without_reordering`` get probabilities of 1, which change no decision; lines of the reordering
    table that have no pair are ``unused_reordering``."""

    pairs: int
    sources: int
    without_reordering: int
    unused_reordering: int


def export_moses(
    table: PhraseTable, out: _Path, *, reordering: _Path | None = None, compress: bool = True
) -> list[Path]:
    """Write a table as text and return the files.

    If ``out`` is a folder it gets the phrase table, the reordering table and both lexical tables under Moses' names, those
    that the table has (packed with gzip if ``compress``); else ``out`` is the phrase table and ``reordering`` the other.
    """
    folder = Path(out)
    lexical: list[Path] = []
    if folder.is_dir():
        ending = ".gz" if compress else ""
        phrases = folder / (PHRASES + ending)
        orders = folder / (REORDERING + ending) if table.has_reordering else None
        if table.core.lexicon_size:
            lexical = [folder / "lex.e2f", folder / "lex.f2e"]
    else:
        phrases, orders = folder, None if reordering is None else Path(reordering)
    if orders is not None and not table.has_reordering:
        raise TreeglotError(
            "the table has no reordering probabilities", path=table.path, remedy="export the phrase table alone"
        )
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(_writing(phrases))
        second = stack.enter_context(_writing(orders)) if orders is not None else None
        with table.blame():
            table.core.export_moses(first, second)
    if lexical:
        with atomic_write_binary(lexical[0]) as e2f, atomic_write_binary(lexical[1]) as f2e, table.blame():
            table.core.export_lexicon(e2f.write, f2e.write)
    return [phrases, *([orders] if orders is not None else []), *lexical]


def export_moses_rules(table: RuleTable, out: _Path, *, memory: str | int = "256m") -> Path:
    """Write a rule table as the text that Moses' chart decoder reads, and return the file.

    The rules must be of words and gaps. Lines are in Moses' order; beyond ``memory`` sorting goes to disk, beside ``out``.
    """
    final = Path(out)
    with _writing(final) as write, table.blame():
        try:
            table.core.export_moses(write, os.fspath(final.absolute().parent), parse_memory(memory))
        except ValueError as error:
            raise TreeglotError(
                str(error), path=table.path, remedy="only rules of words and gaps have this form"
            ) from None
    return final


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[Callable[[bytes], object]]:
    """A file that gets its name when the block ends well, as a function that takes its next bytes. Packing is done by a thread
    of its own, in the order of the calls; what goes wrong there is raised by a later call or at the end."""
    if path.suffix != ".gz":
        with atomic_write_binary(path) as stream:
            yield stream.write
        return
    packer = core.GzipPacker()
    waiting: deque[Future[int]] = deque()
    with atomic_path(path) as temporary, temporary.open("wb") as raw, ThreadPoolExecutor(1) as thread:

        def write(text: bytes) -> None:
            waiting.append(thread.submit(lambda: raw.write(packer.add(text))))
            if len(waiting) > _WAITING:
                waiting.popleft().result()

        try:
            yield write
            for block in waiting:
                block.result()
        finally:
            thread.shutdown(cancel_futures=True)
        raw.write(packer.finish())
        raw.flush()
        os.fsync(raw.fileno())


def import_moses(
    phrase_table: _Path,
    out: _Path,
    *,
    reordering: _Path | None = None,
    memory: str | int = "1g",
    folder: _Path | None = None,
) -> ImportReport:
    """Make a table with the scores of a Moses phrase table and, if given, its reordering table (msd-bidirectional-fe).

    ``out`` appears only when it is complete; ``folder`` takes temporary files (default: where ``out`` will be).
    """
    names = [os.fspath(phrase_table), *([os.fspath(reordering)] if reordering is not None else [])]
    final = Path(out)
    with atomic_path(final) as temporary:
        try:
            importer = core.MosesImporter(os.fspath(folder or final.absolute().parent), parse_memory(memory))
            for number, name in enumerate(names):
                _feed(importer, name, number == 1)
            return ImportReport(*importer.finish(str(temporary)))
        except ValueError as error:
            if len(error.args) != 3:
                raise
            in_reordering, line, message = error.args
            raise InputError(
                message, path=names[in_reordering], line=line, remedy="give a table as Moses' training writes it"
            ) from None
        except RuntimeError as error:
            raise TreeglotError(str(error), path=final, remedy="free disk space, or give another folder") from None


def _feed(importer: core.MosesImporter, name: str, reordering: bool) -> None:
    first = 1
    with open_binary(name) as stream:
        for lines in track(iter(lambda: stream.readlines(_BLOCK), []), f"reading {name} (MB)"):
            text = b"".join(lines)
            try:
                if b"\0" in text:
                    raise ValueError
                text.decode("utf-8")
            except ValueError:
                for number, line in enumerate(lines, start=first):
                    decode_line(line, name, number)
            importer.add(text, reordering)
            first += len(lines)
    if first == 1:
        raise InputError("the table is empty", path=name, line=1, remedy="give a table as Moses' training writes it")
