"""Phrase pairs: the definition of consistency by brute force, orientations by theirs, and Moses' extract."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import TreeglotError
from treeglot.grammars.phrases import PhrasePair, extract, extract_words
from treeglot.trees import AlignedPair, ParsedSentence, Tokens
from treeglot.trees.sentence import Link

Links = set[tuple[int, int]]


@st.composite
def alignments(draw: st.DrawFn) -> tuple[int, int, Links]:
    source, target = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    cells = [(j, i) for j in range(source) for i in range(target)]
    links = draw(st.sets(st.sampled_from(cells), max_size=9)) if cells else set()
    return source, target, links


def consistent(links: Links, span: tuple[int, int], other: tuple[int, int]) -> bool:
    inside = [(span[0] <= j < span[1], other[0] <= i < other[1]) for j, i in links]
    return any(a and b for a, b in inside) and all(a == b for a, b in inside)


def orientation(links: Links, size: tuple[int, int], pair: PhrasePair, after: bool) -> str:
    """Monotone if the corner on the same side is aligned, swap if the opposite one is; never both."""
    points = links | {(-1, -1), size}  # sentence starts and ends are aligned
    (begin, end), (low, high) = pair.source_span, pair.target_span
    row = high if after else low - 1
    same, opposite = (end, begin - 1) if after else (begin - 1, end)
    if ((same, row) in points) == ((opposite, row) in points):
        return "discontinuous"
    return "monotone" if (same, row) in points else "swap"


@settings(max_examples=tries(300), deadline=None)
@given(alignments(), st.integers(1, 8))
def test_exactly_the_consistent_pairs_with_their_orientations(case: tuple[int, int, Links], longest: int) -> None:
    source, target, links = case
    extracted = extract_words(
        [f"f{j}" for j in range(source)], [f"e{i}" for i in range(target)], links, max_length=longest
    )
    spans = [
        ((begin, end), (low, high))
        for begin in range(source)
        for end in range(begin + 1, min(source, begin + longest) + 1)
        for low in range(target)
        for high in range(low + 1, min(target, low + longest) + 1)
        if consistent(links, (begin, end), (low, high))
    ]
    assert [(pair.source_span, pair.target_span) for pair in extracted] == spans
    for pair in extracted:
        assert pair.source == tuple(f"f{j}" for j in range(*pair.source_span))
        assert pair.target == tuple(f"e{i}" for i in range(*pair.target_span))
        back = {(j + pair.source_span[0], i + pair.target_span[0]) for j, i in pair.links}
        assert back == {(j, i) for j, i in links if pair.source_span[0] <= j < pair.source_span[1]}
        assert pair.before == orientation(links, (source, target), pair, after=False)
        assert pair.after == orientation(links, (source, target), pair, after=True)


def test_worked_example() -> None:
    source = ParsedSentence(Tokens(["英特尔", "将", "推出", "亚洲", "首", "款", "超极", "本"]))
    target = ParsedSentence(Tokens(["Intel", "will", "launch", "the", "first", "Ultrabook", "in", "Asia"]))
    links = [(1, 1), (2, 2), (3, 3), (4, 7), (4, 8), (5, 4), (5, 5), (7, 6), (8, 6)]
    pair = AlignedPair(source, target, [Link(j - 1, i - 1) for j, i in links])
    phrases = {(" ".join(p.source), " ".join(p.target)): p for p in extract(pair)}
    assert ("首 款 超极 本", "the first Ultrabook") in phrases
    assert ("首", "the first") in phrases and ("首 款", "the first") in phrases  # 款 is unaligned
    assert ("超极", "Ultrabook") not in phrases
    assert phrases[("亚洲", "in Asia")].before == "discontinuous"
    assert phrases[("首 款 超极 本", "the first Ultrabook")].after == "swap"
    assert all(len(p.source) <= 7 and len(p.target) <= 7 for p in phrases.values())
    assert max(len(p.source) for p in extract(pair, max_length=8)) == 8


@pytest.mark.parametrize("length", [0, -1, 256])
def test_impossible_lengths_are_refused(length: int) -> None:
    with pytest.raises(TreeglotError, match="phrases of at most"):
        extract_words(["a"], ["b"], [(0, 0)], max_length=length)


@pytest.mark.parametrize("link", [(1, 0), (0, 1), (-1, 0), (70000, 0)])
def test_links_outside_the_sentences_are_refused(link: tuple[int, int]) -> None:
    with pytest.raises(TreeglotError, match="outside the sentences"):
        extract_words(["a"], ["b"], [(0, 0), link])


def test_long_sentences_take_little() -> None:
    words = [str(n) for n in range(10_000)]
    pairs = extract_words(words, words, [(0, 0), (9_999, 9_999)])
    assert len(pairs) == 2 * 7 * 7


def test_every_occurrence_equals_moses(data: Callable[[str], Path]) -> None:
    folder = data("reference/moses-str")
    ours: Counter[str] = Counter()
    texts = [(folder / name).read_text(encoding="utf-8").splitlines() for name in ("corpus.de", "corpus.en")]
    aligned = (folder / "align.grow-diag-final-and").read_text(encoding="utf-8").splitlines()
    for source, target, line in zip(*texts, aligned, strict=True):
        links = [(int(j), int(i)) for j, i in (link.split("-") for link in line.split())]
        for pair in extract_words(source.split(), target.split(), links):
            inside = " ".join(f"{j}-{i}" for j, i in sorted(pair.links, key=lambda link: (link[1], link[0])))
            ours[f"{' '.join(pair.source)} ||| {' '.join(pair.target)} ||| {inside}"] += 1
    with gzip.open(folder / "extract.sorted.gz", "rt", encoding="utf-8") as file:
        theirs = Counter(line.rstrip("\n").rstrip(" ") for line in file)
    assert ours == theirs
