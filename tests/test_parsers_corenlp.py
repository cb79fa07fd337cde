"""CoreNLP: the server's life and death with a stand-in for Java, and real parses where its models are installed."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli_runner import Run
from effort import worlds
from treeglot.errors import ConfigError, ParserError
from treeglot.parsers import BackendUnavailable, corenlp, corenlp_server, failure, open_parser, parse_file
from treeglot.parsers.corenlp_answer import Answer, read_answer, words_of
from treeglot.parsers.corenlp_server import CoreNLPServer
from treeglot.pipeline import parsing
from treeglot.pipeline.config import ParserChoice
from treeglot.trees import ParsedSentence
from treeglot.trees.conllu import read_conllu

Opener = Callable[..., corenlp.CoreNLPParser]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A CoreNLP parser whose Java is a small Python program."""
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).parent / "fake_java.py"}" "$@"\n')
    java.chmod(0o755)
    monkeypatch.setenv("FAKE_JAVA_FOLDER", str(tmp_path))

    def opened(**options: Any) -> corenlp.CoreNLPParser:
        parser = open_parser("corenlp", "zh", java=str(java), classpath=["x.jar"], **options)
        assert isinstance(parser, corenlp.CoreNLPParser)
        return parser

    return opened


def starts(folder: Path) -> list[str]:
    return (folder / "starts").read_text().splitlines()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_parses_and_stops(fake: Opener, tmp_path: Path) -> None:
    with fake(memory="3g", threads=2) as parser:
        parsed = parser.parse_batch(["a 𝄞 b", "", "c", ["d e", "f"]])
        assert [sentence.tokens.forms for sentence in parsed] == [("a", "𝄞", "b"), ("_",), ("c",), ("d e", "f")]
        assert parsed[0].tokens.upos == ("NOUN",) * 3 and parsed[0].tokens.xpos == ("NN",) * 3
        assert parsed[0].constituency is not None and parsed[0].constituency.labels == ("NP",)
        pid = parser.server.pid
        assert pid is not None and alive(pid)
    assert not alive(pid)
    assert parser.peak_memory() > 1_000_000
    [line] = starts(tmp_path)
    assert "-Xmx3g" in line and "threads=2" in line
    lines, properties = map(list, zip(*map(json.loads, (tmp_path / "requests").read_text().splitlines()), strict=True))
    assert lines == [["a 𝄞 b", "c"], ["d_e f"]]
    assert "tokenize.whitespace" not in properties[0] and properties[1]["tokenize.whitespace"] == "true"


def test_a_crash_loses_no_sentence(fake: Opener, tmp_path: Path) -> None:
    lines = [f"w{n} x" for n in range(16)]
    lines[5] = "CRASH x"
    with fake() as parser:
        parsed = list(parser.parse(lines))
        assert [sentence.tokens.forms for sentence in parsed] == [tuple(line.split()) for line in lines]
        assert [bool(failure(sentence)) for sentence in parsed] == [n == 5 for n in range(16)]
        assert "the server died" in failure(parsed[5])
        assert parsed[5].tokens.upos == ("NOUN", "NOUN"), "the words were still tagged"
    assert parser.server.restarts == len(starts(tmp_path)) - 1 > 0


def test_a_crash_that_was_an_accident_leaves_no_trace(fake: Opener, tmp_path: Path) -> None:
    with fake() as parser:
        parsed = parser.parse_batch(["a", "CRASHONCE b", "c"])
    assert not any(map(failure, parsed)) and len(starts(tmp_path)) == 2


def test_a_crash_under_load_blames_only_the_guilty(fake: Opener, tmp_path: Path) -> None:
    lines = [f"w{n}" for n in range(60)]
    lines[31] = "CRASH it"
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{line}\n" for line in lines))
    with fake(threads=4) as parser:
        summary = parse_file(parser, source, conllu=tmp_path / "out.conllu", batch_size=4, workers=4)
    parsed = list(read_conllu(tmp_path / "out.conllu"))
    assert [sentence.tokens.forms for sentence in parsed] == [tuple(line.split()) for line in lines]
    assert summary.failed == 1 and any("failed" in comment for comment in parsed[31].comments)


def children(pid: int) -> list[int]:
    task = Path(f"/proc/{pid}/task/{pid}/children")
    if not task.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(child) for child in task.read_text().split()]


