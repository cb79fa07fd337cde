"""What runs out, and what is no file: disks, memory, threads, time. One error that names the file, and everything as it was."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zstandard

from cli_runner import Run
from treeglot import TreeglotError, lm
from treeglot._core import files as core_files
from treeglot.errors import ConfigError, InputError
from treeglot.files import MAX_RATIO, UNPACKED_ANYWAY, atomic_write_binary, check_regular, open_binary
from treeglot.search import MAX_NBEST, RuleUse, nbest_lines, parse_nbest_line
from treeglot.search.display.steps import MOST_WORDS, list_steps, to_record
from treeglot.search.display.text import derivation_text
from treeglot.tables import PhraseTable, build_phrase_table, export_moses, import_moses

WORDS = [f"w{number}" for number in range(3000)]


def treeglot(
    *arguments: object, before: Callable[[], None] | None = None, **more: object
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from treeglot.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, preexec_fn=before, timeout=300, **more)  # type: ignore[call-overload, no-any-return]


def text_of(folder: Path) -> Path:
    path = folder / "text"
    path.write_text("".join(" ".join(WORDS[n : n + 20]) + "\n" for n in range(0, len(WORDS), 3)))
    return path


def full_after(size: int) -> Callable[[], None]:
    """No file may grow beyond the size, which is what a full disk is to a program."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resources")
    text = text_of(folder)
    with (folder / "arpa").open("wb") as out:
        lm.estimate(text.read_bytes().splitlines(keepends=True), out, order=2)
    links = folder / "links"
    links.write_text("".join("0-0 1-1 2-2\n" for _ in text.read_text().splitlines()))
    build_phrase_table(text, text, links, folder / "table", max_length=2)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("lm", "estimate", "--order", "2", "--text", "text", "--out"),
        ("lm", "estimate", "--order", "2", "--text", "text", "--memory", "1m", "--temporary", ".", "--out"),
        ("lm", "compile", "arpa"),
    ],
)
def test_a_full_disk_is_one_error_and_leaves_nothing(files: Path, command: Sequence[str]) -> None:
    out = files / "out"
    out.write_text("as it was")
    before = sorted(files.iterdir())
    done = treeglot(*command, out, before=full_after(20_000), cwd=files)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("treeglot: ") and "remedy: make room" in done.stderr
    assert str(out) in done.stderr or "treeglot: .:" in done.stderr
    assert out.read_text() == "as it was"
    assert sorted(files.iterdir()) == before


def test_a_disk_that_is_really_full(files: Path) -> None:
    """On a small one of its own, which takes root."""
    script = (
        "mkdir small && mount -t tmpfs -o size=64k none small && cp {text} small/text && cd small &&"
        " {python} -c 'from treeglot.cli import main; main()' lm estimate --order 2 --text text --out arpa; echo code $?; ls -A . "
    ).format(text=files / "text", python=sys.executable)
    probe = ["unshare", "-m", "sh", "-c", "mkdir probe && mount -t tmpfs none probe"]
    room = files / "room"
    room.mkdir()
    if subprocess.run(probe, cwd=room, capture_output=True).returncode != 0:
        pytest.skip("mounting takes root")
    small = script.replace("size=64k", "size=192k")
    done = subprocess.run(["unshare", "-m", "sh", "-c", small], cwd=room, capture_output=True, text=True)
    assert "No space left on device" in done.stderr and "arpa" in done.stderr and "Traceback" not in done.stderr
    assert done.stdout.split() == ["code", "1", "text"]


