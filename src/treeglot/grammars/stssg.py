"""Rules between sequences of constituency trees on both sides (STSSG: Zhang et al. 2008; spec: tree-to-tree).

As `treeglot.grammars.stsg`, but a unit is any span whose *cover*, the largest nodes inside it, has at most ``max_trees`` trees: its
category is the list of their labels. So a variable may stand for neighbours without a common parent; its nodes have one number.

>>> from treeglot.examples.worked import worked_example
>>> rules = extract(worked_example())
>>> len(rules)
146
>>> print(next(rule for rule in rules if rule.source == "(QP x1:OD (M 款))"))
(QP x1:OD (M 款)) ||| x1:DT x1:JJ ||| 1
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "stssg": {"grammars": ("stssg",)},
    "stssg-dirc": {"grammars": ("stssg",), "links": "dirc"},
    "stssg-ewos": {"grammars": ("stssg",), "links": "ewos"},
}
"""The systems of this grammar: from word links alone, with node links counted beside them, or with both at once."""

GROUPS = {"tree2tree": tuple(PRESETS)}
"""The paper's table has these rows beside those of other grammars' modules."""
COMPARED = {"sequences": "sequence sent"}
"""Features whose use is a column of comparisons: the share of translations with such a rule."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The rules of a pair with constituency trees on both sides.

    ``max_trees`` of a sequence, ``max_variables``, ``max_frontier`` (words and variables of the source side), ``max_words`` (a side), ``max_height``,
    ``span_limit`` (source words under a rule with words) and ``max_variants`` (target spans of a source span) bound the rules, but
    not the minimal one of each unit pair. ``links="dirc"`` and ``"ewos"`` use the pair's node links beside its word links,
    ``reading`` says which span pairs they license.
    """
    return extract_rules("stssg", pair, **options)
