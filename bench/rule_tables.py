"""Speed and size of rule tables: ``python bench/rule_tables.py [GRAMMAR...] [--parsed DIR] [--links FILE] [--json]``.

On Multi30k German-English, 29,000 sentence pairs, for each grammar: extraction, counting and scoring in CPU seconds and pairs
a second, distinct rules, bytes a rule, peak memory (each grammar runs in a process of its own, corpus included), the time to
open the table, and how fast it is walked (symbols a second) and read (rules a second).

The hierarchical grammar takes the lower-cased, tokenised text and its word alignment (TREEGLOT_DATA names the folder of the
data); the others take parsed files ``train.de.conllu`` and ``train.de.penn`` (``--parsed`` or TREEGLOT_PARSED), whose words
are aligned here once unless ``--links`` names a file of links; with ``--links`` and no such file, it is written.

Moses on one machine with the same text: 180 s for the extraction of hierarchical rules and 252 s for scoring them (4.97 M
rules, 792 MB as text).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from treeglot.alignment.base import train
from treeglot.files import read_lines
from treeglot.grammars import registry
from treeglot.grammars.registry import rule_grammars
from treeglot.progress import set_quiet
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees.corpus import ParsedBitext, SideFiles, read_parsed_bitext, read_trees

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/multi30k/lc-tok"
MOSES_SECONDS = 432


def align(parsed: Path, links: Path) -> None:
    """Align the words of the parsed source with the target text."""
    source = [" ".join(sentence.tokens.forms).lower() for sentence in read_trees(parsed / "train.de.conllu", None)]
    target = [line for _, line in read_lines(DATA / "train.en")]
    with tempfile.TemporaryDirectory() as folder:
        aligner = train("own", source, target, Path(folder) / "model")
        links.write_text("".join(line + "\n" for line in aligner.align(source, target).symmetrized()))


def corpus_of(grammar: str, parsed: Path | None, links: Path | None) -> ParsedBitext:
    target = SideFiles(text=DATA / "train.en")
    if grammar == "hierarchical" or parsed is None or links is None:
        return read_parsed_bitext(SideFiles(text=DATA / "train.de"), target, DATA / "train.de-en.align.gz")
    trees = SideFiles(parsed / "train.de.conllu", parsed / "train.de.penn")
    return read_parsed_bitext(trees, target, links, casing=str.lower)


def measure(grammar: str, parsed: Path | None, links: Path | None, threads: int, memory: str) -> dict[str, Any]:
    corpus = corpus_of(grammar, parsed, links)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result: dict[str, Any] = {"grammar": grammar, "threads": threads, "memory": memory}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "table"
        report = build_rule_table(grammar, corpus, out, threads=threads, memory=memory)
        result["cpu_seconds"] = round(report.cpu_seconds, 2)
        result["wall_seconds"] = round(report.seconds, 2)
        result["pairs_per_cpu_second"] = round(report.sentences / report.cpu_seconds)
        result["occurrences"] = report.occurrences
        result["rules"] = report.rules
        result["sources"] = report.sources
        result["bytes_per_rule"] = round(report.table_bytes / max(report.rules, 1), 2)
        result["spilled_runs"] = report.spilled_runs
        result["corpus_mb"] = before >> 10
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        if grammar == "hierarchical":
            result["times_less_than_moses"] = round(MOSES_SECONDS / report.cpu_seconds, 1)
        del corpus
        start = time.perf_counter()
        table = RuleTable(out)
        result["open_ms"] = round(1000 * (time.perf_counter() - start), 2)
        every = max(1, table.sources // 300_000)
        for limit in (100, 1):
            sources, steps, rules, lost, seconds = table.core.walk_all(every, limit)
            if lost:
                raise SystemExit(f"{grammar}: {lost} of {sources} source sides were not found")
            result[f"best_{limit}"] = {
                "sources_per_second": round(sources / seconds),
                "symbols_per_second": round(steps / seconds),
                "rules_per_second": round(rules / seconds),
            }
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grammars", nargs="*", metavar="GRAMMAR")
    parser.add_argument("--parsed", type=Path, default=os.environ.get("TREEGLOT_PARSED"))
    parser.add_argument("--links", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    set_quiet(True)
    if not DATA.is_dir():
        print(f"no {DATA}: set TREEGLOT_DATA")
        return 0
    if options.here:
        for grammar in options.grammars:
            print(json.dumps(measure(grammar, options.parsed, options.links, options.threads, options.memory)))
        return 0
    parsed = Path(options.parsed) if options.parsed else None
    if parsed is not None and not (parsed / "train.de.conllu").is_file():
        print(f"no {parsed / 'train.de.conllu'}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        links = options.links or Path(folder) / "links"
        if parsed is not None and not links.is_file():
            align(parsed, links)
        usual = [name for name in rule_grammars() if not registry.grammar(name).target_trees]  # one side is parsed
        for grammar in options.grammars or usual:
            if grammar != "hierarchical" and parsed is None:
                print(f"{grammar}: passed over without parsed files (--parsed or TREEGLOT_PARSED)", file=sys.stderr)
                continue
            command = [sys.executable, __file__, grammar, "--here", "--links", str(links)]
            command += ["--threads", str(options.threads), "--memory", options.memory]
            if parsed is not None:
                command += ["--parsed", str(parsed)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr or done.stdout)
                return 1
            result = json.loads(done.stdout)
            if options.json:
                print(json.dumps(result), flush=True)
                continue
            print(f"\n{grammar}")
            for key, value in result.items():
                if key != "grammar":
                    print(f"  {key:24} {value}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
