"""The tree decoder against exhaustive search written from the spec: forms, deletions, phrasal nodes, structures, pseudo rules."""

from __future__ import annotations

import gc
import io
import itertools
import math
import random
from pathlib import Path

import pytest

from treeglot import lm
from treeglot.errors import ConfigError, TreeglotError
from treeglot.examples import worked_example
from treeglot.search import Decoder, feature_names, forest_decoder, start_weights, walk
from treeglot.tables import build_phrase_table
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.corpus import parsed_bitext, parsed_corpus
from treeglot.trees.phrasal import phrasal_nodes

WORDS = ["a", "b", "c"]
TAGS = ["A", "B"]
TARGET = ["u", "v", "w", "x"]


def random_tree(rng: random.Random, size: int) -> DependencyTree:
    """A random projective tree: a random head of every span."""
    tokens = Tokens([rng.choice(WORDS) for _ in range(size)], xpos=[rng.choice(TAGS) for _ in range(size)])
    heads = [-1] * size

    def fill(begin: int, end: int, parent: int) -> None:
        while begin < end:
            stop = rng.randint(begin + 1, end)
            head = rng.randrange(begin, stop)
            heads[head] = parent
            fill(begin, head, head)
            fill(head + 1, stop, head)
            begin = stop

    root = rng.randrange(size)
    fill(0, root, root)
    fill(root + 1, size, root)
    return DependencyTree(tokens, heads)


def random_constituents(rng: random.Random, tokens: Tokens) -> ConstituencyTree:
    def nest(begin: int, end: int) -> object:
        if end - begin == 1:
            return begin if rng.random() < 0.5 else (rng.choice("XY"), begin)
        cuts = sorted(rng.sample(range(begin + 1, end), rng.randint(1, min(2, end - begin - 1))))
        edges = [begin, *cuts, end]
        return (rng.choice("XY"), *(nest(i, j) for i, j in itertools.pairwise(edges)))

    nested = nest(0, len(tokens))
    return ConstituencyTree.build(tokens, nested if isinstance(nested, tuple) else ("X", nested))


def random_sentence(rng: random.Random, size: int) -> ParsedSentence:
    dependency = random_tree(rng, size)
    return ParsedSentence.of(dependency, random_constituents(rng, dependency.tokens))


class World:
    """A small random corpus with its tables and language model."""

    def __init__(self, seed: int, folder: Path, grammar: str) -> None:
        self.rng = random.Random(seed)
        self.grammar = grammar
        pairs = []
        for _ in range(20):
            sentence = random_sentence(self.rng, self.rng.randint(2, 5))
            order = list(range(len(sentence)))
            if self.rng.random() < 0.5:
                self.rng.shuffle(order)
            target = [TARGET[WORDS.index(sentence.tokens.forms[j])] for j in order]
            links = [(j, i) for i, j in enumerate(order) if self.rng.random() < 0.85]
            if self.rng.random() < 0.3:
                target.insert(self.rng.randrange(len(target)), "x")
                links = [(j, i) for j, i in links if i < len(target)]
            pairs.append((sentence, target, links))
        self.sentences = [sentence for sentence, _, _ in pairs]
        (folder / "s").write_text("".join(" ".join(s.tokens.forms) + "\n" for s, _, _ in pairs))
        (folder / "t").write_text("".join(" ".join(t) + "\n" for _, t, _ in pairs))
        (folder / "a").write_text("".join(" ".join(f"{j}-{i}" for j, i in a) + "\n" for _, _, a in pairs))
        build_phrase_table(folder / "s", folder / "t", folder / "a", folder / "phrases", max_length=3)
        build_rule_table(grammar, parsed_bitext(pairs), folder / "rules")
        arpa = io.BytesIO()
        lm.estimate([(" ".join(t) + "\n").encode() for _, t, _ in pairs], arpa, order=3)
        (folder / "arpa").write_bytes(arpa.getvalue())
        self.model = lm.open_model(folder / "arpa")
        self.table, self.phrases = RuleTable(folder / "rules"), folder / "phrases"
        self.weights = {name: value + self.rng.uniform(-0.3, 0.3) for name, value in start_weights([grammar]).items()}
        self.weights["words"] = self.rng.uniform(-1, 1)

    def decoder(self, **limits: object) -> Decoder:
        off = {"stack_limit": 0, "stack_threshold": 0, "rule_limit": 0, "rule_threshold": 0, "phrase_limit": 0}
        more = {"grammars": {"label_sets": 10000}, "max_phrase_length": 3}
        return forest_decoder(
            {self.grammar: self.table},
            self.phrases,
            self.model,
            self.weights,
            **{**off, **more, **limits},  # type: ignore[arg-type]
        )


