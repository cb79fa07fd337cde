"""Parse a whole file: batched, parallel, resumable, with progress, and nothing half-written.

Line n of the input is sentence n of every output. Finished batches go to a journal beside the first output; when the run is
killed and started again it continues after the last finished batch and the result is byte for byte the same. The outputs
get their names only at the end, and the journal disappears.

>>> import tempfile, pathlib
>>> from treeglot.parsers import open_parser
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "in.txt").write_text("ein Haus\\n")
>>> _ = (folder / "elsewhere.penn").write_text("(NP (DET ein) (NOUN Haus))\\n")
>>> with open_parser("files", "de", penn=folder / "elsewhere.penn") as parser:
...     summary = parse_file(parser, folder / "in.txt", jsonl=folder / "out.jsonl")
>>> summary.sentences, summary.words, summary.converted
(1, 2, {'dependency': 1})
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from treeglot import __version__
from treeglot.errors import InputError, ParserError
from treeglot.files import atomic_write, check_places, is_outlet, iterate_lines, open_binary, type_path
from treeglot.parsers.base import BATCH_SIZE, Parser
from treeglot.parsers.batches import FORMATS, Batch, Job, Record, batches, join_records, split_batch
from treeglot.parsers.journal import Journal
from treeglot.parsers.workers import InProcesses, in_threads
from treeglot.progress import track
from treeglot.scratch import scratch_folder

log = logging.getLogger(__name__)

_ONLY_PACE = frozenset({"threads", "memory", "timeout", "java"})
"""Options that do not change the trees: a run may be continued with others."""

OnEmpty = Literal["placeholder", "error"]


@dataclass
class ParseSummary:
    """What a run did. ``failures`` counts sentences with a flat tree by reason, ``converted`` trees that were converted from
    the other kind, ``attached`` sentences in which roots had to be attached; ``resumed`` sentences came from the journal.
    ``seconds`` are those of parsing, without ``startup_seconds``; ``peak_memory`` is in bytes, of the server if there is one,
    else of the largest process."""

    parser: str
    sentences: int = 0
    words: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    converted: dict[str, int] = field(default_factory=dict)
    attached: int = 0
    resumed: int = 0
    workers: int = 1
    startup_seconds: float = 0.0
    seconds: float = 0.0
    peak_memory: int = 0

    @property
    def failed(self) -> int:
        """Sentences with a flat tree that were not empty lines."""
        return sum(count for reason, count in self.failures.items() if reason != "empty line")

    @property
    def sentences_per_second(self) -> float:
        return (self.sentences - self.resumed) / self.seconds if self.seconds > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        more = {"failed": self.failed, "sentences_per_second": round(self.sentences_per_second, 2)}
        return {
            **asdict(self),
            "seconds": round(self.seconds, 3),
            "startup_seconds": round(self.startup_seconds, 3),
            **more,
        }

    def _add(self, record: Record, *, resumed: bool = False) -> None:
        counts = record["counts"]
        self.sentences += counts["sentences"]
        self.words += counts["words"]
        self.attached += counts.get("attached", 0)
        self.resumed += counts["sentences"] if resumed else 0
        self.failures = dict(Counter(self.failures) + Counter(record["failures"]))
        kinds = {name.removeprefix("converted "): n for name, n in counts.items() if name.startswith("converted ")}
        self.converted = dict(Counter(self.converted) + Counter(kinds))
        if not resumed:
            self.peak_memory = max(self.peak_memory, record["peak"])


def parse_file(
    parser: Parser,
    source: type_path,
    *,
    conllu: type_path | None = None,
    penn: type_path | None = None,
    jsonl: type_path | None = None,
    tokenized: bool = False,
    batch_size: int = BATCH_SIZE,
    workers: int = 1,
    on_empty: OnEmpty = "placeholder",
    resume: bool = True,
) -> ParseSummary:
    """Parse the lines of ``source`` (``-``: standard input) and write the outputs that are named.

    ``tokenized``: words are separated by spaces already. ``workers`` batches are parsed at once, in threads or processes as
    the parser demands. An output ``-`` is standard output; it is written as the run goes on and cannot be resumed.
    """
    outputs = {name: path for name, path in zip(FORMATS, (conllu, penn, jsonl), strict=True) if path is not None}
    if not outputs:
        raise ParserError("no output is named", remedy="give conllu=, penn= or jsonl=")
    if batch_size < 1 or workers < 1:
        raise ParserError("batch_size and workers must be positive", remedy="give 1 or more")
    if on_empty not in ("placeholder", "error"):
        raise ParserError(f"on_empty is {on_empty!r}", remedy="give placeholder or error")
    check_places(outputs.values(), [source])
    streaming = [name for name, path in outputs.items() if str(path) == "-"]
    if streaming and len(outputs) > 1:
        raise ParserError("two outputs go to the same place", remedy="write each output to a file of its own")
    workers = 1 if parser.concurrency == "none" else workers
    job = Job(tuple(outputs), tokenized, f"treeglot {__version__}, {parser.description}")
    run = _Run(parser, job, source, batch_size, workers, on_empty)
    if streaming:
        return run.to_stdout(streaming[0])
    return run.to_files({name: Path(path) for name, path in outputs.items()}, resume)


class _Run:
    def __init__(
        self, parser: Parser, job: Job, source: type_path, batch_size: int, workers: int, on_empty: OnEmpty
    ) -> None:
        self.parser, self.job, self.source = parser, job, source
        self.batch_size, self.workers, self.on_empty = batch_size, workers, on_empty
        self.summary = ParseSummary(parser.description, workers=workers)
        self.total: int | None = None

    def to_stdout(self, name: str) -> ParseSummary:
        with self._timed(), open_binary(self.source) as stream:
            for record in self._records(self._batches(stream)):
                sys.stdout.write(record["texts"][name])
                sys.stdout.flush()
            self.parser.finish()
        return self.summary

    def to_files(self, outputs: dict[str, Path], resume: bool) -> ParseSummary:
        first = next(iter(outputs.values()))
        # What is read from a pipe is gone, and what is written to a FIFO or a device cannot be written anew.
        pipes = str(self.source) == "-" or Path(self.source).is_fifo() or is_outlet(first)
        resumable = not pipes and self.parser.concurrency != "none"
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(scratch_folder("parse")) if is_outlet(first) else first.parent
            path = place / f".{first.name}.journal"
            stack.enter_context(self._timed())
            journal = stack.enter_context(Journal(path, self._about(resumable), resume=resume and resumable))
            try:
                self._fill(journal)
            except BaseException as error:
                # A wrong input must be changed before it can go on, and then this journal is of no use.
                if isinstance(error, InputError) or not resumable or journal.size == 0:
                    journal.remove()
                raise
            with contextlib.ExitStack() as files:
                streams = {name: files.enter_context(atomic_write(out)) for name, out in outputs.items()}
                for record in journal:
                    for name, stream in streams.items():
                        stream.write(record["texts"][name])
            journal.remove()
        return self.summary

    def _fill(self, journal: Journal) -> None:
        """Parse what the journal has not got yet."""
        if journal.discarded:
            log.warning("%s: the unfinished run there was another one; starting again", journal.path)
        for record in journal:
            self.summary._add(record, resumed=True)
        if self.summary.resumed:
            log.warning("continuing after %d sentences that were parsed before", self.summary.resumed)
        try:
            with open_binary(self.source) as stream:
                left = itertools.islice(self._batches(stream), journal.size, None)
                for record in self._records(left):
                    journal.append(record)
            self.parser.finish()
        except InputError as error:
            raise error.at(self.source) from None

    def _about(self, resumable: bool) -> dict[str, Any]:
        """What must be the same for a run to continue another one; counts the lines on the way."""
        digest = ""
        if resumable:
            sha = hashlib.sha256()
            self.total = 0
            last = b"\n"
            with open_binary(self.source) as stream:
                while block := stream.read(1 << 20):
                    sha.update(block)
                    self.total += block.count(b"\n")
                    last = block[-1:]
            self.total += last != b"\n"
            digest = sha.hexdigest()
        options = self.parser.spec.options if self.parser.spec else {}
        return {
            "input": digest,
            "parser": self.parser.description,
            "model": _digest_of(self.parser.model_files) if resumable else "",
            "options": {name: str(value) for name, value in sorted(options.items()) if name not in _ONLY_PACE},
            "formats": list(self.job.formats),
            "tokenized": self.job.tokenized,
            "header": self.job.header,
            "batch_size": self.batch_size,
        }

    def _batches(self, stream: Any) -> Iterator[Batch]:
        lines = iterate_lines(stream, self.source)
        return batches(lines, self.batch_size, path=self.source, refuse_empty=self.on_empty == "error")

    def _records(self, left: Iterator[Batch]) -> Iterator[Record]:
        """Parse what is left, in order; count and show the sentences."""
        if self.total is not None:
            # No more threads than batches; a process must load the model first and is worth it from four batches on.
            enough = self.batch_size * (1 if self.parser.concurrency == "threads" else 4)
            self.workers = max(1, min(self.workers, -(-(self.total - self.summary.resumed) // enough)))
            self.summary.workers = self.workers
        if self.workers == 1 or self.parser.concurrency == "threads":
            records = in_threads(functools.partial(self.job, self.parser), left, self.workers)
        elif self.parser.spec is None:
            raise ParserError(
                "this parser cannot be opened in other processes", remedy="use open_parser(), or workers=1"
            )
        else:
            pool = InProcesses[Batch, Record](
                self.parser.spec,
                self.job,
                self.workers,
                give_up=self.job.give_up,
                split=split_batch,
                join=join_records,
            )
            records = pool.run(left)
        remaining = None if self.total is None else self.total - self.summary.resumed
        for record, is_last in track(_one_by_one(records), f"parsing {self.source}", total=remaining):
            if is_last:  # of its batch
                self.summary._add(record)
                yield record

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.monotonic()
        self.parser.start()
        self.summary.startup_seconds = time.monotonic() - start
        start = time.monotonic()
        yield
        self.summary.seconds = time.monotonic() - start
        outside = self.parser.peak_memory()
        self.summary.peak_memory = outside or self.summary.peak_memory


def _digest_of(paths: Iterable[Path]) -> str:
    """A checksum of files, and of folders with all that is in them."""
    sha = hashlib.sha256()
    for path in paths:
        inside = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in inside:
            sha.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                sha.update(hashlib.file_digest(stream, "sha256").digest())
    return sha.hexdigest()


def _one_by_one(records: Iterator[Record]) -> Iterator[tuple[Record, bool]]:
    """Each record once per sentence, so that progress counts sentences."""
    for record in records:
        size = record["counts"]["sentences"]
        for n in range(size):
            yield record, n == size - 1
