"""Dependency-to-string rules: a head with all its dependents on the source side (Xie et al. 2011, as the papers
"consdep2str" and "augmented" use them; spec: tree-to-string, sections 1 and 2).

A head-dependents relation gives rules when the target spans of its head, of its dependents' subtrees and of all of them
together are consistent with the word alignment. Dependents that have dependents of their own are variables. Words of one type
(head, internal dependents, leaves) are shown all by their words or all by their tags, which makes up to eight rules. A head or leaf
without links is the word that it is in all of them: the rule drops that word and no other of its tag.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example()):
...     print(rule)
x1:NR x2:AD ^x3:VV x4:NN* ||| x1 x2 x3 x4 ||| 1
x1:NR x2:AD ^x3:VV x4:本* ||| x1 x2 x3 x4 ||| 1
x1:NR x2:AD ^推出 x3:NN* ||| x1 x2 launch x3 ||| 1
x1:NR x2:AD ^推出 x3:本* ||| x1 x2 launch x3 ||| 1
x1:OD ^款 ||| x1 ||| 1
英特尔 将 ^x1:VV x2:NN* ||| Intel will x1 x2 ||| 1
英特尔 将 ^x1:VV x2:本* ||| Intel will x1 x2 ||| 1
英特尔 将 ^推出 x1:NN* ||| Intel will launch x1 ||| 1
英特尔 将 ^推出 x1:本* ||| Intel will launch x1 ||| 1
首 ^款 ||| the first ||| 1

``category="tag+relation"`` shows words that are generalised by their relation to the head, too.

>>> print(extract(worked_example(), category="tag+relation")[0])
x1:NR/nsubj x2:AD/advmod ^x3:VV/root x4:NN/dobj* ||| x1 x2 x3 x4 ||| 1

``decompose`` adds rules for parts of such a relation: *runs*, some neighbouring members with the head (``+``), and *attachments*, a
dependent beside a run (``^x1:推出+``, which may be the head alone).

>>> more = {str(rule) for rule in extract(worked_example(), decompose="both")} - {str(rule) for rule in extract(worked_example())}
>>> for rule in sorted(more)[:2] + sorted(more)[-2:]:
...     print(rule)
+ ^x1:VV x2:NN* ||| x1 x2 ||| 1
+ ^x1:VV x2:本* ||| x1 x2 ||| 1
英特尔 ^x1:VV+ ||| Intel x1 ||| 1
英特尔 ^x1:推出+ ||| Intel x1 ||| 1
"""

from __future__ import annotations

from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {
    "dep2str": {"grammars": ("dep2str",), "decompose": "both"},
    "dep2str-complete": {"grammars": ("dep2str",)},
    "dep2str-xie": {"grammars": ("dep2str",), "span_mode": "xie"},
}
"""Systems of this grammar: with rules for parts of relations; ``-complete`` without them, as in the papers; ``-xie`` extracts with the spans of the augmented model's paper."""

GIVES_WAY = {"decompose": ("span_mode", "xie")}
"""What these systems do without where something else is asked for that it does not go with."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The dep2str rules of a pair with a dependency tree of the source.

    ``span_mode`` ``ghkm`` wants every subtree's span consistent; ``xie`` takes the span of a subtree from those of its words
    that have consistent spans, and leaves target words between the parts out. With more than ``max_variants`` target sides
    of one source side only the shortest is kept. ``category`` is ``tag`` or ``tag+relation``, ``decompose`` ``none``, ``runs`` (of at
    most eight members), ``attach`` or ``both``.
    """
    return extract_rules("dep2str", pair, **options)
