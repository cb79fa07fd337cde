"""``treeglot evaluate``: score translations against references and test differences for significance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeglot.cli.options import SeedOption
from treeglot.errors import ConfigError, InputError
from treeglot.files import read_lines
from treeglot.progress import say


def evaluate(
    hypothesis: Annotated[
        str | None, typer.Argument(help="The translations, one a line; - is standard input. Left out with --system.")
    ] = None,
    references: Annotated[list[str] | None, typer.Argument(help="One file for each reference translation.")] = None,
    system: Annotated[
        str | None, typer.Option(help="Translate a part of a project with this system and score that.")
    ] = None,
    project: Annotated[Path, typer.Option("--project", "-p", help="With --system: the project's folder.")] = Path(),
    part: Annotated[str, typer.Option(help="With --system: the part of the data.")] = "test",
    tuning_seed: Annotated[int | None, typer.Option(help="With --system: weights tuned with this seed.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Another system's translations to compare with.")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", "-m", help="Comma-separated: bleu-lc, bleu, nist, meteor, chrf, ter; all if not given."
        ),
    ] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", "-lc", help="Ignore case in bleu and chrf too.")] = False,
    tokenize: Annotated[
        str | None,
        typer.Option(
            "--tokenize",
            help="sacreBLEU's tokeniser: 13a (for files), zh, intl, char, ...; none (for --system) if done already.",
        ),
    ] = None,
    language: Annotated[str, typer.Option("--language", help="Of the translations, for METEOR's stemmer.")] = "en",
    sentence: Annotated[bool, typer.Option("--sentence", help="The score of each sentence too.")] = False,
    significance: Annotated[
        str, typer.Option("--significance", help="With --baseline: sign, bootstrap, randomization or all.")
    ] = "all",
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", min=1, max=10_000_000, help="Of bootstrap (1,000 if not given) and randomization (10,000)."
        ),
    ] = None,
    seed: SeedOption = 12345,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Score translations; each score is printed with the signature that makes it repeatable.

    bleu is sacreBLEU's default, bleu-lc the same without regard to case, as in most papers on syntax-based translation.
    """
    from treeglot import evaluation  # numpy and sacreBLEU are loaded only for this command

    names = chosen_metrics(metrics)  # before anything is translated
    if system is not None:
        if hypothesis is not None:
            raise ConfigError("both files and --system", remedy="give translations and references, or --system")
        hypothesis, *references = translated_part(project, system, part, tuning_seed)
    if hypothesis is None or not references:
        raise ConfigError("nothing to score", remedy="give translations and one or more references, or --system")
    tokenize = tokenize or ("13a" if system is None else "none")
    options = evaluation.Options(lowercase=lowercase, tokenize=tokenize, language=language)
    texts = read_parallel([hypothesis, *references, *([baseline] if baseline else [])])
    hypotheses, streams = texts[0], texts[1 : 1 + len(references)]
    report = evaluation.evaluate(hypotheses, streams, names, options=options, sentences=sentence)
    result = {"system": hypothesis, "references": references, **report.to_dict()}
    tests: list[evaluation.Comparison] = []
    other = None
    if baseline:
        other = evaluation.evaluate(texts[-1], streams, names, options=options)
        tests = evaluation.compare(
            texts[-1],
            {hypothesis: hypotheses},
            streams,
            names,
            test=significance,
            samples=samples,
            seed=seed,
            options=options,
        )
        result |= {"baseline": {"system": baseline, **other.to_dict()}, "tests": [test.to_dict() for test in tests]}
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=1))
        return
    if sentence:
        print("\t".join(["line", *(score.metric for score in report)]))
        for number in range(len(hypotheses)):
            scores = (f"{score.sentences[number]:.{score.decimals}f}" for score in report)
            print("\t".join([str(number + 1), *scores]))
        for score in report:
            if score.sentence_signature != score.signature:
                print(f"{score.metric} of sentences|{score.sentence_signature}")
    print(report)
    if other is not None:
        print(f"baseline {baseline}")
        print(other)
    for test in tests:
        print(test)


def chosen_metrics(given: str | None) -> list[str]:
    """The metrics of ``--metrics``, or all that can be had; what is left out is said."""
    from treeglot import evaluation

    if given is not None:
        names = [name.strip() for name in given.split(",") if name.strip()]
        if not names:
            raise ConfigError("no metric is named", remedy=f"choose from {', '.join(evaluation.METRICS)}")
        evaluation.check_metrics(names)
        return names
    usable = evaluation.usable_metrics()
    if missing := [name for name in evaluation.METRICS if name not in usable]:
        say(f"treeglot: without {', '.join(missing)}, whose package is not installed: pip install 'treeglot[meteor]'")
    return list(usable)


def translated_part(folder: Path, system: str, part: str, seed: int | None) -> tuple[str, str]:
    """Train, tune and translate what is missing; the files of the translations and of the references."""
    from treeglot.cli.project import announce
    from treeglot.pipeline.compare import translate_part
    from treeglot.pipeline.project import Project

    project = Project(folder)
    out = translate_part(project, system, part, announce, seed=seed)
    return str(out), str(project.corpus(part)[1])


def read_parallel(paths: list[str]) -> list[list[str]]:
    """The lines of each file; files of different lengths are an error that names the shorter one and where it ends."""
    texts: dict[str, list[str]] = {}
    for path in paths:
        if path not in texts:
            texts[path] = [line for _, line in read_lines(path)]
    longest = max(texts, key=lambda path: len(texts[path]))
    if not texts[longest]:
        raise InputError("the file has no lines", path=paths[0], line=1, remedy="give at least one translation")
    for path, lines in texts.items():
        if len(lines) < len(texts[longest]):
            raise InputError(
                f"ends after {len(lines):,} lines, but {longest} has {len(texts[longest]):,}",
                path=path,
                line=len(lines) + 1,
                remedy="give files of the same length, line for line",
            )
    return [texts[path] for path in paths]
