"""Language models: equal to lmplz and KenLM on the reference, to a plain definition on random text, and safe on damage."""

from __future__ import annotations

import gzip
import io
import math
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeglot import TreeglotError, lm
from treeglot.lm.estimate import FALLBACK

Arpa = dict[tuple[str, ...], tuple[float, float]]


def read_arpa(text: str) -> Arpa:
    entries: Arpa = {}
    for line in text.splitlines():
        columns = line.split("\t")
        if len(columns) >= 2:
            entries[tuple(columns[1].split(" "))] = (float(columns[0]), float(columns[2]) if len(columns) > 2 else 0.0)
    return entries


def estimate_text(lines: list[str], order: int, memory: int = 1 << 30) -> tuple[lm.Estimate, Arpa]:
    out = io.BytesIO()
    result = lm.estimate([f"{line}\n".encode() for line in lines], out, order=order, memory=memory)
    return result, read_arpa(out.getvalue().decode())


def plain_kneser_ney(lines: list[str], order: int, discounts: list[tuple[float, ...]]) -> Arpa:
    """The textbook definition with dictionaries, for given discounts."""
    counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order + 1)]
    for line in lines:
        words = ["<s>", *line.split(), "</s>"]
        for k in range(1, order + 1):
            for i in range(len(words) - k + 1):
                counts[k][tuple(words[i : i + k])] += 1
    adjusted: list[dict[tuple[str, ...], int]] = [{}] * (order + 1)
    adjusted[order] = dict(counts[order])
    for k in range(1, order):
        left: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for gram in counts[k + 1]:
            left[gram[1:]].add(gram[0])
        adjusted[k] = {g: counts[k][g] if g[0] == "<s>" else len(left[g]) for g in counts[k]}
    adjusted[1].pop(("<s>",), None)
    if order == 1:
        adjusted[1] = {g: c for g, c in counts[1].items() if g != ("<s>",)}
    vocabulary = {word for gram in adjusted[1] for word in gram} | {"<unk>"}
    probability: dict[tuple[str, ...], float] = {("<s>",): 1.0}
    backoff: dict[tuple[str, ...], float] = {}
    for k in range(1, order + 1):
        total: Counter[tuple[str, ...]] = Counter()
        held: dict[tuple[str, ...], float] = defaultdict(float)
        for gram, count in adjusted[k].items():
            total[gram[:-1]] += count
            held[gram[:-1]] += discounts[k - 1][min(count, 3) - 1]
        for gram, count in adjusted[k].items():
            context = gram[:-1]
            lower = probability[gram[1:]] if k > 1 else 1 / len(vocabulary)
            gamma = held[context] / total[context]
            backoff[context] = gamma
            probability[gram] = (count - discounts[k - 1][min(count, 3) - 1]) / total[context] + gamma * lower
    probability[("<unk>",)] = backoff[()] / len(vocabulary)
    return {
        gram: (math.log10(p), math.log10(backoff[gram]) if gram in backoff and len(gram) < order else 0.0)
        for gram, p in probability.items()
    }


texts = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8).map(" ".join), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 5))
def test_estimation_equals_the_definition(lines: list[str], order: int) -> None:
    result, arpa = estimate_text(lines, order)
    expected = plain_kneser_ney(lines, order, [discounts[:3] for discounts in result.discounts])
    assert arpa.keys() == expected.keys()
    for gram, (probability, weight) in expected.items():
        assert arpa[gram][0] == pytest.approx(probability, abs=1e-5), gram
        assert arpa[gram][1] == pytest.approx(weight, abs=1e-5), gram


def test_discounts_fall_back_and_say_so() -> None:
    result, _ = estimate_text(["a b"], 3)
    assert all(discounts[:3] == FALLBACK and discounts.fallback for discounts in result.discounts)
    assert "order 1, 2, 3" in result.warning


