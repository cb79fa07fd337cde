"""``treeglot rules extract`` for the tree-to-string grammars: its lines, blocks, counts and errors."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from treeglot import TreeglotError
from treeglot.cli.rules_extract import Inputs, check_inputs, write_rules
from treeglot.examples.worked import worked_example
from treeglot.grammars import registry
from treeglot.grammars.registry import rule_grammars
from treeglot.grammars.rules import extract_rules
from treeglot.trees import DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import write_conllu
from treeglot.trees.penn import format_penn

W_ALIGN = "0-0 1-1 2-2 3-6 3-7 4-3 4-4 6-5 7-5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """W, W without links, and W again."""
    place = tmp_path_factory.mktemp("extract")
    pair = worked_example()
    assert pair.source.constituency is not None and pair.target.constituency is not None
    write_conllu([pair.source] * 3, place / "f.conllu")
    (place / "f.penn").write_text((format_penn(pair.source.constituency) + "\n") * 3, encoding="utf-8")
    (place / "e.penn").write_text((format_penn(pair.target.constituency) + "\n") * 3, encoding="utf-8")
    (place / "f").write_text((" ".join(pair.source.tokens.forms) + "\n") * 3, encoding="utf-8")
    (place / "e").write_text((" ".join(pair.target.tokens.forms) + "\n") * 3, encoding="utf-8")
    (place / "a").write_text(f"{W_ALIGN}\n\n{W_ALIGN}\n", encoding="utf-8")
    return place


def inputs(place: Path, *, source: bool = False, conllu: bool = True, penn: bool = True) -> Inputs:
    return Inputs(
        str(place / "e"),
        str(place / "a"),
        str(place / "f") if source else None,
        str(place / "f.conllu") if conllu else None,
        str(place / "f.penn") if penn else None,
    )


def text(grammar: str, inputs: Inputs, **options: Any) -> str:
    out = io.BytesIO()
    write_rules(grammar, inputs, out, **options)
    return out.getvalue().decode("utf-8")


@pytest.mark.parametrize("grammar", rule_grammars())
def test_blocks_of_every_grammar(folder: Path, grammar: str) -> None:
    block = [str(rule) for rule in extract_rules(grammar, worked_example())]
    assert block
    assert block == sorted(block)
    joined = "".join(f"{line}\n" for line in block)
    given = inputs(folder)
    if registry.grammar(grammar).target_trees:
        given = given._replace(target=None, target_penn=str(folder / "e.penn"))
    assert text(grammar, given) == f"{joined}\n\n{joined}\n"


def test_the_trees_that_are_needed_are_enough(folder: Path) -> None:
    both = inputs(folder)
    assert text("dep2str", inputs(folder, penn=False)) == text("dep2str", both)
    assert text("cons2str", inputs(folder, conllu=False)) == text("cons2str", both)
    plain = inputs(folder, source=True, conllu=False, penn=False)
    assert text("hierarchical", plain) == text("hierarchical", both)


def test_the_command(folder: Path) -> None:
    code = "import sys; from treeglot.cli.rules import app; app(sys.argv[1:])"
    files = ["--source-conllu", folder / "f.conllu", "--target", folder / "e", "--align", folder / "a"]
    arguments = [sys.executable, "-c", code, "extract", "dep2str", *map(str, files), "--span-mode", "ghkm"]
    done = subprocess.run(arguments, capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == text("dep2str", inputs(folder))
    assert done.stderr.decode("utf-8").startswith("3 pairs")


def files(place: Path, words: str, heads: list[int], target: str, links: str) -> Inputs:
    tokens = Tokens(words.split(), xpos=[word.upper() for word in words.split()])
    write_conllu([ParsedSentence.of(DependencyTree(tokens, heads))], place / "f.conllu")
    (place / "e").write_text(target + "\n", encoding="utf-8")
    (place / "a").write_text(links + "\n", encoding="utf-8")
    return Inputs(str(place / "e"), str(place / "a"), conllu=str(place / "f.conllu"))


def test_fractions(tmp_path: Path) -> None:
    lines = text("dep2str", files(tmp_path, "a b", [1, -1], "u v a", "0-2")).splitlines()
    assert [line for line in lines if line.startswith("a ^b")] == [
        "a ^b ||| a ||| 0.333333",
        "a ^b ||| u v a ||| 0.333333",
        "a ^b ||| v a ||| 0.333333",
    ]
    limited = text("dep2str", files(tmp_path, "a b", [1, -1], "u v a", "0-2"), max_variants=2).splitlines()
    assert [line for line in limited if line.startswith("a ^b")] == ["a ^b ||| a ||| 1"]


def test_equal_lines_are_added_up(tmp_path: Path) -> None:
    # Two heads b with a leaf a each, under r.
    lines = text("dep2str", files(tmp_path, "a b r a b", [1, 2, -1, 4, 2], "a b r a b", "0-0 1-1 2-2 3-3 4-4"))
    assert "a ^b ||| a b ||| 2" in lines.splitlines()


def test_an_empty_corpus(tmp_path: Path) -> None:
    for name in ("f.conllu", "e", "a"):
        (tmp_path / name).write_bytes(b"")
    assert text("dep2str", Inputs(str(tmp_path / "e"), str(tmp_path / "a"), conllu=str(tmp_path / "f.conllu"))) == ""


def test_lifted_arcs_and_skipped_constituents_are_counted(tmp_path: Path) -> None:
    inputs = files(tmp_path, "a b c d", [2, 3, -1, 2], "a b c d", "0-0 1-1 2-2 3-3")
    (tmp_path / "f.penn").write_text("(S (A a) (X (B b) (C c)) (D d))\n", encoding="utf-8")
    summary = write_rules("consdep2str", inputs._replace(penn=str(tmp_path / "f.penn")), io.BytesIO())
    assert summary.lifted == 1
    assert (summary.counters["phrasal_nodes"], summary.counters["crossing"]) == (1, 0)  # b hangs on c after lifting
    inputs = files(tmp_path, "a b c d", [2, 0, -1, 2], "a b c d", "0-0 1-1 2-2 3-3")
    summary = write_rules("consdep2str", inputs._replace(penn=str(tmp_path / "f.penn")), io.BytesIO())
    assert (summary.lifted, summary.counters["phrasal_nodes"], summary.counters["crossing"]) == (0, 0, 1)


@pytest.mark.parametrize(
    ("grammar", "given", "says"),
    [
        ("dep2str", {"conllu": False}, "--source-conllu"),
        ("consdep2str", {"penn": False}, "--source-penn"),
        ("cons2str", {"penn": False}, "--source-penn"),
        ("hierarchical", {"conllu": False, "penn": False}, "without a source"),
        ("hierarchical", {"source": True}, "--source and trees"),
    ],
)
def test_missing_inputs(folder: Path, grammar: str, given: dict[str, bool], says: str) -> None:
    with pytest.raises(TreeglotError, match=says):
        check_inputs(grammar, inputs(folder, **given))


@pytest.mark.parametrize(
    ("grammar", "options"),
    [
        ("consdep2str", {"span_mode": "xie"}),
        ("cons2str", {"span_mode": "xie"}),
        ("dep2str", {"binarize": "left"}),
        ("dep2str", {"max_variants": 0}),
    ],
)
def test_options_that_do_not_fit(folder: Path, grammar: str, options: dict[str, Any]) -> None:
    with pytest.raises(TreeglotError):
        text(grammar, inputs(folder), **options)


def test_files_that_end_early(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "f.penn").write_text((folder / "f.penn").read_text(encoding="utf-8").split("\n")[0], encoding="utf-8")
    with pytest.raises(TreeglotError, match="ends after 1 sentences") as caught:
        text("consdep2str", inputs(folder)._replace(penn=str(tmp_path / "f.penn")))
    assert caught.value.path == str(tmp_path / "f.penn")
