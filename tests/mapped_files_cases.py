"""Opens and uses damaged copies of mapped files, in a process of its own: a crash must not take the tests with it.

``python mapped_files_cases.py FOLDER KIND``: FOLDER has the good files that `make_files` made. Every case is announced on
standard output before it is tried, so that the last line names the one that crashed. Exit code 0: each ended in an answer or in
an error that says what is wrong.
"""

from __future__ import annotations

import faulthandler
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from effort import tries
from random_worlds import World
from treeglot import TreeglotError, alignment, lm
from treeglot._core import align
from treeglot.search import open_phrases, phrase_decoder, start_weights
from treeglot.tables import LexicalTable, PhraseTable, export_moses, import_moses
from treeglot.tables.rules import RuleTable
from treeglot.trees.corpus import parsed_corpus

EXTREMES = [0, 1, 7, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 61, 1 << 63, (1 << 64) - 8, (1 << 64) - 1]
MASK = (1 << 64) - 1
# The size of each kind's header; its last eight bytes are its checksum, in a word alignment model those from 24 on.
HEADERS = {
    "unigrams": 240,
    "trigrams": 240,
    "counted": 216,
    "imported": 216,
    "augmented": 328,
    "hierarchical": 328,
    "aligner": 96,
}
DAMAGES = ("header-bytes", "header-fields", "data")
LINES = ["u v w", "u", "x x x v w u", "unseen v", "w v u x"]


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def hash_bytes(data: bytes, seed: int = 0) -> int:
    """As in cpp/base/hash.hh."""
    value = mix(seed + 0x9E3779B97F4A7C15 * (len(data) + 1) & MASK)
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        value = mix(value ^ int.from_bytes(data[at : at + 8], "little")) * 0x9FB21C651E98DF25 & MASK
    rest = len(data) - whole
    return mix(value ^ int.from_bytes(data[whole:], "little") ^ rest << 56)


def seal(kind: str, file: bytearray) -> bytearray:
    """Make the checksum of the header right again, so that what the header says must be looked at."""
    size = HEADERS[kind]
    if kind == "aligner":
        file[24:32] = bytes(8)
        file[24:32] = hash_bytes(bytes(file[size:]), hash_bytes(bytes(file[:size]))).to_bytes(8, "little")
    else:
        file[size - 8 : size] = bytes(8)
        file[size - 8 : size] = hash_bytes(bytes(file[:size])).to_bytes(8, "little")
    return file


def make_files(folder: Path) -> None:
    """A small good file of every kind."""
    for grammar in ("augmented", "hierarchical"):
        (folder / f"{grammar}.world").mkdir()
        world = World(1, folder / f"{grammar}.world", grammar)
        Path(world.tables[grammar].path).rename(folder / grammar)
    shutil.copy(world.phrases, folder / "counted")
    text = {name: (world.phrases.parent / name).read_text().splitlines() for name in ("s", "t")}
    for name, order in (("unigrams", 1), ("trigrams", 3)):
        with (folder / f"{name}.arpa").open("wb") as file:
            lm.estimate([f"{line}\n".encode() for line in text["t"]], file, order=order)
        lm.compile_model(folder / f"{name}.arpa", folder / name)
    (folder / "moses").mkdir()
    phrases, reordering, *_ = export_moses(PhraseTable(folder / "counted"), folder / "moses")
    import_moses(phrases, folder / "imported", reordering=reordering)
    alignment.train("own", text["s"], text["t"], folder / "model")
    (folder / "model" / "model.tgwa").rename(folder / "aligner")


