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
from treeglot.lm import LanguageModel
from treeglot.search.phrases import open_phrases
from treeglot.search.weights import nearest_name
from treeglot.tables.rules import RuleTable

RULE_GRAMMARS = ("dep2str", "augmented", "consdep2str", "cons2str", "hierarchical")
"""Grammars with a rule table."""
GRAMMARS = ("phrases", *RULE_GRAMMARS)
DEPENDENCY_GRAMMARS = frozenset({"dep2str", "augmented", "consdep2str"})
"""Grammars that need a dependency tree; ``consdep2str`` and ``cons2str`` need a constituency tree."""
CONSTITUENCY_GRAMMARS = frozenset({"consdep2str", "cons2str"})

COMMON_FEATURES = ("lm", "words", "copied", "pseudo", "glue")
BLOCK_FEATURES = ("p_ts", "p_st", "lex_ts", "lex_st", "rules")
"""ln P(t|s), P(s|t), Plex(t|s), Plex(s|t), and the number of rules, for each grammar."""


class ParsedSource(Protocol):
    """What is translated: a `treeglot.trees.corpus.ParsedCorpus`."""

    columns: Columns

    def __len__(self) -> int: ...
    def words(self, n: int) -> list[str]: ...


# Near where tuning ends on several corpora, so that its first lists are good ones.
_START = {"lm": 0.2, "words": 0.8, "copied": -0.1, "pseudo": -0.3, "glue": -0.2}
_START_BLOCK = {"p_ts": 0.3, "p_st": 0.15, "lex_ts": 0.2, "lex_st": 0.1, "rules": -0.3}
_START_PHRASES = {"phrases.rules": 0.3}


def uses_phrases(grammars: Sequence[str]) -> bool:
    """Whether a tree system has bilingual phrases: all but the purely hierarchical ones."""
    return any(grammar != "hierarchical" for grammar in grammars)


def blocks(grammars: Sequence[str]) -> tuple[str, ...]:
    """The grammars with feature columns, in their order: rule tables, then the bilingual phrases."""
    unknown = [grammar for grammar in grammars if grammar not in GRAMMARS]
    if unknown:
        near = nearest_name(unknown[0], GRAMMARS)
        raise ConfigError(
            f"unknown grammar {unknown[0]!r}",
            remedy=(f"did you mean {near!r}? " if near else "") + f"Grammars are {', '.join(GRAMMARS)}",
        )
    rules = [grammar for grammar in RULE_GRAMMARS if grammar in grammars]
    return (*rules, "phrases") if uses_phrases(grammars) else tuple(rules)


def tree_features(grammars: Sequence[str]) -> tuple[str, ...]:
    """The names of a system's features, in the order of its feature vectors."""
    return COMMON_FEATURES + tuple(f"{block}.{name}" for block in blocks(grammars) for name in BLOCK_FEATURES)


def default_tree_weights(grammars: Sequence[str]) -> dict[str, float]:
    """Where tuning starts."""
    known = _START | _START_PHRASES
    return {name: known.get(name, _START_BLOCK.get(name.rpartition(".")[2], 0.0)) for name in tree_features(grammars)}


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
        return (
            self.grammar == "consdep2str"
            and "[" in self.source
            and any(token.lstrip("^").startswith("x") and token.endswith("]") for token in self.source.split(" "))
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
        max_phrasal_nodes: int = 2,
        label_sets: int = 16,
        phrasal_recursion: bool = False,
        partial_rules: bool = False,
        pseudo_always: bool = False,
        free_phrases: bool = False,
        span_limit: int = 10,
    ) -> None:
        """``tables`` has the rule table of each grammar, ``phrases`` the phrase table (None only without need for one).

        ``stack_limit`` states are kept for a part of the source, only those with at least ``stack_threshold`` times the
        probability of the best, out of ``pop_limit`` that are made (0: as many as are kept). ``rule_limit`` rules of a source
        side are tried, only those with at least ``rule_threshold`` times the best one's P(t|s); ``phrase_limit`` translations of
        a phrase. ``phrasal_recursion``: rules also fill phrasal nodes. ``partial_rules``: where no rule matches a head with its dependents,
        rules for some of them are used and the others put beside in source order. ``pseudo_always``: pseudo rules compete with matched rules.
        ``free_phrases`` (grammar ``phrases`` beside others): phrases may cover any neighbouring members of a head and its dependents.
        ``span_limit``: words under a hierarchical rule. For limits 0 means none.
        """
        for name, value in {
            "stack_limit": stack_limit,
            "pop_limit": pop_limit,
            "rule_limit": rule_limit,
            "phrase_limit": phrase_limit,
            "max_phrasal_nodes": max_phrasal_nodes,
            "label_sets": label_sets,
        }.items():
            if not 0 <= value < 1 << 31:
                raise ConfigError(f"{name} is {value}", remedy="give a number from 0 on")
        for name, value in {"max_phrase_length": max_phrase_length, "span_limit": span_limit}.items():
            if not 1 <= value < 1 << 16:
                raise ConfigError(f"{name} is {value}", remedy="give a number from 1 on")
        for name, share in {"stack_threshold": stack_threshold, "rule_threshold": rule_threshold}.items():
            if not 0 <= share < 1:
                raise ConfigError(f"{name} is {share}", remedy="give a share between 0 (off) and 1")
        self.grammars = tuple(grammar for grammar in RULE_GRAMMARS if grammar in tables)
        unknown = [grammar for grammar in tables if grammar not in RULE_GRAMMARS]
        if unknown or not self.grammars:
            raise ConfigError(
                f"no rule table can be of {unknown[0]!r}" if unknown else "no rule table",
                remedy=f"give tables of {', '.join(RULE_GRAMMARS)}",
            )
        if phrases is None and uses_phrases(self.grammars):
            raise ConfigError("no phrase table", remedy="all grammars but hierarchical need bilingual phrases")
        self.features = tree_features([*self.grammars, "phrases"] if phrases is not None else self.grammars)
        self.weights = _complete(weights, self.features)
        self._tables = [_table(grammar, tables[grammar]) for grammar in self.grammars]
        self._phrases = None if phrases is None else open_phrases(phrases)
        self._model = model
        self._core = core.TreeDecoder(
            [table.core for table in self._tables],
            self._phrases,
            model.core,
            [self.weights[name] for name in self.features],
            stack_limit=stack_limit,
            stack_threshold=stack_threshold,
            pop_limit=pop_limit,
            rule_limit=rule_limit,
            rule_threshold=rule_threshold,
            phrase_limit=phrase_limit,
            max_phrase_words=max_phrase_length,
            max_phrasal_nodes=max_phrasal_nodes,
            label_sets=label_sets,
            phrasal_recursion=phrasal_recursion,
            partial_rules=partial_rules,
            pseudo_always=pseudo_always,
            free_phrases=free_phrases,
            span_limit=span_limit,
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
        needs: dict[str, bool] = {
            "dependency": not DEPENDENCY_GRAMMARS.isdisjoint(self.grammars),
            "constituency": not CONSTITUENCY_GRAMMARS.isdisjoint(self.grammars),
        }
        for kind, needed in needs.items():
            missing = corpus.columns.first_without(kind == "dependency") if needed else None
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
