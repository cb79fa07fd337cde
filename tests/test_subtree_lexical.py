"""The lexical tree aligner against its definition: products over words, and a slow search without any shortcuts."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_trees import constituency_trees
from treeglot import TreeglotError
from treeglot._core import subtrees as core
from treeglot.alignment import LexicalTables
from treeglot.alignment.subtrees import TreeNodes, is_well_formed
from treeglot.alignment.subtrees import lexical as lexical_module
from treeglot.alignment.subtrees.lexical import METHODS, LexicalTreeAligner, Method, shape, with_tree
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.nodelinks import all_links
from treeglot.trees.sentence import Link, ParsedSentence
from treeglot.trees.tokens import Tokens

CHANCES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])


def tree_of(words: str, nested: object) -> ConstituencyTree:
    return ConstituencyTree.build(Tokens(words.split()), nested)


@st.composite
def problems(draw: st.DrawFn, size: int = 5) -> tuple[ConstituencyTree, ConstituencyTree, WordTable]:
    """Trees with and without gaps, with words that occur twice, and a table that does not know all of them."""
    trees = []
    for prefix in "se":
        tree = draw(constituency_trees(size, continuous=False))
        words = [draw(st.sampled_from([f"{prefix}{k}" for k in range(4)])) for _ in range(len(tree.tokens))]
        trees.append(ConstituencyTree(Tokens(words), tree.labels, tree.children))
    rows = [(f"s{a}", f"e{b}", draw(CHANCES), draw(CHANCES)) for a in range(3) for b in range(3)]
    return trees[0], trees[1], WordTable(rows)


def alpha(x: list[str], y: list[str], chance, score: int, floor: float, empty_is_one: bool) -> float:  # type: ignore[no-untyped-def]
    """α(x|y) as the papers print it, with P no smaller than the floor."""
    if not x or not y:
        return 1.0 if empty_is_one or (score == 1 and not y) or (score == 2 and not x) else floor ** (len(x) + len(y))
    if score == 1:
        return math.prod(sum(max(floor, chance(a, b)) for a in x) for b in y)
    return math.prod(sum(max(floor, chance(a, b)) for b in y) / len(y) for a in x)


def expected_score(
    source: TreeNodes, target: TreeNodes, s: int, t: int, table: WordTable, score: int, floor: float, one: bool
) -> float:
    inside, outside = ([], []), ([], [])  # type: ignore[var-annotated]
    for side, nodes, node in ((0, source, s), (1, target, t)):
        for j, word in enumerate(nodes.tree.tokens.forms):
            (inside if j in nodes.tree.words(nodes.refs[node]) else outside)[side].append(word)
    value = 1.0
    for x, y in (inside, outside):
        if not x and not y:
            continue
        value *= alpha(x, y, lambda a, b: table.source_given_target(a, b), score, floor, one)
        value *= alpha(y, x, lambda a, b: table.target_given_source(a, b), score, floor, one)
    return value


@settings(deadline=None, max_examples=60)
@given(problems(), st.sampled_from([1, 2]), st.sampled_from([0.0, 1e-6, 0.01]), st.booleans())
def test_scores_are_products_over_words(
    problem: tuple[ConstituencyTree, ConstituencyTree, WordTable], score: int, floor: float, one: bool
) -> None:
    source, target, table = problem
    aligner = LexicalTreeAligner(table, method=f"score{score}", floor=floor, empty_is_one=one)
    scores = np.exp(aligner.scores(source, target))
    left, right = TreeNodes.of(source), TreeNodes.of(target)
    assert scores.shape == (len(left), len(right))
    for s in range(len(left)):
        for t in range(len(right)):
            expected = expected_score(left, right, s, t, table, score, floor, one)
            assert scores[s, t] == pytest.approx(expected, rel=1e-6, abs=1e-300), (s, t)


def clash(source: TreeNodes, target: TreeNodes, first: tuple[int, int], second: tuple[int, int]) -> bool:
    (s, t), (x, y) = first, second
    if first == second:
        return False
    above, below = source.ancestors, target.ancestors
    return s == x or t == y or above[s, x] != below[t, y] or above[x, s] != below[y, t]


def slow_choice(source: TreeNodes, target: TreeNodes, scores: np.ndarray, method: Method) -> list[tuple[int, int]]:
    """The algorithm in its plainest form: everything is looked at again after every link."""
    pairs = {(s, t) for s in range(len(source)) for t in range(len(target)) if scores[s, t] > -np.inf}
    single = {(s, t) for s, t in pairs if source.size[s] == 1 or target.size[t] == 1}
    links: list[tuple[int, int]] = []
    for phase in [pairs - single, single] if method.span1 else [pairs]:
        while True:
            fitting = {pair for pair in phase - set(links) if not any(clash(source, target, pair, x) for x in links)}
            tied = {p for p in fitting if any(scores[p] == scores[q] and clash(source, target, p, q) for q in fitting)}
            free = []
            for pair in sorted(fitting - tied if method.skip else fitting):
                held = (p for p in tied if scores[p] > scores[pair] and (p[0] == pair[0] or p[1] == pair[1]))
                if method.skip < 2 or not any(held):
                    free.append(pair)
            if not free:
                break
            links.append(max(free, key=lambda pair: (scores[pair], -pair[0], -pair[1])))
    return links


@settings(deadline=None, max_examples=100)
@given(st.data(), st.sampled_from(METHODS))
def test_the_choice_equals_a_slow_one(data: st.DataObject, name: str) -> None:
    source, target = (TreeNodes.of(data.draw(constituency_trees(4, continuous=False))) for _ in range(2))
    size = len(source) * len(target)
    values = st.sampled_from([-np.inf, -1.0, -2.0, -2.0, -3.0, -4.0])
    scores = np.array(data.draw(st.lists(values, min_size=size, max_size=size))).reshape(len(source), len(target))
    method = Method.parse(name)
    shapes = [([0] * len(nodes.tree.tokens), *shape(nodes.tree)) for nodes in (source, target)]
    chosen = core.choose_links(shapes[0], shapes[1], scores, method.skip, method.span1, True, False)
    links = [(source.index(s), target.index(t)) for s, t, _ in chosen]
    assert links == slow_choice(source, target, scores, method)
    assert is_well_formed(links, source, target)
    phrases = core.choose_links(shapes[0], shapes[1], scores, method.skip, method.span1, False, False)
    assert all(s >= 0 and t >= 0 for s, t, _ in phrases)


@settings(deadline=None, max_examples=60)
@given(problems(), st.sampled_from(METHODS))
def test_chains_are_linked_from_the_top(
    problem: tuple[ConstituencyTree, ConstituencyTree, WordTable], name: str
) -> None:
    source, target, table = problem
    left, right = TreeNodes.of(source), TreeNodes.of(target)
    links = LexicalTreeAligner(table, method=name).links(source, target)
    assert is_well_formed([(left.index(link.source), right.index(link.target)) for link in links], left, right)
    assert all(link.score is not None and 0 < link.score <= 1 for link in links)
    linked = {link.source: link.target for link in links}
    for s, t in linked.items():
        above_s, above_t = source.parent(s), target.parent(t)
        for ref, above, tree in ((s, above_s, source), (t, above_t, target)):
            if ref >= 0 and above >= 0 and tree.words(above) == tree.words(ref):  # not the top of its chain
                assert linked.get(above_s) == above_t
                break


def test_a_tie_waits_until_a_link_settles_it() -> None:
    # "the" stands twice on each side: its four pairs tie until the two NPs are linked.
    source = tree_of("das haus und das buch", ("S", ("NP", 0, 1), 2, ("NP", 3, 4)))
    target = tree_of("the book and the house", ("S", ("NP", 0, 1), 2, ("NP", 3, 4)))
    rows = [("das", "the", 1.0, 1.0), ("haus", "house", 0.9, 1.0), ("und", "and", 1.0, 1.0), ("buch", "book", 0.8, 1.0)]
    aligner = LexicalTreeAligner(WordTable(rows), method="skip1_score1")
    links = {link[:2] for link in aligner.links(source, target)}
    assert links == {(0, 0), (1, 2), (2, 1), (~0, ~3), (~1, ~4), (~2, ~2), (~3, ~0), (~4, ~1)}
    # Without skipping, the first "das" takes the first "the", and the NPs can no longer be linked.
    scores = aligner.scores(source, target)
    left, right = TreeNodes.of(source), TreeNodes.of(target)
    scores[left.index(~0), :] += 100
    rushed = core.choose_links(([0] * 5, *shape(source)), ([0] * 5, *shape(target)), scores, 0, False, True, True)
    assert (~0, ~0) in {link[:2] for link in rushed} and (1, 2) not in {link[:2] for link in rushed}
    assert len(right) == 8


def test_what_stays_tied_stays_unlinked() -> None:
    source, target = (tree_of(words, ("S", 0, 1)) for words in ("ja ja", "yes yes"))
    table = WordTable([("ja", "yes", 1.0, 1.0)])
    for method, expected in (("skip1_score1", {(0, 0)}), ("score1", {(0, 0), (~0, ~0), (~1, ~1)})):
        assert {link[:2] for link in LexicalTreeAligner(table, method=method).links(source, target)} == expected


def test_skip2_holds_the_nodes_of_skipped_pairs_back() -> None:
    tree = tree_of("a b c", ("S", 0, 1, 2))
    nodes = TreeNodes.of(tree)
    scores = np.full((4, 4), -np.inf)
    words = [nodes.index(~j) for j in range(3)]
    scores[words[0], words[0]] = scores[words[0], words[1]] = -1.0  # a tie of a
    scores[words[1], words[1]] = -2.0  # has the target of a skipped pair
    scores[words[2], words[2]] = -3.0
    both = {}
    for skip in (1, 2):
        tree_shape = ([0] * 3, *shape(tree))
        both[skip] = [link[:2] for link in core.choose_links(tree_shape, tree_shape, scores, skip, False, True, False)]
    assert both[1] == [(~1, ~1), (~0, ~0), (~2, ~2)]
    assert both[2] == [(~2, ~2)]


def test_span1_takes_single_words_last() -> None:
    tree = tree_of("a b c", ("S", ("X", 0, 1), ("Y", 2)))
    nodes = TreeNodes.of(tree)
    scores = np.full((6, 6), -np.inf)
    scores[nodes.index(~0), nodes.index(~0)] = -1.0
    scores[nodes.index(1), nodes.index(1)] = -2.0
    scores[nodes.index(2), nodes.index(2)] = -1.5
    tree_shape = ([0] * 3, *shape(tree))
    order = [core.choose_links(tree_shape, tree_shape, scores, 0, late, True, False) for late in (False, True)]
    assert [link[:2] for link in order[0]] == [(~0, ~0), (2, 2), (1, 1)]
    assert [link[:2] for link in order[1]] == [(1, 1), (~0, ~0), (2, 2)]


@settings(deadline=None, max_examples=20)
@given(st.lists(problems(), min_size=1, max_size=5))
def test_threads_and_batches_change_nothing(
    items: list[tuple[ConstituencyTree, ConstituencyTree, WordTable]],
) -> None:
    table = items[0][2]
    pairs = [(ParsedSentence.of(None, s), ParsedSentence.of(None, t)) for s, t, _ in items] * 3
    one = list(LexicalTreeAligner(table, threads=1).align(pairs))
    many = list(LexicalTreeAligner(table, threads=4).align(iter(pairs)))
    assert one == many
    for pair, (source, target) in zip(one, pairs, strict=True):
        assert source.constituency is not None and target.constituency is not None
        direct = LexicalTreeAligner(table).links(source.constituency, target.constituency)
        assert sorted(all_links(pair)) == sorted(direct)


def test_dependency_trees_and_mixed_pairs() -> None:
    tokens = Tokens(["John", "sah", "Maria"])
    source = ParsedSentence.of(DependencyTree(tokens, [1, -1, 1], ["nsubj", "root", "obj"]), id="s1")
    target = ParsedSentence.of(None, tree_of("John saw Mary", ("S", ("NP", 0), ("VP", 1, ("NP", 2)))))
    table = WordTable([("John", "John", 1, 1), ("sah", "saw", 1, 1), ("Maria", "Mary", 1, 1)])
    (pair,) = LexicalTreeAligner(table).align([(source, target)])
    assert pair.id == "s1" and pair.source.constituency is not None
    assert pair.source.constituency.labels == ("_",)
    assert pair.source.constituency.functions == ("root",)
    assert pair.source.constituency.word_functions == ("nsubj", "head", "obj")
    assert {link[:2] for link in pair.node_links} == {(0, 0)} and len(pair.word_links) == 3
    assert pair.source.notes[-1] == ("constituency", "phrases of dependencies")
    with pytest.raises(TreeglotError, match="no constituency tree"):
        with_tree(source, "constituency")
    with pytest.raises(TreeglotError, match="no dependency tree"):
        with_tree(target, "dependency")
    assert with_tree(ParsedSentence(Tokens(["Ja"]))).constituency is not None


def test_word_tables(tmp_path: Path) -> None:
    counted = LexicalTables.count(["das haus", "das buch"], ["the house", "the book ."], ["0-0 1-1", "0-0 1-1"])
    counted.write(str(tmp_path / "lex"))
    for table in (
        WordTable.of(counted),
        WordTable.read_prefix(str(tmp_path)),
        WordTable.read_prefix(str(tmp_path / "lex")),
    ):
        assert len(table) == 3
        assert table.target_given_source("house", "haus") == 1.0
        assert table.matrices(["das", "nie"], ["the"], 0.5)[1].tolist() == [[1.0], [0.5]]
    text = ["das haus", "das buch", "ein buch"] * 5, ["the house", "the book", "a book"] * 5
    for estimate in ("model", "links", "both"):
        trained = WordTable.train(*text, estimate=estimate)  # type: ignore[arg-type]
        assert trained.target_given_source("book", "buch") > 0.5
    with pytest.raises(TreeglotError, match="no estimate"):
        WordTable.train(*text, estimate="some")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["", "score3", "skip1", "score1_score2", "score1_score1", "skip1_skip2_score1", "x_score1"]
)
def test_unknown_methods(name: str) -> None:
    with pytest.raises(TreeglotError, match="no method"):
        Method.parse(name)


def test_all_methods_have_names() -> None:
    assert len(METHODS) == 12 and all(str(Method.parse(name)) == name for name in METHODS)
    assert Method.parse("span1_score1_skip2") == Method()


def test_too_large_pairs_get_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical_module, "MAX_NODE_PAIRS", 10)
    small, large = (ParsedSentence.of(None, tree_of(" ".join("abcdef"[:n]), ("S", *range(n)))) for n in (2, 5))
    aligner = LexicalTreeAligner(WordTable([(c, c, 1.0, 1.0) for c in "abcdef"]))
    pairs = list(aligner.align([(small, small), (large, large), (small, small)]))
    assert [len(all_links(pair)) for pair in pairs] == [3, 0, 3] and aligner.too_large == 1
    assert large.constituency is not None
    with pytest.raises(TreeglotError, match="36 pairs of nodes"):
        aligner.links(large.constituency, large.constituency)


def test_least_confidence() -> None:
    tree = tree_of("a b", ("S", 0, 1))
    table = WordTable([("a", "a", 1.0, 1.0), ("b", "b", 0.5, 0.5)])
    every = LexicalTreeAligner(table).links(tree, tree)
    assert len(every) == 3
    assert {link[:2]: round(link.score or 0, 4) for link in every} == {(0, 0): 0.75, (~0, ~0): 1.0, (~1, ~1): 0.5}
    assert [link[:2] for link in LexicalTreeAligner(table, least=0.9).links(tree, tree)] == [(~0, ~0)]
    assert LexicalTreeAligner(table, least=0.1).links(tree, tree) == every
    for bad in ({"floor": 1.0}, {"floor": -1.0}, {"least": 2.0}):
        with pytest.raises(TreeglotError):
            LexicalTreeAligner(table, **bad)  # type: ignore[arg-type]
    assert isinstance(every[0], Link)


def test_broken_shapes_are_refused() -> None:
    for counts, children in (([1], [0]), ([2], [~0]), ([3], [~0, ~0, ~1]), ([1, 2], [~0, 1, ~1])):
        with pytest.raises(ValueError):
            core.WordTable().scores(([0, 0], counts, children), ([0], [], []), 1, 0.1, False)
