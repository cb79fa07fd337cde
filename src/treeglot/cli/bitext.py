"""``treeglot bitext``: convert, clean, count, split, tokenise and truecase parallel text."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.bitext import (
    FORMATS,
    CleaningOptions,
    CleaningReport,
    TextPair,
    Tokenizer,
    Truecaser,
    clean,
    count_bitext,
    detruecase,
    find_format,
    format_by_ending,
    plan_split,
    read_bitext,
    write_bitext,
)
from treeglot.bitext.cleaning import MAX_DROPPED
from treeglot.bitext.tokenization import METHODS, WEB
from treeglot.cli.options import SeedOption
from treeglot.errors import ConfigError
from treeglot.files import atomic_write, check_places, iterate_lines, read_lines
from treeglot.progress import say, track
from treeglot.words import split_words

app = typer.Typer(help="Parallel text: convert, clean, count, split, tokenise, truecase.", no_args_is_help=True)
truecase_app = typer.Typer(help="Learn and apply the usual case of words.", no_args_is_help=True)
app.add_typer(truecase_app, name="truecase")


class Format(Enum):
    plain = "plain"
    moses = "moses"
    tmx = "tmx"
    po = "po"
    tsv = "tsv"
    jsonl = "jsonl"


class Parallel(Enum):
    plain = "plain"
    moses = "moses"


From = Annotated[Format | None, typer.Option("--from", help="Format of the input; by default from its ending.")]
To = Annotated[Format | None, typer.Option("--to", help="Format of the output; by default from its ending.")]
SourceLang = Annotated[str | None, typer.Option("--source-lang", "-s", help="Source language, such as en or en-GB.")]
TargetLang = Annotated[str | None, typer.Option("--target-lang", "-t", help="Target language.")]
Columns = Annotated[
    str | None, typer.Option(help="tsv: columns of source and target, from 1, such as 2,1; a third one is an id.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Lang = Annotated[str, typer.Option("--lang", "-l", help="Language, such as en.")]


class Duplicates(Enum):
    pair = "pair"
    source = "source"
    keep = "keep"


class Control(Enum):
    drop = "drop"
    strip = "strip"
    keep = "keep"


class Unit(Enum):
    word = "word"
    token = "token"
    character = "character"


class Normalization(Enum):
    NFC = "NFC"
    NFKC = "NFKC"
    none = "none"


Tokenization = Enum("Tokenization", {name: name for name in METHODS})  # type: ignore[misc]
BY_LANGUAGE = Tokenization("auto")


class Side(Enum):
    source = "source"
    target = "target"


def _reader_options(columns: str | None, option: list[str] | None) -> dict[str, Any]:
    """Options of a reader from the command line: ``--columns 2,1`` and any number of ``--option name=value``.

    What a value means is for the format to say (`treeglot.bitext.format_options`)."""
    options: dict[str, Any] = {}
    if columns is not None:
        numbers = columns.split(",")
        if len(numbers) not in (2, 3) or not all(number.isascii() and number.isdecimal() for number in numbers):
            raise ConfigError(f"impossible columns {columns!r}", remedy="write two or three numbers, such as 2,1")
        options["columns"] = ",".join(numbers[:2])
        if len(numbers) == 3:
            options["id_column"] = numbers[2]
    for item in option or ():
        name, equals, value = item.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise ConfigError(f"impossible option {item!r}", remedy="write name=value")
        if name in options:
            raise ConfigError(f"the option {name} is given twice", remedy="give it once")
        options[name] = value
    return options


def _read(
    paths: list[str],
    format: Format | None,
    source_lang: str | None,
    target_lang: str | None,
    options: dict[str, Any],
    skipped: Counter[str] | None = None,
    what: str = "reading",
) -> Iterator[TextPair]:
    pairs = read_bitext(
        *paths,
        format=format.value if format else None,
        source_lang=source_lang,
        target_lang=target_lang,
        skipped=skipped,
        **options,
    )
    return track(pairs, f"{what} {Path(paths[0]).name}")


@app.command()
def convert(
    files: Annotated[list[str], typer.Argument(help="Input (one file, or two parallel ones), then output likewise.")],
    from_: From = None,
    to: To = None,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    columns: Columns = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the format's reader, such as inline=keep or fuzzy=true.")
    ] = None,
    write_option: Annotated[list[str] | None, typer.Option(help="An option of the format's writer.")] = None,
    swap: Annotated[bool, typer.Option(help="Exchange source and target.")] = False,
) -> None:
    """Convert between plain, moses, tmx, po, tsv and jsonl.

    A file whose ending (or --to) is not one of a one-file format is one of two parallel files:
    `convert a.en a.fr out.tmx`, `convert in.tmx out.en out.fr`, `convert in.tsv out.jsonl`.
    """
    outputs = FORMATS[to.value].files if to else 1 if format_by_ending(files[-1]) else 2
    inputs, results = files[:-outputs], files[-outputs:]
    if not inputs:
        raise ConfigError("no input is named", remedy="name one or two input files, then the output")
    find_format(
        results, to.value if to else None
    )  # what is wrong with the output should be said before the input is read
    check_places(results, inputs)
    skipped: Counter[str] = Counter()
    pairs = _read(inputs, from_, source_lang, target_lang, _reader_options(columns, option), skipped, what="converting")
    if swap:
        pairs = (pair.swapped() for pair in pairs)
        source_lang, target_lang = target_lang, source_lang
    count = write_bitext(
        pairs,
        *results,
        format=to.value if to else None,
        source_lang=source_lang,
        target_lang=target_lang,
        **_reader_options(None, write_option),
    )
    passed = "".join(f"; skipped {number:,} ({reason})" for reason, number in sorted(skipped.items()))
    say(f"{count:,} pairs written to {' and '.join(results)}{passed}")


@app.command("clean")
def clean_command(
    source: Annotated[str, typer.Argument(help="Source side.")],
    target: Annotated[str, typer.Argument(help="Target side.")],
    out_source: Annotated[str, typer.Argument(help="Cleaned source side.")],
    out_target: Annotated[str, typer.Argument(help="Cleaned target side.")],
    min_length: Annotated[int, typer.Option(help="Least words on each side.")] = 1,
    max_length: Annotated[int, typer.Option(help="Most words on each side.")] = 80,
    max_ratio: Annotated[float, typer.Option(help="Most words of one side per word of the other; 0: any.")] = 9.0,
    max_word: Annotated[int, typer.Option(help="Most characters of a word; 0: any.")] = 100,
    unit: Annotated[
        Unit, typer.Option(help="Count length in words (a Chinese character is one), tokens or characters.")
    ] = Unit.word,
    duplicates: Annotated[Duplicates, typer.Option(help="Drop repeated pairs, repeated sources, or none.")] = (
        Duplicates.pair
    ),
    control: Annotated[Control, typer.Option(help="Non-printing characters: drop the pair, strip or keep them.")] = (
        Control.strip
    ),
    drop_identical: Annotated[bool, typer.Option(help="Drop pairs whose sides are the same.")] = False,
    match_digits: Annotated[bool, typer.Option(help="Drop pairs whose sides have different digits.")] = False,
    normalization: Annotated[Normalization, typer.Option(help="Unicode normalisation.")] = Normalization.NFC,
    whitespace: Annotated[bool, typer.Option(help="Make every run of white space one space.")] = True,
    examples: Annotated[int, typer.Option(help="Examples of each reason in the report.")] = 3,
    max_dropped: Annotated[
        float, typer.Option(min=0, max=1, help="Stop if a larger share is dropped (repeated pairs do not count).")
    ] = MAX_DROPPED,
    report: Annotated[str | None, typer.Option(help="Also write the report here; .json gives JSON.")] = None,
    format: Annotated[Parallel, typer.Option(help="Format of all four files.")] = Parallel.plain,
    as_json: Json = False,
) -> None:
    """Clean two parallel files and report what was dropped and why."""
    options = CleaningOptions(
        min_length=min_length,
        max_length=max_length,
        max_ratio=max_ratio,
        max_word=max_word,
        unit=unit.value,
        duplicates=duplicates.value,
        control=control.value,
        drop_identical=drop_identical,
        match_digits=match_digits,
        normalization=normalization.value,
        whitespace=whitespace,
        examples=examples,
    )
    check_places((out_source, out_target, report), (source, target))
    kept, result = clean(_read([source, target], Format(format.value), None, None, {}, what="cleaning"), options)
    write_bitext(_checked(kept, result, max_dropped), out_source, out_target, format=format.value)
    if report is not None:
        result.save(report)
    # With "-" as an output the cleaned text is the result, and the report must not run into it.
    stream = sys.stderr if "-" in (out_source, out_target) else sys.stdout
    print(json.dumps(result.as_dict(), ensure_ascii=False) if as_json else result.as_text().rstrip(), file=stream)


def _checked(kept: Iterator[TextPair], report: CleaningReport, limit: float) -> Iterator[TextPair]:
    """The pairs; at their end, before the files get their names, an error if too many were dropped."""
    yield from kept
    report.check(
        limit,
        lambda name: f"--{name.replace('_', '-')}",
        lambda side: "segment it first (`treeglot bitext tokenize`), or count characters (--unit character)",
    )


@app.command()
def stats(
    files: Annotated[list[str], typer.Argument(help="One file, or two parallel ones.")],
    from_: From = None,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    columns: Columns = None,
    option: Annotated[list[str] | None, typer.Option(help="An option of the format's reader.")] = None,
    as_json: Json = False,
) -> None:
    """Count pairs, words, types and repetitions."""
    pairs = _read(files, from_, source_lang, target_lang, _reader_options(columns, option), what="counting")
    result = count_bitext(pairs)
    print(json.dumps(result.as_dict()) if as_json else result.as_text().rstrip())


@app.command()
def split(
    files: Annotated[list[str], typer.Argument(help="One file, or two parallel ones.")],
    prefix: Annotated[str, typer.Option("--out", "-o", help="Output as PREFIX.train.X, PREFIX.dev.X, PREFIX.test.X.")],
    dev: Annotated[float, typer.Option(help="Development pairs: a number, or a share below 1.")] = 0.0,
    test: Annotated[float, typer.Option(help="Test pairs: a number, or a share below 1.")] = 0.0,
    seed: SeedOption = 1,
    by: Annotated[Side, typer.Option(help="The side of which no text may be in two parts.")] = Side.source,
    from_: From = None,
    to: To = None,
    source_lang: SourceLang = None,
    target_lang: TargetLang = None,
    columns: Columns = None,
    option: Annotated[list[str] | None, typer.Option(help="An option of the format's reader.")] = None,
    as_json: Json = False,
) -> None:
    """Split a corpus into parts that share no source (or target) text; the input is read twice.

    Output in two plain files PREFIX.PART.LANGUAGE, or in the format of --to.
    """
    for path in files:
        if path == "-" or (Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()):
            what = "standard input" if path == "-" else f"{path} is a pipe, which"
            raise ConfigError(f"{what} cannot be read twice", remedy="save the corpus in a file first")
    options = _reader_options(columns, option)
    target_format = FORMATS[to.value] if to else FORMATS["plain"]
    endings = [target_format.endings[0]] if target_format.files == 1 else _language_endings(source_lang, target_lang)
    wanted = [part for part, size in (("train", 1.0), ("dev", dev), ("test", test)) if size]
    check_places([f"{prefix}.{part}{ending}" for part in wanted for ending in endings], files)
    pairs = _read(files, from_, source_lang, target_lang, options, what="planning")
    plan = plan_split(pairs, dev=dev, test=test, seed=seed, by=by.value)
    counts: dict[str, int] = {}
    for part in wanted:
        chosen = (
            pair
            for pair in _read(files, from_, source_lang, target_lang, options, what=f"writing {part} of")
            if plan.part(pair) == part
        )
        counts[part] = write_bitext(
            chosen,
            *(f"{prefix}.{part}{ending}" for ending in endings),
            format=target_format.name,
            source_lang=source_lang,
            target_lang=target_lang,
        )
    if as_json:
        print(json.dumps(counts))
    else:
        for part, count in counts.items():
            print(f"{part}\t{count}\t{' '.join(f'{prefix}.{part}{ending}' for ending in endings)}")


def _language_endings(source_lang: str | None, target_lang: str | None) -> list[str]:
    endings = [f".{source_lang or 'source'}", f".{target_lang or 'target'}"]
    if endings[0] == endings[1]:
        raise ConfigError("source and target language are the same", remedy="name two languages")
    return endings


def _lines(path: str, what: str) -> Iterator[str]:
    numbered = iterate_lines(sys.stdin.buffer, "-") if path == "-" else read_lines(path)
    return (text for _, text in track(numbered, what))


@app.command("tokenize")
def tokenize_command(
    lang: Lang,
    input: Annotated[str, typer.Argument(help="File, or - for standard input.")] = "-",
    output: Annotated[str, typer.Argument(help="File, or - for standard output.")] = "-",
    detokenize: Annotated[bool, typer.Option("--detokenize", "-d", help="The other way round.")] = False,
    protect: Annotated[list[str] | None, typer.Option(help="Regular expression whose matches stay whole.")] = None,
    protect_web: Annotated[bool, typer.Option(help="Keep addresses of pages and mail whole.")] = False,
    split_hyphens: Annotated[bool, typer.Option(help="a-b as a @-@ b.")] = False,
    tokenizer: Annotated[
        Tokenization, typer.Option("--tokenizer", help="By default what fits the language; char: characters as words.")
    ] = BY_LANGUAGE,
    lowercase: Annotated[bool, typer.Option(help="Also lower-case.")] = False,
) -> None:
    """Tokenise lines of text, or put tokens together again.

    By the rules of Moses, or by a segmenter where a language has no blanks between words.
    """
    check_places([output], [input])
    words = Tokenizer(
        lang,
        protected=[*(protect or ()), *(WEB if protect_web else ())],
        split_hyphens=split_hyphens,
        method=tokenizer.value,
    )
    with atomic_write(output) as out:
        for text in _lines(input, "detokenising" if detokenize else "tokenising"):
            text = text.lower() if lowercase else text
            out.write(words.detokenize(split_words(text)) if detokenize else " ".join(words.tokenize(text)))
            out.write("\n")


@truecase_app.command("train")
def truecase_train(
    files: Annotated[list[str], typer.Argument(help="Tokenised text, one sentence a line.")],
    model: Annotated[str, typer.Option("--model", help="Where to write the model.")],
    count_lowercase_initial: Annotated[
        bool, typer.Option(help="Count a sentence-initial word that is in lower case.")
    ] = False,
) -> None:
    """Learn how words are cased from tokenised text."""
    check_places([model], files)
    sentences = (split_words(text) for path in files for text in _lines(path, f"counting {Path(path).name}"))
    truecaser = Truecaser.train(sentences, count_lowercase_initial=count_lowercase_initial)
    truecaser.save(model)
    say(f"{len(truecaser):,} words written to {model}")


@truecase_app.command("apply")
def truecase_apply(
    input: Annotated[str, typer.Argument(help="Tokenised text, or - for standard input.")] = "-",
    output: Annotated[str, typer.Argument(help="File, or - for standard output.")] = "-",
    model: Annotated[str | None, typer.Option("--model", help="The model that `train` wrote.")] = None,
    everywhere: Annotated[bool, typer.Option(help="Also words inside a sentence whose case was never seen.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Give sentences their first capital back instead.")] = False,
) -> None:
    """Give the first word of each sentence its usual case, or its capital back."""
    if model is None and not undo:
        raise ConfigError("no model is named", remedy="name one with --model, or use --undo")
    check_places([output], [input, model])
    truecaser = Truecaser.load(model) if model is not None and not undo else None
    with atomic_write(output) as out:
        for text in _lines(input, "truecasing"):
            tokens = split_words(text)
            cased = detruecase(tokens) if truecaser is None else truecaser.truecase(tokens, everywhere=everywhere)
            out.write(" ".join(cased) + "\n")
