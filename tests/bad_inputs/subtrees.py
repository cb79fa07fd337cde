"""Damaged files of sub-tree alignment: node links, word tables, spans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bad_inputs import BadInput
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.tables import build_phrase_table
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.nodelinks import read_node_links, with_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence


def _read(folder: Path) -> Any:
    return list(read_node_links(folder / "x.nodes"))


def _attach(folder: Path) -> Any:
    sentence = ParsedSentence.of(None, ConstituencyTree.build(["a", "b"], ("S", 0, 1)))
    return list(with_links([AlignedPair(sentence, sentence)] * 2, folder / "x.nodes"))


def _table(folder: Path) -> Any:
    return WordTable.read_prefix(str(folder))


def _build(folder: Path) -> Any:
    return build_phrase_table(folder / "t", folder / "t", folder / "a", folder / "out", spans=[folder / "x.spans"])


def _nodes(name: str, text: bytes, says: str, line: int = 2, read: Any = _read) -> BadInput:
    return BadInput(f"subtrees-{name}", {"x.nodes": text}, read, line, says)


def _lex(name: str, text: bytes, says: str) -> BadInput:
    return BadInput(
        f"subtrees-{name}", {"lex.f2e": b"a b 0.5\n", "lex.e2f": b"b a 0.5\n" + text}, _table, 2, says, "lex.e2f"
    )


def _spans(name: str, text: bytes, says: str, line: int = 2) -> BadInput:
    files = {"x.spans": text, "t": b"a b\nc\n", "a": b"0-0\n0-0\n"}
    return BadInput(f"subtrees-{name}", files, _build, line, says)


CASES = [
    _nodes("not-a-link", b"0-0\n0:0\n", "is not a link of nodes"),
    _nodes("no-number", b"0-0\nw-1\n", "is not a link of nodes"),
    _nodes("huge-number", b"0-0\n0-99999999999\n", "is not a link of nodes"),
    _nodes("score", b"0-0\n0-0:..\n", "is not a number"),
    _nodes("infinite-score", b"0-0\n0-0:1e999\n", "is not a number"),
    _nodes("twice", b"0-0\n1-1 1-1:0.5\n", "is given twice"),
    _nodes("not-utf8", b"0-0\n\xff\n", "UTF-8"),
    _nodes("no-such-phrase", b"0-0\n0-1\n", "the target has no node 1", read=_attach),
    _nodes("no-such-word", b"0-0\nw2-0\n", "the source has no node -3", read=_attach),
    _nodes("too-few", b"0-0\n", "more pairs of sentences", 1, _attach),
    _nodes("too-many", b"0-0\n0-0\n0-0\n", "more lines than the 2 pairs", 3, _attach),
    _lex("table-columns", b"b 0.5\n", "not of the form"),
    _lex("table-number", b"b a much\n", "not of the form"),
    _lex("table-nan", b"b a nan\n", "is not a probability"),
    _lex("table-above-one", b"b a 1.5\n", "is not a probability"),
    _spans("span-form", b"0-1:0-1\n0-1\n", "is not a pair of spans"),
    _spans("span-outside", b"0-1:0-1\n0-2:0-1\n", "outside of the sentences of 1 and 1 words"),
    _spans("span-empty", b"0-0:0-1\n\n", "outside of the sentences", 1),
    _spans("span-lines", b"0-1:0-1\n", "there are 2 sentence pairs", 1),
    _spans("span-more-lines", b"\n\n\n", "more lines than sentence pairs", 3),
]
