"""Systems of several grammars against exhaustive search: the union's derivations are exactly what its grammars allow, in any order of them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from effort import worlds
from exhaustive_decoder import HEADED, Exhaustive
from random_worlds import World, random_sentence
from treeglot.search import Translation, start_weights, walk
from treeglot.trees import ParsedSentence
from treeglot.trees.corpus import parsed_corpus
from treeglot.trees.phrasal import phrasal_nodes

GRAMMARS = ("augmented", "cons2str", "consdep2str", "dep2str", "hierarchical")
SYSTEMS = [system for size in (1, 2, 3, 5) for system in itertools.combinations(GRAMMARS, size)]
OPTIONS: list[dict[str, bool]] = [
    {},
    {"free_phrases": True},
    {"phrasal_recursion": True},
    {"pseudo_always": True},
    {"free_phrases": True, "phrasal_recursion": True},
]
Case = tuple[World, list[ParsedSentence]]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Worlds of all grammars with a few sentences, seen and new ones."""
    result = []
    for seed in range(worlds(8)):
        folder: Path = tmp_path_factory.mktemp(f"world{seed}")
        world = World(seed, folder, *GRAMMARS, size=7)
        fresh = [random_sentence(world.rng, size) for size in (1, 2, 3, 4)]
        result.append((world, [*fresh, min(world.sentences, key=len)]))
    return result


