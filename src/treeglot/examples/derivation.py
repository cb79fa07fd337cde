"""Derivations: the synchronous grammar at work, from a category to two linked trees under construction.

One derivation builds both sides at once. Each category that it expands gives a phrase on either side, which are linked as
nodes; words are linked as the rule or the lexicon says; the head marks of the rules give the dependency trees.

All chance comes from ``random.Random(seed).random()``, the only call whose results Python promises to keep. Weights are
multiples of a quarter, so that their sums are exact in any order and the same on every machine and Python version.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import TypeVar

from treeglot.errors import ConfigError
from treeglot.examples.english import comparative, plural
from treeglot.examples.lexicon import Entry, Lexicon, holds
from treeglot.examples.notation import Choice, Condition, Rule, Template
from treeglot.trees import LinkKind

Value = str | Entry
_T = TypeVar("_T")
_INNER_RELATIONS = {"JJ": "amod", "JJR": "amod", "CD": "num", "DT": "det", "OD": "ordmod"}
_ONCE = frozenset(("noun", "proper", "verb", "adj", "say", "ask", "time"))
"""Classes whose entries are not repeated within a sentence: repetition makes sentences unnatural."""
_NOUN_TAGS = frozenset(("NN", "NNP"))


@dataclass(eq=False)
class Part:
    """A phrase (with children, one of them the head) or a word of a tree under construction."""

    label: str
    children: list[Part] = field(default_factory=list)
    head: Part | None = None
    relation: str = ""
    governor: Part | None = None
    form: str = ""
    request: str = ""
    irregular: Mapping[str, str] = field(default_factory=dict)

    @property
    def head_word(self) -> Part:
        part = self
        while part.head is not None:
            part = part.head
        return part


@dataclass
class Links:
    """Pairs of parts; a part is linked as a node at most once."""

    words: list[tuple[Part, Part]] = field(default_factory=list)
    nodes: list[tuple[Part, Part, LinkKind]] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)
    _kept: list[Part] = field(default_factory=list)

    def node(self, zh: Part, en: Part, kind: LinkKind = "good") -> None:
        if id(zh) not in self._used and id(en) not in self._used:
            self._used.update((id(zh), id(en)))
            self._kept.extend((zh, en))  # an identity may not be used again while we remember it
            self.nodes.append((zh, en, kind))


@dataclass
class _Expansion:
    """Both sides of something chosen. ``leaders`` are the head parts of the two sequences."""

    zh: list[Part]
    en: list[Part]
    zh_leader: Part
    en_leader: Part


class DeadEnd(Exception):
    """No rule or entry fits; the caller tries another one."""


class TooLong(Exception):
    """More Chinese words than the limit; the derivation is given up."""


class Derivation:
    """One run of the grammar.

    ``depth`` bounds nested deep rules, ``long`` selects the second weights, ``limit`` bounds the Chinese words.
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[Rule]],
        lexicon: Lexicon,
        chance: random.Random,
        *,
        depth: int = 2,
        long: bool = False,
        limit: int = 1000,
    ) -> None:
        self.rules = rules
        self.lexicon = lexicon
        self.chance = chance
        self.depth = depth
        self.long = long
        self.limit = limit
        self.links = Links()
        self.used_rules: list[str] = []
        self._said: list[Entry] = []
        self.words = 0

    def run(self, category: str) -> tuple[Part, Part]:
        """Both trees of one sentence."""
        result = self.expand(category, {}, self.depth)
        return result.zh_leader, result.en_leader

    def expand(self, category: str, attributes: Mapping[str, Value], depth: int) -> _Expansion:
        """Derive a category by one of its rules."""
        if category not in self.rules:
            raise ConfigError(f"no rule for category {category}", remedy="add one to grammar.txt")
        weigh = attrgetter("long_weight" if self.long else "weight")
        open_rules = [rule for rule in self.rules[category] if weigh(rule) and (depth > 0 or not rule.deep)]
        weights = [weigh(rule) for rule in open_rules]
        while open_rules:
            number = self._pick(range(len(open_rules)), weights)
            rule = open_rules.pop(number)
            del weights[number]
            if not all(_true(condition, attributes) for condition in rule.conditions):
                continue
            mark = len(self.links.words), len(self.links.nodes), len(self.used_rules), len(self._said), self.words
            try:
                return self._apply(rule, attributes, depth - rule.deep)
            except DeadEnd:
                del self.links.words[mark[0] :], self.links.nodes[mark[1] :]
                del self.used_rules[mark[2] :], self._said[mark[3] :]
                self.words = mark[4]
        raise DeadEnd(category)

    def _pick(self, items: Sequence[_T], weights: Sequence[float]) -> _T:
        point = self.chance.random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]

    def _apply(self, rule: Rule, attributes: Mapping[str, Value], depth: int) -> _Expansion:
        variables = dict(attributes)
        self.used_rules.append(f"{rule.category}.{rule.name}")
        chosen: dict[str, _Expansion | Entry] = {}
        for choice in rule.choices:
            self._choose(choice, attributes, variables, chosen, depth)
        for name, value in variables.items():
            if isinstance(value, Entry):
                chosen.setdefault(name, value)
        sides = []
        groups: tuple[dict[str, list[Part]], dict[str, list[Part]]] = (defaultdict(list), defaultdict(list))
        nodes: tuple[dict[str, Part], dict[str, Part]] = ({}, {})
        for side, template in enumerate((rule.zh, rule.en)):
            builder = _Builder(side, variables, chosen, groups[side], nodes[side])
            sides.append(builder.build(template))
            builder.finish()
            if side == 0:
                self.words += builder.words
        if self.words > self.limit:
            raise TooLong
        self._link(groups, nodes)
        (zh, zh_leader), (en, en_leader) = sides
        if len(zh) == 1 and len(en) == 1:
            self.links.node(zh[0], en[0])
        return _Expansion(zh, en, zh_leader, en_leader)

    def _choose(
        self,
        choice: Choice,
        inherited: Mapping[str, Value],
        variables: dict[str, Value],
        chosen: dict[str, _Expansion | Entry],
        depth: int,
    ) -> None:
        if choice.what == "one":
            variables[choice.name] = self._pick(choice.options, [1.0] * len(choice.options))
            return
        arguments = [(left, operator, _value(right, variables)) for left, operator, right in choice.arguments]
        if choice.what.isupper():
            attributes = dict(inherited) if choice.inherit else {}
            attributes.update((left, right) for left, _, right in arguments)
            chosen[choice.name] = self.expand(choice.what, attributes, depth)
            return
        plain = [Condition(left, operator, str(right)) for left, operator, right in arguments]
        entries = self.lexicon.select(choice.what, plain)
        taken = {id(entry) for entry in self._said}
        entries = tuple(entry for entry in entries if id(entry) not in taken)
        if not entries:
            raise DeadEnd(choice.what)
        entry = self._pick(entries, [float(entry.attributes.get("w", "1")) for entry in entries])
        variables[choice.name] = chosen[choice.name] = entry
        if choice.what in _ONCE:
            self._said.append(entry)

    def _link(
        self,
        groups: tuple[dict[str, list[Part]], dict[str, list[Part]]],
        nodes: tuple[dict[str, Part], dict[str, Part]],
    ) -> None:
        zh_groups, en_groups = groups
        for name in list(zh_groups):  # a mark such as a_degree without partner joins the words of a
            if not en_groups.get(name) and "_" in name:
                zh_groups[name.partition("_")[0]].extend(zh_groups.pop(name))
        for name, zh_words in zh_groups.items():
            en_words = en_groups.get(name, [])
            self.links.words.extend((zh, en) for zh in zh_words for en in en_words)
            if len(zh_words) == len(en_words) == 1:
                self.links.node(zh_words[0], en_words[0])
        for name, zh_node in nodes[0].items():
            if name in nodes[1]:
                self.links.node(zh_node, nodes[1][name], "fuzzy" if name.startswith("fuzzy") else "good")


