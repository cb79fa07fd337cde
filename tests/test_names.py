"""Variables say what they hold: names that say nothing stay out of the package, the core and the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
EMPTY = {"found", "made", "said", "got"}
PYTHON = [path for folder in ("src", "tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
CORE = sorted(path for path in (ROOT / "cpp").rglob("*") if path.suffix in (".cc", ".hh"))
# What is no code: comments and texts.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def variables(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are assigned to, and parameters. A field of a class is none: a score has links `found` and links `right`."""
    fields = {
        id(item.target) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
        for item in node.body if isinstance(item, ast.AnnAssign)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def words(text: str) -> Iterator[tuple[str, int]]:
    """The words of C++ code."""
    code = NO_CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    for number, line in enumerate(code.splitlines(), start=1):
        for word in re.findall(r"[A-Za-z_]\w*", line):
            yield word, number


def test_python() -> None:
    assert problems(PYTHON, lambda text: variables(ast.parse(text))) == []


def test_core() -> None:
    assert problems(CORE, words) == []


def problems(paths: list[Path], names: Callable[[str], Iterator[tuple[str, int]]]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in paths
        for name, line in names(path.read_text(encoding="utf-8"))
        if name in EMPTY
    ]


def test_the_rule_sees_what_it_should() -> None:
    tree = ast.parse(
        'class A:\n    found: int\ndef f(found):\n    """found"""\n    for made in a:\n        (said := b.got)'
    )
    assert sorted(variables(tree)) == [("found", 3), ("made", 5), ("said", 6)]
    text = 'int a; // found\nauto found = it;\nsay("found");\nR"(\nfound)" made'
    assert [pair for pair in words(text) if pair[0] in EMPTY] == [("found", 2), ("made", 5)]
