"""Run the command line inside the test process."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
import typer.main

from treeglot import cli


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]

# Making commands and options of their functions takes a fifth of a second: once is enough for a process.
command_of = functools.cache(typer.main.get_command)


def make_runner(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["treeglot", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(typer.main, "get_command", command_of)
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capfd.readouterr()
        code = stopped.value.code
        return Result(0 if code is None else int(code), out, err)

    return run
