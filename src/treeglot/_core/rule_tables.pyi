from collections.abc import Callable
from typing import Any, TypedDict

from treeglot._core.parsed import ParsedBitext

FORMAT_VERSION: int

_Entry = tuple[str, tuple[float, float, float, float], float, float, float, tuple[tuple[int, int], ...], int]
"""Target, scores in Moses' order, count, source and target totals, labels, words without links."""

class Progress:
    """How far a job is, for another thread."""

    def __init__(self) -> None: ...
    @property
    def done(self) -> float: ...
    def stop(self) -> None:
        """Make the job raise RuntimeError soon."""

class Built(TypedDict):
    sentences: int
    occurrences: int
    rules: int
    sources: int
    targets: int
    dropped: int
    spilled_runs: int
    table_bytes: int
    counters: dict[str, int]
    """What the grammar counted beside rules."""
    discounts: tuple[float, ...]

class Shape(TypedDict):
    """Rules by length of a side and by number of variables; sources by bit width of their number of rules."""

    source_lengths: list[int]
    target_lengths: list[int]
    variables: list[int]
    ambiguity: list[int]
    most_rules: int
    most_ambiguous: str
    seen_once: int
    lexical: int
    labelled: int

def build(
    grammar: str,
    corpus: ParsedBitext,
    path: str,
    extraction: dict[str, Any],
    min_count: float,
    discounting: str,
    description: str,
    memory: int,
    folder: str,
    threads: int,
    progress: Progress,
) -> Built:
    """Extract, count, score and store. Raises ValueError for options that do not fit, RuntimeError for files."""

class RuleTable:
    """A memory-mapped table. Raises RuntimeError that says what is wrong with the file."""

    def __init__(self, path: str, verify: bool = False) -> None: ...
    @property
    def grammar(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def rules(self) -> int: ...
    @property
    def sources(self) -> int: ...
    @property
    def prefixes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def sentences(self) -> int: ...
    @property
    def occurrences(self) -> int: ...
    @property
    def discounted(self) -> bool: ...
    @property
    def has_labels(self) -> bool: ...
    @property
    def longest_source(self) -> int: ...
    @property
    def longest_target(self) -> int: ...
    @property
    def source_words(self) -> int: ...
    @property
    def categories(self) -> int: ...
    @property
    def target_words(self) -> int: ...
    def find(self, source: str, limit: int, threshold: float) -> list[_Entry]:
        """Raises ValueError if the text is not a source side; limit 0 means all."""

    def spelling(self, source: str) -> str:
        """A source side as the table writes it, or as it is if it has unknown words; ValueError as for `find`."""

    def scan(self, position: int, sources: int) -> tuple[list[tuple[str, list[_Entry]]], int]:
        """So many source sides with their rules, from a position on (0: the first), and the position after them."""

    @property
    def has_shares(self) -> bool: ...
    def unlinked_share(self, word: str) -> float:
        """The share of a source word's occurrences without a link; 0 if the table has no shares."""

    def export_text(self, write: Callable[[bytes], object]) -> None: ...
    def export_moses(self, write: Callable[[bytes], object], folder: str, memory: int) -> None:
        """Lines as Moses' chart decoder reads them. Raises ValueError if rules are more than words and gaps."""

    def shape(self) -> Shape: ...
    def walk_all(self, every: int = 1, limit: int = 0) -> tuple[int, int, int, int, float]:
        """Walk to every n-th source and read its rules: sources, symbols, rules, sources that were not found, seconds."""
