"""STSG and STSSG rules against a slow version (tree2tree_reference.py), on the worked example, and at the edges."""

from __future__ import annotations

import io
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cli_runner import Run
from tree2tree_reference import Limits, Node, Reference, node_of
from treeglot._core import parsed
from treeglot._core import rules as core
from treeglot.cli.rules_extract import Inputs, check_inputs, write_rules
from treeglot.errors import TreeglotError
from treeglot.examples import worked_example
from treeglot.grammars import stsg, stssg
from treeglot.tables.rules import build_rule_table
from treeglot.trees.penn import format_penn

Links = set[tuple[int, int]]


def columns(tree: Any) -> tuple[list[str], list[str], list[int], list[tuple[str, int, int, int]]]:
    words: list[Node] = []
    phrases: list[tuple[str, int, int, int]] = []

    def grow(node: Node, parent: int) -> None:
        if node.word:
            words.append(node)
            return
        phrases.append((node.label, *node.span, parent))
        own = len(phrases) - 1
        for child in node.children:
            grow(child, own)

    grow(node_of(tree), -1)
    return [node.word for node in words], [node.label for node in words], [], phrases


def extractor(
    grammar: str, source: Any, target: Any, alignment: Links, nodes: list[tuple[int, int]] | None = None, **options: Any
) -> core.Extractor:
    return core.Extractor(bitext_of(source, target, alignment, nodes), grammar, **options)


def bitext_of(
    source: Any, target: Any, alignment: Links, nodes: list[tuple[int, int]] | None = None
) -> parsed.ParsedBitext:
    bitext = parsed.ParsedBitext()
    sides = columns(source), columns(target)
    numbers = [
        tuple(node if node >= 0 else len(side[3]) + ~node for node, side in zip(link, sides, strict=True))
        for link in nodes or ()
    ]
    bitext.add(*sides, sorted(alignment), sorted(set(numbers)))  # type: ignore[arg-type]
    return bitext


def rules(grammar: str, source: Any, target: Any, alignment: Links, **options: Any) -> dict[str, float]:
    extracted = extractor(grammar, source, target, alignment, **options).rules(0)
    return {f"{rule[0]} ||| {rule[1]}": rule[2] for rule in extracted}


def random_tree(choose: random.Random, size: int, prefix: str) -> Any:
    parts: list[Any] = [(choose.choice("ABC"), f"{prefix}{choose.randrange(9)}") for _ in range(size)]
    while len(parts) > 1 or choose.random() < 0.3:
        begin = choose.randrange(len(parts))
        end = min(len(parts), begin + choose.choice((1, 2, 2, 2, 3, 3)))
        parts[begin:end] = [(choose.choice("NPV"), parts[begin:end])]
    return parts[0] if not isinstance(parts[0][1], str) else ("S", parts)


