"""Systems: a system is a list of grammars with limits and weights of its own; the papers' systems are named presets.

Grammars only add edges to one translation forest (spec: search and tuning), so any of them combine, and their order in the
list means nothing. A system of bilingual phrases alone is the phrase-based decoder; any other is decoded over a forest, and there
the phrases translate single words, whole subtrees and phrasal nodes (spec: tree-to-string, section 2). Named beside other
grammars, they may cover any neighbouring members of a head and its dependents (``free_phrases``).

>>> best = preset("best")
>>> best.grammars, sorted(best.needs), best.is_phrase_based
(('consdep2str', 'augmented', 'phrases'), ['constituency', 'dependency'], False)
>>> [table.name for table in best.tables]
['augmented.both', 'consdep2str.both']
>>> preset("augmented").stack_limit, preset("dep2str").stack_limit, preset("stssg").search["rule_limit"]
(200, 300, 10)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from treeglot.alignment.choices import links_name
from treeglot.grammars import combinations, registry
from treeglot.trees.corpus import Binarize

SEARCH_OPTIONS: dict[str, int | float] = {
    "stack_limit": 300,
    "stack_threshold": 1e-3,
    "pop_limit": 0,
    "rule_limit": 100,
    "rule_threshold": 1e-3,
    "phrase_limit": 100,
}
"""The limits of the search in a forest, whatever the grammars, and their defaults."""


@dataclass(frozen=True)
class TableSpec:
    """A rule table, or a phrase table; systems with the same grammar, the same options of extraction and the same links share it."""

    grammar: str
    options: tuple[tuple[str, registry.Value], ...] = ()
    """Options of extraction that are not the default."""
    links: str = ""
    """The choice of word links if it is a system's own (`treeglot.alignment.choices`); see `treeglot.pipeline.word_links`."""

    @property
    def name(self) -> str:
        """The name of its file and of its stage: ``dep2str``, ``dep2str.xie``, ``consdep2str.right``.

        >>> TableSpec("cons2str", (("binarize", "left"), ("max_height", 4))).name
        'cons2str.left.max_height4'
        >>> TableSpec("cons2str", links="intersection").name
        'cons2str.intersection'

        A value that two options have is named with its option.
        """
        choices = Counter(choice for option in registry.grammar(self.grammar).options for choice in option.choices)
        return ".".join(
            [
                self.grammar,
                *(
                    str(value) if isinstance(value, str) and choices[value] == 1 else f"{name}{value}"
                    for name, value in self.options
                ),
                *([links_name(self.links)] if self.links else []),
            ]
        )

    @property
    def extraction(self) -> dict[str, Any]:
        """The options of extraction that are not the default."""
        return dict(self.options)

    @property
    def binarize(self) -> Binarize:
        """How the constituency trees are binarised first."""
        chosen: Binarize = self.extraction.get("binarize", "none")
        return chosen

    @property
    def needs(self) -> frozenset[str]:
        """The kinds of trees of the source that it is learnt from."""
        return registry.grammar(self.grammar).source_trees | self._linked_trees

    @property
    def target_needs(self) -> frozenset[str]:
        """The kinds of trees of the target that it is learnt from."""
        return registry.grammar(self.grammar).target_trees | self._linked_trees

    @property
    def from_trees(self) -> bool:
        """Whether it is a table of rules that are learnt from trees."""
        grammar = registry.grammar(self.grammar)
        return grammar.has_rules and bool(grammar.source_trees | grammar.target_trees)

    @property
    def _linked_trees(self) -> frozenset[str]:
        return frozenset(["constituency"] if self.uses_node_links else [])

    @property
    def uses_node_links(self) -> bool:
        """Whether it is learnt from links between nodes of the trees, too."""
        return registry.grammar(self.grammar).node_link_option in self.extraction


