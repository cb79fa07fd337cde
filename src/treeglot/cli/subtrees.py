"""``treeglot trees align`` and ``trees evaluate``: link the nodes of two files of trees, and score such links."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer

from treeglot.alignment.subtrees.dictionary import Dictionary
from treeglot.alignment.subtrees.lexical import (
    DEFAULT_FLOOR,
    DEFAULT_METHOD,
    USUAL_LEAST,
    LexicalTreeAligner,
    TreeKind,
)
from treeglot.alignment.subtrees.wordtable import WordTable
from treeglot.errors import InputError, TreeglotError
from treeglot.evaluation.subtrees import GoldNodes, NodeScore, score_node_links
from treeglot.progress import is_quiet, track
from treeglot.trees.display import Comparison
from treeglot.trees.formats import check_format, guess_format, kind_of, read_pairs, read_sentences
from treeglot.trees.nodelinks import all_links, with_links, write_node_links
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.treealigner import write_aligned_pairs
from treeglot.trees.treejson import write_jsonl

OUTPUTS = {"jsonl": (".jsonl", ".json"), "treealigner": (".sta.xml", ".sta", ".xml"), "nodes": (".nodes",)}
"""What `trees align` can write, and the endings by which it is known."""

Sides = tuple[ParsedSentence, ParsedSentence]
T = TypeVar("T")
U = TypeVar("U")


def add_commands(app: typer.Typer) -> None:
    """Hook the commands into ``treeglot trees``."""
    app.command()(align)
    app.command()(evaluate)


def align(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help="Trees (penn, conllu, tiger, jsonl ...), or a file of aligned pairs.")],
    target: Annotated[
        Path | None, typer.Argument(help="The trees of the translations, in the same order. Not with aligned pairs.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The aligned treebank; - is standard output.")] = "-",
    format: Annotated[
        str | None, typer.Option("--format", help=f"One of {', '.join(OUTPUTS)}; by the ending of --out, else jsonl.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Align with this model of `trees train-aligner`.")] = None,
    adapt: Annotated[
        bool,
        typer.Option("--adapt", help="With --model: let it learn the words of these trees first. All are read before."),
    ] = False,
    lex: Annotated[
        str | None,
        typer.Option(help="Word tables PREFIX.f2e and PREFIX.e2f; learnt from the trees' words if not given."),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(
            help="A dictionary for the lexical aligner: lines of source headword, tabulator, target headword."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="The lexical aligner's score and heuristics, such as score2 or skip1_score1.")
    ] = DEFAULT_METHOD,
    floor: Annotated[float, typer.Option(help="The least probability of a word pair.")] = DEFAULT_FLOOR,
    least: Annotated[
        float, typer.Option(help="Never link nodes with a confidence below this; a model has its own threshold.")
    ] = USUAL_LEAST,
    words: Annotated[bool, typer.Option(help="Link words, too.")] = True,
    source_tree: Annotated[str, typer.Option(help=f"Which tree: {', '.join(get_args(TreeKind))}.")] = "auto",
    target_tree: Annotated[str, typer.Option(help="The same for the target.")] = "auto",
    from_format: Annotated[str | None, typer.Option("--from", "-f", help="Format of SOURCE.")] = None,
    target_format: Annotated[str | None, typer.Option("--target-from", help="Format of TARGET.")] = None,
    threads: Annotated[int, typer.Option(help="0: all cores.", min=0)] = 0,
) -> None:
    """Link the nodes of two treebanks, sentence by sentence, by their words or with a trained model.

    Links of TreeAligner XML join two TIGER files, which are written beside it. Every link has a confidence.
    """
    write_as = output_format(out, format)
    check_output(out)
    pairs = TreePairs(source, target, from_format, target_format)
    for name, kind in (("--source-tree", source_tree), ("--target-tree", target_tree)):
        if kind not in get_args(TreeKind):
            raise TreeglotError(f"{name} {kind}", remedy=f"choose {', '.join(get_args(TreeKind))}")
    if model is not None:
        from treeglot.alignment.subtrees.model import load_model

        for name in ("lex", "dictionary", "method", "floor"):
            if _is_given(context, name):
                raise TreeglotError(f"--{name} with --model", remedy="it is for the lexical aligner; give one of them")
        kinds: dict[str, Any] = {"source_tree": source_tree, "target_tree": target_tree}
        trained = load_model(model, threads=threads)
        if adapt:
            pairs.read_twice()
            trained = trained.adapted(track(pairs, "reading words"), threads=threads)
        aligned: Iterable[AlignedPair] = trained.align(pairs.with_word_links(), **kinds, threads=threads)
        aligned = _kept(aligned, words, least if _is_given(context, "least") else 0.0)
        lexical = None
    else:
        if adapt:
            raise TreeglotError(
                "--adapt without --model", remedy="the lexical aligner learns from the trees' words anyway"
            )
        if lex is not None:
            if dictionary is not None:
                raise TreeglotError(
                    "--dictionary with --lex", remedy="a dictionary helps to learn tables; give one of them"
                )
            table = WordTable.read_prefix(lex)
        else:
            entries = None if dictionary is None else Dictionary.read(dictionary)
            pairs.read_twice()
            texts: tuple[list[str], list[str]] = ([], [])
            for sentences in track(pairs, "reading words"):
                for text, side in zip(texts, sentences, strict=True):
                    text.append(" ".join(form.replace(" ", "_") for form in side.tokens.forms))
            if entries is not None:
                for text, more in zip(texts, entries.lines(*texts), strict=True):
                    text += more
            table = WordTable.train(*texts, threads=threads)
        lexical = LexicalTreeAligner(table, method=method, floor=floor, words=words, least=least, threads=threads)
        aligned = lexical.align(pairs, source_tree=source_tree, target_tree=target_tree)  # type: ignore[arg-type]
    count = write_aligned(track(pairs.restore_ids(aligned), "aligning"), out, write_as)
    if lexical is not None and lexical.too_large:
        print(f"treeglot: {lexical.too_large:,} pairs are too large and have no links", file=sys.stderr)
    if not is_quiet():
        print(
            f"treeglot: {count.pairs:,} pairs, {count.nodes:,} node links, {count.words:,} word links", file=sys.stderr
        )
        if model is not None and words and pairs.word_links:
            print(f"treeglot: the word links are those of {source}", file=sys.stderr)


def check_output(out: str | Path) -> None:
    """Whether a file of this name can be written: better before the work than after it."""
    path = Path(out)
    if str(out) != "-" and not path.parent.is_dir():
        raise TreeglotError("the folder does not exist", path=path.parent, remedy="create it first")
    if path.is_dir():
        raise TreeglotError("is a folder", path=path, remedy="name a file in it")


def check_not_empty(path: Path) -> None:
    """An empty file has no format to guess; this says so instead of blaming something else."""
    if path.is_file() and not path.stat().st_size:
        raise InputError("the file is empty", path=path, line=1, remedy="copy or make the file again")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _kept(pairs: Iterable[AlignedPair], words: bool, least: float) -> Iterator[AlignedPair]:
    """The links of a model without those that the options rule out."""
    if not 0 <= least <= 1:
        raise TreeglotError(f"a least confidence of {least}", remedy="give a number from 0 to 1")
    for pair in pairs:
        nodes = [link for link in pair.node_links if link.score is None or link.score >= least]
        yield AlignedPair(pair.source, pair.target, pair.word_links if words else (), nodes, pair.id)


class TreePairs:
    """The sentence pairs of the input, read anew by every loop."""

    def __init__(self, source: Path, target: Path | None, source_format: str | None, target_format: str | None) -> None:
        for path in (source, *([target] if target is not None else [])):
            check_not_empty(path)
        self.source, self.target = source, target
        self.format = check_format(source_format) if source_format else guess_format(source, reading=True)
        self.is_pairs = kind_of(source, self.format) == "pairs"
        if target is None and not self.is_pairs:
            raise TreeglotError(
                "no trees to align with", path=source, remedy="give the target's trees as a second file"
            )
        if target is not None and self.is_pairs:
            raise TreeglotError("holds both sides already", path=source, remedy="give it alone, or two files of trees")
        self.target_format = ""
        if target is not None:
            self.target_format = check_format(target_format) if target_format else guess_format(target, reading=True)
        self.ids: list[str] = []
        self.word_links = 0
        self.kept: list[AlignedPair | Sides] | None = None

    def read_twice(self) -> None:
        """Get ready for two loops: what a pipe holds can be read once only and is kept in memory."""
        if not all(path.is_file() for path in (self.source, self.target) if path is not None):
            self.kept = list(self._read())

    def __iter__(self) -> Iterator[Sides]:
        for item in self.with_word_links():
            yield (item.source, item.target) if isinstance(item, AlignedPair) else item

    def with_word_links(self) -> Iterator[AlignedPair | Sides]:
        """Pairs of an aligned file with their links, else two sentences."""
        self.ids = []
        self.word_links = 0
        for number, item in enumerate(self._read() if self.kept is None else self.kept, start=1):
            if isinstance(item, AlignedPair):
                self.ids.append(item.id)
                self.word_links += len(item.word_links)
            else:
                self.ids.append(item[0].id or str(number))
            yield item
        if not self.ids:
            raise InputError("no sentence pairs", path=self.source, line=1, remedy="give trees to align")

    def _read(self) -> Iterator[AlignedPair | Sides]:
        if self.target is None:
            yield from read_pairs(self.source, self.format)
            return
        yield from tree_sides(self.source, self.target, self.format, self.target_format)

    def restore_ids(self, aligned: Iterable[AlignedPair]) -> Iterator[AlignedPair]:
        """The pairs with the names that they have in the input."""
        for number, pair in enumerate(aligned):
            yield AlignedPair(pair.source, pair.target, pair.word_links, pair.node_links, self.ids[number])


def tree_sides(
    source: Path, target: Path, format: str | None = None, target_format: str | None = None
) -> Iterator[Sides]:
    """The trees of two files with the same number of sentences."""
    return in_step(
        (source, read_sentences(source, format)),
        (target, read_sentences(target, target_format)),
        remedy="give the two sides of the same sentence pairs",
    )


def in_step(first: tuple[Path, Iterable[T]], second: tuple[Path, Iterable[U]], *, remedy: str) -> Iterator[tuple[T, U]]:
    """What two files have for each sentence; one that ends before the other is an `InputError`."""
    for number, (one, other) in enumerate(zip_longest(first[1], second[1]), start=1):
        if one is None or other is None:
            shorter, longer = (first[0], second[0]) if one is None else (second[0], first[0])
            raise InputError(
                f"{number - 1:,} sentences, but {longer} has more",
                path=shorter,
                line=max(number - 1, 1),
                remedy=remedy,
            )
        yield one, other


class Count:
    """Pairs and links that have passed by."""

    def __init__(self) -> None:
        self.pairs = self.nodes = self.words = 0

    def of(self, pairs: Iterable[AlignedPair]) -> Iterator[AlignedPair]:
        for pair in pairs:
            self.pairs += 1
            self.nodes += len(pair.node_links)
            self.words += len(pair.word_links)
            yield pair


def output_format(out: str, format: str | None) -> str:
    """One of `OUTPUTS`: as asked for, or by the ending of the file."""
    if format is not None:
        if format not in OUTPUTS:
            raise TreeglotError(f"no output format {format!r}", remedy=f"choose {', '.join(OUTPUTS)}")
    else:
        name = out.lower().removesuffix(".gz").removesuffix(".zst")
        format = next((known for known, endings in OUTPUTS.items() if name.endswith(endings)), "jsonl")
    if format == "treealigner" and out == "-":
        raise TreeglotError(
            "TreeAligner XML needs three files", remedy="name one with --out; the others stand beside it"
        )
    return format


def write_aligned(pairs: Iterator[AlignedPair], out: str, format: str) -> Count:
    """Write pairs with their links, in a format of `OUTPUTS`; how many there were of what."""
    count = Count()
    if format == "jsonl":
        write_jsonl(count.of(pairs), out)
    elif format == "nodes":
        write_node_links(count.of(pairs), out)
    else:
        stem = out
        for ending in OUTPUTS["treealigner"]:
            stem = stem.removesuffix(ending)
        write_aligned_pairs(count.of(pairs), out, f"{stem}.source.tiger.xml", f"{stem}.target.tiger.xml")
    return count


def evaluate(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Hand-made links: TreeAligner XML or JSON lines.")],
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Links to score: the same formats, or .nodes.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Precision, recall and F1 of node links: internal nodes and all nodes, good links and good or fuzzy ones.

    Both files hold the same pairs in the same order, or pairs with the same ids.
    """
    check_not_empty(gold)
    references: list[GoldNodes] = []
    answers: list[list[tuple[int, int]]] = []
    for item in track(compared(gold, guess_format(gold, reading=True), system), "scoring"):
        links = all_links(item.gold)
        kinds = [[link[:2] for link in links if link.kind == kind] for kind in ("good", "fuzzy")]
        references.append(GoldNodes(kinds[0], kinds[1]))
        answers.append([link[:2] for link in all_links(item.system)])
    rows: dict[str, NodeScore] = {
        f"{where}, {what}": score_node_links(answers, references, fuzzy=fuzzy, internal=internal)
        for where, internal in (("phrases", True), ("all nodes", False))
        for what, fuzzy in (("good links", False), ("good or fuzzy links", True))
    }
    if not references:
        raise InputError("no pairs to score", path=gold, line=1, remedy="give pairs with hand-made links")
    if not any(min(pair) >= 0 for reference in references for pair in reference.good | reference.fuzzy):
        print(f"treeglot: {gold}: no links between phrases, so their scores mean nothing", file=sys.stderr)
    if as_json:
        print(json.dumps({name: _record(score) for name, score in rows.items()}, indent=2))
        return
    width = max(map(len, rows))
    for name, score in rows.items():
        print(
            f"{name:{width}}  {score}  ({score.right:,} of {score.found:,} right, {score.recalled:,} of {score.good:,})"
        )


