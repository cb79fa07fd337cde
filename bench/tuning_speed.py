"""CPU time of tuning on a synthetic task: dev sentences with thousands of candidate translations, of which a made-up
decoder returns the n best under the weights. Prints one line per iteration and the totals per method.

    python bench/tuning_speed.py [--sentences 1000] [--nbest 100] [--features 15] [--iterations 15] [--threads 1]
"""

from __future__ import annotations

import argparse
import random
import resource
import time

import numpy as np

from treeglot.tuning import METHODS, Iteration, Weights, tune


class SyntheticDecoder:
    """Candidates are damaged references; features tell damage apart more or less well, amid noise."""

    def __init__(self, sentences: int, candidates: int, features: int, nbest: int, seed: int = 1) -> None:
        rng = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        words = [f"w{i}" for i in range(5000)]
        self.references = [" ".join(rng.choices(words, k=rng.randint(5, 25))) for _ in range(sentences)]
        self.nbest, self.seconds = nbest, 0.0
        truth = self.rng.normal(size=features)
        self.texts: list[list[str]] = []
        self.values: list[np.ndarray] = []
        for reference in self.references:
            tokens = reference.split()
            texts, damages = [], []
            for _ in range(candidates):
                changed = [rng.choice(words) if rng.random() < 0.35 else word for word in tokens]
                del changed[: rng.choice((0, 0, 0, 1))]
                texts.append(" ".join(changed))
                damages.append(
                    sum(a != b for a, b in zip(changed[-len(tokens) :], tokens[-len(changed) :], strict=False))
                )
            quality = -np.array(damages, dtype=float)[:, None]
            self.texts.append(texts)
            self.values.append(
                quality * truth / (truth @ truth) + self.rng.normal(scale=1.5, size=(candidates, features))
            )

    def __call__(self, weights: Weights) -> list[list[tuple[str, list[float]]]]:
        start = time.process_time()
        vector = np.array(list(weights.values()))
        lists = []
        for texts, values in zip(self.texts, self.values, strict=True):
            best = np.argsort(-(values @ vector), kind="stable")[: self.nbest]
            lists.append([(texts[i], row) for i, row in zip(best, values[best].tolist(), strict=True)])
        self.seconds += time.process_time() - start
        return lists


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--candidates", type=int, default=2000)
    parser.add_argument("--nbest", type=int, default=100)
    parser.add_argument("--features", type=int, default=15)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--methods", default=",".join(METHODS))
    args = parser.parse_args()
    decoder = SyntheticDecoder(args.sentences, args.candidates, args.features, args.nbest)
    initial = {f"f{i}": 0.1 for i in range(args.features)}
    for method in args.methods.split(","):
        start, decoder.seconds = time.process_time(), 0.0
        last = [start, 0.0]

        def show(iteration: Iteration, method: str = method, last: list[float] = last) -> None:
            now = time.process_time()
            spent = now - last[0] - (decoder.seconds - last[1])
            print(
                f"{method} {iteration.number:2}: BLEU {iteration.score:6.2f} -> {iteration.predicted:6.2f}, "
                f"{iteration.pool:9,} translations, {spent:6.2f} s CPU",
                flush=True,
            )
            last[:] = [now, decoder.seconds]

        result = tune(
            decoder,
            decoder.references,
            initial,
            method,
            iterations=args.iterations,
            threads=args.threads,
            tolerance=-1.0,
            on_iteration=show,
        )
        total = time.process_time() - start - decoder.seconds
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{method}: BLEU {result.iterations[0].score:.2f} -> {result.score:.2f}, {total:.1f} s CPU without decoding, "
            f"{total / len(result.iterations):.2f} s an iteration, peak {peak:,.0f} MB of the process"
        )


if __name__ == "__main__":
    main()