@settings(max_examples=20, deadline=None)
@given(texts)
def test_probabilities_sum_to_one(lines: list[str]) -> None:
    _, arpa = estimate_text(lines, 3)
    vocabulary = [gram[0] for gram in arpa if len(gram) == 1 and gram != ("<s>",)]
    for context in [(), *(gram for gram in arpa if len(gram) < 3 and gram[-1] not in ("</s>", "<unk>"))]:
        total = sum(10 ** naive(arpa, context, word) for word in vocabulary)
        assert total == pytest.approx(1, abs=1e-4), context


def naive(arpa: Arpa, context: tuple[str, ...], word: str) -> float:
    """log10 p(word | context) straight from the ARPA file's definition."""
    if (*context, word) in arpa:
        return arpa[(*context, word)][0]
    if not context:
        return arpa[("<unk>",)][0]
    return arpa.get(context, (0.0, 0.0))[1] + naive(arpa, context[1:], word)


@settings(max_examples=40, deadline=None)
@given(texts, texts, st.integers(1, 5))
def test_queries_equal_the_definition(train: list[str], test: list[str], order: int) -> None:
    import tempfile

    out = io.BytesIO()
    lm.estimate([f"{line}\n".encode() for line in train], out, order=order)
    arpa = read_arpa(out.getvalue().decode())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.arpa"
        path.write_bytes(out.getvalue())
        model = lm.compile_model(path, Path(folder) / "m.tglm")
        for line in test:
            words = ["<s>", *line.replace("g", "zzz").split(), "</s>"]
            expected = sum(
                naive(arpa, tuple(w if (w,) in arpa else "<unk>" for w in words[max(0, i - order + 1) : i]), words[i])
                for i in range(1, len(words))
            )
            assert model.score(line.replace("g", "zzz")) == pytest.approx(expected, abs=1e-4)


def test_pruned_models_get_their_missing_suffixes(tmp_path: Path) -> None:
    arpa = """\\data\\
ngram 1=5
ngram 2=1
ngram 3=1

\\1-grams:
-1\t<unk>\t0
0\t<s>\t-0.5
-1\t</s>
-0.7\ta\t-0.3
-0.6\tb\t-0.2

\\2-grams:
-0.4\ta b\t-0.1

\\3-grams:
-0.2\tb a b

\\end\\
"""
    path = tmp_path / "pruned.arpa"
    path.write_text(arpa, encoding="utf-8")
    model = lm.compile_model(path, tmp_path / "m.tglm")
    entries = read_arpa(arpa)
    for line in ["b a b", "a b", "b a", "a a b b", "b b a b a"]:
        words = ["<s>", *line.split(), "</s>"]
        expected = sum(naive(entries, tuple(words[max(0, i - 2) : i]), words[i]) for i in range(1, len(words)))
        assert model.score(line) == pytest.approx(expected, abs=1e-5), line


def test_little_memory_gives_the_same_bytes() -> None:
    lines = [" ".join(f"w{(i * j) % 97}" for j in range(i % 23)) for i in range(3000)]
    outputs = []
    for memory in (1 << 12, 1 << 30):
        out = io.BytesIO()
        lm.estimate([f"{line}\n".encode() for line in lines], out, order=4, memory=memory)
        outputs.append(out.getvalue())
    assert outputs[0] == outputs[1]


def test_equals_lmplz(data: Callable[[str], Path]) -> None:
    folder = data("reference/lmplz")
    _, ours = estimate_text((folder / "train.en").read_text(encoding="utf-8").splitlines(), 4)
    with gzip.open(folder / "train.4.arpa.gz", "rt", encoding="utf-8") as file:
        theirs = read_arpa(file.read())
    assert ours.keys() == theirs.keys()
    for gram, values in theirs.items():
        assert ours[gram] == pytest.approx(values, abs=1e-5), gram


