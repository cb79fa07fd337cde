"""Derivations between trees as pairs of fragments: what belongs to which rule, and the pictures of it."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from treeglot.examples import worked_example
from treeglot.search import RuleUse as Use
from treeglot.search import walk
from treeglot.search.display import Explained, derivation_svg, derivation_text, list_steps, page, trees_text
from treeglot.search.display.colours import NEUTRAL, is_neutral, step_colour
from treeglot.search.display.fragments import FragmentTree, TreePair, tree_pair, without_inner_glue
from treeglot.search.target_trees import owned_target_tree, target_tree
from treeglot.trees import ConstituencyTree, ParsedSentence
from treeglot.trees.penn import format_penn, parse_penn


def rule(begin: int, end: int, source: str, target: str, *children: Use, grammar: str = "stssg") -> Use:
    """A rule by its trees."""
    items: list[str | int] = []
    for word, variable in re.findall(r"([^() ]+)\)|x(\d+):", target):
        if word and not re.match(r"x\d+:", word):
            items.append(word)
        elif (number := int(variable or re.findall(r"\d+", word)[0]) - 1) not in items:
            items.append(number)
    return Use(grammar, begin, end, source, tuple(items), children=children, target_tree=target)


def worked_derivation() -> Use:
    """The worked example of the specification; rule 5 is nothing but a variable on the target side."""
    first = rule(4, 6, "(QP x1:OD (M 款))", "x1:DT x1:JJ", rule(4, 5, "(OD 首)", "(DT the) (JJ first)"))
    ultrabook = rule(6, 8, "(NP (JJ 超极) (NN 本))", "(NN Ultrabook)")
    book = rule(3, 8, "(NP (NP (NR 亚洲)) x1:QP x2:NP)", "(NP (NP x1:DT x1:JJ x2:NN) (PP (IN in) (NP (NNP Asia))))", first, ultrabook)  # fmt: skip
    launch = rule(1, 8, "(VP (ADVP (AD 将)) (VP (VV 推出) x1:NP))", "(VP (MD will) (VP (VB launch) x1:NP))", book)
    intel = rule(0, 1, "(NP (NR 英特尔))", "(NP (NNP Intel))")
    return rule(0, 8, "(IP x1:NP x2:VP)", "(S x1:NP x2:VP)", intel, launch)


WORKED_TREES = """\
source
[1] IP
├─ [2] NP NR 英特尔
╰─ [3] VP
   ├─ ADVP AD 将
   ╰─ VP
      ├─ VV 推出
      ╰─ [4] NP
         ├─ NP NR 亚洲
         ├─ [5] QP
         │  ├─ [6] OD 首
         │  ╰─ M 款
         ╰─ [7] NP
            ├─ JJ 超极
            ╰─ NN 本
