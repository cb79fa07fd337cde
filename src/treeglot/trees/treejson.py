"""treeglot's own format for trees and aligned pairs: JSON lines that hold everything the types hold.

One object a line. Lists and strings that are empty, and annotations that no word has, are left out.

A **sentence** has

* ``forms``: the words; and, with one string for each word, ``lemmas``, ``upos``, ``xpos``, ``feats``, ``deps``, ``misc``;
* ``id``; ``comments``: lines; ``notes``: pairs of strings;
* ``ranges``: multiword tokens ``[start, end, columns]``; ``empty_nodes``: ``[after, columns]``;
* ``dependency``: ``heads`` (0-based, -1 for the root), ``deprels``, and ``true_heads`` if it was projectivised;
* ``constituency``: ``labels`` and ``children`` of the phrases (phrase n as ``n``, word j as ``-1 - j``), ``functions``,
  ``word_functions``, ``ids``, ``word_ids``, ``secondary``: edges ``[node, parent, label]``.

A tree whose words are annotated differently from the sentence has its own columns (``lemmas`` ...) in ``tokens``.

A **pair** has ``source`` and ``target`` (sentences), ``id``, ``word_links`` and ``node_links``: links ``[source, target]``,
``[source, target, kind]`` or ``[source, target, kind, score]``, where kind is ``good`` (the default) or ``fuzzy``.

>>> tree = ConstituencyTree.build(["dogs", "bark"], ("S", ("NP", 0), ("VP", 1)))
>>> sentence = ParsedSentence(tree.tokens, DependencyTree(tree.tokens, [1, -1], ["nsubj", "root"]), tree, id="1")
>>> text = format_json(AlignedPair(sentence, sentence, [Link(0, 0)], [Link(0, 0, "fuzzy", 0.5)]))
>>> format_json(sentence)
'{"id": "1", "forms": ["dogs", "bark"], "dependency": {"heads": [1, -1], "deprels": ["nsubj", "root"]}, "constituency":
{"labels": ["S", "NP", "VP"], "children": [[1, 2], [-1], [-2]]}}'
>>> parse_json(text).node_links
(Link(source=0, target=0, kind='fuzzy', score=0.5),)
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from treeglot.errors import InputError, TreeError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.trees.constituency import ConstituencyTree, SecondaryEdge
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.sentence import AlignedPair, EmptyNode, Link, LinkKind, MultiwordRange, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens

MAX_LINE_BYTES = 1 << 28
"""A line holds a whole sentence or pair, so it may be much longer than a line of text."""

T = TypeVar("T")

_ANNOTATIONS = ("lemmas", "upos", "xpos", "feats", "deps", "misc")


def write_jsonl(items: Iterable[ParsedSentence | AlignedPair], path: type_path) -> None:
    """Write sentences or pairs, one to a line."""
    with atomic_write(path) as file:
        for item in items:
            file.write(format_json(item) + "\n")


def read_jsonl(path: type_path) -> Iterator[ParsedSentence | AlignedPair]:
    """Stream sentences and pairs; empty lines are skipped."""
    for line, text in read_lines(path, max_bytes=MAX_LINE_BYTES):
        if text.strip(" \t\r"):
            try:
                yield parse_json(text)
            except TreeglotError as error:
                raise error.at(path, line) from None


def format_json(item: ParsedSentence | AlignedPair) -> str:
    """One line of JSON."""
    record = _pair_record(item) if isinstance(item, AlignedPair) else _sentence_record(item)
    text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: only the escaped form can be written
        text = json.dumps(record, allow_nan=False)
    return text


def parse_json(text: str) -> ParsedSentence | AlignedPair:
    """The inverse of `format_json`."""
    try:
        record = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        column = error.colno if error.lineno == 1 else None
        raise InputError(f"not JSON: {error.msg}", column=column, remedy="each line must be one JSON object") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not usable JSON: {error}", remedy="each line must be one JSON object") from None
    if not isinstance(record, dict):
        raise InputError("not a JSON object", remedy="each line must be one JSON object")
    if "source" in record or "target" in record:
        return _Fields(record, "").read_pair()
    return _Fields(record, "").read_sentence()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return record


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", (), [], None, {})}


def _annotations(tokens: Tokens) -> dict[str, Any]:
    columns = zip(_ANNOTATIONS, tokens.columns()[1:], strict=True)
    return {name: column for name, column in columns if any(value != UNSET for value in column)}


def _sentence_record(sentence: ParsedSentence) -> dict[str, Any]:
    def own_tokens(tree: DependencyTree | ConstituencyTree) -> dict[str, Any]:
        # An empty object says that the tree's words have no annotation at all, though the sentence's have.
        return {} if tree.tokens == sentence.tokens else {"tokens": _annotations(tree.tokens)}

    record = _filled(id=sentence.id) | {"forms": sentence.tokens.forms} | _annotations(sentence.tokens)
    if sentence.dependency is not None:
        tree = sentence.dependency
        record["dependency"] = {"heads": tree.heads} | own_tokens(tree)
        if any(label != UNSET for label in tree.deprels):
            record["dependency"]["deprels"] = tree.deprels
        if tree.true_heads is not None:
            record["dependency"]["true_heads"] = tree.true_heads
    if sentence.constituency is not None:
        phrases = sentence.constituency
        record["constituency"] = {"labels": phrases.labels, "children": phrases.children} | own_tokens(phrases)
        record["constituency"] |= _filled(
            functions=phrases.functions if any(phrases.functions) else (),
            word_functions=phrases.word_functions if any(phrases.word_functions) else (),
            ids=phrases.ids,
            word_ids=phrases.word_ids,
            secondary=phrases.secondary,
        )
    return record | _filled(
        comments=sentence.comments, ranges=sentence.ranges, empty_nodes=sentence.empty_nodes, notes=sentence.notes
    )


def _pair_record(pair: AlignedPair) -> dict[str, Any]:
    sides = {"source": _sentence_record(pair.source), "target": _sentence_record(pair.target)}
    words = [_link_record(link) for link in pair.word_links]
    nodes = [_link_record(link) for link in pair.node_links]
    return _filled(id=pair.id) | sides | _filled(word_links=words, node_links=nodes)


def _link_record(link: Link) -> tuple[Any, ...]:
    if link.score is not None:
        if not math.isfinite(link.score):
            raise TreeError(f"the link {link.source}-{link.target} has the score {link.score}", remedy="use a number")
        return tuple(link)
    return tuple(link)[:2] if link.kind == "good" else tuple(link)[:3]


class _Fields:
    """The fields of one JSON object; every error names the field."""

    def __init__(self, record: dict[str, Any], where: str) -> None:
        self.record = record
        self.where = where

    def error(self, name: str, message: str) -> InputError:
        return InputError(f"field {self.where}{name}: {message}", remedy="see the fields in treeglot.trees.treejson")

    def known(self, *names: str) -> None:
        for name in self.record:
            if name not in names:
                raise self.error(name[:40], f"unknown; the fields here are {', '.join(names)}")

    def get(self, name: str, read: Callable[[Any], T]) -> T:
        if name not in self.record:
            raise self.error(name, "missing")
        try:
            return read(self.record[name])
        except _WrongType as error:
            raise self.error(name, str(error)) from None

    def get_rows(self, name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
        """A list, empty if it is missing."""
        return self.get(name, lambda value: tuple(map(read, _list(value)))) if name in self.record else ()

    def below(self, name: str) -> _Fields:
        return _Fields(self.get(name, _object), f"{self.where}{name}.")

    def annotations(self) -> dict[str, tuple[str, ...]]:
        return {name: self.get(name, _strings) for name in _ANNOTATIONS if name in self.record}

    def read_sentence(self) -> ParsedSentence:
        trees = ("dependency", "constituency")
        self.known("id", "forms", *_ANNOTATIONS, *trees, "comments", "ranges", "empty_nodes", "notes")
        forms = self.get("forms", _strings)
        try:
            tokens = Tokens(forms, **self.annotations())
            dependency = self.below("dependency").read_dependency(tokens) if "dependency" in self.record else None
            constituency = self.below("constituency").read_phrases(tokens) if "constituency" in self.record else None
        except TreeError as error:
            raise self.error(self.where.rstrip(".") or "sentence", error.message) from None
        return ParsedSentence(
            tokens,
            dependency,
            constituency,
            self.get("id", _string) if "id" in self.record else "",
            self.get_rows("comments", _string),
            self.get_rows("ranges", lambda row: MultiwordRange(*_parts(row, _integer, _integer, _strings))),
            self.get_rows("empty_nodes", lambda row: EmptyNode(*_parts(row, _integer, _strings))),
            self.get_rows("notes", lambda row: (_parts(row, _string, _string)[0], row[1])),
        )

    def own_tokens(self, tokens: Tokens) -> Tokens:
        if "tokens" not in self.record:
            return tokens
        below = self.below("tokens")
        below.known(*_ANNOTATIONS)
        return Tokens(tokens.forms, **below.annotations())

    def read_dependency(self, tokens: Tokens) -> DependencyTree:
        self.known("heads", "deprels", "true_heads", "tokens")
        tokens = self.own_tokens(tokens)
        heads = self.get("heads", _integers)
        deprels = self.get("deprels", _strings) if "deprels" in self.record else None
        true_heads = self.get("true_heads", _integers) if "true_heads" in self.record else None
        try:
            return DependencyTree(tokens, heads, deprels, true_heads)
        except TreeError as error:
            raise self.error("heads", error.message) from None

    def read_phrases(self, tokens: Tokens) -> ConstituencyTree:
        names = ("labels", "children", "functions", "word_functions", "ids", "word_ids", "secondary", "tokens")
        self.known(*names)
        tokens = self.own_tokens(tokens)
        labels = self.get("labels", _strings)
        children = self.get("children", lambda value: tuple(map(_integers, _list(value))))
        secondary = self.get_rows("secondary", lambda row: SecondaryEdge(*_parts(row, _integer, _integer, _string)))
        for edge in secondary:
            if not all(-len(tokens) <= node < len(labels) for node in edge[:2]):
                raise self.error("secondary", f"no node for the edge {list(edge)}")
        functions = self.get("functions", _strings) if "functions" in self.record else None
        word_functions = self.get("word_functions", _strings) if "word_functions" in self.record else None
        ids, word_ids = self.get_rows("ids", _string), self.get_rows("word_ids", _string)
        try:
            return ConstituencyTree(tokens, labels, children, functions, word_functions, ids, word_ids, secondary)
        except TreeError as error:
            raise self.error("children", error.message) from None

    def read_pair(self) -> AlignedPair:
        self.known("id", "source", "target", "word_links", "node_links")
        source, target = self.below("source").read_sentence(), self.below("target").read_sentence()
        word_links, node_links = self.get_rows("word_links", _link), self.get_rows("node_links", _link)
        try:
            return AlignedPair(
                source, target, word_links, node_links, self.get("id", _string) if "id" in self.record else ""
            )
        except TreeError as error:
            raise self.error("word_links and node_links", error.message) from None


class _WrongType(Exception):
    """A value is not what its field holds; `_Fields.get` turns it into an `InputError` with the field's name."""


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _WrongType(f"{_show(value)} is not a string")
    return value


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _WrongType(f"{_show(value)} is not an integer")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongType(f"{_show(value)} is not an object")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _WrongType(f"{_show(value)} is not a list")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(map(_string, _list(value)))


def _integers(value: Any) -> tuple[int, ...]:
    return tuple(map(_integer, _list(value)))


def _parts(value: Any, *readers: Callable[[Any], Any]) -> list[Any]:
    row = _list(value)
    if len(row) != len(readers):
        raise _WrongType(f"{_show(row)} has not {len(readers)} parts")
    return [read(part) for read, part in zip(readers, row, strict=True)]


def _link(value: Any) -> Link:
    parts = _list(value)
    if not 2 <= len(parts) <= 4:
        raise _WrongType(f"the link {_show(parts)} has not 2 to 4 parts")
    kind = _string(parts[2]) if len(parts) > 2 else "good"
    if kind != "good" and kind != "fuzzy":
        raise _WrongType(f"the link kind {kind!r} is neither good nor fuzzy")
    score = parts[3] if len(parts) > 3 else None
    if score is not None and (not isinstance(score, int | float) or isinstance(score, bool)):
        raise _WrongType(f"the score {_show(score)} is not a number")
    try:
        number = None if score is None else float(score)
    except OverflowError:
        number = math.inf
    if number is not None and not math.isfinite(number):
        raise _WrongType("the score is too large")
    return Link(_integer(parts[0]), _integer(parts[1]), cast(LinkKind, kind), number)
