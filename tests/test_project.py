"""A project from raw text to tuned translations, and the same bytes whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_runner import Run
from effort import worlds
from treeglot.examples import Sizes, write_example
from treeglot.lm import LanguageModel
from treeglot.pipeline.project import Project
from treeglot.pipeline.tuned import tune_system
from treeglot.search import phrase_decoder, read_moses_phrases, read_moses_weights
from treeglot.tables import PhraseTable

CONFIG = """\
[languages]
source = "zh"
target = "en"
[data.train]
source = "raw/train.zh"
target = "raw/train.en"
[data.dev]
source = "raw/dev.zh"
target = "raw/dev.en"
[data.test]
source = "raw/test.zh"
target = "raw/test.en"
[text]
casing = "{casing}"
tokenizer = "space"
[lm]
order = 3
[tuning]
method = "mert"
iterations = 3
nbest = 20
[limits]
threads = 1
"""
MADE = (
    "corpus/train.zh",
    "corpus/train.en",
    "alignment/train.align",
    "alignment/forward.align",
    "tables/phrases.tgpt",
    "lm/en.arpa.gz",
    "lm/en.tglm",
    "systems/phrases/weights.txt",
)


def make_project(folder: Path, raw: Path, casing: str = "lower") -> Path:
    folder.mkdir()
    (folder / "raw").symlink_to(raw)
    (folder / "treeglot.toml").write_text(CONFIG.format(casing=casing), encoding="utf-8")
    return folder


def digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in MADE}


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write_example(folder, sizes=Sizes(400, 25, 25, 0))
    return folder


@pytest.fixture(scope="module")
def tuned(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was made without interruption."""
    folder = make_project(tmp_path_factory.mktemp("project") / "whole", raw)
    subprocess.run([sys.executable, "-m", "treeglot", "-q", "tune", str(folder)], check=True, capture_output=True)
    return folder


def test_translate_and_evaluate(run: Run, tuned: Path) -> None:
    out = tuned / "test.hyp"
    assert run("translate", tuned / "raw/test.zh", "--project", tuned, "-o", out).code == 0
    scored = run("evaluate", out, tuned / "corpus/test.en", "--tokenize", "none", "--json")
    scores = {entry["metric"]: entry["score"] for entry in json.loads(scored.out)["scores"]}
    assert scores["BLEU-lc"] > 25, "400 pairs are few, but not nothing"
    explained = run("translate", tuned / "raw/test.zh", "--project", tuned, "--json", "--explain")
    for line, text in zip(explained.out.splitlines(), out.read_text(encoding="utf-8").splitlines(), strict=True):
        record = json.loads(line)
        assert record["translation"] == text
        goal, *phrases = record["derivation"]
        assert [use["parent"] for use in phrases] == [1] * len(phrases) and goal["words"] == text
        covered = sorted(j for use in phrases for j in range(*use["source_span"]))
        assert covered == list(range(len(record["words"].split())))
        assert " ".join(use["target"] for use in sorted(phrases, key=lambda use: use["target_span"])) == text
    nbest = run("translate", tuned / "raw/test.zh", "--project", tuned, "--nbest", "3").out.splitlines()
    assert all(len(line.split(" ||| ")) == 4 for line in nbest) and nbest[0].startswith("0 ||| ")


def test_a_second_run_does_nothing(run: Run, tuned: Path) -> None:
    before = digests(tuned)
    times = {name: (tuned / name).stat().st_mtime_ns for name in MADE}
    result = run("train", tuned, "--json")
    assert result.code == 0 and all(stage["skipped"] for stage in json.loads(result.out))
    assert run("tune", tuned).code == 0
    assert digests(tuned) == before
    assert times == {name: (tuned / name).stat().st_mtime_ns for name in MADE}


def test_a_changed_setting_runs_what_depends_on_it(run: Run, raw: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw)
    assert run("-q", "train", folder).code == 0
    config = folder / "treeglot.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("order = 3", "order = 2"), encoding="utf-8")
    stages = {stage["name"]: stage["skipped"] for stage in json.loads(run("-q", "train", folder, "--json").out)}
    assert [name for name, skipped in stages.items() if not skipped] == ["lm"]


