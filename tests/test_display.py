"""Pictures of trees are checked by geometry (nothing overlaps), text trees by reading them back."""

from __future__ import annotations

import itertools
import random
import runpy
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import errors
from treeglot.trees import (
    AlignedPair,
    ConstituencyTree,
    DependencyTree,
    EmptyNode,
    Link,
    MultiwordRange,
    ParsedSentence,
    SecondaryEdge,
    Tokens,
)
from treeglot.trees.display import to_html, to_svg, to_text, write_html
from treeglot.trees.display.geometry import Box, Look
from treeglot.trees.display.pair import lay_out_pair
from treeglot.trees.display.picture import SentenceLayout, lay_out
from treeglot.trees.display.widths import clip, columns, is_rtl, visible

SVG = "{http://www.w3.org/2000/svg}"

ZH = Tokens(
    ["英特尔", "将", "推出", "亚洲", "首", "款", "超极", "本"], xpos=["NR", "AD", "VV", "NR", "OD", "M", "JJ", "NN"]
)
W = ParsedSentence.of(
    DependencyTree(ZH, [2, 2, -1, 7, 5, 7, 7, 2], ["nsubj", "advmod", "root", "nmod", "nummod", "clf", "amod", "dobj"]),
    ConstituencyTree.build(
        ZH,
        ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", ("NP", 3), ("QP", 4, 5), ("NP", 6, 7))))),
    ),
    id="W",
)
EN = ParsedSentence.of(
    constituency=ConstituencyTree.build(
        Tokens(
            ["Intel", "will", "launch", "the", "first", "Ultrabook", "in", "Asia"],
            xpos=["NNP", "MD", "VB", "DT", "JJ", "NN", "IN", "NNP"],
        ),
        ("S", ("NP", 0), ("VP", 1, ("VP", 2, ("NP", ("NP", 3, 4, 5), ("PP", 6, ("NP", 7)))))),
    )
)
WORD_LINKS = [
    Link(0, 0),
    Link(1, 1),
    Link(2, 2),
    Link(3, 6),
    Link(3, 7),
    Link(4, 3),
    Link(4, 4),
    Link(6, 5),
    Link(7, 5),
]
PAIR = AlignedPair(W, EN, WORD_LINKS, [Link(0, 0), Link(1, 1, "fuzzy"), Link(5, 4, "good", 0.9), Link(~2, ~2)], id="W")

# --- random trees -------------------------------------------------------------------------------------------------------

words = st.sampled_from(["a", "the", "推出", "Donaudampfschifffahrt", "<&>", '"', ",", "كتاب", "e\u0301"])
relations = st.sampled_from(["_", "det", "nsubj:pass", "a<b", "X"])


@st.composite
def dependency_trees(draw: st.DrawFn, projective: bool = False) -> DependencyTree:
    """Any tree, or a projective one: each span gets a root word, each side of it splits into spans of its own."""
    n = draw(st.integers(1, 14))
    forms = draw(st.lists(words, min_size=n, max_size=n))
    labels = draw(st.lists(relations, min_size=n, max_size=n))
    heads = [-1] * n
    if projective:
        spans = [(0, n, -1)]
        while spans:
            low, high, head = spans.pop()
            root = draw(st.integers(low, high - 1))
            heads[root] = head
            for start, end in ((low, root), (root + 1, high)):
                while start < end:
                    cut = draw(st.integers(start + 1, end))
                    spans.append((start, cut, root))
                    start = cut
    else:
        order = draw(st.permutations(range(n)))
        for k in range(1, n):
            heads[order[k]] = order[draw(st.integers(0, k - 1))]
    return DependencyTree(Tokens(forms, upos=["NOUN"] * n), heads, labels)


