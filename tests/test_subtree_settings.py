"""Every setting of the training of sub-tree aligners does something, and values that make no sense are refused at their limits."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from subtree_corpus import corpus
from treeglot import TreeglotError
from treeglot.alignment.subtrees.training import Settings, learn_words, train_aligner
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.trees.sentence import AlignedPair, Link

pytest.importorskip("sklearn")

SMALL: dict[str, Any] = {
    "terms": ("plain", "dBTK-SST"),
    "first_terms": ("plain",),
    "features": "paper",
    "passes": 1,
    "tune": False,
    "trees": False,
    "landmarks": 30,
    "threads": 1,
}
TWO = {"passes": 2}
EFFECTS: dict[str, tuple[dict[str, Any], Any]] = {
    # the setting: what else has to be set, and a value that gives another model
    "terms": ({}, ("plain",)),
    "first_terms": (TWO, ("dBTK-Root",)),
    "features": ({}, "extended"),
    "passes": ({}, 2),
    "trees": (TWO, True),
    "folds": (TWO, 2),
    "share": ({}, 0.2),
    "negatives": ({}, 1.0),
    "second_negatives": (TWO, 0.5),
    "keep": (TWO, 0.2),
    "max_candidates": ({}, 60),
    "tune": ({"terms": ("plain",)}, True),
    "rounds": ({"terms": ("plain",), "tune": True}, 0),
    "exact": ({}, False),
    "landmarks": ({"exact": False}, 3),
    "decay": ({}, 0.1),
    "best": ({}, True),
    "given_links": ({}, True),
    "learn_links": ({}, True),
    "fuzzy_is_good": ({}, True),
    "universal": ({}, True),
    "seed": ({}, 2),
}
WITHOUT_EFFECT = {"threads"}


@pytest.fixture(scope="module")
def pairs() -> list[AlignedPair]:
    """Links that are hard to learn, some of them not certain, so that there are bounds to choose and weights to tune."""
    choose = random.Random(5)
    marked = []
    for pair in corpus(30, seed=5):
        links = [Link(choose.randrange(1, 4), choose.randrange(1, 4))]
        if choose.random() < 0.5:
            links.append(Link(0, 0, "fuzzy"))
        marked.append(replace(pair, word_links=[Link(0, 0), Link(2, 2)], node_links=links))
    return marked


@pytest.fixture(scope="module")
def words(pairs: list[AlignedPair]) -> WordKnowledge:
    return learn_words(pairs)


def trained(pairs: list[AlignedPair], words: WordKnowledge, folder: Path, **settings: Any) -> bytes:
    """The file of a model, without what it says of how it was made."""
    model = train_aligner(pairs[:20], pairs[20:], words=words, **(SMALL | settings))
    replace(model, info={}).save(folder / "model")
    return (folder / "model").read_bytes()


def test_every_setting_is_tried() -> None:
    assert {field.name for field in fields(Settings)} == set(EFFECTS) | WITHOUT_EFFECT


@pytest.mark.parametrize("name", EFFECTS)
def test_settings_have_an_effect(name: str, pairs: list[AlignedPair], words: WordKnowledge, tmp_path: Path) -> None:
    others, value = EFFECTS[name]
    usual = trained(pairs, words, tmp_path, **others)
    assert trained(pairs, words, tmp_path, **others) == usual
    assert trained(pairs, words, tmp_path, **others, **{name: value}) != usual
    for settings in {"threads": 2}, {"threads": 0}:
        assert trained(pairs, words, tmp_path, **others, **settings) == usual


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("passes", [0, 3], [1, 2]),
        ("folds", [1, 0, -3], [2]),
        ("share", [-0.01, 0.5, float("nan")], [0.0, 0.499, None]),
        ("negatives", [0.0, -1.0, float("nan")], [0.01, 6.0]),
        ("second_negatives", [0.0, -1.0, float("nan")], [0.01, 6.0]),
        ("keep", [0.0, -0.5, 1.01, float("nan")], [0.01, 1.0]),
        ("max_candidates", [1, 0, -5], [2]),
        ("rounds", [-1], [0, 1]),
        ("decay", [0.0, 1.01, float("nan")], [0.01, 1.0]),
        ("landmarks", [0, -1], [1]),
        ("terms", [("xBTK-Root",), ()], [("plain",)]),
        ("first_terms", [("iBTK-Nothing",), ()], [("plain",)]),
        ("features", ["many"], ["paper", "extended"]),
    ],
)
def test_limits_of_settings(name: str, wrong: list[Any], right: list[Any]) -> None:
    for value in wrong:
        with pytest.raises(TreeglotError) as caught:
            Settings(**{name: value}).check()
        assert caught.value.remedy
    for value in right:
        Settings(**{name: value}).check()
