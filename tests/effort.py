"""How much the tests try: a quarter of the random cases and of the costly ones by default, all of them with
``TREEGLOT_TEST_EFFORT=1``, or more."""

from __future__ import annotations

import os

EFFORT = float(os.environ.get("TREEGLOT_TEST_EFFORT", "0.25"))


def tries(number: int) -> int:
    """Of a large number of random cases, as many as the effort allows, but at least 50, or all if there are fewer."""
    return max(min(number, 50), round(number * EFFORT))


def worlds(number: int) -> int:
    """Of a few costly cases as many as the effort allows, at least one."""
    return max(1, round(number * EFFORT))
