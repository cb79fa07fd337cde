// Bindings of cpp/forest/decoder: how the forest's decoder is made. What it does is bound in search.cc.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/given_options.hh"
#include "forest/decoder.hh"

namespace nb = nanobind;
namespace forest = treeglot::forest;

void bind_tree_decoder(nb::module_& m) {
  nb::class_<forest::TreeDecoder, treeglot::search::Decoder>(m, "TreeDecoder")
      .def(
          "__init__",
          [](forest::TreeDecoder* self, const nb::tuple& tables, const treeglot::PhraseSource* phrases,
             const std::string& phrase_grammar, const treeglot::lm::Model& model, const std::vector<double>& weights,
             int stack_limit, double stack_threshold, int pop_limit, int rule_limit, double rule_threshold,
             int phrase_limit, int max_phrase_words, const nb::dict& grammars) {
            for (double threshold : {stack_threshold, rule_threshold}) {
              if (!(threshold >= 0 && threshold < 1)) throw nb::value_error("a threshold is a share below 1");
            }
            forest::TreeDecoderLimits limits;
            limits.search = {stack_limit, stack_threshold, pop_limit};
            limits.tables = {rule_limit, rule_threshold, phrase_limit};
            limits.forest.max_phrase_words = max_phrase_words;
            limits.grammars = given_options(grammars);
            std::vector<const treeglot::RuleTable*> pointers;
            for (nb::handle table : tables) pointers.push_back(nb::cast<const treeglot::RuleTable*>(table));
            new (self) forest::TreeDecoder(pointers, phrases, phrase_grammar, model, weights, limits);
          },
          nb::arg("tables"), nb::arg("phrases").none(), nb::arg("phrase_grammar"), nb::arg("model"), nb::arg("weights"),
          nb::kw_only(), nb::arg("stack_limit"), nb::arg("stack_threshold"), nb::arg("pop_limit"),
          nb::arg("rule_limit"), nb::arg("rule_threshold"), nb::arg("phrase_limit"), nb::arg("max_phrase_words"),
          nb::arg("grammars"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 5>())  // a tuple: it keeps its tables, whatever becomes of the caller's names
      .def(
          "recovers",
          [](const forest::TreeDecoder& self, const treeglot::ParsedCorpus& corpus, std::size_t n,
             const std::vector<std::string_view>& target, bool phrases) {
            if (n >= corpus.size()) throw nb::index_error("no such sentence");
            return self.recovers(corpus, n, target, phrases);
          },
          nb::arg("corpus"), nb::arg("n"), nb::arg("target"), nb::arg("phrases"));
}
