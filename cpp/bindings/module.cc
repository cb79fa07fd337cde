// The extension treeglot._core: one sub-module per room, each bound by one file of this folder.
#include <nanobind/nanobind.h>

#include <exception>
#include <typeinfo>

#include "base/parallel.hh"

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

namespace {

// The first exception of a thread takes memory from the C library, which ends the process if there is none left: in the
// main thread it is taken now, or too little memory could not be told.
void prepare_exceptions() {
  try {
    throw 0;
  } catch (int) {
  }
  treeglot::check_stopped();  // its variable of the thread
}

}  // namespace

NB_MODULE(_core, m) {
  prepare_exceptions();
  // What Python code gave or returned is of another type than was asked for.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "a value of another type than expected");
    }
  });
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
