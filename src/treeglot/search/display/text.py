"""A derivation as indented text: one line for each rule with what it adds to the score, its features below it."""

from __future__ import annotations

from collections.abc import Mapping

from treeglot.search.display.steps import Step, list_steps
from treeglot.search.translation import RuleUse
from treeglot.trees.display.text import isolate
from treeglot.trees.display.widths import columns, visible

MAX_DEPTH = 20
"""Deeper rules are not indented further."""


def derivation_text(derivation: RuleUse, weights: Mapping[str, float] | None = None, *, features: bool = True) -> str:
    """The rules of a derivation, topmost first, without a final line end.

    Each line has the number of the step, the source words that it covers (counted from 0, the end exclusive), the grammar and
    the rule, and with ``weights`` what it adds to the score. ``features`` adds a line with the features that are not 0.

    >>> inner = RuleUse("phrases", 1, 2, "狗", ("dogs",), features={"lm": -2.5})
    >>> outer = RuleUse("dep2str", 0, 2, "x1:NN ^叫", (0, "bark"), children=(inner,), features={"lm": -1.0, "words": 2.0})
    >>> print(derivation_text(outer, {"lm": 0.5}))
    1 0-2 dep2str  x1:NN ^叫 → x1 bark  (-0.50)
      │     lm=-1 words=2
    2 ╰─ 1-2 phrases  狗 → dogs  (-1.25)
               lm=-2.5
    """
    steps = list_steps(derivation)
    last = _last_children(steps)
    digits = len(str(len(steps)))
    grammar_width = max(columns(step.use.grammar) for step in steps)
    lines = []
    below: list[str] = []  # the branches before the children of the steps above
    for step in steps:
        del below[step.depth :]
        use = step.use
        branch = ""
        if 0 < step.depth <= MAX_DEPTH:
            branch = "╰─ " if last[step.number - 1] else "├─ "
        before = "".join(below[1 : MAX_DEPTH + 1])
        below.append("" if step.depth == 0 else "   " if last[step.number - 1] else "│  ")
        span = f"{use.begin}-{use.end}"
        rule = f"{show(use.source)} → {show(use.target)}"
        score = f"  ({step.score(weights):.2f})" if weights is not None else ""
        name = use.grammar + " " * (grammar_width - columns(use.grammar))
        lines.append(f"{step.number:{digits}} {before}{branch}{span} {name}  {rule}{score}")
        values = " ".join(f"{name}={value:.4g}" for name, value in use.features.items() if value)
        if features and values:
            inside = "".join(below[1 : MAX_DEPTH + 1])
            bar = "│" if use.children and step.depth < MAX_DEPTH else " "
            lines.append(f"{'':{digits}} {inside}{bar}  {' ' * len(span)}{values}".rstrip())
    return "\n".join(lines)


def show(side: str) -> str:
    """A side of a rule; an empty one is shown as such."""
    return isolate(visible(side)) if side else "∅"


def _last_children(steps: list[Step]) -> list[bool]:
    """Whether each step is the last one below its parent."""
    is_last = [False] * len(steps)
    latest: dict[int, int] = {}
    for step in steps:
        latest[step.parent] = step.number
    for number in latest.values():
        is_last[number - 1] = True
    return is_last
