"""What every parser backend is: text or tokens in, trees out, one sentence for each sentence, in order, none lost.

A backend implements `Parser.parse_texts` and `Parser.parse_tokens` for a short list of sentences and may raise whatever it
likes there. `Parser.parse` does the rest: it cuts the input into batches, repeats a batch that failed by halves until the
guilty sentence stands alone, and gives that sentence a flat tree with the reason in its notes. An empty line becomes a
placeholder of one word, so that the n-th result always belongs to the n-th line.

>>> class Chain(Parser):
...     name, trees = "chain", frozenset({"dependency"})
...     def parse_tokens(self, batch):
...         if any("boom" in words for words in batch):
...             raise RuntimeError("boom")
...         return [ParsedSentence.of(DependencyTree(words, range(-1, len(words) - 1))) for words in batch]
...     def parse_texts(self, batch):
...         return self.parse_tokens([text.split() for text in batch])
>>> parsed = list(Chain("en").parse(["a b c", "", ["boom", "d"]]))
>>> [sentence.tokens.forms for sentence in parsed]
[('a', 'b', 'c'), ('_',), ('boom', 'd')]
>>> [failure(sentence) for sentence in parsed]
['', 'empty line', 'boom']
"""

from __future__ import annotations

import itertools
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeVar

from treeglot.errors import ParserError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

Sentence = str | Sequence[str]
"""A line of text, or its words when it is tokenised already."""

TreeKind = Literal["dependency", "constituency"]
Concurrency = Literal["threads", "processes", "none"]

DEPENDENCY: TreeKind = "dependency"
CONSTITUENCY: TreeKind = "constituency"
BOTH: frozenset[TreeKind] = frozenset({DEPENDENCY, CONSTITUENCY})

PLACEHOLDER = "_"
"""The only word of the sentence that stands for an empty line."""

BATCH_SIZE = 64
MAX_WORDS = 250
"""Longer sentences get a flat tree: the chart parsers need cubic time, and such lines are rarely sentences."""

_BREAKING = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")
_T = TypeVar("_T")


class BackendUnavailable(ParserError):
    """The backend cannot parse anything here (package, model or program missing, server does not start).

    Unlike a failure on a sentence it ends the run: a file of flat trees would help nobody."""

    __module__ = "treeglot.parsers"


@dataclass(frozen=True)
class ParserSpec:
    """How to open a parser again, in this process or another one."""

    backend: str
    lang: str
    options: dict[str, Any] = field(default_factory=dict)


