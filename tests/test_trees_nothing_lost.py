"""Converting trees and links loses nothing without a word: pairs without links, pipes, multiword ranges, 1:n pairs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from treeglot import InputError, TreeglotError
from treeglot.trees.conllu import read_conllu
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.convert import Options, convert
from treeglot.trees.formats import links_in_step, read_links, read_pairs, read_sentences
from treeglot.trees.penn import write_penn
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence, joined
from treeglot.trees.tokens import Tokens
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.wordlinks import WordLinks, read_naacl, write_naacl, write_pharaoh

CODE = "import sys; from treeglot.cli import main; sys.argv[0] = 'treeglot'; main()"


def flat(words: str, id: str = "") -> ParsedSentence:
    tokens = Tokens(words.split())
    return ParsedSentence.of(constituency=ConstituencyTree.build(tokens, ("S", *range(len(tokens)))), id=id)


links_of_pairs = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True).map(sorted), min_size=1, max_size=8
)


@given(links_of_pairs, st.randoms())
def test_naacl_links_belong_to_the_pairs_that_they_name(
    tmp_path_factory: pytest.TempPathFactory, links: list[list[tuple[int, int]]], random: Random
) -> None:
    folder = tmp_path_factory.mktemp("naacl")
    entries = [WordLinks(tuple(Link(*link) for link in pair), id=str(n)) for n, pair in enumerate(links, start=1)]
    write_naacl(entries, folder / "a.naacl")
    lines = (folder / "a.naacl").read_text().splitlines(keepends=True)
    random.shuffle(lines)
    (folder / "a.naacl").write_text("".join(lines))
    wanted = [" ".join(f"{i}-{j}" for i, j in pair) for pair in links]
    text = "".join("a b c\n" for _ in links)
    for name in ("s.txt", "t.txt"):
        (folder / name).write_text(text)
    options = Options(source=folder / "s.txt", target=folder / "t.txt")
    convert(folder / "a.naacl", folder / "with.pharaoh", options=options)
    assert (folder / "with.pharaoh").read_text().splitlines() == wanted
    convert(folder / "a.naacl", folder / "alone.pharaoh")  # pairs after the last with links are not known
    alone = (folder / "alone.pharaoh").read_text().splitlines()
    assert alone == wanted[: len(alone)] and not any(wanted[len(alone) :])
    sentences = [flat("a b c")] * len(links)
    write_penn(sentences, folder / "s.penn")
    options = Options(source=folder / "s.penn", target=folder / "s.penn")
    convert(folder / "a.naacl", folder / "trees.jsonl", options=options)
    pairs = [[link[:2] for link in pair.word_links] for pair in read_pairs(folder / "trees.jsonl")]
    assert pairs == links


@pytest.mark.parametrize("ids", [["x"], ["0"], ["1", "01"], ["-1"], ["²"], ["999999999999"]])
def test_names_of_naacl_pairs_that_are_no_numbers_are_refused(tmp_path: Path, ids: list[str]) -> None:
    path = tmp_path / "a.naacl"
    path.write_text("".join(f"{id} 1 1 S\n" for id in ids))
    assert len(list(read_naacl(path))) == len(ids)
    with pytest.raises(InputError, match="number the pairs from 1"):
        convert(path, tmp_path / "a.pharaoh")
    assert not (tmp_path / "a.pharaoh").exists()


@pytest.mark.parametrize("ending", ["naacl", "pharaoh"])
@pytest.mark.parametrize(("source", "target"), [(1, 2), (2, 1), (3, 2), (2, 3), (1, 1), (3, 3)])
def test_sides_and_links_of_different_numbers_are_refused(
    tmp_path: Path, ending: str, source: int, target: int
) -> None:
    entries = [WordLinks((Link(0, 0),), id="1"), WordLinks((Link(0, 0),), id="2")]
    write = write_naacl if ending == "naacl" else write_pharaoh
    write(entries, tmp_path / f"a.{ending}")
    for name, size in (("s", source), ("t", target)):
        (tmp_path / f"{name}.txt").write_text("a b\n" * size)
        write_penn([flat("a b")] * size, tmp_path / f"{name}.penn")
    for kind, to in (("penn", "out.jsonl"), ("txt", "out.a3")):
        options = Options(source=tmp_path / f"s.{kind}", target=tmp_path / f"t.{kind}")
        if ending == "naacl" and source == target == 3:  # the third pair has no links
            assert convert(tmp_path / "a.naacl", tmp_path / to, options=options).items == 3
            continue
        with pytest.raises(InputError, match="has more"):
            convert(tmp_path / f"a.{ending}", tmp_path / to, options=options)
        assert not (tmp_path / to).exists()


def test_links_in_step_with_naacl(tmp_path: Path) -> None:
    (tmp_path / "a.naacl").write_text("3 1 1 S\n")
    both = links_in_step(tmp_path / "a.naacl", "naacl", ("text", "abcd"), remedy="")
    assert [(len(links.links), item) for links, item in both] == [(0, "a"), (0, "b"), (1, "c"), (0, "d")]
    assert [len(entry.links) for entry in read_links(tmp_path / "a.naacl")] == [0, 0, 1]


def pair(n: int) -> AlignedPair:
    return AlignedPair(flat(f"a{n} b", f"s{n}"), flat(f"c{n} d", f"t{n}"), [Link(0, 1)], id=str(n))


PIPED = [
    ("trees", ["convert", "-", "--to", "penn"], 5),
    ("pairs", ["convert", "-", "--to", "penn", "--side", "target"], 5),
    ("pairs", ["convert", "-", "--to", "pharaoh"], 5),
    ("trees", ["stats"], "sentences 5"),
    ("pairs", ["stats"], "pairs 5"),
    ("pairs", ["show"], "a1"),
    ("pairs", ["align"], 5),
    ("pairs", ["links-from-words"], 5),
]


@pytest.mark.parametrize(("name", "arguments", "wanted"), PIPED)
def test_what_comes_through_a_pipe_is_all_read(
    run: Run, tmp_path: Path, name: str, arguments: list[str], wanted: int | str
) -> None:
    """The kind of JSON lines is seen in their first item, which is still to be converted, counted and shown."""
    write_jsonl([pair(n) if name == "pairs" else flat(f"a{n} b", str(n)) for n in range(5)], tmp_path / "a.jsonl")
    text = "\n \t\n" + (tmp_path / "a.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text(text)
    os.mkfifo(tmp_path / "fifo")
    outputs = []
    for place in (tmp_path / "a.jsonl", tmp_path / "fifo"):
        if place.name == "fifo":
            threading.Thread(target=place.write_text, args=[text], daemon=True).start()
        result = run("-q", "trees", arguments[0], place, "--from", "jsonl", *arguments[1:])
        assert result.code == 0, result.err
        outputs.append(result.out.replace(str(place), "").split())
    assert outputs[0] == outputs[1]
    if isinstance(wanted, int):
        assert len(result.out.splitlines()) == wanted
    else:
        assert wanted in " ".join(result.out.split())


def test_the_first_of_standard_input_is_not_lost(tmp_path: Path) -> None:
    write_jsonl([flat(f"a{n} b", str(n)) for n in range(3)], tmp_path / "a.jsonl")
    command = [sys.executable, "-c", CODE, "trees", "convert", "-", "-", "--from", "jsonl", "--to", "jsonl"]
    text = (tmp_path / "a.jsonl").read_text()
    assert subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True).stdout == text


CONLLU = """\
# sent_id = s1
# text = du pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\tDT\t_\t3\tdet\t_\t_
2.1\tx\tx\t_\t_\t_\t_\t_\t3:dep\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No

