"""Cleaning, splitting and counting against plain re-statements of what they promise."""

from __future__ import annotations

import json
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import ConfigError, TreeglotError
from treeglot.bitext import CleaningOptions, TextPair, clean, count_bitext, counted_words, plan_split, split

words = st.sampled_from(
    ["a", "b1", "2", "maison", "房子", "。", "é", "e\u0301", "x" * 12, " ", "\t", "\u200b", "\ufffd", ""]
)
texts = st.lists(words, max_size=6).map(" ".join)
pairs_strategy = st.lists(st.builds(TextPair, texts, texts), max_size=12)
options_strategy = st.builds(
    CleaningOptions,
    min_length=st.integers(0, 2),
    max_length=st.integers(2, 6),
    max_ratio=st.sampled_from([0.0, 1.0, 1.5, 3.0]),
    max_word=st.sampled_from([0, 6, 50]),
    unit=st.sampled_from(["word", "token", "character"]),
    duplicates=st.sampled_from(["pair", "source", "keep"]),
    control=st.sampled_from(["drop", "strip", "keep"]),
    drop_identical=st.booleans(),
    match_digits=st.booleans(),
    normalization=st.sampled_from(["NFC", "NFKC", "none"]),
    whitespace=st.booleans(),
)


def reason_of(pair: TextPair, options: CleaningOptions, before: list[TextPair]) -> str | None:
    """The same decisions, written the long way and without digests."""

    def words_of(text: str) -> list[str]:
        if options.unit == "token":
            return text.split()
        spaced = "".join(f" {c} " if "\u4e00" <= c <= "\u9fff" or c == "。" else c for c in text)
        return spaced.split()

    sides = pair.source, pair.target
    lengths = [len(text) if options.unit == "character" else len(words_of(text)) for text in sides]
    if not all(text.strip() for text in sides):
        return "empty"
    if options.control == "drop" and any("\u200b" in text for text in sides):
        return "control"
    if options.control != "keep" and any("\ufffd" in text for text in sides):
        return "control"
    if min(lengths) < options.min_length:
        return "short"
    if max(lengths) > options.max_length:
        return "long"
    if options.max_ratio and max(lengths) > options.max_ratio * min(lengths):
        return "ratio"
    if options.max_word and any(len(word) > options.max_word for text in sides for word in words_of(text)):
        return "word"
    if options.drop_identical and pair.source == pair.target:
        return "identical"
    digits = [sorted(c for c in text if c.isdigit()) for text in sides]
    if options.match_digits and digits[0] != digits[1]:
        return "digits"
    if options.duplicates == "pair" and pair in before:
        return "duplicate"
    if options.duplicates == "source" and pair.source in [other.source for other in before]:
        return "duplicate"
    return None


@settings(deadline=None)
@given(pairs_strategy, options_strategy)
def test_clean_agrees_with_the_long_way(pairs: list[TextPair], options: CleaningOptions) -> None:
    expected: list[TextPair] = []
    reasons: list[str] = []
    for pair in pairs:
        sides = []
        for text in (pair.source, pair.target):
            text = text if options.normalization == "none" else unicodedata.normalize(options.normalization, text)
            text = text.replace("\u200b", "") if options.control == "strip" else text
            sides.append(" ".join(text.split()) if options.whitespace else text)
        candidate = TextPair(*sides)
        reason = reason_of(candidate, options, expected)
        if reason is None:
            expected.append(candidate)
        else:
            reasons.append(reason)
    kept, report = clean(pairs, options)
    assert list(kept) == expected
    assert {reason: n for reason, n in report.dropped.items() if n} == {r: reasons.count(r) for r in set(reasons)}
    assert report.total == len(pairs) == report.kept + sum(report.dropped.values())


