"""Grammars: one module per model, with what its rules are and how they are extracted from aligned sentences."""

from treeglot.grammars.phrases import PhrasePair, extract, extract_words

__all__ = ["PhrasePair", "extract", "extract_words"]
