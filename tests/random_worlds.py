"""Small random corpora with everything that a decoder needs: tables of rules and phrases, a language model, weights."""

from __future__ import annotations

import io
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from treeglot import lm
from treeglot._core import tree_decoder as forest_core
from treeglot.grammars import registry
from treeglot.search import Decoder, feature_names, forest_decoder, open_phrases, start_weights
from treeglot.tables import PhraseTable, build_phrase_table
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext

WORDS = ["a", "b", "c"]
TAGS = ["A", "B"]
RELATIONS = ["r", "s:t"]
TARGET = ["u", "v", "w", "x"]
PHRASE_WORDS = 3
"""The length of phrases in a world."""


def random_tree(rng: random.Random, size: int) -> DependencyTree:
    """A random projective tree: a random head of every span."""
    tokens = Tokens([rng.choice(WORDS) for _ in range(size)], xpos=[rng.choice(TAGS) for _ in range(size)])
    heads = [-1] * size

    def fill(begin: int, end: int, parent: int) -> None:
        while begin < end:
            stop = rng.randint(begin + 1, end)
            head = rng.randrange(begin, stop)
            heads[head] = parent
            fill(begin, head, head)
            fill(head + 1, stop, head)
            begin = stop

    root = rng.randrange(size)
    fill(0, root, root)
    fill(root + 1, size, root)
    # A generator of their own: what else is drawn stays as it is.
    relations = random.Random(f"{tokens.forms} {heads}")
    return DependencyTree(tokens, heads, [relations.choice(RELATIONS) for _ in range(size)])


def random_constituents(rng: random.Random, tokens: Tokens) -> ConstituencyTree:
    def nest(begin: int, end: int) -> object:
        if end - begin == 1:
            return begin if rng.random() < 0.5 else (rng.choice("XY"), begin)
        cuts = sorted(rng.sample(range(begin + 1, end), rng.randint(1, min(2, end - begin - 1))))
        edges = [begin, *cuts, end]
        return (rng.choice("XY"), *(nest(i, j) for i, j in itertools.pairwise(edges)))

    nested = nest(0, len(tokens))
    return ConstituencyTree.build(tokens, nested if isinstance(nested, tuple) else ("X", nested))


def random_sentence(rng: random.Random, size: int) -> ParsedSentence:
    dependency = random_tree(rng, size)
    return ParsedSentence.of(dependency, random_constituents(rng, dependency.tokens))


