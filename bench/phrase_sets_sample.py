"""Text like that of the phrase-extraction paper: ``python bench/phrase_sets_sample.py FOLDER [--data FOLDER]``.

The paper has 7,722 training and 1,000 test pairs of an official journal, 23 to 27 words a sentence. Of the Acts and Regulations of
Canada, French-English (TREEGLOT_DATA names the folder of the data), this takes as many pairs at random, and 1,000 for tuning: 8 to 45
words on each side, no sentence twice. ``FOLDER`` gets ``train``, ``val`` and ``test``, ready for ``treeglot parse``.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

from treeglot.files import atomic_write, read_lines

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/justice-canada-fr-en"
PARTS = {"train": 7722, "val": 1000, "test": 1000}
SHORTEST, LONGEST, RATIO = 8, 45, 2.0


def fits(pair: tuple[str, str]) -> bool:
    """
    >>> fits(("a " * 8, "b " * 15)), fits(("a " * 8, "b " * 16)), fits(("a " * 7, "b " * 8))
    (True, False, False)
    """
    source, target = (len(text.split()) for text in pair)
    return (
        min(source, target) >= SHORTEST
        and max(source, target) <= LONGEST
        and max(source, target) / min(source, target) < RATIO
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    texts = [[line.strip() for _, line in read_lines(options.data / f"corpus.{side}.gz")] for side in ("fr", "en")]
    fitting = [pair for pair in dict.fromkeys(zip(*texts, strict=True)) if fits(pair)]
    random.Random(options.seed).shuffle(fitting)
    wanted = sum(PARTS.values())
    seen: set[str] = set()
    chosen = []
    for pair in fitting:
        if seen.isdisjoint(pair):
            seen.update(pair)
            chosen.append(pair)
        if len(chosen) == wanted:
            break
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, size in PARTS.items():
        part, chosen = chosen[:size], chosen[size:]
        for side, language in enumerate(("fr", "en")):
            with atomic_write(options.folder / f"{name}.{language}") as file:
                file.writelines(f"{pair[side]}\n" for pair in part)


if __name__ == "__main__":
    main()
