"""Decoders: one interface for all systems (`phrase_decoder`, `forest_decoder`), and the weights of the log-linear model."""

from treeglot.search.decoder import MAX_NBEST, Decoder, forest_decoder, phrase_decoder, word_corpus
from treeglot.search.features import feature_names, fixed_weights, start_weights
from treeglot.search.phrase_tables import open_phrases, read_moses_phrases
from treeglot.search.translation import (
    RuleUse,
    Translation,
    dropped_words,
    nbest_arrays,
    nbest_lines,
    parse_nbest_line,
    walk,
)
from treeglot.search.weights import format_moses_weights, read_moses_weights, read_weights, write_weights

__all__ = [
    "MAX_NBEST",
    "Decoder",
    "RuleUse",
    "Translation",
    "dropped_words",
    "feature_names",
    "fixed_weights",
    "forest_decoder",
    "format_moses_weights",
    "nbest_arrays",
    "nbest_lines",
    "open_phrases",
    "parse_nbest_line",
    "phrase_decoder",
    "read_moses_phrases",
    "read_moses_weights",
    "read_weights",
    "start_weights",
    "walk",
    "word_corpus",
    "write_weights",
]
