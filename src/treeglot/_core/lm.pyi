from collections.abc import Callable

FORMAT_VERSION: int
MAX_ORDER: int

class Estimator:
    """Counts text and estimates a model from it; see treeglot.lm.estimate."""

    def __init__(self, order: int, memory: int, folder: str, fallback: tuple[float, float, float]) -> None: ...
    def add(self, text: bytes) -> int:
        """Add whole lines; the number of a line that holds a reserved word, or 0."""

    def finish(
        self, write: Callable[[bytes], object]
    ) -> tuple[int, int, list[int], list[tuple[float, float, float, bool]]]:
        """Write ARPA text; sentences, tokens, n-grams and discounts (1, 2, 3+, fallback?) per order."""

def compile_arpa(read: Callable[[int], bytes], path: str) -> None:
    """Compile the ARPA text that ``read`` gives in blocks, b"" at the end. Raises ValueError(line, message) for a broken file."""

class State:
    """What a query remembers of the words before it."""

    @property
    def length(self) -> int: ...
    def __hash__(self) -> int: ...

class Model:
    """A memory-mapped model. Raises RuntimeError that says what is wrong with the file."""

    def __init__(self, path: str, verify: bool = False) -> None: ...
    @property
    def order(self) -> int: ...
    def __len__(self) -> int:
        """The number of words; ids are below it."""

    def grams(self, order: int) -> int:
        """The number of n-grams of an order; IndexError if there is none."""

    def id(self, word: str) -> int: ...
    def begin_state(self) -> State: ...
    def null_state(self) -> State: ...
    def score(self, state: State, word: int) -> tuple[float, int, State]:
        """log10 probability, length of the n-gram used, new state; IndexError for a word that the model has not."""

    def score_text(self, text: bytes) -> list[tuple[float, int, int]]:
        """For each line: log10 total with </s>, tokens, unknown tokens."""
