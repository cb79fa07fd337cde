"""Tables of rules: extract, count and score the rules of a grammar, and look them up in a mapped file.

One format for all grammars (spec: tree-to-string, sections 2, 8 and 9). P(t|s) and P(s|t) are relative frequencies of
fractional counts, or discounted ones on request; the lexical weights Plex(t|s) and Plex(s|t) are those of Koehn, Och and Marcu
(2003), the highest over the alignments of the same rule. Counting stays within the memory limit, uses all cores, and the
table's bytes depend on neither.

>>> import pathlib, tempfile
>>> from treeglot._core.parsed import ParsedBitext
>>> corpus = ParsedBitext()
>>> for noun, translation in ("haus", "house"), ("buch", "book"):
...     source = (["das", noun], ["ART", "NN"], [1, -1], [])
...     corpus.add(source, (["the", translation], [], [], []), [(0, 0), (1, 1)])
>>> path = pathlib.Path(tempfile.mkdtemp()) / "dep2str.rules"
>>> report = build_rule_table("dep2str", corpus, path)
>>> report.sentences, report.rules, report.sources
(2, 6, 6)
>>> table = RuleTable(path)
>>> [(rule.target, rule.count) for rule in table.lookup("das ^x1:NN")]
[('the x1', 2.0)]
>>> table.lookup("das ^haus")[0].line()
'das ^haus ||| the house ||| 1 1 1 1 ||| 1 1 1'
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from treeglot._core import parsed as core_parsed
from treeglot._core import rule_tables as core
from treeglot.errors import ConfigError, InputError, TreeError, TreeglotError
from treeglot.files import atomic_path, atomic_write_binary, check_mapped
from treeglot.grammars import registry
from treeglot.grammars.rules import cut_warning
from treeglot.progress import track
from treeglot.tables.corpus import parse_memory
from treeglot.words import split_words

Side = Literal["source", "target"]
Discounting = Literal["none", "good-turing", "kneser-ney"]
FORMAT_VERSION = core.FORMAT_VERSION
"""The version of the file's format; a file of another one is refused."""
MAGIC = b"TGRT\r\n\x1a\0"

_Path = str | os.PathLike[str]
_SCAN = 1024
T = TypeVar("T")


class HasColumns(Protocol):
    """A parsed bitext as `treeglot.trees.corpus` reads it."""

    @property
    def columns(self) -> core_parsed.ParsedBitext: ...


class RuleTableReport(NamedTuple):
    """What went into a table: ``occurrences`` of ``rules`` distinct rules with ``sources`` and ``targets`` distinct sides;
    ``dropped`` rules were below the minimum count; ``spilled_runs`` is how often counting went to disk; ``discounts`` are
    those of the discounting that was asked for; ``counters`` are the grammar's own (what it left out); ``warning`` says which limits
    cut much (`treeglot.grammars.rules.cut_warning`)."""

    grammar: str
    sentences: int
    occurrences: int
    rules: int
    sources: int
    targets: int
    dropped: int
    table_bytes: int
    spilled_runs: int
    seconds: float
    cpu_seconds: float
    discounts: tuple[float, ...]
    counters: dict[str, int]
    warning: str = ""


