"""A parser without a model, for tests: each word depends on the one before it, or both kinds of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from treeglot.parsers.base import Concurrency, Parser
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

calls: list[str] = []
"""The texts that were parsed."""
stop_at: list[str] = []
"""A sentence at which the parser is interrupted, once."""


class Chain(Parser):
    name = "tiny"
    trees = frozenset({"dependency"})
    concurrency: ClassVar[Concurrency] = "threads"

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        return self.parse_tokens([text.split() for text in batch])

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        result = []
        for words in batch:
            if stop_at and " ".join(words) == stop_at[0]:
                stop_at.clear()
                raise KeyboardInterrupt
            calls.append(" ".join(words))
            tokens = Tokens(words, upos=["X"] * len(words))
            heads = [j - 1 for j in range(len(words))]
            tree = DependencyTree(tokens, heads, ["root", *["dep"] * (len(words) - 1)])
            result.append(ParsedSentence.of(tree))
        return result


def chain(lang: str) -> Parser:
    return Chain(lang)
