"""Stanza: neural parsers of the Stanford group with models for many languages, both trees for some.

Models are only used where they are installed already (``STANZA_RESOURCES_DIR`` or ``~/stanza_resources``); nothing is
downloaded behind the user's back.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treeglot.languages import NAMES
from treeglot.parsers.base import (
    CONSTITUENCY,
    DEPENDENCY,
    MAX_WORDS,
    BackendUnavailable,
    Parser,
    TreeKind,
    single_root,
    with_attached,
)
from treeglot.parsers.registry import BackendInfo, ModelInfo
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.sentence import MultiwordRange, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

_CODES = {"zh": "zh-hans"}
_BOTH_TREES = ("en", "zh", "da", "de", "es", "id", "it", "ja", "pt", "tr", "vi")
"""Languages for which Stanza publishes a phrase-structure model."""


def resources() -> Path:
    """The folder of Stanza's models."""
    return Path(os.environ.get("STANZA_RESOURCES_DIR") or Path.home() / "stanza_resources")


def processors_of(lang: str, folder: Path | None = None) -> tuple[str, ...]:
    """The installed processors of a language that parsing can use, in pipeline order; empty without a parser."""
    base = (folder or resources()) / _CODES.get(lang, lang)
    wanted = ("tokenize", "mwt", "pos", "lemma", "depparse", "constituency")
    present = tuple(name for name in wanted if any((base / name).glob("*.pt")))
    return present if {"tokenize", "pos", "depparse"} <= set(present) else ()


def _trees(processors: Sequence[str]) -> frozenset[TreeKind]:
    both: tuple[TreeKind, ...] = (DEPENDENCY, CONSTITUENCY)
    return frozenset(kind for kind, name in zip(both, ("depparse", "constituency"), strict=True) if name in processors)


def info() -> BackendInfo:
    installed = importlib.util.find_spec("stanza") is not None
    models = []
    for lang in NAMES:
        processors = processors_of(lang)
        could: tuple[TreeKind, ...] = (DEPENDENCY, CONSTITUENCY) if lang in _BOTH_TREES else (DEPENDENCY,)
        code = _CODES.get(lang, lang)
        how = f"python -c \"import stanza; stanza.download('{code}')\""
        models.append(
            ModelInfo(
                lang, code, _trees(processors) if processors else frozenset(could), installed and bool(processors), how
            )
        )
    version = importlib.metadata.version("stanza") if installed else ""
    return BackendInfo("stanza", installed, version, tuple(models), "pip install 'treeglot[stanza]'")


def open_backend(
    lang: str, *, folder: str | os.PathLike[str] | None = None, gpu: bool = False, max_words: int = MAX_WORDS
) -> Parser:
    return StanzaParser(lang, folder=folder, gpu=gpu, max_words=max_words)


class StanzaParser(Parser):
    """A Stanza pipeline. ``folder`` holds the models, ``gpu`` allows the use of one."""

    name = "stanza"

    def __init__(
        self,
        lang: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        gpu: bool = False,
        max_words: int = MAX_WORDS,
    ) -> None:
        super().__init__(lang, max_words=max_words)
        try:
            import stanza
        except ImportError as error:
            raise BackendUnavailable(
                f"Stanza is not installed ({error})", remedy="pip install 'treeglot[stanza]'"
            ) from None
        self.folder = Path(folder) if folder is not None else resources()
        self.code = _CODES.get(lang, lang)
        self.processors = processors_of(lang, self.folder)
        self.gpu = gpu
        if not self.processors:
            raise BackendUnavailable(
                f"no Stanza models for {self.code!r} in {self.folder}",
                remedy=f"python -c \"import stanza; stanza.download('{self.code}')\"",
            )
        self.trees = _trees(self.processors)
        self._stanza = stanza
        self._pipelines: dict[bool, Any] = {}

    @property
    def description(self) -> str:
        return f"stanza {importlib.metadata.version('stanza')} {self.lang} ({self.code})"

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        documents = self._pipeline(False).bulk_process(list(batch))
        return [self.read(only(document.sentences), text) for document, text in zip(documents, batch, strict=True)]

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        document = self._pipeline(True)([list(words) for words in batch])
        return [self.read(sentence, None) for sentence in document.sentences]

    def _pipeline(self, pretokenized: bool) -> Any:
        if pretokenized not in self._pipelines:
            names = [name for name in self.processors if not (pretokenized and name == "mwt")]
            how = {"tokenize_pretokenized": True} if pretokenized else {"tokenize_no_ssplit": True}
            self._pipelines[pretokenized] = self._stanza.Pipeline(
                self.code,
                dir=str(self.folder),
                processors=",".join(names),
                download_method=None,
                use_gpu=self.gpu,
                verbose=False,
                **how,
            )
        return self._pipelines[pretokenized]

    def read(self, sentence: Any, text: str | None) -> ParsedSentence:
        words = sentence.words
        heads: list[int | None] = [ROOT if word.head == 0 else word.head - 1 for word in words]
        fixed, labels, attached = single_root(heads, [word.deprel for word in words])
        misc = [UNSET] * len(words)
        ranges = []
        for token in sentence.tokens if text is not None else ():
            first, last = token.words[0].id - 1, token.words[-1].id
            glued = not (token.spaces_after if token.spaces_after is not None else " ") and last < len(words)
            if len(token.words) > 1:
                columns = (f"{first + 1}-{last}", token.text, *[UNSET] * 7, "SpaceAfter=No" if glued else UNSET)
                ranges.append(MultiwordRange(first, last, columns))
            elif glued:
                misc[first] = "SpaceAfter=No"
        tokens = Tokens(
            [word.text for word in words],
            lemmas=[word.lemma or UNSET for word in words],
            upos=[word.upos or UNSET for word in words],
            xpos=[word.xpos or UNSET for word in words],
            feats=[word.feats or UNSET for word in words],
            misc=misc,
        )
        tree = getattr(sentence, "constituency", None)
        parsed = ParsedSentence(
            tokens,
            DependencyTree(tokens, fixed, labels),
            None if tree is None else phrases(tree, tokens),
            ranges=tuple(ranges),
        )
        return with_attached(parsed, attached)


def only(sentences: Sequence[Any]) -> Any:
    """The one sentence of a line."""
    if len(sentences) != 1:
        raise ValueError(f"{len(sentences)} sentences in one line")
    return sentences[0]


def phrases(tree: Any, tokens: Tokens) -> ConstituencyTree:
    """A Stanza tree (nodes with ``label`` and ``children``) over ``tokens``, without its ROOT."""
    while tree.label == "ROOT" and len(tree.children) == 1 and tree.children[0].children[0].children:
        tree = tree.children[0]
    labels: list[str] = []
    children: list[list[int]] = []
    stack = [(tree, -1)]
    word = 0
    while stack:
        node, parent = stack.pop()
        if len(node.children) == 1 and not node.children[0].children:  # a tag over a word
            children[parent].append(~word)
            word += 1
            continue
        labels.append(node.label)
        children.append([])
        if parent >= 0:
            children[parent].append(len(labels) - 1)
        stack.extend((child, len(labels) - 1) for child in reversed(node.children))
    return ConstituencyTree(tokens, labels, children)
