"""Rules between fragments of constituency trees on both sides (STSG: Zhang et al. 2007; spec: tree-to-tree).

A *unit pair* is a constituent or pre-terminal of the source and one of the target whose words are linked to each other only. The
target one may have unaligned words at its ends; the ways to choose it share a count of 1. A rule is an outer unit pair with up to
three inner ones cut out, which are the variables: ``x1:NP`` on the source side is ``x1:PP`` on the target side. Everything else stays:
words, pre-terminals and inner labels. The *minimal* rule of a unit pair has the largest ones inside as its variables.

>>> from treeglot.examples.worked import worked_example
>>> rules = extract(worked_example())
>>> len(rules)
43
>>> print(next(rule for rule in rules if rule.source.startswith("(NP (JJ")))
(NP (JJ 超极) (NN 本)) ||| (NN Ultrabook) ||| 1
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "stsg": {"grammars": ("stsg",)},
    "stsg-dirc": {"grammars": ("stsg",), "links": "dirc"},
    "stsg-ewos": {"grammars": ("stsg",), "links": "ewos"},
}
"""The systems of this grammar: from word links alone, with node links counted beside them, or with both at once."""

GROUPS = {"tree2tree": tuple(PRESETS)}
"""The paper's table has these rows beside those of other grammars' modules."""
COMPARED = {"sequences": "sequence sent"}
"""Features whose use is a column of comparisons: the share of translations with such a rule."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The rules of a pair with constituency trees on both sides.

    ``max_variables``, ``max_frontier`` (words and variables of the source side), ``max_words`` (a side), ``max_height``,
    ``span_limit`` (source words under a rule with words) and ``max_variants`` (target spans of a source span) bound the rules, but
    not the minimal one of each unit pair. ``links="dirc"`` and ``"ewos"`` use the pair's node links beside its word links,
    ``reading`` says which span pairs they license.
    """
    return extract_rules("stsg", pair, **options)
