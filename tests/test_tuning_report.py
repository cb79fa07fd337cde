"""What a tuning run leaves behind beside weights: its report with warnings, and replicates with their statistics."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from cli_runner import Run
from treeglot import InputError
from treeglot.evaluation import compare_runs
from treeglot.evaluation.metrics import Options, build_metrics
from treeglot.evaluation.significance import dealt_differences
from treeglot.examples import Sizes, write_example
from treeglot.tuning import Iteration, TuningResult, random_start
from treeglot.tuning.report import TuningReport, changed_translations

CONFIG = """\
[languages]
source = "zh"
target = "en"
{data}
[text]
casing = "lower"
tokenizer = "space"
[lm]
order = 3
[tuning]
method = "expected"
iterations = 3
nbest = 20
[limits]
threads = {threads}
"""


def project(place: Path, threads: int) -> Path:
    write_example(place / "raw", sizes=Sizes(300, 30, 15, 10))
    sections = [
        f'[data.{part}]\nsource = "raw/{part}.zh"\ntarget = "raw/{part}.en"' for part in ("train", "dev", "test")
    ]
    (place / "treeglot.toml").write_text(CONFIG.format(data="\n".join(sections), threads=threads), encoding="utf-8")
    return place


class Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.data: list[str] = []

    def handle_data(self, data: str) -> None:
        self.data.append(data)


def kill_tuning(folder: Path, seeds: int) -> int:
    """Start runs side by side and kill them when one has two rounds behind it; how many rounds there are."""
    work = folder / ".treeglot/work"
    command = [sys.executable, "-m", "treeglot", "-q", "tune", "-p", str(folder), "--seeds", str(seeds)]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while process.poll() is None and not list(work.glob("tuning-*/keep/state/002.json")):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        process.wait()
    return len(list(work.glob("tuning-*/keep/state/0*.json")))


def test_replicates_side_by_side_are_those_of_one_after_the_other(run: Run, tmp_path: Path) -> None:
    folders = [project(tmp_path / name, threads) for name, threads in (("one", 1), ("three", 3))]
    records = []
    # The first are killed while they run, once some have rounds behind them, and go on.
    killed = kill_tuning(folders[1], seeds=3)
    assert not all((folders[1] / f"systems/phrases/weights{seed}.txt").exists() for seed in ("", ".seed2", ".seed3"))
    assert killed >= 1
    for folder in folders:
        result = run("-q", "tune", "-p", folder, "--seeds", "3", "--json")
        assert result.code == 0, result.err
        records.append(json.loads(result.out))
    assert records[0] == records[1]
    assert records[0]["seeds"] == [1, 2, 3] and len(records[0]["dev"]) == 3
    assert records[0]["mean"] == pytest.approx(np.mean(records[0]["dev"]))
    assert records[0]["deviation"] == pytest.approx(np.std(records[0]["dev"], ddof=1))
    names = [
        f"weights{seed}{ending}" for seed in ("", ".seed2", ".seed3") for ending in (".txt", ".log", ".report.txt")
    ]
    for name in names:
        one, other = (folder / "systems/phrases" / name for folder in folders)
        assert one.read_bytes() == other.read_bytes()
    logs = [(folders[0] / f"systems/phrases/weights{seed}.log").read_text() for seed in ("", ".seed2", ".seed3")]
    assert len({log.split("\t")[1] for log in logs}) == 3  # random starts
    text = run("-q", "tune", "-p", folders[0], "--seeds", "3").out
    assert f"{records[0]['mean']:.2f} ± {records[0]['deviation']:.2f}" in text
    assert run("-q", "tune", "-p", folders[0], "--seeds", "3", "--seed", "2").code != 0
    # The report of the first.
    report = (folders[0] / "systems/phrases/weights.report.txt").read_text(encoding="utf-8")
    assert f"BLEU {records[0]['dev'][0]:.2f} on dev" in report
    runs = (folders[0] / "systems/phrases/weights.seeds.html").read_text(encoding="utf-8")
    assert runs == (folders[1] / "systems/phrases/weights.seeds.html").read_text(encoding="utf-8")
    rounds = sum(log.count("\n") for log in logs)
    assert runs.count("<circle") == 2 * rounds and f"± {records[0]['deviation']:.2f} on dev" in runs
    assert "phrases.p_ts" in report and "copied" in report and "fixed" in report and "sentence " in report
    page = Words()
    page.feed((folders[0] / "systems/phrases/weights.report.html").read_text(encoding="utf-8"))
    for line in report.splitlines():
        if line.startswith("  after      "):
            assert line.removeprefix("  after      ") in page.data


def iteration(number: int, score: float, length: float = 1.0) -> Iteration:
    return Iteration(number, {"lm": 1.0, "tm": 0.5, "words": 0.2, "idle": 0.1}, score, 10, 5, 20, length=length)


def report(scores: list[float], stopped: str = "score", length: float = 1.0, **spreads: float) -> TuningReport:
    rounds = tuple(iteration(n, score, length) for n, score in enumerate(scores, 1))
    sizes = {"lm": 1.0, "tm": 2.0, "words": 3.0, "idle": 1.0, **spreads}
    return TuningReport("x", "mert", 1, TuningResult(rounds[0].weights, max(scores), rounds, stopped, sizes, length))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (report([10, 12, 14], "iterations"), "not converged"),
        (report([10, 14, 14], length=0.6), "collapsed in length: the translations have 60 %"),
        (report([10, 14, 14], length=1.7), "too long"),
        (report([10, 14, 14], idle=0.0), "idle is useless"),
        (report([10, 14, 14], idle=0.001), "idle hardly matters"),
        (report([10, 14, 14], words=60.0), "words has 8"),
    ],
    ids=["rising", "short", "long", "useless", "idle", "unbounded"],
)
def test_warnings(outcome: TuningReport, words: str) -> None:
    assert len(outcome.warnings) == 1 and words in outcome.warnings[0]
    assert outcome.warnings[0] in outcome.to_text() and outcome.warnings[0] in outcome.to_html()
    assert sum(outcome.shares.values()) == pytest.approx(1)


def test_a_good_run_has_no_warnings() -> None:
    assert report([10, 14, 14.05, 14.05], "iterations").warnings == []
    assert report([10, 14, 14]).warnings == []


def test_changes_are_the_largest_in_the_order_of_the_text() -> None:
    references = [f"a b c d e f {n}" for n in range(30)]
    before = [" ".join(reference.split()[: 2 + n % 5]) for n, reference in enumerate(references)]
    after = list(references)
    after[3] = before[3]
    changes = changed_translations(references, references, before, after)
    assert len(changes) == 20
    numbers = [change.number for change in changes]
    assert numbers == sorted(numbers) and 4 not in numbers
    assert all(change.gain > 0 for change in changes)
    left_out = {n + 1 for n in range(30)} - set(numbers) - {4}
    assert {n % 5 for n in left_out} <= {4, 0}  # the longest before, that gained least


def test_random_starts_keep_signs_and_what_is_fixed() -> None:
    initial = {"a": 1.0, "b": -2.0, "c": 0.0, "d": 5.0}
    starts = [random_start(initial, ["d"], seed) for seed in range(50)]
    assert starts[3] == random_start(initial, ["d"], 3) != starts[4]
    assert all(start["a"] > 0 > start["b"] and start["c"] == 0 and start["d"] == 5 for start in starts)
    assert 0.5 < np.std([np.log(start["a"]) for start in starts]) < 0.9


REFERENCES = [f"the {n} cats sat on the mat {n} today" for n in range(12)]


def damaged(seed: int, rate: float) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join("x" if rng.random() < rate else w for w in line.split()) for line in REFERENCES]


def test_randomisation_over_runs() -> None:
    better, worse = [damaged(n, 0.1) for n in range(3)], [damaged(10 + n, 0.3) for n in range(3)]
    clear = compare_runs(worse, better, REFERENCES, samples=500)
    assert clear.difference > 5 and clear.p < 0.01 and "runs:3+3" in clear.signature
    same = compare_runs(worse, [damaged(20 + n, 0.3) for n in range(3)], REFERENCES, samples=500)
    assert same.p > 0.05
    assert compare_runs(worse, worse, REFERENCES, samples=100).p == 1.0
    assert clear == compare_runs(worse, better, REFERENCES, samples=500)
    with pytest.raises(InputError):
        compare_runs(worse, [["one line"]], REFERENCES)
    # A better run by chance, and two worse ones that make up for it: one run each looks like a better system, all do not.
    lucky = [damaged(30, 0.15), damaged(31, 0.45), damaged(32, 0.45)]
    assert compare_runs(worse[:1], lucky[:1], REFERENCES, samples=500).p < 0.05
    assert compare_runs(worse, lucky, REFERENCES, samples=500).p > 0.05


def test_dealing_out_runs_equals_all_permutations() -> None:
    runs = [damaged(n, 0.4)[:3] for n in range(3)]
    metric = build_metrics(["bleu-lc"], [REFERENCES[:3]], Options(tokenize="none"))[0]
    tables = np.stack([metric.statistics(run) for run in runs])
    every = []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=3):
        dealt = np.stack([tables[list(order), s] for s, order in enumerate(orders)], axis=1)
        scores = metric.score(dealt.sum(axis=1))
        every.append(scores[1:].mean() - scores[0])
    drawn = dealt_differences(metric, tables, 1, 4000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(np.mean(every), abs=0.06 * np.std(every) + 1e-9)
    assert drawn.std() == pytest.approx(np.std(every), rel=0.06)
    assert set(np.round(drawn, 6)) <= set(np.round(every, 6))
