"""``treeglot align show``: sums against plain counting, what is on the page and in the terminal, and its errors."""

from __future__ import annotations

import html.parser
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from conftest import Run
from treeglot.alignment.disagreements import Disagreement, by_disagreement, disagreement_text, summarize
from treeglot.evaluation.alignment import Gold, score_alignment


def random_pairs(seed: int, count: int = 30) -> list[Disagreement]:
    choose = random.Random(seed)
    pairs = []
    for number in range(count):
        source = tuple(choose.choice("abcdef") for _ in range(choose.randint(1, 7)))
        target = tuple(choose.choice("uvwxyz") for _ in range(choose.randint(1, 7)))
        cells = [(s, t) for s in range(len(source)) for t in range(len(target))]

        def some(cells: list[tuple[int, int]] = cells) -> set[tuple[int, int]]:
            return {link for link in cells if choose.random() < 0.3}

        sure = some()
        pairs.append(Disagreement(number, source, target, some(), some(), sure, some() | sure))
    return pairs


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_plain_counting(seed: int) -> None:
    pairs = random_pairs(seed)
    summary = summarize(pairs)
    sets = {
        "both": [set(p.first) & set(p.second) for p in pairs],
        "first": [set(p.first) - set(p.second) for p in pairs],
        "second": [set(p.second) - set(p.first) for p in pairs],
        "neither": [set(p.sure or ()) - set(p.first) - set(p.second) for p in pairs],
    }
    assert summary.links == {who: sum(map(len, links)) for who, links in sets.items()}
    for who, links in sets.items():
        score = score_alignment(links, [Gold(p.sure or (), p.possible) for p in pairs])
        assert (summary.right[who], summary.sure[who]) == (score.found_possible, score.found_sure)  # type: ignore[index]
    gold = [Gold(p.sure or (), p.possible) for p in pairs]
    rates = tuple(score_alignment([one(p) for p in pairs], gold).aer for one in (lambda p: p.first, lambda p: p.second))
    assert summary.aer == pytest.approx(rates)
    assert summary.same == sum(set(p.first) == set(p.second) for p in pairs)
    words = Counter((p.source[s], p.target[t]) for p in pairs for s, t in set(p.first) ^ set(p.second))
    assert {(s, t): one + two for s, t, one, two, _, _ in summary.words} == words
    assert [one + two for _, _, one, two, _, _ in summary.words] == sorted(words.values(), reverse=True)
    assert sum(right for *_, right, _ in summary.words) == summary.right["first"]


def test_orders() -> None:
    pairs = random_pairs(9)
    counts = [pair.different for pair in by_disagreement(pairs)]
    shares = [pair.share for pair in by_disagreement(pairs, "share")]
    assert counts == sorted(counts, reverse=True) and shares == sorted(shares, reverse=True)
    assert by_disagreement(reversed(pairs), "text") == pairs
    assert Disagreement(0, (), (), set(), set()).share == 0


def test_text_has_a_sign_for_every_link() -> None:
    pair = Disagreement(
        0,
        ("a", "b"),
        ("x", "y", "z"),
        {(0, 0), (0, 1), (1, 1)},
        {(0, 0), (0, 2), (1, 1), (1, 2)},
        {(0, 0), (1, 0)},
        {(0, 2)},
    )
    rows = [line.split()[2:] for line in disagreement_text(pair).splitlines()[2:4]]
    assert rows == [["■", "a", "B"], ["○", "□", "b"]]
    assert "■" not in disagreement_text(pair, ascii=True)
    wide = Disagreement(0, ("w",) * 60, ("v",) * 60, {(n, n) for n in range(60)}, {(59, 0)})
    text = disagreement_text(wide, width=80)
    assert text.count("A w") == 60 and "B w 60 ── v 1" in text  # a list of what is disputed
    no_gold = Disagreement(0, ("a",), ("x",), {(0, 0)}, set())
    assert disagreement_text(no_gold).splitlines()[2].split()[2:] == ["A"]


class Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.classes: Counter[str] = Counter()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "rect":
            self.classes[str(dict(attributes)["class"])] += 1

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def files(folder: Path, pairs: list[Disagreement]) -> list[Path]:
    def links(chosen: object) -> str:
        return " ".join(f"{s}-{t}" for s, t in sorted(chosen))  # type: ignore[call-overload]

    def by_hand(pair: Disagreement) -> str:
        return " ".join(f"{s}-{t}" + ("" if (s, t) in (pair.sure or ()) else "-P") for s, t in sorted(pair.possible))

    for name, lines in {
        "s": [" ".join(pair.source) for pair in pairs],
        "t": [" ".join(pair.target) for pair in pairs],
        "a": [links(pair.first) for pair in pairs],
        "b": [links(pair.second) for pair in pairs],
        "g": [by_hand(pair) for pair in pairs],
    }.items():
        (folder / name).write_text("".join(line + "\n" for line in lines))
    return [folder / name for name in "stabg"]


def test_page_and_terminal(run: Run, tmp_path: Path) -> None:
    pairs = random_pairs(3)
    *texts, gold = files(tmp_path, pairs)
    page = tmp_path / "page.html"
    assert run("align", "show", *texts, "--gold", gold, "--names", "one & all,<two>", "--html", page).code == 0
    elements = Elements()
    elements.feed(page.read_text(encoding="utf-8"))
    summary = summarize(pairs)
    links, sure = summary.links, sum(summary.sure.values())
    possible = sum(summary.right.values()) - sure
    wanted = {
        "both": links["both"],
        "first": links["first"],
        "second": links["second"],
        "sure": sure,
        "possible": possible,
    }
    assert elements.classes == wanted
    text = "".join(elements.text)
    assert "only one & all, wrong" in text and "only <two>, right" in text and "http" not in page.read_text()
    order = [f"pair {pair.number + 1}:" for pair in by_disagreement(pairs)]
    assert order == [line.split(": ")[0] + ":" for line in elements.text if line.startswith("pair ")]
    values = json.loads(run("align", "show", *texts, "--gold", gold, "--json").out)
    assert values["links"] == links and values["aer"] == pytest.approx(summary.aer)
    shown = run("align", "show", *texts, "--gold", gold, "--limit", "2").out
    assert shown.count("links of one alone") == 2 and f"AER A {100 * summary.aer[0]:.2f}" in shown  # type: ignore[index]
    one = run("align", "show", *texts, "--sentence", "7").out
    assert one.startswith("pair 7:") and one.count("links of one alone") == 1
    assert run("align", "show", *texts, "--html", page, "--limit", "1").code == 0
    assert "29 more pairs are not shown" in page.read_text(encoding="utf-8")


def test_errors(run: Run, tmp_path: Path) -> None:
    *texts, gold = files(tmp_path, random_pairs(3, 4))
    assert "two names" in run("align", "show", *texts, "--names", "own").err
    assert "no pair 9" in run("align", "show", *texts, "--sentence", "9").err
    (tmp_path / "short").write_text("0-0\n")
    assert "short" in run("align", "show", *texts[:3], tmp_path / "short").err
    (tmp_path / "far").write_text("0-0\n0-77\n\n\n")
    assert "0-77 is outside" in run("align", "show", *texts, "--gold", tmp_path / "far").err
    (tmp_path / "more").write_text("0-0\n" * 9)
    assert "there are 4 pairs" in run("align", "show", *texts, "--gold", tmp_path / "more").err
    refused = run("align", "show", *texts, "--gold", gold, "--html", gold)
    assert refused.code == 1 and "is read, too" in refused.err
