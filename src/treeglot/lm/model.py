"""Querying n-gram models: a compiled file, mapped into memory, that starts at once and is shared between processes.

>>> import io, tempfile, pathlib
>>> from treeglot.lm.estimate import estimate
>>> arpa = pathlib.Path(tempfile.mkdtemp()) / "tiny.arpa"
>>> with arpa.open("wb") as file:
...     _ = estimate([b"the dog barks\\n", b"the cat sleeps\\n"], file, order=2)
>>> model = compile_model(arpa, arpa.with_suffix(".tglm"))
>>> model.score("the dog sleeps") > model.score("dog the sleeps")
True
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from treeglot._core import lm as core
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_path, check_mapped, check_regular, open_binary

FORMAT_VERSION = core.FORMAT_VERSION
"""The version of the file's format; a file of another one is refused."""


class LineScore(NamedTuple):
    """log10 of a whole line with its end; the number of its words and of those the model does not know."""

    log10: float
    tokens: int
    unknown: int


class LanguageModel:
    """A compiled model: ``score(line)`` for a line of words, ``score_lines`` for many, ``core`` for the native object."""

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        """Map a file made by `compile_model`. ``verify`` reads all of it and checks the checksum."""
        self.path = os.fspath(path)
        with self.blame():
            self.core = core.Model(self.path, verify)

    @contextlib.contextmanager
    def blame(self) -> Iterator[None]:
        """Turn what the native model says about damage into an `InputError` that names the file."""
        try:
            yield
            check_mapped()
        except RuntimeError as error:
            raise InputError(
                str(error), path=self.path, line=1, remedy="compile it again: treeglot lm compile"
            ) from None

    @property
    def order(self) -> int:
        """The longest n-gram."""
        return self.core.order

    @property
    def ngrams(self) -> tuple[int, ...]:
        """The number of n-grams of each order."""
        return tuple(self.core.grams(k) for k in range(1, self.order + 1))

    def score(self, line: str) -> float:
        """log10 of the words of ``line`` and the sentence's end."""
        return self._scores(line.replace("\n", " ").encode() + b"\n")[0].log10

    def score_lines(self, lines: Iterable[bytes]) -> Iterator[LineScore]:
        """The scores of many lines, quickly."""
        block: list[bytes] = []
        size = 0
        for line in lines:
            block.append(line if line.endswith(b"\n") else line + b"\n")
            size += len(line)
            if size > 1 << 18:
                yield from self._scores(b"".join(block))
                block.clear()
                size = 0
        yield from self._scores(b"".join(block))

    def _scores(self, text: bytes) -> list[LineScore]:
        with self.blame():
            return [LineScore(*score) for score in self.core.score_text(text)]


def compile_model(arpa: str | os.PathLike[str], out: str | os.PathLike[str]) -> LanguageModel:
    """Compile an ARPA file (plain, gz, zst) to ``out``, which appears only when it is complete."""
    name, final = os.fspath(arpa), Path(out)
    with open_binary(name) as stream, atomic_path(final) as temporary:
        try:
            core.compile_arpa(stream.read, str(temporary))
        except RuntimeError as error:
            raise TreeglotError(str(error), path=final, remedy="make room on the disk") from None
        except ValueError as error:
            line, message = error.args
            raise InputError(
                message, path=name, line=max(line, 1), remedy="give a complete ARPA file, for example from lmplz"
            ) from None
    return LanguageModel(final)


def open_model(path: str | os.PathLike[str]) -> LanguageModel:
    """A compiled model, or an ARPA file, which is compiled to a temporary file first."""
    name = os.fspath(path)
    check_regular(name)
    with open_binary(name) as stream:
        start = stream.read(8)
    if start.startswith(b"TGLM"):
        return LanguageModel(name)
    with tempfile.TemporaryDirectory() as folder:  # the mapping outlives the name
        return compile_model(name, Path(folder) / "model.tglm")
