"""``treeglot rules extract`` for grammars with rule tables: the rules of every sentence pair, block by block.

Each pair's block has the lines ``source ||| target ||| count`` in the order of their code points and ends with an empty line, also
when the pair has no rules. Files are read side by side, a chunk of pairs at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from treeglot.errors import ConfigError, TreeError
from treeglot.grammars import registry
from treeglot.grammars.rules import cut_warning, make_extractor
from treeglot.grammars.source_forests import with_forests
from treeglot.progress import say
from treeglot.trees.corpus import Binarize, ParsedBitext, Parses, SideFiles, iterate_parsed_bitext, read_parsed_bitext
from treeglot.trees.nodelinks import THRESHOLD


class Inputs(NamedTuple):
    """The files: ``source`` and ``target`` are plain text, the trees of a side may be in one or two files, or in JSON
    lines; ``nodes`` are links between nodes of constituency trees, ``parses`` further dependency trees of the source."""

    target: str | None
    align: str
    source: str | None = None
    conllu: str | None = None
    penn: str | None = None
    target_conllu: str | None = None
    target_penn: str | None = None
    nodes: str | None = None
    threshold: float = THRESHOLD
    jsonl: str | None = None
    target_jsonl: str | None = None
    parses: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The file that has the source sentences."""
        return self.sides[0].name

    @property
    def files(self) -> list[str]:
        """All files."""
        named = (self.target, self.align, self.source, self.conllu, self.penn, self.target_conllu, self.target_penn)
        further = (
            self.nodes,
            self.jsonl,
            self.target_jsonl,
            *(os.fspath(Parses.of(text).conllu) for text in self.parses),
        )
        return [path for path in (*named, *further) if path]

    @property
    def sides(self) -> tuple[SideFiles, SideFiles]:
        """The files of both sides."""
        return (
            SideFiles(self.conllu, self.penn, self.source, self.jsonl, tuple(map(Parses.of, self.parses))),
            SideFiles(self.target_conllu, self.target_penn, self.target, self.target_jsonl),
        )


class Summary(NamedTuple):
    """What was read, and what the grammar counted."""

    pairs: int = 0
    lifted: int = 0
    counters: Mapping[str, int] = MappingProxyType({})


def write_rules(grammar: str, inputs: Inputs, out: BinaryIO, **options: registry.Value) -> Summary:
    """Print the rules of all pairs of the files."""
    check_inputs(grammar, inputs)
    check_options(grammar, options)
    check_node_links(grammar, inputs, options)
    pairs_done = lifted = 0
    counters: Counter[str] = Counter()
    binarize: Any = options.get("binarize", "none")
    for bitext in read_pairs(grammar, inputs, binarize):
        extractor = make_extractor(grammar, bitext, **options)  # also without pairs the options are looked at
        out.write(extractor.text(0, len(bitext)))
        pairs_done += len(bitext)
        lifted += bitext.lifted
        counters.update(extractor.statistics)
    return Summary(pairs_done, lifted, counters)


def read_pairs(grammar: str, inputs: Inputs, binarize: Binarize = "none") -> Iterator[ParsedBitext]:
    """The sentence pairs of the files, some at a time; one without the trees that the grammar needs is an error."""
    first = 0
    for bitext in iterate_parsed_bitext(
        *inputs.sides, inputs.align, inputs.nodes, binarize=binarize, node_threshold=inputs.threshold
    ):
        check_trees(grammar, bitext, first, inputs)
        first += len(bitext)
        yield bitext


def check_trees(grammar: str, bitext: ParsedBitext, first: int, inputs: Inputs) -> None:
    """Refuse pairs (numbered from ``first``) without the trees that a grammar needs."""
    known, columns = registry.grammar(grammar), bitext.columns
    for name, trees, side, files in (
        ("source", known.source_trees, columns.source, inputs.sides[0]),
        ("target", known.target_trees, columns.target, inputs.sides[1]),
    ):
        for kind in sorted(trees):
            missing = side.first_without(kind == "dependency")
            if missing is not None:
                raise TreeError(
                    f"sentence {first + missing + 1}: no {kind} tree",
                    path=files.name,
                    remedy=f"{grammar} needs the {kind} tree of every {name} sentence; treeglot parse makes them",
                )


