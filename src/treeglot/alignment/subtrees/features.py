"""The plain features of the paper `tree-kernels`, section 4, for all pairs of internal nodes of two trees.

With in(S) the words under a source node S, out(S) the other words of its sentence, u a source word and v a target word:

- ``phi1`` = (Π over v in in(T) of Σ over u in in(S) of P(u|v)) to the power 1/|in(T)|, and ``phi2`` the same with the
  languages exchanged: Π over u in in(S) of Σ over v in in(T) of P(v|u), to the power 1/|in(S)|;
- ``phi3`` is ``phi1`` with the sum over out(S), ``phi4`` is ``phi2`` with the sum over out(T);
- ``phi5`` = Σ over linked (u, v) in in(S) × in(T) of √(P(u|v)·P(v|u)), divided by √(|in(S)|·|in(T)|);
- ``phi6`` is ``phi5`` with out(S) for in(S), ``phi7`` with out(T) for in(T), also in the divisors;
- ``span`` = | |in(S)|/|in(**S**)| - |in(T)|/|in(**T**)| |, with **S** and **T** the whole trees; ``descendants`` the same
  with the number of nodes below S, and ``depth`` with Depth(S)/Height(**S**).

What the paper leaves open, or is damaged in the text that we have, is read like this. The fractions of the three structural
features are printed with the same sign above and below; the sentences around them say that the divisor belongs to the whole
tree. Words are tokens: a word that stands twice counts twice. Descendants are the phrases and words below a node. Depth is
the number of nodes above a node and Height the largest depth of a word. A sum over nothing is 0, and so is a feature whose
divisor is 0. The products are 0 as soon as one word has no translation on the other side, which with a small table is nearly
always; ``floor`` is the least value of each factor (0: exactly as printed).

>>> from treeglot.trees.constituency import ConstituencyTree
>>> source = TreeNodes.of(ConstituencyTree.build(["das", "haus"], ("S", ("NP", 0), ("VP", 1))))
>>> target = TreeNodes.of(ConstituencyTree.build(["the", "house"], ("S", ("NP", 0), ("VP", 1))))
>>> evidence = WordEvidence([[0.5, 0.125], [0.0, 0.5]], [[0.5, 0.0], [0.25, 0.5]], [[1, 0], [0, 1]])
>>> features = paper_features(source, target, evidence, floor=0.0)
>>> features.shape, dict(zip(PAPER_FEATURES, features[1, 1].tolist()))["phi5"]
((3, 3, 10), 0.5)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treeglot.alignment.subtrees.nodes import Bools, TreeNodes
from treeglot.errors import TreeglotError

Floats = NDArray[np.float64]

LEXICAL_FEATURES = ("phi1", "phi2", "phi3", "phi4", "phi5", "phi6", "phi7")
STRUCTURAL_FEATURES = ("span", "descendants", "depth")
PAPER_FEATURES = LEXICAL_FEATURES + STRUCTURAL_FEATURES

DEFAULT_FLOOR = 1e-7


class WordEvidence:
    """What is known of the word pairs of one sentence pair; rows are source words, columns target words.

    ``target_given_source[u, v]`` is P(v|u), ``source_given_target[u, v]`` is P(u|v), ``links[u, v]`` whether the two words
    are linked. ``chances[u, v]`` is the chance of a link, if an aligner gives one (the extended features use it); else the
    links with a little of √(P(u|v)·P(v|u)) elsewhere. ``dictionary[u, v]`` is how well an entry of a dictionary matches the
    two words, if there is one.
    """

    __slots__ = ("chances", "dictionary", "links", "source_given_target", "target_given_source")

    def __init__(
        self,
        target_given_source: ArrayLike,
        source_given_target: ArrayLike,
        links: ArrayLike,
        chances: ArrayLike | None = None,
        dictionary: ArrayLike | None = None,
    ) -> None:
        self.target_given_source: Floats = np.asarray(target_given_source, dtype=np.float64)
        self.source_given_target: Floats = np.asarray(source_given_target, dtype=np.float64)
        self.links: Bools = np.asarray(links, dtype=np.bool_)
        if chances is None:
            both = np.sqrt(self.target_given_source * self.source_given_target)
            chances = np.where(self.links, (1 + both) / 2, both / 2)
        self.chances: Floats = np.asarray(chances, dtype=np.float64)
        matrices = [self.target_given_source, self.source_given_target, self.links, self.chances]
        self.dictionary: Floats | None = None
        if dictionary is not None:
            self.dictionary = np.asarray(dictionary, dtype=np.float64)
            matrices.append(self.dictionary)
        shapes = {matrix.shape for matrix in matrices}
        if len(shapes) != 1 or self.links.ndim != 2:
            raise TreeglotError(
                f"matrices of word pairs with shapes {', '.join(map(str, sorted(shapes)))}",
                remedy="give a row for each source word and a column for each target word",
            )

    def with_links(self, links: ArrayLike, chances: ArrayLike) -> WordEvidence:
        """The same with other links and chances of links."""
        return WordEvidence(self.target_given_source, self.source_given_target, links, chances, self.dictionary)

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of the two sentences."""
        rows, columns = self.links.shape
        return rows, columns

    def check(self, source: TreeNodes, target: TreeNodes) -> None:
        """`TreeglotError` unless the matrices belong to sentences of these lengths."""
        if self.shape != (source.words, target.words):
            raise TreeglotError(
                f"word pairs of {self.shape[0]} and {self.shape[1]} words for trees of {source.words} and {target.words}",
                remedy="give the word pairs of this sentence pair",
            )


