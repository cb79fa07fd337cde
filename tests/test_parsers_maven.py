"""Fetching jars: complete, verified, resumable, and honest about what went wrong. No network: a repository of our own."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from treeglot.errors import ParserError
from treeglot.parsers import corenlp
from treeglot.parsers.maven import Coordinates, copy_from, fetch

JAR = Coordinates("org.example", "thing", "1.0", "models")
CONTENT = os.urandom(3_000_000)


class Repository(BaseHTTPRequestHandler):
    files: dict[str, bytes]
    ranges: list[str]
    cut = False

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        content = self.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range", "")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        stop = start + 1_200_000 if self.cut and self.path.endswith(".jar") else len(content)
        self.wfile.write(content[start:stop])


@pytest.fixture
def repository() -> Iterator[tuple[str, type[Repository]]]:
    sha1 = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()
    handler = type("Handler", (Repository,), {"files": {f"/repo/{JAR.path}": CONTENT}, "ranges": []})
    handler.files[f"/repo/{JAR.path}.sha1"] = f"{sha1}  thing.jar\n".encode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/repo/", handler
    server.shutdown()
    server.server_close()


def test_direct_download(repository: tuple[str, type[Repository]], tmp_path: Path) -> None:
    address, handler = repository
    path = fetch(JAR, tmp_path / "new", repository=address)
    assert path.name == "thing-1.0-models.jar" and path.read_bytes() == CONTENT
    asked = len(handler.ranges)
    assert fetch(JAR, tmp_path / "new", repository=address) == path and len(handler.ranges) == asked
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_download_continues_where_it_stopped(repository: tuple[str, type[Repository]], tmp_path: Path) -> None:
    address, handler = repository
    handler.cut = True
    with pytest.raises(ParserError) as caught:
        fetch(JAR, tmp_path, repository=address)
    assert "again" in caught.value.remedy and not (tmp_path / JAR.file_name).exists()
    handler.cut = False
    have = (tmp_path / f"{JAR.file_name}.part").stat().st_size
    assert 0 < have < len(CONTENT)
    assert fetch(JAR, tmp_path, repository=address).read_bytes() == CONTENT
    assert handler.ranges[-1] == f"bytes={have}-"


def test_a_complete_part_is_not_fetched_again(repository: tuple[str, type[Repository]], tmp_path: Path) -> None:
    (tmp_path / f"{JAR.file_name}.part").write_bytes(CONTENT)
    assert fetch(JAR, tmp_path, repository=repository[0]).read_bytes() == CONTENT


def test_damage_is_found_and_not_kept(repository: tuple[str, type[Repository]], tmp_path: Path) -> None:
    address, handler = repository
    handler.files[f"/repo/{JAR.path}"] = CONTENT[:-1] + b"x"
    with pytest.raises(ParserError, match="SHA-1"):
        fetch(JAR, tmp_path, repository=address)
    assert not list(tmp_path.iterdir())


def test_what_the_repository_answers_is_reported(repository: tuple[str, type[Repository]], tmp_path: Path) -> None:
    with pytest.raises(ParserError, match="404"):
        fetch(Coordinates("org.example", "other", "1.0"), tmp_path, repository=repository[0])


def fake_mvn(tmp_path: Path, body: str) -> str:
    script = tmp_path / "mvn"
    script.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nroot = [a for a in sys.argv if 'repo.local' in a][0].split('=')[1]\n{body}"
    )
    script.chmod(0o755)
    return str(script)


def test_mvn_is_called_by_coordinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREEGLOT_MAVEN_REPOSITORY", raising=False)
    body = f"assert '-Dartifact={JAR}' in sys.argv and '--strict-checksums' in sys.argv\n"
    body += f"path = pathlib.Path(root, {JAR.path!r})\npath.parent.mkdir(parents=True)\npath.write_bytes(b'jar')\n"
    assert fetch(JAR, tmp_path / "out", mvn=fake_mvn(tmp_path, body)).read_bytes() == b"jar"
    assert [path.name for path in (tmp_path / "out").iterdir()] == [JAR.file_name]


def test_what_mvn_says_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREEGLOT_MAVEN_REPOSITORY", raising=False)
    mvn = fake_mvn(tmp_path, "print('[INFO] hello')\nprint('[ERROR] could not resolve thing')\nsys.exit(1)\n")
    with pytest.raises(ParserError, match="could not resolve thing"):
        fetch(JAR, tmp_path / "out", mvn=mvn)
    with pytest.raises(ParserError) as caught:
        fetch(JAR, tmp_path / "out", mvn="no-such-mvn")
    assert "TREEGLOT_MAVEN_REPOSITORY" in caught.value.remedy


def test_install_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    given = tmp_path / "given"
    given.mkdir()
    for what in (corenlp.program_coordinates(), corenlp.model_coordinates("de")):
        (given / what.file_name).write_bytes(b"jar")
    assert not corenlp.is_installed("de")
    assert all(path.read_bytes() == b"jar" for path in corenlp.install("de", source=given))
    assert corenlp.is_installed("de") and not corenlp.is_installed("zh")
    with pytest.raises(ParserError, match="not in this folder"):
        corenlp.install("zh", source=given)
    (given / f"{JAR.file_name}").write_bytes(b"x")
    (given / f"{JAR.file_name}.sha1").write_text("0" * 40)
    with pytest.raises(ParserError, match="SHA-1"):
        copy_from(JAR, given, tmp_path)
