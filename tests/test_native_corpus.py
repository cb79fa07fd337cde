"""The native readers of parsed corpora give what the Python readers and the Python operations on trees give; the stored
corpus gives it again."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from effort import tries
from random_trees import constituency_trees
from tree_strategies import HARD_WORD, damaged, links, phrases, token_lists
from treeglot import InputError, TreeError, TreeglotError
from treeglot._core import parsed
from treeglot.errors import ConfigError
from treeglot.links import LinkArrays, read_links
from treeglot.trees import AlignedPair, ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import format_conllu, read_conllu, write_conllu
from treeglot.trees.continuous import make_continuous
from treeglot.trees.corpus import (
    Binarize,
    ParsedBitext,
    Parses,
    SideFiles,
    iterate_parsed_bitext,
    parsed_corpus,
    read_parsed_bitext,
    read_parsed_corpus,
    read_trees,
)
from treeglot.trees.heads import lexical_heads
from treeglot.trees.nodelinks import all_links, format_node_links
from treeglot.trees.penn import format_penn, read_penn
from treeglot.trees.stored import add_links, open_corpus, stored_sentence, write_corpus
from treeglot.trees.tiger import read_tiger
from treeglot.trees.wordlinks import format_pharaoh, read_pharaoh

DIRECTIONS: tuple[Binarize, ...] = ("none", "left", "right", "head")
SHARED_FOLDER = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def dependencies(random_heads: random.Random, tokens: Tokens) -> DependencyTree:
    """Any tree, mostly not projective."""
    order = list(range(len(tokens)))
    random_heads.shuffle(order)
    heads = [-1] * len(order)
    for k in range(1, len(order)):
        heads[order[k]] = order[random_heads.randrange(k)]
    return DependencyTree(tokens, heads, [random_heads.choice(["nsubj", "nmod:poss", "_", "a/b"]) for _ in heads])


@st.composite
def sentences(draw: st.DrawFn) -> ParsedSentence:
    """Both trees over words that brackets must escape; the tags of one, the other or both."""
    tokens = draw(token_lists(HARD_WORD, rich=False))
    tree = draw(
        st.one_of(
            phrases(tokens, continuous=True),
            st.just(ConstituencyTree(tokens, ["S"], [[~j for j in range(len(tokens))]])),
        )
    )
    known = draw(st.sampled_from([tokens, Tokens(tokens.forms), Tokens(tokens.forms, upos=["X"] * len(tokens))]))
    heads = dependencies(random.Random(draw(st.integers(0, 1 << 30))), known)
    return ParsedSentence.of(heads, tree)


@st.composite
def treebank_sentences(draw: st.DrawFn) -> ParsedSentence:
    """Labels, tags and functions that the head tables know, coordinations and punctuation among them."""
    tree = draw(constituency_trees(12))
    return ParsedSentence.of(dependencies(random.Random(draw(st.integers(0, 1 << 30))), tree.tokens), tree)


def write_both(sentences: Iterable[ParsedSentence], folder: Path, *, pretty: bool = False) -> SideFiles:
    sentences = list(sentences)
    conllu, penn = folder / "x.conllu", folder / "x.penn"
    write_conllu((ParsedSentence(s.tokens, s.dependency) for s in sentences), conllu)
    with penn.open("w", encoding="utf-8") as file:
        file.writelines(format_penn(s.constituency, pretty=pretty) + "\n" for s in sentences if s.constituency)
    return SideFiles(conllu, penn)


def same_as_python(files: SideFiles, *, some: int | None = None) -> int:
    """All columns of both ways, for every kind of binarisation; returns the number of sentences."""
    read = list(islice(read_trees(files.conllu, files.penn), some))
    for direction in DIRECTIONS:
        ours = read_parsed_corpus(files.conllu, files.penn, binarize=direction)
        theirs = parsed_corpus(read, binarize=direction)
        assert some is not None or (len(ours), ours.lifted) == (len(theirs), theirs.lifted)
        for n in range(len(theirs)):
            assert ours.columns.sentence(n) == theirs.columns.sentence(n), (direction, n)
    return len(read)


# Random trees


@SHARED_FOLDER
@given(st.lists(sentences(), min_size=1, max_size=3), st.booleans())
def test_awkward_words_and_labels(tmp_path: Path, drawn: list[ParsedSentence], pretty: bool) -> None:
    files = write_both(drawn, tmp_path, pretty=pretty)
    same_as_python(files)
    same_as_python(SideFiles(files.conllu))
    same_as_python(SideFiles(penn=files.penn))


@SHARED_FOLDER
@given(st.lists(treebank_sentences(), min_size=1, max_size=3))
def test_heads_by_the_tables(tmp_path: Path, drawn: list[ParsedSentence]) -> None:
    files = write_both(drawn, tmp_path)
    same_as_python(files)
    bitext = read_parsed_bitext(files, SideFiles(penn=files.penn), head_words=True)
    for n, sentence in enumerate(read_trees(files.conllu, files.penn)):
        assert sentence.constituency is not None
        assert bitext.columns.source.head_words(n) == list(lexical_heads(sentence.constituency))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(0, 1 << 30))
def test_projective_trees(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], seed: int) -> None:
    rng = random.Random(seed)
    trees = [dependencies(rng, Tokens([f"w{j}" for j in range(size + 1)])) for size in sizes]
    path = tmp_path_factory.mktemp("projective") / "x.conllu"
    write_conllu(map(ParsedSentence.of, trees), path)
    same_as_python(SideFiles(path))


def test_layouts(tmp_path: Path) -> None:
    """Trees over lines, lines of trees, a byte-order mark, windows' line ends, labels on lines of their own, bare words."""
    path = tmp_path / "x.penn"
    path.write_bytes(
        "\ufeff( (S\r\n  (NP-SBJ\r\n (DT\r\n the) (\r\nNN dog))(VP (V barks)))) (X y)\r\n\r\n  (NP (A b) c\n)"
        "((NN one))\n( (S (A a)) (S (B b)))\n(NP---X (-LRB- -LRB-) (-LRB--SBJ \\-LRB-) (N a\\/b) (--=2 x) (*RRB*LRB* y))".encode()
    )
    assert same_as_python(SideFiles(penn=path)) == 6


