"""Head percolation tables in the manner of Collins (1999): which child is the head of a phrase.

One line of a table is ``LABELS: step; step; ...``. The first step that finds a child decides. A step is a direction and
items in order of preference::

    >  A B     the leftmost A; if there is none, the leftmost B         <  A B    the same from the right
    >| A B     the leftmost child that is A or B                        <| A B    the same from the right

An item is a label or tag (``NP``), a beginning of one (``V+``), a function (``:HD``) or both (``NP:NK``). A table comes in
two styles. *function*: prepositions, auxiliaries, copulas and subjunctions are heads, as in the classic tables. *content*:
the noun, main verb or predicate is, as in Universal Dependencies; its lines replace those of the function style, and
``shifts`` say which words hand over to a sibling (a copula to its predicate). The priorities are those of the published
tables (Penn: Collins 1999; CTB: Sun and Jurafsky 2004 and Zhang and Clark 2008; NEGRA/TIGER: the annotated HD function,
then Dubey's order; French: after Arun and Keller 2005 and Candito), with changes where treebanks with both kinds of trees
showed them to be better.

>>> table = head_table("penn")
>>> table.rules["PP"][0]
Step(from_right=True, ranked=True, items=('IN', 'TO', 'VBG', 'VBN', 'RP', 'FW'))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from treeglot.errors import ConfigError

Style = Literal["function", "content"]


class Step(NamedTuple):
    """One search among the children; ``ranked`` prefers earlier items to nearer children."""

    from_right: bool
    ranked: bool
    items: tuple[str, ...]


class Shift(NamedTuple):
    """Where a phrase's head word is one of ``words`` (lower-cased forms, or tags), the child found by ``steps`` takes over."""

    words: frozenset[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class HeadTable:
    """``rules[label]`` are the steps for a phrase; ``default`` is for other labels and when no step finds a child.

    Children that are ``punctuation`` (tags) are never heads while others are there. If a phrase has a child in
    ``coordinators`` and the head found stands after it, the steps are tried again on the part before (first conjunct).
    ``functions`` are functions the treebank uses; they help to recognise it.
    """

    name: str
    style: Style
    rules: Mapping[str, tuple[Step, ...]]
    default: tuple[Step, ...]
    punctuation: frozenset[str]
    coordinators: frozenset[str]
    shifts: tuple[Shift, ...] = ()
    functions: frozenset[str] = frozenset()

    @property
    def vocabulary(self) -> frozenset[str]:
        """All labels, tags and ``:functions`` that the table mentions."""
        steps = [step for rule in self.rules.values() for step in rule]
        items = {item for step in steps for item in step.items if ":" not in item}
        return frozenset(self.rules) | items | self.punctuation | self.coordinators | {f":{f}" for f in self.functions}


def parse_steps(text: str) -> tuple[Step, ...]:
    """
    >>> parse_steps(">| NN NP; < :HD")
    (Step(from_right=False, ranked=False, items=('NN', 'NP')), Step(from_right=True, ranked=True, items=(':HD',)))
    """
    steps = []
    for part in filter(None, map(str.strip, text.split(";"))):
        direction, *items = part.split()
        if direction.removesuffix("|") not in ("<", ">"):
            raise ConfigError(f"head rule {part!r}", remedy="begin each step with >, <, >| or <|")
        steps.append(Step(direction[0] == "<", not direction.endswith("|"), tuple(items)))
    return tuple(steps)


def parse_table(text: str) -> dict[str, tuple[Step, ...]]:
    """The lines of a table; ``#`` begins a comment."""
    rules: dict[str, tuple[Step, ...]] = {}
    for line in text.splitlines():
        line = line.split(" #")[0].strip()
        if not line:
            continue
        labels, colon, steps = line.partition(": ")
        if not colon:
            raise ConfigError(f"head rule {line!r}", remedy="write LABEL LABEL: > ITEM ITEM; < ITEM")
        for label in labels.split():
            rules[label] = parse_steps(steps)
    return rules


_PUNCTUATION = """
. , : ; `` '' -LRB- -RRB- -LSB- -RSB- ( ) HYPH NFP PUNCT PU PONCT F F$ $. $, $( $[ punct fc fp f
"""
PUNCTUATION_TAGS = frozenset(_PUNCTUATION.split())
"""Tags that mean punctuation in one of the treebanks and nothing else in any other."""

_PENN = """
ADJP JJP: > NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB
ADVP: < RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN
CONJP: < CC RB IN
FRAG: > VP S SBAR NP PP ADJP ADVP INTJ
INTJ: > UH INTJ
LST: < LS
NAC: > NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW
NP NX NML WHNP: <| NN NNP NNPS NNS NX NML JJR; > NP; <| WP WDT PRP EX; <| $ ADJP PRN; <| CD; <| JJ JJS RB QP WP$ PRP$ DT; < POS
PP: < IN TO VBG VBN RP FW; > PP NP
PRN: > S VP NP PP SBAR ADJP ADVP
PRT: < RP
QP: > $ IN NNS NN JJ RB DT CD NCD QP JJR JJS
RRC: < VP NP ADVP ADJP PP
S: > TO IN VP S SBAR ADJP UCP NP
SBAR: > WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG
SBARQ: > SQ S SINV SBARQ FRAG
SINV: > VBZ VBD VBP VB MD VP S SINV ADJP NP
SQ: > VBZ VBD VBP VB MD VP SQ
ROOT TOP S1 SENT: > S SINV SQ SBARQ VP FRAG SBAR NP
UCP: <| ADJP ADVP NP PP VP S SBAR
VP: > TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
WHADJP: > WRB JJ ADJP
WHADVP: < WRB
WHPP: < IN TO FW
X: < NP NN NNP VP S PP
"""
_PENN_CONTENT = """
PP: > NP S SBAR PP ADVP ADJP VP WHNP NN NNS NNP NNPS PRP CD JJ RB; < IN TO VBG VBN RP FW
WHPP: > WHNP WHADVP NP; < IN TO FW
S: > VP :PRD S SBAR ADJP UCP NP
SBAR: > S SQ SINV SBAR FRAG VP; > WHNP WHPP WHADVP WHADJP IN DT
SINV: > VP S SINV; > VBZ VBD VBP VB MD ADJP NP
SQ: > VP :PRD SQ; > VBZ VBD VBP VB MD
VP: > VP; >| VBD VBN VBZ VB VBG VBP; > TO MD ADJP NN NNS NP
ADJP JJP: <| JJ VBN VBG JJR JJS; > ADJP QP NNS NN $ ADVP NP DT FW RBR RBS SBAR RB
QP: < CD $ NNS NN QP JJ RB DT JJR JJS IN
"""
_CTB = """
ADJP: < ADJP JJ AD NN CS
ADVP: < ADVP AD CS JJ NP PP P VA VV
CLP: < CLP M NN NP
CP: < DEC SP CS CP IP VP
DNP: < DEG DEC DNP NP
DP: > DP DT OD CD; < QP CLP M
DVP: < DEV AD VP
FLR: > NN NR VV
FRAG: < VV NR NN NT NP VP IP
INTJ: < INTJ IJ
INC: < NP VP IP
IP: <| VP IP; < VV VA VC VE NP
LCP: < LCP LC
LST: < CD NP QP
NP: < NP NN NR NT PN QP DP CP IP
PP: > P BA LB PP
PRN: < IP VP NP QP
QP: < QP CLP CD OD M
TOP ROOT: < IP CP NP VP UCP FRAG
UCP: > IP NP VP
VCD: > VCD VV VA VC VE
VCP: > VCP VV VA VC VE
VNV: > VNV VV VA VC VE
VPT: > VPT VNV VV VA VC VE
VRD: > VRD VV VA VC VE
VSB: < VSB VV VA VC VE
VP: > VE VC VV VNV VPT VRD VSB VCD VCP VA LB SB BA VP IP
"""
_CTB_CONTENT = """
CP: < IP VP CP; < DEC SP CS
DNP: < NP QP DP PP LCP ADJP DNP; < DEG DEC
DVP: < VP AD ADVP; < DEV
LCP: < NP IP QP LCP VP; < LC
PP: < NP LCP IP CP QP PP DP; < P
QP: < CLP QP CD OD M
VP: > VP VV VE VRD VSB VCD VCP VNV VPT VA IP VC LB SB BA
"""
_TIGER = """
S: > :HD; >| VVFIN VAFIN VMFIN VVIMP VAIMP VMIMP; > :PH :OC :PD VP S NP; >| VVINF VVPP VVIZU
VP VZ: > :HD; <| VVPP VVINF VVIZU VAINF VAPP VMINF VMPP VZ; > :PH VP
NP PN MPN: > :HD; < :PNC; > :PH; <| NN:NK NE:NK NNE:NK FM:NK CARD:NK PIS:NK PPER:NK PDS:NK ADJA:NK TRUNC:NK PRELS:NK XY:NK; <| NP:NK CNP:NK PN:NK MPN:NK; <| NN NE NNE PPER PIS PDS PPOSS PRELS PWS; < :NK
PP: > :HD :AC APPR APPRART; < APPO; > PROAV PWAV :PH; < :NK
AP MTA AA: > :HD; <| ADJA:NK ADJD:NK; < ADJA ADJD :ADC CARD AP PIS PIDAT ADV :NK
AVP: > :HD; < ADV :AVC PROAV PWAV PTKNEG ADJD AVP
NM: < :HD :NMC CARD
ISU QL: > :HD :UC
CH: > :HD; < :UC
DL: > :DH :HD S NP
CAC CAP CAVP CCP CNP CO CPP CS CVP CVZ: > :CJ :HD; > NN NE NP S VP AP PP AVP VZ
VROOT ROOT TOP PSEUDO: > S CS DL VP NP CNP PN PP AP AVP CVP CO CH
"""
_TIGER_CONTENT = """
PP: < NP:NK CNP:NK PN:NK MPN:NK; <| NN:NK NE:NK NNE:NK CARD:NK; < S VP AVP AP :NK; <| NP CNP PN; > :HD :AC
"""
_FRENCH = """
SENT ROOT: > VN Sint VPinf VPpart Ssub NP PP AP Srel AdP COORD NC NPP ADV I ET
VN: >| V VS VIMP VINF VPR VPP; < VN CLO CLR CLS
VPinf VP: > VN VINF V VPinf P
VPpart: > VN VPP VPR V VPpart
Sint: > VN Sint VPinf VPpart Ssub NP AP PP V ADV
Ssub: > CS P ADV Ssub Sint VN
Srel: > VN Srel VPinf Sint NP AP PP PROREL
NP: >| NC NPP PRO PROREL PROWH N ET; > NP; > ADJ ADJWH AP CLS CLO VINF VPP V ADV PREF DET
AP: > ADJ ADJWH VPP AP; < ET ADV NC NPP
AdP: < ADV ADVWH AdP
PP: > P P+D P+PRO PP NP
COORD: > CC COORD
"""
_FRENCH_CONTENT = """
VN: <| V VS VIMP VINF VPR VPP; < VN
Ssub: > VN Sint Ssub VPinf AP NP; > CS P
PP: > NP VPinf VPpart Ssub PP AP AdP Srel Sint NC NPP ADV PRO PROREL COORD; < P P+D P+PRO DET
COORD: > VN Sint NP PP VPinf VPpart AP AdP Ssub Srel SENT NC NPP ADJ VPP VINF V ADV DET; > CC
"""
_SPANISH = """
S INC: > :HD; >| VM VS VA; > SVC S CS :ATR NP PP AP AVP
SVC: > VM VS VA; > SVC
NP MPN NM: > :HD; >| NC NP NP00 NC+ P0 PP PD PI PR PX PN PT W Z Y; >| NP MPN CNP; > VM VS S AQ AO AP DA
PP MTP: > :HD SP MTP NP PP; > RG NC
AP: > :HD AQ AO VM AP NC RG Z
AVP: > :HD RG RN AVP; > SP NC
MTC: > CS CC RG SP
CAC CAP CAVP CCP CNP CO CPP CS: > :CJ; > S NP PP AP AVP NC AQ SP VM SVC
VROOT ROOT sentence: > S CS grup.verb NP CNP PP AP sn
sn grup.nom: >| n+ p+ grup.nom sn w z; > sa s.a
sp: > prep s+; > sn
grup.verb: < vm+ vs+ va+
s.a sa grup.a: > a+ grup.a s.a
sadv grup.adv: > r+ grup.adv
S.F.C S.F.R S.NF.C: > grup.verb infinitiu gerundi participi
"""
_SPANISH_CONTENT = """
S INC: > :HD; >| VM; > SVC; > :ATR; >| VS VA; > S CS NP PP AP AVP
SVC: < VM VS VA
PP: < NP CNP S CS AP AVP NC VM; > SP MTP
sp: > sn S+ sadv; > prep
"""
_ALPINO = """
top: > :nucl smain sv1 whq du cp np conj ssub inf :--
smain ssub sv1 inf ppart ppres ti oti ahi: > :hd; > :cmp :body verb vg
np ap advp detp: > :hd; >| noun name pron num adj adv; > np
pp: > :hd prep
cp: > :cmp :body comp
rel whrel whq whsub whrel: > :body :rhd :whd
conj: > :cnj
mwu: > :mwp
du: > :nucl :dp :tag :sat
"""
_ALPINO_CONTENT = """
pp: > :obj1 :vc :body :pobj1; > :hd
cp ti oti: > :body; > :cmp :hd
"""
_UNIVERSAL = """
S SBAR SQ SINV SBARQ: > VP S AUX VERB NP ADJP PP
VP: > VERB AUX VP ADJP NP PP
NP NML NX: < NOUN PROPN PRON NP NUM; < ADJ SYM X DET
PP: > ADP PP NP
ADJP: < ADJ VERB ADJP
ADVP: < ADV ADVP
QP: < NUM QP
ROOT TOP: > S VP NP
INTJ: > INTJ
"""
_UNIVERSAL_CONTENT = """
PP: > NP S VP PP ADVP ADJP; > NOUN PROPN PRON; > ADP
VP: > VP VERB ADJP NP AUX PP
SBAR: > S VP SBAR
"""

_BE = "be am is are was were been being 's 're 'm ’s ’re ’m ai s"
_ETRE = "est sont était étaient être été fut furent sera seront serait seraient soit soient étant suis es sommes êtes"
_SER = "es son era eran fue fueron ser sido será serán sería serían sea sean siendo soy somos"
_SEIN = "ist sind war waren sein gewesen sei seien wäre wären bin bist seid"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pair(
    name: str,
    function: str,
    content: str,
    default: str,
    coordinators: str,
    shifts: tuple[tuple[str, str], ...] = (),
    functions: str = "",
) -> dict[tuple[str, Style], HeadTable]:
    tables: dict[tuple[str, Style], HeadTable] = {}
    rules = parse_table(function)
    for style, lines, handed in (("function", {}, ()), ("content", parse_table(content), shifts)):
        chosen: Style = "content" if style == "content" else "function"
        tables[name, chosen] = HeadTable(
            name,
            chosen,
            rules | lines,
            parse_steps(default),
            PUNCTUATION_TAGS,
            _set(coordinators),
            tuple(Shift(_set(words), parse_steps(steps)) for words, steps in handed),
            _set(functions),
        )
    return tables


TABLES: dict[tuple[str, Style], HeadTable] = (
    _pair(
        "penn",
        _PENN,
        _PENN_CONTENT,
        "> S VP NP; <",
        "CC CONJP",
        ((_BE, ">| :PRD :LOC-PRD :PRD-TPC"),),
        "SBJ PRD TMP LOC DIR MNR PRP ADV LGS CLR",
    )
    | _pair("ctb", _CTB, _CTB_CONTENT, "<", "CC", (("是 为 為 VC", "< NP IP CP QP PP :PRD"),), "SBJ OBJ PN TMP LOC HLN")
    | _pair(
        "tiger",
        _TIGER,
        _TIGER_CONTENT,
        "> :HD; > :CJ; <",
        "KON :CD",
        (("VAFIN VMFIN VAINF VMINF VAPP", "> :OC"), (_SEIN, "> :PD")),
        "HD NK MO CJ SB MNR CD AG OA OC PNC PD CP RC PG OP PM DA APP SVP UC PH RE PAR SBP NMC CM NG CC EP AC",
    )
    | _pair(
        "french",
        _FRENCH,
        _FRENCH_CONTENT,
        ">",
        "CC COORD",
        ((_ETRE, "> :ATS"),),
        "SUJ OBJ MOD P_OBJ A_OBJ DE_OBJ ATS ATO",
    )
    | _pair(
        "spanish",
        _SPANISH,
        _SPANISH_CONTENT,
        ">",
        "CC",
        ((_SER, "> :ATR"),),
        "SUJ CD CC MOD CREG CCT ATR CCL AO CI NEG CPRED.SU IMPERS PASS CAG",
    )
    | _pair(
        "alpino", _ALPINO, _ALPINO_CONTENT, "> :hd :cnj; >", "vg :crd", (), "hd mod obj1 det cnj mwp su vc body cmp crd"
    )
    | _pair("universal", _UNIVERSAL, _UNIVERSAL_CONTENT, "<", "CCONJ")
)
"""All tables, by name and style."""

TABLE_NAMES = tuple(dict.fromkeys(name for name, _ in TABLES))


def head_table(name: str, style: Style = "function") -> HeadTable:
    """The table of that name; `ConfigError` lists the names if there is none."""
    table = TABLES.get((name, style))
    if table is None:
        raise ConfigError(
            f"no head table {name!r} in style {style!r}",
            remedy=f"tables are {', '.join(TABLE_NAMES)}; styles are function and content",
        )
    return table