class Parser(ABC):
    """One backend with one model loaded. Use it as a context manager, or call `close`.

    ``trees`` are the kinds of trees that it gives by itself. ``concurrency`` says how several batches can be parsed at once:
    by ``threads`` that share this object, by ``processes`` that each open their own, or not at all (``none``).
    """

    name: ClassVar[str]
    trees: frozenset[TreeKind] = frozenset()
    tokenizes: bool = True
    concurrency: ClassVar[Concurrency] = "processes"
    spec: ParserSpec | None = None

    def __init__(self, lang: str, *, max_words: int = MAX_WORDS) -> None:
        if max_words < 1:
            raise ParserError(f"max_words is {max_words}", remedy="give a positive number of words")
        self.lang = lang
        self.max_words = max_words

    @property
    def model_files(self) -> Sequence[Path]:
        """Files and folders whose content decides the trees: here those that an option names."""
        options = self.spec.options.values() if self.spec else ()
        paths = [Path(value) for value in options if isinstance(value, str | os.PathLike)]
        return [path for path in paths if path.exists()]

    @property
    def description(self) -> str:
        """Name, version and model: what a reader of the output needs to know to repeat it."""
        return f"{self.name} {self.lang}"

    def languages(self) -> tuple[str, ...]:
        """The languages that this object parses."""
        return (self.lang,)

    @abstractmethod
    def parse_texts(self, batch: Sequence[str]) -> Sequence[ParsedSentence]:
        """Parse lines of text, none of them empty; one result for each, or any exception."""

    @abstractmethod
    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> Sequence[ParsedSentence]:
        """Parse tokenised sentences, none of them empty; one result for each with the same words, or any exception."""

    def tokenize_only(self, text: str) -> Tokens:
        """The words of a sentence that could not be parsed. The default splits at white space."""
        return Tokens(text.split())

    def peak_memory(self) -> int:
        """Bytes of memory that helpers outside this process took at most (0 if there are none)."""
        return 0

    def start(self) -> None:  # noqa: B027 - only servers have something to start
        """Make ready what takes long, so that it is not counted as parsing. `parse` does it by itself if need be."""

    def finish(self) -> None:  # noqa: B027 - only backends that read along have something to check
        """Called when all sentences of a text have been parsed."""

    def close(self) -> None:  # noqa: B027 - most backends have nothing to release
        """Release the model, stop the server."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, sentences: Iterable[Sentence], *, batch_size: int = BATCH_SIZE) -> Iterator[ParsedSentence]:
        """Parse sentences as they come: exactly one result for each, in order."""
        if batch_size < 1:
            raise ParserError(f"batch_size is {batch_size}", remedy="give a positive number of sentences")
        stream = iter(sentences)
        while batch := list(itertools.islice(stream, batch_size)):
            yield from self.parse_batch(batch)

    def parse_batch(self, batch: Sequence[Sentence]) -> list[ParsedSentence]:
        """Parse a short list of sentences: exactly one result for each, in order, whatever the backend does."""
        results: list[ParsedSentence | None] = [None] * len(batch)
        texts: list[tuple[int, str]] = []
        words: list[tuple[int, tuple[str, ...]]] = []
        for i, sentence in enumerate(batch):
            if isinstance(sentence, str):
                text = one_line(sentence)
                if text:
                    texts.append((i, text))
                else:
                    results[i] = empty_sentence()
            else:
                forms = tuple(sentence)
                if not forms:
                    results[i] = empty_sentence()
                elif len(forms) > self.max_words:
                    results[i] = flat_sentence(Tokens(forms), too_long(len(forms)))
                else:
                    words.append((i, check_words(forms)))
        self._guarded(self.parse_texts, texts, self._flat_text, results)
        self._guarded(self._parse_tokens_checked, words, _flat_words, results)
        for i, text in texts:
            parsed = results[i]
            assert parsed is not None
            results[i] = replace(parsed, comments=(f"# text = {text}", *parsed.comments))
        return [result for result in results if result is not None]

    def _parse_tokens_checked(self, batch: Sequence[tuple[str, ...]]) -> Sequence[ParsedSentence]:
        results = self.parse_tokens(batch)
        for forms, parsed in zip(batch, results, strict=False):
            if parsed.tokens.forms != forms:
                raise ParserError("the parser changed the words", remedy="report this as a bug of the backend")
        return results

    def _flat_text(self, text: str, reason: str) -> ParsedSentence:
        try:
            tokens = self.tokenize_only(text)
        except BackendUnavailable:
            raise
        except Exception:  # the parser has failed on this sentence before; splitting at spaces is what is left
            tokens = Tokens(())
        return flat_sentence(tokens if len(tokens) else Tokens(text.split()), reason)

    @staticmethod
    def _guarded(
        call: Callable[[Sequence[_T]], Sequence[ParsedSentence]],
        items: Sequence[tuple[int, _T]],
        give_up: Callable[[_T, str], ParsedSentence],
        results: list[ParsedSentence | None],
    ) -> None:
        """Fill ``results`` by ``call``, halving what fails until single sentences are left, which get a flat tree."""
        todo = [items] if items else []
        while todo:
            part = todo.pop()
            try:
                parsed = call([item for _, item in part])
                if len(parsed) != len(part):
                    raise ParserError(f"{len(parsed)} results for {len(part)} sentences", remedy="")
            except BackendUnavailable:
                raise
            except Exception as error:  # whatever a backend raises, no sentence may be lost
                if len(part) == 1:
                    number, item = part[0]
                    results[number] = give_up(item, reason_of(error))
                else:
                    middle = len(part) // 2
                    todo += [part[middle:], part[:middle]]
                continue
            for (number, _), sentence in zip(part, parsed, strict=True):
                results[number] = sentence


def one_line(text: str) -> str:
    """The text as one line: line breaks and other control characters become spaces, the ends are trimmed."""
    return _BREAKING.sub(" ", text).strip()


def check_words(forms: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse words that no file format could hold."""
    for j, form in enumerate(forms):
        if not form.strip() or _BREAKING.search(form):
            raise ParserError(f"word {j + 1} is {form!r}", remedy="drop empty words and line breaks in words")
    return forms


