"""The weights of the log-linear model: a readable file with one name and value a line, and Moses' ``[weight]`` section.

The names are those of Moses' default features; a feature with several values has them numbered from 1 in our file and on
one line in Moses' (spec: search and tuning, "Log-linear model").

>>> print(format_moses_weights(DEFAULT_WEIGHTS).splitlines()[5])
TranslationModel0= 0.2 0.2 0.2 0.2
>>> nearest_name("WordPenalty", FEATURES)
'WordPenalty0'
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence

from treeglot._core import search as core
from treeglot.errors import ConfigError, InputError
from treeglot.files import atomic_write, read_lines

FEATURES: tuple[str, ...] = core.FEATURE_NAMES
"""The features of the phrase-based model in the order of its feature vectors."""

_STARTS = {
    "Distortion0": 0.3,
    "LM0": 0.5,
    "WordPenalty0": -1.0,
    "PhrasePenalty0": 0.2,
    "TranslationModel0": 0.2,
    "LexicalReordering0": 0.3,
    "UnknownWordPenalty0": 1.0,
}
DEFAULT_WEIGHTS: dict[str, float] = {name: _STARTS[name.partition("_")[0]] for name in FEATURES}
"""Moses' own starting point for tuning."""

# What a file may leave out, because not every system has it or nobody tunes it.
_OPTIONAL = {name: 0.0 for name in FEATURES if name.startswith("LexicalReordering")} | {"UnknownWordPenalty0": 1.0}

# Names that Moses gives to features without a name of their own.
_MOSES_NAMES = {
    "KENLM0": "LM0",
    "SRILM0": "LM0",
    "IRSTLM0": "LM0",
    "PhraseDictionaryMemory0": "TranslationModel0",
    "PhraseDictionaryCompact0": "TranslationModel0",
    "ProbingPT0": "TranslationModel0",
}


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The valid name that looks most like ``name``."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.4)
    return close[0] if close else None


def read_weights(path: str | os.PathLike[str], names: Sequence[str] = FEATURES) -> dict[str, float]:
    """Read a file of lines ``name value`` or ``name = value``; ``#`` starts a comment.

    Every name of ``names`` must be there once, but the lexicalised reordering (0) and the unknown-word penalty (1) may be
    left out. The result has the order of ``names``.
    """
    found: dict[str, float] = {}
    number = 0
    for number, raw in read_lines(path):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        parts = line.replace("=", " ", 1).split()
        if len(parts) != 2:
            raise InputError(
                f"{len(parts)} fields instead of a name and a value", path=path, line=number, remedy="write: LM0 = 0.5"
            )
        _add(found, parts[0], parts[1], names, path, number)
    return _complete(found, names, path, number)


def write_weights(path: str | os.PathLike[str], weights: Mapping[str, float]) -> None:
    """Write one line ``name = value`` for each weight; `read_weights` gives back exactly the same numbers."""
    with atomic_write(path) as file:
        for name, value in weights.items():
            file.write(f"{name} = {float(value)!r}\n")


def read_moses_weights(path: str | os.PathLike[str], names: Sequence[str] = FEATURES) -> dict[str, float]:
    """The ``[weight]`` section of a moses.ini."""
    sizes = _sizes(names)
    found: dict[str, float] = {}
    inside = seen = False
    number = 0
    for number, raw in read_lines(path):
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            inside = line == "[weight]"
            seen = seen or inside
        elif line and inside:
            name, equals, values = line.partition("=")
            name = _MOSES_NAMES.get(name.strip(), name.strip())
            if not equals:
                raise InputError("no '=' after the name", path=path, line=number, remedy="write: LM0= 0.5")
            if name not in sizes:
                raise _unknown(name, sizes, path, number)
            fields = values.split()
            if len(fields) != sizes[name]:
                raise InputError(
                    f"{name} has {len(fields)} weights instead of {sizes[name]}",
                    path=path,
                    line=number,
                    remedy="give one weight for each score of the feature",
                )
            numbered = [name] if name in names else [f"{name}_{i}" for i in range(1, len(fields) + 1)]
            for full, value in zip(numbered, fields, strict=True):
                _add(found, full, value, names, path, number)
    if not seen:
        raise InputError("no [weight] section", path=path, line=max(number, 1), remedy="give a moses.ini with weights")
    return _complete(found, names, path, number)


def format_moses_weights(weights: Mapping[str, float]) -> str:
    """The ``[weight]`` section for a moses.ini."""
    lines = ["[weight]"]
    for name, size in _sizes(list(weights)).items():
        numbered = [name] if name in weights else [f"{name}_{i}" for i in range(1, size + 1)]
        lines.append(f"{name}= " + " ".join(repr(float(weights[full])) for full in numbered))
    return "\n".join(lines) + "\n"


def vector(weights: Mapping[str, float], names: Sequence[str] = FEATURES) -> list[float]:
    """The weights in the order of ``names``; a `ConfigError` says which is missing, unknown or no number."""
    for name, value in weights.items():
        if name not in names:
            near = nearest_name(name, names)
            raise ConfigError(
                f"unknown feature '{name}'",
                remedy=(f"did you mean '{near}'? " if near else "") + f"Valid names: {', '.join(names)}",
            )
        if not math.isfinite(value):
            raise ConfigError(f"the weight of '{name}' is {value}", remedy="give a finite number")
    missing = [name for name in names if name not in weights and name not in _OPTIONAL]
    if missing:
        raise ConfigError(f"no weight for {', '.join(missing)}", remedy="start from DEFAULT_WEIGHTS or a weight file")
    return [float(weights.get(name, _OPTIONAL.get(name, 0.0))) for name in names]


def _sizes(names: Sequence[str]) -> dict[str, int]:
    """Features by Moses' names with the number of their weights."""
    sizes: dict[str, int] = {}
    for name in names:
        stem, underscore, index = name.rpartition("_")
        key = stem if underscore and index.isdecimal() else name
        sizes[key] = sizes.get(key, 0) + 1
    return sizes


def _unknown(name: str, names: Iterable[str], path: str | os.PathLike[str], line: int) -> InputError:
    valid = list(names)
    near = nearest_name(name, valid)
    return InputError(
        f"unknown feature '{name}'",
        path=path,
        line=line,
        remedy=(f"did you mean '{near}'? " if near else "") + f"Valid names: {', '.join(valid)}",
    )


def _add(
    found: dict[str, float], name: str, value: str, names: Sequence[str], path: str | os.PathLike[str], line: int
) -> None:
    if name not in names:
        raise _unknown(name, names, path, line)
    if name in found:
        raise InputError(f"'{name}' a second time", path=path, line=line, remedy="keep one of the two lines")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"'{value}' is not a number", path=path, line=line, remedy="write a number such as 0.25")
    found[name] = number


def _complete(
    found: dict[str, float], names: Sequence[str], path: str | os.PathLike[str], line: int
) -> dict[str, float]:
    missing = [name for name in names if name not in found and name not in _OPTIONAL]
    if missing:
        raise InputError(
            f"no weight for {', '.join(missing)}", path=path, line=max(line, 1), remedy="add a line for each name"
        )
    return {name: found.get(name, _OPTIONAL.get(name, 0.0)) for name in names}
