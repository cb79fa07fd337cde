"""Good objects of every class of the core, and calls that work: what hostile arguments are made from."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from random_worlds import World
from treeglot._core import (
    align,
    conllu,
    forest,
    hypergraph,
    kernels,
    lm,
    parsed,
    rule_tables,
    rules,
    search,
    subtrees,
    tables,
    tree_decoder,
    tuning,
)
from treeglot.grammars import registry
from treeglot.search import feature_names, open_phrases
from treeglot.tables import PhraseTable, export_moses
from treeglot.trees.corpus import parsed_bitext, parsed_corpus

CONLLU = b"1\ta\ta\tA\tA\t_\t2\tx\t_\t_\n2\tb\tb\tB\tB\t_\t0\troot\t_\t_\n\n" * 2
TREE = ([0, 1], [2], [~0, ~1])
EXTRACTION = {"max_trees": 2}
GRAMMARS = ("augmented", "hierarchical")


class Objects:
    """Files and objects; ``make`` has a way to a fresh object of every class, by room and name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World(1, folder, *GRAMMARS)
        self.bitext = parsed_bitext(self.world.pairs)
        self.corpus = parsed_corpus([s for s in self.world.sentences if len(s) < 5][:3]).columns
        self.bitext.columns.write(str(folder / "bitext"))
        lm.compile_arpa((folder / "arpa").open("rb").read, str(folder / "lm"))
        (folder / "moses").mkdir()
        phrases, reordering, *_ = export_moses(PhraseTable(self.world.phrases), folder / "moses", compress=False)
        self.phrase_text, self.reordering_text = phrases.read_bytes(), reordering.read_bytes()
        self.source, self.target = (folder / "s").read_bytes(), (folder / "t").read_bytes()
        self.links = (folder / "a").read_bytes()
        self.make: dict[str, Callable[[], Any]] = {
            "align.Corpus": self.align_corpus,
            "align.Evidence": align.Evidence,
            "align.Model": self.align_model,
            "conllu.Reader": self.reader,
            "forest.Forest": self.forest,
            "forest.Search": lambda: forest.Search(self.model(), [0.5, -0.1, 0.2]),
            "hypergraph.Hypergraph": self.graph,
            "kernels.Columns": lambda: self.trees().columns(np.array([0, 1], np.uint32)),
            "kernels.Forest": self.trees,
            "kernels.Mark": lambda: self.trees().mark(),
            "lm.Estimator": self.estimator,
            "lm.Model": self.model,
            "lm.State": lambda: self.model().begin_state(),
            "parsed.CorpusReader": self.corpus_reader,
            "parsed.LinkReader": self.link_reader,
            "parsed.ParsedBitext": lambda: parsed_bitext(self.world.pairs).columns,
            "parsed.ParsedCorpus": lambda: parsed_corpus(self.world.sentences[:3]).columns,
            "parsed.ParsedSentences": lambda: parsed_bitext(self.world.pairs).columns.source,
            "rule_tables.Progress": rule_tables.Progress,
            "rule_tables.RuleTable": lambda: rule_tables.RuleTable(str(folder / "hierarchical.rules")),
            "rules.Extractor": lambda: rules.Extractor(self.bitext.columns, "augmented"),
            "search.Decoder": self.phrase_decoder,
            "search.PhraseDecoder": self.phrase_decoder,
            "search.PhraseSource": self.text_phrases,
            "search.StoredPhrases": lambda: search.StoredPhrases(str(self.world.phrases)),
            "search.TextPhraseTable": self.text_phrases,
            "search.Translation": self.translation,
            "subtrees.WordTable": self.word_table,
            "tables.Corpus": self.phrase_corpus,
            "tables.GzipPacker": tables.GzipPacker,
            "tables.MosesImporter": self.importer,
            "tables.PhraseTable": lambda: tables.PhraseTable(str(self.world.phrases)),
            "tree_decoder.TreeDecoder": self.tree_decoder,
            "tuning.ChrfReferences": lambda: tuning.ChrfReferences([["a b"], ["c"]]),
            "tuning.Metric": lambda: tuning.Metric([("bleu", 1.0)]),
            "tuning.Pool": self.pool,
            "tuning.References": lambda: tuning.References([["a b"], ["c"]]),
            "tuning.TerReferences": lambda: tuning.TerReferences([["a b"], ["c"]]),
        }
        self.align_path = str(folder / "aligner")
        self.good("align.Corpus.learn", self.align_corpus())
        os.mkfifo(folder / "fifo")
        self.paths = [str(path) for path in sorted(folder.iterdir())]
        self.outputs = [str(folder), str(folder / "out"), str(folder / "missing" / "file"), "", "/dev/full", "\0"]
        self.paths += [*self.outputs, "/dev/null", "/dev/zero", str(folder / "missing")]

    def align_corpus(self) -> align.Corpus:
        corpus = align.Corpus()
        corpus.add(self.source, self.target)
        return corpus

    def align_model(self) -> align.Model:
        return align.Model(self.align_path)

    def model(self) -> lm.Model:
        return lm.Model(str(self.folder / "lm"))

    def reader(self) -> conllu.Reader:
        reader = conllu.Reader()
        reader.feed(CONLLU)
        return reader

    def forest(self) -> forest.Forest:
        result = forest.Forest(self.model(), [0.5, -0.1, 0.2])
        for _ in range(2):
            result.add_node()
        result.add_edge(0, [(["u"], [(2, 0.5)])], [])
        result.add_edge(1, [(["v", 0], [])], [0])
        result.set_goal(1)
        return result

    def graph(self) -> hypergraph.Hypergraph:
        graph = hypergraph.Hypergraph()
        graph.add_vertices(3)
        graph.add_edge(0)
        graph.add_edge(1)
        graph.add_edge(2, [0, 1])
        graph.add_edge(2, [0])
        graph.freeze()
        return graph

    def trees(self) -> kernels.Forest:
        trees = kernels.Forest()
        trees.add(["S", "A", "B"], [2, 0, 0], ["", "a", "b"])
        return trees

    def estimator(self) -> lm.Estimator:
        estimator = lm.Estimator(2, 1 << 20, str(self.folder), (0.5, 1.0, 1.5))
        estimator.add(self.target)
        return estimator

    def corpus_reader(self) -> parsed.CorpusReader:
        reader = parsed.CorpusReader(**self.good_arguments("parsed.CorpusReader.__init__", None))
        reader.feed(0, CONLLU)
        reader.finish(0)
        return reader

    def link_reader(self) -> parsed.LinkReader:
        reader = parsed.LinkReader()
        reader.feed(self.links)
        return reader

    def text_phrases(self) -> search.TextPhraseTable:
        table = search.TextPhraseTable()
        table.add_phrases(self.phrase_text)
        table.add_reordering(self.reordering_text)
        table.finish()
        return table

    def phrase_decoder(self) -> search.PhraseDecoder:
        return search.PhraseDecoder(**self.good_arguments("search.PhraseDecoder.__init__", None))

    def tree_decoder(self) -> tree_decoder.TreeDecoder:
        return tree_decoder.TreeDecoder(**self.good_arguments("tree_decoder.TreeDecoder.__init__", None))

    def translation(self) -> search.Translation:
        return self.good("search.Decoder.translate", self.phrase_decoder())[0]

    def word_table(self) -> subtrees.WordTable:
        table = subtrees.WordTable()
        table.add(**self.good_arguments("subtrees.WordTable.add", None))
        return table

    def phrase_corpus(self) -> tables.Corpus:
        corpus = tables.Corpus()
        corpus.add(self.source, self.target, self.links)
        corpus.finish()
        return corpus

    def importer(self) -> tables.MosesImporter:
        importer = tables.MosesImporter(str(self.folder), 1 << 20)
        importer.add(self.phrase_text, False)
        return importer

    def pool(self) -> tuning.Pool:
        pool = tuning.Pool(2, 3, tuning.Metric([("bleu", 1.0)]))
        pool.add(**self.good_arguments("tuning.Pool.add", None))
        return pool

    def good(self, member: str, owner: Any) -> Any:
        """Call a method as it is meant."""
        return getattr(owner, member.rpartition(".")[2])(**self.good_arguments(member, owner))

    def good_arguments(self, member: str, owner: Any) -> dict[str, Any]:
        """The arguments of a call that works; empty if there is none here."""
        space: dict[str, Any] = {
            "free": [True] * 3, "lower": [-1.0] * 3, "upper": [1.0] * 3, "seed": 1,
        }  # fmt: skip
        start = {"start": [0.1, 0.2, 0.3], **space}
        tables_ = tuple(self.world.tables[name].core for name in GRAMMARS)
        texts = {"sentences": np.array([0, 1, 1], np.int32), "texts": ["a b", "c", "a"], "threads": 2}
        counts = np.array([[1, 1, 0, 0, 2, 2], [2, 1, 0, 0, 3, 3]], np.int32)
        memory = {"memory": 1 << 20, "folder": str(self.folder), "threads": 2}
        out = str(self.folder / "out")
        head_step = [(False, True, ["B"])]
        match member:
            case "align.Corpus.learn":
                return {
                    "path": self.align_path, "model1_iterations": 1, "hmm_iterations": 1, "prior": 0.1,
                    "null_prior": 0.1, "null": 0.2, "agreement": 0.5, "same": 0.5, "max_length": 100, "sweeps": 1.0,
                    "chains": 1, "sampling_prior": 0.1, "sampling_null": 0.1, "fertility_prior": 0.1, "bonus": 0.1,
                    "memory": 0.5, "seed": 1, "threads": 1, "report": None, "evidence": align.Evidence(),
                }  # fmt: skip
            case "align.hmm_posteriors":
                jumps = [1.0] * (2 * align.JUMP_CLIP + 1)
                return {"emission": [[0.5, 0.2]] * 2, "null_emission": [0.1] * 2, "weights": jumps, "null": 0.1}
            case "align.Evidence.add_links":
                return {"corpus": self.align_corpus(), "pair": 0, "links": [(0, 0)]}
            case "align.Model.align" | "align.Model.link_chances":
                least = {"least": 0.1} if member.endswith("chances") else {}
                return {"source": self.source, "target": self.target, "threads": 2, **least}
            case "align.symmetrize":
                return {"forward": self.links, "reverse": self.links, "heuristic": 2}
            case "align.link_counts" | "tables.Corpus.add":
                return {"source": self.source, "target": self.target, "links": self.links}
            case "forest.Forest.add_edge":
                return {"head": 1, "options": [(["u", 0], [(2, 0.5)])], "tails": [0]}
            case "kernels.Forest.add":
                return {"labels": ["S", "A", "B"], "arity": [2, 0, 0], "words": ["", "a", "b"]}
            case "kernels.Forest.fill":
                rows = np.array([0, 1], np.uint32)
                columns = owner.columns(rows) if owner is not None else self.trees().columns(rows)
                shape = {"space": 0, "decay": 0.5, "normalize": True, "threads": 2}
                return {"rows": rows, "columns": columns, **shape, "out": np.zeros((2, 2), np.float32)}
            case "parsed.ParsedBitext.add":
                side = (["a", "b"], ["A", "B"], [1, -1], [("S", 0, 2, -1)])
                return {"source": side, "target": side, "links": [(0, 1)], "node_links": [(0, 0)]}
            case "parsed.ParsedCorpus.add":
                return {"words": ["a", "b"], "tags": ["A", "B"], "heads": [1, -1], "phrases": [("S", 0, 2, -1)]}
            case "parsed.ParsedBitext.take":
                some = {"source_number": 0, "target_number": 0, "source_words": self.corpus.words(0)}
                return {"source": self.corpus, "target": self.corpus, **some, "target_words": self.corpus.words(0)}
            case "parsed.ParsedBitext.add_links" | "tables.Corpus.add_links":
                count = len(self.world.pairs)
                return {"links": np.zeros((count, 2), np.int32), "starts": np.arange(count + 1, dtype=np.int64)}
            case "parsed.CorpusReader.__init__":
                table = ([("S", head_step)], head_step, ["."], ["and"], ["a"])
                return {"names": ["x", *[None] * 9], "head_tables": [table, table], "surfaces": True}
            case "rule_tables.build":
                return {
                    "grammar": "hierarchical", "corpus": self.bitext.columns, "path": out, "extraction": {},
                    "min_count": 0.0, "discounting": "none", "description": "", **memory,
                    "progress": rule_tables.Progress(),
                }  # fmt: skip
            case "rules.Extractor.__init__":
                return {"bitext": self.bitext.columns, "grammar": "augmented"}
            case "rules.source_forest":
                return {"grammar": "mwu", "corpus": self.corpus, "n": 0, "pruned": False}
            case "search.Decoder.translate":
                return {
                    "corpus": self.corpus, "first": 0, "last": len(self.corpus), "nbest": 3, "distinct": True,
                    "with_steps": True, "threads": 2, "progress": None,
                }  # fmt: skip
            case "search.Decoder.set_weights":
                return {"weights": list(owner.weights)}
            case "search.PhraseDecoder.__init__":
                names = feature_names(["phrases"])
                return {
                    "table": open_phrases(self.world.phrases), "grammar": "phrases", "model": self.model(),
                    "weights": [0.1] * len(names), "distortion_limit": 6, "phrase_length": 5, "table_limit": 5,
                    "cube_pruning": True, "pop_limit": 50, "stack_size": 20, "beam_threshold": 0.0,
                }  # fmt: skip
            case "tree_decoder.TreeDecoder.__init__":
                return {
                    "tables": tables_, "phrases": open_phrases(self.world.phrases), "phrase_grammar": "phrases",
                    "model": self.model(), "weights": [0.1] * len(feature_names([*GRAMMARS, "phrases"])),
                    "stack_limit": 50, "stack_threshold": 0.0, "pop_limit": 0, "rule_limit": 5,
                    "rule_threshold": 0.0, "phrase_limit": 5, "max_phrase_words": 3, "grammars": {},
                }  # fmt: skip
            case "tree_decoder.TreeDecoder.recovers":
                return {"corpus": self.corpus, "n": 0, "target": ["u", "v"], "phrases": True}
            case "search.nbest_arrays":
                some = [self.translation()]
                return {"translations": some, "features": len(some[0].features(0))}
            case "subtrees.WordTable.add":
                words = np.array([0, 1], np.int32)
                shares = np.array([0.5, 0.2])
                return {"source": words, "target": words, "target_given_source": shares, "source_given_target": shares}
            case "subtrees.WordTable.align":
                return {
                    "pairs": [(TREE, TREE)], "score": 0, "skip": 0, "span1": True, "words": True, "chains": True,
                    "floor": 1e-6, "empty_is_one": False, "least": 0.0, "threads": 2,
                }  # fmt: skip
            case "subtrees.WordTable.scores":
                return {"source": TREE, "target": TREE, "score": 0, "floor": 1e-6, "empty_is_one": True}
            case "subtrees.choose_links":
                given = {"scores": np.zeros((3, 3)), "skip": 0, "span1": True, "words": True, "chains": True}
                return {"source": TREE, "target": TREE, **given}
            case "tables.Corpus.write_table" | "tables.Corpus.write_counts":
                first = {"path": out} if member.endswith("table") else {"write": bytes}
                return {**first, "max_length": 3, **memory}
            case "tables.PhraseTable.search":
                return {"pattern": [[0, 1], [0]], "target": False, "whole": False, "limit": 5}
            case "tuning.Pool.add":
                values = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
                return {"sentences": np.array([0, 1], np.int32), "values": values, "statistics": counts}
            case "tuning.Metric.score" | "tuning.Metric.sentences":
                return {"rows": counts}
            case (
                "tuning.References.statistics" | "tuning.ChrfReferences.statistics" | "tuning.TerReferences.statistics"
            ):
                return texts
            case "tuning.Pool.mert":
                limits = {"random_directions": 2, "sweeps": 2, "trial_sweeps": 1, "finalists": 1}
                return {"starts": [[0.1] * 3], **space, **limits, "narrowest": 1e-6, "threads": 2}
            case "tuning.Pool.mira":
                return {**start, "c": 0.1, "decay": 0.9, "epochs": 2, "safe_hope": True}
            case "tuning.Pool.pro":
                return {**start, "samples": 20, "kept": 5, "threshold": 0.01, "l2": 0.1}
            case "tuning.Pool.maximise_expected":
                del start["seed"]
                return {**start, "perplexity": 2.0, "levels": 2, "l2": 0.1, "steps": 3, "threads": 2}
            case "tuning.Pool.line_search":
                return {"weights": [0.1] * 3, "direction": [0.1, -0.1, 0.0]}
            case "tuning.Pool.score" | "tuning.Pool.expected":
                return {"weights": [0.1] * 3}
            case "tuning.logistic_regression":
                return {"rows": np.ones((3, 2)), "offsets": [0.0] * 3, "l2": 0.1}
            case "hypergraph.inside":
                return {"graph": self.graph(), "weights": [0.1] * 4}
            case "hypergraph.outside" | "hypergraph.through" | "hypergraph.posteriors":
                return {"graph": self.graph(), "weights": [0.1] * 4, "goal": 2}
            case "hypergraph.kbest":
                yields = [["a"], ["b"], [1, 0], ["c", 0]]
                return {"graph": self.graph(), "weights": [0.1] * 4, "goal": 2, "size": 3, "yields": yields}
        return {}

    def texts(self) -> list[str]:
        """Texts that mean something."""
        options = [option.name for grammar in registry.grammars().values() for option in grammar.options]
        return [
            "a", "u", "b c", "x1:X b", "^a x1:A", "left", "right", "none", "good-turing", "kneser-ney", "log", "viterbi",
            "probability", "count", "boolean", "expectation", *registry.grammars(), *options[:5],
        ]  # fmt: skip
