"""What the rules of a grammar can express: the share of sentence pairs whose target their own rules can rebuild (spec: mwu-forest,
section 3).

A pair is *recovered* when the rules extracted from it, applied to its source in any way they match, can make its target exactly. That
is decided, not sampled: either by the grammar itself (`RuleExtractor::recovery` of the core, with a reason for each failure) or by
a forced decoder, which finds the spans of the target that every node of the translation forest can become. Pseudo rules and
copied words are no help; glue, of grammars that have it, is.

>>> from treeglot.examples.worked import worked_example
>>> from treeglot.trees.corpus import parsed_bitext
>>> pair = worked_example()
>>> links = [(link.source, link.target) for link in pair.word_links]
>>> bitext = parsed_bitext([(pair.source, pair.target.tokens.forms, links)])
>>> outcomes(bitext, "mwu", max_words=3, k=1000), outcomes(bitext, "hierarchical"), outcomes(bitext, "dep2str")
(['recovered'], ['recovered'], ['combination'])
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeglot import lm
from treeglot._core import parsed as parsed_core
from treeglot._core import tree_decoder as core
from treeglot.grammars import registry
from treeglot.grammars.rules import make_extractor
from treeglot.progress import track
from treeglot.scratch import scratch_folder
from treeglot.search.phrase_tables import open_phrases
from treeglot.tables.build import build_phrase_table
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees.corpus import ParsedBitext

RECOVERED = "recovered"
REASONS = {
    "root": "the root's span is not the whole target",
    "word": "a source word is in no rule",
    "combination": "no combination of rules fits",
}
"""Why a pair is not recovered, the first that applies; without a grammar's own answer it is the last."""

LENGTHS = (6, 12, 20, 30, 50)
"""Classes of lengths: the longest source of each; longer ones are the last class."""

_LOOSE = {
    "stack_limit": 0,
    "stack_threshold": 0.0,
    "pop_limit": 0,
    "rule_limit": 0,
    "rule_threshold": 0.0,
    "phrase_limit": 0,
    "max_phrase_words": 7,
}


@dataclass
class Share:
    """Recovered pairs out of all."""

    recovered: int = 0
    pairs: int = 0

    def add(self, outcome: str) -> None:
        """Count one."""
        self.recovered += outcome == RECOVERED
        self.pairs += 1

    @property
    def percent(self) -> float:
        """Of all pairs; 0 without any."""
        return 100 * self.recovered / self.pairs if self.pairs else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Per cent between which the share of all such pairs lies with 95 % confidence (Wilson 1927).

        >>> [round(bound, 1) for bound in Share(75, 150).interval]
        [42.1, 57.9]
        >>> Share().interval
        (0.0, 100.0)
        """
        if not self.pairs:
            return 0.0, 100.0
        z, n, share = 1.959964, self.pairs, self.recovered / self.pairs
        middle, width = share + z * z / (2 * n), z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        low, high = ((middle + sign * width) / (1 + z * z / n) for sign in (-1, 1))
        return max(0.0, 100 * low), min(100.0, 100 * high)


@dataclass
class Coverage:
    """The coverage of a grammar with some options."""

    grammar: str
    options: dict[str, registry.Value]
    phrases: bool = False
    total: Share = field(default_factory=Share)
    by_length: dict[str, Share] = field(default_factory=dict)
    """By number of source words: ``1-6``, ``7-12``, ..."""
    one_unit: Share = field(default_factory=Share)
    """Pairs that one rule may cover: no more source words than the option ``UNIT_WORDS`` of the grammar's module says."""
    reasons: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "grammar": self.grammar,
            "options": self.options,
            "with_phrases": self.phrases,
            "pairs": self.total.pairs,
            "recovered": self.total.recovered,
            "percent": round(self.total.percent, 2),
            "interval": [round(bound, 2) for bound in self.total.interval],
            "by_length": {name: [share.recovered, share.pairs] for name, share in self.by_length.items()},
            "one_unit": [self.one_unit.recovered, self.one_unit.pairs],
            "reasons": dict(self.reasons),
        }


def length_class(words: int) -> str:
    """
    >>> length_class(6), length_class(7), length_class(51)
    ('1-6', '7-12', '51-')
    """
    low = 1
    for high in LENGTHS:
        if words <= high:
            return f"{low}-{high}"
        low = high + 1
    return f"{low}-"


