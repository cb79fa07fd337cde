"""Categories of tag and relation: rules, decoding against exhaustive search, and the relations on their way through a corpus file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_runner import Run
from effort import worlds
from exhaustive_decoder import HEADED, Exhaustive
from random_worlds import World, random_sentence
from treeglot import InputError
from treeglot.examples.worked import worked_example
from treeglot.grammars import augmented, consdep2str, dep2str
from treeglot.grammars.rules import extract_words
from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import write_conllu
from treeglot.trees.corpus import (
    Parses,
    SideFiles,
    iterate_parsed_bitext,
    parsed_bitext,
    parsed_corpus,
    read_parsed_bitext,
    read_parsed_corpus,
)
from treeglot.trees.penn import format_penn
from treeglot.trees.stored import open_corpus, stored_sentence, write_corpus
from treeglot.trees.treejson import write_jsonl

RELATED: dict[str, bool | int | str] = {"category": "tag+relation"}


@pytest.mark.parametrize("choice", ["none", "both"])
@pytest.mark.parametrize("grammar", HEADED)
def test_equals_exhaustive_search(grammar: str, choice: str, tmp_path: Path) -> None:
    """The distinct translations of new sentences; a decoder without the option has others."""
    differ = used = 0
    for seed in range(worlds(12)):
        (tmp_path / str(seed)).mkdir()
        options = RELATED | {"decompose": choice, "phrasal_recursion": True}
        world = World(seed, tmp_path / str(seed), grammar, size=12, extraction=options)
        sentences = [random_sentence(world.rng, size) for size in (1, 2, 3, 4, 4)]
        sentences = [*sentences, *(sentence for sentence in world.sentences if len(sentence) <= 4)][:9]
        lists, plain = (
            world.decoder(grammars={"label_sets": 10000, **given}).translate(
                parsed_corpus(sentences), nbest=50, distinct=True, threads=1
            )
            for given in (options, options | {"category": "tag"})
        )
        for sentence, result, other in zip(sentences, lists, plain, strict=True):
            exhaustive = Exhaustive(world, sentence, (), options)
            totals = exhaustive.totals()
            ranked = sorted(totals.values(), reverse=True)[:50]
            assert [translation.score for translation in result.kbest] == pytest.approx(ranked, abs=2e-3), sentence
            for translation in result.kbest:
                assert totals[tuple(translation.text.split())] == pytest.approx(translation.score, abs=2e-3)
            used += any("/" in edge.source for edges in exhaustive.edges.values() for edge in edges)
            differ += [t.score for t in result.kbest] != [t.score for t in other.kbest]
    assert used >= 4 * worlds(12) and differ > worlds(12)


def test_rules_of_the_worked_example() -> None:
    """Heads, leaves, internal dependents and heads of runs have their relation; phrasal nodes are shown by tags."""
    pair = worked_example()
    assert pair.source.dependency is not None
    names = dict(zip(pair.source.tokens.forms, pair.source.dependency.deprels, strict=True))
    assert names["推出"] == "root" and len(set(names.values())) > 3
    related = {str(rule) for rule in dep2str.extract(pair, category="tag+relation")}
    nr, ad, nn = names["英特尔"], names["将"], names["本"]
    assert f"x1:NR/{nr} x2:AD/{ad} ^x3:VV/root x4:NN/{nn}* ||| x1 x2 x3 x4 ||| 1" in related
    assert "英特尔 将 ^推出 x1:本* ||| Intel will launch x1 ||| 1" in related
    for grammar in (dep2str, augmented, consdep2str):
        plain, rules = (
            [str(r) for r in grammar.extract(pair, decompose="both", category=c)] for c in ("tag", "tag+relation")
        )
        both = [(rule.source, rule.target, rule.count) for rule in grammar.extract(pair, decompose="both", **RELATED)]
        shown = {name: f"/{relation}" for name, relation in names.items()}
        assert len(plain) == len(rules) == len(both)
        # Without the relations they are the rules of tags.
        bare = []
        for source, target, count in both:
            for relation in sorted(set(shown.values()), key=len, reverse=True):
                source = source.replace(relation, "")
            bare.append((source, target, count))
        assert sorted(bare) == sorted((r.source, r.target, r.count) for r in grammar.extract(pair, decompose="both"))
    rules = {rule.source for rule in consdep2str.extract(pair, decompose="both", category="tag+relation")}
    assert f"x1:NR/{nr} ^x2:VP[AD_VV_NN]" in rules and f"x1:AD/{ad} ^x2:VV/root+" in rules


def test_trees_without_relations() -> None:
    """All have the same relation, so the rules are those of tags, one to one."""
    pair = worked_example()
    assert pair.source.dependency is not None
    bare = ParsedSentence.of(DependencyTree(pair.source.tokens, pair.source.dependency.heads), pair.source.constituency)
    links = [(link.source, link.target) for link in pair.word_links]
    plain, related = (
        extract_words("dep2str", bare, pair.target.tokens.forms, links, category=category)
        for category in ("tag", "tag+relation")
    )
    assert sorted((r.source.replace("/_", ""), r.target, r.count) for r in related) == sorted(
        (r.source, r.target, r.count) for r in plain
    )
    assert any("/_" in rule.source for rule in related)


# The way of the relations

TOKENS = Tokens(["what", "did", "he", "say", "?"], xpos=["WP", "VBD", "PRP", "VB", "."])
CROSSED = DependencyTree(TOKENS, [3, -1, 1, 1, 0], ["obj", "root", "nsubj:x", "a b", "punct/2"])
PHRASES = ConstituencyTree.build(TOKENS, ("S", ("WHNP", 0), 1, ("NP", 2), ("VP", 3), 4))
BARE = DependencyTree(TOKENS, [1, -1, 1, 1, 1])
RELATIONS = ("obj", "root", "nsubj:x", "a b", "punct/2")


def relations(side: object, n: int) -> tuple[str, ...]:
    return side.sentence(n)[4]  # type: ignore[attr-defined, no-any-return]


def test_relations_stay(tmp_path: Path) -> None:
    """Lifted arcs keep theirs, through files of every kind, binarisation, further trees, selection and the stored corpus."""
    sentences = [
        ParsedSentence.of(CROSSED, PHRASES),
        ParsedSentence.of(BARE, PHRASES),
        ParsedSentence.of(None, PHRASES),
    ]
    assert not CROSSED.is_projective
    write_jsonl(sentences, tmp_path / "s.jsonl")
    underlined = ParsedSentence.of(
        DependencyTree(TOKENS, CROSSED.heads, [name.replace(" ", "_") for name in RELATIONS])
    )
    write_conllu([underlined, ParsedSentence.of(BARE), ParsedSentence(TOKENS)], tmp_path / "s.conllu")
    (tmp_path / "s.penn").write_text(f"{format_penn(PHRASES)}\n" * 3, encoding="utf-8")
    (tmp_path / "t").write_text("u v\n" * 3)
    target = SideFiles(text=tmp_path / "t")
    expected = [RELATIONS, ("_",) * 5, ()]
    spaced = [tuple(name.replace(" ", "_") for name in names) for names in expected]
    for direction in ("none", "left", "head"):
        assert [
            relations(parsed_corpus(sentences, binarize=direction).columns, n)  # type: ignore[arg-type]
            for n in range(3)
        ] == expected
        for files, given in (
            (SideFiles(jsonl=tmp_path / "s.jsonl"), expected),
            (SideFiles(tmp_path / "s.conllu", tmp_path / "s.penn"), spaced),
        ):
            read = read_parsed_corpus(files.conllu, files.penn, jsonl=files.jsonl, binarize=direction)  # type: ignore[arg-type]
            assert [relations(read.columns, n) for n in range(3)] == given and read.lifted > 0
            more = files._replace(parses=(Parses(tmp_path / "s.conllu", 0.5),))
            bitext = read_parsed_bitext(more, target, head_words=True, binarize=direction)  # type: ignore[arg-type]
            assert len(bitext.columns.source.parses(0)) == 2
            write_corpus(bitext, tmp_path / "x.tgpc")
            stored = open_corpus(tmp_path / "x.tgpc").columns
            assert all(relations(stored.target, n) == () for n in range(3))
            for columns in (bitext.columns, stored):
                assert [relations(columns.source, n) for n in range(3)] == given
                assert [relations(columns.select([2, 0]).source, n) for n in range(2)] == [given[2], given[0]]
            blocks = iterate_parsed_bitext(more, target, block=1)
            assert [relations(b.columns.source, n) for b in blocks for n in range(len(b))] == given
            again = stored_sentence(stored.source, 0).dependency
            assert again is not None and again.deprels == given[0]


def test_as_many_relations_as_heads() -> None:
    corpus = parsed_corpus([]).columns
    with pytest.raises(ValueError, match="not as many relations as heads"):
        corpus.add(["a", "b"], [], [1, -1], [], ["obj"])  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="not as many relations as heads"):
        corpus.add(["a"], [], [], [], ["obj"])  # type: ignore[attr-defined]
    assert len(corpus) == 0


def test_an_earlier_corpus_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tgpc"
    write_corpus(parsed_bitext([(ParsedSentence.of(CROSSED), ["u"], [])]), path)
    content = bytearray(path.read_bytes())
    assert content[8] == 4
    content[8] = 3
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="version") as caught:
        open_corpus(path)
    assert "make it again" in str(caught.value.remedy)


def test_commands(run: Run, tmp_path: Path) -> None:
    """Extraction, a table, its text and searches in it."""
    pair = worked_example()
    write_conllu([ParsedSentence.of(pair.source.dependency)], tmp_path / "s.conllu")
    (tmp_path / "t").write_text(" ".join(pair.target.tokens.forms) + "\n", encoding="utf-8")
    (tmp_path / "a").write_text(" ".join(f"{link.source}-{link.target}" for link in pair.word_links) + "\n")
    inputs = ["--source-conllu", tmp_path / "s.conllu", "--target", tmp_path / "t", "--align", tmp_path / "a"]
    extracted = run("rules", "extract", "dep2str", "--category", "tag+relation", *inputs)
    assert extracted.code == 0, extracted.err
    wanted = {str(rule) for rule in dep2str.extract(pair, category="tag+relation")}
    assert set(extracted.out.split("\n")) - {""} == wanted
    table = tmp_path / "x.tgrt"
    built = run("-q", "rules", "build", "--grammar", "dep2str", "--category", "tag+relation", *inputs, "--out", table)
    assert built.code == 0, built.err
    (full,) = (rule for rule in wanted if "^x3:VV/root x4:NN/" in rule)
    source, target, _ = full.split(" ||| ")
    shown = run("rules", "show", table, source)
    assert shown.code == 0 and target in shown.out, shown.err
    entry = json.loads(run("rules", "show", table, source, "--json").out)
    assert (entry["source"], entry["target"]) == (source, target)
    lines = run("rules", "search", table, "x?:NN/*", "--limit", "0", "--json").out.splitlines()
    sources = {line.split(" |||")[0] for line in wanted}
    assert {json.loads(line)["source"] for line in lines} == {source for source in sources if ":NN/" in source}
    wrong = run("rules", "extract", "dep2str", "--category", "relation", *inputs)
    assert wrong.code != 0 and "tag+relation" in wrong.err
