"""A sub-tree aligner for pairs of languages that have no linked treebank: trained on those of other languages, in universal labels
(`treeglot.trees.universal`), with words that are learnt anew from whatever is aligned.

The treebanks may be of any languages. What a feature says about words comes from the text of the candidate's own pair of
languages, so that "linked words under both phrases" means the same everywhere; what the kernels compare are universal labels.
The model that comes out knows no words: `SubtreeAligner.adapted` has to give it some, as ``treeglot trees align`` does.

>>> from treeglot.trees.sentence import AlignedPair, ParsedSentence
>>> from treeglot.trees.penn import parse_penn
>>> def pair(source, target):
...     return AlignedPair(*(ParsedSentence.of(constituency=parse_penn(text)) for text in (source, target)))
>>> german = [pair("(S (NN Hund) (VVFIN bellt))", "(S (NN dog) (VBZ barks))")] * 3
>>> french = [pair("(SENT (N chien) (V aboie))", "(S (NN dog) (VBZ barks))")] * 3
>>> [len(bank) for bank in language_groups([german[:1], french, german[1:]])]
[3, 3]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from treeglot.alignment.subtrees.candidates import CandidateTable, merge_tables
from treeglot.alignment.subtrees.model import SubtreeAligner
from treeglot.alignment.subtrees.training import (
    Report,
    Settings,
    annotated_pairs,
    check_packages,
    fit_tables,
    joined_units,
    learn_words,
    tables,
)
from treeglot.alignment.subtrees.words import WordKnowledge
from treeglot.errors import TreeglotError
from treeglot.trees.sentence import AlignedPair
from treeglot.trees.universal import universal_pair

UNIVERSAL_TERMS = ("plain", "dBTK-Root", "iBTK-RdSST/tags")
SAME_LANGUAGES = 0.5
"""Two files are of the same languages if each side shares this much of its words, by their places in the text."""


def language_groups(files: Sequence[Sequence[AlignedPair]]) -> list[list[AlignedPair]]:
    """The pairs of all files, those of the same two languages together, by the words that they share."""
    groups: list[tuple[tuple[Counter[str], Counter[str]], list[AlignedPair]]] = []
    for pairs in files:
        words: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for pair in pairs:
            for counts, side in zip(words, (pair.source, pair.target), strict=True):
                counts.update(form.lower() for form in side.tokens.forms)
        for known, members in groups:
            if all(_shared(mine, theirs) >= SAME_LANGUAGES for mine, theirs in zip(words, known, strict=True)):
                for theirs, mine in zip(known, words, strict=True):
                    theirs.update(mine)
                members.extend(pairs)
                break
        else:
            groups.append((words, list(pairs)))
    return [members for _, members in groups]


def _shared(mine: Counter[str], theirs: Counter[str]) -> float:
    return sum(count for word, count in mine.items() if word in theirs) / max(sum(mine.values()), 1)


def train_universal(
    banks: Sequence[Sequence[AlignedPair]], *, report: Report | None = None, **settings: object
) -> SubtreeAligner:
    """Train on treebanks of several pairs of languages, and tune on the last sixth of each.

    ``settings`` are the fields of `Settings`; see `treeglot.alignment.subtrees.training.train_aligner`.
    """
    chosen: dict[str, object] = {"terms": UNIVERSAL_TERMS, **settings, "universal": True}
    options = Settings(**chosen)  # type: ignore[arg-type]
    options.check()
    if options.given_links or options.learn_links:
        raise TreeglotError(
            "word links of several pairs of languages", remedy="leave out --given-word-links and --learn-word-links"
        )
    check_packages()
    say = report or (lambda text: None)
    parts: tuple[list[CandidateTable], list[CandidateTable]] = ([], [])
    for number, bank in enumerate(banks, start=1):
        units = [universal_pair(pair) for pair in joined_units(bank)]
        say(f"languages {number} of {len(banks)}: {len(units):,} sentence pairs")
        words = learn_words(units, threads=options.threads)
        pairs = annotated_pairs(units, "training", say)
        size = len(pairs) // 6
        if size == 0:
            raise TreeglotError(f"{len(pairs)} pairs are too few to tune on a part of them", remedy="give more of them")
        for part, some in zip(parts, (pairs[:-size], pairs[-size:]), strict=True):
            part.append(tables(some, words, options, f"features of languages {number} of {len(banks)}"))
    nothing = WordKnowledge.train(["_"], ["_"], threads=1)
    model = fit_tables(merge_tables(parts[0]), merge_tables(parts[1]), nothing, options, say)
    return replace(model, universal=True)
