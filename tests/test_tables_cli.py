"""``treeglot rules``: what it prints, plain when piped, and its errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treeglot import TreeglotError
from treeglot.cli.rules import app
from treeglot.grammars.phrases import extract_words
from treeglot.tables import PhraseTable

CORPUS = [
    ("das haus ist klein", "the house is small", "0-0 1-1 2-2 3-3"),
    ("das buch ist alt", "the book is old", "0-0 1-1 2-2 3-3"),
    ("ist das klein ?", "is that small ?", "0-0 1-1 2-2 3-3"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rules")
    for name, column in (("f", 0), ("e", 1), ("a", 2)):
        (place / name).write_text("".join(row[column] + "\n" for row in CORPUS), encoding="utf-8")
    run("build", "--out", str(place / "t"), *files(place))
    return place


def files(place: Path) -> list[str]:
    return ["--source", str(place / "f"), "--target", str(place / "e"), "--align", str(place / "a")]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_extract_prints_every_pair_with_its_count(folder: Path) -> None:
    code = "import sys; from treeglot.cli.rules import app; app(sys.argv[1:])"
    arguments = [sys.executable, "-c", code, "extract", "phrases", *files(folder), "--max-length", "3"]
    out = subprocess.run(arguments, capture_output=True, check=True).stdout
    counts: Counter[str] = Counter()
    for source, target, line in CORPUS:
        links = [(int(j), int(i)) for j, i in (link.split("-") for link in line.split())]
        for pair in extract_words(source.split(), target.split(), links, max_length=3):
            counts[f"{' '.join(pair.source)} ||| {' '.join(pair.target)}"] += 1
    assert out.splitlines() == sorted(f"{pair} ||| {count}".encode() for pair, count in counts.items())


def test_unknown_grammars_are_listed(folder: Path) -> None:
    with pytest.raises(TreeglotError) as caught:
        run("extract", "hierarchial", *files(folder))
    assert "hierarchial" in caught.value.message and "phrases" in caught.value.remedy


def test_show(folder: Path) -> None:
    lines = run("show", str(folder / "t"), "das").splitlines()
    assert [line.split("\t")[1] for line in lines] == ["target", "the", "that"]
    assert lines[1].split("\t")[-1] == "2 of 3"
    assert len(run("show", str(folder / "t"), "das", "--limit", "1").splitlines()) == 2
    rows = [json.loads(line) for line in run("show", str(folder / "t"), "das", "--json").splitlines()]
    assert rows[0]["target"] == "the" and rows[0]["scores"][2] == pytest.approx(2 / 3) and rows[0]["links"] == [[0, 0]]
    assert run("show", str(folder / "t"), "fehlt", "--json") == ""
    with pytest.raises(TreeglotError, match="no phrase"):
        run("show", str(folder / "t"), "fehlt")


def test_search(folder: Path) -> None:
    lines = run("search", str(folder / "t"), "h*", "--limit", "0").splitlines()[1:]
    assert lines and all("haus" in line.split("\t")[0] for line in lines)
    lines = run("search", str(folder / "t"), "small", "--target", "--whole").splitlines()[1:]
    assert [line.split("\t")[:2] for line in lines] == [["klein", "small"]]
    assert len(run("search", str(folder / "t"), "^ist", "--regex", "--limit", "2").splitlines()) == 3
    assert run("search", str(folder / "t"), "nichts").splitlines()[1:] == []


def test_stats(folder: Path) -> None:
    table = PhraseTable(folder / "t")
    result = json.loads(run("stats", str(folder / "t"), "--json", "--verify"))
    assert result["entries"] == len(table) and result["bytes_per_entry"] > 0
    text = run("stats", str(folder / "t"))
    assert f"pairs\t{len(table)}" in text and "translations\tsources" in text


def test_export_and_import(folder: Path, tmp_path: Path) -> None:
    written = run("export", str(folder / "t"), "--moses", str(tmp_path / "moses")).splitlines()
    assert [Path(path).name for path in written] == [
        "phrase-table.gz",
        "reordering-table.wbe-msd-bidirectional-fe.gz",
        "lex.e2f",
        "lex.f2e",
    ]
    run("import", written[0], str(tmp_path / "again"), "--reordering", written[1])
    run("export", str(tmp_path / "again"), str(tmp_path / "one"))
    run("export", str(folder / "t"), str(tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for wrong in ([], [str(tmp_path / "x"), "--moses", str(tmp_path)], [str(tmp_path)]):
        with pytest.raises(TreeglotError):
            run("export", str(folder / "t"), *wrong)


def test_terminals_get_drawn_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeglot.cli import rules

    monkeypatch.setattr(rules, "_is_terminal", lambda: True)
    assert "┃" in run("show", str(folder / "t"), "das")
