"""Data of the sub-tree alignment benchmark: treebanks in parts, and what is known about their words. Used by subtree_alignment.py.

SQUOIA (German-Spanish) is split by document: four to train on, one to tune on (dev), one to test. TBLign (Dutch-English) has
published sets: ``trainset`` to train, ``cutoff`` to tune, ``devtest`` to test. The text of all parts, without any link, is
parallel text for the word aligner; hand-made word links are used of the training part only (except in oracle rows).
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from treeglot.alignment.subtrees.features import WordEvidence
from treeglot.alignment.subtrees.training import learn_words
from treeglot.alignment.subtrees.wordlinker import WordLinker, cross_fitted
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.files import atomic_write_binary
from treeglot.trees.continuous import attach_punctuation, make_continuous
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.treealigner import read_aligned_pairs

Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = ("train", "dev", "test")
SQUOIA: dict[Part, tuple[str, ...]] = {
    "train": ("DW", "AHK", "IMF", "COSUDE"),
    "dev": ("FUNDACION",),
    "test": ("FOCUS",),
}
TBLIGN: dict[Part, tuple[str, str]] = {
    "train": ("trainset", "250train"),
    "dev": ("cutoff", "100cutoff"),
    "test": ("devtest", "250devtest"),
}
CORPORA = ("squoia", "squoia-continuous", "tblign")
"""``squoia-continuous``: punctuation attached, and what causes gaps raised (`treeglot.trees.continuous`)."""

Source = Literal["aligner", "linker", "given", "gold"]
"""Where word links come from: the word aligner; links learnt from the training part; the file's own automatic ones (TBLign: the
published GIZA++ links, which are there for any text; fuzzy ones count half as a chance); the file's hand-made ones (SQUOIA:
an oracle)."""


@dataclass
class Corpus:
    """The pairs of each part and the number of the document of each training pair."""

    name: str
    pairs: dict[Part, list[AlignedPair]]
    groups: list[int]


class Cache:
    """Results of steps in a folder, so that a run can be interrupted and continued."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.folder / f"{name}.pickle"
        if path.exists():
            return pickle.loads(path.read_bytes())
        value = make()
        with atomic_write_binary(path) as file:
            file.write(pickle.dumps(value))
        return value


def load_corpus(name: str, data: Path) -> Corpus:
    """Read a corpus. Pairs of sentences without phrases on either side stay (their links are words)."""
    pairs: dict[Part, list[AlignedPair]] = {part: [] for part in PARTS}
    groups: list[int] = []
    if name == "tblign":
        for part, (folder, stem) in TBLIGN.items():
            path = data / "trees" / "tblign-nl-en" / folder / "gold" / f"SEDE.{stem}.only-nts.sta.xml"
            pairs[part] = list(read_aligned_pairs(path, strict=False, unlinked=True))
        count = len(pairs["train"])
        groups = [k * 5 // count for k in range(count)]
        return Corpus(name, pairs, groups)
    for part, documents in SQUOIA.items():
        for number, document in enumerate(documents):
            path = data / "trees" / "squoia-de-es" / f"{document}_alignments_squoia_de_es.xml"
            found = list(read_aligned_pairs(path, strict=False, unlinked=True))
            pairs[part] += found
            if part == "train":
                groups += [number] * len(found)
    if name == "squoia-continuous":
        pairs = {part: [_continuous(pair) for pair in found] for part, found in pairs.items()}
    return Corpus(name, pairs, groups)


def _continuous(pair: AlignedPair) -> AlignedPair:
    sides: list[ParsedSentence] = []
    places: list[dict[int, int]] = []
    for sentence in (pair.source, pair.target):
        tree = sentence.constituency
        assert tree is not None
        attached = attach_punctuation(tree)
        raised = make_continuous(attached.tree, "raise")
        places.append({attached.origin[old]: new for new, old in enumerate(raised.origin)})
        sides.append(sentence.with_constituency(raised.tree))
    links = [
        Link(places[0].get(link.source, link.source), places[1].get(link.target, link.target), link.kind)
        for link in pair.node_links
    ]
    return AlignedPair(sides[0], sides[1], pair.word_links, links, pair.id)


def word_evidence(corpus: Corpus, source: Source) -> dict[Part, list[WordEvidence]]:
    """What is known about the words of each pair."""
    words = learn_words([pair for part in PARTS for pair in corpus.pairs[part]])
    found = {part: _evidence(corpus.pairs[part], words, source) for part in PARTS}
    if source == "linker":
        linker = WordLinker.fit(corpus.pairs["train"], found["train"], corpus.groups)
        return {
            "train": cross_fitted(corpus.pairs["train"], found["train"], corpus.groups),
            "dev": linker.improve(corpus.pairs["dev"], found["dev"]),
            "test": linker.improve(corpus.pairs["test"], found["test"]),
        }
    return found


def _evidence(pairs: list[AlignedPair], words: WordKnowledge, source: Source) -> list[WordEvidence]:
    texts = [(pair.source.tokens.forms, pair.target.tokens.forms) for pair in pairs]
    if source in ("aligner", "linker"):
        return words.evidence(texts)
    result = []
    given = [[link[:2] for link in pair.word_links] for pair in pairs]
    for pair, known in zip(pairs, words.evidence(texts, given), strict=True):
        chances = np.zeros(known.shape)
        for link in pair.word_links:
            chances[link.source, link.target] = 1.0 if link.kind == "good" or source == "gold" else 0.5
        if source == "given":
            chances = (chances + known.chances) / 2
        result.append(WordEvidence(known.target_given_source, known.source_given_target, known.links, chances))
    return result


def score_words(corpus: Corpus, evidence: dict[Part, list[WordEvidence]], part: Part) -> tuple[float, float, float]:
    """P, R and F of word links against those in the file."""
    right = found = gold = 0
    for pair, known in zip(corpus.pairs[part], evidence[part], strict=True):
        links = {(int(u), int(v)) for u, v in zip(*np.nonzero(known.links), strict=True)}
        wanted = {link[:2] for link in pair.word_links}
        right, found, gold = right + len(links & wanted), found + len(links), gold + len(wanted)
    return right / max(found, 1), right / max(gold, 1), 2 * right / max(found + gold, 1)


def lower_cased(pair: AlignedPair) -> AlignedPair:
    """The same pair in lower case, for the lexical aligner, which takes words as they are."""

    def change(sentence: ParsedSentence) -> ParsedSentence:
        tree = sentence.constituency
        assert tree is not None
        tokens = type(tree.tokens).of(token._replace(form=token.form.lower()) for token in tree.tokens)
        return ParsedSentence(tokens, constituency=replace(tree, tokens=tokens), id=sentence.id)

    return AlignedPair(change(pair.source), change(pair.target), pair.word_links, pair.node_links, pair.id)
