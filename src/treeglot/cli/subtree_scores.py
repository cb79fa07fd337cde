"""``treeglot trees evaluate``: score links between the nodes of trees, and compare two alignments pair by pair."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.cli.subtree_files import (
    NO_FILES,
    Anywhere,
    Lenient,
    SourceBank,
    TargetBank,
    TreeAlignerFiles,
    check_not_empty,
    is_node_file,
)
from treeglot.errors import InputError, TreeglotError
from treeglot.evaluation.subtrees import GoldNodes, NodeScore, lingua_align_score, score_node_links
from treeglot.progress import say, track
from treeglot.trees.display import Comparison
from treeglot.trees.formats import guess_format
from treeglot.trees.nodelinks import all_links, with_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence


def add_commands(app: typer.Typer) -> None:
    """Hook the command into ``treeglot trees``."""
    app.command()(evaluate)


class Style(Enum):
    treeglot = "treeglot"
    lingua_align = "lingua-align"


def evaluate(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Hand-made links: TreeAligner XML or JSON lines.")],
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Links to score: the same formats, or .nodes.")],
    style: Annotated[
        Style, typer.Option(help="lingua-align: the figures of the script published with TBLign.")
    ] = Style.treeglot,
    source: SourceBank = None,
    target: TargetBank = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Precision, recall and F1 of node links: internal nodes and all nodes, good links, and good and fuzzy ones alike.

    Both files hold the same pairs in the same order, or pairs with the same ids. Pairs that SYSTEM lacks have no links in it.
    """
    check_not_empty(gold)
    references: list[GoldNodes] = []
    answers: list[GoldNodes] = []
    names: list[tuple[str, str]] = []
    files = TreeAlignerFiles(source, target, lenient, anywhere)
    for item in track(compared(gold, guess_format(gold, reading=True), system, files), "scoring"):
        references.append(_nodes(item.gold))
        answers.append(_nodes(item.system))
        names.append((item.gold.source.id, item.gold.target.id))
    if not references:
        raise InputError("no pairs to score", path=gold, line=1, remedy="give pairs with hand-made links")
    if not any(min(pair) >= 0 for reference in references for pair in reference.good | reference.fuzzy):
        say(f"treeglot: {gold}: no links between phrases, so their scores mean nothing")
    if style is Style.lingua_align:
        figures = lingua_align_score(answers, references, names)
        print(json.dumps(figures._asdict(), indent=2) if as_json else figures)
        return
    links = [answer.good | answer.fuzzy for answer in answers]
    rows: dict[str, NodeScore] = {
        f"{where}, {what}": score_node_links(links, references, fuzzy=fuzzy, internal=internal)
        for where, internal in (("phrases", True), ("all nodes", False))
        for what, fuzzy in (("good links", False), ("good + fuzzy links", True))
    }
    if as_json:
        print(json.dumps({name: _record(score) for name, score in rows.items()}, indent=2))
        return
    width = max(map(len, rows))
    for name, score in rows.items():
        print(
            f"{name:{width}}  {score}  ({score.right:,} of {score.found:,} right, {score.recalled:,} of {score.gold:,})"
        )


def _nodes(pair: AlignedPair) -> GoldNodes:
    links = all_links(pair)
    return GoldNodes(*([link[:2] for link in links if link.kind == kind] for kind in ("good", "fuzzy")))


def _record(score: NodeScore) -> dict[str, Any]:
    return {**score._asdict(), "precision": score.precision, "recall": score.recall, "f1": score.f1}


def compared(gold: Path, format: str, system: Path, files: TreeAlignerFiles = NO_FILES) -> Iterator[Comparison]:
    """The pairs of a hand-made file with the links of a system: in the same order, or by their ids. Pairs that the system does
    not have are compared with none of its links, and a message says how many."""
    kind, items = files.open(gold, format)
    if kind != "pairs":
        raise TreeglotError("holds no aligned pairs", path=gold, remedy="give TreeAligner XML or JSON lines of pairs")
    references = list(items)
    system_pairs: list[AlignedPair]
    if _is_nodes(system):
        system_pairs = list(with_links(references, system))
    else:
        check_not_empty(system)
        system_pairs = list(files.read(system, guess_format(system, reading=True)))
    if [pair.id for pair in references] != [pair.id for pair in system_pairs]:
        by_id = {pair.id: pair for pair in system_pairs}
        known = sum(pair.id in by_id for pair in references)
        if len(by_id) == len(system_pairs) and (known == len(references) or (known and known == len(by_id))):
            system_pairs = [by_id.get(p.id, AlignedPair(p.source, p.target, (), (), p.id)) for p in references]
            if known < len(references):
                missing = f"{len(references) - known:,} of {len(references):,} pairs of {gold}"
                say(f"treeglot: {system}: {missing} are not there and count as unlinked")
        elif len(references) != len(system_pairs):
            raise TreeglotError(
                f"{len(system_pairs):,} pairs, but {gold} has {len(references):,}, and their ids are others",
                path=system,
                remedy="give links of the same pairs, in the same order or with the same ids",
            )
    for number, (reference, answer) in enumerate(zip(references, system_pairs, strict=True), start=1):
        for name, expected, given in (
            ("source", reference.source, answer.source),
            ("target", reference.target, answer.target),
        ):
            difference = _difference(expected, given)
            if difference:
                where = f"pair {number}" + (f" ({reference.id})" if reference.id else "")
                raise TreeglotError(
                    f"{where}: the {name} tree is not that of {gold}: {difference}",
                    path=system,
                    remedy="give links between the same trees",
                )
        yield Comparison(reference, answer)


def _difference(gold: ParsedSentence, system: ParsedSentence) -> str:
    """What makes two trees different, or nothing."""
    words = gold.tokens.forms, system.tokens.forms
    for j, (expected, given) in enumerate(zip(*words, strict=False), start=1):
        if expected != given:
            return f"word {j} is {given!r} instead of {expected!r}"
    if len(gold) != len(system):
        return f"{len(system):,} words instead of {len(gold):,}"
    return "the same words, but other phrases" if _children(gold) != _children(system) else ""


def _is_nodes(path: Path) -> bool:
    if is_node_file(path):
        return True
    with suppress(TreeglotError):
        return guess_format(path, reading=True) == "pharaoh"
    return False


def _children(sentence: ParsedSentence) -> Any:
    return None if sentence.constituency is None else sentence.constituency.children
