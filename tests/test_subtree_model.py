"""The trained sub-tree aligner: its kernels, vectors, SVMs and features against plain computations, and the saved model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli_runner import Run
from subtree_corpus import corpus
from treeglot import TreeglotError
from treeglot.alignment.subtrees.boosting import BoostedTrees
from treeglot.alignment.subtrees.candidates import ATTRIBUTES, CandidateTable
from treeglot.alignment.subtrees.composite import PAPER_TERMS, Forests, Term
from treeglot.alignment.subtrees.context import CONTEXT_FEATURES, context_features
from treeglot.alignment.subtrees.kernels import bilingual_kernel_matrix
from treeglot.alignment.subtrees.learner import Bounds, Learner, Parameters, select_links
from treeglot.alignment.subtrees.maps import fit_map
from treeglot.alignment.subtrees.model import SubtreeAligner, load_model, make_table
from treeglot.alignment.subtrees.nodes import TreeNodes
from treeglot.alignment.subtrees.search import is_well_formed
from treeglot.alignment.subtrees.svm import confidence, fit_exact, fit_linear
from treeglot.alignment.subtrees.training import learn_words, train_aligner
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.penn import parse_penn
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.units import Unit

TERMS = ("plain", *PAPER_TERMS, "iBTK-SST/tags", *(f"{kind}BTK-{name}" for kind in "id" for name in ATTRIBUTES))


@pytest.fixture(scope="module")
def pairs() -> list[AlignedPair]:
    return corpus(60)


@pytest.fixture(scope="module")
def table(pairs: list[AlignedPair]) -> CandidateTable:
    return make_table(pairs[:8], learn_words(pairs), "paper")


@pytest.fixture(scope="module")
def model(pairs: list[AlignedPair]) -> SubtreeAligner:
    return train_aligner(pairs[:36], pairs[36:48], features="extended", landmarks=40, rounds=0)


def test_a_table_has_all_pairs_of_phrases(pairs: list[AlignedPair], table: CandidateTable) -> None:
    assert len(table) == sum(len(p.source.constituency or ()) * len(p.target.constituency or ()) for p in pairs[:8])
    for k in np.flatnonzero(table.labels):
        links = {link[:2] for link in pairs[table.pair[k]].node_links}
        assert (table.source[k], table.target[k]) in links
    assert table.labels.sum() == sum(len(pair.node_links) for pair in pairs[:8])


@pytest.mark.parametrize("name", TERMS)
def test_vectors_matrices_and_scorers_agree(name: str, table: CandidateTable) -> None:
    some = table.take(np.arange(0, len(table), 3))
    term = Term.parse(name)
    assert Term.parse(str(term)) == term
    fitted = fit_map(some, term, Forests(), landmarks=10_000)
    matrix = fitted.matrix(some, some)
    assert np.allclose(np.diag(matrix), 1, atol=1e-5) and np.allclose(matrix, matrix.T, atol=1e-5)
    vectors = fitted.vectors(some)
    if not term.is_attribute:  # rare values of attributes have no dimension
        assert np.allclose(vectors @ vectors.T, matrix, atol=2e-3)  # all candidates are landmarks
    random = np.random.default_rng(3)
    weights = random.normal(size=vectors.shape[1])
    assert np.allclose(fitted.scorer_of_weights(weights).scores(some), vectors @ weights, atol=1e-3)
    coefficients = random.normal(size=len(some))
    scores = fitted.scorer_of_coefficients(some, coefficients).scores(table)
    assert np.allclose(scores, fitted.matrix(table, some) @ coefficients, atol=1e-3)


@pytest.mark.parametrize("name", PAPER_TERMS)
def test_terms_are_the_bilingual_kernels(name: str, table: CandidateTable) -> None:
    some = table.take(np.arange(0, len(table), 5))
    items = [
        ((some.sides[0].trees[p], int(s)), (some.sides[1].trees[p], int(t)))
        for p, s, t in zip(some.pair, some.source, some.target, strict=True)
    ]
    term = Term.parse(name)
    assert term.combination is not None
    expected = bilingual_kernel_matrix(items, None, term.tree_space, term.combination, normalize=True)
    assert np.allclose(fit_map(some, term, Forests()).matrix(some, some), expected, atol=1e-5)


def test_the_polynomial_kernel(table: CandidateTable) -> None:
    x = (table.features - table.features.mean(axis=0)) / table.features.std(axis=0)
    kernel = (np.clip(x, -6, 6) @ np.clip(x, -6, 6).T + 1) ** 2  # ten features: the constant is 1
    norm = np.sqrt(np.diag(kernel))
    matrix = fit_map(table, Term.parse("plain"), Forests()).matrix(table, table)
    assert np.allclose(matrix, kernel / norm / norm[:, None], atol=1e-3)


def test_linear_svm_against_scikit_learn() -> None:
    svm = pytest.importorskip("sklearn.svm")
    random = np.random.default_rng(5)
    x = random.normal(size=(400, 12)).astype(np.float32)
    y = x @ random.normal(size=12) + random.normal(size=400) > 1
    fitted = fit_linear(x, y, cost=0.7, positive_weight=2.0)
    # liblinear punishes the bias like a weight; a large constant feature makes that negligible
    peer = svm.LinearSVC(C=0.7, class_weight={True: 2.0, False: 1.0}, intercept_scaling=100, tol=1e-8, max_iter=100_000)
    peer.fit(x, y)
    assert np.allclose(x @ fitted.weights + fitted.bias, peer.decision_function(x), atol=1e-2)


def test_exact_svm_separates(table: CandidateTable) -> None:
    fitted = fit_map(table, Term.parse("plain"), Forests())
    matrix = fitted.matrix(table, table)
    dual = fit_exact(matrix, table.labels, cost=100.0)
    margins = matrix @ dual.coefficients + dual.bias
    assert ((margins > 0) == table.labels).mean() > 0.9
    scorer = fitted.scorer_of_coefficients(table, dual.coefficients)
    assert np.allclose(scorer.scores(table) + dual.bias, margins, atol=1e-2)
    with pytest.raises(TreeglotError, match="no candidate is linked"):
        fit_exact(matrix, np.zeros(len(table), dtype=bool))


def test_confidence_is_the_sigmoid() -> None:
    assert confidence(np.array([-1e9, 0.0, 1e9])).tolist() == pytest.approx([0, 0.5, 1])
    chance = float(confidence(np.array([1.7]))[0])
    assert np.log(chance) - np.log1p(-chance) == pytest.approx(1.7)


@pytest.mark.parametrize("exact", [True, False])
def test_learner_and_its_classifier_agree(exact: bool, pairs: list[AlignedPair]) -> None:
    words = learn_words(pairs)
    train, dev = make_table(pairs[:12], words, "paper"), make_table(pairs[12:18], words, "paper")
    terms = tuple(map(Term.parse, ("plain", "dBTK-Root", "iBTK-RgSST", "dBTK-SST/tags")))
    learner = Learner(terms, train, dev, int(dev.labels.sum()), exact=exact, landmarks=30)
    parameters = Parameters((0.4, 0.3, 0.2, 0.1), cost=1.5, positive_weight=2.0)
    margins = learner.dev_margins(parameters)
    assert np.allclose(learner.classifier(parameters).margins(dev), margins, atol=5e-3)
    score = learner.score(margins, 0.0)
    assert score.f1 > 0.85
    tuned, better = learner.search(parameters)
    assert better.f1 >= score.f1 and sum(tuned.weights) == pytest.approx(1)


def test_links_are_well_formed_and_best_first(table: CandidateTable) -> None:
    margins = np.random.default_rng(2).normal(size=len(table))
    for best in (False, True):
        chosen = select_links(table, margins, 0.2, best=best)
        assert len(chosen) and (margins[chosen] > 0.2).all()
        for number in range(table.pairs):
            here = [k for k in chosen if table.pair[k] == number]
            nodes = [TreeNodes.of(side.trees[number], words=False) for side in table.sides]
            assert is_well_formed([(int(table.source[k]), int(table.target[k])) for k in here], nodes[0], nodes[1])


def test_bounds_keep_what_they_promise(table: CandidateTable) -> None:
    bounds = Bounds.fit(table, range(10), 0.02)
    kept = bounds.keep(table.features)
    assert kept[table.labels].mean() > 1 - 10 * 2 * 0.02 and kept.mean() < 1
    assert Bounds.fit(table, range(10), 0.0).keep(table.features).all()


def test_context_features_by_plain_loops(pairs: list[AlignedPair]) -> None:
    pair = next(pair for pair in pairs if len(pair.node_links) == 6)
    trees = [pair.source.constituency, pair.target.constituency]
    assert trees[0] is not None and trees[1] is not None
    source, target = (TreeNodes.of(tree, words=False) for tree in trees if tree is not None)
    chances = np.random.default_rng(4).random((len(source), len(target)))
    features = context_features(chances, source, target)
    below = [[{k for k in range(len(n)) if n.ancestors[a, k]} for a in range(len(n))] for n in (source, target)]
    children = [[{k for k in range(len(n)) if n.parent[k] == a} for a in range(len(n))] for n in (source, target)]
    everything = [set(range(len(n))) for n in (source, target)]

    def mean_best(mine: set[int], theirs: set[int], swap: bool) -> float:
        values = chances.T if swap else chances
        return sum(max((values[a, b] for b in theirs), default=0.0) for a in mine) / max(len(mine), 1)

    for s in range(len(source)):
        for t in range(len(target)):
            above = [{a for a in range(len(n)) if n.ancestors[a, k]} for n, k in ((source, s), (target, t))]
            up, over = int(source.parent[s]), int(target.parent[t])
            rival = max((chances[s, k] for k in everything[1] - {t}), default=0.0)
            expected = {
                "margin": 2 * chances[s, t] - 1,
                "source_rival": rival,
                "source_lead": chances[s, t] - rival,
                "parents": chances[up, over] if up >= 0 and over >= 0 else 0.0,
                "source_up": chances[up, t] if up >= 0 else 0.0,
                "target_up": chances[s, over] if over >= 0 else 0.0,
                "source_down": max((chances[k, t] for k in children[0][s]), default=0.0),
                "target_down": max((chances[s, k] for k in children[1][t]), default=0.0),
                "above": max((chances[a, b] for a in above[0] for b in above[1]), default=0.0),
                "source_children": mean_best(children[0][s], children[1][t], False),
                "target_children": mean_best(children[1][t], children[0][s], True),
                "source_below": mean_best(below[0][s], below[1][t], False),
                "target_below": mean_best(below[1][t], below[0][s], True),
                "source_crossing": mean_best(below[0][s], everything[1] - below[1][t], False),
                "target_crossing": mean_best(below[1][t], everything[0] - below[0][s], True),
                "source_above_crossing": mean_best(above[0], everything[1] - above[1], False),
                "target_above_crossing": mean_best(above[1], everything[0] - above[0], True),
            }
            for name, value in expected.items():
                assert features[s, t, CONTEXT_FEATURES.index(name)] == pytest.approx(value), (name, s, t)


def test_a_trained_model_links_new_trees(model: SubtreeAligner, pairs: list[AlignedPair]) -> None:
    right = proposed = gold = 0
    for pair, result in zip(pairs[48:], model.align(pairs[48:]), strict=True):
        expected, links = {link[:2] for link in pair.node_links}, {link[:2] for link in result.node_links}
        right, proposed, gold = right + len(expected & links), proposed + len(links), gold + len(expected)
        assert all(link.score is not None and 0.5 <= link.score <= 1 for link in result.node_links)
        assert result.id == pair.id
    assert 2 * right / (proposed + gold) > 0.9
    assert model.second is not None and model.info["development"]["f1"] > 0.9


def test_saved_models_align_as_before(model: SubtreeAligner, pairs: list[AlignedPair], tmp_path: Path) -> None:
    model.save(tmp_path / "one")
    again = load_model(tmp_path / "one")
    expected = list(model.align(pairs[40:]))
    assert list(again.align(pairs[40:])) == expected
    assert list(again.align(pairs[40:], threads=1)) == expected  # trees of the last call are forgotten
    first = next(again.align((pair.source, pair.target) for pair in pairs[40:42]))
    assert first.node_links == expected[0].node_links
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("exact", [True, False])
def test_the_seed_decides_everything(pairs: list[AlignedPair], exact: bool, tmp_path: Path) -> None:
    for name in ("a", "b"):
        trained = train_aligner(
            pairs[:20],
            pairs[20:26],
            terms=("plain", "dBTK-RgSST", "iBTK-SST", "iBTK-Root"),
            features="paper",
            passes=1,
            exact=exact,
            landmarks=20,
            threads=1 if name == "a" else 0,
            rounds=0,
        )
        trained.save(tmp_path / name)
        load_model(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"terms": ("plain", "xBTK-Root")}, "no kernel"),
        ({"terms": ("iBTK-Nothing",)}, "no kernel"),
        ({"features": "many"}, "no features"),
        ({"passes": 3}, "3 passes"),
        ({"decay": 0.0}, "a decay"),
        ({"folds": 1}, "1 folds"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object], says: str, pairs: list[AlignedPair]) -> None:
    with pytest.raises(TreeglotError, match=says) as caught:
        train_aligner(pairs[:4], pairs[4:6], **settings)
    assert caught.value.remedy


def test_nothing_to_learn_from(pairs: list[AlignedPair]) -> None:
    bare = [AlignedPair(pair.source, pair.target) for pair in pairs[:6]]
    with pytest.raises(TreeglotError, match="no links between phrases"):
        train_aligner(bare, bare)
    with pytest.raises(TreeglotError, match="too few"):
        train_aligner(pairs[:3])


def test_commands(run: Run, pairs: list[AlignedPair], tmp_path: Path) -> None:
    write_jsonl(pairs[:40], tmp_path / "gold.jsonl")
    write_jsonl(pairs[40:44], tmp_path / "new.jsonl")
    result = run(
        "trees", "train-aligner", tmp_path / "gold.jsonl", "--out", tmp_path / "m", "--features", "paper",
        "--kernels", "plain,dBTK-Root", "--passes", 1, "--no-tune", "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert '"f1": ' in result.out
    result = run("trees", "align", tmp_path / "new.jsonl", "--model", tmp_path / "m", "--out", tmp_path / "out.jsonl")
    assert result.code == 0, result.err
    assert '"node_links"' in (tmp_path / "out.jsonl").read_text()
    result = run("trees", "train-aligner", tmp_path / "gold.jsonl", "--out", tmp_path / "nowhere" / "m")
    assert result.code == 1 and "the folder does not exist" in result.err


def test_squoia(data: Callable[[str], Path]) -> None:
    """A few real pairs: discontinuous trees, fuzzy links, phrases without a link."""
    from treeglot.trees.treealigner import read_aligned_pairs

    path = data("trees/squoia-de-es/FUNDACION_alignments_squoia_de_es.xml")
    real = [pair for pair, _ in zip(read_aligned_pairs(path, strict=False), range(150), strict=False)]
    trained = train_aligner(real[:110], real[110:130], features="paper", passes=1, tune=False)
    assert trained.info["development"]["f1"] > 0.4
    assert sum(len(pair.node_links) for pair in trained.align(real[130:])) > 20


def test_a_sentence_in_two_pairs_is_linked_once(model: SubtreeAligner, pairs: list[AlignedPair]) -> None:
    one, other = pairs[48], pairs[49]
    joined = Unit.of([_named(one, "s1", "t"), _named(other, "s2", "t2")])
    source = joined.pair.source  # both sentences in one, translated as two
    aligned = list(model.align([AlignedPair(source, one.target, id="a"), AlignedPair(source, other.target, id="b")]))
    assert [pair.target for pair in aligned] == [one.target, other.target]
    linked = [link.source for pair in aligned for link in pair.node_links]
    assert len(set(linked)) == len(linked) > 6
    alone = [next(model.align([AlignedPair(source, pair.target)])) for pair in (one, other)]
    assert sum(len(pair.node_links) for pair in alone) >= len(linked)
    gold = [
        {(a + 1, b) for a, b, *_ in one.node_links},
        {(a + 1 + len(one.source.constituency or ()), b) for a, b, *_ in other.node_links},
    ]
    right = sum(len({link[:2] for link in pair.node_links} & links) for pair, links in zip(aligned, gold, strict=True))
    assert right / len(linked) > 0.7


def _named(pair: AlignedPair, source: str, target: str) -> AlignedPair:
    return AlignedPair(replace(pair.source, id=source), replace(pair.target, id=target), id=source)


def test_pairs_without_links_are_left_out(pairs: list[AlignedPair]) -> None:
    bare = [AlignedPair(pair.source, pair.target, id=f"bare {pair.id}") for pair in pairs[:6]]
    options = {"words": learn_words(pairs), "features": "paper", "passes": 1, "terms": ("plain",), "rounds": 0}
    lines: list[str] = []
    with_bare = train_aligner([*pairs[:20], *bare], pairs[20:30], report=lines.append, **options)
    assert any("6 of 26 pairs have no link" in line for line in lines)
    without = train_aligner(pairs[:20], pairs[20:30], **options)
    assert with_bare.threshold == without.threshold and with_bare.first.bias == without.first.bias


def test_boosted_trees_have_their_share(model: SubtreeAligner, pairs: list[AlignedPair], tmp_path: Path) -> None:
    assert model.second is not None
    table = make_table(pairs[48:50], model.words, "extended")
    wide = table.with_features(np.hstack([table.features, np.zeros((len(table), len(CONTEXT_FEATURES)), np.float32)]))
    kernels = model.second._replace(trees=None).margins(wide)
    trees = BoostedTrees.fit(wide.features, table.labels, trees=5)
    mixed = model.second._replace(trees=trees, share=0.25)
    assert np.allclose(mixed.margins(wide), 0.75 * kernels + 0.125 * trees.log_odds(wide.features))
    changed = replace(model, second=mixed)
    changed.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.second is not None
    assert np.allclose(again.second.margins(wide), mixed.margins(wide), atol=1e-5)


def test_adapting_teaches_new_words(model: SubtreeAligner, pairs: list[AlignedPair], tmp_path: Path, run: Run) -> None:
    """Words that the model never saw: only those of the new text, many times, say which noun is which."""
    new = [sentences("kuh", "cow"), sentences("ente", "duck")] * 8
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").adapted(new)
    known = again.words.evidence([(["kuh", "ente"], ["duck", "cow"])])[0].chances
    before = model.words.evidence([(["kuh", "ente"], ["duck", "cow"])])[0].chances
    assert known[0, 1] > known[0, 0] and known[1, 0] > known[1, 1]
    assert known[0, 1] > before[0, 1]
    assert [p.id for p in again.align(new)] == [p.id for p in new]
    write_jsonl(new, tmp_path / "new.jsonl")
    links = []
    for extra in ((), ("--adapt",), ("--no-adapt",)):
        done = run(
            "trees",
            "align",
            tmp_path / "new.jsonl",
            "--model",
            tmp_path / "model",
            *extra,
            "--out",
            tmp_path / "x.nodes",
        )
        assert done.code == 0, done.err
        links.append((tmp_path / "x.nodes").read_text())
    assert links[0] == links[1] != links[2], "new words are learnt unless that is forbidden"
    wrong = run("trees", "align", tmp_path / "new.jsonl", "--adapt", "--out", tmp_path / "y.nodes")
    assert wrong.code != 0 and "--model" in wrong.err
    again.words.text = None
    with pytest.raises(TreeglotError, match="--text"):
        again.adapted(new)


def sentences(noun: str, translation: str) -> AlignedPair:
    trees = [
        parse_penn(f"(S (NP (D der) (N {noun})) (VP (V sieht)))"),
        parse_penn(f"(S (NP (DT the) (NN {translation})) (VP (V sees)))"),
    ]
    sides = [ParsedSentence(tree.tokens, constituency=tree) for tree in trees]
    return AlignedPair(sides[0], sides[1], id=noun)


def test_universal_labels_carry_over_to_other_labels(tmp_path: Path, pairs: list[AlignedPair]) -> None:
    """A model of universal labels says the same of trees whose labels are others of the same kinds."""
    other = {"NP": "CNP", "VP": "VN", "S": "IP", "PP": "LCP", "AP": "ADJP", "SBAR": "CP"}

    def renamed(sentence: ParsedSentence) -> ParsedSentence:
        tree = sentence.constituency
        assert tree is not None
        labels = [other.get(label, label) for label in tree.labels]
        return ParsedSentence.of(constituency=ConstituencyTree(tree.tokens, labels, tree.children), id=sentence.id)

    model = train_aligner(pairs, universal=True, terms=("plain", "dBTK-Root"), passes=1, tune=False, trees=False)
    model.save(tmp_path / "m.aligner")
    model = load_model(tmp_path / "m.aligner")
    assert model.universal
    expected = [pair.node_links for pair in model.align(pairs)]
    moved = [(renamed(pair.source), renamed(pair.target)) for pair in pairs]
    assert [pair.node_links for pair in model.align(moved)] == expected
    assert any(expected)
    own = train_aligner(pairs, terms=("plain", "dBTK-Root"), passes=1, tune=False, trees=False)
    assert [pair.node_links for pair in own.align(moved)] != [pair.node_links for pair in own.align(pairs)]
