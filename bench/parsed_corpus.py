"""Reading a parsed corpus for extraction: from its files, from JSON lines, from a project's mapped file, and by way of Python objects.

    python bench/parsed_corpus.py [--work FOLDER]

The German side of Multi30k's training text (29,000 sentences) is parsed once by UDPipe with the model of ``$TREEGLOT_DATA/models``,
phrases converted from dependencies; ``--work`` keeps that for the next time. Each way reads dependency trees, constituency
trees, target words and word links of all pairs, as extraction wants them; the lowest CPU time of several rounds
counts, all ways taking turns.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from treeglot.files import read_lines
from treeglot.parsers import open_parser, parse_file
from treeglot.trees.corpus import (
    ParsedBitext,
    SideFiles,
    parsed_bitext,
    read_parsed_bitext,
    read_trees,
)
from treeglot.trees.stored import open_corpus, write_corpus
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.wordlinks import read_pharaoh

ROUNDS = 5


def prepare(data: Path, work: Path) -> tuple[SideFiles, SideFiles, Path]:
    """Trees, text and links of the corpus."""
    conllu, penn, target, links = (work / name for name in ("de.conllu", "de.penn", "en", "links"))
    text = data / "mt/multi30k/lc-tok"
    if not links.exists():
        with open_parser("udpipe", "de", model=str(data / "models/de_mix.udpipe")) as parser:
            parse_file(parser, text / "train.de", conllu=conllu, penn=penn, tokenized=True)
        target.write_bytes((text / "train.en").read_bytes())
        lines = (
            " ".join(f"{j}-{j}" for j in range(min(len(source.split()), len(other.split()))))
            for (_, source), (_, other) in zip(read_lines(text / "train.de"), read_lines(target), strict=True)
        )
        links.write_text("\n".join(lines) + "\n")
    return SideFiles(conllu, penn), SideFiles(text=target), links


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path)
    work = parser.parse_args().work
    data = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = work or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        source, target, links = prepare(data, folder)
        lines = SideFiles(jsonl=folder / "de.jsonl")
        write_jsonl(read_trees(source.conllu, source.penn), folder / "de.jsonl")
        stored = folder / "corpus.tgpc"
        write_corpus(read_parsed_bitext(source, target, links), stored)

        def by_objects(files: SideFiles) -> ParsedBitext:
            words = (line.split() for _, line in read_lines(target.text or ""))
            pairs = ([(link.source, link.target) for link in pair.links] for pair in read_pharaoh(links))
            return parsed_bitext(zip(read_trees(files.conllu, files.penn, files.jsonl), words, pairs, strict=True))

        ways: dict[str, tuple[int, Callable[[], ParsedBitext]]] = {
            "Python objects": (1, lambda: by_objects(source)),
            "JSON lines, by Python objects": (1, lambda: by_objects(lines)),
            "CoNLL-U, brackets, text and links": (ROUNDS, lambda: read_parsed_bitext(source, target, links)),
            "JSON lines, text and links": (ROUNDS, lambda: read_parsed_bitext(lines, target, links)),
            "the mapped file, and links": (ROUNDS, lambda: open_corpus(stored, [links])),
        }
        best: dict[str, float] = {}
        sentences = 0
        for number in range(ROUNDS):
            for name, (rounds, read) in ways.items():
                if number >= rounds:
                    continue
                start = time.process_time()
                sentences = len(read())
                best[name] = min(best.get(name, 1e9), time.process_time() - start)
        print(f"{sentences:,} sentence pairs; CPU seconds, the best of {ROUNDS} rounds (Python objects: of one)\n")
        print("| read from | CPU s | times as fast |\n| --- | ---: | ---: |")
        for name, seconds in best.items():
            print(f"| {name} | {seconds:.2f} | {best['Python objects'] / seconds:.0f} |")


if __name__ == "__main__":
    main()
