"""``treeglot align``: learn word alignments, apply them to new text, symmetrise and score them.

``treeglot align SOURCE TARGET`` is short for ``treeglot align run SOURCE TARGET``.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from treeglot import alignment
from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.evidence import Evidence, digest_of_model, read_heads, read_known_links
from treeglot.alignment.own import AgreementAligner
from treeglot.alignment.posteriors import links_above
from treeglot.alignment.symmetrize import DEFAULT, heuristic_number, parse_links, symmetrize_lines
from treeglot.cli.align_gold import FormatOption, OneBasedOption, read_gold
from treeglot.cli.align_show import show
from treeglot.cli.options import SeedOption, ThreadsOption
from treeglot.errors import InputError, TreeglotError
from treeglot.evaluation.alignment import AlignmentScore, frequency_classes, score_alignment, score_by_class
from treeglot.files import atomic_write, atomic_write_binary, check_places, read_lines
from treeglot.progress import say, track
from treeglot.words import split_words


class _DefaultRun(TyperGroup):
    """What is no command is a file for ``run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_DefaultRun,
    help="Align words: `treeglot align SOURCE TARGET` learns from the text and aligns it.",
    no_args_is_help=True,
)

app.command()(show)

SourceArgument = Annotated[Path, typer.Argument(help="Tokenised text, a sentence a line (.gz and .zst too).")]
TargetArgument = Annotated[Path, typer.Argument(help="Its translation, line by line.")]
AlignerOption = Annotated[str, typer.Option("--aligner", help=f"One of {', '.join(alignment.BACKENDS)}.")]
HeuristicOption = Annotated[str, typer.Option("--heuristic", help=f"One of {', '.join(alignment.HEURISTICS)}.")]
OutOption = Annotated[str, typer.Option("--out", "-o", help="The symmetrised links; - is standard output.")]
ForwardOption = Annotated[Path | None, typer.Option("--forward", help="Write the forward links here too.")]
ReverseOption = Annotated[Path | None, typer.Option("--reverse", help="Write the reverse links here too.")]
SetOption = Annotated[list[str] | None, typer.Option("--set", help="An option of the aligner, such as prior=0.05.")]
PosteriorsOption = Annotated[
    Path | None, typer.Option("--posteriors", help="Write the chance of each link here too: 0-1:0.9000:0.8000 (own).")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold", help="Keep links whose mean chance is not below, instead of --heuristic (own).", min=0, max=1
    ),
]
DictionaryOption = Annotated[
    Path | None,
    typer.Option(
        "--dictionary",
        help="A dictionary to learn with (own): lines of source headword, tabulator, target headword. "
        "How much it counts: --set dictionary_weight=1.",
    ),
]
KnownOption = Annotated[
    Path | None,
    typer.Option(
        "--known-links",
        help="Links made by hand for some of the pairs, which are kept and learnt from (own): a Pharaoh line for each pair. "
        "An empty line: nothing is known, the pair is aligned as any other. "
        "A line with - alone: known to have no links, and so it stays. Pairs after the last line are unknown.",
    ),
]
PriorModelOption = Annotated[
    Path | None,
    typer.Option(
        "--prior-model",
        help="A model (own) of other, larger text to begin with; the new model knows its words, too. "
        "How much its counts count: --set prior_model_weight=0.5.",
    ),
]
SourceTreesOption = Annotated[
    Path | None,
    typer.Option(
        "--source-conllu", help="Dependency trees of the source, a sentence for each line, to learn with (own)."
    ),
]
TargetTreesOption = Annotated[
    Path | None, typer.Option("--target-conllu", help="The same of the target. How much they count: --set tree=1.")
]
LowerOption = Annotated[
    bool, typer.Option("--lowercase", help="Ignore case; a model that was learnt so does it by itself.")
]


def _read_pairs(source: Path, target: Path, lower: bool) -> tuple[list[str], list[str]]:
    sides = []
    for path in (source, target):
        lines = [line for _, line in track(read_lines(path), f"reading {path.name}")]
        sides.append([line.lower() for line in lines] if lower else lines)
    fewer = int(len(sides[1]) < len(sides[0]))
    if len(sides[0]) != len(sides[1]):
        names = (source, target)
        raise InputError(
            f"{len(sides[fewer]):,} lines, but {names[1 - fewer]} has {len(sides[1 - fewer]):,}",
            path=names[fewer],
            line=len(sides[fewer]),
            remedy="give the two sides of the same sentence pairs",
        )
    return sides[0], sides[1]


