"""``treeglot rules extract`` for grammars with rule tables: the rules of every sentence pair, block by block.

Each pair's block has the lines ``source ||| target ||| count`` in the order of their code points and ends with an empty line, also
when the pair has no rules. Files are read side by side, a chunk of pairs at a time.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from treeglot.errors import ConfigError, InputError, TreeError
from treeglot.files import read_lines
from treeglot.grammars import registry
from treeglot.grammars.rules import check_trees, make_extractor
from treeglot.progress import track
from treeglot.trees import ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext, read_parallel, read_trees
from treeglot.words import split_words

_CHUNK = 1000

Pair = tuple[ParsedSentence, list[str], list[tuple[int, int]]]


class Inputs(NamedTuple):
    """The files: ``source`` is plain text, the trees may be in one or two files."""

    target: str
    align: str
    source: str | None = None
    conllu: str | None = None
    penn: str | None = None

    @property
    def name(self) -> str:
        """The file that has the source sentences."""
        return self.conllu or self.penn or self.source or ""


class Summary(NamedTuple):
    """What was read, and what the grammar counted."""

    pairs: int = 0
    lifted: int = 0
    counters: Mapping[str, int] = MappingProxyType({})


def write_rules(grammar: str, inputs: Inputs, out: BinaryIO, **options: registry.Value) -> Summary:
    """Print the rules of all pairs of the files."""
    check_inputs(grammar, inputs)
    check_options(grammar, options)
    pairs_done = lifted = 0
    counters: Counter[str] = Counter()
    pairs = read_pairs(grammar, inputs)
    binarize: Any = options.get("binarize", "none")
    while True:
        chunk = list(islice(pairs, _CHUNK))
        try:
            bitext = parsed_bitext(chunk, binarize=binarize)
        except TreeError as error:
            raise error.at(path=inputs.name) from None
        extractor = make_extractor(grammar, bitext, **options)
        if not chunk:  # also without pairs the options have been looked at
            return Summary(pairs_done, lifted, counters)
        out.write(extractor.text(0, len(bitext)))
        pairs_done += len(bitext)
        lifted += bitext.lifted
        counters.update(extractor.statistics)


def read_pairs(grammar: str, inputs: Inputs) -> Iterator[Pair]:
    """The sentence pairs of the files; one without the trees that the grammar needs, or with wrong links, is an error."""
    return _checked(grammar, inputs, track(_pairs(inputs), f"reading {inputs.name}"))


def report(summary: Summary) -> None:
    """Say on standard error what was read and what was left out."""
    print(f"{summary.pairs:,} pairs", file=sys.stderr)
    if summary.lifted:
        print(f"{summary.lifted:,} dependencies lifted to make trees projective", file=sys.stderr)
    if "phrasal_nodes" in summary.counters:
        print(
            f"{summary.counters['phrasal_nodes']:,} phrasal nodes; {summary.counters['crossing']:,} constituents skipped "
            "because they cross dependency subtrees",
            file=sys.stderr,
        )
    if summary.counters.get("cut"):
        print(f"{summary.counters['cut']:,} places with more rules than the bounds allow", file=sys.stderr)


def check_inputs(grammar: str, inputs: Inputs) -> None:
    """Refuse a call without the trees that the grammar needs, before any file is opened."""
    needs = registry.grammar(grammar).source_trees
    missing = [
        option
        for option, kind, given in (
            ("--source-conllu", "dependency", inputs.conllu),
            ("--source-penn", "constituency", inputs.penn),
        )
        if kind in needs and not given
    ]
    if missing:
        raise ConfigError(f"{grammar} without {' and '.join(missing)}", remedy=f"give {' and '.join(missing)}")
    trees = inputs.conllu or inputs.penn
    if not trees and not inputs.source:
        raise ConfigError(f"{grammar} without a source", remedy="give --source, --source-conllu or --source-penn")
    if trees and inputs.source:
        raise ConfigError(
            "--source and trees of the source", remedy="leave --source out: the words of the trees are the source"
        )


def check_options(grammar: str, options: Mapping[str, registry.Value]) -> None:
    """Refuse options that the grammar does not have."""
    known = {option.name for option in registry.grammar(grammar).options}
    for name in options:
        if name not in known:
            flag = "--" + name.replace("_", "-")
            raise ConfigError(f"{grammar} has no option {flag}", remedy=f"leave {flag} out")


def _pairs(inputs: Inputs) -> Iterator[Pair]:
    if inputs.conllu or inputs.penn:
        return read_parallel(read_trees(inputs.conllu, inputs.penn), inputs.name, inputs.target, inputs.align)
    lines = (ParsedSentence(Tokens(split_words(line))) for _, line in read_lines(inputs.name))
    return read_parallel(lines, inputs.name, inputs.target, inputs.align, by_line=True)


def _checked(grammar: str, inputs: Inputs, pairs: Iterator[Pair]) -> Iterator[Pair]:
    for number, (sentence, target, links) in enumerate(pairs, start=1):
        try:
            check_trees(grammar, sentence, number)
        except TreeError as error:
            raise error.at(path=inputs.name) from None
        for source_word, target_word in links:
            if source_word >= len(sentence.tokens) or target_word >= len(target):
                raise InputError(
                    f"link {source_word}-{target_word} is outside the sentences of {len(sentence.tokens)} and "
                    f"{len(target)} words",
                    path=inputs.align,
                    line=number,
                    remedy="give the links of these trees and this target text",
                )
        yield sentence, target, links
