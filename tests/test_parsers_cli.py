"""The commands ``treeglot parse`` and ``treeglot parsers``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from treeglot.cli.parse import parse, parsers_app
from treeglot.errors import TreeglotError
from treeglot.parsers import corenlp
from treeglot.trees.conllu import read_conllu

app = typer.Typer()
app.command("parse")(parse)
app.add_typer(parsers_app, name="parsers")


def call(*arguments: object) -> tuple[str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text("dogs bark\n\n", encoding="utf-8")
    (tmp_path / "p.penn").write_text("(S (NP (NN dogs)) (VP (VB bark)))\n(X (X _))\n", encoding="utf-8")
    return tmp_path


def test_parse_to_standard_output(folder: Path) -> None:
    out, err = call("parse", folder / "in.txt", "--lang", "en", "--parser", "files", "--trees", folder / "p.penn")
    assert "# dependency = converted from constituents\n1\tdogs\t" in out and "2\tbark\t_\t_\tVB\t_\t0\troot" in out
    assert "# parse = failed: empty line\n1\t_\t" in out
    assert "2 sentences" in err and "1 dependency trees were converted" in err and "1 flat trees: empty line" in err


def test_parse_to_files_with_json(folder: Path) -> None:
    arguments = ["--lang", "en", "--parser", "files", "--trees", folder / "p.penn", "--json"]
    out, _ = call("parse", folder / "in.txt", *arguments, "--conllu", folder / "o.conllu", "--penn", folder / "o.penn")
    assert json.loads(out)["sentences"] == 2
    assert (folder / "o.penn").read_text() == "(S (NP (NN dogs)) (VP (VB bark)))\n(X (X _))\n"
    assert len(list(read_conllu(folder / "o.conllu"))) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--parser", "files"], "--trees"),
        (["--parser", "udpipe", "--trees", "x"], "--trees is for"),
        (["--parser", "udpipe", "--memory", "4g"], "--memory"),
        (["--parser", "udpipe", "--model", "none.udpipe"], "no such model"),
    ],
)
def test_wrong_options(folder: Path, arguments: list[str], says: str) -> None:
    with pytest.raises(TreeglotError, match=says):
        call("parse", folder / "in.txt", "--lang", "en", *arguments)


def test_auto_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(folder))
    with pytest.raises(TreeglotError, match="no parser for Turkish") as caught:
        call("parse", folder / "in.txt", "--lang", "tr")
    assert "stanza" in caught.value.remedy


def test_list() -> None:
    out, _ = call("parsers", "list")
    for name in ("stanza", "corenlp", "benepar", "spacy", "udpipe", "files"):
        assert f"\n{name}" in f"\n{out}"
    records = json.loads(call("parsers", "list", "--json", "--lang", "French")[0])
    assert {record["name"] for record in records} >= {"spacy", "corenlp"}
    assert all(model["lang"] == "fr" for record in records for model in record["models"])
    [corenlp_record] = [record for record in records if record["name"] == "corenlp"]
    assert corenlp_record["models"][0]["trees"] == ["constituency", "dependency"]


def test_install_from_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(folder / "cache"))
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    for what in (corenlp.program_coordinates(), corenlp.model_coordinates("es")):
        (folder / what.file_name).write_bytes(b"jar")
    out, _ = call("parsers", "install", "corenlp", "--lang", "Spanish", "--from", folder)
    assert "models-spanish.jar" in out and corenlp.is_installed("es")
    with pytest.raises(TreeglotError) as caught:
        call("parsers", "install", "spacy", "--lang", "fr")
    assert "pip install" in caught.value.remedy


def test_train(folder: Path) -> None:
    pytest.importorskip("ufal.udpipe", reason="pip install 'treeglot[udpipe]'")
    from test_parsers_udpipe import tiny_treebank

    treebank = tiny_treebank(folder / "t.conllu")
    arguments = ["--out", folder / "en_tiny.udpipe", "--tokenizer", "none", "--tagger", "iterations=1"]
    out, _ = call("parsers", "train-udpipe", treebank, *arguments, "--parser", "iterations=1;hidden_layer=8")
    assert "100 sentences, 600 words" in out
    out, _ = call(
        "parse",
        folder / "in.txt",
        "--lang",
        "en",
        "--parser",
        "udpipe",
        "--model",
        folder / "en_tiny.udpipe",
        "--penn",
        "-",
    )
    assert len(out.splitlines()) == 2
