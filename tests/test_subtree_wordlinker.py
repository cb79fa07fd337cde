"""Word links learnt from linked text, and the boosted trees that judge them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import worlds
from tree_strategies import phrases
from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.features import WordEvidence
from treeglot.alignment.subtrees.wordlinker import WordLinker, cross_fitted
from treeglot.alignment.subtrees.wordpairs import PAIR_FEATURES, LinkStatistics, likeness, pair_features
from treeglot.errors import TreeglotError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.heads import lexical_heads
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.tokens import Tokens

pytest.importorskip("sklearn")


def test_boosted_trees_say_what_the_library_says():
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(3)
    x = rng.normal(size=(800, 5)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=800) > 0
    trees = BoostedTrees.fit(x, y, trees=20, leaves=8)
    machine = HistGradientBoostingClassifier(
        max_iter=20, max_leaf_nodes=8, learning_rate=0.1, l2_regularization=1.0, early_stopping=False, random_state=0
    ).fit(x, y)
    more = rng.normal(size=(300, 5)).astype(np.float32)
    np.testing.assert_allclose(trees.chances(more), machine.predict_proba(more)[:, 1], rtol=1e-6)
    again = BoostedTrees.of_state(trees.state())
    np.testing.assert_array_equal(trees.log_odds(more), again.log_odds(more))
    broken = trees.state() | {"left": trees.left + 10_000}
    with pytest.raises(ValueError, match="not boosted trees"):
        BoostedTrees.of_state(broken)


def sentence(words: list[str], tags: list[str]) -> ParsedSentence:
    tokens = Tokens(words, xpos=tags)
    return ParsedSentence(tokens, constituency=ConstituencyTree.build(tokens, ("S", ("NP", 0, 1), 2)))


def corpus() -> tuple[list[AlignedPair], list[WordEvidence]]:
    """Articles are linked only with "der"; the aligner links every article with every article, and verbs with nothing."""
    rng = np.random.default_rng(1)
    nouns, verbs = ["Hund", "Baum", "Mann", "Ball"], ["bellt", "fällt", "geht", "rollt"]
    pairs, evidence = [], []
    for _ in range(240):
        n, v, a = rng.integers(4), rng.integers(4), ["der", "ein"][rng.integers(2)]
        source = sentence([a, nouns[n], verbs[v]], ["ART", "NN", "VV"])
        target = sentence(["the", f"noun{n}", f"verb{v}"], ["DT", "NN", "VB"])
        links = [Link(1, 1), Link(2, 2), *([Link(0, 0)] if a == "der" else [])]
        pairs.append(AlignedPair(source, target, links))
        known = np.diag([0.9, 0.9, 0.0])
        evidence.append(WordEvidence(known, known, known > 0.5, known))
    return pairs, evidence


def test_the_linker_learns_how_words_were_linked():
    pairs, evidence = corpus()
    linker = WordLinker.fit(pairs[:180], evidence[:180])
    bare = [AlignedPair(pair.source, pair.target) for pair in pairs[180:]]  # the links of new text are not known
    improved = linker.improve(bare, evidence[180:])
    for pair, new in zip(pairs[180:], improved, strict=True):
        assert sorted(zip(*np.nonzero(new.links), strict=True)) == sorted(link[:2] for link in pair.word_links)
    again = WordLinker.of_state(linker.state())
    for one, other in zip(improved, again.improve(bare, evidence[180:]), strict=True):
        np.testing.assert_array_equal(one.chances, other.chances)


def test_a_group_is_judged_without_its_own_links():
    pairs, evidence = corpus()
    groups = [k % 3 for k in range(len(pairs))]
    before = cross_fitted(pairs, evidence, groups)
    changed = [
        AlignedPair(p.source, p.target, [Link(0, 2)]) if g == 1 else p for p, g in zip(pairs, groups, strict=True)
    ]
    after = cross_fitted(changed, evidence, groups)
    same = [np.array_equal(a.chances, b.chances) for a, b in zip(before, after, strict=True)]
    assert all(equal for equal, group in zip(same, groups, strict=True) if group == 1)
    assert not all(same)
    with pytest.raises(TreeglotError, match="one group"):
        cross_fitted(pairs, evidence, [0] * len(pairs))


def test_without_linked_words_there_is_nothing_to_learn():
    pairs, evidence = corpus()
    with pytest.raises(TreeglotError, match="no links between words"):
        WordLinker.fit([AlignedPair(pair.source, pair.target) for pair in pairs], evidence)


def test_counts_survive_saving_with_odd_words():
    tokens = Tokens(["a\\n", "\\", "b"], xpos=["X", "Y", "\\t"])
    tree = ConstituencyTree.build(tokens, ("S", 0, 1, 2))
    pair = AlignedPair(
        ParsedSentence.of(constituency=tree), ParsedSentence.of(constituency=tree), [Link(0, 1), Link(2, 2)]
    )
    counts = LinkStatistics.count([pair])
    assert counts.links == {("a\\n", "\\"): 1, ("b", "b"): 1}
    assert counts.tag_pairs["X", "Y"] == 1
    assert LinkStatistics.of_state(counts.state()) == counts
    assert LinkStatistics.of_state(LinkStatistics().state()) == LinkStatistics()
    assert LinkStatistics.sum([counts, counts]).words[0, "b"] == 2


def test_likeness_ignores_accents_and_common_differences_of_spelling():
    alike, start = likeness(["Kooperation", "Perú", "2009", "und"], ["cooperación", "Peru", "2009", "y"])
    assert alike[0, 0] > 0.7
    assert alike[1, 1] == alike[2, 2] == start[1, 1] == 1
    assert alike[3, 3] == start[3, 3] == 0


def test_features_need_no_tree_and_no_words():
    tokens = Tokens(["a"], xpos=["X"])
    pair = AlignedPair(ParsedSentence(tokens), ParsedSentence(tokens))
    features = pair_features(pair, WordEvidence([[0.5]], [[0.5]], [[1]]), LinkStatistics())
    assert features.shape == (1, 1, len(PAIR_FEATURES))
    assert np.isfinite(features).all()


FORMS, TAGS = ("der", "Hund", "hunde", "und", ",", "2009", "Ärzte"), ("D", "N", "Y")


@st.composite
def linked_pairs(draw: st.DrawFn) -> AlignedPair:
    sides = []
    for _ in range(2):
        forms = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=5))
        tokens = Tokens(forms, xpos=[draw(st.sampled_from(TAGS)) for _ in forms])
        tree = draw(phrases(tokens)) if draw(st.booleans()) else None
        sides.append(ParsedSentence(tokens, constituency=tree))
    ends = st.tuples(*(st.integers(0, len(side.tokens) - 1) for side in sides))
    links = [Link(*link) for link in draw(st.sets(ends, max_size=5))]
    return AlignedPair(sides[0], sides[1], links)


def slow_pair_features(
    pair: AlignedPair, evidence: WordEvidence, learnt: list[AlignedPair], u: int, v: int
) -> dict[str, float]:
    """Those of one pair of words, as their names say."""
    rows, columns = evidence.shape
    sentences = pair.source, pair.target
    forms = [side.tokens.forms for side in sentences]
    own = [forms[0][u], forms[1][v]]
    tags = [side.tokens.tags[k] for side, k in zip(sentences, (u, v), strict=True)]
    chances = evidence.chances

    def chance(a: int, b: int) -> float:
        return chances[a, b] if 0 <= a < rows and 0 <= b < columns else 0.0

    values: dict[str, float] = {}

    def compared(name: str, matrix: np.ndarray) -> None:
        others = [matrix[u, b] for b in range(columns) if b != v], [matrix[a, v] for a in range(rows) if a != u]
        for side, rest in zip(("row", "column"), others, strict=True):
            values[f"{name}_{side}"] = matrix[u, v] - max(rest, default=0.0)

    def head(k: int, side: ParsedSentence) -> int:
        """The head of the phrase that a word is in."""
        tree = side.constituency
        return k if tree is None or not tree.labels else lexical_heads(tree, style="content")[tree.parent(~k)]

    def inside(k: int, side: ParsedSentence) -> set[int]:
        tree = side.constituency
        return {k} if tree is None or not tree.labels else set(tree.yields[tree.parent(~k)])

    links = [
        (p.source.tokens.forms[a].lower(), p.target.tokens.forms[b].lower())
        for p in learnt
        for a, b, *_ in p.word_links
    ]
    seen = [Counter(form.lower() for p in learnt for form in side(p).tokens.forms) for side in (_source, _target)]

    def lexicon(a: int, b: int) -> tuple[float, float]:
        count = links.count((forms[0][a].lower(), forms[1][b].lower()))
        return count / (seen[0][forms[0][a].lower()] + 0.5), count / (seen[1][forms[1][b].lower()] + 0.5)

    table = np.sqrt(evidence.target_given_source * evidence.source_given_target)
    alike, same_start = likeness(*forms)
    for name, matrix in (("chance", chances), ("table", table), ("alike", alike), ("dictionary", evidence.dictionary)):
        values[name] = 0.0 if matrix is None else matrix[u, v]
        compared(name, np.zeros((rows, columns)) if matrix is None else matrix)
    compared("lexicon", np.array([[math.sqrt(math.prod(lexicon(a, b))) for b in range(columns)] for a in range(rows)]))
    values["lexicon_forward"], values["lexicon_backward"] = lexicon(u, v)
    values["link"], values["same_start"] = evidence.links[u, v], same_start[u, v]
    values["distance"] = abs(u / rows - v / columns)
    values["before"], values["after"] = chance(u - 1, v - 1), chance(u + 1, v + 1)
    values["swapped_before"], values["swapped_after"] = chance(u - 1, v + 1), chance(u + 1, v - 1)
    near = (-2, -1, 0, 1, 2)
    values["around"] = math.log1p(sum(chance(u + a, v + b) for a in near for b in near if (a, b) != (0, 0)))
    heads = head(u, pair.source), head(v, pair.target)
    values["heads"] = chances[heads]
    mine, theirs = inside(u, pair.source), inside(v, pair.target)
    words = [[k for k, form in enumerate(side) if form != ","] for side in forms]
    common = sum(chances[a, b] for a in words[0] for b in words[1] if a in mine and b in theirs)
    of_mine = sum(chances[a, b] for a in words[0] for b in words[1] if a in mine)
    of_theirs = sum(chances[a, b] for a in words[0] for b in words[1] if b in theirs)
    first, second = (common + 0.01) / (of_mine + 0.02), (common + 0.01) / (of_theirs + 0.02)
    values["phrases"] = 2 / (1 / first + 1 / second)
    values["capitals"] = own[0][0].isupper() and own[1][0].isupper()
    tag_links = [(p.source.tokens.tags[a], p.target.tokens.tags[b]) for p in learnt for a, b, *_ in p.word_links].count(
        (tags[0], tags[1])
    )
    tag_pairs = sum(p.source.tokens.tags.count(tags[0]) * p.target.tokens.tags.count(tags[1]) for p in learnt)
    values["tags"] = math.log((tag_links + 0.5) / (tag_pairs + 50))
    for place, (name, side) in enumerate((("source", _source), ("target", _target))):
        form, tag = own[place].lower(), tags[place]
        ends = [(side(p).tokens, {link[place] for link in p.word_links}) for p in learnt]
        often = sum(tokens.forms[k].lower() == form for tokens, linked in ends for k in linked)
        tagged = sum(tokens.tags[k] == tag for tokens, linked in ends for k in linked)
        of_tag = sum(tokens.tags.count(tag) for tokens, _ in ends)
        values[f"{name}_linked"] = (often + 2 * (tagged + 1) / (of_tag + 2)) / (seen[place][form] + 2)
        values[f"{name}_known"] = math.log1p(seen[place][form])
        values[f"{name}_is_head"] = heads[place] == (u, v)[place]
        values[f"{name}_length"] = math.log(len(own[place]))
        values[f"{name}_mark"] = own[place] == ","
    return {name: float(value) for name, value in values.items()}


def _source(pair: AlignedPair) -> ParsedSentence:
    return pair.source


def _target(pair: AlignedPair) -> ParsedSentence:
    return pair.target


@settings(max_examples=worlds(60))
@given(linked_pairs(), st.lists(linked_pairs(), max_size=4), st.integers(0, 99), st.booleans())
def test_features_of_word_pairs_are_what_their_names_say(
    pair: AlignedPair, learnt: list[AlignedPair], seed: int, dictionary: bool
) -> None:
    rng = np.random.default_rng(seed)
    shape = len(pair.source.tokens), len(pair.target.tokens)
    forward, backward, chances, entries = (rng.random(shape) for _ in range(4))
    evidence = WordEvidence(forward, backward, chances > 0.5, chances, entries if dictionary else None)
    features = pair_features(pair, evidence, LinkStatistics.count(learnt))
    for u in range(shape[0]):
        for v in range(shape[1]):
            expected = slow_pair_features(pair, evidence, learnt, u, v)
            assert set(expected) == set(PAIR_FEATURES)
            values = dict(zip(PAIR_FEATURES, features[u, v].tolist(), strict=True))
            assert values == pytest.approx(expected, abs=1e-5)


def test_thresholds_of_greedy_links_can_be_tried_at_once():
    from treeglot.alignment.subtrees.composite import Term
    from treeglot.alignment.subtrees.learner import Learner
    from treeglot.alignment.subtrees.model import make_table

    pairs, evidence = corpus()
    linked = [AlignedPair(pair.source, pair.target, pair.word_links, [Link(0, 0), Link(1, 1)]) for pair in pairs[:40]]
    table = make_table(linked, None, "paper", evidence=evidence[:40])  # type: ignore[arg-type]
    learner = Learner((Term.parse("plain"),), table, table, 80)
    margins = np.random.default_rng(5).normal(size=len(table))
    thresholds = (-2.0, -0.5, 0.0, 0.7)
    assert learner.scores(margins, thresholds) == {t: learner.score(margins, t) for t in thresholds}
