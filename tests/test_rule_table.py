"""Rule tables: counts, scores and labels against an independent count, walking, determinism, damage, and the commands."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from treeglot import TreeglotError
from treeglot._core import parsed
from treeglot._core import rules as core_rules
from treeglot.cli.rules import app
from treeglot.grammars import registry
from treeglot.grammars.registry import rule_grammars
from treeglot.tables.rules import RuleTable, build_rule_table, is_rule_table

GRAMMARS = rule_grammars()
STEP = 0.0021  # logarithms are stored in steps of 0.004
Links = list[tuple[int, int]]


class Pair(NamedTuple):
    words: list[str]
    tags: list[str]
    heads: list[int]
    phrases: list[tuple[str, int, int, int]]
    target: list[str]
    links: Links


def random_heads(choose: random.Random, begin: int, end: int, head: int, heads: list[int]) -> None:
    """A projective tree over [begin, end) whose top depends on ``head``."""
    top = choose.randrange(begin, end)
    heads[top] = head
    for low, high in (begin, top), (top + 1, end):
        while low < high:
            cut = choose.randrange(low + 1, high + 1)
            random_heads(choose, low, cut, top, heads)
            low = cut


def random_phrases(choose: random.Random, size: int) -> list[tuple[str, int, int, int]]:
    phrases: list[tuple[str, int, int, int]] = []

    def grow(begin: int, end: int, parent: int) -> None:
        phrases.append((choose.choice(["S", "NP", "VP"]), begin, end, parent))
        own = len(phrases) - 1
        while begin < end and end - begin > 1:
            cut = choose.randrange(begin + 1, end + 1)
            if cut - begin > 1 and cut - begin < phrases[own][2] - phrases[own][1]:
                grow(begin, cut, own)
            begin = cut

    grow(0, size, -1)
    return phrases


def random_pairs(seed: int, count: int) -> list[Pair]:
    """Words are unique in a sentence, so that the links of a rule follow from its text."""
    choose = random.Random(seed)
    pairs = []
    for _ in range(count):
        size, target_size = choose.randint(1, 6), choose.randint(1, 6)
        words = choose.sample([f"f{n}" for n in range(9)], size)
        heads = [0] * size
        random_heads(choose, 0, size, -1, heads)
        if choose.random() < 0.6:  # nearly monotone: many rules
            links = {(n, min(n, target_size - 1)) for n in range(size) if choose.random() < 0.8}
        else:
            links = {(choose.randrange(size), choose.randrange(target_size)) for _ in range(choose.randint(0, 6))}
        pairs.append(
            Pair(
                words,
                [choose.choice(["N", "V", "D"]) for _ in words],
                heads,
                random_phrases(choose, size),
                choose.sample([f"e{n}" for n in range(9)], target_size),
                sorted(links),
            )
        )
    return pairs


def bitext(pairs: list[Pair]) -> parsed.ParsedBitext:
    corpus = parsed.ParsedBitext()
    for pair in pairs:
        words, tags, heads, phrases, target, links = pair
        choose = random.Random(" ".join(target))
        trees = [choose.choice(["N", "V"]) for _ in target], [], random_phrases(choose, len(target))
        corpus.add((words, tags, heads, phrases), (target, *trees), links)
    return corpus


class Lexicon:
    """w(e|f) and w(f|e) from the links, words without one linked to nothing."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.counts: dict[tuple[str | None, str | None], int] = defaultdict(int)
        for pair in pairs:
            for s, t in pair.links:
                self.counts[pair.words[s], pair.target[t]] += 1
            for s in set(range(len(pair.words))) - {s for s, _ in pair.links}:
                self.counts[pair.words[s], None] += 1
            for t in set(range(len(pair.target))) - {t for _, t in pair.links}:
                self.counts[None, pair.target[t]] += 1
        self.sources: dict[str | None, int] = defaultdict(int)
        self.targets: dict[str | None, int] = defaultdict(int)
        for (s_word, t_word), n in self.counts.items():
            self.sources[s_word] += n
            self.targets[t_word] += n

    def weights(self, pair: Pair, source: str, target: str) -> tuple[float, float]:
        """Plex(t|s), Plex(s|t)"""
        places = [pair.words.index(word) for word in source_words(source)]
        others = [pair.target.index(word) for word in source_words(target) if not re.fullmatch(r"x\d+", word)]
        forward = backward = 1.0
        for t in others:
            linked: list[str | None] = [pair.words[s] for s in places if (s, t) in pair.links]
            word = pair.target[t]
            means = [self.counts[s_word, word] / self.sources[s_word] for s_word in linked or [None]]
            forward *= max(sum(means) / len(means), 1e-7)
        for s in places:
            partners: list[str | None] = [pair.target[t] for t in others if (s, t) in pair.links]
            word = pair.words[s]
            means = [self.counts[word, t_word] / self.targets[t_word] for t_word in partners or [None]]
            backward *= max(sum(means) / len(means), 1e-7)
        return forward, backward


