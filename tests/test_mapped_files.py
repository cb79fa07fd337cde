"""Files that treeglot writes for itself: whatever is wrong with one, it is refused or gives the right answers; it never crashes.

The campaign of ``tests/campaign`` tries a few faults of every kind here, many in ``make campaign``.
"""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path

import pytest
import xxhash

from campaign.kinds import KINDS, make_files
from campaign.run import NEVER, table, tried
from effort import tries
from treeglot import TreeglotError, lm
from treeglot._core import align
from treeglot._core import files as core
from treeglot.alignment.subtrees.model import load_model
from treeglot.tables import PhraseTable
from treeglot.tables.rules import RuleTable
from treeglot.trees.stored import open_corpus

OPEN = {"trigrams": lm.LanguageModel, "counted": PhraseTable, "augmented": RuleTable, "corpus": open_corpus}
PROBE = {"corpus": 40}
VERSIONS = {"aligner": lambda path: align.Model(str(path)), "subtrees": load_model}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    make_files(folder)
    return folder


def test_checksum_is_xxh64() -> None:
    choose = random.Random(1)
    for size in [*range(130), 1000, 4096, 100_001]:
        data, seed = choose.randbytes(size), choose.randrange(1 << 64)
        assert core.checksum(data, seed) == xxhash.xxh64_intdigest(data, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_crashes_hangs_or_answers_otherwise(files: Path, kind: str) -> None:
    counts, notes = tried(files, kind, "mixed", 7, 0, tries(600))
    assert not notes
    assert counts.total() == tries(600)
    assert not any(counts[outcome] for outcome in NEVER)
    if kind != "manifest":  # what it describes is made anew
        assert counts["refused"] > counts.total() // 3
    assert "| refused | same |" in table([(kind, "mixed", counts)])


@pytest.mark.parametrize("kind", KINDS)
def test_seals_are_those_of_the_files(files: Path, kind: str) -> None:
    good = (files / kind).read_bytes()
    assert KINDS[kind].seal(bytearray(good)) == good


@pytest.mark.parametrize("kind", OPEN)
def test_files_of_other_versions_and_machines_say_so(files: Path, tmp_path: Path, kind: str) -> None:
    good = (files / kind).read_bytes()
    OPEN[kind](files / kind)
    version = int.from_bytes(good[8:12], "little")
    bad = tmp_path / "bad"
    probe = PROBE.get(kind, 16)
    for place, content, says in [
        (8, (version - 1).to_bytes(4, "little"), "another version of treeglot"),
        (8, version.to_bytes(4, "big"), "another byte order"),
        (probe, bytes(reversed(good[probe : probe + 8])), "other numbers or layouts"),  # an integer
        (probe + 8, bytes(reversed(good[probe + 8 : probe + 16])), "other numbers or layouts"),  # a double
        (probe + 16, bytes(4), "other numbers or layouts"),  # a float
        (probe + 24, bytes([good[probe + 24] + 4]), "other numbers or layouts"),  # the size of a record
    ]:
        file = bytearray(good)
        file[place : place + len(content)] = content
        bad.write_bytes(KINDS[kind].seal(file))
        with pytest.raises(TreeglotError, match=says) as caught:
            OPEN[kind](bad)
        assert caught.value.path == str(bad)
        assert "again" in (caught.value.remedy or "")


def test_a_full_word_table_is_refused(files: Path, tmp_path: Path) -> None:
    """A search in a table without a free slot would never end."""
    file = bytearray((files / "trigrams").read_bytes())
    slots = int.from_bytes(file[176:184], "little")
    places = range(KINDS["trigrams"].header, KINDS["trigrams"].header + 16 * slots, 16)
    free = [at for at in places if file[at : at + 8] == bytes(8)]
    assert free
    for at in free:
        file[at : at + 8] = (at | 1).to_bytes(8, "little")
    bad = tmp_path / "full"
    bad.write_bytes(KINDS["trigrams"].seal(file))
    with pytest.raises(TreeglotError, match="damaged"):
        lm.LanguageModel(bad)


def test_a_file_that_changes_is_verified_again(files: Path, tmp_path: Path) -> None:
    """Also if size and time are as before: only what was verified is remembered."""
    path = tmp_path / "model"
    path.write_bytes((files / "trigrams").read_bytes())
    long_ago = time.time_ns() - 10**12
    os.utime(path, ns=(long_ago, long_ago))
    time.sleep(1.1)  # then the file is remembered
    lm.LanguageModel(path)
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-5, os.SEEK_END)
        byte = file.read(1)
        file.seek(-5, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(TreeglotError, match="the checksum does not fit"):
        lm.LanguageModel(path)


def test_what_was_verified_of_a_large_file_is_noted_beside_it(tmp_path: Path) -> None:
    """Its structure by the checksum, so that the note holds for a copy and for no other file."""
    words = [f"w{number}" for number in range(20_000)]
    with (tmp_path / "arpa").open("wb") as file:
        lm.estimate([f"{' '.join(words[n : n + 20])}\n".encode() for n in range(0, len(words), 7)], file, order=2)
    lm.compile_model(tmp_path / "arpa", tmp_path / "model")
    assert (tmp_path / "model").stat().st_size > 1 << 20
    notes = (tmp_path / ".treeglot-verified").read_text().splitlines()
    assert len(notes) == 1
    assert re.fullmatch(r"structure \d+ [0-9a-f]{16}", notes[0])
    lm.LanguageModel(tmp_path / "model", verify=True)
