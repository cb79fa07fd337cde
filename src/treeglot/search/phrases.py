"""The phrase-based decoder (spec: search and tuning, "Phrase-based decoder"): tables and a language model in,
translations with their derivations out.

>>> import pathlib, tempfile
>>> from treeglot import lm
>>> from treeglot.search.weights import DEFAULT_WEIGHTS
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "table").write_text(
...     "das haus ||| the house ||| 0.5 0.5 0.5 0.5 ||| 0-0 1-1\\n"
...     "ist ||| is ||| 0.9 0.9 0.9 0.9 ||| 0-0\\nklein ||| small ||| 0.8 0.8 0.8 0.8 ||| 0-0\\n")
>>> with (folder / "arpa").open("wb") as file:
...     _ = lm.estimate([b"the house is small\\n"], file, order=2)
>>> decoder = PhraseDecoder(read_moses_phrases(folder / "table"), lm.open_model(folder / "arpa"), DEFAULT_WEIGHTS)
>>> best = decoder.translate(["das haus ist klein", "das haus in köln"])
>>> [translation.text for translation in best]
['the house is small', 'the house in köln']
>>> [(use.source, use.target, use.unknown) for use in best[1].derivation]
[('das haus', 'the house', False), ('in', 'in', True), ('köln', 'köln', True)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from treeglot._core import search as core
from treeglot.errors import ConfigError, InputError, TreeglotError
from treeglot.files import decode_line, open_binary
from treeglot.lm import LanguageModel
from treeglot.search import weights as weight_files
from treeglot.search.weights import FEATURES
from treeglot.words import split_words

_BLOCK = 1 << 22


@dataclass(frozen=True)
class PhraseUse:
    """One phrase of a derivation: source words ``begin`` to ``end`` (exclusive) became ``target``.

    ``links`` are word links inside the phrase, ``features`` what this step adds to each feature.
    """

    begin: int
    end: int
    source: str
    target: str
    unknown: bool
    links: tuple[tuple[int, int], ...]
    features: dict[str, float]


class Translation:
    """One translation of a sentence; ``kbest`` has all that were asked for, best first, itself included at its place."""

    def __init__(self, result: core.Translation, source: str, rank: int = 0) -> None:
        """``result`` holds the derivations of ``source``; this object shows number ``rank``."""
        self._result = result
        self.source = source
        self.rank = rank

    def __repr__(self) -> str:
        return f"Translation({self.text!r}, score={self.score:.4f})"

    @cached_property
    def text(self) -> str:
        """The words, separated by blanks."""
        return self._result.text(self.rank)

    @property
    def score(self) -> float:
        """The model's score: the weighted sum of the features."""
        return self._result.score(self.rank)

    @property
    def vector(self) -> list[float]:
        """The feature values in the order of `FEATURES`."""
        return self._result.features(self.rank)

    @property
    def features(self) -> dict[str, float]:
        """The feature values by name."""
        return dict(zip(FEATURES, self.vector, strict=True))

    @property
    def derivation(self) -> tuple[PhraseUse, ...]:
        """The phrases in the order of the target."""
        words = split_words(self.source)
        return tuple(
            PhraseUse(
                begin,
                end,
                " ".join(words[begin:end]),
                target,
                unknown,
                tuple(links),
                dict(zip(FEATURES, values, strict=True)),
            )
            for begin, end, target, unknown, links, values in self._result.steps(self.rank)
        )

    @property
    def kbest(self) -> list[Translation]:
        """All translations of the sentence that were asked for, best first."""
        return [Translation(self._result, self.source, rank) for rank in range(len(self._result))]


