"""``treeglot compare``: several systems of a project in one table, trained, tuned and decoded where need be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treeglot.cli.interrupted import STAGES, keeping
from treeglot.cli.project import announce
from treeglot.files import atomic_write, check_places
from treeglot.pipeline.compare import SystemComparison, compare_systems, table_cells, table_header
from treeglot.pipeline.project import Project
from treeglot.pipeline.systems import groups
from treeglot.trees.display.widths import columns

_GROUPS = "; ".join(f"{name} stands for {', '.join(systems)}" for name, systems in groups().items())


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(metavar="SYSTEM...", help=f"Systems or presets; the first is the baseline. {_GROUPS}."),
    ],
    project: Annotated[Path, typer.Option("--project", "-p", help="The project's folder.")] = Path(),
    seeds: Annotated[int, typer.Option(min=1, help="Tuning runs of each system, with their mean and deviation.")] = 1,
    part: Annotated[
        list[str] | None, typer.Option(help="A part of the data to test on; all test parts if not given.")
    ] = None,
    running_text: Annotated[
        bool, typer.Option("--running-text", help="Score detokenised text against the raw references (tokeniser 13a).")
    ] = False,
    lines: Annotated[
        Path | None,
        typer.Option(
            help="Score these lines of the part alone, too: a file of their numbers, such as corpus/test.unseen."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the table: .json as JSON, else as Markdown.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare systems: scores, significance against the first, rules, speed, memory. Goes on where it stopped."""
    check_places([out], [lines])
    with keeping(lambda: STAGES):
        comparison = compare_systems(
            Project(project), systems, announce, seeds=seeds, parts=part or (), running_text=running_text, lines=lines
        )
    text = json.dumps(comparison.to_dict(), ensure_ascii=False, indent=1) + "\n"
    if out is not None:
        with atomic_write(out) as file:
            file.write(text if out.suffix == ".json" else comparison.to_markdown())
    if as_json:
        print(text, end="")
    else:
        print_comparison(comparison)


def print_comparison(comparison: SystemComparison, console: Console | None = None) -> None:
    """The tables in a terminal; columns that say nothing are left out."""
    console = console or Console(soft_wrap=True)
    header = table_header(comparison.signatures, comparison.uses)
    for part in comparison.parts:
        rows = [table_cells(row, comparison.uses) for row in comparison.rows if row.part == part]
        shown = [n for n in range(len(header)) if any(row[n] for row in rows)]
        # Plain lines: a table that is wider than the terminal is still better than one with cut figures.
        lines = align([[row[n] for n in shown] for row in (header, *rows)])
        console.print(part, style="bold", markup=False)
        for line in lines:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print()
    for note in comparison.notes:
        console.print(note, markup=False, highlight=False)
    for name, signature in comparison.signatures.items():
        console.print(f"{name}|{signature}", markup=False, highlight=False)


def align(rows: list[list[str]]) -> list[str]:
    """Rows as lines with columns two spaces apart, the first column to the left and the others to the right.

    >>> align([["system", "bleu"], ["best", "7.5"]])
    ['system  bleu', 'best     7.5']
    """
    wide = [max(map(columns, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [" " * (size - columns(cell)) + cell for cell, size in zip(row, wide, strict=True)]
        lines.append("  ".join([row[0] + " " * (wide[0] - columns(row[0])), *cells[1:]]).rstrip())
    return lines
