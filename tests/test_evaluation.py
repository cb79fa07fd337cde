"""Metrics against sacreBLEU and NLTK, significance tests against brute force, the command line."""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score
from nltk.translate.nist_score import corpus_nist
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from typer.testing import CliRunner

from treeglot import ConfigError, InputError
from treeglot.cli.evaluate import evaluate as evaluate_command
from treeglot.evaluation import METRICS, Options, compare, evaluate, usable_metrics
from treeglot.evaluation.meteor import Meteor
from treeglot.evaluation.metrics import Array, Metric, build_metrics
from treeglot.evaluation.nist import Nist
from treeglot.evaluation.significance import (
    bootstrap_differences,
    compare_statistics,
    randomized_differences,
    sign_counts,
    sign_test,
)

WORDS = ["The", "the", "cat", "cats", "sat", "on", "mat", "Mats", ",", ".", "don't", "3.5"]
line = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
corpus = st.lists(st.tuples(line, line, line), min_size=1, max_size=6)


def made_up(count: int, damage: float, seed: int, references: list[str] | None = None) -> list[str]:
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(60)]
    if references is None:
        return [" ".join(rng.choices(words, k=rng.randint(4, 15))) for _ in range(count)]
    return [" ".join(rng.choice(words) if rng.random() < damage else w for w in r.split()) for r in references]


REFERENCES = made_up(80, 0, 1)
GOOD, BAD = made_up(80, 0.25, 2, REFERENCES), made_up(80, 0.4, 3, REFERENCES)


# --- metrics ------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(corpus, st.sampled_from(["13a", "none", "zh"]), st.booleans())
def test_scores_equal_sacrebleu(pairs: list[tuple[str, str, str]], tokenize: str, lowercase: bool) -> None:
    hypotheses, *references = ([row[i] for row in pairs] for i in range(3))
    options = Options(lowercase=lowercase, tokenize=tokenize)
    report = evaluate(hypotheses, references, ["bleu", "chrf", "ter"], options=options, sentences=True)
    asian = tokenize == "zh"
    theirs: dict[str, Any] = {
        "bleu": BLEU(lowercase=lowercase, tokenize=tokenize),
        "chrf": CHRF(lowercase=lowercase),
        "ter": TER(normalized=asian, asian_support=asian),
    }
    for name, metric in theirs.items():
        assert report[name].score == pytest.approx(metric.corpus_score(hypotheses, references).score, abs=1e-9)
        assert report[name].signature == str(metric.get_signature())
    theirs["bleu"] = BLEU(lowercase=lowercase, tokenize=tokenize, effective_order=True)
    for name, metric in theirs.items():
        for i, (hypothesis, *refs) in enumerate(pairs):
            expected = metric.sentence_score(hypothesis, refs)
            assert report[name].sentences[i] == pytest.approx(expected.score, abs=1e-9)
    assert report["bleu"].sentence_signature == str(theirs["bleu"].get_signature())


def test_the_papers_bleu_is_the_same_without_case() -> None:
    report = evaluate(["The Cat sat on the mat"], ["the cat sat on the mat"], ["bleu-lc", "bleu"])
    assert report["bleu-lc"].score == pytest.approx(100)
    assert report["bleu"].score < 60
    assert "case:lc" in report["bleu-lc"].signature and "case:mixed" in report["bleu"].signature
    assert len(evaluate(["a"], ["a"], ["bleu-lc", "bleu"], options=Options(lowercase=True)).scores) == 1


