"""``treeglot trees links-from-words``: links between the nodes of trees, by trusted links between their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from treeglot.alignment.subtrees.from_words import with_links_from_words
from treeglot.cli.subtree_files import (
    OUTPUTS,
    Anywhere,
    Lenient,
    SourceBank,
    TargetBank,
    TreeAlignerFiles,
    TreePairs,
    check_not_empty,
    output_format,
    places,
    write_aligned,
)
from treeglot.errors import TreeglotError
from treeglot.files import check_places
from treeglot.progress import is_quiet, say, track
from treeglot.trees.formats import check_format, guess_format, links_in_step
from treeglot.trees.sentence import AlignedPair


def add_commands(app: typer.Typer) -> None:
    """Hook the command into ``treeglot trees``."""
    app.command("links-from-words")(links_from_words)


def links_from_words(
    source: Annotated[Path, typer.Argument(help="Trees (penn, tiger, jsonl ...), or a file of aligned pairs.")],
    target: Annotated[
        Path | None, typer.Argument(help="The trees of the translations, in the same order. Not with aligned pairs.")
    ] = None,
    align: Annotated[
        Path | None,
        typer.Option(help="Word links: Pharaoh, GIZA or NAACL; possible ones end in -P. Default: those of the pairs."),
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The aligned treebank; - is standard output.")] = "-",
    format: Annotated[
        str | None, typer.Option("--format", help=f"One of {', '.join(OUTPUTS)}; by the ending of --out, else jsonl.")
    ] = None,
    from_format: Annotated[str | None, typer.Option("--from", "-f", help="Format of SOURCE.")] = None,
    target_format: Annotated[str | None, typer.Option("--target-from", help="Format of TARGET.")] = None,
    align_format: Annotated[
        str | None, typer.Option("--align-from", help="Format of --align; by its ending, else pharaoh.")
    ] = None,
    bank_source: SourceBank = None,
    bank_target: TargetBank = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
) -> None:
    """Link the phrases of two treebanks by trusted word links: what `trees train-aligner` can learn from.

    Phrases are linked when their words are linked with each other and with no others; where possible word links contradict, the
    link is fuzzy.
    """
    write_as = output_format(out, format)
    check_places(places(out, write_as), (source, target, align, bank_source, bank_target))
    files = TreeAlignerFiles(bank_source, bank_target, lenient, anywhere)
    pairs = TreePairs(source, target, from_format, target_format, files=files)
    if align is not None:
        check_not_empty(align)
    elif not pairs.is_pairs:
        raise TreeglotError("no word links", path=source, remedy="name a file of them with --align")
    if align_format is not None:
        check_format(align_format)
    elif align is not None:
        try:
            align_format = guess_format(align, reading=True)
        except TreeglotError:  # an ending that says nothing
            align_format = "pharaoh"
    linked = with_links_from_words(_with_word_links(pairs, align, align_format))
    count = write_aligned(track(pairs.restore_ids(linked), "linking"), out, write_as)
    if not is_quiet():
        say(f"treeglot: {count.pairs:,} pairs, {count.words:,} word links, {count.nodes:,} node links")


def _with_word_links(pairs: TreePairs, align: Path | None, format: str | None) -> Iterator[AlignedPair]:
    if align is None:
        for item in pairs.with_word_links():
            assert isinstance(item, AlignedPair)
            yield item
        return
    both = links_in_step(
        align, format or "pharaoh", (pairs.source, pairs), remedy="give the word links of these sentence pairs"
    )
    for number, (links, sides) in enumerate(both, start=1):
        try:
            yield AlignedPair(sides[0], sides[1], links.links)
        except TreeglotError as error:
            raise error.at(align, number) from None