@dataclass(frozen=True)
class SystemSpec:
    """A system with every option filled in; see ``[systems.NAME]`` in `treeglot.pipeline.config`."""

    name: str
    grammars: tuple[str, ...]
    options: Mapping[str, registry.Value] = field(default_factory=dict, hash=False)
    """The options of its grammars, by name."""
    search: Mapping[str, int | float] = field(default_factory=lambda: dict(SEARCH_OPTIONS), hash=False)
    tuning: dict[str, Any] = field(default_factory=dict, hash=False)
    heuristic: str = ""
    """The choice of word links of its phrases, and of rules without trees, if it is not the project's (`treeglot.alignment.choices`)."""
    rule_heuristic: str = ""
    """The same for rules of trees."""

    @property
    def stack_limit(self) -> int:
        """How many states are kept for a part of the source."""
        return int(self.search["stack_limit"])

    @property
    def is_phrase_based(self) -> bool:
        """Whether it is decoded without a forest, left to right over the words."""
        return not any(registry.grammar(name).has_rules for name in self.grammars)

    @property
    def needs(self) -> frozenset[str]:
        """The kinds of trees of the source that its grammars want of what is translated."""
        return frozenset[str]().union(*(registry.grammar(name).source_trees for name in self.grammars))

    @property
    def training_needs(self) -> frozenset[str]:
        """The kinds of trees of the source that it is learnt from."""
        return self.needs.union(*(table.needs for table in self.all_tables))

    @property
    def target_needs(self) -> frozenset[str]:
        """The kinds of trees of the target that it is learnt from."""
        return frozenset[str]().union(*(table.target_needs for table in self.all_tables))

    @property
    def rule_grammars(self) -> tuple[str, ...]:
        """Its grammars without the bilingual phrases, in the order of their features."""
        return tuple(name for name in registry.in_order(self.grammars) if registry.grammar(name).has_rules)

    @property
    def uses_phrases(self) -> bool:
        """Whether it has bilingual phrases: it names them, or they fill the nodes of its grammars."""
        return registry.uses_phrases(self.grammars)

    @property
    def binarize(self) -> Binarize:
        """How the constituency trees of its input are binarised."""
        return self.options.get("binarize", "none")  # type: ignore[return-value]

    @property
    def tables(self) -> tuple[TableSpec, ...]:
        """The rule tables, in the order of their features."""
        return tuple(self._table(name) for name in self.rule_grammars)

    @property
    def phrase_table(self) -> TableSpec | None:
        """The table of its bilingual phrases, if it has any."""
        if not (self.is_phrase_based or self.uses_phrases):
            return None
        return self._table(registry.phrase_grammar().name)

    @property
    def all_tables(self) -> tuple[TableSpec, ...]:
        """The rule tables and the phrase table."""
        phrases = self.phrase_table
        return (*self.tables, *([phrases] if phrases else []))

    def _table(self, name: str) -> TableSpec:
        table = TableSpec(name, self._extraction(name))
        return replace(table, links=self.rule_heuristic if table.from_trees else self.heuristic)

    def _extraction(self, name: str) -> tuple[tuple[str, registry.Value], ...]:
        return tuple(
            (option.name, self.options[option.name])
            for option in registry.grammar(name).options
            if option.extraction and self.options.get(option.name, option.default) != option.default
        )

    @property
    def compared(self) -> dict[str, str]:
        """Features whose use is shown in comparisons, and the heads of their columns; what the grammars' modules say."""
        return {
            f"{name}.{feature}": head
            for name in self.rule_grammars
            for feature, head in getattr(registry.grammar(name).door, "COMPARED", {}).items()
        }

    @property
    def decoder_options(self) -> dict[str, Any]:
        """What the decoder takes beside tables, model and weights: limits, and the options of matching."""
        matching = {
            option.name: self.options.get(option.name, option.default)
            for name in registry.blocks(self.grammars)
            for option in registry.grammar(name).options
            if option.matching
        }
        return {**self.search, "grammars": matching}


def presets() -> dict[str, dict[str, Any]]:
    """Systems that every project has: those of the grammars' modules, and combinations."""
    named: dict[str, dict[str, Any]] = {}
    # The phrases first, as the baseline; then the others as the registry has them.
    for grammar in sorted(registry.grammars().values(), key=lambda known: known.has_rules):
        named |= {name: dict(values) for name, values in grammar.presets.items()}
    return named | {name: dict(values) for name, values in combinations.PRESETS.items()}


def groups() -> dict[str, tuple[str, ...]]:
    """Presets that are compared with each other, by the name of their group: what the grammars' modules say, as in `presets`.

    >>> groups()["tree2tree"]
    ('phrases', 'phrases-dirc', 'phrases-ewos', 'stsg', 'stsg-dirc', 'stsg-ewos', 'stssg', 'stssg-dirc', 'stssg-ewos')
    """
    named: dict[str, tuple[str, ...]] = {}
    for grammar in sorted(registry.grammars().values(), key=lambda known: known.has_rules):
        for name, systems in getattr(grammar.door, "GROUPS", {}).items():
            named[name] = (*named.get(name, ()), *systems)
    return named


def preset(name: str, options: dict[str, Any] | None = None) -> SystemSpec:
    """A system from the preset of its name, if there is one, with ``options`` in place of its own."""
    values = {**presets().get(name, {}), **(options or {})}
    names: tuple[str, ...] = tuple(values.pop("grammars"))
    for grammar in names:
        for option, (other, value) in getattr(registry.grammar(grammar).door, "GIVES_WAY", {}).items():
            if values.get(other) == value and option not in (options or {}):
                values.pop(option, None)
    tuning = values.pop("tuning", {})
    links = {key: values.pop(key, "") for key in ("heuristic", "rule_heuristic")}
    known = [registry.grammar(grammar) for grammar in names]
    with_rules = [grammar for grammar in known if grammar.has_rules]
    # A system of one grammar alone has the limits that suit it.
    alone = with_rules[0] if len(with_rules) == 1 else None
    own = {"stack_limit": alone.stack_limit, "rule_limit": alone.rule_limit} if alone else {}
    search = {key: values.pop(key, own.get(key) or default) for key, default in SEARCH_OPTIONS.items()}
    declared = [
        option
        for grammar in (*known, *([registry.phrase_grammar()] if registry.uses_phrases(names) else []))
        for option in grammar.options
    ]
    defaults = {option.name: option.default for option in declared}
    # Where two grammars have different defaults each has its own, unless one is given for both.
    different = {option.name for option in declared if option.default != defaults[option.name]}
    # Named beside others the phrases are a grammar of their own, not only what fills the nodes of the others.
    if with_rules and len(with_rules) < len(known):
        values.setdefault("free_phrases", True)
    given = {key: value for key, value in values.items() if key in defaults}
    common = {key: value for key, value in defaults.items() if key not in different}
    return SystemSpec(name, names, {**common, **given}, search, tuning, **links)
