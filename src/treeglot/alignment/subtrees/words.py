"""What a sub-tree aligner knows about words: translation probabilities and links, for any sentence pair (spec: phrases and
subtrees, sections 1 and 6).

Both come from one word aligner that is trained on text: the sentences of the treebank and any other parallel text. The
knowledge is kept inside a saved model, so that new trees are aligned with nothing else at hand.

>>> german, english = ["das haus", "das buch", "ein buch"] * 3, ["the house", "the book", "a book"] * 3
>>> words = WordKnowledge.train(german, english)
>>> evidence = words.evidence([(["ein", "Haus"], ["a", "house"])])[0]
>>> evidence.links.astype(int).tolist()
[[1, 0], [0, 1]]
>>> again = WordKnowledge.of_state(words.state())
>>> again.evidence([(["das"], ["the"])])[0].target_given_source.round(1).tolist()
[[1.0]]
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.base import load, train
from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.lexical import LexicalTables
from treeglot.alignment.own import AgreementAligner
from treeglot.alignment.subtrees.features import WordEvidence
from treeglot.alignment.subtrees.wordtable import Row, WordTable
from treeglot.alignment.symmetrize import DEFAULT, parse_links
from treeglot.errors import TreeglotError

THRESHOLD = 1e-4
"""Pairs of the aligner's own table with smaller probabilities are left out."""
MOST_TEXT = 20_000_000
"""Longer text (in letters) is not kept."""


@dataclass(frozen=True)
class Known:
    """How many of how many things are known."""

    known: int = 0
    all: int = 0

    def __add__(self, other: Known) -> Known:
        return Known(self.known + other.known, self.all + other.all)

    @property
    def share(self) -> float:
        return self.known / self.all if self.all else 1.0


