"""Files that are mapped into memory (language models, phrase and rule tables, alignment models): whatever is wrong with one, it is
refused or gives an answer; it never crashes. Damaged files are used in a process of its own by ``mapped_files_cases.py``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mapped_files_cases import DAMAGES, HEADERS, make_files, seal
from treeglot import TreeglotError, lm
from treeglot.tables import PhraseTable
from treeglot.tables.rules import RuleTable

OPEN = {"trigrams": lm.LanguageModel, "counted": PhraseTable, "augmented": RuleTable}
TOTAL = re.compile(r"^(\S+): (\d+) tried, (\d+) refused$")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    make_files(folder)
    return folder


@pytest.mark.parametrize("kind", HEADERS)
def test_damage_never_crashes(files: Path, kind: str) -> None:
    command = [sys.executable, str(Path(__file__).with_name("mapped_files_cases.py")), str(files), kind]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else "before the first case"
    assert done.returncode == 0, f"{kind}, {last}: exit code {done.returncode}\n{done.stderr[-3000:]}"
    counts = {cases: (int(tried), int(refused)) for line in lines for cases, tried, refused in TOTAL.findall(line)}
    assert list(counts) == list(DAMAGES)
    for cases, (tried, refused) in counts.items():
        assert tried >= 100
        assert refused > tried // (5 if cases.startswith("header") else 50)


@pytest.mark.parametrize("kind", OPEN)
def test_files_of_other_versions_and_machines_say_so(files: Path, tmp_path: Path, kind: str) -> None:
    good = (files / kind).read_bytes()
    OPEN[kind](files / kind)
    version = int.from_bytes(good[8:12], "little")
    bad = tmp_path / "bad"
    for place, content, says in [
        (8, (version - 1).to_bytes(4, "little"), "another version of treeglot"),
        (8, version.to_bytes(4, "big"), "another byte order"),
        (16, bytes(reversed(good[16:24])), "other numbers or layouts"),  # an integer
        (24, bytes(reversed(good[24:32])), "other numbers or layouts"),  # a double
        (32, bytes(4), "other numbers or layouts"),  # a float
        (40, bytes([good[40] + 4]), "other numbers or layouts"),  # the size of a record
    ]:
        file = bytearray(good)
        file[place : place + len(content)] = content
        bad.write_bytes(seal(kind, file))
        with pytest.raises(TreeglotError, match=says) as caught:
            OPEN[kind](bad)
        assert caught.value.path == str(bad)
        assert "again" in (caught.value.remedy or "")
