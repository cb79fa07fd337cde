"""Scratch folders of killed runs go away with the next run; those in use, and those of others, stay."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from treeglot.scratch import ScratchFolder, remove_abandoned


def test_only_abandoned_folders_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os, sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from treeglot.scratch import ScratchFolder\n"
        "folder = ScratchFolder('killed'); (folder.path / 'large').write_text('x'); os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert killed.returncode == -9
    (abandoned,) = tmp_path.iterdir()
    (tmp_path / "treeglot-notes").mkdir()  # somebody's own
    with ScratchFolder("mine") as mine:
        assert not abandoned.exists(), "the next run removes it"
        assert mine.path.stat().st_mode & 0o077 == 0
        assert remove_abandoned() == []
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([mine.path.name, "treeglot-notes"])
    assert [path.name for path in tmp_path.iterdir()] == ["treeglot-notes"]