def report(summary: Summary) -> None:
    """Say on standard error what was read and what was left out."""
    say(f"{summary.pairs:,} pairs")
    if summary.lifted:
        say(f"{summary.lifted:,} dependencies lifted to make trees projective")
    if "phrasal_nodes" in summary.counters:
        say(
            f"{summary.counters['phrasal_nodes']:,} phrasal nodes; {summary.counters['crossing']:,} constituents skipped "
            "because they cross dependency subtrees"
        )
    if summary.counters.get("cut"):
        say(f"{summary.counters['cut']:,} places with more rules than the bounds allow")
    if summary.counters.get("cut_units"):
        say(f"{summary.counters['cut_units']:,} words with more units than the cap")
    if summary.counters.get("cut_groupings"):
        say(f"{summary.counters['cut_groupings']:,} units with more groupings than the bounds allow")
    if "cut_rules" in summary.counters:
        say(
            f"{summary.counters['cut_rules']:,} rules beyond the limits left out, and {summary.counters['cut_minimal']:,} "
            "minimal rules that are too large"
        )
    if warning := cut_warning(summary.counters):
        say(warning)


def check_inputs(grammar: str, inputs: Inputs) -> None:
    """Refuse a call without the trees that the grammar needs, before any file is opened."""
    needs = registry.grammar(grammar).needs
    missing = [
        option
        for option, kind, given in (
            ("--source-conllu", "source_dependency", inputs.conllu or inputs.jsonl),
            ("--source-penn", "source_constituency", inputs.penn or inputs.jsonl),
            ("--target-conllu", "target_dependency", inputs.target_conllu or inputs.target_jsonl),
            ("--target-penn", "target_constituency", inputs.target_penn or inputs.target_jsonl),
        )
        if kind in needs and not given
    ]
    if missing:
        sides = [f"--{side}-jsonl" for side in ("source", "target") if any(side in option for option in missing)]
        raise ConfigError(
            f"{grammar} without {' and '.join(missing)}",
            remedy=f"give {' and '.join(missing)}, or {' and '.join(sides)}",
        )
    for name, files in zip(("source", "target"), inputs.sides, strict=True):
        if not files.has_trees and not files.text:
            raise ConfigError(
                f"{grammar} without a {name}",
                remedy=f"give --{name}, --{name}-conllu, --{name}-penn or --{name}-jsonl",
            )
        if files.jsonl and (files.conllu or files.penn):
            raise ConfigError(
                f"--{name}-jsonl and other trees of the {name}",
                remedy=f"JSON lines hold both trees: leave --{name}-conllu and --{name}-penn out",
            )
        if files.has_trees and files.text:
            raise ConfigError(
                f"--{name} and trees of the {name}",
                remedy=f"leave --{name} out: the words of the trees are the {name}",
            )
    if inputs.parses and not registry.grammar(grammar).has_forest:
        raise ConfigError(
            f"{grammar} has no use for further trees",
            remedy=f"leave --source-parses out, or take {' or '.join(with_forests())}",
        )
    if inputs.nodes and "node_links" not in needs:
        raise ConfigError(f"{grammar} has no use for --nodes", remedy="leave --nodes out")
    if inputs.nodes and not all(files.penn or files.jsonl for files in inputs.sides):
        raise ConfigError("--nodes without constituency trees", remedy="give --source-penn and --target-penn")


def check_node_links(grammar: str, inputs: Inputs, options: Mapping[str, registry.Value]) -> bool:
    """Whether a grammar is asked to use links of nodes; without any that is refused."""
    known = registry.grammar(grammar)
    chosen = options.get(known.node_link_option)
    if chosen is None or chosen == known.option(known.node_link_option).default:
        return False
    if not inputs.nodes:
        flag = f"--{known.node_link_option} {chosen}"
        raise ConfigError(f"{flag} without links of nodes", remedy=f"give --nodes, or leave {flag} out")
    return True


def read_phrase_pairs(grammar: str, inputs: Inputs) -> ParsedBitext:
    """Trees of both sides, word links and links of nodes, for phrase pairs."""
    check_inputs(grammar, inputs)
    return read_parsed_bitext(*inputs.sides, inputs.align or None, inputs.nodes, node_threshold=inputs.threshold)


def plain_text(inputs: Inputs) -> tuple[str, str]:
    """Source and target of a grammar that has no use for trees; others are refused."""
    trees = any(files.has_trees for files in inputs.sides)
    if inputs.source is None or inputs.target is None or trees or inputs.nodes is not None:
        raise ConfigError(
            "phrases of word links are extracted from plain text",
            remedy="give --source, --target and no trees; or trees of both sides, --nodes and --links",
        )
    return inputs.source, inputs.target


def check_options(grammar: str, options: Mapping[str, registry.Value]) -> None:
    """Refuse options that the grammar does not have."""
    known = {option.name for option in registry.grammar(grammar).options}
    for name in options:
        if name not in known:
            flag = "--" + name.replace("_", "-")
            raise ConfigError(f"{grammar} has no option {flag}", remedy=f"leave {flag} out")
