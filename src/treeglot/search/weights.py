"""The weights of the log-linear model: a readable file with one name and value a line, and Moses' ``[weight]`` section.

Moses' names are known here and nowhere else. Two of its features have another sign or size than ours: WordPenalty0 is -1 for each
word (``words`` is 1), UnknownWordPenalty0 is -100 for each word that is copied (``copied`` is 1); their weights are converted, so that
the model's score stays the same (spec: search and tuning, "Log-linear model").

>>> from treeglot.search.features import start_weights
>>> print("".join(format_moses_weights(start_weights(["phrases"])).splitlines(keepends=True)[3:6]), end="")
WordPenalty0= -1.0
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2 0.2 0.2
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from treeglot.errors import ConfigError, InputError
from treeglot.files import atomic_write, read_lines
from treeglot.search.features import PHRASE_FEATURES, PHRASES, did_you_mean

_MOSES: dict[str, tuple[str, ...]] = {
    "Distortion0": ("distortion",),
    "LM0": ("lm",),
    "WordPenalty0": ("words",),
    "PhrasePenalty0": (f"{PHRASES}.rules",),
    "TranslationModel0": tuple(f"{PHRASES}.{name}" for name in ("p_st", "lex_st", "p_ts", "lex_ts")),
    "LexicalReordering0": tuple(name for name in PHRASE_FEATURES if ".reorder_" in name),
    "UnknownWordPenalty0": ("copied",),
}
"""Moses' default features, and ours in the order of their values."""

# The value of Moses' feature where ours is 1.
_MOSES_UNITS = {"words": Decimal(-1), "copied": Decimal(-100)}

# Names that Moses gives to features without a name of their own.
_MOSES_ALIASES = {
    "KENLM0": "LM0",
    "SRILM0": "LM0",
    "IRSTLM0": "LM0",
    "PhraseDictionaryMemory0": "TranslationModel0",
    "PhraseDictionaryCompact0": "TranslationModel0",
    "ProbingPT0": "TranslationModel0",
}

# What a file of the left-to-right search may leave out, because not every system has it or nobody tunes it.
_OPTIONAL = dict.fromkeys(_MOSES["LexicalReordering0"], 0.0) | {"copied": -100.0}

# One value a line, as files of earlier versions have them: TranslationModel0_1, …
_NUMBERED: dict[str, str] = {
    (name if len(ours) == 1 else f"{name}_{number}"): feature
    for name, ours in _MOSES.items()
    for number, feature in enumerate(ours, start=1)
}


def read_weights(path: str | os.PathLike[str], names: Sequence[str] = PHRASE_FEATURES) -> dict[str, float]:
    """Read a file of lines ``name value`` or ``name = value``; ``#`` starts a comment.

    Every name of ``names`` must be there once; for the left-to-right search the lexicalised reordering (0) and the copied words
    (-100) may be left out. A file of an earlier version, all of whose names are Moses', is converted. The result has the order of
    ``names``.
    """
    weights: dict[str, float] = {}
    number = 0
    of_moses: bool | None = None
    for number, raw in read_lines(path):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        parts = line.replace("=", " ", 1).split()
        if len(parts) != 2:
            raise InputError(
                f"{len(parts)} fields instead of a name and a value", path=path, line=number, remedy="write: lm = 0.5"
            )
        name, value = parts
        if of_moses is None:
            of_moses = name in _NUMBERED and tuple(names) == PHRASE_FEATURES
        if of_moses and name in _NUMBERED:
            _add(weights, _NUMBERED[name], value, names, path, number, moses_name=name)
        elif not of_moses and name in _NUMBERED:
            raise InputError(
                f"unknown feature '{name}': a name of Moses'",
                path=path,
                line=number,
                remedy="use one kind of names in a file; " + _ours(name),
            )
        elif of_moses and name in names:
            raise InputError(
                f"'{name}' in a file with names of Moses'",
                path=path,
                line=number,
                remedy="use one kind of names in a file",
            )
        else:
            _add(weights, name, value, names, path, number)
    return _complete(weights, names, path, number)


def write_weights(path: str | os.PathLike[str], weights: Mapping[str, float], *, note: str = "") -> None:
    """Write one line ``name = value`` for each weight; `read_weights` gives back exactly the same numbers.

    ``note`` becomes comments at the top, one for each of its lines.
    """
    with atomic_write(path) as file:
        file.writelines(f"# {line}\n" for line in note.splitlines())
        for name, value in weights.items():
            file.write(f"{name} = {float(value)!r}\n")


