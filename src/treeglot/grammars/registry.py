"""The grammars that there are, as the core declares them: what each needs, its options, features and limits.

A grammar is declared once, in C++ beside its extractor and matcher (``cpp/grammars/NAME/``). Systems, configuration keys and
their checks, choices and help of the command line, table headers and pictures ask here. A grammar's Python module,
``treeglot.grammars.NAME``, is its *door*: documentation, examples and presets.

A grammar of one's own is a shared library (see docs/design.md) that the environment variable ``TREEGLOT_GRAMMARS`` names, with the
Python module of its presets behind an @: ``mine.so@my_module``; several are separated as in ``PATH``.

>>> sorted(grammar.name for grammar in grammars().values() if "target_constituency" not in grammar.needs)[:3]
['augmented', 'cons2str', 'consdep2str']
>>> grammar("hierarchical").option("max_gaps").default
2
>>> grammar("hierarchial")
Traceback (most recent call last):
    ...
treeglot.ConfigError: there is no grammar 'hierarchial'
  remedy: did you mean 'hierarchical'? Grammars are ...
"""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from treeglot._core import rules as core
from treeglot._core import search
from treeglot.errors import ConfigError, TreeglotError

Value = bool | int | float | str

COMMON_FEATURES: tuple[str, ...] = search.FOREST_FEATURES
"""The features of every system over a forest."""
BLOCK_FEATURES: tuple[str, ...] = search.BLOCK_FEATURES
"""ln P(t|s), P(s|t), Plex(t|s), Plex(s|t), and the number of rules: what every grammar has."""

# Near where tuning ends on several corpora, so that its first lists are good ones.
_COMMON_STARTS = {"lm": 0.2, "words": 0.8, "copied": -0.1, "pseudo": -0.3, "glue": -0.2}
_BLOCK_STARTS = {"p_ts": 0.3, "p_st": 0.15, "lex_ts": 0.2, "lex_st": 0.1}


@dataclass(frozen=True)
class Option:
    """An option of a grammar. Numbers are from ``low`` to ``high``, texts one of ``choices``."""

    name: str
    default: Value
    low: float
    high: float
    choices: tuple[str, ...]
    extraction: bool
    matching: bool
    help: str


@dataclass(frozen=True)
class Feature:
    """A feature that a grammar has beside the common ones; ``start`` is where tuning starts. With ``option`` only systems have it
    in which that option has one of ``values``."""

    name: str
    start: float
    help: str
    option: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grammar:
    """A grammar as it is declared; see ``cpp/grammars/registry.hh`` for what the fields mean."""

    name: str
    title: str
    needs: frozenset[str]
    """Of ``source_dependency``, ``source_constituency``, ``target_dependency``, ``target_constituency``, ``node_links``."""
    options: tuple[Option, ...]
    own_features: tuple[Feature, ...]
    rule_start: float
    has_rules: bool
    """Whether it has a rule table; the bilingual phrases have a table of their own kind."""
    has_forest: bool
    """Whether it makes a forest of its own over a source sentence (`treeglot.grammars.source_forests`)."""
    labels: bool
    uses_phrases: bool
    link_chance: float
    """Of the word links that suit its rules, where the aligner gives chances; 0: as ``heuristic`` says."""
    heuristic: str
    """The same for other aligners; empty: the links of the phrases."""
    node_link_option: str
    """The option whose other values than the default are for links of nodes; or empty."""
    subtree_nodes: bool
    stack_limit: int
    rule_limit: int

    def option(self, name: str) -> Option:
        """The option of that name."""
        for option in self.options:
            if option.name == name:
                return option
        raise ConfigError(
            f"{self.name} has no option {name!r}",
            remedy=nearest(name, [option.name for option in self.options], "Options are"),
        )

    @property
    def source_trees(self) -> frozenset[str]:
        """The kinds of trees of the source that it needs: ``dependency``, ``constituency``."""
        return frozenset(need.removeprefix("source_") for need in self.needs if need.startswith("source_"))

    @property
    def target_trees(self) -> frozenset[str]:
        """The kinds of trees of the target that it is learnt from."""
        return frozenset(need.removeprefix("target_") for need in self.needs if need.startswith("target_"))

    def features(self, options: Mapping[str, Any] | None = None) -> dict[str, float]:
        """The names of its block of features with these options, in order, and where tuning starts."""
        common = {name: _BLOCK_STARTS.get(name, self.rule_start) for name in BLOCK_FEATURES}
        return {f"{self.name}.{name}": start for name, start in common.items()} | {
            f"{self.name}.{feature.name}": feature.start
            for feature in self.own_features
            if not feature.option
            or _text((options or {}).get(feature.option, self.option(feature.option).default)) in feature.values
        }

    @cached_property
    def door(self) -> ModuleType:
        """Its Python module."""
        return importlib.import_module(_DOORS.get(self.name, f"treeglot.grammars.{self.name}"))

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """The named systems of its module."""
        presets: Mapping[str, Mapping[str, Any]] = getattr(self.door, "PRESETS", {})
        return presets


