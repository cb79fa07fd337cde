"""Tokens: the line of words that a dependency tree and a constituency tree of one sentence share.

Stored as columns (one tuple of strings per annotation), which is compact and quick to hand over to the core; `Token` is
a view of one position.

>>> tokens = Tokens(["Intel", "launches"], upos=["PROPN", "VERB"])
>>> tokens[1].form, tokens[1].upos, tokens[1].lemma
('launches', 'VERB', '_')
>>> len(tokens), tokens.tags
(2, ('PROPN', 'VERB'))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from treeglot.errors import TreeError

UNSET = "_"
"""How an annotation that is not there is written, as in CoNLL-U."""


class Token(NamedTuple):
    """One word and its annotation; ``_`` means not annotated."""

    form: str
    lemma: str = UNSET
    upos: str = UNSET
    xpos: str = UNSET
    feats: str = UNSET
    deps: str = UNSET
    misc: str = UNSET


COLUMNS = Token._fields


class Tokens(Sequence[Token]):
    """An immutable sequence of `Token`, stored by columns: ``forms``, ``lemmas``, ``upos``, ``xpos``, ``feats``,
    ``deps``, ``misc``. A column that is left out is unset (``_``) everywhere."""

    __slots__ = ("deps", "feats", "forms", "lemmas", "misc", "upos", "xpos")

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    deps: tuple[str, ...]
    misc: tuple[str, ...]

    def __init__(
        self,
        forms: Iterable[str],
        lemmas: Iterable[str] | None = None,
        upos: Iterable[str] | None = None,
        xpos: Iterable[str] | None = None,
        feats: Iterable[str] | None = None,
        deps: Iterable[str] | None = None,
        misc: Iterable[str] | None = None,
    ) -> None:
        words = tuple(forms)
        unset: tuple[str, ...] | None = None
        put = object.__setattr__
        put(self, "forms", words)
        given = (("lemmas", lemmas), ("upos", upos), ("xpos", xpos), ("feats", feats), ("deps", deps), ("misc", misc))
        for name, values in given:
            if values is None:
                unset = unset if unset is not None else (UNSET,) * len(words)
                put(self, name, unset)
                continue
            column = tuple(values)
            if len(column) != len(words):
                raise TreeError(f"{len(words)} forms but {len(column)} {name}", remedy="give one value for each word")
            put(self, name, column)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Tokens are immutable; use replace() for a changed copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("Tokens are immutable")

    def __reduce__(self) -> tuple[type[Tokens], tuple[tuple[str, ...], ...]]:
        return (Tokens, self.columns())

    @classmethod
    def of(cls, tokens: Iterable[Token]) -> Tokens:
        """From single tokens."""
        columns = list(zip(*tokens, strict=True))
        return cls(*columns) if columns else cls(())

    def columns(self) -> tuple[tuple[str, ...], ...]:
        """All columns in the order of `Token`'s fields."""
        return (self.forms, self.lemmas, self.upos, self.xpos, self.feats, self.deps, self.misc)

    def replace(self, **columns: Iterable[str] | None) -> Tokens:
        """A copy with the named columns replaced: ``tokens.replace(upos=[...])``."""
        names = ("forms", "lemmas", "upos", "xpos", "feats", "deps", "misc")
        unknown = set(columns) - set(names)
        if unknown:
            raise TreeError(f"no column {sorted(unknown)[0]!r}", remedy=f"columns are {', '.join(names)}")
        merged: dict[str, Any] = dict(zip(names, self.columns(), strict=True)) | columns
        return Tokens(**merged)

    @property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tag that the models use for each word: xpos, or upos where xpos is unset."""
        return tuple(xpos if xpos != UNSET else upos for xpos, upos in zip(self.xpos, self.upos, strict=True))

    def __len__(self) -> int:
        return len(self.forms)

    @overload
    def __getitem__(self, index: int) -> Token: ...
    @overload
    def __getitem__(self, index: slice) -> Tokens: ...
    def __getitem__(self, index: int | slice) -> Token | Tokens:
        if isinstance(index, slice):
            return Tokens(*(column[index] for column in self.columns()))
        return Token(*(column[index] for column in self.columns()))

    def __iter__(self) -> Iterator[Token]:
        return map(Token, *self.columns())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokens):
            return NotImplemented
        return self is other or self.columns() == other.columns()

    def __hash__(self) -> int:
        return hash(self.forms)

    def __repr__(self) -> str:
        return f"Tokens({' '.join(self.forms)!r})"


def shorten(forms: Sequence[str], limit: int = 60) -> str:
    """The words in quotes, cut after ``limit`` characters: for the ``repr`` of trees.

    >>> shorten(["dogs", "bark"]), shorten(["very"] * 100, 12)
    ("'dogs bark'", "'very very ve…'")
    """
    line = " ".join(forms[:limit])
    return repr(line if len(line) <= limit and len(forms) <= limit else line[:limit] + "…")


def check_same_forms(first: Tokens, second: Tokens, *, sentence: str = "") -> None:
    """Raise a `TreeError` that names the sentence and the first differing word unless the forms are equal."""
    if first.forms == second.forms:
        return
    where = f"sentence {sentence}: " if sentence else ""
    for j, (a, b) in enumerate(zip(first.forms, second.forms, strict=False)):
        if a != b:
            what = f"word {j + 1} is {a!r} in the first tree and {b!r} in the second"
            break
    else:
        j = min(len(first), len(second))
        longer = first if len(first) > len(second) else second
        what = f"{len(first)} words and {len(second)} words; the first extra word is {longer.forms[j]!r}"
    raise TreeError(f"{where}the trees have different tokens: {what}", remedy="parse both from one tokenisation")