def test_tags_of_both_files_are_merged(tmp_path: Path) -> None:
    words = "\n".join(
        "\t".join([str(n), form, "_", upos, xpos, "_", str(n - 1), "x", "_", "_"])
        for n, (form, upos, xpos) in enumerate([("a", "U", "X"), ("b", "U", "_"), ("c", "U", "_"), ("d", "_", "_")], 1)
    )
    (tmp_path / "x.conllu").write_text(words + "\n\n", encoding="utf-8")
    (tmp_path / "x.penn").write_text("(S (P a) (P b) c d)\n", encoding="utf-8")
    files = SideFiles(tmp_path / "x.conllu", tmp_path / "x.penn")
    same_as_python(files)
    assert read_parsed_corpus(*files[:2]).columns.sentence(0)[1] == ("X", "P", "U", "_")


def test_sentences_without_a_dependency_tree(tmp_path: Path) -> None:
    row = "1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
    (tmp_path / "x.conllu").write_text(row + row.replace("\t_\t_\t_\t_\n", "\t0\troot\t_\t_\n"), encoding="utf-8")
    (tmp_path / "x.penn").write_text("(NP (NN dog))\n(NP (NN dog))\n", encoding="utf-8")
    files = SideFiles(tmp_path / "x.conllu", tmp_path / "x.penn")
    same_as_python(files)
    same_as_python(SideFiles(files.conllu))


# Broken files

SENTENCE = ParsedSentence.of(
    DependencyTree(Tokens(["the", "dog", "(", "barked", ")"], xpos=["DT", "NN", "(", "VBD", ")"]), [1, 3, 3, -1, 3]),
    ConstituencyTree.build(
        Tokens(["the", "dog", "(", "barked", ")"], xpos=["DT", "NN", "(", "VBD", ")"]),
        ("S", ("NP", 0, 1), 2, ("VP", 3), 4),
    ),
)


