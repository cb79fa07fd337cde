"""``treeglot rules``: extract rules, build tables, look inside them, and exchange them with Moses."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from treeglot.alignment.choices import EXPECTED, link_choice, parts
from treeglot.alignment.posteriors import thresholded_files
from treeglot.cli import rules_tables
from treeglot.cli.grammar_options import with_grammar_options
from treeglot.cli.options import ThreadsOption
from treeglot.cli.rules_extract import (
    Inputs,
    check_node_links,
    check_options,
    plain_text,
    read_phrase_pairs,
    report,
    write_rules,
)
from treeglot.errors import ConfigError, TreeglotError
from treeglot.files import atomic_write_binary, check_places
from treeglot.grammars import registry
from treeglot.grammars.phrases import MAX_LENGTH, check_max_length
from treeglot.grammars.source_forests import with_forests
from treeglot.grammars.subtree_phrases import BracketStatistics, write_spans
from treeglot.links import Weighted
from treeglot.progress import say, track
from treeglot.tables import (
    PhraseTable,
    TableEntry,
    TableStatistics,
    build_parsed_phrase_table,
    build_phrase_table,
    export_moses,
    import_moses,
    read_corpus,
    write_phrase_counts,
)
from treeglot.tables.build import count_phrases, parsed_phrases
from treeglot.tables.rules import is_rule_table
from treeglot.tables.sets import compare_sets
from treeglot.trees.formats import read_pairs, read_sentences
from treeglot.trees.nodelinks import THRESHOLD
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.stored import add_links

app = typer.Typer(help="Extract rules, build rule tables and look inside them.", no_args_is_help=True)

SourceOption = Annotated[str, typer.Option("--source", help="Tokenised source text.")]


def _for(need: str) -> str:
    """The grammars that need something, for help."""
    names = ", ".join(name for name, grammar in registry.grammars().items() if need in grammar.needs)
    return f": for {names}" if names else ""


SourceTextOption = Annotated[
    str | None, typer.Option("--source", help="Tokenised source text: for grammars without trees.")
]
ConlluOption = Annotated[
    str | None,
    typer.Option("--source-conllu", help=f"Dependency trees of the source{_for('source_dependency')}."),
]
PennOption = Annotated[
    str | None,
    typer.Option("--source-penn", help=f"Constituency trees of the source{_for('source_constituency')}."),
]
JsonlOption = Annotated[
    str | None,
    typer.Option("--source-jsonl", help="Trees of the source in JSON lines, instead of the two files."),
]
ParsesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source-parses",
        metavar="FILE[:WEIGHT]",
        help="Further dependency trees of the source (CoNLL-U, the same words) beside the first, which weigh 1: for "
        f"{', '.join(with_forests())}; may be repeated.",
        show_default=False,
    ),
]
TargetOption = Annotated[str, typer.Option("--target", help="Tokenised target text.")]
TargetTextOption = Annotated[
    str | None, typer.Option("--target", help="Tokenised target text; not with trees of the target.")
]
TargetConlluOption = Annotated[
    str | None,
    typer.Option("--target-conllu", help=f"Dependency trees of the target{_for('target_dependency')}."),
]
TargetPennOption = Annotated[
    str | None,
    typer.Option("--target-penn", help=f"Constituency trees of the target{_for('target_constituency')}."),
]
TargetJsonlOption = Annotated[
    str | None,
    typer.Option("--target-jsonl", help="Trees of the target in JSON lines, instead of the two files."),
]
NodesOption = Annotated[
    str | None,
    typer.Option("--nodes", help=f"Links between nodes of the trees, such as 0-0 2-w1{_for('node_links')}."),
]
ThresholdOption = Annotated[
    float, typer.Option("--threshold", min=0, max=1, help="With --nodes: links with a lower score do not count.")
]
AlignOption = Annotated[str, typer.Option("--align", help="Word links, such as 0-0 1-2, a line for each pair.")]
AlignsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--align",
        metavar="FILE[:WEIGHT]",
        help="Word links, such as 0-0 1-2, a line for each pair; may be repeated: every alignment is learnt from, and counts its "
        "weight (1, or hundredths).",
        show_default=False,
    ),
]
PosteriorsOption = Annotated[
    str | None,
    typer.Option(
        "--posteriors", help="Instead of --align: chances of links (of `align --posteriors`); counts are expected ones."
    ),
]
ThresholdsOption = Annotated[
    str,
    typer.Option(
        "--thresholds", help="With --posteriors: the least chances that links are made by, such as 0.3+0.5+0.7."
    ),
]
LengthOption = Annotated[int, typer.Option("--max-length", help="The longest phrase on either side, in words.")]
MemoryOption = Annotated[str, typer.Option(help="Limit for counting and sorting, such as 4g.")]
TemporaryOption = Annotated[Path | None, typer.Option(help="The folder for what does not fit in memory.")]
TableArgument = Annotated[Path, typer.Argument(metavar="TABLE", help="A table made by build or import.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]

SCORES = ("p(f|e)", "lex(f|e)", "p(e|f)", "lex(e|f)")


EXTRACTED = tuple(registry.grammars())
"""What `rules extract` can extract."""
PHRASES = registry.phrase_grammar().name


@app.command()
@with_grammar_options
def extract(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help=f"One of: {', '.join(EXTRACTED)}.")],
    align: AlignOption,
    target: TargetTextOption = None,
    source: SourceTextOption = None,
    conllu: ConlluOption = None,
    penn: PennOption = None,
    jsonl: JsonlOption = None,
    parses: ParsesOption = None,
    target_conllu: TargetConlluOption = None,
    target_penn: TargetPennOption = None,
    target_jsonl: TargetJsonlOption = None,
    nodes: NodesOption = None,
    threshold: ThresholdOption = THRESHOLD,
    max_length: Annotated[
        int, typer.Option("--max-length", help="phrases: the longest phrase on either side, in words.")
    ] = MAX_LENGTH,
    memory: Annotated[str, typer.Option(help="phrases: limit for counting and sorting, such as 4g.")] = "4g",
    threads: ThreadsOption = 0,
    temporary: Annotated[Path | None, typer.Option(help="phrases: the folder for what does not fit in memory.")] = None,
    *,
    options: dict[str, registry.Value],
) -> None:
    """Print the rules of an aligned corpus: source ||| target ||| count.

    Phrases are counted over the whole corpus and sorted. The other grammars print the rules of each sentence pair, sorted, and
    an empty line after each pair; where unaligned words make m rules of one, each counts 1/m.
    """
    check_options(grammar, options)
    inputs = Inputs(
        *(target, align, source, conllu, penn, target_conllu, target_penn, nodes, threshold, jsonl, target_jsonl),
        parses=parses or (),
    )
    with atomic_write_binary("-") as out:
        if registry.grammar(grammar).has_rules:
            report(write_rules(grammar, inputs, out, **options))
            return
        check_max_length(max_length)
        if check_node_links(grammar, inputs, options):
            corpus = parsed_phrases(
                read_phrase_pairs(grammar, inputs).columns, max_length=max_length, **_phrase_options(options)
            )
        else:
            corpus = read_corpus(*plain_text(inputs), align)
        pairs = count_phrases(corpus, out, max_length=max_length, memory=memory, threads=threads, folder=temporary)
    say(f"{pairs:,} pairs")


@app.command()
@with_grammar_options
def build(
    out: Annotated[Path, typer.Option("--out", "-o", help="The table.")],
    align: AlignsOption = None,
    posteriors: PosteriorsOption = None,
    thresholds: ThresholdsOption = EXPECTED,
    target: TargetTextOption = None,
    source: SourceTextOption = None,
    grammar: Annotated[str, typer.Option("--grammar", help=f"One of: {', '.join(EXTRACTED)}.")] = PHRASES,
    conllu: ConlluOption = None,
    penn: PennOption = None,
    jsonl: JsonlOption = None,
    parses: ParsesOption = None,
    target_conllu: TargetConlluOption = None,
    target_penn: TargetPennOption = None,
    target_jsonl: TargetJsonlOption = None,
    nodes: NodesOption = None,
    threshold: ThresholdOption = THRESHOLD,
    min_count: Annotated[float, typer.Option(help="Not for phrases: rules below it are left out.")] = 0.0,
    discounting: Annotated[
        Literal["none", "good-turing", "kneser-ney"], typer.Option(help="Not for phrases: of the probabilities.")
    ] = "none",
    spans: Annotated[
        list[Path] | None, typer.Option("--spans", help="Further phrase pairs, of `rules spans`; may be repeated.")
    ] = None,
    consistent: Annotated[
        bool, typer.Option(help="Take the phrase pairs that the word links give, besides those of --spans.")
    ] = True,
    max_length: LengthOption = MAX_LENGTH,
    memory: MemoryOption = "4g",
    threads: ThreadsOption = 0,
    temporary: TemporaryOption = None,
    *,
    options: dict[str, registry.Value],
) -> None:
    """Extract, count and score the phrase pairs or rules of an aligned corpus and store them as a table.

    With several alignments every one is learnt from, and what is found under it counts its weight.
    """
    check_options(grammar, options)
    given = [Weighted.of(text) for text in align or ()]
    if bool(given) == bool(posteriors):
        raise ConfigError("word links once", remedy="give --align, once for each alignment, or --posteriors")
    single = str(given[0].links) if len(given) == 1 and given[0].weight == 1 else ""
    inputs = Inputs(
        *(target, single, source, conllu, penn, target_conllu, target_penn, nodes, threshold, jsonl, target_jsonl),
        parses=parses or (),
    )
    files = [str(posteriors)] if posteriors else [str(path) for path, _ in given]
    check_places([out], [*inputs.files, *files, *(spans or ())])
    with ExitStack() as stack:
        if posteriors:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=temporary))
            given = thresholded_files(posteriors, _thresholds(thresholds), Path(folder))
        if registry.grammar(grammar).has_rules:
            rules_tables.build_rules(
                grammar,
                inputs,
                out,
                links=() if single else given,
                min_count=min_count,
                discounting=discounting,
                memory=memory,
                threads=threads,
                folder=temporary,
                **options,
            )
            return
        common: dict[str, Any] = {
            "spans": spans or (),
            "consistent": consistent,
            "max_length": max_length,
            "memory": memory,
            "threads": threads,
            "folder": temporary,
        }
        if check_node_links(grammar, inputs, options):
            bitext = read_phrase_pairs(grammar, inputs).columns
            if not single:
                add_links(bitext, given)
            report = build_parsed_phrase_table(bitext, out, **_phrase_options(options), **common)
        else:
            report = build_phrase_table(*plain_text(inputs), given[0], out, also=given[1:], **common)
    say(
        f"{out}: {report.pairs:,} pairs of {report.sources:,} sources from {report.sentences:,} sentence pairs, "
        f"{report.table_bytes / max(report.pairs, 1):.1f} bytes a pair; {report.corpus_bytes >> 20:,} MB of memory for "
        f"the corpus, {report.spilled_runs} sorted runs on disk"
    )


def _thresholds(choice: str) -> list[tuple[float, float]]:
    try:
        split = parts(link_choice(choice if choice == EXPECTED or "+" in choice else float(choice)))
        return [(float(single), weight) for single, weight in split]
    except ValueError:
        raise ConfigError(
            f"--thresholds {choice}",
            remedy="write the least chances of links with + between them, such as 0.3+0.7 or 0.3:0.25+0.7:0.75",
        ) from None


def _phrase_options(options: dict[str, registry.Value]) -> dict[str, Any]:
    """The options of extraction, all of them."""
    known = registry.phrase_grammar().options
    return {option.name: options.get(option.name, option.default) for option in known if option.extraction}


@app.command()
def spans(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="Aligned trees: TreeAligner XML or JSON lines.")],
    out: Annotated[str, typer.Option("--out", "-o", help="A line of spans such as 0-2:1-3 for each pair.")] = "-",
    words: Annotated[bool, typer.Option(help="Take links of two words, too.")] = True,
) -> None:
    """Phrase pairs under the linked nodes of aligned trees, for `rules build --spans`."""
    check_places([out], [pairs])
    count = write_spans(track(read_pairs(pairs), f"reading {pairs}"), out, words=words)
    say(f"{count:,} spans")


@app.command("compare-sets")
def compare_sets_(
    source: SourceOption,
    target: TargetOption,
    align: AlignOption,
    sets: Annotated[list[str], typer.Option("--spans", metavar="NAME=FILE", help="A set of `rules spans`.")],
    max_length: LengthOption = MAX_LENGTH,
    memory: MemoryOption = "4g",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare sets of phrase pairs with those that the word links give (STR): numbers, lengths, what they share."""
    files: dict[str, list[Path]] = {"STR": []}
    for entry in sets:
        name, equals, file = entry.partition("=")
        if not equals or not name or name in files:
            raise TreeglotError(f"--spans {entry}", remedy="write NAME=FILE, each name once and not STR")
        files[name] = [Path(file)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        streams = {}
        for number, (name, paths) in enumerate(files.items()):
            counted = Path(folder) / str(number)
            with counted.open("wb") as out:
                write_phrase_counts(
                    source,
                    target,
                    align,
                    out,
                    spans=paths,
                    consistent=not paths,
                    max_length=max_length,
                    memory=memory,
                    threads=threads,
                    folder=folder,
                )
            streams[name] = iter(stack.enter_context(counted.open(encoding="utf-8", newline="\n")))
        result = compare_sets(streams)
    if as_json:
        record = dataclasses.asdict(result) | {"shared": {"+".join(pair): n for pair, n in result.shared.items()}}
        print(json.dumps(record, ensure_ascii=False))
        return
    header = ["set", "pairs", "occurrences", "source words", "target words", "only here", *(f"in {n}" for n in files)]
    rows = []
    for name, part in result.sets.items():
        both = [
            part.pairs if other == name else result.shared.get((name, other), result.shared.get((other, name), 0))
            for other in files
        ]
        lengths = f"{part.mean_source:.2f}", f"{part.mean_target:.2f}"
        counts = f"{part.pairs:,}", f"{part.occurrences:,}"
        rows.append([name, *counts, *lengths, f"{result.only[name]:,}", *(f"{n:,}" for n in both)])
    rows.append(["all", f"{result.union:,}", *[""] * (len(header) - 2)])
    _print_table(header, rows, right=range(1, len(header)))


@app.command()
def brackets(
    constituency: Annotated[Path, typer.Argument(help="Constituency trees.")],
    dependency: Annotated[Path, typer.Argument(help="Dependency trees of the same sentences.")],
    as_json: JsonOption = False,
) -> None:
    """How many constituents no dependency bracket has, and the other way round."""
    counted = BracketStatistics()
    for phrases, words in track(
        zip(read_sentences(constituency), read_sentences(dependency), strict=True), f"reading {constituency}"
    ):
        counted.add(ParsedSentence.of(words.dependency, phrases.constituency, id=phrases.id))
    if as_json:
        shares = {"constituency_only": counted.constituency_only, "dependency_only": counted.dependency_only}
        print(json.dumps(dataclasses.asdict(counted) | shares))
        return
    rows = [
        ["constituency", f"{counted.constituency:,}", f"{100 * counted.constituency_only:.1f} %"],
        ["dependency", f"{counted.dependency:,}", f"{100 * counted.dependency_only:.1f} %"],
    ]
    _print_table(["trees", "brackets", "only here"], rows, right=range(1, 3))


@app.command()
def show(
    table: TableArgument,
    phrase: Annotated[str, typer.Argument(metavar="PHRASE", help="A source phrase, tokenised as the table.")],
    limit: Annotated[int, typer.Option(help="How many pairs at most; 0 means all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the translations of a source phrase, or the rules of a source side, with their scores, the best first."""
    if is_rule_table(table):
        rules_tables.show_rules(table, phrase, limit, as_json, _print_table)
        return
    loaded = PhraseTable(table)
    entries = loaded.lookup(phrase, limit or None)
    if not entries and not as_json:
        raise TreeglotError(
            f"the table has no phrase {phrase!r}", path=table, remedy="look for parts of it with: treeglot rules search"
        )
    _print_entries(entries, loaded, as_json)


@app.command()
def search(
    table: TableArgument,
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="Words; * ? [...] as in file names.")],
    target: Annotated[bool, typer.Option("--target", help="Search in target phrases.")] = False,
    regex: Annotated[bool, typer.Option("--regex", help="PATTERN is a regular expression on the phrase.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="The phrase has no other words.")] = False,
    limit: Annotated[int, typer.Option(help="How many pairs at most; 0 means all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Find pairs or rules whose source (or target) side has the words of PATTERN one after another."""
    if is_rule_table(table):
        rules_tables.search_rules(
            table, pattern, "target" if target else "source", regex, whole, limit, as_json, _print_table
        )
        return
    loaded = PhraseTable(table)
    entries = loaded.search(
        pattern, side="target" if target else "source", regex=regex, whole=whole, limit=limit + 1 if limit else None
    )
    more = bool(limit) and len(entries) > limit
    _print_entries(entries[:limit] if more else entries, loaded, as_json)
    if more:
        say(f"more than {limit} pairs; --limit 0 shows all")
    elif not entries:
        say("no pair found")


@app.command()
def stats(
    table: TableArgument,
    verify: Annotated[bool, typer.Option("--verify", help="Check the whole file's checksum first.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the size of a table, the lengths of its phrases or rules and how ambiguous they are."""
    if is_rule_table(table):
        rules_tables.describe_rules(table, verify, as_json, _print_table)
        return
    result = PhraseTable(table, verify=verify).statistics()
    if as_json:
        print(json.dumps({**result._asdict(), "bytes_per_entry": round(result.bytes_per_entry, 3)}, ensure_ascii=False))
        return
    _print_statistics(result)


@app.command()
def export(
    table: TableArgument,
    out: Annotated[Path | None, typer.Argument(metavar="[OUT]", help="The phrase table as text.")] = None,
    moses: Annotated[
        Path | None, typer.Option("--moses", metavar="DIR", help="Write all of Moses' tables to this folder.")
    ] = None,
    reordering: Annotated[Path | None, typer.Option(help="With OUT: the reordering table as text.")] = None,
) -> None:
    """Write a table as text in Moses' format; names that end in .gz or .zst are packed."""
    check_places([None if out is not None and out.is_dir() else out, reordering], [table])
    if is_rule_table(table):
        rules_tables.export_rules(table, out, moses, reordering)
        return
    if (out is None) == (moses is None):
        raise TreeglotError("nowhere or two places to write", remedy="give either OUT or --moses DIR")
    loaded = PhraseTable(table)
    if moses is not None:
        moses.mkdir(parents=True, exist_ok=True)
    place = moses if moses is not None else out
    assert place is not None
    if moses is None and place.is_dir():
        raise TreeglotError("is a folder", path=place, remedy="name a file in it, or give the folder with --moses")
    for path in export_moses(loaded, place, reordering=reordering):
        print(path)


@app.command("import")
def import_(
    phrase_table: Annotated[
        str, typer.Argument(metavar="PHRASE_TABLE", help="Moses' phrase table; - is standard input.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The table.")],
    reordering: Annotated[str | None, typer.Option(help="Moses' reordering table, msd-bidirectional-fe.")] = None,
    memory: MemoryOption = "1g",
    temporary: TemporaryOption = None,
) -> None:
    """Make a table with the scores of Moses' text tables."""
    check_places([out], [phrase_table, reordering])
    report = import_moses(phrase_table, out, reordering=reordering, memory=memory, folder=temporary)
    if report.without_reordering:
        say(f"treeglot: {report.without_reordering:,} pairs have no reordering probabilities")
    if report.unused_reordering:
        say(f"treeglot: {report.unused_reordering:,} reordering lines have no pair")
    say(f"{out}: {report.pairs:,} pairs of {report.sources:,} sources")


def _print_entries(entries: list[TableEntry], table: PhraseTable, as_json: bool) -> None:
    if as_json:
        for entry in entries:
            print(json.dumps(dataclasses.asdict(entry), ensure_ascii=False))
        return
    counts = table.core.has_counts
    header = ["source", "target", *SCORES, "links", *(["count"] if counts else [])]
    rows = [
        [
            entry.source,
            entry.target,
            *(f"{score:.4g}" for score in entry.scores),
            " ".join(f"{s}-{t}" for s, t in entry.links),
            *([f"{entry.count} of {entry.source_count}"] if counts else []),
        ]
        for entry in entries
    ]
    _print_table(header, rows, right=range(2, 6))


def _print_statistics(result: TableStatistics) -> None:
    rows: list[list[Any]] = [
        ["pairs", f"{result.entries:,}"],
        ["source phrases", f"{result.sources:,}"],
        ["source words", f"{result.source_words:,}"],
        ["target words", f"{result.target_words:,}"],
        ["word pairs", f"{result.word_pairs:,}"],
        ["bytes", f"{result.bytes:,}"],
        ["bytes a pair", f"{result.bytes_per_entry:.2f}"],
        ["scores", "imported" if result.imported else "from counts"],
        ["pairs seen once", f"{result.singletons:,}"],
        ["translations of a source", f"{result.entries / max(result.sources, 1):.2f}"],
        ["most translations", f"{result.most_translations:,} of {result.most_ambiguous!r}"],
    ]
    _print_table(["table", ""], rows, right=[1])
    longest = max(len(result.source_lengths), len(result.target_lengths))

    def at(lengths: tuple[int, ...], n: int) -> str:
        return f"{lengths[n]:,}" if n < len(lengths) else "0"

    lengths = [[str(n), at(result.source_lengths, n), at(result.target_lengths, n)] for n in range(1, longest)]
    print()
    _print_table(["words", "pairs by source", "pairs by target"], lengths, right=range(3))
    print()
    ambiguity = [[str(a) if a == b else f"{a}-{b}", f"{count:,}"] for a, b, count in result.ambiguity]
    _print_table(["translations", "sources"], ambiguity, right=range(2))


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _print_table(header: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int]) -> None:
    """A drawn table on a terminal, columns between tabs elsewhere."""
    if not _is_terminal():
        for row in [header, *rows]:
            print("\t".join(map(str, row)))
        return
    table = Table(header_style="bold")
    for number, title in enumerate(header):
        table.add_column(title, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell).replace("[", "\\[") for cell in row))
    Console().print(table)
