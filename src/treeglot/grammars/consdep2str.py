"""Rules with constituents in dependency trees (paper "Translation with Source Constituency and Dependency Trees"; spec:
tree-to-string, section 4).

Besides all rules of dep2str there are rules in which *phrasal nodes* stand for the members of a head-dependents relation that
they cover: constituents that are no dependency subtrees (see `treeglot.trees.phrasal`). So also a relation with members that
cannot be translated one by one gives rules.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example()):
...     if "[" in rule.source:
...         print(rule)
x1:NR ^x2:VP[AD_VV_NN] ||| x1 x2 ||| 1
x1:NR x2:AD ^x3:VP[VV_NN] ||| x1 x2 x3 ||| 1
x1:NR x2:M* ^x3:NP[JJ_NN] ||| x2 x3 x1 ||| 1
x1:NR x2:款* ^x3:NP[JJ_NN] ||| x2 x3 x1 ||| 1
亚洲 x1:M* ^x2:NP[JJ_NN] ||| x1 x2 in Asia ||| 1
亚洲 x1:款* ^x2:NP[JJ_NN] ||| x1 x2 in Asia ||| 1
英特尔 ^x1:VP[AD_VV_NN] ||| Intel x1 ||| 1
英特尔 将 ^x1:VP[VV_NN] ||| Intel will x1 ||| 1
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "consdep2str": {"grammars": ("consdep2str",), "decompose": "both"},
    "consdep2str-complete": {"grammars": ("consdep2str",)},
}
"""Systems of this grammar: with rules for parts of relations; ``-complete`` without them, as in the paper."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The consdep2str rules of a pair with both trees of the source.

    ``binarize`` adds the virtual phrases ``X@LABEL`` of a binarised constituency tree as phrasal nodes; ``max_phrasal_nodes`` is
    the most of them in one rule; ``max_variants`` as for dep2str.
    """
    return extract_rules("consdep2str", pair, **options)
