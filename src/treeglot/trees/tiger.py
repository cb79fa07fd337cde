"""TIGER-XML: constituency trees with edge labels, secondary edges and discontinuous phrases.

How its parts map to ours:

* terminals: ``word`` is the form, ``lemma`` the lemma, ``pos`` xpos, ``morph`` feats (``--`` means that lemma or morph is
  not annotated). All other attributes go to misc as ``name=value``, separated by ``|`` (which is ``\\p`` within a value),
  and come back as attributes when written.
* edge labels are ``functions`` and ``word_functions``, secondary edges ``secondary``, ids ``ids`` and ``word_ids``.
* Nodes without parent: if there is one, it is the root. If there are several (German punctuation is left outside the
  phrases), we put a phrase ``VROOT`` with the id ``<sentence>_VROOT`` above them, as the TreeAligner and TIGERSearch do,
  and leave it out again when writing.
* ``head`` is kept whole in `TigerHeader`; further attributes of phrases are kept in the sentence's notes under ``tiger``.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> tree = ConstituencyTree.build(["Ich", "rufe", "dich", "an"], ("S", 0, (("VP", "OC"), 1, 3), 2))
>>> write_tiger([ParsedSentence(tree.tokens, constituency=tree, id="s1")], folder / "a.xml")
>>> again = next(read_tiger(folder / "a.xml"))
>>> again.constituency.discontinuous, again.constituency.functions, again.constituency.ids
((False, True), ('', 'OC'), ('s1_500', 's1_501'))
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from treeglot.errors import InputError, TreeError, TreeglotError
from treeglot.files import atomic_write, type_path
from treeglot.trees.constituency import ConstituencyTree, NodeRef, SecondaryEdge
from treeglot.trees.sentence import ParsedSentence
from treeglot.trees.tokens import UNSET, Token, Tokens
from treeglot.xmlstream import Element, Event, format_element, format_tag, iterate_events, read_element

NOT_BOUND = "--"
"""TIGER's sign for an annotation that is not there."""

VROOT = "VROOT"

PHRASE_STEP = 500
"""Generated ids of phrases begin at a multiple of this that is above the number of words."""

_COLUMNS = {"lemma": "lemma", "upos": "upos", "pos": "xpos", "morph": "feats", "deps": "deps"}
_ROOT_EDGE = "edgelabel"  # our attribute for the function of a node that has no edge above it
_RESERVED = {"id", "word", "misc", _ROOT_EDGE, *_COLUMNS}
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_DASHED = ("lemma", "morph")


def _feature(name: str, domain: str) -> Element:
    return Element("feature", (("name", name), ("domain", domain)))


DEFAULT_HEAD = Element(
    "head",
    (),
    "",
    (
        Element("meta", (), "", (Element("format", (), "treeglot"),)),
        Element(
            "annotation",
            (),
            "",
            (*(_feature(name, "T") for name in ("word", "lemma", "pos", "morph")), _feature("cat", "NT")),
        ),
    ),
)


@dataclass(frozen=True)
class TigerHeader:
    """What a TIGER file says about itself: the attributes of ``corpus`` and its ``head``, kept whole."""

    corpus_id: str = "corpus"
    attributes: tuple[tuple[str, str], ...] = ()
    head: Element = DEFAULT_HEAD

    @property
    def meta(self) -> dict[str, str]:
        """Name, author, date and so on."""
        meta = self.head.find("meta")
        return {child.name: child.text for child in meta.children} if meta else {}

    @property
    def features(self) -> dict[tuple[str, str], dict[str, str]]:
        """The declared values and their descriptions by (domain, feature name); edge labels are (``edgelabel``, "")."""
        declared: dict[tuple[str, str], dict[str, str]] = {}
        annotation = self.head.find("annotation")
        for child in annotation.children if annotation else ():
            key = (child.get("domain"), child.get("name")) if child.name == "feature" else (child.name, "")
            declared[key] = {value.get("name"): value.text for value in child.children}
        return declared


class TigerCorpus:
    """A TIGER file: its ``header``, and its sentences, streamed each time one iterates over it."""

    def __init__(self, path: type_path) -> None:
        self.path = path
        self.header = _read_header(path)

    def __iter__(self) -> Iterator[ParsedSentence]:
        return read_tiger(self.path)


