"""Phrase tables: equal to Moses on the reference and to plain counting on random text, whatever the memory and threads."""

from __future__ import annotations

import gzip
import math
import random
import struct
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import TreeglotError
from treeglot.grammars.phrases import extract_words
from treeglot.tables import (
    LexicalTable,
    PhraseTable,
    build_phrase_table,
    export_moses,
    import_moses,
    parse_memory,
    read_corpus,
)
from treeglot.tables.moses import PHRASES, REORDERING

Corpus = list[tuple[list[str], list[str], list[tuple[int, int]]]]


def write(folder: Path, corpus: Corpus) -> list[Path]:
    paths = [folder / name for name in ("f", "e", "a")]
    columns: list[list[str]] = [[], [], []]
    for source, target, links in corpus:
        columns[0].append(" ".join(source))
        columns[1].append(" ".join(target))
        columns[2].append(" ".join(f"{j}-{i}" for j, i in links))
    for path, lines in zip(paths, columns, strict=True):
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return paths


def build(folder: Path, corpus: Corpus) -> Path:
    build_phrase_table(*write(folder, corpus), folder / "t")
    return folder / "t"


def random_corpus(sentences: int, seed: int = 1, words: int = 40) -> Corpus:
    choose = random.Random(seed)
    corpus: Corpus = []
    for _ in range(sentences):
        source = [
            f"f{min(choose.randrange(1, words), choose.randrange(1, words))}" for _ in range(choose.randrange(1, 12))
        ]
        target = [
            f"e{min(choose.randrange(1, words), choose.randrange(1, words))}" for _ in range(choose.randrange(1, 12))
        ]
        links = {
            (j, min(max(j + choose.randrange(-1, 2), 0), len(target) - 1))
            for j in range(len(source))
            if choose.random() < 0.8
        }
        corpus.append((source, target, sorted(links)))
    return corpus


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    corpus: Corpus = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.lists(st.sampled_from(["a", "b", "c", "|", "||||", "~", "é"]), min_size=1, max_size=6))
        target = draw(st.lists(st.sampled_from(["x", "y", "z", "!", "}"]), min_size=1, max_size=6))
        cells = [(j, i) for j in range(len(source)) for i in range(len(target))]
        corpus.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=6)))))
    return corpus


Pair = tuple[str, str]


def plain_counts(
    corpus: Corpus,
) -> tuple[Counter[Pair], dict[Pair, Counter[tuple[tuple[int, int], ...]]], dict[Pair, Counter[str]]]:
    counts: Counter[Pair] = Counter()
    alignments: dict[Pair, Counter[tuple[tuple[int, int], ...]]] = defaultdict(Counter)
    orientations: dict[Pair, Counter[str]] = defaultdict(Counter)
    for source, target, links in corpus:
        for pair in extract_words(source, target, links):
            key = (" ".join(pair.source), " ".join(pair.target))
            counts[key] += 1
            alignments[key][pair.links] += 1
            orientations[key].update([f"before {pair.before}", f"after {pair.after}"])
    return counts, alignments, orientations


