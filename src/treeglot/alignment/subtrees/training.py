"""Training a sub-tree aligner on pairs of trees whose phrases are linked by hand (spec: phrases and subtrees, section 6).

`train_aligner` learns what it needs to know about words from the text, prunes the candidates, fits the composite kernel, and
tunes weights, cost and thresholds on a development part. With ``passes=2`` a small first classifier (``first_terms``) prunes
further, and the composite kernel works on what is left, with features of what the first one thinks of the surroundings;
boosted trees on the same features have a vote beside it (``trees``) if that makes the development part better. So that these features are as reliable in training as they will be on new text, the training part is split into folds, and the
candidates of each fold are judged by a classifier that was fitted on the others.

>>> from treeglot.trees.penn import parse_penn
>>> from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
>>> def sentence(text):
...     tree = parse_penn(text)
...     return ParsedSentence(tree.tokens, constituency=tree)
>>> nouns = [("Hund", "dog"), ("Mann", "man"), ("Baum", "tree"), ("Ball", "ball")]
>>> pairs = [
...     AlignedPair(sentence(f"(S (NP (D der) (N {a})) (VP (V sieht) (NP (D den) (N {c}))))"),
...                 sentence(f"(S (NP (D the) (N {b})) (VP (V sees) (NP (D the) (N {d}))))"),
...                 node_links=[Link(n, n) for n in range(4)])
...     for a, b in nouns for c, d in nouns if a != c]
>>> model = train_aligner(pairs[:8], pairs[8:10], terms=("plain", "dBTK-Root"), features="paper", passes=1)
>>> [link[:2] for link in next(model.align(pairs[10:])).node_links]
[(0, 0), (1, 1), (2, 2), (3, 3)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from treeglot.alignment.base import require
from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.candidates import CandidateTable, merge_tables
from treeglot.alignment.subtrees.composite import DECAY, Doubles, Longs, Term
from treeglot.alignment.subtrees.context import CONTEXT_FEATURES
from treeglot.alignment.subtrees.features import PAPER_FEATURES, WordEvidence
from treeglot.alignment.subtrees.learner import (
    THRESHOLDS,
    Bounds,
    Classifier,
    Learner,
    Parameters,
    Score,
    mixed_margins,
    node_tables,
)
from treeglot.alignment.subtrees.maps import LANDMARKS
from treeglot.alignment.subtrees.model import SubtreeAligner, feature_set, make_table, second_pass
from treeglot.alignment.subtrees.wordlinker import WordLinker, cross_fitted
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.errors import TreeglotError
from treeglot.progress import track
from treeglot.trees.sentence import AlignedPair
from treeglot.trees.units import join_units
from treeglot.trees.universal import universal_pair
from treeglot.trees.virtual import rooted_pair

DEFAULT_TERMS = ("plain", "dBTK-Root", "iBTK-RgSST/tags")
DEFAULT_FIRST = ("plain", "dBTK-Root")
SHARES = (0.002, 0.01)
"""The shares of linked candidates that each bound may cost, which are tried in tuning; without tuning the first is taken."""
TREES, RATE = 300, 0.05
"""The boosted trees of the second pass."""
TREE_SHARES = (0.3, 0.5, 0.7)
TREE_CANDIDATES = 200_000
"""The most candidates that they learn from."""
BLOCK = 50
"""Sentence pairs whose features are made at a time."""

Report = Callable[[str], object]


@dataclass(frozen=True)
class Settings:
    """How a model is made; see `train_aligner`."""

    terms: tuple[str, ...] = DEFAULT_TERMS
    first_terms: tuple[str, ...] = DEFAULT_FIRST
    features: str = "extended"
    passes: int = 2
    trees: bool = True
    folds: int = 4
    share: float | None = None
    negatives: float = 6.0
    second_negatives: float = 6.0
    keep: float = 0.995
    max_candidates: int = 30_000
    tune: bool = True
    rounds: int = 1
    exact: bool | None = None
    landmarks: int = LANDMARKS
    decay: float = DECAY
    best: bool = False
    given_links: bool = False
    learn_links: bool = False
    fuzzy_is_good: bool = False
    universal: bool = False
    seed: int = 1
    threads: int = 0

    def check(self) -> None:
        """`TreeglotError` for values that make no sense."""
        for name in (*self.terms, *self.first_terms):
            Term.parse(name)
        feature_set(self.features)
        wrong = [
            (self.passes not in (1, 2), f"{self.passes} passes", "choose 1 or 2"),
            (self.folds < 2, f"{self.folds} folds", "at least 2 are needed"),
            (self.share is not None and not 0 <= self.share < 0.5, f"a share of {self.share}", "give 0 to 0.5"),
            (not (self.negatives > 0 and self.second_negatives > 0), "no negatives", "give at least 1 per link"),
            (not 0 < self.keep <= 1, f"{self.keep} of the links kept", "it must be above 0 and at most 1"),
            (self.max_candidates < 2, f"{self.max_candidates} candidates", "give some thousands"),
            (self.rounds < 0, f"{self.rounds} rounds of tuning", "give 0 or more"),
            (not self.terms or not self.first_terms, "no terms", "name at least one kernel, such as plain"),
            (not 0 < self.decay <= 1, f"a decay of {self.decay}", "it must be above 0 and at most 1"),
            (self.landmarks < 1, f"{self.landmarks} landmarks", "give some hundreds"),
        ]
        for is_wrong, what, remedy in wrong:
            if is_wrong:
                raise TreeglotError(what, remedy=remedy)


def train_aligner(
    pairs: Sequence[AlignedPair],
    dev: Sequence[AlignedPair] | None = None,
    *,
    words: WordKnowledge | None = None,
    text: tuple[Sequence[str], Sequence[str]] | None = None,
    dictionary: Dictionary | None = None,
    report: Report | None = None,
    **settings: object,
) -> SubtreeAligner:
    """Train on linked pairs and tune on ``dev`` (default: the last sixth of the pairs, which is then not learnt from).

    Pairs that share a sentence are joined (`treeglot.trees.units`); pairs without any link between phrases are taken as not
    yet annotated, and only their words are learnt from. ``words`` is made from the pairs, ``dev``, the tokenised parallel
    ``text`` and the ``dictionary`` unless it is given. ``report`` gets a line for every step. Other arguments are the fields
    of `Settings`: ``terms``, ``features``, ``passes``, ``seed``, ... With ``learn_links`` the model also learns how the words
    of the pairs were linked (`treeglot.alignment.subtrees.wordlinker`); with ``universal`` it sees trees in universal labels
    (`treeglot.trees.universal`), so that it can be tried on other languages.
    """
    options = Settings(**{name: tuple(v) if isinstance(v, list) else v for name, v in settings.items()})  # type: ignore[arg-type]
    options.check()
    check_packages()
    say = report or (lambda text: None)
    pairs = joined_units(pairs)
    dev = None if dev is None else joined_units(dev)
    if options.universal:
        pairs, dev = [*map(universal_pair, pairs)], dev and [*map(universal_pair, dev)]
    if words is None:
        say(
            f"words: learning from {len(pairs) + len(dev or ()) + (0 if text is None else len(text[0])):,} sentence pairs"
        )
        words = learn_words([*pairs, *(dev or ())], text, dictionary=dictionary, threads=options.threads)
    pairs, dev = (
        annotated_pairs(pairs, "training", say),
        None if dev is None else annotated_pairs(dev, "development", say),
    )
    if dev is None:
        size = len(pairs) // 6
        if size == 0:
            raise TreeglotError(f"{len(pairs)} pairs are too few to tune on a part of them", remedy="give a dev part")
        pairs, dev = pairs[:-size], pairs[-size:]
    linker, evidence = _learn_links(pairs, words, say) if options.learn_links else (None, None)
    train_table = tables(pairs, words, options, "features of the training part", evidence=evidence)
    dev_table = tables(dev, words, options, "features of the development part", linker=linker)
    say(f"training: {_describe(train_table)}; development: {_describe(dev_table)}")
    model = fit_tables(train_table, dev_table, words, options, say)
    return replace(model, linker=linker, universal=options.universal)


def check_packages() -> None:
    """What training needs is asked for before the work, not after it."""
    for package in ("sklearn", "threadpoolctl"):
        require(package, "subtrees", "it is needed to train an aligner")


def joined_units(pairs: Iterable[AlignedPair]) -> list[AlignedPair]:
    """Pairs without virtual roots, and joined where they share sentences."""
    return [unit.pair for unit in join_units(rooted_pair(pair)[0] for pair in pairs)]


def annotated_pairs(pairs: Sequence[AlignedPair], what: str, say: Report) -> list[AlignedPair]:
    """The pairs with links between phrases."""
    kept = [pair for pair in pairs if any(link.source >= 0 and link.target >= 0 for link in pair.node_links)]
    if not kept:
        verb = "learn from" if what == "training" else "tune on"
        raise TreeglotError(f"no links between phrases to {verb}", remedy="give trees that are aligned by hand")
    if len(kept) < len(pairs):
        say(f"{what}: {len(pairs) - len(kept):,} of {len(pairs):,} pairs have no link between phrases; left out")
    return kept


def _learn_links(
    pairs: Sequence[AlignedPair], words: WordKnowledge, say: Report
) -> tuple[WordLinker, list[WordEvidence]]:
    """A linker of words, and the evidence of the training part as linkers see it that were fitted on other parts of it."""
    links = sum(len(pair.word_links) for pair in pairs)
    say(f"word links: learning from {links:,} of {len(pairs):,} pairs, all of them and then without each part")
    evidence = words.evidence([(pair.source.tokens.forms, pair.target.tokens.forms) for pair in pairs])
    linker = WordLinker.fit(pairs, evidence)
    return linker, cross_fitted(pairs, evidence)


def learn_words(
    pairs: Sequence[AlignedPair],
    text: tuple[Sequence[str], Sequence[str]] | None = None,
    *,
    dictionary: Dictionary | None = None,
    threads: int = 0,
) -> WordKnowledge:
    """What the words of the pairs, and of other tokenised text, say about translations."""
    source, target = ([], []) if text is None else (list(text[0]), list(text[1]))
    for pair in pairs:
        source.append(_line(pair.source.tokens.forms))
        target.append(_line(pair.target.tokens.forms))
    return WordKnowledge.train(source, target, dictionary=dictionary, threads=threads)


def _line(forms: Sequence[str]) -> str:
    return " ".join("_".join(form.split()) or "_" for form in forms)


def tables(
    pairs: Sequence[AlignedPair],
    words: WordKnowledge,
    options: Settings,
    what: str,
    *,
    linker: WordLinker | None = None,
    evidence: Sequence[WordEvidence] | None = None,
) -> CandidateTable:
    """All candidates of some pairs; see `make_table`."""
    starts = range(0, len(pairs), BLOCK)
    return merge_tables(
        [
            make_table(
                pairs[start : start + BLOCK],
                words,
                options.features,
                given_links=options.given_links,
                fuzzy_is_good=options.fuzzy_is_good,
                linker=linker,
                evidence=None if evidence is None else evidence[start : start + BLOCK],
            )
            for start in track(starts, what, total=len(starts))
        ]
    )


def fit_tables(
    train: CandidateTable, dev: CandidateTable, words: WordKnowledge, options: Settings, say: Report
) -> SubtreeAligner:
    """The model of candidates whose features are there already."""
    if not train.labels.any():
        raise TreeglotError("no links between phrases to learn from", remedy="give trees that are aligned by hand")
    gold = int(dev.labels.sum())
    shares = (
        SHARES if options.share is None and options.tune else (SHARES[0] if options.share is None else options.share,)
    )
    first_names = options.first_terms if options.passes == 2 else options.terms
    tried = []
    for share in shares:
        bounds = _bounds(train, _paper_columns(options), share)
        learner = _learner(train, dev, bounds, first_names, gold, options)
        tried.append((bounds, *_tuned(learner, len(first_names), options, False, say), share))
        say(f"bounds that cost {share:.1%} each: {tried[-1][2]}")
    bounds, parameters, score, share = max(tried, key=lambda item: item[2].f1)
    learner = _learner(train, dev, bounds, first_names, gold, options)
    if options.passes == 1:
        if options.tune:
            parameters, score = _tuned(learner, len(first_names), options, True, say)
        return _model(words, options, bounds, learner.classifier(parameters), None, None, parameters, score, share)
    first = learner.classifier(parameters)
    kept_train = train.take(np.flatnonzero(bounds.keep(train.features)))
    kept_dev = dev.take(np.flatnonzero(bounds.keep(dev.features)))
    margins = _cross_fitted(kept_train, first_names, parameters, options)
    cut = _cut(margins, kept_train, options.keep)
    second_train = second_pass(kept_train, margins, cut, node_tables(kept_train))
    second_dev = second_pass(kept_dev, first.margins(kept_dev), cut, node_tables(kept_dev))
    say(f"second pass: {_describe(second_train)}; development: {_describe(second_dev)}")
    sample = _sample(second_train, options.second_negatives, options)
    second_learner = Learner(_terms(options.terms), sample, second_dev, gold, **_learner_options(options))
    parameters, score = _tuned(second_learner, len(options.terms), options, options.tune, say)
    second = second_learner.classifier(parameters)
    if options.trees:
        second, parameters, score = _with_trees(second, second_train, second_learner, parameters, score, options, say)
    return _model(words, options, bounds, first, cut, second, parameters, score, share)


def _with_trees(
    classifier: Classifier,
    train: CandidateTable,
    learner: Learner,
    parameters: Parameters,
    score: Score,
    options: Settings,
    say: Report,
) -> tuple[Classifier, Parameters, Score]:
    """The classifier with boosted trees beside the kernels, if they make the links of the development part better."""
    known = np.flatnonzero(train.known)
    chosen = np.sort(np.random.default_rng(options.seed).permutation(known)[:TREE_CANDIDATES])
    labels = train.labels[chosen]
    if labels.all() or not labels.any():
        return classifier, parameters, score
    trees = BoostedTrees.fit(train.features[chosen], labels, trees=TREES, rate=RATE)
    margins, odds = learner.dev_margins(parameters), trees.log_odds(learner.dev.features)
    best = classifier, parameters, score
    for share in TREE_SHARES:
        for threshold, reached in learner.scores(mixed_margins(margins, odds, share), THRESHOLDS).items():
            if reached.f1 > best[2].f1 + 1e-9:
                best = classifier._replace(trees=trees, share=share), replace(parameters, threshold=threshold), reached
    say(f"boosted trees with a share of {best[0].share}: {best[2]}")
    return best


def _bounds(train: CandidateTable, columns: Sequence[int], share: float) -> Bounds:
    """Bounds, or none at all where too few candidates without a link would be left to learn from."""
    bounds = Bounds.fit(train, columns, share)
    left = bounds.keep(train.features)
    if np.count_nonzero(left & ~train.labels & train.known) < np.count_nonzero(train.labels):
        return Bounds.fit(train, columns, 0.0)
    return bounds


def _cut(margins: Doubles, table: CandidateTable, keep: float) -> float:
    """The margin above which this share of the linked candidates lies, and at least twice as many others."""
    others = np.sort(margins[~table.labels & table.known])[::-1]
    enough = 2 * int(table.labels.sum())
    least = float(others[enough]) if enough < len(others) else float(margins.min()) - 1
    return min(float(np.quantile(margins[table.labels], 1 - keep)), least)


def _model(
    words: WordKnowledge,
    options: Settings,
    bounds: Bounds,
    first: Classifier,
    cut: float | None,
    second: Classifier | None,
    parameters: Parameters,
    score: Score,
    share: float,
) -> SubtreeAligner:
    info: dict[str, Any] = {
        "settings": asdict(options),
        "parameters": asdict(parameters),
        "share": share,
        "development": {"precision": score.precision, "recall": score.recall, "f1": score.f1},
        "context": list(CONTEXT_FEATURES) if second is not None else [],
    }
    info["settings"].pop("threads")  # the same model whatever it was made with
    return SubtreeAligner(
        words,
        options.features,
        bounds,
        first,
        cut,
        second,
        parameters.threshold,
        options.best,
        options.given_links,
        info,
    )


def _tuned(learner: Learner, terms: int, options: Settings, thoroughly: bool, say: Report) -> tuple[Parameters, Score]:
    rounds = options.rounds if thoroughly and options.tune else 0
    return learner.search(Parameters.equal(terms), rounds=rounds, report=say if rounds else None)


def _learner(
    train: CandidateTable, dev: CandidateTable, bounds: Bounds, names: Sequence[str], gold: int, options: Settings
) -> Learner:
    kept = train.take(np.flatnonzero(bounds.keep(train.features)))
    sample = _sample(kept, options.negatives, options)
    kept_dev = dev.take(np.flatnonzero(bounds.keep(dev.features)))
    return Learner(_terms(names), sample, kept_dev, gold, **_learner_options(options))


def _learner_options(options: Settings) -> dict[str, Any]:
    names = ("exact", "decay", "landmarks", "seed", "threads", "best")
    return {name: getattr(options, name) for name in names}


def _terms(names: Sequence[str]) -> tuple[Term, ...]:
    return tuple(Term.parse(name) for name in names)


def _paper_columns(options: Settings) -> list[int]:
    """Bounds are put on the paper's features, and on what words and rivals say, if that is there."""
    bounded = {*PAPER_FEATURES, "agreement", "source_margin", "target_margin"}
    return [k for k, name in enumerate(feature_set(options.features).names) if name in bounded]