@st.composite
def constituency_trees(draw: st.DrawFn) -> ConstituencyTree:
    """Join random groups of nodes until one is left: most trees are discontinuous."""
    n = draw(st.integers(1, 12))
    near = draw(st.booleans())
    nodes: list[object] = list(range(n))
    label = st.sampled_from(["S", "NP", "VP<&", "VERYLONGLABEL"])
    while len(nodes) > 1:
        size = draw(st.integers(1, min(4, len(nodes))))
        start = draw(st.integers(0, len(nodes) - size))
        chosen = range(start, start + size) if near else draw(st.permutations(range(len(nodes))))[:size]
        group = [nodes[k] for k in chosen]
        if len(group) == 1 and not isinstance(group[0], int):
            continue
        place = min(chosen)
        nodes = [node for k, node in enumerate(nodes) if k not in chosen]
        nodes.insert(place, ((draw(label), draw(st.sampled_from(["", "SB"]))), *group))
    top = nodes[0] if not isinstance(nodes[0], int) else ("S", nodes[0])
    tokens = Tokens(draw(st.lists(words, min_size=n, max_size=n)), xpos=["NN"] * n)
    return ConstituencyTree.build(tokens, top)


# --- geometry -----------------------------------------------------------------------------------------------------------


def overlap(first: Box, second: Box) -> bool:
    """Whether the insides of the boxes meet."""
    across = first.x < second.right - 1e-6 and second.x < first.right - 1e-6
    return across and first.y < second.bottom - 1e-6 and second.y < first.bottom - 1e-6


def no_overlap(boxes: list[Box]) -> None:
    for first, second in itertools.combinations(boxes, 2):
        assert not overlap(first, second), (first, second)


def word_boxes(layout: SentenceLayout) -> list[Box]:
    return [
        *(word.box for word in layout.words),
        *(word.tag_box for word in layout.words if word.tag),
        *(word.function_box for word in layout.words if word.function),
    ]


def hits(x: float, y1: float, y2: float, box: Box) -> bool:
    """Whether a vertical line passes through the inside of a box."""
    low, high = sorted((y1, y2))
    return box.x + 0.01 < x < box.right - 0.01 and low < box.bottom - 0.01 and high > box.y + 0.01


def check_arcs(layout: SentenceLayout, projective: bool) -> None:
    labels = [arc.label for arc in layout.arcs if arc.plan.label]
    no_overlap([*word_boxes(layout), *labels])
    spans = [(*sorted((arc.x_head, arc.x_dependent)), arc.y) for arc in layout.arcs]
    for (l1, r1, y1), (l2, r2, y2) in itertools.combinations(spans, 2):
        assert y1 != y2 or r1 <= l2 or r2 <= l1, "two arcs lie on each other"
    feet = [(x, arc) for arc in layout.arcs for x in {arc.x_head, arc.x_dependent}]
    assert len({x for x, _ in feet}) == len(feet), "two arcs share a foot"
    for x, arc in feet:
        assert not any(hits(x, arc.y, arc.y_words, label) for label in labels), "a label is struck through"
        if projective:
            for low, high, y in spans:
                assert not (low < x < high and abs(y - arc.y_words) < abs(arc.y - arc.y_words)), "arcs cross"
    for label in labels:
        assert label.x >= 0 and label.right <= layout.width and label.y >= 0 and label.bottom <= layout.height


def check_phrases(layout: SentenceLayout) -> None:
    boxes = [phrase.box for phrase in layout.phrases]
    no_overlap([*word_boxes(layout), *boxes])
    for box in boxes:
        assert box.x >= 0 and box.right <= layout.width and box.y >= 0 and box.bottom <= layout.height
    across: dict[int, tuple[float, float, float]] = {}
    for branch in layout.branches:
        low, high = sorted((branch.x_parent, branch.x_child))
        old = across.get(branch.parent, (low, high, branch.y_bend))
        across[branch.parent] = (min(low, old[0]), max(high, old[1]), branch.y_bend)
        strangers = [box for n, box in enumerate(boxes) if n not in (branch.parent, branch.child)]
        assert not any(hits(branch.x_child, branch.y_bend, branch.y_child, box) for box in strangers)
    for (l1, r1, y1), (l2, r2, y2) in itertools.combinations(across.values(), 2):
        assert y1 != y2 or r1 < l2 or r2 < l1, "the branches of two phrases lie on each other"


@settings(deadline=None, max_examples=tries(150))
@given(dependency_trees(), st.booleans(), st.booleans())
def test_arcs_and_labels_keep_clear_of_each_other(tree: DependencyTree, rtl: bool, up: bool) -> None:
    check_arcs(lay_out(ParsedSentence.of(tree), Look(), rtl=rtl, up=up), tree.is_projective)


