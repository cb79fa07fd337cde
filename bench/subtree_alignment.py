"""Sub-tree alignment on two hand-aligned treebanks: the paper's tables 3 and 4, additions, and what limits the result.

    python bench/subtree_alignment.py [--data DIR] [--corpus squoia|squoia-continuous|tblign]... [--table NAME]... [--oracle]

DIR (default: the environment variable TREEGLOT_DATA) holds ``trees/squoia-de-es`` and ``trees/tblign-nl-en``. Prints Markdown
tables of precision, recall and F1 of links between internal nodes, for good links, and for good and fuzzy links together:

- ``paper``: the rows of the paper's tables. Word links and tables come from the word aligner, trained on the treebank's text.
- ``additions``: what goes beyond the paper, one after the other, and the whole without each of them.
- ``oracle`` (also ``--oracle``): the same models with hand-made word links (SQUOIA only; TBLign has none).

Everything is chosen on the development part: kernel weights, C, thresholds, the kernels of the composite, the best method of
the lexical aligner. The test part is only scored. Results are kept in ``--cache``, so a run can be interrupted, and done in
parts; ``--again`` makes them anew. The seed is fixed (``--seed``).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from subtree_data import CORPORA, Source, score_words
from subtree_rows import Bench, Row

from treeglot.alignment.subtrees.lexical import DEFAULT_METHOD, METHODS

SPACES = ("SST", "RdSST", "RgSST", "Root")
EXTRA_TERMS = ("dBTK-labelfunction", "dBTK-path")
TABLES = ("paper", "additions", "oracle")


def learnt(bench: Bench) -> Source:
    """The better source of word links: learnt from hand-made ones, or the published links of TBLign."""
    return "given" if bench.name == "tblign" else "linker"


def dev_f1(result: dict[str, Any]) -> float:
    return float(result["dev"]["good"][2])


def best_on_dev(bench: Bench, rows: Iterable[Row], again: bool) -> Row:
    return max(rows, key=lambda row: dev_f1(bench.run(row, again=again)))


def composite(bench: Bench, again: bool) -> Row:
    """dBTK-Root with the iBTK that is best on dev, as the paper combines them."""
    best = best_on_dev(bench, (kernel_row("i", space) for space in SPACES), again)
    return replace(best, name=f"Plain + dBTK-Root + {best.terms[1]}", terms=("plain", "dBTK-Root", best.terms[1]))


def kernel_row(kind: str, space: str) -> Row:
    term = f"{kind}BTK-{space}"
    return Row(f"Plain + {term}", terms=("plain", term))


def baseline_rows(bench: Bench, again: bool) -> list[Row]:
    rows = [Row(f"Lexical aligner {method}", method=method) for method in METHODS]
    best = best_on_dev(bench, rows, again)
    default = next(row for row in rows if row.method == DEFAULT_METHOD)
    return [default] if best == default else [default, replace(best, name=f"{best.name} (best on dev)")]


def paper_rows(bench: Bench, again: bool) -> list[Row]:
    return [
        Row("Lex", features="lexical"),
        Row("Lex + Online Str (Plain)"),
        *(kernel_row(kind, space) for kind in "di" for space in SPACES),
        composite(bench, again),
        *baseline_rows(bench, again),
    ]


def steps(bench: Bench, again: bool) -> list[Row]:
    """The paper's composite, and the additions one after the other."""
    first = composite(bench, again)
    linked = replace(
        first,
        name="+ learnt word links" if learnt(bench) == "linker" else "+ published word links",
        source=learnt(bench),
    )
    features = replace(linked, name="+ extended features", features="extended", rounds=0)
    kernels = replace(features, name="+ kernels of functions and parents", terms=(*features.terms, *EXTRA_TERMS))
    second = replace(kernels, name="+ second pass", passes=2)
    best = replace(second, name="+ best instead of greedy links", best=True)
    return [first, linked, features, kernels, second, best]


def without(bench: Bench, full: Row) -> list[Row]:
    """The whole model without one of its parts."""
    groups = ("coverage", "heads", "rivals", "relatives", "shape")
    return [
        replace(full, name="without learnt or published word links", source="aligner"),
        replace(full, name="without extended features", features="paper"),
        *(
            replace(
                full,
                name=f"without the features {group}",
                features="+".join(["paper", *(g for g in groups if g != group)]),
            )
            for group in groups
        ),
        replace(full, name="without tree kernels", terms=tuple(t for t in full.terms if "SST" not in t)),
        replace(full, name="without kernels of functions and parents", terms=full.terms[: -len(EXTRA_TERMS)]),
        replace(full, name="without any kernel but plain", terms=("plain",)),
        replace(full, name="without second pass", passes=1),
    ]


def full_row(bench: Bench, again: bool) -> Row:
    """The whole model: the last step that is best on dev."""
    return best_on_dev(bench, steps(bench, again)[-2:], again)


def print_table(bench: Bench, title: str, rows: Iterable[Row], again: bool) -> None:
    print(f"\n### {bench.name}: {title}\n")
    print("| | dev F | test P | R | F | good+fuzzy P | R | F | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        result = bench.run(row, again=again)
        good, both = result["test"]["good"], result["test"]["both"]
        cells = [dev_f1(result), *good, *both]
        print(
            f"| {row.name} | {' | '.join(f'{100 * value:.2f}' for value in cells)} | {result['seconds']:.0f} |",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("TREEGLOT_DATA"), help="folder with the treebanks")
    parser.add_argument("--corpus", action="append", choices=CORPORA, help="default: all")
    parser.add_argument("--table", action="append", choices=TABLES, help="default: paper and additions")
    parser.add_argument("--oracle", action="store_true", help="also models with hand-made word links")
    parser.add_argument("--cache", default="build/subtree-alignment", help="folder of results (%(default)s)")
    parser.add_argument("--again", action="store_true", help="do not take results from the cache")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument(
        "--candidates", type=int, default=15_000, help="most candidates that one SVM learns from (%(default)s)"
    )
    options = parser.parse_args(arguments)
    if not options.data:
        parser.error("name the folder of the data: --data, or the variable TREEGLOT_DATA")
    tables = options.table or ["paper", "additions"]
    if options.oracle and "oracle" not in tables:
        tables.append("oracle")
    for name in options.corpus or CORPORA:
        bench = Bench(
            name,
            Path(options.data),
            Path(options.cache),
            seed=options.seed,
            threads=options.threads,
            limit=options.candidates,
        )
        sources: list[Source] = ["aligner", "linker"] if name != "tblign" else ["aligner"]
        for source in sources:
            values = score_words(bench.corpus, bench.evidence(source), "dev")
            print(f"\nword links of {name}, {source}, dev: P {values[0]:.1%} R {values[1]:.1%} F {values[2]:.1%}")
        if "paper" in tables:
            print_table(bench, "the paper's rows", paper_rows(bench, options.again), options.again)
        if "additions" in tables:
            print_table(bench, "additions, one after the other", steps(bench, options.again), options.again)
            if name != "squoia-continuous":
                print_table(
                    bench, "the whole without one part", without(bench, full_row(bench, options.again)), options.again
                )
        if "oracle" in tables and name != "tblign":
            models = [composite(bench, options.again), full_row(bench, options.again)]
            rows = [replace(row, name=f"{row.name}, hand-made word links", source="gold") for row in models]
            print_table(bench, "oracle", rows, options.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())
