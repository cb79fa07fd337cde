"""The phrase-based decoder: equal to exhaustive search, scores that can be recomputed, and no surprises at the edges."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import TreeglotError, lm
from treeglot.files import read_lines
from treeglot.search import (
    RuleUse,
    Translation,
    feature_names,
    forest_decoder,
    format_moses_weights,
    open_phrases,
    phrase_decoder,
    read_moses_phrases,
    read_moses_weights,
    read_weights,
    start_weights,
    write_weights,
)
from treeglot.tables import build_rule_table
from treeglot.tables.moses import import_moses
from treeglot.trees.corpus import parsed_bitext, parsed_corpus
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

# (source, target) -> four table probabilities, six reordering probabilities
Table = dict[tuple[str, str], tuple[list[float], list[float]]]
Use = tuple[int, int, str]

FEATURES = feature_names(["phrases"])
DEFAULT_WEIGHTS = start_weights(["phrases"])
REORDERING = [name for name in FEATURES if ".reorder_" in name]
SCORES = ("phrases.p_st", "phrases.lex_st", "phrases.p_ts", "phrases.lex_ts")
"""In the order of the table's columns."""
UNLIMITED: dict[str, Any] = {"table_limit": 0, "pop_limit": 0, "stack_size": 0}


def ln(probability: float) -> float:
    return max(math.log(probability), -100.0) if probability > 0 else -100.0


def write_tables(folder: Path, table: Table) -> tuple[Path, Path]:
    phrases, reordering = folder / "phrases", folder / "reordering"
    phrases.write_text("".join(f"{s} ||| {t} ||| {' '.join(map(repr, p))} ||| \n" for (s, t), (p, _) in table.items()))
    reordering.write_text("".join(f"{s} ||| {t} ||| {' '.join(map(repr, r))}\n" for (s, t), (_, r) in table.items()))
    return phrases, reordering


def language_model(folder: Path, lines: list[str], order: int) -> lm.LanguageModel:
    with (folder / "arpa").open("wb") as file:
        lm.estimate([f"{line}\n".encode() for line in lines], file, order=order)
    return lm.open_model(folder / "arpa")


def score(uses: list[Use], words: list[str], table: Table, model: lm.LanguageModel) -> dict[str, float]:
    """The features of a derivation by their definitions."""
    values = dict.fromkeys(FEATURES, 0.0)
    target = " ".join(text for _, _, text in uses)
    values["lm"] = model.score(target) * math.log(10)
    values["words"] = len(target.split())
    values["phrases.rules"] = len(uses)
    end_before = 0
    for n, (begin, end, text) in enumerate(uses):
        values["distortion"] -= abs(begin - end_before)
        end_before = end
        entry = table.get((" ".join(words[begin:end]), text))
        if entry is None:
            assert end == begin + 1 and text == words[begin]
            values["copied"] += 1
        else:
            for name, probability in zip(SCORES, entry[0], strict=True):
                values[name] += ln(probability)
        if n == 0:
            direction = 1 if begin == 0 else 3
        else:
            previous_begin, previous_end, previous_text = uses[n - 1]
            direction = 1 if begin == previous_end else 2 if end == previous_begin else 3
            before = table.get((" ".join(words[previous_begin:previous_end]), previous_text))
            if before is not None:
                values[REORDERING[direction + 2]] += ln(before[1][direction + 2])
        if entry is not None:
            values[REORDERING[direction - 1]] += ln(entry[1][direction - 1])
    return values


def derivations(words: list[str], table: Table, limit: int) -> Iterator[list[Use]]:
    """Every derivation within the distortion limit, by brute force."""
    size = len(words)
    options: dict[tuple[int, int], list[str]] = {}
    for begin, end in itertools.combinations(range(size + 1), 2):
        source = " ".join(words[begin:end])
        targets = [t for s, t in table if s == source]
        if not targets and end == begin + 1:
            targets = [words[begin]]
        options[begin, end] = targets

    def extend(covered: frozenset[int], uses: list[Use]) -> Iterator[list[Use]]:
        if len(covered) == size:
            yield list(uses)
            return
        gap = min(set(range(size)) - covered)
        last = uses[-1][1] if uses else 0
        for (begin, end), targets in options.items():
            if covered & set(range(begin, end)):
                continue
            if limit >= 0 and (abs(begin - last) > limit or (begin != gap and abs(end - gap) > limit)):
                continue
            for target in targets:
                yield from extend(covered | set(range(begin, end)), [*uses, (begin, end, target)])

    yield from extend(frozenset(), [])