def test_memory_that_is_not_there(files: Path) -> None:
    """One error with a remedy, and nothing is written."""
    big = files / "big"
    big.write_text("".join(" ".join(f"{n}.{k}" for k in range(20)) + "\n" for n in range(30_000)))
    command = [
        "treeglot",
        "lm",
        "estimate",
        "--order",
        "5",
        "--memory",
        "4g",
        "--text",
        str(big),
        "--out",
        str(files / "never"),
    ]
    script = f"""
import resource, sys
import treeglot.cli, treeglot.lm
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (32 << 20), now + (32 << 20)))
sys.argv = {command!r}
treeglot.cli.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "not enough memory" in done.stderr and "remedy" in done.stderr and "Traceback" not in done.stderr
    assert not list(files.glob("*never*"))


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_refused_at_once(files: Path, tmp_path: Path, run: Run, kind: str) -> None:
    place = tmp_path / "place"
    os.mkfifo(place) if kind == "fifo" else place.mkdir()
    (tmp_path / "weights").write_text("")
    text = files / "text"
    for command in (
        ("lm", "query", place, "--text", text),
        ("translate", text, "--table", place, "--lm", files / "arpa", "--weights", tmp_path / "weights"),
        ("translate", text, "--table", files / "table", "--lm", place, "--weights", tmp_path / "weights"),
        ("verify", place),
    ):
        began = time.monotonic()
        done = run(*command)
        assert (done.code == 1 and str(place) in done.err) or "weights" in done.err, done.err
        assert time.monotonic() - began < 30
    for path in (place, tmp_path / "nothing", text / "below"):
        with pytest.raises(InputError):
            check_regular(path)


@pytest.mark.parametrize("number", ["2000000000", "-1", "-2000000000", "99999999999999999999"])
def test_impossible_lists_are_refused(run: Run, files: Path, number: str) -> None:
    done = run("translate", files / "text", "--nbest", number)
    assert done.code == 2 and "--nbest" in done.err and not done.out


def test_impossible_lists_are_refused_in_python(tmp_path: Path) -> None:
    from random_worlds import World

    decoder = World(1, tmp_path, "hierarchical").decoder()
    for number in (0, -1, MAX_NBEST + 1, 2_000_000_000):
        with pytest.raises(ConfigError, match=f"nbest is {number}"):
            decoder.translate(["a b"], nbest=number)
    with pytest.raises(ValueError, match="n-best"):
        decoder.core.translate(
            decoder_corpus(), 0, 1, nbest=0, distinct=False, with_steps=False, threads=1, progress=None
        )
    names = list(decoder.weights)
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match=names[1]):
            decoder.core.set_weights([0.0, bad, *[0.0] * (len(names) - 2)])


def decoder_corpus() -> object:
    from treeglot.search import word_corpus

    return word_corpus(["a b"]).columns


def test_what_is_called_while_it_translates_may_not_change_the_weights(tmp_path: Path) -> None:
    """It would wait for itself."""
    from random_worlds import World

    decoder = World(1, tmp_path, "hierarchical").decoder()

    def change(_: int) -> None:
        decoder.set_weights(dict.fromkeys(decoder.weights, 1.0))

    with pytest.raises(TreeglotError, match="while it translates"):
        decoder.translate(["a b", "b c"], progress=change)
    decoder.set_weights(dict.fromkeys(decoder.weights, 1.0))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interruption_ends_also_one_long_sentence(files: Path, tmp_path: Path, threads: int) -> None:
    lm.compile_model(files / "arpa", tmp_path / "lm")
    names = [
        "lm",
        "words",
        "distortion",
        "phrases.rules",
        *(f"phrases.{n}" for n in ("p_ts", "p_st", "lex_ts", "lex_st")),
    ]
    (tmp_path / "weights").write_text("".join(f"{name} = 0.1\n" for name in names))
    sentence = " ".join(WORDS * 8)
    (tmp_path / "text").write_text(f"{sentence}\n{WORDS[0]}\n" if threads == 2 else f"{sentence}\n")
    command = [
        "translate",
        tmp_path / "text",
        "--table",
        files / "table",
        "--lm",
        tmp_path / "lm",
        "--weights",
        tmp_path / "weights",
    ]
    command += ["--threads", threads, "--pop-limit", 1_000_000, "--out", tmp_path / "out"]
    script = f"import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv = {['treeglot', *map(str, command)]!r}; from treeglot.cli import main; print('go', flush=True); main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "go\n"
    time.sleep(3)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    began, spent = time.monotonic(), os.times().children_user
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in errors and "is as it was" in errors, errors
    assert os.times().children_user - spent < 60 and time.monotonic() - began < 60
    assert not (tmp_path / "out").exists()


def test_derivations_of_deep_trees_are_not_of_the_square_of_their_depth(tmp_path: Path) -> None:
    def chain(depth: int) -> RuleUse:
        use = RuleUse("own", depth - 1, depth, f"s{depth}", (f"t{depth}",))
        for n in range(depth - 1, 0, -1):
            use = RuleUse("own", n - 1, depth, f"s{n} x1", (f"t{n}", 0), children=(use,))
        return use

    sizes = []
    for depth in (1000, 2000):
        derivation = chain(depth)
        record = to_record(derivation)
        assert len(record["words"]) == depth
        assert record["steps"][0]["words"].split()[:MOST_WORDS] == record["words"][:MOST_WORDS]
        assert record["steps"][-1]["words"] == f"t{depth}"
        sizes.append((len(json.dumps(record)), len(derivation_text(derivation))))
    for short, long in zip(*sizes, strict=True):
        assert long < 2.2 * short
    assert [step.source_words for step in list_steps(chain(3))] == [(0,), (1,), (2,)]


def test_a_word_of_three_bars_in_lists(tmp_path: Path) -> None:
    class Entry:
        text, features, score = "a ||| b &#124; |||", {"lm": -2.0, "words": 3.0}, -0.5
        kbest: list[object] = []  # noqa: RUF012

    entry = Entry()
    entry.kbest = [entry]
    [line] = nbest_lines(7, entry)  # type: ignore[arg-type]
    assert line.count("|||") == 3
    assert parse_nbest_line(line) == (7, entry.text, {"lm": [-2.0], "words": [3.0]}, -0.5)
    assert parse_nbest_line("0 ||| a ||| d= -1 -2 w= 3 ||| -1")[2] == {"d": [-1.0, -2.0], "w": [3.0]}
    for broken in ("", "0 ||| a", "x ||| a ||| w= 1 ||| 2", "0 ||| a ||| 3 ||| 2", "0 ||| a ||| w= b ||| 2"):
        with pytest.raises(InputError, match="no line of an n-best list"):
            parse_nbest_line(broken)


def test_a_word_of_three_bars_in_tables(tmp_path: Path) -> None:
    for name, content in (("s", "||| a"), ("t", "b |||"), ("a", "0-1 1-0")):
        (tmp_path / name).write_text(content + "\n")
    build_phrase_table(tmp_path / "s", tmp_path / "t", tmp_path / "a", tmp_path / "table")
    phrases, *_ = export_moses(PhraseTable(tmp_path / "table"), tmp_path, compress=False)
    import_moses(phrases, tmp_path / "again")
    assert PhraseTable(tmp_path / "again").lookup("|||")[0].target == "|||"
    from treeglot.search import read_moses_phrases

    assert read_moses_phrases(phrases).lookup(["|||"])[0][0] == "|||"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_bombs_are_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bomb{ending}"
    line = b"a" * 999 + b"\n"
    block = line * (1 << 12)
    packer = gzip.open if ending == ".gz" else zstandard.open
    with packer(path, "wb") as file:
        for _ in range(3 * UNPACKED_ANYWAY // len(block)):
            file.write(block)
    with open_binary(path) as stream, pytest.raises(InputError, match=f"more than {MAX_RATIO} times") as caught:
        read = 0
        while part := stream.read(1 << 20):
            read += len(part)
    assert caught.value.path == str(path)
    assert read <= UNPACKED_ANYWAY + (1 << 21)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_text_that_packs_well_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"text{ending}"
    content = b"".join(b"%d the house is small\n" % n for n in range(20_000))
    with atomic_write_binary(path) as out:
        out.write(content)
    with open_binary(path) as stream:
        assert stream.read() == content


def test_a_mapped_file_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    """Not SIGBUS: what is gone reads as zeros, and nothing that was answered from them is given as an answer."""
    words = [f"w{number}" for number in range(150_000)]
    with (tmp_path / "arpa").open("wb") as file:
        lm.estimate([f"{' '.join(words[n : n + 50])}\n".encode() for n in range(0, len(words), 50)], file, order=2)
    path = tmp_path / "model"
    lm.compile_model(tmp_path / "arpa", path)
    (tmp_path / "arpa").unlink()
    assert path.stat().st_size > core_files.COPIED
    (tmp_path / "text").write_text("\n".join(words[:1000]) + "\n")
    script = f"""
import os, sys
from treeglot import lm
from treeglot.cli import main
opened = lm.open_model
def cut(path):
    model = opened(path)
    os.truncate(path, 4096)
    return model
lm.open_model = cut
sys.argv = ["treeglot", "lm", "query", {str(path)!r}, "--text", {str(tmp_path / "text")!r}]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert str(path) in done.stderr and "cut short" in done.stderr and "Traceback" not in done.stderr
