"""``treeglot trees align``: link the nodes of two files of trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.subtrees.lexical import (
    DEFAULT_FLOOR,
    DEFAULT_METHOD,
    USUAL_LEAST,
    LexicalTreeAligner,
    TreeKind,
    with_tree,
)
from treeglot.alignment.subtrees.words import Known
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.cli.subtree_files import (
    AUTO,
    OUTPUTS,
    Anywhere,
    Lenient,
    SourceBank,
    TargetBank,
    TreeAlignerFiles,
    TreePairs,
    output_format,
    places,
    write_aligned,
)
from treeglot.errors import TreeglotError
from treeglot.files import check_places
from treeglot.progress import is_quiet, say, track
from treeglot.trees.sentence import AlignedPair

if TYPE_CHECKING:
    from treeglot.alignment.subtrees.model import SubtreeAligner

FEW_KNOWN = 0.5
"""A model that knows a smaller share of the words, or labels, of the text can hardly link anything."""
LOOKED_AT = 1000
"""Pairs that this is found out from."""


class DialectName(Enum):
    treealigner = "treealigner"
    lingua_align = "lingua-align"


def add_commands(app: typer.Typer) -> None:
    """Hook the command into ``treeglot trees``."""
    app.command()(align)


def align(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="Trees (penn, conllu, tiger, jsonl ...), or a file of aligned pairs.")],
    target: Annotated[
        Path | None, typer.Argument(help="The trees of the translations, in the same order. Not with aligned pairs.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The aligned treebank; - is standard output.")] = "-",
    format: Annotated[
        str | None, typer.Option("--format", help=f"One of {', '.join(OUTPUTS)}; by the ending of --out, else jsonl.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Align with this model of `trees train-aligner`.")] = None,
    adapt: Annotated[
        bool,
        typer.Option(help="With --model: let it learn the words of these trees first; they are read twice."),
    ] = True,
    sentences: Annotated[
        str | None,
        typer.Option(
            help="Which sentences are pairs, if not all in order: a file of lines 'source<tab>target' (numbers from 1 or "
            f"ids, several with blanks), or {AUTO} to find out."
        ),
    ] = None,
    dialect: Annotated[
        DialectName, typer.Option(help="TreeAligner XML as Stockholm's TreeAligner or as Lingua-Align writes it.")
    ] = DialectName.treealigner,
    bank_source: SourceBank = None,
    bank_target: TargetBank = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    lex: Annotated[
        str | None,
        typer.Option(help="Word tables PREFIX.f2e and PREFIX.e2f; learnt from the trees' words if not given."),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            help="A dictionary for the lexical aligner: lines of source headword, tabulator, target headword."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="The lexical aligner's score and heuristics, such as score2 or skip1_score1.")
    ] = DEFAULT_METHOD,
    floor: Annotated[float, typer.Option(help="The least probability of a word pair.")] = DEFAULT_FLOOR,
    least: Annotated[
        float, typer.Option(help="Never link nodes with a confidence below this; a model has its own threshold.")
    ] = USUAL_LEAST,
    words: Annotated[bool, typer.Option(help="Link words, too.")] = True,
    source_tree: Annotated[str, typer.Option(help=f"Which tree: {', '.join(get_args(TreeKind))}.")] = "auto",
    target_tree: Annotated[str, typer.Option(help="The same for the target.")] = "auto",
    from_format: Annotated[str | None, typer.Option("--from", "-f", help="Format of SOURCE.")] = None,
    target_format: Annotated[str | None, typer.Option("--target-from", help="Format of TARGET.")] = None,
    threads: Annotated[int, typer.Option(help="0: all cores.", min=0)] = 0,
) -> None:
    """Link the nodes of two treebanks, sentence by sentence, by their words or with a trained model.

    Links of TreeAligner XML join two TIGER files, which are written beside it. Every link has a confidence.
    """
    write_as = output_format(out, format)
    lexical_files = (None, None) if lex is None else WordTable.files(lex)
    beads = None if sentences in (None, AUTO) else sentences
    inputs = (source, target, model, dictionary, bank_source, bank_target, beads, *lexical_files)
    check_places(places(out, write_as), inputs)
    pairs = TreePairs(
        source,
        target,
        from_format,
        target_format,
        files=TreeAlignerFiles(bank_source, bank_target, lenient, anywhere),
        sentences=sentences,
        threads=threads,
    )
    for name, kind in (("--source-tree", source_tree), ("--target-tree", target_tree)):
        if kind not in get_args(TreeKind):
            raise TreeglotError(f"{name} {kind}", remedy=f"choose {', '.join(get_args(TreeKind))}")
    if model is not None:
        from treeglot.alignment.subtrees.model import load_model

        for name in ("lex", "dictionary", "method", "floor"):
            if _is_given(context, name):
                raise TreeglotError(f"--{name} with --model", remedy="it is for the lexical aligner; give one of them")
        kinds: dict[str, Any] = {"source_tree": source_tree, "target_tree": target_tree}
        trained = load_model(model, threads=threads)
        pairs.read_twice()
        trained = _prepared(
            trained,
            pairs,
            model,
            (source_tree, target_tree),  # type: ignore[arg-type]
            adapt,
            _is_given(context, "adapt"),
            threads,
        )
        aligned: Iterable[AlignedPair] = trained.align(pairs.with_word_links(), **kinds, threads=threads)
        aligned = _kept(aligned, words, least if _is_given(context, "least") else 0.0)
        lexical = None
    else:
        if _is_given(context, "adapt"):
            raise TreeglotError(
                "--adapt without --model", remedy="the lexical aligner learns from the trees' words anyway"
            )
        if lex is not None:
            if dictionary is not None:
                raise TreeglotError(
                    "--dictionary with --lex", remedy="a dictionary helps to learn tables; give one of them"
                )
            table = WordTable.read_prefix(lex)
        else:
            entries = None if dictionary is None else Dictionary.read(dictionary)
            pairs.read_twice()
            texts: tuple[list[str], list[str]] = ([], [])
            for both in track(pairs, "reading words"):
                for text, side in zip(texts, both, strict=True):
                    text.append(" ".join(form.replace(" ", "_") for form in side.tokens.forms))
            if entries is not None:
                for text, more in zip(texts, entries.lines(*texts), strict=True):
                    text += more
            table = WordTable.train(*texts, threads=threads)
        lexical = LexicalTreeAligner(table, method=method, floor=floor, words=words, least=least, threads=threads)
        aligned = lexical.align(pairs, source_tree=source_tree, target_tree=target_tree)  # type: ignore[arg-type]
    count = write_aligned(
        track(pairs.restore_ids(aligned), "aligning"),
        out,
        write_as,
        dialect.value,
    )
    if lexical is not None and lexical.too_large:
        say(f"treeglot: {lexical.too_large:,} pairs are too large and have no links")
    if not is_quiet():
        say(f"treeglot: {count.pairs:,} pairs, {count.nodes:,} node links, {count.words:,} word links")
        if model is not None and words and pairs.word_links:
            say(f"treeglot: the word links are those of {source}")


def _prepared(
    model: SubtreeAligner,
    pairs: TreePairs,
    path: Path,
    kinds: Sequence[TreeKind],
    adapt: bool,
    asked: bool,
    threads: int,
) -> SubtreeAligner:
    """The model with the words of the pairs; warns of what it will not find in the first of them."""
    if adapt and not asked and model.words.text is None:
        say(f"treeglot: {path} was saved without its text, so it learns no words of these trees")
        adapt = False
    if adapt:
        model = model.adapted(track(pairs, "learning words"), threads=threads)
    words = labels = Known()
    links = 0
    for item in islice(pairs.with_word_links(), LOOKED_AT):
        links += isinstance(item, AlignedPair) and bool(item.word_links)
        sides = (item.source, item.target) if isinstance(item, AlignedPair) else item
        words += model.words.known(*(side.tokens.forms for side in sides))
        labels += model.known_labels(*(with_tree(side, kind) for side, kind in zip(sides, kinds, strict=True)))
    if words.share < FEW_KNOWN:
        advice = "let it learn them (without --no-adapt)" if not adapt else "it is for other languages or other text"
        say(f"treeglot: {path} knows {words.share:.0%} of these words only: {advice}")
    if labels.share < FEW_KNOWN:
        advice = "it was trained on other treebanks; one with --universal-labels goes further"
        say(f"treeglot: {path} knows {labels.share:.0%} of these trees' labels only: {advice}")
    if model.given_links and not links:
        say(
            f"treeglot: {path} was trained with the word links of its pairs (--given-word-links), but these have none: its "
            "own word aligner stands in, with fewer right links; align the words first, or train without"
        )
        model = replace(model, given_links=False)
    return model


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _kept(pairs: Iterable[AlignedPair], words: bool, least: float) -> Iterator[AlignedPair]:
    """The links of a model without those that the options rule out."""
    if not 0 <= least <= 1:
        raise TreeglotError(f"a least confidence of {least}", remedy="give a number from 0 to 1")
    for pair in pairs:
        nodes = [link for link in pair.node_links if link.score is None or link.score >= least]
        yield AlignedPair(pair.source, pair.target, pair.word_links if words else (), nodes, pair.id)
