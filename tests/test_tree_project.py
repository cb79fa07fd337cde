"""Projects whose systems are learnt from trees: given or parsed trees, shared tables, tuning, translation, interruption."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_runner import Run
from effort import worlds
from treeglot import ConfigError, InputError
from treeglot.examples import Sizes, worked_example, write_example
from treeglot.grammars import registry
from treeglot.parsers.base import BOTH
from treeglot.parsers.complete import complete
from treeglot.pipeline.config import parse_config
from treeglot.pipeline.decoding import as_corpus, phrasal_uses, read_part
from treeglot.pipeline.parsing import text_words, tree_files
from treeglot.pipeline.parts import TreeSide
from treeglot.pipeline.project import Project
from treeglot.pipeline.systems import preset, presets
from treeglot.pipeline.translation import Translated, Translator
from treeglot.search.display import list_steps
from treeglot.search.display.fragments import tree_pair
from treeglot.tables import PhraseTable, RuleTable
from treeglot.trees import ConstituencyTree, DependencyTree, ParsedSentence, Tokens
from treeglot.trees.conllu import read_conllu, write_conllu
from treeglot.trees.corpus import SideFiles, parsed_corpus, read_trees
from treeglot.trees.penn import parse_penn, read_penn, write_penn
from treeglot.trees.projectivity import projectivize
from treeglot.trees.stored import open_corpus, stored_sentence
from treeglot.trees.treejson import write_jsonl

CONFIG = """\
[languages]
source = "zh"
target = "en"
{data}
[text]
casing = "lower"
tokenizer = "space"
[lm]
order = 3
[tuning]
iterations = 2
nbest = 20
[limits]
threads = 1
{more}
"""
PARTS = ("train", "dev", "test")


def data_section(keys: tuple[str, ...] = ("conllu", "penn"), parts: tuple[str, ...] = PARTS) -> str:
    rows = []
    for part in parts:
        rows += [f"[data.{part}]", *(f'{key} = "raw/{part}.zh{"" if key == "source" else "." + key}"' for key in keys)]
        rows.append(f'target = "raw/{part}.en"')
    return "\n".join(rows)


def make_project(folder: Path, raw: Path, *, data: str = "", more: str = "") -> Path:
    folder.mkdir()
    (folder / "raw").symlink_to(raw)
    text = CONFIG.format(data=data or data_section(), more=more)
    (folder / "treeglot.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write_example(folder, sizes=Sizes(300, 20, 20, 0))
    return folder


@pytest.fixture(scope="module")
def tuned(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with given trees whose consdep2str system was tuned without interruption."""
    folder = make_project(tmp_path_factory.mktemp("project") / "whole", raw)
    command = [sys.executable, "-m", "treeglot", "-q", "tune", str(folder), "--system", "consdep2str"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


# Configuration

HEAD = '[languages]\nsource = "zh"\ntarget = "en"\n'
TRAIN = '[data.train]\nsource = "a"\ntarget = "b"\n'


def test_presets_and_sections() -> None:
    config = parse_config(
        f'{HEAD}{TRAIN}[tuning]\nnbest = 50\n[systems.mine]\ngrammars = ["hierarchical", "dep2str"]\nstack_limit = 50\n'
        "[systems.mine.tuning]\niterations = 3\n[systems.augmented]\nspan_mode = 'xie'\n"
    )
    mine = config.system("mine")
    assert mine and mine.grammars == ("hierarchical", "dep2str") and mine.stack_limit == 50
    assert mine.tuning == {"method": "expected", "metric": "bleu", "iterations": 3, "nbest": 50}
    augmented = config.system("augmented")
    assert augmented and augmented.grammars == ("augmented",) and augmented.stack_limit == 200
    assert [table.name for table in augmented.tables] == ["augmented.xie"]
    assert config.system("nothing") is None
    for name in presets():
        spec = config.system(name)
        assert spec and (spec.is_phrase_based == (spec.grammars == ("phrases",))), name
    assert preset("best").options["free_phrases"] and not preset("consdep2str").options["free_phrases"]
    assert not preset("hierarchical").needs and not preset("hierarchical").uses_phrases


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[systems.mine]\nstack_limit = 3", "systems.mine has no grammars"),
        ('[systems.mine]\ngrammars = ["dep2str", "dep2str"]', "named twice"),
        ('[systems.mine]\ngrammars = ["dep2st"]', "'dep2str'"),
        ('[systems.mine]\ngrammars = ["dep2str"]\nspan_mode = "ghk"', "span_mode"),
        ('[systems.mine]\ngrammars = ["dep2str"]\nstacklimit = 3', "unknown key 'systems.mine.stacklimit'"),
        (
            '[systems.mine]\ngrammars = ["dep2str"]\n[systems.mine.tuning]\niteration = 3',
            "systems.mine.tuning.iteration",
        ),
        ('[systems."../x"]\ngrammars = ["dep2str"]', "a name has letters"),
        ('[data.tests.dev]\nsource = "a"\ntarget = "b"', "name of another part"),
        ('[data.tests.x]\njsonl = "a"\npenn = "b"\ntarget = "c"', "JSON lines of a side, or"),
        ('[data.tests.more]\nsorce = "a"\ntarget = "b"', "unknown key 'data.tests.more.sorce'"),
        ('[data.dev]\nconllu = "a"', "give either source and target, or file"),
        ('[data.dev]\nfile = "a.tmx"\ntarget = "b"', "give either source and target, or file"),
    ],
)
def test_wrong_configurations(more: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(f"{HEAD}{TRAIN}{more}\n", path="treeglot.toml")
    assert says in str(caught.value) and caught.value.remedy


def test_trees_are_used_where_something_needs_them() -> None:
    assert not parse_config(f"{HEAD}{TRAIN}[parsers.source]\nbackend = 'spacy'").uses_trees
    assert not parse_config(f"{HEAD}{TRAIN}[systems.hierarchical]").uses_trees
    assert parse_config(f"{HEAD}{TRAIN}[systems.dep2str]").uses_trees
    assert parse_config(f'{HEAD}[data.train]\nconllu = "a"\ntarget = "b"').uses_trees


# Trees and text


def parallel(project: Project, part: str) -> None:
    """The prepared files of a part belong together, line for line."""
    source, target = (path.read_text(encoding="utf-8").splitlines() for path in project.corpus(part))
    pairs = open_corpus(project.parsed_corpus(part)).columns
    assert len(source) == len(target) == len(pairs) > 0
    assert [" ".join(pairs.source.words(n)) for n in range(len(pairs))] == source
    assert [" ".join(pairs.target.words(n)) for n in range(len(pairs))] == target
    assert pairs.source.first_without(True) is None and pairs.source.first_without(False) is None


def test_cleaning_drops_trees_and_text_alike(raw: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw, more="[cleaning]\nmax_length = 12\nmax_dropped = 1.0\nduplicates = true")
    lines = (raw / "train.en").read_text(encoding="utf-8").splitlines()
    lines[4] = ""
    lines[7] = "word " * 30
    (folder / "raw").unlink()
    (folder / "raw").mkdir()
    for path in raw.iterdir():
        (folder / "raw" / path.name).symlink_to(path)
    (folder / "raw/train.en").unlink()
    (folder / "raw/train.en").write_text("\n".join(lines) + "\n", encoding="utf-8")
    project = Project(folder)
    stages = {stage.name: stage for stage in project.training_stages()}
    project.runner.run(stages["corpus-train"])
    parallel(project, "train")
    pairs = open_corpus(project.parsed_corpus("train")).columns
    kept = [pairs.origin(n) for n in range(len(pairs))]
    assert 5 not in kept and 8 not in kept and len(kept) < 300
    given = list(read_trees(raw / "train.zh.conllu", raw / "train.zh.penn"))
    for n, number in enumerate(kept):
        words, tags, heads, phrases, relations = pairs.source.sentence(n)
        dependency, constituency = given[number - 1].dependency, given[number - 1].constituency
        assert words == given[number - 1].tokens.forms and len(words) <= 12 and tags == given[number - 1].tokens.tags
        assert dependency and heads == projectivize(dependency).heads and relations == dependency.deprels
        assert constituency and tuple(phrase[0] for phrase in phrases) == constituency.labels
    assert "one side is empty" in (folder / "corpus/train.report.txt").read_text(encoding="utf-8")


AWKWARD = (
    "1\u00a0000",
    "soft\u00adhyphen",
    "|||",
    "(",
    "-LRB-",
    "a/b",
    "X",
    "\u3000",
    "ſtraße",
    "|",
    "x1:NN",
    "^",
    "[",
)


def test_awkward_words_in_trees(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    tokens = Tokens(AWKWARD, xpos=["NN"] * len(AWKWARD))
    heads = [-1] + [0] * (len(AWKWARD) - 1)
    tree = ConstituencyTree.build(tokens, ("S", *range(len(AWKWARD))))
    sentence = ParsedSentence.of(DependencyTree(tokens, heads), tree)
    write_conllu([sentence] * 4, raw / "train.zh.conllu")
    write_penn([sentence] * 4, raw / "train.zh.penn")
    (raw / "train.en").write_text("A thousand ||| bars\n" * 4, encoding="utf-8")
    folder = make_project(tmp_path / "p", raw, data=data_section(parts=("train",)))
    project = Project(folder)
    for stage in project.training_stages(["consdep2str"]):
        project.runner.run(stage)
    parallel(project, "train")
    words = (folder / "corpus/train.zh").read_text(encoding="utf-8").splitlines()[0].split(" ")
    assert words == [word.lower() for word in text_words(AWKWARD)] and words[0] == "1_000" and words[2] == "|||"
    assert len(words) == len(AWKWARD)
    with Translator(project, "consdep2str") as translator:
        [translated] = translator.sentences([sentence])
    assert translated.result is not None and translated.result.text


def test_a_missing_tree_is_converted(raw: Path, tmp_path: Path) -> None:
    for key, kind, other in (("conllu", "constituency", "dependencies"), ("penn", "dependency", "constituents")):
        folder = make_project(tmp_path / key, raw, data=data_section((key,)))
        project = Project(folder)
        stages = {stage.name: stage for stage in project.training_stages()}
        project.runner.run(stages["corpus-dev"])
        parallel(project, "dev")
        report = (folder / "corpus/dev.trees.txt").read_text(encoding="utf-8")
        assert f"{kind} trees converted from {other}: 20" in report


def test_truecased_trees(raw: Path, tmp_path: Path) -> None:
    """English as source: the words of the trees get the case of the text."""
    folder = tmp_path / "p"
    folder.mkdir()
    data = "\n".join(
        f'[data.{part}]\nconllu = "{raw}/{part}.en.conllu"\npenn = "{raw}/{part}.en.penn"\ntarget = "{raw}/{part}.zh"'
        for part in PARTS
    )
    text = CONFIG.format(data=data, more="").replace('casing = "lower"', 'casing = "true"')
    text = text.replace('source = "zh"\ntarget = "en"', 'source = "en"\ntarget = "zh"')
    (folder / "treeglot.toml").write_text(text, encoding="utf-8")
    project = Project(folder)
    for stage in project.training_stages():
        if stage.name.startswith(("truecase", "corpus")):
            project.runner.run(stage)
    parallel(project, "train")
    first = [line.split()[0] for line in (folder / "corpus/train.en").read_text(encoding="utf-8").splitlines()]
    written = [sentence.tokens.forms[0] for sentence in read_conllu(raw / "train.en.conllu")]
    assert sum(word.islower() for word in first) > sum(word.islower() for word in written)


def test_parsed_by_the_project(run: Run, raw: Path, tmp_path: Path) -> None:
    """No trees are given: the project's parser makes them, once, and goes on after an interruption."""
    more = '[parsers.source]\nbackend = "parsers_fake:chain"\n[systems.dep2str]\n'
    folder = make_project(tmp_path / "p", raw, data=data_section(("source",)), more=more)
    project = Project(folder)
    names = [stage.name for stage in project.training_stages()]
    assert names[:3] == ["parse-train", "parse-dev", "parse-test"] and names[-1] == "rules-dep2str.both"
    for stage in project.training_stages()[:6]:
        project.runner.run(stage)
    parallel(project, "train")
    assert open_corpus(project.parsed_corpus("train")).columns.source.sentence(0)[2][:3] == (-1, 0, 1)
    report = (folder / "corpus/train.trees.txt").read_text(encoding="utf-8")
    assert "parsed by parsers_fake:chain" in report and "constituency trees converted" in report
    assert all(result.skipped for result in map(project.runner.run, project.training_stages()[:6]))
    assert json.loads((folder / "trees/train.zh.report.json").read_text(encoding="utf-8"))["sentences"] == 300
    result = run("-q", "train", folder)
    assert result.code == 0, result.err
    lines = [*(raw / "test.zh").read_text(encoding="utf-8").splitlines()[:3], "", "新词 。"]
    (tmp_path / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for system in ("dep2str", "phrases"):
        result = run("-q", "translate", tmp_path / "text", "--project", folder, "--system", system)
        assert result.code == 0, result.err
        out = result.out.split("\n")
        assert len(out) == 6 and out[3] == "" and all(out[n] for n in (0, 1, 2, 4))


# Systems


def test_systems_share_tables(run: Run, raw: Path, tuned: Path) -> None:
    project = Project(tuned)
    names = [stage.name for stage in project.training_stages(["dep2str", "best", "consdep2str", "augmented-xie"])]
    rules = [name for name in names if name.startswith("rules-")]
    assert rules == [
        "rules-dep2str.both",
        "rules-augmented.both",
        "rules-consdep2str.both",
        "rules-augmented.xie.variables",
    ]
    result = run("train", tuned, "--system", "consdep2str", "--json")
    assert result.code == 0 and all(stage["skipped"] for stage in json.loads(result.out))


def test_systems_with_trees_of_the_target_want_them(run: Run, raw: Path, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", raw)
    for name in presets():
        if preset(name).target_needs:
            result = run("-q", "train", folder, "--system", name)
            assert result.code == 1 and "trees of the target" in result.err and "target_penn" in result.err
            assert not (folder / "corpus").exists()


def test_trees_of_the_target(raw: Path, tmp_path: Path) -> None:
    """They may stand for its text; then the words are theirs. Cleaning drops them with the pair."""
    data = data_section().replace('target = "raw/train.en"', 'target_penn = "raw/train.en.penn"')
    folder = make_project(tmp_path / "p", raw, data=data, more="[cleaning]\nmax_length = 12\nmax_dropped = 1.0")
    project = Project(folder)
    assert project.config.uses_target_trees
    stages = {stage.name: stage for stage in project.training_stages()}
    assert not any(name.startswith("parse") for name in stages)
    for part in PARTS:
        project.runner.run(stages[f"corpus-{part}"])
        parallel(project, part)
    pairs = open_corpus(project.parsed_corpus("train")).columns
    given = list(read_penn(raw / "train.en.penn"))
    assert 0 < len(pairs) < len(given)
    for n in range(len(pairs)):
        words, tags, heads, phrases, relations = pairs.target.sentence(n)
        tree = given[pairs.origin(n) - 1].constituency
        assert tree and words == tuple(word.lower() for word in tree.tokens.forms) and tags == tree.tokens.tags
        assert heads == relations == () and tuple(phrase[0] for phrase in phrases) == tree.labels
    assert open_corpus(project.parsed_corpus("dev")).columns.target.first_without(False) == 0
    assert "trees of the target: given" in (folder / "corpus/train.trees.txt").read_text(encoding="utf-8")


def test_a_project_from_json_lines(run: Run, raw: Path, tmp_path: Path) -> None:
    """One file of pairs for both sides: the corpus is that of the CoNLL-U and Penn files; it trains and translates."""
    files = data_section().replace('target = "raw/train.en"', 'target_conllu = "raw/train.en.conllu"')
    files = files.replace(".en.conllu", '.en.conllu"\ntarget_penn = "raw/train.en.penn')
    rows = [f'[data.{part}]\njsonl = "raw/{part}.jsonl"\ntarget = "raw/{part}.en"' for part in PARTS[1:]]
    rows.append('[data.train]\njsonl = "raw/train.jsonl"\ntarget_jsonl = "raw/train.jsonl"')
    more = "[systems.stssg]\n[systems.consdep2str]"
    projects = [
        Project(make_project(tmp_path / "files", raw, data=files, more=more)),
        Project(make_project(tmp_path / "lines", raw, data="\n".join(rows), more=more)),
    ]
    for part in PARTS:
        for project in projects:
            project.runner.run(next(s for s in project.training_stages() if s.name == f"corpus-{part}"))
        first, second = (project.parsed_corpus(part).read_bytes() for project in projects)
        assert first == second
        for kind in ("report", "trees"):
            texts = {(p.folder / f"corpus/{part}.{kind}.txt").read_text(encoding="utf-8") for p in projects}
            assert len(texts) == 1
    folder = projects[1].folder
    checked = run("config", "check", folder)
    assert checked.code == 0, checked.err
    for system in ("stssg", "consdep2str"):
        trained = run("-q", "train", folder, "--system", system)
        assert trained.code == 0, trained.err
        result = run("-q", "translate", "--trees", raw / "test.jsonl", "--project", folder, "--system", system)
        assert result.code == 0 and len(result.out.splitlines()) == 20


def test_further_trees(run: Run, raw: Path, tmp_path: Path) -> None:
    """They go into the corpus of every part that has them, whatever words cleaning and casing leave, and into rules."""
    rows = data_section()
    for part in PARTS:
        chains = (
            ParsedSentence.of(DependencyTree(s.tokens, [j - 1 for j in range(len(s))]))
            for s in read_conllu(raw / f"{part}.zh.conllu")
        )
        write_conllu(chains, tmp_path / f"{part}.chains")
        rows = rows.replace(f"[data.{part}]", f'[data.{part}]\nparses = ["{tmp_path / part}.chains:0.5"]')
    more = "[cleaning]\nmax_length = 15\nmax_dropped = 0.9\n[systems.mwu]"
    folder = make_project(tmp_path / "both", raw, data=rows, more=more)
    alone = make_project(tmp_path / "alone", raw, more=more)
    for project in (folder, alone):
        assert run("-q", "train", project, "--system", "mwu").code == 0
    columns = open_corpus(Project(folder).parsed_corpus("train")).columns
    for n in range(columns.sentences):
        first, second = columns.source.parses(n)
        assert first == (list(columns.source.sentence(n)[2]), 1.0)
        assert second == ([j - 1 for j in range(len(first[0]))], 0.5)
    sizes = [len(RuleTable(project / "tables/mwu.tgrt")) for project in (folder, alone)]
    assert sizes[0] > sizes[1]
    assert run("-q", "tune", folder, "--system", "mwu").code == 0
    (tmp_path / "train.chains").write_text("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n")
    result = run("-q", "train", folder, "--system", "mwu")
    assert result.code == 1 and "train.chains: ends after 1" in result.err


def test_json_lines_with_gaps_and_without_some_trees(tmp_path: Path) -> None:
    """What is missing is converted, gaps are closed, and the report says how many; a sentence without a tree is refused."""
    tokens = Tokens(["what", "did", "he", "say"], xpos=["WP", "VBD", "PRP", "VB"])
    gap = ConstituencyTree.build(tokens, ("S", ("VP", 0, 3), 1, ("NP", 2)))
    heads = DependencyTree(tokens, [3, 3, 3, -1])
    items = [ParsedSentence.of(heads, gap), ParsedSentence.of(None, gap), ParsedSentence.of(heads)]
    write_jsonl(items, tmp_path / "t.jsonl")
    files = SideFiles(jsonl=tmp_path / "t.jsonl")
    side = TreeSide(files, tmp_path)
    expected = parsed_corpus(complete(item, BOTH) for item in items).columns
    for n in range(3):
        assert side.trees.sentence(n) == expected.sentence(n)
    assert list(map(int, side.new_arcs)) == [0, 1, 0] and list(map(int, side.new_phrases)) == [0, 0, 1]
    write_jsonl([*items, ParsedSentence(tokens)], tmp_path / "t.jsonl")
    with pytest.raises(InputError, match="sentence 4 has no tree"):
        TreeSide(files, tmp_path)


def test_trees_of_the_target_by_the_project(raw: Path, tmp_path: Path) -> None:
    """A system that is learnt from them is there: the target is parsed, in the words of the project; the training text only."""
    lines = (raw / "train.en").read_text(encoding="utf-8").splitlines()
    own = tmp_path / "own"
    own.mkdir()
    for path in raw.iterdir():
        (own / path.name).symlink_to(path)
    (own / "train.en").unlink()
    (own / "train.en").write_text("\n".join([*lines[:3], "", *lines[4:]]) + "\n", encoding="utf-8")
    more = '[parsers.target]\nbackend = "parsers_fake:chain"\n[systems.stssg]\n'
    project = Project(make_project(tmp_path / "p", own, more=more))
    names = [stage.name for stage in project.training_stages()]
    assert names[:2] == ["parse-train-target", "corpus-train"] and names[-1] == "rules-stssg"
    for stage in project.training_stages():
        project.runner.run(stage)
    parallel(project, "train")
    pairs = open_corpus(project.parsed_corpus("train")).columns
    assert len(pairs) == 299 and pairs.target.first_without(False) is None
    assert [pairs.origin(n) for n in range(4)] == [1, 2, 3, 5]
    assert len(RuleTable(project.rules(project.system("stssg").tables[0]))) > 100


def test_links_of_nodes(run: Run, both: Path, tmp_path: Path) -> None:
    """Linked once, in blocks that survive an interruption; systems that use them have tables of their own."""
    project = Project(both)
    names = ["stssg", "stssg-dirc", "stssg-ewos"]
    stages = {stage.name: stage for stage in project.training_stages(names)}
    order = list(stages)
    assert "subtrees" not in [stage.name for stage in project.training_stages(["stssg"])]
    assert order.index("alignment") < order.index("subtrees") < order.index("rules-stssg.dirc")
    for name in ("corpus-train", "alignment", "subtrees", "rules-stssg", "rules-stssg.dirc", "rules-stssg.ewos"):
        project.runner.run(stages[name])
    pairs = open_corpus(project.parsed_corpus("train"), nodes=project.node_links).columns
    linked = [pairs.node_links(n) for n in range(len(pairs))]
    assert sum(map(len, linked)) > 5 * len(pairs) and any((0, 0) in links for links in linked)
    sizes = {name: len(RuleTable(project.rules(project.system(name).tables[0]))) for name in names}
    assert sizes["stssg"] < sizes["stssg-ewos"] and sizes["stssg"] < sizes["stssg-dirc"]

    page = tmp_path / "links.html"
    assert run("-q", "trees", "show", both, "--html", "--limit", 12, "--out", page).code == 0
    assert page.read_text(encoding="utf-8").count("<svg ") == 12
    shown = run("trees", "show", both, "--sentence", 3)
    assert shown.code == 0 and "node links\n" in shown.out and "word links\n" in shown.out
    scores = sorted(map(float, re.findall(r" ── .* ([0-9.]+)\n", shown.out)))
    strict = run("trees", "show", both, "--sentence", 3, "--threshold", scores[3] + 0.001)
    assert strict.out.count(" ── ") < shown.out.count(" ── ") == len(scores)
    assert all(float(score) > scores[3] for score in re.findall(r" ── .* ([0-9.]+)\n", strict.out))
    trees = [tmp_path / "source.penn", tmp_path / "target.penn"]
    for path, side in zip(trees, (pairs.source, pairs.target), strict=True):
        write_penn((stored_sentence(side, n) for n in range(len(pairs))), path)
    files = ("--source", trees[0], "--target", trees[1])
    again = run("trees", "show", project.node_links, *files, "--sentence", 3)
    assert again.code == 0 and again.out == shown.out


def test_links_of_nodes_that_cannot_be_shown(run: Run, raw: Path, tmp_path: Path) -> None:
    fresh = make_project(tmp_path / "p", raw)
    links, penn = tmp_path / "a.nodes", fresh / "raw/dev.zh.penn"
    links.write_text("0-0\n", encoding="utf-8")
    for arguments, says in (
        ((fresh,), "the project has no links of nodes yet"),
        ((tmp_path,), "treeglot.toml: no such file"),
        ((fresh, "--source", penn), "a project has its own trees"),
        ((links,), "node links need their trees"),
        ((links, "--source", penn, "--target", penn, "--system", links), "links are compared with those of a file"),
        ((penn, "--source", penn), "has its own trees"),
        ((links, "--source", penn, "--target", penn, "--sentence", 2), "a.nodes:1: 1 lines, but more pairs"),
    ):
        result = run("trees", "show", *arguments)
        assert result.code and says in result.err, (arguments, result.err)


def test_phrases_of_node_links(both: Path) -> None:
    """Tables, stages and what they keep are apart; the table of word links is as it was."""
    project = Project(both)
    names = ["phrases", "phrases-dirc", "phrases-ewos"]
    plain = {stage.name: stage for stage in project.training_stages()}
    stages = {stage.name: stage for stage in project.training_stages(names)}
    tables = ["phrase-table", "phrase-table-phrases.dirc", "phrase-table-phrases.ewos"]
    assert [name for name in stages if name.startswith("phrase-table")] == tables
    assert "subtrees" in stages and "subtrees" not in plain
    assert list(stages).index("subtrees") < list(stages).index(tables[1])
    for name in ("corpus-train", "alignment", "subtrees", *tables):
        project.runner.run(stages[name])
    assert project.runner.key(plain["phrase-table"]) == project.runner.key(stages["phrase-table"])
    assert len({stage.outputs["table"] for stage in stages.values() if stage.name in tables}) == 3
    assert len({project.runner._work_folder(stages[name], "k" * 16) for name in tables}) == 3
    base, dirc, ewos = (
        {(entry.source, entry.target): entry.count for entry in PhraseTable(stages[name].outputs["table"])}
        for name in tables
    )
    assert base.keys() < dirc.keys() == ewos.keys()
    assert all(base.get(pair, 0) <= ewos[pair] <= dirc[pair] for pair in dirc) and dirc != ewos
    # Another threshold is another table, and only of those that use the links.
    text = (both / "treeglot.toml").read_text(encoding="utf-8")
    (both / "treeglot.toml").write_text(text + "\n[subtrees]\nthreshold = 0.9\n", encoding="utf-8")
    other = {stage.name: stage for stage in Project(both).training_stages(names)}
    same = [project.runner.key(stages[name]) == project.runner.key(other[name]) for name in tables]
    (both / "treeglot.toml").write_text(text, encoding="utf-8")
    assert same == [True, False, False]


@pytest.fixture(scope="module")
def both(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with trees of both sides."""
    data = data_section().replace(
        'target = "raw/train.en"', 'target = "raw/train.en"\ntarget_penn = "raw/train.en.penn"'
    )
    return make_project(tmp_path_factory.mktemp("both") / "p", raw, data=data)


@pytest.mark.parametrize("system", presets())
def test_every_preset_translates(run: Run, tuned: Path, both: Path, system: str) -> None:
    """Untuned but for one: every line is translated, every derivation covers the sentence and says the translation."""
    tuned = both if preset(system).target_needs else tuned
    with_target_trees = [bool(registry.grammar(name).target_trees) for name in preset(system).grammars]
    has_target_tree = all(with_target_trees)
    trained = run("-q", "train", tuned, "--system", system)
    assert trained.code == 0, trained.err
    files = ("--conllu", tuned / "raw/test.zh.conllu", "--penn", tuned / "raw/test.zh.penn")
    result = run("-q", "translate", *files, "--project", tuned, "--system", system, "--json", "--explain")
    assert result.code == 0, result.err
    records = [json.loads(line) for line in result.out.splitlines()]
    assert len(records) == 20
    for record in records:
        steps = record["derivation"]
        assert steps[0]["source_span"] == [0, len(record["words"].split())]
        assert steps[0]["words"] == record["translation"]
        owned = Counter(j for step in steps for j in step["source_words"])
        assert set(owned.values()) == {1} and len(owned) == len(record["words"].split())
        if has_target_tree:
            assert " ".join(parse_penn(record["target_tree"]).tokens.forms) == record["translation"]
        else:
            # In a union there is one if all rules of the derivation have one.
            assert "target_tree" not in record or any(with_target_trees)
    with Translator(Project(tuned), system) as translator:
        for translated in translator.sentences(tree_files(tuned / "raw/test.zh.conllu", tuned / "raw/test.zh.penn")):
            assert translated.result is not None
            total = sum(translator.weights[name] * value for name, value in translated.result.features.items())
            assert translated.result.score == pytest.approx(total, abs=1e-3)
            if has_target_tree:
                check_fragments(translated)


def check_fragments(translated: Translated) -> None:
    """The nodes that pictures give to a rule are those of its sides.

    A word that is translated as under other labels has the tree's labels, not the rule's; each such step is paid for.
    """
    assert translated.derivation is not None and translated.result is not None
    steps = list_steps(translated.derivation)
    pair = tree_pair(translated.sentence, steps)
    assert pair is not None
    elsewhere = 0
    for side, text in ((pair.source, "source"), (pair.target, "target_tree")):
        assert side.tree is not None
        nodes = [*zip(side.nodes, side.tree.labels, strict=True), *zip(side.words, side.tree.tokens.xpos, strict=True)]
        for step in (step for step in steps if step.use.target_tree):
            labels = sorted(label for owner, label in nodes if owner == step.number)
            if labels != sorted(re.findall(r"\(([^ ()]+)", getattr(step.use, text))):
                assert side is pair.source and re.fullmatch(r"(\([^ ()]+ )+[^ ()]+\)+", step.use.source), step
                assert len(step.source_words) == 1
                elsewhere += 1
    assert elsewhere <= sum(value for name, value in translated.result.features.items() if name.endswith(".mismatch"))


def test_ways_to_give_trees(run: Run, tuned: Path, tmp_path: Path) -> None:
    base = ("-q", "translate", "--project", tuned, "--system", "consdep2str")
    both = run(*base, "--conllu", tuned / "raw/test.zh.conllu", "--penn", tuned / "raw/test.zh.penn")
    jsonl = run(*base, "--trees", tuned / "raw/test.jsonl")
    assert both.code == jsonl.code == 0 and both.out == jsonl.out and len(both.out.splitlines()) == 20
    page, picture = tmp_path / "d.html", tmp_path / "d.svg"
    shown = run(*base, "--trees", tuned / "raw/test.jsonl", "--html", page, "--svg", picture, "--explain")
    assert shown.code == 0, shown.err
    assert page.read_text(encoding="utf-8").count("<section") == 20
    assert len(list(tmp_path.glob("d*.svg"))) == 20
    assert re.search(r"^   +1 0-\d+ ", shown.out, re.MULTILINE)
    nbest = run(*base, "--trees", tuned / "raw/test.jsonl", "--nbest", "3").out.splitlines()
    assert nbest[0].startswith("0 ||| ") and "consdep2str.p_ts= " in nbest[0] and len(nbest) > 20
    mixed = run(*base, "--trees", tuned / "raw/test.jsonl", "--conllu", tuned / "raw/test.zh.conllu")
    assert mixed.code == 1 and "one or the other" in mixed.err


def test_words_of_dev_are_read_once(tuned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeglot.pipeline import tuned as tuning

    reads: list[str] = []
    monkeypatch.setattr(tuning, "read_part", lambda *args: reads.append(args[2]) or read_part(*args))  # type: ignore[func-returns-value]
    stage = tuning.tuning_stage(Project(tuned), "consdep2str", lambda _: None, seed=7)
    Project(tuned).runner.run(stage)
    assert reads == ["dev"]
    assert (tuned / "systems/consdep2str/weights.seed7.txt").exists()


def test_seed_and_weights_of_ones_own(run: Run, tuned: Path, tmp_path: Path) -> None:
    weights = tuned / "systems/consdep2str/weights.txt"
    base = ("-q", "translate", "--project", tuned, "--system", "consdep2str", "--trees", tuned / "raw/test.jsonl")
    assert run(*base).out == run(*base, "--weights", weights).out == run(*base, "--seed", 1).out
    (tmp_path / "w").write_text("lm = 1\nlms = 2\n", encoding="utf-8")
    wrong = run(*base, "--weights", tmp_path / "w")
    assert wrong.code == 1 and "unknown feature 'lms'" in wrong.err


def test_coverage_of_a_project(run: Run, tuned: Path, tmp_path: Path) -> None:
    wanted = ["-g", "mwu", "-g", "hierarchical", "--first", "20", "--vary", "max_words=1,6", "--json"]
    result = run("-q", "coverage", tuned, *wanted, "--html", tmp_path / "page")
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["options"] for row in rows] == [{}, {"max_words": 1}, {"max_words": 6}, {}]
    assert rows[0]["recovered"] == rows[2]["recovered"] > rows[1]["recovered"] and rows[3]["recovered"] > 0
    assert all(row["pairs"] == 20 for row in rows) and (tmp_path / "page/coverage-max_words.svg").exists()
    result = run("-q", "coverage", tuned, "--align", "a")
    assert result.code == 1 and "a project and files" in result.err


def test_phrasal_shares(tuned: Path) -> None:
    project = Project(tuned)
    spec = project.system("consdep2str")
    for result in project.decoder("consdep2str").translate(read_part(project, spec, "test")):
        rules, phrasal = phrasal_uses(result.derivation)
        uses = [step.use for step in list_steps(result.derivation)]
        assert rules == sum(use.grammar == "consdep2str" for use in uses) and 0 <= phrasal <= rules
        marked = sum(bool(re.search(r"(^| )\^?x\d+:\S*\[\S*\]", use.source)) for use in uses)
        assert phrasal == marked


def test_worked_example_from_python(tuned: Path) -> None:
    project = Project(tuned)
    spec = project.system("consdep2str")
    source = worked_example().source
    [result] = project.decoder("consdep2str").translate(as_corpus(spec, [source]))
    assert result.text


def test_evaluate_a_system(run: Run, tuned: Path) -> None:
    result = run("-q", "evaluate", "--system", "consdep2str", "-p", tuned, "-m", "bleu-lc", "--json")
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert record["scores"][0]["score"] > 20 and "tok:none" in record["scores"][0]["signature"]
    assert run("-q", "evaluate", "x", "y", "--system", "consdep2str", "-p", tuned).code == 1
    assert run("-q", "evaluate").code == 1


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("phrasal_recursion = true", "consdep2str"),
        ('binarize = "right"', "consdep2str.right"),
        ("max_phrasal_nodes = 1", "consdep2str.max_phrasal_nodes1"),
        ('category = "tag+relation"', "consdep2str.tag+relation"),
        ("pop_limit = 20", "consdep2str"),
    ],
)
def test_options_beyond_the_papers(run: Run, tuned: Path, option: str, name: str) -> None:
    """Each option gives a system of its own that translates everything, from a table of its own where it must."""
    config = tuned / "treeglot.toml"
    before = config.read_text(encoding="utf-8")
    try:
        config.write_text(f'{before}\n[systems.mine]\ngrammars = ["consdep2str"]\n{option}\n', encoding="utf-8")
        trained = run("-q", "train", tuned)
        assert trained.code == 0, trained.err
        [table] = Project(tuned).system("mine").tables
        assert table.name == name and Project(tuned).rules(table).exists()
        result = run("-q", "translate", "-p", tuned, "--system", "mine", "--trees", tuned / "raw/test.jsonl")
        assert result.code == 0 and len(result.out.splitlines()) == 20 and all(result.out.splitlines())
    finally:
        config.write_text(before, encoding="utf-8")


def test_export_of_rules_to_moses(run: Run, tuned: Path, tmp_path: Path) -> None:
    out = tmp_path / "moses"
    wrong = run("export", "moses", out, "--project", tuned, "--system", "consdep2str")
    assert wrong.code == 1 and "cannot be handed over" in wrong.err and not out.exists()
    assert run("-q", "train", tuned, "--system", "hierarchical").code == 0
    result = run("export", "moses", out, "--project", tuned, "--system", "hierarchical")
    assert result.code == 0, result.err
    names = {path.name for path in out.iterdir()}
    assert names == {Path(line).name for line in result.out.splitlines()}
    assert {"moses.ini", "rule-table.gz", "glue-grammar", "lm.arpa.gz", "train.zh", "dev.en"} <= names
    table = RuleTable(tuned / "tables/hierarchical.tgrt")
    with gzip.open(out / "rule-table.gz", "rt", encoding="utf-8") as lines:
        assert sum(1 for _ in lines) == len(table) > 100
    sections: dict[str, list[str]] = {}
    for line in (out / "moses.ini").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            sections[list(sections)[-1]].append(line)
    spec = Project(tuned).system("hierarchical")
    assert sections["search-algorithm"] == ["3"] and sections["mapping"] == ["0 T 0", "1 T 1"]
    assert (
        sections["max-chart-span"] == [str(spec.options["span_limit"]), "1000"] and "factor-delimiter" not in sections
    )
    assert sections["cube-pruning-pop-limit"] == [str(spec.stack_limit)]
    named = {name: line for line in sections["feature"] for name in re.findall(r"name=(\S+)", line)}
    assert {"TranslationModel0", "TranslationModel1", "LM0"} == named.keys()
    assert f"path={out}/rule-table.gz" in named["TranslationModel0"] and "num-features=4" in named["TranslationModel0"]
    assert f"path={out}/glue-grammar" in named["TranslationModel1"] and "num-features=1" in named["TranslationModel1"]
    weights = {name: values.split() for name, values in (line.split("=") for line in sections["weight"])}
    assert set(weights) == {*named, "UnknownWordPenalty0", "WordPenalty0", "PhrasePenalty0"}
    ours = Project(tuned).weights("hierarchical")
    assert [float(value) for value in weights["TranslationModel0"]] == pytest.approx(
        [ours[f"hierarchical.{name}"] for name in ("p_st", "lex_st", "p_ts", "lex_ts")]
    )


def test_preflight(run: Run, raw: Path, tmp_path: Path) -> None:
    plain = make_project(tmp_path / "plain", raw, data=data_section(("source",)))
    result = run("tune", plain, "--system", "dep2str")
    assert result.code == 1 and "learnt from trees" in result.err and "[systems.dep2str]" in result.err
    assert not (plain / "corpus").exists()
    assert run("-q", "train", plain, "--system", "hierarchical").code == 0, "needs no trees"
    none = make_project(
        tmp_path / "none",
        raw,
        data=data_section(("source",)),
        more='[parsers.source]\nbackend = "none"\n[systems.dep2str]',
    )
    result = run("train", none)
    assert result.code == 1 and "text to parse" in result.err
    missing = make_project(tmp_path / "missing", raw, data=data_section().replace("dev.zh.penn", "dev.zh.pen"))
    result = run("train", missing)
    assert result.code == 1 and "no such file" in result.err and not (missing / "corpus").exists()


# Interruption

MADE = (
    "corpus/train.zh",
    "corpus/train.tgpc",
    "tables/consdep2str.both.tgrt",
    "systems/consdep2str/weights.txt",
)


def digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in MADE}


def attempts(command: list[str], chance: random.Random) -> Iterator[int | None]:
    """Run a command again and again, killing it after a while; its exit code where it came to its end."""
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        deadline = time.monotonic() + chance.uniform(0.3, 4.0)
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            yield None
        else:
            yield process.returncode


def test_killed_at_random_moments(raw: Path, tuned: Path, tmp_path: Path) -> None:
    """kill -9 of a tree system's training and tuning; what comes out is what an undisturbed run makes."""
    folder = make_project(tmp_path / "killed", raw)
    chance = random.Random(3)
    command = [sys.executable, "-m", "treeglot", "-q", "tune", str(folder), "--system", "consdep2str"]
    for number, code in enumerate(attempts(command, chance)):
        assert code in (None, 0)
        if code == 0:
            for name in chance.sample(MADE, 2):
                (folder / name).unlink()
        if number + 1 == worlds(8):
            break
    subprocess.run(command, check=True, capture_output=True)
    assert digests(folder) == digests(tuned)
    assert not [path for path in folder.rglob("*.part*") if ".treeglot" not in path.parts]


def test_penn_and_conllu_must_agree(raw: Path, tmp_path: Path) -> None:
    other = tmp_path / "raw"
    other.mkdir()
    for path in raw.iterdir():
        (other / path.name).symlink_to(path)
    trees = list(read_penn(raw / "dev.zh.penn"))
    (other / "dev.zh.penn").unlink()
    write_penn([*trees[:2], trees[4], *trees[3:]], other / "dev.zh.penn")
    project = Project(make_project(tmp_path / "p", other))
    stage = next(stage for stage in project.training_stages() if stage.name == "corpus-dev")
    with pytest.raises(InputError, match="sentence 3"):
        project.runner.run(stage)
