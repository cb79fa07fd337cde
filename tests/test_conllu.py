"""CoNLL-U: byte-for-byte round trips, agreement with the conllu package, damage, and constant memory."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot import InputError, TreeError, TreeglotError
from treeglot.trees import ConstituencyTree, DependencyTree, EmptyNode, MultiwordRange, ParsedSentence, Tokens
from treeglot.trees.conllu import format_conllu, parse_conllu, read_conllu, write_conllu

EXAMPLE = """\
# newdoc id = d
# sent_id = s-1
# text = Je vais au lac et Anna à la mer.
1	Je	je	PRON	CLS	Person=1|PronType=Prs	2	nsubj	2:nsubj	_
2	vais	aller	VERB	V	_	0	root	0:root	_
3-4	au	_	_	_	_	_	_	_	_
3	à	à	ADP	P	_	5	case	5:case	_
4	le	le	DET	D	Gender=Masc	5	det	5:det	_
5	lac	lac	NOUN	N	_	2	obl	2:obl	_
6	et	et	CCONJ	C	_	7	cc	7.1:cc	_
7	Anna	Anna	PROPN	N	_	2	conj	7.1:nsubj	_
7.1	va	aller	VERB	V	_	_	_	2:conj	_
8-10	à la mer	_	_	_	_	_	_	_	SpaceAfter=No
8	à	à	ADP	P	_	10	case	10:case	_
9	la	le	DET	D	_	10	det	10:det	_
10	mer	mer	NOUN	N	_	7	orphan	7.1:obl	_
11	.	.	PUNCT	.	_	2	punct	2:punct	SpaceAfter=No

# sent_id = s-2
1	東京	東京	PROPN	_	_	0	root	_	_

