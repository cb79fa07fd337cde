"""The features of every system: their names, in the order of feature vectors, and the weights that tuning starts from.

One scheme for all decoders. Common features have plain names (``lm``, ``words``, ``copied``, ``distortion``, …), those of a grammar
the grammar's name before a dot. ``words`` and ``copied`` count, logarithms are natural. Moses' names and signs are a matter of
import and export (`treeglot.search.weights`).

A system is a list of grammars. ``phrases`` alone is searched from left to right, with distortion and reordering; every other system
is a forest of its grammars, in which the bilingual phrases translate single words, whole subtrees and phrasal nodes.

>>> feature_names(["phrases"])[:5]
('distortion', 'lm', 'words', 'phrases.rules', 'phrases.p_st')
>>> feature_names(["dep2str"])[:7]
('lm', 'words', 'copied', 'pseudo', 'glue', 'dep2str.p_ts', 'dep2str.p_st')
>>> feature_names(["hierarchical"])[-1]
'hierarchical.rules'
>>> start_weights(["hierarchical"])["lm"], start_weights(["phrases"])["lm"]
(0.2, 0.5)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treeglot._core import search as core
from treeglot.grammars import registry

PHRASES = registry.phrase_grammar().name
"""The grammar of bilingual phrases."""
PHRASE_FEATURES: tuple[str, ...] = tuple(core.phrase_features(PHRASES))
"""The features of the left-to-right search: Moses' default ones, in Moses' order."""

# Moses' own starting point.
_PHRASE_STARTS = {"distortion": 0.3, "lm": 0.5, "words": 1.0, "copied": -100.0}


def is_left_to_right(grammars: Sequence[str]) -> bool:
    """Whether a system is searched from left to right, without a forest: it has no rules."""
    return not any(registry.grammar(name).has_rules for name in grammars)


def feature_names(grammars: Sequence[str], options: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The names of a system's features, in the order of its feature vectors. Some options of grammars bring features of their own."""
    return PHRASE_FEATURES if is_left_to_right(grammars) else tuple(registry.forest_features(grammars, options))


def start_weights(grammars: Sequence[str], options: Mapping[str, Any] | None = None) -> dict[str, float]:
    """The weights that tuning starts from."""
    if not is_left_to_right(grammars):
        return registry.forest_features(grammars, options)
    return {name: _PHRASE_STARTS.get(name, 0.3 if ".reorder_" in name else 0.2) for name in PHRASE_FEATURES}


def fixed_weights(grammars: Sequence[str]) -> tuple[str, ...]:
    """Weights that tuning leaves as they are: from left to right every translation of a sentence copies the same words.

    A forest may also delete a word that it does not know, so there the weight is tuned like others.
    """
    return ("copied",) if is_left_to_right(grammars) else ()


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The valid name that looks most like ``name``.

    >>> nearest_name("word", PHRASE_FEATURES)
    'words'
    """
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.4)
    return close[0] if close else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The beginning of a remedy."""
    near = nearest_name(name, names)
    return f"did you mean '{near}'? " if near else ""
