"""A small made-up treebank of two languages with linked phrases, for tests of the sub-tree aligner."""

from __future__ import annotations

import random

from treeglot.trees.penn import parse_penn
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

NOUNS = [("hund", "dog"), ("mann", "man"), ("baum", "tree"), ("ball", "ball"), ("garten", "garden"), ("vogel", "bird")]
VERBS = [("sieht", "sees"), ("sucht", "seeks"), ("kennt", "knows")]
ADJECTIVES = [("alte", "old"), ("kleine", "small"), ("gute", "good")]


def corpus(size: int, seed: int = 1) -> list[AlignedPair]:
    """Sentences with the verb at the end in the source; all phrases but the target's inner VP are linked."""
    rng = random.Random(seed)

    def noun_phrase() -> tuple[str, str]:
        noun = rng.choice(NOUNS)
        if rng.random() < 0.4:
            adjective = rng.choice(ADJECTIVES)
            return f"(NP (D der) (A {adjective[0]}) (N {noun[0]}))", f"(NP (DT the) (JJ {adjective[1]}) (NN {noun[1]}))"
        return f"(NP (D der) (N {noun[0]}))", f"(NP (DT the) (NN {noun[1]}))"

    pairs = []
    for number in range(size):
        subject, thing, place, verb = noun_phrase(), noun_phrase(), noun_phrase(), rng.choice(VERBS)
        if rng.random() < 0.5:
            source = f"(S {subject[0]} (VP {thing[0]} (PP (P in) {place[0]}) (V {verb[0]})))"
            target = f"(S {subject[1]} (VP (VP (V {verb[1]}) {thing[1]}) (PP (IN in) {place[1]})))"
            links = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 5), (5, 6)]
        else:
            source = f"(S {subject[0]} (VP {thing[0]} (V {verb[0]})))"
            target = f"(S {subject[1]} (VP (V {verb[1]}) {thing[1]}))"
            links = [(n, n) for n in range(4)]
        sides = [ParsedSentence(tree.tokens, constituency=tree) for tree in map(parse_penn, (source, target))]
        pairs.append(AlignedPair(sides[0], sides[1], node_links=[Link(*link) for link in links], id=str(number)))
    return pairs
