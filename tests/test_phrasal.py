"""Phrasal nodes: the worked example, and a brute force over sets of words on random pairs of trees."""

from __future__ import annotations

import importlib.util
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot.errors import TreeError
from treeglot.grammars.rules import extract_words
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dep2cons import to_constituency
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.phrasal import Kind, PhrasalReport, phrasal_nodes
from treeglot.trees.projectivity import projectivize
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.words import split_words

W = Tokens(
    ["英特尔", "将", "推出", "亚洲", "首", "款", "超极", "本"], xpos=["NR", "AD", "VV", "NR", "OD", "M", "JJ", "NN"]
)
W_DEPENDENCY = DependencyTree(
    W, [2, 2, -1, 7, 5, 7, 7, 2], ["nsubj", "advmod", "root", "nn", "ordmod", "clf", "amod", "dobj"]
)
W_CONSTITUENCY = ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", ("NP", 3), ("QP", 4, 5), ("NP", 6, 7)))))


def test_worked_example() -> None:
    report = phrasal_nodes(ParsedSentence.of(W_DEPENDENCY, ConstituencyTree.build(W, W_CONSTITUENCY)))
    assert [(node.category, node.span, node.head, node.members) for node in report.nodes] == [
        ("VP[AD_VV_NN]", (1, 8), 2, (1, 2, 7)),
        ("VP[VV_NN]", (2, 8), 2, (2, 7)),
        ("NP[JJ_NN]", (6, 8), 7, (6, 7)),
    ]
    assert [node.category for node in report.at(7)] == ["NP[JJ_NN]"]
    assert report.at(0) == ()
    assert all(node.covers_head for node in report.nodes)
    assert report.counts == {Kind.WORD: 3, Kind.SUBTREE: 3, Kind.PHRASAL: 3}


def test_conversion_gives_the_phrasal_nodes_of_the_worked_example() -> None:
    report = phrasal_nodes(ParsedSentence.of(W_DEPENDENCY, to_constituency(W_DEPENDENCY)))
    assert {node.category for node in report.nodes} == {"VP[AD_VV_NN]", "VP[VV_NN]", "NP[JJ_NN]"}


def test_unary_chain_takes_the_topmost_label() -> None:
    tokens = Tokens(["I", "see", "it"], upos=["PRON", "VERB", "PRON"])
    tree = ConstituencyTree.build(tokens, ("S", ("NP", 0), ("VP", ("V2", ("V3", 1, ("NP", 2))))))
    report = phrasal_nodes(ParsedSentence.of(DependencyTree(tokens, [1, -1, 1]), tree))
    (node,) = report.nodes
    assert (node.category, node.alternatives, node.phrase) == ("VP[VERB_PRON]", ("V2", "V3"), 2)
    assert report.kinds[2:5] == (Kind.PHRASAL,) * 3
    assert report.counts[Kind.PHRASAL] == 1


def test_crossing_constituents() -> None:
    tokens = Tokens(["a", "b", "c", "d"])
    # "b c" is the head and a part of the subtree of its child d.
    tree = DependencyTree(tokens, [1, -1, 3, 1])
    report = phrasal_nodes(ParsedSentence.of(tree, ConstituencyTree.build(tokens, ("S", 0, ("X", 1, 2), 3))))
    assert report.kinds == (Kind.SUBTREE, Kind.CROSSING) and not report.nodes
    # A constituent with a gap is never a contiguous group.
    gap = ConstituencyTree.build(tokens, ("S", ("X", 0, 3), 1, 2))
    assert phrasal_nodes(ParsedSentence.of(tree, gap)).kinds[1] is Kind.CROSSING


def test_both_trees_are_needed() -> None:
    with pytest.raises(TreeError, match=r"sentence s1: no constituency tree[\s\S]*to_constituency"):
        phrasal_nodes(ParsedSentence.of(W_DEPENDENCY, id="s1"))


def brute_force(dependency: DependencyTree, constituency: ConstituencyTree) -> list[tuple[Kind, Any]]:
    """Kind and (head, members) of each phrase, from the definition over sets of words."""
    tree = projectivize(dependency)
    subtrees = [frozenset(tree.subtree(n)) for n in range(len(tree))]
    kinds: list[tuple[Kind, Any]] = []
    for words in map(frozenset, constituency.yields):
        if len(words) == 1:
            kinds.append((Kind.WORD, None))
            continue
        if words in subtrees:
            kinds.append((Kind.SUBTREE, None))
            continue
        n = min((n for n in range(len(tree)) if words <= subtrees[n]), key=lambda n: len(subtrees[n]))
        members = sorted([n, *tree.children(n)])
        parts = [frozenset([m]) if m == n else subtrees[m] for m in members]
        groups = [
            tuple(members[a:b])
            for a, b in combinations(range(len(members) + 1), 2)
            if 2 <= b - a < len(members) and frozenset().union(*parts[a:b]) == words
        ]
        kinds.append((Kind.PHRASAL, (n, groups[0])) if groups else (Kind.CROSSING, None))
    return kinds


@st.composite
def tree_pairs(draw: st.DrawFn) -> ParsedSentence:
    size = draw(st.integers(1, 8))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for k in range(1, size):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    tokens = Tokens([f"w{j}" for j in range(size)], xpos=[f"T{j}" for j in range(size)])
    groups: list[Any] = list(range(size))
    if not draw(st.booleans()):
        groups = list(draw(st.permutations(groups)))  # constituents with gaps
    for k in range(draw(st.integers(0, 8))):
        low = draw(st.integers(0, len(groups) - 1))
        high = draw(st.integers(low + 1, len(groups)))
        groups[low:high] = [(f"L{k}", *groups[low:high])]
    return ParsedSentence.of(DependencyTree(tokens, heads), ConstituencyTree.build(tokens, ("TOP", *groups)))


