"""A look at the data before anything is learnt from it: what would go wrong in hours is said in seconds.

`check_data` reads every part of the data once, keeps an even sample of it in memory, and returns what it noticed: text without
blanks and without a segmenter, sides that are exchanged, text that was decoded wrongly, pairs that cleaning would drop, packages
that are missing. Files of different lengths and lines that are not UTF-8 are found by the readers. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from treeglot.bitext import TextPair
from treeglot.bitext.scripts import LANGUAGES, blankless_language, blankless_share, is_unsegmented, mean_chunk
from treeglot.bitext.segmenters import SEGMENTERS, alternatives, missing_package
from treeglot.errors import InputError, TreeglotError
from treeglot.files import read_lines
from treeglot.languages import language_code
from treeglot.parsers.registry import available, best_backend
from treeglot.pipeline.config import TREE_KEYS, Corpus, ProjectConfig
from treeglot.pipeline.preparation import TextPipeline, cleaned, read_corpus, segmentation_remedy
from treeglot.progress import track
from treeglot.trees.corpus import Side, read_trees
from treeglot.trees.treejson import MAX_LINE_BYTES

SAMPLE = 1000
"""Pairs of each part that are looked at."""
TREES = 200
"""Sentences of a part with trees that are looked at, from its beginning: reading trees takes longer."""
SEGMENTED_CHUNK = 4.0
"""Mean characters between blanks below which text of a script without blanks was segmented by somebody."""
DAMAGED_SHARE = 0.02
"""The share of texts with other than ASCII characters that look damaged, above which it is said."""

SIDES: tuple[Side, Side] = ("source", "target")
T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """Something noticed. A ``serious`` one keeps `treeglot train` from a good result, or from any."""

    message: str
    remedy: str
    serious: bool = True

    def __str__(self) -> str:
        return f"{'' if self.serious else 'note: '}{self.message}\n  remedy: {self.remedy}"


def check_data(config: ProjectConfig, folder: Path) -> list[Finding]:
    """What is wrong with the data of a project for its languages and settings, the most basic things first."""
    findings = list(_missing(config))
    try:
        pipelines = tuple(TextPipeline(config.text, getattr(config.languages, side), side) for side in SIDES)
    except TreeglotError as error:
        return [*findings, _as_finding(error)]
    for part, corpus in config.data.parts.items():
        try:
            sample = _read_sample(config, corpus, folder, part)
        except TreeglotError as error:
            findings.append(_as_finding(error))
            continue
        findings += _check_sample(config, corpus, part, sample, (pipelines[0], pipelines[1]))
    return findings


def even_sample(items: Iterable[T], size: int = SAMPLE) -> list[T]:
    """At least ``size`` items in even distances (all if there are fewer), in one pass.

    >>> even_sample(range(10), 3), even_sample(range(2), 3)
    ([0, 2, 4, 6, 8], [0, 1])
    """
    kept: list[T] = []
    step = 1
    for number, item in enumerate(items):
        if number % step == 0:
            kept.append(item)
            if len(kept) == 2 * size:
                kept = kept[::2]
                step *= 2
    return kept


def _as_finding(error: TreeglotError) -> Finding:
    place = ":".join(str(part) for part in (error.path, error.line) if part is not None)
    return Finding(f"{place}: {error.message}" if place else error.message, error.remedy)


def _missing(config: ProjectConfig) -> Iterator[Finding]:
    """Segmenters and parsers that are needed and not installed."""
    parts = config.data.parts
    to_parse = {
        "source": config.uses_trees and not all(corpus.has_trees for corpus in parts.values()),
        "target": config.uses_target_trees and not config.data.train.has_target_trees,
    }
    for side in SIDES:
        backend, lang = getattr(config.parsers, side).backend, language_code(getattr(config.languages, side))
        if to_parse[side] and backend == "auto":
            try:
                best_backend(lang)
            except TreeglotError as error:
                yield _as_finding(error)
        elif to_parse[side]:
            info = next((info for info in available(lang) if info.name == backend), None)
            if info is not None and not info.installed:
                yield Finding(f'parsers.{side}.backend = "{backend}" is not installed', info.how)
    for side in SIDES:
        method = config.text.method(side, getattr(config.languages, side))
        # The source of a project with trees has the words of its trees or of its parser.
        if how := "" if side == "source" and config.uses_trees else missing_package(method):
            yield Finding(
                f'[text] the {side}\'s tokenizer "{method}" is not installed',
                f"{how}; or choose {alternatives(method)}",
            )


def _read_sample(config: ProjectConfig, corpus: Corpus, folder: Path, part: str) -> list[TextPair]:
    for key, name in corpus.files.items():
        if not (folder / name).is_file():
            raise InputError(
                f"data.{part}.{key}: no such file", path=folder / name, remedy=f"put it there, or correct data.{part}"
            )
    if not (corpus.has_trees or corpus.has_target_trees):
        pairs = read_corpus(corpus, folder, config.languages)
        return even_sample(track(pairs, f"looking at {part}"))
    sides = zip(
        range(1, TREES + 1),
        _texts(config, corpus, folder, "source"),
        _texts(config, corpus, folder, "target"),
        strict=False,
    )
    sample = [TextPair(source, target, line=number) for number, source, target in sides]
    counted = corpus.conllu or corpus.jsonl
    if counted and corpus.target:
        if corpus.conllu:
            sentences = sum(line.startswith("1\t") for _, line in read_lines(folder / counted))
        else:
            sentences = sum(bool(line.strip()) for _, line in read_lines(folder / counted, max_bytes=MAX_LINE_BYTES))
        lines = sum(1 for _ in read_lines(folder / corpus.target))
        if sentences != lines:
            raise InputError(
                f"{sentences:,} sentences, but {folder / corpus.target} has {lines:,} lines",
                path=folder / counted,
                remedy="give trees and text of the same sentences",
            )
    return sample


def _texts(config: ProjectConfig, corpus: Corpus, folder: Path, side: Side) -> Iterator[str]:
    """The sentences of a side: the words of its trees, or its text."""
    conllu, penn, jsonl = (folder / corpus.files[key] if key in corpus.files else None for key in TREE_KEYS[side])
    if conllu or penn or jsonl:
        return (" ".join(sentence.tokens.forms) for sentence in read_trees(conllu, penn, jsonl, side))
    if corpus.file:
        return (getattr(pair, side) for pair in read_corpus(corpus, folder, config.languages))
    return (line for _, line in read_lines(folder / getattr(corpus, side)))


def _check_sample(
    config: ProjectConfig,
    corpus: Corpus,
    part: str,
    sample: list[TextPair],
    pipelines: tuple[TextPipeline, TextPipeline],
) -> Iterator[Finding]:
    if not sample:
        yield Finding(f"data.{part}: no pair of texts", "check the file, and that it has both languages")
        return
    trouble = False
    for side, pipeline in zip(SIDES, pipelines, strict=True):
        texts = [getattr(pair, side) for pair in sample]
        place = f"data.{part}: the {side} ({pipeline.lang})"
        if damaged := _damage(texts):
            trouble = True
            yield Finding(
                f"{place} {damaged}", "get the text again, or decode it once more from the original, as UTF-8"
            )
        if not (corpus.has_trees if side == "source" else corpus.has_target_trees):
            for finding in _check_script(texts, place, side, pipelines):
                trouble = trouble or finding.serious
                yield finding
    # What cleaning would say follows from the above: it is told once.
    if part == "train" and not trouble and not any(map(missing_package, (pipeline.name for pipeline in pipelines))):
        yield from _check_cleaning(config, corpus, sample, pipelines)


def _damage(texts: list[str]) -> str:
    """How text was decoded wrongly, if it was."""
    foreign = [text for text in texts if not text.isascii()]
    if not foreign:
        return ""
    twice = sum(map(_was_decoded_twice, foreign))
    if twice > DAMAGED_SHARE * len(foreign):
        return f"looks like UTF-8 that was read as Windows-1252, in {100 * twice / len(texts):.0f} % of its lines"
    lost = sum("\ufffd" in text for text in foreign)
    if lost > DAMAGED_SHARE * len(foreign):
        return f"has lost characters (U+FFFD) in {100 * lost / len(texts):.0f} % of its lines"
    return ""


def _was_decoded_twice(text: str) -> bool:
    """Whether text is UTF-8 in the disguise of Windows-1252.

    >>> _was_decoded_twice("cafÃ©"), _was_decoded_twice("café")
    (True, False)
    """
    try:
        text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return False
    return True


def _check_script(
    texts: list[str], place: str, side: Side, pipelines: tuple[TextPipeline, TextPipeline]
) -> Iterator[Finding]:
    """Whether a text is in the script of its language, and becomes words."""
    pipeline = pipelines[SIDES.index(side)]
    language = blankless_language(pipeline.lang)
    share = blankless_share(texts)
    if language is None and share > 0.5:
        yield Finding(
            f"{place} is in a script without blanks, which {pipeline.lang} is not written in",
            "are the two sides exchanged? Correct [languages], or the files of [data.*]",
        )
    elif language is not None and share < 0.2:
        yield Finding(
            f"{place}: only {100 * share:.0f} % of its characters are of the script of {LANGUAGES[language]}",
            "are the two sides exchanged? Correct [languages], or the files of [data.*]",
        )
    elif language is not None and is_unsegmented(texts) and pipeline.name in ("moses", "space"):
        yield Finding(
            f'{place} has hardly any blanks ({mean_chunk(texts):.0f} characters between two of them), and "{pipeline.name}" '
            "goes by blanks",
            segmentation_remedy(pipelines, side),
        )
    elif language is not None and pipeline.name in SEGMENTERS and 0 < mean_chunk(texts) < SEGMENTED_CHUNK:
        yield Finding(
            f"{place} has blanks between its words already; {pipeline.name} cuts some of them once more",
            f'set [text] {side}_tokenizer = "space" to keep them as they are',
            serious=False,
        )


def _check_cleaning(
    config: ProjectConfig, corpus: Corpus, sample: list[TextPair], pipelines: tuple[TextPipeline, TextPipeline]
) -> Iterator[Finding]:
    """What cleaning would drop of the training text."""
    worded = (
        TextPair(
            pair.source if corpus.has_trees else " ".join(pipelines[0].tokenize(pair.source)),
            pair.target if corpus.has_target_trees else " ".join(pipelines[1].tokenize(pair.target)),
            line=pair.line,
        )
        for pair in sample
    )
    kept, report = cleaned(worded, config.cleaning)
    for _ in kept:
        pass
    try:
        report.check(
            config.cleaning.max_dropped, "cleaning.{}".format, lambda side: segmentation_remedy(pipelines, side)
        )
    except InputError as error:
        yield Finding(f"data.train, of a sample: {error.message}", error.remedy)
