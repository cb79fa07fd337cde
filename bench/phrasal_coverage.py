"""Phrasal nodes and dependency → constituency conversion, measured on treebanks that have both kinds of trees.

    python bench/phrasal_coverage.py [--data DIR] [--part train|dev|test]...

DIR (default: the environment variable TREEGLOT_DATA) holds ``trees/gum-en`` and ``trees/sequoia-fr``. Prints two Markdown
tables: which constituents are dependency subtrees or representable as phrasal nodes, and PARSEVAL scores of the conversion
against the treebank's constituents next to those of a flat conversion with one constituent per head word.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from treeglot.trees.conllu import read_conllu
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dep2cons import to_constituency
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.penn import read_penn
from treeglot.trees.phrasal import Kind, phrasal_nodes
from treeglot.trees.projectivity import projectivize
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import Tokens

Bracket = tuple[str, int, int]
WRAPPERS = frozenset({"ROOT", "TOP", "VROOT", "SENT"})
PARTS = ("train", "dev", "test")
FRENCH_ONLY = frozenset({"VN", "COORD"})
"""Phrases of the French treebanks that the Penn style does not have: the verb with its clitics and auxiliaries, and the
coordinator with its conjunct."""


# PARSEVAL: labelled brackets of all phrases, unlabelled brackets of the distinct spans of two or more words. Punctuation is
# removed first and the node above the whole sentence that is not a phrase (ROOT) is left out, as evalb does.


@dataclass
class Score:
    """Matching, found and wanted brackets."""

    match: int = 0
    found: int = 0
    wanted: int = 0

    def add(self, proposed: Counter[object], wanted: Counter[object]) -> None:
        self.match += (proposed & wanted).total()
        self.found += proposed.total()
        self.wanted += wanted.total()

    @property
    def precision(self) -> float:
        return self.match / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.match / self.wanted if self.wanted else 0.0

    @property
    def f(self) -> float:
        return 2 * self.match / (self.found + self.wanted) if self.found + self.wanted else 0.0

    def __str__(self) -> str:
        return f"{100 * self.precision:.1f} / {100 * self.recall:.1f} / {100 * self.f:.1f}"


@dataclass
class Parseval:
    labelled: Score = field(default_factory=Score)
    unlabelled: Score = field(default_factory=Score)

    def add(
        self,
        tree: ConstituencyTree,
        wanted: ConstituencyTree,
        punctuation: Iterable[bool],
        ignore: frozenset[str] = frozenset(),
    ) -> None:
        """``ignore`` are labels of the wanted tree that do not count."""
        places = [0]
        for mark in punctuation:
            places.append(places[-1] + (not mark))
        proposed = brackets(tree, places)
        expected = [bracket for bracket in brackets(wanted, places) if bracket[0] not in ignore]
        self.labelled.add(Counter(proposed), Counter(expected))
        self.unlabelled.add(Counter(set(unlabelled(proposed))), Counter(set(unlabelled(expected))))


def brackets(tree: ConstituencyTree, places: list[int]) -> list[Bracket]:
    """The labelled spans of a tree; ``places[j]`` counts the words before position j that are not punctuation."""
    spans = [
        (label, places[low], places[high])
        for label, (low, high) in zip(tree.labels, tree.spans, strict=True)
        if label not in WRAPPERS
    ]
    return [bracket for bracket in spans if bracket[2] > bracket[1]]


def unlabelled(spans: Iterable[Bracket]) -> Iterator[tuple[int, int]]:
    return ((low, high) for _, low, high in spans if high - low > 1)


def flat_conversion(tree: DependencyTree) -> ConstituencyTree:
    """One constituent for each word that has dependents, labelled by its tag."""
    tree = projectivize(tree)
    heads = [j for j in range(len(tree)) if not tree.is_leaf(j) or j == tree.root]
    number = {j: n for n, j in enumerate(heads)}
    children = [[~j, *(number.get(c, ~c) for c in tree.children(j))] for j in heads]
    return ConstituencyTree(tree.tokens, [tree.tokens.upos[j] for j in heads], children)


# The corpora. Each yields (part, sentence with both trees) and counts the sentences that it cannot use.


def gum(folder: Path, seen: Counter[str]) -> Iterator[tuple[str, ParsedSentence]]:
    part = ""
    for line in (folder / "splits.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part = line[3:].strip()
        name = line.strip().removeprefix("* ")
        if line.strip().startswith("* ") and (folder / "const" / f"{name}.ptb").exists():
            trees = read_penn(folder / "const" / f"{name}.ptb")
            for tree, sentence in zip(trees, read_conllu(folder / "dep" / f"{name}.conllu"), strict=True):
                seen["all"] += 1
                if tree.tokens.forms == sentence.tokens.forms:
                    seen["same words"] += 1
                    yield part, ParsedSentence.of(sentence.dependency, tree.constituency, id=sentence.id)


def sequoia(folder: Path, seen: Counter[str]) -> Iterator[tuple[str, ParsedSentence]]:
    """Sentences are found by their letters; several UD words that are one word of the constituency tree (``de`` + ``le``
    for ``du``, ``à`` + ``peu`` + ``près`` for ``à_peu_près``) are joined if they hang on one head."""
    by_letters: dict[str, list[tuple[str, ParsedSentence]]] = {}
    for part in PARTS:
        for sentence in read_conllu(folder / f"fr_sequoia-ud-{part}.conllu"):
            letters = "".join(form for form, _ in surface(sentence))
            by_letters.setdefault(plain(letters), []).append((part, sentence))
    for tree in read_penn(folder / "sequoia-corpus+fct.mrg_strict"):
        seen["all"] += 1
        candidates = by_letters.get(plain("".join(tree.tokens.forms)))
        if not candidates:
            continue
        part, sentence = candidates.pop(0) if len(candidates) > 1 else candidates[0]
        dependency = sentence.dependency
        assert dependency is not None and tree.constituency is not None
        if tree.tokens.forms == sentence.tokens.forms:
            seen["same words"] += 1
        else:
            groups = align(tree.tokens.forms, surface(sentence))
            joined = None if groups is None else join_words(dependency, groups, tree.tokens.forms)
            if joined is None:
                continue
            seen["joined"] += 1
            dependency = joined
        yield part, ParsedSentence.of(dependency, tree.constituency, id=sentence.id)


def plain(text: str) -> str:
    return re.sub(r"[_\s]", "", text).lower()


def surface(sentence: ParsedSentence) -> list[tuple[str, list[int]]]:
    """The written words with the numbers of the syntactic words in each."""
    written: list[tuple[str, list[int]]] = []
    ranges = {item.start: item for item in sentence.ranges}
    j = 0
    while j < len(sentence):
        end = ranges[j].end if j in ranges else j + 1
        form = ranges[j].columns[1] if j in ranges else sentence.tokens.forms[j]
        written.append((form, list(range(j, end))))
        j = end
    return written


def align(forms: Iterable[str], written: list[tuple[str, list[int]]]) -> list[list[int]] | None:
    """For each form the words that it is made of, None if a form ends inside a written word."""
    groups: list[list[int]] = []
    rest = iter(written)
    for form in forms:
        letters, words = "", list[int]()
        while len(letters) < len(plain(form)):
            text, numbers = next(rest, ("", []))
            if not text:
                return None
            letters += plain(text)
            words += numbers
        if letters != plain(form) or not words:
            return None
        groups.append(words)
    return groups


def join_words(tree: DependencyTree, groups: list[list[int]], forms: Iterable[str]) -> DependencyTree | None:
    """Each group of words becomes one word; None if the words of a group hang on different heads outside of it."""
    group_of = {j: g for g, group in enumerate(groups) for j in group}
    heads, firsts = [], []
    for g, group in enumerate(groups):
        tops = [j for j in group if tree.heads[j] == ROOT or group_of[tree.heads[j]] != g]
        outside = {ROOT if tree.heads[j] == ROOT else group_of[tree.heads[j]] for j in tops}
        if len(outside) != 1:
            return None
        heads.append(outside.pop())
        firsts.append(tops[0])
    upos = [tree.tokens.upos[j] for j in firsts]
    feats = [tree.tokens.feats[j] for j in firsts]
    return DependencyTree(Tokens(forms, upos=upos, feats=feats), heads, [tree.deprels[j] for j in firsts])


# The tables.


class Coverage:
    """Counts of constituents of two or more words, each span once."""

    def __init__(self) -> None:
        self.sentences = 0
        self.counts: Counter[Kind] = Counter()
        self.by_punctuation = 0

    def add(self, sentence: ParsedSentence) -> set[tuple[int, int]]:
        """Count a sentence; returns the spans of its phrasal nodes."""
        report = phrasal_nodes(sentence)
        self.sentences += 1
        self.counts += report.counts
        del self.counts[Kind.WORD]
        assert sentence.constituency is not None
        for n, kind in enumerate(report.kinds):
            if kind is Kind.CROSSING and report.topmost[n]:
                self.by_punctuation += crosses_punctuation_only(report.dependency, sentence.constituency.spans[n])
        return {node.span for node in report.nodes}

    def row(self, corpus: str, source: str) -> str:
        total = self.counts.total()
        other = self.counts[Kind.PHRASAL] + self.counts[Kind.CROSSING]
        return (
            f"| {corpus} | {source} | {self.sentences:,} | {total:,} | {share(self.counts[Kind.SUBTREE], total)} | "
            f"{share(other, total)} | {share(self.counts[Kind.PHRASAL], other)} |"
        )


def crosses_punctuation_only(tree: DependencyTree, span: tuple[int, int]) -> bool:
    """Whether of each subtree that a constituent crosses only punctuation is outside of it, or only punctuation inside."""
    low, high = span
    marks = [tag == "PUNCT" for tag in tree.tokens.upos]
    for start, end in tree.spans:
        crosses = start < low < end < high or low < start < high < end
        inside = marks[max(start, low) : min(end, high)]
        if crosses and not all(inside) and not all(marks[start:low] + marks[max(start, high) : end]):
            return False
    return True


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


CORPORA: dict[str, tuple[str, Callable[[Path, Counter[str]], Iterator[tuple[str, ParsedSentence]]]]] = {
    "GUM (English)": ("trees/gum-en", gum),
    "Sequoia (French)": ("trees/sequoia-fr", sequoia),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("TREEGLOT_DATA"))
    parser.add_argument(
        "--part", action="append", choices=(*PARTS, "test2"), help="part of each corpus (repeatable; default: all)"
    )
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("where is the data? give --data DIR or set TREEGLOT_DATA")
    notes, coverage, scores = [], [], []
    for corpus, (folder, read) in CORPORA.items():
        seen: Counter[str] = Counter()
        gold, converted, shared_nodes = Coverage(), Coverage(), 0
        ours, flat, ours_shared, flat_shared = Parseval(), Parseval(), Parseval(), Parseval()
        for part, sentence in read(options.data / folder, seen):
            if options.part and part not in options.part:
                continue
            assert sentence.dependency is not None and sentence.constituency is not None
            tree = to_constituency(sentence.dependency)
            wanted = gold.add(sentence)
            shared_nodes += len(wanted & converted.add(sentence.with_constituency(tree)))
            punctuation = [tag == "PUNCT" for tag in sentence.tokens.upos]
            ours.add(tree, sentence.constituency, punctuation)
            heads = flat_conversion(sentence.dependency)
            flat.add(heads, sentence.constituency, punctuation)
            ours_shared.add(tree, sentence.constituency, punctuation, ignore=FRENCH_ONLY)
            flat_shared.add(heads, sentence.constituency, punctuation, ignore=FRENCH_ONLY)
        joined = f", {seen['joined']:,} more after joining words of the dependency tree" if seen["joined"] else ""
        notes.append(
            f"{corpus}: {seen['all']:,} sentences, {seen['same words']:,} with the same words in both trees{joined}."
        )
        percentage = share(shared_nodes, gold.counts[Kind.PHRASAL])
        notes.append(
            f"{corpus}: the conversion has {percentage} of the {gold.counts[Kind.PHRASAL]:,} phrasal nodes of the treebank."
        )
        percentage = share(gold.by_punctuation, gold.counts[Kind.CROSSING])
        notes.append(
            f"{corpus}: {percentage} of the {gold.counts[Kind.CROSSING]:,} others cross a subtree in punctuation only."
        )
        coverage += [gold.row(corpus, "treebank"), converted.row(corpus, "converted")]
        rows = [(corpus, "one constituent per head", flat), (corpus, "projected levels", ours)]
        if "French" in corpus:
            shared = f"{corpus} without {', '.join(sorted(FRENCH_ONLY))}"
            rows += [(shared, "one constituent per head", flat_shared), (shared, "projected levels", ours_shared)]
        for name, conversion, result in rows:
            labelled = str(result.labelled) if "English" in corpus and result is ours else "–"
            scores.append(f"| {name} | {conversion} | {gold.sentences:,} | {result.unlabelled} | {labelled} |")
    print("".join(f"* {note}\n" for note in notes))
    print("| corpus | constituents | sentences | constituents | subtrees | non-syntactic | of these representable |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(coverage), end="\n\n")
    print("| corpus | conversion | sentences | unlabelled P / R / F | labelled P / R / F |")
    print("| --- | --- | ---: | ---: | ---: |")
    print("\n".join(scores))


if __name__ == "__main__":
    main()
