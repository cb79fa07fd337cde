"""The folder of a tuning run: what has been done stays done.

``settings.json`` says what the run is, ``001.nbest.zst`` holds the n-best statistics of iteration 1, ``001.1.nbest.zst`` those of the
first weights that were tried after it on a part of the set, and ``001.json`` its weights, scores and the weights it led to. Each file gets its name when it is complete, so a run that was killed goes on
from the last complete one and ends with the same bytes as a run that was not. A folder of other settings is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from treeglot.errors import ConfigError, InputError
from treeglot.files import atomic_write
from treeglot.tuning.methods import Weights
from treeglot.tuning.nbest import PackedLists, load_lists, save_lists

VERSION = 4


@dataclass(frozen=True)
class Iteration:
    """One round of decoding and optimising."""

    number: int
    weights: Weights
    """What the decoder was given."""
    score: float
    """Of the decoder's best translations with them, by the metric that is tuned for."""
    entries: int
    """Translations in its lists."""
    new: int
    """Those of them that no earlier list had."""
    pool: int
    """Different translations in all lists so far."""
    proposed: Weights | None = None
    """The weights that optimising led to, as the method goes on from them; None after the last decoding."""
    length: float = 0.0
    """Words of the best translations, as a part of the words of the references."""
    predicted: float = 0.0
    """The score of ``proposed`` on the lists so far."""
    tried: int = 0
    """How many weights were tried on a part of the set on the way to ``proposed``."""


def digest(references: Sequence[str] | Sequence[Sequence[str]]) -> str:
    """A short name for a set of references."""
    hashed = hashlib.blake2b(digest_size=16)
    hashed.update(json.dumps([r if isinstance(r, str) else list(r) for r in references]).encode())
    return hashed.hexdigest()


class StateFolder:
    """The files of one run; with no folder nothing is kept."""

    def __init__(self, folder: Path | None, settings: dict[str, Any]) -> None:
        self.folder = folder
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "settings.json"
        wanted = json.loads(json.dumps({"version": VERSION, **settings}))
        if path.exists():
            there = _read(path)
            different = sorted(key for key in {*there, *wanted} if there.get(key) != wanted.get(key))
            if different:
                raise ConfigError(
                    f"the folder belongs to a tuning run with other settings ({', '.join(different)})",
                    path=folder,
                    remedy="name another folder, or delete this one to start again",
                )
        else:
            _write(path, wanted)

    def lists(self, number: int, trial: int = 0) -> PackedLists | None:
        """The n-best lists of an iteration, or of a trial after it, if it got that far."""
        path = self._path(number, _lists_ending(trial))
        return load_lists(path) if path is not None and path.exists() else None

    def save_lists(self, number: int, lists: PackedLists, trial: int = 0) -> None:
        path = self._path(number, _lists_ending(trial))
        if path is not None:
            save_lists(path, lists)

    def iteration(self, number: int) -> Iteration | None:
        """The record of a finished iteration."""
        path = self._path(number, "json")
        if path is None or not path.exists():
            return None
        try:
            return Iteration(**_read(path))
        except TypeError:
            raise InputError("not the record of an iteration", path=path, line=1, remedy="delete it") from None

    def save_iteration(self, iteration: Iteration) -> None:
        path = self._path(iteration.number, "json")
        if path is not None:
            _write(path, asdict(iteration))

    def _path(self, number: int, ending: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{number:03}.{ending}"


def _lists_ending(trial: int) -> str:
    return f"{trial}.nbest.zst" if trial else "nbest.zst"


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path) as out:
        json.dump(content, out, ensure_ascii=False, indent=1)
        out.write("\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(state, dict):
            raise ValueError
    except ValueError:
        raise InputError("not JSON, or damaged", path=path, line=1, remedy="delete it") from None
    return state