def outcome(read: Callable[[], object]) -> object:
    """What reading gives, or where and why it fails."""
    try:
        return read()
    except InputError as error:
        assert error.remedy
        # Python shows words as its own strings, the core as they are.
        return (Path(error.path or "").name, error.line, re.sub(r"'[^']*'|\"[^\"]*\"", "''", error.message))


@settings(max_examples=tries(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        damaged((format_penn(SENTENCE.constituency) + "\n").encode() * 3 if SENTENCE.constituency else b"").map(
            lambda b: ("penn", b)
        ),
        damaged(format_conllu(SENTENCE).encode() * 3).map(lambda b: ("conllu", b)),
    )
)
def test_damaged_files(tmp_path: Path, damage: tuple[str, bytes]) -> None:
    """Both readers stop at the same line for the same reason, or read the same."""
    write_both([SENTENCE] * 3, tmp_path)
    (tmp_path / f"x.{damage[0]}").write_bytes(damage[1])
    conllu, penn = tmp_path / "x.conllu", tmp_path / "x.penn"
    theirs = outcome(lambda: columns_of(parsed_corpus(read_trees(conllu, penn)).columns))
    ours = outcome(lambda: columns_of(read_parsed_corpus(conllu, penn).columns))
    if isinstance(theirs, tuple) and isinstance(ours, tuple) and "different tokens" in theirs[2]:
        assert ours[:2] == theirs[:2]
        return
    assert ours == theirs


def columns_of(corpus: parsed.ParsedSentences) -> list[object]:
    return [corpus.sentence(n) for n in range(len(corpus))]


@pytest.mark.parametrize(
    ("name", "content", "line", "says"),
    [
        ("links", "0-0\n0-0 2:1\n", 2, "'2:1' is not a link"),
        ("links", "0-0\n0-0 1-1 0-0\n", 2, "the link 0-0 is given twice"),
        ("links", "0-0\n0-0:abe\n", 2, "is not a link"),
        ("links", "0-0\n0-0:..\n", 2, "'..' is not a number"),
        ("links", "0-0\n0-99999\n", 2, "beyond the longest sentence"),
        ("links", "0-0\n0-5\n", 2, "link 0-5 is outside the sentences of 5 and 5 words"),
        ("links", "0-0\n", 2, "ends after 1 sentences, but"),
        ("links", "\n\n\n", None, "ends after 2 sentences, but"),
        ("nodes", "0-0\n0-w9\n", 2, "the target has no word w9, only 5"),
        ("nodes", "0-0\n7-0\n", 2, "the source has no phrase 7, only 3"),
        ("nodes", "0-0\n0-0 0-0-P\n", 2, "the link 0-0-P is given twice"),
        ("nodes", "0-0\n0-0:inf\n", 2, "is not a link of nodes"),
        ("nodes", "0-0\n0-0:1e999\n", 2, "the score '1e999' is not a number"),
        ("nodes", "0-0\n0x0\n", 2, "'0x0' is not a link of nodes"),
    ],
)
def test_broken_links(tmp_path: Path, name: str, content: str, line: int | None, says: str) -> None:
    files = write_both([SENTENCE] * 2, tmp_path)
    (tmp_path / "links").write_text("0-0\n\n", encoding="utf-8")
    (tmp_path / "nodes").write_text("0-0\n\n", encoding="utf-8")
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_parsed_bitext(files, files, tmp_path / "links", tmp_path / "nodes")
    assert says in caught.value.message and caught.value.remedy
    if line is not None:
        assert (Path(caught.value.path or "").name, caught.value.line) == (name, line)


