"""``treeglot trees align``, ``trees evaluate`` and ``trees show --system``, and the files of node links."""

from __future__ import annotations

import json
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
    assert pair.source.constituency is not None and pair.source.constituency.labels[0].startswith("5;head=3")
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
    assert (row["found"], row["right"], row["good"]) == (total - roots, total - roots, total) and roots
    printed = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "sys.nodes").out
    assert printed.splitlines()[1].startswith("phrases, good or fuzzy links    P 100.00 R ")
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
    result = run("trees", "evaluate", tmp_path / "gold.jsonl", tmp_path / "short.jsonl")
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
