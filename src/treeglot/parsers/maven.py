"""Fetch a Java archive by its Maven coordinates, once, complete and verified.

The ``mvn`` client does the work where it is installed, because it knows the mirrors and proxies of the site. Where it is
not, ``TREEGLOT_MAVEN_REPOSITORY`` names the base address of a repository with the standard layout and the archive is
downloaded from there directly. Either way an interrupted download continues where it stopped, the SHA-1 sum that the
repository publishes is checked, and the file appears under its final name only when it is complete.

>>> Coordinates("edu.stanford.nlp", "stanford-corenlp", "4.5.10", "models-german").file_name
'stanford-corenlp-4.5.10-models-german.jar'
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treeglot.errors import ParserError
from treeglot.progress import track

REPOSITORY_VARIABLE = "TREEGLOT_MAVEN_REPOSITORY"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Coordinates:
    """``group:artifact:version[:jar:classifier]``."""

    group: str
    artifact: str
    version: str
    classifier: str = ""

    def __str__(self) -> str:
        plain = f"{self.group}:{self.artifact}:{self.version}"
        return f"{plain}:jar:{self.classifier}" if self.classifier else plain

    @property
    def file_name(self) -> str:
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.jar"

    @property
    def path(self) -> str:
        """The place of the archive in a repository, local or remote."""
        return "/".join((self.group.replace(".", "/"), self.artifact, self.version, self.file_name))


def fetch(what: Coordinates, folder: Path, *, repository: str | None = None, mvn: str = "mvn") -> Path:
    """Put the archive into ``folder`` unless it is there, and return its path.

    ``repository`` (default: the environment variable) asks for a direct download; otherwise ``mvn`` is called.
    """
    final = folder / what.file_name
    if final.exists():
        return final
    folder.mkdir(parents=True, exist_ok=True)
    repository = repository or os.environ.get(REPOSITORY_VARIABLE)
    if repository:
        _download(what, final, repository.rstrip("/"))
    else:
        _by_maven(what, final, mvn)
    return final


def copy_from(what: Coordinates, source: Path, folder: Path) -> Path:
    """Take the archive from a folder of files that were fetched elsewhere (for machines without a network)."""
    final = folder / what.file_name
    if final.exists():
        return final
    given = source / what.file_name
    if not given.is_file():
        raise ParserError("not in this folder", path=given, remedy="put the archive there, or install without --from")
    checksum = given.with_name(given.name + ".sha1")
    if checksum.exists():
        check_sha1(given, checksum.read_text(encoding="ascii", errors="replace"), what)
    folder.mkdir(parents=True, exist_ok=True)
    part = final.with_name(final.name + ".part")
    try:
        part.unlink(missing_ok=True)
        part.hardlink_to(given)
    except OSError:
        shutil.copyfile(given, part)
    part.replace(final)
    return final


def check_sha1(path: Path, published: str, what: Coordinates) -> None:
    """Compare a file with the sum that the repository publishes; remove it and complain if they differ."""
    expected = published.split()[0].lower() if published.split() else ""
    digest = hashlib.sha1(usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    if digest.hexdigest() != expected:
        raise ParserError(
            f"{what} is damaged: its SHA-1 sum is {digest.hexdigest()}, the repository says {expected or 'nothing'}",
            path=path,
            remedy="delete the file and install again",
        )


def _by_maven(what: Coordinates, final: Path, mvn: str) -> None:
    program = shutil.which(mvn)
    if program is None:
        raise ParserError(
            f"cannot fetch {what}: there is no program {mvn!r}",
            remedy=f"install Apache Maven, or set {REPOSITORY_VARIABLE} to the base address of a Maven repository",
        )
    # A local repository of our own beside the result: the archive can be moved instead of copied (models exceed a
    # gigabyte), and what an interrupted run has downloaded so far is found again.
    local = final.parent / ".maven"
    command = [program, "-B", "--strict-checksums", f"-Dmaven.repo.local={local}", "dependency:get"]
    command += [f"-Dartifact={what}", "-Dtransitive=false"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=final.parent) as process:
        assert process.stdout is not None
        output = _watch(process, process.stdout.fileno(), local / what.path, what)
    fetched = local / what.path
    if process.returncode != 0 or not fetched.exists():
        problems = [line for line in output if "[ERROR]" in line or "[FATAL]" in line] or output[-5:]
        raise ParserError(
            f"mvn could not fetch {what}: {' '.join(problems[:3]) or 'no message'}",
            remedy="check the network and ~/.m2/settings.xml, "
            f"or set {REPOSITORY_VARIABLE} to the base address of a repository",
        )
    checksum = fetched.with_name(fetched.name + ".sha1")
    if checksum.exists():  # mvn has checked it; this guards against a damaged disk between two runs
        check_sha1(fetched, checksum.read_text(encoding="ascii", errors="replace"), what)
    fetched.replace(final)
    shutil.rmtree(local, ignore_errors=True)


def _watch(process: subprocess.Popen[bytes], pipe: int, growing: Path, what: Coordinates) -> list[str]:
    """Show how the download grows while ``mvn`` runs; return the lines that it wrote."""
    os.set_blocking(pipe, False)
    written = bytearray()

    def megabytes() -> Iterator[int]:
        seen = 0
        while True:
            running = process.poll() is None
            try:
                while block := os.read(pipe, _CHUNK):
                    written.extend(block)
            except BlockingIOError:
                pass
            size = sum(f.stat().st_size for f in growing.parent.glob(f"{growing.name}*") if f.is_file())
            while seen < size // 1_000_000:
                seen += 1
                yield seen
            if not running:
                return
            time.sleep(0.2)

    for _ in track(megabytes(), f"fetching {what.file_name} (MB)"):
        pass
    text = re.sub("\x1b\\[[0-9;]*m", "", written.decode("utf-8", errors="replace"))
    return [line.strip() for line in text.splitlines() if line.strip()]


def _download(what: Coordinates, final: Path, repository: str) -> None:
    address = f"{repository}/{what.path}"
    part = final.with_name(final.name + ".part")
    try:
        with urllib.request.urlopen(f"{address}.sha1", timeout=60) as answer:
            published = answer.read(200).decode("ascii", errors="replace")
        request = urllib.request.Request(address)
        have = part.stat().st_size if part.exists() else 0
        if have:
            request.add_header("Range", f"bytes={have}-")
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            if error.code != 416:  # 416: the part is complete already
                raise
        else:
            with answer, part.open("ab" if answer.status == 206 else "wb") as stream:
                length = int(answer.headers.get("Content-Length") or 0)
                for block in track(
                    _blocks(answer), f"fetching {what.file_name} (MB)", total=-(-length // _CHUNK) or None
                ):
                    stream.write(block)
                    length -= len(block)
                if length > 0:  # http.client says nothing when the other side hangs up early
                    raise OSError("the connection was closed before the end")
    except (OSError, ValueError) as error:
        raise ParserError(
            f"could not download {what}: {error}", path=address, remedy="run the same command again to continue"
        ) from None
    try:
        check_sha1(part, published, what)
    except ParserError:
        part.unlink(missing_ok=True)
        raise
    part.replace(final)


def _blocks(answer: object) -> Iterator[bytes]:
    read = answer.read  # type: ignore[attr-defined]
    while block := read(_CHUNK):
        yield block
