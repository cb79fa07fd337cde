"""``treeglot config``: check and show a project's ``treeglot.toml``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.options import ProjectOption, project_folder
from treeglot.errors import ConfigError
from treeglot.pipeline.config import CONFIG_NAME, ProjectConfig, load_config

app = typer.Typer(help="Check and show a project's treeglot.toml.", no_args_is_help=True)

PathArgument = Annotated[
    Path | None, typer.Argument(help="The file, or the folder that has it; the same as --project.", show_default=False)
]


def _config_file(path: Path | None, project: Path) -> Path:
    place = project_folder(path, project)
    return place / CONFIG_NAME if place.is_dir() else place


@app.command()
def check(path: PathArgument = None, project: ProjectOption = Path()) -> None:
    """Check every key and value, and that the data files are there."""
    path = _config_file(path, project)
    config = load_config(path)
    root = path.parent
    for part, corpus in config.data.parts.items():
        for name in corpus.files.values():
            if not (root / name).is_file():
                raise ConfigError(
                    f"data.{part}: no file {name}", path=path, remedy=f"put it at {root / name}, or correct data.{part}"
                )
    print(f"{path}: fine")


@app.command()
def show(
    path: PathArgument = None,
    project: ProjectOption = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the configuration with every default filled in."""
    values = load_config(_config_file(path, project)).model_dump()
    if as_json:
        print(json.dumps(values, ensure_ascii=False, indent=2))
        return
    for name in ProjectConfig.model_fields:
        _print_table(name, values[name])


def _print_table(name: str, values: dict[str, object]) -> None:
    plain = {key: value for key, value in values.items() if value is not None and not isinstance(value, dict)}
    if plain:
        print(f"[{name}]")
        for key, value in plain.items():
            print(f"{key} = {json.dumps(value, ensure_ascii=False)}")
        print()
    for key, value in values.items():
        if isinstance(value, dict):
            _print_table(f"{name}.{key}", value)
