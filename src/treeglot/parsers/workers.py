"""Several batches at once, results in order, and no batch lost when a worker dies.

Parsers that are safe to share run in threads; others are opened once in each worker process. If a worker process dies
(native code crashes, the system runs out of memory) the batches that were under way are repeated one at a time, so that only
the batch that kills its worker again is blamed; it is handed to ``give_up``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Generic, TypeVar

from treeglot.parsers.base import BackendUnavailable, Parser, ParserSpec

B = TypeVar("B")
R = TypeVar("R")

_AHEAD = 4
"""Batches per worker that are under way, so that nobody waits for a slow batch of somebody else."""


def in_threads(job: Callable[[B], R], batches: Iterable[B], workers: int) -> Iterator[R]:
    """``map(job, batches)`` with ``workers`` threads (one: in this thread)."""
    if workers == 1:
        yield from map(job, batches)
        return
    with ThreadPoolExecutor(workers) as pool:
        window: deque[Future[R]] = deque()
        try:
            for batch in batches:
                window.append(pool.submit(job, batch))
                if len(window) >= _AHEAD * workers:
                    yield window.popleft().result()
            while window:
                yield window.popleft().result()
        finally:
            for future in window:
                future.cancel()


class InProcesses(Generic[B, R]):
    """``map(job, batches)`` where ``job(parser, batch)`` runs in processes that each open the parser of ``spec``."""

    def __init__(
        self,
        spec: ParserSpec,
        job: Callable[[Parser, B], R],
        workers: int,
        *,
        give_up: Callable[[B, str], R],
        split: Callable[[B], tuple[B, B] | None],
        join: Callable[[R, R], R],
    ) -> None:
        self.spec, self.job, self.workers = spec, job, workers
        self.give_up, self.split, self.join = give_up, split, join
        self.crashes = 0

    def run(self, batches: Iterable[B]) -> Iterator[R]:
        stream = iter(batches)
        pool = self._pool(self.workers)
        try:
            window: deque[tuple[B, Future[R]]] = deque()
            more = True
            while more or window:
                while more and len(window) < _AHEAD * self.workers:
                    try:
                        batch = next(stream)
                    except StopIteration:
                        more = False
                        break
                    window.append((batch, pool.submit(_work, self.job, batch)))
                if not window:
                    break
                batch, future = window[0]
                try:
                    result = future.result()
                    window.popleft()
                    yield result
                except BrokenProcessPool:
                    self.crashes += 1
                    pool.shutdown(wait=False, cancel_futures=True)
                    suspects = list(window)
                    window.clear()
                    for suspect, under_way in suspects:
                        if under_way.done() and under_way.exception() is None:
                            yield under_way.result()
                        else:
                            yield self._alone(suspect)
                    pool = self._pool(self.workers)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _alone(self, batch: B) -> R:
        """Run a suspect in a worker of its own, by halves if it kills it."""
        with self._pool(1) as pool:
            try:
                result: R = pool.submit(_work, self.job, batch).result()
                return result
            except BrokenProcessPool:
                self.crashes += 1
        halves = self.split(batch)
        if halves is None:
            return self.give_up(batch, "the parser's process died")
        return self.join(self._alone(halves[0]), self._alone(halves[1]))

    def _pool(self, workers: int) -> ProcessPoolExecutor:
        # spawn: a forked copy of a process with threads or native libraries loaded is not safe to use
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, mp_context=context, initializer=_open, initargs=(self.spec,))


_parser: Parser | None = None
_problem: Exception | None = None


def _open(spec: ParserSpec) -> None:
    """Open the worker's parser. A problem is kept for the first job: raised here it would look like a crash."""
    global _parser, _problem
    from treeglot.parsers.registry import open_parser

    threading.Thread(target=_watch_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what a Ctrl-C ends
    try:
        _parser = open_parser(spec.backend, spec.lang, **spec.options)
    except Exception as error:
        _problem = error


def _watch_parent() -> None:
    """Leave when the process that started this one is gone, even by ``kill -9``: nobody would ever fetch the results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(job: Callable[[Parser, Any], Any], batch: Any) -> Any:
    if _parser is None:
        raise BackendUnavailable(
            f"a worker process could not open the parser: {_problem}", remedy="use fewer workers, or free memory"
        )
    return job(_parser, batch)