def plain_lexicon(corpus: Corpus) -> dict[tuple[str | None, str | None], tuple[float, float]]:
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    for source, target, links in corpus:
        pairs.update((source[j], target[i]) for j, i in links)
        pairs.update((word, None) for j, word in enumerate(source) if j not in {link[0] for link in links})
        pairs.update((None, word) for i, word in enumerate(target) if i not in {link[1] for link in links})
    sources, targets = Counter[str | None](), Counter[str | None]()
    for (f, e), count in pairs.items():
        sources[f] += count
        targets[e] += count
    return {(f, e): (count / sources[f], count / targets[e]) for (f, e), count in pairs.items()}


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_tables_equal_plain_counting(corpus: Corpus) -> None:
    counts, alignments, orientations = plain_counts(corpus)
    lexicon = plain_lexicon(corpus)
    of_source: Counter[str] = Counter()
    of_target: Counter[str] = Counter()
    for (source, target), count in counts.items():
        of_source[source] += count
        of_target[target] += count
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = build_phrase_table(*write(folder, corpus), folder / "t")
        table = PhraseTable(folder / "t", verify=True)
        assert (
            (report.pairs, report.occurrences)
            == (len(counts), sum(counts.values()))
            == (len(table), report.occurrences)
        )
        assert table.sources == len(of_source)
        entries = list(table)
        assert {(entry.source, entry.target) for entry in entries} == set(counts)
        for entry in entries:
            key = (entry.source, entry.target)
            assert (entry.count, entry.source_count, entry.target_count) == (
                counts[key],
                of_source[entry.source],
                of_target[entry.target],
            )
            assert entry.source_given_target == pytest.approx(counts[key] / of_target[entry.target])
            assert entry.target_given_source == pytest.approx(counts[key] / of_source[entry.source])
            best = max(alignments[key].values())
            assert alignments[key][tuple(sorted(entry.links))] == best
            if list(alignments[key].values()).count(best) == 1:
                words, others = entry.source.split(), entry.target.split()
                forward = backward = 1.0
                for i, word in enumerate(others):
                    linked = [words[j] for j, k in entry.links if k == i] or [None]
                    forward *= sum(lexicon[f, word][0] for f in linked) / len(linked)
                for j, word in enumerate(words):
                    linked = [others[i] for k, i in entry.links if k == j] or [None]
                    backward *= sum(lexicon[word, e][1] for e in linked) / len(linked)
                assert entry.lexical_target == pytest.approx(forward, rel=1e-5)
                assert entry.lexical_source == pytest.approx(backward, rel=1e-5)
            seen = [
                (orientations[key][f"{side} {kind}"] + 0.5) / (counts[key] + 1.5)
                for side in ("before", "after")
                for kind in ("monotone", "swap", "discontinuous")
            ]
            assert entry.reordering == pytest.approx(seen)
        for source in of_source:
            listed = table.lookup(source)
            assert listed == [entry for entry in entries if entry.source == source]
            assert [entry.count for entry in listed] == sorted((entry.count for entry in listed), reverse=True)
            assert table.lookup(source, 2) == listed[:2] and table.lookup(source, 0) == []
        if "a a a a a a a" not in of_source:
            assert table.lookup("a a a a a a a") == []
        ours = LexicalTable.of(table)
        assert set(ours) == set(lexicon)
        for pair, weights in lexicon.items():
            assert ours[pair] == pytest.approx(weights, abs=1e-7)
        export_moses(table, folder / "text")
        lines = (folder / "text").read_bytes().splitlines()
        keys = [b" ||| ".join(line.split(b" ||| ")[:2]) + b" ||| " for line in lines]
        # The order is that of the words as they are, not as they are escaped.
        assert len(keys) == len(counts)
        assert (raw := [key.replace(b"&#124;", b"|") for key in keys]) == sorted(raw)


def test_memory_and_threads_do_not_change_a_byte(tmp_path: Path) -> None:
    paths = write(tmp_path, random_corpus(1500))
    tables = []
    for number, (memory, threads) in enumerate([("4g", 1), (1, 1), (1, 4), ("64m", 3)]):
        out = tmp_path / f"t{number}"
        report = build_phrase_table(*paths, out, memory=memory, threads=threads)
        assert (report.spilled_runs > 0) == (memory == 1)
        tables.append(out.read_bytes())
    assert len(set(tables)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "e", "f", "t0", "t1", "t2", "t3"]


def test_compressed_input_and_strange_blanks(tmp_path: Path) -> None:
    (tmp_path / "f.gz").write_bytes(gzip.compress("\ufeffdas\u00a0haus  ist\u3000klein\t.\r\n\n".encode()))
    (tmp_path / "e").write_bytes(b"it is small .\n\n")
    (tmp_path / "a").write_bytes(b"0-0 1-1 1-2\n\n")
    build_phrase_table(tmp_path / "f.gz", tmp_path / "e", tmp_path / "a", tmp_path / "t")
    table = PhraseTable(tmp_path / "t")
    assert list(table.source_words) == [".", "das\u00a0haus", "ist\u3000klein"]
    assert table.lookup("das\u00a0haus")[0].target == "it"
    assert table.lookup("  das\u00a0haus\tist\u3000klein ")[0].links == ((0, 0), (1, 1), (1, 2))
    assert "." in table.source_words and "it" not in table.source_words
    assert table.target_words[-1] == "small" and table.target_words[:2] == [".", "is"]
    assert table.target_words.number("is") == 1 and table.target_words.number("was") is None


def test_a_corpus_without_links_gives_an_empty_table(tmp_path: Path) -> None:
    build_phrase_table(*write(tmp_path, [(["a"], ["b"], [])]), tmp_path / "t")
    table = PhraseTable(tmp_path / "t", verify=True)
    assert len(table) == 0 and list(table) == [] and table.lookup("a") == [] and table.search("a") == []
    assert table.statistics().bytes_per_entry == 0


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PhraseTable:
    folder = tmp_path_factory.mktemp("small")
    build_phrase_table(*write(folder, random_corpus(400, seed=3)), folder / "t")
    return PhraseTable(folder / "t", verify=True)


