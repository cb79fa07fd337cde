"""Sub-tree alignment on two hand-aligned treebanks: the paper's tables 3 and 4, additions, and what limits the result.

    python bench/subtree_alignment.py --data DIR --dictionary squoia=de-es.tsv --dictionary tblign=nl-en.tsv

DIR (default: the environment variable TREEGLOT_DATA) holds ``trees/squoia-de-es`` and ``trees/tblign-nl-en``; bench/freedict.py
makes dictionaries. Prints Markdown tables of precision, recall and F1 of links between internal nodes: good links of all units
of the test part, good links of its annotated units, good and fuzzy links of these. ``--corpus`` and ``--table`` choose:

- ``paper``: the rows of the paper's tables. Word links and tables come from the word aligner, trained on the treebank's text.
- ``additions``: what goes beyond the paper, one after the other, and the whole without each of them (the latter learn from a
  quarter of the candidates).
- ``oracle``: the same models with hand-made word links (SQUOIA only; TBLign has none).
- ``continuous``: SQUOIA with its discontinuous nodes, and made continuous.
- ``documents``: every document of SQUOIA as the test part in turn (the baseline, the paper's composite and the whole model).

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

from subtree_data import CORPORA, DOCUMENTS, SQUOIA, Source, score_words
from subtree_rows import Bench, Row

from treeglot.alignment.subtrees.lexical import DEFAULT_METHOD, METHODS

SPACES = ("SST", "RdSST", "RgSST", "Root")
EXTRA_TERMS = ("dBTK-labelfunction", "dBTK-path")
TABLES = ("paper", "additions", "oracle", "documents", "continuous")


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
    """The paper's composite, and the additions one after the other. Of these, weights are tuned in the first rows only."""
    first = composite(bench, again)
    rows = [first]

    def add(name: str, **changes: Any) -> None:
        rows.append(replace(rows[-1], name=name, **changes))

    if bench.dictionary is not None:
        add("+ dictionary", dictionary=True)
    add("+ learnt word links" if learnt(bench) == "linker" else "+ published word links", source=learnt(bench))
    add("+ extended features", features="extended", rounds=0)
    add("+ kernels of functions and parents", terms=(*first.terms, *EXTRA_TERMS))
    add("+ second pass", passes=2)
    add("+ boosted trees", trees=True)
    return rows


def without(bench: Bench, full: Row) -> list[Row]:
    """The whole model without one of its parts, or with something else instead."""
    groups = ("coverage", "heads", "rivals", "relatives", "shape")
    rows = [
        replace(full, name="without dictionary", dictionary=False),
        replace(full, name="without learnt or published word links", source="aligner"),
        replace(full, name="without either", source="aligner", dictionary=False),
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
        replace(full, name="without second pass", passes=1, trees=False),
        replace(full, name="without boosted trees", trees=False),
        replace(full, name="best instead of greedy links", best=True),
    ]
    return [row for row in rows if bench.dictionary is not None or not row.name.endswith(("dictionary", "either"))]


def full_row(bench: Bench, again: bool) -> Row:
    """The whole model: all steps."""
    return replace(steps(bench, again)[-1], name="the whole model")


def print_table(bench: Bench, title: str, rows: Iterable[Row], again: bool) -> None:
    print(f"\n### {bench.name}: {title}\n")
    print("| | dev F | test P | R | F | annotated P | R | F | good+fuzzy P | R | F | CPU s |")
    print("| ---" * 12 + " |")
    for row in rows:
        result = bench.run(row, again=again)
        test = result["test"]
        cells = [dev_f1(result), *test["good"], *test["annotated"], *test["both"]]
        print(
            f"| {row.name} | {' | '.join(f'{100 * value:.2f}' for value in cells)} | {result['seconds']:.0f} |",
            flush=True,
        )


def open_bench(name: str, options: argparse.Namespace, limit: int | None = None) -> Bench:
    dictionaries = dict(item.split("=", 1) for item in options.dictionary)
    dictionary = dictionaries.get(name.split("-")[0])
    return Bench(
        name,
        Path(options.data),
        Path(options.cache),
        dictionary=None if dictionary is None else Path(dictionary),
        seed=options.seed,
        threads=options.threads,
        limit=limit or options.candidates,
    )


