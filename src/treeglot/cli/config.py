"""``treeglot config``: check and show a project's ``treeglot.toml``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.options import ProjectOption, project_folder
from treeglot.pipeline.config import CONFIG_NAME, ProjectConfig, load_config
from treeglot.pipeline.data_check import check_data
from treeglot.pipeline.systems import presets

app = typer.Typer(help="Check and show a project's treeglot.toml.", no_args_is_help=True)

PathArgument = Annotated[
    Path | None, typer.Argument(help="The file, or the folder that has it; the same as --project.", show_default=False)
]


def _config_file(path: Path | None, project: Path) -> Path:
    place = project_folder(path, project)
    return place / CONFIG_NAME if place.is_dir() else place


@app.command()
def check(
    path: PathArgument = None,
    project: ProjectOption = Path(),
    data: Annotated[bool, typer.Option(help="Look at the data too; --no-data: only at the file itself.")] = True,
) -> None:
    """Check every key and value, then a sample of the data: files, encoding, lengths, words, missing packages."""
    path = _config_file(path, project)
    config = load_config(path)
    findings = check_data(config, path.parent) if data else []
    for finding in findings:
        print(f"{path}: {finding}")
    if any(finding.serious for finding in findings):
        raise typer.Exit(1)
    if not findings:
        print(f"{path}: fine")


@app.command()
def show(
    path: PathArgument = None,
    project: ProjectOption = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the configuration with every default filled in, then every preset that it has no section for.

    The text is a treeglot.toml that means the same; presets stand in comments, because a section is always trained.
    """
    config = load_config(_config_file(path, project))
    values = config.model_dump()
    values["text"] |= config.text.resolved(config.languages)
    values["systems"] = {name: _system(config, name) for name in config.systems}
    further = {name: _system(config, name) for name in presets() if name not in config.systems}
    if as_json:
        print(json.dumps(values | {"presets": further}, ensure_ascii=False, indent=2))
        return
    print("\n".join(line for name in ProjectConfig.model_fields for line in _table(name, values[name])), end="\n\n")
    print("# Presets: `--system NAME` is enough; what differs from them goes into a section of that name.\n")
    for name, options in further.items():
        print("\n".join(f"# {line}".rstrip() for line in _table(f"systems.{name}", options)))


def _system(config: ProjectConfig, name: str) -> dict[str, object]:
    """All options of a system."""
    system = config.system(name)
    assert system is not None
    return {"grammars": system.grammars, **system.options, **system.search, "tuning": system.tuning}


def _table(name: str, values: dict[str, object]) -> Iterator[str]:
    """The lines of a table of TOML and of the tables in it."""
    plain = {key: value for key, value in values.items() if value is not None and not isinstance(value, dict)}
    if plain:
        yield f"[{name}]"
        for key, value in plain.items():
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
        yield ""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _table(f"{name}.{key}", value)
