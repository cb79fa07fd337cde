"""Hypothesis strategies for sentences and pairs with everything they can hold, and for damaged files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from treeglot import TreeglotError
from treeglot.trees import (
    AlignedPair,
    ConstituencyTree,
    DependencyTree,
    EmptyNode,
    Link,
    MultiwordRange,
    ParsedSentence,
    SecondaryEdge,
    Token,
    Tokens,
)

# Characters that formats escape or trip over: brackets, quotes, markup, spaces of all kinds, right-to-left, astral.
TEXT = st.text(alphabet="abZ019éß中文א𝄞()[]{}<>&\"'\\/*-=|_#:;.,%$ \u00a0\u3000", min_size=1, max_size=8)
WORD = TEXT.map(lambda text: text.replace(" ", "")).filter(bool)
HARD_WORD = st.one_of(
    WORD, st.sampled_from(["-LRB-", "\\-LRB-", "(", ")", "\\/", "\\\\/", "*T*-1", "a-RRB-b", "-SPC-", "NULL", "})"])
)
LABEL = st.sampled_from(["S", "NP", "VP", "PP", "P+D", "$(", "--", "-LRB-", "A*B"])
FUNCTION = st.sampled_from(["", "SBJ", "OBJ-1", "=2", "--", "A.B/C"])


@st.composite
def phrases(draw: st.DrawFn, tokens: Tokens, *, continuous: bool = False, ids: bool = False) -> ConstituencyTree:
    """A random tree over ``tokens``: phrases are put over random nodes until one node is left."""
    size = len(tokens)
    nodes = [~j for j in range(size)]
    labels: list[str] = []
    children: list[list[int]] = []
    unary = draw(st.integers(0, 2))
    while len(nodes) > 1 or unary > 0:
        if len(nodes) > 1:
            if continuous:
                low = draw(st.integers(0, len(nodes) - 1))
                high = draw(st.integers(low + 1, len(nodes)))
                chosen = nodes[low:high]
            else:
                chosen = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3, unique=True))
                low = 0
            if len(chosen) == 1 and len(labels) > 2 * size:
                chosen, low = list(nodes), 0
        else:
            unary -= 1
            chosen, low = list(nodes), 0
        number = len(labels)
        labels.append(draw(LABEL))
        children.append(chosen)
        nodes = [node for node in nodes if node not in chosen]
        nodes.insert(low if continuous else len(nodes), number)
    functions = [draw(FUNCTION) for _ in labels]
    word_functions = [draw(FUNCTION) for _ in range(size)]
    if not ids:
        return ConstituencyTree(tokens, labels, children, functions, word_functions)
    prefix = draw(st.sampled_from(["s1_", "x", "é<&>"]))
    names = [f"{prefix}{k}" for k in range(len(labels) + size)]
    refs = st.integers(-size, len(labels) - 1)
    edges = (
        draw(st.lists(st.builds(SecondaryEdge, refs, refs, st.sampled_from(["SB", "OA"])), max_size=2))
        if labels
        else []
    )
    tree = ConstituencyTree(tokens, labels, children, functions, word_functions, names[size:], names[:size], edges)
    order = sorted(tree.secondary, key=lambda edge: edge.node if edge.node >= 0 else -size + ~edge.node)
    return replace(tree, secondary=tuple(order))


@st.composite
def token_lists(draw: st.DrawFn, word: st.SearchStrategy[str] = HARD_WORD, *, rich: bool = True) -> Tokens:
    size = draw(st.integers(1, 6))
    if not rich:
        return Tokens(
            [draw(word) for _ in range(size)], xpos=[draw(st.sampled_from(["N", "V", "_", "$("])) for _ in range(size)]
        )
    value = st.one_of(st.just("_"), WORD)
    misc = st.one_of(
        value, st.sampled_from(["SpaceAfter=No", "a=1|b=2\\p3", "a=1|a=2", "word=x", "q=|r=é&", "=", "1a=b"])
    )
    return Tokens.of(
        Token(draw(word), draw(value), draw(value), draw(value), draw(value), draw(value), draw(misc))
        for _ in range(size)
    )


@st.composite
def sentences(draw: st.DrawFn) -> ParsedSentence:
    """Sentences with any of the two trees, ranges, empty nodes, comments and notes."""
    tokens = draw(token_lists(TEXT))
    size = len(tokens)
    dependency = constituency = None
    if draw(st.booleans()):
        order = draw(st.permutations(range(size)))
        heads = [-1] * size
        for k in range(1, size):
            heads[order[k]] = order[draw(st.integers(0, k - 1))]
        own = draw(st.sampled_from([tokens, Tokens(tokens.forms)]))
        true_heads = heads if draw(st.booleans()) else None
        dependency = DependencyTree(
            own, heads, [draw(WORD) for _ in heads] if draw(st.booleans()) else None, true_heads
        )
    if draw(st.booleans()):
        constituency = draw(phrases(tokens, ids=draw(st.booleans())))
    columns = st.tuples(*[WORD] * 10)
    return ParsedSentence(
        tokens,
        dependency,
        constituency,
        draw(st.sampled_from(["", "s1", "id é"])),
        tuple(draw(st.lists(TEXT, max_size=2))),
        tuple(draw(st.lists(st.builds(MultiwordRange, st.just(0), st.just(size), columns), max_size=1))),
        tuple(draw(st.lists(st.builds(EmptyNode, st.integers(0, size), columns), max_size=1))),
        tuple(draw(st.lists(st.tuples(WORD, TEXT), max_size=2))),
    )


@st.composite
def links(draw: st.DrawFn, source: range, target: range) -> list[Link]:
    ends = st.tuples(st.integers(source.start, source.stop - 1), st.integers(target.start, target.stop - 1))
    chosen = draw(st.lists(ends, max_size=5, unique=True))
    kinds = st.sampled_from(["good", "fuzzy"])
    return [Link(a, b, draw(kinds), draw(st.one_of(st.none(), st.floats(0, 1)))) for a, b in chosen]  # type: ignore[arg-type]


@st.composite
def pairs(draw: st.DrawFn, side: st.SearchStrategy[ParsedSentence]) -> AlignedPair:
    source, target = draw(side), draw(side)

    def nodes(sentence: ParsedSentence) -> range:
        return range(-len(sentence), len(sentence.constituency) if sentence.constituency is not None else 0)

    # Links between two words are word links, so that formats which tell them apart by their ends agree.
    node_links = [link for link in draw(links(nodes(source), nodes(target))) if link.source >= 0 or link.target >= 0]
    word_links = draw(links(range(len(source)), range(len(target))))
    return AlignedPair(source, target, word_links, node_links, draw(st.sampled_from(["", "p1"])))


@st.composite
def damaged(draw: st.DrawFn, sample: bytes) -> bytes:
    """``sample`` with a few bytes changed, dropped or repeated, or cut off."""
    content = bytearray(sample)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        what = draw(st.integers(0, 4))
        if what == 0:
            content[at : at + 1] = draw(st.binary(min_size=1, max_size=2))
        elif what == 1:
            del content[at : at + draw(st.integers(1, 20))]
        elif what == 2:
            content[at:at] = content[at : at + draw(st.integers(1, 40))]
        elif what == 3:
            content[at:at] = draw(
                st.sampled_from([b"(", b")", b"<", b">", b"&x;", b'"', b"-1", b" ", b"\n", b"{", b"\0", b"9999"])
            )
        else:
            del content[at:]
    return bytes(content)


def survives(read: Any, path: Path, content: bytes) -> None:
    """``read(path)`` may only succeed or raise a `TreeglotError` with a remedy."""
    path.write_bytes(content)
    try:
        result = read(path)
        if hasattr(result, "__iter__"):
            for _ in result:
                pass
    except TreeglotError as error:
        assert error.remedy and error.path
