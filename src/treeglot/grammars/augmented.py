"""Augmented dependency-to-string rules: dep2str rules that know where phrases fit (paper "Augmented Dependency-to-String
Translation", fixed and floating structures of Shen et al. 2008; spec: tree-to-string, section 3).

A *fixed* structure is the head with some of the dependents beside it, a *floating* one some neighbouring dependents. Those that
are consistent with the word alignment, have at most seven words and cover only variables of a rule, or words without links, are the
rule's labels: while decoding, a bilingual phrase can take the place of all that a label covers.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example())[1:4]:
...     print(rule.source, rule.labels)
x1:NR x2:AD ^x3:VV x4:本* ((0, 2), (0, 3), (1, 3), (1, 4), (2, 4))
x1:NR x2:AD ^推出 x3:NN* ((0, 2),)
x1:NR x2:AD ^推出 x3:本* ((0, 2),)
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "augmented": {"grammars": ("augmented",), "decompose": "both"},
    "augmented-complete": {"grammars": ("augmented",)},
    "augmented-xie": {"grammars": ("augmented",), "span_mode": "xie", "labels": "variables"},
}
"""Systems of this grammar: with rules for parts of relations; ``-complete`` without them; ``-xie`` extracts with the spans and labels of the paper."""

GIVES_WAY = {"decompose": ("span_mode", "xie")}
"""What these systems do without where something else is asked for that it does not go with."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The dep2str rules of a pair (options as there) with the labels of each; ``max_structure_words`` bounds a structure.
    ``labels`` ``variables`` is the paper's: none over words without links."""
    return extract_rules("augmented", pair, **options)
