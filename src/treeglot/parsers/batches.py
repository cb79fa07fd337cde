"""One batch of a file through a parser: from lines to the text of every output.

This is the part of a run that workers do; what they hand back is text and counts, cheap to send and to keep in a journal.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treeglot.errors import InputError
from treeglot.files import type_path
from treeglot.parsers.base import BOTH, DEPENDENCY, Parser, Sentence, TreeKind, empty_sentence, failure, flat_sentence
from treeglot.parsers.complete import complete, converted
from treeglot.trees.conllu import format_conllu
from treeglot.trees.penn import format_penn
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.words import split_words

FORMATS = ("conllu", "penn", "jsonl")
Record = dict[str, Any]

_NEEDS: dict[str, frozenset[TreeKind]] = {"conllu": frozenset({DEPENDENCY}), "penn": BOTH, "jsonl": BOTH}


@dataclass(frozen=True)
class Batch:
    """Lines ``first``, ``first + 1``, ... (1-based) of the input."""

    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """What to do with a batch; picklable, so that worker processes can have it."""

    formats: tuple[str, ...]
    tokenized: bool = False
    header: str = ""

    def __call__(self, parser: Parser, batch: Batch) -> Record:
        return self.record(batch, parser.parse_batch(list(self.sentences(batch))))

    def sentences(self, batch: Batch) -> Iterator[Sentence]:
        for line in batch.lines:
            yield split_words(line) if self.tokenized else line

    def give_up(self, batch: Batch, reason: str) -> Record:
        """The record of a batch that could not be parsed at all."""
        flat = (Tokens(split_words(line) if self.tokenized else line.split()) for line in batch.lines)
        return self.record(
            batch, [flat_sentence(tokens, reason) if len(tokens) else empty_sentence() for tokens in flat]
        )

    def record(self, batch: Batch, parsed: Sequence[ParsedSentence]) -> Record:
        wanted = frozenset[TreeKind]().union(*(_NEEDS[name] for name in self.formats))
        failures: Counter[str] = Counter()
        counts = Counter(sentences=0, words=0, attached=0)
        texts: dict[str, list[str]] = {name: [] for name in self.formats}
        for number, sentence in enumerate(parsed, batch.first):
            done = complete(sentence, wanted)
            comments = [f"# sent_id = {number}", *done.comments]
            if number == 1 and self.header:
                comments.insert(0, f"# generator = {self.header}")
            done = replace(done, id=str(number), comments=tuple(comments))
            counts["sentences"] += 1
            counts["words"] += len(done)
            counts["attached"] += "roots_attached" in dict(done.notes)
            if kind := converted(done):
                counts[f"converted {kind}"] += 1
            if reason := failure(done):
                failures[reason] += 1
            for name in self.formats:
                texts[name].append(_format(done, name))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return {
            "texts": {name: "".join(parts) for name, parts in texts.items()},
            "counts": dict(counts),
            "failures": dict(failures),
            "peak": peak,
        }


def split_batch(batch: Batch) -> tuple[Batch, Batch] | None:
    """Two halves, or None for a single line."""
    if len(batch.lines) < 2:
        return None
    middle = len(batch.lines) // 2
    return Batch(batch.first, batch.lines[:middle]), Batch(batch.first + middle, batch.lines[middle:])


def join_records(first: Record, second: Record) -> Record:
    """The record of two neighbouring batches."""
    return {
        "texts": {name: text + second["texts"][name] for name, text in first["texts"].items()},
        "counts": dict(Counter(first["counts"]) + Counter(second["counts"])),
        "failures": dict(Counter(first["failures"]) + Counter(second["failures"])),
        "peak": max(first["peak"], second["peak"]),
    }


def batches(
    lines: Iterable[tuple[int, str]], size: int, *, path: type_path, refuse_empty: bool = False
) -> Iterator[Batch]:
    """Cut numbered lines into batches."""
    gathered: list[str] = []
    first = 1
    for number, line in lines:
        if refuse_empty and not line.strip():
            raise InputError(
                "an empty line", path=path, line=number, remedy="remove it on both sides, or use --on-empty placeholder"
            )
        if not gathered:
            first = number
        gathered.append(line)
        if len(gathered) == size:
            yield Batch(first, tuple(gathered))
            gathered.clear()
    if gathered:
        yield Batch(first, tuple(gathered))


def _format(sentence: ParsedSentence, name: str) -> str:
    if name == "conllu":
        return format_conllu(sentence)
    if name == "penn":
        assert sentence.constituency is not None
        return format_penn(sentence.constituency) + "\n"
    from treeglot.trees.treejson import format_json

    return format_json(sentence) + "\n"