def test_files_that_make_no_corpus(tmp_path: Path) -> None:
    files = write_both([SENTENCE], tmp_path)
    with pytest.raises(ConfigError, match="no target"):
        read_parsed_bitext(files, SideFiles())
    with pytest.raises(ConfigError, match="trees and text of the source"):
        read_parsed_bitext(files._replace(text=files.conllu), files)
    with pytest.raises(InputError, match="no such file"):
        read_parsed_bitext(files, SideFiles(text=tmp_path / "nothing"))
    (tmp_path / "x.penn").write_text("(X@S (NN a) (NN b) (NN c))\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"sentence 1: .*X@"):
        read_parsed_corpus(None, tmp_path / "x.penn", binarize="left")


# Pairs


@st.composite
def aligned(draw: st.DrawFn) -> AlignedPair:
    source, target = draw(treebank_sentences()), draw(treebank_sentences())
    assert source.constituency and target.constituency
    ends = [range(-len(s), len(s.constituency)) for s in (source, target) if s.constituency]
    nodes = [link for link in draw(links(*ends)) if link.source >= 0 or link.target >= 0]
    return AlignedPair(source, target, draw(links(range(len(source)), range(len(target)))), nodes)


def write_pairs(pairs: list[AlignedPair], folder: Path) -> tuple[SideFiles, SideFiles, Path, Path]:
    for side in ("a", "b"):
        (folder / side).mkdir(exist_ok=True)
    sides = write_both((p.source for p in pairs), folder / "a"), write_both((p.target for p in pairs), folder / "b")
    (folder / "links").write_text(
        "".join(format_pharaoh(p.word_links, scores=True) + "\n" for p in pairs), encoding="utf-8"
    )
    (folder / "nodes").write_text("".join(format_node_links(all_links(p)) + "\n" for p in pairs), encoding="utf-8")
    return *sides, folder / "links", folder / "nodes"


def native_node(sentence: ParsedSentence, node: int) -> int:
    assert sentence.constituency is not None
    return node if node >= 0 else len(sentence.constituency) + ~node


def same_pairs(bitext: ParsedBitext, pairs: list[AlignedPair]) -> None:
    columns = bitext.columns
    assert len(columns) == columns.sentences == len(pairs)
    for n, pair in enumerate(pairs):
        for side, sentence in ((columns.source, pair.source), (columns.target, pair.target)):
            assert side.sentence(n) == parsed_corpus([sentence]).columns.sentence(0)
        assert columns.links(n) == [link[:2] for link in pair.word_links]
        assert columns.node_links(n) == sorted(
            (native_node(pair.source, link.source), native_node(pair.target, link.target)) for link in all_links(pair)
        )


@SHARED_FOLDER
@given(st.lists(aligned(), min_size=1, max_size=4))
def test_two_parsed_sides(tmp_path: Path, pairs: list[AlignedPair]) -> None:
    """Trees, links and nodes of both sides, read and stored; after binarisation links still join the same phrases."""
    files = write_pairs(pairs, tmp_path)
    bitext = read_parsed_bitext(*files, head_words=True)
    same_pairs(bitext, pairs)
    write_corpus(bitext, tmp_path / "x.tgpc")
    same_pairs(open_corpus(tmp_path / "x.tgpc"), pairs)
    for n, pair in enumerate(pairs):
        for side, sentence in ((bitext.columns.source, pair.source), (bitext.columns.target, pair.target)):
            again = stored_sentence(side, n)
            assert parsed_corpus([again]).columns.sentence(0) == side.sentence(n)
            assert (again.dependency is None) == (sentence.dependency is None)
    write_corpus(read_parsed_bitext(*files[:3], head_words=True), tmp_path / "bare.tgpc")
    same_pairs(open_corpus(tmp_path / "bare.tgpc", nodes=files[3]), pairs)
    for direction in DIRECTIONS[1:]:
        binary = open_corpus(tmp_path / "x.tgpc", binarize=direction, target_binarize="left").columns
        fresh = read_parsed_bitext(*files, binarize=direction, target_binarize="left").columns
        for n, pair in enumerate(pairs):
            assert binary.source.sentence(n) == fresh.source.sentence(n)
            assert binary.source.sentence(n) == parsed_corpus([pair.source], binarize=direction).columns.sentence(0)
            assert binary.node_links(n) == fresh.node_links(n)
            joined = {(described(binary.source, n, a), described(binary.target, n, b)) for a, b in binary.node_links(n)}
            plain = bitext.columns
            assert joined == {
                (described(plain.source, n, a), described(plain.target, n, b)) for a, b in plain.node_links(n)
            }


def described(side: parsed.ParsedSentences, n: int, node: int) -> tuple[object, ...]:
    """A node by what does not change: its label, its words, and how many phrases of the treebank over the same words are above it."""
    phrases = side.sentence(n)[3]
    if node >= len(phrases):
        return ("word", node - len(phrases))
    label, begin, end, parent = phrases[node]
    above = 0
    while parent >= 0:
        above += not phrases[parent][0].startswith("X@")
        parent = phrases[parent][3]
    return (label, begin, end, above)


def test_several_alignments(tmp_path: Path) -> None:
    """Every pair is there once with the links of each file; the last lines need no line end."""
    (tmp_path / "f").write_text("a b\nc\n", encoding="utf-8")
    (tmp_path / "e").write_text("x y\nz", encoding="utf-8")
    (tmp_path / "one").write_text("0-0 1-1\n0-0", encoding="utf-8")
    (tmp_path / "two").write_text("1-0\n\n", encoding="utf-8")
    sides = SideFiles(text=tmp_path / "f"), SideFiles(text=tmp_path / "e")
    write_corpus(read_parsed_bitext(*sides), tmp_path / "x.tgpc")
    columns = open_corpus(tmp_path / "x.tgpc", [tmp_path / "one", tmp_path / "two"]).columns
    assert (len(columns), columns.sentences) == (4, 2)
    assert [columns.links(n) for n in range(4)] == [[(0, 0), (1, 1)], [(0, 0)], [(1, 0)], []]
    with pytest.raises(ValueError, match="no more pairs"):
        columns.add(([], [], [], []), ([], [], [], []), [])
    (tmp_path / "two").write_text("1-0\n0-1\n", encoding="utf-8")
    with pytest.raises(InputError, match="link 0-1 is outside the sentences of 1 and 1 words") as caught:
        open_corpus(tmp_path / "x.tgpc", [tmp_path / "one", tmp_path / "two"])
    assert caught.value.line == 2 and Path(caught.value.path or "") == tmp_path / "two"
    (tmp_path / "two").write_text("1-0\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 lines of links for 2 sentence pairs"):
        open_corpus(tmp_path / "x.tgpc", [tmp_path / "two"])


def test_links_of_nodes_count_from_a_threshold_on(stored: Path, tmp_path: Path) -> None:
    """In a stored corpus as in one that is read: one without a score counts; a wrong file is named with its line."""
    nodes = tmp_path / "nodes"
    nodes.write_text("0-0:0.5 1-1:0.49 w3-w3\n" + "\n" * 4, encoding="utf-8")
    phrases = len(open_corpus(stored).columns.source.sentence(0)[3])
    for threshold, count in ((0.0, 3), (0.5, 2), (0.6, 1)):
        links = open_corpus(stored, nodes=nodes, node_threshold=threshold).columns.node_links(0)
        assert len(links) == count and links[-1] == (phrases + 3, phrases + 3)
        assert not open_corpus(stored, nodes=nodes).columns.node_links(1)
    for text, line, says in (
        ("0-0\n" * 4, 5, "4 lines of node links for 5 sentence pairs"),
        ("0-0\n" * 6, 6, "6 lines of node links"),
        ("0-0\n\n0-99\n\n\n", 3, "the target has no phrase 99"),
        ("0-0\nw99-0\n\n\n\n", 2, "the source has no word w99"),
        ("0-0:x\n" * 5, 1, "is not a link of nodes"),
    ):
        nodes.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=says) as caught:
            open_corpus(stored, nodes=nodes)
        assert (caught.value.path, caught.value.line) == (str(nodes), line) and caught.value.remedy


