"""``treeglot rules`` on rule tables: build one from trees, show, search, export and describe it.

`treeglot.cli.rules` calls these functions when a file is a rule table instead of a phrase table, or a grammar was asked for.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from treeglot.cli.rules_extract import Inputs, check_inputs, check_node_links
from treeglot.errors import TreeError, TreeglotError
from treeglot.links import GivenLinks
from treeglot.progress import say
from treeglot.tables.rules import Discounting, RuleEntry, RuleTable, Side, build_rule_table
from treeglot.trees.corpus import read_parsed_bitext
from treeglot.trees.stored import add_links

PrintTable = Callable[[Sequence[str], Sequence[Sequence[Any]], Sequence[int]], None]
SCORES = ("P(s|t)", "Plex(s|t)", "P(t|s)", "Plex(t|s)")


def build_rules(
    grammar: str,
    inputs: Inputs,
    out: Path,
    *,
    links: Sequence[GivenLinks] = (),
    min_count: float = 0.0,
    discounting: Discounting = "none",
    memory: str = "4g",
    threads: int = 0,
    folder: Path | None = None,
    **extraction: Any,
) -> None:
    """Read trees, target and links, and make the rule table of a grammar; ``links`` are the alignments if there are several."""
    check_inputs(grammar, inputs)
    check_node_links(grammar, inputs, extraction)
    try:
        corpus = read_parsed_bitext(
            *inputs.sides,
            inputs.align or None,
            inputs.nodes,
            binarize=extraction.get("binarize", "none"),
            node_threshold=inputs.threshold,
        )
        if links:
            add_links(corpus.columns, links)
        report = build_rule_table(
            grammar,
            corpus,
            out,
            min_count=min_count,
            discounting=discounting,
            memory=memory,
            threads=threads,
            folder=folder,
            **extraction,
        )
    except TreeError as error:
        raise error.at(path=inputs.name) from None
    say(
        f"{out}: {report.rules:,} {grammar} rules of {report.sources:,} sources from {report.sentences:,} sentence pairs "
        f"({report.occurrences:,} occurrences), {report.table_bytes / max(report.rules, 1):.1f} bytes a rule, "
        f"{report.cpu_seconds:.1f} s of CPU time, {report.spilled_runs} sorted runs on disk"
    )
    if report.warning:
        say(report.warning)
    if report.dropped:
        say(f"{report.dropped:,} rules below the minimum count left out")


def show_rules(path: Path, source: str, limit: int, as_json: bool, print_table: PrintTable) -> None:
    """Print the rules of a source side."""
    entries = RuleTable(path).lookup(source, limit or None)
    if not entries and not as_json:
        raise TreeglotError(
            f"the table has no source side {source!r}",
            path=path,
            remedy="look for parts of it with: treeglot rules search",
        )
    print_rules(entries, as_json, print_table)


def search_rules(
    path: Path, pattern: str, side: Side, regex: bool, whole: bool, limit: int, as_json: bool, print_table: PrintTable
) -> None:
    """Print the rules whose source (or target) side matches a pattern."""
    matches = RuleTable(path).search(pattern, side=side, whole=whole, regex=regex)
    entries = list(islice(matches, limit + 1 if limit else None))
    more = bool(limit) and len(entries) > limit
    print_rules(entries[:limit] if more else entries, as_json, print_table)
    if more:
        say(f"more than {limit} rules; --limit 0 shows all")
    elif not entries:
        say("no rule found")


def print_rules(entries: Sequence[RuleEntry], as_json: bool, print_table: PrintTable) -> None:
    """One line for each rule."""
    if as_json:
        for entry in entries:
            print(json.dumps(dataclasses.asdict(entry), ensure_ascii=False))
        return
    labels = any(entry.labels for entry in entries)
    header = ["source", "target", *SCORES, "count", *(["structures"] if labels else [])]
    rows = [
        [
            entry.source,
            entry.target,
            *(f"{score:.4g}" for score in entry.scores),
            f"{entry.count:.6g} of {entry.source_total:.6g}",
            *([" ".join(f"{begin}-{end}" for begin, end in entry.labels)] if labels else []),
        ]
        for entry in entries
    ]
    print_table(header, rows, range(2, 6))


def export_rules(path: Path, out: Path | None, moses: Path | None, reordering: Path | None) -> None:
    """Write a rule table as text."""
    if moses is not None or reordering is not None or out is None:
        raise TreeglotError(
            "a rule table is one file of text", path=path, remedy="give OUT, without --moses and --reordering"
        )
    if out.is_dir():
        raise TreeglotError("is a folder", path=out, remedy="name a file in it")
    print(RuleTable(path).export(out))


def describe_rules(path: Path, verify: bool, as_json: bool, print_table: PrintTable) -> None:
    """Print the figures of a rule table."""
    result = RuleTable(path, verify=verify).statistics()
    if as_json:
        print(json.dumps({**result._asdict(), "bytes_per_rule": round(result.bytes_per_rule, 3)}, ensure_ascii=False))
        return
    options = {**result.options.get("extraction", {}), **result.options}
    options.pop("extraction", None)
    rows: list[list[Any]] = [
        ["grammar", result.grammar],
        ["options", ", ".join(f"{name}={value}" for name, value in options.items())],
        ["rules", f"{result.rules:,}"],
        ["source sides", f"{result.sources:,}"],
        ["prefixes of source sides", f"{result.prefixes:,}"],
        ["occurrences", f"{result.occurrences:,}"],
        ["sentence pairs", f"{result.sentences:,}"],
        ["source words", f"{result.source_words:,}"],
        ["tags and categories", f"{result.categories:,}"],
        ["target words", f"{result.target_words:,}"],
        ["bytes", f"{result.bytes:,}"],
        ["bytes a rule", f"{result.bytes_per_rule:.2f}"],
        ["rules with a count of at most 1", f"{result.seen_once:,}"],
        ["rules with a source word", f"{result.lexical:,}"],
        *([["rules with structures", f"{result.labelled:,}"]] if result.labelled else []),
        ["rules of a source side", f"{result.rules / max(result.sources, 1):.2f}"],
        ["most rules", f"{result.most_rules:,} of {result.most_ambiguous!r}"],
    ]
    print_table(["table", ""], rows, [1])
    columns = (result.source_lengths, result.target_lengths, result.variables)
    lengths = [
        [str(n), *(f"{column[n]:,}" if n < len(column) else "0" for column in columns)]
        for n in range(max(map(len, columns)))
        if any(n < len(column) and column[n] for column in columns)
    ]
    print()
    print_table(["n", "rules with n source symbols", "n target symbols", "n variables"], lengths, range(4))
    print()
    ambiguity = [[str(a) if a == b else f"{a}-{b}", f"{count:,}"] for a, b, count in result.ambiguity]
    print_table(["rules", "source sides"], ambiguity, range(2))
