"""The moves of `dep2cons`: a block of words around a head that grows outwards, and the phrases made on the way.

`Sentence` holds what is known of every word and the nodes made so far; a node is a phrase (its number) or a word (``~j``), as in
`ConstituencyTree`. A `Block` belongs to one head word. It never takes a dependent that is not adjacent to it, and takes
dependents whole, so that no phrase crosses a dependency subtree.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from treeglot.trees.dep2cons_rules import Role, role, word_class
from treeglot.trees.dependency import ROOT, DependencyTree

# How far up a phrase has been projected. A conjunct joins its head at the level that it has itself.
WORD, ADPOSITIONAL, VERBAL, CLAUSAL, SUBORDINATE = range(5)

FUNCTION_ROLES = frozenset(
    {Role.AUXILIARY, Role.COPULA, Role.MARKER, Role.CASE, Role.LINKER, Role.COORDINATOR, Role.PUNCTUATION, Role.PART}
)
"""Words in these roles do not become phrases by themselves."""

_LOOSE = (Role.PUNCTUATION, Role.COORDINATOR)
_WH_CARRIERS = frozenset({Role.DETERMINER, Role.POSSESSOR, Role.ADVERB, Role.ADJECTIVE, Role.NUMBER, Role.NOMINAL})
_WH_TAGS = frozenset(
    str.split("WP WDT WRB WP$ PROREL PROWH ADVWH DETWH ADJWH PRELS PRELAT PWS PWAV PWAT")
)  # Penn, French, STTS
_WH_FEATURE = re.compile(r"PronType=[^|]*(?:Int|Rel)")
_FINITE_TAGS = frozenset(str.split("VBD VBZ VBP MD VVFIN VAFIN VMFIN V VS"))


@dataclass(slots=True)
class Phrase:
    """A finished dependency subtree as its head sees it; the nodes ``before`` and ``after`` become sisters of the phrase.

    ``label`` is None for words that are no phrase yet: the place where they end up decides whether they become ``unary``.
    """

    items: list[int]
    label: str | None
    unary: str
    level: int
    wh: bool
    finite: bool
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


class Sentence:
    """A projective dependency tree with roles and word classes, and the phrases made of it so far."""

    def __init__(self, tree: DependencyTree, label_set: str, style: str) -> None:
        tokens = tree.tokens
        self.tree = tree
        self.style = style
        self.classes = [word_class(upos, xpos) for upos, xpos in zip(tokens.upos, tokens.xpos, strict=True)]
        self.roles = [
            Role.OTHER if tree.heads[j] == ROOT else self._role(label_set, label, j)
            for j, label in enumerate(tree.deprels)
        ]
        self.labels: list[str] = []
        self.children: list[list[int]] = []
        self.phrases: dict[int, Phrase] = {}

    def _role(self, label_set: str, label: str, j: int) -> Role:
        """The label's role, corrected where the tag says more than the label."""
        by_label = role(label_set, label)
        xpos = self.tree.tokens.xpos[j]
        if by_label in (Role.MARKER, Role.CASE) and xpos in ("DEC", "DEG", "DEV", "DER"):
            return Role.LINKER
        if by_label is Role.MARKER and (xpos in ("TO", "PTKZU") or (xpos == "_" and self.classes[j] == "T")):
            return Role.AUXILIARY  # the "to" of an infinitive
        if by_label is Role.AUXILIARY and xpos == "AS":
            return Role.PARTICLE  # an aspect marker
        return by_label

    def node(self, label: str, items: Iterable[int]) -> int:
        """A new phrase; returns its number."""
        self.labels.append(label)
        self.children.append(list(items))
        return len(self.labels) - 1

    def is_wh(self, j: int) -> bool:
        """Whether word j is a relative or an interrogative word."""
        tokens = self.tree.tokens
        return tokens.xpos[j] in _WH_TAGS or _WH_FEATURE.search(tokens.feats[j]) is not None

    def is_finite(self, j: int) -> bool:
        tokens = self.tree.tokens
        return tokens.xpos[j] in _FINITE_TAGS or "VerbForm=Fin" in tokens.feats[j]


Accept = Callable[[int, Role, Phrase], bool]
"""Whether a dependent (its number, role and phrase) may join the block now."""


def roles_in(*accepted: Role) -> Accept:
    """Accept dependents in these roles."""
    wanted = frozenset(accepted)
    return lambda child, child_role, phrase: child_role in wanted


def anything(child: int, child_role: Role, phrase: Phrase) -> bool:
    return True


