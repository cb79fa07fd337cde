"""Cleaning: normalise each pair, drop what would harm training, and report what was dropped and why.

Every pair gets the first reason that applies, in the order of `REASONS`, so that the counts and the pairs kept add up to
the total. Length is counted in words; in text of Chinese or Japanese script each character counts as a word, so that the
limits mean the same whether or not it is segmented.

>>> pairs = [TextPair("a  house", "une maison"), TextPair("a house", "une maison"), TextPair("", "rien")]
>>> kept, report = clean(pairs)
>>> list(kept)
[TextPair(source='a house', target='une maison')]
>>> report.kept, report.total, {reason: n for reason, n in report.dropped.items() if n}
(1, 3, {'empty': 1, 'duplicate': 1})
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from treeglot.bitext.pair import TextPair, digest
from treeglot.bitext.scripts import CJK, is_unsegmented
from treeglot.errors import ConfigError, InputError
from treeglot.files import atomic_write, type_path
from treeglot.words import BLANKS, is_blank, split_words

REASONS: dict[str, str] = {
    "empty": "one side is empty",
    "control": "control, non-printing or damaged characters",
    "short": "fewer words than the minimum",
    "long": "more words than the maximum",
    "ratio": "lengths too different",
    "word": "a word that is too long",
    "identical": "source and target are the same",
    "digits": "different digits",
    "duplicate": "seen before",
}
"""Why a pair can be dropped, in the order in which the reasons are tried."""

ASKED_FOR = ("identical", "digits", "duplicate")
"""Reasons that an option names: such pairs were meant to go, however many they are."""

MAX_DROPPED = 0.2
"""The share of pairs that cleaning may drop for other reasons before it stops: more is a mistake in the data, in the languages
or in the limits, and what is left would teach the wrong things."""

# Controls, soft hyphen, zero-width and direction marks, line/paragraph separators, BOM, noncharacters.
# The zero-width (non-)joiners U+200C and U+200D are left alone: Persian and Indic scripts are written with them.
_NON_PRINTING = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff]"
)
_HAS_CJK = re.compile(f"[{CJK}]")
_WORD = re.compile(f"[{CJK}]|[^{BLANKS}{CJK}]+")
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True)
class CleaningOptions:
    """What to normalise and what to drop; the limits on length are those commonly used to train word aligners."""

    min_length: int = 1
    max_length: int = 80
    max_ratio: float = 9.0
    """Words of the longer side per word of the shorter; 0 for no limit."""
    max_word: int = 100
    """Characters of one word; 0 for no limit."""
    unit: Literal["word", "token", "character"] = "word"
    """What length is counted in; "token" is what blanks separate, for text that is segmented already."""
    duplicates: Literal["pair", "source", "keep"] = "pair"
    """Drop a pair seen before, or any pair whose source was seen before, or none."""
    control: Literal["drop", "strip", "keep"] = "strip"
    """Drop pairs with non-printing characters, remove the characters, or keep both. U+FFFD, the trace of text that was
    decoded wrongly, cannot be mended: such pairs are dropped by "drop" and by "strip"."""
    drop_identical: bool = False
    match_digits: bool = False
    """Drop pairs whose sides do not have the same digits, whatever their order, script and separators."""
    normalization: Literal["NFC", "NFKC", "none"] = "NFC"
    whitespace: bool = True
    """Make every run of white space one space and strip both ends; of text in tokens, only what separates them."""
    examples: int = 3
    """Dropped pairs of each reason to keep for the report."""

    def __post_init__(self) -> None:
        if self.min_length < 0 or self.max_length < max(1, self.min_length) or not self._has_good_ratio:
            raise ConfigError(
                f"impossible limits: length {self.min_length} to {self.max_length}, ratio {self.max_ratio}",
                remedy="0 <= min_length <= max_length, and max_ratio at least 1 (or 0 for none)",
            )
        for name in ("max_word", "examples"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}", remedy="give 0 or more")
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name} is {getattr(self, name)!r}", remedy=f"choose from {', '.join(allowed)}")

    @property
    def _has_good_ratio(self) -> bool:
        return self.max_ratio == 0 or 1 <= self.max_ratio < math.inf


_CHOICES = {
    "unit": ("word", "token", "character"),
    "duplicates": ("pair", "source", "keep"),
    "control": ("drop", "strip", "keep"),
    "normalization": ("NFC", "NFKC", "none"),
}


@dataclass
class CleaningReport:
    """What `clean` did; complete once its iterator is used up. ``total`` is ``kept`` plus all of ``dropped``."""

    options: CleaningOptions
    total: int = 0
    kept: int = 0
    changed: int = 0
    """Kept pairs whose text was changed by normalisation."""
    dropped: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    examples: dict[str, list[TextPair]] = field(default_factory=dict)
    """The first dropped pairs of each reason as they were read, with their line (or number, if the line is unknown)."""

    @property
    def dropped_share(self) -> float:
        """The share of pairs that were dropped, but for those that an option asked to drop."""
        unasked = sum(count for reason, count in self.dropped.items() if reason not in ASKED_FOR)
        return unasked / self.total if self.total else 0.0

    @property
    def main_reason(self) -> str | None:
        """The most frequent reason that no option asked for."""
        counts = {reason: n for reason, n in self.dropped.items() if n and reason not in ASKED_FOR}
        return max(counts, key=counts.__getitem__, default=None)

    def summary(self) -> str:
        """One line for the terminal.

        >>> kept, report = clean([TextPair("a", "b"), TextPair("", "c"), TextPair("d", "e f")])
        >>> _ = list(kept)
        >>> report.summary()
        '2 of 3 pairs kept; dropped 33.3 %: one side is empty'
        """
        reasons = [(REASONS[reason], n) for reason, n in self.dropped.items() if n]
        text = f"{self.kept:,} of {self.total:,} pairs kept"
        if not reasons:
            return text
        each = [f"{name} {100 * n / self.total:.1f} %" if len(reasons) > 1 else name for name, n in reasons]
        return f"{text}; dropped {100 * (self.total - self.kept) / self.total:.1f} %: {', '.join(each)}"

    def check(self, limit: float, option: Callable[[str], str], unsegmented: Callable[[str], str]) -> None:
        """Refuse a result without more than the share ``limit`` of the pairs.

        ``option`` writes the name of an option as the user knows it, ``unsegmented("source")`` says what to do about a side
        without blanks between words.
        """
        reason = self.main_reason
        if reason is None or self.dropped_share <= limit:
            return
        shown = self.examples.get(reason, [])
        remedy = _REMEDIES[reason].format(**{name: option(name) for name in ("min_length", "max_length", "max_ratio")})
        if reason in ("ratio", "word", "long"):
            sides = {"source": [pair.source for pair in shown], "target": [pair.target for pair in shown]}
            bare = [side for side, texts in sides.items() if is_unsegmented(texts)]
            if bare:
                remedy = f"the {bare[0]} has no blanks between words: {unsegmented(bare[0])}"
        example = f", such as line {shown[0].line}: {_pair_text(shown[0])}" if shown else ""
        raise InputError(
            f"{100 * self.dropped_share:.1f} % of {self.total:,} pairs would be dropped, more than {100 * limit:g} %; "
            f"most of them ({self.dropped[reason]:,}): {REASONS[reason]}{example}",
            remedy=f"{remedy}; if so many shall go, set {option('max_dropped')} to a larger share, at most 1",
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "total": self.total,
            "kept": self.kept,
            "changed": self.changed,
            "dropped": dict(self.dropped),
            "examples": {
                reason: [{"line": pair.line, "source": pair.source, "target": pair.target} for pair in pairs]
                for reason, pairs in self._sorted_examples()
            },
            "options": asdict(self.options),
        }

    def as_text(self) -> str:
        """A table with examples, for people."""
        rows = [("pairs read", self.total), ("kept", self.kept), ("  changed by normalisation", self.changed)]
        rows += [(f"dropped: {REASONS[reason]}", count) for reason, count in self.dropped.items() if count]
        wide = max(len(name) for name, _ in rows)
        lines = [
            f"{name:<{wide}}  {count:>12,}  {100 * count / self.total if self.total else 0:6.2f} %"
            for name, count in rows
        ]
        for reason, pairs in self._sorted_examples():
            lines += ["", f"{REASONS[reason]}, for example:"]
            lines += [f"  line {pair.line}: {_pair_text(pair)}" for pair in pairs]
        return "\n".join(lines) + "\n"

    def _sorted_examples(self) -> list[tuple[str, list[TextPair]]]:
        return [(reason, self.examples[reason]) for reason in REASONS if self.examples.get(reason)]

    def save(self, path: type_path) -> None:
        """Write the report, as JSON if the name ends in ``.json``, otherwise as text."""
        with atomic_write(path) as out:
            if str(path).endswith(".json"):
                out.write(json.dumps(self.as_dict(), ensure_ascii=False, indent=2) + "\n")
            else:
                out.write(self.as_text())


_REMEDIES = {
    "empty": "fill in or remove the lines without a translation",
    "control": "the text was damaged when it was decoded or copied: get it again as UTF-8",
    "short": "set {min_length} to a smaller number",
    "long": "put one sentence on a line, or set {max_length} to a larger number",
    "ratio": "check that each line translates the line of the same number, and the languages; if so, raise {max_ratio}",
    "word": "look at these lines: text without blanks, or no text at all",
}


def _pair_text(pair: TextPair) -> str:
    return f"{_shorten(pair.source)} ||| {_shorten(pair.target)}"


def _shorten(text: str, width: int = 60) -> str:
    shown = text if len(text) <= width else text[: width - 1] + "…"
    return repr(shown)[1:-1] if not shown.isprintable() else shown


def clean(
    pairs: Iterable[TextPair], options: CleaningOptions | None = None
) -> tuple[Iterator[TextPair], CleaningReport]:
    """The pairs that remain, as a stream, and the report that fills while it is read.

    Memory is constant but for the duplicates: 16 bytes of digest a kept pair (about 120 with Python's own share).
    """
    report = CleaningReport(options or CleaningOptions())
    return _clean(pairs, report), report


def _clean(pairs: Iterable[TextPair], report: CleaningReport) -> Iterator[TextPair]:
    options = report.options
    normalise = _make_normaliser(options)
    find_reason = _make_judge(options)
    for number, pair in enumerate(pairs, 1):
        report.total = number
        source, target = normalise(pair.source), normalise(pair.target)
        reason = find_reason(source, target)
        if reason is None:
            report.kept += 1
            if source != pair.source or target != pair.target:
                report.changed += 1
                pair = pair.with_texts(source, target)
            yield pair
            continue
        report.dropped[reason] += 1
        shown = report.examples.setdefault(reason, [])
        if len(shown) < options.examples:
            shown.append(TextPair(pair.source, pair.target, pair.id, pair.line or number))


def without_controls(text: str) -> str:
    """``text`` without control and non-printing characters, as ``control="strip"`` leaves it.

    >>> without_controls("soft\\xadhyphen")
    'softhyphen'
    """
    return _NON_PRINTING.sub("", text)


def _make_normaliser(options: CleaningOptions) -> Callable[[str], str]:
    form = options.normalization
    strip_controls, whitespace = options.control == "strip", options.whitespace
    cut: Callable[[str], list[str]] = split_words if options.unit == "token" else str.split

    def normalise(text: str) -> str:
        if form != "none" and not text.isascii() and not unicodedata.is_normalized(form, text):
            text = unicodedata.normalize(form, text)
        # Printable text has no control characters and no white space but U+0020: most segments end here.
        if text.isprintable() and "  " not in text and not text.startswith(" ") and not text.endswith(" "):
            return text
        if strip_controls:
            text = without_controls(text)
        return " ".join(cut(text)) if whitespace else text

    return normalise


def counted_words(text: str) -> list[str]:
    """Words between blanks, each Chinese or Japanese character one of them: what ``unit="word"`` counts.

    >>> counted_words("a small house"), counted_words("一个 small 房子")
    (['a', 'small', 'house'], ['一', '个', 'small', '房', '子'])
    """
    return split_words(text) if text.isascii() or _HAS_CJK.search(text) is None else _WORD.findall(text)


def _make_judge(options: CleaningOptions) -> Callable[[str, str], str | None]:
    seen: set[bytes] = set()
    characters = options.unit == "character"
    cut: Callable[[str], list[str]] = split_words if options.unit == "token" else counted_words
    low, high, ratio, max_word = options.min_length, options.max_length, options.max_ratio, options.max_word
    drop_control, drop_damaged = options.control == "drop", options.control != "keep"
    duplicates = options.duplicates

    def find_reason(source: str, target: str) -> str | None:
        if is_blank(source) or is_blank(target):
            return "empty"
        if drop_control and (_NON_PRINTING.search(source) or _NON_PRINTING.search(target)):
            return "control"
        if drop_damaged and ("\ufffd" in source or "\ufffd" in target):
            return "control"
        source_words, target_words = cut(source), cut(target)
        m, n = (len(source), len(target)) if characters else (len(source_words), len(target_words))
        if m < low or n < low:
            return "short"
        if m > high or n > high:
            return "long"
        if ratio and (m > ratio * n or n > ratio * m):
            return "ratio"
        # A side shorter than the limit cannot hold a longer word: the usual case costs nothing.
        if max_word and (
            (len(source) > max_word and max(map(len, source_words)) > max_word)
            or (len(target) > max_word and max(map(len, target_words)) > max_word)
        ):
            return "word"
        if options.drop_identical and source == target:
            return "identical"
        if options.match_digits and _digits(source) != _digits(target):
            return "digits"
        if duplicates != "keep":
            # With normalization="none" twins in other forms of Unicode are still twins.
            key = digest(_nfc(source), _nfc(target)) if duplicates == "pair" else digest(_nfc(source))
            if key in seen:
                return "duplicate"
            seen.add(key)
        return None

    return find_reason


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _digits(text: str) -> Counter[int]:
    return Counter(unicodedata.digit(character) for character in _DIGITS.findall(text))
