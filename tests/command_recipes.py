"""A call that works for every command, over a small world of files: what the walks over all commands start from.

In a recipe ``<name`` is a file that is read, ``>name`` one that is written, ``+name`` a folder that is made, ``^name`` the beginning of
the names of files that are written; the rest is as on the command line. A command that is new wants its recipe here.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cli_runner import command_of
from treeglot import alignment, cli, examples, lm
from treeglot.grammars.subtree_phrases import write_spans
from treeglot.search import start_weights, write_weights
from treeglot.tables import PhraseTable, build_phrase_table, export_moses
from treeglot.trees.conllu import write_conllu
from treeglot.trees.penn import write_penn
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.treejson import write_jsonl

SIZE = 12
"""Sentence pairs of the world."""

RECIPES = {
    "init": "+project --source zh --target en --tokenizer space",
    "train": "",
    "tune": "",
    "translate": "<s.zh --table <table --lm <lm --weights <weights --out >o.txt --html >o.html --svg >o.svg",
    "evaluate": "<t.en <t.en --baseline <s.zh --metrics bleu,ter --samples 20",
    "compare": "phrases --out >o.md",
    "demo": "+demo",
    "parse": "<s.zh --lang zh --tokenized --parser files --trees <s.conllu --trees <s.penn --conllu >o.conllu "
    "--penn >o.penn --jsonl >o.jsonl",
    "forest": "mwu --source-conllu <few.conllu --html >o.html",
    "verify": "<table <lm",
    "coverage": "--grammar hierarchical --source <s.zh --target <t.en --align <links --html +plots",
    "trees align": "<s.penn <t.penn --out >o.sta.xml",
    "trees evaluate": "<pairs.jsonl <pairs.jsonl",
    "trees train-aligner": "<pairs.jsonl --out >o.model --passes 1 --no-tune --features lexical --text <s.zh <t.en",
    "trees links-from-words": "<s.penn <t.penn --align <links --out >o.jsonl",
    "trees bank": "<s.zh <t.en --langs zh xx --out +bank --parsers udpipe udpipe --source-model no.udpipe",
    "trees convert": "<s.conllu >o.jsonl --with <s.penn",
    "trees show": "<pairs.jsonl --html --out >o.html",
    "trees stats": "<s.conllu",
    "bitext convert": "<s.zh <t.en >o.tmx -s zh -t en --to tmx",
    "bitext clean": "<s.zh <t.en >o.zh >o.en --report >o.json",
    "bitext stats": "<s.zh <t.en",
    "bitext split": "<s.zh <t.en --out ^part --dev 2 --test 2 -s zh -t en",
    "bitext tokenize": "<t.en >o.txt --lang en",
    "bitext truecase train": "<t.en --model >o.txt",
    "bitext truecase apply": "<t.en >o.txt --model <truecaser",
    "parsers list": "",
    "parsers install": "corenlp --lang en --from <s.zh",
    "parsers train-udpipe": "<t.conllu --out >o.udpipe --tokenizer none --tagger none --parser iterations=1",
    "align run": "<s.zh <t.en --out >o.txt --forward >o.f --reverse >o.r --posteriors >o.p --set sweeps=0 "
    "--dictionary <dictionary --prior-model <aligner --source-conllu <s.conllu",
    "align train": "<s.zh <t.en +model --known-links <links --set sweeps=1",
    "align apply": "<aligner <s.zh <t.en --out >o.txt --posteriors >o.p",
    "align symmetrize": "<links <links --out >o.txt",
    "align threshold": "<posteriors 0.5 --out >o.txt",
    "align lexicon": "<s.zh <t.en <links ^lex",
    "align evaluate": "<links <links",
    "align show": "<s.zh <t.en <links <links --gold <links --html >o.html",
    "rules extract": "hierarchical --align <links --source <s.zh --target <t.en",
    "rules build": "--align <links --source <s.zh --target <t.en --out >o.table",
    "rules spans": "<pairs.jsonl --out >o.txt",
    "rules compare-sets": "--source <s.zh --target <t.en --align <links --spans A=<spans",
    "rules brackets": "<s.penn <s.conllu",
    "rules show": "<table 。",
    "rules search": "<table 。",
    "rules stats": "<table",
    "rules export": "<table >o.txt --reordering >o.r",
    "rules import": "<phrases >o.table",
    "lm estimate": "--text <t.en --out >o.arpa --order 2",
    "lm compile": "<arpa >o.lm",
    "lm query": "<lm --text <t.en",
    "export moses": "+moses",
    "config check": "<treeglot.toml --no-data",
    "config show": "<treeglot.toml",
    "example write": "+example",
    "example show": "--count 1",
}

UNTRAINED = ("train", "tune", "compare", "export moses", "parsers install", "trees bank")
"""Commands whose recipe is wrong on purpose, because right it would take long: there is no project."""
SLOW = ("demo", "example write")
"""Commands that take many seconds; other tests run them."""
COSTLY = {"parsers train-udpipe": ("--tokenizer", "--tagger", "--parser")}
"""Options that switch on minutes of training whatever their value is."""

_PLACE = re.compile(r"^(.*?)([<>+^])([\w.]+)$")


class Word(NamedTuple):
    """A word of a call; ``kind`` says what the file is whose name ends it."""

    text: str
    kind: str = ""
    before: str = ""


def words(recipe: str) -> list[Word]:
    """The words of a recipe."""
    result = []
    for word in recipe.split():
        match = _PLACE.match(word)
        result.append(Word(match[3], match[2], match[1]) if match else Word(word))
    return result


def commands() -> dict[str, Any]:
    """All commands of the command line, by name, as Click knows them."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield " ".join(path), command
            return
        for name, inner in command.commands.items():
            yield from walk(inner, (*path, name))

    return dict(walk(command_of(cli.app), ()))


