"""Give a sentence the tree that its parser could not give, and say so.

A dependency parser's sentences get phrases by `treeglot.trees.dep2cons`, a phrase-structure parser's sentences get arcs by
`treeglot.trees.cons2dep`. What was converted stands in the notes and in a comment of the sentence, so that no reader of the
output takes it for a parser's work.

>>> from treeglot.trees import DependencyTree, Tokens
>>> tokens = Tokens(["dogs", "chase", "cats"], upos=["NOUN", "VERB", "NOUN"])
>>> sentence = ParsedSentence.of(DependencyTree(tokens, [1, -1, 1], ["nsubj", "root", "obj"]))
>>> done = complete(sentence, {"constituency"})
>>> done.constituency.labels, done.comments
(('S', 'NP', 'VP', 'NP'), ('# constituency = converted from dependencies',))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from treeglot.parsers.base import CONSTITUENCY, DEPENDENCY, TreeKind, failure
from treeglot.trees.sentence import ParsedSentence

FROM_DEPENDENCIES = "converted from dependencies"
FROM_CONSTITUENTS = "converted from constituents"


def complete(sentence: ParsedSentence, wanted: Collection[TreeKind]) -> ParsedSentence:
    """The sentence with all trees in ``wanted``; the missing one is converted from the other."""
    if CONSTITUENCY in wanted and sentence.constituency is None and sentence.dependency is not None:
        from treeglot.trees.dep2cons import to_constituency

        done = sentence.with_constituency(to_constituency(sentence.dependency), FROM_DEPENDENCIES)
        return _say(done, CONSTITUENCY, FROM_DEPENDENCIES)
    if DEPENDENCY in wanted and sentence.dependency is None and sentence.constituency is not None:
        from treeglot.trees.cons2dep import to_dependency

        done = sentence.with_dependency(to_dependency(sentence.constituency), FROM_CONSTITUENTS)
        return _say(done, DEPENDENCY, FROM_CONSTITUENTS)
    return sentence


def _say(sentence: ParsedSentence, kind: TreeKind, what: str) -> ParsedSentence:
    return replace(sentence, comments=(*sentence.comments, f"# {kind} = {what}"))


def converted(sentence: ParsedSentence) -> str:
    """Which tree of the sentence was converted from the other, if any."""
    if failure(sentence):
        return ""
    notes = dict(sentence.notes)
    return next((kind for kind in (CONSTITUENCY, DEPENDENCY) if "converted" in notes.get(kind, "")), "")
