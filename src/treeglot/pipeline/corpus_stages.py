"""The stages from raw data to a prepared corpus: trees by the project's parsers, the case of words, words and trees of each part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeglot.files import atomic_write
from treeglot.parsers.base import BOTH, TreeKind
from treeglot.pipeline.config import TREE_KEYS, Corpus
from treeglot.pipeline.parsing import parse_side
from treeglot.pipeline.parts import Part, TreeSide, prepare
from treeglot.pipeline.preparation import TextPipeline, train_truecasers
from treeglot.pipeline.stages import Paths, Stage
from treeglot.trees.corpus import Parses, SideFiles
from treeglot.trees.stored import CORPUS_FORMAT

if TYPE_CHECKING:
    from treeglot.pipeline.project import Project

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")


def corpus_stages(project: Project) -> list[Stage]:
    """Everything that prepares the data, in order."""
    stages = [parse_stage(project, part, side) for side in SIDES for part in _parsed_parts(project, side)]
    if project.config.text.casing == "true":
        stages.append(truecase_stage(project))
    return [*stages, *(corpus_stage(project, part) for part in project.parts)]


def _parsed_parts(project: Project, side: Side) -> list[str]:
    """The parts of which a parser makes the trees of a side; the target's are for learning only."""
    parts = project.config.data.parts
    if side == "source":
        return [part for part, corpus in parts.items() if project.config.uses_trees and not corpus.has_trees]
    wanted = project.config.uses_target_trees and not parts["train"].has_target_trees
    return ["train"] if wanted else []


def parse_stage(project: Project, part: str, side: Side) -> Stage:
    """Trees of a side by its parser."""
    corpus = _raw(project, part)
    config = project.config
    choice = config.parsers.source if side == "source" else config.parsers.target
    conllu, penn = project.parsed(part, side)
    pipeline = TextPipeline(config.text, getattr(config.languages, side), side)

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        parse_side(_lines(corpus, project, side), pipeline, choice, work, outputs)

    outputs = {"conllu": conllu, "penn": penn, "report": conllu.with_suffix(".report.json")}
    parameters = {
        "parser": choice.model_dump(include={"backend", "model", "dependencies"}),
        "tokenizer": pipeline.name,
        "languages": config.languages.model_dump(),
        "format": corpus.format,
    }
    inputs = {key: project.folder / name for key, name in corpus.files.items() if key in ("file", side)}
    if choice.model and Path(choice.model).is_file():  # another model under the same name gives other trees
        inputs["model"] = Path(choice.model)
    name = f"parse-{part}" if side == "source" else f"parse-{part}-target"
    return Stage(name, inputs, outputs, parameters, run)


def _lines(corpus: Corpus, project: Project, side: Side) -> Iterator[str]:
    """The text of a side."""
    texts, _ = Part(corpus, project.folder, project.config.languages).texts()
    return (text for pair in texts if (text := pair[SIDES.index(side)]) is not None)


def truecase_stage(project: Project) -> Stage:
    """The usual case of the words of both sides."""
    source_model, target_model = project.truecaser_paths()

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        text, languages = project.config.text, project.config.languages
        sides = TextPipeline(text, languages.source, "source"), TextPipeline(text, languages.target, "target")
        words = (
            tuple(
                side.tokenize(item) if isinstance(item, str) else item for side, item in zip(sides, pair, strict=True)
            )
            for pair in read_part(project, "train", inputs, work).pairs()
        )
        train_truecasers(((pair[0], pair[1]) for pair in words), (outputs["source"], outputs["target"]))

    parameters = {
        "text": project.config.text.resolved(project.config.languages),
        "languages": project.config.languages.model_dump(),
    }
    outputs = {"source": source_model, "target": target_model}
    return Stage("truecase", raw_inputs(project, "train"), outputs, parameters, run)