def paper_features(
    source: TreeNodes, target: TreeNodes, evidence: WordEvidence, *, floor: float = DEFAULT_FLOOR
) -> Floats:
    """All features of all pairs of phrases: source phrases × target phrases × `PAPER_FEATURES`."""
    evidence.check(source, target)
    rows, columns = source.phrases, target.phrases
    inside, within = (nodes.yields[: nodes.phrases].astype(np.float64) for nodes in (source, target))
    outside, without = 1 - inside, 1 - within
    sizes, widths = inside.sum(axis=1)[:, None], within.sum(axis=1)[None, :]
    rests, others = outside.sum(axis=1)[:, None], without.sum(axis=1)[None, :]
    forward, backward = evidence.target_given_source, evidence.source_given_target

    result = np.zeros((rows, columns, len(PAPER_FEATURES)))
    for place, mine, theirs in ((0, inside, within), (2, outside, without)):
        with np.errstate(divide="ignore"):
            each = np.log(np.maximum(mine @ backward, floor))  # source phrases × target words
            other = np.log(np.maximum(forward @ theirs.T, floor))  # source words × target phrases
        result[..., place] = _means(each, within, widths)
        result[..., place + 1] = _means(other.T, inside, sizes.T).T
    linked = np.where(evidence.links, np.sqrt(forward * backward), 0.0)
    for place, mine, theirs, count, number in (
        (4, inside, within, sizes, widths),
        (5, outside, within, rests, widths),
        (6, inside, without, sizes, others),
    ):
        divisor = np.sqrt(count * number)
        np.divide(mine @ linked @ theirs.T, divisor, out=result[..., place], where=divisor > 0)
    for place, (mine, theirs) in enumerate(
        zip(structural_ratios(source), structural_ratios(target), strict=True), start=len(LEXICAL_FEATURES)
    ):
        result[..., place] = np.abs(mine[:, None] - theirs[None, :])
    return result


def _means(logs: Floats, within: Floats, widths: Floats) -> Floats:
    """Geometric means over the words of each phrase; a word of probability 0 makes them 0."""
    zeros = np.isneginf(logs)
    means: Floats = np.exp(np.where(zeros, 0.0, logs) @ within.T / widths)
    means[(zeros @ within.T) > 0] = 0.0
    return means


def structural_ratios(nodes: TreeNodes) -> tuple[Floats, Floats, Floats]:
    """Of each phrase, in shares of the whole tree: words, descendants, depth."""
    phrases = nodes.phrases
    if not phrases:
        empty = np.zeros(0)
        return empty, empty, empty
    deepest = 1 + max(int(nodes.depth[parent]) for parent in nodes.tree.word_parents)
    return (
        nodes.size[:phrases] / nodes.words,
        nodes.descendants[:phrases] / int(nodes.descendants[0]),
        nodes.depth[:phrases] / deepest,
    )
