"""Comparing systems of one project: what is missing is trained, tuned and decoded, then everything stands in one table.

All systems have the same words, alignment and language model. Each is decoded in a process of its own, so that time and peak
memory are its own. Scores are means over tuning seeds with their standard deviation; significance is tested against the
first system, by paired bootstrap and by the sign test of Collins et al., on the translations of the same seed, and, of several seeds,
by approximate randomisation over all runs (Clark et al. 2011). For systems of
head-dependents rules the table has the shares of sentences and rules that are phrasal, as the paper consdep2str has them; other
grammars say in their modules (``COMPARED``) which of their rules have a column. BLEU is there twice: lower-cased and as it is.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from treeglot.errors import ConfigError, TreeglotError
from treeglot.evaluation import Comparison, Options, check_metrics, compare_runs, evaluate, usable_metrics
from treeglot.evaluation import compare as test_significance
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.decoding import model_files, part_files, search_settings, start_weights
from treeglot.pipeline.overlap import read_line_numbers
from treeglot.pipeline.preparation import read_corpus
from treeglot.pipeline.project import Project
from treeglot.pipeline.stages import Paths, Stage
from treeglot.pipeline.systems import groups
from treeglot.pipeline.tuned import dev_score, run_tuning, run_tunings
from treeglot.tables import PhraseTable
from treeglot.tuning import metric_name
from treeglot.words import split_words

METRICS = ("bleu-lc", "bleu", "nist", "meteor", "chrf", "ter")
TESTS = ("bootstrap", "sign")


@dataclass(frozen=True)
class Row:
    """One system on one part of the data."""

    system: str
    part: str
    grammars: tuple[str, ...]
    seeds: tuple[int, ...]
    dev: tuple[float, ...]
    """The score on the dev part as tuning saw it, for each seed."""
    scores: dict[str, tuple[float, ...]]
    """For each metric, the score of each seed."""
    rules: int
    phrases: int
    facts: tuple[dict[str, Any], ...]
    """What decoding took, for each seed; see `treeglot.pipeline.decoding.main`."""
    tests: tuple[Comparison, ...] = ()
    """Against the first system, for each seed and test."""
    metric: str = "BLEU"
    """What the dev scores are of."""

    def mean(self, metric: str) -> float:
        return statistics.fmean(self.scores[metric])

    def deviation(self, metric: str) -> float:
        """The standard deviation over seeds; 0 for one seed."""
        return statistics.stdev(self.scores[metric]) if len(self.seeds) > 1 else 0.0

    def p(self, test: str) -> float | None:
        """The largest p-value over seeds, of BLEU; None for the first system."""
        return max((comparison.p for comparison in self.tests if comparison.test == test), default=None)

    def fact(self, name: str) -> float:
        """The mean over seeds of what decoding took."""
        return statistics.fmean(run[name] for run in self.facts)

    @property
    def rate(self) -> float:
        """Sentences per second of processor time, that is, on one core."""
        seconds = self.fact("cpu_seconds")
        return self.fact("sentences") / seconds if seconds else 0.0

    @property
    def phrasal(self) -> tuple[float, float] | None:
        """The shares of sentences and of head-dependents rules that are phrasal, or None if no such rule was used."""
        rules = sum(run.get("hdr_rules", 0) for run in self.facts)
        sentences = sum(run["sentences"] for run in self.facts)
        if not rules:
            return None
        return (
            sum(run.get("phrasal_sentences", 0) for run in self.facts) / sentences,
            sum(run.get("phrasal_rules", 0) for run in self.facts) / rules,
        )

    @property
    def dropped(self) -> float:
        """The share of source words that rules without a target word of their own translate by nothing."""
        words = sum(run["source_words"] for run in self.facts)
        return sum(run["dropped_words"] for run in self.facts) / words if words else 0.0

    @property
    def uses(self) -> dict[str, float]:
        """The shares of translations with certain rules, by the heads of their columns."""
        sentences = sum(run["sentences"] for run in self.facts)
        counts: Counter[str] = Counter()
        for run in self.facts:
            counts.update(run.get("uses", {}))
        return {head: count / sentences if sentences else 0.0 for head, count in counts.items()}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "system": self.system,
            "part": self.part,
            "grammars": list(self.grammars),
            "seeds": list(self.seeds),
            "dev": list(self.dev),
            "dev_metric": self.metric,
            "scores": {name: list(values) for name, values in self.scores.items()},
            "mean": {name: self.mean(name) for name in self.scores},
            "deviation": {name: self.deviation(name) for name in self.scores},
            "rules": self.rules,
            "phrases": self.phrases,
            "decoding": list(self.facts),
            "sentences_per_core_second": self.rate,
            "dropped_words": self.dropped,
            "phrasal_sentences": self.phrasal[0] if self.phrasal else None,
            "phrasal_rules": self.phrasal[1] if self.phrasal else None,
            "uses": self.uses,
            "tests": [test.to_dict() for test in self.tests],
        }


@dataclass(frozen=True)
class SystemComparison:
    """The table: one row for each part and system, and the signatures that make the scores repeatable."""

    project: str
    languages: tuple[str, str]
    rows: tuple[Row, ...]
    signatures: dict[str, str]
    notes: tuple[str, ...] = field(default=())

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.part for row in self.rows))

    @property
    def uses(self) -> tuple[str, ...]:
        """The heads of columns that some grammar of a system asks for."""
        return tuple(dict.fromkeys(head for row in self.rows for head in row.uses))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "project": self.project,
            "languages": list(self.languages),
            "signatures": self.signatures,
            "notes": list(self.notes),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_markdown(self) -> str:
        """Tables for a document, one for each part, with signatures below."""
        lines: list[str] = []
        for part in self.parts:
            rows = [row for row in self.rows if row.part == part]
            header = table_header(self.signatures, self.uses)
            lines += [f"### {part}", "", f"| {' | '.join(header)} |"]
            lines.append("| --- | " + " | ".join("---:" for _ in header[1:]) + " |")
            lines += [f"| {' | '.join(table_cells(row, self.uses))} |" for row in rows]
            lines.append("")
        lines += [*self.notes, ""]
        lines += [f"- {name}: `{signature}`" for name, signature in self.signatures.items()]
        return "\n".join(lines) + "\n"


def table_header(metrics: Sequence[str] | dict[str, str], uses: Sequence[str] = ()) -> list[str]:
    """The heads of the columns; ``uses`` are further ones."""
    names = [
        name.removesuffix("-lc") if name.endswith("-lc") or f"{name}-lc" not in metrics else f"cased {name}"
        for name in metrics
    ]
    return [
        "system", "dev", *names, "p boot", "p sign", "p runs", "rules", "CPU s", "sent/s", "peak MB", "dropped",
        "phrasal sent", "phrasal rules", *uses,
    ]  # fmt: skip


def table_cells(row: Row, uses: Sequence[str] = ()) -> list[str]:
    """A row as text."""

    def spread(values: Sequence[float], digits: int = 2) -> str:
        mean = f"{statistics.fmean(values):.{digits}f}"
        return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean

    def share(value: float) -> str:
        return f"{100 * value:.1f} %"

    p = [row.p(test) for test in (*TESTS, "runs")]
    return [
        row.system,
        f"{spread(row.dev)} {row.metric}" if row.dev else "",
        *(spread(values) for values in row.scores.values()),
        *("" if value is None else f"{value:.3f}" for value in p),
        f"{row.rules or row.phrases:,}",
        f"{row.fact('cpu_seconds'):.1f}",
        f"{row.rate:,.0f}" if row.rate >= 10 else f"{row.rate:.1f}",
        f"{row.fact('peak_memory') / 1e6:,.0f}",
        share(row.dropped) if row.dropped else "",
        *([share(value) for value in row.phrasal] if row.phrasal else ["", ""]),
        *(share(row.uses[head]) if head in row.uses else "" for head in uses),
    ]


def compare_systems(
    project: Project,
    systems: Sequence[str],
    announce: Callable[[str], object],
    *,
    seeds: int = 1,
    parts: Sequence[str] = (),
    running_text: bool = False,
    metrics: Sequence[str] | None = None,
    lines: type_path | None = None,
) -> SystemComparison:
    """Bring the systems up to date and compare them on ``parts`` (all test parts unless given). The name of a group
    (`treeglot.pipeline.systems.groups`) stands for its systems.

    ``seeds`` tuning runs of each, from the project's seed on. ``running_text`` scores detokenised translations against the raw
    references with sacreBLEU's own tokeniser; otherwise words are compared with the words of the prepared references. ``lines`` is a
    file with numbers of lines: the part is also scored on these alone.
    """
    systems = [name for given in systems for name in _members(project, given)]
    if len(set(systems)) != len(systems) or not systems:
        raise ConfigError("systems to compare are named once each", remedy="name one or more systems")
    if seeds < 1:
        raise ConfigError(f"{seeds} seeds", remedy="ask for at least one")
    left_out = [name for name in METRICS if metrics is None and name not in usable_metrics()]
    metrics = usable_metrics(METRICS) if metrics is None else metrics
    check_metrics(metrics)
    chosen = tuple(parts) or project.test_parts
    if not chosen:
        raise ConfigError("no data.test", path=project.folder / CONFIG_NAME, remedy="add [data.test]")
    for part in chosen:
        _check_part(project, part)
    if lines is not None and len(chosen) > 1:
        raise ConfigError(
            f"lines of one part, but there are {', '.join(chosen)}", remedy="name the part that is meant: --part test"
        )
    for system in systems:
        project.check_system(system)
    project.train(announce, systems)
    first = project.config.project.seed
    numbers = tuple(range(first, first + seeds))
    selections: list[Selection | None] = [None]
    if lines is not None:
        size = sum(1 for _ in read_lines(project.corpus(chosen[0])[0]))
        selections.append(Selection(Path(lines).name, tuple(read_line_numbers(lines, size))))
    tuned = project.raw("dev") is not None
    with project.runner.locked():
        for system in systems:
            if tuned:
                run_tunings(project, system, announce, numbers)
            for seed in numbers:
                for part in chosen:
                    project.runner.run(decoding_stage(project, system, part, seed, tuned), announce)
                    for selection in selections:
                        stage = scoring_stage(project, system, part, seed, metrics, running_text, selection)
                        project.runner.run(stage, announce)
    rows: list[Row] = []
    signatures: dict[str, str] = {}
    for part in chosen:
        for selection in selections:
            rows += _rows(project, systems, part, numbers, signatures, running_text, metrics, selection)
    languages = project.config.languages
    notes = [
        f"{len(numbers)} tuning seed{'s' if seeds > 1 else ''} ({', '.join(map(str, numbers))})"
        + ("; mean ± standard deviation" if seeds > 1 else "")
        + (f"; significance against {systems[0]}" if len(systems) > 1 else "")
        + (" (p boot, p sign: the largest of the seeds; p runs: of all)" if seeds > 1 and len(systems) > 1 else "")
        + ". CPU seconds and sentences per second are of one core."
    ]
    if lines is not None:
        notes.append("Speed, memory and shares are of the whole part, also where some lines are scored alone.")
    if not tuned:
        notes.append("Not tuned: the project has no dev part.")
    if left_out:
        notes.append(f"Without {', '.join(left_out)}, whose package is not installed: pip install 'treeglot[meteor]'.")
    return SystemComparison(
        project.config.project.name, (languages.source, languages.target), tuple(rows), signatures, tuple(notes)
    )


def _members(project: Project, name: str) -> tuple[str, ...]:
    """The systems of a group; a system of the project is itself."""
    return (name,) if name in project.config.systems else groups().get(name, (name,))


def _check_part(project: Project, part: str) -> None:
    if project.raw(part) is None:
        raise ConfigError(f"no data.{part}", path=project.folder / CONFIG_NAME, remedy="add it, or name another part")


def translate_part(
    project: Project, system: str, part: str, announce: Callable[[str], object], *, seed: int | None = None
) -> Path:
    """Train, tune and translate what is missing; the file with the words of the translations."""
    _check_part(project, part)
    project.check_system(system)
    project.train(announce, [system])
    chosen = project.config.project.seed if seed is None else seed
    tuned = project.raw("dev") is not None
    with project.runner.locked():
        if tuned:
            run_tuning(project, system, announce, seed=chosen)
        project.runner.run(decoding_stage(project, system, part, chosen, tuned), announce)
    return run_path(project, system, part, chosen)


def run_path(project: Project, system: str, part: str, seed: int) -> Path:
    """Where the translations of a part are."""
    name = part if seed == project.config.project.seed else f"{part}.seed{seed}"
    return project.folder / "runs" / system / f"{name}.txt"


def decoding_stage(project: Project, system: str, part: str, seed: int, tuned: bool = True) -> Stage:
    """The stage that translates a part in a process of its own; ``tuned`` says whether there must be weights."""
    spec = project.system(system)
    out = run_path(project, system, part, seed)

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        names = [str(project.folder), system, part, str(seed), str(outputs["text"]), str(outputs["facts"])]
        done = subprocess.run(
            [sys.executable, "-m", "treeglot.pipeline.decoding", *names], stderr=subprocess.PIPE, text=True
        )
        if done.returncode:
            message = done.stderr.strip().removeprefix("treeglot: ") or f"exit code {done.returncode}"
            raise TreeglotError(f"decoding {part} with {system}: {message}", remedy="see the message of the decoder")

    inputs = {**model_files(project, spec), **part_files(project, spec, part)}
    if tuned:
        inputs["weights"] = project.weights_path(system, seed)
    parameters = {
        "search": search_settings(project, spec),
        "binarize": spec.binarize,
        "threads": project.threads,
        "seed": seed,
    }
    if not tuned:
        parameters["weights"] = start_weights(spec)
    name = f"decode-{system}-{part}" + ("" if seed == project.config.project.seed else f"-seed{seed}")
    return Stage(name, inputs, {"text": out, "facts": out.with_suffix(".json")}, parameters, run, version=2)


class Selection(NamedTuple):
    """Some lines of a part, counted from 1."""

    name: str
    lines: tuple[int, ...]

    def of(self, items: Sequence[str]) -> list[str]:
        return [items[number - 1] for number in self.lines]


def scoring_stage(
    project: Project,
    system: str,
    part: str,
    seed: int,
    metrics: Sequence[str],
    running_text: bool,
    selection: Selection | None = None,
) -> Stage:
    """The stage that scores the translations of a part, or some lines of it: TER of long sentences takes its time."""
    corpus = project.raw(part)
    assert corpus is not None
    text = run_path(project, system, part, seed)
    kind = "text-scores" if running_text else "scores"
    if selection:
        kind += f"-{selection.name}"
    references = project.corpus(part)[1]
    if running_text:
        references = project.folder / (corpus.target or corpus.file)

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        hypotheses = _translations(project, inputs["text"], running_text)
        wanted = _references(project, part, running_text)
        if selection:
            hypotheses, wanted = selection.of(hypotheses), selection.of(wanted)
        report = evaluate(hypotheses, wanted, metrics, options=_options(project, running_text))
        with atomic_write(outputs["scores"]) as file:
            rows = {name: [score.score, score.signature] for name, score in zip(metrics, report, strict=True)}
            json.dump(rows, file, indent=1)
            file.write("\n")

    name = f"{kind}-{system}-{part}" + ("" if seed == project.config.project.seed else f"-seed{seed}")
    parameters: dict[str, Any] = {
        "metrics": list(metrics),
        "running_text": running_text,
        "language": project.target,
    }
    if selection:
        parameters["lines"] = list(selection.lines)
    return Stage(
        name,
        {"text": text, "references": references},
        {"scores": text.with_name(f"{text.stem}.{kind}.json")},
        parameters,
        run,
    )


def _options(project: Project, running_text: bool) -> Options:
    return Options(tokenize="13a" if running_text else "none", language=project.target)


def _translations(project: Project, path: Path, running_text: bool) -> list[str]:
    lines = [line for _, line in read_lines(path)]
    return [project.pipelines[1].running_text(split_words(line)) for line in lines] if running_text else lines


def _rows(
    project: Project,
    systems: Sequence[str],
    part: str,
    seeds: Sequence[int],
    signatures: dict[str, str],
    running_text: bool,
    metrics: Sequence[str],
    selection: Selection | None = None,
) -> list[Row]:
    references = _references(project, part, running_text)
    if selection:
        references = selection.of(references)
    options = _options(project, running_text)
    rows = []
    baseline: dict[int, list[str]] = {}
    for system in systems:
        spec = project.system(system)
        scores: dict[str, list[float]] = {name: [] for name in metrics}
        facts, tests, dev, runs = [], [], [], []
        for seed in seeds:
            path = run_path(project, system, part, seed)
            hypotheses = _translations(project, path, running_text)
            if selection:
                hypotheses = selection.of(hypotheses)
            stage = scoring_stage(project, system, part, seed, metrics, running_text, selection)
            scored = json.loads(stage.outputs["scores"].read_text(encoding="utf-8"))
            for name in metrics:
                score, signatures[name] = scored[name]
                scores[name].append(score)
            facts.append(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
            if project.weights_path(system, seed).with_suffix(".log").exists():
                dev.append(dev_score(project, system, seed))
            runs.append(hypotheses)
            if seed in baseline:
                for test in TESTS:
                    tests += test_significance(
                        baseline[seed], {system: hypotheses}, references, metrics[:1], test=test, options=options
                    )
            else:
                baseline[seed] = hypotheses
        if system != systems[0] and len(seeds) > 1:
            tests.append(
                compare_runs(list(baseline.values()), runs, references, metrics[0], name=system, options=options)
            )
        rules = sum(_rule_count(project.rules(table)) for table in spec.tables)
        rows.append(
            Row(
                system,
                f"{part}, {len(selection.lines):,} lines of {selection.name}" if selection else part,
                spec.grammars,
                tuple(seeds),
                tuple(dev),
                {name: tuple(values) for name, values in scores.items()},
                rules,
                len(PhraseTable(project.phrases(spec.phrase_table))) if spec.phrase_table else 0,
                tuple(facts),
                tuple(tests),
                metric_name(spec.tuning["metric"]),
            )
        )
    return rows


def _rule_count(table: Path) -> int:
    """The number of rules in a table, from the report beside it."""
    report: dict[str, Any] = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))
    return int(report["rules"])


def _references(project: Project, part: str, running_text: bool) -> list[str]:
    corpus = project.raw(part)
    assert corpus is not None
    if not running_text:
        return [line for _, line in read_lines(project.corpus(part)[1])]
    if corpus.target:
        return [line for _, line in read_lines(project.folder / corpus.target)]
    return [pair.target for pair in read_corpus(corpus, project.folder, project.config.languages)]
