"""The documentation is about the code that is there: modules and packages are named, and what is named exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import treeglot

DOCS = Path(__file__).parents[1] / "docs"
PACKAGE = Path(treeglot.__file__).parent
API = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
PACKAGES = sorted(
    ".".join(("treeglot", *path.parent.relative_to(PACKAGE).parts)) for path in PACKAGE.rglob("__init__.py")
)
NAMED = re.compile(r"`(treeglot(?:\.(?!toml)[a-z_0-9]+)+)(?:\.(?!NAME)([A-Z]\w*))?`")


@pytest.mark.parametrize("name", API)
def test_every_module_of_the_api_is_there(name: str) -> None:
    assert importlib.import_module(name).__doc__


def test_every_package_is_in_the_api() -> None:
    assert len(set(API)) == len(API)
    assert set(PACKAGES) <= set(API), sorted(set(PACKAGES) - set(API))


def test_the_package_names_its_rooms() -> None:
    for name in PACKAGES:
        if name.count(".") == 1:
            assert f"`{name}`" in (treeglot.__doc__ or ""), name


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    for name, member in NAMED.findall(page.read_text(encoding="utf-8")):
        thing = resolve(name)
        assert not member or hasattr(thing, member), f"{name}.{member}"


def resolve(name: str) -> object:
    """A module, or what a module has under the last part of the name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last)


def test_papers_name_pages_that_are_there() -> None:
    for page in re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "papers.md").read_text(encoding="utf-8")):
        assert (DOCS / page).is_file(), page
