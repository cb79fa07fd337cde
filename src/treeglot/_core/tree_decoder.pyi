from collections.abc import Sequence

from treeglot._core.lm import Model
from treeglot._core.parsed import ParsedSentences
from treeglot._core.rule_tables import RuleTable
from treeglot._core.search import Decoder, PhraseSource

class TreeDecoder(Decoder):
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
    def recovers(self, corpus: ParsedSentences, n: int, target: Sequence[str], phrases: bool) -> bool:
        """Whether the rules can make exactly these words of sentence n, without pseudo rules and copied words; ``phrases``: with
        bilingual phrases."""
