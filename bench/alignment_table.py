"""Fills the table of error rates in docs/alignment.md.

``python bench/alignment_table.py measure FOLDER ROWS [--cell SET:PAIRS ...] [--aligner NAME ...]`` measures every cell that ROWS (JSON
lines) does not have yet, a process each, the aligners of a cell one after the other, and adds a line to ROWS. ``FOLDER`` is
what ``bench/alignment_sets.py`` wrote. ``python bench/alignment_table.py write ROWS PAGE`` puts the table between the
two marks of the page.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

from alignment_speed import HEURISTICS, measure

ALL = 10**9
SETS = {
    "hansards": ("Hansards en-fr, 347 test pairs", " test"),
    "nist02": ("NIST 2002 zh-en, 100 test pairs", " test"),
    "pud-en-ja": ("PUD en-ja", ""),
    "pud-en-zh": ("PUD en-zh", ""),
    "pud-en-fr": ("PUD en-fr", ""),
}
CELLS = [
    ("pud-en-ja", ALL), ("nist02", 5000), ("hansards", 5000), ("pud-en-zh", 5000), ("pud-en-fr", 5000),
    ("nist02", 20000), ("hansards", 20000), ("pud-en-zh", 20000), ("pud-en-fr", 20000),
    ("nist02", ALL), ("hansards", ALL), ("pud-en-zh", ALL), ("pud-en-fr", ALL),
]  # fmt: skip
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def _child(queue: Any, *arguments: Any) -> None:
    queue.put(measure(*arguments))


def run(folder: Path, rows: Path, cells: list[tuple[str, int]], aligners: list[str], threads: int) -> None:
    known = set()
    if rows.exists():
        known = {(row["set"], row["limit"], row["aligner"]) for row in map(json.loads, rows.read_text().splitlines())}
    context = multiprocessing.get_context("spawn")
    for name, limit in cells:
        for aligner in aligners:
            if (name, limit, aligner) in known:
                continue
            queue = context.Queue()
            load = os.getloadavg()[0]
            process = context.Process(target=_child, args=(queue, folder / name, aligner, limit, threads))
            process.start()
            row = None
            while row is None and (process.is_alive() or not queue.empty()):
                try:
                    row = queue.get(timeout=1)
                except Exception:
                    continue
            process.join()
            if row is not None:
                row |= {"limit": limit, "load": round(load, 1)}
                with rows.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)


def table(rows: list[dict[str, Any]], aligners: list[str]) -> str:
    """Error rates of intersection / grow-diag / grow-diag-final-and, and CPU seconds."""
    values = {(row["set"], row["limit"], row["aligner"]): row for row in rows}
    lines = [
        "| set (pairs of text) | " + " | ".join(f"`{name}` | CPU s" for name in aligners) + " |",
        "| --- |" + " --- | --- |" * len(aligners),
    ]
    for name, (title, part) in SETS.items():
        for limit in sorted({limit for key, limit, _ in values if key == name}):
            cells = [values.get((name, limit, aligner)) for aligner in aligners]
            size = next(row["pairs"] for row in cells if row)
            text = [f"{title} ({size:,})"]
            for row in cells:
                if row is None:
                    text += ["", ""]
                    continue
                text.append(" / ".join(f"{row[heuristic + part]:.1f}" for heuristic in HEURISTICS))
                text.append(f"{row['training'] + row['aligning']:.3g}")
            lines.append("| " + " | ".join(text) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("measure")
    first.add_argument("folder", type=Path)
    first.add_argument("rows", type=Path)
    first.add_argument("--cell", action="append", help="such as nist02:20000, or nist02:all")
    first.add_argument("--threads", type=int, default=1)
    second = commands.add_parser("write")
    second.add_argument("rows", type=Path)
    second.add_argument("page", type=Path)
    for command in (first, second):
        command.add_argument("--aligner", action="append")
    options = parser.parse_args()
    aligners = options.aligner or ["own", "eflomal", "thot-fastalign"]
    if options.command == "measure":
        cells = CELLS
        if options.cell:
            parts = [cell.split(":") for cell in options.cell]
            cells = [(name, ALL if size == "all" else int(size)) for name, size in parts]
        run(options.folder, options.rows, cells, aligners, options.threads)
        return
    page = options.page.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
    options.page.write_text(page[:start] + "\n" + table(rows, aligners) + "\n" + page[stop:], encoding="utf-8")


if __name__ == "__main__":
    main()
