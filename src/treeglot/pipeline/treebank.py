"""From two texts to a parallel treebank: the stages behind ``treeglot trees bank``.

A `Bank` is a folder. Each stage writes its files when they are complete and is skipped when they are up to date
(`treeglot.pipeline.stages`), so a run that was stopped goes on where it was, parsers in the middle of their text:

1. ``parse-source`` and ``parse-target``: ``source.jsonl``, ``target.jsonl``, trees of line n as sentence n;
2. ``sentences``: ``sentences.tsv``, which sentences are pairs (line by line, from a file, or by length and words);
3. ``words``: ``words.align``, a line of word links for each pair;
4. ``nodes``: ``pairs.jsonl``, everything about each pair;
5. ``treealigner``: ``bank.sta.xml`` and its two TIGER files;
6. ``conllu``: both sides with their links in MISC (`treeglot.trees.conllulinks`);
7. ``pages``: ``pages/index.html`` and a page for each thousand pairs.

Constituency trees are aligned where a parser gives them, else the phrases of the dependency trees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from treeglot import __version__
from treeglot.alignment.sentences import Bead, align_sentences, read_beads, write_beads
from treeglot.alignment.subtrees.lexical import LexicalTreeAligner, with_tree
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines
from treeglot.parsers import open_parser, parse_file
from treeglot.pipeline.stages import Paths, Runner, Stage, StageResult
from treeglot.progress import track
from treeglot.trees.conllulinks import write_linked_conllu
from treeglot.trees.display import write_html
from treeglot.trees.formats import read_pairs, read_sentences
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence
from treeglot.trees.treealigner import write_aligned_pairs
from treeglot.trees.treejson import write_jsonl
from treeglot.trees.units import Unit, join_units

SIDES = ("source", "target")
PAGE = 1000
"""Pairs on a page."""
LEAST = 0.05
"""The least confidence of a link of the lexical aligner."""
LINES, AUTO = "lines", "auto"


@dataclass(frozen=True)
class Settings:
    """How a bank is made. ``parsers`` and ``parser_models`` are those of the two sides; ``sentences`` is `LINES`, `AUTO` or a
    file of beads; ``aligner`` a model of ``treeglot trees train-aligner``, or None for the lexical aligner."""

    languages: tuple[str, str]
    parsers: tuple[str, str] = ("auto", "auto")
    parser_models: tuple[str | None, str | None] = (None, None)
    tokenized: bool = False
    sentences: str = LINES
    aligner: Path | None = None
    threads: int = 0
    workers: int = 1


@dataclass
class Bank:
    """The treebank of two texts, a sentence a line, in ``folder``."""

    folder: Path
    texts: tuple[Path, Path]
    settings: Settings
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        return self.folder / name

    def build(self, announce: Callable[[str], object] = lambda text: None) -> list[StageResult]:
        """Run what is not up to date; `figures` then has what each stage counted, and its seconds."""
        self.check()
        self.folder.mkdir(parents=True, exist_ok=True)
        runner = Runner(self.folder, __version__)
        results = []
        with runner.locked():
            for stage in self.stages():
                results.append(runner.run(stage, announce))
                counts = json.loads(stage.outputs["figures"].read_text(encoding="utf-8"))
                manifest = runner.manifest(stage.name) or {}
                self.figures[stage.name] = counts | {"seconds": manifest.get("seconds", 0.0)}
            with atomic_write(self.path("report.json")) as file:
                json.dump(self.figures, file, ensure_ascii=False, indent=2)
                file.write("\n")
        return results

    def check(self) -> None:
        """Whether all that the run needs is there."""
        files = [*self.texts]
        if self.settings.aligner is not None:
            files.append(self.settings.aligner)
        if self.settings.sentences not in (LINES, AUTO):
            files.append(Path(self.settings.sentences))
        for path in files:
            if not path.is_file():
                raise TreeglotError("no such file", path=path, remedy="name a file that is there")
        if self.folder.exists() and not self.folder.is_dir():
            raise TreeglotError("is a file", path=self.folder, remedy="name a folder, or a new name")

    def stages(self) -> list[Stage]:
        """All stages, in order."""
        trees = {side: self.path(f"{side}.jsonl") for side in SIDES}
        beads = {"beads": self.path("sentences.tsv")}
        given = {} if self.settings.sentences in (LINES, AUTO) else {"given": Path(self.settings.sentences)}
        words, pairs = {"words": self.path("words.align")}, {"pairs": self.path("pairs.jsonl")}
        model = {} if self.settings.aligner is None else {"model": self.settings.aligner}
        banks = {name: self.path(f"bank.{ending}") for name, ending in _BANK_FILES.items()}
        linked = {side: self.path(f"{side}.conllu") for side in SIDES}
        how = self.settings.sentences if not given else "given"
        return [
            *(self._parse(k) for k in (0, 1)),
            self._stage("sentences", trees | given, beads, {"how": how}, self._sentences),
            self._stage("words", trees | beads, words, {}, self._words),
            self._stage("nodes", trees | beads | words | model, pairs, {}, self._nodes),
            self._stage("treealigner", pairs, banks, {"languages": list(self.settings.languages)}, self._treealigner),
            self._stage("conllu", pairs, linked, {}, self._conllu),
            self._stage("pages", pairs, {"pages": self.path("pages")}, {}, self._pages),
        ]

    def _stage(
        self,
        name: str,
        inputs: Paths,
        outputs: Mapping[str, Path],
        parameters: Mapping[str, Any],
        run: Callable[[Paths, Paths, Path], Mapping[str, Any]],
    ) -> Stage:
        def counted(inputs: Paths, outputs: Paths, work: Path) -> None:
            counts = run(inputs, outputs, work)
            with atomic_write(outputs["figures"]) as file:
                json.dump(counts, file, ensure_ascii=False, sort_keys=True)

        figures = {"figures": self.folder / ".treeglot" / "figures" / f"{name}.json"}
        return Stage(name, inputs, {**outputs, **figures}, parameters, counted)

    def _parse(self, k: int) -> Stage:
        side, settings = SIDES[k], self.settings
        options = {} if settings.parser_models[k] is None else {"model": settings.parser_models[k]}

        def run(inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
            with open_parser(settings.parsers[k], settings.languages[k], **options) as parser:
                both = "constituency" in parser.trees
                parsed = work / ("trees.jsonl" if both else "trees.conllu")
                summary = parse_file(
                    parser,
                    inputs["text"],
                    jsonl=parsed if both else None,
                    conllu=None if both else parsed,
                    tokenized=settings.tokenized,
                    workers=settings.workers,
                )
            write_jsonl(_named(read_sentences(parsed)), outputs[side])
            return summary.as_dict()

        parameters = {
            "parser": settings.parsers[k],
            "language": settings.languages[k],
            "model": settings.parser_models[k],
            "tokenized": settings.tokenized,
        }
        outputs = {side: self.path(f"{side}.jsonl")}
        return self._stage(f"parse-{side}", {"text": self.texts[k]}, outputs, parameters, run)

    def _sentences(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        forms = [[sentence.tokens.forms for sentence in read_sentences(inputs[side])] for side in SIDES]
        names = [[f"s{n + 1}" for n in range(len(side))] for side in forms]
        if "given" in inputs:
            beads = read_beads(inputs["given"], names[0], names[1])
        elif self.settings.sentences == AUTO:
            beads = align_sentences(forms[0], forms[1], threads=self.settings.threads)
        elif len(forms[0]) != len(forms[1]):
            raise InputError(
                f"{len(forms[0]):,} lines, but {self.texts[1]} has {len(forms[1]):,}",
                path=self.texts[0],
                line=min(len(forms[0]), len(forms[1])),
                remedy=f"give translations line by line, or let sentences be aligned: --sentences {AUTO}",
            )
        else:
            beads = [Bead((n,), (n,)) for n in range(len(forms[0]))]
        write_beads(beads, outputs["beads"], names[0], names[1])
        shapes = [f"{len(bead.source)}-{len(bead.target)}" for bead in beads]
        return {"pairs": sum(len(b.source) * len(b.target) for b in beads)} | {
            shape: shapes.count(shape) for shape in sorted(set(shapes))
        }

    def _pairs(self, inputs: Paths) -> Iterator[AlignedPair]:
        """The pairs of sentences, with the trees to align."""
        sides = [list(read_sentences(inputs[side])) for side in SIDES]
        names = [[sentence.id for sentence in side] for side in sides]
        for bead in read_beads(inputs["beads"], names[0], names[1]):
            for a in bead.source:
                for b in bead.target:
                    source, target = sides[0][a], sides[1][b]
                    yield AlignedPair(with_tree(source), with_tree(target), id=f"{source.id}-{target.id}")

    def _words(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        units = list(join_units(self._pairs(inputs)))
        texts = [_forms(unit) for unit in units]
        knowledge = _knowledge(texts, self.settings.threads)
        links = lines = 0
        with atomic_write(outputs["words"]) as file:
            for start in track(range(0, len(units), PAGE), "linking words"):
                evidence = knowledge.evidence(texts[start : start + PAGE])
                for unit, known in zip(units[start : start + PAGE], evidence, strict=True):
                    linked = [Link(~int(u), ~int(v)) for u, v in zip(*known.links.nonzero(), strict=True)]
                    for part in unit.split(linked):
                        file.write(
                            " ".join(f"{~link.source}-{~link.target}" for link in sorted(part, reverse=True)) + "\n"
                        )
                        links, lines = links + len(part), lines + 1
        return {"pairs": lines, "word_links": links}

    def _nodes(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        threads = self.settings.threads
        pairs = [
            _with_words(pair, [Link(int(a), int(b)) for a, b in (item.split("-") for item in line.split())])
            for pair, (_, line) in zip(self._pairs(inputs), read_lines(inputs["words"]), strict=True)
        ]
        aligned: Iterable[AlignedPair]
        if "model" in inputs:
            from treeglot.alignment.subtrees.model import load_model

            model = load_model(inputs["model"], threads=threads)
            if model.words.text is not None:
                model = model.adapted(pairs, threads=threads)
            aligned = model.align(pairs, threads=threads)
        else:
            texts = [_forms(unit) for unit in join_units(pairs)]
            table = _knowledge(texts, threads).table
            lexical = LexicalTreeAligner(table, least=LEAST, lowercase=True, threads=threads)
            lexical_pairs = lexical.align((pair.source, pair.target) for pair in pairs)
            aligned = (
                AlignedPair(pair.source, pair.target, pair.word_links, links.node_links, pair.id)
                for pair, links in zip(pairs, lexical_pairs, strict=True)
            )
        count = 0

        def counted() -> Iterator[AlignedPair]:
            nonlocal count
            for pair in track(aligned, "linking nodes", total=len(pairs)):
                count += len(pair.node_links)
                yield pair

        write_jsonl(counted(), outputs["pairs"])
        return {"pairs": len(pairs), "node_links": count}

    def _treealigner(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        files = [outputs[name] for name in _BANK_FILES]
        write_aligned_pairs(
            read_pairs(inputs["pairs"]), files[0], files[1], files[2], languages=self.settings.languages
        )
        return {"bytes": sum(path.stat().st_size for path in files)}

    def _conllu(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        counts = write_linked_conllu(read_pairs(inputs["pairs"]), outputs["source"], outputs["target"])
        return dict(zip(SIDES, counts, strict=True))

    def _pages(self, inputs: Paths, outputs: Paths, work: Path) -> Mapping[str, Any]:
        folder = outputs["pages"]
        folder.mkdir(parents=True)
        stream = iter(read_pairs(inputs["pairs"]))
        pages: list[tuple[str, str]] = []
        first = 1
        while batch := list(islice(stream, PAGE)):
            last = first + len(batch) - 1
            name = f"{first:06}-{last:06}.html"
            write_html(
                track(batch, f"drawing pairs {first:,} to {last:,}"),
                str(folder / name),
                title=f"Pairs {first:,} to {last:,}",
            )
            pages.append((name, f"{first:,} to {last:,}: {batch[0].source.text[:80]}"))
            first = last + 1
        rows = "\n".join(f'<li><a href="{name}">{escape(text)}</a></li>' for name, text in pages)
        title = escape(f"{self.texts[0].name} and {self.texts[1].name}")
        with atomic_write(folder / "index.html") as file:
            file.write(
                f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
                f'<body style="font-family: sans-serif"><h1>{title}</h1>\n<ol>\n{rows}\n</ol></body></html>\n'
            )
        return {"pages": len(pages)}


_BANK_FILES = {"links": "sta.xml", "source": "source.tiger.xml", "target": "target.tiger.xml"}


def _named(sentences: Iterable[ParsedSentence]) -> Iterator[ParsedSentence]:
    for n, sentence in enumerate(sentences, start=1):
        yield replace(sentence, id=f"s{n}", comments=(f"# sent_id = s{n}", f"# text = {sentence.text}"))


def _forms(unit: Unit) -> tuple[Sequence[str], Sequence[str]]:
    return unit.pair.source.tokens.forms, unit.pair.target.tokens.forms


def _knowledge(texts: Sequence[tuple[Sequence[str], Sequence[str]]], threads: int) -> WordKnowledge:
    lines = [[" ".join("_".join(form.split()) or "_" for form in side[k]) for side in texts] for k in (0, 1)]
    return WordKnowledge.train(lines[0], lines[1], threads=threads)


def _with_words(pair: AlignedPair, words: Iterable[Link]) -> AlignedPair:
    """The pair with these word links."""
    return AlignedPair(pair.source, pair.target, words, pair.node_links, pair.id)
