"""Handing a project over to Moses: the same data, tables, model and weights in Moses' own formats.

The folder gets the prepared corpus, the word alignment, the ARPA model, the tables as text, and a ``moses.ini`` whose features have the
meaning of ours, so that both decoders can be run on exactly the same. A phrase-based system has phrase, reordering and lexical
tables, for ``moses``; a system of rules that Moses' chart decoder reads (those whose grammar has ``MOSES_GLUE``) has a rule table
and the glue grammar, for ``moses_chart``.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from treeglot.alignment.choices import EXPECTED, links_name
from treeglot.alignment.symmetrize import symal_name
from treeglot.errors import ConfigError, TreeglotError
from treeglot.files import atomic_write, check_places
from treeglot.grammars import registry
from treeglot.links import Weighted
from treeglot.pipeline.corpus_stages import raw_inputs
from treeglot.pipeline.project import Project
from treeglot.pipeline.systems import SystemSpec
from treeglot.pipeline.word_links import chosen_links, table_links
from treeglot.search.weights import format_moses_weights
from treeglot.tables import PhraseTable, RuleTable
from treeglot.tables import export_moses as export_tables
from treeglot.tables.moses import RULES, export_moses_rules

_INI = """\
# Written by treeglot for {program}; paths are absolute, so move it with care.

[input-factors]
0
{factors}"""

# Where words have a bar in them, Moses must not take it for the begin of another factor.
_FACTORS = """
[factor-delimiter]
|||
"""

PHRASE_INI = """
[mapping]
0 T 0

[distortion-limit]
{distortion_limit}

[cube-pruning-pop-limit]
{pop_limit}

[search-algorithm]
1

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path={folder}/phrase-table.gz input-factor=0 output-factor=0 table-limit={table_limit}
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff input-factor=0 output-factor=0 path={folder}/reordering-table.wbe-msd-bidirectional-fe.gz
Distortion
KENLM name=LM0 factor=0 path={folder}/lm.arpa.gz order={order}

{weights}"""

CHART_INI = """
[mapping]
0 T 0
1 T 1

[search-algorithm]
3

[inputtype]
3

[non-terminals]
X

[max-chart-span]
{span_limit}
1000

[cube-pruning-pop-limit]
{pop_limit}

[stack]
{stack_limit}

[beam-threshold]
{stack_threshold}

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path={folder}/{table} input-factor=0 output-factor=0 table-limit={rule_limit}
PhraseDictionaryMemory name=TranslationModel1 num-features=1 path={folder}/glue-grammar input-factor=0 output-factor=0
KENLM name=LM0 factor=0 path={folder}/lm.arpa.gz order={order}

