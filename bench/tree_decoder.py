"""Speed of a project's systems: ``python bench/tree_decoder.py PROJECT SYSTEM... [--part test] [--json]``.

For each system, which must be trained, prints the sentences a second of CPU time in one thread, the milliseconds in which tables and
model are opened, the mean size of a forest (nodes, edges, rules), and the memory beyond what the process had before; with the
project's weights and limits. Every system runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from treeglot.pipeline.decoding import read_part
from treeglot.pipeline.project import Project


def private_memory() -> int:
    """Bytes of memory that are not pages of mapped files."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def measure(folder: Path, system: str, part: str) -> dict[str, float | str]:
    project = Project(folder)
    corpus = read_part(project, project.system(system), part)
    before, start = private_memory(), time.process_time()
    decoder = project.decoder(system)
    opened, start = time.process_time() - start, time.process_time()
    translations = decoder.translate(corpus, threads=1)
    seconds = time.process_time() - start
    sizes = zip(*(translation.forest_size for translation in translations), strict=True)
    forest = [round(sum(column) / len(translations)) for column in sizes]
    return {
        "system": system,
        "sentences": len(translations),
        "sentences/s": round(len(translations) / seconds, 1),
        "start-up ms": round(1000 * opened, 1),
        **dict(zip(("nodes", "edges", "rules"), forest, strict=True)),
        "memory MB": round((private_memory() - before) / 1e6, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM")
    parser.add_argument("--part", default="test")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for system in options.systems:
        sys.stdout.flush()
        if os.fork():
            if os.wait()[1]:
                return 1
            continue
        row = measure(options.project, system, options.part)
        print(json.dumps(row) if options.json else "  ".join(f"{key}: {value}" for key, value in row.items()))
        sys.stdout.flush()
        os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
