"""Opening files: an error names the file that it is about, and nothing else is taken for an error of the file."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pytest
import zstandard

from treeglot import InputError, TreeglotError
from treeglot.files import atomic_path, atomic_write, atomic_write_binary, check_places, open_binary, read_lines

TEXT = b"".join(b"line %d\n" % n for n in range(5000))


@pytest.fixture(params=["text", "text.gz", "text.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    with atomic_write_binary(path) as file:
        file.write(TEXT)
    return path


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("x"), IsADirectoryError("x"), PermissionError("x"), EOFError("x"), gzip.BadGzipFile("x"),
     zlib.error("x"), zstandard.ZstdError("x"), TreeglotError("x")],
)  # fmt: skip
def test_an_error_of_the_body_stays_what_it_is(path: Path, error: Exception) -> None:
    with pytest.raises(type(error)) as info, open_binary(path) as stream:
        stream.readline()
        raise error
    assert info.value is error


@pytest.mark.parametrize("path", ["text.gz", "text.zst"], indirect=True)
def test_of_two_archives_the_damaged_one_is_named(path: Path, tmp_path: Path) -> None:
    damaged = tmp_path / f"damaged{path.suffix}"
    damaged.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"damaged\.\w+:1: damaged or truncated archive"):  # noqa: SIM117
        with open_binary(damaged) as first, open_binary(path) as second:
            assert second.read() == TEXT
            first.read()
    with pytest.raises(InputError, match="truncated"):
        list(read_lines(damaged))


def test_reading(path: Path, tmp_path: Path) -> None:
    with open_binary(path) as stream:
        assert stream.readline() == b"line 0\n" and stream.read(6) == b"line 1"
        assert stream.read() == TEXT[13:] and stream.read() == b""
    assert [line for _, line in read_lines(path)] == TEXT.decode().splitlines()
    for wrong, says in ((tmp_path / "none", "no such file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=says), open_binary(wrong):
            pass


def write(how: str, path: Path) -> None:
    """Write in one of the two ways that there are."""
    if how == "by name":
        with atomic_path(path) as temporary:
            temporary.write_bytes(TEXT)
    else:
        with atomic_write_binary(path) as file:
            file.write(TEXT)


@pytest.mark.parametrize("how", ["text", "by name"])
def test_a_fifo_is_written_and_stays_one(how: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    write(how, fifo)
    reader.join(10)
    assert received == [TEXT] and stat.S_ISFIFO(fifo.stat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


@pytest.mark.parametrize("how", ["text", "by name"])
def test_a_device_stays_one(how: str, tmp_path: Path) -> None:
    link = tmp_path / "nowhere"
    link.symlink_to("/dev/null")
    before = Path("/dev/null").stat()
    write(how, link)
    after = Path("/dev/null").stat()
    assert stat.S_ISCHR(after.st_mode) and (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert link.is_symlink()


@pytest.mark.parametrize("how", ["text", "by name"])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_through_a_link_the_target_is_written_and_keeps_its_mode(how: str, mode: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    target.write_bytes(b"old")
    target.chmod(mode)
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to("folder/target")
    second.symlink_to(first)
    write(how, second)
    assert first.is_symlink() and second.is_symlink()
    assert target.read_bytes() == TEXT and stat.S_IMODE(target.stat().st_mode) == mode
    assert list(target.parent.iterdir()) == [target]


def test_a_new_file_has_the_usual_mode_and_a_dangling_link_is_filled(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("new")
    old = os.umask(0o027)
    try:
        write("text", link)
    finally:
        os.umask(old)
    assert link.is_symlink() and stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "lost").symlink_to("no/such/file")
    with pytest.raises(TreeglotError, match="the folder does not exist"):
        write("text", tmp_path / "lost")


def test_what_the_shell_opened_is_written(tmp_path: Path) -> None:
    """``>(cmd)``, /dev/stdout, and appending to a log, of which nothing may be lost."""
    log = tmp_path / "log"
    log.write_text("before\n")
    code = "import sys; from treeglot.files import atomic_write\nwith atomic_write(sys.argv[1]) as f: f.write('new\\n')"
    for place in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with log.open("ab") as stream:
            subprocess.run([sys.executable, "-c", code, place], stdout=stream, check=True, timeout=60)
    assert log.read_text() == "before\n" + 3 * "new\n"
    out, inside = os.pipe()
    with os.fdopen(out) as reading, os.fdopen(inside, "w") as writing:
        with atomic_write(f"/dev/fd/{writing.fileno()}") as file:
            file.write("piped\n")
        writing.close()
        assert reading.read() == "piped\n"


def test_an_output_may_be_no_input_and_no_other_output(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("first")
    link, hard = tmp_path / "link", tmp_path / "hard"
    link.symlink_to("first")
    hard.hardlink_to(first)
    (tmp_path / "folder").mkdir()
    around = tmp_path / "folder" / ".." / "first"
    for name in (first, link, hard, around, str(first), os.path.relpath(first)):
        with pytest.raises(TreeglotError, match="is read, too"):
            check_places([second, name], [None, "-", first])
        with pytest.raises(TreeglotError, match="two outputs go to this file"):
            check_places([first, name])
    with pytest.raises(TreeglotError, match="two outputs go to this file"):
        check_places([second, around.with_name("second")])
    with pytest.raises(TreeglotError, match="the folder does not exist"):
        check_places([tmp_path / "none" / "x"])
    with pytest.raises(TreeglotError, match="is a folder"):
        check_places([tmp_path / "folder"])
    check_places([second, "-", "-", None, "/dev/null", "/dev/null"], [first, first, "/dev/null", "-", "no such file"])
    assert first.read_text() == "first"
