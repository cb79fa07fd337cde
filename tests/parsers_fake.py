"""Parsers that misbehave on purpose, for the tests of what treeglot does then; opened as ``parsers_fake:NAME``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treeglot.parsers import Parser
from treeglot.trees import DependencyTree, ParsedSentence, Tokens


class Chain(Parser):
    """Each word hangs on the one before it. ``sleep`` seconds per sentence; the word ERROR raises, KILL kills the process."""

    name = "chain"
    trees = frozenset({"dependency"})

    def __init__(self, lang: str, *, sleep: float = 0.0, max_words: int = 250) -> None:
        super().__init__(lang, max_words=max_words)
        self.sleep = sleep
        self.calls: list[int] = []

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        return self.parse_tokens([text.split() for text in batch])

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        self.calls.append(len(batch))
        for words in batch:
            time.sleep(self.sleep)
            if "ERROR" in words:
                raise RuntimeError("cannot do this one")
            if "KILL" in words:
                os.kill(os.getpid(), signal.SIGKILL)
        return [
            ParsedSentence.of(DependencyTree(words, range(-1, len(words) - 1), ["root"] + ["dep"] * (len(words) - 1)))
            for words in batch
        ]


def chain(lang: str, *, sleep: float = 0.0, max_words: int = 250) -> Any:
    return Chain(lang, sleep=sleep, max_words=max_words)


class Modelled(Chain):
    """Says in every word what is in the file or the folder of its model; the word KILL ends the run unless it is ``harmless``."""

    def __init__(self, lang: str, *, model: str = "", max_words: int = 250) -> None:
        super().__init__(lang, max_words=max_words)
        place = Path(model)
        self.text = place.read_text() if place.is_file() else (place / "deep" / "weights").read_text()
        self.harmless = False

    def parse_batch(self, batch: Sequence[Any]) -> list[ParsedSentence]:
        if not self.harmless and any("KILL" in sentence for sentence in batch):
            raise RuntimeError("killed")
        return super().parse_batch(batch)

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        return [
            ParsedSentence.of(
                DependencyTree(Tokens(words, misc=[f"Model={self.text}"] * len(words)), range(-1, len(words) - 1))
            )
            for words in batch
        ]


def modelled(lang: str, *, model: str = "", max_words: int = 250) -> Any:
    return Modelled(lang, model=model, max_words=max_words)
