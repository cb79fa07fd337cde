"""The errors of treeglot: one base class, and every message says where, what is wrong and what to do.

>>> print(InputError("12 columns instead of 10", path="a.conllu", line=7, remedy="separate columns by one tab"))
a.conllu:7: 12 columns instead of 10
  remedy: separate columns by one tab
"""

from __future__ import annotations

import os


class TreeglotError(Exception):
    """Base of all errors that treeglot raises on purpose.

    ``path``, ``line`` (1-based) and ``column`` (1-based) say where; ``remedy`` says what the user can do.
    """

    __module__ = "treeglot"

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else os.fspath(path)
        self.line = line
        self.column = column
        self.remedy = remedy

    def at(
        self, path: str | os.PathLike[str] | None = None, line: int | None = None, column: int | None = None
    ) -> TreeglotError:
        """Fill in a place that was not known where the error was raised; known parts stay. Returns self."""
        if self.path is None and path is not None:
            self.path = os.fspath(path)
        self.line = self.line if self.line is not None else line
        self.column = self.column if self.column is not None else column
        return self

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text


class InputError(TreeglotError):
    """A file or a line of it is not what its format demands."""

    __module__ = "treeglot"


class TreeError(TreeglotError):
    """A tree, or a pair of trees, breaks an invariant (cycle, two roots, different tokens, ...)."""

    __module__ = "treeglot"


class ConfigError(TreeglotError):
    """A configuration value is missing, unknown or impossible."""

    __module__ = "treeglot"


class ParserError(TreeglotError):
    """A parser backend is missing, failed to start or failed on a sentence."""

    __module__ = "treeglot"
