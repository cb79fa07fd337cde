"""Tab-separated text: one pair a line, the two texts in columns of your choice.

The files of manythings.org (Tatoeba) have the English in column 1, the other language in 2 and the attribution in 3.
There is no quoting: a tab always separates.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "cmn.txt"
>>> _ = path.write_text("Hi.\\t嗨。\\tCC-BY #538123\\n", encoding="utf-8")
>>> for pair in read_tsv(path, columns=(2, 1), names={3: "attribution"}):
...     print(pair)
TextPair(source='嗨。', target='Hi.', metadata={'attribution': 'CC-BY #538123'})
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from treeglot.bitext.pair import TextPair, one_line, refuse_surrogates
from treeglot.errors import ConfigError, InputError
from treeglot.files import atomic_write, read_lines, type_path

_TABS = re.compile(r"\t+")


def read_tsv(
    path: type_path,
    *,
    columns: tuple[int, int] = (1, 2),
    id_column: int | None = None,
    names: Mapping[int, str] | None = None,
    header: bool = False,
) -> Iterator[TextPair]:
    """Stream the pairs of a tab-separated file.

    ``columns`` are the places (from 1) of source and target. Columns in ``names`` go to the metadata under that name,
    all others are left out; ``header=True`` takes the first line for names of columns. Empty lines are an error, as any
    line is that has too few columns.
    """
    source, target = columns
    names = dict(names or {})
    wanted = [source, target, *([] if id_column is None else [id_column]), *names]
    if min(wanted) < 1 or source == target:
        raise ConfigError(f"impossible columns {wanted}", path=path, remedy="columns count from 1 and must differ")
    needed = max(source, target, id_column or 0)
    for line, text in read_lines(path):
        cells = text.split("\t")
        if header and line == 1:
            taken = {source, target, id_column}
            named = {place: name for place, name in enumerate(cells, 1) if place not in taken and name}
            names = named | names
            continue
        if len(cells) < needed:
            raise InputError(
                f"{len(cells)} column{'s' if len(cells) > 1 else ''}, but column {needed} is wanted",
                path=path,
                line=line,
                remedy="separate columns by one tab, or choose other columns",
            )
        yield TextPair(
            cells[source - 1],
            cells[target - 1],
            cells[id_column - 1] if id_column else "",
            line,
            tuple((name, cells[place - 1]) for place, name in names.items() if place <= len(cells)) if names else (),
        )


def write_tsv(pairs: Iterable[TextPair], path: type_path, *, extra: Sequence[str] = ()) -> int:
    """Write source, target and the metadata named in ``extra`` as columns; tabs and line breaks become spaces."""
    count = 0
    with refuse_surrogates(path), atomic_write(path) as out:
        for pair in pairs:
            cells = [pair.source, pair.target, *(pair.get(name) for name in extra)]
            out.write("\t".join(_TABS.sub(" ", one_line(cell)) for cell in cells) + "\n")
            count += 1
    return count
