"""``treeglot trees bank``: from two raw texts to a parallel treebank in one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.parsers.registry import open_parser
from treeglot.progress import is_quiet, say, tell


def add_commands(app: typer.Typer) -> None:
    """Hook the command into ``treeglot trees``."""
    app.command()(bank)


def bank(
    source: Annotated[Path, typer.Argument(help="The source text, a sentence a line.")],
    target: Annotated[Path, typer.Argument(help="Its translation, a sentence a line.")],
    langs: Annotated[tuple[str, str], typer.Option(help="The languages of the two texts, such as de en.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the treebank.")],
    parsers: Annotated[
        tuple[str, str], typer.Option(help="The parsers of the two texts; auto takes the best that is there.")
    ] = ("auto", "auto"),
    source_model: Annotated[str | None, typer.Option(help="The source parser's model: a name or a file.")] = None,
    target_model: Annotated[str | None, typer.Option(help="The target parser's model.")] = None,
    tokenized: Annotated[bool, typer.Option(help="Words are separated by spaces already; keep them.")] = False,
    sentences: Annotated[
        str,
        typer.Option(
            help="Which sentences are pairs: lines (line n translates line n), auto (by length and words), or a file of "
            "lines 'source<tab>target' with line numbers."
        ),
    ] = "lines",
    model: Annotated[
        Path | None, typer.Option(help="A model of `trees train-aligner`; without one nodes are linked by words alone.")
    ] = None,
    threads: Annotated[int, typer.Option("--threads", "-j", help="0: all cores.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures of the stages as JSON.")] = False,
) -> None:
    """Parse two texts, align their sentences, words and nodes, and write TreeAligner XML, CoNLL-U and pages.

    Given again, the command goes on where it was stopped, and makes anew what a changed text or option concerns.
    """
    from treeglot.cli.parse import worker_count
    from treeglot.pipeline.treebank import Bank, Settings

    settings = Settings(
        langs, parsers, (source_model, target_model), tokenized, sentences, model, threads, worker_count(threads)
    )
    work = Bank(out, (source, target), settings)
    work.check()
    for parser, language, name in zip(parsers, langs, settings.parser_models, strict=True):
        options = {} if name is None else {"model": name}
        open_parser(parser, language, **options).close()  # what is not installed is said before anything begins
    work.build(tell)
    if as_json:
        print(json.dumps(work.figures, ensure_ascii=False, indent=2))
    elif not is_quiet():
        for stage, figures in work.figures.items():
            say(f"{stage:14} {_describe(figures)}")
        say(f"look at {out / 'pages' / 'index.html'}; the links are in {out / 'bank.sta.xml'}")


def _describe(figures: dict[str, Any]) -> str:
    left_out = {"seconds", "startup_seconds", "peak_memory", "sentences_per_second", "workers", "resumed", "parser"}
    counts = [
        f"{value:,} {name.replace('_', ' ')}"
        for name, value in figures.items()
        if name not in left_out and isinstance(value, int) and value
    ]
    return f"{figures['seconds']:8.1f} s  {', '.join(counts)}"
