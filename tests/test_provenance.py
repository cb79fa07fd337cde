"""Weights belong to the tables, the language model and the settings that they were tuned with; others are used with a warning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli_runner import Run
from test_project import make_project
from treeglot.examples import Sizes, write_example
from treeglot.pipeline.project import Project
from treeglot.pipeline.provenance import noted, notes, provenance
from treeglot.search import write_weights


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("provenance")
    write_example(base / "raw", sizes=Sizes(100, 8, 8, 0))
    folder = make_project(base / "project", base / "raw")
    change(folder, "iterations = 3", "iterations = 1")
    return folder


def change(folder: Path, old: str, new: str) -> None:
    config = folder / "treeglot.toml"
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def test_weights_are_used_with_a_warning_where_they_were_not_tuned(run: Run, tuned: Path, tmp_path: Path) -> None:
    text, project = tuned / "raw/test.zh", tuned
    assert run("translate", text, "--project", project, "--strict").code == 1, "nothing is trained"
    assert run("-q", "train", project).code == 0
    refused = run("translate", text, "--project", project, "--strict")
    assert refused.code == 1 and "is not tuned" in refused.err and "treeglot tune --system phrases" in refused.err
    assert run("-q", "tune", project).code == 0
    loaded = Project(project)
    path = loaded.weights_path("phrases")
    assert noted(path) == provenance(loaded, loaded.system("phrases"))
    assert set(noted(path)) == {"lm", "table", "settings"}
    best = run("translate", text, "--project", project, "--strict")
    assert best.code == 0 and not best.err

    change(project, "order = 3", "order = 2")
    assert run("-q", "train", project).code == 0
    warned = run("translate", text, "--project", project)
    assert warned.code == 0 and "tuned with another language model" in warned.err
    assert "treeglot tune --system phrases" in warned.err and str(path) in warned.err
    refused = run("translate", text, "--project", project, "--strict")
    assert refused.code == 1 and "tuned with another language model" in refused.err and not refused.out

    shutil.copy(path, tmp_path / "weights")  # also those that are given
    given = run("translate", text, "--project", project, "--weights", tmp_path / "weights")
    assert given.code == 0 and "another language model" in given.err
    bare = ["--table", loaded.table, "--lm", loaded.model, "--weights", tmp_path / "weights"]
    assert "another language model" in run("translate", text, *bare).err
    assert run("translate", text, *bare, "--strict").code == 1

    change(project, "order = 2", "order = 3")
    change(project, "[limits]", "[search]\ndistortion_limit = 2\n[limits]")
    assert run("-q", "train", project).code == 0
    warned = run("translate", text, "--project", project)
    assert "tuned with other settings of the search" in warned.err and "language model" not in warned.err

    values = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    (tmp_path / "by hand").write_text("\n".join(values) + "\n")
    command = ["translate", text, "--project", project, "--weights", tmp_path / "by hand"]
    assert not run(*command).err
    assert "do not say what they were tuned on" in run(*command, "--strict").err


def test_the_wrong_kind_of_tree_is_said(run: Run, tmp_path: Path, tuned: Path) -> None:
    raw = tuned / "raw"
    trees = [f'[data.{part}]\nconllu = "raw/{part}.zh.conllu"\npenn = "raw/{part}.zh.penn"\ntarget = "raw/{part}.en"\n'
             for part in ("train", "dev", "test")]  # fmt: skip
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "raw").symlink_to(raw)
    text = '[languages]\nsource = "zh"\ntarget = "en"\n' + "".join(trees) + "[lm]\norder = 2\n"
    (folder / "treeglot.toml").write_text(text)
    systems = {"dep2str": ("--penn", "penn", "dependency"), "cons2str": ("--conllu", "conllu", "constituency")}
    both = ["--conllu", raw / "test.zh.conllu", "--penn", raw / "test.zh.penn"]
    for system, (option, ending, kind) in systems.items():
        assert run("-q", "train", folder, "--system", system).code == 0
        wrong = run("translate", option, raw / f"test.zh.{ending}", "--project", folder, "--system", system)
        assert wrong.code == 0
        assert wrong.err.count(f"no {kind} tree") == 1 and system in wrong.err
        right = run("translate", *both, "--project", folder, "--system", system)
        assert right.code == 0 and not right.err
        weights = tmp_path / f"{system}.weights"
        loaded = Project(folder)
        parts = provenance(loaded, loaded.system(system))
        write_weights(weights, loaded.weights(system), note=notes(parts))
        line = ["translate", "--project", folder, "--system", system, "--weights", weights, "--strict"]
        refused = run(*line, option, raw / f"test.zh.{ending}")
        assert refused.code == 1 and f"no {kind} tree" in refused.err
        assert run(*line, *both).code == 0
