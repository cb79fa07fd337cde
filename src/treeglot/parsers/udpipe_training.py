"""Train a UDPipe model on a CoNLL-U treebank: tokenizer, tagger and parser, any of them left out.

UDPipe trains in one long native call; it runs in a process of its own, so that progress can be shown (it writes a line after
each iteration), Ctrl-C works, and memory is given back. The treebank is read by treeglot first: a broken one is reported with
its line before any training. The model appears under its final name only when it is complete.

>>> Settings(tokenizer=None, parser="iterations=5;transition_system=swap").steps
25
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeglot.errors import InputError, ParserError
from treeglot.files import atomic_write_binary, type_path
from treeglot.parsers.base import BackendUnavailable
from treeglot.progress import say, track
from treeglot.scratch import scratch_folder
from treeglot.trees.conllu import format_conllu, read_conllu

_DONE = re.compile(rb"^(Epoch|Iteration) \d+[:,]")
_DEFAULT_STEPS = {"tokenizer": ("epochs", 100), "tagger": ("iterations", 20), "parser": ("iterations", 10)}


@dataclass(frozen=True)
class Settings:
    """UDPipe's options of each part (``name=value;name=value``); empty: its defaults, None: leave the part out."""

    tokenizer: str | None = ""
    tagger: str | None = ""
    parser: str | None = ""

    @property
    def steps(self) -> int:
        """Epochs and iterations in all, for progress; with several tagger models an estimate."""
        total = 0
        for part, (name, default) in _DEFAULT_STEPS.items():
            options = getattr(self, part)
            if options is not None:
                given = re.search(rf"(?:^|;)\s*{name}=(\d+)", options)
                total += int(given[1]) if given else default
        return total


@dataclass
class TrainingSummary:
    """``scores`` are UDPipe's own evaluation lines on the held-out sentences."""

    sentences: int
    words: int
    heldout: int
    bytes: int
    seconds: float
    scores: list[str] = field(default_factory=list)


def train(
    treebanks: Sequence[type_path],
    out: type_path,
    *,
    heldout: type_path | None = None,
    settings: Settings | None = None,
) -> TrainingSummary:
    """Train on all sentences of ``treebanks`` and write the model to ``out``.

    ``heldout`` is used by UDPipe to choose the best iteration and afterwards to evaluate the model.
    """
    settings = settings or Settings()
    try:
        import ufal.udpipe  # noqa: F401 - better to fail now than after reading the treebank
    except ImportError:
        raise BackendUnavailable("ufal.udpipe is not installed", remedy="pip install 'treeglot[udpipe]'") from None
    if settings.steps == 0:
        raise ParserError("nothing to train", remedy="leave out at most two of tokenizer, tagger and parser")
    final = Path(out)
    if not final.parent.is_dir():
        raise ParserError("the folder does not exist", path=final.parent, remedy="create it first")
    start = time.monotonic()
    with scratch_folder("udpipe") as folder:
        sentences, words = _copy(treebanks, folder / "train.conllu")
        if not sentences:
            raise InputError("no sentences", path=treebanks[0] if treebanks else None, remedy="give a CoNLL-U treebank")
        held = _copy([heldout], folder / "heldout.conllu")[0] if heldout is not None else 0
        _run(folder, settings)
        model = (folder / "model").read_bytes()
        scores = _evaluate(folder / "model", folder / "heldout.conllu", settings) if held else []
    with atomic_write_binary(final) as stream:
        stream.write(model)
    return TrainingSummary(sentences, words, held, len(model), time.monotonic() - start, scores)


def _copy(treebanks: Iterable[type_path], to: Path) -> tuple[int, int]:
    sentences = words = 0
    with to.open("w", encoding="utf-8", newline="\n") as stream:
        for path in treebanks:
            for number, sentence in enumerate(track(read_conllu(path), f"reading {os.fspath(path)}"), 1):
                if sentence.dependency is None:
                    raise InputError(
                        f"sentence {number} has no dependency tree", path=path, line=None, remedy="drop or annotate it"
                    )
                stream.write(format_conllu(sentence))
                sentences += 1
                words += len(sentence)
    return sentences, words


def _run(folder: Path, settings: Settings) -> None:
    order = {"tokenizer": settings.tokenizer, "tagger": settings.tagger, "parser": settings.parser}
    command = [sys.executable, "-m", "treeglot.parsers.udpipe_training", str(folder), json.dumps(order)]
    last: deque[str] = deque(maxlen=3)

    def iterations(stream: Iterable[bytes]) -> Iterator[bytes]:
        for line in stream:
            last.append(line.decode("utf-8", errors="replace").strip())
            if _DONE.match(line):
                yield line

    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        try:
            for _ in track(iterations(process.stderr), "training", total=settings.steps):
                pass
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0 or not (folder / "model").exists():
        raise ParserError(
            f"UDPipe could not train: {' '.join(last) or f'its process ended with {process.returncode}'}",
            remedy="check the options; the treebank needs UPOS and trees on all words",
        )


def _evaluate(model: Path, heldout: Path, settings: Settings) -> list[str]:
    import ufal.udpipe as udpipe

    loaded = udpipe.Model.load(str(model))
    lines: list[str] = []
    parts = (settings.tokenizer, settings.tagger, settings.parser)
    tokenizer, tagger, parser = ("" if part is not None else "none" for part in parts)
    runs = [("none", tagger, parser)] + ([(tokenizer, "none", "none")] if tokenizer == "" else [])
    for run in runs:
        problem = udpipe.ProcessingError()
        text = udpipe.Evaluator(loaded, *run).evaluate(heldout.read_text(encoding="utf-8"), problem)
        lines += [line for line in text.splitlines() if line.strip()] if not problem.occurred() else [problem.message]
    return lines


def _main(folder: Path, order: dict[str, str | None]) -> int:
    """The training process."""
    import ufal.udpipe as udpipe

    def load(path: Path) -> Any:
        sentences = udpipe.Sentences()
        if not path.exists():
            return sentences
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText(path.read_text(encoding="utf-8"))
        problem = udpipe.ProcessingError()
        while True:
            sentence = udpipe.Sentence()
            if not reader.nextSentence(sentence, problem):
                break
            sentences.append(sentence)
        if problem.occurred():
            say(problem.message)
            raise SystemExit(1)
        return sentences

    problem = udpipe.ProcessingError()
    options = ["none" if order[part] is None else order[part] for part in ("tokenizer", "tagger", "parser")]
    model = udpipe.Trainer.train(
        "morphodita_parsito", load(folder / "train.conllu"), load(folder / "heldout.conllu"), *options, problem
    )
    if problem.occurred() or not model:
        say(problem.message)
        return 1
    (folder / "model").write_bytes(model)
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), json.loads(sys.argv[2])))
