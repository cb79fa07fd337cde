"""The tool that puts mistakes into the code: its mutants are real ones, its sample depends on the seed, its lists follow the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mutants
from mutants_core import MUTANTS

ROOT = Path(__file__).parents[1]


def test_mutants_are_other_programs_that_are_still_python() -> None:
    path = "alignment/symmetrize.py"
    source = (mutants.SOURCE / path).read_bytes()
    mutants_found = mutants.mutants_of(path)
    assert len(mutants_found) > 20
    original = ast.dump(ast.parse(source))
    for mutant in filter(mutants.is_python, mutants_found):
        assert ast.dump(ast.parse(mutant.apply(source))) != original, mutant
        assert mutant.shown(source).startswith(f"{path}: ")


def test_the_sample_depends_on_the_seed_and_begins_with_a_smaller_one() -> None:
    room = ["common"]
    ten = list(mutants.sample(10, 1, room))
    assert list(mutants.sample(20, 1, room))[:10] == ten != list(mutants.sample(10, 2, room))
    assert len(set(ten)) == 10


def test_modules_have_the_tests_that_concern_them() -> None:
    for path, test in (
        ("files.py", "test_files.py"),
        ("bitext/po.py", "test_bitext_formats.py"),
        ("evaluation/significance.py", "test_evaluation.py"),
        ("parsers/journal.py", "test_parsers_driver.py"),
    ):
        assert test in mutants.tests_of(path), path


def test_a_mutant_is_noticed_and_the_copy_is_mended(tmp_path: Path) -> None:
    copy = mutants.Copy(tmp_path)
    source = (mutants.SOURCE / "words.py").read_bytes()
    module = str(copy.package / "words.py")
    for content, result in (
        (source, "passed"),
        (
            source.replace(b'BLANKS = " \\t\\r\\n"', b'BLANKS = "\\t\\r\\n"').replace(b'split(" ")', b'split("t")'),
            "failed",
        ),
        (source, "passed"),
    ):
        copy.put("words.py", content)
        assert copy.run([module, "--doctest-modules"], 120)[0] == result


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.file.split("/")[-1])
def test_the_list_for_the_core_follows_the_code(mutant: mutants.Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert mutant.apply(source) != source  # type: ignore[arg-type]
    assert len({(item.file, item.old) for item in MUTANTS}) == len(MUTANTS)