def uses_of(translation: Translation) -> list[Use]:
    return [(use.begin, use.end, use.target) for use in translation.derivation.in_target_order]


def dot(weights: dict[str, float], features: dict[str, float]) -> float:
    return sum(weights[name] * features[name] for name in FEATURES)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[str], Table, list[str], int, dict[str, float], int]:
    rng = random.Random(draw(st.integers(0, 2**32)))
    words = [rng.choice("abcd") for _ in range(draw(st.integers(1, 4)))]
    table: Table = {}
    for begin, end in itertools.combinations(range(len(words) + 1), 2):
        for _ in range(rng.choice([0, 1, 1, 2])):
            target = " ".join(rng.choice("xyzw") for _ in range(rng.choice([1, 1, 2, 3, 5])))
            table[" ".join(words[begin:end]), target] = (
                [rng.choice([0.0, 1.0, rng.random()]) if rng.random() < 0.1 else rng.random() for _ in range(4)],
                [rng.choice([0.2, 0.6, rng.random()]) for _ in range(6)],
            )
    text = [" ".join(rng.choice("xyz") for _ in range(rng.randint(1, 6))) for _ in range(12)]
    weights = {name: rng.uniform(-0.2, 1) for name in FEATURES}
    if rng.random() < 0.3:
        weights |= dict.fromkeys(REORDERING[3:], 0.0)
    return words, table, text, draw(st.integers(1, 4)), weights, draw(st.sampled_from([-1, 0, 1, 2, 6]))


@settings(max_examples=60, deadline=None)
@given(problems())
def test_equals_exhaustive_search(
    problem: tuple[list[str], Table, list[str], int, dict[str, float], int],
) -> None:
    words, table, text, order, weights, limit = problem
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not table:
            table = {("q", "x"): ([0.5] * 4, [0.5] * 6)}
        model = language_model(folder, text, order)
        phrases = read_moses_phrases(*write_tables(folder, table))
    expected: dict[tuple[Use, ...], float] = {}
    for uses in derivations(words, table, limit):
        expected[tuple(uses)] = dot(weights, score(uses, words, table, model))
    ranked = sorted(expected.values(), reverse=True)
    line = " ".join(words)
    for search in ("cube", "stack"):
        decoder = phrase_decoder(phrases, model, weights, distortion_limit=limit, search=search, **UNLIMITED)  # type: ignore[arg-type]
        kbest = decoder.translate([line], nbest=10**6, threads=1)[0].kbest
        assert len(kbest) == len(expected)
        assert [t.score for t in kbest] == pytest.approx(ranked, rel=1e-5, abs=1e-4)
        assert {tuple(uses_of(t)) for t in kbest} == set(expected)
        for translation in kbest[:20]:
            assert expected[tuple(uses_of(translation))] == pytest.approx(translation.score, rel=1e-5, abs=1e-4)
            assert dot(weights, translation.features) == pytest.approx(translation.score, rel=1e-5, abs=1e-4)
        one = decoder.translate([line], threads=1)[0]
        assert one.score == pytest.approx(ranked[0], rel=1e-5, abs=1e-4)
        short = decoder.translate([line], nbest=3, threads=1)[0].kbest
        assert [t.score for t in short] == pytest.approx(ranked[:3], rel=1e-5, abs=1e-4)
        by_text: dict[str, float] = {}
        for uses, value in expected.items():
            target = " ".join(part for _, _, part in uses)
            by_text[target] = max(value, by_text.get(target, -math.inf))
        distinct = decoder.translate([line], nbest=10**6, distinct=True, threads=1)[0].kbest
        assert len({t.text for t in distinct}) == len(distinct) == len(by_text)
        assert [t.score for t in distinct] == pytest.approx(sorted(by_text.values(), reverse=True), rel=1e-5, abs=1e-4)


@pytest.fixture(scope="module")
def reference(
    data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Table, lm.LanguageModel, list[str]]:
    """Moses' tables of a small corpus, also as plain dictionaries, and a model of its English side."""
    folder = data("reference/moses-str")
    names = folder / "phrase-table.gz", folder / "reordering-table.wbe-msd-bidirectional-fe.gz"
    table: Table = {}
    for (_, a), (_, b) in zip(read_lines(names[0]), read_lines(names[1]), strict=True):
        source, target, scores, *_ = a.split(" ||| ")
        source_b, target_b, reordering = b.split(" ||| ")
        assert (source, target) == (source_b, target_b)
        table[source, target] = ([float(x) for x in scores.split()], [float(x) for x in reordering.split()])
    english = [line for _, line in read_lines(folder / "corpus.en")]
    model = language_model(tmp_path_factory.mktemp("lm"), english, 3)
    return read_moses_phrases(*names), table, model, [line for _, line in read_lines(folder / "corpus.de")]


