"""Rules of the grammars as text, and their extraction from one pair (spec: tree-to-string, section 2, "Text
form").

A rule has a source side (a head-dependents relation, a tree fragment, or words with gaps) and a target side of words and
variables. Where unaligned target words can go to several places the m variants of a rule count 1/m each.

>>> from treeglot.examples.worked import worked_example
>>> for rule in extract_rules("dep2str", worked_example())[3:5]:
...     print(rule)
x1:NR x2:AD ^推出 x3:本* ||| x1 x2 launch x3 ||| 1
x1:OD ^款 ||| x1 ||| 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from treeglot._core import rules as core
from treeglot.errors import ConfigError, TreeError
from treeglot.grammars import registry
from treeglot.trees.corpus import Binarize, ParsedBitext, parsed_bitext
from treeglot.trees.sentence import AlignedPair, ParsedSentence


class Rule(NamedTuple):
    """A rule of one pair of sentences with the sum of its counts.

    ``labels`` (augmented rules only) are groups of neighbouring source symbols, half-open: the fixed and floating
    structures for which a bilingual phrase may be put in.
    """

    source: str
    target: str
    count: float  # type: ignore[assignment]  # hides tuple.count, which nobody needs
    labels: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.source} ||| {self.target} ||| {self.count:.6g}"


def extract_rules(grammar: str, pair: AlignedPair, *, binarize: Binarize = "none", **options: Any) -> list[Rule]:
    """The rules of a grammar in an aligned pair with the trees it needs, in the order of their lines. Equal rules are
    one, with counts added up and labels united. Word links of every kind count."""
    known = registry.grammar(grammar)
    links = [(link.source, link.target) for link in pair.word_links]
    nodes: list[tuple[int, int]] = []
    if "node_links" in known.needs and binarize == "none":
        nodes = [(link.source, link.target) for link in pair.node_links]
    target = pair.target if known.target_trees else pair.target.tokens.forms
    return extract_words(grammar, pair.source, target, links, nodes, binarize=binarize, **options)


def extract_words(
    grammar: str,
    source: ParsedSentence,
    target: Sequence[str] | ParsedSentence,
    links: Sequence[tuple[int, int]],
    nodes: Sequence[tuple[int, int]] = (),
    *,
    binarize: Binarize = "none",
    **options: Any,
) -> list[Rule]:
    """`extract_rules` for a parsed source, the words of its translation (or that parsed, too) and their links (source number,
    target number), and links of nodes of their trees: phrase n as n, word j as ~j."""
    check_trees(grammar, source)
    if isinstance(target, ParsedSentence):
        check_trees(grammar, target, target=True)
    bitext = parsed_bitext([(source, target, links, nodes)], binarize=binarize)
    return [Rule(*rule) for rule in make_extractor(grammar, bitext, **options).rules(0)]


def make_extractor(grammar: str, bitext: ParsedBitext, **options: Any) -> core.Extractor:
    """The native extractor of a grammar for a complete bitext."""
    registry.grammar(grammar)
    try:
        return core.Extractor(bitext.columns, grammar, **options)
    except ValueError as error:
        raise ConfigError(str(error), remedy="see treeglot rules extract --help for what each grammar can do") from None


def check_trees(grammar: str, sentence: ParsedSentence, number: int | None = None, *, target: bool = False) -> None:
    """Refuse a sentence of the source, or of the ``target``, without the trees that a grammar needs; ``number`` names it if it
    has no id."""
    known, side = registry.grammar(grammar), "target" if target else "source"
    for kind, tree in (("dependency", sentence.dependency), ("constituency", sentence.constituency)):
        if kind in (known.target_trees if target else known.source_trees) and tree is None and len(sentence.tokens) > 0:
            name = sentence.id or (str(number) if number is not None else "")
            raise TreeError(
                f"{f'sentence {name}: ' if name else ''}no {kind} tree{' of the target' if target else ''}",
                remedy=f"{grammar} needs the {kind} tree of every {side} sentence; treeglot parse makes them",
            )


def cut_warning(counters: Mapping[str, int]) -> str:
    """What to say when limits left out rules next to the minimal ones, or nothing.

    >>> cut_warning({"neighbours": 2000, "cut_neighbours": 500, "beyond_max_height": 40, "beyond_span_limit": 480, "beyond_max_words": 0})
    'limits left out 500 of 2,000 rules that two minimal ones make: span_limit 480, max_height 40'
    >>> cut_warning({"neighbours": 2000, "cut_neighbours": 0}), cut_warning({"cut": 3})
    ('', '')
    """
    if not counters.get("cut_neighbours"):
        return ""
    beyond = {name.removeprefix("beyond_"): n for name, n in counters.items() if name.startswith("beyond_") and n}
    limits = ", ".join(f"{name} {n:,}" for name, n in sorted(beyond.items(), key=lambda item: (-item[1], item[0])))
    return (
        f"limits left out {counters['cut_neighbours']:,} of {counters['neighbours']:,} rules that two minimal ones make: "
        f"{limits}"
    )