class Block:
    """The growing phrase of one head word.

    ``items`` are the nodes inside, ``label`` what they will be called (None while they are just words); ``left`` and
    ``right`` are the dependents outside, the nearest one last. Punctuation and coordinators next to the block wait in
    ``before`` and ``after``: they go in when something beyond them does, else they end up outside, as high as possible.
    """

    def __init__(self, sentence: Sentence, head: int) -> None:
        self.sentence = sentence
        self.head = head
        self.role = sentence.roles[head]
        self.is_root = sentence.tree.heads[head] == ROOT
        children = sentence.tree.children(head)
        self.dependents = frozenset(sentence.roles[child] for child in children)
        self.left = [child for child in children if child < head]
        self.right = [child for child in reversed(children) if child > head]
        self.items = deque([~head])
        self.label: str | None = None
        self.before: deque[int] = deque()
        self.after: deque[int] = deque()
        self.level = WORD
        self.wh = sentence.is_wh(head)
        self.finite = sentence.is_finite(head)
        self.object_last = False

    def close(self, label: str) -> None:
        """What is in the block becomes one phrase (if it is more than words) inside a new phrase ``label``."""
        if self.label is not None:
            self.items = deque([self.sentence.node(self.label, self.items)])
        self.label = label

    def nearest(self, queue: list[int], accept: Accept) -> bool:
        """Whether the nearest dependent on that side is accepted."""
        return bool(queue) and accept(queue[-1], self.sentence.roles[queue[-1]], self.sentence.phrases[queue[-1]])

    def take(self, queue: list[int], *, wrap: bool = True) -> int:
        """Take the nearest dependent on that side; ``wrap`` makes a phrase of it even if it is a plain word."""
        child = queue.pop()
        on_left = child < self.head
        phrase = self.sentence.phrases[child]
        child_role = self.sentence.roles[child]
        small_clause = self.object_last and not on_left and self._is_open_complement(child)
        if on_left and phrase.wh and self.level == WORD and child_role in _WH_CARRIERS:
            self.wh = True
        if small_clause and phrase.label == "S":
            core = phrase.items
        elif phrase.label is not None or (wrap and phrase.unary and child_role not in FUNCTION_ROLES):
            core = [self.sentence.node(phrase.label or phrase.unary, phrase.items)]
        else:
            core = phrase.items
        if on_left:
            self.items.extendleft(reversed([*phrase.before, *core, *phrase.after, *self.before]))
            self.before.clear()
            return child
        self.items.extend(self.after)
        if small_clause:
            # (VP saw (S (NP her) (VP leave)))
            nodes = [self.sentence.node("S", [self.items.pop(), *phrase.before, *core, *phrase.after])]
        else:
            nodes = [*phrase.before, *core, *phrase.after]
        self.items.extend(nodes)
        self.after.clear()
        self.object_last = child_role is Role.OBJECT and len(nodes) == 1
        return child

    def _is_open_complement(self, child: int) -> bool:
        return (
            self.sentence.style == "penn" and self.sentence.tree.deprels[child].startswith("xcomp") and not self.after
        )

    def set_loose_aside(self) -> None:
        """Move punctuation and coordinators next to the block to ``before`` and ``after``."""
        while self.left and self.sentence.roles[self.left[-1]] in _LOOSE:
            self.before.extendleft(reversed(self._flat(self.left.pop())))
        while self.right and self.sentence.roles[self.right[-1]] in _LOOSE:
            self.after.extend(self._flat(self.right.pop()))

    def _flat(self, child: int) -> list[int]:
        phrase = self.sentence.phrases[child]
        core = phrase.items if phrase.label is None else [self.sentence.node(phrase.label, phrase.items)]
        return [*phrase.before, *core, *phrase.after]

    def absorb(
        self, label: str, left: Accept | None, right: Accept | None, *, wrap: bool = True, same: bool = False
    ) -> bool:
        """Take dependents, left before right, as long as a nearest one is accepted. They and the block become a phrase
        ``label``; with ``same`` they join the phrase in the making, if there is one. Returns whether any was taken."""
        gained = False
        while True:
            self.set_loose_aside()
            if left is not None and self.nearest(self.left, left):
                queue = self.left
            elif right is not None and self.nearest(self.right, right):
                queue = self.right
            else:
                return gained
            if not gained and not (same and self.label is not None):
                self.close(label)
            gained = True
            self.take(queue, wrap=wrap)

    def coordinate(self, level: int, label: str) -> bool:
        """Join the nearest conjuncts if they reach at most ``level``: (NP (NP the dog) and (NP a cat))."""
        if Role.CONJUNCT not in self.dependents:
            return False

        def accept(child: int, child_role: Role, phrase: Phrase) -> bool:
            return child_role is Role.CONJUNCT and self._joining_level(phrase) <= level

        self.set_loose_aside()
        ready = [queue[-1] for queue in (self.left, self.right) if self.nearest(queue, accept)]
        if not ready:
            return False
        if self._one_word() and all(self.sentence.phrases[child].label is None for child in ready):
            self.absorb(
                label, accept, accept, wrap=False, same=True
            )  # (NP dogs or cats), but (VP (VP read) or (VP write))
        else:
            if self.label is None:
                self.close(label)
            self.absorb(label, accept, accept)
        if self.before and self.before[-1] < 0 and self.sentence.tree.deprels[~self.before[-1]] == "cc:preconj":
            self.items.appendleft(self.before.pop())  # both ... and ...
        return True

    def coordinate_words(self, label: str) -> None:
        """Join plain conjuncts without making a phrase of each: (NP the men and women)."""
        roles, phrases = self.sentence.roles, self.sentence.phrases
        self.set_loose_aside()
        if not self.right or roles[self.right[-1]] is not Role.CONJUNCT:
            return
        if all(phrases[child].label is None for child in self.right if roles[child] is Role.CONJUNCT):
            self.absorb(label, None, roles_in(Role.CONJUNCT), wrap=False, same=True)

    def _one_word(self) -> bool:
        return len(self.items) == 1 and self.items[0] < 0

    def _joining_level(self, phrase: Phrase) -> int:
        # "was born there and died here": a finite conjunct is not under the auxiliary of a participle.
        auxiliaries = self.dependents & {Role.AUXILIARY, Role.COPULA}
        if phrase.level < VERBAL and phrase.finite and not self.finite and auxiliaries:
            return VERBAL
        return phrase.level
