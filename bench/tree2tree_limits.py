"""What the limits of tree-to-tree extraction cost: ``python bench/tree2tree_limits.py PROJECT [GRAMMAR...] [--vary NAME=V,V,...] [--json]``.

PROJECT has trees of both sides and is trained (``treeglot train --system stssg``). For the defaults of each grammar, and for other values of
one limit at a time: rules and bytes of the table, CPU seconds and peak memory of extraction, counting and storing in one thread, the share
of *neighbours* (rules that two minimal ones make) that limits cut, CPU seconds by which a sentence of the test part is translated, and
memory of that. Every setting runs in processes of its own; ``--pairs`` takes the first of the training pairs only; of the test part ``--sentences`` (200) are translated, 0 means all, with the
weights that tuning starts from.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from treeglot import lm
from treeglot._core.parsed import ParsedBitext
from treeglot.pipeline.project import Project
from treeglot.progress import set_quiet
from treeglot.search import forest_decoder, start_weights
from treeglot.tables.rules import build_rule_table
from treeglot.trees.corpus import ParsedCorpus
from treeglot.trees.stored import open_corpus

GRAMMARS = ("stsg", "stssg")
VARIED: dict[str, tuple[int, ...]] = {
    "max_trees": (1, 2, 4),
    "max_variables": (1, 2, 4),
    "max_frontier": (3, 4, 5, 8),
    "max_words": (3, 5, 10),
    "max_height": (3, 4, 5, 8),
    "span_limit": (5, 7, 15),
    "max_variants": (1, 2, 8),
}


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def extract(project: Project, grammar: str, options: dict[str, Any], out: Path, pairs: int) -> dict[str, Any]:
    nodes = project.node_links if "links" in options else None
    threshold = project.config.subtrees.threshold
    corpus = open_corpus(project.parsed_corpus("train"), [project.links], nodes=nodes, node_threshold=threshold)
    columns = corpus.columns.select(range(min(pairs, len(corpus)))) if pairs else corpus.columns
    report = build_rule_table(grammar, columns, out, threads=1, memory="1g", **options)
    counters = report.counters
    return {
        "pairs": report.sentences,
        "rules": report.rules,
        "mb": round(report.table_bytes / 1e6, 1),
        "cpu_seconds": round(report.cpu_seconds, 1),
        "peak_mb": peak_mb(),
        "cut_neighbours": round(100 * counters["cut_neighbours"] / max(counters["neighbours"], 1), 1),
        "beyond": {name.removeprefix("beyond_"): n for name, n in counters.items() if name.startswith("beyond_")},
        "spilled_runs": report.spilled_runs,
    }


def decode(project: Project, grammar: str, options: dict[str, Any], table: Path, sentences: int) -> dict[str, Any]:
    spec = project.config.system(grammar)
    assert spec is not None
    matching = {**spec.decoder_options["grammars"], **{k: v for k, v in options.items() if k == "max_trees"}}
    settings = {**spec.decoder_options, "grammars": matching}
    corpus = open_corpus(project.parsed_corpus("test")).source
    if sentences:
        columns = ParsedBitext.open(str(project.parsed_corpus("test")))
        corpus = ParsedCorpus(columns.select(range(min(sentences, len(columns)))).source)
    decoder = forest_decoder(
        {grammar: table}, None, lm.LanguageModel(project.model), start_weights([grammar]), **settings
    )
    spent = time.process_time()
    results = decoder.translate(corpus, threads=1)
    spent = time.process_time() - spent
    return {
        "sentences_per_second": round(len(results) / spent, 1),
        "decoder_mb": peak_mb(),
        "sequences": round(100 * sum(r.features[f"{grammar}.sequences"] > 0 for r in results) / len(results), 1),
    }


def settings(grammar: str, varied: dict[str, tuple[int, ...]]) -> Iterator[dict[str, Any]]:
    yield {}
    for name, values in varied.items():
        if name != "max_trees" or grammar == "stssg":
            yield from ({name: value} for value in values)


def measured(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project")
    parser.add_argument("grammars", nargs="*", default=list(GRAMMARS))
    parser.add_argument(
        "--vary", action="append", help="NAME=VALUE,VALUE,... instead of the usual ones; 'none': defaults only"
    )
    parser.add_argument("--links", choices=["dirc", "ewos"], help="with links of nodes")
    parser.add_argument("--pairs", type=int, default=0, help="only so many of the training pairs; 0: all")
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    varied = VARIED
    if arguments.vary:
        pairs = [entry.partition("=") for entry in arguments.vary if entry != "none"]
        varied = {name: tuple(map(int, values.split(","))) for name, _, values in pairs}
    heads = ["grammar", "setting", "rules", "MB", "CPU s", "peak MB", "cut %", "sent/s", "decoder MB", "sequences %"]
    if not arguments.json:
        print(f"| {' | '.join(heads)} |\n| --- | --- |{' ---: |' * (len(heads) - 2)}", flush=True)
    for grammar in arguments.grammars:
        for options in settings(grammar, varied):
            if arguments.links:
                options["links"] = arguments.links
            with tempfile.TemporaryDirectory() as folder:
                call = [arguments.project, grammar, json.dumps(options), f"{folder}/table"]
                row = measured("--extract", *call, str(arguments.pairs))
                row |= measured("--decode", *call, str(arguments.sentences))
            if arguments.json:
                print(json.dumps({"grammar": grammar, "options": options, **row}), flush=True)
                continue
            name = ", ".join(f"`{key}` {value}" for key, value in options.items()) or "defaults"
            keys = ("mb", "cpu_seconds", "peak_mb", "cut_neighbours", "sentences_per_second", "decoder_mb", "sequences")
            cells = [f"`{grammar}`", name, f"{row['rules']:,}", *(f"{row[key]:,}" for key in keys)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    set_quiet(True)
    logging.disable(logging.WARNING)
    if sys.argv[1:2] in (["--extract"], ["--decode"]):
        kind, folder, grammar, options, table, *rest = sys.argv[1:]
        place = Project(Path(folder)), grammar, json.loads(options), Path(table)
        print(json.dumps((extract if kind == "--extract" else decode)(*place, int(rest[0]))))
    else:
        main()