class Exhaustive:
    """All derivations of a sentence, kept as the best score (without language model) of every word sequence."""

    def __init__(self, world: World, sentence: ParsedSentence) -> None:
        self.world, self.sentence = world, sentence
        assert sentence.dependency is not None
        self.tree = sentence.dependency
        self.words, self.tags = sentence.tokens.forms, sentence.tokens.tags
        self.names = feature_names([world.grammar])
        self.rules: dict[str, list[tuple[tuple[str, ...], dict[str, float], tuple[tuple[int, int], ...]]]] = {}
        grammar = world.grammar
        for entry in world.table:
            values = (entry.target_given_source, entry.source_given_target, entry.lexical_target, entry.lexical_source)
            names = ("p_ts", "p_st", "lex_ts", "lex_st")
            scores = {f"{grammar}.{name}": safe_log(value) for name, value in zip(names, values, strict=True)}
            scores[f"{grammar}.rules"] = 1.0
            self.rules.setdefault(entry.source, []).append((tuple(entry.target.split()), scores, tuple(entry.labels)))
        from treeglot.tables import PhraseTable

        self.phrase_table = PhraseTable(world.phrases)
        self.known: dict[tuple[str, int, int], dict[tuple[str, ...], float]] = {}

    def weigh(self, features: dict[str, float], words: int) -> float:
        weights = self.world.weights
        return sum(weights[name] * value for name, value in features.items()) + weights["words"] * words

    def phrases(self, begin: int, end: int) -> dict[tuple[str, ...], float]:
        if end - begin > 3:
            return {}
        found: dict[tuple[str, ...], float] = {}
        for entry in self.phrase_table.lookup(" ".join(self.words[begin:end])):
            values = (entry.target_given_source, entry.source_given_target, entry.lexical_target, entry.lexical_source)
            names = ("p_ts", "p_st", "lex_ts", "lex_st")
            features = {f"phrases.{name}": safe_log(value) for name, value in zip(names, values, strict=True)}
            features["phrases.rules"] = 1.0
            target = tuple(entry.target.split()) if isinstance(entry.target, str) else tuple(entry.target)
            better(found, target, self.weigh(features, len(target)))
        return found

    def word(self, j: int) -> dict[tuple[str, ...], float]:
        return self.phrases(j, j + 1) or {(self.words[j],): self.weigh({"copied": 1.0}, 1)}

    def combine(
        self, target: tuple[str, ...], tails: list[dict[tuple[str, ...], float]], features: dict[str, float]
    ) -> dict[tuple[str, ...], float]:
        """Every filling of the variables of a target side."""
        found: dict[tuple[str, ...], float] = {}
        own = self.weigh(features, sum(not is_variable(item) for item in target))
        for choice in itertools.product(*(tail.items() for tail in tails)):
            words: list[str] = []
            for item in target:
                words.extend(choice[int(item[1:]) - 1][0] if is_variable(item) else (item,))
            better(found, tuple(words), own + sum(score for _, score in choice))
        return found

    def subtree(self, n: int) -> dict[tuple[str, ...], float]:
        if self.tree.is_leaf(n):
            return self.word(n)
        begin, end = self.tree.spans[n]
        found = dict(self.phrases(begin, end))
        members = sorted((n, *self.tree.children(n)))
        groups = self.groups(n)
        matched = False
        seen = set()
        for general in itertools.product([False, True], repeat=3):
            for form in self.forms(members, n, general, groups):
                source = write_source(form)
                if source in seen or source not in self.rules:
                    continue
                seen.add(source)
                if any(item[1] and item[1][0] == "group" and not self.tail(item[1]) for item in form):
                    continue  # nothing translates one of its phrasal nodes
                matched = True
                self.apply(form, self.rules[source], found)
        if not matched:
            parts = [self.word(m) if m == n else self.subtree(m) for m in members]
            variables = tuple(f"x{i + 1}" for i in range(len(parts)))
            for words, score in self.combine(variables, parts, {"pseudo": 1.0}).items():
                better(found, words, score)
        return found

    def groups(self, n: int) -> list[tuple[tuple[int, ...], str]]:
        if self.world.grammar != "consdep2str":
            return []
        report = phrasal_nodes(self.sentence)
        return [(node.members, f"{node.label}[{'_'.join(node.tags)}]") for node in report.at(n)]

    def forms(self, members, head, general, groups):  # type: ignore[no-untyped-def]
        """All readings of the members: a list of (text without number, tail or None, first word, last word + 1)."""

        def options(place: int):  # type: ignore[no-untyped-def]
            m = members[place]
            mark = "^" if m == head else ""
            tag, word = self.tags[m], self.words[m]
            begin, end = (m, m + 1) if m == head else self.tree.spans[m]
            if m != head and not self.tree.is_leaf(m):
                yield 1, (f"x:{tag}*" if general[1] else f"x:{word}*", ("subtree", m), begin, end), 0
            elif general[0] if m == head else general[2]:
                yield 1, (f"{mark}x:{tag}", ("word", m), begin, end), 0
                yield 1, (f"{mark}_:{tag}", None, begin, end), 0
            else:
                yield 1, (f"{mark}{word}", None, begin, end), 0
            for group, category in groups:
                if group[0] == m:
                    low = begin
                    last = group[-1]
                    high = last + 1 if last == head else self.tree.spans[last][1]
                    yield (
                        len(group),
                        (f"{'^' if head in group else ''}x:{category}", ("group", low, high), low, high),
                        1,
                    )

        def walk(place: int, phrasal: int):  # type: ignore[no-untyped-def]
            if place == len(members):
                yield []
                return
            for size, item, more in options(place):
                if phrasal + more <= 2:
                    for rest in walk(place + size, phrasal + more):
                        yield [item, *rest]

        return walk(0, 0)

    def tail(self, reference) -> dict[tuple[str, ...], float]:  # type: ignore[no-untyped-def]
        if reference not in self.known:
            kind, *where = reference
            if kind == "word":
                self.known[reference] = self.word(*where)
            elif kind == "subtree":
                self.known[reference] = self.subtree(*where)
            else:
                self.known[reference] = self.phrases(*where)
        return self.known[reference]

    def apply(self, form, rules, found) -> None:  # type: ignore[no-untyped-def]
        variables = [i for i, item in enumerate(form) if item[1] is not None]
        for target, features, labels in rules:
            tails = [self.tail(form[i][1]) for i in variables]
            for words, score in self.combine(target, tails, features).items():
                better(found, words, score)
            # Rules built on the fly: every non-empty set of labels that do not overlap.
            for size in range(1, len(labels) + 1):
                for chosen in itertools.combinations(sorted(labels), size):
                    if any(a[1] > b[0] for a, b in itertools.pairwise(chosen)):
                        continue
                    self.apply_labels(form, variables, target, features, chosen, found)

    def apply_labels(self, form, variables, target, features, chosen, found) -> None:  # type: ignore[no-untyped-def]
        owner = {}
        for number, (begin, end) in enumerate(chosen):
            for i in range(begin, end):
                owner[f"x{variables.index(i) + 1}"] = number
        merged: list[str] = []
        tails: list[dict[tuple[str, ...], float]] = []
        names: dict[object, str] = {}
        for item in target:
            if not is_variable(item):
                merged.append(item)
                continue
            key: object = owner.get(item, item)
            if key in names:
                if merged[-1] != names[key]:
                    return  # its variables stand apart
                continue
            names[key] = f"x{len(names) + 1}"
            merged.append(names[key])
            if isinstance(key, int):
                begin, end = chosen[key]
                tails.append(self.tail(("group", form[begin][2], form[end - 1][3])))
            else:
                tails.append(self.tail(form[variables[int(item[1:]) - 1]][1]))
        for words, score in self.combine(tuple(merged), tails, features).items():
            better(found, words, score)

    def best(self) -> tuple[float, dict[tuple[str, ...], float]]:
        weight = self.world.weights["lm"]
        totals = {
            words: score + weight * math.log(10) * self.world.model.score(" ".join(words))
            for words, score in self.subtree(self.tree.root).items()
        }
        return max(totals.values()), totals


