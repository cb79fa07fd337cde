"""Stockholm TreeAligner XML: good and fuzzy links between the nodes of two TIGER-XML treebanks.

`read_treealigner` gives the file as it is, links between (treebank, node id); `read_aligned_pairs` loads the two treebanks
as well and joins them to `AlignedPair`s. A sentence that is linked to n sentences is in n pairs. Links between two words
become word links; a link with a phrase on either side becomes a node link (in which word j is ``~j``).

>>> import tempfile, pathlib
>>> from treeglot.trees.penn import parse_penn
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> def sentence(text):
...     tree = parse_penn(text)
...     return ParsedSentence(tree.tokens, constituency=tree)
>>> pair = AlignedPair(
...     sentence("(S (NP (N Hunde)) (V bellen))"), sentence("(S (NP (N dogs)) (V bark))"),
...     word_links=[Link(0, 0), Link(1, 1, "fuzzy")], node_links=[Link(0, 0), Link(1, 1)])
>>> write_aligned_pairs([pair], folder / "a.xml", folder / "de.xml", folder / "en.xml", languages=("de", "en"))
>>> read_treealigner(folder / "a.xml").links[0].source
AlignedNode(treebank='1', node='s1_500', type='nt')
>>> again = next(read_aligned_pairs(folder / "a.xml"))
>>> again.word_links == pair.word_links and again.node_links == pair.node_links
True
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from treeglot.errors import InputError, TreeError
from treeglot.files import atomic_write, type_path
from treeglot.trees.constituency import NodeRef
from treeglot.trees.sentence import AlignedPair, Link, LinkKind, ParsedSentence
from treeglot.trees.tiger import VROOT, read_tiger, with_node_ids, write_tiger
from treeglot.xmlstream import Element, Event, format_element, format_tag, iterate_events, read_element

NO_HEAD = Element("head")
DEFAULT_HEAD = Element(
    "head",
    children=(
        Element(
            "alignment-metadata",
            children=tuple(Element(name) for name in ("author", "date", "description", "history", "license")),
        ),
        Element(
            "alignment-features",
            children=(
                Element("alignment-feature", (("color", "#33e533"), ("name", "good")), "Exact alignment"),
                Element("alignment-feature", (("color", "#e53333"), ("name", "fuzzy")), "Approximate alignment"),
            ),
        ),
        Element("consistency-checks"),
        Element(
            "settings",
            children=(
                Element("display-options", children=(Element("top-treebank", (("treebank-id", ""),)),)),
                Element("auto-align", (("active", "False"),)),
            ),
        ),
    ),
)
"""What the TreeAligner itself writes into a head, for the files of `write_aligned_pairs`."""

Dialect = Literal["treealigner", "lingua-align"]
"""``treealigner``: as the Stockholm TreeAligner writes its files. ``lingua-align``: as Lingua-Align writes its files, with
links alone; which sentences are pairs is said by their links."""

LENIENT = "leave such links out: --lenient (in Python: strict=False)"


@dataclass(frozen=True)
class Treebank:
    """One of the aligned treebanks as the file names it."""

    id: str
    filename: str
    language: str = ""
    line: int | None = field(default=None, compare=False, repr=False)


class AlignedNode(NamedTuple):
    """A node of a treebank; ``type`` (``nt`` or ``t``) if the file says it."""

    treebank: str
    node: str
    type: str = ""


@dataclass(frozen=True)
class TreeLink:
    """An ``align`` element. ``source`` is in the treebank that the header names first. ``score`` is the attribute
    ``prob`` of automatic aligners."""

    source: AlignedNode
    target: AlignedNode
    kind: LinkKind = "good"
    author: str = ""
    last_change: str = ""
    score: float | None = None
    line: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class SentenceLink:
    """A ``sen-align`` element: two root nodes, usually virtual (``s1_VROOT``)."""

    source: AlignedNode
    target: AlignedNode
    author: str = ""
    last_change: str = ""
    line: int | None = field(default=None, compare=False, repr=False)


class EmptyLink(NamedTuple):
    """A ``to-empty`` element: the sentence with root ``root`` of ``treebank`` has no counterpart in ``empty_in``."""

    treebank: str
    root: str
    empty_in: str
    author: str = ""
    last_change: str = ""


@dataclass(frozen=True)
class TreeAlignment:
    """A whole TreeAligner file. ``head`` holds all of its header but the treebanks.

    ``problems`` are the links that were left out when reading with ``strict=False``.
    """

    treebanks: tuple[Treebank, ...]
    links: tuple[TreeLink, ...] = ()
    sentence_links: tuple[SentenceLink, ...] = ()
    empty_links: tuple[EmptyLink, ...] = ()
    head: Element = NO_HEAD
    attributes: tuple[tuple[str, str], ...] = (("subversion", "3"), ("version", "2"))
    problems: tuple[str, ...] = field(default=(), compare=False)

    @property
    def metadata(self) -> dict[str, str]:
        """Author, date, license and so on."""
        metadata = self.head.find("alignment-metadata")
        return {child.name: child.text for child in metadata.children} if metadata else {}


def read_treealigner(path: type_path, *, strict: bool = True) -> TreeAlignment:
    """Read a TreeAligner file without its treebanks.

    A link that is given twice is an error, or with ``strict=False`` left out and noted in ``problems``.
    """
    return _Reader(path, strict).read()


class _Reader:
    def __init__(self, path: type_path, strict: bool) -> None:
        self.path = path
        self.strict = strict
        self.treebanks: dict[str, Treebank] = {}
        self.order: dict[str, int] = {}
        self.seen: set[tuple[str, AlignedNode, AlignedNode]] = set()
        self.problems: list[str] = []

    def error(self, place: Event, message: str, remedy: str) -> InputError:
        return InputError(message, path=self.path, line=place.line, column=place.column, remedy=remedy)

    def get(self, event: Event, name: str) -> str:
        value = event.attributes.get(name)
        if not value:
            raise self.error(event, f"<{event.name}> without {name}", f"add the attribute {name}")
        return value

    def read(self) -> TreeAlignment:
        events = iterate_events(self.path)
        first = next(events)
        if first.name != "treealign":
            message = f"the root element is <{first.name}>, not <treealign>"
            raise self.error(first, message, "name a Stockholm TreeAligner file")
        head = Element("head")
        links: list[TreeLink] = []
        sentence_links: list[SentenceLink] = []
        empty_links: list[EmptyLink] = []
        for event in events:
            if event.kind != "start":
                continue
            if event.name == "head":
                head = self.read_head(event, events)
            elif event.name == "treebank":  # some tools write the treebanks after the head
                self.add_treebank(event)
            elif event.name == "align":
                link = self.read_link(event, events)
                if link is not None:
                    links.append(link)
            elif event.name == "sen-align":
                both = self.read_nodes(event, events)
                if both is not None:
                    history = event.attributes.get("author", ""), event.attributes.get("last_change", "")
                    sentence_links.append(SentenceLink(*both, *history, event.line))
            elif event.name == "to-empty":
                treebank, empty_in = self.known(event, "tb-id"), self.known(event, "empty-in")
                history = event.attributes.get("author", ""), event.attributes.get("last_change", "")
                empty_links.append(EmptyLink(treebank, self.get(event, "root-id"), empty_in, *history))
            elif event.name not in ("treebanks", "alignments"):
                raise self.error(event, f"<{event.name}> is not expected here", "see the TreeAligner's format")
        if len(self.treebanks) < 2:
            message = f"{len(self.treebanks)} treebanks are named, not two"
            raise self.error(first, message, "name both treebanks in <treebanks>")
        return TreeAlignment(
            tuple(self.treebanks.values()),
            tuple(links),
            tuple(sentence_links),
            tuple(empty_links),
            head,
            tuple(first.attributes.items()),
            tuple(self.problems),
        )

    def read_head(self, start: Event, events: Iterator[Event]) -> Element:
        children: list[Element] = []
        for event in events:
            if event.kind == "start" and event.name == "treebank":
                self.add_treebank(event)
            elif event.kind == "start" and event.name != "treebanks":
                children.append(read_element(event, events))
            elif event.kind == "end" and event.name == "head":
                break
        return Element("head", tuple(start.attributes.items()), "", tuple(children))

    def add_treebank(self, event: Event) -> None:
        name = self.get(event, "id")
        if name in self.treebanks:
            raise self.error(event, f"a second treebank {name!r}", "give every treebank its own id")
        self.order[name] = len(self.order)
        language = event.attributes.get("language", "")
        self.treebanks[name] = Treebank(name, self.get(event, "filename"), language, event.line)

    def known(self, event: Event, attribute: str) -> str:
        name = self.get(event, attribute)
        if name not in self.treebanks:
            known = ", ".join(self.treebanks) or "none"
            raise self.error(event, f"no treebank {name!r}", f"treebanks named in the header: {known}")
        return name

    def read_nodes(self, start: Event, events: Iterator[Event]) -> tuple[AlignedNode, AlignedNode] | None:
        nodes: list[AlignedNode] = []
        for event in events:
            if event.kind == "end" and event.name == start.name:
                break
            if event.kind == "start" and event.name == "node":
                where = self.known(event, "treebank_id")
                nodes.append(AlignedNode(where, self.get(event, "node_id"), event.attributes.get("type", "")))
        if len(nodes) != 2:
            raise self.error(start, f"<{start.name}> has {len(nodes)} nodes", "a link joins two nodes")
        if nodes[0].treebank == nodes[1].treebank:
            message = f"a link within the treebank {nodes[0].treebank!r}"
            raise self.error(start, message, "a link joins nodes of different treebanks")
        source, target = sorted(nodes, key=lambda node: self.order[node.treebank])
        key = (start.name, source._replace(type=""), target._replace(type=""))
        if key in self.seen:
            message = f"{source.node!r} and {target.node!r} are linked twice"
            if self.strict:
                raise self.error(start, message, f"remove one of the links, or {LENIENT}")
            self.problems.append(f"line {start.line}: {message}")
            return None
        self.seen.add(key)
        return source, target

    def read_link(self, start: Event, events: Iterator[Event]) -> TreeLink | None:
        kind = self.get(start, "type")
        if kind not in get_args(LinkKind):
            raise self.error(start, f"the link type {kind!r}", "types are good and fuzzy")
        score: float | None = None
        if "prob" in start.attributes:
            try:
                score = float(start.attributes["prob"])
            except ValueError:
                raise self.error(start, f"prob={start.attributes['prob']!r} is not a number", "correct it") from None
        both = self.read_nodes(start, events)
        if both is None:
            return None
        history = start.attributes.get("author", ""), start.attributes.get("last_change", "")
        return TreeLink(*both, cast(LinkKind, kind), *history, score, start.line)


def write_treealigner(alignment: TreeAlignment, path: type_path, *, dialect: Dialect = "treealigner") -> None:
    """Write a TreeAligner file; the treebanks are not touched. See `Dialect`."""
    if dialect not in get_args(Dialect):
        raise TreeError(f"no dialect {dialect!r}", remedy=f"choose {' or '.join(get_args(Dialect))}")
    plain = dialect == "lingua-align"
    treebanks = Element(
        "treebanks",
        children=tuple(
            Element(
                "treebank",
                (
                    ("id", bank.id),
                    *((("language", bank.language),) if bank.language else ()),
                    ("filename", bank.filename),
                ),
            )
            for bank in alignment.treebanks
        ),
    )
    parts = list(alignment.head.children)
    after_metadata = [k + 1 for k, part in enumerate(parts) if part.name == "alignment-metadata"]
    parts.insert(after_metadata[0] if after_metadata else 0, treebanks)
    with atomic_write(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(format_tag("treealign", alignment.attributes) + ">\n")
        if plain:  # its own files name the treebanks after a head that is empty
            file.write("<head>\n</head>\n" + format_element(treebanks) + "<alignments>\n")
        else:
            file.write(format_element(alignment.head._replace(children=tuple(parts))) + "<alignments>\n")
        for empty in () if plain else alignment.empty_links:
            history = _given(author=empty.author, last_change=empty.last_change)
            where = ("empty-in", empty.empty_in), ("tb-id", empty.treebank), ("root-id", empty.root)
            file.write(format_tag("to-empty", [*where, *history]) + "/>\n")
        for pair in () if plain else alignment.sentence_links:
            history = _given(author=pair.author, last_change=pair.last_change)
            file.write(_format_link("sen-align", history, pair.source, pair.target))
        for link in alignment.links:
            score = "" if link.score is None else repr(link.score)
            history = _given(type=link.kind, last_change=link.last_change, author=link.author, prob=score)
            if plain:
                history = _given(author=link.author, prob=score, type=link.kind)
            file.write(_format_link("align", history, link.source, link.target))
        file.write("</alignments>\n</treealign>\n")


def _given(**attributes: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in attributes.items() if value]


def _format_link(name: str, attributes: list[tuple[str, str]], *nodes: AlignedNode) -> str:
    lines = [format_tag(name, attributes) + ">"]
    for node in nodes:
        lines.append(format_tag("node", _given(treebank_id=node.treebank, node_id=node.node, type=node.type)) + "/>")
    return "\n".join([*lines, f"</{name}>", ""])


class _Loaded:
    """A treebank in memory with its node ids."""

    def __init__(self, bank: Treebank, path: type_path, named_in: type_path) -> None:
        self.bank = bank
        self.path = path
        self.sentences = list(read_tiger(path))
        self.nodes: dict[str, tuple[int, NodeRef]] = {}
        for number, sentence in enumerate(self.sentences):
            tree = sentence.constituency
            assert tree is not None
            named = [
                *((name, ~j) for j, name in enumerate(tree.word_ids)),
                *((name, n) for n, name in enumerate(tree.ids)),
            ]
            for name, node in named:
                if name in self.nodes:
                    other = self.sentences[self.nodes[name][0]].id
                    raise InputError(
                        f"sentences {other} and {sentence.id} of {path} both have a node {name!r}",
                        path=named_in,
                        line=bank.line,
                        remedy="give every node an id of its own",
                    )
                self.nodes[name] = number, node
        for number, sentence in enumerate(self.sentences):  # the root may be called s1_VROOT whatever it is
            tree = sentence.constituency
            assert tree is not None
            self.nodes.setdefault(f"{sentence.id}_{VROOT}", (number, tree.root))


def read_aligned_pairs(
    path: type_path,
    *,
    source: type_path | None = None,
    target: type_path | None = None,
    unlinked: bool = True,
    strict: bool = True,
    anywhere: bool = False,
    problems: list[str] | None = None,
) -> Iterator[AlignedPair]:
    """Load a TreeAligner file with its two treebanks and yield one pair for every two sentences that are aligned.

    The treebanks are the files that it names (in its folder or below it, or of that name beside it; with ``anywhere`` also others:
    a file from elsewhere could name any file of this machine), or ``source`` and ``target``.
    Sentences are aligned if a link joins them, or, unless ``unlinked`` is False, ``sen-align``; in files that have none, as
    Lingua-Align writes them, also sentences with the same id, if all links join such sentences. Links that are given twice,
    name an unknown node, or join nodes that are already joined are errors, or with ``strict=False`` left out, and
    ``problems`` gets a line for each. Both treebanks are held in memory; pairs come in the order of the source.
    """
    alignment = read_treealigner(path, strict=strict)
    left_out = [] if problems is None else problems
    left_out += alignment.problems
    if len(alignment.treebanks) != 2:
        raise InputError(
            f"{len(alignment.treebanks)} treebanks are aligned, not two",
            path=path,
            line=alignment.treebanks[2].line,
            remedy="split the file into pairs of treebanks",
        )
    first, second = (
        _Loaded(bank, given if given is not None else _locate(bank, path, anywhere), path)
        for bank, given in zip(alignment.treebanks, (source, target), strict=True)
    )
    linked: dict[tuple[int, int], tuple[list[Link], list[Link], set[tuple[NodeRef, NodeRef]]]] = {}
    for link in alignment.links:
        ends = _resolve(link, first, second, path, None if strict else left_out)
        if ends is None:
            continue
        (a, source_node), (b, target_node) = ends
        words, nodes, joined = linked.setdefault((a, b), ([], [], set()))
        if (source_node, target_node) in joined:  # possible when a root is named both by its id and as s1_VROOT
            message = f"{link.source.node!r} and {link.target.node!r} are linked twice"
            left_out.append(f"line {link.line}: {message}")
            if strict:
                raise InputError(
                    message,
                    path=path,
                    line=link.line,
                    remedy=f"remove one of the links, or {LENIENT}",
                )
            continue
        joined.add((source_node, target_node))
        if source_node < 0 and target_node < 0:
            words.append(Link(~source_node, ~target_node, link.kind, link.score))
        else:
            nodes.append(Link(source_node, target_node, link.kind, link.score))
    for pair in alignment.sentence_links:
        ends = _resolve(pair, first, second, path, None if strict else left_out)
        if ends is not None and unlinked:
            linked.setdefault((ends[0][0], ends[1][0]), ([], [], set()))
    if unlinked and not alignment.sentence_links:
        for pair_without_link in _same_ids(first, second, linked):
            linked[pair_without_link] = [], [], set()
    for a, b in sorted(linked):
        words, nodes, _ = linked[a, b]
        left, right = first.sentences[a], second.sentences[b]
        yield AlignedPair(left, right, words, nodes, f"{left.id}-{right.id}")


def _same_ids(first: _Loaded, second: _Loaded, linked: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The sentences without links that have the same id on both sides, if those with links have so, too."""
    known = list(linked)
    if any(first.sentences[a].id != second.sentences[b].id for a, b in known):
        return []
    places = {sentence.id: b for b, sentence in enumerate(second.sentences)}
    joined = {a for a, _ in known}
    return [(a, places[s.id]) for a, s in enumerate(first.sentences) if a not in joined and s.id in places]


