"""The ways to find better weights on merged n-best lists; the loops run in the core.

- MERT (Och 2003): exact line searches on the corpus score along coordinates and random directions, from the current weights,
  the weights of earlier iterations and random points, then from points closer and closer to the best one found.
- MIRA (Cherry & Foster 2012): batch hope-fear updates, as Moses' kbmira.
- PRO (Hopkins & May 2011): logistic regression on sampled pairs. The regression is our own Newton method: it has a few
  dozen unknowns and one optimum, which a hundred lines find to the last digits, with no large package to install.
- Expected score (Smith & Eisner 2006; Rosti et al. 2011): the gradient of the metric of expected counts, under a distribution over the
  lists that gets sharper. It goes on from the best weights so far, and where later ones decode much worse, the next are
  halfway back. Rounds that brought nothing are followed by line searches on the score itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treeglot._core import tuning as core
from treeglot.errors import ConfigError

Weights = dict[str, float]

DISTANCES = (0.3, 0.1, 0.03)
"""How far MERT looks around its best point, as parts of the largest weight."""


@dataclass(frozen=True)
class Mert:
    """Options of MERT."""

    restarts: int = 10
    """Random starting points in each iteration."""
    perturbations: int = 5
    """Further ones close to the best point so far, at each of the distances `DISTANCES`."""
    random_directions: int = 2
    """Directions in each sweep besides the coordinates."""
    sweeps: int = 25
    """The most sweeps from one starting point."""
    trial_sweeps: int = 2
    """Sweeps from each starting point before the finalists are chosen."""
    finalists: int = 3
    """Starting points that are followed until nothing gets better."""
    narrowest: float = 1e-6
    """Steps whose optimum is narrower than this are not taken: a decoder could not repeat them."""


@dataclass(frozen=True)
class Mira:
    """Options of batch MIRA; the defaults are kbmira's."""

    c: float = 0.01
    decay: float = 0.999
    epochs: int = 60
    safe_hope: bool = True


@dataclass(frozen=True)
class Pro:
    """Options of PRO; sample sizes are the paper's."""

    samples: int = 5000
    kept: int = 50
    threshold: float = 0.05
    l2: float = 1.0
    interpolation: float = 0.5
    """How much of the learnt weights goes into the next ones (the paper's 0.1 wants some thirty iterations)."""


@dataclass(frozen=True)
class Expected:
    """Options of the expected score."""

    climbs: tuple[tuple[float, int], ...] = ((5.0, 3), (20.0, 5))
    """Each from the best weights so far; the lists choose between where they lead. How many hypotheses of a sentence the first distribution
    is spread over, and the number of distributions, each twice as sharp as the one before. A sharp beginning finds the nearest
    optimum, which may be a bad one; a soft one finds better ones further away, though not always."""
    l2: float = 1e-5
    """Penalty on the squared way of a level, in standard deviations of the features. With a hundred times as much, weights
    from a bad start stayed near it for ten rounds."""
    steps: int = 60
    """The most steps at a level."""
    slack: float = 0.5
    """From the third round on, weights that decode worse than the best by more points than this are answered by a step half as
    long. The second round may be much worse, mostly in length, which lists of one round cannot tell; then both sides are known."""
    polish: Mert | None = field(default_factory=lambda: Mert(restarts=0, perturbations=0))
    """Line searches on the score itself, from the best weights so far, in a round after one that brought nothing and lost little: what the
    expected score leaves to be gained. None: climb again."""
    trials: int = 4
    """With a decoder that can decode a part of the set: so many weights at most are tried on it after a round, each learnt with the lists of
    those before. The first that lose no more than ``loss``, and that do not disappoint by more than ``surprise``, are decoded with."""
    loss: float = 0.02
    """What a trial may lose, as a part of the best weights' score on the same sentences, but at least half a point."""
    surprise: float = 0.3
    """By how much it may stay below the score that the lists promised, as a part of that: else they know too little."""
    patience: int = 5
    """The run ends after so many rounds in a row that brought no more than ``gain``; the first two are not counted."""
    gain: float = 0.02


