"""Opening and writing files: compression by ending, exact error places, and no half-written results.

Readers get lines with their numbers from `read_lines`, which refuses what a text file must not contain (bytes that are
not UTF-8, NUL, lines of a megabyte). Writers use `atomic_write`: the file appears under its final name only when it is
complete, and the same content gives the same bytes (gzip headers carry no time).
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, TextIO, cast

import zstandard

from treeglot.errors import InputError, TreeglotError

if TYPE_CHECKING:
    from typing_extensions import Buffer

type_path = str | os.PathLike[str]

MAX_LINE_BYTES = 1_000_000
"""Default limit for one line of text. A longer one is nearly always a file of another format."""

MAX_RATIO = 250
"""How many times its size an archive may unpack to; text packs to a third, lines that repeat to a fiftieth."""
UNPACKED_ANYWAY = 1 << 26
"""So many bytes may come out of any archive."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_BOM = b"\xef\xbb\xbf"


@contextlib.contextmanager
def open_binary(path: type_path) -> Iterator[BinaryIO]:
    """Open ``path`` for reading bytes, unpacking ``.gz`` and ``.zst``; ``-`` is standard input.

    A missing file, a folder, or a truncated or corrupt archive is an `InputError`.
    """
    name = os.fspath(path)
    if name == "-":
        yield sys.stdin.buffer
        return
    with contextlib.ExitStack() as stack:
        try:
            raw = stack.enter_context(Path(name).open("rb"))
        except FileNotFoundError:
            raise InputError("no such file", path=name, remedy="check the path") from None
        except IsADirectoryError:
            raise InputError("is a folder, not a file", path=name, remedy="name a file in it") from None
        except PermissionError:
            raise InputError("may not be read", path=name, remedy="change the file's permissions") from None
        packed = _Counted(raw)
        if name.endswith(".gz"):
            archive = gzip.GzipFile(fileobj=cast(BinaryIO, packed), mode="rb")
            unpacked: io.BufferedIOBase | io.RawIOBase = stack.enter_context(archive)
        elif name.endswith(".zst"):
            unpacked = _ZstdReader(packed)
        else:
            yield raw
            return
        yield cast(BinaryIO, io.BufferedReader(_Archive(unpacked, packed, name), 65_536))


class _Counted:
    """A file that knows how many bytes were read."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self.count += len(data)
        return data


class _Archive(io.RawIOBase):
    """Unpacked bytes of the file ``path``, which is named if they cannot be unpacked: here, because the caller may read several
    archives at a time."""

    def __init__(self, unpacked: io.BufferedIOBase | io.RawIOBase, packed: _Counted, path: str) -> None:
        self._unpacked, self._packed, self._path = unpacked, packed, path
        self._total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        try:
            size = self._unpacked.readinto(buffer)
        except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            raise InputError(
                f"damaged or truncated archive ({error})",
                path=self._path,
                line=1,
                remedy="copy or download the file again",
            ) from None
        self._total += size or 0
        if self._total > UNPACKED_ANYWAY and self._total > MAX_RATIO * self._packed.count:
            raise InputError(
                f"unpacks to more than {MAX_RATIO} times its size, which no text does",
                path=self._path,
                remedy="if it is what it should be, unpack it and give the plain file",
            )
        return size


class _ZstdReader(io.RawIOBase):
    """Unpacks zstd frames; unlike the reader of `zstandard` it does not take a truncated file for a complete one."""

    def __init__(self, raw: _Counted) -> None:
        self._raw = raw
        self._packed = b""
        self._ready = memoryview(b"")
        self._frame: zstandard.ZstdDecompressionObj | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        while not self._ready:
            # Small blocks, because a few bytes may unpack to a hundred thousand times as many.
            packed = self._packed or self._raw.read(2048)
            self._packed = b""
            if not packed:
                if self._frame is not None:
                    raise EOFError("the last zstd frame is cut off")
                return 0
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(packed))
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def iterate_lines(
    stream: BinaryIO, path: type_path | None = None, *, max_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, text without line end) for each line of an open binary stream; see `read_lines`."""
    number = 0
    while True:
        raw = stream.readline(max_bytes + 2)
        if not raw:
            return
        number += 1
        if number == 1:
            raw = raw.removeprefix(_BOM)
        yield number, decode_line(raw, path, number, max_bytes=max_bytes)


def decode_line(raw: bytes, path: type_path | None, number: int, *, max_bytes: int = MAX_LINE_BYTES) -> str:
    """Decode one line strictly as UTF-8, without its line end (``\\n`` or ``\\r\\n``)."""
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > max_bytes:
        raise InputError(
            f"the line is longer than {max_bytes:,} bytes",
            path=path,
            line=number,
            remedy="split the line, or check that the file has the format you named",
        )
    if b"\0" in line:
        raise InputError(
            "a NUL byte",
            path=path,
            line=number,
            column=line.index(b"\0") + 1,
            remedy="the file is binary or damaged; convert it to UTF-8 text",
        )
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 (byte 0x{line[error.start]:02x})",
            path=path,
            line=number,
            column=len(line[: error.start].decode("utf-8")) + 1,
            remedy="convert the file first, for example with: iconv -f latin1 -t utf-8",
        ) from None


