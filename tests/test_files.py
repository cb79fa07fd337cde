"""Opening files: an error names the file that it is about, and nothing else is taken for an error of the file."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
import zstandard

from treeglot import InputError, TreeglotError
from treeglot.files import atomic_write_binary, open_binary, read_lines

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
