"""The decoder with STSG and STSSG rules against exhaustive search written from the spec (tree-to-tree, section 4)."""

from __future__ import annotations

import io
import itertools
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from test_tree2tree_rules import columns, is_single, random_links, random_tree
from tree2tree_reference import Node, Reference, Side, Span, apart
from treeglot import lm
from treeglot._core import parsed
from treeglot.search import Decoder, RuleUse, forest_decoder, start_weights, walk
from treeglot.search.target_trees import target_tree
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees.corpus import ParsedCorpus

Found = dict[tuple[str, ...], float]
LIMITS = {"stack_limit": 0, "stack_threshold": 0, "rule_limit": 0, "rule_threshold": 0}


def words_of(tree: Any) -> list[str]:
    return columns(tree)[0]


class World:
    """A small random corpus with its table and language model."""

    def __init__(self, seed: int, folder: Path, grammar: str) -> None:
        self.rng, self.grammar = random.Random(f"{grammar} {seed}"), grammar
        bitext = parsed.ParsedBitext()
        targets = []
        for _ in range(25):
            sizes = self.rng.randint(2, 5), self.rng.randint(2, 5)
            source, target = self.tree(sizes[0], "f"), self.tree(sizes[1], "e")
            bitext.add(columns(source), columns(target), sorted(random_links(self.rng, *sizes)))
            targets.append(words_of(target))
        build_rule_table(grammar, bitext, folder / "rules")
        arpa = io.BytesIO()
        lm.estimate([(" ".join(words) + "\n").encode() for words in targets], arpa, order=3)
        (folder / "arpa").write_bytes(arpa.getvalue())
        self.model, self.table = lm.open_model(folder / "arpa"), RuleTable(folder / "rules")
        self.weights = {name: value + self.rng.uniform(-0.3, 0.3) for name, value in start_weights([grammar]).items()}
        self.weights[f"{grammar}.mismatch"] = -self.rng.uniform(0, 0.5)

    def tree(self, size: int, prefix: str) -> Any:
        """A tree over few words, so that rules are found again."""
        return fewer_words(random_tree(self.rng, size, prefix))

    def decoder(self, categories: str) -> Decoder:
        return forest_decoder(
            {self.grammar: self.table}, None, self.model, self.weights, grammars={"categories": categories}, **LIMITS
        )


def fewer_words(tree: Any) -> Any:
    label, parts = tree
    if isinstance(parts, str):
        return label, f"{parts[0]}{int(parts[1:]) % 3}"
    return label, [fewer_words(part) for part in parts]


class TargetSide:
    """The text of a target side taken apart: words and variables, the category, those of the variables."""

    def __init__(self, text: str) -> None:
        self.items: list[str | int] = []
        self.tags: list[tuple[str, str]] = []
        roots: list[str] = []
        wanted: dict[int, list[str]] = {}
        depth, last = 0, ""
        for token in text.split():
            plain = token.strip("()")
            name, _, label = plain.partition(":")
            if token.startswith("("):
                roots += [plain] * (depth == 0)
                depth, last = depth + 1, plain
            elif label:
                number = int(name[1:])
                roots += [label] * (depth == 0)
                if number not in wanted:
                    self.items.append(number)
                wanted.setdefault(number, []).append(label)
            else:
                self.items.append(plain)
                self.tags.append((plain, last))
            depth -= len(token) - len(token.rstrip(")"))
        self.category = "·".join(roots)
        self.wanted = ["·".join(wanted[number]) for number in sorted(wanted)]


