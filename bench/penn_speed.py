"""Trees per second of the Penn reader next to NLTK's, on the same trees in one process.

    python bench/penn_speed.py FILE...

Prints one line of JSON: trees, tokens, trees/s of both and their ratio (best of three rounds each).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from treeglot.trees.penn import format_penn, read_penn


def best(run: Callable[[], object], rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main(paths: list[str]) -> None:
    import nltk

    sentences = [sentence for path in paths for sentence in read_penn(path)]
    texts = [format_penn(sentence.constituency) for sentence in sentences if sentence.constituency is not None]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trees.penn"
        file.write_text("\n".join(texts) + "\n", encoding="utf-8")
        ours = best(lambda: sum(1 for _ in read_penn(file)))

        def with_nltk() -> None:
            for line in file.read_text(encoding="utf-8").splitlines():
                nltk.Tree.fromstring(line)

        theirs = best(with_nltk)
    size = len(texts)
    result = {
        "trees": size,
        "tokens": sum(map(len, sentences)),
        "treeglot_trees_per_s": round(size / ours),
        "nltk_trees_per_s": round(size / theirs),
        "ratio": round(theirs / ours, 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
