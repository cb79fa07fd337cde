"""Constituency-to-string rules: fragments of the source tree with target strings (GHKM: Galley et al. 2004, 2006; limits of
Liu et al. 2006; spec: tree-to-string, section 5).

A constituent or pre-terminal is a *frontier* node when the target words linked to its words make a span that no other source
word is linked to. A rule's source side is a piece of the tree with a frontier node as root; its leaves are words and frontier
nodes, which are variables constrained by their labels (``x1:NP``). *Minimal* rules cannot be cut further, *composed* rules
are made of several of them. Words without links stay inside the rules, unary chains are kept. The height of a fragment counts
edges: ``(NN w)`` has height 1, ``(NP (NN w))`` 2, ``(IP x1:NP x2:VP)`` 1; leaves are words and variables.

A run of unaligned target words belongs as a whole to the highest node that it can (the lowest frontier node with the run
inside its span; the root of the tree for runs at the ends of the sentence) or to the lowest (beside the run). A rule shows it
if that node is expanded in the fragment. So a run beside a variable, or beside the rule's first or last word, gives two
variants.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example(), composed=False):
...     print(rule)
(AD 将) ||| will ||| 1
(ADVP x1:AD) ||| x1 ||| 1
(IP x1:NP x2:VP) ||| x1 x2 ||| 1
(NP (JJ 超极) (NN 本)) ||| Ultrabook ||| 1
(NP x1:NP x2:QP x3:NP) ||| x2 x3 x1 ||| 1
(NP x1:NR) ||| x1 ||| 2
(NR 亚洲) ||| in Asia ||| 1
(NR 英特尔) ||| Intel ||| 1
(OD 首) ||| the first ||| 1
(QP x1:OD (M 款)) ||| x1 ||| 1
(VP x1:ADVP x2:VP) ||| x1 x2 ||| 1
(VP x1:VV x2:NP) ||| x1 x2 ||| 1
(VV 推出) ||| launch ||| 1
>>> composed = extract(worked_example())
>>> print(next(rule for rule in composed if rule.source.startswith("(NP (NP (NR 亚洲)) x1:QP")))
(NP (NP (NR 亚洲)) x1:QP (NP (JJ 超极) (NN 本))) ||| x1 Ultrabook in Asia ||| 1
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {"cons2str": {"grammars": ("cons2str",)}}
"""The system of this grammar."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The GHKM rules of a pair with a constituency tree of the source, minimal ones only if not ``composed``.

    ``max_height`` and ``max_leaves`` bound a fragment. With more than ``max_variants`` ways to show unaligned target words only
    the one that shows fewest is kept, with count 1. ``max_fragments`` (0: no limit) are kept of one node, those of the fewest
    minimal rules.
    """
    return extract_rules("cons2str", pair, **options)
