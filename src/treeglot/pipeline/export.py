"""Handing a project over to Moses: the same data, tables, model and weights in Moses' own formats.

The folder gets the prepared corpus, the word alignment, the lexical tables, the ARPA model, phrase and reordering table as text, and
a ``moses.ini`` whose features have the meaning of ours, so that both decoders can be run on exactly the same.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from treeglot.alignment.symmetrize import symal_name
from treeglot.errors import TreeglotError
from treeglot.files import atomic_write
from treeglot.pipeline.project import Project
from treeglot.search.weights import format_moses_weights
from treeglot.tables import PhraseTable
from treeglot.tables import export_moses as export_tables

MOSES_INI = """\
# Written by treeglot; paths are absolute, so move it with care.

[input-factors]
0

[mapping]
0 T 0

[distortion-limit]
{distortion_limit}

[cube-pruning-pop-limit]
{pop_limit}

[search-algorithm]
1

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path={folder}/phrase-table.gz input-factor=0 output-factor=0 table-limit={table_limit}
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff input-factor=0 output-factor=0 path={folder}/reordering-table.wbe-msd-bidirectional-fe.gz
Distortion
KENLM name=LM0 factor=0 path={folder}/lm.arpa.gz order={order}

{weights}"""


def export_moses(project: Project, folder: Path, system: str) -> list[Path]:
    """Write everything that Moses needs to ``folder`` and return the files."""
    if not project.system(system).is_phrase_based:
        raise TreeglotError(
            f"the system {system!r} is not phrase-based", remedy="only phrase-based systems can be handed over to Moses"
        )
    for path in (project.table, project.arpa, project.links):
        if not path.exists():
            raise TreeglotError("not trained yet", path=path, remedy="run `treeglot train` first")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def copy(path: Path, name: str) -> None:
        temporary = folder / f".{name}.part"
        shutil.copyfile(path, temporary)
        written.append(temporary.replace(folder / name))

    for part in project.parts:
        for path in project.corpus(part):
            if path.exists():
                copy(path, path.name)
    copy(project.links, f"aligned.{symal_name(project.config.alignment.heuristic)}")
    copy(project.arpa, "lm.arpa.gz")
    written += export_tables(PhraseTable(project.table), folder)
    search = project.config.search
    with atomic_write(folder / "moses.ini") as file:
        file.write(
            MOSES_INI.format(
                folder=folder.resolve(),
                order=project.config.lm.order,
                weights=format_moses_weights(project.weights(system)),
                distortion_limit=search.distortion_limit,
                pop_limit=search.pop_limit,
                table_limit=search.table_limit,
            )
        )
    return [*written, folder / "moses.ini"]
