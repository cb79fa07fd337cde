"""Sub-tree alignment: links between the nodes of two trees of a sentence pair."""

from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.alignment.subtrees.search import Candidates, ScoredPair, best_links, greedy_links, is_well_formed

__all__ = ["Candidates", "ScoredPair", "TreeNodes", "best_links", "greedy_links", "is_well_formed"]
