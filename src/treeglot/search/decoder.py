"""One decoder for all systems: sentences in, translations with their derivations out.

`phrase_decoder` makes one for bilingual phrases, `forest_decoder` one for any grammars over one translation forest (spec: search and
tuning). Both give the same class and the same results. The search from left to right is a search of its own because distortion and
lexicalised reordering are not functions of a forest: what a phrase costs depends on which source words were translated just before it and
which are still open, a state of the search and no node over neighbouring words. Tables, language model, option cache, result types
and feature names are shared.

>>> import pathlib, tempfile
>>> from treeglot import lm
>>> from treeglot.search import read_moses_phrases, start_weights
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "table").write_text(
...     "das haus ||| the house ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1\\n"
...     "ist ||| is ||| 0.9 0.9 0.9 0.9 ||| 0-0\\nklein ||| small ||| 0.8 0.8 0.8 0.8 ||| 0-0\\n")
>>> with (folder / "arpa").open("wb") as file:
...     _ = lm.estimate([b"the house is small\\n"], file, order=2)
>>> table, model = read_moses_phrases(folder / "table"), lm.open_model(folder / "arpa")
>>> decoder = phrase_decoder(table, model, start_weights(["phrases"]))
>>> best = decoder.translate(["das haus ist klein", "das haus in köln"])
>>> [translation.text for translation in best]
['the house is small', 'the house in köln']
>>> [(use.grammar, use.source, use.target) for use in best[1].derivation.children]
[('phrases', 'das haus', 'the house'), ('copy', 'in', 'in'), ('copy', 'köln', 'köln')]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from treeglot._core import parsed as core_parsed
from treeglot._core import search as core
from treeglot._core import tree_decoder as forest_core
from treeglot.errors import ConfigError, TreeglotError
from treeglot.files import check_mapped
from treeglot.grammars import registry
from treeglot.lm import LanguageModel
from treeglot.search import weights as weight_files
from treeglot.search.features import PHRASE_FEATURES, PHRASES, feature_names
from treeglot.search.phrase_tables import open_phrases
from treeglot.search.translation import Translation
from treeglot.tables.rules import RuleTable
from treeglot.trees.corpus import ParsedCorpus
from treeglot.words import split_words

Path = str | os.PathLike[str]


def word_corpus(lines: Iterable[str]) -> ParsedCorpus:
    """Lines of words as sentences without trees."""
    columns = core_parsed.ParsedCorpus()
    for number, line in enumerate(lines, start=1):
        try:
            columns.add(split_words(line), (), (), ())
        except ValueError as error:
            raise TreeglotError(f"sentence {number}: {error}", remedy="split it") from None
    return ParsedCorpus(columns)


MAX_NBEST = 1_000_000
"""The longest n-best list."""


class Decoder:
    """Translates sentences with tables, a language model and weights; see `phrase_decoder` and `forest_decoder`.

    It may be kept for as long as one likes: what it has read of the tables serves later sentences, also with other weights.
    """

    def __init__(self, native: core.Decoder, grammars: Sequence[str] = ()) -> None:
        """``grammars`` say which trees the sentences must have."""
        self.core = native
        self.grammars = tuple(grammars)
        self.features: tuple[str, ...] = tuple(native.features)

    @property
    def weights(self) -> dict[str, float]:
        """The weights by name, in the order of feature vectors."""
        return dict(zip(self.features, self.core.weights, strict=True))

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Use other weights from now on. The results are those of a new decoder, but nothing is read again."""
        self.core.set_weights(weight_files.vector(weights, self.features))

    def translate(
        self,
        source: ParsedCorpus | Iterable[str],
        *,
        nbest: int = 1,
        distinct: bool = False,
        threads: int = 0,
        derivations: bool = True,
        limit: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> list[Translation]:
        """The best translation of each sentence; with ``nbest`` > 1 its ``kbest`` has up to that many.

        ``source`` are parsed sentences, or lines of words for systems that need no trees. ``distinct`` leaves out repeated word
        sequences; without ``derivations`` none are kept; with a ``limit`` no more than so many sentences are translated. The result is the same for any number of ``threads`` (0: all
        cores). ``progress`` is called now and then with the number of finished sentences.
        """
        if not 1 <= nbest <= MAX_NBEST:
            raise ConfigError(f"nbest is {nbest}", remedy=f"give a number from 1 to {MAX_NBEST:,}")
        if threads < 0:
            raise ConfigError(f"threads is {threads}", remedy="give 0 (all cores) or more")
        if limit is not None and limit < 0:
            raise ConfigError(f"limit is {limit}", remedy="give 0 or more, or none")
        corpus = source if isinstance(source, ParsedCorpus) else word_corpus(source)
        self._check_trees(corpus)
        try:
            results = self.core.translate(
                corpus.columns,
                0,
                len(corpus) if limit is None else min(limit, len(corpus)),
                nbest=nbest,
                distinct=distinct,
                with_steps=derivations,
                threads=threads,
                progress=progress,
            )
        except RuntimeError as error:  # a damaged place in a mapped table
            raise TreeglotError(str(error), remedy="build the table again") from None
        check_mapped()
        return [
            Translation(result, " ".join(corpus.words(number)), self.features) for number, result in enumerate(results)
        ]

    def _check_trees(self, corpus: ParsedCorpus) -> None:
        needs = frozenset[str]().union(*(registry.grammar(name).source_trees for name in self.grammars))
        for kind in sorted(needs, reverse=True):
            missing = corpus.columns.first_without(kind == "dependency")
            if missing is not None:
                raise TreeglotError(
                    f"sentence {missing + 1} has no {kind} tree",
                    remedy=f"{', '.join(self.grammars)} needs one; `treeglot trees convert` can make it from the other kind",
                )


def phrase_decoder(
    table: core.PhraseSource,
    model: LanguageModel,
    weights: Mapping[str, float],
    *,
    distortion_limit: int = 6,
    max_phrase_length: int = 20,
    table_limit: int = 20,
    search: Literal["cube", "stack"] = "cube",
    pop_limit: int = 500,
    stack_size: int = 200,
    beam_threshold: float = 0.0,
) -> Decoder:
    """The left-to-right decoder of bilingual phrases. Limits, each with 0 for "none" where a limit can be left out:

    ``distortion_limit`` is the longest jump in source words (0: monotone, -1: any), ``table_limit`` the number of
    translations of a source phrase, ``pop_limit`` the hypotheses that cube pruning makes for a stack, ``stack_size``
    those that stay, ``beam_threshold`` the share of the best one's probability below which a hypothesis is dropped.
    ``search="stack"`` tries every extension of every hypothesis instead of cube pruning.
    """
    if search not in ("cube", "stack"):
        raise ConfigError(f"unknown search '{search}'", remedy="choose cube or stack")
    _check_limits(-1, distortion_limit=distortion_limit)
    _check_limits(0, table_limit=table_limit, pop_limit=pop_limit, stack_size=stack_size)
    _check_limits(1, max_phrase_length=max_phrase_length)
    _check_shares(beam_threshold=beam_threshold)
    native = core.PhraseDecoder(
        table,
        PHRASES,
        model.core,
        weight_files.vector(weights, PHRASE_FEATURES),
        distortion_limit=distortion_limit,
        phrase_length=max_phrase_length,
        table_limit=table_limit,
        cube_pruning=search == "cube",
        pop_limit=pop_limit,
        stack_size=stack_size,
        beam_threshold=beam_threshold,
    )
    return Decoder(native, (PHRASES,))


def forest_decoder(
    tables: Mapping[str, RuleTable | Path],
    phrases: Path | None,
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
) -> Decoder:
    """The decoder of grammars over one forest: ``tables`` has the rule table of each grammar, ``phrases`` the phrase table (None
    only without need for one; papers "consdep2str", section Decoding, and "augmented", section 3.4; spec: tree-to-string, sections 7-9).

    ``stack_limit`` states are kept for a part of the source, only those with at least ``stack_threshold`` times the
    probability of the best, out of ``pop_limit`` that are made (0: as many as are kept). ``rule_limit`` rules of a source
    side are tried, only those with at least ``rule_threshold`` times the best one's P(t|s); ``phrase_limit`` translations of
    a phrase. ``grammars`` are options of matching (see `treeglot.grammars.registry`); one that several grammars have is for all
    of them. For limits 0 means none.
    """
    _check_limits(0, stack_limit=stack_limit, pop_limit=pop_limit, rule_limit=rule_limit, phrase_limit=phrase_limit)
    _check_limits(1, 1 << 16, max_phrase_length=max_phrase_length)
    _check_shares(stack_threshold=stack_threshold, rule_threshold=rule_threshold)
    named = registry.in_order(tables)
    if not named or not all(registry.grammar(name).has_rules for name in named):
        raise ConfigError(
            "a rule table of a grammar that has none" if tables else "no rule table",
            remedy=f"give tables of {', '.join(registry.rule_grammars())}",
        )
    if phrases is None and registry.uses_phrases(named):
        raise ConfigError(
            "no phrase table", remedy=f"{', '.join(named)}: bilingual phrases translate words and subtrees"
        )
    native = forest_core.TreeDecoder(
        tuple(_table(grammar, tables[grammar]).core for grammar in named),
        None if phrases is None else open_phrases(phrases),
        PHRASES,
        model.core,
        weight_files.vector(weights, feature_names(named if phrases is None else (*named, PHRASES), grammars)),
        stack_limit=stack_limit,
        stack_threshold=stack_threshold,
        pop_limit=pop_limit,
        rule_limit=rule_limit,
        rule_threshold=rule_threshold,
        phrase_limit=phrase_limit,
        max_phrase_words=max_phrase_length,
        grammars=dict(grammars or {}),
    )
    return Decoder(native, named)


def _check_limits(least: int, end: int = 1 << 31, **limits: int) -> None:
    for name, value in limits.items():
        if not least <= value < end:
            raise ConfigError(f"{name} is {value}", remedy=f"give a number from {least} on")


def _check_shares(**shares: float) -> None:
    for name, value in shares.items():
        if not 0 <= value < 1:
            raise ConfigError(f"{name} is {value}", remedy="give a share between 0 (off) and 1")


def _table(grammar: str, table: RuleTable | Path) -> RuleTable:
    loaded = table if isinstance(table, RuleTable) else RuleTable(table)
    if loaded.grammar != grammar:
        raise ConfigError(
            f"a table of {loaded.grammar}, not of {grammar}", path=loaded.path, remedy="give the right file"
        )
    return loaded
