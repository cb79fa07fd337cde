"""The promise of `Parser.parse`: one sentence out for each sentence in, in order, whatever the backend does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers_fake import Chain
from treeglot.errors import ParserError
from treeglot.languages import language_code
from treeglot.parsers import BackendUnavailable, available, failure, open_parser
from treeglot.parsers.base import PLACEHOLDER, single_root
from treeglot.trees import DependencyTree, ParsedSentence

words = st.lists(st.sampled_from(["a", "b", "ERROR", "ß", "𝄞"]), max_size=6)
lines = st.lists(st.one_of(words, words.map(" ".join), words.map("\u3000 ".join)), max_size=30)


@given(lines, st.integers(1, 7))
def test_one_in_is_one_out(sentences: list[Sequence[str]], batch_size: int) -> None:
    parsed = list(Chain("en", max_words=5).parse(sentences, batch_size=batch_size))
    assert len(parsed) == len(sentences)
    for given_sentence, sentence in zip(sentences, parsed, strict=True):
        forms = given_sentence.split() if isinstance(given_sentence, str) else list(given_sentence)
        assert list(sentence.tokens.forms) == (forms or [PLACEHOLDER])
        why = failure(sentence)
        if not forms:
            assert why == "empty line"
        elif "ERROR" in forms and not (isinstance(given_sentence, list) and len(forms) > 5):
            assert why == "cannot do this one"
        elif isinstance(given_sentence, list) and len(forms) > 5:
            assert why == f"too long ({len(forms)} words)"
        else:
            assert why == "" and sentence.dependency is not None
            assert sentence.dependency.heads == tuple(range(-1, len(forms) - 1))
        if why:
            assert sentence.comments[-1] == f"# parse = failed: {why}"
            assert sentence.dependency is not None and sentence.constituency is not None


def test_one_bad_sentence_costs_few_calls() -> None:
    """Halving: about 2 log n calls for one bad sentence in n, not n."""
    parser = Chain("en")
    sentences = [["a"]] * 64
    sentences[37] = ["ERROR"]
    parsed = parser.parse_batch(sentences)
    assert [failure(sentence) != "" for sentence in parsed] == [i == 37 for i in range(64)]
    assert len(parser.calls) <= 2 * math.log2(64) + 1


def test_too_many_or_too_few_results_are_noticed() -> None:
    class Loses(Chain):
        def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
            return super().parse_tokens(batch)[: 1 if len(batch) > 1 else None]

    parsed = Loses("en").parse_batch([["a"], ["b"], ["c"]])
    assert [sentence.tokens.forms for sentence in parsed] == [("a",), ("b",), ("c",)]
    assert not any(map(failure, parsed))


def test_a_backend_may_not_change_given_words() -> None:
    class Changes(Chain):
        def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
            return super().parse_tokens([[word.upper() for word in words] for words in batch])

    [sentence] = Changes("en").parse_batch([["a", "b"]])
    assert sentence.tokens.forms == ("a", "b") and "changed the words" in failure(sentence)


def test_an_unavailable_backend_ends_the_run() -> None:
    class Gone(Chain):
        def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
            raise BackendUnavailable("no server", remedy="start it")

    with pytest.raises(BackendUnavailable):
        Gone("en").parse_batch([["a"], ["b"]])


def test_control_characters_do_not_break_lines() -> None:
    [sentence] = Chain("en").parse_batch(["a\u2028b\x0bc\r\n"])
    assert sentence.tokens.forms == ("a", "b", "c") and sentence.comments == ("# text = a b c",)


@pytest.mark.parametrize("bad", [["a", ""], ["a", " "], ["a\nb"]])
def test_impossible_words_are_refused(bad: list[str]) -> None:
    with pytest.raises(ParserError, match="word"):
        Chain("en").parse_batch([bad])


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=6))
def test_single_root_gives_one_root(heads: list[int]) -> None:
    size = len(heads)
    given_heads = [None if head >= size or head == j else head for j, head in enumerate(heads)]
    if -1 not in given_heads:
        with pytest.raises(ParserError):
            single_root(given_heads, ["x"] * size)
        return
    fixed, labels, attached = single_root(given_heads, ["x"] * size)
    assert fixed.count(-1) == 1 and labels[fixed.index(-1)] == "root"
    assert attached == sum(a != b for a, b in zip(given_heads, fixed, strict=True))


def test_deep_and_long_sentences() -> None:
    parser = Chain("en", max_words=20_000)
    [sentence] = parser.parse_batch([["w"] * 10_000])
    assert not failure(sentence) and isinstance(sentence.dependency, DependencyTree)


def test_unknown_names_explain_themselves() -> None:
    with pytest.raises(ParserError) as caught:
        open_parser("spaczy", "fr")
    assert "udpipe" in caught.value.remedy
    with pytest.raises(ParserError) as caught:
        open_parser("parsers_fake:chain", "fr", slep=1)
    assert "sleep" in caught.value.remedy
    with pytest.raises(ParserError, match="cannot open"):
        open_parser("no_such_module:parser", "fr")
    with pytest.raises(ParserError, match="no language"):
        open_parser("udpipe")


@pytest.mark.parametrize(
    ("name", "code"), [("Chinese", "zh"), ("zh-hans", "zh"), ("FRA", "fr"), ("de_AT", "de"), ("qaa-x-own", "qaa-x-own")]
)
def test_language_names(name: str, code: str) -> None:
    assert language_code(name) == code


def test_every_backend_says_what_it_has_or_how_to_get_it() -> None:
    infos = available()
    assert {info.name for info in infos} == {"stanza", "corenlp", "benepar", "spacy", "udpipe", "files"}
    for info in infos:
        assert info.installed or info.how
        for model in info.models:
            assert model.trees and (model.installed or model.how)
    assert all(model.lang == "zh" for info in available("Chinese") for model in info.models)
