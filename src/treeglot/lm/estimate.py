"""Estimating n-gram models: interpolated modified Kneser-Ney, as KenLM's lmplz defines it (spec: language model).

Words are whatever white space separates; sentences are lines. Memory is bounded: beyond the limit, sorted records go to
unnamed files in ``folder``. Small corpora work too: where the counts define no discounts, fixed ones are used, and the
result says so.

>>> import io
>>> result = estimate([b"the dog barks\\n", b"the cat sleeps\\n"], out := io.BytesIO(), order=2)
>>> result.ngrams, tuple(d.fallback for d in result.discounts)
((8, 7), (True, True))
>>> out.getvalue().decode().splitlines()[:3]
['\\\\data\\\\', 'ngram 1=8', 'ngram 2=7']
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from treeglot._core import lm as core
from treeglot.errors import InputError, TreeglotError

FALLBACK = (0.5, 1.0, 1.5)
"""Discounts for counts of 1, 2, and 3 or more where the data defines none."""


class Discounts(NamedTuple):
    """What is taken off n-grams seen once, twice, and more often; ``fallback``: the data did not define them."""

    one: float
    two: float
    more: float
    fallback: bool


class Estimate(NamedTuple):
    """What was counted: ``ngrams`` and ``discounts`` have one entry an order."""

    sentences: int
    tokens: int
    ngrams: tuple[int, ...]
    discounts: tuple[Discounts, ...]

    @property
    def warning(self) -> str:
        """What a user should know about the discounts, or an empty string."""
        orders = [str(k) for k, discounts in enumerate(self.discounts, start=1) if discounts.fallback]
        if not orders:
            return ""
        return (
            f"too little data to estimate the discounts of order {', '.join(orders)}: "
            f"fixed ones were used ({', '.join(map(str, FALLBACK))})"
        )


def estimate(
    lines: Iterable[bytes],
    out: BinaryIO,
    *,
    order: int = 4,
    memory: int = 1 << 30,
    folder: str | None = None,
    path: str | None = None,
) -> Estimate:
    """Estimate a model of ``order`` from lines of UTF-8 text and write it as ARPA to ``out``.

    ``memory`` is the limit in bytes for counting and sorting, ``folder`` takes what does not fit, ``path`` is for messages.
    """
    if not 1 <= order <= core.MAX_ORDER:
        raise TreeglotError(f"order {order}", remedy=f"orders from 1 to {core.MAX_ORDER} are supported")
    place = folder or tempfile.gettempdir()
    estimator = core.Estimator(order, memory, place, FALLBACK)
    block: list[bytes] = []
    size = 0
    any_text = False

    def flush() -> None:
        nonlocal any_text, size
        if not block:
            return
        with _blame(place):
            bad = estimator.add(b"".join(line if line.endswith(b"\n") else line + b"\n" for line in block))
        if bad:
            raise InputError(
                "one of the words <s>, </s>, <unk> stands in the text; the model needs them itself",
                path=path,
                line=bad,
                remedy="remove or rename it",
            )
        any_text = True
        block.clear()
        size = 0

    for line in lines:
        block.append(line)
        size += len(line)
        if size > 1 << 20:
            flush()
    flush()
    if not any_text:
        raise InputError("no text to learn from", path=path, line=1, remedy="give at least one line")
    with _blame(place):
        sentences, tokens, ngrams, discounts = estimator.finish(out.write)
    ngrams[0] += 2  # <unk> and <s>
    return Estimate(sentences, tokens, tuple(ngrams), tuple(Discounts(*values) for values in discounts))


@contextlib.contextmanager
def _blame(folder: str) -> Iterator[None]:
    """What does not fit in memory goes to files in the folder: if it has no room for them, it is named."""
    try:
        yield
    except RuntimeError as error:
        raise TreeglotError(
            str(error), path=folder, remedy="make room there, name another folder for it, or give more memory"
        ) from None