def test_moses_tables_load_and_scores_recompute(reference: tuple[Any, Table, lm.LanguageModel, list[str]]) -> None:
    phrases, table, model, lines = reference
    assert len(phrases) == len(table) and phrases.has_reordering
    weights = dict(DEFAULT_WEIGHTS)
    decoder = phrase_decoder(phrases, model, weights)
    sentences = [*lines[:40], "ein unbekanntes wort : xyzzy", ""]
    for sentence, best in zip(sentences, decoder.translate(sentences, nbest=5), strict=True):
        words = sentence.split()
        assert 1 <= len(best.kbest) <= 5
        assert [t.score for t in best.kbest] == sorted((t.score for t in best.kbest), reverse=True)
        for translation in best.kbest:
            uses = uses_of(translation)
            assert sorted(i for begin, end, _ in uses for i in range(begin, end)) == list(range(len(words)))
            expected = score(uses, words, table, model)
            assert translation.features == pytest.approx(expected, rel=1e-5, abs=1e-3)
            assert translation.score == pytest.approx(dot(weights, expected), rel=1e-5, abs=1e-3)
            if words:
                uses_below = translation.derivation.children
                summed = {name: sum(use.features.get(name, 0.0) for use in uses_below) for name in FEATURES}
                assert summed == pytest.approx(translation.features, rel=1e-5, abs=1e-4)
    unknown = decoder.translate(["xyzzy"])[0]
    assert unknown.text == "xyzzy" and unknown.features["copied"] == 1


def test_the_stored_table_gives_the_same(
    reference: tuple[Any, Table, lm.LanguageModel, list[str]], data: Callable[[str], Path], tmp_path: Path
) -> None:
    phrases, _, model, lines = reference
    folder = data("reference/moses-str")
    import_moses(
        folder / "phrase-table.gz",
        tmp_path / "table",
        reordering=folder / "reordering-table.wbe-msd-bidirectional-fe.gz",
    )
    stored = open_phrases(tmp_path / "table", verify=True)
    assert len(stored) == len(phrases) and stored.has_reordering
    # Ties at a limit may fall otherwise, because the two list translations in different orders.
    limits: dict[str, Any] = {"table_limit": 0, "pop_limit": 2000}
    a = phrase_decoder(phrases, model, DEFAULT_WEIGHTS, **limits).translate(lines[:30])
    b = phrase_decoder(stored, model, DEFAULT_WEIGHTS, **limits).translate(lines[:30])
    assert [t.score for t in a] == pytest.approx([t.score for t in b], rel=1e-5)
    (tmp_path / "broken").write_bytes((tmp_path / "table").read_bytes()[:-1])
    with pytest.raises(TreeglotError):
        open_phrases(tmp_path / "broken")


def test_threads_do_not_change_the_result(reference: tuple[Any, Table, lm.LanguageModel, list[str]]) -> None:
    phrases, _, model, lines = reference
    decoder = phrase_decoder(phrases, model, DEFAULT_WEIGHTS, pop_limit=50)

    def run(threads: int) -> list[list[tuple[str, float, RuleUse]]]:
        results = decoder.translate(lines[:60], nbest=10, threads=threads)
        return [[(t.text, t.score, t.derivation) for t in best.kbest] for best in results]

    assert run(1) == run(3) == run(0)


def test_more_search_finds_no_worse(reference: tuple[Any, Table, lm.LanguageModel, list[str]]) -> None:
    phrases, _, model, lines = reference
    scores = [
        sum(t.score for t in phrase_decoder(phrases, model, DEFAULT_WEIGHTS, **limits).translate(lines[:60]))
        for limits in ({"pop_limit": 5}, {"pop_limit": 500}, {"pop_limit": 5000, "stack_size": 2000})
    ]
    assert scores[0] < scores[1] <= scores[2] + 1e-6
    beam = phrase_decoder(phrases, model, DEFAULT_WEIGHTS, beam_threshold=1e-3).translate(lines[:60])
    assert scores[0] < sum(t.score for t in beam) <= scores[2] + 1e-6