def test_blocks_of_a_stream(tmp_path: Path) -> None:
    count = 3000
    (tmp_path / "f").write_text("".join(f"wort {n}\n" for n in range(count)), encoding="utf-8")
    (tmp_path / "a").write_text("0-0\n" * count, encoding="utf-8")
    side = SideFiles(text=tmp_path / "f")
    blocks = [block.columns.source for block in iterate_parsed_bitext(side, side, tmp_path / "a")]
    assert [block.words(n)[1] for block in blocks for n in range(len(block))] == [str(n) for n in range(count)]


def test_casing_joins_words(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("Der der DER Hund\n", encoding="utf-8")
    corpus = read_parsed_corpus(text=tmp_path / "f", casing=str.lower)
    assert corpus.words(0) == ["der", "der", "der", "hund"] and corpus.columns.vocabulary == ["der", "hund"]


@given(st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), unique=True, max_size=6), max_size=5))
def test_links_as_arrays(tmp_path_factory: pytest.TempPathFactory, lines: list[list[tuple[int, int]]]) -> None:
    path = tmp_path_factory.mktemp("links") / "x"
    path.write_text("".join(" ".join(f"{a}-{b}" for a, b in line) + "\n" for line in lines), encoding="utf-8")
    arrays = read_links(path)
    assert len(arrays) == len(lines) and arrays.links.dtype == np.int32 and arrays.links.shape[1] == 2
    for n, entry in enumerate(read_pharaoh(path)):
        assert arrays.links[arrays.starts[n] : arrays.starts[n + 1]].tolist() == [
            list(link[:2]) for link in entry.links
        ]


