"""``treeglot coverage``: what the rules of a grammar can express (see `treeglot.pipeline.coverage`)."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.options import project_folder
from treeglot.cli.rules_extract import Inputs, check_inputs, check_options, check_trees
from treeglot.errors import ConfigError
from treeglot.files import atomic_write
from treeglot.grammars import registry
from treeglot.pipeline.coverage import REASONS, Coverage, coverage
from treeglot.pipeline.coverage_page import name_of, page, plots
from treeglot.trees.corpus import ParsedBitext, read_parsed_bitext

FileOption = Annotated[str | None, typer.Option(metavar="FILE", show_default=False)]


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
    source_conllu: FileOption = None,
    source_penn: FileOption = None,
    source: FileOption = None,
    target: FileOption = None,
    target_penn: FileOption = None,
    align: FileOption = None,
    first: Annotated[int, typer.Option("--first", help="Only so many pairs; 0: all.")] = 0,
    html: Annotated[Path | None, typer.Option("--html", help="A folder for a page and its plots (SVG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object for each setting.")] = False,
) -> None:
    """Say which share of sentence pairs the rules that are extracted from them can rebuild exactly.

    The pairs are a project's training data or files. Without --vary a grammar's own experiments are run, if it has any.
    """
    names = list(registry.rule_grammars()) if grammar and "all" in grammar else list(grammar or _with_experiments())
    inputs = _inputs(project, source, source_conllu, source_penn, target, target_penn, align)
    points: list[Coverage] = []
    varied: list[str] = []
    for name in names:
        bitext = _pairs(name, inputs, first)
        known = registry.grammar(name)
        fixed = dict(_option(known, text) for text in option or [] if _has(known, text, len(names)))
        grids = dict(_values(known, text) for text in vary or [] if _has(known, text, len(names)))
        if vary is None:
            grids = {key: list(values) for key, values in getattr(known.door, "COVERAGE", {}).items()}
        varied.extend(key for key in grids if key not in varied)
        for options in _settings(known, fixed, grids, extensions):
            check_options(name, options)
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
        print(f"{html / 'index.html'} has plots and tables", file=sys.stderr)


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


def _inputs(
    project: Path | None,
    source: str | None,
    conllu: str | None,
    penn: str | None,
    target: str | None,
    target_penn: str | None,
    align: str | None,
) -> Inputs:
    if project is None:
        if not align:
            raise ConfigError("no data", remedy="name a project, or give --source-conllu, --target and --align")
        return Inputs(target, align, source, conllu, penn, None, target_penn, None)
    if align or source or conllu or target:
        raise ConfigError("a project and files", remedy="give either")
    from treeglot.pipeline.project import Project

    opened = Project.open(project_folder(project, Path()))
    trees, brackets = opened.trees("train")
    return Inputs(
        str(opened.corpus("train")[1]),
        str(opened.links),
        None,
        str(trees) if trees.exists() else None,
        str(brackets) if brackets.exists() else None,
    )


def _pairs(name: str, inputs: Inputs, first: int) -> ParsedBitext:
    known = registry.grammar(name)
    if known.needs and not known.target_trees:  # others' trees are of no use, but do no harm
        inputs = inputs._replace(target_penn=None, source=None)
    check_inputs(name, inputs)
    bitext = read_parsed_bitext(*inputs.sides, inputs.align)
    check_trees(name, bitext, 0, inputs)
    return _first(bitext, first) if first else bitext


def _first(bitext: ParsedBitext, count: int) -> ParsedBitext:
    """The first pairs, evenly from all lengths as they come."""
    import numpy as np

    from treeglot._core import parsed

    part, columns = parsed.ParsedBitext(), bitext.columns
    links, starts = [], [0]
    for n in range(min(count, columns.sentences)):
        part.take(columns.source, n, columns.source.words(n), columns.target, n, columns.target.words(n))
        links.extend(columns.links(n))
        starts.append(len(links))
    part.add_links(np.array(links, dtype=np.int32).reshape(-1, 2), np.array(starts, dtype=np.int64))
    return ParsedBitext(part)


def _line(point: Coverage) -> str:
    lengths = "  ".join(f"{name} {share.percent:.1f}" for name, share in point.by_length.items() if share.pairs)
    reasons = ", ".join(f"{reason} {point.reasons[reason]:,}" for reason in REASONS if point.reasons[reason])
    one = f"; of one unit {point.one_unit.percent:.1f}" if point.one_unit.pairs else ""
    return "\n  ".join(
        itertools.chain(
            [f"{name_of(point)}: {point.total.percent:.1f} % of {point.total.pairs:,} pairs{one}", lengths],
            [f"not recovered: {reasons}"] if reasons else [],
        )
    )
