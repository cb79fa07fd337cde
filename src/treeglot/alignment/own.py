"""The aligner in the core: a hidden Markov model with fertilities, both directions learnt together.

- Each target word comes from a source word or from nothing; the next source word depends on its distance from the last one
  (Vogel, Ney and Tillmann 1996; nothing as in Och and Ney 2003).
- Translations have a sparse Dirichlet prior, learnt by variational Bayes, so that rare words do not explain everything
  (Riley and Gildea 2012). Words written alike have a larger prior.
- The two directions learn from what they agree on (after Liang, Taskar and Klein 2006).
- From the links of this model a Gibbs sampler goes on with fertilities, how many words a word has (after Östling and Tiedemann
  2016): each word's link is drawn again and again, given all others. A direction is drawn towards the other one's links.
- With dependency trees of a side, steps between its words have the weights of their paths in the tree, too (after Lopez and Resnik 2005).
- Links are the most probable ones in the mean of several chains. The model keeps those of the pairs it learnt from.

Random numbers depend on the seed and the place only: the same seed gives the same bytes with any number of threads.

>>> import tempfile, pathlib
>>> from treeglot.alignment.base import train
>>> text = ["das haus", "das buch", "ein buch"] * 3, ["the house", "the book", "a book"] * 3
>>> aligner = train("own", *text, pathlib.Path(tempfile.mkdtemp()) / "model")
>>> [(row.source, row.target) for row in aligner.lexicon(0.5)]
[('buch', 'book'), ('das', 'the'), ('ein', 'a'), ('haus', 'house')]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from treeglot._core import align as core
from treeglot.alignment.base import Alignment, WordAligner, WordTranslation, check_pairs
from treeglot.errors import InputError, TreeglotError
from treeglot.progress import track
from treeglot.words import split_words

if TYPE_CHECKING:
    from treeglot.alignment.evidence import Evidence

FILE = "model.tgwa"
FORMAT_VERSION = core.FORMAT_VERSION
"""The version of the file's format; a file of another one is refused."""
_BLOCK = 20_000
_T = TypeVar("_T")

LEAST = 0.01
"""Chances of links below are not kept."""

DEFAULTS: dict[str, float] = {
    "model1_iterations": 1,
    "hmm_iterations": 2,
    "prior": 0.1,
    "null_prior": 1.0,
    "null": 0.1,
    "agreement": 0.0,
    "same": 1.0,
    "max_length": 200,
    "sweeps": 20.0,
    "chains": 3,
    "sampling_prior": 1e-4,
    "sampling_null": 0.2,
    "fertility_prior": 4.0,
    "bonus": 3.0,
    "dictionary_weight": 1.0,
    "prior_model_weight": 0.5,
    "tree": 1.0,
    "memory": 4000.0,
}
"""Options of training, chosen on the first 100 pairs of the Hansards set and the first 50 of NIST 2002: iterations; the Dirichlet priors of
translations and of words from nothing; the chance of nothing; the exponent of the other direction's posterior in the expected
counts (0: no agreement); what words written alike add to the prior; the longest sentence that is learnt from. Then of the sampler:
sweeps through 5,000 pairs (0: none; fewer with the root of the number of pairs), chains, the Dirichlet prior, the chance of
nothing, how many words' fertilities the mean of all counts for, how much likelier a link of the other direction is. Of evidence: how
often a pair of the dictionary counts as seen, and a count of the prior model; the exponent of the weights of paths in dependency trees.
Megabytes of memory."""

_LIMITS: dict[str, tuple[float, float]] = {
    "model1_iterations": (1, 1000),
    "hmm_iterations": (0, 1000),
    "prior": (1e-6, 1e3),
    "null_prior": (1e-6, 1e6),
    "null": (1e-6, 0.9),
    "agreement": (0, 4),
    "same": (0, 1e6),
    "max_length": (1, 4000),
    "sweeps": (0, 1000),
    "chains": (1, 100),
    "sampling_prior": (1e-9, 1e3),
    "sampling_null": (1e-6, 0.9),
    "fertility_prior": (1e-3, 1e6),
    "bonus": (1e-3, 1e3),
    "dictionary_weight": (0, 1e6),
    "prior_model_weight": (0, 1e3),
    "tree": (0, 10),
    "memory": (1, 1e9),
}


