"""The peer of the phrase-based decoder: Thot, trained and run by SIL's machine.py, on the text of ``decoder_speed``.

    pip install 'sil-machine[thot]' psutil
    python bench/thot_decoder.py [--sentences 200]

On Multi30k German-English (TREEGLOT_DATA names the folder of the data): trains Thot's own models (FastAlign word alignment, its phrase
table and language model, untuned), then prints the entries of its table, sentences a second of CPU time in one process, peak memory and
BLEU. Its models are its own, so only the size of the task is the same as for ``decoder_speed``.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(os.environ.get("TREEGLOT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mt/multi30k/lc-tok"


def main() -> int:
    try:
        from machine.corpora import TextFileTextCorpus
        from machine.translation.thot import ThotSmtModel, ThotSmtModelTrainer
    except ImportError:
        print("passed over: pip install 'sil-machine[thot]'")
        return 0
    if not DATA.is_dir():
        print(f"passed over: no {DATA}")
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=200)
    options = parser.parse_args()

    class Untuned(ThotSmtModelTrainer):
        """Tuning takes far longer than training and changes little about speed."""

        def _tune_language_model(self, *_: object) -> None: ...
        def _tune_translation_model(self, *_: object) -> None: ...
        def _train_tune_corpus(self, *_: object) -> None: ...

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "smt.cfg"
        for sub in ("tm", "lm"):
            (folder / sub).mkdir()
        config.write_text(
            f"-tm {folder}/tm/src_trg\n-lm {folder}/lm/trg.lm\n-W 0.4\n-S 64\n-A 10\n-nomon 6\n-be\n-h 4\n-G 0\n"
        )
        corpus = TextFileTextCorpus(DATA / "train.de").align_rows(TextFileTextCorpus(DATA / "train.en"))
        start = time.process_time()
        with Untuned("fast_align", corpus, config) as trainer:
            trainer.train()
            trainer.save()
        print(f"training: {time.process_time() - start:.1f} CPU s", flush=True)
        tables = sorted(folder.glob("tm/*.ttable"))
        for table in tables:
            with table.open("rb") as file:
                print(f"{table.name}: {sum(1 for _ in file):,} entries", flush=True)
        lines = (DATA / "test.de").read_text(encoding="utf-8").splitlines()[: options.sentences]
        references = (DATA / "test.en").read_text(encoding="utf-8").splitlines()[: options.sentences]
        with ThotSmtModel("fast_align", config) as model:
            start = time.process_time()
            hypotheses = [model.translate(line).translation for line in lines]
            seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(
            f"{len(lines)} sentences, {len(lines) / seconds:.1f} sentences/s of CPU time, peak {peak:,} MB of the process"
        )
        try:
            import sacrebleu

            print(sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none"))
        except ImportError:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
