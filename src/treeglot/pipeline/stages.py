"""Stages of a project: what is done is not done again, what was interrupted is done anew, nothing half-made has a name.

A `Stage` turns input files and parameters into output files. Its *key* is a digest of its name and version, the versions of the
formats that it writes, its parameters and the contents of its inputs. After the outputs have got their final names, a manifest with the key is written beside them; a
stage whose manifest has the right key, and whose outputs have the digests of the manifest, is skipped. So a run that is killed at
any moment and started again ends with the same bytes as one that was not, and a changed input re-runs what depends on it
and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeglot.errors import TreeglotError
from treeglot.files import atomic_write
from treeglot.pipeline.memory import PeakMeter

log = logging.getLogger(__name__)

Paths = Mapping[str, Path]

VERIFIED = ".treeglot-verified"
"""What the core notes beside large files (cpp/base/verified_files.hh)."""

_RACY = 1_000_000_000
"""Nanoseconds. A file that changed so shortly before it was read may change again without another time stamp."""


@dataclass(frozen=True)
class Stage:
    """``run(inputs, outputs, work)`` writes every file of ``outputs`` (paths in a scratch folder) from ``inputs``.

    Inputs and outputs may be folders. ``work`` is a folder of the stage's own that survives interruption: what a long stage keeps there it can take up again. It is
    removed when the stage is complete, or when its key changes. ``version`` changes when the same inputs give other outputs;
    ``formats`` has the version of each binary format that it writes: a newer treeglot makes files of an older format anew.
    """

    name: str
    inputs: Paths
    outputs: Paths
    parameters: Mapping[str, Any]
    run: Callable[[Paths, Paths, Path], object]
    version: int = 1
    formats: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StageResult:
    """What became of a stage: ``skipped`` if it was complete already. ``peak_memory`` is the most that this process had while
    the stage ran, in bytes (processes that it started are not counted)."""

    name: str
    skipped: bool
    seconds: float
    peak_memory: int


class Runner:
    """Runs stages of the project in ``folder``; manifests and scratch files are in ``folder/.treeglot``."""

    def __init__(self, folder: Path, tool_version: str) -> None:
        self.folder = folder
        self.tool_version = tool_version
        self.state = folder / ".treeglot"
        self._digests: dict[Path, tuple[_Stamp, str]] = {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from working on the same project."""
        self.state.mkdir(parents=True, exist_ok=True)
        with (self.state / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise TreeglotError(
                    "another treeglot is at work on this project", path=self.folder, remedy="wait for it, or stop it"
                ) from None
            yield

    def run(
        self,
        stage: Stage,
        announce: Callable[[str], object] = log.info,
        before: Callable[[], object] | None = None,
    ) -> StageResult:
        """Bring a stage's outputs up to date. ``before`` is called if there is something to do."""
        digests = self._input_digests(stage)
        key = _key(stage, digests)
        if self.is_complete(stage, key):
            announce(f"{stage.name}: up to date")
            return StageResult(stage.name, True, 0.0, 0)
        if before is not None:
            before()
        announce(f"{stage.name} …")
        start = time.monotonic()
        meter = PeakMeter()
        work = self._work_folder(stage, key)
        scratch = work / "outputs"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        written = {name: scratch / path.name for name, path in stage.outputs.items()}
        if len({path.name for path in stage.outputs.values()}) != len(written):
            raise ValueError(f"two outputs of {stage.name} have one file name")
        keep = work / "keep"
        keep.mkdir(exist_ok=True)
        stage.run(stage.inputs, written, keep)
        for name, path in written.items():
            if not path.exists():
                raise TreeglotError(f"stage {stage.name} did not write {name}", path=path, remedy="please report this")
        manifest_path = self.manifest_path(stage)
        manifest_path.unlink(missing_ok=True)
        outputs: dict[str, dict[str, Any]] = {}
        for name, final in stage.outputs.items():
            final.parent.mkdir(parents=True, exist_ok=True)
            outputs[name] = {"path": self._relative(final), "digest": digest(written[name])}
            if final.is_dir():
                shutil.rmtree(final)
            written[name].replace(final)
            outputs[name] |= _size_and_time(final)
        seconds = time.monotonic() - start
        peak = meter.bytes
        manifest = {
            "stage": stage.name,
            "key": key,
            "treeglot": self.tool_version,
            "formats": dict(stage.formats),
            "parameters": dict(stage.parameters),
            "inputs": {n: {"path": self._relative(p), "digest": digests[n]} for n, p in stage.inputs.items()},
            "outputs": outputs,
            "seconds": round(seconds, 3),
            "peak_memory": peak,
            "peak_memory_is": "of this stage" if meter.exact else "of an earlier one; this stage had no more",
        }
        with atomic_write(manifest_path) as file:
            json.dump(manifest, file, ensure_ascii=False, indent=2, sort_keys=True)
            file.write("\n")
        shutil.rmtree(work, ignore_errors=True)
        announce(f"{stage.name}: done in {seconds:.1f} s")
        return StageResult(stage.name, False, seconds, peak)

    def key(self, stage: Stage) -> str:
        """The digest of everything that the outputs depend on."""
        return _key(stage, self._input_digests(stage))

    def _input_digests(self, stage: Stage) -> dict[str, str]:
        for name, path in stage.inputs.items():
            if not path.exists():
                raise TreeglotError(f"stage {stage.name} needs {name}", path=path, remedy="run `treeglot train` first")
        return {name: self.digest(path) for name, path in stage.inputs.items()}

    def is_complete(self, stage: Stage, key: str) -> bool:
        """Whether a manifest says that the outputs are those of ``key``, and they still are: disks forget, also without a
        change of size and time."""
        manifest = self.manifest(stage.name)
        if manifest is None or manifest.get("key") != key:
            return False
        for name, path in stage.outputs.items():
            noted = manifest["outputs"].get(name)
            if noted is None or not path.exists() or self.digest(path) != noted["digest"]:
                return False
        return True

    def manifest_path(self, stage: Stage) -> Path:
        return self.state / "manifests" / f"{stage.name}.json"

    def manifest(self, name: str) -> dict[str, Any] | None:
        """What is noted about a stage, or None if it was never completed (or the note cannot be read: it is made anew)."""
        path = self.state / "manifests" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(noted, dict):
            return None
        _check_manifest(noted, path)
        return noted

    def digest(self, path: Path) -> str:
        """The digest of a file's or folder's contents; read again only if it was touched since."""
        before = _stamp(path)
        known = self._digests.get(path)
        if known is not None and known[0] == before:
            return known[1]
        now = time.time_ns()
        contents = digest(path)
        if all(max(modified, changed) < now - _RACY for _, _, _, modified, changed in before):
            self._digests[path] = before, contents
        else:
            self._digests.pop(path, None)
        return contents

    def _work_folder(self, stage: Stage, key: str) -> Path:
        """The stage's scratch folder; that of another key is thrown away."""
        work = self.state / "work" / f"{stage.name}.{key[:16]}"
        work.mkdir(parents=True, exist_ok=True)
        for other in work.parent.iterdir():
            name, _, _ = other.name.rpartition(".")  # names of stages may have dots: NAME.v2 is not NAME
            if name == stage.name and other != work:
                shutil.rmtree(other, ignore_errors=True)
        return work

    def _relative(self, path: Path) -> str:
        return os.path.relpath(path, self.folder)


def _check_manifest(noted: dict[str, Any], path: Path) -> None:
    """Refuse a manifest that is not all there: someone else has written it, and what it stands for is not known."""
    problem = "" if isinstance(noted.get("key"), str) else "key"
    outputs = noted.get("outputs")
    if not isinstance(outputs, dict):
        problem = "outputs"
    else:
        for name, output in outputs.items():
            for part in ("path", "digest"):
                if not isinstance(output, dict) or not isinstance(output.get(part), str):
                    problem = f"outputs.{name}.{part}"
    if problem:
        raise TreeglotError(
            f"the manifest of the stage has no {problem}", path=path, remedy="remove it: the stage will run again"
        )


def _key(stage: Stage, digests: Mapping[str, str]) -> str:
    parts = {
        "stage": stage.name,
        "version": stage.version,
        "formats": dict(stage.formats),
        "parameters": dict(stage.parameters),
        "inputs": dict(digests),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file's contents, or of the names and contents of a folder's files (without notes of what was verified)."""
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.name != VERIFIED]
        parts = [f"{digest(file)} {file.relative_to(path)}" for file in files]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Name, inode, size and times of a file, or of a folder and all that is in it."""


def _stamp(path: Path) -> _Stamp:
    inside = sorted(entry for entry in path.rglob("*") if entry.name != VERIFIED) if path.is_dir() else []
    paths = [path, *(entry for entry in inside if entry.exists())]
    states = ((str(entry), entry.stat()) for entry in paths)
    return tuple((name, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in states)


def _size_and_time(path: Path) -> dict[str, int]:
    """What a manifest notes to see that an output was not touched; of a folder, its files' size and the latest time."""
    stamp = _stamp(path)
    return {"size": sum(size for _, _, size, _, _ in stamp), "modified": max(time for *_, time, _ in stamp)}
