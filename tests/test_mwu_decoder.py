"""Translation with multi-word units, alone and with other grammars, against exhaustive search."""

from __future__ import annotations

from pathlib import Path

import pytest

from exhaustive_decoder import Exhaustive
from random_worlds import World, random_sentence
from treeglot.search import Translation, walk
from treeglot.trees import ParsedSentence
from treeglot.trees.corpus import parsed_corpus

GRAMMARS = ("augmented", "cons2str", "consdep2str", "hierarchical", "mwu")
SYSTEMS = [
    ("mwu",),
    ("consdep2str", "mwu"),
    ("hierarchical", "mwu"),
    ("cons2str", "mwu"),
    ("augmented", "mwu"),
    ("consdep2str", "hierarchical", "mwu"),
    GRAMMARS,
]
OPTIONS: list[dict[str, bool | int | str]] = [
    {},
    {"k": 1},
    {"max_words": 1},
    {"max_words": 2, "k": 2, "free_phrases": True},
    {"k": 1000, "siblings": "vertex"},
    {"unaligned_source": True, "siblings": "vertex", "k": 1000},
    {"label": "word", "unaligned_source": True, "max_words": 3},
]
Case = tuple[World, list[ParsedSentence]]


@pytest.fixture(scope="module", params=OPTIONS, ids=lambda options: "+".join(options) or "plain")
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, list[Case]]:  # type: ignore[type-arg]
    options = request.param
    result = []
    for seed in range(3):
        world = World(seed, tmp_path_factory.mktemp(f"world{seed}"), *GRAMMARS, size=8, extraction=options)
        fresh = [random_sentence(world.rng, size) for size in (1, 2, 3, 4, 4)]
        result.append((world, [*fresh, *sorted(world.sentences, key=len)[:2]]))
    return options, result


def kbest(
    world: World, sentence: ParsedSentence, system: tuple[str, ...], options: dict[str, bool | int | str], size: int
) -> list[Translation]:
    decoder = world.decoder(*system, grammars={"label_sets": 10000, **options})
    (result,) = decoder.translate(parsed_corpus([sentence]), threads=1, nbest=size, derivations=False)
    return result.kbest


@pytest.mark.parametrize("system", SYSTEMS, ids="+".join)
def test_every_derivation_is_there_once(system: tuple[str, ...], case: tuple[dict, list[Case]]) -> None:  # type: ignore[type-arg]
    options, worlds = case
    compared = 0
    for world, sentences in worlds:
        for sentence in sentences:
            exhaustive = Exhaustive(world, sentence, system, options)
            if exhaustive.count() > 3000:
                continue
            expected = sorted(
                (score + exhaustive.model_score(words) for words, score in exhaustive.derivations()), reverse=True
            )
            scores = [one.score for one in kbest(world, sentence, system, options, 4000)]
            assert scores == pytest.approx(expected, abs=2e-3), (sentence, options)
            compared += 1
    assert compared > 3


def test_factored_forests_translate_as_all_edges_do(tmp_path: Path) -> None:
    """But for the feature that says how likely an edge is."""
    world = World(2, tmp_path, "mwu", size=8)
    world.weights["mwu.forest"] = 0.0
    for sentence in [random_sentence(world.rng, size) for size in (1, 2, 3, 4, 5)]:
        complete = kbest(world, sentence, ("mwu",), {"k": 100000}, 500)
        factored = kbest(world, sentence, ("mwu",), {"forest": "factored"}, 500)
        assert [one.score for one in factored] == pytest.approx([one.score for one in complete])


def test_units_are_used_and_weighed(tmp_path: Path) -> None:
    """Structural rules carry the probability of their edge, and every sentence has a translation."""
    world = World(3, tmp_path, "mwu", size=30)
    seen = set()
    for sentence in [*world.sentences, *(random_sentence(world.rng, 12) for _ in range(20))]:
        decoder = world.decoder("mwu", stack_limit=20)
        (result,) = decoder.translate(parsed_corpus([sentence]), threads=1)
        assert result.kbest
        best = result.kbest[0]
        for use in walk(best.derivation):
            seen.add(use.grammar)
            if use.grammar == "mwu" and "x1" not in use.source:
                assert "mwu.forest" not in use.features
        assert best.features["mwu.forest"] <= 0
    assert {"mwu", "pseudo", "phrases"} & seen >= {"mwu", "phrases"}


def test_stars_and_chains_have_translations(tmp_path: Path) -> None:
    from treeglot.trees import DependencyTree, Tokens

    world = World(1, tmp_path, "mwu", size=30)
    decoder = world.decoder("mwu", stack_limit=5)
    for size in (1, 2, 100):
        for heads in ([-1] + [0] * (size - 1), [j - 1 for j in range(size)]):
            tokens = Tokens([world.rng.choice("abcz") for _ in range(size)], xpos=["A"] * size)
            sentence = ParsedSentence.of(DependencyTree(tokens, heads))
            (result,) = decoder.translate(parsed_corpus([sentence]), threads=1)
            assert result.kbest[0].text
