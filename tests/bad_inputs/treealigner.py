"""Broken TreeAligner XML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bad_inputs import BadInput
from treeglot.trees import AlignedPair
from treeglot.trees.treealigner import read_aligned_pairs

BANKS = '<treebank id="1" filename="s.xml"/>\n<treebank id="2" filename="t.xml"/>'
TREES = b'<corpus><s id="s1"><graph><t id="s1_1" word="a"/></graph></s></corpus>'
TWICE = TREES.replace(b"</corpus>", b'<s id="s2"><graph><t id="s1_1" word="a"/></graph></s></corpus>')


def align(source: str = "1|s1_1", target: str = "2|s1_1", attributes: str = 'type="good"') -> str:
    nodes = ""
    for node in (source, target):
        bank, _, name = node.partition("|")
        nodes += f'\n<node treebank_id="{bank}" node_id="{name}"/>'
    return f"<align {attributes}>{nodes}\n</align>\n"


def document(links: str, banks: str = BANKS) -> bytes:
    """``links`` begin in line 4."""
    return f"<treealign><head><treebanks>\n{banks}</treebanks></head><alignments>\n{links}</alignments></treealign>".encode()


def read(folder: Path) -> Iterator[AlignedPair]:
    return read_aligned_pairs(folder / "a.xml")


def case(name: str, content: bytes, line: int, says: str, source: bytes = TREES, blamed: str = "") -> BadInput:
    return BadInput(
        f"treealigner-{name}", {"a.xml": content, "s.xml": source, "t.xml": TREES}, read, line, says, blamed
    )


CASES = [
    case("wrong-root-element", b"<corpus/>", 1, "<corpus>, not <treealign>"),
    case("truncated", document(align())[:150], 4, "ends too early"),
    case("entity-bomb", b'<!DOCTYPE treealign [<!ENTITY a "b">\n]>' + document(align()), 1, "is declared"),
    case("duplicate-link", document(align() + align()), 8, "linked twice"),
    case("duplicate-link-other-type", document(align() + align(attributes='type="fuzzy"')), 8, "linked twice"),
    case("dangling-source", document(align() + align("1|s1_9")), 8, "no node 's1_9' in the treebank '1'"),
    case("dangling-target", document(align(target="2|s7_1")), 4, "no node 's7_1' in the treebank '2'"),
    case("dangling-sentence", document("<sen-align" + align("1|x_VROOT").removeprefix("<align").replace("</a", "</sen-a")), 4, "no node 'x_VROOT'"),
    case("unknown-treebank", document(align("7|s1_1")), 5, "no treebank '7'"),
    case("within-one-treebank", document(align(target="1|s1_1")), 4, "within the treebank '1'"),
    case("unknown-type", document(align(attributes='type="bad"')), 4, "the link type 'bad'"),
    case("type-missing", document(align(attributes="")), 4, "<align> without type"),
    case("prob-not-a-number", document(align(attributes='type="good" prob="high"')), 4, "not a number"),
    case("one-node", document('<align type="good"><node treebank_id="1" node_id="s1_1"/></align>'), 4, "has 1 nodes"),
    case("node-id-missing", document('<align type="good">\n<node treebank_id="1"/></align>'), 5, "<node> without node_id"),
    case("one-treebank", document("", BANKS.split("\n")[0]), 1, "1 treebanks"),
    case("three-treebanks", document("", BANKS + '\n<treebank id="3" filename="u.xml"/>'), 4, "3 treebanks"),
    case("same-treebank-id", document("", BANKS.replace('"2"', '"1"')), 3, "a second treebank '1'"),
    case("treebank-file-missing", document("", BANKS.replace("t.xml", "u.xml")), 3, "no file 'u.xml'"),
    case("strange-element", document("<link/>"), 4, "<link> is not expected"),
    case("to-empty-unknown", document('<to-empty empty-in="1" tb-id="9" root-id="x"/>'), 4, "no treebank '9'"),
    case("broken-treebank", document(align()), 1, "<t> without word", TREES.replace(b"word", b"form"), "s.xml"),
    case("node-id-in-two-sentences", document(align()), 2, "both have a node 's1_1'", TWICE),
]  # fmt: skip