target
[1] S
├─ [2] NP NNP Intel
╰─ [3] VP
   ├─ MD will
   ╰─ VP
      ├─ VB launch
      ╰─ [4] NP
         ├─ NP
         │  ├─ [5][6] DT the
         │  ├─ [5][6] JJ first
         │  ╰─ [7] NN Ultrabook
         ╰─ PP
            ├─ IN in
            ╰─ NP NNP Asia"""


def test_text_of_the_worked_example() -> None:
    sentence, derivation = worked_example().source, worked_derivation()
    assert trees_text(sentence, derivation) == WORKED_TREES
    guide = Path(__file__).parents[1] / "docs/tree-systems.md"
    assert f"```\n{WORKED_TREES}\n```" in guide.read_text(encoding="utf-8")
    assert " (IP x1:NP x2:VP) → (S x1:NP x2:VP)" in derivation_text(derivation)
    for painted in (trees_text(sentence, derivation, color=True), derivation_text(derivation, color=True)):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", painted)
        assert plain in (WORKED_TREES, derivation_text(derivation)) and plain != painted
    codes = dict.fromkeys(
        re.findall(r"\x1b\[([0-9;]*)m[^ ]*(?:Intel|英特尔)", trees_text(sentence, derivation, color=True))
    )
    assert len(codes) == 1, "the words of a rule have one colour on both sides"
    assert "├" not in trees_text(sentence, derivation, ascii=True)
    assert trees_text(sentence, Use("phrases", 0, 8, "…", ("words",))) == ""


class Maker:
    """Random derivations: rules between trees, phrases, copies, pseudo rules and glue, with the source tree they fit."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.size = 0

    def word(self) -> int:
        self.size += 1
        return self.size - 1

    def use(self, depth: int) -> tuple[Use, list[object]]:
        """A use and the cover of its source words."""
        rng, begin = self.rng, self.size
        kind = rng.choice(["copy", "phrases", "stssg", "stssg"] if not depth else ["pseudo", "stssg", "stssg", "stssg"])
        cover: list[object] = []
        children: list[Use] = []
        wanted = rng.choice([0, 1, 1, 2, 3]) if kind == "stssg" and depth else 2 if kind == "pseudo" else 0
        own = 1 if kind == "copy" or not wanted else 0 if kind == "pseudo" else rng.randint(0, 2)
        for part in rng.sample([True] * wanted + [False] * own, wanted + own):
            if part:
                child, trees = self.use(depth - 1)
                children.append(child)
                cover += trees
            else:
                cover.append(self.word())
        if kind == "pseudo" or (kind == "stssg" and rng.random() < 0.6):
            cover = [(rng.choice(["NP", "VP"]), *cover)]
        items: list[str | int] = list(range(len(children)))
        if kind != "pseudo":
            items += [f"e{begin}.{k}" for k in range(rng.randint(0 if children else 1, 2))]
            rng.shuffle(items)
        target = self.target(items) if kind == "stssg" else ""
        words = tuple(items)
        return Use(kind, begin, self.size, "…", words, children=tuple(children), target_tree=target), cover

    def target(self, items: list[str | int]) -> str:
        """A sequence of trees over words and variables."""
        rng = self.rng
        trees = [f"(T {item})" if isinstance(item, str) else f"x{item + 1}:V" for item in items]
        for _ in range(rng.randint(0, 3)):
            first = rng.randrange(len(trees))
            last = rng.randint(first + 1, len(trees))
            trees[first:last] = [f"({rng.choice(['NP', 'S'])} {' '.join(trees[first:last])})"]
        return " ".join(trees)

    def derivation(self, most: int = 4) -> tuple[ParsedSentence, Use]:
        top, cover = self.use(self.rng.randint(0, 3))
        for _ in range(self.rng.randint(0, most)):
            more, trees = self.use(self.rng.randint(0, 2))
            top = Use("glue", 0, self.size, "x1 x2", (0, 1), children=(top, more))
            cover += trees
        tree = ConstituencyTree.build([f"f{j}" for j in range(self.size)], ("TOP", *cover))
        return ParsedSentence.of(None, tree), top


def made(count: int) -> list[tuple[ParsedSentence, Use, TreePair]]:
    out = []
    for seed in range(count):
        sentence, derivation = Maker(seed).derivation()
        pair = tree_pair(sentence, list_steps(derivation))
        assert (pair is None) == (not any(use.target_tree for use in walk(derivation)))
        if pair is not None:
            out.append((sentence, derivation, pair))
    assert len(out) > count / 2
    return out


def fragment_labels(side: FragmentTree) -> dict[int, Counter[str]]:
    """The labels of each step's phrases and words."""
    assert side.tree is not None
    labels: dict[int, Counter[str]] = {}
    for owner, label in (
        *zip(side.nodes, side.tree.labels, strict=True),
        *zip(side.words, side.tree.tokens.xpos, strict=True),
    ):
        labels.setdefault(owner, Counter())[label] += 1
    return labels


