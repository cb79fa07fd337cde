"""treeglot's JSON lines: nothing is lost, and every wrong field is named."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tree_strategies import damaged, pairs, sentences, survives
from treeglot import InputError, TreeglotError
from treeglot.trees import AlignedPair, ConstituencyTree, Link, ParsedSentence, Tokens
from treeglot.trees.penn import read_penn
from treeglot.trees.treejson import format_json, parse_json, read_jsonl, write_jsonl


def notes(item: ParsedSentence | AlignedPair) -> object:
    return item.notes if isinstance(item, ParsedSentence) else (item.source.notes, item.target.notes)


@given(items=st.lists(st.one_of(sentences(), pairs(sentences())), max_size=3))
def test_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory, items: list[ParsedSentence | AlignedPair]) -> None:
    path = tmp_path_factory.mktemp("x") / "a.jsonl.gz"
    write_jsonl(items, path)
    again = list(read_jsonl(path))
    assert again == items
    assert [notes(item) for item in again] == [notes(item) for item in items]  # notes do not count in ==
    assert [format_json(item) for item in again] == [format_json(item) for item in items]


def test_empty_sentence_odd_text_and_blank_lines(tmp_path: Path) -> None:
    odd = ParsedSentence(Tokens(["\ud800", "\u2028", "a\tb"]), id='"')
    path = tmp_path / "a.jsonl"
    write_jsonl([odd, ParsedSentence(Tokens(()))], path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert list(read_jsonl(path)) == [odd, ParsedSentence(Tokens(()))]


def test_scores_must_be_numbers() -> None:
    sentence = ParsedSentence(Tokens(["a"]))
    with pytest.raises(TreeglotError, match="score"):
        format_json(AlignedPair(sentence, sentence, [Link(0, 0, "good", float("nan"))]))
    for score in ("NaN", "1e999", "1" * 400):
        with pytest.raises(InputError):
            parse_json(
                f'{{"source": {{"forms": ["a"]}}, "target": {{"forms": ["a"]}}, "word_links": [[0, 0, "good", {score}]]}}'
            )


def test_deep_nesting() -> None:
    with pytest.raises(InputError):
        parse_json("[" * 100_000)
    tree = ConstituencyTree(["a"], ["S"] * 20_000, [[n + 1] for n in range(19_999)] + [[~0]])
    sentence = ParsedSentence(tree.tokens, constituency=tree)
    assert parse_json(format_json(sentence)) == sentence


def test_real_trees(data: Callable[[str], Path], tmp_path: Path) -> None:
    trees = list(islice(read_penn(data("trees/sequoia-fr/sequoia-corpus+fct.mrg_strict")), 500))
    write_jsonl(trees, tmp_path / "a.jsonl.zst")
    assert list(read_jsonl(tmp_path / "a.jsonl.zst")) == trees


SAMPLE = (
    b'{"id": "p", "source": {"forms": ["a", "b"], "lemmas": ["c", "d"], "dependency": {"heads": [1, -1]}, "ranges": [[0, 2, ["x"]]]},'
    b' "target": {"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "secondary": [[0, -1, "SB"]]}},'
    b' "word_links": [[0, 0, "fuzzy", 0.5]], "node_links": [[-1, 0]]}'
)


@given(content=st.one_of(damaged(SAMPLE), st.text(alphabet='{}[]",:0 -1ef', max_size=20).map(str.encode)))
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    survives(read_jsonl, tmp_path_factory.mktemp("x") / "a.jsonl", content)


@given(
    value=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(0, 1), st.sampled_from(["a", "good"])),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["forms", "heads", "x"]), inner)),
        max_leaves=6,
    ),
    path=st.sampled_from(["id", "source", "target", "word_links", "node_links", "forms", "lemmas", "dependency", "heads",
                          "ranges", "constituency", "labels", "children", "secondary", "notes", "ids", "tokens"]),
)  # fmt: skip
def test_wrong_values_are_refused_or_read(value: object, path: str) -> None:
    import json

    record = json.loads(SAMPLE)
    for place in (
        record,
        record["source"],
        record["target"],
        record["source"]["dependency"],
        record["target"]["constituency"],
    ):
        kept = dict(place)
        place[path] = value
        try:
            parse_json(json.dumps(record))
        except TreeglotError as error:
            assert "field" in error.message and error.remedy
        place.clear()
        place.update(kept)