def source_words(source: str) -> list[str]:
    tokens = [re.sub(r"/\d+$", "", token.strip("^)")) for token in source.split()]  # /2: the place of a head
    return [token for token in tokens if token and not re.match(r"\(|x\d+:", token)]


class Counted:
    """Everything about the rules of a corpus, from the text that the extractors print."""

    def __init__(self, grammar: str, pairs: list[Pair], **options: Any) -> None:
        extractor = core_rules.Extractor(bitext(pairs), grammar, **options)
        lexicon = Lexicon(pairs)
        self.count: dict[tuple[str, str], float] = defaultdict(float)
        self.lexical: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        self.labels: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
        self.source: dict[str, float] = defaultdict(float)
        self.target: dict[str, float] = defaultdict(float)
        for n, pair in enumerate(pairs):
            for source, target, count, labels in extractor.rules(n):
                self.count[source, target] += count
                self.source[source] += count
                self.target[target] += count
                self.labels[source, target] |= set(labels)
                both = zip(self.lexical[source, target], lexicon.weights(pair, source, target), strict=True)
                forward, backward = (max(known, weight) for known, weight in both)
                self.lexical[source, target] = forward, backward


def close(a: float, b: float, by: float = STEP) -> bool:
    return abs(math.log(max(a, 1e-37)) - math.log(max(b, 1e-37))) <= by


def right_count(stored: float, count: float) -> bool:
    """Exact if it is n/d with d up to 16; others come from a total and a probability, each within a step."""
    if Fraction(count).limit_denominator(720720).denominator <= 16:
        return math.isclose(stored, count, rel_tol=1e-6)
    return close(stored, count, 2 * STEP)


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("seed", range(4))
def test_counts_scores_and_labels(grammar: str, seed: int, tmp_path: Path) -> None:
    pairs = random_pairs(seed, 150)
    expected = Counted(grammar, pairs)
    report = build_rule_table(grammar, bitext(pairs), tmp_path / "t", threads=seed % 3, memory=(0, "1g")[seed % 2])
    table = RuleTable(tmp_path / "t", verify=True)
    target_trees = registry.grammar(grammar).target_trees
    assert report.rules == len(table) == len(expected.count) > 50
    assert report.sources == table.sources == len(expected.source)
    assert report.targets == len(expected.target)
    assert table.grammar == grammar
    seen = set()
    last = ("", 2.0, "")
    for rule in table:
        key = rule.source, rule.target
        assert key not in seen
        seen.add(key)
        count = expected.count[key]
        assert right_count(rule.count, count) and close(rule.source_total, expected.source[rule.source])
        assert close(rule.target_total, expected.target[rule.target], 3 * STEP)
        assert close(rule.target_given_source, count / expected.source[rule.source])
        assert close(rule.source_given_target, count / expected.target[rule.target])
        assert close(rule.lexical_target, expected.lexical[key][0])
        assert close(rule.lexical_source, expected.lexical[key][1])
        assert set(rule.labels) == expected.labels[key]
        now = (rule.source, count / expected.source[rule.source], rule.target)
        if now[0] == last[0]:
            assert now[1] < last[1] + 1e-5
            if math.isclose(now[1], last[1], rel_tol=1e-9) and not target_trees:  # nodes are sorted behind words
                assert last[2] < now[2]
        last = now
    assert seen == set(expected.count)
    if grammar == "augmented":
        assert any(expected.labels.values())


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_every_source_is_found_and_others_are_not(grammar: str, tmp_path: Path) -> None:
    pairs = random_pairs(11, 120)
    build_rule_table(grammar, bitext(pairs), tmp_path / "t")
    table = RuleTable(tmp_path / "t")
    sources, _, rules, lost, _ = table.core.walk_all()
    assert (sources, rules, lost) == (table.sources, len(table), 0)
    by_source = defaultdict(list)
    for rule in table:
        by_source[rule.source].append(rule)
    for source, entries in by_source.items():
        assert table.lookup(source) == entries
        assert table.lookup(source, 1) == entries[:1]
    for source in list(by_source)[:200]:
        longer = source + (" f0/0" if "/" in source else " f0") if "(" not in source else f"(Q {source})"
        for other in (longer, source.replace("f", "g")):
            if other not in by_source:
                assert table.lookup(other) == []


