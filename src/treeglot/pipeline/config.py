"""The project's configuration file, ``treeglot.toml``: what it may contain, and errors that say how to mend it.

Every value has a default but the languages and the training data. A key that is not known is an error that names its
line, the valid keys and the nearest one, so that a typing mistake never passes in silence.

>>> config = parse_config('''
... [languages]
... source = "zh"
... target = "en"
... [data.train]
... source = "corpus/train.zh"
... target = "corpus/train.en"
... ''')
>>> config.languages.source, config.parsers.source.backend, config.cleaning.max_length
('zh', 'auto', 80)
>>> parse_config('[languages]\\nsource = "zh"\\ntarget = "en"\\ntagret = "de"', path="treeglot.toml")
Traceback (most recent call last):
    ...
treeglot.ConfigError: treeglot.toml:4: unknown key 'languages.tagret'
  remedy: did you mean 'target'? Valid keys here: source, target
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from treeglot.alignment.choices import link_choice, parts
from treeglot.alignment.subtrees.lexical import DEFAULT_METHOD, METHODS
from treeglot.alignment.symmetrize import DEFAULT as DEFAULT_HEURISTIC
from treeglot.alignment.symmetrize import SYMAL_NAMES, Heuristic
from treeglot.bitext.cleaning import MAX_DROPPED
from treeglot.bitext.segmenters import Method, default_method
from treeglot.errors import ConfigError
from treeglot.files import read_lines
from treeglot.grammars import registry
from treeglot.links import Weighted
from treeglot.pipeline.systems import SystemSpec, preset, presets
from treeglot.search import MAX_NBEST
from treeglot.trees.corpus import Parses
from treeglot.trees.nodelinks import LEXICAL_THRESHOLD, THRESHOLD
from treeglot.tuning.objective import metric_weights

CONFIG_NAME = "treeglot.toml"

T = TypeVar("T")

Memory = Annotated[str, Field(pattern=r"^[1-9][0-9]*[kKmMgG]$")]
"""An amount of memory: a number and k, m or g, such as ``4g``."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Project(_Section):
    """``[project]``: a name for reports and the seed of everything random."""

    name: str = "treeglot project"
    seed: int = Field(default=1, ge=0)


class Languages(_Section):
    """``[languages]``: codes such as ``zh`` and ``en``."""

    source: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]
    target: Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]


TREE_KEYS = {"source": ("conllu", "penn", "jsonl"), "target": ("target_conllu", "target_penn", "target_jsonl")}
"""The keys of a part that name the trees of a side, in the order of `treeglot.trees.corpus.read_trees`."""