def safe_log(value: float) -> float:
    return max(math.log(value), -100.0) if value > 0 else -100.0


def better(found: dict[tuple[str, ...], float], words: tuple[str, ...], score: float) -> None:
    if score > found.get(words, -math.inf):
        found[words] = score


def is_variable(item: str) -> bool:
    return item[0] == "x" and item[1:].isdigit()


def write_source(form) -> str:  # type: ignore[no-untyped-def]
    number = 0
    shown = []
    for text, tail, _, _ in form:
        if tail is not None:
            number += 1
            text = text.replace("x:", f"x{number}:", 1)
        shown.append(text)
    return " ".join(shown)


@pytest.mark.parametrize("grammar", ["dep2str", "augmented", "consdep2str"])
def test_equals_exhaustive_search(grammar: str, tmp_path: Path) -> None:
    compared = phrasal = built = 0
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        world = World(seed, folder, grammar)
        sentences = [random_sentence(world.rng, world.rng.randint(1, 4)) for _ in range(4)] + world.sentences[:4]
        results = world.decoder().translate(parsed_corpus(sentences), nbest=30, distinct=True)
        for sentence, result in zip(sentences, results, strict=True):
            score, totals = Exhaustive(world, sentence).best()
            assert result.score == pytest.approx(score, abs=2e-3), sentence
            ranked = sorted(totals.values(), reverse=True)
            assert [one.score for one in result.kbest] == pytest.approx(ranked[: len(result.kbest)], abs=2e-3)
            for one in result.kbest:
                assert totals[tuple(one.text.split())] == pytest.approx(one.score, abs=2e-3)
                assert one.derivation.words == tuple(one.text.split())
                total = sum(world.weights[name] * value for name, value in one.features.items())
                assert total == pytest.approx(one.score, abs=1e-3)
            compared += 1
            uses = [use for one in result.kbest for use in walk(one.derivation)]
            phrasal += any(use.is_phrasal for use in uses)
            built += any(use.grammar == grammar and any(c.kind == "group" for c in use.children) for use in uses)
    assert compared == 96
    if grammar == "consdep2str":
        assert phrasal > 3
    if grammar == "augmented":
        assert built > 3


