"""Where downloaded parsers and models live: ``TREEGLOT_CACHE``, or ``treeglot`` in the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(*parts: str) -> Path:
    """A folder below the cache (it need not exist).

    >>> cache_folder("udpipe").name
    'udpipe'
    """
    given = os.environ.get("TREEGLOT_CACHE")
    if given:
        return Path(given).expanduser().joinpath(*parts)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").joinpath("treeglot", *parts)