@pytest.fixture(scope="module")
def phrasal_cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Sentences with phrasal nodes around a head: some that rules fill, some that only phrases or structures ask for."""
    result = []
    for seed in range(worlds(8)):
        world = World(seed, tmp_path_factory.mktemp(f"phrasal{seed}"), *GRAMMARS, size=20)
        sentences = world.sentences + [random_sentence(world.rng, size) for size in (3, 4) for _ in range(120)]
        phrasal = [
            sentence for sentence in sentences if any(node.covers_head for node in phrasal_nodes(sentence).nodes)
        ]
        recursive = [
            sentence
            for sentence in phrasal
            if has_recursion(Exhaustive(world, sentence, ["consdep2str"], {"phrasal_recursion": True}))
        ]
        others = [sentence for sentence in phrasal if sentence not in recursive]
        result.append((world, sorted(recursive, key=len)[:5] + others[:5]))
    return result


def has_recursion(forest: Exhaustive) -> bool:
    """Whether rules or pseudo rules fill a phrasal node."""
    return any(
        edge.features and edge.tails for node, edges in forest.edges.items() if node[0] == "group" for edge in edges
    )


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
                assert [translation.score for translation in translations] == pytest.approx(ranked, abs=2e-3), (
                    sentence,
                    options,
                )
                for translation in translations:
                    assert totals[tuple(translation.text.split())] == pytest.approx(translation.score, abs=2e-3), (
                        sentence,
                        options,
                    )


@pytest.mark.parametrize(
    "system", [("consdep2str",), ("augmented", "consdep2str"), ("cons2str", "consdep2str")], ids="+".join
)
def test_phrasal_recursion_equals_exhaustive_search(system: tuple[str, ...], phrasal_cases: list[Case]) -> None:
    """Rules fill the phrasal nodes that a rule of their table has, and no others: phrases and structures share nodes with them."""
    filled = 0
    for world, sentences in phrasal_cases:
        for sentence, free in itertools.product(sentences, [False, True]):
            options = {"phrasal_recursion": True, "free_phrases": free}
            exhaustive = Exhaustive(world, sentence, system, options)
            if exhaustive.count() > 20000:
                continue
            totals = exhaustive.totals()
            (translations,) = kbest(world, [sentence], system, options, nbest=20000, distinct=True, derivations=False)
            scores = {tuple(translation.text.split()): translation.score for translation in translations}
            assert scores == pytest.approx(totals, abs=2e-3), (sentence, options)
            filled += has_recursion(exhaustive)
    assert filled > 2


@pytest.mark.parametrize("limits", [{"rule_limit": 3}, {"rule_threshold": 0.5}], ids=["limit", "threshold"])
@pytest.mark.parametrize("grammar", HEADED)
def test_limits_are_for_all_rules_of_a_node(grammar: str, limits: dict[str, float], tmp_path: Path) -> None:
    cut = 0
    for seed in range(worlds(9)):
        (tmp_path / str(seed)).mkdir()
        world = World(seed, tmp_path / str(seed), grammar, size=30)
        # As many rules of one source side are read as twice the limit.
        crowded = {source for source, rules in world.rules[grammar].items() if len(rules) > 6}
        decoder = world.decoder(grammar, **limits)
        for sentence in (sentence for sentence in world.sentences if len(sentence) <= 4):
            limited, whole = (Exhaustive(world, sentence, (grammar,), given) for given in (limits, {}))
            if "rule_limit" in limits and any(
                edge.source in crowded for edges in whole.edges.values() for edge in edges
            ):
                continue
            [result] = decoder.translate(parsed_corpus([sentence]), threads=1, nbest=50, distinct=True)
            ranked = sorted(limited.totals().values(), reverse=True)[:50]
            assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence
            cut += limited.count() < whole.count()
    assert cut > 5


def test_labels_over_words_without_links(tmp_path: Path) -> None:
    """Structures that cover unaligned members too: a phrase in their place translates these words with the others."""
    more = 0
    for seed in range(worlds(6)):
        (tmp_path / str(seed)).mkdir()
        world = World(seed, tmp_path / str(seed), "augmented", size=25)
        more += sum(
            any(not symbol.lstrip("^").startswith("x") for symbol in source.split()[begin:end])
            for source, rules in world.rules["augmented"].items()
            for rule in rules
            for begin, end in rule.labels
        )
        sentences = [sentence for sentence in world.sentences if len(sentence) <= 4][:8]
        lists = kbest(world, sentences, ("augmented",), {}, nbest=50, distinct=True, derivations=False)
        for sentence, translations in zip(sentences, lists, strict=True):
            totals = Exhaustive(world, sentence, ("augmented",), {}).totals()
            ranked = sorted(totals.values(), reverse=True)[:50]
            assert [translation.score for translation in translations] == pytest.approx(ranked, abs=2e-3), sentence
    assert more > 3


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_every_derivation_is_there_once(options: dict[str, bool], cases: list[Case]) -> None:
    """Without "distinct" the list has the scores of all derivations: no edge is missing, none is there twice."""
    compared = 0
    for system in SYSTEMS:
        for world, sentences in cases[OPTIONS.index(options) % 2 :: 2]:
            for sentence in sentences:
                exhaustive = Exhaustive(world, sentence, system, options)
                if exhaustive.count() > 800:
                    continue
                derivations = [
                    (words, score + exhaustive.model_score(words)) for words, score in exhaustive.derivations()
                ]
                (translations,) = kbest(world, [sentence], system, options, nbest=1000, derivations=False)
                expected = sorted((score for _, score in derivations), reverse=True)
                assert [translation.score for translation in translations] == pytest.approx(expected, abs=2e-3), (
                    system,
                    sentence,
                )
                compared += 1
    assert compared > 20 * len(cases)


def test_rules_that_become_equal_are_one(tmp_path: Path) -> None:
    """Two rules of one source side may differ only in the order of the variables that a structure unites."""
    world = World(58, tmp_path, "augmented", size=20)
    sentence = [random_sentence(world.rng, size) for size in (3, 4) for _ in range(20)][-1]
    exhaustive = Exhaustive(world, sentence)
    expected = sorted(
        (score + exhaustive.model_score(words) for words, score in exhaustive.derivations()), reverse=True
    )
    (translations,) = kbest(world, [sentence], world.grammars, {}, nbest=10000, derivations=False)
    assert [translation.score for translation in translations] == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_order_of_grammars_does_not_matter(
    options: dict[str, bool], cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the core, where tables come in the order that was asked for: the same derivations to the last bit, with ties too."""
    world, sentences = cases[OPTIONS.index(options) % len(cases)]
    corpus = parsed_corpus(sentences)
    equal_weights = start_weights([*GRAMMARS, "phrases"])  # grammars with equal rules have ties
    for weights in (world.weights, equal_weights):
        monkeypatch.setattr(world, "weights", weights)
        for system in SYSTEMS:
            shown: list[object] = []
            orders = list(itertools.permutations(system))
            for order in orders if len(orders) <= 6 else orders[::23]:
                results = world.ordered_decoder(order, options).translate(corpus, nbest=10, threads=1)
                shown.append(
                    [[(k.text, k.score, k.features, k.derivation) for k in result.kbest] for result in results]
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
                    scores = {translation.text: translation.score for translation in union}
                    for translation in translations:
                        if translation.features["copied"] == 0:
                            assert scores[translation.text] >= translation.score - 2e-3, (
                                system,
                                part,
                                translation.text,
                            )
                            compared += 1
    assert compared > 1000


def test_options_show(cases: list[Case]) -> None:
    """The sentences are such that every option and every grammar of a union is of use somewhere."""
    for options in OPTIONS[1:2] + OPTIONS[3:]:
        different = 0
        for world, sentences in cases:
            for system in itertools.combinations(GRAMMARS, 2):
                if any(grammar in HEADED for grammar in system):
                    plain = kbest(world, sentences, system, {}, nbest=20, distinct=True, derivations=False)
                    other = kbest(world, sentences, system, options, nbest=20, distinct=True, derivations=False)
                    different += [[translation.score for translation in k] for k in plain] != [
                        [translation.score for translation in k] for k in other
                    ]
        assert different > 3, options
    used = set()
    for world, sentences in cases:
        for translations in kbest(world, sentences, GRAMMARS, {}, nbest=200):
            used |= {use.grammar for translation in translations for use in walk(translation.derivation)}
    assert {*GRAMMARS, "phrases"} <= used
