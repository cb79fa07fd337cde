"""Every command with hostile calls: no input is lost, nothing ends with a traceback, nothing is left undone in silence.

Commands, options and their types come from the command line itself, so what is new is walked too.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_runner import Result, Run
from command_recipes import COSTLY, RECIPES, SLOW, UNTRAINED, Feeder, Word, commands, make_world, words
from effort import worlds

COMMANDS = commands()
HOSTILE = (
    *("nan", "inf", "-inf", "-1", "0", "0.5", "1e400", "99999999999999999999999", "-99999999999999999999999"),
    *("", " ", "x", "=", ",", "1,2", "name=value", "TRUE", "Auto", "no/such/place", "."),
)
SECONDS = 300
"""A command that takes longer has stopped for good."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    (folder / "empty.file").touch()
    (folder / "garbage.file").write_bytes(bytes(range(256)) * 8)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All regular files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_command_has_a_recipe() -> None:
    assert set(RECIPES) == set(COMMANDS)


def test_every_option_has_a_help_text() -> None:
    without = [
        f"{name} {parameter.name}"
        for name, command in COMMANDS.items()
        for parameter in command.params
        if not getattr(parameter, "help", None)
    ]
    assert without == []


class TooLong(BaseException):
    """Not an error that the command line knows."""


class Call:
    """A call of a command in a folder of its own, whose inputs lie in another one."""

    def __init__(self, run: Run, command: str, world: Path, folder: Path) -> None:
        self.run, self.command, self.world, self.folder = run, command, world, folder
        self.words = words(RECIPES[command])
        self.feeders: list[Feeder] = []

    def place(self, word: Word) -> Path:
        return (self.world if word.kind == "<" else self.folder) / word.text

    def arguments(self, replaced: dict[int, str] | None = None) -> list[str]:
        result = []
        for n, word in enumerate(self.words):
            text = str(self.place(word)) if word.kind else word.text
            result.append(word.before + (replaced or {}).get(n, text))
        return result

    def __call__(self, replaced: dict[int, str] | None = None, more: tuple[str, ...] = ()) -> Result:
        def late(*_: Any) -> None:
            raise TooLong(f"{self.command}: more than {SECONDS} s")

        before = Path.cwd()
        old = signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)
        os.chdir(self.folder)
        try:
            return self.run("-q", *self.command.split(), *self.arguments(replaced), *more)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, old)
            os.chdir(before)
            for feeder in self.feeders:
                feeder.stop()

    def outputs(self) -> list[Path]:
        return [self.place(word) for word in self.words if word.kind in (">", "+")]

    def check(self, result: Result, about: str = "") -> None:
        """What holds after every call."""
        told = f"{self.command} {about}: {result}"
        assert "Traceback" not in result.err, told
        assert result.code in (0, 1, 2), told
        if result.code:
            assert result.err.strip(), told
        else:
            files = [path for path in self.folder.rglob("*") if path.is_file() or path.is_symlink()]
            assert result.out.strip() or files or any(feeder.received for feeder in self.feeders), (
                f"nothing done: {told}"
            )
        assert not [path for path in self.folder.rglob("*") if path.name.endswith(".part")], told


@pytest.fixture
def call_in(run: Run, world: Path, tmp_path: Path) -> Iterator[Any]:
    before = contents(world)

    def make(command: str, name: str = "out") -> Call:
        folder = tmp_path / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return Call(run, command, world, folder)

    yield make
    assert contents(world) == before


@pytest.mark.parametrize("command", [name for name in RECIPES if name not in UNTRAINED + SLOW])
def test_the_recipes_work_and_no_output_may_be_an_input(command: str, call_in: Any) -> None:
    call = call_in(command)
    result = call()
    assert result.code == 0, result.err
    call.check(result)
    assert all(path.exists() for path in call.outputs()), result
    files = contents(call.folder)
    reads = [word for word in call.words if word.kind == "<" and call.place(word).is_file()]
    for n, word in enumerate(call.words):
        if word.kind != ">":
            continue
        for read in reads:
            link = call.folder / f"link{call.place(word).suffix}"
            link.unlink(missing_ok=True)
            link.symlink_to(call.place(read))
            for place in (call.place(read), link):
                refused = call({n: str(place)}, ("--to", "jsonl") if command == "trees convert" else ())
                assert refused.code == 1 and "is read, too" in refused.err, (word, read, refused)
                assert link.is_symlink()
            link.unlink()
        again = [m for m, other in enumerate(call.words) if other.kind == ">" and m != n]
        if again:  # two outputs in one file
            refused = call({n: str(call.place(call.words[again[0]]))})
            assert refused.code == 1 and "two outputs go to this file" in refused.err, refused
    assert contents(call.folder) == files


