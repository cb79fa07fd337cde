"""Writing the example corpus to a folder, in every format that treeglot reads.

For each part: ``train.zh`` and ``train.en`` (words separated by spaces), ``train.zh.conllu`` and ``train.en.conllu``
(dependencies), ``train.zh.penn`` and ``train.en.penn`` (constituents), ``train.align`` (word links, Pharaoh) and
``train.jsonl`` (everything, node links included).

>>> import tempfile
>>> from treeglot.examples.corpus import Sizes
>>> with tempfile.TemporaryDirectory() as folder:
...     written = write_example(folder, sizes=Sizes(3, 1, 1, 0))
...     [path.name for path in written][:4], len(written)
(['train.zh', 'train.en', 'train.zh.conllu', 'train.en.conllu'], 24)
"""

from __future__ import annotations

import os
from pathlib import Path

from treeglot.examples.corpus import Sizes, Splits, splits
from treeglot.files import atomic_write
from treeglot.trees import AlignedPair
from treeglot.trees.conllu import write_conllu
from treeglot.trees.penn import write_penn
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.wordlinks import write_pharaoh


def write_example(
    folder: str | os.PathLike[str],
    seed: int = 1,
    sizes: Sizes = Sizes(),  # noqa: B008 - an immutable default
    *,
    parts: Splits | None = None,
) -> list[Path]:
    """Write the corpus of ``seed`` to ``folder`` (made if it is not there) and return the files. Parts of size 0 are
    left out. The same seed and sizes give the same bytes. ``parts`` is the corpus, if you have it already."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, pairs in (parts or splits(seed, sizes))._asdict().items():
        if pairs:
            written.extend(_write_part(place, name, pairs))
    return written


def _write_part(folder: Path, name: str, pairs: list[AlignedPair]) -> list[Path]:
    sides = {"zh": [pair.source for pair in pairs], "en": [pair.target for pair in pairs]}
    for language, sentences in sides.items():
        with atomic_write(folder / f"{name}.{language}") as out:
            out.writelines(" ".join(sentence.tokens.forms) + "\n" for sentence in sentences)
        write_conllu(sentences, folder / f"{name}.{language}.conllu")
        write_penn(sentences, folder / f"{name}.{language}.penn")
    write_pharaoh((pair.word_links for pair in pairs), folder / f"{name}.align")
    write_jsonl(pairs, folder / f"{name}.jsonl")
    endings = ("zh", "en", "zh.conllu", "en.conllu", "zh.penn", "en.penn", "align", "jsonl")
    return [folder / f"{name}.{ending}" for ending in endings]
