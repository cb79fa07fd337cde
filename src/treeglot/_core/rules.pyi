from typing import Any, TypedDict

from treeglot._core.parsed import ParsedBitext, ParsedSentences

class GrammarRecord(TypedDict):
    name: str
    title: str
    needs: dict[str, bool]
    options: tuple[dict[str, Any], ...]
    features: tuple[tuple[str, float, str, str, tuple[str, ...]], ...]
    rule_start: float
    has_rules: bool
    has_forest: bool
    labels: bool
    uses_phrases: bool
    link_chance: float
    heuristic: str
    node_link_option: str
    subtree_nodes: bool
    stack_limit: int
    rule_limit: int

def grammars() -> list[GrammarRecord]:
    """The declarations of all grammars, by name."""

def load_grammars(path: str) -> None:
    """Load a shared library of grammars; RuntimeError says what is wrong."""

def source_forest(grammar: str, corpus: ParsedSentences, n: int, pruned: bool, **options: Any) -> str:
    """The forest that a grammar makes over sentence n, as JSON. ValueError: the grammar has none, or an option does not fit."""

class Extractor:
    """The rules of a grammar in the pairs of a bitext, which must be complete. ``options`` are those of the grammar;
    others, and impossible values, raise ValueError."""

    def __init__(self, bitext: ParsedBitext, grammar: str, **options: Any) -> None: ...
    @property
    def statistics(self) -> dict[str, int]:
        """What the grammar counted beside rules, in all pairs so far: ``cut`` is the number of places where its bounds left
        rules out."""

    def count(self, begin: int, end: int) -> int:
        """How many rules pairs [begin, end) have, equal ones one by one: extraction without anything else."""

    def recovery(self, n: int) -> str:
        """Whether the rules of pair n can make its target: ``recovered``, or the reason why not; empty: the grammar does not say."""

    def rules(self, n: int) -> list[tuple[str, str, float, tuple[tuple[int, int], ...]]]:
        """Source, target, count and labels of the rules of pair n: equal ones are one, sorted by their lines."""

    def text(self, begin: int, end: int) -> bytes:
        """The rules of pairs ``begin`` to ``end`` as lines, with an empty line after each pair."""
