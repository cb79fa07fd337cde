"""CoNLL-U of both sides of aligned pairs, with their links in MISC.

Word links are ``Align=s3:4,s3:5``: words 4 and 5 of sentence s3 of the other file (CoNLL-U's numbers, from 1). Links
between phrases of dependency trees are ``Subtree=s3:4`` on the head word of the phrase: the phrase whose head is word 4. A
confidence follows after a slash (``Subtree=s3:4/0.93``), and ``?`` ends a fuzzy link. The comment ``# align = s3 s4`` names all
sentences that are paired with this one. Phrases of constituency trees have no place in CoNLL-U; links between them are in
the other formats.

>>> import tempfile, pathlib
>>> from treeglot.trees.bracketed import dependency_phrases
>>> from treeglot.trees.dependency import DependencyTree
>>> from treeglot.trees.tokens import Tokens
>>> def sentence(name, *words):
...     tree = DependencyTree(Tokens(words, upos=["NOUN", "VERB"]), [1, -1], ["nsubj", "root"])
...     return ParsedSentence(tree.tokens, tree, dependency_phrases(tree), name)
>>> pair = AlignedPair(sentence("s1", "Hunde", "bellen"), sentence("t7", "dogs", "bark"), [Link(0, 0)], [Link(0, 0, "good", 0.5)])
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> write_linked_conllu([pair], folder / "s.conllu", folder / "t.conllu")
(1, 1)
>>> for line in (folder / "s.conllu").read_text().splitlines()[:4]:
...     print(line.replace("\\t", " "))
# sent_id = s1
# align = t7
1 Hunde _ NOUN _ _ 2 nsubj _ Align=t7:1
2 bellen _ VERB _ _ 0 root _ Subtree=t7:2/0.5
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from treeglot.errors import TreeError
from treeglot.files import type_path
from treeglot.trees.bracketed import HEAD_FUNCTION, dependency_phrases
from treeglot.trees.conllu import write_conllu
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens


@dataclass
class _Side:
    """A sentence and what is said about its words."""

    sentence: ParsedSentence
    others: list[str] = field(default_factory=list)
    words: dict[int, list[str]] = field(default_factory=dict)
    phrases: dict[int, list[str]] = field(default_factory=dict)

    def written(self) -> ParsedSentence:
        misc = []
        for j, token in enumerate(self.sentence.tokens):
            parts = [] if token.misc == UNSET else [token.misc]
            for name, links in (("Align", self.words), ("Subtree", self.phrases)):
                if j in links:
                    parts.append(f"{name}={','.join(links[j])}")
            misc.append("|".join(parts) or UNSET)
        tokens = Tokens.of(token._replace(misc=text) for token, text in zip(self.sentence.tokens, misc, strict=True))
        tree = self.sentence.dependency
        comments = self.sentence.comments or (f"# sent_id = {self.sentence.id}",)
        if self.others:
            comments = (*comments, f"# align = {' '.join(self.others)}")
        return replace(
            self.sentence,
            tokens=tokens,
            dependency=None if tree is None else tree.with_tokens(tokens),
            constituency=None,
            comments=comments,
        )


def write_linked_conllu(pairs: Iterable[AlignedPair], source: type_path, target: type_path) -> tuple[int, int]:
    """Write the two sides; returns how many sentences each has. A sentence of several pairs is written once."""
    sides: tuple[dict[str, _Side], dict[str, _Side]] = ({}, {})
    for pair in pairs:
        both = []
        for known, sentence in zip(sides, (pair.source, pair.target), strict=True):
            if not sentence.id:
                raise TreeError(f"pair {pair.id}: a sentence without id", remedy="give every sentence an id")
            entry = known.setdefault(sentence.id, _Side(sentence))
            if entry.sentence.tokens.forms != sentence.tokens.forms:
                raise TreeError(f"two sentences have the id {sentence.id!r}", remedy="give every sentence its own id")
            both.append(entry)
        heads = [_heads(sentence) for sentence in (pair.source, pair.target)]
        for k, entry in enumerate(both):
            other = (pair.target, pair.source)[k].id
            entry.others.append(other)
            for link in pair.word_links:
                here, there = (link.target, link.source) if k else (link.source, link.target)
                entry.words.setdefault(here, []).append(_text(other, there, link))
            for link in pair.node_links:
                ends = [side.get(node) for side, node in zip(heads, link[:2], strict=True)]
                if ends[0] is not None and ends[1] is not None:
                    mine, theirs = ends[k], ends[1 - k]
                    assert mine is not None and theirs is not None
                    entry.phrases.setdefault(mine, []).append(_text(other, theirs, link))
    counts = [
        write_conllu((entry.written() for entry in known.values()), path)
        for known, path in zip(sides, (source, target), strict=True)
    ]
    return counts[0], counts[1]


def _text(sentence: str, word: int, link: Link) -> str:
    score = "" if link.score is None else f"/{link.score!r}"
    return f"{sentence}:{word + 1}{score}{'?' if link.kind == 'fuzzy' else ''}"


def _heads(sentence: ParsedSentence) -> dict[int, int]:
    """The head word of each phrase, if the constituency tree has the phrases of the dependency tree; words stand for
    themselves."""
    heads = {~j: j for j in range(len(sentence))}
    tree = sentence.constituency
    if sentence.dependency is None or tree is None or HEAD_FUNCTION not in tree.word_functions:
        return heads
    if dependency_phrases(sentence.dependency).children != tree.children:
        return heads
    for n, below in enumerate(tree.children):
        words = [~child for child in below if child < 0 and tree.word_functions[~child] == HEAD_FUNCTION]
        if words:
            heads[n] = words[0]
    return heads
