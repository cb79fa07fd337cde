"""Derivations as text, JSON, SVG and HTML: every word belongs to one rule, and nothing in the data breaks a page."""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot.errors import ConfigError
from treeglot.examples import worked_example
from treeglot.search import RuleUse as Node
from treeglot.search.display import Explained, derivation_svg, derivation_text, list_steps, page, to_record
from treeglot.search.display.svg import tree_to_show
from treeglot.trees import DependencyTree, ParsedSentence, Tokens


def worked_derivation() -> Node:
    ultrabook = Node("phrases", 6, 8, "超极 本", ("Ultrabook",), "group", "NP[JJ_NN]")
    first = Node("consdep2str", 4, 6, "首 ^款", ("the", "first"), "subtree")
    source = "亚洲 x1:款* ^x2:NP[JJ_NN]"
    book = Node("consdep2str", 3, 8, source, (0, 1, "in", "Asia"), "subtree", children=(first, ultrabook),
                features={"consdep2str.p_ts": -1.2})  # fmt: skip
    intel = Node("phrases", 0, 1, "英特尔", ("Intel",), "word")
    return Node(
        "consdep2str",
        0,
        8,
        "x1:NR 将 ^推出 x2:本*",
        (0, "will", "launch", 1),
        "subtree",
        children=(intel, book),
        features={"lm": -7.5, "words": 8.0},
    )


def random_derivation(size: int, chance: random.Random, words: list[str] | None = None) -> tuple[ParsedSentence, Node]:
    """A derivation that follows a random projective tree; each rule shuffles its parts and may add or drop words."""
    spans: list[tuple[int, int, int]] = []  # head, begin, end in preorder
    heads = [-1] * size
    todo = [(0, size, -1)]
    while todo:
        begin, end, parent = todo.pop()
        head = chance.randrange(begin, end)
        heads[head] = parent
        spans.append((head, begin, end))
        for low, high in ((begin, head), (head + 1, end)):
            while low < high:
                cut = chance.randint(low + 1, high)
                todo.append((low, cut, head))
                low = cut
    nodes: dict[int, Node] = {}
    below: dict[int, list[int]] = {}
    for head in range(size):
        below.setdefault(heads[head], []).append(head)
    for head, begin, end in sorted(spans, key=lambda span: span[2] - span[1]):
        children = sorted((nodes[child] for child in below.get(head, [])), key=lambda node: node.begin)
        items: list[str | int] = [*range(len(children)), *(f"w{head}.{k}" for k in range(chance.randint(0, 2)))]
        chance.shuffle(items)
        nodes[head] = Node("dep2str", begin, end, f"s{head}", tuple(items), "subtree", children=tuple(children),
                          features={"lm": -1.0})  # fmt: skip
    forms = words or [f"f{j}" for j in range(size)]
    return ParsedSentence.of(DependencyTree(forms, heads)), nodes[heads.index(-1)]


def test_every_word_belongs_to_one_step() -> None:
    chance = random.Random(5)
    for _ in range(200):
        size = chance.randint(1, 12)
        _, root = random_derivation(size, chance)
        steps = list_steps(root)
        assert sorted(j for step in steps for j in step.source_words) == list(range(size))
        assert sorted(i for step in steps for i in step.target_words) == list(range(len(root.words)))
        for step in steps:
            assert tuple(root.words[slice(*step.target_span)]) == tuple(step.use.words)
            if step.parent:
                above = steps[step.parent - 1]
                assert above.depth == step.depth - 1 and above.height > step.height
                assert above.target_span[0] <= step.target_span[0] and step.target_span[1] <= above.target_span[1]
        assert [step.number for step in steps] == list(range(1, len(steps) + 1))


def test_text_and_record() -> None:
    root = worked_derivation()
    text = derivation_text(root, {"lm": 0.5, "consdep2str.p_ts": 0.2})
    assert text.splitlines()[0] == "1 0-8 consdep2str  x1:NR 将 ^推出 x2:本* → x1 will launch x2  (-3.75)"
    assert "3 ╰─ 3-8 consdep2str  亚洲 x1:款* ^x2:NP[JJ_NN] → x1 x2 in Asia  (-0.24)" in text
    assert "lm=-7.5 words=8" in text and "words=8" not in derivation_text(root, features=False)
    record = json.loads(json.dumps(to_record(root, {"lm": 0.5})))
    assert [step["parent"] for step in record["steps"]] == [0, 1, 1, 3, 3]
    assert record["steps"][2]["words"] == "the first Ultrabook in Asia" and record["steps"][4]["label"] == "NP[JJ_NN]"
    assert record["steps"][0]["score"] == -3.75 and record["steps"][0]["target_words"] == [1, 2]


