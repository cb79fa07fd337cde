"""What a file of trees or alignments contains, in numbers.

>>> from treeglot.trees.penn import parse_penn
>>> tree = parse_penn("(S (NP (NNS dogs)) (VP (VBP bark)))")
>>> result = sentence_statistics([ParsedSentence(tree.tokens, constituency=tree)])
>>> result["sentences"], result["words"], result["phrases"], result["phrase labels"]
(1, 2, 3, {'NP': 1, 'S': 1, 'VP': 1})
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from treeglot.trees.projectivity import nonprojective_arcs
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.wordlinks import WordLinks


class _Side:
    """Counters for the sentences of one language."""

    def __init__(self) -> None:
        self.number: Counter[str] = Counter()
        self.longest = 0
        self.deepest = 0
        self.tags: Counter[str] = Counter()
        self.relations: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()

    def add(self, sentence: ParsedSentence) -> None:
        size = len(sentence)
        self.number.update({"sentences": 1, "words": size, "multiword tokens": len(sentence.ranges)})
        self.number["empty nodes"] += len(sentence.empty_nodes)
        self.longest = max(self.longest, size)
        self.tags.update(sentence.tokens.tags)
        dependency, constituency = sentence.dependency, sentence.constituency
        if dependency is not None:
            arcs = len(nonprojective_arcs(dependency))
            self.number.update({"dependency trees": 1, "non-projective trees": arcs > 0, "non-projective arcs": arcs})
            self.relations.update(dependency.deprels)
            self.deepest = max(self.deepest, *dependency.depths)
        if constituency is not None:
            gaps = sum(constituency.discontinuous)
            self.number.update({"constituency trees": 1, "phrases": len(constituency), "discontinuous phrases": gaps})
            self.number["discontinuous trees"] += gaps > 0
            self.labels.update(constituency.labels)

    def result(self) -> dict[str, Any]:
        number = self.number
        figures: dict[str, Any] = {
            name: count for name, count in number.items() if count or name in ("sentences", "words")
        }
        if number["dependency trees"]:
            figures |= {"non-projective trees": number["non-projective trees"], "deepest word": self.deepest}
        if number["constituency trees"]:
            figures["discontinuous phrases"] = number["discontinuous phrases"]
        figures["longest sentence"] = self.longest
        figures["words a sentence"] = round(number["words"] / number["sentences"], 2) if number["sentences"] else 0
        for name, counts in (("tags", self.tags), ("relations", self.relations), ("phrase labels", self.labels)):
            if counts:
                figures[name] = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        return figures


def sentence_statistics(sentences: Iterable[ParsedSentence]) -> dict[str, Any]:
    """Counts over sentences with trees."""
    side = _Side()
    for sentence in sentences:
        side.add(sentence)
    return side.result()


def pair_statistics(pairs: Iterable[AlignedPair | WordLinks]) -> dict[str, Any]:
    """Counts over aligned pairs, or over word links alone."""
    links: Counter[str] = Counter()
    sides = {"source": _Side(), "target": _Side()}
    count = 0
    for pair in pairs:
        count += 1
        if isinstance(pair, WordLinks):
            _count(links, "word links", pair.links)
            continue
        sides["source"].add(pair.source)
        sides["target"].add(pair.target)
        _count(links, "word links", pair.word_links)
        _count(links, "phrase links", [link for link in pair.node_links if link.source >= 0 and link.target >= 0])
        _count(links, "phrase-word links", [link for link in pair.node_links if min(link.source, link.target) < 0])
    figures: dict[str, Any] = {"pairs": count, **links}
    for name, side in sides.items():
        if side.number["sentences"]:
            figures[name] = side.result()
    return figures


def _count(links: Counter[str], name: str, kept: Iterable[Link]) -> None:
    for link in kept:
        links[name] += 1
        links[f"{name}, {link.kind}"] += 1


def statistics_rows(result: dict[str, Any], prefix: str = "", most: int = 8) -> Iterator[tuple[str, str]]:
    """The result as rows of text; of counts of labels only the ``most`` frequent."""
    for name, value in result.items():
        if isinstance(value, dict) and name in ("source", "target"):
            yield from statistics_rows(value, f"{name} ")
        elif isinstance(value, dict):
            shown = ", ".join(f"{label} {count:,}" for label, count in list(value.items())[:most])
            more = f", … ({len(value):,} in all)" if len(value) > most else ""
            yield f"{prefix}{name}", shown + more
        else:
            yield f"{prefix}{name}", f"{value:,}"
