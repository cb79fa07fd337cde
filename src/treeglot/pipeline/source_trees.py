"""Trees of the source side: given in files or made by a parser, in the words of the models, parallel to the text.

A project that uses trees has one line of words for everything: the words of the trees, cased as the configuration says. The
prepared trees in ``trees/PART.conllu`` and ``trees/PART.penn`` have exactly the words of ``corpus/PART.LANGUAGE``, sentence by
sentence; a pair that cleaning drops loses its trees too. A tree that is missing is converted from the other one.

>>> text_words(["1\\u00a0000", "soft\\xadhyphen", "|||"])
['1_000', 'softhyphen', '|||']
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from treeglot.bitext import CleaningReport, TextPair, read_bitext
from treeglot.bitext.cleaning import without_controls
from treeglot.errors import ConfigError, InputError, ParserError
from treeglot.files import atomic_write, read_lines
from treeglot.parsers import Parser, open_parser, parse_file
from treeglot.parsers.base import BOTH, empty_sentence
from treeglot.parsers.complete import complete, converted
from treeglot.parsers.files import surface_words
from treeglot.parsers.languages import language_code
from treeglot.parsers.registry import best_backend
from treeglot.pipeline.config import CONFIG_NAME, Cleaning, Corpus, Languages, ParserChoice
from treeglot.pipeline.preparation import TextPipeline, cleaned, judge
from treeglot.progress import track
from treeglot.trees.conllu import format_conllu
from treeglot.trees.corpus import read_trees
from treeglot.trees.penn import format_penn
from treeglot.trees.projectivity import lifted, projectivize
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.treejson import read_jsonl
from treeglot.words import split_words

_SPACE = re.compile(r"\s+")
_CONVERTED = re.compile(r"# (constituency|dependency) = (converted .*)")


def text_words(forms: Iterable[str]) -> list[str]:
    """Words of a tree as a line of text can hold them: no white space inside, no control characters, none empty."""
    return [_SPACE.sub("_", without_controls(form).strip()) or "_" for form in forms]


def prepared_sentence(sentence: ParsedSentence, pipeline: TextPipeline, name: str = "") -> ParsedSentence:
    """The sentence with both trees over the words that the models see; nothing but words, tags and trees is kept."""
    # What `treeglot parse` converted it says in a comment.
    said = [found.groups() for found in map(_CONVERTED.match, sentence.comments) if found]
    sentence = complete(sentence, BOTH)
    words = pipeline.cased(text_words(sentence.tokens.forms))
    old = sentence.tokens
    tokens = type(old)(words, upos=old.upos, xpos=old.xpos)
    dependency, constituency = sentence.dependency, sentence.constituency
    return ParsedSentence(
        tokens,
        None if dependency is None else replace(dependency, tokens=tokens),
        None if constituency is None else replace(constituency, tokens=tokens),
        comments=(f"# sent_id = {name}",) if name else (),
        notes=(*sentence.notes, *((kind, what) for kind, what in said)),
    )


# Reading


def tree_files(
    conllu: Path | None = None, penn: Path | None = None, jsonl: Path | None = None
) -> Iterator[ParsedSentence]:
    """The sentences of tree files: CoNLL-U, Penn, both side by side, or JSON lines."""
    if jsonl is None:
        yield from read_trees(conllu, penn)
        return
    if conllu is not None or penn is not None:
        raise ConfigError("JSON lines and other trees", remedy="give one or the other")
    for number, item in enumerate(read_jsonl(jsonl), start=1):
        if not isinstance(item, ParsedSentence):
            item = item.source
        if item.dependency is None and item.constituency is None:
            raise InputError("a sentence without a tree", path=jsonl, line=number, remedy="parse it first")
        yield item


@dataclass
class TreeCounts:
    """What is said about the trees of a part in ``trees/PART.trees.txt``."""

    sentences: int = 0
    words: int = 0
    lifted: int = 0
    converted: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: ParsedSentence) -> None:
        self.sentences += 1
        self.words += len(sentence)
        if sentence.dependency is not None:
            self.lifted += lifted(projectivize(sentence.dependency))
        if kind := converted(sentence):
            self.converted[kind] += 1

    def as_text(self, origin: str) -> str:
        lines = [f"trees: {origin}", f"sentences: {self.sentences:,}", f"words: {self.words:,}"]
        other = {"constituency": "dependencies", "dependency": "constituents"}
        lines += [f"{kind} trees converted from {other[kind]}: {n:,}" for kind, n in sorted(self.converted.items())]
        lines.append(f"arcs that are lifted to make the trees projective: {self.lifted:,}")
        return "\n".join(lines) + "\n"


def read_parsed_pairs(
    corpus: Corpus, folder: Path, languages: Languages, conllu: Path | None, penn: Path | None
) -> Iterator[tuple[ParsedSentence, str]]:
    """The trees of a part with the target text of each; a source text that is given beside trees must agree with them."""
    blamed = conllu or penn
    texts: Iterable[tuple[str | None, str]]
    if corpus.file or corpus.source:
        paths = [folder / corpus.file] if corpus.file else [folder / corpus.source, folder / corpus.target]
        format = None if corpus.format == "auto" else corpus.format
        if format is None and not corpus.file:
            format = "plain"
        pairs = read_bitext(*paths, format=format, source_lang=languages.source, target_lang=languages.target)
        texts = ((pair.source, pair.target) for pair in pairs)
    else:
        paths = [folder / corpus.target]
        texts = ((None, line) for _, line in read_lines(paths[0]))
    missing = object()
    for number, (sentence, pair) in enumerate(zip_longest(read_trees(conllu, penn), texts, fillvalue=missing), start=1):
        if not isinstance(sentence, ParsedSentence) or not isinstance(pair, tuple):
            short, other = (blamed, paths[-1]) if sentence is missing else (paths[-1], blamed)
            raise InputError(
                f"ends after {number - 1:,} sentences, but {other} goes on",
                path=short,
                line=number,
                remedy="give trees and text of the same sentences",
            )
        source, target = pair
        # A parser of ours has made one tree for each line; it may write quotes and brackets in its own way.
        if source is not None and corpus.has_trees:
            check_text(sentence, source, number, blamed)
        yield sentence, target


def check_text(sentence: ParsedSentence, text: str, number: int, path: Path | None) -> None:
    """Refuse a tree whose characters are not those of the text."""
    tree = "".join(text_words(surface_words(sentence))).replace("_", "")
    line = _SPACE.sub("", without_controls(text)).replace("_", "")
    if tree == line or (not line and sentence.tokens.forms == empty_sentence().tokens.forms):
        return
    at = next((j for j, (a, b) in enumerate(zip(tree, line, strict=False)) if a != b), min(len(tree), len(line)))
    raise InputError(
        f"sentence {number}: the tree reads {tree[at : at + 20]!r} where the text has {line[at : at + 20]!r}",
        path=path,
        line=number,
        remedy="give trees of this text; or leave out source, then the words are those of the trees",
    )


# Preparing


def prepare_parsed(
    pairs: Iterator[tuple[ParsedSentence, str]],
    pipelines: tuple[TextPipeline, TextPipeline],
    outputs: Mapping[str, Path],
    cleaning: Cleaning | None,
    name: str,
) -> tuple[CleaningReport | None, TreeCounts]:
    """Write ``source``, ``target``, ``conllu`` and ``penn``; with ``cleaning``, the same pairs are left out of all four."""
    waiting: dict[int, ParsedSentence] = {}

    def worded() -> Iterator[TextPair]:
        for number, (sentence, target) in enumerate(track(pairs, f"preparing {name}"), start=1):
            done = prepared_sentence(sentence, pipelines[0], str(number))
            waiting[number] = done
            yield TextPair(" ".join(done.tokens.forms), " ".join(pipelines[1].words(target)), line=number)

    kept: Iterator[TextPair] = worded()
    report: CleaningReport | None = None
    if cleaning is not None:
        kept, report = cleaned(kept, cleaning)
    counts = TreeCounts()
    with ExitStack() as stack:
        files = {key: stack.enter_context(atomic_write(outputs[key])) for key in ("source", "target", "conllu", "penn")}
        for pair in kept:
            sentence = waiting.pop(pair.line)
            waiting.clear()
            if pair.source != " ".join(sentence.tokens.forms):
                raise InputError(f"sentence {pair.line}: cleaning changed its words", remedy="please report this")
            assert sentence.constituency is not None
            counts.add(sentence)
            files["source"].write(pair.source + "\n")
            files["target"].write(pair.target + "\n")
            files["conllu"].write(format_conllu(sentence))
            files["penn"].write(format_penn(sentence.constituency) + "\n")
        if cleaning is not None and report is not None:
            judge(report, cleaning, pipelines, name)
    return report, counts


# Parsing


def open_source_parser(choice: ParserChoice, lang: str, config: Path | None = None) -> Parser:
    """The parser of ``[parsers.source]``."""
    if choice.backend in ("none", "files"):
        raise ConfigError(
            f"parsers.source.backend is {choice.backend!r}, but there is text to parse",
            path=config,
            remedy="name a parser, or give trees: conllu and penn in [data.*], --conllu and --penn on the command line",
        )
    name = best_backend(language_code(lang)) if choice.backend == "auto" else choice.backend
    options: dict[str, Any] = {"model": choice.model} if choice.model else {}
    if name == "corenlp":
        options |= {"threads": workers(choice), "memory": choice.memory}
    return open_parser(name, lang, **options)


def workers(choice: ParserChoice) -> int:
    """Batches that are parsed at a time."""
    if choice.threads:
        return choice.threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parse_source(
    lines: Iterable[str],
    pipeline: TextPipeline,
    choice: ParserChoice,
    lang: str,
    work: Path,
    outputs: Mapping[str, Path],
) -> None:
    """Parse text into ``conllu``, ``penn`` and a ``report``. What is done stays in ``work``: an interrupted run goes on."""
    made = {key: work / outputs[key].name for key in ("conllu", "penn", "report")}
    if not made["report"].exists():
        with open_source_parser(choice, lang) as parser:
            given = pipeline.given_words or not parser.tokenizes
            text = work / "text"
            if not text.exists():
                with atomic_write(text) as file:
                    for line in lines:
                        words = pipeline.tokenize(line) if given else split_words(line)
                        file.write(" ".join(words) + "\n")
            summary = parse_file(
                parser,
                text,
                conllu=made["conllu"],
                penn=made["penn"],
                tokenized=given,
                workers=workers(choice),
            )
        with atomic_write(made["report"]) as file:
            json.dump(summary.as_dict(), file, ensure_ascii=False, indent=1)
            file.write("\n")
    for key, path in made.items():
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
