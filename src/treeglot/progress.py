"""Progress on standard error for anything that takes longer than two seconds.

`track` wraps any iterable: a bar in a terminal, a line of text every half minute elsewhere, nothing with ``--quiet``.

>>> list(track(range(3), "counting", total=3))
[0, 1, 2]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

T = TypeVar("T")

START_AFTER = 2.0
"""Seconds before anything is shown."""
LINE_EVERY = 30.0
"""Seconds between two lines where standard error is not a terminal."""

_quiet = False


def set_quiet(quiet: bool) -> None:
    """Turn progress off (or on again) for this process."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Whether `set_quiet` turned progress off."""
    return _quiet


def say(text: str) -> None:
    """Print a message on standard error; nothing with ``--quiet``."""
    if not _quiet:
        print(text, file=sys.stderr, flush=True)


def tell(message: str) -> None:
    """`say` with the name of the program."""
    say(f"treeglot: {message}")


def track(iterable: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield from ``iterable`` and show how far it is. ``total`` defaults to its length where it has one."""
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    if _quiet:
        yield from iterable
        return
    shown: _Bar | _Lines | None = None
    start = time.monotonic()
    done = 0
    try:
        for item in iterable:
            yield item
            done += 1
            if shown is None:
                if time.monotonic() - start < START_AFTER:
                    continue
                shown = _Bar(description, total) if sys.stderr.isatty() else _Lines(description, total, start)
            shown.update(done)
    finally:
        if shown is not None:
            shown.close(done)


class _Bar:
    def __init__(self, description: str, total: int | None) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task(description, total=total, rate="")
        self.start = time.monotonic() - START_AFTER
        self.next = 0.0
        self.progress.start()

    def update(self, done: int) -> None:
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.1
            rate = f"{done / (now - self.start):,.0f}/s"
            self.progress.update(self.task, completed=done, rate=rate)

    def close(self, done: int) -> None:
        self.progress.update(self.task, completed=done)
        self.progress.stop()


class _Lines:
    def __init__(self, description: str, total: int | None, start: float) -> None:
        self.description, self.total, self.start = description, total, start
        self.last = start

    def update(self, done: int) -> None:
        now = time.monotonic()
        if now - self.last >= LINE_EVERY:
            self.last = now
            of = f" of {self.total:,} ({100 * done / self.total:.0f} %)" if self.total else ""
            rate = done / (now - self.start)
            print(f"{self.description}: {done:,}{of}, {rate:,.1f}/s", file=sys.stderr, flush=True)

    def close(self, done: int) -> None:
        pass