def test_queries_equal_kenlm_on_the_reference(data: Callable[[str], Path], tmp_path: Path) -> None:
    folder = data("reference/lmplz")
    model = lm.compile_model(folder / "train.4.arpa.gz", tmp_path / "m.tglm")
    with (folder / "query.en").open("rb") as file:
        scores = list(model.score_lines(file))
    expected = (folder / "query.scores").read_text(encoding="utf-8").splitlines()
    assert len(scores) == len(expected)
    for score, line in zip(scores, expected, strict=True):
        _, total, _, unknown = line.split()
        assert score.log10 == pytest.approx(float(total), abs=1e-4)
        assert score.unknown == int(unknown)


def test_queries_equal_the_kenlm_package(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="pip install 'treeglot[bench]'")
    lines = [" ".join(f"w{(i * j * j) % 53}" for j in range(i % 17)) for i in range(800)]
    path = tmp_path / "m.arpa"
    with path.open("wb") as file:
        lm.estimate([f"{line}\n".encode() for line in lines], file, order=4)
    ours, theirs = lm.compile_model(path, tmp_path / "m.tglm"), kenlm.Model(str(path))
    for line in [*lines[::7], "w1 unseen w2 w3 w4", "unseen", ""]:
        assert ours.score(line) == pytest.approx(theirs.score(line, bos=True, eos=True), abs=1e-4)


def test_state_is_shortened_and_scores_stay(tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    with path.open("wb") as file:
        lm.estimate([b"a b c d\n", b"a b d\n"], file, order=4)
    core = lm.compile_model(path, tmp_path / "m.tglm").core
    state = core.begin_state()
    total = 0.0
    for word in ["a", "b", "unseen", "c"]:
        score, _, state = core.score(state, core.id(word))
        total += score
    assert state.length <= 1  # nothing of "unseen c" can matter but c itself
    assert core.null_state().length == 0


def test_orders_and_words_out_of_range(tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    path.write_bytes(GOOD)
    core = lm.compile_model(path, tmp_path / "m.tglm").core
    assert [core.grams(order) for order in (1, 2)] == [4, 1]
    for order in (0, -1, 3, 7, 1 << 30):
        with pytest.raises(IndexError, match=f"order {order}: the model has orders from 1 to 2"):
            core.grams(order)
    assert len(core) == 4
    for word in (4, 4_000_000_000, (1 << 32) - 1):
        with pytest.raises(IndexError, match=f"word {word}: the model has words from 0 to 3"):
            core.score(core.begin_state(), word)
    assert core.score(core.begin_state(), core.id("a"))[1] == 1


def test_arpa_may_be_packed_and_lack_its_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "m.arpa").write_bytes(GOOD)
    (tmp_path / "m.arpa.gz").write_bytes(gzip.compress(GOOD))
    (tmp_path / "open.arpa").write_bytes(GOOD.rstrip(b"\n"))
    (tmp_path / "dos.arpa").write_bytes(GOOD.replace(b"\n", b"\r\n"))
    for name in ("m.arpa", "m.arpa.gz", "open.arpa", "dos.arpa"):
        lm.compile_model(tmp_path / name, tmp_path / f"{name}.tglm")
    assert len({path.read_bytes() for path in tmp_path.glob("*.tglm")}) == 1


def test_reserved_words_are_refused() -> None:
    with pytest.raises(TreeglotError) as caught:
        lm.estimate([b"fine\n", b"not <s> fine\n"], io.BytesIO(), order=2, path="x.txt")
    assert (caught.value.path, caught.value.line) == ("x.txt", 2)
    with pytest.raises(TreeglotError, match="no text"):
        lm.estimate([], io.BytesIO())
    with pytest.raises(TreeglotError, match="order 9"):
        lm.estimate([b"a\n"], io.BytesIO(), order=9)


GOOD = b"\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n0\t<s>\t-1\n-1\t</s>\n-1\ta\t-1\n\n\\2-grams:\n-1\ta </s>\n\n\\end\\\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        (b"\\data\\", b"data", 14, "no \\data\\"),
        (b"ngram 1=4", b"ngram 1=x", 2, "not a number"),
        (b"ngram 2=1", b"ngram 3=1", 3, "orders are not"),
        (b"ngram 1=4", b"ngram 1=5", 10, "but the header says 5"),
        (b"-1\ta\t-1", b"-1x\ta\t-1", 9, "not a number"),
        (b"-1\ta\t-1", b"nan\ta\t-1", 9, "not a number"),
        (b"-1\ta\t-1", b"1\ta\t-1", 9, "above one"),
        (b"-1\ta\t-1", b"-1\ta\tinf", 9, "too large"),
        (b"-1\ta\t-1", b"-1\ta\tnan", 9, "not a number"),
        (b"-1\ta\t-1", b"-1\ta\tb\tc\t-1", 9, "columns"),
        (b"-1\ta\t-1", b"-1\t<s>\t-1", 9, "twice"),
        (b"-1\ta </s>", b"-1\tb </s>", 12, "not among the unigrams"),
        (b"-1\ta </s>", b"-1\ta </s>\t0", 12, "columns"),
        (b"\\2-grams:", b"\\3-grams:", 11, "expected here"),
        (b"\\end\\\n", b"", 13, "\\end\\"),
        (b"-1\ta </s>\n\n\\end\\\n", b"", 11, "ends in the middle"),
    ],
)
def test_broken_arpa(tmp_path: Path, old: bytes, new: bytes, line: int, says: str) -> None:
    path = tmp_path / "m.arpa"
    path.write_bytes(GOOD)
    lm.compile_model(path, tmp_path / "good.tglm")
    assert old in GOOD
    path.write_bytes(GOOD.replace(old, new))
    with pytest.raises(TreeglotError) as caught:
        lm.compile_model(path, tmp_path / "bad.tglm")
    assert says in caught.value.message
    assert caught.value.line == line, caught.value
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.tglm", "m.arpa"]


