"""``treeglot coverage``: what the rules of a grammar can express (see `treeglot.pipeline.coverage`)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.rules import (
    ConlluOption,
    JsonlOption,
    NodesOption,
    ParsesOption,
    PennOption,
    SourceTextOption,
    TargetJsonlOption,
    TargetPennOption,
    TargetTextOption,
)
from treeglot.cli.rules_extract import Inputs, check_inputs, check_options, check_trees
from treeglot.errors import ConfigError
from treeglot.files import atomic_write
from treeglot.grammars import registry
from treeglot.pipeline.coverage import REASONS, Coverage, coverage
from treeglot.pipeline.coverage_page import name_of, page, plots
from treeglot.pipeline.project import Project
from treeglot.progress import say
from treeglot.trees.corpus import ParsedBitext, SideFiles, read_parsed_bitext
from treeglot.trees.nodelinks import THRESHOLD
from treeglot.trees.stored import open_corpus


def cover(
    project: Annotated[
        Path | None, typer.Argument(metavar="[PROJECT]", help="A project: its training data.", show_default=False)
    ] = None,
    grammar: Annotated[
        list[str] | None, typer.Option("--grammar", "-g", help="A grammar, or all; several times.", show_default=False)
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", help="Values of an option, one after another: k=1-20 or k=1,5,10.", show_default=False),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="An option of the grammar: NAME=VALUE.", show_default=False)
    ] = None,
    extensions: Annotated[bool, typer.Option("--extensions", help="Each extension of the grammar apart, too.")] = False,
    phrases: Annotated[bool, typer.Option("--phrases", help="Also with the bilingual phrases of each pair.")] = False,
    source_conllu: ConlluOption = None,
    source_penn: PennOption = None,
    source_jsonl: JsonlOption = None,
    source_parses: ParsesOption = None,
    source: SourceTextOption = None,
    target: TargetTextOption = None,
    target_penn: TargetPennOption = None,
    target_jsonl: TargetJsonlOption = None,
    align: Annotated[
        str | None, typer.Option("--align", help="Word links, such as 0-0 1-2, a line for each pair.")
    ] = None,
    nodes: NodesOption = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="With --nodes: links with a lower score do not count.")
    ] = THRESHOLD,
    first: Annotated[int, typer.Option("--first", min=0, help="Only so many pairs; 0: all.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="A folder for a page and its plots (SVG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object for each setting.")] = False,
) -> None:
    """Say which share of sentence pairs the rules that are extracted from them can rebuild exactly.

    The pairs are a project's training data or files. Without --vary a grammar's own experiments are run, if it has any.
    """
    names = list(registry.rule_grammars()) if grammar and "all" in grammar else list(grammar or _with_experiments())
    inputs = Inputs(
        target,
        align or "",
        source,
        source_conllu,
        source_penn,
        target_penn=target_penn,
        nodes=nodes,
        threshold=threshold,
        jsonl=source_jsonl,
        target_jsonl=target_jsonl,
        parses=source_parses or (),
    )
    if (project is None) == (align is None):
        raise ConfigError(
            "a project and files" if project else "no data",
            remedy="name a project, or give --source-conllu, --target and --align",
        )
    opened = Project(project) if project else None
    points: list[Coverage] = []
    varied: list[str] = []
    for name in names:
        bitext = _project_pairs(name, opened) if opened else _file_pairs(name, inputs)
        if first:
            bitext = ParsedBitext(bitext.columns.select(range(min(first, bitext.columns.sentences))))
        known = registry.grammar(name)
        has_nodes = opened.node_links.exists() if opened else bool(nodes)
        fixed = dict(_option(known, text) for text in option or [] if _has(known, text, len(names)))
        grids = dict(_values(known, text) for text in vary or [] if _has(known, text, len(names)))
        if vary is None:
            grids = {key: list(values) for key, values in getattr(known.door, "COVERAGE", {}).items()}
        varied.extend(key for key in grids if key not in varied)
        for options in _settings(known, fixed, grids, extensions):
            check_options(name, options)
            if options.get(key := known.node_link_option, "") and not has_nodes:
                remedy = "train a system that uses them first" if opened else "give --nodes"
                raise ConfigError(
                    f"there are no links of nodes, which {key} of {name} is for", remedy=f"{remedy}, or leave {key} out"
                )
            for with_phrases in (False, True) if phrases else (False,):
                points.append(coverage(bitext, name, phrases=with_phrases, **options))
                print(json.dumps(points[-1].as_dict()) if as_json else _line(points[-1]), flush=True)
    if html is not None:
        html.mkdir(parents=True, exist_ok=True)
        for key, picture in plots(points, varied).items():
            with atomic_write(html / f"coverage-{key}.svg") as file:
                file.write(picture)
        with atomic_write(html / "index.html") as file:
            file.write(page(points, varied))
        say(f"{html / 'index.html'} has plots and tables")


def _with_experiments() -> list[str]:
    return [name for name in registry.rule_grammars() if hasattr(registry.grammar(name).door, "COVERAGE")]


def _settings(
    known: registry.Grammar,
    fixed: dict[str, registry.Value],
    grids: dict[str, list[registry.Value]],
    extensions: bool,
) -> Iterator[dict[str, registry.Value]]:
    """One option is varied at a time; the extensions come apart, with defaults."""
    yield fixed
    for name, values in grids.items():
        yield from ({**fixed, name: value} for value in values)
    if extensions:
        for extension in getattr(known.door, "EXTENSIONS", ()):
            yield {**fixed, **extension}


def _has(known: registry.Grammar, text: str, grammars: int) -> bool:
    """Of several grammars some may not have an option."""
    name = text.partition("=")[0]
    return grammars == 1 or name in {option.name for option in known.options}


def _option(known: registry.Grammar, text: str) -> tuple[str, registry.Value]:
    name, equals, value = text.partition("=")
    default = known.option(name).default
    wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "a text")
    try:
        if not equals:
            raise ValueError
        if isinstance(default, bool):
            return name, {"true": True, "false": False}[value.lower()]
        return name, type(default)(value)
    except (ValueError, KeyError):
        raise ConfigError(f"{text!r} is not an option", remedy=f"write {name}=VALUE with {wanted}") from None


def _values(known: registry.Grammar, text: str) -> tuple[str, list[registry.Value]]:
    name, _, given = text.partition("=")
    values: list[registry.Value] = []
    for part in given.split(","):
        low, dash, high = part.partition("-")
        if dash and low.isdigit() and high.isdigit():
            values.extend(range(int(low), int(high) + 1))
        else:
            values.append(_option(known, f"{name}={part}")[1])
    return name, values


def _project_pairs(name: str, project: Project) -> ParsedBitext:
    """The training pairs of a project, with the trees that it has."""
    source, target = project.corpus("train")
    corpus = project.parsed_corpus("train")
    with_trees = bool(registry.grammar(name).needs)
    for path in (project.links, *([corpus] if with_trees else [source, target])):
        if not path.exists():
            raise ConfigError(
                f"there is no {path}", remedy="run treeglot train first, with a system that needs such trees"
            )
    if not with_trees:
        return read_parsed_bitext(SideFiles(text=source), SideFiles(text=target), project.links)
    nodes = project.node_links if "node_links" in registry.grammar(name).needs and project.node_links.exists() else None
    bitext = open_corpus(corpus, [project.links], nodes=nodes, node_threshold=project.config.subtrees.least)
    check_trees(name, bitext, 0, Inputs(None, str(project.links), conllu=str(corpus), target_conllu=str(corpus)))
    return bitext


def _file_pairs(name: str, inputs: Inputs) -> ParsedBitext:
    known = registry.grammar(name)
    # Several grammars share the files: each takes what it needs, and the words of trees where there is no text.
    if known.source_trees or inputs.sides[0].has_trees:
        inputs = inputs._replace(source=None)
    if known.target_trees:
        inputs = inputs._replace(target=None)
    elif inputs.target:
        inputs = inputs._replace(target_penn=None, target_jsonl=None)
    if not known.target_trees:
        inputs = inputs._replace(nodes=None)
    if not known.has_forest:  # further trees of the source: likewise
        inputs = inputs._replace(parses=())
    check_inputs(name, inputs)
    bitext = read_parsed_bitext(*inputs.sides, inputs.align, inputs.nodes, node_threshold=inputs.threshold)
    check_trees(name, bitext, 0, inputs)
    return bitext


def _line(point: Coverage) -> str:
    lengths = "  ".join(f"{name} {share.percent:.1f}" for name, share in point.by_length.items() if share.pairs)
    reasons = ", ".join(f"{reason} {point.reasons[reason]:,}" for reason in REASONS if point.reasons[reason])
    one = f"; of one unit {point.one_unit.percent:.1f}" if point.one_unit.pairs else ""
    low, high = point.total.interval
    return "\n  ".join(
        itertools.chain(
            [
                f"{name_of(point)}: {point.total.percent:.1f} % of {point.total.pairs:,} pairs ({low:.1f} to {high:.1f}){one}",
                lengths,
            ],
            [f"not recovered: {reasons}"] if reasons else [],
        )
    )