def _resolve(
    link: TreeLink | SentenceLink, first: _Loaded, second: _Loaded, path: type_path, left_out: list[str] | None
) -> tuple[tuple[int, NodeRef], tuple[int, NodeRef]] | None:
    ends = first.nodes.get(link.source.node), second.nodes.get(link.target.node)
    for end, node, bank in zip(ends, (link.source, link.target), (first, second), strict=True):
        if end is not None:
            continue
        message = f"no node {node.node!r} in the treebank {node.treebank!r} ({bank.path})"
        if left_out is None:
            remedy = f"check that the treebanks belong to this file, or {LENIENT}"
            raise InputError(message, path=path, line=link.line, remedy=remedy)
        left_out.append(f"line {link.line}: {message}")
        break
    return cast("tuple[tuple[int, NodeRef], tuple[int, NodeRef]]", ends) if None not in ends else None


def _plain(path: Path) -> Path:
    """Without dots, and with links as they are: those in the folder are its owner's."""
    return Path(os.path.normpath(path.absolute()))


def _locate(bank: Treebank, path: type_path, anywhere: bool) -> Path:
    folder = Path(path).parent
    # Files made on Windows or moved from elsewhere name a folder that is not here.
    candidates = folder / bank.filename, folder / bank.filename.replace("\\", "/").rpartition("/")[2]
    outside = None
    for candidate in candidates:
        try:
            if not candidate.is_file():
                continue
        except (OSError, ValueError):
            continue
        if anywhere or _plain(candidate).is_relative_to(_plain(folder)):
            return candidate
        outside = candidate
    if outside is not None:
        raise InputError(
            f"names a treebank outside of its folder, {bank.filename!r}",
            path=path,
            line=bank.line,
            remedy="if that is meant, give --anywhere, or --source and --target (in Python: anywhere=True, source=, target=)",
        )
    raise InputError(
        f"no file {bank.filename!r}, the treebank {bank.id!r}",
        path=path,
        line=bank.line,
        remedy="put it beside this file, or name both treebanks with --source and --target (in Python: source=, target=)",
    )


