"""GHKM rules against a slow version that is written from the definitions, and by hand on the worked example."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import tries
from treeglot.errors import TreeglotError
from treeglot.examples import worked_example
from treeglot.grammars import cons2str
from treeglot.trees import AlignedPair, ConstituencyTree, Link, ParsedSentence, Tokens

# --- the slow version ---------------------------------------------------------------------------------------------
# A node is (label, words, children); a pre-terminal has no children. Nodes are compared by identity.


class Node:
    def __init__(self, label: str, words: list[int], children: list[Node]) -> None:
        self.label, self.words, self.children = label, words, children

    def below(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.below()


def tree_of(sentence: ParsedSentence) -> Node:
    tree = sentence.constituency
    assert tree is not None
    tags = sentence.tokens.tags

    def build(ref: int) -> Node:
        if ref < 0:
            return Node(tags[~ref], [~ref], [])
        children = [build(child) for child in tree.children[ref]]
        children.sort(key=lambda child: child.words[0])
        return Node(tree.labels[ref], [word for child in children for word in child.words], children)

    return build(tree.root)


class Slow:
    def __init__(self, pair: AlignedPair, height: int = 3, leaves: int = 7, variants: int = 16) -> None:
        self.height, self.leaves, self.max_variants = height, leaves, variants
        self.source, self.target = pair.source.tokens.forms, pair.target.tokens.forms
        self.links = {(link.source, link.target) for link in pair.word_links}
        self.root = tree_of(pair.source)
        self.depth = {self.root: 0}
        for node in self.root.below():
            for child in node.children:
                self.depth[child] = self.depth[node] + 1
        self.span = {node: self.span_of(node) for node in self.root.below()}
        self.frontier = {node for node, span in self.span.items() if span is not None}

    def span_of(self, node: Node) -> tuple[int, int] | None:
        """The consistent target span (half-open), if the node has one."""
        reached = {i for j, i in self.links if j in node.words}
        if not reached:
            return None
        low, high = min(reached), max(reached) + 1
        if any(low <= i < high and j not in node.words for j, i in self.links):
            return None
        return low, high

    def runs(self) -> list[tuple[int, int]]:
        """Maximal runs of unaligned target words."""
        free = [i for i in range(len(self.target)) if all(i != t for _, t in self.links)]
        starts = [i for i in free if i - 1 not in free]
        return [(start, next(i for i in range(start, len(self.target) + 1) if i not in free)) for start in starts]

    def homes(self, run: tuple[int, int]) -> list[Node]:
        """The nodes that a run may go to: the highest one, and the lowest one on its left and on its right."""
        spans = [(node, self.span[node] or (0, 0)) for node in self.frontier]
        around = [node for node, (low, high) in spans if low < run[0] and run[1] < high]
        at_end = run[0] == 0 or run[1] == len(self.target)
        homes = [self.root if at_end else max(around, key=self.depth.__getitem__)]
        left = [node for node, (_, high) in spans if high == run[0]]
        right = [node for node, (low, _) in spans if low == run[1]]
        homes += [max(side, key=self.depth.__getitem__) for side in (left, right) if side]
        return homes

    def fragments(self, node: Node) -> Iterator[tuple[str, int, list[Node], set[Node]]]:
        """All parts that begin by expanding a node: (text with {} for numbers, height, leaf nodes, expanded nodes)."""
        if not node.children:
            yield f"({node.label} {self.source[node.words[0]]})", 1, [node], {node}
            return
        ways = []
        for child in node.children:
            site = [("x{}:" + child.label, 0, [child], set[Node]())] if child in self.frontier else []
            ways.append(site + list(self.fragments(child)))
        for parts in product(*ways):
            yield (
                f"({node.label} {' '.join(part[0] for part in parts)})",
                1 + max(part[1] for part in parts),
                [leaf for part in parts for leaf in part[2]],
                set[Node]().union({node}, *(part[3] for part in parts)),
            )

    def rules(self) -> Counter[tuple[str, str]]:
        counts: Counter[tuple[str, str]] = Counter()
        if not self.links:
            return counts
        for root in self.frontier:
            for text, height, leaves, expanded in self.fragments(root):
                if height > self.height or len(leaves) > self.leaves:
                    continue
                sites = [leaf for leaf in leaves if leaf not in expanded]
                source = text.format(*range(1, len(sites) + 1))
                targets = self.targets(sites, expanded)
                for target in targets:
                    counts[source, target] += 1 / len(targets)
        return counts

    def targets(self, sites: list[Node], expanded: set[Node]) -> set[str]:
        pieces = {}  # by place in the target sentence
        for number, site in enumerate(sites, start=1):
            span = self.span[site]
            assert span is not None
            pieces[span[0]] = f"x{number}"
        words = {word for node in expanded if not node.children for word in node.words}
        for j, i in self.links:
            if j in words:
                pieces[i] = self.target[i]
        choices = []
        for run in self.runs():
            shown = {home in expanded for home in self.homes(run)}
            choices.append([(run, show) for show in sorted(shown)])
        if 2 ** sum(len(choice) == 2 for choice in choices) > self.max_variants:
            choices = [choice[:1] for choice in choices]
        targets = set()
        for choice in product(*choices):
            runs = {run[0]: " ".join(self.target[slice(*run)]) for run, show in choice if show}
            targets.add(" ".join(text for _, text in sorted((pieces | runs).items())))
        return targets


# --- random pairs -------------------------------------------------------------------------------------------------


def random_pair(seed: int, words: int = 6) -> AlignedPair:
    rng = random.Random(seed)
    size, length = rng.randint(1, words), rng.randint(1, words + 1)
    tokens = Tokens([rng.choice("abc") for _ in range(size)], xpos=[rng.choice("NV") for _ in range(size)])
    # Brackets over neighbouring nodes until one is left, some of them over one node.
    nodes: list[Any] = list(range(size))
    for _ in range(rng.randint(0, 2)):
        k = rng.randrange(size)
        nodes[k] = (rng.choice("XY"), nodes[k])
    while len(nodes) > 1 or isinstance(nodes[0], int):
        low = rng.randrange(len(nodes))
        high = rng.randint(min(low + 1 + (len(nodes) > 1), len(nodes)), len(nodes))
        nodes[low:high] = [(rng.choice("XYZ"), *nodes[low:high])]
    tree = ConstituencyTree.build(tokens, nodes[0])
    target = Tokens([rng.choice("pqr") for _ in range(length)])
    links = {(rng.randrange(size), rng.randrange(length)) for _ in range(rng.randint(0, words))}
    return AlignedPair(ParsedSentence.of(constituency=tree), ParsedSentence(target), [Link(*link) for link in links])


SEEDS = st.integers(0, 2**32)


def fast(pair: AlignedPair, **options: int) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for rule in cons2str.extract(pair, **options):
        counts[rule.source, rule.target] += rule.count
    return counts


def same(counts: Counter[tuple[str, str]], expected: Counter[tuple[str, str]]) -> None:
    assert counts.keys() == expected.keys()
    assert counts == pytest.approx(expected, abs=1e-5)


@settings(max_examples=tries(2000))
@given(SEEDS)
def test_rules_are_those_of_the_definition(seed: int) -> None:
    pair = random_pair(seed)
    same(fast(pair), Slow(pair).rules())


@settings(max_examples=tries(400))
@given(SEEDS, st.integers(1, 4), st.integers(1, 5), st.sampled_from([1, 2, 4]))
def test_limits_of_height_leaves_and_variants(seed: int, height: int, leaves: int, variants: int) -> None:
    pair = random_pair(seed)
    counts = fast(pair, max_height=height, max_leaves=leaves, max_variants=variants)
    same(counts, Slow(pair, height, leaves, variants).rules())


@settings(max_examples=tries(300))
@given(SEEDS, st.integers(1, 6))
def test_the_smallest_fragments_are_kept(seed: int, most: int) -> None:
    """With a limit, every root keeps its fragments of the fewest minimal rules."""
    pair = random_pair(seed)
    slow = Slow(pair)
    kept = {source for source, _ in fast(pair, max_fragments=most)}
    for root in slow.frontier if slow.links else ():
        sizes: dict[str, int] = {}
        for text, height, leaves, expanded in slow.fragments(root):
            if height <= 3 and len(leaves) <= 7:
                source = text.format(*range(1, len(leaves) + 1))
                sizes[source] = min(len(expanded & slow.frontier), sizes.get(source, 99))
        ordered = sorted(sizes.values())
        bound = ordered[most] if most < len(ordered) else 99  # all those below it fit
        assert {source for source, size in sizes.items() if size < bound} <= kept


def test_worked_example() -> None:
    counts = fast(worked_example())
    # Minimal rules at every frontier node, seen in the tree.
    minimal = {
        ("(IP x1:NP x2:VP)", "x1 x2"),
        ("(NP x1:NR)", "x1"),
        ("(NR 英特尔)", "Intel"),
        ("(VP x1:ADVP x2:VP)", "x1 x2"),
        ("(ADVP x1:AD)", "x1"),
        ("(AD 将)", "will"),
        ("(VP x1:VV x2:NP)", "x1 x2"),
        ("(VV 推出)", "launch"),
        ("(NP x1:NP x2:QP x3:NP)", "x2 x3 x1"),
        ("(NR 亚洲)", "in Asia"),
        ("(QP x1:OD (M 款))", "x1"),
        ("(OD 首)", "the first"),
        ("(NP (JJ 超极) (NN 本))", "Ultrabook"),
    }
    assert minimal <= counts.keys()
    minimal_only: Counter[tuple[str, str]] = Counter()
    for rule in cons2str.extract(worked_example(), composed=False):
        minimal_only[rule.source, rule.target] += rule.count
    assert minimal_only.keys() == minimal
    assert minimal_only["(NP x1:NR)", "x1"] == 2
    # 超极 and 本 share a target word, so they are never apart.
    assert not any("x1:JJ" in source or ":NN)" in source for source, _ in counts)
    # Composed rules.
    assert counts["(NP (NP (NR 亚洲)) x1:QP x2:NP)", "x1 x2 in Asia"] == 1
    assert counts["(NP (NP (NR 亚洲)) (QP (OD 首) (M 款)) x1:NP)", "the first x1 in Asia"] == 1
    assert counts["(VP (ADVP (AD 将)) (VP x1:VV x2:NP))", "will x1 x2"] == 1
    # Too high: four edges down to 推出 from IP.
    assert not any(source.startswith("(IP (NP x1:NR) (VP x2:ADVP (VP (VV") for source, _ in counts)


def pair_of(tree: object, words: str, tags: str, target: str, links: list[tuple[int, int]]) -> AlignedPair:
    tokens = Tokens(words.split(), xpos=tags.split())
    built = ConstituencyTree.build(tokens, tree)  # type: ignore[arg-type]
    return AlignedPair(
        ParsedSentence.of(constituency=built), ParsedSentence(Tokens(target.split())), [Link(*link) for link in links]
    )


def test_unaligned_target_words_by_hand() -> None:
    counts = fast(pair_of(("S", ("A", 0), ("B", 1)), "a b", "N V", "p u q end", [(0, 0), (1, 2)]))
    # u stands between two sites, or is left to one of them; end is shown at the root or left to B.
    assert {key: count for key, count in counts.items() if key[0] == "(S x1:A x2:B)"} == {
        ("(S x1:A x2:B)", target): 0.25 for target in ("x1 x2", "x1 u x2", "x1 x2 end", "x1 u x2 end")
    }
    # A word takes the runs on its sides or leaves them to a higher node.
    assert {target: count for (source, target), count in counts.items() if source == "(V b)"} == dict.fromkeys(
        ("q", "u q", "q end", "u q end"), 0.25
    )
    # A site at the edge takes them all.
    assert {target: count for (source, target), count in counts.items() if source == "(B x1:V)"} == {"x1": 1}
    # At the root nothing is lost.
    assert counts["(S (A (N a)) (B (V b)))", "p u q end"] == 1


def test_bounded_trees() -> None:
    """Flat trees of hundreds of children and chains of hundreds of nodes."""
    size = 300
    flat = pair_of(("S", *range(size)), "w " * size, "N " * size, "t " * size, [(k, k) for k in range(size)])
    assert fast(flat).keys() == {("(N w)", "t")}
    tree: object = 0
    for level in range(400):
        tree = (f"L{level}", tree)
    deep = fast(pair_of(tree, "a", "N", "p", [(0, 0)]))
    assert len(deep) == 1 + 2 + 399 * 3  # every node with a fragment of each height there is
    # Seven children with three ways each: 3**7 fragments at the root, of which 1,000 are kept, and 1 in each limit.
    wide = pair_of(
        ("S", *(("A", ("B", k)) for k in range(7))), "w " * 7, "N " * 7, "t " * 7, [(k, k) for k in range(7)]
    )
    assert sum(source.startswith("(S") for source, _ in fast(wide)) == 1000
    assert sum(source.startswith("(S") for source, _ in fast(wide, max_fragments=0)) == 3**7


def test_no_tree_no_links() -> None:
    source = ParsedSentence(Tokens(["a", "b"], xpos=["N", "V"]))
    pair = AlignedPair(source, ParsedSentence(Tokens(["p"])), [Link(0, 0)])
    with pytest.raises(TreeglotError, match="constituency"):
        list(cons2str.extract(pair))
    assert not fast(pair_of(("S", 0, 1), "a b", "N V", "p", []))


@pytest.mark.parametrize("options", [{"max_height": 0}, {"max_leaves": 99}, {"max_variants": 0}, {"max_fragments": -1}])
def test_options_out_of_range(options: dict[str, int]) -> None:
    with pytest.raises(TreeglotError, match=next(iter(options))):
        list(cons2str.extract(worked_example(), **options))
