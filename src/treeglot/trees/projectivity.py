"""Projectivity: which arcs cross, lifting them away, and putting them back (spec: notation, "Dependency tree").

An arc from a head h to a dependent d is *non-projective* when some word between the two is not below h. `projectivize`
hangs every such d on its nearest ancestor whose arc to d is projective in the given tree. That needs no order of lifting
(shortest arc first, deepest first, ...), and no other way of lifting puts any word nearer to its true head: of all
projective trees in which each word hangs on one of its ancestors, this is the lowest for every word at once. Only the
non-projective arcs are lifted, and labels stay as they are.

>>> tree = DependencyTree("A hearing is scheduled on the issue today".split(), heads=[1, 2, -1, 2, 1, 6, 4, 3])
>>> nonprojective_arcs(tree)
(4, 7)
>>> flat = projectivize(tree)
>>> flat.heads, flat.true_heads, lifted(flat)
((1, 2, -1, 2, 2, 6, 4, 2), (1, 2, -1, 2, 1, 6, 4, 3), 2)
>>> deprojectivize(flat) == tree
True
"""

from __future__ import annotations

from treeglot.trees.dependency import ROOT, DependencyTree


def projectivize(tree: DependencyTree) -> DependencyTree:
    """The lowest projective tree; `true_heads` keeps the heads before lifting. A projective tree is returned as it is."""
    heads = _lowest_projective_heads(tree)
    if heads == tree.heads:
        return tree
    true_heads = tree.heads if tree.true_heads is None else tree.true_heads
    return DependencyTree(tree.tokens, heads, tree.deprels, true_heads)


def deprojectivize(tree: DependencyTree) -> DependencyTree:
    """The tree before `projectivize`."""
    if tree.true_heads is None:
        return tree
    return DependencyTree(tree.tokens, tree.true_heads, tree.deprels)


def lifted(tree: DependencyTree) -> int:
    """How many arcs of the tree were lifted."""
    if tree.true_heads is None:
        return 0
    return sum(head != true_head for head, true_head in zip(tree.heads, tree.true_heads, strict=True))


def nonprojective_arcs(tree: DependencyTree) -> tuple[int, ...]:
    """The dependents of the non-projective arcs, in surface order."""
    heads = _lowest_projective_heads(tree)
    return tuple(j for j, (new, old) in enumerate(zip(heads, tree.heads, strict=True)) if new != old)


def _lowest_projective_heads(tree: DependencyTree) -> tuple[int, ...]:
    """One pass, dependents before heads, in linear time.

    A finished word n owns a *block*: the longest contiguous run around n of words below n. The words below a head h are
    h and some unattached blocks; h takes the blocks that touch its own, left and right, until the neighbour is no
    descendant. What it cannot reach stays unattached for an ancestor.
    """
    size = len(tree)
    heads = [ROOT] * size
    place = [0] * size  # in the postorder; the words below n are the sizes[n] - 1 places before n's
    block_ending = [-1] * (size + 1)  # the word whose finished block ends (or starts) at this boundary
    block_starting = [-1] * (size + 1)
    low = list(range(size))
    high = [j + 1 for j in low]
    for position, n in enumerate(tree.postorder):
        place[n] = position
        first = position - tree.sizes[n] + 1
        left, right = n, n + 1
        while (m := block_ending[left]) >= 0 and place[m] >= first:
            heads[m] = n
            left = low[m]
        while (m := block_starting[right]) >= 0 and place[m] >= first:
            heads[m] = n
            right = high[m]
        low[n], high[n] = left, right
        block_ending[right] = block_starting[left] = n
    return tuple(heads)