def _files_of(model: Path | None) -> list[Path]:
    return sorted(model.iterdir()) if model is not None and model.is_dir() else []


def _options(settings: list[str] | None) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not re.fullmatch(r"-?[0-9]+|-?[0-9]*\.[0-9]+(e-?[0-9]+)?|[0-9]+e-?[0-9]+", value):
            raise TreeglotError(f"--set {setting}", remedy="write a name, = and a number, such as prior=0.05")
        result[key] = int(value) if re.fullmatch(r"-?[0-9]+", value) else float(value)
    return result


def _evidence(
    sides: tuple[list[str], list[str]],
    dictionary: Path | None,
    known: Path | None,
    prior: Path | None,
    lower: bool,
    trees: tuple[Path | None, Path | None],
) -> Evidence:
    model: AgreementAligner | None = None
    if prior is not None:
        loaded = alignment.load(prior)
        if not isinstance(loaded, AgreementAligner):
            raise TreeglotError(f"a model of the aligner {loaded.name}", path=prior, remedy="give a model of own")
        model = loaded
        if model.lowercase and not lower:
            raise TreeglotError("the prior model ignores case", path=prior, remedy="add --lowercase")
    return Evidence(
        None if dictionary is None else Dictionary.read(dictionary),
        {} if known is None else read_known_links(known, *sides),
        model,
        "" if prior is None else digest_of_model(prior),
        *(None if path is None else read_heads(path, lines) for path, lines in zip(trees, sides, strict=True)),
    )


def _align(
    trained: alignment.WordAligner,
    sides: tuple[list[str], list[str]],
    heuristic: str,
    out: str,
    forward: Path | None,
    reverse: Path | None,
    posteriors: Path | None,
    threshold: float | None,
) -> None:
    """Align text and write what is asked for."""
    if posteriors is not None or threshold is not None:
        if not isinstance(trained, AgreementAligner):
            raise TreeglotError(f"the aligner {trained.name} gives no chances of links", remedy="use the aligner own")
        chances = trained.link_chances(*sides)
        if posteriors is not None:
            with atomic_write(posteriors) as file:
                file.writelines(line + "\n" for line in chances)
        if threshold is not None:
            with atomic_write(out) as file:
                file.writelines(links_above(line, threshold) + "\n" for line in chances)
            if forward is None and reverse is None:
                return
    result = trained.align(*sides)
    for path, lines in ((forward, result.forward), (reverse, result.reverse)):
        if path is not None:
            with atomic_write(path) as file:
                file.writelines(line + "\n" for line in lines)
    if threshold is None:
        with atomic_write(out) as file:
            file.writelines(line + "\n" for line in result.symmetrized(heuristic))


def _check_evidence(trained: alignment.WordAligner, model: Path, digests: dict[str, str]) -> None:
    """Refuse evidence with which the model that is there was not learnt."""
    for name, digest in digests.items():
        if trained.evidence.get(name) != digest:
            flag = "--" + name.replace("_", "-")
            how = "with another" if name in trained.evidence else "without"
            raise TreeglotError(
                f"this model was learnt {how} {flag}",
                path=model,
                remedy=f"leave out {flag}, or name another folder to learn anew",
            )


def _check_is(trained: alignment.WordAligner, model: Path, context: typer.Context, asked: dict[str, Any]) -> None:
    """Refuse options of learning with which the model that is there was not learnt."""
    learnt = {"aligner": trained.name, "settings": trained.options, "seed": trained.seed}
    flags = {"aligner": "--aligner", "settings": "--set", "seed": "--seed"}
    for name, value in asked.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and value != learnt[name]:
            raise TreeglotError(
                f"this model was learnt with other {flags[name]} ({learnt[name]})",
                path=model,
                remedy=f"leave out {flags[name]}, or name another folder to learn anew",
            )