def test_each_reason_by_hand(tmp_path: Path) -> None:
    cases = {
        "empty": TextPair("a", " \t", line=10),
        "control": TextPair("a \ufffd", "b", line=20),
        "short": TextPair("one", "two words", line=30),
        "long": TextPair("one two three four five six", "one two", line=40),
        "ratio": TextPair("one two three four five", "one two", line=50),
        "word": TextPair("a " + "w" * 21, "b b", line=60),
        "identical": TextPair("same same", "same same", line=70),
        "digits": TextPair("in 1984", "en 1948 ou 9", line=80),
        "duplicate": TextPair("good  pair", "bonne paire", line=90),
    }
    good = [
        TextPair("good pair", "bonne paire"),
        TextPair("1,000 in 1984", "en 1984, 1 000"),
        TextPair("二〇 ３", "x 3"),
    ]
    options = CleaningOptions(
        min_length=2, max_length=5, max_ratio=2, max_word=20, drop_identical=True, match_digits=True, examples=1
    )
    kept, report = clean([*good, *cases.values(), *cases.values()], options)
    assert list(kept) == good
    assert report.dropped == dict.fromkeys(cases, 2)
    assert {reason: pairs[0].line for reason, pairs in report.examples.items()} == {
        reason: pair.line for reason, pair in cases.items()
    }
    assert report.as_dict()["examples"]["digits"] == [{"line": 80, "source": "in 1984", "target": "en 1948 ou 9"}]
    assert "line 80: in 1984 ||| en 1948 ou 9" in report.as_text()
    report.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == report.as_dict()
    report.save(tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text(encoding="utf-8") == report.as_text()


def test_joiners_of_persian_and_hindi_stay() -> None:
    pair = TextPair("می‌خواهم", "क्‍ष")
    assert list(clean([pair])[0]) == [pair]
    assert list(clean([TextPair("a\u00adb\u200e", "x\x07")])[0]) == [TextPair("ab", "x")]


@pytest.mark.parametrize("wrong", [{"max_length": 0}, {"max_ratio": 0.5}, {"min_length": 9, "max_length": 8}])
def test_impossible_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="impossible limits"):
        CleaningOptions(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="choose from"):
        CleaningOptions(duplicates="all")  # type: ignore[arg-type]


def test_counted_words() -> None:
    assert len(counted_words("")) == 0
    assert len(counted_words("l'été  est\u00a0là\t!")) == 3
    assert len(counted_words("我愛treeglot，真的。")) == 7
    assert len(counted_words("カタカナ")) == 4
    assert len(counted_words("한국어 문장")) == 2


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 99)), min_size=1, max_size=40),
    st.integers(0, 6),
    st.integers(0, 6),
    st.integers(),
)
def test_split_keeps_sources_apart(items: list[tuple[int, int]], dev: int, test: int, seed: int) -> None:
    pairs = [TextPair(f"Source {s}", f"t{t}") for s, t in items]
    try:
        parts = split(pairs, dev=dev, test=test, seed=seed)
    except TreeglotError as error:
        assert "leave nothing" in str(error) or "no source occurs at most" in str(error)
        return
    assert sorted(map(repr, [*parts.train, *parts.dev, *parts.test])) == sorted(map(repr, pairs))
    sources = [{pair.source for pair in part} for part in parts]
    assert not sources[0] & sources[1] and not sources[0] & sources[2] and not sources[1] & sources[2]
    assert len(parts.dev) <= dev and len(parts.test) <= test
    shuffled = list(pairs)
    random.Random(1).shuffle(shuffled)
    again = split(shuffled, dev=dev, test=test, seed=seed)
    assert {pair.source for pair in again.test} == sources[2]


def test_split_is_exact_stable_and_blind_to_case() -> None:
    pairs = [TextPair(f"s {n}", f"t {n % 50}") for n in range(1000)]
    parts = split(pairs, dev=100, test=0.05, seed=7)
    assert [len(part) for part in parts] == [850, 100, 50]
    assert [pair.source for pair in parts.test[:5]] == ["s 22", "s 52", "s 81", "s 140", "s 148"]
    assert split(pairs, dev=100, test=0.05, seed=8).test != parts.test
    plan = plan_split([*pairs, TextPair("S  22", "x")], dev=100, test=50, seed=7)
    assert plan.part(TextPair("S 22 ", "new")) == plan.part(TextPair("s 22", "old"))
    by_target = split(pairs, dev=100, test=100, by="target")
    assert not {pair.target for pair in by_target.train} & {pair.target for pair in by_target.test}


@pytest.mark.parametrize("sizes", [{"dev": -1}, {"test": 2.5}, {"dev": 5, "test": 5}, {"by": "both"}])
def test_impossible_splits(sizes: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        split([TextPair(str(n), "x") for n in range(10)], **sizes)  # type: ignore[arg-type]


def test_count_bitext() -> None:
    stats = count_bitext([TextPair("a b a", "x"), TextPair("a b a", "x"), TextPair("a b a", "我们"), TextPair("", "")])
    assert (stats.pairs, stats.distinct, stats.distinct_sources, stats.empty, stats.identical) == (4, 3, 2, 1, 1)
    assert (stats.source.words, stats.source.types, stats.source.longest) == (9, 2, 3)
    assert (stats.target.words, stats.target.characters) == (4, 4)
    assert "different pairs" in stats.as_text() and stats.as_dict()["target"]["types"] == 3