class User:
    """What is done with a file of each kind."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        self.out.mkdir()
        self.worlds = {}
        for grammar in ("augmented", "hierarchical"):
            (folder / grammar).mkdir()
            self.worlds[grammar] = World(1, folder / grammar, grammar)
        self.world = self.worlds["augmented"]
        self.good = self.world.model, dict(self.world.tables)
        short = [sentence for sentence in self.world.sentences if len(sentence) < 5][
            :3
        ]  # or search is most of the time
        self.sentences = parsed_corpus(short)
        self.sources = [" ".join(sentence.tokens.forms) for sentence in short]

    def use(self, kind: str, path: Path) -> None:
        if kind in ("unigrams", "trigrams"):
            self.model(path)
        elif kind in ("counted", "imported"):
            self.phrases(path)
        elif kind == "aligner":
            self.aligner(path)
        else:
            self.rules(path, kind)

    def model(self, path: Path) -> None:
        model = lm.LanguageModel(path)
        core = model.core
        assert len(model.ngrams) == model.order
        with model.blame():
            states = [core.begin_state(), core.null_state()]
            for word in range(min(len(core), 20)):
                states += [core.score(state, word)[2] for state in states[:20]]
        list(model.score_lines(line.encode() for line in LINES))
        phrase_decoder(open_phrases(self.world.phrases), model, start_weights(["phrases"])).translate(
            self.sources, threads=2
        )
        self.world.model = model
        self.world.decoder().translate(self.sentences, nbest=3)

    def phrases(self, path: Path) -> None:
        table = PhraseTable(path)
        assert min(len(table), table.sources, len(table.source_words)) >= 0
        for source in ("a", "a b", "c b a", "b"):
            table.lookup(source)
        table.search("a")
        table.search("[uv]*", side="target")
        for _ in table:
            pass
        table.statistics()
        if not table.imported:
            LexicalTable.of(table)
        export_moses(table, self.out, compress=False)
        phrase_decoder(open_phrases(path), self.world.model, start_weights(["phrases"])).translate(
            self.sources, threads=2
        )

    def rules(self, path: Path, grammar: str) -> None:
        table = RuleTable(path)
        assert len(table) >= 0 and isinstance(table.options, dict)
        for source in ("^a", "x1:A ^b", "^x1:B x2:A") if grammar == "augmented" else ("a", "x1:X b", "a x1:X"):
            try:
                table.lookup(source)
            except TreeglotError as error:
                if "is not the source side" not in str(error):
                    raise
        table.statistics()
        table.export(self.out / "rules")
        for _ in table:
            pass
        with table.blame():
            table.core.walk_all()
        world = self.worlds[grammar]
        world.tables[grammar] = table
        world.decoder().translate(self.sentences, nbest=3)

    def aligner(self, path: Path) -> None:
        try:
            model = align.Model(str(path))
            model.align(b"a b c\nb\n", b"u v w\nx u\n", 2)
            model.posteriors("a b unseen", "u v")
            model.target_given_source("u", "a")
            model.entries(0.0)
        except RuntimeError as error:
            raise TreeglotError(str(error)) from None


def damaged(kind: str, good: bytes, cases: str) -> Iterator[tuple[str, bytearray]]:
    """Names of cases and the files."""
    size = HEADERS[kind]
    choose = random.Random(7)
    if cases == "header-bytes":
        for at in range(size):
            for flip in (0xFF, 1 << choose.randrange(8)):
                bad = bytearray(good)
                bad[at] ^= flip
                yield f"header byte {at} ^ {flip:#x}", seal(kind, bad)
    elif cases == "header-fields":
        for width in (8, 4):
            for at in range(8, size - 8, width):
                for value in EXTREMES:
                    if value < 1 << 8 * width:
                        bad = bytearray(good)
                        bad[at : at + width] = value.to_bytes(width, "little")
                        yield f"header field at {at} is {value:#x}", seal(kind, bad)
        for _ in range(tries(200)):  # two at once, also near to what is right
            bad = bytearray(good)
            places = [choose.randrange(7, size // 8 - 1) * 8 for _ in range(2)]
            values = []
            for at in places:
                right = int.from_bytes(good[at : at + 8], "little")
                values.append(choose.choice([*EXTREMES, right + 1, right - 1, right + 8, right * 2, len(good)]) & MASK)
                bad[at : at + 8] = values[-1].to_bytes(8, "little")
            yield f"header fields at {places} are {values}", seal(kind, bad)
    else:
        for _ in range(tries(300)):
            bad = bytearray(good)
            flips = [
                (choose.randrange(size, len(good)), choose.randrange(8)) for _ in range(choose.choice([1, 1, 2, 8]))
            ]
            for at, bit in flips:
                bad[at] ^= 1 << bit
            yield f"bits {flips}", seal(kind, bad) if kind == "aligner" else bad
        for _ in range(tries(100)):  # whole words of ones or zeros
            bad = bytearray(good)
            at = choose.randrange(size // 8, len(good) // 8) * 8
            bad[at : at + 8] = choose.choice([b"\xff" * 8, bytes(8), b"\x7f" * 8])
            yield f"eight bytes at {at} are {bytes(bad[at : at + 8])!r}", seal(kind, bad) if kind == "aligner" else bad


def main(folder: Path, kind: str) -> None:
    good = (folder / kind).read_bytes()
    if seal(kind, bytearray(good)) != good:
        sys.exit(f"the header of {kind} is not as tests/mapped_files_cases.py thinks")
    work = Path(tempfile.mkdtemp(dir=folder))
    user = User(work)
    user.use(kind, folder / kind)  # the good file passes
    path = work / "bad"
    for cases in DAMAGES:
        refused = tried = 0
        for name, bad in damaged(kind, good, cases):
            if bad == good:
                continue
            print(name, flush=True)
            path.unlink(missing_ok=True)  # the old one may still be mapped
            path.write_bytes(bad)
            user.world.model, user.world.tables = user.good[0], dict(user.good[1])
            tried += 1
            try:
                user.use(kind, path)
            except TreeglotError:
                refused += 1
        print(f"{cases}: {tried} tried, {refused} refused")


if __name__ == "__main__":
    faulthandler.enable()
    main(Path(sys.argv[1]), sys.argv[2])
