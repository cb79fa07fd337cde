"""Dictionaries, known links and prior models: what they change, what stays, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from test_align_models import WORDS, made_up, score
from treeglot import TreeglotError, alignment
from treeglot.alignment.dictionary import Dictionary
from treeglot.alignment.evidence import Evidence, digest_of_model, read_known_links
from treeglot.alignment.own import AgreementAligner
from treeglot.cli.align import app


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def written(folder: Path, **files: list[str]) -> list[Path]:
    for name, lines in files.items():
        (folder / name).write_text("".join(line + "\n" for line in lines))
    return [folder / name for name in files]


def test_pairs_of_vocabularies_are_those_of_all_sentences() -> None:
    dictionary = Dictionary([("Haus", "casa"), ("Anbau", "cultivo"), ("Kaufvertrag", "contrato de compraventa")])
    source, target = ["häuser", "kartoffelanbau", "kaufvertrag", "die"], ["casas", "contrato", "cultivos", "de", "x"]
    matrix = dictionary.matrix(source, target)
    expected = {(s, t): matrix[i, j] for i, s in enumerate(source) for j, t in enumerate(target) if matrix[i, j] > 0}
    assert {(s, t): match for s, t, match in dictionary.pairs(source * 2, target)} == expected and len(expected) == 3
    assert {match >= 0.6 for *_, match in dictionary.pairs(source, target, 0.6)} == {True}


def test_a_dictionary_decides_what_text_leaves_open(tmp_path: Path) -> None:
    """Words that always occur together cannot be told apart, but by their places; the dictionary crosses the links."""
    source, target, _ = made_up(100)
    source, target = [*source, *["qa qb"] * 3], [*target, *["ra rb"] * 3]
    plain = alignment.train("own", source, target, tmp_path / "plain")
    assert plain.align(source, target).symmetrized()[-1] == "0-0 1-1"
    evidence = Evidence(dictionary=Dictionary([("qa", "rb"), ("QB", "ra")]))
    told = alignment.train("own", source, target, tmp_path / "told", evidence=evidence, dictionary_weight=3)
    assert told.align(source, target).symmetrized()[-1] == "0-1 1-0"
    assert told.evidence == evidence.digests and plain.evidence == {}


def test_known_links_stay_and_teach(tmp_path: Path) -> None:
    source, target, gold = made_up(120)
    source = [*source, "qa qb", "qa qb", "qb qa", "s1 s2 s3", "s1 s2"]
    target = [*target, "ra rb", "ra rb", "ra rb", "t1 t2 t3", "t1 t2"]
    odd = {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)}  # no two directions of one link for a word have these
    known = {120: {(0, 1), (1, 0)}, 121: {(0, 1), (1, 0)}, 123: odd, 124: set()}
    models = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        aligner = alignment.train("own", source, target, folder, threads=threads, evidence=Evidence(links=known))
        models.append((folder / "model.tgwa").read_bytes())
    assert models[0] == models[1]
    for heuristic in ("intersection", "grow-diag-final-and", "union"):
        links = aligner.align(source, target).links(heuristic)
        assert {pair: set(links[pair]) for pair in known} == known
        assert set(links[122]) == {(0, 0), (1, 1)}  # qb is ra, as the known links say
    assert isinstance(aligner, AgreementAligner)
    assert aligner.link_chances(source, target)[120] == "0-1:1.0000:1.0000 1-0:1.0000:1.0000"
    assert score(aligner.align(source, target).symmetrized()[:120], gold).aer < 0.05
    plain = alignment.train("own", source, target, tmp_path / "plain").align(source, target).links()
    assert set(plain[120]) == {(0, 0), (1, 1)}


def test_long_pairs_with_known_links_take_part(tmp_path: Path) -> None:
    source, target, _ = made_up(30)
    links = {30: {(k, 8 - k) for k in range(9)}}
    source, target = [*source, "a b c d e f g h i"], [*target, "A B C D E F G H I"]
    aligner = alignment.train("own", source, target, tmp_path / "m", evidence=Evidence(links=links), max_length=8)
    assert set(aligner.align(source, target).links()[30]) == links[30]


def test_a_prior_model_is_what_its_text_would_be(tmp_path: Path) -> None:
    """After one pair of other words, what the prior model expected is still expected."""
    source, target, _ = made_up(300)
    target = [line.replace("t3", "t4") for line in target]
    large = alignment.train("own", source, target, tmp_path / "large")
    assert isinstance(large, AgreementAligner)
    evidence = Evidence(model=large, model_digest=digest_of_model(tmp_path / "large"))
    adapted = alignment.train("own", ["x y"], ["z u"], tmp_path / "new", evidence=evidence, prior_model_weight=1.0)
    rows = {row[:2]: row for row in adapted.lexicon(0.01)}
    for row in large.lexicon(0.05):
        assert rows[row[:2]].target_given_source == pytest.approx(row.target_given_source, abs=0.01)
        assert rows[row[:2]].source_given_target == pytest.approx(row.source_given_target, abs=0.01)
    fresh = made_up(40, seed=77)
    few = made_up(4, seed=78)
    kept = alignment.train("own", *few[:2], tmp_path / "adapted", evidence=evidence)
    alone = alignment.train("own", *few[:2], tmp_path / "alone")
    errors = [score(aligner.align(*fresh[:2]).symmetrized(), fresh[2]).aer for aligner in (kept, alone)]
    assert errors[0] < 0.15 < errors[1]


def test_prior_model_without_sampling(tmp_path: Path) -> None:
    source, target, _ = made_up(300)
    large = alignment.train("own", source, target, tmp_path / "large", sweeps=0, hmm_iterations=4)
    assert isinstance(large, AgreementAligner)
    adapted = alignment.train(
        "own", ["x y"], ["z u"], tmp_path / "new", evidence=Evidence(model=large, model_digest="1")
    )
    assert {row.source: row.target for row in adapted.lexicon(0.5) if row.source in WORDS} == WORDS


def test_files_of_known_links(tmp_path: Path) -> None:
    source, target = ["a b c"] * 4, ["x y z"] * 4
    (path,) = written(tmp_path, links=["0-0 1-1-P 0-2-P 2-2", "", "-"])
    assert read_known_links(path, source, target) == {0: {(0, 0), (1, 1), (2, 2)}, 2: set()}
    for lines, line in ((["0-0", "0-3"], 2), (["0-0"] * 5, 5), (["", "x"], 2), (["", ""], 1), ([], 1)):
        (path,) = written(tmp_path, links=lines)
        with pytest.raises(TreeglotError) as caught:
            read_known_links(path, source, target)
        assert caught.value.line == line, lines
    with pytest.raises(TreeglotError, match="pair 2"):
        alignment.train("own", ["a", "b"], ["x", "y"], tmp_path / "m", evidence=Evidence(links={1: {(0, 1)}}))
    with pytest.raises(TreeglotError, match="pair 3"):
        alignment.train("own", ["a", "b"], ["x", "y"], tmp_path / "m", evidence=Evidence(links={2: set()}))
    with pytest.raises(TreeglotError, match="without sampling"):
        alignment.train("own", ["a"], ["x"], tmp_path / "m", evidence=Evidence(links={0: set()}), sweeps=0)
    with pytest.raises(TreeglotError, match="text alone"):
        alignment.train("eflomal", ["a"], ["x"], tmp_path / "m", evidence=Evidence(links={0: set()}))


def test_commands(tmp_path: Path) -> None:
    source, target, _ = made_up(60)
    files = written(
        tmp_path, s=[*source, "qa qb"], t=[*target, "ra rb"], links=[""] * 60 + ["0-1 1-0"], words=["qa\trb"]
    )
    pair, links, words = files[:2], files[2], files[3]
    model = ["--model", tmp_path / "model"]
    first = run(*pair, *model, "--known-links", links, "--dictionary", words)
    assert first.splitlines()[-1] == "0-1 1-0"
    assert run(*pair, *model) == run(*pair, *model, "--known-links", links) == first
    run("train", *pair, tmp_path / "again", "--known-links", links, "--dictionary", words)
    assert run("apply", tmp_path / "again", *pair) == first
    (other,) = written(tmp_path, other=["0-0"])
    with pytest.raises(TreeglotError, match="with another --known-links"):
        run(*pair, *model, "--known-links", other)
    with pytest.raises(TreeglotError, match="without --prior-model"):
        run(*pair, *model, "--prior-model", tmp_path / "again")
    adapted = run(*pair, "--prior-model", tmp_path / "again")
    assert adapted.splitlines()[-1] == "0-1 1-0"  # as the prior model has learnt
    run("train", *pair, tmp_path / "lower", "--lowercase")
    with pytest.raises(TreeglotError, match="ignores case"):
        run(*pair, "--prior-model", tmp_path / "lower")
    run(*pair, "--prior-model", tmp_path / "lower", "--lowercase")