@settings(deadline=None, max_examples=tries(150))
@given(dependency_trees(projective=True), st.booleans())
def test_arcs_of_projective_trees_do_not_cross(tree: DependencyTree, rtl: bool) -> None:
    assert tree.is_projective
    check_arcs(lay_out(ParsedSentence.of(tree), Look(), rtl=rtl), projective=True)


@settings(deadline=None, max_examples=tries(150))
@given(constituency_trees(), st.booleans(), st.booleans())
def test_phrases_and_branches_keep_clear_of_each_other(tree: ConstituencyTree, rtl: bool, up: bool) -> None:
    check_phrases(lay_out(ParsedSentence.of(constituency=tree), Look(), rtl=rtl, up=up))


@settings(deadline=None, max_examples=50)
@given(constituency_trees(), st.data())
def test_both_trees_over_one_line(tree: ConstituencyTree, data: st.DataObject) -> None:
    n = len(tree.tokens)
    heads = [-1] + [data.draw(st.integers(0, j - 1)) for j in range(1, n)]
    layout = lay_out(ParsedSentence.of(DependencyTree(tree.tokens, heads, ["rel"] * n), tree), Look())
    check_arcs(layout, projective=False)
    check_phrases(layout)
    lowest_phrase = max(phrase.box.bottom for phrase in layout.phrases)
    assert all(word.box.y >= lowest_phrase for word in layout.words)
    assert all(arc.y > word.box.bottom for arc in layout.arcs for word in layout.words)


def test_arcs_have_the_lowest_free_level() -> None:
    tree = DependencyTree(["a", "b", "c", "d", "e"], [1, -1, 1, 1, 3])
    layout = lay_out(ParsedSentence.of(tree), Look())
    levels = {(arc.plan.head, arc.plan.dependent): arc.plan.level for arc in layout.arcs}
    assert levels == {(1, 0): 1, (1, 2): 1, (1, 3): 2, (3, 4): 1, (-1, 1): 3}


def test_right_to_left_order_is_seen_and_can_be_forced() -> None:
    tree = DependencyTree(Tokens(["كتب", "الطالب", "2021"]), [-1, 0, 0])
    middles = [word.box.centre for word in lay_out(ParsedSentence.of(tree), Look()).words]
    assert middles == sorted(middles, reverse=True)
    middles = [word.box.centre for word in lay_out(ParsedSentence.of(tree), Look(), rtl=False).words]
    assert middles == sorted(middles)
    assert 'direction="rtl"' in to_svg(tree)
    assert is_rtl(["שלום"]) and not is_rtl(["12", "?"])


def test_a_pair_faces_each_other() -> None:
    layout = lay_out_pair(PAIR, Look())
    no_overlap([*word_boxes(layout.source), *word_boxes(layout.target)])
    check_phrases(layout.source)
    check_phrases(layout.target)
    assert layout.source.phrases[0].box.y < layout.source.words[0].box.y < layout.target.words[0].box.y
    assert layout.target.words[0].box.y < layout.target.phrases[0].box.y
    for placed in layout.links:
        first, second = (~placed.link.source, ~placed.link.target) if placed.words else placed.link[:2]
        box = layout.source.node_box(first)
        assert box.centre == placed.x1 and box.bottom < placed.y1
        box = layout.target.node_box(second)
        assert box.centre == placed.x2 and placed.y2 < box.y


# --- SVG ----------------------------------------------------------------------------------------------------------------


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


NASTY = [
    "<b>",
    "R&D",
    '"quoted"',
    "it's",
    "]]>",
    "a\x00b",
    "\x1b[31m",
    "tab\there",
    "\ud800",
    "\u202eabc",
    "&lt;",
    "\ufffe",
]