def _sample(table: CandidateTable, negatives: float, options: Settings) -> CandidateTable:
    """All linked candidates and some of the others; none whose link is fuzzy."""
    random = np.random.default_rng(options.seed)
    linked = np.flatnonzero(table.labels)
    others = np.flatnonzero(~table.labels & table.known)
    linked = np.sort(random.permutation(linked)[: max(options.max_candidates // 3, 1)])
    wanted = min(int(negatives * len(linked)), options.max_candidates - len(linked))
    chosen: Longs = np.sort(np.concatenate([linked, random.permutation(others)[:wanted]]))
    return table.take(chosen)


def _cross_fitted(table: CandidateTable, names: Sequence[str], parameters: Parameters, options: Settings) -> Doubles:
    """The margin of each candidate by a classifier that has not seen its part of the sentence pairs."""
    margins = np.zeros(len(table))
    folds = min(options.folds, table.pairs)
    fold = table.pair.astype(np.int64) * folds // max(table.pairs, 1)
    for number in track(range(folds), "first pass of the training part", total=folds):
        rest, part = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if not len(part):
            continue
        sample = _sample(table.take(rest), options.negatives, options)
        nothing = table.take(part[:0])
        learner = Learner(_terms(names), sample, nothing, 0, **_learner_options(options))
        margins[part] = learner.classifier(parameters).margins(table.take(part))
    return margins


def _describe(table: CandidateTable) -> str:
    return f"{table.pairs:,} pairs, {len(table):,} candidates, {int(table.labels.sum()):,} links"
