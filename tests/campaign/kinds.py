"""Every kind of file that treeglot writes for itself: a small good one, how it is sealed, and what is done with it.

`make_files` writes the good files into a folder, `User.use` opens one as a project does and returns all that it answers, as text,
so that two files can be compared by what comes out of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import xxhash

from random_worlds import World
from subtree_corpus import corpus as subtree_pairs
from treeglot import TreeglotError, alignment, lm
from treeglot.alignment.subtrees.model import load_model
from treeglot.alignment.subtrees.training import train_aligner
from treeglot.pipeline.stages import Runner, Stage
from treeglot.search import open_phrases, phrase_decoder, start_weights
from treeglot.tables import LexicalTable, PhraseTable, export_moses, import_moses
from treeglot.tables.rules import RuleTable
from treeglot.trees.corpus import parsed_bitext, parsed_corpus
from treeglot.trees.stored import open_corpus, stored_sentence, write_corpus

LINES = ["u v w", "u", "x x x v w u", "unseen v", "w v u x"]
PAIRS = ["a b c", "b", "c a b a"], ["u v w", "x u", "u w v"]


def _checksum(data: bytes | bytearray) -> bytes:
    return xxhash.xxh64_intdigest(bytes(data)).to_bytes(8, "little")


@dataclass(frozen=True)
class Kind:
    """``header`` is the size of what says what the rest is; ``seal`` makes all checksums of a file right again."""

    name: str
    header: int
    seal: Callable[[bytearray], bytearray] = bytearray


def _mapped(header: int, contents: int, own: int) -> Callable[[bytearray], bytearray]:
    """A header with the checksum of all that follows at ``contents``, and its own one at ``own``."""

    def seal(file: bytearray) -> bytearray:
        if len(file) >= header:
            file[contents : contents + 8] = _checksum(file[header:])
            file[own : own + 8] = bytes(8)
            file[own : own + 8] = _checksum(file[:header])
        return file

    return seal


def _seal_aligner(file: bytearray) -> bytearray:
    if len(file) >= 32:
        file[24:32] = bytes(8)
        file[24:32] = _checksum(file)
    return file


def _seal_subtrees(file: bytearray) -> bytearray:
    file[28:60] = hashlib.blake2b(bytes(file[60:]), digest_size=32).digest()
    return file


KINDS = {
    kind.name: kind
    for kind in [
        *(Kind(name, 288, _mapped(288, 64, 280)) for name in ("unigrams", "trigrams")),
        *(Kind(name, 216, _mapped(216, 64, 208)) for name in ("counted", "imported")),
        *(Kind(name, 328, _mapped(328, 64, 320)) for name in ("augmented", "hierarchical")),
        Kind("corpus", 704, _mapped(704, 24, 32)),
        Kind("aligner", 88, _seal_aligner),
        Kind("subtrees", 60, _seal_subtrees),
        Kind("manifest", 0),
    ]
}


def make_files(folder: Path) -> None:
    """A small good file of every kind."""
    for grammar in ("augmented", "hierarchical"):
        (folder / f"{grammar}.world").mkdir()
        world = World(1, folder / f"{grammar}.world", grammar)
        shutil.copy(world.tables[grammar].path, folder / grammar)
    shutil.copy(world.phrases, folder / "counted")
    text = {name: (world.phrases.parent / name).read_text().splitlines() for name in ("s", "t")}
    for name, order in (("unigrams", 1), ("trigrams", 3)):
        with (folder / f"{name}.arpa").open("wb") as file:
            lm.estimate([f"{line}\n".encode() for line in text["t"]], file, order=order)
        lm.compile_model(folder / f"{name}.arpa", folder / name)
    (folder / "moses").mkdir()
    phrases, reordering, *_ = export_moses(PhraseTable(folder / "counted"), folder / "moses")
    import_moses(phrases, folder / "imported", reordering=reordering)
    write_corpus(parsed_bitext(world.pairs), folder / "corpus")
    alignment.train("own", text["s"], text["t"], folder / "model")
    shutil.copy(folder / "model" / "model.tgwa", folder / "aligner")
    pairs = subtree_pairs(40)
    train_aligner(pairs[:26], pairs[26:], features="paper", landmarks=10, rounds=0).save(folder / "subtrees")
    project = folder / "project"
    project.mkdir()
    (project / "input").write_text("one\n")
    _run_stage(project)
    shutil.copy(project / ".treeglot/manifests/copy.json", folder / "manifest")


def _run_stage(project: Path) -> None:
    """A stage of a project as it would be: what it makes is what its input says."""

    def run(inputs: object, outputs: object, _work: Path) -> None:
        text = inputs["input"].read_text()  # type: ignore[index]
        outputs["output"].write_text(text * 2)  # type: ignore[index]
        outputs["folder"].mkdir()  # type: ignore[index]
        (outputs["folder"] / "part").write_text(text * 3)  # type: ignore[index]

    outputs = {"output": project / "output", "folder": project / "folder"}
    stage = Stage("copy", {"input": project / "input"}, outputs, {}, run)
    Runner(project, "0").run(stage, lambda _: None)


class User:
    """What is done with a file of each kind. ``good`` has the good files; ``folder`` is its own."""

    def __init__(self, good: Path, folder: Path) -> None:
        self.out = folder / "out"
        self.out.mkdir()
        self.worlds = {}
        for grammar in ("augmented", "hierarchical"):
            (folder / grammar).mkdir()
            self.worlds[grammar] = World(1, folder / grammar, grammar)
        self.world = self.worlds["augmented"]
        self.good = {name: (world.model, dict(world.tables)) for name, world in self.worlds.items()}
        # Short ones, or search is most of the time.
        short = [sentence for sentence in self.world.sentences if len(sentence) < 5][:3]
        self.sentences = parsed_corpus(short)
        self.sources = [" ".join(sentence.tokens.forms) for sentence in short]
        shutil.copytree(good / "model", folder / "model")
        self.model_folder = folder / "model"
        shutil.copytree(good / "project", folder / "project")
        self.project = folder / "project"
        self.pairs = [(pair.source, pair.target) for pair in subtree_pairs(43)[40:]]

    def use(self, kind: str, path: Path, *, sealed: bool = False) -> str:
        """All answers. A file that cannot be used is a `TreeglotError`."""
        for name, world in self.worlds.items():
            world.model, world.tables = self.good[name][0], dict(self.good[name][1])
        if kind in ("unigrams", "trigrams"):
            return self._model(path)
        if kind in ("counted", "imported"):
            return self._phrases(path)
        if kind in self.worlds:
            return self._rules(path, kind)
        if kind == "aligner":
            return self._aligner(path, sealed)
        return {"corpus": self._corpus, "subtrees": self._subtrees, "manifest": self._manifest}[kind](path)

    def _model(self, path: Path) -> str:
        model = lm.LanguageModel(path)
        core = model.core
        with model.blame():
            states = [core.begin_state(), core.null_state()]
            answers: list[object] = [model.order]
            for word in range(min(len(core), 20)):
                scores = [core.score(state, word) for state in states[:20]]
                states += [score[2] for score in scores]
                answers += [score[:2] for score in scores]
        answers += model.score_lines(line.encode() for line in LINES)
        decoder = phrase_decoder(open_phrases(self.world.phrases), model, start_weights(["phrases"]))
        answers += _translations(decoder.translate(self.sources, threads=2, nbest=3))
        self.world.model = model
        answers += _translations(self.world.decoder().translate(self.sentences, nbest=3))
        return repr(answers)

    def _phrases(self, path: Path) -> str:
        table = PhraseTable(path)
        answers: list[object] = [len(table), table.sources, list(table.source_words), list(table.target_words)]
        answers += [table.lookup(source) for source in ("a", "a b", "c b a", "b")]
        answers += [table.search("a"), table.search("[uv]*", side="target"), list(table), table.statistics()]
        if not table.imported:
            LexicalTable.of(table)
        export_moses(table, self.out, compress=False)
        decoder = phrase_decoder(open_phrases(path), self.world.model, start_weights(["phrases"]))
        answers += _translations(decoder.translate(self.sources, threads=2, nbest=3))
        return repr(answers)

    def _rules(self, path: Path, grammar: str) -> str:
        table = RuleTable(path)
        # How many sentences and pieces of rules there were is told, but nothing comes of it.
        answers: list[object] = [len(table), table.options, list(table)]
        for source in ("^a", "x1:A ^b", "^x1:B x2:A") if grammar == "augmented" else ("a", "x1:X b", "a x1:X"):
            try:
                answers.append(table.lookup(source))
            except TreeglotError as error:
                if "is not the source side" not in str(error):
                    raise
        table.statistics()
        table.export(self.out / "rules")
        with table.blame():
            table.core.walk_all()
        world = self.worlds[grammar]
        world.tables[grammar] = table
        answers += _translations(world.decoder().translate(self.sentences, nbest=3))
        return repr(answers)

    def _aligner(self, path: Path, sealed: bool) -> str:
        file, manifest = self.model_folder / "model.tgwa", self.model_folder / alignment.base.MANIFEST
        file.unlink()
        shutil.copy(path, file)
        if sealed:
            noted = json.loads(manifest.read_text())
            noted["files"]["model.tgwa"] = hashlib.blake2b(file.read_bytes()).hexdigest()[:32]
            manifest.write_text(json.dumps(noted))
        try:
            aligner = alignment.load(self.model_folder, threads=2)
            return repr([aligner.align(*PAIRS), list(aligner.lexicon(0.0))])
        except TreeglotError as error:
            if error.path is None or not error.path.startswith(str(self.model_folder)):
                raise
            raise TreeglotError(error.message, path=path) from None

    def _corpus(self, path: Path) -> str:
        pairs = open_corpus(path)
        columns = pairs.columns
        sides = [columns.source, columns.target]
        return repr([[stored_sentence(side, n) for n in range(len(side))] for side in sides]) + repr(
            [columns.links(n) for n in range(len(columns.source))]
        )

    def _subtrees(self, path: Path) -> str:
        return repr([pair.node_links for pair in load_model(path).align(self.pairs)])

    def _manifest(self, path: Path) -> str:
        noted = self.project / ".treeglot/manifests/copy.json"
        noted.unlink(missing_ok=True)
        shutil.copy(path, noted)
        try:
            _run_stage(self.project)
        except TreeglotError as error:
            if error.path is None or Path(error.path) != noted:
                raise
            raise TreeglotError(error.message, path=path) from None
        return repr([(self.project / name).read_text() for name in ("output", "folder/part")])


def _translations(results: object) -> list[object]:
    return [(r.text, r.score, r.features, [(k.text, k.score) for k in r.kbest]) for r in results]  # type: ignore[attr-defined]
