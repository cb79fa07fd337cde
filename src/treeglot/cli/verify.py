"""``treeglot verify``: whether files are what was written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from treeglot.pipeline.verify import verify as verify_path
from treeglot.progress import tell


def verify(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Projects, tables, language models, models of aligners, parsed corpora, archives."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Read files through and compare their checksums; exit code 1 if one is not what was written."""
    results = [result for path in paths for result in verify_path(path)]
    if as_json:
        print(json.dumps([result._asdict() for result in results], ensure_ascii=False, indent=2))
    else:
        for result in results:
            print(f"{'damaged' if result.problem else 'good':8} {result.kind:24} {result.path}")
    damaged = [result for result in results if result.problem]
    for result in damaged:
        tell(f"{result.path}: {result.problem}")
        if result.remedy:
            tell(f"  remedy: {result.remedy}")
    if damaged:
        print(f"treeglot: {len(damaged)} of {len(results)} damaged", file=sys.stderr)
        raise typer.Exit(1)