"""


@pytest.mark.parametrize("first", ["conllu", "penn"])
def test_joining_two_files_keeps_everything_of_both(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU)
    (tmp_path / "a.penn").write_text("(S (ADP de) (NP (DET le) (NN pain)))\n")
    other = "penn" if first == "conllu" else "conllu"
    out = tmp_path / "out.jsonl"
    convert(tmp_path / f"a.{first}", out, options=Options(other=tmp_path / f"a.{other}"))
    [sentence] = read_sentences(out)
    assert len(sentence.ranges) == len(sentence.empty_nodes) == 1
    assert sentence.constituency is not None and sentence.constituency.labels == ("S", "NP")
    if first == "conllu":
        # The bracket's ADP is the universal tag, so it is no XPOS; its NN is one.
        assert sentence.tokens.xpos == ("_", "DT", "NN")
        convert(tmp_path / "a.conllu", tmp_path / "b.conllu", options=Options(other=tmp_path / "a.penn"))
        assert (tmp_path / "b.conllu").read_text() == CONLLU.replace("NOUN\t_", "NOUN\tNN")


def test_joining_keeps_how_a_file_ends(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU.rstrip())
    [sentence] = read_conllu(tmp_path / "a.conllu")
    assert joined(sentence, flat("de le pain")).notes == sentence.notes != ()
    assert joined(flat("de le pain"), sentence, "7").id == "s1"


def test_the_side_of_pairs_has_a_sentence_once_in_json_lines_too(tmp_path: Path) -> None:
    one, other = flat("a b", "s1"), flat("c d", "s2")
    nameless = flat("a b")
    pairs = [
        AlignedPair(one, flat("x", "t1")),
        AlignedPair(one, flat("y", "t2")),
        AlignedPair(other, flat("z", "t3")),
        AlignedPair(nameless, flat("z", "t4")),
        AlignedPair(flat("a b"), flat("z", "t5")),  # said twice, as far as anybody knows
    ]
    write_jsonl(pairs, tmp_path / "a.jsonl")
    assert convert(tmp_path / "a.jsonl", tmp_path / "s.penn", options=Options(side="source")).items == 4
    assert convert(tmp_path / "a.jsonl", tmp_path / "t.penn", options=Options(side="target")).items == 5


def test_links_of_a_real_treebank_through_naacl(tmp_path: Path, data: Callable[[str], Path]) -> None:
    focus = data("trees/squoia-de-es") / "FOCUS_alignments_squoia_de_es.xml"
    count = convert(focus, tmp_path / "a.jsonl").items
    for to in ("naacl", "pharaoh"):
        convert(tmp_path / "a.jsonl", tmp_path / f"a.{to}")
    for side in ("source", "target"):
        pairs = read_pairs(tmp_path / "a.jsonl")
        text = "".join("\t".join(getattr(pair, side).tokens.forms).replace(" ", "_") + "\n" for pair in pairs)
        (tmp_path / side).write_text(text)
    options = Options(source=tmp_path / "source", target=tmp_path / "target")
    report = convert(tmp_path / "a.naacl", tmp_path / "b.pharaoh", options=options)
    assert report.items == count > 490
    assert (tmp_path / "b.pharaoh").read_bytes() == (tmp_path / "a.pharaoh").read_bytes()
    sides = [
        convert(path, tmp_path / "b.penn", options=Options(side="source")) for path in (focus, tmp_path / "a.jsonl")
    ]
    assert sides[0].items == sides[1].items < count


def test_a_pipe_of_xml_wants_its_format_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.xml")
    with pytest.raises(TreeglotError, match="name the format"):
        convert(tmp_path / "a.xml", tmp_path / "b.jsonl")