class WordKnowledge:
    """A word aligner and the table that was made with it, and a dictionary if there is one.

    ``lowercase`` says whether words are compared in lower case; ``text`` is what was learnt from, if it is still there.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        aligner: AgreementAligner,
        folder: Path,
        *,
        lowercase: bool,
        dictionary: Dictionary | None = None,
        text: tuple[list[str], list[str]] | None = None,
    ) -> None:
        self.rows = list(rows)
        self.table = WordTable(self.rows)
        self.aligner = aligner
        self.lowercase = lowercase
        self.dictionary = dictionary
        self.text = text
        self._folder = folder

    def __del__(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @classmethod
    def train(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        *,
        lowercase: bool = True,
        dictionary: Dictionary | None = None,
        threads: int = 0,
        **options: Any,
    ) -> WordKnowledge:
        """Learn from sentence pairs, tokenised lines. The table is the mean of the aligner's own and of its counted links.

        The word pairs of the text that are in the ``dictionary`` are added to the text.
        """
        if lowercase:
            source, target = [line.lower() for line in source], [line.lower() for line in target]
        text = list(source), list(target)
        if dictionary is not None:
            more = dictionary.lines(source, target)
            source, target = [*source, *more[0]], [*target, *more[1]]
        folder = Path(tempfile.mkdtemp(prefix="treeglot-words-"))
        try:
            aligner = train("own", source, target, folder / "model", threads=threads, **options)
            assert isinstance(aligner, AgreementAligner)
            rows: dict[tuple[str, str], tuple[float, float]] = {}
            for row in aligner.lexicon(THRESHOLD):
                rows[row.source, row.target] = row.target_given_source / 2, row.source_given_target / 2
            tables = LexicalTables.count(source, target, aligner.align(source, target).symmetrized())
            for s, t, _ in tables.rows:
                if s is not None and t is not None:
                    forward, backward = rows.get((s, t), (0.0, 0.0))
                    forward += tables.target_given_source(t, s) / 2
                    rows[s, t] = forward, backward + tables.source_given_target(s, t) / 2
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(
            [(*words, *chances) for words, chances in sorted(rows.items())],
            aligner,
            folder,
            lowercase=lowercase,
            dictionary=dictionary,
            text=text if sum(len(line) for side in text for line in side) <= MOST_TEXT else None,
        )

    def adapted(self, sentences: Iterable[tuple[Sequence[str], Sequence[str]]], *, threads: int = 0) -> WordKnowledge:
        """Learnt anew from the text of this one and from further sentence pairs, so that their words are known, too."""
        if self.text is None:
            raise TreeglotError(
                "the text that the model learnt words from is not in it",
                remedy="it was too long to keep; align without adapting, or train the model with the new text (--text)",
            )
        source, target = list(self.text[0]), list(self.text[1])
        for source_words, target_words in sentences:
            source.append(self.line(source_words))
            target.append(self.line(target_words))
        return WordKnowledge.train(
            source, target, lowercase=self.lowercase, dictionary=self.dictionary, threads=threads
        )

    def known(self, source: Sequence[str], target: Sequence[str]) -> Known:
        """Which words of a sentence pair the table has."""
        ids = [
            *self.table.source_ids(self.line(source).split(" ")),
            *self.table.target_ids(self.line(target).split(" ")),
        ]
        return Known(sum(number >= 0 for number in ids), len(ids))

    def line(self, forms: Sequence[str]) -> str:
        """A sentence as the aligner takes it: a word has no blank inside and at least one character."""
        text = ["_".join(form.split()) or "_" for form in forms]
        return " ".join(text).lower() if self.lowercase else " ".join(text)

    def evidence(
        self,
        sentences: Sequence[tuple[Sequence[str], Sequence[str]]],
        given: Sequence[Sequence[tuple[int, int]]] | None = None,
        *,
        heuristic: str = DEFAULT,
    ) -> list[WordEvidence]:
        """Of pairs of sentences. ``given`` links of words (one list for each pair) replace the aligner's."""
        lines = [(self.line(source), self.line(target)) for source, target in sentences]
        links: Sequence[Sequence[tuple[int, int]]]
        if given is not None:
            links = given
        else:
            aligned = self.aligner.align([pair[0] for pair in lines], [pair[1] for pair in lines])
            links = [parse_links(line) for line in aligned.symmetrized(heuristic)]
        result = []
        for (source, target), pairs in zip(lines, links, strict=True):
            left, right = source.split(" "), target.split(" ")
            forward, backward = self.table.matrices(left, right)
            linked = np.zeros(forward.shape, dtype=np.bool_)
            for u, v in pairs:
                linked[u, v] = True
            both = (np.array(side, dtype=np.float64) for side in self.aligner.core.posteriors(source, target))
            chances = np.sqrt(np.multiply(*both)).reshape(forward.shape)
            entries = None if self.dictionary is None else self.dictionary.matrix(left, right)
            result.append(WordEvidence(forward, backward, linked, chances, entries))
        return result

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save."""
        words = [sorted({row[0] for row in self.rows}), sorted({row[1] for row in self.rows})]
        numbers = [{word: k for k, word in enumerate(side)} for side in words]
        arrays: dict[str, NDArray[Any]] = {
            "lowercase": np.array(self.lowercase),
            "source": _pack(words[0]),
            "target": _pack(words[1]),
            "pairs": np.array([(numbers[0][row[0]], numbers[1][row[1]]) for row in self.rows], dtype=np.int32),
            "chances": np.array([row[2:] for row in self.rows], dtype=np.float32),
        }
        if self.dictionary is not None:
            arrays |= {f"dictionary:{name}": value for name, value in self.dictionary.state().items()}
        if self.text is not None:
            arrays |= {f"text:{k}": _pack(side) for k, side in enumerate(self.text)}
        for path in sorted((self._folder / "model").iterdir()):
            arrays[f"file:{path.name}"] = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        return arrays

    @classmethod
    def of_state(cls, arrays: Mapping[str, NDArray[Any]], *, threads: int = 0) -> WordKnowledge:
        """The inverse of `state`."""
        folder = Path(tempfile.mkdtemp(prefix="treeglot-words-"))
        try:
            (folder / "model").mkdir()
            for name, content in arrays.items():
                if name.startswith("file:"):
                    (folder / "model" / Path(name.removeprefix("file:")).name).write_bytes(content.tobytes())
            aligner = load(folder / "model", threads=threads, verify=False)
            assert isinstance(aligner, AgreementAligner)
            words = [_unpack(arrays[side]) for side in ("source", "target")]
            rows = [
                (words[0][s], words[1][t], float(forward), float(backward))
                for (s, t), (forward, backward) in zip(
                    arrays["pairs"].reshape(-1, 2).tolist(), arrays["chances"].reshape(-1, 2).tolist(), strict=True
                )
            ]
            entries = {k.removeprefix("dictionary:"): v for k, v in arrays.items() if k.startswith("dictionary:")}
            dictionary = Dictionary.of_state(entries) if entries else None
            text = (_unpack(arrays["text:0"]), _unpack(arrays["text:1"])) if "text:0" in arrays else None
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(rows, aligner, folder, lowercase=bool(arrays["lowercase"]), dictionary=dictionary, text=text)


def _pack(words: Sequence[str]) -> NDArray[np.uint8]:
    """Texts without line feeds as bytes."""
    return np.frombuffer("\n".join(words).encode(), dtype=np.uint8)


def _unpack(packed: NDArray[np.uint8]) -> list[str]:
    return packed.tobytes().decode().split("\n")
