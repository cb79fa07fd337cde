"""UDPipe 1 (``ufal.udpipe``): small, fast dependency parsers, and anyone can train one (see `udpipe_training`).

A model is a file: ``model=`` names it, or it is found by language in the folders of ``TREEGLOT_MODELS`` and in the cache.
File names begin with the language (``en_ewt.udpipe``, ``german-gsd-ud-2.5.udpipe``).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from treeglot.errors import ParserError
from treeglot.languages import NAMES, language_code
from treeglot.parsers.base import (
    DEPENDENCY,
    MAX_WORDS,
    BackendUnavailable,
    Parser,
    TreeKind,
    flat_sentence,
    single_root,
    too_long,
    with_attached,
)
from treeglot.parsers.cache import cache_folder
from treeglot.parsers.registry import BackendInfo, ModelInfo
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.sentence import MultiwordRange, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

MODELS_VARIABLE = "TREEGLOT_MODELS"
_TRAIN = "treeglot parsers train-udpipe TREEBANK.conllu, or put a .udpipe file into {folder}"


def model_folders() -> list[Path]:
    """Where models are looked for, in order."""
    given = os.environ.get(MODELS_VARIABLE, "")
    return [Path(name).expanduser() for name in given.split(os.pathsep) if name] + [cache_folder("udpipe")]


def installed_models() -> Iterator[tuple[str, Path]]:
    """All models that are found: language and file."""
    names = {name.lower(): code for code, name in NAMES.items()}
    for folder in model_folders():
        for path in sorted(folder.glob("*.udpipe")) if folder.is_dir() else ():
            first = re.split(r"[-_.]", path.name.lower())[0]
            try:
                yield names.get(first) or language_code(first), path
            except ParserError:
                continue


def info() -> BackendInfo:
    installed = importlib.util.find_spec("ufal") is not None and importlib.util.find_spec("ufal.udpipe") is not None
    paths = dict(reversed(list(installed_models())))
    how = _TRAIN.format(folder=cache_folder("udpipe"))
    kinds: frozenset[TreeKind] = frozenset({DEPENDENCY})
    models = tuple(ModelInfo(lang, str(path), kinds, installed) for lang, path in sorted(paths.items()))
    version = importlib.metadata.version("ufal.udpipe") if installed else ""
    return BackendInfo(
        "udpipe", installed, version, models, "pip install 'treeglot[udpipe]'", note=f"any language: {how}"
    )


def open_backend(lang: str, *, model: str | os.PathLike[str] | None = None, max_words: int = MAX_WORDS) -> Parser:
    return UDPipeParser(lang, model=model, max_words=max_words)


class UDPipeParser(Parser):
    """A UDPipe model. Without ``model`` the first one of the language in `model_folders` is taken."""

    name = "udpipe"
    trees: frozenset[TreeKind] = frozenset({DEPENDENCY})

    def __init__(self, lang: str, *, model: str | os.PathLike[str] | None = None, max_words: int = MAX_WORDS) -> None:
        super().__init__(lang, max_words=max_words)
        try:
            import ufal.udpipe
        except ImportError:
            raise BackendUnavailable("ufal.udpipe is not installed", remedy="pip install 'treeglot[udpipe]'") from None
        path = Path(model) if model is not None else dict(reversed(list(installed_models()))).get(lang)
        if path is None:
            raise BackendUnavailable(
                f"no UDPipe model for {lang!r} in {', '.join(map(str, model_folders()))}",
                remedy=_TRAIN.format(folder=cache_folder("udpipe")),
            )
        if not path.is_file():
            raise BackendUnavailable("no such model", path=path, remedy="check the path")
        loaded = ufal.udpipe.Model.load(str(path))
        if not loaded:
            raise BackendUnavailable("not a UDPipe 1 model, or a damaged one", path=path, remedy="copy it again")
        self.path = path
        self._udpipe = ufal.udpipe
        self._model = loaded
        self._tokenizer = loaded.newTokenizer(loaded.TOKENIZER_PRESEGMENTED)
        self.tokenizes = bool(self._tokenizer)

    @property
    def model_files(self) -> Sequence[Path]:
        return [self.path]

    @property
    def description(self) -> str:
        return f"udpipe {importlib.metadata.version('ufal.udpipe')} {self.lang} ({self.path.name})"

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        if not self.tokenizes:
            return [self._parse(self._from_words(text.split()), True) for text in batch]
        return [self._parse(self._from_text(text), True) for text in batch]

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        return [self._parse(self._from_words(words), False) for words in batch]

    def tokenize_only(self, text: str) -> Tokens:
        if not self.tokenizes:
            return Tokens(text.split())
        words = self._from_text(text).words
        return Tokens(words[j].form for j in range(1, words.size()))

    def _from_words(self, words: Sequence[str]) -> Any:
        sentence = self._udpipe.Sentence()
        for word in words:
            sentence.addWord(word)
        return sentence

    def _from_text(self, text: str) -> Any:
        """One sentence of one line. The tokenizer keeps to lines, but never trust it with more than one."""
        problem = self._udpipe.ProcessingError()
        self._tokenizer.setText(text)
        sentence = self._udpipe.Sentence()
        if not self._tokenizer.nextSentence(sentence, problem):
            raise ParserError(problem.message or "the tokenizer found no word", remedy="")
        further = self._udpipe.Sentence()
        if self._tokenizer.nextSentence(further, problem):
            raise ParserError("the tokenizer split the line into sentences", remedy="")
        return sentence

    def _parse(self, sentence: Any, from_text: bool) -> ParsedSentence:
        size = sentence.words.size() - 1
        if size > self.max_words:
            forms = [sentence.words[j].form for j in range(1, size + 1)]
            return flat_sentence(Tokens(forms), too_long(size))
        for step in (self._model.tag, self._model.parse):
            problem = self._udpipe.ProcessingError()
            if not step(sentence, self._model.DEFAULT, problem):
                raise ParserError(problem.message or "UDPipe failed", remedy="")
        words = [sentence.words[j] for j in range(1, size + 1)]
        heads: list[int | None] = [ROOT if w.head == 0 else (w.head - 1 if w.head > 0 else None) for w in words]
        fixed, labels, attached = single_root(heads, [word.deprel for word in words])
        tokens = Tokens(
            [word.form for word in words],
            lemmas=[word.lemma or UNSET for word in words],
            upos=[word.upostag or UNSET for word in words],
            xpos=[word.xpostag or UNSET for word in words],
            feats=[word.feats or UNSET for word in words],
            misc=[_space(word, j, size) for j, word in enumerate(words)] if from_text else None,
        )
        ranges = tuple(
            MultiwordRange(
                part.idFirst - 1,
                part.idLast,
                (f"{part.idFirst}-{part.idLast}", part.form, *[UNSET] * 7, _space(part, part.idLast - 1, size)),
            )
            for part in (sentence.multiwordTokens[j] for j in range(sentence.multiwordTokens.size()))
        )
        parsed = ParsedSentence(tokens, DependencyTree(tokens, fixed, labels), ranges=ranges)
        return with_attached(parsed, attached)


def _space(word: Any, j: int, size: int) -> str:
    return "SpaceAfter=No" if j < size - 1 and not word.getSpaceAfter() else UNSET
