"""Real corpora, where they are present: counts as their providers give them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from treeglot.bitext import (
    Truecaser,
    clean,
    count_bitext,
    read_bitext,
    read_plain,
    read_tsv,
    split,
    tokenize,
    write_bitext,
)

Data = Callable[[str], Path]


def test_tatoeba(data: Data) -> None:
    path = data("mt/tatoeba-zh-en/cmn.txt")
    pairs = list(read_tsv(path, names={3: "attribution"}))
    stats = count_bitext(pairs)
    assert (stats.pairs, stats.distinct_sources) == (24_818, 23_862)
    assert all("tatoeba.org" in pair.get("attribution") for pair in pairs)
    parts = split(pairs, dev=1000, test=1000)
    assert [len(part) for part in parts] == [22_818, 1000, 1000]
    assert not {pair.source for pair in parts.train} & {pair.source for pair in (*parts.dev, *parts.test)}


def test_multi30k_through_tmx(data: Data, tmp_path: Path) -> None:
    folder = data("mt/multi30k")
    source, target = folder / "val.en", folder / "val.de"
    pairs = list(read_plain(source, target))
    assert len(pairs) == 1014
    languages = {"source_lang": "en", "target_lang": "de"}
    write_bitext(pairs, tmp_path / "a.tmx.zst", **languages)
    write_bitext(read_bitext(tmp_path / "a.tmx.zst", **languages), tmp_path / "a.en", tmp_path / "a.de")
    assert (tmp_path / "a.en").read_bytes() == source.read_bytes()
    assert (tmp_path / "a.de").read_bytes() == target.read_bytes()


def test_coursera_is_cleaned(data: Data) -> None:
    folder = data("mt/coursera-zh-en")
    kept, report = clean(read_plain(folder / "test.zh.txt", folder / "test.en.txt"))
    pairs = list(kept)
    assert report.total == 2009 == len(pairs) + sum(report.dropped.values())


def test_a_stretch_of_statutes(data: Data) -> None:
    folder = data("mt/justice-canada-fr-en")
    kept, report = clean(islice(read_plain(folder / "corpus.en.gz", folder / "corpus.fr.gz"), 5000))
    english = [tokenize(pair.source, "en") for pair in islice(kept, 1000)]
    assert report.dropped["duplicate"] > 100
    truecaser = Truecaser.train(english)
    assert truecaser.truecase(["The", "Minister"]) == ["the", "Minister"]
