"""The commands ``treeglot bitext …``: results on standard output, files written whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treeglot import TreeglotError, progress
from treeglot.bitext import TextPair, Truecaser, read_bitext, write_plain
from treeglot.cli.bitext import app

PAIRS = [TextPair(f"This is house {n % 7}.", f"Voici la maison {n}.") for n in range(30)]


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, str]:
    paths = str(tmp_path / "a.en"), str(tmp_path / "a.fr")
    write_plain(PAIRS, *paths)
    return paths


def run(*arguments: str | Path, input: str | None = None) -> str:
    progress.set_quiet(True)
    try:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
    finally:
        progress.set_quiet(False)
    if isinstance(result.exception, TreeglotError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_convert_through_all_formats_and_back(corpus: tuple[str, str], tmp_path: Path) -> None:
    languages = ("-s", "en", "-t", "fr")
    run("convert", *corpus, tmp_path / "b.tmx", *languages)
    run("convert", tmp_path / "b.tmx", tmp_path / "c.jsonl.gz", *languages)
    run("convert", tmp_path / "c.jsonl.gz", tmp_path / "d.tsv")
    run("convert", tmp_path / "d.tsv", tmp_path / "e.en", tmp_path / "e.fr", "--to", "moses")
    run("convert", tmp_path / "e.en", tmp_path / "e.fr", tmp_path / "f.en", tmp_path / "f.fr", "--from", "moses")
    assert (tmp_path / "f.en").read_bytes() == Path(corpus[0]).read_bytes()
    assert (tmp_path / "f.fr").read_bytes() == Path(corpus[1]).read_bytes()


def test_convert_swaps_picks_columns_and_takes_options(tmp_path: Path) -> None:
    table = tmp_path / "a.txt"
    table.write_text("1\tHi.\t嗨。\n", encoding="utf-8")
    run("convert", table, tmp_path / "b.jsonl", "--from", "tsv", "--columns", "3,2,1")
    assert list(read_bitext(tmp_path / "b.jsonl")) == [TextPair("嗨。", "Hi.", "1")]
    run("convert", tmp_path / "b.jsonl", tmp_path / "c.po", "--swap")
    assert list(read_bitext(tmp_path / "c.po")) == [TextPair("Hi.", "嗨。")]
    (tmp_path / "c.po").write_text('#, fuzzy\nmsgid "a"\nmsgstr "x"\n')
    run("convert", tmp_path / "c.po", tmp_path / "d.tsv", "--option", "fuzzy=true")
    assert list(read_bitext(tmp_path / "d.tsv")) == [TextPair("a", "x")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "a.tmx"],
        ["convert", "a.txt", "b.tmx"],
        ["convert", "a.tsv", "b.jsonl", "--columns", "x"],
        ["convert", "a.tsv", "b.jsonl", "--option", "fuzzy"],
        ["convert", "a.tsv", "b.jsonl", "--option", "fuzzy=true"],
        ["stats", "nowhere.tsv"],
        ["truecase", "apply"],
        ["split", "-", "-o", "x", "--from", "tsv"],
    ],
)
def test_errors_are_treeglot_errors_with_a_remedy(arguments: list[str]) -> None:
    with pytest.raises(TreeglotError) as caught:
        run(*arguments)
    assert caught.value.remedy


def test_clean_reports_and_writes(corpus: tuple[str, str], tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    out = run(
        "clean", *corpus, tmp_path / "o.en", tmp_path / "o.fr", "--duplicates", "source", "--report", report, "--json"
    )
    assert json.loads(out) == json.loads(report.read_text())
    assert (json.loads(out)["kept"], json.loads(out)["dropped"]["duplicate"]) == (7, 23)
    assert list(read_bitext(tmp_path / "o.en", tmp_path / "o.fr")) == PAIRS[:7]
    assert "dropped: seen before" in run(
        "clean", *corpus, tmp_path / "o.en", tmp_path / "o.fr", "--duplicates", "source"
    )


def test_stats(corpus: tuple[str, str]) -> None:
    stats = json.loads(run("stats", *corpus, "--json"))
    assert (stats["pairs"], stats["distinct_sources"], stats["source"]["words"]) == (30, 7, 120)
    assert "words a segment" in run("stats", *corpus)


def test_split(corpus: tuple[str, str], tmp_path: Path) -> None:
    arguments = ["split", *corpus, "-o", tmp_path / "s", "--dev", "4", "--test", "0.15", "-s", "en", "-t", "fr"]
    counts = json.loads(run(*arguments, "--json"))
    parts = {part: list(read_bitext(tmp_path / f"s.{part}.en", tmp_path / f"s.{part}.fr")) for part in counts}
    assert {part: len(pairs) for part, pairs in parts.items()} == counts
    assert counts["dev"] == 4 and counts["test"] == 4 and sum(counts.values()) == 30
    assert not {p.source for p in parts["train"]} & {p.source for p in parts["test"]}
    assert run(*arguments, "--to", "tmx").startswith("train\t22\t")


def test_tokenize_and_back() -> None:
    tokens = run("tokenize", "-l", "fr", input="L'été, c'est là !\n\n")
    assert tokens == "L' été , c' est là !\n\n"
    assert run("tokenize", "-l", "fr", "-d", input=tokens) == "L'été, c'est là !\n\n"
    assert run("tokenize", "-l", "zh", "--tokenizer", "char", input="我爱你\n") == "我 爱 你\n"


def test_truecase(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("We saw the house in Paris\nThe house saw us\n")
    run("truecase", "train", text, "--model", tmp_path / "m")
    assert Truecaser.load(tmp_path / "m").counts("the") == {"the": 1}
    cased = run("truecase", "apply", "--model", tmp_path / "m", input="The end\nParis saw us\n")
    assert cased == "the end\nParis saw us\n"
    assert run("truecase", "apply", "--undo", input=cased) == "The end\nParis saw us\n"
