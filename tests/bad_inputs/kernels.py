"""Damaged models of the sub-tree aligner."""

from __future__ import annotations

import functools
import hashlib
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bad_inputs import BadInput
from subtree_corpus import corpus
from treeglot.alignment.subtrees.model import DIGEST, MAGIC, load_model
from treeglot.alignment.subtrees.training import train_aligner


@functools.cache
def _model() -> bytes:
    pairs = corpus(10)
    settings: dict[str, Any] = {"terms": ("plain", "dBTK-Root", "iBTK-RgSST"), "features": "paper", "landmarks": 5}
    model = train_aligner(pairs[:8], pairs[8:], passes=1, tune=False, **settings)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def _read(folder: Path) -> Any:
    return load_model(folder / "model")


def _sealed(payload: bytes) -> bytes:
    return MAGIC + hashlib.blake2b(payload, digest_size=DIGEST).digest() + payload


def _changed(**changes: Any) -> bytes:
    """The model with other arrays and a checksum that fits; None leaves an array out."""
    start = len(MAGIC) + DIGEST
    with np.load(io.BytesIO(_model()[start:])) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for name, value in changes.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value(arrays[name])
    out = io.BytesIO()
    np.savez(out, **arrays)
    return _sealed(out.getvalue())


def _case(name: str, content: bytes, says: str) -> BadInput:
    return BadInput(f"subtree-model-{name}", {"model": content}, _read, 1, says)


def _text(old: bytes, new: bytes) -> Any:
    return lambda array: np.frombuffer(array.tobytes().replace(old, new), dtype=np.uint8)


CASES = [
    _case("empty", b"", "not a sub-tree aligner"),
    _case("other-file", b"<?xml version='1.0'?>\n", "not a sub-tree aligner"),
    _case("other-version", _model().replace(MAGIC, MAGIC[:-2] + b"9\n", 1), "another version"),
    _case("truncated", _model()[:-100], "checksum"),
    _case("only-magic", MAGIC, "checksum"),
    _case("flipped", _model()[:5000] + bytes([_model()[5000] ^ 1]) + _model()[5001:], "checksum"),
    _case("not-npz", _sealed(b"hello"), "damaged"),
    _case("no-header", _changed(header=None), "damaged"),
    _case("header-not-json", _changed(header=lambda array: array[:-5]), "damaged"),
    _case("other-features", _changed(header=_text(b'"phi7"', b'"phi8"')), "features"),
    _case("unknown-features", _changed(header=_text(b'"paper"', b'"paled"')), "no features"),
    _case("unknown-kernel", _changed(header=_text(b"dBTK-Root", b"dBTK-Reed")), "no kernel"),
    _case("no-bounds", _changed(bounds=None), "damaged"),
    _case("no-tree", _changed(**{"first/2/0/nodes": lambda array: array[:, :-1]}), "one tree"),
]
