"""Speed of the lexical tree aligner: ``python bench/lexical_aligner.py SOURCE_TREES TARGET_TREES [--pairs N] [--threads N]``.

The first ``N`` pairs (10,000 unless given) are aligned by one command, ``treeglot trees align``, as a user would: it reads both
files, learns word tables from their words, aligns the trees and writes JSON lines. Then the parts are timed by themselves:
reading, scoring and choosing links with one thread and with all. CPU seconds are user and system of all threads; memory is the
peak of the process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from treeglot import progress
from treeglot.alignment.subtrees import LexicalTreeAligner, WordTable
from treeglot.alignment.subtrees.lexical import METHODS, USUAL_LEAST
from treeglot.trees.formats import read_sentences


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    progress.set_quiet(True)
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for name, path in (("source", options.source), ("target", options.target)):
            part = Path(folder) / f"{name}{path.suffix}"
            with path.open(encoding="utf-8") as lines:
                part.write_text("".join(islice(lines, options.pairs)), encoding="utf-8")
            parts.append(part)
        start = time.monotonic()
        command = [sys.executable, "-m", "treeglot", "--quiet", "trees", "align", *map(str, parts)]
        subprocess.run([*command, "--out", f"{folder}/out.jsonl", "--threads", str(options.threads)], check=True)
        wall = time.monotonic() - start
        used = cpu(resource.RUSAGE_CHILDREN)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(
            f"treeglot trees align, {options.pairs:,} pairs: {used:.1f} s of CPU, {wall:.1f} s on the clock, "
            f"{options.pairs / used:,.0f} pairs/s of CPU, {peak} MB"
        )
        begin = cpu()
        pairs = list(zip(read_sentences(parts[0]), read_sentences(parts[1]), strict=True))
        print(f"reading: {cpu() - begin:.1f} s of CPU")
        begin = cpu()
        table = WordTable.train(*([" ".join(pair[side].tokens.forms) for pair in pairs] for side in (0, 1)))
        print(f"word tables: {cpu() - begin:.1f} s of CPU, {table}")
        for method in METHODS:
            begin = cpu()
            aligner = LexicalTreeAligner(table, method=method, least=USUAL_LEAST, threads=options.threads)
            links = sum(len(pair.node_links) for pair in aligner.align(pairs))
            used = cpu() - begin
            print(f"{method}: {used:.1f} s of CPU, {len(pairs) / used:,.0f} pairs/s of CPU, {links:,} node links")


if __name__ == "__main__":
    main()
