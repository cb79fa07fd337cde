"""Imports follow the table of rooms: a room may use only the rooms that the table names, never one below it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import treeglot

SOURCE = Path(treeglot.__file__).parent

# The room, and the other rooms that it may import. Rooms that do not exist yet are listed so that they start right.
ROOMS: dict[str, set[str]] = {
    "bitext": set(),
    "trees": set(),
    "parsers": {"trees"},
    "alignment": {"trees", "bitext"},
    "grammars": {"trees", "alignment"},
    "tables": {"grammars"},
    "lm": set(),
    "search": {"grammars", "tables", "lm", "trees"},
    "evaluation": set(),
    "tuning": {"search", "evaluation"},
    "examples": {"trees"},
}
ROOMS["pipeline"] = set(ROOMS)
ROOMS["explorer"] = {"pipeline"}
ROOMS["cli"] = set(ROOMS)

# Single modules at the top that every room may use; they may use only each other.
FOUNDATION = {
    "errors",
    "files",
    "languages",
    "links",
    "pages",
    "plots",
    "progress",
    "scratch",
    "words",
    "xmlstream",
    "_core",
}


def imported_rooms(path: Path) -> set[tuple[str, int]]:
    rooms: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            names = [node.module or ""]
            if node.module == "treeglot":
                names = [f"treeglot.{alias.name}" for alias in node.names if (SOURCE / alias.name).exists()]
        for name in names:
            parts = name.split(".")
            if parts[0] == "treeglot" and len(parts) > 1:
                rooms.add((parts[1], node.lineno))
    return rooms


MODULES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_up(path: Path) -> None:
    parts = path.relative_to(SOURCE).parts
    room = parts[0] if len(parts) > 1 else ""
    if room:
        assert room in ROOMS, f"{room} is not in the table of rooms"
    if path.name == "__main__.py":
        room = "cli"
    allowed = FOUNDATION | ({room} | ROOMS[room] if room else set())
    wrong = [f"line {line}: treeglot.{name}" for name, line in imported_rooms(path) if name not in allowed]
    assert not wrong, f"{path.relative_to(SOURCE)} may import {sorted(allowed)} but has {', '.join(wrong)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert len(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "") > 20


def test_the_rooms_have_no_cycle() -> None:
    order: list[str] = []
    while len(order) < len(ROOMS):
        free = [room for room in ROOMS if room not in order and ROOMS[room] <= set(order)]
        assert free, f"a cycle among {sorted(set(ROOMS) - set(order))}"
        order.extend(free)