def test_phrase_based_derivations() -> None:
    phrases = (
        Node("phrases", 0, 1, "a", ("A", "A")),
        Node("phrases", 1, 2, "b", ("B",), features={"lm": -1.0}),
        Node("copy", 2, 3, "c", ("c",)),
    )
    root = Node("phrases", 0, 3, "x1 x2 x3", (1, 2, 0), "goal", children=phrases)
    assert root.words == ("B", "c", "A", "A") and root.target == "x2 x3 x1"
    assert root.in_target_order == (phrases[1], phrases[2], phrases[0])
    steps = list_steps(root)
    assert [(step.use.source, step.use.grammar, step.target_span) for step in steps[1:]] == [
        ("a", "phrases", (2, 4)),
        ("b", "phrases", (0, 1)),
        ("c", "copy", (1, 2)),
    ]
    sentence = ParsedSentence(Tokens(["a", "b", "c"]))
    assert tree_to_show(sentence, root) == "words"
    ElementTree.fromstring(derivation_svg(sentence, root))
    assert Node("phrases", 0, 0, "", (), "goal").words == ()


def colours(svg: str, css: str) -> dict[int, set[str]]:
    """The fills of the chips of each step."""
    fills: dict[int, set[str]] = {}
    for group in re.findall(rf'<g class="k\d+ {css}(\d+)[ "].*?</g>', svg, re.DOTALL):
        part = re.search(rf'<g class="k{group} {css}{group}[ "].*?</g>', svg, re.DOTALL)
        assert part
        fills[int(group)] = set(re.findall(r'tg-chip" style="fill:(#\w+)"', part.group()))
    return fills


def test_svg_shares_colours_between_source_and_target() -> None:
    root = worked_derivation()
    svg = derivation_svg(worked_example().source, root, theme="light")
    tree = ElementTree.fromstring(svg)
    chips = colours(svg, "s")
    assert sorted(chips) == [1, 2, 3, 4, 5] and all(len(fills) == 1 for fills in chips.values())
    assert len({next(iter(fills)) for fills in chips.values()}) == 5
    rects = [element for element in tree.iter() if element.get("class") == "tg-chip"]
    assert len(rects) == 8 + 8, "one for each word of either side"
    assert "亚洲 x1:款* ^x2:NP[JJ_NN]" in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


class Checker(HTMLParser):
    """Collects what a page would load and checks that its elements are closed."""

    VOID = ("meta", "br", "rect", "path", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        self.loads += [
            value or "" for name, value in attrs if name in ("src", "href") and not (value or "").startswith("#")
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check_page(html: str) -> str:
    checker = Checker()
    checker.feed(html)
    assert not checker.open and not checker.loads and not checker.scripts
    assert "url(" not in html and "@import" not in html
    return "".join(checker.text)


def test_page_is_self_contained() -> None:
    root = worked_derivation()
    sentence = worked_example().source
    items = [
        Explained(sentence, root, "Intel will …", -3.25, "best", "a <reference>", {"lm": 0.5}),
        Explained(sentence, root, "", 0.0),
    ]
    html = page(items, "R&D <derivations>")
    text = check_page(html)
    assert "R&D <derivations>" in text and "a <reference>" in text and "score -3.250" in text
    assert "section:has(.k5:is(:hover,:focus))" in html and ".k6:is(" not in html
    with pytest.raises(ConfigError):
        page([])


AWKWARD = [
    "<script>alert(1)</script>",
    "a&b",
    '"',
    "'",
    "|||",
    "\u202e",
    "كتاب",
    "推出",
    "",
    " ",
    "\x00",
    "]]>",
    "e\u0301",
    "x" * 300,
    "👩‍👩‍👧",
]


@given(st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=6), st.integers(0, 1000))
def test_awkward_words(words: list[str], seed: int) -> None:
    sentence, root = random_derivation(len(words), random.Random(seed), words)
    ElementTree.fromstring(derivation_svg(sentence, root))
    text = check_page(page([Explained(sentence, root, " ".join(words), 0.0)]))
    assert "<script>" not in page([Explained(sentence, root, "", 0.0)]) and text


def test_long_and_deep() -> None:
    """A chain of 400 words: no recursion, bounded pictures."""
    node = Node("dep2str", 399, 400, "w", ("v",), "subtree")
    for j in range(398, -1, -1):
        node = Node("dep2str", j, 400, "w x1", ("v", 0), "subtree", children=(node,))
    sentence = ParsedSentence.of(DependencyTree(["w"] * 400, range(-1, 399)))
    assert len(list_steps(node)) == 400
    assert len(derivation_text(node).splitlines()) == 400
    svg = derivation_svg(sentence, node)
    ElementTree.fromstring(svg)
    assert len(svg) < 2_000_000
    check_page(page([Explained(sentence, node, "", 0.0)]))
