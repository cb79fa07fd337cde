"""``treeglot init``, ``train``, ``tune`` and ``export``: a project from its data to a tuned translator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from treeglot.bitext.scripts import blankless_language
from treeglot.bitext.segmenters import SEGMENTERS, check_method, installed_method, missing_package
from treeglot.cli.interrupted import STAGES, keeping
from treeglot.cli.options import MaybeSeedOption, ProjectArgument, ProjectOption, project_folder
from treeglot.errors import ConfigError
from treeglot.examples import write_example
from treeglot.files import atomic_write
from treeglot.grammars import combinations
from treeglot.pipeline.config import CONFIG_NAME, TOKENIZERS, load_config, parse_config
from treeglot.pipeline.export import export_moses
from treeglot.pipeline.project import Project
from treeglot.pipeline.stages import StageResult
from treeglot.pipeline.systems import presets
from treeglot.pipeline.tuned import tune_replicates, tune_system
from treeglot.progress import tell

export_app = typer.Typer(help="Hand a project over to other tools.", no_args_is_help=True)


BASELINE, LEARNT_FROM_TREES = combinations.DEMO[0], combinations.DEMO[-1]
"""The systems that a new project begins with."""


def announce(message: str) -> None:
    """Progress of stages on standard error."""
    tell(message)


def train(
    folder: ProjectArgument = None,
    project: ProjectOption = Path(),
    system: Annotated[
        list[str] | None, typer.Option(help="Also what this system needs; those of the configuration always are.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print times and memory as JSON.")] = False,
) -> None:
    """Learn all but the weights: text, trees, word alignment, tables, language model. Goes on where it stopped."""
    with keeping(lambda: STAGES):
        results = Project(project_folder(folder, project)).train(announce, system or ())
    _print_results(results, as_json)


def tune(
    folder: ProjectArgument = None,
    project: ProjectOption = Path(),
    system: Annotated[str, typer.Option(help="A system of the configuration, or a preset.")] = BASELINE,
    seed: MaybeSeedOption = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, max=1000, help="Runs with this many seeds, from random starts, side by side: mean and deviation."
        ),
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the weights as JSON.")] = False,
) -> None:
    """Set the weights of a system on the dev part, with a report beside them. Goes on where it stopped."""
    loaded = Project(project_folder(folder, project))
    loaded.check_system(system)
    if seeds > 1 and seed is not None:
        raise ConfigError("--seed and --seeds together", remedy="give one of them")
    with keeping(lambda: f"{STAGES}; so does tuning behind its last iteration"):
        _tune(loaded, system, seed, seeds, as_json)


def _tune(loaded: Project, system: str, seed: int | None, seeds: int, as_json: bool) -> None:
    loaded.train(announce, [system])
    if seeds > 1:
        replicates = tune_replicates(loaded, system, announce, seeds=seeds)
        record = {"seeds": replicates.seeds, "dev": replicates.dev, "mean": replicates.mean}
        print(json.dumps({**record, "deviation": replicates.deviation}, indent=2) if as_json else replicates.to_text())
        return
    weights = tune_system(loaded, system, announce, seed=seed)
    if as_json:
        print(json.dumps(weights, indent=2))
    else:
        print(loaded.weights_path(system, seed))


@export_app.command("moses")
def moses(
    folder: Annotated[Path, typer.Argument(help="Where to write.")],
    project: ProjectOption = Path(),
    system: Annotated[
        str, typer.Option(help="Whose tables and weights: of phrases, or of rules that Moses reads.")
    ] = BASELINE,
) -> None:
    """Write corpus, alignment, ARPA, the tables of a system as text and a moses.ini with our weights."""
    for path in export_moses(Project(project), folder, system):
        print(path)


def _print_results(results: list[StageResult], as_json: bool) -> None:
    if as_json:
        print(json.dumps([result.__dict__ for result in results], indent=2))
        return
    table = Table("stage", "seconds", "peak memory", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        done = "up to date" if result.skipped else f"{result.seconds:.1f}"
        table.add_row(result.name, done, "" if result.skipped else f"{result.peak_memory >> 20:,} MB")
    Console(soft_wrap=True).print(table)


TEMPLATE = """\
# A treeglot project. `treeglot config show` prints every key with its default.

[project]
name = "{name}"
seed = 1

[languages]
source = "{source}"
target = "{target}"
{data}
[text]
casing = "lower"       # keep, lower or true
{tokenizers}

[lm]
order = 4

