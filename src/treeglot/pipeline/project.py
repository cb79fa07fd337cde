"""A project folder: its files, and the stages that make a translator from its data.

``corpus/`` prepared text with its trees, ``trees/`` what parsers made of the raw text, ``alignment/`` word links and the model that made
them, ``tables/`` phrase pairs and rules, ``lm/`` the language model, ``systems/NAME/weights.txt`` tuned weights, ``runs/NAME/``
translations of the test parts. Each is made by a stage (see `treeglot.pipeline.stages`), so that work goes on where it stopped.
"""

from __future__ import annotations

import importlib.util
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from treeglot import __version__, alignment, lm
from treeglot.bitext import Truecaser
from treeglot.errors import ConfigError, TreeglotError
from treeglot.files import atomic_write, atomic_write_binary, open_binary
from treeglot.grammars import registry
from treeglot.links import Weighted
from treeglot.lm import model as lm_file
from treeglot.pipeline.config import CONFIG_NAME, Corpus, ProjectConfig, load_config
from treeglot.pipeline.corpus_stages import corpus_stages
from treeglot.pipeline.decoding import features, open_decoder, start_weights
from treeglot.pipeline.overlap import overlap_stages, warn_of_overlap
from treeglot.pipeline.phrase_tables import phrase_stage
from treeglot.pipeline.preparation import TextPipeline
from treeglot.pipeline.provenance import check_weights, provenance
from treeglot.pipeline.rule_tables import rule_stage
from treeglot.pipeline.stages import Paths, Runner, Stage, StageResult
from treeglot.pipeline.subtree_phrases import span_stages
from treeglot.pipeline.subtrees import node_link_stage
from treeglot.pipeline.systems import SystemSpec, TableSpec, presets
from treeglot.pipeline.word_links import alignment_stage, link_stages
from treeglot.search import Decoder, read_weights
from treeglot.tables import parse_memory

log = logging.getLogger(__name__)