@app.command()
def run(
    context: typer.Context,
    source: SourceArgument,
    target: TargetArgument,
    model: Annotated[
        Path | None, typer.Option("--model", help="Apply this model; if it is not there, learn it and keep it there.")
    ] = None,
    aligner: AlignerOption = "own",
    heuristic: HeuristicOption = DEFAULT,
    out: OutOption = "-",
    forward: ForwardOption = None,
    reverse: ReverseOption = None,
    posteriors: PosteriorsOption = None,
    threshold: ThresholdOption = None,
    dictionary: DictionaryOption = None,
    known_links: KnownOption = None,
    prior_model: PriorModelOption = None,
    source_conllu: SourceTreesOption = None,
    target_conllu: TargetTreesOption = None,
    lowercase: LowerOption = False,
    threads: ThreadsOption = 0,
    seed: SeedOption = 1,
    settings: SetOption = None,
) -> None:
    """Learn from parallel text and align it (or apply a model that exists)."""
    heuristic_number(heuristic)
    alignment.backend(aligner)
    options = _options(settings)
    trees = (source_conllu, target_conllu)
    inputs = (source, target, dictionary, known_links, *trees, *_files_of(model), *_files_of(prior_model))
    check_places((out, forward, reverse, posteriors), inputs)
    trained = None
    if model is not None and model.exists():
        trained = alignment.load(model, threads=threads)
        _check_is(trained, model, context, {"aligner": aligner, "settings": options, "seed": seed})
    lower = lowercase or (trained is not None and trained.lowercase)
    sides = _read_pairs(source, target, lower)
    evidence = _evidence(sides, dictionary, known_links, prior_model, lower, (source_conllu, target_conllu))
    with ExitStack() as stack:
        if trained is None:
            place = model or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "model"
            trained = alignment.train(
                aligner, *sides, place, seed=seed, threads=threads, lowercase=lowercase, evidence=evidence, **options
            )
        elif model is not None:
            _check_evidence(trained, model, evidence.digests)
        _align(trained, sides, heuristic, out, forward, reverse, posteriors, threshold)


@app.command()
def train(
    source: SourceArgument,
    target: TargetArgument,
    model: Annotated[Path, typer.Argument(help="The folder of the new model.")],
    aligner: AlignerOption = "own",
    dictionary: DictionaryOption = None,
    known_links: KnownOption = None,
    prior_model: PriorModelOption = None,
    source_conllu: SourceTreesOption = None,
    target_conllu: TargetTreesOption = None,
    lowercase: LowerOption = False,
    threads: ThreadsOption = 0,
    seed: SeedOption = 1,
    settings: SetOption = None,
) -> None:
    """Learn a model and save it."""
    sides = _read_pairs(source, target, lowercase)
    options = _options(settings)
    evidence = _evidence(sides, dictionary, known_links, prior_model, lowercase, (source_conllu, target_conllu))
    alignment.train(
        aligner, *sides, model, seed=seed, threads=threads, lowercase=lowercase, evidence=evidence, **options
    )
    say(f"{model}: {aligner}, {len(sides[0]):,} pairs")


@app.command()
def apply(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    source: SourceArgument,
    target: TargetArgument,
    heuristic: HeuristicOption = DEFAULT,
    out: OutOption = "-",
    forward: ForwardOption = None,
    reverse: ReverseOption = None,
    posteriors: PosteriorsOption = None,
    threshold: ThresholdOption = None,
    lowercase: LowerOption = False,
    threads: ThreadsOption = 0,
) -> None:
    """Align text with a saved model; what it was trained on is aligned as it was then."""
    heuristic_number(heuristic)
    check_places((out, forward, reverse, posteriors), (source, target, *_files_of(model)))
    trained = alignment.load(model, threads=threads)
    sides = _read_pairs(source, target, lowercase or trained.lowercase)
    _align(trained, sides, heuristic, out, forward, reverse, posteriors, threshold)


@app.command()
def symmetrize(
    forward: Annotated[str, typer.Argument(help="Each target word has at most one link.")],
    reverse: Annotated[str, typer.Argument(help="Each source word has at most one link.")],
    heuristic: HeuristicOption = DEFAULT,
    out: OutOption = "-",
    form: Annotated[
        str, typer.Option("--format", help="pharaoh, or giza (A3 files of the two directions).")
    ] = "pharaoh",
) -> None:
    """Make one alignment of two directions, exactly as Moses' symal."""
    check_places([out], [forward, reverse])
    if form == "pharaoh":
        result = alignment.symmetrize_files(forward, reverse, heuristic)
    else:
        first, second = alignment.read_alignment(forward, form), alignment.read_alignment(reverse, form, swap=True)
        lines = symmetrize_lines(first, second, heuristic)
        result = "".join(line + "\n" for line in lines).encode()
    with atomic_write_binary(out) as file:
        file.write(result)


