"""The levels of `dep2cons`: which dependents a head takes first, and what the phrase is called then.

`Projection` runs a `Block` through the levels of its head's word class. The English (``penn``) and the Chinese (``ctb``) treebank
differ in a few places, marked by ``self.ctb``.
"""

from __future__ import annotations

from treeglot.trees.dep2cons_block import (
    ADPOSITIONAL,
    CLAUSAL,
    FUNCTION_ROLES,
    SUBORDINATE,
    VERBAL,
    WORD,
    Accept,
    Block,
    Phrase,
    Sentence,
    anything,
    roles_in,
)
from treeglot.trees.dep2cons_rules import Role

_OPENING = frozenset("([{（［｛【") | {"-LRB-"}
_CLOSING = frozenset(")]}）］｝】") | {"-RRB-"}
_QUESTION_MARKS = frozenset("?？؟")
_QUESTION_LABELS = {"S": "SQ", "SBAR": "SBARQ"}

_BEFORE_AUXILIARY = frozenset({Role.ADVERB, Role.PUNCTUATION})
_AFTER_MARKED_VERB = frozenset({Role.MARKER, Role.CASE, Role.PUNCTUATION})  # Japanese: 読ん で いる
_VERBS = frozenset({Role.AUXILIARY, Role.COPULA})
_ARGUMENTS = frozenset({Role.SUBJECT, Role.OBJECT, Role.AUXILIARY, Role.COMPLEMENT, Role.ADVERBIAL})
_NOUN_MODIFIERS = frozenset({Role.DETERMINER, Role.ADJECTIVE, Role.NOMINAL, Role.CASE, Role.CLAUSE, Role.COMPOUND})
_SUBORDINATORS = frozenset({Role.MARKER, Role.CASE, Role.LINKER})
_NAME_PARTS = frozenset({Role.COMPOUND, Role.PART, Role.PUNCTUATION, Role.ADJECTIVE})
_WORD_PARTS = frozenset({Role.PART, Role.ADVERB, Role.COMPOUND, Role.PUNCTUATION})

_INNER = frozenset({Role.COMPOUND, Role.ADJECTIVE, Role.PART})
_BEFORE_NOUN = _INNER | {
    Role.DETERMINER, Role.NUMBER, Role.CLASSIFIER, Role.POSSESSOR, Role.NOMINAL, Role.CLAUSE, Role.APPOSITION, Role.OTHER,
}  # fmt: skip
_CLOSE_AFTER_NOUN = frozenset({Role.PART, Role.COMPOUND, Role.NUMBER, Role.CLASSIFIER})
_AFTER_NOUN = frozenset(
    {Role.NOMINAL, Role.CLAUSE, Role.APPOSITION, Role.ADJECTIVE, Role.DETERMINER, Role.POSSESSOR, Role.OTHER}
)
_ADJUNCTS = frozenset({Role.OBLIQUE, Role.COMPLEMENT, Role.ADVERBIAL, Role.ADVERB, Role.OBJECT})
_BEFORE_MODIFIER = frozenset(
    {Role.ADVERB, Role.PART, Role.COMPOUND, Role.OTHER, Role.NUMBER, Role.DETERMINER, Role.NOMINAL}
)
_AFTER_MODIFIER = frozenset(
    {Role.OBLIQUE, Role.COMPLEMENT, Role.ADVERB, Role.PART, Role.OTHER, Role.NOMINAL, Role.OBJECT, Role.COMPOUND}
)
_AFTER_VERB = _ADJUNCTS | {
    Role.PARTICLE, Role.PART, Role.COMPOUND, Role.OTHER, Role.NOMINAL, Role.GOVERNED, Role.ADJECTIVE, Role.NUMBER,
    Role.CLASSIFIER, Role.CLAUSE,
}  # fmt: skip
_BEFORE_VERB = frozenset({Role.OBJECT, Role.PARTICLE, Role.PART, Role.COMPOUND, Role.OBLIQUE, Role.COMPLEMENT})
_GOVERNED = (
    Role.GOVERNED, Role.PART, Role.OBJECT, Role.COMPLEMENT, Role.OTHER, Role.NOMINAL, Role.OBLIQUE,
)  # fmt: skip