def test_monotone_and_table_limit(reference: tuple[Any, Table, lm.LanguageModel, list[str]]) -> None:
    phrases, table, model, lines = reference
    for best in phrase_decoder(phrases, model, DEFAULT_WEIGHTS, distortion_limit=0).translate(lines[:20]):
        assert best.features["distortion"] == 0
    # The best translation of one word by table, penalties and the language model by itself.
    word = "ein"
    one = phrase_decoder(phrases, model, DEFAULT_WEIGHTS, table_limit=1, pop_limit=0).translate([word], nbest=9)[0]
    assert len(one.kbest) == 1

    def estimate(target: str) -> float:
        state, total = model.core.null_state(), 0.0
        for part in target.split():
            value, _, state = model.core.score(state, model.core.id(part))
            total += value
        table_part = sum(0.2 * ln(p) for p in table[word, target][0])
        return table_part + 0.5 * math.log(10) * total + len(target.split()) + 0.2

    assert one.text == max((t for s, t in table if s == word), key=estimate)


def test_long_and_strange_sentences(tmp_path: Path) -> None:
    table: Table = {("a", "x"): ([0.5] * 4, [1 / 3] * 6)}
    decoder = phrase_decoder(
        read_moses_phrases(*write_tables(tmp_path, table)),
        language_model(tmp_path, ["x y", "y x x"], 2),
        DEFAULT_WEIGHTS,
    )
    words = [f"w{i}" for i in range(200)]
    unknown, blank, known = decoder.translate([" ".join(words), " \t ", " ".join("a" * 300)], threads=1)
    assert unknown.text.split() == words
    assert blank.text == "" and blank.derivation.children == ()
    assert known.text.split() == ["x"] * 300
    free = phrase_decoder(
        read_moses_phrases(*write_tables(tmp_path, table)),
        language_model(tmp_path, ["x y", "y x x"], 2),
        DEFAULT_WEIGHTS,
        distortion_limit=-1,
        pop_limit=50,
    )
    assert sorted(free.translate([" ".join(words)])[0].text.split()) == sorted(words)
    assert decoder.translate([]) == []
    # Only blanks, tabs and line ends separate words.
    assert decoder.translate(["a b　a\r\n"])[0].text == "x b　a"


def test_reordering_table_in_another_order(tmp_path: Path) -> None:
    rng = random.Random(1)
    table: Table = {
        (s, t): ([0.5] * 4, [rng.random() for _ in range(6)]) for s in ("a", "b", "a b") for t in ("x", "y", "x y")
    }
    phrases, reordering = write_tables(tmp_path, table)
    lines = reordering.read_text().splitlines(keepends=True)
    rng.shuffle(lines)
    reordering.write_text("".join(lines) + "not ||| there ||| 1 1 1 1 1 1\n")
    table_read = read_moses_phrases(phrases, reordering)
    for (source, target), (_, expected) in table.items():
        values = next(r for t, _, r, _ in table_read.lookup(source.split()) if t == target)
        assert values == pytest.approx([ln(p) for p in expected], abs=1e-6)
    assert table_read.lookup(["b", "a"]) == [] and table_read.lookup(["nowhere"]) == []


def test_weights_round_trip(tmp_path: Path) -> None:
    rng = random.Random(2)
    weights = {name: rng.uniform(-1, 1) for name in FEATURES}
    write_weights(tmp_path / "weights.toml", weights)
    assert read_weights(tmp_path / "weights.toml") == weights
    (tmp_path / "moses.ini").write_text(
        "[feature]\nKENLM name=LM0\n\n" + format_moses_weights(weights) + "[threads]\n4\n"
    )
    assert read_moses_weights(tmp_path / "moses.ini") == weights
    (tmp_path / "short").write_text(
        "# a comment\nlm 0.5\ndistortion = 0.3 # another\nwords 1\nphrases.rules 0.2\n"
        + "".join(f"{name} 0.2\n" for name in SCORES)
    )
    short = read_weights(tmp_path / "short")
    assert short[REORDERING[5]] == 0 and short["copied"] == -100