def read_tiger_corpus(path: type_path) -> TigerCorpus:
    """Open a TIGER file: ``corpus.header``, and ``for sentence in corpus``."""
    return TigerCorpus(path)


def read_tiger(path: type_path) -> Iterator[ParsedSentence]:
    """Stream the sentences of a TIGER-XML file."""
    seen: set[str] = set()
    events = iterate_events(path)
    _open_corpus(events, path)
    for event in events:
        if event.kind != "start":
            continue
        if event.name in ("subcorpus", "body") and "external" not in event.attributes:
            continue
        if event.name == "head":
            read_element(event, events)
        elif event.name == "s":
            number = event.attributes.get("id", "")
            if number in seen:
                raise _error(event, path, f"a second sentence {number!r}", "give every sentence an id of its own")
            seen.add(number)
            yield _Graph(event, path).read(events)
        else:
            raise _error(event, path, f"<{event.name}> instead of a sentence", "see the TIGER-XML schema")


def _open_corpus(events: Iterator[Event], path: type_path) -> Event:
    first = next(events)
    if first.name != "corpus":
        raise _error(first, path, f"the root element is <{first.name}>, not <corpus>", "name a TIGER-XML file")
    return first


def _read_header(path: type_path) -> TigerHeader:
    events = iterate_events(path)
    attributes = dict(_open_corpus(events, path).attributes)
    corpus_id = attributes.pop("id", "")
    head = Element("head")
    for event in events:
        if event.kind == "start":
            if event.name == "head":
                head = read_element(event, events)
            break
    return TigerHeader(corpus_id, tuple(attributes.items()), head)


def _error(place: Event, path: type_path, message: str, remedy: str) -> InputError:
    return InputError(message, path=path, line=place.line, column=place.column, remedy=remedy)


