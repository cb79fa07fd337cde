"""The native reader of JSON lines gives what the Python reader gives, and refuses what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import tries
from random_trees import constituency_trees
from tree_strategies import damaged, pairs, sentences
from treeglot import InputError
from treeglot.cli.rules_extract import Inputs, check_inputs
from treeglot.cli.rules_tables import build_rules
from treeglot.errors import ConfigError
from treeglot.examples import Sizes, write_example
from treeglot.grammars import registry
from treeglot.trees import AlignedPair, ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import read_conllu
from treeglot.trees.continuous import make_continuous
from treeglot.trees.corpus import (
    Binarize,
    CorpusReader,
    Side,
    SideFiles,
    parsed_bitext,
    parsed_corpus,
    read_parsed_bitext,
    read_parsed_corpus,
    read_trees,
)
from treeglot.trees.heads import lexical_heads
from treeglot.trees.nodelinks import all_links, format_node_links
from treeglot.trees.penn import read_penn
from treeglot.trees.tiger import read_tiger
from treeglot.trees.treejson import format_json, write_jsonl

DIRECTIONS: tuple[Binarize, ...] = ("none", "left", "right", "head")
SHARED_FOLDER = settings(max_examples=tries(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


def same_as_python(path: Path) -> int:
    """All columns of both ways, for every kind of binarisation; returns the number of sentences."""
    read = list(read_trees(None, None, path))
    for direction in DIRECTIONS:
        if any(label.startswith("X@") for s in read if s.constituency for label in s.constituency.labels):
            break
        ours = read_parsed_corpus(jsonl=path, binarize=direction)
        theirs = parsed_corpus(read, binarize=direction)
        assert (len(ours), ours.lifted) == (len(theirs), theirs.lifted)
        for n in range(len(theirs)):
            assert ours.columns.sentence(n) == theirs.columns.sentence(n), (direction, n)
    return len(read)


# The same trees


@SHARED_FOLDER
@given(st.lists(st.one_of(sentences(), pairs(sentences())), min_size=1, max_size=3))
def test_everything_a_line_can_hold(tmp_path: Path, items: list[ParsedSentence | AlignedPair]) -> None:
    """Odd words and labels, gaps, crossing arcs, arcs that were lifted before, columns of the trees' own, pairs."""
    write_jsonl(items, tmp_path / "x.jsonl.gz")
    same_as_python(tmp_path / "x.jsonl.gz")
    # Escaped to ASCII it is the same.
    escaped = "".join(json.dumps(json.loads(format_json(item))) + "\r\n\n" for item in items)
    (tmp_path / "x.jsonl").write_bytes(b"\xef\xbb\xbf" + escaped.encode())
    same_as_python(tmp_path / "x.jsonl")


