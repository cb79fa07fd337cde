from collections.abc import Callable, Sequence

FORMAT_VERSION: int
JUMP_CLIP: int

def symmetrize(forward: bytes, reverse: bytes, heuristic: int) -> bytes:
    """Pharaoh lines to Pharaoh lines. Raises ValueError(line, message, 0 for forward or 1 for reverse) for a bad link."""

def link_counts(source: bytes, target: bytes, links: bytes) -> list[tuple[str | None, str | None, int]]:
    """How often words are linked; None stands for nothing. Raises ValueError(line, message, 2) for a bad link."""

def hmm_posteriors(
    emission: list[list[float]], null_emission: list[float], weights: list[float], null: float
) -> tuple[list[float], list[float], float, list[float], list[float]]:
    """Posteriors (observed by states), those of nothing, log likelihood, jumps taken, jumps possible."""

class Corpus:
    """Sentence pairs to learn from."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, source: bytes, target: bytes) -> None:
        """Add whole lines, the same number on both sides."""

    def learn(
        self,
        path: str,
        model1_iterations: int,
        hmm_iterations: int,
        prior: float,
        null_prior: float,
        null: float,
        agreement: float,
        same: float,
        max_length: int,
        sweeps: float,
        chains: int,
        sampling_prior: float,
        sampling_null: float,
        fertility_prior: float,
        bonus: float,
        memory: float,
        seed: int,
        threads: int,
        report: Callable[[int, int, float], object] | None,
        evidence: Evidence | None = None,
        tree: float = 1.0,
    ) -> None:
        """Learn a model and write it; `report(iteration, iterations, log likelihood)` is called after each.

        Sweeps of the sampler count as iterations with the likelihood 0."""

    def set_heads(self, source: Sequence[int], target: Sequence[int]) -> None:
        """Dependency trees: the head of each word of the text within its sentence, -1 for none; empty without trees of a side."""

def tree_paths(heads: Sequence[int]) -> list[int]:
    """From each word to each other one: 4 times the steps up plus the steps down, each at most 3."""

class Evidence:
    """What is known before learning; all of it is counted as if it had been seen. Its words become words of the corpus."""

    def __init__(self) -> None: ...
    def add_pair(self, corpus: Corpus, source: str, target: str, weight: float) -> None:
        """A pair of words and how often it counts as seen."""

    def add_links(self, corpus: Corpus, pair: int, links: list[tuple[int, int]]) -> None:
        """The links of a sentence pair that was added, in the order of pairs. Raises ValueError for what is outside."""

    def add_model(self, corpus: Corpus, model: Model, translations: float, fertilities: float, weight: float) -> None:
        """What a model expects to have seen, times the weight; after these are the priors it was learnt with."""

class Model:
    """A memory-mapped model. Raises RuntimeError that says what is wrong with the file."""

    def __init__(self, path: str, verify: bool = True) -> None: ...
    def align(self, source: bytes, target: bytes, threads: int) -> tuple[bytes, bytes]:
        """Pharaoh lines of both directions. Raises ValueError(line, message, 0) for a sentence that is too long."""

    def link_chances(self, source: bytes, target: bytes, least: float, threads: int) -> bytes:
        """Lines of I-J:FORWARD:REVERSE: links with either chance not below `least`. Raises as `align`."""

    def posteriors(self, source: str, target: str) -> tuple[list[float], list[float]]:
        """The chance of each link in both directions, source by target."""

    def entries(self, threshold: float) -> list[tuple[str, str, float, float]]:
        """Source word, target word, t(e|f), t(f|e), for pairs with either not below the threshold."""

    def target_given_source(self, target: str, source: str) -> float: ...
    def source_given_target(self, source: str, target: str) -> float: ...
    @property
    def source_size(self) -> int: ...
    @property
    def target_size(self) -> int: ...
    @property
    def pairs(self) -> int: ...
    @property
    def forward_jumps(self) -> list[float]: ...
    @property
    def reverse_jumps(self) -> list[float]: ...
