"""What every decoder gives: translations, and the derivation of each as a tree of rule uses.

>>> inner = RuleUse("phrases", 1, 3, "在 机场", ("at", "the", "airport"))
>>> outer = RuleUse("dep2str", 0, 4, "他 x1:P* ^睡", ("he", "sleeps", 0), children=(inner,))
>>> outer.target, outer.words
('he sleeps x1', ('he', 'sleeps', 'at', 'the', 'airport'))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeglot._core import search as core
from treeglot.errors import InputError, TreeglotError

_BARS, _ESCAPED = "|||", "&#124;&#124;&#124;"


@dataclass(frozen=True)
class RuleUse:
    """One application of a rule in a derivation; ``children``, in the order of the source, fill its variables.

    ``grammar`` is that of the rule, or ``copy`` (a word that nothing translates), ``pseudo`` and ``glue`` (parts in source order).
    ``kind`` and the source words from ``begin`` to ``end`` (exclusive) tell which part of the source was translated. ``source`` is
    the rule's source side in the spec's text form, or the words themselves; ``target_items`` its target side: words, and numbers
    of children. ``links`` are word links inside a phrase (source words counted from ``begin``). ``features`` is what this step adds;
    its ``lm`` is the score of its own words after those before them, the last one's with the sentence's end.
    """

    grammar: str
    begin: int
    end: int
    source: str
    target_items: tuple[str | int, ...]
    kind: str = "span"
    label: str = ""
    links: tuple[tuple[int, int], ...] = ()
    features: Mapping[str, float] = field(default_factory=dict)
    children: tuple[RuleUse, ...] = ()
    is_headed: bool = False
    """A rule for a head with its dependents."""
    is_phrasal: bool = False
    """One of those with a phrasal node or a fixed or floating structure among its variables (paper "consdep2str": CHDR-phrasal)."""
    target_tree: str = ""
    """The target side with the nodes of its trees, if the grammar has them: see `treeglot.search.target_trees`."""
    parts: tuple[int, ...] = ()
    """The source words, if there are gaps between them; otherwise all from ``begin`` to ``end``."""
    unlinked: int = 0
    """How many of the rule's own source words had no link wherever it was seen; of phrases, see ``links``."""

    @property
    def source_words(self) -> Sequence[int]:
        """The source words that this step and all below it translate."""
        return self.parts or range(self.begin, self.end)

    @property
    def target(self) -> str:
        """The target side as text, variables as x1, x2, …"""
        return " ".join(item if isinstance(item, str) else f"x{item + 1}" for item in self.target_items)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The target words of this step and all below it."""
        result: list[str] = []
        stack: list[tuple[RuleUse, int]] = [(self, 0)]
        while stack:
            use, place = stack.pop()
            while place < len(use.target_items):
                item = use.target_items[place]
                place += 1
                if isinstance(item, str):
                    result.append(item)
                else:
                    stack.append((use, place))
                    use, place = use.children[item], 0
        return tuple(result)

    @property
    def in_target_order(self) -> tuple[RuleUse, ...]:
        """The children in the order of the target."""
        return tuple(self.children[item] for item in self.target_items if isinstance(item, int))


def dropped_words(derivation: RuleUse) -> int:
    """How many source words are translated by nothing: those of steps that have no target word of their own, those that had no link
    wherever their rule was seen, and those of phrases without a link. Of phrases that have no links at all nothing is known.

    >>> first = RuleUse("phrases", 0, 1, "首", ("first",))
    >>> dropped_words(RuleUse("dep2str", 0, 2, "x1:OD ^款", (0,), children=(first,)))
    1
    >>> dropped_words(RuleUse("dep2str", 0, 2, "的 ^书", ("book",), unlinked=1))
    1
    >>> dropped_words(RuleUse("phrases", 0, 2, "的 书", ("book",), links=((1, 0),)))
    1
    """
    count = 0
    for use in walk(derivation):
        own = len(use.source_words) - sum(len(child.source_words) for child in use.children)
        if not any(isinstance(item, str) for item in use.target_items):
            count += own
        elif use.links:
            count += own - len({source for source, _ in use.links})
        else:
            count += use.unlinked
    return count


def walk(derivation: RuleUse) -> Iterator[RuleUse]:
    """A derivation and all below it, topmost first."""
    stack = [derivation]
    while stack:
        use = stack.pop()
        yield use
        stack.extend(reversed(use.children))


class Translation:
    """One translation of a sentence; ``kbest`` has all that were asked for, best first, itself included at its place."""

    def __init__(self, result: core.Translation, source: str, names: tuple[str, ...], rank: int = 0) -> None:
        """``result`` holds the derivations of ``source``; this object shows number ``rank``."""
        self._result = result
        self._names = names
        self.source = source
        self.rank = rank

    def __repr__(self) -> str:
        return f"Translation({self.text!r}, score={self.score:.4f})"

    @cached_property
    def text(self) -> str:
        """The words, separated by blanks."""
        return self._result.text(self.rank)

    @property
    def score(self) -> float:
        """The model's score: the weighted sum of the features."""
        return self._result.score(self.rank)

    @property
    def vector(self) -> list[float]:
        """The feature values in the order of the decoder's features."""
        return self._result.features(self.rank)

    @property
    def features(self) -> dict[str, float]:
        """The feature values by name."""
        return dict(zip(self._names, self.vector, strict=True))

    @property
    def forest_size(self) -> tuple[int, int, int]:
        """Nodes, edges and rules of the sentence's forest; all 0 for the left-to-right search."""
        return self._result.forest_size

    @cached_property
    def derivation(self) -> RuleUse:
        """The derivation: a tree of rules, the whole sentence at its top."""
        steps = self._result.steps(self.rank)
        if not steps:
            raise TreeglotError("no derivation was kept", remedy="translate with derivations=True")
        uses: list[RuleUse] = []
        for step in reversed(steps):  # preorder: parts stand after their whole
            (
                grammar,
                kind,
                begin,
                end,
                label,
                source,
                target,
                links,
                below,
                values,
                headed,
                phrasal,
                tree,
                parts,
                unlinked,
            ) = step
            features: dict[str, float] = {}
            for feature, value in values:
                features[self._names[feature]] = features.get(self._names[feature], 0.0) + value
            uses.append(
                RuleUse(
                    grammar,
                    begin,
                    end,
                    source,
                    tuple(target),
                    kind,
                    label,
                    tuple(links),
                    features,
                    tuple(uses[len(steps) - 1 - child] for child in below),
                    headed,
                    phrasal,
                    tree,
                    tuple(parts),
                    unlinked,
                )
            )
        return uses[-1]

    @property
    def kbest(self) -> list[Translation]:
        """All translations of the sentence that were asked for, best first."""
        return [Translation(self._result, self.source, self._names, rank) for rank in range(len(self._result))]


