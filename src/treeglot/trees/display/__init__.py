"""Looking at trees: as text in a terminal, as SVG, as a self-contained HTML page. Nothing but Python is needed.

`to_text`, `to_svg` and `to_html` take a dependency tree, a constituency tree, a parsed sentence or an aligned pair. In
a notebook the objects show themselves.

>>> from treeglot.trees import ConstituencyTree
>>> tree = ConstituencyTree.build(["dogs", "bark", "loudly"], ("S", ("NP", 0), ("VP", 1, ("ADVP", 2))))
>>> print(to_text(tree))
S
├─ NP dogs
╰─ VP
   ├─ bark
   ╰─ ADVP loudly
>>> to_svg(tree).startswith("<svg ")
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treeglot.errors import ConfigError
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import DependencyTree
from treeglot.trees.display.html import fragment, page, write_pages
from treeglot.trees.display.pair import Comparison, pair_svg
from treeglot.trees.display.pair_text import comparison_text, heading, links_text
from treeglot.trees.display.picture import Show, choose, sentence_svg
from treeglot.trees.display.svg import Theme
from treeglot.trees.display.text import constituency_text, dependency_text, isolate
from treeglot.trees.display.widths import visible
from treeglot.trees.sentence import AlignedPair, Link, ParsedSentence

__all__ = ["Comparison", "Item", "Show", "Theme", "to_html", "to_svg", "to_text", "write_html"]

Item = DependencyTree | ConstituencyTree | ParsedSentence | AlignedPair | Comparison
"""What can be looked at."""

NOTEBOOK_WORDS = 300
"""A notebook draws sentences up to this length by itself; longer ones only when asked to."""


def as_sentence(item: DependencyTree | ConstituencyTree | ParsedSentence) -> ParsedSentence:
    """A single tree as a sentence that has only this tree."""
    if isinstance(item, DependencyTree):
        return ParsedSentence.of(item)
    if isinstance(item, ConstituencyTree):
        return ParsedSentence.of(constituency=item)
    return item


def to_text(
    item: Item,
    *,
    show: Show = "auto",
    color: bool = False,
    ascii: bool = False,
    width: int | None = None,
    max_depth: int | None = None,
) -> str:
    """``item`` as text without a final line end.

    ``color``: with ANSI colours. ``ascii``: no box-drawing characters. ``width``: no line is longer than this many
    columns. ``max_depth``: branches below this level are cut (30 unless given).
    """
    if isinstance(item, Comparison):
        sides = AlignedPair(item.source, item.target, id=item.id)
        trees = to_text(sides, show=show, color=color, ascii=ascii, width=width, max_depth=max_depth)
        return f"{trees}\n\n{comparison_text(item, color=color, ascii=ascii, width=width)}"
    if isinstance(item, AlignedPair):
        parts = []
        for name, sentence in (("source", item.source), ("target", item.target)):
            line = to_text(sentence, show=show, color=color, ascii=ascii, width=width, max_depth=max_depth)
            parts.append(f"{heading(name, color)}\n{line}")
        links = links_text(item, color=color, ascii=ascii, width=width)
        return "\n\n".join([*parts, links] if links else parts)
    sentence = as_sentence(item)
    dependency, constituency = choose(sentence, show)
    tokens = sentence.tokens
    parts = []
    if constituency is not None:
        parts.append(
            constituency_text(constituency, color=color, ascii=ascii, width=width, max_depth=max_depth, tokens=tokens)
        )
    if dependency is not None:
        parts.append(
            dependency_text(dependency, color=color, ascii=ascii, width=width, max_depth=max_depth, tokens=tokens)
        )
    return "\n\n".join(parts) if parts else isolate(visible(sentence.text))


def to_svg(
    item: Item,
    *,
    show: Show = "auto",
    theme: Theme = "auto",
    tags: bool = True,
    rtl: bool | None = None,
    lang: str = "",
    title: str = "",
    font_size: float = 15.0,
    system_links: Sequence[Link] | None = None,
    system_word_links: Sequence[Link] | None = None,
) -> str:
    """``item`` as an SVG picture.

    ``show`` chooses the trees and ``tags`` the part-of-speech tags. ``theme`` is ``auto`` (light or dark with the
    reader's system), ``light``, ``dark`` or ``inherit`` (no background). ``rtl`` and ``lang`` are seen from the words
    unless given. ``system_links`` (between nodes) and ``system_word_links`` are compared with the links of a pair.
    """
    if not font_size > 0:
        raise ConfigError(f"font size {font_size}", remedy="give a size in pixels, such as 15")
    if isinstance(item, Comparison):
        return item.svg(show=show, theme=theme)
    if isinstance(item, AlignedPair):
        return pair_svg(
            item,
            show=show,
            theme=theme,
            tags=tags,
            title=title,
            font_size=font_size,
            system_links=system_links,
            system_word_links=system_word_links,
        )
    if system_links is not None or system_word_links is not None:
        raise ConfigError("system links can be compared only on an aligned pair", remedy="give an AlignedPair")
    return sentence_svg(
        as_sentence(item), show=show, theme=theme, tags=tags, rtl=rtl, lang=lang, title=title, font_size=font_size
    )


def to_html(items: Item | Iterable[Item], *, title: str = "Trees", show: Show = "auto") -> str:
    """One item, or many with a list and a search box, as a whole page that needs no network."""
    listed = [items] if isinstance(items, Item) else items
    return page(
        [item if isinstance(item, AlignedPair | Comparison) else as_sentence(item) for item in listed], title, show=show
    )


def write_html(
    items: Iterable[Item], path: str, *, title: str = "Trees", show: Show = "auto", per_page: int = 1000
) -> list[str]:
    """Write pages of at most ``per_page`` items: ``path``, then ``NAME-2.html`` and so on, linked to each other.

    Items are taken one page at a time, so a large file can be streamed. Returns the names of the files."""
    normal = (item if isinstance(item, AlignedPair | Comparison) else as_sentence(item) for item in items)
    return write_pages(normal, path, title, show=show, per_page=per_page)


def notebook_svg(item: Item) -> str | None:
    """What ``_repr_svg_`` gives: None if the picture would be too big for a cell, or if there is nothing to draw."""
    if isinstance(item, AlignedPair | Comparison):
        return to_svg(item) if max(len(item.source), len(item.target)) <= NOTEBOOK_WORDS else None
    return to_svg(item) if len(as_sentence(item)) <= NOTEBOOK_WORDS else None


def notebook_html(item: ParsedSentence) -> str | None:
    """What ``ParsedSentence._repr_html_`` gives: the picture and, folded, the table of words."""
    return fragment(item, styled=True) if len(item) <= NOTEBOOK_WORDS else None
