"""One colour for each step of a derivation: neighbours differ, and a tint of it carries dark or light text.

>>> step_colour(1), step_colour(2), step_colour(1) == step_colour(1 + len(PALETTE))
('#d1495b', '#00798c', True)
>>> use_colour(3, RuleUse("glue", 0, 2, "x1 x2", (0, 1))) == NEUTRAL
True
"""

from __future__ import annotations

from treeglot.search.translation import RuleUse

PALETTE = (
    "#d1495b", "#00798c", "#c98a00", "#5f4bb6", "#3a8f3a", "#b8459b", "#2b6cb0", "#a0522d", "#0f9d8a", "#d9622b",
    "#7a7a1e", "#8e4ec6", "#c2185b", "#1f7a4d", "#546e9a",
)  # fmt: skip
"""Middle tones: at a quarter of their strength they are a background on white and on near-black paper alike."""
NEUTRAL = "#7d8794"
"""What no rule of a grammar made."""


def is_neutral(use: RuleUse) -> bool:
    """Whether a step is none of a grammar's rules: a copied word, or parts in the order of the source."""
    return use.grammar in ("copy", "glue", "pseudo")


def step_colour(number: int) -> str:
    """The colour of step ``number`` (from 1)."""
    return PALETTE[(number - 1) % len(PALETTE)]


def use_colour(number: int, use: RuleUse) -> str:
    """The colour of a step; none of its own for copies, glue and pseudo rules."""
    return NEUTRAL if is_neutral(use) else step_colour(number)


def terminal_code(number: int, use: RuleUse) -> str:
    """The colour of a step as the parameters of a terminal's escape sequence."""
    return "2" if is_neutral(use) else _CODES[(number - 1) % len(_CODES)]


_CODES = ("31", "36", "33", "35", "32", "94", "91", "34", "92", "95", "96", "93")