{weights}"""

_NO_LIMIT = 1_000_000_000
_MOSES_SPAN = 20


def export_moses(project: Project, folder: Path, system: str) -> list[Path]:
    """Write everything that Moses needs to ``folder`` and return the files."""
    spec = project.system(system)
    glue = None if spec.is_phrase_based else _glue(spec)
    phrases = spec.phrase_table if glue is None else None
    table = project.phrases(phrases) if phrases else project.rules(spec.tables[0])
    learnt = phrases or spec.tables[0]
    given, choice = table_links(project, learnt), chosen_links(project.config, learnt)
    if "+" in choice or choice == EXPECTED:  # the table goes out as it is; of its links, the usual ones do
        given, choice = [Weighted(project.links)], ""
    links = Path(str(given[0].links))
    for path in (table, project.arpa, links):
        if not path.exists():
            remedy = f"run `treeglot train --system {system}` first" if spec.tables else "run `treeglot train` first"
            raise TreeglotError("not trained yet", path=path, remedy=remedy)
    folder.mkdir(parents=True, exist_ok=True)
    texts = [path for part in project.parts for path in project.corpus(part) if path.exists()]
    raw = [path for part in project.parts for path in raw_inputs(project, part).values()]
    check_places([folder / path.name for path in texts], [*texts, *raw])
    written: list[Path] = []

    def copy(path: Path, name: str) -> None:
        temporary = folder / f".{name}.part"
        shutil.copyfile(path, temporary)
        written.append(temporary.replace(folder / name))

    for path in texts:
        copy(path, path.name)
    copy(links, f"aligned.{symal_name(links_name(choice or project.config.alignment.heuristic))}")
    copy(project.arpa, "lm.arpa.gz")
    factors = _FACTORS if any(_has_bar(path) for path in written[:-2]) else ""
    if glue is None:
        written += export_tables(PhraseTable(table), folder)
        ini = _phrase_ini(project, folder, system, factors)
    else:
        written.append(export_moses_rules(RuleTable(table), folder / f"{RULES}.gz"))
        with atomic_write(folder / "glue-grammar") as file:
            file.write(glue)
        written.append(folder / "glue-grammar")
        ini = _chart_ini(project, folder, spec, factors)
    with atomic_write(folder / "moses.ini") as file:
        file.write(ini)
    return [*written, folder / "moses.ini"]


def _glue(spec: SystemSpec) -> str:
    """The glue grammar of a system whose rules Moses can read."""
    glue: str | None = None
    if len(spec.grammars) == 1:
        glue = getattr(registry.grammar(spec.grammars[0]).door, "MOSES_GLUE", None)
    if glue is None:
        able = [name for name, grammar in registry.grammars().items() if hasattr(grammar.door, "MOSES_GLUE")]
        raise TreeglotError(
            f"the system {spec.name!r} cannot be handed over to Moses",
            remedy=f"take a system of one of these grammars alone: {', '.join([registry.phrase_grammar().name, *able])}",
        )
    return glue


def _has_bar(path: Path) -> bool:
    with path.open("rb") as stream:
        return any(b"|" in block for block in iter(lambda: stream.read(1 << 20), b""))


def _phrase_ini(project: Project, folder: Path, system: str, factors: str) -> str:
    search = project.config.search
    return (_INI + PHRASE_INI).format(
        program="moses",
        factors=factors,
        folder=folder.resolve(),
        order=project.config.lm.order,
        weights=format_moses_weights(project.weights(system)),
        distortion_limit=search.distortion_limit,
        pop_limit=search.pop_limit,
        table_limit=search.table_limit,
    )


def _chart_ini(project: Project, folder: Path, spec: SystemSpec, factors: str) -> str:
    limits = spec.search
    return (_INI + CHART_INI).format(
        program="moses_chart",
        factors=factors,
        folder=folder.resolve(),
        table=f"{RULES}.gz",
        order=project.config.lm.order,
        weights=format_chart_weights(project.weights(spec.name)),
        span_limit=spec.options.get("span_limit", _MOSES_SPAN),
        pop_limit=limits["pop_limit"] or limits["stack_limit"] or _NO_LIMIT,
        **{name: limits[name] for name in ("stack_limit", "stack_threshold", "rule_limit")},
    )


def format_chart_weights(weights: Mapping[str, float]) -> str:
    """The ``[weight]`` section for ``moses_chart`` from the weights of a system of one grammar.

    Moses counts words as negative, gives -100 to an unknown word, and its phrase penalty counts glue and unknown words too; we
    count words, copied words, rules and glue each by itself. With these weights every derivation has the same score in both, up to a
    number that is the same for all derivations of a sentence (Moses also counts the first part of the glue, ``<s>`` and ``</s>``).

    >>> names = {"lm": 0.2, "words": 0.8, "copied": -0.1, "glue": -0.2, "h.rules": -0.3}
    >>> print(format_chart_weights(names | {"h.p_ts": 0.3, "h.p_st": 0.15, "h.lex_ts": 0.2, "h.lex_st": 0.1}), end="")
    [weight]
    UnknownWordPenalty0= -0.002
    WordPenalty0= -0.8
    PhrasePenalty0= -0.3
    TranslationModel0= 0.15 0.1 0.3 0.2
    TranslationModel1= 0.1
    LM0= 0.2
    """

    def weight(feature: str) -> float:
        names = [name for name in weights if name.rpartition(".")[2] == feature]
        if len(names) != 1:
            raise ConfigError(
                f"{len(names)} weights for {feature!r} among {', '.join(weights)}",
                remedy="tune the system again, or give a file with the weights of one grammar",
            )
        return float(weights[names[0]])

    rules = weight("rules")
    values = {
        "UnknownWordPenalty0": [(rules - weight("copied")) / 100],
        "WordPenalty0": [-weight("words")],
        "PhrasePenalty0": [rules],
        "TranslationModel0": [weight(name) for name in ("p_st", "lex_st", "p_ts", "lex_ts")],
        "TranslationModel1": [weight("glue") - rules],
        "LM0": [weight("lm")],
    }
    lines = (f"{name}= " + " ".join(repr(round(value, 12)) for value in each) for name, each in values.items())
    return "[weight]\n" + "".join(f"{line}\n" for line in lines)
