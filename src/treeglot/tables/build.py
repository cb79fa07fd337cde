"""From an aligned corpus to a phrase table: extract, count and store in sorted passes (spec: STR phrase pairs).

Counts, the four scores and the reordering probabilities equal those of Moses' training on the same alignment. Sorting stays
within the memory limit, uses all cores, and the table's bytes depend on neither.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> for name, text in {"f": "das haus\\ndas buch\\n", "e": "the house\\nthe book\\n", "a": "0-0 1-1\\n0-0 1-1\\n"}.items():
...     _ = (folder / name).write_text(text)
>>> report = build_phrase_table(folder / "f", folder / "e", folder / "a", folder / "t.table")
>>> report.sentences, report.occurrences, report.pairs, report.sources
(2, 6, 5, 5)
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, TypeVar

from treeglot._core import parsed as core_parsed
from treeglot.errors import TreeglotError
from treeglot.files import atomic_path
from treeglot.grammars.phrases import MAX_LENGTH, check_max_length
from treeglot.links import GivenLinks, Weighted
from treeglot.progress import track
from treeglot.tables.corpus import AlignedCorpus, add_spans, parse_memory, read_corpus

LinkUse = Literal["base", "dirc", "ewos"]
Reading = Literal["exact", "open"]
_Path = str | os.PathLike[str]
T = TypeVar("T")


class TableReport(NamedTuple):
    """What went into a table. ``corpus_bytes`` and ``lexicon_bytes`` are memory beside the limit; ``spilled_runs`` is how
    often sorting went to disk; ``table_bytes`` is the file's size."""

    sentences: int
    source_words: int
    target_words: int
    occurrences: int
    pairs: int
    sources: int
    table_bytes: int
    corpus_bytes: int
    lexicon_bytes: int
    spilled_runs: int


def build_phrase_table(
    source: _Path,
    target: _Path,
    alignment: _Path | Weighted,
    out: _Path,
    *,
    also: Sequence[GivenLinks] = (),
    spans: Sequence[_Path] = (),
    consistent: bool = True,
    max_length: int = MAX_LENGTH,
    memory: str | int = "4g",
    threads: int = 0,
    folder: _Path | None = None,
) -> TableReport:
    """Make a phrase table from tokenised text and Pharaoh links; ``out`` appears only when it is complete.

    ``also`` are further alignments of the same text: phrase pairs are taken from each, and their counts added,
    each times the alignment's weight (`treeglot.links.Weighted`).
    ``spans`` are files of further phrase pairs, such as those under linked nodes of aligned trees
    (`treeglot.grammars.subtree_phrases`): a line ``0-2:1-3 ...`` of half-open spans for each sentence pair. Their counts are
    added to those of the pairs that the word alignment gives, or stand alone with ``consistent=False``; longer ones than
    ``max_length`` are left out. ``memory`` limits counting and sorting (the corpus is held beside it), ``folder`` takes what does not fit (default: where
    ``out`` will be), ``threads`` 0 means all cores.
    """
    check_max_length(max_length)
    final = Path(out)
    with atomic_path(final) as temporary:
        corpus = _read(source, target, alignment, spans, consistent, also)
        return _store(corpus, final, temporary, consistent, max_length, memory, threads, folder)


def build_parsed_phrase_table(
    bitext: core_parsed.ParsedBitext,
    out: _Path,
    *,
    links: LinkUse = "base",
    reading: Reading = "exact",
    spans: Sequence[_Path] = (),
    consistent: bool = True,
    max_length: int = MAX_LENGTH,
    memory: str | int = "4g",
    threads: int = 0,
    folder: _Path | None = None,
) -> TableReport:
    """`build_phrase_table` for the words of a parsed bitext, with the phrase pairs that its links of nodes license (spec:
    tree-to-tree, section 3).

    ``links="dirc"`` adds their counts to those of the pairs that the word links give; with ``"ewos"`` what both give counts once.
    Of several alignments, the licensed pairs go with the first. ``reading`` is as for the rules of `treeglot.grammars.stssg`.
    """
    check_max_length(max_length)
    final = Path(out)
    with atomic_path(final) as temporary:
        corpus = parsed_phrases(bitext, links, reading, max_length, spans)
        return _store(corpus, final, temporary, consistent, max_length, memory, threads, folder)


