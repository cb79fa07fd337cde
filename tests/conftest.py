"""Shared fixtures: where the optional real data is, and a skip that says so when it is not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads spin, which costs minutes on a busy machine
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from cli_runner import Run, make_runner
from effort import tries
from treeglot import progress

collect_ignore = ["fake_java.py", "fuzz_readers.py"]  # programs of their own, not tests

# One profile for all: no deadline (machines are shared), and the same examples in every run.
settings.register_profile("treeglot", deadline=None, derandomize=True, max_examples=tries(100))
settings.load_profile("treeglot")

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """``data("trees/ud-pud")`` is that folder or file; the test is skipped if it is absent."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"no {path}: set TREEGLOT_DATA to the folder that has {name}")
        return path

    return find


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("trees", "stats", path)`` runs the command line; the result has code, out and err."""
    return make_runner(capfd, monkeypatch)


@pytest.fixture(autouse=True)
def _not_quiet() -> None:
    """A call with --quiet in the same process keeps nobody else quiet."""
    progress.set_quiet(False)
