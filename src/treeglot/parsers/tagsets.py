"""Universal part-of-speech tags for the Penn and Chinese Treebank tags that Stanford's taggers give.

The tables follow the universal tag set's own definitions; where a treebank tag is wider than a universal one (English
``IN``, Chinese ``VV``) they take the more frequent reading.

>>> universal(["NN", "VBZ", "-LRB-", "???"], "en"), universal(["NR", "VC", "DEG"], "zh")
(['NOUN', 'VERB', 'PUNCT', 'X'], ['PROPN', 'AUX', 'PART'])
>>> universal(["NOUN", "DET"], "de")
['NOUN', 'DET']
"""

from __future__ import annotations

from collections.abc import Iterable

UPOS = frozenset(
    [
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "SYM",
        "VERB",
        "X",
    ]
)


def _table(text: str) -> dict[str, str]:
    return {tag: line.split()[0] for line in text.strip().splitlines() for tag in line.split()[1:]}


_PENN = _table("""
ADJ JJ JJR JJS AFX
ADP IN RP
ADV RB RBR RBS WRB EX
AUX MD
CCONJ CC
DET DT PDT WDT PRP$ WP$
INTJ UH
NOUN NN NNS
NUM CD
PART TO POS
PRON PRP WP
PROPN NNP NNPS
PUNCT . , : `` '' -LRB- -RRB- HYPH NFP
SYM $ # SYM
VERB VB VBD VBG VBN VBP VBZ
X FW LS ADD GW XX
""")

_CHINESE = _table("""
ADJ JJ VA
ADP P BA LB SB
ADV AD
AUX VC
CCONJ CC
DET DT
INTJ IJ
NOUN NN NT LC M
NUM CD OD
PART DEC DEG DER DEV AS SP MSP ETC
PRON PN
PROPN NR
PUNCT PU
SCONJ CS
VERB VV VE
X FW ON X
SYM URL
""")

_TABLES = {"en": _PENN, "zh": _CHINESE}


def universal(tags: Iterable[str], lang: str) -> list[str]:
    """The universal tag for each treebank tag of a language; tags that are universal already stay."""
    table = _TABLES.get(lang, {})
    return [table.get(tag) or (tag if tag in UPOS else "X") for tag in tags]
