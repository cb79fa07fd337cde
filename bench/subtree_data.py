"""Data of the sub-tree alignment benchmark: treebanks in parts, and what is known about their words. Used by subtree_alignment.py.

SQUOIA (German-Spanish) is split by document: four to train on, one to tune on (dev), one to test. TBLign (Dutch-English) has
published sets: ``trainset`` to train, ``cutoff`` to tune, ``devtest`` to test. The text of all parts, without any link, is
parallel text for the word aligner; hand-made word links are used of the training part only (except in oracle rows).

Pairs that share a sentence are joined (`treeglot.trees.units`). Units without any link between phrases are not annotated: they
are left out of training and tuning, and scores of the test part are given with and without them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.subtrees.features import WordEvidence
from treeglot.alignment.subtrees.training import learn_words
from treeglot.alignment.subtrees.wordlinker import WordLinker, cross_fitted
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.files import atomic_write_binary
from treeglot.trees.continuous import attach_punctuation, make_continuous
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.treealigner import read_aligned_pairs
from treeglot.trees.units import Unit, join_units
from treeglot.trees.virtual import rooted_pair

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
CORPORA = ("squoia", "tblign")
DOCUMENTS = tuple(document for documents in SQUOIA.values() for document in documents)

Source = Literal["aligner", "linker", "given", "gold"]
"""Where word links come from: the word aligner; links learnt from the training part; the file's own automatic ones (TBLign: the
published GIZA++ links, which are there for any text; fuzzy ones count half as a chance); the file's hand-made ones (SQUOIA:
an oracle)."""


@dataclass
class Corpus:
    """The units of each part, the pairs they were joined from, and the number of the document of each training unit."""

    name: str
    pairs: dict[Part, list[AlignedPair]]
    single: dict[Part, list[AlignedPair]]
    annotated: dict[Part, tuple[list[bool], list[bool]]]
    """Of units and of pairs: whether the unit has links between phrases."""
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
    """Read a corpus.

    ``squoia-continuous`` has punctuation attached, and what causes gaps raised (`treeglot.trees.continuous`).
    ``squoia-pairs`` does not join pairs. ``squoia-test-DW`` tests on that document, tunes on the one before it (in a circle)
    and trains on the other four.
    """
    if name == "tblign":
        files = {part: [_tblign(data, *names)] for part, names in TBLIGN.items()}
    else:
        split = SQUOIA
        if name.startswith("squoia-test-"):
            test = DOCUMENTS.index(name.removeprefix("squoia-test-"))
            dev = DOCUMENTS[test - 1]
            train = tuple(document for document in DOCUMENTS if document not in (dev, DOCUMENTS[test]))
            split = {"train": train, "dev": (dev,), "test": (DOCUMENTS[test],)}
        files = {part: [_squoia(data, document) for document in documents] for part, documents in split.items()}
    corpus = Corpus(name, {}, {}, {}, [])
    for part in PARTS:
        units: list[AlignedPair] = []
        marks: tuple[list[bool], list[bool]] = ([], [])
        corpus.single[part] = []
        for number, path in enumerate(files[part]):
            pairs = [rooted_pair(pair)[0] for pair in read_aligned_pairs(path, strict=False, unlinked=True)]
            if name == "squoia-continuous":
                pairs = [_continuous(pair) for pair in pairs]
            for unit in map(Unit.of, ([p] for p in pairs)) if name == "squoia-pairs" else join_units(pairs):
                linked = any(link.source >= 0 and link.target >= 0 for link in unit.pair.node_links)
                if not linked and part != "test":
                    continue
                units.append(unit.pair)
                corpus.single[part] += unit.members
                marks[0].append(linked)
                marks[1].extend([linked] * len(unit.members))
                if part == "train":
                    corpus.groups.append(number)
        corpus.pairs[part], corpus.annotated[part] = units, marks
    if len(files["train"]) == 1:  # no documents: parts of the same size
        corpus.groups = [k * 5 // len(corpus.groups) for k in range(len(corpus.groups))]
    return corpus


def _tblign(data: Path, folder: str, stem: str) -> Path:
    return data / "trees" / "tblign-nl-en" / folder / "gold" / f"SEDE.{stem}.only-nts.sta.xml"


def _squoia(data: Path, document: str) -> Path:
    return data / "trees" / "squoia-de-es" / f"{document}_alignments_squoia_de_es.xml"


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


def word_evidence(
    corpus: Corpus, source: Source, dictionary: Dictionary | None = None
) -> dict[Part, list[WordEvidence]]:
    """What is known about the words of each unit."""
    words = learn_words([pair for part in PARTS for pair in corpus.pairs[part]], dictionary=dictionary)
    evidence = {part: _evidence(corpus.pairs[part], words, source) for part in PARTS}
    if source == "linker":
        linker = WordLinker.fit(corpus.pairs["train"], evidence["train"], corpus.groups)
        return {
            "train": cross_fitted(corpus.pairs["train"], evidence["train"], corpus.groups),
            "dev": linker.improve(corpus.pairs["dev"], evidence["dev"]),
            "test": linker.improve(corpus.pairs["test"], evidence["test"]),
        }
    return evidence


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
        result.append(known.with_links(known.links, chances))
    return result


def score_words(corpus: Corpus, evidence: dict[Part, list[WordEvidence]], part: Part) -> tuple[float, float, float]:
    """P, R and F of word links against those in the file."""
    right = proposed = gold = 0
    for pair, known in zip(corpus.pairs[part], evidence[part], strict=True):
        links = {(int(u), int(v)) for u, v in zip(*np.nonzero(known.links), strict=True)}
        wanted = {link[:2] for link in pair.word_links}
        right, proposed, gold = right + len(links & wanted), proposed + len(links), gold + len(wanted)
    return right / max(proposed, 1), right / max(gold, 1), 2 * right / max(proposed + gold, 1)


def lower_cased(pair: AlignedPair) -> AlignedPair:
    """The same pair in lower case, for the lexical aligner, which takes words as they are."""

    def change(sentence: ParsedSentence) -> ParsedSentence:
        tree = sentence.constituency
        assert tree is not None
        tokens = type(tree.tokens).of(token._replace(form=token.form.lower()) for token in tree.tokens)
        return ParsedSentence(tokens, constituency=replace(tree, tokens=tokens), id=sentence.id)

    return AlignedPair(change(pair.source), change(pair.target), pair.word_links, pair.node_links, pair.id)
