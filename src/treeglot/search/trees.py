"""The tree decoder: grammars over one translation forest, a language model and weights in; translations with derivation trees out.

A *system* is a list of grammars. Each grammar has a rule table (see `treeglot.tables.rules`) and feature columns of its own;
``phrases`` are the bilingual phrases that fill single words, whole subtrees, constituents and phrasal nodes (papers "consdep2str",
section Decoding, and "augmented", section 3.4; spec: search and tuning, "The translation forest", and tree-to-string, sections 7-9).

>>> tree_features(["dep2str"])[:7]
('lm', 'words', 'copied', 'pseudo', 'glue', 'dep2str.p_ts', 'dep2str.p_st')
>>> tree_features(["hierarchical"])[-1]
'hierarchical.rules'
>>> default_tree_weights(["hierarchical"])["lm"]
0.2
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from treeglot._core import tree_decoder as core
from treeglot._core.parsed import ParsedCorpus as Columns
from treeglot.errors import ConfigError, TreeglotError
from treeglot.grammars import registry
from treeglot.lm import LanguageModel
from treeglot.search.phrases import open_phrases
from treeglot.search.weights import nearest_name
from treeglot.tables.rules import RuleTable


class ParsedSource(Protocol):
    """What is translated: a `treeglot.trees.corpus.ParsedCorpus`."""

    columns: Columns

    def __len__(self) -> int: ...
    def words(self, n: int) -> list[str]: ...


def tree_features(grammars: Sequence[str]) -> tuple[str, ...]:
    """The names of a system's features, in the order of its feature vectors."""
    return tuple(registry.forest_features(grammars))


def default_tree_weights(grammars: Sequence[str]) -> dict[str, float]:
    """Where tuning starts."""
    return registry.forest_features(grammars)


@dataclass(frozen=True)
class RuleUse:
    """One application of a rule in a derivation; ``children`` fill its variables.

    ``grammar`` is that of the rule, or ``phrases``, ``copy`` (an unknown word), ``pseudo`` (members in source order), ``glue``, ``join`` (nothing
    of its own). ``kind`` and ``begin``, ``end`` tell which part of the source was translated. ``source`` is the rule's source
    side in the spec's text form (empty if it has none), ``target_items`` its target side: words, and numbers of children.
    ``features`` is what this step adds (the language model, which looks across rules, is not split up).
    """

    grammar: str
    kind: str
    begin: int
    end: int
    label: str
    source: str
    target_items: tuple[str | int, ...]
    features: dict[str, float]
    children: tuple[RuleUse, ...]

    @property
    def target(self) -> str:
        """The target side as text, variables as x1, x2, …"""
        return " ".join(item if isinstance(item, str) else f"x{item + 1}" for item in self.target_items)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The target words of this step and all below it."""
        result: list[str] = []
        stack: list[tuple[RuleUse, int]] = [(self, 0)]
        while stack:
            use, place = stack.pop()
            while place < len(use.target_items):
                item = use.target_items[place]
                place += 1
                if isinstance(item, str):
                    result.append(item)
                else:
                    stack.append((use, place))
                    use, place = use.children[item], 0
        return tuple(result)

    @property
    def is_phrasal(self) -> bool:
        """Whether the rule has a phrasal node (paper "consdep2str": CHDR-phrasal)."""
        return "[" in self.source and any(
            token.lstrip("^").startswith("x") and token.endswith("]") for token in self.source.split(" ")
        )


class TreeTranslation:
    """One translation of a sentence; ``kbest`` has all that were asked for, best first, itself included at its place."""

    def __init__(self, result: core.TreeTranslation, source: str, features: tuple[str, ...], rank: int = 0) -> None:
        """``result`` holds the derivations of ``source``; this object shows number ``rank``."""
        self._result = result
        self._features = features
        self.source = source
        self.rank = rank

    def __repr__(self) -> str:
        return f"TreeTranslation({self.text!r}, score={self.score:.4f})"

    @cached_property
    def text(self) -> str:
        """The words, separated by blanks."""
        return self._result.text(self.rank)

    @property
    def score(self) -> float:
        """The model's score: the weighted sum of the features."""
        return self._result.score(self.rank)

    @property
    def vector(self) -> list[float]:
        """The feature values in the order of `tree_features`."""
        return self._result.features(self.rank)

    @property
    def features(self) -> dict[str, float]:
        """The feature values by name."""
        return dict(zip(self._features, self.vector, strict=True))

    @property
    def forest_size(self) -> tuple[int, int, int]:
        """Nodes, edges and rules of the sentence's forest."""
        return self._result.size

    @cached_property
    def derivation(self) -> RuleUse:
        """The derivation tree; its top is the goal."""
        steps = self._result.steps(self.rank)
        if not steps:
            raise TreeglotError("no derivation was kept", remedy="translate with derivations=True")
        made: list[RuleUse | None] = [None] * len(steps)
        for number in range(len(steps) - 1, -1, -1):  # preorder: children stand after their parents
            grammar, kind, begin, end, label, source, target, below, values = steps[number]
            children = tuple(made[child] for child in below)
            assert all(child is not None for child in children)
            features: dict[str, float] = {}
            for feature, value in values:
                features[self._features[feature]] = features.get(self._features[feature], 0.0) + value
            made[number] = RuleUse(
                grammar, kind, begin, end, label, source, target, features, tuple(c for c in children if c is not None)
            )
        top = made[0]
        assert top is not None
        return top

    @property
    def kbest(self) -> list[TreeTranslation]:
        """All translations of the sentence that were asked for, best first."""
        return [TreeTranslation(self._result, self.source, self._features, rank) for rank in range(len(self._result))]


