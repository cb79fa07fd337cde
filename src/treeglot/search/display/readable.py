"""A decoder's derivation made readable: helper steps that say nothing are left out, and every step has a source side.

The tree decoder joins members of a head two at a time where no rule matches, and has steps that only pass something on. Here the
former become one step and the latter disappear. Phrases and copied words get the words they cover as their source side.

>>> from treeglot.search.display.steps import PhraseNode as N
>>> def word(j, text):
...     return N("phrases", j, j + 1, "", text, (text,), kind="word", features={"lm": -1.0})
>>> pair = N("pseudo", 0, 2, "", "x1 x2", ("a", "b"), children=(word(0, "a"), word(1, "b")), target_items=(0, 1))
>>> whole = N("pseudo", 0, 3, "", "x1 x2", ("a", "b", "c"), children=(pair, word(2, "c")), target_items=(0, 1),
...     features={"pseudo": 1.0})
>>> top = readable(N("join", 0, 3, "", "x1", ("a", "b", "c"), children=(whole,), target_items=(0,)), ["A", "B", "C"])
>>> top.grammar, top.source, top.target, [(child.source, child.target) for child in top.children]
('pseudo', 'x1 x2 x3', 'x1 x2 x3', [('A', 'a'), ('B', 'b'), ('C', 'c')])
"""

from __future__ import annotations

from collections.abc import Sequence

from treeglot.search.display.steps import PhraseNode, Use

HELPERS = ("pseudo", "join", "glue")


def readable(derivation: Use, words: Sequence[str]) -> Use:
    """The derivation of a sentence with these source words, in fewer and complete steps."""
    uses: list[Use] = []
    below: list[list[int]] = []
    stack: list[tuple[Use, int]] = [(derivation, -1)]
    while stack:
        use, parent = stack.pop()
        if parent >= 0:
            below[parent].append(len(uses))
        uses.append(use)
        below.append([])
        stack.extend((child, len(uses) - 1) for child in reversed(use.children))
    made: dict[int, Use] = {}
    for n in range(len(uses) - 1, -1, -1):
        made[n] = _readable(uses[n], [made.pop(child) for child in below[n]], words)
    return made[0]


def _readable(use: Use, children: Sequence[Use], words: Sequence[str]) -> Use:
    helper = use.grammar in HELPERS
    parts: list[str | Use] = []
    for item in use.target_items:
        if isinstance(item, str):
            parts.append(item)
            continue
        child = children[item]
        if helper and child.grammar in HELPERS and not any(child.features.values()):
            parts.extend(inner if isinstance(inner, str) else child.children[inner] for inner in child.target_items)
        else:
            parts.append(child)
    if helper:
        kept = sorted((part for part in parts if not isinstance(part, str)), key=lambda part: (part.begin, part.end))
        if use.grammar == "join" and len(parts) == len(kept) == 1 and not any(use.features.values()):
            return kept[0]
    else:
        kept = list(children)
    places = {id(child): place for place, child in enumerate(kept)}
    items = tuple(part if isinstance(part, str) else places[id(part)] for part in parts)
    return PhraseNode(
        use.grammar,
        use.begin,
        use.end,
        use.source or _source(use, kept, words),
        " ".join(item if isinstance(item, str) else f"x{item + 1}" for item in items),
        tuple(word for part in parts for word in ([part] if isinstance(part, str) else part.words)),
        use.kind,
        use.label,
        dict(use.features),
        tuple(kept),
        items,
    )


def _source(use: Use, children: Sequence[Use], words: Sequence[str]) -> str:
    """The words that a step covers, with variables where another step covers them."""
    starts = {child.begin: (child.end, place) for place, child in enumerate(children) if child.end > child.begin}
    parts = []
    j = use.begin
    while j < use.end:
        if j in starts:
            j, place = starts[j]
            parts.append(f"x{place + 1}")
        else:
            parts.append(words[j] if j < len(words) else "")
            j += 1
    return " ".join(parts)
