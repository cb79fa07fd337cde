"""The size and shape of a corpus, counted in one pass.

>>> stats = count_bitext([TextPair("a house", "une maison"), TextPair("", "rien")])
>>> stats.pairs, stats.source.words, stats.target.types, stats.empty
(2, 2, 3, 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from treeglot.bitext.cleaning import counted_words
from treeglot.bitext.pair import TextPair, digest


@dataclass
class SideStats:
    """One language: words (as in cleaning: a Chinese character is one), characters, different words, longest segment."""

    words: int = 0
    characters: int = 0
    types: int = 0
    longest: int = 0

    def mean(self, pairs: int) -> float:
        """Words a segment."""
        return self.words / pairs if pairs else 0.0


@dataclass
class BitextStats:
    """A corpus: pairs, those with an empty side, different pairs and different sources, and both sides."""

    pairs: int = 0
    empty: int = 0
    identical: int = 0
    distinct: int = 0
    distinct_sources: int = 0
    source: SideStats = field(default_factory=SideStats)
    target: SideStats = field(default_factory=SideStats)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def as_text(self) -> str:
        """A table for people."""
        rows = [
            ("pairs", self.pairs),
            ("different pairs", self.distinct),
            ("different sources", self.distinct_sources),
            ("one side empty", self.empty),
            ("both sides the same", self.identical),
        ]
        lines = [f"{name:<20} {value:>14,}" for name, value in rows]
        lines += ["", f"{'':<20} {'source':>14} {'target':>14}"]
        for name in ("words", "types", "characters", "longest"):
            lines.append(f"{name:<20} {getattr(self.source, name):>14,} {getattr(self.target, name):>14,}")
        means = (self.source.mean(self.pairs), self.target.mean(self.pairs))
        lines.append(f"{'words a segment':<20} {means[0]:>14.2f} {means[1]:>14.2f}")
        return "\n".join(lines) + "\n"


def count_bitext(pairs: Iterable[TextPair]) -> BitextStats:
    """Count a corpus. Memory grows with the number of different words and, by 16-byte digests, of different pairs."""
    stats = BitextStats()
    seen: set[bytes] = set()
    sources: set[bytes] = set()
    types: tuple[set[str], set[str]] = (set(), set())
    for pair in pairs:
        stats.pairs += 1
        for side, text, words_seen in zip((stats.source, stats.target), (pair.source, pair.target), types, strict=True):
            words = counted_words(text)
            side.words += len(words)
            side.characters += len(text)
            side.longest = max(side.longest, len(words))
            words_seen.update(words)
        stats.empty += not pair.source.strip() or not pair.target.strip()
        stats.identical += pair.source == pair.target
        seen.add(digest(pair.source, pair.target))
        sources.add(digest(pair.source))
    stats.distinct, stats.distinct_sources = len(seen), len(sources)
    stats.source.types, stats.target.types = len(types[0]), len(types[1])
    return stats
