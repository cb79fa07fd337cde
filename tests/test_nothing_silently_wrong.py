"""What used to be wrong without a word: settings that were ignored or misread, words cut at odd white space, models mixed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runner import Run
from treeglot import ConfigError, InputError, TreeglotError, alignment
from treeglot.alignment import LexicalTables
from treeglot.bitext import CleaningOptions, TextPair, Truecaser, clean, plan_split, read_bitext, split, write_bitext
from treeglot.bitext.formats import FORMATS
from treeglot.evaluation import Options, evaluate
from treeglot.evaluation.metrics import build_metrics
from treeglot.evaluation.significance import EXACT, FEW, compare, compare_statistics, swap_p
from treeglot.parsers import open_parser, parse_file
from treeglot.trees.wordlinks import WordLinks, read_giza, write_giza
from treeglot.words import BLANKS, split_words

SPACES = [chr(code) for code in range(0x110000) if chr(code).isspace()]
"""Every white space of Unicode."""


# Words


@pytest.mark.parametrize("space", SPACES, ids=lambda space: f"U+{ord(space):04X}")
def test_every_reader_of_words_cuts_at_the_same_white_space(space: str) -> None:
    line = f"a{space}b c"
    assert split_words(line) == (["a", "b", "c"] if space in BLANKS else [f"a{space}b", "c"])


def test_white_space_inside_words_through_alignment_and_extraction(run: Run, tmp_path: Path) -> None:
    """A line of a corpus ends at a line feed only, and only blanks, tabs and line ends separate its words."""
    inside = [space for space in SPACES if space not in BLANKS]
    source = [f"{n}{space}000 euros" for n, space in enumerate(inside)]
    target = [f"{n}{space}000 Euro" for n, space in enumerate(inside)]
    for name, lines in (("s", source), ("t", target)):
        (tmp_path / name).write_bytes("".join(f"{line}\n" for line in lines).encode())
    files = tmp_path / "s", tmp_path / "t"
    aligned = run("align", *files, "--out", tmp_path / "links", "--posteriors", tmp_path / "chances", "--threads", 1)
    assert aligned.code == 0, aligned.err
    links = (tmp_path / "links").read_text().splitlines()
    assert len(links) == len(inside)
    assert all(max(map(int, pair.split("-"))) <= 1 for line in links for pair in line.split())
    (tmp_path / "links").write_text("0-0 1-1\n" * len(inside))
    rules = run(
        "rules", "extract", "hierarchical", "--align", tmp_path / "links", "--source", files[0], "--target", files[1]
    )
    assert rules.code == 0, rules.err
    blocks = rules.out.split("\n\n")
    for n, space in enumerate(inside):
        words = [f"{n}{shown}000" for shown in (space, f"\\u{ord(space):04x}")]  # controls are written as escapes
        assert any(f"{word} ||| {word} ||| " in blocks[n] for word in words), blocks[n]
        assert "\n000 |||" not in blocks[n]
    done = run("trees", "convert", tmp_path / "links", tmp_path / "a.a3", "--from", "pharaoh", "--to", "giza",
               "--source", files[0], "--target", files[1])  # fmt: skip
    assert done.code == 0, done.err
    read = list(read_giza(tmp_path / "a.a3"))
    assert [entry.source for entry in read] == [tuple(split_words(line)) for line in source]
    assert [[link[:2] for link in entry.links] for entry in read] == [[(0, 0), (1, 1)]] * len(inside)
    tables = LexicalTables.count(source, target, ["0-0 1-1"] * len(inside))
    tables.write(str(tmp_path / "lex"))
    counted = (tmp_path / "lex.f2e").read_bytes().decode()
    assert all(f"{n}{space}000" in counted for n, space in enumerate(inside))


def test_posteriors_of_words_with_white_space_inside(tmp_path: Path) -> None:
    text = ["a\u00a0b c"] * 3, ["x y\u2003z w"] * 3
    aligner = alignment.train("own", *text, tmp_path / "model", threads=1)
    forward, reverse = aligner.posteriors(text[0][0], text[1][0])  # type: ignore[attr-defined]
    assert [len(row) for row in (*forward, *reverse)] == [3, 3, 3, 3]


def test_giza_keeps_odd_white_space(tmp_path: Path) -> None:
    words = tuple(f"a{space}b" for space in SPACES if space not in BLANKS)
    write_giza([WordLinks((), (), words, words)], tmp_path / "a.a3")
    [read] = read_giza(tmp_path / "a.a3")
    assert (read.source, read.target) == (words, words)


# Parsers


@pytest.mark.parametrize("changed", ["file", "folder"])
def test_a_run_is_not_continued_with_another_model_of_the_same_name(tmp_path: Path, changed: str) -> None:
    (tmp_path / "in.txt").write_text("a b\nc d\nKILL\n")
    model = tmp_path / "model"
    inside = model
    if changed == "folder":
        (model / "deep").mkdir(parents=True)
        inside = model / "deep" / "weights"
    for text, resumed in (("one", 0), ("one", 2), ("two", 0)):
        inside.write_text(text)
        options = {"model": str(model)}
        with open_parser("parsers_fake:modelled", "en", **options) as parser:
            if text == "one" and not resumed:
                with pytest.raises(RuntimeError):
                    parse_file(parser, tmp_path / "in.txt", conllu=tmp_path / "out", batch_size=1)
                assert (tmp_path / ".out.journal").exists()
                shutil.copy(tmp_path / ".out.journal", tmp_path / "kept")
                (tmp_path / "in.txt").write_text("a b\nc d\nKILL\n")
                continue
            shutil.copy(tmp_path / "kept", tmp_path / ".out.journal")
            parser.harmless = True  # type: ignore[attr-defined]
            summary = parse_file(parser, tmp_path / "in.txt", conllu=tmp_path / "out", batch_size=1)
        assert summary.resumed == resumed
        words = [line.split("\t")[9] for line in (tmp_path / "out").read_text().splitlines() if line[:1].isdigit()]
        assert set(words) == {f"Model={text}"} or resumed


WORKERS = """
import sys
from pathlib import Path
from treeglot.parsers import open_parser, parse_file
if __name__ == "__main__":
    with open_parser("parsers_fake:chain", "en", sleep=0.05) as parser:
        parse_file(parser, sys.argv[1], conllu=sys.argv[2], batch_size=4, workers=2)
