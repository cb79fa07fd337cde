"""Sentences that were parsed elsewhere: trees from files, checked against the text.

The n-th tree must belong to the n-th line. With text the words of the tree, written together, must be the line's characters
(white space aside, and with multiword ranges such as ``au`` taken as written); with tokens they must be the same words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from treeglot.errors import InputError, ParserError, TreeError
from treeglot.parsers.base import (
    BOTH,
    CONSTITUENCY,
    DEPENDENCY,
    BackendUnavailable,
    Parser,
    Sentence,
    TreeKind,
    empty_sentence,
    one_line,
)
from treeglot.parsers.registry import BackendInfo
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn
from treeglot.trees.sentence import ParsedSentence


def info() -> BackendInfo:
    note = "trees from files: --parser files --trees PARSED.conllu and/or PARSED.penn or PARSED.jsonl, checked against the text"
    return BackendInfo("files", True, "", (), note=note)


def open_backend(
    lang: str,
    *,
    conllu: str | os.PathLike[str] | None = None,
    penn: str | os.PathLike[str] | None = None,
    jsonl: str | os.PathLike[str] | None = None,
) -> Parser:
    return FilesParser(lang, conllu=conllu, penn=penn, jsonl=jsonl)


class FilesParser(Parser):
    """Reads one tree (or two, from CoNLL-U and Penn files side by side) for each sentence that it is asked to parse.

    A sentence that does not fit its tree is an error that names the line of the text, not a flat tree: then the files
    belong to another text."""

    name = "files"
    concurrency = "none"

    def __init__(
        self,
        lang: str,
        *,
        conllu: str | os.PathLike[str] | None = None,
        penn: str | os.PathLike[str] | None = None,
        jsonl: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(lang)
        given = [Path(path) for path in (conllu, penn, jsonl) if path is not None]
        if not given or (jsonl is not None and len(given) > 1):
            raise ParserError("which files?", remedy="name a CoNLL-U file, a Penn file, both, or one JSON lines file")
        self.paths = given
        self._conllu = read_conllu(conllu) if conllu is not None else None
        self._penn = read_penn(penn) if penn is not None else None
        self._jsonl = _read_jsonl(jsonl) if jsonl is not None else None
        kinds: list[TreeKind] = [DEPENDENCY] * (conllu is not None) + [CONSTITUENCY] * (penn is not None)
        self.trees = BOTH if jsonl is not None else frozenset(kinds)
        self._number = 0

    @property
    def description(self) -> str:
        return f"files {', '.join(path.name for path in self.paths)}"

    def parse_batch(self, batch: Sequence[Sentence]) -> list[ParsedSentence]:
        return [self._next(sentence) for sentence in batch]

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        return self.parse_batch(batch)

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        return self.parse_batch(batch)

    def finish(self) -> None:
        """Complain if the files have more sentences than the text."""
        for path, stream in zip(self.paths, self._streams(), strict=True):
            if next(stream, None) is not None:
                raise InputError(
                    f"the text ends after {self._number} lines, but {path.name} has more sentences",
                    line=self._number,
                    remedy="parse this text, or give the text that belongs to the trees",
                )

    def _streams(self) -> list[Iterator[ParsedSentence]]:
        return [stream for stream in (self._conllu, self._penn, self._jsonl) if stream is not None]

    def _next(self, sentence: Sentence) -> ParsedSentence:
        self._number += 1
        empty = not one_line(sentence) if isinstance(sentence, str) else not len(sentence)
        trees: list[ParsedSentence] = []
        for path, stream in zip(self.paths, self._streams(), strict=True):
            tree = next(stream, None)
            if tree is None:
                raise InputError(
                    f"{path.name} has only {self._number - 1} sentences, but the text has more lines",
                    line=self._number,
                    remedy="parse the whole text",
                )
            if not empty and not trees:  # the second file is checked against the first, which knows multiword ranges
                _check(tree, sentence, self._number, path)
            trees.append(tree)
        if empty:
            return empty_sentence()
        parsed = trees[0]
        if len(trees) == 2:
            try:
                joined = ParsedSentence.of(trees[0].dependency, trees[1].constituency, id=str(self._number))
            except TreeError as error:
                names = " and ".join(path.name for path in self.paths)
                raise InputError(
                    f"{names} differ: {error.message}", line=self._number, remedy="give trees of the same words"
                ) from None
            parsed = replace(
                trees[0], tokens=joined.tokens, dependency=joined.dependency, constituency=joined.constituency
            )
        kept = tuple(line for line in parsed.comments if not re.match(r"# *(sent_id|generator) *=", line))
        return replace(parsed, comments=kept)


def _check(tree: ParsedSentence, sentence: Sentence, number: int, path: Path) -> None:
    if isinstance(sentence, str):
        surface = "".join("".join(surface_words(tree)).split())
        text = "".join(one_line(sentence).split())
        if surface == text:
            return
        j = next(
            (j for j, (a, b) in enumerate(zip(surface, text, strict=False)) if a != b), min(len(surface), len(text))
        )
        what = f"sentence {number} of {path.name} reads {surface[j : j + 20]!r} where the text has {text[j : j + 20]!r}"
    else:
        if tuple(sentence) == tree.tokens.forms:
            return
        pairs = list(zip(tree.tokens.forms, sentence, strict=False))
        j = next((j for j, (a, b) in enumerate(pairs) if a != b), len(pairs))
        words = [words[j] if j < len(words) else "nothing" for words in (tree.tokens.forms, sentence)]
        what = (
            f"sentence {number} of {path.name}: word {j + 1} is {words[0]!r} in the tree and {words[1]!r} in the text"
        )
    raise InputError(what, line=number, remedy="give the text that belongs to the trees, line by line")


def surface_words(sentence: ParsedSentence) -> list[str]:
    """The words as written: a multiword range once, not its parts."""
    words: list[str] = []
    starts = {multiword.start: multiword for multiword in sentence.ranges}
    j = 0
    while j < len(sentence):
        words.append(starts[j].columns[1] if j in starts else sentence.tokens.forms[j])
        j = starts[j].end if j in starts else j + 1
    return words


def _read_jsonl(path: str | os.PathLike[str]) -> Iterator[ParsedSentence]:
    from treeglot.trees.treejson import read_jsonl

    for item in read_jsonl(path):
        if not isinstance(item, ParsedSentence):
            raise BackendUnavailable(
                "sentence pairs, not sentences", path=path, remedy="give the parsed sentences of one side"
            )
        yield item
