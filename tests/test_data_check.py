"""What a new user's data looks like, and what is said about it before and while it is prepared."""

from __future__ import annotations

import json
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from cli_runner import Run
from treeglot.bitext.segmenters import load_segmenter
from treeglot.cli.project import write_config
from treeglot.examples import Sizes, generate, write_example
from treeglot.grammars import registry
from treeglot.pipeline.config import parse_config
from treeglot.pipeline.data_check import even_sample
from treeglot.pipeline.systems import SEARCH_OPTIONS, presets

PAIRS = [(" ".join(p.source.tokens.forms), " ".join(p.target.tokens.forms)) for p in generate(300, seed=5)]


def make(
    folder: Path, run: Run, *options: str, source: list[str] | None = None, target: list[str] | None = None
) -> Path:
    """A project of Chinese without blanks and English, or of other texts."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    source = ["".join(zh.split()) for zh, _ in PAIRS] if source is None else source
    target = [en for _, en in PAIRS] if target is None else target
    arguments = dict(zip(options[::2], options[1::2], strict=True))
    for lang, lines in ((arguments.get("--source", "zh"), source), (arguments.get("--target", "en"), target)):
        (corpus / f"train.{lang}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert run("init", folder, *options).code == 0
    return folder


def with_trees(folder: Path) -> Path:
    """A project of the embedded example with its trees, but smaller."""
    write_config(folder, "zh", "en", {"train": "raw/train", "dev": "raw/dev"}, "space", trees=True)
    write_example(folder / "raw", sizes=Sizes(60, 5, 5, 0))
    return folder


def setting(folder: Path, old: str, new: str) -> None:
    config = folder / "treeglot.toml"
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def text_section(folder: Path) -> dict[str, str]:
    with (folder / "treeglot.toml").open("rb") as file:
        section: dict[str, str] = tomllib.load(file)["text"]
    return section


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"source_tokenizer": "jieba", "target_tokenizer": "moses"}),
        (("--source", "de"), {"tokenizer": "moses"}),
        (("--source", "en", "--target", "th"), {"source_tokenizer": "moses", "target_tokenizer": "pythainlp"}),
        (("--tokenizer", "char"), {"tokenizer": "char"}),
        (("--tokenizer", "jieba"), {"source_tokenizer": "jieba", "target_tokenizer": "moses"}),
        (("--source", "km", "--target", "my"), {"tokenizer": "char"}),
        (("--tokenizer", "space"), {"tokenizer": "space"}),
    ],
)
def test_init_writes_what_fits_the_languages(
    run: Run, tmp_path: Path, options: tuple[str, ...], expected: dict[str, str]
) -> None:
    assert run("init", tmp_path / "p", *options).code == 0
    assert text_section(tmp_path / "p") == {"casing": "lower", **expected}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--tokenizer", "mosse"), "choose from auto, moses"),
        (("--source", "de", "--tokenizer", "jieba"), "jieba segments Chinese, not de"),
        (("--source", "Chinese"), "languages.source"),
    ],
)
def test_init_refuses_before_anything_is_there(run: Run, tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    result = run("init", tmp_path / "p", *options)
    assert result.code == 1 and says in result.err
    assert not (tmp_path / "p").exists()


def test_chinese_without_blanks_is_fine_by_default(run: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "p", run)
    result = run("config", "check", folder)
    assert result.code == 0 and result.out == f"{folder / 'treeglot.toml'}: fine\n"


@pytest.mark.parametrize("tokenizer", ["moses", "space"])
def test_text_without_blanks_and_without_a_segmenter(run: Run, tmp_path: Path, tokenizer: str) -> None:
    folder = make(tmp_path / "p", run)
    setting(folder, '"jieba"', f'"{tokenizer}"')
    checked = run("config", "check", folder)
    assert checked.code == 1
    assert "the source (zh) has hardly any blanks" in checked.out and 'source_tokenizer = "jieba"' in checked.out
    # Training stops by itself, and leaves nothing under its name.
    trained = run("train", folder)
    assert trained.code == 1
    assert "% of 300 pairs would be dropped, more than 20 %" in trained.err and "lengths too different" in trained.err
    assert 'source_tokenizer = "jieba"' in trained.err and "cleaning.max_dropped" in trained.err
    assert not (folder / "corpus/train.report.txt").exists() and not (folder / "alignment").exists()
    setting(folder, "[lm]", "[cleaning]\nmax_dropped = 1\n\n[lm]")
    allowed = run("train", folder)
    assert allowed.code == 0 and "pairs kept; dropped" in allowed.err and "lengths too different" in allowed.err


def test_the_share_is_said_on_the_terminal(run: Run, tmp_path: Path) -> None:
    pairs = [*PAIRS[:90], *[("", "nothing")] * 10]
    source, target = ["".join(zh.split()) for zh, _ in pairs], [en for _, en in pairs]
    folder = make(tmp_path / "p", run, source=source, target=target)
    result = run("train", folder)
    assert result.code == 0 and "train: 90 of 100 pairs kept; dropped 10.0 %: one side is empty" in result.err
    assert "pairs kept" not in run("-q", "train", folder).err


def test_pairs_that_were_to_go_do_not_count(run: Run, tmp_path: Path) -> None:
    pairs = [*PAIRS[:50], *PAIRS[:50]]
    source, target = ["".join(zh.split()) for zh, _ in pairs], [en for _, en in pairs]
    folder = make(tmp_path / "p", run, source=source, target=target)
    setting(folder, "[lm]", "[cleaning]\nduplicates = true\n\n[lm]")
    result = run("train", folder)
    assert result.code == 0 and "50 of 100 pairs kept; dropped 50.0 %: seen before" in result.err


def test_a_project_with_trees_stops_too(run: Run, tmp_path: Path) -> None:
    folder = with_trees(tmp_path / "p")
    target = folder / "raw/train.en"
    count = sum(1 for _ in target.open(encoding="utf-8"))
    target.write_text("\n" * count, encoding="utf-8")
    result = run("train", folder)
    assert result.code == 1 and "one side is empty" in result.err
    assert not (folder / "corpus").exists() and not (folder / "trees").exists()


def test_files_of_different_length(run: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "p", run, target=[en for _, en in PAIRS[:-7]])
    result = run("config", "check", folder)
    assert result.code == 1 and "train.en:294: the file ends after 293 lines" in result.out


def test_trees_and_text_of_different_length(run: Run, tmp_path: Path) -> None:
    folder = with_trees(tmp_path / "p")
    assert run("config", "check", folder).code == 0
    target = folder / "raw/train.en"
    target.write_text(target.read_text(encoding="utf-8") + "one more\n", encoding="utf-8")
    result = run("config", "check", folder)
    assert result.code == 1 and "60 sentences, but" in result.out and "61 lines" in result.out
    setting(folder, 'conllu = "raw/train.zh.conllu"\npenn = "raw/train.zh.penn"', 'jsonl = "raw/train.jsonl"')
    result = run("config", "check", folder)
    assert result.code == 1 and "train.jsonl: 60 sentences, but" in result.out and "61 lines" in result.out


def test_not_utf8(run: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "p", run)
    (folder / "corpus/train.zh").write_bytes("".join(f"{zh}\n" for zh, _ in PAIRS).encode("gb18030"))
    result = run("config", "check", folder)
    assert result.code == 1 and "train.zh:1: not UTF-8" in result.out


def test_text_that_was_decoded_wrongly(run: Run, tmp_path: Path) -> None:
    french = [f"la forêt est très loin d'ici, numéro {n}" for n in range(100)]
    twice = [line.encode().decode("cp1252") for line in french]
    options = ("--source", "fr", "--target", "en")
    english = [f"the forest is far away from here, number {n}" for n in range(100)]
    folder = make(tmp_path / "p", run, *options, source=twice, target=english)
    result = run("config", "check", folder)
    assert result.code == 1 and "UTF-8 that was read as Windows-1252" in result.out
    lost = [line.replace("ê", "\ufffd") for line in french]
    folder = make(tmp_path / "q", run, *options, source=lost, target=english)
    assert "lost characters (U+FFFD) in 100 %" in run("config", "check", folder).out
    folder = make(tmp_path / "r", run, *options, source=french, target=english)
    assert run("config", "check", folder).code == 0


def test_sides_that_are_exchanged(run: Run, tmp_path: Path) -> None:
    chinese, english = ["".join(zh.split()) for zh, _ in PAIRS], [en for _, en in PAIRS]
    result = run("config", "check", make(tmp_path / "p", run, source=english, target=chinese))
    assert result.code == 1 and result.out.count("are the two sides exchanged?") == 2


def test_words_that_are_there_already(run: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "p", run, source=[zh for zh, _ in PAIRS])
    result = run("config", "check", folder)
    assert result.code == 0 and "has blanks between its words already" in result.out
    setting(folder, '"jieba"', '"space"')
    assert run("config", "check", folder).out.endswith(": fine\n")


def test_lines_that_do_not_translate_each_other(run: Run, tmp_path: Path) -> None:
    long = [" ".join(["word"] * 60)] * len(PAIRS)
    folder = make(tmp_path / "p", run, target=long)
    result = run("config", "check", folder)
    assert result.code == 1 and "data.train, of a sample" in result.out and "cleaning.max_ratio" in result.out


def test_a_missing_segmenter_and_a_missing_parser(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find_spec = importlib.util.find_spec
    hidden = ("jieba", "stanza", "spacy", "benepar", "ufal", "ufal.udpipe")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in hidden else find_spec(name, *rest)
    )
    monkeypatch.setitem(sys.modules, "jieba", None)
    load_segmenter.cache_clear()
    folder = make(tmp_path / "p", run)
    result = run("config", "check", folder)
    assert result.code == 1 and "pip install 'treeglot[chinese]'" in result.out
    assert "pip install 'treeglot[chinese]'" in run("train", folder).err
    setting(folder, "[systems.phrases]", "[systems.dep2str]\n\n[systems.phrases]")
    setting(folder, "[lm]", '[parsers.source]\nbackend = "stanza"\n\n[lm]')
    result = run("config", "check", folder)
    assert result.code == 1 and "treeglot[stanza]" in result.out
    assert "treeglot[chinese]" not in result.out, "the parser makes the words"


def test_the_sample_is_even_and_the_same() -> None:
    assert even_sample(range(5), 10) == list(range(5))
    for size in (10, 999, 1000, 5000):
        sample = even_sample(range(size), 100)
        assert len(sample) >= min(size, 100) and len({b - a for a, b in pairwise(sample)}) == 1


def test_config_show_has_every_default_of_every_system(run: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "p", run)
    setting(folder, "[lm]", "[systems.best]\nstack_limit = 77\n\n[lm]")
    text = run("config", "show", folder).out
    shown = tomllib.loads(text)
    assert shown["text"]["source_tokenizer"] == "jieba" and shown["cleaning"]["max_dropped"] == 0.2
    assert shown["systems"]["best"]["stack_limit"] == 77 and shown["systems"]["best"]["free_phrases"] is True
    # The same with the comments of the presets taken away, and it means the same to the program.
    everything = tomllib.loads(
        "\n".join(line.removeprefix("# ") for line in text.splitlines() if "Presets:" not in line)
    )
    assert set(everything["systems"]) == set(presets())
    for system in everything["systems"].values():
        declared = [option for name in system["grammars"] for option in registry.grammar(name).options]
        defaults = {option.name: option.default for option in declared}
        # Where two grammars have different defaults each has its own.
        options = set(defaults) - {option.name for option in declared if option.default != defaults[option.name]}
        assert {"grammars", "tuning", *SEARCH_OPTIONS, *options} <= set(system)
        assert set(system["tuning"]) == {"method", "metric", "iterations", "nbest"}
    before, after = parse_config((folder / "treeglot.toml").read_text(encoding="utf-8")), parse_config(text)
    assert {name: before.system(name) for name in presets()} == {name: after.system(name) for name in presets()}
    as_json = json.loads(run("config", "show", folder, "--json").out)
    assert {**as_json["systems"], **as_json["presets"]} == everything["systems"]


def test_bitext_clean_stops_too(run: Run, tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("a.zh", "a.en", "b.zh", "b.en")]
    names[0].write_text("\n".join(["一"] * 6 + [""] * 4) + "\n", encoding="utf-8")
    names[1].write_text("\n".join(f"one {n}" for n in range(10)) + "\n", encoding="utf-8")
    result = run("bitext", "clean", *names)
    assert result.code == 1 and "40.0 % of 10 pairs would be dropped" in result.err and "--max-dropped" in result.err
    assert not names[2].exists() and not names[3].exists()
    assert run("bitext", "clean", *names, "--max-dropped", "0.5").code == 0
    assert len(names[2].read_text(encoding="utf-8").splitlines()) == 6