class Project:
    """The project in ``folder``, which has a ``treeglot.toml``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config: ProjectConfig = load_config(folder / CONFIG_NAME)
        self.runner = Runner(folder, __version__)

    # Files

    @property
    def source(self) -> str:
        return self.config.languages.source

    @property
    def target(self) -> str:
        return self.config.languages.target

    def corpus(self, part: str) -> tuple[Path, Path]:
        """The prepared text of a part."""
        return self.folder / f"corpus/{part}.{self.source}", self.folder / f"corpus/{part}.{self.target}"

    def parsed_corpus(self, part: str) -> Path:
        """Words and trees of a part, if it has trees (`treeglot.trees.corpus.open_corpus`)."""
        return self.folder / f"corpus/{part}.tgpc"

    def parsed(self, part: str, side: Literal["source", "target"] = "source") -> tuple[Path, Path]:
        """The trees of a side of a part as a parser made them: CoNLL-U and Penn."""
        lang = self.source if side == "source" else self.target
        return self.folder / f"trees/{part}.{lang}.conllu", self.folder / f"trees/{part}.{lang}.penn"

    def raw(self, part: str) -> Corpus | None:
        """What the configuration says about a part of the data."""
        return self.config.data.parts.get(part)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the data that there are: train, dev, test and further tests."""
        return tuple(self.config.data.parts)

    @property
    def test_parts(self) -> tuple[str, ...]:
        """The parts to test on."""
        return tuple(part for part in self.parts if part not in ("train", "dev"))

    def truecaser_paths(self) -> tuple[Path, Path]:
        return self.folder / f"corpus/truecase.{self.source}", self.folder / f"corpus/truecase.{self.target}"

    @property
    def links(self) -> Path:
        """The usual word links; see `treeglot.pipeline.word_links` for others."""
        return self.folder / "alignment/train.align"

    @property
    def alignment_model(self) -> Path:
        return self.folder / "alignment/model"

    @property
    def node_links(self) -> Path:
        """Links between nodes of the training text's trees."""
        return self.folder / "alignment/train.nodes"

    @property
    def table(self) -> Path:
        """The phrase table of the word links alone."""
        return self.phrases(TableSpec(registry.phrase_grammar().name))

    def phrases(self, table: TableSpec) -> Path:
        """A phrase table."""
        return self.folder / f"tables/{table.name}.tgpt"

    def rules(self, table: TableSpec) -> Path:
        """A rule table."""
        return self.folder / f"tables/{table.name}.tgrt"

    @property
    def model(self) -> Path:
        return self.folder / f"lm/{self.target}.tglm"

    @property
    def arpa(self) -> Path:
        return self.folder / f"lm/{self.target}.arpa.gz"

    def weights_path(self, system: str, seed: int | None = None) -> Path:
        """Where the weights of a system are; a seed other than the project's has a file of its own."""
        own = seed is None or seed == self.config.project.seed
        return self.folder / "systems" / system / ("weights.txt" if own else f"weights.seed{seed}.txt")

    def unfinished_path(self, system: str, seed: int | None = None) -> Path:
        """Where tuning keeps the best weights so far."""
        final = self.weights_path(system, seed)
        return final.with_name(f"{final.stem}.partial.txt")

    # Systems

    def system(self, name: str) -> SystemSpec:
        """A system of the configuration, or a preset."""
        spec = self.config.system(name)
        if spec is None:
            more = ", ".join(preset for preset in presets() if preset not in self.config.systems)
            raise ConfigError(
                f"no system {name!r}",
                path=self.folder / CONFIG_NAME,
                remedy=f"systems are {', '.join(self.config.systems)}; without a section: {more}",
            )
        if spec.training_needs and not self.config.uses_trees:
            raise ConfigError(
                f"the system {name!r} is learnt from trees, but this project has none",
                path=self.folder / CONFIG_NAME,
                remedy=f"add conllu and penn to [data.*], or a section [systems.{name}]: then the source is parsed",
            )
        if spec.target_needs and not self.config.uses_target_trees:
            raise ConfigError(
                f"the system {name!r} is learnt from trees of the target too, but this project has none",
                path=self.folder / CONFIG_NAME,
                remedy="add target_conllu and target_penn to [data.train], or a section "
                f"[systems.{name}]: then the target is parsed",
            )
        return spec

    def check_system(self, system: str) -> str:
        """``system`` if the project has it."""
        return self.system(system).name

    # Text

    @cached_property
    def pipelines(self) -> tuple[TextPipeline, TextPipeline]:
        """How text of each side becomes words; needs the truecasing models if the casing is ``true``."""
        truecasers: list[Truecaser | None] = [None, None]
        if self.config.text.casing == "true":
            # A script without case (Chinese, Arabic) leaves an empty model: nothing to change.
            paths = self.truecaser_paths()
            truecasers = [Truecaser.load(path) if path.stat().st_size else Truecaser({}) for path in paths]
        text = self.config.text
        return (
            TextPipeline(text, self.source, "source", truecasers[0]),
            TextPipeline(text, self.target, "target", truecasers[1]),
        )

    # Before a run

    def check(self) -> None:
        """Everything that a run needs: data and packages."""
        for part, corpus in self.config.data.parts.items():
            for name in corpus.files.values():
                path = self.folder / name
                if not path.is_file():
                    raise ConfigError(
                        f"data.{part}: no such file", path=path, remedy=f"put it there, or correct data.{part}"
                    )
        if self.config.subtrees.model and not (path := self.folder / self.config.subtrees.model).is_file():
            raise ConfigError(
                "subtrees.model: no such file", path=path, remedy="train it: treeglot trees train-aligner"
            )
        given = self.config.alignment.file
        for key, names in (
            ("file", (given,) if given else ()),
            ("rule_file", (rules,) if (rules := self.config.alignment.rule_file) else ()),
            ("also", tuple(str(Weighted.of(text).links) for text in self.config.alignment.also)),
        ):
            for name in names:
                if not (self.folder / name).is_file():
                    path = self.folder / name
                    raise ConfigError(f"alignment.{key}: no such file", path=path, remedy=f"correct alignment.{key}")
        if not given:
            alignment.backend(self.config.alignment.aligner)
            package = {"eflomal": "eflomal"}.get(self.config.alignment.aligner)
            package = "thot" if self.config.alignment.aligner.startswith("thot") else package
            if package and importlib.util.find_spec(package) is None:
                raise ConfigError(
                    f"alignment.aligner {self.config.alignment.aligner}: the package {package} is not installed",
                    remedy=f"pip install 'treeglot[{package}]', or take the aligner own",
                )

    def check_space(self) -> None:
        """Refuse to begin work that the disk may not hold."""
        paths = [self.folder / name for corpus in self.config.data.parts.values() for name in corpus.files.values()]
        size = sum(path.stat().st_size * (4 if path.suffix in (".gz", ".zst") else 1) for path in paths)
        free = shutil.disk_usage(self.folder).free
        needed = 40 * size + (64 << 20)
        if free < needed:
            raise TreeglotError(
                f"{free >> 20:,} MB free, but a run may need {needed >> 20:,} MB",
                path=self.folder,
                remedy="free disk space",
            )

    # Stages

    def training_stages(self, systems: Iterable[str] = ()) -> list[Stage]:
        """From raw data to tables and language model, in order; ``systems`` beside those of the configuration."""
        stages = [*corpus_stages(self), *overlap_stages(self)]
        stages += [alignment_stage(self), *span_stages(self)]
        specs = [self.system(name) for name in dict.fromkeys([*self.config.systems, *systems])]
        rules = dict.fromkeys(table for spec in specs for table in spec.tables)
        # The phrases of the word links are always there: for looking into, and as the baseline.
        usual = TableSpec(registry.phrase_grammar().name)
        phrases = dict.fromkeys([usual, *(spec.phrase_table for spec in specs if spec.phrase_table)])
        stages += link_stages(self, [*phrases, *rules])
        if any(table.uses_node_links for table in [*phrases, *rules]):
            stages.append(node_link_stage(self))
        stages += [phrase_stage(self, table) for table in phrases]
        return [*stages, self._lm_stage(), *(rule_stage(self, table) for table in rules)]

    def train(self, announce: Callable[[str], object], systems: Iterable[str] = ()) -> list[StageResult]:
        """Bring everything but the weights up to date, for the systems of the configuration and ``systems``."""
        stages = self.training_stages(systems)
        self.check()
        before_work = cache(self.check_space)  # once, and only if a stage has something to do
        with self.runner.locked():
            results = [self.runner.run(stage, announce, before_work) for stage in stages]
        warn_of_overlap(self)
        return results

    def _lm_stage(self) -> Stage:
        def run(inputs: Paths, outputs: Paths, work: Path) -> None:
            with open_binary(inputs["text"]) as text, atomic_write_binary(outputs["arpa"]) as out:
                result = lm.estimate(
                    text,
                    out,
                    order=self.config.lm.order,
                    memory=parse_memory(self.config.limits.memory),
                    folder=str(work),
                    path=str(inputs["text"]),
                )
            lm.compile_model(outputs["arpa"], outputs["model"])
            with atomic_write(outputs["report"]) as file:
                file.write("".join(f"{k}-grams: {count}\n" for k, count in enumerate(result.ngrams, start=1)))
                file.write(f"{result.warning}\n" if result.warning else "")

        outputs = {"arpa": self.arpa, "model": self.model, "report": self.folder / f"lm/{self.target}.report.txt"}
        inputs, formats = {"text": self.corpus("train")[1]}, {"language model": lm_file.FORMAT_VERSION}
        return Stage("lm", inputs, outputs, {"order": self.config.lm.order}, run, formats=formats)

    # Translation

    @property
    def threads(self) -> int:
        return self.config.limits.threads

    def weights(self, system: str, seed: int | None = None, *, strict: bool = False) -> dict[str, float]:
        """The tuned weights, the best so far of tuning that was interrupted (with a warning), or those that tuning starts from.

        Weights that were tuned with other tables, another language model or other settings are used with a warning; with
        ``strict`` they are refused, and so are those that are not finished."""
        spec = self.system(system)
        path, unfinished = self.weights_path(system, seed), self.unfinished_path(system, seed)
        command = f"treeglot tune --system {system}" + ("" if seed is None else f" --seed {seed}")
        if path.exists():
            check_weights(path, provenance(self, spec), f"tune them again: `{command}`", strict=strict)
            return read_weights(path, features(spec))
        if strict:
            raise ConfigError(f"the system {system!r} is not tuned", path=path, remedy=f"run `{command}` first")
        if unfinished.exists():
            log.warning("%s: the weights are unfinished; `%s` goes on", unfinished, command)
            check_weights(unfinished, provenance(self, spec), f"tune them again: `{command}`", strict=False)
            return read_weights(unfinished, features(spec))
        return start_weights(spec)

    def decoder(self, system: str, weights: Mapping[str, float] | None = None, **limits: Any) -> Decoder:
        """The decoder of a system; ``limits`` override those of the configuration."""
        return open_decoder(self, self.system(system), weights or self.weights(system), limits)
