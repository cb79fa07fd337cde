"""Node links of trees whose words are linked by hand: what a sub-tree aligner can be trained on without a linked treebank.

Two phrases are linked when their words are linked with each other, at least once, and with no others. Phrases with the same linked
words stand above each other (a unary chain, or a phrase with an unlinked function word and one without), and so do those of
the other side that fit them: of two such chains the phrases are joined one to one, in order, as many as the shorter one has. Where there is
a choice, pairs with the same label are preferred, then pairs with similar shares of their sentences' words, then higher ones. The
result is well-formed as a sub-tree aligner's is: a phrase has one link, and what is below it is linked with what is below its
partner.

A link is *good* if it holds with all word links, and *fuzzy* if only with the good ones: possible word links (``3-4-P``) contradict
it.

>>> from treeglot.trees.penn import parse_penn
>>> source = ParsedSentence.of(constituency=parse_penn("(IP (NP (NN 狗)) (VP (VV 叫)))"))
>>> target = ParsedSentence.of(constituency=parse_penn("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"))
>>> [link[:3] for link in links_from_words(AlignedPair(source, target, [Link(0, 1), Link(1, 2)]))]
[(0, 0, 'good'), (1, 1, 'good'), (2, 2, 'good')]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

Chain = list[int]
"""Phrases above each other, from the top."""

_Best = tuple[int, float, tuple[int, ...]]


def links_from_words(pair: AlignedPair) -> tuple[Link, ...]:
    """Links between the phrases of a pair, by its word links; sorted by the source's phrases."""
    trees = _tree(pair.source, pair.id), _tree(pair.target, pair.id)
    everything = [(link.source, link.target) for link in pair.word_links]
    sure = [(link.source, link.target) for link in pair.word_links if link.kind == "good"]
    good = _joined(*trees, everything)
    links = [Link(*nodes) for nodes in good]
    # Phrases that have a link already, and those on the wrong side of one, have no further.
    for nodes in _joined(*trees, sure) if len(sure) < len(everything) else ():
        if all(_fits(trees, nodes, other[:2]) for other in links):
            links.append(Link(*nodes, "fuzzy"))
    return tuple(sorted(links, key=lambda link: link[:2]))


def with_links_from_words(pairs: Iterable[AlignedPair]) -> Iterable[AlignedPair]:
    """The pairs with these links in place of the node links that they have."""
    for pair in pairs:
        yield AlignedPair(pair.source, pair.target, pair.word_links, links_from_words(pair), pair.id)


def _tree(sentence: ParsedSentence, name: str) -> ConstituencyTree:
    if sentence.constituency is None:
        raise TreeError(
            f"pair {name}: a sentence without phrases" if name else "a sentence without phrases",
            remedy="parse it to constituents, or convert its dependencies: treeglot trees convert",
        )
    return sentence.constituency


def _joined(
    source: ConstituencyTree, target: ConstituencyTree, links: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Phrases with the same linked words on either side, chain by chain."""
    partners: dict[int, set[int]] = {}
    linked_targets = set()
    for word, other in links:
        partners.setdefault(word, set()).add(other)
        linked_targets.add(other)
    sources = _chains(source, set(partners))
    targets = _chains(target, linked_targets)
    back: dict[int, set[int]] = {}
    for word, others in partners.items():
        for other in others:
            back.setdefault(other, set()).add(word)
    result = []
    for words, chain in sources.items():
        image = frozenset().union(*(partners[word] for word in words))
        if image in targets and all(back[other] <= words for other in image):
            result += _matched(source, chain, target, targets[image])
    return result


def _chains(tree: ConstituencyTree, linked: set[int]) -> dict[frozenset[int], Chain]:
    """Phrases by the linked words that they have; phrases without any are nowhere."""
    chains: dict[frozenset[int], Chain] = {}
    for number, words in enumerate(tree.yields):
        own = frozenset(words) & linked
        if own:
            chains.setdefault(own, []).append(number)  # preorder: from the top
    return chains


def _matched(
    source: ConstituencyTree, sources: Chain, target: ConstituencyTree, targets: Chain
) -> list[tuple[int, int]]:
    """The best way to join all phrases of the shorter chain, in order: (same labels, similar sizes, height)."""
    swap = len(sources) > len(targets)
    short, long = (targets, sources) if swap else (sources, targets)

    def value(i: int, j: int) -> tuple[int, float]:
        one, other = (long[j], short[i]) if swap else (short[i], long[j])
        shares = [len(tree.yields[n]) / len(tree.tokens) for tree, n in ((source, one), (target, other))]
        return int(source.labels[one] == target.labels[other]), -abs(shares[0] - shares[1])

    # best[j]: of the phrases so far with long[:j], (labels, sizes, places in `long`); lower places are higher phrases.
    best: list[_Best | None] = [(0, 0.0, ())] * (len(long) + 1)
    for i in range(len(short)):
        following: list[_Best | None] = [None] * (len(long) + 1)
        for j in range(i + 1, len(long) + 1):
            options = [following[j - 1]]
            before = best[j - 1]
            if before is not None:
                labels, size = value(i, j - 1)
                options.append((before[0] + labels, before[1] + size, (*before[2], j - 1)))
            known = [option for option in options if option is not None]
            following[j] = max(known, key=lambda o: (o[0], round(o[1], 9), tuple(-p for p in o[2])), default=None)
        best = following
    chosen = best[len(long)]
    assert chosen is not None  # the shorter chain always fits
    pairs = [(short[i], long[j]) for i, j in enumerate(chosen[2])]
    return [(other, one) for one, other in pairs] if swap else pairs


def _fits(trees: tuple[ConstituencyTree, ...], nodes: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two links can stand together: other phrases, and below, above or beside each other on both sides alike."""
    if nodes[0] == other[0] or nodes[1] == other[1]:
        return False
    relations = []
    for tree, one, two in zip(trees, nodes, other, strict=True):
        relations.append((_is_above(tree, one, two), _is_above(tree, two, one)))
    return relations[0] == relations[1]


def _is_above(tree: ConstituencyTree, upper: int, lower: int) -> bool:
    while lower > upper:
        lower = tree.parents[lower]
    return lower == upper
