"""How much the tests try: a quarter of the random cases and a third of the costly ones by default, all of them with
``TREEGLOT_TEST_EFFORT=1``, or more."""

from __future__ import annotations

import os

EFFORT = float(os.environ.get("TREEGLOT_TEST_EFFORT", "0.25"))


def tries(number: int) -> int:
    """Of a large number of random cases, as many as the effort allows, but at least 100, or all if there are fewer."""
    return max(min(number, 100), round(number * EFFORT))


def worlds(number: int) -> int:
    """Of a few costly cases a third, or as many as the effort allows."""
    return max(-(-number // 3), round(number * EFFORT))
