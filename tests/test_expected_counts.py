"""Tables of several alignments with weights: every grammar's is the weighted sum of the tables of the single alignments."""

from __future__ import annotations

import gzip
import math
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from test_rule_table import GRAMMARS, Counted, Lexicon, Pair, bitext, close, random_pairs, right_count
from test_tables import Corpus, corpora, plain_counts, write
from treeglot import TreeglotError
from treeglot._core import rules as core_rules
from treeglot.alignment.posteriors import links_above
from treeglot.cli.rules import app
from treeglot.links import LinkArrays, Weighted
from treeglot.tables import PhraseTable, build_parsed_phrase_table, build_phrase_table, export_moses
from treeglot.tables.rules import RuleTable, build_rule_table

WEIGHTS = (0.25, 1.0, 0.5)


def arrays(alignment: list[list[tuple[int, int]]]) -> LinkArrays:
    starts = np.cumsum([0, *map(len, alignment)]).astype(np.int64)
    return LinkArrays(np.array([link for links in alignment for link in links], np.int32).reshape(-1, 2), starts)


def other_links(pairs: list[Pair], seed: int) -> list[Pair]:
    """The pairs with some links more and some fewer."""
    choose = random.Random(seed)
    result = []
    for pair in pairs:
        links = {link for link in pair.links if choose.random() < 0.8}
        if choose.random() < 0.5:
            links.add((choose.randrange(len(pair.words)), choose.randrange(len(pair.target))))
        result.append(pair._replace(links=sorted(links)))
    return result


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_rules_count_what_their_alignment_weighs(grammar: str, tmp_path: Path) -> None:
    pairs = random_pairs(3, 100)
    alignments = [pairs, other_links(pairs, 1), other_links(pairs, 2)]
    corpus = bitext(pairs)
    for n, aligned in enumerate(alignments):
        corpus.add_links(*arrays([pair.links for pair in aligned]), n == 0)
    corpus.set_weights(WEIGHTS)
    build_rule_table(grammar, corpus, tmp_path / "t", threads=2, memory=0)
    build_rule_table(grammar, corpus, tmp_path / "u", threads=1)
    assert (tmp_path / "t").read_bytes() == (tmp_path / "u").read_bytes()
    singles = [Counted(grammar, aligned) for aligned in alignments]
    count, source, target = (defaultdict[object, float](float) for _ in range(3))
    for single, weight in zip(singles, WEIGHTS, strict=True):
        for key, value in single.count.items():
            count[key] += weight * value
            source[key[0]] += weight * value
            target[key[1]] += weight * value
    table = RuleTable(tmp_path / "t", verify=True)
    assert {(rule.source, rule.target) for rule in table} == set(count)
    assert len(count) > max(len(single.count) for single in singles) > 50
    for rule in table:
        key = rule.source, rule.target
        assert right_count(rule.count, count[key])
        assert close(rule.target_given_source, count[key] / source[rule.source])
        assert close(rule.source_given_target, count[key] / target[rule.target])


def test_word_tables_count_the_weights_too(tmp_path: Path) -> None:
    pairs = random_pairs(5, 80)
    alignments = [pairs, other_links(pairs, 1)]
    weights = (0.05, 0.95)
    corpus = bitext(pairs)
    for n, aligned in enumerate(alignments):
        corpus.add_links(*arrays([pair.links for pair in aligned]), n == 0)
    corpus.set_weights(weights)
    build_rule_table("hierarchical", corpus, tmp_path / "t")
    lexicon = Lexicon([])
    for aligned, weight in zip(alignments, weights, strict=True):
        for (s, t), number in Lexicon(aligned).counts.items():
            lexicon.counts[s, t] += weight * number  # type: ignore[assignment]
            lexicon.sources[s] += weight * number  # type: ignore[assignment]
            lexicon.targets[t] += weight * number  # type: ignore[assignment]
    best: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for aligned in alignments:
        for (source, target), numbers in rules_of(aligned).items():
            for n in numbers:
                both = zip(best[source, target], lexicon.weights(aligned[n], source, target), strict=True)
                best[source, target] = tuple(map(max, both))  # type: ignore[assignment]
    for rule in RuleTable(tmp_path / "t"):
        assert close(rule.lexical_target, best[rule.source, rule.target][0])
        assert close(rule.lexical_source, best[rule.source, rule.target][1])