def test_every_word_and_label_is_there_and_escaped() -> None:
    tokens = Tokens(NASTY, upos=["<T&>"] * len(NASTY))
    heads = [-1, *range(len(NASTY) - 1)]
    sentence = ParsedSentence.of(
        DependencyTree(tokens, heads, ["root", *["a<&>b"] * (len(NASTY) - 1)]),
        ConstituencyTree.build(tokens, (("S<", "F&"), *range(len(NASTY)))),
        id="<id>",
    )
    shown = texts(to_svg(sentence))
    for form in NASTY:
        assert visible(form) in shown
    assert shown.count("<T&>") == len(NASTY) and shown.count("a<&>b") == len(NASTY) - 1
    assert "S<" in shown and "F&" in shown
    root = ET.fromstring(to_svg(sentence))
    assert root.get("role") == "img" and "R&D" in (root.get("aria-label") or "")
    ET.fromstring(to_svg(sentence, title='<&">\x00'))
    assert "\x1b" not in to_text(sentence) and "\u202e" not in to_text(sentence)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=6), min_size=1, max_size=6))
def test_any_text_gives_valid_xml(forms: list[str]) -> None:
    tree = DependencyTree(Tokens(forms, xpos=forms), [-1, *range(len(forms) - 1)], forms)
    ET.fromstring(to_svg(tree))
    assert to_text(tree).count("\n") == len(forms) - 1


def test_w_has_both_trees() -> None:
    svg = to_svg(W)
    assert svg == to_svg(W)
    shown = texts(svg)
    for expected in [*ZH.forms, *ZH.xpos, "IP", "QP", "nummod", "dobj", "root"]:
        assert expected in shown
    assert 'lang="zh"' in svg
    assert "IP" not in texts(to_svg(W, show="dependency")) and "dobj" not in texts(to_svg(W, show="constituency"))
    assert "NR" not in texts(to_svg(W, tags=False))
    assert texts(to_svg(W, show="words", tags=False)) == list(ZH.forms)
    for theme in ("auto", "light", "dark", "inherit"):
        ET.fromstring(to_svg(W, theme=theme))


def test_secondary_edges_and_lifted_arcs_are_drawn() -> None:
    tokens = Tokens(["she", "wants", "to", "sing"])
    tree = ConstituencyTree(
        tokens, ["S", "VP", "VP"], [[~0, 1], [~1, 2], [~2, ~3]], secondary=[SecondaryEdge(~0, 2, "SB")]
    )
    assert "tg-secondary" in to_svg(tree).partition("</style>")[2] and "SB" in texts(to_svg(tree))
    lifted = DependencyTree(tokens, [1, -1, 1, 1], ["a", "root", "b", "c"], true_heads=[1, -1, 3, 1])
    assert to_svg(lifted).partition("</style>")[2].count("tg-lifted") == 1


def test_pair_svg_has_all_links_and_a_legend() -> None:
    svg = to_svg(PAIR)
    links = ET.fromstring(svg).find(f"{SVG}g")
    assert links is not None and len(links) == len(PAIR.word_links) + len(PAIR.node_links)
    assert "推出 – launch (good)" in svg
    assert {"fuzzy: 1 node links", "good: 2 node links", "score 0 to 1: 1 node links"} <= set(texts(svg))
    compared = to_svg(PAIR, system_links=[Link(0, 0), Link(2, 2)])
    expected = {"gold and system: 1 node links", "gold only: 3 node links", "system only: 1 node links"}
    assert expected <= set(texts(compared))
    assert "gold only: 9 word links" in texts(to_svg(PAIR, system_word_links=[]))


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (errors.ConfigError, lambda: to_svg(W, show="trees")),
        (errors.ConfigError, lambda: to_svg(W, theme="blue")),
        (errors.ConfigError, lambda: to_svg(W, font_size=0)),
        (errors.ConfigError, lambda: to_svg(W, system_links=[])),
        (errors.ConfigError, lambda: to_svg(PAIR, show="both")),
        (errors.ConfigError, lambda: to_html([])),
        (errors.ConfigError, lambda: write_html([W], "x.html", per_page=0)),
        (errors.TreeError, lambda: to_svg(EN, show="dependency")),
        (errors.TreeError, lambda: to_text(EN, show="both")),
        (errors.TreeError, lambda: to_svg(PAIR, system_links=[Link(99, 0)])),
    ],
)
def test_errors_say_what_to_do(error: type[errors.TreeglotError], call: object) -> None:
    with pytest.raises(error) as caught:
        call()  # type: ignore[operator]
    assert caught.value.remedy


