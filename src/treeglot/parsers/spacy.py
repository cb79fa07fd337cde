"""spaCy: light dependency parsers; the French one comes from the package index alone, the Japanese one is GiNZA.

One line is one sentence: spaCy's own sentence splitting is forbidden before it parses (every word but the first is marked
as no sentence start), which also keeps it from cutting long sentences; roots that are left over are attached to the first.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

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
from treeglot.parsers.registry import BackendInfo, ModelInfo
from treeglot.parsers.tagsets import UPOS
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

MODELS: dict[str, tuple[str, ...]] = {
    "ca": ("ca_core_news_lg", "ca_core_news_md", "ca_core_news_sm"),
    "da": ("da_core_news_lg", "da_core_news_md", "da_core_news_sm"),
    "de": ("de_core_news_lg", "de_core_news_md", "de_core_news_sm"),
    "el": ("el_core_news_lg", "el_core_news_md", "el_core_news_sm"),
    "en": ("en_core_web_lg", "en_core_web_md", "en_core_web_sm"),
    "es": ("es_core_news_lg", "es_core_news_md", "es_core_news_sm"),
    "fi": ("fi_core_news_lg", "fi_core_news_md", "fi_core_news_sm"),
    "fr": ("fr_core_news_lg", "fr_core_news_md", "fr_core_news_sm"),
    "it": ("it_core_news_lg", "it_core_news_md", "it_core_news_sm"),
    "ja": ("ja_ginza", "ja_core_news_lg", "ja_core_news_md", "ja_core_news_sm"),
    "ko": ("ko_core_news_lg", "ko_core_news_md", "ko_core_news_sm"),
    "nl": ("nl_core_news_lg", "nl_core_news_md", "nl_core_news_sm"),
    "pl": ("pl_core_news_lg", "pl_core_news_md", "pl_core_news_sm"),
    "pt": ("pt_core_news_lg", "pt_core_news_md", "pt_core_news_sm"),
    "ru": ("ru_core_news_lg", "ru_core_news_md", "ru_core_news_sm"),
    "sv": ("sv_core_news_lg", "sv_core_news_md", "sv_core_news_sm"),
    "zh": ("zh_core_web_lg", "zh_core_web_md", "zh_core_web_sm"),
}
"""Model packages by language, best first."""

_HOW = {
    "fr": "pip install 'treeglot[french]'",
    "ja": "pip install 'treeglot[japanese]'",
}


def info() -> BackendInfo:
    installed = importlib.util.find_spec("spacy") is not None
    models = []
    for lang, names in MODELS.items():
        model = find_model(lang) if installed else None
        how = _HOW.get(lang, f"python -m spacy download {names[-1]}")
        kinds: frozenset[TreeKind] = frozenset({DEPENDENCY})
        models.append(ModelInfo(lang, model or names[-1], kinds, model is not None, how, lang in _HOW))
    version = importlib.metadata.version("spacy") if installed else ""
    return BackendInfo("spacy", installed, version, tuple(models), "pip install 'treeglot[spacy]'")


def find_model(lang: str) -> str | None:
    """The best installed model package of a language."""
    return next((name for name in MODELS.get(lang, ()) if importlib.util.find_spec(name) is not None), None)


def open_backend(lang: str, *, model: str | None = None, max_words: int = MAX_WORDS) -> Parser:
    return SpacyParser(lang, model=model, max_words=max_words)


def load(lang: str, model: str | None) -> Any:
    """Load a spaCy pipeline: a package, or the folder of a model of one's own."""
    try:
        import spacy
    except ImportError:
        raise BackendUnavailable(
            "spaCy is not installed", remedy=_HOW.get(lang, "pip install 'treeglot[spacy]'")
        ) from None
    name = model or find_model(lang)
    if name is None:
        names = MODELS.get(lang, ())
        how = _HOW.get(lang) or (
            f"python -m spacy download {names[-1]}" if names else "train one and name it with --model"
        )
        raise BackendUnavailable(f"no spaCy model for {lang!r} is installed", remedy=how)
    try:
        return spacy.load(name, exclude=["ner", "entity_linker", "compound_splitter", "bunsetu_recognizer"])
    except OSError as error:
        message = str(error).splitlines()[0]
        raise BackendUnavailable(f"spaCy cannot load {name!r}: {message}", remedy="install the model package") from None