def rules_of(pairs: list[Pair]) -> dict[tuple[str, str], set[int]]:
    """In which pairs each hierarchical rule is found."""
    extractor = core_rules.Extractor(bitext(pairs), "hierarchical")
    pairs_of: dict[tuple[str, str], set[int]] = defaultdict(set)
    for n in range(len(pairs)):
        for source, target, _, _ in extractor.rules(n):
            pairs_of[source, target].add(n)
    return pairs_of


@st.composite
def several(draw: st.DrawFn) -> tuple[Corpus, list[Corpus], list[float]]:
    corpus = draw(corpora())
    others = []
    for _ in range(draw(st.integers(1, 3))):
        other = []
        for source, target, _ in corpus:
            cells = [(j, i) for j in range(len(source)) for i in range(len(target))]
            other.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=6)))))
        others.append(other)
    weights = draw(st.lists(st.integers(1, 300), min_size=1 + len(others), max_size=1 + len(others)))
    return corpus, others, [weight / 100 for weight in weights]


@settings(max_examples=60, deadline=None)
@given(several())
def test_phrase_pairs_count_what_their_alignment_weighs(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Corpus, list[Corpus], list[float]]
) -> None:
    corpus, others, weights = case
    folder = tmp_path_factory.mktemp("phrases")
    also = [arrays([links for *_, links in other]) for other in others]
    source, target, links = write(folder, corpus)
    build_phrase_table(
        source,
        target,
        Weighted(links, weights[0]),
        folder / "t",
        also=[Weighted(links, weight) for links, weight in zip(also, weights[1:], strict=True)],
    )
    counts: Counter[tuple[str, str]] = Counter()
    orientations: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one, weight in zip([corpus, *others], weights, strict=True):
        hundredths = round(100 * weight)
        single, _, seen = plain_counts(one)
        for key, value in single.items():
            counts[key] += hundredths * value
            for orientation, times in seen[key].items():
                orientations[key][orientation] += hundredths * times
    of_source, of_target = Counter[str](), Counter[str]()
    for (f, e), count in counts.items():
        of_source[f] += count
        of_target[e] += count
    table = PhraseTable(folder / "t", verify=True)
    assert {(entry.source, entry.target) for entry in table} == set(counts)
    for entry in table:
        key = entry.source, entry.target
        assert entry.count == pytest.approx(counts[key] / 100, abs=1e-9)
        assert entry.source_count == pytest.approx(of_source[entry.source] / 100, abs=1e-9)
        assert entry.target_count == pytest.approx(of_target[entry.target] / 100, abs=1e-9)
        assert entry.target_given_source == pytest.approx(counts[key] / of_source[entry.source], rel=1e-6)
        assert entry.source_given_target == pytest.approx(counts[key] / of_target[entry.target], rel=1e-6)
        names = [f"{side} {way}" for side in ("before", "after") for way in ("monotone", "swap", "discontinuous")]
        assert entry.reordering == pytest.approx(
            [(orientations[key][name] / 100 + 0.5) / (counts[key] / 100 + 1.5) for name in names], rel=1e-6
        )


def test_equal_weights_change_no_probability(tmp_path: Path) -> None:
    """A table of alignments that weigh 0.5 has the counts halved, and else what the table without weights has."""
    corpus: Corpus = [(["a", "b", "c"], ["x", "y", "z"], [(0, 0), (1, 2)]), (["a"], ["x"], [(0, 0)])] * 3
    paths = write(tmp_path, corpus)
    further = arrays([[(0, 1)], []] * 3)
    build_phrase_table(*paths, tmp_path / "whole", also=[further])
    build_phrase_table(paths[0], paths[1], Weighted(paths[2], 0.5), tmp_path / "half", also=[Weighted(further, 0.5)])
    for whole, half in zip(PhraseTable(tmp_path / "whole"), PhraseTable(tmp_path / "half"), strict=True):
        assert (whole.target, whole.links, whole.scores) == (half.target, half.links, half.scores)
        assert half.count == whole.count / 2 and isinstance(whole.count, int)
    (tmp_path / "moses").mkdir()
    export_moses(PhraseTable(tmp_path / "half"), tmp_path / "moses")
    with gzip.open(tmp_path / "moses/phrase-table.gz", "rt") as file:
        lines = [line.split(" ||| ")[4] for line in file]
    assert any("." in line for line in lines)
    of_moses = sorted(tuple(map(float, line.split())) for line in lines)
    assert of_moses == sorted((e.target_count, e.source_count, e.count) for e in PhraseTable(tmp_path / "half"))


