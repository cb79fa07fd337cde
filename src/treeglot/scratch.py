"""Folders for what is needed only while something runs, which go away with it: the next run removes those of one that was killed.

A folder is held by a lock that the system lets go when its process ends, however it ends. It can be read by its owner alone.

>>> with scratch_folder("example") as folder:
...     _ = (folder / "file").write_text("text")
>>> folder.exists()
False
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

_PREFIX = "treeglot-"
_LOCK = ".treeglot-scratch"


class ScratchFolder:
    """A new folder in the system's folder for temporary files; ``close`` removes it."""

    def __init__(self, name: str) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-"))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_lock", -1) >= 0:
            self.close()


@contextlib.contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """A `ScratchFolder` as long as the block lasts."""
    with ScratchFolder(name) as folder:
        yield folder.path


def remove_abandoned() -> list[Path]:
    """Remove this user's scratch folders that no process holds any more; they are returned."""
    removed = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
                continue
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    return removed


def _is_abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:  # somebody else's, or between its making and its lock
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(lock)