[tuning]
method = "expected"    # or mert, mira, pro
metric = "bleu"        # or chrf, ter; bleu+chrf; with weights: {{ bleu = 2, ter = 1 }}
{systems}"""
_COMMENTS = {
    "moses": "or space: the text has blanks between its words already",
    "space": "the text has blanks between its words already; moses splits off punctuation",
    "char": "every character is a word; space: the text has blanks between its words already",
    "segmenter": "words of text without blanks; space: it has blanks between its words already; char: every character a word",
}


def _section(system: str) -> str:
    """A preset as a section of the configuration."""
    names = ", ".join(f'"{name}"' for name in presets()[system]["grammars"])
    return f"[systems.{system}]\ngrammars = [{names}]\n"


NO_TREES = f"""
{_section(BASELINE)}
# Learnt from trees of the source, which are given or made by [parsers.source]:
# {_section("best").strip().replace(chr(10), chr(10) + "# ")}
"""
TREES = f"""
# Every preset is ready to be trained and tuned, for example `treeglot tune --system {LEARNT_FROM_TREES}`.
{_section(BASELINE)}
{_section(LEARNT_FROM_TREES)}"""


def init(
    folder: ProjectArgument = None,
    project: ProjectOption = Path(),
    source: Annotated[str, typer.Option(help="Source language.")] = "zh",
    target: Annotated[str, typer.Option(help="Target language.")] = "en",
    train: Annotated[
        str, typer.Option(help="Training text: its path without the language, or one TMX, TSV ... file.")
    ] = "corpus/train",
    dev: Annotated[str, typer.Option(help="Text to tune on, in the same way.")] = "",
    test: Annotated[str, typer.Option(help="Text to test on, in the same way.")] = "",
    tokenizer: Annotated[
        str, typer.Option(help=f"How text becomes words, by default what fits each language: {', '.join(TOKENIZERS)}.")
    ] = "auto",
    trees: Annotated[
        bool, typer.Option("--trees", help="Trees of the source are there too: train.zh.conllu and train.zh.penn.")
    ] = False,
    example: Annotated[bool, typer.Option("--example", help="Fill it with the embedded example corpus.")] = False,
) -> None:
    """Start a project: a folder with a treeglot.toml; an existing one is never overwritten."""
    folder = project_folder(folder, project)
    if example:
        source, target, tokenizer = "zh", "en", "space"
        train, dev, test, trees = "raw/train", "raw/dev", "raw/test", True
    data = {"train": train, "dev": dev, "test": test}
    if example:
        data["tests.test_long"] = "raw/test_long"
    path = write_config(folder, source, target, data, tokenizer, trees=trees)
    if example:
        write_example(folder / "raw")
    print(path)
    text = load_config(path).text
    needed = {text.method("target", target)} | (set() if trees else {text.method("source", source)})
    for how in filter(None, map(missing_package, sorted(needed))):
        tell(f"before `treeglot train`: {how}")


def _tokenizer_lines(source: str, target: str, tokenizer: str) -> str:
    """The tokenizers for the configuration: one key if both languages have the same one, else one for each side."""
    if tokenizer not in TOKENIZERS:
        raise ConfigError(f"no tokenizer {tokenizer!r}", remedy=f"choose from {', '.join(TOKENIZERS)}")
    languages = {"source": source, "target": target}
    chosen = dict.fromkeys(languages, tokenizer)
    if tokenizer == "auto":
        chosen = {side: installed_method(lang) for side, lang in languages.items()}
    elif tokenizer in SEGMENTERS:  # for the side that has its language
        fits = [side for side, lang in languages.items() if blankless_language(lang) == SEGMENTERS[tokenizer].lang]
        if not fits:
            check_method(tokenizer, source)
        chosen = {side: tokenizer if side in fits else installed_method(lang) for side, lang in languages.items()}
    if chosen["source"] == chosen["target"]:
        return f'tokenizer = "{chosen["source"]}"    # {_COMMENTS.get(chosen["source"], _COMMENTS["segmenter"])}'
    return "\n".join(
        f'{side}_tokenizer = "{name}"    # {_COMMENTS.get(name, _COMMENTS["segmenter"])}'
        for side, name in chosen.items()
    )


def write_config(
    folder: Path, source: str, target: str, data: dict[str, str], tokenizer: str, *, trees: bool = False
) -> Path:
    """Write a first treeglot.toml. ``data`` names the parts' files without their languages, or single files; ``trees``: the
    source's words are those of trees beside them."""
    path = folder / CONFIG_NAME
    if path.exists():
        raise ConfigError("exists already", path=path, remedy="edit it, or choose another folder")
    sections = ""
    for part, prefix in data.items():
        if prefix and Path(prefix).suffix in (".tmx", ".tsv", ".jsonl", ".po"):
            sections += f'\n[data.{part}]\nfile = "{prefix}"\n'
        elif prefix:
            name = f"{prefix}.{source}"
            words = f'conllu = "{name}.conllu"\npenn = "{name}.penn"' if trees else f'source = "{name}"'
            sections += f'\n[data.{part}]\n{words}\ntarget = "{prefix}.{target}"\n'
    name = folder.resolve().name
    content = TEMPLATE.format(
        name=name,
        source=source,
        target=target,
        tokenizers=_tokenizer_lines(source, target, tokenizer),
        data=sections,
        systems=TREES if trees else NO_TREES,
    )
    parse_config(content, str(path))  # a language that is none is refused before anything is there
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(content)
    return path