def test_search_equals_a_scan(small: PhraseTable) -> None:
    entries = list(small)

    def contains(phrase: str, words: list[str]) -> bool:
        have = phrase.split()
        return any(have[i : i + len(words)] == words for i in range(len(have)))

    assert small.search("f1 f2") == [entry for entry in entries if contains(entry.source, ["f1", "f2"])] != []
    assert small.search("e3", side="target") == [entry for entry in entries if contains(entry.target, ["e3"])] != []
    assert small.search("f1", whole=True) == [entry for entry in entries if entry.source == "f1"] != []
    wild = [entry for entry in entries if any(word.startswith("f2") for word in entry.source.split())]
    assert small.search("f2*") == wild
    assert small.search(r"\bf2\d*\b", regex=True) == wild
    assert small.search(r"e1( e2)+", regex=True, whole=True, side="target") == [
        entry for entry in entries if entry.target in ("e1 e2", "e1 e2 e2")
    ]
    assert small.search("f2*", limit=3) == wild[:3]
    assert small.search("nothing") == [] == small.search("[xyz]*")
    for pattern, regex in (("", False), ("(", True)):
        with pytest.raises(TreeglotError):
            small.search(pattern, regex=regex)


def test_statistics_equal_a_scan(small: PhraseTable) -> None:
    result = small.statistics()
    entries = list(small)
    of_source = Counter(entry.source for entry in entries)
    assert (result.entries, result.sources, result.bytes) == (
        len(entries),
        len(of_source),
        Path(small.path).stat().st_size,
    )
    assert dict(enumerate(result.source_lengths)) == {
        n: sum(len(entry.source.split()) == n for entry in entries) for n in range(8)
    }
    assert dict(enumerate(result.target_lengths)) == {
        n: sum(len(entry.target.split()) == n for entry in entries) for n in range(8)
    }
    assert result.singletons == sum(entry.count == 1 for entry in entries)
    assert result.most_translations == max(of_source.values()) == of_source[result.most_ambiguous]
    for low, high, count in result.ambiguity:
        assert count == sum(low <= n <= high for n in of_source.values())
    assert sum(count for _, _, count in result.ambiguity) == len(of_source)


