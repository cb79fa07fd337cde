"""What README and the documentation show on the command line: README's commands run, all others fit the commands that there are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from treeglot import cli
from treeglot.pipeline.config import ProjectConfig, parse_config

ROOT = Path(__file__).parents[1]
APP: Any = get_command(cli.app)
UsageError: Any = typer.BadParameter.__base__  # typer does not name it
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

# The command, with a smaller embedded corpus: what is shown is run, but in a minute.
TREEGLOT = """#!{python}
from treeglot import cli
from treeglot.examples import corpus, files

corpus.splits.__defaults__ = files.write_example.__defaults__ = (1, corpus.Sizes(100, 10, 10, 5))
cli.main()
"""


def blocks(page: Path) -> Iterator[str]:
    """The code blocks without a language: they are for the shell. A line that ends in a backslash goes on."""
    text = page.read_text(encoding="utf-8")
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language in ("", "sh", "console"):
            yield body.replace("\\\n", " ")


def shown(page: Path) -> list[str]:
    """The lines of a page's blocks that call treeglot."""
    lines = (line.strip().removeprefix("$ ") for body in blocks(page) for line in body.splitlines())
    return [line for line in lines if re.search(r"(^|[|&/] ?)treeglot ", line)]


def mentioned(page: Path) -> list[str]:
    """The commands in running text; ``a\\|b`` in a table stands for two."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`((?:echo [^`|]*\| )?treeglot [^`]*)`", text)]
    return [one_of for span in spans for one_of in alternatives(span)]


def alternatives(span: str) -> list[str]:
    before, bar, _ = span.partition("\\|")
    if not bar:
        return [span]
    start = before.rpartition(" ")[0]
    return [f"{start} {word}" for word in span.removeprefix(start).strip().split("\\|")]


def calls(line: str) -> Iterator[list[str]]:
    """The arguments of each treeglot of a shell line, without files that it reads from or writes to and without ellipses."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&<>")
    lexer.commenters = "#"
    lexer.whitespace_split = True
    command: list[str] = []
    for token in [*lexer, "|"]:
        if token and set(token) <= set("|&"):
            if command and command[0].endswith("treeglot"):
                skipped = {n for n, word in enumerate(command) if word in ("<", ">")}
                skipped |= {n + 1 for n in skipped}
                yield [word for n, word in enumerate(command) if n and n not in skipped and word not in ("…", "...")]
            command = []
        else:
            command.append(token)


def fit(arguments: list[str], *, complete: bool) -> None:
    """Parse arguments as the command line does, without running anything."""
    command, context, name = APP, None, "treeglot"
    while arguments or complete:
        try:
            context = command.make_context(name, list(arguments), parent=context)
        except UsageError as error:  # in running text arguments may be left out, and the value of the last option
            if complete or type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
                raise
            return
        if not hasattr(command, "commands"):
            return
        name, command, arguments = command.resolve_command(context, [*context._protected_args, *context.args])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_fit(page: Path) -> None:
    problems = []
    for lines, complete in ((shown(page), True), (mentioned(page), False)):
        for line in lines:
            for arguments in calls(line):
                try:
                    fit(arguments, complete=complete)
                except (UsageError, AssertionError) as error:
                    problems.append(f"{line}: {getattr(error, 'message', error)}")
    assert not problems, "\n".join(problems)


def test_commands_are_seen() -> None:
    assert len(shown(README)) > 10
    assert sum(len(shown(page)) for page in PAGES) > 60 and sum(len(mentioned(page)) for page in PAGES) > 50
    assert list(calls("echo a | treeglot parse - --lang fr > out  # so")) == [["parse", "-", "--lang", "fr"]]
    assert mentioned(ROOT / "docs/index.md").count("treeglot trees stats") == 1
    with pytest.raises(UsageError, match="No such option"):
        fit(["trees", "stats", "a", "--nonsense"], complete=True)
    with pytest.raises(UsageError, match="Missing"):
        fit(["trees", "convert", "a"], complete=True)
    fit(["trees", "convert"], complete=False)


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """In order, in an empty folder, with what ``make demo`` installs."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/treeglot"
    script.write_text(TREEGLOT.format(python=sys.executable), encoding="utf-8")
    script.chmod(0o755)
    (tmp_path / "work").mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "COLUMNS": "200"}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    lines = [line for body in blocks(README) for line in body.splitlines() if line.strip()]
    assert len(lines) > 12
    for line in lines:
        if line.startswith("make "):
            assert line.split()[1] in targets, line
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=tmp_path / "work",
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_benchmarks_that_are_named_are_there() -> None:
    for page in [*PAGES, ROOT / "CHANGELOG.md"]:
        for name in re.findall(r"\bbench/(\w+(?:\.\w+)?)", page.read_text(encoding="utf-8")):
            assert (ROOT / "bench" / name).is_file(), f"{page.name} names bench/{name}"


def test_the_values_of_the_configuration_page_are_the_defaults() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    [text] = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    parse_config(text, path="configuration.md")
    needed = {"languages": {"source": "zh", "target": "en"}, "data": {"train": {"file": "a.tmx"}}}
    defaults = ProjectConfig.model_validate(needed).model_dump()
    example = {"project": {"name"}, "languages": {"source", "target"}, "data": None, "systems": None}
    for section, keys in tomllib.loads(text).items():
        if example.get(section, ()) is not None:
            check(keys, defaults[section], example.get(section) or set(), section)


def check(given: dict[str, Any], defaults: dict[str, Any], free: set[str], where: str) -> None:
    for key, value in given.items():
        if isinstance(value, dict):
            check(value, defaults[key], free, f"{where}.{key}")
        elif key not in free:
            assert value == defaults[key], f"{where}.{key}"
