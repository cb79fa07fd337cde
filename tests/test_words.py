"""One definition of a word: the core, every Python room and every metric count the same words in the same text."""

from __future__ import annotations

import ast
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeglot
from cli_runner import Run
from treeglot import alignment, lm, words
from treeglot.bitext import CleaningOptions, TextPair, Truecaser, clean, count_bitext
from treeglot.evaluation.metrics import Options, build_metrics
from treeglot.pipeline.config import CONFIG_NAME
from treeglot.pipeline.project import Project
from treeglot.pipeline.translation import Translator
from treeglot.tables import PhraseTable, RuleTable, read_corpus
from treeglot.tuning.nbest import NBestEntry, pack
from treeglot.tuning.objective import Objective
from treeglot.words import hide_white_space, is_blank, show_white_space, split_words

WHITE_SPACE = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
INSIDE = [space for space in WHITE_SPACE if space not in " \t\r\n"]
USUAL = ["\u00a0", "\u3000", "\u2009", "\u0085", "\v"]

# Every line has four words on either side, one of them with white space inside.
SOURCE = [f"wir haben 10{space}000 häuser" for space in USUAL] + [f"wir sehen 20{space}000 autos" for space in USUAL]
TARGET = [f"we have 10{space}000 houses" for space in USUAL] + [f"we see 20{space}000 cars" for space in USUAL]
COUNT = 4 * len(SOURCE)


@given(st.text(st.sampled_from([*WHITE_SPACE, "a", "b", "\u200b"])))
def test_the_core_cuts_at_the_same_places(line: str) -> None:
    expected = [word for word in "".join(" " if c in "\t\r\n" else c for c in line).split(" ") if word]
    assert split_words(line) == expected and is_blank(line) == (not expected)
    text = " ".join(expected) or "x"
    arpa = io.BytesIO()
    assert lm.estimate([text.encode()], arpa, order=1).tokens == len(expected or "x")
    if "\n" not in line:
        sizes = alignment.symmetrize_lines([" ".join(f"{n}-{n}" for n in range(len(expected)))], [""], "union")
        assert len(split_words(sizes[0])) == len(expected)


@given(st.text(st.sampled_from([*WHITE_SPACE, "a", "b"])))
def test_hidden_white_space_comes_back(line: str) -> None:
    hidden = hide_white_space(line)
    assert len(hidden.split()) == len(split_words(line))
    assert show_white_space(hidden) == " ".join(split_words(line))


