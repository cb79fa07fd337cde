"""No source word is dropped other than through a rule or a phrase that was seen to do so; pairs of dev and test in the training text."""

from __future__ import annotations

import json
import logging
from collections import Counter
from pathlib import Path

import pytest

from effort import worlds
from random_worlds import World, random_sentence
from treeglot import InputError
from treeglot.examples.corpus import Sizes
from treeglot.examples.files import write_example
from treeglot.pipeline.overlap import read_line_numbers, unseen_path
from treeglot.pipeline.project import Project
from treeglot.search import RuleUse, dropped_words, walk
from treeglot.trees.corpus import parsed_corpus

GRAMMARS = ("dep2str", "augmented", "consdep2str", "cons2str", "hierarchical")
HEADED = GRAMMARS[:3]
PARTS: dict[str, bool | int | str] = {"decompose": "both", "drop_words": True}
OPTIONS: dict[str, bool | int | str] = {
    "pseudo_always": True,
    "phrasal_recursion": True,
    "free_phrases": True,
}


def own_words(use: RuleUse) -> list[int]:
    """The source words that a step translates itself."""
    below = {word for child in use.children for word in child.source_words}
    return [n for n in use.source_words if n not in below]


def source_terminals(use: RuleUse) -> list[str]:
    """The words of a source side."""
    if use.grammar in ("pseudo", "glue"):
        return []
    tokens = [token.strip("^)") for token in use.source.removeprefix("+ ").split()]
    return [token for token in tokens if token and not token.startswith(("(", "x1", "x2", "x3", "x4", "x5"))]


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("options", [{}, OPTIONS, PARTS], ids=["plain", "options", "parts"])
def test_every_word_is_translated_by_a_rule_that_has_it(
    grammar: str, options: dict[str, bool | int | str], tmp_path: Path
) -> None:
    """Each source word belongs to one step, whose source side has that very word: no step drops words by their tag. Where such a step
    has no target word, the table has a rule that was seen with nothing for these words. Words are counted as dropped where training
    never had a link for them."""
    dropped = beside_words = 0
    for seed in range(worlds(12)):
        (tmp_path / str(seed)).mkdir()
        world = World(seed, tmp_path / str(seed), grammar, size=30, extraction=options)
        table = world.tables[grammar].core
        if f"{grammar}.drop" in world.weights:
            world.weights[f"{grammar}.drop"] = -1.0  # the rarer, the better: such steps are there
        sentences = world.sentences + [random_sentence(world.rng, world.rng.randint(2, 6)) for _ in range(20)]
        known = {(entry.source, entry.target): entry.unlinked for entry in world.tables[grammar]}
        decoder = world.decoder(grammar, stack_limit=30, grammars={"label_sets": 100, **options})
        for sentence, result in zip(
            sentences, decoder.translate(parsed_corpus(sentences), threads=1, nbest=60), strict=True
        ):
            words = sentence.tokens.forms
            for translation in result.kbest:
                seen: list[int] = []
                expected = 0
                for use in walk(translation.derivation):
                    own = own_words(use)
                    terminals = source_terminals(use)
                    if use.is_phrasal:  # a phrase may have taken words without links with the variables beside them
                        assert not Counter(words[n] for n in own) - Counter(terminals), (use, sentence)
                    else:
                        assert [words[n] for n in own] == terminals, (use, sentence)
                    seen += own
                    if use.features.get(f"{grammar}.drop"):  # no rule, but the word had no link somewhere
                        assert table.unlinked_share(use.source) > 0 and not use.target
                        expected += 1
                        continue
                    words_of_its_own = any(isinstance(item, str) for item in use.target_items)
                    if own and use.grammar == grammar and not use.is_phrasal:
                        assert use.unlinked == known[use.source, use.target] <= len(own)
                        expected += use.unlinked if words_of_its_own else len(own)
                        beside_words += use.unlinked > 0 and words_of_its_own
                    elif use.grammar == grammar and use.is_phrasal:
                        # What a structure covers is a phrase's; its words without links are not the rule's any more.
                        assert 0 <= use.unlinked <= len(own)
                        covered = len(terminals) - len(own)
                        if (use.source, use.target) in known:
                            assert use.unlinked == max(0, known[use.source, use.target] - covered)
                        expected += use.unlinked if words_of_its_own else len(own)
                    elif use.grammar == "phrases":
                        sources = {source for source, _ in use.links}
                        assert sources <= set(range(len(own)))
                        expected += len(own) - len(sources) if sources else 0
                assert sorted(seen) == list(range(len(words)))
                assert dropped_words(translation.derivation) == expected, translation.derivation
                dropped += expected
    if grammar in HEADED:
        assert dropped > 0 and beside_words > 0  # such rules are there


def make_project(folder: Path) -> Project:
    """Of five test pairs the second and the fourth stand in the training text, the fifth with another translation."""
    write_example(folder / "raw", sizes=Sizes(60, 5, 5, 0))
    train, test = (
        [(folder / f"raw/{part}.{lang}").read_text().splitlines() for lang in ("zh", "en")]
        for part in ("train", "test")
    )
    for n in (1, 3, 4):
        test[0][n], test[1][n] = train[0][10 * n], train[1][10 * n]
    test[1][4] = "something else"
    for side, lang in zip(test, ("zh", "en"), strict=True):
        (folder / f"raw/test.{lang}").write_text("".join(f"{line}\n" for line in side))
    data = "".join(
        f'[data.{part}]\nsource = "raw/{part}.zh"\ntarget = "raw/{part}.en"\n' for part in ("train", "dev", "test")
    )
    config = f'[languages]\nsource = "zh"\ntarget = "en"\n{data}[text]\ntokenizer = "space"\n[limits]\nthreads = 1\n'
    (folder / "treeglot.toml").write_text(config)
    return Project(folder)


def test_pairs_in_the_training_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make_project(tmp_path)
    for _ in range(2):  # also when everything is up to date
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            project.train(lambda _: None)
        [message] = [record.getMessage() for record in caplog.records if "training text" in record.getMessage()]
        assert message.startswith("2 of the 5 pairs of test stand in the training text (3 of its sources)")
        assert "test.unseen" in message
    assert read_line_numbers(unseen_path(project, "test"), 5) == [1, 3]
    counts = json.loads((tmp_path / "corpus/overlap.json").read_text())
    assert counts["test"] == {"pairs": 5, "in_training": 2, "sources_in_training": 3}
    assert counts["dev"]["in_training"] == 0


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("1\n6\n", 2, "from 1 to 5"),
        ("0\n", 1, "from 1 to 5"),
        ("2\n2\n", 2, "come after 2"),
        ("", 1, "no line"),
        ("a\n", 1, "'a'"),
    ],
)
def test_wrong_lists_of_lines(tmp_path: Path, text: str, line: int, says: str) -> None:
    (tmp_path / "lines").write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        read_line_numbers(tmp_path / "lines", 5)
    assert caught.value.line == line and caught.value.remedy
