"""A parser without a model that keeps what it parsed, and can be interrupted; opened as ``tiny_parser:chain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import parsers_fake
from treeglot.parsers import Parser
from treeglot.parsers.base import Concurrency
from treeglot.trees import ParsedSentence

calls: list[str] = []
"""The sentences that were parsed."""
stop_at: list[str] = []
"""A sentence at which the parser is interrupted, once."""


class Recording(parsers_fake.Chain):
    concurrency: ClassVar[Concurrency] = "threads"

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        for words in batch:
            if stop_at and " ".join(words) == stop_at[0]:
                stop_at.clear()
                raise KeyboardInterrupt
            calls.append(" ".join(words))
        return super().parse_tokens(batch)


def chain(lang: str) -> Parser:
    return Recording(lang)