class AgreementAligner(WordAligner):
    """See the module. ``posteriors`` gives the chance of every link of one sentence pair."""

    name: ClassVar[str] = "own"
    takes_evidence: ClassVar[bool] = True

    @classmethod
    def train_into(
        cls,
        folder: Path,
        source: Sequence[str],
        target: Sequence[str],
        *,
        seed: int,
        threads: int,
        evidence: Evidence | None = None,
        **options: Any,
    ) -> None:
        chosen = DEFAULTS | options
        for key, value in chosen.items():
            if key not in _LIMITS:
                raise TreeglotError(f"no option {key!r} of the aligner", remedy=f"choose of {', '.join(DEFAULTS)}")
            low, high = _LIMITS[key]
            if not isinstance(value, int | float) or not low <= value <= high:
                raise TreeglotError(f"{key} is {value!r}", remedy=f"give a number from {low:g} to {high:g}")
        corpus = core.Corpus()
        for block in _blocks(source, target):
            corpus.add(*block)
        known = None if evidence is None else _core_evidence(corpus, evidence, source, target, chosen)
        if evidence is not None:
            _set_heads(corpus, evidence)
        with _Iterations() as report:
            corpus.learn(
                str(folder / FILE),
                int(chosen["model1_iterations"]),
                int(chosen["hmm_iterations"]),
                chosen["prior"],
                chosen["null_prior"],
                chosen["null"],
                chosen["agreement"],
                chosen["same"],
                int(chosen["max_length"]),
                chosen["sweeps"],
                int(chosen["chains"]),
                chosen["sampling_prior"],
                chosen["sampling_null"],
                chosen["fertility_prior"],
                chosen["bonus"],
                chosen["memory"],
                seed % 2**64,
                threads,
                report,
                known,
                chosen["tree"],
            )

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        path = folder / FILE
        try:
            self.core = core.Model(str(path))
        except RuntimeError as error:
            raise InputError(str(error), path=path, line=1, remedy="train it again: treeglot align train") from None
        self.threads = threads

    def align(self, source: Sequence[str], target: Sequence[str]) -> Alignment:
        result = Alignment([], [])
        for texts in self._each_block(source, target, lambda *block: self.core.align(block[0], block[1], self.threads)):
            for lines, text in zip(result, texts, strict=True):
                lines.extend(text.decode("ascii").split("\n")[:-1])
        return result

    def link_chances(self, source: Sequence[str], target: Sequence[str], least: float = LEAST) -> list[str]:
        """The chances of links, as `treeglot.alignment.posteriors` describes: links not below ``least`` in either direction."""
        lines: list[str] = []
        for text in self._each_block(
            source, target, lambda *block: self.core.link_chances(block[0], block[1], least, self.threads)
        ):
            lines.extend(text.decode("ascii").split("\n")[:-1])
        return lines

    def _each_block(
        self, source: Sequence[str], target: Sequence[str], work: Callable[[bytes, bytes], _T]
    ) -> Iterator[_T]:
        check_pairs(source, target)
        blocks = list(range(0, len(source), _BLOCK))
        for start, block in zip(track(blocks, "aligning"), _blocks(source, target), strict=True):
            try:
                yield work(*block)
            except ValueError as error:
                line, message, _ = error.args
                raise InputError(message, line=start + line, remedy="split the line into sentences") from None

    def lexicon(self, threshold: float = 1e-3) -> Iterable[WordTranslation]:
        return [WordTranslation(*row) for row in self.core.entries(threshold)]

    def posteriors(self, source: str, target: str) -> tuple[list[list[float]], list[list[float]]]:
        """The chance of a link of each source word (rows) with each target word, in the two directions."""
        width = len(split_words(target))
        forward, reverse = self.core.posteriors(source, target)
        starts = range(0, len(forward), width) if width else []
        return [forward[k : k + width] for k in starts], [reverse[k : k + width] for k in starts]


def _set_heads(corpus: core.Corpus, evidence: Evidence) -> None:
    sides = (evidence.source_heads, evidence.target_heads)
    source, target = ([head for sentence in heads or () for head in sentence] for heads in sides)
    try:
        corpus.set_heads(source, target)
    except ValueError as error:
        raise TreeglotError(f"trees: {error}", remedy="give the trees of these sentences") from None


def _core_evidence(
    corpus: core.Corpus, evidence: Evidence, source: Sequence[str], target: Sequence[str], options: dict[str, float]
) -> core.Evidence:
    """Evidence as the core counts it."""
    result = core.Evidence()
    if evidence.links and options["sweeps"] == 0:
        raise TreeglotError("known links without sampling", remedy="leave out sweeps=0: the sampler keeps the links")
    for pair, links in sorted(evidence.links.items()):
        try:
            result.add_links(corpus, pair, sorted(links))
        except ValueError as error:
            remedy = "give the links of these sentence pairs"
            raise TreeglotError(f"known links of pair {pair + 1}: {error}", remedy=remedy) from None
    if evidence.dictionary is not None:
        sources, targets = ({word for line in side for word in split_words(line)} for side in (source, target))
        for first, second, match in evidence.dictionary.pairs(sources, targets):
            result.add_pair(corpus, first, second, match * options["dictionary_weight"])
    if evidence.model is not None:
        learnt = DEFAULTS | dict(evidence.model.options)
        prior = learnt["sampling_prior" if learnt["sweeps"] else "prior"]
        result.add_model(corpus, evidence.model.core, prior, learnt["fertility_prior"], options["prior_model_weight"])
    return result


def _blocks(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[bytes, bytes]]:
    """Blocks of lines as text. Only a line feed ends a line; one inside a sentence is a blank."""
    for start in range(0, len(source), _BLOCK):
        sides = (side[start : start + _BLOCK] for side in (source, target))
        first, second = ("".join(line.replace("\n", " ") + "\n" for line in side).encode() for side in sides)
        yield first, second


class _Iterations:
    """Progress that the core reports, as `treeglot.progress.track` wants it."""

    def __init__(self) -> None:
        self._steps: Iterator[int] = iter(())

    def __enter__(self) -> _Iterations:
        return self

    def __call__(self, done: int, total: int, likelihood: float) -> None:
        if done == 1:
            self._steps = iter(track(range(total), "learning to align", total=total))
            next(self._steps, None)
        next(self._steps, None)

    def __exit__(self, *_: object) -> None:
        for _rest in self._steps:
            pass
