"""Word alignment by the Thot toolkit (extra ``thot``, package sil-thot): HMM, fast_align's model, IBM model 4, and its own
version of eflomal's sampler with a seed.

Each direction is a model of its own. Training ends with saving and loading, so that text is always aligned by the saved model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from treeglot.alignment.base import Alignment, WordAligner, WordTranslation, check_pairs, require
from treeglot.alignment.symmetrize import format_links
from treeglot.errors import InputError, TreeglotError
from treeglot.progress import track
from treeglot.words import hide_white_space, show_white_space, split_words

_BLOCK = 1000


class _Thot(WordAligner):
    extra: ClassVar[str] = "thot"
    stages: ClassVar[tuple[tuple[str, int], ...]]
    """Models that are trained one from the other, and their iterations."""

    @classmethod
    def train_into(
        cls, folder: Path, source: Sequence[str], target: Sequence[str], *, seed: int, threads: int, **options: Any
    ) -> None:
        thot = require("thot.alignment", cls.extra)
        counts = dict(cls.stages)
        for name, value in options.items():
            if name not in counts or not isinstance(value, int) or value < 1:
                raise TreeglotError(
                    f"no option {name}={value!r} of {cls.name}",
                    remedy=f"numbers of iterations can be given for {', '.join(counts)}",
                )
        counts |= options
        pairs = [(_words(s), _words(t)) for s, t in zip(source, target, strict=True)]
        pairs = [pair for pair in pairs if pair[0] and pair[1]]
        for direction in ("forward", "reverse"):
            previous: Any = None
            for kind, _ in cls.stages:
                model = getattr(thot, kind)() if previous is None else getattr(thot, kind)(previous)
                if kind == "EflomalAlignmentModel":
                    model.seed, model.deterministic = seed, True
                if previous is None:
                    for s, t in pairs:
                        model.add_sentence_pair(*((s, t) if direction == "forward" else (t, s)))
                model.start_training()
                iterations = counts[kind] or model.scheduled_iterations
                for _ in track(range(iterations), f"{kind}, {direction}"):
                    model.train()
                model.end_training()
                previous = model
            if not previous.print(str(folder / direction)):
                raise TreeglotError("the model could not be written", path=folder, remedy="check the free space")

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        thot = require("thot.alignment", self.extra)
        self._models = []
        for direction in ("forward", "reverse"):
            model = getattr(thot, self.stages[-1][0])()
            if not model.load(str(folder / direction)):
                remedy = "train it again: treeglot align train"
                raise InputError("the model cannot be read", path=folder / direction, line=1, remedy=remedy)
            self._models.append(model)

    def align(self, source: Sequence[str], target: Sequence[str]) -> Alignment:
        check_pairs(source, target)
        result = Alignment([], [])
        for start in track(range(0, len(source), _BLOCK), "aligning"):
            sides = [[_words(line) for line in side[start : start + _BLOCK]] for side in (source, target)]
            full = [k for k, (s, t) in enumerate(zip(*sides, strict=True)) if s and t]
            for out, model, order in ((result.forward, self._models[0], 1), (result.reverse, self._models[1], -1)):
                states, observed = ([side[k] for k in full] for side in sides[::order])
                lines = [""] * len(sides[0])
                for k, (_, matrix) in zip(full, model.get_best_alignments(states, observed), strict=True):
                    # one entry for each observed word: its state counted from 1, or 0
                    links = ((state - 1, word) for word, state in enumerate(matrix.to_list()) if state)
                    lines[k] = format_links(links if order == 1 else ((t, s) for s, t in links))
                out.extend(lines)
        return result

    def lexicon(self, threshold: float = 1e-3) -> Iterable[WordTranslation]:
        chances: dict[tuple[str, str], list[float]] = {}
        for side, model in enumerate(self._models):
            for state in range(3, model.src_vocab_size):  # the first three are NULL, unknown and unused
                word = show_white_space(model.get_src_word(state))
                for index, chance in model.get_translations(state, threshold):
                    if index < 3:
                        continue
                    other = show_white_space(model.get_trg_word(index))
                    pair = (word, other) if side == 0 else (other, word)
                    chances.setdefault(pair, [0.0, 0.0])[side] = chance
        return [WordTranslation(*pair, *both) for pair, both in sorted(chances.items())]


def _words(line: str) -> list[str]:
    """Words that stay whole in Thot's files."""
    return split_words(hide_white_space(line))


class ThotHmm(_Thot):
    """The hidden Markov model, started from IBM model 1."""

    name = "thot-hmm"
    stages = (("Ibm1AlignmentModel", 5), ("HmmAlignmentModel", 5))


class ThotFastAlign(_Thot):
    """The model of fast_align."""

    name = "thot-fastalign"
    stages = (("FastAlignModel", 5),)


class ThotIbm4(_Thot):
    """IBM model 4, by way of models 1, HMM and 3."""

    name = "thot-ibm4"
    stages = (
        ("Ibm1AlignmentModel", 5),
        ("HmmAlignmentModel", 5),
        ("Ibm3AlignmentModel", 5),
        ("Ibm4AlignmentModel", 5),
    )


class ThotEflomal(_Thot):
    """Thot's version of eflomal's Gibbs sampler; unlike eflomal it has a seed and keeps its model."""

    name = "thot-eflomal"
    stages = (("EflomalAlignmentModel", 0),)
