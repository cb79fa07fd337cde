"""Translating text with any system of a project: raw lines, lines of words, or sentences that are parsed already.

A project that uses trees translates the words of its parser, also with its phrase-based system: text is parsed by the parser of
``[parsers.source]``, unless trees are given.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Self

from treeglot.errors import TreeglotError
from treeglot.parsers import Parser
from treeglot.parsers.base import empty_sentence
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.decoding import as_corpus
from treeglot.pipeline.parsing import open_side_parser, parse_lines, prepared_sentence
from treeglot.pipeline.project import Project
from treeglot.search import RuleUse, Translation
from treeglot.search.display import Explained
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.words import split_words

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Translated:
    """A sentence as it was given, as the decoder got it, and its translation (``result`` is None for an empty line)."""

    line: str
    sentence: ParsedSentence
    result: Translation | None
    text: str

    @property
    def words(self) -> str:
        """The source words that the decoder got."""
        return " ".join(self.sentence.tokens.forms)

    @property
    def derivation(self) -> RuleUse | None:
        """The rules of the translation."""
        return self.result.derivation if self.result is not None else None

    def explained(self, system: str, weights: Mapping[str, float]) -> Explained | None:
        """For a page of derivations."""
        if self.result is None:
            return None
        return Explained(self.sentence, self.result.derivation, self.text, self.result.score, system, weights=weights)


class Translator:
    """One system of a project, ready to translate. Use it as a context manager: a parser may have to be stopped."""

    def __init__(
        self,
        project: Project,
        system: str,
        weights: Mapping[str, float] | None = None,
        *,
        strict: bool = False,
        **limits: Any,
    ) -> None:
        """``strict`` refuses trees of another kind than those that the system was learnt from."""
        self.project = project
        self.strict = strict
        self.spec = project.system(system)
        self.weights = dict(weights or project.weights(system))
        self.decoder = project.decoder(system, self.weights, **limits)
        self._parser: Parser | None = None

    @property
    def parser(self) -> Parser:
        """The project's parser, opened when it is first needed."""
        if self._parser is None:
            path = self.project.folder / CONFIG_NAME
            self._parser = open_side_parser(self.project.config.parsers.source, "source", self.project.source, path)
        return self._parser

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._parser is not None:
            self._parser.close()

    def lines(
        self, lines: Iterable[str], *, tokenized: bool = False, batch: int = 256, **options: Any
    ) -> Iterator[Translated]:
        """Translate text, one sentence a line. ``tokenized``: the lines are words already, and so are the translations.
        ``options`` are those of `treeglot.search.Decoder.translate`."""
        stream = iter(lines)
        while some := list(islice(stream, batch)):
            yield from self._translated(some, self._prepared(some, tokenized), tokenized, options)

    def sentences(
        self, sentences: Iterable[ParsedSentence], *, tokenized: bool = False, batch: int = 256, **options: Any
    ) -> Iterator[Translated]:
        """Translate sentences that are parsed already; their words get the case of the project."""
        stream = iter(sentences)
        pipeline = self.project.pipelines[0]
        warned_of: set[str] = set()
        number = 0
        while some := list(islice(stream, batch)):
            for sentence in some:
                number += 1
                self._check_trees(number, sentence, warned_of)
            prepared = [prepared_sentence(sentence, pipeline) for sentence in some]
            yield from self._translated([sentence.text for sentence in some], prepared, tokenized, options)

    def _check_trees(self, number: int, sentence: ParsedSentence, warned_of: set[str]) -> None:
        """Say once for each kind if a tree that the system needs has to be made of the other one, but was given in training."""
        given = self.project.config.data.parts["train"].files
        for kind, tree, key in (
            ("dependency", sentence.dependency, "conllu"),
            ("constituency", sentence.constituency, "penn"),
        ):
            if (
                tree is not None
                or kind not in self.spec.needs
                or key not in given
                or kind in warned_of
                or not len(sentence)
            ):
                continue
            message = f"sentence {number} has no {kind} tree, from which {self.spec.name} was learnt"
            if self.strict:
                raise TreeglotError(message, remedy=f"give --{key}, or leave out --strict")
            log.warning("%s: it is converted from the other tree, which is not the same; give --%s", message, key)
            warned_of.add(kind)

    def _prepared(self, lines: Sequence[str], tokenized: bool) -> list[ParsedSentence]:
        pipeline = self.project.pipelines[0]
        by_parser = self.project.config.uses_trees and not (tokenized or pipeline.given_words)
        if not (self.spec.needs or by_parser):
            words = (split_words(line) if tokenized else pipeline.words(line) for line in lines)
            return [ParsedSentence(Tokens(sentence)) for sentence in words]
        full = [n for n, line in enumerate(lines) if line.strip()]
        parsed = parse_lines(self.parser, [lines[n] for n in full], pipeline, tokenized=tokenized)
        prepared = [ParsedSentence(Tokens(()))] * len(lines)
        for n, sentence in zip(full, parsed, strict=True):
            prepared[n] = sentence
        return prepared

    def _translated(
        self, lines: Sequence[str], sentences: Sequence[ParsedSentence], tokenized: bool, options: Mapping[str, Any]
    ) -> Iterator[Translated]:
        nothing = empty_sentence().tokens.forms
        full = [
            n
            for n, sentence in enumerate(sentences)
            if len(sentence) and (sentence.tokens.forms != nothing or lines[n].strip())
        ]
        corpus = as_corpus(self.spec, (sentences[n] for n in full))
        results = dict(zip(full, self.decoder.translate(corpus, **options), strict=True))
        pipeline = self.project.pipelines[1]
        for n, (line, sentence) in enumerate(zip(lines, sentences, strict=True)):
            result = results.get(n)
            text = "" if result is None else result.text
            yield Translated(line, sentence, result, text if tokenized else pipeline.running_text(split_words(text)))