def parsed_phrases(
    bitext: core_parsed.ParsedBitext,
    links: LinkUse,
    reading: Reading,
    max_length: int = MAX_LENGTH,
    spans: Sequence[_Path] = (),
) -> AlignedCorpus:
    """The corpus that phrase pairs are counted in, with those that links of nodes license."""
    corpus = AlignedCorpus()
    corpus.take(bitext)
    for path in spans:
        add_spans(corpus, path)
    if links != "base":
        corpus.add_licensed(bitext, max_length, reading == "open", links == "ewos")
    return corpus


def _store(
    corpus: AlignedCorpus,
    final: Path,
    temporary: Path,
    consistent: bool,
    max_length: int,
    memory: str | int,
    threads: int,
    folder: _Path | None,
) -> TableReport:
    limit, work = parse_memory(memory), os.fspath(folder or final.absolute().parent)
    (occurrences, pairs, sources, runs), lexicon = _run(
        corpus, lambda: corpus.write_table(str(temporary), max_length, limit, work, threads, consistent)
    )
    return TableReport(
        sentences=len(corpus),
        source_words=corpus.source_words,
        target_words=corpus.target_words,
        occurrences=occurrences,
        pairs=pairs,
        sources=sources,
        table_bytes=temporary.stat().st_size,
        corpus_bytes=corpus.size,
        lexicon_bytes=lexicon,
        spilled_runs=runs,
    )


def write_phrase_counts(
    source: _Path,
    target: _Path,
    alignment: _Path,
    out: BinaryIO,
    *,
    spans: Sequence[_Path] = (),
    consistent: bool = True,
    max_length: int = MAX_LENGTH,
    memory: str | int = "4g",
    threads: int = 0,
    folder: _Path | None = None,
) -> int:
    """Write every phrase pair of a corpus as ``source ||| target ||| count``, sorted by bytes; how many there are."""
    check_max_length(max_length)
    corpus = _read(source, target, alignment, spans, consistent)
    return count_phrases(corpus, out, consistent, max_length, memory, threads, folder)


def count_phrases(
    corpus: AlignedCorpus,
    out: BinaryIO,
    consistent: bool = True,
    max_length: int = MAX_LENGTH,
    memory: str | int = "4g",
    threads: int = 0,
    folder: _Path | None = None,
) -> int:
    """`write_phrase_counts` for a corpus that is read already."""
    limit, work = parse_memory(memory), os.fspath(folder or tempfile.gettempdir())
    return _run(corpus, lambda: corpus.write_counts(out.write, max_length, limit, work, threads, consistent))[1]


def _read(
    source: _Path,
    target: _Path,
    alignment: _Path | Weighted,
    spans: Sequence[_Path],
    consistent: bool,
    also: Sequence[GivenLinks] = (),
) -> AlignedCorpus:
    if not spans and not consistent:
        raise TreeglotError("no phrase pairs are asked for", remedy="give files of spans, or take consistent pairs")
    corpus = read_corpus(source, target, alignment, also)
    for path in spans:
        add_spans(corpus, path)
    return corpus


def _run(corpus: AlignedCorpus, job: Callable[[], T]) -> T:
    """Run a native job in a thread, show how far it is, and stop it when the user interrupts."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(job)

        def percents() -> Iterator[int]:
            shown = 0
            while not wait([future], timeout=0.1).done:
                while shown < int(100 * corpus.done):
                    shown += 1
                    yield shown

        try:
            for _ in track(percents(), "counting phrase pairs (%)", total=100):
                pass
        except BaseException:
            corpus.stop()
            raise
        try:
            return future.result()
        except RuntimeError as error:
            raise TreeglotError(
                str(error), remedy="give another folder for temporary files, or free disk space"
            ) from None