def read_lines(path: type_path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """Stream the lines of a text file as (1-based number, text without line end).

    A byte-order mark is dropped, ``\\r\\n`` counts as a line end; bytes that are not UTF-8, NUL bytes and lines over
    ``max_bytes`` are `InputError`s that name the line.
    """
    with open_binary(path) as stream:
        yield from iterate_lines(stream, path, max_bytes=max_bytes)


def check_mapped() -> None:
    """Refuse to give away what was made with a mapped file that was cut short in the meantime: what is gone reads as zeros."""
    core = sys.modules.get("treeglot._core")
    if core is None:
        return
    try:
        core.files.check_mapped_files()
    except RuntimeError as error:
        raise TreeglotError(str(error), remedy="make the file again, and repeat the command") from None


def check_regular(path: type_path) -> None:
    """Refuse what is no file of bytes: opening a FIFO would wait for a writer, and what it gives can be read only once."""
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("no such file", path=path, remedy="check the path") from None
    except PermissionError:
        raise InputError("may not be read", path=path, remedy="change the permissions") from None
    if stat.S_ISDIR(mode):
        raise InputError("is a folder, not a file", path=path, remedy="name a file in it")
    if not stat.S_ISREG(mode):
        raise InputError("is not a regular file", path=path, remedy="write its content to a file first")


@contextlib.contextmanager
def atomic_path(path: type_path) -> Iterator[Path]:
    """A file beside ``path``, for code that writes by name; it gets the name ``path`` when the block ends well.

    Through a symbolic link the file that it points to is replaced; an older file's mode stays. FIFOs and devices have no
    content to replace: they are written at the end of the block.
    """
    if is_outlet(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "part"
            temporary.touch()
            yield temporary
            with temporary.open("rb") as complete, _open_outlet(path) as out:
                shutil.copyfileobj(complete, out)
        return
    final = _check_output(path)
    handle, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        check_mapped()
        _set_mode(temporary, final)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)


def check_places(outputs: Iterable[type_path | None], inputs: Iterable[type_path | None] = ()) -> None:
    """Refuse outputs that cannot be written, that are one file, or that would replace an input: before the work, not after it.

    None and ``-`` are no files. A file is the same under another name (a link, ``./x``), too.
    """
    read: dict[object, type_path] = {}
    for path in inputs:
        if path is not None and os.fspath(path) != "-":
            read.update(dict.fromkeys(_identities(path), path))
    written: dict[object, type_path] = {}
    for path in outputs:
        if path is None or os.fspath(path) == "-" or is_outlet(path):
            continue
        _check_output(path)
        for identity in _identities(path):
            if identity in read:
                name = os.fspath(read[identity])
                also = "" if name == os.fspath(path) else f", under the name {name}"
                raise TreeglotError(f"the file is read, too{also}", path=path, remedy="write to another file")
            if identity in written:
                raise TreeglotError("two outputs go to this file", path=path, remedy="write each to a file of its own")
        written.update(dict.fromkeys(_identities(path), path))


def _check_output(path: type_path) -> Path:
    """Where the content of ``path`` is to be, if a file can be there."""
    final = Path(os.path.realpath(path))
    if not final.parent.is_dir():
        raise TreeglotError("the folder does not exist", path=Path(path).parent, remedy="create it first")
    if final.is_dir():
        raise TreeglotError("is a folder", path=path, remedy="name a file in it")
    return final


def _identities(path: type_path) -> list[object]:
    """What two names of one file have in common."""
    names: list[object] = [os.path.realpath(path)]
    with contextlib.suppress(OSError):
        there = Path(path).stat()
        if not is_outlet(path):
            names.append((there.st_dev, there.st_ino))
    return names


def _set_mode(temporary: Path, final: Path) -> None:
    """The mode and the owner of the file that is replaced, or those of a new file."""
    try:
        old = final.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        return
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(stat.S_IMODE(old.st_mode))


def is_outlet(path: type_path) -> bool:
    """Whether ``path`` takes bytes but has no content that could be replaced: a FIFO, a device, what the shell opened."""
    if _descriptor(path) is not None:
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _open_outlet(path: type_path) -> BinaryIO:
    number = _descriptor(path)
    if number is None:
        return Path(path).open("wb")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return os.fdopen(os.dup(number), "wb")


def _descriptor(path: type_path) -> int | None:
    """The number of a file that this process has open, for names such as /dev/stdout and /dev/fd/63."""
    place = Path(path).absolute()
    for _ in range(40):  # the links that a system follows at most
        if place.name.isdecimal() and place.parent.resolve() == Path("/dev/fd").resolve():
            return int(place.name)
        if not place.is_symlink():
            return None
        place = place.parent / place.readlink()
    return None


@contextlib.contextmanager
def atomic_write_binary(path: type_path) -> Iterator[BinaryIO]:
    """Open ``path`` for writing bytes, packing ``.gz`` and ``.zst``; it gets its name when the block ends well.

    ``-`` is standard output; FIFOs and devices are written directly. If the block raises, nothing is left behind and an older
    file stays as it was.
    """
    name = os.fspath(path)
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with _naming(name), contextlib.ExitStack() as stack:
        outlet = is_outlet(name)
        raw = stack.enter_context(_open_outlet(name) if outlet else stack.enter_context(atomic_path(name)).open("wb"))
        stream: IO[bytes] = raw
        with contextlib.ExitStack() as packing:
            if name.endswith(".gz"):
                packed = gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)
                stream = cast(IO[bytes], packing.enter_context(packed))
            elif name.endswith(".zst"):
                writer = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
                stream = cast(IO[bytes], packing.enter_context(writer))
            yield cast(BinaryIO, stream)
        raw.flush()
        if not outlet:
            os.fsync(raw.fileno())


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """What a disk says when it is full, with the name of the file."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        raise TreeglotError(
            f"cannot be written ({os.strerror(error.errno)})",
            path=name,
            remedy="make room on the disk; an older file of that name is as it was",
        ) from None


@contextlib.contextmanager
def atomic_write(path: type_path) -> Iterator[TextIO]:
    """`atomic_write_binary` for UTF-8 text with ``\\n`` line ends."""
    with atomic_write_binary(path) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n", write_through=False)
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(ValueError):
                text.detach()
