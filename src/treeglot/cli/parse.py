"""``treeglot parse`` and ``treeglot parsers``: trees for text, and the parsers that make them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.errors import ParserError
from treeglot.files import check_places
from treeglot.languages import language_code, language_name
from treeglot.parsers import BackendInfo, ModelInfo, ParseSummary, available, open_parser, parse_file
from treeglot.progress import say
from treeglot.trees.formats import guess_format

parsers_app = typer.Typer(help="Parsers: which there are, how to get them, how to train one.", no_args_is_help=True)


class Backend(Enum):
    auto = "auto"
    stanza = "stanza"
    corenlp = "corenlp"
    benepar = "benepar"
    spacy = "spacy"
    udpipe = "udpipe"
    files = "files"


class Dependencies(Enum):
    ud = "ud"
    sd = "sd"


class OnEmpty(Enum):
    placeholder = "placeholder"
    error = "error"


Lang = Annotated[str, typer.Option("--lang", "-l", help="Language of the text: zh, en, fr, German, ...")]
AsJson = Annotated[bool, typer.Option("--json", help="The summary as JSON.")]


def worker_count(threads: int) -> int:
    """How many batches are parsed at once; 0 threads are as many as there are cores."""
    return threads or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def parse(
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="Text, one sentence a line (.gz, .zst; - for stdin).")
    ],
    lang: Lang,
    parser: Annotated[
        Backend, typer.Option("--parser", help="The backend; auto takes the best there is.")
    ] = Backend.auto,
    tokenized: Annotated[bool, typer.Option(help="Words are separated by spaces already; keep them.")] = False,
    conllu: Annotated[Path | None, typer.Option(help="Write dependency trees here (default: standard output).")] = None,
    penn: Annotated[Path | None, typer.Option(help="Write constituency trees here, one a line.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Write both trees here as JSON lines.")] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the backend: a name or a file.")] = None,
    trees: Annotated[
        list[Path] | None, typer.Option(help="--parser files: the parsed file; twice for CoNLL-U and Penn.")
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-j", min=0, max=1024, help="Batches at once; 0: one per core.")
    ] = 0,
    batch_size: Annotated[int, typer.Option(min=1, max=1_000_000, help="Sentences in a batch.")] = 64,
    dependencies: Annotated[
        Dependencies, typer.Option(help="CoreNLP: Universal or Stanford dependencies (Chinese, English).")
    ] = Dependencies.ud,
    memory: Annotated[str | None, typer.Option(help="CoreNLP: limit of Java's memory, such as 4g.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="CoreNLP: seconds that one sentence may take.")] = 30.0,
    max_words: Annotated[int, typer.Option(min=1, help="Longer sentences get a flat tree.")] = 250,
    on_empty: Annotated[
        OnEmpty, typer.Option(help="An empty line: a placeholder of one word '_', or an error.")
    ] = OnEmpty.placeholder,
    resume: Annotated[bool, typer.Option(help="Continue a run that was interrupted.")] = True,
    as_json: AsJson = False,
) -> None:
    """Parse text, one sentence a line: line n of INPUT is sentence n of every output.

    An interrupted run continues where it stopped when the same command is given again. A summary goes to standard error.
    """
    options: dict[str, Any] = {}
    workers = worker_count(threads)
    if trees and parser is not Backend.files:
        raise ParserError("--trees is for --parser files", remedy="add --parser files")
    name = parser.value
    if name == "auto":
        from treeglot.parsers.registry import best_backend

        name = best_backend(language_code(lang))
    if name == "files":
        options |= _tree_files(trees or [])
    else:
        options["max_words"] = max_words
        if model is not None:
            options["model"] = model
    if name == "corenlp":
        options |= {"threads": workers, "timeout": timeout, "dependencies": dependencies.value}
        if memory is not None:
            options["memory"] = memory
    elif dependencies is Dependencies.sd:
        raise ParserError("--dependencies sd is for CoreNLP", remedy="add --parser corenlp")
    elif memory is not None and parser is not Backend.auto:
        raise ParserError("--memory is for CoreNLP", remedy="leave it out")
    if conllu is None and penn is None and jsonl is None:
        conllu = Path("-")
    # Also a place that cannot be written: better before a model is loaded than after all is parsed.
    check_places((conllu, penn, jsonl), (source, *(trees or ()), model if model and Path(model).is_file() else None))
    with open_parser(name, lang, **options) as backend:
        if not threads and str(source) == "-" and backend.concurrency == "processes":
            workers = 1  # a few lines by hand should not wait for several processes to load their models
        summary = parse_file(
            backend,
            source,
            conllu=conllu,
            penn=penn,
            jsonl=jsonl,
            tokenized=tokenized,
            batch_size=batch_size,
            workers=workers,
            on_empty=on_empty.value,
            resume=resume,
        )
    if as_json:
        print(
            json.dumps(summary.as_dict(), ensure_ascii=False),
            file=sys.stderr if _to_stdout(conllu, penn, jsonl) else sys.stdout,
        )
    else:
        say(_describe(summary))


@parsers_app.command("list")
def list_parsers(
    lang: Annotated[str | None, typer.Option("--lang", "-l", help="Only this language.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Say which parsers work here, for which languages, which trees they give, and how to get the rest."""
    infos = available(lang)
    if as_json:
        print(json.dumps([_info_record(info) for info in infos], indent=1, ensure_ascii=False))
        return
    for info in infos:
        _show(info, all_models=lang is not None)