@cache
def _reference(text: str) -> tuple[str, str]:
    """The name and attribute of ``$name.attribute``; two empty strings for anything else."""
    if not text.startswith("$"):
        return "", ""
    name, _, attribute = text[1:].partition(".")
    return name, attribute


def _value(text: str, variables: Mapping[str, Value]) -> Value:
    name, attribute = _reference(text)
    if not name:
        return text
    value = variables.get(name, "")
    if not attribute:
        return value
    return value.attributes.get(attribute, "") if isinstance(value, Entry) else ""


def _true(condition: Condition, variables: Mapping[str, Value]) -> bool:
    left, right = _value(condition.left, variables), _value(condition.right, variables)
    return holds(str(left), condition.operator, str(right))


class _Builder:
    """Builds one side of one rule."""

    def __init__(
        self,
        side: int,
        variables: Mapping[str, Value],
        chosen: Mapping[str, _Expansion | Entry],
        groups: dict[str, list[Part]],
        nodes: dict[str, Part],
    ) -> None:
        self.side = side
        self.variables = variables
        self.chosen = chosen
        self.groups = groups
        self.nodes = nodes
        self.leaders: dict[str, Part] = {}
        self.governed: list[tuple[Part, str]] = []
        self.words = 0

    def build(self, template: Template) -> tuple[list[Part], Part]:
        """The parts for a template and the one that leads them."""
        if template.slot:
            parts, leader = self._slot(template)
        elif template.form:
            leader = self._word(template)
            parts = [leader]
        else:
            leader = self._phrase(template)
            parts = [leader]
        if template.relation and not leader.relation:  # a relation that the child's own rule gives wins
            leader.relation = template.relation
        if template.governor:
            self.governed.append((leader, template.governor))
        return parts, leader

    def finish(self) -> None:
        """Attach the words whose head is somewhere else than under their phrase."""
        for part, slot in self.governed:
            part.governor = self.leaders[slot]

    def _present(self, template: Template) -> bool:
        name = template.condition
        if not name:
            return True
        return not self.variables.get(name[1:]) if name.startswith("-") else bool(self.variables.get(name))

    def _phrase(self, template: Template) -> Part:
        phrase = Part(template.label)
        for child in template.children:
            if not self._present(child):
                continue
            parts, leader = self.build(child)
            for part in parts:
                if part is not leader and part.governor is None:
                    part.governor = leader
            phrase.children.extend(parts)
            if child.head or len(template.children) == 1:
                phrase.head = leader
        if phrase.head is None:
            raise ConfigError(f"the head of {template.label} is missing", remedy="make its head unconditional")
        if template.link:
            self.nodes[template.link] = phrase
        return phrase

    def _word(self, template: Template) -> Part:
        form = str(_value(template.form, self.variables))
        if not form:
            raise DeadEnd(template.form)
        tag = template.tag
        request = self._request(template.request)
        self.words += 1
        word = Part(tag, form=form, request=request if tag == "V" else "")
        if tag == "NNS" and template.form.startswith("$"):
            word.label, word.request = "NN", "pl"
        if template.link:
            self.groups[template.link].append(word)
        return word

    def _request(self, name: str) -> str:
        value = self.variables.get(name)
        return value if isinstance(value, str) and value else name

    def _slot(self, template: Template) -> tuple[list[Part], Part]:
        value = self.chosen.get(template.slot)
        if value is None:
            raise ConfigError(f"nothing was chosen for {template.slot}", remedy="correct the rule")
        if isinstance(value, Entry):
            parts, leader = self._entry(template, value)
        else:
            parts, leader = (value.zh, value.zh_leader) if self.side == 0 else (value.en, value.en_leader)
            if template.dissolve and len(parts) == 1 and leader.children:
                assert leader.head is not None
                parts, leader = leader.children, leader.head
        self.leaders[template.slot] = leader
        return list(parts), leader

    def _entry(self, template: Template, entry: Entry) -> tuple[list[Part], Part]:
        request = self._request(template.request)
        parts: list[Part] = []
        words = entry.zh if self.side == 0 else entry.en
        for position, lexical in enumerate(words):
            is_head = position == len(words) - 1
            self.words += 1
            word = Part(lexical.tag, form=lexical.form, irregular=entry.attributes)
            if is_head and self.side == 0 and template.request.isupper():
                word.label = template.request
            name = f"{template.slot}.{lexical.link}" if lexical.link else template.link or template.slot
            if is_head and self.side == 1:
                parts.extend(self._inflect(word, request, template.slot))
            elif not is_head:
                word.relation = _INNER_RELATIONS.get(lexical.tag, "nn")
            self.groups[name].append(word)
            parts.append(word)
        leader = parts[-1]
        for part in parts[:-1]:
            part.governor = leader
        return parts, leader

    def _inflect(self, word: Part, request: str, slot: str) -> list[Part]:
        """Put the head word of an English entry into its form; returns words that this puts before it (*more*)."""
        if word.label == "VB":
            word.label, word.request = "V", request or "base"
        elif word.label in _NOUN_TAGS and request == "pl":
            word.request = "pl"
        elif request in ("er", "est"):
            form = comparative(word.form, word.irregular, request)
            if form is None:
                adverb = Part("RBR" if request == "er" else "RBS", form="more" if request == "er" else "most")
                adverb.relation = "advmod"
                self.groups[f"{slot}_degree"].append(adverb)
                return [adverb]
            word.label, word.request = ("JJR" if request == "er" else "JJS"), form
        return []


def noun_form(word: Part) -> str:
    """The plural that was asked for."""
    return plural(word.form, word.irregular)
