"""Broken CoNLL-U."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from bad_inputs import BadInput
from treeglot.trees.conllu import read_conllu
from treeglot.trees.sentence import ParsedSentence


def word(id: str, form: str = "w", head: str = "0", *, lemma: str = "_") -> str:
    return "\t".join((id, form, lemma, "_", "_", "_", head, "_" if head == "_" else "dep", "_", "_")) + "\n"


GOOD = "# sent_id = good\n" + word("1", "dogs", "2") + word("2", "bark", "0") + "\n"
"""A sentence of four lines (its blank line included) before the broken one, so that line numbers must be counted."""


def case(name: str, text: str | bytes, line: int, says: str, *, ending: str = "conllu") -> BadInput:
    content = text if isinstance(text, bytes) else text.encode()
    file = f"bad.{ending}"

    def read(folder: Path) -> Iterator[ParsedSentence]:
        return read_conllu(folder / file)

    return BadInput(f"conllu-{name}", {file: content}, read, line, says)


CASES = [
    case("nine-columns", GOOD + word("1").replace("\t_\n", "\n"), 5, "9 columns instead of 10"),
    case("twelve-columns", GOOD + word("1").replace("\n", "\t_\t_\n"), 5, "12 columns instead of 10"),
    case("plain-text", "The dogs bark .\n", 1, "1 column instead of 10"),
    case("spaces-for-tabs", GOOD + word("1").replace("\t", "  "), 5, "separated by spaces"),
    case("id-not-a-number", GOOD + word("one"), 5, "'one' is not a word number"),
    case("id-negative", GOOD + word("-1"), 5, "'-1' is not a word number"),
    case("id-with-zeros", GOOD + word("01"), 5, "'01' is not a word number"),
    case("id-huge", GOOD + word("9" * 30), 5, "is not a word number"),
    case("ids-with-a-gap", GOOD + word("1", head="3") + word("3"), 6, "the id is 3 where 2 must follow"),
    case("ids-from-zero", GOOD + word("0"), 5, "the id is 0 where 1 must follow"),
    case("id-twice", GOOD + word("1", head="2") + word("2") + word("2", head="1"), 7, "the id 2 is given twice"),
    case("no-blank-line-between", GOOD + word("1") + word("1"), 6, "word 1 again before the sentence ended"),
    case("no-blank-line-before-range", GOOD + word("1") + word("1-2", head="_"), 6, "word 1 again"),
    case("head-not-a-number", GOOD + word("1", head="root"), 5, "the head 'root' is not a word number"),
    case("head-negative", GOOD + word("1", head="-1"), 5, "the head '-1' is not a word number"),
    case("head-fraction", GOOD + word("1", head="0.5"), 5, "the head '0.5' is not a word number"),
    case("head-out-of-range", GOOD + word("1", "hi", "5") + word("2") + "\n", 5, "the head of word 1 (hi) is 5"),
    case("cycle", GOOD + word("1") + word("2", "b", "3") + word("3", "c", "2") + "\n", 6, "a cycle: 2 (b) → 3 (c)"),
    case("own-head", GOOD + word("1") + word("2", "b", "2") + "\n", 6, "a cycle: 2 (b) → 2 (b)"),
    case("no-root", GOOD + word("1", "a", "2") + word("2", "b", "1") + "\n", 5, "no root"),
    case("two-roots", GOOD + word("1", "a") + word("2", "b") + "\n", 6, "2 roots: 1 (a), 2 (b)"),
    case("some-heads-only", GOOD + word("1", "a") + word("2", "b", "_") + "\n", 6, "word 2 (b) has no head"),
    case("relation-without-head", GOOD + word("1").replace("\t0\t", "\t_\t") + "\n", 5, "a relation but no head"),
    case("range-overlap", GOOD + word("1-2", head="_") + word("1") + word("2-3", head="_"), 7, "overlaps"),
    case("range-in-range", GOOD + word("1-3", head="_") + word("1-2", head="_"), 6, "overlaps"),
    case("range-too-late", GOOD + word("1") + word("2", head="1") + word("2-3", head="_"), 7, "stands before word 3"),
    case("range-backwards", GOOD + word("2-1", head="_"), 5, "empty or backwards"),
    case("range-beyond", GOOD + word("1-3", head="_") + word("1") + "\n", 5, "goes beyond the sentence of 1 word"),
    case("range-of-nothing", GOOD + word("1-", head="_"), 5, "neither a word number nor a range"),
    case("empty-node-too-early", GOOD + word("2.1", head="_"), 5, "does not stand directly after word 2"),
    case("empty-node-misnumbered", GOOD + word("1") + word("1.2", head="_"), 6, "where 1.1 must follow"),
    case("empty-node-in-range", GOOD + word("1-2", head="_") + word("0.1", head="_"), 6, "after the line of a range"),
    case("empty-nodes-only", GOOD + word("0.1", head="_") + "\n", 6, "a sentence without words"),
    case("empty-form", GOOD + word("1", ""), 5, "column 2 (FORM) is empty"),
    case("empty-lemma", GOOD + word("1", lemma=""), 5, "column 3 (LEMMA) is empty"),
    case("comment-inside", GOOD + word("1") + "# text = w\n", 6, "a comment inside a sentence"),
    case("comments-only", GOOD + "# text = a\n# more\n\n" + GOOD, 5, "comments without a sentence"),
    case("comments-at-the-end", GOOD + "# text = a\n", 5, "comments without a sentence"),
    case("conllu-plus", "# global.columns = ID FORM PARSEME:MWE\n1\tw\t*\n\n", 1, "CoNLL-U Plus"),
    case("nul", GOOD + word("1", "a\0b"), 5, "a NUL byte"),
    case("latin1", (GOOD + word("1", "été")).encode("latin-1"), 5, "not UTF-8 (byte 0xe9)"),
    case("cut-character", (GOOD + word("1", "é")).encode()[: len(GOOD) + 3], 5, "not UTF-8"),
    case("utf16", GOOD.encode("utf-16"), 1, "UTF-16, not UTF-8"),
    case("mac-line-ends", GOOD.replace("\n", "\r"), 1, "a carriage return inside the line"),
    case("bom-inside", GOOD + "\ufeff" + GOOD, 5, "a byte-order mark inside the file"),
    case("bom-then-damage", "\ufeff" + GOOD + "x\n", 5, "1 column instead of 10"),
    case(
        "crlf-then-damage", (GOOD + word("1", head="7") + "\n").replace("\n", "\r\n"), 5, "the head of word 1 (w) is 7"
    ),
    case("long-line", GOOD + word("1", "x" * 1_000_001), 5, "longer than 1,000,000 bytes"),
    case("endless-line", b"x" * 3_000_000, 1, "longer than 1,000,000 bytes"),
    case("truncated-gzip", gzip.compress(GOOD.encode() * 2000, mtime=0)[:-20], 1, "truncated", ending="conllu.gz"),
    case("not-gzip", GOOD, 1, "damaged", ending="conllu.gz"),
    case("gzip-without-ending", gzip.compress(GOOD.encode()), 1, "packed by gzip"),
    case("xml", '<?xml version="1.0"?>\n<corpus/>\n', 1, "looks like XML"),
    case("penn", "# trees\n( (S (NP I) (VP run)) )\n", 2, "looks like Penn brackets"),
    case("json", '{"tokens": []}\n', 1, "looks like JSON"),
]
