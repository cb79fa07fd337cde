"""The options of a format's reader or writer: which there are, of what types, and values for them from the command line.

They are the keyword arguments of the function, so a value is checked against its annotation; text is read as that type.

>>> def read(path, *, fuzzy: bool = False, plurals: Literal["all", "skip"] = "all", columns: tuple[int, int] = (1, 2)): ...
>>> kinds = declared_options(read)
>>> checked_value("fuzzy", "no", kinds["fuzzy"]), checked_value("plurals", "Skip", kinds["plurals"])
(False, 'skip')
>>> checked_value("columns", "2,1", kinds["columns"]), describe(kinds["plurals"])
((2, 1), 'all|skip')
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from treeglot.errors import ConfigError

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@functools.cache
def declared_options(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword arguments of a function with their types."""
    hints = typing.get_type_hints(function)
    return {p.name: hints[p.name] for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}


def describe(kind: Any) -> str:
    """The values that a type allows, for messages."""
    kind = _without_none(kind)
    origin = typing.get_origin(kind)
    if kind is bool:
        return "true|false"
    if origin is Literal:
        return "|".join(typing.get_args(kind))
    if kind is int:
        return "NUMBER"
    if origin is tuple:
        return ",".join(["NUMBER"] * len(typing.get_args(kind)))
    if origin is Mapping:
        return "NUMBER:NAME,..."
    return "NAME,..." if origin is Sequence else "TEXT"


def checked_value(name: str, value: Any, kind: Any) -> Any:
    """``value``, or what it says as text, if the type allows it; else an error that says what is allowed."""
    if value is None and type(None) in typing.get_args(kind):
        return None
    try:
        return _read(value, _without_none(kind))
    except (ValueError, TypeError):
        raise ConfigError(f"the option {name} is {value!r}", remedy=f"write {name}={describe(kind)}") from None


def _read(value: Any, kind: Any) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is bool:
        if isinstance(value, bool):
            return value
        return _choice(value, {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)})
    if origin is Literal:
        return _choice(value, {text.lower(): text for text in inside})
    if kind is int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise TypeError
        return int(value)
    if kind is str:
        if not isinstance(value, str):
            raise TypeError
        return value
    if origin is Mapping:
        if isinstance(value, str):
            value = dict(part.split(":", 1) for part in value.split(","))
        return {_read(key, inside[0]): _read(text, inside[1]) for key, text in value.items()}
    if origin in (tuple, Sequence):
        items = value.split(",") if isinstance(value, str) else list(value)
        if origin is tuple and len(items) != len(inside):
            raise ValueError
        return tuple(_read(item, kind) for item, kind in zip(items, inside * len(items), strict=False))
    raise TypeError(f"options of the type {kind} are not known")


def _choice(value: Any, choices: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or value.lower() not in choices:
        raise ValueError
    return choices[value.lower()]


def _without_none(kind: Any) -> Any:
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        [kind] = [part for part in typing.get_args(kind) if part is not type(None)]
    return kind
