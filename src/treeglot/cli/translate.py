"""``treeglot translate``: from standard input to standard output, with n-best lists, explanations and pictures of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot import lm
from treeglot.cli.interrupted import keeping
from treeglot.cli.options import MaybeSeedOption, ThreadsOption
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write, check_places, check_regular, read_lines
from treeglot.grammars import combinations
from treeglot.pipeline.decoding import features
from treeglot.pipeline.parsing import tree_files
from treeglot.pipeline.project import Project
from treeglot.pipeline.provenance import check_weights, file_identity, noted, provenance
from treeglot.pipeline.translation import Translated, Translator
from treeglot.progress import track
from treeglot.search import (
    MAX_NBEST,
    Decoder,
    feature_names,
    nbest_lines,
    open_phrases,
    phrase_decoder,
    read_moses_phrases,
    read_moses_weights,
    read_weights,
    word_corpus,
)
from treeglot.search.display import Explained, derivation_svg, derivation_text, page, to_record, trees_text
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

BATCH = 256
"""Sentences that are translated at a time: enough for all cores, few enough to see results early."""


def translate(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="The file to translate; - is standard input.")] = "-",
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write; - is standard output.")] = "-",
    project: Annotated[Path, typer.Option("--project", "-p", help="The project's folder.")] = Path(),
    system: Annotated[str, typer.Option(help="A system of the configuration, or a preset.")] = combinations.DEMO[0],
    conllu: Annotated[Path | None, typer.Option(help="Instead of text: dependency trees.")] = None,
    penn: Annotated[Path | None, typer.Option(help="Instead of text: constituency trees; with --conllu, both.")] = None,
    trees: Annotated[Path | None, typer.Option(help="Instead of text: sentences with trees as JSON lines.")] = None,
    nbest: Annotated[
        int,
        typer.Option(
            min=0,
            max=MAX_NBEST,
            help="Print so many translations of each line: number ||| words ||| features ||| score.",
        ),
    ] = 0,
    distinct: Annotated[bool, typer.Option("--distinct", help="No repeated translations in n-best lists.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the rules of each translation, and scores.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with all derivations.")] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Also write a picture of the derivation; NAME-2.svg for the second ...")
    ] = None,
    tokenized: Annotated[bool, typer.Option("--tokenized", help="The text is words already; print words.")] = False,
    threads: ThreadsOption = 0,
    pop_limit: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Search effort; see the configuration.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Without a project: a stored or a Moses phrase table.")] = None,
    reordering: Annotated[Path | None, typer.Option(help="With a Moses table: its reordering table.")] = None,
    model: Annotated[Path | None, typer.Option("--lm", help="Without a project: a compiled model or ARPA.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Other weights than the system's.")] = None,
    seed: MaybeSeedOption = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse weights of other tables or settings, and trees of another kind."),
    ] = False,
) -> None:
    """Translate text, one sentence a line: line n of the input is line n of the output.

    A system that is learnt from trees parses the text with the project's parser, or takes the trees that are given.
    """
    check_places((out, html, svg), (text, conllu, penn, trees, table, reordering, model, weights))
    limits = {} if pop_limit is None else {"pop_limit": pop_limit}
    shown = explain or html is not None or svg is not None
    options = {"nbest": max(nbest, 1), "distinct": distinct, "threads": threads, "derivations": shown}
    given = conllu is not None or penn is not None or trees is not None
    explained: list[Explained] = []
    done = 0
    with ExitStack() as stack:
        stack.enter_context(keeping(lambda: f"{done:,} lines were written" if out == "-" else f"{out} is as it was"))
        if table is not None:
            if given:
                raise TreeglotError(
                    "--table translates lines of words", remedy="leave out --conllu, --penn and --trees"
                )
            decoder = _bare_decoder(table, reordering, model, weights, limits, strict)
            results, name, values = _bare(decoder, text, options), "", decoder.weights
        else:
            loaded = Project(project)
            spec = loaded.system(system)
            if weights:
                chosen = _read_weights(weights, features(spec))
                check_weights(weights, provenance(loaded, spec), "give those of this system", strict=strict)
            else:
                chosen = loaded.weights(system, seed, strict=strict)
            translator = stack.enter_context(Translator(loaded, system, chosen, strict=strict, **limits))
            size = 1 if sys.stdin.isatty() and text == "-" and not given else BATCH
            name, values = system, translator.weights
            if given:
                sentences = tree_files(conllu, penn, trees)
                results = translator.sentences(sentences, tokenized=tokenized, batch=size, **options)
            else:
                lines = (line for _, line in read_lines(text))
                results = translator.lines(lines, tokenized=tokenized, batch=size, **options)
        file = stack.enter_context(atomic_write(out))
        color = out == "-" and sys.stdout.isatty()
        for number, translated in enumerate(track(results, "translating")):
            if as_json:
                file.write(json.dumps(_record(translated, nbest, explain, values), ensure_ascii=False) + "\n")
            elif nbest:
                file.writelines(nbest_lines(number, translated.result) if translated.result is not None else ())
            elif explain:
                file.write(explanation(number, translated, values, color))
            else:
                file.write(translated.text + "\n")
            if out == "-":
                file.flush()
            done = number + 1
            item = translated.explained(name, values) if html is not None or svg is not None else None
            if item is not None:
                explained.append(item)
    if html is not None:
        with atomic_write(html) as file:
            file.write(page(explained, f"Derivations: {name or table}"))
    if svg is not None:
        for number, item in enumerate(explained, start=1):
            with atomic_write(svg if number == 1 else svg.with_name(f"{svg.stem}-{number}{svg.suffix}")) as file:
                file.write(derivation_svg(item.sentence, item.derivation, weights=item.weights))


def _bare_decoder(
    table: Path,
    reordering: Path | None,
    model: Path | None,
    weights: Path | None,
    limits: dict[str, int],
    strict: bool,
) -> Decoder:
    if model is None or weights is None:
        raise TreeglotError("--table needs --lm and --weights", remedy="give all three, or a project")
    check_regular(table)
    with table.open("rb") as file:
        stored = file.read(4) == b"TGPT"
    phrases = open_phrases(table) if stored else read_moses_phrases(table, reordering)
    values = _read_weights(weights, feature_names([combinations.DEMO[0]]))
    before = noted(weights)
    given = {"lm": model, "table": table}
    now = before | {name: file_identity(path) for name, path in given.items() if name in before}
    check_weights(weights, now, "give the weights of this table and this model", strict=strict)
    return phrase_decoder(phrases, lm.open_model(model), values, **limits)  # type: ignore[arg-type]


def _bare(decoder: Decoder, text: str, options: dict[str, Any]) -> Iterator[Translated]:
    """Without a project: the lines are words, and so are the translations."""
    lines = (line for _, line in read_lines(text))
    while batch := list(islice(lines, 1 if sys.stdin.isatty() and text == "-" else BATCH)):
        corpus = word_corpus(batch)
        for number, result in enumerate(decoder.translate(corpus, **options)):
            yield Translated(batch[number], ParsedSentence(Tokens(corpus.words(number))), result, result.text)


def _read_weights(path: Path, names: tuple[str, ...]) -> dict[str, float]:
    """A weight file of ours, or a moses.ini."""
    return read_moses_weights(path) if path.suffix == ".ini" else read_weights(path, names)


def _record(translated: Translated, nbest: int, explain: bool, weights: dict[str, float]) -> dict[str, object]:
    """A translation for JSON; the derivation has one shape for all systems (`treeglot.search.display.to_record`)."""
    result = translated.result
    record: dict[str, object] = {"source": translated.line, "translation": translated.text}
    record["score"] = round(result.score, 6) if result is not None else None
    if nbest:
        kbest = result.kbest if result is not None else []
        record["nbest"] = [{"words": n.text, "score": round(n.score, 6), "features": n.features} for n in kbest]
    if explain:
        record["words"] = translated.words
        shown = to_record(translated.derivation, weights) if translated.derivation is not None else {"steps": []}
        record["derivation"] = shown["steps"]
        record["target_words"] = shown.get("words", [])
        if "target_tree" in shown:
            record["target_tree"] = shown["target_tree"]
    return record


def explanation(number: int, translated: Translated, weights: dict[str, float], color: bool = False) -> str:
    """Which rule or phrase became what, and what each step adds to each feature, as text."""
    result = translated.result
    if result is None:
        return f"{number + 1}  (an empty line)\n\n"
    rows = [f"{number + 1}  {translated.line}", f"   {translated.text}   ({result.score:.3f})"]
    rows += [f"   {line}" for line in derivation_text(result.derivation, weights, color=color).splitlines()]
    rows += [f"   {line}" for line in trees_text(translated.sentence, result.derivation, color=color).splitlines()]
    return "\n".join(rows) + "\n\n"