@pytest.mark.parametrize("grammar", ["consdep2str", "augmented", "hierarchical", "stssg", "mwu"])
def test_bytes_depend_on_the_corpus_alone(grammar: str, tmp_path: Path) -> None:
    pairs = random_pairs(5, 700)
    tables = []
    for threads, memory in (1, "1g"), (3, "1g"), (2, 0):
        build_rule_table(grammar, bitext(pairs), tmp_path / "t", threads=threads, memory=memory)
        tables.append((tmp_path / "t").read_bytes())
    build_rule_table(grammar, bitext(pairs[::-1]), tmp_path / "t")  # other ids, the same rules
    assert tables == [(tmp_path / "t").read_bytes()] * 3


def test_gaps_may_be_written_without_their_category(tmp_path: Path) -> None:
    words, target = ["x1", "的", "女儿", "的", "书"], ["the", "book", "of", "the", "daughter", "of", "x1"]
    links = [(0, 6), (2, 4), (4, 1)]
    pair = Pair(words, ["T"] * len(words), [-1, *range(len(words) - 1)], [("S", 0, len(words), -1)], target, links)
    build_rule_table("hierarchical", bitext([pair]), tmp_path / "t")
    table = RuleTable(tmp_path / "t")
    rules = table.lookup("x1:X 的 书")
    assert rules and table.lookup("x1 的 书") == rules and {rule.source for rule in rules} == {"x1:X 的 书"}
    assert list(table.search("x1 的 书", whole=True)) == rules == list(table.search("x1:X 的 书", whole=True))
    # A word that looks like a gap is escaped, and found so.
    escaped = "\\u00781"
    assert escaped in {rule.target for rule in table.lookup(escaped)}
    for rule in table:
        assert table.lookup(rule.source) and rule in table.lookup(rule.source)
    with pytest.raises(TreeglotError, match="not numbered in order"):
        table.lookup("x2 的 x1 书")


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_figures_equal_a_scan(grammar: str, tmp_path: Path) -> None:
    build_rule_table(grammar, bitext(random_pairs(8, 150)), tmp_path / "t")
    table = RuleTable(tmp_path / "t")
    figures, rules = table.statistics(), list(table)
    of_source = Counter(rule.source for rule in rules)
    assert (figures.grammar, figures.rules, figures.sources, figures.sentences) == (
        grammar,
        len(rules),
        len(of_source),
        150,
    )
    assert figures.bytes == (tmp_path / "t").stat().st_size and figures.bytes_per_rule == figures.bytes / len(rules)
    groups = {bits: [n for n in of_source.values() if n.bit_length() == bits] for bits in range(1, 20)}
    assert figures.ambiguity == tuple(
        (2 ** (bits - 1), 2**bits - 1, len(group)) for bits, group in groups.items() if group
    )
    assert len(figures.ambiguity) > 1
    assert figures.most_rules == max(of_source.values()) == of_source[figures.most_ambiguous]
    assert figures.seen_once == sum(rule.count <= 1 for rule in rules)
    assert figures.labelled == sum(bool(rule.labels) for rule in rules)
    variables = Counter(len(set(re.findall(r"(?<![^ (])\^?(x\d+)", rule.source))) for rule in rules)
    assert {n: many for n, many in enumerate(figures.variables) if many} == variables
    assert figures.lexical == sum(bool(source_words(rule.source)) for rule in rules)
    assert sum(figures.source_lengths) == sum(figures.target_lengths) == len(rules)


