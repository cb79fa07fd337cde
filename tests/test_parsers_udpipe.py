"""UDPipe with the models of TREEGLOT_DATA, and training one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from treeglot.errors import InputError, ParserError
from treeglot.parsers import BackendUnavailable, available, failure, open_parser, parse_file
from treeglot.parsers.udpipe_training import Settings, train
from treeglot.trees.conllu import read_conllu
from treeglot.trees.penn import read_penn

pytest.importorskip("ufal.udpipe", reason="pip install 'treeglot[udpipe]'")

Data = Callable[[str], Path]


def test_one_line_is_one_sentence_with_both_trees(data: Data, tmp_path: Path) -> None:
    lines = ["The dog barks. The cat sleeps! Why?", "", "It's the dog's house.", "♥", "word " * 40]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_parser("udpipe", "en", model=data("models/en_ewt.udpipe"), max_words=30) as parser:
        summary = parse_file(parser, tmp_path / "in.txt", conllu=tmp_path / "o.conllu", penn=tmp_path / "o.penn")
    parsed = list(read_conllu(tmp_path / "o.conllu"))
    assert len(parsed) == len(list(read_penn(tmp_path / "o.penn"))) == 5
    assert summary.failures == {"empty line": 1, "too long (40 words)": 1} and summary.converted == {"constituency": 3}
    assert "".join(parsed[0].tokens.forms) == "Thedogbarks.Thecatsleeps!Why?"
    assert parsed[0].dependency is not None and parsed[0].dependency.heads.count(-1) == 1
    assert parsed[0].tokens.misc[2] == "SpaceAfter=No"


def test_given_words_are_kept(data: Data) -> None:
    words = ["New York", "is", "big", ",", "isn't", "it", "?"]
    with open_parser("udpipe", "en", model=data("models/en_ewt.udpipe")) as parser:
        [sentence] = parser.parse([words])
    assert list(sentence.tokens.forms) == words and not failure(sentence)


def test_multiword_tokens_are_ranges(data: Data) -> None:
    with open_parser("udpipe", "fr", model=data("models/fr_sequoia.udpipe")) as parser:
        [sentence] = parser.parse(["Il parle au roi."])
    assert [multiword.columns[:2] for multiword in sentence.ranges] == [("3-4", "au")]
    assert sentence.tokens.forms == ("Il", "parle", "à", "le", "roi", ".")


def test_agreement_with_gold(data: Data) -> None:
    """UAS on PUD with given tokens, in the region that the models' description gives for their own test sets."""
    gold = []
    for sentence in read_conllu(data("trees/ud-pud/en_pud-ud-test.conllu")):
        gold.append(sentence)
        if len(gold) == 60:
            break
    with open_parser("udpipe", "en", model=data("models/en_ewt.udpipe")) as parser:
        parsed = list(parser.parse([sentence.tokens.forms for sentence in gold]))
    pairs = [
        (a, b)
        for one, other in zip(gold, parsed, strict=True)
        if one.dependency is not None and other.dependency is not None
        for a, b in zip(one.dependency.heads, other.dependency.heads, strict=True)
    ]
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.75


def test_models_are_found_by_language(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path))
    monkeypatch.setenv("TREEGLOT_MODELS", str(data("models")))
    assert next(info for info in available() if info.name == "udpipe").languages() == ("de", "en", "fr")
    with open_parser("udpipe", "German") as parser:
        assert "de_mix.udpipe" in parser.description and parser.languages() == ("de",)
    (tmp_path / "udpipe").mkdir()
    (tmp_path / "udpipe" / "swedish-lines-ud-2.5.udpipe").touch()
    assert "sv" in next(info for info in available() if info.name == "udpipe").languages()


def test_bad_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEGLOT_CACHE", str(tmp_path))
    monkeypatch.delenv("TREEGLOT_MODELS", raising=False)
    (tmp_path / "bad.udpipe").write_bytes(b"not a model")
    for model, says in (
        (tmp_path / "bad.udpipe", "damaged"),
        (tmp_path / "none.udpipe", "no such model"),
        (None, "no UDPipe model"),
    ):
        with pytest.raises(BackendUnavailable, match=says) as caught:
            open_parser("udpipe", "en", model=model)
        assert caught.value.remedy


def tiny_treebank(path: Path) -> Path:
    """Sentences of one shape, which any parser must learn."""
    nouns, verbs = ["dog", "cat", "cow", "pig", "hen"], ["sees", "eats", "hears", "finds"]
    with path.open("w", encoding="utf-8") as stream:
        for a in nouns:
            for verb in verbs:
                for b in nouns:
                    words = [("the", "DET", 2, "det"), (a, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
                    words += [("the", "DET", 5, "det"), (b, "NOUN", 3, "obj"), (".", "PUNCT", 3, "punct")]
                    for j, (form, upos, head, label) in enumerate(words, 1):
                        misc = "SpaceAfter=No" if j == 5 else "_"
                        stream.write(f"{j}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{label}\t_\t{misc}\n")
                    stream.write("\n")
    return path


def test_training(tmp_path: Path) -> None:
    treebank = tiny_treebank(tmp_path / "t.conllu")
    settings = Settings(
        tokenizer=None, tagger="iterations=2;guesser_suffix_rules=2", parser="iterations=2;hidden_layer=16"
    )
    summary = train([treebank], tmp_path / "en_tiny.udpipe", heldout=treebank, settings=settings)
    assert (summary.sentences, summary.words, summary.heldout) == (100, 600, 100)
    assert any("UAS" in line for line in summary.scores)
    with open_parser("udpipe", "en", model=tmp_path / "en_tiny.udpipe") as parser:
        assert not parser.tokenizes
        [sentence] = parser.parse(["the dog sees the hen ."])
    assert sentence.tokens.upos == ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT")
    assert sentence.dependency is not None and sentence.dependency.heads == (1, 2, -1, 4, 2, 2)


def test_training_refuses_a_broken_treebank_before_it_starts(tmp_path: Path) -> None:
    treebank = tmp_path / "t.conllu"
    treebank.write_text("1\ta\ta\tX\t_\t_\t2\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t1\tdep\t_\t_\n\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        train([treebank], tmp_path / "out.udpipe")
    assert caught.value.path == str(treebank) and caught.value.line
    treebank.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="no sentences"):
        train([treebank], tmp_path / "out.udpipe")
    with pytest.raises(ParserError, match="nothing to train"):
        train([treebank], tmp_path / "out.udpipe", settings=Settings(None, None, None))
    with pytest.raises(ParserError, match="could not train"):
        train([tiny_treebank(treebank)], tmp_path / "out.udpipe", settings=Settings(None, None, "iterations=x"))
    assert not (tmp_path / "out.udpipe").exists()
