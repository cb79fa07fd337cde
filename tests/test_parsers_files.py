"""Trees from elsewhere must belong to the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from treeglot.errors import InputError, ParserError
from treeglot.parsers import open_parser, parse_file
from treeglot.trees.conllu import read_conllu
from treeglot.trees.treejson import read_jsonl

CONLLU = (
    "# sent_id = a\n# text = Va au roi.\n1\tVa\t_\tVERB\t_\t_\t0\troot\t_\t_\n2-3\tau\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tà\t_\tADP\t_\t_\t4\tcase\t_\t_\n3\tle\t_\tDET\t_\t_\t4\tdet\t_\t_\n4\troi\t_\tNOUN\t_\t_\t1\tobl\t_\tSpaceAfter=No\n"
    "5\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n1\tNon\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
)
PENN = "(S (V Va) (PP (P à) (NP (D le) (N roi))) (PU .))\n(X (I Non))\n"


def put(folder: Path, text: str = "Va au roi.\nNon\n") -> Path:
    (folder / "p.conllu").write_text(CONLLU, encoding="utf-8")
    (folder / "p.penn").write_text(PENN, encoding="utf-8")
    (folder / "in.txt").write_text(text, encoding="utf-8")
    return folder


def test_two_files_side_by_side(tmp_path: Path) -> None:
    put(tmp_path)
    with open_parser("files", "fr", conllu=tmp_path / "p.conllu", penn=tmp_path / "p.penn") as parser:
        assert parser.trees == {"dependency", "constituency"}
        summary = parse_file(parser, tmp_path / "in.txt", jsonl=tmp_path / "o.jsonl", workers=4)
    assert summary.sentences == 2 and not summary.converted and not summary.failures
    first, _ = read_jsonl(tmp_path / "o.jsonl")
    assert first.constituency.labels == ("S", "PP", "NP") and first.dependency.heads == (-1, 3, 3, 0, 0)
    assert first.tokens.upos[0] == "VERB" and first.tokens.xpos[0] == "V" and first.ranges[0].columns[1] == "au"
    with open_parser("files", "fr", jsonl=tmp_path / "o.jsonl") as parser:
        parse_file(parser, tmp_path / "in.txt", conllu=tmp_path / "o.conllu")
    again = list(read_conllu(tmp_path / "o.conllu"))
    assert [sentence.id for sentence in again] == ["1", "2"]
    assert again[0].dependency is not None and again[0].dependency.heads == (-1, 3, 3, 0, 0)


def test_given_words(tmp_path: Path) -> None:
    put(tmp_path)
    with open_parser("files", "fr", conllu=tmp_path / "p.conllu") as parser:
        assert len(list(parser.parse([["Va", "à", "le", "roi", "."], "N on"]))) == 2
    with open_parser("files", "fr", conllu=tmp_path / "p.conllu") as parser, pytest.raises(InputError, match="word 2"):
        list(parser.parse([["Va", "au", "roi", "."]]))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("Va au roi.\nOui\n", 2, "reads 'Non'"),
        ("Va au roi.\n", 1, "more sentences"),
        ("Va au roi.\nNon\nOui\n", 3, "only 2"),
    ],
)
def test_another_text(tmp_path: Path, text: str, line: int, says: str) -> None:
    put(tmp_path, text)
    before = sorted(tmp_path.iterdir())
    with (
        open_parser("files", "fr", conllu=tmp_path / "p.conllu") as parser,
        pytest.raises(InputError, match=says) as caught,
    ):
        parse_file(parser, tmp_path / "in.txt", conllu=tmp_path / "o.conllu")
    assert caught.value.path == str(tmp_path / "in.txt") and caught.value.line == line
    assert sorted(tmp_path.iterdir()) == before


def test_no_files() -> None:
    with pytest.raises(ParserError, match="which files"):
        open_parser("files", "fr")