def test_symbols_are_searched_with_the_wildcards_of_file_names(tmp_path: Path) -> None:
    build_rule_table("consdep2str", bitext(random_pairs(4, 60)), tmp_path / "joint")
    build_rule_table("hierarchical", bitext(random_pairs(4, 60)), tmp_path / "t")
    table = RuleTable(tmp_path / "t")
    rules = list(table)
    for side in "source", "target":
        for pattern in "f?", "f[12]", "f[!12]", "f[1-4] x*", "e[!0-6]", "*", "? f1", "[ef]3", "f.", "f1|f2", "e+":
            symbols = pattern.split()
            expected = []
            for rule in rules:
                words = getattr(rule, side).split()
                windows = [words[n : n + len(symbols)] for n in range(len(words) - len(symbols) + 1)]
                if any(all(map(fnmatchcase, window, symbols)) for window in windows):
                    expected.append(rule)
            assert list(table.search(pattern, side=side)) == expected, (side, pattern)  # type: ignore[arg-type]
        assert list(table.search("f[!12]")) not in ([], rules)
    # What stands in brackets behind a category belongs to it, and is no set of letters.
    joint = RuleTable(tmp_path / "joint")
    symbols = {symbol for rule in joint for symbol in rule.source.split() if symbol.endswith("]")}
    assert symbols
    for symbol in sorted(symbols)[:20]:
        assert symbol in {s for rule in joint.search(symbol) for s in rule.source.split()}, symbol


def good_turing(frequency: list[int]) -> list[float]:
    ratios = [0.0]
    for r in range(1, 11):
        ratio = 1.0
        if frequency[r] and frequency[r + 1]:
            ratio = (r + 1) * frequency[r + 1] / (r * frequency[r])
        ratios.append(min(1.0, max(ratio, ratios[-1])))
    return [*ratios, 1.0]


def kneser_ney(n: list[int]) -> list[float]:
    y = n[1] / (n[1] + 2 * n[2])
    return [0.0, *(min(r, max(0.0, r - (r + 1) * y * n[r + 1] / n[r])) for r in (1, 2, 3))]


@pytest.mark.parametrize("kind", ["good-turing", "kneser-ney"])
def test_discounting(kind: Any, tmp_path: Path) -> None:
    pairs = random_pairs(3, 900)
    expected = Counted("dep2str", pairs)
    report = build_rule_table("dep2str", bitext(pairs), tmp_path / "t", discounting=kind)
    frequency = [0] * 12
    for count in expected.count.values():
        rounded = max(1, round(count))
        if rounded < 12:
            frequency[rounded] += 1
    assert min(frequency[1:5]) > 0

    def between(values: list[float], count: float) -> float:
        low = min(int(count), len(values) - 1)
        high = min(low + 1, len(values) - 1)
        return values[low] + (count - int(count)) * (values[high] - values[low])

    if kind == "good-turing":
        values = good_turing(frequency)
        values[0] = values[1]
        taken = {key: count * (1 - between(values, min(count, 11.0))) for key, count in expected.count.items()}
    else:
        values = kneser_ney(frequency)
        taken = {key: between(values, min(count, 3.0)) for key, count in expected.count.items()}
    assert 0 < sum(taken.values()) < sum(expected.count.values())
    shown = values[1:11] if kind == "good-turing" else values[1:]
    assert report.discounts[: len(shown)] == pytest.approx(shown, abs=1e-6)
    from_source: dict[str, float] = defaultdict(float)
    from_target: dict[str, float] = defaultdict(float)
    targets_of: dict[str, int] = defaultdict(int)
    sources_of: dict[str, int] = defaultdict(int)
    for (source, target), amount in taken.items():
        from_source[source] += amount
        from_target[target] += amount
        targets_of[source] += 1
        sources_of[target] += 1
    total = len(expected.count)
    for rule in RuleTable(tmp_path / "t"):
        key = rule.source, rule.target
        forward = backward = expected.count[key] - taken[key]
        if kind == "kneser-ney":
            forward += from_source[rule.source] * sources_of[rule.target] / total
            backward += from_target[rule.target] * targets_of[rule.source] / total
        assert close(rule.target_given_source, forward / expected.source[rule.source])
        assert close(rule.source_given_target, backward / expected.target[rule.target])
        assert right_count(rule.count, expected.count[key])


