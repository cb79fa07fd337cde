"""The notation of `grammar.txt`: synchronous rules that a linguist can read, and its parser.

A rule has a head line, lines that choose things, and one tree for each language::

    NP.num 4 6 if $n.c=count
      k = cardinal
      x = NBAR n=$n num=pl
      zh: (NP (QP k* (CLP:clf $n.m/M)) x*)
      en: (NP k:num x^*)

*Head line*: category, name of the rule, weight in ordinary sentences, weight in long ones (the same if left out), the
word ``deep`` if the rule embeds (only ``depth`` such rules may lie above each other), and conditions.
*Choices*, made in this order: ``x = CATEGORY attribute=value ...`` derives a phrase (``+`` hands on all attributes of the
rule's own category), ``v = class attribute~value ...`` takes an entry of the lexicon, ``t = one P P F`` picks a value.
*Values*: ``$t`` is a variable of the rule (its category's attribute, or an earlier choice), ``$v.obj`` an attribute of an
entry, anything else stands for itself. *Conditions*: ``=`` equal, ``!=`` not equal, ``~`` contains (a list separated by
commas contains the value), ``!~`` does not contain.
*Trees*: ``(LABEL child ...)``; a child is a tree, a chosen name (``x``; ``v.past`` with an English form; ``x^`` dissolves
x's own phrase, which makes the flat trees of the Penn treebank; ``a.JJ`` overrides a Chinese tag) or a word ``form/TAG`` (the form may be ``$n.m``;
``be.pres/V`` asks for a form of an English verb). Marks after a child: ``*`` the head of its phrase (an only child is
always head), ``:nsubj`` its relation to that head (``:dobj@x`` to the head of x instead), ``#1`` links: words with the
same mark on both sides are linked all with all, phrases with the same mark are linked as nodes (a mark that
begins with ``fuzzy`` gives a fuzzy link; ``#v`` joins the words of the entry v), ``[le]`` there only if the variable le is set, ``[-le]`` only if it is not.

>>> rule, = parse_rules("S.plain 1\\n  x = NP role=subj\\n  zh: (IP x:nsubj 来/VV#1*)\\n  en: (S x:nsubj come.pres/V#1*)")
>>> rule.category, rule.name, rule.choices[0].name, rule.zh.children[1].form, rule.en.children[1].request
('S', 'plain', 'x', '来', 'pres')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from treeglot.errors import InputError


class Condition(NamedTuple):
    """``left operator right``; see the module's text for values."""

    left: str
    operator: str
    right: str


class Choice(NamedTuple):
    """``name = what arguments``: a phrase (``what`` is a category), an entry (a class) or a value (``one``)."""

    name: str
    what: str
    arguments: tuple[Condition, ...]
    options: tuple[str, ...] = ()
    inherit: bool = False


@dataclass(frozen=True)
class Template:
    """A phrase, a word or a chosen name in a rule's tree, with its marks. Exactly one of label, form, slot is set."""

    label: str = ""
    form: str = ""
    tag: str = ""
    slot: str = ""
    request: str = ""
    dissolve: bool = False
    head: bool = False
    relation: str = ""
    governor: str = ""
    link: str = ""
    condition: str = ""
    children: tuple[Template, ...] = ()


class Rule(NamedTuple):
    """One synchronous rule."""

    category: str
    name: str
    weight: float
    long_weight: float
    deep: bool
    conditions: tuple[Condition, ...]
    choices: tuple[Choice, ...]
    zh: Template
    en: Template


_MARKS = r"(?P<head>\*?)(?::(?P<rel>[a-z]+)(?:@(?P<gov>\w+))?)?(?:#(?P<link>\w+))?(?:\[(?P<cond>-?\w+)\])?"
_LINK_FIRST = r"(?:#(?P<link>\w+))?(?P<head>\*?)(?::(?P<rel>[a-z]+)(?:@(?P<gov>\w+))?)?(?:\[(?P<cond>-?\w+)\])?"
_SHAPES = tuple(
    re.compile(core + marks)
    for marks in (_MARKS, _LINK_FIRST)
    for core in (
        r"\((?P<label>[A-Z]+)",
        r"(?P<form>\S+?)/(?P<tag>[A-Z]+\$?|[.,])",
        r"(?P<slot>[a-z]\w*)(?:\.(?P<request>\w+))?(?P<dissolve>\^?)",
    )
)
_CONDITION = re.compile(r"([^\s=~!]+)(!=|!~|=|~)(\S*)")


