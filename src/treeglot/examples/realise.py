"""From a finished derivation to an `AlignedPair`: words in order, English forms, dependency and constituency trees, links."""

from __future__ import annotations

from typing import Any

from treeglot.examples.derivation import Links, Part, noun_form
from treeglot.examples.english import ACCUSATIVE, article, number_of, verb_form
from treeglot.trees import AlignedPair, ConstituencyTree, DependencyTree, Link, ParsedSentence, Token, Tokens

_UPOS_ZH = {
    "NN": "NOUN", "NT": "NOUN", "NR": "PROPN", "M": "NOUN", "VV": "VERB", "VE": "VERB", "VA": "ADJ", "VC": "AUX",
    "JJ": "ADJ", "AD": "ADV", "P": "ADP", "LC": "ADP", "BA": "ADP", "LB": "ADP", "SB": "ADP", "CD": "NUM", "OD": "NUM",
    "DT": "DET", "PN": "PRON", "CC": "CCONJ", "CS": "SCONJ", "DEC": "PART", "DEG": "PART", "DEV": "PART", "AS": "AUX",
    "SP": "PART", "PU": "PUNCT",
}  # fmt: skip
_UPOS_EN = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN", "VB": "VERB", "VBD": "VERB", "VBZ": "VERB",
    "VBP": "VERB", "VBG": "VERB", "VBN": "VERB", "MD": "AUX", "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ", "RB": "ADV",
    "RBR": "ADV", "RBS": "ADV", "RP": "ADP", "IN": "ADP", "TO": "PART", "DT": "DET", "PDT": "DET", "CD": "NUM",
    "PRP": "PRON", "PRP$": "PRON", "POS": "PART", "CC": "CCONJ", "WDT": "PRON", "WP": "PRON", "WRB": "ADV",
    "EX": "PRON", "UH": "INTJ", ".": "PUNCT", ",": "PUNCT",
}  # fmt: skip
_FEATS_EN = {
    "NN": "Number=Sing", "NNP": "Number=Sing", "NNS": "Number=Plur", "NNPS": "Number=Plur", "VB": "VerbForm=Inf",
    "VBD": "Mood=Ind|Tense=Past|VerbForm=Fin", "VBZ": "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "VBP": "Mood=Ind|Tense=Pres|VerbForm=Fin", "VBG": "VerbForm=Ger", "VBN": "Tense=Past|VerbForm=Part",
    "MD": "VerbForm=Fin", "JJ": "Degree=Pos", "JJR": "Degree=Cmp", "JJS": "Degree=Sup",
}  # fmt: skip
_AUXILIARY = frozenset(("aux", "auxpass", "cop"))
_SUBJECTS = frozenset(("nsubj", "nsubjpass"))


class _Side:
    """One tree: its words in order and their governors."""

    def __init__(self, root: Part) -> None:
        self.root = root
        self.words: list[Part] = []
        governor: dict[int, Part] = {}
        stack = [root]
        while stack:
            part = stack.pop()
            if not part.children:
                self.words.append(part)
                continue
            for child in part.children:
                if child is not part.head:
                    governor[id(child.head_word)] = (child.governor or part).head_word
                    child.head_word.relation = child.relation
            stack.extend(reversed(part.children))
        self.number = {id(word): j for j, word in enumerate(self.words)}
        self.heads = [self.number[id(governor[id(word)])] if id(word) in governor else -1 for word in self.words]
        self.relations = [
            word.relation or "dep" if head >= 0 else "root" for word, head in zip(self.words, self.heads, strict=True)
        ]
        self.lemmas = [word.form for word in self.words]

    def _subject(self, j: int) -> int:
        """The subject that word j agrees with, -1 if none: its own, its head's, or what a relative clause modifies."""
        g = self.heads[j] if self.relations[j] in _AUXILIARY else j
        while g >= 0:
            for k, head in enumerate(self.heads):
                if head == g and self.relations[k] in _SUBJECTS:
                    return self.heads[g] if self.words[k].label in ("WDT", "WP") and self.relations[g] == "rcmod" else k
            g = self.heads[g] if self.relations[g] == "conj" else -1
        return -1

    def inflect(self) -> None:
        """Give English words their forms and tags; nouns first because verbs agree with them."""
        for word in self.words:
            if word.request == "pl":
                word.form, word.label, word.request = noun_form(word), word.label + "S", ""
        for j, word in enumerate(self.words):
            if word.label == "V":
                word.form, word.label = verb_form(word.form, self._agreement(j, word.request), word.irregular)
            elif word.label in ("JJR", "JJS"):
                word.form = word.request or word.form
            elif word.label == "PRP" and self.relations[j] not in _SUBJECTS:
                word.form = ACCUSATIVE.get(word.form, word.form)
        for j, word in enumerate(self.words[:-1]):
            if word.label == "DT" and word.form == "a":
                word.form = article(self.words[j + 1].form)

    def _agreement(self, j: int, request: str) -> str:
        if request not in ("pres", "past"):
            return request
        k = self._subject(j)
        number = "3sg"
        if k >= 0:
            conjoined = any(head == k and self.relations[i] == "conj" for i, head in enumerate(self.heads))
            number = number_of(self.lemmas[k], self.words[k].label, conjoined)
        if request == "past":
            return "past.pl" if number == "pl" else "past.sg"
        return number

    def sentence(self, english: bool, name: str) -> ParsedSentence:
        tokens = Tokens.of(self._token(j, english) for j in range(len(self.words)))
        constituency = ConstituencyTree.build(tokens, self._nested(self.root))
        return ParsedSentence(tokens, DependencyTree(tokens, self.heads, self.relations), constituency, name)

    def _token(self, j: int, english: bool) -> Token:
        word = self.words[j]
        if not english:
            return Token(word.form, word.form, _UPOS_ZH[word.label], word.label)
        upos = _UPOS_EN[word.label]
        if self.relations[j] in _AUXILIARY:
            upos = "AUX"
        elif self.relations[j] == "mark":
            upos = "SCONJ"
        return Token(word.form, self.lemmas[j], upos, word.label, _FEATS_EN.get(word.label, "_"))

    def _nested(self, part: Part) -> Any:
        if not part.children:
            return self.number[id(part)]
        return (part.label, *(self._nested(child) for child in part.children))

    def phrase_numbers(self) -> dict[int, int]:
        """Number of each phrase in preorder, by identity; words as ``~j``."""
        numbers: dict[int, int] = {id(word): ~j for j, word in enumerate(self.words)}
        stack, count = [self.root], 0
        while stack:
            part = stack.pop()
            if part.children:
                numbers[id(part)] = count
                count += 1
                stack.extend(reversed(part.children))
        return numbers


def realise(zh: Part, en: Part, links: Links, name: str = "") -> AlignedPair:
    """Number everything and build the pair. Links to phrases that were dissolved on one side are dropped."""
    source, target = _Side(zh), _Side(en)
    target.inflect()
    words = {(source.number[id(a)], target.number[id(b)]) for a, b in links.words}
    zh_numbers, en_numbers = source.phrase_numbers(), target.phrase_numbers()
    nodes = [
        Link(zh_numbers[id(a)], en_numbers[id(b)], kind)
        for a, b, kind in links.nodes
        if id(a) in zh_numbers and id(b) in en_numbers
    ]
    return AlignedPair(
        source.sentence(False, name), target.sentence(True, name), (Link(*pair) for pair in words), nodes, name
    )
