"""What labels and tags mean to `dep2cons`: dependency labels → roles, part-of-speech tags → word classes.

The conversion reasons about a few roles (subject, object, auxiliary, ...), not about labels. A label set is a table from labels to
roles; a label with a subtype (``obl:agent``) falls back to its base. Known sets: ``ud`` (Universal Dependencies 1 and 2,
with the subtypes that Stanford CoreNLP uses for Chinese) and ``stanford`` (basic Stanford Dependencies, English and
Chinese, with the ClearNLP names that spaCy uses for English), where prepositions and Chinese copulas are heads. An unknown label is `Role.OTHER`.

>>> role("ud", "nsubj:pass"), role("stanford", "dobj"), role("ud", "no-such-label")
(<Role.SUBJECT: 'subject'>, <Role.OBJECT: 'object'>, <Role.OTHER: 'other'>)
>>> word_class("VERB"), word_class("_", "NNP"), word_class("_", "VV"), word_class("_", "??")
('V', 'N', 'V', 'X')
>>> guess_label_set(["nsubj", "dobj", "prep", "pobj"])
'stanford'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Literal

from treeglot.errors import TreeError

LabelSet = Literal["ud", "stanford"]


class Role(Enum):
    """What a dependent is to its head."""

    # in clauses
    SUBJECT = "subject"
    OBJECT = "object"  # objects and predicative complements
    OBLIQUE = "oblique"  # prepositional and other nominal adjuncts
    COMPLEMENT = "complement"  # complement clauses
    ADVERBIAL = "adverbial"  # adverbial clauses
    ADVERB = "adverb"
    AUXILIARY = "auxiliary"
    COPULA = "copula"
    PARTICLE = "particle"  # verb particles, reflexives, aspect markers: nothing stands between them and the verb
    MARKER = "marker"  # subordinating conjunctions
    # in noun phrases
    DETERMINER = "determiner"
    NUMBER = "number"
    CLASSIFIER = "classifier"
    ADJECTIVE = "adjective"
    COMPOUND = "compound"
    POSSESSOR = "possessor"
    NOMINAL = "nominal"  # noun modifier with or without an adposition
    CLAUSE = "clause"  # adnominal clause
    APPOSITION = "apposition"
    CASE = "case"  # adposition, localiser or case particle as a dependent
    LINKER = "linker"  # 的, 地 and the like: closes the phrase before it as a modifier
    GOVERNED = "governed"  # what an adposition or a localiser governs when it is the head
    # anywhere
    PART = "part"  # further words of a fixed expression or a name
    CONJUNCT = "conjunct"
    COORDINATOR = "coordinator"
    PUNCTUATION = "punctuation"
    LOOSE = "loose"  # vocatives, interjections, parentheticals
    OTHER = "other"


def _table(rows: Mapping[Role, str]) -> dict[str, Role]:
    return {label: kind for kind, labels in rows.items() for label in labels.split()}


_UD = _table(
    {
        Role.SUBJECT: "nsubj csubj nsubjpass csubjpass expl nmod:topic",
        Role.OBJECT: "obj iobj dobj nmod:range",
        Role.OBLIQUE: "obl nmod:prep nmod:tmod nmod:npmod obl:npmod advmod:loc",
        Role.COMPLEMENT: "xcomp ccomp",
        Role.ADVERBIAL: "advcl",
        Role.ADVERB: "advmod neg advmod:dvp",
        Role.AUXILIARY: "aux auxpass",
        Role.COPULA: "cop",
        Role.PARTICLE: (
            "compound:prt compound:vc compound:dir compound:lvc compound:svc aux:asp advmod:rcomp aux:prtmod "
            "mark:prt expl:pv expl:pass expl:impers expl:comp clf:verb"
        ),
        Role.MARKER: "mark",
        Role.DETERMINER: "det",
        Role.NUMBER: "nummod amod:ordmod",
        Role.CLASSIFIER: "clf mark:clf",
        Role.ADJECTIVE: "amod",
        Role.COMPOUND: "compound name",
        Role.POSSESSOR: "nmod:poss det:poss",
        Role.NOMINAL: "nmod",
        Role.CLAUSE: "acl relcl",
        Role.APPOSITION: "appos",
        Role.CASE: "case",
        Role.LINKER: "mark:rel mark:relcl mark:adv case:dec case:de",
        Role.PART: "fixed flat goeswith mwe foreign etc",
        Role.CONJUNCT: "conj",
        Role.COORDINATOR: "cc",
        Role.PUNCTUATION: "punct",
        Role.LOOSE: "discourse vocative parataxis dislocated reparandum list remnant",
    }
)

_STANFORD = _table(
    {
        Role.SUBJECT: "nsubj nsubjpass csubj csubjpass xsubj top expl",
        Role.OBJECT: "dobj iobj attr acomp range dative oprd",
        Role.OBLIQUE: "prep agent tmod npadvmod loc obl measure",
        Role.COMPLEMENT: "xcomp ccomp lccomp",
        Role.ADVERBIAL: "advcl purpcl tclaus",
        Role.ADVERB: "advmod neg dvpmod quantmod preconj",
        Role.AUXILIARY: "aux auxpass mmod pass ba",
        Role.COPULA: "cop",
        Role.PARTICLE: "prt asp rcomp prtmod",
        Role.MARKER: "mark complm",
        Role.DETERMINER: "det predet",
        Role.NUMBER: "num nummod numod number ordmod",
        Role.CLASSIFIER: "clf",
        Role.ADJECTIVE: "amod",
        Role.COMPOUND: "nn compound",
        Role.POSSESSOR: "poss",
        Role.NOMINAL: "nmod assmod",
        Role.CLAUSE: "rcmod partmod infmod vmod relcl acl",
        Role.APPOSITION: "appos abbrev",
        Role.CASE: "possessive case",
        Role.LINKER: "assm cpm dvpm",
        Role.GOVERNED: "pobj pcomp pccomp lobj plmod",
        Role.PART: "mwe goeswith etc",
        Role.CONJUNCT: "conj comod",
        Role.COORDINATOR: "cc",
        Role.PUNCTUATION: "punct",
        Role.LOOSE: "discourse parataxis prnmod rel intj meta",
    }
)

_LABEL_SETS: Mapping[str, Mapping[str, Role]] = {"ud": _UD, "stanford": _STANFORD}
LABEL_SETS = tuple(_LABEL_SETS)

# Labels of the Stanford set that no version of UD has. ("dobj" and "nsubjpass" are also in UD 1.)
_STANFORD_ONLY = frozenset(
    str.split(
        "pobj prep pcomp pccomp lobj plmod nn poss num rcmod partmod infmod vmod assmod assm cpm mmod comod attr acomp complm "
        "tmod prt ordmod rcomp asp prnmod ba lccomp dvpmod dvpm prtmod quantmod predet top numod range"
    )
)


@lru_cache(maxsize=4096)
def role(label_set: str, label: str) -> Role:
    """The role that a dependency label stands for."""
    table = _LABEL_SETS.get(label_set)
    if table is None:
        raise TreeError(f"no label set {label_set!r}", remedy=f"label sets are auto, {', '.join(_LABEL_SETS)}")
    known = table.get(label) or table.get(label.lower())
    while known is None and ":" in label:
        label = label.rpartition(":")[0]
        known = table.get(label) or table.get(label.lower())
    return known or Role.OTHER


def guess_label_set(labels: Iterable[str]) -> LabelSet:
    """``stanford`` if a label occurs that only Stanford Dependencies have, else ``ud``."""
    return "ud" if _STANFORD_ONLY.isdisjoint(labels) else "stanford"


# Word classes: V verb, N noun or pronoun, A adjective, R adverb, P adposition, L localiser, C coordinator, S subordinator,
# Q number, M measure word, D determiner, T particle, I interjection, U punctuation or symbol, X unknown.
_UPOS = {
    "VERB": "V", "AUX": "V", "NOUN": "N", "PROPN": "N", "PRON": "N", "ADJ": "A", "ADV": "R", "ADP": "P",
    "CCONJ": "C", "CONJ": "C", "SCONJ": "S", "NUM": "Q", "DET": "D", "PART": "T", "INTJ": "I", "PUNCT": "U", "SYM": "U",
}  # fmt: skip
_XPOS = {
    tag: kind
    for kind, tags in {
        "V": "VB VBD VBG VBN VBP VBZ MD VV VA VC VE VVFIN VVINF VVPP VVIZU VVIMP VAFIN VAINF VAPP VMFIN VMINF V VIMP VINF "
        "VPP VPR VS BA LB SB",
        "N": "NN NNS NNP NNPS PRP PRP$ WP WP$ EX NR NT PN NE NC NPP CL CLS CLO CLR PRO PROREL PROWH N PPER PRF PRELS PDS "
        "PIS PWS PPOSS",
        "A": "JJ JJR JJS ADJ ADJWH ADJA ADJD A",
        "R": "RB RBR RBS WRB AD ADV ADVWH PTKNEG PWAV PAV PROAV",
        "P": "IN P P+D APPR APPRART APPO APZR",
        "L": "LC",
        "C": "CC KON",
        "S": "CS KOUS KOUI",
        "Q": "CD OD CARD",
        "M": "M",
        "D": "DT PDT WDT DET DETWH ART PDAT PIAT PPOSAT PRELAT PWAT",
        "T": "TO RP POS AS DEC DEG DEV DER SP ETC MSP PTKZU PTKVZ PTKANT",
        "I": "UH IJ I ITJ",
        "U": "PU PONCT $, $. $( , . : `` '' -LRB- -RRB- HYPH # $ SYM",
    }.items()
    for tag in tags.split()
}


@lru_cache(maxsize=4096)
def word_class(upos: str, xpos: str = "_") -> str:
    """The class of a word from its universal tag, or else from a Penn, CTB, STTS or French treebank tag."""
    if upos == "X" or upos not in _UPOS:
        return _XPOS.get(xpos) or _XPOS.get(upos) or "X"
    return _UPOS[upos]