def test_several_alignments_add_their_counts(run: Run, raw: Path, tuned: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw)
    links = tuned / "alignment/train.align"
    config = folder / "treeglot.toml"
    # A last line without an end stays a line of its own.
    (folder / "other.align").write_text(links.read_text(encoding="utf-8").removesuffix("\n"), encoding="utf-8")
    also = '"other.align", "other.align"'
    section = f'[alignment]\nfile = "{links}"\nalso = [{also}]\n[lm]'
    config.write_text(config.read_text(encoding="utf-8").replace("[lm]", section), encoding="utf-8")
    assert run("-q", "train", folder).code == 0
    once, thrice = PhraseTable(tuned / "tables/phrases.tgpt"), PhraseTable(folder / "tables/phrases.tgpt")
    assert len(once) == len(thrice) > 1000
    for phrase in ("。", "将"):
        counts = {entry.target: entry.count for entry in once.lookup(phrase)}
        assert counts and {entry.target: entry.count for entry in thrice.lookup(phrase)} == {
            target: 3 * count for target, count in counts.items()
        }
    config.write_text(config.read_text(encoding="utf-8").replace("also = [", 'also = ["missing", '), encoding="utf-8")
    missing = run("train", folder)
    assert missing.code == 1 and "alignment.also" in missing.err


def test_truecasing_and_running_text(run: Run, raw: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw, casing="true")
    assert run("-q", "train", folder).code == 0
    result = run("-q", "translate", raw / "test.zh", "--project", folder)
    assert result.code == 0 and len(result.out.splitlines()) == 25
    assert result.out[0].isupper()


@pytest.mark.parametrize("moments", [worlds(20)])
def test_kill_at_random_moments(raw: Path, tuned: Path, tmp_path: Path, moments: int) -> None:
    """kill -9 again and again; what comes out in the end is what an undisturbed run makes."""
    folder = make_project(tmp_path / "killed", raw)
    chance = random.Random(1)
    command = [sys.executable, "-m", "treeglot", "-q", "tune", str(folder)]
    kills = 0
    while kills < moments:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        deadline = time.monotonic() + chance.uniform(0.2, 2.5)
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert process.returncode == 0, process.stderr.read() if process.stderr else ""
        if kills < moments:  # complete: begin anew from a random stage
            kills += 1
            for name in chance.sample(MADE, 3):
                (folder / name).unlink(missing_ok=True)
    subprocess.run(command, check=True, capture_output=True)
    assert digests(folder) == digests(tuned)
    leftovers = [path for path in folder.rglob("*") if ".part" in path.name and ".treeglot" not in path.parts]
    assert not leftovers


class Interrupted(Exception):
    pass