def test_damage_never_crashes(small: PhraseTable, tmp_path: Path) -> None:
    good = Path(small.path).read_bytes()
    choose = random.Random(5)
    refused = 0
    for _number in range(80):
        bad = bytearray(good)
        for _ in range(choose.randrange(1, 4)):
            bad[choose.randrange(len(bad))] ^= 1 << choose.randrange(8)
        path = tmp_path / "bad"
        path.write_bytes(bad)
        with pytest.raises(TreeglotError):
            PhraseTable(path, verify=True)
        try:  # without the checksum: an error or an answer, never a crash
            table = PhraseTable(path)
            for _ in table:
                pass
            for word in ("f1", "f3 f4", "f20"):
                table.lookup(word)
            table.search("e1", side="target")
            table.statistics()
            LexicalTable.of(table)
        except TreeglotError:
            refused += 1
    assert refused > 10
    for size in (0, 10, 100, len(good) // 2, len(good) - 1):
        (tmp_path / "bad").write_bytes(good[:size])
        with pytest.raises(TreeglotError) as caught:
            PhraseTable(tmp_path / "bad")
        assert caught.value.path and caught.value.remedy


def test_memory_sizes() -> None:
    assert parse_memory("2g") == 2 << 30
    for wrong in ("", "4", "g", "four g", "-1g"):
        with pytest.raises(TreeglotError, match="memory"):
            parse_memory(wrong)


# ---- Moses ----


@pytest.fixture(scope="module")
def reference(data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PhraseTable]:
    folder = data("reference/moses-str")
    out = tmp_path_factory.mktemp("reference") / "t"
    build_phrase_table(folder / "corpus.de", folder / "corpus.en", folder / "align.grow-diag-final-and", out)
    return folder, PhraseTable(out, verify=True)


def read_gzip(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def test_phrase_table_equals_moses_line_by_line(reference: tuple[Path, PhraseTable], tmp_path: Path) -> None:
    folder, table = reference
    written = export_moses(table, tmp_path)
    assert [path.name for path in written] == [f"{PHRASES}.gz", f"{REORDERING}.gz", "lex.e2f", "lex.f2e"]
    ours, theirs = read_gzip(tmp_path / f"{PHRASES}.gz"), read_gzip(folder / "phrase-table.gz")
    assert len(ours) == len(theirs)
    equal = 0
    for one, other in zip(ours, theirs, strict=True):
        a, b = one.split(" ||| "), other.split(" ||| ")
        assert a[:2] == b[:2] and a[3:] == b[3:]
        for x, y in zip(a[2].split(), b[2].split(), strict=True):
            assert math.isclose(float(x), float(y), rel_tol=1e-4), (one, other)
        equal += one.rstrip() == other.rstrip()
    assert equal == len(theirs)  # not one digit differs
    assert read_gzip(tmp_path / f"{REORDERING}.gz") == read_gzip(folder / f"{REORDERING}.gz")


def test_word_probabilities_are_rounded_as_moses_does(tmp_path: Path) -> None:
    """Perl's printf rounds 1/256 = 0.00390625 to the even digit; one unit of the seventh decimal shows in the phrase table."""
    rare = [([f"f{n}"], ["e"], [(0, 0)]) for n in range(256)]
    export_moses(PhraseTable(build(tmp_path, rare)), tmp_path, compress=False)
    assert "f7 e 0.0039062\n" in (tmp_path / "lex.e2f").read_text(encoding="utf-8")
    assert "f7 ||| e ||| 0.00390625 0.0039062 1 1 ||| 0-0 ||| 256 1 1" in (tmp_path / PHRASES).read_text(
        encoding="utf-8"
    )


def aligned_words(links: tuple[tuple[int, int], ...], size: int, inverse: bool) -> list[list[int]]:
    """For each word of one side, its words of the other. Moses takes the most frequent alignment, then the greatest of these."""
    aligned: list[list[int]] = [[] for _ in range(size)]
    for j, i in sorted(links):
        aligned[j if inverse else i].append(i if inverse else j)
    return [sorted(each) for each in aligned]


def moses_lines(corpus: Corpus) -> list[str]:
    """A phrase table by the definitions of Moses' programs: word probabilities through text, means and products in their order."""
    counts, alignments, _ = plain_counts(corpus)
    lexicon = {key: tuple(float(f"{p:.7f}") for p in both) for key, both in plain_lexicon(corpus).items()}
    of_source, of_target = Counter[str](), Counter[str]()
    for (source, target), count in counts.items():
        of_source[source] += count
        of_target[target] += count
    lines = []
    for (source, target), count in counts.items():
        words, others = source.split(), target.split()
        weights, shown = [], []
        for inverse in (True, False):
            size = len(words if inverse else others)
            seen = alignments[source, target]
            best = max((n, aligned_words(links, size, inverse)) for links, n in seen.items())[1]
            weight = 1.0
            for place, each in enumerate(best):
                pairs = [(words[place], others[k]) if inverse else (words[k], others[place]) for k in each]
                null = [(words[place], None) if inverse else (None, others[place])]
                total = 0.0
                for pair in pairs or null:
                    total += lexicon[pair][1 if inverse else 0]
                weight *= total / len(pairs or null)
            weights.append(single(weight))
            shown = [f"{j}-{i}" for i, each in enumerate(best) for j in each]
        p_st, p_ts = single(count / of_target[target]), single(count / of_source[source])
        lines.append(
            f"{source} ||| {target} ||| {p_st:g} {weights[0]:g} {p_ts:g} {weights[1]:g} ||| {' '.join(shown)} ||| "
            f"{of_target[target]} {of_source[source]} {count} ||| |||"
        )
    return sorted(lines, key=lambda line: [f"{column} ||| ".encode() for column in line.split(" ||| ")[:2]])


def single(value: float) -> float:
    """Rounded to single precision."""
    (result,) = struct.unpack("f", struct.pack("f", value))
    return float(result)


def test_every_digit_is_that_of_moses_definitions(tmp_path: Path) -> None:
    corpus = random_corpus(600, seed=12, words=14)
    export_moses(PhraseTable(build(tmp_path, corpus)), tmp_path / "text.gz")
    assert read_gzip(tmp_path / "text.gz") == moses_lines(corpus)


def test_lexical_tables_equal_moses(reference: tuple[Path, PhraseTable], tmp_path: Path) -> None:
    folder, table = reference
    export_moses(table, tmp_path)
    for name in ("lex.e2f", "lex.f2e"):
        ours = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert sorted(ours) == sorted((folder / name).read_text(encoding="utf-8").splitlines())
    read = LexicalTable.read(folder / "lex.e2f", folder / "lex.f2e")
    own = LexicalTable.of(table)
    assert set(read) == set(own)
    assert all(read[key] == pytest.approx(own[key], abs=1e-9) for key in own)
    (tmp_path / "again").mkdir()
    own.write(tmp_path / "again")
    for name in ("lex.e2f", "lex.f2e"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_import_keeps_moses_scores_in_any_order(reference: tuple[Path, PhraseTable], tmp_path: Path) -> None:
    folder, table = reference
    lines = read_gzip(folder / "phrase-table.gz")
    random.Random(1).shuffle(lines)
    (tmp_path / "shuffled").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    reordering = folder / f"{REORDERING}.gz"
    for memory in (1, "1g"):
        report = import_moses(tmp_path / "shuffled", tmp_path / "t", reordering=reordering, memory=memory)
        assert report == (len(table), table.sources, 0, 0)
        again = PhraseTable(tmp_path / "t", verify=True)
        assert again.imported and again.has_reordering
        export_moses(again, tmp_path)
        assert [x.rstrip() for x in read_gzip(tmp_path / f"{PHRASES}.gz")] == [
            x.rstrip() for x in read_gzip(folder / "phrase-table.gz")
        ]
        assert read_gzip(tmp_path / f"{REORDERING}.gz") == read_gzip(reordering)


def test_round_trip_keeps_entries(small: PhraseTable, tmp_path: Path) -> None:
    export_moses(small, tmp_path / "p.zst", reordering=tmp_path / "r")
    import_moses(tmp_path / "p.zst", tmp_path / "t", reordering=tmp_path / "r")
    again = PhraseTable(tmp_path / "t", verify=True)
    assert len(again) == len(small)
    for one, other in zip(again, small, strict=True):
        assert (one.source, one.target, one.links, one.count) == (other.source, other.target, other.links, other.count)
        assert (one.source_count, one.target_count) == (other.source_count, other.target_count)
        assert one.scores == pytest.approx(other.scores, rel=1e-5)
        assert one.reordering == pytest.approx(other.reordering, rel=1e-5)


def test_import_of_sparse_tables(tmp_path: Path) -> None:
    (tmp_path / "p").write_text(
        "b ||| x ||| 0.5 0.5 0.25 1e-320\na b ||| y z ||| 1 1 1 1 2.718\nb ||| a x ||| 0.5 0.5 0.75 0.5 ||| 0-1 |||\n"
    )
    (tmp_path / "r").write_text("b ||| x ||| .1 .2 .7 .3 .3 .4\nc ||| x ||| .1 .2 .7 .3 .3 .4\n")
    report = import_moses(tmp_path / "p", tmp_path / "t", reordering=tmp_path / "r")
    assert report == (3, 2, 2, 1)
    table = PhraseTable(tmp_path / "t")
    assert [entry.target for entry in table.lookup("b")] == ["a x", "x"]
    assert table.lookup("b")[1].reordering == pytest.approx((0.1, 0.2, 0.7, 0.3, 0.3, 0.4))
    assert table.lookup("b")[0].reordering == (1, 1, 1, 1, 1, 1)
    assert table.lookup("b")[0].links == ((0, 1),)
    assert table.lookup("a b")[0].count == 0
    with pytest.raises(TreeglotError, match="is a folder"):
        import_moses(tmp_path / "p", tmp_path)


def test_the_word_that_separates_columns_is_escaped(tmp_path: Path) -> None:
    build_phrase_table(*write(tmp_path, [(["a", "|||"], ["|||", "b"], [(0, 1), (1, 0)])]), tmp_path / "t")
    table = PhraseTable(tmp_path / "t")
    assert table.lookup("|||")[0].target == "|||"
    export_moses(table, tmp_path / "text")
    import_moses(tmp_path / "text", tmp_path / "again")
    assert "&#124;&#124;&#124; ||| &#124;&#124;&#124; ||| 1" in (tmp_path / "text").read_text()
    assert PhraseTable(tmp_path / "again").lookup("|||")[0].target == "|||"


def test_interrupted_work_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeglot.tables import build

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    paths = write(tmp_path, random_corpus(3000))
    monkeypatch.setattr(build, "track", interrupt)
    (tmp_path / "t").write_bytes(b"older")
    with pytest.raises(KeyboardInterrupt):
        build_phrase_table(*paths, tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "e", "f", "t"]


def test_corpus_figures(tmp_path: Path) -> None:
    corpus = read_corpus(*write(tmp_path, [(["a", "b"], ["c"], [(0, 0)]), (["a"], ["d", "d"], [])]))
    assert (len(corpus), corpus.source_tokens, corpus.target_tokens, corpus.links) == (2, 3, 3, 1)
    assert (corpus.source_words, corpus.target_words) == (2, 2) and corpus.size > 0