class _Graph:
    """Collects the nodes of one ``s`` element and builds its tree."""

    def __init__(self, start: Event, path: type_path) -> None:
        self.start = start
        self.path = path
        self.id = start.attributes.get("id", "")
        self.root: Event | None = None
        self.terminals: list[Event] = []
        self.phrases: list[Event] = []
        self.edges: list[tuple[int, Event]] = []
        self.secondary: list[tuple[NodeRef, Event]] = []

    def error(self, place: Event, message: str, remedy: str) -> InputError:
        return _error(place, self.path, f"sentence {self.id}: {message}" if self.id else message, remedy)

    def read(self, events: Iterator[Event]) -> ParsedSentence:
        node: NodeRef | None = None
        for event in events:
            if event.kind == "end":
                if event.name == "s":
                    break
                node = None if event.name in ("t", "nt") else node
            elif event.kind == "start":
                if event.name == "graph":
                    self.root = event
                elif self.root is None or event.name == "matches":
                    read_element(event, events)  # what TIGERSearch adds to a sentence
                elif event.name == "t":
                    node = ~len(self.terminals)
                    self.terminals.append(event)
                elif event.name == "nt":
                    node = len(self.phrases)
                    self.phrases.append(event)
                elif event.name == "edge" and node is not None and node >= 0:
                    self.edges.append((node, event))
                elif event.name == "secedge" and node is not None:
                    self.secondary.append((node, event))
                elif event.name not in ("terminals", "nonterminals"):
                    raise self.error(event, f"<{event.name}> is not expected here", "see the TIGER-XML schema")
        if not self.terminals:
            raise self.error(self.start, "no terminals", "remove sentences without words")
        try:
            return self.build()
        except TreeglotError as error:
            raise error.at(self.path, self.start.line) from None

    def build(self) -> ParsedSentence:
        names = self.number_nodes()
        children: list[list[int]] = [[] for _ in self.phrases]
        functions = [""] * len(self.phrases)
        word_functions = [""] * len(self.terminals)
        attached: set[NodeRef] = set()
        for parent, edge in self.edges:
            child = self.resolve(edge, names)
            if child in attached:
                raise self.error(
                    edge, f"{edge.attributes['idref']!r} has two parents", "keep one edge, make the other a <secedge>"
                )
            attached.add(child)
            children[parent].append(child)
            label = edge.attributes.get("label", "")
            if child >= 0:
                functions[child] = label
            else:
                word_functions[~child] = label
        for n, below in enumerate(children):
            if not below:
                raise self.error(self.phrases[n], f"{self.name(n)!r} has no child", "remove phrases without words")
        labels = [self.required(phrase, "cat") for phrase in self.phrases]
        for node in names.values():
            if node not in attached:
                event = self.phrases[node] if node >= 0 else self.terminals[~node]
                label = event.attributes.get(_ROOT_EDGE, "")
                if node >= 0:
                    functions[node] = label
                else:
                    word_functions[~node] = label
        ids = [phrase.attributes["id"] for phrase in self.phrases]
        top = [node for node in names.values() if node not in attached]
        self.check_shape(children, top, names)
        if len(top) > 1:
            labels.append(VROOT)
            children.append(top)
            functions.append("")
            ids.append(f"{self.id}_{VROOT}")
            if ids[-1] in names:
                raise self.error(self.start, f"{ids[-1]!r} has no edge to the rest", "attach all nodes to it, or none")
        tokens = Tokens.of(_token(terminal.attributes) for terminal in self.terminals)
        tree = ConstituencyTree(
            tokens,
            labels,
            children,
            functions,
            word_functions,
            ids,
            [terminal.attributes["id"] for terminal in self.terminals],
            [
                SecondaryEdge(node, self.resolve(edge, names), edge.attributes.get("label", ""))
                for node, edge in self.secondary
            ],
        )
        if tree.secondary:  # words first, then phrases in their final order: the order in which they are written
            ordered = sorted(
                tree.secondary, key=lambda edge: edge.node if edge.node >= 0 else -len(tokens) + ~edge.node
            )
            tree = replace(tree, secondary=tuple(ordered))
        return ParsedSentence(tokens, constituency=tree, id=self.id, notes=self.notes(len(top) > 1))

    def name(self, n: int) -> str:
        return self.phrases[n].attributes["id"]

    def required(self, event: Event, name: str) -> str:
        value = event.attributes.get(name)
        if value is None or (not value and name in ("id", "word")):
            raise self.error(event, f"<{event.name}> without {name}", f"add the attribute {name}")
        return value

    def number_nodes(self) -> dict[str, NodeRef]:
        names: dict[str, NodeRef] = {}
        refs = [*(~j for j in range(len(self.terminals))), *range(len(self.phrases))]
        for ref, event in zip(refs, [*self.terminals, *self.phrases], strict=True):
            name = self.required(event, "id")
            if event.name == "t":
                self.required(event, "word")
            if name in names:
                raise self.error(event, f"a second node {name!r}", "give every node an id of its own")
            names[name] = ref
        return names

    def resolve(self, edge: Event, names: dict[str, NodeRef]) -> NodeRef:
        target = self.required(edge, "idref")
        if target not in names:
            raise self.error(edge, f"no node {target!r}", "correct the idref, or add the node")
        return names[target]

    def check_shape(self, children: list[list[int]], top: list[NodeRef], names: dict[str, NodeRef]) -> None:
        reached = [False] * len(self.phrases)
        stack = [node for node in top if node >= 0]
        while stack:
            n = stack.pop()
            reached[n] = True
            stack.extend(child for child in children[n] if child >= 0)
        for n, yes in enumerate(reached):
            if not yes:
                raise self.error(self.phrases[n], f"{self.name(n)!r} is in a cycle", "correct the edges")
        assert self.root is not None
        root = self.root.attributes.get("root")
        if root is None or (root in names and names[root] in top):
            return
        if root not in names and not root.endswith(VROOT):
            raise self.error(self.root, f"no node {root!r}, the root", "correct the attribute root")
        if root in names:
            raise self.error(self.root, f"the root {root!r} has a parent", "correct the attribute root, or the edges")

    def notes(self, virtual: bool) -> tuple[tuple[str, str], ...]:
        assert self.root is not None
        extra: dict[str, Any] = {}
        if virtual and "root" in self.root.attributes:
            extra["root"] = self.root.attributes["root"]
        further = {key: value for key, value in self.start.attributes.items() if key != "id"}
        if further:
            extra["s"] = further
        phrases = {}
        for phrase in self.phrases:
            further = {key: value for key, value in phrase.attributes.items() if key not in ("id", "cat", _ROOT_EDGE)}
            if further:
                phrases[phrase.attributes["id"]] = further
        if phrases:
            extra["nt"] = phrases
        return (("tiger", json.dumps(extra, ensure_ascii=False)),) if extra else ()