def test_impossible_words_have_finite_scores(tmp_path: Path) -> None:
    """``-inf`` is how some programs write the logarithm of nothing."""
    scores = []
    for value in (b"-inf", b"-1e30", b"-1000", b"-99"):
        path = tmp_path / "m.arpa"
        path.write_bytes(GOOD.replace(b"-1\ta\t-1", value + b"\ta\t" + value))
        lm.compile_model(path, tmp_path / "m.tglm")
        scores.append(lm.LanguageModel(tmp_path / "m.tglm").score("a a"))
    assert scores[0] == scores[1] == scores[2] < scores[3] < -198
    assert math.isfinite(scores[0])


def test_damaged_model_files(tmp_path: Path) -> None:
    path = tmp_path / "m.arpa"
    path.write_bytes(GOOD)
    lm.compile_model(path, tmp_path / "m.tglm")
    whole = (tmp_path / "m.tglm").read_bytes()
    damaged = tmp_path / "d.tglm"
    for content in (b"", whole[:100], whole[:-1], b"x" + whole[1:], whole[:40] + b"\xff" + whole[41:]):
        damaged.write_bytes(content)
        with pytest.raises(TreeglotError, match=r"d\.tglm"):
            lm.LanguageModel(damaged)
    damaged.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    with pytest.raises(TreeglotError, match="checksum"):
        lm.LanguageModel(damaged, verify=True)


def test_command_line(tmp_path: Path) -> None:
    def run(*arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "treeglot", "lm", *arguments]
        return subprocess.run(command, input=text, capture_output=True, cwd=tmp_path)

    estimated = run("estimate", "--order", "3", text=b"a b c\na b d\n")
    assert estimated.returncode == 0 and estimated.stdout.startswith(b"\\data\\")
    (tmp_path / "m.arpa").write_bytes(estimated.stdout)
    assert run("compile", "m.arpa", "m.tglm").returncode == 0
    for model in ("m.arpa", "m.tglm"):
        queried = run("query", model, text=b"a b c\nz\n")
        assert queried.returncode == 0
        assert len(queried.stdout.splitlines()) == 2
    failed = run("query", "missing", text=b"a\n")
    assert failed.returncode == 1 and b"no such file" in failed.stderr
