"""The stage runner: skips what is done, re-runs what changed, survives kills at any point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from treeglot import TreeglotError
from treeglot.pipeline.stages import Runner, Stage


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
    one, two = Runner(tmp_path, "1"), Runner(tmp_path, "1")
    with one.locked(), pytest.raises(TreeglotError, match="another treeglot"), two.locked():
        pass


def test_manifest_says_where_things_came_from(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abc", encoding="utf-8")
    Runner(tmp_path, "1.2").run(upper(tmp_path, []))
    noted = json.loads((tmp_path / ".treeglot/manifests/upper.json").read_text(encoding="utf-8"))
    assert noted["treeglot"] == "1.2" and noted["inputs"]["text"]["path"] == "a.txt"
    assert noted["outputs"]["loud"]["path"] == "out/b.txt" and len(noted["outputs"]["loud"]["digest"]) == 64
    assert noted["peak_memory"] > 1_000_000
