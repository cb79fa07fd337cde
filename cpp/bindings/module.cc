// The extension treeglot._core: one sub-module per room, each bound by one file of this folder.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_align(nb::module_& m);
void bind_conllu(nb::module_& m);
void bind_files(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_hypergraph(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_lm(nb::module_& m);
void bind_parsed(nb::module_& m);
void bind_rule_tables(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_search(nb::module_& m);
void bind_subtrees(nb::module_& m);
void bind_tables(nb::module_& m);
void bind_tree_decoder(nb::module_& m);
void bind_tuning(nb::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "The native inner loops of treeglot; use the Python modules that wrap them.";
  nb::module_ align = m.def_submodule("align", "Word alignment; see treeglot.alignment.");
  bind_align(align);
  nb::module_ conllu = m.def_submodule("conllu", "Reading CoNLL-U; see treeglot.trees.conllu.");
  bind_conllu(conllu);
  nb::module_ files = m.def_submodule("files", "Checksums and mapped files; see treeglot.verify.");
  bind_files(files);
  nb::module_ forest = m.def_submodule("forest", "The translation forest and the search in it; for tests.");
  bind_forest(forest);
  nb::module_ hypergraph = m.def_submodule("hypergraph", "Sums over derivations and k-best lists; for tests.");
  bind_hypergraph(hypergraph);
  nb::module_ kernels = m.def_submodule("kernels", "Tree kernels; see treeglot.alignment.subtrees.kernels.");
  bind_kernels(kernels);
  nb::module_ lm = m.def_submodule("lm", "n-gram language models; see treeglot.lm.");
  bind_lm(lm);
  nb::module_ parsed = m.def_submodule("parsed", "Parsed sentences by columns; see treeglot.trees.corpus.");
  bind_parsed(parsed);
  nb::module_ rule_tables =
      m.def_submodule("rule_tables", "Tables of tree-to-string rules; see treeglot.tables.rules.");
  bind_rule_tables(rule_tables);
  nb::module_ rules = m.def_submodule("rules", "Extraction of tree-to-string rules; see treeglot.grammars.rules.");
  bind_rules(rules);
  nb::module_ search = m.def_submodule("search", "The decoders; see treeglot.search.");
  bind_search(search);
  nb::module_ subtrees = m.def_submodule("subtrees", "The lexical tree aligner; see treeglot.alignment.subtrees.");
  bind_subtrees(subtrees);
  nb::module_ tables = m.def_submodule("tables", "Phrase pairs and rule tables; see treeglot.tables.");
  bind_tables(tables);
  nb::module_ tree_decoder = m.def_submodule("tree_decoder", "The tree decoder; see treeglot.search.trees.");
  bind_tree_decoder(tree_decoder);
  nb::module_ tuning = m.def_submodule("tuning", "BLEU statistics, MERT, MIRA and PRO; see treeglot.tuning.");
  bind_tuning(tuning);
}
