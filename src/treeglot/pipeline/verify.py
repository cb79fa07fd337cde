"""Reading files through to see whether they are what was written: single files, models in folders, whole projects.

Files are also verified when they are opened; here everything is read, whatever is remembered of earlier times, and nothing is
stopped by the first file that is damaged.

>>> import pathlib, tempfile
>>> from treeglot.lm import compile_model, estimate
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> with (folder / "arpa").open("wb") as file:
...     _ = estimate([b"the dog barks\\n"], file, order=2)
>>> _ = compile_model(folder / "arpa", folder / "lm")
>>> [result] = verify(folder / "lm")
>>> result.kind, result.problem
('language model', '')
>>> with (folder / "lm").open("r+b") as file:
...     _ = file.seek(500), file.write(b"rot")
>>> [result] = verify(folder / "lm")
>>> result.problem
'damaged: the checksum does not fit'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from treeglot import alignment, lm
from treeglot._core import align
from treeglot.alignment.base import MANIFEST
from treeglot.alignment.subtrees import model as subtrees
from treeglot.errors import InputError, TreeglotError
from treeglot.files import open_binary, type_path
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.stages import Runner, digest
from treeglot.tables import PhraseTable
from treeglot.tables.rules import RuleTable
from treeglot.trees.stored import open_corpus

_BLOCK = 1 << 20


class Verified(NamedTuple):
    """A file or folder that was read through, what it is, and what is wrong with it (nothing, if that is empty)."""

    path: str
    kind: str
    problem: str
    remedy: str = ""


def _aligner(path: Path) -> None:
    try:
        align.Model(os.fspath(path))
    except RuntimeError as error:
        raise InputError(str(error), path=path, remedy="train it again: treeglot align train") from None


def _archive(path: Path) -> None:
    with open_binary(path) as stream:
        while stream.read(_BLOCK):
            pass


_KINDS: dict[bytes, tuple[str, Callable[[Path], object]]] = {
    b"TGLM\r\n\x1a\0": ("language model", lambda path: lm.LanguageModel(path, verify=True)),
    b"TGPT\r\n\x1a\0": ("phrase table", lambda path: PhraseTable(path, verify=True)),
    b"TGRT\r\n\x1a\0": ("rule table", lambda path: RuleTable(path, verify=True)),
    b"TGPC\r\n\x1a\0": ("parsed corpus", open_corpus),
    b"TGWALIGN": ("word alignment model", _aligner),
    subtrees.MAGIC[:8]: ("sub-tree aligner", subtrees.load_model),
    b"\x1f\x8b": ("archive", _archive),
    b"\x28\xb5\x2f\xfd": ("archive", _archive),
}
"""How files begin, and how they are read through."""


def verify(path: type_path) -> list[Verified]:
    """What a file, the folder of an alignment model, or a project consists of, and whether it is as it was written."""
    place = Path(path)
    if not place.exists():
        raise InputError("no such file", path=path, remedy="check the path")
    if not place.is_dir():
        kind, check = _kind_of(place)
        return [_tried(place, kind, check)]
    if (place / MANIFEST).is_file():
        return [_tried(place, "word alignment model", alignment.load)]
    if (place / CONFIG_NAME).is_file():
        return list(_project(place))
    raise InputError(
        "neither a project nor a model", path=path, remedy=f"name a file, or a folder that has {CONFIG_NAME}"
    )


def _kind_of(path: Path) -> tuple[str, Callable[[Path], object]]:
    if not path.is_file():  # a FIFO would wait
        raise InputError("not a regular file", path=path, remedy="name a file")
    with path.open("rb") as stream:
        start = stream.read(8)
    for magic, kind in _KINDS.items():
        if start.startswith(magic):
            return kind
    raise InputError(
        "no file that can be verified by itself",
        path=path,
        remedy="name a table, a model, a parsed corpus or an archive; text of a project is verified with the project",
    )


def _tried(path: Path, kind: str, check: Callable[[Path], object]) -> Verified:
    try:
        check(path)
    except TreeglotError as error:
        return Verified(str(path), kind, error.message, error.remedy)
    return Verified(str(path), kind, "")


def _project(folder: Path) -> Iterator[Verified]:
    """The outputs of all stages that were completed, by their manifests."""
    runner = Runner(folder, "")
    for place in sorted((runner.state / "manifests").glob("*.json")):
        try:
            manifest = runner.manifest(place.stem)
        except TreeglotError as error:
            yield Verified(str(place), "manifest", error.message, error.remedy)
            continue
        if manifest is None:
            yield Verified(str(place), "manifest", "damaged: no manifest", "remove it: the stage will run again")
            continue
        for name, noted in sorted(manifest["outputs"].items()):
            path = folder / noted["path"]
            kind = f"{place.stem}: {name}"
            remedy = "run `treeglot train`, or `treeglot tune` for weights: it is made anew"
            if not path.exists():
                yield Verified(str(path), kind, "missing", remedy)
            elif digest(path) != noted["digest"]:
                yield Verified(str(path), kind, "not what was written: its digest is another one", remedy)
            else:
                yield _of_project(path, kind)


def _of_project(path: Path, kind: str) -> Verified:
    """An output with the right digest can still be of a format that this version does not read."""
    if path.is_dir():
        return _tried(path, kind, alignment.load) if (path / MANIFEST).is_file() else Verified(str(path), kind, "")
    try:
        _, check = _kind_of(path)
    except InputError:
        return Verified(str(path), kind, "")  # text: its digest is right
    return _tried(path, kind, check)