class Corpus(_Section):
    """``[data.train]``, ``[data.dev]``, ``[data.test]``: two parallel files, or one file that holds both languages.

    ``conllu`` and ``penn`` are trees of the source, sentence by sentence: then the words of the source are those of the
    trees, and ``source`` may be left out. ``jsonl`` stands for both. So it is with ``target_conllu``, ``target_penn`` and
    ``target_jsonl`` for the target. ``parses`` are files of further dependency trees of the source (CoNLL-U over the same words),
    each ``FILE`` or ``FILE:WEIGHT``, for grammars that take several trees of a sentence.
    """

    source: str = ""
    target: str = ""
    file: str = ""
    format: Literal["auto", "plain", "moses", "tmx", "po", "tsv", "jsonl"] = "auto"
    conllu: str = Field(default="", description="dependency trees of the source")
    penn: str = Field(default="", description="constituency trees of the source")
    jsonl: str = Field(default="", description="trees of the source in JSON lines, instead of conllu and penn")
    target_conllu: str = Field(default="", description="dependency trees of the target")
    target_penn: str = Field(default="", description="constituency trees of the target")
    target_jsonl: str = Field(default="", description="trees of the target in JSON lines")
    parses: list[str] = Field(default=[], description="further dependency trees of the source: FILE or FILE:WEIGHT")

    @model_validator(mode="after")
    def _one_or_two(self) -> Corpus:
        complete = bool(self.source or self.has_trees) and bool(self.target or self.has_target_trees)
        if (self.file and (self.source or self.target)) or (not self.file and not complete):
            raise ValueError("give either source and target, or file; trees of a side may stand for its text")
        if (self.jsonl and (self.conllu or self.penn)) or (
            self.target_jsonl and (self.target_conllu or self.target_penn)
        ):
            raise ValueError("give JSON lines of a side, or its CoNLL-U and Penn files, not both")
        return self

    @property
    def has_trees(self) -> bool:
        """Whether trees of the source are given."""
        return bool(self.conllu or self.penn or self.jsonl)

    @property
    def has_target_trees(self) -> bool:
        """Whether trees of the target are given."""
        return bool(self.target_conllu or self.target_penn or self.target_jsonl)

    @property
    def files(self) -> dict[str, str]:
        """What is given, by key."""
        keys = ("source", "target", "file", *TREE_KEYS["source"], *TREE_KEYS["target"])
        named = {key: getattr(self, key) for key in keys}
        further = {f"parses {n}": name for n, (name, _) in enumerate(self.weighted_parses, start=1)}
        return {key: name for key, name in named.items() if name} | further

    @property
    def weighted_parses(self) -> list[tuple[str, float]]:
        """The files of ``parses`` with their weights."""
        return [(str(given.conllu), given.weight) for given in map(Parses.of, self.parses)]


class Data(_Section):
    """``[data]``: where the parallel text is, relative to the project folder.

    ``[data.tests.NAME]`` are further parts to test on.
    """

    train: Corpus
    dev: Corpus | None = None
    test: Corpus | None = None
    tests: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")], Corpus] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _other_names(self) -> Data:
        for name in self.tests:
            if name in ("train", "dev", "test"):
                raise ValueError(f"data.tests.{name} has the name of another part")
        return self

    @property
    def parts(self) -> dict[str, Corpus]:
        """All parts by name."""
        named = {"train": self.train, "dev": self.dev, "test": self.test, **self.tests}
        return {name: corpus for name, corpus in named.items() if corpus is not None}


class Cleaning(_Section):
    """``[cleaning]``: which pairs are dropped before anything is learnt."""

    min_length: int = Field(default=1, ge=0)
    max_length: int = Field(default=80, ge=1)
    max_ratio: float = Field(default=9.0, ge=1.0)
    duplicates: bool = Field(default=False, description="drop pairs that occurred before")
    max_dropped: float = Field(
        default=MAX_DROPPED, ge=0, le=1, description="stop if a larger share is dropped; duplicates do not count"
    )


TokenizerName = Literal[Method, "space"]
TOKENIZERS: tuple[str, ...] = get_args(TokenizerName)


class Text(_Section):
    """``[text]``: casing, and tokenisation where no parser tokenises.

    ``auto`` is a segmenter for a language that is written without blanks (`treeglot.bitext.segmenters`), else the rules of
    Moses; ``space`` keeps the words of text that has blanks between them; ``char`` makes every character of Chinese, Japanese
    and the like a word.
    """

    casing: Literal["keep", "lower", "true"] = "keep"
    tokenizer: TokenizerName = "auto"
    source_tokenizer: TokenizerName | None = Field(default=None, description="if it is another one")
    target_tokenizer: TokenizerName | None = Field(default=None, description="if it is another one")

    def chosen(self, side: Literal["source", "target"]) -> TokenizerName:
        """The tokenizer of a side as it is written."""
        return (self.source_tokenizer if side == "source" else self.target_tokenizer) or self.tokenizer

    def method(self, side: Literal["source", "target"], lang: str) -> TokenizerName:
        """The tokenizer of a side; never ``auto``."""
        chosen = self.chosen(side)
        return default_method(lang) if chosen == "auto" else chosen

    def resolved(self, languages: Languages) -> dict[str, str]:
        """All that prepared text depends on, ``auto`` replaced by what it means."""
        return {
            "casing": self.casing,
            "source_tokenizer": self.method("source", languages.source),
            "target_tokenizer": self.method("target", languages.target),
        }


