"""Speed and size of phrase tables: ``python bench/phrase_extraction.py [--json]``.

On Multi30k German-English (lower-cased and tokenised, with its word alignment; TREEGLOT_DATA names the folder of the data):
reading, extraction, counting and scoring of 29,000 sentence pairs in CPU seconds, peak memory, bytes a pair, the time to open
the table, and lookups a second as a decoder makes them. Moses on one machine with the same data: 20.8 s for extraction and
33.4 s for scoring (791,348 pairs, 97.5 MB as text).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from treeglot import tables
from treeglot.progress import set_quiet

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/multi30k/lc-tok"

MOSES_SECONDS = 54.2


def lookups(table: tables.PhraseTable, text: bytes, limit: int) -> dict[str, float]:
    start = time.process_time()
    asked, hits, pairs = table.core.count_lines(text, 7, limit)
    spent = time.process_time() - start
    return {"lookups_per_second": round(asked / spent), "pairs_per_second": round(pairs / spent), "hits": hits}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no {DATA}: set TREEGLOT_DATA")
        return 0
    set_quiet(True)
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "table"
        start, wall = time.process_time(), time.perf_counter()
        report = tables.build_phrase_table(
            DATA / "train.de",
            DATA / "train.en",
            DATA / "train.de-en.align.gz",
            out,
            threads=options.threads,
            memory=options.memory,
        )
        spent = time.process_time() - start
        result["cpu_seconds"] = round(spent, 2)
        result["wall_seconds"] = round(time.perf_counter() - wall, 2)
        result["sentences_per_second"] = round(report.sentences / spent)
        result["times_less_than_moses"] = round(MOSES_SECONDS / spent, 1)
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        result["pairs"] = report.pairs
        result["bytes_per_pair"] = round(report.table_bytes / report.pairs, 2)
        start, wall = time.process_time(), time.perf_counter()
        table = tables.PhraseTable(out)
        table.lookup("ein mann")
        result["open_and_first_lookup_ms"] = round(1000 * (time.perf_counter() - wall), 2)
        start = time.process_time()
        tables.PhraseTable(out, verify=True)
        result["verify_ms"] = round(1000 * (time.process_time() - start), 1)
        text = (DATA / "test.de").read_bytes()
        result["all_pairs"] = lookups(table, text, 2**63 - 1)
        result["best_100"] = lookups(table, text, 100)
        result["best_20"] = lookups(table, text, 20)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:26} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
