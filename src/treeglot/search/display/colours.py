"""One colour for each step of a derivation: neighbours differ, and a tint of it carries dark or light text.

>>> step_colour(1), step_colour(2), step_colour(1) == step_colour(1 + len(PALETTE))
('#d1495b', '#00798c', True)
"""

from __future__ import annotations

PALETTE = (
    "#d1495b", "#00798c", "#c98a00", "#5f4bb6", "#3a8f3a", "#b8459b", "#2b6cb0", "#a0522d", "#0f9d8a", "#d9622b",
    "#7a7a1e", "#8e4ec6", "#c2185b", "#1f7a4d", "#546e9a",
)  # fmt: skip
"""Middle tones: at a quarter of their strength they are a background on white and on near-black paper alike."""


def step_colour(number: int) -> str:
    """The colour of step ``number`` (from 1)."""
    return PALETTE[(number - 1) % len(PALETTE)]
