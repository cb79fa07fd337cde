"""The hand-aligned test sets of the alignment benchmarks, each with text to train on, in one form.

``python bench/alignment_sets.py DATA FOLDER`` writes for every set ``FOLDER/<set>.{source,target}`` (the test sentences first,
then the training text) and ``FOLDER/<set>.gold.json``: a list of ``{"sure": [[i, j], ...], "possible": [...], "words": null or
[[source words], [target words]]}``, one for each test sentence. With ``words`` only links between those words count: the
PUD sets are aligned on content words only.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sacremoses import MosesTokenizer

Lines = list[str]

CLITICS = {
    "l'": "le", "d'": "de", "n'": "ne", "s'": "se", "c'": "ce", "j'": "je", "m'": "me", "t'": "te", "qu'": "que",
    "lorsqu'": "lorsque", "jusqu'": "jusque", "puisqu'": "puisque", "du": "de le", "au": "à le", "aux": "à les", "des": "de les",
}  # fmt: skip


def tokenize(lines: Lines, language: str) -> Lines:
    tokenizer = MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line.replace("’", "'"), return_str=True, escape=False).lower() for line in lines]


def as_in_hansards(line: str) -> str:
    """The test set writes French without contractions: de le, que il."""
    return " ".join(CLITICS.get(word, word) for word in line.split())


def justice(data: Path, limit: int) -> tuple[Lines, Lines]:
    """The first ``limit`` distinct (English, French) pairs of at most 60 words."""
    folder = data / "mt/justice-canada-fr-en"
    seen: dict[tuple[str, str], None] = {}
    with gzip.open(folder / "corpus.en.gz", "rt") as english, gzip.open(folder / "corpus.fr.gz", "rt") as french:
        for pair in zip(english, french, strict=True):
            if 2 <= len(pair[0].split()) <= 60 and 2 <= len(pair[1].split()) <= 60:
                seen[pair[0].strip(), pair[1].strip()] = None
            if len(seen) == limit:
                break
    return tokenize([e for e, _ in seen], "en"), tokenize([f for _, f in seen], "fr")


def hansards(data: Path) -> tuple[Lines, Lines, list[dict[str, Any]]]:
    folder = data / "words/hansards-en-fr"

    def text(name: str) -> Lines:
        sentences = re.findall(r"<s snum=\d+>(.*?)</s>", (folder / name).read_text(encoding="utf-8"))
        return [" ".join(line.lower().split()) for line in sentences]

    gold: list[dict[str, Any]] = [{"sure": [], "possible": [], "words": None} for _ in text("test.e")]
    for line in sorted(set((folder / "test.wa.nonullalign").read_text().splitlines())):
        number, i, j, kind = line.split()
        item = gold[int(number) - 1]
        item["possible"].append([int(i) - 1, int(j) - 1])
        if kind == "S":
            item["sure"].append([int(i) - 1, int(j) - 1])
    english, french = justice(data, 100_000)
    return text("test.e") + english, text("test.f") + [as_in_hansards(line) for line in french], gold


def longest_match(line: str, words: set[str], longest: int = 6) -> str:
    """Segments Chinese by the longest known word; other scripts stay whole."""
    result: Lines = []
    for run in re.findall(r"[一-鿿]+|[^一-鿿\s]+", line):
        if not "一" <= run[0] <= "鿿":
            result.extend(re.findall(r"\w+|\W", run))
            continue
        at = 0
        while at < len(run):
            size = next((n for n in range(longest, 1, -1) if run[at : at + n] in words and at + n <= len(run)), 1)
            result.append(run[at : at + size])
            at += size
    return " ".join(result)


def chinese(data: Path, more: Lines) -> tuple[Lines, Lines]:
    """Coursera (segmented as it comes) and 3AM (segmented with the words of Coursera and of ``more``)."""
    read = lambda name: (data / "mt" / name).read_text(encoding="utf-8").split("\n")[:-1]  # noqa: E731
    zh, en = read("coursera-zh-en/train.zh.txt"), read("coursera-zh-en/train.en.txt")
    words = {word for line in zh + more for word in line.split()}
    zh += [longest_match(line, words) for line in read("3am-zh-en/train.zh")]
    en += tokenize(read("3am-zh-en/train.en"), "en")
    return zh, [line.lower() for line in en]


def nist(data: Path) -> tuple[Lines, Lines, list[dict[str, Any]]]:
    folder = data / "words/nist02-zh-en"
    zh = (folder / "train.zh").read_text(encoding="utf-8").splitlines()
    en = (
        (folder / "train.en")
        .read_text(encoding="utf-8")
        .lower()
        .replace("-lrb-", "(")
        .replace("-rrb-", ")")
        .splitlines()
    )
    gold: list[dict[str, Any]] = []
    for line in (folder / "train.align").read_text().splitlines():
        links = [link.split("-") for link in line.split()]
        possible = [[int(link[0]), int(link[1])] for link in links]
        sure = [[int(link[0]), int(link[1])] for link in links if len(link) == 2]
        gold.append({"sure": sure, "possible": possible, "words": None})
    more_zh, more_en = chinese(data, zh)
    return zh + more_zh, en + more_en, gold


def conllu_words(path: Path) -> Iterator[Lines]:
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        yield [row[1].replace(" ", "_") for row in rows if row[0].isdigit()]


def pud(data: Path, pair: str) -> tuple[Lines, Lines, list[dict[str, Any]]]:
    folder = data / "words/pud-en-zh-fr-ja/alignments" / pair
    source = [" ".join(words).lower() for words in conllu_words(folder / "en.conllu")]
    target = [" ".join(words).lower() for words in conllu_words(folder / "target.conllu")]
    gold: list[dict[str, Any]] = []
    for item in json.loads((folder / "alignment.json").read_text(encoding="utf-8")):
        both = [(i, j) for i, linked in item.items() for j in linked]
        links = [[int(i) - 1, int(j) - 1] for i, j in both if i != "X" and j != "X"]
        words = [
            sorted({int(i) - 1 for i, _ in both if i != "X"}),
            sorted({int(j) - 1 for _, j in both if j != "X"}),
        ]
        gold.append({"sure": links, "possible": links, "words": words})
    if pair == "en-zh":
        more, english = chinese(data, target)
        return source + english, target + more, gold
    if pair == "en-fr":
        english, french = justice(data, 30_000)
        read = lambda side: (data / f"mt/multi30k/lc-tok/train.{side}").read_text(encoding="utf-8").splitlines()  # noqa: E731
        english, french = english + read("en"), french + read("fr")
        return source + english, target + [split_contractions(line) for line in french], gold
    return source, target, gold


def split_contractions(line: str) -> str:
    """Universal Dependencies' words: du is de le, and l' stays l'."""
    words = ((CLITICS[word] if word in ("du", "au", "aux") else word) for word in line.replace("&apos;", "'").split())
    return " ".join(words)


SETS: dict[str, Callable[[Path], tuple[Lines, Lines, list[dict[str, Any]]]]] = {
    "hansards": hansards,
    "nist02": nist,
    "pud-en-zh": lambda data: pud(data, "en-zh"),
    "pud-en-fr": lambda data: pud(data, "en-fr"),
    "pud-en-ja": lambda data: pud(data, "en-jp"),
}


def main() -> None:
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, make in SETS.items():
        source, target, gold = make(data)
        kept = [n for n in range(len(source)) if n < len(gold) or (source[n].split() and target[n].split())]
        for side, lines in (("source", source), ("target", target)):
            (out / f"{name}.{side}").write_text("".join(lines[n] + "\n" for n in kept), encoding="utf-8")
        (out / f"{name}.gold.json").write_text(json.dumps(gold), encoding="utf-8")
        links = list(itertools.chain.from_iterable(item["sure"] for item in gold))
        print(f"{name}: {len(gold)} test pairs, {len(links)} sure links, {len(kept)} pairs of text")


if __name__ == "__main__":
    main()
