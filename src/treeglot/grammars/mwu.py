"""Multi-word units, also with gaps, from a forest over the dependency tree (paper "mwu-forest"; spec: mwu-forest).

A *unit* is a set of at most ``max_words`` words: a treelet, or treelets side by side under one head. The forest says in which ways
the words of a sentence fall into units: an edge into a unit cuts the dependents of its words into groups of neighbours and
has a unit for each. The ``k`` edges with the largest units are kept, with probabilities, so every unit and every edge has a
posterior probability.

A unit whose words are linked to a span of the target and to nothing else gives a *lexical* rule, an edge whose parts all have such
spans a *structural* one. They count as much as they are probable. A word is written with the place of its head in the rule, a
variable with the words it stands for.

>>> from treeglot.examples.worked import worked_example
>>> rules = extract(worked_example(), max_words=3, k=1000)
>>> len(rules)
24
>>> for rule in rules[:3] + rules[-1:]:
...     print(rule)
x1:NR/3 x1:AD/3 推出/0 x2:NN/3 ||| x1 launch x2 ||| 0.0176471
x1:NR/3 x1:AD/3 推出/0 x2:NR/7 x3:M/7 超极/7 本/3 ||| x1 launch x3 Ultrabook x2 ||| 0.0282353
x1:NR/3 x2:AD/3 推出/0 x3:NN/3 ||| x1 x2 launch x3 ||| 0.0117647
首/2 款/0 ||| the first ||| 0.141481
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {"mwu": {"grammars": ("mwu",)}}
"""The system of this grammar."""

COVERAGE: dict[str, range] = {"max_words": range(1, 9), "k": range(1, 21)}
"""The experiments of the paper: the coverage (`treeglot.pipeline.coverage`) for these values of each option."""

UNIT_WORDS = "max_words"
"""The option that says how many words one rule may translate by itself: shorter sentences are counted apart."""

EXTENSIONS: tuple[dict[str, Any], ...] = (
    {"unaligned_source": True},
    {"unaligned_target": True},
    {"consistent_first": True},
    {"siblings": "vertex", "consistent_first": True},
    {"unaligned_source": True, "unaligned_target": True, "consistent_first": True},
)
"""What goes beyond the paper; the coverage of each is measured apart."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The rules of a pair with a dependency tree of the source.

    ``max_words`` of a unit, ``k`` edges into one, ``cap`` units that begin at one word; ``siblings="vertex"`` lets neighbours below
    different words of a unit be one part. ``consistency="paper"`` lets words outside of a unit be linked into its span.
    ``label`` of variables: ``"tag"`` or ``"word"``. ``unaligned_source``: parts without links are words of the rule;
    ``unaligned_target``: rules reach over unaligned target words, in all ways. ``consistent_first`` leaves edges that no rule can
    have out before the ``k`` best are taken. Edges with a posterior of at most ``delta`` are taken out of the forest, and with
    ``renormalise`` the others get their probability; ``outside="paper"`` has the paper's formula for posteriors.
    """
    return extract_rules("mwu", pair, **options)