def test_given_spans_count_once(tmp_path: Path) -> None:
    paths = write(tmp_path, [(["a", "b"], ["x", "y"], [(0, 0), (1, 1)])])
    (tmp_path / "s").write_text("0-1:0-2\n")
    build_phrase_table(paths[0], paths[1], Weighted(paths[2], 0.3), tmp_path / "t", spans=[tmp_path / "s"])
    counts = {(entry.source, entry.target): entry.count for entry in PhraseTable(tmp_path / "t")}
    assert counts == {("a", "x"): 0.3, ("b", "y"): 0.3, ("a b", "x y"): 0.3, ("a", "x y"): 1.0}


def test_parsed_phrases_have_the_weights_of_their_bitext(tmp_path: Path) -> None:
    pairs = random_pairs(8, 40)
    corpus = bitext(pairs)
    corpus.set_weights([0.5])
    build_parsed_phrase_table(corpus, tmp_path / "half")
    build_parsed_phrase_table(bitext(pairs), tmp_path / "whole")
    halves = {(entry.source, entry.target): entry.count for entry in PhraseTable(tmp_path / "half")}
    assert halves == {(entry.source, entry.target): entry.count / 2 for entry in PhraseTable(tmp_path / "whole")}


def test_wrong_weights() -> None:
    corpus = bitext(random_pairs(1, 3))
    for weights in ([], [1.0, 1.0], [0.0], [-1.0], [math.nan], [0.333], [101.0]):
        with pytest.raises(ValueError, match="weights"):
            corpus.set_weights(weights)
    for text in ("a:0", "a:-1", "a:0.001", "a:1000"):
        with pytest.raises(TreeglotError, match="weight of an alignment"):
            Weighted.of(text)
    assert Weighted.of("C:/links") == Weighted("C:/links") and Weighted.of("a:b:0.5") == Weighted("a:b", 0.5)


CHANCES = ["0-0:0.9500:0.9500 1-1:0.6000:0.6000 0-1:0.2000:0.2000", "0-0:0.5000:0.3000"]


def test_the_command_takes_several_alignments_or_chances(tmp_path: Path) -> None:
    for name, lines in {
        "f": ["a b", "a"],
        "e": ["x y", "x"],
        "c": CHANCES,
        **{str(n): [links_above(line, n / 10) for line in CHANCES] for n in (1, 3, 5, 7, 9)},
    }.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))

    def build(out: str, *more: str) -> Path:
        text = "--source", str(tmp_path / "f"), "--target", str(tmp_path / "e")
        result = CliRunner().invoke(app, ["build", *text, "--out", str(tmp_path / out), *more], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return tmp_path / out

    for grammar in ("phrases", "hierarchical"):
        files = [part for n in (1, 3, 5, 7, 9) for part in ("--align", f"{tmp_path}/{n}:0.2")]
        one = build(f"{grammar}.files", "--grammar", grammar, *files)
        two = build(f"{grammar}.chances", "--grammar", grammar, "--posteriors", f"{tmp_path}/c")
        assert one.read_bytes() == two.read_bytes()
    rows = {(entry.source, entry.target): round(entry.count, 2) for entry in PhraseTable(tmp_path / "phrases.chances")}
    # a-x alone is found in the first pair but under 0.1, in the second under 0.1 and 0.3; the others where y has no link, or one to b.
    assert rows == {("a", "x"): 1.2, ("b", "y"): 0.4, ("a b", "x y"): 1.0, ("a", "x y"): 0.4, ("a b", "x"): 0.4}
    sure = build("sure", "--posteriors", f"{tmp_path}/c", "--thresholds", "0.3:0.25+0.7:0.75")
    assert {(e.source, e.target): e.count for e in PhraseTable(sure)}["b", "y"] == 0.25
    for wrong, says in (
        (["--align", f"{tmp_path}/1", "--posteriors", f"{tmp_path}/c"], "word links once"),
        ([], "word links once"),
        (["--posteriors", f"{tmp_path}/c", "--thresholds", "many"], "--thresholds many"),
        (["--posteriors", f"{tmp_path}/f"], "is no link with chances"),
    ):
        with pytest.raises(TreeglotError, match=says):
            build("wrong", *wrong)
    assert not (tmp_path / "wrong").exists()
