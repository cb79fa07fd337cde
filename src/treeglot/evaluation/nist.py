"""NIST (Doddington 2002) as mteval-v13a defines it: n-grams weighted by their information, up to length 5.

The information of an n-gram is log2 of how often its first n-1 words occur in all references over how often it occurs;
a hypothesis n-gram counts as often as the reference that has it most; the length penalty compares with the *average*
reference length. With one reference the corpus score is that of ``nltk.translate.nist_score.corpus_nist``. NLTK departs
from mteval in three ways that are not copied: with several references it takes for each order the one best reference,
it stops with a division by zero when no hypothesis has an n-gram of some order, and its sentence score takes the
information from that sentence alone (here, as in mteval, from the whole test set).

>>> metric = Nist([["the cat sat on the mat"]], Options(tokenize="none"))
>>> round(float(metric.score(metric.statistics(["the cat sat on the mat"]).sum(axis=0))), 4)
2.6516
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from treeglot.evaluation.metrics import Array, Metric, Options, Streams, word_splitter

ORDER = 5
_BETA = math.log(0.5) / math.log(1.5) ** 2  # a text two thirds as long as the references loses half


class Nist(Metric):
    """NIST over one set of references; case is ignored, as mteval does by default.

    Statistics: matched information of each order, n-grams of each order, average reference length.
    """

    name = "NIST"
    decimals = 4

    def __init__(self, references: Streams, options: Options) -> None:
        self._words = word_splitter(options.tokenize)
        self._tok = options.tokenize
        self._streams = len(references)
        counts: Counter[tuple[str, ...]] = Counter()
        words = 0
        self._limits: list[Counter[tuple[str, ...]]] = []
        self._lengths: list[float] = []
        for translations in zip(*references, strict=True):
            limit: Counter[tuple[str, ...]] = Counter()
            length = 0
            for translation in translations:
                tokens = self._tokens(translation)
                grams = _ngrams(tokens)
                counts.update(grams)
                limit |= grams
                length += len(tokens)
            words += length
            self._limits.append(limit)
            self._lengths.append(length / len(translations))
        self._information = {
            gram: math.log2((counts[gram[:-1]] if len(gram) > 1 else words) / count) for gram, count in counts.items()
        }

    def _tokens(self, text: str) -> list[str]:
        return self._words(text.lower().rstrip())

    @property
    def signature(self) -> str:
        from treeglot import __version__

        return f"nrefs:{self._streams}|case:lc|tok:{self._tok}|order:{ORDER}|def:mteval-v13a|version:treeglot-{__version__}"

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        rows = np.zeros((len(hypotheses), 2 * ORDER + 1))
        for row, hypothesis, limit, length in zip(rows, hypotheses, self._limits, self._lengths, strict=True):
            tokens = self._tokens(hypothesis)
            for gram, count in _ngrams(tokens).items():
                if gram in limit:
                    row[len(gram) - 1] += self._information[gram] * min(count, limit[gram])
            row[ORDER : 2 * ORDER] = [max(0, len(tokens) - n) for n in range(ORDER)]
            row[2 * ORDER] = length
        return rows

    def score(self, totals: Array) -> Array:
        precision = (totals[..., :ORDER] / np.maximum(totals[..., ORDER : 2 * ORDER], 1)).sum(axis=-1)
        length, reference = totals[..., ORDER], totals[..., 2 * ORDER]
        ratio = np.minimum(length / np.where(reference > 0, reference, 1), 1.0)
        penalty = np.where(ratio > 0, np.exp(_BETA * np.log(np.where(ratio > 0, ratio, 1)) ** 2), 0.0)
        return np.asarray(precision * penalty)


def _ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for n in range(1, ORDER + 1) for i in range(len(tokens) - n + 1))