@app.command()
def threshold(
    posteriors: Annotated[Path, typer.Argument(help="Chances of links, as --posteriors writes them.")],
    least: Annotated[float, typer.Argument(help="The least mean chance of a link.", min=0, max=1)],
    out: OutOption = "-",
) -> None:
    """Make links of chances: higher thresholds give fewer and more certain links."""
    check_places([out], [posteriors])
    lines = []
    for number, line in read_lines(posteriors):
        try:
            lines.append(links_above(line, least))
        except TreeglotError as error:
            raise InputError(error.message, path=posteriors, line=number, remedy=error.remedy) from None
    with atomic_write(out) as file:
        file.writelines(line + "\n" for line in lines)


@app.command()
def lexicon(
    source: SourceArgument,
    target: TargetArgument,
    links: Annotated[Path, typer.Argument(help="Their links (Pharaoh).")],
    prefix: Annotated[str, typer.Argument(help="Writes PREFIX.f2e with w(e|f) and PREFIX.e2f with w(f|e).")],
) -> None:
    """Count both lexical tables from links, as Moses does."""
    check_places((f"{prefix}.f2e", f"{prefix}.e2f"), (source, target, links))
    sides = _read_pairs(source, target, False)
    lines = alignment.read_alignment(links, source=sides[0], target=sides[1])
    alignment.LexicalTables.count(*sides, lines, path=links).write(prefix)


@app.command()
def evaluate(
    gold: Annotated[Path, typer.Argument(help="Hand-made links; possible ones are marked.")],
    links: Annotated[Path, typer.Argument(help="The links to score (Pharaoh).")],
    form: FormatOption = "pharaoh",
    one_based: OneBasedOption = False,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="F with this weight of precision, too, such as 0.2.", min=0, max=1)
    ] = None,
    text: Annotated[
        Path | None, typer.Option("--text", help="The source text: also score by how often its words occur.")
    ] = None,
    tags: Annotated[
        Path | None, typer.Option("--tags", help="A tag for each source word, a line a sentence: also score by tag.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print alignment error rate, precision, recall and F1 of links against hand-made ones.

    LINKS may have more lines than GOLD has pairs: test sentences often stand before the training text. In naacl files the
    number of a pair is the number of its line.
    """
    pairs = read_gold(gold, form, one_based)
    answers = [parse_links(line) for line in alignment.read_alignment(links)]
    last = max(pairs)
    if last >= len(answers):
        remedy = "score the links of the same sentence pairs"
        raise InputError(
            f"{len(answers):,} lines, but there is a pair {last + 1}", path=links, line=len(answers), remedy=remedy
        )
    numbers, wanted = list(pairs), list(pairs.values())
    proposed = [answers[number] for number in numbers]
    classes: dict[str, AlignmentScore] = {}
    for path in (text, tags):
        if path is not None:
            names = [split_words(line) for _, line in read_lines(path)]
            if last >= len(names):
                remedy = "give a line for each sentence pair"
                message = f"{len(names):,} lines, but there is a pair {last + 1}"
                raise InputError(message, path=path, line=max(1, len(names)), remedy=remedy)
            names = frequency_classes(names) if path is text else names
            try:
                classes |= score_by_class(proposed, wanted, [names[number] for number in numbers])
            except TreeglotError as error:
                raise error.at(path) from None
    score = score_alignment(proposed, wanted)
    if as_json:
        values: dict[str, Any] = _values(score, alpha)
        if classes:
            values["classes"] = {name: _values(part, alpha) for name, part in classes.items()}
        print(json.dumps(values, ensure_ascii=False))
        return
    for name, part in [("", score), *classes.items()]:
        more = "" if alpha is None else f" F{alpha:g} {100 * part.f(alpha):.2f}"
        print(f"{name}: {part}{more} ({part.sure} sure links)" if name else f"{part}{more}")


def _values(score: AlignmentScore, alpha: float | None) -> dict[str, float]:
    values = score._asdict() | {name: getattr(score, name) for name in ("aer", "precision", "recall", "f1")}
    return values if alpha is None else values | {"alpha": alpha, "f_alpha": score.f(alpha)}