def _text(value: object) -> str:
    """A value of a choice or a flag as features name it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


_DOORS: dict[str, str] = {}
_LOADED: set[str] = set()
_KNOWN: dict[str, Grammar] = {}


def grammars() -> dict[str, Grammar]:
    """All grammars by name, in the order of their names."""
    _load_named()
    described = core.grammars()
    if len(described) != len(_KNOWN):
        for record in described:
            if record["name"] not in _KNOWN:
                _KNOWN[record["name"]] = _grammar(record)
    return dict(sorted(_KNOWN.items()))


def _load_named() -> None:
    """Load what the environment names, once."""
    for entry in filter(None, os.environ.get("TREEGLOT_GRAMMARS", "").split(os.pathsep)):
        if entry not in _LOADED:
            _LOADED.add(entry)
            path, _, door = entry.partition("@")
            load_grammars(path, door or None)


def _grammar(record: core.GrammarRecord) -> Grammar:
    return Grammar(
        name=record["name"],
        title=record["title"],
        needs=frozenset(name for name, needed in record["needs"].items() if needed),
        options=tuple(Option(**option) for option in record["options"]),
        own_features=tuple(Feature(*feature) for feature in record["features"]),
        rule_start=record["rule_start"],
        has_rules=record["has_rules"],
        has_forest=record["has_forest"],
        labels=record["labels"],
        uses_phrases=record["uses_phrases"],
        link_chance=record["link_chance"],
        heuristic=record["heuristic"],
        node_link_option=record["node_link_option"],
        subtree_nodes=record["subtree_nodes"],
        stack_limit=record["stack_limit"],
        rule_limit=record["rule_limit"],
    )


def grammar(name: str) -> Grammar:
    """The grammar of that name."""
    known = grammars()
    if name not in known:
        raise ConfigError(f"there is no grammar {name!r}", remedy=nearest(name, known, "Grammars are"))
    return known[name]


def rule_grammars() -> tuple[str, ...]:
    """The names of the grammars with a rule table."""
    return tuple(name for name, known in grammars().items() if known.has_rules)


def phrase_grammar() -> Grammar:
    """The bilingual phrases: the one grammar without a rule table."""
    return next(known for known in grammars().values() if not known.has_rules)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Grammars in the order that feature vectors have: rule tables by name, then the bilingual phrases."""
    wanted = {grammar(name).name for name in names}
    return (
        *(name for name in rule_grammars() if name in wanted),
        *(name for name in wanted if not grammar(name).has_rules),
    )


def uses_phrases(names: Iterable[str]) -> bool:
    """Whether a system of these grammars has bilingual phrases: it names them, or a grammar's nodes are filled by them."""
    return any(grammar(name).uses_phrases for name in names)


def blocks(names: Iterable[str]) -> tuple[str, ...]:
    """The grammars of a forest system with feature columns, in their order."""
    named = list(names)
    return in_order([*named, *([phrase_grammar().name] if uses_phrases(named) else [])])


def forest_features(names: Iterable[str], options: Mapping[str, Any] | None = None) -> dict[str, float]:
    """The features of a system over a forest, in the order of its feature vectors, and where tuning starts. ``options`` are those
    of its grammars that are not the default.

    >>> set(forest_features(["dep2str"], {"decompose": "attach"})) - set(forest_features(["dep2str"])) >= {"dep2str.attach_p_ts"}
    True
    """
    starts = {name: _COMMON_STARTS[name] for name in COMMON_FEATURES}
    for block in blocks(names):
        starts |= grammar(block).features(options)
    return starts


def options(
    *, extraction: bool | None = None, matching: bool | None = None
) -> dict[str, tuple[Option, tuple[str, ...]]]:
    """Options of all grammars by name, each with the grammars that have it; limits and choices are the widest."""
    result: dict[str, tuple[Option, tuple[str, ...]]] = {}
    for known in grammars().values():
        for option in known.options:
            if (extraction is not None and option.extraction != extraction) or (
                matching is not None and option.matching != matching
            ):
                continue
            if option.name in result:
                first, names = result[option.name]
                widest = Option(
                    first.name,
                    first.default,
                    min(first.low, option.low),
                    max(first.high, option.high),
                    tuple(dict.fromkeys((*first.choices, *option.choices))),
                    first.extraction or option.extraction,
                    first.matching or option.matching,
                    first.help,
                )
                result[option.name] = widest, (*names, known.name)
            else:
                result[option.name] = option, (known.name,)
    return result


def load_grammars(path: str | os.PathLike[str], door: str | None = None) -> tuple[str, ...]:
    """Load a shared library that declares grammars; ``door`` names their Python module. Returns the new names."""
    before = {record["name"] for record in core.grammars()}
    try:
        core.load_grammars(os.fspath(path))
    except RuntimeError as error:
        raise TreeglotError(str(error), path=path, remedy="build it against this version of treeglot") from None
    fresh = tuple(record["name"] for record in core.grammars() if record["name"] not in before)
    if door is not None:
        _DOORS.update(dict.fromkeys(fresh, door))
    return fresh


def nearest(name: str, names: Iterable[str], what: str) -> str:
    """A remedy: the name that looks most like ``name``, and all of them."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.4)
    return (f"did you mean {close[0]!r}? " if close else "") + f"{what} {', '.join(names)}"
