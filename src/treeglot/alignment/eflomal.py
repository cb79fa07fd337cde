"""Word alignment by eflomal (extra ``eflomal``): a Gibbs sampler with fertilities.

eflomal aligns the text it learns from and keeps no model, and its random numbers have no seed. A model here is therefore what it
found: the links of every training pair, which are given again for the same pair, and priors counted from them
(eflomal's own format), with which it aligns other pairs. Training twice gives different models; use ``own`` or
``thot-eflomal`` where a result must be repeatable.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from treeglot.alignment.base import Alignment, WordAligner, WordTranslation, check_pairs, require
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines
from treeglot.words import hide_white_space, show_white_space

_PRIORS = "priors.gz"
_TRAINING = "training.gz"


def _run(
    package: Any, source: list[str], target: list[str], priors: str | None, **options: Any
) -> tuple[list[str], list[str]]:
    """Both directions, as Pharaoh lines. Words are lower-cased by eflomal."""
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / name) for name in ("forward", "reverse")]
        package.Aligner(**options).align(
            source,
            target,
            links_filename_fwd=names[0],
            links_filename_rev=names[1],
            priors_input=io.StringIO(priors) if priors is not None else None,
        )
        forward, reverse = (Path(name).read_text(encoding="ascii").split("\n")[:-1] for name in names)
    if len(forward) != len(source) or len(reverse) != len(source):
        raise TreeglotError("eflomal did not align all pairs", remedy="check that its program runs: eflomal -h")
    return [line.strip() for line in forward], [line.strip() for line in reverse]


class Eflomal(WordAligner):
    """See the module."""

    name: ClassVar[str] = "eflomal"
    extra: ClassVar[str] = "eflomal"

    @classmethod
    def train_into(
        cls, folder: Path, source: Sequence[str], target: Sequence[str], *, seed: int, threads: int, **options: Any
    ) -> None:
        package = require("eflomal", cls.extra)
        pairs = _distinct(source, target)
        first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        forward, reverse = _run(package, first, second, None, **options)
        out = io.StringIO()
        package.write_priors(out, *package.calculate_priors(first, second, forward, reverse))
        with atomic_write(folder / _PRIORS) as file:
            file.write(out.getvalue())
        with atomic_write(folder / _TRAINING) as file:
            for row in zip(first, second, forward, reverse, strict=True):
                file.write("\t".join(row) + "\n")

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        self._package = require("eflomal", self.extra)
        with gzip.open(folder / _PRIORS, "rt", encoding="utf-8") as file:
            self._priors = file.read()
        self._known: dict[tuple[str, str], tuple[str, str]] = {}
        for number, line in read_lines(folder / _TRAINING):
            fields = line.split("\t")
            if len(fields) != 4:
                raise InputError("not four columns", path=folder / _TRAINING, line=number, remedy="train it again")
            self._known[fields[0], fields[1]] = fields[2], fields[3]

    def align(self, source: Sequence[str], target: Sequence[str]) -> Alignment:
        check_pairs(source, target)
        aligned = dict(self._known)
        new = [pair for pair in _distinct(source, target) if pair not in aligned]
        if new:
            links = _run(self._package, [pair[0] for pair in new], [pair[1] for pair in new], self._priors)
            aligned.update(zip(new, zip(*links, strict=True), strict=True))
        rows = [
            aligned.get((hide_white_space(s), hide_white_space(t)), ("", ""))
            for s, t in zip(source, target, strict=True)
        ]
        return Alignment([row[0] for row in rows], [row[1] for row in rows])

    def lexicon(self, threshold: float = 1e-3) -> Iterable[WordTranslation]:
        """Relative frequencies of the links in the priors."""
        pairs: dict[tuple[str, str], float] = {}
        totals: tuple[dict[str, float], dict[str, float]] = defaultdict(float), defaultdict(float)
        for line in self._priors.split("\n"):
            fields = line.split("\t")
            if fields[0] == "LEX":
                f, e = map(show_white_space, fields[1:3])
                pairs[f, e] = count = float(fields[3])
                totals[0][f] += count
                totals[1][e] += count
        rows = (
            WordTranslation(f, e, count / totals[0][f], count / totals[1][e]) for (f, e), count in sorted(pairs.items())
        )
        return [row for row in rows if max(row.target_given_source, row.source_given_target) >= threshold]


def _distinct(source: Iterable[str], target: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs with words on both sides, each once: a pair always has the same links."""
    pairs = ((hide_white_space(s), hide_white_space(t)) for s, t in zip(source, target, strict=True))
    return list(dict.fromkeys(pair for pair in pairs if pair[0] and pair[1]))