# --- text ---------------------------------------------------------------------------------------------------------------

W_TEXT = """\
IP
├─ NP NR 英特尔
╰─ VP
   ├─ ADVP AD 将
   ╰─ VP
      ├─ VV 推出
      ╰─ NP
         ├─ NP NR 亚洲
         ├─ QP
         │  ├─ OD 首
         │  ╰─ M 款
         ╰─ NP
            ├─ JJ 超极
            ╰─ NN 本

╭─────╼ 1 英特尔 NR nsubj
├─────╼ 2 将     AD advmod
┝━━━━━╼ 3 推出   VV root
│ ╭───╼ 4 亚洲   NR nmod
│ │ ╭─╼ 5 首     OD nummod
│ ├─┶━╼ 6 款     M  clf
│ ├───╼ 7 超极   JJ amod
╰─┶━━━╼ 8 本     NN dobj"""

W_ASCII = """\
.-----> 1 英特尔 NR nsubj
|-----> 2 将     AD advmod
+=====> 3 推出   VV root
| .---> 4 亚洲   NR nmod
| | .-> 5 首     OD nummod
| |-+=> 6 款     M  clf
| |---> 7 超极   JJ amod
`-+===> 8 本     NN dobj"""

NONPROJECTIVE = """\
  ╭─╼ 1 what  obj
╭─┼─╼ 2 do    aux
├─┼─╼ 3 you   nsubj
┝━┿━╼ 4 think root
│ ├─╼ 5 he    nsubj
╰─┶━╼ 6 ate   ccomp"""

PAIR_LINKS = """\
word links
           1 2 3 4 5 6 7 8
  1 英特尔 ■ · · · · · · ·
  2 将     · ■ · · · · · ·
  3 推出   · · ■ · · · · ·
  4 亚洲   · · · · · · ■ ■
  5 首     · · · ■ ■ · · ·
  6 款     · · · · · · · ·
  7 超极   · · · · · ■ · ·
  8 本     · · · · · ■ · ·
  1 Intel  2 will  3 launch  4 the  5 first  6 Ultrabook  7 in  8 Asia
node links
  推出                                   ── launch
  IP “英特尔 将 推出 亚洲 首 款 超极 本” ── S “Intel will launch the first Ultrabook i…”
  NP “英特尔”                            ── NP “Intel”                                   fuzzy
  NP “亚洲 首 款 超极 本”                ── NP “the first Ultrabook in Asia”                   0.9"""


def test_golden_text() -> None:
    assert to_text(W) == W_TEXT
    assert to_text(W, show="dependency", ascii=True) == W_ASCII
    words = ["what", "do", "you", "think", "he", "ate"]
    tree = DependencyTree(words, [5, 3, 3, -1, 5, 3], ["obj", "aux", "nsubj", "root", "nsubj", "ccomp"])
    assert to_text(tree) == NONPROJECTIVE
    assert to_text(PAIR).endswith(f"\n\n{PAIR_LINKS}")
    assert to_text(PAIR, width=20, ascii=True).isascii() is False  # the words are not
    assert "  1 英特尔 -- 1 Intel" in to_text(PAIR, width=20, ascii=True)
    assert to_text(ParsedSentence(ZH)) == " ".join(ZH.forms)
    unary = ConstituencyTree.build(["go"], ("TOP", (("S", "IMP"), ("VP", 0))))
    assert to_text(unary) == "TOP─S-IMP─VP go"
    assert to_text(ConstituencyTree.build(Tokens(["go"], xpos=["VB"]), 0)) == "VB go"


