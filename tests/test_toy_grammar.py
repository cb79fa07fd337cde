"""A grammar that the package does not know: one C++ file and one Python module of this folder are all it takes.

The library is compiled against the headers and linked with the extension. Everything else, from configuration keys to derivations,
comes from its declaration. It runs in processes of its own, so that other tests do not see it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treeglot._core
from treeglot.examples import Sizes, write_example

HERE = Path(__file__).parent / "toy_grammar"
CONFIG = """\
[languages]
source = "zh"
target = "en"
[data.train]
source = "raw/train.zh"
target = "raw/train.en"
[data.dev]
source = "raw/dev.zh"
target = "raw/dev.en"
[data.test]
source = "raw/test.zh"
target = "raw/test.en"
[text]
casing = "lower"
tokenizer = "space"
[lm]
order = 3
[tuning]
iterations = 2
nbest = 20
[systems.toy]
rule_words = 5
[systems.both]
grammars = ["hierarchical", "toy"]
rule_words = 3
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler: set CXX")
    core = treeglot._core.__file__
    assert core is not None
    library = tmp_path_factory.mktemp("toy") / "toy.so"
    headers = Path(__file__).parents[1] / "cpp"
    command = [compiler, "-std=c++20", "-O0", "-fPIC", "-shared", f"-I{headers}", HERE / "toy.cc", core, "-o", library]
    subprocess.run(command, check=True, timeout=300)
    return library


@pytest.fixture(scope="module")
def project(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_example(folder / "raw", sizes=Sizes(300, 40, 20))
    (folder / "treeglot.toml").write_text(CONFIG, encoding="utf-8")
    run(library, "train", folder, "--system", "toy", "--system", "toy-plain")
    return folder


def run(library: Path, *arguments: object, text: str = "", code: int = 0) -> str:
    environment = {
        **os.environ,
        "TREEGLOT_GRAMMARS": f"{library}@toy_door",
        "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "COLUMNS": "200",
    }
    command = [sys.executable, "-m", "treeglot", *map(str, arguments)]
    done = subprocess.run(command, env=environment, input=text, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def test_rules_are_extracted_and_looked_at(library: Path, project: Path, tmp_path: Path) -> None:
    for name, line in (("s", "a b c"), ("t", "x y z"), ("a", "0-0 1-2 2-1")):
        (tmp_path / name).write_text(line + "\n")
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t", "--align", tmp_path / "a"]
    rules = run(library, "rules", "extract", "toy", *files).split("\n")
    assert "a ||| x ||| 1" in rules and "a x1:X c ||| x y x1 ||| 1" in rules
    assert "x1:X" not in run(library, "rules", "extract", "toy", *files, "--no-gaps")
    assert "no option --max-gaps" in run(library, "rules", "extract", "toy", *files, "--max-gaps", 1, code=1)
    help = run(library, "rules", "extract", "--help")
    assert "--rule-words" in help and "toy: source words of a rule" in help
    figures = json.loads(run(library, "rules", "stats", project / "tables" / "toy.rule_words5.tgrt", "--json"))
    assert figures["grammar"] == "toy" and figures["options"]["features"][-1] == "toy.gaps"
    assert figures["options"]["extraction"] == {"gaps": True, "rule_words": 5}


def test_keys_are_checked(library: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "treeglot.toml").write_text(CONFIG.replace("rule_words = 5", "rule_words = 11"), encoding="utf-8")
    assert "systems.toy.rule_words" in run(library, "config", "check", tmp_path / "treeglot.toml", code=1)
    shown = run(library, "config", "show", project / "treeglot.toml")
    assert "rule_words" in shown


def test_tunes_translates_and_explains(library: Path, project: Path) -> None:
    run(library, "tune", project, "--system", "toy")
    weights = (project / "systems/toy/weights.txt").read_text(encoding="utf-8")
    assert "toy.gaps = " in weights and "phrases" not in weights
    line = (project / "corpus/test.zh").read_text(encoding="utf-8").split("\n")[0]
    out = run(library, "translate", "-p", project, "--system", "toy", "--tokenized", "--explain", "--json", text=line)
    record = json.loads(out)
    steps = record["derivation"]
    assert any(step["grammar"] == "toy" for step in steps)
    assert any("toy.p_ts" in step["features"] for step in steps)


def test_compares_and_combines(library: Path, project: Path) -> None:
    run(library, "tune", project, "--system", "both")
    weights = (project / "systems/both/weights.txt").read_text(encoding="utf-8")
    assert "toy.gaps" in weights and "hierarchical.p_ts" in weights
    out = run(library, "compare", "-p", project, "toy", "both")
    assert "toy" in out and "both" in out
