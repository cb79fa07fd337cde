"""Two files of plain text, line n of one translating line n of the other.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> write_plain([TextPair("a house", "une maison")], folder / "x.en", folder / "x.fr.gz")
1
>>> list(read_plain(folder / "x.en", folder / "x.fr.gz"))
[TextPair(source='a house', target='une maison')]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from treeglot.bitext.pair import TextPair, one_line, refuse_surrogates
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path


def read_plain(source: type_path, target: type_path) -> Iterator[TextPair]:
    """Stream the pairs of two parallel files; a file that ends before the other is an `InputError` that names it."""
    for line, first, second in parallel_lines(source, target):
        yield TextPair(first, second, "", line)


def parallel_lines(source: type_path, target: type_path) -> Iterator[tuple[int, str, str]]:
    """The lines of two files side by side: (number, line of ``source``, line of ``target``)."""
    if os.fspath(source) == "-" and os.fspath(target) == "-":
        raise TreeglotError("both sides cannot come from standard input", remedy="name a file for one of them")
    targets = read_lines(target)
    line = 0
    for line, first in read_lines(source):
        second = next(targets, None)
        if second is None:
            raise _ends_early(target, source, line)
        yield line, first, second[1]
    if next(targets, None) is not None:
        raise _ends_early(source, target, line + 1)


def _ends_early(shorter: type_path, longer: type_path, line: int) -> InputError:
    return InputError(
        f"the file ends after {line - 1:,} lines, but {os.fspath(longer)} goes on: line {line:,} has no translation",
        path=shorter,
        line=line,
        remedy="check that both files are complete and that no line was split, joined or filtered on one side only",
    )


def write_plain(pairs: Iterable[TextPair], source: type_path, target: type_path) -> int:
    """Write two parallel files, line breaks inside a segment as spaces; returns the number of pairs."""
    return write_parallel(pairs, source, target, one_line)


def write_parallel(
    pairs: Iterable[TextPair], source: type_path, target: type_path, encode: Callable[[str], str]
) -> int:
    """Both files appear together when all is written, or neither does."""
    if os.fspath(source) == os.fspath(target):
        raise TreeglotError("both sides would go to one file", path=source, remedy="name two files")
    count = 0
    with refuse_surrogates(source), atomic_write(source) as first, atomic_write(target) as second:
        for pair in pairs:
            first.write(encode(pair.source) + "\n")
            second.write(encode(pair.target) + "\n")
            count += 1
    return count
