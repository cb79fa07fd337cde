"""The tree decoder against exhaustive search written from the spec: forms, deletions, phrasal nodes, structures, pseudo rules."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from effort import worlds
from exhaustive_decoder import Exhaustive
from random_worlds import WORDS, World, random_constituents, random_sentence, random_tree
from treeglot.errors import ConfigError, TreeglotError
from treeglot.examples import worked_example
from treeglot.search import forest_decoder, start_weights, walk
from treeglot.tables import build_phrase_table
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext, parsed_corpus


@pytest.mark.parametrize("grammar", ["dep2str", "augmented", "consdep2str"])
def test_equals_exhaustive_search(grammar: str, tmp_path: Path) -> None:
    compared = phrasal = built = 0
    for seed in range(worlds(12)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        world = World(seed, folder, grammar)
        sentences = [random_sentence(world.rng, world.rng.randint(1, 4)) for _ in range(4)] + world.sentences[:4]
        results = world.decoder().translate(parsed_corpus(sentences), nbest=30, distinct=True)
        for sentence, result in zip(sentences, results, strict=True):
            totals = Exhaustive(world, sentence).totals()
            assert result.score == pytest.approx(max(totals.values()), abs=2e-3), sentence
            ranked = sorted(totals.values(), reverse=True)
            assert [translation.score for translation in result.kbest] == pytest.approx(
                ranked[: len(result.kbest)], abs=2e-3
            )
            for translation in result.kbest:
                assert totals[tuple(translation.text.split())] == pytest.approx(translation.score, abs=2e-3)
                assert translation.derivation.words == tuple(translation.text.split())
                total = sum(world.weights[name] * value for name, value in translation.features.items())
                assert total == pytest.approx(translation.score, abs=1e-3)
            compared += 1
            uses = [use for translation in result.kbest for use in walk(translation.derivation)]
            phrasal += any(use.is_phrasal for use in uses)
            built += any(use.grammar == grammar and any(c.kind == "group" for c in use.children) for use in uses)
    assert compared == 8 * worlds(12)
    if grammar == "consdep2str":
        assert phrasal > 3
    if grammar == "augmented":
        assert built > 3


def test_worked_example_is_translated_by_its_own_rules(tmp_path: Path) -> None:
    world = World(1, tmp_path, "consdep2str")
    pair = worked_example()
    links = [(link.source, link.target) for link in pair.word_links]
    build_rule_table(
        "consdep2str", parsed_bitext([(pair.source, pair.target.tokens.forms, links)]), tmp_path / "w.rules"
    )
    (tmp_path / "s").write_text(" ".join(pair.source.tokens.forms) + "\n")
    (tmp_path / "t").write_text(" ".join(pair.target.tokens.forms) + "\n")
    (tmp_path / "a").write_text(" ".join(f"{j}-{i}" for j, i in links) + "\n")
    build_phrase_table(tmp_path / "s", tmp_path / "t", tmp_path / "a", tmp_path / "w.phrases", max_length=2)
    decoder = forest_decoder(
        {"consdep2str": tmp_path / "w.rules"},
        tmp_path / "w.phrases",
        world.model,
        start_weights(["consdep2str"]),
    )
    result = decoder.translate(parsed_corpus([pair.source]))[0]
    assert result.text == "Intel will launch the first Ultrabook in Asia"
    # 超极 本 is no subtree: only the phrasal node NP[JJ_NN] keeps its translation together.
    uses = list(walk(result.derivation))
    assert any(use.is_phrasal for use in uses)
    assert [use.words for use in uses if use.kind == "group"] == [("Ultrabook",)]


@pytest.mark.parametrize("options", [{"phrasal_recursion": True}, {"pseudo_always": True}, {"free_phrases": True}, {}])
def test_every_input_is_translated(options: dict[str, bool], tmp_path: Path) -> None:
    world = World(3, tmp_path, "consdep2str")
    rng = random.Random(5)
    sentences = [random_sentence(rng, rng.randint(1, 30)) for _ in range(60)]
    unknown = Tokens(["new", "a", "words"], xpos=["A", "Z", "B"])
    sentences.append(ParsedSentence.of(DependencyTree(unknown, [1, -1, 1]), random_constituents(rng, unknown)))
    decoder = forest_decoder(world.tables, world.phrases, world.model, world.weights, grammars=options)
    results = decoder.translate(parsed_corpus(sentences), threads=2)
    assert all(result.derivation.words == tuple(result.text.split()) for result in results)
    assert {"new", "words"} <= set(results[-1].text.split())
    again = decoder.translate(parsed_corpus(sentences), threads=1)
    assert [result.text for result in again] == [result.text for result in results]


def test_flat_and_long_sentences(tmp_path: Path) -> None:
    world = World(4, tmp_path, "augmented")
    rng = random.Random(6)
    flat = DependencyTree(Tokens([rng.choice(WORDS) for _ in range(500)], xpos=["A"] * 500), [-1] + [0] * 499)
    long = random_tree(rng, 200)
    decoder = forest_decoder(world.tables, world.phrases, world.model, world.weights)
    results = decoder.translate(parsed_corpus([ParsedSentence.of(flat), ParsedSentence.of(long)]))
    assert all(len(result.text.split()) > 50 for result in results)


def test_refuses_what_does_not_fit(tmp_path: Path) -> None:
    world = World(5, tmp_path, "consdep2str")
    lone = Tokens(["a", "b"], xpos=["A", "B"])
    with pytest.raises(TreeglotError, match="sentence 1 has no constituency tree"):
        world.decoder().translate(parsed_corpus([ParsedSentence.of(DependencyTree(lone, [1, -1]))]))
    with pytest.raises(ConfigError, match="a table of consdep2str"):
        forest_decoder({"dep2str": world.tables["consdep2str"]}, world.phrases, world.model, start_weights(["dep2str"]))
    with pytest.raises(ConfigError, match="unknown feature 'lmm'"):
        forest_decoder(world.tables, world.phrases, world.model, {**world.weights, "lmm": 1.0})
    with pytest.raises(ConfigError, match="stack_limit is -1"):
        world.decoder(stack_limit=-1)
    assert world.decoder().translate(parsed_corpus([])) == []


def test_the_core_keeps_its_tables(tmp_path: Path) -> None:
    world = World(6, tmp_path, "dep2str")
    corpus = parsed_corpus(world.sentences)
    before = [result.text for result in world.decoder().translate(corpus)]
    decoder = world.decoder().core
    del world.tables, world.phrases, world.model
    gc.collect()
    ballast = [RuleTable(tmp_path / "dep2str.rules") for _ in range(5)]  # where freed tables may have been
    options = {"nbest": 1, "distinct": False, "with_steps": True, "threads": 1, "progress": None}
    translated = decoder.translate(corpus.columns, 0, len(corpus), **options)  # type: ignore[arg-type]
    assert [result.text(0) for result in translated] == before and len(ballast) == 5


@pytest.mark.parametrize("grammar", ["augmented", "consdep2str"])
def test_new_weights_for_an_old_decoder(grammar: str, tmp_path: Path) -> None:
    """What is kept between weights must not show: the results are those of a decoder of their own."""
    world = World(7, tmp_path, grammar)
    corpus = parsed_corpus([*world.sentences, *(random_sentence(world.rng, 8) for _ in range(10))])
    limits = {"rule_limit": 2, "phrase_limit": 2, "stack_limit": 20}
    decoder = world.decoder(**limits)
    for _ in range(4):
        world.weights = {name: value + world.rng.uniform(-0.5, 0.5) for name, value in world.weights.items()}
        decoder.set_weights(world.weights)
        for threads in (1, 2):
            kept = decoder.translate(corpus, nbest=10, distinct=True, threads=threads)
            fresh = world.decoder(**limits).translate(corpus, nbest=10, distinct=True, threads=1)
            for old, new in zip(kept, fresh, strict=True):
                assert [(t.score, t.features, t.derivation) for t in old.kbest] == [
                    (t.score, t.features, t.derivation) for t in new.kbest
                ]


def test_steps_add_up(tmp_path: Path) -> None:
    """What the steps of a derivation add to each feature is the feature's value, the language model's too."""
    world = World(8, tmp_path, "augmented")
    for result in world.decoder().translate(parsed_corpus(world.sentences)):
        uses = list(walk(result.derivation))
        for name, value in result.features.items():
            assert sum(use.features.get(name, 0.0) for use in uses) == pytest.approx(value, abs=1e-4)
        for use in uses:
            assert use.source and (use.grammar not in ("phrases", "copy") or not use.children)
            if use.grammar == "phrases":
                assert all(j < use.end - use.begin and i < len(use.words) for j, i in use.links)


def test_a_copied_word_that_some_table_translates_to(tmp_path: Path) -> None:
    """Lists are distinct whether a word was copied or translated, and whatever was translated before."""
    world = World(9, tmp_path, "dep2str")
    tokens = Tokens(["a", "u", "b"], xpos=["A", "B", "A"])  # u is a word of the target side only
    sentence = ParsedSentence.of(DependencyTree(tokens, [1, -1, 1]))
    alone = world.decoder().translate(parsed_corpus([sentence]), nbest=50, distinct=True)[0]
    after = world.decoder().translate(parsed_corpus([*world.sentences, sentence]), nbest=50, distinct=True, threads=1)
    texts = [translation.text for translation in alone.kbest]
    assert len(set(texts)) == len(texts) > 1
    assert texts == [translation.text for translation in after[-1].kbest]