def test_all_white_space_of_unicode_is_known() -> None:
    assert set(words._HIDE) == set(map(ord, INSIDE))
    assert all(0xFDD0 <= ord(stand_in) <= 0xFDEF for stand_in in words._HIDE.values())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("words")
    for name, lines in (("de", SOURCE), ("en", TARGET)):
        (folder / f"raw.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    parts = "".join(f'[data.{part}]\nsource = "raw.de"\ntarget = "raw.en"\n' for part in ("train", "dev", "test"))
    (folder / CONFIG_NAME).write_text(
        f'[languages]\nsource = "de"\ntarget = "en"\n[text]\ntokenizer = "space"\n{parts}'
        "[lm]\norder = 2\n[systems.phrases]\n[systems.hierarchical]\n",
        encoding="utf-8",
    )
    trained = Project(folder)
    trained.train(print)
    return trained


def lines_of(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n")[:-1]


def test_training_counts_the_same_words(project: Project) -> None:
    for part in ("train", "dev", "test"):
        source, target = project.corpus(part)
        assert lines_of(source) == SOURCE and lines_of(target) == TARGET
    pairs = [TextPair(*pair) for pair in zip(SOURCE, TARGET, strict=True)]
    stats = count_bitext(pairs)
    assert (stats.source.words, stats.target.words) == (COUNT, COUNT)
    links = [alignment.parse_links(line) for line in lines_of(project.links)]
    assert all(max(link) < 4 for line in links for link in line) and max(map(max, (max(line) for line in links))) == 3
    corpus = read_corpus(*project.corpus("train"), project.links)
    assert (corpus.source_tokens, corpus.target_tokens) == (COUNT, COUNT)
    model = lm.LanguageModel(project.model)
    scores = list(model.score_lines(line.encode() for line in TARGET))
    assert sum(score.tokens for score in scores) == COUNT and not any(score.unknown for score in scores)
    phrases = PhraseTable(project.table)
    (rules,) = [RuleTable(project.rules(table)) for table in project.system("hierarchical").tables]
    for space in USUAL:
        number = f"10{space}000"
        assert [entry.target for entry in phrases.lookup(number)] == [number]
        assert [entry.target for entry in phrases.search(number, whole=True)] == [number]
        (rule,) = rules.lookup(number)
        assert rule.target == f"10\\u{ord(space):04x}000", "text of rules shows white space inside words"
    wholes = {rule.source for rule in rules.search("10*000", whole=True)}
    assert len(wholes) == len(USUAL) and not list(rules.search("000")), "a part of a word is not a word"
    assert {len(split_words(entry.source)) for entry in phrases if "10\u00a0000" in entry.source} >= {1, 2, 3, 4}


@pytest.mark.parametrize("system", ["phrases", "hierarchical"])
def test_translations_have_the_same_words(project: Project, system: str, run: Run, tmp_path: Path) -> None:
    with Translator(project, system) as translator:
        for tokenized in (True, False):
            results = list(translator.lines(SOURCE, tokenized=tokenized))
            assert [len(result.sentence) for result in results] == [4] * len(SOURCE)
            assert [result.text for result in results] == TARGET
    source, out = project.corpus("test")[0], tmp_path / "out"
    done = run("translate", source, "-o", out, "-p", project.folder, "--system", system, "--tokenized")
    assert done.code == 0 and lines_of(out) == TARGET
    explained = run("translate", source, "-p", project.folder, "--system", system, "--tokenized", "--explain", "--json")
    rows = [json.loads(line) for line in explained.out.split("\n") if line]
    assert [row["translation"] for row in rows] == TARGET


def test_metrics_and_tuning_count_the_same_words() -> None:
    metrics = build_metrics(["bleu", "nist", "meteor", "ter"], [TARGET], Options(tokenize="none"))
    rows = {metric.name: metric.statistics(TARGET) for metric in metrics}
    assert rows["BLEU"][:, 0].sum() == rows["BLEU"][:, 1].sum() == COUNT
    assert rows["NIST"][:, 5].sum() == rows["NIST"][:, 10].sum() == COUNT
    assert rows["METEOR"][:, 2].sum() == rows["METEOR"][:, 3].sum() == COUNT
    assert rows["TER"][:, 1].sum() == COUNT and rows["TER"][:, 0].sum() == 0
    other = [line.replace("\u00a0", "\u2009") for line in TARGET]
    changed = {metric.name: metric.statistics(other) for metric in metrics}
    assert changed["BLEU"][:, 2].sum() == COUNT - 2, "another space makes another word"
    assert changed["TER"][:, 0].sum() == 2
    packed = pack([[NBestEntry(line, [0.0])] for line in other], ["lm"], Objective("bleu", TARGET))
    assert np.array_equal(packed.statistics[:, 4], changed["BLEU"][:, 0])
    assert np.array_equal(packed.statistics[:, :4], changed["BLEU"][:, 2:6])


def test_cleaning_and_casing_keep_words_whole(tmp_path: Path) -> None:
    pairs = [TextPair(f"  {source}\t", target) for source, target in zip(SOURCE, TARGET, strict=True)]
    kept, report = clean(pairs, CleaningOptions(unit="token", normalization="none", min_length=4, max_length=4))
    assert [(pair.source, pair.target) for pair in kept] == list(zip(SOURCE, TARGET, strict=True))
    assert report.kept == report.changed == len(SOURCE)
    truecaser = Truecaser.train([["x", f"A{space}B"] for space in USUAL])
    truecaser.save(tmp_path / "model")
    assert Truecaser.load(tmp_path / "model").truecase(["a\u00a0b"]) == ["A\u00a0B"]


@pytest.mark.parametrize("name", ["own", "thot-hmm", "eflomal"])
def test_aligners_count_the_same_words(name: str, tmp_path: Path) -> None:
    if name != "own":
        pytest.importorskip(name.partition("-")[0], reason=f"pip install 'treeglot[{name.partition('-')[0]}]'")
    aligner = alignment.train(name, SOURCE * 3, TARGET * 3, tmp_path / "model")
    for lines in aligner.align(SOURCE, TARGET):
        assert max(max(link) for line in lines for link in alignment.parse_links(line)) == 3
    lexicon = {word for row in aligner.lexicon() for word in (row.source, row.target)}
    assert {f"10{space}000" for space in USUAL} <= lexicon


# What may cut at all white space: text that is not tokenised, numbers, tables of our own.
MAY_SPLIT = {
    "alignment/sentences.py": "blanks inside of a word",
    "alignment/subtrees/training.py": "words of trees become words of a line",
    "alignment/subtrees/words.py": "words of trees become words of a line",
    "bitext/cleaning.py": "running text",
    "bitext/scripts.py": "running text",
    "bitext/segmenters.py": "running text",
    "bitext/pair.py": "compares running text",
    "bitext/tokenization.py": "running text",
    "evaluation/metrics.py": "what a tokeniser of sacreBLEU made of running text",
    "pipeline/treebank.py": "links as numbers, and blanks inside of a word",
    "pipeline/subtree_phrases.py": "words of trees become words of a line",
    "search/weights.py": "numbers",
    "tuning/objective.py": "chrF takes out all white space",
}
ROOMS = ("alignment", "bitext", "cli", "evaluation", "grammars", "lm", "pipeline", "search", "tables", "tuning")


def test_tokenised_text_is_not_cut_at_all_white_space() -> None:
    package = Path(treeglot.__file__).parent
    paths = [path for room in ROOMS for path in (package / room).rglob("*.py")]
    paths += [package / "trees/corpus.py", package / "trees/convert.py"]
    cutting = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute)
            passed = isinstance(node, ast.Attribute) and ast.unparse(node) in ("str.split", "str.rsplit")
            if passed or (called and node.func.attr in ("split", "rsplit")):  # type: ignore[attr-defined]
                cutting.add(path.relative_to(package).as_posix())
    assert cutting == set(MAY_SPLIT), "cut tokenised text with treeglot.words.split_words"
