"""Every reader refuses every kind of damage with an error that says file, line, cause and remedy."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bad_inputs
from bad_inputs import BadInput
from treeglot import TreeglotError

CASES: list[BadInput] = [
    case
    for module in sorted(info.name for info in pkgutil.iter_modules(bad_inputs.__path__))
    for case in importlib.import_module(f"bad_inputs.{module}").CASES
]


def test_names_are_unique_and_many() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input(case: BadInput, tmp_path: Path) -> None:
    for name, content in case.files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TreeglotError) as caught:
        result: Any = case.read(tmp_path)
        if isinstance(result, Iterator):
            for _ in result:
                pass
    error = caught.value
    blamed = case.blamed or next(iter(case.files))
    assert error.path is not None and error.path.endswith(blamed), error
    assert error.line == case.line, error
    assert case.says in error.message, error
    assert error.remedy, error
    assert {path.name for path in tmp_path.iterdir()} == set(case.files), "a reader must leave nothing behind"