def rule_labels(side: str) -> Counter[str]:
    return Counter(re.findall(r"\(([^ ()]+)", side))


def test_fragments_partition_the_trees() -> None:
    for sentence, derivation, pair in made(300):
        uses = list(walk(derivation))
        assert pair.target.tree == target_tree(derivation) and pair.target.tree is not None
        assert pair.target.tree.tokens.forms == derivation.words
        labels = fragment_labels(pair.target)
        for number, use in enumerate(uses, start=1):
            if use.target_tree:
                assert labels.get(number, Counter()) == rule_labels(use.target_tree)
        assert sum(labels.get(0, Counter()).values()) <= 1  # a root over several trees, or over a bare word
        tree = sentence.constituency
        assert tree is not None
        for node, owner in enumerate(pair.source.nodes):
            over = [n for n, use in enumerate(uses, start=1) if set(tree.words(node)) <= set(use.source_words)]
            lowest = max(over)
            while uses[lowest - 1].grammar == "glue" and lowest > 1:  # glue on glue is one
                lowest -= 1
            assert owner == lowest
        for j, owner in enumerate(pair.source.words):
            assert j in list_steps(derivation)[owner - 1].source_words


def test_every_rule_is_on_both_sides() -> None:
    """By its number and by its colour: with nodes of its own, or where other rules fill its variables."""
    for sentence, derivation, pair in made(150):
        rules = {n for n, use in enumerate(walk(derivation), start=1) if not is_neutral(use)}
        for side in (pair.source, pair.target):
            assert rules <= {number for numbers in side.begins.values() for number in numbers}
            for node, numbers in side.begins.items():
                assert numbers[-1] == side.owner(node)
        svg = derivation_svg(sentence, derivation, rules=False)
        ElementTree.fromstring(svg)
        discs = Counter(
            (int(number), colour)
            for colour, number in re.findall(r'style="fill:(#\w+)"/><text class="tg-number"[^>]*>(\d+)<', svg)
        )
        for number in rules:
            assert discs[number, step_colour(number)] >= 2
        assert all(colour == NEUTRAL for number, colour in discs if number not in rules)
        assert svg.count('class="tg-word') == len(sentence) + len(derivation.words)


def glued() -> tuple[ParsedSentence, Use]:
    """Three parts that glue joins; the last is a copied word."""
    tree = parse_penn("(S (NP (D le) (N chat)) (VP (V dort)) (P !))")
    first = rule(0, 2, "(NP (D le) (N chat))", "(NP (DT the) (NN cat))")
    two = Use("glue", 0, 3, "x1 x2", (0, 1), children=(first, rule(2, 3, "(VP (V dort))", "(VP (VBZ sleeps))")))
    return ParsedSentence.of(None, tree), Use(
        "glue", 0, 4, "x1 x2", (0, 1), children=(two, Use("copy", 3, 4, "!", ("!",)))
    )


def test_glue_stands_under_one_node() -> None:
    sentence, derivation = glued()
    tree = target_tree(derivation)
    assert tree is not None and format_penn(tree) == "(X (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (X !))"
    text = trees_text(sentence, derivation).splitlines()
    assert text[1] == "(1) S" and "├─ [3] NP" in text and "╰─ (5) X !" in text and "(2)" not in "".join(text)
    listed = without_inner_glue(list_steps(derivation))
    assert [(step.number, step.depth) for step in listed] == [(1, 0), (3, 1), (4, 1), (5, 1)]
    svg = derivation_svg(sentence, derivation)
    assert svg.count('class="tg-chip tg-neutral"') == 2 + 2  # S and X, the copied word on both sides
    assert NEUTRAL in svg and step_colour(1) not in svg