def make_world(folder: Path) -> None:
    """The files that recipes read, from the embedded corpus."""
    pairs = list(examples.generate(SIZE, seed=3))
    write_jsonl(pairs, folder / "pairs.jsonl")
    sides: dict[str, list[ParsedSentence]] = {"s": [p.source for p in pairs], "t": [p.target for p in pairs]}
    for name, language in (("s", "zh"), ("t", "en")):
        text = [" ".join(sentence.tokens.forms) for sentence in sides[name]]
        (folder / f"{name}.{language}").write_text("\n".join(text) + "\n", encoding="utf-8")
        write_conllu(sides[name], folder / f"{name}.conllu")
        write_penn(sides[name], folder / f"{name}.penn")
    write_conllu(sides["s"][:1], folder / "few.conllu")
    links = [" ".join(f"{link.source}-{link.target}" for link in pair.word_links) for pair in pairs]
    (folder / "dictionary").write_text("我\tI\n", encoding="utf-8")
    (folder / "links").write_text("\n".join(links) + "\n")
    write_spans(pairs, str(folder / "spans"))
    texts = [(folder / name).read_text(encoding="utf-8").splitlines() for name in ("s.zh", "t.en")]
    aligner = alignment.train("own", *texts, folder / "aligner", threads=1, sweeps=0)
    (folder / "posteriors").write_text("\n".join(aligner.link_chances(*texts)) + "\n")  # type: ignore[attr-defined]
    build_phrase_table(folder / "s.zh", folder / "t.en", folder / "links", folder / "table", threads=1)
    export_moses(PhraseTable(folder / "table"), folder / "phrases")
    with (folder / "t.en").open("rb") as text, (folder / "arpa").open("wb") as arpa:
        lm.estimate(text, arpa, order=2)
    lm.compile_model(folder / "arpa", folder / "lm")
    write_weights(folder / "weights", start_weights(["phrases"]))
    (folder / "truecaser").write_text("the (3/4) The (1)\n")
    (folder / "treeglot.toml").write_text(
        '[languages]\nsource = "zh"\ntarget = "en"\n[data.train]\nsource = "s.zh"\ntarget = "t.en"\n'
        '[systems.phrases]\ngrammars = ["phrases"]\n'
    )


class Feeder:
    """A FIFO that gives a text to whoever reads it, or takes what is written to it, as often as it is opened."""

    def __init__(self, path: Path, text: bytes | None) -> None:
        self.path, self.text = path, text
        os.mkfifo(path)
        self.received = b""
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        try:
            if self.text is None:
                self.received = self.path.read_bytes()
            else:
                self.path.write_bytes(self.text)
        except OSError:  # the command left early
            pass

    def stop(self) -> None:
        """Let the thread end, whether somebody came or not."""
        with_reader = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        self.thread.join(0.2)
        os.close(with_reader)
        self.thread.join(5)
