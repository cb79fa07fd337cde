"""The six phrase tables of the phrase-extraction paper: ``python bench/phrase_sets.py PARSED FOLDER --pair fr-en [--seeds 3] ...``.

``PARSED`` has ``train``, ``val`` and the test part as ``NAME.LANGUAGE.penn`` and ``NAME.LANGUAGE.conllu`` on both sides, sentence by
sentence. Their words are the text. In ``FOLDER`` one project is trained, tuned and tested for each of STR, CON, DEP, STR+CON, STR+DEP
and STR+CON+DEP; what is done is not done again. ``--lines N`` trains on the first N pairs, ``--seeds N`` tunes N times, and
``--untuned`` translates with the weights that tuning starts from; each has a folder of its own in ``FOLDER``.

Printed are Markdown tables: BLEU, NIST and METEOR with their deviation over seeds and p against STR; what the translations of the
test part took from each table; numbers, lengths and overlaps of the sets; how much the two kinds of trees differ.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice
from pathlib import Path

from treeglot import progress
from treeglot.bitext.cleaning import without_controls
from treeglot.evaluation.metrics import Options
from treeglot.evaluation.report import evaluate
from treeglot.evaluation.significance import compare
from treeglot.files import atomic_write, read_lines
from treeglot.grammars.subtree_phrases import BracketStatistics
from treeglot.pipeline.compare import translate_part
from treeglot.pipeline.decoding import start_weights
from treeglot.pipeline.project import Project
from treeglot.tables import PhraseTable, write_phrase_counts
from treeglot.tables.sets import compare_sets
from treeglot.trees.formats import read_sentences
from treeglot.trees.sentence import ParsedSentence

SETS = ("STR", "CON", "DEP", "STR+CON", "STR+DEP", "STR+CON+DEP")
HEURISTIC = "grow-diag-final-and"
METRICS = ("bleu-lc", "nist", "meteor")
TESTS = ("bootstrap", "sign")

CONFIG = """\
[project]
name = "{name}"

[languages]
source = "{source}"
target = "{target}"

[data.train]
source = "train.{source}"
target = "train.{target}"
{dev}
[data.test]
source = "test.{source}"
target = "test.{target}"

[text]
tokenizer = "space"
casing = "lower"

[alignment]
heuristic = "{heuristic}"

[phrases]
sets = [{sets}]
con_source = "{parsed}/train.{source}.penn"
con_target = "{parsed}/train.{target}.penn"
dep_source = "{parsed}/train.{source}.conllu"
dep_target = "{parsed}/train.{target}.conllu"

