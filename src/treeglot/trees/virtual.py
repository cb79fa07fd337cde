"""Trees without virtual roots, as aligners of nodes have to see them.

Reading TIGER-XML puts a phrase ``VROOT`` above nodes that nothing is above of, usually a sentence and its loose punctuation
(`treeglot.trees.tiger`). It is in no file, so no link may end there, and what stands for the whole sentence is the top phrase
below it. `Rooted` hangs the loose nodes under that phrase (the largest, if there are several), and takes links back to the
nodes of the tree as it was given.

>>> tree = ConstituencyTree.build(["Ich", "gehe", "."], ("VROOT", ("S", ("NP", 0), 1), 2))
>>> tree = replace(tree, ids=("s1_VROOT", "s1_500", "s1_501"), word_ids=("s1_1", "s1_2", "s1_3"))
>>> rooted = Rooted.of(ParsedSentence(tree.tokens, constituency=tree, id="s1"))
>>> rooted.sentence.constituency.labels, rooted.sentence.constituency.sizes
(('S', 'NP'), (3, 1))
>>> rooted.given(0), rooted.given(1), rooted.given(-1), rooted.node(0), rooted.node(2)
(1, 2, -1, 0, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from treeglot.trees._rebuild import rebuild
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tiger import is_virtual_root


class Rooted(NamedTuple):
    """A sentence whose root is a phrase of its file. ``phrases`` has, for each phrase, its number in the given tree;
    -1 for the root of a sentence that has no phrase but a virtual one."""

    sentence: ParsedSentence
    phrases: tuple[int, ...] | None = None

    @classmethod
    def of(cls, sentence: ParsedSentence) -> Rooted:
        """The same sentence if its root is no virtual one."""
        if not is_virtual_root(sentence):
            return cls(sentence)
        tree = sentence.constituency
        assert tree is not None
        tops = [child for child in tree.children[0] if child >= 0]
        if not tops:
            return cls(sentence, (-1,))
        top = max(tops, key=lambda n: (tree.sizes[n], -n))
        loose = [child for child in tree.children[0] if child != top]
        # Phrase n of the new tree is phrase n + 1 of the given one, until the constructor puts them in order.
        children = [list(below) for below in tree.children[1:]]
        children[top - 1] += loose
        shifted = [[child - 1 if child >= 0 else child for child in below] for below in children]
        origin = range(1, len(tree))
        lifted, phrases = rebuild(tree, tree.labels[1:], shifted, tree.functions[1:], origin, tree.ids[1:])
        return cls(replace(sentence, constituency=lifted), phrases)

    def given(self, node: NodeRef) -> NodeRef | None:
        """A node of this tree in the given one; None if it is not there."""
        if node < 0 or self.phrases is None:
            return node
        return self.phrases[node] if self.phrases[node] >= 0 else None

    def node(self, given: NodeRef) -> NodeRef:
        """A node of the given tree in this one; the virtual root is the root."""
        if given <= 0 or self.phrases is None:
            return given
        return self.phrases.index(given)


def rooted_pair(pair: AlignedPair) -> tuple[AlignedPair, tuple[Rooted, Rooted]]:
    """A pair without virtual roots; its links to them are links to the top phrase, unless that is linked there already."""
    sides = Rooted.of(pair.source), Rooted.of(pair.target)
    if all(side.phrases is None for side in sides):
        return pair, sides
    links: dict[tuple[NodeRef, NodeRef], Link] = {}
    for link in sorted(pair.node_links, key=lambda link: (link.source == 0) + (link.target == 0)):
        ends = sides[0].node(link.source), sides[1].node(link.target)
        links.setdefault(ends, Link(*ends, *link[2:]))
    return AlignedPair(sides[0].sentence, sides[1].sentence, pair.word_links, links.values(), pair.id), sides


def given_links(links: Iterable[Link], sides: tuple[Rooted, Rooted]) -> list[Link]:
    """Links between the nodes of two rooted trees as links between those of the given trees."""
    result = []
    for link in links:
        source, target = sides[0].given(link.source), sides[1].given(link.target)
        if source is not None and target is not None:
            result.append(Link(source, target, *link[2:]))
    return result


__all__ = ["ConstituencyTree", "Rooted", "given_links", "rooted_pair"]