def write_aligned_pairs(
    pairs: Iterable[AlignedPair],
    path: type_path,
    source: type_path,
    target: type_path,
    *,
    languages: tuple[str, str] = ("", ""),
    author: str = "treeglot",
    dialect: Dialect = "treealigner",
) -> None:
    """Write pairs as a TreeAligner file ``path`` and the two TIGER files that it links.

    Sentences and nodes keep their TIGER ids, and get generated ones where they have none. A sentence that is in several
    pairs (equal, and with the same id) is written once; so is a link of two words that is both a node link and a word link.
    """
    sides: tuple[dict[str, ParsedSentence], dict[str, ParsedSentence]] = ({}, {})
    folder = Path(path).parent
    banks = tuple(
        Treebank(name, Path(os.path.relpath(where, folder)).as_posix(), language)
        for name, where, language in zip("12", (source, target), languages, strict=True)
    )
    links: list[TreeLink] = []
    sentence_links: list[SentenceLink] = []
    for number, pair in enumerate(pairs, start=1):
        both = []
        for known, sentence in zip(sides, (pair.source, pair.target), strict=True):
            named = with_node_ids(sentence, number)
            if known.setdefault(named.id, named) != named:
                raise TreeError(f"two sentences have the id {named.id!r}", remedy="give every sentence its own id")
            both.append(named)
        roots = [AlignedNode(bank.id, f"{side.id}_{VROOT}") for bank, side in zip(banks, both, strict=True)]
        sentence_links.append(SentenceLink(roots[0], roots[1]))
        word_links = [link._replace(source=~link.source, target=~link.target) for link in pair.word_links]
        linked_words = {link[:2] for link in word_links}
        node_links = (link for link in pair.node_links if link[:2] not in linked_words)
        for link in (*node_links, *word_links):
            ends = [
                AlignedNode(bank.id, _node_name(side, node), "nt" if node >= 0 else "t")
                for bank, side, node in zip(banks, both, link[:2], strict=True)
            ]
            links.append(TreeLink(ends[0], ends[1], link.kind, author, "", link.score))
    for side, where in zip(sides, (source, target), strict=True):
        write_tiger(side.values(), where)
    write_treealigner(
        TreeAlignment(banks, tuple(links), tuple(sentence_links), head=DEFAULT_HEAD), path, dialect=dialect
    )


def _node_name(sentence: ParsedSentence, node: NodeRef) -> str:
    tree = sentence.constituency
    assert tree is not None
    return tree.ids[node] if node >= 0 else tree.word_ids[~node]
