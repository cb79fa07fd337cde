"""Decoding with any system of a project: what it takes (words or trees), its features, its decoder.

Run as a program, it translates one part of the data in a process of its own and writes what that took:
``python -m treeglot.pipeline.decoding PROJECT SYSTEM PART SEED TEXT FACTS``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot import lm
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write
from treeglot.pipeline.memory import peak_memory
from treeglot.pipeline.systems import SystemSpec
from treeglot.search import (
    Decoder,
    RuleUse,
    dropped_words,
    feature_names,
    forest_decoder,
    open_phrases,
    phrase_decoder,
    walk,
)
from treeglot.search import fixed_weights as fixed_weights_of
from treeglot.search import start_weights as start_weights_of
from treeglot.trees.corpus import ParsedCorpus, parsed_corpus, read_parsed_corpus
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.stored import open_corpus

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project


def features(spec: SystemSpec) -> tuple[str, ...]:
    """The names of a system's features, in the order of feature vectors."""
    return feature_names(spec.grammars, spec.options)


def start_weights(spec: SystemSpec) -> dict[str, float]:
    """The weights that tuning starts from."""
    return start_weights_of(spec.grammars, spec.options)


def fixed_weights(spec: SystemSpec) -> tuple[str, ...]:
    """Weights that tuning leaves as they are."""
    return fixed_weights_of(spec.grammars)


def search_settings(project: Project, spec: SystemSpec) -> dict[str, Any]:
    """The limits of a system's decoder."""
    return project.config.search.model_dump() if spec.is_phrase_based else spec.decoder_options


def model_files(project: Project, spec: SystemSpec) -> dict[str, Path]:
    """The files that a system translates with, without its weights."""
    files = {"lm": project.model}
    if spec.phrase_table:
        files["table"] = project.phrases(spec.phrase_table)
    return files | {table.name: project.rules(table) for table in spec.tables}


def open_decoder(
    project: Project, spec: SystemSpec, weights: Mapping[str, float], limits: Mapping[str, Any]
) -> Decoder:
    """The decoder of a system with these weights; ``limits`` override those of the configuration."""
    for path in model_files(project, spec).values():
        if not path.exists():
            own = spec.tables or (spec.phrase_table and spec.phrase_table.name != spec.phrase_table.grammar)
            remedy = f"run `treeglot train --system {spec.name}` first" if own else "run `treeglot train` first"
            raise TreeglotError("not trained yet", path=path, remedy=remedy)
    model = lm.LanguageModel(project.model)
    settings = {**search_settings(project, spec), **limits}
    phrases = project.phrases(spec.phrase_table) if spec.phrase_table else None
    if spec.is_phrase_based and phrases:
        return phrase_decoder(open_phrases(phrases), model, weights, **settings)
    tables: dict[str, Path] = {table.grammar: project.rules(table) for table in spec.tables}
    settings = {"max_phrase_length": project.config.phrases.max_length, **settings}
    return forest_decoder(tables, phrases, model, weights, **settings)


def part_files(project: Project, spec: SystemSpec, part: str) -> dict[str, Path]:
    """The files of a part that a system's decoder reads."""
    return {"corpus": project.parsed_corpus(part)} if spec.needs else {"source": project.corpus(part)[0]}


def read_part(project: Project, spec: SystemSpec, part: str) -> ParsedCorpus:
    """The source of a part, ready for the decoder."""
    for path in part_files(project, spec, part).values():
        if not path.exists():
            raise TreeglotError("not prepared yet", path=path, remedy="run `treeglot train` first")
    if spec.needs:
        return open_corpus(project.parsed_corpus(part), binarize=spec.binarize).source
    return read_parsed_corpus(text=project.corpus(part)[0])


def as_corpus(spec: SystemSpec, sentences: Iterable[ParsedSentence]) -> ParsedCorpus:
    """Sentences that are prepared already for the decoder of a system, with the trees that it looks at."""
    if not spec.needs:
        sentences = (ParsedSentence(sentence.tokens) for sentence in sentences)
    return parsed_corpus(sentences, binarize=spec.binarize)


def phrasal_uses(derivation: RuleUse) -> tuple[int, int]:
    """How many head-dependents rules a derivation uses, and how many of them are phrasal (the paper consdep2str, table 2)."""
    uses = list(walk(derivation))
    return sum(use.is_headed for use in uses), sum(use.is_phrasal for use in uses)


# In a process of its own


def main(project_folder: str, system: str, part: str, seed: str, text: str, facts: str) -> None:
    """Translate a part and note time, memory, what the grammars want to be compared by and, for head-dependents rules, the
    phrasal share."""
    from treeglot.pipeline.project import Project

    start = time.monotonic()
    project = Project(Path(project_folder))
    spec = project.system(system)
    corpus = read_part(project, spec, part)
    decoder = project.decoder(system, project.weights(system, int(seed)))
    ready, used = time.monotonic(), _cpu()
    results = decoder.translate(corpus, threads=project.threads)
    seconds, cpu = time.monotonic() - ready, _cpu() - used
    record: dict[str, Any] = {
        "sentences": len(results),
        "startup_seconds": round(ready - start, 3),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
        "peak_memory": peak_memory(),
    }
    with atomic_write(text) as file:
        file.writelines(result.text + "\n" for result in results)
    record["source_words"] = sum(len(result.derivation.source_words) for result in results)
    record["dropped_words"] = sum(dropped_words(result.derivation) for result in results)
    counts = [phrasal_uses(result.derivation) for result in results]
    if any(rules for rules, _ in counts):
        record["hdr_rules"] = sum(rules for rules, _ in counts)
        record["phrasal_rules"] = sum(phrasal for _, phrasal in counts)
        record["phrasal_sentences"] = sum(phrasal > 0 for _, phrasal in counts)
    if spec.compared:
        columns = {
            head: [name for name, other in spec.compared.items() if other == head] for head in spec.compared.values()
        }
        features = [result.features for result in results]
        record["uses"] = {
            head: sum(any(values[name] != 0 for name in names) for values in features)
            for head, names in columns.items()
        }
    with atomic_write(facts) as file:
        json.dump(record, file, indent=1)
        file.write("\n")


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except TreeglotError as error:
        sys.exit(f"treeglot: {error}")
