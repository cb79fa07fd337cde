"""Casing: lower-casing, and truecasing as in Moses, which keeps names but not sentence-initial capitals apart.

The truecaser counts how each word is cased where its case means something, that is not at the start of a sentence. Then
the first word of a sentence gets its most frequent casing; with ``everywhere`` a word elsewhere whose casing was never
seen does too (headlines), as in Moses' ``truecase.perl``. The model file is the one of Moses.

>>> truecaser = Truecaser.train([["We", "saw", "the", "Seine"], ["It", "is", "the", "end"], ["there", "we", "go"]])
>>> truecaser.truecase(["The", "Seine", "."])
['the', 'Seine', '.']
>>> detruecase(["the", "end", ".", '"', "why", "?"])
['The', 'end', '.', '"', 'Why', '?']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.words import BLANKS, split_words

SENTENCE_END = frozenset((".", ":", "?", "!"))
OPENING = frozenset(("(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"))
"""Tokens after which a sentence has still not begun."""

_BEST = re.compile(r"\(([0-9]{1,18})/([0-9]{1,18})\)")
_OTHER = re.compile(r"\(([0-9]{1,18})\)")


def lowercase(text: str) -> str:
    """``text`` in lower case, by the rules of Unicode."""
    return text.lower()


class Truecaser:
    """The casings of a corpus with their counts."""

    def __init__(self, casings: Mapping[str, int]) -> None:
        """``casings``: how often each form was seen where its case means something."""
        groups: dict[str, list[tuple[int, str]]] = {}
        for form, count in casings.items():
            groups.setdefault(form.lower(), []).append((-count, form))
        self._groups = {key: sorted(forms) for key, forms in sorted(groups.items())}
        self._best = {key: forms[0][1] for key, forms in self._groups.items()}
        self._known = frozenset(casings)

    @classmethod
    def train(cls, sentences: Iterable[Sequence[str]], *, count_lowercase_initial: bool = False) -> Truecaser:
        """Count the casings of tokenised sentences.

        With ``count_lowercase_initial`` a sentence-initial word in lower case counts too: nobody made it small.
        """
        counts: Counter[str] = Counter()
        for tokens in sentences:
            initial = True
            for token in tokens:
                if token in OPENING:
                    continue
                if not initial:
                    if token in SENTENCE_END:
                        initial = True
                        continue
                    if _is_cased(token):
                        counts[token] += 1
                else:
                    if count_lowercase_initial and token[:1].islower():
                        counts[token] += 1
                    initial = False
        return cls(counts)

    def truecase(self, tokens: Sequence[str], *, everywhere: bool = False) -> list[str]:
        """The tokens with sentence-initial words (and, with ``everywhere``, unseen casings) in their usual case."""
        result = []
        initial = True
        best = self._best
        for token in tokens:
            if initial or (everywhere and token not in self._known):
                token = best.get(token.lower(), token)
            result.append(token)
            if token in SENTENCE_END:
                initial = True
            elif token not in OPENING:
                initial = False
        return result

    def counts(self, word: str) -> dict[str, int]:
        """The casings seen of a word, most frequent first."""
        return {form: -count for count, form in self._groups.get(word.lower(), [])}

    def __len__(self) -> int:
        return len(self._groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Truecaser) and self._groups == other._groups

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_empty(self) -> bool:
        """Whether no word's case is known, as after learning from a language without case."""
        return not self._groups

    def save(self, path: type_path) -> None:
        """Write the model in Moses' format, words in code-point order: ``the (120/150) The (30)``.

        A model without words is an error: `load` would take it for a damaged file."""
        if not self._groups:
            remedy = "give tokenised text with words in the middle of sentences"
            raise TreeglotError("no word's case was learnt", path=path, remedy=remedy)
        with atomic_write(path) as out:
            for forms in self._groups.values():
                total = -sum(count for count, _ in forms)
                first, *rest = forms
                cells = [f"{first[1]} ({-first[0]}/{total})", *(f"{form} ({-count})" for count, form in rest)]
                out.write(" ".join(cells) + "\n")

    @classmethod
    def load(cls, path: type_path) -> Truecaser:
        """Read a model that `save` or Moses' ``train-truecaser.perl`` wrote."""
        casings: dict[str, int] = {}
        keys: dict[str, int] = {}
        for line, text in read_lines(path):
            cells = split_words(text)
            counts = [(_BEST if place == 0 else _OTHER).fullmatch(cell) for place, cell in enumerate(cells[1::2])]
            if not cells or len(cells) % 2 or not all(counts):
                raise _damaged("not a line of a truecaser model", path, line)
            values = [int(match[1]) for match in counts if match]
            if counts[0] is not None and sum(values) != int(counts[0][2]):
                raise _damaged(f"the counts do not add up to {counts[0][2]}", path, line)
            forms = cells[::2]
            key = forms[0].lower()
            if len({*forms}) != len(forms) or any(form.lower() != key for form in forms):
                raise _damaged("the forms are not casings of one word", path, line)
            if keys.setdefault(key, line) != line:
                raise _damaged(f"the word {key!r} was already in line {keys[key]}", path, line)
            casings.update(zip(forms, values, strict=True))
        if not casings:
            raise _damaged("the truecaser model is empty", path, 1)
        return cls(casings)


def _damaged(message: str, path: type_path, line: int) -> InputError:
    return InputError(message, path=path, line=line, remedy="train the truecaser again")


def _is_cased(token: str) -> bool:
    # Something to case, and something that a line of the model can hold.
    return (token.lower() != token or token.upper() != token) and not any(blank in token for blank in BLANKS)


def detruecase(tokens: Sequence[str]) -> list[str]:
    """Give sentence-initial words their capital back, as in Moses' ``detruecase.perl``."""
    result = []
    initial = True
    for token in tokens:
        result.append(token[:1].upper() + token[1:] if initial else token)
        if token in SENTENCE_END:
            initial = True
        elif token not in OPENING:
            initial = False
    return result


def apply_casing(tokens: Sequence[str], casing: str, truecaser: Truecaser | None = None) -> list[str]:
    """One of ``"keep"``, ``"lower"`` and ``"true"``, as a configuration names it."""
    if casing == "keep":
        return list(tokens)
    if casing == "lower":
        return [lowercase(token) for token in tokens]
    if casing == "true" and truecaser is not None:
        return truecaser.truecase(tokens)
    raise TreeglotError(
        f"impossible casing {casing!r}", remedy="choose keep, lower or true; true needs a trained truecaser"
    )
