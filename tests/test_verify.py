"""``treeglot verify``, and stages that notice what a disk has forgotten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli_runner import Run
from treeglot import TreeglotError, alignment, lm
from treeglot.files import atomic_write
from treeglot.pipeline.stages import Runner, Stage
from treeglot.pipeline.verify import verify


def rot(path: Path) -> None:
    """Change a byte, but neither the size nor the time."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 2)
        byte = file.read(1)
        file.seek(before.st_size // 2)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def copying(folder: Path) -> Stage:
    def run(inputs: dict[str, Path], outputs: dict[str, Path], work: Path) -> None:
        outputs["file"].write_text(inputs["text"].read_text() * 2)
        (outputs["folder"] / "below").mkdir(parents=True)
        (outputs["folder"] / "below" / "part").write_text(inputs["text"].read_text() * 3)

    outputs = {"file": folder / "file", "folder": folder / "folder"}
    return Stage("copying", {"text": folder / "text"}, outputs, {}, run)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["file", "folder/below/part"])
def test_an_output_that_rots_is_made_anew(tmp_path: Path, name: str) -> None:
    (tmp_path / "text").write_text("abc\n")
    Runner(tmp_path, "1").run(copying(tmp_path))
    right = (tmp_path / name).read_text()
    rot(tmp_path / name)
    assert (tmp_path / name).read_text() != right
    assert not Runner(tmp_path, "1").run(copying(tmp_path)).skipped
    assert (tmp_path / name).read_text() == right
    assert Runner(tmp_path, "1").run(copying(tmp_path)).skipped


def test_a_file_more_or_less_in_a_folder_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("abc\n")
    Runner(tmp_path, "1").run(copying(tmp_path))
    (tmp_path / "folder/other").write_text("")
    assert not Runner(tmp_path, "1").run(copying(tmp_path)).skipped
    assert not (tmp_path / "folder/other").exists()
    (tmp_path / "folder/.treeglot-verified").write_text("structure 1 0\n")  # what the core notes is no content
    assert Runner(tmp_path, "1").run(copying(tmp_path)).skipped


@pytest.mark.parametrize("missing", ["key", "outputs", "outputs.file.digest", "outputs.file.path"])
def test_a_manifest_that_is_not_all_there_is_refused(tmp_path: Path, missing: str) -> None:
    (tmp_path / "text").write_text("abc\n")
    Runner(tmp_path, "1").run(copying(tmp_path))
    place = tmp_path / ".treeglot/manifests/copying.json"
    noted = json.loads(place.read_text())
    *outer, last = missing.split(".")
    inner = noted
    for part in outer:
        inner = inner[part]
    del inner[last]
    place.write_text(json.dumps(noted))
    with pytest.raises(TreeglotError, match=f"has no {missing}") as caught:
        Runner(tmp_path, "1").run(copying(tmp_path))
    assert caught.value.path == str(place)
    place.unlink()
    assert not Runner(tmp_path, "1").run(copying(tmp_path)).skipped


def test_verify_says_which_files_of_a_project_are_damaged(tmp_path: Path, run: Run) -> None:
    (tmp_path / "treeglot.toml").write_text("")
    (tmp_path / "text").write_text("abc\n")
    Runner(tmp_path, "1").run(copying(tmp_path))
    done = run("verify", str(tmp_path))
    assert done.code == 0, done.err
    rot(tmp_path / "folder/below/part")
    assert [bool(result.problem) for result in verify(tmp_path)] == [False, True]
    done = run("verify", str(tmp_path), "--json")
    assert done.code == 1
    assert [Path(record["path"]).name for record in json.loads(done.out) if record["problem"]] == ["folder"]
    (tmp_path / "file").unlink()
    assert next(result.problem for result in verify(tmp_path)) == "missing"
    (tmp_path / ".treeglot/manifests/copying.json").write_text("{")
    [result] = verify(tmp_path)
    assert "no manifest" in result.problem


def test_verify_knows_the_kinds_of_files(tmp_path: Path, run: Run) -> None:
    with atomic_write(tmp_path / "text.gz") as file:
        file.write("das haus\n" * 1000)
    alignment.train("own", ["das haus"] * 3, ["the house"] * 3, tmp_path / "model", sweeps=0)
    with (tmp_path / "arpa").open("wb") as out:
        lm.estimate([b"the house\n"], out, order=2)
    lm.compile_model(tmp_path / "arpa", tmp_path / "lm")
    paths = [tmp_path / name for name in ("text.gz", "model", "lm", "model/model.tgwa")]
    kinds = ["archive", "word alignment model", "language model", "word alignment model"]
    assert [result[1:] for path in paths for result in verify(path)] == [(kind, "", "") for kind in kinds]
    for path in (tmp_path / "text.gz", tmp_path / "lm", tmp_path / "model/model.tgwa"):
        rot(path)
    done = run("verify", *map(str, paths))
    assert done.code == 1
    assert done.out.count("damaged") == 4
    for nothing in (tmp_path, tmp_path / "arpa", tmp_path / "nothing"):
        with pytest.raises(TreeglotError):
            verify(nothing)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(TreeglotError, match="not a regular file"):
        verify(tmp_path / "fifo")
