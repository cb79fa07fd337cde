"""Pairs of dev and test that stand in the training text: what is scored on them is memory, not translation.

A stage looks every pair up in the training text, as prepared, and writes for each part the numbers of the lines whose source is not
there (``corpus/PART.unseen``, what ``treeglot compare --lines`` takes) and the counts of all parts (``corpus/overlap.json``).
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.errors import InputError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.pipeline.stages import Paths, Stage

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

log = logging.getLogger(__name__)


def unseen_path(project: Project, part: str) -> Path:
    """Where the lines of a part are listed whose source is not in the training text."""
    return project.folder / f"corpus/{part}.unseen"


def _counts_path(project: Project) -> Path:
    return project.folder / "corpus/overlap.json"


def _other_parts(project: Project) -> list[str]:
    return [part for part in project.parts if part != "train"]


def overlap_stages(project: Project) -> list[Stage]:
    """The stage that compares the other parts with the training text, if there are any."""
    parts = _other_parts(project)
    if not parts:
        return []
    inputs = {f"{part} {side}": path for part in ("train", *parts) for side, path in _sides(project, part)}
    outputs = {part: unseen_path(project, part) for part in parts} | {"counts": _counts_path(project)}

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        pairs = {part: list(_read(inputs, part)) for part in parts}
        sources = {source for part in parts for source, _ in pairs[part]}
        whole = {pair for part in parts for pair in pairs[part]}
        known_sources, known_pairs = set(), set()
        for pair in _read(inputs, "train"):
            if pair[0] in sources:
                known_sources.add(pair[0])
                if pair in whole:
                    known_pairs.add(pair)
        counts = {}
        for part in parts:
            unseen = [number for number, (source, _) in enumerate(pairs[part], start=1) if source not in known_sources]
            counts[part] = {
                "pairs": len(pairs[part]),
                "in_training": sum(pair in known_pairs for pair in pairs[part]),
                "sources_in_training": len(pairs[part]) - len(unseen),
            }
            with atomic_write(outputs[part]) as file:
                file.writelines(f"{number}\n" for number in unseen)
        with atomic_write(outputs["counts"]) as file:
            json.dump(counts, file, indent=1)
            file.write("\n")

    return [Stage("overlap", inputs, outputs, {"parts": parts}, run)]


def _sides(project: Project, part: str) -> list[tuple[str, Path]]:
    return list(zip(("source", "target"), project.corpus(part), strict=True))


def _read(inputs: Paths, part: str) -> zip[tuple[str, str]]:
    source, target = ((line for _, line in read_lines(inputs[f"{part} {side}"])) for side in ("source", "target"))
    return zip(source, target, strict=True)


def warn_of_overlap(project: Project) -> None:
    """Say how many pairs of the other parts stand in the training text, if any do."""
    path = _counts_path(project)
    if not path.exists():
        return
    for part, counts in json.loads(path.read_text(encoding="utf-8")).items():
        if counts["in_training"]:
            log.warning(
                "%d of the %d pairs of %s stand in the training text (%d of its sources): scores on them are memory; "
                "%s lists the other lines, for `treeglot compare --lines`",
                counts["in_training"],
                counts["pairs"],
                part,
                counts["sources_in_training"],
                unseen_path(project, part),
            )


def read_line_numbers(path: type_path, size: int) -> list[int]:
    """Numbers of lines, counted from 1, one a line and in order; ``size`` lines there are."""
    numbers: list[int] = []
    for line, text in read_lines(path):
        number = int(text) if text.strip().isascii() and text.strip().isdigit() else 0
        if not 1 <= number <= size:
            raise InputError(
                f"{text.strip()[:40]!r} is not the number of a line from 1 to {size:,}",
                path=path,
                line=line,
                remedy="write one number a line, counted from 1, of the part that is tested on",
            )
        if numbers and number <= numbers[-1]:
            raise InputError(
                f"{number} does not come after {numbers[-1]}",
                path=path,
                line=line,
                remedy="sort the numbers (sort -nu)",
            )
        numbers.append(number)
    if not numbers:
        raise InputError("no line is listed", path=path, line=1, remedy="write one number a line")
    return numbers