Method = Mert | Mira | Pro | Expected
METHODS: dict[str, type[Mert] | type[Mira] | type[Pro] | type[Expected]] = {
    "mert": Mert,
    "mira": Mira,
    "pro": Pro,
    "expected": Expected,
}


@dataclass(frozen=True)
class Space:
    """Which weights there are, which of them may change, and how far."""

    names: tuple[str, ...]
    fixed: frozenset[str] = frozenset()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in [*self.fixed, *self.bounds]:
            if name not in self.names:
                raise ConfigError(f"no feature {name!r}", remedy=f"the features are {', '.join(self.names)}")
        for name, (lower, upper) in self.bounds.items():
            if not lower <= upper:
                raise ConfigError(f"the bounds of {name} are {lower} and {upper}", remedy="give the lower one first")
        if all(name in self.fixed for name in self.names):
            raise ConfigError("all weights are fixed", remedy="leave at least one free")

    @property
    def free(self) -> list[bool]:
        return [name not in self.fixed for name in self.names]

    @property
    def lower(self) -> list[float]:
        return [self.bounds.get(name, (-math.inf, math.inf))[0] for name in self.names]

    @property
    def upper(self) -> list[float]:
        return [self.bounds.get(name, (-math.inf, math.inf))[1] for name in self.names]

    def scalable(self, pool: core.Pool, weights: Sequence[float]) -> bool:
        """Whether the free weights may be multiplied by a number without changing any decision on the lists.

        That is so unless a bound other than 0 limits one of them, or a fixed feature tells translations apart.
        """
        limits = (
            limit
            for name, pair in self.bounds.items()
            if name not in self.fixed
            for limit in pair
            if math.isfinite(limit) and limit != 0
        )
        if any(True for _ in limits):
            return False
        return not any(name in self.fixed and weights[i] != 0 and pool.varies(i) for i, name in enumerate(self.names))

    def normalised(self, weights: Sequence[float]) -> list[float]:
        """The free weights scaled so that their absolute values sum to 1; the fixed ones as they are."""
        total = math.fsum(abs(weight) for weight, free in zip(weights, self.free, strict=True) if free)
        if total == 0:
            return list(weights)
        return [weight / total if free else weight for weight, free in zip(weights, self.free, strict=True)]


def optimise(
    method: Method,
    pool: core.Pool,
    space: Space,
    history: Sequence[Sequence[float]],
    scores: Sequence[float],
    *,
    seed: str,
    threads: int = 0,
    normalise: bool = True,
) -> tuple[list[float], float]:
    """New weights and their score on the lists; ``history`` has the weights of all iterations, the current ones last, and
    ``scores`` what they decoded to.

    The same arguments give the same bytes, whatever the number of threads.
    """
    rng = random.Random(seed)
    current = list(history[-1])
    scalable = space.scalable(pool, current)
    box = (space.free, space.lower, space.upper)
    if isinstance(method, Mert):
        starts = [current]
        starts += [list(old) for old in reversed(history[:-1]) if list(old) not in starts]
        starts = starts[:5] + [_random_start(current, space, scalable, rng, i) for i in range(method.restarts)]
        weights = _mert(method, pool, space, starts, threads, scalable, rng)
    elif isinstance(method, Mira):
        weights, _ = pool.mira(
            current,
            *box,
            rng.getrandbits(64),
            c=method.c,
            decay=method.decay,
            epochs=method.epochs,
            safe_hope=method.safe_hope,
        )
    elif isinstance(method, Expected):
        weights = _expected(method, pool, space, history, scores, threads, scalable and normalise, rng)
    else:
        learnt, pairs = pool.pro(
            current,
            *box,
            rng.getrandbits(64),
            samples=method.samples,
            kept=method.kept,
            threshold=method.threshold,
            l2=method.l2,
        )
        weights = current
        if pairs:
            old, new = (space.normalised(w) if scalable and normalise else w for w in (current, learnt))
            part = method.interpolation
            weights = [(1 - part) * a + part * b for a, b in zip(old, new, strict=True)]
            weights = [w if free else a for w, a, free in zip(weights, current, space.free, strict=True)]
    # MIRA's margins have a scale of their own: its weights go on as they are and are scaled only for the decoder.
    if scalable and normalise and not isinstance(method, Mira):
        weights = space.normalised(weights)
    return weights, pool.score(weights)


