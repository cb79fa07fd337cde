"""Phrase pairs under linked nodes: their spans, their counts in the table next to a plain count, and sets compared."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_runner import Run, make_runner
from random_trees import constituency_trees
from treeglot import TreeglotError
from treeglot.examples import Sizes, write_example
from treeglot.grammars.phrases import extract_words
from treeglot.grammars.subtree_phrases import BracketStatistics, format_spans, linked_spans, write_spans
from treeglot.pipeline.project import Project
from treeglot.pipeline.subtree_phrases import match_trees
from treeglot.tables import PhraseTable, build_phrase_table, write_phrase_counts
from treeglot.tables.sets import compare_sets
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.nodelinks import make_pair, parse_node_links
from treeglot.trees.sentence import Link, ParsedSentence
from treeglot.trees.tokens import Tokens
from treeglot.trees.treejson import write_jsonl


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_spans_are_the_words_under_linked_nodes(data: st.DataObject) -> None:
    source, target = (data.draw(constituency_trees(6, continuous=False)) for _ in range(2))
    refs = [(*range(len(tree)), *(~j for j in range(len(tree.tokens)))) for tree in (source, target)]
    chosen = data.draw(st.sets(st.tuples(st.sampled_from(refs[0]), st.sampled_from(refs[1])), max_size=8))
    pair = make_pair(*(ParsedSentence.of(None, tree) for tree in (source, target)), [Link(s, t) for s, t in chosen])
    expected = set()
    for s, t in chosen:
        words = source.words(s), target.words(t)
        if all(len(part) == part[-1] - part[0] + 1 for part in words):
            expected.add((words[0][0], words[0][-1] + 1, words[1][0], words[1][-1] + 1))
    spans = linked_spans(pair)
    assert [tuple(span) for span in spans] == sorted(expected)
    without = {tuple(span) for span in linked_spans(pair, words=False)}
    assert without <= expected


@st.composite
def corpora(
    draw: st.DrawFn,
) -> list[tuple[list[str], list[str], set[tuple[int, int]], list[tuple[int, int, int, int]]]]:
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        source, target = (
            draw(st.lists(st.sampled_from(alphabet), min_size=1, max_size=5)) for alphabet in ("abc", "xyz")
        )
        links = draw(st.sets(st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1)), max_size=5))
        spans = []
        for _ in range(draw(st.integers(0, 4))):
            a, c = draw(st.integers(0, len(source) - 1)), draw(st.integers(0, len(target) - 1))
            b, d = draw(st.integers(a + 1, len(source))), draw(st.integers(c + 1, len(target)))
            spans.append((a, b, c, d))
        sentences.append((source, target, links, spans))
    return sentences


def write_corpus(
    folder: Path, corpus: list[tuple[list[str], list[str], set[tuple[int, int]], list[tuple[int, int, int, int]]]]
) -> None:
    lines = {
        "f": [" ".join(source) for source, *_ in corpus],
        "e": [" ".join(target) for _, target, *_ in corpus],
        "a": [" ".join(f"{s}-{t}" for s, t in sorted(links)) for *_, links, _ in corpus],
        "spans": [" ".join(f"{a}-{b}:{c}-{d}" for a, b, c, d in spans) for *_, spans in corpus],
    }
    for name, text in lines.items():
        (folder / name).write_text("".join(line + "\n" for line in text))


@settings(deadline=None, max_examples=25)
@given(corpora(), st.booleans(), st.integers(1, 2), st.integers(2, 5))
def test_counts_are_added(
    tmp_path_factory: pytest.TempPathFactory, corpus, consistent: bool, times: int, longest: int
) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, corpus)
    expected: Counter[tuple[str, str]] = Counter()
    for source, target, links, spans in corpus:
        if consistent:
            for pair in extract_words(source, target, links, max_length=longest):
                expected[" ".join(pair.source), " ".join(pair.target)] += 1
        for a, b, c, d in spans:
            if b - a <= longest and d - c <= longest:
                expected[" ".join(source[a:b]), " ".join(target[c:d])] += times
    out = io.BytesIO()
    files = [folder / "spans"] * times
    paths = folder / "f", folder / "e", folder / "a"
    written = write_phrase_counts(*paths, out, spans=files, consistent=consistent, max_length=longest)
    assert written == len(expected)
    rows = [tuple(line.split(" ||| ")) for line in out.getvalue().decode().splitlines()]
    assert {(s, t): int(count) for s, t, count in rows} == dict(expected)
    if not expected:
        return
    build_phrase_table(*paths, folder / "t", spans=files, consistent=consistent, max_length=longest)
    table = PhraseTable(folder / "t")
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for (s, t), count in expected.items():
        sources[s] += count
        targets[t] += count
    for s in sources:
        entries = table.lookup(s)
        assert {entry.target for entry in entries} == {t for f, t in expected if f == s}
        for entry in entries:
            assert entry.count == expected[s, entry.target]
            assert entry.scores[2] == pytest.approx(entry.count / sources[s], rel=1e-4)
            assert entry.scores[0] == pytest.approx(entry.count / targets[entry.target], rel=1e-4)
            size = len(s.split()), len(entry.target.split())
            assert all(0 <= j < size[0] and 0 <= i < size[1] for j, i in entry.links)


def test_brackets_of_both_trees() -> None:
    tokens = Tokens(["the", "old", "dog", "barks"])
    tree = ConstituencyTree.build(tokens, ("S", ("NP", 0, ("X", 1, 2)), ("VP", 3)))
    heads = DependencyTree(tokens, [2, 2, 3, -1], ["det", "amod", "nsubj", "root"])
    counted = BracketStatistics()
    counted.add(ParsedSentence.of(heads, tree))
    assert (counted.constituency, counted.dependency, counted.shared) == (3, 2, 2)
    assert counted.constituency_only == pytest.approx(1 / 3) and counted.dependency_only == 0
    with pytest.raises(TreeglotError, match="without both trees"):
        counted.add(ParsedSentence.of(heads))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.dictionaries(st.tuples(st.sampled_from(["a", "a b", "b"]), st.sampled_from("xyz")), st.integers(1, 9)),
        min_size=2,
        max_size=3,
    )
)
def test_sets_are_compared_as_sets(sets: list[dict[tuple[str, str], int]]) -> None:
    names = ["A", "B", "C"][: len(sets)]
    lines = {
        name: iter(sorted((f"{s} ||| {t} ||| {n}\n" for (s, t), n in pairs.items()), key=str.encode))
        for name, pairs in zip(names, sets, strict=True)
    }
    result = compare_sets(lines)
    assert result.union == len(set().union(*sets))
    for name, pairs in zip(names, sets, strict=True):
        others = set().union(*(other for label, other in zip(names, sets, strict=True) if label != name))
        assert result.sets[name].pairs == len(pairs) and result.sets[name].occurrences == sum(pairs.values())
        assert result.only[name] == len(set(pairs) - others)
    for first, second in result.shared:
        assert result.shared[first, second] == len(set(sets[names.index(first)]) & set(sets[names.index(second)]))


def test_commands(tmp_path: Path, run: Run) -> None:
    (tmp_path / "f").write_text("das haus brennt\n")
    (tmp_path / "e").write_text("the house is burning\n")
    (tmp_path / "a").write_text("0-0 1-1 2-3\n")
    sides = (
        ConstituencyTree.build(["das", "haus", "brennt"], ("S", ("NP", 0, 1), 2)),
        ConstituencyTree.build(["the", "house", "is", "burning"], ("S", ("NP", 0, 1), ("VP", 2, 3))),
    )
    pair = make_pair(*(ParsedSentence.of(None, tree) for tree in sides), parse_node_links("0-0 1-1 w2-2 w0-w0"))
    write_jsonl([pair], tmp_path / "pairs.jsonl")
    result = run("rules", "spans", tmp_path / "pairs.jsonl", "--out", tmp_path / "con.spans")
    assert result.code == 0 and (tmp_path / "con.spans").read_text() == "0-1:0-1 0-2:0-2 0-3:0-4 2-3:2-4\n"
    assert format_spans(linked_spans(pair)) + "\n" == (tmp_path / "con.spans").read_text()
    text = ["--source", tmp_path / "f", "--target", tmp_path / "e", "--align", tmp_path / "a"]
    out = tmp_path / "con.table"
    assert run("rules", "build", *text, "--spans", tmp_path / "con.spans", "--no-consistent", "--out", out).code == 0
    assert {entry.target for entry in PhraseTable(out).lookup("brennt")} == {"is burning"}
    assert PhraseTable(out).lookup("haus") == []
    compared = run("rules", "compare-sets", *text, "--spans", f"CON={tmp_path / 'con.spans'}", "--json")
    record = json.loads(compared.out)
    assert record["sets"]["CON"]["pairs"] == 4 and record["shared"]["STR+CON"] == 4 and record["only"]["CON"] == 0
    assert "CON\t4\t4\t" in run("rules", "compare-sets", *text, "--spans", f"CON={tmp_path / 'con.spans'}").out
    assert run("rules", "compare-sets", *text, "--spans", "STR=x").code == 1
    assert run("rules", "build", *text, "--no-consistent", "--out", out).code == 1
    (tmp_path / "t.penn").write_text("(S (NP (D das) (N haus)) (V brennt))\n")
    rows = [("das", 2, "det"), ("haus", 3, "nsubj"), ("brennt", 0, "root")]
    (tmp_path / "t.conllu").write_text(
        "".join(f"{j}\t{word}\t_\t_\t_\t_\t{head}\t{name}\t_\t_\n" for j, (word, head, name) in enumerate(rows, 1))
        + "\n"
    )
    assert "dependency\t2\t0.0 %" in run("rules", "brackets", tmp_path / "t.penn", tmp_path / "t.conllu").out


def test_spans_of_a_file(tmp_path: Path) -> None:
    tree = ConstituencyTree.build(["a", "b"], ("S", 0, 1))
    pair = make_pair(ParsedSentence.of(None, tree), ParsedSentence.of(None, tree), [Link(0, 0), Link(~0, ~1)])
    assert write_spans([pair, pair], tmp_path / "s") == 4
    assert (tmp_path / "s").read_text() == "0-1:1-2 0-2:0-2\n" * 2


CONFIG = """\
[languages]
source = "zh"
target = "en"
[data.train]
source = "raw/train.zh"
target = "raw/train.en"
[cleaning]
max_length = 12
max_dropped = 1.0
[text]
casing = "lower"
tokenizer = "space"
[lm]
order = 2
[phrases]
sets = [{sets}]
con_source = "raw/train.zh.penn"
con_target = "raw/train.en.penn"
dep_source = "raw/train.zh.conllu"
dep_target = "raw/train.en.conllu"
[limits]
threads = 1
"""


def test_sets_in_a_project(tmp_path: Path) -> None:
    """Trees of sentences that cleaning removed are passed over, and the tables are those of the sets."""
    write_example(tmp_path / "raw", sizes=Sizes(80, 2, 2, 0))
    counts: dict[str, dict[tuple[str, str], int]] = {}
    for sets in ("STR", "CON", "STR+CON"):
        folder = tmp_path / sets
        folder.mkdir()
        (folder / "raw").symlink_to(tmp_path / "raw")
        names = ", ".join(f'"{name}"' for name in sets.split("+"))
        (folder / "treeglot.toml").write_text(CONFIG.format(sets=names))
        project = Project(folder)
        project.train(lambda message: None)
        kept = project.corpus("train")[0].read_text(encoding="utf-8").count("\n")
        assert 0 < kept < 80
        assert all(result.skipped for result in project.train(lambda message: None))
        if "CON" in sets:
            assert (folder / "rules/CON.spans").read_text().count("\n") == kept
        table = PhraseTable(project.table)
        counts[sets] = {(entry.source, entry.target): entry.count for entry in table}
    both = Counter(counts["STR"]) + Counter(counts["CON"])
    assert counts["STR+CON"] == dict(both) and counts["CON"] and counts["CON"] != counts["STR"]
    (tmp_path / "STR" / "treeglot.toml").write_text(CONFIG.format(sets='"DEP"'))
    Project(tmp_path / "STR").train(lambda message: None)
    (tmp_path / "CON" / "treeglot.toml").write_text(
        CONFIG.format(sets='"CON"').replace('con_target = "raw/train.en.penn"', "")
    )
    with pytest.raises(TreeglotError, match=r"phrases\.con_target is not given"):
        Project(tmp_path / "CON").train(lambda message: None)
    lines = (tmp_path / "raw/train.zh.penn").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "raw/train.zh.penn").write_text("".join(lines[:40]), encoding="utf-8")
    with pytest.raises(TreeglotError, match="no trees with the words"):
        Project(tmp_path / "STR+CON").train(lambda message: None)


def test_words_with_blanks_match(tmp_path: Path) -> None:
    """Prepared text has neither blanks inside words nor soft hyphens; no-break spaces may stay, for the native core, too."""
    (tmp_path / "f.penn").write_text("(NP (N rien))\n(NP (NUM 10-SPC-000) (N Pas))\n", encoding="utf-8")
    (tmp_path / "e.penn").write_text("(NP (N no))\n(NP (NUM ten\u00a0thousand) (N St\u00adeps))\n", encoding="utf-8")
    trees = tmp_path / "f.penn", tmp_path / "e.penn"
    pairs = list(match_trees(["10_000 pas"], ["ten\u00a0thousand steps"], trees, "constituency"))
    assert [list(side.tokens.forms) for side in pairs[0]] == [["10_000", "pas"], ["ten\u00a0thousand", "steps"]]
    with pytest.raises(TreeglotError, match="no trees with the words"):
        list(match_trees(["10 000 pas"], ["ten\u00a0thousand steps"], trees, "constituency"))
