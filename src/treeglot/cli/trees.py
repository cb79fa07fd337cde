"""``treeglot trees``: convert, show and count trees and alignments in files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from treeglot.cli.subtree_files import (
    Anywhere,
    Lenient,
    SourceBank,
    TargetBank,
    TreeAlignerFiles,
    check_not_empty,
    is_node_file,
    report_problems,
    tree_sides,
)
from treeglot.cli.subtree_links import add_commands as add_links
from treeglot.cli.subtree_scores import add_commands as add_scores
from treeglot.cli.subtree_scores import compared
from treeglot.cli.subtree_training import add_commands as add_training
from treeglot.cli.subtrees import add_commands
from treeglot.cli.treebank import add_commands as add_treebank
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write, check_places
from treeglot.pipeline.project import Project
from treeglot.pipeline.subtrees import linked_pairs
from treeglot.progress import is_quiet, say, track
from treeglot.trees.convert import Options, convert
from treeglot.trees.display import Comparison, Show, to_html, to_svg, to_text, write_html
from treeglot.trees.formats import FORMATS, check_format, guess_format
from treeglot.trees.nodelinks import with_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.statistics import pair_statistics, sentence_statistics, statistics_rows

app = typer.Typer(help="Convert, show and count trees and alignments in files.", no_args_is_help=True)
add_commands(app)
add_scores(app)
add_training(app)
add_links(app)
add_treebank(app)

FORMAT_NAMES = ", ".join(FORMATS)
FromOption = Annotated[str | None, typer.Option("--from", "-f", help=f"Format of the input: {FORMAT_NAMES}.")]


class Dependencies(Enum):
    heads = "heads"
    sd = "sd"


@app.command("convert")
def convert_(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="The file to read (plain, .gz, .zst; - is standard input).")
    ],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write (- is standard output).")],
    from_format: FromOption = None,
    to_format: Annotated[str | None, typer.Option("--to", help="Format of the output.")] = None,
    side: Annotated[str | None, typer.Option(help="Of aligned pairs, write only this side: source or target.")] = None,
    other: Annotated[Path | None, typer.Option("--with", help="The other kind of tree of the same sentences.")] = None,
    source_file: Annotated[
        Path | None,
        typer.Option("--source", help="The source text or trees that links, or TreeAligner XML, belong to."),
    ] = None,
    target_file: Annotated[Path | None, typer.Option("--target", help="The target text or trees, likewise.")] = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    drop_empty: Annotated[bool, typer.Option("--drop-empty", help="Leave out traces (Penn brackets).")] = False,
    pretty: Annotated[bool, typer.Option("--pretty", help="Penn brackets over several lines.")] = False,
    heads: Annotated[str, typer.Option(help="Head table: auto, penn, ctb, tiger, french, ...")] = "auto",
    dependencies: Annotated[
        Dependencies,
        typer.Option(help="Of constituents: by heads, or Stanford dependencies (Chinese, English; CoreNLP)."),
    ] = Dependencies.heads,
) -> None:
    """Convert a file of trees or alignments to another format (by ending, or by --from and --to).

    Trees that the output format needs and the input lacks are made, and a message says so.
    """
    if side not in (None, "source", "target"):
        raise TreeglotError(f"--side {side}", remedy="sides are source and target")
    options = Options(side, other, source_file, target_file, lenient, drop_empty, pretty, heads)  # type: ignore[arg-type]
    if dependencies is Dependencies.sd:
        from treeglot.parsers.stanford import with_stanford_dependencies

        options.dependencies = with_stanford_dependencies
    options.anywhere = anywhere
    report = convert(
        source,
        target,
        from_format=from_format,
        to_format=to_format,
        options=options,
        track=lambda items: track(items, f"converting {source}"),
    )
    report_problems(source, report.problems)
    for what, count in report.conversions.items():
        say(f"treeglot: {count:,} {what}")
    if not is_quiet():
        say(f"treeglot: {report.items:,} written to {target}")


@app.command()
def show(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A file of trees or aligned trees, node links (with --source and --target), or a project's folder.",
        ),
    ],
    sentence: Annotated[
        str | None,
        typer.Option("--sentence", "-n", help="Which one: its number from 1, or its id. Default: the first."),
    ] = None,
    svg: Annotated[bool, typer.Option("--svg", help="Draw as SVG.")] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Make an HTML page (of all sentences unless --sentence).")
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="Draw with characters (the default).")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Write here instead of to standard output.")] = "-",
    what: Annotated[str, typer.Option("--show", help="auto, both, dependency, constituency or words.")] = "auto",
    from_format: FromOption = None,
    system: Annotated[
        Path | None,
        typer.Option(
            "--system", help="Links of the same pairs (aligned file or .nodes) to compare with those of FILE."
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="The source trees that node links, or TreeAligner XML, belong to.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="The target trees, likewise.")] = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    threshold: Annotated[
        float | None, typer.Option(help="Leave out node links with a lower confidence (rules are learnt from 0.5 on).")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many.", min=1)] = None,
) -> None:
    """Show a tree, both trees of a sentence, an aligned pair, or what two alignments of a pair agree on.

    Of a project it shows the training text's trees with the links between their nodes (the stage of [subtrees]).
    """
    if svg + html + text > 1:
        raise TreeglotError("more than one of --svg, --html and --text", remedy="choose one")
    check_places([out], [None if path.is_dir() else path, system, source, target])
    items: Iterator[Found]
    if path.is_dir() or is_node_file(path):
        items = _linked(path, source, target, system)
    else:
        check_not_empty(path)
        format = check_format(from_format) if from_format else guess_format(path, reading=True)
        files = TreeAlignerFiles(source, target, lenient, anywhere)
        kind, items_of_file = files.open(path, format)
        if kind == "links":
            raise TreeglotError(
                "word links without texts cannot be drawn", path=path, remedy="see `treeglot trees stats`"
            )
        items = items_of_file if system is None else compared(path, format, system, files)
    items = islice(items, limit)
    if threshold is not None:
        items = (_confident(item, threshold) for item in items)
    shown: Show = what  # type: ignore[assignment]  # checked by the drawing functions
    if html and sentence is None:
        write_html(track(items, f"drawing {path}"), out, title=_title(path), show=shown)
        return
    item = _find(items, sentence or "1", path)
    if html:
        result = to_html(item, title=f"{_title(path)}: {item.id or sentence}", show=shown)
    elif svg:
        result = to_svg(item, show=shown)
    else:
        color = out == "-" and sys.stdout.isatty()
        width = Console().width if color else None
        result = to_text(item, show=shown, color=color, width=width)
    with atomic_write(out) as file:
        file.write(result if result.endswith("\n") else result + "\n")


Found = ParsedSentence | AlignedPair | Comparison


def _title(path: Path) -> str:
    return f"{path.resolve().name}: linked trees" if path.is_dir() else path.name


def _linked(path: Path, source: Path | None, target: Path | None, system: Path | None) -> Iterator[AlignedPair]:
    """Pairs with the node links of a project, or of a file and the trees that it belongs to."""
    if system is not None:
        raise TreeglotError(
            "links are compared with those of a file of aligned pairs",
            path=path,
            remedy="give TreeAligner XML or JSON lines of pairs, and the other links with --system",
        )
    if path.is_dir():
        if source is not None or target is not None:
            raise TreeglotError("a project has its own trees", path=path, remedy="leave out --source and --target")
        return linked_pairs(Project(path))
    if source is None or target is None:
        raise TreeglotError("node links need their trees", path=path, remedy="give --source and --target")
    return with_links((AlignedPair(*sides) for sides in tree_sides(source, target)), path)


def _confident(item: Found, threshold: float) -> Found:
    """A pair without the node links whose score is lower."""
    if isinstance(item, Comparison):
        return Comparison(item.gold, _confident_pair(item.system, threshold))
    return _confident_pair(item, threshold) if isinstance(item, AlignedPair) else item


def _confident_pair(pair: AlignedPair, threshold: float) -> AlignedPair:
    kept = [link for link in pair.node_links if link.score is None or link.score >= threshold]
    return AlignedPair(pair.source, pair.target, pair.word_links, kept, pair.id)


def _find(items: Iterator[Found], wanted: str, path: Path) -> Found:
    """By id first in reading order; a number counts from 1."""
    number = int(wanted) if wanted.isdecimal() else 0
    by_number: Found | None = None
    count = 0
    for count, item in enumerate(items, start=1):
        if item.id == wanted:
            return item
        if count == number:
            by_number = item
            if not item.id or not item.id.isdecimal():
                return item
    if by_number is not None:
        return by_number
    if not count:
        raise TreeglotError("no sentences", path=path, remedy="give a file with at least one tree")
    raise TreeglotError(
        f"no sentence {wanted}", path=path, remedy=f"numbers go from 1 to {count:,}; ids are those of the file"
    )


@app.command()
def stats(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A file of trees or alignments.")],
    from_format: FromOption = None,
    source: SourceBank = None,
    target: TargetBank = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    limit: Annotated[int | None, typer.Option(help="Count only the first so many.", min=1)] = None,
) -> None:
    """Count sentences, words, phrases, labels, links, non-projective and discontinuous trees."""
    format = check_format(from_format) if from_format else guess_format(path, reading=True)
    kind, items_of_file = TreeAlignerFiles(source, target, lenient, anywhere).open(path, format)
    items = track(islice(items_of_file, limit), f"counting {path}")
    result = sentence_statistics(items) if kind == "sentences" else pair_statistics(items)
    if as_json:
        print(json.dumps({"file": str(path), "format": format, "kind": kind, **result}, ensure_ascii=False, indent=2))
        return
    table = Table("", str(path), box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for name, value in statistics_rows(result):
        table.add_row(name, value)
    Console(soft_wrap=True, width=None if sys.stdout.isatty() else 1000).print(table)
