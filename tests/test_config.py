"""treeglot.toml: defaults, and the errors that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from treeglot import ConfigError, InputError
from treeglot.alignment.symmetrize import HEURISTICS, SYMAL_NAMES, symal_name
from treeglot.pipeline.config import load_config, parse_config

GOOD = """\
[languages]
source = "zh"
target = "en"

[data.train]
source = "train.zh"
target = "train.en"
"""


def test_defaults() -> None:
    config = parse_config(GOOD)
    assert config.data.dev is None
    assert config.limits.memory == "1500m"
    assert config.parsers.target.backend == "auto"


@pytest.mark.parametrize(
    ("extra", "line", "says", "remedy"),
    [
        ("[cleaning]\nmaxlength = 3", 9, "unknown key 'cleaning.maxlength'", "did you mean 'max_length'?"),
        ("[claening]\nmax_length = 3", 8, "unknown key 'claening'", "did you mean 'cleaning'?"),
        (
            "[parsers.source]\nzzz = 3",
            9,
            "unknown key 'parsers.source.zzz'",
            "backend, dependencies, memory, model, threads",
        ),
        ("[parsers.source]\nbackend = 'stanfrd'", 9, "parsers.source.backend", "correct the value"),
        ("[limits]\nmemory = '4 gigs'", 9, "limits.memory", "correct the value"),
        ("[limits]\nthreads = -1", 9, "limits.threads", "correct the value"),
        ("[cleaning]\nmax_ratio = 'big'", 9, "cleaning.max_ratio", "correct the value"),
        ("[data.dev]\nsource = 'x'", 8, "give either source and target, or file", "correct the value"),
        ("[project]\nseed = ", 9, "not TOML", "syntax"),
        ("[project\nseed = 1", 8, "not TOML", "syntax"),
    ],
)
def test_errors(extra: str, line: int, says: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(f"{GOOD}{extra}\n", path="treeglot.toml")
    assert caught.value.line == line, caught.value
    assert says in caught.value.message
    assert remedy in caught.value.remedy
    assert caught.value.path == "treeglot.toml"


def test_heuristics_are_those_of_the_command_line() -> None:
    for name in (*HEURISTICS, *SYMAL_NAMES):
        config = parse_config(f"{GOOD}[alignment]\nheuristic = '{name}'\n")
        assert config.alignment.heuristic == SYMAL_NAMES.get(name, name)
    with pytest.raises(ConfigError, match=r"alignment\.heuristic: .*'intersection'.*not 'both'"):
        parse_config(f"{GOOD}[alignment]\nheuristic = 'both'\n")
    assert {symal_name(name) for name in HEURISTICS} >= set(SYMAL_NAMES)


def test_missing_key() -> None:
    with pytest.raises(ConfigError, match="the key 'data' is missing"):
        parse_config('[languages]\nsource = "zh"\ntarget = "en"')
    with pytest.raises(ConfigError, match=r"the key 'languages\.target' is missing"):
        parse_config('[languages]\nsource = "zh"')


def test_load_from_folder_and_bad_files(tmp_path: Path) -> None:
    (tmp_path / "treeglot.toml").write_text(GOOD, encoding="utf-8")
    assert load_config(tmp_path).languages.target == "en"
    with pytest.raises(InputError, match="no such file"):
        load_config(tmp_path / "missing.toml")
    (tmp_path / "latin.toml").write_bytes(b"[project]\nname = '\xe9'\n")
    with pytest.raises(InputError, match="not UTF-8") as caught:
        load_config(tmp_path / "latin.toml")
    assert caught.value.line == 2
