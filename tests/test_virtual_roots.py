"""Virtual roots (`treeglot.trees.virtual`): no aligner links one, and what stands for the sentence takes its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeglot.alignment.subtrees.lexical import LexicalTreeAligner
from treeglot.alignment.subtrees.training import train_aligner
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tiger import VROOT, is_virtual_root
from treeglot.trees.treealigner import read_aligned_pairs, write_aligned_pairs
from treeglot.trees.virtual import Rooted, rooted_pair


def virtual(words: str, *below: object, name: str = "s1") -> ParsedSentence:
    """A sentence as reading TIGER-XML gives it: the nodes of ``below`` have no parent in the file."""
    tree = ConstituencyTree.build(words.split(), (VROOT, *below))
    ids = [f"{name}_{VROOT}", *(f"{name}_{500 + n}" for n in range(len(tree) - 1))]
    word_ids = [f"{name}_{j + 1}" for j in range(len(tree.tokens))]
    return ParsedSentence(tree.tokens, constituency=replace(tree, ids=tuple(ids), word_ids=tuple(word_ids)), id=name)


WORDS = [
    ("der hund bellt .", "the dog barks ."),
    ("ein mann geht .", "a man goes ."),
    ("der mann bellt .", "the man barks ."),
]


def pairs(count: int) -> list[AlignedPair]:
    """Sentences with a loose full stop on one side, or on both; the sentence phrases and the noun phrases are linked."""
    result = []
    for n in range(count):
        german, english = WORDS[n % 3]
        source = virtual(german, ("S", ("NP", 0, 1), 2), 3, name=f"s{n}")
        target = virtual(english, ("S", ("NP", 0, 1), ("VP", 2)), 3, name=f"t{n}")
        if n % 2:
            tree = ConstituencyTree.build(english.split(), ("S", ("NP", 0, 1), ("VP", 2), 3))
            target = ParsedSentence(tree.tokens, constituency=tree, id=f"t{n}")
        shift = 0 if n % 2 else 1
        result.append(AlignedPair(source, target, (), [Link(1, shift), Link(2, 1 + shift)], f"{n}"))
    return result


@given(st.data())
def test_links_come_back_to_the_nodes_they_came_from(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))
    below: list[object] = [0]
    word = 1
    for _ in range(count):
        size = data.draw(st.integers(1, 3))
        below.append((data.draw(st.sampled_from("ABC")), *range(word, word + size)))
        word += size
    below = data.draw(st.permutations(below))
    sentence = virtual(" ".join(f"w{j}" for j in range(word)), *below)
    assert is_virtual_root(sentence) and sentence.constituency is not None
    rooted = Rooted.of(sentence)
    assert rooted.sentence.constituency is not None and rooted.phrases is not None
    lifted, given_tree = rooted.sentence.constituency, sentence.constituency
    assert sorted(rooted.phrases) == list(range(1, len(given_tree))) and not is_virtual_root(rooted.sentence)
    assert lifted.sizes[0] == word, "the largest phrase takes what is loose"
    for n in range(len(lifted)):
        old = rooted.given(n)
        assert old is not None and rooted.node(old) == n and lifted.labels[n] == given_tree.labels[old]
        if n:
            assert lifted.yields[n] == given_tree.yields[old]
    assert rooted.node(0) == 0 and Rooted.of(rooted.sentence).phrases is None


def test_a_sentence_of_loose_words_has_nothing_to_link() -> None:
    loose = virtual("a b", 0, 1)
    assert Rooted.of(loose).given(0) is None and Rooted.of(loose).given(~1) == ~1
    table = WordTable([("a", "a", 1, 1), ("b", "b", 1, 1)])
    (pair,) = LexicalTreeAligner(table).align([(loose, loose)])
    assert pair.node_links == () and len(pair.word_links) == 2


def test_links_to_virtual_roots_are_links_to_the_top_phrase() -> None:
    source = virtual("a b .", ("S", ("NP", 0), 1), 2)
    pair = AlignedPair(source, source, (), [Link(0, 0), Link(2, 2)])
    assert [link[:2] for link in rooted_pair(pair)[0].node_links] == [(0, 0), (1, 1)]
    both = AlignedPair(source, source, (), [Link(0, 0, "fuzzy"), Link(1, 1)])
    assert rooted_pair(both)[0].node_links == (Link(0, 0),), "what the file says of the phrase itself goes first"


def test_no_aligner_links_a_virtual_root(tmp_path: Path) -> None:
    linked = pairs(18)
    table = WordTable.train([german for german, _ in WORDS], [english for _, english in WORDS])
    lexical = list(LexicalTreeAligner(table).align((pair.source, pair.target) for pair in linked[:2]))
    model = train_aligner(
        linked[:12], linked[12:], terms=("plain", "dBTK-Root"), features="paper", passes=1, tune=False, threads=1
    )
    for aligned in (lexical, list(model.align(linked[:2]))):
        for pair, expected in zip(aligned, linked, strict=False):
            assert pair.source == expected.source and pair.target == expected.target
            ends = [(link.source, link.target) for link in pair.node_links if min(link[:2]) >= 0]
            assert (expected.node_links[0][:2]) in ends, "the phrases below the virtual roots are linked"
            for side, sentence in enumerate((pair.source, pair.target)):
                assert not (is_virtual_root(sentence) and any(end[side] == 0 for end in ends))
    write_aligned_pairs(lexical, tmp_path / "a.sta.xml", tmp_path / "s.xml", tmp_path / "t.xml")
    text = (tmp_path / "a.sta.xml").read_text()
    assert VROOT not in text[text.index("<align ") :]


@pytest.mark.parametrize("document", ["FUNDACION"])
def test_of_a_treebank(data: Callable[[str], Path], document: str) -> None:
    """Nearly every German sentence of SQUOIA has a virtual root, and hardly a gold link ends there."""
    path = data(f"trees/squoia-de-es/{document}_alignments_squoia_de_es.xml")
    some = [pair for pair, _ in zip(read_aligned_pairs(path, strict=False), range(60), strict=False)]
    assert sum(is_virtual_root(pair.source) for pair in some) > 50
    table = WordTable.train(
        [" ".join(pair.source.tokens.forms) for pair in some],
        [" ".join(pair.target.tokens.forms) for pair in some],
        threads=1,
    )
    aligned = list(LexicalTreeAligner(table, least=0.05, threads=1).align((pair.source, pair.target) for pair in some))
    right = sum(
        len({link[:2] for link in pair.node_links} & {link[:2] for link in gold.node_links})
        for pair, gold in zip(aligned, some, strict=True)
    )
    assert right > 100
    assert not any(
        (link.source == 0 and is_virtual_root(pair.source)) or (link.target == 0 and is_virtual_root(pair.target))
        for pair in aligned
        for link in pair.node_links
    )
