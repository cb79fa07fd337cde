"""The worked example of the papers' notation, used in specifications, tests and documentation.

>>> pair = worked_example()
>>> print(pair.source.text, "|", pair.target.text)
英特尔 将 推出 亚洲 首 款 超极 本 | Intel will launch the first Ultrabook in Asia
>>> pair.source.dependency.heads
(2, 2, -1, 7, 5, 7, 7, 2)
"""

from __future__ import annotations

from treeglot.trees import AlignedPair, ConstituencyTree, DependencyTree, Link, ParsedSentence, Tokens


def worked_example() -> AlignedPair:
    """英特尔 将 推出 亚洲 首 款 超极 本: Intel will launch the first Ultrabook in Asia, with both trees on both sides.

    The Chinese constituents are exactly the ones of the notation, where QP has no CLP inside, unlike in the corpus.
    """
    zh = Tokens(
        ["英特尔", "将", "推出", "亚洲", "首", "款", "超极", "本"],
        upos=["PROPN", "ADV", "VERB", "PROPN", "NUM", "NOUN", "ADJ", "NOUN"],
        xpos=["NR", "AD", "VV", "NR", "OD", "M", "JJ", "NN"],
    )
    zh_dependency = DependencyTree(
        zh, [2, 2, -1, 7, 5, 7, 7, 2], ["nsubj", "advmod", "root", "nmod", "ordmod", "clf", "amod", "dobj"]
    )
    zh_constituency = ConstituencyTree.build(
        zh, ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", ("NP", 3), ("QP", 4, 5), ("NP", 6, 7)))))
    )
    en = Tokens(
        ["Intel", "will", "launch", "the", "first", "Ultrabook", "in", "Asia"],
        lemmas=["Intel", "will", "launch", "the", "first", "Ultrabook", "in", "Asia"],
        upos=["PROPN", "AUX", "VERB", "DET", "ADJ", "NOUN", "ADP", "PROPN"],
        xpos=["NNP", "MD", "VB", "DT", "JJ", "NN", "IN", "NNP"],
    )
    en_dependency = DependencyTree(
        en, [2, 2, -1, 5, 5, 2, 5, 6], ["nsubj", "aux", "root", "det", "amod", "dobj", "prep", "pobj"]
    )
    en_constituency = ConstituencyTree.build(
        en, ("S", ("NP", 0), ("VP", 1, ("VP", 2, ("NP", ("NP", 3, 4, 5), ("PP", 6, ("NP", 7))))))
    )
    words = [(0, 0), (1, 1), (2, 2), (3, 6), (3, 7), (4, 3), (4, 4), (6, 5), (7, 5)]
    # IP-S, NP-NP, VP-VP, VP-VP, NP-NP, NP(亚洲)-PP(in Asia); and the pre-terminals that correspond one to one
    nodes = [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4), (6, 6), (~0, ~0), (~1, ~1), (~2, ~2)]
    return AlignedPair(
        ParsedSentence(zh, zh_dependency, zh_constituency, "W"),
        ParsedSentence(en, en_dependency, en_constituency, "W"),
        [Link(*link) for link in words],
        [Link(*link) for link in nodes],
        "W",
    )