def test_an_interrupted_tuning_leaves_usable_weights(
    run: Run, raw: Path, tuned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_project(tmp_path / "p", raw)
    assert run("-q", "train", folder).code == 0
    untuned = run("translate", raw / "test.zh", "--project", folder)
    assert untuned.code == 0 and "unfinished" not in untuned.err
    project = Project(folder)
    decoders: list[str] = []
    real = Project.decoder
    monkeypatch.setattr(Project, "decoder", lambda *args, **more: decoders.append("opened") or real(*args, **more))  # type: ignore[func-returns-value]
    reports: list[str] = []

    def stop_after_two(message: str) -> None:
        reports.append(message)
        if "iteration 3" in message:
            raise Interrupted

    with pytest.raises(Interrupted):
        tune_system(project, "phrases", stop_after_two)
    assert decoders == ["opened"], "one for all iterations"
    bleu = [float(message.split("BLEU ")[1].split()[0]) for message in reports if "BLEU" in message][:2]
    partial = folder / "systems/phrases/weights.partial.txt"
    assert partial.read_text(encoding="utf-8").startswith(
        f"# unfinished: the best of 2 iterations, BLEU {max(bleu):.2f}"
    )
    assert not (folder / "systems/phrases/weights.txt").exists()
    used = run("translate", raw / "test.zh", "--project", folder)
    assert used.code == 0 and "the weights are unfinished" in used.err and "treeglot tune" in used.err
    given = run("translate", raw / "test.zh", "--project", folder, "--weights", partial)
    assert given.out == used.out
    # Going on ends with the same bytes as without a stop, and nothing unfinished is left.
    tune_system(project, "phrases", reports.append)
    assert (folder / "systems/phrases/weights.txt").read_bytes() == (tuned / "systems/phrases/weights.txt").read_bytes()
    assert not partial.exists()
    assert "unfinished" not in run("translate", raw / "test.zh", "--project", folder).err


def test_two_runs_at_once_are_refused(raw: Path, tmp_path: Path, run: Run) -> None:
    folder = make_project(tmp_path / "p", raw)
    with Project(folder).runner.locked():
        result = run("train", folder)
    assert result.code == 1 and "another treeglot" in result.err


def test_preflight(run: Run, raw: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw)
    config = folder / "treeglot.toml"
    good = config.read_text(encoding="utf-8")
    for old, new, says in (
        ("raw/dev.zh", "raw/missing.zh", "no such file"),
        ("[lm]", '[alignment]\nfile = "missing.align"\n[lm]', "alignment.file"),
        ("[lm]", '[systems.best]\ngrammars = ["phrazes"]\n[lm]', "phrases"),
        ("[lm]", '[systems.best]\ngrammers = ["phrases"]\n[lm]', "did you mean 'grammars'"),
    ):
        config.write_text(good.replace(old, new), encoding="utf-8")
        result = run("train", folder)
        assert result.code == 1 and says in result.err, result.err
        assert not (folder / "corpus").exists(), "nothing starts before everything is there"
    config.write_text(good, encoding="utf-8")
    untrained = run("translate", raw / "test.zh", "--project", folder)
    assert untrained.code == 1 and "treeglot train" in untrained.err
    wrong = run("translate", raw / "test.zh", "--project", folder, "--system", "worst")
    assert wrong.code == 1 and "systems are phrases" in wrong.err


def test_export_to_moses_gives_the_same_scores(run: Run, tuned: Path, tmp_path: Path) -> None:
    out = tmp_path / "moses"
    result = run("export", "moses", out, "--project", tuned)
    assert result.code == 0
    names = {path.name for path in out.iterdir()}
    assert {"moses.ini", "phrase-table.gz", "lex.e2f", "lex.f2e", "lm.arpa.gz", "train.zh", "dev.en"} <= names
    table = read_moses_phrases(out / "phrase-table.gz", out / "reordering-table.wbe-msd-bidirectional-fe.gz")
    weights = read_moses_weights(out / "moses.ini")
    theirs = phrase_decoder(table, LanguageModel(tuned / "lm/en.tglm"), weights)
    ours = Project(tuned).decoder("phrases")
    lines = (tuned / "corpus/test.zh").read_text(encoding="utf-8").splitlines()
    for mine, reference in zip(ours.translate(lines), theirs.translate(lines), strict=True):
        assert mine.score == pytest.approx(reference.score, abs=1e-3)
    assert "[factor-delimiter]" not in (out / "moses.ini").read_text(encoding="utf-8")
    bare = run("translate", tuned / "corpus/test.zh", "--table", out / "phrase-table.gz", "--lm", out / "lm.arpa.gz",
               "--reordering", out / "reordering-table.wbe-msd-bidirectional-fe.gz", "--weights", out / "moses.ini")  # fmt: skip
    assert bare.code == 0 and len(bare.out.splitlines()) == len(lines)
    # A bar inside a word would be the begin of another factor.
    other = shutil.copytree(tuned, tmp_path / "other")
    with (other / "corpus/test.zh").open("a", encoding="utf-8") as file:
        file.write("a|b\n")
    assert run("export", "moses", out, "--project", other).code == 0
    assert "[factor-delimiter]\n|||\n" in (out / "moses.ini").read_text(encoding="utf-8")
    assert read_moses_weights(out / "moses.ini") == weights