@parsers_app.command("install")
def install(
    backend: Annotated[str, typer.Argument(help="corenlp (others come by pip, see `parsers list`).")],
    lang: Annotated[list[str], typer.Option("--lang", "-l", help="Language; may be given more than once.")],
    version: Annotated[str | None, typer.Option(help="Another release.")] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Take the jars from this folder instead of a repository.")
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(
            envvar="TREEGLOT_MAVEN_REPOSITORY", help="Base address of a Maven repository; without it mvn is called."
        ),
    ] = None,
) -> None:
    """Fetch a parser and its models into the cache (TREEGLOT_CACHE)."""
    if backend != "corenlp":
        how = next(
            (info.how for info in available() if info.name == backend and info.how), "see `treeglot parsers list`"
        )
        raise ParserError(f"{backend!r} is not installed by this command", remedy=how)
    from treeglot.parsers import corenlp

    for name in lang:
        code = language_code(name)
        files = corenlp.install(code, version=version or corenlp.VERSION, source=source, repository=repository)
        for path in files:
            print(f"{path} ({path.stat().st_size / 1e6:,.0f} MB)")
        say(f"CoreNLP for {language_name(code)} is ready: treeglot parse TEXT --lang {code}")


@parsers_app.command("train-udpipe")
def train_udpipe(
    treebanks: Annotated[list[Path], typer.Argument(metavar="TREEBANK...", help="CoNLL-U files to learn from.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file; name it LANGUAGE_something.udpipe.")],
    heldout: Annotated[
        Path | None, typer.Option(help="CoNLL-U file to choose iterations by and to evaluate on.")
    ] = None,
    tokenizer: Annotated[str, typer.Option(help="UDPipe's options (epochs=50;...), or none.")] = "",
    tagger: Annotated[str, typer.Option(help="UDPipe's options (iterations=10;...), or none.")] = "",
    parser: Annotated[str, typer.Option(help="UDPipe's options (transition_system=swap;...), or none.")] = "",
    as_json: AsJson = False,
) -> None:
    """Train a UDPipe model on a treebank: tokenizer, tagger and parser."""
    from treeglot.parsers.udpipe_training import Settings, train

    check_places([out], [*treebanks, heldout])
    parts = (None if options.strip().lower() == "none" else options for options in (tokenizer, tagger, parser))
    summary = train(treebanks, out, heldout=heldout, settings=Settings(*parts))
    if as_json:
        print(json.dumps(vars(summary), ensure_ascii=False))
        return
    print(
        f"{out}: {summary.bytes / 1e6:.1f} MB from {summary.sentences:,} sentences, {summary.words:,} words "
        f"in {summary.seconds:.0f} s"
    )
    for line in summary.scores:
        print(f"  {line}")


def _tree_files(trees: Sequence[Path]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for path in trees:
        name = guess_format(path, reading=True)
        if name not in ("conllu", "penn", "jsonl") or name in files:
            raise ParserError(
                f"a {name} file", path=path, remedy="give a CoNLL-U file, a Penn file, both, or JSON lines"
            )
        files[name] = path
    if not files:
        raise ParserError("--parser files needs --trees FILE", remedy="name the parsed file, twice for two files")
    return files


def _to_stdout(*outputs: Path | None) -> bool:
    return any(str(path) == "-" for path in outputs if path is not None)


def _describe(summary: ParseSummary) -> str:
    lines = [
        f"{summary.parser}: {summary.sentences:,} sentences, {summary.words:,} words in {summary.seconds:.1f} s "
        f"({summary.sentences_per_second:.1f} sentences/s, start {summary.startup_seconds:.1f} s, "
        f"peak memory {summary.peak_memory / 1e6:,.0f} MB)"
    ]
    if summary.resumed:
        lines.append(f"  {summary.resumed:,} of them were parsed before the interruption")
    for kind, count in summary.converted.items():
        other = "dependencies" if kind == "constituency" else "constituents"
        lines.append(f"  {count:,} {kind} trees were converted from {other}: this parser has none")
    if summary.attached:
        lines.append(f"  {summary.attached:,} sentences had several roots; the later ones were attached to the first")
    for reason, count in sorted(summary.failures.items(), key=lambda item: (-item[1], item[0]))[:10]:
        lines.append(f"  {count:,} flat trees: {reason}")
    return "\n".join(lines)


def _show(info: BackendInfo, *, all_models: bool) -> None:
    """One backend as a few lines: what works, then how to get the rest."""
    print(f"{info.name} {info.version}".rstrip() if info.installed else f"{info.name} (not installed)")
    if not info.installed:
        print(f"  get it: {info.how}")
    for model in info.models:
        if model.installed and info.installed:
            print(f"  {model.lang:<3} {' + '.join(sorted(model.trees, reverse=True)):<26} {model.name}")
    more: dict[str, list[ModelInfo]] = {}
    for model in info.models:
        if not model.installed and model.how and (info.installed or all_models):
            how = model.how if all_models else model.how.replace(model.name, "MODEL").split(" (")[0]
            more.setdefault(how.replace(f"--lang {model.lang}", "--lang LANG") if not all_models else how, []).append(
                model
            )
    for how, models in more.items():
        print(f"  more: {how}   for {', '.join(model.lang for model in models)}")
    if info.note:
        print(f"  {info.note}")


def _info_record(info: BackendInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "installed": info.installed,
        "version": info.version,
        "how": info.how,
        "note": info.note,
        "models": [
            {
                "lang": model.lang,
                "name": model.name,
                "trees": sorted(model.trees),
                "installed": model.installed,
                "how": model.how,
            }
            for model in info.models
        ],
    }
