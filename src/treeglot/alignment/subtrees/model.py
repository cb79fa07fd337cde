"""A trained sub-tree aligner: applying, saving and loading it (spec: phrases and subtrees, section 6).

`SubtreeAligner.align` links the phrases of pairs of trees: plain features from what the model knows about words, candidates
within the bounds, the classifier's margin, and the well-formed links among those above the threshold. A model of two passes
lets the first classifier pick the candidates worth a closer look; the second also sees how likely the links around each are
(`treeglot.alignment.subtrees.context`). Every link has its confidence as score.

A model is one file: a magic line, a checksum, and arrays (NumPy's npz with a JSON header; nothing in it is executed). Models
are made by `treeglot.alignment.subtrees.training.train_aligner`.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.candidates import CandidateTable, Floats, TreeSide
from treeglot.alignment.subtrees.composite import AttributeScorer, Doubles, Forests
from treeglot.alignment.subtrees.context import context_features
from treeglot.alignment.subtrees.extra_features import extended_features, extended_names
from treeglot.alignment.subtrees.features import LEXICAL_FEATURES, PAPER_FEATURES, WordEvidence, paper_features
from treeglot.alignment.subtrees.learner import Bounds, Classifier, node_tables, select_links
from treeglot.alignment.subtrees.lexical import TreeKind, with_tree
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.alignment.subtrees.storage import pack_classifier, unpack_classifier
from treeglot.alignment.subtrees.svm import confidence
from treeglot.alignment.subtrees.wordlinker import WordLinker
from treeglot.alignment.subtrees.words import Known, WordKnowledge
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write_binary, open_binary, type_path
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.units import JOINED, join_units
from treeglot.trees.universal import universal_pair, universal_sentence
from treeglot.trees.virtual import Rooted, given_links, rooted_pair

MAGIC = b"treeglot sub-tree aligner 2\n"
DIGEST = 32
BATCH = 64
MAX_CANDIDATES = 2_000_000
"""Sentence pairs with more pairs of phrases are left without links; features would take gigabytes."""


class FeatureSet(NamedTuple):
    """Names, and a function of two trees and their word evidence: source phrases × target phrases × names."""

    names: tuple[str, ...]
    of: Callable[[TreeNodes, TreeNodes, WordEvidence], NDArray[np.float64]]


def _lexical(source: TreeNodes, target: TreeNodes, evidence: WordEvidence) -> NDArray[np.float64]:
    return paper_features(source, target, evidence)[..., : len(LEXICAL_FEATURES)]


FEATURE_SETS: dict[str, FeatureSet] = {
    "lexical": FeatureSet(LEXICAL_FEATURES, _lexical),
    "paper": FeatureSet(PAPER_FEATURES, paper_features),
    "extended": FeatureSet(extended_names(), extended_features),
}
"""The plain features that a model can use."""


def feature_set(name: str) -> FeatureSet:
    """A feature set by name."""
    if name not in FEATURE_SETS:
        raise TreeglotError(f"no features {name!r}", remedy=f"choose one of {', '.join(FEATURE_SETS)}")
    return FEATURE_SETS[name]


def make_table(
    pairs: Sequence[AlignedPair],
    words: WordKnowledge,
    features: str,
    *,
    given_links: bool = False,
    fuzzy_is_good: bool = False,
    linker: WordLinker | None = None,
    evidence: Sequence[WordEvidence] | None = None,
) -> CandidateTable:
    """All candidates of pairs of trees with their features; labels are the pairs' links between phrases.

    ``given_links`` takes the pairs' own word links instead of the word aligner's; ``linker`` improves on those of the
    aligner. ``evidence`` is used instead of all this if it is given.
    """
    chosen = feature_set(features)
    sides = tuple(TreeSide([_tree(pair, side) for pair in pairs]) for side in (0, 1))
    texts = [(pair.source.tokens.forms, pair.target.tokens.forms) for pair in pairs]
    given = [[link[:2] for link in pair.word_links] for pair in pairs] if given_links else None
    if evidence is None:
        evidence = words.evidence(texts, given)
        if linker is not None:
            evidence = linker.improve(pairs, evidence)
    rows: list[Floats] = []
    labels, known, numbers, left, right = [], [], [], [], []
    for n, pair in enumerate(pairs):
        source, target = (TreeNodes.of(side.trees[n]) for side in sides)
        height, width = source.phrases, target.phrases
        if height * width > MAX_CANDIDATES:
            height = 0
        kept = np.ones((height, width), dtype=bool)
        if height and width:
            kept[0] &= source.labels[0] != JOINED
            kept[:, 0] &= target.labels[0] != JOINED
            rows.append(chosen.of(source, target, evidence[n])[kept].astype(np.float32))
        linked, sure = np.zeros((height, width), dtype=bool), np.ones((height, width), dtype=bool)
        for link in pair.node_links:
            if 0 <= link.source < height and 0 <= link.target < width:
                if link.kind == "good" or fuzzy_is_good:
                    linked[link.source, link.target] = True
                else:
                    sure[link.source, link.target] = False
        labels.append(linked[kept])
        known.append(sure[kept])
        numbers.append(np.full(int(kept.sum()), n, dtype=np.int32))
        places = np.nonzero(kept)
        left.append(places[0].astype(np.int32))
        right.append(places[1].astype(np.int32))
    empty = np.empty(0, dtype=np.int32)
    return CandidateTable(
        (sides[0], sides[1]),
        np.concatenate([empty, *numbers]),
        np.concatenate([empty, *left]),
        np.concatenate([empty, *right]),
        np.concatenate([np.empty((0, len(chosen.names)), dtype=np.float32), *rows]),
        np.concatenate([empty.astype(bool), *labels]),
        np.concatenate([empty.astype(bool), *known]),
    )


def _tree(pair: AlignedPair, side: int) -> Any:
    sentence = pair.target if side else pair.source
    if sentence.constituency is None:
        raise TreeglotError(
            f"pair {pair.id}: no constituency tree of the {'target' if side else 'source'}",
            remedy="parse it, or convert its dependency tree: treeglot trees convert",
        )
    return sentence.constituency


def second_pass(
    table: CandidateTable, margins: Doubles, cut: float, nodes: Sequence[tuple[TreeNodes, TreeNodes]]
) -> CandidateTable:
    """The candidates with a margin above ``cut``, with the features of their surroundings added."""
    bounds = table.bounds()
    chances = confidence(2 * margins)
    parts = []
    for n, (source, target) in enumerate(nodes):
        index = slice(int(bounds[n]), int(bounds[n + 1]))
        matrix = np.zeros((source.phrases, target.phrases))
        matrix[table.source[index], table.target[index]] = chances[index]
        kept = np.flatnonzero(margins[index] > cut)
        if len(kept):
            values = context_features(matrix, source, target)
            parts.append(values[table.source[index][kept], table.target[index][kept]].astype(np.float32))
    result = table.take(np.flatnonzero(margins > cut))
    if not parts:
        parts = [context_features(np.zeros((0, 0)), *nodes[0]).reshape(0, -1).astype(np.float32)] if nodes else []
    more = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
    return result.with_features(np.concatenate([result.features, more], axis=1))


@dataclass
class SubtreeAligner:
    """A trained model. ``cut`` is None for a model of one pass; ``info`` says how it was made."""

    words: WordKnowledge
    features: str
    bounds: Bounds
    first: Classifier
    cut: float | None
    second: Classifier | None
    threshold: float
    best: bool = False
    given_links: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    linker: WordLinker | None = None
    universal: bool = False  # it sees trees in universal labels

    def adapted(
        self, pairs: Iterable[AlignedPair | tuple[ParsedSentence, ParsedSentence]], *, threads: int = 0
    ) -> SubtreeAligner:
        """The same model with knowledge of the words of these pairs: its word aligner learns anew, from their text, too."""
        sides = ((pair.source, pair.target) if isinstance(pair, AlignedPair) else pair for pair in pairs)
        texts = ((source.tokens.forms, target.tokens.forms) for source, target in sides)
        return replace(self, words=self.words.adapted(texts, threads=threads))

    def known_labels(self, source: ParsedSentence, target: ParsedSentence) -> Known:
        """Which phrases of two trees have labels that the kernels compare; none at all if they compare no labels."""
        scorers = [scorer for c in (self.first, self.second) if c is not None for _, scorer in c.scorers]
        labels = [s.vocabularies for s in scorers if isinstance(s, AttributeScorer) and s.attribute == "root"]
        result = Known()
        for side, sentence in enumerate((source, target)):
            tree = (universal_sentence(sentence) if self.universal else sentence).constituency
            if labels and tree is not None:
                result += Known(sum(label in labels[0][side] for label in tree.labels), len(tree.labels))
        return result

    def margins(self, pairs: Sequence[AlignedPair]) -> tuple[CandidateTable, Doubles]:
        """The candidates that are left after pruning, and their margins."""
        if self.universal:
            pairs = [*map(universal_pair, pairs)]
        table = make_table(pairs, self.words, self.features, given_links=self.given_links, linker=self.linker)
        table = table.take(np.flatnonzero(self.bounds.keep(table.features)))
        margins = self.first.margins(table)
        if self.second is None or self.cut is None:
            return table, margins
        table = second_pass(table, margins, self.cut, node_tables(table))
        return table, self.second.margins(table)

    def links(self, pairs: Sequence[AlignedPair]) -> list[list[Link]]:
        """The links between phrases of each pair, with their confidence as score, best first."""
        rooted = [rooted_pair(pair) for pair in pairs]
        pairs = [pair for pair, _ in rooted]
        forests = [classifier.forests() for classifier in (self.first, self.second) if classifier is not None]
        marks = [item.mark() for item in forests]
        try:
            table, margins = self.margins(pairs)
        finally:
            for item, mark in zip(forests, marks, strict=True):
                item.forget(mark)
        chosen = select_links(table, margins, self.threshold, best=self.best)
        chances = confidence(margins[chosen] - self.threshold)
        result: list[list[Link]] = [[] for _ in pairs]
        for k, chance in zip(chosen.tolist(), chances.tolist(), strict=True):
            link = Link(int(table.source[k]), int(table.target[k]), "good", round(chance, 6))
            result[int(table.pair[k])].append(link)
        return [given_links(links, sides) for links, (_, sides) in zip(result, rooted, strict=True)]

    def align(
        self,
        pairs: Iterable[AlignedPair | tuple[ParsedSentence, ParsedSentence]],
        *,
        source_tree: TreeKind = "auto",
        target_tree: TreeKind = "auto",
        threads: int = 0,
    ) -> Iterator[AlignedPair]:
        """Stream pairs into pairs with node links. Links between nodes that they have are replaced; word links are kept.

        Neighbours that share a sentence are aligned together (`treeglot.trees.units`).
        """

        waiting: deque[tuple[AlignedPair, tuple[Rooted, Rooted]]] = deque()

        def unlinked() -> Iterator[AlignedPair]:
            for item in pairs:
                source, target = (item.source, item.target) if isinstance(item, AlignedPair) else item
                words = item.word_links if isinstance(item, AlignedPair) else ()
                name = item.id if isinstance(item, AlignedPair) else source.id
                pair = AlignedPair(with_tree(source, source_tree), with_tree(target, target_tree), words, (), name)
                rooted, sides = rooted_pair(pair)
                waiting.append((pair, sides))
                yield rooted

        self.words.aligner.threads = threads
        stream = join_units(unlinked())
        while batch := list(islice(stream, BATCH)):
            for unit, unit_links in zip(batch, self.links([unit.pair for unit in batch]), strict=True):
                for links in unit.split(unit_links):
                    pair, sides = waiting.popleft()
                    yield AlignedPair(pair.source, pair.target, pair.word_links, given_links(links, sides), pair.id)

    def save(self, path: type_path) -> None:
        """Write the model as one file."""
        arrays: dict[str, NDArray[Any]] = {f"words/{name}": value for name, value in self.words.state().items()}
        header: dict[str, Any] = {
            "features": self.features,
            "names": list(feature_set(self.features).names),
            "cut": self.cut,
            "threshold": self.threshold,
            "best": self.best,
            "given_links": self.given_links,
            "universal": self.universal,
            "info": self.info,
        }
        if self.linker is not None:
            arrays |= {f"linker/{name}": value for name, value in self.linker.state().items()}
        arrays["bounds"] = np.stack([self.bounds.low, self.bounds.high])
        header["first"] = pack_classifier(self.first, "first", arrays)
        header["second"] = None if self.second is None else pack_classifier(self.second, "second", arrays)
        text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
        arrays["header"] = np.frombuffer(text, dtype=np.uint8)
        payload = _write_arrays(arrays)
        with atomic_write_binary(path) as file:
            file.write(MAGIC)
            file.write(hashlib.blake2b(payload, digest_size=DIGEST).digest())
            file.write(payload)


_UNREADABLE = (
    KeyError,
    ValueError,
    IndexError,
    TypeError,
    AttributeError,
    EOFError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
)
"""What the readers of archives, arrays and headers may raise where something else was written."""


def load_model(path: type_path, *, threads: int = 0) -> SubtreeAligner:
    """Open a saved model. A file that is damaged or no model is an `InputError`."""
    remedy = "train it again: treeglot trees train-aligner"

    def error(message: str) -> InputError:
        return InputError(message, path=path, line=1, remedy=remedy)

    with open_binary(path) as file:
        magic = file.read(len(MAGIC))
        if magic != MAGIC:
            known = magic[:26] == MAGIC[:26]
            raise error("a model of another version" if known else "not a sub-tree aligner")
        digest, payload = file.read(DIGEST), file.read()
    if hashlib.blake2b(payload, digest_size=DIGEST).digest() != digest:
        raise error("damaged or truncated: its checksum is wrong")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as stored:
            arrays: dict[str, NDArray[Any]] = {name: stored[name] for name in stored.files}
        header = json.loads(arrays["header"].tobytes())
        name = str(header["features"])
        if list(feature_set(name).names) != header["names"]:
            raise error(f"the features {name!r} are not those of this version of treeglot")
        words = {key.removeprefix("words/"): value for key, value in arrays.items() if key.startswith("words/")}
        linker = {key.removeprefix("linker/"): value for key, value in arrays.items() if key.startswith("linker/")}
        return SubtreeAligner(
            WordKnowledge.of_state(words, threads=threads),
            name,
            Bounds(arrays["bounds"][0], arrays["bounds"][1]),
            unpack_classifier(header["first"], "first", arrays, Forests()),
            header["cut"],
            None if header["second"] is None else unpack_classifier(header["second"], "second", arrays, Forests()),
            float(header["threshold"]),
            bool(header["best"]),
            bool(header["given_links"]),
            dict(header["info"]),
            WordLinker.of_state(linker) if linker else None,
            bool(header.get("universal", False)),
        )
    except TreeglotError as problem:
        raise problem.at(path, 1) from None
    except (*_UNREADABLE, zipfile.BadZipFile, zlib.error) as problem:
        raise error(f"damaged ({type(problem).__name__}: {problem})") from None


def _write_arrays(arrays: dict[str, NDArray[Any]]) -> bytes:
    """An npz whose bytes depend on nothing but the arrays: no times in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            part = io.BytesIO()
            np.lib.format.write_array(part, np.asarray(arrays[name], order="C"), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), part.getvalue(), zipfile.ZIP_DEFLATED
            )
    return out.getvalue()