def _condition(text: str, number: int) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise InputError(f"not a condition: {text!r}", line=number, remedy="write attribute=value or attribute~value")
    return Condition(*match.groups())


def _item(text: str, number: int) -> Template:
    for shape in _SHAPES:
        match = shape.fullmatch(text)
        if match is None:
            continue
        part = match.groupdict()
        form, tag, request = part.get("form") or "", part.get("tag") or "", part.get("request") or ""
        if tag == "V":
            form, _, request = form.partition(".")
        return Template(
            label=part.get("label") or "",
            form=form,
            tag=tag,
            slot=part.get("slot") or "",
            request=request,
            dissolve=bool(part.get("dissolve")),
            head=bool(part["head"]),
            relation=part["rel"] or "",
            governor=part["gov"] or "",
            link=part["link"] or "",
            condition=part["cond"] or "",
        )
    raise InputError(
        f"not a part of a tree: {text!r}", line=number, remedy="see the notation in treeglot.examples.notation"
    )


def parse_tree(text: str, number: int = 0) -> Template:
    """A rule's tree. Its nesting is that of the rule file, so recursion is bounded."""
    tokens = re.findall(r"\([^\s()]+|\)|[^\s()]+", text)
    stack: list[tuple[Template, list[Template]]] = [(Template(label="TOP"), [])]
    for token in tokens:
        if token == ")":
            if len(stack) == 1:
                raise InputError("a bracket too many", line=number, remedy="balance the brackets")
            item, children = stack.pop()
            stack[-1][1].append(_with_children(item, children, number))
        elif token.startswith("("):
            stack.append((_item(token, number), []))
        else:
            stack[-1][1].append(_item(token, number))
    if len(stack) != 1 or len(stack[0][1]) != 1:
        raise InputError("not one tree", line=number, remedy="balance the brackets")
    return stack[0][1][0]


def _with_children(item: Template, children: list[Template], number: int) -> Template:
    heads = [child for child in children if child.head]
    if len(children) > 1 and len(heads) != 1:
        raise InputError(f"{len(heads)} heads under {item.label}", line=number, remedy="mark one child with *")
    for child in children:
        if len(children) > 1 and not child.head and not child.relation and not child.dissolve:
            what = child.label or child.form or child.slot
            raise InputError(f"no relation on {what} under {item.label}", line=number, remedy="add :relation")
    return Template(**{**item.__dict__, "children": tuple(children)})


def parse_rules(text: str) -> tuple[Rule, ...]:
    """All rules of a grammar file; ``#`` at the start of a line makes it a comment."""
    rules: list[Rule] = []
    head: tuple[str, str, float, float, bool, tuple[Condition, ...]] | None = None
    choices: list[Choice] = []
    zh: Template | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if not raw.startswith(" "):
            head, choices, zh = _head_line(line, number), [], None
            continue
        if head is None:
            raise InputError("a line outside of a rule", line=number, remedy="start with the rule's head line")
        if line.startswith("zh:"):
            zh = parse_tree(line[3:], number)
        elif line.startswith("en:"):
            if zh is None:
                raise InputError("en: before zh:", line=number, remedy="write the Chinese tree first")
            rules.append(Rule(*head, tuple(choices), zh, parse_tree(line[3:], number)))
            head = None
        else:
            name, _, rest = line.partition(" = ")
            what, *arguments = rest.split()
            if what == "one":
                choices.append(Choice(name, what, (), tuple(arguments)))
            else:
                given = tuple(_condition(part, number) for part in arguments if part != "+")
                choices.append(Choice(name, what, given, inherit="+" in arguments))
    return tuple(rules)


def _head_line(line: str, number: int) -> tuple[str, str, float, float, bool, tuple[Condition, ...]]:
    front, _, back = line.partition(" if ")
    full_name, *rest = front.split()
    category, _, name = full_name.partition(".")
    deep = "deep" in rest
    weights = [float(part) for part in rest if part != "deep"]
    if not name or not 1 <= len(weights) <= 2:
        raise InputError(
            "not a rule's head line", line=number, remedy="write CATEGORY.name weight [long weight] [deep] [if ...]"
        )
    return category, name, weights[0], weights[-1], deep, tuple(_condition(part, number) for part in back.split())
