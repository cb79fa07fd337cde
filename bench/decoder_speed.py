"""Speed of the phrase-based decoder: ``python bench/decoder_speed.py [--weights FILE] [--sentences N] [--pops N ...]``.

On Multi30k German-English (lower-cased and tokenised, with its word alignment; TREEGLOT_DATA names the folder of the data):
builds the table and a 4-gram model once, then prints for each setting the sentences a second of CPU time in one thread,
the mean model score, BLEU if sacrebleu is installed, and the peak memory of the process. Moses on the same machine and
data: 42 sentences a second with cube pruning 500, 7 with its stack of 200.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from treeglot import lm
from treeglot.files import open_binary, read_lines
from treeglot.search import open_phrases, phrase_decoder, read_weights, start_weights
from treeglot.tables.build import build_phrase_table

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/multi30k/lc-tok"


def bleu(translations: list[str], references: list[str]) -> float | None:
    try:
        import sacrebleu
    except ImportError:
        return None
    metric = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)
    return round(metric.corpus_score(translations, [references]).score, 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", help="a weight file; Moses' starting weights if none is given")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--pops", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--no-stack", action="store_true", help="leave out the plain stack search")
    parser.add_argument("--nbest", type=int, default=100, help="size of the list in the row with k-best lists")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no {DATA}: set TREEGLOT_DATA")
        return 0
    weights = read_weights(options.weights) if options.weights else start_weights(["phrases"])
    sentences = [line for _, line in read_lines(DATA / "test.de")][: options.sentences]
    references = [line for _, line in read_lines(DATA / "test.en")][: options.sentences]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not os.fork():  # so that the peak below is that of decoding
            build_phrase_table(
                DATA / "train.de", DATA / "train.en", DATA / "train.de-en.align.gz", folder / "table", threads=1
            )
            with open_binary(DATA / "train.en") as text, (folder / "arpa").open("wb") as file:
                lm.estimate(text, file, order=4)
            lm.compile_model(folder / "arpa", folder / "model")
            os._exit(0)
        if os.wait()[1]:
            return 1
        start = time.process_time()
        table, model = open_phrases(folder / "table"), lm.LanguageModel(folder / "model")
        phrase_decoder(table, model, weights).translate(["ein mann ."], threads=1)
        opened = time.process_time() - start
        settings: list[tuple[str, dict[str, Any], int]] = [
            (f"cube {pops}", {"pop_limit": pops, "stack_size": max(200, pops // 2)}, 1) for pops in options.pops
        ]
        settings.append((f"cube 500, {options.nbest}-best", {"pop_limit": 500}, options.nbest))
        settings.append(("cube 500, beam 1e-3", {"pop_limit": 500, "beam_threshold": 1e-3}, 1))
        if not options.no_stack:
            settings.append(("stack 200", {"search": "stack"}, 1))
        rows: list[dict[str, Any]] = []
        for label, limits, nbest in settings:
            decoder = phrase_decoder(table, model, weights, **limits)
            start = time.process_time()
            translations = decoder.translate(sentences, nbest=nbest, threads=1, derivations=False)
            seconds = time.process_time() - start
            rows.append(
                {
                    "search": label,
                    "sentences/s": round(len(sentences) / seconds, 1),
                    "score": round(sum(best.score for best in translations) / len(translations), 3),
                    "BLEU": bleu([best.text for best in translations], references),
                    "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                }
            )
    if options.json:
        print(json.dumps({"pairs": len(table), "start": opened, "rows": rows}))
        return 0
    print(
        f"{len(sentences)} sentences, {len(table):,} phrase pairs, start-up and first sentence {opened * 1000:.0f} ms CPU"
    )
    print("".join(f"{key:>22}" if n == 0 else f"{key:>13}" for n, key in enumerate(rows[0])))
    for row in rows:
        cells = ["-" if value is None else str(value) for value in row.values()]
        print("".join(f"{cell:>22}" if n == 0 else f"{cell:>13}" for n, cell in enumerate(cells)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
