"""Word links learnt from linked text, and the boosted trees that judge them."""

from __future__ import annotations

import numpy as np
import pytest

from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.features import WordEvidence
from treeglot.alignment.subtrees.wordlinker import WordLinker, cross_fitted
from treeglot.alignment.subtrees.wordpairs import PAIR_FEATURES, LinkStatistics, likeness, pair_features
from treeglot.errors import TreeglotError
from treeglot.trees.constituency import ConstituencyTree
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