def _token(attributes: dict[str, str]) -> Token:
    columns: dict[str, str] = {"form": attributes["word"]}
    misc = [attributes["misc"]] if "misc" in attributes else []
    for name, value in attributes.items():
        if name in _COLUMNS:
            missing = name in _DASHED and value == NOT_BOUND and not (name == "lemma" and attributes["word"] == value)
            columns[_COLUMNS[name]] = UNSET if missing or not value else value
        elif name not in _RESERVED:
            misc.append(f"{name}={_escape_misc(value)}")
    return Token(**columns, misc="|".join(misc) or UNSET)


_MISC_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_MISC_PLAIN = {escaped: plain for plain, escaped in _MISC_ESCAPES.items()}


def _escape_misc(value: str) -> str:
    return re.sub(r"[\\|\t\n\r]", lambda match: _MISC_ESCAPES[match[0]], value)


def _unescape_misc(value: str) -> str:
    return re.sub(r"\\[\\ptnr]", lambda match: _MISC_PLAIN[match[0]], value)


def _misc_attributes(misc: str) -> list[tuple[str, str]]:
    """misc as attributes that `_token` turns into the same string again."""
    if misc == UNSET:
        return []
    pairs: dict[str, str] = {}
    for item in misc.split("|"):
        name, equals, value = item.partition("=")
        plain = _unescape_misc(value)
        sound = equals and name not in _RESERVED and name not in pairs and _escape_misc(plain) == value
        if not sound or not _XML_NAME.fullmatch(name):
            return [("misc", misc)]
        pairs[name] = plain
    return list(pairs.items())


def with_node_ids(sentence: ParsedSentence, number: int) -> ParsedSentence:
    """``sentence`` with TIGER ids: its own, and generated ones (``s7``, ``s7_1``, ``s7_500``) where it has none.

    Phrases count from 500 as TIGER's do, those of a sentence of 500 words and more from the next multiple of 500."""
    tree = sentence.constituency
    name = sentence.id or f"s{number}"
    if tree is None:
        raise TreeError(
            f"sentence {name} has no constituency tree", remedy="parse it, or convert its dependency tree first"
        )
    first = len(tree.tokens) // PHRASE_STEP * PHRASE_STEP + PHRASE_STEP
    ids = tree.ids or tuple(f"{name}_{first + n}" for n in range(len(tree)))
    word_ids = tree.word_ids or tuple(f"{name}_{j + 1}" for j in range(len(tree.tokens)))
    if len({*ids, *word_ids}) != len(ids) + len(word_ids) or "" in ids or "" in word_ids:
        raise TreeError(
            f"sentence {name}: two nodes have the same id, or an empty one", remedy="drop or correct the ids"
        )
    if tree.ids != ids or tree.word_ids != word_ids:
        tree = replace(tree, ids=ids, word_ids=word_ids)
    return replace(sentence, id=name, constituency=tree)


