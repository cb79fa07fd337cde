"""Damaged phrase tables and weight files."""

from __future__ import annotations

from bad_inputs import BadInput
from treeglot.search import read_moses_phrases, read_moses_weights, read_weights

_GOOD = b"a ||| x ||| 1 1 1 1 ||| 0-0\n"


def _table(name: str, line: bytes, says: str) -> BadInput:
    return BadInput(f"search-{name}", {"table": _GOOD + line}, lambda f: read_moses_phrases(f / "table"), 2, says)


def _weights(name: str, text: bytes, line: int, says: str) -> BadInput:
    return BadInput(f"search-{name}", {"weights": text}, lambda f: read_weights(f / "weights"), line, says)


def _ini(name: str, text: bytes, line: int, says: str) -> BadInput:
    return BadInput(f"search-{name}", {"moses.ini": text}, lambda f: read_moses_weights(f / "moses.ini"), line, says)


CASES = [
    _table("two-columns", b"a ||| x\n", "2 columns"),
    _table("no-source", b" ||| x ||| 1 1 1 1\n", "empty source"),
    _table("no-target", b"a |||  ||| 1 1 1 1\n", "empty target"),
    _table("three-scores", b"a ||| x ||| 1 1 1\n", "3 scores"),
    _table("score-no-number", b"a ||| x ||| 1 1 one 1\n", "'one'"),
    _table("score-negative", b"a ||| x ||| 1 1 -0.5 1\n", "'-0.5'"),
    _table("link-outside", b"a ||| x ||| 1 1 1 1 ||| 0-1\n", "'0-1'"),
    _table("not-utf8", b"a ||| \xff ||| 1 1 1 1\n", "not UTF-8"),
    _table("empty-line", b"\n", "1 columns"),
    BadInput(
        "search-reordering-five-scores",
        {"table": _GOOD, "reordering": b"a ||| x ||| 1 1 1 1 1\n"},
        lambda f: read_moses_phrases(f / "table", f / "reordering"),
        1,
        "5 scores",
        blamed="reordering",
    ),
    _weights("weight-unknown", b"lm 0.5\nword 1\n", 2, "unknown feature 'word'"),
    _weights("weight-twice", b"lm 0.5\nlm 0.5\n", 2, "second time"),
    _weights("weight-no-number", b"lm = half\n", 1, "'half'"),
    _weights("weight-nan", b"lm = nan\n", 1, "'nan'"),
    _weights("weight-three-fields", b"lm = 1 2\n", 1, "3 fields"),
    _weights("weight-missing", b"lm = 1\n", 1, "no weight for distortion"),
    _weights("weight-moses-later", b"lm 0.5\nWordPenalty0 1\n", 2, "a name of Moses'"),
    _weights("weight-moses-mixed", b"LM0 0.5\nwords 1\n", 2, "names of Moses'"),
    _weights("weight-moses-twice", b"LM0 0.5\nLM0 0.5\n", 2, "'LM0' a second time"),
    _ini("ini-no-section", b"[feature]\nDistortion\n", 2, "no [weight] section"),
    _ini("ini-count", b"[weight]\nTranslationModel0= 0.2 0.2\n", 2, "2 weights instead of 4"),
    _ini("ini-unknown", b"[weight]\nLM7= 0.2\n", 2, "unknown feature 'LM7'"),
    _ini("ini-no-equals", b"[weight]\nLM0 0.2\n", 2, "no '='"),
]