def _record(score: NodeScore) -> dict[str, Any]:
    return {**score._asdict(), "precision": score.precision, "recall": score.recall, "f1": score.f1}


def compared(gold: Path, format: str, system: Path) -> Iterator[Comparison]:
    """The pairs of a hand-made file with the links of a system: in the same order, or by their ids."""
    if kind_of(gold, format) != "pairs":
        raise TreeglotError("holds no aligned pairs", path=gold, remedy="give TreeAligner XML or JSON lines of pairs")
    references = list(read_pairs(gold, format))
    system_pairs: list[AlignedPair]
    if _is_nodes(system):
        system_pairs = list(with_links(references, system))
    else:
        system_pairs = list(read_pairs(system))
    if [pair.id for pair in references] != [pair.id for pair in system_pairs]:
        by_id = {pair.id: pair for pair in system_pairs}
        if len(by_id) == len(system_pairs) and all(pair.id in by_id for pair in references):
            system_pairs = [by_id[pair.id] for pair in references]
        elif len(references) != len(system_pairs):
            raise TreeglotError(
                f"{len(system_pairs):,} pairs, but {gold} has {len(references):,}",
                path=system,
                remedy="give links of the same pairs, in the same order or with the same ids",
            )
    for number, (reference, answer) in enumerate(zip(references, system_pairs, strict=True), start=1):
        for name, expected, given in (
            ("source", reference.source, answer.source),
            ("target", reference.target, answer.target),
        ):
            difference = _difference(expected, given)
            if difference:
                where = f"pair {number}" + (f" ({reference.id})" if reference.id else "")
                raise TreeglotError(
                    f"{where}: the {name} tree is not that of {gold}: {difference}",
                    path=system,
                    remedy="give links between the same trees",
                )
        yield Comparison(reference, answer)


def _difference(gold: ParsedSentence, system: ParsedSentence) -> str:
    """What makes two trees different, or nothing."""
    words = gold.tokens.forms, system.tokens.forms
    for j, (expected, given) in enumerate(zip(*words, strict=False), start=1):
        if expected != given:
            return f"word {j} is {given!r} instead of {expected!r}"
    if len(gold) != len(system):
        return f"{len(system):,} words instead of {len(gold):,}"
    return "the same words, but other phrases" if _children(gold) != _children(system) else ""


def is_node_file(path: Path) -> bool:
    """By its name."""
    return str(path).lower().removesuffix(".gz").removesuffix(".zst").endswith(OUTPUTS["nodes"])


def _is_nodes(path: Path) -> bool:
    if is_node_file(path):
        return True
    with suppress(TreeglotError):
        return guess_format(path, reading=True) == "pharaoh"
    return False


def _children(sentence: ParsedSentence) -> Any:
    return None if sentence.constituency is None else sentence.constituency.children
