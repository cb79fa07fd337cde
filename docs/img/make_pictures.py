"""Draws the pictures of docs/pictures.md and docs/tree-systems.md: ``python docs/img/make_pictures.py``. A test compares them with the code.

>>> sorted(pictures())
['arabic.svg', 'comparison.svg', 'fragments.svg', 'german.svg', 'japanese.svg', 'pair.svg', 'w-both.svg', 'w-dependency.svg']
"""

from pathlib import Path

from treeglot.search import RuleUse
from treeglot.search.display import derivation_svg
from treeglot.trees import AlignedPair, ConstituencyTree, DependencyTree, Link, ParsedSentence, Tokens
from treeglot.trees.display import to_svg


def sentence(words: str, tags: str, heads: str = "", relations: str = "", phrases: object = None) -> ParsedSentence:
    """From words, tags, heads (1-based, 0 for the root) and relations separated by spaces, and nested phrases."""
    tokens = Tokens(words.split(), xpos=tags.split())
    return ParsedSentence.of(
        DependencyTree(tokens, [int(head) - 1 for head in heads.split()], relations.split()) if heads else None,
        ConstituencyTree.build(tokens, phrases) if phrases else None,
    )


CHINESE = sentence(
    "英特尔 将 推出 亚洲 首 款 超极 本",
    "NR AD VV NR OD M JJ NN",
    "3 3 0 8 6 8 8 3",
    "nsubj advmod root nmod nummod clf amod dobj",
    ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", ("NP", 3), ("QP", 4, 5), ("NP", 6, 7))))),
)
ENGLISH = sentence(
    "Intel will launch the first Ultrabook in Asia",
    "NNP MD VB DT JJ NN IN NNP",
    "3 3 0 6 6 3 8 6",
    "nsubj aux root det amod obj case nmod",
    ("S", ("NP", 0), ("VP", 1, ("VP", 2, ("NP", ("NP", 3, 4, 5), ("PP", 6, ("NP", 7)))))),
)
GERMAN = sentence(
    "Darüber haben wir gestern mit dem Trainer lange gesprochen",
    "PROAV VAFIN PPER ADV APPR ART NN ADJD VVPP",
    "9 9 9 9 7 7 9 9 0",
    "obl aux nsubj advmod case det obl advmod root",
    ("S", 1, (("NP", "SB"), 2), (("VP", "OC"), (("PP", "OP"), 0), 3, (("PP", "MO"), 4, 5, 6), 7, 8)),
)
ARABIC = sentence(
    "كتب الطالب رسالة طويلة إلى صديقه",
    "VERB NOUN NOUN ADJ ADP NOUN",
    "0 1 1 3 6 1",
    "root nsubj obj amod case obl",
    ("S", ("VP", 0, ("NP", 1), ("NP", 2, 3), ("PP", 4, ("NP", 5)))),
)
JAPANESE = sentence(
    "私 は 駅 の 前 で 友達 を 待っ た",
    "PRON ADP NOUN ADP NOUN ADP NOUN ADP VERB AUX",
    "9 1 5 3 9 5 9 7 0 9",
    "nsubj case nmod case obl case obj case root aux",
)
PAIR = AlignedPair(
    CHINESE,
    ENGLISH,
    [Link(*map(int, link.split("-"))) for link in "0-0 1-1 2-2 3-6 3-7 4-3 4-4 6-5 7-5".split()],  # noqa: SIM905
    [Link(0, 0), Link(1, 1), Link(2, 2), Link(4, 3), Link(5, 4), Link(6, 6, "fuzzy"), Link(8, 5, "fuzzy")],
)


def rule(span: str, source: str, target: str, items: str, *children: RuleUse) -> RuleUse:
    """A rule between trees; ``items`` are the words and variables (counted from 0) of its target side."""
    begin, end = map(int, span.split("-"))
    parts = tuple(int(item) if item.isdecimal() else item for item in items.split())
    return RuleUse("stssg", begin, end, source, parts, children=children, target_tree=target)


FIRST = rule("4-6", "(QP x1:OD (M 款))", "x1:DT x1:JJ", "0", rule("4-5", "(OD 首)", "(DT the) (JJ first)", "the first"))
ULTRABOOK = rule(
    "3-8",
    "(NP (NP (NR 亚洲)) x1:QP x2:NP)",
    "(NP (NP x1:DT x1:JJ x2:NN) (PP (IN in) (NP (NNP Asia))))",
    "0 1 in Asia",
    FIRST,
    rule("6-8", "(NP (JJ 超极) (NN 本))", "(NN Ultrabook)", "Ultrabook"),
)
DERIVATION = rule(
    "0-8",
    "(IP x1:NP x2:VP)",
    "(S x1:NP x2:VP)",
    "0 1",
    rule("0-1", "(NP (NR 英特尔))", "(NP (NNP Intel))", "Intel"),
    rule(
        "1-8",
        "(VP (ADVP (AD 将)) (VP (VV 推出) x1:NP))",
        "(VP (MD will) (VP (VB launch) x1:NP))",
        "will launch 0",
        ULTRABOOK,
    ),
)


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    links = [Link(0, 0), Link(1, 1), Link(2, 2), Link(4, 3), Link(5, 5), Link(6, 7)]
    return {
        "w-dependency.svg": to_svg(CHINESE, show="dependency"),
        "w-both.svg": to_svg(CHINESE),
        "german.svg": to_svg(GERMAN),
        "arabic.svg": to_svg(ARABIC),
        "japanese.svg": to_svg(JAPANESE),
        "pair.svg": to_svg(PAIR),
        "comparison.svg": to_svg(PAIR, system_links=links),
        "fragments.svg": derivation_svg(CHINESE, DERIVATION),
    }


if __name__ == "__main__":
    for name, svg in pictures().items():
        Path(__file__).with_name(name).write_text(svg, encoding="utf-8", newline="\n")
