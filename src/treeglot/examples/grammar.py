"""The grammar and lexicon that come with treeglot, and one sentence pair at a time from them.

>>> import random
>>> grammar = load_grammar()
>>> pair = grammar.sample(random.Random(3), depth=1)
>>> len(pair.source) > 0 and len(pair.word_links) > 0
True
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from treeglot.errors import ConfigError
from treeglot.examples.derivation import DeadEnd, Derivation, TooLong
from treeglot.examples.lexicon import Lexicon, load_lexicon
from treeglot.examples.notation import Rule, parse_rules
from treeglot.examples.realise import realise
from treeglot.trees import AlignedPair


@dataclass(frozen=True)
class Grammar:
    """Rules by category, and a lexicon. Make your own with `parse_rules` and `parse_lexicon`."""

    rules: dict[str, tuple[Rule, ...]]
    lexicon: Lexicon
    start: str = "TOP"

    @classmethod
    def of(cls, rules: tuple[Rule, ...], lexicon: Lexicon, start: str = "TOP") -> Grammar:
        by_category: dict[str, tuple[Rule, ...]] = {}
        for rule in rules:
            by_category[rule.category] = (*by_category.get(rule.category, ()), rule)
        for rule in rules:
            for choice in rule.choices:
                if choice.what.isupper() and choice.what not in by_category:
                    raise ConfigError(
                        f"rule {rule.category}.{rule.name}: no rule for {choice.what}", remedy="add one to the grammar"
                    )
        return cls(by_category, lexicon, start)

    def sample(
        self,
        chance: random.Random,
        *,
        depth: int = 2,
        long: bool = False,
        least: int = 0,
        limit: int = 1000,
        name: str = "",
    ) -> AlignedPair:
        """One sentence pair. At most ``depth`` embedding rules lie above each other; ``long`` prefers long structures;
        ``least`` and ``limit`` bound the number of Chinese words.

        Every draw is a call of ``chance.random()`` and of nothing else.
        """
        while True:
            derivation = Derivation(self.rules, self.lexicon, chance, depth=depth, long=long, limit=limit)
            try:
                zh, en = derivation.run(self.start)
            except (DeadEnd, TooLong):
                continue  # the draws so far led nowhere; go on with the next ones
            if derivation.words >= least:
                return realise(zh, en, derivation.links, name)


@cache
def load_grammar() -> Grammar:
    """The grammar of the example corpus."""
    return Grammar.of(
        parse_rules(files("treeglot.examples").joinpath("grammar.txt").read_text("utf-8")), load_lexicon()
    )
