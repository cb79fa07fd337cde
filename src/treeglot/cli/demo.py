"""``treeglot demo``: everything that is built, on the embedded corpus, without a parser or a network."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from treeglot import examples
from treeglot.cli.compare import print_comparison
from treeglot.cli.options import SeedOption
from treeglot.cli.project import announce, write_config
from treeglot.errors import TreeglotError
from treeglot.evaluation import Options, evaluate
from treeglot.files import atomic_write, read_lines
from treeglot.grammars import combinations
from treeglot.pipeline.compare import compare_systems, run_path
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.corpus_stages import raw_inputs
from treeglot.pipeline.parsing import tree_files
from treeglot.pipeline.project import Project
from treeglot.pipeline.translation import Translator
from treeglot.progress import say
from treeglot.search.display import derivation_text, page
from treeglot.trees.bracketed import format_bracketed, from_bracketed, parse_bracketed, to_bracketed
from treeglot.trees.conllu import read_conllu
from treeglot.trees.dep2cons import to_constituency
from treeglot.trees.display import to_svg, to_text, write_html
from treeglot.trees.phrasal import Kind, phrasal_nodes
from treeglot.trees.projectivity import projectivize
from treeglot.trees.sentence import AlignedPair

SYSTEMS = combinations.DEMO
ROUNDS = 5
"""Rounds of tuning: after so many the scores hardly change on this corpus."""


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put what it makes.")] = Path("demo"),
    seed: SeedOption = 1,
) -> None:
    """Write the embedded corpus, check conversions, compare four systems on it, explain a translation; needs no network."""
    out = Console(soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    out.rule("1. the embedded corpus")
    corpus = examples.splits(seed=seed)
    examples.write_example(folder / "corpus", parts=corpus)
    parts = corpus._asdict()
    out.print(_corpus_table(parts))

    out.rule("2. one pair, its trees and links")
    pair = examples.worked_example()
    print(to_text(pair))
    for node in phrasal_nodes(pair.source).nodes:
        words = "".join(pair.source.tokens.forms[slice(*node.span)])
        out.print(f"phrasal node {node.category}: {words}", markup=False, highlight=False)

    out.rule("3. every tree there and back")
    for name, passed, total in _checks(parts, folder / "corpus"):
        out.print(f"{name}: {passed:,} of {total:,}", markup=False)
        if passed != total:
            raise TreeglotError(f"{name} failed on {total - passed:,} sentences", remedy="please report this")

    kinds = sum((phrasal_nodes(pair.source).counts for pairs in parts.values() for pair in pairs), Counter[Kind]())
    apart = kinds[Kind.PHRASAL] + kinds[Kind.CROSSING]
    out.print(
        f"Chinese constituents that are no dependency subtree: {apart:,}; "
        f"{100 * kinds[Kind.PHRASAL] / apart:.1f} % of them can be phrasal nodes (verb + object, ...)",
        markup=False,
    )

    out.rule("4. four translators on the same words, alignment and language model")
    project = _project(folder / "project")
    print_comparison(compare_systems(project, SYSTEMS, announce, metrics=("bleu-lc", "nist", "chrf")), out)

    out.rule("5. one translation, rule by rule")
    _explain(out, project, folder / "derivations.html")

    out.rule("6. pictures")
    write_html(parts["test"][:100], str(folder / "trees.html"), title="treeglot: the embedded example")
    with atomic_write(folder / "pair.svg") as file:
        file.write(to_svg(pair))
    out.print(f"open {folder / 'trees.html'} in a browser; {folder / 'pair.svg'} is the pair above", markup=False)
    say("treeglot: the demo is complete")


def _project(folder: Path) -> Project:
    """A project over the corpus with its gold trees; a few rounds of tuning are enough here."""
    data = {part: f"../corpus/{part}" for part in ("train", "dev", "test")}
    if not (folder / CONFIG_NAME).exists():
        path = write_config(folder, "zh", "en", {**data, "tests.test_long": "../corpus/test_long"}, "space", trees=True)
        text = path.read_text(encoding="utf-8").replace("[tuning]\n", f"[tuning]\niterations = {ROUNDS}\n")
        with atomic_write(path) as file:
            file.write(text)
    return Project(folder)


def _explain(out: Console, project: Project, page_path: Path) -> None:
    """The long sentence that gains most from trees: how phrases and how rules translate it; more of them as a page."""
    part = project.test_parts[-1]
    references = [line for _, line in read_lines(project.corpus(part)[1])]
    seed = project.config.project.seed
    options = Options(tokenize="none")
    scores = []
    for system in (SYSTEMS[0], SYSTEMS[-1]):
        hypotheses = [line for _, line in read_lines(run_path(project, system, part, seed))]
        scores.append(evaluate(hypotheses, references, ["bleu"], options=options, sentences=True).scores[0].sentences)
    gain = [tree - phrase for phrase, tree in zip(*scores, strict=True)]
    chosen = sorted(range(len(gain)), key=lambda n: -gain[n])[:10]
    files = raw_inputs(project, part)
    sentences = list(tree_files(files.get("conllu"), files.get("penn")))
    explained = []
    width = max(map(len, SYSTEMS)) + 1
    for rank, n in enumerate(chosen):
        for system in (SYSTEMS[0], SYSTEMS[-1]):
            with Translator(project, system) as translator:
                [translated] = translator.sentences([sentences[n]], tokenized=True)
            item = translated.explained(system, translator.weights)
            if item is not None:
                explained.append(replace(item, reference=references[n]))
            if rank == 0:
                print(f"{system + ':':<{width}} {translated.text}")
                derivation = translated.derivation if system == SYSTEMS[-1] else None
        if rank == 0:
            print(f"{'reference:':<{width}} {references[n]}\n\n{' '.join(sentences[n].tokens.forms)}")
            if derivation is not None:
                print(derivation_text(derivation, translator.weights, features=False))
            print()
    with atomic_write(page_path) as file:
        file.write(page(explained, "treeglot: phrases and rules on long sentences"))
    out.print(f"open {page_path} in a browser to see these derivations and more", markup=False)


def _corpus_table(parts: dict[str, list[AlignedPair]]) -> Table:
    table = Table("part", "pairs", "zh words", "en words", "longest", "phrase links", "crossing links", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, pairs in parts.items():
        links = [pair.word_links for pair in pairs]
        crossing = sum(
            any(a.source < b.source and a.target > b.target for a in pair_links for b in pair_links)
            for pair_links in links
        )
        table.add_row(
            name,
            f"{len(pairs):,}",
            f"{sum(len(pair.source) for pair in pairs):,}",
            f"{sum(len(pair.target) for pair in pairs):,}",
            f"{max(len(pair.source) for pair in pairs)}",
            f"{sum(len(pair.node_links) for pair in pairs):,}",
            f"{100 * crossing / len(pairs):.0f} % of pairs",
        )
    return table


def _checks(parts: dict[str, list[AlignedPair]], corpus: Path) -> list[tuple[str, int, int]]:
    sentences = [side for pairs in parts.values() for pair in pairs for side in (pair.source, pair.target)]
    trees = [sentence.dependency for sentence in sentences if sentence.dependency is not None]
    bracketed = sum(
        from_bracketed(parse_bracketed(format_bracketed(to_bracketed(tree), full=True))) == tree for tree in trees
    )
    reread = 0
    for name, pairs in parts.items():
        read = read_conllu(corpus / f"{name}.zh.conllu")
        reread += sum(sentence.dependency == pair.source.dependency for sentence, pair in zip(read, pairs, strict=True))
    pairs_in_all = sum(map(len, parts.values()))
    converted = [(projectivize(tree), to_constituency(tree)) for tree in trees]
    compatible = sum(
        not any(a < c < b < d or c < a < d < b for a, b in set(tree.spans) for c, d in set(phrases.spans))
        for tree, phrases in converted
    )
    return [
        ("dependency tree → brackets → dependency tree is the identity", bracketed, len(trees)),
        ("CoNLL-U on disk equals what was generated", reread, pairs_in_all),
        ("dependency → constituency: no phrase crosses a dependency subtree", compatible, len(converted)),
    ]