def nbest_arrays(
    translations: Sequence[Translation],
) -> tuple[NDArray[np.int32], list[str], NDArray[np.float64]]:
    """The k-best lists of some sentences as arrays, for tuning: the number of the sentence of each entry, its words, and the
    values of its features (entries by features)."""
    features = len(translations[0]._names) if translations else 0
    return core.nbest_arrays([translation._result for translation in translations], features)


def nbest_lines(number: int, translation: Translation) -> Iterator[str]:
    """The k-best list of a sentence in Moses' format: number ||| words ||| name= value … ||| score.

    ``|||`` among the words is written ``&#124;&#124;&#124;``, as in Moses' tables; `parse_nbest_line` undoes that.
    """
    for entry in translation.kbest:
        features = " ".join(f"{name}= {value:g}" for name, value in entry.features.items())
        yield f"{number} ||| {entry.text.replace(_BARS, _ESCAPED)} ||| {features} ||| {entry.score:.6f}\n"


def parse_nbest_line(line: str) -> tuple[int, str, dict[str, list[float]], float]:
    """What a line of an n-best list says: the number of the sentence, the words, the features (Moses may give several values under
    one name) and the score.

    >>> parse_nbest_line("0 ||| a &#124;&#124;&#124; b ||| lm= -2 words= 3 ||| -0.5")
    (0, 'a ||| b', {'lm': [-2.0], 'words': [3.0]}, -0.5)
    """
    columns = line.rstrip("\n").split(" ||| ")
    try:
        number, text, values, score = columns[:4]
        features: dict[str, list[float]] = {}
        for field_ in values.split(" "):
            if field_.endswith("="):
                name = field_[:-1]
                features[name] = []
            elif field_:
                features[name].append(float(field_))
        return int(number), text.replace(_ESCAPED, _BARS), features, float(score)
    except (ValueError, UnboundLocalError):
        raise InputError(
            f"{line[:60]!r} is no line of an n-best list", remedy="write number ||| words ||| name= value ||| score"
        ) from None