def coverage(bitext: ParsedBitext, grammar: str, *, phrases: bool = False, **options: registry.Value) -> Coverage:
    """The coverage of the pairs of a bitext. ``phrases``: with the bilingual phrases of each pair."""
    result = Coverage(grammar, dict(options), phrases)
    for low, high in zip((0, *LENGTHS), (*LENGTHS, 0), strict=True):
        result.by_length[length_class(high or low + 1)] = Share()
    known = registry.grammar(grammar)
    unit: str = getattr(known.door, "UNIT_WORDS", "")
    most = options.get(unit, known.option(unit).default) if unit else 0
    decided = track(outcomes_of(bitext, grammar, phrases=phrases, **options), f"coverage of {grammar}", len(bitext))
    for n, outcome in enumerate(decided):
        words = len(bitext.columns.source.words(n % bitext.columns.sentences))
        result.total.add(outcome)
        result.by_length[length_class(words)].add(outcome)
        if words <= int(most):
            result.one_unit.add(outcome)
        if outcome != RECOVERED:
            result.reasons[outcome] += 1
    return result


def outcomes(bitext: ParsedBitext, grammar: str, *, phrases: bool = False, **options: registry.Value) -> list[str]:
    """Of every pair ``recovered``, or a key of `REASONS`."""
    return list(outcomes_of(bitext, grammar, phrases=phrases, **options))


def outcomes_of(
    bitext: ParsedBitext, grammar: str, *, phrases: bool = False, **options: registry.Value
) -> Iterator[str]:
    """The same one after another."""
    if len(bitext) == 0:
        return
    extraction = {name: value for name, value in options.items() if registry.grammar(grammar).option(name).extraction}
    extractor = make_extractor(grammar, bitext, **extraction)
    if not phrases and extractor.recovery(0):
        for n in range(len(bitext)):
            yield extractor.recovery(n)
        return
    with scratch_folder("coverage") as folder:
        forced = ForcedDecoder(bitext, grammar, options, folder, phrases)
        for n in range(len(bitext)):
            yield RECOVERED if forced.recovers(n) else "combination"


class ForcedDecoder:
    """Decides pair after pair with a table of its rules alone."""

    def __init__(
        self,
        bitext: ParsedBitext,
        grammar: str,
        options: Mapping[str, registry.Value],
        folder: Path,
        phrases: bool,
    ) -> None:
        self.bitext, self.grammar, self.folder, self.phrases = bitext, grammar, folder, phrases
        known = registry.grammar(grammar)
        self.extraction: dict[str, Any] = {n: value for n, value in options.items() if known.option(n).extraction}
        self.matching = {n: value for n, value in options.items() if known.option(n).matching}
        # A language model is part of a decoder; this one is asked for nothing.
        with (folder / "arpa").open("wb") as arpa:
            lm.estimate([b"a b a\n"], arpa, order=1)
        self.model = lm.open_model(folder / "arpa")

    def recovers(self, n: int) -> bool:
        """Whether the rules of pair n can make its target."""
        columns = self.bitext.columns
        return self.can_make(n, columns.target.words(n % columns.sentences))

    def can_make(self, n: int, target: Sequence[str]) -> bool:
        """Whether the rules of pair n can make these words of its source."""
        pair = self.bitext.columns.select([n])
        if not target or not (pair.links(0) or pair.node_links(0)):
            return False
        build_rule_table(self.grammar, ParsedBitext(pair), self.folder / "rules", threads=1, **self.extraction)
        table = RuleTable(self.folder / "rules")
        if len(table) == 0 and not self.phrases:
            return False
        known = None
        if self.phrases:
            self._write_text(pair)
            build_phrase_table(*(self.folder / name for name in ("source", "target", "links", "table")), threads=1)
            known = open_phrases(self.folder / "table")
        features = len(registry.COMMON_FEATURES) + len(registry.grammar(self.grammar).features(self.matching))
        features += len(registry.phrase_grammar().features()) if known else 0
        decoder = core.TreeDecoder(
            (table.core,),
            known,
            registry.phrase_grammar().name,
            self.model.core,
            [0.0] * features,
            grammars=dict(self.matching),
            **_LOOSE,  # type: ignore[arg-type]
        )
        return decoder.recovers(pair.source, 0, target, self.phrases)

    def _write_text(self, pair: parsed_core.ParsedBitext) -> None:
        for name, text in (
            ("source", " ".join(pair.source.words(0))),
            ("target", " ".join(pair.target.words(0))),
            ("links", " ".join(f"{s}-{t}" for s, t in pair.links(0))),
        ):
            (self.folder / name).write_text(text + "\n", encoding="utf-8")