class PhraseDecoder:
    """Translates tokenised sentences with a phrase table, a language model and weights."""

    def __init__(
        self,
        table: core.PhraseSource,
        model: LanguageModel,
        weights: Mapping[str, float],
        *,
        distortion_limit: int = 6,
        max_phrase_length: int = 20,
        table_limit: int = 20,
        search: Literal["cube", "stack"] = "cube",
        pop_limit: int = 500,
        stack_size: int = 200,
        beam_threshold: float = 0.0,
    ) -> None:
        """Limits, each with 0 for "none" where a limit can be left out:

        ``distortion_limit`` is the longest jump in source words (0: monotone, -1: any), ``table_limit`` the number of
        translations of a source phrase, ``pop_limit`` the hypotheses that cube pruning makes for a stack, ``stack_size``
        those that stay, ``beam_threshold`` the share of the best one's probability below which a hypothesis is dropped.
        ``search="stack"`` tries every extension of every hypothesis instead of cube pruning.
        """
        if search not in ("cube", "stack"):
            raise ConfigError(f"unknown search '{search}'", remedy="choose cube or stack")
        for name, value, least in [
            ("distortion_limit", distortion_limit, -1),
            ("max_phrase_length", max_phrase_length, 1),
            ("table_limit", table_limit, 0),
            ("pop_limit", pop_limit, 0),
            ("stack_size", stack_size, 0),
        ]:
            if not least <= value < 1 << 31:
                raise ConfigError(f"{name} is {value}", remedy=f"give a number from {least} on")
        if not 0 <= beam_threshold < 1:
            raise ConfigError(f"beam_threshold is {beam_threshold}", remedy="give a share between 0 (off) and 1")
        self.weights = dict(zip(FEATURES, weight_files.vector(weights), strict=True))
        self._core = core.PhraseDecoder(
            table,
            model.core,
            list(self.weights.values()),
            distortion_limit=distortion_limit,
            phrase_length=max_phrase_length,
            table_limit=table_limit,
            cube_pruning=search == "cube",
            pop_limit=pop_limit,
            stack_size=stack_size,
            beam_threshold=beam_threshold,
        )

    def translate(
        self,
        sentences: Iterable[str],
        *,
        nbest: int = 1,
        distinct: bool = False,
        threads: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> list[Translation]:
        """The best translation of each sentence; with ``nbest`` > 1 its ``kbest`` has up to that many.

        ``distinct`` leaves out repeated word sequences. The result is the same for any number of ``threads`` (0: all
        cores). ``progress`` is called now and then with the number of finished sentences.
        """
        if nbest < 1:
            raise ConfigError(f"nbest is {nbest}", remedy="give a number from 1 on")
        if threads < 0:
            raise ConfigError(f"threads is {threads}", remedy="give 0 (all cores) or more")
        lines = list(sentences)
        try:
            results = self._core.translate(lines, nbest, distinct, threads, progress)
        except RuntimeError as error:  # a damaged place in a mapped table
            raise TreeglotError(str(error), remedy="build the table again") from None
        return [Translation(result, line) for result, line in zip(results, lines, strict=True)]


def read_moses_phrases(
    path: str | os.PathLike[str], reordering: str | os.PathLike[str] | None = None
) -> core.TextPhraseTable:
    """Read Moses' text phrase table and, if given, its msd-bidirectional-fe reordering table (plain, gz, zst)."""
    table = core.TextPhraseTable()
    _feed(path, table.add_phrases)
    if reordering is not None:
        _feed(reordering, table.add_reordering)
    table.finish()
    return table


def open_phrases(path: str | os.PathLike[str], *, verify: bool = False) -> core.StoredPhrases:
    """Map a stored phrase table into memory; ``verify`` reads all of it and checks the checksum."""
    name = os.fspath(path)
    try:
        return core.StoredPhrases(name, verify)
    except RuntimeError as error:
        raise InputError(str(error), path=name, line=1, remedy="build the table again") from None


def _feed(path: str | os.PathLike[str], add: Callable[[bytes], int]) -> None:
    number = 0
    for block in _blocks(path):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            for offset, line in enumerate(block.splitlines(keepends=True), start=1):
                decode_line(line, path, number + offset)
        try:
            number += add(block)
        except ValueError as error:
            line_in_block, message = error.args
            raise InputError(
                message,
                path=path,
                line=number + line_in_block,
                remedy="give lines as Moses writes them: source ||| target ||| scores ||| links",
            ) from None


def _blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    rest = b""
    with open_binary(path) as stream:
        while block := stream.read(_BLOCK):
            lines, newline, tail = block.rpartition(b"\n")
            if newline:
                yield rest + lines + newline
                rest = tail
            else:
                rest += block
    if rest:
        yield rest