def heads_in(text: str) -> list[int]:
    """Read a drawn dependency tree back by following its lines."""
    rows = text.splitlines()
    head_marks = "┮┾┶┍┝┕"

    def follow(row: int, column: int, step: int) -> int | None:
        row += step
        while 0 <= row < len(rows):
            mark = rows[row][column]
            if mark in head_marks:
                return row
            if mark not in "│├┼┿":
                return None
            row += step
        return None

    heads = []
    for j, line in enumerate(rows):
        column = next((x for x, mark in enumerate(line) if mark in "╭├╰┍┝┕╼"), 0)
        mark = line[column]
        if mark in "┍┝┕╼":
            heads.append(-1)
            continue
        steps = {"╭": (1,), "╰": (-1,), "├": (-1, 1)}[mark]
        ends = [end for end in (follow(j, column, step) for step in steps) if end is not None]
        assert len(ends) == 1
        heads.append(ends[0])
    return heads


@settings(deadline=None, max_examples=tries(200))
@given(dependency_trees())
def test_the_drawing_of_a_dependency_tree_can_be_read_back(tree: DependencyTree) -> None:
    assert tuple(heads_in(to_text(tree))) == tree.heads


@settings(deadline=None, max_examples=100)
@given(dependency_trees(), constituency_trees(), st.integers(20, 60))
def test_text_keeps_to_the_width_and_color_only_adds_codes(
    tree: DependencyTree, phrases: ConstituencyTree, width: int
) -> None:
    for item in (tree, phrases):
        plain = to_text(item, width=width)
        assert max(map(columns, plain.splitlines())) <= width
        colored = to_text(item, color=True, width=width)
        for code in ("0", "1", "2", "32", "34;1", "35", "36"):
            colored = colored.replace(f"\x1b[{code}m", "")
        assert [line.rstrip() for line in colored.splitlines()] == plain.splitlines()


@settings(deadline=None, max_examples=100)
@given(constituency_trees())
def test_constituency_text_has_every_word_once(tree: ConstituencyTree) -> None:
    lines = to_text(tree).splitlines()
    ends = sorted(line.rsplit(" ", 1)[-1].strip("\u2068\u2069") for line in lines if " NN " in line)
    assert ends == sorted(tree.tokens.forms)


@given(st.text(max_size=30), st.integers(1, 20))
def test_clip_keeps_to_the_limit(content: str, limit: int) -> None:
    assert columns(clip(content, limit)) <= limit
    assert clip(content, 1000) == content


def test_width_of_text() -> None:
    assert columns("e\u0301a\u200dक\u094d") == 3
    assert columns("ｆｕｌｌ推") == 10
    assert "\u2068كتاب\u2069" in to_text(DependencyTree(["كتاب"], [-1]))


# --- big inputs ---------------------------------------------------------------------------------------------------------

