"""``treeglot lm``: estimate, compile and query n-gram language models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeglot import lm
from treeglot.files import atomic_write_binary, check_places, open_binary
from treeglot.progress import say
from treeglot.tables import parse_memory

app = typer.Typer(help="Estimate, compile and query n-gram language models.", no_args_is_help=True)


@app.command()
def estimate(
    text: Annotated[str, typer.Option("--text", help="The text; - is standard input.")] = "-",
    out: Annotated[str, typer.Option("--out", "-o", "--arpa", help="The ARPA file; - is standard output.")] = "-",
    order: Annotated[int, typer.Option("--order", help="The longest n-gram.")] = 4,
    memory: Annotated[str, typer.Option(help="Limit for counting and sorting, such as 4g.")] = "1g",
    temporary: Annotated[Path | None, typer.Option(help="The folder for what does not fit in memory.")] = None,
) -> None:
    """Estimate an interpolated modified Kneser-Ney model from lines of tokenised text and write it as ARPA."""
    check_places([out], [text])
    with open_binary(text) as source, atomic_write_binary(out) as arpa:
        result = lm.estimate(
            source,
            arpa,
            order=order,
            memory=parse_memory(memory),
            folder=str(temporary) if temporary else None,
            path="standard input" if text == "-" else text,
        )
    if result.warning:
        say(f"treeglot: {result.warning}")
    counts = " ".join(f"{count:,}" for count in result.ngrams)
    say(f"{result.sentences:,} sentences, {result.tokens:,} words; n-grams: {counts}")


@app.command("compile")
def compile_(
    arpa: Annotated[str, typer.Argument(help="An ARPA file; - is standard input.")],
    out: Annotated[Path, typer.Argument(help="The compiled model.")],
) -> None:
    """Compile an ARPA file to a memory-mapped model."""
    check_places([out], [arpa])
    model = lm.compile_model(arpa, out)
    say(f"{out}: order {model.order}, {sum(model.ngrams):,} n-grams")


@app.command()
def query(
    model: Annotated[Path, typer.Argument(help="A compiled model or an ARPA file.")],
    text: Annotated[str, typer.Option("--text", help="The text; - is standard input.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, with counts.")] = False,
) -> None:
    """Print the log10 total of each line of text, its end included."""
    loaded = lm.open_model(model)
    total, tokens, unknown, lines = 0.0, 0, 0, 0
    with open_binary(text) as source:
        for score in loaded.score_lines(source):
            if as_json:
                print(json.dumps({"log10": round(score.log10, 6), "tokens": score.tokens, "unknown": score.unknown}))
            else:
                print(f"{score.log10:.6f}")
            total, tokens, unknown, lines = (
                total + score.log10,
                tokens + score.tokens,
                unknown + score.unknown,
                lines + 1,
            )
    if lines:
        perplexity = 10 ** (-total / (tokens + lines))
        say(f"{lines:,} lines, {tokens:,} words, {unknown:,} unknown, perplexity {perplexity:.2f}")
