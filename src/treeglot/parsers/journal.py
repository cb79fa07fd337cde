"""The journal of a parsing run: finished batches on disk, so that a killed run continues where it stopped.

One line per batch with a checksum, appended as batches finish, in order; the first line says what the run is about. A
line that was cut off by a crash fails its checksum and is dropped with everything after it. A journal of another input,
parser or setting is not continued but started anew.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "run.journal"
>>> with Journal(path, {"input": "a"}) as journal:
...     journal.append({"n": 1}); journal.append({"n": 2})
>>> _ = path.write_bytes(path.read_bytes()[:-3])
>>> with Journal(path, {"input": "a"}) as journal:
...     journal.size, list(journal)
(1, [{'n': 1}])
>>> with Journal(path, {"input": "b"}) as journal:
...     journal.size, journal.discarded
(0, True)
"""

from __future__ import annotations

import fcntl
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from treeglot.errors import ParserError

VERSION = 1
Record = dict[str, Any]


class Journal:
    """An append-only file of records. ``size`` is the number of records, ``discarded`` whether an older run of something
    else was thrown away. Only one process may hold it."""

    def __init__(self, path: Path, about: Mapping[str, Any], *, resume: bool = True) -> None:
        self.path = path
        self.size = 0
        self.discarded = False
        self._header = {"treeglot journal": VERSION, **about}
        self._stream = self._open()
        self._recover(resume)

    def append(self, record: Record) -> None:
        """Add a record; it is safe from a killed process when this returns."""
        self._stream.seek(0, 2)
        self._stream.write(_encode(record))
        self._stream.flush()
        self.size += 1

    def __iter__(self) -> Iterator[Record]:
        """All records in order (the header is not one)."""
        with self.path.open("rb") as stream:
            stream.readline()
            for _ in range(self.size):
                record = _decode(stream.readline())
                if record is None:
                    raise ParserError("the journal changed on disk", path=self.path, remedy="delete it and start again")
                yield record

    def remove(self) -> None:
        """Delete the file: its content has reached the outputs."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> BinaryIO:
        if not self.path.parent.is_dir():
            raise ParserError("the folder does not exist", path=self.path.parent, remedy="create it first")
        stream = self.path.open("a+b")
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.close()
            raise ParserError(
                "another run is writing this output", path=self.path, remedy="wait for it, or write to another file"
            ) from None
        return stream

    def _recover(self, resume: bool) -> None:
        stream = self._stream
        stream.seek(0)
        header = _decode(stream.readline())
        good = stream.tell()
        if not resume or header != json.loads(json.dumps(self._header)):
            self.discarded = header is not None and resume
            stream.truncate(0)
            stream.seek(0)
            stream.write(_encode(self._header))
            stream.flush()
            return
        while _decode(stream.readline()) is not None:
            self.size += 1
            good = stream.tell()
        stream.truncate(good)


def _encode(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode(line: bytes) -> Record | None:
    """The record of a line, or None if the line is incomplete or damaged."""
    if len(line) < 10 or not line.endswith(b"\n"):
        return None
    text = line[9:-1]
    try:
        if int(line[:8], 16) != zlib.crc32(text):
            return None
        record = json.loads(text.decode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
