"""benepar: the Berkeley neural phrase-structure parser, run on top of a spaCy pipeline.

With a spaCy model of the language both trees come out. Without one spaCy only splits the text into words; then the
dependencies are converted from the phrases.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treeglot.parsers.base import BOTH, CONSTITUENCY, MAX_WORDS, BackendUnavailable, Parser
from treeglot.parsers.registry import BackendInfo, ModelInfo
from treeglot.parsers.spacy import SpacyParser, find_model, load
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

MODELS = {
    "ar": "benepar_ar2",
    "de": "benepar_de2",
    "en": "benepar_en3",
    "eu": "benepar_eu2",
    "fr": "benepar_fr2",
    "he": "benepar_he2",
    "hu": "benepar_hu2",
    "ko": "benepar_ko2",
    "pl": "benepar_pl2",
    "sv": "benepar_sv2",
    "zh": "benepar_zh2",
}


def info() -> BackendInfo:
    installed = all(importlib.util.find_spec(name) is not None for name in ("benepar", "spacy"))
    models = []
    for lang, name in MODELS.items():
        trees = BOTH if installed and find_model(lang) else frozenset({CONSTITUENCY})
        how = f"python -c \"import benepar; benepar.download('{name}')\""
        models.append(ModelInfo(lang, name, trees, installed and model_path(name) is not None, how))
    version = importlib.metadata.version("benepar") if installed else ""
    return BackendInfo("benepar", installed, version, tuple(models), "pip install 'treeglot[benepar]'")


def model_path(name: str) -> str | None:
    """Where NLTK's data folders hold a model."""
    try:
        import nltk.data

        return str(nltk.data.find(f"models/{name}"))
    except (ImportError, LookupError):
        return None


def open_backend(
    lang: str, *, model: str | None = None, spacy_model: str | None = None, max_words: int = MAX_WORDS
) -> Parser:
    return BeneparParser(lang, model=model, spacy_model=spacy_model, max_words=max_words)


class BeneparParser(SpacyParser):
    """benepar in a spaCy pipeline. ``model`` names another benepar model, ``spacy_model`` another spaCy pipeline."""

    name = "benepar"

    def __init__(
        self, lang: str, *, model: str | None = None, spacy_model: str | None = None, max_words: int = MAX_WORDS
    ) -> None:
        Parser.__init__(self, lang, max_words=max_words)
        try:
            import benepar  # noqa: F401 - registers the component
            import spacy
        except ImportError as error:
            raise BackendUnavailable(
                f"benepar is not installed ({error})", remedy="pip install 'treeglot[benepar]'"
            ) from None
        name = model or MODELS.get(lang)
        if name is None:
            raise BackendUnavailable(f"benepar has no model for {lang!r}", remedy=f"it has {', '.join(MODELS)}")
        if model is None and model_path(name) is None:
            raise BackendUnavailable(
                f"the benepar model {name} is not installed",
                remedy=f"python -c \"import benepar; benepar.download('{name}')\"",
            )
        self.has_dependencies = spacy_model is not None or find_model(lang) is not None
        self.nlp = load(lang, spacy_model) if self.has_dependencies else spacy.blank(lang)
        self.nlp.add_pipe("benepar", config={"model": name})
        self.model = name
        self.trees = BOTH if self.has_dependencies else frozenset({CONSTITUENCY})

    @property
    def description(self) -> str:
        return f"benepar {importlib.metadata.version('benepar')} {self.lang} ({self.model})"

    def read(self, doc: Any, keep_space: bool) -> ParsedSentence:
        kept = [token for token in doc if not (keep_space and token.is_space)]
        if self.has_dependencies:
            parsed = super().read(doc, keep_space)
        else:
            parsed = ParsedSentence(self.tokens(kept, keep_space))
        number = {token.i: j for j, token in enumerate(kept)}
        return replace(parsed, constituency=phrases(doc[:], number, parsed.tokens))


def phrases(top: Any, number: dict[int, int], tokens: Tokens) -> ConstituencyTree:
    """The phrases that benepar put on a span, over ``tokens``; ``number`` is the place of each spaCy token in them."""
    labels: list[str] = []
    children: list[list[int]] = []
    stack: list[tuple[Any, int]] = [(top, -1)]
    while stack:
        span, parent = stack.pop()
        words = [number[token.i] for token in span if token.i in number]
        if not words:
            continue
        for label in span._.labels:
            labels.append(label)
            children.append([])
            if parent >= 0:
                children[parent].append(len(labels) - 1)
            parent = len(labels) - 1
        below: Sequence[Any] = list(span._.children)
        if parent < 0:  # a sentence that is no phrase still needs one node above its words
            labels.append("X")
            children.append([])
            parent = 0
        if below:
            stack.extend((child, parent) for child in below)
        else:
            children[parent].extend(~word for word in words)
    return ConstituencyTree(tokens, labels, children)