_PHRASE_OF_CLASS = {
    "V": "VP", "N": "NP", "Q": "NP", "D": "NP", "M": "NP", "X": "NP", "A": "ADJP", "R": "ADVP", "P": "PP", "L": "LCP",
    "I": "INTJ",
}  # fmt: skip
_CTB_PHRASE_OF_CLASS = _PHRASE_OF_CLASS | {"Q": "QP", "M": "QP", "D": "DP"}


class Projection(Block):
    """Projects the phrases of one head word."""

    def __init__(self, sentence: Sentence, head: int) -> None:
        super().__init__(sentence, head)
        self.ctb = sentence.style == "ctb"
        self.kind = self._kind()
        self.clausal = self.kind == "V" or bool(self.dependents & {Role.SUBJECT, Role.COPULA, Role.AUXILIARY})
        self.infinitive = False
        self.inner_from = head

    def _kind(self) -> str:
        """The word's class as it is used here; T is a function word, which projects nothing."""
        kind = self.sentence.classes[self.head]
        if self.role in FUNCTION_ROLES and self.dependents <= _WORD_PARTS:
            return "T"
        if kind == "V" and self.role in (Role.ADJECTIVE, Role.COMPOUND) and not self.dependents & _ARGUMENTS:
            return "A"  # a participle before a noun
        if kind in ("X", "T", "S", "U", "C"):
            if self.dependents & _ARGUMENTS:
                return "V"
            if self.dependents & _NOUN_MODIFIERS:
                return "N"
            return "X" if kind == "X" else "T"
        if self.role is Role.PARTICLE and kind in ("V", "P", "R") and self.dependents <= _WORD_PARTS:
            return "T"
        if kind == "P" and self.role in (Role.ADVERB, Role.OBLIQUE) and Role.GOVERNED not in self.dependents:
            return "R"
        return kind

    def project(self) -> Phrase:
        kind = self.kind
        unary = (_CTB_PHRASE_OF_CLASS if self.ctb else _PHRASE_OF_CLASS).get(kind, "")
        if kind in ("N", "Q", "D", "M", "X"):
            self.noun_levels()
        elif kind in ("A", "R", "I"):
            self.modifier_levels(unary)
        elif kind in ("P", "L"):
            self.governing_levels(unary)
        elif kind == "T" and self.dependents <= _WORD_PARTS:
            self.absorb("X", anything, anything, wrap=False)
            self.label = None
        if self.clausal:
            self.clause_levels()
        if kind == "T" and self.role is Role.PARTICLE and self.sentence.classes[self.head] in ("P", "R", "T"):
            unary = "" if self.ctb else "PRT"
        self.rest(unary or "X")
        return self.finish(unary)

    # Nouns: (PP in (NP (NP the old house) (PP of (NP ...)) (SBAR that ...)))

    def noun_levels(self) -> None:
        label = "QP" if self.role in (Role.NUMBER, Role.CLASSIFIER) else "NP"
        before = roles_in(*_BEFORE_NOUN) if self.clausal else roles_in(*_BEFORE_NOUN, Role.ADVERB)
        if self.ctb:
            self.absorb(label, roles_in(*_INNER), roles_in(Role.PART, Role.COMPOUND), wrap=False)
            self.coordinate(WORD, label)
            self.absorb(label, before, self.is_close, wrap=self.role is not Role.CLASSIFIER)
        else:
            self.absorb(label, before, self.is_close, wrap=False)
            self.coordinate_words(label)
        after = roles_in(*_AFTER_NOUN) if self.clausal else roles_in(*_AFTER_NOUN, *_ADJUNCTS)
        self.set_loose_aside()
        if self.label is None and self.nearest(self.right, after):
            self.label = label
        if self.wh and not self.after and self.nearest(self.right, roles_in(Role.CLAUSE)):
            # A free relative: (SBAR (WHNP what) (S they said))
            self.mark_wh()
            self.close("SBAR")
            self.take(self.right)
        self.absorb("NP", None, after)
        while self.coordinate(WORD, "NP"):
            if not self.absorb("NP", before, after):
                break
        self.case_levels()

    def is_close(self, child: int, child_role: Role, phrase: Phrase) -> bool:
        """Whether a dependent on the right is part of the innermost noun phrase: 12 May *2015*, the firm *Elsevier*."""
        if child_role in _CLOSE_AFTER_NOUN or phrase.label is not None:
            return child_role in _CLOSE_AFTER_NOUN
        if child_role is Role.APPOSITION:
            return not self.after and self.sentence.classes[child] == "N"
        if child_role in (Role.NOMINAL, Role.OTHER):
            return self.sentence.classes[child] == "Q"
        return child_role in (Role.ADJECTIVE, Role.DETERMINER)

    def case_levels(self) -> None:
        """Adpositions as dependents, the nearest first; the right one first where there is one on either side."""
        is_case = roles_in(Role.CASE, Role.LINKER)
        while True:
            self.set_loose_aside()
            queue = self.right if self.nearest(self.right, is_case) else self.left
            if not self.nearest(queue, is_case):
                break
            label = self.case_label(queue[-1])
            if self.label is None:
                self.label = "ADJP" if self.kind == "A" else "ADVP" if self.kind == "R" else "NP"
            if label:
                self.mark_wh()
                self.close(label)
                self.level = ADPOSITIONAL
            self.take(queue, wrap=False)
        if self.level == ADPOSITIONAL and self.label is not None:
            if not self.clausal:
                self.absorb(self.label, roles_in(Role.ADVERB), None, same=True)
            self.coordinate(ADPOSITIONAL, self.label)

    def case_label(self, child: int) -> str:
        """What an adposition makes of a noun phrase ("" : it stays a noun phrase, as with the English genitive)."""
        xpos = self.sentence.tree.tokens.xpos[child]
        if xpos == "POS":
            return ""
        if self.sentence.roles[child] is Role.LINKER:
            return "DVP" if xpos == "DEV" else "DNP"
        return "LCP" if xpos == "LC" or self.sentence.tree.deprels[child] == "case:loc" else "PP"

    def modifier_levels(self, label: str) -> None:
        """Adjectives, adverbs: (ADJP very happy (PP about it))."""
        before: Accept = roles_in(*_BEFORE_MODIFIER) if self.clausal else roles_in(*_BEFORE_MODIFIER, Role.OBLIQUE)
        after: Accept = (
            roles_in(*_AFTER_MODIFIER) if self.clausal else roles_in(*_AFTER_MODIFIER, Role.ADVERBIAL, Role.CLAUSE)
        )
        self.absorb(label, before, roles_in(Role.ADVERB, Role.PART, Role.COMPOUND), wrap=False)
        self.coordinate_words(label)
        self.absorb(label, before, after, same=True)
        while self.coordinate(WORD, label):
            if not self.absorb(label, before, after):
                break
        self.case_levels()

    def governing_levels(self, label: str) -> None:
        """Adpositions and localisers that are heads: (PP in (NP the house))."""
        governed = roles_in(*_GOVERNED)
        self.absorb(label, governed, governed)
        self.absorb(label, roles_in(Role.ADVERB), None, same=True)
        self.coordinate(SUBORDINATE, label)

    # Clauses: (SBAR that (S (NP she) (VP will (VP see (NP it)))))

    def clause_levels(self) -> None:
        if self.kind == "V":
            self.inner_from = self.find_inner_from()
            self.absorb("VP", self.is_inner_left, self.is_inner_right)
            while self.coordinate(WORD, "VP"):
                words = all(item < 0 for item in self.items)
                if not self.absorb("VP", self.is_inner_left, self.is_inner_right, same=words):
                    break
        else:
            if self.label is None:
                self.label = "ADJP" if self.kind == "A" else "ADVP" if self.kind == "R" else "NP"
            if self.wh and self.question_predicate():
                return
        if self.ctb and self.kind == "V":
            adjunct = roles_in(Role.ADVERB, Role.OBLIQUE, Role.ADVERBIAL, Role.OTHER)
            self.absorb("VP", lambda c, f, p: adjunct(c, f, p) and not self.before, None)
        self.auxiliary_levels()
        if self.kind == "V" and self.label is None:
            self.label = "VP"
        self.coordinate(VERBAL, "VP")
        self.sentence_level()
        self.subordinate_level()

    def find_inner_from(self) -> int:
        """Where the verb phrase can start: at the farthest object or oblique that only adverbs separate from the verb."""
        start = self.head
        for child in reversed(self.left):
            child_role, phrase = self.sentence.roles[child], self.sentence.phrases[child]
            if child_role in _BEFORE_VERB and not phrase.wh and not (child_role is Role.COMPLEMENT and phrase.after):
                start = child
            elif child_role not in (Role.ADVERB, Role.ADVERBIAL) or phrase.wh:
                break
        return start

    def is_inner_left(self, child: int, child_role: Role, phrase: Phrase) -> bool:
        return child >= self.inner_from and not self.before

    def is_inner_right(self, child: int, child_role: Role, phrase: Phrase) -> bool:
        if child_role is Role.SUBJECT:  # "there are dogs", "it is clear that ..."
            return phrase.level >= VERBAL or any(self.sentence.tree.deprels[c] == "expl" for c in self.left)
        return child_role in _AFTER_VERB

    def question_predicate(self) -> bool:
        """(SBARQ (WHNP what) (SQ is it)): a question word is the predicate and its clause stands to the right."""
        roles = self.sentence.roles
        self.set_loose_aside()
        if not any(roles[child] is Role.COPULA for child in self.right):
            return False
        self.mark_wh()
        self.close(self.asking("SBAR"))
        predicate = list(self.items)
        self.items.clear()
        while self.right and roles[self.right[-1]] is not Role.CONJUNCT:
            self.take(self.right)
            self.set_loose_aside()
        if len(self.items) > 1:
            clause = self.sentence.node(self.asking("S"), self.items)
            self.items.clear()
            self.items.append(clause)
        self.items.extendleft(reversed(predicate))
        self.level = SUBORDINATE
        self.coordinate(SUBORDINATE, "SBAR")
        return True

    def auxiliary_levels(self) -> None:
        """One verb phrase for each auxiliary or copula, with the adverbs before it."""
        roles = self.sentence.roles
        while True:
            self.set_loose_aside()
            for queue, between in ((self.left, _BEFORE_AUXILIARY), (self.right, _AFTER_MARKED_VERB)):
                target = next((child for child in reversed(queue) if roles[child] not in between), -1)
                if target >= 0 and roles[target] in _VERBS:
                    break
            else:
                return
            if self.label is None:
                self.label = "VP"
            self.close("VP")
            while self.take(queue) != target:
                self.set_loose_aside()
            self.finite = self.finite or self.sentence.is_finite(target)
            self.infinitive = self.sentence.tree.deprels[target].startswith("mark")
            self.level = VERBAL
            self.absorb("VP", None, self.is_inner_right, same=True)

    def sentence_level(self) -> None:
        roles, phrases = self.sentence.roles, self.sentence.phrases
        fronted = any(phrases[child].wh for child in self.left)
        inverted = any(roles[child] in _VERBS for child in self.left)
        clause = self.asking("S") if fronted or inverted else "S"
        if Role.SUBJECT in self.dependents:
            self.level = max(self.level, CLAUSAL)
        self.absorb(clause, self.is_in_sentence, self.is_in_sentence)
        if fronted and clause == "SQ" and self.label == "VP":
            self.close("SQ")
        if self.label in ("S", "SQ") and self.level >= CLAUSAL and not self.left:
            self.absorb("S", None, roles_in(Role.LOOSE))  # clauses one after another without a conjunction
        self.coordinate(CLAUSAL, self.label or "S")
        self.absorb("S", self.is_in_sentence, self.is_in_sentence)

    def is_in_sentence(self, child: int, child_role: Role, phrase: Phrase) -> bool:
        if child_role in _SUBORDINATORS or child_role is Role.CONJUNCT:
            return False
        if child < self.head:
            return not phrase.wh
        return child_role is not Role.LOOSE or phrase.level < CLAUSAL

    def subordinate_level(self) -> None:
        roles, phrases = self.sentence.roles, self.sentence.phrases

        def subordinates(child: int, child_role: Role, phrase: Phrase) -> bool:
            return child_role in _SUBORDINATORS or (phrase.wh and child < self.head)

        self.set_loose_aside()
        queue = self.left if self.nearest(self.left, subordinates) else self.right
        if self.nearest(queue, subordinates):
            if self.label not in ("S", "SQ"):
                self.close("S")
            if phrases[queue[-1]].wh:
                label = self.asking("SBAR")
            elif roles[queue[-1]] is not Role.LINKER and self.is_gerund():
                label = "PP"
            else:
                label = "SBAR"
            self.absorb(label, subordinates, subordinates)
            self.level = SUBORDINATE
            self.coordinate(SUBORDINATE, label)
            return
        if self.label == "VP" and (self.role not in (Role.CONJUNCT, Role.CLAUSE) or self.infinitive):
            self.close("S")
        if self.label == "S" and self.is_unmarked_subordinate():
            self.close("SBAR")

    def is_unmarked_subordinate(self) -> bool:
        """the dog *she saw*, I know *she saw it*"""
        parent = self.sentence.tree.heads[self.head]
        clause = self.role in (Role.CLAUSE, Role.COMPLEMENT) and Role.SUBJECT in self.dependents
        return clause and parent < self.head and not self.ctb and not self.sentence.is_wh(parent)

    def is_gerund(self) -> bool:
        tokens = self.sentence.tree.tokens
        gerund = tokens.xpos[self.head] == "VBG" or "VerbForm=Ger" in tokens.feats[self.head]
        return gerund and Role.SUBJECT not in self.dependents

    def asking(self, label: str) -> str:
        """SQ and SBARQ for S and SBAR in a sentence that ends in a question mark."""
        forms = self.sentence.tree.tokens.forms
        asks = self.is_root and any(form in _QUESTION_MARKS for form in forms[-2:])
        return _QUESTION_LABELS[label] if asks and not self.ctb else label

    # The end.

    def rest(self, unary: str) -> None:
        """Whatever no level has taken goes into the topmost phrase."""
        self.set_loose_aside()
        if self.left or self.right:
            self.coordinate(SUBORDINATE, self.label or unary)
            self.absorb(unary, anything, anything, same=True)

    def mark_wh(self) -> None:
        if self.wh and not self.ctb and self.label in ("NP", "PP", "ADVP", "ADJP"):
            self.label = "WH" + self.label

    def finish(self, unary: str) -> Phrase:
        wh = self.wh and not self.clausal
        if wh:
            self.mark_wh()
            unary = "WH" + unary if unary in ("NP", "PP", "ADVP", "ADJP") and not self.ctb else unary
        if self.role in (Role.COMPOUND, Role.PART) and self.label == "NP" and self.dependents <= _NAME_PARTS:
            self.label = None  # noun compounds are flat
        before, after, forms = self.before, self.after, self.sentence.tree.tokens.forms
        words = not self.is_root and before and after and before[0] < 0 and after[-1] < 0
        if words and forms[~before[0]] in _OPENING and forms[~after[-1]] in _CLOSING:
            inner = self.sentence.node(self.label or unary or "X", self.items)
            return Phrase([*before, inner, *after], "PRN", "PRN", self.level, wh, self.finite)
        return Phrase(list(self.items), self.label, unary, self.level, wh, self.finite, list(before), list(after))
