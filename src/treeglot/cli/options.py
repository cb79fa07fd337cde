"""Options that commands share. A short flag means the same everywhere: ``-p`` is the project, ``-o`` the output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.errors import ConfigError

ThreadsOption = Annotated[int, typer.Option("--threads", help="Threads; 0 means all cores.", min=0, max=1024)]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Of random numbers; the same seed, the same bytes.", min=0, max=2**63 - 1)
]
MaybeSeedOption = Annotated[
    int | None, typer.Option("--seed", help="Other random numbers than the project's.", min=0, max=2**63 - 1)
]

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
