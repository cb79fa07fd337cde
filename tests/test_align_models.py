"""Training, saving, loading and applying aligners; their tables; the commands."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treeglot import TreeglotError, alignment
from treeglot._core import align as core
from treeglot.alignment.lexical import LexicalTables
from treeglot.cli.align import app
from treeglot.evaluation.alignment import AlignmentScore, Gold, score_alignment

WORDS = {f"s{k}": f"t{k}" for k in range(40)}


def made_up(sentences: int, seed: int = 3) -> tuple[list[str], list[str], list[set[tuple[int, int]]]]:
    """Word-for-word translations with swapped neighbours, and the true links."""
    draw = random.Random(seed)
    source, target, gold = [], [], []
    for _ in range(sentences):
        words = draw.choices(list(WORDS), k=draw.randint(1, 9))
        order = list(range(len(words)))
        for k in range(len(order) - 1):
            if draw.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        source.append(" ".join(words))
        target.append(" ".join(WORDS[words[k]] for k in order))
        gold.append({(i, j) for j, i in enumerate(order)})
    return source, target, gold


def score(lines: list[str], gold: list[set[tuple[int, int]]]) -> AlignmentScore:
    return score_alignment([alignment.parse_links(line) for line in lines], [Gold(links) for links in gold])


def test_finds_the_links_and_translations(tmp_path: Path) -> None:
    source, target, gold = made_up(400)
    aligner = alignment.train("own", source, target, tmp_path / "model")
    assert score(aligner.align(source, target).symmetrized("intersection"), gold).aer < 0.05
    rows = {row.source: row.target for row in aligner.lexicon(0.5)}
    assert rows == WORDS
    fresh = made_up(50, seed=99)
    assert score(alignment.load(tmp_path / "model").align(*fresh[:2]).symmetrized(), fresh[2]).aer < 0.1


def test_saved_model_aligns_as_in_training_and_threads_change_nothing(tmp_path: Path) -> None:
    source, target, _ = made_up(700)
    source[5] = target[9] = ""
    results = []
    for threads in (1, 2, 3):
        aligner = alignment.train("own", source, target, tmp_path / str(threads), threads=threads)
        results.append(aligner.align(source, target))
        assert (tmp_path / str(threads) / "model.tgwa").read_bytes() == (tmp_path / "1" / "model.tgwa").read_bytes()
    assert results[0] == results[1] == results[2]
    loaded = alignment.load(tmp_path / "2", threads=1)
    assert loaded.align(source, target) == results[0]
    assert loaded.align(source[100:103], target[100:103]).forward == results[0].forward[100:103]
    assert results[0].forward[5] == results[0].reverse[9] == ""


def test_unknown_words_and_long_sentences(tmp_path: Path) -> None:
    source, target, _ = made_up(200)
    aligner = alignment.train("own", source, target, tmp_path / "model")
    assert aligner.align(["s1 Zürich s2"], ["t1 Zürich t2"]).symmetrized("intersection") == ["0-0 1-1 2-2"]
    assert aligner.align(["never seen"], ["auch neu"]).forward[0].count("-") <= 2
    assert aligner.align([""], [""]) == ([""], [""])
    words = ["s1", "s2", "s3"] * 3400
    (line,) = aligner.align([" ".join(words)], [" ".join(WORDS[word] for word in words)]).symmetrized("intersection")
    links = alignment.parse_links(line)
    assert len(links) > 10_000 and all(i == j for i, j in links)
    with pytest.raises(TreeglotError, match="65,535") as caught:
        aligner.align(["s1", "s1 " * 66_000], ["t1", "t1"])
    assert caught.value.line == 2


def test_posteriors_are_chances(tmp_path: Path) -> None:
    source, target, _ = made_up(200)
    aligner = alignment.train("own", source, target, tmp_path / "model")
    assert isinstance(aligner, alignment.backend("own"))
    forward, reverse = aligner.posteriors("s1 s2 s3", "t1 t3")  # type: ignore[attr-defined]
    assert [len(row) for row in forward] == [2, 2, 2]
    assert all(sum(row[j] for row in forward) <= 1.001 for j in range(2))
    assert all(sum(row) <= 1.001 for row in reverse)
    assert forward[0][0] > 0.8 and reverse[2][1] > 0.8
    assert aligner.posteriors("", "t1") == ([], [])  # type: ignore[attr-defined]


def test_damaged_models(tmp_path: Path) -> None:
    alignment.train("own", *made_up(50)[:2], tmp_path / "model")
    path = tmp_path / "model" / "model.tgwa"
    good = path.read_bytes()
    draw = random.Random(1)
    for size in (0, 7, 79, 80, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:size])
        with pytest.raises(RuntimeError):
            core.Model(str(path))
        with pytest.raises(TreeglotError, match="checksum"):
            alignment.load(tmp_path / "model")
    for _ in range(50):
        at = draw.randrange(len(good))
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << draw.randrange(8)]) + good[at + 1 :])
        with pytest.raises(RuntimeError):
            core.Model(str(path))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(TreeglotError, match="2 source lines, but 1"):
        alignment.train("own", ["a", "b"], ["a"], tmp_path / "m")
    with pytest.raises(TreeglotError, match="no sentence pair"):
        alignment.train("own", ["", "b"], ["a", ""], tmp_path / "m")
    with pytest.raises(TreeglotError, match="no aligner 'giza'"):
        alignment.train("giza", ["a"], ["a"], tmp_path / "m")
    with pytest.raises(TreeglotError, match="no option 'priors'"):
        alignment.train("own", ["a"], ["a"], tmp_path / "m", priors=1)
    with pytest.raises(TreeglotError, match="prior is -1"):
        alignment.train("own", ["a"], ["a"], tmp_path / "m", prior=-1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(TreeglotError, match="exists already"):
        alignment.train("own", ["a"], ["a"], tmp_path / "full")
    assert {path.name for path in tmp_path.iterdir()} == {"full"}


def test_lexical_tables_equal_moses(data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = data("reference/moses-str")
    lines = [
        (folder / name).read_text().splitlines() for name in ("corpus.de", "corpus.en", "align.grow-diag-final-and")
    ]
    table = LexicalTables.count(*lines)
    table.write(str(tmp_path / "lex"))
    for name in ("f2e", "e2f"):
        ours, theirs = ((place / f"lex.{name}").read_text().splitlines() for place in (tmp_path, folder))
        assert sorted(ours) == sorted(theirs)
    assert table.target_given_source("men", "männer") == pytest.approx(0.7391304, abs=1e-7)
    assert table.source_given_target("männer", "men") == pytest.approx(0.8947368, abs=1e-7)
    assert table.target_given_source("nowhere", "männer") == 0


def test_hansards(data: Callable[[str], Path], tmp_path: Path) -> None:
    """The test sentences alone are hardly enough to learn from; the development part keeps the quality honest."""
    folder = data("words/hansards-en-fr")
    sides = [
        [
            line.split(">", 1)[1].removesuffix("</s>").strip().lower()
            for line in (folder / name).read_text().splitlines()
        ]
        for name in ("test.e", "test.f")
    ]
    for side, name in zip(sides, ("e", "f"), strict=True):
        (tmp_path / name).write_text("".join(line + "\n" for line in side))
    command = ["run", str(tmp_path / "e"), str(tmp_path / "f"), "--out", str(tmp_path / "links")]
    assert CliRunner().invoke(app, command).exit_code == 0
    command = ["evaluate", str(folder / "test.wa.train"), str(tmp_path / "links"), "--format", "naacl", "--json"]
    result = CliRunner().invoke(app, command)
    values = json.loads(result.stdout)
    assert values["aer"] < 0.32
    assert values["sure"] == sum(
        line.endswith("S") for line in set((folder / "test.wa.train").read_text().splitlines())
    )


@pytest.mark.parametrize("name", ["thot-hmm", "thot-fastalign", "thot-ibm4", "thot-eflomal", "eflomal"])
def test_other_backends(name: str, tmp_path: Path) -> None:
    pytest.importorskip("thot" if name.startswith("thot") else "eflomal")
    source, target, gold = made_up(150)
    source[3] = ""
    aligner = alignment.train(name, source, target, tmp_path / "model", seed=7)
    result = aligner.align(source, target)
    gold[3] = set()
    assert score(result.symmetrized("intersection"), gold).aer < 0.25
    again = alignment.load(tmp_path / "model")
    assert again.align(source, target) == result
    assert again.align(source[10:20], target[10:20]).forward == result.forward[10:20]
    fresh = made_up(20, seed=5)
    assert score(again.align(*fresh[:2]).symmetrized(), fresh[2]).aer < 0.4
    assert ("s1", "t1") in {(row.source, row.target) for row in aligner.lexicon(0.3)}


def test_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "thot.alignment", None)
    with pytest.raises(TreeglotError, match=r"thot is not there(.|\n)*pip install 'treeglot\[thot\]'"):
        alignment.train("thot-hmm", ["a"], ["b"], tmp_path / "m")


def test_score() -> None:
    result = score_alignment([{(0, 0), (1, 1), (2, 2)}], [Gold({(0, 0)}, {(1, 1)})])
    assert (result.precision, result.recall, result.aer) == (2 / 3, 1.0, 1 - 3 / 4)
    limited = score_alignment([{(0, 0), (1, 1), (2, 2)}], [Gold({(0, 0)}, words=({0, 1}, {0}))])
    assert limited.precision == 1
    assert score_alignment([[]], [Gold([])]).aer == 0
    assert str(result) == "AER 25.00 precision 66.67 recall 100.00 F1 80.00"
    with pytest.raises(TreeglotError, match="links of 1 pairs"):
        score_alignment([[]], [])


class TestCommands:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        source, target, _ = made_up(120)
        for name, lines in (("a.src", source), ("a.tgt", target)):
            (tmp_path / name).write_text("".join(line + "\n" for line in lines))
        return tmp_path

    def run(self, *arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    def test_all_ways_give_the_same(self, files: Path) -> None:
        pair = files / "a.src", files / "a.tgt"
        plain = self.run(*pair)
        assert plain.count("\n") == 120
        extra = ["--forward", files / "f", "--reverse", files / "r", "--heuristic", "union"]
        union = self.run(*pair, "--model", files / "kept", *extra)
        assert self.run("symmetrize", files / "f", files / "r", "--heuristic", "union") == union
        assert self.run("run", *pair, "--model", files / "kept") == plain
        self.run("train", *pair, files / "model", "--threads", 2)
        assert self.run("apply", files / "model", *pair) == plain
        assert self.run("symmetrize", files / "f", files / "r") == plain
        assert self.run("symmetrize", files / "f", files / "r", "--heuristic", "forward") == (files / "f").read_text()
        self.run(*pair, "--out", files / "links.gz")
        self.run("lexicon", *pair, files / "links.gz", files / "lex")
        assert "t1 s1 1.0000000" in (files / "lex.f2e").read_text() or "t1 s1 0.9" in (files / "lex.f2e").read_text()
        assert self.run("evaluate", files / "f", files / "f").startswith("AER 0.00")

    def test_evaluation_by_classes(self, tmp_path: Path) -> None:
        (tmp_path / "gold").write_text("0-0 1-1 2-2-P\n0-0\n")
        (tmp_path / "links").write_text("0-0 1-2 2-2\n0-1\n0-0\n")
        (tmp_path / "text").write_text("the house .\nthe\nmore words\n")
        (tmp_path / "tags").write_text("D N P\nD\n")
        files = [tmp_path / "gold", tmp_path / "links"]
        assert (
            self.run("evaluate", *files, "--alpha", 0.2)
            == "AER 57.14 precision 50.00 recall 33.33 F1 40.00 F0.2 35.71\n"
        )
        lines = self.run("evaluate", *files, "--text", tmp_path / "text", "--tags", tmp_path / "tags").splitlines()
        assert lines[0].startswith("AER 57.14")
        classes = dict(line.split(": ") for line in lines[1:])
        assert set(classes) == {"2 to 5 times", "once", "punctuation", "D", "N", "P"}
        assert (
            classes["D"] == classes["2 to 5 times"] == "AER 50.00 precision 50.00 recall 50.00 F1 50.00 (2 sure links)"
        )
        assert classes["P"].startswith("AER 0.00 precision 100.00")
        values = json.loads(self.run("evaluate", *files, "--tags", tmp_path / "tags", "--alpha", 1, "--json"))
        assert (values["f1"], values["f_alpha"]) == (pytest.approx(0.4), 0.5)
        assert values["classes"]["N"]["recall"] == 0
        assert sum(part["sure"] for part in values["classes"].values()) == values["sure"]
        (tmp_path / "tags").write_text("D N\nD\n")
        with pytest.raises(TreeglotError, match="2 words with classes"):
            self.run("evaluate", *files, "--tags", tmp_path / "tags")
        (tmp_path / "tags").write_text("D N P\n")
        with pytest.raises(TreeglotError, match="there is a pair 2"):
            self.run("evaluate", *files, "--tags", tmp_path / "tags")

    def test_options_of_the_aligner(self, files: Path) -> None:
        pair = files / "a.src", files / "a.tgt"
        self.run(*pair, "--set", "hmm_iterations=1", "--set", "prior=0.01")
        for bad in ("prior", "prior=x", "nothing=1"):
            with pytest.raises(TreeglotError):
                self.run(*pair, "--set", bad)

    def test_different_numbers_of_lines(self, files: Path) -> None:
        (files / "a.tgt").write_text("t1\n")
        with pytest.raises(TreeglotError, match="1 lines, but") as caught:
            self.run(files / "a.src", files / "a.tgt")
        assert caught.value.path == str(files / "a.tgt") and caught.value.line == 1

    def test_giza(self, files: Path) -> None:
        heading = "# Sentence pair (1) source length 2 target length 2 alignment score : 0.1\n"
        (files / "f").write_text(heading + "x y \nNULL ({ }) a ({ 1 2 }) b ({ }) \n")
        (files / "r").write_text(heading + "a b \nNULL ({ 2 }) x ({ 1 }) y ({ }) \n")
        assert (
            self.run("symmetrize", files / "f", files / "r", "--format", "giza", "--heuristic", "union") == "0-0 0-1\n"
        )
        assert self.run("symmetrize", files / "f", files / "r", "--format", "giza", "--heuristic", "reverse") == "0-0\n"


def test_words_of_pairs_that_were_not_learnt_from(tmp_path: Path) -> None:
    """Without sampling the prior alone says something of words without a partner; the model holds no chance above one half for them."""
    text = ["a b"] * 20 + [" ".join(f"u{n}" for n in range(30))], ["x y"] * 20 + [" ".join(f"v{n}" for n in range(30))]
    alignment.train("own", *text, tmp_path / "m", sweeps=0, max_length=10)
    model = alignment.load(tmp_path / "m")
    assert model.align(*text).forward[0] == "0-0 1-1"
    assert len(model.align(["u1 a"], ["v1 x"]).forward) == 1
