"""treeglot compare: one table from whatever is there, kept for the next time."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_runner import Run
from treeglot import ConfigError
from treeglot.evaluation import Options, evaluate
from treeglot.examples import Sizes, write_example
from treeglot.pipeline.compare import METRICS, compare_systems, table_cells, table_header
from treeglot.pipeline.decoding import main, peak_memory
from treeglot.pipeline.project import Project
from treeglot.pipeline.systems import groups
from treeglot.search import Decoder, Translation
from treeglot.trees.corpus import ParsedCorpus

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
iterations = 1
nbest = 10
[limits]
threads = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("compare")
    write_example(place / "raw", sizes=Sizes(200, 15, 15, 10))
    sections = []
    for part in ("train", "dev", "test", "tests.test_long"):
        name = part.removeprefix("tests.")
        sections.append(
            f'[data.{part}]\nconllu = "raw/{name}.zh.conllu"\npenn = "raw/{name}.zh.penn"\ntarget = "raw/{name}.en"'
        )
    (place / "treeglot.toml").write_text(CONFIG.format(data="\n".join(sections)), encoding="utf-8")
    return place


def test_table(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.md"
    result = run("-q", "compare", "phrases", "consdep2str", "--seeds", "2", "-p", folder, "--json", "-o", out)
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert [(row["part"], row["system"]) for row in record["rows"]] == [
        ("test", "phrases"),
        ("test", "consdep2str"),
        ("test_long", "phrases"),
        ("test_long", "consdep2str"),
    ]
    for row in record["rows"]:
        assert (
            row["seeds"] == [1, 2]
            and len(row["dev"]) == 2
            and row["dev_metric"] == "BLEU"
            and row["rules"] + row["phrases"] > 100
        )
        references = (folder / f"corpus/{row['part']}.en").read_text(encoding="utf-8").splitlines()
        for seed, ending in ((0, ""), (1, ".seed2")):
            path = folder / f"runs/{row['system']}/{row['part']}{ending}.txt"
            lines = path.read_text(encoding="utf-8").splitlines()
            assert len(lines) == len(references)
            report = evaluate(lines, references, ["bleu-lc"], options=Options(tokenize="none"))
            assert row["scores"]["bleu-lc"][seed] == pytest.approx(report.scores[0].score)
        assert row["mean"]["bleu-lc"] == pytest.approx(statistics.fmean(row["scores"]["bleu-lc"]))
        assert row["deviation"]["bleu-lc"] == pytest.approx(statistics.stdev(row["scores"]["bleu-lc"]))
        for facts in row["decoding"]:
            assert facts["cpu_seconds"] >= 0 and 10e6 < facts["peak_memory"] < 1e9
        baseline = row["system"] == "phrases"
        assert (row["phrasal_rules"] is None) == baseline
        assert [test["test"] for test in row["tests"]] == ([] if baseline else [*["bootstrap", "sign"] * 2, "runs"])
    text = out.read_text(encoding="utf-8")
    assert text.count("| consdep2str |") == 2 and "±" in text and "tok:none" in text and "### test_long" in text
    assert set(record["signatures"]) == set(METRICS)


def test_a_part_is_decoded_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The phrasal shares come from the same translations as the text."""
    calls: list[int] = []
    translate = Decoder.translate

    def counted(self: Decoder, source: ParsedCorpus, **options: Any) -> list[Translation]:
        calls.append(len(source))
        return translate(self, source, **options)

    monkeypatch.setattr(Decoder, "translate", counted)
    for system in ("phrases", "consdep2str", "cons2str"):
        Project(folder).train(lambda _: None, [system])
        calls.clear()
        main(str(folder), system, "test", "1", str(tmp_path / "text"), str(tmp_path / "facts"))
        assert calls == [15]
        facts = json.loads((tmp_path / "facts").read_text(encoding="utf-8"))
        assert ("hdr_rules" in facts) == (system == "consdep2str")
        assert facts.get("phrasal_rules", 0) <= facts.get("hdr_rules", 0)


def test_a_second_time_nothing_runs(folder: Path) -> None:
    announced: list[str] = []
    project = Project(folder)
    first = compare_systems(project, ["phrases", "consdep2str"], announced.append, seeds=2)
    assert all(line.endswith("up to date") for line in announced), announced
    rows = [table_cells(row) for row in first.rows]
    assert all(len(row) == len(table_header(first.signatures)) for row in rows)
    # Another metric is only another scoring; fewer seeds or parts are a part of what is there.
    announced.clear()
    compare_systems(project, ["phrases"], announced.append, parts=["test"], metrics=["bleu-lc"])
    assert [line for line in announced if line.endswith("…")] == ["scores-phrases-test …"]


def test_terminal_and_running_text(run: Run, folder: Path) -> None:
    result = run("-q", "compare", "phrases", "-p", folder, "--part", "test", "--running-text")
    assert result.code == 0 and "tok:13a" in result.out and "phrases" in result.out
    header, row = result.out.splitlines()[1:3]
    assert len(header.split("  ")) > 5 and row.startswith("phrases")


