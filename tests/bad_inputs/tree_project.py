"""Trees of a project that do not belong to its text, and configurations of systems that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bad_inputs import BadInput
from treeglot.pipeline.config import Corpus, Languages, load_config
from treeglot.pipeline.parsing import tree_files
from treeglot.pipeline.parts import Part, TreeSide
from treeglot.trees.corpus import SideFiles


def _row(number: int, form: str, head: int) -> bytes:
    return f"{number}\t{form}\t_\t_\tNN\t_\t{head}\tdep\t_\t_\n".encode()


_ONE = _row(1, "狗", 2) + _row(2, "叫", 0) + b"\n"
_TWO = _row(1, "猫", 0) + b"\n"
_PENN = "(S (NN 狗) (VV 叫))\n(S (NN 猫))\n".encode()


def _pairs(folder: Path, *, source: bool = False, penn: bool = False) -> Iterator[Any]:
    """The pairs of a part whose trees are in t.conllu (or t.penn) and whose text is in t.en (and t.zh)."""
    corpus = Corpus(
        source="t.zh" if source else "", target="t.en", conllu="" if penn else "t.conllu", penn="t.penn" * penn
    )
    files = SideFiles(penn=folder / "t.penn") if penn else SideFiles(conllu=folder / "t.conllu")
    with TemporaryDirectory() as work:
        side = TreeSide(files, Path(work))
    return Part(corpus, folder, Languages(source="zh", target="en"), side).pairs()


def _toml(name: str, lines: str, line: int, says: str) -> BadInput:
    head = '[languages]\nsource = "zh"\ntarget = "en"\n[data.train]\nsource = "a"\ntarget = "b"\n'
    files = {"treeglot.toml": f"{head}{lines}\n".encode()}
    return BadInput(f"tree-project-{name}", files, load_config, line, says)


CASES = [
    BadInput(
        "tree-project-fewer-trees",
        {"t.conllu": _ONE + _TWO, "t.en": b"a dog barks\na cat\na cow\n"},
        _pairs,
        3,
        "ends after 2 sentences",
    ),
    BadInput(
        "tree-project-fewer-targets",
        {"t.conllu": _ONE + _TWO, "t.en": b"a dog barks\n"},
        _pairs,
        2,
        "ends after 1 sentences",
        blamed="t.en",
    ),
    BadInput(
        "tree-project-fewer-penn-trees",
        {"t.penn": _PENN, "t.en": b"a\nb\nc\n"},
        lambda folder: _pairs(folder, penn=True),
        3,
        "t.en goes on",
    ),
    BadInput(
        "tree-project-other-words",
        {"t.conllu": _ONE + _TWO, "t.zh": "狗叫\n牛\n".encode(), "t.en": b"a\nb\n"},
        lambda folder: _pairs(folder, source=True),
        2,
        "sentence 2: the tree reads '猫' where the text has '牛'",
    ),
    BadInput(
        "tree-project-more-words",
        {"t.conllu": _ONE + _TWO, "t.zh": "狗叫吧\n猫\n".encode(), "t.en": b"a\nb\n"},
        lambda folder: _pairs(folder, source=True),
        1,
        "sentence 1: the tree reads '' where the text has '吧'",
    ),
    BadInput(
        "tree-project-damaged-tree",
        {"t.conllu": _ONE + _row(1, "猫", 1) + b"\n", "t.en": b"a\nb\n"},
        _pairs,
        4,
        "a cycle",
    ),
    BadInput(
        "tree-project-json-without-tree",
        {"t.jsonl": b'{"tokens": [{"form": "a"}]}\n'},
        lambda folder: tree_files(jsonl=folder / "t.jsonl"),
        1,
        "",
    ),
    _toml("no-grammars", "[systems.mine]\nstack_limit = 5", 1, "systems.mine has no grammars"),
    _toml("unknown-grammar", '[systems.mine]\ngrammars = ["dep2strr"]', 8, "systems.mine.grammars"),
    _toml("unknown-option", '[systems.mine]\ngrammars = ["dep2str"]\nlimit = 5', 9, "unknown key 'systems.mine.limit'"),
    _toml("threshold", "[systems.dep2str]\nstack_threshold = 1.5", 8, "stack_threshold"),
    _toml("part-name", '[data.tests."a/b"]\nsource = "x"\ntarget = "y"', 7, "data.tests"),
]
