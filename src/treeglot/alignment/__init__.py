"""Word alignment: train an aligner (`train`), open a saved one (`load`), make one alignment of two (`symmetrize`), count
lexical tables (`LexicalTables`)."""

from treeglot.alignment.base import BACKENDS, Alignment, WordAligner, WordTranslation, backend, load, train
from treeglot.alignment.files import read_alignment
from treeglot.alignment.lexical import LexicalTables
from treeglot.alignment.symmetrize import (
    HEURISTICS,
    format_links,
    parse_links,
    symmetrize,
    symmetrize_files,
    symmetrize_lines,
)

__all__ = [
    "BACKENDS",
    "HEURISTICS",
    "Alignment",
    "LexicalTables",
    "WordAligner",
    "WordTranslation",
    "backend",
    "format_links",
    "load",
    "parse_links",
    "read_alignment",
    "symmetrize",
    "symmetrize_files",
    "symmetrize_lines",
    "train",
]