class Exhaustive:
    """Every translation of every span, by category, with its best score (without language model)."""

    def __init__(self, world: World, tree: Any, fuzzy: bool) -> None:
        self.world, self.fuzzy, self.side, self.words = world, fuzzy, Side(tree), words_of(tree)
        self.writer = Reference(tree, ("S", [("N", "e")]), set())
        self.most = 3 if world.grammar == "stssg" else 1
        self.rules: dict[str, list[tuple[TargetSide, dict[str, float]]]] = {}
        self.tags: dict[str, Counter[str]] = {}
        grammar = world.grammar
        for entry in world.table:
            values = (entry.target_given_source, entry.source_given_target, entry.lexical_target, entry.lexical_source)
            names = ("p_ts", "p_st", "lex_ts", "lex_st")
            scores = {
                f"{grammar}.{name}": max(math.log(value), -100.0) for name, value in zip(names, values, strict=True)
            }
            target = TargetSide(entry.target)
            lexical = any(isinstance(item, str) for item in target.items) or "f" in entry.source
            scores |= {
                f"{grammar}.rules": 1.0,
                f"{grammar}.sequences": float(not (is_single(entry.source) and is_single(entry.target))),
                f"{grammar}.abstract": float(not lexical),
            }
            self.rules.setdefault(entry.source, []).append((target, scores))
            single = re.fullmatch(r"\([^ ()]+ [^ ()]+\)", entry.source) is not None
            for word, tag in target.tags if single else ():
                self.tags.setdefault(word, Counter())[tag] += entry.count  # type: ignore[assignment]
        self.best_of: dict[Span, dict[str, Found]] = {}
        for span in sorted(self.side.spans, key=lambda span: span[1] - span[0]):
            if len(self.side.covers[span]) <= self.most:
                self.translate(span)

    def weigh(self, features: dict[str, float], words: int) -> float:
        weights = self.world.weights
        return sum(weights[name] * value for name, value in features.items()) + weights["words"] * words

    def any(self, span: Span) -> Found:
        every: Found = {}
        for options in self.best_of.get(span, {}).values():
            for words, score in options.items():
                better(every, words, score)
        return every

    def tail(self, span: Span, category: str) -> Found:
        options = dict(self.best_of.get(span, {}).get(category, {}))
        if self.fuzzy:
            price = self.world.weights[f"{self.world.grammar}.mismatch"]
            for words, score in self.any(span).items():
                better(options, words, score + price)
        return options

    def translate(self, span: Span) -> None:
        here: dict[str, Found] = {}
        inner = [s for s in self.best_of if span[0] <= s[0] and s[1] <= span[1] and s != span]
        for size in range(span[1] - span[0] + 1):
            for chosen in itertools.combinations(sorted(inner), size):
                if not all(apart(a, b) for a, b in itertools.combinations(chosen, 2)):
                    continue
                source, _, _ = self.writer.side(self.side, span, chosen, range(1, size + 1))
                for target, features in self.rules.get(source, ()):
                    tails = [self.tail(s, c) for s, c in zip(chosen, target.wanted, strict=True)]
                    self.combine(target.items, tails, features, here.setdefault(target.category, {}))
        here = {category: options for category, options in here.items() if options}
        if not here and span[1] - span[0] == 1:
            word = self.words[span[0]]
            here = self.elsewhere(word)
        if not here and span[1] - span[0] == 1:
            tag = max(self.tags[word], key=lambda tag: self.tags[word][tag]) if word in self.tags else "NN"
            here[tag] = {(word,): self.weigh({"copied": 1.0}, 1)}
        elif not here and len(self.side.covers[span]) == 1:
            node: Node = self.side.covers[span][0]
            while len(node.children) == 1:
                node = node.children[0]
            here["X"] = {}
            parts = [self.any(child.span) for child in node.children]
            self.combine(list(range(1, len(parts) + 1)), parts, {"pseudo": 1.0}, here["X"])
        if here:
            self.best_of[span] = here

    def elsewhere(self, word: str) -> dict[str, Found]:
        """The word's translations under other labels, at most three above each other, for a price."""
        here: dict[str, Found] = {}
        price = {f"{self.world.grammar}.mismatch": 1.0}
        for source, rules in self.rules.items():
            labels = source.count("(")
            if labels <= 3 and re.fullmatch(rf"(\([^ ()]+ )+{word}\)+", source):
                for target, features in rules:
                    self.combine(target.items, [], features | price, here.setdefault(target.category, {}))
        return here

    def combine(self, items: Any, tails: list[Found], features: dict[str, float], options: Found) -> None:
        own = self.weigh(features, sum(isinstance(item, str) for item in items))
        for choice in itertools.product(*(tail.items() for tail in tails)):
            words: list[str] = []
            for item in items:
                words.extend((item,) if isinstance(item, str) else choice[item - 1][0])
            better(options, tuple(words), own + sum(score for _, score in choice))

    def best(self) -> Found:
        """Glued from left to right, with the language model."""
        glued: list[Found] = [{(): 0.0}, *({} for _ in self.words)]
        for end in range(1, len(self.words) + 1):
            for begin in range(end):
                if (begin, end) in self.best_of:
                    price = self.world.weights["glue"] if begin else 0.0
                    parts = [glued[begin], self.any((begin, end))]
                    for (left, left_score), (right, right_score) in itertools.product(
                        *(part.items() for part in parts)
                    ):
                        better(glued[end], left + right, left_score + right_score + price)
        scale = self.world.weights["lm"] * math.log(10)
        return {words: score + scale * self.world.model.score(" ".join(words)) for words, score in glued[-1].items()}


