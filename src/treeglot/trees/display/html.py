"""Pages to look through many sentences: a list, a search box, previous and next, and for each sentence its picture and its
table of words. A page is one file; it needs no network, and only the sentence on view is ever laid out by the browser.

>>> from treeglot.trees import DependencyTree
>>> sentence = ParsedSentence.of(DependencyTree(["dogs", "bark"], [1, -1], ["nsubj", "root"]), id="s<1>")
>>> html = page([sentence, sentence], "Two & two")
>>> "<title>Two &amp; two</title>" in html, html.count("<svg "), "s<1>" in html
(True, 2, False)
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from treeglot.errors import ConfigError
from treeglot.files import atomic_write
from treeglot.trees.display.geometry import Look
from treeglot.trees.display.pair import Comparison, pair_svg
from treeglot.trees.display.picture import Show, sentence_svg
from treeglot.trees.display.svg import escape, style_sheet
from treeglot.trees.display.widths import ELLIPSIS
from treeglot.trees.sentence import AlignedPair, ParsedSentence
from treeglot.trees.tokens import UNSET

_LISTED = 160  # characters of a sentence that the list shows
_HIDDEN = ("tiger", "end of file")  # notes that readers leave for writers

_TABLE_STYLE = """\
.tg-table{border-collapse:collapse;font-size:13px;margin:.5em 0}
.tg-table th,.tg-table td{padding:.15em .7em;text-align:start;border-bottom:1px solid #8884;white-space:nowrap}
.tg-table th{font-weight:600;opacity:.7}
.tg-scroll{overflow-x:auto}
"""
_PAGE_STYLE = """\
:root{color-scheme:light dark;--line:#d6dce4;--ink:#1b2330;--soft:#5d6b7e;--paper:#fff;--side:#f5f7fa;--on:#dce8fb}
@media (prefers-color-scheme:dark){:root{--line:#2e3947;--ink:#e8ecf2;--soft:#9fadbf;--paper:#151a21;--side:#1b222c;--on:#243a5e}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 'Noto Sans','Segoe UI','Helvetica Neue',Arial,sans-serif;color:var(--ink);background:var(--paper);display:grid;grid-template:auto 1fr/20rem 1fr;height:100vh}
header{grid-column:1/3;display:flex;gap:.8rem;align-items:center;flex-wrap:wrap;padding:.5rem 1rem;border-bottom:1px solid var(--line)}
header h1{font-size:1.05rem;margin:0 auto 0 0}
header a,nav a{color:inherit}
button,input{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:5px;padding:.2rem .6rem}
button:disabled{opacity:.4}
nav{overflow-y:auto;background:var(--side);border-right:1px solid var(--line)}
nav ol{margin:0;padding:0;list-style:none}
nav li{content-visibility:auto;contain-intrinsic-size:auto 3.2rem}
nav a{display:block;padding:.35rem .8rem;text-decoration:none;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
nav a small{color:var(--soft);display:block}
nav a[aria-current]{background:var(--on)}
nav .none{padding:1rem;color:var(--soft)}
main{overflow:auto;padding:1rem 1.2rem}
main h2{font-size:1rem;font-weight:600;margin:.2rem 0;overflow-wrap:anywhere}
main.fit svg{max-width:100%;max-height:78vh;width:auto;height:auto}
button[aria-pressed=true]{background:var(--on)}
main .note{color:var(--soft);margin:.2rem 0;font-size:13px}
[hidden]{display:none!important}
@media (max-width:50rem){body{grid-template:auto 9rem 1fr/1fr}header{grid-column:1}nav{border-right:0;border-bottom:1px solid var(--line)}}
@media print{body{display:block;height:auto}nav,header input,header button{display:none}}
"""
_SCRIPT = """\
(() => {
  const view = document.getElementById("view"), rows = [...document.querySelectorAll("nav li")];
  const links = rows.map(row => row.firstElementChild), words = rows.map(row => row.textContent.toLowerCase());
  const find = document.getElementById("find"), count = document.getElementById("count");
  const back = document.getElementById("back"), next = document.getElementById("next");
  const first = view.innerHTML;
  let at = 0, open = false, hits = rows.map((_, i) => i);
  function show(i, jump) {
    if (!(i >= 0 && i < rows.length)) return;
    const table = view.querySelector("details");
    if (table) open = table.open;
    links[at].removeAttribute("aria-current");
    at = i;
    links[at].setAttribute("aria-current", "true");
    links[at].scrollIntoView({block: "nearest"});
    view.innerHTML = i ? document.getElementById("d" + i).textContent : first;
    const fresh = view.querySelector("details");
    if (fresh) fresh.open = open;
    view.parentElement.scrollTop = 0;
    if (jump) history.replaceState(null, "", "#" + (i + 1));
    buttons();
  }
  const before = () => hits.filter(i => i < at).pop(), after = () => hits.find(i => i > at);
  function buttons() {
    back.disabled = before() === undefined;
    next.disabled = after() === undefined;
    const place = hits.indexOf(at);
    count.textContent = (place < 0 ? "–" : place + 1) + " / " + hits.length;
  }
  back.onclick = () => show(before(), true);
  next.onclick = () => show(after(), true);
  find.oninput = () => {
    const wanted = find.value.toLowerCase().trim();
    hits = [];
    rows.forEach((row, i) => { row.hidden = !words[i].includes(wanted); if (!row.hidden) hits.push(i); });
    document.querySelector("nav .none").hidden = hits.length > 0;
    if (hits.length && !hits.includes(at)) show(hits[0], true);
    buttons();
  };
  document.onkeydown = event => {
    if (event.target === find || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") back.click();
    if (event.key === "ArrowRight") next.click();
    if (event.key === "f") fit.click();
    if (event.key === "/") { find.focus(); event.preventDefault(); }
  };
  const fit = document.getElementById("fit");
  fit.onclick = () => fit.setAttribute("aria-pressed", String(view.parentElement.classList.toggle("fit")));
  const go = () => show(Number(location.hash.slice(1) || 1) - 1, false);
  onhashchange = go;
  go();
})();
"""

Listed = ParsedSentence | AlignedPair | Comparison


def words_table(sentence: ParsedSentence) -> str:
    """The words and their annotation; columns without any are left out. Multiword and empty lines have their own rows."""
    tokens, tree = sentence.tokens, sentence.dependency
    candidates: list[tuple[str, Sequence[str]]] = [
        ("word", tokens.forms),
        ("lemma", tokens.lemmas),
        ("upos", tokens.upos),
        ("xpos", tokens.xpos),
        ("feats", tokens.feats),
        ("head", [str(head + 1) for head in tree.heads] if tree else ()),
        ("relation", tree.deprels if tree else ()),
        ("misc", tokens.misc),
    ]
    chosen = [(name, column) for name, column in candidates if name == "word" or any(v != UNSET for v in column)]
    extra: dict[int, list[tuple[str, str]]] = {}
    for start, end, fields in sentence.ranges:
        extra.setdefault(start, []).append((f"{start + 1}–{end}", fields[1]))
    ends: dict[int, list[tuple[str, str]]] = {}
    for after, fields in sentence.empty_nodes:
        ends.setdefault(after, []).append((fields[0], fields[1]))

    def special(rows: Iterable[tuple[str, str]]) -> list[str]:
        span = len(chosen)
        return [
            f'<tr><td>{escape(name)}</td><td colspan="{span}"><i dir="auto">{escape(form)}</i></td></tr>'
            for name, form in rows
        ]

    rows = ["<tr><th>#</th>" + "".join(f"<th>{name}</th>" for name, _ in chosen) + "</tr>", *special(ends.get(0, ()))]
    for j in range(len(tokens)):
        rows += special(extra.get(j, ()))
        cells = "".join(
            f'<td dir="auto">{escape(column[j]) if column[j] != UNSET or name == "word" else ""}</td>'
            for name, column in chosen
        )
        rows.append(f"<tr><td>{j + 1}</td>{cells}</tr>")
        rows += special(ends.get(j + 1, ()))
    return f'<div class="tg-scroll"><table class="tg-table">{"".join(rows)}</table></div>'


def fragment(item: Listed, *, show: Show = "auto", styled: bool = False) -> str:
    """The picture and the folded table of words, to stand inside a page. ``styled`` brings the styles along."""
    style = f"<style>\n{_TABLE_STYLE}</style>" if styled else ""
    if isinstance(item, AlignedPair | Comparison):
        if isinstance(item, Comparison):
            picture = item.svg(show=show, styled=styled)
        else:
            picture = pair_svg(item, show=show, styled=styled)
        tables = words_table(item.source) + words_table(item.target)
        sides = (item.source.notes, item.target.notes)
        both = [note for note in sides[0] if note in sides[1]]
        notes = both + [
            (f"{side} {name}", note)
            for side, some in zip(("source", "target"), sides, strict=True)
            for name, note in some
            if (name, note) not in both
        ]
    else:
        picture = sentence_svg(item, show=show, styled=styled)
        tables, notes = words_table(item), [*item.notes]
    remarks = "".join(
        f'<p class="note">{escape(name)}: {escape(note)}</p>' for name, note in notes if not name.endswith(_HIDDEN)
    )
    return f'{style}<div class="tg-scroll">{picture}</div>{remarks}<details><summary>Words</summary>{tables}</details>'


def _titled(item: Listed, show: Show) -> str:
    lines = [item.text] if isinstance(item, ParsedSentence) else [item.source.text, item.target.text]
    heading = "".join(f'<h2 dir="auto">{escape(line)}</h2>' for line in lines)
    return heading + fragment(item, show=show)


def _listed(item: Listed, number: int, offset: int) -> str:
    lines = [item.text] if isinstance(item, ParsedSentence) else [item.source.text, item.target.text]
    short = [line if len(line) <= _LISTED else line[: _LISTED - 1] + ELLIPSIS for line in lines]
    rest = escape(" ".join(line[_LISTED - 1 :] for line in lines if len(line) > _LISTED))  # for the search
    name = f"{offset + number + 1} · {item.id}" if item.id else str(offset + number + 1)
    spans = "".join(f'<span dir="auto">{escape(line)}</span><br>' for line in short).removesuffix("<br>")
    hidden = f"<span hidden>{rest}</span>" if rest else ""
    return f'<li><a href="#{number + 1}"><small>{escape(name)}</small>{spans}{hidden}</a></li>'


def page(
    items: Sequence[Listed], title: str, *, show: Show = "auto", back: str = "", forward: str = "", offset: int = 0
) -> str:
    """A whole page. ``back`` and ``forward`` are the addresses of neighbouring pages; the list counts from ``offset``."""
    if not items:
        raise ConfigError("no sentence to show", remedy="give at least one sentence or pair")
    around = [f'<a href="{escape(back)}">← earlier sentences</a>'] if back else []
    around += [f'<a href="{escape(forward)}">more sentences →</a>'] if forward else []
    tools = (
        '<input id="find" type="search" placeholder="search ( / )" aria-label="search">'
        '<button id="back" type="button" aria-label="previous">←</button><span id="count"></span>'
        '<button id="next" type="button" aria-label="next">→</button>'
        '<button id="fit" type="button" aria-pressed="false" title="the whole picture, or full size ( f )">fit</button>'
    )
    # Every "<" of the data is escaped, so that nothing in it can end the script elements that hold it.
    stored = "\n".join(
        f'<script type="text/html" id="d{number}">{_titled(item, show)}</script>'
        for number, item in enumerate(items)
        if number
    )
    listed = "\n".join(_listed(item, number, offset) for number, item in enumerate(items))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{escape(title)}</title>
<style>
{_PAGE_STYLE}{_TABLE_STYLE}{style_sheet(Look(), themes=["auto"])}</style>
</head>
<body>
<header><h1>{escape(title)}</h1>{"".join(around)}{tools}</header>
<nav aria-label="sentences"><ol>
{listed}
</ol><div class="none" hidden>nothing found</div></nav>
<main><noscript><p class="note">Without JavaScript only the first sentence is shown.</p></noscript>
<div id="view">{_titled(items[0], show)}</div></main>
{stored}
<script>
{_SCRIPT}</script>
</body>
</html>
"""


def write_pages(
    items: Iterable[Listed], path: str, title: str, *, show: Show = "auto", per_page: int = 1000
) -> list[str]:
    """Write as many pages as the items need; see `treeglot.trees.display.write_html`."""
    if per_page < 1:
        raise ConfigError(f"{per_page} sentences per page", remedy="give 1 or more")
    first = Path(path)
    stream = iter(items)
    if path == "-":  # standard output takes one page
        per_page = sys.maxsize

    def name(number: int) -> Path:
        return first if number == 0 else first.with_name(f"{first.stem}-{number + 1}{first.suffix}")

    names: list[Path] = []
    with ExitStack() as finished:  # all pages get their names when the last one is there
        batch = list(islice(stream, per_page))
        while True:
            following = list(islice(stream, per_page))
            number = len(names)
            content = page(
                batch,
                title,
                show=show,
                back=name(number - 1).name if number else "",
                forward=name(number + 1).name if following else "",
                offset=number * per_page,
            )
            finished.enter_context(atomic_write(name(number))).write(content)
            names.append(name(number))
            if not following:
                break
            batch = following
    return list(map(str, names))
