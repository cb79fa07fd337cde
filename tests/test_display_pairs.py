"""Pictures of aligned pairs: labels for people, the legend of a comparison, and what the page leaves out."""

from __future__ import annotations

import re

from treeglot.trees import ConstituencyTree, DependencyTree, Tokens
from treeglot.trees.bracketed import to_bracketed
from treeglot.trees.display import Comparison, to_html, to_svg, to_text
from treeglot.trees.display.geometry import Look
from treeglot.trees.display.labels import shown_labels
from treeglot.trees.display.pair import lay_out_pair
from treeglot.trees.display.widths import columns
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

TREE = ConstituencyTree(
    ["we", "can", "see", "it"],
    ["S", "VP", "NP"],
    [[~0, 1], [~1, ~2, 2], [~3]],
    functions=["", "--", "OBJ"],
    word_functions=["SBJ", "--", "HD", "--"],
)
SENTENCE = ParsedSentence.of(constituency=TREE)
PAIR = AlignedPair(SENTENCE, SENTENCE, [Link(j, j) for j in range(4)], [Link(n, n) for n in range(3)], "p")


def test_no_function_is_drawn_as_nothing() -> None:
    for drawing in (to_text(TREE), to_svg(TREE)):
        assert "OBJ" in drawing and "SBJ" in drawing and "--<" not in drawing and "---" not in drawing
    assert "├─ can" in to_text(TREE)


def test_bracketed_dependencies_are_named_by_their_relations() -> None:
    tokens = Tokens(["a", "dog", "sees", "a", "cat"])
    tree = DependencyTree(tokens, [1, 2, -1, 4, 2], ["det", "nsubj:x;y", "root", "det", "obj"])
    assert set(shown_labels(to_bracketed(tree))) == {"root", "nsubj:x;y", "obj"}
    special = DependencyTree(tokens, [1, 2, -1, 4, 2], ["det", "nsubj", "main", "det", "obj"])
    assert shown_labels(to_bracketed(special))[0] == "main"
    # A label that only looks like one is left alone, and so are all others of its tree.
    assert shown_labels(ConstituencyTree.build(["a", "b"], ("3;head=1;x=2", 0, ("NP", 1)))) == ("3;head=1;x=2", "NP")
    odd = ConstituencyTree.build(["a", "b"], ("4;head=1;50%=3", 0, ("3;head=2", 1)))
    assert shown_labels(odd) == ("root", "50%")


def test_a_comparison_lists_its_links_by_who_has_them() -> None:
    system = AlignedPair(
        SENTENCE, SENTENCE, [Link(0, 0), Link(1, 2)], [Link(0, 0, score=0.75), Link(1, 2, score=0.5)], "p"
    )
    text = to_text(Comparison(PAIR, system))
    assert "word links: ■ 1 both, g 3 gold only, s 1 system only" in text
    assert re.search(r"2 can +· g s ·$", text, re.MULTILINE)
    assert "node links: 1 both, 2 gold only, 1 system only" in text
    assert re.search(r"S “we can see it” +── S “we can see it” +both +0\.75$", text, re.MULTILINE)
    assert re.search(r"VP “can see it” +── NP “it” +system only 0\.5$", text, re.MULTILINE)
    unlinked = AlignedPair(SENTENCE, SENTENCE, id="p")
    assert "word links\n" in to_text(Comparison(PAIR, unlinked)), "gold word links are shown as they are"
    assert to_text(Comparison(unlinked, unlinked)).endswith("node links: none")
    narrow = to_text(Comparison(PAIR, system), width=52)
    assert max(map(columns, narrow.splitlines())) <= 52 and "S “we can s…" in narrow
    long = AlignedPair(*[ParsedSentence(Tokens([f"w{j}" for j in range(90)]))] * 2, [Link(5, 7), Link(8, 8)])
    listed = to_text(Comparison(long, AlignedPair(long.source, long.target, [Link(5, 7)])))
    assert re.search(r"6 w5 ── 8 w7 both$", listed, re.MULTILINE) and "9 w8 ── 9 w8 gold only" in listed


def test_the_legend_of_a_comparison_has_a_column_for_each_kind() -> None:
    words = ParsedSentence.of(constituency=ConstituencyTree.build([f"word{j}" for j in range(20)], ("S", *range(20))))
    pair = AlignedPair(words, words, [Link(0, 0)], [Link(0, 0)])
    layout = lay_out_pair(pair, Look(), system_links=[], system_word_links=[Link(1, 1)])
    assert [entry.css for entry in layout.legend] == ["both", "gold-only", "system-only"] * 2
    assert [e.x for e in layout.legend[:3]] == [e.x for e in layout.legend[3:]]
    assert len({e.y for e in layout.legend[:3]}) == 1 and layout.legend[0].y < layout.legend[3].y < layout.height
    narrow = lay_out_pair(PAIR, Look(), system_links=[], system_word_links=[])
    assert len({e.x for e in narrow.legend}) == 1 and len({e.y for e in narrow.legend}) == 6


def test_the_ground_of_a_linked_node_is_as_high_as_its_text() -> None:
    layout = lay_out_pair(PAIR, Look())
    for side in (layout.source, layout.target):
        root, verb, noun = (side.node_box(n) for n in range(3))
        assert root.height == verb.height < noun.height
        for n in range(3):
            box, whole = side.node_box(n), side.phrases[n].box
            assert (box.bottom, box.x) == (whole.bottom, whole.x) if side.up else (box.y, box.x) == (whole.y, whole.x)


def test_scores_of_the_system_are_in_the_tips_of_a_comparison() -> None:
    svg = to_svg(PAIR, system_links=[Link(1, 1, score=0.25)])
    assert "VP “can see it” – VP “can see it” (gold and system, score 0.25)" in svg


def test_notes_for_programs_stay_out_of_the_page() -> None:
    notes = (("tiger", '{"nt": {}}'), ("constituency", "made by hand"))
    source = ParsedSentence(TREE.tokens, constituency=TREE, notes=notes)
    target = ParsedSentence(TREE.tokens, constituency=TREE, notes=(("constituency", "made by hand"), ("parser", "x 1")))
    page = to_html(AlignedPair(source, target))
    assert "&quot;nt&quot;" not in page and page.count("made by hand") == 1
    assert '<p class="note">target parser: x 1</p>' in page and 'id="fit"' in page
