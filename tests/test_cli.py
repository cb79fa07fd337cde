"""The command line: results on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import treeglot
from cli_runner import Run


def test_version_and_help(run: Run) -> None:
    assert run("--version")[:2] == (0, f"treeglot {treeglot.__version__}\n")
    for arguments in ([], ["trees"], ["trees", "convert"], ["bitext"], ["parse"], ["parsers"], ["config"], ["example"]):
        result = run(*arguments, "--help")
        assert result.code == 0 and "Usage: treeglot" in result.out, arguments


@pytest.mark.parametrize("arguments", [["nonsense"], ["trees", "nonsense"], ["trees", "convert"], ["--nonsense"]])
def test_wrong_usage_is_code_2(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code == 2 and result.out == "" and result.err


def test_bad_input_is_code_1_with_place_and_remedy(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n", encoding="utf-8")
    result = run("trees", "stats", bad)
    assert result.code == 1 and result.out == ""
    assert f"treeglot: {bad}:1" in result.err and "remedy:" in result.err
    result = run("trees", "convert", bad, tmp_path / "out.penn")
    assert result.code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.conllu"], "nothing half-written is left"


def test_missing_file(run: Run, tmp_path: Path) -> None:
    result = run("trees", "stats", tmp_path / "missing.conllu")
    assert result.code == 1 and "no such file" in result.err


def test_quiet_and_closed_pipe(tmp_path: Path) -> None:
    command = f"{sys.executable} -m treeglot -q example show -n 40 | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_config_commands(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    assert run("init", folder, "--source", "fr").code == 0
    again = run("init", folder)
    assert again.code == 1 and "exists already" in again.err
    missing = run("config", "check", folder)
    assert missing.code == 1 and "train.fr" in missing.err
    (folder / "corpus").mkdir()
    for language in ("fr", "en"):
        (folder / f"corpus/train.{language}").write_text("a\n", encoding="utf-8")
    assert run("config", "check", folder).code == 0
    shown = run("config", "show", folder, "--json")
    assert json.loads(shown.out)["languages"] == {"source": "fr", "target": "en"}
    text = run("config", "show", folder)
    assert '[languages]\nsource = "fr"' in text.out
    (folder / "treeglot.toml").write_text('[langauges]\nsource = "fr"\n', encoding="utf-8")
    wrong = run("config", "show", folder)
    assert wrong.code == 1 and "languages" in wrong.err


def test_demo_files(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeglot import examples

    whole = examples.splits
    monkeypatch.setattr(examples, "splits", lambda seed=1: whole(seed, examples.Sizes(40, 5, 5, 5)))
    result = run("demo", tmp_path / "demo")
    assert result.code == 0, result.err
    assert "is the identity: 110 of 110" in result.out
    assert (tmp_path / "demo/trees.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "demo/pair.svg").exists()
