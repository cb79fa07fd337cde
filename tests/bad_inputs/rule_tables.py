"""Damaged rule tables, and corpora that no rule table can be made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.cli.rules_extract import Inputs
from treeglot.cli.rules_tables import build_rules
from treeglot.tables.rules import FORMAT_VERSION, MAGIC, RuleTable

VERSION = FORMAT_VERSION.to_bytes(4, "little")

F, E, A = b"das haus\nein buch\n", b"the house\na book\n", b"0-0 1-1\n0-0 1-1\n"
TREES = b"1\tdas\t_\tART\t_\t_\t2\tdet\t_\t_\n2\thaus\t_\tNN\t_\t_\t0\troot\t_\t_\n\n"


def _open(folder: Path) -> Any:
    return RuleTable(folder / "t")


def _build(folder: Path) -> Any:
    inputs = Inputs(str(folder / "e"), str(folder / "a"), source=str(folder / "f"))
    return build_rules("hierarchical", inputs, folder / "t")


def _build_trees(folder: Path) -> Any:
    inputs = Inputs(str(folder / "e"), str(folder / "a"), conllu=str(folder / "f"))
    return build_rules("dep2str", inputs, folder / "t")


CASES = [
    BadInput("rule-table-text", {"t": b"x1:X ||| x1 ||| 1 1 1 1\n" * 30}, _open, 1, "not a treeglot rule table"),
    BadInput("rule-table-empty", {"t": b""}, _open, 1, "not a treeglot rule table"),
    BadInput("rule-table-phrases", {"t": b"TGPT\r\n\x1a\0" + b"\0" * 600}, _open, 1, "not a treeglot rule table"),
    BadInput("rule-table-cut-header", {"t": MAGIC + VERSION}, _open, 1, "truncated"),
    BadInput("rule-table-version", {"t": MAGIC + b"\xff" * 600}, _open, 1, "another version"),
    BadInput("rule-table-header", {"t": MAGIC + VERSION + b"\xff" * 600}, _open, 1, "damaged header"),
    BadInput("rule-table-short-target", {"f": F, "e": b"the house\n", "a": A}, _build, 2, "ends after 1", "e"),
    BadInput("rule-table-short-links", {"f": F, "e": E, "a": b"0-0\n"}, _build, 2, "ends after 1", "a"),
    BadInput("rule-table-link", {"f": TREES, "e": E[:10], "a": b"0-0 7-0\n"}, _build_trees, 1, "outside", "a"),
]
