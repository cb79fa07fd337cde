"""A derivation as indented text: one line for each rule with what it adds to the score, its features below it.

Derivations between trees have their trees as text, too, with the number of its rule before the root of each fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from treeglot.search.display.colours import is_neutral, terminal_code
from treeglot.search.display.fragments import tree_pair
from treeglot.search.display.steps import Step, list_steps
from treeglot.search.translation import RuleUse
from treeglot.trees.display.text import constituency_text, isolate, paint
from treeglot.trees.display.widths import columns, visible
from treeglot.trees.sentence import ParsedSentence

MAX_DEPTH = 20
"""Deeper rules are not indented further."""


def derivation_text(
    derivation: RuleUse, weights: Mapping[str, float] | None = None, *, features: bool = True, color: bool = False
) -> str:
    """The rules of a derivation, topmost first, without a final line end.

    Each line has the number of the step, the source words that it covers (counted from 0, the end exclusive), the grammar and
    the rule, and with ``weights`` what it adds to the score. ``features`` adds a line with the features that are not 0,
    ``color`` the colours of a terminal.

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
        rule = f"{show(use.source)} → {show(target_side(use))}"
        score = f"  ({step.score(weights):.2f})" if weights is not None else ""
        name = use.grammar + " " * (grammar_width - columns(use.grammar))
        number, name, rule = _painted((f"{step.number:{digits}}", name, rule), step, color)
        lines.append(f"{number} {before}{branch}{span} {name}  {rule}{score}")
        values = " ".join(f"{name}={value:.4g}" for name, value in use.features.items() if value)
        if features and values:
            inside = "".join(below[1 : MAX_DEPTH + 1])
            bar = "│" if use.children and step.depth < MAX_DEPTH else " "
            lines.append(f"{'':{digits}} {inside}{bar}  {' ' * len(span)}{values}".rstrip())
    return "\n".join(lines)


def trees_text(sentence: ParsedSentence, derivation: RuleUse, *, color: bool = False, ascii: bool = False) -> str:
    """Both trees of a derivation without a final line end; nothing if no rule has a target tree.

    A number in brackets stands where the fragment of a rule begins; what has none belongs to the next number above it. Numbers
    of copies, glue and pseudo rules are in round brackets.

    >>> from treeglot.trees.constituency import ConstituencyTree
    >>> noun = RuleUse("stsg", 1, 2, "(NN 狗)", ("dog",), target_tree="(NN dog)")
    >>> use = RuleUse("stsg", 0, 2, "(NP (DT 那) x1:NN)", ("the", 0), children=(noun,), target_tree="(NP (DT the) x1:NN)")
    >>> tree = ConstituencyTree.build(["那", "狗"], ("NP", 0, 1))
    >>> print(trees_text(ParsedSentence.of(None, tree), use))
    source
    [1] NP
    ├─ 那
    ╰─ [2] 狗
    target
    [1] NP
    ├─ DT the
    ╰─ [2] NN dog
    """
    steps = list_steps(derivation)
    pair = tree_pair(sentence, steps)
    if pair is None:
        return ""
    lines = []
    for name, side in (("source", pair.source), ("target", pair.target)):
        if side.tree is None:
            continue
        notes = {
            node: "".join(f"({k})" if is_neutral(steps[k - 1].use) else f"[{k}]" for k in numbers)
            for node, numbers in side.begins.items()
        }
        nodes = [*range(len(side.nodes)), *(~j for j in range(len(side.words)))]
        owners = {node: side.owner(node) for node in nodes}
        codes = {node: terminal_code(k, steps[k - 1].use) for node, k in owners.items() if k}
        lines.append(paint(name, "label", color))
        lines.append(
            constituency_text(
                side.tree, color=color, ascii=ascii, tokens=side.sentence.tokens, notes=notes, codes=codes
            )
        )
    return "\n".join(lines)


def _painted(texts: Iterable[str], step: Step, color: bool) -> list[str]:
    if not color:
        return list(texts)
    return [f"\x1b[{terminal_code(step.number, step.use)}m{text}\x1b[0m" for text in texts]


def show(side: str) -> str:
    """A side of a rule; an empty one is shown as such."""
    return isolate(visible(side)) if side else "∅"


def target_side(use: RuleUse) -> str:
    """The target side of a rule, with its trees if it has any."""
    return use.target_tree or use.target


def _last_children(steps: list[Step]) -> list[bool]:
    """Whether each step is the last one below its parent."""
    is_last = [False] * len(steps)
    latest: dict[int, int] = {}
    for step in steps:
        latest[step.parent] = step.number
    for number in latest.values():
        is_last[number - 1] = True
    return is_last
