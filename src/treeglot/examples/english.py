"""English word forms: inflection, agreement of verbs with their subjects, pronoun case, a or an.

The grammar asks for a form ("past", "pres", "pl"); what agreement needs to know is read off the finished dependency tree.

>>> verb_form("visit", "pp", {}), verb_form("take", "past", {"past": "took"}), verb_form("carry", "3sg", {})
(('visited', 'VBN'), ('took', 'VBD'), ('carries', 'VBZ'))
>>> plural("city"), plural("child", {"pl": "children"}), article("hour"), article("university")
('cities', 'children', 'an', 'a')
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BE = {"base": "be", "ing": "being", "pp": "been", "1sg": "am", "3sg": "is", "pl": "are"}
_HAVE = {"3sg": "has", "past": "had", "pp": "had", "ing": "having"}
_DO = {"3sg": "does", "past": "did", "pp": "done"}
_IRREGULAR: dict[str, dict[str, str]] = {
    "be": _BE,
    "have": _HAVE,
    "do": _DO,
    "go": {"3sg": "goes", "past": "went", "pp": "gone"},
    "get": {"past": "got", "ing": "getting"},
    "meet": {"past": "met"},
}
"""Verbs that the grammar names itself; those of the lexicon carry their forms."""
_TAGS = {"base": "VB", "past": "VBD", "ing": "VBG", "pp": "VBN", "3sg": "VBZ", "pl": "VBP", "1sg": "VBP"}

ACCUSATIVE = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_PLURAL_PRONOUNS = frozenset(("you", "we", "they"))


def _s_form(word: str) -> str:
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _doubles(word: str) -> bool:
    """Whether the last consonant is doubled before a vowel: one short syllable (stop, plan)."""
    return re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", word) is not None


def _ed_form(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ied"
    return word + word[-1] + "ed" if _doubles(word) else word + "ed"


def _ing_form(word: str) -> str:
    if re.search(r"[^eoy]e$", word):
        return word[:-1] + "ing"
    return word + word[-1] + "ing" if _doubles(word) else word + "ing"


def verb_form(lemma: str, request: str, irregular: Mapping[str, str]) -> tuple[str, str]:
    """A verb's form and its Penn tag for base, past, ing, pp, 3sg, pl or 1sg (the last two differ from base for *be*)."""
    known = _IRREGULAR.get(lemma, {}) | dict(irregular)
    if lemma == "be" and request == "past.sg":
        return "was", "VBD"
    if lemma == "be" and request == "past.pl":
        return "were", "VBD"
    request = request.partition(".")[0]
    tag = _TAGS[request]
    if request in known:
        return known[request], tag
    if request == "pp" and "past" in known:
        return known["past"], tag
    if request == "3sg":
        return _s_form(lemma), tag
    if request in ("past", "pp"):
        return _ed_form(lemma), tag
    if request == "ing":
        return _ing_form(lemma), tag
    return lemma, tag


def plural(lemma: str, irregular: Mapping[str, str] | None = None) -> str:
    """A noun's plural."""
    return (irregular or {}).get("pl") or _s_form(lemma)


def comparative(lemma: str, irregular: Mapping[str, str], degree: str) -> str | None:
    """``er`` or ``est`` form of a short adjective, None for one that takes *more* and *most*."""
    if degree in irregular:
        return irregular[degree]
    if irregular.get("long"):
        return None
    if lemma.endswith("e"):
        return lemma + degree[1:]
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "i" + degree
    return lemma + (lemma[-1] if _doubles(lemma) else "") + degree


def article(following: str) -> str:
    """*a* or *an* before a word."""
    word = following.lower()
    if re.match(r"(uni|us[eu]|eu|one\b|u-)", word):
        return "a"
    return "an" if re.match(r"[aeiou]|hour|honest", word) else "a"


def number_of(lemma: str, tag: str, coordinated: bool) -> str:
    """``1sg``, ``3sg`` or ``pl`` of a subject, from its head word and whether something is coordinated with it."""
    if coordinated or tag in ("NNS", "NNPS") or lemma in _PLURAL_PRONOUNS:
        return "pl"
    return "1sg" if lemma == "I" else "3sg"