def read_moses_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """The ``[weight]`` section of a moses.ini, as weights of our features."""
    weights: dict[str, float] = {}
    inside = seen = False
    number = 0
    for number, raw in read_lines(path):
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            inside = line == "[weight]"
            seen = seen or inside
        elif line and inside:
            name, equals, values = line.partition("=")
            name = _MOSES_ALIASES.get(name.strip(), name.strip())
            if not equals:
                raise InputError("no '=' after the name", path=path, line=number, remedy="write: LM0= 0.5")
            if name not in _MOSES:
                raise _unknown(name, _MOSES, path, number)
            fields = values.split()
            if len(fields) != len(_MOSES[name]):
                raise InputError(
                    f"{name} has {len(fields)} weights instead of {len(_MOSES[name])}",
                    path=path,
                    line=number,
                    remedy="give one weight for each score of the feature",
                )
            for feature, value in zip(_MOSES[name], fields, strict=True):
                _add(weights, feature, value, PHRASE_FEATURES, path, number, moses_name=name)
    if not seen:
        raise InputError("no [weight] section", path=path, line=max(number, 1), remedy="give a moses.ini with weights")
    return _complete(weights, PHRASE_FEATURES, path, number)


def format_moses_weights(weights: Mapping[str, float]) -> str:
    """The ``[weight]`` section for a moses.ini; `read_moses_weights` gives back exactly the same numbers."""
    values = dict(zip(PHRASE_FEATURES, vector(weights), strict=True))
    lines = ["[weight]"]
    for name, ours in _MOSES.items():
        # By decimals, so that no digit is lost on the way there and back.
        shown = [str(Decimal(repr(values[feature])) / _MOSES_UNITS.get(feature, Decimal(1))) for feature in ours]
        lines.append(f"{name}= " + " ".join(shown))
    return "\n".join(lines) + "\n"


def vector(weights: Mapping[str, float], names: Sequence[str] = PHRASE_FEATURES) -> list[float]:
    """The weights in the order of ``names``; a `ConfigError` says which is missing, unknown or no number."""
    for name, value in weights.items():
        if name not in names:
            remedy = did_you_mean(name, names) + f"Valid names: {', '.join(names)}"
            raise ConfigError(f"unknown feature '{name}'", remedy=_ours(name) if name in _NUMBERED else remedy)
        if not math.isfinite(value):
            raise ConfigError(f"the weight of '{name}' is {value}", remedy="give a finite number")
    optional = _optional(names)
    missing = [name for name in names if name not in weights and name not in optional]
    if missing:
        raise ConfigError(f"no weight for {', '.join(missing)}", remedy="start from start_weights or a weight file")
    return [float(weights.get(name, optional.get(name, 0.0))) for name in names]


def _optional(names: Sequence[str]) -> Mapping[str, float]:
    return _OPTIONAL if tuple(names) == PHRASE_FEATURES else {}


def _ours(moses_name: str) -> str:
    return f"write '{_NUMBERED[moses_name]}' for '{moses_name}'"


def _unknown(name: str, names: Iterable[str], path: str | os.PathLike[str], line: int) -> InputError:
    valid = list(names)
    return InputError(
        f"unknown feature '{name}'",
        path=path,
        line=line,
        remedy=did_you_mean(name, valid) + f"Valid names: {', '.join(valid)}",
    )


def _add(
    weights: dict[str, float],
    name: str,
    value: str,
    names: Sequence[str],
    path: str | os.PathLike[str],
    line: int,
    *,
    moses_name: str = "",
) -> None:
    if name not in names:
        raise _unknown(name, names, path, line)
    if name in weights:
        raise InputError(
            f"'{moses_name or name}' a second time", path=path, line=line, remedy="keep one of the two lines"
        )
    try:
        number = float(value)
        if moses_name and name in _MOSES_UNITS and math.isfinite(number):
            number = float(Decimal(value) * _MOSES_UNITS[name])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"'{value}' is not a number", path=path, line=line, remedy="write a number such as 0.25")
    weights[name] = number


def _complete(
    weights: dict[str, float], names: Sequence[str], path: str | os.PathLike[str], line: int
) -> dict[str, float]:
    optional = _optional(names)
    missing = [name for name in names if name not in weights and name not in optional]
    if missing:
        raise InputError(
            f"no weight for {', '.join(missing)}", path=path, line=max(line, 1), remedy="add a line for each name"
        )
    return {name: weights.get(name, optional.get(name, 0.0)) for name in names}
