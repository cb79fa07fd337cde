"""Speed of multi-word-unit forests: ``python bench/mwu_extraction.py [--grid | --lengths | --files CONLLU TARGET LINKS] [--json]``.

On Chinese-English PUD (1,000 sentences with hand-made trees, words aligned here), one core: sentences a second of extraction,
alone and with counting and scoring, rules a sentence, distinct rules, and memory of a process that extracts, as functions of the words of a unit (m)
and of the edges into one (k). ``--lengths``: microseconds a word of extraction (also factored, and with its table) for stars, chains, combs and random trees of 25 to
400 words. The bar
is 1,000 sentences a second at m = 6, k = 10.

TREEGLOT_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from treeglot.alignment.base import train
from treeglot.grammars.rules import make_extractor
from treeglot.progress import set_quiet
from treeglot.tables.rules import build_rule_table
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import read_conllu
from treeglot.trees.corpus import ParsedBitext, SideFiles, parsed_bitext, read_parsed_bitext

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "trees/ud-pud"
GRAMMAR = "mwu"
REPEATED = 5
POINTS = [(m, 10) for m in range(1, 9)] + [(6, k) for k in (1, 2, 5, 20, 50)]


def pud() -> ParsedBitext:
    """The pairs, several times over."""
    sources = list(read_conllu(DATA / "zh_pud-ud-test.conllu"))
    targets = [sentence.tokens.forms for sentence in read_conllu(DATA / "en_pud-ud-test.conllu")]
    with tempfile.TemporaryDirectory() as folder:
        texts = [" ".join(s.tokens.forms) for s in sources], [" ".join(t).lower() for t in targets]
        lines = list(train("own", *texts, Path(folder) / "model").align(*texts).symmetrized())
    links = [[(int(s), int(t)) for s, _, t in (link.partition("-") for link in line.split())] for line in lines]
    return parsed_bitext(list(zip(sources, targets, links, strict=True)) * REPEATED)


def files(conllu: str, target: str, links: str) -> ParsedBitext:
    """The pairs of three files."""
    return read_parsed_bitext(SideFiles(conllu=conllu), SideFiles(text=target), links)


def measure(bitext: ParsedBitext, m: int, k: int, **options: Any) -> dict[str, Any]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    rules = make_extractor(GRAMMAR, bitext, max_words=m, k=k, **options).count(0, len(bitext))
    alone = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        report = build_rule_table(GRAMMAR, bitext, Path(folder) / "t", threads=1, max_words=m, k=k, **options)
        seconds = time.process_time() - start
    return {
        "m": m,
        "k": k,
        "sentences/s": round(len(bitext) / alone),
        "with counting and scoring": round(len(bitext) / seconds),
        "rules a sentence": round(rules / len(bitext), 1),
        "distinct": report.rules,
        "MB more": round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1),
    }


def grid() -> list[dict[str, Any]]:
    """Each point in a process of its own, for its memory."""
    rows = []
    for m, k in POINTS:
        command = [sys.executable, __file__, "--point", str(m), str(k)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(rows[-1], file=sys.stderr)
    return rows


def trees(size: int) -> dict[str, list[int]]:
    choose = random.Random(size)
    random_heads = [-1] * size

    def fill(begin: int, end: int, head: int) -> None:
        while begin < end:
            cut = choose.randint(begin + 1, min(end, begin + max(2, (end - begin) // 2)))
            top = choose.randrange(begin, cut)
            random_heads[top] = head
            fill(begin, top, top)
            fill(top + 1, cut, top)
            begin = cut

    fill(0, size // 3, size // 3)
    fill(size // 3 + 1, size, size // 3)
    return {
        "star": [0 if j else -1 for j in range(size)],
        "middle star": [size // 2 if j != size // 2 else -1 for j in range(size)],
        "chain": [j - 1 for j in range(size)],
        "comb": [-1] + [j - 1 if j % 2 else j - 2 for j in range(1, size)],
        "random": random_heads,
    }


def lengths() -> list[dict[str, Any]]:
    """The same number of sentences of every length: distinct rules are scored and written once, however often they occur."""
    rows = []
    for size in (25, 50, 100, 200, 400):
        row: dict[str, Any] = {"words": size}
        for name, heads in trees(size).items():
            tokens = Tokens([f"w{j}" for j in range(size)], xpos=["T"] * size)
            pair = ParsedSentence.of(DependencyTree(tokens, heads)), tokens.forms, [(j, j) for j in range(size)]
            bitext = parsed_bitext([pair] * 6)
            for forest in ("kbest", "factored"):
                extractor = make_extractor(GRAMMAR, bitext, forest=forest)
                start = time.process_time()
                extractor.count(0, len(bitext))
                key = name if forest == "kbest" else f"{name}, factored"
                row[key] = round((time.process_time() - start) / (len(bitext) * size) * 1e6, 1)
            with tempfile.TemporaryDirectory() as folder:
                start = time.process_time()
                build_rule_table(GRAMMAR, bitext, Path(folder) / "t", threads=1)
                row[f"{name}, table"] = round((time.process_time() - start) / (len(bitext) * size) * 1e6, 1)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of multi-word-unit forests.")
    parser.add_argument("--grid", action="store_true", help="all points of m and k")
    parser.add_argument("--lengths", action="store_true", help="microseconds a word by length and shape")
    parser.add_argument("--files", nargs=3, metavar=("CONLLU", "TARGET", "LINKS"), help="these pairs instead of PUD")
    parser.add_argument("--point", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    set_quiet(True)
    if given.point:
        print(json.dumps(measure(pud(), *given.point)))
        return
    rows = (
        lengths()
        if given.lengths
        else grid()
        if given.grid
        else [measure(files(*given.files) if given.files else pud(), 6, 10)]
    )
    if given.json:
        print(json.dumps(rows))
        return
    print(" | ".join(rows[0]))
    for row in rows:
        print(" | ".join(str(value) for value in row.values()))


if __name__ == "__main__":
    main()
