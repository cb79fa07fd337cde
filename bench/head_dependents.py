"""What the derivations of head-dependents systems are made of, and what better choices would give:
``python bench/head_dependents.py PROJECT SYSTEM... [--part dev] [--nbest 200] [--show 20] [--json]``.

For each system, which must be tuned: BLEU, and BLEU of the best choice among the N best translations of each sentence (by BLEU of the
sentence, ties to the better score); how many steps of a sentence are complete rules, runs, partial uses, attachments, pseudo steps and
phrases of how many words; source words that rules translate by nothing; heads with dependents that no rule of their own translates,
and the commonest tags of these heads; shares of sentences and rules with phrasal nodes. ``--show`` prints so many sentences with
reference, translation, best choice and derivation.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from treeglot.evaluation.metrics import Options, build_metrics
from treeglot.files import read_lines
from treeglot.pipeline.decoding import phrasal_uses, read_part
from treeglot.pipeline.project import Project
from treeglot.search import RuleUse, Translation, dropped_words, walk
from treeglot.search.display import derivation_text

CLASSES = ("rules", "run_rules", "part_rules", "attach_rules", "drop", "pseudo", "copied")


def step_class(use: RuleUse) -> str:
    """What kind of step it is."""
    if use.grammar == "phrases":
        return f"phrases of {'1 word' if len(use.source_words) == 1 else 'more words'}"
    if use.grammar in ("pseudo", "copy", "glue"):
        return use.grammar
    return next((name for name in CLASSES if use.features.get(f"{use.grammar}.{name}")), use.grammar)


def steps_of(results: list[Translation]) -> dict[str, float]:
    """Steps a sentence, by their kind."""
    counts = Counter(step_class(use) for result in results for use in walk(result.derivation))
    return {name: round(number / len(results), 2) for name, number in counts.most_common()}


def unmatched(results: list[Translation], corpus: Any) -> tuple[int, int, list[tuple[str, int]]]:
    """Subtrees of several words that the derivations translate step by step: how many, of how many, and the tags of most heads."""
    heads, tags = 0, Counter[str]()
    for n, result in enumerate(results):
        _, tag, parents, *_ = corpus.columns.sentence(n)
        heads += len({parent for parent in parents if parent >= 0})
        for use in walk(result.derivation):
            if use.grammar == "pseudo" and use.kind == "subtree":
                words = set(use.source_words)
                tags.update(tag[j] for j in words if parents[j] not in words)
    return sum(tags.values()), heads, tags.most_common(6)


def measure(project: Project, system: str, part: str, nbest: int, show: int, seed: int) -> dict[str, Any]:
    spec = project.system(system)
    corpus = read_part(project, spec, part)
    weights = project.weights(system, seed)
    references = [line for _, line in read_lines(project.corpus(part)[1])]
    [metric] = build_metrics(["bleu"], [references], Options(tokenize="none"))
    lists = project.decoder(system, weights).translate(corpus, nbest=nbest, distinct=True, threads=1)
    best, chosen = [], []
    for n, result in enumerate(lists):
        # The statistics of line n against its own reference.
        [own] = build_metrics(["bleu"], [[references[n]] * len(result.kbest)], Options(tokenize="none"))
        rows = own.statistics([translation.text for translation in result.kbest])
        number = int(np.argmax(own.sentence_scores(rows)))
        chosen.append(rows[number])
        best.append(result.kbest[number])
    plain = float(metric.score(metric.statistics([result.text for result in lists]).sum(axis=0)))
    words = sum(len(result.derivation.source_words) for result in lists)
    counts = [phrasal_uses(result.derivation) for result in lists]
    for n in range(min(show, len(lists))):
        print(
            f"\n{n + 1}  reference: {references[n]}\n   {system}: {lists[n].text}\n   best of {nbest}: {best[n].text}"
        )
        print(derivation_text(lists[n].derivation, weights, features=False))
    without, heads, tags = unmatched(lists, corpus)
    return {
        "system": system,
        "bleu": round(plain, 2),
        f"best of {nbest}": round(float(metric.score(np.sum(chosen, axis=0))), 2),
        "steps a sentence": steps_of(lists),
        "dropped %": round(100 * sum(dropped_words(result.derivation) for result in lists) / words, 1),
        "pseudo subtrees %": round(100 * without / heads, 1),
        "their tags": tags,
        "phrasal sentences %": round(100 * sum(phrasal > 0 for _, phrasal in counts) / len(counts), 1),
        "phrasal rules %": round(100 * sum(p for _, p in counts) / max(1, sum(rules for rules, _ in counts)), 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--nbest", type=int, default=200)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    project = Project(options.project)
    for system in options.systems:
        row = measure(project, system, options.part, options.nbest, options.show, options.seed)
        print(json.dumps(row, ensure_ascii=False) if options.json else "\n".join(f"{k}: {v}" for k, v in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
