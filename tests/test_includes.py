"""Includes of the core follow the table of rooms: a file may include its own room and those that the table names."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

CORE = Path(__file__).parent.parent / "cpp"

# A room and the rooms that it may include. Files that stand in grammars/ itself are a room (rules, extraction, the registry);
# each grammar's own folder is another, above the forest, and sees no other grammar's.
ROOMS: dict[str, set[str]] = {"base": set()}
ROOMS["trees"] = {"base"}
ROOMS["hypergraph"] = {"base"}
for _room in ("align", "subtrees", "kernels", "lm", "tuning"):
    ROOMS[_room] = {"base", "trees", "hypergraph"}
ROOMS["grammars"] = {"base", "trees", "hypergraph"}
ROOMS["table"] = {"base", "trees", "grammars"}
ROOMS["search"] = {"base", "trees", "lm", "grammars", "table"}
ROOMS["forest"] = ROOMS["search"] | {"hypergraph", "search"}
ROOMS["grammars/*"] = ROOMS["forest"] | {"forest"}
ROOMS["bindings"] = set(ROOMS)

# Folders that several grammars share.
FAMILIES = {"grammars/hdr", "grammars/tree2tree"}

SOURCES = sorted([*CORE.rglob("*.hh"), *CORE.rglob("*.cc")])
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def folder(path: Path) -> str:
    return path.parent.as_posix() if path.parent != Path() else ""


def room(folder: str) -> str:
    return "grammars/*" if folder.startswith("grammars/") else folder


def allowed(own: str, other: str) -> bool:
    if own == other:
        return True
    if room(other) not in ROOMS[room(own)] | {room(own)}:
        return False
    # From one grammar's folder to another's only if that is a family's.
    return not (own.startswith("grammars/") and other.startswith("grammars/")) or other in FAMILIES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_includes_go_up(path: Path) -> None:
    own = folder(path.relative_to(CORE))
    if own:
        assert room(own) in ROOMS, f"{own} is not in the table of rooms"
    text = path.read_text(encoding="utf-8")
    wrong = []
    for name in INCLUDE.findall(text):
        assert (CORE / name).is_file(), f'{path}: "{name}" is not a path from cpp/'
        if not allowed(own, folder(Path(name))):
            wrong.append(name)
    assert not wrong, f"{path.relative_to(CORE)} may not include {', '.join(wrong)}"
    assert path.suffix == ".cc" or "#pragma once" in text


def test_the_rooms_have_no_cycle() -> None:
    order: list[str] = []
    while len(order) < len(ROOMS):
        free = [room for room in ROOMS if room not in order and ROOMS[room] <= set(order)]
        assert free, f"a cycle among {sorted(set(ROOMS) - set(order))}"
        order.extend(free)


def test_headers_include_what_they_say_without_a_cycle() -> None:
    below = {
        path.relative_to(CORE).as_posix(): set(INCLUDE.findall(path.read_text(encoding="utf-8")))
        for path in SOURCES
        if path.suffix == ".hh"
    }
    done: set[str] = set()
    while len(done) < len(below):
        free = {name for name, needs in below.items() if name not in done and needs <= done}
        assert free, f"a cycle among {sorted(set(below) - done)}"
        done |= free


def test_a_type_has_one_definition() -> None:
    """Two types with one name in one namespace are not noticed by the compiler, and one's functions are used for the other."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        namespace, anonymous = "", False
        for line in text.splitlines():
            if opened := re.match(r"namespace (\S+) \{", line):
                namespace = opened[1]
            elif line.startswith("namespace {"):
                anonymous = True
            elif line.startswith("}  // namespace"):
                anonymous, namespace = (False, namespace) if anonymous else (False, "")
            elif not anonymous and (
                definition := re.match(r"(?:struct|class|enum class|enum) ([\w:]+\w)[^;]*\{", line)
            ):
                places[f"{namespace}::{definition[1]}"].append(path.relative_to(CORE).as_posix())
    assert len(places) > 100
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice, twice
