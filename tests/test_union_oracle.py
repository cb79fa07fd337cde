"""Systems of several grammars against exhaustive search: the union's derivations are exactly what its grammars allow, in any order of them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from exhaustive_decoder import HEADED, Exhaustive, World, random_sentence
from treeglot.search import Translation, walk
from treeglot.trees import ParsedSentence
from treeglot.trees.corpus import parsed_corpus

GRAMMARS = ("augmented", "cons2str", "consdep2str", "dep2str", "hierarchical")
SYSTEMS = [system for size in (1, 2, 3, 5) for system in itertools.combinations(GRAMMARS, size)]
OPTIONS: list[dict[str, bool]] = [
    {},
    {"partial_rules": True},
    {"free_phrases": True},
    {"phrasal_recursion": True},
    {"pseudo_always": True},
    {"partial_rules": True, "free_phrases": True, "phrasal_recursion": True},
]
Case = tuple[World, list[ParsedSentence]]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Worlds of all grammars with a few sentences, seen and new ones."""
    result = []
    for seed in range(4):
        folder: Path = tmp_path_factory.mktemp(f"world{seed}")
        world = World(seed, folder, *GRAMMARS, size=7)
        fresh = [random_sentence(world.rng, size) for size in (1, 2, 3, 4)]
        result.append((world, [*fresh, min(world.sentences, key=len)]))
    return result


def kbest(
    world: World, sentences: list[ParsedSentence], system: tuple[str, ...], options: dict[str, bool], **request: object
) -> list[list[Translation]]:
    decoder = world.decoder(*system, grammars={"label_sets": 10000, **options})
    results = decoder.translate(parsed_corpus(sentences), threads=1, **request)  # type: ignore[arg-type]
    return [result.kbest for result in results]


def named(options: dict[str, bool]) -> str:
    return "+".join(options) or "plain"


@pytest.mark.parametrize("system", SYSTEMS, ids="+".join)
def test_union_equals_exhaustive_search(system: tuple[str, ...], cases: list[Case]) -> None:
    """The list of distinct translations is that of all derivations."""
    for number, options in enumerate(OPTIONS):
        for world, sentences in cases[number % 2 :: 2]:
            lists = kbest(world, sentences, system, options, nbest=50, distinct=True, derivations=False)
            for sentence, translations in zip(sentences, lists, strict=True):
                totals = Exhaustive(world, sentence, system, options).totals()
                ranked = sorted(totals.values(), reverse=True)[:50]
                assert [one.score for one in translations] == pytest.approx(ranked, abs=2e-3), (sentence, options)
                for one in translations:
                    assert totals[tuple(one.text.split())] == pytest.approx(one.score, abs=2e-3), (sentence, options)


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_every_derivation_is_there_once(options: dict[str, bool], cases: list[Case]) -> None:
    """Without "distinct" the list has the scores of all derivations: no edge is missing, none is there twice."""
    compared = 0
    for system in SYSTEMS:
        for world, sentences in cases:
            for sentence in sentences:
                exhaustive = Exhaustive(world, sentence, system, options)
                if exhaustive.count() > 1500:
                    continue
                derivations = [
                    (words, score + exhaustive.model_score(words)) for words, score in exhaustive.derivations()
                ]
                (translations,) = kbest(world, [sentence], system, options, nbest=2000, derivations=False)
                expected = sorted((score for _, score in derivations), reverse=True)
                assert [one.score for one in translations] == pytest.approx(expected, abs=2e-3), (system, sentence)
                compared += 1
    assert compared > 150


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_order_of_grammars_does_not_matter(options: dict[str, bool], cases: list[Case]) -> None:
    """Also in the core, where tables come in the order that was asked for: the same derivations, to the last bit."""
    world, sentences = cases[OPTIONS.index(options) % len(cases)]
    corpus = parsed_corpus(sentences)
    for system in SYSTEMS:
        shown: list[object] = []
        orders = list(itertools.permutations(system))
        for order in orders if len(orders) <= 6 else orders[::17]:
            results = world.ordered_decoder(order, options).translate(corpus, nbest=20, distinct=True, threads=1)
            shown.append(
                [[(one.text, one.score, one.features, one.derivation) for one in result.kbest] for result in results]
            )
        assert all(other == shown[0] for other in shown), system


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_a_union_has_what_its_parts_have(options: dict[str, bool], cases: list[Case]) -> None:
    """Every translation of a part is one of the union, with at least its score (unless another part knows a word that it copies)."""
    compared = 0
    for system in SYSTEMS:
        for world, sentences in cases[:2]:
            short = [sentence for sentence in sentences if len(sentence) <= 3]
            unions = kbest(world, short, system, options, nbest=20000, distinct=True, derivations=False)
            for part in system if len(system) > 1 else ():
                lists = kbest(world, short, (part,), options, nbest=500, distinct=True, derivations=False)
                for union, translations in zip(unions, lists, strict=True):
                    scores = {one.text: one.score for one in union}
                    for one in translations:
                        if one.features["copied"] == 0:
                            assert scores[one.text] >= one.score - 2e-3, (system, part, one.text)
                            compared += 1
    assert compared > 1000


def test_options_show(cases: list[Case]) -> None:
    """The sentences are such that every option and every grammar of a union is of use somewhere."""
    for options in OPTIONS[1:]:
        different = 0
        for world, sentences in cases:
            for system in SYSTEMS:
                if any(grammar in HEADED for grammar in system):
                    plain = kbest(world, sentences, system, {}, nbest=20, distinct=True, derivations=False)
                    other = kbest(world, sentences, system, options, nbest=20, distinct=True, derivations=False)
                    different += [[one.score for one in k] for k in plain] != [[one.score for one in k] for k in other]
        assert different > 3, options
    used = set()
    for world, sentences in cases:
        for translations in kbest(world, sentences, GRAMMARS, {}, nbest=20, distinct=True):
            used |= {use.grammar for one in translations for use in walk(one.derivation)}
    assert {*GRAMMARS, "phrases"} <= used
