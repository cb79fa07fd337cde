"""Word alignments: variants of notation, real test sets with their counts, random links, damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tree_strategies import HARD_WORD, damaged, links, survives
from treeglot import InputError, TreeError
from treeglot.trees import Link
from treeglot.trees.wordlinks import (
    WordLinks,
    format_pharaoh,
    parse_pharaoh,
    read_giza,
    read_naacl,
    read_pharaoh,
    write_giza,
    write_naacl,
    write_pharaoh,
)

GIZA = """# Sentence pair (1) source length 3 target length 4 alignment score : 1.5e-05
I do not know
NULL ({ 2 }) je ({ 1 }) ne ({ }) sais ({ 3 4 })
# Sentence pair (2) source length 1 target length 1
ok
NULL ({ }) bon ({ 1 })
"""


def test_pharaoh_variants() -> None:
    fuzzy = (Link(0, 1, "fuzzy"),)
    for text in ("0-1-P", "0-1P", "0p1", "0?1", "0-1-p"):
        assert parse_pharaoh(text) == fuzzy
    assert parse_pharaoh("2-1S \t 0-0-S") == (Link(0, 0), Link(2, 1))
    assert parse_pharaoh("1-2:0.25", one_based=True, reverse=True) == (Link(1, 0, "good", 0.25),)
    assert parse_pharaoh("") == ()
    assert format_pharaoh([Link(2, 1), Link(0, 3, "fuzzy", 0.5)], possible="P", scores=True) == "0-3P:0.5 2-1"
    with pytest.raises(TreeError, match="mark"):
        format_pharaoh([], possible="?")


def test_lengths_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "a.align"
    path.write_bytes(b"\xef\xbb\xbf0-0 1-1\r\n\r\n")
    assert list(read_pharaoh(path, lengths=[(2, 2), (1, 1)])) == [WordLinks((Link(0, 0), Link(1, 1))), WordLinks(())]
    for lengths, says in (([(2, 2)], "more lines"), ([(2, 2), (1, 1), (1, 1)], "only 2 lines"), ([(2, 1)], "outside")):
        with pytest.raises(InputError, match=says):
            list(read_pharaoh(path, lengths=lengths))


def test_giza(tmp_path: Path) -> None:
    path = tmp_path / "a.A3"
    path.write_text(GIZA)
    first, second = read_giza(path)
    assert first == WordLinks(
        (Link(0, 0), Link(2, 2), Link(2, 3)),
        (Link(-1, 1),),
        ("je", "ne", "sais"),
        ("I", "do", "not", "know"),
        "1",
        1.5e-05,
    )
    assert second.score is None and second.id == "2"
    write_giza([first, second], tmp_path / "b.A3")
    assert list(read_giza(tmp_path / "b.A3")) == [first, second]


def test_giza_cannot_hold_everything(tmp_path: Path) -> None:
    for pair, says in (
        (WordLinks((Link(0, 0),)), "no words"),
        (WordLinks((Link(1, 0),), (), ("a",), ("b",)), "outside"),
        (WordLinks((), (), ("a b",), ("b",)), "white space"),
    ):
        with pytest.raises(TreeError, match=says):
            write_giza([pair], tmp_path / "a.A3")
    assert list(tmp_path.iterdir()) == []


def test_naacl(tmp_path: Path) -> None:
    path = tmp_path / "a.wa"
    path.write_text("0002 1 1 S\n0001 2 1 P 0.5\n0002 0 2 P\n0002 1 1 S\n0001 1 3\n")
    first, second = read_naacl(path)
    assert first == WordLinks((Link(0, 0),), (Link(-1, 1, "fuzzy"),), id="0002")
    assert second.links == (Link(0, 2), Link(1, 0, "fuzzy", 0.5))
    write_naacl([first, second], tmp_path / "b.wa")
    assert list(read_naacl(tmp_path / "b.wa")) == [first, second]
    assert next(read_naacl(path, reverse=True)).nulls == (Link(1, -1, "fuzzy"),)


def test_hansards(data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = data("words/hansards-en-fr")
    pairs = list(read_naacl(folder / "test.wa.nonullalign"))
    kinds = [link.kind for pair in pairs for link in pair.links]
    assert len(pairs) == 447 and kinds.count("good") == 4_038 and kinds.count("fuzzy") == 13_400
    sides = [
        [line.split()[2:-1] for line in (folder / f"test.{side}").read_text("utf-8").splitlines()] for side in "ef"
    ]
    write_pharaoh(pairs, tmp_path / "a.align")
    sizes = [(len(e), len(f)) for e, f in zip(*sides, strict=True)]
    assert [pair.links for pair in read_pharaoh(tmp_path / "a.align", lengths=sizes)] == [pair.links for pair in pairs]
    for name in ("nullalign", "train", "test", "nonullalign"):
        pairs = list(read_naacl(folder / f"test.wa.{name}"))
        write_naacl(pairs, tmp_path / "a.wa")
        assert list(read_naacl(tmp_path / "a.wa")) == pairs
    assert sum(len(pair.nulls) for pair in read_naacl(folder / "test.wa.nullalign")) == 662  # 663 with one repeated


def test_nist(data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = data("words/nist02-zh-en")
    sides = [
        [len(line.split()) for line in (folder / f"train.{side}").read_text("utf-8").splitlines()]
        for side in ("zh", "en")
    ]
    pairs = list(read_pharaoh(folder / "train.align", lengths=zip(*sides, strict=True)))
    kinds = [link.kind for pair in pairs for link in pair.links]
    assert (len(pairs), kinds.count("good"), kinds.count("fuzzy")) == (150, 3_668, 989)
    write_pharaoh(pairs, tmp_path / "a.align.gz")
    assert list(read_pharaoh(tmp_path / "a.align.gz")) == pairs


@st.composite
def word_links(draw: st.DrawFn) -> WordLinks:
    source, target = (
        draw(st.lists(HARD_WORD, min_size=1, max_size=5)),
        draw(st.lists(HARD_WORD, min_size=1, max_size=5)),
    )
    drawn = sorted(draw(links(range(len(source)), range(len(target)))))
    return WordLinks(
        tuple(drawn), (), tuple(source), tuple(target), str(draw(st.integers(0, 9))), draw(st.floats(0, 1))
    )


@given(pairs=st.lists(word_links(), max_size=3))
def test_random_links_round_trip(tmp_path_factory: pytest.TempPathFactory, pairs: list[WordLinks]) -> None:
    path = tmp_path_factory.mktemp("x") / "a"
    write_pharaoh(pairs, path, scores=True)
    assert [pair.links for pair in read_pharaoh(path)] == [pair.links for pair in pairs]
    plain = [pair._replace(links=tuple(Link(*link[:2]) for link in pair.links)) for pair in pairs]
    write_giza(plain, path)
    for again, pair in zip(read_giza(path), plain, strict=True):
        assert again._replace(nulls=()) == pair
        assert {link.target for link in again.nulls} == set(range(len(pair.target or ()))) - {
            link.target for link in pair.links
        }
    named = [
        pair._replace(id=f"p{k}", source=None, target=None, score=None) for k, pair in enumerate(pairs) if pair.links
    ]
    write_naacl(named, path)
    assert list(read_naacl(path)) == named


@given(
    content=st.one_of(
        damaged(GIZA.encode()),
        damaged(b"0-0 1-2-P 3-4:0.5\n\n"),
        damaged(b"1 1 1 S\n1 2 0 P 0.5\n"),
        st.binary(max_size=20),
    )
)
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "a"
    for read in (read_pharaoh, read_giza, read_naacl):
        survives(read, path, content)
