"""Which parsers there are, which of them work here, and how to get the rest.

`open_parser("auto", "fr")` takes the best backend that is ready for the language; `available` lists them all.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treeglot.errors import ParserError
from treeglot.languages import language_code, language_name
from treeglot.parsers.base import BackendUnavailable, Parser, ParserSpec, TreeKind


@dataclass(frozen=True)
class ModelInfo:
    """What a backend has for one language: ``how`` says what to do if it is not ``installed``.

    ``brings_backend``: that installs the backend, too."""

    lang: str
    name: str
    trees: frozenset[TreeKind]
    installed: bool
    how: str = ""
    brings_backend: bool = False


@dataclass(frozen=True)
class BackendInfo:
    """One backend: whether it can run here (``installed``), its version, its languages, and ``how`` to get it."""

    name: str
    installed: bool
    version: str
    models: tuple[ModelInfo, ...]
    how: str = ""
    note: str = ""

    def languages(self) -> tuple[str, ...]:
        """The languages that can be parsed at once."""
        return tuple(sorted({model.lang for model in self.models if model.installed})) if self.installed else ()

    def model(self, lang: str) -> ModelInfo | None:
        """The installed model of a language."""
        return next((model for model in self.models if model.installed and model.lang == lang), None)

    def steps(self, lang: str) -> tuple[str, ...]:
        """What to do, one after the other, until the language can be parsed; nothing if no way is known."""
        model = next((model for model in self.models if model.lang == lang and model.how), None)
        first = () if self.installed or not self.how else (self.how,)
        if model is None:  # a backend without models of its own, for which one is trained or found
            return (*first, self.note) if self.note and not self.models else ()
        return (model.how,) if model.brings_backend else (*first, model.how)


_MODULES = {
    "stanza": "treeglot.parsers.stanza",
    "corenlp": "treeglot.parsers.corenlp",
    "benepar": "treeglot.parsers.benepar",
    "spacy": "treeglot.parsers.spacy",
    "udpipe": "treeglot.parsers.udpipe",
    "files": "treeglot.parsers.files",
}

AUTO_ORDER = ("stanza", "corenlp", "benepar", "spacy", "udpipe")
"""Best first. Backends that give both trees come before backends that give only dependencies."""


def available(lang: str | None = None) -> list[BackendInfo]:
    """All backends in the order of preference, with the models for ``lang`` or for every language."""
    code = language_code(lang) if lang else None
    infos: list[BackendInfo] = [_info(name) for name in _MODULES]
    if code is None:
        return infos
    return [
        BackendInfo(
            info.name,
            info.installed,
            info.version,
            tuple(model for model in info.models if model.lang == code),
            info.how,
            info.note,
        )
        for info in infos
    ]


def open_parser(backend: str = "auto", lang: str = "", **options: Any) -> Parser:
    """Open a parser for a language. ``options`` are those of the backend; an unknown one is an error that lists them.

    ``module:function`` opens a parser of one's own: the function gets the language and the options and returns a `Parser`.
    ``auto`` takes the first of stanza, corenlp, benepar, spacy, udpipe that is installed with a model for the language, a
    backend with both trees before one without.
    """
    if not lang:
        raise ParserError("no language is named", remedy="give a language code such as zh, en, fr, de")
    code = language_code(lang)
    name = best_backend(code) if backend == "auto" else backend
    make = _opener(name)
    known = {
        parameter.name
        for parameter in inspect.signature(make).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    unknown = sorted(set(options) - known)
    if unknown:
        raise ParserError(
            f"{name} has no option {unknown[0]!r}", remedy=f"its options are {', '.join(sorted(known)) or 'none'}"
        )
    parser = make(code, **options)
    parser.spec = ParserSpec(name, code, dict(options))
    return parser


def stanford_languages(name: str) -> frozenset[str]:
    """The languages for which a backend has Stanford dependencies beside Universal ones (its option ``dependencies``).

    >>> sorted(stanford_languages("corenlp")), sorted(stanford_languages("files"))
    (['en', 'zh'], [])
    """
    known: frozenset[str] = frozenset()
    if name in _MODULES:
        known = getattr(importlib.import_module(_MODULES[name]), "STANFORD_LANGUAGES", known)
    return known


def _opener(name: str) -> Callable[..., Parser]:
    if name in _MODULES:
        opener: Callable[..., Parser] = importlib.import_module(_MODULES[name]).open_backend
        return opener
    module, colon, function = name.partition(":")
    if not colon:
        raise ParserError(
            f"no parser {name!r}", remedy=f"parsers are auto, {', '.join(_MODULES)}, or your own as module:function"
        )
    try:
        opener = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ParserError(f"cannot open {name!r}: {error}", remedy="check the module and the function") from None
    return opener


def best_backend(lang: str) -> str:
    """The backend that ``auto`` takes for a language."""
    ready = []
    ways = []
    for rank, name in enumerate(AUTO_ORDER):
        info = _info(name)
        model = info.model(lang) if info.installed else None
        if model is not None:
            ready.append((-len(model.trees), rank, name))
        elif steps := info.steps(lang):
            has_model = any(model.lang == lang for model in info.models)
            by_pip = steps[-1].startswith("pip ")
            ways.append((not has_model, len(steps), not by_pip, rank, ", then ".join(steps)))
    if not ready:
        shortest = " | ".join(way for *_, way in sorted(ways)[:3])
        raise BackendUnavailable(
            f"no parser for {language_name(lang)} is installed",
            remedy=shortest or "see `treeglot parsers list`, or parse elsewhere and use --parser files",
        )
    return min(ready)[2]


def _info(name: str) -> BackendInfo:
    info: BackendInfo = importlib.import_module(_MODULES[name]).info()
    return info
