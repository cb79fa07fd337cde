"""Do the tests notice mistakes? Small mistakes are put into the code, one at a time, and the tests that concern it are run.

    python tests/mutants.py --number 300 --seed 1        # Python: sites sampled by seed, as many in every room
    python tests/mutants.py --core                       # C++: the list in mutants_core.py, built one by one

A mutant that some test notices is killed. One that none notices is either a gap in the tests or means the same as the original; those
that do are listed in mutants_equivalent.txt. What was tried is kept (``--out``, a line of JSON each) and not tried again, so a run
may be stopped at any time. The package is not touched: tests see a copy (as with `make sanitize-python`).
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCE = ROOT / "src" / "treeglot"
EQUIVALENT = HERE / "mutants_equivalent.txt"
SKIPPED_ROOMS = ("examples", "_core")
"""Rooms that are not mutated: the embedded corpus has no right or wrong but its own bytes, and tests of those are elsewhere."""
MOST_TESTS = 5
"""Files of tests that are run for a mutant, those that concern its module most."""

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


class Mutant(NamedTuple):
    """A changed piece of a file of the package."""

    path: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def shown(self, source: bytes) -> str:
        """``path: old line => new line``, which is how equivalent ones are listed."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        stop = source.find(b"\n", self.end)
        old, new = source[begin:stop], source[begin : self.start] + self.text.encode() + source[self.end : stop]
        return f"{self.path}: {' '.join(old.decode().split())} => {' '.join(new.decode().split())}"


