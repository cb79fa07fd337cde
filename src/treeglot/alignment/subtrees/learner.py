"""Learning one classifier of candidates: pruning, the composite kernel, and the search for its parameters (spec: phrases and
subtrees, section 6; paper `tree-kernels`, sections 5 and 6.3).

A `Learner` holds the maps of all terms for the training and the development candidates, so that trying other weights θ, another
cost C or another weight of linked candidates costs only the SVM itself. `search` climbs on the development part: one parameter
at a time, steps that do not raise the F1 of the links are taken back. Everything is decided by the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.candidates import Bools, CandidateTable, Floats
from treeglot.alignment.subtrees.composite import DECAY, Doubles, Forests, Longs, Scorer, Term, TreeScorer
from treeglot.alignment.subtrees.maps import LANDMARKS, TermMap, fit_map
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.alignment.subtrees.search import Candidates, best_candidates, greedy_candidates
from treeglot.alignment.subtrees.svm import COST, LinearFit, confidence, fit_exact, fit_linear
from treeglot.errors import TreeglotError
from treeglot.progress import track

EXACT_LIMIT = 6000
"""The most training candidates for which the exact SVM is used."""


@dataclass(frozen=True)
class Parameters:
    """What is tuned. ``weights`` are θ, one for each term; ``threshold`` is the margin above which a candidate is linked."""

    weights: tuple[float, ...]
    cost: float = COST
    positive_weight: float = 1.0
    threshold: float = 0.0

    @classmethod
    def equal(cls, terms: int) -> Parameters:
        return cls((1 / terms,) * terms)


class Score(NamedTuple):
    """Links found, right ones among them, hand-made ones."""

    found: int
    right: int
    gold: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.gold) if self.found + self.gold else 1.0

    def __str__(self) -> str:
        return f"P {100 * self.precision:.2f} R {100 * self.recall:.2f} F1 {100 * self.f1:.2f}"


@dataclass(frozen=True)
class Bounds:
    """A candidate is kept if each of its features lies between ``low`` and ``high``."""

    low: Floats
    high: Floats

    @classmethod
    def fit(cls, table: CandidateTable, columns: Sequence[int], share: float) -> Bounds:
        """Bounds on some of the features such that each loses at most this share of the linked candidates."""
        size = table.features.shape[1]
        low = np.full(size, -np.inf, dtype=np.float32)
        high = np.full(size, np.inf, dtype=np.float32)
        linked = table.features[table.labels]
        if share > 0 and len(linked):
            for column in columns:
                low[column], high[column] = np.quantile(linked[:, column], (share, 1 - share))
        return cls(low, high)

    def keep(self, features: Floats) -> Bools:
        kept: Bools = np.all((features >= self.low) & (features <= self.high), axis=1)
        return kept


def select_links(
    table: CandidateTable,
    margins: Doubles,
    threshold: float = 0.0,
    *,
    best: bool = False,
    nodes: Sequence[tuple[TreeNodes, TreeNodes]] | None = None,
) -> NDArray[np.int64]:
    """The candidates that become links: well-formed among those with a margin above the threshold, by confidence.

    ``best`` takes the links with the highest sum of margins above the threshold instead of the greedy ones.
    """
    nodes = node_tables(table) if nodes is None else nodes
    above = np.flatnonzero(margins > threshold)
    part = table.pair[above]
    bounds = np.searchsorted(part, np.arange(table.pairs + 1))
    chosen: list[int] = []
    for number in range(table.pairs):
        index = above[bounds[number] : bounds[number + 1]]
        if not len(index):
            continue
        place = {
            pair: int(k)
            for pair, k in zip(
                zip(table.source[index].tolist(), table.target[index].tolist(), strict=True), index, strict=True
            )
        }
        candidates = Candidates.sort(table.source[index], table.target[index], margins[index] - threshold)
        links = best_candidates(candidates, *nodes[number]) if best else greedy_candidates(candidates, *nodes[number])
        chosen += [place[link.source, link.target] for link in links]
    return np.array(chosen, dtype=np.int64)


def node_tables(table: CandidateTable) -> list[tuple[TreeNodes, TreeNodes]]:
    """The phrases of all tree pairs, for `select_links`."""
    return [
        (TreeNodes.of(source, words=False), TreeNodes.of(target, words=False))
        for source, target in zip(table.sides[0].trees, table.sides[1].trees, strict=True)
    ]


class Classifier(NamedTuple):
    """Σ θᵢ · scorerᵢ + bias; each scorer already holds its θ.

    With ``trees``, boosted trees on the plain features have a vote, too: the margin is (1 - ``share``) times the sum plus
    ``share`` times half of their log odds (so that both give the same chances, `confidence` of twice the margin).
    """

    scorers: tuple[tuple[Term, Scorer], ...]
    bias: float
    trees: BoostedTrees | None = None
    share: float = 0.0

    def forests(self) -> Forests:
        """The sub-trees that its tree kernels compare with."""
        return next((scorer.forests for _, scorer in self.scorers if isinstance(scorer, TreeScorer)), Forests())

    def margins(self, table: CandidateTable) -> Doubles:
        """The distance of each candidate from the hyperplane."""
        total = np.full(len(table), self.bias)
        for _, scorer in self.scorers:
            total += scorer.scores(table)
        if self.trees is None:
            return total
        return mixed_margins(total, self.trees.log_odds(table.features), self.share)


def mixed_margins(margins: Doubles, log_odds: Doubles, share: float) -> Doubles:
    """Margins of the kernels and votes of boosted trees together."""
    result: Doubles = (1 - share) * margins + share * log_odds / 2
    return result


@dataclass
class Learner:
    """Terms fitted on ``train``; ``dev`` has the candidates of the development part (pruned), ``gold`` how many links it has.

    With ``exact`` None the exact SVM is used up to `EXACT_LIMIT` training candidates.
    """

    terms: tuple[Term, ...]
    train: CandidateTable
    dev: CandidateTable
    gold: int
    exact: bool | None = None
    decay: float = DECAY
    landmarks: int = LANDMARKS
    seed: int = 1
    threads: int = 0
    best: bool = False
    maps: list[TermMap] = field(init=False)

    def __post_init__(self) -> None:
        if not self.terms:
            raise TreeglotError("no kernel", remedy="name at least one, such as plain")
        if self.exact is None:
            self.exact = len(self.train) <= EXACT_LIMIT
        forests = Forests()
        self.maps = [
            fit_map(
                self.train,
                term,
                forests,
                decay=self.decay,
                landmarks=self.landmarks,
                seed=self.seed,
                threads=self.threads,
            )
            for term in self.terms
        ]
        self._nodes = node_tables(self.dev)
        self._starts: dict[int, LinearFit] = {}
        if self.exact:
            self._train_parts = [item.matrix(self.train, self.train) for item in self.maps]
            self._dev_parts = [item.matrix(self.dev, self.train) for item in self.maps]
        else:
            self._train_parts = [item.vectors(self.train) for item in self.maps]
            self._dev_parts = [item.vectors(self.dev) for item in self.maps]

    def _solve(self, parameters: Parameters) -> tuple[Doubles, float]:
        """Coefficients of the training candidates (exact) or weights of the dimensions, and the bias."""
        thetas = parameters.weights
        if self.exact:
            kernel = sum(theta * part for theta, part in zip(thetas, self._train_parts, strict=True))
            dual = fit_exact(
                kernel,  # type: ignore[arg-type]
                self.train.labels,
                cost=parameters.cost,
                positive_weight=parameters.positive_weight,
            )
            return dual.coefficients, dual.bias
        vectors = self._scaled(self._train_parts, thetas)
        fit = fit_linear(vectors, self.train.labels, cost=parameters.cost, positive_weight=parameters.positive_weight)
        return fit.weights, fit.bias

    @staticmethod
    def _scaled(parts: list[Floats], thetas: Sequence[float]) -> Floats:
        return np.concatenate(
            [np.sqrt(np.float32(theta)) * part for theta, part in zip(thetas, parts, strict=True)], axis=1
        )

    def dev_margins(self, parameters: Parameters) -> Doubles:
        """Margins of the development candidates with these parameters."""
        solution, bias = self._solve(parameters)
        if self.exact:
            total = np.full(len(self.dev), bias)
            single = solution.astype(np.float32)
            for theta, part in zip(parameters.weights, self._dev_parts, strict=True):
                total += theta * (part @ single)
            return total
        products = self._scaled(self._dev_parts, parameters.weights) @ solution.astype(np.float32)
        return products.astype(np.float64) + bias

    def score(self, margins: Doubles, threshold: float) -> Score:
        """Of the links of the development part."""
        links = select_links(self.dev, margins, threshold, best=self.best, nodes=self._nodes)
        return Score(len(links), int(self.dev.labels[links].sum()), self.gold)

    def scores(self, margins: Doubles, thresholds: Sequence[float]) -> dict[float, Score]:
        """The same for several thresholds. Greedy links above a threshold are the first ones of those above a lower one."""
        if self.best:
            return {threshold: self.score(margins, threshold) for threshold in thresholds}
        links = select_links(self.dev, margins, min(thresholds), nodes=self._nodes)
        right = self.dev.labels[links]
        result = {}
        for threshold in thresholds:
            above = margins[links] > threshold
            result[threshold] = Score(int(above.sum()), int(right[above].sum()), self.gold)
        return result

    def classifier(self, parameters: Parameters) -> Classifier:
        """Learnt on the training candidates."""
        solution, bias = self._solve(parameters)
        scorers = []
        start = 0
        for term, item, theta, part in zip(self.terms, self.maps, parameters.weights, self._train_parts, strict=True):
            if self.exact:
                scorer = item.scorer_of_coefficients(self.train, solution * theta)
            else:
                stop = start + part.shape[1]
                scorer = item.scorer_of_weights(solution[start:stop] * np.sqrt(theta))
                start = stop
            scorers.append((term, scorer))
        return Classifier(tuple(scorers), bias)

    def search(
        self,
        start: Parameters,
        *,
        rounds: int = 1,
        report: Callable[[str], object] | None = None,
    ) -> tuple[Parameters, Score]:
        """Coordinate search on the development part: θ, C, the weight of linked candidates, the threshold."""

        def best_threshold(margins: Doubles) -> tuple[float, Score]:
            tried = self.scores(margins, THRESHOLDS)
            return max(tried.items(), key=lambda item: (item[1].f1, -abs(item[0])))

        current = start
        threshold, score = best_threshold(self.dev_margins(current))
        current = replace(current, threshold=threshold)

        def attempt(changed: Parameters) -> bool:
            nonlocal current, score
            threshold, reached = best_threshold(self.dev_margins(changed))
            if reached.f1 > score.f1 + 1e-9:
                current, score = replace(changed, threshold=threshold), reached
                if report is not None:
                    report(f"{self.describe(current)}: {score}")
                return True
            return False

        if report is not None:
            report(f"{self.describe(current)}: {score}")
        weights = [(k, factor) for k in range(len(self.terms) if len(self.terms) > 1 else 0) for factor in (2.0, 0.5)]
        others = [("cost", 2.0), ("cost", 0.5), ("positive_weight", 1.5), ("positive_weight", 1 / 1.5)]
        for _ in range(rounds):
            before = score.f1
            directions: list[tuple[int | str, float]] = [*weights, *others]
            for what, factor in track(directions, "tuning"):

                def further(what: int | str = what, factor: float = factor) -> Parameters:
                    if isinstance(what, int):
                        return replace(current, weights=_rescaled(current.weights, what, factor))
                    return replace(current, **{what: getattr(current, what) * factor})

                while attempt(further()):
                    pass
            if score.f1 <= before + 1e-9:
                break
        return current, score

    def describe(self, parameters: Parameters) -> str:
        parts = [f"{theta:.2f} {term}" for theta, term in zip(parameters.weights, self.terms, strict=True)]
        return f"{' + '.join(parts)}, C {parameters.cost:.3g}, w {parameters.positive_weight:.3g}, t {parameters.threshold:.2f}"


THRESHOLDS = tuple(round(0.1 * k, 1) for k in range(-9, 10))


def _rescaled(weights: tuple[float, ...], place: int, factor: float) -> tuple[float, ...]:
    changed = [weight * factor if k == place else weight for k, weight in enumerate(weights)]
    total = sum(changed)
    return tuple(weight / total for weight in changed)


__all__ = ["Bounds", "Classifier", "Learner", "Longs", "Parameters", "Score", "confidence", "select_links"]
