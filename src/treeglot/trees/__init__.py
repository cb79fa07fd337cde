"""Dependency and constituency trees: data types, files, operations, pictures.

Start with `ParsedSentence`; see the spec of each format in its module.
"""

from treeglot.trees.constituency import ConstituencyTree, NodeRef, SecondaryEdge
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import AlignedPair, EmptyNode, Link, LinkKind, MultiwordRange, ParsedSentence
from treeglot.trees.tokens import Token, Tokens

__all__ = [
    "AlignedPair",
    "ConstituencyTree",
    "DependencyTree",
    "EmptyNode",
    "Link",
    "LinkKind",
    "MultiwordRange",
    "NodeRef",
    "ParsedSentence",
    "SecondaryEdge",
    "Token",
    "Tokens",
]
