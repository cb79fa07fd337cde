"""The registry of grammars: nobody but a grammar's own files spells its name, and what depends on grammars is derived."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from treeglot import ConfigError
from treeglot.grammars import registry
from treeglot.pipeline.config import parse_config
from treeglot.pipeline.systems import preset, presets

ROOT = Path(__file__).parents[1]
PLAIN_WORD = {
    # "phrases" also is a plain word: columns, keys and features of other things.
    "phrases": {"alignment", "trees", "cli/subtree", "pipeline/compare.py"},
}


def own_files(name: str) -> tuple[str, ...]:
    return f"src/treeglot/grammars/{name}.py", "src/treeglot/grammars/combinations.py", f"cpp/grammars/{name}/"


@functools.cache
def python_texts(path: Path) -> set[str]:
    """The texts in the code of a file that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    docstrings |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # texts below attributes
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    }


@functools.cache
def cpp_code(path: Path) -> str:
    """A file without its comments."""
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", list(registry.grammars()))
def test_a_name_stands_in_its_own_files_only(name: str) -> None:
    spelt = []
    for path in sorted((ROOT / "src/treeglot").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        inside = path.relative_to(ROOT / "src/treeglot").as_posix()
        if place.startswith(own_files(name)) or any(inside.startswith(part) for part in PLAIN_WORD.get(name, ())):
            continue
        pattern = name if name in PLAIN_WORD else rf"\S*(?<![\w-]){name}(?![\w-])\S*"
        if any(re.fullmatch(pattern, text) for text in python_texts(path)):
            spelt.append(place)
    for path in sorted((ROOT / "cpp").rglob("*")):
        place = path.relative_to(ROOT).as_posix()
        if path.suffix not in (".cc", ".hh") or "_test." in path.name or place.startswith(own_files(name)):
            continue
        code = cpp_code(path)
        if f'"{name}"' in code and not (name in PLAIN_WORD and f'arg("{name}")' in code):
            spelt.append(place)
    assert not spelt


@pytest.mark.parametrize("name", list(registry.grammars()))
def test_every_grammar_has_a_door(name: str) -> None:
    grammar = registry.grammar(name)
    assert grammar.door.__doc__ and grammar.title
    assert name in grammar.presets and grammar.presets[name]["grammars"] == (name,)
    assert all(option.help and not option.help.endswith(".") for option in grammar.options)
    assert list(grammar.features())[:2] == [f"{name}.p_ts", f"{name}.p_st"]


def test_every_option_is_a_key_with_its_limits() -> None:
    text = '[languages]\nsource = "zh"\ntarget = "en"\n[data.train]\nsource = "s"\ntarget = "t"\n[systems.mine]\ngrammars = ["{}"]\n{} = {}\n'

    def shown(value: object) -> str:
        return f'"{value}"' if isinstance(value, str) else str(value).lower()

    for name, (option, grammars) in registry.options().items():
        assert parse_config(text.format(grammars[0], name, shown(option.default)))
        bad = "none of these" if isinstance(option.default, str) else option.high * 2 + 2
        bad = "often" if isinstance(option.default, bool) else bad
        with pytest.raises(ConfigError, match=f"systems.mine.{name}"):
            parse_config(text.format(grammars[0], name, shown(bad)))
        assert name in preset(grammars[0]).options


def test_presets_are_in_the_registry_and_order_means_nothing() -> None:
    for name, values in presets().items():
        system = preset(name)
        turned = preset(name, {"grammars": tuple(reversed(values["grammars"]))})
        assert system.tables == turned.tables and system.decoder_options == turned.decoder_options
        assert registry.forest_features(system.grammars) == registry.forest_features(turned.grammars)


def test_a_name_that_is_taken_or_wrong_is_refused(tmp_path: Path) -> None:
    from treeglot.errors import TreeglotError

    (tmp_path / "none.so").write_bytes(b"no library")
    with pytest.raises(TreeglotError, match=r"none\.so"):
        registry.load_grammars(tmp_path / "none.so")
