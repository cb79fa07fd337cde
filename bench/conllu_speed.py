"""Speed and memory of reading CoNLL-U, next to other Python packages on the same file in the same run.

    python bench/conllu_speed.py [FILE.conllu] [--sentences 1000000]

Without a file, the largest treebank under ``$TREEGLOT_DATA/trees`` is taken, or, if that is not set, a generated one.
Each reader makes all sentences of the file with their heads and relations and counts words; the best of several rounds
counts, rounds of all readers taking turns. Packages that are not installed are left out (conllu comes with the extra
``test``; pyconll and udapi are optional). Then a file of many sentences is streamed in a process of its own, whose peak
memory must be that of a short file.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

Counts = tuple[int, int]


def with_treeglot(path: Path) -> Counts:
    from treeglot.trees.conllu import read_conllu

    sentences = words = 0
    for sentence in read_conllu(path):
        assert sentence.dependency is not None
        sentences += 1
        words += len(sentence.dependency.heads)
    return sentences, words


def with_conllu(path: Path) -> Counts:
    import conllu

    sentences = words = 0
    with path.open(encoding="utf-8") as file:
        for sentence in conllu.parse_incr(file):
            sentences += 1
            words += sum(isinstance(token["id"], int) for token in sentence)
    return sentences, words


def with_pyconll(path: Path) -> Counts:
    import pyconll

    sentences = words = 0
    for sentence in pyconll.iter_from_file(str(path)):
        sentences += 1
        words += sum(token.id.isdigit() for token in sentence)
    return sentences, words


def with_udapi(path: Path) -> Counts:
    from udapi.core.document import Document

    document = Document(str(path))
    trees = [bundle.get_tree() for bundle in document.bundles]
    return len(trees), sum(len(tree.descendants) for tree in trees)


READERS: dict[str, Callable[[Path], Counts]] = {
    "treeglot": with_treeglot,
    "conllu": with_conllu,
    "pyconll": with_pyconll,
    "udapi": with_udapi,
}


def generate(path: Path, sentences: int, *, seed: int = 1) -> None:
    """Random trees over a vocabulary with the long tail of real text, all columns filled."""
    chance = random.Random(seed)
    tags = ["NOUN", "VERB", "ADJ", "DET", "ADP", "PRON", "PUNCT", "ADV"]
    relations = ["nsubj", "obj", "obl", "nmod", "det", "case", "amod", "advmod", "punct", "conj"]
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for number in range(sentences):
            size = 1 + min(60, int(chance.gammavariate(3, 6)))
            words = [f"w{int(chance.paretovariate(0.8)) % 50_000}é"[: -1 if j % 3 else None] for j in range(size)]
            out.write(f"# sent_id = {number}\n# text = {' '.join(words)}\n")
            for j, word in enumerate(words):
                tag = chance.choice(tags)
                # Heads point back to earlier words only, which rules out cycles.
                head, relation = (chance.randint(1, j), chance.choice(relations)) if j else (0, "root")
                feats = chance.choice(("_", "Number=Sing", "Case=Nom|Gender=Fem|Number=Plur"))
                misc = "SpaceAfter=No" if chance.random() < 0.1 else "_"
                line = f"{j + 1}\t{word}\t{word}\t{tag}\t{tag[:2]}\t{feats}\t{head}\t{relation}\t{head}:{relation}\t{misc}\n"
                out.write(line)
            out.write("\n")


def treebank(folder: Path) -> Path:
    """The largest CoNLL-U file of the real data if there is any, else a generated one."""
    treebanks = [*Path(os.environ["TREEGLOT_DATA"], "trees").rglob("*.conllu")] if "TREEGLOT_DATA" in os.environ else []
    if treebanks:
        return max(treebanks, key=lambda path: path.stat().st_size)
    path = folder / "generated.conllu"
    generate(path, 4_000)
    return path


def compare(path: Path, rounds: int) -> None:
    available = {name: reader for name, reader in READERS.items() if importlib.util.find_spec(name)}
    best = dict.fromkeys(available, float("inf"))
    counts: dict[str, Counts] = {}
    for _ in range(rounds):
        for name, reader in available.items():
            start = time.perf_counter()
            counts[name] = reader(path)
            best[name] = min(best[name], time.perf_counter() - start)
    if len(set(counts.values())) != 1:
        sys.exit(f"the readers disagree on the numbers of sentences and words: {counts}")
    sentences, words = counts["treeglot"]
    print(f"{path.name}: {sentences:,} sentences, {words:,} words, best of {rounds} rounds")
    print(f"{'reader':<20}{'sentences/s':>14}{'words/s':>14}{'time of treeglot':>18}")
    for name, seconds in best.items():
        ratio = seconds / best["treeglot"]
        print(f"{name + ' ' + version(name):<20}{sentences / seconds:>14,.0f}{words / seconds:>14,.0f}{ratio:>17.1f}×")


STREAM = """
import pathlib, re, resource, sys, time
from treeglot.trees.conllu import read_conllu
start = time.perf_counter()
count = sum(1 for _ in read_conllu(sys.argv[1]))
seconds = time.perf_counter() - start
status = pathlib.Path("/proc/self/status")
if status.exists():  # there, ru_maxrss would include the memory of the process that started this one
    peak = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(count, seconds, peak)
"""


def stream(source: Path, folder: Path, sizes: list[int]) -> None:
    """Peak memory of a process that streams the source repeated up to a number of sentences."""
    block = source.read_bytes().rstrip(b"\n").split(b"\n\n")
    print(f"\n{'streamed':<20}{'MB on disk':>14}{'sentences/s':>14}{'peak RSS in MB':>18}")
    for size in sizes:
        path = folder / "stream.conllu"
        with path.open("wb") as out:
            for start in range(0, size, len(block)):
                out.write(b"\n\n".join(block[: size - start]) + b"\n\n")
        ran = subprocess.run([sys.executable, "-c", STREAM, str(path)], check=True, capture_output=True, text=True)
        count, seconds, peak = map(float, ran.stdout.split())
        assert count == size
        megabytes = path.stat().st_size / 1e6
        print(f"{size:<20,}{megabytes:>14,.0f}{count / seconds:>14,.0f}{peak / 1e6:>18.1f}", flush=True)
        path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory of reading CoNLL-U.")
    parser.add_argument("file", type=Path, nargs="?", help="a CoNLL-U file with trees")
    parser.add_argument("--sentences", type=int, default=1_000_000, help="sentences of the long file to stream")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = options.file or treebank(folder)
        compare(source, options.rounds)
        stream(source, folder, [10_000, options.sentences])


if __name__ == "__main__":
    main()