@pytest.mark.parametrize("victim", ["java", "watchdog"])
def test_killing_the_server_in_the_middle(fake: Opener, victim: str) -> None:
    with fake() as parser:
        parser.start()
        pid = parser.server.pid
        assert pid is not None
        java, process = children(pid), parser.server._process
        os.kill(java[0] if victim == "java" else pid, signal.SIGKILL)
        deadline = time.monotonic() + 120  # a busy machine; usually at once
        while (
            process.poll() is None and time.monotonic() < deadline
        ):  # a dying process is a zombie before it can be awaited
            time.sleep(0.01)
        assert not failure(parser.parse_batch(["a"])[0])
        assert parser.server.pid != pid
        while any(map(alive, java)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert java and not any(map(alive, java)), "no orphan is left"


def test_errors_and_timeouts_are_for_one_sentence(fake: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake(timeout=0.5) as parser:
        parsed = parser.parse_batch(["a", "SLOW b", "c", "ERROR d", "LOSE e", "f"])
    assert [sentence.tokens.forms[-1] for sentence in parsed] == list("abcdef")
    reasons = [failure(sentence) for sentence in parsed]
    assert [bool(reason) for reason in reasons] == [False, True, False, True, True, False]
    assert "timeout" in reasons[1] and "500" in reasons[3] and "0 sentences" in reasons[4]
    assert parser.server.restarts == 0


def test_a_server_that_hangs_is_replaced(fake: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corenlp_server, "PATIENCE", 0.3)
    with fake(timeout=0.2) as parser:
        parsed = parser.parse_batch(["a", "HANG b"])
    assert [failure(sentence) != "" for sentence in parsed] == [False, True]
    assert "no answer" in failure(parsed[1]) and parser.server.restarts > 0


def test_a_server_that_cannot_start_ends_the_run(fake: Opener) -> None:
    with fake(memory="1m") as parser, pytest.raises(BackendUnavailable, match="object heap"):
        parser.parse_batch(["a"])


def test_java_ends_with_us_even_by_kill_9(fake: Opener, tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom treeglot.parsers import open_parser\n"
        f"parser = open_parser('corenlp', 'zh', java={str(tmp_path / 'java')!r}, classpath=['x.jar'])\n"
        "parser.start()\nprint(parser.server.pid, flush=True)\ntime.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    watchdog = int(process.stdout.readline())
    java = children(watchdog)
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 120  # a busy machine; usually at once
    while time.monotonic() < deadline and any(map(alive, [watchdog, *java])):
        time.sleep(0.05)
    assert java and not any(map(alive, [watchdog, *java]))


def test_requests_from_many_threads_do_not_mix(fake: Opener) -> None:
    with fake(threads=4) as parser:
        wrong: list[str] = []

        def ask(name: str) -> None:
            for n in range(10):
                [sentence] = parser.parse_batch([f"{name} {n}"])
                if sentence.tokens.forms != (name, str(n)):
                    wrong.append(name)

        threads = [threading.Thread(target=ask, args=(name,)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


@pytest.mark.parametrize(("options", "says"), [({"memory": "4 GB"}, "memory"), ({"max_words": 0}, "max_words")])
def test_refused_options(fake: Opener, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParserError, match=says):
        fake(**options)


def test_missing_models_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path))
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    with pytest.raises(BackendUnavailable) as caught:
        open_parser("corenlp", "zh", java=sys.executable)
    assert "treeglot parsers install corenlp --lang zh" in caught.value.remedy
    with pytest.raises(BackendUnavailable, match="no parser for 'nl'"):
        open_parser("corenlp", "nl", java=sys.executable)


def test_words_are_those_of_the_text() -> None:
    """CoreNLP rewrites quotes and loses the full stop of abbreviations; the offsets tell what was written."""
    text = "𝄞 usw. «"
    tokens = [
        {
            "word": "𝄞",
            "originalText": "𝄞",
            "pos": "SYM",
            "characterOffsetBegin": 0,
            "characterOffsetEnd": 2,
            "after": " ",
        },
        {
            "word": "usw.",
            "originalText": "usw",
            "pos": "ADV",
            "characterOffsetBegin": 3,
            "characterOffsetEnd": 7,
            "after": " ",
        },
        {
            "word": "``",
            "originalText": "«",
            "pos": "PUNCT",
            "characterOffsetBegin": 8,
            "characterOffsetEnd": 9,
            "after": "",
        },
    ]
    arcs = [{"dep": "ROOT", "governor": 0, "dependent": 2}, {"dep": "ROOT", "governor": 0, "dependent": 3}]
    data = {
        "sentences": [{"tokens": tokens, "basicDependencies": arcs, "parse": "(ROOT (SYM 𝄞) (ADV usw.) (PUNCT ``))"}]
    }
    [sentence] = read_answer(Answer(data, text), "de")
    assert sentence.tokens.forms == ("𝄞", "usw.", "«")
    assert sentence.dependency is not None
    assert sentence.dependency.heads == (1, -1, 1) and sentence.dependency.deprels == ("dep", "root", "parataxis")
    assert dict(sentence.notes)["roots_attached"] == "2"


def test_a_cycle_in_the_arcs_leaves_the_phrases() -> None:
    tokens = [{"word": word, "originalText": word, "pos": "NN"} for word in "ab"]
    arcs = [{"dep": "dep", "governor": 2, "dependent": 1}, {"dep": "dep", "governor": 1, "dependent": 2}]
    data = {"sentences": [{"tokens": tokens, "basicDependencies": arcs, "parse": "(ROOT (NP (NN a) (NN b)))"}]}
    [sentence] = read_answer(Answer(data, "a b"), "zh")
    assert sentence.constituency is not None and sentence.constituency.labels == ("NP",)
    assert sentence.dependency is not None and sentence.dependency.heads == (1, -1)
    assert sentence.comments == ("# dependency = converted from constituents",)


@pytest.mark.parametrize("data", [{}, {"sentences": None}, {"sentences": {}}, {"sentences": "none"}, [], "late"])
def test_an_answer_without_sentences_is_refused(data: Any) -> None:
    for read in (read_answer, words_of):
        with pytest.raises(ParserError, match="answer has no sentences"):
            read(Answer(data, "a b"), "en")


def test_words_that_were_given_are_all_there() -> None:
    tokens = [{"word": word, "originalText": word, "pos": "NN"} for word in "ab"]
    arcs = [{"dep": "ROOT", "governor": 0, "dependent": 1}, {"dep": "dep", "governor": 1, "dependent": 2}]
    answer = Answer({"sentences": [{"tokens": tokens, "basicDependencies": arcs}]}, "a b")
    assert [sentence.tokens.forms for sentence in read_answer(answer, "en", [["a", "b"]])] == [("a", "b")]
    for given in [["a"]], [["a", "b", "c"]], []:
        with pytest.raises(ParserError, match="split or dropped"):
            read_answer(answer, "en", given)
    assert [words.forms for words in words_of(answer, "en")] == [("a", "b")]


def installed(lang: str) -> None:
    if shutil.which("java") is None or not corenlp.is_installed(lang):
        pytest.skip(f"no CoreNLP models: java and `treeglot parsers install corenlp --lang {lang}`")


@pytest.mark.parametrize(
    ("lang", "text", "words", "subject"),
    [
        ("en", "The cat (a tabby) sleeps in the house.", None, ("cat", "sleeps")),
        ("de", "Der Hund schläft zum Glück im Haus.", None, ("Hund", "schläft")),
        ("fr", "Le chat dort au soleil.", None, None),
        ("es", "El gato duerme en la casa del rey.", None, ("gato", "duerme")),
        # Java takes most of a minute to read its models.
        ("zh", "警察在机场抓住了小偷。", ["警察", "在", "机场", "抓住", "了", "小偷", "。"], ("警察", "抓住")),
    ][: worlds(5)],
)
def test_real_parses(lang: str, text: str, words: list[str] | None, subject: tuple[str, str] | None) -> None:
    installed(lang)
    with open_parser("corenlp", lang) as parser:
        first, empty, tokens, twice = parser.parse_batch([text, "", ["a", "b c", "."], f"{text} {text}"])
    for sentence in (first, tokens, twice):
        assert not failure(sentence) and sentence.dependency is not None and sentence.constituency is not None
    assert failure(empty) == "empty line"
    assert tokens.tokens.forms == ("a", "b c", ".")
    assert words is None or list(first.tokens.forms) == words
    spaces = ["" if misc == "SpaceAfter=No" else " " for misc in first.tokens.misc]
    if not first.ranges:
        assert "".join(map(str.__add__, first.tokens.forms, spaces)).strip() == text
    assert first.dependency is not None
    arcs = {
        (first.tokens.forms[j], first.tokens.forms[head])
        for j, head in enumerate(first.dependency.heads)
        if first.dependency.deprels[j].startswith("nsubj")
    }
    assert subject is None or subject in arcs
    surface = [multiword.columns[1] for multiword in first.ranges]
    assert surface == {"de": ["zum", "im"], "fr": ["au"]}.get(lang, [])


def stanford(sentence: ParsedSentence) -> list[tuple[str, str, str]]:
    tree, forms = sentence.dependency, sentence.tokens.forms
    assert tree is not None
    return [
        (form, forms[head] if head >= 0 else "", label)
        for form, head, label in zip(forms, tree.heads, tree.deprels, strict=True)
    ]


@pytest.mark.parametrize(
    ("lang", "text", "arcs"),
    [
        (
            "en",
            "The cat (a tabby) sleeps in the house.",
            {("in", "sleeps", "prep"), ("house", "in", "pobj"), ("cat", "sleeps", "nsubj")},
        ),
        (
            "zh",
            "他在桌子上给你买了一本书。",
            {("给", "买", "prep"), ("你", "给", "pobj"), ("桌子", "上", "lobj"), ("上", "在", "plmod")},
        ),
    ][: worlds(3)],
)
def test_stanford_dependencies(lang: str, text: str, arcs: set[tuple[str, str, str]], tmp_path: Path, run: Run) -> None:
    """Prepositions and localisers head their objects, and the conversion of the parser's own constituents gives the same."""
    installed(lang)
    (tmp_path / "text").write_text(f"{text}\n\n")
    outputs = tmp_path / "a.conllu", tmp_path / "a.penn"
    result = run("parse", tmp_path / "text", "--lang", lang, "--parser", "corenlp", "--dependencies", "sd",
                 "--conllu", outputs[0], "--penn", outputs[1])  # fmt: skip
    assert result.code == 0, result.err
    assert "Stanford dependencies" in outputs[0].read_text().splitlines()[0]
    parsed = list(read_conllu(outputs[0]))
    assert arcs <= set(stanford(parsed[0]))
    converted = run("trees", "convert", "--dependencies", "sd", outputs[1], tmp_path / "b.conllu", "--heads",
                    {"en": "penn", "zh": "ctb"}[lang])  # fmt: skip
    assert converted.code == 0 and "2 dependency trees converted to Stanford dependencies" in converted.err
    again = list(read_conllu(tmp_path / "b.conllu"))
    assert [stanford(sentence) for sentence in again] == [stanford(sentence) for sentence in parsed]


def test_stanford_dependencies_of_other_languages(fake: Opener, tmp_path: Path, run: Run) -> None:
    assert fake(dependencies="sd").server.properties["parse.originalDependencies"] == "true"
    assert "parse.originalDependencies" not in fake().server.properties
    with pytest.raises(ParserError, match="no Stanford dependencies for de"):
        open_parser("corenlp", "de", java=sys.executable, classpath=["x.jar"], dependencies="sd")
    (tmp_path / "a.penn").write_text("(S (NE Hans) (VVFIN geht))\n")
    result = run(
        "trees", "convert", "--dependencies", "sd", tmp_path / "a.penn", tmp_path / "a.conllu", "--heads", "tiger"
    )
    assert result.code != 0 and "Chinese or English" in result.err
    (tmp_path / "b.conllu").write_text("1\ta\t_\t_\tNN\t_\t0\troot\t_\t_\n\n")
    result = run("trees", "convert", "--dependencies", "sd", tmp_path / "b.conllu", tmp_path / "c.penn")
    assert result.code != 0 and "no dependencies" in result.err


def test_a_project_has_stanford_dependencies_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(parsing, "open_parser", lambda name, lang, **options: opened.append(options))
    for dependencies, lang in (("auto", "zh"), ("sd", "en"), ("ud", "zh"), ("auto", "fr")):
        choice = ParserChoice(backend="corenlp", dependencies=dependencies)  # type: ignore[arg-type]
        parsing.open_side_parser(choice, "source", lang)
    assert [options.get("dependencies", "ud") for options in opened] == ["sd", "sd", "ud", "ud"]
    with pytest.raises(ConfigError, match="spacy has no Stanford dependencies for zh"):
        parsing.open_side_parser(ParserChoice(backend="spacy", dependencies="sd"), "source", "zh")


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not list open ports")
def test_the_real_server_listens_here_alone_and_hides_its_path() -> None:
    """Without a parser: the server itself, which needs no models."""
    installed("en")
    program = corenlp.home() / corenlp.program_coordinates(corenlp.VERSION).file_name
    server = CoreNLPServer([program], {"annotators": "tokenize"}, memory="300m")
    try:
        server.start()
        port = f":{server._port:04X}"
        rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
        listening = {row[1].removesuffix(port) for row in rows if row[1].endswith(port) and row[3] == "0A"}
        assert listening and listening <= {"0100007F", "0000000000000000FFFF00000100007F"}
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert not any(server._context.encode() in command for command in commands)
        connection = http.client.HTTPConnection("127.0.0.1", server._port, timeout=20)
        connection.request("POST", "/?properties=%7B%7D", b"text")
        assert connection.getresponse().status == 404
        connection.close()
    finally:
        server.close()


def test_the_class_that_keeps_the_server_here_is_for_java_8() -> None:
    code = Path(corenlp_server.__file__).with_name("loopback") / "treeglot/Loopback.class"
    assert code.read_bytes()[:8] == bytes.fromhex("CAFEBABE 0000 0034")
