"""Phrase tables for decoders: the stored table, mapped into memory, or Moses' text files, read into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from treeglot._core import search as core
from treeglot.errors import InputError
from treeglot.files import decode_line, open_binary

_BLOCK = 1 << 22


def read_moses_phrases(
    path: str | os.PathLike[str], reordering: str | os.PathLike[str] | None = None
) -> core.TextPhraseTable:
    """Read Moses' text phrase table and, if given, its msd-bidirectional-fe reordering table (plain, gz, zst)."""
    table = core.TextPhraseTable()
    _feed(path, table.add_phrases)
    if reordering is not None:
        _feed(reordering, table.add_reordering)
    table.finish()
    return table


def open_phrases(path: str | os.PathLike[str], *, verify: bool = False) -> core.StoredPhrases:
    """Map a stored phrase table into memory; ``verify`` reads all of it and checks the checksum."""
    name = os.fspath(path)
    try:
        return core.StoredPhrases(name, verify)
    except RuntimeError as error:
        raise InputError(str(error), path=name, line=1, remedy="build the table again") from None


def _feed(path: str | os.PathLike[str], add: Callable[[bytes], int]) -> None:
    number = 0
    for block in _blocks(path):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            for offset, line in enumerate(block.splitlines(keepends=True), start=1):
                decode_line(line, path, number + offset)
        try:
            number += add(block)
        except ValueError as error:
            line_in_block, message = error.args
            raise InputError(
                message,
                path=path,
                line=number + line_in_block,
                remedy="give lines as Moses writes them: source ||| target ||| scores ||| links",
            ) from None


def _blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    rest = b""
    with open_binary(path) as stream:
        while block := stream.read(_BLOCK):
            lines, newline, tail = block.rpartition(b"\n")
            if newline:
                yield rest + lines + newline
                rest = tail
            else:
                rest += block
    if rest:
        yield rest