"""


def is_conllu(path: Path) -> bool:
    """Whether the file has a line of ten columns that starts with a number, whatever it is called."""
    with path.open("rb") as file:
        return any(line.count(b"\t") == 9 and line[:1].isdigit() for _, line in zip(range(100), file, strict=False))


def test_everything_is_kept() -> None:
    first, second = parse_conllu(EXAMPLE)
    assert first.id == "s-1" and second.id == "s-2"
    assert first.text == "Je vais au lac et Anna à la mer."
    assert first.tokens.forms == ("Je", "vais", "à", "le", "lac", "et", "Anna", "à", "la", "mer", ".")
    assert first.tokens[0] == ("Je", "je", "PRON", "CLS", "Person=1|PronType=Prs", "2:nsubj", "_")
    assert first.dependency is not None and first.dependency.tokens is first.tokens
    assert first.dependency.heads == (1, -1, 4, 4, 1, 6, 1, 9, 9, 6, 1)
    assert first.dependency.deprels[9] == "orphan"
    assert [(multiword.start, multiword.end, multiword.columns[1]) for multiword in first.ranges] == [
        (2, 4, "au"),
        (7, 10, "à la mer"),
    ]
    assert first.empty_nodes == (EmptyNode(7, ("7.1", "va", "aller", "VERB", "V", "_", "_", "_", "2:conj", "_")),)
    assert second.comments == ("# sent_id = s-2",) and second.ranges == () and second.notes == ()
    assert "".join(map(format_conllu, (first, second))) == EXAMPLE


def test_sentences_are_as_their_constructors_make_them() -> None:
    """The reader makes its objects without the constructors; nothing may show that."""
    for sentence in parse_conllu(EXAMPLE):
        tree = sentence.dependency
        assert tree is not None
        assert vars(tree).keys() == vars(DependencyTree(tree.tokens, tree.heads, tree.deprels)).keys()
        assert DependencyTree(tree.tokens, tree.heads, tree.deprels) == tree
        assert vars(replace(sentence)) == vars(sentence)
        assert Tokens(*sentence.tokens.columns()) == sentence.tokens
        assert pickle.loads(pickle.dumps(sentence)) == sentence == copy.deepcopy(sentence)
        assert hash(replace(sentence)) == hash(sentence)
        with pytest.raises(AttributeError):
            sentence.id = "x"  # type: ignore[misc]
        with pytest.raises(AttributeError):
            sentence.tokens.forms = ()


def test_equal_values_are_one_object() -> None:
    first, _ = parse_conllu(EXAMPLE)
    assert first.dependency is not None
    assert first.dependency.deprels[2] is first.dependency.deprels[7]
    assert first.tokens.upos[2] is first.tokens.upos[7]


@pytest.mark.parametrize("folder", ["trees", "words"])
def test_real_files_come_back_byte_for_byte(folder: str, data: Callable[[str], Path], tmp_path: Path) -> None:
    files = sorted(path for path in data(folder).rglob("*") if path.is_file() and is_conllu(path))
    assert files
    for path in files:
        twin = tmp_path / "twin.conllu"
        assert write_conllu(read_conllu(path), twin) > 0
        assert twin.read_bytes() == path.read_bytes(), path


@pytest.mark.parametrize("name", ["trees/ud-pud", "trees/sequoia-fr"])
def test_real_files_read_as_by_the_conllu_package(name: str, data: Callable[[str], Path]) -> None:
    conllu = pytest.importorskip("conllu")
    path = max(
        data(name).glob("*.conllu"), key=lambda file: file.read_bytes().count(b"\n8.1\t") * 10**9 + file.stat().st_size
    )
    compare(list(read_conllu(path)), conllu.parse(path.read_text("utf-8"), field_parsers=RAW))


RAW = dict.fromkeys(("xpos", "feats", "deps", "misc", "head"), lambda line, i: line[i])
"""Keeps the conllu package from taking columns apart."""


def test_the_example_reads_as_by_the_conllu_package() -> None:
    conllu = pytest.importorskip("conllu")
    compare(list(parse_conllu(EXAMPLE)), conllu.parse(EXAMPLE, field_parsers=RAW))


def compare(ours: list[ParsedSentence], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.id == other.metadata["sent_id"]
        words = [token for token in other if isinstance(token["id"], int)]
        names = ("form", "lemma", "upos", "xpos", "feats", "deps", "misc")
        assert [tuple(token[name] for name in names) for token in words] == list(map(tuple, mine.tokens))
        assert mine.dependency is not None
        assert [(int(token["head"]) - 1, token["deprel"]) for token in words] == list(
            zip(mine.dependency.heads, mine.dependency.deprels, strict=True)
        )
        ranges = [token["id"] for token in other if not isinstance(token["id"], int) and token["id"][1] == "-"]
        assert ranges == [(multiword.start + 1, "-", multiword.end) for multiword in mine.ranges]
        empty = [token["id"][0] for token in other if not isinstance(token["id"], int) and token["id"][1] == "."]
        assert empty == [node.after for node in mine.empty_nodes]


def test_line_ends_bom_and_surplus_blank_lines() -> None:
    expected = list(parse_conllu(EXAMPLE))
    assert list(parse_conllu("\ufeff" + EXAMPLE.replace("\n", "\r\n"))) == expected
    assert list(parse_conllu(f"\n\n{EXAMPLE}".replace("\n\n", "\n\n \n\n").encode())) == expected
    assert list(parse_conllu("")) == list(parse_conllu("\n")) == []


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_the_end_of_the_file_is_kept(cut: int, tmp_path: Path) -> None:
    text = EXAMPLE[: len(EXAMPLE) - cut]
    (tmp_path / "in.conllu").write_text(text, "utf-8")
    sentences = list(read_conllu(tmp_path / "in.conllu"))
    assert sentences == list(parse_conllu(EXAMPLE)), "the end of the file is no part of a sentence"
    assert write_conllu(iter(sentences), tmp_path / "out.conllu") == 2
    assert (tmp_path / "out.conllu").read_text("utf-8") == text
    write_conllu(reversed(sentences), tmp_path / "turned.conllu")
    turned = (tmp_path / "turned.conllu").read_text("utf-8")
    assert turned == "".join(map(format_conllu, reversed(sentences))), "only the last sentence's end counts"


def test_a_sentence_without_heads_has_no_tree() -> None:
    text = "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    [sentence] = parse_conllu(text)
    assert sentence.dependency is None and sentence.tokens.upos == ("X", "X")
    assert format_conllu(sentence) == text


@pytest.mark.parametrize("ending", ["conllu", "conllu.gz", "conllu.zst"])
def test_packed_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{ending}"
    assert write_conllu(parse_conllu(EXAMPLE), path) == 2
    assert list(read_conllu(path)) == list(parse_conllu(EXAMPLE))
    first = path.read_bytes()
    write_conllu(read_conllu(path), path)
    assert path.read_bytes() == first
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXAMPLE.encode())))
    write_conllu(read_conllu("-"), "-")
    assert capfdbinary.readouterr().out == EXAMPLE.encode()


def test_an_error_leaves_no_file_but_gives_the_sentences_before_it(tmp_path: Path) -> None:
    broken = EXAMPLE + "1\tx\n"
    reading = parse_conllu(broken, "origin.txt", first_line=101)
    assert [next(reading).id, next(reading).id] == ["s-1", "s-2"]
    with pytest.raises(InputError) as caught:
        next(reading)
    assert (caught.value.path, caught.value.line, caught.value.column) == ("origin.txt", 122, 1)
    with pytest.raises(InputError):
        write_conllu(parse_conllu(broken), tmp_path / "out.conllu")
    assert not list(tmp_path.iterdir())


def test_lone_surrogates_are_refused_both_ways(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not UTF-8"):
        list(parse_conllu("1\t\ud800\t_\t_\t_\t_\t0\troot\t_\t_\n\n"))
    with pytest.raises(TreeError, match="surrogate"):
        write_conllu([ParsedSentence(Tokens(["\ud800"]))], tmp_path / "x.conllu")
    assert not list(tmp_path.iterdir())


def test_sentences_of_other_origin_get_comments() -> None:
    tokens = Tokens(
        ["de", "l'", "eau", "!"], misc=["_", "SpaceAfter=No", "SpaceAfter=No", "_"], upos=["", "X", "X", "X"]
    )
    tree = ConstituencyTree.build(tokens, ("NP", ("P", 0), 1, 2, 3))
    sentence = ParsedSentence(tokens, None, tree, id="p7")
    lines = format_conllu(sentence).splitlines()
    assert lines[:3] == ["# sent_id = p7", "# text = de l'eau!", "1\tde\t_\t_\t_\t_\t_\t_\t_\t_"]
    assert next(parse_conllu(format_conllu(sentence))).id == "p7"
    named = replace(sentence, comments=("# text = De l'eau !", "# sent_id=old "))
    assert format_conllu(named).splitlines()[:2] == ["# text = De l'eau !", "# sent_id = p7"]
    assert format_conllu(replace(sentence, id="")).startswith("1\t")
    whole = MultiwordRange(0, 2, ("0-0", "del", *"______", "_", "SpaceAfter=No"))
    assert "# text = deleau!\n1-2\tdel\t" in format_conllu(replace(sentence, ranges=(whole,)))


ROW = ("?", "x", *"________")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tokens": Tokens([])}, "no words"),
        ({"tokens": Tokens(["a", ""])}, "word 2 has an empty form"),
        ({"tokens": Tokens(["a"], lemmas=["a\tb"])}, "the LEMMA 'a\\tb' of word 1"),
        ({"tokens": Tokens(["a", "b\nc"])}, "the FORM 'b\\nc' of word 2"),
        ({"tokens": Tokens(["a\0"])}, "NUL"),
        ({"tokens": Tokens(["a"], misc=["\r"])}, "the MISC '\\r' of word 1"),
        ({"comments": ("# fine", "no comment")}, "the comment 'no comment'"),
        ({"comments": ("# two\n# lines",)}, "is not one line"),
        ({"id": "a\nb"}, "is not one line"),
        ({"ranges": (MultiwordRange(0, 2, ROW),)}, "the range 1-2 is out of place"),
        ({"ranges": (MultiwordRange(0, 1, ROW[:9]),)}, "has not ten columns"),
        ({"ranges": (MultiwordRange(0, 1, ROW),) * 2}, "the range 1-1 is out of place"),
        ({"empty_nodes": (EmptyNode(2, ROW),)}, "the empty node after word 2 is out of place"),
    ],
)
def test_what_cannot_be_written_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(TreeError) as caught:
        format_conllu(replace(ParsedSentence(Tokens(["a"])), **change))
    assert says in caught.value.message and caught.value.remedy


# Values may hold anything but what ends a column or a line.
VALUES = st.text(st.characters(exclude_characters="\t\n\r\0", exclude_categories=("Cs",)), min_size=1, max_size=6)
IDS = st.text("abcÄ-_ 1", max_size=4).map(str.strip)


@st.composite
def sentences(draw: st.DrawFn) -> ParsedSentence:
    size = draw(st.integers(1, 8))
    column = st.lists(VALUES | st.just("_"), min_size=size, max_size=size)
    tokens = Tokens(*(draw(column) for _ in range(7)))
    # Words in a random order, each below one that came before it, give every tree shape.
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for position, j in enumerate(order[1:], start=1):
        heads[j] = order[draw(st.integers(0, position - 1))]
    tree = draw(st.none() | st.just(DependencyTree(tokens, heads, draw(column))))
    borders = sorted(draw(st.sets(st.integers(0, size), max_size=4)))
    rest = st.tuples(*[VALUES] * 9)
    ranges = tuple(
        MultiwordRange(start, end, (f"{start + 1}-{end}", *draw(rest)))
        for start, end in zip(borders[::2], borders[1::2], strict=False)
    )
    empty: list[EmptyNode] = []
    for after in range(size + 1):
        for number in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            empty.append(EmptyNode(after, (f"{after}.{number + 1}", *draw(rest))))
    name = draw(IDS)
    comments = draw(st.lists(VALUES.filter(lambda text: "sent_id" not in text).map("# x ".__add__), max_size=2))
    if name:
        comments.insert(draw(st.integers(0, len(comments))), f"# sent_id = {name}")
    return ParsedSentence(tokens, tree, None, name, tuple(comments), ranges, tuple(empty))


@given(st.lists(sentences(), max_size=3))
def test_random_sentences_come_back(written: list[ParsedSentence]) -> None:
    text = "".join(map(format_conllu, written))
    assert list(parse_conllu(text)) == written
    assert "".join(map(format_conllu, parse_conllu(text.encode()))) == text


@given(st.binary(max_size=200) | st.text("1234-.\t\n_#0 ax\r\ufeff", max_size=200).map(str.encode))
@settings(max_examples=tries(300))
def test_random_bytes_are_read_or_refused(noise: bytes) -> None:
    read_or_refused(noise)


DAMAGE = st.tuples(
    st.integers(0, len(EXAMPLE.encode())),
    st.integers(0, 30),
    st.sampled_from(
        [b"", b"\t", b"\n", b"\n\n", b"0", b"1", b"-", b".", b"_", b"#", b" ", b"\r", b"\0", b"\xff", b"\xc3"]
    ),
)


@given(st.lists(DAMAGE, min_size=1, max_size=4))
@settings(max_examples=tries(300))
def test_random_damage_is_read_or_refused(damage: list[tuple[int, int, bytes]]) -> None:
    text = EXAMPLE.encode()
    for at, length, instead in damage:
        text = text[:at] + instead + text[at + length :]
    read_or_refused(text)


def read_or_refused(text: bytes) -> None:
    """What is read obeys the invariants and comes back when written; what is refused says where and why."""
    sentences: list[ParsedSentence] = []
    try:
        for sentence in parse_conllu(text, "noise"):
            if sentence.dependency is not None:
                DependencyTree(sentence.tokens, sentence.dependency.heads, sentence.dependency.deprels)
            sentences.append(sentence)
    except TreeglotError as error:
        assert error.path == "noise" and error.remedy
        assert error.line is not None and 1 <= error.line <= text.count(b"\n") + 1
    assert list(parse_conllu("".join(map(format_conllu, sentences)))) == sentences


def test_reading_takes_constant_memory(tmp_path: Path) -> None:
    small, large = tmp_path / "small.conllu.gz", tmp_path / "large.conllu.gz"
    for path, times in ((small, 10_000), (large, 40_000)):
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as out:
            for i in range(times):
                # New words all the time, so that a cache that only grew would show.
                for j in range(1, 6):
                    out.write(f"{j}\tform{i}.{j}\tlemma{i}.{j}\tX\t_\t_\t{j - 1}\tdep\t_\t_\n")
                out.write("\n")

    def peak(path: Path) -> int:
        tracemalloc.start()
        count = sum(1 for _ in read_conllu(path))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count in (10_000, 40_000)
        return highest

    first = peak(small)
    assert first < 4_000_000
    assert peak(large) < first * 1.2


def test_reading_starts_before_the_file_ends() -> None:
    """The stream is asked for more only when the sentences it gave are used up."""

    class Pipe(io.RawIOBase):
        asked = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            self.asked += 1
            content = EXAMPLE.encode()
            buffer[: len(content)] = content
            return len(content)

    pipe = Pipe()

    class Stdin:
        buffer = io.BufferedReader(pipe)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Stdin())
        reading: Iterator[ParsedSentence] = read_conllu("-")
        assert [next(reading).id for _ in range(4)] == ["s-1", "s-2", "s-1", "s-2"]
    assert pipe.asked == 2


def test_long_sentences(tmp_path: Path) -> None:
    tokens = Tokens(["w"] * 50_000)
    chain = ParsedSentence.of(DependencyTree.trusted(tokens, tuple(range(-1, 49_999)), ("dep",) * 50_000))
    write_conllu([chain], tmp_path / "long.conllu")
    [back] = read_conllu(tmp_path / "long.conllu")
    assert back == chain
