"""Dependency → constituency: hand-made sentences in several label sets, and invariants on random trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot.errors import TreeError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dep2cons import to_constituency
from treeglot.trees.dep2cons_rules import _STANFORD, _UD, _UPOS, _XPOS
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.projectivity import projectivize
from treeglot.trees.tokens import Tokens


def parse(rows: str, tags: str = "upos") -> DependencyTree:
    """A tree from ``form/tag/head/label`` items (heads 1-based)."""
    items = [row.rsplit("/", 3) for row in rows.split()]
    feats = ["PronType=Int,Rel" if item[0].lower() in ("who", "what") else "_" for item in items]
    tokens = Tokens([item[0] for item in items], feats=feats, **{tags: [item[1] for item in items]})
    return DependencyTree(tokens, [int(item[2]) - 1 for item in items], [item[3] for item in items])


def bracketed(tree: ConstituencyTree) -> str:
    def show(node: int) -> str:
        if node < 0:
            return tree.tokens.forms[~node]
        return f"({tree.labels[node]} {' '.join(map(show, tree.children[node]))})"

    return show(tree.root)


EXAMPLES = {
    "auxiliaries, subject, prepositional phrase": (
        "She/PRON/5/nsubj may/AUX/5/aux have/AUX/5/aux never/ADV/5/advmod seen/VERB/0/root a/DET/7/det dog/NOUN/5/obj "
        "in/ADP/9/case Rome/PROPN/5/obl ././5/punct",
        "(S (NP She) (VP may (VP have (ADVP never) (VP seen (NP a dog) (PP in (NP Rome))))) .)",
    ),
    "copula, noun modifiers": (
        "It/PRON/5/nsubj is/AUX/5/cop a/DET/5/det red/ADJ/5/amod house/NOUN/0/root with/ADP/7/case doors/NOUN/5/nmod",
        "(S (NP It) (VP is (NP (NP a red house) (PP with (NP doors)))))",
    ),
    "complement clause": (
        "I/PRON/2/nsubj know/VERB/0/root that/SCONJ/5/mark he/PRON/5/nsubj left/VERB/2/ccomp",
        "(S (NP I) (VP know (SBAR that (S (NP he) (VP left)))))",
    ),
    "verb phrases coordinated below the subject": (
        "He/PRON/2/nsubj ate/VERB/0/root rice/NOUN/2/obj and/CCONJ/5/cc drank/VERB/2/conj tea/NOUN/5/obj",
        "(S (NP He) (VP (VP ate (NP rice)) and (VP drank (NP tea))))",
    ),
    "clauses coordinated above their subjects": (
        "He/PRON/2/nsubj ate/VERB/0/root ,/PUNCT/6/punct but/CCONJ/6/cc she/PRON/6/nsubj left/VERB/2/conj ././2/punct",
        "(S (S (NP He) (VP ate)) , but (S (NP she) (VP left)) .)",
    ),
    "noun coordination with one adposition": (
        "in/ADP/3/case old/ADJ/3/amod towns/NOUN/6/obl and/CCONJ/5/cc villages/NOUN/3/conj sleep/VERB/0/root cats/NOUN/6/nsubj",
        "(S (VP (PP in (NP old towns and villages)) sleep) (NP cats))",
    ),
    "coordinated adpositional phrases": (
        "go/VERB/0/root to/ADP/3/case Rome/PROPN/1/obl or/CCONJ/6/cc to/ADP/6/case Paris/PROPN/3/conj",
        "(S (VP go (PP (PP to (NP Rome)) or (PP to (NP Paris)))))",
    ),
    "German: verb last, auxiliary to the right": (
        "dass/SCONJ/5/mark er/PRON/5/nsubj das/DET/4/det Buch/NOUN/5/obj gelesen/VERB/0/root hat/AUX/5/aux",
        "(SBAR dass (S (NP er) (VP (VP (NP das Buch) gelesen) hat)))",
    ),
    "German: subject between the auxiliary and the verb": (
        "Heute/ADV/6/advmod hat/AUX/6/aux er/PRON/6/nsubj ein/DET/5/det Buch/NOUN/6/obj gelesen/VERB/0/root",
        "(S (ADVP Heute) hat (NP er) (VP (NP ein Buch) gelesen))",
    ),
    "Japanese: particles follow": (
        "犬/NOUN/5/nsubj が/ADP/1/case 肉/NOUN/5/obj を/ADP/3/case 食べ/VERB/0/root た/AUX/5/aux",
        "(S (PP (NP 犬) が) (VP (VP (PP (NP 肉) を) 食べ) た))",
    ),
    "German: an adverb between the object and the verb": (
        "Ich/PRON/5/nsubj will/AUX/5/aux euch/PRON/5/obj nie/ADV/5/advmod sehen/VERB/0/root",
        "(S (NP Ich) (VP will (VP (NP euch) (ADVP nie) sehen)))",
    ),
    "Japanese: a conjunctive form before the auxiliary": (
        "本/NOUN/3/obj を/ADP/1/case 読ん/VERB/0/root で/SCONJ/3/mark いる/AUX/3/aux",
        "(S (VP (VP (PP (NP 本) を) 読ん) で いる))",
    ),
    "French: clitic, adjective after the noun": (
        "il/PRON/3/nsubj les/PRON/3/obj voit/VERB/0/root dans/ADP/6/case une/DET/6/det maison/NOUN/3/obl rouge/ADJ/6/amod",
        "(S (NP il) (VP (NP les) voit (PP dans (NP une maison rouge))))",
    ),
    "particle": (
        "She/PRON/2/nsubj gave/VERB/0/root it/PRON/2/obj up/ADP/2/compound:prt",
        "(S (NP She) (VP gave (NP it) (PRT up)))",
    ),
    "questions": (
        "What/PRON/4/obj did/AUX/4/aux she/PRON/4/nsubj see/VERB/0/root ?/PUNCT/4/punct",
        "(SBARQ (WHNP What) (SQ did (NP she) (VP see)) ?)",
    ),
    "question word as the predicate": (
        "What/PRON/0/root is/AUX/1/cop it/PRON/1/nsubj ?/PUNCT/1/punct",
        "(SBARQ (WHNP What) (SQ is (NP it)) ?)",
    ),
    "small clause": (
        "They/PRON/2/nsubj saw/VERB/0/root her/PRON/2/obj leave/VERB/2/xcomp",
        "(S (NP They) (VP saw (S (NP her) (VP leave))))",
    ),
    "relative clauses with and without a pronoun": (
        "the/DET/2/det man/NOUN/7/nsubj who/PRON/4/nsubj saw/VERB/2/acl:relcl the/DET/6/det dog/NOUN/4/obj died/VERB/0/root",
        "(S (NP (NP the man) (SBAR (WHNP who) (S (VP saw (NP the dog))))) (VP died))",
    ),
    "parentheses": (
        "Kinder/PROPN/5/nsubj (/PUNCT/3/punct 1991/NUM/1/nmod )/PUNCT/3/punct wrote/VERB/0/root",
        "(S (NP (NP Kinder) (PRN ( (NP 1991) ))) (VP wrote))",
    ),
    "an expletive subject, and what it stands for after the verb": (
        "there/PRON/2/expl are/VERB/0/root dogs/NOUN/2/nsubj",
        "(S (NP there) (VP are (NP dogs)))",
    ),
    "an expletive subject of a clause": (
        "it/PRON/3/expl is/AUX/3/cop clear/ADJ/0/root that/SCONJ/6/mark he/PRON/6/nsubj left/VERB/3/csubj",
        "(S (NP it) (VP is (ADJP clear) (SBAR that (S (NP he) (VP left)))))",
    ),
    "verbs of one word coordinated": (
        "they/PRON/2/nsubj read/VERB/0/root or/CCONJ/4/cc write/VERB/2/conj",
        "(S (NP they) (VP (VP read) or (VP write)))",
    ),
    "infinitives coordinated": (
        "he/PRON/2/nsubj wants/VERB/0/root to/PART/4/mark read/VERB/2/xcomp or/CCONJ/6/cc write/VERB/4/conj",
        "(S (NP he) (VP wants (S (VP to (VP (VP read) or (VP write))))))",
    ),
    "bare nouns coordinated": (
        "dogs/NOUN/4/nsubj and/CCONJ/3/cc cats/NOUN/1/conj bark/VERB/0/root",
        "(S (NP dogs and cats) (VP bark))",
    ),
    "noun phrases coordinated": (
        "the/DET/2/det dog/NOUN/6/nsubj and/CCONJ/5/cc a/DET/5/det cat/NOUN/2/conj bark/VERB/0/root",
        "(S (NP (NP the dog) and (NP a cat)) (VP bark))",
    ),
    "adjectives coordinated before a noun": (
        "big/ADJ/4/amod and/CCONJ/3/cc old/ADJ/1/conj dogs/NOUN/5/nsubj bark/VERB/0/root",
        "(S (NP (ADJP big and old) dogs) (VP bark))",
    ),
    "passive with its agent": (
        "the/DET/2/det dog/NOUN/4/nsubj:pass was/AUX/4/aux:pass seen/VERB/0/root by/ADP/6/case her/PRON/4/obl",
        "(S (NP the dog) (VP was (VP seen (PP by (NP her)))))",
    ),
    "two objects": (
        "he/PRON/2/nsubj gave/VERB/0/root her/PRON/2/iobj the/DET/5/det book/NOUN/2/obj",
        "(S (NP he) (VP gave (NP her) (NP the book)))",
    ),
    "a phrase before the subject": (
        "in/ADP/3/case the/DET/3/det house/NOUN/5/obl he/PRON/5/nsubj slept/VERB/0/root",
        "(S (PP in (NP the house)) (NP he) (VP slept))",
    ),
    "no clause": (
        "two/NUM/3/nummod old/ADJ/3/amod houses/NOUN/0/root of/ADP/5/case stone/NOUN/3/nmod",
        "(NP (NP two old houses) (PP of (NP stone)))",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_universal_dependencies(name: str) -> None:
    rows, expected = EXAMPLES[name]
    assert bracketed(to_constituency(parse(rows.replace("././", "./PUNCT/")))) == expected


STANFORD = {
    "English: prepositions govern": (
        "She/PRP/2/nsubj saw/VBD/0/root the/DT/4/det man/NN/2/dobj with/IN/2/prep a/DT/7/det telescope/NN/5/pobj",
        "(S (NP She) (VP saw (NP the man) (PP with (NP a telescope))))",
    ),
    "the worked example": (
        "英特尔/NR/3/nsubj 将/AD/3/advmod 推出/VV/0/root 亚洲/NR/8/nn 首/OD/6/ordmod 款/M/8/clf 超极/JJ/8/amod 本/NN/3/dobj",
        "(IP (NP 英特尔) (VP (ADVP 将) (VP 推出 (NP (NP 亚洲) (QP 首 款) (NP 超极 本)))))",
    ),
    "Chinese: 的 after a noun and after a clause, localiser": (
        "他/PN/2/nsubj 住/VV/0/root 在/P/2/prep 我/PN/5/nn 朋友/NN/6/nsubj 买/VV/8/rcmod 的/DEC/6/cpm 房子/NN/9/lobj 里/LC/3/plmod",
        "(IP (NP 他) (VP 住 (PP 在 (LCP (NP (CP (IP (NP 我 朋友) (VP 买)) 的) 房子) 里))))",
    ),
    "Chinese: 把 and aspect": (
        "他/PN/4/nsubj 把/BA/4/ba 书/NN/4/dobj 放/VV/0/root 了/AS/4/asp",
        "(IP (NP 他) (VP 把 (VP (NP 书) 放 了)))",
    ),
    "Chinese: associative 的": (
        "中国/NR/3/assmod 的/DEG/1/assm 经济/NN/0/root",
        "(NP (DNP (NP 中国) 的) 经济)",
    ),
}


CORENLP = {
    "the labels of CoreNLP's Chinese models": (
        "他/PN/3/nsubj 已经/AD/3/advmod 买/VV/0/root 了/AS/3/aux:asp 三/CD/6/nummod 本/M/9/mark:clf 中国/NR/9/nmod:assmod 的/DEG/7/case "
        "书/NN/3/dobj",
        "(IP (NP 他) (VP (ADVP 已经) (VP 买 了 (NP (QP 三 本) (DNP (NP 中国) 的) 书))))",
    ),
    "adposition and localiser of one noun": (
        "他/PN/5/nsubj 在/P/3/case 房子/NN/5/nmod:prep 里/LC/3/case 住/VV/0/root",
        "(IP (NP 他) (VP (PP 在 (LCP (NP 房子) 里)) 住))",
    ),
}
STANFORD |= CORENLP


@pytest.mark.parametrize("name", STANFORD)
def test_stanford_dependencies(name: str) -> None:
    rows, expected = STANFORD[name]
    assert bracketed(to_constituency(parse(rows, "xpos"))) == expected


def test_options() -> None:
    tree = parse("the/DET/2/det dogs/NOUN/3/nsubj bark/VERB/0/root")
    assert bracketed(to_constituency(tree, style="ctb")) == "(IP (NP (DP the) dogs) (VP bark))"
    with pytest.raises(TreeError, match="no label set"):
        to_constituency(tree, label_set="penn")  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="no style"):
        to_constituency(tree, style="ud")  # type: ignore[arg-type]


def check(tree: DependencyTree) -> ConstituencyTree:
    """The invariants: a continuous tree over the same tokens that no dependency subtree crosses, always the same."""
    result = to_constituency(tree)
    assert result.tokens is tree.tokens
    assert result.is_continuous
    assert result.spans[0] == (0, len(tree))
    subtrees = {span for span in projectivize(tree).spans if span[1] - span[0] > 1}
    for low, high in set(result.spans):
        for a, b in subtrees:
            assert b <= low or high <= a or (low <= a and b <= high) or (a <= low and high <= b)
    assert to_constituency(tree) == result
    return result


LABELS = st.sampled_from(sorted({*_UD, *_STANFORD, "strange", "x:y:z", "", "root"}))


@st.composite
def dependency_trees(draw: st.DrawFn, labels: st.SearchStrategy[str] = LABELS) -> DependencyTree:
    size = draw(st.integers(1, 12))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for k in range(1, size):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    column = st.lists(st.sampled_from(sorted({*_UPOS, "_", "?"})), min_size=size, max_size=size)
    xpos = st.lists(st.sampled_from(sorted({*_XPOS, "_", "?"})), min_size=size, max_size=size)
    forms = st.lists(st.sampled_from(["a", "(", ")", "?", ",", "-LRB-"]), min_size=size, max_size=size)
    tokens = Tokens(draw(forms), upos=draw(column), xpos=draw(xpos))
    return DependencyTree(tokens, heads, draw(st.lists(labels, min_size=size, max_size=size)))


@settings(max_examples=tries(600), deadline=None)
@given(dependency_trees())
def test_invariants_on_random_trees(tree: DependencyTree) -> None:
    check(tree)


COMMON = st.sampled_from(
    str.split("nsubj obj obl aux cop mark conj cc punct punct punct advmod advcl case det acl xcomp")
)


@st.composite
def projective_trees(draw: st.DrawFn) -> DependencyTree:
    """Projective from the start: each word attaches to a neighbour of the run that it belongs to."""
    size = draw(st.integers(1, 9))
    heads = [-1] * size
    runs = list(range(size))  # the head words of neighbouring finished subtrees
    while len(runs) > 1:
        k = draw(st.integers(0, len(runs) - 2))
        lower, upper = (k, k + 1) if draw(st.booleans()) else (k + 1, k)
        heads[runs[lower]] = runs[upper]
        del runs[lower]
    upos = st.lists(st.sampled_from(["VERB", "NOUN", "ADJ", "ADV", "AUX", "ADP"]), min_size=size, max_size=size)
    labels = draw(st.lists(COMMON, min_size=size, max_size=size))
    return DependencyTree(Tokens(["w"] * size, upos=draw(upos)), heads, labels)


@settings(max_examples=tries(1000), deadline=None)
@given(projective_trees())
def test_invariants_on_random_trees_with_clausal_labels(tree: DependencyTree) -> None:
    check(tree)


@pytest.mark.parametrize("label", ["obj", "conj", "punct", "aux", "det", "case", "strange", "nsubj", "advmod"])
def test_many_dependents(label: str) -> None:
    for upos in ("VERB", "NOUN", "ADJ"):
        for head in (0, 250, 499):
            tokens = Tokens(["w"] * 500, upos=[upos] * 500)
            check(DependencyTree(tokens, [-1 if j == head else head for j in range(500)], [label] * 500))


@pytest.mark.parametrize(("upos", "label"), [("VERB", "aux"), ("VERB", "ccomp"), ("NOUN", "conj"), ("ADJ", "punct")])
def test_ten_thousand_words(upos: str, label: str) -> None:
    size = 10_000
    tokens = Tokens(["w"] * size, upos=[upos] * size)
    for heads in (
        [j - 1 for j in range(size)],
        [*range(1, size), -1],
        [-1] + [0] * (size - 1),
        [size - 1] * (size - 1) + [-1],
    ):
        result = to_constituency(DependencyTree(tokens, heads, [label] * size))
        assert result.spans[0] == (0, size)


def test_invariants_on_treebanks(data: Callable[[str], Path]) -> None:
    from treeglot.trees.conllu import read_conllu

    for path in sorted(data("trees/ud-pud").rglob("*.conllu")):
        for number, sentence in enumerate(read_conllu(path)):
            if number == 60:
                break
            assert sentence.dependency is not None
            check(sentence.dependency)