# The stored corpus


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    pairs = [AlignedPair(SENTENCE, SENTENCE, [], [])] * 5
    source, target, _, _ = write_pairs(pairs, folder)
    (folder / "links").write_text("0-0 1-1 4-4\n" * 5, encoding="utf-8")
    (folder / "nodes").write_text("0-0 1-1 w3-w3\n" * 5, encoding="utf-8")
    source = source._replace(parses=(Parses(source.conllu or "", 0.5),))
    write_corpus(
        read_parsed_bitext(source, target, folder / "links", folder / "nodes", head_words=True), folder / "x.tgpc"
    )
    return folder / "x.tgpc"


def test_the_same_corpus_is_the_same_bytes(stored: Path, tmp_path: Path) -> None:
    write_corpus(open_corpus(stored), tmp_path / "again.tgpc")
    assert (tmp_path / "again.tgpc").read_bytes() == stored.read_bytes()


def test_flipped_bits_are_refused(stored: Path, tmp_path: Path) -> None:
    content = stored.read_bytes()
    path = tmp_path / "x.tgpc"
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        with pytest.raises(InputError):
            open_corpus(path)
    for size in (0, 7, 100, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(InputError):
            open_corpus(path)


def with_checksums(content: bytearray) -> bytes:
    """A forged file whose checksums are right: only what it says can give it away."""

    struct.pack_into("<QQ", content, 24, xxhash.xxh64_intdigest(bytes(content[HEADER_SIZE:])), 0)
    struct.pack_into("<Q", content, 32, xxhash.xxh64_intdigest(bytes(content[:HEADER_SIZE])))
    return bytes(content)


SECTIONS = 39
PROBE_SIZE = 40
HEADER_SIZE = 40 + PROBE_SIZE + SECTIONS * 16


def test_forged_files_are_refused(stored: Path, tmp_path: Path) -> None:
    """Offsets, sizes and values of all kinds, with checksums that fit: never a crash, and never a place outside."""
    content = stored.read_bytes()
    path = tmp_path / "x.tgpc"
    path.write_bytes(with_checksums(bytearray(content)))
    assert path.read_bytes() == content, "the test does not know the format any more"
    refused = opened = 0
    rng = random.Random(5)
    places = [40 + PROBE_SIZE + 8 * k for k in range(2 * SECTIONS)]
    values = [0, 1, 8, len(content), len(content) - 8, 1 << 31, 1 << 63, (1 << 64) - 8, (1 << 64) - 1, 1 << 61]
    for place in places:
        for value in values:
            forged = bytearray(content)
            struct.pack_into("<Q", forged, place, value)
            if forged == content:
                continue
            path.write_bytes(with_checksums(forged))
            with pytest.raises(InputError):
                open_corpus(path)
    for _ in range(700):  # and in the columns: what passes must be a good corpus
        forged = bytearray(content)
        place = rng.randrange(HEADER_SIZE, len(content) - 4)
        struct.pack_into("<I", forged, place, rng.choice([0, 1, 2, 7, 255, 65535, 1 << 31, (1 << 32) - 1]))
        path.write_bytes(with_checksums(forged))
        try:
            columns = open_corpus(path, binarize="head").columns
        except InputError:
            refused += 1
            continue
        opened += 1
        for n in range(len(columns)):
            for side in (columns.source, columns.target):
                side.sentence(n)
            columns.links(n), columns.node_links(n)
    assert refused > 200 and opened > 20


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"hello")
    with pytest.raises(InputError, match="not a parsed corpus"):
        open_corpus(tmp_path / "x")
    with pytest.raises(InputError) as caught:
        open_corpus(tmp_path / "nothing")
    assert caught.value.remedy == "check the path"


