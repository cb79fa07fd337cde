"""Sentences that were translated as two, or two as one: their pairs joined to one unit, and the links taken apart again.

Aligned treebanks list such a sentence in several pairs. Aligned one by one, each pair claims the whole of the sentence; in a
unit its phrases are linked only once, and what is said in the other sentence is seen. The trees of several sentences hang
under one new root with the label `JOINED`, which stands for nothing in the treebank and must not be linked.

>>> from treeglot.trees.penn import parse_penn
>>> def sentence(text, name):
...     tree = parse_penn(text)
...     return ParsedSentence(tree.tokens, constituency=tree, id=name)
>>> german = sentence("(S (NP (P er)) (VP (V kam) (C und) (V ging)))", "s1")
>>> english = [sentence("(S (NP (P he)) (VP (V came)))", "t1"), sentence("(S (NP (P he)) (VP (V left)))", "t2")]
>>> pairs = [AlignedPair(german, english[0], node_links=[Link(1, 1)], id="1"), AlignedPair(german, english[1], id="2")]
>>> (unit,) = join_units(pairs)
>>> unit.pair.target.text, unit.pair.target.constituency.labels, [link[:2] for link in unit.pair.node_links]
('he came he left', ('joined', 'S', 'NP', 'VP', 'S', 'NP', 'VP'), [(1, 2)])
>>> [[link[:2] for link in links] for links in unit.split([Link(1, 2), Link(2, 6), Link(0, 0)])]
[[(1, 1)], [(2, 2)]]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import Tokens

JOINED = "joined"
MOST = 8
"""Sentences of one side that are joined at most."""


@dataclass(frozen=True)
class _Side:
    """Some sentences of one language as one. ``words`` and ``phrases`` are where the nodes of each begin."""

    sentence: ParsedSentence
    words: tuple[int, ...]
    phrases: tuple[int, ...]

    @classmethod
    def join(cls, sentences: Sequence[ParsedSentence]) -> _Side:
        if len(sentences) == 1:
            return cls(sentences[0], (0, len(sentences[0])), (0, _phrases(sentences[0])))
        words = tuple(accumulate((len(sentence) for sentence in sentences), initial=0))
        phrases = tuple(accumulate((_phrases(sentence) for sentence in sentences), initial=1))
        tokens = Tokens.of(token for sentence in sentences for token in sentence.tokens)
        labels, functions = [JOINED], [""]
        word_functions: list[str] = []
        children: list[list[NodeRef]] = [[]]
        for sentence, word, phrase in zip(sentences, words, phrases, strict=False):
            tree = sentence.constituency
            assert tree is not None
            if len(tree):
                children[0].append(phrase)
            else:  # a sentence of one word has no phrase
                children[0].extend(~(word + j) for j in range(len(tree.tokens)))
            labels += tree.labels
            functions += tree.functions
            word_functions += tree.word_functions
            children += [[n + phrase if n >= 0 else ~(~n + word) for n in below] for below in tree.children]
        tree = ConstituencyTree(tokens, labels, children, functions, word_functions)
        name = " ".join(sentence.id for sentence in sentences)
        return cls(ParsedSentence(tokens, constituency=tree, id=name), words, phrases)

    def joined(self, number: int, node: NodeRef) -> NodeRef:
        """A node of one sentence in the whole."""
        return node + self.phrases[number] if node >= 0 else ~(~node + self.words[number])

    def place(self, node: NodeRef) -> tuple[int, NodeRef]:
        """The sentence of a node and the node in it; sentence -1 for the root of the whole."""
        starts, at = (self.phrases, node) if node >= 0 else (self.words, ~node)
        number = sum(start <= at for start in starts) - 1
        if number < 0:
            return -1, 0
        return number, at - starts[number] if node >= 0 else ~(at - starts[number])


@dataclass(frozen=True)
class Unit:
    """Pairs that share sentences, and ``pair``, which joins them."""

    pair: AlignedPair
    members: tuple[AlignedPair, ...]
    _sides: tuple[_Side, _Side]
    _places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, members: Sequence[AlignedPair]) -> Unit:
        """Of pairs whose sentences all have constituency trees."""
        sentences: tuple[list[ParsedSentence], list[ParsedSentence]] = ([], [])
        places = []
        for member in members:
            place = []
            for known, sentence in zip(sentences, (member.source, member.target), strict=True):
                if sentence.constituency is None:
                    raise TreeError(
                        f"pair {member.id}: a sentence without constituency tree", remedy="convert its dependency tree"
                    )
                number = next((k for k, other in enumerate(known) if _same(sentence, other)), len(known))
                if number == len(known):
                    known.append(sentence)
                place.append(number)
            places.append((place[0], place[1]))
        if len(members) == 1:
            sides = _Side.join(sentences[0]), _Side.join(sentences[1])
            return cls(members[0], (members[0],), sides, ((0, 0),))
        sides = _Side.join(sentences[0]), _Side.join(sentences[1])
        words = {
            (link.source + sides[0].words[s], link.target + sides[1].words[t]): link
            for member, (s, t) in zip(members, places, strict=True)
            for link in member.word_links
        }
        nodes = {
            (sides[0].joined(s, link.source), sides[1].joined(t, link.target)): link
            for member, (s, t) in zip(members, places, strict=True)
            for link in member.node_links
        }
        pair = AlignedPair(
            sides[0].sentence,
            sides[1].sentence,
            [Link(*ends, *link[2:]) for ends, link in words.items()],
            [Link(*ends, *link[2:]) for ends, link in nodes.items()],
            " ".join(member.id for member in members),
        )
        return cls(pair, tuple(members), sides, tuple(places))

    def split(self, links: Iterable[Link]) -> list[list[Link]]:
        """Links between nodes of ``pair`` as links of each member; those between sentences that are no pair are dropped."""
        if len(self.members) == 1:
            return [list(links)]
        result: list[list[Link]] = [[] for _ in self.members]
        where = {place: k for k, place in enumerate(self._places)}
        for link in links:
            (s, source), (t, target) = self._sides[0].place(link.source), self._sides[1].place(link.target)
            if (s, t) in where:
                result[where[s, t]].append(Link(source, target, *link[2:]))
        return result


def join_units(pairs: Iterable[AlignedPair], *, most: int = MOST) -> Iterator[Unit]:
    """Stream pairs into units: neighbours in the stream that share a sentence (by its id and words) are joined."""
    members: list[AlignedPair] = []
    for pair in pairs:
        if members and not (_shared(pair, members) and _fits(pair, members, most)):
            yield Unit.of(members)
            members = []
        members.append(pair)
    if members:
        yield Unit.of(members)


def _phrases(sentence: ParsedSentence) -> int:
    return len(sentence.constituency) if sentence.constituency is not None else 0


def _same(first: ParsedSentence, second: ParsedSentence) -> bool:
    return first is second or (bool(first.id) and first.id == second.id and first.tokens.forms == second.tokens.forms)


def _shared(pair: AlignedPair, members: Sequence[AlignedPair]) -> bool:
    return any(_same(pair.source, other.source) or _same(pair.target, other.target) for other in members)


def _fits(pair: AlignedPair, members: Sequence[AlignedPair], most: int) -> bool:
    """Whether the unit stays small enough, and the pair is not in it already."""
    if any(_same(pair.source, other.source) and _same(pair.target, other.target) for other in members):
        return False
    sides = [p.source for p in (*members, pair)], [p.target for p in (*members, pair)]
    return all(len({sentence.id or id(sentence) for sentence in side}) <= most for side in sides)