def _expected(
    method: Expected,
    pool: core.Pool,
    space: Space,
    history: Sequence[Sequence[float]],
    scores: Sequence[float],
    threads: int,
    scalable: bool,
    rng: random.Random,
) -> list[float]:
    best = max(range(len(scores)), key=lambda n: scores[n])
    start = space.normalised(history[best]) if scalable else list(history[best])
    idle = len(scores) > 2 and scores[best] - method.slack <= scores[-1] <= max(scores[:-1]) + method.gain
    if method.polish and idle:
        return _mert(method.polish, pool, space, [start], threads, scalable, rng)
    reached = [
        pool.maximise_expected(
            start,
            space.free,
            space.lower,
            space.upper,
            perplexity=perplexity,
            levels=levels,
            l2=method.l2,
            steps=method.steps,
            threads=threads,
        )
        for perplexity, levels in method.climbs
    ]
    weights, _ = max(reached, key=lambda pair: pair[1])
    if scalable:
        weights = space.normalised(weights)
    # What came after the best and was worse halves the step, but for the second round.
    step = 0.5 ** sum(score < scores[best] - method.slack for score in scores[max(best + 1, 2) :])
    return [old + step * (new - old) for old, new in zip(start, weights, strict=True)]


def _mert(
    method: Mert,
    pool: core.Pool,
    space: Space,
    starts: list[list[float]],
    threads: int,
    scalable: bool,
    rng: random.Random,
) -> list[float]:
    """The best point reached from some starts, and from points closer and closer to it."""
    best = [_climb(method, pool, space, starts, rng.getrandbits(64), threads)]
    for distance in DISTANCES if method.perturbations else ():
        starts = [_near(best[-1][0], distance, space, scalable, rng) for _ in range(method.perturbations)]
        reached = _climb(method, pool, space, starts, rng.getrandbits(64), threads)
        if reached[1] > best[-1][1] + 1e-9:
            best.append(reached)
    return best[-1][0]


def _climb(
    method: Mert, pool: core.Pool, space: Space, starts: list[list[float]], seed: int, threads: int
) -> tuple[list[float], float]:
    """The best point reached from some starts; the first of them where another is not better."""
    points = pool.mert(
        starts,
        space.free,
        space.lower,
        space.upper,
        seed,
        random_directions=method.random_directions,
        sweeps=method.sweeps,
        trial_sweeps=method.trial_sweeps,
        finalists=method.finalists,
        narrowest=method.narrowest,
        threads=threads,
    )
    best = max(points, key=lambda pair: pair[1])
    return points[0] if best[1] <= points[0][1] + 1e-9 else best


def _size(weights: Sequence[float], space: Space) -> float:
    return max((abs(w) for w, free in zip(weights, space.free, strict=True) if free), default=0.0) or 1.0


def _near(weights: Sequence[float], distance: float, space: Space, scalable: bool, rng: random.Random) -> list[float]:
    """A point whose free weights differ by up to ``distance`` times the largest weight."""
    size = _size(weights, space) * distance
    moved = [
        min(max(weight + size * (2 * rng.random() - 1), lower), upper) if free else weight
        for weight, free, lower, upper in zip(weights, space.free, space.lower, space.upper, strict=True)
    ]
    return space.normalised(moved) if scalable else moved


def _random_start(
    current: Sequence[float], space: Space, scalable: bool, rng: random.Random, number: int
) -> list[float]:
    """A point near the current weights for even numbers, a far one with mostly the same signs for odd ones."""
    if number % 2 == 0:
        return _near(current, 0.5, space, scalable, rng)
    size = _size(current, space)
    drawn = []
    for weight, free, lower, upper in zip(current, space.free, space.lower, space.upper, strict=True):
        draw, flip = rng.random(), rng.random()
        sign = math.copysign(1.0, weight) if weight else (1.0 if draw < 0.5 else -1.0)
        value = size * draw * (sign if flip < 0.9 else -sign)
        drawn.append(min(max(value, lower), upper) if free else weight)
    return space.normalised(drawn) if scalable else drawn