def test_rare_rules_are_left_out_after_scoring(tmp_path: Path) -> None:
    pairs = random_pairs(4, 200)
    everything = build_rule_table("dep2str", bitext(pairs), tmp_path / "all")
    report = build_rule_table("dep2str", bitext(pairs), tmp_path / "t", min_count=1.0)
    assert report.rules + report.dropped == everything.rules and report.dropped > 0
    scores = {(rule.source, rule.target): rule.scores for rule in RuleTable(tmp_path / "all") if rule.count >= 1}
    kept = {(rule.source, rule.target): rule.scores for rule in RuleTable(tmp_path / "t")}
    assert kept.keys() == scores.keys()
    assert all(close(a, b, 2 * STEP) for key in kept for a, b in zip(kept[key], scores[key], strict=True))
    options = RuleTable(tmp_path / "t").options
    assert options == {
        "discounting": "none",
        "extraction": {
            "category": "tag",
            "closed": False,
            "decompose": "none",
            "drop_words": False,
            "max_variants": 16,
            "span_mode": "ghkm",
            "unlinked": False,
            "xie_leaves": "printed",
            "xie_unaligned": "drop",
        },
        "features": [f"dep2str.{name}" for name in ("p_ts", "p_st", "lex_ts", "lex_st", "rules")],
        "min_count": 1.0,
    }