class SpacyParser(Parser):
    """A spaCy pipeline. ``model`` is a package or a folder; without it the best installed one of the language is taken."""

    name = "spacy"
    trees: frozenset[TreeKind] = frozenset({DEPENDENCY})

    def __init__(self, lang: str, *, model: str | None = None, max_words: int = MAX_WORDS) -> None:
        super().__init__(lang, max_words=max_words)
        self.nlp = load(lang, model)
        if not any(name in self.nlp.pipe_names for name in ("parser", "transition_parser", "biaffine_parser")):
            raise BackendUnavailable(
                f"the spaCy model {self.nlp.meta['name']!r} has no dependency parser", remedy="use another model"
            )

    @property
    def description(self) -> str:
        meta = self.nlp.meta
        version = importlib.metadata.version("spacy")
        return f"{self.name} {version} {self.lang} ({meta['lang']}_{meta['name']} {meta['version']})"

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        return self._parse([self.nlp.make_doc(text) for text in batch], keep_space=True)

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        from spacy.tokens import Doc

        return self._parse([Doc(self.nlp.vocab, words=list(words)) for words in batch], keep_space=False)

    def tokenize_only(self, text: str) -> Tokens:
        return Tokens(token.text for token in self.nlp.make_doc(text) if not token.is_space)

    def _parse(self, docs: Sequence[Any], *, keep_space: bool) -> list[ParsedSentence]:
        results: list[ParsedSentence | None] = []
        short = []
        for doc in docs:
            forms = [token.text for token in doc if not (keep_space and token.is_space)]
            if len(forms) > self.max_words:
                results.append(flat_sentence(Tokens(forms), too_long(len(forms))))
                continue
            for j, token in enumerate(doc):
                token.is_sent_start = j == 0
            short.append(doc)
            results.append(None)
        parsed = iter(self.nlp.pipe(short, batch_size=len(short) or 1))
        return [known if known is not None else self.read(next(parsed), keep_space) for known in results]

    def read(self, doc: Any, keep_space: bool) -> ParsedSentence:
        """A parsed document as a sentence. Tokens of white space alone are left out of the tree."""
        kept = [token for token in doc if not (keep_space and token.is_space)]
        number = {token.i: j for j, token in enumerate(kept)}
        heads: list[int | None] = []
        for token in kept:
            head = token.head
            while head.i not in number and head.head.i != head.i:
                head = head.head
            heads.append(ROOT if head.i == token.i else number.get(head.i))
        if kept and ROOT not in heads:  # the root itself was white space
            heads[0] = ROOT
        fixed, labels, attached = single_root(
            heads, [token.dep_.removesuffix("_bunsetu").replace("ROOT", "root") for token in kept]
        )
        tokens = self.tokens(kept, keep_space)
        return with_attached(ParsedSentence.of(DependencyTree(tokens, fixed, labels)), attached)

    def tokens(self, kept: Sequence[Any], keep_space: bool) -> Tokens:
        last = len(kept) - 1
        tags = [token.tag_ for token in kept]
        upos = [token.pos_ for token in kept]
        return Tokens(
            [token.text for token in kept],
            lemmas=_column(token.lemma_ for token in kept),
            upos=[{"SPACE": "X", "": UNSET}.get(tag, tag) for tag in upos],
            xpos=None if tags == upos or all(tag in UPOS for tag in tags) else _column(tags),
            feats=_column(str(token.morph) for token in kept),
            misc=["SpaceAfter=No" if j != last and not t.whitespace_ else UNSET for j, t in enumerate(kept)]
            if keep_space
            else None,
        )


def _column(values: Iterable[str]) -> list[str]:
    return [value.strip() or UNSET for value in values]
