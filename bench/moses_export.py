"""Handing tables over to Moses, beside making them: ``python bench/moses_export.py [--rules] [--work DIR] [--repeat N] [--json]``.

On the 3AM training text (Chinese by characters, English by words, lower-cased; TREEGLOT_DATA names the folder of the data), whose
words are aligned here first: the phrase table, and with ``--rules`` the hierarchical rule table (ten times as large), is built and
exported, several times in turn, in CPU and wall seconds; the best of each counts. ``ratio`` is export to building and should not be
above 1. Peers in the same run: the export as plain text, and Python's gzip over that text.

``--work`` keeps the tokenised text and its alignment, for another run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from treeglot.alignment.base import train
from treeglot.bitext.tokenization import Tokenizer
from treeglot.progress import set_quiet
from treeglot.tables import PhraseTable, RuleTable, build_phrase_table, build_rule_table, export_moses
from treeglot.tables.moses import export_moses_rules
from treeglot.trees import ParsedSentence, Tokens
from treeglot.trees.corpus import ParsedBitext, parsed_bitext

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/3am-zh-en"
NAMES = ("train.zh", "train.en", "train.align")


def prepare(work: Path) -> list[Path]:
    """Tokenise and align, unless that was done before."""
    paths = [work / name for name in NAMES]
    if all(path.exists() for path in paths):
        return paths
    sides = []
    for path, lang in zip(paths, ("zh", "en"), strict=False):
        tokenizer = Tokenizer(lang, method="char" if lang == "zh" else "moses")
        lines = (DATA / path.name).read_text(encoding="utf-8").splitlines()
        sides.append([" ".join(tokenizer.tokenize(line.lower())) for line in lines])
        path.write_text("".join(line + "\n" for line in sides[-1]), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        links = train("own", *sides, Path(folder) / "model").align(*sides).symmetrized()
        paths[2].write_text("".join(line + "\n" for line in links), encoding="utf-8")
    return paths


def parsed(paths: list[Path]) -> ParsedBitext:
    """The same corpus without trees, for rules."""
    files = [path.read_text(encoding="utf-8").splitlines() for path in paths]
    return parsed_bitext(
        (
            ParsedSentence(Tokens(source.split())),
            target.split(),
            [(int(j), int(i)) for j, i in map(split, line.split())],
        )
        for source, target, line in zip(*files, strict=True)
    )


def split(link: str) -> list[str]:
    return link.split("-")


def timed(job: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    job()
    return time.process_time() - cpu, time.perf_counter() - wall


def measure(jobs: dict[str, Callable[[], object]], repeat: int) -> dict[str, Any]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(repeat):
        for name, job in jobs.items():
            times[name].append(timed(job))
    result: dict[str, Any] = {}
    for name, each in times.items():
        result[f"{name}_cpu"] = round(min(cpu for cpu, _ in each), 2)
        result[f"{name}_wall"] = round(min(wall for _, wall in each), 2)
    result["ratio_cpu"] = round(result["export_cpu"] / result["build_cpu"], 2)
    result["ratio_wall"] = round(result["export_wall"] / result["build_wall"], 2)
    return result


def pack(folder: Path, level: int) -> None:
    for path in folder.glob("*-table*"):
        with path.open("rb") as text, gzip.open(os.devnull, "wb", level) as packed:
            shutil.copyfileobj(text, packed, 1 << 18)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no {DATA}: set TREEGLOT_DATA")
        return 0
    set_quiet(True)
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        work = options.work or Path(name)
        work.mkdir(parents=True, exist_ok=True)
        paths = prepare(work)
        out, plain = Path(name) / "out", Path(name) / "plain"
        out.mkdir()
        plain.mkdir()
        table = Path(name) / "phrases"
        phrases: dict[str, Callable[[], object]] = {
            "build": lambda: build_phrase_table(*paths, table),
            "export": lambda: export_moses(PhraseTable(table), out),
            "plain": lambda: export_moses(PhraseTable(table), plain, compress=False),
        }
        results["phrases"] = measure(phrases, options.repeat) | {"lines": len(PhraseTable(table))}
        for level in (1, 9):  # the fastest, and what Python's gzip takes by itself
            cpu, wall = timed(lambda level=level: pack(plain, level))  # type: ignore[misc]
            results["phrases"] |= {f"gzip_{level}_cpu": round(cpu, 2), f"gzip_{level}_wall": round(wall, 2)}
        if options.rules:
            corpus, rule_table = parsed(paths), Path(name) / "rules"
            rules: dict[str, Callable[[], object]] = {
                "build": lambda: build_rule_table("hierarchical", corpus, rule_table),
                "export": lambda: export_moses_rules(RuleTable(rule_table), out / "rule-table.gz"),
            }
            results["hierarchical"] = measure(rules, options.repeat) | {"lines": len(RuleTable(rule_table))}
    if options.json:
        print(json.dumps(results))
        return 0
    for table, result in results.items():
        for key, value in result.items():
            print(f"{table:13} {key:14} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