def test_worked_example_is_translated_by_its_own_rules(tmp_path: Path) -> None:
    world = World(1, tmp_path, "consdep2str")
    pair = worked_example()
    links = [(link.source, link.target) for link in pair.word_links]
    build_rule_table(
        "consdep2str", parsed_bitext([(pair.source, pair.target.tokens.forms, links)]), tmp_path / "w.rules"
    )
    (tmp_path / "s").write_text(" ".join(pair.source.tokens.forms) + "\n")
    (tmp_path / "t").write_text(" ".join(pair.target.tokens.forms) + "\n")
    (tmp_path / "a").write_text(" ".join(f"{j}-{i}" for j, i in links) + "\n")
    build_phrase_table(tmp_path / "s", tmp_path / "t", tmp_path / "a", tmp_path / "w.phrases", max_length=2)
    decoder = forest_decoder(
        {"consdep2str": tmp_path / "w.rules"},
        tmp_path / "w.phrases",
        world.model,
        start_weights(["consdep2str"]),
    )
    result = decoder.translate(parsed_corpus([pair.source]))[0]
    assert result.text == "Intel will launch the first Ultrabook in Asia"
    # 超极 本 is no subtree: only the phrasal node NP[JJ_NN] keeps its translation together.
    uses = list(walk(result.derivation))
    assert any(use.is_phrasal for use in uses)
    assert [use.words for use in uses if use.kind == "group"] == [("Ultrabook",)]


@pytest.mark.parametrize("options", [{"phrasal_recursion": True}, {"partial_rules": True}, {"free_phrases": True}, {}])
def test_every_input_is_translated(options: dict[str, bool], tmp_path: Path) -> None:
    world = World(3, tmp_path, "consdep2str")
    rng = random.Random(5)
    sentences = [random_sentence(rng, rng.randint(1, 30)) for _ in range(60)]
    unknown = Tokens(["new", "a", "words"], xpos=["A", "Z", "B"])
    sentences.append(ParsedSentence.of(DependencyTree(unknown, [1, -1, 1]), random_constituents(rng, unknown)))
    decoder = forest_decoder({"consdep2str": world.table}, world.phrases, world.model, world.weights, grammars=options)
    results = decoder.translate(parsed_corpus(sentences), threads=2)
    assert all(result.derivation.words == tuple(result.text.split()) for result in results)
    assert {"new", "words"} <= set(results[-1].text.split())
    again = decoder.translate(parsed_corpus(sentences), threads=1)
    assert [one.text for one in again] == [one.text for one in results]


def test_flat_and_long_sentences(tmp_path: Path) -> None:
    world = World(4, tmp_path, "augmented")
    rng = random.Random(6)
    flat = DependencyTree(Tokens([rng.choice(WORDS) for _ in range(500)], xpos=["A"] * 500), [-1] + [0] * 499)
    long = random_tree(rng, 200)
    decoder = forest_decoder(
        {"augmented": world.table}, world.phrases, world.model, world.weights, grammars={"partial_rules": True}
    )
    results = decoder.translate(parsed_corpus([ParsedSentence.of(flat), ParsedSentence.of(long)]))
    assert all(len(result.text.split()) > 50 for result in results)


