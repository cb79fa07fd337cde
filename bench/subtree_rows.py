"""Rows of the sub-tree alignment benchmark: one model or baseline, trained, applied and scored. Used by subtree_alignment.py."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from subtree_data import PARTS, Cache, Corpus, Part, Source, load_corpus, lower_cased, word_evidence

from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.subtrees.candidates import CandidateTable, merge_tables
from treeglot.alignment.subtrees.extra_features import EXTRA_FEATURES, extended_names
from treeglot.alignment.subtrees.features import PAPER_FEATURES, WordEvidence
from treeglot.alignment.subtrees.learner import node_tables, select_links
from treeglot.alignment.subtrees.lexical import LexicalTreeAligner
from treeglot.alignment.subtrees.model import FEATURE_SETS, FeatureSet, SubtreeAligner, make_table, second_pass
from treeglot.alignment.subtrees.training import Settings, fit_tables
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.evaluation.subtrees import GoldNodes, score_node_links
from treeglot.files import atomic_write
from treeglot.trees.sentence import AlignedPair

Links = list[set[tuple[int, int]]]

SHARE = 0.002
"""The share of hand-made links that pruning by each feature may cost in the training part."""


@dataclass(frozen=True)
class Row:
    """A model: where word links come from, which features (a set's name, or groups of the extended ones), and settings."""

    name: str
    source: Source = "aligner"
    dictionary: bool = False
    features: str = "paper"
    terms: tuple[str, ...] = ("plain",)
    passes: int = 1
    trees: bool = False
    best: bool = False
    rounds: int = 1
    """Of tuning kernel weights, C and the weight of links on dev; 0: equal weights, only the threshold is tuned."""
    method: str = ""
    """Of the lexical aligner; then all else but ``source`` is unused."""

    @property
    def key(self) -> str:
        return json.dumps(asdict(self) | {"name": ""}, sort_keys=True)


@dataclass
class Result:
    """Precision, recall and F1 of one part: of good links; without units that are not annotated; there with fuzzy links."""

    good: tuple[float, float, float]
    annotated: tuple[float, float, float]
    both: tuple[float, float, float]


class Bench:
    """One corpus: its pairs, the evidence and the candidates of each source of word links, and results that are kept."""

    def __init__(
        self,
        corpus: str,
        data: Path,
        cache: Path,
        *,
        dictionary: Path | None = None,
        seed: int,
        threads: int,
        limit: int,
    ) -> None:
        self.name, self.cache, self.seed, self.threads, self.limit = corpus, Cache(cache), seed, threads, limit
        self.dictionary = dictionary
        self.corpus: Corpus = self.cache.get(corpus, lambda: load_corpus(corpus, data))
        self._tables: dict[tuple[Source, bool], dict[Part, CandidateTable]] = {}
        self._word_table: WordTable | None = None
        self._results = Path(cache) / f"{corpus}-results.json"

    def evidence(self, source: Source, dictionary: bool = False) -> dict[Part, list[WordEvidence]]:
        entries = None
        if dictionary:
            if self.dictionary is None:
                raise SystemExit(f"no dictionary for {self.name}: --dictionary {self.name.split('-')[0]}=FILE")
            entries = Dictionary.read(self.dictionary)
        name = f"{self.name}-{source}{'-dictionary' if dictionary else ''}"
        evidence: dict[Part, list[WordEvidence]] = self.cache.get(
            name, lambda: word_evidence(self.corpus, source, entries)
        )
        return evidence

    def tables(self, source: Source, dictionary: bool) -> dict[Part, CandidateTable]:
        """All candidates with all features."""
        key = source, dictionary
        if key not in self._tables:
            self._tables.clear()  # one at a time: they are large
            evidence = self.evidence(*key)
            self._tables[key] = {
                part: merge_tables(
                    [
                        make_table(
                            self.corpus.pairs[part][start : start + 50],
                            None,  # type: ignore[arg-type]  # not needed with evidence
                            "extended",
                            evidence=evidence[part][start : start + 50],
                        )
                        for start in range(0, len(self.corpus.pairs[part]), 50)
                    ]
                )
                for part in PARTS
            }
        return self._tables[key]

    def run(self, row: Row, *, again: bool = False) -> dict[str, Any]:
        """Train, tune on dev, and score dev and test; results of former runs are taken from the cache."""
        known = json.loads(self._results.read_text()) if self._results.exists() else {}
        key = f"{row.key} seed={self.seed} limit={self.limit}"
        if key in known and not again:
            return dict(known[key])
        start = time.process_time()
        links, info = self._lexical(row) if row.method else self._kernel(row)
        pairs, kind = (self.corpus.single, 1) if row.method else (self.corpus.pairs, 0)
        result: dict[str, Any] = {
            part: asdict(score(pairs[part], links[part], self.corpus.annotated[part][kind])) for part in ("dev", "test")
        }
        result |= {"seconds": round(time.process_time() - start, 1), "info": info}
        known = json.loads(self._results.read_text()) if self._results.exists() else {}
        known[key] = result
        with atomic_write(self._results) as file:
            file.write(json.dumps(known, indent=1, sort_keys=True))
        return result

    def _lexical(self, row: Row) -> tuple[dict[Part, Links], Any]:
        pairs = {part: [lower_cased(pair) for pair in self.corpus.single[part]] for part in PARTS}
        texts = [
            [
                " ".join("_".join(form.split()) or "_" for form in getattr(pair, side).tokens.forms)
                for part in PARTS
                for pair in pairs[part]
            ]
            for side in ("source", "target")
        ]
        if self._word_table is None:
            self._word_table = WordTable.train(*texts, threads=self.threads)
        aligner = LexicalTreeAligner(self._word_table, method=row.method, threads=self.threads)
        return {
            part: [
                {link[:2] for link in pair.node_links}
                for pair in aligner.align((pair.source, pair.target) for pair in pairs[part])
            ]
            for part in ("dev", "test")
        }, {}

    def _kernel(self, row: Row) -> tuple[dict[Part, Links], Any]:
        names = register(row.features)
        columns = [extended_names().index(name) for name in names]
        tables = {
            part: table.with_features(np.ascontiguousarray(table.features[:, columns]))
            for part, table in self.tables(row.source, row.dictionary).items()
        }
        options = Settings(
            terms=row.terms,
            features=row.features,
            passes=row.passes,
            trees=row.trees,
            best=row.best,
            rounds=row.rounds,
            share=SHARE,
            seed=self.seed,
            threads=self.threads,
            max_candidates=self.limit,
        )
        options.check()
        model = fit_tables(tables["train"], tables["dev"], None, options, lambda text: None)  # type: ignore[arg-type]
        info = {name: model.info[name] for name in ("parameters", "share")}
        return {part: apply(model, tables[part]) for part in ("dev", "test")}, info


def register(features: str) -> tuple[str, ...]:
    """The names of the features of a set; groups of the extended ones, joined with +, become a set of their own."""
    if features not in FEATURE_SETS:
        groups = set(features.split("+")) - {"paper"}
        if not groups <= set(EXTRA_FEATURES):
            raise SystemExit(f"no features {features!r}")
        names = PAPER_FEATURES + tuple(n for group, own in EXTRA_FEATURES.items() if group in groups for n in own)
        FEATURE_SETS[features] = FeatureSet(names, FEATURE_SETS["paper"].of)  # features are made before, in `tables`
    return FEATURE_SETS[features].names


def apply(model: SubtreeAligner, table: CandidateTable) -> Links:
    """What `SubtreeAligner.links` does, from candidates whose features are there."""
    kept = table.take(np.flatnonzero(model.bounds.keep(table.features)))
    margins = model.first.margins(kept)
    if model.second is not None and model.cut is not None:
        kept = second_pass(kept, margins, model.cut, node_tables(kept))
        margins = model.second.margins(kept)
    links: Links = [set() for _ in range(table.pairs)]
    for k in select_links(kept, margins, model.threshold, best=model.best).tolist():
        links[int(kept.pair[k])].add((int(kept.source[k]), int(kept.target[k])))
    return links


def score(pairs: Sequence[AlignedPair], links: Links, annotated: Sequence[bool]) -> Result:
    """Of internal nodes, against good links, and against good and fuzzy links alike."""
    figures = []
    for kinds, everything in ((("good",), True), (("good",), False), (("good", "fuzzy"), False)):
        chosen = [k for k, marked in enumerate(annotated) if marked or everything]
        gold = [GoldNodes({link[:2] for link in pairs[k].node_links if link.kind in kinds}) for k in chosen]
        value = score_node_links([links[k] for k in chosen], gold)
        figures.append((value.precision, value.recall, value.f1))
    return Result(*figures)


__all__ = ["Bench", "Result", "Row", "replace"]
