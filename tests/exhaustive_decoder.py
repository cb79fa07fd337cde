"""Exhaustive translation of small sentences by any set of grammars, written from the spec, for tests of the forest decoder.

`Exhaustive` makes a forest in plain Python: each grammar's edges are a set that depends on its own rules alone, a system's edges are
the union of these sets, and what closes a forest (phrases, joins, copied words, the goal) sees only the union.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import mwu_reference as mwu
from mwu_parses_reference import Joined, Vertex
from random_worlds import PHRASE_WORDS, Features, Rule, Target, World, block
from treeglot.trees import ParsedSentence
from treeglot.trees.phrasal import PhrasalNode, phrasal_nodes

HEADED = ("augmented", "consdep2str", "dep2str")
"""Grammars of heads with their dependents."""
SUBTREES = (*HEADED, "mwu")
"""Grammars that work on dependency subtrees."""

Node = tuple[str | int, ...]
"""A kind and what tells it from others: ("word", 3), ("subtree", head), ("group", begin, end),
("constituent", number), ("span", begin, end), ("glue", end), ("prefix", head, members), ("gap", *words) of subtrees around their
head, ("unit", *words), ("goal",)."""


class Edge(NamedTuple):
    source: str
    tails: tuple[Node, ...]
    target: Target
    features: Features


Edges = defaultdict[Node, set[Edge]]
Translations = dict[tuple[str, ...], float]


def is_variable(item: str) -> bool:
    return item[0] == "x" and item[1:].isdigit()


def sequence(*tails: Node, features: Features = ()) -> Edge:
    """Parts one after another."""
    return Edge("", tails, tuple(f"x{i + 1}" for i in range(len(tails))), features)


def pseudo(*tails: Node) -> Edge:
    return sequence(*tails, features=(("pseudo", 1.0),))


def number_variables(text: str) -> str:
    """Variables are x in the making; the spec numbers them in the order of the source."""
    pieces = text.split("\0")
    return pieces[0] + "".join(f"x{i + 1}{piece}" for i, piece in enumerate(pieces[1:]))


class Member(NamedTuple):
    """One way to read members of an HDR as a symbol of a source side; a variable has a tail."""

    text: str
    tail: Node | None
    begin: int
    end: int


class Exhaustive:
    """All derivations of a sentence by a system of grammars; ``options`` are those of matching that are on."""

    def __init__(
        self,
        world: World,
        sentence: ParsedSentence,
        grammars: Sequence[str] = (),
        options: Mapping[str, bool | int | str] | None = None,
        parses: Sequence[tuple[Sequence[int], float]] = (),
    ) -> None:
        """``parses`` are further dependency trees, by their heads, and their weights."""
        self.world, self.sentence = world, sentence
        self.values = dict(options or {})
        self.grammars = tuple(grammars) or world.grammars
        self.options = {name for name, value in (options or {}).items() if value}
        assert sentence.dependency is not None and sentence.constituency is not None
        self.tree, self.constituents = sentence.dependency, sentence.constituency
        self.parses = [(sentence.dependency.heads, 1.0), *parses]
        self.words, self.tags = sentence.tokens.forms, sentence.tokens.tags
        self.phrase_edges: dict[tuple[int, int], set[Edge]] = {}
        self.edges: Edges = defaultdict(set)
        for grammar in self.grammars:
            for node, edges in self.edges_of(grammar).items():
                self.edges[node] |= edges
        self.close()
        self.best_of: dict[Node, Translations] = {}

    def edges_of(self, grammar: str) -> Edges:
        if grammar in HEADED:
            return HeadDependents(self, grammar).edges
        if grammar == "mwu":
            return UnitEdges(self).edges
        return self.constituency_edges() if grammar == "cons2str" else self.hierarchical_edges()

    # What grammars share.

    def phrases(self, begin: int, end: int) -> set[Edge]:
        if (begin, end) not in self.phrase_edges:
            edges = self.phrase_edges[begin, end] = set()
            text = " ".join(self.words[begin:end])
            for entry in self.world.phrase_table.lookup(text) if end - begin <= PHRASE_WORDS else ():
                target = tuple(entry.target.split()) if isinstance(entry.target, str) else tuple(entry.target)
                edges.add(Edge(text, (), target, block("phrases", entry)))
        return self.phrase_edges[begin, end]

    def copy(self, j: int) -> Edge:
        return Edge("", (), (self.words[j],), (("copied", 1.0),))

    def subtree(self, n: int) -> Node:
        return ("word", n) if self.tree.is_leaf(n) else ("subtree", n)

    def members(self, n: int) -> list[int]:
        return sorted((n, *self.tree.children(n)))

    def member_span(self, n: int, member: int) -> tuple[int, int]:
        return (n, n + 1) if member == n else self.tree.spans[member]

    def member_node(self, n: int, member: int) -> Node:
        return ("word", n) if member == n else self.subtree(member)

    # Constituents.

    def constituent(self, node: int) -> Node:
        return ("constituent", node) if node >= 0 else ("word", ~node)

    def fragments(self, root: int) -> Iterator[tuple[str, tuple[Node, ...]]]:
        """Every fragment of the tree with this root, and what fills its sites."""
        if root < 0:
            yield f"({self.tags[~root]} {self.words[~root]})", ()
            return

        def readings(child: int) -> Iterator[tuple[str, tuple[Node, ...]]]:
            yield f"\0:{self.constituents.label(child)}", (self.constituent(child),)
            yield from self.fragments(child)

        for parts in itertools.product(*(list(readings(child)) for child in self.constituents.children[root])):
            text = " ".join(part for part, _ in parts)
            yield f"({self.constituents.labels[root]} {text})", tuple(site for _, sites in parts for site in sites)

    def constituency_edges(self) -> Edges:
        edges: Edges = defaultdict(set)
        rules = self.world.rules["cons2str"]
        for root in self.constituents.preorder():
            node = self.constituent(root)
            matched = False
            for text, sites in self.fragments(root):
                source = number_variables(text)
                for rule in rules.get(source, ()):
                    edges[node].add(Edge(source, sites, rule.target, rule.features))
                    matched = True
            if root >= 0 and (not matched or "pseudo_always" in self.options):
                edges[node].add(pseudo(*(self.constituent(child) for child in self.constituents.children[root])))
        return edges

    # Spans.

    def span_tail(self, begin: int, end: int) -> Node:
        """What fills a gap: the subtree of these words in systems that work on subtrees, else the span."""
        if any(grammar in SUBTREES for grammar in self.grammars):
            for n, span in enumerate(self.tree.spans):
                if span == (begin, end):
                    return self.subtree(n)
        return ("span", begin, end)

    def hierarchical_edges(self) -> Edges:
        edges: Edges = defaultdict(set)
        rules = self.world.rules["hierarchical"]
        size = len(self.words)

        def sides(begin: int, end: int) -> Iterator[tuple[list[str], tuple[Node, ...]]]:
            if begin == end:
                yield [], ()
                return
            for texts, gaps in sides(begin + 1, end):
                yield [self.words[begin], *texts], gaps
            for middle in range(begin + 1, end + 1):
                for texts, gaps in sides(middle, end):
                    yield ["\0:X", *texts], (self.span_tail(begin, middle), *gaps)

        for begin in range(size):
            for end in range(begin + 1, size + 1):
                for texts, gaps in sides(begin, end):
                    source = number_variables(" ".join(texts))
                    for rule in rules.get(source, ()):
                        edges["span", begin, end].add(Edge(source, gaps, rule.target, rule.features))
            word: Node = ("span", begin, begin + 1)
            if word not in edges and self.span_tail(begin, begin + 1) == word:
                edges[word] |= self.phrases(begin, begin + 1) or {self.copy(begin)}
        for end in range(1, size + 1):
            edges["glue", end].add(sequence(self.span_tail(0, end)))
            for begin in range(1, end):
                parts = ("glue", begin), self.span_tail(begin, end)
                edges["glue", end].add(sequence(*parts, features=(("glue", 1.0),)))
        return edges

    # What closes the forest.

    def close(self) -> None:
        if "free_phrases" in self.options:
            self.add_free_phrases()
        nodes = set(self.edges) | {tail for edges in self.edges.values() for edge in edges for tail in edge.tails}
        over: dict[tuple[int, int], Node] = {}  # topmost constituents
        if "cons2str" in self.grammars:
            for number, span in enumerate(self.constituents.spans):
                over.setdefault(span, ("constituent", number))
        for node in nodes:
            if node[0] not in ("word", "subtree", "group", "constituent"):
                continue
            begin, end = span = self.span(node)
            self.edges[node] |= self.phrases(begin, end)
            if node[0] != "group" and ("span", begin, end) in nodes:
                self.edges[node].add(sequence(("span", begin, end)))
            if node[0] != "constituent" and end - begin > 1 and span in over:
                self.edges[node].add(sequence(over[span]))
        for node in nodes:
            if node[0] == "word" and not self.edges[node]:
                self.edges[node].add(self.copy(int(node[1])))
        size = len(self.words)
        for node in (self.subtree(self.tree.root), ("constituent", 0), ("glue", size)):
            if node in nodes:
                self.edges["goal",].add(sequence(node))

    def span(self, node: Node) -> tuple[int, int]:
        kind, *where = node
        place = int(where[0])
        if kind == "group":
            return place, int(where[1])
        if kind == "word":
            return place, place + 1
        return self.tree.spans[place] if kind == "subtree" else self.constituents.spans[place]

    def add_free_phrases(self) -> None:
        """HDRs of three and more members from left to right, with phrases over runs of neighbouring members."""
        for n in range(len(self.words)):
            members = self.members(n)
            size = len(members)
            spans = [self.member_span(n, member) for member in members]
            runs = [
                (first, last)
                for first, last in itertools.combinations(range(size + 1), 2)
                if 2 <= last - first < size and self.phrases(spans[first][0], spans[last - 1][1])
            ]
            if not runs:
                continue
            parts = [(i, i + 1, self.member_node(n, members[i])) for i in range(size)]
            parts += [(first, last, ("group", spans[first][0], spans[last - 1][1])) for first, last in runs]
            for first, last, part in parts:
                tails = (("prefix", n, first), part) if first else (part,)
                if last == size:
                    self.edges["subtree", n].add(pseudo(*tails))
                else:
                    self.edges["prefix", n, last].add(sequence(*tails))

    # Translations.

    def score(self, edge: Edge) -> float:
        """Without language model."""
        weights = self.world.weights
        words = sum(not is_variable(item) for item in edge.target)
        return sum(weights[name] * value for name, value in edge.features) + weights["words"] * words

    def translations(self, node: Node) -> Translations:
        """The best score of every word sequence, without language model."""
        if node not in self.best_of:
            best: Translations = {}
            for edge in self.edges[node]:
                own = self.score(edge)
                for choice in itertools.product(*(self.translations(tail).items() for tail in edge.tails)):
                    words = filled(edge.target, [part for part, _ in choice])
                    score = own + sum(score for _, score in choice)
                    if score > best.get(words, -math.inf):
                        best[words] = score
            self.best_of[node] = best
        return self.best_of[node]

    def count(self, node: Node = ("goal",)) -> int:
        """The number of derivations."""
        known: dict[Node, int] = {}

        def below(node: Node) -> int:
            if node not in known:
                known[node] = sum(math.prod(below(tail) for tail in edge.tails) for edge in self.edges[node])
            return known[node]

        return below(node)

    def derivations(self, node: Node = ("goal",)) -> list[tuple[tuple[str, ...], float]]:
        """Words and score (without language model) of every derivation."""
        known: dict[Node, list[tuple[tuple[str, ...], float]]] = {}

        def below(node: Node) -> list[tuple[tuple[str, ...], float]]:
            if node not in known:
                known[node] = [
                    (filled(edge.target, [part for part, _ in choice]), self.score(edge) + sum(s for _, s in choice))
                    for edge in self.edges[node]
                    for choice in itertools.product(*(below(tail) for tail in edge.tails))
                ]
            return known[node]

        return below(node)

    def model_score(self, words: tuple[str, ...]) -> float:
        """The language model's part of the score."""
        return self.world.weights["lm"] * math.log(10) * self.world.model.score(" ".join(words))

    def totals(self) -> Translations:
        """Every translation with its best score."""
        return {words: score + self.model_score(words) for words, score in self.translations(("goal",)).items()}


