"""Decoders: phrase-based search (`PhraseDecoder`) and the weights of the log-linear model (`read_weights`)."""

from treeglot.search.phrases import PhraseDecoder, PhraseUse, Translation, open_phrases, read_moses_phrases
from treeglot.search.weights import (
    DEFAULT_WEIGHTS,
    FEATURES,
    format_moses_weights,
    read_moses_weights,
    read_weights,
    write_weights,
)

__all__ = [
    "DEFAULT_WEIGHTS",
    "FEATURES",
    "PhraseDecoder",
    "PhraseUse",
    "Translation",
    "format_moses_weights",
    "open_phrases",
    "read_moses_phrases",
    "read_moses_weights",
    "read_weights",
    "write_weights",
]
