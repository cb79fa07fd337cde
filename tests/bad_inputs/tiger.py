"""Broken TIGER-XML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bad_inputs import BadInput
from treeglot.trees import ParsedSentence
from treeglot.trees.tiger import read_tiger

WORDS = '<t id="t1" word="a"/>\n<t id="t2" word="b"/>'
PHRASES = '<nt id="n1" cat="S">\n<edge idref="t1"/>\n<edge idref="t2"/></nt>'


def graph(words: str = WORDS, phrases: str = PHRASES, root: str = "n1", more: str = "") -> bytes:
    """``words`` begin in line 3, ``phrases`` (after two words) in line 6."""
    return (
        f'<corpus><body>\n<s id="s1"><graph root="{root}"><terminals>\n{words}\n</terminals>\n{phrases}\n'
        f"</graph></s>\n{more}</body></corpus>"
    ).encode()


def read(folder: Path) -> Iterator[ParsedSentence]:
    return read_tiger(folder / "a.xml")


def case(name: str, content: bytes, line: int, says: str) -> BadInput:
    return BadInput(f"tiger-{name}", {"a.xml": content}, read, line, says)


BOMB = b'<!DOCTYPE corpus [\n<!ENTITY a "aaaaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;&a;">\n]>\n<corpus>&b;</corpus>'
CYCLE = '<nt id="n1" cat="S">\n<edge idref="t1"/><edge idref="t2"/></nt>\n'
CYCLE += '<nt id="n2" cat="X"><edge idref="n3"/></nt>\n<nt id="n3" cat="X"><edge idref="n2"/></nt>'

CASES = [
    case("truncated", graph()[:90], 4, "ends too early"),
    case("entity-bomb", BOMB, 2, "the entity 'a' is declared"),
    case("external-entity", b'<!DOCTYPE corpus [<!ENTITY a SYSTEM "/etc/passwd">]><corpus>&a;</corpus>', 1, "is declared"),
    case("parameter-entity", b'<!DOCTYPE corpus [\n<!ENTITY % a SYSTEM "x">\n%a;]><corpus/>', 2, "parameter entity"),
    case("unknown-entity", graph('<t id="t1" word="a"/>\n<t id="t2" word="&ouml;"/>'), 4, "entity"),
    case("wrong-root-element", b'<?xml version="1.0"?>\n<tmx/>', 2, "<tmx>, not <corpus>"),
    case("not-xml", b"(S (N a))", 1, "not well-formed"),
    case("empty", b"", 1, "empty"),
    case("nul", graph('<t id="t1" word="a"/>\n<t id="t2" word="\0"/>'), 4, "NUL"),
    case("mixed-encodings", graph('<t id="t1" word="ö"/>\n<t id="t2" word="@"/>').replace(b"@", b"\xf6"), 4, "not utf-8"),
    case("duplicate-word-id", graph('<t id="t1" word="a"/>\n<t id="t1" word="b"/>'), 4, "a second node 't1'"),
    case("duplicate-phrase-id", graph(phrases='<nt id="t2" cat="S"><edge idref="t1"/></nt>'), 6, "a second node 't2'"),
    case("duplicate-sentence", graph(more='<s id="s1"><graph><t id="x" word="x"/></graph></s>'), 10, "a second sentence 's1'"),
    case("dangling-edge", graph(phrases='<nt id="n1" cat="S"><edge idref="t1"/>\n<edge idref="t9"/></nt>'), 7, "no node 't9'"),
    case("dangling-secedge", graph('<t id="t1" word="a">\n<secedge idref="q"/></t><t id="t2" word="b"/>'), 4, "no node 'q'"),
    case("edge-without-idref", graph(phrases='<nt id="n1" cat="S">\n<edge label="HD"/></nt>'), 7, "<edge> without idref"),
    case("cycle", graph(phrases=CYCLE), 8, "'n2' is in a cycle"),
    case("all-in-a-cycle", graph(phrases=PHRASES[:-5] + '<edge idref="n2"/></nt><nt id="n2" cat="X"><edge idref="n1"/></nt>'), 6, "cycle"),
    case("two-parents", graph(phrases=PHRASES + '\n<nt id="n2" cat="X"><edge idref="t1"/></nt>'), 9, "'t1' has two parents"),
    case("twice-in-one-phrase", graph(phrases='<nt id="n1" cat="S"><edge idref="t1"/>\n<edge idref="t1"/></nt>'), 7, "two parents"),
    case("phrase-without-child", graph(phrases=PHRASES + '\n<nt id="n2" cat="X"/>'), 9, "'n2' has no child"),
    case("word-missing", graph('<t id="t1" word="a"/>\n<t id="t2" pos="N"/>'), 4, "<t> without word"),
    case("id-missing", graph('<t id="t1" word="a"/>\n<t word="b"/>'), 4, "<t> without id"),
    case("cat-missing", graph(phrases=PHRASES.replace(' cat="S"', "")), 6, "<nt> without cat"),
    case("no-words", b'<corpus><body>\n<s id="s1"><graph/></s></body></corpus>', 2, "no terminals"),
    case("unknown-root", graph(root="n9"), 2, "no node 'n9'"),
    case("root-has-parent", graph(root="t1"), 2, "the root 't1' has a parent"),
    case("strange-element", graph(phrases=PHRASES + "\n<b/>"), 9, "<b> is not expected"),
    case("external-part", b'<corpus><body>\n<subcorpus name="x" external="file:x.xml"/></body></corpus>', 2, "<subcorpus>"),
    case("too-deep", b"<corpus>" + b"<subcorpus>" * 1000, 1, "deep"),
]  # fmt: skip