def test_damage_never_crashes(tmp_path: Path) -> None:
    for grammar in ("augmented", "hierarchical"):
        build_rule_table(grammar, bitext(random_pairs(8, 60)), tmp_path / "good")
        good = (tmp_path / "good").read_bytes()
        texts = sorted({rule.source for rule in RuleTable(tmp_path / "good")})[::40]
        choose = random.Random(5)
        refused = 0
        for _ in range(60):
            bad = bytearray(good)
            for _ in range(choose.randrange(1, 4)):
                bad[choose.randrange(len(bad))] ^= 1 << choose.randrange(8)
            path = tmp_path / "bad"
            path.write_bytes(bad)
            with pytest.raises(TreeglotError):
                RuleTable(path, verify=True)
            try:  # without the checksum: an error or an answer, never a crash
                table = RuleTable(path)
                for text in texts:
                    table.lookup(text)
                table.core.walk_all()
                table.statistics()
                table.export(tmp_path / "text")
                assert len(list(table)) > 0
            except TreeglotError:
                refused += 1
            except RuntimeError as error:
                assert "damaged" in str(error)
                refused += 1
        assert refused > 10
        for size in (0, 10, 100, len(good) // 2, len(good) - 1):
            (tmp_path / "bad").write_bytes(good[:size])
            with pytest.raises(TreeglotError) as caught:
                RuleTable(tmp_path / "bad")
            assert caught.value.path == str(tmp_path / "bad")


def test_what_cannot_be_built_says_so(tmp_path: Path) -> None:
    pairs = random_pairs(1, 5)
    plain = bitext([pair._replace(heads=[], phrases=[]) for pair in pairs if len(pair.words) > 1])
    for grammar, options, says in [
        ("dep2string", {}, "no grammar 'dep2string'"),
        ("dep2str", {}, "needs dependency trees, and sentence 1 has none"),
        ("cons2str", {}, "needs constituency trees"),
        ("hierarchical", {"max_gap": 1}, "no option max_gap"),
        ("hierarchical", {"span_mode": "tight"}, "no option span_mode"),
        ("hierarchical", {"discounting": "witten-bell"}, "no discounting witten-bell"),
        ("hierarchical", {"min_count": -1}, "minimum count"),
        ("hierarchical", {"memory": "4 apples"}, "memory"),
        ("hierarchical", {"folder": "/no/such/folder", "memory": 0}, "temporary file"),
    ]:
        corpus = plain if "folder" not in options else bitext(random_pairs(2, 3000))
        with pytest.raises(TreeglotError) as caught:
            build_rule_table(grammar, corpus, tmp_path / "t", **options)  # type: ignore[arg-type]
        assert says in str(caught.value)
        assert list(tmp_path.iterdir()) == []


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    trees = ""
    for noun in "haus", "buch":
        trees += f"1\tdas\t_\tART\tART\t_\t2\tdet\t_\t_\n2\t{noun}\t_\tNN\tNN\t_\t0\troot\t_\t_\n\n"
    (folder / "f.conllu").write_text(trees)
    (folder / "e").write_text("the house\nthe book\n")
    (folder / "a").write_text("0-0 1-1\n0-0 1-1\n")
    arguments = ["--target", folder / "e", "--align", folder / "a", "--source-conllu", folder / "f.conllu"]
    run("build", "--grammar", "dep2str", "--out", str(folder / "t"), *map(str, arguments))
    return folder


def test_commands_show_and_search(built: Path) -> None:
    assert is_rule_table(built / "t") and not is_rule_table(built / "e") and not is_rule_table(built / "none")
    lines = run("show", str(built / "t"), "das ^x1:NN").splitlines()
    assert lines[1].split("\t") == ["das ^x1:NN", "the x1", "1", "1", "1", "1", "2 of 2"]
    one = json.loads(run("show", str(built / "t"), "das ^haus", "--json"))
    assert one["target"] == "the house" and one["count"] == 1
    for arguments, sources in [
        (["^haus"], {"das ^haus", "x1:ART ^haus"}),
        (["^?aus"], {"das ^haus", "x1:ART ^haus"}),
        (["x1:*"], {"das ^x1:NN", "x1:ART ^haus", "x1:ART ^buch", "x1:ART ^x2:NN"} - {"das ^x1:NN"}),
        (["book", "--target"], {"das ^buch", "x1:ART ^buch"}),
        (["das .x1", "--regex"], {"das ^x1:NN"}),
        (["das ^haus", "--whole"], {"das ^haus"}),
    ]:
        lines = run("search", str(built / "t"), *arguments).splitlines()[1:]
        assert {line.split("\t")[0] for line in lines} == sources
    with pytest.raises(TreeglotError, match="no source side"):
        run("show", str(built / "t"), "das ^auto")
    with pytest.raises(TreeglotError, match="not the source side"):
        run("show", str(built / "t"), "x7:NN ^auto")


def test_commands_export_and_stats(built: Path) -> None:
    run("export", str(built / "t"), str(built / "text.gz"))
    lines = gzip.decompress((built / "text.gz").read_bytes()).decode().splitlines()
    table = RuleTable(built / "t")
    assert lines == [rule.line() for rule in table]
    assert "das ^x1:NN ||| the x1 ||| 1 1 1 1 ||| 2 2 2" in lines
    with pytest.raises(TreeglotError, match="one file of text"):
        run("export", str(built / "t"), "--moses", str(built))
    figures = json.loads(run("stats", str(built / "t"), "--json", "--verify"))
    assert figures["rules"] == len(lines) == 6 and figures["grammar"] == "dep2str" and figures["sentences"] == 2
    assert figures["variables"] == [2, 3, 1] and figures["options"]["extraction"]["span_mode"] == "ghkm"
    assert "bytes a rule" in run("stats", str(built / "t"))
