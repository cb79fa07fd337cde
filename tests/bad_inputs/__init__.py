"""Broken inputs, one module of cases per family of readers; `tests/test_bad_inputs.py` runs them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class BadInput:
    """``files`` (name -> bytes) are written to a folder; ``read(folder)`` must raise a `TreeglotError` whose path ends in
    ``blamed`` (default: the first file), whose line is ``line`` and whose text contains ``says``."""

    name: str
    files: dict[str, bytes]
    read: Callable[[Path], Any]
    line: int
    says: str
    blamed: str = ""
