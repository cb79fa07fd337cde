"""From CoreNLP's JSON to parsed sentences.

>>> answer = {"sentences": [{
...     "parse": "(ROOT (S (NP (PRON Er)) (VERB ging) (PP (ADP zu) (DET dem) (NOUN Haus))))",
...     "basicDependencies": [{"dep": "ROOT", "governor": 0, "dependent": 2}, {"dep": "nsubj", "governor": 2, "dependent": 1},
...         {"dep": "obl", "governor": 2, "dependent": 5}, {"dep": "case", "governor": 5, "dependent": 3},
...         {"dep": "det", "governor": 5, "dependent": 4}],
...     "tokens": [{"originalText": word, "word": word, "pos": tag, "characterOffsetBegin": begin, "characterOffsetEnd": end}
...         for word, tag, begin, end in [("Er", "PRON", 0, 2), ("ging", "VERB", 3, 7), ("zu", "ADP", 8, 11),
...             ("dem", "DET", 8, 11), ("Haus", "NOUN", 12, 16)]]}]}
>>> [sentence] = read_answer(Answer(answer, "Er ging zum Haus"), "de")
>>> sentence.ranges[0].columns[1], sentence.dependency.heads, sentence.constituency.labels
('zum', (1, -1, 4, 4, 1), ('S', 'NP', 'PP'))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from treeglot.errors import ParserError, TreeglotError
from treeglot.parsers.base import BOTH, flat_constituency, single_root, with_attached
from treeglot.parsers.complete import complete
from treeglot.parsers.tagsets import UPOS, universal
from treeglot.trees.constituency import ConstituencyTree
from treeglot.trees.dependency import ROOT, DependencyTree
from treeglot.trees.penn import parse_penn
from treeglot.trees.sentence import MultiwordRange, ParsedSentence
from treeglot.trees.tokens import UNSET, Tokens


@dataclass(frozen=True)
class Answer:
    """The server's JSON and the text that it is about (its offsets count UTF-16 units)."""

    data: dict[str, Any]
    text: str


def read_answer(answer: Answer, lang: str, given: Sequence[Sequence[str]] | None = None) -> list[ParsedSentence]:
    """All sentences of an answer. ``given`` are the words that the caller sent, if they were words."""
    units = _units(answer)
    parsed = []
    for number, sentence in enumerate(_sentences(answer)):
        words = None
        if given is not None:
            words = given[number] if number < len(given) else ()
            if len(words) != len(sentence["tokens"]):
                raise ParserError("the parser split or dropped words", remedy="")
        parsed.append(_sentence(sentence, lang, units, words))
    return parsed


def _sentences(answer: Answer) -> list[dict[str, Any]]:
    sentences = answer.data.get("sentences") if isinstance(answer.data, dict) else None
    if not isinstance(sentences, list):
        raise ParserError("the server's answer has no sentences", remedy="")
    return sentences


def _units(answer: Answer) -> bytes:
    return answer.text.encode("utf-16-le", "surrogatepass")


def words_of(answer: Answer, lang: str) -> list[Tokens]:
    """The words and tags of an answer without trees."""
    units = _units(answer)
    return [_tokens(sentence["tokens"], None, lang, units, None) for sentence in _sentences(answer)]


def _sentence(sentence: dict[str, Any], lang: str, units: bytes, given: Sequence[str] | None) -> ParsedSentence:
    bracketed = sentence.get("parse")
    shape = parse_penn(bracketed, split_functions=False) if bracketed else None
    size = len(sentence["tokens"])
    if shape is not None and len(shape.tokens) != size:
        raise ParserError(f"{size} words but {len(shape.tokens)} in the phrase-structure tree", remedy="")
    tokens = _tokens(sentence["tokens"], shape.tokens.tags if shape is not None else None, lang, units, given)
    heads: list[int | None] = [None] * size
    deprels = [UNSET] * size
    for arc in sentence.get("basicDependencies", ()):
        j = arc["dependent"] - 1
        heads[j], deprels[j] = (arc["governor"] - 1 if arc["governor"] else ROOT), arc["dep"]
    constituency = flat_constituency(tokens) if shape is None else without_root(shape, tokens)
    try:
        fixed_heads, fixed_labels, attached = single_root(heads, deprels)
        parsed = ParsedSentence(tokens, DependencyTree(tokens, fixed_heads, fixed_labels), constituency)
    except TreeglotError:
        # CoreNLP's conversion of Chinese trees now and then gives a cycle without a root; the phrases are good.
        if shape is None:
            raise
        attached = 0
        parsed = complete(ParsedSentence(tokens, None, constituency), BOTH)
    ranges = () if given is not None else _ranges(sentence["tokens"], units)
    if ranges:  # the space after "zum" belongs to the range, not to "dem"
        inside = {j for multiword in ranges for j in range(multiword.start, multiword.end)}
        misc = [UNSET if j in inside else value for j, value in enumerate(tokens.misc)]
        tokens = tokens.replace(misc=misc)
        assert parsed.dependency is not None and parsed.constituency is not None
        parsed = replace(
            parsed,
            tokens=tokens,
            dependency=parsed.dependency.with_tokens(tokens),
            constituency=parsed.constituency.with_tokens(tokens),
            ranges=ranges,
        )
    return with_attached(parsed, attached)


