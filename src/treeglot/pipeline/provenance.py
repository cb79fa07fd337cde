"""What weights were tuned on: which files, and how they were searched. Weights belong to them and to nothing else.

Tuning writes a line ``# tuned on NAME DIGEST`` into the file of weights for every file that the system translates with and for its
settings. Whoever translates compares them: weights of other tables, another language model or another configuration are not wrong, but
nobody has ever measured them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treeglot.errors import ConfigError
from treeglot.files import read_lines, type_path
from treeglot.pipeline.decoding import model_files, search_settings

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project
    from treeglot.pipeline.systems import SystemSpec

log = logging.getLogger(__name__)

SETTINGS = "settings"
_HEADER = 512
_NOTE = re.compile(r"# tuned on (.+) ([0-9a-f]{16})")


def file_identity(path: type_path) -> str:
    """Tells a table or a language model from others: of its header, which has the checksum of its contents.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table"
    >>> _ = path.write_bytes(b"header")
    >>> file_identity(path)
    '2d16e0385431b2e3'
    """
    with Path(path).open("rb") as file:
        return hashlib.blake2b(file.read(_HEADER), digest_size=8).hexdigest()


def provenance(project: Project, spec: SystemSpec) -> dict[str, str]:
    """What the weights of a system depend on, by name; nothing while a file is missing."""
    files = model_files(project, spec)
    if not all(path.is_file() for path in files.values()):
        return {}
    settings = {"search": search_settings(project, spec), "options": spec.options, "binarize": spec.binarize}
    text = json.dumps(settings, sort_keys=True, default=str)
    digests = {name: file_identity(path) for name, path in files.items()}
    return digests | {SETTINGS: hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}


def notes(parts: Mapping[str, str]) -> str:
    """The lines of a note in a file of weights.

    >>> notes({"lm": "0123456789abcdef"})
    'tuned on lm 0123456789abcdef'
    """
    return "\n".join(f"tuned on {name} {digest}" for name, digest in sorted(parts.items()))


def noted(path: type_path) -> dict[str, str]:
    """What a file of weights says that it was tuned on; nothing, if it was written by hand or by an earlier version."""
    matches = (_NOTE.fullmatch(line.strip()) for _, line in read_lines(path))
    return {match[1]: match[2] for match in matches if match}


def differences(path: type_path, now: Mapping[str, str]) -> list[str]:
    """What is another than when the weights were tuned, in words."""
    before = noted(path)
    if not before or not now:
        return []
    names = {"lm": "another language model", "table": "another phrase table", SETTINGS: "other settings of the search"}
    result = [names.get(name, f"another table {name}") for name in sorted(now) if before.get(name) != now[name]]
    return result + [f"a table {name}" for name in sorted(before) if name not in now]


def check_weights(path: type_path, now: Mapping[str, str], remedy: str, *, strict: bool) -> None:
    """Warn if weights were tuned with something else than ``now``; with ``strict`` that is an error, and so are weights of which
    nobody knows."""
    others = differences(path, now)
    if others:
        message = f"the weights were tuned with {', '.join(others)}"
    elif strict and not noted(path):
        message = "the weights do not say what they were tuned on"
    else:
        return
    if strict:
        raise ConfigError(message, path=path, remedy=f"{remedy}, or leave out --strict")
    log.warning("%s: %s; %s", path, message, remedy)
