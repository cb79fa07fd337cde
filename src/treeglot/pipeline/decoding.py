"""Decoding with any system of a project: what it takes (lines of words, or parsed sentences), its features, its decoder.

Run as a program, it translates one part of the data in a process of its own and writes what that took:
``python -m treeglot.pipeline.decoding PROJECT SYSTEM PART SEED TEXT FACTS``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeglot import lm
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write, read_lines
from treeglot.grammars import registry
from treeglot.pipeline.memory import peak_memory
from treeglot.pipeline.systems import SystemSpec
from treeglot.search.phrases import PhraseDecoder, Translation, open_phrases
from treeglot.search.trees import RuleUse, TreeDecoder, TreeTranslation, default_tree_weights, tree_features
from treeglot.search.weights import DEFAULT_WEIGHTS, FEATURES
from treeglot.trees.corpus import ParsedCorpus, parsed_corpus, read_parsed_corpus
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.words import split_words

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

Decoder = PhraseDecoder | TreeDecoder
Result = Translation | TreeTranslation
Inputs = list[str] | ParsedCorpus
"""What a decoder translates: lines of words for the phrase-based one, parsed sentences for the others."""


def grammars(spec: SystemSpec) -> tuple[str, ...]:
    """The grammars whose features a system has, the bilingual phrases last."""
    return registry.blocks(spec.grammars)


def features(spec: SystemSpec) -> tuple[str, ...]:
    """The names of a system's features, in the order of feature vectors."""
    if spec.is_phrase_based:
        return FEATURES
    return tree_features(grammars(spec))


def start_weights(spec: SystemSpec) -> dict[str, float]:
    """The weights that tuning starts from."""
    if spec.is_phrase_based:
        return dict(DEFAULT_WEIGHTS)
    return dict(default_tree_weights(grammars(spec)))


def fixed_weights(spec: SystemSpec) -> tuple[str, ...]:
    """Weights that stay as they are: every phrase-based translation of a sentence copies the same words.

    A tree system may also delete a word that it does not know, so there the weight is tuned like others."""
    return ("UnknownWordPenalty0",) if spec.is_phrase_based else ()


def model_files(project: Project, spec: SystemSpec) -> dict[str, Path]:
    """The files that a system translates with, without its weights."""
    files = {"lm": project.model}
    if spec.is_phrase_based or spec.uses_phrases:
        files["table"] = project.table
    return files | {table.name: project.rules(table) for table in spec.tables}


def open_decoder(
    project: Project, spec: SystemSpec, weights: Mapping[str, float], limits: Mapping[str, Any]
) -> Decoder:
    """The decoder of a system with these weights; ``limits`` override those of the configuration."""
    for path in model_files(project, spec).values():
        if not path.exists():
            remedy = f"run `treeglot train --system {spec.name}` first" if spec.tables else "run `treeglot train` first"
            raise TreeglotError("not trained yet", path=path, remedy=remedy)
    model = lm.LanguageModel(project.model)
    if spec.is_phrase_based:
        settings = {**project.config.search.model_dump(), **limits}
        return PhraseDecoder(open_phrases(project.table), model, weights, **settings)
    tables: dict[str, Path] = {table.grammar: project.rules(table) for table in spec.tables}
    phrases = project.table if spec.uses_phrases else None
    settings = {**spec.decoder_options, "max_phrase_length": project.config.phrases.max_length, **limits}
    return TreeDecoder(tables, phrases, model, weights, **settings)


def part_files(project: Project, spec: SystemSpec, part: str) -> dict[str, Path]:
    """The files of a part that a system's decoder reads."""
    if not spec.needs:
        return {"source": project.corpus(part)[0]}
    conllu, penn = project.trees(part)
    return {"conllu": conllu, "penn": penn}