def test_refuses_what_does_not_fit(tmp_path: Path) -> None:
    world = World(5, tmp_path, "consdep2str")
    lone = Tokens(["a", "b"], xpos=["A", "B"])
    with pytest.raises(TreeglotError, match="sentence 1 has no constituency tree"):
        world.decoder().translate(parsed_corpus([ParsedSentence.of(DependencyTree(lone, [1, -1]))]))
    with pytest.raises(ConfigError, match="a table of consdep2str"):
        forest_decoder({"dep2str": world.table}, world.phrases, world.model, start_weights(["dep2str"]))
    with pytest.raises(ConfigError, match="unknown feature 'lmm'"):
        forest_decoder({"consdep2str": world.table}, world.phrases, world.model, {**world.weights, "lmm": 1.0})
    with pytest.raises(ConfigError, match="stack_limit is -1"):
        world.decoder(stack_limit=-1)
    assert world.decoder().translate(parsed_corpus([])) == []


def test_the_core_keeps_its_tables(tmp_path: Path) -> None:
    world = World(6, tmp_path, "dep2str")
    corpus = parsed_corpus(world.sentences)
    before = [result.text for result in world.decoder().translate(corpus)]
    decoder = world.decoder().core
    del world.table, world.phrases, world.model
    gc.collect()
    ballast = [RuleTable(tmp_path / "rules") for _ in range(5)]  # where freed tables may have been
    options = {"nbest": 1, "distinct": False, "with_steps": True, "threads": 1, "progress": None}
    found = decoder.translate(corpus.columns, 0, len(corpus), **options)  # type: ignore[arg-type]
    assert [result.text(0) for result in found] == before and len(ballast) == 5


@pytest.mark.parametrize("grammar", ["augmented", "consdep2str"])
def test_new_weights_for_an_old_decoder(grammar: str, tmp_path: Path) -> None:
    """What is kept between weights must not show: the results are those of a decoder of their own."""
    world = World(7, tmp_path, grammar)
    corpus = parsed_corpus([*world.sentences, *(random_sentence(world.rng, 8) for _ in range(10))])
    limits = {"rule_limit": 2, "phrase_limit": 2, "stack_limit": 20}
    decoder = world.decoder(**limits)
    for _ in range(4):
        world.weights = {name: value + world.rng.uniform(-0.5, 0.5) for name, value in world.weights.items()}
        decoder.set_weights(world.weights)
        for threads in (1, 2):
            kept = decoder.translate(corpus, nbest=10, distinct=True, threads=threads)
            fresh = world.decoder(**limits).translate(corpus, nbest=10, distinct=True, threads=1)
            for one, two in zip(kept, fresh, strict=True):
                assert [(t.score, t.features, t.derivation) for t in one.kbest] == [
                    (t.score, t.features, t.derivation) for t in two.kbest
                ]


def test_steps_add_up(tmp_path: Path) -> None:
    """What the steps of a derivation add to each feature is the feature's value, the language model's too."""
    world = World(8, tmp_path, "augmented")
    for result in world.decoder(grammars={"partial_rules": True}).translate(parsed_corpus(world.sentences)):
        uses = list(walk(result.derivation))
        for name, value in result.features.items():
            assert sum(use.features.get(name, 0.0) for use in uses) == pytest.approx(value, abs=1e-4)
        for use in uses:
            assert use.source and (use.grammar not in ("phrases", "copy") or not use.children)
            if use.grammar == "phrases":
                assert all(j < use.end - use.begin and i < len(use.words) for j, i in use.links)


def test_a_copied_word_that_some_table_translates_to(tmp_path: Path) -> None:
    """Lists are distinct whether a word was copied or translated, and whatever was translated before."""
    world = World(9, tmp_path, "dep2str")
    tokens = Tokens(["a", "u", "b"], xpos=["A", "B", "A"])  # u is a word of the target side only
    sentence = ParsedSentence.of(DependencyTree(tokens, [1, -1, 1]))
    alone = world.decoder().translate(parsed_corpus([sentence]), nbest=50, distinct=True)[0]
    after = world.decoder().translate(parsed_corpus([*world.sentences, sentence]), nbest=50, distinct=True, threads=1)
    texts = [one.text for one in alone.kbest]
    assert len(set(texts)) == len(texts) > 1
    assert texts == [one.text for one in after[-1].kbest]
