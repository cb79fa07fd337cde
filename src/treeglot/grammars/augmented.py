"""Augmented dependency-to-string rules: dep2str rules that know where phrases fit (paper "Augmented Dependency-to-String
Translation", fixed and floating structures of Shen et al. 2008; spec: tree-to-string, section 3).

A *fixed* structure is the head with some of the dependents beside it, a *floating* one some neighbouring dependents. Those that
are consistent with the word alignment, have at most seven words and cover only variables of a rule are the rule's labels:
while decoding, a bilingual phrase can take the place of all of a label's variables.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example())[1:4]:
...     print(rule.source, rule.labels)
x1:NR x2:AD ^x3:VV x4:本* ((0, 2), (0, 3), (1, 3), (1, 4), (2, 4))
x1:NR x2:AD ^推出 x3:NN* ((0, 2),)
x1:NR x2:AD ^推出 x3:本* ((0, 2),)
"""

from __future__ import annotations

from treeglot.grammars.rules import MAX_VARIANTS, Rule, SpanMode, extract_rules
from treeglot.trees.sentence import AlignedPair

MAX_WORDS = 7
"""The most words of a fixed or floating structure."""


def extract(
    pair: AlignedPair,
    *,
    span_mode: SpanMode = "ghkm",
    max_variants: int = MAX_VARIANTS,
    max_structure_words: int = MAX_WORDS,
) -> list[Rule]:
    """The dep2str rules of a pair (options as there) with the labels of each."""
    return extract_rules(
        "augmented", pair, span_mode=span_mode, max_variants=max_variants, max_structure_words=max_structure_words
    )
