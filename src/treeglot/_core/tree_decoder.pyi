from collections.abc import Callable, Sequence

from treeglot._core.lm import Model
from treeglot._core.parsed import ParsedSentences
from treeglot._core.rule_tables import RuleTable
from treeglot._core.search import PhraseSource

FIRST_BLOCK: int
BLOCK_SIZE: int

Step = tuple[str, str, int, int, str, str, tuple[str | int, ...], list[int], tuple[tuple[int, float], ...]]
"""Grammar, kind of node, begin, end, label, source side, target (words and numbers of variables), steps that fill the
variables, features."""

class TreeTranslation:
    """The derivations of one sentence, best first."""

    def __len__(self) -> int: ...
    def text(self, n: int) -> str: ...
    def score(self, n: int) -> float: ...
    def features(self, n: int) -> list[float]: ...
    def steps(self, n: int) -> list[Step]: ...
    @property
    def size(self) -> tuple[int, int, int]:
        """Nodes, edges and options of the forest."""

class TreeDecoder:
    def __init__(
        self,
        tables: tuple[RuleTable, ...],
        phrases: PhraseSource | None,
        phrase_grammar: str,
        model: Model,
        weights: Sequence[float],
        *,
        stack_limit: int,
        stack_threshold: float,
        pop_limit: int,
        rule_limit: int,
        rule_threshold: float,
        phrase_limit: int,
        max_phrase_words: int,
        grammars: dict[str, bool | int | float | str],
    ) -> None: ...
    def translate(
        self,
        corpus: ParsedSentences,
        first: int,
        last: int,
        *,
        nbest: int,
        distinct: bool,
        with_steps: bool,
        threads: int,
        progress: Callable[[int], object] | None,
    ) -> list[TreeTranslation]: ...
