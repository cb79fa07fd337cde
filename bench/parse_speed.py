"""Speed and memory of the installed parsers on a text: ``python bench/parse_speed.py TEXT --lang zh [--lines 500]``.

Each backend (and each model named by ``--model``, for CoreNLP) parses the same lines; with ``--gold GOLD.conllu`` it parses
the gold words instead and its unlabelled attachment is counted. The backends of the language that are not installed
are left out. Results go to standard output as JSON lines.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from pathlib import Path

from treeglot.files import read_lines
from treeglot.languages import language_code
from treeglot.parsers import available, failure, open_parser, parse_file
from treeglot.trees.conllu import read_conllu


def measure(backend: str, lang: str, options: dict[str, object], text: Path, workers: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        start = time.monotonic()
        with open_parser(backend, lang, **options) as parser:
            loading = time.monotonic() - start
            summary = parse_file(
                parser, text, conllu=Path(name) / "o.conllu", penn=Path(name) / "o.penn", workers=workers
            )
        return summary.as_dict() | {"startup_seconds": round(loading + summary.startup_seconds, 1)}


def agreement(backend: str, lang: str, options: dict[str, object], gold: Path, lines: int) -> dict[str, object]:
    sentences = list(itertools.islice(read_conllu(gold), lines))
    right = words = 0
    with open_parser(backend, lang, **options) as parser:
        parser.start()
        start = time.monotonic()
        parsed = list(parser.parse([sentence.tokens.forms for sentence in sentences]))
        seconds = time.monotonic() - start
        description = parser.description
    for gold_sentence, sentence in zip(sentences, parsed, strict=True):
        if gold_sentence.dependency is not None and sentence.dependency is not None:
            words += len(gold_sentence)
            right += sum(a == b for a, b in zip(gold_sentence.dependency.heads, sentence.dependency.heads, strict=True))
    return {
        "parser": description,
        "uas": round(100 * right / words, 2),
        "sentences_per_second": round(len(sentences) / seconds, 2),
        "failed": sum(failure(sentence) != "" for sentence in parsed),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("text", type=Path, nargs="?")
    options.add_argument("--lang", required=True)
    options.add_argument("--lines", type=int, default=500)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--parser", action="append", help="only this backend; may be repeated")
    options.add_argument("--model", action="append", help="models of the backend to compare")
    options.add_argument("--memory", help="CoreNLP: limit of Java's memory")
    options.add_argument("--gold", type=Path, help="count unlabelled attachment on this treebank instead")
    given = options.parse_args()
    lang = language_code(given.lang)
    ready = [info.name for info in available(lang) if lang in info.languages()]
    with tempfile.TemporaryDirectory() as name:
        text = Path(name) / "text"
        if given.gold is None:
            lines = itertools.islice(read_lines(given.text), given.lines)
            text.write_text("".join(f"{line}\n" for _, line in lines), encoding="utf-8")
        for backend in ready if not given.parser else [parser for parser in ready if parser in given.parser]:
            for model in given.model or [None]:
                more: dict[str, object] = {"model": model} if model else {}
                if backend == "corenlp":
                    more |= {"threads": given.workers} | ({"memory": given.memory} if given.memory else {})
                if given.gold is not None:
                    result = agreement(backend, lang, more, given.gold, given.lines)
                else:
                    result = measure(backend, lang, more, text, given.workers)
                print(json.dumps(result, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
