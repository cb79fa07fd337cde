"""Penn brackets: worked examples, exact round trips, NLTK as an independent reader, and all real trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nltk
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from effort import worlds
from tree_strategies import damaged, phrases, survives, token_lists
from treeglot import InputError, TreeError
from treeglot.trees import ConstituencyTree, ParsedSentence, Tokens
from treeglot.trees.penn import format_penn, join_label, parse_penn, read_penn, split_label, write_penn

TRACE = "( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)) (PP-LGS (-NONE- *))))))"


def test_worked_example() -> None:
    tree = parse_penn(TRACE)
    assert tree.labels == ("S", "NP", "VP", "VP", "NP", "PP")
    assert tree.functions == ("", "SBJ-1", "", "", "", "LGS")
    assert tree.tokens.forms == ("The", "cat", "was", "seen", "*-1", "*")
    assert tree.tokens.xpos == ("DT", "NN", "VBD", "VBN", "-NONE-", "-NONE-")
    assert "( " + format_penn(tree) + ")" == TRACE


def test_empty_elements_are_dropped_on_request() -> None:
    tree = parse_penn(TRACE, drop_empty=True)
    assert format_penn(tree) == "(S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen))))"
    assert format_penn(parse_penn("(S (NP (-NONE- *)) (VP (VB go)))", drop_empty=True)) == "(S (VP (VB go)))"


def test_labels() -> None:
    cases = {
        "NP-SBJ-1": ("NP", "SBJ-1"),
        "NP=2": ("NP", "=2"),
        "NP-SBJ=2": ("NP", "SBJ=2"),
        "CLS-SUJ": ("CLS", "SUJ"),
        "P+D": ("P+D", ""),
        "ADVP|PRT": ("ADVP|PRT", ""),
        "-NONE-": ("-NONE-", ""),
        "-LRB-": ("-LRB-", ""),
        "-LRB--SBJ": ("-LRB-", "SBJ"),
        "--": ("--", ""),
        "-": ("-", ""),
        "-X": ("-X", ""),
        "NP-": ("NP-", ""),
        "NP---": ("NP", "--"),
        "NP-OBJ::OBJ##OBJ/OBJ": ("NP", "OBJ::OBJ##OBJ/OBJ"),
    }
    for label, parts in cases.items():
        assert split_label(label) == parts
        assert join_label(*parts) == label
    assert parse_penn("(S (NP-SBJ (CLS-SUJ il)))", split_functions=False).labels == ("S", "NP-SBJ")
    assert parse_penn("(S (NP-SBJ (CLS-SUJ il)))").word_functions == ("SUJ",)


def test_escapes() -> None:
    tree = parse_penn(r"(X (-LRB- -LRB-) (N traité-LRB-e-RRB-) (CD 1\/2) (S \*\*) (N C:\dir) (N -LCB-) ($*LRB* [))")
    assert tree.tokens.forms == ("(", "traité(e)", "1/2", "**", "C:\\dir", "{", "[")
    assert tree.tokens.xpos[0] == "-LRB-" and tree.tokens.xpos[-1] == "$("
    again = parse_penn(format_penn(tree))
    assert again == tree
    odd = ConstituencyTree.build(["-LRB-", "\\-LRB-", "\\/", "\\\\", "10 000", "\u00a0"], ("S", *range(6)))
    assert parse_penn(format_penn(odd)) == odd
    assert " " not in format_penn(odd).split("(_ ")[5].removesuffix(") ")


def test_layout_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.ptb"
    path.write_bytes(
        "\ufeff( (S\r\n  (NP\r\n (DT\r\n the) (\r\nNN dog))(VP (V barks)))) (X y)\r\n\r\n  (NP (A b) c\n)".encode()
    )
    texts = [format_penn(s.constituency) for s in read_penn(path) if s.constituency]
    assert texts == ["(S (NP (DT the) (NN dog)) (VP (V barks)))", "(X y)", "(NP (A b) (_ c))"]


def test_one_word_and_outer_brackets() -> None:
    assert len(parse_penn("(NN dog)")) == 0 and parse_penn("( (NN dog))") == parse_penn("(NN dog)")
    flat = parse_penn("( (NP (N a)) (. .))")
    assert flat.labels == ("", "NP") and parse_penn(format_penn(flat)) == flat
    nameless = ConstituencyTree.build(["a"], ("", ("S", 0)))
    assert parse_penn(format_penn(nameless)) == nameless


def test_failed_parses(tmp_path: Path) -> None:
    path = tmp_path / "a.ptb"
    path.write_text("(A (B c))\n(())\n()\n( ( ) )\n(S (-NONE- *))\n")
    with pytest.raises(InputError, match="without words"):
        list(read_penn(path))
    assert len(list(read_penn(path, failed="skip", drop_empty=True))) == 1
    kept = list(read_penn(path, failed="keep", drop_empty=True))
    assert [len(sentence) for sentence in kept] == [1, 0, 0, 0, 0]
    write_penn(kept, tmp_path / "b.ptb")
    assert list(read_penn(tmp_path / "b.ptb", failed="keep")) == kept


def test_one_tree_is_one_tree() -> None:
    for text in ("", "(A b) (C d)"):
        with pytest.raises(InputError, match="instead of one"):
            parse_penn(text)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    discontinuous = ConstituencyTree.build(["a", "b", "c"], ("S", ("X", 0, 2), 1))
    tokens = Tokens(["a\tb"])
    for tree, says in (
        (discontinuous, "discontinuous"),
        (ConstituencyTree.build(tokens, ("S", 0)), "white space"),
        (ConstituencyTree.build(["a"], ("S P", 0)), "white space"),
        (ConstituencyTree.build(["a"], ("S", ("", 0))), "empty label"),
        (ConstituencyTree.build([""], ("S", 0)), "empty word"),
    ):
        with pytest.raises(TreeError, match=says) as caught:
            write_penn([ParsedSentence(tree.tokens, constituency=tree, id="s9")], tmp_path / "a.ptb")
        assert "s9" in caught.value.message and caught.value.remedy
        assert not (tmp_path / "a.ptb").exists()
    with pytest.raises(TreeError, match="no constituency tree"):
        write_penn([ParsedSentence(tokens)], tmp_path / "a.ptb")


def test_very_deep_tree(tmp_path: Path) -> None:
    depth = 100_000
    tree = parse_penn("(S " * depth + "(N a)" + ")" * depth)
    assert len(tree) == depth
    assert parse_penn(format_penn(tree)) == tree
    pretty = format_penn(tree, pretty=True)
    assert len(pretty) < 100 * depth and parse_penn(pretty) == tree


def test_pretty_layout() -> None:
    tree = parse_penn("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    assert format_penn(tree, pretty=True) == format_penn(tree)
    assert format_penn(tree, pretty=True, width=30) == "(S\n  (NP (DT the) (NN dog))\n  (VP (VBZ barks)))"


@given(data=st.data())
def test_random_trees_round_trip(data: st.DataObject) -> None:
    tree = data.draw(phrases(data.draw(token_lists(rich=False)), continuous=True))
    assert parse_penn(format_penn(tree)) == tree
    assert parse_penn(format_penn(tree, pretty=True, width=data.draw(st.integers(1, 40)))) == tree


def agrees_with_nltk(text: str, tree: ConstituencyTree) -> bool:
    other = nltk.Tree.fromstring(text)
    other = other[0] if other.label() == "" and len(other) == 1 else other
    ours = [join_label(tree.labels[n], tree.functions[n]) for n in range(len(tree))]
    theirs = [node.label() for node in other.subtrees() if not (len(node) == 1 and isinstance(node[0], str))]
    tags = [join_label(*both) for both in zip(tree.tokens.xpos, tree.word_functions, strict=True)]
    escaped = [leaf.rsplit(" ", 1)[1].rstrip(")") for leaf in (format_penn(tree)).split(" (") if leaf.endswith(")")]
    return ours == theirs and tags == [tag for _, tag in other.pos()] and len(escaped) == len(other.leaves())


def check_file(path: Path, folder: Path, texts: list[str]) -> int:
    sentences = list(read_penn(path))
    for pretty in (False, True):
        write_penn(sentences, folder / "again.ptb", pretty=pretty)
        assert list(read_penn(folder / "again.ptb")) == sentences
    assert len(texts) == len(sentences)
    for text, sentence in zip(texts, sentences, strict=True):
        assert sentence.constituency is not None and agrees_with_nltk(text, sentence.constituency)
    return len(sentences)


def test_gum(data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = data("trees/gum-en/const")
    total = 0
    paths = sorted(folder.glob("*.ptb"))
    for number, path in enumerate(paths[: worlds(len(paths))]):
        if number % 12 == 0:  # NLTK and the round trip on a sample, for time
            texts = [text for text in path.read_text("utf-8").split("\n\n") if text.strip()]
            total += check_file(path, tmp_path, texts)
        else:
            for sentence in read_penn(path):
                assert sentence.constituency is not None
                assert parse_penn(format_penn(sentence.constituency)) == sentence.constituency
                total += 1
    assert total == 14_597 if worlds(len(paths)) >= len(paths) else total > 2_000


def test_sequoia(data: Callable[[str], Path], tmp_path: Path) -> None:
    path = data("trees/sequoia-fr/sequoia-corpus+fct.mrg_strict")
    assert check_file(path, tmp_path, path.read_text("utf-8").splitlines()) == 3_099


SAMPLE = b"( (S (NP-SBJ (DT The) (NN cat)) (VP=1 (VBZ -LRB-) (NP (-NONE- *)))))\n(())\n(A b)\n"


def read_checked(path: Path) -> None:
    """The reader builds trees without checks: they must be what the checking constructor builds."""
    for options in ({}, {"drop_empty": True, "failed": "keep", "split_functions": False}):
        for sentence in read_penn(path, **options):  # type: ignore[arg-type]
            tree = sentence.constituency
            if tree is not None:
                assert tree == ConstituencyTree(
                    tree.tokens, tree.labels, tree.children, tree.functions, tree.word_functions
                )
                assert parse_penn(format_penn(tree), split_functions=not options) == tree


@given(
    content=st.one_of(
        damaged(SAMPLE), st.text(alphabet="() \nab-\\*=", max_size=40).map(str.encode), st.binary(max_size=30)
    )
)
@example(content=b"(\n(\nA b c)\n(X\n(-NONE- *)) )")
def test_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    survives(read_checked, tmp_path_factory.mktemp("x") / "a.ptb", content)