"""


@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, kill: signal.Signals) -> None:
    (tmp_path / "in.txt").write_text("a b c\n" * 4000)
    (tmp_path / "main.py").write_text(WORKERS)
    mark = f"TREEGLOT_MARK={tmp_path}"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "TREEGLOT_MARK": str(tmp_path)}

    def marked() -> set[int]:
        alive = set()
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (place / "environ").read_bytes().split(b"\0"):
                    alive.add(int(place.name))
            except OSError:
                continue
        return alive

    command = [sys.executable, tmp_path / "main.py", tmp_path / "in.txt", tmp_path / "out"]
    process = subprocess.Popen(command, env=environment)
    try:
        journal = tmp_path / ".out.journal"
        until = time.monotonic() + 120
        while time.monotonic() < until and not (journal.exists() and journal.stat().st_size > 2000):
            time.sleep(0.05)
        assert len(marked()) >= 3
        process.send_signal(kill)
        process.wait(30)
        until = time.monotonic() + 30
        while time.monotonic() < until and marked():
            time.sleep(0.05)
        assert not marked()
    finally:
        process.kill()


# Alignment


@pytest.fixture
def german(tmp_path: Path) -> tuple[Path, Path]:
    lines = ["Das Haus ist klein", "das Buch ist neu", "ein Haus", "Ein Buch ist klein"] * 3
    others = ["The house is small", "the book is new", "a house", "A book is small"] * 3
    for name, text in (("de", lines), ("en", others)):
        (tmp_path / name).write_text("\n".join(text) + "\n")
    return tmp_path / "de", tmp_path / "en"


def test_a_model_knows_that_it_was_learnt_in_lower_case(run: Run, tmp_path: Path, german: tuple[Path, Path]) -> None:
    model = tmp_path / "model"
    assert run("align", "train", *german, model, "--lowercase", "--threads", 1).code == 0
    outputs = []
    for arguments in (["apply", model, *german], ["apply", model, *german, "--lowercase"], [*german, "--model", model]):
        result = run("align", *arguments, "--threads", 1)
        assert result.code == 0, result.err
        outputs.append(result.out)
    once = run("align", *german, "--lowercase", "--threads", 1)
    assert set(outputs) == {once.out}
    assert alignment.load(model).lowercase
    assert run("align", "train", *german, tmp_path / "cased", "--threads", 1).code == 0
    assert not alignment.load(tmp_path / "cased").lowercase


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--aligner", "thot-hmm"], "other --aligner"),
        (["--set", "prior=0.3"], "other --set"),
        (["--set", "bogus=3"], "other --set"),
        (["--seed", "7"], "other --seed"),
        (["--aligner", "bogus"], "no aligner"),
    ],
)
def test_settings_of_learning_are_not_ignored_where_a_model_is(
    run: Run, tmp_path: Path, german: tuple[Path, Path], options: list[str], says: str
) -> None:
    model = tmp_path / "model"
    learnt = ["--set", "sweeps=0", "--seed", "3", "--model", model]
    assert run("align", *german, *learnt).code == 0
    assert run("align", *german, *learnt, "--aligner", "own").code == 0  # with what it was learnt with
    assert run("align", *german, "--model", model).code == 0
    result = run("align", *german, "--model", model, *options)
    assert result.code == 1 and says in result.err and result.out == ""


def test_an_empty_gold_file_has_no_score(run: Run, tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0\n")
    for text in ("", "\n", "\n\n"):
        (tmp_path / "gold").write_text(text)
        result = run("align", "evaluate", tmp_path / "gold", tmp_path / "links")
        assert result.code == 1 and "no links to score against" in result.err and not result.out


# Options of formats


PO = """\
msgid "one"
msgstr "un"