def better(options: Found, words: tuple[str, ...], score: float) -> None:
    if score > options.get(words, -math.inf):
        options[words] = score


def parsed_inputs(trees: list[Any]) -> ParsedCorpus:
    corpus = parsed.ParsedCorpus()
    for tree in trees:
        corpus.add(*columns(tree))
    return ParsedCorpus(corpus)


@pytest.mark.parametrize("categories", ["strict", "fuzzy"])
@pytest.mark.parametrize("grammar", ["stsg", "stssg"])
def test_equals_exhaustive_search(grammar: str, categories: str, tmp_path: Path) -> None:
    several = 0
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        world = World(seed, folder, grammar)
        trees = [world.tree(world.rng.randint(1, 4), "f") for _ in range(5)]
        trees.append(("S", [("A", "unknown"), trees[0]]))
        results = world.decoder(categories).translate(parsed_inputs(trees), nbest=10, distinct=True)
        for tree, result in zip(trees, results, strict=True):
            totals = Exhaustive(world, tree, categories == "fuzzy").best()
            ranked = sorted(totals.values(), reverse=True)
            assert result.score == pytest.approx(ranked[0], abs=5e-3), tree
            assert [entry.score for entry in result.kbest] == pytest.approx(ranked[: len(result.kbest)], abs=5e-3), tree
            for entry in result.kbest:
                assert totals[tuple(entry.text.split())] == pytest.approx(entry.score, abs=5e-3), tree
                assert entry.derivation.words == tuple(entry.text.split())
                check_target_tree(entry.derivation, strict=categories == "strict")
                total = sum(world.weights[name] * value for name, value in entry.features.items())
                assert total == pytest.approx(entry.score, abs=1e-3)
            several += len(totals) > 5
    assert several > 5


def check_target_tree(derivation: RuleUse, strict: bool) -> None:
    """It has the words of the translation; where categories are strict, variables are filled by trees of their labels."""
    tree = target_tree(derivation)
    if tree is None:
        assert not any(use.target_tree for use in walk(derivation))
        return
    assert tree.tokens.forms == derivation.words
    if not strict:
        return
    for use in walk(derivation):
        for number, child in enumerate(use.children):
            wanted = re.findall(rf"(?<![^ (])x{number + 1}:([^ ()]+)", use.target_tree)
            if wanted and child.target_tree:
                assert wanted == roots(child.target_tree)


def roots(side: str) -> list[str]:
    """The labels of the trees of a target side; those of a variable are its nodes."""
    depth, labels = 0, []
    for bracket, label in re.findall(r"([()]?)([^ ()]*)", side):
        if depth == 0 and label:
            labels.append(label.split(":", 1)[1] if not bracket and label.startswith("x") else label)
        depth += {"(": 1, ")": -1, "": 0}[bracket]
    return labels


@pytest.mark.parametrize("grammar", ["stsg", "stssg"])
def test_a_word_under_other_labels_keeps_its_translations(grammar: str, tmp_path: Path) -> None:
    bitext = parsed.ParsedBitext()
    for source, target in (
        (("S", [("N", "hund"), ("V", "bellt")]), ("S", [("NN", "dog"), ("VB", "barks")])),
        (("S", [("NP", [("N", "haus")]), ("V", "brennt")]), ("S", [("NP", [("NN", "house")]), ("VB", "burns")])),
    ):
        bitext.add(columns(source), columns(target), [(0, 0), (1, 1)])
    build_rule_table(grammar, bitext, tmp_path / "rules")
    arpa = io.BytesIO()
    lm.estimate([b"dog barks\n", b"house burns\n"], arpa, order=2)
    (tmp_path / "arpa").write_bytes(arpa.getvalue())
    decoder = forest_decoder(
        {grammar: RuleTable(tmp_path / "rules")}, None, lm.open_model(tmp_path / "arpa"), start_weights([grammar])
    )
    (result,) = decoder.translate(parsed_inputs([("S", [("A", "hund"), ("A", "haus"), ("N", "bellt"), ("N", "neu")])]))
    assert result.text == "dog house barks neu"
    assert result.features[f"{grammar}.mismatch"] == 3 and result.features["copied"] == 1


def test_unknown_words_are_glued_and_nothing_stays_nothing(tmp_path: Path) -> None:
    world = World(1, tmp_path, "stssg")
    corpus = parsed_inputs([("S", [("A", "p"), ("S", [("B", "q"), ("A", "r")])])])
    corpus.columns.add([], [], [], [])  # type: ignore[attr-defined]
    first, empty = world.decoder("strict").translate(corpus)
    assert first.text == "p q r" and empty.text == ""
