"""What a word aligner is, and how one is chosen, trained, saved and loaded.

A model is a folder: ``aligner.json`` names the backend, its options and the checksums of its files; the rest belongs to the
backend. A model that was saved aligns text later exactly as it did when it was trained.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp()) / "model"
>>> aligner = train("own", ["das haus", "das buch", "ein buch"] * 3, ["the house", "the book", "a book"] * 3, folder)
>>> result = load(folder).align(["das buch"], ["the book"])
>>> result.forward, result.reverse, result.symmetrized("intersection")
(['0-0 1-1'], ['0-0 1-1'], ['0-0 1-1'])
"""

from __future__ import annotations

import abc
import hashlib
import importlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from treeglot.alignment.symmetrize import DEFAULT, Links, parse_links, symmetrize_lines
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, type_path
from treeglot.words import is_blank

if TYPE_CHECKING:
    from treeglot.alignment.evidence import Evidence

MANIFEST = "aligner.json"
VERSION = 1

BACKENDS = {
    "own": "treeglot.alignment.own:AgreementAligner",
    "thot-hmm": "treeglot.alignment.thot:ThotHmm",
    "thot-fastalign": "treeglot.alignment.thot:ThotFastAlign",
    "thot-ibm4": "treeglot.alignment.thot:ThotIbm4",
    "thot-eflomal": "treeglot.alignment.thot:ThotEflomal",
    "eflomal": "treeglot.alignment.eflomal:Eflomal",
}
"""Names of backends and the classes that implement `WordAligner`; modules are imported when they are used."""


class Alignment(NamedTuple):
    """Pharaoh lines of both directions, one for each sentence pair; see `treeglot.alignment.symmetrize`."""

    forward: list[str]
    reverse: list[str]

    def symmetrized(self, heuristic: str = DEFAULT) -> list[str]:
        """One alignment of the two, as Pharaoh lines."""
        return symmetrize_lines(self.forward, self.reverse, heuristic)

    def links(self, heuristic: str = DEFAULT) -> list[Links]:
        """One alignment of the two, as links."""
        return [parse_links(line) for line in self.symmetrized(heuristic)]


class WordTranslation(NamedTuple):
    """A row of a model's own lexical tables: t(e|f) and t(f|e) of source word f and target word e."""

    source: str
    target: str
    target_given_source: float
    source_given_target: float


class WordAligner(abc.ABC):
    """A trained word aligner. Text is tokenised; words are what blanks separate; empty lines are aligned to nothing."""

    name: ClassVar[str]
    extra: ClassVar[str] = ""
    """The extra of treeglot that installs what the backend needs."""
    lowercase: bool = False
    """Whether the model was learnt from text in lower case: then what it is to align must be, too."""
    seed: int = 1
    options: Mapping[str, Any] = MappingProxyType({})
    """What it was learnt with."""
    evidence: Mapping[str, str] = MappingProxyType({})
    """Digests of the evidence it was learnt with (`treeglot.alignment.evidence`)."""
    takes_evidence: ClassVar[bool] = False
    """Whether ``train_into`` has a parameter ``evidence``."""

    @classmethod
    @abc.abstractmethod
    def train_into(
        cls, folder: Path, source: Sequence[str], target: Sequence[str], *, seed: int, threads: int, **options: Any
    ) -> None:
        """Learn from sentence pairs and write the model's files into an empty folder."""

    @abc.abstractmethod
    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        """Open the model's files."""

    @abc.abstractmethod
    def align(self, source: Sequence[str], target: Sequence[str]) -> Alignment:
        """Align sentence pairs in both directions."""

    @abc.abstractmethod
    def lexicon(self, threshold: float = 1e-3) -> Iterable[WordTranslation]:
        """The model's own lexical tables: pairs with either chance not below ``threshold``, sorted."""


def backend(name: str) -> type[WordAligner]:
    """The class of a backend by name."""
    if name not in BACKENDS:
        raise TreeglotError(f"no aligner {name!r}", remedy=f"choose one of {', '.join(BACKENDS)}")
    module, _, attribute = BACKENDS[name].partition(":")
    aligner: type[WordAligner] = getattr(importlib.import_module(module), attribute)
    return aligner


