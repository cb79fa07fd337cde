"""A derivation between trees as fragments: the nodes of the source tree and of the target tree that each rule covers itself.

On the target side the rules say which nodes are theirs (`treeglot.search.target_trees`). On the source side a node belongs to the lowest
rule over all its words; glue on glue counts as one. Where a fragment begins, its number stands beside the node: also that of a rule that has nothing but a
variable there, so every rule has its number on both sides. Copies, glue and pseudo rules have it only where nodes are theirs.

>>> from treeglot.search import RuleUse
>>> from treeglot.search.display import list_steps
>>> noun = RuleUse("stssg", 1, 2, "(NN 狗)", ("dog",), target_tree="(NN dog)")
>>> use = RuleUse("stssg", 0, 2, "(NP (DT 那) x1:NN)", ("the", 0), children=(noun,), target_tree="(NP (DT the) x1:NN)")
>>> source = ConstituencyTree.build(["那", "狗"], ("NP", 0, 1))
>>> pair = tree_pair(ParsedSentence.of(None, source), list_steps(use))
>>> pair.source.nodes, pair.source.words, pair.target.begins
((1,), (1, 2), {0: (1,), -2: (2,)})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from treeglot.search.display.colours import is_neutral
from treeglot.search.display.steps import Step
from treeglot.search.target_trees import GLUE, owned_target_tree
from treeglot.trees.constituency import ConstituencyTree, NodeRef
from treeglot.trees.sentence import ParsedSentence


@dataclass(frozen=True)
class FragmentTree:
    """A sentence whose phrases and words each belong to a step; a phrase that no rule brought belongs to step 0."""

    sentence: ParsedSentence
    nodes: tuple[int, ...]
    words: tuple[int, ...]
    begins: Mapping[NodeRef, tuple[int, ...]]
    """The steps whose fragments begin at a node, from the highest to that of the node."""

    @property
    def tree(self) -> ConstituencyTree | None:
        return self.sentence.constituency

    def owner(self, node: NodeRef) -> int:
        """The step that a phrase or a word belongs to."""
        return self.nodes[node] if node >= 0 else self.words[~node]


@dataclass(frozen=True)
class TreePair:
    """Both trees of a derivation."""

    source: FragmentTree
    target: FragmentTree


def tree_pair(sentence: ParsedSentence, steps: Sequence[Step]) -> TreePair | None:
    """The fragments of a derivation; None if no rule has a target tree. A source without a tree has words only."""
    owned = owned_target_tree(steps[0].use)
    if owned is None:
        return None
    words = [0] * len(sentence)
    for step in steps:
        for j in step.source_words:
            words[j] = step.number
    nodes: tuple[int, ...] = ()
    if sentence.constituency is not None:
        outer = _outer_glue(steps)
        nodes = tuple(outer[step] for step in _lowest_steps(sentence.constituency, words, steps))
    target = ParsedSentence.of(None, owned.tree)
    return TreePair(_side(sentence, nodes, tuple(words), steps), _side(target, owned.nodes, owned.words, steps))


def without_inner_glue(steps: Sequence[Step]) -> list[Step]:
    """The steps without glue that only adds to the parts of other glue: it has no node of its own. What is below it moves up."""
    outer = _outer_glue(steps)
    depth: dict[int, int] = {0: -1}
    listed = []
    for step in steps:
        is_inner = outer[step.number] != step.number
        depth[step.number] = depth[step.parent] + (not is_inner)
        if not is_inner:
            listed.append(replace(step, depth=depth[step.number]))
    return listed


def _outer_glue(steps: Sequence[Step]) -> list[int]:
    """For each step (0 first) the highest glue of those that it is one with, or the step itself."""
    outer = [0]
    for step in steps:
        is_inner = step.parent > 0 and step.use.grammar == steps[step.parent - 1].use.grammar == GLUE
        outer.append(outer[step.parent] if is_inner else step.number)
    return outer


def _lowest_steps(tree: ConstituencyTree, words: Sequence[int], steps: Sequence[Step]) -> tuple[int, ...]:
    """For each phrase the lowest step over all its words."""
    owners = [0] * len(tree)
    for node in range(len(tree) - 1, -1, -1):  # children have higher numbers
        below = [owners[child] if child >= 0 else words[~child] for child in tree.children[node]]
        lowest = below[0]
        for other in below[1:]:
            while lowest != other:  # up from the deeper one
                if other and (not lowest or steps[other - 1].depth >= steps[lowest - 1].depth):
                    other = steps[other - 1].parent
                else:
                    lowest = steps[lowest - 1].parent
        owners[node] = lowest
    return tuple(owners)


def _side(
    sentence: ParsedSentence, nodes: tuple[int, ...], words: tuple[int, ...], steps: Sequence[Step]
) -> FragmentTree:
    above: dict[NodeRef, int] = {}  # the step of a node's parent
    tree = sentence.constituency
    if tree is not None:
        above = {child: nodes[node] for node in range(len(tree)) for child in tree.children[node]}
    begins: dict[NodeRef, tuple[int, ...]] = {}
    for node in [*range(len(nodes)), *(~j for j in range(len(words)))]:
        owner = nodes[node] if node >= 0 else words[~node]
        end = above.get(node, 0)
        path: list[int] = []
        number = owner
        while number and number != end:
            if number == owner or not is_neutral(steps[number - 1].use):
                path.append(number)
            number = steps[number - 1].parent
        if path:
            begins[node] = tuple(reversed(path))
    return FragmentTree(sentence, nodes, words, begins)