def filled(target: Target, parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    words: list[str] = []
    for item in target:
        words.extend(parts[int(item[1:]) - 1] if is_variable(item) else (item,))
    return tuple(words)


class HeadDependents:
    """The edges of a grammar of heads with their dependents (spec: tree-to-string, sections 2 to 4 and 7)."""

    def __init__(self, forest: Exhaustive, grammar: str) -> None:
        self.forest, self.grammar = forest, grammar
        self.rules = forest.world.rules[grammar]
        self.recursion = grammar == "consdep2str" and "phrasal_recursion" in forest.options
        choice = forest.values.get("decompose", "none")
        self.runs, self.attachments = choice in ("runs", "both"), choice in ("attach", "both")
        self.decomposed = choice != "none"
        self.edges: Edges = defaultdict(set)
        report = phrasal_nodes(forest.sentence) if grammar == "consdep2str" else None
        for n, word in enumerate(forest.words):
            self.drop(n, word)
            if forest.tree.is_leaf(n):
                self.edges["word", n]  # there is such a node
            else:
                self.add(n, report.at(n) if report else ())

    def drop(self, n: int, word: str) -> None:
        """A word that had no link somewhere in training may be translated by nothing."""
        if "drop_words" not in self.forest.options:
            return
        places = [
            any(s == j for s, _ in links)
            for sentence, _, links in self.forest.world.pairs
            for j, other in enumerate(sentence.tokens.forms)
            if other == word
        ]
        if not all(places):
            share = places.count(False) / len(places)
            self.edges["word", n].add(Edge(word, (), (), ((f"{self.grammar}.drop", math.log(share)),)))

    def add(self, n: int, phrasal: Sequence[PhrasalNode]) -> None:
        forest = self.forest
        members = forest.members(n)
        matched, asked = self.match(("subtree", n), n, members, phrasal)
        if self.decomposed:
            self.add_runs(n, members)
        elif not matched or "pseudo_always" in forest.options:
            self.edges["subtree", n].add(self.in_order(n, members))
        waiting, done = (set(asked) if self.recursion else set()), set()
        while waiting:
            inner = waiting.pop()
            done.add(inner)
            if self.decomposed and inner.covers_head:
                continue  # a run
            node: Node = ("group", *inner.span)
            matched = False
            if inner.covers_head:
                nested = [other for other in phrasal if set(other.members) < set(inner.members)]
                matched, asked = self.match(node, n, inner.members, nested)
                waiting |= asked - done
            if not matched and not forest.phrases(*inner.span):
                self.edges[node].add(self.in_order(n, inner.members))

    def in_order(self, n: int, members: Sequence[int]) -> Edge:
        return pseudo(*(self.forest.member_node(n, member) for member in members))

    def add_runs(self, n: int, members: Sequence[int]) -> None:
        """Runs of members with the head (spec: section 2, Sub-fragments): with their rules, as a smaller run with one more member,
        and in source order, where members behind the head come first."""
        forest = self.forest
        head = members.index(n)

        def run(begin: int, end: int) -> Node:
            if end - begin == 1:
                return ("word", n)
            if end - begin == len(members):
                return ("subtree", n)
            return ("group", forest.member_span(n, members[begin])[0], forest.member_span(n, members[end - 1])[1])

        for begin, end in itertools.product(range(head + 1), range(head + 1, len(members) + 1)):
            node, inside = run(begin, end), members[begin:end]
            if len(inside) == 1:
                continue
            if self.runs and len(inside) <= 8:
                self.match(node, n, inside, (), "run", "+ ")
                if len(inside) < len(members):
                    self.match(node, n, inside, (), "part")
            ways: list[tuple[tuple[Member, ...], frozenset[PhrasalNode]]] = []
            for way in self.ways(n, members[begin]) if begin < head else ():
                ways += [((way, inner), frozenset()) for inner in self.inner(n, run(begin + 1, end))]
            for way in self.ways(n, members[end - 1]) if end > head + 1 else ():
                ways += [((inner, way), frozenset()) for inner in self.inner(n, run(begin, end - 1))]
            if self.attachments:
                self.use(node, ways, "attach")
            if begin < head:
                self.edges[node].add(pseudo(forest.member_node(n, members[begin]), run(begin + 1, end)))
            else:
                self.edges[node].add(pseudo(run(begin, end - 1), forest.member_node(n, members[end - 1])))

    def inner(self, n: int, node: Node) -> list[Member]:
        """A run inside an attachment, by the tag and by the word of its head."""
        return [Member(f"^\0:{shown}+", node, 0, 0) for shown in (self.category(n), self.forest.words[n])]

    def category(self, member: int) -> str:
        """What a word is generalised to."""
        tag = self.forest.tags[member]
        if self.forest.values.get("category") != "tag+relation":
            return tag
        return f"{tag}/{self.forest.tree.deprels[member]}"

    def match(
        self,
        node: Node,
        n: int,
        members: Sequence[int],
        phrasal: Sequence[PhrasalNode],
        use: str = "",
        mark: str = "",
    ) -> tuple[bool, set[PhrasalNode]]:
        """Adds the edges of all rules for these members: whether there are any, and the phrasal nodes among their variables."""
        return self.use(node, self.readings(n, members, phrasal), use, mark)

    def use(
        self,
        node: Node,
        readings: Iterable[tuple[Sequence[Member], frozenset[PhrasalNode]]],
        use: str = "",
        mark: str = "",
    ) -> tuple[bool, set[PhrasalNode]]:
        """The same for source sides; ``use`` are rules whose features are others than those of complete rules."""
        uses, asked = [], set[PhrasalNode]()
        for symbols, groups in readings:
            source = mark + number_variables(" ".join(symbol.text for symbol in symbols))
            if source in self.rules:
                asked |= groups
                uses += [(source, symbols, self.renamed(rule, use)) for rule in self.rules[source]]
        least = self.least_score([rule for _, _, rule in uses])
        for source, symbols, rule in uses:
            if self.score(rule) >= least:
                self.apply(node, source, symbols, rule)
        return bool(uses), asked

    def renamed(self, rule: Rule, use: str) -> Rule:
        """With the features of a class of uses."""
        if not use:
            return rule
        return rule._replace(
            features=tuple(
                (name if name.endswith(".unlinked") else f"{self.grammar}.{use}_{name.partition('.')[2]}", value)
                for name, value in rule.features
            )
        )

    def score(self, rule: Rule) -> float:
        return self.forest.score(Edge("", (), rule.target, rule.features))

    def least_score(self, rules: Sequence[Rule]) -> float:
        """The limits are for all rules of a node together, whatever their source sides are (spec: section 9)."""
        scores = sorted(map(self.score, rules), reverse=True)
        limit, threshold = (
            int(self.forest.values.get("rule_limit", 0)),
            float(self.forest.values.get("rule_threshold", 0)),
        )
        bounds = [-math.inf]
        if scores and threshold:
            bounds.append(scores[0] + math.log(threshold) - 1e-6)
        if scores[limit - 1 : limit]:
            bounds.append(scores[limit - 1] - 1e-6)
        return max(bounds)

    def readings(
        self, n: int, members: Sequence[int], phrasal: Sequence[PhrasalNode]
    ) -> Iterator[tuple[list[Member], frozenset[PhrasalNode]]]:
        """All source sides: every member by its word or its tag, phrasal nodes in place of members."""
        forest = self.forest
        if not members:
            yield [], frozenset()
            return
        member = members[0]
        for way in self.ways(n, member):
            for symbols, groups in self.readings(n, members[1:], phrasal):
                yield [way, *symbols], groups
        for group in phrasal:
            run = self.decomposed and group.covers_head
            if group.members[0] != member or not (self.recursion or run or forest.phrases(*group.span)):
                continue
            mark = "^" if group.covers_head else ""
            way = Member(f"{mark}\0:{group.category}", ("group", *group.span), *group.span)
            for symbols, groups in self.readings(n, members[len(group.members) :], phrasal):
                if len(groups) < 2:
                    yield [way, *symbols], groups | {group}

    def ways(self, n: int, member: int) -> list[Member]:
        """A member by its category and by its word."""
        forest, mark = self.forest, "^" if member == n else ""
        tag, word = self.category(member), forest.words[member]
        begin, end = forest.member_span(n, member)
        if member != n and not forest.tree.is_leaf(member):
            return [Member(f"\0:{shown}*", ("subtree", member), begin, end) for shown in (tag, word)]
        return [Member(f"{mark}\0:{tag}", ("word", member), begin, end), Member(f"{mark}{word}", None, begin, end)]

    def apply(self, node: Node, source: str, symbols: Sequence[Member], rule: Rule) -> None:
        variables = [symbol for symbol in symbols if symbol.tail is not None]
        tails = tuple(symbol.tail for symbol in variables if symbol.tail is not None)
        self.edges[node].add(Edge(source, tails, rule.target, rule.features))
        if self.grammar != "augmented":
            return
        # Rules built on the fly: every non-empty set of labels with phrases that do not overlap.
        known = [
            label
            for label in sorted(rule.labels)
            if self.forest.phrases(symbols[label[0]].begin, symbols[label[1] - 1].end)
            and not (self.runs and any(symbol.text[0] == "^" for symbol in symbols[label[0] : label[1]]))
        ]
        for size in range(1, len(known) + 1):
            for chosen in itertools.combinations(known, size):
                if all(before[1] <= after[0] for before, after in itertools.pairwise(chosen)):
                    self.build(node, source, symbols, rule, chosen)

    def build(
        self, node: Node, source: str, symbols: Sequence[Member], rule: Rule, chosen: Sequence[tuple[int, int]]
    ) -> None:
        """The rule in which the variables under each label are one; none if they stand apart in the target."""
        nodes: list[Node] = []  # by variable: what fills it
        for place, symbol in enumerate(symbols):
            if symbol.tail is None:
                continue
            label = next((label for label in chosen if label[0] <= place < label[1]), None)
            nodes.append(("group", symbols[label[0]].begin, symbols[label[1] - 1].end) if label else symbol.tail)
        merged: list[str | Node] = []
        for item in rule.target:
            part = nodes[int(item[1:]) - 1] if is_variable(item) else item
            if isinstance(part, str) or part[0] != "group" or not merged or merged[-1] != part:
                merged.append(part)
        tails = tuple(dict.fromkeys(part for part in merged if not isinstance(part, str)))
        if sum(not isinstance(part, str) for part in merged) > len(tails):
            return
        target = tuple(part if isinstance(part, str) else f"x{tails.index(part) + 1}" for part in merged)
        edge = Edge(f"{source} {chosen}", tails, target, rule.features)
        equal = next((other for other in self.edges[node] if other[:3] == edge[:3]), edge)
        self.edges[node].discard(equal)
        self.edges[node].add(max(edge, equal, key=self.forest.score))  # rules that have become equal are one


class Cover(NamedTuple):
    """The words on top of something, all its words, and the first tree in which those cover these."""

    sigma: tuple[int, ...]
    whole: frozenset[int]


class UnitEdges:
    """The edges of multi-word units (spec: mwu-forest, section 4), over one tree or several ones."""

    def __init__(self, forest: Exhaustive) -> None:
        self.forest, self.rules = forest, forest.world.rules["mwu"]
        self.trees = [mwu.Tree(heads) for heads, _ in forest.parses]
        self.edges: Edges = defaultdict(set)
        self.translated: set[Node] = set()
        self.first: dict[Cover, int] = {}
        values = forest.values
        units = self.units = Joined(
            self.trees,
            [weight for _, weight in forest.parses],
            int(values.get("max_words", 6)),
            int(values.get("k", 10)),
            vertex_siblings=values.get("siblings") == "vertex",
        )
        for unit, tree in units.first.items():
            cover = Cover(unit.sigma, unit.whole)
            self.first[cover] = min(tree, self.first.get(cover, tree))
        for unit in units.first:
            grouped: dict[tuple[Cover, ...], float] = defaultdict(float)
            for edge in units.edges[unit]:
                grouped[tuple(Cover(tail.sigma, tail.whole) for tail in edge)] += units.p[unit, edge]
            self.add(unit, grouped or {(): 1.0})
        waiting = list(self.first)
        done = set()
        while waiting:
            cover = waiting.pop()
            if cover not in done and self.node(cover) not in self.translated:
                done.add(cover)
                waiting.extend(self.complete(cover))

    def node(self, cover: Cover) -> Node:
        words = sorted(cover.whole)
        begin, end = words[0], words[-1] + 1
        if len(words) == 1:
            return ("word", begin)
        if end - begin != len(words):
            return ("gap", *words)
        same = [word for word, span in enumerate(self.forest.tree.spans) if tuple(span) == (begin, end)]
        return self.forest.subtree(same[0]) if same else ("group", begin, end)

    def side(self, unit: Vertex, kept: Sequence[Cover] = (), deleted: Sequence[Cover] = ()) -> str:
        """Deleted parts stand as in the first tree that has them."""
        labels = self.forest.words if self.forest.values.get("label") == "word" else self.forest.tags
        heads = dict.fromkeys(range(len(labels)), -1)
        own = set(unit.words)
        for cover in deleted:
            own |= cover.whole
            heads |= {word: self.trees[self.first[cover]].heads[word] for word in cover.whole}
        heads |= dict(unit.heads)
        shape = mwu.Tree([heads[word] for word in range(len(labels))])
        return mwu.source_side(shape, self.forest.words, labels, sorted(own), [cover.sigma for cover in kept])

    def add(self, unit: Vertex, groupings: Mapping[tuple[Cover, ...], float]) -> None:
        node = self.node(Cover(unit.sigma, unit.whole))
        self.edges[node]  # there is such a node
        matched = False
        for tails, p in groupings.items():
            own = (("mwu.forest", math.log(p)),) if len(tails) > 0 else ()
            sets = (
                itertools.chain.from_iterable(itertools.combinations(tails, size) for size in range(len(tails) + 1))
                if "unaligned_source" in self.forest.options
                else [()]
            )
            for deleted in sets:
                kept = [tail for tail in tails if tail not in deleted]
                side = self.side(unit, kept, deleted)
                for rule in self.rules.get(side, ()):
                    matched = True
                    filling = tuple(self.node(tail) for tail in kept)
                    self.edges[node].add(Edge(side, filling, rule.target, rule.features + own))
        if matched:
            self.translated.add(node)
            return
        words = sorted(unit.words)
        inner: Node = ("word", words[0]) if len(words) == 1 else ("unit", *words, *(head for _, head in unit.heads))
        if () in groupings or (len(words) > 1 and self.side(unit) not in self.rules):
            return
        self.translated.add(node)
        self.lexical(inner, self.side(unit))
        for tails in groupings:
            parts = sorted(
                [(words[0], inner), *((tail.sigma[0], self.node(tail)) for tail in tails)], key=lambda part: part[0]
            )
            self.edges[node].add(pseudo(*(part for _, part in parts)))

    def lexical(self, node: Node, side: str) -> None:
        for rule in self.rules.get(side, ()):
            self.edges[node].add(Edge(side, (), rule.target, rule.features))

    def complete(self, cover: Cover) -> list[Cover]:
        """What no unit translates, in source order; returns what that asks for."""
        number = self.first[cover]
        tree = self.trees[number]

        def below(word: int) -> Cover:
            part = Cover((word,), tree.whole(frozenset({word})))
            self.first.setdefault(part, number)
            return part

        if len(cover.sigma) > 1:
            parts = [below(word) for word in cover.sigma]
            self.edges[self.node(cover)].add(pseudo(*(self.node(part) for part in parts)))
            return parts
        (word,) = cover.sigma
        self.lexical(("word", word), mwu.source_side(tree, self.forest.words, self.forest.tags, [word], []))
        parts = [below(child) for child in tree.children(word)]
        if parts:
            ordered = sorted([(word, ("word", word)), *((part.sigma[0], self.node(part)) for part in parts)])
            self.edges[self.node(cover)].add(pseudo(*(node for _, node in ordered)))
        return parts
