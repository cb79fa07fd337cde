"""Speed of the search in translation forests: ``python bench/forest_search.py [--sentences N] [--pops N ...] [--text FILE]``.

The forests are made up but have the shape of real ones: over a sentence of 20 words stands a random binary tree of 39 nodes,
each inner node has ten edges whose tails tile it, each edge up to a hundred options with words of real n-grams around the
variables. The language model is a 4-gram model of the text (one sentence a line; by default the English half of Multi30k
below the environment variable TREEGLOT_DATA, or else made-up text). Prints sentences, hypotheses and states a second of CPU
time in one thread for several pop limits and k-best sizes, then the time of a deep chain, of an edge with 500 tails and of
a sentence of 200 words.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from treeglot import lm
from treeglot._core.forest import Forest, Search
from treeglot.files import read_lines

DATA = (
    Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/multi30k/lc-tok/train.en"
)
WEIGHTS = [0.5, 1.0, 1.0]
Options = list[tuple[list[str | int], list[tuple[int, float]]]]


def made_up_text(lines: int) -> list[str]:
    """Text of a random first-order process with words of Zipf's frequencies."""
    chance = random.Random(1)
    words = [f"w{i}" for i in range(5000)]
    follow = {w: chance.choices(words, [1 / (i + 1) for i in range(len(words))], k=20) for w in words}
    result = []
    for _ in range(lines):
        line = [chance.choice(words[:50])]
        while len(line) < 13:
            line.append(chance.choice(follow[line[-1]]))
        result.append(" ".join(line))
    return result


class Maker:
    """Makes forests out of n-grams of a text."""

    def __init__(self, text: list[str], model: lm.LanguageModel, seed: int = 1) -> None:
        self.lines = [line.split() for line in text if line.strip()]
        self.model = model
        self.random = random.Random(seed)

    def words(self, longest: int) -> list[str]:
        line = self.random.choice(self.lines)
        start = self.random.randrange(len(line))
        return line[start : start + self.random.randint(1, longest)]

    def options(self, tails: int, largest: int) -> Options:
        result: Options = []
        value = 0.0
        for _ in range(self.random.randint(max(1, largest // 10), largest)):
            target: list[str | int] = list(range(tails))
            if self.random.random() < 0.3:
                self.random.shuffle(target)
            if not tails:
                target = list(self.words(3))
            else:
                for _ in range(self.random.randint(0, 2)):
                    place = self.random.randint(0, len(target))
                    target[place:place] = self.words(2)
            value -= self.random.expovariate(10.0)
            result.append((target, [(2, value)]))
        return result

    def forest(self, length: int, edges: int = 10, largest: int = 100) -> Forest:
        forest = Forest(self.model.core, WEIGHTS)
        parts: dict[int, list[list[int]]] = {}  # tilings of a node by nodes below it

        def add(tilings: list[list[int]]) -> int:
            node = forest.add_node()
            parts[node] = tilings
            for i in range(edges if tilings else 1):
                tails = tilings[i % len(tilings)] if tilings else []
                forest.add_edge(node, self.options(len(tails), largest), tails)
            return node

        nodes = [add([]) for _ in range(length)]
        while len(nodes) > 1:
            at = self.random.randrange(len(nodes) - 1)
            left, right = nodes[at], nodes[at + 1]
            tilings = [[left, right]]
            tilings += [[*t, right] for t in parts[left][:4]] + [[left, *t] for t in parts[right][:4]]
            nodes[at : at + 2] = [add([t for t in tilings if len(t) <= 4])]
        forest.set_goal(nodes[0])
        return forest

    def chain(self, depth: int) -> Forest:
        forest = Forest(self.model.core, WEIGHTS)
        for i in range(depth):
            node = forest.add_node()
            forest.add_edge(node, self.options(int(i > 0), 20), [i - 1] if i else [])
            forest.set_goal(node)
        return forest

    def flat(self, width: int) -> Forest:
        forest = Forest(self.model.core, WEIGHTS)
        for _ in range(width):
            forest.add_edge(forest.add_node(), self.options(0, 100), [])
        goal = forest.add_node()
        forest.add_edge(goal, [(list(range(width)), []), (list(reversed(range(width))), [])], list(range(width)))
        forest.set_goal(goal)
        return forest


def cpu(action: Callable[[], object]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5, help="how often each forest is searched")
    parser.add_argument("--pops", type=int, nargs="+", default=[30, 100, 300, 1000])
    parser.add_argument("--text", type=Path, default=DATA)
    options = parser.parse_args()
    text = [line for _, line in read_lines(options.text)] if options.text.exists() else made_up_text(30000)
    with tempfile.TemporaryDirectory() as name:
        arpa = Path(name) / "arpa"
        with arpa.open("wb") as file:
            lm.estimate((f"{line}\n".encode() for line in text), file, order=4)
        model = lm.open_model(arpa)
        maker = Maker(text, model)
        forests = [maker.forest(20) for _ in range(options.sentences)]
        print("| pops | threshold | k-best | sentences/s | hypotheses/s | states/s | mean score |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        rows = [(pops, 0.0, 1) for pops in options.pops]
        rows += [(300, 1e-3, 1), (300, 1e-3, 100), (300, 0.0, 100)]
        for pops, threshold, size in rows:
            search = Search(model.core, WEIGHTS, stack_limit=pops, stack_threshold=threshold, pop_limit=pops)
            hypotheses = states = 0
            score = seconds = 0.0
            for _ in range(options.rounds):
                for forest in forests:
                    before = time.process_time()
                    kbest = search.run(forest, size, distinct=size > 1, steps=False)
                    seconds += time.process_time() - before
                    score += kbest[0][0]
                    hypotheses += search.counts()[1]
                    states += search.counts()[2]
            runs = options.rounds * len(forests)
            print(
                f"| {pops} | {threshold} | {size} | {runs / seconds:.0f} | {hypotheses / seconds:,.0f} "
                f"| {states / seconds:,.0f} | {score / runs:.3f} |",
                flush=True,
            )
        search = Search(model.core, WEIGHTS)
        for what, example in (
            ("a chain of 2,000 nodes", maker.chain(2000)),
            ("an edge with 500 tails", maker.flat(500)),
            ("200 words", maker.forest(200)),
        ):
            single = cpu(lambda example=example: search.run(example, 1))  # type: ignore[misc]
            many = cpu(lambda example=example: search.run(example, 100, distinct=True))  # type: ignore[misc]
            print(f"{what}: {1000 * single:.0f} ms, with 100 distinct translations {1000 * many:.0f} ms")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