@given(
    st.lists(st.tuples(line, line), min_size=1, max_size=6).filter(
        lambda rows: any(len(h.split()) > 4 for h, _ in rows)
    )
)
def test_nist_equals_nltk_with_one_reference(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = ([row[i].lower() for row in pairs] for i in range(2))
    if not any(references):
        return
    metric = Nist([references], Options(tokenize="none"))
    expected = corpus_nist([[r.split()] for r in references], [h.split() for h in hypotheses])
    assert float(metric.score(metric.statistics(hypotheses).sum(axis=0))) == pytest.approx(expected, abs=1e-9)


@given(corpus)
def test_nist_is_mtevals_with_several_references(pairs: list[tuple[str, str, str]]) -> None:
    """The definition, written down a second time: clipped by the largest count, average reference length."""
    tokens = [[text.lower().split() for text in row] for row in pairs]

    def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    counts: Counter[tuple[str, ...]] = Counter()
    for _, *refs in tokens:
        for ref in refs:
            for n in range(1, 6):
                counts += grams(ref, n)
    words = sum(len(ref) for _, *refs in tokens for ref in refs)
    total = 0.0
    for n in range(1, 6):
        gained, produced = 0.0, 0
        for hypothesis, *refs in tokens:
            for gram, count in grams(hypothesis, n).items():
                produced += count
                clipped = min(count, max(grams(ref, n)[gram] for ref in refs))
                if clipped:
                    gained += clipped * math.log2((counts[gram[:-1]] if n > 1 else words) / counts[gram])
        total += gained / max(produced, 1)
    ratio = min(1.0, sum(len(row[0]) for row in tokens) / (words / 2)) if words else 0.0
    expected = total * math.exp(math.log(0.5) * (math.log(ratio) / math.log(1.5)) ** 2) if ratio else 0.0
    metric = Nist([[row[1] for row in pairs], [row[2] for row in pairs]], Options(tokenize="none"))
    assert float(metric.score(metric.statistics([row[0] for row in pairs]).sum(axis=0))) == pytest.approx(expected)


class NoSynonyms:
    @staticmethod
    def synsets(word: str) -> list[Any]:
        return []


@given(corpus)
def test_sentence_meteor_equals_nltk(pairs: list[tuple[str, str, str]]) -> None:
    metric = Meteor([[row[1] for row in pairs], [row[2] for row in pairs]], Options(tokenize="none"))
    metric._synonyms = None
    scores = metric.sentence_scores(metric.statistics([row[0] for row in pairs]))
    for score, (hypothesis, *refs) in zip(scores, pairs, strict=True):
        expected = meteor_score([r.split() for r in refs], hypothesis.split(), wordnet=NoSynonyms)
        assert score == pytest.approx(100 * expected)


def test_meteor_of_a_text_comes_from_summed_counts_and_says_how_it_matched() -> None:
    metric = Meteor([["the cats sat", "a b c d"]], Options(tokenize="none"))
    rows = metric.statistics(["the cat sat", "a c b"])
    assert rows.tolist() == [[3, 1, 3, 3], [3, 3, 3, 4]]
    mean = 6 / (0.9 * 7 + 0.1 * 6)
    assert float(metric.score(rows.sum(axis=0))) == pytest.approx(100 * mean * (1 - 0.5 * (4 / 6) ** 3))
    assert "match:exact+stem" in metric.signature
    chinese = Meteor([["猫 坐"]], Options(tokenize="none", language="zh"))
    assert "match:exact|stem:none" in chinese.signature
    french = Meteor([["les chats mangent"]], Options(tokenize="none", language="fr"))
    assert french.statistics(["le chat mange"])[0, 0] >= 1


def test_wrong_arguments_are_reported() -> None:
    with pytest.raises(ConfigError, match="bleu-lc, bleu, nist"):
        evaluate(["a"], ["a"], ["blue"])
    with pytest.raises(ConfigError, match="13a"):
        evaluate(["a"], ["a"], options=Options(tokenize="13b"))
    with pytest.raises(InputError, match="reference 2 has 1 sentences but there are 2"):
        evaluate(["a", "b"], [["a", "b"], ["a"]])
    with pytest.raises(InputError, match="no sentences"):
        evaluate([], [[]])
    with pytest.raises(ConfigError, match="sign, bootstrap, randomization, all"):
        compare(["a"], ["a"], ["a"], test="t")
    with pytest.raises(InputError, match="other has 1 sentences but the baseline has 2"):
        compare(["a", "b"], {"other": ["a"]}, ["a", "b"])


# --- significance -------------------------------------------------------------------------------------------------


def tables(names: tuple[str, ...] = ("bleu",)) -> list[tuple[Metric, Array, Array]]:
    options = Options(tokenize="none")
    metrics = build_metrics(names, [REFERENCES], options)
    return [(metric, metric.statistics(BAD), metric.statistics(GOOD)) for metric in metrics]


def test_resampling_draws_and_scores_as_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    theirs = {"BLEU": BLEU(tokenize="none", force=True), "chrF2": CHRF()}
    systems = [("bad", BAD), ("good", GOOD)]
    for kind, samples in (("bs", 300), ("ar", 500)):
        _, results = PairedTest(systems, theirs, [REFERENCES], test_type=kind, n_samples=samples)()
        for (metric, bad, good), name in zip(tables(("bleu", "chrf")), ("BLEU", "chrF2"), strict=True):
            rng = np.random.default_rng(77)
            observed = abs(float(metric.score(good.sum(axis=0)) - metric.score(bad.sum(axis=0))))
            if kind == "bs":
                sizes = np.abs(bootstrap_differences(metric, bad, good, samples, rng))
                values = sizes - sizes.mean()  # sacreBLEU centres the sizes of the differences
            else:
                values = np.abs(randomized_differences(metric, bad, good, samples, rng))
            assert ((values > observed).sum() + 1) / (samples + 1) == results[name][1].p_value


@pytest.mark.parametrize("name", ["bleu", "nist", "meteor", "chrf", "ter"])
def test_sign_counts_equal_scoring_each_replacement(name: str) -> None:
    bad, good, references = BAD[:20], GOOD[:20], REFERENCES[:20]
    good[3] = bad[3]
    options = Options(tokenize="none")
    before = evaluate(bad, references, [name], options=options)[name].score
    signs = []
    for i in range(20):
        after = evaluate([*bad[:i], good[i], *bad[i + 1 :]], references, [name], options=options)[name].score
        gain = (before - after) if name == "ter" else (after - before)
        signs.append(0 if abs(gain) < 1e-9 else math.copysign(1, gain))
    metric = build_metrics([name], [references], options)[0]
    expected = signs.count(1), signs.count(-1), signs.count(0)
    assert sign_counts(metric, metric.statistics(bad), metric.statistics(good)) == expected


def test_sign_test_is_the_binomial_test() -> None:
    for better, worse in itertools.product(range(8), repeat=2):
        n = better + worse
        tail = sum(math.comb(n, k) for k in range(min(better, worse) + 1)) / 2**n
        assert sign_test(better, worse) == pytest.approx(min(1.0, 2 * tail))
    assert sign_test(60000, 59000) == pytest.approx(0.00378, abs=2e-4)


def test_randomization_equals_all_swaps_on_a_small_set() -> None:
    metric, bad, good = tables()[0]
    bad, good = bad[:9], good[:9]
    observed = abs(float(metric.score(good.sum(axis=0)) - metric.score(bad.sum(axis=0))))
    as_large = 0
    for swaps in itertools.product([0, 1], repeat=9):
        mask = np.array(swaps)[:, None]
        first, second = np.where(mask, bad, good).sum(axis=0), np.where(mask, good, bad).sum(axis=0)
        as_large += abs(float(metric.score(first) - metric.score(second))) >= observed - 1e-9
    comparison = compare_statistics(metric, bad, good, "randomization", 20000, seed=1)
    assert comparison.p == pytest.approx(as_large / 512, abs=0.015)


def test_blocks_do_not_change_anything_but_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    metric, bad, good = tables()[0]
    whole = bootstrap_differences(metric, bad, good, 50, np.random.default_rng(1))
    monkeypatch.setattr("treeglot.evaluation.significance._BLOCK", 80 * 7)
    assert np.array_equal(bootstrap_differences(metric, bad, good, 50, np.random.default_rng(1)), whole)


def test_all_tests_see_a_clear_difference_and_none_in_equal_output() -> None:
    comparisons = compare(BAD, {"good": GOOD, "same": BAD}, REFERENCES, ["bleu", "ter"], test="all", samples=500)
    assert len(comparisons) == 12
    for result in comparisons:
        if result.system == "good":
            assert result.p < 0.05 and "good" in str(result)
            assert (result.difference > 0) == (result.metric == "BLEU")
        else:
            assert result.p == 1.0 and result.difference == 0
    assert comparisons == compare(
        BAD, {"good": GOOD, "same": BAD}, REFERENCES, ["bleu", "ter"], test="all", samples=500
    )
    good = next(r for r in comparisons if r.test == "bootstrap" and r.metric == "TER" and r.system == "good")
    assert good.wins > 0.95 and good.interval[1] < 0  # fewer edits


@pytest.mark.parametrize("test", ["sign", "bootstrap", "randomization"])
def test_a_true_null_hypothesis_is_rejected_about_as_often_as_it_should(test: str) -> None:
    metric = build_metrics(["bleu"], [REFERENCES], Options(tokenize="none"))[0]
    rng = np.random.default_rng(4)
    pool = [metric.statistics(made_up(80, 0.3, 100 + i, REFERENCES)) for i in range(12)]
    rejected, runs = 0, 200
    for _ in range(runs):
        a, b = (np.stack([pool[j][i] for i, j in enumerate(rng.integers(12, size=80))]) for _ in range(2))
        rejected += compare_statistics(metric, a, b, test, 300, seed=int(rng.integers(1 << 30))).p < 0.1
    assert rejected / runs < 0.17  # 0.1 and three standard errors


# --- the command line ---------------------------------------------------------------------------------------------

app = typer.Typer()
app.command()(evaluate_command)


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    paths = {}
    for name, lines in {"good": GOOD, "bad": BAD, "ref": REFERENCES}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths[name] = str(tmp_path / name)
    return paths


def test_command_prints_scores_and_tests(texts: dict[str, str]) -> None:
    call = [texts["good"], texts["ref"], "--tokenize", "none"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0
    assert [row.split("|")[0] for row in result.stdout.splitlines()] == [
        "BLEU-lc",
        "BLEU",
        "NIST",
        "METEOR",
        "chrF",
        "TER",
    ]
    more = [*call, "--metrics", "bleu,ter", "--baseline", texts["bad"], "--json", "--sentence"]
    record = json.loads(CliRunner().invoke(app, more).stdout)
    assert [score["metric"] for score in record["scores"]] == ["BLEU", "TER"]
    assert len(record["scores"][0]["sentences"]) == 80
    assert record["baseline"]["scores"][0]["score"] < record["scores"][0]["score"]
    assert {test["test"] for test in record["tests"]} == {"sign", "bootstrap", "randomization"}
    plain = CliRunner().invoke(app, [*call, "-m", "bleu", "--sentence"]).stdout.splitlines()
    assert plain[0] == "line\tBLEU" and len(plain) == 83 and "eff:yes" in plain[81]


def test_files_of_different_lengths_are_an_error_with_a_place(texts: dict[str, str], tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("\n".join(REFERENCES[:70]) + "\n")
    result = CliRunner().invoke(app, [texts["good"], texts["ref"], str(short)])
    assert isinstance(result.exception, InputError)
    assert (result.exception.path, result.exception.line) == (str(short), 71)
    assert "ends after 70 lines" in str(result.exception)


def test_meteor_is_an_extra(texts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without NLTK the other metrics are computed; METEOR by name is refused before anything is done."""
    monkeypatch.setitem(sys.modules, "nltk", None)
    assert "meteor" not in usable_metrics() and len(usable_metrics()) == len(METRICS) - 1
    result = CliRunner().invoke(app, [texts["good"], texts["ref"]])
    assert result.exit_code == 0 and "METEOR" not in result.stdout and "treeglot[meteor]" in result.stderr
    for call in ([texts["good"], texts["ref"]], ["--system", "phrases", "-p", str(tmp_path / "nowhere")]):
        refused = CliRunner().invoke(app, [*call, "-m", "bleu,meteor"])
        assert isinstance(refused.exception, ConfigError) and "needs the package nltk" in str(refused.exception)
        assert "pip install 'treeglot[meteor]'" in refused.exception.remedy
    assert [score.metric for score in evaluate(["a b"], ["a b"])] == ["BLEU-lc", "BLEU", "NIST", "chrF", "TER"]


def test_only_meteor_imports_nltk() -> None:
    code = (
        "import sys; from treeglot.cli import app; from treeglot.evaluation import evaluate\n"
        "evaluate(['a b'], ['a b'], ['bleu', 'nist', 'chrf', 'ter'])\n"
        "import treeglot.pipeline.compare, treeglot.cli.demo\n"
        "assert not any(name.split('.')[0] == 'nltk' for name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
