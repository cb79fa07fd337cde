"""``treeglot example``: the embedded Chinese-English corpus on disk and on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot import examples
from treeglot.cli.options import SeedOption
from treeglot.trees.display import to_text

app = typer.Typer(help="The embedded example corpus.", no_args_is_help=True)


@app.command()
def write(
    folder: Annotated[Path, typer.Argument(help="Where to put it; made if it does not exist.")],
    seed: SeedOption = 1,
) -> None:
    """Write the embedded corpus: text, both trees of both sides, word links, and everything as JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    examples.write_example(folder, seed=seed)
    print(folder)


@app.command()
def show(
    count: Annotated[int, typer.Option("--count", min=1, max=1_000_000, help="How many pairs.")] = 1,
    seed: SeedOption = 1,
) -> None:
    """Print some pairs of the embedded corpus with their trees."""
    for pair in examples.generate(count, seed=seed):
        print(to_text(pair))
