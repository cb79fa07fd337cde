"""Which links a table is learnt from: a choice, written as text.

- ``grow-diag``: what a heuristic makes of the two directions;
- ``0.5``: the links whose chance is at least that (`treeglot.alignment.posteriors`);
- ``0.3+0.7``, ``union:0.25+intersection:0.75``: several of them. Rules are extracted from each, and a rule counts the weight of those in
  which it is found; without weights they weigh alike, and 1 together;
- ``expected``: thresholds from 0.1 to 0.9. A link whose chance is p is there under a share of about p of them, so that what is counted is
  what is expected (instead of one best alignment: Venugopal, Zollmann, Smith and Vogel 2008).

>>> link_choice("intersect"), link_choice(0.5), link_choice("0.30+union")
('intersection', '0.5', '0.3+union')
>>> parts("expected")
(('0.1', 0.2), ('0.3', 0.2), ('0.5', 0.2), ('0.7', 0.2), ('0.9', 0.2))
>>> parts("union:0.25+0.5:0.75"), parts("grow")
((('union', 0.25), ('0.5', 0.75)), (('grow', 1.0),))
"""

from __future__ import annotations

from treeglot.alignment.symmetrize import HEURISTICS, SYMAL_NAMES
from treeglot.errors import ConfigError
from treeglot.links import parse_weight, shares

EXPECTED = "expected"
_THRESHOLDS = "0.1+0.3+0.5+0.7+0.9"


def link_choice(value: object) -> str:
    """A choice in its usual form; ValueError says what there is."""
    if value == EXPECTED:
        return EXPECTED
    if isinstance(value, str) and "+" in value:
        return "+".join(map(_part, value.split("+")))
    return _single(value)


def parts(choice: str) -> tuple[tuple[str, float], ...]:
    """The single choices of a choice, and what each weighs."""
    texts = (_THRESHOLDS if choice == EXPECTED else choice).split("+")
    if len(texts) == 1:
        return ((choice, 1.0),)
    split = [text.partition(":") for text in texts]
    with_weights = {bool(colon) for _, colon, _ in split}
    if len(with_weights) > 1:
        raise ConfigError(
            f"{choice}: weights of some of the links", remedy="write none, or one for each: 0.3:0.5+0.7:0.5"
        )
    weights = (
        shares(len(texts)) if False in with_weights else tuple(parse_weight(number, choice) for *_, number in split)
    )
    return tuple((name, weight) for (name, *_), weight in zip(split, weights, strict=True))


def is_threshold(choice: str) -> bool:
    """Whether a single choice is the least chance of a link."""
    return choice not in HEURISTICS


def links_name(choice: str) -> str:
    """A choice in names of files.

    >>> links_name("intersection"), links_name("0.5"), links_name("expected"), links_name("0.3:0.25+grow:0.75")
    ('intersection', 'posterior0.5', 'expected', 'posterior0.3_0.25+grow_0.75')
    """
    if choice == EXPECTED or choice in HEURISTICS:
        return choice
    names = (text.replace(":", "_") for text in choice.split("+"))
    return "+".join(name if name.partition("_")[0] in HEURISTICS else f"posterior{name}" for name in names)


def _single(value: object) -> str:
    if isinstance(value, str) and (name := SYMAL_NAMES.get(value, value)) in HEURISTICS:
        return name
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return f"{float(value):g}"
    raise ValueError(
        f"should be one of {', '.join(HEURISTICS)}, or the least chance of a link, above 0 and up to 1; or several, such as "
        f"0.3+0.7 or union:0.25+intersection:0.75; or {EXPECTED}"
    )


def _part(text: str) -> str:
    name, colon, weight = text.strip().partition(":")
    try:
        single = _single(float(name))
    except ValueError:
        single = _single(name)
    return f"{single}:{parse_weight(weight):g}" if colon else single
