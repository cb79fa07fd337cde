"""The stage runner: skips what is done, re-runs what changed, survives kills at any point."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import pytest

from treeglot import TreeglotError
from treeglot.alignment import own
from treeglot.lm import model as lm_file
from treeglot.pipeline import memory, rule_tables, stages
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.project import Project
from treeglot.pipeline.stages import Runner, Stage, digest
from treeglot.tables import table as phrase_file


def upper(folder: Path, calls: list[str], factor: int = 1) -> Stage:
    def run(inputs: dict[str, Path], outputs: dict[str, Path], work: Path) -> None:
        calls.append("upper")
        outputs["loud"].write_text(inputs["text"].read_text(encoding="utf-8").upper() * factor, encoding="utf-8")

    return Stage(
        "upper",
        {"text": folder / "a.txt"},
        {"loud": folder / "out" / "b.txt"},
        {"factor": factor},
        run,  # type: ignore[arg-type]
    )


def test_runs_once_and_again_when_something_changes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    calls: list[str] = []

    def go(factor: int = 1) -> bool:
        return Runner(tmp_path, "1").run(upper(tmp_path, calls, factor)).skipped

    assert not go()
    assert (tmp_path / "out/b.txt").read_text(encoding="utf-8") == "ABC"
    assert go() and calls == ["upper"]
    assert not go(2) and (tmp_path / "out/b.txt").read_text(encoding="utf-8") == "ABCABC"
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    assert not go(2)
    (tmp_path / "out/b.txt").write_text("touched", encoding="utf-8")
    assert not go(2) and (tmp_path / "out/b.txt").read_text(encoding="utf-8") == "XX"
    (tmp_path / "out/b.txt").unlink()
    assert not go(2)
    (tmp_path / "out/b.txt").touch()
    (tmp_path / "out/b.txt").write_text("XX", encoding="utf-8")
    assert go(2), "the same content under another time is the same"
    (tmp_path / ".treeglot/manifests/upper.json").write_text("{broken", encoding="utf-8")
    assert not go(2)
    assert not list((tmp_path / ".treeglot/work").iterdir())


def test_a_failing_stage_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")

    def run(inputs: object, outputs: dict[str, Path], work: Path) -> None:
        outputs["b"].write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    stage = Stage("fails", {"a": tmp_path / "a.txt"}, {"b": tmp_path / "b.txt"}, {}, run)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        Runner(tmp_path, "1").run(stage)
    assert not (tmp_path / "b.txt").exists()
    assert Runner(tmp_path, "1").manifest("fails") is None


def test_what_a_stage_keeps_survives_but_not_another_key(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    seen: list[bool] = []

    def stage(parameter: int, fail: bool) -> Stage:
        def run(inputs: object, outputs: dict[str, Path], work: Path) -> None:
            seen.append((work / "half").exists())
            (work / "half").touch()
            if fail:
                raise KeyboardInterrupt
            outputs["b"].touch()

        return Stage("long", {"a": tmp_path / "a.txt"}, {"b": tmp_path / "b"}, {"p": parameter}, run)  # type: ignore[arg-type]

    for parameter, fail in ((1, True), (1, True), (2, True), (2, False)):
        if fail:
            with pytest.raises(KeyboardInterrupt):
                Runner(tmp_path, "1").run(stage(parameter, fail))
        else:
            Runner(tmp_path, "1").run(stage(parameter, fail))
    assert seen == [False, True, False, True]


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(TreeglotError, match="needs text"):
        Runner(tmp_path, "1").run(upper(tmp_path, []))
    (tmp_path / "a.txt").touch()
    lazy = Stage("lazy", {}, {"b": tmp_path / "b"}, {}, lambda i, o, w: None)
    with pytest.raises(TreeglotError, match="did not write b"):
        Runner(tmp_path, "1").run(lazy)
    first, second = Runner(tmp_path, "1"), Runner(tmp_path, "1")
    with first.locked(), pytest.raises(TreeglotError, match="another treeglot"), second.locked():
        pass


def test_manifest_says_where_things_came_from(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    Runner(tmp_path, "1.2").run(upper(tmp_path, []))
    noted = json.loads((tmp_path / ".treeglot/manifests/upper.json").read_text(encoding="utf-8"))
    assert noted["treeglot"] == "1.2" and noted["inputs"]["text"]["path"] == "a.txt"
    assert noted["outputs"]["loud"]["path"] == "out/b.txt" and len(noted["outputs"]["loud"]["digest"]) == 64
    assert noted["peak_memory"] > 1_000_000


def interrupted(folder: Path, name: str, seen: list[bool], parameter: int = 1) -> None:
    """Run a stage that keeps a file and is stopped; ``seen``: whether the file was there from before."""

    def run(inputs: object, outputs: dict[str, Path], work: Path) -> None:
        seen.append((work / "half").exists())
        (work / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Runner(folder, "1").run(Stage(name, {}, {"b": folder / "b"}, {"p": parameter}, run))  # type: ignore[arg-type]


def test_a_stage_leaves_the_resume_data_of_others_alone(tmp_path: Path) -> None:
    seen: list[bool] = []
    for name in ("tuning-mine.v2", "tuning-mine", "tuning-mine.v2", "tuning-mine"):
        interrupted(tmp_path, name, seen)
    assert seen == [False, False, True, True]
    interrupted(tmp_path, "tuning-mine", seen, parameter=2)
    interrupted(tmp_path, "tuning-mine.v2", seen)
    assert seen[4:] == [False, True], "its own of another key is thrown away, that of NAME.v2 is not"
    assert len(list((tmp_path / ".treeglot/work").iterdir())) == 2


def test_one_runner_sees_an_input_that_changes(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("abc", encoding="utf-8")
    os.utime(text, (1, 1))
    runner = Runner(tmp_path, "1")
    calls: list[str] = []
    for content, skipped in (("abc", False), ("abc", True), ("xyz", False), ("xyz", True)):
        text.write_text(content, encoding="utf-8")
        assert runner.run(upper(tmp_path, calls)).skipped == skipped
    assert (tmp_path / "out/b.txt").read_text(encoding="utf-8") == "XYZ"


def test_an_input_that_rests_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(stages, "digest", lambda path: read.append(path) or digest(path))
    monkeypatch.setattr(stages, "_RACY", 0)
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("abc", encoding="utf-8")
    runner = Runner(tmp_path, "1")
    for path in (tmp_path / "a.txt", tmp_path / "folder"):
        first = runner.digest(path)
        assert runner.digest(path) == first and read.count(path) == 1
        (path if path.is_file() else path / "inside").write_text("other", encoding="utf-8")
        assert runner.digest(path) != first and read.count(path) == 2


def test_a_file_inside_an_output_folder_is_looked_at(tmp_path: Path) -> None:
    def run(inputs: object, outputs: dict[str, Path], work: Path) -> None:
        outputs["model"].mkdir()
        (outputs["model"] / "weights").write_text("good", encoding="utf-8")

    stage = Stage("model", {}, {"model": tmp_path / "model"}, {}, run)  # type: ignore[arg-type]
    assert not Runner(tmp_path, "1").run(stage).skipped
    assert Runner(tmp_path, "1").run(stage).skipped
    (tmp_path / "model/weights").write_text("evil", encoding="utf-8")
    assert not Runner(tmp_path, "1").run(stage).skipped
    assert (tmp_path / "model/weights").read_text(encoding="utf-8") == "good"


def test_another_version_of_a_format_runs_a_stage_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    stage = upper(tmp_path, [])
    runner = Runner(tmp_path, "1")
    for version, skipped in ((1, False), (1, True), (2, False), (2, True)):
        assert runner.run(replace(stage, formats={"table": version})).skipped == skipped
    noted = runner.manifest("upper")
    assert noted is not None and noted["formats"] == {"table": 2}


def test_work_is_announced_to_who_must_agree(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")

    def refuse() -> None:
        raise TreeglotError("the disk is full")

    with pytest.raises(TreeglotError, match="full"):
        Runner(tmp_path, "1").run(upper(tmp_path, []), before=refuse)
    Runner(tmp_path, "1").run(upper(tmp_path, []))
    assert Runner(tmp_path, "1").run(upper(tmp_path, []), before=refuse).skipped


def memory_peaks(folder: Path) -> list[tuple[int, str]]:
    """What two stages note, the first of which takes 64 MB and the second nothing."""
    noted = []
    for name, megabytes in (("large", 64), ("small", 0)):

        def run(inputs: object, outputs: dict[str, Path], work: Path, size: int = megabytes << 20) -> None:
            block = b"x" * size
            outputs["b"].write_text(str(len(block)), encoding="utf-8")

        stage = Stage(name, {}, {"b": folder / name}, {}, run)  # type: ignore[arg-type]
        result = Runner(folder, "1").run(stage)
        manifest = Runner(folder, "1").manifest(name)
        assert manifest is not None and manifest["peak_memory"] == result.peak_memory
        noted.append((result.peak_memory, manifest["peak_memory_is"]))
    return noted


def test_peak_memory_is_of_the_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.access("/proc/self/clear_refs", os.W_OK):
        # In a process of its own: what others left free in this one would be used first.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            large, small = fresh.submit(memory_peaks, tmp_path).result()
        assert small[0] < large[0] - (48 << 20) and small[1] == large[1] == "of this stage"
    monkeypatch.setattr(memory, "_RESET", tmp_path / "nowhere" / "clear_refs")
    (tmp_path / "second").mkdir()
    block = b"x" * (128 << 20)  # a peak before both
    del block
    large, small = memory_peaks(tmp_path / "second")
    assert small[0] >= large[0] and small[1].startswith("of an earlier one")


def small_project(folder: Path) -> Project:
    (folder / "raw").mkdir()
    (folder / "raw/train.zh").write_text("一 二\n二 三\n" * 3, encoding="utf-8")
    (folder / "raw/train.en").write_text("one two\ntwo three\n" * 3, encoding="utf-8")
    (folder / CONFIG_NAME).write_text(
        '[languages]\nsource = "zh"\ntarget = "en"\n[text]\ntokenizer = "space"\n[lm]\norder = 2\n'
        '[data.train]\nsource = "raw/train.zh"\ntarget = "raw/train.en"\n[systems.hierarchical]\n',
        encoding="utf-8",
    )
    return Project(folder)


def test_a_full_disk_does_not_stop_a_project_that_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_project(tmp_path).train(print)
    calls = []
    full = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: calls.append(path) or full)
    assert all(result.skipped for result in Project(tmp_path).train(print)) and not calls
    (tmp_path / "raw/train.en").write_text("one two\ntwo four\n" * 3, encoding="utf-8")
    with pytest.raises(TreeglotError, match="a run may need"):
        Project(tmp_path).train(print)


@pytest.mark.parametrize(
    ("module", "stage"),
    [(own, "alignment"), (phrase_file, "phrase-table"), (lm_file, "lm"), (rule_tables, "rules-hierarchical")],
)
def test_a_new_format_makes_its_files_anew(
    module: ModuleType, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project(tmp_path).train(print)
    monkeypatch.setattr(module, "FORMAT_VERSION", module.FORMAT_VERSION + 1)
    results = {result.name: result.skipped for result in Project(tmp_path).train(print)}
    assert [name for name, skipped in results.items() if not skipped] == [stage]


def test_each_binary_file_has_the_version_that_its_format_says(tmp_path: Path) -> None:
    """Magic bytes (8), then the version: what the stages carry is what is in the file."""
    project = small_project(tmp_path)
    project.train(print)
    files = {
        tmp_path / "alignment/model/model.tgwa": own,
        project.table: phrase_file,
        project.model: lm_file,
        tmp_path / "tables/hierarchical.tgrt": rule_tables,
    }
    for path, module in files.items():
        assert int.from_bytes(path.read_bytes()[8:12], "little") == module.FORMAT_VERSION, path
