"""``treeglot forest``: the forest that a grammar makes over each sentence, before any rule is looked at."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.cli.grammar_options import with_grammar_options
from treeglot.cli.rules import ConlluOption, JsonlOption, ParsesOption
from treeglot.cli.rules_extract import check_options
from treeglot.errors import TreeError
from treeglot.files import atomic_write, check_places
from treeglot.grammars import registry
from treeglot.grammars.forest_pictures import page
from treeglot.grammars.source_forests import forest_json, with_forests
from treeglot.progress import say
from treeglot.trees.corpus import Parses, read_parsed_corpus


@with_grammar_options
def forest(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help=f"One of: {', '.join(with_forests())}.")],
    conllu: ConlluOption = None,
    jsonl: JsonlOption = None,
    parses: ParsesOption = None,
    pruned: Annotated[bool, typer.Option("--pruned", help="Without the edges that extraction leaves out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a sentence.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with pictures to this file.")] = None,
    *,
    options: dict[str, registry.Value],
) -> None:
    """Print the forest that a grammar makes over each sentence: its vertices, and how they are put together.

    Without --json a line for each vertex: its posterior probability, its words, and the number of edges into it; an empty
    line after each sentence.
    """
    check_options(grammar, options)
    further = [Parses.of(text) for text in parses or ()]
    check_places([html], [conllu, jsonl, *(given.conllu for given in further)])
    corpus = read_parsed_corpus(conllu, jsonl=jsonl, parses=further)
    missing = corpus.columns.first_without(True)
    if missing is not None:
        raise TreeError(
            f"sentence {missing + 1}: no dependency tree",
            path=conllu or jsonl,
            remedy=f"{grammar} needs one of every sentence; treeglot parse makes them",
        )
    pictures: list[tuple[list[str], dict[str, Any]]] = []
    for n in range(len(corpus)):
        text = forest_json(grammar, corpus, n, pruned=pruned, **options)
        if html is not None:
            pictures.append((corpus.words(n), json.loads(text)))
        else:
            sys.stdout.write(f"{text}\n" if as_json else _lines(corpus.words(n), json.loads(text)))
    if html is not None:
        with atomic_write(html) as file:
            file.write(page(pictures, f"Forests of {grammar}"))
    if corpus.lifted:
        say(f"{corpus.lifted:,} dependencies lifted to make trees projective")


def _lines(words: list[str], shown: dict[str, Any]) -> str:
    edges = [0] * len(shown["vertices"])
    for edge in shown["edges"]:
        edges[edge["head"]] += 1
    lines = [
        f"{vertex['posterior']:.6f}  {' '.join(f'{words[j]}.{j}' for j in vertex['words']) or '(root)'}  {count}"
        for vertex, count in zip(shown["vertices"], edges, strict=True)
    ]
    return "\n".join(lines) + "\n\n"