def require(module: str, extra: str, otherwise: str = "or use the aligner own, which needs nothing") -> Any:
    """Import a package that an extra of treeglot installs, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TreeglotError(
            f"the package {module.split('.')[0]} is not there ({error})",
            remedy=f"pip install 'treeglot[{extra}]', {otherwise}",
        ) from None


def check_pairs(source: Sequence[str], target: Sequence[str]) -> None:
    """Both sides must have the same number of lines, and no line may contain a line end."""
    if len(source) != len(target):
        raise TreeglotError(
            f"{len(source):,} source lines, but {len(target):,} target lines",
            remedy="give the two sides of the same sentence pairs",
        )


def train(
    name: str,
    source: Sequence[str],
    target: Sequence[str],
    folder: type_path,
    *,
    seed: int = 1,
    threads: int = 0,
    lowercase: bool = False,
    evidence: Evidence | None = None,
    **options: Any,
) -> WordAligner:
    """Train a backend and save the model as ``folder``, which appears when it is complete.

    ``lowercase`` is kept in the model and says that the text is in lower case; ``evidence`` is what is known before."""
    check_pairs(source, target)
    kind = backend(name)
    known = evidence.digests if evidence is not None else {}
    if known and not kind.takes_evidence:
        raise TreeglotError(f"the aligner {name} learns from text alone", remedy="use the aligner own")
    if all(is_blank(s) or is_blank(t) for s, t in zip(source, target, strict=True)):
        raise TreeglotError("no sentence pair with words on both sides", remedy="give some text to learn from")
    final = Path(os.path.realpath(folder))
    if final.exists() and (not final.is_dir() or any(final.iterdir())):
        raise TreeglotError("exists already", path=final, remedy="remove it, or choose another name for the model")
    if not final.parent.is_dir():
        raise TreeglotError("the folder does not exist", path=final.parent, remedy="create it first")
    temporary = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent))
    try:
        more: dict[str, Any] = {"evidence": evidence} if known else {}
        kind.train_into(temporary, source, target, seed=seed, threads=threads, **more, **options)
        files = {path.name: _digest(path) for path in sorted(temporary.iterdir())}
        manifest = {"version": VERSION, "backend": name, "seed": seed, "options": options, "files": files}
        if lowercase:
            manifest["lowercase"] = True
        if known:
            manifest["evidence"] = known
        with atomic_write(temporary / MANIFEST) as out:
            json.dump(manifest, out, ensure_ascii=False, indent=1, sort_keys=True)
            out.write("\n")
        temporary.chmod(0o755)
        if final.exists():
            final.rmdir()
        temporary.rename(final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return load(final, threads=threads)


def load(folder: type_path, *, threads: int = 0, verify: bool = True) -> WordAligner:
    """Open a saved model. ``verify`` compares the checksums of its files."""
    path = Path(folder)
    place = path / MANIFEST
    remedy = "train it again: treeglot align train"
    try:
        text = place.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("no alignment model", path=place, line=1, remedy=remedy) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=place, line=1, remedy=remedy) from None
    try:
        manifest = json.loads(text)
        version, name, files = manifest["version"], str(manifest["backend"]), dict(manifest["files"])
        lowercase, seed = bool(manifest.get("lowercase", False)), int(manifest.get("seed", 1))
        options, evidence = dict(manifest.get("options", {})), dict(manifest.get("evidence", {}))
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise InputError("damaged", path=place, line=1, remedy=remedy) from None
    if version != VERSION:
        raise InputError(f"a model of version {version}, not {VERSION}", path=place, line=1, remedy=remedy)
    for file, digest in files.items():
        part = path / file
        if not part.is_file():
            raise InputError("a file of the model is missing", path=part, line=1, remedy=remedy)
        if verify and _digest(part) != digest:
            raise InputError("damaged or truncated: its checksum is wrong", path=part, line=1, remedy=remedy)
    aligner = backend(name)(path, threads=threads)
    aligner.lowercase, aligner.seed, aligner.options, aligner.evidence = lowercase, seed, options, evidence
    return aligner


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:32]