def random_links(choose: random.Random, source: int, target: int) -> Links:
    if choose.random() < 0.7:  # nearly monotone: many rules
        return {
            (j, max(0, min(target - 1, j * target // source + choose.choice((-1, 0, 0, 0, 1)))))
            for j in range(source)
            if choose.random() < 0.8
        }
    return {(choose.randrange(source), choose.randrange(target)) for _ in range(choose.randint(0, 5))}


def random_nodes(choose: random.Random, source: Any, target: Any) -> list[tuple[int, int]]:
    sides = [columns(tree) for tree in (source, target)]

    def node(side: Any) -> int:
        return choose.choice([*range(len(side[3])), *(~j for j in range(len(side[0])))])

    return sorted({(node(sides[0]), node(sides[1])) for _ in range(choose.randint(0, 6))})


def random_limits(choose: random.Random) -> dict[str, int]:
    if choose.random() < 0.4:
        return {}
    return {
        "max_variables": choose.choice((1, 2, 3, 4)),
        "max_frontier": choose.choice((2, 3, 6)),
        "max_words": choose.choice((1, 2, 7)),
        "max_height": choose.choice((1, 2, 3, 6)),
        "span_limit": choose.choice((1, 2, 4, 10)),
        "max_variants": choose.choice((1, 2, 4)),
    }


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("grammar", ["stsg", "stssg"])
def test_equals_the_slow_version(grammar: str, seed: int) -> None:
    choose = random.Random(f"{grammar} {seed}")
    total = 0
    for _ in range(40):
        sizes = choose.randint(1, 6), choose.randint(1, 6)
        source, target = random_tree(choose, sizes[0], "f"), random_tree(choose, sizes[1], "e")
        links = random_links(choose, *sizes)
        nodes = random_nodes(choose, source, target)
        given: dict[str, Any] = random_limits(choose)
        use, reading = choose.choice(("base", "base", "dirc", "ewos")), choose.choice(("exact", "open"))
        trees = {"max_trees": choose.choice((2, 3))} if grammar == "stssg" else {}
        slow = Reference(source, target, links, nodes, Limits(**{"max_trees": 1, **trees, **given}, reading=reading))
        wanted = slow.rules(use)
        counts = rules(grammar, source, target, links, nodes=nodes, links=use, reading=reading, **trees, **given)
        case = (source, target, links, nodes, given, use, reading, trees)
        assert counts.keys() == wanted.keys(), case
        for text, count in wanted.items():
            assert counts[text] == pytest.approx(float(count), rel=1e-5), (text, case)
        total += len(wanted)
    assert total > 100


@pytest.mark.parametrize("seed", range(3))
def test_stsg_is_what_stssg_has_of_single_trees(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(60):
        sizes = choose.randint(1, 8), choose.randint(1, 8)
        source, target = random_tree(choose, sizes[0], "f"), random_tree(choose, sizes[1], "e")
        links = random_links(choose, *sizes)
        one = rules("stsg", source, target, links, max_variants=1000)
        many = rules("stssg", source, target, links, max_variants=1000)
        assert set(one) == {text for text in many if all(is_single(side) for side in text.split(" ||| "))}


def is_single(side: str) -> bool:
    """Whether a side is one tree and no variable of it has several nodes."""
    depth = roots = 0
    numbers = [token.strip("()").split(":")[0] for token in side.split() if token.startswith("x") and ":" in token]
    for token in side.split():
        roots += depth == 0
        depth += token.startswith("(")
        depth -= len(token) - len(token.rstrip(")"))
    return roots == 1 and len(numbers) == len(set(numbers))


def test_worked_example() -> None:
    few, many = stsg.extract(worked_example()), stssg.extract(worked_example())
    assert len(few) == 43 and len(many) == 146 and all(rule.count == 1 for rule in [*few, *many])
    lines = {str(rule) for rule in many}
    assert {str(rule) for rule in few} < lines
    assert "(QP x1:OD (M 款)) ||| x1:DT x1:JJ ||| 1" in lines
    assert "(NP x1:NP x2:QP x2:NP) ||| (NP x2:NP x1:PP) ||| 1" in lines
    assert "x1:QP x2:NP ||| (NP x1:DT x1:JJ x2:NN) ||| 1" in lines
    assert not any(line.startswith("x1:ADVP x2:VV |||") for line in lines)  # a mere regrouping


def test_unaligned_words_make_variants() -> None:
    source = ("S", [("N", "hund"), ("V", "bellt")])
    target = ("S", [("NP", [("DT", "the"), ("NN", "dog")]), ("VB", "barks"), ("PU", ".")])
    counts = rules("stsg", source, target, {(0, 1), (1, 2)})
    assert counts["(N hund) ||| (NN dog)"] == counts["(N hund) ||| (NP (DT the) (NN dog))"] == 0.5
    assert counts["(S x1:N (V bellt)) ||| (S x1:NP (VB barks) (PU .))"] == 0.5
    assert not any(
        text.startswith("(V bellt) ||| (VB barks) (PU .)") for text in rules("stssg", source, target, {(0, 1), (1, 2)})
    )


def test_a_swap_without_words_is_a_rule_of_its_own() -> None:
    source = ("S", [("A", "a"), ("B", "b"), ("C", "c")])
    target = ("S", [("B", "v"), ("A", "u"), ("C", "w")])
    counts = rules("stssg", source, target, {(0, 1), (1, 0), (2, 2)})
    assert "x1:A x2:B ||| x2:B x1:A" in counts
    assert "(S x1:A x2:B x3:C) ||| (S x2:B x1:A x3:C)" in counts  # minimal: three variables
    assert "(S x1:A x1:B x2:C) ||| (S x1:B x1:A x2:C)" in counts


def chain(length: int, word: str) -> Any:
    tree: Any = ("N", word)
    for n in range(length):
        tree = (f"C{n}", [tree])
    return tree


def right_branching(size: int, prefix: str) -> Any:
    tree: Any = ("N", f"{prefix}{size - 1}")
    for n in reversed(range(size - 1)):
        tree = ("S", [("N", f"{prefix}{n}"), tree])
    return tree if size > 1 else ("S", [tree])


@pytest.mark.parametrize("grammar", ["stsg", "stssg"])
def test_large_and_small_trees(grammar: str) -> None:
    one = ("NN", "haus"), ("NN", "house")
    assert rules(grammar, *one, {(0, 0)}) == {"(NN haus) ||| (NN house)": 1.0}
    assert rules(grammar, *one, set()) == {}
    # A chain is higher than the limit, so only its minimal rule is there.
    counts = rules(grammar, ("S", [chain(20, "a"), ("B", "b")]), ("S", [("A", "u"), chain(20, "v")]), {(0, 0), (1, 1)})
    assert "(S x1:C19 x2:B) ||| (S x1:A x2:C19)" in counts
    assert sum(text.startswith("(C19 (C18") for text in counts) == 1

    # 200 words: rules grow with the words, not with their square.
    def rules_of(size: int) -> int:
        deep = right_branching(size, "f"), right_branching(size, "e")
        return len(rules(grammar, *deep, {(n, n) for n in range(size)}))

    assert rules_of(200) < 2.5 * rules_of(100)
    flat = ("S", [("N", f"f{n}") for n in range(200)]), ("S", [("N", f"e{n}") for n in range(200)])
    counter = extractor(grammar, *flat, {(n, n) for n in range(200)})
    assert len(counter.rules(0)) > 0 and counter.statistics["cut_minimal"] == 1  # the whole sentence: 200 variables
    assert len(rules(grammar, *flat, set())) == 0


def test_empty_sides_and_missing_trees() -> None:
    bitext = parsed.ParsedBitext()
    bitext.add(([], [], [], []), ([], [], [], []), [])
    bitext.add(columns(("S", [("A", "a")])), ([], [], [], []), [])
    bitext.add(columns(("S", [("A", "a")])), (["u", "v"], [], [], []), [(0, 0)])
    for grammar in ("stsg", "stssg"):
        pair_extractor = core.Extractor(bitext, grammar)
        assert [pair_extractor.rules(n) for n in range(3)] == [[], [], []]


def test_words_that_would_be_misread() -> None:
    words = ["x1:a", "\\u0041", "(", "-LRB-", "|||", "^", "*"]
    source = ("S", [("N", word) for word in words])
    target = ("S", [("N", word) for word in words])
    counts = rules("stsg", source, target, {(n, n) for n in range(len(words))})
    lexical = {text.split(" ||| ")[0] for text in counts if text.startswith("(N ")}
    assert lexical == {
        "(N \\u00781:a)",
        "(N \\u005cu0041)",
        "(N -LRB-)",
        "(N \\u002dLRB-)",
        "(N \\u007c||)",
        "(N ^)",
        "(N *)",
    }


@pytest.fixture
def files(tmp_path: Path) -> Inputs:
    pair = worked_example()
    assert pair.source.constituency is not None and pair.target.constituency is not None
    (tmp_path / "f").write_text(format_penn(pair.source.constituency) + "\n", encoding="utf-8")
    (tmp_path / "e").write_text(format_penn(pair.target.constituency) + "\n", encoding="utf-8")
    (tmp_path / "a").write_text("0-0 1-1 2-2 3-6 3-7 4-3 4-4 6-5 7-5\n", encoding="utf-8")
    (tmp_path / "n").write_text("0-0 2-2 w0-w0\n", encoding="utf-8")
    return Inputs(None, str(tmp_path / "a"), penn=str(tmp_path / "f"), target_penn=str(tmp_path / "e"))


def test_the_command_reads_trees_of_both_sides_and_node_links(files: Inputs) -> None:
    def lines(inputs: Inputs, **options: Any) -> list[str]:
        out = io.BytesIO()
        write_rules("stssg", inputs, out, **options)
        return out.getvalue().decode("utf-8").splitlines()

    assert lines(files) == [*(str(rule) for rule in stssg.extract(worked_example())), ""]
    nodes = files._replace(nodes=files.align[:-1] + "n")
    assert lines(nodes) == lines(files)
    both = lines(nodes, links="dirc")
    assert "(IP x1:NP x2:VP) ||| (S x1:NP x2:VP) ||| 2" in both


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target_penn": None}, "--target-penn"),
        ({"penn": None}, "--source-penn"),
        ({"target": "e"}, "--target and trees"),
    ],
)
def test_missing_inputs(files: Inputs, change: dict[str, Any], says: str) -> None:
    with pytest.raises(TreeglotError, match=says):
        check_inputs("stssg", files._replace(**change))


def test_counts_share_one() -> None:
    # Fractions, as the slow version gives them: two spans for the inner noun, one of them inside each outer span.
    source = ("S", [("N", "a"), ("V", "b")])
    target = ("S", [("NP", [("DT", "x"), ("NN", "u")]), ("VB", "v")])
    slow = Reference(source, target, {(0, 1), (1, 2)}, limits=Limits(max_trees=1)).rules()
    assert slow["(S x1:N (V b)) ||| (S (NP (DT x) x1:NN) (VB v))"] == Fraction(1, 2)
    assert rules("stsg", source, target, {(0, 1), (1, 2)}) == pytest.approx({t: float(c) for t, c in slow.items()})


def test_limits_that_cut_neighbours_are_named(files: Inputs, run: Run, tmp_path: Path) -> None:
    """Neighbours are the rules that two minimal ones make; a rule may be beyond several limits."""
    source = ("S", [("NP", [("D", "a"), ("N", "b")]), ("V", "c")])
    target = ("S", [("NP", [("D", "u"), ("N", "v")]), ("V", "w")])
    links = {(0, 0), (1, 1), (2, 2)}

    def counters(**limits: int) -> dict[str, int]:
        counter = extractor("stsg", source, target, links, **limits)
        counter.rules(0)
        return {name: n for name, n in counter.statistics.items() if "neigh" in name or name.startswith("beyond")}

    # (S x1:NP x2:V) with V put in, (NP x1:D x2:N) with D or N put in; without words a rule has no three variables.
    nothing = dict.fromkeys(("max_variables", "max_frontier", "max_words", "max_height", "span_limit"), 0)
    assert counters() == {"neighbours": 3, "cut_neighbours": 0} | {f"beyond_{name}": 0 for name in nothing}
    cut = counters(max_height=1)
    assert (cut["cut_neighbours"], cut["beyond_max_height"], cut["beyond_max_words"]) == (3, 3, 0)
    cut = counters(max_variables=1, span_limit=2)
    assert (cut["cut_neighbours"], cut["beyond_max_variables"], cut["beyond_span_limit"]) == (1, 0, 1)
    report = build_rule_table("stsg", bitext_of(source, target, links), tmp_path / "t", max_height=1)
    assert report.warning == "limits left out 3 of 3 rules that two minimal ones make: max_height 3"
    assert report.counters["cut_neighbours"] == 3
    given = ("--source-penn", files.penn, "--target-penn", files.target_penn, "--align", files.align)
    for command in (("extract", "stssg"), ("build", "--grammar", "stssg", "-o", tmp_path / "u")):
        assert "that two minimal ones make" in run("rules", *command, *given, "--max-height", "1").err
        assert (
            "two minimal ones" not in run("rules", *command, *given, "--max-height", "20", "--max-variables", "8").err
        )