def without_root(shape: ConstituencyTree, tokens: Tokens) -> ConstituencyTree:
    """The phrases of ``shape`` over ``tokens``, without the phrase ROOT that CoreNLP puts above every tree."""
    children = shape.children
    if shape.labels[:1] == ("ROOT",) and len(children[0]) == 1 and children[0][0] >= 0:
        below = [[child - 1 if child >= 0 else child for child in kids] for kids in children[1:]]
        return ConstituencyTree(tokens, shape.labels[1:], below)
    return ConstituencyTree(tokens, shape.labels, children)


def _tokens(
    words: Sequence[dict[str, Any]],
    tree_tags: Sequence[str] | None,
    lang: str,
    units: bytes,
    given: Sequence[str] | None,
) -> Tokens:
    # A phrase-structure parser with a lexicon of its own tags the words itself; then its tags belong to the tree.
    tags = list(tree_tags) if tree_tags is not None else [word.get("pos", UNSET) for word in words]
    only_universal = lang != "en" and all(tag in UPOS for tag in tags)
    lemmas = [word.get("lemma") or UNSET for word in words]
    misc = ["SpaceAfter=No" if _glued(words, j) else UNSET for j in range(len(words))]
    return Tokens(
        given if given is not None else _forms(words, units),
        lemmas=lemmas if any(lemma != UNSET for lemma in lemmas) else None,
        upos=tags if only_universal else universal(tags, lang),
        xpos=None if only_universal else tags,
        misc=misc if given is None else None,
    )


def _glued(words: Sequence[dict[str, Any]], j: int) -> bool:
    """Whether the next word follows word j without a space (Chinese answers have offsets, but no ``after``)."""
    if j + 1 >= len(words):
        return False
    end, begin = words[j].get("characterOffsetEnd"), words[j + 1].get("characterOffsetBegin")
    return bool(end == begin) if end is not None and begin is not None else not words[j].get("after", " ")


def _forms(words: Sequence[dict[str, Any]], units: bytes) -> list[str]:
    """Each word as it is written in the text; parts of a multiword ("zu", "dem" in "zum") as CoreNLP gives them.

    CoreNLP's own ``word`` has quotes and brackets rewritten, its ``originalText`` lacks the full stop of abbreviations."""
    places = [(word.get("characterOffsetBegin"), word.get("characterOffsetEnd")) for word in words]
    forms = []
    for j, (word, place) in enumerate(zip(words, places, strict=True)):
        begin, end = place
        shared = place in (places[j - 1] if j else None, places[j + 1] if j + 1 < len(places) else None)
        text = (
            "" if shared or begin is None or end is None else units[2 * begin : 2 * end].decode("utf-16-le", "replace")
        )
        forms.append(text.strip() or word.get("originalText") or word["word"])
    return forms


def _ranges(words: Sequence[dict[str, Any]], units: bytes) -> tuple[MultiwordRange, ...]:
    """Words with the same place in the text are parts of one written word."""
    places = [(word.get("characterOffsetBegin", -1), word.get("characterOffsetEnd", -1)) for word in words]
    ranges = []
    start = 0
    while start < len(places):
        end = start + 1
        while end < len(places) and places[end] == places[start] and places[start][0] >= 0:
            end += 1
        if end - start > 1:
            begin, stop = places[start]
            surface = units[2 * begin : 2 * stop].decode("utf-16-le", "replace")
            glued = _glued(words, end - 1)
            columns = (f"{start + 1}-{end}", surface, *[UNSET] * 7, "SpaceAfter=No" if glued else UNSET)
            ranges.append(MultiwordRange(start, end, columns))
        start = end
    return tuple(ranges)
