"""Parsed sentences and aligned pairs of them: what readers yield and what every later stage takes.

>>> tokens = Tokens(["dogs", "bark"], upos=["NOUN", "VERB"])
>>> sentence = ParsedSentence.of(
...     DependencyTree(tokens, [1, -1], ["nsubj", "root"]),
...     ConstituencyTree.build(tokens, ("S", ("NP", 0), ("VP", 1))),
... )
>>> sentence.text
'dogs bark'
>>> pair = AlignedPair(sentence, sentence, word_links=[Link(1, 1), Link(0, 0)], node_links=[Link(0, 0, "fuzzy")])
>>> pair.word_links[0].kind, pair.node_links[0].kind
('good', 'fuzzy')
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.tokens import UNSET, Token, Tokens, check_same_forms, shorten

LinkKind = Literal["good", "fuzzy"]
"""``good`` (sure) or ``fuzzy`` (possible)."""


class Link(NamedTuple):
    """One alignment link. Word links join word numbers; node links join `NodeRef`s (phrases, or words as ``~j``)."""

    source: int
    target: int
    kind: LinkKind = "good"
    score: float | None = None


class MultiwordRange(NamedTuple):
    """A CoNLL-U multiword line (``3-4 au``): words ``start`` to ``end`` (half-open, 0-based) are written as ``columns[1]``.

    ``columns`` are the ten columns of the line as read."""

    start: int
    end: int
    columns: tuple[str, ...]


class EmptyNode(NamedTuple):
    """A CoNLL-U empty node (``5.1``): it stands after ``after`` words; ``columns`` are its ten columns as read."""

    after: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class ParsedSentence:
    """A tokenised sentence with a dependency tree, a constituency tree, both or neither over the same tokens.

    ``comments`` are CoNLL-U comment lines without their line ends, as read. ``notes`` say where things came from when they
    were not given, for example ``{"constituency": "converted from dependencies"}``.
    """

    tokens: Tokens
    dependency: DependencyTree | None = None
    constituency: ConstituencyTree | None = None
    id: str = ""
    comments: tuple[str, ...] = ()
    ranges: tuple[MultiwordRange, ...] = ()
    empty_nodes: tuple[EmptyNode, ...] = ()
    notes: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for tree in (self.dependency, self.constituency):
            if tree is not None and tree.tokens is not self.tokens:
                check_same_forms(self.tokens, tree.tokens, sentence=self.id)

    @classmethod
    def of(
        cls,
        dependency: DependencyTree | None = None,
        constituency: ConstituencyTree | None = None,
        *,
        id: str = "",
        comments: Iterable[str] = (),
    ) -> ParsedSentence:
        """Join two trees of one sentence; annotations that one of them lacks are taken from the other."""
        if dependency is None and constituency is None:
            raise TreeError("no tree was given", remedy="give a dependency tree, a constituency tree or both")
        if dependency is None or constituency is None:
            tree = dependency or constituency
            assert tree is not None
            return cls(tree.tokens, dependency, constituency, id, tuple(comments))
        check_same_forms(dependency.tokens, constituency.tokens, sentence=id)
        tokens = merge_annotations(dependency.tokens, constituency.tokens)
        return cls(tokens, dependency.with_tokens(tokens), constituency.with_tokens(tokens), id, tuple(comments))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def text(self) -> str:
        """The sentence as one line: the ``# text`` comment if there is one, else the words joined by spaces."""
        for comment in self.comments:
            if comment.startswith("# text ="):
                return comment.removeprefix("# text =").strip()
        return " ".join(self.tokens.forms)

    def __repr__(self) -> str:
        trees = [name for name in ("dependency", "constituency") if getattr(self, name) is not None]
        name = f", id={self.id!r}" if self.id else ""
        return f"ParsedSentence({shorten(self.tokens.forms)}{name}, trees={'+'.join(trees) or 'none'})"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        from treeglot.trees.display import notebook_svg

        return notebook_svg(self)

    def _repr_html_(self) -> str | None:
        """The picture and the table of words that a notebook shows."""
        from treeglot.trees.display import notebook_html

        return notebook_html(self)

    def with_constituency(self, tree: ConstituencyTree, note: str = "") -> ParsedSentence:
        """The same sentence with this constituency tree; ``note`` records where it came from."""
        notes = (*(item for item in self.notes if item[0] != "constituency"),)
        return replace(self, constituency=tree, notes=(*notes, ("constituency", note)) if note else notes)

    def with_dependency(self, tree: DependencyTree, note: str = "") -> ParsedSentence:
        """The same sentence with this dependency tree; ``note`` records where it came from."""
        notes = (*(item for item in self.notes if item[0] != "dependency"),)
        return replace(self, dependency=tree, notes=(*notes, ("dependency", note)) if note else notes)