class _Sites(ast.NodeVisitor):
    """All places of a module where something can be changed."""

    def __init__(self, source: str, path: str) -> None:
        self.path = path
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.sites: list[Mutant] = []

    def add(self, node: ast.expr | ast.stmt, text: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        self.sites.append(Mutant(self.path, node.lineno, start, end, text))

    def swap(self, node: ast.expr, new: ast.expr) -> None:
        self.add(node, f"({ast.unparse(new)})")

    # Not looked into: messages, annotations, strings with fields (their places are wrong before Python 3.12).
    def visit_Raise(self, node: ast.Raise) -> None: ...
    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...
    def visit_Assert(self, node: ast.Assert) -> None: ...
    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _CALLS and node.args:
            self.add(node.func, _CALLS[node.func.id])
        if isinstance(node.func, ast.Name | ast.Attribute) and ast.unparse(node.func) in (
            "say",
            "tell",
            "print",
            "log.warning",
        ):
            return
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for n, operator in enumerate(node.ops):
            operators = [*node.ops[:n], _COMPARE[type(operator)](), *node.ops[n + 1 :]]
            self.swap(node, ast.Compare(node.left, operators, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _BINARY and not isinstance(node.left, ast.JoinedStr):
            self.swap(node, ast.BinOp(node.left, _BINARY[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.swap(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.swap(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, f"({node.value + 1})")
        elif isinstance(node.value, float):
            self.add(node, f"({node.value * 2 if node.value else 1.0})")

    def visit_If(self, node: ast.If) -> None:
        self.swap(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.swap(node, ast.IfExp(node.test, node.orelse, node.body))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self.add(node.value, "None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):  # something that is done and not looked at
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = "-" if isinstance(node.op, ast.Add) else "+"
            self.add(node, f"{ast.unparse(node.target)} {sign}= {ast.unparse(node.value)}")
        self.generic_visit(node)


@functools.cache
def mutants_of(path: str) -> tuple[Mutant, ...]:
    """All mutants of a file of the package; a few are no Python any more."""
    source = (SOURCE / path).read_text(encoding="utf-8")
    sites = _Sites(source, path)
    sites.visit(ast.parse(source))
    return tuple(dict.fromkeys(sites.sites))


def is_python(mutant: Mutant) -> bool:
    """Whether the changed file is still Python."""
    try:
        compile(mutant.apply((SOURCE / mutant.path).read_bytes()), mutant.path, "exec")
    except SyntaxError:
        return False
    return True


def rooms() -> dict[str, list[str]]:
    """The files of the package by room; what lies outside of rooms is one."""
    listed: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        room = place.parts[0] if len(place.parts) > 1 else "common"
        if room not in SKIPPED_ROOMS:
            listed.setdefault(room, []).append(str(place))
    return listed


def sample(number: int, seed: int, only: list[str]) -> Iterator[Mutant]:
    """``number`` mutants, room by room in turn, without repetition; more of the same seed begin with fewer of it."""
    by_room = {room: files for room, files in rooms().items() if not only or room in only}
    draws = {room: random.Random(f"{seed} {room}") for room in by_room}
    pools = {room: [mutant for path in files for mutant in mutants_of(path)] for room, files in by_room.items()}
    for room, pool in pools.items():
        draws[room].shuffle(pool)
    given = 0
    while given < number and any(pools.values()):
        for room in sorted(pools):
            while pools[room] and not is_python(pools[room][-1]):
                pools[room].pop()
            if pools[room] and given < number:
                given += 1
                yield pools[room].pop()


@functools.cache
def _words_of_tests() -> dict[str, frozenset[str]]:
    """All names, dotted or not, in each file of tests."""
    listed = {}
    for path in sorted(HERE.glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        listed[path.name] = frozenset(re.findall(r"\w+", text)) | frozenset(re.findall(r"[\w.]+", text))
    return listed


@functools.cache
def tests_of(path: str) -> tuple[str, ...]:
    """The files of tests that concern a module most: those that import it, and those that name most of what it defines."""
    module = "treeglot." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in ast.walk(tree) if isinstance(node, kinds) and not node.name.startswith("_")}
    weight = {
        name: 1 / (1 + sum(name in words for words in _words_of_tests().values())) for name in names if len(name) > 3
    }
    scores: Counter[str] = Counter()
    for test, words in _words_of_tests().items():
        scores[test] = sum(value for name, value in weight.items() if name in words)  # type: ignore[assignment]
        scores[test] += 3 * (module in words)
        scores[test] += 2 * (module.rpartition(".")[2] in test) + (path.split("/")[0] in test)
    if path.startswith("cli/"):
        scores["test_every_command.py"] += 2
    return tuple(test for test, score in scores.most_common(MOST_TESTS) if score > 0)


class Copy:
    """A copy of the package, which tests see instead of the one that is installed."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        self.package = self.site / "treeglot"
        shutil.rmtree(self.site, ignore_errors=True)
        shutil.copytree(SOURCE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        spec = importlib.util.find_spec("treeglot._core")
        assert spec is not None and spec.origin is not None
        shutil.copy(spec.origin, self.package)
        (self.site / "sitecustomize.py").write_text(
            "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"
        )

    def put(self, path: str, content: bytes) -> None:
        """Change a file, and drop what Python has compiled of it."""
        place = self.package / path
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
            compiled.unlink()
        place.write_bytes(content)

    def run(self, tests: list[str], seconds: float) -> tuple[str, str]:
        """``passed``, ``failed`` or ``late``, and which test it was."""
        environment = os.environ | {
            "PYTHONPATH": str(self.site),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.site / "hypothesis"),
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--no-header",
            "--tb=no",
            *tests,
        ]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return "late", tests[0]
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        if done.returncode in (0, 5):
            return "passed", ""
        return "failed", failed[0] if failed else tests[0]


def known_equivalent() -> set[str]:
    """The mutants that mean the same as the original."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.exists() else []
    return {" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#")}


def read_results(out: Path) -> dict[str, dict[str, object]]:
    """What was tried before, by key."""
    if not out.exists():
        return {}
    return {record["key"]: record for record in map(json.loads, out.read_text(encoding="utf-8").splitlines())}


def try_python(arguments: argparse.Namespace) -> None:
    """Sample mutants of the Python code and try them."""
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = read_results(arguments.out)
    equivalent = known_equivalent()
    copy = Copy(arguments.out.parent)
    base: dict[str, bool] = {}
    until = time.monotonic() + 60 * arguments.minutes
    for number, mutant in enumerate(sample(arguments.number, arguments.seed, arguments.room), start=1):
        source = (SOURCE / mutant.path).read_bytes()
        shown = mutant.shown(source)
        key = hashlib.sha256(f"{shown}\0{hashlib.sha256(source).hexdigest()}\0{mutant.start}".encode()).hexdigest()[:16]
        if key in done or shown in equivalent:
            continue
        if time.monotonic() > until:
            break
        start = time.monotonic()
        tests = [f"tests/{name}" for name in tests_of(mutant.path)]
        fine = []
        for test in tests:  # one that fails without any mutant, or takes too long, says nothing
            if test not in base:
                base[test] = copy.run([test], arguments.seconds)[0] == "passed"
            fine += [test] if base[test] else []
        copy.put(mutant.path, mutant.apply(source))
        try:
            result, by = copy.run([str(copy.package / mutant.path), "--doctest-modules"], arguments.seconds)
            for test in fine:
                if result == "passed":
                    result, by = copy.run([test], 3 * arguments.seconds)
        finally:
            copy.put(mutant.path, source)
        record = {
            "key": key,
            "room": mutant.path.split("/")[0] if "/" in mutant.path else "common",
            "mutant": shown,
            "line": mutant.line,
            "result": "survived" if result == "passed" else "killed",
            "by": by,
            "tests": fine,
            "seconds": round(time.monotonic() - start, 1),
        }
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        print(f"{number} {record['result']} {mutant.path}:{mutant.line} {by}", flush=True)
    report(arguments.out, equivalent)


def report(out: Path, equivalent: set[str]) -> None:
    """Killed and survived by room, and the survivors."""
    counts: dict[str, Counter[str]] = {}
    survivors = []
    for record in read_results(out).values():
        if record["mutant"] in equivalent:
            continue
        counts.setdefault(str(record["room"]), Counter())[str(record["result"])] += 1
        if record["result"] == "survived":
            survivors.append(record)
    for record in survivors:
        print(f"survived: line {record['line']} of {record['mutant']}")
    for room, count in sorted(counts.items()):
        total = count["killed"] + count["survived"]
        print(f"{room:12} {count['killed']:4} of {total:4} killed ({100 * count['killed'] / total:.0f} %)")


def try_core(arguments: argparse.Namespace) -> None:
    """Build each mutant of the list for the core, and run its tests: those in C++, then those in Python."""
    from mutants_core import MUTANTS

    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    done = read_results(arguments.out)
    copy = Copy(arguments.out.parent)
    tree = arguments.out.parent / "tree"
    until = time.monotonic() + 60 * arguments.minutes
    build = f"cmake --build {tree}/build"
    binaries = Path(sys.executable).parent
    for mutant in MUTANTS:
        key = hashlib.sha256(repr(mutant).encode()).hexdigest()[:16]
        if key in done or (arguments.room and mutant.room not in arguments.room):
            continue
        if time.monotonic() > until:
            break
        if not (tree / "build").exists():
            shutil.copytree(
                ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "build", "*.jsonl", "__pycache__")
            )
            configure = ["-S", str(tree), "-B", str(tree / "build"), "-G", "Ninja", "-DTREEGLOT_TESTS=ON",
                         f"-DPython_EXECUTABLE={sys.executable}", *os.environ.get("CMAKE_ARGS", "").split(),
                         f"-DBOOST_HEADERS={arguments.boost}", f"-DCMAKE_MAKE_PROGRAM={binaries / 'ninja'}"]  # fmt: skip
            subprocess.run([binaries / "cmake", *configure], check=True, stdout=subprocess.DEVNULL)
        start = time.monotonic()
        place = tree / mutant.file
        original = place.read_text(encoding="utf-8")
        place.write_text(mutant.apply(original), encoding="utf-8")
        try:
            built = subprocess.run([binaries / "cmake", *build.split()[1:]], capture_output=True, text=True)
            result, by = "failed", "the compiler"
            if built.returncode == 0:
                tests = subprocess.run([tree / "build" / "treeglot_core_tests"], capture_output=True, timeout=600)
                result, by = ("passed", "") if tests.returncode == 0 else ("failed", "treeglot_core_tests")
                if result == "passed":
                    for core in (tree / "build").glob("_core*.so"):
                        shutil.copy(core, copy.package)
                    for name in mutant.tests:
                        if result == "passed":
                            result, by = copy.run([f"tests/{name}.py"], 3 * arguments.seconds)
        finally:
            place.write_text(original, encoding="utf-8")
        record = {
            "key": key, "room": mutant.room, "mutant": f"{mutant.file}: {mutant.old} => {mutant.new}", "line": 0,
            "result": "survived" if result == "passed" else "killed", "by": by,
            "seconds": round(time.monotonic() - start, 1),
        }  # fmt: skip
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        print(f"{record['result']} {record['mutant']} {by}", flush=True)
    report(arguments.out, known_equivalent())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=300, help="mutants to sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append", default=[], help="only these rooms")
    parser.add_argument("--core", action="store_true", help="the list of mutants of the C++ core")
    parser.add_argument("--boost", default="", help="with --core: the folder of Boost's headers")
    parser.add_argument("--seconds", type=float, default=120, help="a file of tests that takes longer is not used")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; the next run goes on")
    parser.add_argument("--out", type=Path, default=None, help="where results are kept")
    parser.add_argument("--list", action="store_true", help="print the sample instead of trying it")
    arguments = parser.parse_args()
    arguments.out = arguments.out or ROOT / "build" / "mutants" / ("core.jsonl" if arguments.core else "python.jsonl")
    arguments.out = arguments.out.resolve()
    if arguments.list:
        for mutant in sample(arguments.number, arguments.seed, arguments.room):
            print(mutant.shown((SOURCE / mutant.path).read_bytes()), *tests_of(mutant.path)[:3])
    elif arguments.core:
        try_core(arguments)
    else:
        try_python(arguments)


if __name__ == "__main__":
    main()
