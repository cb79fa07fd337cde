"""Which sentences of two texts translate each other: Gale and Church (1993) by length, then Moore (2002) by words.

The two texts are in the same order, but a sentence may be translated by two or three, or by none. `align_sentences` finds
the best sequence of *beads* (groups of up to three sentences) twice: first by lengths in letters alone; then a word
aligner learns from the pairs that were sure, and a bead also gains what the words of one side explain of the other: half
the log-likelihood ratio, in both directions, of each word under "comes from a word of the other side or from the text at
large" against "from the text at large".

Beads are written one a line, source sentences, tabulator, target sentences, each as ids or as numbers from 1
(``3<tab>4 5``); the ladders of vecalign (``[2]:[3, 4]:0.1``, numbers from 0) are read, too.

>>> german = [["ein", "Hund", "bellt"], ["es", "regnet", "sehr", ",", "und", "wir", "gehen", "heim"], ["gute", "Nacht"]]
>>> english = [["a", "dog", "barks"], ["it", "rains", "hard"], ["and", "we", "go", "home"], ["good", "night"]]
>>> [bead[:2] for bead in align_sentences(german, english)]
[((0,), (0,)), ((1,), (1, 2)), ((2,), (3,))]
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeglot.alignment.base import train
from treeglot.errors import InputError, TreeglotError
from treeglot.files import atomic_write, read_lines, type_path
from treeglot.scratch import scratch_folder

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = Sequence[Sequence[str]]

PRIORS = {(1, 1): 0.89, (1, 2): 0.0445, (2, 1): 0.0445, (2, 2): 0.011, (1, 3): 0.002, (3, 1): 0.002, (1, 0): 0.005}
"""How often beads of so many sentences are met: Gale and Church's, with threes."""
VARIANCE = 6.8
"""Of the length of a translation, for each letter (Gale and Church)."""
MOST_LENGTH_COST = 25.0
SHARE = 0.5
"""Of the words of a translation that are taken to come from the words of the other side."""
BAND = 100
"""How far from the path of the first search the second one looks, in sentences."""
SURE = 5
"""The words of beads whose neighbours are beads of one to one, too, are learnt from, if there are so many of them."""

Step = tuple[int, int]
Costs = Callable[[int, Ints], Mapping[Step, Doubles]]