def check(sentence: ParsedSentence) -> PhrasalReport:
    assert sentence.dependency is not None and sentence.constituency is not None
    report = phrasal_nodes(sentence)
    expected = brute_force(sentence.dependency, sentence.constituency)
    assert list(report.kinds) == [kind for kind, _ in expected]
    nodes = {node.phrase: node for node in report.nodes}
    for n, (kind, place) in enumerate(expected):
        if kind is Kind.PHRASAL and report.topmost[n]:
            node = nodes.pop(n)
            assert (node.head, node.members) == place
            assert node.span == sentence.constituency.spans[n] and node.label == sentence.constituency.labels[n]
            assert node.tags == tuple(sentence.tokens.xpos[m] for m in node.members)
    assert not nodes
    assert sum(report.counts.values()) == len(set(sentence.constituency.yields))
    return report


@settings(max_examples=tries(800), deadline=None)
@given(tree_pairs())
def test_against_brute_force(sentence: ParsedSentence) -> None:
    check(sentence)


@settings(max_examples=tries(200), deadline=None)
@given(tree_pairs())
def test_converted_constituents_are_all_representable(sentence: ParsedSentence) -> None:
    assert sentence.dependency is not None
    converted = ParsedSentence.of(sentence.dependency, to_constituency(sentence.dependency))
    assert Kind.CROSSING not in check(converted).kinds


def test_ten_thousand_words() -> None:
    size = 10_000
    tokens = Tokens(["w"] * size)
    nested = ConstituencyTree(tokens, ["X"] * size, [[~j, j + 1] for j in range(size - 1)] + [[~(size - 1)]])
    for heads in ([-1, *range(size - 1)], [*range(1, size), -1]):
        report = phrasal_nodes(ParsedSentence.of(DependencyTree(tokens, heads), nested))
        assert len(report.kinds) == size


@pytest.fixture(scope="module")
def bench() -> Any:
    path = Path(__file__).parents[1] / "bench" / "phrasal_coverage.py"
    spec = importlib.util.spec_from_file_location("phrasal_coverage", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_parseval_by_hand(bench: Any) -> None:
    tokens = Tokens(["She", "saw", ",", "it", "there", "."])
    wanted = ConstituencyTree.build(tokens, ("ROOT", ("S", ("NP", 0), ("VP", 1, 2, ("NP", 3), ("ADVP", 4)), 5)))
    tree = ConstituencyTree.build(tokens, ("S", ("NP", 0), ("VP", ("X", 1, 2), ("Y", ("NP", 3), 4), 5)))
    score = bench.Parseval()
    score.add(tree, wanted, [form in ",." for form in tokens.forms])
    # Without punctuation: wanted S[0-4] NP[0-1] VP[1-4] NP[2-3] ADVP[3-4]; found S[0-4] NP[0-1] VP[1-4] X[1-2] Y[2-4] NP[2-3].
    assert (score.labelled.match, score.labelled.found, score.labelled.wanted) == (4, 6, 5)
    assert (score.labelled.precision, score.labelled.recall, score.labelled.f) == (4 / 6, 4 / 5, 8 / 11)
    # Of two words or more: wanted 0-4 1-4, found 0-4 1-4 2-4.
    assert (score.unlabelled.match, score.unlabelled.found, score.unlabelled.wanted) == (2, 3, 2)


def test_joining_words_of_a_dependency_tree(bench: Any) -> None:
    tokens = Tokens(["à", "peu", "près", "de", "le", "nord"], upos=["ADP", "ADV", "ADV", "ADP", "DET", "NOUN"])
    tree = DependencyTree(tokens, [5, 0, 0, 5, 5, -1], ["advmod", "fixed", "fixed", "case", "det", "root"])
    written = [("à", [0]), ("peu", [1]), ("près", [2]), ("du", [3, 4]), ("nord", [5])]
    groups = bench.align(["à_peu_près", "du", "nord"], written)
    assert groups == [[0, 1, 2], [3, 4], [5]]
    joined = bench.join_words(tree, groups, ["à_peu_près", "du", "nord"])
    assert (joined.heads, joined.deprels) == ((2, 2, -1), ("advmod", "case", "root"))
    assert bench.align(["à_peu", "près_de", "le", "nord"], written) is None
    assert bench.join_words(tree, [[0], [1, 2, 3], [4], [5]], ["a", "b", "c", "d"]) is None


def test_flat_conversion_has_one_constituent_per_head(bench: Any) -> None:
    tree = bench.flat_conversion(W_DEPENDENCY)
    assert set(tree.spans) == {(0, 8), (3, 8), (4, 6)}


def test_phrasal_nodes_are_written_as_in_rules() -> None:
    """`treeglot.trees.phrasal` and the extractor of the core have one notation, ``VP[VV_NN]``."""
    tokens = Tokens(["英特尔", "将", "推出", "电脑"], xpos=["NR", "AD", "VV", "NN"])
    tree = ConstituencyTree.build(tokens, ("IP", ("NP", 0), ("VP", ("ADVP", 1), ("VP", 2, ("NP", 3)))))
    sentence = ParsedSentence.of(DependencyTree(tokens, [2, 2, -1, 2]), tree)
    target, links = ["Intel", "will", "launch", "computers"], [(n, n) for n in range(4)]
    rules = extract_words("consdep2str", sentence, target, links)
    symbols = {symbol for rule in rules for symbol in split_words(rule.source)}
    for node in phrasal_nodes(sentence).nodes:
        assert any(symbol.endswith(f":{node.category}") for symbol in symbols), node.category
