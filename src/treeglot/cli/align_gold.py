"""Hand-made word links for the commands of ``treeglot align``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeglot.errors import InputError, TreeglotError
from treeglot.evaluation.alignment import Gold
from treeglot.trees.wordlinks import WordLinks, read_naacl, read_pharaoh

FormatOption = Annotated[
    str, typer.Option("--format", help="Of hand-made links: pharaoh (3-4, possible 3-4-P) or naacl (12 4 5 P).")
]
OneBasedOption = Annotated[bool, typer.Option("--one-based", help="Pharaoh links made by hand count from 1.")]


def read_gold(path: Path, form: str, one_based: bool) -> dict[int, Gold]:
    """Links by the number of their pair, from 0; in naacl files that is the number of its line."""
    pairs: dict[int, WordLinks] = {}
    if form == "pharaoh":
        pairs = dict(enumerate(read_pharaoh(path, one_based=one_based)))
    elif form == "naacl":
        for pair in read_naacl(path):
            if not pair.id.isdecimal() or int(pair.id) < 1:
                remedy = "number the pairs from 1"
                raise InputError(f"pair {pair.id[:40]!r} is not a line number", path=path, line=1, remedy=remedy)
            pairs[int(pair.id) - 1] = pair
    else:
        raise TreeglotError(f"no format {form!r} of hand-made links", remedy="choose pharaoh or naacl")
    if not any(pair.links for pair in pairs.values()):
        raise InputError("no links to score against", path=path, line=1, remedy="give hand-made links")
    return {number: _gold(pair) for number, pair in pairs.items()}


def _gold(pair: WordLinks) -> Gold:
    kinds: dict[str, list[tuple[int, int]]] = {"good": [], "fuzzy": []}
    for link in pair.links:
        kinds[link.kind].append((link.source, link.target))
    return Gold(kinds["good"], kinds["fuzzy"])
