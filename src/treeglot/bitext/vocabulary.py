"""A vocabulary: tokens and their ids, the same for the same corpus on every run and machine.

Ids count from 0: first the special tokens, then all others by falling frequency and, among equals, in code-point order
(or in the order in which they were first seen). The file is text with one token a line, a header and a checksum.

>>> vocabulary = Vocabulary.build([["the", "cat"], ["the", "dog"]], specials=("<unk>",))
>>> list(vocabulary)
['<unk>', 'the', 'cat', 'dog']
>>> vocabulary.ids(["the", "bird"]), vocabulary.token(1), vocabulary.count("the")
([1, 0], 'the', 2)
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from treeglot.errors import ConfigError, InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path

SPECIALS = ("<unk>", "<s>", "</s>")

_HEADER = re.compile(r"# treeglot vocabulary 1: ([0-9]{1,18}) tokens, ([0-9]{1,18}) special, unknown (-|[0-9]{1,18})")
_CHECKSUM = re.compile(r"# blake2b ([0-9a-f]{32})")
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_CHARACTERS = {code: character for character, code in _ESCAPES.items()}
_TABLE = str.maketrans(_ESCAPES)


class Vocabulary:
    """An immutable, numbered set of tokens with their counts."""

    __slots__ = ("_counts", "_ids", "_specials", "_tokens", "_unknown")

    def __init__(
        self,
        tokens: Sequence[str],
        counts: Sequence[int] | None = None,
        *,
        specials: int = 0,
        unknown: str | None = None,
    ) -> None:
        """``tokens`` in the order of their ids, of which the first ``specials`` are special; ``unknown`` is the token
        whose id all others get."""
        self._tokens = tuple(tokens)
        self._counts = (0,) * len(self._tokens) if counts is None else tuple(counts)
        self._ids = {token: number for number, token in enumerate(self._tokens)}
        self._specials = specials
        if len(self._ids) != len(self._tokens):
            twice = next(token for token, count in Counter(self._tokens).items() if count > 1)
            raise TreeglotError(f"the token {twice!r} occurs twice in the vocabulary", remedy="list each token once")
        if len(self._counts) != len(self._tokens) or not 0 <= specials <= len(self._tokens):
            raise TreeglotError("counts or specials do not fit the tokens", remedy="give one count a token")
        if unknown is not None and unknown not in self._ids:
            raise TreeglotError(f"the unknown token {unknown!r} is not in the vocabulary", remedy="add it to specials")
        self._unknown = None if unknown is None else self._ids[unknown]

    @classmethod
    def build(
        cls,
        sentences: Iterable[Iterable[str]],
        *,
        order: Literal["frequency", "first-seen"] = "frequency",
        specials: Sequence[str] = SPECIALS,
        unknown: str | None = "<unk>",
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Count the tokens of ``sentences``; see `from_counts`."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence)
        return cls.from_counts(
            counts, order=order, specials=specials, unknown=unknown, min_count=min_count, max_size=max_size
        )

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        *,
        order: Literal["frequency", "first-seen"] = "frequency",
        specials: Sequence[str] = SPECIALS,
        unknown: str | None = "<unk>",
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Vocabulary:
        """Number the tokens of ``counts`` (whose own order is that of ``first-seen``).

        Tokens rarer than ``min_count`` are left out; ``max_size`` (specials included) keeps the most frequent ones.
        ``unknown`` is used if it is among ``specials``.
        """
        if order not in ("frequency", "first-seen"):
            raise ConfigError(f"unknown order {order!r}", remedy="choose frequency or first-seen")
        if max_size is not None and max_size < len(specials):
            raise ConfigError(f"max_size {max_size} has no room for the specials", remedy="make it larger")
        special = set(specials)
        chosen = [token for token, count in counts.items() if count >= min_count and token not in special]
        by_frequency = sorted(chosen, key=lambda token: (-counts[token], token))
        if max_size is not None:
            by_frequency = by_frequency[: max_size - len(specials)]
        if order == "frequency":
            chosen = by_frequency
        elif len(by_frequency) < len(chosen):
            frequent = set(by_frequency)
            chosen = [token for token in chosen if token in frequent]
        tokens = [*specials, *chosen]
        return cls(
            tokens,
            [counts.get(token, 0) for token in tokens],
            specials=len(specials),
            unknown=unknown if unknown in special else None,
        )

    def id(self, token: str) -> int:
        """The id of ``token``, or of the unknown token; without one, a new token is an error."""
        found = self._ids.get(token, self._unknown)
        if found is None:
            raise TreeglotError(
                f"the token {token!r} is not in the vocabulary", remedy="build the vocabulary with an unknown token"
            )
        return found

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The ids of a sentence."""
        return [self.id(token) for token in tokens]

    def token(self, number: int) -> str:
        """The token whose id is ``number``."""
        if not 0 <= number < len(self._tokens):
            raise TreeglotError(
                f"no token has the id {number}",
                remedy=f"ids go from 0 to {len(self._tokens) - 1}; is it the right file?",
            )
        return self._tokens[number]

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        """The tokens of a sentence of ids."""
        return [self.token(number) for number in numbers]

    def count(self, token: str) -> int:
        """How often the token was seen; 0 if it is not in the vocabulary."""
        number = self._ids.get(token)
        return 0 if number is None else self._counts[number]

    @property
    def specials(self) -> tuple[str, ...]:
        """The special tokens, which have the first ids."""
        return self._tokens[: self._specials]

    @property
    def unknown_id(self) -> int | None:
        """The id of all tokens that are not in the vocabulary, if it has one."""
        return self._unknown

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self._tokens, self._counts, self._specials, self._unknown

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self):,} tokens, {self._specials} special>"

    def save(self, path: type_path) -> None:
        """Write ``token TAB count`` lines in the order of the ids."""
        unknown = "-" if self._unknown is None else self._unknown
        checksum = hashlib.blake2b(digest_size=16)
        with atomic_write(path) as out:
            header = f"# treeglot vocabulary 1: {len(self)} tokens, {self._specials} special, unknown {unknown}"
            for line in self._lines(header):
                checksum.update(line.encode())
                out.write(line)
            out.write(f"# blake2b {checksum.hexdigest()}\n")

    def _lines(self, header: str) -> Iterator[str]:
        yield header + "\n"
        for token, count in zip(self._tokens, self._counts, strict=True):
            yield f"{token.translate(_TABLE)}\t{count}\n"

    @classmethod
    def load(cls, path: type_path) -> Vocabulary:
        """Read what `save` wrote; a file that was cut or changed is an `InputError`."""
        lines = read_lines(path)
        header = _HEADER.fullmatch(next(lines, (1, ""))[1])
        if header is None:
            raise _damaged("not a treeglot vocabulary: the header is missing", path, 1)
        size = int(header[1])
        checksum = hashlib.blake2b((header[0] + "\n").encode(), digest_size=16)
        tokens: dict[str, int] = {}
        counts: list[int] = []
        line = 1
        for line, text in lines:
            if len(tokens) == size:
                found = _CHECKSUM.fullmatch(text)
                if found is None or found[1] != checksum.hexdigest():
                    raise _damaged("the checksum does not match: the file was changed or damaged", path, line)
                break
            token, tab, count = text.partition("\t")
            if not tab or not count.isascii() or not count.isdigit() or len(count) > 18:
                raise _damaged(f"not 'token TAB count': {text[:40]!r}", path, line)
            token = re.sub(r"\\.", lambda code: _CHARACTERS.get(code[0], code[0]), token)
            if token in tokens:
                raise _damaged(f"the token {token!r} was already in line {tokens[token]}", path, line)
            tokens[token] = line
            counts.append(int(count))
            checksum.update((text + "\n").encode())
        else:
            raise _damaged(f"the file ends after {len(tokens):,} of {size:,} tokens", path, line)
        if (extra := next(lines, None)) is not None:
            raise _damaged("text after the checksum", path, extra[0])
        specials, unknown = int(header[2]), header[3]
        if specials > size or (unknown != "-" and int(unknown) >= size):
            raise _damaged("the header does not fit the tokens", path, 1)
        names = list(tokens)
        return cls(names, counts, specials=specials, unknown=None if unknown == "-" else names[int(unknown)])


def _damaged(message: str, path: type_path, line: int) -> InputError:
    return InputError(message, path=path, line=line, remedy="copy the file again, or build the vocabulary anew")