[tuning]
method = "{method}"
"""
DEV = """
[data.dev]
source = "dev.{source}"
target = "dev.{target}"
"""


def write_text(parsed: Path, folder: Path, languages: tuple[str, str], test: str, lines: int | None) -> None:
    """The words of the trees; the two kinds of trees must have the same."""
    for part, name in (("train", "train"), ("dev", "val"), ("test", test)):
        for language in languages:
            out = folder / f"{part}.{language}"
            if not out.exists():
                with atomic_write(out) as file:
                    for sentence in islice(
                        read_sentences(parsed / f"{name}.{language}.penn"), lines if part == "train" else None
                    ):
                        file.write(" ".join(map(written, sentence.tokens.forms)) + "\n")


def written(form: str) -> str:
    """A word as text has it: nothing in it that cleaning takes for a blank, or takes away."""
    return "_".join(without_controls(form).split()) or "_"


def make_project(options: argparse.Namespace, name: str, text: Path) -> Project:
    """The project of a set, or of several joined by +."""
    source, target = options.pair.split("-")
    folder = options.folder / name
    folder.mkdir(exist_ok=True)
    for part in ("train", "dev", "test"):
        for language in (source, target):
            link = folder / f"{part}.{language}"
            if not link.is_symlink():
                link.symlink_to(text.resolve() / link.name)
    config = CONFIG.format(
        name=name,
        source=source,
        target=target,
        sets=", ".join(f'"{part}"' for part in name.split("+")),
        parsed=options.parsed.resolve(),
        method=options.method,
        heuristic=options.heuristic,
        dev="" if options.untuned else DEV.format(source=source, target=target),
    )
    path = folder / "treeglot.toml"
    if not path.exists() or path.read_text(encoding="utf-8") != config:
        path.write_text(config, encoding="utf-8")
    return Project(folder)


def lines_of(path: Path) -> list[str]:
    return [line for _, line in read_lines(path)]


def spread(values: Sequence[float]) -> str:
    """
    >>> spread([2.0, 4.0]), spread([2.0])
    ('3.00 ± 1.41', '2.00')
    """
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print(f"\n| {' | '.join(header)} |")
    print("| --- |" + " ---: |" * (len(header) - 1))
    for row in rows:
        print(f"| {' | '.join(row)} |")
    sys.stdout.flush()


def dev_bleu(project: Project, seeds: Sequence[int]) -> list[float]:
    """The best BLEU that tuning saw, for each seed."""
    logs = [project.weights_path("phrases", seed).with_suffix(".log") for seed in seeds]
    return [max(float(line.split("\t")[1]) for line in lines_of(log)) for log in logs if log.exists()]


def print_scores(projects: dict[str, Project], outputs: dict[str, list[list[str]]], seeds: Sequence[int]) -> None:
    """One row for each table; p is the largest of the seeds."""
    some = next(iter(projects.values()))
    references = lines_of(some.corpus("test")[1])
    scoring = Options(tokenize="none", language=some.target)
    signatures: dict[str, str] = {}
    rows = []
    for name, runs in outputs.items():
        scores: dict[str, list[float]] = {metric: [] for metric in METRICS}
        p: dict[tuple[str, str], list[float]] = {}
        for run, hypotheses in enumerate(runs):
            for metric, score in zip(METRICS, evaluate(hypotheses, references, METRICS, options=scoring), strict=True):
                scores[metric].append(score.score)
                signatures[metric] = score.signature
            if name != "STR" and "STR" in outputs:
                for metric in METRICS:
                    for test in TESTS if metric == "bleu-lc" else TESTS[:1]:
                        [comparison] = compare(
                            outputs["STR"][run], {name: hypotheses}, references, [metric], test=test, options=scoring
                        )
                        p.setdefault((metric, test), []).append(comparison.p)
        cells = [name, f"{len(PhraseTable(projects[name].table)):,}"]
        tuned = dev_bleu(projects[name], seeds)
        cells.append(spread(tuned) if tuned else "")
        for metric in METRICS:
            cells.append(spread(scores[metric]))
            cells += [
                f"{max(p[metric, test]):.3f}" if (metric, test) in p else ""
                for test in (TESTS if metric == "bleu-lc" else TESTS[:1])
            ]
        rows.append(cells)
    print_table(["table", "pairs", "dev BLEU", "BLEU", "p boot", "p sign", "NIST", "p", "METEOR", "p"], rows)
    print()
    for metric, signature in signatures.items():
        print(f"- {metric}: `{signature}`")


def ngrams(lines: Iterable[str], longest: int) -> set[str]:
    grams = set()
    for line in lines:
        words = line.split()
        for begin in range(len(words)):
            grams |= {" ".join(words[begin:end]) for end in range(begin + 1, min(begin + longest, len(words)) + 1)}
    return grams


def print_use(projects: dict[str, Project], tuned: bool) -> None:
    """What each table has for the test part, and how much of what the first seed's translations use is not in STR."""
    some = next(iter(projects.values()))
    test = lines_of(some.corpus("test")[0])
    wanted = ngrams(test, some.config.phrases.max_length)
    table = PhraseTable(projects["STR"].table)
    known = {source: {entry.target for entry in table.lookup(source)} for source in wanted}
    rows = []
    for name, project in projects.items():
        weights = project.weights("phrases") if tuned else start_weights(project.system("phrases"))
        decoder = project.decoder("phrases", weights)
        uses = [
            use
            for translation in decoder.translate(test, threads=project.threads)
            for use in translation.derivation.children
        ]
        own = PhraseTable(project.table)
        words = {word for line in test for word in line.split()}
        covered = [source for source in wanted if own.lookup(source, 1)]
        further = [use for use in uses if use.grammar != "copy" and use.target not in known[use.source]]
        rows.append(
            [
                name,
                f"{len(covered):,}",
                f"{sum(1 for source in covered if not known[source]):,}",
                f"{sum(1 for word in words if not own.lookup(word, 1)):,}",
                f"{sum(use.end - use.begin for use in uses) / len(uses):.2f}",
                f"{100 * len(further) / len(uses):.1f} %",
            ]
        )
    print_table(
        ["table", "source phrases of test", "not in STR", "unknown words", "words a phrase used", "uses not in STR"],
        rows,
    )


def counts(project: Project, name: str, longest: int) -> Iterator[str]:
    """Lines with the phrase pairs of one set and their counts."""
    source, target = project.corpus("train")
    out = BytesIO()
    spans = [] if name == "STR" else [project.folder / f"rules/{name}.spans"]
    write_phrase_counts(source, target, project.links, out, spans=spans, consistent=not spans, max_length=longest)
    return iter(out.getvalue().decode().splitlines())


def read_spans(project: Project, name: str) -> Iterator[list[tuple[int, ...]]]:
    """For each sentence pair, the spans under linked nodes."""
    for line in lines_of(project.folder / f"rules/{name}.spans"):
        yield [tuple(int(number) for number in re.split("[-:]", pair)) for pair in line.split()]


def span_pairs(project: Project, name: str, longest: int) -> set[tuple[str, str]]:
    """The phrase pairs under linked nodes."""
    pairs = set()
    texts = (map(str.split, lines_of(path)) for path in project.corpus("train"))
    for source, target, spans in zip(*texts, read_spans(project, name), strict=True):
        for a, b, c, d in spans:
            if b - a <= longest and d - c <= longest:
                pairs.add((" ".join(source[a:b]), " ".join(target[c:d])))
    return pairs


