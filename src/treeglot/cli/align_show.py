"""``treeglot align show``: where two aligners disagree, in the terminal or as a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from treeglot import alignment
from treeglot.alignment.disagreement_page import WORDS, disagreement_page, whose
from treeglot.alignment.disagreements import (
    Disagreement,
    Summary,
    by_disagreement,
    disagreement_text,
    summarize,
)
from treeglot.alignment.symmetrize import parse_links
from treeglot.cli.align_gold import FormatOption, OneBasedOption, read_gold
from treeglot.errors import InputError, TreeglotError
from treeglot.evaluation.alignment import Gold
from treeglot.files import atomic_write, check_places, read_lines
from treeglot.trees.display.widths import columns, pad, visible
from treeglot.words import split_words

PAGE, TERMINAL = 200, 5


def show(
    source: Annotated[Path, typer.Argument(help="Tokenised text, a sentence a line.")],
    target: Annotated[Path, typer.Argument(help="Its translation, line by line.")],
    first: Annotated[Path, typer.Argument(metavar="A", help="Links of one aligner (Pharaoh).")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Links of the other.")],
    gold: Annotated[
        Path | None, typer.Option("--gold", help="Hand-made links: only pairs that have them are compared.")
    ] = None,
    form: FormatOption = "pharaoh",
    one_based: OneBasedOption = False,
    names: Annotated[str, typer.Option("--names", help="What the two are called, such as own,eflomal.")] = "A,B",
    html: Annotated[Path | None, typer.Option("--html", help="Write a page instead of text.")] = None,
    sort: Annotated[
        Literal["count", "share", "text"],
        typer.Option(
            "--sort", help="Pairs with most links of one alone first, by number or by share; or the text's order."
        ),
    ] = "count",
    sentence: Annotated[int | None, typer.Option("--sentence", help="Only this pair, counted from 1.", min=1)] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", help=f"Pairs to show; 0: all. Default: {PAGE} on a page, {TERMINAL} as text.", min=0),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the sums as JSON.")] = False,
) -> None:
    """Show the links on which two aligners disagree, the pairs with most disagreement first.

    In the matrices A and B are links of one alone, ■ of both; with --gold wrong ones are a, b and □, and ○ are sure ones that
    neither has.
    """
    called = names.split(",")
    if len(called) != 2 or not all(name.strip() for name in called):
        raise TreeglotError(f"--names {names}", remedy="write two names with a comma between them")
    both = called[0].strip(), called[1].strip()
    inputs = [source, target, first, second, *([gold] if gold else [])]
    check_places([html], inputs)
    pairs = _read(source, target, first, second, None if gold is None else read_gold(gold, form, one_based), gold)
    summary = summarize(pairs)
    if as_json:
        print(json.dumps(_values(summary, both), ensure_ascii=False))
        return
    chosen = by_disagreement(pairs, sort)
    if sentence is not None:
        chosen = [pair for pair in chosen if pair.number == sentence - 1]
        if not chosen:
            raise TreeglotError(f"no pair {sentence} to compare", path=gold or source, remedy="name another one")
    most = (PAGE if html else TERMINAL) if limit is None else limit
    shown = chosen[: most or None]
    if html is not None:
        title = f"{both[0]} and {both[1]}: links of {source.name} and {target.name}"
        with atomic_write(html) as file:
            file.write(disagreement_page(shown, pairs, names=both, title=title))
        return
    color = sys.stdout.isatty()
    width = Console().width if color else None
    text = _summary_text(summary, both) if sentence is None else []
    for pair in shown:
        text += ["", f"pair {pair.number + 1}: {disagreement_text(pair, color=color, width=width)}"]
    print("\n".join(text).removeprefix("\n"))


def _read(
    source: Path, target: Path, first: Path, second: Path, gold: dict[int, Gold] | None, gold_path: Path | None
) -> list[Disagreement]:
    sides = [[line for _, line in read_lines(path)] for path in (source, target)]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{len(sides[1]):,} lines, but {source} has {len(sides[0]):,}",
            path=target,
            line=max(1, min(map(len, sides))),
            remedy="give the two sides of the same sentence pairs",
        )
    links = [
        [set(parse_links(line)) for line in alignment.read_alignment(path, source=sides[0], target=sides[1])]
        for path in (first, second)
    ]
    pairs = []
    for number in range(len(sides[0])) if gold is None else sorted(gold):
        if number >= len(sides[0]):
            raise InputError(
                f"links of pair {number + 1:,}, but there are {len(sides[0]):,} pairs",
                path=gold_path,
                line=number + 1,
                remedy="give the links of these sentence pairs",
            )
        words = [split_words(side[number]) for side in sides]
        pair = Disagreement(number, words[0], words[1], links[0][number], links[1][number])
        if gold is not None:
            by_hand = gold[number]
            for s, t in by_hand.possible:
                if s >= len(words[0]) or t >= len(words[1]):
                    raise InputError(
                        f"the link {s}-{t} is outside of the sentences of {len(words[0])} and {len(words[1])} words",
                        path=gold_path,
                        line=number + 1,
                        remedy="give the links of these sentence pairs; see --one-based",
                    )
            pair = Disagreement(
                number, words[0], words[1], links[0][number], links[1][number], by_hand.sure, by_hand.possible
            )
        pairs.append(pair)
    return pairs


def _summary_text(summary: Summary, names: tuple[str, str]) -> list[str]:
    lines = [
        f"{summary.pairs:,} pairs, {summary.same:,} with the same links; agreement (F1) {100 * summary.agreement:.1f} %"
    ]
    judged = summary.aer is not None
    if summary.aer is not None:
        lines[0] += ", AER " + ", ".join(f"{n} {100 * rate:.2f}" for n, rate in zip(names, summary.aer, strict=True))
    called = whose(names)
    wide = max(map(columns, called.values()))
    for who, name in called.items():
        links, right = summary.links[who], summary.right[who]
        if who == "neither":
            if judged:
                lines.append(f"  {pad(name, wide)} {links:8,} sure links by hand")
            continue
        more = f", {right:,} right ({100 * right / links if links else 0:.1f} %)" if judged else ""
        lines.append(f"  {pad(name, wide)} {links:8,} links{more}")
    for source, target, one, two, one_right, two_right in summary.words[:10]:
        counts = [
            f"{name} {n}" + (f" ({good} right)" if judged else "")
            for name, n, good in zip(names, (one, two), (one_right, two_right), strict=True)
        ]
        lines.append(f"  {visible(source)} – {visible(target)}: {', '.join(counts)}")
    return lines


def _values(summary: Summary, names: tuple[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "names": names,
        "pairs": summary.pairs,
        "same": summary.same,
        "agreement": summary.agreement,
        "links": summary.links,
        "words": [list(row) for row in summary.words[:WORDS]],
    }
    if summary.aer is not None:
        values |= {"right": summary.right, "sure": summary.sure, "aer": summary.aer}
    return values
