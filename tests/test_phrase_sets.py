"""The phrase tables of a project's sets, counted anew from ``trees align --format jsonl`` by plain Python."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli_runner import Run, make_runner
from treeglot.examples import Sizes, write_example
from treeglot.pipeline.project import Project
from treeglot.tables import PhraseTable

LONGEST = 4
CONFIG = """\
[languages]
source = "zh"
target = "en"
[data.train]
source = "raw/train.zh"
target = "raw/train.en"
[text]
tokenizer = "space"
casing = "keep"
[lm]
order = 2
[phrases]
max_length = 4
sets = [{sets}]
con_source = "raw/train.zh.penn"
con_target = "raw/train.en.penn"
dep_source = "raw/train.zh.conllu"
dep_target = "raw/train.en.conllu"
[limits]
threads = 1
"""


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return make_runner(capfd, monkeypatch)


def write_word_tables(project: Project, prefix: Path) -> None:
    """w(e|f) and w(f|e) as shares of links; a word without links is linked to nothing."""
    joint: Counter[tuple[str, str]] = Counter()
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (*project.corpus("train"), project.links)]
    for source, target, line in zip(*texts, strict=True):
        s, t = source.split(), target.split()
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        joint.update((s[j], t[i]) for j, i in links)
        joint.update((word, "NULL") for j, word in enumerate(s) if all(j != link[0] for link in links))
        joint.update(("NULL", word) for i, word in enumerate(t) if all(i != link[1] for link in links))
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for (source, target), count in joint.items():
        totals[0][source] += count
        totals[1][target] += count
    rows = sorted(joint.items())
    forward = (f"{target} {source} {count / totals[0][source]!r}\n" for (source, target), count in rows)
    backward = (f"{source} {target} {count / totals[1][target]!r}\n" for (source, target), count in rows)
    prefix.with_suffix(".f2e").write_text("".join(forward), encoding="utf-8")
    prefix.with_suffix(".e2f").write_text("".join(backward), encoding="utf-8")


def words_under(side: dict[str, Any], node: int) -> set[int]:
    if node < 0:
        return {-node - 1}
    return set().union(*(words_under(side, child) for child in side["constituency"]["children"][node]))


def recount(aligned: Path) -> Counter[tuple[str, str]]:
    """The phrase pairs under linked nodes and words; nodes over the same words count once."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in aligned.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        links = [*pair.get("node_links", []), *([~j, ~i, *_] for j, i, *_ in pair.get("word_links", []))]
        linked = set()
        for link in links:
            spans = [
                sorted(words_under(pair[side], node)) for side, node in zip(("source", "target"), link, strict=False)
            ]
            if all(words[-1] - words[0] + 1 == len(words) <= LONGEST for words in spans):
                linked.add(tuple(map(tuple, spans)))
        for s, t in linked:
            source, target = ([pair[side]["forms"][k] for k in words] for side, words in (("source", s), ("target", t)))
            counts[" ".join(source), " ".join(target)] += 1
    return counts


def test_tables_hold_the_pairs_under_linked_nodes(tmp_path: Path, run: Run) -> None:
    write_example(tmp_path / "raw", sizes=Sizes(120, 2, 2, 0))
    tables: dict[str, dict[tuple[str, str], int]] = {}
    for sets in ("STR", "CON", "DEP", "STR+CON+DEP"):
        folder = tmp_path / sets
        folder.mkdir()
        (folder / "raw").symlink_to(tmp_path / "raw")
        names = ", ".join(f'"{name}"' for name in sets.split("+"))
        (folder / "treeglot.toml").write_text(CONFIG.format(sets=names))
        project = Project(folder)
        project.train(lambda message: None)
        tables[sets] = {(entry.source, entry.target): entry.count for entry in PhraseTable(project.table)}
    kept = project.corpus("train")[0].read_text(encoding="utf-8").splitlines()
    assert kept == (tmp_path / "raw/train.zh").read_text(encoding="utf-8").splitlines()
    write_word_tables(project, tmp_path / "lex")
    expected = Counter(tables["STR"])
    for name, ending in (("CON", "penn"), ("DEP", "conllu")):
        trees = [tmp_path / f"raw/train.{language}.{ending}" for language in ("zh", "en")]
        out = tmp_path / f"{name}.jsonl"
        assert run("trees", "align", *trees, "--lex", tmp_path / "lex", "--out", out).code == 0
        counted = recount(out)
        assert any(" " in source for source, _ in counted) and counted == tables[name]
        expected += counted
    assert tables["CON"] != tables["DEP"] and expected == tables["STR+CON+DEP"]
