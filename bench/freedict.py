"""Headwords of a FreeDict dictionary as lines for ``treeglot trees train-aligner --dictionary``:

    python bench/freedict.py deu-spa.dict.dz spa-deu.dict.dz > de-es.tsv

The first file goes from source to target, further ones (any number) from target to source. FreeDict's dictd files are text: a
line with a headword and its pronunciation or word class, and below it translations, in numbered lines if there are several.
Packages are named dict-freedict-deu-spa and so on in Debian. Entries of more than three words are left out.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEADWORD = re.compile(r" /[^/]+/|<[a-z, ]+>$")
NUMBERED = re.compile(r"\s*\d+\.\s+")
REMARKS = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\d+\.")
LONGEST = 3


def entries(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of headword and translation."""
    heads: list[str] = []
    first = False
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in map(str.rstrip, file):
            numbered = NUMBERED.match(line)
            if not numbered and not first and HEADWORD.search(line):
                heads = _parts(re.sub(r"\s*(/[^/]*/|<[^>]*>)", "", line), ",")
                first = True
            elif first or numbered:
                for text in _parts(REMARKS.sub("", line), ",;"):
                    for head in heads:
                        yield head, text
                first = False


def _parts(text: str, marks: str) -> list[str]:
    parts = (part.strip(" -\u2010") for part in re.split(f"[{marks}]", text))
    return [part for part in parts if part and "\t" not in part and len(part.split()) <= LONGEST]


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    forward, *backward = map(Path, sys.argv[1:])
    pairs = set(entries(forward)) | {(target, source) for path in backward for source, target in entries(path)}
    for source, target in sorted(pairs):
        print(f"{source}\t{target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
