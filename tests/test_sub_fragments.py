"""Decoding with runs and attachments against exhaustive search written from the spec (tree-to-string, section 2)."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from effort import worlds
from exhaustive_decoder import HEADED, Exhaustive
from random_worlds import World, random_sentence
from treeglot.grammars.rules import extract_words
from treeglot.search import feature_names, forest_decoder, walk
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext, parsed_corpus

CHOICES = ("runs", "attach", "both")


def make_world(seed: int, folder: Path, *grammars: str, choice: str, size: int = 12) -> World:
    folder.mkdir()
    return World(seed, folder, *grammars, size=size, extraction={"decompose": choice})


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("grammar", HEADED)
def test_equals_exhaustive_search(grammar: str, choice: str, tmp_path: Path) -> None:
    """The list of distinct translations, and that of all derivations where they are few."""
    compared = 0
    for seed in range(worlds(12)):
        world = make_world(seed, tmp_path / str(seed), grammar, choice=choice)
        fresh = [random_sentence(world.rng, size) for size in (1, 2, 3, 4, 4)]
        sentences = [*fresh, *(sentence for sentence in world.sentences if len(sentence) <= 4)][:9]
        for extra in ({}, {"free_phrases": True, "phrasal_recursion": True}):
            options = {"decompose": choice, **extra}
            decoder = world.decoder(grammars={"label_sets": 10000, **options})
            lists = decoder.translate(parsed_corpus(sentences), nbest=50, distinct=True, threads=1)
            for sentence, result in zip(sentences, lists, strict=True):
                exhaustive = Exhaustive(world, sentence, (), options)
                totals = exhaustive.totals()
                ranked = sorted(totals.values(), reverse=True)[:50]
                assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence
                assert len({translation.text for translation in result.kbest}) == len(result.kbest)
                for translation in result.kbest:
                    assert totals[tuple(translation.text.split())] == pytest.approx(translation.score, abs=2e-3)
                    total = sum(world.weights[name] * value for name, value in translation.features.items())
                    assert total == pytest.approx(translation.score, abs=1e-3)
                if exhaustive.count() > 800:
                    continue
                (every,) = decoder.translate(parsed_corpus([sentence]), nbest=1000, threads=1)
                expected = sorted(
                    (s + exhaustive.model_score(words) for words, s in exhaustive.derivations()), reverse=True
                )
                assert [t.score for t in every.kbest] == pytest.approx(expected, abs=2e-3), sentence
                compared += 1
    assert compared >= 4 * worlds(12)


@pytest.mark.parametrize(
    "system", [("dep2str", "hierarchical"), ("cons2str", "consdep2str"), ("augmented", "consdep2str")], ids="+".join
)
def test_unions_equal_exhaustive_search(system: tuple[str, ...], tmp_path: Path) -> None:
    """Grammars meet in runs: what one knows of the words of a run is a translation for all."""
    for seed in range(worlds(8)):
        world = make_world(seed, tmp_path / str(seed), *system, choice="both", size=7)
        sentences = [random_sentence(world.rng, size) for size in (2, 3, 4)]
        options = {"decompose": "both"}
        decoder = world.decoder(grammars={"label_sets": 10000, **options})
        lists = decoder.translate(parsed_corpus(sentences), nbest=50, distinct=True, threads=1)
        for sentence, result in zip(sentences, lists, strict=True):
            ranked = sorted(Exhaustive(world, sentence, system, options).totals().values(), reverse=True)[:50]
            assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence


@pytest.mark.parametrize("choice", ["none", "both"])
@pytest.mark.parametrize("option", ["drop_words", "unlinked"])
def test_words_without_links(option: str, choice: str, tmp_path: Path) -> None:
    """Dropped words and words of rules without links have features of their own; what training never dropped stays."""
    shown = 0
    for seed in range(worlds(8)):
        (tmp_path / str(seed)).mkdir()
        options: dict[str, bool | int | str] = {"decompose": choice, option: True}
        world = World(seed, tmp_path / str(seed), "augmented", size=12, extraction=options)
        sentences = [random_sentence(world.rng, size) for size in (1, 2, 3, 4)]
        decoder = world.decoder(grammars={"label_sets": 10000, **options})
        for sentence, result in zip(
            sentences, decoder.translate(parsed_corpus(sentences), nbest=50, distinct=True, threads=1), strict=True
        ):
            exhaustive = Exhaustive(world, sentence, (), options)
            ranked = sorted(exhaustive.totals().values(), reverse=True)[:50]
            assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence
            for translation in result.kbest:
                total = sum(world.weights[name] * value for name, value in translation.features.items())
                assert total == pytest.approx(translation.score, abs=1e-3)
                shown += translation.features[f"augmented.{'drop' if option == 'drop_words' else option}"] != 0
    assert shown > 0


def test_a_dropped_word_is_shown(tmp_path: Path) -> None:
    """The derivation says which word was translated by nothing, and words that always had a link are not dropped."""
    extraction: dict[str, bool | int | str] = {"drop_words": True}
    world = World(3, tmp_path, "dep2str", size=6, extraction=extraction)
    table = world.tables["dep2str"].core
    seen: dict[str, list[bool]] = {}
    for sentence, _, links in world.pairs:
        for j, word in enumerate(sentence.tokens.forms):
            seen.setdefault(word, []).append(any(s == j for s, _ in links))
    for word, places in seen.items():
        assert table.unlinked_share(word) == pytest.approx(places.count(False) / len(places))
    assert table.unlinked_share("new") == 0 and table.has_shares
    weights = world.weights | {"dep2str.drop": -5.0}  # the rarer the better
    world.weights = weights
    dropped = [
        use
        for result in world.decoder(grammars=extraction).translate(parsed_corpus(world.sentences))
        for use in walk(result.derivation)
        if use.features.get("dep2str.drop")
    ]
    assert dropped and all(use.grammar == "dep2str" and not use.words and not use.children for use in dropped)
    assert {use.source for use in dropped} <= {word for word, places in seen.items() if not all(places)}


def test_words_without_links_are_counted(tmp_path: Path) -> None:
    """A rule has the fewest words without links of all its occurrences. Here no word stands twice in a sentence, so that a word of a
    rule is that one of the sentence."""
    rng = random.Random(5)
    pairs = []
    for _ in range(150):
        size = rng.randint(2, 5)
        forms = rng.sample("abcdef", size)
        tree = random_sentence(rng, size)
        assert tree.dependency is not None
        tokens = Tokens(forms, xpos=tree.tokens.tags)
        sentence = ParsedSentence.of(DependencyTree(tokens, tree.dependency.heads))
        links = [(j, j) for j in range(size) if rng.random() < 0.6]
        pairs.append((sentence, [rng.choice("uv") for _ in forms], links))
    fewest: dict[tuple[str, str], int] = {}
    most: dict[tuple[str, str], int] = {}
    for sentence, target, links in pairs:
        linked = {sentence.tokens.forms[s] for s, _ in links}
        for rule in extract_words("dep2str", sentence, target, links, decompose="both"):
            words = [symbol.lstrip("^") for symbol in rule.source.split() if ":" not in symbol and symbol != "+"]
            number = sum(word not in linked for word in words)
            key = rule.source, rule.target
            fewest[key] = min(fewest.get(key, number), number)
            most[key] = max(most.get(key, number), number)
    build_rule_table("dep2str", parsed_bitext(pairs), tmp_path / "x", decompose="both", unlinked=True)
    assert {(entry.source, entry.target): entry.unlinked for entry in RuleTable(tmp_path / "x")} == fewest
    assert max(fewest.values()) > 1 and sum(fewest[key] < most[key] for key in fewest) > 10


@pytest.mark.parametrize("limits", [{"rule_limit": 3}, {"rule_threshold": 0.5}], ids=["limit", "threshold"])
def test_limits_are_for_the_rules_of_each_class(limits: dict[str, float], tmp_path: Path) -> None:
    cut = 0
    for seed in range(worlds(9)):
        world = make_world(seed, tmp_path / str(seed), "dep2str", choice="both", size=30)
        crowded = {source for source, rules in world.rules["dep2str"].items() if len(rules) > 6}
        decoder = world.decoder(grammars={"decompose": "both"}, **limits)
        for sentence in (sentence for sentence in world.sentences if len(sentence) <= 4):
            limited, whole = (Exhaustive(world, sentence, (), {"decompose": "both", **given}) for given in (limits, {}))
            if "rule_limit" in limits and any(e.source in crowded for edges in whole.edges.values() for e in edges):
                continue
            (result,) = decoder.translate(parsed_corpus([sentence]), threads=1, nbest=50, distinct=True)
            ranked = sorted(limited.totals().values(), reverse=True)[:50]
            assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence
            cut += limited.count() < whole.count()
    assert cut > 3


def test_each_class_has_features_of_its_own(tmp_path: Path) -> None:
    """Runs, partial uses and attachments count and score apart from complete rules; what is not asked for has no features."""
    world = make_world(2, tmp_path / "world", "dep2str", choice="both", size=30)
    classes = {choice: set(feature_names(["dep2str"], {"decompose": choice})) for choice in (*CHOICES, "none")}
    names = {
        use: {f"dep2str.{use}_{n}" for n in ("p_ts", "p_st", "lex_ts", "lex_st", "rules")}
        for use in ("run", "part", "attach")
    }
    assert classes["none"] == set(feature_names(["dep2str"]))
    assert classes["runs"] == classes["none"] | names["run"] | names["part"]
    assert classes["attach"] == classes["none"] | names["attach"]
    assert classes["both"] == classes["runs"] | classes["attach"]
    used: dict[str, int] = dict.fromkeys(("rules", "run_rules", "part_rules", "attach_rules"), 0)
    sentences = [random_sentence(world.rng, 8) for _ in range(20)]
    weights = world.weights
    for favoured in used:
        world.weights = {**weights, f"dep2str.{favoured}": 5.0}
        for result in world.decoder(grammars={"decompose": "both"}, stack_limit=30).translate(parsed_corpus(sentences)):
            for use in walk(result.derivation):
                kinds = [name for name in used if use.features.get(f"dep2str.{name}")]
                assert len(kinds) == (use.grammar == "dep2str")
                for kind in kinds:
                    used[kind] += 1
                    assert (kind == "run_rules") == use.source.startswith("+ ")
                    assert (kind == "attach_rules") == any(
                        symbol.endswith("+") and symbol != "+" for symbol in use.source.split()
                    )
    assert all(used.values()), used


def test_p_st_is_made_within_a_class(tmp_path: Path) -> None:
    """The totals of target sides are those of rules of one class."""
    world = make_world(3, tmp_path / "world", "dep2str", choice="both", size=30)

    def kind(source: str) -> str:
        return "run" if source.startswith("+ ") else "attach" if any(s.endswith("+") for s in source.split()) else ""

    totals: dict[tuple[str, str], float] = {}
    entries = list(world.tables["dep2str"])
    for entry in entries:
        key = kind(entry.source), entry.target
        totals[key] = totals.get(key, 0) + entry.count
    shared = 0
    for entry in entries:
        total = totals[kind(entry.source), entry.target]
        assert math.isclose(entry.source_given_target, entry.count / total, rel_tol=0.01)
        shared += sum((other, entry.target) in totals for other in ("", "run", "attach")) > 1
    assert shared > 20


@pytest.mark.parametrize("choice", CHOICES)
def test_long_sentences(choice: str, tmp_path: Path) -> None:
    """Words with hundreds of dependents have no runs, but translations."""
    world = make_world(4, tmp_path / "world", "augmented", choice=choice)
    flat = DependencyTree(Tokens(["a", "b", "c", "a", "b"] * 60, xpos=["A"] * 300), [-1] + [0] * 299)
    wide = DependencyTree(Tokens(["a", "b"] * 15, xpos=["A"] * 30), [14] * 14 + [-1] + [14] * 15)
    names = feature_names(["augmented", "phrases"], {"decompose": choice})
    decoder = forest_decoder(
        world.tables, world.phrases, world.model, {name: world.weights[name] for name in names},
        grammars={"decompose": choice}, stack_limit=20,
    )  # fmt: skip
    results = decoder.translate(parsed_corpus([ParsedSentence.of(flat), ParsedSentence.of(wide)]))
    assert [len(result.text.split()) > 10 for result in results] == [True, True]