def read_part(project: Project, spec: SystemSpec, part: str) -> Inputs:
    """The source of a part, ready for the decoder."""
    for path in part_files(project, spec, part).values():
        if not path.exists():
            raise TreeglotError("not prepared yet", path=path, remedy="run `treeglot train` first")
    if spec.needs:
        return read_parsed_corpus(*project.trees(part), binarize=spec.binarize)
    lines = [line for _, line in read_lines(project.corpus(part)[0])]
    return as_inputs(spec, lines)


def as_inputs(spec: SystemSpec, sentences: list[str] | list[ParsedSentence]) -> Inputs:
    """Sentences that are prepared already, as lines of words or with trees, for the decoder of a system."""
    if spec.is_phrase_based:
        return [one if isinstance(one, str) else " ".join(one.tokens.forms) for one in sentences]
    parsed = (one if isinstance(one, ParsedSentence) else ParsedSentence(Tokens(split_words(one))) for one in sentences)
    return parsed_corpus(parsed, binarize=spec.binarize)


def decode(
    decoder: Decoder,
    inputs: Inputs,
    *,
    nbest: int = 1,
    distinct: bool = False,
    threads: int = 0,
    derivations: bool = True,
    progress: Callable[[int], object] | None = None,
) -> list[Result]:
    """Translate; the result of each sentence has ``text``, ``score``, ``vector``, ``features``, ``kbest``, ``derivation``."""
    if isinstance(decoder, PhraseDecoder):
        assert isinstance(inputs, list)
        return list(decoder.translate(inputs, nbest=nbest, distinct=distinct, threads=threads, progress=progress))
    assert isinstance(inputs, ParsedCorpus)
    found = decoder.translate(
        inputs, nbest=nbest, distinct=distinct, threads=threads, derivations=derivations, progress=progress
    )
    return list(found)


# How much of a translation is phrasal (the paper consdep2str, table 2)


def hdr_grammars(spec: SystemSpec) -> frozenset[str]:
    """The grammars of a system whose rules are heads with dependents: they work on dependency subtrees."""
    return frozenset(name for name in spec.rule_grammars if registry.grammar(name).subtree_nodes)


def phrasal_uses(derivation: RuleUse, grammars: frozenset[str]) -> tuple[int, int]:
    """How many head-dependents rules a derivation uses, and how many of them have a phrasal node or a label."""
    rules = phrasal = 0
    stack = [derivation]
    while stack:
        use = stack.pop()
        stack.extend(use.children)
        if use.grammar in grammars:
            rules += 1
            phrasal += use.is_phrasal or any(child.kind == "group" for child in use.children)
    return rules, phrasal


# In a process of its own


def main(project_folder: str, system: str, part: str, seed: str, text: str, facts: str) -> None:
    """Translate a part and note time, memory and, for head-dependents rules, the phrasal share."""
    from treeglot.pipeline.project import Project

    start = time.monotonic()
    project = Project(Path(project_folder))
    spec = project.system(system)
    inputs = read_part(project, spec, part)
    decoder = project.decoder(system, project.weights(system, int(seed)))
    ready, used = time.monotonic(), _cpu()
    results = decode(decoder, inputs, threads=project.threads, derivations=False)
    seconds, cpu = time.monotonic() - ready, _cpu() - used
    found: dict[str, Any] = {
        "sentences": len(results),
        "startup_seconds": round(ready - start, 3),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu, 3),
        "peak_memory": peak_memory(),
    }
    with atomic_write(text) as file:
        file.writelines(result.text + "\n" for result in results)
    if hdr_grammars(spec):
        explained = decode(decoder, inputs, threads=project.threads)
        counts = [
            phrasal_uses(one.derivation, hdr_grammars(spec)) for one in explained if isinstance(one, TreeTranslation)
        ]
        found["hdr_rules"] = sum(rules for rules, _ in counts)
        found["phrasal_rules"] = sum(phrasal for _, phrasal in counts)
        found["phrasal_sentences"] = sum(phrasal > 0 for _, phrasal in counts)
    with atomic_write(facts) as file:
        json.dump(found, file, indent=1)
        file.write("\n")


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except TreeglotError as error:
        sys.exit(f"treeglot: {error}")