def test_arrays_that_are_no_links() -> None:
    bitext = parsed.ParsedBitext()
    bitext.add((["a"], [], [], []), (["x"], [], [], []), [])
    for numbers, starts in (([[0, -1]], [0, 1]), ([[0, 0]], [0, 2]), ([[0, 0]], [1, 1]), ([[0, 70000]], [0, 1])):
        with pytest.raises(ValueError):
            bitext.add_links(np.array(numbers, np.int32), np.array(starts, np.int64))
    with pytest.raises(InputError, match="2 lines of links for 1 sentence pairs"):
        add_links(bitext, [LinkArrays(np.zeros((0, 2), np.int32), np.zeros(3, np.int64))])


# Real treebanks


def test_gum(data: Callable[[str], Path]) -> None:
    folder = data("trees/gum-en")
    same = checked = 0
    for conllu in sorted((folder / "dep").glob("*.conllu"))[::12]:
        penn = folder / "const" / f"{conllu.stem}.ptb"
        try:
            checked += same_as_python(SideFiles(conllu, penn))
        except TreeglotError as error:
            native = outcome(lambda conllu=conllu, penn=penn: read_parsed_corpus(conllu, penn))  # type: ignore[misc]
            assert isinstance(native, tuple) and native[1] == error.line
            same_as_python(SideFiles(conllu))
            same += same_as_python(SideFiles(penn=penn))
    assert checked + same > 300


@pytest.mark.parametrize("lang", ["de", "en", "es", "fr", "ja", "zh"])
def test_pud(data: Callable[[str], Path], lang: str) -> None:
    assert same_as_python(SideFiles(data(f"trees/ud-pud/{lang}_pud-ud-test.conllu"))) == 1000


def test_sequoia(data: Callable[[str], Path]) -> None:
    path = data("trees/sequoia-fr/sequoia-corpus+fct.mrg_strict")
    assert same_as_python(SideFiles(penn=path), some=700) == 700


@pytest.mark.parametrize(
    "name",
    [
        "trees/tblign-nl-en/trainset/gold/SEDE.250.s.tiger.xml",
        "trees/tblign-nl-en/trainset/gold/SEDE.250.t.tiger.xml",
    ],
)
def test_treebanks_with_functions(data: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    """Dutch and English trees with functions: the tables that go by them."""
    trees = [sentence.constituency for sentence in read_tiger(data(name))]
    kept = []
    for tree in trees:
        if tree is None:
            continue
        try:
            kept.append(format_penn(make_continuous(tree).tree))
        except TreeError:  # words that brackets cannot hold
            continue
    (tmp_path / "x.penn").write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert same_as_python(SideFiles(penn=tmp_path / "x.penn")) == len(kept) > 200
    assert len(list(read_penn(tmp_path / "x.penn"))) == len(kept)


def test_read_conllu_is_the_same_scanner(data: Callable[[str], Path]) -> None:
    path = data("trees/ud-pud/en_pud-ud-test.conllu")
    native = read_parsed_corpus(path)
    assert [tuple(native.words(n)) for n in range(len(native))] == [s.tokens.forms for s in read_conllu(path)]
