"""Dependency tree → constituency tree with projected phrase levels.

A language that has only a dependency parser still gets phrases that are not dependency subtrees, such as verb + object:
the phrasal nodes of the consdep2str model (see `phrasal`). Each head word projects phrases from the inside out: a verb takes its
complements (VP), then its auxiliaries one by one (VP), then its subject (S), then what subordinates it (SBAR); a noun
takes its inner modifiers (NP), then relative clauses, PPs and appositions (NP), then an adposition (PP); a predicate noun
or adjective then goes on like a verb, its copula coming first. Conjuncts join at the level that they reach themselves.
A level takes only dependents that are adjacent to what it already has, so word order decides where freer languages differ
from English. Labels are those of the Penn (and Chinese Penn) treebanks.

No phrase crosses a dependency subtree: every subtree is a phrase or a run of sister nodes. The levels are in
`dep2cons_levels`, the meaning of labels and tags in `dep2cons_rules`.

>>> from treeglot.trees.tokens import Tokens
>>> tokens = Tokens("Intel will launch a laptop".split(), upos="PROPN AUX VERB DET NOUN".split())
>>> tree = to_constituency(DependencyTree(tokens, [2, 2, -1, 4, 2], ["nsubj", "aux", "root", "det", "obj"]))
>>> for label, (low, high) in zip(tree.labels, tree.spans):
...     print(label, *tree.tokens.forms[low:high])
S Intel will launch a laptop
NP Intel
VP will launch a laptop
VP launch a laptop
NP a laptop
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dep2cons_block import Sentence
from treeglot.trees.dep2cons_levels import Projection
from treeglot.trees.dep2cons_rules import LABEL_SETS, guess_label_set
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.projectivity import projectivize

STYLES = ("penn", "ctb")

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_CTB_LABELS = {"S": "IP", "SBAR": "CP"}


def to_constituency(
    tree: DependencyTree,
    *,
    label_set: Literal["auto", "ud", "stanford"] = "auto",
    style: Literal["auto", "penn", "ctb"] = "auto",
) -> ConstituencyTree:
    """The constituency tree that a dependency tree projects; a non-projective tree is projectivised first.

    ``label_set``: how to read the dependency labels. ``style``: where treebanks differ, follow the English (``penn``) or the
    Chinese one (``ctb``: IP and CP for S and SBAR, an inner noun phrase below quantifiers and determiners, a verb phrase
    for the adverbs left of the verb). ``auto`` decides from the labels, and from the script: ``ctb`` for Chinese characters without kana.
    """
    if label_set != "auto" and label_set not in LABEL_SETS:
        raise TreeError(f"no label set {label_set!r}", remedy=f"label sets are auto, {', '.join(LABEL_SETS)}")
    if style != "auto" and style not in STYLES:
        raise TreeError(f"no style {style!r}", remedy=f"styles are auto, {', '.join(STYLES)}")
    if label_set == "auto":
        label_set = guess_label_set(tree.deprels)
    if style == "auto":
        style = "ctb" if _is_chinese(tree.tokens.forms) else "penn"
    projective = projectivize(tree)
    sentence = Sentence(projective, label_set, style)
    for head in projective.postorder:
        phrase = Projection(sentence, head).project()
        for child in projective.children(head):
            del sentence.phrases[child]
        sentence.phrases[head] = phrase
    top = sentence.phrases[projective.root]
    sentence.node(top.label or top.unary or "X", [*top.before, *top.items, *top.after])
    labels = sentence.labels
    if style == "ctb":
        labels = [_CTB_LABELS.get(label, label) for label in labels]
    return ConstituencyTree(tree.tokens, labels, sentence.children)


def _is_chinese(forms: Sequence[str]) -> bool:
    han = sum(_HAN.search(form) is not None for form in forms)
    return 2 * han >= len(forms) and not any(_KANA.search(form) for form in forms)