def joined(first: ParsedSentence, second: ParsedSentence, id: str = "") -> ParsedSentence:
    """One sentence of which two files have a tree each; what both have is taken from the first."""
    both = ParsedSentence.of(
        first.dependency or second.dependency,
        first.constituency if first.constituency is not None else second.constituency,
        id=first.id or second.id or id,
        comments=first.comments or second.comments,
    )
    ranges, empty = first.ranges or second.ranges, first.empty_nodes or second.empty_nodes
    return replace(both, ranges=ranges, empty_nodes=empty, notes=first.notes or second.notes)


def merge_annotations(first: Tokens, second: Tokens) -> Tokens:
    """``first`` with its unset annotations filled from ``second``. A tag of brackets that is the universal one is no XPOS."""
    if first is second or first == second:
        return first
    filled = Tokens.of(
        Token(*(b if a == UNSET else a for a, b in zip(first_token, second_token, strict=True)))
        for first_token, second_token in zip(first, second, strict=True)
    )
    if filled.xpos == first.xpos:
        return filled
    return filled.replace(
        xpos=[a if b == c else b for a, b, c in zip(first.xpos, filled.xpos, first.upos, strict=True)]
    )


@dataclass(frozen=True, init=False)
class AlignedPair:
    """Two parsed sentences with links between their words and between their nodes.

    Links are checked against the sentences and kept sorted; a link that is given twice is an error.
    """

    source: ParsedSentence
    target: ParsedSentence
    word_links: tuple[Link, ...]
    node_links: tuple[Link, ...]
    id: str

    def __init__(
        self,
        source: ParsedSentence,
        target: ParsedSentence,
        word_links: Iterable[Link] = (),
        node_links: Iterable[Link] = (),
        id: str = "",
    ) -> None:
        put = object.__setattr__
        put(self, "source", source)
        put(self, "target", target)
        put(self, "id", id)
        put(self, "word_links", self._checked(word_links, "word", (0, len(source)), (0, len(target))))
        put(self, "node_links", self._checked(node_links, "node", _node_range(source), _node_range(target)))

    def _checked(
        self, links: Iterable[Link], what: str, source_range: tuple[int, int], target_range: tuple[int, int]
    ) -> tuple[Link, ...]:
        ordered = sorted((Link(*link) for link in links), key=lambda link: (link.source, link.target))
        where = f"pair {self.id}: " if self.id else ""
        for link in ordered:
            for side, node, (low, high) in (
                ("source", link.source, source_range),
                ("target", link.target, target_range),
            ):
                if not low <= node < high:
                    raise TreeError(
                        f"{where}{what} link {link.source}-{link.target}: the {side} has no {what} {node}",
                        remedy="check that the links belong to these sentences",
                    )
            if link.kind not in get_args(LinkKind):
                raise TreeError(f"{where}link kind {link.kind!r}", remedy="kinds are good and fuzzy")
        for link, following in pairwise(ordered):
            if link[:2] == following[:2]:
                raise TreeError(
                    f"{where}{what} link {link.source}-{link.target} is given twice", remedy="drop one of them"
                )
        return tuple(ordered)

    def __repr__(self) -> str:
        name = f", id={self.id!r}" if self.id else ""
        words = f"{shorten(self.source.tokens.forms)}, {shorten(self.target.tokens.forms)}"
        return f"AlignedPair({words}{name}, word_links={len(self.word_links)}, node_links={len(self.node_links)})"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        from treeglot.trees.display import notebook_svg

        return notebook_svg(self)


def _node_range(sentence: ParsedSentence) -> tuple[NodeRef, int]:
    phrases = len(sentence.constituency) if sentence.constituency is not None else 0
    return ~(len(sentence) - 1), phrases