class TreeDecoder:
    """Translates parsed sentences with rule tables, bilingual phrases, a language model and weights."""

    def __init__(
        self,
        tables: Mapping[str, RuleTable | str | os.PathLike[str]],
        phrases: str | os.PathLike[str] | None,
        model: LanguageModel,
        weights: Mapping[str, float],
        *,
        stack_limit: int = 300,
        stack_threshold: float = 1e-3,
        pop_limit: int = 0,
        rule_limit: int = 100,
        rule_threshold: float = 1e-3,
        phrase_limit: int = 100,
        max_phrase_length: int = 7,
        grammars: Mapping[str, registry.Value] | None = None,
    ) -> None:
        """``tables`` has the rule table of each grammar, ``phrases`` the phrase table (None only without need for one).

        ``stack_limit`` states are kept for a part of the source, only those with at least ``stack_threshold`` times the
        probability of the best, out of ``pop_limit`` that are made (0: as many as are kept). ``rule_limit`` rules of a source
        side are tried, only those with at least ``rule_threshold`` times the best one's P(t|s); ``phrase_limit`` translations of
        a phrase. ``grammars`` are options of matching (see `treeglot.grammars.registry`); one that several grammars have is for all
        of them. For limits 0 means none.
        """
        for name, value in {
            "stack_limit": stack_limit,
            "pop_limit": pop_limit,
            "rule_limit": rule_limit,
            "phrase_limit": phrase_limit,
        }.items():
            if not 0 <= value < 1 << 31:
                raise ConfigError(f"{name} is {value}", remedy="give a number from 0 on")
        for name, value in {"max_phrase_length": max_phrase_length}.items():
            if not 1 <= value < 1 << 16:
                raise ConfigError(f"{name} is {value}", remedy="give a number from 1 on")
        for name, share in {"stack_threshold": stack_threshold, "rule_threshold": rule_threshold}.items():
            if not 0 <= share < 1:
                raise ConfigError(f"{name} is {share}", remedy="give a share between 0 (off) and 1")
        self.grammars = registry.in_order(tables)
        if not self.grammars or not all(registry.grammar(name).has_rules for name in self.grammars):
            raise ConfigError(
                "a rule table of a grammar that has none" if tables else "no rule table",
                remedy=f"give tables of {', '.join(registry.rule_grammars())}",
            )
        if phrases is None and registry.uses_phrases(self.grammars):
            raise ConfigError(
                "no phrase table", remedy=f"{', '.join(self.grammars)}: bilingual phrases translate words and subtrees"
            )
        named = [*self.grammars, registry.phrase_grammar().name] if phrases is not None else self.grammars
        self.features = tree_features(named)
        self.weights = _complete(weights, self.features)
        self._tables = [_table(grammar, tables[grammar]) for grammar in self.grammars]
        self._phrases = None if phrases is None else open_phrases(phrases)
        self._model = model
        self._core = core.TreeDecoder(
            tuple(table.core for table in self._tables),
            self._phrases,
            registry.phrase_grammar().name,
            model.core,
            [self.weights[name] for name in self.features],
            stack_limit=stack_limit,
            stack_threshold=stack_threshold,
            pop_limit=pop_limit,
            rule_limit=rule_limit,
            rule_threshold=rule_threshold,
            phrase_limit=phrase_limit,
            max_phrase_words=max_phrase_length,
            grammars=dict(grammars or {}),
        )

    def translate(
        self,
        corpus: ParsedSource,
        *,
        nbest: int = 1,
        distinct: bool = False,
        threads: int = 0,
        derivations: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[TreeTranslation]:
        """The best translation of each sentence; with ``nbest`` > 1 its ``kbest`` has up to that many.

        ``distinct`` leaves out repeated word sequences; without ``derivations`` no derivation trees are kept. The result is
        the same for any number of ``threads`` (0: all cores). ``progress`` is called now and then with the number of finished sentences.
        """
        if nbest < 1:
            raise ConfigError(f"nbest is {nbest}", remedy="give a number from 1 on")
        if threads < 0:
            raise ConfigError(f"threads is {threads}", remedy="give 0 (all cores) or more")
        self._check_trees(corpus)
        try:
            results = self._core.translate(
                corpus.columns,
                0,
                len(corpus),
                nbest=nbest,
                distinct=distinct,
                with_steps=derivations,
                threads=threads,
                progress=progress,
            )
        except RuntimeError as error:  # a damaged place in a mapped table
            raise TreeglotError(str(error), remedy="build the table again") from None
        return [
            TreeTranslation(result, " ".join(corpus.words(number)), self.features)
            for number, result in enumerate(results)
        ]

    def _check_trees(self, corpus: ParsedSource) -> None:
        needs = frozenset[str]().union(*(registry.grammar(name).source_trees for name in self.grammars))
        for kind in sorted(needs, reverse=True):
            missing = corpus.columns.first_without(kind == "dependency")
            if missing is not None:
                raise TreeglotError(
                    f"sentence {missing + 1} has no {kind} tree",
                    remedy=f"{', '.join(self.grammars)} needs one; `treeglot trees convert` can make it from the other kind",
                )


def _table(grammar: str, table: RuleTable | str | os.PathLike[str]) -> RuleTable:
    loaded = table if isinstance(table, RuleTable) else RuleTable(table)
    if loaded.grammar != grammar:
        raise ConfigError(
            f"a table of {loaded.grammar}, not of {grammar}", path=loaded.path, remedy="give the right file"
        )
    return loaded


def _complete(weights: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    for name in weights:
        if name not in names:
            near = nearest_name(name, names)
            raise ConfigError(
                f"unknown feature '{name}'",
                remedy=(f"did you mean '{near}'? " if near else "") + f"Valid names: {', '.join(names)}",
            )
    missing = [name for name in names if name not in weights]
    if missing:
        raise ConfigError(f"no weight for {', '.join(missing)}", remedy="start from default_tree_weights")
    return {name: float(weights[name]) for name in names}