def options_of(command: str) -> list[Any]:
    return [parameter for parameter in COMMANDS[command].params if parameter.name != "help"]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """A command and what is wrong with the call: an option's value, an input or an output."""
    command = draw(st.sampled_from([name for name in RECIPES if name not in SLOW]))
    kinds = [kind for kind in ("<", ">") if any(word.kind == kind for word in words(RECIPES[command]))]
    what = draw(st.sampled_from([*kinds, "option", "option"]))
    if what == "<":
        n = draw(st.sampled_from([n for n, word in enumerate(words(RECIPES[command])) if word.kind == "<"]))
        how = draw(st.sampled_from(["missing", "empty", "folder", "garbage", "fifo", "link", "other"]))
        return command, ("<", str(n), how)
    if what == ">":
        n = draw(st.sampled_from([n for n, word in enumerate(words(RECIPES[command])) if word.kind == ">"]))
        how = draw(st.sampled_from(["no folder", "folder", "fifo", "link", "device", "older"]))
        return command, (">", str(n), how)
    flags = sorted(
        {flag for option in options_of(command) for flag in option.opts if flag.startswith("-")}
        - {*COSTLY.get(command, ())}
    )
    if not flags:
        return command, ("option", "--nothing", "x")
    return command, ("option", draw(st.sampled_from(flags)), draw(st.sampled_from(HOSTILE)))


@settings(max_examples=worlds(240))
@given(calls())
def test_hostile_calls(world: Path, tmp_path_factory: pytest.TempPathFactory, run_once: Run, drawn: Any) -> None:
    command, (what, where, how) = drawn
    before = contents(world)
    call = Call(run_once, command, world, tmp_path_factory.mktemp("hostile"))
    replaced: dict[int, str] = {}
    more: tuple[str, ...] = ()
    expected: set[int] = set() if command in UNTRAINED else {0}
    if what == "option":
        option = next((option for option in options_of(command) if where in option.opts), None)
        more = (where,) if getattr(option, "is_flag", False) else (where, how)
        expected = {0, 1, 2} if option else {2}
    else:
        n = int(where)
        place = call.folder / ("in" if what == "<" else "place") / call.words[n].text
        place.parent.mkdir()
        replaced[n] = str(place)
        given_text = call.place(call.words[n]).read_bytes() if call.place(call.words[n]).is_file() else b""
        if what == "<":
            if how == "empty":
                place.touch()
            elif how == "folder":
                place.mkdir()
            elif how == "garbage":
                shutil.copy(world / "garbage.file", place)
            elif how == "fifo":
                call.feeders.append(Feeder(place, given_text))
            elif how == "link":
                place.symlink_to(call.place(call.words[n]))
            elif how == "other":
                shutil.copy(world / "arpa", place)
            expected = {0} if how == "link" and command not in UNTRAINED else {0, 1}
            if how in ("missing", "folder") and not call.place(call.words[n]).is_dir():
                expected = {1}
        elif how == "no folder":
            replaced[n], expected = str(place.parent / "none" / place.name), {1}
        elif how == "folder":
            place.mkdir()
            expected = {1}
        elif how == "fifo":
            call.feeders.append(Feeder(place, None))
        elif how == "device":
            place.symlink_to("/dev/null")
        elif how == "older":
            place.write_text("older")
            place.chmod(0o600)
        elif how == "link":
            (call.folder / "target").touch()
            place.symlink_to(call.folder / "target")
    result = call(replaced, more)
    call.check(result, str(drawn))
    if command not in UNTRAINED:
        assert result.code in expected, (drawn, result)
    if what == ">" and result.code == 0:
        assert place.is_symlink() == (how in ("link", "device")) and place.is_fifo() == (how == "fifo"), drawn
        if how == "older":
            assert place.read_bytes() != b"older" and place.stat().st_mode & 0o777 == 0o600, drawn
        if how == "link":
            assert place.stat().st_size, drawn
    assert contents(world) == before, drawn


@pytest.fixture(scope="module")
def run_once() -> Iterator[Run]:
    """The runner for hypothesis, which wants fixtures that last."""
    import contextlib
    import io
    import sys

    from treeglot import cli

    def run(*arguments: object) -> Result:
        class Both(io.TextIOWrapper):
            def __init__(self) -> None:
                super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

        out, err, old = Both(), Both(), sys.argv
        code: object = 0
        patch = pytest.MonkeyPatch()
        from cli_runner import command_of

        patch.setattr("typer.main.get_command", command_of)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        sys.argv = ["treeglot", *map(str, arguments)]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    cli.main()
                except SystemExit as stopped:
                    code = stopped.code or 0
        finally:
            sys.argv = old
            patch.undo()
        shown = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
        return Result(int(str(code)), *shown)

    yield run
