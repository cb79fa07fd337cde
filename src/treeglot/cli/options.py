"""Options that commands share. A short flag means the same everywhere: ``-p`` is the project, ``-o`` the output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.errors import ConfigError

ProjectOption = Annotated[Path, typer.Option("--project", "-p", help="The project's folder.")]
ProjectArgument = Annotated[
    Path | None, typer.Argument(metavar="[PROJECT]", help="The same as --project.", show_default=False)
]


def project_folder(argument: Path | None, option: Path) -> Path:
    """The project that is named by an argument or by ``--project``, by default the present folder."""
    if argument is None:
        return option
    if option not in (Path(), argument):
        raise ConfigError(f"two projects: {argument} and --project {option}", remedy="name one")
    return argument
