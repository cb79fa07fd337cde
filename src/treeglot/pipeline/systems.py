"""Systems: a system is a list of grammars with limits and weights of its own; the papers' systems are named presets.

Grammars only add edges to one translation forest (spec: search and tuning), so any of them combine. A system of
``phrases`` alone is the phrase-based decoder; any other is decoded over the trees of the source, and there the bilingual
phrases translate single words, whole subtrees and phrasal nodes (spec: tree-to-string, section 2). Named beside other grammars,
``phrases`` may cover any neighbouring members of a head and its dependents (``free_phrases``).

>>> best = preset("best")
>>> best.grammars, sorted(best.needs), best.is_phrase_based
(('consdep2str', 'augmented', 'phrases'), ['constituency', 'dependency'], False)
>>> [table.name for table in best.tables]
['consdep2str', 'augmented']
>>> preset("augmented").stack_limit, preset("dep2str").stack_limit
(200, 300)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Grammar = Literal["phrases", "dep2str", "augmented", "consdep2str", "cons2str", "hierarchical"]
GRAMMARS: tuple[Grammar, ...] = get_args(Grammar)
SpanMode = Literal["ghkm", "xie"]
Binarize = Literal["none", "left", "right", "head"]
TreeKind = Literal["dependency", "constituency"]

NEEDS: dict[Grammar, frozenset[TreeKind]] = {
    "phrases": frozenset(),
    "dep2str": frozenset({"dependency"}),
    "augmented": frozenset({"dependency"}),
    "consdep2str": frozenset({"dependency", "constituency"}),
    "cons2str": frozenset({"constituency"}),
    "hierarchical": frozenset(),
}
"""The trees of the source that each grammar is learnt from."""

DECODER_OPTIONS = (
    "stack_limit",
    "stack_threshold",
    "pop_limit",
    "rule_limit",
    "rule_threshold",
    "phrase_limit",
    "span_limit",
    "max_phrasal_nodes",
    "label_sets",
    "phrasal_recursion",
    "partial_rules",
    "pseudo_always",
    "free_phrases",
)
"""Options of a system that its decoder takes."""

AUGMENTED_STACK_LIMIT = 200
"""The paper's stack limit for the augmented dependency-to-string model."""


@dataclass(frozen=True)
class TableSpec:
    """A rule table; systems with the same grammar and the same options of extraction share it."""

    grammar: Grammar
    span_mode: SpanMode = "ghkm"
    binarize: Binarize = "none"
    max_phrasal_nodes: int = 2

    @property
    def name(self) -> str:
        """The name of its file and of its stage: ``dep2str``, ``dep2str.xie``, ``consdep2str.right``."""
        options: list[str] = [self.span_mode] * (self.span_mode != "ghkm")
        options += [self.binarize] * (self.binarize != "none")
        options += [f"nodes{self.max_phrasal_nodes}"] * (self.max_phrasal_nodes != 2)
        return ".".join([self.grammar, *options])

    @property
    def extraction(self) -> dict[str, Any]:
        """The options of extraction that the grammar knows and that are not the default."""
        found: dict[str, Any] = {"span_mode": self.span_mode} if self.span_mode != "ghkm" else {}
        return found | ({"max_phrasal_nodes": self.max_phrasal_nodes} if self.max_phrasal_nodes != 2 else {})

    @property
    def needs(self) -> frozenset[TreeKind]:
        return NEEDS[self.grammar]


@dataclass(frozen=True)
class SystemSpec:
    """A system with every option filled in; see ``[systems.NAME]`` in `treeglot.pipeline.config`."""

    name: str
    grammars: tuple[Grammar, ...]
    span_mode: SpanMode = "ghkm"
    binarize: Binarize = "none"
    phrasal_recursion: bool = False
    stack_limit: int = 300
    stack_threshold: float = 1e-3
    pop_limit: int = 0
    rule_limit: int = 100
    rule_threshold: float = 1e-3
    phrase_limit: int = 100
    span_limit: int = 10
    max_phrasal_nodes: int = 2
    label_sets: int = 16
    partial_rules: bool = False
    pseudo_always: bool = False
    free_phrases: bool = False
    tuning: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_phrase_based(self) -> bool:
        """Whether it is decoded without a forest, left to right over the words."""
        return self.grammars == ("phrases",)

    @property
    def needs(self) -> frozenset[TreeKind]:
        """The kinds of trees that its grammars are learnt from."""
        return frozenset[TreeKind]().union(*(NEEDS[grammar] for grammar in self.grammars))

    @property
    def rule_grammars(self) -> tuple[Grammar, ...]:
        """Its grammars without the bilingual phrases."""
        return tuple(grammar for grammar in self.grammars if grammar != "phrases")

    @property
    def uses_phrases(self) -> bool:
        """Whether it has bilingual phrases: all but a purely hierarchical system, whose rules contain them."""
        return "phrases" in self.grammars or any(grammar != "hierarchical" for grammar in self.grammars)

    @property
    def tables(self) -> tuple[TableSpec, ...]:
        """The rule tables, in the order of the grammars."""
        return tuple(
            TableSpec(
                grammar,
                self.span_mode if grammar in ("dep2str", "augmented") else "ghkm",
                self.binarize if "constituency" in NEEDS[grammar] else "none",
                self.max_phrasal_nodes if grammar == "consdep2str" else 2,
            )
            for grammar in self.rule_grammars
        )

    @property
    def decoder_options(self) -> dict[str, Any]:
        """What `treeglot.search.trees.TreeDecoder` takes beside tables, model and weights."""
        return {name: getattr(self, name) for name in DECODER_OPTIONS}


PRESETS: dict[str, dict[str, Any]] = {
    "phrases": {"grammars": ("phrases",)},
    "dep2str": {"grammars": ("dep2str",)},
    "dep2str-xie": {"grammars": ("dep2str",), "span_mode": "xie"},
    "augmented": {"grammars": ("augmented",)},
    "augmented-xie": {"grammars": ("augmented",), "span_mode": "xie"},
    "consdep2str": {"grammars": ("consdep2str",)},
    "cons2str": {"grammars": ("cons2str",)},
    "hierarchical": {"grammars": ("hierarchical",)},
    "best": {"grammars": ("consdep2str", "augmented", "phrases"), "partial_rules": True},
    "cons-hier": {"grammars": ("cons2str", "hierarchical")},
    "union": {"grammars": ("hierarchical", "consdep2str", "augmented", "phrases"), "partial_rules": True},
    "all": {"grammars": ("hierarchical", "cons2str", "consdep2str", "augmented", "phrases"), "partial_rules": True},
}
"""Systems that every project has. ``-xie`` extracts with the spans of the augmented model's paper."""


def preset(name: str, options: dict[str, Any] | None = None) -> SystemSpec:
    """A system from the preset of its name, if there is one, with ``options`` in place of its own."""
    values = {**PRESETS.get(name, {}), **(options or {})}
    rules = [grammar for grammar in values["grammars"] if grammar != "phrases"]
    if rules == ["augmented"]:
        values.setdefault("stack_limit", AUGMENTED_STACK_LIMIT)
    if rules and "phrases" in values["grammars"]:  # a grammar of its own, not only what fills the rules of the others
        values.setdefault("free_phrases", True)
    return SystemSpec(name, **values)
