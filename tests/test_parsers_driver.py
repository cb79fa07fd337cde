"""Files through a parser: order, parallel runs, crashes, and continuing after ``kill -9`` with the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from treeglot.errors import InputError, ParserError, TreeglotError
from treeglot.parsers import ParseSummary, open_parser, parse_file
from treeglot.parsers.journal import Journal
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn
from treeglot.trees.treejson import read_jsonl

LINES = [f"w{n} x{n % 3} y" if n % 17 else "" for n in range(1, 101)]


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def run(source: Path, folder: Path, *, options: dict[str, Any] | None = None, **how: Any) -> ParseSummary:
    folder.mkdir(exist_ok=True)
    with open_parser("parsers_fake:chain", "en", **(options or {})) as parser:
        outputs = {name: folder / f"out.{name}" for name in ("conllu", "penn", "jsonl")}
        return parse_file(parser, source, **{"batch_size": 8, **outputs, **how})


def test_line_n_is_sentence_n_of_every_output(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", LINES)
    summary = run(source, tmp_path / "one")
    assert (summary.sentences, summary.failed, summary.failures) == (100, 0, {"empty line": 5})
    assert summary.converted == {"constituency": 95}
    sentences = list(read_conllu(tmp_path / "one" / "out.conllu"))
    trees = list(read_penn(tmp_path / "one" / "out.penn"))
    objects = list(read_jsonl(tmp_path / "one" / "out.jsonl"))
    assert len(sentences) == len(trees) == len(objects) == 100
    for number, (line, sentence, tree, item) in enumerate(zip(LINES, sentences, trees, objects, strict=True), 1):
        assert sentence.id == str(number)
        assert sentence.tokens.forms == tree.tokens.forms == item.tokens.forms == (tuple(line.split()) or ("_",))
        notes = [c for c in sentence.comments if c.startswith(("# constituency", "# parse"))]
        assert notes == (["# constituency = converted from dependencies"] if line else ["# parse = failed: empty line"])
    assert sentences[0].comments[0].startswith("# generator = treeglot ")


def test_workers_give_the_same_bytes(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", LINES)
    run(source, tmp_path / "one")
    assert run(source, tmp_path / "two", workers=2).workers == 2
    for name in ("out.conllu", "out.penn", "out.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["out.conllu", "out.jsonl", "out.penn"]


def test_a_worker_that_dies_loses_no_sentence(tmp_path: Path) -> None:
    lines = LINES[:40]
    lines[20] = "this KILL s"
    lines[3] = "an ERROR here"
    source = write_lines(tmp_path / "in.txt", lines)
    summary = run(source, tmp_path / "out", workers=2)
    assert summary.sentences == 40 and summary.failed == 2
    assert summary.failures["the parser's process died"] == 1 and summary.failures["cannot do this one"] == 1
    parsed = list(read_conllu(tmp_path / "out" / "out.conllu"))
    assert [sentence.tokens.forms for sentence in parsed] == [tuple(line.split()) or ("_",) for line in lines]


SCRIPT = """
import sys
from pathlib import Path
from treeglot.parsers import open_parser, parse_file
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with open_parser("parsers_fake:chain", "en", sleep=float(sys.argv[2])) as parser:
        summary = parse_file(parser, folder / "in.txt", conllu=folder / "out.conllu", penn=folder / "out.penn",
                             batch_size=4, workers=int(sys.argv[3]))
    print(summary.resumed)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_and_continue(tmp_path: Path, workers: int) -> None:
    """Killed twice in the middle, the run continues and the files are the same as those of a run in peace."""
    for name in ("killed", "peace"):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "in.txt", LINES)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}

    def command(name: str) -> list[str]:
        # the options belong to the run: the same pace in both, or it would be another run
        return [sys.executable, "-c", SCRIPT, str(tmp_path / name), "0.01", str(workers)]

    script = tmp_path / "script.py"  # spawned workers import the main module again, so it must be a file
    script.write_text(SCRIPT, encoding="utf-8")

    def start(name: str) -> subprocess.Popen[str]:
        arguments = [sys.executable, str(script), *command(name)[3:]]
        return subprocess.Popen(
            arguments,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    journal = tmp_path / "killed" / ".out.conllu.journal"
    seen = 0
    for _ in range(2):
        process = start("killed")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            records = journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0
            if records >= seen + 4:
                break
            time.sleep(0.005)
        assert process.poll() is None, "the run was over before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        seen = journal.read_bytes().count(b"\n") - 1
        assert not (tmp_path / "killed" / "out.conllu").exists()
    with journal.open("ab") as stream:
        stream.write(b"0123abcd {cut o")
    last, peace = start("killed"), start("peace")
    resumed = int(last.communicate(timeout=120)[0])
    assert int(peace.communicate(timeout=120)[0]) == 0
    assert resumed >= 4 * seen > 0
    for name in ("out.conllu", "out.penn"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "peace" / name).read_bytes()
    assert not journal.exists()


def test_another_run_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_lines(tmp_path / "in.txt", LINES)
    appended = Journal.append

    def stop_early(self: Journal, record: dict[str, Any]) -> None:
        appended(self, record)
        if self.size == 5:
            raise KeyboardInterrupt

    def interrupted(**how: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", stop_early)
            with pytest.raises(KeyboardInterrupt):
                run(source, tmp_path / "out", **how)

    interrupted()
    assert run(source, tmp_path / "out").resumed == 40
    interrupted()
    assert run(source, tmp_path / "out", batch_size=9).resumed == 0, "other batches"
    interrupted()
    assert run(source, tmp_path / "out", options={"max_words": 2}).resumed == 0, "other options"
    interrupted()
    assert run(source, tmp_path / "out", resume=False).resumed == 0
    interrupted()
    write_lines(source, [*LINES, "one more"])
    summary = run(source, tmp_path / "out")
    assert (summary.resumed, summary.sentences) == (0, 101), "other text"


def test_two_runs_cannot_write_the_same_file(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", LINES[:3])
    with Journal(tmp_path / ".out.conllu.journal", {}), pytest.raises(ParserError, match="another run"):
        run(source, tmp_path)


def test_journal_survives_any_cut(tmp_path: Path) -> None:
    """Cut at every byte: what is read back is a prefix of what was written."""
    path = tmp_path / "j"
    records: list[dict[str, Any]] = [{"n": n, "text": "ü\n" * n} for n in range(4)]
    with Journal(path, {"a": 1}) as journal:
        for record in records:
            journal.append(record)
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with Journal(path, {"a": 1}) as journal:
            kept = list(journal)
            assert kept == records[: len(kept)]
            journal.append({"more": True})
            assert list(journal) == [*kept, {"more": True}]
    path.write_bytes(whole.replace(b'"n":2', b'"n":7'))
    with Journal(path, {"a": 1}) as journal:
        assert list(journal) == records[:2]


def test_tokenized_input_keeps_odd_spaces_inside_words(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", ["a\u00a0b  c\td "])
    run(source, tmp_path, tokenized=True)
    [sentence] = read_conllu(tmp_path / "out.conllu")
    assert sentence.tokens.forms == ("a\u00a0b", "c", "d") and not any("text" in c for c in sentence.comments)


def test_standard_output_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_lines(tmp_path / "in.txt", LINES)
    run(source, tmp_path / "file")
    with open_parser("parsers_fake:chain", "en") as parser:
        parse_file(parser, source, penn="-", batch_size=8)
    assert capsys.readouterr().out == (tmp_path / "file" / "out.penn").read_text(encoding="utf-8")


def test_refused_settings(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", LINES[:12])
    with open_parser("parsers_fake:chain", "en") as parser:
        with pytest.raises(ParserError, match="no output"):
            parse_file(parser, source)
        with pytest.raises(TreeglotError, match="two outputs go to"):
            parse_file(parser, source, conllu=tmp_path / "x", penn=tmp_path / "x")
        with pytest.raises(TreeglotError, match="folder does not exist"):
            parse_file(parser, source, conllu=tmp_path / "none" / "x")
        with pytest.raises(InputError, match="no such file"):
            parse_file(parser, tmp_path / "absent", conllu=tmp_path / "x")
        parser.spec = None
        with pytest.raises(ParserError, match="other processes"):
            parse_file(parser, source, conllu=tmp_path / "x", batch_size=1, workers=2)
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_summary_is_plain_data(tmp_path: Path) -> None:
    summary = run(write_lines(tmp_path / "in.txt", LINES), tmp_path)
    record = json.loads(json.dumps(summary.as_dict()))
    assert record["sentences"] == 100 and record["words"] == summary.words and record["peak_memory"] > 1_000_000
