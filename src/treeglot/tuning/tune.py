"""Tuning: decode the dev set, merge the n-best lists, find better weights, and again until they stop changing.

The decoder is any function from weights to n-best lists (spec: search and tuning, "Tuning"), the metric any of `treeglot.tuning.objective`.

>>> candidates = [[("the cat sat on a mat", [1.0, 0.0]), ("the cat sat on the mat", [0.0, 1.0])]]
>>> def decode(weights):
...     score = lambda entry: sum(w * h for w, h in zip(weights.values(), entry[1]))
...     return [sorted(entries, key=score, reverse=True) for entries in candidates]
>>> result = tune(decode, ["the cat sat on the mat"], {"lm": 1.0, "tm": 0.5}, seed=1)
>>> round(result.iterations[0].score, 1), round(result.score, 1)
(53.7, 100.0)
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from treeglot._core import tuning as core
from treeglot.errors import ConfigError
from treeglot.tuning.methods import METHODS, Expected, Method, Pro, Space, Weights, optimise
from treeglot.tuning.nbest import NBestArrays, NBestLists, pack
from treeglot.tuning.objective import MetricChoice, Objective
from treeglot.tuning.state import Iteration, StateFolder, digest

logger = logging.getLogger(__name__)

Decoder = Callable[[Weights], NBestLists | NBestArrays]
PartDecoder = Callable[[Weights, int], NBestLists | NBestArrays]

TRIED_SHARE = 5
"""Weights are tried on a fifth of the set,"""
LEAST_TRIED = 20
"""if it has so many sentences."""


@dataclass(frozen=True)
class TuningResult:
    """The weights of the iteration with the best dev score, and how the run went."""

    weights: Weights
    score: float
    iterations: tuple[Iteration, ...]
    stopped: str
    """Why the run ended: ``weights``, ``lists`` (neither changed any more), ``score`` (it rose no more) or ``iterations`` (their
    number was reached)."""

    spreads: Weights = field(default_factory=dict)
    """How much the translations of a sentence differ in each feature, on average, in the lists of the best iteration."""
    length: float = 0.0
    """Words of the best iteration's translations, as a part of the words of the references."""
    metric: str = "BLEU"
    """What the scores are of."""

    @property
    def converged(self) -> bool:
        return self.stopped != "iterations"


