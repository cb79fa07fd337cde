"""The forests that some grammars make over a source sentence before any rule is looked at, such as that of multi-word units.

>>> from treeglot.examples.worked import worked_example
>>> with_forests()
('mwu',)
>>> forest = source_forest("mwu", worked_example().source, max_words=3, k=1000)
>>> len(forest["vertices"]), len(forest["edges"])
(37, 153)
>>> forest["vertices"][0]
{'words': [], 'inside': 1, 'outside': 1, 'posterior': 1}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from treeglot._core import parsed as core_columns
from treeglot._core import rules as core
from treeglot.errors import ConfigError, TreeError
from treeglot.grammars import registry
from treeglot.grammars.rules import check_trees
from treeglot.trees.corpus import ParsedCorpus, parsed_corpus
from treeglot.trees.sentence import ParsedSentence


def with_forests() -> tuple[str, ...]:
    """The grammars that have one."""
    return tuple(name for name, known in registry.grammars().items() if known.has_forest)


def source_forest(
    grammar: str,
    sentence: ParsedSentence,
    *,
    parses: Sequence[tuple[ParsedSentence, float]] = (),
    pruned: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The forest over a sentence, as ``treeglot forest --json`` prints it; ``pruned``: what rules are extracted from. ``parses`` are the
    same sentence with other trees, and their weights (that of the first is 1)."""
    check_trees(grammar, sentence)
    columns = core_columns.ParsedCorpus()
    columns.add(*parsed_corpus([sentence]).columns.sentence(0))
    for other, weight in parses:
        check_trees(grammar, other)
        try:
            columns.add_parses(parsed_corpus([other]).columns, weight)
        except ValueError as error:
            raise TreeError(str(error), remedy="give trees over the same words") from None
    return json.loads(forest_json(grammar, ParsedCorpus(columns), 0, pruned=pruned, **options))  # type: ignore[no-any-return]


def forest_json(grammar: str, corpus: ParsedCorpus, n: int, *, pruned: bool = False, **options: Any) -> str:
    """The forest over sentence n of a corpus, as text."""
    if not registry.grammar(grammar).has_forest:
        raise ConfigError(f"{grammar} has no forest of its own", remedy=f"take {' or '.join(with_forests())}")
    try:
        return core.source_forest(grammar, corpus.columns, n, pruned, **options)
    except ValueError as error:
        raise ConfigError(str(error), remedy=f"see the options of {grammar} in treeglot forest --help") from None
