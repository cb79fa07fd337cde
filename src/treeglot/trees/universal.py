"""Universal labels: one small set of phrase labels and Universal Dependencies' word classes for the treebanks of several languages.

A sub-tree aligner whose kernels compare such labels can be tried on another pair of languages than it was trained on. Known are
the labels of the Penn treebanks of English and Chinese, of the French treebank, of TIGER and NEGRA, of Alpino (Dutch) and of
SQUOIA's Spanish trees, and word classes that are universal already, of words and of phrases of dependency trees
(`treeglot.trees.bracketed.dependency_phrases`); what is unknown becomes ``X``.

>>> from treeglot.trees.penn import parse_penn
>>> tree = parse_penn("(IP (NP (NR 英特尔)) (VP (ADVP (AD 将)) (VP (VV 推出) (NP (QP (OD 首) (CLP (M 款))) (NP (NN 本))))))")
>>> from treeglot.trees.penn import format_penn
>>> format_penn(universal_tree(tree))
'(S (NP (PROPN 英特尔)) (VP (ADVP (ADV 将)) (VP (VERB 推出) (NP (QP (NUM 首) (QP (NOUN 款))) (NP (NOUN 本))))))'
"""

from __future__ import annotations

from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.trees.units import JOINED

UNKNOWN = "X"

_PHRASES = {
    "S": "S IP SINV SQ SBARQ SENT S1 ROOT TOP CS DL smain ssub sv1 svan du top INC VERB AUX",
    "SBAR": "SBAR CP Srel Ssub Sint cp rel whrel whq whsub",
    "NP": "NP NX NAC WHNP CNP MPN PN NM DP NML np mwu NOUN PROPN PRON",
    "VP": "VP VN VPinf VPpart VRD VCD VCP VSB VPT VNV CVP VZ CVZ VROOT SVC inf ppart ppres ti oti ahi",
    "PP": "PP WHPP CPP LCP DNP CAC PC MTP MTC pp ADP",
    "ADJP": "ADJP WHADJP AP CAP JJP MTA AA ap ADJ",
    "ADVP": "ADVP WHADVP AdP AVP CAVP DVP PRT advp ADV",
    "QP": "QP CLP detp NUM DET",
    "CONJP": "CONJP COORD CO CCP CH conj CCONJ",
}
_WORDS = {
    "NOUN": "NN NNS NT M N NC NOUN noun",
    "PROPN": "NNP NNPS NR NE NPP PROPN NP name",
    "VERB": "VV VB VBD VBG VBN VBP VBZ V VINF VPP VPR VIMP VS VERB VE VA VM verb",
    "AUX": "MD VC BA LB SB AUX VS",
    "ADJ": "JJ JJR JJS A ADJ ADJA ADJD ADJWH AQ AO adj",
    "ADV": "RB RBR RBS WRB AD ADV ADVWH PAV PROAV PWAV RG RN adv",
    "ADP": "IN P LC TO P+D P+PRO APPR APPRART APPO APZR ADP RP prep",
    "DET": "DT PDT WDT D DET ART DETWH PDAT PIAT PIDAT PPOSAT PRELAT PWAT PRP$ WP$ DA DI DP DD DN det",
    "PRON": "PN PRP WP EX CL CLS CLO CLR PRO PROREL PROWH PPER PDS PIS PPOSS PRELS PRF PWS PRON P0 PP PR PI PD PT pron",
    "NUM": "CD OD CARD NUM Z num",
    "CCONJ": "CC KON KOKOM CCONJ vg",
    "SCONJ": "CS C KOUS KOUI SCONJ comp",
    "PART": "DEC DEG DER DEV SP AS MSP ETC POS PTKZU PTKNEG PTKVZ PTKANT PTKA PART part",
    "INTJ": "UH IJ ON I ITJ INTJ",
    "PUNCT": "PU PONCT PUNCT , . : `` '' -LRB- -RRB- HYPH NFP $. $, $( # $ SYM F F$ punct",
    "X": "FW ET XY X LS ADD AFX URL NOI",
}
_UNIVERSAL = [
    {known: label for label, names in table.items() for known in names.split()} for table in (_PHRASES, _WORDS)
]


def universal_phrase(label: str) -> str:
    """
    >>> universal_phrase("IP"), universal_phrase("NP-SBJ"), universal_phrase("VN"), universal_phrase("?")
    ('S', 'NP', 'VP', 'X')
    """
    if label == JOINED:
        return label
    return _UNIVERSAL[0].get(label) or _UNIVERSAL[0].get(label.split("-")[0].split("=")[0], UNKNOWN)


def universal_tag(tag: str) -> str:
    """
    >>> universal_tag("VV"), universal_tag("VVFIN"), universal_tag("VMFIN"), universal_tag("$,"), universal_tag("?")
    ('VERB', 'VERB', 'AUX', 'PUNCT', 'X')
    """
    known = _UNIVERSAL[1].get(tag) or _UNIVERSAL[1].get(tag.split("-")[0])
    if known is not None:
        return known
    return {"VV": "VERB", "VA": "AUX", "VM": "AUX"}.get(tag[:2], UNKNOWN)  # TIGER's verbs have their form behind


def universal_tree(tree: ConstituencyTree) -> ConstituencyTree:
    """The same tree with universal labels and word classes, and without functions."""
    tokens = Tokens(tree.tokens.forms, tree.tokens.lemmas, xpos=map(universal_tag, tree.tokens.tags))
    return ConstituencyTree(tokens, map(universal_phrase, tree.labels), tree.children)


def universal_sentence(sentence: ParsedSentence) -> ParsedSentence:
    """A sentence with its constituency tree alone, in universal labels; without one it stays as it is."""
    if sentence.constituency is None:
        return sentence
    return ParsedSentence.of(constituency=universal_tree(sentence.constituency), id=sentence.id)


def universal_pair(pair: AlignedPair) -> AlignedPair:
    """Both sides so; phrases have the numbers that they had, so links stay."""
    return AlignedPair(
        universal_sentence(pair.source), universal_sentence(pair.target), pair.word_links, pair.node_links, pair.id
    )
