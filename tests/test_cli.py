"""The command line: results on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import treeglot
from cli_runner import Run
from treeglot import cli


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
    command = f"{sys.executable} -m treeglot -q example show --count 40 | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_config_commands(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    assert run("init", folder, "--source", "fr").code == 0
    again = run("init", folder)
    assert again.code == 1 and "exists already" in again.err
    missing = run("config", "check", folder)
    assert missing.code == 1 and "train.fr" in missing.out
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


def all_options() -> list[tuple[str, Any]]:
    """Every option of every command, with the command's name."""
    options: list[tuple[str, Any]] = []

    def walk(command: Any, name: str) -> None:
        for part, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{name} {part}")
        options.extend((name, parameter) for parameter in command.params if parameter.param_type_name == "option")

    walk(get_command(cli.app), "treeglot")
    return options


def test_a_short_flag_has_one_meaning() -> None:
    meanings: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for command, option in all_options():
        names = [*option.opts, *option.secondary_opts]
        long = [name for name in names if name.startswith("--")]
        assert long, f"{command} {names} has no long name"
        kind = "switch" if option.is_flag else "counter" if option.count else "value"
        for short in set(names) - set(long):
            meanings[short].add((long[0], kind))
    assert {short: uses for short, uses in meanings.items() if len(uses) > 1} == {}
    assert meanings["-p"] == {("--project", "value")} and meanings["-o"] == {("--out", "value")}


def test_project_and_output_are_named_alike_everywhere() -> None:
    commands = set()
    for command, option in all_options():
        if "--project" in option.opts:
            commands.add(command.removeprefix("treeglot "))
            assert "-p" in option.opts and Path(option.default) == Path(), command
        if "--out" in option.opts:
            assert "-o" in option.opts, command
    assert commands == {
        "init", "train", "tune", "translate", "evaluate", "compare", "export moses", "config check", "config show"
    }  # fmt: skip


def test_the_project_is_an_argument_or_an_option(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus").mkdir()
    for language in ("fr", "en"):
        (tmp_path / f"corpus/train.{language}").write_text("a b\nb a\n", encoding="utf-8")
    assert run("init", "-p", tmp_path, "--source", "fr", "--tokenizer", "space").code == 0
    monkeypatch.chdir(tmp_path)
    for arguments in ([], [tmp_path], ["-p", tmp_path], ["--project", tmp_path], [tmp_path, "-p", tmp_path]):
        assert run("config", "check", *arguments).code == 0
        result = run("-q", "train", *arguments, "--json")
        assert result.code == 0 and "phrase-table" in {stage["name"] for stage in json.loads(result.out)}
    for command in (["train"], ["tune"], ["config", "check"], ["init"]):
        result = run(*command, tmp_path, "-p", tmp_path / "other")
        assert result.code == 1 and "two projects" in result.err
