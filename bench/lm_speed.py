"""Language model speed: estimation in tokens/s, queries in tokens/s next to the kenlm package on the same ARPA file.

    python bench/lm_speed.py [TEXT]

TEXT (default: the English training side of Multi30k under ``$TREEGLOT_DATA``, or generated text) is tokenised, one sentence a
line. CPU time, one thread, best of three. kenlm (extra ``bench``) loads the ARPA file into its own structure.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from treeglot import lm


def best_of(job: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def find_text() -> list[bytes]:
    path = (
        Path(sys.argv[1])
        if len(sys.argv) > 1
        else Path(os.environ.get("TREEGLOT_DATA", "")) / "mt/multi30k/lc-tok/train.en"
    )
    if path.is_file():
        print(f"text: {path}")
        return path.read_bytes().splitlines(keepends=True)
    print("text: generated")
    chance = random.Random(1)
    return [" ".join(f"w{int(chance.paretovariate(0.9))}" for _ in range(12)).encode() + b"\n" for _ in range(30000)]


def main() -> None:
    lines = find_text()
    tokens = sum(len(line.split()) for line in lines)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arpa = folder / "m.arpa"

        def estimate() -> None:
            with arpa.open("wb") as file:
                lm.estimate(lines, file, order=4)

        seconds = best_of(estimate)
        print(f"estimation, order 4: {tokens:,} tokens, {tokens / seconds:,.0f} tokens/s")
        seconds = best_of(lambda: lm.compile_model(arpa, folder / "m.tglm"), 1)
        size = (folder / "m.tglm").stat().st_size
        print(f"compiling: {seconds:.2f} s, {size / 1e6:.1f} MB")
        seconds = best_of(lambda: lm.LanguageModel(folder / "m.tglm"))
        print(f"opening: {1000 * seconds:.2f} ms")
        model = lm.LanguageModel(folder / "m.tglm")
        text = b"".join(lines)
        ours = tokens / best_of(lambda: model.core.score_text(text))
        whole = tokens / best_of(lambda: list(model.score_lines(lines)))
        print(f"queries in the core: {ours:,.0f} tokens/s; from Python, line by line: {whole:,.0f} tokens/s")
        try:
            import kenlm
        except ImportError:
            print("kenlm is not installed: pip install 'treeglot[bench]'")
            return
        theirs = kenlm.Model(str(arpa))
        decoded = [line.decode().rstrip("\n") for line in lines]
        peer = tokens / best_of(lambda: [theirs.score(line) for line in decoded])
        print(
            f"kenlm package, whole sentences: {peer:,.0f} tokens/s; ours from Python is {whole / peer:.2f} times that"
        )


if __name__ == "__main__":
    main()