#, fuzzy
msgid "two"
msgstr "deux"

msgid "file"
msgid_plural "files"
msgstr[0] "fichier"
msgstr[1] "fichiers"
"""


@pytest.mark.parametrize("value", ["0", "no", "off", "false", "FALSE"])
def test_what_says_no_is_no(run: Run, tmp_path: Path, value: str) -> None:
    (tmp_path / "a.po").write_text(PO)
    counts = {}
    for fuzzy in (value, "yes"):
        out = tmp_path / f"{fuzzy}.jsonl"
        assert run("bitext", "convert", tmp_path / "a.po", out, "--option", f"fuzzy={fuzzy}").code == 0
        counts[fuzzy] = len(out.read_text().splitlines())
    assert counts == {value: 3, "yes": 4}


@pytest.mark.parametrize(
    ("name", "option", "says"),
    [
        ("a.po", "plurals=none", "plurals=all|first|skip"),
        ("a.po", "fuzzy=perhaps", "fuzzy=true|false"),
        ("a.po", "fuzy=1", "plurals=all|first|skip"),
        ("a.tmx", "inline=x", "inline=drop|keep"),
        ("a.tmx", "missing=x", "missing=skip|error"),
        ("a.tsv", "id_column=x", "id_column=NUMBER"),
        ("a.tsv", "names=3", "names=NUMBER:NAME,..."),
        ("a.tsv", "columns=1", "columns=NUMBER,NUMBER"),
        ("a.tsv", "columns=1,2,3", "columns=NUMBER,NUMBER"),
    ],
)
def test_values_of_options_are_checked(run: Run, tmp_path: Path, name: str, option: str, says: str) -> None:
    (tmp_path / name).write_text(PO)
    result = run("bitext", "convert", tmp_path / name, tmp_path / "o.jsonl", "--option", option, "-s", "en", "-t", "fr")
    assert result.code == 1 and says in result.err, result.err


def test_values_of_options_are_read_as_their_types(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.po").write_text(PO)
    (tmp_path / "a.tsv").write_text("7\ta\tb\tnote\n")
    assert len(list(read_bitext(tmp_path / "a.po", plurals="Skip"))) == 1
    with pytest.raises(ConfigError, match="plurals"):
        list(read_bitext(tmp_path / "a.po", plurals=1))
    for wrong in ("fuzzy", "obsolete"):
        with pytest.raises(ConfigError, match=wrong):
            list(read_bitext(tmp_path / "a.po", **{wrong: 1}))
    [pair] = read_bitext(tmp_path / "a.tsv", columns="3,2", id_column="1", names="4:kind")
    assert pair == TextPair("b", "a", "7", 1, (("kind", "note"),))
    [pair] = read_bitext(tmp_path / "a.tsv", columns=(2, 3), names={4: "note"})
    assert write_bitext([pair], tmp_path / "b.tsv", extra="note") == 1
    assert (tmp_path / "b.tsv").read_text() == "a\tb\tnote\n"
    out = ["bitext", "convert", tmp_path / "a.tsv", tmp_path / "c.tsv", "--columns", "2,3,1"]
    assert run(*out, "--option", "names=4:note", "--write-option", "extra=note").code == 0
    assert (tmp_path / "c.tsv").read_text() == "a\tb\tnote\n"


@pytest.mark.parametrize("name", FORMATS)
def test_every_option_of_every_format_has_a_type_that_can_be_given(name: str) -> None:
    from treeglot.bitext.format_options import checked_value, declared_options, describe

    examples = {"true|false": "yes", "NUMBER": "3", "NUMBER,NUMBER": "2,1", "NUMBER:NAME,...": "3:x", "NAME,...": "a,b"}
    for function in (FORMATS[name].read, FORMATS[name].write):
        for option, kind in declared_options(function).items():
            if option != "skipped":
                text = describe(kind)
                checked_value(option, examples.get(text, text.split("|")[0]), kind)


def test_json_lines_keep_the_types_of_values(tmp_path: Path) -> None:
    line = '{"source": "a", "target": "b", "id": 7, "score": 0.5, "good": true, "none": null, "text": "0.5", "list": [1, "x"]}'
    (tmp_path / "a.jsonl").write_text(line + "\n")
    pairs = list(read_bitext(tmp_path / "a.jsonl"))
    assert pairs[0].get("score") == "0.5" and pairs[0].id == "7"
    write_bitext((pair.swapped().swapped() for pair in pairs), tmp_path / "b.jsonl")
    assert json.loads((tmp_path / "b.jsonl").read_text()) == json.loads(line)


# Languages


@pytest.mark.parametrize(
    ("language", "stem"),
    [("en", "porter"), ("en-GB", "porter"), ("EN", "porter"), ("english", "porter"), ("eng", "porter"),
     ("fr-CA", "snowball-french"), ("fr_FR", "snowball-french"), ("nb-NO", "snowball-norwegian"), ("zh", "none")],
)  # fmt: skip
def test_meteor_knows_its_stemmer_by_any_tag(language: str, stem: str) -> None:
    pytest.importorskip("nltk")
    [metric] = build_metrics(["meteor"], [["the cats sat"]], Options(language=language))
    assert f"stem:{stem}" in metric.signature


def test_a_language_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("nltk")
    (tmp_path / "a").write_text("x\n")
    result = run("evaluate", tmp_path / "a", tmp_path / "a", "-m", "meteor", "--language", "12")
    assert result.code == 1 and "is not a language" in result.err


# Significance


def gaussian(rng: np.random.Generator, count: int) -> np.ndarray:
    """Statistics of TER: edits and reference words of sentences of one quality."""
    return np.stack([rng.poisson(6, count), np.full(count, 20)], axis=1).astype(float)


@pytest.mark.parametrize("count", [1, 2, 5, 10, 20])
def test_tests_of_few_sentences_hold_their_level(count: int) -> None:
    """Both systems are equally good: p is below 0.05 in at most one case of twenty, but for chance (three deviations)."""
    [metric] = build_metrics(["ter"], [["a b c"] * count])
    rng = np.random.default_rng(count)
    trials, level = 200, 0.05
    for test in ("bootstrap", "randomization", "sign"):
        rejected = 0
        for trial in range(trials):
            tables = gaussian(rng, count), gaussian(rng, count)
            result = compare_statistics(metric, *tables, test, samples=100, seed=trial)
            rejected += result.p < level
            assert result.least_p == min(1.0, 2 / 2**count) <= result.p + 1e-12
        assert rejected <= trials * level + 3 * (trials * level * (1 - level)) ** 0.5, (test, rejected)


def test_the_exact_test_is_the_limit_of_the_random_one() -> None:
    rng = np.random.default_rng(1)
    [metric] = build_metrics(["ter"], [["a"] * 8])
    before, after = gaussian(rng, 8), gaussian(rng, 8)
    exact, how = swap_p(metric, before, after, 10, rng)
    assert how == "|ar:exact"
    differences = []
    for choice in range(2**8):  # one by one
        swap = [bool(choice >> n & 1) for n in range(8)]
        pair = [np.where(np.array(swap)[:, None], a, b).sum(axis=0) for a, b in ((before, after), (after, before))]
        differences.append(abs(float(metric.score(pair[0]) - metric.score(pair[1]))))
    observed = abs(float(metric.score(after.sum(axis=0)) - metric.score(before.sum(axis=0))))
    assert exact == pytest.approx(np.mean(np.array(differences) >= observed - 1e-9))


def test_what_a_test_of_few_sentences_says() -> None:
    for count in (1, EXACT, EXACT + 1, FEW - 1, FEW):
        references = [f"a b c d {n}" for n in range(count)]
        [result] = compare(["a b c e x"] * count, references, references, ["ter"], test="bootstrap", samples=50)
        assert bool(result.warning) == (count < FEW) == ("warning" in result.to_dict())
        assert ("no p can be below" in str(result)) == (count < FEW)
        assert result.p >= result.least_p
        assert ("ar:" in result.signature) == (count < FEW)


# Cleaning and splitting


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_ratio", -1.0), ("max_ratio", float("nan")), ("max_ratio", float("inf")), ("max_ratio", 0.5),
     ("max_word", -1), ("examples", -1), ("min_length", -1), ("max_length", 0)],
)  # fmt: skip
def test_limits_that_drop_everything_are_refused(run: Run, tmp_path: Path, name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name.removeprefix("max_").removeprefix("min_")):
        CleaningOptions(**{name: value})
    (tmp_path / "a").write_text("a b\n")
    (tmp_path / "b").write_text("c d\n")
    files = [tmp_path / item for item in ("a", "b", "c", "d")]
    result = run("bitext", "clean", *files, f"--{name.replace('_', '-')}", value)
    assert result.code == 1 and not files[2].exists(), result


twins = st.lists(st.sampled_from(["café", "Äpfel", "ÅNGSTRÖM", "ﬁn", "ﾊﾝ", "ǅ", "ς", "İ"]), min_size=1, max_size=3)


@given(st.lists(twins, min_size=8, max_size=20, unique_by=tuple), st.integers(0, 3))
def test_twins_in_other_forms_of_unicode_go_to_the_same_part(sources: list[list[str]], seed: int) -> None:
    pairs = []
    for n, words in enumerate(sources):
        text = " ".join(words)
        for form in ("NFC", "NFD"):
            pairs.append(TextPair(unicodedata.normalize(form, text), f"target {n} {form}"))
    plan = plan_split(pairs, dev=2, test=2, seed=seed)
    for first, second in zip(pairs[::2], pairs[1::2], strict=True):
        assert plan.part(first) == plan.part(second)


def test_twins_in_other_forms_of_unicode_are_duplicates() -> None:
    pairs = [TextPair(unicodedata.normalize(form, "café"), "coffee") for form in ("NFC", "NFD")]
    for normalization in ("NFC", "none"):
        kept, report = clean(pairs, CleaningOptions(normalization=normalization))  # type: ignore[arg-type]
        assert len(list(kept)) == 1 and report.dropped["duplicate"] == 1


@pytest.mark.parametrize("size", ["nan", "inf", "-inf", "-1", "1.5", "1e300"])
@pytest.mark.parametrize("part", ["dev", "test"])
def test_impossible_sizes_of_parts(run: Run, tmp_path: Path, part: str, size: str) -> None:
    for name in ("a.en", "a.fr"):
        (tmp_path / name).write_text("a\nb\nc\n")
    files = [tmp_path / "a.en", tmp_path / "a.fr"]
    result = run("bitext", "split", *files, "--out", tmp_path / "o", f"--{part}", size, "-s", "en", "-t", "fr")
    assert result.code == 1 and result.err.startswith("treeglot: "), result
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "a.fr"]


def test_a_part_does_not_replace_what_is_split(run: Run, tmp_path: Path) -> None:
    text = "".join(f"word {n}\n" for n in range(100))
    for name in ("c.train.en", "c.train.fr"):
        (tmp_path / name).write_text(text)
    files = [tmp_path / "c.train.en", tmp_path / "c.train.fr"]
    sizes = ["--dev", 10, "--test", 10, "-s", "en", "-t", "fr"]
    result = run("bitext", "split", *files, "-o", tmp_path / "c", *sizes)
    assert result.code == 1 and "is read, too" in result.err
    assert {path.read_text() for path in files} == {text} and len(list(tmp_path.iterdir())) == 2
    assert run("bitext", "split", *files, "-o", tmp_path / "d", *sizes).code == 0


def test_a_pipe_that_is_read_twice_is_refused(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tsv")
    result = run("bitext", "split", tmp_path / "a.tsv", "-o", tmp_path / "o", "--dev", 1)
    assert result.code == 1 and "cannot be read twice" in result.err


# Small ones


def test_a_place_that_cannot_be_written_is_said_before_the_work(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a b\n")
    for output in ("--conllu", "--penn", "--jsonl"):
        result = run("parse", tmp_path / "in.txt", "--lang", "xx", "--parser", "udpipe", output, tmp_path / "no" / "x")
        assert result.code == 1 and "the folder does not exist" in result.err
        result = run("parse", tmp_path / "in.txt", "--lang", "xx", "--parser", "udpipe", output, tmp_path / "in.txt")
        assert result.code == 1 and "is read, too" in result.err


def test_no_metric_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    for given_metrics in ("", ",", " "):
        result = run("evaluate", tmp_path / "a", tmp_path / "a", "-m", given_metrics)
        assert result.code == 1 and "no metric is named" in result.err


def test_a_truecaser_of_nothing_is_not_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    result = run("bitext", "truecase", "train", tmp_path / "empty", "--model", tmp_path / "model")
    assert result.code == 1 and "no word's case was learnt" in result.err and not (tmp_path / "model").exists()
    with pytest.raises(TreeglotError, match="no word's case"):
        Truecaser.train([["Word"]]).save(tmp_path / "model")


def test_a_limit_below_one_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.penn").write_text("(S (N a))\n")
    assert run("trees", "stats", tmp_path / "a.penn", "--limit", "-1").code == 2
    assert run("align", tmp_path / "a.penn", tmp_path / "a.penn", "--threads", "9" * 20).code == 2


def test_an_empty_category_has_a_head() -> None:
    from treeglot.trees.constituency import ConstituencyTree
    from treeglot.trees.heads import find_heads
    from treeglot.trees.tokens import Tokens

    tokens = Tokens(["a", "b", "and", "c"], xpos=["NN", "", "CC", ""])
    for label in ("", "NP"):
        tree = ConstituencyTree.build(tokens, ("S", (label, 0, 1), 2, ("", 3)))
        for table in ("penn", "tiger", "ctb", "french"):
            assert len(find_heads(tree, table)) == len(tree)


def test_quiet_says_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a b c .\n" * 5)
    for arguments in (
        ["lm", "estimate", "--text", tmp_path / "t", "--out", tmp_path / "arpa", "--order", "2"],
        ["lm", "compile", tmp_path / "arpa", tmp_path / "lm"],
        ["align", "train", tmp_path / "t", tmp_path / "t", tmp_path / "model"],
    ):
        assert run(*arguments).err
        if arguments[-1] == tmp_path / "model":
            shutil.rmtree(tmp_path / "model")
        quiet = run("-q", *arguments)
        assert quiet.code == 0 and quiet.err == "", quiet


def test_scores_of_nothing_are_refused() -> None:
    with pytest.raises(InputError):
        evaluate([], [])
    assert split([TextPair("a", "b")] * 3).train


# Numbers that are shown


sentences = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=9).map(" ".join), min_size=1, max_size=4)


@given(st.data(), sentences)
def test_the_details_of_bleu_are_those_of_sacrebleu(data: st.DataObject, references: list[str]) -> None:
    from sacrebleu.metrics.bleu import BLEU

    size = len(references)
    hypotheses = data.draw(st.lists(st.sampled_from([*references, "a b", "", "c c c d"]), min_size=size, max_size=size))
    theirs = BLEU(force=True).corpus_score(hypotheses, [references])
    [ours] = evaluate(hypotheses, references, ["bleu"])
    counts = f"hyp_len = {theirs.sys_len:.0f} ref_len = {theirs.ref_len:.0f})"
    assert ours.details.endswith(counts)
    assert f"(BP = {theirs.bp:.3f} " in ours.details
    if theirs.ref_len:
        assert f"ratio = {theirs.sys_len / theirs.ref_len:.3f} " in ours.details
    matched = "/".join(f"{100 * c / t if t else 0:.1f}" for c, t in zip(theirs.counts, theirs.totals, strict=True))
    assert ours.details.startswith(matched)


def test_what_is_passed_over_in_a_catalogue_is_counted(tmp_path: Path) -> None:
    from collections import Counter

    (tmp_path / "a.po").write_text(PO + '\nmsgid "three"\nmsgstr ""\n\n#~ msgid "old"\n#~ msgstr "vieux"\n')
    for options, counts in (
        ({}, {"fuzzy": 1, "untranslated": 1, "obsolete": 1}),
        ({"plurals": "skip"}, {"fuzzy": 1, "plural": 1, "untranslated": 1, "obsolete": 1}),
        ({"fuzzy": True, "obsolete": True, "untranslated": True}, {}),
    ):
        skipped: Counter[str] = Counter()
        pairs = list(read_bitext(tmp_path / "a.po", skipped=skipped, **options))
        assert skipped == counts and len(pairs) == 6 - sum(counts.values()) - (skipped["plural"] or 0), options


def test_when_cleaning_stops_and_why() -> None:
    def name(option: str) -> str:
        return f"--{option}"

    pairs = [
        TextPair("a", "b"),
        TextPair("a", "b"),
        TextPair("", "c"),
        TextPair("d", "e " * 20),
        TextPair("f", "g " * 30),
    ]
    kept, report = clean(pairs, CleaningOptions(max_ratio=9))
    assert len(list(kept)) == 1 and report.dropped_share == 0.6 and report.main_reason == "ratio"
    report.check(0.6, name, name)
    with pytest.raises(InputError, match=r"60\.0 % of 5 pairs would be dropped, more than 59 %") as caught:
        report.check(0.59, name, name)
    assert "(2)" in caught.value.message and "line 4" in caught.value.message and "--max_ratio" in caught.value.remedy
    assert "--max_dropped" in caught.value.remedy


def test_sides_of_unequal_length_are_refused(tmp_path: Path, german: tuple[Path, Path]) -> None:
    text = [path.read_text().splitlines() for path in german]
    aligner = alignment.train("own", *text, tmp_path / "model", threads=1, sweeps=0)
    for source, target in ((text[0][1:], text[1]), (text[0], text[1][:-1])):
        for call in (aligner.align, aligner.link_chances):  # type: ignore[attr-defined]
            with pytest.raises(TreeglotError, match="source lines, but"):
                call(source, target)
        with pytest.raises(TreeglotError, match="source lines, but"):
            alignment.train("own", source, target, tmp_path / "other")


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_parse(tmp_path: Path, workers: int) -> None:
    (tmp_path / "in.txt").write_text("")
    outputs = {name: tmp_path / name for name in ("conllu", "penn", "jsonl")}
    with open_parser("parsers_fake:chain", "en") as parser:
        summary = parse_file(parser, tmp_path / "in.txt", workers=workers, **outputs)
    assert (summary.sentences, summary.words, summary.workers) == (0, 0, 1)
    assert all(path.exists() for path in outputs.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conllu", "in.txt", "jsonl", "penn"]
