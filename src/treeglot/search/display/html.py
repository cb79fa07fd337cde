"""Derivations as one self-contained page: for each sentence the picture and, below it, the rules one after the other.

Hovering over a rule, a word, a node or a bar, or going to a rule with the tabulator key, brings out the words and nodes of that rule on
both sides and dims the rest. That is style alone (the selector ``:has``): the page runs no script and needs no network, and without
hovering the numbers and colours say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from treeglot.errors import ConfigError
from treeglot.search.display.pieces import ancestors, colour_of, style
from treeglot.search.display.steps import MOST_WORDS, Step, list_steps, words_of
from treeglot.search.display.svg import derivation_svg
from treeglot.search.display.text import show, target_side
from treeglot.search.translation import RuleUse, walk
from treeglot.trees.display.geometry import Look
from treeglot.trees.display.svg import escape, style_sheet
from treeglot.trees.sentence import ParsedSentence


@dataclass(frozen=True)
class Explained:
    """A translation to be shown: the source with its trees, the derivation, the text for people and the score."""

    sentence: ParsedSentence
    derivation: RuleUse
    text: str
    score: float
    system: str = ""
    reference: str = ""
    weights: Mapping[str, float] = field(default_factory=dict)


_STYLE = """\
:root{color-scheme:light dark;--line:#d6dce4;--ink:#1b2330;--soft:#5d6b7e;--paper:#fff;--on:#eef3fb}
@media (prefers-color-scheme:dark){:root{--line:#2e3947;--ink:#e8ecf2;--soft:#9fadbf;--paper:#151a21;--on:#1f2937}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:110rem;padding:1rem 1.5rem 4rem;font:15px/1.5 'Noto Sans','Segoe UI','Helvetica Neue',Arial,'Noto Sans CJK SC',sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.15rem;margin:.3rem 0}
h2{font-size:1rem;font-weight:600;margin:.2rem 0;overflow-wrap:anywhere}
p{margin:.2rem 0}
.soft{color:var(--soft);font-size:13px}
section{border-top:1px solid var(--line);padding:1rem 0 1.5rem}
.scroll{overflow-x:auto;margin:.6rem 0}
.target{font-size:1.05rem;line-height:2;overflow-wrap:anywhere}
.target span{padding:.1em .3em;border-radius:.35em}
.target sub{font-size:.62em;font-weight:700;opacity:.75;margin-inline-start:.15em}
table{border-collapse:collapse;font-size:13.5px}
th{font-weight:600;color:var(--soft);text-align:start}
th,td{padding:.2em .8em .2em 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:hover td{background:var(--on)}
td.n{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}
td.rule{min-width:18rem;overflow-wrap:anywhere}
td.rule .arrow{color:var(--soft);padding:0 .5em}
td.features{color:var(--soft);font-size:12px}
.badge{display:inline-block;min-width:1.7em;padding:0 .35em;border-radius:1em;color:#fff;font-size:11px;font-weight:700;text-align:center;margin-inline-end:.5em}
nav{columns:28rem auto;font-size:14px}
nav a{color:inherit;display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
@media print{.scroll{overflow:visible}}
"""


_BARS = "Bars show all that a rule covers."
_TREES = (
    "So do its nodes in the trees; its number stands where they begin. What is grey and dashed was made by no rule: words that were "
    "copied, parts that were put one after the other."
)


def page(items: Sequence[Explained], title: str = "Derivations") -> str:
    """A whole page about some translations."""
    if not items:
        raise ConfigError("no translation to show", remedy="give at least one sentence")
    look = Look()
    parts = []
    most = 0
    has_trees = {any(use.target_tree for use in walk(item.derivation)) for item in items}
    covers = " ".join(words for is_tree, words in ((True, _TREES), (False, _BARS)) if is_tree in has_trees)
    for number, item in enumerate(items, start=1):
        steps = list_steps(item.derivation)
        most = max(most, len(steps))
        parts.append(_section(number, item, steps))
    listed = ""
    if len(items) > 1:
        links = (
            f'<a href="#t{number}" dir="auto">{number}. {_short(item.system)}{escape(item.sentence.text)}</a>'
            for number, item in enumerate(items, start=1)
        )
        listed = f'<nav aria-label="sentences">{"".join(links)}</nav>'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{escape(title)}</title>
<style>
{_STYLE}{style_sheet(look, themes=["auto"])}{style(look)}{_highlights(most)}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p class="soft">Every rule has a number and a colour: source words that it covers itself and target words that it made share them.
{covers} Point at a rule or a word to see its part of the translation.</p>
{listed}
{"".join(parts)}
</body>
</html>
"""


def _short(system: str) -> str:
    return f"<b>{escape(system)}</b> " if system else ""


def _highlights(most: int) -> str:
    """What hovering does, for each number of a step."""
    pointed = "section:has(:is([class^=k],[class*=' k']):is(:hover,:focus))"
    rules = [
        f"{pointed} .tg-flow{{fill-opacity:.04}}",
        f"{pointed} .tg-bar{{stroke-opacity:.15}}",
        f"{pointed} .tg-chip{{fill-opacity:.1}}",
        f"{pointed} .tg-edge:not(.tg-neutral){{stroke-opacity:.12}}",
    ]
    for k in range(1, most + 1):
        on = f"section:has(.k{k}:is(:hover,:focus))"
        rules.append(f"{on} .u{k} .tg-chip{{fill-opacity:.42}}{on} .s{k} .tg-chip{{fill-opacity:.62}}")
        rules.append(f"{on} .tg-flow.s{k}{{fill-opacity:.5}}{on} .u{k} .tg-bar{{stroke-opacity:1}}")
        rules.append(
            f"{on} .u{k} .tg-edge:not(.tg-neutral){{stroke-opacity:.55}}{on} .s{k} .tg-edge{{stroke-opacity:1}}"
        )
        rules.append(f"{on} span.u{k}{{box-shadow:inset 0 -3px var(--rule)}}")
    return "\n".join(rules) + "\n"


def _section(number: int, item: Explained, steps: Sequence[Step]) -> str:
    picture = derivation_svg(item.sentence, item.derivation, weights=item.weights, rules=False, styled=False)
    system = f"{escape(item.system)}, " if item.system else ""
    reference = f'<p class="soft" dir="auto">reference: {escape(item.reference)}</p>' if item.reference else ""
    return f"""<section id="t{number}">
<h2 dir="auto">{number}. {escape(item.sentence.text)}</h2>
<p class="target" dir="auto">{_target(item.derivation, steps)}</p>
<p class="soft">{system}score {item.score:.3f}, {len(steps)} rules</p>{reference}
<div class="scroll">{picture}</div>
<div class="scroll">{_table(item, steps)}</div>
</section>
"""


def _target(derivation: RuleUse, steps: Sequence[Step]) -> str:
    """The target words on the colours of their rules; neighbours of one rule share a chip."""
    above = ancestors(steps)
    owner = {i: step.number for step in steps for i in step.target_words}
    pieces: list[tuple[int, list[str]]] = []
    for i, word in enumerate(derivation.words):
        if pieces and pieces[-1][0] == owner.get(i, 0):
            pieces[-1][1].append(word)
        else:
            pieces.append((owner.get(i, 0), [word]))
    return " ".join(
        f'<span class="k{k} {" ".join(f"u{n}" for n in above[k])}" style="--rule:{colour_of(steps[k - 1])};background:{colour_of(steps[k - 1])}3d">'
        f"{escape(' '.join(words))}<sub>{k}</sub></span>"
        for k, words in pieces
    )


def _table(item: Explained, steps: Sequence[Step]) -> str:
    score = "<th>score</th>" if item.weights else ""
    words = item.derivation.words
    rows = [f"<tr><th>rule</th><th>grammar</th><th>words</th>{score}<th>features</th></tr>"]
    for step in steps:
        use = step.use
        badge = f'<span class="badge" style="background:{colour_of(step)}">{step.number}</span>'
        covered = " ".join(item.sentence.tokens.forms[j] for j in use.source_words[:MOST_WORDS])
        more = " …" if len(use.source_words) > MOST_WORDS else ""
        tip = escape(f"{covered}{more} → {words_of(words, step)}")
        added = f'<td class="n">{step.score(item.weights):+.2f}</td>' if item.weights else ""
        label = f" <small>{escape(use.label)}</small>" if use.label else ""
        rows.append(
            f'<tr class="k{step.number}" tabindex="0" title="{tip}">'
            f'<td class="rule" style="padding-inline-start:{min(step.depth, 20) * 1.1:.1f}em">{badge}'
            f'<bdi>{escape(show(use.source))}</bdi><span class="arrow">→</span><bdi>{escape(show(target_side(use)))}</bdi></td>'
            f"<td>{escape(use.grammar)}{label}</td>"
            f'<td class="n">{use.begin}–{use.end}</td>{added}<td class="features">{escape(_features(use))}</td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"


def _features(use: RuleUse) -> str:
    return "  ".join(f"{name} {value:.3g}" for name, value in use.features.items() if value)