def build_rule_table(
    grammar: str,
    corpus: core_parsed.ParsedBitext | HasColumns,
    out: _Path,
    *,
    min_count: float = 0.0,
    discounting: Discounting = "none",
    memory: str | int = "4g",
    threads: int = 0,
    folder: _Path | None = None,
    **extraction: Any,
) -> RuleTableReport:
    """Make the rule table of a grammar; ``out`` appears only when it is complete.

    ``extraction`` are the grammar's options (``span_mode``, ``max_variants``, ``max_phrasal_nodes``, …). Rules with a count
    below ``min_count`` are left out after the probabilities were made. ``memory`` limits counting and sorting (the corpus is
    held beside it), ``folder`` takes what does not fit (default: where ``out`` will be), ``threads`` 0 means all cores.
    """
    columns = corpus if isinstance(corpus, core_parsed.ParsedBitext) else corpus.columns
    _check_trees(registry.grammar(grammar), columns)
    if not min_count >= 0:
        raise ConfigError(f"a minimum count of {min_count}", remedy="give 0 or more")
    limit, final = parse_memory(memory), Path(out)
    note = {
        "extraction": {option.name: option.default for option in registry.grammar(grammar).options if option.extraction}
        | extraction,
        "features": list(registry.grammar(grammar).features(extraction)),
        "min_count": min_count,
        "discounting": discounting,
    }
    description = json.dumps(note, ensure_ascii=False, sort_keys=True)
    wall, spent = time.perf_counter(), time.process_time()
    with atomic_path(final) as temporary:
        work = os.fspath(folder or final.absolute().parent)
        progress = core.Progress()
        built = _run(
            progress,
            f"counting {grammar} rules (%)",
            lambda: core.build(
                grammar,
                columns,
                str(temporary),
                extraction,
                min_count,
                discounting,
                description,
                limit,
                work,
                threads,
                progress,
            ),
        )
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - spent
    warning = cut_warning(built["counters"])
    spent_time = {"seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3)}
    return RuleTableReport(grammar=grammar, warning=warning, **spent_time, **built)


def _check_trees(grammar: registry.Grammar, corpus: core_parsed.ParsedBitext) -> None:
    for trees, side, which in (
        (grammar.source_trees, corpus.source, ""),
        (grammar.target_trees, corpus.target, " of the target"),
    ):
        for kind in sorted(trees):
            missing = side.first_without(kind == "dependency")
            if missing is not None:
                raise TreeError(
                    f"{grammar.name} needs {kind} trees{which}, and sentence {missing + 1} has none",
                    remedy="parse the corpus",
                )


def _run(progress: core.Progress, title: str, job: Callable[[], T]) -> T:
    """Run a native job in a thread, show how far it is, and stop it when the user interrupts."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(job)

        def percents() -> Iterator[int]:
            shown = 0
            while not wait([future], timeout=0.1).done:
                while shown < int(100 * progress.done):
                    shown += 1
                    yield shown

        try:
            for _ in track(percents(), title, total=100):
                pass
        except BaseException:
            progress.stop()
            raise
        try:
            return future.result()
        except ValueError as error:
            raise ConfigError(str(error), remedy="choose other options for the grammar") from None
        except RuntimeError as error:
            raise TreeglotError(
                str(error), remedy="give another folder for temporary files, or free disk space"
            ) from None


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule. ``scores`` are probabilities in Moses' order: P(s|t), Plex(s|t), P(t|s), Plex(t|s). ``labels`` are the fixed and
    floating structures of a rule, [begin, end) in members of the source side. ``unlinked`` is the number of its source words without a
    link, the fewest of all places where it was seen."""

    source: str
    target: str
    scores: tuple[float, float, float, float]
    count: float
    source_total: float
    target_total: float
    labels: tuple[tuple[int, int], ...] = ()
    unlinked: int = 0

    @property
    def source_given_target(self) -> float:
        """P(s|t)"""
        return self.scores[0]

    @property
    def lexical_source(self) -> float:
        """Plex(s|t)"""
        return self.scores[1]

    @property
    def target_given_source(self) -> float:
        """P(t|s)"""
        return self.scores[2]

    @property
    def lexical_target(self) -> float:
        """Plex(t|s)"""
        return self.scores[3]

    def line(self) -> str:
        """``source ||| target ||| four scores ||| counts of target, source and rule``; labels in a fifth column."""
        scores = " ".join(f"{score:.6g}" for score in self.scores)
        counts = " ".join(f"{count:.6g}" for count in (self.target_total, self.source_total, self.count))
        labels = " ||| " + " ".join(f"{begin}-{end}" for begin, end in self.labels) if self.labels else ""
        return f"{self.source} ||| {self.target} ||| {scores} ||| {counts}{labels}"


class RuleStatistics(NamedTuple):
    """A table in figures. ``source_lengths[n]`` is the number of rules with n source symbols, ``variables[n]`` with n
    variables; ``ambiguity`` has (least, most, sources): how many sources have that many rules; ``seen_once`` have a count of at
    most 1; ``lexical`` have a source word; ``labelled`` have structures."""

    grammar: str
    rules: int
    sources: int
    prefixes: int
    source_words: int
    categories: int
    target_words: int
    sentences: int
    occurrences: int
    bytes: int
    options: dict[str, Any]
    source_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    variables: tuple[int, ...]
    ambiguity: tuple[tuple[int, int, int], ...]
    most_rules: int
    most_ambiguous: str
    seen_once: int
    lexical: int
    labelled: int

    @property
    def bytes_per_rule(self) -> float:
        """The file's size divided by the number of rules."""
        return self.bytes / self.rules if self.rules else 0.0


_GAP = re.compile(r"^(x\d+)$")
"""A gap without its category."""


def _symbol_pattern(symbol: str) -> str:
    """A regular expression for a symbol with the wildcards of file names; what they stand for has no blanks."""
    special = {"*": "[^ ]*", "?": "[^ ]"}
    pattern = "".join(
        special.get(part, part.replace("[!", "[^") if part.startswith("[") and len(part) > 2 else re.escape(part))
        for part in re.split(r"(\*|\?|\[[^\]]+\])", symbol)
    )
    # A joint category such as x1:VP[VV_NN] is found by itself, too.
    return f"(?:{pattern}|{re.escape(symbol)})" if "[" in symbol else pattern


def is_rule_table(path: _Path) -> bool:
    """Whether a file begins like a rule table."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class RuleTable:
    """A table file; ``core`` is the native object."""

    def __init__(self, path: _Path, *, verify: bool = False) -> None:
        """Map a file made by `build_rule_table`. ``verify`` reads all of it and checks the checksum."""
        self.path = os.fspath(path)
        with self.blame():
            self.core = core.RuleTable(self.path, verify)
        if self.core.grammar not in registry.grammars():
            raise InputError(
                f"rules of a grammar {self.core.grammar!r} that is not known here",
                path=self.path,
                line=1,
                remedy="make the table again, or name the grammar's library in TREEGLOT_GRAMMARS",
            )

    @contextlib.contextmanager
    def blame(self) -> Iterator[None]:
        """Turn what the native table says about damage into an `InputError` that names the file."""
        try:
            yield
            check_mapped()
        except (RuntimeError, IndexError, UnicodeDecodeError) as error:
            message = "damaged: a word is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            raise InputError(message, path=self.path, line=1, remedy="make it again") from None

    def __len__(self) -> int:
        """The number of rules."""
        return self.core.rules

    @property
    def sources(self) -> int:
        """The number of distinct source sides."""
        return self.core.sources

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self.core.size

    @property
    def grammar(self) -> str:
        """The grammar whose rules these are."""
        return self.core.grammar

    @property
    def options(self) -> dict[str, Any]:
        """What the table was made with: ``extraction`` options, the names of its ``features``, ``min_count``, ``discounting``."""
        with self.blame():
            try:
                options = json.loads(self.core.description)
            except ValueError:
                options = {}
        return options if isinstance(options, dict) else {}

    def lookup(self, source: str, limit: int | None = None, *, threshold: float = 0.0) -> list[RuleEntry]:
        """The rules of a source side in text form, the highest P(t|s) first; at most ``limit``, and none whose P(t|s) is
        below ``threshold`` times the best."""
        if limit is not None and limit <= 0:
            return []
        text = " ".join(split_words(source))
        with self.blame():
            try:
                entries = self.core.find(text, limit or 0, threshold)
                text = self.core.spelling(text)
            except ValueError as error:
                raise TreeglotError(
                    f"{source!r} is not the source side of a {self.grammar} rule: {error}",
                    remedy="write it as treeglot rules export does",
                ) from None
        return [RuleEntry(text, *entry) for entry in entries[: limit or None]]

    def scan(self) -> Iterator[RuleEntry]:
        """All rules, source by source, the highest P(t|s) of each first."""
        position = 0
        while True:
            with self.blame():
                block, position = self.core.scan(position, _SCAN)
            if not block:
                return
            for source, entries in block:
                for entry in entries:
                    yield RuleEntry(source, *entry)

    def __iter__(self) -> Iterator[RuleEntry]:
        return self.scan()

    def search(
        self, pattern: str, *, side: Side = "source", whole: bool = False, regex: bool = False
    ) -> Iterator[RuleEntry]:
        """The rules whose ``side`` has the symbols of ``pattern`` one after another, in the table's order.

        Symbols may have ``*``, ``?`` and ``[...]`` as in file names. With ``regex``, ``pattern`` is a regular expression that is
        searched for in the side as text. ``whole``: the side has nothing else. Every rule is looked at. A gap may be
        written without its category: ``x1`` for ``x1:X``.
        """
        if side not in ("source", "target"):
            raise TreeglotError(f"side {side!r}", remedy="sides are source and target")
        symbols = split_words(pattern)
        if not symbols:
            raise TreeglotError("an empty pattern", remedy="give at least one symbol")
        # Symbols have no blanks, so symbols one after another are a part of the text between blanks.
        parts = symbols if regex else list(map(_symbol_pattern, symbols))
        if side == "source" and not regex:
            parts = [_GAP.sub(r"\1(?::X)?", part) for part in parts]
        text = " ".join(parts)
        try:
            compiled = re.compile(text if regex or whole else rf"(?<![^ ])(?:{text})(?![^ ])")
        except re.error as error:
            raise TreeglotError(
                f"the expression {pattern!r}: {error}", remedy="write a regular expression of Python"
            ) from None
        match = compiled.fullmatch if whole else compiled.search
        last = ""
        last_matches = False
        for rule in self:
            if side == "source" and rule.source != last:
                last, last_matches = rule.source, match(rule.source) is not None
            if last_matches if side == "source" else match(rule.target):
                yield rule

    def export(self, out: _Path) -> Path:
        """Write all rules as lines (`RuleEntry.line`); names that end in .gz or .zst are packed."""
        with atomic_write_binary(out) as stream, self.blame():
            self.core.export_text(stream.write)
        return Path(out)

    def statistics(self) -> RuleStatistics:
        """Read the whole table once and count."""
        with self.blame():
            shape = self.core.shape()
        ambiguity = tuple(
            (1 << (width - 1), (1 << width) - 1, count)
            for width, count in enumerate(shape["ambiguity"])
            if width and count
        )
        return RuleStatistics(
            grammar=self.grammar,
            rules=len(self),
            sources=self.sources,
            prefixes=self.core.prefixes,
            source_words=self.core.source_words,
            categories=self.core.categories,
            target_words=self.core.target_words,
            sentences=self.core.sentences,
            occurrences=self.core.occurrences,
            bytes=self.bytes,
            options=self.options,
            source_lengths=tuple(shape["source_lengths"]),
            target_lengths=tuple(shape["target_lengths"]),
            variables=tuple(shape["variables"]),
            ambiguity=ambiguity,
            most_rules=shape["most_rules"],
            most_ambiguous=shape["most_ambiguous"],
            seen_once=shape["seen_once"],
            lexical=shape["lexical"],
            labelled=shape["labelled"],
        )
