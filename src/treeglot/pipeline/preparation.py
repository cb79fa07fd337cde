"""Preparing text for learning and for translation: the same tokens and the same case in training and in use.

`TextPipeline` is one language's way from raw text to the words that models see, and back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from treeglot.bitext import CleaningOptions, CleaningReport, TextPair, Tokenizer, Truecaser, clean, read_bitext
from treeglot.bitext.casing import apply_casing, detruecase
from treeglot.bitext.segmenters import default_method, missing_package
from treeglot.errors import ConfigError
from treeglot.pipeline.config import CONFIG_NAME, Cleaning, Corpus, Languages, Text
from treeglot.progress import tell, track
from treeglot.words import split_words


class TextPipeline:
    """Raw text ↔ words. ``truecaser`` is needed when the casing is ``true``."""

    def __init__(
        self, text: Text, lang: str, side: Literal["source", "target"], truecaser: Truecaser | None = None
    ) -> None:
        self.text, self.lang, self.side, self.truecaser = text, lang, side, truecaser
        self.name = text.method(side, lang)
        self._tokenizer: Tokenizer | None = None
        self.given_words = text.chosen(side) in ("space", "char")
        """Whether words are cut here even where a parser could do it."""
        if self.name != "space":
            try:
                self._tokenizer = Tokenizer(lang, method=self.name)
            except ConfigError as error:
                error.remedy = f'[text] {side}_tokenizer = "{default_method(lang)}"'
                raise error.at(CONFIG_NAME) from None

    def tokenize(self, line: str) -> list[str]:
        """The words of a line, as written."""
        return self._tokenizer.tokenize(line) if self._tokenizer else split_words(line)

    def words(self, line: str) -> list[str]:
        """The words of a line as the models see them."""
        return self.cased(self.tokenize(line))

    def cased(self, words: Sequence[str]) -> list[str]:
        """Words in the case that the models see."""
        return apply_casing(words, self.text.casing, self.truecaser)

    def running_text(self, words: list[str]) -> str:
        """Words of a translation as text for people."""
        if self.text.casing == "true":
            words = detruecase(words)
        return self._tokenizer.detokenize(words) if self._tokenizer else " ".join(words)


def read_corpus(corpus: Corpus, folder: Path, languages: Languages) -> Iterator[TextPair]:
    """The raw pairs of a part of the data."""
    paths = [folder / corpus.file] if corpus.file else [folder / corpus.source, folder / corpus.target]
    format = None if corpus.format == "auto" else corpus.format
    if format is None and not corpus.file:
        format = "plain"
    return read_bitext(*paths, format=format, source_lang=languages.source, target_lang=languages.target)


def train_truecasers(sentences: Iterable[tuple[Sequence[str], Sequence[str]]], paths: tuple[Path, Path]) -> None:
    """Learn the usual case of words on both sides, from the words of each pair, and save the models."""
    tokens: tuple[list[Sequence[str]], list[Sequence[str]]] = ([], [])
    for pair in track(sentences, "learning case"):
        tokens[0].append(pair[0])
        tokens[1].append(pair[1])
    for side, path in zip(tokens, paths, strict=True):
        truecaser = Truecaser.train(side)
        if truecaser.is_empty:  # a language without case: nobody reads the file
            path.write_bytes(b"")
        else:
            truecaser.save(path)


def cleaned(pairs: Iterator[TextPair], cleaning: Cleaning) -> tuple[Iterator[TextPair], CleaningReport]:
    """The pairs of words that the configuration keeps, and the report that fills while they are read."""
    options = CleaningOptions(
        min_length=max(cleaning.min_length, 1),
        max_length=cleaning.max_length,
        max_ratio=cleaning.max_ratio,
        unit="token",
        duplicates="pair" if cleaning.duplicates else "keep",
        normalization="none",
    )
    return clean(pairs, options)


def judge(report: CleaningReport, cleaning: Cleaning, pipelines: tuple[TextPipeline, TextPipeline], name: str) -> None:
    """Say on the terminal what share of a part was dropped and why; refuse more than ``cleaning.max_dropped``.

    Call it before the files get their names: then a refused part leaves nothing behind.
    """
    report.check(cleaning.max_dropped, "cleaning.{}".format, lambda side: segmentation_remedy(pipelines, side))
    tell(f"{name}: {report.summary()}")


def segmentation_remedy(pipelines: tuple[TextPipeline, TextPipeline], side: str) -> str:
    """What to write into the configuration for a side whose text has no blanks between words."""
    pipeline = pipelines[0] if side == "source" else pipelines[1]
    method = default_method(pipeline.lang)
    if method in ("moses", pipeline.name):
        return (
            f'is languages.{side} = "{pipeline.lang}" right? Else segment it, and set [text] {side}_tokenizer = "space"'
        )
    how = missing_package(method)
    return f'set [text] {side}_tokenizer = "{method}"' + (f" ({how})" if how else "")
