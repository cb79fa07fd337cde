"""Objects of the core that are used in several places: threads, functions that are called back, forks, pickles, parents that are gone."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
import time
from pathlib import Path

import pytest

from hostile.stubs import classes, room, rooms
from hostile.values import unmade
from hostile.world import Objects
from treeglot._core import align, lm, search

CLASSES = [f"{name}.{node.name}" for name in rooms() for node in classes(name)]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Objects(tmp_path_factory.mktemp("in-use"))


@pytest.mark.parametrize("name", CLASSES)
def test_copies_and_pickles_are_refused(objects: Objects, name: str) -> None:
    """None of them could be made again from what is inside."""
    thing = objects.make[name]()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(thing, protocol)
    for make in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle"):
            make(thing)


@pytest.mark.filterwarnings("ignore:nanobind")
@pytest.mark.parametrize("name", CLASSES)
def test_objects_that_were_not_made_are_refused(objects: Objects, name: str) -> None:
    thing = unmade(objects.make[name]())
    if thing is None:
        return  # it cannot be made so
    cls = type(thing)
    for key, value in vars(cls).items():
        if isinstance(value, property):
            with pytest.raises((TypeError, RuntimeError)):
                getattr(thing, key)
    gc.collect()


def test_parents_that_are_gone(objects: Objects) -> None:
    decoder = objects.phrase_decoder()
    translations = objects.good("search.Decoder.translate", decoder)
    expected = [(one.text(0), one.score(0), one.steps(0)) for one in translations]
    tree = objects.tree_decoder()
    seen = [one.text(0) for one in objects.good("search.Decoder.translate", tree)]
    side = objects.make["parsed.ParsedSentences"]()  # of a bitext that nobody else has
    state = objects.model().begin_state()
    columns = objects.make["kernels.Columns"]()
    gc.collect()
    del translations
    assert [
        (one.text(0), one.score(0), one.steps(0)) for one in objects.good("search.Decoder.translate", decoder)
    ] == expected
    assert [one.text(0) for one in objects.good("search.Decoder.translate", tree)] == seen
    kept = objects.good("search.Decoder.translate", tree)
    del tree, decoder
    gc.collect()
    assert [one.text(0) for one in kept] == seen
    assert len(side) and side.sentence(0) and len(columns) == 2
    assert objects.model().score(state, 1)[1] > 0


def test_a_call_does_not_change_what_another_one_works_on(objects: Objects) -> None:
    corpus = objects.align_corpus()
    arguments = objects.good_arguments("align.Corpus.learn", corpus)
    reports: list[str] = []

    def report(*_: object) -> None:
        for change in (lambda: corpus.add(b"a\n", b"b\n"), lambda: align.Evidence().add_pair(corpus, "a", "b", 1.0)):
            try:
                change()
            except RuntimeError as error:
                reports.append(str(error))

    corpus.learn(**{**arguments, "report": report})
    assert reports and set(reports) == {"another call works on this object: wait until it is done"}
    corpus.add(b"a\n", b"b\n")

    estimator = objects.estimator()
    written: list[bytes] = []

    def write(part: bytes) -> None:
        with pytest.raises(RuntimeError, match="another call"):
            estimator.add(b"a\n")
        written.append(part)

    estimator.finish(write)
    assert b"".join(written).startswith(b"\\data\\")
    for call in (lambda: estimator.add(b"a\n"), lambda: estimator.finish(write)):
        with pytest.raises(RuntimeError, match="finished"):
            call()


def test_threads_on_one_object(objects: Objects) -> None:
    """Each gets an answer or is told to wait; what comes out is complete."""
    corpus = objects.phrase_corpus()
    before = len(corpus)
    added = [0] * 4
    refused = [0] * 4

    def work(number: int) -> None:
        for _ in range(30):
            try:
                corpus.add(objects.source, objects.target, objects.links)
                added[number] += 1
            except RuntimeError:
                refused[number] += 1
                time.sleep(0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(added) + sum(refused) == 120 and sum(added) > 0
    corpus.finish()
    assert len(corpus) == before + sum(added) * len(objects.source.splitlines())

    decoder = objects.tree_decoder()
    expected = [one.text(0) for one in objects.good("search.Decoder.translate", decoder)]
    results: list[list[str]] = []

    def translate() -> None:
        results.append([one.text(0) for one in objects.good("search.Decoder.translate", decoder)])

    threads = [threading.Thread(target=translate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_a_fork_while_others_open_files(objects: Objects, tmp_path: Path) -> None:
    """What another thread has locked must not stay locked in the child."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            lm.Model(str(objects.folder / "lm"))

    thread = threading.Thread(target=work)
    thread.start()
    decoder = objects.phrase_decoder()
    expected = [one.text(0) for one in objects.good("search.Decoder.translate", decoder)]
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    lm.Model(str(objects.folder / "lm"))
                    search.StoredPhrases(str(objects.world.phrases))
                    again = [one.text(0) for one in objects.good("search.Decoder.translate", decoder)]
                    code = 0 if again == expected else 2
                finally:
                    os._exit(code)
            for _ in range(3000):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.02)
            else:
                os.kill(child, 9)
                os.waitpid(child, 0)
                pytest.fail("the child hangs")
            assert status == 0
    finally:
        stop.set()
        thread.join()


def test_every_class_is_known(objects: Objects) -> None:
    assert {f"{name}.{node.name}" for name in rooms() for node in classes(name)} == set(objects.make)
    assert all(getattr(room(place.partition(".")[0]), place.partition(".")[2]) for place in objects.make)
