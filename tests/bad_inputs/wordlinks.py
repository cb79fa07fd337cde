"""Broken word alignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bad_inputs import BadInput
from treeglot.trees.wordlinks import WordLinks, read_giza, read_naacl, read_pharaoh

LENGTHS = [(2, 2), (2, 2)]


def case(
    name: str, content: bytes, line: int, says: str, read: Callable[[Path], Iterator[WordLinks]] | None = None
) -> BadInput:
    def default(path: Path) -> Iterator[WordLinks]:
        if name.startswith("giza"):
            return read_giza(path)
        return read_naacl(path) if name.startswith("naacl") else read_pharaoh(path, lengths=LENGTHS)

    reader = read or default
    return BadInput(f"wordlinks-{name}", {"a": content}, lambda folder: reader(folder / "a"), line, says)


HEAD = b"# Sentence pair (1) source length 1 target length 2 alignment score : 0.5\n"

CASES = [
    case("pharaoh-out-of-range", b"0-0\n0-0 1-2\n", 2, "outside of the sentences of 2 and 2 words"),
    case("pharaoh-before-first", b"1-1\n1-0\n", 2, "before the first", lambda path: read_pharaoh(path, one_based=True)),
    case("pharaoh-negative", b"0-0\n0--1\n", 2, "'0--1' is not a link"),
    case("pharaoh-not-integer", b"0-0\n0.5-1\n", 2, "'0.5-1' is not a link"),
    case("pharaoh-half-missing", b"0-0 1-\n", 1, "'1-' is not a link"),
    case("pharaoh-words", b"the dog\n", 1, "'the' is not a link"),
    case("pharaoh-twice", b"0-0 1-1 0-0\n", 1, "given twice"),
    case("pharaoh-twice-other-kind", b"0-0 0-0-P\n", 1, "given twice"),
    case("pharaoh-bad-score", b"0-0:1.2.3\n", 1, "not a number"),
    case("pharaoh-huge-number", b"0-0\n0-99999999999999999999\n", 2, "is not a link"),
    case("pharaoh-too-few-lines", b"0-0\n", 1, "only 1 lines"),
    case("pharaoh-too-many-lines", b"0-0\n\n0-0\n", 3, "more lines than"),
    case("pharaoh-nul", b"0-0\n\0\n", 2, "NUL"),
    case("pharaoh-long-line", b"0-0\n" + b"1-1 " * 250_001 + b"\n", 2, "longer than"),
    case("pharaoh-not-utf-8", b"0-0\n0-0 \xff\n", 2, "not UTF-8"),
    case("giza-no-header", b"hello\n", 1, "first line of a GIZA"),
    case("giza-truncated", HEAD + b"a b\n", 2, "ends within"),
    case("giza-truncated-early", HEAD, 1, "ends within"),
    case("giza-target-length", HEAD + b"a b c\nNULL ({ }) x ({ 1 })\n", 2, "3 target words"),
    case("giza-source-length", HEAD + b"a b\nNULL ({ }) x ({ 1 }) y ({ 2 })\n", 3, "2 source words"),
    case("giza-out-of-range", HEAD + b"a b\nNULL ({ }) x ({ 3 })\n", 3, "target position 3"),
    case("giza-position-zero", HEAD + b"a b\nNULL ({ }) x ({ 0 })\n", 3, "target position 0"),
    case("giza-not-integer", HEAD + b"a b\nNULL ({ }) x ({ one })\n", 3, "'one' is not a position"),
    case("giza-twice", HEAD + b"a b\nNULL ({ }) x ({ 1 1 })\n", 3, "given twice"),
    case("giza-unclosed", HEAD + b"a b\nNULL ({ }) x ({ 1\n", 3, "no })"),
    case("giza-no-opening", HEAD + b"a b\nNULL ({ }) x 1 })\n", 3, "no ({ after 'x'"),
    case("giza-no-null", HEAD + b"a b\nx ({ 1 })\n", 3, "does not begin with NULL"),
    case("giza-bad-score", HEAD.replace(b"0.5", b"high") + b"a b\nNULL ({ }) x ({ 1 })\n", 1, "not a number"),
    case("naacl-columns", b"1 1 1 S\n1 2\n", 2, "2 columns"),
    case("naacl-not-integer", b"1 1 1 S\n1 x 2 S\n", 2, "'x' is not a word number"),
    case("naacl-negative", b"1 -1 1 S\n", 1, "'-1' is not a word number"),
    case("naacl-kind", b"1 1 1 Q 0.5\n", 1, "neither S nor P"),
    case("naacl-null-null", b"1 0 0 P\n", 1, "NULL and NULL"),
    case("naacl-contradiction", b"1 1 1 S\n1 1 1 P\n", 2, "given twice and differently"),
]  # fmt: skip
