"""Speed and quality of word aligners: ``python bench/alignment_speed.py FOLDER [set ...] [--aligner NAME ...] [--limit N]``.

``FOLDER`` is what ``bench/alignment_sets.py`` wrote; a set may also be a path prefix with ``.source`` and ``.target`` (such as
Multi30k), which is only timed. For each aligner: CPU seconds (user and system, all threads and child processes) of training
and of aligning the text with the saved model, sentence pairs a second, peak memory, and the alignment error rate of
intersection, grow-diag and grow-diag-final-and. Options were chosen on the first 100 pairs of Hansards and the first 50 of
NIST 2002; these are scored apart from the rest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from treeglot import alignment, progress
from treeglot.evaluation.alignment import Gold, score_alignment

HEURISTICS = ("intersection", "grow-diag", "grow-diag-final-and")


def cpu_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def read(path: Path, limit: int) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1][:limit]


def measure(prefix: Path, name: str, limit: int, threads: int) -> dict[str, Any]:
    progress.set_quiet(True)
    source, target = (read(Path(f"{prefix}.{side}"), limit) for side in ("source", "target"))
    place = Path(f"{prefix}.gold.json")
    gold = json.loads(place.read_text()) if place.exists() else []
    start = cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        aligner = alignment.train(name, source, target, Path(folder) / "model", threads=threads)
        trained = cpu_seconds()
        result = aligner.align(source, target)
        done = cpu_seconds()
        size = sum(path.stat().st_size for path in (Path(folder) / "model").iterdir())
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    row: dict[str, Any] = {
        "set": prefix.name, "aligner": name, "pairs": len(source), "training": round(trained - start, 1),
        "aligning": round(done - trained, 1), "pairs/s": round(len(source) / (done - start)),
        "memory MB": peak // 1024, "model MB": round(size / 1e6, 1),
    }  # fmt: skip
    # Options were chosen on the first pairs of two sets; those are scored apart.
    development = next((size for name, size in (("hansards", 100), ("nist02", 50)) if name in prefix.name), 0)
    parts = {" dev": slice(0, development), " test": slice(development, None)} if development else {"": slice(None)}
    items = [Gold(map(tuple, item["sure"]), map(tuple, item["possible"]), item["words"]) for item in gold]
    for heuristic in HEURISTICS if gold else ():
        links = [alignment.parse_links(line) for line in result.symmetrized(heuristic)[: len(items)]]
        for part, chosen in parts.items():
            row[heuristic + part] = round(100 * score_alignment(links[chosen], items[chosen]).aer, 1)
    return row


def _child(queue: Any, *arguments: Any) -> None:
    queue.put(measure(*arguments))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--aligner", action="append")
    parser.add_argument("--limit", type=int, default=10**9, help="only the first pairs of each set")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    sets = options.sets or sorted(path.name.removesuffix(".gold.json") for path in options.folder.glob("*.gold.json"))
    context = multiprocessing.get_context("spawn")  # a process each: peak memory and CPU time are its own
    for name in sets:
        for aligner in options.aligner or ["own"]:
            queue = context.Queue()
            arguments = (queue, options.folder / name, aligner, options.limit, options.threads)
            process = context.Process(target=_child, args=arguments)
            process.start()
            row = None
            while row is None and process.is_alive():
                try:
                    row = queue.get(timeout=1)
                except Exception:
                    continue
            process.join()
            print(json.dumps(row or {"set": name, "aligner": aligner, "failed": process.exitcode}), flush=True)
            if row is None:
                print(f"{aligner} failed on {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