def print_documents(options: argparse.Namespace) -> None:
    """Each document of SQUOIA as the test part. The kernels of the composite are those that the main split chose."""
    main = open_bench("squoia", options)
    rows = [Row("Lexical aligner", method=DEFAULT_METHOD), composite(main, False), full_row(main, False)]
    print("\n### squoia: F1 of good links of each document as test part, all units (annotated units)\n")
    print("| | " + " | ".join(DOCUMENTS) + " |\n" + "| ---" * (len(DOCUMENTS) + 1) + " |")
    cells: list[list[str]] = [[] for _ in rows]
    for name in DOCUMENTS:
        bench = main if {name} == set(SQUOIA["test"]) else open_bench(f"squoia-test-{name}", options)
        for row, line in zip(rows, cells, strict=True):
            test = bench.run(row, again=options.again)["test"]
            line.append(f"{100 * test['good'][2]:.2f} ({100 * test['annotated'][2]:.2f})")
    for row, line in zip(rows, cells, strict=True):
        print(f"| {row.name} | {' | '.join(line)} |", flush=True)


def print_corpus(name: str, tables: list[str], options: argparse.Namespace) -> None:
    bench = open_bench(name, options)
    again = options.again
    if "paper" in tables:
        print_table(bench, "the paper's rows", paper_rows(bench, again), again)
    if "additions" in tables:
        print_table(bench, "additions, one after the other", steps(bench, again), again)
        whole = full_row(bench, again)
        small = open_bench(name, options, options.candidates // 4)  # many rows
        print_table(small, "the whole model without one part", [whole, *without(small, whole)], again)
        if name == "squoia":
            pairs = open_bench("squoia-pairs", options, options.candidates // 4)
            print_table(pairs, "", [replace(whole, name="without joining pairs")], again)
    if "oracle" in tables and name != "tblign":
        models = [composite(bench, again), full_row(bench, again)]
        rows = [
            replace(row, name=f"{row.name}, hand-made word links", source="gold", dictionary=False) for row in models
        ]
        print_table(bench, "oracle", rows, again)
    if "continuous" in tables and name == "squoia":
        rows = [Row("Lexical aligner", method=DEFAULT_METHOD), composite(bench, again), full_row(bench, again)]
        for variant in ("squoia", "squoia-continuous"):
            print_table(open_bench(variant, options, options.candidates // 4), "gaps or none", rows, again)
    sources: list[tuple[Source, bool]] = [("aligner", False), ("linker", False)]
    if bench.dictionary is not None:
        sources += [("aligner", True), ("linker", True)]
    for source, dictionary in sources if name == "squoia" else ():
        values = [score_words(bench.corpus, bench.evidence(source, dictionary), part) for part in ("dev", "test")]
        text = "; ".join(f"P {p:.1%} R {r:.1%} F {f:.1%}" for p, r, f in values)
        print(f"\nword links, {source}{' and dictionary' if dictionary else ''}, dev and test: {text}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("TREEGLOT_DATA"), help="folder with the treebanks")
    parser.add_argument(
        "--dictionary",
        action="append",
        default=[],
        metavar="CORPUS=FILE",
        help="a dictionary for squoia or tblign; without one its rows are left out",
    )
    parser.add_argument("--corpus", action="append", choices=CORPORA, help="default: all")
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all")
    parser.add_argument("--cache", default="build/subtree-alignment", help="folder of results (%(default)s)")
    parser.add_argument("--again", action="store_true", help="do not take results from the cache")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument(
        "--candidates", type=int, default=60_000, help="most candidates that one SVM learns from (%(default)s)"
    )
    options = parser.parse_args(arguments)
    if not options.data:
        parser.error("name the folder of the data: --data, or the variable TREEGLOT_DATA")
    tables = options.table or list(TABLES)
    for name in options.corpus or CORPORA:
        print_corpus(name, tables, options)
    if "documents" in tables and "squoia" in (options.corpus or CORPORA):
        print_documents(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