BACKENDS = ("auto", "corenlp", "stanza", "benepar", "spacy", "udpipe", "files", "none")


class ParserChoice(_Section):
    """``[parsers.source]``, ``[parsers.target]``: which backend parses that side."""

    backend: str = Field(default="auto", description="a parser of one's own is module:function")
    model: str = ""
    dependencies: Literal["auto", "ud", "sd"] = Field(
        default="auto", description="Universal or Stanford dependencies; auto: Stanford ones where the parser has them"
    )
    memory: Memory = "4g"
    threads: int = Field(default=0, ge=0, description="0: all cores")

    @field_validator("backend")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in BACKENDS and not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", name):
            raise ValueError(f"should be one of {', '.join(BACKENDS)}, or module:function")
        return name


class Parsers(_Section):
    """``[parsers]``: one choice for each side; it is used if a system is learnt from trees of that side which are not given."""

    source: ParserChoice = ParserChoice()
    target: ParserChoice = ParserChoice()


class Limits(_Section):
    """``[limits]``: what a run may use of this machine."""

    threads: int = Field(default=0, ge=0, description="0: all cores")
    memory: Memory = "1500m"


def _as_value_error(check: Callable[[], T]) -> T:
    """What pydantic turns into an error that names the key."""
    try:
        return check()
    except ConfigError as error:
        raise ValueError(f"{error.message}; {error.remedy}") from None


def _checked_choice(choice: object) -> str:
    text = _as_value_error(lambda: link_choice(choice))
    _as_value_error(lambda: parts(text))
    return text


class WordAlignment(_Section):
    """``[alignment]``: how words are aligned, or a Pharaoh file of links for the prepared training text.

    ``heuristic`` makes the links that phrases and rules without trees are learnt from, ``rule_heuristic`` those of rules of trees: a
    heuristic, a number, the least chance of a link (the aligner ``own``), or several of them with weights, of which expected counts
    are made (`treeglot.alignment.choices`). Without it they have what suits their grammar. ``phrase_heuristic`` is the same for
    phrases and rules without trees, if they are not to have the links of ``heuristic``. ``file`` and
    ``rule_file`` are files of links. ``trees``: the aligner ``own`` learns with the dependency trees of the training text. ``also`` names further link files for the same text (``FILE`` or ``FILE:WEIGHT``): what is learnt from
    the links of ``heuristic`` is taken from every alignment and the counts added.
    """

    aligner: Literal["own", "thot-hmm", "thot-fastalign", "thot-ibm4", "thot-eflomal", "eflomal"] = "own"
    heuristic: Heuristic = DEFAULT_HEURISTIC
    rule_heuristic: str = Field(default="", description="of rules of trees; empty: what suits their grammar")
    trees: bool = Field(default=False, description="own: learn with the dependency trees of the training text")
    phrase_heuristic: str = Field(
        default="", description="of phrases and rules without trees; empty: those of heuristic"
    )
    file: str = ""
    rule_file: str = Field(default="", description="links for rules of trees")
    also: tuple[str, ...] = ()

    @field_validator("heuristic", mode="before")
    @classmethod
    def _one_name(cls, name: object) -> object:
        return SYMAL_NAMES.get(name, name) if isinstance(name, str) else name

    @field_validator("rule_heuristic", "phrase_heuristic", mode="before")
    @classmethod
    def _links(cls, choice: object) -> object:
        return _checked_choice(choice) if choice != "" else ""

    @field_validator("also")
    @classmethod
    def _weights(cls, files: tuple[str, ...]) -> tuple[str, ...]:
        for text in files:
            _as_value_error(partial(Weighted.of, text))
        return files

    @model_validator(mode="after")
    def _rule_links(self) -> WordAlignment:
        if self.rule_file and self.rule_heuristic:
            raise ValueError("rule_file and rule_heuristic cannot both be given")
        if self.trees and (self.file or self.aligner != "own"):
            raise ValueError("trees are for the aligner own, and not for a file of links")
        if self.also and self.phrase_heuristic:
            raise ValueError("also goes with the links of heuristic: it and phrase_heuristic cannot both be given")
        return self


class LanguageModelChoice(_Section):
    """``[lm]``: the n-gram model of the target side."""

    order: int = Field(default=4, ge=1, le=6)


class Phrases(_Section):
    """``[phrases]``: which phrase pairs are learnt.

    ``sets``: STR (consistent with the word links), CON and DEP (under linked nodes of constituency and dependency trees);
    counts are added. CON and DEP need trees of the training text: see `treeglot.pipeline.subtree_phrases`.
    """

    max_length: int = Field(default=7, ge=1, le=20)
    sets: tuple[Literal["STR", "CON", "DEP"], ...] = Field(default=("STR",), min_length=1)
    con_source: str = ""
    con_target: str = ""
    dep_source: str = ""
    dep_target: str = ""


class Subtrees(_Section):
    """``[subtrees]``: how the nodes of the training text's trees are linked, for systems that are learnt from such links.

    ``model`` is a file of ``treeglot trees train-aligner``; without it the lexical aligner links them by ``method``, with word
    tables counted from the project's own links.
    """

    method: str = DEFAULT_METHOD
    model: str = ""
    threshold: float | None = Field(default=None, ge=0, le=1, description="the least confidence of a link that counts")

    @property
    def least(self) -> float:
        """The threshold, or what suits the aligner: confidences of the lexical one are no probabilities."""
        if self.threshold is not None:
            return self.threshold
        return THRESHOLD if self.model else LEXICAL_THRESHOLD

    @field_validator("method")
    @classmethod
    def _known_method(cls, name: str) -> str:
        if name not in METHODS:
            raise ValueError(f"should be one of {', '.join(METHODS)}")
        return name


class Search(_Section):
    """``[search]``: the limits of the phrase-based decoder; see `treeglot.search.phrase_decoder`."""

    distortion_limit: int = Field(default=6, ge=-1)
    table_limit: int = Field(default=20, ge=0)
    pop_limit: int = Field(default=500, ge=0)
    stack_size: int = Field(default=200, ge=0)


def _tuned_metric(choice: str | dict[str, float]) -> str | dict[str, float]:
    try:
        metric_weights(choice)
    except ConfigError as error:
        raise ValueError(f"{error.message}; {error.remedy}") from None
    return choice


TunedMetric = Annotated[str | dict[str, float], AfterValidator(_tuned_metric)]
"""``bleu``, ``chrf``, ``ter`` ..., several of them (``bleu+chrf``), or a weight for each; see `treeglot.tuning.objective`."""


class Tuning(_Section):
    """``[tuning]``: how the weights are set on the dev part."""

    method: Literal["expected", "mert", "mira", "pro"] = "expected"
    metric: TunedMetric = "bleu"
    iterations: int = Field(default=15, ge=1)
    nbest: int = Field(default=100, ge=2, le=MAX_NBEST)


class SystemTuning(_Section):
    """``[systems.NAME.tuning]``: what differs from ``[tuning]``."""

    method: Literal["expected", "mert", "mira", "pro"] | None = None
    metric: TunedMetric | None = None
    iterations: int | None = Field(default=None, ge=1)
    nbest: int | None = Field(default=None, ge=2, le=MAX_NBEST)


class SystemSection(_Section):
    """``[systems.NAME]``: a system is a list of grammars with options and weights of its own.

    Beside the keys here it has every option that some grammar declares (`treeglot.grammars.registry`). What is left out is
    taken from the preset of that name (see `treeglot.pipeline.systems`), or has the papers' value.
    """

    grammars: tuple[str, ...] = ()
    stack_limit: int | None = Field(default=None, ge=0)
    stack_threshold: float | None = Field(default=None, ge=0, lt=1)
    pop_limit: int | None = Field(default=None, ge=0)
    rule_limit: int | None = Field(default=None, ge=0)
    rule_threshold: float | None = Field(default=None, ge=0, lt=1)
    phrase_limit: int | None = Field(default=None, ge=0)
    heuristic: str | None = Field(default=None, description="the word links of its phrases and of rules without trees")
    rule_heuristic: str | None = Field(default=None, description="the word links of its rules of trees")
    tuning: SystemTuning = SystemTuning()

    @field_validator("heuristic", "rule_heuristic", mode="before")
    @classmethod
    def _links(cls, choice: object) -> object:
        return _checked_choice(choice)

    @field_validator("grammars")
    @classmethod
    def _known_grammars(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = registry.grammars()
        for name in names:
            if name not in known:
                raise ValueError(f"there is no grammar {name!r}; {registry.nearest(name, known, 'grammars are')}")
        if len(set(names)) != len(names):
            raise ValueError("a grammar is named twice")
        return names


def _option_field(option: registry.Option, names: tuple[str, ...]) -> Any:
    """A key for an option of grammars: its type and limits are those of the declaration."""
    help = f"{', '.join(names)}: {option.help}"
    if isinstance(option.default, str):
        return Literal[option.choices] | None, Field(default=None, description=help)
    if isinstance(option.default, bool):
        return bool | None, Field(default=None, description=help)
    return type(option.default) | None, Field(default=None, ge=option.low, le=option.high, description=help)


class ProjectConfig(_Section):
    """The whole of ``treeglot.toml``."""

    project: Project = Project()
    languages: Languages
    data: Data
    cleaning: Cleaning = Cleaning()
    text: Text = Text()
    parsers: Parsers = Parsers()
    alignment: WordAlignment = WordAlignment()
    lm: LanguageModelChoice = LanguageModelChoice()
    phrases: Phrases = Phrases()
    subtrees: Subtrees = Subtrees()
    search: Search = Search()
    tuning: Tuning = Tuning()
    systems: dict[str, SystemSection] = Field(default_factory=lambda: {registry.phrase_grammar().name: SystemSection()})
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _known_systems(self) -> ProjectConfig:
        for name, system in self.systems.items():
            if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
                raise ValueError(f"systems.{name}: a name has letters, digits, - and _")
            if not system.grammars and name not in presets():
                raise ValueError(
                    f"systems.{name} has no grammars, and there is no preset of that name ({', '.join(presets())})"
                )
        return self

    def system(self, name: str) -> SystemSpec | None:
        """The system of that name with every option filled in, or None if there is neither a section nor a preset."""
        section = self.systems.get(name)
        if section is None and name not in presets():
            return None
        given = section.model_dump(exclude_none=True, exclude={"tuning"}) if section else {}
        if not given.get("grammars"):
            given.pop("grammars", None)
        own = section.tuning.model_dump(exclude_none=True) if section else {}
        return preset(name, {**given, "tuning": {**self.tuning.model_dump(), **own}})

    @property
    def uses_trees(self) -> bool:
        """Whether the source has trees: they are given, or a system of the file is learnt from them."""
        systems = (self.system(name) for name in self.systems)
        return any(corpus.has_trees for corpus in self.data.parts.values()) or any(
            system.training_needs for system in systems if system
        )

    @property
    def uses_target_trees(self) -> bool:
        """Whether the training text has trees of the target too."""
        systems = (self.system(name) for name in self.systems)
        return self.data.train.has_target_trees or any(system.target_needs for system in systems if system)


@lru_cache(maxsize=4)
def _config_model(grammars: tuple[str, ...]) -> type[ProjectConfig]:
    """The configuration with the options of these grammars, all that there are, as keys of systems."""
    fields = {name: _option_field(option, names) for name, (option, names) in registry.options().items()}
    section = create_model("System", __base__=SystemSection, **fields)
    return create_model(
        "ProjectConfig",
        __base__=ProjectConfig,
        systems=(dict[str, section], Field(default_factory=lambda: {registry.phrase_grammar().name: section()})),  # type: ignore[valid-type]
    )


def config_model() -> type[ProjectConfig]:
    """What ``treeglot.toml`` may contain, with the options of every grammar."""
    return _config_model(tuple(registry.grammars()))


def load_config(path: str | os.PathLike[str] = CONFIG_NAME) -> ProjectConfig:
    """Read a configuration file; ``path`` may be the project's folder."""
    name = os.fspath(path)
    if Path(name).is_dir():
        name = str(Path(name) / CONFIG_NAME)
    return parse_config("\n".join(line for _, line in read_lines(name)), path=name)


def parse_config(text: str, path: str | None = None) -> ProjectConfig:
    """Read a configuration from TOML text; ``path`` is for messages."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, None)
        what = re.sub(r" \(at .*\)$", "", str(error))
        raise ConfigError(
            f"not TOML: {what}", path=path, line=line, column=column, remedy="correct the syntax; see toml.io"
        ) from None
    try:
        return config_model().model_validate(values)
    except ValidationError as error:
        raise _explain(error.errors()[0], text, path) from None


def _explain(error: Any, text: str, path: str | None) -> ConfigError:
    """The first of pydantic's errors as one of ours."""
    keys = [str(part) for part in error["loc"]]
    name = ".".join(keys)
    line = find_key(text, keys)
    if error["type"] == "extra_forbidden":
        valid = sorted(_valid_keys(keys[:-1]))
        near = difflib.get_close_matches(keys[-1], valid, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return ConfigError(
            f"unknown key {name!r}", path=path, line=line, remedy=f"{hint}Valid keys here: {', '.join(valid)}"
        )
    if error["type"] == "missing":
        return ConfigError(f"the key {name!r} is missing", path=path, line=line, remedy=f"add {name} = ...")
    what = error["msg"].removeprefix("Value error, ")
    given = error.get("input")
    shown = f", not {given!r}" if isinstance(given, str | int | float | bool) else ""
    return ConfigError(f"{name}: {what}{shown}", path=path, line=line, remedy=f"correct the value of {name}")


def _valid_keys(keys: list[str]) -> list[str]:
    """The keys of the section at ``keys``."""
    section: type[BaseModel] = config_model()
    named = False
    for key in keys:
        if named:  # the name of a system or of a part of the data: anything
            named = False
            continue
        annotation = section.model_fields[key].annotation
        named = get_origin(annotation) is dict
        options = [annotation, *get_args(annotation)]
        section = next(part for part in options if isinstance(part, type) and issubclass(part, BaseModel))
    return list(section.model_fields)


def find_key(text: str, keys: list[str]) -> int:
    """The line of the key ``keys`` (or of the deepest part of it that is there; 1 if none) in TOML text.

    >>> find_key('[a]\\nb = 1\\n[c.d]\\ne = 2', ["c", "d", "e"]), find_key("a.b = 1", ["a", "b"]), find_key("[a]", ["a", "x"])
    (4, 1, 1)
    """
    best, depth = 1, 0
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?([^\]]+)\]", line)
        assignment = re.match(r"\s*([A-Za-z0-9_\-.\"' ]+?)\s*=", line)
        if header:
            table = _split_key(header[1])
            path = table
        elif assignment:
            path = table + _split_key(assignment[1])
        else:
            continue
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, keys, strict=False)))
        if common in (len(path), len(keys)) and common > depth:
            best, depth = number, common
    return best


def _split_key(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]
