"""Stanford CoreNLP, the parser of the papers: both trees for Chinese, English, French, German and Spanish.

Chinese and English dependencies are derived by CoreNLP from its phrase-structure parse, so the two trees agree; for the
other languages it has no such conversion and the dependencies come from its neural parser. Chinese is segmented into
words. Their dependencies are Universal ones, or with ``dependencies="sd"`` Stanford ones as in the papers, in which prepositions head
their objects. One line is one sentence (``ssplit.eolonly``); words given by the caller are left as they are.

`treeglot parsers install corenlp --lang zh` fetches the program and a language's models (see `maven`).
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from treeglot.errors import ParserError
from treeglot.parsers import maven
from treeglot.parsers.base import BOTH, MAX_WORDS, BackendUnavailable, Parser, flat_sentence, too_long
from treeglot.parsers.cache import cache_folder
from treeglot.parsers.corenlp_answer import Answer, read_answer, words_of
from treeglot.parsers.corenlp_server import CoreNLPServer, ServerFailed
from treeglot.parsers.registry import BackendInfo, ModelInfo
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

VERSION = "4.5.10"
"""The release that is installed by default."""

Dependencies = Literal["ud", "sd"]

_MODELS = "edu/stanford/nlp/models/"


@dataclass(frozen=True)
class Language:
    """What CoreNLP has for a language. ``parse_models`` are tried in this order."""

    name: str
    classifier: str
    megabytes: int
    parse_models: tuple[str, ...]
    depparse_model: str = ""
    memory: str = "4g"
    defaults: tuple[tuple[str, str], ...] = ()
    stanford: bool = False
    """Whether it has Stanford dependencies."""
    more: str = ""
    """A second jar of models with better parsers, used if it is there."""


LANGUAGES: dict[str, Language] = {
    "zh": Language(
        "chinese",
        "models-chinese",
        1582,
        ("srparser/chineseSR.ser.gz", "lexparser/chinesePCFG.ser.gz"),
        stanford=True,
    ),
    "en": Language(
        "english",
        "models",
        919,
        ("srparser/englishSR.ser.gz", "srparser/englishSR.beam.ser.gz", "lexparser/englishPCFG.ser.gz"),
        defaults=(("pos.model", _MODELS + "pos-tagger/english-left3words-distsim.tagger"),),
        stanford=True,
        more="models-english",
    ),
    "de": Language("german", "models-german", 200, ("srparser/germanSR.beam.ser.gz",), "parser/nndep/UD_German.gz"),
    "fr": Language("french", "models-french", 281, ("srparser/frenchSR.beam.ser.gz",), "parser/nndep/UD_French.gz"),
    "es": Language("spanish", "models-spanish", 222, ("srparser/spanishSR.beam.ser.gz",), "parser/nndep/UD_Spanish.gz"),
}

STANFORD_LANGUAGES = frozenset(lang for lang, language in LANGUAGES.items() if language.stanford)

_KEPT = re.compile(r"(tokenize|segment|mwt|pos|parse|depparse)\.[\w.]+")


def home(version: str = VERSION) -> Path:
    """The folder of the jars: ``CORENLP_HOME`` if it is set, else one in the cache."""
    given = os.environ.get("CORENLP_HOME")
    return Path(given).expanduser() if given else cache_folder("corenlp", version)


def program_coordinates(version: str = VERSION) -> maven.Coordinates:
    return maven.Coordinates("edu.stanford.nlp", "stanford-corenlp", version)


def model_coordinates(lang: str, version: str = VERSION) -> maven.Coordinates:
    return maven.Coordinates("edu.stanford.nlp", "stanford-corenlp", version, _language(lang).classifier)


def more_coordinates(lang: str, version: str = VERSION) -> maven.Coordinates | None:
    """The second jar of models, for languages that have one."""
    more = _language(lang).more
    return maven.Coordinates("edu.stanford.nlp", "stanford-corenlp", version, more) if more else None


def is_installed(lang: str, version: str = VERSION) -> bool:
    """Whether the jars for this language are there (Java is another question)."""
    folder = home(version)
    names = (program_coordinates(version).file_name, model_coordinates(lang, version).file_name)
    return all((folder / name).is_file() for name in names)


def install(
    lang: str, *, version: str = VERSION, source: Path | None = None, repository: str | None = None, mvn: str = "mvn"
) -> list[Path]:
    """Fetch the program and the models of a language; what is there already is not fetched again."""
    more = more_coordinates(lang, version)
    wanted = [program_coordinates(version), model_coordinates(lang, version)]
    if more is not None and (source is None or (source / more.file_name).is_file()):
        wanted.append(more)
    if source is not None:
        return [maven.copy_from(what, source, home(version)) for what in wanted]
    return [maven.fetch(what, home(version), repository=repository, mvn=mvn) for what in wanted]


def info() -> BackendInfo:
    program = shutil.which(os.environ.get("TREEGLOT_JAVA") or "java")
    models = tuple(
        ModelInfo(
            lang,
            f"{VERSION} {language.classifier}",
            BOTH,
            program is not None and is_installed(lang),
            f"treeglot parsers install corenlp --lang {lang} ({language.megabytes:,} MB)",
        )
        for lang, language in LANGUAGES.items()
    )
    how = "" if program else "install a Java runtime (8 or newer)"
    return BackendInfo("corenlp", program is not None, VERSION if any(m.installed for m in models) else "", models, how)


def open_backend(
    lang: str,
    *,
    model: str | None = None,
    dependencies: Dependencies = "ud",
    memory: str | None = None,
    threads: int = 1,
    timeout: float = 30.0,
    version: str = VERSION,
    java: str | None = None,
    classpath: Sequence[str | os.PathLike[str]] | None = None,
    properties: Mapping[str, str] | None = None,
    max_words: int = MAX_WORDS,
) -> Parser:
    return CoreNLPParser(
        lang,
        model=model,
        dependencies=dependencies,
        memory=memory,
        threads=threads,
        timeout=timeout,
        version=version,
        java=java,
        classpath=classpath,
        properties=properties,
        max_words=max_words,
    )


class CoreNLPParser(Parser):
    """CoreNLP as a server of our own.

    ``model`` names another phrase-structure parser of the models' jar (``chinesePCFG``, ``srparser/chineseSR.beam.ser.gz``);
    ``dependencies`` are Universal (``ud``) or Stanford ones (``sd``: Chinese and English);
    ``memory`` is Java's heap limit, ``threads`` how many sentences the server parses at once, ``timeout`` the seconds that
    one sentence may take; ``properties`` are added to CoreNLP's.
    """

    name = "corenlp"
    trees = BOTH
    concurrency = "threads"

    def __init__(
        self,
        lang: str,
        *,
        model: str | None = None,
        dependencies: Dependencies = "ud",
        memory: str | None = None,
        threads: int = 1,
        timeout: float = 30.0,
        version: str = VERSION,
        java: str | None = None,
        classpath: Sequence[str | os.PathLike[str]] | None = None,
        properties: Mapping[str, str] | None = None,
        max_words: int = MAX_WORDS,
    ) -> None:
        super().__init__(lang, max_words=max_words)
        language = _language(lang)
        self.version = version
        self.timeout = timeout
        self.dependencies = dependencies
        if dependencies not in get_args(Dependencies):
            raise ParserError(f"dependencies {dependencies!r}", remedy="choose ud or sd")
        if dependencies == "sd" and not language.stanford:
            having = ", ".join(sorted(STANFORD_LANGUAGES))
            raise ParserError(f"CoreNLP has no Stanford dependencies for {lang}", remedy=f"take ud; sd is for {having}")
        if memory is not None and not re.fullmatch(r"[1-9]\d*[kmgKMG]", memory):
            raise ParserError(f"memory {memory!r}", remedy="write a number and k, m or g, for example 4g")
        program = shutil.which(java or os.environ.get("TREEGLOT_JAVA") or "java")
        if program is None:
            raise BackendUnavailable("there is no Java here", remedy="install a Java runtime (8 or newer)")
        if classpath is not None:
            jars = [Path(jar) for jar in classpath]
            names: frozenset[str] = frozenset()
            server = dict(language.defaults)
        else:
            if not is_installed(lang, version):
                raise BackendUnavailable(
                    f"CoreNLP {version} has no {language.name} models in {home(version)}",
                    remedy=f"run: treeglot parsers install corenlp --lang {lang}",
                )
            jars = [
                home(version) / what.file_name
                for what in (program_coordinates(version), model_coordinates(lang, version))
            ]
            names, server = _inside(jars[1], language)
            more = more_coordinates(lang, version)
            if more is not None and (home(version) / more.file_name).is_file():
                jars.append(home(version) / more.file_name)
                names |= _inside(jars[-1], language)[0]
        server["parse.model"] = _parse_model(model, language, names)
        annotators = ["tokenize", "ssplit", "pos", "parse"]
        if "mwt.mappingFile" in server or "mwt.model" in server:
            annotators.insert(2, "mwt")
        if lang == "en":
            annotators.insert(3, "lemma")
        if language.depparse_model:
            server.setdefault("depparse.model", _MODELS + language.depparse_model)
            annotators.append("depparse")
        self.model = Path(server["parse.model"]).name
        server |= {"annotators": ",".join(annotators), "ssplit.eolonly": "true", "parse.maxlen": str(max_words)}
        if dependencies == "sd":
            server["parse.originalDependencies"] = "true"
        server |= dict(properties or {})
        self._given_words = {
            "annotators": ",".join(name for name in annotators if name != "mwt"),
            "tokenize.whitespace": "true",
            "tokenize.language": "en",
            "tokenize.postProcessor": "",
        }
        self._no_parse = {
            "annotators": ",".join(name for name in annotators if name in ("tokenize", "ssplit", "mwt", "pos"))
        }
        self.server = CoreNLPServer(jars, server, java=program, memory=memory or language.memory, threads=threads)

    @property
    def description(self) -> str:
        kind = ", Stanford dependencies" if self.dependencies == "sd" else ""
        return f"corenlp {self.version} {self.lang} ({self.model}{kind})"

    def parse_texts(self, batch: Sequence[str]) -> list[ParsedSentence]:
        return self._parse(batch, {}, None)

    def parse_tokens(self, batch: Sequence[Sequence[str]]) -> list[ParsedSentence]:
        lines = [" ".join(re.sub(r"\s", "_", word) for word in words) for words in batch]
        return self._parse(lines, self._given_words, batch)

    def start(self) -> None:
        self.server.start()

    def tokenize_only(self, text: str) -> Tokens:
        answer = self.server.request(text, self._no_parse, timeout=self.timeout)
        words = words_of(Answer(answer, text), self.lang)
        return words[0] if len(words) == 1 else Tokens(text.split())

    def peak_memory(self) -> int:
        return self.server.peak_memory

    def close(self) -> None:
        self.server.close()

    def _parse(
        self, lines: Sequence[str], properties: Mapping[str, str], given: Sequence[Sequence[str]] | None
    ) -> list[ParsedSentence]:
        text = "\n".join(lines)
        answer = self.server.request(text, properties, timeout=self.timeout + (len(lines) - 1) * min(self.timeout, 2.0))
        parsed = read_answer(Answer(answer, text), self.lang, given)
        if len(parsed) != len(lines):
            raise ServerFailed(f"{len(parsed)} sentences for {len(lines)} lines", remedy="")
        return [
            flat_sentence(sentence.tokens, too_long(len(sentence))) if len(sentence) > self.max_words else sentence
            for sentence in parsed
        ]


def _language(lang: str) -> Language:
    try:
        return LANGUAGES[lang]
    except KeyError:
        raise BackendUnavailable(
            f"CoreNLP has no parser for {lang!r} here", remedy=f"its languages are {', '.join(sorted(LANGUAGES))}"
        ) from None


def _inside(jar: Path, language: Language) -> tuple[frozenset[str], dict[str, str]]:
    """The names in a models' jar, and what its own property file says about the annotators that we use."""
    try:
        with zipfile.ZipFile(jar) as archive:
            names = frozenset(archive.namelist())
            own = f"StanfordCoreNLP-{language.name}.properties"
            text = archive.read(own).decode("utf-8") if own in names else ""
    except (zipfile.BadZipFile, OSError) as error:
        raise BackendUnavailable(f"damaged jar ({error})", path=jar, remedy="delete it and install again") from None
    settings = dict(language.defaults)
    for line in text.splitlines():
        key, sign, value = line.partition("=")
        if sign and _KEPT.fullmatch(key.strip()):
            settings[key.strip()] = value.strip()
    return names, settings


def _parse_model(model: str | None, language: Language, names: frozenset[str]) -> str:
    known = sorted(
        name.removeprefix(_MODELS) for name in names if re.search(r"/(srparser|lexparser)/.*\.ser\.gz$", name)
    )
    if model is None:
        for candidate in language.parse_models:
            if not names or _MODELS + candidate in names:
                return _MODELS + candidate
        if known:
            return _MODELS + known[0]
        raise BackendUnavailable(f"no parser in the {language.name} models", remedy="install them again")
    for name in known:
        if model in (name, Path(name).name, Path(name).name.removesuffix(".ser.gz")):
            return _MODELS + name
    if Path(model).is_file() or not names:
        return model
    raise ParserError(f"no parser model {model!r}", remedy=f"there are {', '.join(known)}")