def write_tiger(
    sentences: Iterable[ParsedSentence],
    path: type_path,
    *,
    corpus_id: str | None = None,
    header: TigerHeader | None = None,
) -> None:
    """Write constituency trees as TIGER-XML; nodes and sentences without ids get generated ones.

    ``header`` is that of a `TigerCorpus` or your own; ``corpus_id`` overrides its id.
    """
    header = header or TigerHeader()
    dashed = [name for name in _DASHED if ("T", name) in header.features]
    seen: set[str] = set()
    with atomic_write(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        name = header.corpus_id if corpus_id is None else corpus_id
        file.write(format_tag("corpus", [*header.attributes, ("id", name)]) + ">\n")
        file.write(format_element(header.head) + "<body>\n")
        for number, sentence in enumerate(sentences, start=1):
            sentence = with_node_ids(sentence, number)
            if sentence.id in seen:
                raise TreeError(f"two sentences have the id {sentence.id!r}", remedy="give every sentence its own id")
            seen.add(sentence.id)
            file.write(_format_sentence(sentence, dashed))
        file.write("</body>\n</corpus>\n")


def is_virtual_root(sentence: ParsedSentence) -> bool:
    """Whether the root phrase stands for unattached nodes, that is, it is not written as a phrase in TIGER-XML."""
    tree = sentence.constituency
    if tree is None or not len(tree) or tree.labels[0] != VROOT or len(tree.children[0]) < 2 or tree.functions[0]:
        return False
    if not tree.ids or tree.ids[0] != f"{sentence.id}_{VROOT}":
        return False
    bound = any(tree.functions[c] if c >= 0 else tree.word_functions[~c] for c in tree.children[0])
    return not bound and not any(0 in (edge.node, edge.parent) for edge in tree.secondary)


class _Further(NamedTuple):
    """The attributes that trees have no place for."""

    root: str
    sentence: list[tuple[str, str]]
    phrases: dict[str, list[tuple[str, str]]]


def _further_attributes(sentence: ParsedSentence) -> _Further:
    try:
        extra = json.loads(dict(sentence.notes).get("tiger", "{}"))
    except ValueError:
        extra = {}
    extra = extra if isinstance(extra, dict) else {}

    def attributes(values: Any, taken: tuple[str, ...]) -> list[tuple[str, str]]:
        pairs = values.items() if isinstance(values, dict) else ()
        return [(k, v) for k, v in pairs if k not in taken and _XML_NAME.fullmatch(k) and isinstance(v, str)]

    phrases = extra.get("nt")
    return _Further(
        str(extra.get("root", "")),
        attributes(extra.get("s"), ("id",)),
        {name: attributes(values, ("id", "cat", _ROOT_EDGE)) for name, values in phrases.items()}
        if isinstance(phrases, dict)
        else {},
    )


def _format_sentence(sentence: ParsedSentence, dashed: list[str]) -> str:
    tree = sentence.constituency
    assert tree is not None
    extra = _further_attributes(sentence)
    names = {~j: name for j, name in enumerate(tree.word_ids)} | dict(enumerate(tree.ids))
    virtual = is_virtual_root(sentence)
    root = names[tree.root]
    if virtual:
        phrases = [child for child in tree.children[0] if child >= 0]
        root = names[(phrases or tree.children[0])[0]]
        if extra.root in [names[child] for child in tree.children[0]]:
            root = extra.root
    secondary: dict[int, list[SecondaryEdge]] = {}
    for edge in tree.secondary:
        secondary.setdefault(edge.node, []).append(edge)
    graph = [("root", root)] if tree.is_continuous else [("root", root), ("discontinuous", "true")]
    lines = [
        format_tag("s", [("id", sentence.id), *extra.sentence]) + ">",
        format_tag("graph", graph) + ">",
        "<terminals>",
    ]

    def add(node: NodeRef, attributes: list[tuple[str, str]], edges: list[str]) -> None:
        for edge in secondary.get(node, ()):
            below = [("label", edge.label), ("idref", names[edge.parent])]
            edges.append("  " + format_tag("secedge", below) + "/>")
        tag = "t" if node < 0 else "nt"
        start = " " + format_tag(tag, [("id", names[node]), *attributes])
        lines.extend([start + ">", *edges, f" </{tag}>"] if edges else [start + "/>"])

    for j, token in enumerate(tree.tokens):
        attributes = [("word", token.form)]
        for name, column in _COLUMNS.items():
            value = getattr(token, column)
            if value != UNSET:
                attributes.append((name, value))
            elif name in dashed and not (name == "lemma" and token.form == NOT_BOUND):
                attributes.append((name, NOT_BOUND))
        if not len(tree) and tree.word_functions[j]:
            attributes.append((_ROOT_EDGE, tree.word_functions[j]))
        add(~j, [*attributes, *_misc_attributes(token.misc)], [])
    lines += ["</terminals>", "<nonterminals>"]
    for n in range(1 if virtual else 0, len(tree)):
        edges = []
        for child in tree.children[n]:
            function = tree.functions[child] if child >= 0 else tree.word_functions[~child]
            label = [("label", function)] if function else []
            edges.append("  " + format_tag("edge", [*label, ("idref", names[child])]) + "/>")
        further = extra.phrases.get(names[n], [])
        add(
            n,
            [
                ("cat", tree.labels[n]),
                *([(_ROOT_EDGE, tree.functions[0])] if not n and tree.functions[0] else []),
                *further,
            ],
            edges,
        )
    lines += ["</nonterminals>", "</graph>", "</s>", ""]
    return "\n".join(lines)
