"""METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007) with NLTK's word matching (extra ``meteor``).

Words are matched exactly, then by stem, then (English, where NLTK's WordNet data is installed) by synonym; the signature
says which stages were used, because the score depends on it: ``match:exact+stem`` or ``match:exact+stem+wordnet``.
Languages without a stemmer are matched exactly. The score of a text is computed from the summed counts of matches,
chunks and words, as METEOR does, not as the mean of sentence scores; a sentence's score equals NLTK's ``meteor_score``.
NLTK pairs repeated words from the right and does not search for the alignment with fewest crossings.

>>> metric = Meteor([["the cats sat on the mat"]], Options(tokenize="none"))
>>> metric.statistics(["the cat sat on the mat"]).tolist()  # matches, chunks, hypothesis words, reference words
[[6.0, 1.0, 6.0, 6.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from treeglot.evaluation.metrics import Array, Metric, Options, Streams, word_splitter
from treeglot.languages import main_language

ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
}
"""Languages with a stemmer, besides English (Porter's)."""


class _Stemmer:
    """Remembers stems: the same words come again and again."""

    def __init__(self, stem: Any) -> None:
        self.stem = lru_cache(maxsize=1 << 18)(stem)


class _NoSynonyms:
    """Stands where NLTK expects WordNet."""

    @staticmethod
    def synsets(word: str) -> list[Any]:
        return []


class Meteor(Metric):
    """METEOR over one set of references; case is ignored. Statistics: matches, chunks, words of both sides."""

    name = "METEOR"

    def __init__(self, references: Streams, options: Options) -> None:
        from nltk.stem.porter import PorterStemmer
        from nltk.stem.snowball import SnowballStemmer
        from nltk.translate.meteor_score import align_words

        self._align = align_words
        self._words = word_splitter(options.tokenize)
        self._tok = options.tokenize
        self._streams = len(references)
        stages = ["exact"]
        stem: Any = lambda word: word  # noqa: E731
        self._stem = "none"
        language = main_language(options.language)
        if language == "en":
            stem, self._stem = PorterStemmer().stem, "porter"
        elif language in SNOWBALL:
            stem, self._stem = SnowballStemmer(SNOWBALL[language]).stem, f"snowball-{SNOWBALL[language]}"
        if self._stem != "none":
            stages.append("stem")
        self._stemmer = _Stemmer(stem)
        self._synonyms = _wordnet() if language == "en" else None
        if self._synonyms is not None:
            stages.append(f"wordnet-{self._synonyms.get_version()}")
        self._match = "+".join(stages)
        self._references = [[self._tokens(text) for text in texts] for texts in zip(*references, strict=True)]

    def _tokens(self, text: str) -> list[str]:
        return self._words(text.rstrip())

    @property
    def signature(self) -> str:
        import nltk

        return (
            f"nrefs:{self._streams}|case:lc|tok:{self._tok}|match:{self._match}|stem:{self._stem}"
            f"|alpha:{ALPHA}|beta:{BETA}|gamma:{GAMMA}|agg:corpus|version:nltk-{nltk.__version__}"
        )

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        rows = np.zeros((len(hypotheses), 4))
        for i, (hypothesis, references) in enumerate(zip(hypotheses, self._references, strict=True)):
            tokens = self._tokens(hypothesis)
            choices = np.array([self._compare(tokens, reference) for reference in references])
            rows[i] = choices[int(np.argmax(self.score(choices)))]
        return rows

    def _compare(self, hypothesis: list[str], reference: list[str]) -> tuple[int, int, int, int]:
        matches, _, _ = self._align(hypothesis, reference, stemmer=self._stemmer, wordnet=self._synonyms or _NoSynonyms)
        chunks = 0
        last = (-2, -2)
        for here, there in matches:
            chunks += (here, there) != (last[0] + 1, last[1] + 1)
            last = (here, there)
        return len(matches), chunks, len(hypothesis), len(reference)

    def score(self, totals: Array) -> Array:
        matches, chunks, length, reference = (totals[..., i] for i in range(4))
        safe = np.where(matches > 0, matches, 1)
        # matches² cancels in P·R / (alpha·P + (1 - alpha)·R)
        mean = matches / np.where(matches > 0, ALPHA * reference + (1 - ALPHA) * length, 1)
        return np.asarray(100 * np.where(matches > 0, mean * (1 - GAMMA * (chunks / safe) ** BETA), 0.0))


def _wordnet() -> Any:
    """NLTK's WordNet, or None where its data is not installed."""
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet
