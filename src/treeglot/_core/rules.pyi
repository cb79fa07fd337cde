from treeglot._core.parsed import ParsedBitext

GRAMMARS: tuple[str, ...]

def needed_trees(grammar: str) -> tuple[bool, bool]:
    """Whether a grammar needs dependency trees, and constituency trees."""

class Extractor:
    """The rules of a grammar in the pairs of a bitext, which must be complete. Options of other grammars are ignored;
    impossible ones raise ValueError."""

    def __init__(
        self,
        bitext: ParsedBitext,
        grammar: str,
        *,
        max_variants: int = 16,
        span_mode: str = "ghkm",
        max_phrasal_nodes: int = 2,
        max_structure_words: int = 7,
        max_height: int = 3,
        max_leaves: int = 7,
        max_fragments: int = 1000,
        composed: bool = True,
        max_initial_phrase: int = 10,
        max_source_symbols: int = 5,
        max_gaps: int = 2,
        min_gap: int = 2,
        fractional: bool = True,
        tight: bool = False,
        max_rules: int = 20000,
    ) -> None: ...
    @property
    def statistics(self) -> tuple[int, int, int]:
        """Of all pairs so far: constituents that are phrasal nodes, those that can be neither phrasal nodes nor subtrees, and
        places where the bounds of the grammar left rules out."""

    def rules(self, n: int) -> list[tuple[str, str, float, tuple[tuple[int, int], ...]]]:
        """Source, target, count and labels of the rules of pair n: equal ones are one, sorted by their lines."""

    def text(self, begin: int, end: int) -> bytes:
        """The rules of pairs ``begin`` to ``end`` as lines, with an empty line after each pair."""
