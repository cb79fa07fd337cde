"""The six phrase tables of the phrase-extraction paper: ``python bench/phrase_sets.py PARSED FOLDER --pair fr-en [--sets ...]``.

``PARSED`` has ``train``, ``val`` and the test part as ``NAME.LANGUAGE.penn`` and ``NAME.LANGUAGE.conllu`` on both sides, sentence by
sentence. Their words are the text. In ``FOLDER`` one project is trained, tuned and tested for each of STR, CON, DEP, STR+CON, STR+DEP
and STR+CON+DEP; what is done is not done again. Printed are the number of phrase pairs, BLEU, NIST and METEOR with the bootstrap's p
against STR, then the numbers, lengths and overlaps of the three sets, and how much the two kinds of trees differ.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from treeglot import progress
from treeglot.evaluation.metrics import Options
from treeglot.evaluation.report import evaluate
from treeglot.evaluation.significance import compare
from treeglot.files import atomic_write, read_lines
from treeglot.pipeline.project import Project
from treeglot.pipeline.tuned import tune_system
from treeglot.tables import PhraseTable
from treeglot.trees.formats import read_sentences

SETS = ("STR", "CON", "DEP", "STR+CON", "STR+DEP", "STR+CON+DEP")
METRICS = ("bleu", "nist", "meteor")

CONFIG = """\
[project]
name = "{name}"

[languages]
source = "{source}"
target = "{target}"

[data.train]
source = "train.{source}"
target = "train.{target}"

[data.dev]
source = "dev.{source}"
target = "dev.{target}"

[data.test]
source = "test.{source}"
target = "test.{target}"

[text]
tokenizer = "space"
casing = "lower"

[phrases]
sets = [{sets}]
con_source = "{parsed}/train.{source}.penn"
con_target = "{parsed}/train.{target}.penn"
dep_source = "{parsed}/train.{source}.conllu"
dep_target = "{parsed}/train.{target}.conllu"

[tuning]
method = "{method}"
"""


def write_text(parsed: Path, folder: Path, languages: tuple[str, str], test: str) -> None:
    """The words of the trees; the two kinds of trees must have the same."""
    for part, name in (("train", "train"), ("dev", "val"), ("test", test)):
        for language in languages:
            out = folder / f"{part}.{language}"
            if not out.exists():
                with atomic_write(out) as file:
                    for sentence in read_sentences(parsed / f"{name}.{language}.penn"):
                        file.write(" ".join(form.replace(" ", "_") for form in sentence.tokens.forms) + "\n")


def translate(folder: Path, test: Path) -> list[str]:
    out = folder / "test.out"
    project = Project(folder)
    project.train(print)
    tune_system(project, "phrases", print)
    weights = project.weights_path("phrases")
    if not out.exists() or out.stat().st_mtime < weights.stat().st_mtime:
        lines = [line for _, line in read_lines(test)]
        found = project.decoder("phrases").translate(lines, threads=project.threads)
        with atomic_write(out) as file:
            file.writelines(f"{one.text}\n" for one in found)
    return [line for _, line in read_lines(out)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parsed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pair", default="fr-en")
    parser.add_argument("--test", default="test", help="the name of the test part")
    parser.add_argument("--method", default="mert")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options = parser.parse_args()
    progress.set_quiet(True)
    source, target = options.pair.split("-")
    options.folder.mkdir(parents=True, exist_ok=True)
    text = options.folder / "text"
    text.mkdir(exist_ok=True)
    write_text(options.parsed, text, (source, target), options.test)
    references = [line.lower() for _, line in read_lines(text / f"test.{target}")]
    outputs: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for name in options.sets:
        folder = options.folder / name
        folder.mkdir(exist_ok=True)
        for part in ("train", "dev", "test"):
            for language in (source, target):
                link = folder / f"{part}.{language}"
                if not link.is_symlink():
                    link.symlink_to(text.resolve() / link.name)
        sets = ", ".join(f'"{one}"' for one in name.split("+"))
        values = {"name": name, "source": source, "target": target, "sets": sets, "method": options.method}
        config = CONFIG.format(parsed=options.parsed.resolve(), **values)
        if not (folder / "treeglot.toml").exists():
            (folder / "treeglot.toml").write_text(config)
        outputs[name] = translate(folder, Project(folder).corpus("test")[0])
        sizes[name] = PhraseTable(Project(folder).table).statistics().entries
    scoring = Options(tokenize="none", language=target)
    p_values: dict[tuple[str, str], float] = {}
    if "STR" in outputs and len(outputs) > 1:
        others = {name: lines for name, lines in outputs.items() if name != "STR"}
        for one in compare(outputs["STR"], others, references, METRICS, options=scoring):
            p_values[one.system, one.metric.lower()] = one.p
    print("\t".join(["set", "pairs", *(part for metric in METRICS for part in (metric.upper(), "p"))]))
    for name, lines in outputs.items():
        scores = evaluate(lines, references, METRICS, options=scoring)
        cells = [name, f"{sizes[name]:,}"]
        for metric, score in zip(METRICS, scores, strict=True):
            p = p_values.get((name, score.metric.lower()), p_values.get((name, metric)))
            cells += [f"{score.score:.2f}", "" if p is None else f"{p:.3f}"]
        print("\t".join(cells))
    full = options.folder / "STR+CON+DEP"
    if full.is_dir():
        project = Project(full)
        one, two = project.corpus("train")
        command = [sys.executable, "-m", "treeglot", "--quiet", "rules"]
        spans = [part for name in ("CON", "DEP") for part in ("--spans", f"{name}={full / f'rules/{name}.spans'}")]
        texts = ["--source", str(one), "--target", str(two), "--align", str(project.links)]
        subprocess.run([*command, "compare-sets", *texts, *spans], check=True)
        for language in (source, target):
            trees = [str(options.parsed / f"train.{language}.{ending}") for ending in ("penn", "conllu")]
            print(f"brackets of the {language} trees:")
            subprocess.run([*command, "brackets", *trees], check=True)


if __name__ == "__main__":
    main()