def test_awkward_words_and_labels() -> None:
    """Nothing in words and labels breaks a picture or a page."""
    word, label = """<b>&amp;"'</b>""", """N<&"'>"""
    use = Use("stssg", 0, 1, f"({label} {word})", (word,), target_tree=f"({label} {word})")
    root = Use("stssg", 0, 2, "…", (0, "</svg>"), children=(use,), target_tree=f"(</g> x1:{label} (]]> </svg>))")
    sentence = ParsedSentence.of(None, ConstituencyTree.build([word, "</script>"], (label, 0, 1)))
    svg = derivation_svg(sentence, root)
    texts = [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {word, label, "</svg>", "</g>", "</script>"} <= set(texts)
    html = page([Explained(sentence, root, " ".join(root.words), -1.0)])
    assert html.count("</svg>") == 1 and "<b>&amp;" not in html.replace("&lt;b&gt;", "")
    ElementTree.fromstring(svg.encode())


def test_pages_show_both_trees_and_react() -> None:
    sentence, derivation = worked_example().source, worked_derivation()
    html = page([Explained(sentence, derivation, "…", -1.0), Explained(*glued(), "…", -2.0)])
    assert html.count("<svg ") == 2 and "its number stands where they begin" in html
    for number in range(1, 8):
        assert f"section:has(.k{number}:is(:hover,:focus)) .s{number} .tg-edge" in html
    assert "prefers-color-scheme:dark" in html and "<script" not in html
    assert "(S x1:NP x2:VP)" in html


@pytest.mark.parametrize("penn", ["(NN mot)", "(S (NN mot))", None])
def test_sentences_of_one_word(penn: str | None) -> None:
    tree = parse_penn(penn) if penn else None
    sentence = ParsedSentence.of(None, tree) if tree else ParsedSentence(parse_penn("(S mot)").tokens)
    svg = derivation_svg(sentence, rule(0, 1, "(NN mot)", "(NN word)"))
    ElementTree.fromstring(svg)
    owned = owned_target_tree(rule(0, 1, "(NN mot)", "(NN word)"))
    assert owned is not None and owned.nodes == (0,) and owned.words == (1,)


def test_another_tree_can_be_asked_for() -> None:
    sentence, derivation = worked_example().source, worked_derivation()
    assert "tg-edge" in derivation_svg(sentence, derivation, rules=False).split("</style>")[-1]
    for show in ("dependency", "words"):
        assert "tg-edge" not in derivation_svg(sentence, derivation, show_tree=show).split("</style>")[-1]


def test_long_rules_have_two_lines() -> None:
    trees = " ".join(f"(NN word{k})" for k in range(20))
    use = rule(0, 1, f"(NP {trees})", f"(NP {trees})")
    svg = derivation_svg(ParsedSentence.of(None, parse_penn("(NP (NN w))")), use, weights={})
    listed = re.findall(r"<text[^>]*>([^<]*)<", svg[svg.index('tg-rules"') :])[1:]
    assert len(listed) == 2 and listed[1].lstrip().startswith("→") and listed[1].endswith("+0.00")


def test_deep_and_long_derivations() -> None:
    """Three hundred glued parts, and three hundred rules below each other."""
    maker = Maker(3)
    uses = [maker.use(0) for _ in range(300)]
    top = uses[0][0]
    for more, _ in uses[1:]:
        top = Use("glue", 0, more.end, "x1 x2", (0, 1), children=(top, more))
    words = [f"f{j}" for j in range(maker.size)]
    tree = ConstituencyTree.build(words, ("S", *(part for _, cover in uses for part in cover)))
    ElementTree.fromstring(derivation_svg(ParsedSentence.of(None, tree), top))
    deep = rule(299, 300, "(N w)", "(N w)")
    for begin in range(298, -1, -1):
        deep = rule(begin, 300, "(N (N w) x1:N)", "(N (N w) x1:N)", deep)
    flat = ConstituencyTree.build(["w"] * 300, ("S", *range(300)))
    pair = tree_pair(ParsedSentence.of(None, flat), list_steps(deep))
    assert pair is not None and len(set(pair.target.nodes)) == 299
