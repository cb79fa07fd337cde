"""Rule tables: count phrase pairs (`build_phrase_table`), keep them in a memory-mapped file (`PhraseTable`), exchange them
with Moses (`export_moses`, `import_moses`), and the word translation tables behind their scores (`LexicalTable`)."""

from treeglot.tables.build import TableReport, build_phrase_table, write_phrase_counts
from treeglot.tables.corpus import AlignedCorpus, parse_memory, read_corpus
from treeglot.tables.lexical import LexicalTable
from treeglot.tables.moses import ImportReport, export_moses, import_moses
from treeglot.tables.table import PhraseTable, TableEntry, TableStatistics

__all__ = [
    "AlignedCorpus",
    "ImportReport",
    "LexicalTable",
    "PhraseTable",
    "TableEntry",
    "TableReport",
    "TableStatistics",
    "build_phrase_table",
    "export_moses",
    "import_moses",
    "parse_memory",
    "read_corpus",
    "write_phrase_counts",
]
