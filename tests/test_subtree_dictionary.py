"""Dictionaries as evidence of word links, against plain comparisons of all headwords."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import TreeglotError
from treeglot.alignment.dictionary import BEGINNING, COMPOUND, COMPOUNDED, ENDING, INFLECTED, Dictionary
from treeglot.alignment.subtrees.words import WordKnowledge

WORDS = st.text(alphabet="abc", min_size=1, max_size=10)


def plain_match(word: str, headword: str) -> float:
    """As the module says it, without any index."""

    def form(word: str) -> float:
        if word == headword:
            return 1.0
        same = next(
            (k for k, (a, b) in enumerate(zip(word, headword, strict=False)) if a != b), min(len(word), len(headword))
        )
        inflected = same >= BEGINNING and max(len(word), len(headword)) - same <= ENDING
        return INFLECTED if inflected else 0.0

    if match := form(word):
        return match
    if len(headword) >= COMPOUNDED and word.startswith(headword) and len(word) - len(headword) >= 3:
        return COMPOUND
    ends = [form(word[cut:]) for cut in range(3, len(word) - COMPOUNDED + 1)] if len(headword) >= COMPOUNDED else []
    return COMPOUND * next((match for match in ends if match), 0.0)


@settings(deadline=None)
@given(
    st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5)
)
def test_a_matrix_is_the_best_match(entries: list[tuple[str, str]], source: list[str], target: list[str]) -> None:
    matrix = Dictionary(entries).matrix(source, target)
    assert matrix.shape == (len(source), len(target))
    for u, one in enumerate(source):
        for v, other in enumerate(target):
            assert matrix[u, v] == pytest.approx(max(plain_match(one, a) * plain_match(other, b) for a, b in entries))


def test_case_accents_and_phrases() -> None:
    dictionary = Dictionary(
        [("Straße", "calle"), ("Kaufvertrag", "contrato de compraventa"), ("nach und nach", "poco")]
    )
    assert dictionary.matrix(["STRASSEN"], ["Calle"]).tolist() == [[INFLECTED]]
    assert dictionary.matrix(["Kaufvertrag"], ["contrato", "de"]).tolist() == [[0.5, 0.0]]
    assert dictionary.matrix(["und"], ["poco"]).tolist() == [[0.0]]


def test_the_lines_of_a_text() -> None:
    dictionary = Dictionary([("haus", "casa"), ("baum", "árbol")])
    assert dictionary.lines(["das haus und das haus", "der baum"], ["la casa", "la casa"]) == (["haus"], ["casa"])


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("# comment\nHaus\tcasa\n\nBaum\tárbol\t0.5\n")
    assert Dictionary.read(path).entries == [("Baum", "árbol"), ("Haus", "casa")]
    for text, where in (("Haus casa\n", "1"), ("Haus\tcasa\nBaum\t\n", "2"), ("\n", "1")):
        path.write_text(text)
        with pytest.raises(TreeglotError) as caught:
            Dictionary.read(path)
        assert f"{path}:{where}" in str(caught.value)


def test_saved_with_what_is_known_of_words() -> None:
    german, spanish = ["das haus", "ein baum", "das haus"] * 2, ["la casa", "un árbol", "la casa"] * 2
    words = WordKnowledge.train(german, spanish, dictionary=Dictionary([("Häuser", "casas"), ("Tisch", "mesa")]))
    again = WordKnowledge.of_state(words.state())
    for one in (words, again):
        (evidence,) = one.evidence([(["ein", "Tisch"], ["una", "mesa"])])
        assert evidence.dictionary is not None
        assert np.array_equal(evidence.dictionary, [[0, 0], [0, 1]])
    without = WordKnowledge.train(german, spanish).evidence([(["ein"], ["una"])])[0]
    assert without.dictionary is None
