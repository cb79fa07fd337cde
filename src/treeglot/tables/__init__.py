"""Rule tables: count phrase pairs (`build_phrase_table`), keep them in a memory-mapped file (`PhraseTable`), exchange them
with Moses (`export_moses`, `export_moses_rules`, `import_moses`), and the word translation tables behind their scores (`LexicalTable`); the same for
the rules of tree-to-string grammars (`build_rule_table`, `RuleTable`)."""

from treeglot.tables.build import TableReport, build_parsed_phrase_table, build_phrase_table, write_phrase_counts
from treeglot.tables.corpus import AlignedCorpus, parse_memory, read_corpus
from treeglot.tables.lexical import LexicalTable
from treeglot.tables.moses import ImportReport, export_moses, export_moses_rules, import_moses
from treeglot.tables.rules import RuleEntry, RuleTable, RuleTableReport, build_rule_table
from treeglot.tables.table import PhraseTable, TableEntry, TableStatistics

__all__ = [
    "AlignedCorpus",
    "ImportReport",
    "LexicalTable",
    "PhraseTable",
    "RuleEntry",
    "RuleTable",
    "RuleTableReport",
    "TableEntry",
    "TableReport",
    "TableStatistics",
    "build_parsed_phrase_table",
    "build_phrase_table",
    "build_rule_table",
    "export_moses",
    "export_moses_rules",
    "import_moses",
    "parse_memory",
    "read_corpus",
    "write_phrase_counts",
]