def test_some_lines_alone(run: Run, folder: Path, tmp_path: Path) -> None:
    """The whole part, and the lines of a list beside it."""
    chosen = [2, 3, 5, 8, 13]
    (tmp_path / "some").write_text("".join(f"{number}\n" for number in chosen))
    result = run(
        "-q",
        "compare",
        "phrases",
        "consdep2str",
        "-p",
        folder,
        "--part",
        "test",
        "--lines",
        tmp_path / "some",
        "--json",
    )
    assert result.code == 0, result.err
    rows = json.loads(result.out)["rows"]
    parts = ["test", "test", "test, 5 lines of some", "test, 5 lines of some"]
    assert [row["part"] for row in rows] == parts
    references = (folder / "corpus/test.en").read_text(encoding="utf-8").splitlines()
    for row in rows[2:]:
        lines = (folder / f"runs/{row['system']}/test.txt").read_text(encoding="utf-8").splitlines()
        picked = [[side[number - 1] for number in chosen] for side in (lines, references)]
        report = evaluate(*picked, ["bleu-lc", "chrf"], options=Options(tokenize="none"))
        assert [row["scores"][name][0] for name in ("bleu-lc", "chrf")] == pytest.approx(
            [s.score for s in report.scores]
        )
    assert all(0 <= row["dropped_words"] < 0.5 for row in rows)
    several = run("compare", "phrases", "-p", folder, "--lines", tmp_path / "some")
    assert several.code == 1 and "--part test" in several.err


def test_a_group_of_systems(run: Run, tmp_path: Path) -> None:
    """The nine rows of the paper tree-kernels: rules, speed, memory, the share of sequences, BLEU with and without case."""
    write_example(tmp_path / "raw", sizes=Sizes(60, 5, 5, 0))
    sections = [
        '[data.train]\npenn = "raw/train.zh.penn"\ntarget_penn = "raw/train.en.penn"',
        '[data.test]\npenn = "raw/test.zh.penn"\ntarget = "raw/test.en"',
    ]
    (tmp_path / "treeglot.toml").write_text(CONFIG.format(data="\n".join(sections)), encoding="utf-8")
    result = run("-q", "compare", "tree2tree", "-p", tmp_path, "--json", "-o", tmp_path / "table.md")
    assert result.code == 0, result.err
    rows = {row["system"]: row for row in json.loads(result.out)["rows"]}
    assert tuple(rows) == groups()["tree2tree"] and len(rows) == 9
    for name, row in rows.items():
        assert {"bleu", "bleu-lc"} <= row["scores"].keys() and row["sentences_per_core_second"] > 0
        phrase_based = name.startswith("phrases")
        assert (row["phrases"] > 0) == phrase_based == (row["rules"] == 0) == (not row["uses"])
        if not phrase_based:
            share = row["uses"]["sequence sent"]
            assert 0 < share <= 1 if name.startswith("stssg") else share == 0
    assert rows["phrases"]["phrases"] < rows["phrases-ewos"]["phrases"] == rows["phrases-dirc"]["phrases"]
    header = next(line for line in (tmp_path / "table.md").read_text(encoding="utf-8").splitlines() if "system" in line)
    assert "| bleu | cased bleu |" in header and header.endswith("| sequence sent |")
    again = run("compare", "tree2tree", "phrases", "-p", tmp_path)
    assert again.code == 1 and "once each" in again.err
    # A system of the project with the name of a group is that system.
    with (tmp_path / "treeglot.toml").open("a", encoding="utf-8") as config:
        config.write('[systems.tree2tree]\ngrammars = ["phrases"]\n')
    assert [row.system for row in compare_systems(Project(tmp_path), ["tree2tree"], lambda _: None).rows] == [
        "tree2tree"
    ]


def test_wrong_requests(run: Run, folder: Path) -> None:
    for arguments, says in (
        (("phrases", "phrases"), "once each"),
        (("worst",), "no system 'worst'"),
        (("phrases", "--part", "nothing"), "no data.nothing"),
    ):
        result = run("compare", *arguments, "-p", folder)
        assert result.code == 1 and says in result.err
    with pytest.raises(ConfigError):
        compare_systems(Project(folder), ["phrases"], print, seeds=0)


def test_metrics_are_checked_before_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk", None)
    messages: list[str] = []
    for metric, says in (("meteor", "needs the package nltk"), ("mereor", "no metric 'mereor'")):
        with pytest.raises(ConfigError, match=says):
            compare_systems(Project(folder), ["phrases"], messages.append, metrics=["bleu", metric])
    assert not messages, "nothing was trained"


def test_memory_is_of_this_process() -> None:
    before = peak_memory()
    block = bytearray(64 << 20)
    block[::4096] = b"x" * len(block[::4096])
    assert peak_memory() > before - (1 << 20) and len(block) == 64 << 20
