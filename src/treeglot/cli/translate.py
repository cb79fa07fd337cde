"""``treeglot translate``: from standard input to standard output, with n-best lists and explanations."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from treeglot import lm
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write, read_lines
from treeglot.pipeline.project import Project
from treeglot.progress import track
from treeglot.search.phrases import PhraseDecoder, Translation, open_phrases, read_moses_phrases
from treeglot.search.weights import read_moses_weights, read_weights

BATCH = 256
"""Sentences that are translated at a time: enough for all cores, few enough to see results early."""


def translate(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="The file to translate; - is standard input.")] = "-",
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write; - is standard output.")] = "-",
    project: Annotated[Path, typer.Option("--project", "-p", help="The project's folder.")] = Path(),
    system: Annotated[str, typer.Option(help="Which system of the project.")] = "phrases",
    nbest: Annotated[
        int, typer.Option(help="Print so many translations of each line: number ||| words ||| features ||| score.")
    ] = 0,
    distinct: Annotated[bool, typer.Option("--distinct", help="No repeated translations in n-best lists.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print which phrase became what, and its scores.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    tokenized: Annotated[bool, typer.Option("--tokenized", help="The text is words already; print words.")] = False,
    threads: Annotated[int, typer.Option(help="0: all cores.")] = 0,
    pop_limit: Annotated[int | None, typer.Option(help="Search effort; see the configuration.")] = None,
    table: Annotated[Path | None, typer.Option(help="Without a project: a stored or a Moses phrase table.")] = None,
    reordering: Annotated[Path | None, typer.Option(help="With a Moses table: its reordering table.")] = None,
    model: Annotated[Path | None, typer.Option("--lm", help="Without a project: a compiled model or ARPA.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Other weights than the system's.")] = None,
) -> None:
    """Translate text, one sentence a line: line n of the input is line n of the output."""
    limits = {} if pop_limit is None else {"pop_limit": pop_limit}
    loaded: Project | None = None
    if table is not None:
        decoder = _bare_decoder(table, reordering, model, weights, limits)
        tokenized = True
    else:
        loaded = Project(project)
        given = _read_weights(weights) if weights else None
        decoder = loaded.decoder(loaded.check_system(system), given, **limits)
    lines = (line for _, line in read_lines(text))
    with atomic_write(out) as file:
        results = _translated(lines, decoder, loaded, tokenized, nbest, distinct, threads)
        for number, (line, words, result) in enumerate(track(results, "translating")):
            best = result.text
            shown = best if tokenized or loaded is None else loaded.pipelines[1].running_text(best.split())
            if as_json:
                file.write(json.dumps(_record(line, words, result, shown, nbest, explain), ensure_ascii=False) + "\n")
            elif nbest:
                file.writelines(
                    f"{number} ||| {one.text} ||| {_features(one)} ||| {one.score:.6f}\n" for one in result.kbest
                )
            elif explain:
                file.write(explanation(number, line, result, shown))
            else:
                file.write(shown + "\n")
            if out == "-":
                file.flush()


def _bare_decoder(
    table: Path, reordering: Path | None, model: Path | None, weights: Path | None, limits: dict[str, int]
) -> PhraseDecoder:
    if model is None or weights is None:
        raise TreeglotError("--table needs --lm and --weights", remedy="give all three, or a project")
    with table.open("rb") as file:
        stored = file.read(4) == b"TGPT"
    phrases = open_phrases(table) if stored else read_moses_phrases(table, reordering)
    return PhraseDecoder(phrases, lm.open_model(model), _read_weights(weights), **limits)  # type: ignore[arg-type]


def _read_weights(path: Path) -> dict[str, float]:
    """A weight file of ours, or a moses.ini."""
    return read_moses_weights(path) if path.suffix == ".ini" else read_weights(path)


def _translated(
    lines: Iterator[str],
    decoder: PhraseDecoder,
    project: Project | None,
    tokenized: bool,
    nbest: int,
    distinct: bool,
    threads: int,
) -> Iterator[tuple[str, str, Translation]]:
    size = 1 if sys.stdin.isatty() else BATCH
    while batch := list(islice(lines, size)):
        words = (
            batch if tokenized or project is None else [" ".join(project.pipelines[0].words(line)) for line in batch]
        )
        results = decoder.translate(words, nbest=max(nbest, 1), distinct=distinct, threads=threads)
        yield from zip(batch, words, results, strict=True)


def _features(translation: Translation) -> str:
    """Moses' way: the name once, then its values."""
    groups: dict[str, list[str]] = {}
    for name, value in translation.features.items():
        groups.setdefault(name.partition("_")[0], []).append(f"{value:g}")
    return " ".join(f"{name}= {' '.join(values)}" for name, values in groups.items())


def _record(line: str, words: str, result: Translation, shown: str, nbest: int, explain: bool) -> dict[str, object]:
    record: dict[str, object] = {"source": line, "translation": shown, "score": round(result.score, 6)}
    if nbest:
        record["nbest"] = [
            {"words": one.text, "score": round(one.score, 6), "features": one.features} for one in result.kbest
        ]
    if explain:
        record["words"] = words
        record["derivation"] = [
            {
                "source_span": [use.begin, use.end],
                "source": use.source,
                "target": use.target,
                "unknown": use.unknown,
                "links": use.links,
                "features": use.features,
            }
            for use in result.derivation
        ]
    return record


def explanation(number: int, line: str, result: Translation, shown: str) -> str:
    """Which phrase became what, and what each step adds to each feature, as text."""
    rows = [f"{number + 1}  {line}", f"   {shown}   ({result.score:.3f})"]
    for use in result.derivation:
        mark = " (copied: no phrase knows it)" if use.unknown else ""
        values = " ".join(f"{name}={value:.2f}" for name, value in use.features.items() if value)
        rows.append(f"   {use.begin:3}-{use.end:<3} {use.source}  →  {use.target}{mark}")
        rows.append(f"           {values}")
    return "\n".join(rows) + "\n\n"
