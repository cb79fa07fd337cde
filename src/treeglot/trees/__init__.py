"""Dependency and constituency trees: data types, files, operations, pictures.

The data types are here; each format and each operation has a module of its own:

* files: `conllu`, `penn`, `bracketed`, `tiger`, `treealigner`, `wordlinks`, `treejson`; `formats` finds the right one by a
  file's name, `convert` converts between them, `statistics` counts;
* operations: `projectivity`, `binarize`, `heads`, `cons2dep`, `dep2cons`, `continuous`, `phrasal`;
* pictures: `display`.
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