def reason_of(error: BaseException) -> str:
    """An error as one short line."""
    text = error.message if isinstance(error, ParserError) else str(error)
    return one_line(text)[:200] or type(error).__name__


def too_long(size: int) -> str:
    return f"too long ({size} words)"


def failure(sentence: ParsedSentence) -> str:
    """Why this sentence has only a flat tree; empty if it was parsed."""
    return dict(sentence.notes).get("parse", "").removeprefix("failed: ")


def empty_sentence() -> ParsedSentence:
    """The placeholder for an empty line."""
    return flat_sentence(Tokens([PLACEHOLDER], upos=["X"]), "empty line")


def flat_sentence(tokens: Tokens, reason: str) -> ParsedSentence:
    """A sentence that was not parsed: both trees flat, and the reason in a note and in a comment."""
    return replace(
        ParsedSentence.of(flat_dependency(tokens), flat_constituency(tokens)),
        comments=(f"# parse = failed: {reason}",),
        notes=(("parse", f"failed: {reason}"),),
    )


def _flat_words(forms: tuple[str, ...], reason: str) -> ParsedSentence:
    return flat_sentence(Tokens(forms), reason)


def flat_dependency(tokens: Tokens) -> DependencyTree:
    """All words under the first one."""
    size = len(tokens)
    return DependencyTree(tokens, [ROOT] + [0] * (size - 1), ["root"] + ["dep"] * (size - 1))


def flat_constituency(tokens: Tokens) -> ConstituencyTree:
    """All words under one phrase X."""
    return ConstituencyTree(tokens, ["X"], [[~j for j in range(len(tokens))]])


def single_root(heads: Sequence[int | None], deprels: Sequence[str]) -> tuple[list[int], list[str], int]:
    """Make one tree of what a parser gave: heads, labels and the number of words that had to be attached.

    Parsers that split sentences by themselves give several roots in one line, and some leave words out (None). Later
    roots are attached to the first one as ``parataxis``, words without a head as ``dep``.

    >>> single_root([1, -1, 3, -1, None], ["nsubj", "ROOT", "nsubj", "ROOT", ""])
    ([1, -1, 3, 1, 1], ['nsubj', 'root', 'nsubj', 'parataxis', 'dep'], 2)
    """
    fixed_heads: list[int] = []
    fixed_labels: list[str] = []
    root = next((j for j, head in enumerate(heads) if head == ROOT), None)
    if root is None:
        raise ParserError("the parser gave no root", remedy="")
    attached = 0
    for j, (head, label) in enumerate(zip(heads, deprels, strict=True)):
        if j == root:
            head, label = ROOT, "root"
        elif head is None or head == ROOT:
            head, label = root, "parataxis" if head == ROOT else "dep"
            attached += 1
        fixed_heads.append(head)
        fixed_labels.append(label or UNSET)
    return fixed_heads, fixed_labels, attached


def with_attached(sentence: ParsedSentence, attached: int) -> ParsedSentence:
    """Note that words had to be attached by `single_root`."""
    if not attached:
        return sentence
    return replace(
        sentence,
        comments=(*sentence.comments, f"# roots_attached = {attached}"),
        notes=(*sentence.notes, ("roots_attached", str(attached))),
    )