class World:
    """A random corpus of ``size`` pairs with the tables of some grammars (with options of ``extraction``), phrases, a language
    model and weights."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *grammars: str,
        size: int = 20,
        extraction: Mapping[str, bool | int | str] | None = None,
    ) -> None:
        self.rng = random.Random(seed)
        self.grammars = grammars
        pairs = []
        for _ in range(size):
            sentence = random_sentence(self.rng, self.rng.randint(2, 5))
            order = list(range(len(sentence)))
            if self.rng.random() < 0.5:
                self.rng.shuffle(order)
            target = [TARGET[WORDS.index(sentence.tokens.forms[j])] for j in order]
            links = [(j, i) for i, j in enumerate(order) if self.rng.random() < 0.85]
            if self.rng.random() < 0.3:
                target.insert(self.rng.randrange(len(target)), "x")
                links = [(j, i) for j, i in links if i < len(target)]
            pairs.append((sentence, target, links))
        self.pairs = pairs
        self.sentences = [sentence for sentence, _, _ in pairs]
        (folder / "s").write_text("".join(" ".join(s.tokens.forms) + "\n" for s, _, _ in pairs))
        (folder / "t").write_text("".join(" ".join(t) + "\n" for _, t, _ in pairs))
        (folder / "a").write_text("".join(" ".join(f"{j}-{i}" for j, i in a) + "\n" for _, _, a in pairs))
        build_phrase_table(folder / "s", folder / "t", folder / "a", folder / "phrases", max_length=PHRASE_WORDS)
        self.tables: dict[str, RuleTable] = {}
        for grammar in grammars:
            known = {option.name for option in registry.grammar(grammar).options if option.extraction}
            options: dict[str, Any] = {name: value for name, value in (extraction or {}).items() if name in known}
            build_rule_table(grammar, parsed_bitext(pairs), folder / f"{grammar}.rules", **options)
            self.tables[grammar] = RuleTable(folder / f"{grammar}.rules")
        arpa = io.BytesIO()
        lm.estimate([(" ".join(t) + "\n").encode() for _, t, _ in pairs], arpa, order=3)
        (folder / "arpa").write_bytes(arpa.getvalue())
        self.model = lm.open_model(folder / "arpa")
        self.phrases = folder / "phrases"
        starts = start_weights([*grammars, "phrases"], extraction)
        self.extraction = extraction or {}
        self.weights = {name: value + self.rng.uniform(-0.3, 0.3) for name, value in starts.items()}
        self.weights["words"] = self.rng.uniform(-1, 1)

    def decoder(self, *grammars: str, **limits: object) -> Decoder:
        """A decoder of some of the grammars (all, if none is named) without limits but those given."""
        system = grammars or self.grammars
        off = {"stack_limit": 0, "stack_threshold": 0, "rule_limit": 0, "rule_threshold": 0, "phrase_limit": 0}
        more = {"grammars": {"label_sets": 10000}, "max_phrase_length": PHRASE_WORDS}
        return forest_decoder(
            {grammar: self.tables[grammar] for grammar in system},
            self.phrases,
            self.model,
            {name: self.weights[name] for name in feature_names([*system, "phrases"], limits.get("grammars"))},  # type: ignore[arg-type]
            **{**off, **more, **limits},  # type: ignore[arg-type]
        )

    def ordered_decoder(self, grammars: Sequence[str], options: Mapping[str, bool]) -> Decoder:
        """Without limits, the grammars in this order also in the core; `forest_decoder` sorts them."""
        names = [*feature_names(["phrases", *grammars])[:5]]
        for grammar in (*grammars, "phrases"):
            names += registry.grammar(grammar).features(options)
        native = forest_core.TreeDecoder(
            tuple(self.tables[grammar].core for grammar in grammars),
            open_phrases(self.phrases),
            "phrases",
            self.model.core,
            [self.weights[name] for name in names],
            stack_limit=0,
            stack_threshold=0,
            pop_limit=0,
            rule_limit=0,
            rule_threshold=0,
            phrase_limit=0,
            max_phrase_words=PHRASE_WORDS,
            grammars={"label_sets": 10000, **options},
        )
        return Decoder(native, grammars)

    @cached_property
    def rules(self) -> dict[str, dict[str, list[Rule]]]:
        """The rules of every grammar by their source sides."""
        result: dict[str, dict[str, list[Rule]]] = {}
        for grammar, table in self.tables.items():
            rules = result[grammar] = defaultdict(list)
            for entry in table:
                features = block(grammar, entry)
                if entry.unlinked and self.extraction.get("unlinked"):
                    features = (*features, (f"{grammar}.unlinked", float(entry.unlinked)))
                rules[entry.source].append(Rule(tuple(entry.target.split()), features, tuple(entry.labels)))
        return result

    @cached_property
    def phrase_table(self) -> PhraseTable:
        return PhraseTable(self.phrases)


Features = tuple[tuple[str, float], ...]
Target = tuple[str, ...]
"""Words and variables x1, x2, …"""


class Rule(NamedTuple):
    target: Target
    features: Features
    labels: tuple[tuple[int, int], ...]


def block(grammar: str, entry) -> Features:  # type: ignore[no-untyped-def]
    """The features of a rule or a phrase."""
    values = (entry.target_given_source, entry.source_given_target, entry.lexical_target, entry.lexical_source)
    logs = [max(math.log(value), -100.0) if value > 0 else -100.0 for value in values]
    return tuple(
        (f"{grammar}.{name}", value)
        for name, value in zip(("p_ts", "p_st", "lex_ts", "lex_st", "rules"), (*logs, 1.0), strict=True)
    )
