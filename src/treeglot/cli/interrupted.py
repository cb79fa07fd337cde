"""What is kept when a command is interrupted (Ctrl-C): a command that runs for long says it in the message."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

STAGES = "finished stages are kept, and the same command goes on behind them"


class Interrupted(KeyboardInterrupt):
    """An interruption with what is left of the work."""


@contextlib.contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Give an interruption of the block the text of ``kept``."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise Interrupted(kept()) from None


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that an exit comes from, if it does."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return error
        error = error.__cause__ or error.__context__
    return None
