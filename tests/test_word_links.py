"""Which word links tables are learnt from: those of the phrases, those of rules of trees, a system's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from treeglot import ConfigError
from treeglot.alignment import own, symmetrize_files
from treeglot.alignment.posteriors import links_above
from treeglot.examples.corpus import Sizes
from treeglot.examples.files import write_example
from treeglot.files import read_lines
from treeglot.grammars import registry
from treeglot.links import Weighted
from treeglot.pipeline.compare import decoding_stage
from treeglot.pipeline.config import parse_config
from treeglot.pipeline.decoding import part_files
from treeglot.pipeline.project import Project
from treeglot.pipeline.systems import TableSpec, preset
from treeglot.pipeline.word_links import alignment_stage, chosen_links, table_links
from treeglot.tables import PhraseTable
from treeglot.tables.rules import RuleTable, build_rule_table
from treeglot.trees.stored import open_corpus

CONFIG = """\
[languages]
source = "zh"
target = "en"
[data.train]
conllu = "raw/train.zh.conllu"
penn = "raw/train.zh.penn"
target = "raw/train.en"
[limits]
threads = 1
{more}
"""

SYSTEMS = """\
[systems.dep2str-complete]
[systems.precise]
grammars = ["dep2str"]
rule_heuristic = 0.6
[systems.hierarchical]
[systems.many]
grammars = ["dep2str", "hierarchical"]
rule_heuristic = "union"
heuristic = "intersect"
"""


def make_project(folder: Path, more: str) -> Project:
    write_example(folder / "raw", sizes=Sizes(120, 5, 5, 0))
    (folder / "treeglot.toml").write_text(CONFIG.format(more=more), encoding="utf-8")
    return Project(folder)


def test_tables_have_the_links_of_their_kind(tmp_path: Path) -> None:
    """Every table is the one that its links give, and the other links come of the same two directions or the same model."""
    project = make_project(tmp_path, f'[alignment]\nrule_heuristic = "grow-diag"\n{SYSTEMS}')
    project.train(lambda _: None)
    folder = tmp_path / "alignment"
    directions = folder / "forward.align", folder / "reverse.align"
    for heuristic in ("grow-diag", "union", "intersection"):
        assert (folder / f"train.{heuristic}.align").read_bytes() == symmetrize_files(*directions, heuristic)
    source, target = ([line for _, line in read_lines(path)] for path in project.corpus("train"))
    chances = own.AgreementAligner(project.alignment_model).link_chances(source, target)
    links = [line for _, line in read_lines(folder / "train.posterior0.6.align")]
    assert links == [links_above(line, 0.6) for line in chances] and any(links)
    expected = {
        TableSpec("dep2str"): "train.grow-diag.align",
        TableSpec("dep2str", links="0.6"): "train.posterior0.6.align",
        TableSpec("dep2str", links="union"): "train.union.align",
        TableSpec("hierarchical"): "train.align",
        TableSpec("hierarchical", links="intersection"): "train.intersection.align",
    }
    specs = [project.system(name) for name in project.config.systems]
    assert {table for spec in specs for table in spec.tables} == set(expected)
    for table, name in expected.items():
        assert table_links(project, table) == [Weighted(folder / name)]
        corpus = open_corpus(project.parsed_corpus("train"), [folder / name])
        build_rule_table(table.grammar, corpus, tmp_path / "again.tgrt")
        again, stored = RuleTable(tmp_path / "again.tgrt"), RuleTable(project.rules(table))
        assert {str(rule): rule.count for rule in again} == {str(rule): rule.count for rule in stored}
    phrases = {spec.phrase_table for spec in specs if spec.phrase_table}
    assert phrases == {TableSpec("phrases"), TableSpec("phrases", links="intersection")}
    assert project.phrases(TableSpec("phrases", links="intersection")).is_file()


def test_counts_of_several_links_are_added_with_their_weights(tmp_path: Path) -> None:
    more = (
        '[alignment]\nphrase_heuristic = "intersection:0.25+grow-diag-final-and:0.75"\n'
        '[systems.dep2str]\nrule_heuristic = "expected"\n[systems.hierarchical]\n'
    )
    project = make_project(tmp_path, more)
    project.train(lambda _: None)
    folder = tmp_path / "alignment"
    few, usual = folder / "train.intersection.align", project.links
    mixed = TableSpec("hierarchical")
    assert table_links(project, mixed) == [Weighted(few, 0.25), Weighted(usual, 0.75)]
    assert not (folder / "train.grow-diag-final-and.align").exists()
    counts: dict[tuple[str, str], float] = {}
    for links, weight in ((few, 0.25), (usual, 0.75)):
        build_rule_table("hierarchical", open_corpus(project.parsed_corpus("train"), [links]), tmp_path / "one.tgrt")
        for rule in RuleTable(tmp_path / "one.tgrt"):
            counts[rule.source, rule.target] = counts.get((rule.source, rule.target), 0) + weight * rule.count
    assert {(rule.source, rule.target) for rule in RuleTable(project.rules(mixed))} == set(counts)
    for rule in RuleTable(project.rules(mixed)):
        assert rule.count == pytest.approx(counts[rule.source, rule.target], rel=0.01)
    thresholds = (0.1, 0.3, 0.5, 0.7, 0.9)
    expected = [Weighted(folder / f"train.posterior{threshold}.align", 0.2) for threshold in thresholds]
    table = project.system("dep2str").tables[0]
    assert table.links == "expected" and table_links(project, table) == expected
    assert project.rules(table).name == "dep2str.both.expected.tgrt"
    chances = [line for _, line in read_lines(folder / "train.chances.gz")]
    for threshold, (path, _) in zip(thresholds, expected, strict=True):
        assert [line for _, line in read_lines(str(path))] == [links_above(line, threshold) for line in chances]
    assert all(result.skipped for result in project.train(lambda _: None))


def test_weights_are_part_of_what_a_table_is_made_of(tmp_path: Path) -> None:
    def weighted(weight: str) -> Project:
        return make_project(tmp_path, f'[alignment]\nfile = "raw/links"\nalso = ["raw/links{weight}"]\n')

    project = weighted("")
    (tmp_path / "raw/links").write_text("0-0\n" * 120)
    project.train(lambda _: None)
    before = {entry.target: entry.count for entry in PhraseTable(project.phrases(TableSpec("phrases"))).scan()}
    project = weighted(":0.5")
    assert [result.name for result in project.train(lambda _: None) if not result.skipped] == ["phrase-table"]
    after = {entry.target: entry.count for entry in PhraseTable(project.phrases(TableSpec("phrases"))).scan()}
    assert before and after == {target: 0.75 * count for target, count in before.items()}


def test_a_grammar_declares_what_suits_it() -> None:
    config = parse_config(CONFIG.format(more=""))
    for name, grammar in registry.grammars().items():
        table = TableSpec(name)
        suits = f"{grammar.link_chance:g}" if grammar.link_chance else grammar.heuristic
        assert chosen_links(config, table) == (suits if table.from_trees else "")
    other = parse_config(CONFIG.format(more="[alignment]\naligner = 'eflomal'\n"))
    for name, grammar in registry.grammars().items():
        assert chosen_links(other, TableSpec(name)) == (grammar.heuristic if TableSpec(name).from_trees else "")
    chosen = parse_config(CONFIG.format(more="[alignment]\nrule_heuristic = 'grow-diag-final-and'\n"))
    assert not any(chosen_links(chosen, TableSpec(name)) for name in registry.grammars())  # those of the phrases
    assert preset("dep2str-complete", {"rule_heuristic": "grow"}).tables == (TableSpec("dep2str", links="grow"),)


def test_given_links(tmp_path: Path) -> None:
    """Of links that are given no others can be made; a second file is for rules of trees."""
    project = make_project(tmp_path, "[alignment]\nfile = 'links'\n[systems.dep2str]\n")
    assert table_links(project, TableSpec("dep2str")) == [Weighted(project.links)]
    more = "[alignment]\nfile = 'links'\nrule_file = 'precise'\n[systems.dep2str]\n[systems.hierarchical]\n"
    project = make_project(tmp_path, more)
    assert table_links(project, TableSpec("dep2str")) == [Weighted(tmp_path / "precise")]
    assert table_links(project, TableSpec("hierarchical")) == [Weighted(project.links)]
    assert not [stage for stage in project.training_stages() if stage.name.startswith("links-")]
    (tmp_path / "links").touch()
    with pytest.raises(ConfigError, match=r"alignment\.rule_file: no such file"):
        project.check()
    project = make_project(tmp_path, "[alignment]\nfile = 'links'\n[systems.dep2str]\nrule_heuristic = 'union'\n")
    with pytest.raises(ConfigError, match=r"links by union cannot be made .*\n.*remedy: .*rule_file"):
        project.training_stages()


def test_chances_are_those_of_our_aligner(tmp_path: Path) -> None:
    project = make_project(tmp_path, "[alignment]\naligner = 'eflomal'\nrule_heuristic = 0.5\n[systems.dep2str]\n")
    with pytest.raises(ConfigError, match="eflomal has no chances of links"):
        project.training_stages()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[alignment]\nrule_heuristic = 'both'", "alignment.rule_heuristic: should be one of intersection, union"),
        ("[alignment]\nrule_heuristic = 1.5", "alignment.rule_heuristic: should be one of intersection, union"),
        ("[systems.dep2str]\nrule_heuristic = 0", "systems.dep2str.rule_heuristic: should be one of intersection"),
        ("[alignment]\nrule_heuristic = 'union'\nrule_file = 'a'", "cannot both be given"),
        ("[alignment]\nphrase_heuristic = 'expected'\nalso = ['a']", "cannot both be given"),
        ("[alignment]\nrule_heuristic = '0.3+both'", "alignment.rule_heuristic: should be one of intersection"),
        ("[alignment]\nrule_heuristic = '0.3:0.5+0.7'", "weights of some of the links; write none, or one for each"),
        ("[alignment]\nphrase_heuristic = '0.3:0.001+0.7:1'", "no weight of an alignment; give hundredths"),
        ("[alignment]\nalso = ['other:0']", "no weight of an alignment; give hundredths"),
    ],
)
def test_wrong_choices(more: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(CONFIG.format(more=more), path="treeglot.toml")
    assert says in str(caught.value)


def test_the_links_of_a_file_are_taken_as_they_are(tmp_path: Path) -> None:
    """Links that no aligner would make, so that it is seen whose they are."""
    project = make_project(tmp_path, "[alignment]\nfile = 'links'\n[systems.dep2str]\n")
    (tmp_path / "links").write_text("0-0\n" * 120)
    stage = alignment_stage(project)
    assert stage.inputs["links"] == tmp_path / "links"
    stage.run(stage.inputs, {"links": tmp_path / "out"}, tmp_path)
    assert (tmp_path / "out").read_text() == "0-0\n" * 120
    assert set(stage.outputs) == {"links"} and stage.outputs["links"] == project.links


def test_new_trees_are_new_inputs_of_tuning_and_translating(tmp_path: Path) -> None:
    dev = '[data.dev]\nconllu = "raw/dev.zh.conllu"\npenn = "raw/dev.zh.penn"\ntarget = "raw/dev.en"\n'
    project = make_project(tmp_path, f"{dev}[systems.dep2str]\n[systems.phrases]\n")
    for system in ("dep2str", "phrases"):
        spec = project.system(system)
        files = part_files(project, spec, "dev")
        assert set(files.values()) == (
            {project.parsed_corpus("dev")} if system == "dep2str" else {project.corpus("dev")[0]}
        )
        stage = decoding_stage(project, system, "dev", 1)
        assert set(files.items()) <= set(stage.inputs.items())
