"""How time, memory and disk grow with the corpus: ``python bench/scale_justice.py [--sizes N ...] [--memory 256m ...]``.

On the Acts and Regulations of Canada, French-English (TREEGLOT_DATA names the folder of the data): splits the text into
words, aligns it with a model learnt from the first ``--train`` pairs, then builds a phrase table from the first N pairs for
each N. Every stage runs in a process of its own, so that its peak memory is its own; times are CPU seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from treeglot import alignment, tables
from treeglot.progress import set_quiet

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/justice-canada-fr-en"
TOKEN = re.compile(r"\w+'?|[^\w\s]")
LONGEST = 100


def measure(name: str, job: Callable[[], Any]) -> dict[str, Any]:
    """Run a job in a child: its result, CPU seconds and peak memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            set_quiet(True)
            os.write(writing, json.dumps(job()).encode())
            code = 0
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{name} failed")
    return {
        "stage": name,
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mb": usage.ru_maxrss >> 10,
        **(json.loads(text) or {}),
    }


def prepare(folder: Path, pairs: int) -> dict[str, int]:
    words = done = 0
    with (
        gzip.open(DATA / "corpus.fr.gz", "rt", encoding="utf-8") as french,
        gzip.open(DATA / "corpus.en.gz", "rt", encoding="utf-8") as english,
        (folder / "fr").open("w", encoding="utf-8") as source_file,
        (folder / "en").open("w", encoding="utf-8") as target_file,
    ):
        for f, e in zip(french, english, strict=True):
            source, target = TOKEN.findall(f.lower()), TOKEN.findall(e.lower())
            if 1 <= len(source) <= LONGEST and 1 <= len(target) <= LONGEST:
                source_file.write(" ".join(source) + "\n")
                target_file.write(" ".join(target) + "\n")
                words += len(source) + len(target)
                done += 1
            if done == pairs:
                break
    return {"pairs": done, "words": words}


def read(path: Path, start: int, stop: int) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, start, stop)]


def learn(folder: Path, pairs: int) -> None:
    alignment.train("own", read(folder / "fr", 0, pairs), read(folder / "en", 0, pairs), folder / "model")


def align(folder: Path, pairs: int) -> None:
    model = alignment.load(folder / "model")
    with (folder / "links").open("w", encoding="utf-8") as file:
        for start in range(0, pairs, 20_000):
            stop = min(start + 20_000, pairs)
            part = model.align(read(folder / "fr", start, stop), read(folder / "en", start, stop))
            file.writelines(line + "\n" for line in part.symmetrized())


def build(folder: Path, pairs: int, memory: str) -> dict[str, Any]:
    for name in ("fr", "en", "links"):
        with (folder / name).open("rb") as whole, (folder / f"{name}.part").open("wb") as part:
            part.writelines(islice(whole, pairs))
    report = tables.build_phrase_table(
        *(folder / f"{name}.part" for name in ("fr", "en", "links")), folder / "table", memory=memory
    )
    return {
        **{key: getattr(report, key) for key in ("sentences", "occurrences", "pairs", "table_bytes", "spilled_runs")},
        "corpus_mb": report.corpus_bytes >> 20,
        "bytes_per_pair": round(report.table_bytes / max(report.pairs, 1), 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 100_000, 200_000, 500_000])
    parser.add_argument("--memory", nargs="+", default=["256m", "4g"])
    parser.add_argument("--train", type=int, default=50_000, help="pairs to learn word alignment from")
    parser.add_argument("--folder", type=Path, help="keep the prepared text and links here and use them again")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no {DATA}: set TREEGLOT_DATA")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        largest = max(options.sizes)
        if not (folder / "links").exists():
            print(json.dumps(measure("prepare", lambda: prepare(folder, largest))), flush=True)
            print(
                json.dumps(measure(f"learn alignment from {options.train}", lambda: learn(folder, options.train))),
                flush=True,
            )
            print(json.dumps(measure(f"align {largest}", lambda: align(folder, largest))), flush=True)
        for memory in options.memory:
            for size in options.sizes:
                result = measure(f"table, {size} pairs, memory {memory}", lambda: build(folder, size, memory))  # noqa: B023
                result["us_per_occurrence"] = round(1e6 * result["cpu_seconds"] / max(result["occurrences"], 1), 3)
                print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
