"""Matching language tags: files say ``en``, ``en-US``, ``EN_us`` for what a user calls English.

The rule, best first: the same tag (case and ``_``/``-`` do not count); a more specific one (``en`` takes ``en-GB``); a
more general one (``en-GB`` takes ``en``). A different region never matches: ``en-GB`` does not take ``en-US``.

>>> [match_rank("en", tag) for tag in ("EN", "en_GB", "eng", "fr")]
[0, 1, None, None]
>>> [match_rank("en-GB", tag) for tag in ("en_gb", "en-GB-oxendict", "en", "en-US")]
[0, 1, 2, None]
"""

from __future__ import annotations

import functools


@functools.lru_cache(maxsize=4096)
def match_rank(wanted: str, tag: str) -> int | None:
    """How well ``tag`` answers ``wanted``: 0 exact, 1 more specific, 2 more general, None not at all."""
    wanted, tag = normalise_tag(wanted), normalise_tag(tag)
    if tag == wanted:
        return 0
    if tag.startswith(wanted + "-"):
        return 1
    return 2 if tag and wanted.startswith(tag + "-") else None


def normalise_tag(tag: str) -> str:
    """``EN_us`` as ``en-us``."""
    return tag.strip().replace("_", "-").lower()
