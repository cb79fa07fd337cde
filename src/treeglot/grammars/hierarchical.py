"""Hierarchical rules: phrase pairs with gaps, learnt without any tree (Chiang 2007; spec: tree-to-string, section 6).

An initial phrase is a phrase pair of at most ten words a side. A rule is an initial phrase in which smaller ones, of at least
two source words, have become gaps: at most two, not next to each other on the source side, with at most five source symbols
and at least one pair of linked words left. Every initial phrase has a count of 1 that its rules share. With the default
options rules and counts are those of Moses' extract-rules.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract(worked_example(), max_initial_phrase=5):
...     if "x1" in rule.source:
...         print(rule)
x1:X 推出 ||| x1 launch ||| 0.333333
x1:X 超极 本 ||| x1 Ultrabook ||| 0.25
亚洲 x1:X ||| x1 in Asia ||| 0.2
亚洲 x1:X 超极 本 ||| x1 Ultrabook in Asia ||| 0.2
亚洲 首 x1:X ||| the first x1 in Asia ||| 0.2
亚洲 首 款 x1:X ||| the first x1 in Asia ||| 0.2
英特尔 x1:X ||| Intel x1 ||| 0.333333
首 x1:X ||| the first x1 ||| 0.25
首 款 x1:X ||| the first x1 ||| 0.25
"""

from __future__ import annotations

import math
from typing import Any

from treeglot.grammars.rules import Rule, extract_rules
from treeglot.trees.sentence import AlignedPair

PRESETS: dict[str, dict[str, Any]] = {"hierarchical": {"grammars": ("hierarchical",)}}
"""The system of this grammar."""

MOSES_GLUE = f"""\
<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| {math.e:.9g} ||| 0-0 1-1 ||| 0 ||| |||
"""
"""Moses' chart decoder reads these rules as text; this is the glue that it needs beside them, with a score whose logarithm is 1 for
each part of the sentence. A grammar without it cannot be handed over to Moses."""


def extract(pair: AlignedPair, **options: Any) -> list[Rule]:
    """The hierarchical rules of a pair; trees are not looked at.

    ``max_initial_phrase`` words, ``max_source_symbols``, ``max_gaps``; ``min_gap`` is the least number of source words of a gap.
    ``fractional``: the rules of an initial phrase share a count of 1; otherwise each counts 1. ``tight`` (Chiang's): initial phrases
    neither begin nor end with unaligned words. ``max_rules`` of one initial phrase; 0 is no limit.
    """
    return extract_rules("hierarchical", pair, **options)
