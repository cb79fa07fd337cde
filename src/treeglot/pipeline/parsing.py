"""Text to trees in a project: the parsers of ``[parsers.source]`` and ``[parsers.target]``, and sentences in the words of the models.

A side that is parsed has the words of its trees everywhere. The source is tokenised by its parser, if that can; the target keeps
the words of ``[text]``, since translations must become running text again.

>>> text_words(["1\\u00a0000", "soft\\xadhyphen", "|||"])
['1_000', 'softhyphen', '|||']
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeglot.bitext.cleaning import without_controls
from treeglot.errors import ConfigError, InputError, ParserError
from treeglot.files import atomic_write
from treeglot.languages import language_code
from treeglot.parsers import Parser, open_parser, parse_file
from treeglot.parsers.base import BOTH
from treeglot.parsers.complete import complete
from treeglot.parsers.registry import best_backend, stanford_languages
from treeglot.pipeline.config import CONFIG_NAME, ParserChoice
from treeglot.pipeline.preparation import TextPipeline
from treeglot.trees.corpus import read_trees
from treeglot.trees.sentence import ParsedSentence
from treeglot.words import split_words

_SPACE = re.compile(r"\s+")
_CONVERTED = re.compile(r"# (constituency|dependency) = (converted .*)")


def text_words(forms: Iterable[str]) -> list[str]:
    """Words of a tree as a line of text can hold them: no white space inside, no control characters, none empty."""
    return [_SPACE.sub("_", without_controls(form).strip()) or "_" for form in forms]


def prepared_sentence(sentence: ParsedSentence, pipeline: TextPipeline) -> ParsedSentence:
    """The sentence with both trees over the words that the models see; nothing but words, tags and trees is kept."""
    # What `treeglot parse` converted it says in a comment.
    conversions = [comment.groups() for comment in map(_CONVERTED.match, sentence.comments) if comment]
    sentence = complete(sentence, BOTH)
    words = pipeline.cased(text_words(sentence.tokens.forms))
    old = sentence.tokens
    tokens = type(old)(words, upos=old.upos, xpos=old.xpos)
    dependency, constituency = sentence.dependency, sentence.constituency
    return ParsedSentence(
        tokens,
        None if dependency is None else replace(dependency, tokens=tokens),
        None if constituency is None else replace(constituency, tokens=tokens),
        notes=(*sentence.notes, *((kind, what) for kind, what in conversions)),
    )


def tree_files(
    conllu: Path | None = None, penn: Path | None = None, jsonl: Path | None = None
) -> Iterator[ParsedSentence]:
    """The sentences of tree files: CoNLL-U, Penn, both side by side, or JSON lines."""
    for number, sentence in enumerate(read_trees(conllu, penn, jsonl), start=1):
        if jsonl is not None and sentence.dependency is None and sentence.constituency is None:
            raise InputError(f"sentence {number} has no tree", path=jsonl, remedy="parse it first")
        yield sentence


def open_side_parser(choice: ParserChoice, side: str, lang: str, config: Path | None = None) -> Parser:
    """The parser of ``[parsers.SIDE]``."""
    if choice.backend in ("none", "files"):
        prefix = "target_" if side == "target" else ""
        remedy = f"name a parser, or give trees: {prefix}conllu and {prefix}penn in [data.*]"
        raise ConfigError(
            f"parsers.{side}.backend is {choice.backend!r}, but there is text to parse",
            path=config,
            remedy=remedy + ("" if prefix else ", --conllu and --penn on the command line"),
        )
    name = best_backend(language_code(lang)) if choice.backend == "auto" else choice.backend
    options: dict[str, Any] = {"model": choice.model} if choice.model else {}
    stanford = stanford_languages(name)
    if choice.dependencies == "sd" and language_code(lang) not in stanford:
        raise ConfigError(
            f"parsers.{side}.dependencies is 'sd', but {name} has no Stanford dependencies for {lang}",
            path=config,
            remedy="take ud, or the backend corenlp for Chinese and English",
        )
    if choice.dependencies != "ud" and language_code(lang) in stanford:
        options["dependencies"] = "sd"
    if name == "corenlp":
        options |= {"threads": workers(choice), "memory": choice.memory}
    return open_parser(name, lang, **options)


def workers(choice: ParserChoice) -> int:
    """Batches that are parsed at a time."""
    if choice.threads:
        return choice.threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_side(
    lines: Iterable[str], pipeline: TextPipeline, choice: ParserChoice, work: Path, outputs: Mapping[str, Path]
) -> None:
    """Parse text into ``conllu``, ``penn`` and a ``report``. What is done stays in ``work``: an interrupted run goes on."""
    kept = {key: work / outputs[key].name for key in ("conllu", "penn", "report")}
    if not kept["report"].exists():
        with open_side_parser(choice, pipeline.side, pipeline.lang) as parser:
            given = pipeline.side == "target" or pipeline.given_words or not parser.tokenizes
            text = work / "text"
            if not text.exists():
                with atomic_write(text) as file:
                    for line in lines:
                        words = pipeline.tokenize(line) if given else split_words(line)
                        file.write(" ".join(words) + "\n")
            summary = parse_file(
                parser,
                text,
                conllu=kept["conllu"],
                penn=kept["penn"],
                tokenized=given,
                workers=workers(choice),
            )
        with atomic_write(kept["report"]) as file:
            json.dump(summary.as_dict(), file, ensure_ascii=False, indent=1)
            file.write("\n")
    for key, path in kept.items():
        shutil.copyfile(path, outputs[key])


def parse_lines(
    parser: Parser, lines: Sequence[str | Sequence[str]], pipeline: TextPipeline, *, tokenized: bool = False
) -> list[ParsedSentence]:
    """Parse a few lines for translation: one prepared sentence for each, empty lines as the placeholder."""
    given = tokenized or pipeline.given_words or not parser.tokenizes
    texts: list[str | Sequence[str]] = []
    for line in lines:
        if isinstance(line, str) and given:
            texts.append(split_words(line) if tokenized else pipeline.tokenize(line))
        else:
            texts.append(line)
    try:
        return [prepared_sentence(sentence, pipeline) for sentence in parser.parse_batch(texts)]
    except ParserError as error:
        raise error.at(CONFIG_NAME) from None
