"""``treeglot trees train-aligner``: learn to link the nodes of trees from trees that are linked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from treeglot.cli.options import SeedOption, ThreadsOption
from treeglot.cli.subtree_files import Anywhere, Lenient, TreeAlignerFiles, check_not_empty
from treeglot.errors import TreeglotError
from treeglot.files import check_places, read_lines
from treeglot.progress import is_quiet, say, tell, track
from treeglot.trees.formats import check_format, guess_format
from treeglot.trees.sentence import AlignedPair


def add_commands(app: typer.Typer) -> None:
    """Hook the command into ``treeglot trees``."""
    app.command("train-aligner")(train_aligner)


def train_aligner(
    gold: Annotated[
        list[Path], typer.Argument(help="Files of pairs of trees with node links (TreeAligner XML, JSONL).")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write.")],
    dev: Annotated[
        list[Path] | None, typer.Option(help="Files to tune on; default: the last sixth of the pairs.")
    ] = None,
    text: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="More parallel text to learn about words from: two tokenised files, a sentence a line."),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="A dictionary: lines of source headword, tabulator, target headword."),
    ] = None,
    kernels: Annotated[
        str | None, typer.Option(help="Terms of the composite kernel, such as plain,dBTK-Root,iBTK-RgSST.")
    ] = None,
    features: Annotated[str, typer.Option(help="Plain features: lexical, paper or extended.")] = "extended",
    passes: Annotated[int, typer.Option(help="1, or 2: a second look that sees the links around.", min=1, max=2)] = 2,
    tune: Annotated[bool, typer.Option(help="Tune the kernel's weights and the SVM on the dev part.")] = True,
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--approximate", help="Exact SVM or Nyström map; default: exact if it is small enough."),
    ] = None,
    landmarks: Annotated[int, typer.Option(help="Sub-trees that a Nyström map compares with.", min=1)] = 400,
    most: Annotated[
        int,
        typer.Option(
            "--candidates", help="Candidates that an SVM learns from at most; 30,000 need about 3 GB.", min=100
        ),
    ] = 30_000,
    decay: Annotated[float, typer.Option(help="λ of the tree kernels.")] = 0.4,
    best: Annotated[bool, typer.Option("--best", help="The best set of links instead of the greedy one.")] = False,
    given_links: Annotated[
        bool, typer.Option("--given-word-links", help="Use the word links of the files, here and when aligning.")
    ] = False,
    learn_links: Annotated[
        bool,
        typer.Option("--learn-word-links", help="Learn how words are linked, too, from the word links of the files."),
    ] = False,
    boosted: Annotated[
        bool, typer.Option("--trees/--no-trees", help="Boosted trees beside the kernels, in the second pass.")
    ] = True,
    fuzzy: Annotated[bool, typer.Option("--fuzzy", help="Learn fuzzy links as good ones.")] = False,
    universal: Annotated[
        bool,
        typer.Option("--universal-labels", help="See trees in universal labels: for other languages than these, too."),
    ] = False,
    seed: SeedOption = 1,
    threads: ThreadsOption = 0,
    from_format: Annotated[str | None, typer.Option("--from", "-f", help="Format of the files.")] = None,
    lenient: Lenient = False,
    anywhere: Anywhere = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print how the model was made as JSON.")] = False,
) -> None:
    """Train a sub-tree aligner for `treeglot trees align --model`.

    With --universal-labels the files may be of several pairs of languages, and the model is for any other one.
    """
    from treeglot.alignment.dictionary import Dictionary
    from treeglot.alignment.subtrees.training import DEFAULT_TERMS
    from treeglot.alignment.subtrees.training import train_aligner as train
    from treeglot.alignment.subtrees.universal_training import language_groups, train_universal

    check_places([out], [*gold, *(dev or ()), *(text or ()), dictionary])
    how = TreeAlignerFiles(lenient=lenient, anywhere=anywhere)
    files = [_read([path], from_format, how) for path in gold]
    pairs = [pair for file in files for pair in file]
    _check_linked(pairs, gold[0])
    banks = language_groups(files) if universal else [pairs]
    tuning = _read(dev, from_format, how) if dev else None
    if dev and tuning is not None:
        _check_linked(tuning, dev[0])
    lines = None
    if text is not None:
        lines = tuple([line for _, line in read_lines(path)] for path in text)
        if len(lines[0]) != len(lines[1]):
            raise TreeglotError(
                f"{len(lines[0]):,} lines, but {text[1]} has {len(lines[1]):,}",
                path=text[0],
                remedy="give the two sides of the same sentence pairs",
            )
    terms = None if kernels is None else tuple(name.strip() for name in kernels.split(","))
    settings: dict[str, Any] = {
        "features": features,
        "passes": passes,
        "tune": tune,
        "exact": exact,
        "landmarks": landmarks,
        "max_candidates": most,
        "decay": decay,
        "best": best,
        "given_links": given_links,
        "learn_links": learn_links,
        "trees": boosted,
        "fuzzy_is_good": fuzzy,
        "universal": universal,
        "seed": seed,
        "threads": threads,
    }
    report = None if is_quiet() else lambda line: tell(line)
    if len(banks) > 1:
        for name, given in (("--dev", dev), ("--text", text), ("--dictionary", dictionary)):
            if given:
                raise TreeglotError(
                    f"{name} with treebanks of {len(banks)} pairs of languages",
                    remedy="leave it out: the last sixth of each is tuned on, and words are learnt when aligning",
                )
        model = train_universal(banks, report=report, **settings, **({} if terms is None else {"terms": terms}))
    else:
        model = train(
            pairs,
            tuning,
            text=None if lines is None else (lines[0], lines[1]),
            dictionary=None if dictionary is None else Dictionary.read(dictionary),
            report=report,
            terms=DEFAULT_TERMS if terms is None else terms,
            **settings,
        )
    model.save(out)
    if as_json:
        print(json.dumps(model.info, ensure_ascii=False, sort_keys=True))
    elif not is_quiet():
        score = model.info["development"]
        numbers = (
            f"{name} {100 * score[key]:.2f}" for name, key in (("P", "precision"), ("R", "recall"), ("F1", "f1"))
        )
        say(f"treeglot: {out}: {' '.join(numbers)} on the development part")


def _check_linked(pairs: list[AlignedPair], path: Path) -> None:
    if not any(link.source >= 0 and link.target >= 0 for pair in pairs for link in pair.node_links):
        raise TreeglotError(
            "no links between phrases to learn from", path=path, remedy="give trees whose nodes are linked by hand"
        )


def _read(paths: list[Path], given: str | None, files: TreeAlignerFiles) -> list[AlignedPair]:
    pairs: list[AlignedPair] = []
    for path in paths:
        check_not_empty(path)
        format = check_format(given) if given else guess_format(path, reading=True)
        kind, items = files.open(path, format)
        if kind != "pairs":
            raise TreeglotError("not pairs of trees", path=path, remedy="give TreeAligner XML or JSONL with both sides")
        pairs += track(items, f"reading {path}")
    return pairs