def test_weights_of_earlier_versions(tmp_path: Path) -> None:
    """They had Moses' names, and its signs."""
    old = tmp_path / "old"
    old.write_text(
        "Distortion0 = 0.1\nLM0 = 0.2\nWordPenalty0 = -0.3\nPhrasePenalty0 = 0.4\nUnknownWordPenalty0 = 1.0\n"
        + "".join(f"TranslationModel0_{i} = 0.{i}\n" for i in range(1, 5))
        + "".join(f"LexicalReordering0_{i} = 0.0{i}\n" for i in range(1, 7))
    )
    weights = read_weights(old)
    assert tuple(weights) == FEATURES
    assert (weights["lm"], weights["words"], weights["copied"], weights["phrases.p_ts"]) == (0.2, 0.3, -100.0, 0.3)
    assert [weights[name] for name in REORDERING] == [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    with pytest.raises(TreeglotError, match="write 'lm' for 'LM0'"):
        phrase_decoder(
            read_moses_phrases(*write_tables(tmp_path, {})), language_model(tmp_path, ["x"], 2), {"LM0": 1.0}
        )


def test_new_weights_for_an_old_decoder(reference: tuple[Any, Table, lm.LanguageModel, list[str]]) -> None:
    """What is kept between weights must not show: the results are those of a decoder of their own."""
    phrases, _, model, lines = reference
    limits: dict[str, Any] = {"pop_limit": 30, "table_limit": 3}
    decoder = phrase_decoder(phrases, model, DEFAULT_WEIGHTS, **limits)
    rng = random.Random(4)
    for _ in range(4):
        weights = {name: value * rng.uniform(-0.1, 2) for name, value in DEFAULT_WEIGHTS.items()}
        decoder.set_weights(weights)
        assert decoder.weights == weights
        for threads in (1, 2):
            kept = decoder.translate(lines[:30], nbest=5, threads=threads)
            fresh = phrase_decoder(phrases, model, weights, **limits).translate(lines[:30], nbest=5)
            for old, new in zip(kept, fresh, strict=True):
                assert [(t.text, t.score, t.features) for t in old.kbest] == [
                    (t.text, t.score, t.features) for t in new.kbest
                ]
    with pytest.raises(TreeglotError, match="unknown feature"):
        decoder.set_weights({**DEFAULT_WEIGHTS, "lmm": 1.0})


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"search": "beam"}, "unknown search"),
        ({"distortion_limit": -2}, "distortion_limit"),
        ({"pop_limit": -1}, "pop_limit"),
        ({"beam_threshold": 1.5}, "beam_threshold"),
    ],
)
def test_impossible_limits_are_refused(tmp_path: Path, limits: dict[str, Any], says: str) -> None:
    table = read_moses_phrases(*write_tables(tmp_path, {("a", "x"): ([0.5] * 4, [0.5] * 6)}))
    model = language_model(tmp_path, ["x"], 2)
    with pytest.raises(TreeglotError, match=says):
        phrase_decoder(table, model, DEFAULT_WEIGHTS, **limits)
    with pytest.raises(TreeglotError, match="unknown feature"):
        phrase_decoder(table, model, DEFAULT_WEIGHTS | {"lm1": 0.5})
    with pytest.raises(TreeglotError, match="no weight for lm"):
        phrase_decoder(table, model, {k: v for k, v in DEFAULT_WEIGHTS.items() if k != "lm"})
    with pytest.raises(TreeglotError, match="nbest"):
        phrase_decoder(table, model, DEFAULT_WEIGHTS).translate(["a"], nbest=0)


def test_no_table_limit_is_none_in_a_stored_table(tmp_path: Path) -> None:
    """The 300th translation by p(e|f) is the only one that the language model knows."""
    lines = [f"wort ||| word{n} ||| 1 1 {0.5 / (n + 1)} 1 ||| 0-0\n" for n in range(300)]
    (tmp_path / "table").write_text("".join(lines))
    import_moses(tmp_path / "table", tmp_path / "stored")
    model = language_model(tmp_path, ["word299"] * 5, 2)
    weights = {**DEFAULT_WEIGHTS, "lm": 5.0}
    for table in (read_moses_phrases(tmp_path / "table"), open_phrases(tmp_path / "stored")):
        for limit, text in ((0, "word299"), (400, "word299")):
            decoder = phrase_decoder(table, model, weights, table_limit=limit)
            assert decoder.translate(["wort"])[0].text == text
    # A forest has the same phrases under phrase_limit.
    learnt = ParsedSentence.of(DependencyTree(Tokens(["das", "haus"], xpos=["ART", "NN"]), [1, -1]))
    pairs = [(learnt, ["the", "house"], [(0, 0), (1, 1)])]
    build_rule_table("dep2str", parsed_bitext(pairs), tmp_path / "rules")
    sentence = ParsedSentence.of(DependencyTree(Tokens(["wort"], xpos=["NN"]), [-1]))
    forest_weights = {**start_weights(["dep2str"]), "lm": 5.0}
    for limit in (0, 400):
        forest = forest_decoder(
            {"dep2str": tmp_path / "rules"}, tmp_path / "stored", model, forest_weights, phrase_limit=limit
        )
        assert forest.translate(parsed_corpus([sentence]))[0].text == "word299"