SIZE = 10_000
SHAPES = {
    "chain to the right": [-1, *range(SIZE - 1)],
    "chain to the left": [*range(1, SIZE), -1],
    "star": [*[SIZE // 2] * (SIZE // 2), -1, *[SIZE // 2] * (SIZE - SIZE // 2 - 1)],
    "crossing": [-1, *map(random.Random(3).randrange, range(1, SIZE))],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_thousand_words(shape: str) -> None:
    tree = DependencyTree(["word"] * SIZE, SHAPES[shape], ["rel"] * SIZE)
    text = to_text(tree)
    svg = to_svg(tree)
    assert len(text) < 100 * SIZE and len(svg) < 500 * SIZE, "the size of a picture grows with the words"
    assert text.count("\n") == SIZE - 1 and max(map(len, text.splitlines())) < 120
    assert ("⋯" in text) == (shape != "star")
    assert svg.count("<text") == 2 * SIZE


def test_ten_thousand_levels() -> None:
    children = [[~n, n + 1] for n in range(SIZE - 1)] + [[~(SIZE - 1)]]
    tree = ConstituencyTree(["word"] * SIZE, ["XP"] * SIZE, children)
    text, svg = to_text(tree), to_svg(tree)
    assert len(text) < 300 * SIZE and len(svg) < 500 * SIZE, "the size of a picture grows with the levels"
    assert max(map(len, text.splitlines())) < 200 and svg.count("<text") == 2 * SIZE


def test_notebooks_are_not_flooded() -> None:
    tokens = Tokens(["word"] * 400)
    tree = DependencyTree(tokens, [-1, *range(399)])
    sentence = ParsedSentence.of(tree, id="s1")
    pair = AlignedPair(sentence, sentence)
    phrases = ConstituencyTree.build(tokens, ("S", *range(400)))
    for item in (tree, sentence, pair, phrases):
        assert len(repr(item)) < 250
        assert item._repr_svg_() is None
    assert sentence._repr_html_() is None
    assert repr(W) == "ParsedSentence('英特尔 将 推出 亚洲 首 款 超极 本', id='W', trees=dependency+constituency)"
    for small in (W, W.dependency, W.constituency, PAIR):
        assert small is not None
        ET.fromstring(small._repr_svg_() or "")
    html = W._repr_html_() or ""
    assert "<svg" in html and "<table" in html and "<html" not in html


# --- HTML ---------------------------------------------------------------------------------------------------------------


class Balanced(HTMLParser):
    """Fails on an element that is not closed, counts elements, and collects what a page would load."""

    VOID = ("meta", "input", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag


def test_a_page_is_whole_and_safe(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!--"
    sentence = ParsedSentence(Tokens([evil, "'x'"]), id=evil, comments=(f"# text = {evil}",))
    html = to_html([W, sentence, PAIR], title=evil)
    page = Balanced()
    page.feed(html)
    page.close()
    assert page.open == []
    assert page.seen.count("script") == 3  # two stored sentences and the page's own script
    assert "alert(1)</script>" not in html
    assert all(address.startswith("#") for address in page.loads)
    assert html.count("<svg ") == 3
    assert html == to_html([W, sentence, PAIR], title=evil)
    single = Balanced()
    single.feed(to_html(W))
    assert single.open == [] and single.seen.count("svg") == 1


def test_the_table_has_multiword_and_empty_lines() -> None:
    tokens = Tokens(["vamos", "a", "el", "mar"], lemmas=["ir", "a", "el", "mar"])
    columns10 = ("2-3", "al", *["_"] * 8)
    sentence = ParsedSentence(
        tokens, ranges=(MultiwordRange(1, 3, columns10),), empty_nodes=(EmptyNode(0, ("0.1", "nosotros", *["_"] * 8)),)
    )
    html = to_html(sentence)
    assert "<td>2–3</td>" in html and ">al<" in html and "<td>0.1</td>" in html and ">nosotros<" in html
    assert "<th>lemma</th>" in html and "<th>feats</th>" not in html


def test_pages_are_split_and_linked(tmp_path: Path) -> None:
    path = tmp_path / "trees.html"
    written = write_html((W for _ in range(5)), str(path), title="T", per_page=2)
    assert [Path(name).name for name in written] == ["trees.html", "trees-2.html", "trees-3.html"]
    first, second, third = (Path(name).read_text(encoding="utf-8") for name in written)
    assert 'href="trees-2.html"' in first and "earlier" not in first
    assert 'href="trees.html"' in second and 'href="trees-3.html"' in second
    assert "more sentences" not in third and third.count("<svg ") == 1
    assert "<small>5 · W</small>" in third
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(Path(name).name for name in written)


def test_real_sentences_have_no_overlap(data) -> None:  # type: ignore[no-untyped-def]
    checked = 0
    for path in sorted(data("trees/ud-pud").glob("*.conllu")):
        rows: list[list[str]] = []
        for line in path.read_text(encoding="utf-8").splitlines()[:2500]:
            if line and line[0].isdigit() and line.split("\t")[0].isdigit():
                rows.append(line.split("\t"))
            elif not line and rows:
                tokens = Tokens([r[1] for r in rows], upos=[r[3] for r in rows])
                tree = DependencyTree(tokens, [int(r[6]) - 1 for r in rows], [r[7] for r in rows])
                check_arcs(lay_out(ParsedSentence.of(tree), Look()), tree.is_projective)
                assert tuple(heads_in(to_text(tree))) == tree.heads
                checked += 1
                rows = []
    assert checked > 300


def test_the_pictures_of_the_documentation_are_current() -> None:
    folder = Path(__file__).parents[1] / "docs" / "img"
    pictures = runpy.run_path(str(folder / "make_pictures.py"))["pictures"]()
    for name, svg in pictures.items():
        assert (folder / name).read_text(encoding="utf-8") == svg, "run python docs/img/make_pictures.py"
