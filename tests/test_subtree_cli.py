"""``treeglot trees align``, ``trees evaluate`` and ``trees show --system``, and the files of node links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run, make_runner
from treeglot.trees.formats import read_pairs
from treeglot.trees.nodelinks import all_links, format_node_links, make_pair, parse_node_links
from treeglot.trees.sentence import Link

SOURCE = "(S (NP (D das) (N haus)) (V brennt))\n(S (NP (D das) (N buch)) (VP (V ist) (A alt)))\n(S (NP (D ein) (N haus)) (VP (V ist) (A alt)))\n"
TARGET = "(S (NP (D the) (N house)) (VP (V is) (V burning)))\n(S (NP (D the) (N book)) (VP (V is) (A old)))\n(S (NP (D a) (N house)) (VP (V is) (A old)))\n"


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "s.penn", tmp_path / "t.penn"
    for path, text in zip(paths, (SOURCE, TARGET), strict=True):
        path.write_text(text)
    return paths


@given(
    st.sets(
        st.tuples(
            st.integers(-9, 9),
            st.integers(-9, 9),
            st.sampled_from(["good", "fuzzy"]),
            st.one_of(st.none(), st.floats(-5, 5)),
        )
    )
)
def test_lines_of_node_links_round_trip(links: set[tuple[int, int, str, float | None]]) -> None:
    unique = {link[:2]: Link(*link) for link in links}  # type: ignore[arg-type]
    ordered = tuple(sorted(unique.values(), key=lambda link: link[:2]))
    assert parse_node_links(format_node_links(ordered)) == ordered


def test_the_formats_hold_the_same_links(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    for name in ("x.jsonl", "x.sta.xml", "x.nodes"):
        result = run("trees", "align", *trees, "--out", tmp_path / name)
        assert result.code == 0 and "3 pairs" in result.err, result.err
    assert (tmp_path / "x.source.tiger.xml").exists()
    for system in ("x.sta.xml", "x.nodes", "x.jsonl"):
        scored = json.loads(run("trees", "evaluate", tmp_path / "x.jsonl", tmp_path / system, "--json").out)
        assert all(row["f1"] == 1.0 and row["found"] > 0 for row in scored.values())
    # An aligned file is aligned anew, with its sentences as they are paired.
    assert run("trees", "align", tmp_path / "x.sta.xml", "--out", tmp_path / "y.nodes").code == 0
    assert (tmp_path / "y.nodes").read_text() == (tmp_path / "x.nodes").read_text()
    pairs = list(read_pairs(tmp_path / "x.jsonl"))
    assert [pair.id for pair in pairs] == ["1", "2", "3"]
    assert {(0, 0), (1, 1), (2, 2)} <= {link[:2] for link in all_links(pairs[1])}


def test_the_table_and_the_method_can_be_given(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    (tmp_path / "lex.f2e").write_text("the das 1\nhouse haus 1\nburning brennt 1\n")
    (tmp_path / "lex.e2f").write_text("das the 1\nhaus house 1\nbrennt burning 1\n")
    base = ["trees", "align", *trees, "--lex", tmp_path / "lex", "--format", "nodes"]
    lines = run(*base, "--method", "score2", "--no-words").out.splitlines()
    assert parse_node_links(lines[0])[:2] == parse_node_links(lines[0]) and "1-1:" in lines[0]
    assert run(*base, "--threads", 1).out == run(*base, "--threads", 2).out
    for wrong in (
        ["--method", "score9"],
        ["--format", "xml"],
        ["--floor", 2],
        ["--source-tree", "x"],
        ["--lex", "none"],
    ):
        result = run("trees", "align", *trees, *wrong)
        assert result.code == 1 and "treeglot" in result.err, wrong
    assert run("trees", "align", *trees, "--format", "treealigner").code == 1
    assert run("trees", "align", trees[0]).code == 1


def test_dependencies_and_constituents_mix(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    rows = [("das", 2, "det"), ("haus", 3, "nsubj"), ("brennt", 0, "root")]
    text = "".join(f"{j}\t{word}\t_\t_\t_\t_\t{head}\t{name}\t_\t_\n" for j, (word, head, name) in enumerate(rows, 1))
    (tmp_path / "s.conllu").write_text((text + "\n") * 3)
    result = run("trees", "align", tmp_path / "s.conllu", trees[1], "--out", tmp_path / "x.jsonl")
    assert result.code == 0
    (pair, *_) = read_pairs(tmp_path / "x.jsonl")
    assert pair.source.constituency is not None and pair.source.constituency.labels == ("_", "_")
    done = run("trees", "align", tmp_path / "s.conllu", trees[1], "--out", tmp_path / "x.sta.xml")
    assert done.code == 0, done.err
    banks = (tmp_path / "x.source.tiger.xml").read_text()
    assert 'cat="_"' in banks and '<edge label="nsubj" idref="' in banks and "head=" not in banks
    (tmp_path / "s.conllu").write_text(text + "\n")
    short = run("trees", "align", tmp_path / "s.conllu", trees[1], "--out", tmp_path / "x.jsonl")
    assert short.code == 1 and "1 sentences, but" in short.err


def test_scores_and_pictures_of_two_alignments(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    run("trees", "align", *trees, "--out", tmp_path / "gold.jsonl")
    pairs = list(read_pairs(tmp_path / "gold.jsonl"))
    phrases = [[link[:2] for link in pair.node_links if link.target >= 0 and link.source >= 0] for pair in pairs]
    total = sum(map(len, phrases))
    lines = [format_node_links([Link(s, t) for s, t in links if s > 0] + [Link(~0, 0)]) for links in phrases]
    (tmp_path / "sys.nodes").write_text("".join(line + "\n" for line in lines))
    scored = json.loads(run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "sys.nodes", "--json").out)
    row = scored["phrases, good links"]
    roots = sum((0, 0) in links for links in phrases)
    assert (row["found"], row["right"], row["gold"]) == (total - roots, total - roots, total) and roots
    printed = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "sys.nodes").out
    assert printed.splitlines()[1].startswith("phrases, good + fuzzy links    P 100.00 R ")
    picture = run("trees", "show", tmp_path / "gold.jsonl", "--system", tmp_path / "sys.nodes", "--svg").out
    assert "tg-gold-only" in picture and "tg-system-only" in picture and "tg-both" in picture
    page = run("trees", "show", tmp_path / "gold.jsonl", "--system", tmp_path / "sys.nodes", "--html").out
    assert page.count("<svg ") == 3 and "system only: 1 node links" in page
    text = run("trees", "show", tmp_path / "gold.jsonl", "--system", tmp_path / "sys.nodes").out
    assert "1 gold only, 1 system only" in text and " both\n" in text


def test_other_trees_cannot_be_scored(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    run("trees", "align", *trees, "--out", tmp_path / "gold.jsonl")
    lines = (tmp_path / "gold.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "short.jsonl").write_text("".join(lines[:2]))
    result = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "short.jsonl", "--json")
    assert result.code == 0 and "1 of 3 pairs of" in result.err and "count as unlinked" in result.err
    whole = json.loads(run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "gold.jsonl", "--json").out)
    assert json.loads(result.out)["all nodes, good links"]["gold"] == whole["all nodes, good links"]["gold"]
    assert json.loads(result.out)["all nodes, good links"]["recall"] < 1 == whole["all nodes, good links"]["recall"]
    (tmp_path / "named.jsonl").write_text("".join(lines[:2]).replace('"id": "', '"id": "x'))
    result = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "named.jsonl")
    assert result.code == 1 and "2 pairs, but" in result.err
    (tmp_path / "mixed.jsonl").write_text("".join(reversed(lines)))  # other order, same ids
    assert run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "mixed.jsonl").code == 0
    (tmp_path / "other.jsonl").write_text("".join(lines).replace("haus", "heim"))
    other = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "other.jsonl")
    assert other.code == 1 and "source tree" in other.err
    assert run("trees", "evaluate", trees[0], tmp_path / "gold.jsonl").code == 1


def test_pairs_keep_word_and_node_links_apart(trees: tuple[Path, Path], tmp_path: Path, run: Run) -> None:
    run("trees", "align", *trees, "--out", tmp_path / "x.jsonl")
    for pair in read_pairs(tmp_path / "x.jsonl"):
        assert not any(link.source < 0 and link.target < 0 for link in pair.node_links)
        assert make_pair(pair.source, pair.target, all_links(pair), pair.id) == pair
        assert all(link.score is not None and 0 <= link.score <= 1 for link in all_links(pair))


def test_a_dictionary_decides(tmp_path: Path, run: Run) -> None:
    (tmp_path / "s.penn").write_text("(S (NP (N bäume)) (VP (V kommen)))\n")
    (tmp_path / "t.penn").write_text("(S (VP (V vienen)) (NP (N árboles)))\n")
    (tmp_path / "d.tsv").write_text("Baum\tárbol\nkommen\tvenir\n")
    given = tmp_path / "s.penn", tmp_path / "t.penn"
    done = run("trees", "align", *given, "--dictionary", tmp_path / "d.tsv", "--out", tmp_path / "x.nodes")
    assert done.code == 0, done.err
    links = {link[:2] for link in parse_node_links((tmp_path / "x.nodes").read_text().strip())}
    assert {(1, 2), (2, 1)} <= links
    wrong = run(
        "trees", "align", *given, "--dictionary", tmp_path / "d.tsv", "--lex", "x", "--out", tmp_path / "y.nodes"
    )
    assert wrong.code != 0 and "--lex" in wrong.err and not (tmp_path / "y.nodes").exists()
    (tmp_path / "d.tsv").write_text("Baum árbol\n")
    broken = run("trees", "align", *given, "--dictionary", tmp_path / "d.tsv", "--out", tmp_path / "y.nodes")
    assert broken.code != 0 and "d.tsv:1" in broken.err


def test_pairs_without_links_are_pairs(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    run("trees", "align", *trees, "--out", tmp_path / "x.sta.xml")
    text = (tmp_path / "x.sta.xml").read_text()
    (tmp_path / "bare.sta.xml").write_text(re.sub(r"(?s)<align .*?</align>\n", "", text))
    result = run("trees", "align", tmp_path / "bare.sta.xml", "--out", tmp_path / "y.sta.xml")
    assert result.code == 0 and "3 pairs" in result.err, result.err
    assert (tmp_path / "y.sta.xml").read_text().count("<align ") == text.count("<align ")
    (tmp_path / "third.sta.xml").write_text(
        text[: text.index("<align ", text.index('"s3_'))] + text[text.index("</alignments>") :]
    )
    result = run("trees", "evaluate", tmp_path / "x.sta.xml", tmp_path / "third.sta.xml")
    assert result.code == 0 and "F1 100" not in result.out, result.err


def test_treebanks_elsewhere_and_links_that_are_wrong(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    run("trees", "align", *trees, "--out", tmp_path / "x.sta.xml")
    for side in ("source", "target"):
        (tmp_path / f"x.{side}.tiger.xml").rename(tmp_path / f"{side}.tiger.xml")
    given = ["--source", tmp_path / "source.tiger.xml", "--target", tmp_path / "target.tiger.xml"]
    path = tmp_path / "x.sta.xml"
    for command in (["align", path, "--format", "nodes"], ["evaluate", path, path], ["stats", path], ["show", path]):
        lost = run("trees", *command)
        assert lost.code == 1 and "--source and --target" in lost.err, command
        assert run("trees", *command, *given).code == 0, command
    text = path.read_text()
    path.write_text(re.sub(r'node_id="s1_500"', 'node_id="s1_987"', text, count=1))
    for command in (["align", path, "--format", "nodes"], ["evaluate", path, path], ["stats", path], ["show", path]):
        wrong = run("trees", *command, *given)
        assert wrong.code == 1 and "s1_987" in wrong.err and "--lenient" in wrong.err, command
        lenient = run("trees", *command, *given, "--lenient")
        assert lenient.code == 0, command
    assert "1 links left out" in run("trees", "stats", path, *given, "--lenient").err
    refused = run("trees", "stats", trees[0], *given)
    assert refused.code == 1 and "has its own trees" in refused.err


def test_sentences_that_are_not_one_to_one(tmp_path: Path, trees: tuple[Path, Path], run: Run) -> None:
    source = trees[0].read_text().splitlines()
    both = source[0].removeprefix("(S ")[:-1] + " " + source[1].removeprefix("(S ")
    trees[0].write_text(f"(S {both}\n{source[2]}\n")
    assert "--sentences auto" in run("trees", "align", *trees).err
    (tmp_path / "beads").write_text("1\t1 2\n2\t3\n")
    done = run("trees", "align", *trees, "--sentences", tmp_path / "beads", "--out", tmp_path / "x.sta.xml")
    assert done.code == 0 and "3 pairs" in done.err, done.err
    pairs = list(read_pairs(tmp_path / "x.sta.xml"))
    assert [pair.id for pair in pairs] == ["s1-s1", "s1-s2", "s2-s3"]
    assert all(pair.word_links or pair.node_links for pair in pairs)
    linked = [link.source for pair in pairs[:2] for link in all_links(pair)]
    assert len(linked) == len(set(linked)), "a node of the shared sentence is linked once"
    for wrong, says in (("9\t1\n", "no sentence '9'"), ("1 1\n", "no tabulator")):
        (tmp_path / "beads").write_text(wrong)
        result = run("trees", "align", *trees, "--sentences", tmp_path / "beads", "--out", tmp_path / "y.jsonl")
        assert (
            result.code == 1 and says in result.err and "beads:1" in result.err and not (tmp_path / "y.jsonl").exists()
        )
    result = run("trees", "align", tmp_path / "x.sta.xml", "--sentences", "auto")
    assert result.code == 1 and "says itself" in result.err


def test_the_figures_of_the_published_script(data: Callable[[str], Path], run: Run) -> None:
    folder = data("trees/tblign-nl-en/devtest")
    sides = [str(folder / "gold" / f"SEDE.250.{side}.tiger.xml") for side in "st"]
    for name, expected in (
        ("withalign", [91.5, 39.1, 40.4, 5.6, 54.8, 56.1]),
        ("withalign-i", [88.5, 63.7, 65.1, 10.1, 74.1, 75.0]),
    ):
        files = (
            folder / "gold" / "SEDE.250devtest.only-nts.sta.xml",
            folder / "auto" / f"SEDE.250devtest.{name}.sta.xml",
        )
        result = run(
            "trees", "evaluate", *files, "--style", "lingua-align", "--source", sides[0], "--target", sides[1], "--json"
        )
        assert list(json.loads(result.out).values()) == expected, result.err