def print_sets(project: Project) -> None:
    """Numbers, lengths and overlaps; then what the paper compares: pairs that one kind of trees has and the other has not."""
    longest = project.config.phrases.max_length
    result = compare_sets({name: counts(project, name, longest) for name in ("STR", "CON", "DEP")})
    rows = []
    for name, part in result.sets.items():
        both = [
            part.pairs if other == name else result.shared.get((name, other), result.shared.get((other, name), 0))
            for other in result.sets
        ]
        lengths = f"{part.mean_source:.2f}", f"{part.mean_target:.2f}"
        shares = (f"{count:,}" for count in (result.only[name], *both))
        rows.append([name, f"{part.pairs:,}", f"{part.occurrences:,}", *lengths, *shares])
    heads = ["pairs", "occurrences", "source words", "target words", "only here", "in STR", "in CON", "in DEP"]
    print_table(["set", *heads], rows)
    rows = []
    for limit in (longest, 1000):
        sets = {name: span_pairs(project, name, limit) for name in ("CON", "DEP")}
        for name, other in (("CON", "DEP"), ("DEP", "CON")):
            only = sets[name] - sets[other]
            sizes = (statistics.fmean(len(pair[side].split()) for pair in only) for side in (0, 1))
            most = f"{limit}" if limit == longest else "any"
            rows.append([f"{name}, not {other}", most, f"{len(only):,}", *(f"{size:.2f}" for size in sizes)])
    print_table(["pairs", "longest", "number", "source words", "target words"], rows)
    linked = []
    for name in ("CON", "DEP"):
        spans = list(read_spans(project, name))
        numbers = (sum(pair[side + 1] - pair[side] > 1 for line in spans for pair in line) for side in (0, 2))
        linked.append([name, *(f"{number:,}" for number in numbers)])
    print_table(["linked phrases of two words or more", project.source, project.target], linked)


def print_brackets(parsed: Path, languages: Sequence[str], lines: int | None) -> None:
    rows = []
    for language in languages:
        counted = BracketStatistics()
        files = (read_sentences(parsed / f"train.{language}.{ending}") for ending in ("penn", "conllu"))
        for phrases, words in islice(zip(*files, strict=True), lines):
            counted.add(ParsedSentence.of(words.dependency, phrases.constituency, id=phrases.id))
        shares = (f"{100 * share:.1f} %" for share in (counted.constituency_only, counted.dependency_only))
        rows.append([language, f"{counted.constituency:,}", f"{counted.dependency:,}", *shares])
    print_table(["trees", "constituents", "dependency brackets", "constituents only", "dependency only"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parsed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pair", default="fr-en")
    parser.add_argument("--test", default="test", help="the name of the test part")
    parser.add_argument("--lines", type=int, help="train on the first N pairs")
    parser.add_argument("--heuristic", default=HEURISTIC, help="how the word links of two directions are joined")
    parser.add_argument("--method", default="mert", help="mert, mira or pro")
    parser.add_argument("--seeds", type=int, default=1, help="tune N times, with seeds 1 to N")
    parser.add_argument("--untuned", action="store_true", help="use the weights that tuning starts from")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options = parser.parse_args()
    progress.set_quiet(True)
    source, target = options.pair.split("-")
    kind = [f"{options.lines}-lines"] if options.lines else []
    if options.heuristic != HEURISTIC:
        kind.append(options.heuristic)
    if options.untuned or options.method != "mert":
        kind.append("untuned" if options.untuned else options.method)
    options.folder = options.folder / "-".join(kind)
    text = options.folder / "text"
    text.mkdir(parents=True, exist_ok=True)
    write_text(options.parsed, text, (source, target), options.test, options.lines)
    seeds = range(1, 2 if options.untuned else options.seeds + 1)
    projects, outputs = {}, {}
    for name in options.sets:
        project = projects[name] = make_project(options, name, text)

        def announce(message: str, name: str = name) -> None:
            print(f"{name}: {message}", file=sys.stderr, flush=True)

        outputs[name] = [lines_of(translate_part(project, "phrases", "test", announce, seed=seed)) for seed in seeds]
    tuning = "not tuned" if options.untuned else f"{options.method}, {len(seeds)} seed{'s' if len(seeds) > 1 else ''}"
    first = next(iter(projects.values()))
    print(f"{options.pair}, {len(lines_of(first.corpus('train')[0])):,} sentence pairs, {options.heuristic}, {tuning}")
    print_scores(projects, outputs, seeds)
    if "STR" in projects:
        print_use(projects, not options.untuned)
    if "STR+CON+DEP" in projects:
        print_sets(projects["STR+CON+DEP"])
        print_brackets(options.parsed, (source, target), options.lines)


if __name__ == "__main__":
    main()
