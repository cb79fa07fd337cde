"""The embedded example: what its pairs promise, that the phenomena are there, and that it is the same everywhere."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from treeglot import TreeglotError
from treeglot.examples import (
    Grammar,
    Sizes,
    Splits,
    generate,
    load_grammar,
    load_lexicon,
    nesting,
    parse_lexicon,
    parse_rules,
    splits,
    worked_example,
    write_example,
)
from treeglot.trees import AlignedPair, ConstituencyTree, NodeRef
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn
from treeglot.trees.phrasal import phrasal_nodes
from treeglot.trees.treejson import format_json, read_jsonl
from treeglot.trees.wordlinks import read_pharaoh

SMALL = Sizes(120, 15, 15, 15)
DIGEST = "2114f7c7f8f33278fdcf87d071be25beda69d983ec0140a3fff24a54b9079d5b"


@pytest.fixture(scope="module")
def parts() -> Splits:
    return splits(seed=1, sizes=Sizes(2000, 200, 200, 120))


@pytest.fixture(scope="module")
def pairs(parts: Splits) -> list[AlignedPair]:
    return [pair for part in parts for pair in part]


def tree_of(pair: AlignedPair, side: str) -> ConstituencyTree:
    tree = (pair.source if side == "zh" else pair.target).constituency
    assert tree is not None
    return tree


def target_words(pair: AlignedPair) -> dict[int, list[int]]:
    links: dict[int, list[int]] = defaultdict(list)
    for link in pair.word_links:
        links[link.source].append(link.target)
    return links


def source_words(pair: AlignedPair) -> dict[int, list[int]]:
    links: dict[int, list[int]] = defaultdict(list)
    for link in pair.word_links:
        links[link.target].append(link.source)
    return links


# ---- invariants ----


def test_both_sides_have_both_trees_over_the_same_words(pairs: list[AlignedPair]) -> None:
    for pair in pairs:
        for sentence in (pair.source, pair.target):
            assert sentence.dependency is not None and sentence.constituency is not None
            assert sentence.dependency.tokens.forms == sentence.constituency.tokens.forms == sentence.tokens.forms
            assert sentence.constituency.is_continuous
            assert "_" not in sentence.tokens.xpos and "_" not in sentence.tokens.upos
            assert "dep" not in {
                rel
                for rel, tag in zip(sentence.dependency.deprels, sentence.tokens.xpos, strict=True)
                if tag != "SP" and tag != "VBG"
            }


def test_constituents_and_dependencies_agree_on_heads(pairs: list[AlignedPair]) -> None:
    """In the projective trees, every constituent has exactly one word whose head is outside of it."""
    for pair in pairs:
        for sentence in (pair.source, pair.target):
            dependency, constituency = sentence.dependency, sentence.constituency
            assert dependency is not None and constituency is not None
            if not dependency.is_projective:
                continue
            for words in constituency.yields:
                inside = set(words)
                outward = [j for j in words if dependency.heads[j] not in inside]
                assert len(outward) == 1, (sentence.text, [sentence.tokens.forms[j] for j in words])


def test_chinese_is_projective_and_some_english_is_not(pairs: list[AlignedPair]) -> None:
    assert all(pair.source.dependency is not None and pair.source.dependency.is_projective for pair in pairs)
    crossing = sum(pair.target.dependency is not None and not pair.target.dependency.is_projective for pair in pairs)
    assert 20 <= crossing <= len(pairs) // 10


def ancestors(tree: ConstituencyTree, node: NodeRef) -> Iterator[NodeRef]:
    node = tree.parent(node)
    while node >= 0:
        yield node
        node = tree.parent(node)


def test_node_links_are_well_formed_and_consistent_with_word_links(pairs: list[AlignedPair]) -> None:
    for pair in pairs:
        zh, en = tree_of(pair, "zh"), tree_of(pair, "en")
        forward = {link.source: link.target for link in pair.node_links}
        backward = {link.target: link.source for link in pair.node_links}
        fuzzy = {(link.source, link.target) for link in pair.node_links if link.kind == "fuzzy"}
        assert len(fuzzy) <= 1, "only the clauses of 因为 … 所以, 虽然 … 但是, 一 … 就"
        assert len(forward) == len(backward) == len(pair.node_links), "a node is linked once"
        for source, target in forward.items():
            above_source = {forward[node] for node in ancestors(zh, source) if node in forward}
            above_target = {node for node in ancestors(en, target) if node in backward}
            assert above_source == above_target, pair.source.text
            inside, outside = set(zh.words(source)), set(en.words(target))
            if (source, target) not in fuzzy:
                for link in pair.word_links:
                    assert (link.source in inside) == (link.target in outside), pair.source.text
        assert forward[0] == 0


LINKED_ZH = frozenset(("NN", "NR", "NT", "VV", "VA", "VC", "VE", "JJ", "CD", "OD", "PN", "DT", "P", "CC", "CS"))
FREE_ENGLISH = frozenset(("get", "travel"))  # "is getting more and more", "it takes ... to travel"


def test_content_words_are_linked(pairs: list[AlignedPair]) -> None:
    for pair in pairs:
        forward, backward = target_words(pair), source_words(pair)
        for j, token in enumerate(pair.source.tokens):
            assert j in forward or token.xpos not in LINKED_ZH, (pair.source.text, token.form)
        for i, token in enumerate(pair.target.tokens):
            content = token.upos in ("NOUN", "PROPN", "VERB", "ADJ", "NUM")
            assert i in backward or not content or token.lemma in FREE_ENGLISH, (pair.target.text, token.form)


# ---- English and Chinese forms ----


def test_articles_fit_the_next_word(pairs: list[AlignedPair]) -> None:
    for pair in pairs:
        text = f" {' '.join(pair.target.tokens.forms)} "
        assert not re.search(r"(?i) a (?!uni|use|eu)[aeiou]| an (?!hour)[^aeiou]| an uni", text), text
        assert not re.search(r" (a|an|the|this|every) (a|an|the|this|that|my|his|her|our|your|their) ", text), text


def test_verbs_agree_with_pronouns_next_to_them(pairs: list[AlignedPair]) -> None:
    seen: Counter[str] = Counter()
    for pair in pairs:
        tokens = pair.target.tokens
        for here, following in pairwise(tokens):
            if here.xpos == "PRP" and here.form in ("he", "she", "it") and following.upos in ("VERB", "AUX"):
                if tokens.forms[0] not in ("do", "does", "did", "can", "what", "where", "when"):
                    assert following.xpos in ("VBZ", "VBD", "MD"), pair.target.text
                seen["third"] += following.xpos == "VBZ"
            if here.xpos == "PRP" and here.form in ("I", "we", "they") and following.upos in ("VERB", "AUX"):
                assert following.xpos != "VBZ", pair.target.text
                seen["other"] += following.xpos == "VBP"
        assert not re.search(r"\b(he|she|it) (do|have|are|were)\b|\b(they|we) (is|was|does|has)\b", pair.target.text)
    assert seen["third"] > 10 and seen["other"] > 10


def test_numbers_take_plurals_and_singular_determiners_take_singulars(pairs: list[AlignedPair]) -> None:
    plural = frozenset(("these", "many", "several"))
    singular = frozenset(("a", "an", "this", "every"))
    seen: Counter[str] = Counter()
    for pair in pairs:
        tree = pair.target.dependency
        assert tree is not None
        for j, token in enumerate(pair.target.tokens):
            head = tree.heads[j]
            if tree.deprels[j] == "num" and token.xpos == "CD":
                assert pair.target.tokens.xpos[head] == "NNS", pair.target.text
                seen["number"] += 1
            elif token.form in plural and tree.deprels[j] in ("det", "amod"):
                assert pair.target.tokens.xpos[head] == "NNS", pair.target.text
                seen["many"] += 1
            elif token.form in singular and tree.deprels[j] == "det":
                assert pair.target.tokens.xpos[head] in ("NN", "NNP"), pair.target.text
                seen["one"] += 1
    assert min(seen["number"], seen["many"], seen["one"]) > 100


def test_measure_words_agree_with_their_nouns(pairs: list[AlignedPair]) -> None:
    allowed: dict[str, set[str]] = defaultdict(set)
    for entry in load_lexicon().entries:
        if "m" in entry.attributes:
            allowed[entry.zh[-1].form].add(entry.attributes["m"])
    seen: Counter[str] = Counter()
    for pair in pairs:
        tree = pair.source.dependency
        assert tree is not None
        for j, token in enumerate(pair.source.tokens):
            if token.xpos == "M" and tree.deprels[j] == "clf":
                assert token.form in allowed[pair.source.tokens.forms[tree.heads[j]]], pair.source.text
                seen[token.form] += 1
    assert len(seen) >= 20


def test_tense_follows_the_time(pairs: list[AlignedPair]) -> None:
    for pair in pairs:
        zh, en = pair.source.tokens, pair.target.tokens
        tree = pair.target.dependency
        assert tree is not None
        for j, i in ((link.source, link.target) for link in pair.word_links):
            if zh.forms[j] not in ("昨天", "明天", "去年", "明年") or tree.deprels[i] != "tmod":
                continue
            head = tree.heads[i]
            around = {en.forms[k] for k in tree.children(head)} | {en.forms[head], en.forms[tree.heads[head]]}
            future = bool(around & {"will", "going"})
            assert future == (zh.forms[j] in ("明天", "明年")), pair.target.text


# ---- phenomena ----


def phenomena(pair: AlignedPair) -> set[str]:
    """The names of the phenomena found in a pair, by its structure."""
    names: set[str] = set()
    zh, en = pair.source, pair.target
    assert zh.dependency is not None and en.dependency is not None
    assert zh.constituency is not None and en.constituency is not None
    forward, backward = target_words(pair), source_words(pair)
    tags = zh.tokens.xpos
    for j, head in enumerate(zh.dependency.heads):
        relation = zh.dependency.deprels[j]
        if relation == "prep" and j < head and forward[j] and forward[head] and min(forward[j]) > min(forward[head]):
            names.add("prepositional phrase moves over the verb")
        if (
            relation == "rcmod"
            and tags[j] != "VA"
            and forward[j]
            and forward[head]
            and forward[j][0] > forward[head][0]
        ):
            names.add("relative clause moves over the noun")
        if relation == "tmod" and j < head and forward[j] and forward[head] and max(forward[j]) > max(forward[head]):
            names.add("time moves over the verb")
        if relation == "top" and forward[j] and forward[head] and forward[j][0] > forward[head][0]:
            names.add("topic")
    names.update({"BA": "ba", "LB": "bei with agent", "SB": "bei without agent"}.get(tag, "") for tag in tags)
    if any(tag == "M" and j not in forward for j, tag in enumerate(tags)):
        names.add("unaligned measure word")
    if any(tag == "M" and j in forward for j, tag in enumerate(tags)):
        names.add("aligned measure word")
    for j, tag in enumerate(tags):
        if tag == "LC":
            names.add("localiser")
        if tag in ("DEC", "DEG") and j not in forward:
            names.add("unaligned 的")
        if tag == "AS" and j not in forward:
            names.add("unaligned 了")
    for i, token in enumerate(en.tokens):
        if i not in backward:
            names.add({"DT": "unaligned article", "IN": "unaligned preposition"}.get(token.xpos, ""))
            if token.lemma == "do" and token.upos == "AUX":
                names.add("do-support")
    for words in backward.values():
        if len(words) > 1:
            names.add("many to one")
            if max(words) - min(words) >= len(words):
                names.add("discontinuous source")
    for j, words in forward.items():
        if len(words) > 1:
            names.add("one to many")
            if max(words) - min(words) >= len(words) and tags[j] == "VV":
                names.add("discontinuous target")
                if any(en.tokens.xpos[i] == "RP" for i in words):
                    names.add("particle verb around its object")
    forms = set(zh.tokens.forms)
    for name, marks in {
        "如果 … 的话": ("如果", "的话"), "因为 … 所以": ("因为", "所以"), "从 … 到": ("从", "到"), "一 … 就": ("一", "就"),
        "越 … 越": ("越",), "越来越": ("越来越",), "连 … 都": ("连", "都"), "除了 … 以外": ("除了", "以外"),
        "之间": ("之间",), "不 … 吗": ("不", "吗"), "虽然 … 但是": ("虽然", "但是"), "首": ("首",),
    }.items():  # fmt: skip
        if forms.issuperset(marks):
            names.add(name)
    if any(node.members for node in phrasal_nodes(zh).nodes):
        names.add("non-syntactic phrase")
    if not en.dependency.is_projective:
        names.add("non-projective English")
    return names - {""}


MINIMUM = {
    "prepositional phrase moves over the verb": 300, "relative clause moves over the noun": 200, "topic": 60, "ba": 80,
    "time moves over the verb": 300, "bei with agent": 40, "bei without agent": 60, "unaligned measure word": 700,
    "aligned measure word": 10, "localiser": 200, "unaligned 的": 400, "unaligned 了": 300, "unaligned article": 700,
    "unaligned preposition": 50, "do-support": 100, "many to one": 300, "discontinuous source": 200, "one to many": 300,
    "discontinuous target": 20, "particle verb around its object": 20, "如果 … 的话": 20, "因为 … 所以": 20,
    "从 … 到": 10, "一 … 就": 20, "越 … 越": 10, "越来越": 10, "连 … 都": 10, "除了 … 以外": 10, "之间": 5,
    "不 … 吗": 20, "虽然 … 但是": 20, "首": 15, "non-syntactic phrase": 1500, "non-projective English": 20,
}  # fmt: skip


def test_every_phenomenon_occurs(parts: Splits) -> None:
    counts: Counter[str] = Counter()
    for part in parts:
        for pair in part:
            counts.update(phenomena(pair))
    assert {name: counts[name] for name, least in MINIMUM.items() if counts[name] < least} == {}


def test_words_are_ambiguous_until_their_context_is_known(pairs: list[AlignedPair]) -> None:
    translations: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for j, i in ((link.source, link.target) for link in pair.word_links):
            if pair.target.tokens.upos[i] == "VERB":
                translations[pair.source.tokens.forms[j]][pair.target.tokens.lemmas[i]] += 1
    for verb, meanings in {
        "看": {"read", "watch", "see", "look"}, "打": {"play", "make"}, "开": {"drive", "hold", "open"},
        "送": {"give", "take"}, "带": {"bring", "take"},
    }.items():  # fmt: skip
        assert meanings <= set(translations[verb]), verb


def test_reordering_is_long_where_structures_are_long(parts: Splits) -> None:
    def jumps(part: list[AlignedPair]) -> list[int]:
        """Target distance between the translations of neighbouring source words."""
        result = []
        for pair in part:
            links = target_words(pair)
            firsts = [min(links[j]) for j in range(len(pair.source)) if links[j]]
            result.extend(abs(b - a - 1) for a, b in pairwise(firsts))
        return result

    ordinary, long = jumps(parts.test), jumps(parts.test_long)
    assert sum(jump > 6 for jump in long) / len(long) > 1.5 * sum(jump > 6 for jump in ordinary) / len(ordinary)
    assert sum(max(jumps([pair])) > 6 for pair in parts.test_long) / len(parts.test_long) > 0.9
    assert 0.1 < sum(max(jumps([pair])) > 6 for pair in parts.test) / len(parts.test) < 0.6


# ---- the parts ----


def test_long_test_exceeds_training(parts: Splits) -> None:
    ordinary = [*parts.train, *parts.dev, *parts.test]
    for side in (lambda pair: pair.source, lambda pair: pair.target):
        assert max(len(side(pair)) for pair in ordinary) < min(len(side(pair)) for pair in parts.test_long)
    deepest = max(nesting(tree_of(pair, "zh")) for pair in ordinary)
    assert deepest < min(nesting(tree_of(pair, "zh")) for pair in parts.test_long)

    def height(pair: AlignedPair) -> int:
        tree = tree_of(pair, "zh")
        return max(sum(1 for _ in ancestors(tree, ~j)) for j in range(len(pair.source)))

    assert max(map(height, ordinary)) < max(map(height, parts.test_long))


def test_no_sentence_is_in_two_parts_or_twice(pairs: list[AlignedPair]) -> None:
    for side in ("source", "target"):
        texts = [" ".join(getattr(pair, side).tokens.forms) for pair in pairs]
        assert len(set(texts)) == len(texts)
    assert len({pair.id for pair in pairs}) == len(pairs)


def test_tests_use_the_words_of_training(parts: Splits) -> None:
    known = {form for pair in parts.train for form in pair.source.tokens.forms}
    for part in (parts.dev, parts.test, parts.test_long):
        words = [form for pair in part for form in pair.source.tokens.forms]
        assert sum(form not in known for form in words) / len(words) < 0.005


def test_sentences_are_varied(parts: Splits) -> None:
    shapes = Counter(tuple(pair.source.tokens.xpos) for pair in parts.train)
    assert len(shapes) > len(parts.train) / 2
    assert shapes.most_common(1)[0][1] < len(parts.train) / 20


def test_lexicon_is_large_and_used(pairs: list[AlignedPair]) -> None:
    entries = load_lexicon().entries
    assert len(entries) >= 500
    assert len({(entry.zh, entry.en, entry.category) for entry in entries}) > 0.97 * len(entries)
    used = {form for pair in pairs for form in pair.source.tokens.forms}
    unused = {word.form for entry in entries for word in entry.zh} - used
    assert len(unused) <= 0.02 * len(entries), unused


# ---- the same everywhere ----


def digest(parts: Splits) -> str:
    text = "\n".join(format_json(pair) for part in parts for pair in part)
    return hashlib.sha256(text.encode()).hexdigest()


def test_same_seed_same_bytes_in_every_process() -> None:
    assert digest(splits(seed=1, sizes=SMALL)) == DIGEST
    code = "from treeglot.examples import *; from test_examples import SMALL, digest; print(digest(splits(1, SMALL)))"
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parent)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.strip() == DIGEST
    assert digest(splits(seed=2, sizes=SMALL)) != DIGEST


def test_weights_add_up_exactly() -> None:
    """Versions of Python differ in how they add floating-point numbers; multiples of a quarter have no rounding."""
    weights = [w for rules in load_grammar().rules.values() for rule in rules for w in (rule.weight, rule.long_weight)]
    weights += [float(entry.attributes.get("w", "1")) for entry in load_lexicon().entries]
    assert all((4 * weight).is_integer() and weight >= 0 for weight in weights)


def test_a_smaller_corpus_starts_like_a_larger_one() -> None:
    few, more = list(generate(5, seed=3)), list(generate(9, seed=3))
    assert few == more[:5]


def test_depth_bounds_embedding() -> None:
    for pair in generate(100, seed=1, max_depth=0):
        forms = pair.source.tokens.forms
        assert "、" not in forms and "如果" not in forms and "因为" not in forms
        assert not any(
            pair.source.tokens.xpos[j] == "VV" and rel == "rcmod"
            for j, rel in enumerate(pair.source.dependency.deprels)
        )  # type: ignore[union-attr]


def test_files_hold_the_corpus(tmp_path: Path) -> None:
    sizes = Sizes(20, 3, 3, 2)
    written = write_example(tmp_path, seed=4, sizes=sizes)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    for name, part in splits(4, sizes)._asdict().items():
        assert list(read_jsonl(tmp_path / f"{name}.jsonl")) == part
        for language, side in (("zh", "source"), ("en", "target")):
            sentences = [getattr(pair, side) for pair in part]
            lines = (tmp_path / f"{name}.{language}").read_text("utf-8").splitlines()
            assert lines == [" ".join(sentence.tokens.forms) for sentence in sentences]
            read = list(read_conllu(tmp_path / f"{name}.{language}.conllu"))
            assert [(s.tokens, s.dependency, s.id) for s in read] == [(s.tokens, s.dependency, s.id) for s in sentences]
            for parsed, sentence in zip(read_penn(tmp_path / f"{name}.{language}.penn"), sentences, strict=True):
                tree = getattr(parsed, "constituency", parsed)
                assert (tree.labels, tree.children) == (sentence.constituency.labels, sentence.constituency.children)
                assert tree.tokens.tags == sentence.tokens.tags
        links = [entry.links for entry in read_pharaoh(tmp_path / f"{name}.align")]
        assert [[tuple(link[:2]) for link in pair_links] for pair_links in links] == [
            [tuple(link[:2]) for link in pair.word_links] for pair in part
        ]
    before = {path.name: path.read_bytes() for path in written}
    write_example(tmp_path, seed=4, sizes=sizes)
    assert before == {path.name: path.read_bytes() for path in written}


# ---- the worked example, and grammars of one's own ----


def test_worked_example_is_the_one_of_the_notation() -> None:
    pair = worked_example()
    assert " ".join(f"{link.source + 1}-{link.target + 1}" for link in pair.word_links) == (
        "1-1 2-2 3-3 4-7 4-8 5-4 5-5 7-6 8-6"
    )
    assert pair.source.dependency is not None and pair.source.constituency is not None
    forms = pair.source.tokens.forms
    heads = {forms[j]: forms[h] if h >= 0 else "ROOT" for j, h in enumerate(pair.source.dependency.heads)}
    assert heads == {
        "英特尔": "推出", "将": "推出", "推出": "ROOT", "亚洲": "本", "首": "款", "款": "本", "超极": "本", "本": "推出"
    }  # fmt: skip
    tree = pair.source.constituency
    spans = [f"{label}[{a + 1}-{b}]" for label, (a, b) in zip(tree.labels, tree.spans, strict=True)]
    assert spans == [
        "IP[1-8]",
        "NP[1-1]",
        "VP[2-8]",
        "ADVP[2-2]",
        "VP[3-8]",
        "NP[4-8]",
        "NP[4-4]",
        "QP[5-6]",
        "NP[7-8]",
    ]
    test_node_links_are_well_formed_and_consistent_with_word_links([pair])


def test_a_grammar_of_ones_own() -> None:
    import random

    lexicon = parse_lexicon("@noun\tNN\tNN\tm=只\nnoun\t狗\tdog\t\n@verb\tVV\tVB\t\nverb\t跑\trun\tpast=ran\n")
    rules = parse_rules(
        "TOP.all 1\n  n = noun\n  v = verb\n  x = one sg pl\n"
        "  zh: (IP (NP:nsubj n) (VP* v* 了/AS:asp))\n  en: (S (NP:nsubj the/DT:det n.x*) (VP* v.pres))\n"
    )
    grammar = Grammar.of(rules, lexicon)
    chance = random.Random(1)
    texts = {grammar.sample(chance).target.text for _ in range(20)}
    assert texts == {"the dog runs", "the dogs run"}


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("TOP.a 1\n  zh: (IP a b)\n", "0 heads", 2),
        ("TOP.a 1\n  zh: (IP a* b)\n", "no relation", 2),
        ("TOP.a 1\n  zh: (IP a*\n", "not one tree", 2),
        ("TOP.a 1\n  zh: (IP a*))\n", "bracket", 2),
        ("TOP 1\n", "head line", 1),
        ("TOP.a 1 if x\n", "not a condition", 1),
        ("  zh: (IP a)\n", "outside of a rule", 1),
        ("TOP.a 1\n  en: (S a)\n", "en: before zh:", 2),
    ],
)
def test_broken_rules_say_where(text: str, says: str, line: int) -> None:
    with pytest.raises(TreeglotError) as caught:
        parse_rules(text)
    assert says in caught.value.message and caught.value.line == line and caught.value.remedy


def test_broken_grammars_and_requests_are_refused() -> None:
    with pytest.raises(TreeglotError, match="no rule for NP"):
        Grammar.of(parse_rules("TOP.a 1\n  x = NP\n  zh: x\n  en: x\n"), load_lexicon())
    with pytest.raises(TreeglotError, match="unknown class"):
        parse_lexicon("noun\t狗\tdog\n")
    with pytest.raises(TreeglotError, match="negative"):
        splits(sizes=Sizes(-1, 0, 0, 0))
    with pytest.raises(TreeglotError, match="embedding"):
        next(generate(1, long=True, max_depth=1))


def test_all_rules_are_reachable() -> None:
    import random

    from treeglot.examples.derivation import DeadEnd, Derivation, TooLong

    grammar = load_grammar()
    chance = random.Random(11)
    used: set[str] = set()
    for number in range(4000):
        derivation = Derivation(
            grammar.rules, grammar.lexicon, chance, depth=number % 3, long=number % 5 == 0, limit=40
        )
        try:
            derivation.run("TOP")
        except (DeadEnd, TooLong):
            continue
        used.update(derivation.used_rules)
    names = {f"{rule.category}.{rule.name}" for rules in grammar.rules.values() for rule in rules}
    assert names - used == set()
