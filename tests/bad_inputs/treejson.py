"""Broken JSON lines."""

from __future__ import annotations

from bad_inputs import BadInput
from treeglot.trees.treejson import read_jsonl

GOOD = b'{"forms": ["a"]}\n'


def case(name: str, text: str | bytes, says: str) -> BadInput:
    """``text`` is in line 2."""
    content = text.encode() if isinstance(text, str) else text
    return BadInput(
        f"treejson-{name}", {"a.jsonl": GOOD + content + b"\n"}, lambda folder: read_jsonl(folder / "a.jsonl"), 2, says
    )


def tree(fields: str) -> str:
    return f'{{"forms": ["a", "b"], {fields}}}'


def pair(fields: str) -> str:
    side = '{"forms": ["a"], "constituency": {"labels": ["S"], "children": [[-1]]}}'
    return f'{{"source": {side}, "target": {side}, {fields}}}'


CASES = [
    case("syntax", '{"forms": ["a"]', "not JSON"),
    case("not-an-object", "[1]", "not a JSON object"),
    case("nan", '{"forms": NaN}', "NaN"),
    case("key-twice", '{"forms": ["a"], "forms": ["b"]}', "given twice"),
    case("too-deep", "[" * 100_000, "not usable JSON"),
    case("nul", b'{"forms": ["\0"]}', "NUL"),
    case("latin-1", b'{"forms": ["\xf6"]}', "not UTF-8"),
    case("forms-missing", '{"id": "x"}', "field forms: missing"),
    case("forms-not-a-list", '{"forms": "a b"}', "field forms: \"a b\" is not a list"),
    case("form-not-a-string", '{"forms": ["a", 1]}', "field forms: 1 is not a string"),
    case("unknown-field", tree('"lemma": ["a", "b"]'), "field lemma: unknown"),
    case("lemmas-differ-in-number", tree('"lemmas": ["a"]'), "2 forms but 1 lemmas"),
    case("id-not-a-string", tree('"id": 7'), "field id: 7 is not a string"),
    case("heads-missing", tree('"dependency": {}'), "field dependency.heads: missing"),
    case("head-not-an-integer", tree('"dependency": {"heads": [1.0, -1]}'), "field dependency.heads: 1.0 is not an integer"),
    case("head-is-true", tree('"dependency": {"heads": [true, -1]}'), "true is not an integer"),
    case("head-out-of-range", tree('"dependency": {"heads": [5, -1]}'), "field dependency.heads: the head of word 1"),
    case("cycle", tree('"dependency": {"heads": [1, 0]}'), "a cycle"),
    case("two-roots", tree('"dependency": {"heads": [-1, -1]}'), "2 roots"),
    case("heads-differ-in-number", tree('"dependency": {"heads": [-1]}'), "2 words but 1 heads"),
    case("children-differ-in-number", tree('"constituency": {"labels": ["S", "X"], "children": [[-1, -2]]}'), "differ in number"),
    case("child-does-not-exist", tree('"constituency": {"labels": ["S"], "children": [[-1, -2, 4]]}'), "does not exist"),
    case("word-unattached", tree('"constituency": {"labels": ["S"], "children": [[-1]]}'), "word 2 has 0 parents"),
    case("secondary-edge-to-nothing", tree('"constituency": {"labels": ["S"], "children": [[-1, -2]], "secondary": [[0, 9, "x"]]}'), "no node for the edge"),
    case("range-parts", tree('"ranges": [[0, 2]]'), "field ranges: [0, 2] has not 3 parts"),
    case("notes-not-pairs", tree('"notes": [["a"]]'), "field notes"),
    case("target-missing", '{"source": {"forms": ["a"]}}', "field target: missing"),
    case("source-not-an-object", '{"source": 1, "target": {"forms": ["a"]}}', "field source: 1 is not an object"),
    case("forms-of-source-missing", '{"source": {}, "target": {"forms": ["a"]}}', "field source.forms: missing"),
    case("word-link-to-nothing", pair('"word_links": [[0, 3]]'), "the target has no word 3"),
    case("node-link-to-nothing", pair('"node_links": [[2, 0]]'), "the source has no node 2"),
    case("node-link-to-no-word", pair('"node_links": [[-2, 0]]'), "the source has no node -2"),
    case("link-twice", pair('"word_links": [[0, 0], [0, 0, "fuzzy"]]'), "given twice"),
    case("link-kind", pair('"word_links": [[0, 0, "sure"]]'), "'sure' is neither good nor fuzzy"),
    case("link-parts", pair('"word_links": [[0]]'), "has not 2 to 4 parts"),
    case("link-score", pair('"word_links": [[0, 0, "good", "high"]]'), "\"high\" is not a number"),
]  # fmt: skip
