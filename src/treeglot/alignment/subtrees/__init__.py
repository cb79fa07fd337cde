"""Sub-tree alignment: links between the nodes of two trees of a sentence pair."""

from treeglot.alignment.subtrees.lexical import LexicalTreeAligner
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.alignment.subtrees.search import Candidates, ScoredPair, best_links, greedy_links, is_well_formed
from treeglot.alignment.subtrees.wordtable import WordTable

__all__ = [
    "Candidates",
    "LexicalTreeAligner",
    "ScoredPair",
    "TreeNodes",
    "WordTable",
    "best_links",
    "greedy_links",
    "is_well_formed",
]
