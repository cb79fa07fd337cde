"""Whatever the functions of the core are called with, they answer or raise; they never crash, hang, or answer with nonsense.

All of them are found in the stubs. Each is called in a process of its own, with good arguments of which some are replaced.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import treeglot._core
from effort import EFFORT
from hostile.stubs import Member, classes, members, room, rooms
from hostile.values import Values, unmade
from hostile.world import Objects

NOT_A_NUMBER = {
    # What is given is what is scored: nothing is computed with it that could mislead later.
    "align.hmm_posteriors",
}
"""Functions that take NaN."""

PATIENCE = 60
"""Seconds that a process may take."""

EXAMPLES = max(10, round(60 * EFFORT))

MORE_MEMORY = 2 << 30
"""What a process may take beyond what it has: a size that is made up must not be taken."""

RAISED = (
    TypeError,
    ValueError,
    IndexError,
    KeyError,
    RuntimeError,
    MemoryError,
    OverflowError,
    OSError,
    ZeroDivisionError,
)

MEMBERS = {str(member): member for member in members()}
METHODS: dict[str, list[Member]] = {}
for known in MEMBERS.values():
    METHODS.setdefault(f"{known.room}.{known.owner}", []).append(known)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Objects(tmp_path_factory.mktemp("hostile"))


def in_a_process(work: Callable[[Callable[[str], None]], None], patience: int = PATIENCE) -> str:
    """Call ``work`` in a child, which may say what it does now; what went wrong, or nothing."""
    with tempfile.TemporaryFile() as notes, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _quiet(errors.fileno(), patience)
                work(lambda text: _say(notes.fileno(), text))
                code = 0
            except BaseException as error:
                where = "".join(traceback.format_tb(error.__traceback__)[-3:])
                os.write(2, f"{type(error).__name__}: {error!s:.1000}\n{where}".encode(errors="replace"))
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        notes.seek(0)
        errors.seek(0)
        last, trace = notes.read().decode(errors="replace"), errors.read().decode(errors="replace")
    if status == 0:
        return ""
    signalled = os.WIFSIGNALED(status)
    how = signal.Signals(os.WTERMSIG(status)).name if signalled else f"exit code {os.WEXITSTATUS(status)}"
    trace = "\n".join(trace.splitlines()[:8]) if signalled else trace  # where a signal came
    return f"{how} in {last}\n{trace[-2000:]}"


def _quiet(errors: int, patience: int) -> None:
    import faulthandler

    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(errors, 2)
    faulthandler.enable(2, all_threads=False)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(patience)
    if "libasan" not in Path("/proc/self/maps").read_text():
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY, now + MORE_MEMORY))


def _say(handle: int, text: str) -> None:
    data = text.encode(errors="backslashreplace")[:4000]
    os.ftruncate(handle, 0)
    os.pwrite(handle, data, 0)


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r:.200}" for name, value in arguments.items())


def _call(member: Member, owner: Any, arguments: dict[str, Any]) -> None:
    """Call it; what it may raise is passed over."""
    rest = next((p.name for p in member.parameters if p.rest), None)
    named = dict(arguments)
    more = named.pop(rest, {}) if rest else {}
    try:
        if member.is_property:
            getattr(owner, member.name)
        elif member.name == "__init__":
            getattr(room(member.room), member.owner)(**named, **more)
        elif member.name.startswith("__"):
            {"__len__": len, "__hash__": hash}[member.name](owner)
        elif member.owner:
            getattr(getattr(room(member.room), member.owner) if member.is_static else owner, member.name)(
                **named, **more
            )
        else:
            getattr(room(member.room), member.name)(**named, **more)
    except RAISED as error:
        if isinstance(error, RuntimeError) and "std::" in str(error):  # nobody thought of it
            raise AssertionError(f"{type(error).__name__}: {error}") from error


def test_the_stubs_name_everything_that_is_bound() -> None:
    """So that nothing is left out below."""
    for name in rooms():
        module = room(name)
        known = {
            f"{member.owner}.{member.name}" if member.owner else member.name
            for member in MEMBERS.values()
            if member.room == name
        }
        bound = set()
        for key, value in vars(module).items():
            if key.startswith("__") or isinstance(value, int | tuple | str):
                continue
            if not isinstance(value, type):
                bound.add(key)
            elif not issubclass(value, Exception):
                bound |= {f"{key}.{part}" for part in vars(value) if not part.startswith("__") or part in ("__len__",)}
        assert bound <= known, bound - known
    modules = {key for key, value in vars(treeglot._core).items() if type(value).__name__ == "module"}
    assert modules == set(rooms())


def test_there_is_a_good_object_of_every_class(objects: Objects) -> None:
    for name in rooms():
        for node in classes(name):
            assert isinstance(objects.make[f"{name}.{node.name}"](), getattr(room(name), node.name))


@pytest.mark.parametrize("name", MEMBERS)
def test_hostile_arguments(objects: Objects, name: str) -> None:
    member = MEMBERS[name]
    methods = [m for m in METHODS[f"{member.room}.{member.owner}"] if m.name != "__init__"] if member.owner else []
    values = {chosen: Values(objects, chosen) for chosen in (member, *methods)}

    def arguments_for(chosen: Member, owner: Any, data: st.DataObject) -> dict[str, Any]:
        try:
            arguments = objects.good_arguments(str(chosen), owner)
        except (TypeError, IndexError):  # of an object that was not made, or is empty by now
            arguments = {}
        parameters = [
            p for p in chosen.parameters if not (p.optional and p.name not in arguments and data.draw(st.booleans()))
        ]
        bad = data.draw(st.sets(st.sampled_from(range(len(parameters))), max_size=2)) if parameters else set()
        for place, parameter in enumerate(parameters):
            if parameter.name not in arguments or place in bad:
                arguments[parameter.name] = data.draw(values[chosen].any(parameter))
        return arguments

    def work(say: Callable[[str], None]) -> None:
        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(st.data())
        def attack(data: st.DataObject) -> None:
            owner = None
            calls = [member]
            if member.owner and member.name != "__init__" and not member.is_static:
                make = objects.make[f"{member.room}.{member.owner}"]
                owner = make()
                if data.draw(st.integers(0, 19)) == 0:
                    owner = unmade(owner)
                calls = [
                    *data.draw(st.lists(st.sampled_from(methods), max_size=2)),
                    member,
                    *data.draw(st.lists(st.sampled_from(methods), max_size=1)),
                ]
            done = []
            for called in calls:
                arguments = arguments_for(called, owner, data)
                done.append(f"{called}({_shown(arguments)})")
                say("; ".join(done))
                _call(called, owner, arguments)

        attack()

    problem = in_a_process(work)
    assert not problem, problem


def test_good_arguments_are_good(objects: Objects) -> None:
    """Or a call would be refused before it comes to what is tried."""
    for name, member in MEMBERS.items():
        make = objects.make.get(f"{member.room}.{member.owner}")
        owner = make() if make is not None and member.name != "__init__" else None
        arguments = objects.good_arguments(name, owner)
        if not arguments:
            continue
        if member.name == "__init__":
            getattr(room(member.room), member.owner)(**arguments)
        else:
            getattr(owner if owner is not None else room(member.room), member.name)(**arguments)


def _poisoned(value: Any, bad: float) -> Any:
    """The value with a number that is none in the place of its first float; None if it has no float."""
    if isinstance(value, float):
        return bad
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        value = value.copy()
        value.flat[0] = bad
        return value
    if isinstance(value, list | tuple):
        for place, item in enumerate(value):
            changed = _poisoned(item, bad)
            if changed is not None:
                return type(value)([*value[:place], changed, *value[place + 1 :]])
    return None


@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_no_number_is_refused(objects: Objects, name: str) -> None:
    member = MEMBERS[name]
    make = objects.make.get(f"{member.room}.{member.owner}")
    owner = make() if make is not None and member.name != "__init__" else None
    function = (
        getattr(room(member.room), member.owner)
        if member.name == "__init__"
        else getattr(owner if owner is not None else room(member.room), member.name, None)
    )
    for parameter, value in objects.good_arguments(name, owner).items():
        if _poisoned(value, math.nan) is None or parameter == "out" or name in NOT_A_NUMBER:
            continue
        arguments = {**objects.good_arguments(name, owner), parameter: _poisoned(value, math.nan)}
        with pytest.raises((ValueError, RuntimeError)):
            print(parameter, function(**arguments))