@SHARED_FOLDER
@given(st.lists(constituency_trees(12), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_gaps_by_the_head_tables(tmp_path: Path, drawn: list[ConstituencyTree], random: Any) -> None:
    """Labels and tags that the tables know, over words in another order."""
    trees = []
    for tree in drawn:
        order = list(range(len(tree.tokens)))
        for _ in range(2):
            a, b = random.choice(order), random.choice(order)
            order[a], order[b] = order[b], order[a]
        tokens = Tokens.of(tree.tokens[order.index(j)] for j in range(len(order)))
        children = [[child if child >= 0 else ~order[~child] for child in below] for below in tree.children]
        trees.append(ConstituencyTree(tokens, tree.labels, children, tree.functions))
    write_jsonl((ParsedSentence.of(None, tree) for tree in trees), tmp_path / "x.jsonl")
    same_as_python(tmp_path / "x.jsonl")
    reader = CorpusReader(SideFiles(jsonl=tmp_path / "x.jsonl"), head_words=True)
    for _ in reader.read():
        pass
    corpus = reader.native.corpus()
    for n, tree in enumerate(trees):
        assert corpus.head_words(n) == list(lexical_heads(make_continuous(tree).tree))


@SHARED_FOLDER
@given(st.lists(pairs(sentences()), min_size=1, max_size=3))
def test_both_sides_of_pairs(tmp_path: Path, items: list[AlignedPair]) -> None:
    """One file for both sides; links of nodes join the same phrases when gaps are closed."""
    path = tmp_path / "x.jsonl"
    write_jsonl(items, path)
    (tmp_path / "nodes").write_text("".join(format_node_links(all_links(p)) + "\n" for p in items), encoding="utf-8")
    side = SideFiles(jsonl=path)
    bitext = read_parsed_bitext(side, side, None, tmp_path / "nodes").columns
    for n, pair in enumerate(items):
        numbers: list[Callable[[int], int]] = []
        for columns, sentence in ((bitext.source, pair.source), (bitext.target, pair.target)):
            assert columns.sentence(n) == parsed_corpus([sentence]).columns.sentence(0)
            tree = sentence.constituency
            origin = make_continuous(tree).origin if tree is not None else ()
            numbers.append(lambda node, origin=origin: origin.index(node) if node >= 0 else len(origin) + ~node)  # type: ignore[misc]
        joined = sorted((numbers[0](link.source), numbers[1](link.target)) for link in all_links(pair))
        assert bitext.node_links(n) == joined
        built = parsed_bitext([(pair.source, pair.target, [], [(k.source, k.target) for k in all_links(pair)])])
        assert built.columns.node_links(0) == joined
    for name, sides in (("source", [p.source for p in items]), ("target", [p.target for p in items])):
        which: Side = "source" if name == "source" else "target"
        reader = CorpusReader(side, side=which)
        for _ in reader.read():
            pass
        corpus = reader.native.corpus()
        assert [corpus.sentence(n) for n in range(len(corpus))] == [
            parsed_corpus([s]).columns.sentence(0) for s in sides
        ]


def test_layouts(tmp_path: Path) -> None:
    """A byte-order mark, blank lines, blanks around, no line end; one word, no word, no tree."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf \t{"forms" :["a"],"constituency":{"labels":[],"children":[]}} \r\n\n \t\n{"forms": []}\n'
        b'{"forms": ["\\ud83d\\ude00", "a b"], "upos": ["U", "_"], "xpos": ["_", "X"]}'
    )
    assert same_as_python(path) == 3
    assert read_parsed_corpus(jsonl=path).columns.sentence(2) == (("😀", "a b"), ("U", "X"), (), (), ())


def test_facts_and_surfaces(tmp_path: Path) -> None:
    tokens = Tokens(["de", "el", "mar"])
    heads = DependencyTree(tokens, [2, 2, -1])
    row = ("1-2", "del", *["_"] * 8)
    items = [
        ParsedSentence(tokens, heads, comments=("# constituency = converted from dependencies",)),
        ParsedSentence(tokens, heads, notes=(("dependency", "converted from constituents"),)),
    ]
    lines = [json.loads(format_json(item)) for item in items]
    lines[0]["ranges"] = [[0, 2, row]]
    lines[1]["ranges"] = [
        [-1, 2, row],
        [1, 9, row],
        [2, 2, row],
        [2, 3, ["3"]],
        [0, 3, row],
    ]  # none that means anything
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    reader = CorpusReader(SideFiles(jsonl=tmp_path / "x.jsonl"), surfaces=True)
    for _ in reader.read():
        pass
    assert reader.native.surfaces == ["del mar", "de el mar"]
    assert [list(map(int, column)) for column in reader.native.facts()] == [[0, 0], [1, 0], [0, 1]]


# What is refused

SAMPLE = (
    b'{"id": "p", "source": {"forms": ["a", "b"], "lemmas": ["c", "d"], "dependency": {"heads": [1, -1]}, "ranges": [[0, 2, ["x"]]]},'
    b' "target": {"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "secondary": [[0, -1, "SB"]]}},'
    b' "word_links": [[0, 0, "fuzzy", 0.5]], "node_links": [[-1, 0]]}\n'
)


def outcome(read: Callable[[], object]) -> object:
    """What reading gives, or where and why it fails."""
    try:
        return read()
    except InputError as error:
        assert error.remedy
        message = re.sub(r"'[^']*'|\"[^\"]*\"", "''", error.message)
        # How a value is shown, and what is wrong with JSON that is none, each says in its own words.
        message = re.sub(r"^not (usable )?JSON.*", "not JSON", message)
        message = re.sub(r": (the score |the link )?.* (is not an? |has not )", r": \1… \2", message)
        return (Path(error.path or "").name, error.line, message)


def columns_of(path: Path, native: bool) -> list[object]:
    corpus = read_parsed_corpus(jsonl=path) if native else parsed_corpus(read_trees(None, None, path))
    return [corpus.columns.sentence(n) for n in range(len(corpus))]


def same_outcome(path: Path) -> object:
    theirs = outcome(lambda: columns_of(path, native=False))
    assert outcome(lambda: columns_of(path, native=True)) == theirs
    return theirs


@settings(max_examples=tries(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(damaged(SAMPLE * 2), st.text(alphabet='{}[]",:0 -1ef', max_size=20).map(str.encode)))
def test_damaged_files(tmp_path: Path, content: bytes) -> None:
    """Both readers stop at the same line for the same reason, or read the same."""
    (tmp_path / "x.jsonl").write_bytes(content)
    same_outcome(tmp_path / "x.jsonl")


GOOD = '{"forms": ["a"]}\n'


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"forms": ["a"]', "not JSON"),
        ('{"forms": ["a"', "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"forms": ["a"]} {}', "not JSON"),
        ('{"forms": ["a"], "forms": ["a"]}', "given twice"),
        ('{"forms": ["a"], "notes": [["a", "b"], {"x": 1, "x": 2}]}', "given twice"),
        ('{"forms": ["a"], "notes": [NaN]}', "NaN is not a JSON number"),
        ('{"forms": ["a\tb"]}', "not JSON"),
        ("[" * 2000, "not"),
        ('{"forms": ["a"], "heads": [0]}', "field heads: unknown"),
        ('{"upos": ["a"]}', "field forms: missing"),
        ('{"forms": "a"}', 'field forms: "a" is not a list'),
        ('{"forms": ["a", null]}', "field forms: null is not a string"),
        ('{"forms": ["a"], "upos": ["a", "b"]}', "1 forms but 2 upos"),
        ('{"forms": ["a"], "dependency": []}', "field dependency: [] is not an object"),
        ('{"forms": ["a"], "dependency": {"heads": [true]}}', "true is not an integer"),
        ('{"forms": ["a"], "dependency": {"heads": [-1.0]}}', "-1.0 is not an integer"),
        ('{"forms": ["a"], "dependency": {"heads": [-1, 0]}}', "1 words but 2 heads"),
        ('{"forms": ["a"], "dependency": {"heads": [-1], "true_heads": []}}', "1 words but 0 true_heads"),
        ('{"forms": ["a"], "dependency": {"heads": [1]}}', "the head of word 1 (a) is 2, but there are 1 words"),
        ('{"forms": ["a"], "dependency": {"heads": [-2]}}', "the head of word 1 (a) is -1"),
        ('{"forms": ["a", "b"], "dependency": {"heads": [-1, -1]}}', "2 roots: 1 (a), 2 (b)"),
        ('{"forms": ["a", "b"], "dependency": {"heads": [1, 0]}}', "a cycle: 1 (a) → 2 (b) → 1 (a)"),
        ('{"forms": ["a", "b", "c"], "dependency": {"heads": [-1, 2, 1]}}', "a cycle: 2 (b) → 3 (c) → 2 (b)"),
        ('{"forms": [], "dependency": {"heads": []}}', "a tree without words"),
        ('{"forms": ["a"], "dependency": {"heads": [-1], "tokens": {"upos": []}}}', "1 forms but 0 upos"),
        ('{"forms": ["a"], "dependency": {"heads": [-1], "tokens": {"forms": []}}}', "field dependency.tokens.forms"),
        ('{"forms": ["a"], "constituency": {"labels": ["S"]}}', "field constituency.children: missing"),
        ('{"forms": ["a"], "constituency": {"labels": ["S"], "children": [-1]}}', "-1 is not a list"),
        ('{"forms": ["a", "b"], "constituency": {"labels": [], "children": []}}', "2 words but no phrase"),
        ('{"forms": ["a"], "constituency": {"labels": ["S"], "children": []}}', "differ in number"),
        (
            '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "functions": []}}',
            "differ in number",
        ),
        ('{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "ids": ["1", "2"]}}', "differ in"),
        ('{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-2]]}}', "a child of 'S' does not exist"),
        (f'{{"forms": ["a"], "constituency": {{"labels": ["S"], "children": [[{1 << 80}]]}}}}', "does not exist"),
        ('{"forms": ["a"], "constituency": {"labels": ["S", "T"], "children": [[-1, 1], []]}}', "has no child"),
        ('{"forms": ["a", "b"], "constituency": {"labels": ["S"], "children": [[-1]]}}', "word 2 has 0 parents"),
        ('{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1, -1]]}}', "word 1 has 2 parents"),
        (
            '{"forms": ["a", "b"], "constituency": {"labels": ["S", "T", "U"], "children": [[1, 2], [-1], [1, -2]]}}',
            "phrase 'T' has 2 parents",
        ),
        ('{"forms": ["a", "b"], "constituency": {"labels": ["S", "T"], "children": [[-1], [-2]]}}', "2 roots"),
        ('{"forms": ["a"], "constituency": {"labels": ["S", "T"], "children": [[1, -1], [0]]}}', "no root"),
        (
            '{"forms": ["a", "b"], "constituency": {"labels": ["S", "T", "U"], "children": [[-1], [2, -2], [1]]}}',
            "a cycle apart from the root",
        ),
        (
            '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "word_functions": []}}',
            "1 words but 0 word_functions",
        ),
        (
            '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "word_ids": ["a", "b"]}}',
            "1 words but 2 word_ids",
        ),
        (
            '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "secondary": [[0, 1, "X"]]}}',
            "field constituency.secondary: no node for the edge [0, 1, 'X']",
        ),
        (
            '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]], "secondary": [[0, 1]]}}',
            "[0, 1] has not 3 parts",
        ),
        ('{"forms": ["a"], "id": 1}', "field id: 1 is not a string"),
        ('{"forms": ["a"], "comments": [1]}', "field comments: 1 is not a string"),
        ('{"forms": ["a"], "ranges": [[0, 1]]}', "field ranges: [0, 1] has not 3 parts"),
        ('{"forms": ["a"], "ranges": [[0, 1, [1]]]}', "field ranges: 1 is not a string"),
        ('{"forms": ["a"], "empty_nodes": [["1", []]]}', 'field empty_nodes: "1" is not an integer'),
        ('{"forms": ["a"], "notes": [["1"]]}', "has not 2 parts"),
        ('{"source": {"forms": ["a"]}}', "field target: missing"),
        ('{"source": {"forms": ["a"]}, "target": {"forms": ["a"], "x": 1}}', "field target.x: unknown"),
        ('{"source": {"forms": ["a"], "upos": []}, "target": {"forms": ["a"]}}', "1 forms but 0 upos"),
        (
            '{"source": {"forms": ["a"]}, "target": {"forms": ["a"]}, "word_links": [[0, 1]]}',
            "the target has no word 1",
        ),
        ('{"source": {"forms": ["a"]}, "target": {"forms": ["a"]}, "word_links": [[-1, 0]]}', "no word -1"),
        (
            '{"source": {"forms": ["a"]}, "target": {"forms": ["a"]}, "node_links": [[-2, 0]]}',
            "the source has no node -2",
        ),
        (
            '{"id": "p", "source": {"forms": ["a"]}, "target": {"forms": ["a"]}, "word_links": [[0, 0], [0, 0, "fuzzy"]]}',
            "pair p: word link 0-0 is given twice",
        ),
        ('{"source": {"forms": []}, "target": {"forms": []}, "word_links": [[0]]}', "has not 2 to 4 parts"),
        ('{"source": {"forms": []}, "target": {"forms": []}, "word_links": [[0, 0, "x"]]}', "neither good nor fuzzy"),
        ('{"source": {"forms": []}, "target": {"forms": []}, "word_links": [[0, 0, "good", "x"]]}', "is not a number"),
        ('{"source": {"forms": []}, "target": {"forms": []}, "word_links": [[0, 0, "good", 1e999]]}', "too large"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: str, says: str) -> None:
    """The file, the line, the field and the cause, as the Python reader has them."""
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD + "\n" + line + "\n" + GOOD, encoding="utf-8")
    same_outcome(path)
    with pytest.raises(InputError) as caught:
        read_parsed_corpus(jsonl=path)
    assert (caught.value.path, caught.value.line) == (str(path), 3) and caught.value.remedy
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"forms": ["\xe4"]}\n', "not UTF-8 (byte 0xe4)"),
        (b'{"forms": ["a\0"]}\n', "a NUL byte"),
        (b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", "not JSON"),
        (b"(S (NN a))\n", "not JSON"),
        (b"\xc2\xa0\n", "not JSON"),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(GOOD.encode() + content)
    theirs = same_outcome(path)
    assert isinstance(theirs, tuple) and theirs[1] == 2 and says in theirs[2]


def test_half_a_surrogate_pair_is_no_word(tmp_path: Path) -> None:
    """Python's strings can hold it, the words of a corpus cannot."""
    write_jsonl([ParsedSentence(Tokens(["a"])), ParsedSentence(Tokens(["\ud800"]))], tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="surrogate") as caught:
        read_parsed_corpus(jsonl=tmp_path / "x.jsonl")
    assert (caught.value.line, caught.value.column) == (2, 13)


def test_files_that_make_no_corpus(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD * 2, encoding="utf-8")
    (tmp_path / "text").write_text("a\n", encoding="utf-8")
    for files in (SideFiles(conllu=path, jsonl=path), SideFiles(penn=path, jsonl=path)):
        with pytest.raises(ConfigError, match="JSON lines and other trees of the source"):
            read_parsed_bitext(files, SideFiles(text=path))
    with pytest.raises(ConfigError, match="trees and text of the target"):
        read_parsed_bitext(SideFiles(text=path), SideFiles(text=path, jsonl=path))
    with pytest.raises(InputError, match=r"ends after 1 sentences, but .*jsonl has more") as caught:
        read_parsed_bitext(SideFiles(jsonl=path), SideFiles(text=tmp_path / "text"))
    assert caught.value.path == str(tmp_path / "text")
    path.write_text(json.dumps({"forms": ["a"] * 70_000}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="65,535") as caught:
        read_parsed_corpus(jsonl=path)
    assert (caught.value.path, caught.value.line) == (str(path), 1)


# Rules


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded corpus in all formats."""
    folder = tmp_path_factory.mktemp("corpus")
    write_example(folder, sizes=Sizes(120, 0, 0, 0))
    return folder


@pytest.mark.parametrize("grammar", [name for name in registry.rule_grammars() if registry.grammar(name).needs])
def test_the_same_rules_from_either_format(corpus: Path, tmp_path: Path, grammar: str) -> None:
    known = registry.grammar(grammar)
    name = str(corpus / "train")
    target = f"{name}.en" if not known.target_trees else None
    two_files = Inputs(target, f"{name}.align", conllu=f"{name}.zh.conllu", penn=f"{name}.zh.penn")
    lines = Inputs(target, f"{name}.align", jsonl=f"{name}.jsonl")
    if known.target_trees:
        two_files = two_files._replace(target_conllu=f"{name}.en.conllu", target_penn=f"{name}.en.penn")
        lines = lines._replace(target_jsonl=f"{name}.jsonl")
    build_rules(grammar, two_files, tmp_path / "two.tgrt", threads=1)
    build_rules(grammar, lines, tmp_path / "lines.tgrt", threads=1)
    assert (tmp_path / "two.tgrt").read_bytes() == (tmp_path / "lines.tgrt").read_bytes()


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="--source-jsonl and other trees"):
        check_inputs("dep2str", Inputs("e", "a", conllu="c", jsonl="j"))
    with pytest.raises(ConfigError, match="dep2str without --source-conllu") as caught:
        check_inputs("dep2str", Inputs("e", "a", source="f"))
    assert "--source-jsonl" in caught.value.remedy
    check_inputs("stsg", Inputs(None, "a", nodes="n", jsonl="f", target_jsonl="e"))


# Real treebanks


def test_real_treebanks(data: Callable[[str], Path], tmp_path: Path) -> None:
    """Crossing arcs, multiword tokens and empty nodes; functions; gaps."""
    for name, items in (
        ("de", islice(read_conllu(data("trees/ud-pud/de_pud-ud-test.conllu")), 500)),
        ("nl", islice(read_tiger(data("trees/tblign-nl-en/trainset/gold/SEDE.250.s.tiger.xml")), 500)),
        ("fr", islice(read_penn(data("trees/sequoia-fr/sequoia-corpus+fct.mrg_strict")), 500)),
    ):
        write_jsonl(items, tmp_path / f"{name}.jsonl")
        assert same_as_python(tmp_path / f"{name}.jsonl") > 200