def tune(
    decode: Decoder,
    references: Sequence[str] | Sequence[Sequence[str]],
    initial: Mapping[str, float],
    method: str | Method = "expected",
    *,
    metric: MetricChoice = "bleu",
    seed: int = 1,
    iterations: int = 15,
    state_dir: str | os.PathLike[str] | None = None,
    fixed: Iterable[str] = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    lowercase: bool = False,
    normalise: bool = True,
    tolerance: float = 1e-5,
    threads: int = 0,
    decoder: str = "",
    decode_first: PartDecoder | None = None,
    on_iteration: Callable[[Iteration], None] | None = None,
) -> TuningResult:
    """Tune weights for the best corpus score on a dev set.

    decode: gives for weights one n-best list per dev sentence, best first; see `NBestEntry`, and `NBestArrays` for all at once.
    references: one tokenised translation of each sentence, or several such sequences.
    initial: the first weights; their names are the features, in the order of feature vectors.
    decode_first: the same for the first sentences, whose number is given, too: with it ``expected`` tries weights on a fifth of the set before all
    of it is decoded, so that hardly a round loses.
    method: ``expected``, ``mert``, ``mira``, ``pro``, or one of `Expected`, `Mert`, `Mira`, `Pro` with other options.
    metric: ``bleu``, ``chrf``, ``chrf++`` or ``ter``, with ``-lc`` ignoring case; several, as ``bleu+chrf`` or with weights; TER counts as 100 - TER.
    iterations: the most rounds of optimising; one more decoding scores the last weights.
    state_dir: a folder that makes the run resumable; ``decoder`` names what decodes (say, a hash of its model), so
    that a folder of another decoder is refused. More ``iterations`` may be asked for later.
    fixed: features whose weights stay. bounds: for others, the lowest and highest weight.
    lowercase: compare without regard to case.
    normalise: scale the free weights to an absolute sum of 1 after each round, where that changes no decision (no
    bound other than 0, no fixed feature that tells translations of a sentence apart).
    tolerance: the run ends when no weight changes by more.
    """
    chosen = _method(method)
    space = Space(tuple(initial), frozenset(fixed), dict(bounds or {}))
    for name, value in initial.items():
        if not math.isfinite(value):
            raise ConfigError(f"the initial weight of {name} is {value}", remedy="give a finite number")
    if iterations < 1:
        raise ConfigError(f"{iterations} iterations", remedy="ask for at least one")
    objective = Objective(metric, references, lowercase=lowercase, threads=threads)
    state = StateFolder(
        None if state_dir is None else Path(state_dir),
        {
            "method": type(chosen).__name__.lower(),
            "options": asdict(chosen),
            "metric": objective.weights,
            "seed": seed,
            "initial": dict(initial),
            "fixed": sorted(space.fixed),
            "bounds": {name: [repr(float(limit)) for limit in pair] for name, pair in sorted(space.bounds.items())},
            "lowercase": lowercase,
            "normalise": normalise,
            "tolerance": tolerance,
            "references": digest(references),
            "decoder": decoder,
            "trials": decode_first is not None,
        },
    )
    part = len(objective) // TRIED_SHARE
    trials = chosen.trials if isinstance(chosen, Expected) and decode_first and part >= LEAST_TRIED else 0
    known = 0.0  # what the best weights so far reach on this part
    pool = core.Pool(len(objective), len(space.names), objective.metric)
    history = [[float(initial[name]) for name in space.names]]  # as the method goes on from them
    done: list[Iteration] = []
    spreads: Weights = {}
    stopped = "iterations"
    for number in range(1, iterations + 2):
        weights = _for_decoder(history[-1], space, pool, normalise, number)
        lists = state.lists(number)
        if lists is None:
            logger.info("iteration %d: decoding", number)
            lists = pack(decode(dict(weights)), space.names, objective)
            state.save_lists(number, lists)
        new = pool.add(lists.sentences, lists.values, lists.statistics)
        score = objective.score(lists.first())
        logger.info("iteration %d: %s %.2f, %d new, %d in all", number, objective.name, score, new, len(pool))
        words, reference = lists.first()[:, -2:].sum(axis=0)
        length = float(words / max(reference, 1))
        base = Iteration(number, weights, score, len(lists.sentences), new, len(pool), length=length)
        scores = [*(iteration.score for iteration in done), score]
        if score > max(scores[:-1], default=-math.inf):
            known = objective.score(lists.first()[:part]) if trials else 0.0
            spreads = dict(zip(space.names, lists.spreads().tolist(), strict=True))
        settled = new == 0 and number > 1 and not isinstance(chosen, Pro)
        level = isinstance(chosen, Expected) and _is_level(scores, chosen)
        if settled or level or number > iterations:
            stopped = "lists" if settled else "score" if level else stopped
            done.append(base)
            _report(base, on_iteration)
            break
        finished = state.iteration(number)
        if finished is None or finished.proposed is None:
            for trial in range(1, max(trials, 1) + 1):
                proposed, predicted = optimise(
                    chosen, pool, space, history, scores, seed=f"{seed} {number}", threads=threads, normalise=normalise
                )
                if not trials:
                    break
                assert decode_first is not None and isinstance(chosen, Expected)
                tried = state.lists(number, trial)
                if tried is None:
                    weights_tried = _for_decoder(proposed, space, pool, normalise, number + 1)
                    tried = pack(decode_first(weights_tried, part), space.names, objective, part)
                    state.save_lists(number, tried, trial)
                pool.add(tried.sentences, tried.values, tried.statistics)
                reached = objective.score(tried.first())
                logger.info("iteration %d: trial %d: %.2f after %.2f", number, trial, reached, known)
                least = known - max(0.5, chosen.loss * abs(known))
                if reached >= max(least, predicted - chosen.surprise * abs(predicted)):
                    break
            finished = Iteration(
                **{
                    **asdict(base),
                    "proposed": dict(zip(space.names, proposed, strict=True)),
                    "predicted": predicted,
                    "tried": trial if trials else 0,
                }
            )
            state.save_iteration(finished)
        else:
            for trial in range(1, finished.tried + 1):
                if (tried := state.lists(number, trial)) is not None:
                    pool.add(tried.sentences, tried.values, tried.statistics)
        done.append(finished)
        _report(finished, on_iteration)
        assert finished.proposed is not None
        history.append([finished.proposed[name] for name in space.names])
        following = _for_decoder(history[-1], space, pool, normalise, number + 1)
        if max(abs(following[name] - weights[name]) for name in space.names) <= tolerance:
            stopped = "weights"
            break
    best = max(done, key=lambda iteration: iteration.score)
    return TuningResult(best.weights, best.score, tuple(done), stopped, spreads, best.length, objective.name)


def _is_level(scores: Sequence[float], method: Expected) -> bool:
    """Whether the last rounds brought nothing."""
    last = len(scores) - method.patience
    return last > 2 and max(scores[last:]) <= max(scores[:last]) + method.gain


def _for_decoder(weights: Sequence[float], space: Space, pool: core.Pool, normalise: bool, number: int) -> Weights:
    """Weights as the decoder gets them; the first ones are the user's own."""
    if normalise and number > 1 and space.scalable(pool, weights):
        weights = space.normalised(weights)
    return dict(zip(space.names, weights, strict=True))


def _method(method: str | Method) -> Method:
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        raise ConfigError(f"no tuning method {method!r}", remedy=f"choose from {', '.join(METHODS)}")
    return METHODS[method]()


def _report(iteration: Iteration, callback: Callable[[Iteration], None] | None) -> None:
    if callback is not None:
        callback(iteration)
