"""What the core offers, read from its stubs: every function, constructor, method and property with the types of its arguments."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import treeglot._core

FOLDER = Path(treeglot.__file__).parent / "_core"


@dataclass(frozen=True)
class Parameter:
    """``type`` is the annotation; ``optional``: it has a default; ``by_name``: after the star."""

    name: str
    type: ast.expr
    optional: bool
    by_name: bool
    rest: bool = False


@dataclass(frozen=True)
class Member:
    """A function of a room, or of a class in it."""

    room: str
    owner: str
    name: str
    parameters: tuple[Parameter, ...]
    is_property: bool = False
    is_static: bool = False

    def __str__(self) -> str:
        return ".".join(part for part in (self.room, self.owner, self.name) if part)


def room(name: str) -> ModuleType:
    return importlib.import_module("treeglot._core").__dict__[name]  # type: ignore[no-any-return]


def rooms() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.pyi") if path.stem != "__init__")


def tree_of(name: str) -> ast.Module:
    return ast.parse((FOLDER / f"{name}.pyi").read_text(encoding="utf-8"))


def aliases(name: str) -> dict[str, ast.expr]:
    """Names that stand for types in a stub, and where those of other stubs come from."""
    result: dict[str, ast.expr] = {}
    for node in tree_of(name).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            result[node.targets[0].id] = node.value
    return result


def imported(name: str) -> dict[str, str]:
    """Classes of other rooms that a stub speaks of: the class and its room."""
    result = {}
    for node in tree_of(name).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("treeglot._core."):
            result.update({alias.name: str(node.module).rpartition(".")[2] for alias in node.names})
    return result


def classes(name: str) -> list[ast.ClassDef]:
    """The classes of a room that are bound: no errors, no types of dictionaries."""
    plain = {"TypedDict", "ValueError"}
    bodies = [node for node in tree_of(name).body if isinstance(node, ast.ClassDef)]
    return [node for node in bodies if not any(isinstance(base, ast.Name) and base.id in plain for base in node.bases)]


def members() -> list[Member]:
    """Everything that can be called, overloads once."""
    result: dict[str, Member] = {}
    for name in rooms():
        for node in tree_of(name).body:
            if isinstance(node, ast.FunctionDef):
                member = _member(name, "", node)
                result.setdefault(str(member), member)
        for cls in classes(name):
            for function in cls.body:
                if isinstance(function, ast.FunctionDef):
                    member = _member(name, cls.name, function)
                    result.setdefault(str(member), member)
    return list(result.values())


def _member(room: str, owner: str, node: ast.FunctionDef) -> Member:
    marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
    return Member(
        room,
        owner,
        node.name,
        tuple(_parameters(node.args, method=bool(owner) and "staticmethod" not in marks)),
        "property" in marks,
        "staticmethod" in marks,
    )


def _parameters(given: ast.arguments, *, method: bool) -> Iterator[Parameter]:
    plain = given.args[1:] if method else given.args
    for place, argument in enumerate(plain):
        assert argument.annotation is not None
        yield Parameter(argument.arg, argument.annotation, place >= len(plain) - len(given.defaults), False)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        assert argument.annotation is not None
        yield Parameter(argument.arg, argument.annotation, default is not None, True)
    if given.kwarg is not None:
        assert given.kwarg.annotation is not None
        yield Parameter(given.kwarg.arg, given.kwarg.annotation, True, True, rest=True)
