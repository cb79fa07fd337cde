"""How the time grows with the size of awkward inputs: each case at one size and at twice that size, in one process.

    python bench/large_inputs.py

Prints one line of JSON a case: CPU seconds at both sizes and their ratio. About 2 is linear, 4 quadratic.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from treeglot import lm
from treeglot._core import rules as core_rules
from treeglot._core.forest import Forest, Search
from treeglot.search import phrase_decoder, read_moses_phrases, start_weights
from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext
from treeglot.trees.display import to_svg, to_text

Job = Callable[[], object]


def small_model(order: int) -> lm.LanguageModel:
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "arpa").open("wb") as file:
            lm.estimate([b"a b a c\n", b"b a c\n", b"x y\n", b"y x x\n"], file, order=order)
        return lm.open_model(Path(folder) / "arpa")


def picture_of_dependencies(size: int) -> Job:
    chance = random.Random(3)
    tree = DependencyTree(["word"] * size, [-1, *map(chance.randrange, range(1, size))], ["rel"] * size)
    return lambda: (to_text(tree), to_svg(tree))


def picture_of_levels(size: int) -> Job:
    children = [[~n, n + 1] for n in range(size - 1)] + [[~(size - 1)]]
    tree = ConstituencyTree(["word"] * size, ["XP"] * size, children)
    return lambda: (to_text(tree), to_svg(tree))


def forest_chain(size: int) -> Job:
    weights, model, chance = [0.5, 0.1, 1.0], small_model(4), random.Random(5)
    forest = Forest(model.core, weights)

    def options(tails: int) -> list[tuple[list[str | int], list[tuple[int, float]]]]:
        return [([*range(tails), chance.choice("abc")], [(2, -chance.random())]) for _ in range(10)]

    node = forest.add_node()
    forest.add_edge(node, options(0), [])
    for _ in range(size):
        above = forest.add_node()
        forest.add_edge(above, options(1), [node])
        node = above
    forest.set_goal(node)
    return lambda: Search(model.core, weights).run(forest, 10, distinct=True)


def flat_tree(grammar: str) -> Callable[[int], Job]:
    def build(size: int) -> Job:
        tokens = Tokens([f"w{n}" for n in range(size)], xpos=["N"] * size)
        tree = ConstituencyTree.build(tokens, ("S", *(("X", n, n + 1) for n in range(0, size, 2))))
        sentence = ParsedSentence(tokens, DependencyTree(tokens, [-1] + [0] * (size - 1)), tree)
        target = [f"t{n // 2 if n % 2 else 'u'}" for n in range(2 * size)]
        bitext = parsed_bitext([(sentence, target, [(n, 2 * n + 1) for n in range(size)])])
        return lambda: core_rules.Extractor(bitext.columns, grammar).rules(0)

    return build


def unknown_words(size: int) -> Job:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table"
        table.write_text("a ||| x ||| 0.5 0.5 0.5 0.5 |||\n")
        decoder = phrase_decoder(read_moses_phrases(table), small_model(2), start_weights(["phrases"]))
    sentence = " ".join(f"w{n}" for n in range(size))
    return lambda: decoder.translate([sentence], threads=1)


CASES: dict[str, tuple[Callable[[int], Job], int]] = {
    "picture of a crossing dependency tree": (picture_of_dependencies, 5000),
    "picture of a deep constituency tree": (picture_of_levels, 5000),
    "forest: a chain of nodes": (forest_chain, 1000),
    **{f"{name}: rules of a flat tree": (flat_tree(name), 120) for name in ("dep2str", "augmented", "consdep2str")},
    "phrase search: a sentence of unknown words": (unknown_words, 200),
}


def seconds(job: Job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def main() -> None:
    for name, (build, size) in CASES.items():
        times = [min(seconds(build(n)) for _ in range(2)) for n in (size, 2 * size)]
        print(
            json.dumps(
                {
                    "case": name,
                    "size": size,
                    "seconds": [round(t, 3) for t in times],
                    "ratio": round(times[1] / max(times[0], 1e-6), 2),
                }
            )
        )


if __name__ == "__main__":
    main()