def corpus_stage(project: Project, part: str) -> Stage:
    """Words and trees of a part, as all that follows sees them."""
    corpus = _raw(project, part)
    config = project.config
    source, target = project.corpus(part)
    inputs = raw_inputs(project, part)
    if config.text.casing == "true":
        inputs["truecase source"], inputs["truecase target"] = project.truecaser_paths()
    cleaning = config.cleaning if part == "train" else None
    outputs = {"source": source, "target": target, "report": project.folder / f"corpus/{part}.report.txt"}
    with_trees = [side for side in SIDES if tree_files(project, part, side)]
    if with_trees:
        outputs["corpus"] = project.parsed_corpus(part)
        outputs["trees"] = project.folder / f"corpus/{part}.trees.txt"

    def run(inputs: Paths, outputs: Paths, work: Path) -> None:
        sides = read_part(project, part, inputs, work)
        report, counts = prepare(sides, project.pipelines, outputs, cleaning, part)
        with atomic_write(outputs["report"]) as file:
            file.write(report.as_text() + "\n" if report else "every pair was kept\n")
        if "trees" not in outputs:
            return
        with atomic_write(outputs["trees"]) as file:
            for side, trees, count in zip(SIDES, (sides.source, sides.target), counts, strict=True):
                if trees is not None:
                    backend = getattr(config.parsers, side).backend
                    file.write(count.as_text(side, "given" if trees.given else f"parsed by {backend}"))

    parameters: dict[str, Any] = {
        "text": config.text.resolved(config.languages),
        "languages": config.languages.model_dump(),
        "format": corpus.format,
        "cleaning": cleaning.model_dump() if cleaning else None,
    }
    if with_trees:
        parameters["trees"] = sorted(key for keys in TREE_KEYS.values() for key in keys if corpus.files.get(key))
        if corpus.parses:
            parameters["parses"] = [weight for _, weight in corpus.weighted_parses]
        parameters["wanted"] = {side: sorted(wanted_trees(project, side)) for side in with_trees}
    formats = {"corpus": CORPUS_FORMAT} if with_trees else {}
    return Stage(f"corpus-{part}", inputs, outputs, parameters, run, formats=formats)


def tree_files(project: Project, part: str, side: Side) -> dict[str, Path]:
    """The trees of a side of a part by key: those given, else those that the project's parser makes; or none."""
    corpus = _raw(project, part)
    given = {key: project.folder / corpus.files[key] for key in TREE_KEYS[side] if key in corpus.files}
    if given:
        return given
    if part in _parsed_parts(project, side):
        return dict(zip(TREE_KEYS[side][:2], project.parsed(part, side), strict=True))
    return {}


def wanted_trees(project: Project, side: Side) -> frozenset[TreeKind]:
    """The kinds of trees that every sentence of a side has: on the source both, on the target those that systems need."""
    if side == "source":
        return frozenset(BOTH)
    systems = (project.config.system(name) for name in project.config.systems)
    needs = frozenset(kind for system in systems if system for kind in system.target_needs)
    return frozenset(kind for kind in BOTH if kind in needs or kind == "constituency")


def raw_inputs(project: Project, part: str) -> dict[str, Path]:
    """The files that a part is prepared from."""
    corpus = _raw(project, part)
    inputs = {key: project.folder / name for key, name in corpus.files.items()}
    for side in SIDES:
        inputs |= tree_files(project, part, side)
    return inputs


def read_part(project: Project, part: str, inputs: Paths, work: Path) -> Part:
    """The texts and trees of a part."""
    corpus = _raw(project, part)
    sides: dict[str, TreeSide] = {}
    for side, given in zip(SIDES, (corpus.has_trees, corpus.has_target_trees), strict=True):
        conllu, penn, jsonl = (inputs.get(key) for key in TREE_KEYS[side])
        parses = (
            tuple(
                Parses(inputs[f"parses {n}"], weight) for n, (_, weight) in enumerate(corpus.weighted_parses, start=1)
            )
            if side == "source"
            else ()
        )
        files = SideFiles(conllu, penn, jsonl=jsonl, parses=parses)
        if files.has_trees:
            folder = work / side
            folder.mkdir(exist_ok=True)
            sides[side] = TreeSide(files, folder, side=side, wanted=wanted_trees(project, side), given=given)
    return Part(corpus, project.folder, project.config.languages, **sides)


def _raw(project: Project, part: str) -> Corpus:
    corpus = project.raw(part)
    assert corpus is not None
    return corpus
