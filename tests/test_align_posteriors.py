"""Chances of links: the format, thresholds, commands; what sampling promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from test_align_models import made_up, score
from treeglot import TreeglotError, alignment
from treeglot.alignment.own import AgreementAligner
from treeglot.alignment.posteriors import links_above, parse_chances
from treeglot.cli.align import app


def own(tmp_path: Path, **options: float) -> AgreementAligner:
    source, target, _ = made_up(150)
    aligner = alignment.train("own", source, target, tmp_path / "model", **options)
    assert isinstance(aligner, AgreementAligner)
    return aligner


@pytest.mark.parametrize("sweeps", [0, 20])
def test_chances_agree_with_links_and_matrices(tmp_path: Path, sweeps: int) -> None:
    aligner = own(tmp_path, sweeps=sweeps)
    known, fresh = made_up(150), made_up(20, seed=8)
    source, target = [*known[0], "", "s1 unknown"], [*known[1], "t1", "t1 t2"]
    source, target = source + fresh[0], target + fresh[1]
    lines = aligner.link_chances(source, target)
    result = aligner.align(source, target)
    assert len(lines) == len(source)
    for n, line in enumerate(lines):
        links = parse_chances(line)
        assert [link[:2] for link in links] == sorted(link[:2] for link in links)
        forward, reverse = aligner.posteriors(source[n], target[n])
        for link in links:
            assert link.forward == pytest.approx(forward[link.source][link.target], abs=1e-4)
            assert link.reverse == pytest.approx(reverse[link.source][link.target], abs=1e-4)
        for j in range(len(target[n].split())):
            column = [link for link in links if link.target == j]
            assert sum(link.forward for link in column) < 1.01
            best = max(column, key=lambda link: link.forward, default=None)
            for link in alignment.parse_links(result.forward[n]):
                if link[1] == j:
                    assert best is not None and forward[link[0]][j] >= best.forward - 1e-4


def test_thresholds_trade_recall_for_precision(tmp_path: Path) -> None:
    aligner = own(tmp_path)
    source, target, gold = made_up(100, seed=21)
    target = [line.replace("t3", "t4").replace("t8", "t4") for line in target]  # something to be unsure about
    lines = aligner.link_chances(source, target)
    sizes = [sum(len(links_above(line, t).split()) for line in lines) for t in (0.0, 0.3, 0.6, 0.9, 1.0)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    low, high = (score([links_above(line, t) for line in lines], gold) for t in (0.05, 0.8))
    assert high.precision >= low.precision and low.recall >= high.recall


def test_same_seed_same_bytes_other_seed_other_draws(tmp_path: Path) -> None:
    source, target, _ = made_up(150)
    target = [line.replace("t3", "t4") for line in target]
    models = []
    for number, (seed, threads) in enumerate([(1, 1), (1, 3), (2, 1)]):
        folder = tmp_path / str(number)
        alignment.train("own", source, target, folder, seed=seed, threads=threads)
        models.append((folder / "model.tgwa").read_bytes())
    assert models[0] == models[1] != models[2]


def test_limited_memory_learns_from_fewer_pairs(tmp_path: Path) -> None:
    source, target, gold = made_up(4000)
    aligner = alignment.train("own", source, target, tmp_path / "model", memory=1)
    small = (tmp_path / "model" / "model.tgwa").stat().st_size
    alignment.train("own", source, target, tmp_path / "large")
    assert small < (tmp_path / "large" / "model.tgwa").stat().st_size
    assert score(aligner.align(source, target).symmetrized(), gold).aer < 0.05


@pytest.mark.parametrize("item", ["0-0", "0-0:1", "0-0:0.5:1.5", "a-0:0.5:0.5", "0-0:0.5:0.5:0.5", "0-0:-0.5:0.5"])
def test_bad_chances(item: str, tmp_path: Path) -> None:
    with pytest.raises(TreeglotError, match="no link with chances"):
        parse_chances("1-1:0.5:1 " + item)
    (tmp_path / "chances").write_text("0-0:0.5:0.5\n" + item + "\n")
    with pytest.raises(TreeglotError) as caught:
        CliRunner().invoke(app, ["threshold", str(tmp_path / "chances"), "0.5"], catch_exceptions=False)
    assert caught.value.line == 2


def test_commands(tmp_path: Path) -> None:
    source, target, _ = made_up(100)
    for name, lines in (("a.src", source), ("a.tgt", target)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    pair, chances = [str(tmp_path / "a.src"), str(tmp_path / "a.tgt")], str(tmp_path / "chances.gz")

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    model = ["--model", str(tmp_path / "model")]
    above = run(*pair, *model, "--posteriors", chances, "--threshold", "0.7")
    assert above.count("\n") == 100
    assert run("threshold", chances, "0.7") == above
    assert run("apply", str(tmp_path / "model"), *pair, "--threshold", "0.7") == above
    plain = run(*pair, *model)
    assert run(*pair, *model, "--posteriors", chances) == plain
    assert run(*pair, *model, "--threshold", "0.7", "--forward", str(tmp_path / "f")) == above
    assert (tmp_path / "f").read_text().count("\n") == 100
