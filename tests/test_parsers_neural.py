"""spaCy, benepar and Stanza: real runs where their models are installed, stand-ins of their objects where they are not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from treeglot.languages import NAMES
from treeglot.parsers import BackendUnavailable, benepar, failure, open_parser, stanza
from treeglot.parsers.registry import available
from treeglot.trees import Tokens
from treeglot.trees.penn import format_penn


def needs(name: str, lang: str) -> None:
    info = next(info for info in available(lang) if info.name == name)
    if lang not in info.languages():
        how = [info.how] if not info.installed else [model.how for model in info.models]
        pytest.skip(f"no {name} for {lang}: {' '.join(how)}")


def check(parsed: list[Any], lines: list[Any]) -> None:
    assert len(parsed) == len(lines)
    for line, sentence in zip(lines, parsed, strict=True):
        assert sentence.dependency is not None and sentence.dependency.heads.count(-1) == 1
        if isinstance(line, str) and line.strip() and not sentence.ranges:
            assert "".join(sentence.tokens.forms) == "".join(line.split())


def test_spacy_french() -> None:
    needs("spacy", "fr")
    lines = [
        "Le chat dort. Il rêve de l'oiseau.",
        "  ",
        "Deux   hommes\u00a0parlent",
        ["Un", "homme", "mange", "une pomme", "."],
    ]
    with open_parser("spacy", "fr", max_words=20) as parser:
        parsed = list(parser.parse(lines))
        [long] = parser.parse(["mot " * 30])
    check(parsed, lines)
    assert [failure(sentence) for sentence in parsed] == ["", "empty line", "", ""]
    assert failure(long) == "too long (30 words)"
    first = parsed[0]
    assert first.tokens.forms[:3] == ("Le", "chat", "dort") and first.tokens.upos[1] == "NOUN"
    assert first.tokens.lemmas[0] == "le" and "Number=Sing" in first.tokens.feats[0]
    assert parsed[3].dependency.deprels[1] == "nsubj" and parsed[3].dependency.heads[1] == 2
    assert parsed[3].tokens.forms == ("Un", "homme", "mange", "une pomme", ".") and set(parsed[3].tokens.misc) == {"_"}


def test_spacy_japanese() -> None:
    needs("spacy", "ja")
    lines = ["猫が魚を食べた。", "犬は寝ている。彼は本を読む。"]
    with open_parser("spacy", "ja") as parser:
        check(list(parser.parse(lines)), lines)


def test_spacy_roots_that_are_left_over_are_attached() -> None:
    spacy = pytest.importorskip("spacy", reason="pip install 'treeglot[spacy]'")
    from spacy.tokens import Doc

    from treeglot.parsers.spacy import SpacyParser

    parser = SpacyParser.__new__(SpacyParser)
    vocab = spacy.blank("fr").vocab
    doc = Doc(vocab, words=["a", " ", "b", "c", "d"], heads=[0, 0, 1, 3, 3], deps=["ROOT", "", "x", "ROOT", "y"])
    sentence = parser.read(doc, True)
    assert sentence.tokens.forms == ("a", "b", "c", "d"), "white space is no word"
    assert sentence.dependency is not None
    assert sentence.dependency.heads == (-1, 0, 0, 2) and sentence.dependency.deprels[2] == "parataxis"


def span(labels: tuple[str, ...], start: int, end: int, *children: Any) -> Any:
    class Span(SimpleNamespace):
        def __iter__(self) -> Any:
            return iter([SimpleNamespace(i=i) for i in range(start, end)])

    return Span(_=SimpleNamespace(labels=labels, children=children))


def test_benepar_spans_become_phrases() -> None:
    the_dog = span(("NP",), 0, 2, span((), 0, 1), span((), 1, 2))
    tree = benepar.phrases(
        span(("S",), 0, 4, the_dog, span((), 2, 3), span(("VP", "ADVP"), 3, 4)),
        {0: 0, 1: 1, 3: 2},  # token 2 is white space
        Tokens(["the", "dog", "sleeps"], xpos=["DT", "NN", "VBZ"]),
    )
    assert format_penn(tree) == "(S (NP (DT the) (NN dog)) (VP (ADVP (VBZ sleeps))))"
    bare = benepar.phrases(span((), 0, 1), {0: 0}, Tokens(["oh"], xpos=["UH"]))
    assert format_penn(bare) == "(X (UH oh))"


def test_benepar() -> None:
    needs("benepar", "en")
    with open_parser("benepar", "en") as parser:
        [sentence] = parser.parse(["The dog sleeps."])
    assert sentence.constituency is not None and "NP" in sentence.constituency.labels


def node(label: str, *children: Any) -> Any:
    return SimpleNamespace(label=label, children=children)


def word(number: int, text: str, head: int, deprel: str, **more: Any) -> Any:
    fields = {"lemma": None, "upos": "X", "xpos": None, "feats": None} | more
    return SimpleNamespace(id=number, text=text, head=head, deprel=deprel, **fields)


def test_stanza_sentences() -> None:
    words = [
        word(1, "va", 0, "root"),
        word(2, "à", 4, "case"),
        word(3, "le", 4, "det"),
        word(4, "roi", 1, "obl"),
        word(5, ".", 1, "punct"),
    ]
    tokens = [
        SimpleNamespace(text="va", words=words[:1], spaces_after=" "),
        SimpleNamespace(text="au", words=words[1:3], spaces_after=" "),
        SimpleNamespace(text="roi", words=words[3:4], spaces_after=""),
        SimpleNamespace(text=".", words=words[4:], spaces_after=""),
    ]
    leaves = [node("P", node(w.text)) for w in words]
    tree = node("ROOT", node("S", leaves[0], node("PP", leaves[1], node("NP", leaves[2], leaves[3])), leaves[4]))
    sentence = SimpleNamespace(words=words, tokens=tokens, constituency=tree)
    parsed = stanza.StanzaParser.read(stanza.StanzaParser.__new__(stanza.StanzaParser), sentence, "va au roi.")
    assert parsed.dependency is not None and parsed.dependency.heads == (-1, 3, 3, 0, 0)
    assert [(multiword.start, multiword.end, multiword.columns[1]) for multiword in parsed.ranges] == [(1, 3, "au")]
    assert parsed.tokens.misc == ("_", "_", "_", "SpaceAfter=No", "_")
    assert parsed.constituency is not None and parsed.constituency.labels == ("S", "PP", "NP")
    assert parsed.constituency.yields[1] == (1, 2, 3)
    with pytest.raises(ValueError, match="2 sentences"):
        stanza.only([sentence, sentence])


def test_stanza_models_are_found_by_their_folders(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
    assert stanza.processors_of("zh") == ()
    for name in ("tokenize", "pos", "depparse", "constituency", "ner"):
        folder = tmp_path / "zh-hans" / name
        folder.mkdir(parents=True)
        (folder / "model.pt").touch()
    assert stanza.processors_of("zh") == ("tokenize", "pos", "depparse", "constituency")


def test_stanza() -> None:
    needs("stanza", "en")
    lines = ["The dog sleeps. It dreams.", ["The", "dog", "sleeps"]]
    with open_parser("stanza", "en") as parser:
        check(list(parser.parse(lines)), lines)


@pytest.mark.parametrize(("name", "lang"), [("stanza", "tlh"), ("benepar", "tlh"), ("spacy", "tlh")])
def test_what_is_missing_says_how_to_get_it(name: str, lang: str) -> None:
    with pytest.raises(BackendUnavailable) as caught:
        open_parser(name, lang)
    assert caught.value.remedy


def test_auto_takes_the_best_that_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from treeglot.parsers import registry
    from treeglot.parsers.registry import BackendInfo, ModelInfo

    both, one = frozenset({"dependency", "constituency"}), frozenset({"dependency"})
    infos = {
        "stanza": BackendInfo("stanza", True, "1", (ModelInfo("fr", "m", one, True), ModelInfo("zh", "m", both, True))),
        "corenlp": BackendInfo(
            "corenlp", True, "4", (ModelInfo("fr", "m", both, True), ModelInfo("zh", "m", both, True))
        ),
        "benepar": BackendInfo("benepar", False, "", (ModelInfo("sv", "m", both, False, "get benepar"),), "pip"),
        "spacy": BackendInfo("spacy", True, "3", (ModelInfo("sv", "m", one, False, "get spacy"),)),
        "udpipe": BackendInfo("udpipe", True, "1", (ModelInfo("de", "m", one, True),)),
    }
    monkeypatch.setattr(registry, "_info", infos.__getitem__)
    assert [registry.best_backend(lang) for lang in ("fr", "zh", "de")] == ["corenlp", "stanza", "udpipe"]
    with pytest.raises(BackendUnavailable, match="Swedish") as caught:
        registry.best_backend("sv")
    assert "get benepar" in caught.value.remedy and "get spacy" in caught.value.remedy


def test_what_to_do_begins_with_the_shortest_way_and_leaves_no_step_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from treeglot.parsers import corenlp, registry

    hidden = ("stanza", "spacy", "benepar", "ufal", "ufal.udpipe")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in hidden else find_spec(name, *rest)
    )
    monkeypatch.setattr(corenlp, "is_installed", lambda *_: False)
    for lang in NAMES:
        with pytest.raises(BackendUnavailable) as caught:
            registry.best_backend(lang)
        ways = caught.value.remedy.split(" | ")
        for package in ("stanza", "benepar"):
            for way in ways:
                assert f"import {package}" not in way or way.startswith(f"pip install 'treeglot[{package}]', then ")
        if lang in ("fr", "ja"):
            assert ways[0] == f"pip install 'treeglot[{NAMES[lang].lower()}]'"