class Bead(NamedTuple):
    """Sentences, numbered from 0, that translate each other; one side may have none. ``score`` is the gain by words, for
    each word (0 where nothing was learnt)."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    score: float = 0.0


def align_sentences(source: Texts, target: Texts, *, threads: int = 0) -> list[Bead]:
    """Align two texts of tokenised sentences. Every sentence is in one bead."""
    if not source or not target:
        return [Bead((i,), ()) for i in range(len(source))] + [Bead((), (j,)) for j in range(len(target))]
    lower = [[[form.lower() for form in sentence] for sentence in side] for side in (source, target)]
    lengths = _Lengths(lower[0], lower[1])
    size, other = len(source), len(target)
    width = max(BAND, abs(size - other) + BAND, other // 5)
    diagonal = np.arange(size + 1) * other // size
    path = _search(size, other, diagonal, width, lambda row, columns: lengths.costs(row, columns))
    sure = _sure(path)
    if len(sure) < SURE:
        return path
    words = _Words(lower[0], lower[1], sure, threads)
    centre = np.zeros(size + 1, dtype=np.int64)
    row = column = 0
    for bead in path:
        row, column = row + len(bead.source), column + len(bead.target)
        centre[row - len(bead.source) + 1 : row + 1] = column

    def costs(row: int, columns: Ints) -> Mapping[Step, Doubles]:
        gains = words.gains(row, columns)
        return {step: cost - gains[step] for step, cost in lengths.costs(row, columns).items()}

    beads = _search(size, other, centre, BAND, costs)
    return [words.scored(bead) for bead in beads]


def _sure(path: Sequence[Bead]) -> list[tuple[int, int]]:
    """Beads of one to one between two of these; all of them if these are too few."""
    single = [len(bead.source) == len(bead.target) == 1 for bead in path]
    inside = [all(single[max(k - 1, 0) : k + 2]) for k in range(len(path))]
    for chosen in (inside, single):
        pairs = [(bead.source[0], bead.target[0]) for bead, kept in zip(path, chosen, strict=True) if kept]
        if len(pairs) >= SURE:
            return pairs
    return []


def _search(size: int, other: int, centre: Ints, width: int, costs: Costs) -> list[Bead]:
    """The cheapest path from (0, 0) to (size, other) that stays ``width`` columns around ``centre`` in each row.

    ``costs(i, columns)`` gives, for each step, what a bead costs that ends before source sentence i and before the target
    sentences in ``columns``. Target sentences alone have a cost of their own that depends on nothing.
    """
    alone = -math.log(PRIORS[1, 0])
    span = min(2 * width + 1, other + 1)
    low = np.clip(centre - width, 0, other + 1 - span)
    low[0], low[-1] = 0, other + 1 - span
    low = np.maximum.accumulate(low)
    steps = [(0, 1), *sorted(PRIORS)]
    rows: list[Doubles] = []
    back = np.zeros((size + 1, span), dtype=np.int8)
    offsets = np.arange(span)
    for row in range(size + 1):
        columns = low[row] + offsets
        best = np.full(span, np.inf)
        if row == 0:
            best[0] = 0.0
        else:
            prices = costs(row, columns)
            for number, (down, right) in enumerate(steps[1:], start=1):
                if down > row:
                    continue
                place = columns - right - low[row - down]
                there = (place >= 0) & (place < span) & (columns >= right)
                total = np.full(span, np.inf)
                total[there] = rows[row - down][place[there]] + prices[down, right][there]
                better = total < best
                best[better], back[row, better] = total[better], number
        # Target sentences without a source: each costs the same, so the best place to begin is a running minimum.
        relative = best - alone * offsets
        lowest = np.minimum.accumulate(relative)
        from_left = lowest < relative - 1e-9
        back[row, from_left] = 0
        rows.append(np.where(from_left, lowest + alone * offsets, best))
    if not np.isfinite(rows[size][other - low[size]]):
        raise TreeglotError("the two texts differ too much in length", remedy="give the two sides of the same text")
    beads: list[Bead] = []
    row, column = size, other
    while row or column:
        down, right = steps[back[row, column - low[row]]]
        beads.append(Bead(tuple(range(row - down, row)), tuple(range(column - right, column))))
        row, column = row - down, column - right
    return beads[::-1]


class _Lengths:
    """What beads cost by the letters of both sides."""

    def __init__(self, source: Texts, target: Texts) -> None:
        letters = [np.array([sum(map(len, sentence)) + 1 for sentence in side]) for side in (source, target)]
        self.source, self.target = (np.concatenate([[0], np.cumsum(side)]) for side in letters)
        self.ratio = self.target[-1] / self.source[-1]
        grid = np.linspace(0, 8, 1601)
        self._grid, self._cost = grid, np.array([-math.log(max(math.erfc(x / math.sqrt(2)), 1e-300)) for x in grid])

    def costs(self, row: int, columns: Ints) -> dict[Step, Doubles]:
        result: dict[Step, Doubles] = {}
        for (down, right), prior in PRIORS.items():
            price = -math.log(prior)
            if down > row:
                continue
            if not right:
                result[down, right] = np.full(len(columns), price)
                continue
            here = float(self.source[row] - self.source[row - down])
            there = self.target[columns] - self.target[np.maximum(columns - right, 0)]
            mean = (here + there / self.ratio) / 2
            deviation = np.abs(there - here * self.ratio) / np.sqrt(VARIANCE * mean * self.ratio)
            result[down, right] = price + np.minimum(np.interp(deviation, self._grid, self._cost), MOST_LENGTH_COST)
        return result


class _Words:
    """What beads gain by their words, with translation probabilities learnt from sentence pairs that are taken to be right."""

    def __init__(self, source: list[list[str]], target: list[list[str]], sure: Sequence[tuple[int, int]], threads: int):
        lines = [[_line(side[pair[k]]) for pair in sure] for k, side in enumerate((source, target))]
        with scratch_folder("sentences") as folder:
            model = train("own", lines[0], lines[1], folder / "model", threads=threads)
            rows = [(r.source, r.target, r.target_given_source, r.source_given_target) for r in model.lexicon(1e-3)]
        self.sides = [[[_word(form) for form in sentence] for sentence in side] for side in (source, target)]
        counts = [Counter(form for sentence in side for form in sentence) for side in self.sides]
        self.numbers = [{form: k for k, form in enumerate(sorted(count))} for count in counts]
        self.large = [
            np.array([count[form] for form in sorted(count)], dtype=np.float64) / sum(count.values())
            for count in counts
        ]
        self.texts = [
            [np.array([number[form] for form in sentence], dtype=np.int64) for sentence in side]
            for side, number in zip(self.sides, self.numbers, strict=True)
        ]
        known: dict[tuple[str, str], tuple[float, float]] = {
            (s, t): (forward, backward) for s, t, forward, backward in rows
        }
        for form in self.numbers[0].keys() & self.numbers[1].keys():  # names and numbers that were never learnt
            if any(letter.isalnum() for letter in form) and (len(form) > 3 or form.isdigit()):
                chances = known.get((form, form), (0.0, 0.0))
                known[form, form] = max(chances[0], SHARE), max(chances[1], SHARE)
        table: list[list[tuple[int, float, float]]] = [[] for _ in self.numbers[0]]
        for (s, t), (forward, backward) in sorted(known.items()):
            if s in self.numbers[0] and t in self.numbers[1]:
                table[self.numbers[0][s]].append((self.numbers[1][t], forward, backward))
        self.columns = [np.array([row[0] for row in part], dtype=np.int64) for part in table]
        self.forward = [np.array([row[1] for row in part]) for part in table]
        self.backward = [np.array([row[2] for row in part]) for part in table]
        sizes = np.array([len(sentence) for sentence in self.texts[1]], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.tokens = np.concatenate([np.empty(0, dtype=np.int64), *self.texts[1]])
        self._kept: dict[int, tuple[int, dict[int, Doubles]]] = {}

    def gains(self, row: int, columns: Ints) -> dict[Step, Doubles]:
        """Of the beads that end before source sentence ``row`` and before the target sentences in ``columns``."""
        first, last = max(int(columns[0]) - 3, 0), int(columns[-1])
        self._kept[row - 1] = first, self._backward(row - 1, first, last)
        for old in [key for key in self._kept if key < row - 3]:
            del self._kept[old]
        result: dict[Step, Doubles] = {}
        explained = np.zeros(len(self.large[1]))
        words = 0
        for down in (1, 2, 3):
            if row - down not in self._kept:
                break
            for word in self.texts[0][row - down]:
                np.add.at(explained, self.columns[word], self.forward[word])
            words += len(self.texts[0][row - down])
            forward = self._forward(explained, words, first, last)
            for right in (1, 2, 3):
                if (down, right) not in PRIORS:
                    continue
                total = forward[columns - first] - forward[np.maximum(columns - right, first) - first]
                for n in range(row - down, row):
                    start, backward = self._kept[n]
                    place = columns - start
                    inside = (place >= 0) & (place < len(backward[right]))
                    total = total + np.where(inside, backward[right][np.where(inside, place, 0)], -np.inf)
                result[down, right] = total / 2
        result[1, 0] = np.zeros(len(columns))
        return result

    def _forward(self, explained: Doubles, words: int, first: int, last: int) -> Doubles:
        """The gain of the target words before each sentence from ``first`` to ``last``, summed up from ``first`` on."""
        tokens = self.tokens[self.starts[first] : self.starts[last]]
        large = self.large[1][tokens]
        gain = np.log(SHARE * explained[tokens] / max(words, 1) / large + (1 - SHARE))
        sums = np.concatenate([[0.0], np.cumsum(gain)])
        result: Doubles = sums[self.starts[first : last + 1] - self.starts[first]]
        return result

    def _backward(self, row: int, first: int, last: int) -> dict[int, Doubles]:
        """The gain of the words of one source sentence by 1, 2 or 3 target sentences that end before ``first``, ..., ``last``."""
        sentence = self.texts[0][row]
        matrix = np.zeros((len(sentence), len(self.large[1])))
        for k, word in enumerate(sentence):
            matrix[k, self.columns[word]] = self.backward[word]
        tokens = self.tokens[self.starts[first] : self.starts[last]]
        sums = np.concatenate([np.zeros((len(sentence), 1)), np.cumsum(matrix[:, tokens], axis=1)], axis=1)
        ends = self.starts[first : last + 1] - self.starts[first]
        at = sums[:, ends]
        large = self.large[0][sentence][:, None]
        result = {}
        for right in (1, 2, 3):
            before = np.maximum(np.arange(len(ends)) - right, 0)
            size = np.maximum(ends - ends[before], 1)
            result[right] = np.log(SHARE * np.maximum(at - at[:, before], 0) / size / large + (1 - SHARE)).sum(axis=0)
        return result

    def scored(self, bead: Bead) -> Bead:
        """The bead with its gain for each word."""
        if not bead.source or not bead.target:
            return bead
        self._kept.clear()
        end = bead.target[-1] + 1
        for row in bead.source[:-1]:
            self._kept[row] = max(end - 3, 0), self._backward(row, max(end - 3, 0), end)
        gain = self.gains(bead.source[-1] + 1, np.array([end]))[len(bead.source), len(bead.target)][0]
        size = sum(len(self.texts[0][i]) for i in bead.source) + sum(len(self.texts[1][j]) for j in bead.target)
        return bead._replace(score=round(float(gain) / max(size, 1), 3))


def _word(form: str) -> str:
    return "_".join(form.split()) or "_"


def _line(forms: Sequence[str]) -> str:
    return " ".join(map(_word, forms))


_LADDER = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\](?::\S*)?")


def read_beads(path: type_path, source: Sequence[str], target: Sequence[str]) -> list[Bead]:
    """Beads of a file; ``source`` and ``target`` are the ids of all sentences (empty ones are known by number only)."""
    names = [{name: k for k, name in enumerate(side) if name} for side in (source, target)]
    beads: list[Bead] = []
    for number, line in read_lines(path):
        text = line.strip(" \r")
        if not text:
            continue

        def error(message: str, remedy: str, number: int = number) -> InputError:
            return InputError(message, path=path, line=number, remedy=remedy)

        ladder = _LADDER.fullmatch(text)
        fields = ladder.groups() if ladder else text.split("\t")[:2]
        if len(fields) != 2:
            raise error("no tabulator", "write source sentences, a tabulator, target sentences")
        sides = []
        for field, known, every in zip(fields, names, (source, target), strict=True):
            numbers = []
            for name in re.split(r"[ ,]+", field.strip()) if field.strip() else ():
                place = int(name) if ladder else known.get(name, int(name) - 1 if name.isdecimal() else -1)
                if not 0 <= place < len(every):
                    raise error(f"no sentence {name!r}: there are {len(every):,}", "give ids, or numbers from 1")
                numbers.append(place)
            sides.append(tuple(numbers))
        beads.append(Bead(sides[0], sides[1]))
    return beads


def write_beads(beads: Iterable[Bead], path: type_path, source: Sequence[str], target: Sequence[str]) -> None:
    """One line for each bead: ids (numbers from 1 where sentences have none), and the score in a third column."""
    with atomic_write(path) as file:
        for bead in beads:
            sides = (
                " ".join(names[k] or str(k + 1) for k in side)
                for side, names in zip(bead[:2], (source, target), strict=True)
            )
            file.write("\t".join([*sides, repr(bead.score)]) + "\n")
